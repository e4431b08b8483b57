// Asynchronous copies: cp.async, and the pipeline primitives.
// targets: sm_80 sm_90a sm_100a sm_120a

#include <cstdint>
#include <cuda/annotated_ptr>
#include <cuda/discard_memory>
#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline.h>

__global__ void primitives(const float4* in, float4* out, int n) {
    __shared__ float4 box[2][64];
    for (int i = 0; i < n; i++) {
        __pipeline_memcpy_async(&box[i & 1][threadIdx.x], in + i * 64 + threadIdx.x, 16);
        __pipeline_memcpy_async(&box[i & 1][threadIdx.x], in + i * 64 + threadIdx.x, 16, 4);
        __pipeline_memcpy_async(&box[i & 1][threadIdx.x].x, &in[i].y, 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        out[i * 64 + threadIdx.x] = box[i & 1][63 - threadIdx.x];
    }
    __pipeline_wait_prior(0);
}

__global__ void assembly(const uint4* in, uint4* out, bool wanted) {
    extern __shared__ uint4 box[];
    uint32_t to = static_cast<uint32_t>(__cvta_generic_to_shared(box + threadIdx.x));
    int bytes = wanted ? 16 : 0;
    uint64_t policy;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 0.5;" : "=l"(policy));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(to), "l"(in + threadIdx.x), "r"(bytes));
    asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 8;" :: "r"(to), "l"(in + threadIdx.x));
    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" :: "r"(to), "l"(in + threadIdx.x), "l"(policy));
    asm volatile("{ .reg .pred p; setp.eq.s32 p, %2, 0;\n cp.async.ca.shared.global [%0], [%1], 4, p;\n}" :: "r"(to), "l"(in), "r"(bytes));
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 2;" ::: "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    uint4 v;
    asm volatile("ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(in + 5), "l"(policy));
    asm volatile("prefetch.global.L2 [%0];" :: "l"(in + 99));
    asm volatile("prefetch.global.L2::evict_last [%0];" :: "l"(in + 99));
    asm volatile("discard.global.L2 [%0], 128;" :: "l"(out + 64));
    asm volatile("applypriority.global.L2::evict_normal [%0], 128;" :: "l"(out + 72));
    out[threadIdx.x] = box[threadIdx.x ^ 1];
    out[threadIdx.x + 32] = v;
}

__global__ void phases(const int* in, int* out) {
    __shared__ __mbarrier_t bar;
    __shared__ int box[32];
    if (threadIdx.x == 0) __mbarrier_init(&bar, 32);
    __syncthreads();
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"((uint32_t)__cvta_generic_to_shared(box + threadIdx.x)), "l"(in + threadIdx.x));
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"((uint32_t)__cvta_generic_to_shared(&bar)));
    auto token = __mbarrier_arrive(&bar);
    while (!__mbarrier_test_wait(&bar, token)) {}
    out[threadIdx.x] = box[31 - threadIdx.x] + __mbarrier_token_pending_count(token);
    __mbarrier_inval(&bar);
}

__global__ void annotated(cuda::annotated_ptr<const int, cuda::access_property::persisting> in, cuda::annotated_ptr<int, cuda::access_property::streaming> out) {
    out[threadIdx.x] = in[threadIdx.x] + 1;
    cuda::apply_access_property(&in[0], 4096, cuda::access_property::persisting{});
    cuda::discard_memory(&out[1024], 512);
}
