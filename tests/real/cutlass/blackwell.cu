// Products by tcgen05: one CTA and pairs, clusters of any size, a stream of pieces, FP8.
// targets: sm_100

#include "kernels.cuh"

using namespace real;
using namespace cutlass::gemm;
using cutlass::half_t, cutlass::bfloat16_t, cutlass::float_e4m3_t;
using Arch = cutlass::arch::Sm100;
using One = cutlass::epilogue::TmaWarpSpecialized1Sm;
using Two = cutlass::epilogue::TmaWarpSpecialized2Sm;
using AnySize = Shape<int, int, _1>;

void* const* dense() {
    return all<
        Dense<Arch, half_t, half_t, half_t, Shape<_128, _128, _64>, Shape<_1, _1, _1>, KernelTmaWarpSpecialized1SmSm100, One>,
        Dense<Arch, bfloat16_t, bfloat16_t, float, Shape<_256, _128, _64>, Shape<_2, _2, _1>, KernelTmaWarpSpecialized2SmSm100, Two>,
        Dense<Arch, float_e4m3_t, float_e4m3_t, half_t, Shape<_256, _256, _128>, AnySize, KernelTmaWarpSpecialized2SmSm100, Two, StreamKScheduler>>();
}
