// wgmma and setmaxnreg as inline assembly.
// targets: sm_90a

#include <cstdint>

__device__ uint64_t descriptor(const void* p) {
    uint64_t address = __cvta_generic_to_shared(p);
    return ((address & 0x3ffff) >> 4) | (1ull << 16) | (64ull << 32) | (1ull << 62);
}

template <int Scale> __device__ void step(float (&d)[4], uint64_t a, uint64_t b, int p) {
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "setp.ne.b32 p, %6, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, p, %7, 1, 0, 1;\n"
                 "}\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b), "r"(p), "n"(Scale));
}

__global__ void __launch_bounds__(384, 1) products(const uint4* in, float* out, int n) {
    __shared__ alignas(1024) uint4 tile[2][512];
    if (threadIdx.x >= 256) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" :: "n"(24));
        for (int i = threadIdx.x - 256; i < 512; i += 128) tile[0][i] = tile[1][511 - i] = in[i];
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("bar.arrive 1, 384;" ::: "memory");
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" :: "n"(232));
    asm volatile("bar.sync 1, 384;" ::: "memory");
    float d[4] = {};
    int e[4] = {};
    uint32_t h[2] = {};
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int i = 0; i < n; i++) {
        step<1>(d, descriptor(tile[0] + i * 32), descriptor(tile[1] + i), i);
        step<-1>(d, descriptor(tile[1]), descriptor(tile[0]), 1);
    }
    asm volatile("{\n.reg .pred q; setp.ne.b32 q, %6, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8 {%0,%1,%2,%3}, %4, %5, q;\n}"
                 : "+r"(e[0]), "+r"(e[1]), "+r"(e[2]), "+r"(e[3]) : "l"(descriptor(tile[0])), "l"(descriptor(tile[1])), "r"(n));
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%0,%1}, {%2,%3,%2,%3}, %4, 1, 1, 1, 1;"
                 : "+r"(h[0]), "+r"(h[1]) : "r"(in[3].x), "r"(in[3].y), "l"(descriptor(tile[1])));
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%0,%1,%2,%3}, %4, %5, 1, 1, 1;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(descriptor(tile[0])), "l"(descriptor(tile[1])));
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 {%0,%1,%2,%3}, %4, %5, 1, 1, 1;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(descriptor(tile[0])), "l"(descriptor(tile[1])));
    asm volatile("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, %6, 0, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(descriptor(tile[0])), "l"(descriptor(tile[1])), "r"(n));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(0) : "memory");
    for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = d[i] + e[i] + h[i & 1];
}
