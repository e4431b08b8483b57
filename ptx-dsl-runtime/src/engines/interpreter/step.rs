//! Control flow: the regions of a cohort, and the lanes of a diverged one.
//!
//! Warps that are together run a region at a time. Where lanes part, the groups of lanes at each region run by themselves, the one
//! with the lowest region first: regions are numbered in reverse postorder, so a group that is behind catches up before the join.
//! Lanes that come to an instruction that may wait go back to the driver, as does everything when the turn is over.

mod debug;
mod ends;
mod groups;

use super::calls;
use super::code::{Code, End};
use super::plan::{self, Plans};
use super::registers::Registers;
use super::runner::{Masks, Runner, runs_apart};
use super::touched::{Touches, note_touched};
use super::visible::Begin;
use crate::fault::Fault;
use crate::kernel::flow::{Next, Pc};
use crate::machine::ctx::Ctx;
use crate::observe::probe::stopped::Before;
use crate::semantics::Done;
pub(super) use debug::Others;
use groups::Group;
use ptx_dsl_isa::image::NO_SITE;
use std::sync::Arc;

/// The scratch state of steps besides registers, kept from step to step.
pub(super) struct Stepper {
    /// Groups that do not run now.
    groups: Vec<Group>,
    /// The plans of each region.
    plans: Vec<Plans>,
    sides: [Masks; 2],
    /// The kind of operation with which each region begins; for schedules with a seed.
    begins: Arc<[Begin]>,
    /// The dependences of each region on other threads, once asked for, in a launch with a seed.
    touches: Vec<Option<Touches>>,
}

impl Stepper {
    pub fn new(regions: usize, begins: Arc<[Begin]>) -> Self {
        let touches = begins.iter().map(|_| None).collect();
        let plans = (0..regions).map(|_| Plans::new()).collect();
        Stepper { groups: Vec::new(), plans, sides: [[0; 32]; 2], begins, touches }
    }
}

/// The continuation of lanes after a region: the region for all of them, or `None` if the groups hold their regions.
type After = Option<Pc>;

type Stepped = Result<Next, Box<Fault>>;

/// Runs the current cohort.
pub(super) fn run(
    code: &Code,
    (registers, others): (&mut Registers, Others<'_>),
    stepper: &mut Stepper,
    x: &mut Ctx<'_>,
) -> Stepped {
    let (lo, hi) = (x.cur.lo as usize, x.cur.hi as usize);
    loop {
        let apart = runs_apart(x);
        if !apart {
            registers.begin(lo, hi);
        }
        stepper.groups.clear();
        let mut step = RegionStep {
            code,
            groups: &mut stepper.groups,
            later: Vec::new(),
            plans: &mut stepper.plans,
            // here, so that it need not be moved
            r: Runner::new(&code.image, registers, x),
            known: false,
            in_group: false,
            sides: &mut stepper.sides,
            begins: &stepper.begins,
            touches: &mut stepper.touches,
            others,
            before: None,
        };
        let next = step.run();
        if let Err(fault) = &next
            && step.before.is_some()
        {
            debug::fails(&mut step, fault);
        }
        match next {
            Ok(Next::Exit) if x.starts().start_next_cluster() => match apart {
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

struct RegionStep<'s, 'a> {
    code: &'s Code,
    groups: &'s mut Vec<Group>,
    /// The groups of all warps of the cohort, while each warp runs its groups by itself.
    later: Vec<Group>,
    plans: &'s mut [Plans],
    r: Runner<'s, 'a>,
    /// `groups` has all lanes of these warps that do not run.
    known: bool,
    /// The running lanes are a group.
    in_group: bool,
    /// The lanes that jump at a branch, and those that do not.
    sides: &'s mut [Masks; 2],
    begins: &'s [Begin],
    touches: &'s mut [Option<Touches>],
    /// The registers of other CTAs, for a debugger.
    others: Others<'s>,
    /// The last statement of which a debugger was told.
    before: Option<Before>,
}

impl RegionStep<'_, '_> {
    fn run(&mut self) -> Stepped {
        let mut pc = self.r.x.cur.pc;
        loop {
            // all warps are together here
            self.r.together();
            self.known = self.r.whole() && !self.r.apart && !self.r.x.scheduling.probing;
            self.begin(pc)?;
            let Some(region) = self.code.regions.get(usize::from(pc)) else { return Ok(Next::Exit) };
            let next = match &region.block {
                Some(block) => {
                    if self.r.x.monitor.needs().statements {
                        debug::before_block(self, pc)?;
                    }
                    self.block(pc, block)?
                }
                None => match self.region(pc)? {
                    Some(next) => Some(next),
                    None => match self.parted()? {
                        Some(next) => Some(next),
                        None => self.r.x.go(),
                    },
                },
            };
            pc = match next {
                Some(next) if self.r.x.diverged() => return Ok(Next::Go(next)),
                Some(next) => next,
                None => return Ok(Next::Split),
            };
        }
    }

    /// Begins a region for the running lanes: counts its instructions, and tells the monitor.
    #[inline(always)]
    fn begin(&mut self, pc: Pc) -> Done {
        let warps = self.r.warps;
        if let Some(region) = self.code.regions.get(usize::from(pc)) {
            let endless = &mut self.r.x.scheduling.endless;
            endless.instructions += region.instructions * warps;
            endless.work += region.work * warps;
        }
        self.r.x.budget().turn_of(pc, warps)?;
        if !self.begins.is_empty() {
            self.begin_scheduled(pc);
        }
        if self.r.x.monitor.needs().regions {
            self.count_region(pc);
        }
        if self.r.x.monitor.wants().events {
            self.report_region(pc);
        }
        Ok(())
    }

    /// Tells the schedule of the region, and notes what it accesses, in a launch with a seed.
    #[inline(never)]
    fn begin_scheduled(&mut self, pc: Pc) {
        match self.begins.get(usize::from(pc)) {
            None | Some(Begin::Hidden) => {}
            Some(begin) => self.r.x.scheduling.comes_to_visible(pc, *begin == Begin::Test),
        }
        if self.r.x.scheduling.touched.is_noted()
            && let Some(region) = self.code.image.regions.get(usize::from(pc))
        {
            let touches = self.touches[usize::from(pc)].get_or_insert_with(|| Touches::of(&self.code.image, region));
            note_touched(&mut self.r, touches);
        }
    }

    /// Tells the monitor of the region, if there is one.
    #[inline(never)]
    fn report_region(&mut self, pc: Pc) {
        let Some(region) = self.code.regions.get(usize::from(pc)) else { return };
        let ops = region.block.iter().map(|b| &b.op).chain(region.body.iter().map(|i| &i.op));
        let site = ops.map(|op| op.site).find(|site| *site != NO_SITE);
        let warps = (self.r.lo as u32, self.r.active[0], self.r.n as u32);
        self.r.x.report().region(warps, site, &self.code.image.regions[usize::from(pc)].name);
    }

    /// Tells the monitor which lanes run a region; not once more when a wait is over.
    #[inline(never)]
    fn count_region(&mut self, pc: Pc) {
        let r = &mut self.r;
        if !r.x.resumed()
            && let Some(monitor) = r.x.monitor.get()
        {
            monitor.region(pc.into(), &r.active[..r.n]);
        }
    }

    /// Runs a region.
    fn region(&mut self, pc: Pc) -> Result<After, Box<Fault>> {
        let (code, at) = (self.code, usize::from(pc));
        if self.r.apart {
            self.warp_by_warp(at)?;
        } else {
            if let Some(results) = code.results(at) {
                let active = self.r.active;
                calls::give_results(&mut self.r, results, &active)?;
            }
            self.plans[at].run(&mut self.r, code, at)?;
        }
        match code.regions[at].end {
            End::Goto(to) => Ok(Some(to)),
            End::Branch { guard, taken, fall } => {
                if self.r.registers.undefined.as_ref().is_some_and(|u| !u.is_empty()) {
                    self.r.tracker().watch_branch(guard, &code.image.regions[at].name)?;
                }
                self.branch(guard, taken, fall)
            }
            End::Other => self.transfer(at),
        }
    }

    /// Runs the body of a region, where each warp runs by itself.
    #[inline(never)]
    fn warp_by_warp(&mut self, at: usize) -> Done {
        let code = self.code;
        if self.r.x.monitor.needs().statements {
            return debug::warp_by_warp(self, at);
        }
        self.r.for_warps(|r| {
            if let Some(results) = code.results(at) {
                let active = r.active;
                calls::give_results(r, results, &active)?;
            }
            plan::run_from(r, &code.regions[at].body, 0)
        })
    }
}
