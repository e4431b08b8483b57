// Orders of memory as programs use them: a queue, a table, a ticket lock, the last block, flags between blocks.
// targets: sm_80 sm_90 sm_100 sm_120

#include <cstdint>
#include <cuda/atomic>
#include <cuda/std/bit>
#include <cuda/std/cstddef>

template <typename T> using on_device = cuda::atomic_ref<T, cuda::thread_scope_device>;

// Multiple producers and consumers: each cell knows whose turn it is.
struct Queue {
    struct Cell { uint32_t turn; int value; };
    Cell* cells;
    uint32_t mask;
    uint32_t *head, *tail;

    __device__ bool push(int value) {
        on_device<uint32_t> end(*tail);
        uint32_t at = end.load(cuda::memory_order_relaxed);
        for (;;) {
            Cell& cell = cells[at & mask];
            int32_t ahead = int32_t(on_device<uint32_t>(cell.turn).load(cuda::memory_order_acquire) - at);
            if (ahead < 0) return false;
            if (ahead > 0) { at = end.load(cuda::memory_order_relaxed); continue; }
            if (end.compare_exchange_weak(at, at + 1, cuda::memory_order_relaxed)) {
                cell.value = value;
                on_device<uint32_t>(cell.turn).store(at + 1, cuda::memory_order_release);
                return true;
            }
        }
    }

    __device__ bool pop(int& value) {
        on_device<uint32_t> begin(*head);
        uint32_t at = begin.load(cuda::memory_order_relaxed);
        for (;;) {
            Cell& cell = cells[at & mask];
            int32_t ahead = int32_t(on_device<uint32_t>(cell.turn).load(cuda::memory_order_acquire) - (at + 1));
            if (ahead < 0) return false;
            if (ahead > 0) { at = begin.load(cuda::memory_order_relaxed); continue; }
            if (begin.compare_exchange_weak(at, at + 1, cuda::memory_order_relaxed)) {
                value = cell.value;
                on_device<uint32_t>(cell.turn).store(at + mask + 1, cuda::memory_order_release);
                return true;
            }
        }
    }
};

__global__ void passed_on(Queue queue, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, value;
    if (i < n) while (!queue.push(i)) __nanosleep(50);
    while (queue.pop(value)) out[value] = i;
}

// Open addressing; keys are claimed by a compare and swap.
__global__ void counted(const uint64_t* keys, uint64_t* table, unsigned* counts, uint32_t mask, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        uint64_t key = keys[i];
        uint32_t at = uint32_t(key * 0x9e3779b97f4a7c15ull >> 40);
        for (;; at++) {
            uint64_t seen = 0;
            on_device<uint64_t> slot(table[at & mask]);
            if (slot.compare_exchange_strong(seen, key, cuda::memory_order_relaxed) || seen == key) {
                on_device<unsigned>(counts[at & mask]).fetch_add(1, cuda::memory_order_relaxed);
                break;
            }
        }
    }
}

__global__ void ticketed(uint32_t* next, uint32_t* serving, double* shared, double value) {
    if (threadIdx.x == 0) {
        uint32_t mine = on_device<uint32_t>(*next).fetch_add(1, cuda::memory_order_relaxed);
        on_device<uint32_t> now(*serving);
        for (uint32_t turn = now.load(cuda::memory_order_acquire); turn != mine; turn = now.load(cuda::memory_order_acquire)) now.wait(turn, cuda::memory_order_relaxed);
        *shared = *shared * 0.5 + value;
        now.store(mine + 1, cuda::memory_order_release);
        now.notify_all();
    }
}

// A scan that looks back one block at a time.
__global__ void chained(const int* in, int* out, int* sums, int* flags, int n) {
    __shared__ int parts[256], before;
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    parts[t] = i < n ? in[i] : 0;
    for (int step = 1; step < 256; step *= 2) {
        __syncthreads();
        int add = t >= step ? parts[t - step] : 0;
        __syncthreads();
        parts[t] += add;
    }
    __syncthreads();
    if (t == 0) {
        int sum = 0;
        if (blockIdx.x > 0) {
            on_device<int> flag(flags[blockIdx.x - 1]);
            while (flag.load(cuda::memory_order_acquire) == 0) {}
            sum = sums[blockIdx.x - 1];
        }
        sums[blockIdx.x] = sum + parts[255];
        on_device<int>(flags[blockIdx.x]).store(1, cuda::memory_order_release);
        before = sum;
    }
    __syncthreads();
    if (i < n) out[i] = before + parts[t];
}

__global__ void fenced(const float* in, float* partial, unsigned* count, float* out) {
    __shared__ bool last;
    __shared__ float sums[128];
    sums[threadIdx.x] = in[blockIdx.x * 128 + threadIdx.x];
    for (int half = 64; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sums[0];
        cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
        last = on_device<unsigned>(*count).fetch_add(1, cuda::memory_order_relaxed) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
        float sum = 0;
        for (unsigned i = 0; i < gridDim.x; i++) sum += partial[i];
        *out = sum;
    }
}
