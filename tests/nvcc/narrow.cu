// Narrow floating point: fp8, fp6, fp4, their vectors and scales; integers of 8 bits in products.

#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

__global__ void eight(const float* in, __nv_fp8_e4m3* a, __nv_fp8_e5m2* b, __nv_fp8x4_e4m3* c, half* out, __nv_fp8_e8m0* scale) {
    int i = threadIdx.x;
    a[i] = __nv_fp8_e4m3(in[i]);
    b[i] = __nv_fp8_e5m2(in[i]);
    c[i] = __nv_fp8x4_e4m3(make_float4(in[i], in[i + 1], in[i + 2], in[i + 3]));
    out[i] = half(a[i + 32]) + half(b[i + 32]);
    float4 wide = float4(c[i + 32]);
    out[i + 64] = __float2half(wide.x + wide.y + wide.z + wide.w);
    scale[i] = __nv_fp8_e8m0(in[i]);
    out[i + 128] = __float2half(float(scale[i + 32]));
    a[i + 64] = __nv_fp8_e4m3(__half2float(out[i]));
    a[i + 96] = __nv_fp8_e4m3(double(in[i]));
    b[i + 64] = __nv_fp8_e5m2(int(in[i]));
    unsigned short pair = __nv_cvt_float2_to_fp8x2(make_float2(in[i], in[i + 1]), __NV_SATFINITE, __NV_E4M3);
    __half2_raw raw = __nv_cvt_fp8x2_to_halfraw2(pair, __NV_E5M2);
    out[i + 256] = half(__half_raw{raw.x}) + half(__half_raw{raw.y});
}

__global__ void six(const float2* in, __nv_fp6x2_e3m2* a, __nv_fp6x2_e2m3* b, float2* out) {
    int i = threadIdx.x;
    a[i] = __nv_fp6x2_e3m2(in[i]);
    b[i] = __nv_fp6x2_e2m3(in[i + 1]);
    float2 x = float2(a[i + 32]), y = float2(b[i + 32]);
    out[i] = make_float2(x.x + y.x, x.y * y.y);
}

__global__ void four(const float2* in, __nv_fp4x2_e2m1* a, __nv_fp4x4_e2m1* b, float2* out) {
    int i = threadIdx.x;
    a[i] = __nv_fp4x2_e2m1(in[i]);
    b[i] = __nv_fp4x4_e2m1(make_float4(in[i].x, in[i].y, in[i + 1].x, in[i + 1].y));
    out[i] = float2(a[i + 32]);
    float4 v = float4(b[i + 32]);
    out[i + 32] = make_float2(v.x + v.y, v.z + v.w);
}

__global__ void products(const int* a, const unsigned* b, int* out) {
    int i = threadIdx.x;
    out[i] = __dp4a(a[i], a[i + 1], out[i]) + __dp2a_lo(a[i], a[i + 2], 3) + __dp2a_hi(a[i], a[i + 3], 4);
    out[i + 32] = __dp4a(b[i], b[i + 1], 5u) + __dp2a_lo(b[i], b[i + 2], 3u);
    out[i + 64] = __vadd4(b[i], b[i + 1]) + __vsub2(b[i], b[i + 1]) + __vmaxs4(b[i], b[i + 2]) + __vabsdiffu4(b[i], b[i + 1]);
    out[i + 96] = __vcmpgtu4(b[i], b[i + 1]) + __vavgu2(b[i], b[i + 1]) + __vsadu4(b[i], b[i + 3]) + __vaddss2(b[i], b[i + 1]) + __vneg4(b[i]);
    out[i + 128] = __viaddmax_s32(a[i], a[i + 1], 7) + __vimax3_u32(b[i], b[i + 1], 9) + __vimin_s16x2_relu(b[i], b[i + 1]);
    out[i + 160] = __vibmax_s32(a[i], a[i + 1], (bool*)(out + 512)) + __viaddmin_u16x2(b[i], b[i + 1], b[i + 2]);
}
