// cuda::ptx: a product with tcgen05, its roles in warps, and the same with CTA pairs; tiles by cluster launch control.
// targets: sm_100

#include <cstdint>
#include <cuda.h>
#include <cuda/ptx>
#include <cuda_fp16.h>

namespace ptx = cuda::ptx;

constexpr int depth = 4, tile_m = 128, tile_n = 128, tile_k = 64;

__device__ void wait(uint64_t* bar, uint32_t parity) {
    while (!ptx::mbarrier_try_wait_parity(bar, parity)) {}
}

// K-major, 128 bytes swizzled, eight rows of 128 bytes a group.
__device__ uint64_t descriptor(const void* at) {
    uint64_t address = __cvta_generic_to_shared(at) >> 4;
    return address | 1ull << 16 | 64ull << 32 | 1ull << 46 | 2ull << 61;
}

// f16 times f16 into f32.
template <int M, int N> __device__ constexpr uint32_t instruction() { return 1u << 4 | N / 8 << 17 | M / 16 << 24; }

struct alignas(1024) Stage { __half left[tile_m * tile_k], right[tile_n * tile_k]; };

__global__ void __launch_bounds__(192)
gemm(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* c, int columns, int k) {
    extern __shared__ Stage stages[];
    __shared__ uint64_t full[depth], empty[depth], ready[2], taken[2], asked, answered;
    __shared__ alignas(16) uint4 answer;
    __shared__ uint32_t memory;
    const uint32_t warp = threadIdx.x / 32;
    if (warp == 0) {
        ptx::tcgen05_alloc(ptx::cta_group_1, &memory, 2 * tile_n);
        ptx::tcgen05_relinquish_alloc_permit(ptx::cta_group_1);
    } else if (warp == 1 && ptx::elect_sync(~0u)) {
        for (int i = 0; i < depth; i++) { ptx::mbarrier_init(full + i, 1); ptx::mbarrier_init(empty + i, 1); }
        for (int i = 0; i < 2; i++) { ptx::mbarrier_init(ready + i, 1); ptx::mbarrier_init(taken + i, 128); }
        ptx::mbarrier_init(&answered, 1);
        ptx::mbarrier_init(&asked, 128 + 2);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    ptx::tcgen05_fence_before_thread_sync();
    __syncthreads();
    ptx::tcgen05_fence_after_thread_sync();
    const uint32_t base = memory;
    const int steps = k / tile_k;
    uint32_t x = blockIdx.x, turn = 0, step = 0;
    bool more = true;

    // The next tile: whether there is one, and which.
    auto next = [&](uint32_t turn) {
        wait(&answered, turn & 1);
        __int128 response;
        memcpy(&response, &answer, 16);
        more = ptx::clusterlaunchcontrol_query_cancel_is_canceled(response);
        if (more) x = ptx::clusterlaunchcontrol_query_cancel_get_first_ctaid_x<int>(response);
        ptx::fence_proxy_async(ptx::space_shared);
        ptx::mbarrier_arrive(&asked);
    };

    if (warp == 4) {
        if (ptx::elect_sync(~0u)) {
            for (; more; turn++) {
                if (turn) wait(&asked, (turn - 1) & 1);
                ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &answered, 16);
                ptx::clusterlaunchcontrol_try_cancel(&answer, &answered);
                int row = x / columns * tile_m, column = x % columns * tile_n;
                for (int i = 0; i < steps; i++, step++) {
                    int s = step % depth;
                    wait(empty + s, (step / depth + 1) & 1);
                    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full + s, sizeof(Stage));
                    int32_t at_a[2] = {i * tile_k, row}, at_b[2] = {i * tile_k, column};
                    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, stages[s].left, &a, at_a, full + s);
                    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, stages[s].right, &b, at_b, full + s);
                }
                next(turn);
            }
        }
    } else if (warp == 5) {
        if (ptx::elect_sync(~0u)) {
            for (; more; turn++) {
                int s2 = turn % 2;
                wait(taken + s2, (turn / 2 + 1) & 1);
                ptx::tcgen05_fence_after_thread_sync();
                for (int i = 0; i < steps; i++, step++) {
                    int s = step % depth;
                    wait(full + s, step / depth & 1);
                    ptx::tcgen05_fence_after_thread_sync();
                    uint64_t left = descriptor(stages[s].left), right = descriptor(stages[s].right);
                    for (int j = 0; j < tile_k / 16; j++)
                        ptx::tcgen05_mma(ptx::kind_f16, ptx::cta_group_1, base + s2 * tile_n, left + j * 2, right + j * 2, instruction<tile_m, tile_n>(), i + j > 0, ptx::n32_t<0>{});
                    ptx::tcgen05_commit(ptx::cta_group_1, empty + s);
                }
                ptx::tcgen05_commit(ptx::cta_group_1, ready + s2);
                next(turn);
            }
        }
    } else {
        for (; more; turn++) {
            int s2 = turn % 2, row = x / columns * tile_m + threadIdx.x, column = x % columns * tile_n;
            wait(ready + s2, turn / 2 & 1);
            ptx::tcgen05_fence_after_thread_sync();
            for (int n = 0; n < tile_n; n += 32) {
                uint32_t values[32];
                ptx::tcgen05_ld_32x32b(values, base + (warp * 32 << 16) + s2 * tile_n + n);
                ptx::tcgen05_wait_ld();
                for (int i = 0; i < 32; i++) c[size_t(row) * columns * tile_n + column + n + i] = __uint_as_float(values[i]);
            }
            ptx::tcgen05_fence_before_thread_sync();
            ptx::mbarrier_arrive(taken + s2);
            next(turn);
        }
    }
    ptx::tcgen05_fence_before_thread_sync();
    __syncthreads();
    ptx::tcgen05_fence_after_thread_sync();
    if (warp == 0) ptx::tcgen05_dealloc(ptx::cta_group_1, base, 2 * tile_n);
}

// A pair of CTAs makes 256 rows; the first of them issues for both.
__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128)
paired(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* c, int k) {
    extern __shared__ Stage stages[];
    __shared__ uint64_t full, done;
    __shared__ uint32_t memory;
    const uint32_t warp = threadIdx.x / 32, rank = ptx::get_sreg_cluster_ctarank();
    if (warp == 0) {
        ptx::tcgen05_alloc(ptx::cta_group_2, &memory, tile_n);
        ptx::tcgen05_relinquish_alloc_permit(ptx::cta_group_2);
    } else if (warp == 1 && ptx::elect_sync(~0u)) {
        ptx::mbarrier_init(&full, 1);
        ptx::mbarrier_init(&done, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    ptx::tcgen05_fence_before_thread_sync();
    __syncthreads();
    ptx::barrier_cluster_arrive(ptx::sem_release);
    ptx::barrier_cluster_wait(ptx::sem_acquire);
    ptx::tcgen05_fence_after_thread_sync();
    const uint32_t base = memory;
    for (int i = 0; i < k / tile_k; i++) {
        if (warp == 1 && ptx::elect_sync(~0u)) {
            if (rank == 0) ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full, 2 * (sizeof(Stage) - tile_n * tile_k));
            int32_t at_a[2] = {i * tile_k, int(blockIdx.x) * tile_m}, at_b[2] = {i * tile_k, int(blockIdx.y) * tile_n + int(rank) * tile_n / 2};
            uint64_t* leader = static_cast<uint64_t*>(__cluster_map_shared_rank(&full, 0));
            ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, ptx::cta_group_2, stages[0].left, &a, at_a, leader);
            ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, ptx::cta_group_2, stages[0].right, &b, at_b, leader);
            if (rank == 0) {
                wait(&full, i & 1);
                ptx::tcgen05_fence_after_thread_sync();
                uint64_t left = descriptor(stages[0].left), right = descriptor(stages[0].right);
                for (int j = 0; j < tile_k / 16; j++)
                    ptx::tcgen05_mma(ptx::kind_f16, ptx::cta_group_2, base, left + j * 2, right + j * 2, instruction<256, tile_n>(), i + j > 0, ptx::n32_t<0>{});
                ptx::tcgen05_commit_multicast(ptx::cta_group_2, &done, uint16_t(3));
            }
        }
        wait(&done, i & 1);
    }
    ptx::tcgen05_fence_after_thread_sync();
    for (int n = 0; n < tile_n; n += 64) {
        uint32_t values[64];
        ptx::tcgen05_ld_32x32b(values, base + (warp * 32 << 16) + n);
        ptx::tcgen05_wait_ld();
        for (int i = 0; i < 64; i++)
            c[(size_t(blockIdx.x) * tile_m + threadIdx.x) * gridDim.y * tile_n + blockIdx.y * tile_n + n + i] = __uint_as_float(values[i]);
    }
    ptx::tcgen05_fence_before_thread_sync();
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
    if (warp == 0) ptx::tcgen05_dealloc(ptx::cta_group_2, base, tile_n);
}
