//! Operands that ptxas takes and the manual does not have: the sum of a register and a number as a source (`%r1+1`), and `_` as a
//! second result of an instruction that has one (`%p1|_`).

use super::Checker;
use super::address::split;
use super::attempt::{Attempt, bits};
use super::rust::rust_sum;
use super::symbol::Sym;
use crate::ast::{self, Expr, OperandKind};
use crate::check::errors;
use ptx_dsl_isa::hir::{Operand, RegId};
use ptx_dsl_isa::isa::syntax::{OpForm, Shape};
use ptx_dsl_isa::isa::{OperandSpec, Role, Tensor};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::ty::{Class, Ty};

fn is_integer(ty: Ty) -> bool {
    matches!(ty.class(), Class::Bits | Class::Unsigned | Class::Signed)
}

impl Checker {
    /// An operand that only ptxas has; `None` for any other.
    pub(super) fn beyond_the_manual(
        &mut self,
        at: &mut Attempt,
        form: &OpForm,
        spec: Option<&'static OperandSpec>,
        given: &ast::Operand,
    ) -> Option<Operand> {
        let (spec, Shape::Value) = (spec?, &form.shape) else { return None };
        match (&given.kind, spec.role) {
            (OperandKind::Expr(e), Role::Src) => self.register_sum(at, spec, e, given),
            (OperandKind::Pair(first, second), Role::Dst) if matches!(second.kind, OperandKind::Sink) => {
                // The only result is needed.
                let OperandKind::Expr(Expr::Name(..)) = first.kind else { return None };
                at.warnings.push(errors::second_sink(given.span, at.entry.opcode));
                Some(self.operand(at, form, Some(spec), first))
            }
            _ => None,
        }
    }

    /// `%r1+1`: ptxas adds the number to the register, in the width of the register, and the instruction takes the sum. With a
    /// predicate it does not end, and with a floating-point register it ends or drops the statement.
    fn register_sum(
        &mut self,
        at: &mut Attempt,
        spec: &'static OperandSpec,
        e: &Expr,
        given: &ast::Operand,
    ) -> Option<Operand> {
        // Neither a name nor a number.
        let Expr::Binary("+" | "-", ..) = e else { return None };
        let (base, number, constant) = match (rust_sum(e), split(e)) {
            (Some((base, id)), _) => (base, 0, Some(id)),
            (None, Some((base, number))) => (base, number, None),
            (None, None) => return None,
        };
        let Some(Sym::Reg(id)) = self.lookup(&base.text) else { return None };
        if !self.takes_register_sum(at, spec, id) {
            return None;
        }
        if let Some(want) = at.ty(Some(spec)).0 {
            self.fits(at, &base.text, base.span, id, want, Some(spec));
        }
        let ty = match self.reg_ty(id).bits() {
            16 => Ty::U16,
            32 => Ty::U32,
            _ => Ty::U64,
        };
        if !self.attempts.trying {
            let help = self.computed(e);
            at.warnings.push(errors::register_sum(given.span, help));
        }
        let register = Operand::Reg(id, 0);
        if let Some(constant) = constant {
            return Some(self.plus_rust(at, register, constant, ty, given.span));
        }
        self.compute(at, op::add, ty, &[register, Operand::Imm(number.cast_unsigned())])
    }

    /// Does ptxas add a number to this register here? It does to a register of integers or bits, whatever the type of the operand.
    /// Instructions that it replaces by others, as text, have no such operands.
    fn takes_register_sum(&self, at: &Attempt, spec: &OperandSpec, id: RegId) -> bool {
        let (have, effects) = (self.reg_ty(id), &at.entry.effects);
        let sized = matches!(bits(have), Ty::B16 | Ty::B32 | Ty::B64);
        let value = at.ty(Some(spec)).0.is_some_and(|ty| !matches!(ty.class(), Class::Pred | Class::Opaque));
        let replaced = effects.selectors || effects.tensor == Tensor::Mma || effects.slow && have.bits() == 64;
        value && sized && is_integer(have) && self.reg_lanes(id) == 1 && !spec.imm_only && !replaced
    }
}
