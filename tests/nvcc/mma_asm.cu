// Matrix instructions as inline assembly: mma, mma.sp, ldmatrix, stmatrix, movmatrix.

#include <cstdint>
#include <cuda_fp16.h>

__device__ void load4(uint32_t (&r)[4], const void* p) {
    uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(p));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address));
}

__device__ void load2t(uint32_t (&r)[2], const void* p) {
    uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(p));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2+16];" : "=r"(r[0]), "=r"(r[1]) : "r"(address));
}

__global__ void turing(const half* in, float* out, int* whole) {
    __shared__ half tile[32 * 32];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncwarp();
    uint32_t a[4], b[2], one;
    float c[4] = {};
    int d[2] = {1, 2};
    load4(a, tile + threadIdx.x * 8);
    load2t(b, tile + threadIdx.x * 8);
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(one) : "l"(__cvta_generic_to_shared(tile)));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(b[0]));
    asm volatile("mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.u8.s32 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+r"(d[0]), "+r"(d[1]) : "r"(a[0]), "r"(one));
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(a[3]) : "r"(a[2]));
    for (int i = 0; i < 4; i++) out[i * 32 + threadIdx.x] = c[i] + a[i];
    whole[threadIdx.x] = d[0] + d[1];
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define MMA4(SHAPE, TYPES, A, B)                                                                                     \
    asm volatile("mma.sync.aligned." SHAPE ".row.col." TYPES " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"    \
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                                    \
                 : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B[0]), "r"(B[1]))
#define IMMA4(SHAPE, TYPES, A, B)                                                                                    \
    asm volatile("mma.sync.aligned." SHAPE ".row.col." TYPES " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"    \
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                                    \
                 : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B[0]), "r"(B[1]))

__global__ void ampere(const uint4* in, float* out, int* whole, double* real) {
    uint4 v = in[threadIdx.x];
    uint32_t a[4] = {v.x, v.y, v.z, v.w}, b[2] = {v.y, v.w};
    float c[4] = {0, 1, 2, 3};
    int d[4] = {4, 5, 6, 7};
    MMA4("m16n8k16", "f32.f16.f16.f32", a, b);
    MMA4("m16n8k16", "f32.bf16.bf16.f32", a, b);
    MMA4("m16n8k8", "f32.tf32.tf32.f32", a, b);
    IMMA4("m16n8k32", "s32.s8.s8.s32", a, b);
    IMMA4("m16n8k32", "satfinite.s32.u8.s8.s32", a, b);
    IMMA4("m16n8k64", "s32.s4.u4.s32", a, b);
    asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+d"(real[0]), "+d"(real[1]) : "d"(real[2]), "d"(real[3]));
    asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%4,%5}, {%0,%1,%2,%3}, %6, 0x1;"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    for (int i = 0; i < 4; i++) {
        out[threadIdx.x * 4 + i] = c[i];
        whole[threadIdx.x * 4 + i] = d[i];
    }
}
#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
__global__ void hopper(uint4 v, double* out) {
    __shared__ uint32_t tile[128];
    uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(tile + threadIdx.x * 4 % 128));
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" :: "r"(address), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
    asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared::cta.b16 [%0], {%1};" :: "r"(address), "r"(v.x) : "memory");
    double d[4] = {};
    asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3]) : "d"(out[0]), "d"(out[1]), "d"(out[2]));
    out[threadIdx.x] = d[0] + d[1] + d[2] + d[3] + tile[threadIdx.x];
}
#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 1200
__global__ void blackwell(uint4 v, float* out) {
    uint32_t a[4] = {v.x, v.y, v.z, v.w}, b[2] = {v.y, v.w};
    float c[4] = {0, 1, 2, 3};
    MMA4("m16n8k32", "kind::f8f6f4.f32.e4m3.e2m1.f32", a, b);
    MMA4("m16n8k32", "f32.e5m2.e4m3.f32", a, b);
    asm volatile("mma.sync.aligned.kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e4m3.e4m3.f32.ue8m0 "
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3}, {%10}, {%11, %12}, {%10}, {%11, %12};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(v.x), "h"((short)0), "h"((short)1));
    asm volatile("mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue4m3 "
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3}, {%10}, {%11, %11}, {%10}, {%11, %11};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(v.x), "n"(0));
    out[threadIdx.x] = c[0] + c[1] + c[2] + c[3];
}
#endif
