//! Local arrays that a register indexes: ptxas cannot keep them in registers.

use crate::errors::performance as errors;
use crate::kernel::Kernel;
use ptx_dsl_analysis::provenance::AddressBase;
use ptx_dsl_isa::hir::Space;
use ptx_dsl_isa::meaning::access::plain_access;

pub(crate) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    let mut reported = Vec::new();
    for (_, at, i) in flow.walk() {
        let Some((arg, _)) = plain_access(i) else { continue };
        let Some(region) = kernel.region(at, arg, i.bytes()) else { continue };
        let AddressBase::Var(v) = region.base else { continue };
        if region.space == Space::Local && region.bytes.is_none() && !reported.contains(&v) {
            reported.push(v);
            kernel.report(errors::local_array(arg.span, flow.variable_name(v.0)));
        }
    }
}
