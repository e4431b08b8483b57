// cuda::ptx: Tensor Memory, tcgen05.mma, cluster launch control, work stealing.
// targets: sm_100a

#include <cuda/ptx>
#include <cuda/work_stealing>

namespace ptx = cuda::ptx;

__global__ void __launch_bounds__(128) product(uint64_t a, uint64_t b, uint32_t shape, float* out, bool add) {
    __shared__ uint32_t place;
    __shared__ uint64_t done;
    if (threadIdx.x < 32) {
        ptx::tcgen05_alloc(ptx::cta_group_1, &place, 64u);
        ptx::tcgen05_relinquish_alloc_permit(ptx::cta_group_1);
    }
    if (threadIdx.x == 0) ptx::mbarrier_init(&done, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::tcgen05_fence_before_thread_sync();
    __syncthreads();
    ptx::tcgen05_fence_after_thread_sync();
    uint32_t d = place;
    const uint32_t lanes[4] = {1, 2, shape, 0};
    if (threadIdx.x < 32 && ptx::elect_sync(~0u)) {
        ptx::tcgen05_cp_128x256b(ptx::cta_group_1, d, a);
        ptx::tcgen05_cp_4x256b(ptx::cta_group_1, d + 8, a);
        ptx::tcgen05_cp_32x128b_warpx4(ptx::cta_group_1, d + 16, a);
        ptx::tcgen05_shift_down(ptx::cta_group_1, d);
        ptx::tcgen05_mma(ptx::kind_f16, ptx::cta_group_1, d, a, b, shape, add, ptx::n32_t<2>{});
        ptx::tcgen05_mma(ptx::kind_tf32, ptx::cta_group_1, d, a, b, shape, true, ptx::n32_t<0>{});
        ptx::tcgen05_mma(ptx::kind_f16, ptx::cta_group_1, d, a, b, shape, lanes, add, ptx::n32_t<1>{});
        ptx::tcgen05_mma_tmem_a(ptx::kind_f16, ptx::cta_group_1, d, d + 32, b, shape, add, ptx::n32_t<3>{});
        ptx::tcgen05_mma_block_scale_vec_1x(ptx::kind_mxf8f6f4, ptx::cta_group_1, d, a, b, shape, d + 32, d + 40, add);
        ptx::tcgen05_mma_ws_collector_b1_fill(ptx::cta_group_1, ptx::kind_f16, d, a, b, shape, add);
        ptx::tcgen05_commit(ptx::cta_group_1, &done);
    }
    while (!ptx::mbarrier_try_wait_parity(&done, 0)) {}
    ptx::tcgen05_fence_after_thread_sync();
    uint32_t x[8], y[4], z[16];
    ptx::tcgen05_ld_32x32b(x, d + (threadIdx.x / 32 << 21));
    ptx::tcgen05_ld_16x64b(y, d);
    ptx::tcgen05_ld_16x256b(z, d);
    ptx::tcgen05_wait_ld();
    for (int i = 0; i < 8; i++) out[threadIdx.x * 8 + i] = x[i] + y[i % 4] + z[i + 7];
    ptx::tcgen05_st_32x32b(d, x);
    ptx::tcgen05_st_16x128b_unpack_16b(d, y);
    ptx::tcgen05_wait_st();
    __syncthreads();
    if (threadIdx.x < 32) ptx::tcgen05_dealloc(ptx::cta_group_1, d, 64u);
}

__global__ void __cluster_dims__(2) pair(uint64_t a, uint64_t b, uint32_t shape) {
    __shared__ uint32_t place;
    __shared__ uint64_t done;
    if (threadIdx.x < 32) ptx::tcgen05_alloc(ptx::cta_group_2, &place, 512u);
    if (threadIdx.x == 0) ptx::mbarrier_init(&done, 1);
    ptx::tcgen05_fence_before_thread_sync();
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
    ptx::tcgen05_fence_after_thread_sync();
    if (threadIdx.x == 0 && ptx::get_sreg_cluster_ctarank() == 0) {
        ptx::tcgen05_mma(ptx::kind_f16, ptx::cta_group_2, place, a, b, shape, true, ptx::n32_t<0>{});
        ptx::tcgen05_commit_multicast(ptx::cta_group_2, &done, uint16_t(3));
    }
    while (!ptx::mbarrier_try_wait_parity(&done, 0)) {}
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
    if (threadIdx.x < 32) ptx::tcgen05_dealloc(ptx::cta_group_2, place, 512u);
}

__global__ void steal(int* out) {
    __shared__ alignas(16) char response[16];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::clusterlaunchcontrol_try_cancel(response, &bar);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared, &bar, 16);
    }
    __syncthreads();
    while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {}
    __int128 r;
    memcpy(&r, response, 16);
    if (ptx::clusterlaunchcontrol_query_cancel_is_canceled(r)) {
        out[0] = ptx::clusterlaunchcontrol_query_cancel_get_first_ctaid_x<int>(r);
        int first[4];
        ptx::clusterlaunchcontrol_query_cancel_get_first_ctaid(reinterpret_cast<int(&)[4]>(first), r);
        out[1] = first[0] + first[1];
    } else {
        return;  // Nothing is left to cancel, and to ask again is undefined.
    }
    cuda::device::for_each_canceled_block<1>([&](dim3 block) { out[block.x] = threadIdx.x; });
}

__global__ void stores(int* a, const int* b) {
    __shared__ alignas(16) char box[1024];
    ptx::st_bulk(box, 1024, ptx::n32_t<0>{});
    a[0] = b[0];
}
