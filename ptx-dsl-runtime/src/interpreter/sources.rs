//! What instructions of the image read.

use ptx_dsl_isa::image::{Register, Source};

/// The register of a source, if it is one.
pub(super) fn register(source: &Source) -> Option<Register> {
    match source {
        Source::Register { register } | Source::Not { register } | Source::Address { base: register, .. } => {
            Some(*register)
        }
        Source::Constant { .. } | Source::Variable { .. } | Source::Special { .. } | Source::Frame { .. } => None,
    }
}
