// Thrust: what a program without kernels of its own launches.
// targets: sm_80 sm_90

#include <thrust/adjacent_difference.h>
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/gather.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/set_operations.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>

struct Square { __host__ __device__ double operator()(double x) const { return x * x; } };

double norm(const double* x, int n) {
    return thrust::transform_reduce(thrust::device, x, x + n, Square{}, 0.0, thrust::plus<double>{});
}

int* both(const int* a, int m, const int* b, int n, int* out) {
    return thrust::set_intersection(thrust::device, a, a + m, b, b + n, out);
}

void others(int* x, int* y, float* z, int n) {
    thrust::adjacent_difference(thrust::device, x, x + n, y);
    thrust::unique_by_key(thrust::device, x, x + n, z);
    thrust::gather(thrust::device, x, x + n, z, z + n);
}
