//! Declares registers: `.reg` (PTX ISA 5.1.1).

use super::super::Checker;
use super::super::symbol::Sym;
use super::lanes;
use crate::ast;
use crate::check::errors;
use crate::print;
use ptx_dsl_isa::hir;
use ptx_dsl_isa::isa::Ptx;
use ptx_dsl_isa::ty::{Class, Ty};

impl Checker {
    /// `.reg`: one register, or a range of them.
    pub(super) fn declare_register(&mut self, decl: &ast::VarDecl, name: &ast::Declarator, ty: Ty) -> Option<Sym> {
        let (text, span) = (name.name.text.as_str(), name.name.span);
        if self.fun.is_none() && !self.old_scope(decl, name) {
            self.define(text, span, Sym::Broken);
            return None;
        }
        if matches!(ty.class(), Class::Opaque) || ty == Ty::B1024 {
            let what = format!("there are no `.{}` registers", ty.name());
            let help = "declare a variable in another state space";
            self.report(errors::variable(decl.ty.span, &what, "5.1.1", help));
            self.define(text, span, Sym::Broken);
            return None;
        }
        if name.init.is_some() {
            let help = match &name.init {
                // One register, one value.
                Some(ast::Init::Value(e))
                    if decl.names.len() == 1 && name.range.is_none() && decl.vector.is_none() && movable(ty) =>
                {
                    let (ty, e) = (ty.name(), print::expression(e));
                    format!("write `.reg .{ty} {text}; mov.{ty} {text}, {e};`")
                }
                _ => "remove the value, and use `mov` for it".to_string(),
            };
            self.report(errors::initialiser(span, "a register has no initial value", &help));
        }
        if let Some((count, _)) = name.range {
            self.define_range(text, count, ty, lanes(decl), span);
            return None;
        }
        let sym = match self.fun {
            Some(_) => Sym::Reg(self.new_reg(text, ty, lanes(decl))),
            None => Sym::ModuleReg(ty, lanes(decl)),
        };
        self.define(text, span, sym);
        Some(sym)
    }

    /// `.reg` and `.local` at module scope: ptxas accepts them before PTX ISA 3.0, and disables its ABI for them. Warns once per
    /// declaration.
    pub(in crate::check) fn old_scope(&mut self, decl: &ast::VarDecl, name: &ast::Declarator) -> bool {
        let old = self.version < Ptx(3, 0);
        if decl.names.first().is_some_and(|first| std::ptr::eq(first, name)) {
            self.report(errors::module_scope(decl.space.span, &decl.space.text, old));
        }
        old
    }

    /// A register of the module that several functions, or several calls of one, use is one register in PTX; neither the analyses
    /// nor the host treat it as one.
    pub(in crate::check) fn share_registers(&mut self) {
        for (name, function) in &self.module_registers {
            let in_func = |(n, f): &(String, hir::FuncId)| n == name && !self.out.functions[f.0 as usize].entry;
            if self.module_registers.iter().any(in_func) {
                self.out.shared_registers.push((*function, name.clone()));
                if let Ok(at) = self.whole.binary_search(function) {
                    self.whole.remove(at);
                }
            }
        }
    }
}

/// Is there a `mov` of the type?
fn movable(ty: Ty) -> bool {
    let integer = matches!(ty.class(), Class::Bits | Class::Unsigned | Class::Signed);
    matches!(ty, Ty::F32 | Ty::F64) || integer && matches!(ty.bits(), 16 | 32 | 64)
}
