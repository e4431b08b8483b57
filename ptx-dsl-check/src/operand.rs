//! Operands: what they name, and whether registers, constants and addresses suit the instruction (PTX ISA 6, 9.4).

use super::Checker;
use super::attempt::{Attempt, bits};
use super::instr::{deal, shape_fits};
use super::names::Sym;
use super::value::register_fits;
use super::words;
use crate::ast::{self, Expr, OperandKind};
use crate::diag::Diagnostic;
use crate::errors;
use crate::hir::{Arg, Operand, Reg, RegId};
use crate::isa::sreg::Sreg;
use crate::isa::syntax::{OpForm, Shape, is_type};
use crate::isa::{OpTy, OperandSpec, Role};
use crate::parse::errors::array_index;
use crate::parse::{Const, fold};
use crate::span::Span;
use crate::ty::{Class, Ty};

/// The numbers that give an operand's count of values, where it is always a vector.
fn many(spec: Option<&OperandSpec>) -> Option<&'static [(&'static str, u32)]> {
    match spec?.ty {
        OpTy::Many(_, numbers) => Some(numbers),
        OpTy::Fragment(_) => Some(&[]),
        _ => None,
    }
}

/// A vector of one register is one where vectors are loaded and stored, and in a few other places, says ptxas; elsewhere braces
/// are for several.
fn braces_around_one(at: &Attempt, name: &str, spec: Option<&OperandSpec>) -> bool {
    let vector = matches!(spec, Some(OperandSpec { ty: OpTy::Vec(..), .. } | OperandSpec { role: Role::Dst, .. }));
    match (at.entry.opcode, name) {
        ("ld" | "ldu" | "st", _) => vector,
        ("st.async", _) => vector && at.has(".mbarrier::complete_tx::bytes") && !at.has(".b128"),
        ("multimem.ld_reduce" | "multimem.st", _) => vector && floating(at),
        ("mma.sp", "e") => !at.has_any(&[".u4", ".s4"]) && (!at.has(".satfinite") || at.has("::ordered_metadata")),
        ("mma" | "mma.sp", "scale-a-data" | "scale-b-data")
        | ("wgmma.mma_async.sp", "sp-meta")
        | ("tcgen05.ld.red", "redval")
        | ("tex.level" | "txq.level", "lod")
        | ("mbarrier.arrive" | "mbarrier.arrive_drop", "count") => true,
        (op, _) => vector && (op.starts_with("suld.") || op.starts_with("sust.")),
    }
}

/// Is a floating-point type among the qualifiers?
fn floating(at: &Attempt) -> bool {
    for q in at.quals {
        if q.starts_with(".f") || q.starts_with(".bf") || q.starts_with(".e4") || q.starts_with(".e5") {
            return true;
        }
    }
    false
}

/// The first element that is `_`.
fn sink(elements: &[ast::Operand]) -> Option<&ast::Operand> {
    for e in elements {
        if matches!(e.kind, OperandKind::Sink) {
            return Some(e);
        }
    }
    None
}

/// Is every element `_`?
fn all_sinks(elements: &[ast::Operand]) -> bool {
    for e in elements {
        if !matches!(e.kind, OperandKind::Sink) {
            return false;
        }
    }
    true
}

/// Is it a name or a vector? Neither sums nor constants are among the parts of an address, says ptxas.
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

    /// The same where none is an element of an array.
    fn dealt(&mut self, at: &mut Attempt, given: &[&ast::Operand], opcode_span: Span) -> Vec<Arg> {
        let Some(dealt) = deal(at.form, given, at.words) else {
            at.fail(wrong_count(at, given, opcode_span), 6);
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
            let value = self.operand(at, form, spec, given[i]);
            out.push(Arg { name: form.name, role, ty, value, span: given[i].span });
        }
        out
    }

    /// `x[1]` as the address `[x+4]`, or as the value `x+4` where that is what the instruction takes (PTX ISA 6.4.2).
    fn without_index(&mut self, at: &mut Attempt, word: &ast::Word, index: &Expr, span: Span) -> Option<ast::Operand> {
        let var = match self.lookup(&word.text) {
            Some(Sym::Var(id)) => &self.out.vars[id.0 as usize],
            Some(Sym::Broken) => {
                at.broken();
                return None;
            }
            Some(_) => {
                at.fail(array_index(span, &word.text), 6);
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
            Some(Const::Int { value, .. }) if array => match value.checked_mul(u64::from(bytes)) {
                Some(n) if i64::try_from(n).is_ok() => Some(n),
                _ => None,
            },
            _ => None,
        };
        let memory = matches!(at.entry.opcode, "ld" | "ldu" | "st");
        let address = at.entry.opcode == "mov" || at.entry.opcode == "cvta" && !at.has(".to");
        let (Some(value), true) = (offset, memory || address) else {
            at.fail(array_index(span, &word.text), 6);
            return None;
        };
        let base = Box::new(Expr::Name(word.clone(), None));
        let offset = Box::new(Expr::Int { value, unsigned: false, text: None, span: index.span() });
        let sum = OperandKind::Expr(Expr::Binary("+", base, offset, span));
        let sum = ast::Operand { kind: sum, span };
        Some(if memory { ast::Operand { kind: OperandKind::Address(vec![sum]), span } } else { sum })
    }

    fn operand(
        &mut self,
        at: &mut Attempt,
        form: &OpForm,
        spec: Option<&'static OperandSpec>,
        given: &ast::Operand,
    ) -> Operand {
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

    /// The second one of a pair: a predicate, if the entry says nothing of it.
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

    /// What stands in `[ ]`.
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
                at.fail(errors::bad_address(span), 1);
                return Operand::Sink;
            };
            return match (parts.first(), spec) {
                (Some(part), Some(OperandSpec { role: Role::Src, .. })) => self.operand(at, part, spec, g),
                _ => self.address(at, spec, g),
            };
        }
        let Some(picked) = pick(parts, given.len()) else {
            at.fail(errors::wrong_shape(span, name, &format!("an address of {} parts", parts.len())), 3);
            return Operand::Sink;
        };
        let mut out = Vec::with_capacity(picked.len());
        for (i, part) in picked.iter().enumerate() {
            let (spec, g) = (at.spec(part.name), &given[i]);
            if !is_part(g) {
                at.fail(errors::bad_address(g.span), 1);
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

    /// A value, a vector of as many as the type asks for, or parts of a value for `mov`.
    fn vector_or_value(
        &mut self,
        at: &mut Attempt,
        form: &OpForm,
        spec: Option<&'static OperandSpec>,
        given: &ast::Operand,
    ) -> Operand {
        if let Some(s) = spec
            && matches!(s.ty, OpTy::Coords(_) | OpTy::PerAxis(_))
        {
            return self.per_geometry(at, form.name, s, given);
        }
        let (ty, count) = at.ty(spec);
        if let Some(numbers) = many(spec) {
            // A vector register stops ptxas from generating code.
            let have = match &given.kind {
                OperandKind::Vector(elements) => elements.len(),
                _ => 0,
            };
            if have != count as usize {
                let by = counted_by(at, spec, numbers);
                at.fail(errors::how_many(given.span, form.name, count, have, &by, at.entry.section), 2);
                return Operand::Sink;
            }
        }
        match &given.kind {
            OperandKind::Vector(elements) => {
                return self.vector(at, form.name, spec, (ty, count), elements, given.span);
            }
            OperandKind::Expr(Expr::Name(word, None)) => match self.lookup(&word.text) {
                Some(Sym::Reg(id)) if self.reg_lanes(id) > 1 => {
                    return self.vector_register(at, form.name, spec, (ty, count), id, (&word.text, given.span));
                }
                None if count == 4 && at.entry.opcode == "mov" => {
                    if let Some(row) = crate::isa::sreg::sreg(&word.text)
                        && row.vector
                        && matches!(spec, Some(OperandSpec { role: Role::Src, .. }))
                    {
                        return self.whole_special_register(at, row, ty, given.span);
                    }
                }
                _ => {}
            },
            _ => {}
        }
        let is_sink = matches!(given.kind, OperandKind::Sink);
        let opcode = at.entry.opcode;
        if is_sink
            && matches!(spec, Some(OperandSpec { ty: OpTy::Vec(..) | OpTy::Parts(_), .. }))
            && (count <= 1
                || matches!(opcode, "mov" | "ld")
                || opcode.starts_with("tex")
                || opcode.starts_with("tld4")
                || opcode.starts_with("suld"))
        {
            // Here `_` stands for elements of a vector only.
            at.fail(errors::no_sink(given.span, form.name), 2);
            return Operand::Sink;
        }
        if count > 1 && !is_sink {
            at.fail(errors::arity(given.span, form.name, count, 1), 2);
            return Operand::Sink;
        }
        self.value(at, form.name, spec, ty, given)
    }

    /// `{a, b}`; `asked`: type and count of the elements.
    fn vector(
        &mut self,
        at: &mut Attempt,
        name: &str,
        spec: Option<&'static OperandSpec>,
        asked: (Option<Ty>, u32),
        elements: &[ast::Operand],
        span: Span,
    ) -> Operand {
        let (mut ty, count) = asked;
        let (opcode, many) = (at.entry.opcode, many(spec).is_some());
        // ptxas lets only textures and surfaces throw all of it away.
        if matches!(opcode, "ld" | "ldu" | "mov" | "atom" | "multimem.ld_reduce") && all_sinks(elements) {
            at.fail(errors::all_sinks(span), 2);
            return Operand::Sink;
        }
        if many && self.adds_up(at, ty) {
            if let Some(e) = sink(elements) {
                at.fail(errors::no_sink(e.span, name), 2);
            }
        } else if many && self.mixed(elements) {
            ty = ty.map(bits);
        }
        if let Some(OperandSpec { ty: OpTy::Parts(_), .. }) = spec {
            return self.parts(at, name, spec, ty, elements, span);
        }
        // The depth of a comparison stands without braces.
        if opcode.starts_with('t') && matches!(spec, Some(OperandSpec { name: "f", .. })) {
            at.fail(errors::arity(span, name, 1, elements.len()), 2);
            return Operand::Sink;
        }
        if count != 0 && elements.len() != count as usize {
            at.fail(errors::arity(span, name, count, elements.len()), 2);
            return Operand::Sink;
        }
        if elements.len() == 1 && !many && !braces_around_one(at, name, spec) {
            at.fail(errors::no_vector(span, name), 2);
            return Operand::Sink;
        }
        let values = self.elements(at, name, spec, ty, elements);
        // ptxas makes a move of bits of it, and has no 64 of them there.
        if opcode == "wmma.store.d" && ty == Some(Ty::F32) {
            no_decimals(at, elements);
        }
        for (i, value) in values.iter().enumerate() {
            if at.errors.is_empty() && !is_whole(value, ty) {
                at.fail(errors::needs_register(elements[i].span, name), 1);
            }
        }
        if at.errors.is_empty() {
            self.suits(at, name, spec, &values, span);
        }
        Operand::Vector(values)
    }

    /// The values of a vector's elements.
    fn elements(
        &mut self,
        at: &mut Attempt,
        name: &str,
        spec: Option<&'static OperandSpec>,
        ty: Option<Ty>,
        elements: &[ast::Operand],
    ) -> Vec<Operand> {
        let mut values = Vec::with_capacity(elements.len());
        for e in elements {
            values.push(self.value(at, name, spec, ty, e));
        }
        values
    }

    /// Do the values go together in a vector? Reports the first reason why not.
    fn suits(&self, at: &mut Attempt, name: &str, spec: Option<&OperandSpec>, values: &[Operand], span: Span) {
        let (mut width, mut uneven, mut floats, mut integers, mut registers) = (None, false, false, false, false);
        for value in values {
            match value {
                Operand::Reg(id, _) => {
                    let ty = self.reg_ty(*id);
                    uneven |= *width.get_or_insert(ty.bits()) != ty.bits();
                    floats |= ty.class() == Class::Float;
                    integers |= matches!(ty.class(), Class::Unsigned | Class::Signed | Class::Packed);
                    registers = true;
                }
                // Coordinates may all be constants.
                Operand::Imm(_) => {
                    let coordinates = ["tensorCoords", "im2colInfo", "attributeOverrideInfo"];
                    registers |= matches!(spec, Some(s) if coordinates.contains(&s.name));
                }
                _ => {}
            }
        }
        if uneven {
            at.fail(errors::uneven_vector(span), 1);
        } else if at.entry.opcode.starts_with("fabric.")
            && let [Operand::Reg(id, _)] = values
            && self.reg_ty(*id) == Ty::U16
        {
            let text = "a vector of one `.u16` register is read as the register itself\ndeclare it `.b16`";
            at.fail(errors::custom(span, text, at.entry.section), 1);
        } else if many(spec).is_some() && floats && integers {
            at.fail(errors::mixed_kinds(span), 1);
        } else if many(spec).is_some() && !registers {
            at.fail(errors::needs_register(span, name), 2);
        }
    }

    /// A register declared with `.v2` or `.v4`; `asked`: type and count of the elements.
    fn vector_register(
        &mut self,
        at: &mut Attempt,
        name: &str,
        spec: Option<&'static OperandSpec>,
        asked: (Option<Ty>, u32),
        id: RegId,
        written: (&str, Span),
    ) -> Operand {
        let (ty, count) = asked;
        let (text, span) = written;
        let lanes = self.reg_lanes(id);
        if count > 1 && lanes != count {
            at.fail(errors::arity(span, name, count, lanes as usize), 2);
            return Operand::Sink;
        }
        // `mov.b64` of a `.v2 .b32`: together they are as wide as the type.
        let whole = count == 1;
        let each = self.reg_ty(id);
        let fits = match ty {
            Some(t) => t.class() == Class::Bits && t.bits() == lanes * each.bits(),
            None => true,
        };
        if whole && (at.entry.opcode != "mov" || !fits) {
            at.fail(errors::arity(span, name, 1, lanes as usize), 2);
            return Operand::Sink;
        }
        if let Some(want) = ty
            && !whole
        {
            self.fits(at, text, span, id, want, spec);
        }
        lanes_of(id, lanes)
    }

    /// `mov.v4.u32 v, %tid;`
    fn whole_special_register(&self, at: &mut Attempt, row: &'static Sreg, ty: Option<Ty>, span: Span) -> Operand {
        if let Some(d) = self.gate(span, format_args!("`{}`", row.name), row.since, row.requires, "10") {
            at.fail(d, 1);
        } else if let Some(ty) = ty
            && !register_fits(Ty::U32, ty, false)
        {
            at.fail(errors::register_type(span, row.name, Ty::U32, ty, false), 1);
        }
        let mut parts = Vec::new();
        for component in ["x", "y", "z", "w"] {
            if let Some(part) = crate::isa::sreg::sreg(&format!("{}.{component}", row.name)) {
                parts.push(Operand::Sreg(part.name));
            }
        }
        Operand::Vector(parts)
    }

    /// Does ptxas make additions of halves of this, on targets whose matrices of bytes have accumulators of `.f32` alone? Types
    /// matter to those, and none is thrown away.
    fn adds_up(&self, at: &Attempt, ty: Option<Ty>) -> bool {
        let Some(target) = self.target else { return false };
        at.entry.opcode == "mma"
            && ty == Some(Ty::F16x2)
            && words::find_any(at.words, &["e4m3", "e5m2"]).is_some()
            && (90..120).contains(&target.number)
    }

    /// Do the registers of a vector differ in type? ptxas then takes them for untyped ones of their width.
    fn mixed(&mut self, elements: &[ast::Operand]) -> bool {
        let mut first = None;
        for e in elements {
            if let OperandKind::Expr(Expr::Name(word, None)) = &e.kind
                && let Some(Sym::Reg(id)) = self.lookup(&word.text)
            {
                let ty = self.reg_ty(id);
                if *first.get_or_insert(ty) != ty {
                    return true;
                }
            }
        }
        false
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
        Operand::Vector(self.elements(at, name, spec, Some(part), elements))
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
        let wider = matches!(spec, Some(s) if s.wider) && !bf16;
        let exact = !matches!(spec, Some(s) if s.exact) || have == want || have.class() == Class::Bits;
        if !register_fits(have, want, wider) || !exact {
            at.fail(errors::register_type(span, name, have, want, wider), 1);
        }
    }
}

/// All elements of a vector register.
pub(super) fn lanes_of(id: RegId, lanes: u32) -> Operand {
    let mut list = Vec::new();
    for i in 0..lanes {
        list.push(Operand::Reg(id, i));
    }
    Operand::Vector(list)
}

/// May a value be an element of a vector of the type? Neither addresses nor half of a special register, says ptxas.
fn is_whole(value: &Operand, ty: Option<Ty>) -> bool {
    match value {
        Operand::VarAddr(..) | Operand::FuncAddr(_) => false,
        Operand::Sreg(name) => match (crate::isa::sreg::sreg(name), ty) {
            (Some(row), Some(ty)) => ty.bits() == row.ty.bits(),
            _ => true,
        },
        _ => true,
    }
}

/// Refuses decimal numbers.
fn no_decimals(at: &mut Attempt, elements: &[ast::Operand]) {
    for e in elements {
        if let OperandKind::Expr(constant) = &e.kind
            && let Some(Const::F64(v)) = fold(constant)
        {
            let help = format!("write `0f{:08X}`", (v as f32).to_bits());
            at.fail(errors::constant_type(e.span, "a decimal number in a vector", Ty::F32, Some(help)), 1);
        }
    }
}

/// The qualifiers that give an operand's count of values.
fn counted_by<'a>(
    at: &Attempt<'a>,
    spec: Option<&OperandSpec>,
    numbers: &'static [(&'static str, u32)],
) -> Vec<&'a str> {
    let mut by: Vec<&str> = Vec::new();
    if let Some(OperandSpec { ty: OpTy::Fragment(_), .. }) = spec {
        // A shape, dimensions, or a number: what has a digit in the second or third place.
        for q in at.quals {
            if let [_, second, rest @ ..] = q.as_bytes()
                && (second.is_ascii_digit() || matches!(rest, [third, ..] if third.is_ascii_digit()))
                && !is_type(&q[1..])
            {
                by.push(q);
            }
        }
    } else {
        for (q, _) in numbers {
            if at.has(q) {
                by.push(q);
            }
        }
    }
    by
}

/// The form takes more or fewer operands.
fn wrong_count(at: &Attempt, given: &[&ast::Operand], opcode_span: Span) -> Diagnostic {
    let (mut low, mut next) = (0, None);
    for o in &at.form.operands {
        if o.group == 0 {
            if low == given.len() {
                next = Some(o.name);
            }
            low += 1;
        }
    }
    let high = at.form.operands.len();
    let extra = given.get(high);
    let span = extra.map_or(opcode_span, |o| o.span);
    let d = errors::operand_count(span, at.entry.opcode, low, high, given.len(), at.form.line, at.entry.section);
    match (extra, next) {
        (Some(_), _) => d.help("remove what is too much"),
        (None, Some(name)) => d.help(format!("add operand `{name}`")),
        (None, None) => d.help("give the operands of the form"),
    }
}

/// The operand is not written as the form wants it.
fn wrong_shape(at: &Attempt, form: &OpForm, given: &ast::Operand) -> Diagnostic {
    let (span, name) = (given.span, form.name);
    match &form.shape {
        Shape::Sink => errors::must_be_sink(span, name, at.form.line, at.entry.section),
        Shape::Addr(_) => {
            let d = errors::wrong_shape(span, name, "an address in `[ ]`");
            match &given.kind {
                OperandKind::Expr(Expr::Name(word, None)) => d.help(format!("write `[{}]`", word.text)),
                _ => d,
            }
        }
        Shape::Vector(parts) if parts.is_empty() => errors::wrong_shape(span, name, "a vector in `{ }`"),
        Shape::Vector(parts) => errors::wrong_shape(span, name, &format!("a vector of {} in `{{ }}`", parts.len())),
        Shape::Pair(second, _) => errors::wrong_shape(span, name, &format!("a pair `{name}|{second}`")),
        Shape::List => errors::wrong_shape(span, name, "a list in `( )`"),
        Shape::Number(n) => errors::wrong_shape(span, name, &format!("the number {n}")),
        Shape::Value if matches!(given.kind, OperandKind::Not(_)) => errors::no_negation(span, name),
        Shape::Value => errors::wrong_shape(span, name, "a single value"),
    }
}

/// The parts of an address that are given: optional ones fall out from the left.
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
