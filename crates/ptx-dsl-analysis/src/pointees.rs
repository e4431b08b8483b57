//! The memory that a kernel accesses through each of its parameters: joins the types of all accesses whose address has that provenance.

use crate::accesses::{Access, accesses};
use crate::flow::Flow;
use crate::provenance::{AddressBase, Provenance};
use ptx_dsl_isa::hir::{Base, Function, Instr, Module, Operand};
use ptx_dsl_isa::ty::{Class, Ty};

/// The accesses through a parameter. Calls are not followed, and addresses that are loaded from memory are unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pointee {
    /// The type of its elements; `None` if accesses differ or have none.
    pub element: Option<Ty>,
    /// Does the kernel write the memory?
    pub written: bool,
    /// The bytes of the largest access: a vector, a bulk copy of a constant size. 0 if none is known.
    pub bytes: u32,
}

/// By parameter; `None` if nothing is accessed through it.
pub fn pointees(module: &Module, kernel: &Function) -> Vec<Option<Pointee>> {
    let mut found: Vec<Option<Pointee>> = vec![None; kernel.params.len()];
    accesses_of_parameters(module, kernel, &mut |parameter, i, access| {
        let Some(slot) = found.get_mut(parameter) else { return };
        let new = Pointee { element: i.types.first().copied(), written: access.writes, bytes: access.size };
        *slot = Some(match *slot {
            Some(old) => join(old, new),
            None => new,
        });
    });
    found
}

/// Calls `each` with the number of a parameter, an instruction that accesses memory through it, and the access.
pub fn accesses_of_parameters(module: &Module, kernel: &Function, each: &mut dyn FnMut(usize, &Instr, &Access<'_>)) {
    let Some(flow) = Flow::new(module, kernel) else { return };
    let provenance = Provenance::new(&flow);
    for (_, at, i) in flow.walk() {
        accesses(i, &mut |access| {
            let Operand::Address(Base::Reg(register), _) = access.arg.value else { return };
            let Some(address) = provenance.pointee(flow.ssa.read(at, register, 0)) else { return };
            if let AddressBase::Pointer(parameter) = address.base {
                each(parameter as usize, i, &access);
            }
        });
    }
}

fn join(a: Pointee, b: Pointee) -> Pointee {
    let element = match (a.element, b.element) {
        (Some(x), Some(y)) if x == y || more_precise(x, y) => Some(x),
        (Some(x), Some(y)) if more_precise(y, x) => Some(y),
        _ => None,
    };
    Pointee { element, written: a.written || b.written, bytes: a.bytes.max(b.bytes) }
}

/// Is `b` untyped bits of the width of `a`?
fn more_precise(a: Ty, b: Ty) -> bool {
    b.class() == Class::Bits && a.bits() == b.bits()
}
