// Warp intrinsics: shuffles, votes, matches, reductions, masks, barriers of part of a warp.

template <typename T> __device__ T shuffles(T v) {
    v += __shfl_sync(0xffffffff, v, 3);
    v += __shfl_up_sync(0xffffffff, v, 1, 16);
    v += __shfl_down_sync(0xffffffff, v, 2, 8);
    v += __shfl_xor_sync(0xffffffff, v, 4);
    return v;
}

__global__ void all(int* out, unsigned* u, float* f, double* d, long long* w) {
    int i = threadIdx.x;
    out[i] = shuffles(i);
    u[i] = shuffles(u[i + 32]);
    f[i] = shuffles(f[i + 32]);
    d[i] = shuffles(d[i + 32]);
    w[i] = shuffles(w[i + 32]);
    u[0] = __ballot_sync(~0u, i & 1) + __activemask();
    out[1] = __all_sync(~0u, i > 2) + __any_sync(~0u, i == 7);
    u[2] = __match_any_sync(~0u, i % 4) + __match_any_sync(~0u, w[i]);
    int same;
    u[3] = __match_all_sync(~0u, f[i], &same) + same;
    __syncwarp();
    if (i < 16) __syncwarp(0xffff);
    unsigned lane, lt, ge;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
    asm volatile("mov.u32 %0, %%lanemask_ge;" : "=r"(ge));
    u[4] = lane + __popc(lt) + __fns(ge, 1, 2) + warpSize;
}

__global__ void divergent(int* out) {
    int i = threadIdx.x;
    if (i < 20) {
        unsigned mask = __ballot_sync(0xfffff, out[i] > 0);
        if (out[i] > 0) out[i] = __shfl_sync(mask, i, __ffs(mask) - 1);
        __syncwarp(0xfffff);
    } else {
        for (int k = 20; k < i; k++) out[i] += __shfl_xor_sync(__activemask(), k, 1);
    }
    __syncthreads();
    for (int k = 16; k; k >>= 1) out[i] += __shfl_down_sync(~0u, out[i], k);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
__global__ void reductions(int* out, unsigned* u) {
    int i = threadIdx.x;
    out[i] = __reduce_add_sync(~0u, i) + __reduce_min_sync(~0u, i) + __reduce_max_sync(~0u, -i);
    u[i] = __reduce_and_sync(~0u, u[i]) + __reduce_or_sync(~0u, u[i]) + __reduce_xor_sync(~0u, u[i]) + __reduce_max_sync(~0u, u[i]);
}
#endif

__global__ void named(int* out) {
    __shared__ int box[64];
    if (threadIdx.x < 32) {
        box[threadIdx.x] = out[threadIdx.x];
        asm volatile("barrier.cta.arrive 2, 64;" ::: "memory");
    } else {
        asm volatile("barrier.cta.sync 2, 64;" ::: "memory");
        out[threadIdx.x] = box[threadIdx.x - 32];
    }
    int r;
    asm volatile("{.reg .pred p, q; setp.gt.s32 p, %1, 3; bar.red.and.pred q, 0, p; selp.s32 %0, 1, 2, q;}" : "=r"(r) : "r"(out[5]) : "memory");
    asm volatile("{.reg .pred p; setp.gt.s32 p, %1, 3; bar.red.popc.u32 %0, 0, p;}" : "=r"(r) : "r"(out[6]) : "memory");
    out[64] = r;
}
