//! Checks operands: what they name, and whether registers, constants and addresses fit the instruction (PTX ISA 6, 9.4).

use super::Checker;
use super::attempt::Attempt;
use super::instr::{deal, shape_fits};
use super::rules::COMPANIONS;
use super::symbol::Sym;
use super::value::register_fits;
use crate::ast::{self, Expr, OperandKind};
use crate::check::errors;
use crate::diag::{Diagnostic, Subject, Wanted};
use crate::parse::errors::{array_index, missing_semicolon};
use crate::parse::{Const, fold};
use crate::span::Span;
use ptx_dsl_isa::hir::{Arg, Operand, Reg, RegId};
use ptx_dsl_isa::isa::syntax::{OpForm, Shape, is_type};
use ptx_dsl_isa::isa::{OpTy, OperandSpec, Role};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::{Qualifier, q};
use ptx_dsl_isa::ty::{Class, Ty};

/// The numbers that give the count of values of an operand that is always a vector.
pub(super) fn many(spec: Option<&OperandSpec>) -> Option<&'static [(Qualifier, u32)]> {
    match spec?.ty {
        OpTy::Many(_, numbers) => Some(numbers),
        OpTy::Fragment(_) => Some(&[]),
        _ => None,
    }
}

/// Is a floating-point type among the qualifiers?
pub(super) fn floating(at: &Attempt) -> bool {
    let prefixes = [".f", ".bf", ".e4", ".e5"];
    at.quals.iter().any(|q| prefixes.iter().any(|prefix| q.after(prefix).is_some()))
}

/// Is it a name or a vector? ptxas allows neither sums nor constants as parts of an address.
fn is_part(given: &ast::Operand) -> bool {
    match &given.kind {
        OperandKind::Expr(Expr::Name(word, None)) => word.text != "WARP_SZ",
        OperandKind::Vector(_) => true,
        _ => false,
    }
}

impl Checker {
    fn reg(&self, id: RegId) -> Option<&Reg> {
        self.fun.as_ref()?.regs.get(id.0 as usize)
    }

    pub(super) fn reg_ty(&self, id: RegId) -> Ty {
        match self.reg(id) {
            Some(r) => r.ty,
            None => Ty::B32,
        }
    }

    pub(super) fn reg_lanes(&self, id: RegId) -> u32 {
        match self.reg(id) {
            Some(r) => r.lanes,
            None => 1,
        }
    }

    /// All operands of an instruction, in the form's order.
    pub(super) fn operands(&mut self, at: &mut Attempt, ast: &ast::Instr, opcode_span: Span) -> Vec<Arg> {
        let mut plain = Vec::with_capacity(ast.operands.len());
        for o in &ast.operands {
            match &o.kind {
                OperandKind::Index(word, index) => match self.without_index(at, word, index, o.span) {
                    Some(o) => plain.push(Some(o)),
                    None => return Vec::new(),
                },
                _ => plain.push(None),
            }
        }
        let mut given = Vec::with_capacity(plain.len());
        for (i, o) in ast.operands.iter().enumerate() {
            given.push(plain[i].as_ref().unwrap_or(o));
        }
        self.dealt(at, &given, opcode_span)
    }

    /// The same without array elements among them.
    fn dealt(&mut self, at: &mut Attempt, given: &[&ast::Operand], opcode_span: Span) -> Vec<Arg> {
        let Some(dealt) = deal(at.form, given, at.words) else {
            if let Some(d) = self.unfinished(at, given, opcode_span) {
                at.fail(d, 6);
                return Vec::new();
            }
            let labels = match at.form.operands.as_slice() {
                [index, list] if given.len() > 2 && index.name == "index" && list.name == "tlist" => {
                    self.labels_for_list(&given[1..])
                }
                _ => None,
            };
            at.fail(labels.unwrap_or_else(|| wrong_count(at, given, opcode_span)), 6);
            return Vec::new();
        };
        let mut out = Vec::with_capacity(dealt.len());
        for (i, form) in dealt.iter().enumerate() {
            let spec = at.spec(form.name);
            let ty = at.ty(spec).0;
            let role = match spec {
                Some(spec) => spec.role,
                None if matches!(form.shape, Shape::Addr(_)) => Role::Addr,
                None => Role::Src,
            };
            let before = (at.errors.len(), at.badness);
            let value = match self.beyond_the_manual(at, form, spec, given[i]) {
                Some(value) => value,
                None => self.operand(at, form, spec, given[i]),
            };
            if at.errors.len() > before.0
                && let Some((name, qualifier)) = self.without_qualifier(at, form.name, given[i])
            {
                at.errors.truncate(before.0);
                at.badness = before.1;
                at.fail(errors::goes_with(given[i].span, name, qualifier, true), 1);
            }
            out.push(Arg { name: form.name, role, ty, value, span: given[i].span });
        }
        out
    }

    /// A register that does not suit a mask or a cache policy, which lacks its qualifier: the one of them that it suits.
    fn without_qualifier(
        &mut self,
        at: &Attempt,
        name: &str,
        given: &ast::Operand,
    ) -> Option<(&'static str, &'static str)> {
        let lacks = |name: &str| {
            let (_, qualifiers) = COMPANIONS.iter().find(|(names, _)| names.contains(&name))?;
            (!at.has_any(qualifiers)).then(|| qualifiers[0].text())
        };
        lacks(name)?;
        at.spec(name).filter(|spec| spec.role == Role::Src)?;
        let OperandKind::Expr(Expr::Name(word, None)) = &given.kind else { return None };
        let Some(Sym::Reg(id)) = self.lookup(&word.text) else { return None };
        let bits = self.reg_ty(id).bits();
        let suits = |o: &&OpForm| at.ty(at.spec(o.name)).0.is_some_and(|ty| ty.bits() == bits);
        let other = at.form.operands.iter().filter(|o| lacks(o.name).is_some()).find(suits);
        let name = other.map_or_else(|| at.form.operands.iter().find(|o| o.name == name), Some)?.name;
        Some((name, lacks(name)?))
    }

    /// `exit ret;`: an instruction without operands whose `;` is missing, and the next one.
    fn unfinished(&mut self, at: &Attempt, given: &[&ast::Operand], opcode_span: Span) -> Option<Diagnostic> {
        let ([], [ast::Operand { kind: OperandKind::Expr(Expr::Name(next, None)), .. }]) =
            (&at.form.operands[..], given)
        else {
            return None;
        };
        let instruction = self.lookup(&next.text).is_none() && !self.table.entries(&next.text).is_empty();
        let whole = at.words.iter().fold(opcode_span, |span, word| span.to(word.span));
        instruction.then(|| missing_semicolon(whole, &format!("`{}`", at.entry.opcode)))
    }

    /// `x[1]` as the address `[x+4]`, or as the value `x+4` if the instruction takes a value (PTX ISA 6.4.2).
    fn without_index(&mut self, at: &mut Attempt, word: &ast::Word, index: &Expr, span: Span) -> Option<ast::Operand> {
        let memory = matches!(at.opcode, op::ld | op::ldu | op::st);
        let var = match self.lookup(&word.text) {
            Some(Sym::Var(id)) => &self.out.vars[id.0 as usize],
            Some(Sym::Broken) => {
                at.broken();
                return None;
            }
            Some(_) => {
                // An index of C counts elements.
                let bytes = at.slot_ty(".type").map_or(1, Ty::bytes);
                let offset = match fold(index) {
                    Some(Const::Int { value, .. }) if memory => value.checked_mul(u64::from(bytes)),
                    _ => None,
                };
                at.fail(array_index(span, &word.text, offset.filter(|_| memory)), 6);
                return None;
            }
            None => {
                let d = self.undeclared(word.span, Wanted::Variable, &word.text);
                at.fail(d, 6);
                return None;
            }
        };
        // An element is of the scalar type: of `.v4 .b32 x[2]`, `x[1]` is 4 bytes after `x`, says ptxas.
        let bytes = var.ty.bytes();
        let array = match var.rust {
            Some(_) => var.array,
            None => !var.is_open() && var.size > bytes,
        };
        let address = at.opcode == op::mov || at.opcode == op::cvta && !at.has(q::to);
        if let Expr::Rust(id, _) = index
            && array
            && (memory || address)
        {
            let constants = &mut self.out.constants;
            let bytes = constants.number(u64::from(bytes), span);
            let offset = Expr::Rust(constants.int("*", *id, bytes), span);
            let sum = Expr::Binary("+", Box::new(Expr::Name(word.clone(), None)), Box::new(offset), span);
            return Some(as_operand(sum, memory));
        }
        let offset = match fold(index) {
            Some(Const::Int { value, .. }) if array => match value.checked_mul(u64::from(bytes)) {
                Some(n) if i64::try_from(n).is_ok() => Some(n),
                _ => None,
            },
            _ => None,
        };
        let (Some(value), true) = (offset, memory || address) else {
            at.fail(array_index(span, &word.text, offset.filter(|_| memory)), 6);
            return None;
        };
        if self.is_narrow(at, word) {
            at.fail(errors::narrow_variable(word.span, &word.text), 1);
        }
        let base = Box::new(Expr::Name(word.clone(), None));
        let offset = Box::new(Expr::Int { value, unsigned: false, text: None, span: index.span() });
        Some(as_operand(Expr::Binary("+", base, offset, span), memory))
    }

    pub(super) fn operand(
        &mut self,
        at: &mut Attempt,
        form: &OpForm,
        spec: Option<&'static OperandSpec>,
        given: &ast::Operand,
    ) -> Operand {
        if form.name == "tlist"
            && matches!(given.kind, OperandKind::Address(_) | OperandKind::Vector(_))
            && let Some(d) = self.labels_for_list(&[given])
        {
            at.fail(d, 4);
            return Operand::Sink;
        }
        if !shape_fits(form, given) {
            at.fail(wrong_shape(at, form, given), 4);
            return Operand::Sink;
        }
        match (&form.shape, &given.kind) {
            (Shape::Sink, _) => Operand::Sink,
            (Shape::Number(n), _) => Operand::Imm(*n),
            (Shape::Addr(parts), OperandKind::Address(given_parts)) => {
                at.addresses += 1;
                self.address_parts(at, form.name, parts, spec, given_parts, given.span)
            }
            (Shape::Vector(parts), OperandKind::Vector(_)) if parts.is_empty() && many(spec).is_some() => {
                self.vector_or_value(at, form, spec, given)
            }
            (Shape::Vector(parts), OperandKind::Vector(elements)) => {
                let mut out = Vec::with_capacity(elements.len());
                for (i, e) in elements.iter().enumerate() {
                    out.push(match parts.get(i) {
                        Some(part) => {
                            let spec = at.spec(part.name);
                            self.operand(at, part, spec, e)
                        }
                        None => self.value(at, form.name, spec, at.ty(spec).0, e),
                    });
                }
                if out.iter().all(|part| matches!(part, Operand::Sink)) && at.errors.is_empty() {
                    at.fail(errors::all_sinks(given.span), 2);
                }
                Operand::Vector(out)
            }
            (Shape::Pair(second, _), OperandKind::Pair(a, b)) => {
                let first = match spec {
                    Some(OperandSpec { ty: OpTy::Vec(..), .. }) => self.vector_or_value(at, form, spec, a),
                    _ => self.value(at, form.name, spec, at.ty(spec).0, a),
                };
                let second = self.second(at, second, b);
                if matches!((&first, &second), (Operand::Sink, Operand::Sink)) && at.errors.is_empty() {
                    at.fail(errors::all_sinks(given.span), 2);
                }
                Operand::Pair(Box::new(first), Box::new(second))
            }
            (_, OperandKind::Not(word)) => self.negated(at, form, spec, word, given.span),
            (Shape::Vector(parts), OperandKind::Expr(Expr::Name(word, _)))
                if parts.len() > 1
                    && !matches!(self.lookup(&word.text), Some(Sym::Reg(id)) if self.reg_lanes(id) as usize == parts.len()) =>
            {
                let what = format!("a vector of {} in `{{ }}`", parts.len());
                at.fail(errors::wrong_shape(given.span, form.name, &what), 4);
                Operand::Sink
            }
            _ => self.vector_or_value(at, form, spec, given),
        }
    }

    /// `!p`: ptxas negates every source predicate, also where the manual shows no `{!}`.
    fn negated(
        &mut self,
        at: &mut Attempt,
        form: &OpForm,
        spec: Option<&'static OperandSpec>,
        word: &ast::Word,
        span: Span,
    ) -> Operand {
        let written = matches!(spec, Some(OperandSpec { role: Role::Dst, .. }));
        let read = !written && at.ty(spec).0 == Some(Ty::Pred);
        if !form.negatable && !read {
            let help = if written { None } else { self.inverted(&word.text) };
            at.fail(errors::no_negation(span, form.name, help), 4);
            return Operand::Sink;
        }
        match self.lookup(&word.text) {
            Some(Sym::Reg(id)) if self.reg_ty(id) == Ty::Pred => Operand::NotReg(id),
            _ => {
                let inner = ast::Operand { kind: OperandKind::Expr(Expr::Name(word.clone(), None)), span: word.span };
                self.value(at, form.name, spec, Some(Ty::Pred), &inner)
            }
        }
    }

    /// Suggests an instruction that inverts the bits of a register.
    fn inverted(&mut self, name: &str) -> Option<String> {
        let Some(Sym::Reg(id)) = self.lookup(name) else { return None };
        let (ty, x) = (self.reg_ty(id), self.free_name());
        let bits = ty.bits();
        let integer =
            matches!(ty.class(), Class::Bits | Class::Unsigned | Class::Signed) && matches!(bits, 16 | 32 | 64);
        integer.then(|| {
            format!(
                "for its bits inverted, put `.reg .b{bits} {x}; not.b{bits} {x}, {name};` before it, and write `{x}`"
            )
        })
    }

    /// The second one of a pair: a predicate, unless the entry says otherwise.
    fn second(&mut self, at: &mut Attempt, name: &str, given: &ast::Operand) -> Operand {
        let spec = at.spec(name);
        let (ty, may_be_sink) = match spec {
            Some(s) => (at.ty(spec).0, s.sink),
            None => (Some(Ty::Pred), true),
        };
        match given.kind {
            OperandKind::Sink if may_be_sink => Operand::Sink,
            _ => self.value(at, name, spec, ty, given),
        }
    }

    /// The contents of `[ ]`.
    fn address_parts(
        &mut self,
        at: &mut Attempt,
        name: &str,
        parts: &[OpForm],
        spec: Option<&'static OperandSpec>,
        given: &[ast::Operand],
        span: Span,
    ) -> Operand {
        if parts.len() <= 1 && given.len() <= 1 {
            let Some(g) = given.first() else {
                at.fail(errors::bad_address(span, None), 1);
                return Operand::Sink;
            };
            return match (parts.first(), spec) {
                (Some(part), Some(OperandSpec { role: Role::Src, .. })) => self.operand(at, part, spec, g),
                _ => self.address(at, spec, g),
            };
        }
        let Some(picked) = pick(parts, given.len()) else {
            at.fail(
                errors::wrong_shape(
                    span,
                    name,
                    &match parts.len() {
                        1 => "an address of one part".to_string(),
                        n => format!("an address of {n} parts"),
                    },
                ),
                3,
            );
            return Operand::Sink;
        };
        let mut out = Vec::with_capacity(picked.len());
        for (i, part) in picked.iter().enumerate() {
            let (spec, g) = (at.spec(part.name), &given[i]);
            if !is_part(g) {
                at.fail(errors::bad_address(g.span, None), 1);
                continue;
            }
            let is_address = matches!(spec, None | Some(OperandSpec { role: Role::Addr, .. }));
            out.push(if is_address && !matches!(part.shape, Shape::Vector(_)) {
                self.address(at, spec, g)
            } else {
                self.operand(at, part, spec, g)
            });
        }
        Operand::Addresses(out)
    }

    /// Checks a register against a type.
    pub(super) fn fits(
        &mut self,
        at: &mut Attempt,
        name: &str,
        span: Span,
        id: RegId,
        want: Ty,
        spec: Option<&OperandSpec>,
    ) {
        let have = self.reg_ty(id);
        // In conversions from and to `.bf16` and to `.tf32` no wider registers, says ptxas; of bytes a rule of the entry says more.
        let bf16 = at.opcode == op::cvt && (at.has(q::bf16) && want.bits() > 8 || want == Ty::Tf32);
        let wider = matches!(spec, Some(s) if s.wider) && !bf16;
        let exact = !matches!(spec, Some(s) if s.exact) || have == want || have.class() == Class::Bits;
        if !register_fits(have, want, wider) && !halves(have, want, wider, spec) || !exact {
            let helps = match spec {
                Some(OperandSpec { role: Role::Dst, .. }) => {
                    vec![errors::another_register(want, wider, self.free_name())]
                }
                _ => self.conversions(name, have, want),
            };
            at.fail(errors::register_type(span, name, have, want, wider, helps), 1);
        }
    }
}

/// ptxas accepts a pair of halves for a 32-bit integer type, and for a narrower one in a wider register.
fn halves(have: Ty, want: Ty, wider: bool, spec: Option<&OperandSpec>) -> bool {
    let named = match spec {
        Some(OperandSpec { ty: OpTy::Slot(_) | OpTy::Wide(_) | OpTy::Parts(_), .. }) => true,
        Some(OperandSpec { ty: OpTy::Vec(slot, _) | OpTy::Coords(slot), .. }) => Ty::from_name(&slot[1..]).is_none(),
        _ => false,
    };
    let packed = matches!(want, Ty::U16x2 | Ty::S16x2 | Ty::U8x4 | Ty::S8x4);
    let integer = packed || matches!(want.class(), Class::Unsigned | Class::Signed);
    have == Ty::F16x2 && named && integer && (want.bits() == 32 || wider && want.bits() < 32)
}

/// All elements of a vector register.
pub(super) fn lanes_of(id: RegId, lanes: u32) -> Operand {
    let mut list = Vec::new();
    for i in 0..lanes {
        list.push(Operand::Reg(id, i));
    }
    Operand::Vector(list)
}

/// The qualifiers that give the count of values of an operand.
pub(super) fn counted_by(
    at: &Attempt,
    spec: Option<&OperandSpec>,
    numbers: &'static [(Qualifier, u32)],
) -> Vec<&'static str> {
    let mut by = Vec::new();
    if let Some(OperandSpec { ty: OpTy::Fragment(_), .. }) = spec {
        // A shape, dimensions, or a number: what has a digit in the second or third place.
        for q in at.quals {
            if let [first, rest @ ..] = q.word().as_bytes()
                && (first.is_ascii_digit() || matches!(rest, [second, ..] if second.is_ascii_digit()))
                && !is_type(q.word())
            {
                by.push(q.text());
            }
        }
    } else {
        for (q, _) in numbers {
            if at.has(*q) {
                by.push(q.text());
            }
        }
    }
    by
}

/// Reports a count of operands that differs from the form's.
fn wrong_count(at: &Attempt, given: &[&ast::Operand], opcode_span: Span) -> Diagnostic {
    let (mut low, mut missing) = (0, Vec::new());
    for o in &at.form.operands {
        if o.group == 0 {
            if low >= given.len() {
                missing.push(format!("`{}`", o.name));
            }
            low += 1;
        }
    }
    let high = at.form.operands.len();
    let extra = given.get(high);
    let span = extra.map_or(opcode_span, |o| o.span);
    let d = errors::operand_count(span, at.entry.opcode, low, high, given.len(), at.form.line, at.entry.section);
    match (extra, missing.as_slice()) {
        (Some(_), _) => d.help(errors::TOO_MUCH).about(Subject::ExtraOperands),
        (None, []) => d.help("give the operands of the form"),
        (None, [name]) => d.help(format!("add operand {name}")),
        (None, names) => d.help(format!("add operands {}", errors::enumeration(names, "and"))),
    }
}

/// Reports an operand that is not written as the form requires.
fn wrong_shape(at: &Attempt, form: &OpForm, given: &ast::Operand) -> Diagnostic {
    let (span, name) = (given.span, form.name);
    match &form.shape {
        Shape::Sink => errors::must_be_sink(span, name, at.form.line, at.entry.section),
        Shape::Addr(_) => errors::wrong_shape(span, name, "an address in `[ ]`"),
        Shape::Vector(parts) if parts.is_empty() => errors::wrong_shape(span, name, "a vector in `{ }`"),
        Shape::Vector(parts) => errors::wrong_shape(span, name, &format!("a vector of {} in `{{ }}`", parts.len())),
        Shape::Pair(second, _) => errors::wrong_shape(span, name, &format!("a pair `{name}|{second}`")),
        Shape::List => errors::wrong_shape(span, name, "a list in `( )`"),
        Shape::Number(n) => errors::wrong_shape(span, name, &format!("the number {n}")),
        Shape::Value if matches!(given.kind, OperandKind::Address(_)) => {
            errors::wrong_shape(span, name, "a value without `[ ]`")
        }
        Shape::Value => errors::wrong_shape(span, name, "a single value"),
    }
}

/// The given parts of an address: optional ones are dropped from the left.
fn pick(parts: &[OpForm], given: usize) -> Option<Vec<&OpForm>> {
    let mut optional = 0;
    for part in parts {
        optional += usize::from(part.group != 0);
    }
    let mut drop = parts.len().checked_sub(given)?;
    if drop > optional {
        return None;
    }
    let mut out = Vec::with_capacity(given);
    for part in parts {
        if part.group != 0 && drop > 0 {
            drop -= 1;
        } else {
            out.push(part);
        }
    }
    Some(out)
}

/// An element of an array as an operand: its address in brackets, or its address as a value.
fn as_operand(sum: Expr, memory: bool) -> ast::Operand {
    let span = sum.span();
    let sum = ast::Operand { kind: OperandKind::Expr(sum), span };
    if memory { ast::Operand { kind: OperandKind::Address(vec![sum]), span } } else { sum }
}
