//! Rust constants whose values the macro does not know: what holds for every value is checked here, and what depends on the
//! value becomes an assertion that rustc checks.

mod directives;
mod variables;

use super::Checker;
use super::attempt::{Attempt, bits};
use crate::ast::{self, Expr, OperandKind};
use crate::check::errors;
use crate::diag::Diagnostic;
use crate::parse::constant::unknown_here;
use crate::span::Span;
use ptx_dsl_isa::constant::{Assertion, ConstId, Constants, Kind};
use ptx_dsl_isa::hir::{self, Base, Operand, Space, VarId};
use ptx_dsl_isa::isa::{OperandSpec, Role, Rule};
use ptx_dsl_isa::opcode::{Opcode, op};
use ptx_dsl_isa::qualifier::{PARAM, Qualifier, SHARED, q};
use ptx_dsl_isa::ty::{Class, Ty};

/// `name + TILE`: the parser makes one constant of all that is added.
pub(super) fn rust_sum(e: &Expr) -> Option<(&ast::Word, ConstId)> {
    match e {
        Expr::Binary("+", base, constant, _) => match (&**base, &**constant) {
            (Expr::Name(word, None), Expr::Rust(id, _)) => Some((word, *id)),
            _ => None,
        },
        _ => None,
    }
}

/// What has a state space, and needs no generic address.
fn names_space(at: &Attempt) -> bool {
    at.has_any(SHARED) || at.has_any(PARAM) || at.has_any(&[q::global, q::local, q::_const])
}

impl Checker {
    /// An expression as an operand.
    pub(super) fn rust_value(
        &mut self,
        at: &mut Attempt,
        name: &str,
        spec: Option<&'static OperandSpec>,
        ty: Option<Ty>,
        id: ConstId,
        span: Span,
    ) -> Operand {
        let (want, kind) = (ty.unwrap_or(Ty::B64), self.out.constants.kind(id));
        let float = matches!(want.class(), Class::Float | Class::Packed);
        let fits = match kind {
            Kind::Int => !float,
            Kind::F32 => matches!(want, Ty::F32 | Ty::B32 | Ty::F64),
            Kind::F64 => matches!(want, Ty::F32 | Ty::F64 | Ty::B64),
        };
        let imm_only = spec.is_some_and(|s| s.imm_only);
        let decides = |rule: &Rule| matches!(rule, Rule::Custom(_) | Rule::Multiple(_));
        let chooses = imm_only && at.entry.rules.iter().any(decides);
        if want == Ty::Pred || want.bits() == 128 || chooses {
            at.fail(
                unknown_here(span, &format!("operand `{name}` of `{}`", at.entry.opcode), &self.out.constants, id),
                1,
            );
        } else if !fits {
            let what = if kind == Kind::Int { "an integer" } else { "a floating-point number" };
            at.fail(errors::constant_type(span, what, want, None), 1);
        } else if let Some((low, high)) = spec.and_then(|s| s.range)
            && kind == Kind::Int
        {
            let shown = self.out.constants.written(id, 0);
            let finding = errors::rust_range(span, &shown, &Constants::mark(id), name, (low, high), at.entry.section);
            let all_ones = high == i64::from(u32::MAX) && at.opcode != op::tcgen05_commit;
            // -1 is all ones in 32 bits.
            self.assert_range(at, id, (if all_ones { low.min(-1) } else { low }, high), finding);
        }
        for rule in at.entry.rules {
            if let Rule::Multiple(rule) = rule
                && rule.operand == name
                && kind == Kind::Int
            {
                let constants = &mut self.out.constants;
                let shown = constants.written(id, 0);
                let finding = errors::rust_multiple(span, rule, (&shown, &Constants::mark(id)), at.entry.section);
                let of = constants.number(rule.of, span);
                let rest = constants.int("%", id, of);
                let condition = constants.unary('!', rest, span).unwrap_or(rest);
                at.assertions.push(Assertion::new(condition, finding));
            }
        }
        Operand::Rust(id)
    }

    fn assert_range(&mut self, at: &mut Attempt, id: ConstId, (low, high): (i64, i64), finding: Diagnostic) {
        let span = self.out.constants.span(id);
        for (operator, bound) in [(">=", low), ("<=", high)] {
            let constants = &mut self.out.constants;
            let bound = constants.known(ptx_dsl_isa::constant::Const::signed(bound), span);
            // a `.u64` beyond all `.s64` is not a negative number
            let value = if operator == ">=" { constants.cast(false, id, span).unwrap_or(id) } else { id };
            let condition = constants.int(operator, value, bound);
            at.assertions.push(Assertion::new(condition, finding.clone()));
        }
    }

    /// An instruction that computes an operand, before the one of the attempt.
    pub(super) fn compute(&mut self, at: &mut Attempt, opcode: Opcode, ty: Ty, sources: &[Operand]) -> Option<Operand> {
        let entry = opcode.entries().find(|entry| matches!(entry.family, "integer" | "movement"))?;
        let fun = self.fun.as_mut()?;
        fun.regs.push(hir::Reg { name: String::new(), ty: bits(ty), lanes: 1 });
        let to = Operand::Reg(hir::RegId(fun.regs.len() as u32 - 1), 0);
        let arg = |name, role, value: &Operand| hir::Arg {
            name,
            role,
            ty: Some(ty),
            value: value.clone(),
            span: Span::default(),
        };
        let mut operands = vec![arg("d", Role::Dst, &to)];
        for (name, source) in ["a", "b"].into_iter().zip(sources) {
            operands.push(arg(name, Role::Src, source));
        }
        let quals = Qualifier::from_word(ty.name()).into_iter().collect();
        let spelling = format!("{}.{}", entry.opcode, ty.name());
        let written = hir::Written { opcode: entry.opcode, quals, types: vec![ty], pred: None, operands, spelling };
        at.before.push(hir::Instr {
            index: 0,
            family: entry.family,
            entry: entry.instr,
            form: 0,
            written,
            used_bytes: None,
            span: Span::default(),
            words: Vec::new(),
        });
        Some(to)
    }

    /// `base + TILE`, where the base is a register or the address of a variable.
    pub(super) fn plus_rust(
        &mut self,
        at: &mut Attempt,
        base: Operand,
        constant: ConstId,
        ty: Ty,
        span: Span,
    ) -> Operand {
        if self.out.constants.kind(constant) != Kind::Int {
            at.fail(errors::constant_type(span, "a floating-point number", ty, None), 1);
            return Operand::Sink;
        }
        let ty = match ty.bits() {
            16 => Ty::U16,
            32 => Ty::U32,
            _ => Ty::U64,
        };
        let base = match base {
            Operand::VarAddr(..) => self.compute(at, op::mov, ty, &[base]),
            base @ Operand::Reg(..) => Some(base),
            // what is wrong was said
            _ => None,
        };
        let sum = base.and_then(|base| self.compute(at, op::add, ty, &[base, Operand::Rust(constant)]));
        sum.unwrap_or(Operand::Sink)
    }

    /// `[base + TILE]`
    pub(super) fn rust_address(
        &mut self,
        at: &mut Attempt,
        spec: Option<&'static OperandSpec>,
        base: &ast::Word,
        constant: ConstId,
        span: Span,
    ) -> Operand {
        let name = ast::Operand { kind: OperandKind::Expr(Expr::Name(base.clone(), None)), span: base.span };
        let before = at.assertions.len();
        let known = self.address(at, spec, &name);
        // what holds of the base alone says nothing
        at.assertions.truncate(before);
        let (known, ty) = match known {
            Operand::Address(Base::Reg(register), 0) => (Operand::Reg(register, 0), self.reg_ty(register)),
            Operand::Address(Base::Var(var), 0) => {
                let (space, generic) = (self.out.vars[var.0 as usize].space, !names_space(at));
                if matches!(space, Space::ParamEntry | Space::ParamFunc) {
                    at.fail(unknown_here(span, "an offset in a parameter", &self.out.constants, constant), 1);
                    return Operand::Sink;
                }
                if generic && space != Space::Global {
                    at.fail(errors::rust_generic(span, &base.text, space.name()), 1);
                    return Operand::Sink;
                }
                self.rust_access(at, spec, var, base, constant);
                (Operand::VarAddr(var, 0), Ty::U64)
            }
            other => return other,
        };
        match self.plus_rust(at, known, constant, ty, span) {
            Operand::Reg(register, _) => Operand::Address(Base::Reg(register), 0),
            _ => Operand::Sink,
        }
    }

    /// Alignment and end of an access to `variable + TILE`.
    fn rust_access(
        &mut self,
        at: &mut Attempt,
        spec: Option<&OperandSpec>,
        var: VarId,
        word: &ast::Word,
        constant: ConstId,
    ) {
        let access = at.alignment(spec);
        let (size, align, rust, open) = {
            let var = &self.out.vars[var.0 as usize];
            (var.size, var.align, var.rust, var.dynamic)
        };
        let constants = &mut self.out.constants;
        let (shown, mark) = (constants.written(constant, 0), Constants::mark(constant));
        if access > 1 && align >= access {
            let step = constants.number(u64::from(access), word.span);
            let rest = constants.int("%", constant, step);
            let condition = constants.unary('!', rest, word.span).unwrap_or(rest);
            let finding = errors::rust_misaligned(word.span, &word.text, (&shown, &mark), access);
            at.assertions.push(Assertion::new(condition, finding));
        }
        if open || access == 0 {
            return;
        }
        let bytes = constants.number(u64::from(access), word.span);
        let end = constants.int("+", constant, bytes);
        let size = match rust {
            Some(layout) => layout.size,
            None => constants.number(u64::from(size), word.span),
        };
        self.assert_inside(at, word, (&shown, &mark, access), (end, size));
    }

    /// An access at a known offset of a variable whose size depends on Rust constants.
    pub(super) fn within_rust(
        &mut self,
        at: &mut Attempt,
        (word, offset): (&ast::Word, i64),
        access: u32,
        size: ConstId,
    ) {
        let Some(end) = offset.checked_add(i64::from(access)).filter(|_| access > 0) else { return };
        let end = self.out.constants.number(end.cast_unsigned(), word.span);
        let offset = offset.to_string();
        self.assert_inside(at, word, (&offset, &offset, access), (end, size));
    }

    fn assert_inside(
        &mut self,
        at: &mut Attempt,
        word: &ast::Word,
        (shown, offset, access): (&str, &str, u32),
        (end, size): (ConstId, ConstId),
    ) {
        let constants = &mut self.out.constants;
        // an offset before the start is a large number
        let unsigned = constants.cast(true, end, word.span).unwrap_or(end);
        let condition = constants.int("<=", unsigned, size);
        let finding = errors::rust_past_the_end(word.span, &word.text, (shown, offset), access, &Constants::mark(size));
        at.assertions.push(Assertion::new(condition, finding));
    }
}
