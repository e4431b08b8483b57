//! `mma` and `mma.sp`: products of matrices in the registers of a warp (PTX ISA 9.7.14.5.14, 9.7.14.6.3).

mod direct;
mod exact;
pub(crate) mod form;
mod quads;

use super::matrix::arithmetic::{Arithmetic, Machine};
use super::matrix::sparse::{Metadata, SparseElements};
use crate::fault::FaultKind;
use crate::kernel::Flow;
use crate::machine::Ctx;
use crate::numerics::accumulation::Numerics;
use crate::numerics::lanes::{Destination, Source};
use crate::numerics::matrix::block_scale;
use crate::numerics::matrix::dot::{self, HIGH, Operands, Scales, Sums, WIDE, canonical};
use crate::numerics::matrix::format::Format;
use crate::numerics::matrix::fragment::{self, FragmentRows};
use crate::numerics::matrix::model::{self, Model};
use crate::numerics::matrix::tile::{Tile, every_second_pair};
use crate::numerics::qual::{Q, q};
use crate::semantics::Blocks;
use form::{FactorKind, MmaForm};

/// `mma d, a, b, c`, and with block scaling the factors of A, their byte and thread, and those of B.
pub fn mma(x: &mut Ctx<'_>, q: Q, s: &[Source<'_>], d: &mut [Destination<'_>]) -> Blocks {
    multiply(x, q, s, d, false)
}

/// `mma.sp d, a, b, c, e, f`: as [`mma`]; `e` and `f` are the metadata and their selector.
pub fn mma_sp(x: &mut Ctx<'_>, q: Q, s: &[Source<'_>], d: &mut [Destination<'_>]) -> Blocks {
    multiply(x, q, s, d, true)
}

fn multiply(x: &mut Ctx<'_>, q: Q, s: &[Source<'_>], d: &mut [Destination<'_>], sparse: bool) -> Blocks {
    if let Some(wait) = x.tensor().whole_warp(if sparse { "mma.sp" } else { "mma" })? {
        return Ok(Flow::Wait(wait));
    }
    let form = MmaForm::of(q, sparse);
    let (a, s) = s.split_at(form.registers_of_a().min(s.len()));
    let (b, s) = s.split_at(form.registers_of_b().min(s.len()));
    let (c, rest) = s.split_at(form.registers_of_c().min(s.len()));
    fragments(&form, q, Machine::of(x), Sources { a, b, c, rest }, d).map_err(|kind| x.fault(kind, 0))?;
    Ok(Flow::Next)
}

/// Registers of A, B and C, and what follows.
#[derive(Clone, Copy)]
pub(super) struct Sources<'a> {
    pub a: &'a [Source<'a>],
    pub b: &'a [Source<'a>],
    pub c: &'a [Source<'a>],
    pub rest: &'a [Source<'a>],
}

/// The product of a warp's fragments. `d` is empty if the result is not wanted.
pub(super) fn fragments(
    form: &MmaForm,
    q: Q,
    machine: Machine,
    s: Sources<'_>,
    d: &mut [Destination<'_>],
) -> Result<(), FaultKind> {
    if d.is_empty() {
        return Ok(());
    }
    match form.kind {
        FactorKind::Quads => quads::multiply(q, s, d, machine),
        FactorKind::Double => exact::double(form, q, s, d),
        FactorKind::Bits => exact::bits(form, q, s, d),
        FactorKind::Floats | FactorKind::Integers => {
            let sum = direct_sum(form, q, machine);
            let spare = direct::spare(&s);
            if let Some(job) = sum.and_then(|sum| direct::Job::new(form, &s, &spare, sum))
                && direct::multiply(machine.set, &job, d)
            {
                return Ok(());
            }
            let product = MmaProduct::new(form, q, machine, s)?;
            let rows = if product.is_halved() { product.by_halves() } else { product.run() };
            form.cells[0].store(&rows, d);
        }
    }
    Ok(())
}

/// The arithmetic of a product without block scaling; `None` for kinds that mix formats.
fn direct_sum(form: &MmaForm, q: Q, machine: Machine) -> Option<direct::Sum> {
    let to = Arithmetic::to(form.cells);
    match form.kind {
        FactorKind::Integers => Some(direct::Sum::Integers { saturate: q.has(q::satfinite) }),
        _ if q.has(q::kind_f8f6f4) => None,
        _ if machine.numerics == Numerics::Fast => Some(direct::Sum::Plain),
        _ if is_halved(form, machine) => Some(direct::Sum::Halves(Model::mma(machine.target, Format::F16, to))),
        _ => {
            let model = Model::mma(machine.target, form.formats[0], to);
            Some(direct::Sum::Fused(Model { step: model.step.min(form.step), ..model }))
        }
    }
}

/// Elements of 8 bits on a target whose tensor cores have none in `mma`, and exact sums?
fn is_halved(form: &MmaForm, machine: Machine) -> bool {
    let small = form.kind == FactorKind::Floats && form.formats[0].bits() <= 8;
    small && machine.numerics == Numerics::Exact && (90..120).contains(&machine.target)
}

/// A product of numbers that f32 holds.
struct MmaProduct<'a> {
    form: &'a MmaForm,
    machine: Machine,
    /// Numbers for `.kind::f8f6f4` or block scaling.
    new_kind: bool,
    saturate: bool,
    a: Tile<HIGH>,
    b: Tile<WIDE>,
    c: FragmentRows,
    positions: Option<Vec<[u8; HIGH]>>,
    scales: Option<block_scale::ScaleFactors>,
}

impl<'a> MmaProduct<'a> {
    fn new(form: &'a MmaForm, q: Q, machine: Machine, s: Sources<'_>) -> Result<MmaProduct<'a>, FaultKind> {
        let stored = form.stored_k();
        let (mut positions, mut rest) = (None, s.rest);
        if let ([register, selector, more @ ..], true) = (rest, form.sparse) {
            let metadata = Metadata {
                register: *register,
                selector: selector.lane(0) as usize,
                ordered: q.has(q::ordered_metadata),
                section: "9.7.14.6.1",
            };
            let elements = SparseElements::of(form.formats[0], form.packed);
            positions = Some(metadata.positions(elements, form.is_wide(), stored)?);
            rest = more;
        }
        let mut a = fragment::a(form.m, stored, form.packing(0), s.a);
        let mut b = fragment::b(form.k, form.packing(1), s.b);
        // ordinary sums need no exponents
        if form.kind == FactorKind::Floats && machine.numerics == Numerics::Exact {
            a.measure(model::least_exponent(form.formats[0]));
            b.measure(model::least_exponent(form.formats[1]));
        }
        Ok(MmaProduct {
            form,
            machine,
            new_kind: q.has(q::kind_f8f6f4) || form.scale.is_some(),
            saturate: q.has(q::satfinite),
            a,
            b,
            c: form.cells[1].load(s.c),
            positions,
            scales: form.scale.map(|scale| block_scale::ScaleFactors::of_registers(scale, rest)),
        })
    }

    fn run(&self) -> FragmentRows {
        let form = self.form;
        let to = Arithmetic::to(form.cells);
        let arithmetic = match &self.scales {
            _ if form.kind == FactorKind::Integers => Arithmetic::Integers { saturate: self.saturate },
            factors if self.machine.numerics == Numerics::Fast => Arithmetic::Plain(factors.as_ref()),
            Some(factors) if form.packed => Arithmetic::Scaled(factors),
            _ if self.new_kind => Arithmetic::Fused(Model::tcgen05(to)),
            _ => {
                let model = Model::mma(self.machine.target, form.formats[0], to);
                Arithmetic::Fused(Model { step: model.step.min(form.step), ..model })
            }
        };
        let scales = self.scales.as_ref().map(|f| Scales { vector: f.vector, a: &f.exponents[0], b: &f.exponents[1] });
        let operands = Operands { a: &self.a, b: &self.b, positions: self.positions.as_deref(), scales };
        let mut rows = self.c;
        for (i, c) in rows.iter_mut().enumerate().take(form.m / HIGH) {
            *c = arithmetic.block(self.machine.set, &operands, (i, 0), c, form.cells);
        }
        rows
    }

    fn is_halved(&self) -> bool {
        !self.new_kind && is_halved(self.form, self.machine)
    }

    /// Computes the product as ptxas emulates it: widens both halves of each register to f16, multiplies twice, and adds C at the
    /// end.
    fn by_halves(&self) -> FragmentRows {
        let form = self.form;
        let model = Model::mma(self.machine.target, Format::F16, Arithmetic::to(form.cells));
        let mut sums = [Sums::default(); 4];
        for half in [0, 2] {
            let pairs = self.positions.as_ref().map(|p| every_second_pair(p, half));
            let mut a = self.a.every_second_pair(half);
            let mut b = if pairs.is_some() { self.b.clone() } else { self.b.every_second_pair(half) };
            a.measure(model::least_exponent(Format::F16));
            b.measure(model::least_exponent(Format::F16));
            let operands = Operands { a: &a, b: &b, positions: pairs.as_deref(), scales: None };
            for (i, sums) in sums.iter_mut().enumerate().take(form.m / HIGH) {
                *sums = dot::block(self.machine.set, model, &operands, (i, 0), sums);
            }
        }
        let mut rows = self.c;
        for (row, sums) in rows.iter_mut().zip(&mut sums) {
            let c = form.cells[1].floats(row);
            for (sum, c) in sums.as_flattened_mut().iter_mut().zip(c.as_flattened()) {
                *sum = canonical(*sum + c);
            }
            *row = form.cells[0].bits(sums);
        }
        rows
    }
}

semantics! {
    registers "mma" => mma,
    registers "mma.sp" => mma_sp,
}
