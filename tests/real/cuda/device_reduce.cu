// CUB over the whole device: reductions, histograms, transformations (with bulk copies where there are), moves of many buffers.
// targets: sm_80 sm_90 sm_100

#include <cub/device/device_for.cuh>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_memcpy.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/device/device_transform.cuh>
#include <cuda/std/tuple>

struct Axpy { float a; __device__ float operator()(float x, float y) const { return a * x + y; } };
struct Clear { int* at; __device__ void operator()(int i) const { at[i] = 0; } };

cudaError_t reductions(void* space, size_t& bytes, const float* in, float* out, const int* keys, int* unique, int* count, int n) {
    cub::DeviceReduce::Sum(space, bytes, in, out, n);
    cub::DeviceReduce::ReduceByKey(space, bytes, keys, unique, in, out, count, cuda::std::plus<>{}, n);
    return cub::DeviceSegmentedReduce::Max(space, bytes, in, out, count[0], keys, keys + 1);
}

cudaError_t histogram(void* space, size_t& bytes, const unsigned char* pixels, int* bins, int n) {
    int* channels[3] = {bins, bins + 256, bins + 512};
    int levels[3] = {257, 257, 257}, low[3] = {}, high[3] = {256, 256, 256};
    return cub::DeviceHistogram::MultiHistogramEven<4, 3>(space, bytes, pixels, channels, levels, low, high, n);
}

cudaError_t transformed(const float* x, const float* y, float* out, int* marks, int n) {
    cub::DeviceTransform::Transform(cuda::std::make_tuple(x, y), out, n, Axpy{2});
    return cub::DeviceFor::Bulk(n, Clear{marks});
}

cudaError_t moved(void* space, size_t& bytes, void** from, void** to, const int* sizes, int count) {
    return cub::DeviceMemcpy::Batched(space, bytes, from, to, sizes, count);
}
