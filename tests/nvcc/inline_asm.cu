// Inline assembly as people write it: scopes, labels, predicates, vectors, immediates, odd spacing and old spellings.

#include <cstdint>

__device__ __forceinline__ uint32_t lane() { uint32_t r; asm("mov.u32 %0, %%laneid;" : "=r"(r)); return r; }

__global__ void scopes(int* out, const int* in, float* real, double* wide, unsigned short* half, unsigned long long* big) {
    int x = in[0], y = in[1], r;
    asm("{\n\t.reg .pred p, q;\n\t.reg .s32 t<3>;\n\t"
        "setp.lt.and.s32 p|q, %1, %2, 1;\n\t"
        "@p add.s32 t0, %1, 5;\n\t"
        "@!p sub.s32 t0, %2, 5;\n\t"
        "selp.s32 t1, t0, -1, q;\n\t"
        "mad.lo.s32 %0, t0, t1, %2;\n\t}" : "=r"(r) : "r"(x), "r"(y));
    out[0] = r;
    asm volatile("{\n .reg .pred p;\n mov.u32 %0, 0;\nLOOP_%=:\n add.u32 %0, %0, 3;\n setp.lt.u32 p, %0, %1;\n @p bra.uni LOOP_%=;\n}" : "=&r"(r) : "r"(y));
    out[1] = r;
    asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(out[2]) : "r"(x), "r"(y), "r"(r));
    asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(out[3]) : "r"(x), "r"(y), "r"(r), "n"(0x1 ^ 0x96));
    asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(out[4]) : "r"(x), "r"(y), "r"(r));
    asm("shf.l.wrap.b32 %0,%1,%2,%3;\n// a comment\n/* and another */ xor.b32 %0, %0, 0b1011;" : "+r"(out[5]) : "r"(x), "r"(y), "r"(r));
    asm("mov.b64 {%0, %1}, %2;" : "=r"(out[6]), "=r"(out[7]) : "l"(big[0]));
    asm("mov.b64 %0, {%1, %2};" : "=l"(big[1]) : "r"(x), "r"(y));
    asm("mov.b32 %0, {%1, %2};" : "=r"(out[8]) : "h"(half[0]), "h"(half[1]));
    asm("{.reg .b16 lo, hi; mov.b32 {lo, hi}, %1; add.s16 %0, lo, hi;}" : "=h"(half[2]) : "r"(x));
    asm("fma.rn.f32 %0, %1, 0f3F800000, %2;" : "=f"(real[0]) : "f"(real[1]), "f"(real[2]));
    asm("add.rz.f32 %0, %1, 1.5; mul.f32 %0, %0, 2.0e0;" : "=f"(real[3]) : "f"(real[4]));
    asm("fma.rm.f64 %0, %1, 0d4000000000000000, %2;" : "=d"(wide[0]) : "d"(wide[1]), "d"(wide[2]));
    asm("{.reg .pred p; testp.infinite.f32 p, %1; selp.b32 %0, 1, 0, p;}" : "=r"(out[9]) : "f"(real[7]));
    asm("ex2.approx.ftz.f32 %0, %1; rcp.approx.f32 %0, %0; lg2.approx.f32 %0, %0; tanh.approx.f32 %0, %0;" : "=f"(real[5]) : "f"(real[6]));
}

__global__ void memory(int* p, const float4* v, char* c) {
    int r;
    asm volatile("ld.volatile.global.s32 %0, [%1+-4];" : "=r"(r) : "l"(p + 4) : "memory");
    asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(r) : "l"(p) : "memory");
    asm volatile("ld.acquire.sys.s32 %0, [%1+8];" : "=r"(r) : "l"(p) : "memory");
    asm volatile("st.release.cta.global.s32 [%0], %1;" :: "l"(p), "r"(r) : "memory");
    asm volatile("st.global.v4.b32 [%0+16], {%1, 7, -1, %1};" :: "l"(p), "r"(r) : "memory");
    asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v2.s32 {%0, %1}, [%2];" : "=r"(p[1]), "=r"(p[2]) : "l"(v));
    asm volatile("ld.global.L1::evict_last.u8 %0, [%1];" : "=r"(r) : "l"(c));
    asm volatile("atom.global.relaxed.sys.add.s32 %0, [%1], %2;" : "=r"(r) : "l"(p), "r"(3) : "memory");
    asm volatile("red.global.gpu.max.s32 [%0], %1;" :: "l"(p), "r"(r) : "memory");
    asm volatile("atom.global.cas.b16 %0, [%1], %2, %3;" : "=h"(((short*)p)[9]) : "l"(p), "h"((short)1), "h"((short)2) : "memory");
    asm volatile("{.reg .u64 a; cvta.to.global.u64 a, %0; prefetch.global.L1 [a]; prefetchu.L1 [%0];}" :: "l"(p));
    asm volatile("{.reg .pred p; isspacep.shared p, %1; selp.s32 %0, 1, 0, p;}" : "=r"(r) : "l"(p));
    asm volatile("membar.gl; fence.sc.sys; fence.acq_rel.gpu; membar.cta;" ::: "memory");
    p[9] = r;
}

__global__ void declared(int* out) {
    asm volatile(".shared .align 16 .b8 inner[64];");
    asm volatile("{ .local .align 4 .b8 stack[32]; .reg .b32 a; st.local.u32 [stack+4], %0; ld.local.u32 a, [stack+4]; st.global.u32 [%1], a; }" :: "r"(out[1]), "l"(out));
    asm volatile("st.shared.u32 [inner+8], %0;" :: "r"(out[2]));
    asm volatile(".pragma \"nounroll\";");
    uint64_t t;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(t));
    uint32_t a, b, c;
    asm volatile("mov.u32 %0, %%nwarpid; mov.u32 %1, %%smid; mov.u32 %2, %%dynamic_smem_size;" : "=r"(a), "=r"(b), "=r"(c));
    out[3] = int(t) + a + b + c;
    asm volatile("mov.u32 %0, %%pm0; mov.u32 %1, %%envreg3; mov.u32 %2, %%lanemask_eq;" : "=r"(a), "=r"(b), "=r"(c));
    out[4] = a + b + c + lane();
    asm volatile("nanosleep.u32 20; pmevent 1; activemask.b32 %0;" : "=r"(a));
    out[5] = a;
    asm volatile("{.reg .pred p; setp.eq.u32 p, %0, 99; @p trap; @p exit;}" :: "r"(a));
}
