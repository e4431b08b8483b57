//! Signals between devices (PTX ISA 8.5): a release must have a scope that includes the device which waits for it.

use crate::errors::order as errors;
use crate::kernel::Kernel;
use crate::sync::scopes::{Flag, Flags};
use ptx_dsl_analysis::provenance::AddressBase;
use ptx_dsl_isa::hir::{Operand, Space};
use ptx_dsl_isa::meaning::order::Scope;
use ptx_dsl_isa::qualifier::q;

/// A signal that is released at `.gpu` scope, in a kernel that waits at `.sys` scope for a signal at the same place of another buffer: it
/// is the counterpart of a signal from another device, and that device is not in the scope.
pub(super) fn check(kernel: &Kernel, all: &Flags) {
    let flow = kernel.flow;
    let releases_wide = |f: &Flag| f.releases && f.scope == Scope::Sys;
    if all.unknown_release || all.unknown_acquire || all.fences || all.list.iter().any(releases_wide) {
        return;
    }
    let pointer = |f: &Flag| match f.region.base {
        AddressBase::Pointer(n) if f.region.space == Space::Global => Some(n),
        _ => None,
    };
    let offset = |f: &Flag| match flow.instr(f.at).address()?.value {
        Operand::Address(_, offset) => Some((offset, flow.instr(f.at).bytes())),
        _ => None,
    };
    for r in all.list.iter().filter(|f| f.releases && f.scope == Scope::Gpu && flow.instr(f.at).has(q::gpu)) {
        let Some(to) = pointer(r) else { continue };
        // The kernel itself reads the signals of this buffer.
        if all.list.iter().any(|f| f.acquires && f.at != r.at && pointer(f) == Some(to)) || r.acquires {
            continue;
        }
        let data = all.list.iter().any(|f| f.weak && f.writes && pointer(f) == Some(to));
        let counterpart = all.list.iter().find(|a| {
            a.acquires
                && flow.instr(a.at).has(q::sys)
                && flow.cfg.in_loop(flow.cfg.block_of(a.at))
                && pointer(a).is_some_and(|from| from != to)
                && offset(a) == offset(r)
        });
        if let (Some(wait), true) = (counterpart, data) {
            kernel.report(errors::other_device(flow.instr(r.at).place_of(q::gpu), flow.instr(wait.at).span));
            return;
        }
    }
}
