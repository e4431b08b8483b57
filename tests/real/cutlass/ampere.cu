// Products by mma.sync that cp.async feeds, as CUTLASS 2 has them: f16, a split sum, TF32, integers; a convolution.
// targets: sm_80 sm_90

#include <cutlass/conv/conv2d_problem_size.h>
#include <cutlass/conv/device/implicit_gemm_convolution.h>
#include <cutlass/conv/kernel/default_conv2d_fprop.h>
#include <cutlass/gemm/device/gemm.h>
#include <cutlass/gemm/device/gemm_splitk_parallel.h>

using cutlass::half_t, cutlass::gemm::GemmShape;
using Rows = cutlass::layout::RowMajor;
using Columns = cutlass::layout::ColumnMajor;
using Tensor = cutlass::arch::OpClassTensorOp;
using Arch = cutlass::arch::Sm80;

template <class C, class Sum> using Combine = cutlass::epilogue::thread::LinearCombination<C, 128 / cutlass::sizeof_bits<C>::value, Sum, Sum>;

using Half = cutlass::gemm::device::Gemm<half_t, Rows, half_t, Columns, half_t, Rows, float, Tensor, Arch, GemmShape<128, 128, 32>, GemmShape<64, 64, 32>, GemmShape<16, 8, 16>, Combine<half_t, float>, cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, 4>;
using Single = cutlass::gemm::device::Gemm<float, Rows, float, Columns, float, Rows, float, Tensor, Arch, GemmShape<128, 64, 16>, GemmShape<64, 32, 16>, GemmShape<16, 8, 8>, Combine<float, float>, cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, 3>;
using Integer = cutlass::gemm::device::Gemm<int8_t, Rows, int8_t, Columns, int32_t, Rows, int32_t, Tensor, Arch, GemmShape<64, 128, 64>, GemmShape<32, 64, 64>, GemmShape<16, 8, 32>, Combine<int32_t, int32_t>, cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, 3>;
using Split = cutlass::gemm::device::GemmSplitKParallel<half_t, Columns, half_t, Rows, float, Rows, float, Tensor, Arch, GemmShape<128, 128, 32>, GemmShape<64, 64, 32>, GemmShape<16, 8, 16>>;
using Convolution = cutlass::conv::device::ImplicitGemmConvolution<typename cutlass::conv::kernel::DefaultConv2dFprop<half_t, cutlass::layout::TensorNHWC, half_t, cutlass::layout::TensorNHWC, half_t, cutlass::layout::TensorNHWC, float, Tensor, Arch, GemmShape<128, 128, 32>, GemmShape<64, 64, 32>, GemmShape<16, 8, 16>, Combine<half_t, float>, cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, 3, cutlass::arch::OpMultiplyAdd, cutlass::conv::IteratorAlgorithm::kOptimized>::Kernel>;

cutlass::Status products(Half::Arguments const& a, Single::Arguments const& b, Integer::Arguments const& c, Split::Arguments const& d, void* space) {
    Half{}(a);
    Single{}(b);
    Integer{}(c);
    return Split{}(d, space);
}

cutlass::Status convolution(Convolution::Arguments const& arguments) {
    Convolution convolution;
    convolution.initialize(arguments);
    return convolution();
}
