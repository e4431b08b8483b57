//! The running cohort: the lanes of its warps that run, the values of operands, the places of results.

use super::op::{Op, Operand, WarpFunction};
use super::registers::{Registers, Scalar};
use crate::fault::Fault;
use crate::kernel::flow::Pc;
use crate::machine::ctx::Ctx;
use crate::numerics::lanes::Lanes;
use crate::semantics::{Done, OnWarp};
use ptx_dsl_isa::image::{Image, Register};

/// The lanes of each warp of a cohort.
pub(super) type Masks = [u32; 32];

/// Copies those of the first `n` warps. Most cohorts have few.
#[inline(always)]
pub(super) fn copy(to: &mut Masks, from: &Masks, n: usize) {
    if n <= 8 {
        to[..8].copy_from_slice(&from[..8]);
    } else {
        *to = *from;
    }
}

/// The number of threads, if they are the first ones of the cohort; else 0.
#[inline(never)]
fn first_threads(masks: &[u32]) -> usize {
    let whole = masks.iter().take_while(|m| **m == u32::MAX).count();
    let Some((part, rest)) = masks[whole..].split_first() else { return 32 * whole };
    let first = part & part.wrapping_add(1) == 0 && rest.iter().all(|m| *m == 0);
    if first { 32 * whole + part.trailing_ones() as usize } else { 0 }
}

/// The places of the lanes that do not run now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// All lanes run that have not exited.
    Nowhere,
    /// The other lanes are at these regions; `Pc::MAX` stands for none.
    At([Pc; 2]),
    /// The other lanes are at more regions, or at regions that only the machine knows.
    Anywhere,
}

/// The running cohort with its registers.
pub(super) struct Runner<'s, 'a> {
    pub image: &'s Image,
    pub registers: &'s mut Registers,
    pub x: &'s mut Ctx<'a>,
    /// The first of the warps that run an instruction together: its scalars hold for all of them.
    pub lo: usize,
    /// The number of these warps.
    pub n: usize,
    /// The first warp of the cohort.
    pub first: usize,
    /// The number of warps of the cohort.
    pub count: usize,
    /// Whether each warp runs the region separately.
    pub apart: bool,
    /// The warps with lanes that run.
    pub warps: u64,
    /// The lanes that run.
    pub active: Masks,
    /// The places of the other lanes.
    pub rest: Rest,
    /// Whether `active` and `rest` have the values that `together` gave them.
    joined: bool,
    /// The lanes in which the current instruction takes effect: those that run and whose guard holds.
    pub masks: Masks,
    /// Whether no instruction reads the results in other lanes.
    pub all: bool,
    /// `masks` are all lanes of 32 each.
    pub full: bool,
    /// Whether `masks` and `all` are stale: they differ from `active` and `whole`.
    pub guarded: bool,
    /// The result of [`Runner::first_threads`] for `active`, once known.
    threads: Option<usize>,
}

/// Whether each warp runs a region separately, so that a monitor and a schedule see the warps one after the other. Otherwise they run each
/// instruction together.
pub(super) fn runs_apart(x: &Ctx<'_>) -> bool {
    x.monitor.wants().apart || !x.scheduling.always_first
}

impl<'s, 'a> Runner<'s, 'a> {
    pub fn new(image: &'s Image, registers: &'s mut Registers, x: &'s mut Ctx<'a>) -> Self {
        let (lo, n) = (x.cur.lo as usize, (x.cur.hi - x.cur.lo) as usize);
        let active = [0; 32];
        let apart = runs_apart(x);
        Runner {
            image,
            registers,
            x,
            lo,
            n,
            first: lo,
            count: n,
            apart,
            warps: 0,
            active,
            rest: Rest::Anywhere,
            joined: false,
            masks: active,
            all: false,
            full: false,
            guarded: true,
            threads: None,
        }
    }

    /// Makes all lanes of the cohort the running ones.
    pub fn together(&mut self) {
        if self.joined {
            return;
        }
        let mask = self.x.cur.mask;
        self.rest = if self.has_all_lanes(mask) { Rest::Nowhere } else { Rest::Anywhere };
        self.run_lanes(|_| mask);
        self.joined = true;
    }

    /// Makes these lanes of each warp the running ones.
    #[inline(always)]
    fn run_lanes(&mut self, lanes: impl Fn(usize) -> u32) {
        let (mut warps, mut full) = (0, true);
        for k in 0..self.n {
            let m = lanes(k);
            (self.active[k], self.masks[k]) = (m, m);
            warps += u64::from(m != 0);
            full &= m == u32::MAX;
        }
        (self.warps, self.full, self.all, self.guarded) = (warps, full, self.whole(), false);
        self.threads = None;
    }

    /// The number of threads in which the current instruction takes effect, if they are the first ones of the cohort; else 0.
    #[inline]
    pub fn first_threads(&mut self) -> usize {
        let find = || first_threads(&self.masks[..self.n]);
        match self.full {
            true => 32 * self.n,
            false if self.guarded => find(),
            false => *self.threads.get_or_insert_with(find),
        }
    }

    /// Prepares for an instruction without a guard.
    #[inline(always)]
    pub fn unguarded(&mut self) {
        if self.guarded {
            copy(&mut self.masks, &self.active, self.n);
            (self.all, self.guarded, self.threads) = (self.whole(), false, None);
            self.full = self.active[..self.n].iter().all(|m| *m == u32::MAX);
        }
    }

    /// Whether all lanes run that have not exited.
    #[inline(always)]
    pub fn whole(&self) -> bool {
        self.rest == Rest::Nowhere
    }

    /// Whether the mask has all lanes of the warps that have not exited.
    fn has_all_lanes(&self, mask: u32) -> bool {
        mask == u32::MAX || self.x.cta().live[self.lo..self.lo + self.n].iter().all(|live| live & !mask == 0)
    }

    /// Makes these lanes of the cohort the running ones.
    #[inline]
    pub fn part(&mut self, masks: &Masks, rest: Rest) {
        self.rest = rest;
        self.run_lanes(|k| masks[k]);
        self.joined = false;
    }

    /// The state that [`Runner::unite`] restores.
    #[inline(always)]
    pub fn place(&self) -> (Rest, bool) {
        (self.rest, self.joined)
    }

    /// Restores the state before [`Runner::part`]: the lanes of both sides run.
    #[inline]
    pub fn unite(&mut self, [first, second]: &[Masks; 2], (rest, joined): (Rest, bool)) {
        self.rest = rest;
        self.run_lanes(|k| first[k] | second[k]);
        self.joined = joined;
    }

    /// Calls `f` for each warp of the cohort, which runs by itself.
    pub fn for_warps(&mut self, mut f: impl FnMut(&mut Self) -> Done) -> Done {
        let (active, rest) = (self.active, self.rest);
        for (k, &mask) in active.iter().enumerate().take(self.count) {
            let warp = self.first + k;
            if mask == 0 {
                continue;
            }
            (self.lo, self.n, self.active[0]) = (warp, 1, mask);
            let whole = self.x.cta().live[warp] & !mask == 0;
            self.rest = if whole { Rest::Nowhere } else { Rest::Anywhere };
            self.guarded = true;
            f(self)?;
        }
        (self.lo, self.n, self.active, self.rest) = (self.first, self.count, active, rest);
        self.guarded = true;
        Ok(())
    }

    /// Makes these warps of the cohort the running ones.
    pub fn select(&mut self, first: usize, count: usize) {
        (self.first, self.count, self.lo, self.n) = (first, count, first, count);
        self.joined = false;
    }

    /// The warp whose scalars hold for warp `k` of the cohort.
    #[inline(always)]
    pub fn leader(&self, k: usize) -> usize {
        if self.apart { self.lo + k } else { self.lo }
    }

    /// Warp `k` of the cohort is the current one, with these lanes.
    #[inline(always)]
    pub fn enter(&mut self, k: usize, mask: u32) {
        self.x.warp = (self.lo + k) as u32;
        self.x.mask = mask;
    }

    /// The lanes of `of` that `f` gives for each warp.
    pub fn masks(&mut self, of: &Masks, f: impl Fn(&Self, usize) -> u32) -> Masks {
        let mut masks = [0; 32];
        for (k, m) in masks.iter_mut().enumerate().take(self.n) {
            *m = of[k] & f(self, k);
        }
        masks
    }

    #[inline(always)]
    pub fn scalar(&self, r: Register) -> Scalar {
        self.registers.scalar(self.lo, r)
    }

    /// The operand, if it is a scalar.
    #[inline(always)]
    pub fn scalar_operand(&self, o: &Operand) -> Option<Scalar> {
        match o {
            Operand::Constant(v) => Some(Scalar::Uniform(*v)),
            Operand::Register(r) => Some(self.scalar(*r)).filter(|s| *s != Scalar::Rows),
            Operand::Not(r) => match self.scalar(*r) {
                Scalar::Uniform(v) => Some(Scalar::Uniform(!v & 1)),
                _ => None,
            },
            Operand::Address { base, offset } => {
                let slot = self.registers.slot(*base);
                match self.scalar(*base) {
                    Scalar::Rows => None,
                    Scalar::Uniform(v) => Some(Scalar::Uniform(slot.truncated(v.wrapping_add_signed(*offset)))),
                    Scalar::Affine { base, x, y } => {
                        Some(Scalar::Affine { base: slot.truncated(base.wrapping_add_signed(*offset)), x, y })
                    }
                }
            }
            Operand::Special(s) if s.uniform => Some(Scalar::Uniform((s.read)(self.x, 0))),
            Operand::Special(s) => match s.axis()? {
                0 => Some(Scalar::Affine { base: 0, x: 1, y: 0 }),
                _ if self.x.geometry.block[2] == 1 => Some(Scalar::Affine { base: 0, x: 0, y: 1 }),
                _ => None,
            },
            Operand::Frame { .. } => None,
        }
    }

    /// The operand, if all lanes of the cohort have one value.
    #[inline(always)]
    pub fn uniform(&self, o: &Operand) -> Option<u64> {
        match self.scalar_operand(o) {
            Some(Scalar::Uniform(v)) => Some(v),
            _ => None,
        }
    }

    /// The operand in all lanes of warp `k`, which is the current one.
    pub fn operand(&self, o: &Operand, k: usize) -> Lanes {
        let (w, leader) = (self.lo + k, self.leader(k));
        match o {
            Operand::Register(r) => self.registers.lanes(leader, *r, w),
            Operand::Not(r) => self.registers.lanes(leader, *r, w).map(|p| !p & 1),
            Operand::Constant(v) => [*v; 32],
            Operand::Special(s) => std::array::from_fn(|l| (s.read)(self.x, l)),
            Operand::Address { base, offset } => {
                let slot = self.registers.slot(*base);
                let mut lanes = self.registers.lanes(leader, *base, w);
                lanes.iter_mut().for_each(|v| *v = slot.truncated(v.wrapping_add_signed(*offset)));
                lanes
            }
            Operand::Frame { at } => {
                let stacks = self.registers.stacks.get(w * 32..(w + 1) * 32).unwrap_or_default();
                std::array::from_fn(|l| stacks.get(l).map_or(0, |s| s.frame) + at)
            }
        }
    }

    /// Makes a register rows, so that lanes of it can be set.
    pub fn rows_for(&mut self, r: Register) {
        if self.apart {
            for w in self.lo..self.lo + self.n {
                self.registers.spread(self.registers.scalar(w, r), r, w);
                self.registers.set_scalar(w, r, Scalar::Rows);
            }
            return;
        }
        if self.registers.is_rows(self.lo, r) {
            return;
        }
        let scalar = self.scalar(r);
        if !self.all {
            for w in self.lo..self.lo + self.n {
                self.registers.spread(scalar, r, w);
            }
        }
        self.registers.set_scalar(self.lo, r, Scalar::Rows);
    }

    /// Sets all lanes of a register to this scalar.
    #[inline(always)]
    pub fn set(&mut self, r: Option<Register>, scalar: Scalar) {
        let Some(r) = r else { return };
        let slot = self.registers.slot(r);
        let scalar = match scalar {
            Scalar::Uniform(v) => Scalar::Uniform(slot.truncated(v)),
            other => other,
        };
        self.registers.set_scalar(self.lo, r, scalar);
    }

    /// Sets lanes of the results of an instruction in warp `k`.
    pub fn put_results(&mut self, op: &Op, k: usize, d: &[Lanes], m: u32) {
        for (r, d) in op.results.iter().zip(d) {
            let Some(r) = *r else { continue };
            let scalar = self.scalar(r);
            if scalar != Scalar::Rows && !self.all {
                self.registers.spread(scalar, r, self.lo + k);
            }
            self.registers.put(r, self.lo + k, d, m);
        }
    }

    /// Marks the results as rows, after [`Runner::put_results`] of all warps.
    pub fn results_are_rows(&mut self, op: &Op) {
        for r in op.results.iter().flatten() {
            let scalar = self.scalar(*r);
            if scalar == Scalar::Rows {
                continue;
            }
            if !self.all {
                for k in 0..self.n {
                    if self.masks[k] == 0 {
                        self.registers.spread(scalar, *r, self.lo + k);
                    }
                }
            }
            self.registers.set_scalar(self.lo, *r, Scalar::Rows);
        }
    }

    /// The first warp in which an instruction takes effect, and the first of its lanes there.
    pub fn first_lane(&self) -> (usize, u32) {
        let k = self.masks[..self.n].iter().position(|m| *m != 0).unwrap_or(0);
        (k, self.masks[k] & self.masks[k].wrapping_neg())
    }

    /// Calls the function of an instruction for each warp.
    #[inline(never)]
    pub fn warp_by_warp(&mut self, op: &Op, function: WarpFunction) -> Done {
        for k in 0..self.n {
            if self.masks[k] != 0 {
                self.one_warp(op, function, k)?;
            }
        }
        self.results_are_rows(op);
        if self.all && !self.apart {
            self.find_uniform_results(op);
        }
        Ok(())
    }

    /// Makes a scalar of each result that is the same in all lanes: what follows from it runs once.
    fn find_uniform_results(&mut self, op: &Op) {
        for r in op.results.iter().flatten() {
            let mut rows = (0..self.n).filter(|k| self.masks[*k] != 0);
            let Some(first) = rows.next() else { return };
            let lane = self.masks[first].trailing_zeros() as usize & 31;
            let value = self.registers.lane(*r, self.lo + first, lane);
            let same = |k: usize| self.registers.is_in_lanes(*r, self.lo + k, value, self.masks[k]);
            if same(first) && rows.all(same) {
                self.set(Some(*r), Scalar::Uniform(value));
            }
        }
    }

    /// Calls the function of an instruction for warp `k`.
    pub fn one_warp(&mut self, op: &Op, function: WarpFunction, k: usize) -> Done {
        let m = self.masks[k];
        self.enter(k, m);
        self.x.at(op.site, op.order);
        self.call(op, k, function, |r, (), d| r.put_results(op, k, d, m))
    }

    /// Calls a function for warp `k`, which is the current one, and then `f` with what it returns and the results of the instruction.
    pub fn call<R, T>(
        &mut self,
        op: &Op,
        k: usize,
        function: OnWarp<R>,
        f: impl FnOnce(&mut Self, R, &[Lanes]) -> T,
    ) -> Result<T, Box<Fault>> {
        let n = op.results.len();
        if n == 0 {
            let returned = self.with_operands(op, k, |x, s| function(x, op.q, s, &mut []))?;
            return Ok(f(self, returned, &[]));
        }
        let (mut few, mut many) = ([[0; 32]; 2], Vec::new());
        let d = match few.get_mut(..n) {
            Some(few) => few,
            None => {
                many.resize(n, [0; 32]);
                &mut many
            }
        };
        let returned = self.with_operands(op, k, |x, s| match d {
            [a] => function(x, op.q, s, &mut [a]),
            [a, b] => function(x, op.q, s, &mut [a, b]),
            _ => function(x, op.q, s, &mut d.iter_mut().collect::<Vec<_>>()),
        })?;
        Ok(f(self, returned, d))
    }

    /// Calls `f` with the operands of an instruction in warp `k`. Room for a few of them is not on the heap, and no more than they
    /// need, because it is cleared.
    fn with_operands<R>(&mut self, op: &Op, k: usize, f: impl FnOnce(&mut Ctx<'_>, &[&Lanes]) -> R) -> R {
        match op.sources.len() {
            0 => f(self.x, &[]),
            1 => self.with_few_operands::<1, R>(op, k, f),
            2 => self.with_few_operands::<2, R>(op, k, f),
            3..=6 => self.with_few_operands::<6, R>(op, k, f),
            _ => {
                let sources: Vec<Lanes> = op.sources.iter().map(|o| self.operand(o, k)).collect();
                let sources: Vec<&Lanes> = sources.iter().collect();
                f(self.x, &sources)
            }
        }
    }

    fn with_few_operands<const N: usize, R>(
        &mut self,
        op: &Op,
        k: usize,
        f: impl FnOnce(&mut Ctx<'_>, &[&Lanes]) -> R,
    ) -> R {
        let mut sources = [[0; 32]; N];
        for (to, o) in sources.iter_mut().zip(&op.sources) {
            *to = self.operand(o, k);
        }
        f(self.x, &sources.each_ref()[..op.sources.len().min(N)])
    }
}
