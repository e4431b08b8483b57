// A debug build of cluster launch control: whether a request has succeeded is an integer that a function returns, and each function has
// a copy of the response.
// nvcc: -G
// targets: sm_100a

#include <cstdint>
#include <cuda/ptx>

namespace ptx = cuda::ptx;

extern "C" __global__ void count_blocks(int* counts) {
    __shared__ alignas(16) int4 response;
    __shared__ uint64_t barrier;
    unsigned phase = 0;
    if (threadIdx.x == 0) ptx::mbarrier_init(&barrier, 1);
    int block = blockIdx.x;
    while (true) {
        __syncthreads();
        if (threadIdx.x == 0) {
            ptx::fence_proxy_async_generic_sync_restrict(ptx::sem_acquire, ptx::space_cluster, ptx::scope_cluster);
            ptx::clusterlaunchcontrol_try_cancel(&response, &barrier);
            ptx::mbarrier_arrive_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared, &barrier, 16);
        }
        atomicAdd(&counts[block], 1);
        while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cta, &barrier, phase)) {}
        phase ^= 1;
        if (!ptx::clusterlaunchcontrol_query_cancel_is_canceled(response)) break;
        block = ptx::clusterlaunchcontrol_query_cancel_get_first_ctaid_x<int>(response);
        ptx::fence_proxy_async_generic_sync_restrict(ptx::sem_release, ptx::space_shared, ptx::scope_cluster);
    }
}
