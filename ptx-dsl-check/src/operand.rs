//! Operands: what they name, and whether registers, constants and addresses suit the instruction (PTX ISA 6, 9.4).

use super::Checker;
use super::attempt::{Attempt, bits};
use super::instr::{deal, shape_fits};
use super::names::Sym;
use super::value::register_fits;
use crate::ast::{self, Expr, OperandKind};
use crate::errors;
use crate::hir::{Arg, Operand, RegId};
use crate::isa::syntax::{OpForm, Shape, is_type};
use crate::isa::{OpTy, OperandSpec, Role};
use crate::parse::{Const, fold};
use crate::span::Span;
use crate::ty::{Class, Ty};
use ptx_dsl_table::list::List;

/// The numbers that give an operand's count of values, where it is always a vector.
fn many(spec: Option<&OperandSpec>) -> Option<&'static [(&'static str, u32)]> {
    match spec.map(|s| s.ty) {
        Some(OpTy::Many(_, numbers)) => Some(numbers),
        Some(OpTy::Fragment(_)) => Some(&[]),
        _ => None,
    }
}

/// A vector of one register is one where vectors are loaded and stored, and in a few other places, says ptxas; elsewhere braces
/// are for several.
fn braces_around_one(at: &Attempt, name: &str, spec: Option<&OperandSpec>) -> bool {
    let vector = spec.is_some_and(|s| matches!(s.ty, OpTy::Vec(..)) || s.role == Role::Dst);
    let float = || [".f", ".bf", ".e4", ".e5"].iter().any(|t| at.quals.iter().any(|q| q.starts_with(t)));
    match (at.entry.opcode, name) {
        ("ld" | "ldu" | "st", _) => vector,
        ("st.async", _) => vector && at.has(".mbarrier::complete_tx::bytes") && !at.has(".b128"),
        ("multimem.ld_reduce" | "multimem.st", _) => vector && float(),
        ("mma.sp", "e") => {
            let ordered = at.quals.iter().any(|q| q.ends_with("::ordered_metadata"));
            ![".u4", ".s4"].iter().any(|q| at.has(q)) && (ordered || !at.has(".satfinite"))
        }
        ("mma" | "mma.sp", "scale-a-data" | "scale-b-data")
        | ("wgmma.mma_async.sp", "sp-meta")
        | ("tcgen05.ld.red", "redval")
        | ("tex.level" | "txq.level", "lod")
        | ("mbarrier.arrive" | "mbarrier.arrive_drop", "count") => true,
        (op, _) => vector && (op.starts_with("suld.") || op.starts_with("sust.")),
    }
}

impl Checker {
    pub(super) fn reg_ty(&self, id: RegId) -> Ty {
        self.fun.as_ref().and_then(|f| f.regs.get(id.0 as usize)).map_or(Ty::B32, |r| r.ty)
    }

    pub(super) fn reg_lanes(&self, id: RegId) -> u32 {
        self.fun.as_ref().and_then(|f| f.regs.get(id.0 as usize)).map_or(1, |r| r.lanes)
    }

    /// All operands of an instruction, in the form's order.
    pub(super) fn operands(&mut self, at: &mut Attempt, ast: &ast::Instr, opcode_span: Span) -> Vec<Arg> {
        let plain;
        let given = if ast.operands.iter().any(|o| matches!(o.kind, OperandKind::Index(..))) {
            let Some(all) = ast.operands.iter().map(|o| self.without_index(at, o)).collect::<Option<Vec<_>>>() else {
                return Vec::new();
            };
            plain = all;
            &plain
        } else {
            &ast.operands
        };
        let Some(dealt) = deal(at.form, given, at.words) else {
            let low = at.form.operands.iter().filter(|o| o.group == 0).count();
            let have = ast.operands.len();
            let (opcode, line, section) = (at.entry.opcode, at.form.line, at.entry.section);
            let high = at.form.operands.len();
            let extra = ast.operands.get(high);
            let span = extra.map_or(opcode_span, |o| o.span);
            let d = errors::operand_count(span, opcode, low, high, have, line, section);
            let next = at.form.operands.iter().filter(|o| o.group == 0).nth(have);
            let d = match (extra, next) {
                (Some(_), _) => d.help("remove what is too much"),
                (None, Some(o)) => d.help(format!("add operand `{}`", o.name)),
                (None, None) => d.help("give the operands of the form"),
            };
            at.fail(d, 6);
            return Vec::new();
        };
        let mut out = Vec::with_capacity(dealt.len());
        for (form, given) in dealt.into_iter().zip(given) {
            let spec = at.spec(form.name);
            let ty = at.ty(spec).0;
            let role =
                spec.map_or(if matches!(form.shape, Shape::Addr(_)) { Role::Addr } else { Role::Src }, |s| s.role);
            let value = self.operand(at, form, spec, given);
            out.push(Arg { name: form.name, role, ty, value, span: given.span });
        }
        out
    }

    /// `x[1]` as the address `[x+4]`, or as the value `x+4` where that is what the instruction takes (PTX ISA 6.4.2).
    fn without_index(&mut self, at: &mut Attempt, given: &ast::Operand) -> Option<ast::Operand> {
        let OperandKind::Index(word, index) = &given.kind else { return Some(given.clone()) };
        let refused = crate::parse::errors::array_index(given.span, &word.text);
        let var = match self.lookup(&word.text) {
            Some(Sym::Var(id)) => &self.out.vars[id.0 as usize],
            Some(Sym::Broken) => {
                at.broken();
                return None;
            }
            Some(_) => {
                at.fail(refused, 6);
                return None;
            }
            None => {
                let d = self.undeclared(word.span, "variable", &word.text);
                at.fail(d, 6);
                return None;
            }
        };
        // An element is of the scalar type: of `.v4 .b32 x[2]`, `x[1]` is 4 bytes behind `x`, says ptxas.
        let bytes = var.ty.bytes();
        let array = !var.dynamic && var.size > bytes;
        let offset = match fold(index) {
            Some(Const::Int { value, .. }) if array => value.checked_mul(u64::from(bytes)),
            _ => None,
        };
        let offset = offset.filter(|n| i64::try_from(*n).is_ok());
        let memory = matches!(at.entry.opcode, "ld" | "ldu" | "st");
        let address = at.entry.opcode == "mov" || at.entry.opcode == "cvta" && !at.has(".to");
        let (Some(value), true) = (offset, memory || address) else {
            at.fail(refused, 6);
            return None;
        };
        let base = Box::new(Expr::Name(word.clone(), None));
        let offset = Box::new(Expr::Int { value, unsigned: false, text: None, span: index.span() });
        let sum = OperandKind::Expr(Expr::Binary("+", base, offset, given.span));
        let sum = ast::Operand { kind: sum, span: given.span };
        Some(if memory { ast::Operand { kind: OperandKind::Address(vec![sum]), span: given.span } } else { sum })
    }

    fn operand(
        &mut self,
        at: &mut Attempt,
        form: &OpForm,
        spec: Option<&'static OperandSpec>,
        given: &ast::Operand,
    ) -> Operand {
        if !shape_fits(form, given) {
            let d = match &form.shape {
                Shape::Sink => errors::must_be_sink(given.span, form.name, at.form.line, at.entry.section),
                Shape::Addr(_) => errors::wrong_shape(given.span, form.name, "an address in `[ ]`"),
                Shape::Vector(parts) if parts.is_empty() => {
                    errors::wrong_shape(given.span, form.name, "a vector in `{ }`")
                }
                Shape::Vector(parts) => {
                    errors::wrong_shape(given.span, form.name, &format!("a vector of {} in `{{ }}`", parts.len()))
                }
                Shape::Pair(second, _) => {
                    errors::wrong_shape(given.span, form.name, &format!("a pair `{}|{second}`", form.name))
                }
                Shape::List => errors::wrong_shape(given.span, form.name, "a list in `( )`"),
                Shape::Number(n) => errors::wrong_shape(given.span, form.name, &format!("the number {n}")),
                Shape::Value if matches!(given.kind, OperandKind::Not(_)) => errors::no_negation(given.span, form.name),
                Shape::Value => errors::wrong_shape(given.span, form.name, "a single value"),
            };
            let d = match (&form.shape, &given.kind) {
                (Shape::Addr(_), OperandKind::Expr(Expr::Name(word, None))) => {
                    d.help(format!("write `[{}]`", word.text))
                }
                _ => d,
            };
            at.fail(d, 4);
            return Operand::Sink;
        }
        match (&form.shape, &given.kind) {
            (Shape::Sink, _) => Operand::Sink,
            (Shape::Number(n), _) => Operand::Imm(*n),
            (Shape::Addr(parts), OperandKind::Address(given_parts)) => {
                at.addresses += 1;
                if parts.len() <= 1 && given_parts.len() <= 1 {
                    if let (Some(part), Some(g)) = (parts.first(), given_parts.first())
                        && spec.is_some_and(|s| s.role == Role::Src)
                    {
                        return self.operand(at, part, spec, g);
                    }
                    return match given_parts.first() {
                        Some(g) => self.address(at, spec, g),
                        None => {
                            at.fail(errors::bad_address(given.span), 1);
                            Operand::Sink
                        }
                    };
                }
                let picked = pick(parts, given_parts.len());
                let Some(picked) = picked else {
                    at.fail(
                        errors::wrong_shape(given.span, form.name, &format!("an address of {} parts", parts.len())),
                        3,
                    );
                    return Operand::Sink;
                };
                let mut out = Vec::new();
                for (part, g) in picked.into_iter().zip(given_parts) {
                    let spec = at.spec(part.name);
                    let name = |g: &ast::Operand| match &g.kind {
                        OperandKind::Expr(Expr::Name(word, None)) => word.text != "WARP_SZ",
                        OperandKind::Vector(_) => true,
                        _ => false,
                    };
                    if !name(g) {
                        // Names and vectors: neither `+` nor constants, says ptxas.
                        at.fail(errors::bad_address(g.span), 1);
                        continue;
                    }
                    let is_address =
                        spec.is_none_or(|s| s.role == Role::Addr) && !matches!(part.shape, Shape::Vector(_));
                    out.push(if is_address { self.address(at, spec, g) } else { self.operand(at, part, spec, g) });
                }
                Operand::Addresses(out)
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
                Operand::Vector(out)
            }
            (Shape::Pair(second, _), OperandKind::Pair(a, b)) => {
                let ty = at.ty(spec).0;
                let first = match spec.map(|s| s.ty) {
                    Some(OpTy::Vec(..)) => self.vector_or_value(at, form, spec, a),
                    _ => self.value(at, form.name, spec, ty, a),
                };
                let spec2 = at.spec(second);
                let ty2 = spec2.map_or(Some(Ty::Pred), |_| at.ty(spec2).0);
                let second = match &b.kind {
                    OperandKind::Sink if spec2.is_none_or(|s| s.sink) => Operand::Sink,
                    _ => self.value(at, second, spec2, ty2, b),
                };
                if matches!((&first, &second), (Operand::Sink, Operand::Sink)) && at.errors.is_empty() {
                    at.fail(errors::all_sinks(given.span), 2);
                }
                Operand::Pair(Box::new(first), Box::new(second))
            }
            (_, OperandKind::Not(word)) => match self.lookup(&word.text) {
                Some(Sym::Reg(id)) if self.reg_ty(id) == Ty::Pred => Operand::NotReg(id),
                _ => {
                    let inner =
                        ast::Operand { kind: OperandKind::Expr(Expr::Name(word.clone(), None)), span: word.span };
                    self.value(at, form.name, spec, Some(Ty::Pred), &inner)
                }
            },
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

    /// A value, a vector of as many as the type asks for, or parts of a value for `mov`.
    fn vector_or_value(
        &mut self,
        at: &mut Attempt,
        form: &OpForm,
        spec: Option<&'static OperandSpec>,
        given: &ast::Operand,
    ) -> Operand {
        if let Some(s) = spec.filter(|s| matches!(s.ty, OpTy::Coords(_) | OpTy::PerAxis(_))) {
            return self.per_geometry(at, form.name, s, given);
        }
        let (mut ty, count) = at.ty(spec);
        if let Some(numbers) = many(spec) {
            // A vector register stops ptxas from generating code.
            let have = match &given.kind {
                OperandKind::Vector(elements) => elements.len(),
                _ => 0,
            };
            if have != count as usize {
                // A shape, dimensions, or a number: what has a digit in the second or third place.
                let counts = |q: &&str| q.bytes().skip(1).take(2).any(|b| b.is_ascii_digit()) && !is_type(&q[1..]);
                let by: Vec<&str> = match spec.map(|s| s.ty) {
                    Some(OpTy::Fragment(_)) => at.quals.iter().map(String::as_str).filter(counts).list(),
                    _ => numbers.iter().map(|(q, _)| *q).filter(|q| at.has(q)).list(),
                };
                at.fail(errors::how_many(given.span, form.name, count, have, &by, at.entry.section), 2);
                return Operand::Sink;
            }
        }
        if let OperandKind::Vector(elements) = &given.kind {
            // ptxas lets only textures and surfaces throw all of it away.
            if matches!(at.entry.opcode, "ld" | "ldu" | "mov" | "atom" | "multimem.ld_reduce")
                && elements.iter().all(|e| matches!(e.kind, OperandKind::Sink))
            {
                at.fail(errors::all_sinks(given.span), 2);
                return Operand::Sink;
            }
            if many(spec).is_some() && self.adds_up(at, ty) {
                if let Some(e) = elements.iter().find(|e| matches!(e.kind, OperandKind::Sink)) {
                    at.fail(errors::no_sink(e.span, form.name), 2);
                }
            } else if many(spec).is_some() && self.mixed(elements) {
                ty = ty.map(bits);
            }
            if matches!(spec.map(|s| s.ty), Some(OpTy::Parts(_))) {
                return self.parts(at, form.name, spec, ty, elements, given.span);
            }
            // The depth of a comparison stands without braces.
            if spec.is_some_and(|s| s.name == "f") && at.entry.opcode.starts_with('t') {
                at.fail(errors::arity(given.span, form.name, 1, elements.len()), 2);
                return Operand::Sink;
            }
            if count != 0 && elements.len() != count as usize {
                at.fail(errors::arity(given.span, form.name, count, elements.len()), 2);
                return Operand::Sink;
            }
            if elements.len() == 1 && many(spec).is_none() && !braces_around_one(at, form.name, spec) {
                at.fail(errors::no_vector(given.span, form.name), 2);
                return Operand::Sink;
            }
            let values = elements.iter().map(|e| self.value(at, form.name, spec, ty, e)).list();
            // ptxas makes a move of bits of it, and has no 64 of them there.
            if at.entry.opcode == "wmma.store.d" && ty == Some(Ty::F32) {
                for e in elements {
                    if let OperandKind::Expr(constant) = &e.kind
                        && let Some(Const::F64(v)) = fold(constant)
                    {
                        let help = format!("write `0f{:08X}`", (v as f32).to_bits());
                        at.fail(errors::constant_type(e.span, "a decimal number in a vector", Ty::F32, Some(help)), 1);
                    }
                }
            }
            // Neither addresses nor half of a special register, says ptxas.
            let whole = |v: &Operand| match v {
                Operand::VarAddr(..) | Operand::FuncAddr(_) => false,
                Operand::Sreg(name) => {
                    crate::isa::sreg::sreg(name).is_none_or(|r| ty.is_none_or(|t| t.bits() == r.ty.bits()))
                }
                _ => true,
            };
            if let Some(i) = values.iter().position(|v| !whole(v)).filter(|_| at.errors.is_empty()) {
                at.fail(errors::needs_register(elements[i].span, form.name), 1);
            }
            let mut widths = values.iter().filter_map(|v| match v {
                Operand::Reg(id, _) => Some(self.reg_ty(*id).bits()),
                _ => None,
            });
            if let Some(first) = widths.next()
                && at.errors.is_empty()
                && widths.any(|w| w != first)
            {
                at.fail(errors::uneven_vector(given.span), 1);
            }
            if at.entry.opcode.starts_with("fabric.")
                && let [Operand::Reg(id, _)] = values.as_slice()
                && self.reg_ty(*id) == Ty::U16
                && at.errors.is_empty()
            {
                let text = "a vector of one `.u16` register is read as the register itself\ndeclare it `.b16`";
                at.fail(errors::custom(given.span, text, at.entry.section), 1);
            }
            let has = |f: fn(Class) -> bool| {
                values.iter().any(|v| matches!(v, Operand::Reg(id, _) if f(self.reg_ty(*id).class())))
            };
            if many(spec).is_some() && at.errors.is_empty() {
                if has(|c| c == Class::Float) && has(|c| matches!(c, Class::Unsigned | Class::Signed | Class::Packed)) {
                    at.fail(errors::mixed_kinds(given.span), 1);
                } else if !values.iter().any(|v| match v {
                    Operand::Reg(..) => true,
                    // Coordinates may all be constants.
                    Operand::Imm(_) => {
                        spec.is_some_and(|s| matches!(s.name, "tensorCoords" | "im2colInfo" | "attributeOverrideInfo"))
                    }
                    _ => false,
                }) {
                    at.fail(errors::needs_register(given.span, form.name), 2);
                }
            }
            return Operand::Vector(values);
        }
        if let OperandKind::Expr(Expr::Name(word, None)) = &given.kind
            && let Some(Sym::Reg(id)) = self.lookup(&word.text)
        {
            let lanes = self.reg_lanes(id);
            if lanes > 1 {
                if count > 1 && lanes != count {
                    at.fail(errors::arity(given.span, form.name, count, lanes as usize), 2);
                    return Operand::Sink;
                }
                if count == 1 && at.entry.opcode != "mov" {
                    at.fail(errors::arity(given.span, form.name, 1, lanes as usize), 2);
                    return Operand::Sink;
                }
                // `mov.b64` of a `.v2 .b32`: together they are as wide as the type.
                let whole = count == 1;
                let each = self.reg_ty(id);
                if whole && ty.is_some_and(|t| t.class() != Class::Bits || t.bits() != lanes * each.bits()) {
                    at.fail(errors::arity(given.span, form.name, 1, lanes as usize), 2);
                    return Operand::Sink;
                }
                if let Some(want) = ty.filter(|_| !whole) {
                    self.fits(at, &word.text, given.span, id, want, spec);
                }
                return Operand::Vector((0..lanes).map(|i| Operand::Reg(id, i)).list());
            }
        }
        if count == 4
            && at.entry.opcode == "mov"
            && let OperandKind::Expr(Expr::Name(word, None)) = &given.kind
            && self.lookup(&word.text).is_none()
            && let Some(row) = crate::isa::sreg::sreg(&word.text).filter(|r| r.vector)
            && spec.is_some_and(|s| s.role == Role::Src)
        {
            // `mov.v4.u32 v, %tid;`
            let part = |c: &str| crate::isa::sreg::sreg(&format!("{}.{c}", row.name)).map(|r| Operand::Sreg(r.name));
            if let Some(d) = self.gate(given.span, &format!("`{}`", row.name), row.since, row.requires, "10") {
                at.fail(d, 1);
            } else if ty.is_some_and(|t| !register_fits(Ty::U32, t, false)) {
                at.fail(errors::register_type(given.span, row.name, Ty::U32, ty.unwrap_or(Ty::U32), false), 1);
            }
            return Operand::Vector(["x", "y", "z", "w"].into_iter().filter_map(part).list());
        }
        if matches!(given.kind, OperandKind::Sink)
            && matches!(spec.map(|s| s.ty), Some(OpTy::Vec(..) | OpTy::Parts(_)))
            && (count <= 1
                || matches!(at.entry.opcode, "mov" | "ld")
                || ["tex", "tld4", "suld"].iter().any(|o| at.entry.opcode.starts_with(o)))
        {
            // Here `_` stands for elements of a vector only.
            at.fail(errors::no_sink(given.span, form.name), 2);
            return Operand::Sink;
        }
        if count > 1 && !matches!(given.kind, OperandKind::Sink) {
            at.fail(errors::arity(given.span, form.name, count, 1), 2);
            return Operand::Sink;
        }
        self.value(at, form.name, spec, ty, given)
    }

    /// Does ptxas make additions of halves of this, on targets whose matrices of bytes have accumulators of `.f32` alone? Types
    /// matter to those, and none is thrown away.
    fn adds_up(&self, at: &Attempt, ty: Option<Ty>) -> bool {
        let bytes = || at.words.iter().any(|w| matches!(w.text.as_str(), "e4m3" | "e5m2"));
        at.entry.opcode == "mma"
            && ty == Some(Ty::F16x2)
            && bytes()
            && self.target.is_some_and(|t| (90..120).contains(&t.number))
    }

    /// Do the registers of a vector differ in type? ptxas then takes them for untyped ones of their width.
    fn mixed(&mut self, elements: &[ast::Operand]) -> bool {
        let mut types = elements.iter().filter_map(|e| match &e.kind {
            OperandKind::Expr(Expr::Name(word, None)) => match self.lookup(&word.text) {
                Some(Sym::Reg(id)) => Some(self.reg_ty(id)),
                _ => None,
            },
            _ => None,
        });
        let first = types.next();
        types.any(|t| Some(t) != first)
    }

    /// `mov.b64 {a, b}, d`: equal parts (PTX ISA 9.7.9.4).
    fn parts(
        &mut self,
        at: &mut Attempt,
        name: &str,
        spec: Option<&'static OperandSpec>,
        ty: Option<Ty>,
        elements: &[ast::Operand],
        span: Span,
    ) -> Operand {
        let part = match (ty.map(Ty::bits), elements.len()) {
            (Some(16), 2) => Ty::B8,
            (Some(32), 2) => Ty::B16,
            (Some(32), 4) => Ty::B8,
            (Some(64), 2) => Ty::B32,
            (Some(64), 4) => Ty::B16,
            (Some(128), 2) => Ty::B64,
            (Some(128), 4) => Ty::B32,
            _ => {
                at.fail(errors::mixed_vector(span), 1);
                return Operand::Sink;
            }
        };
        Operand::Vector(elements.iter().map(|e| self.value(at, name, spec, Some(part), e)).list())
    }

    /// Checks a register against a type.
    pub(super) fn fits(
        &self,
        at: &mut Attempt,
        name: &str,
        span: Span,
        id: RegId,
        want: Ty,
        spec: Option<&OperandSpec>,
    ) {
        let have = self.reg_ty(id);
        // In conversions from and to `.bf16` and to `.tf32` no wider registers, says ptxas; of bytes a rule of the entry says more.
        let bf16 = at.entry.opcode == "cvt" && (at.has(".bf16") && want.bits() > 8 || want == Ty::Tf32);
        let wider = spec.is_some_and(|s| s.wider) && !bf16;
        let exact = !spec.is_some_and(|s| s.exact) || have == want || have.class() == Class::Bits;
        if !register_fits(have, want, wider) || !exact {
            at.fail(errors::register_type(span, name, have, want, wider), 1);
        }
    }
}

/// The parts of an address that are given: optional ones fall out from the left.
fn pick(parts: &[OpForm], given: usize) -> Option<Vec<&OpForm>> {
    let optional = parts.iter().filter(|p| p.group != 0).count();
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
