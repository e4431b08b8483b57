// Templates, lambdas, constant expressions, parameter packs and structures by value.
// nvcc: --extended-lambda

#include <cstdint>

template <typename T, int N> struct Vec {
    T v[N];
    __device__ T& operator[](int i) { return v[i]; }
    __device__ const T& operator[](int i) const { return v[i]; }
};

template <typename T, int N> __device__ Vec<T, N> operator+(const Vec<T, N>& a, const Vec<T, N>& b) {
    Vec<T, N> out;
#pragma unroll
    for (int i = 0; i < N; i++) out[i] = a[i] + b[i];
    return out;
}

template <typename... Ts> __device__ auto sum(Ts... ts) { return (ts + ...); }

template <typename T> __device__ T identity() {
    if constexpr (sizeof(T) == 8) return T(1) << 3;
    else if constexpr (sizeof(T) == 1) return T('x');
    else return T(7);
}

struct Big {
    int a[20];
    double b;
    char c;
    short d[3];
};

template <typename F, typename T> __global__ void transform(F f, const T* in, T* out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = f(in[i]);
}

template <typename T, int N> __global__ void add(const Vec<T, N>* a, const Vec<T, N>* b, Vec<T, N>* c) {
    c[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}

__global__ void by_value(Big big, const __grid_constant__ Big other, int64_t* out, bool flag, char small, float4 v) {
    out[threadIdx.x] = big.a[threadIdx.x % 20] + int64_t(big.b) + other.a[threadIdx.x % 7] + other.c + big.d[1];
    const Big* p = flag ? &other : &big;
    out[threadIdx.x + 32] = p->a[3] + small + sum(1, 2u, 3ll, v.x) + identity<int64_t>() + identity<char>() + identity<int>();
}

template __global__ void add<int, 3>(const Vec<int, 3>*, const Vec<int, 3>*, Vec<int, 3>*);
template __global__ void add<float, 4>(const Vec<float, 4>*, const Vec<float, 4>*, Vec<float, 4>*);
template __global__ void add<uint8_t, 16>(const Vec<uint8_t, 16>*, const Vec<uint8_t, 16>*, Vec<uint8_t, 16>*);
template __global__ void add<double, 2>(const Vec<double, 2>*, const Vec<double, 2>*, Vec<double, 2>*);

void launch(const float* in, float* out, int n, float scale, int64_t* wide) {
    auto f = [=] __device__(float x) { return x * scale + float(n); };
    transform<<<1, 32>>>(f, in, out, n);
    transform<<<1, 32>>>([] __device__(int64_t x) { return x * 3 - (x >> 5); }, wide, wide, n);
}
