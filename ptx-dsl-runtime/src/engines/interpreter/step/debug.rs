//! Stops before statements, for a debugger: what it is told, and what it sees of the launch.

use super::RegionStep;
use crate::engines::interpreter::calls;
use crate::engines::interpreter::plan;
use crate::engines::interpreter::registers::Registers;
use crate::fault::{Fault, FaultKind};
use crate::kernel::flow::Pc;
use crate::machine::cluster::{Cohort, Parked};
use crate::machine::ctx::Ctx;
use crate::memory::address::{AddrSpace, Place, decode};
use crate::observe::probe::stopped::{Before, CodePlace, LaneState, Lanes, Resident, Resume, Stopped, WarpId};
use crate::semantics::Done;
use ptx_dsl_isa::image::Register;

/// The registers of the CTAs that do not run now.
#[derive(Clone, Copy)]
pub(in crate::engines::interpreter) struct Others<'o> {
    /// The CTAs before the running one, by slot and rank.
    pub before: &'o [Option<Registers>],
    /// The CTAs after the running one.
    pub after: &'o [Option<Registers>],
    /// CTAs of a cluster.
    pub ctas: usize,
}

impl<'o> Others<'o> {
    /// The registers of a CTA. `None` for the one that runs, and for one that has not begun.
    fn get(&self, slot: u32, rank: u32) -> Option<&'o Registers> {
        let at = slot as usize * self.ctas + rank as usize;
        match at.checked_sub(self.before.len()) {
            None => self.before[at].as_ref(),
            Some(after) => self.after.get(after.checked_sub(1)?)?.as_ref(),
        }
    }
}

/// Runs the body of a region, a warp after the other, and tells the debugger of each statement.
#[inline(never)]
pub(super) fn warp_by_warp(step: &mut RegionStep<'_, '_>, at: usize) -> Done {
    let code = step.code;
    let (active, rest) = (step.r.active, step.r.rest);
    for (k, &mask) in active.iter().enumerate().take(step.r.count) {
        if mask == 0 {
            continue;
        }
        let warp = step.r.first + k;
        let r = &mut step.r;
        (r.lo, r.n, r.active[0]) = (warp, 1, mask);
        let is_whole = r.x.cta().live[warp] & !mask == 0;
        r.rest = if is_whole { super::super::runner::Rest::Nowhere } else { super::super::runner::Rest::Anywhere };
        r.guarded = true;
        if let Some(results) = code.results(at) {
            let active = r.active;
            calls::give_results(r, results, &active)?;
        }
        let body = &code.regions[at].body;
        for (index, instr) in body.iter().enumerate() {
            statement(step, warp as u32, mask, place(at, index))?;
            let r = &mut step.r;
            r.execute(instr).map_err(|fault| plan::failed(r, body, index, fault))?;
            r.describe_news(&instr.op);
        }
        statement(step, warp as u32, mask, place(at, body.len()))?;
    }
    let r = &mut step.r;
    (r.lo, r.n, r.active, r.rest) = (r.first, r.count, active, rest);
    r.guarded = true;
    Ok(())
}

fn place(region: usize, index: usize) -> CodePlace {
    CodePlace { region: region as u16, index: index as u32 }
}

/// Tells the debugger of an instruction that may wait, once for each warp; not once more when the wait is over.
#[inline(never)]
pub(super) fn before_block(step: &mut RegionStep<'_, '_>, pc: Pc) -> Done {
    if step.r.x.resumed() {
        return Ok(());
    }
    let (first, count, active) = (step.r.first, step.r.count, step.r.active);
    let body = step.code.regions[usize::from(pc)].body.len();
    for (k, mask) in active.into_iter().enumerate().take(count).filter(|(_, mask)| *mask != 0) {
        statement(step, (first + k) as u32, mask, place(pc.into(), body))?;
    }
    Ok(())
}

/// Tells the debugger that lanes of a warp are before a statement. Err if it ends the launch.
fn statement(step: &mut RegionStep<'_, '_>, warp: u32, lanes: u32, at: CodePlace) -> Done {
    let x = &mut *step.r.x;
    let id = WarpId { slot: x.residents.slot as u32, rank: x.cur.cta, warp };
    let before = Before { warp: id, lanes, at };
    step.before = Some(before);
    let Some(mut probe) = step.r.x.monitor.lend() else { return Ok(()) };
    let resume = probe.stops().map_or(Resume::Runs, |stops| stops.statement(&before, &View { step, before }));
    let x = &mut *step.r.x;
    x.monitor.give_back(probe);
    match resume {
        Resume::Runs => Ok(()),
        Resume::Ends => {
            // not a stop at a fault
            step.before = None;
            Err(x.fault_of_cohort(FaultKind::Cancelled { region: x.geometry.region(at.region) }))
        }
    }
}

/// Tells the debugger that the last statement has a fault.
#[cold]
pub(super) fn fails(step: &mut RegionStep<'_, '_>, fault: &Fault) {
    let (Some(before), Some(mut probe)) = (step.before, step.r.x.monitor.lend()) else { return };
    if let Some(stops) = probe.stops() {
        stops.fails(fault, &before, &View { step, before });
    }
    step.r.x.monitor.give_back(probe);
}

/// A launch that stands still.
struct View<'v, 's, 'a> {
    step: &'v RegionStep<'s, 'a>,
    before: Before,
}

impl View<'_, '_, '_> {
    fn x(&self) -> &Ctx<'_> {
        self.step.r.x
    }

    /// Is this the CTA that runs?
    fn runs(&self, slot: u32, rank: u32) -> bool {
        slot as usize == self.x().residents.slot && rank == self.x().cur.cta
    }

    fn registers(&self, slot: u32, rank: u32) -> Option<&Registers> {
        if self.runs(slot, rank) { Some(self.step.r.registers) } else { self.step.others.get(slot, rank) }
    }

    /// The lanes of the running cohort.
    fn running(&self, slot: u32, list: &mut Vec<Lanes>) {
        let (x, r) = (self.x(), &self.step.r);
        let c = &x.cur;
        for warp in c.lo..c.hi {
            let id = WarpId { slot, rank: c.cta, warp };
            let mut add = |lanes: u32, at: Option<CodePlace>, state: LaneState| {
                if lanes != 0 {
                    list.push(Lanes { warp: id, lanes, at, state });
                }
            };
            if warp == self.before.warp.warp {
                add(self.before.lanes, Some(self.before.at), LaneState::Runs);
                for group in self.step.groups.iter() {
                    let own = warp as usize - r.first.min(warp as usize);
                    let lanes = group.masks.get(if r.count == 1 { 0 } else { own }).copied().unwrap_or(0);
                    add(lanes & !self.before.lanes, Some(place(group.pc.into(), 0)), LaneState::Ready);
                }
                continue;
            }
            let known = x.step.outcome(c, warp);
            if !known.is_empty() {
                for (lanes, pc, waits) in known {
                    let state = if waits { LaneState::Waits("waits".into()) } else { LaneState::Ready };
                    add(lanes, Some(place(pc.into(), 0)), state);
                }
                continue;
            }
            if !self.step.later.is_empty() {
                for group in &self.step.later {
                    let lanes = group.masks.get((warp - c.lo) as usize).copied().unwrap_or(0);
                    add(lanes, Some(place(group.pc.into(), 0)), LaneState::Ready);
                }
                continue;
            }
            // the warps of a region run one after the other
            let region = usize::from(self.before.at.region);
            let in_region = (r.first..r.first + r.count).contains(&(warp as usize));
            let end = self.step.code.regions.get(region).map_or(0, |region| region.body.len());
            let at = match in_region {
                true if warp < self.before.warp.warp => Some(place(region, end)),
                true => Some(place(region, 0)),
                false => None,
            };
            add(c.mask, at, LaneState::Ready);
        }
    }
}

/// The lanes of a cohort that does not run.
fn waiting(slot: u32, c: &Cohort, state: &LaneState) -> impl Iterator<Item = Lanes> + use<> {
    let (rank, lanes, state, at) = (c.cta, c.mask, state.clone(), place(c.pc.into(), 0));
    (c.lo..c.hi).map(move |warp| Lanes { warp: WarpId { slot, rank, warp }, lanes, at: Some(at), state: state.clone() })
}

impl Stopped for View<'_, '_, '_> {
    fn clusters(&self) -> Vec<Resident> {
        let all = self.x().residents.clusters.iter().enumerate().filter(|(_, cluster)| cluster.resident);
        let all = all.map(|(slot, cluster)| Resident {
            slot: slot as u32,
            id: cluster.id,
            ctas: cluster.ctas.iter().map(|cta| cta.id).collect(),
        });
        all.collect()
    }

    fn lanes(&self) -> Vec<Lanes> {
        let (x, mut list) = (self.x(), Vec::new());
        for (slot, cluster) in x.residents.clusters.iter().enumerate().filter(|(_, cluster)| cluster.resident) {
            let slot_number = slot as u32;
            if slot == x.residents.slot {
                self.running(slot_number, &mut list);
            }
            list.extend(cluster.ready.iter().flat_map(|c| waiting(slot_number, c, &LaneState::Ready)));
            list.extend(cluster.parked.iter().flat_map(|parked: &Parked| {
                let state = LaneState::Waits(cluster.waits_for(parked, &x.geometry));
                waiting(slot_number, &parked.c, &state)
            }));
        }
        list.sort_by_key(|lanes| (lanes.warp, lanes.lanes.trailing_zeros()));
        list
    }

    fn register(&self, warp: WarpId, register: Register) -> Option<[u64; 32]> {
        let cluster = self.x().residents.clusters.get(warp.slot as usize).filter(|cluster| cluster.resident)?;
        let lives = *cluster.ctas.get(warp.rank as usize)?.live.get(warp.warp as usize)?;
        let registers = self.registers(warp.slot, warp.rank)?;
        let exists = (register as usize) < registers.slots.len();
        (exists && lives != 0).then(|| registers.lanes_of_warp(register, warp.warp as usize))
    }

    fn shared(&self, slot: u32, rank: u32) -> Option<&[u8]> {
        let cluster = self.x().residents.clusters.get(slot as usize).filter(|cluster| cluster.resident)?;
        if self.runs(slot, rank) && self.x().memory.shared_rank == rank {
            return Some(&self.x().memory.shared);
        }
        cluster.ctas.get(rank as usize).map(|cta| &*cta.shared)
    }

    fn read(&self, space: AddrSpace, address: u64, bytes: usize, (warp, lane): (WarpId, u32)) -> Option<Vec<u8>> {
        let from = |memory: &[u8], offset: u64| {
            let at = usize::try_from(offset).ok()?;
            Some(memory.get(at..at.checked_add(bytes)?)?.to_vec())
        };
        let x = self.x();
        match self.place(space, address, warp)? {
            Place::Global { segment, offset } => {
                let held = bytes as u64 <= x.memory.global.len(segment);
                let mut copy = vec![0; if held { bytes } else { 0 }];
                (held && x.memory.global.copy_out(segment, offset, &mut copy)).then_some(copy)
            }
            Place::Shared { rank, offset } => from(self.shared(warp.slot, rank)?, offset.into()),
            Place::Local { offset } => {
                let size = x.geometry.info.local_size as usize;
                let cta = x.residents.clusters.get(warp.slot as usize)?.ctas.get(warp.rank as usize)?;
                let first = (warp.warp as usize * 32 + lane as usize) * size;
                from(cta.local.get(first..first + size)?, offset)
            }
            Place::Const { offset } => from(x.geometry.info.const_image, offset),
            Place::Param { offset } => from(&x.memory.params, offset),
        }
    }

    fn place(&self, space: AddrSpace, address: u64, warp: WarpId) -> Option<Place> {
        decode(space, address, warp.rank)
    }

    fn tid(&self, warp: u32, lane: u32) -> Option<[u32; 3]> {
        let geometry = &self.x().geometry;
        (warp * 32 + lane < geometry.threads).then(|| geometry.tid(warp, lane as usize))
    }

    fn turns(&self) -> u64 {
        self.x().scheduling.turns
    }
}
