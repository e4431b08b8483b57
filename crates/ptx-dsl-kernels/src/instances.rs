//! The PTX text of every instance of every kernel, for benchmarks and for programs that load them by themselves.

use crate::{
    attention::attention, gemm::gemm, gemm_sm80::gemm_mma, gemm_sm100::gemm_pair, histogram::histogram_bytes,
    reduce::reduce, rms_norm, scan::scan, softmax, top_k::top_k_rows, transpose,
};
use ptx_dsl::KernelFn;

/// One instance of a kernel.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Instance {
    /// The name of its entry.
    pub name: &'static str,
    /// A module with this entry alone.
    pub ptx: &'static str,
}

fn instance(kernel: impl KernelFn) -> Instance {
    Instance { name: kernel.name(), ptx: kernel.entry_ptx() }
}

/// Every instance of every kernel of this crate.
pub fn instances() -> impl Iterator<Item = Instance> {
    [
        instance(reduce::<0>),
        instance(reduce::<1>),
        instance(reduce::<2>),
        instance(softmax::softmax_rows::<32, 4>),
        instance(softmax::softmax_rows::<256, 4>),
        instance(softmax::softmax_rows::<1024, 4>),
        instance(softmax::softmax_rows::<32, 1>),
        instance(softmax::softmax_rows::<256, 1>),
        instance(softmax::softmax_rows::<1024, 1>),
        instance(softmax::softmax_long_rows),
        instance(rms_norm::rms_norm_rows::<32, 4>),
        instance(rms_norm::rms_norm_rows::<256, 4>),
        instance(rms_norm::rms_norm_rows::<1024, 4>),
        instance(rms_norm::rms_norm_rows::<32, 1>),
        instance(rms_norm::rms_norm_rows::<256, 1>),
        instance(rms_norm::rms_norm_rows::<1024, 1>),
        instance(rms_norm::rms_norm_long_rows),
        instance(top_k_rows::<4>),
        instance(top_k_rows::<1>),
        instance(transpose::transpose_pieces),
        instance(transpose::transpose_elements),
        instance(gemm_mma::<0>),
        instance(gemm_mma::<1>),
        instance(gemm_pair::<0>),
        instance(gemm_pair::<1>),
        instance(histogram_bytes),
        instance(scan::<0>),
        instance(scan::<1>),
        instance(gemm::<256, 0, 0>),
        instance(gemm::<256, 0, 1>),
        instance(gemm::<256, 1, 0>),
        instance(gemm::<256, 1, 1>),
        instance(gemm::<256, 2, 0>),
        instance(gemm::<256, 2, 1>),
        instance(gemm::<256, 4, 0>),
        instance(gemm::<256, 4, 1>),
        instance(gemm::<256, 5, 0>),
        instance(gemm::<256, 5, 1>),
        instance(gemm::<192, 0, 0>),
        instance(gemm::<192, 0, 1>),
        instance(gemm::<192, 1, 0>),
        instance(gemm::<192, 1, 1>),
        instance(gemm::<192, 2, 0>),
        instance(gemm::<192, 2, 1>),
        instance(gemm::<192, 4, 0>),
        instance(gemm::<192, 4, 1>),
        instance(gemm::<192, 5, 0>),
        instance(gemm::<192, 5, 1>),
        instance(gemm::<144, 0, 0>),
        instance(gemm::<144, 0, 1>),
        instance(gemm::<144, 1, 0>),
        instance(gemm::<144, 1, 1>),
        instance(gemm::<144, 2, 0>),
        instance(gemm::<144, 2, 1>),
        instance(gemm::<144, 4, 0>),
        instance(gemm::<144, 4, 1>),
        instance(gemm::<144, 5, 0>),
        instance(gemm::<144, 5, 1>),
        instance(gemm::<128, 0, 0>),
        instance(gemm::<128, 0, 1>),
        instance(gemm::<128, 1, 0>),
        instance(gemm::<128, 1, 1>),
        instance(gemm::<128, 2, 0>),
        instance(gemm::<128, 2, 1>),
        instance(gemm::<128, 4, 0>),
        instance(gemm::<128, 4, 1>),
        instance(gemm::<128, 5, 0>),
        instance(gemm::<128, 5, 1>),
        instance(gemm::<64, 0, 0>),
        instance(gemm::<64, 0, 1>),
        instance(gemm::<64, 1, 0>),
        instance(gemm::<64, 1, 1>),
        instance(gemm::<64, 2, 0>),
        instance(gemm::<64, 2, 1>),
        instance(gemm::<64, 4, 0>),
        instance(gemm::<64, 4, 1>),
        instance(gemm::<64, 5, 0>),
        instance(gemm::<64, 5, 1>),
        instance(attention::<128, 0, 0>),
        instance(attention::<128, 0, 1>),
        instance(attention::<128, 1, 0>),
        instance(attention::<128, 1, 1>),
        instance(attention::<64, 0, 0>),
        instance(attention::<64, 0, 1>),
        instance(attention::<64, 1, 0>),
        instance(attention::<64, 1, 1>),
    ]
    .into_iter()
}
