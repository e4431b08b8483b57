//! `mma` and `mma.sp`: products of matrices in the registers of a warp (PTX ISA 9.7.14.5.14, 9.7.14.6.3).

mod exact;
mod form;
mod quads;

use super::matrix::dot::{self, HIGH, Operands, Scales, WIDE, canonical};
use super::matrix::format::Format;
use super::matrix::fragment::{self, Cells, Rows};
use super::matrix::model::{self, Model, To};
use super::matrix::sparse::{Elements, Metadata};
use super::matrix::tile::{Tile, every_second_pair};
use super::matrix::{block_scale, plain};
use crate::fault::Fault;
use crate::kernel::Flow;
use crate::qual::{Q, q};
use crate::simd::InstructionSet;
use crate::{Ctx, Lanes, Monitor};
use form::{Form, Kind};

type Blocks = Result<Flow, Box<Fault>>;

/// `mma d, a, b, c`, and with block scaling the factors of A, their byte and thread, and those of B.
pub fn mma<M: Monitor>(x: &mut Ctx<'_, M>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Blocks {
    multiply(x, q, s, d, false)
}

/// `mma.sp d, a, b, c, e, f`: as [`mma`]; `e` and `f` are the metadata and their selector.
pub fn mma_sp<M: Monitor>(x: &mut Ctx<'_, M>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Blocks {
    multiply(x, q, s, d, true)
}

fn multiply<M: Monitor>(x: &mut Ctx<'_, M>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes], sparse: bool) -> Blocks {
    if let Some(wait) = x.whole_warp(if sparse { "mma.sp" } else { "mma" })? {
        return Ok(Flow::Wait(wait));
    }
    let form = Form::of(q, sparse);
    if d.len() != form.registers_of_c() {
        // `_`: the result is not wanted
        return Ok(Flow::Next);
    }
    let target = model::generation(x.geometry.info.target);
    match form.kind {
        Kind::Quads => quads::multiply(q, s, d, target, x.set),
        Kind::Double => exact::double(&form, q, s, d),
        Kind::Bits => exact::bits(&form, q, s, d),
        _ => {
            let product = Product::new(&form, q, s, target, x.set).map_err(|kind| x.fault(kind, 0))?;
            product.run(d);
        }
    }
    Ok(Flow::Next)
}

/// A product of numbers that f32 holds.
struct Product<'a> {
    form: &'a Form,
    target: u32,
    set: InstructionSet,
    /// Numbers for `.kind::f8f6f4` or block scaling.
    new_kind: bool,
    saturate: bool,
    a: Tile<HIGH>,
    b: Tile<WIDE>,
    c: Rows<u32>,
    positions: Option<Vec<[u8; HIGH]>>,
    scales: Option<block_scale::Factors>,
}

impl<'a> Product<'a> {
    fn new(
        form: &'a Form,
        q: Q,
        s: &[&Lanes],
        target: u32,
        set: InstructionSet,
    ) -> Result<Product<'a>, crate::fault::FaultKind> {
        let (of_a, rest) = s.split_at(form.registers_of_a().min(s.len()));
        let (of_b, rest) = rest.split_at(form.registers_of_b().min(rest.len()));
        let (of_c, rest) = rest.split_at(form.registers_of_c().min(rest.len()));
        let stored = form.stored_k();
        let (mut positions, mut rest) = (None, rest);
        if let ([register, selector, more @ ..], true) = (rest, form.sparse) {
            let metadata = Metadata {
                register,
                selector: selector[0] as usize,
                ordered: q.has(q::ordered_metadata),
                section: "9.7.14.6.1",
            };
            let elements = Elements::of(form.formats[0], form.packed);
            positions = Some(metadata.positions(elements, form.is_wide(), stored)?);
            rest = more;
        }
        Ok(Product {
            form,
            target,
            set,
            new_kind: q.has(q::kind_f8f6f4) || form.scale.is_some(),
            saturate: q.has(q::satfinite),
            a: fragment::a(form.m, stored, form.packing(0), of_a),
            b: fragment::b(form.k, form.packing(1), of_b),
            c: form.cells.load(of_c),
            positions,
            scales: form.scale.map(|scale| block_scale::Factors::of_registers(scale, rest)),
        })
    }

    fn operands(&self) -> Operands<'_> {
        let scales = self.scales.as_ref().map(|f| Scales { vector: f.vector, a: &f.exponents[0], b: &f.exponents[1] });
        Operands { a: &self.a, b: &self.b, positions: self.positions.as_deref(), scales }
    }

    fn run(mut self, d: &mut [&mut Lanes]) {
        let rows = match self.form.kind {
            Kind::Integers => self.integers(),
            _ if self.form.formats[0].bits() <= 8 && !self.new_kind && (90..120).contains(&self.target) => {
                self.by_halves()
            }
            _ => self.floats(),
        };
        self.form.cells.store(&rows, d);
    }

    /// Exact sums, which wrap or saturate.
    fn integers(&self) -> Rows<u32> {
        let mut rows = self.c;
        for (i, c) in rows.iter_mut().enumerate().take(self.form.m / HIGH) {
            let sums = plain::block(&self.operands(), i, 0);
            for (c, sum) in c.as_flattened_mut().iter_mut().zip(sums.as_flattened()) {
                let (old, sum) = (*c as i32, *sum as i32);
                *c = if self.saturate { old.saturating_add(sum) } else { old.wrapping_add(sum) } as u32;
            }
        }
        rows
    }

    fn floats(&mut self) -> Rows<u32> {
        let form = self.form;
        self.a.measure(model::least_exponent(form.formats[0]));
        self.b.measure(model::least_exponent(form.formats[1]));
        let to = if form.cells == Cells::Half { To::F16 } else { To::F32 };
        let mut rows = form.cells.floats(self.c);
        let model = if self.new_kind { Model::tcgen05(to) } else { Model::mma(self.target, form.formats[0], to) };
        let operands = self.operands();
        for (i, c) in rows.iter_mut().enumerate().take(form.m / HIGH) {
            *c = match &self.scales {
                Some(factors) if form.packed => block_scale::block(&operands, factors, (i, 0), c),
                _ => dot::block(self.set, model, &operands, (i, 0), c),
            };
        }
        form.cells.bits(rows)
    }

    /// Elements of 8 bits on targets whose `mma` has none: ptxas widens both halves of each register to f16, multiplies twice, and adds
    /// C at the end.
    fn by_halves(&mut self) -> Rows<u32> {
        let form = self.form;
        let to = if form.cells == Cells::Half { To::F16 } else { To::F32 };
        let model = Model::mma(self.target, Format::F16, to);
        let mut rows: Rows = Default::default();
        for half in [0, 2] {
            let pairs = self.positions.as_ref().map(|p| every_second_pair(p, half));
            let mut a = self.a.every_second_pair(half);
            let mut b = if pairs.is_some() { self.b.clone() } else { self.b.every_second_pair(half) };
            a.measure(model::least_exponent(Format::F16));
            b.measure(model::least_exponent(Format::F16));
            let operands = Operands { a: &a, b: &b, positions: pairs.as_deref(), scales: None };
            for (i, c) in rows.iter_mut().enumerate().take(form.m / HIGH) {
                *c = dot::block(self.set, model, &operands, (i, 0), c);
            }
        }
        let c = form.cells.floats(self.c);
        for (sum, c) in rows.as_flattened_mut().as_flattened_mut().iter_mut().zip(c.as_flattened().as_flattened()) {
            *sum = canonical(*sum + c);
        }
        form.cells.bits(rows)
    }
}

semantics! {
    block "mma" => mma,
    block "mma.sp" => mma_sp,
}
