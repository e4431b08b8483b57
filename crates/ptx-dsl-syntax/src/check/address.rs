//! Addresses: base and offset, state space, alignment (PTX ISA 6.4.1).

use super::Checker;
use super::attempt::Attempt;
use super::rust::rust_sum;
use super::select::takes;
use super::symbol::Sym;
use crate::ast::{self, Expr, OperandKind};
use crate::check::errors;
use crate::diag::Wanted;
use crate::parse::constant::unknown_here;
use crate::parse::{Const, fold};
use ptx_dsl_isa::hir::{Base, Operand, Space, VarId};
use ptx_dsl_isa::isa::syntax::Shape;
use ptx_dsl_isa::isa::{Mbarrier, Tensor};
use ptx_dsl_isa::isa::{OpTy, OperandSpec};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;
use ptx_dsl_isa::ty::Class;

impl Checker {
    /// `[base + offset]`
    pub(super) fn address(
        &mut self,
        at: &mut Attempt,
        spec: Option<&'static OperandSpec>,
        given: &ast::Operand,
    ) -> Operand {
        let OperandKind::Expr(expr) = &given.kind else {
            at.fail(errors::bad_address(given.span, None), 1);
            return Operand::Sink;
        };
        if let Expr::Rust(id, _) = expr {
            at.fail(unknown_here(given.span, "an absolute address", &self.out.constants, *id), 1);
            return Operand::Sink;
        }
        if let Some((base, constant)) = rust_sum(expr) {
            return self.rust_address(at, spec, base, constant, given.span);
        }
        if let Some(c) = fold(expr) {
            let Const::Int { value, .. } = c else {
                at.fail(errors::bad_address(given.span, None), 1);
                return Operand::Sink;
            };
            if !at.has(q::local) {
                let x = self.free_name();
                let bits = if matches!(spec, None | Some(OperandSpec { ty: OpTy::None, .. })) { 64 } else { 32 };
                at.fail(errors::absolute_address(given.span, value as i64, bits, x), 1);
            }
            return Operand::Address(Base::Abs, value as i64);
        }
        let Some((base, offset)) = split(expr) else {
            let help = self.address_instead(expr, at.has(q::shared) || at.has(q::local));
            at.fail(errors::bad_address(given.span, help), 1);
            return Operand::Sink;
        };
        match self.lookup(&base.text) {
            Some(Sym::Reg(id)) => {
                let ty = self.reg_ty(id);
                if at.has(q::param_func) {
                    at.fail(errors::parameter_in_register(base.span, &base.text), 1);
                }
                let integer = matches!(ty.class(), Class::Bits | Class::Unsigned | Class::Signed);
                if !integer || !matches!(ty.bits(), 32 | 64) || self.reg_lanes(id) > 1 {
                    at.fail(errors::address_register(base.span, &base.text, ty), 1);
                } else if let Some(&OperandSpec { ty: OpTy::Ty(want), .. }) = spec
                    && (want.bits() != ty.bits() || ty.class() != Class::Bits && at.entry.effects.tensor == Tensor::Mma)
                {
                    at.fail(errors::tensor_memory_register(base.span, &base.text, ty), 1);
                } else if let (32, Some(OperandSpec { full_width: true, .. }), None | Some(&"global")) =
                    (ty.bits(), spec, at.spaces().first())
                {
                    let generic = at.spaces().is_empty();
                    let shared = generic && at.form.slots.iter().any(|slot| takes(slot, "shared"));
                    at.fail(errors::narrow_address(base.span, &base.text, generic, shared), 1);
                }
                Operand::Address(Base::Reg(id), offset)
            }
            Some(Sym::Var(_)) if !matches!(spec, None | Some(OperandSpec { ty: OpTy::None, .. })) => {
                at.fail(errors::tensor_memory_variable(base.span, &base.text), 1);
                Operand::Sink
            }
            Some(Sym::Var(id)) => {
                let access = self.variable_address(at, spec, id, base);
                let var = &self.out.vars[id.0 as usize];
                // Where the variable itself is aligned for the access, a crooked offset is certainly wrong.
                if access > 1 && var.align >= access && offset.rem_euclid(i64::from(access)) != 0 {
                    at.fail(errors::misaligned(base.span, &base.text, offset, access), 1);
                } else if let Some(layout) = var.rust {
                    self.within_rust(at, (base, offset), access, layout.size);
                }
                Operand::Address(Base::Var(id), offset)
            }
            Some(Sym::Broken) => {
                at.broken_operand(&base.text, spec.map_or("address", |spec| spec.name));
                Operand::Sink
            }
            Some(other) => {
                at.fail(errors::wrong_name(base.span, &base.text, other.describe(), "a register or variable"), 1);
                Operand::Sink
            }
            None => {
                let d = match ptx_dsl_isa::isa::sreg::sreg(&base.text) {
                    Some(row) => {
                        let x = self.free_name();
                        errors::special_register(base.span, &base.text, row.ty, at.entry.opcode, x)
                    }
                    None => self.undeclared(base.span, Wanted::RegisterOrVariable, &base.text),
                };
                at.fail(d, 1);
                Operand::Sink
            }
        }
    }

    /// Is it a parameter of the current function?
    fn is_param(&self, id: VarId) -> bool {
        let Some(fun) = &self.fun else { return false };
        fun.params.iter().any(|p| p.var == Some(id))
    }

    /// The space of `[x+4]`. Returns the bytes to which the access must be aligned, 0 if there is no such rule.
    pub(super) fn variable_address(
        &mut self,
        at: &mut Attempt,
        spec: Option<&OperandSpec>,
        id: VarId,
        word: &ast::Word,
    ) -> u32 {
        let var = &self.out.vars[id.0 as usize];
        let (space, opaque) = (var.space, var.ty.class() == Class::Opaque);
        if opaque {
            self.opaque(at, id, word);
            return 0;
        }
        let spaces = at.spaces();
        let mut addresses = 0;
        for o in &at.form.operands {
            addresses += usize::from(matches!(o.shape, Shape::Addr(_)));
        }
        // With two spaces the first is the destination's; what else there is is an mbarrier.
        let wanted = match spaces.len() {
            0 => None,
            // One space is that of all addresses: `clusterlaunchcontrol.try_cancel.async.shared::cta` has two.
            1 => Some(spaces[0]),
            2 if addresses >= 2 && at.addresses <= 2 => spaces.get(at.addresses - 1).copied(),
            2 if at.addresses == 3 => Some("shared"),
            _ => return 0,
        };
        let name = space.name();
        // Without a space an address is generic, but an mbarrier's is in `.shared` all the same.
        let wanted = match at.opcode {
            _ if at.entry.effects.mbarrier != Mbarrier::None => wanted.or(Some("shared")),
            op::prefetchu => Some("global"),
            _ => wanted,
        };
        match wanted {
            Some(want) => {
                let root = want.split("::").next().unwrap_or(want);
                if root != name {
                    let takes = at.has_word(want) && at.form.slots.iter().any(|slot| takes(slot, name));
                    let x = self.free_name();
                    at.fail(errors::space_mismatch(word.span, &word.text, name, want, takes, x), 1);
                    return 0;
                }
            }
            None => {
                // A tensor map may be a parameter, and is one to its fence.
                if matches!(name, "const" | "param") && at.opcode != op::fence {
                    let takes = at.form.slots.iter().any(|slot| takes(slot, name));
                    let x = self.free_name();
                    at.fail(errors::generic_space(word.span, &word.text, name, takes, x), 1);
                    return 0;
                }
            }
        }
        if at.opcode == op::st && name == "param" && (space == Space::ParamEntry || self.is_param(id)) {
            at.fail(errors::param_write(word.span, &word.text), 1);
            return 0;
        }
        at.alignment(spec)
    }
}

/// `name + constant`, in any nesting.
pub(super) fn split(expr: &Expr) -> Option<(&ast::Word, i64)> {
    match expr {
        Expr::Name(word, None) => Some((word, 0)),
        Expr::Binary(op @ ("+" | "-"), a, b, _) => {
            // ptxas wants the name first and `+` after it; what is added may be any constant expression.
            if *op == "-" && matches!(**a, Expr::Name(..)) {
                return None;
            }
            let (word, offset) = split(a)?;
            let Some(Const::Int { value, .. }) = fold(b) else { return None };
            let n = value as i64;
            Some((word, if *op == "+" { offset.wrapping_add(n) } else { offset.wrapping_sub(n) }))
        }
        _ => None,
    }
}
