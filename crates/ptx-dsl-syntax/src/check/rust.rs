//! Constants of Rust whose values the macro does not know: what holds for every value is checked here, and what depends on the
//! value becomes an assertion that rustc checks.

use super::Checker;
use super::attempt::Attempt;
use super::directive::{CTAS, THREADS, value_span};
use crate::ast::{self, Arg, Expr, OperandKind};
use crate::check::errors;
use crate::diag::Diagnostic;
use crate::parse::constant::unknown_here;
use crate::span::Span;
use ptx_dsl_isa::constant::{Assertion, ConstId, Constants, Count, Kind};
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
        let chooses = imm_only && at.entry.rules.iter().any(|rule| matches!(rule, Rule::Custom(_)));
        if want == Ty::Pred || want.bits() == 128 || chooses {
            at.fail(unknown_here(span, &format!("operand `{name}` of `{}`", at.entry.opcode)), 1);
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
        Operand::Rust(id)
    }

    fn assert_range(&mut self, at: &mut Attempt, id: ConstId, (low, high): (i64, i64), finding: Diagnostic) {
        let span = self.out.constants.span(id);
        for (operator, bound) in [(">=", low), ("<=", high)] {
            let constants = &mut self.out.constants;
            let bound = constants.known(ptx_dsl_isa::constant::Const::signed(bound), span);
            // a `.u64` beyond all `.s64` is no negative number
            let value = if operator == ">=" { constants.cast(false, id, span).unwrap_or(id) } else { id };
            let condition = constants.int(operator, value, bound);
            at.assertions.push(Assertion { condition, finding: finding.clone() });
        }
    }

    /// An instruction that computes an operand, before the one of the attempt.
    fn compute(&mut self, at: &mut Attempt, opcode: Opcode, ty: Ty, sources: &[Operand]) -> Option<Operand> {
        let entry = opcode.entries().find(|entry| matches!(entry.family, "integer" | "movement"))?;
        let fun = self.fun.as_mut()?;
        fun.regs.push(hir::Reg { name: String::new(), ty: if ty.bits() == 32 { Ty::B32 } else { Ty::B64 }, lanes: 1 });
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
        let ty = if ty.bits() == 32 { Ty::U32 } else { Ty::U64 };
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
                    at.fail(unknown_here(span, "an offset in a parameter"), 1);
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
        let access = self.variable_address(
            &mut Attempt::new(at.opcode, at.entry, at.form, at.fit, at.words, at.quals),
            spec,
            var,
            word,
        );
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
            at.assertions.push(Assertion { condition, finding });
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
        at.assertions.push(Assertion { condition, finding });
    }

    /// Size and alignment of a variable, if they depend on Rust constants.
    pub(super) fn rust_shape(
        &mut self,
        decl: &ast::VarDecl,
        dims: &[Count],
        element: u64,
        align: u32,
    ) -> Option<(ConstId, ConstId)> {
        let rust_align = match decl.align {
            Some((Count::Rust(id), _)) => Some(id),
            _ => None,
        };
        if rust_align.is_none() && dims.iter().all(|n| n.known().is_some()) {
            return None;
        }
        let (constants, span) = (&mut self.out.constants, decl.span);
        let mut size = constants.number(element, span);
        for n in dims {
            let n = constants.count(*n, span);
            size = constants.int("*", size, n);
        }
        let natural = constants.number(u64::from(align), span);
        Some((size, rust_align.map_or(natural, |align| constants.int("max", align, natural))))
    }

    /// Checks a variable whose size or alignment depends on Rust constants. `false` if it cannot be.
    pub(super) fn rust_variable(
        &mut self,
        decl: &ast::VarDecl,
        name: &ast::Declarator,
        space: Space,
        external: bool,
    ) -> bool {
        if space != Space::Shared || external {
            let what = if external {
                "the size of an `.extern` variable"
            } else {
                "size and alignment of a variable outside of `.shared`"
            };
            self.report(unknown_here(name.name.span, what));
            return false;
        }
        let constants = &mut self.out.constants;
        for dim in name.dims.iter().flatten() {
            let Count::Rust(id) = *dim else { continue };
            let span = name.name.span;
            let finding = errors::rust_dimension(span, &constants.written(id, 0), &Constants::mark(id));
            // of 32 bits, so that sizes do not overflow
            constants.require_number(id, ">=", 1, finding.clone());
            constants.require_number(id, "<=", 1 << 26, finding);
        }
        if let Some((Count::Rust(id), whole)) = decl.align {
            let span = Span::token(whole.last);
            let finding = errors::rust_alignment(span, &constants.written(id, 0), &Constants::mark(id));
            let one = constants.number(1, span);
            let less = constants.int("-", id, one);
            let common = constants.int("&", id, less);
            constants.require_number(common, "==", 0, finding.clone());
            constants.require_number(id, ">=", 1, finding.clone());
            constants.require_number(id, "<=", 1 << 20, finding);
        }
        true
    }

    /// The text of a kernel with const parameters is one for each instance, so that it has no other kernel in it.
    pub(super) fn alone_with_parameters(&mut self) {
        let entries: Vec<&hir::Function> = self.out.functions.iter().filter(|f| f.entry && f.defined).collect();
        if let [first, .., last] = entries[..]
            && let Some(f) = entries.iter().find(|f| !f.rust.generics.is_empty())
        {
            let other = if f.name == last.name { first } else { last };
            self.diags.push(errors::several_kernels(f.span, &f.name, other.span));
        }
    }

    /// An initial value of a variable.
    pub(super) fn rust_initial(&mut self, space: Space, ty: Ty, at: u64, value: ConstId, span: Span) {
        let fits = match self.out.constants.kind(value) {
            Kind::Int => ty.class() != Class::Float,
            Kind::F32 => matches!(ty, Ty::F32 | Ty::B32 | Ty::F64 | Ty::B64),
            Kind::F64 => matches!(ty, Ty::F32 | Ty::F64 | Ty::B64),
        };
        if !fits {
            let text = format!("this value cannot initialise a `.{}`", ty.name());
            self.report(errors::initialiser(span, &text, "declare the constant with a type that fits"));
            return;
        }
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        let patch = hir::Patch { at, width: ty.bytes(), value, single: ty.bytes() == 4 };
        let patches = if space == Space::Const { &mut self.out.const_patches } else { &mut self.out.global_patches };
        patches.push(patch);
    }

    /// Places variables in `.shared` whose sizes depend on Rust constants behind all others: those of different kernels do not
    /// overlap. `alone`: what each kernel has besides.
    pub(super) fn lay_out_rust(&mut self, users: &[Vec<usize>], limit: u64, alone: &[u64]) {
        let span = Span::default();
        let hir::Module { vars, constants, functions, shared_size, .. } = &mut self.out;
        let mut end = None;
        for var in vars.iter_mut() {
            let Some(layout) = &mut var.rust else { continue };
            let from = *end.get_or_insert_with(|| constants.number(u64::from(*shared_size), span));
            layout.offset = constants.int("up", from, layout.align);
            end = Some(constants.int("+", layout.offset, layout.size));
        }
        let Some(end) = end else { return };
        for (f, function) in functions.iter_mut().enumerate() {
            if !function.entry {
                continue;
            }
            function.rust.shared_end = Some(end);
            let mut own = constants.number(alone[f], function.span);
            for (var, users) in vars.iter().zip(users) {
                if let (Some(layout), true) = (var.rust, users.contains(&f)) {
                    let from = constants.int("up", own, layout.align);
                    own = constants.int("+", from, layout.size);
                }
            }
            let finding = errors::rust_shared_size(function.span, &function.name, &Constants::mark(own), limit);
            constants.require_number(own, "<=", limit.cast_signed(), finding);
        }
        // dynamic shared memory begins behind them
        for var in vars.iter_mut().filter(|var| var.dynamic && var.space == Space::Shared) {
            let align = constants.number(u64::from(var.align.max(16)), span);
            let offset = constants.int("up", end, align);
            let size = constants.number(0, span);
            var.rust = Some(hir::RustLayout { size, align, offset });
        }
    }

    /// A directive of a function with Rust constants among its arguments: checks and records it. `false` if there are none.
    pub(super) fn rust_directive(&mut self, d: &ast::Directive) -> bool {
        let has_rust = |arg: &Arg| matches!(arg, Arg::Expr(Expr::Rust(..)));
        if !d.args.iter().any(has_rust) {
            return false;
        }
        let (name, span) = (d.name.text.as_str(), value_span(d));
        let (limit, unit) = match name {
            ".reqntid" | ".maxntid" => (THREADS, "threads in a CTA"),
            ".reqnctapercluster" | ".maxclusterrank" => (CTAS, "CTAs in a cluster"),
            _ => {
                self.report(unknown_here(span, &format!("the number of `{name}`")));
                return true;
            }
        };
        let mut all = [Count::Known(1); 3];
        let most = if name == ".maxclusterrank" { 1 } else { 3 };
        if d.args.len() > most {
            let rule = if most == 1 { "takes one integer" } else { "takes one to three positive integers" };
            self.report(errors::directive_value(span, name, rule, "remove the others".to_owned()));
            return true;
        }
        let constants = &mut self.out.constants;
        let mut product = None;
        for (slot, arg) in all.iter_mut().zip(&d.args) {
            let at = match arg {
                Arg::Expr(e) => e.span(),
                Arg::Str(word) => word.span,
            };
            *slot = match arg {
                Arg::Expr(Expr::Rust(id, _)) if constants.kind(*id) == Kind::Int => Count::Rust(*id),
                Arg::Expr(Expr::Int { value, .. }) => Count::Known(*value),
                _ => {
                    let help = "write an integer, or declare an integer constant".to_owned();
                    self.diags.push(errors::directive_value(at, name, "takes integers", help));
                    return true;
                }
            };
            let n = constants.count(*slot, at);
            let finding =
                errors::rust_directive(at, name, &constants.written(n, 0), &Constants::mark(n), (limit, unit));
            constants.require_number(n, ">=", 1, finding.clone());
            constants.require_number(n, "<=", limit.cast_signed(), finding);
            product = Some(product.map_or(n, |product| constants.int("*", product, n)));
        }
        let Some(product) = product else { return true };
        let shown = constants.written(product, 0);
        let finding = errors::rust_directive(span, name, &shown, &Constants::mark(product), (limit, unit));
        constants.require_number(product, "<=", limit.cast_signed(), finding);
        let Some(fun) = &mut self.fun else { return true };
        match name {
            ".reqntid" => fun.rust.reqntid = Some(all),
            ".maxntid" => fun.rust.maxntid = Some(all),
            ".reqnctapercluster" => fun.rust.reqnctapercluster = Some(all),
            _ => {
                if let Count::Rust(id) = all[0] {
                    fun.rust.maxclusterrank = Some(id);
                }
            }
        }
        true
    }
}
