//! Plans: the instructions of a region with all that follows from the kinds of values in registers decided once.
//!
//! A region that runs a second time leaves a plan. It holds as long as the registers of the region have the same kinds (uniform,
//! affine, rows) when the region begins; a region keeps a plan for each of the few combinations that occur. Where a planned step
//! cannot do its work, the rest of the region runs as if there were no plan. A plan never faults: it leaves that to the instruction.

mod deferred;
mod fusion;
mod pairs;
mod readers;
mod scalars;
mod step;

use super::code::{Code, Instr, Region};
use super::runner::{Rest, Runner};
use crate::fault::Fault;
use crate::semantics::Done;

use deferred::{Deferred, Tracker};
use readers::Readers;
use step::{PlanStep, StepOutcome};

/// Plans of a region.
const MOST: usize = 12;

/// The plans of a region.
pub(super) struct Plans {
    /// Whether the region has run.
    known: bool,
    /// The one that was used last.
    last: usize,
    all: Vec<Plan>,
    /// Accesses that could not run at an index.
    refused: Vec<usize>,
}

struct Plan {
    /// The places of the lanes that do not run.
    rest: Rest,
    /// The kinds of the registers of the region before it.
    kinds: Box<[u64]>,
    steps: Box<[Planned]>,
    /// The deferred instructions, in the order of the region.
    deferred: Box<[Deferred]>,
}

struct Planned {
    /// The number of the instruction; the step may be several.
    at: usize,
    step: PlanStep,
    /// The value of `Runner::all`: the results are dead in the lanes that do not run.
    all: bool,
}

impl Plans {
    pub fn new() -> Self {
        Plans { known: false, last: 0, all: Vec::new(), refused: Vec::new() }
    }

    /// Runs the body of region `at`.
    #[inline(always)]
    pub fn run(&mut self, r: &mut Runner<'_, '_>, code: &Code, at: usize) -> Done {
        let region = &code.regions[at];
        if r.registers.has_undefined() {
            return run_from(r, &region.body, 0);
        }
        if !self.all.get(self.last).is_some_and(|plan| plan.fits(r, region)) {
            let Some(at) = self.all.iter().position(|plan| plan.fits(r, region)) else {
                return self.record(r, code, at);
            };
            self.last = at;
        }
        match self.all[self.last].run(r, &region.body)? {
            None => Ok(()),
            Some(refused) => self.forget(r, &region.body, refused),
        }
    }

    /// Runs an instruction that has refused to run from the last plan in another way, and plans it so from now on.
    #[cold]
    #[inline(never)]
    fn forget(&mut self, r: &mut Runner<'_, '_>, body: &[Instr], refused: usize) -> Done {
        self.all.swap_remove(self.last);
        self.refused.push(refused);
        run_from(r, body, refused)
    }

    /// Runs the region without a plan, and perhaps makes one.
    #[inline(never)]
    fn record(&mut self, r: &mut Runner<'_, '_>, code: &Code, at: usize) -> Done {
        let region = &code.regions[at];
        if !std::mem::replace(&mut self.known, true) || self.all.len() == MOST {
            return run_from(r, &region.body, 0);
        }
        self.all.push(Plan::record(r, code, at, &self.refused)?);
        self.last = self.all.len() - 1;
        Ok(())
    }
}

/// Does no thread that does not run read the results of an instruction?
fn are_dead(code: &Code, instr: &Instr, rest: Rest) -> bool {
    let mut results = instr.op.results.iter().flatten();
    match rest {
        Rest::Nowhere => true,
        Rest::At(places) => results.all(|r| places.iter().all(|pc| code.is_dead(*r, *pc))),
        Rest::Anywhere => false,
    }
}

/// Runs the instructions of a region from one on, without a plan.
pub(super) fn run_from(r: &mut Runner<'_, '_>, body: &[Instr], from: usize) -> Done {
    // a planned step may have changed `all`
    r.guarded = true;
    for (i, instr) in body.iter().enumerate().skip(from) {
        r.execute(instr).map_err(|fault| failed(r, body, i, fault))?;
        r.describe_news(&instr.op);
    }
    Ok(())
}

/// The fault of instruction `at` of a region, with what it has read, or that of an earlier warp.
#[cold]
#[inline(never)]
pub(super) fn failed(r: &mut Runner<'_, '_>, body: &[Instr], at: usize, fault: Box<Fault>) -> Box<Fault> {
    let fault = r.details().with_reads(&body[at].op, fault);
    r.first_fault(&body[at + 1..], fault)
}

impl Plan {
    /// Runs the body of region `at`, and notes how. These instructions have refused to run from a plan.
    fn record(r: &mut Runner<'_, '_>, code: &Code, at: usize, refused: &[usize]) -> Result<Plan, Box<Fault>> {
        let region = &code.regions[at];
        let (rest, kinds) = (r.rest, r.registers.kinds.of(r.lo, &region.registers));
        let mut steps = Vec::with_capacity(region.body.len());
        let mut tracker = Tracker::default();
        for (i, instr) in region.body.iter().enumerate() {
            r.unguarded();
            tracker.note(r, instr, i, refused.contains(&i));
            let all = instr.op.guard.is_none() && are_dead(code, instr, rest);
            r.all = all;
            let step = PlanStep::record(r, i, instr).map_err(|fault| failed(r, &region.body, i, fault))?;
            r.describe_news(&instr.op);
            steps.push(Planned { at: i, step, all });
        }
        let deferred = tracker.apply(code, at, &mut steps);
        let readers = Readers::of(code, at);
        if r.full {
            fusion::fuse(r, &region.body, &readers, &mut steps);
        }
        let steps = fusion::join_scalars(fusion::join_loops(&region.body, &readers, steps)).into();
        Ok(Plan { rest, kinds, steps, deferred })
    }

    /// Whether the plan is valid for the running lanes.
    #[inline(always)]
    fn fits(&self, r: &Runner<'_, '_>, region: &Region) -> bool {
        self.rest == r.rest && r.registers.kinds.are(r.lo, &region.registers, &self.kinds)
    }

    /// Runs it. Returns the instruction before which it has stopped because that has refused to run.
    #[inline(never)]
    fn run(&self, r: &mut Runner<'_, '_>, body: &[Instr]) -> Result<Option<usize>, Box<Fault>> {
        r.unguarded();
        for Planned { at, step, all } in &self.steps {
            r.all = *all;
            let outcome = step.run(r, body, *at).map_err(|fault| self.failed(r, body, *at, fault))?;
            if r.x.findings.has_news() {
                r.describe_findings(&body[*at].op);
                if r.registers.has_undefined() && matches!(outcome, StepOutcome::Done) {
                    return self.run_rest(r, body, at + 1);
                }
            }
            match outcome {
                StepOutcome::Done => {}
                StepOutcome::Left => return self.run_rest(r, body, *at),
                StepOutcome::LeftAt(at) => return self.run_rest(r, body, at),
                StepOutcome::Otherwise => return self.run_rest(r, body, at + 1),
                StepOutcome::Refused => {
                    self.leave(r, *at);
                    return Ok(Some(*at));
                }
            }
        }
        Ok(None)
    }

    /// Leaves the plan: the instructions from `next` on run without it.
    #[cold]
    #[inline(never)]
    fn run_rest(&self, r: &mut Runner<'_, '_>, body: &[Instr], next: usize) -> Result<Option<usize>, Box<Fault>> {
        self.leave(r, next);
        run_from(r, body, next)?;
        Ok(None)
    }

    /// Instruction `at` has failed.
    #[cold]
    #[inline(never)]
    fn failed(&self, r: &mut Runner<'_, '_>, body: &[Instr], at: usize, fault: Box<Fault>) -> Box<Fault> {
        self.leave(r, at + 1);
        failed(r, body, at, fault)
    }

    /// Instruction `next` runs now, without the plan.
    #[cold]
    fn leave(&self, r: &mut Runner<'_, '_>, next: usize) {
        self.deferred.iter().for_each(|deferred| deferred.catch_up(r, next));
    }
}
