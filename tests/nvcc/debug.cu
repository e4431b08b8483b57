// A debug build (-G): all variables, scopes and lines, no optimisation.
// nvcc: -G

#include <cstdio>

namespace outer {
enum Kind { One, Two, Three };
struct Point { int x, y; float w[3]; Kind kind; };
template <typename T> struct Holder { T value; T* next; };
__device__ Point origin = {1, 2, {3, 4, 5}, Two};
__constant__ int limits[4] = {1, 2, 3, 4};
}

using outer::Point;

__device__ int helper(const Point& p, int depth) {
    int total = 0;
    for (int i = 0; i < depth; i++) {
        int inner = p.x * i;
        if (inner > 10) {
            float hidden = p.w[i % 3];
            total += int(hidden);
        } else total += inner;
    }
    return total;
}

__device__ __noinline__ int recursive(int n) {
    int here = n * 2;
    return n <= 0 ? here : here + recursive(n - 1);
}

__global__ void debugged(int* out, Point p, const char* text, outer::Holder<double> holder) {
    __shared__ int box[32];
    extern __shared__ float more[];
    int i = threadIdx.x;
    box[i] = helper(p, i) + recursive(i & 3);
    more[i] = i;
    __syncthreads();
    switch (p.kind) {
    case outer::One: out[i] = box[31 - i]; break;
    case outer::Two: out[i] = box[i] + outer::limits[i & 3]; break;
    default: out[i] = outer::origin.y;
    }
    auto closure = [&](int k) { return k + box[k & 31] + int(holder.value); };
    out[i] += closure(i) + __shfl_xor_sync(~0u, i, 1) + atomicAdd(out, 1) + int(more[i]);
    double d = sqrt(double(i)) + __ldg(out + 3);
    printf("%d %f %s\n", i, d, text);
    while (i-- > 0) if (out[i] == 3) continue; else out[i]++;
}
