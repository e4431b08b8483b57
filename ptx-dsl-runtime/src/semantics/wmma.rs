//! `wmma`: matrices of a warp in fragments whose layout the manual leaves open (PTX ISA 9.7.14.4).
//!
//! Here a fragment is the fragments of [`mma`](super::mma) tile by tile, 16 (or 8) rows and eight columns each. A and B of f16 have
//! eight registers in every shape: the elements are there again until those are full.

use super::matrix::arithmetic::Machine;
use super::mma::form::{FactorKind, MmaForm};
use super::mma::{Sources, fragments};
use super::{same, set, space};
use crate::fault::Fault;
use crate::kernel::Flow;
use crate::machine::Ctx;
use crate::memory::address::AddrSpace;
use crate::numerics::float16::{f16_to_f32, f32_to_f16};
use crate::numerics::lanes::Lanes;
use crate::numerics::lanes::{Destination, Source};
use crate::numerics::matrix::format::Format;
use crate::numerics::matrix::fragment::{Cells, of_a, of_b, of_c};
use crate::numerics::qual::{Q, Qualifier, q};
use crate::semantics::Blocks;

/// Rows, columns, depth.
const SHAPES: &[(Qualifier, [usize; 3])] = &[
    (q::m16n16k16, [16, 16, 16]),
    (q::m8n32k16, [8, 32, 16]),
    (q::m32n8k16, [32, 8, 16]),
    (q::m16n16k8, [16, 16, 8]),
    (q::m8n8k4, [8, 8, 4]),
    (q::m8n8k32, [8, 8, 32]),
    (q::m8n8k128, [8, 8, 128]),
];

fn shape(q: Q) -> [usize; 3] {
    SHAPES.iter().find(|s| q.has(s.0)).unwrap_or(&SHAPES[0]).1
}

/// The operand that a matrix is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WmmaMatrix {
    A,
    B,
    /// C or D.
    C,
}

/// The layout of a matrix in registers and in memory.
#[derive(Debug, Clone, Copy)]
struct Fragment {
    matrix: WmmaMatrix,
    rows: usize,
    columns: usize,
    /// Bits of an element.
    bits: usize,
    /// Elements of a register.
    per: usize,
    /// Registers of a tile, and tiles.
    each: usize,
    tiles: usize,
}

impl Fragment {
    fn new(matrix: WmmaMatrix, q: Q) -> Fragment {
        let [m, n, k] = shape(q);
        let tile = m.min(16);
        let bits = if q.has(q::b1) {
            1
        } else if q.has(q::s4) || q.has(q::u4) {
            4
        } else {
            // tf32 in 32 bits
            q.ty[0].bits().next_power_of_two() as usize
        };
        let (rows, columns, tiles, lines) = match matrix {
            WmmaMatrix::A => (m, k, m / tile, tile),
            WmmaMatrix::B => (k, n, n / 8, 8),
            WmmaMatrix::C => (m, n, m / tile * (n / 8), tile),
        };
        let depth = if matrix == WmmaMatrix::C { 8 } else { k };
        let per = (32 / bits).max(1);
        Fragment { matrix, rows, columns, bits, per, each: (lines * depth / 32 / per).max(1), tiles }
    }

    /// Row and column of element `i` of register `r` of a lane.
    fn element(&self, r: usize, lane: usize, i: usize) -> (usize, usize) {
        let (tile, r) = (r / self.each % self.tiles, r % self.each);
        match self.matrix {
            WmmaMatrix::A => {
                let (row, k) = of_a(self.rows.min(16), r, lane, self.per);
                (tile * 16 + row, k + i)
            }
            WmmaMatrix::B => {
                let (column, k) = of_b(r, lane, self.per);
                (k + i, tile * 8 + column)
            }
            // of several tiles one is beside or below the other
            WmmaMatrix::C => {
                let (row, column) = of_c(r * self.per + i, lane);
                if self.columns > 8 { (row, tile * 8 + column) } else { (tile * 16 + row, column) }
            }
        }
    }
}

/// A matrix in memory, from the operands: row by row (or column by column), with this many elements from one to the next.
struct MatrixPlace {
    space: AddrSpace,
    base: u64,
    /// Bits from a line to the next.
    pitch: u64,
    lines: usize,
    /// Bits of a line.
    length: usize,
    by_column: bool,
}

impl MatrixPlace {
    fn of(x: &Ctx<'_>, q: Q, f: &Fragment, addr: &Lanes, stride: Option<&&Lanes>) -> Result<MatrixPlace, Box<Fault>> {
        let by_column = q.has(q::col);
        let (lines, along) = if by_column { (f.columns, f.rows) } else { (f.rows, f.columns) };
        let stride = match stride {
            Some(stride) => same(x, stride, 32, "`stride`")?,
            None => along as u64,
        };
        let base = same(x, addr, 64, "the address")?;
        Ok(MatrixPlace {
            space: space(q),
            base,
            pitch: stride * f.bits as u64,
            lines,
            length: along * f.bits,
            by_column,
        })
    }

    /// Addresses of the pieces of a line, and their size: 4 bytes if the line is aligned to that.
    fn pieces(&self, line: usize) -> (u64, u32) {
        let start = self.base.wrapping_add(line as u64 * self.pitch / 8);
        let bytes = if self.length.is_multiple_of(64) && self.pitch.is_multiple_of(64) && start.is_multiple_of(8) {
            8
        } else {
            4
        };
        (start, bytes)
    }

    /// Line and place on it.
    fn at(&self, (row, column): (usize, usize)) -> (usize, usize) {
        if self.by_column { (column, row) } else { (row, column) }
    }
}

/// `wmma.load r, [p], stride`.
fn load(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes], matrix: WmmaMatrix) -> Blocks {
    if let Some(wait) = x.tensor().whole_warp("wmma.load")? {
        return Ok(Flow::Wait(wait));
    }
    let f = Fragment::new(matrix, q);
    let place = MatrixPlace::of(x, q, &f, s[0], s.get(1))?;
    let mut lines = vec![0u8; place.lines * place.length / 8];
    for (number, line) in lines.chunks_mut(place.length / 8).enumerate() {
        let (start, bytes) = place.pieces(number);
        for (i, piece) in line.chunks_mut(bytes as usize).enumerate() {
            let word = x.read(place.space, start.wrapping_add(i as u64 * u64::from(bytes)), bytes, number as u32)?[0];
            piece.copy_from_slice(&word.to_le_bytes()[..piece.len()]);
        }
    }
    for r in 0..d.len() {
        for lane in 0..32 {
            let mut word = 0;
            for i in 0..f.per {
                let (line, along) = place.at(f.element(r, lane, i));
                let bit = line * place.length + along * f.bits;
                let bytes = lines.get(bit / 8..).unwrap_or(&[]).iter().take(f.bits.div_ceil(8));
                let value = bytes.rev().fold(0, |v, b| v << 8 | u64::from(*b)) >> (bit % 8);
                word |= (value & (u64::MAX >> (64 - f.bits))) << (i * f.bits);
            }
            set(d, r, lane, word);
        }
    }
    Ok(Flow::Next)
}

/// `wmma.load.a r, [p], stride`: all threads give one address and one stride, in elements.
pub fn wmma_load_a(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Blocks {
    load(x, q, s, d, WmmaMatrix::A)
}

/// `wmma.load.b`: see [`wmma_load_a`].
pub fn wmma_load_b(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Blocks {
    load(x, q, s, d, WmmaMatrix::B)
}

/// `wmma.load.c`: see [`wmma_load_a`].
pub fn wmma_load_c(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Blocks {
    load(x, q, s, d, WmmaMatrix::C)
}

/// `wmma.store.d [p], r, stride`.
pub fn wmma_store_d(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Blocks {
    if let Some(wait) = x.tensor().whole_warp("wmma.store")? {
        return Ok(Flow::Wait(wait));
    }
    let f = Fragment::new(WmmaMatrix::C, q);
    let Some((addr, rest)) = s.split_first() else { return Ok(Flow::Next) };
    let (registers, stride) = rest.split_at((f.each * f.tiles).min(rest.len()));
    let place = MatrixPlace::of(x, q, &f, addr, stride.first())?;
    let mut lines = vec![0u8; place.lines * place.length / 8];
    for (r, register) in registers.iter().enumerate() {
        for (lane, word) in register.iter().enumerate() {
            for i in 0..f.per {
                let (line, along) = place.at(f.element(r, lane, i));
                let at = (line * place.length + along * f.bits) / 8;
                let value = (word >> (i * f.bits)).to_le_bytes();
                lines.iter_mut().skip(at).zip(&value[..f.bits / 8]).for_each(|(to, from)| *to = *from);
            }
        }
    }
    for (number, line) in lines.chunks(place.length / 8).enumerate() {
        let (start, bytes) = place.pieces(number);
        for (i, piece) in line.chunks(bytes as usize).enumerate() {
            let word = piece.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b));
            let addr = start.wrapping_add(i as u64 * u64::from(bytes));
            x.write(place.space, addr, bytes, [word, 0, 0, 0], number as u32)?;
        }
    }
    Ok(Flow::Next)
}

/// `wmma.mma d, a, b, c`: the tiles of D one after the other, each as an `mma`.
pub fn wmma_mma(x: &mut Ctx<'_>, q: Q, s: &[Source<'_>], d: &mut [Destination<'_>]) -> Blocks {
    if let Some(wait) = x.tensor().whole_warp("wmma.mma")? {
        return Ok(Flow::Wait(wait));
    }
    if d.is_empty() {
        // `_`: the result is not wanted
        return Ok(Flow::Next);
    }
    let [m, n, k] = shape(q);
    let mut form = MmaForm::with_shape(q, false, m.min(16), k);
    if form.formats[0] == Format::Tf32 {
        // ptxas makes two products of half the depth
        form.step = 4;
    }
    let (high, wide) = (m / form.m, n / 8);
    let doubled = form.kind == FactorKind::Floats && form.formats[0] == Format::F16;
    let of = |registers: usize, tiles: usize| if doubled { 8 } else { registers * tiles };
    let (of_a, of_b) = (form.registers_of_a(), form.registers_of_b());
    let (a, rest) = s.split_at(of(of_a, high).min(s.len()));
    let (b, c) = rest.split_at(of(of_b, wide).min(rest.len()));
    let of_c = c.len() / (high * wide);
    let of_d = d.len() / (high * wide);
    let machine = Machine::of(x);
    for (tile, d) in d.chunks_mut(of_d.max(1)).enumerate().take(high * wide) {
        let part = |all: &[Source<'_>], of: usize, i: usize| -> std::ops::Range<usize> {
            (i * of).min(all.len())..((i + 1) * of).min(all.len())
        };
        let sources = Sources {
            a: &a[part(a, of_a, if high > 1 { tile } else { 0 })],
            b: &b[part(b, of_b, if high > 1 { 0 } else { tile })],
            c: &c[part(c, of_c, tile)],
            rest: &[],
        };
        fragments(&form, q, machine, sources, d).map_err(|kind| x.fault(kind, 0))?;
        if q.has(q::satfinite) && form.kind == FactorKind::Floats {
            saturate(form.cells[0], d);
        }
    }
    Ok(Flow::Next)
}

/// `.satfinite` of floating-point numbers, before PTX 6.5: the largest number in place of infinity, and 0 in place of NaN.
fn saturate(cells: Cells, d: &mut [Destination<'_>]) {
    let clamp = |v: f32, most: f32| if v.is_nan() { 0.0 } else { v.clamp(-most, most) };
    for d in d.iter_mut() {
        for lane in 0..32 {
            let word = d.lane(lane) as u32;
            let clamped = match cells {
                Cells::Word => clamp(f32::from_bits(word), f32::MAX).to_bits(),
                Cells::Half => [0, 16].iter().fold(0, |all, shift| {
                    let v = clamp(f16_to_f32((word >> shift) as u16), 65504.0);
                    all | u32::from(f32_to_f16(v)) << shift
                }),
            };
            d.set(lane, clamped.into());
        }
    }
}

semantics! {
    block "wmma.load.a" => wmma_load_a,
    block "wmma.load.b" => wmma_load_b,
    block "wmma.load.c" => wmma_load_c,
    registers "wmma.mma" => wmma_mma,
    block "wmma.store.d" => wmma_store_d,
}
