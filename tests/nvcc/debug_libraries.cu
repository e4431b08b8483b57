// Debug builds of the libraries: cooperative groups, barriers, half precision, doubles and classes without optimisation.
// nvcc: -G

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda_fp16.h>

namespace cg = cooperative_groups;

struct Animal { __device__ virtual int legs() const { return 4; } };
struct Bird : Animal { __device__ int legs() const override { return 2; } };

__global__ void everything(int* out, half* h, double* d, float* f) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) init(&bar, block.size());
    block.sync();
    auto tile = cg::tiled_partition<32>(block);
    out[threadIdx.x] = cg::reduce(tile, int(threadIdx.x), cg::plus<int>());
    bar.arrive_and_wait();
    cuda::atomic_ref<int, cuda::thread_scope_device> counter(out[100]);
    counter.fetch_add(1, cuda::memory_order_relaxed);
    h[0] = __hfma(h[1], h[2], h[3]) + hexp(h[4]);
    d[0] = pow(d[1], d[2]) + sin(d[3]);
    f[0] = powf(f[1], f[2]) + __expf(f[3]);
    Bird bird;
    const Animal* animal = out[1] ? static_cast<const Animal*>(&bird) : new Animal;
    out[2] = animal->legs();
    for (int i = 0; i < 3; ++i) {
        struct Local { int a; double b; } local{i, d[i]};
        out[3 + i] = local.a + int(local.b);
    }
}
