// cuda::ptx: a ring of tensor copies that a cluster shares by multicast, registers moved between warp groups, a reduction in memory.
// targets: sm_90 sm_100

#include <cstdint>
#include <cuda.h>
#include <cuda/ptx>

namespace ptx = cuda::ptx;

constexpr int depth = 3, rows = 64, columns = 64;
struct alignas(1024) Slot { float data[rows][columns]; };
constexpr uint32_t bytes = sizeof(Slot);

template <typename T> __device__ T* in_cta(T* at, uint32_t rank) { return static_cast<T*>(__cluster_map_shared_rank(at, rank)); }

__device__ void wait(uint64_t* bar, uint32_t parity) {
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, bar, parity)) {}
}

// Each CTA of a pair loads one half of a tile for both.
__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(256)
shared_tiles(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out, int steps) {
    extern __shared__ Slot ring[];
    __shared__ uint64_t full[depth], empty[depth];
    const uint32_t rank = ptx::get_sreg_cluster_ctarank();
    if (threadIdx.x == 0) {
        for (int i = 0; i < depth; i++) { ptx::mbarrier_init(full + i, 1); ptx::mbarrier_init(empty + i, 2 * 128); }
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    ptx::barrier_cluster_arrive(ptx::sem_release);
    ptx::barrier_cluster_wait(ptx::sem_acquire);
    if (threadIdx.x < 128) {
        ptx::setmaxnreg_dec(ptx::n32_t<24>{});
        if (threadIdx.x < 32 && ptx::elect_sync(~0u)) {
            for (int step = 0; step < steps; step++) {
                int s = step % depth;
                wait(empty + s, (step / depth + 1) & 1);
                ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full + s, uint32_t(bytes));
                int32_t at[2] = {0, step * rows + int(rank) * rows / 2};
                ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, ring[s].data[rank * rows / 2], &in, at, full + s, uint16_t(3));
            }
        }
    } else {
        ptx::setmaxnreg_inc(ptx::n32_t<232>{});
        float sum = 0;
        int t = threadIdx.x - 128;
        for (int step = 0; step < steps; step++) {
            int s = step % depth;
            wait(full + s, step / depth & 1);
            for (int i = t / columns; i < rows; i += 128 / columns) sum += ring[s].data[i][t % columns];
            for (uint32_t peer = 0; peer < 2; peer++) {
                uint64_t* remote = in_cta(empty + s, peer);
                ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster, remote);
            }
        }
        __shared__ alignas(128) float line[128];
        line[t] = sum;
        ptx::fence_proxy_async(ptx::space_shared);
        asm volatile("bar.sync 1, 128;" ::: "memory");
        if (t == 0) {
            int32_t at[2] = {0, int(blockIdx.x)};
            ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, &out, at, line);
            ptx::cp_async_bulk_commit_group();
            ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
        }
    }
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
}

// Partial sums go straight into the memory of the first CTA of a cluster.
__global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(128) gathered(const float* in, float* out, int n) {
    __shared__ uint64_t bar;
    __shared__ alignas(16) float parts[4][128];
    const uint32_t rank = ptx::get_sreg_cluster_ctarank();
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        if (rank == 0) ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof(parts));
    }
    ptx::barrier_cluster_arrive(ptx::sem_release);
    ptx::barrier_cluster_wait(ptx::sem_acquire);
    float sum = 0;
    for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) sum += in[i];
    float* there = in_cta(&parts[rank][threadIdx.x], 0);
    uint64_t* bar_there = in_cta(&bar, 0);
    ptx::st_async(there, sum, bar_there);
    if (rank == 0) {
        wait(&bar, 0);
        float all = 0;
        for (int i = 0; i < 4; i++) all += parts[i][threadIdx.x];
        atomicAdd(out + threadIdx.x, all);
    }
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
}
