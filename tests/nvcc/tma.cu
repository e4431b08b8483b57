// Bulk copies and tensor maps as inline assembly, mbarriers by hand, programmatic launches.
// targets: sm_90a sm_100a sm_120a

#include <cstdint>
#include <cuda.h>

__device__ uint32_t shared(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ void wait(uint64_t* bar, uint32_t parity) {
    asm volatile("{\n.reg .pred P1;\n"
                 "LAB_WAIT%=:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1, 0x989680;\n"
                 "@P1 bra DONE%=;\n"
                 "bra LAB_WAIT%=;\n"
                 "DONE%=:\n}"
                 :: "r"(shared(bar)), "r"(parity) : "memory");
}

__device__ void load_2d(void* to, const CUtensorMap* map, int x, int y, uint64_t* bar) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 :: "r"(shared(to)), "l"(map), "r"(x), "r"(y), "r"(shared(bar)) : "memory");
}

__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128)
tiles(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out, int n) {
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ uint64_t full[2];
    uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) {
        asm volatile("prefetch.tensormap [%0];" :: "l"(&in) : "memory");
        for (int i = 0; i < 2; i++) asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(shared(full + i)), "r"(1));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    asm volatile("griddepcontrol.wait;" ::: "memory");
    for (int i = 0; i < n; i++) {
        uint64_t* bar = full + (i & 1);
        if (threadIdx.x == 0) {
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(shared(bar)), "r"(8192) : "memory");
            load_2d(memory, &in, i * 64, rank * 64, bar);
            asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
                         " [%0], [%1, {%2, %3, %4}], [%5], %6;"
                         :: "r"(shared(memory + 8192)), "l"(&in), "r"(i), "r"(i), "r"(0), "r"(shared(bar)), "h"((uint16_t)3) : "memory");
            asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
                         " [%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};"
                         :: "r"(shared(memory)), "l"(&in), "r"(i), "r"(i), "r"(0), "r"(1), "r"(shared(bar)), "h"((uint16_t)1), "h"((uint16_t)2) : "memory");
        }
        wait(bar, (i >> 1) & 1);
        memory[threadIdx.x] ^= memory[threadIdx.x + 8192];
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (threadIdx.x == 0) {
            asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
                         :: "l"(&out), "r"(i * 64), "r"(rank), "r"(shared(memory)) : "memory");
            asm volatile("cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%0, {%1}], [%2];"
                         :: "l"(&out), "r"(i), "r"(shared(memory)) : "memory");
            asm volatile("cp.async.bulk.commit_group;");
            asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        }
    }
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;");
}

__global__ void flat(const char* in, char* out, float* sums, unsigned bytes) {
    __shared__ alignas(128) char box[4096];
    __shared__ uint64_t bar;
    uint64_t state, policy;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 32;" :: "r"(shared(&bar)));
    __syncthreads();
    asm volatile("createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %0, [%1], 4096, 8192;" : "=l"(policy) : "l"(in));
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;"
                     :: "r"(shared(box)), "l"(in), "r"(bytes), "r"(shared(&bar)), "l"(policy) : "memory");
        asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" :: "r"(shared(&bar)), "r"(bytes));
    }
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(shared(&bar)) : "memory");
    int done = 0;
    while (!done) {
        asm volatile("{.reg .pred p; mbarrier.try_wait.acquire.cta.shared::cta.b64 p, [%1], %2; selp.s32 %0, 1, 0, p;}"
                     : "=r"(done) : "r"(shared(&bar)), "l"(state) : "memory");
    }
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" :: "l"(in + 4096), "r"(4096));
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" :: "l"(out), "r"(shared(box)), "r"(bytes) : "memory");
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" :: "l"(sums), "r"(shared(box)), "r"(bytes));
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.min.u32 [%0], [%1], %2;" :: "l"(sums), "r"(shared(box)), "r"(bytes));
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%0], [%1], %2;" :: "l"(sums), "r"(shared(box)), "r"(bytes));
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;" ::: "memory");
    }
}

__global__ void edit_map(CUtensorMap* map, void* address) {
    __shared__ alignas(128) CUtensorMap copy;
    if (threadIdx.x == 0) copy = *map;
    __syncwarp();
    asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" :: "r"(shared(&copy)), "l"(address) : "memory");
    asm volatile("tensormap.replace.tile.rank.shared::cta.b1024.b32 [%0], 1;" :: "r"(shared(&copy)) : "memory");
    asm volatile("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 0, %1;" :: "r"(shared(&copy)), "r"(64) : "memory");
    asm volatile("tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%0], 3;" :: "r"(shared(&copy)) : "memory");
    __syncwarp();
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;"
                 :: "l"(map), "r"(shared(&copy)) : "memory");
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" :: "l"(map) : "memory");
}
