// targets: sm_90 sm_100a
// Integers of 128 bits: carries from `sub.cc` to `addc` and back. `tests/host/nvcc.rs` runs them.

typedef unsigned __int128 u128;
typedef __int128 s128;

// x[i] and y[i] are two words each, low one first; so are both results: the quotient, unsigned, and the remainder, signed.
extern "C" __global__ void divide(const unsigned long long *x, const unsigned long long *y, unsigned long long *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u128 a = (u128)x[2 * i + 1] << 64 | x[2 * i];
    u128 b = (u128)y[2 * i + 1] << 64 | y[2 * i];
    u128 results[2] = {a / b, (u128)((s128)a % (s128)b)};
    for (int k = 0; k < 2; k++) {
        out[4 * i + 2 * k] = (unsigned long long)results[k];
        out[4 * i + 2 * k + 1] = (unsigned long long)(results[k] >> 64);
    }
}
