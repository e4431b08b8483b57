//! The kernel under analysis, with what the analyses know of it.

use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::lanes::Lanes;
use ptx_dsl_analysis::provenance::Provenance;
use ptx_dsl_analysis::reaching::Places;

/// A kernel under analysis.
pub(crate) struct Kernel<'a, 'h> {
    pub flow: &'a Flow<'h>,
    pub lanes: &'a Lanes,
    pub places: &'a Places,
    pub from: &'a Provenance,
}
