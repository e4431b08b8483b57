// Launches a kernel that was written in Rust. `kernels.h` has its text, its name and its parameters.
#include "kernels.h"
#include <cstdio>
#include <vector>

static void check(cudaError_t e)
{
    if (e != cudaSuccess) {
        std::fprintf(stderr, "error: %s\n", cudaGetErrorString(e));
        std::exit(1);
    }
}

int main()
{
    const unsigned n = 1000;
    std::vector<float> x(n);
    for (unsigned i = 0; i < n; i++)
        x[i] = float(i);

    cudaLibrary_t library;
    cudaKernel_t kernel;
    check(cudaLibraryLoadData(&library, kernels_ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
    check(cudaLibraryGetKernel(&kernel, library, scale_NAME));

    float *on_device;
    check(cudaMalloc(&on_device, n * sizeof(float)));
    check(cudaMemcpy(on_device, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    scale_params p = {reinterpret_cast<uint64_t>(on_device), 1.5f, n};
    void *arguments[] = {&p.x, &p.factor, &p.n};
    dim3 grid((n + scale_BLOCK_X - 1) / scale_BLOCK_X), block(scale_BLOCK_X, scale_BLOCK_Y, scale_BLOCK_Z);
    check(cudaLaunchKernel(reinterpret_cast<const void *>(kernel), grid, block, arguments, 0, nullptr));
    check(cudaMemcpy(x.data(), on_device, n * sizeof(float), cudaMemcpyDeviceToHost));

    for (unsigned i = 0; i < n; i++)
        if (x[i] != 1.5f * float(i)) {
            std::printf("x[%u] is %f\n", i, x[i]);
            return 1;
        }
    std::printf("on the GPU: %u numbers multiplied by 1.5\n", n);
    return 0;
}
