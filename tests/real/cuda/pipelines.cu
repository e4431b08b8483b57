// Kernels that overlap copies and work: rings of cuda::pipeline, of cuda::barrier with bulk copies, warps with roles, a stencil.
// targets: sm_90 sm_100 sm_120

#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <cuda/std/utility>

namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;

template <int Depth, int Width> struct Ring {
    alignas(128) float data[Depth][Width];
    barrier full[Depth], empty[Depth];
};

// One warp copies rows in bulk, the others add them up.
__global__ void __launch_bounds__(160) columns(const float* in, float* out, int rows) {
    constexpr int depth = 4, width = 128;
    __shared__ Ring<depth, width> ring;
    if (threadIdx.x == 0) {
        for (int i = 0; i < depth; i++) { init(&ring.full[i], 1); init(&ring.empty[i], width); }
        cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        if (threadIdx.x == 0) {
            for (int row = 0; row < rows; row++) {
                int s = row % depth;
                ring.empty[s].wait_parity(row / depth % 2 == 0);
                cuda::device::memcpy_async_tx(ring.data[s], in + size_t(row) * width, cuda::aligned_size_t<16>(sizeof(float) * width), ring.full[s]);
                (void)cuda::device::barrier_arrive_tx(ring.full[s], 1, sizeof(float) * width);
            }
        }
    } else {
        float sum = 0;
        int column = threadIdx.x - 32;
        for (int row = 0; row < rows; row++) {
            int s = row % depth;
            ring.full[s].wait_parity(row / depth % 2);
            sum += ring.data[s][column];
            (void)ring.empty[s].arrive();
        }
        out[column] = sum;
    }
}

// A stencil whose next plane is on its way while one is computed.
template <typename T> __global__ void __launch_bounds__(256) stencil(const T* in, T* out, int planes) {
    constexpr int depth = 3;
    __shared__ alignas(16) T box[depth][256];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, depth> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int asked = 0;
    T before{}, here{};
    for (int plane = 0; plane < planes; plane++) {
        for (; asked < planes && asked < plane + depth; asked++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, box[asked % depth], in + size_t(asked) * 256, cuda::aligned_size_t<16>(sizeof(T) * 256), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        block.sync();
        int t = threadIdx.x;
        T after = box[plane % depth][t];
        T sides = (t ? box[plane % depth][t - 1] : T(0)) + (t < 255 ? box[plane % depth][t + 1] : T(0));
        out[size_t(plane) * 256 + t] = before + after - here * T(4) + sides;
        before = here;
        here = after;
        block.sync();
        pipe.consumer_release();
    }
}

template __global__ void stencil<float>(const float*, float*, int);
template __global__ void stencil<double>(const double*, double*, int);

// Two groups of warps hand tiles of a product to each other.
__global__ void __launch_bounds__(192) product(const float* a, const float* b, float* c, int n) {
    constexpr int tile = 16;
    __shared__ float left[2][tile][tile + 1], right[2][tile][tile + 1];
    __shared__ barrier full[2], empty[2];
    if (threadIdx.x < 2) { init(&full[threadIdx.x], 64 + 128); init(&empty[threadIdx.x], 64 + 128); }
    __syncthreads();
    int row = blockIdx.y * tile, column = blockIdx.x * tile;
    if (threadIdx.x < 64) {
        for (int k = 0, s = 0; k < n; k += tile, s ^= 1) {
            if (k >= 2 * tile) empty[s].arrive_and_wait();
            for (int i = threadIdx.x; i < tile * tile; i += 64) {
                cuda::memcpy_async(&left[s][i / tile][i % tile], &a[(row + i / tile) * n + k + i % tile], sizeof(float), full[s]);
                cuda::memcpy_async(&right[s][i / tile][i % tile], &b[(k + i / tile) * n + column + i % tile], sizeof(float), full[s]);
            }
            (void)full[s].arrive();
        }
    } else {
        int t = threadIdx.x - 64;
        float sum[2] = {};
        for (int k = 0, s = 0; k < n; k += tile, s ^= 1) {
            full[s].arrive_and_wait();
            for (int i = 0; i < tile; i++)
                for (int j = 0; j < 2; j++) sum[j] += left[s][t / tile + j * 8][i] * right[s][i][t % tile];
            if (k + 2 * tile < n) (void)empty[s].arrive();
        }
        for (int j = 0; j < 2; j++) c[(row + t / tile + j * 8) * n + column + t % tile] = sum[j];
    }
}
