//! Checks operands that may be vectors: their elements, count and total width.

use super::Checker;
use super::attempt::{Attempt, bits};
use super::operand::{counted_by, floating, lanes_of, many};
use super::symbol::Sym;
use super::texture::fetches;
use super::value::register_fits;
use super::words;
use crate::ast::{self, Expr, OperandKind};
use crate::check::errors;
use crate::edit::Help;
use crate::parse::{Const, fold};
use crate::print;
use crate::span::Span;
use ptx_dsl_isa::hir::{Operand, RegId};
use ptx_dsl_isa::isa::sreg::{SpecialRegister, Sreg};
use ptx_dsl_isa::isa::syntax::OpForm;
use ptx_dsl_isa::isa::{OpTy, OperandSpec, Role};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;
use ptx_dsl_isa::ty::{Class, Ty};

impl Checker {
    /// A value, a vector with the type's count, or parts of a value for `mov`.
    pub(super) fn vector_or_value(
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
                None if count == 4 && at.opcode == op::mov => {
                    if let Some(row) = ptx_dsl_isa::isa::sreg::sreg(&word.text)
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
        let opcode = at.opcode;
        if is_sink
            && matches!(spec, Some(OperandSpec { ty: OpTy::Vec(..) | OpTy::Parts(_), .. }))
            && (count <= 1 || matches!(opcode, op::mov | op::ld) || fetches(opcode) || opcode == op::suld_b)
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

    /// `{a, b}`; `asked`: expected type and count of the elements.
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
        let (opcode, many) = (at.opcode, many(spec).is_some());
        // ptxas lets only textures and surfaces throw all of it away.
        if matches!(opcode, op::ld | op::ldu | op::mov | op::atom | op::multimem_ld_reduce) && all_sinks(elements) {
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
        if fetches(opcode) && matches!(spec, Some(OperandSpec { name: "f", .. })) {
            at.fail(errors::arity(span, name, 1, elements.len()), 2);
            return Operand::Sink;
        }
        if count != 0 && elements.len() != count as usize {
            let mut d = errors::arity(span, name, count, elements.len());
            if count == 1
                && !many
                && let Some(help) = self.packed(spec, ty, elements)
            {
                d.add_help(help.into());
            }
            at.fail(d, 2);
            return Operand::Sink;
        }
        if elements.len() == 1 && !many && !braces_around_one(at, name, spec) {
            at.fail(errors::no_vector(span, name), 2);
            return Operand::Sink;
        }
        let values = self.elements(at, name, spec, ty, elements);
        // ptxas makes a move of bits of it, and has no 64 of them there.
        if opcode == op::wmma_store_d && ty == Some(Ty::F32) {
            no_decimals(at, elements);
        }
        for (i, value) in values.iter().enumerate() {
            if at.errors.is_empty() && !is_whole(value, ty) {
                at.fail(errors::needs_register(elements[i].span, name, None), 1);
            }
        }
        if at.errors.is_empty() {
            self.suits(at, name, spec, &values, span);
        }
        if !many {
            self.neighbours(at, elements, span);
        }
        Operand::Vector(values)
    }

    /// Adjacent elements have types of one kind, or one of them is untyped (ptxas).
    pub(super) fn neighbours(&mut self, at: &mut Attempt, elements: &[ast::Operand], span: Span) {
        let mut before = None;
        for e in elements {
            let kind = match &e.kind {
                OperandKind::Sink => continue,
                OperandKind::Expr(e) => match (fold(e), e) {
                    (Some(Const::Int { .. }), _) => Some(Class::Signed),
                    (Some(_), _) => Some(Class::Float),
                    (None, Expr::Name(word, _)) => match self.lookup(&word.text) {
                        Some(Sym::Reg(id)) => kind(self.reg_ty(id).class()),
                        _ => None,
                    },
                    _ => None,
                },
                _ => None,
            };
            if at.errors.is_empty() && before.is_some() && kind.is_some() && before != kind {
                at.fail(errors::mixed_kinds(span), 1);
            }
            before = kind;
        }
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
            values.push(self.element(at, name, spec, ty, e));
        }
        values
    }

    /// A value in braces, where ptxas accepts neither `x` nor `x+4`.
    pub(super) fn element(
        &mut self,
        at: &mut Attempt,
        name: &str,
        spec: Option<&'static OperandSpec>,
        ty: Option<Ty>,
        given: &ast::Operand,
    ) -> Operand {
        let value = self.value(at, name, spec, ty, given);
        if matches!(value, Operand::VarAddr(..) | Operand::FuncAddr(_)) {
            at.fail(errors::needs_register(given.span, name, None), 1);
        }
        value
    }

    /// Can the values form a vector? Reports the first reason why not.
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
                Operand::Imm(_) | Operand::Rust(_) => {
                    let coordinates = ["tensorCoords", "im2colInfo", "attributeOverrideInfo"];
                    registers |= matches!(spec, Some(s) if coordinates.contains(&s.name));
                }
                _ => {}
            }
        }
        if uneven {
            at.fail(errors::uneven_vector(span), 1);
        } else if at.opcode.family() == "fabric"
            && let [Operand::Reg(id, _)] = values
            && self.reg_ty(*id) == Ty::U16
        {
            at.fail(errors::vector_of_one(span, at.entry.section), 1);
        } else if many(spec).is_some() && floats && integers {
            at.fail(errors::mixed_kinds(span), 1);
        } else if many(spec).is_some() && !registers {
            at.fail(errors::needs_register(span, name, None), 2);
        }
    }

    /// The values of a vector in one register, where the operand is one: `{a, b}` of an `.f32x2`.
    fn packed(
        &mut self,
        spec: Option<&'static OperandSpec>,
        ty: Option<Ty>,
        elements: &[ast::Operand],
    ) -> Option<String> {
        let bits = ty.filter(|ty| matches!(ty.bits(), 32 | 64 | 128))?.bits();
        let parts = self.operand_types(elements);
        let fit = parts.len() == elements.len() && parts.iter().map(|part| part.bits()).sum::<u32>() == bits;
        if !fit || parts.iter().any(|part| part.bits() != parts[0].bits()) {
            return None;
        }
        let (x, mut list) = (self.free_name(), String::new());
        for (i, element) in elements.iter().enumerate() {
            list += if i > 0 { ", " } else { "" };
            list += &print::operand_text(element);
        }
        Some(match spec {
            Some(OperandSpec { role: Role::Dst, .. }) => {
                format!(
                    "put `.reg .b{bits} {x};` before it, and write `{x}`, and put `mov.b{bits} {{{list}}}, {x};` after it"
                )
            }
            _ => format!("put `.reg .b{bits} {x}; mov.b{bits} {x}, {{{list}}};` before it, and write `{x}`"),
        })
    }

    /// A register declared with `.v2` or `.v4`; `asked`: expected type and count of the elements.
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
        if whole && (at.opcode != op::mov || !fits) {
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
            at.fail(errors::register_type(span, row.name, Ty::U32, ty, false, Vec::new()), 1);
        }
        let mut parts = Vec::new();
        for component in ["x", "y", "z", "w"] {
            if let Some(part) = SpecialRegister::named(&format!("{}.{component}", row.name)) {
                parts.push(Operand::Sreg(part));
            }
        }
        Operand::Vector(parts)
    }

    /// Does ptxas emulate this with additions of halves? It does on targets where matrices of bytes only have `.f32` accumulators. Types
    /// then matter, and no element may be `_`.
    fn adds_up(&self, at: &Attempt, ty: Option<Ty>) -> bool {
        let Some(target) = self.target else { return false };
        at.opcode == op::mma
            && ty == Some(Ty::F16x2)
            && words::find_any(at.words, &["e4m3", "e5m2"]).is_some()
            && (90..120).contains(&target.number)
    }

    /// Do the registers of a vector differ in type? ptxas then treats them as untyped ones of their width.
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

    /// Are all of them registers with more bits than the parts of the value?
    fn all_wider(&mut self, elements: &[ast::Operand], part: Ty) -> bool {
        elements.iter().all(|e| match &e.kind {
            OperandKind::Expr(Expr::Name(word, None)) => match self.lookup(&word.text) {
                Some(Sym::Reg(id)) => self.reg_ty(id).bits() > part.bits().max(16),
                _ => false,
            },
            _ => false,
        })
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
        if self.all_wider(elements, part) {
            // The number is wrong, not each of them.
            at.fail(errors::mixed_vector(span), 1);
            return Operand::Sink;
        }
        let values = self.elements(at, name, spec, Some(part), elements);
        self.neighbours(at, elements, span);
        Operand::Vector(values)
    }
}

/// ptxas accepts braces around one register where vectors are loaded and stored, and in a few other places; elsewhere they need
/// several.
fn braces_around_one(at: &Attempt, name: &str, spec: Option<&OperandSpec>) -> bool {
    let vector = matches!(spec, Some(OperandSpec { ty: OpTy::Vec(..), .. } | OperandSpec { role: Role::Dst, .. }));
    match (at.opcode, name) {
        (op::ld | op::ldu | op::st, _) => vector,
        (op::st_async, _) => vector && at.has(q::mbarrier_complete_tx_bytes) && !at.has(q::b128),
        (op::multimem_ld_reduce | op::multimem_st, _) => vector && floating(at),
        (op::mma_sp, "e") => !at.has_any(&[q::u4, q::s4]) && (!at.has(q::satfinite) || at.has(q::ordered_metadata)),
        (op::mma | op::mma_sp, "scale-a-data" | "scale-b-data")
        | (op::wgmma_mma_async_sp, "sp-meta")
        | (op::tcgen05_ld_red, "redval")
        | (op::tex_level | op::txq_level, "lod")
        | (op::mbarrier_arrive | op::mbarrier_arrive_drop, "count") => true,
        (op, _) => vector && matches!(op, op::suld_b | op::sust_b | op::sust_p),
    }
}

/// Signed and unsigned integers are of one kind, untyped values of any.
fn kind(class: Class) -> Option<Class> {
    match class {
        Class::Bits => None,
        Class::Unsigned => Some(Class::Signed),
        class => Some(class),
    }
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
    elements.iter().all(|e| matches!(e.kind, OperandKind::Sink))
}

/// May a value be an element of a vector of the type? Not half of a special register, says ptxas.
fn is_whole(value: &Operand, ty: Option<Ty>) -> bool {
    match value {
        Operand::Sreg(register) => ty.is_none_or(|ty| ty.bits() == register.row().ty.bits()),
        _ => true,
    }
}

/// Refuses decimal numbers.
fn no_decimals(at: &mut Attempt, elements: &[ast::Operand]) {
    for e in elements {
        if let OperandKind::Expr(constant) = &e.kind
            && let Some(Const::F64(v)) = fold(constant)
        {
            let help = Help::write(format!("0f{:08X}", (v as f32).to_bits()));
            at.fail(errors::constant_type(e.span, "a decimal number in a vector", Ty::F32, Some(help)), 1);
        }
    }
}
