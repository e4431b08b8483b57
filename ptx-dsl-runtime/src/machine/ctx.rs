//! What a region sees of the machine: ids, masks, and where its lanes go.

mod fragments;
mod ids;

use std::ops::Range;

use crate::fault::{At, Fault, FaultKind, ThreadId};
use crate::host::{Host, Report};
use crate::kernel::{Flow, KernelInfo, Pc, Wait};
use crate::launch::{CancelHandle, Launch};
use crate::machine::agent::Agents;
use crate::machine::cluster::{Cluster, Cohort, Cta, Parked};
use crate::machine::level::Level;
use crate::machine::team::Team;
use crate::mem::global::Global;
use crate::mem::lines::Lines;
use crate::monitor::{Monitor, Who};
use crate::schedule::{Choice, Scheduler};

/// Regions a cohort runs before others have a turn, counted per warp like all times here.
pub(crate) const QUANTUM: u64 = 4096;

/// Warp `warp` goes on at `pc` with the lanes of `mask`, or waits there.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub warp: u32,
    pub mask: u32,
    pub pc: Pc,
    pub wait: Option<Wait>,
    pub site: u32,
}

/// `%tid` of all lanes of a CTA.
fn tids([x, y, z]: [u32; 3]) -> Vec<[u32; 3]> {
    let mut next = [0; 3];
    let tids = (0..(x * y * z).next_multiple_of(32)).map(|_| {
        let tid = next;
        next[0] += 1;
        for axis in 0..2 {
            if next[axis] == [x, y][axis] {
                next[axis] = 0;
                next[axis + 1] += 1;
            }
        }
        tid
    });
    tids.collect()
}

/// The machine, as seen by the region that runs on it.
pub struct Ctx<'a, M> {
    /// Active lanes.
    pub mask: u32,
    /// The PTX statement that runs, for faults.
    pub site: u32,
    /// The current warp in its CTA.
    pub warp: u32,
    pub(crate) cur: Cohort,
    pub(crate) slot: usize,
    pub(crate) parts: Vec<Part>,
    /// The first so many warps of the cohort go on at `whole_pc` with all their lanes; then `parts` is empty.
    whole: u32,
    whole_pc: Pc,
    /// The first so many warps of the cohort wait for the same, at `whole_pc`; then `parts` is empty and `whole` is 0.
    waits: u32,
    pub(crate) wait: Wait,
    /// What `split` needs for a moment.
    pub(crate) groups: Vec<Parked>,
    pub(crate) going: Vec<Cohort>,
    /// Fragments of the current warp that can run: the emitted code takes the one that is furthest behind.
    fragments: [(Pc, u32); 32],
    fragment_count: usize,
    /// Where the one that is furthest behind is; the highest number if there are none.
    behind: Pc,
    /// `step` should return to the driver after this region.
    pub(crate) leave: bool,
    /// Another resident cluster should have a turn.
    pub(crate) rotate: bool,
    pub(crate) yielded: bool,
    pub(crate) turns: u64,
    checkpoint: u64,
    pub(crate) limit: u64,
    /// When to look again whether the launch is to end, and what the team knows of `turns`.
    pub(crate) look: u64,
    pub(crate) told: u64,
    pub(crate) cancel: Option<CancelHandle>,
    /// Another thread has a fault: this one has none, it just ends.
    pub(crate) stopped: bool,
    pub(crate) team: &'a Team,
    /// Clusters that this thread has taken and that have no place yet.
    pub(crate) hand: Range<u64>,
    pub(crate) info: &'static KernelInfo,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) cluster: [u32; 3],
    pub(crate) threads: u32,
    pub(crate) dynamic_shared: u32,
    /// Rows of eight lanes in a warp, 4: see [`crate::lanes::Level::lanes`].
    pub rows: u8,
    /// What the processor can do.
    pub(crate) level: Level,
    tids: Vec<[u32; 3]>,
    pub(crate) params: Vec<u8>,
    pub(crate) global: Global<'a>,
    /// Shared memory of the running CTA, while a step runs.
    pub(crate) shared: Lines,
    held: bool,
    /// Places for resident clusters.
    pub(crate) clusters: Vec<Cluster>,
    /// Does the kernel use `.cta_group::2`? Known from the first instruction that says.
    pub(crate) pairs: Option<bool>,
    pub(crate) agents: Agents,
    pub(crate) monitor: M,
    /// Changes of memory and synchronisation state. While probing for a deadlock only stores that change something count.
    pub(crate) progress: u64,
    pub(crate) probing: bool,
    /// A place for a cluster has become free.
    pub(crate) vacant: bool,
    /// The free places, the next one to be taken last.
    pub(crate) free: Vec<usize>,
    /// `%nclusterid`
    clusters_in_grid: [u32; 3],
    /// The scheduler always takes the first, and nobody wants to know.
    pub(crate) plain: bool,
    scheduler: Box<dyn Scheduler>,
    record: Option<Vec<u32>>,
    pub(crate) report: Report,
}

impl<'a, M: Monitor> Ctx<'a, M> {
    pub(crate) fn new(
        host: &Host<M>,
        launch: &Launch,
        info: &'static KernelInfo,
        params: Vec<u8>,
        global: Global<'a>,
        team: &'a Team,
    ) -> Self {
        let block = launch.block_dims(info);
        let cluster = launch.cluster_dims(info);
        let threads = block.iter().product();
        let slots = team.places(host.resident());
        Ctx {
            mask: 0,
            site: 0,
            warp: 0,
            cur: Cohort::default(),
            slot: 0,
            parts: Vec::new(),
            whole: 0,
            whole_pc: 0,
            waits: 0,
            wait: Wait::Cluster { phase: 0 },
            groups: Vec::new(),
            going: Vec::new(),
            fragments: [(0, 0); 32],
            fragment_count: 0,
            behind: Pc::MAX,
            leave: false,
            rotate: false,
            yielded: false,
            turns: 0,
            checkpoint: 0,
            limit: launch.step_limit,
            look: QUANTUM,
            told: 0,
            cancel: launch.cancel.clone(),
            stopped: false,
            team,
            hand: 0..0,
            info,
            grid: launch.grid,
            block,
            cluster,
            threads,
            dynamic_shared: launch.dynamic_shared,
            rows: 4,
            level: Level::Base,
            tids: tids(block),
            params,
            global,
            shared: Lines::default(),
            held: false,
            clusters: (0..slots).map(|_| Cluster::default()).collect(),
            pairs: None,
            agents: Agents::default(),
            monitor: M::default(),
            progress: 0,
            probing: false,
            vacant: true,
            free: (0..slots).rev().collect(),
            clusters_in_grid: std::array::from_fn(|i| launch.grid[i] / cluster[i]),
            plain: host.takes_the_first(),
            scheduler: host.scheduler(),
            record: host.records().then(Vec::new),
            report: Report::default(),
        }
    }

    pub(crate) fn into_report(self) -> Report {
        Report { turns: self.turns, schedule: self.record.unwrap_or_default(), ..self.report }
    }

    /// The decisions so far, if they are recorded.
    pub(crate) fn decisions(&mut self) -> Vec<u32> {
        self.record.take().unwrap_or_default()
    }

    pub(crate) fn choose(&mut self, what: Choice, n: usize) -> usize {
        if n < 2 || self.plain {
            return 0;
        }
        let i = self.scheduler.choose(what, n).min(n - 1);
        if let Some(record) = &mut self.record {
            record.push(i as u32);
        }
        i
    }

    /// Before a cohort's turn: until when it may run.
    pub(crate) fn begin(&mut self, diverged: bool) {
        let quantum = QUANTUM >> (2 * self.choose(Choice::Quantum, 7));
        self.checkpoint = self.limit.min(self.turns + quantum);
        self.leave = diverged;
        self.yielded = false;
        self.parts.clear();
        self.whole = 0;
        self.waits = 0;
        self.fragment_count = 0;
        self.behind = Pc::MAX;
    }

    pub(crate) fn warps_per_cta(&self) -> usize {
        self.threads.div_ceil(32) as usize
    }

    #[inline(always)]
    pub(crate) fn here(&mut self) -> &mut Cluster {
        &mut self.clusters[self.slot]
    }

    /// A step begins: the shared memory of its CTA is at hand.
    #[inline]
    pub(crate) fn hold(&mut self) {
        self.held = true;
        self.swap_shared();
    }

    /// The step is over.
    #[inline]
    pub(crate) fn release(&mut self) {
        self.swap_shared();
        self.held = false;
    }

    #[inline]
    fn swap_shared(&mut self) {
        let rank = self.cur.cta as usize;
        if let Some(cta) = self.clusters[self.slot].ctas.get_mut(rank) {
            std::mem::swap(&mut self.shared, &mut cta.shared);
        }
    }

    /// Is the shared memory of this CTA of the current cluster the one at hand?
    #[inline(always)]
    pub(crate) fn holds(&self, rank: u32) -> bool {
        self.held && rank == self.cur.cta
    }

    #[inline(always)]
    pub(crate) fn cta(&self) -> &Cta {
        &self.clusters[self.slot].ctas[self.cur.cta as usize]
    }

    #[inline(always)]
    pub(crate) fn cta_mut(&mut self) -> &mut Cta {
        let rank = self.cur.cta as usize;
        &mut self.here().ctas[rank]
    }

    pub(crate) fn who(&self, lanes: u32) -> Who {
        Who { site: self.site, slot: self.slot as u32, rank: self.cur.cta, warp: self.warp, lanes }
    }

    // what emitted code calls

    /// Every region starts with it: counts the step budget and remembers where the cohort is.
    #[inline(always)]
    pub fn turn(&mut self, pc: Pc) -> Result<(), Box<Fault>> {
        self.cur.pc = pc;
        self.turns += (self.cur.hi - self.cur.lo) as u64;
        if self.turns >= self.checkpoint { self.pause() } else { Ok(()) }
    }

    #[cold]
    fn pause(&mut self) -> Result<(), Box<Fault>> {
        self.leave = true;
        self.look_now()
    }

    /// The first warp of the cohort, and the lanes of all of them.
    #[inline(always)]
    pub fn cohort(&self) -> (u32, u32) {
        (self.cur.lo, self.cur.mask)
    }

    /// Makes warp `k` of the cohort the current one, with all lanes of the cohort active; returns them.
    #[inline(always)]
    pub fn warp(&mut self, k: usize) -> u32 {
        self.warp = self.cur.lo + k as u32;
        self.mask = self.cur.mask;
        self.mask
    }

    /// The lanes of `mask` of the current warp go on at `pc`. An empty mask is ignored.
    #[inline(always)]
    pub fn branch(&mut self, mask: u32, pc: Pc) {
        let together = mask == self.cur.mask
            && self.parts.is_empty()
            && self.waits == 0
            && self.warp == self.cur.lo + self.whole
            && (self.whole == 0 || self.whole_pc == pc);
        if together {
            self.whole_pc = pc;
            self.whole += 1;
        } else if mask != 0 {
            self.part(mask, pc, None);
        }
    }

    #[inline(never)]
    fn part(&mut self, mask: u32, pc: Pc, wait: Option<Wait>) {
        self.spread();
        self.parts.push(Part { warp: self.warp, mask, pc, wait, site: self.site });
    }

    /// The current warp waits at `pc`.
    #[inline(always)]
    pub(crate) fn park(&mut self, pc: Pc, wait: Wait) {
        let together = self.parts.is_empty()
            && self.whole == 0
            && self.warp == self.cur.lo + self.waits
            && (self.waits == 0 || self.whole_pc == pc && self.wait == wait)
            && !wait.is_rendezvous();
        if together {
            self.whole_pc = pc;
            self.wait = wait;
            self.waits += 1;
        } else {
            self.part(self.cur.mask, pc, Some(wait));
        }
    }

    /// Does the whole cohort wait for the same? Then `wait` says for what, and `cur` where.
    #[inline(always)]
    pub(crate) fn all_wait(&mut self) -> bool {
        let all = self.waits != 0 && self.waits == self.cur.hi - self.cur.lo;
        if all {
            self.waits = 0;
            self.cur.pc = self.whole_pc;
        }
        all
    }

    /// The warps that went on together or wait for the same, as parts.
    fn spread(&mut self) {
        for i in 0..std::mem::take(&mut self.whole) {
            let (warp, mask, pc) = (self.cur.lo + i, self.cur.mask, self.whole_pc);
            self.parts.push(Part { warp, mask, pc, wait: None, site: self.site });
        }
        for i in 0..std::mem::take(&mut self.waits) {
            let (warp, mask, pc) = (self.cur.lo + i, self.cur.mask, self.whole_pc);
            self.parts.push(Part { warp, mask, pc, wait: Some(self.wait.clone()), site: self.site });
        }
    }

    /// The current warp is done with the blocking instruction of region `here` and goes on at `next`, or waits.
    #[cfg_attr(debug_assertions, inline(never))]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn flow(&mut self, flow: Flow, here: Pc, next: Pc) {
        match flow {
            Flow::Next => self.branch(self.cur.mask, next),
            Flow::Wait(w) => self.park(here, w),
        }
    }

    /// Where the whole cohort goes on, if it stays together and need not wait.
    #[inline(always)]
    pub fn go(&mut self) -> Option<Pc> {
        if self.whole == self.cur.hi - self.cur.lo {
            self.whole = 0;
            self.cur.resumed = false;
            self.cur.result = 0;
            return Some(self.whole_pc);
        }
        self.gather_parts()
    }

    #[inline(never)]
    fn gather_parts(&mut self) -> Option<Pc> {
        if self.waits != 0 && self.waits == self.cur.hi - self.cur.lo {
            // what the driver then parks as one; or nobody has to wait, because the last to come was the one they wait for
            let result = self.is_over(&self.wait.clone())?;
            self.waits = 0;
            self.cur.resumed = true;
            self.cur.result = result;
            return Some(self.whole_pc);
        }
        self.spread();
        let first = self.parts.first()?;
        let pc = first.pc;
        let whole = self.parts.len() == (self.cur.hi - self.cur.lo) as usize
            && self.parts.iter().all(|p| p.pc == pc && p.mask == self.cur.mask && p.wait == first.wait);
        if !whole {
            return None;
        }
        if let Some(wait) = &first.wait {
            let wait = wait.clone();
            let result = self.is_over(&wait)?;
            self.cur.resumed = true;
            self.cur.result = result;
        } else {
            self.cur.resumed = false;
            self.cur.result = 0;
        }
        self.parts.clear();
        Some(pc)
    }

    /// Is this wait of the current cohort over? With its result.
    fn is_over(&mut self, wait: &Wait) -> Option<u64> {
        // it may look at mbarrier objects
        self.release();
        let over = self.clusters[self.slot].over(&self.cur, wait);
        self.hold();
        over
    }

    /// `bar.sync id` of all threads of the CTA, if they are this cohort and no more is to be done than to pass it. Not if somebody
    /// chooses the schedule: checked or not, a barrier is then a place to choose.
    #[inline(always)]
    pub fn pass_barrier(&mut self, id: u32) -> bool {
        if M::ON || !self.plain || self.cur.mask != u32::MAX || self.cur.resumed {
            return false;
        }
        let threads = (self.cur.hi - self.cur.lo) * 32;
        let passed = self.agents.is_empty() && {
            let cta = self.cta_mut();
            cta.barriers_used |= 1 << (id & 15);
            cta.threads == threads && cta.barriers.get_mut(id as usize).is_some_and(|b| b.pass())
        };
        self.progress += passed as u64;
        passed
    }

    /// Have all warps of the cohort all their lanes?
    #[inline(always)]
    pub fn whole_warps(&self) -> bool {
        self.cur.mask == u32::MAX
    }

    /// `%tid` of the first lane of each row.
    #[inline(always)]
    pub fn tid_rows<const NB: usize>(&self, axis: usize) -> [u32; NB] {
        std::array::from_fn(|j| self.tid(j * (32 / NB))[axis])
    }

    /// Do the lanes of every warp follow each other in `%tid.x`?
    #[inline(always)]
    pub fn flat(&self) -> bool {
        self.block[0].is_multiple_of(32) || self.block[1] * self.block[2] == 1
    }

    /// A kernel parameter of `T`'s size.
    #[inline(always)]
    pub fn param<T: crate::Word>(&self, offset: usize) -> Option<T> {
        self.params.get(offset..offset + T::BYTES).map(T::load)
    }

    /// Should `step` return to the driver? True while other fragments of these warps are ready, when the turn is over, and
    /// when threads may have to be woken.
    #[inline(always)]
    pub fn diverged(&self) -> bool {
        self.leave
    }

    // time

    /// Has the wait of this blocking instruction ended?
    #[inline(always)]
    pub fn resumed(&self) -> bool {
        self.cur.resumed
    }

    /// Lets others go first: what a thread that polls should do.
    pub fn yield_now(&mut self) {
        self.yielded = true;
        self.leave = true;
    }

    /// Something that other threads wait for may have changed.
    #[inline(always)]
    pub fn touched(&mut self) {
        self.progress += 1;
        let here = &mut self.clusters[self.slot];
        if !here.parked.is_empty() {
            here.dirty = true;
            self.leave = true;
        }
    }

    // faults

    /// A fault of a lane of the current warp at the current statement.
    #[cold]
    pub fn fault(&self, kind: FaultKind, lane: u32) -> Box<Fault> {
        let thread = self.clusters.get(self.slot).filter(|c| c.ctas.len() > self.cur.cta as usize).map(|_| ThreadId {
            ctaid: self.ctaid(),
            tid: self.tid(lane as usize),
            warp: self.warp,
            lane,
            rank: self.rank(),
        });
        Box::new(Fault {
            kind,
            kernel: self.info.name,
            at: self.at(self.site),
            thread,
            replay: None,
            schedule: Vec::new(),
        })
    }

    pub(crate) fn at(&self, site: u32) -> Option<At> {
        let s = self.info.sites.get(site as usize)?;
        Some(At { text: s.text, line: s.line, file: self.info.file, rust_line: s.rust_line })
    }
}
