// Products by wgmma: one consumer, two that take turns, two together; clusters; a stream of pieces.
// targets: sm_90

#include "kernels.cuh"

using namespace real;
using namespace cutlass::gemm;
using cutlass::half_t, cutlass::bfloat16_t, cutlass::float_e4m3_t, cutlass::tfloat32_t;
using Arch = cutlass::arch::Sm90;
using Tma = cutlass::epilogue::TmaWarpSpecialized;
using Together = cutlass::epilogue::TmaWarpSpecializedCooperative;

void* const* dense() {
    return all<
        Dense<Arch, half_t, half_t, half_t, Shape<_64, _128, _64>, Shape<_1, _1, _1>, KernelTmaWarpSpecialized, Tma>,
        Dense<Arch, half_t, half_t, half_t, Shape<_64, _128, _64>, Shape<_2, _1, _1>, KernelTmaWarpSpecializedPingpong, Tma>,
        Dense<Arch, bfloat16_t, bfloat16_t, float, Shape<_128, _128, _64>, Shape<_2, _2, _1>, KernelTmaWarpSpecializedCooperative, Together>,
        Dense<Arch, half_t, half_t, half_t, Shape<_128, _256, _64>, Shape<_2, _1, _1>, KernelTmaWarpSpecializedCooperative, Together, StreamKScheduler>>();
}
