// Distributed shared memory, multicast memory, and asynchronous stores and reductions between the CTAs of a cluster.
// targets: sm_90a sm_100a sm_120a

#include <cooperative_groups.h>
#include <cstdint>
#include <cuda/barrier>

namespace cg = cooperative_groups;

__device__ uint32_t shared(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__global__ void __cluster_dims__(4, 1, 1) histogram(const int* in, int* bins, int n, int per_block) {
    extern __shared__ int mine[];
    auto cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < per_block; i += blockDim.x) mine[i] = 0;
    cluster.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int bin = in[i];
        atomicAdd(cluster.map_shared_rank(mine, bin / per_block) + bin % per_block, 1);
    }
    cluster.sync();
    for (int i = threadIdx.x; i < per_block; i += blockDim.x) atomicAdd(bins + cluster.block_rank() * per_block + i, mine[i]);
}

__global__ void __cluster_dims__(2, 1, 1) exchanged(float4* out) {
    __shared__ alignas(16) float4 box[64];
    __shared__ uint64_t bar;
    uint32_t rank, peer_bar, peer_box;
    asm volatile("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(rank));
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(shared(&bar)));
        asm volatile("fence.mbarrier_init.release.cluster;");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" :: "r"(shared(&bar)));
    }
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(peer_bar) : "r"(shared(&bar)), "r"(rank ^ 1));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(peer_box) : "r"(shared(box + threadIdx.x)), "r"(rank ^ 1));
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];"
                 :: "r"(peer_box), "f"(1.f), "f"(2.f), "f"(3.f), "f"(rank * 1.f), "r"(peer_bar) : "memory");
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.min.u32 [%0], %1, [%2];" :: "r"(peer_box), "r"(5), "r"(peer_bar));
    asm volatile("{\n.reg .pred p;\nW%=: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0;\n@!p bra W%=;\n}" :: "r"(shared(&bar)) : "memory");
    asm volatile("st.shared::cluster.f32 [%0+4], %1;" :: "r"(peer_box), "f"(7.f) : "memory");
    float seen;
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(seen) : "r"(peer_box) : "memory");
    asm volatile("atom.shared::cluster.cluster.relaxed.add.u32 %0, [%1], 1;" : "=r"(rank) : "r"(peer_box));
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    out[threadIdx.x] = box[threadIdx.x];
    out[threadIdx.x].w += seen + rank;
}

__global__ void many_devices(float* multicast, float4* out, uint32_t* flags) {
    float4 v;
    asm volatile("multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(multicast) : "memory");
    asm volatile("multimem.st.weak.global.v4.f32 [%0], {%1, %2, %3, %4};" :: "l"(multicast + 16), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w) : "memory");
    asm volatile("multimem.red.release.sys.global.add.u32 [%0], 1;" :: "l"(flags) : "memory");
    uint32_t h;
    asm volatile("multimem.ld_reduce.weak.global.add.acc::f32.f16x2 %0, [%1];" : "=r"(h) : "l"(multicast) : "memory");
    out[threadIdx.x] = v;
    flags[1] = h;
}

__global__ void __cluster_dims__(2) copied(int* out) {
    __shared__ alignas(16) int from[128], to[128];
    __shared__ uint64_t bar;
    auto cluster = cg::this_cluster();
    from[threadIdx.x] = threadIdx.x;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(shared(&bar)));
    asm volatile("fence.proxy.async.shared::cta;\nfence.mbarrier_init.release.cluster;" ::: "memory");
    cluster.sync();
    if (threadIdx.x == 0) {
        uint32_t peer_to = shared(to), peer_bar = shared(&bar);
        asm volatile("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(peer_to) : "r"(cluster.block_rank() ^ 1));
        asm volatile("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(peer_bar) : "r"(cluster.block_rank() ^ 1));
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 512;" :: "r"(shared(&bar)));
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];"
                     :: "r"(peer_to), "r"(shared(from)), "r"(peer_bar) : "memory");
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(peer_bar) : "memory");
    }
    while (true) {
        uint32_t done;
        asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(shared(&bar)), "r"(0) : "memory");
        if (done) break;
    }
    out[threadIdx.x] = to[threadIdx.x];
    cluster.sync();
}
