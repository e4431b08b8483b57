// Products by mma.sync with scales for blocks, whose operands TMA loads.
// targets: sm_120

#include "kernels.cuh"

using namespace real;
using namespace cutlass::gemm;
using Arch = cutlass::arch::Sm120;
using F4 = cutlass::nv_float4_t<cutlass::float_e2m1_t>;
using F8 = cutlass::mx_float8_t<cutlass::float_e4m3_t>;

void* const* scaled() {
    return all<
        Scaled<Arch, F4, 32, F4, 32, cutlass::bfloat16_t, Shape<_128, _128, _128>, Shape<_1, _1, _1>>,
        Scaled<Arch, F8, 16, F8, 16, cutlass::bfloat16_t, Shape<_128, _128, _128>, Shape<_1, _1, _1>, KernelTmaWarpSpecializedPingpong>>();
}
