// CUB over the whole device: scans and selections in one pass that looks back, partitions, run lengths.
// targets: sm_80 sm_90 sm_100

#include <cub/device/device_partition.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

struct Even { __device__ bool operator()(int x) const { return x % 2 == 0; } };
struct Times { template <typename T> __device__ T operator()(T a, T b) const { return a * b; } };

cudaError_t scans(void* space, size_t& bytes, const int* in, float* reals, long long* out, int n) {
    cub::DeviceScan::InclusiveSum(space, bytes, in, out, n);
    return cub::DeviceScan::ExclusiveScan(space, bytes, reals, Times{}, 1.0f, n);
}

cudaError_t selections(void* space, size_t& bytes, const int* in, int* out, int* count, int n) {
    cub::DeviceSelect::If(space, bytes, in, out, count, n, Even{});
    return cub::DevicePartition::If(space, bytes, in, out, count, n, Even{});
}

cudaError_t runs(void* space, size_t& bytes, const char* in, char* unique, int* counts, int* number, int n) {
    return cub::DeviceRunLengthEncode::Encode(space, bytes, in, unique, counts, number, n);
}
