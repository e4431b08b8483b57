//! Instructions: once for scalars, in rows for all warps, lane by lane, or warp by warp.

use super::code::{Block, Code, Op, Operand, Run, WarpFunction};
use super::memory;
use super::registers::{Registers, Scalar};
use super::rows::RowFunction;
use super::step::Masks;
use crate::fault::Fault;
use crate::flow::Pc;
use crate::isa::Done;
use crate::machine::ctx::Ctx;
use crate::monitor::Monitor;
use crate::{Flow, Lanes};
use ptx_dsl_isa::image::Register;

/// The running cohort with its code and registers.
pub(super) struct Runner<'s, 'a, M> {
    pub code: &'s Code<M>,
    pub registers: &'s mut Registers,
    pub x: &'s mut Ctx<'a, M>,
    /// The first of the warps that run an instruction together: its scalars hold for all of them.
    pub lo: usize,
    /// How many they are.
    pub n: usize,
    /// The first warp of the cohort.
    pub first: usize,
    /// Its warps.
    pub count: usize,
    /// Each warp runs a region by itself.
    pub apart: bool,
    /// The lanes that run.
    pub active: Masks,
    /// They are all lanes of these warps that have not exited.
    pub whole: bool,
    /// The lanes in which the current instruction takes effect: those that run and whose guard holds.
    pub masks: Masks,
    /// They are all lanes of these warps that have not exited.
    pub all: bool,
    /// `masks` and `all` are not those of `active` and `whole`.
    pub guarded: bool,
}

/// Does each warp run a region by itself? So that a monitor and a schedule see the warps one after the other; else they run each
/// instruction together.
pub(super) fn runs_apart<M: Monitor>(x: &Ctx<'_, M>) -> bool {
    M::ON || !x.scheduling.always_first
}

impl<'s, 'a, M: Monitor> Runner<'s, 'a, M> {
    pub fn new(code: &'s Code<M>, registers: &'s mut Registers, x: &'s mut Ctx<'a, M>) -> Self {
        let (lo, n) = (x.cur.lo as usize, (x.cur.hi - x.cur.lo) as usize);
        let active = [0; 32];
        let apart = runs_apart(x);
        Runner {
            code,
            registers,
            x,
            lo,
            n,
            first: lo,
            count: n,
            apart,
            active,
            whole: false,
            masks: active,
            all: false,
            guarded: true,
        }
    }

    /// All lanes of the cohort run.
    pub fn together(&mut self) {
        let mask = self.x.cur.mask;
        self.active[..self.n].fill(mask);
        self.whole = self.has_all_lanes(mask);
        self.guarded = true;
    }

    /// Are these all lanes of its warps that have not exited?
    fn has_all_lanes(&self, mask: u32) -> bool {
        mask == u32::MAX || self.x.cta().live[self.lo..self.lo + self.n].iter().all(|live| live & !mask == 0)
    }

    /// These lanes of the cohort run.
    pub fn part(&mut self, masks: &Masks) {
        self.active = *masks;
        (self.whole, self.guarded) = (false, true);
    }

    /// Counts the instructions of a region for so many warps.
    #[inline(always)]
    pub fn count_instructions(&mut self, pc: Pc, warps: u64) {
        let length = self.code.regions.get(usize::from(pc)).map_or(0, |region| region.body.len());
        self.x.scheduling.endless.instructions += (length as u64 + 1) * warps;
    }

    /// Tells the monitor that warps (the first one, its lanes, their number) run a region.
    #[inline(always)]
    pub fn tell_region(&mut self, pc: Pc, warps: (u32, u32, u32)) {
        if M::EVENTS {
            let region = &self.code.regions[usize::from(pc)];
            let ops = region.block.iter().map(|b| &b.op).chain(&region.body);
            // 0 is also the number of those that have none
            let site = ops.map(|op| op.site).find(|site| *site != 0);
            self.x.tell_region(warps, site, &self.code.image.regions[usize::from(pc)].name);
        }
    }

    /// Calls `f` for each warp of the cohort that runs by itself, or once for all of them.
    pub fn for_runners(&mut self, mut f: impl FnMut(&mut Self) -> Done) -> Done {
        if !self.apart {
            return f(self);
        }
        let (active, whole) = (self.active, self.whole);
        for (k, &mask) in active.iter().enumerate().take(self.count) {
            let warp = self.first + k;
            if mask == 0 {
                continue;
            }
            (self.lo, self.n, self.active[0]) = (warp, 1, mask);
            (self.whole, self.guarded) = (self.x.cta().live[warp] & !mask == 0, true);
            f(self)?;
        }
        (self.lo, self.n, self.active, self.whole) = (self.first, self.count, active, whole);
        self.guarded = true;
        Ok(())
    }

    /// These warps of the cohort run from now on.
    pub fn select(&mut self, first: usize, count: usize) {
        (self.first, self.count, self.lo, self.n) = (first, count, first, count);
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
    pub fn scalar_operand(&self, o: &Operand<M>) -> Option<Scalar> {
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
    pub fn uniform(&self, o: &Operand<M>) -> Option<u64> {
        match self.scalar_operand(o) {
            Some(Scalar::Uniform(v)) => Some(v),
            _ => None,
        }
    }

    /// The operand in all lanes of warp `k`, which is the current one.
    pub fn operand(&self, o: &Operand<M>, k: usize) -> Lanes {
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

    /// All lanes of a register get this scalar.
    pub fn set(&mut self, r: Option<Register>, scalar: Scalar) {
        let Some(r) = r else { return };
        let slot = self.registers.slot(r);
        let scalar = match scalar {
            Scalar::Uniform(v) => Scalar::Uniform(slot.truncated(v)),
            other => other,
        };
        self.registers.set_scalar(self.lo, r, scalar);
    }

    /// Finds the lanes in which an instruction takes effect. False if there are none.
    #[inline(never)]
    fn guard(&mut self, op: &Op<M>) -> bool {
        self.masks[..self.n].copy_from_slice(&self.active[..self.n]);
        (self.all, self.guarded) = (self.whole, false);
        let Some(guard) = op.guard else { return true };
        if let Scalar::Uniform(v) = self.scalar(guard.register) {
            return (v & 1 != 0) == guard.holds;
        }
        self.guarded = true;
        let (mut any, mut same) = (false, true);
        for k in 0..self.n {
            let p = self.registers.mask(self.lo, guard.register, self.lo + k);
            let m = self.active[k] & if guard.holds { p } else { !p };
            any |= m != 0;
            same &= m == self.active[k];
            self.masks[k] = m;
        }
        self.all &= same;
        any
    }

    /// Runs an instruction that does not wait.
    #[inline(always)]
    pub fn execute(&mut self, op: &Op<M>) -> Done {
        if (self.guarded || op.guard.is_some()) && !self.guard(op) {
            return Ok(());
        }
        match &op.run {
            Run::Lane { rows: Some(function), registers, .. }
                if registers.iter().any(|r| self.registers.is_rows(self.lo, *r)) =>
            {
                function.run(self, op);
                Ok(())
            }
            Run::Memory { access, compiled, function } => memory::run(self, op, access, compiled, *function),
            _ => self.execute_once_or_slowly(op),
        }
    }

    #[inline(never)]
    fn execute_once_or_slowly(&mut self, op: &Op<M>) -> Done {
        match &op.run {
            Run::Lane { one, rows, rule, registers } => {
                let scalars = registers.iter().all(|r| !self.registers.is_rows(self.lo, *r));
                if self.all && scalars {
                    if self.once(op, rows.as_ref().map(RowFunction::one), *one) {
                        return Ok(());
                    }
                    if let Some(rule) = rule {
                        if let Some(scalar) = rule.apply(self, op) {
                            self.set(op.results[0], scalar);
                            return Ok(());
                        }
                        if let [a, b] = &op.sources[..]
                            && let (Some(a), Some(b)) = (self.scalar_operand(a), self.scalar_operand(b))
                            && self.compare_rows(*rule, a, b, op.results[0])
                        {
                            return Ok(());
                        }
                    }
                }
                match rows {
                    Some(function) => function.run(self, op),
                    None => self.lane_by_lane(op, *one),
                }
                Ok(())
            }
            Run::Copy => {
                self.copy(op);
                Ok(())
            }
            Run::Move { from, to } => {
                self.movement(op, *from, *to);
                Ok(())
            }
            Run::Warp { function, pure } => {
                if *pure && self.all && op.sources.iter().all(|o| self.uniform(o).is_some()) {
                    return self.once_for_all(op, *function);
                }
                self.warp_by_warp(op, *function)
            }
            Run::Arrive { function, drop } => {
                if self.arrive_together(op, *drop, |r, k| r.one_warp(op, *function, k))? {
                    return Ok(());
                }
                self.warp_by_warp(op, *function)
            }
            Run::Memory { .. } | Run::Nothing => Ok(()),
        }
    }

    /// The fault of the first warp of the cohort, if the current one has this fault and `rest` of the region is still to run: warps
    /// run a region one after the other, as far as anybody can tell.
    #[cold]
    pub fn first_fault(&mut self, rest: &[Op<M>], fault: Box<Fault>) -> Box<Fault> {
        let (mut fault, mut rest) = (fault, rest);
        loop {
            self.active[(self.x.warp as usize).saturating_sub(self.lo)..].fill(0);
            self.guarded = true;
            if self.active.iter().all(|m| *m == 0) {
                return fault;
            }
            let next = rest.iter().enumerate().find_map(|(i, op)| {
                let fault = self.execute(op).err()?;
                Some((i, self.with_reads(op, fault)))
            });
            let Some((at, earlier)) = next else { return fault };
            (fault, rest) = (earlier, &rest[at + 1..]);
        }
    }

    /// Computes a result once, if all operands are uniform.
    #[inline(always)]
    fn once(&mut self, op: &Op<M>, form: Option<fn([u64; 4]) -> [u64; 2]>, one: crate::isa::Lane) -> bool {
        let d = if let Some(form) = form {
            let mut values = [0; 4];
            for (to, o) in values.iter_mut().zip(&op.sources) {
                match self.uniform(o) {
                    Some(v) => *to = v,
                    None => return false,
                }
            }
            form(values)
        } else {
            let mut values = [0; 8];
            let n = op.sources.len();
            if n > 8 {
                return false;
            }
            for (to, o) in values.iter_mut().zip(&op.sources) {
                match self.uniform(o) {
                    Some(v) => *to = v,
                    None => return false,
                }
            }
            one(op.q, &values[..n])
        };
        for (r, v) in op.results.iter().zip(d) {
            self.set(*r, Scalar::Uniform(v));
        }
        true
    }

    #[inline(never)]
    fn lane_by_lane(&mut self, op: &Op<M>, one: crate::isa::Lane) {
        let n = op.sources.len().min(8);
        for k in 0..self.n {
            let m = self.masks[k];
            if m == 0 {
                continue;
            }
            self.enter(k, m);
            let mut sources = [[0; 32]; 8];
            for (to, o) in sources.iter_mut().zip(&op.sources) {
                *to = self.operand(o, k);
            }
            let mut d: [Lanes; 2] = [[0; 32]; 2];
            crate::lanes(m, |l| {
                let mut values = [0; 8];
                values.iter_mut().zip(&sources).for_each(|(v, s)| *v = s[l]);
                let [first, second] = one(op.q, &values[..n]);
                (d[0][l], d[1][l]) = (first, second);
            });
            self.put_results(op, k, &d, m);
        }
        self.results_are_rows(op);
    }

    /// Sets lanes of the results of an instruction in warp `k`.
    fn put_results(&mut self, op: &Op<M>, k: usize, d: &[Lanes], m: u32) {
        for (r, d) in op.results.iter().zip(d) {
            let Some(r) = *r else { continue };
            let scalar = self.scalar(r);
            if scalar != Scalar::Rows && !self.all {
                self.registers.spread(scalar, r, self.lo + k);
            }
            self.registers.put(r, self.lo + k, d, m);
        }
    }

    /// Behind [`Runner::put_results`] of all warps: the results are rows.
    pub fn results_are_rows(&mut self, op: &Op<M>) {
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

    #[inline(never)]
    fn copy(&mut self, op: &Op<M>) {
        let (Some(r), o) = (op.results[0], &op.sources[0]) else { return };
        if self.all
            && let Some(scalar) = self.scalar_operand(o)
        {
            let narrow = matches!(scalar, Scalar::Affine { .. }) && self.registers.slot(r).bits < 32;
            if !narrow {
                return self.set(Some(r), scalar);
            }
        }
        for k in 0..self.n {
            let m = self.masks[k];
            if m != 0 {
                self.enter(k, m);
                let v = self.operand(o, k);
                self.put_results(op, k, &[v], m);
            }
        }
        self.results_are_rows(op);
    }

    /// `mov` that packs or unpacks.
    #[inline(never)]
    fn movement(&mut self, op: &Op<M>, from: u32, to: u32) {
        let part = |whole: u128, i: usize| {
            let mask = if to >= 64 { u64::MAX } else { (1 << to) - 1 };
            (whole >> (i as u32 * to).min(127)) as u64 & mask
        };
        let join = |values: &mut dyn Iterator<Item = u64>| {
            values.enumerate().fold(0, |whole, (i, v)| whole | u128::from(v) << (i as u32 * from).min(127))
        };
        if self.all && op.sources.iter().all(|o| self.uniform(o).is_some()) {
            let whole = join(&mut op.sources.iter().filter_map(|o| self.uniform(o)));
            for (i, r) in op.results.iter().enumerate() {
                self.set(*r, Scalar::Uniform(part(whole, i)));
            }
            return;
        }
        for k in 0..self.n {
            let m = self.masks[k];
            if m == 0 {
                continue;
            }
            self.enter(k, m);
            let sources: Vec<Lanes> = op.sources.iter().map(|o| self.operand(o, k)).collect();
            let mut d = vec![[0; 32]; op.results.len()];
            for l in 0..32 {
                let whole = join(&mut sources.iter().map(|s| s[l]));
                d.iter_mut().enumerate().for_each(|(i, d)| d[l] = part(whole, i));
            }
            self.put_results(op, k, &d, m);
        }
        self.results_are_rows(op);
    }

    /// Calls the function of an instruction for each warp.
    #[inline(never)]
    pub fn warp_by_warp(&mut self, op: &Op<M>, function: WarpFunction<M>) -> Done {
        for k in 0..self.n {
            if self.masks[k] != 0 {
                self.one_warp(op, function, k)?;
            }
        }
        self.results_are_rows(op);
        Ok(())
    }

    /// Calls the function of an instruction for warp `k`.
    fn one_warp(&mut self, op: &Op<M>, function: WarpFunction<M>, k: usize) -> Done {
        let m = self.masks[k];
        self.enter(k, m);
        self.x.site = op.site;
        let mut d = vec![[0; 32]; op.results.len()];
        self.with_operands(op, k, |x, s| {
            let mut d: Vec<&mut Lanes> = d.iter_mut().collect();
            function(x, op.q, s, &mut d)
        })?;
        self.put_results(op, k, &d, m);
        Ok(())
    }

    /// Calls `f` with the operands of an instruction in warp `k`.
    fn with_operands<R>(&mut self, op: &Op<M>, k: usize, f: impl FnOnce(&mut Ctx<'_, M>, &[&Lanes]) -> R) -> R {
        const FEW: usize = 6;
        let n = op.sources.len();
        if n > FEW {
            let sources: Vec<Lanes> = op.sources.iter().map(|o| self.operand(o, k)).collect();
            let sources: Vec<&Lanes> = sources.iter().collect();
            return f(self.x, &sources);
        }
        let mut sources = [[0; 32]; FEW];
        for (to, o) in sources.iter_mut().zip(&op.sources) {
            *to = self.operand(o, k);
        }
        f(self.x, &sources.each_ref()[..n])
    }

    /// Calls a pure function whose operands are uniform once: its results are uniform.
    #[inline(never)]
    fn once_for_all(&mut self, op: &Op<M>, function: WarpFunction<M>) -> Done {
        let m = self.masks[0] & self.masks[0].wrapping_neg();
        self.enter(0, m);
        self.x.site = op.site;
        let mut d = vec![[0; 32]; op.results.len()];
        self.with_operands(op, 0, |x, s| {
            let mut d: Vec<&mut Lanes> = d.iter_mut().collect();
            function(x, op.q, s, &mut d)
        })?;
        let lane = m.trailing_zeros() as usize & 31;
        for (r, d) in op.results.iter().zip(&d) {
            self.set(*r, Scalar::Uniform(d[lane]));
        }
        Ok(())
    }

    /// Calls the function of an instruction that may wait for warp `k`. It sets results only if the warp does not wait.
    #[inline(never)]
    pub fn call_block(&mut self, block: &Block<M>, k: usize, m: u32) -> Result<Flow, Box<Fault>> {
        let op = &block.op;
        (self.masks, self.all, self.guarded) = (self.active, false, true);
        self.x.site = op.site;
        let mut d = vec![[0; 32]; op.results.len()];
        let flow = self.with_operands(op, k, |x, s| {
            let mut d: Vec<&mut Lanes> = d.iter_mut().collect();
            (block.function)(x, op.q, s, &mut d)
        });
        let flow = flow.map_err(|fault| self.with_reads(op, fault))?;
        if flow == Flow::Next {
            for r in op.results.iter().flatten() {
                self.rows_for(*r);
            }
            self.put_results(op, k, &d, m);
        }
        Ok(flow)
    }
}
