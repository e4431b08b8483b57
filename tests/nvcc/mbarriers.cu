// cuda::ptx: mbarriers, fences, bulk copies, special registers, cluster barriers.
// targets: sm_90a sm_100a sm_120a

#include <cuda/ptx>

namespace ptx = cuda::ptx;

__global__ void __cluster_dims__(2) arrivals(const int* in, int* out, unsigned* counts) {
    __shared__ alignas(16) int box[256];
    __shared__ uint64_t bar;
    if (ptx::get_sreg_tid_x() == 0) ptx::mbarrier_init(&bar, 2);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::barrier_cluster_arrive(ptx::sem_release);
    ptx::barrier_cluster_wait(ptx::sem_acquire);
    if (ptx::elect_sync(~0u) && threadIdx.x < 32) {
        uint64_t a = ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar);
        uint64_t b = ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_shared, &bar, sizeof(box));
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, box, in, sizeof(box), &bar);
        while (!ptx::mbarrier_try_wait(ptx::sem_acquire, ptx::scope_cluster, &bar, a, 1000)) {}
        while (!ptx::mbarrier_test_wait(&bar, b)) {}
        ptx::mbarrier_arrive_no_complete(&bar, 1);
        ptx::mbarrier_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared, &bar, 16);
    }
    while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {}
    out[threadIdx.x] = box[threadIdx.x];
    counts[0] = ptx::get_sreg_nctaid_x() + ptx::get_sreg_cluster_ctarank() + ptx::get_sreg_laneid() + ptx::get_sreg_smid()
        + ptx::get_sreg_clusterid_y() + ptx::get_sreg_lanemask_lt() + unsigned(ptx::get_sreg_globaltimer()) + ptx::get_sreg_warpid()
        + ptx::get_sreg_dynamic_smem_size() + ptx::get_sreg_is_explicit_cluster() + unsigned(ptx::get_sreg_gridid())
        + ptx::get_sreg_total_smem_size() + unsigned(ptx::get_sreg_clock64()) + ptx::get_sreg_aggr_smem_size();
    __syncthreads();
    if (threadIdx.x == 0) ptx::mbarrier_inval(&bar);
}

__global__ void __cluster_dims__(4) remote(int* out) {
    __shared__ alignas(16) int box[16];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, 48);
    }
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    uint64_t peer_bar;
    uint64_t peer_box;
    asm("mapa.u64 %0, %1, %2;" : "=l"(peer_bar) : "l"(&bar), "r"(1));
    asm("mapa.u64 %0, %1, %2;" : "=l"(peer_box) : "l"(box), "r"(1));
    if (threadIdx.x == 0) {
        ptx::st_async(reinterpret_cast<int*>(peer_box), {1, 2, 3, 4}, reinterpret_cast<uint64_t*>(peer_bar));
        ptx::st_async(reinterpret_cast<int*>(peer_box) + 4, 7, reinterpret_cast<uint64_t*>(peer_bar));
        ptx::red_async(ptx::op_add, reinterpret_cast<int*>(peer_box) + 5, 7, reinterpret_cast<uint64_t*>(peer_bar));
        ptx::red_async(ptx::op_xor_op, reinterpret_cast<uint32_t*>(peer_box) + 6, 7u, reinterpret_cast<uint64_t*>(peer_bar));
        ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster, reinterpret_cast<uint64_t*>(peer_bar), 1u);
    }
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &bar, 0)) {}
    out[threadIdx.x] = box[threadIdx.x % 16] + ptx::getctarank(ptx::space_cluster, reinterpret_cast<int*>(peer_box));
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
}

__global__ void fences(int* out, const char* in) {
    __shared__ alignas(128) char box[1024];
    ptx::fence(ptx::sem_acq_rel, ptx::scope_gpu);
    ptx::fence(ptx::sem_sc, ptx::scope_sys);
    ptx::fence(ptx::sem_acq_rel, ptx::scope_cluster);
    ptx::fence_proxy_alias();
    ptx::fence_proxy_async();
    ptx::fence_proxy_async(ptx::space_global);
    ptx::fence_proxy_async(ptx::space_shared);
    ptx::fence_proxy_tensormap_generic(ptx::sem_release, ptx::scope_sys);
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, box, 1024);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group(ptx::n32_t<1>{});
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
    ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_max, out, reinterpret_cast<int*>(box), 256);
    ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_or_op, reinterpret_cast<uint32_t*>(out), reinterpret_cast<uint32_t*>(box), 256);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
    out[threadIdx.x] = ptx::bfind(threadIdx.x) + ptx::bmsk_clamp(3u, threadIdx.x) + ptx::prmt(1u, threadIdx.x, 0x3210u);
}

__global__ void maps(const void* map, int32_t x, int32_t y) {
    __shared__ alignas(128) char box[8192];
    __shared__ uint64_t bar;
    int32_t at[2] = {x, y};
    int32_t deep[5] = {x, y, x, y, 0};
    if (threadIdx.x == 0) ptx::mbarrier_init(&bar, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof(box));
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, box, map, at, &bar);
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, box + 4096, map, deep, &bar);
    }
    while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {}
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, map, at, box);
        ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, map, at, box);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
    }
    __syncthreads();
    ptx::tensormap_cp_fenceproxy(ptx::sem_release, ptx::scope_gpu, const_cast<void*>(map), box, ptx::n32_t<128>{});
    ptx::fence_proxy_tensormap_generic(ptx::sem_acquire, ptx::scope_gpu, map, ptx::n32_t<128>{});
}
