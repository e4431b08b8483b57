// The functions of float_math.cu, flushed and approximate.
// nvcc: -use_fast_math

#include "float_math.cu"

__global__ void divided(float* p, double* q, int n) {
    p[0] = p[1] / p[2] + sqrtf(p[3]) + 1.f / p[4];
    for (int i = 0; i < n; i++) p[i] = p[i] * 1e-39f + tanhf(p[i]);
    q[0] = q[1] / q[2] + double(p[5]);
}
