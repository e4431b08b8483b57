//! Checks textures, surfaces and their handles: rules that depend on the geometry, the texturing mode, or the opaque type (PTX
//! ISA 5.3, 9.7.10, 9.7.11).

use super::Checker;
use super::attempt::Attempt;
use super::symbol::Sym;
use crate::ast::{self, Expr, OperandKind};
use crate::check::errors;
use crate::diag::Diagnostic;
use crate::span::Span;
use ptx_dsl_isa::hir::{self, Operand, VarId};
use ptx_dsl_isa::isa::{OpTy, OperandSpec, ptx, sm};
use ptx_dsl_isa::opcode::{Opcode, op};
use ptx_dsl_isa::qualifier::{Qualifier, q};
use ptx_dsl_isa::ty::{Class, Ty};

/// How many values a geometry takes.
struct Geometry {
    name: &'static str,
    /// Coordinates, padded to 1, 2 or 4; ptxas accepts more.
    coordinates: usize,
    /// How many of the first are integers whatever the type: the index of an array, the sample.
    integers: usize,
    /// Offsets and gradients.
    axes: usize,
}

const GEOMETRIES: &[Geometry] = &[
    Geometry { name: "1d", coordinates: 1, integers: 0, axes: 1 },
    Geometry { name: "2d", coordinates: 2, integers: 0, axes: 2 },
    Geometry { name: "3d", coordinates: 4, integers: 0, axes: 4 },
    Geometry { name: "a1d", coordinates: 2, integers: 1, axes: 1 },
    Geometry { name: "a2d", coordinates: 4, integers: 1, axes: 2 },
    Geometry { name: "cube", coordinates: 4, integers: 0, axes: 4 },
    Geometry { name: "acube", coordinates: 4, integers: 1, axes: 4 },
    Geometry { name: "2dms", coordinates: 4, integers: 1, axes: 2 },
    Geometry { name: "a2dms", coordinates: 4, integers: 2, axes: 2 },
];

/// The written geometry.
fn geometry(words: &[ast::Word]) -> Option<&'static Geometry> {
    for word in words {
        for g in GEOMETRIES {
            if g.name == word.text {
                return Some(g);
            }
        }
    }
    None
}

/// Is an element of a vector `_`?
fn has_sink(list: &[Operand]) -> bool {
    list.iter().any(|o| matches!(o, Operand::Sink))
}

/// Is every element of a vector `_`?
fn all_sinks(list: &[Operand]) -> bool {
    list.iter().all(|o| matches!(o, Operand::Sink))
}

/// The texture or surface with its sampler and coordinates.
fn parts_of(typed: &hir::Instr) -> Option<(&[Operand], Span)> {
    for o in &typed.operands {
        match &o.value {
            Operand::Addresses(parts) => return Some((parts.as_slice(), o.span)),
            value if o.role == ptx_dsl_isa::isa::Role::Src && o.name == "a" && typed.opcode != op::istypep => {
                return Some((std::slice::from_ref(value), o.span));
            }
            _ => {}
        }
    }
    None
}

impl Checker {
    /// Coordinates, offsets or gradients: as many values as the geometry has.
    pub(super) fn per_geometry(
        &mut self,
        at: &mut Attempt,
        name: &str,
        spec: &'static OperandSpec,
        given: &ast::Operand,
    ) -> Operand {
        let geometry = geometry(at.words);
        let (ty, need, integers, exact) = match (spec.ty, geometry) {
            (OpTy::Coords(slot), Some(g)) => {
                let ty = Ty::from_name(&slot[1..]).or_else(|| at.slot_ty(slot)).unwrap_or(Ty::S32);
                (ty, g.coordinates, g.integers, false)
            }
            (OpTy::PerAxis(ty), Some(g)) => (ty, g.axes, 0, ty == Ty::F32),
            _ => (Ty::S32, 1, 0, false),
        };
        let shape = match geometry {
            Some(g) => g.name,
            None => "",
        };
        let fits = |n: usize| if exact { n == need } else { n >= need && matches!(n, 1 | 2 | 4) };
        if let OperandKind::Expr(Expr::Name(word, None)) = &given.kind
            && let Some(Sym::Reg(id)) = self.lookup(&word.text)
            && self.reg_lanes(id) > 1
        {
            let lanes = self.reg_lanes(id);
            if !fits(lanes as usize) {
                at.fail(per_geometry(given.span, name, shape, need, lanes as usize, at.entry.section), 2);
            }
            return super::operand::lanes_of(id, lanes);
        }
        let (elements, vector) = match &given.kind {
            OperandKind::Vector(list) => (list.as_slice(), true),
            _ => (std::slice::from_ref(given), false),
        };
        if !fits(elements.len()) || (exact && !vector) {
            at.fail(per_geometry(given.span, name, shape, need, elements.len(), at.entry.section), 2);
            return Operand::Sink;
        }
        // After the index of an array ptxas does not look at the types of coordinates, but for gradients on cubes.
        let array = shape.starts_with('a');
        let any_type = array && integers == 1 && !(shape == "acube" && at.opcode == op::tex_grad);
        let mut out = Vec::with_capacity(elements.len());
        for (i, e) in elements.iter().enumerate() {
            let ty = match &e.kind {
                _ if i < integers => Ty::U32,
                OperandKind::Expr(Expr::Name(word, _)) if any_type && word.text != "WARP_SZ" => Ty::B32,
                _ => ty,
            };
            // What is not an index has its type written, and may be what that goes with.
            let spec = if i < integers { None } else { Some(spec) };
            out.push(self.element(at, name, spec, Some(ty), e));
        }
        self.neighbours(at, &elements[usize::from(array)..], given.span);
        if vector { Operand::Vector(out) } else { out.pop().unwrap_or(Operand::Sink) }
    }

    /// A texture, sampler or surface as an operand of an instruction that takes one.
    pub(super) fn handle(&mut self, at: &mut Attempt, want: Ty, id: VarId, word: &ast::Word) -> Operand {
        let var = &self.out.vars[id.0 as usize];
        let have = var.ty;
        let want = match at.opcode {
            // What is asked about a sampler is asked of the texture where there are no samplers apart (PTX ISA 9.7.10.5).
            op::txq if at.has_any(SAMPLER_QUERIES) && (self.independent || at.has(q::force_unnormalized_coords)) => {
                Ty::Samplerref
            }
            _ => want,
        };
        if have != want || var.size > have.bytes() {
            let is = if have == want {
                format!("an array of `.{}`", have.name())
            } else {
                format!("a variable of type `.{}`", have.name())
            };
            let want = format!("a `.{}` variable, or a 64-bit register with its address,", want.name());
            at.fail(errors::wrong_name(word.span, &word.text, &is, &want), 1);
        }
        Operand::VarAddr(id, 0)
    }

    /// Reports the handle of a texture or surface in place of an ordinary variable. Only its address can be taken.
    pub(super) fn opaque(&mut self, at: &mut Attempt, id: VarId, word: &ast::Word) {
        let ty = self.out.vars[id.0 as usize].ty;
        if ty.class() != Class::Opaque || at.opcode == op::cvta || (at.opcode == op::mov && at.has(q::u64)) {
            return;
        }
        at.fail(errors::opaque(word.span, &word.text, ty, at.opcode == op::mov), 1);
    }

    /// A `.samplerref` variable needs its mode (PTX ISA 5.3); where opaque variables stand is checked with the others.
    pub(super) fn opaque_variable(&mut self, decl: &ast::VarDecl, ty: Ty) {
        if ty == Ty::Samplerref && !self.independent {
            let text = "separate samplers need `.target ..., texmode_independent`";
            let target = &self.target_name;
            let help = format!("write `{target}, texmode_independent` in place of `{target}`");
            self.report(errors::variable(decl.ty.span, text, "5.3", &help));
        }
    }

    /// Checks an instruction on textures or surfaces beyond its syntax.
    pub(super) fn texture(&self, typed: &hir::Instr, opcode_span: Span, errors: &mut Vec<Diagnostic>) {
        let entry = typed.entry;
        let Some((parts, span)) = parts_of(typed) else { return };
        if fetches(typed.opcode) && self.independent && parts.len() < 3 {
            errors.push(errors::lacks_sampler(span, entry.section));
        }
        if parts.len() == 3 && !self.independent && misread(typed) {
            errors.push(errors::sampler_without_mode(span, entry.section));
        }
        if typed.opcode == op::txq
            && typed.has(q::force_unnormalized_coords)
            && !self.independent
            && !matches!(parts.first(), Some(Operand::Reg(..)))
        {
            errors.push(errors::query_without_mode(opcode_span, entry.section));
        }
        if let Some(d) = typed.operands.first()
            && let Operand::Vector(list) = &d.value
            && all_sinks(list)
        {
            errors.push(errors::no_element_of_result(d.span, entry.section));
        }
        if typed.has(q::f16x2)
            && let Some(d) = typed.operands.first()
            && let Operand::Vector(list) = first_of(&d.value)
            && has_sink(list)
        {
            errors.push(errors::sink_in_halves(d.span, entry.section));
        }
        if let Some(d) = typed.operands.first()
            && let Operand::Pair(..) = d.value
            && let what = format_args!("the predicate of a fetch")
            && let Some(d) = self.gate(d.span, what, ptx(7, 1), sm(60), entry.section)
        {
            errors.push(d);
        }
        if matches!(parts.first(), Some(Operand::Reg(..)))
            && let since = if self.independent && typed.family == "texture" { ptx(4, 3) } else { ptx(3, 1) }
            && let what = format_args!("`{}` through a register", entry.opcode)
            && let Some(d) = self.gate(span, what, since, sm(20), entry.section)
        {
            errors.push(d);
        }
    }
}

/// Does it fetch from a texture?
pub(super) fn fetches(opcode: Opcode) -> bool {
    matches!(opcode, op::tex | op::tex_base | op::tex_level | op::tex_grad | op::tld4)
}

/// Without separate samplers, ptxas accepts one in some geometries only, and in others misreads what follows it.
fn misread(typed: &hir::Instr) -> bool {
    match typed.opcode {
        op::tex_level => {
            typed.has_any(&[q::_3d, q::a1d, q::a2d, q::acube])
                || typed.operand("e").is_some() && typed.operand("f").is_none()
        }
        op::tex_grad => !typed.has_any(&[q::_1d, q::_2d]) || typed.operand("f").is_some(),
        op::tex | op::tex_base | op::tld4 => !typed.has_any(&[q::_1d, q::_2d, q::_3d]),
        _ => false,
    }
}

/// The first one of a pair.
fn first_of(value: &Operand) -> &Operand {
    match value {
        Operand::Pair(first, _) => first,
        value => value,
    }
}

/// The question about samplers.
const SAMPLER_QUERIES: &[Qualifier] =
    &[q::force_unnormalized_coords, q::filter_mode, q::addr_mode_0, q::addr_mode_1, q::addr_mode_2];

fn per_geometry(span: Span, name: &str, geometry: &str, need: usize, have: usize, section: &str) -> Diagnostic {
    errors::elements_of_geometry(span, name, geometry, need, have, section)
}
