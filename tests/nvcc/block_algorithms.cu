// CUB: sorts, scans, reductions, loads and histograms of a block and of a warp.

#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

struct Larger { template <typename T> __device__ T operator()(T a, T b) const { return a > b ? a : b; } };

__global__ void __launch_bounds__(128) sorted(const unsigned* in, unsigned* out, int n) {
    using Load = cub::BlockLoad<unsigned, 128, 4, cub::BLOCK_LOAD_TRANSPOSE>;
    using Sort = cub::BlockRadixSort<unsigned, 128, 4, int>;
    using Store = cub::BlockStore<unsigned, 128, 4, cub::BLOCK_STORE_WARP_TRANSPOSE>;
    __shared__ union { Load::TempStorage load; Sort::TempStorage sort; Store::TempStorage store; } temp;
    unsigned keys[4];
    int values[4] = {int(threadIdx.x), 1, 2, 3};
    Load(temp.load).Load(in, keys, n, ~0u);
    __syncthreads();
    Sort(temp.sort).Sort(keys, values);
    __syncthreads();
    keys[0] += values[1];
    Store(temp.store).Store(out, keys, n);
}

__global__ void __launch_bounds__(256) folded(const float* in, float* out, int* counts, unsigned char* samples) {
    using Reduce = cub::BlockReduce<float, 256, cub::BLOCK_REDUCE_RAKING>;
    using Scan = cub::BlockScan<int, 256, cub::BLOCK_SCAN_WARP_SCANS>;
    using Histogram = cub::BlockHistogram<unsigned char, 256, 1, 256, cub::BLOCK_HISTO_ATOMIC>;
    __shared__ Reduce::TempStorage reduce;
    __shared__ Scan::TempStorage scan;
    __shared__ Histogram::TempStorage histogram;
    __shared__ int bins[256];
    float x = in[threadIdx.x];
    float sum = Reduce(reduce).Sum(x);
    __syncthreads();
    float most = Reduce(reduce).Reduce(x, Larger{}, 200);
    int before, total;
    Scan(scan).ExclusiveSum(int(x), before, total);
    unsigned char item[1] = {samples[threadIdx.x]};
    Histogram(histogram).Histogram(item, bins);
    __syncthreads();
    counts[threadIdx.x] = before + total + bins[threadIdx.x];
    if (threadIdx.x == 0) { out[0] = sum; out[1] = most; }
}

__global__ void warps(const int* in, int* out, double* real) {
    using Reduce = cub::WarpReduce<int>;
    using Scan = cub::WarpScan<double, 16>;
    using Sort = cub::WarpMergeSort<int, 4, 32>;
    __shared__ Reduce::TempStorage reduce[4];
    __shared__ Scan::TempStorage scan[8];
    __shared__ Sort::TempStorage sort[4];
    int w = threadIdx.x / 32;
    out[0] = Reduce(reduce[w]).Sum(in[threadIdx.x]) + Reduce(reduce[w]).HeadSegmentedSum(in[threadIdx.x], threadIdx.x % 5 == 0);
    double all;
    Scan(scan[threadIdx.x / 16]).InclusiveSum(real[threadIdx.x], all);
    real[threadIdx.x] = all;
    int keys[4] = {in[0], in[threadIdx.x], 7, w};
    Sort(sort[w]).Sort(keys, [](int a, int b) { return a < b; });
    out[threadIdx.x] = keys[2];
}
