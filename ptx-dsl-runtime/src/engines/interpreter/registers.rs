//! The registers of a CTA: a row of 32 lanes for each warp, or a scalar for a cohort.
//!
//! Each warp has a scalar or a mark for each register. Those of the first warp of a cohort hold for all its warps. They are copied to
//! the others when one of them runs in another cohort. Warps of a cohort that hold different scalars get rows when its next step begins.

use super::kinds::Kinds;
pub(super) use super::kinds::RegisterKind;
use super::loaded::PendingRegisters;
use super::watched::UndefinedRegisters;
use crate::machine::geometry::Geometry;
use crate::numerics::lanes::Lanes;
use crate::numerics::lanes::Words;
use ptx_dsl_isa::image::{Image, Register};
use std::cell::Cell;
use std::ops::Range;
use std::rc::Rc;

/// The lanes of a warp. Rows begin where cache lines do.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(align(64))]
pub(super) struct Row<T>(pub [T; 32]);

/// The value of a register in a cohort.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scalar {
    /// Different values, which are in rows.
    Rows,
    /// One value that all lanes hold.
    Uniform(u64),
    /// `base + x * %tid.x + y * row`, modulo the width of the register, where `row` is the thread's number divided by `%ntid.x`.
    Affine { base: u64, x: i64, y: i64 },
}

impl Scalar {
    #[inline(always)]
    pub fn kind(&self) -> RegisterKind {
        match self {
            Scalar::Rows => RegisterKind::Rows,
            Scalar::Uniform(_) => RegisterKind::Uniform,
            Scalar::Affine { .. } => RegisterKind::Affine,
        }
    }

    /// A uniform value has strides of 0.
    #[inline(always)]
    pub fn line(&self) -> AffineLine {
        match *self {
            Scalar::Rows => (0, 0, 0),
            Scalar::Uniform(v) => (v, 0, 0),
            Scalar::Affine { base, x, y } => (base, x, y),
        }
    }
}

/// Room for operands and results of an instruction that has many.
#[derive(Debug, Clone, Default)]
pub(super) struct Room {
    pub words: Vec<Words>,
    pub lanes: Vec<Lanes>,
}

/// An affine value: base and strides.
pub(super) type AffineLine = (u64, i64, i64);

/// The place of the rows of a register.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    /// Width: 1, 8, 16, 32, 64.
    pub bits: u32,
    /// The number of the register among those of its kind: masks, words of up to 32 bits, longs.
    pub index: u32,
}

impl Slot {
    /// The low bits of a value that the register holds.
    #[inline(always)]
    pub fn truncated(self, value: u64) -> u64 {
        value & (u64::MAX >> (64 - self.bits))
    }
}

/// The lanes of a row of words. A loop: LLVM does not vectorise `map` on an array.
#[inline(always)]
pub(super) fn widened(row: &[u32; 32]) -> Lanes {
    let mut wide = [0; 32];
    for (to, v) in wide.iter_mut().zip(row) {
        *to = u64::from(*v);
    }
    wide
}

/// Local memory and saved registers of recursive calls, of one thread.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Stack {
    /// The offset of the variables of the running function from their places.
    pub frame: u64,
    /// Bytes of frames.
    pub used: u64,
    pub saved: Vec<u64>,
}

/// Rows for each warp after the registers: for operands that are no rows, four, and for a result that nothing needs.
pub(super) const SCRATCH: usize = 5;

/// Rows of constants, after the scratch rows.
#[derive(Default)]
pub(super) struct Constants {
    pub words: Vec<u32>,
    pub longs: Vec<u64>,
}

/// The scalars of a cohort, by register.
pub(super) struct Own<'r> {
    pub bases: &'r mut [u64],
    pub xs: &'r mut [i64],
    pub ys: &'r mut [i64],
}

impl Own<'_> {
    /// Sets base and strides.
    #[inline(always)]
    pub fn set(&mut self, r: Register, (base, x, y): AffineLine) {
        let at = r as usize;
        (self.bases[at], self.xs[at], self.ys[at]) = (base, x, y);
    }
}

/// Scalars by warp and register. Each part has a list of its own: if a scalar were stored in parts and read as a whole, the processor
/// would wait for the stores.
#[derive(Debug, Clone)]
struct Scalars {
    bases: Vec<u64>,
    xs: Vec<i64>,
    ys: Vec<i64>,
}

impl Scalars {
    fn new(n: usize) -> Self {
        Scalars { bases: vec![0; n], xs: vec![0; n], ys: vec![0; n] }
    }

    /// Sets the first `n` registers to 0 where they are uniform.
    fn reset(&mut self, n: usize) {
        self.bases[..n].fill(0);
    }

    fn copy(&mut self, from: Range<usize>, to: usize) {
        self.bases.copy_within(from.clone(), to);
        self.xs.copy_within(from.clone(), to);
        self.ys.copy_within(from, to);
    }
}

/// The registers of a CTA.
#[derive(Debug, Clone)]
pub(super) struct Registers {
    /// Warps of the CTA.
    pub warps: usize,
    pub slots: Rc<[Slot]>,
    pub words: Vec<Cell<Row<u32>>>,
    pub longs: Vec<Cell<Row<u64>>>,
    pub masks: Vec<Cell<u32>>,
    /// The first scratch rows of predicates, words and longs. The rows of constants follow.
    pub scratch: [usize; 3],
    pub kinds: Kinds,
    scalars: Scalars,
    /// Between steps: all warps hold the scalars of the first one, whatever `leaders` says. They are not written for each CTA, because
    /// the next step would wait until the processor has stored them, after all that the CTA has stored.
    as_one: bool,
    /// All registers are 0.
    fresh: bool,
    /// The leader of each warp: the warp whose scalars it holds, itself or an earlier one.
    leaders: Vec<usize>,
    /// The stack of each thread; empty without recursion.
    pub stacks: Vec<Stack>,
    /// The undefined lanes of registers, if a monitor asks for them.
    pub undefined: Option<UndefinedRegisters>,
    /// The pending registers that `tcgen05.ld` writes and that `wgmma` reads, if a monitor asks for them.
    pub pending: [Option<PendingRegisters>; 2],
    /// `%tid.x` and the row of all threads, by warp.
    places: Rc<[(Row<u32>, Row<u32>)]>,
    /// `%ntid.x`, and the number of rows.
    pub shape: (u32, u32),
    pub room: Room,
}

impl Registers {
    pub fn new(image: &Image, geometry: &Geometry, constants: &Constants) -> Self {
        let warps = geometry.warps() as usize;
        let mut counts = [0; 3];
        let slots: Rc<[Slot]> = image
            .registers
            .iter()
            .map(|&bits| {
                let kind = match bits {
                    1 => 0,
                    64 => 2,
                    _ => 1,
                };
                let index = counts[kind];
                counts[kind] += 1;
                Slot { bits: u32::from(bits).clamp(1, 64), index }
            })
            .collect();
        let [masks, words, longs] = counts.map(|n| n as usize * warps);
        let nx = geometry.block[0].max(1);
        let places = (0..warps as u32).map(|w| {
            let of = |f: fn(u32, u32) -> u32| Row(std::array::from_fn(|l| f(w * 32 + l as u32, nx)));
            (of(|t, nx| t % nx), of(|t, nx| t / nx))
        });
        let threads = if image.saved.is_empty() { 0 } else { warps * 32 };
        let with_scratch = |n: usize| n + SCRATCH * warps;
        let mut word_rows = vec![Cell::new(Row([0; 32])); with_scratch(words)];
        word_rows.extend(constants.words.iter().map(|v| Cell::new(Row([*v; 32]))));
        let mut long_rows = vec![Cell::new(Row([0; 32])); with_scratch(longs)];
        long_rows.extend(constants.longs.iter().map(|v| Cell::new(Row([*v; 32]))));
        Registers {
            warps,
            scalars: Scalars::new(slots.len() * warps),
            kinds: Kinds::new(slots.len(), warps),
            slots,
            words: word_rows,
            longs: long_rows,
            masks: vec![Cell::new(0); with_scratch(masks)],
            scratch: [masks, words, longs],
            as_one: false,
            fresh: true,
            leaders: (0..warps).collect(),
            stacks: vec![Stack::default(); threads],
            undefined: None,
            pending: [None, None],
            places: places.collect(),
            shape: (nx, (warps as u32 * 32).div_ceil(nx)),
            room: Room::default(),
        }
    }

    /// Sets all registers to 0. The next step is one of all warps, which looks at those of the first alone.
    pub fn restart(&mut self) {
        let n = self.slots.len();
        self.scalars.reset(n);
        self.kinds.reset_first();
        self.as_one = true;
        self.stacks.fill(Stack::default());
        self.undefined.iter_mut().for_each(UndefinedRegisters::reset);
        self.pending.iter_mut().flatten().for_each(PendingRegisters::reset);
    }

    /// Sets all registers to 0.
    pub fn reset(&mut self) {
        self.scalars.reset(self.slots.len() * self.warps);
        self.kinds.reset();
        (self.as_one, self.fresh) = (false, true);
        (0..).zip(&mut self.leaders).for_each(|(w, leader)| *leader = w);
        self.stacks.fill(Stack::default());
        self.undefined.iter_mut().for_each(UndefinedRegisters::reset);
        self.pending.iter_mut().flatten().for_each(PendingRegisters::reset);
    }

    /// Has a load read what nothing has written, or a shuffle from a lane outside of its mask, so that registers are undefined now?
    #[inline(always)]
    pub fn has_undefined(&self) -> bool {
        self.undefined.as_ref().is_some_and(|undefined| undefined.spread)
    }

    #[inline(always)]
    pub fn slot(&self, r: Register) -> Slot {
        self.slots[r as usize]
    }

    /// The row of a register for a warp.
    #[inline(always)]
    pub fn row(&self, r: Register, w: usize) -> usize {
        self.slots[r as usize].index as usize * self.warps + w
    }

    /// The value of a register in the cohort that begins with warp `lo`.
    #[inline(always)]
    pub fn scalar(&self, lo: usize, r: Register) -> Scalar {
        match self.kinds.get(lo, r) {
            RegisterKind::Rows => Scalar::Rows,
            RegisterKind::Uniform => Scalar::Uniform(self.base(lo, r)),
            RegisterKind::Affine => {
                let (base, x, y) = self.line(lo, r);
                Scalar::Affine { base, x, y }
            }
        }
    }

    /// The value of a uniform register, and the base of an affine one.
    #[inline(always)]
    pub fn base(&self, lo: usize, r: Register) -> u64 {
        self.scalars.bases[lo * self.slots.len() + r as usize]
    }

    /// Base and strides of an affine register.
    #[inline(always)]
    pub fn line(&self, lo: usize, r: Register) -> AffineLine {
        let at = lo * self.slots.len() + r as usize;
        (self.scalars.bases[at], self.scalars.xs[at], self.scalars.ys[at])
    }

    /// The scalars of the cohort that begins with warp `lo`. Who changes one also sets its kind.
    #[inline(always)]
    pub fn own(&mut self, lo: usize) -> Own<'_> {
        // slices of one length: an index is compared once with that of all
        let n = self.slots.len();
        let (from, Scalars { bases, xs, ys }) = (lo * n, &mut self.scalars);
        Own { bases: &mut bases[from..][..n], xs: &mut xs[from..][..n], ys: &mut ys[from..][..n] }
    }

    #[inline(always)]
    pub fn set_scalar(&mut self, lo: usize, r: Register, scalar: Scalar) {
        let at = lo * self.slots.len() + r as usize;
        match scalar {
            Scalar::Rows => {}
            Scalar::Uniform(v) => self.scalars.bases[at] = v,
            Scalar::Affine { base, x, y } => {
                (self.scalars.bases[at], self.scalars.xs[at], self.scalars.ys[at]) = (base, x, y);
            }
        }
        self.kinds.set(lo, r, scalar.kind());
    }

    /// Does a register hold rows in the cohort that begins with warp `lo`?
    #[inline(always)]
    pub fn is_rows(&self, lo: usize, r: Register) -> bool {
        self.kinds.get(lo, r) == RegisterKind::Rows
    }

    /// A step of the warps `lo..hi` begins.
    pub fn begin(&mut self, lo: usize, hi: usize) {
        if std::mem::take(&mut self.as_one) | std::mem::take(&mut self.fresh) {
            if (lo, hi) == (0, self.warps) {
                self.as_one = true;
                return;
            }
            self.leaders.fill(0);
        }
        self.hand_over(lo, hi);
        let leader = self.leaders[lo];
        if leader != lo {
            self.copy_scalars(leader, lo);
        }
        if self.leaders[lo..hi].iter().any(|other| *other != leader) {
            self.merge(lo, hi, leader);
        }
        self.leaders[lo..hi].fill(lo);
    }

    /// Gives the scalars of these warps to a new leader among the other warps that hold them.
    fn hand_over(&mut self, lo: usize, hi: usize) {
        for w in hi..self.warps {
            let leader = self.leaders[w];
            if !(lo..hi).contains(&leader) {
                continue;
            }
            self.copy_scalars(leader, w);
            self.leaders[w..].iter_mut().filter(|other| **other == leader).for_each(|other| *other = w);
        }
    }

    /// Scalars that differ between these warps become rows. The first of them has those of `leader`.
    #[inline(never)]
    fn merge(&mut self, lo: usize, hi: usize, leader: usize) {
        let mut others: Vec<usize> = self.leaders[lo..hi].iter().copied().filter(|other| *other != leader).collect();
        others.dedup();
        for r in 0..self.slots.len() as Register {
            let first = self.scalar(lo, r);
            if others.iter().any(|other| self.scalar(*other, r) != first) {
                for w in lo..hi {
                    let leader = self.leaders[w];
                    self.spread(if leader == lo { first } else { self.scalar(leader, r) }, r, w);
                }
                self.set_scalar(lo, r, Scalar::Rows);
            }
        }
    }

    /// A warp gets the scalars of another.
    fn copy_scalars(&mut self, from: usize, to: usize) {
        let n = self.slots.len();
        self.scalars.copy(from * n..(from + 1) * n, to * n);
        self.kinds.copy(from, to);
    }

    /// Ends a step: all its warps hold the scalars of the first.
    pub fn end(&mut self, lo: usize, hi: usize) {
        self.as_one = (lo, hi) == (0, self.warps);
    }

    /// Between steps: a register in all lanes of a warp.
    pub fn lanes_of_warp(&self, r: Register, w: usize) -> Lanes {
        self.lanes(if self.as_one { 0 } else { self.leaders[w] }, r, w)
    }

    /// Writes a scalar to the row of a warp.
    pub fn spread(&self, scalar: Scalar, r: Register, w: usize) {
        let slot = self.slot(r);
        let at = slot.index as usize * self.warps + w;
        match (scalar, slot.bits) {
            (Scalar::Rows, _) => {}
            (Scalar::Uniform(v), 1) => self.masks[at].set(if v & 1 != 0 { u32::MAX } else { 0 }),
            (Scalar::Uniform(v), 64) => self.longs[at].set(Row([v; 32])),
            (Scalar::Uniform(v), _) => self.words[at].set(Row([v as u32; 32])),
            (Scalar::Affine { .. }, 64) => self.longs[at].set(self.affine_longs(scalar, w)),
            (Scalar::Affine { .. }, _) => self.words[at].set(self.affine_words(scalar, w)),
        }
    }

    /// A register in all lanes of a warp of the cohort that begins with warp `lo`.
    pub fn lanes(&self, lo: usize, r: Register, w: usize) -> Lanes {
        let slot = self.slot(r);
        let at = slot.index as usize * self.warps + w;
        match (self.scalar(lo, r), slot.bits) {
            (Scalar::Uniform(v), _) => [v; 32],
            (Scalar::Rows, 1) => {
                let m = self.masks[at].get();
                std::array::from_fn(|l| u64::from(m >> l & 1))
            }
            (Scalar::Rows, 64) => self.longs[at].get().0,
            (Scalar::Rows, _) => widened(&self.words[at].get().0),
            (affine, 64) => self.affine_longs(affine, w).0,
            (affine, _) => widened(&self.affine_words(affine, w).0),
        }
    }

    /// A predicate of a warp.
    #[inline(always)]
    pub fn mask(&self, lo: usize, r: Register, w: usize) -> u32 {
        match self.scalar(lo, r) {
            Scalar::Uniform(v) => (v as u32 & 1).wrapping_neg(),
            _ => self.masks[self.slot(r).index as usize * self.warps + w].get(),
        }
    }

    /// The value of one lane in the row of a warp.
    pub fn lane(&self, r: Register, w: usize, lane: usize) -> u64 {
        let slot = self.slot(r);
        let at = slot.index as usize * self.warps + w;
        match slot.bits {
            1 => u64::from(self.masks[at].get() >> lane & 1),
            64 => self.longs[at].get().0[lane],
            _ => self.words[at].get().0[lane].into(),
        }
    }

    /// Have the lanes of `m` this value in the row of a warp?
    pub fn is_in_lanes(&self, r: Register, w: usize, value: u64, m: u32) -> bool {
        fn all<T: Copy + PartialEq>(row: Row<T>, value: T, m: u32) -> bool {
            let differ = row.0.iter().enumerate().fold(0, |bits, (l, v)| bits | u32::from(*v != value) << l);
            differ & m == 0
        }
        let slot = self.slot(r);
        let at = slot.index as usize * self.warps + w;
        match slot.bits {
            1 => self.masks[at].get() & m == if value != 0 { m } else { 0 },
            64 => all(self.longs[at].get(), value, m),
            _ => all(self.words[at].get(), value as u32, m),
        }
    }

    /// Sets the lanes of `m` in the row of a warp.
    pub fn put(&self, r: Register, w: usize, v: &Lanes, m: u32) {
        let slot = self.slot(r);
        let at = slot.index as usize * self.warps + w;
        match slot.bits {
            1 => {
                let mut mask = self.masks[at].get();
                crate::numerics::lanes::put_mask(&mut mask, v, m);
                self.masks[at].set(mask);
            }
            64 => {
                let mut row = self.longs[at].get();
                crate::numerics::lanes::put_u64(&mut row.0, v, m);
                self.longs[at].set(row);
            }
            bits => {
                let mut row = self.words[at].get();
                let low = u32::MAX >> (32 - bits);
                crate::numerics::lanes::lanes(m, |l| row.0[l] = v[l] as u32 & low);
                self.words[at].set(row);
            }
        }
    }

    /// The lanes of a warp of an affine value.
    pub fn affine_words(&self, scalar: Scalar, w: usize) -> Row<u32> {
        let Scalar::Affine { base, x, y } = scalar else { return Row([0; 32]) };
        let (xs, ys) = &self.places[w];
        let (base, x, y) = (base as u32, x as u32, y as u32);
        let mut row = Row([0; 32]);
        for l in 0..32 {
            row.0[l] = base.wrapping_add(x.wrapping_mul(xs.0[l])).wrapping_add(y.wrapping_mul(ys.0[l]));
        }
        row
    }

    /// The lanes of a warp of an affine value of 64 bits.
    pub fn affine_longs(&self, scalar: Scalar, w: usize) -> Row<u64> {
        let Scalar::Affine { base, x, y } = scalar else { return Row([0; 32]) };
        let (xs, ys) = &self.places[w];
        let mut row = Row([0; 32]);
        for l in 0..32 {
            let (dx, dy) = ((x as u64).wrapping_mul(xs.0[l].into()), (y as u64).wrapping_mul(ys.0[l].into()));
            row.0[l] = base.wrapping_add(dx).wrapping_add(dy);
        }
        row
    }

    /// The values of all registers of a warp, to be compared with earlier values.
    pub fn values_of_warp(&self, w: usize) -> Vec<u64> {
        let mut values: Vec<u64> = (0..self.slots.len() as Register).flat_map(|r| self.lanes_of_warp(r, w)).collect();
        for stack in self.stacks.get(w * 32..(w + 1) * 32).unwrap_or_default() {
            values.extend([stack.frame, stack.used]);
            values.extend(&stack.saved);
        }
        values
    }
}

#[cfg(test)]
mod tests;
