//! Control flow: the regions of a cohort, and the lanes of a diverged one.
//!
//! Warps that are together run a region at a time. Where lanes part, the groups of lanes at each region run by themselves, the one
//! with the lowest region first: regions are numbered in reverse postorder, so a group that is behind catches up before the join.
//! Lanes that come to an instruction that may wait go back to the driver, as does everything when the turn is over.

use super::calls;
use super::code::{Block, Code};
use super::op::Operand;
use super::plan::{self, Plans};
use super::registers::{Registers, Scalar};
use super::runner::{Masks, Rest, Runner, runs_apart};
use crate::Lanes;
use crate::fault::{Fault, FaultKind};
use crate::flow::{Next, Pc};
use crate::machine::ctx::Ctx;
use ptx_dsl_isa::image::{Callee, End, Guard};

/// Lanes that can run at a region.
struct Group {
    pc: Pc,
    masks: Masks,
}

/// What a step needs besides registers; kept from step to step.
pub(super) struct Stepper {
    /// Groups that do not run now.
    groups: Vec<Group>,
    /// By region.
    plans: Vec<Plans>,
}

impl Stepper {
    pub fn new(regions: usize) -> Self {
        Stepper { groups: Vec::new(), plans: (0..regions).map(|_| Plans::new()).collect() }
    }
}

/// Where lanes go on after a region: all of them there, or where the groups say.
type After = Option<Pc>;

/// Where lanes go on after an instruction that may wait.
enum Passed {
    /// All of them there.
    Go(Pc),
    /// The step is over.
    Ends(Next),
}

type Stepped = Result<Next, Box<Fault>>;

/// Runs the current cohort.
pub(super) fn run(code: &Code, registers: &mut Registers, stepper: &mut Stepper, x: &mut Ctx<'_>) -> Stepped {
    let (lo, hi) = (x.cur.lo as usize, x.cur.hi as usize);
    loop {
        let apart = runs_apart(x);
        if !apart {
            registers.begin(lo, hi);
        }
        stepper.groups.clear();
        let runner = Runner::new(&code.image, registers, x);
        let (groups, plans) = (&mut stepper.groups, &mut stepper.plans);
        let mut step = Step { code, groups, plans, r: runner, known: false };
        match step.run() {
            Ok(Next::Exit) if x.start_next_cluster() => match apart {
                true => registers.reset(),
                false => registers.restart(),
            },
            next => {
                if !apart {
                    registers.end(lo, hi);
                }
                return next;
            }
        }
    }
}

struct Step<'s, 'a> {
    code: &'s Code,
    groups: &'s mut Vec<Group>,
    plans: &'s mut [Plans],
    r: Runner<'s, 'a>,
    /// `groups` has all lanes of these warps that do not run.
    known: bool,
}

impl Step<'_, '_> {
    fn run(&mut self) -> Stepped {
        let mut pc = self.r.x.cur.pc;
        loop {
            // all warps are together here
            self.r.together();
            self.known = self.r.whole() && !self.r.apart && !self.r.x.scheduling.probing;
            self.count_instructions(pc, self.r.count as u64);
            self.r.x.turn(pc)?;
            if usize::from(pc) >= self.code.regions.len() {
                return Ok(Next::Exit);
            }
            let (first, mask, count) = (self.r.x.cur.lo, self.r.x.cur.mask, self.r.count as u32);
            self.tell_region(pc, (first, mask, count));
            pc = if let Some(block) = &self.code.regions[usize::from(pc)].block {
                match self.block(pc, block)? {
                    Passed::Go(next) => next,
                    Passed::Ends(next) => return Ok(next),
                }
            } else if let Some(next) = self.region(pc)? {
                next
            } else if let Some(next) = self.parted()? {
                next
            } else if let Some(next) = self.r.x.go() {
                next
            } else {
                return Ok(Next::Split);
            };
            if self.r.x.diverged() {
                return Ok(Next::Go(pc));
            }
        }
    }

    /// Runs the groups until all lanes are together: then where. `None` if the machine knows where all lanes are.
    fn parted(&mut self) -> Result<Option<Pc>, Box<Fault>> {
        let (first, count) = (self.r.first, self.r.count);
        if !self.r.apart || count == 1 {
            return self.join();
        }
        let all = std::mem::take(self.groups);
        for k in 0..count {
            for g in all.iter().filter(|g| g.masks[k] != 0) {
                let mut masks = [0; 32];
                masks[0] = g.masks[k];
                self.groups.push(Group { pc: g.pc, masks });
            }
            self.r.select(first + k, 1);
            if let Some(pc) = self.join()? {
                let mask = self.r.x.warp(k);
                self.r.x.branch(mask, pc);
            }
        }
        self.r.select(first, count);
        *self.groups = all;
        self.groups.clear();
        Ok(None)
    }

    /// The same for the selected warps, which run together.
    fn join(&mut self) -> Result<Option<Pc>, Box<Fault>> {
        loop {
            // groups at an instruction that may wait, or at the end, do not run here
            let regions = &self.code.regions;
            let runs = |g: &&Group| regions.get(usize::from(g.pc)).is_some_and(|region| region.block.is_none());
            let lowest = self.groups.iter().filter(runs).map(|g| g.pc).min();
            if let [one] = &self.groups[..]
                && one.masks[..self.r.n].iter().all(|m| *m == self.r.x.cur.mask)
            {
                let pc = one.pc;
                self.groups.clear();
                return Ok(Some(pc));
            }
            let next = lowest.filter(|_| !self.r.x.diverged());
            let Some(at) = next.and_then(|pc| self.groups.iter().position(|g| g.pc == pc)) else {
                self.leave();
                return Ok(None);
            };
            let group = self.groups.swap_remove(at);
            self.r.part(&group.masks, self.rest(None));
            let warps = group.masks[..self.r.n].iter().filter(|m| **m != 0).count() as u64;
            let mut pc = group.pc;
            loop {
                self.count_instructions(pc, warps);
                self.r.x.turn_of(pc, warps)?;
                self.tell_region(pc, (self.r.lo as u32, group.masks[0], self.r.n as u32));
                let Some(next) = self.region(pc)? else { break };
                pc = next;
                if !self.stays_lowest(pc) {
                    self.add(pc, &group.masks);
                    break;
                }
            }
        }
    }

    /// Does the running group run next, too, if it goes on there?
    fn stays_lowest(&self, pc: Pc) -> bool {
        let runs = self.code.regions.get(usize::from(pc)).is_some_and(|region| region.block.is_none());
        runs && !self.r.x.diverged() && !self.groups.is_empty() && self.groups.iter().all(|g| g.pc > pc)
    }

    /// Tells the machine where all lanes are.
    fn leave(&mut self) {
        let from = self.r.first - self.r.x.cur.lo as usize;
        for k in 0..self.r.n {
            self.r.x.warp(from + k);
            for g in self.groups.iter() {
                self.r.x.branch(g.masks[k], g.pc);
            }
        }
        self.groups.clear();
    }

    fn add(&mut self, pc: Pc, masks: &Masks) {
        match self.groups.iter_mut().find(|g| g.pc == pc) {
            Some(g) => g.masks.iter_mut().zip(masks).for_each(|(to, m)| *to |= m),
            None => self.groups.push(Group { pc, masks: *masks }),
        }
    }

    /// Where the lanes are that do not run: those of the groups, and others at a region.
    fn rest(&self, others: Option<Pc>) -> Rest {
        let mut at = [Pc::MAX; 2];
        let mut places = self.groups.iter().map(|g| g.pc).chain(others);
        at.iter_mut().zip(&mut places).for_each(|(at, pc)| *at = pc);
        if !self.known || places.next().is_some() {
            return Rest::Anywhere;
        }
        at.sort_unstable();
        Rest::At(at)
    }

    /// Adds lanes, if there are any.
    fn fork(&mut self, pc: Pc, masks: Masks) {
        if masks[..self.r.n].iter().any(|m| *m != 0) {
            self.add(pc, &masks);
        }
    }

    /// Counts the instructions of a region for so many warps.
    #[inline(always)]
    fn count_instructions(&mut self, pc: Pc, warps: u64) {
        let length = self.code.regions.get(usize::from(pc)).map_or(0, |region| region.body.len());
        self.r.x.scheduling.endless.instructions += (length as u64 + 1) * warps;
    }

    /// Tells the monitor that warps (the first one, its lanes, their number) run a region.
    #[inline(always)]
    fn tell_region(&mut self, pc: Pc, warps: (u32, u32, u32)) {
        if self.r.x.monitor.wants().events {
            let region = &self.code.regions[usize::from(pc)];
            let ops = region.block.iter().map(|b| &b.op).chain(region.body.iter().map(|i| &i.op));
            // 0 is also the number of those that have none
            let site = ops.map(|op| op.site).find(|site| *site != 0);
            self.r.x.tell_region(warps, site, &self.code.image.regions[usize::from(pc)].name);
        }
    }

    fn region(&mut self, pc: Pc) -> Result<After, Box<Fault>> {
        let code = self.code;
        let at = usize::from(pc);
        let plans = &mut self.plans[at];
        self.r.for_runners(|r| {
            if let Some(results) = code.results(at) {
                let active = r.active;
                calls::give_results(r, results, &active)?;
            }
            run_body(r, code, at, plans)
        })?;
        match code.end(at) {
            End::Goto { to } => Ok(Some(*to)),
            End::Branch { guard, taken, fall } => {
                if self.r.registers.undefined.is_some() {
                    self.r.watch_branch(*guard, &code.image.regions[at].name)?;
                }
                self.branch(*guard, *taken, *fall)
            }
            End::Switch { site, index, targets } => self.switch(*site, &super::op::operand(index), targets),
            End::Call { site, pointer, callees } => {
                let pointer = pointer.as_ref().map(super::op::operand);
                self.call(*site, pointer.as_ref(), callees)
            }
            End::Return { address, sites } => {
                let active = self.r.active;
                for site in sites {
                    let masks = self.r.masks(&active, |r, k| {
                        let back = r.registers.lanes(r.leader(k), *address, r.lo + k);
                        crate::mask_by(|l| back[l] == u64::from(*site))
                    });
                    self.fork(*site, masks);
                }
                Ok(None)
            }
            End::Exit {} | End::Block { .. } => Ok(Some(code.regions.len() as Pc)),
        }
    }

    fn branch(&mut self, guard: Guard, taken: Pc, fall: Pc) -> Result<After, Box<Fault>> {
        if !self.r.apart
            && let Scalar::Uniform(v) = self.r.scalar(guard.register)
        {
            return Ok(Some(if (v & 1 != 0) == guard.holds { taken } else { fall }));
        }
        let (mut jump, mut rest) = ([0; 32], [0; 32]);
        let (mut some_jump, mut some_stay) = (0, 0);
        for k in 0..self.r.n {
            let p = self.r.registers.mask(self.r.leader(k), guard.register, self.r.lo + k);
            let active = self.r.active[k];
            jump[k] = active & if guard.holds { p } else { !p };
            rest[k] = active & !jump[k];
            some_jump |= jump[k];
            some_stay |= rest[k];
        }
        if some_stay == 0 {
            return Ok(Some(taken));
        }
        if some_jump == 0 {
            return Ok(Some(fall));
        }
        if self.is_skipped(fall, taken) {
            self.without_others(fall, taken, &rest)?;
            return Ok(Some(taken));
        }
        self.add(taken, &jump);
        self.add(fall, &rest);
        Ok(None)
    }

    /// If some lanes go to `fall` and the others to `taken`: does the first group run one region, and then join the others?
    fn is_skipped(&self, fall: Pc, taken: Pc) -> bool {
        let skipped = self.code.image.regions.get(usize::from(fall));
        let joins = skipped.is_some_and(|region| matches!(region.end, End::Goto { to } if to == taken));
        let lowest = fall < taken && self.groups.iter().all(|g| g.pc > fall);
        joins && lowest && !self.r.apart && !self.r.x.diverged()
    }

    /// These lanes run a region, while the others of the running group are at `others`.
    fn without_others(&mut self, pc: Pc, others: Pc, masks: &Masks) -> Result<(), Box<Fault>> {
        let (active, before) = (self.r.active, self.r.rest);
        let warps = masks[..self.r.n].iter().filter(|m| **m != 0).count() as u64;
        self.r.part(masks, self.rest(Some(others)));
        self.count_instructions(pc, warps);
        self.r.x.turn_of(pc, warps)?;
        self.tell_region(pc, (self.r.lo as u32, masks[0], self.r.n as u32));
        self.region(pc)?;
        self.r.part(&active, before);
        Ok(())
    }

    /// `brx.idx`
    fn switch(&mut self, site: u32, index: &Operand, targets: &[Pc]) -> Result<After, Box<Fault>> {
        let active = self.r.active;
        let mut parts: Vec<Masks> = vec![[0; 32]; targets.len()];
        for k in 0..self.r.n {
            self.r.enter(k, active[k]);
            self.r.x.site = site;
            let index = self.r.operand(index, k);
            let outside = active[k] & crate::mask_by(|l| index[l] >= targets.len() as u64);
            crate::switch_in_range(self.r.x, outside, targets.len() as u64)?;
            crate::lanes(active[k], |l| parts[index[l] as usize][k] |= 1 << l);
        }
        for (to, masks) in targets.iter().zip(parts) {
            self.fork(*to, masks);
        }
        Ok(None)
    }

    fn call(&mut self, site: u32, pointer: Option<&Operand>, callees: &[Callee]) -> Result<After, Box<Fault>> {
        let active = self.r.active;
        // passing arguments to a function may change the pointer
        let mut reached: Vec<Masks> = vec![[0; 32]; callees.len()];
        for k in 0..self.r.n {
            self.r.enter(k, active[k]);
            self.r.x.site = site;
            let pointer: Option<Lanes> = pointer.map(|p| self.r.operand(p, k));
            let mut all = 0;
            for (callee, masks) in callees.iter().zip(&mut reached) {
                masks[k] = match &pointer {
                    Some(p) => active[k] & crate::mask_by(|l| p[l] == callee.address),
                    None => active[k],
                };
                all |= masks[k];
            }
            crate::call_in_range(self.r.x, active[k] & !all)?;
        }
        for (callee, masks) in callees.iter().zip(reached) {
            if masks[..self.r.n].iter().all(|m| *m == 0) {
                continue;
            }
            calls::pass_arguments(&mut self.r, callee, &masks)?;
            self.add(callee.start, &masks);
        }
        Ok(None)
    }

    /// An instruction that may wait, for all warps of the cohort.
    fn block(&mut self, pc: Pc, block: &Block) -> Result<Passed, Box<Fault>> {
        let End::Block { next, .. } = self.code.end(usize::from(pc)) else {
            return Err(self.r.x.fault(FaultKind::Internal("a wait without a next region".into()), 0));
        };
        if let Some(watched) = &block.op.watched {
            self.r.watch(&block.op, watched)?;
        }
        if block.barrier.is_some_and(|id| self.r.x.pass_barrier(id)) {
            return Ok(Passed::Go(*next));
        }
        if block.shuffle.is_some_and(|mode| self.r.shuffle(mode, &block.op)) {
            return Ok(Passed::Go(*next));
        }
        if block.waits && self.r.wait_together(&block.op, pc, *next)? {
            return Ok(match self.r.x.go() {
                Some(next) => Passed::Go(next),
                None => Passed::Ends(Next::Split),
            });
        }
        for k in 0..self.r.n {
            let mask = self.r.x.warp(k);
            let flow = self.r.call_block(block, k, mask)?;
            self.r.x.flow(flow, pc, *next);
        }
        Ok(match self.r.x.go() {
            Some(next) => Passed::Go(next),
            None => Passed::Ends(Next::Split),
        })
    }
}

/// Runs the instructions of region `at`.
#[inline(never)]
fn run_body(r: &mut Runner<'_, '_>, code: &Code, at: usize, plans: &mut Plans) -> Result<(), Box<Fault>> {
    let body = &code.regions[at].body;
    let failed = if r.apart { plan::run_from(r, body, 0) } else { plans.run(r, code, at) };
    failed.map_err(|(i, fault)| {
        let fault = r.with_reads(&body[i].op, fault);
        r.first_fault(&body[i + 1..], fault)
    })
}
