// CUB within a block: sorts by merging, run lengths, differences, heads of runs, exchanges of warps, ranks, shuffles.
// targets: sm_80 sm_90 sm_100 sm_120

#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_rank.cuh>
#include <cub/block/block_run_length_decode.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/warp/warp_exchange.cuh>
#include <cub/warp/warp_load.cuh>
#include <cub/warp/warp_store.cuh>

struct Less { __device__ bool operator()(float a, float b) const { return a < b; } };
struct Differ { __device__ bool operator()(int a, int b) const { return a != b; } };

__global__ void __launch_bounds__(128) merged(float* keys, int* values, int n) {
    using Sort = cub::BlockMergeSort<float, 128, 5, int>;
    __shared__ Sort::TempStorage space;
    float k[5];
    int v[5];
    for (int i = 0; i < 5; i++) {
        int at = threadIdx.x * 5 + i;
        k[i] = at < n ? keys[at] : 3e38f;
        v[i] = at;
    }
    Sort(space).StableSort(k, v, Less{}, n, 3e38f);
    for (int i = 0; i < 5; i++) { keys[threadIdx.x * 5 + i] = k[i]; values[threadIdx.x * 5 + i] = v[i]; }
}

__global__ void __launch_bounds__(128) lengths(const int* in, int* out, int* total) {
    using Heads = cub::BlockDiscontinuity<int, 128>;
    using Scan = cub::BlockScan<int, 128, cub::BLOCK_SCAN_RAKING_MEMOIZE>;
    __shared__ union { Heads::TempStorage heads; Scan::TempStorage scan; } space;
    int items[4], heads[4], ranks[4], count;
    for (int i = 0; i < 4; i++) items[i] = in[threadIdx.x * 4 + i];
    Heads(space.heads).FlagHeads(heads, items, Differ{});
    __syncthreads();
    Scan(space.scan).InclusiveSum(heads, ranks, count);
    for (int i = 0; i < 4; i++) if (heads[i]) out[ranks[i] - 1] = threadIdx.x * 4 + i;
    if (threadIdx.x == 127) *total = count;
}

__global__ void __launch_bounds__(64) decoded(const char* values, const unsigned* runs, char* out) {
    using Decode = cub::BlockRunLengthDecode<char, 64, 2, 8>;
    __shared__ Decode::TempStorage space;
    char v[2] = {values[threadIdx.x * 2], values[threadIdx.x * 2 + 1]};
    unsigned r[2] = {runs[threadIdx.x * 2], runs[threadIdx.x * 2 + 1]}, size;
    Decode decode(space, v, r, size);
    for (unsigned done = 0; done < size; done += 64 * 8) {
        char items[8];
        decode.RunLengthDecode(items, done);
        for (int i = 0; i < 8; i++) if (done + threadIdx.x * 8 + i < size) out[done + threadIdx.x * 8 + i] = items[i];
        __syncthreads();
    }
}

__global__ void __launch_bounds__(256) exchanged(const float4* in, float* out, int* moved) {
    using Load = cub::WarpLoad<float, 4, cub::WARP_LOAD_TRANSPOSE>;
    using Store = cub::WarpStore<float, 4, cub::WARP_STORE_STRIPED>;
    using Exchange = cub::WarpExchange<int, 4>;
    using Difference = cub::BlockAdjacentDifference<float, 256>;
    using Shuffle = cub::BlockShuffle<int, 256>;
    __shared__ Load::TempStorage load[8];
    __shared__ Store::TempStorage store[8];
    __shared__ Exchange::TempStorage exchange[8];
    __shared__ Difference::TempStorage difference;
    __shared__ Shuffle::TempStorage shuffle;
    int w = threadIdx.x / 32;
    float v[4], d[4];
    Load(load[w]).Load(reinterpret_cast<const float*>(in) + w * 128, v);
    Difference(difference).SubtractLeft(v, d, [](float a, float b) { return a - b; });
    int a[4] = {int(v[0]), int(v[1]), int(v[2]), int(v[3])}, b[4];
    Exchange(exchange[w]).BlockedToStriped(a, b);
    int next;
    Shuffle(shuffle).Offset(b[0], next, 3);
    moved[threadIdx.x] = next + b[3];
    Store(store[w]).Store(out + w * 128, d);
}
