//! What a name means.

use ptx_dsl_isa::hir::{FuncId, LabelId, RegId, VarId};
use ptx_dsl_isa::ty::Ty;

/// What a name means.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sym {
    Reg(RegId),
    /// A register of the module, with its lanes. Each function that uses it gets one of its own.
    ModuleReg(Ty, u32),
    Var(VarId),
    Func(FuncId),
    Label(LabelId),
    /// `.branchtargets`: number in [`Lists::labels`].
    Labels(usize),
    /// `.calltargets`: number in [`Lists::functions`].
    Funcs(usize),
    /// `.callprototype`: number in [`Lists::prototypes`].
    Prototype(usize),
    /// One of these three, declared further down.
    Below,
    /// Its declaration was refused: uses cause no further errors.
    Broken,
}

impl Sym {
    /// A description for messages.
    pub(super) fn describe(self) -> &'static str {
        match self {
            Sym::Reg(_) | Sym::ModuleReg(..) => "a register",
            Sym::Var(_) => "a variable",
            Sym::Func(_) => "a function",
            Sym::Label(_) => "a label",
            Sym::Labels(_) => "a list of branch targets",
            Sym::Funcs(_) => "a list of call targets",
            Sym::Prototype(_) => "a call prototype",
            Sym::Below => "a list that is declared later",
            Sym::Broken => "unknown",
        }
    }
}
