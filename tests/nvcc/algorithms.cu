// Small algorithms whose results plain Rust computes as well: tests/host/nvcc.rs runs what nvcc makes of them on the host, from
// tests/host/nvcc/optimised.ptx (`nvcc -arch=sm_90 -ptx -O3`) and plain.ptx (`-Xcicc -O0`).

// Constants, rounds that are unrolled, arrays in local memory.
__constant__ unsigned deltas[4] = {0x9E3779B9, 0x3C6EF372, 0xDAA66D2B, 0x78DDE6E4};
extern "C" __global__ void cipher(const unsigned* in, unsigned* out, int blocks) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= blocks) return;
    unsigned v[2] = {in[2 * t], in[2 * t + 1]}, sum = 0;
    for (int round = 0; round < 16; round++) {
        sum += deltas[round % 4];
        v[round & 1] += ((v[~round & 1] << 4) + t) ^ (v[~round & 1] + sum) ^ ((v[~round & 1] >> 5) + 77);
    }
    out[2 * t] = v[0];
    out[2 * t + 1] = v[1];
}

// Barriers in loops in loops.
extern "C" __global__ void bitonic_sort(unsigned* x) {
    __shared__ unsigned s[512];
    int t = threadIdx.x;
    unsigned* own = x + blockIdx.x * 512;
    s[t] = own[t];
    s[t + 256] = own[t + 256];
    for (int k = 2; k <= 512; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            __syncthreads();
            int i = 2 * j * (t / j) + t % j;
            unsigned a = s[i], b = s[i + j];
            if ((a > b) == ((i & k) == 0)) {
                s[i] = b;
                s[i + j] = a;
            }
        }
    __syncthreads();
    own[t] = s[t];
    own[t + 256] = s[t + 256];
}

// A stack of each thread, loops that end where data says.
extern "C" __global__ void quick_sort(int* x, int n) {
    int* a = x + (blockIdx.x * blockDim.x + threadIdx.x) * n;
    int stack[64], top = 0;
    stack[top++] = 0;
    stack[top++] = n - 1;
    while (top > 0) {
        int high = stack[--top], low = stack[--top];
        if (low >= high) continue;
        int pivot = a[(low + high) / 2], i = low - 1, j = high + 1;
        for (;;) {
            do i++; while (a[i] < pivot);
            do j--; while (a[j] > pivot);
            if (i >= j) break;
            int swapped = a[i];
            a[i] = a[j];
            a[j] = swapped;
        }
        stack[top++] = low;
        stack[top++] = j;
        stack[top++] = j + 1;
        stack[top++] = high;
    }
}

// Recursion, of another depth in each lane.
__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n) {
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
extern "C" __global__ void recursion(unsigned* out) { out[threadIdx.x] = ackermann(threadIdx.x % 3, threadIdx.x / 3 % 7); }

// Shuffles, a part of a block that works alone, an atomic of all blocks.
extern "C" __global__ void prefix_sums(const unsigned* in, unsigned* out, unsigned* sum) {
    __shared__ unsigned warps[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = in[t];
    for (int d = 1; d < 32; d *= 2) {
        unsigned below = __shfl_up_sync(~0u, v, d);
        if (lane >= d) v += below;
    }
    if (lane == 31) warps[warp] = v;
    __syncthreads();
    if (warp == 0) {
        unsigned s = lane < blockDim.x / 32 ? warps[lane] : 0;
        for (int d = 1; d < 32; d *= 2) {
            unsigned below = __shfl_up_sync(~0u, s, d);
            if (lane >= d) s += below;
        }
        warps[lane] = s;
    }
    __syncthreads();
    if (warp > 0) v += warps[warp - 1];
    out[t] = v;
    if (threadIdx.x == blockDim.x - 1) atomicAdd(sum, v);
}

// A switch in a loop with jumps between its iterations.
extern "C" __global__ void machine(const unsigned char* code, int length, int* out) {
    int t = threadIdx.x, r[4] = {t, t * 3 + 1, 7, 0}, at = 0, steps = 0;
    bool stopped = false;
    while (at < length && steps < 500 && !stopped) {
        steps++;
        unsigned char c = code[at++];
        int a = c >> 4 & 3, b = c >> 6 & 3;
        switch (c & 15) {
            case 0: r[a] += r[b]; break;
            case 1: r[a] -= r[b]; break;
            case 2: r[a] *= r[b]; break;
            case 3: r[a] ^= r[b]; break;
            case 4: if (r[a] & 1) at = (at + b) % length; break;
            case 5: r[a] /= (r[b] & 0xFFFF) | 1; break;
            case 6: r[a] = __popc(r[b]); break;
            case 7: r[a] = r[b] << (r[a] & 31); break;
            case 8: r[a] = max(r[a], r[b]); break;
            case 9: if (r[a] > r[b]) at = (at * 7 + 3) % length; break;
            case 10: r[a] = __brev(r[b]); break;
            case 11: stopped = true; break;
            default: r[b] += c;
        }
    }
    for (int i = 0; i < 4; i++) out[t * 4 + i] = r[i] + (i == 3 ? steps : 0);
}

// Atomics on shared memory, a loop over the grid.
extern "C" __global__ void histogram(const unsigned char* in, int n, unsigned* counts) {
    __shared__ unsigned own[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) own[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[in[i]], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        if (own[i]) atomicAdd(&counts[i], own[i]);
}

// Iterations of `double` until each lane has enough.
extern "C" __global__ void cube_roots(const double* x, double* root, int* turns, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    double v = x[t], guess = v;
    int i = 0;
    for (; i < 60 && fabs(guess * guess * guess - v) > 1e-9 * v; i++) guess = guess - (guess * guess * guess - v) / (3 * guess * guess);
    root[t] = guess;
    turns[t] = i;
}

// Votes and matches of lanes that were apart.
extern "C" __global__ void votes(const int* x, unsigned* out) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, v = x[t];
    unsigned turns = 0, positive = __ballot_sync(~0u, v > 0);
    while (v > 0) {
        turns += __popc(__activemask() & positive) > 0;
        v -= 3;
    }
    __syncwarp();
    out[t] = turns * 2 + __any_sync(~0u, v == -2) + (__match_any_sync(~0u, x[t] & 3) << 8);
}

// Dynamic shared memory, a block of two dimensions.
extern "C" __global__ void shortest_ways(unsigned* length, int n) {
    extern __shared__ unsigned s[];
    int i = threadIdx.y, j = threadIdx.x;
    s[i * n + j] = length[i * n + j];
    __syncthreads();
    for (int k = 0; k < n; k++) {
        unsigned over = s[i * n + k] + s[k * n + j];
        __syncthreads();
        if (over < s[i * n + j]) s[i * n + j] = over;
        __syncthreads();
    }
    length[i * n + j] = s[i * n + j];
}
