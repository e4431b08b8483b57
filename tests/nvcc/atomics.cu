// Atomic operations: intrinsics with scopes, builtins, cuda::atomic and cuda::atomic_ref with all orders, fences.

#include <cuda/atomic>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <typename T> __device__ T integers(T* p, T v) {
    T r = atomicAdd(p, v);
    r ^= atomicMin(p, v);
    r ^= atomicMax(p, v);
    r ^= atomicAnd(p, v);
    r ^= atomicOr(p, v);
    r ^= atomicXor(p, v);
    r ^= atomicExch(p, v);
    r ^= atomicCAS(p, r, v);
    return r;
}

__global__ void intrinsics(int* i, unsigned* u, unsigned long long* w, float* f, double* d, unsigned short* h, float4* q) {
    extern __shared__ int box[];
    int r = integers(i, 3) + integers(box, 4) + integers(u, 5u);
    unsigned long long s = integers(w, 6ull) + atomicMax((long long*)w, -7ll);
    r += atomicInc(u, 10) + atomicDec(u, 11) + atomicSub(i, 12) + atomicExch(f, 1.f);
    atomicAdd(f, 2.f);
    atomicAdd(f + 1, r * .5f);
    f[2] = atomicAdd(f, 2.f);
    atomicAdd(d, 2.5);
    d[1] = atomicAdd(d, s);
    h[0] = atomicCAS(h, 1, 2);
    atomicAdd_system(i, 1);
    atomicAdd_block(i, 1);
    i[1] = atomicCAS_system(u, 1u, 2u) + atomicExch_block(u, 3u) + atomicAnd_block(i, 7);
    atomicOr_system(u, 8);
    atomicAdd((float*)box, 3.f);
    atomicAdd((double*)box + 1, 3.);
    atomicMin(i + 5, 4);
    atomicXor(w + 5, 9ull);
#if __CUDA_ARCH__ >= 900
    atomicAdd(q, make_float4(1, 2, 3, 4));
    q[1] = atomicAdd(q, make_float4(1, 2, 3, 4));
    atomicAdd((float2*)q, make_float2(1, 2));
    struct alignas(16) Wide { long long a, b; };
    Wide x = atomicExch((Wide*)q, Wide{1, 2});
    Wide y = atomicCAS((Wide*)q + 1, x, Wide{3, 4});
    w[9] = y.a + y.b;
#endif
}

template <typename T, cuda::thread_scope S> __device__ T references(T* p, T v) {
    cuda::atomic_ref<T, S> a(*p);
    a.store(v, cuda::memory_order_relaxed);
    a.store(v, cuda::memory_order_release);
    a.store(v, cuda::memory_order_seq_cst);
    T r = a.load(cuda::memory_order_relaxed) + a.load(cuda::memory_order_acquire) + a.load(cuda::memory_order_seq_cst);
    r += a.fetch_add(v, cuda::memory_order_relaxed) + a.fetch_sub(v, cuda::memory_order_acq_rel) + a.fetch_max(v, cuda::memory_order_acquire);
    r += a.exchange(v, cuda::memory_order_release) + a.fetch_min(v);
    T expected = v;
    while (!a.compare_exchange_weak(expected, r, cuda::memory_order_acq_rel, cuda::memory_order_relaxed)) r++;
    if (a.compare_exchange_strong(expected, r)) r++;
    return r;
}

__device__ cuda::atomic<int, cuda::thread_scope_system> counter;
__device__ cuda::std::atomic<unsigned long long> wide_counter;

__global__ void objects(int* i, unsigned long long* w, float* f, double* d, short* h, unsigned char* c) {
    __shared__ int box;
    i[0] = references<int, cuda::thread_scope_device>(i, 1) + references<int, cuda::thread_scope_block>(&box, 2);
    w[0] = references<unsigned long long, cuda::thread_scope_system>(w, 3);
    f[0] = references<float, cuda::thread_scope_device>(f, 4);
    d[0] = references<double, cuda::thread_scope_device>(d, 4);
    h[0] = references<short, cuda::thread_scope_device>(h, 5);
    c[0] = references<unsigned char, cuda::thread_scope_block>(c, 6);
    i[1] = references<int, cuda::thread_scope_thread>(i + 8, 1);
    counter += 3;
    i[2] = counter++ | (counter ^= 6);
    wide_counter.fetch_or(9, cuda::std::memory_order_release);
    counter.wait(5);
    counter.notify_all();
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
    cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_block);
    cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_system);
    cuda::atomic_signal_fence(cuda::memory_order_seq_cst);
}

__global__ void builtins(int* i, unsigned long long* w) {
    i[0] = __nv_atomic_load_n(i, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_store_n(i, 5, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_SYSTEM);
    w[0] = __nv_atomic_fetch_add(w, 3ull, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_BLOCK);
    __nv_atomic_add(w, 3ull, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    i[1] = __nv_atomic_exchange_n(i, 7, __NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
    int expected = 1;
    i[2] = __nv_atomic_compare_exchange_n(i, &expected, 2, false, __NV_ATOMIC_ACQUIRE, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_SYSTEM);
}
