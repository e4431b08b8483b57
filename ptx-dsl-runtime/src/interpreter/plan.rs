//! Plans: the instructions of a region with all that follows from the kinds of values in registers decided once.
//!
//! A region that runs a second time leaves a plan. It holds as long as the registers of the region have the same kinds (uniform,
//! affine, rows) when the region begins; a region keeps a plan for each of the few combinations that occur. Where a planned step
//! cannot do its work, the rest of the region runs as if there were no plan. A plan never faults: it leaves that to the instruction.

mod deferred;
mod fusion;
mod step;

use super::code::{Code, Instr};
use super::runner::{Rest, Runner};
use crate::fault::Fault;

use deferred::{Deferred, Tracker};
use step::{Outcome, Step};

/// Plans of a region.
const MOST: usize = 12;

/// The plans of a region.
pub(super) struct Plans {
    /// It has run.
    known: bool,
    /// The one that was used last.
    last: usize,
    all: Vec<Plan>,
    /// Accesses that could not run at an index.
    refused: Vec<usize>,
}

struct Plan {
    /// Where the lanes are that do not run.
    rest: Rest,
    /// What the registers of the region are before it.
    kinds: Box<[u64]>,
    steps: Box<[Planned]>,
    /// In the order of the region.
    deferred: Box<[Deferred]>,
}

struct Planned {
    /// The number of the instruction; the step may be several.
    at: usize,
    step: Step,
    /// `Runner::all`: its results are dead where the lanes are that do not run.
    all: bool,
}

/// An instruction of a region has failed: which one.
pub(super) type Failed = (usize, Box<Fault>);

impl Plans {
    pub fn new() -> Self {
        Plans { known: false, last: 0, all: Vec::new(), refused: Vec::new() }
    }

    /// Runs the body of region `at`.
    #[inline]
    pub fn run(&mut self, r: &mut Runner<'_, '_>, code: &Code, at: usize) -> Result<(), Failed> {
        let region = &code.regions[at];
        let fits = |plan: &Plan| plan.rest == r.rest && r.registers.kinds.are(r.lo, &region.registers, &plan.kinds);
        if !self.all.get(self.last).is_some_and(fits) {
            let Some(at) = self.all.iter().position(fits) else { return self.record(r, code, at) };
            self.last = at;
        }
        match self.all[self.last].run(r, &region.body)? {
            None => Ok(()),
            Some(refused) => {
                self.all.swap_remove(self.last);
                self.refused.push(refused);
                run_from(r, &region.body, refused)
            }
        }
    }

    /// Runs it without a plan, and perhaps makes one.
    fn record(&mut self, r: &mut Runner<'_, '_>, code: &Code, at: usize) -> Result<(), Failed> {
        let region = &code.regions[at];
        if !std::mem::replace(&mut self.known, true) || self.all.len() == MOST {
            return run_from(r, &region.body, 0);
        }
        let kinds = r.registers.kinds.of(r.lo, &region.registers);
        let mut plan = Plan { rest: r.rest, kinds, steps: Box::new([]), deferred: Box::new([]) };
        let mut steps = Vec::with_capacity(region.body.len());
        let mut tracker = Tracker::default();
        for (i, instr) in region.body.iter().enumerate() {
            r.unguarded();
            tracker.note(r, instr, i, self.refused.contains(&i));
            let all = instr.op.guard.is_none() && are_dead(code, instr, r.rest);
            r.all = all;
            let step = Step::record(r, instr).map_err(|fault| (i, fault))?;
            r.describe_news(&instr.op);
            steps.push(Planned { at: i, step, all });
        }
        plan.deferred = tracker.apply(code, at, &mut steps);
        if r.full {
            fusion::fuse(r, code, at, &mut steps);
        }
        plan.steps = fusion::join_loops(steps).into();
        self.last = self.all.len();
        self.all.push(plan);
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
pub(super) fn run_from(r: &mut Runner<'_, '_>, body: &[Instr], from: usize) -> Result<(), Failed> {
    // a planned step may have changed `all`
    r.guarded = true;
    for (i, instr) in body.iter().enumerate().skip(from) {
        r.execute(instr).map_err(|fault| (i, fault))?;
        r.describe_news(&instr.op);
    }
    Ok(())
}

impl Plan {
    /// Runs it. Returns the instruction before which it has stopped because that has refused to run.
    #[inline(always)]
    fn run(&self, r: &mut Runner<'_, '_>, body: &[Instr]) -> Result<Option<usize>, Failed> {
        r.unguarded();
        for Planned { at, step, all } in &self.steps {
            r.all = *all;
            let outcome = step.run(r, body, *at).map_err(|fault| {
                self.leave(r, at + 1);
                (*at, fault)
            })?;
            r.describe_news(&body[*at].op);
            match outcome {
                Outcome::Done => {}
                Outcome::Left => {
                    self.leave(r, *at);
                    return run_from(r, body, *at).map(|()| None);
                }
                Outcome::Refused => {
                    self.leave(r, *at);
                    return Ok(Some(*at));
                }
                Outcome::Otherwise => {
                    self.leave(r, at + 1);
                    return run_from(r, body, at + 1).map(|()| None);
                }
            }
        }
        Ok(None)
    }

    /// Instruction `next` runs now, without the plan.
    #[cold]
    fn leave(&self, r: &mut Runner<'_, '_>, next: usize) {
        self.deferred.iter().for_each(|deferred| deferred.catch_up(r, next));
    }
}
