// Products by tcgen05 with scales for blocks: FP4 and FP8, one CTA and pairs.
// targets: sm_100

#include "kernels.cuh"

using namespace real;
using namespace cutlass::gemm;
using Arch = cutlass::arch::Sm100;
using One = cutlass::epilogue::TmaWarpSpecialized1Sm;
using Two = cutlass::epilogue::TmaWarpSpecialized2Sm;
using F4 = cutlass::nv_float4_t<cutlass::float_e2m1_t>;
using F8 = cutlass::mx_float8_t<cutlass::float_e4m3_t>;
using M4 = cutlass::mx_float4_t<cutlass::float_e2m1_t>;

void* const* scaled() {
    return all<
        Scaled<Arch, F4, 32, F4, 32, cutlass::half_t, Shape<_128, _128, _256>, Shape<_1, _1, _1>, KernelTmaWarpSpecialized1SmNvf4Sm100, One>,
        Scaled<Arch, F8, 16, F8, 16, cutlass::bfloat16_t, Shape<_256, _128, _128>, Shape<_2, _1, _1>, KernelTmaWarpSpecialized2SmMxf8f6f4Sm100, Two>,
        Scaled<Arch, M4, 128, F8, 16, cutlass::bfloat16_t, Shape<_128, _128, _128>, Shape<_1, _1, _1>, KernelTmaWarpSpecialized1SmMxf8f6f4Sm100, One>>();
}
