// CUB over the whole device: radix sorts in one sweep, merge sorts, segments, the largest few.
// targets: sm_80 sm_90 sm_120

#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>

struct Particle { float x, mass; };
struct Lighter { __device__ bool operator()(Particle a, Particle b) const { return a.mass < b.mass; } };

cudaError_t radix(void* space, size_t& bytes, const unsigned* keys, unsigned* sorted, const int* values, int* moved, int n) {
    return cub::DeviceRadixSort::SortPairs(space, bytes, keys, sorted, values, moved, n);
}

cudaError_t merge(void* space, size_t& bytes, Particle* particles, int n) {
    return cub::DeviceMergeSort::SortKeys(space, bytes, particles, n, Lighter{});
}

cudaError_t segments(void* space, size_t& bytes, const float* keys, float* sorted, int n, int count, const int* offsets) {
    return cub::DeviceSegmentedSort::SortKeys(space, bytes, keys, sorted, n, count, offsets, offsets + 1);
}
