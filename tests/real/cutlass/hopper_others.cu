// Products by wgmma: FP8, TF32, and operands that threads copy.
// targets: sm_90

#include "kernels.cuh"

using namespace real;
using namespace cutlass::gemm;
using cutlass::half_t, cutlass::bfloat16_t, cutlass::float_e4m3_t, cutlass::tfloat32_t;
using Arch = cutlass::arch::Sm90;
using Tma = cutlass::epilogue::TmaWarpSpecialized;
using Together = cutlass::epilogue::TmaWarpSpecializedCooperative;

void* const* others() {
    return all<
        Dense<Arch, float_e4m3_t, float_e4m3_t, half_t, Shape<_128, _128, _128>, Shape<_1, _2, _1>, KernelTmaWarpSpecializedCooperative, Together>,
        Dense<Arch, tfloat32_t, tfloat32_t, float, Shape<_64, _64, _32>, Shape<_1, _1, _1>, KernelTmaWarpSpecializedPingpong, Tma>,
        Dense<Arch, half_t, half_t, half_t, Shape<_64, _128, _64>, Shape<_1, _1, _1>, KernelCpAsyncWarpSpecializedPingpong, cutlass::epilogue::NoSmemWarpSpecialized>>();
}
