//! Instructions: once for scalars, in rows for all warps, lane by lane, or warp by warp.

use super::affine::AffineRule;
use super::code::{Block, BlockFunction, Instr, Once, Run};
use super::memory;
use super::op::{Op, WarpFunction};
use super::registers::Scalar;
use super::rows::{One, RowFunction};
use super::runner::{Runner, copy};
use crate::fault::Fault;
use crate::memory::address::{AddrSpace, names_local};
use crate::semantics::Done;

use crate::kernel::Flow;
use crate::numerics::lanes::Lanes;

impl Runner<'_, '_> {
    /// Finds the lanes in which an instruction takes effect. False if there are none.
    #[inline(never)]
    pub fn guard(&mut self, op: &Op) -> bool {
        self.guarded = true;
        self.unguarded();
        let Some(guard) = op.guard else { return true };
        if let Scalar::Uniform(v) = self.scalar(guard.register) {
            let holds = (v & 1 != 0) == guard.holds;
            if !holds && self.x.monitor.needs().regions {
                self.x.monitor.predicated_off(op.number, self.active[..self.n].iter().copied());
            }
            return holds;
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
        (self.all, self.full) = (self.all && same, self.full && same);
        if !same && self.x.monitor.needs().regions {
            let off = self.active.iter().zip(&self.masks).take(self.n).map(|(a, m)| a & !m);
            self.x.monitor.predicated_off(op.number, off);
        }
        any
    }

    /// Runs an instruction that does not wait.
    #[inline(always)]
    pub fn execute(&mut self, Instr { op, run }: &Instr) -> Done {
        if let Some(watched) = &op.watched
            && (watched.always || self.registers.has_undefined())
        {
            self.tracker().watch(op, watched)?;
        }
        if (self.guarded || op.guard.is_some()) && !self.guard(op) {
            return Ok(());
        }
        match run {
            Run::Lane { rows: Some(function), registers, .. }
                if registers.iter().any(|r| self.registers.is_rows(self.lo, *r)) =>
            {
                function.run(self, op);
                Ok(())
            }
            Run::Memory { access, compiled, function } => memory::run(self, op, access, compiled, *function),
            _ => self.execute_once_or_slowly(op, run),
        }
    }

    #[inline(never)]
    fn execute_once_or_slowly(&mut self, op: &Op, run: &Run) -> Done {
        match run {
            Run::Lane { one, rows, rule, registers } => {
                let scalars = registers.iter().all(|r| !self.registers.is_rows(self.lo, *r));
                if self.all && scalars {
                    if self.once(op, rows.as_ref().map(RowFunction::one), *one) {
                        return Ok(());
                    }
                    if rule.is_some_and(|rule| self.line(rule, op)) {
                        return Ok(());
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
            Run::Warp { function, once } => {
                if self.all && self.runs_once(op, *once) {
                    return self.once_for_all(op, *function);
                }
                if self.all && *once == Once::Translation && self.translate(op, *function) {
                    return Ok(());
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
    pub fn first_fault(&mut self, rest: &[Instr], fault: Box<Fault>) -> Box<Fault> {
        let (mut fault, mut rest) = (fault, rest);
        loop {
            self.active[(self.x.warp as usize).saturating_sub(self.lo)..].fill(0);
            self.guarded = true;
            if self.active.iter().all(|m| *m == 0) {
                return fault;
            }
            let next = rest.iter().enumerate().find_map(|(i, op)| {
                let fault = self.execute(op).err()?;
                Some((i, self.details().with_reads(&op.op, fault)))
            });
            let Some((at, earlier)) = next else { return fault };
            (fault, rest) = (earlier, &rest[at + 1..]);
        }
    }

    /// Computes a result once, if all operands are uniform.
    #[inline(always)]
    fn once(&mut self, op: &Op, form: Option<One>, one: crate::semantics::Lane) -> bool {
        let d = if let Some(form) = form {
            let mut values = [0; 4];
            for (to, o) in values.iter_mut().zip(&op.sources) {
                match self.uniform(o) {
                    Some(v) => *to = v,
                    None => return false,
                }
            }
            let [a, b, c, d] = values;
            form(a, b, c, d)
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

    /// Computes an affine result, or that of a comparison. False, with nothing done, if operands are not affine.
    fn line(&mut self, rule: AffineRule, op: &Op) -> bool {
        let (mut s, Some(result)) = ([Scalar::Uniform(0); 3], op.results[0]) else { return false };
        for (s, o) in s.iter_mut().zip(&op.sources) {
            match self.scalar_operand(o) {
                Some(scalar) => *s = scalar,
                None => return false,
            }
        }
        let kinds = s.map(|s| s.kind());
        let Some(order) = rule.order(kinds) else { return false };
        let lines = order.map(|at| s[at].line());
        let kind = self.kind_of_line(rule, lines, kinds, result);
        kind.is_some_and(|kind| self.set_line(rule, lines, result, kind))
    }

    #[inline(never)]
    fn lane_by_lane(&mut self, op: &Op, one: crate::semantics::Lane) {
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
            crate::numerics::lanes::lanes(m, |l| {
                let mut values = [0; 8];
                values.iter_mut().zip(&sources).for_each(|(v, s)| *v = s[l]);
                let [first, second] = one(op.q, &values[..n]);
                (d[0][l], d[1][l]) = (first, second);
            });
            self.put_results(op, k, &d, m);
        }
        self.results_are_rows(op);
    }

    #[inline(never)]
    fn copy(&mut self, op: &Op) {
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
    fn movement(&mut self, op: &Op, from: u32, to: u32) {
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

    /// Whether all lanes compute the same.
    fn runs_once(&self, op: &Op, once: Once) -> bool {
        let may = match once {
            Once::Always | Once::Translation => true,
            Once::Load(AddrSpace::Generic) => op.sources.first().is_some_and(|address| {
                !self.x.monitor.is_on() && self.uniform(address).is_some_and(|at| !names_local(at))
            }),
            Once::Load(_) => !self.x.monitor.is_on(),
            Once::Never => false,
        };
        may && op.sources.iter().all(|o| self.uniform(o).is_some())
    }

    /// Calls a function whose operands are uniform once: its results are uniform.
    #[inline(never)]
    fn once_for_all(&mut self, op: &Op, function: WarpFunction) -> Done {
        let (k, m) = self.first_lane();
        self.enter(k, m);
        self.x.at(op.site, op.order);
        let lane = m.trailing_zeros() as usize & 31;
        self.call(op, k, function, |r, (), d| {
            for (register, d) in op.results.iter().zip(d) {
                r.set(*register, Scalar::Uniform(d[lane]));
            }
        })
    }

    /// Translates affine addresses. False, with nothing done, if they are not affine, or do not all stay in a window: then the least
    /// and the greatest have another distance, or have no translation.
    #[inline(never)]
    fn translate(&mut self, op: &Op, function: WarpFunction) -> bool {
        let (Some(result), Some(Scalar::Affine { base, x, y })) = (op.results[0], self.scalar_operand(&op.sources[0]))
        else {
            return false;
        };
        let Some([low, high]) = self.ends((base, x, y), self.registers.slot(result).bits) else { return false };
        let rank = match op.sources.get(1) {
            Some(o) => self.uniform(o),
            None => Some(0),
        };
        let Some(rank) = rank else { return false };
        let (mut addresses, ranks, mut d) = ([low; 32], [rank; 32], [0; 32]);
        addresses[1] = high;
        let (k, _) = self.first_lane();
        self.enter(k, 3);
        self.x.at(op.site, op.order);
        let sources = [&addresses, &ranks];
        let Some(sources) = sources.get(..op.sources.len()) else { return false };
        let done = function(self.x, op.q, sources, &mut [&mut d]);
        if done.is_err() || d[1].wrapping_sub(d[0]) != high - low {
            return false;
        }
        let base = base.wrapping_add(d[0].wrapping_sub(low));
        self.set(Some(result), Scalar::Affine { base, x, y });
        true
    }

    /// Calls the function of an instruction that may wait for warp `k`. It sets results only if the warp does not wait.
    #[inline(never)]
    pub fn call_block(&mut self, block: &Block, k: usize, m: u32) -> Result<Flow, Box<Fault>> {
        let op = &block.op;
        copy(&mut self.masks, &self.active, self.n);
        (self.all, self.guarded) = (false, true);
        self.x.at(op.site, op.order);
        let passed = |r: &mut Self, flow, d: &[Lanes]| {
            r.describe_news(op);
            if flow == Flow::Next {
                for register in op.results.iter().flatten() {
                    r.rows_for(*register);
                }
                r.put_results(op, k, d, m);
            }
            flow
        };
        let flow = match block.function {
            BlockFunction::Lanes(function) => self.call(op, k, function, passed),
            BlockFunction::Registers(function) => self.call_with_registers(op, k, function, m),
        };
        flow.map_err(|fault| self.details().with_reads(op, fault))
    }
}
