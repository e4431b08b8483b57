// State spaces: constant, shared, dynamic, local, managed and aligned variables; initialisers; loads and stores of all kinds.

#include <cstdint>

struct Mixed { char c; double d; short s[3]; const char* text; float4 v; union { int i; float f; }; unsigned bits : 5; int more : 11; };
enum class Colour : uint8_t { Red, Green = 7, Blue };

__constant__ float weights[64] = {1.f, 2.5f, -0.f, 1e-40f, 3.4e38f};
__constant__ Mixed record = {'x', 3.14159, {1, -2, 3}, "constant text", {1, 2, 3, 4}, {42}, 3, -5};
__constant__ int matrix[2][3][2] = {{{1, 2}, {3, 4}, {5, 6}}, {{7}}};
__device__ int plain = -7;
__device__ unsigned char bytes[] = {0, 1, 2, 255, 128, 'a'};
__device__ double reals[4] = {1.0, -0.0, 1e300, 5e-324};
__device__ int* pointer = &plain;
__device__ const float* inside = &weights[3];
__device__ void* addresses[] = {&plain, bytes + 2, reals, nullptr};
__device__ Colour colour = Colour::Green;
__device__ __align__(64) int2 aligned_pairs[8];
__device__ volatile int flag;
__device__ long long wide = 0x123456789abcdef0LL;
__device__ bool truth = true;
__managed__ int managed = 5;
__managed__ float managed_table[16];
static __device__ int hidden[3] = {9, 8, 7};
__device__ int zeros[100000];
__device__ const char* const names[] = {"one", "two \"quoted\"", "three\n\t\\"};

__global__ void variables(int* out, double* real, int i) {
    __shared__ int fixed[33];
    __shared__ double grid[4][5];
    __shared__ Mixed one;
    __shared__ volatile unsigned spin;
    extern __shared__ __align__(16) unsigned char dynamic[];
    fixed[threadIdx.x] = matrix[i & 1][i % 3][1] + plain + bytes[i] + hidden[i % 3] + zeros[i];
    grid[i & 3][i % 5] = reals[i & 3] + weights[i];
    if (threadIdx.x == 0) { one = record; one.bits = i; one.more += 3; spin = 0; }
    reinterpret_cast<float4*>(dynamic)[threadIdx.x] = make_float4(1, 2, 3, i);
    __syncthreads();
    while (spin == 99) {}
    out[i] = fixed[i ^ 1] + one.s[i % 3] + one.bits + one.more + one.i + dynamic[i * 5] + names[i % 3][i] + record.text[i];
    real[i] = grid[i & 3][2] + one.d + *inside + *pointer;
    flag = flag + 1;
    managed += managed_table[i];
    out[i + 1] = colour == Colour::Blue ? int(wide >> 3) : truth;
    aligned_pairs[i] = make_int2(i, *static_cast<int*>(addresses[i & 3]));
    int local[40];
    for (int k = 0; k < 40; k++) local[k] = out[k];
    local[i % 40] = 5;
    Mixed copy[3] = {record, one, record};
    out[i + 2] = local[(i * 7) % 40] + copy[i % 3].s[1] + __isGlobal(out) + __isShared(fixed) + __isConstant(&record) + __isLocal(local);
}

template <typename T> __device__ void hints(const T* __restrict__ in, T* out) {
    out[0] = __ldg(in);
    out[1] = __ldca(in + 1);
    out[2] = __ldcg(in + 2);
    out[3] = __ldcs(in + 3);
    out[4] = __ldlu(in + 4);
    out[5] = __ldcv(in + 5);
    __stwb(out + 6, in[6]);
    __stcg(out + 7, in[7]);
    __stcs(out + 8, in[8]);
    __stwt(out + 9, in[9]);
}

__global__ void cached(void* p, const void* q) {
    hints(static_cast<const int*>(q), static_cast<int*>(p));
    hints(static_cast<const unsigned char*>(q), static_cast<unsigned char*>(p));
    hints(static_cast<const short2*>(q), static_cast<short2*>(p));
    hints(static_cast<const float4*>(q), static_cast<float4*>(p));
    hints(static_cast<const double2*>(q), static_cast<double2*>(p));
    hints(static_cast<const long long*>(q), static_cast<long long*>(p));
    hints(static_cast<const char4*>(q), static_cast<char4*>(p));
    hints(static_cast<const ulonglong2*>(q), static_cast<ulonglong2*>(p));
}

__global__ void unaligned(const char* in, char* out, volatile float* v, const uint16_t* h) {
    int x;
    memcpy(&x, in + 1, 4);
    double d;
    memcpy(&d, in + 3, 8);
    out[0] = x + char(d);
    v[0] = v[1] + v[2];
    const volatile float4* w = reinterpret_cast<const volatile float4*>(v);
    v[3] = w[1].x + w[2].z;
    reinterpret_cast<uint16_t*>(out)[4] = h[0] + h[1];
    *reinterpret_cast<int8_t*>(out + 20) = int8_t(h[2]) >> 2;
    asm volatile("st.global.cs.v2.u8 [%0+2], {%1, %2};" :: "l"(out), "r"(x), "r"(x + 1) : "memory");
}
