// Functions: recursion, pointers to functions, structures and arrays as arguments, many arguments, variable argument lists.

typedef float (*Unary)(float);
struct Wide { long long a, b, c; char tail[5]; };
struct Pair { float x; double y; };

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ __noinline__ bool even(unsigned n);
__device__ __noinline__ bool odd(unsigned n) { return n == 0 ? false : even(n - 1); }
__device__ bool even(unsigned n) { return n == 0 ? true : odd(n - 1); }
__device__ __noinline__ int ackermann(int m, int n) {
    if (m == 0) return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

__device__ float twice(float x) { return x * 2; }
__device__ float square(float x) { return x * x; }
__device__ __noinline__ float root(float x) { return sqrtf(x); }
__device__ Unary table[] = {twice, square, root};
__constant__ Unary fixed[2] = {root, twice};

__device__ __noinline__ Wide make(char c, short s, Pair p, const Wide& w) {
    Wide out = w;
    out.a += c;
    out.b += s + (long long)p.y;
    out.tail[s % 5] = c;
    return out;
}
__device__ __noinline__ Pair swap(Pair p) { return {float(p.y), double(p.x)}; }
__device__ __noinline__ __int128 huge(__int128 a, bool b) { return b ? a * 3 : -a; }
__device__ __noinline__ float4 many(int a, int b, int c, int d, int e, int f, int g, int h, int i, double j, float4 k, uchar3 l) {
    return make_float4(a + b + c, d + e + f + l.y, g + h + i + l.z, float(j) + k.w);
}
__device__ __noinline__ void nothing(int* p) { *p = 1; }
__device__ __noinline__ float apply(Unary f, float x, int n) {
    for (int i = 0; i < n; i++) x = f(x);
    return x;
}
__device__ __noinline__ void quick_sort(int* data, int left, int right) {
    int i = left, j = right, pivot = data[(left + right) / 2];
    while (i <= j) {
        while (data[i] < pivot) i++;
        while (data[j] > pivot) j--;
        if (i <= j) { int t = data[i]; data[i++] = data[j]; data[j--] = t; }
    }
    if (left < j) quick_sort(data, left, j);
    if (i < right) quick_sort(data, i, right);
}

__global__ void calls(int* out, float* real, Wide* wide, int which) {
    out[0] = fibonacci(out[1]);
    out[2] = even(out[3]) + ackermann(2, out[4]);
    real[0] = table[which](real[1]) + fixed[which & 1](real[2]);
    real[3] = apply(which > 3 ? square : root, real[4], which);
    wide[0] = make('q', short(which), swap({1.5f, 2.5}), wide[1]);
    float4 v = many(1, 2, 3, 4, which, 6, 7, 8, 9, 10.5, make_float4(1, 2, 3, 4), make_uchar3(1, 2, 3));
    real[5] = v.x + v.y + v.z + v.w;
    nothing(out + 5);
    __int128 h = huge(__int128(wide[2].a) << 40, which & 1);
    wide[3].a = (long long)(h >> 64);
    wide[3].b = (long long)h;
    quick_sort(out, 8, 40);
    int local[50];
    for (int i = 0; i < 50; i++) local[i] = out[i] * which;
    quick_sort(local, 0, 49);
    out[6] = local[which];
}

__global__ void through_pointer(Unary f, float* data) { data[threadIdx.x] = f ? f(data[threadIdx.x]) : 0.f; }
