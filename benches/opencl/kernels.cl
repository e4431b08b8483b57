// The kernels of benches/host in OpenCL C: the same work items, work groups and local memory.
#pragma OPENCL FP_CONTRACT OFF

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void saxpy(__global const float *x, __global float *y, float a, uint n) {
    uint i = get_group_id(0) * 256 + get_local_id(0);
    if (i >= n) return;
    y[i] = fma(a, x[i], y[i]);
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void reduce(__global const float *x, __global float *sums) {
    __local float part[256];
    uint t = get_local_id(0), b = get_group_id(0);
    x += b * 1024 + t;
    part[t] = (x[0] + x[256]) + (x[512] + x[768]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_way = 128; half_way != 0; half_way >>= 1) {
        if (t < half_way) part[t] += part[t + half_way];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0) sums[b] = part[0];
}

__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void matmul(__global const float *a, __global const float *b, __global float *c, uint n) {
    __local float as[16][16], bs[16][16];
    uint x = get_local_id(0), y = get_local_id(1);
    uint column = get_group_id(0) * 16 + x, row = get_group_id(1) * 16 + y;
    float sum = 0;
    for (uint k = 0; k < n; k += 16) {
        as[y][x] = a[row * n + k + x];
        bs[y][x] = b[(k + y) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        #pragma unroll
        for (uint i = 0; i < 16; i++) sum = fma(as[y][i], bs[i][x], sum);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = sum;
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void histogram(__global const uint *x, __global uint *bins, uint words) {
    __local uint local_bins[256];
    uint t = get_local_id(0), stride = get_num_groups(0) * 256;
    local_bins[t] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_group_id(0) * 256 + t; i < words; i += stride) {
        uint v = x[i];
        atomic_inc(&local_bins[v & 255]);
        atomic_inc(&local_bins[v >> 8 & 255]);
        atomic_inc(&local_bins[v >> 16 & 255]);
        atomic_inc(&local_bins[v >> 24]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&bins[t], local_bins[t]);
}

__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void mandelbrot(__global uint *counts, uint n) {
    uint i = get_group_id(0) * 128 + get_local_id(0), count = 0;
    float cx = fma((float)(i % n), 3.0f / 1024.0f, -2.0f), cy = fma((float)(i / n), 3.0f / 1024.0f, -1.5f);
    float zx = 0, zy = 0;
    while (count < 256) {
        float xx = zx * zx, yy = zy * zy;
        if (xx + yy > 4.0f) break;
        zy = fma(zx * zy, 2.0f, cy);
        zx = xx - yy + cx;
        count++;
    }
    counts[i] = count;
}

__kernel __attribute__((reqd_work_group_size(1024, 1, 1)))
void barriers(__global uint *out, uint rounds) {
    __local uint ring[1024];
    uint t = get_local_id(0), b = get_group_id(0), v = t + b;
    for (uint i = 0; i < rounds; i++) {
        ring[t] = v;
        barrier(CLK_LOCAL_MEM_FENCE);
        v = ring[(t + 1) & 1023] + 1;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[b * 1024 + t] = v;
}
