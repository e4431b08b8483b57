// half, half2, __nv_bfloat16, __nv_bfloat162: arithmetic, comparisons, conversions, functions, atomics, shuffles.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void scalars(half* p, int* out) {
    half a = p[0], b = p[1], c = p[2];
    p[3] = a + b * c - a / b;
    p[4] = __hfma(a, b, c);
    p[5] = __hfma_sat(a, b, c);
    p[6] = __hadd_sat(a, b);
    p[7] = __hmax(a, b) + __hmin(b, c) + __habs(a) - __hneg(c);
    p[8] = hsqrt(a) + hrsqrt(b) + hrcp(c) + hlog(a) + hlog2(b) + hlog10(c) + hexp(a) + hexp2(b) + hexp10(c);
    p[9] = hsin(a) + hcos(b) + hfloor(c) + hceil(a) + htrunc(b) + hrint(c);
    p[10] = __hmul_rn(a, b) + __hadd_rn(b, c) + __hsub_rn(a, c);
    p[11] = __hmax_nan(a, b) + __hmin_nan(a, c) + htanh_approx(a) + htanh(b);
    out[0] = (a < b) + (b >= c) + __heq(a, c) * 2 + __hneu(a, b) * 4 + __hisnan(a) + __hisinf(b) + __hltu(a, b);
    out[1] = __half2int_rn(a) + __half2uint_rz(b) + __half2short_ru(c) + __half2ll_rd(a) + __half2ushort_rn(b);
    p[12] = __int2half_rn(out[2]) + __uint2half_rz(out[3]) + __short2half_rd(short(out[4])) + __ll2half_ru(out[5]);
    p[13] = __float2half_rn(1.5f * out[6]) + __float2half_rz(out[7]) + __double2half(out[8] * 2.5);
    p[14] = __ushort_as_half((unsigned short)out[9]);
    atomicAdd(p + 15, a);
}

__global__ void pairs(half2* p, int* out) {
    half2 a = p[0], b = p[1], c = p[2];
    p[3] = a + b * c - a / b;
    p[4] = __hfma2(a, b, c);
    p[5] = __hfma2_relu(a, b, c);
    p[6] = __hcmadd(a, b, c);
    p[7] = h2sqrt(a) + h2exp2(b) + h2sin(c) + h2rcp(a) + h2log(b);
    p[8] = __hmax2(a, b) + __hmin2(b, c) + __habs2(a);
    p[9] = __lowhigh2highlow(a) + __low2half2(b) + __halves2half2(__high2half(c), __low2half(a));
    p[10] = __hgt2(a, b) + __hle2(b, c);
    out[0] = __hbeq2(a, b) + __hbltu2(b, c) + int(__heq2_mask(a, b)) + int(__hgtu2_mask(b, c));
    p[11] = __shfl_xor_sync(~0u, a, 1) + __shfl_down_sync(~0u, b, 2, 16);
    float2 f = __half22float2(a);
    p[12] = __floats2half2_rn(f.x * 2, f.y) + __float2half2_rn(f.x);
    atomicAdd(p + 13, b);
    p[14] = __ldg(p + 20) + __ldcs(p + 21);
    __stwt(p + 15, a);
    p[16] = a * __float2half2_rn(3.f) + b;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
__global__ void brains(__nv_bfloat16* p, __nv_bfloat162* q, int* out) {
    __nv_bfloat16 a = p[0], b = p[1], c = p[2];
    p[3] = a + b * c - a / b;
    p[4] = __hfma(a, b, c) + __hfma_relu(a, b, c) + __hfma_sat(a, b, c);
    p[5] = hsqrt(a) + hexp(b) + hlog2(c) + hsin(a) + hrcp(b) + hfloor(c) + htanh(a);
    p[6] = __hmax(a, b) + __hmin_nan(b, c) + __habs(a);
    out[0] = (a < b) + __hisnan(c) + __bfloat162int_rn(a) + __bfloat162uint_rz(b) + int(__bfloat162ll_ru(c));
    p[7] = __float2bfloat16_rn(out[1] * .5f) + __double2bfloat16(out[2] * .1) + __int2bfloat16_rd(out[3]) + __ushort2bfloat16_rn((unsigned short)out[4]);
    out[8] = __bfloat162char_rz(a) + __bfloat162uchar_rz(b) + int(__bfloat162short_rd(c));
    q[0] = q[1] + q[2] * q[3] - q[4] / q[5];
    q[6] = __hfma2(q[7], q[8], q[9]) + __hmax2(q[7], q[8]) + h2exp2(q[9]) + h2rsqrt(q[8]);
    q[10] = __floats2bfloat162_rn(out[5], out[6]);
    out[7] = __hbgt2(q[0], q[1]) + __heq2_mask(q[2], q[3]);
    atomicAdd(p + 20, a);
    atomicAdd(q + 20, q[1]);
    q[11] = __shfl_up_sync(~0u, q[0], 1);
}
#endif
