//! The arguments and results that calls of a function pass.

use ptx_dsl_isa::hir::{self, Param};
use ptx_dsl_isa::ty::Ty;

/// A parameter of a function or prototype.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Formal {
    pub(super) ty: Ty,
    /// In bytes.
    pub(super) size: u32,
    /// In bytes; at least that of the type.
    pub(super) align: u32,
    pub(super) array: bool,
    /// `.reg`, not `.param`.
    pub(super) reg: bool,
    /// Elements of a vector register, else 1.
    pub(super) lanes: u32,
}

/// The parameters of a function or prototype.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Signature {
    pub(super) rets: Vec<Formal>,
    pub(super) params: Vec<Formal>,
    /// The alignment of the elements of an open array, if there is one.
    pub(super) rest_align: u32,
    /// The last parameter is an open array: any arguments may follow (PTX ISA 7.2).
    pub(super) variadic: bool,
}

impl Signature {
    /// Do both have parameters and results of the same types and sizes? Then one may replace the other in an indirect call.
    pub(super) fn same_values(&self, other: &Signature) -> bool {
        same_values(&self.rets, &other.rets)
            && same_values(&self.params, &other.params)
            && self.variadic == other.variadic
    }
}

fn same_values(a: &[Formal], b: &[Formal]) -> bool {
    for (i, a) in a.iter().enumerate() {
        match b.get(i) {
            Some(b) if a.ty == b.ty && a.size == b.size && a.lanes == b.lanes => {}
            _ => return false,
        }
    }
    a.len() == b.len()
}

/// The arguments and results that a call of the function passes.
pub(super) fn signature(f: &hir::Function) -> Signature {
    let mut out = Signature { rets: formals(&f.rets), params: formals(&f.params), rest_align: 0, variadic: false };
    if let Some(last) = f.params.last()
        && is_open(last)
    {
        (out.variadic, out.rest_align) = (true, last.align.max(last.ty.bytes()));
    }
    out
}

/// An array without a size.
fn is_open(p: &Param) -> bool {
    p.array && p.size == 0
}

fn formals(params: &[Param]) -> Vec<Formal> {
    let mut out = Vec::with_capacity(params.len());
    for p in params {
        if !is_open(p) {
            let align = p.align.max(p.ty.bytes());
            let (size, reg) = (p.size, p.reg.is_some());
            out.push(Formal { ty: p.ty, size, align, array: p.array, reg, lanes: p.lanes });
        }
    }
    out
}
