//! Reaching threads: which threads may be at an instruction. A forward data-flow analysis finds the predicates that hold on every
//! path; the facts about them give the set of threads.

use crate::dataflow::{Bits, Meet, forward};
use crate::flow::Flow;
use crate::lanes::{CtaSize, LaneFact, Lanes, Uniformity};
use crate::sites::{Site, executes_exactly};
use crate::ssa::{UNDEF, Val};
use crate::threads::{ALL, Set, has_thread};
use ptx_dsl_isa::isa::Control;
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;
use ptx_dsl_isa::span::Span;

/// The predicates that restrict threads, and their known values at the start of each block on every path.
pub struct Reaching {
    preds: Vec<Val>,
    /// Bit `2n`: predicate `n` is false here; `2n + 1`: it is true.
    at: Vec<Bits>,
    /// By bit: the branch that makes it hold, and where the threads on the other edges go.
    why: Vec<Option<(Span, OtherThreads)>>,
    /// Blocks from which threads only exit.
    pub only_exits: Vec<bool>,
    /// Values of `clusterlaunchcontrol.query_cancel.is_canceled`.
    pub canceled: Vec<Val>,
}

/// The destination of the threads on the other edges of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OtherThreads {
    /// The threads stay in the kernel, or it is unknown.
    Stay,
    /// The threads run to the end of the kernel and do nothing else.
    Leave,
    /// The threads exit at the branch.
    Exit,
}

/// The threads that may reach an instruction.
#[derive(Debug, Clone)]
pub struct ReachingThreads {
    /// A superset of the threads.
    pub set: Set,
    /// At most the elected lane of each warp.
    pub elected: bool,
    /// Is the elected lane of each warp excluded?
    pub not_elected: bool,
    /// The branch that restricts the threads.
    pub why: Option<Span>,
    /// The destination of the other threads.
    pub others: OtherThreads,
}

/// The part of a warp that reaches an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartialWarp {
    /// At most one lane of each warp.
    OneLane,
    /// Some lanes of each warp that has any there, not all.
    SomeLanes,
}

impl Reaching {
    /// Solves for all blocks of the function.
    pub fn new(flow: &Flow, lanes: &Lanes) -> Reaching {
        let mut preds: Vec<Val> = Vec::new();
        let mut canceled = Vec::new();
        for (_, at, i) in flow.walk() {
            if i.opcode == op::clusterlaunchcontrol_query_cancel && i.has(q::is_canceled) {
                canceled.extend(flow.ssa.defs(at).iter().map(|(_, v)| *v));
            }
        }
        for &b in &flow.cfg.rpo {
            let Some(i) = flow.cfg.branch(b) else { continue };
            let Some((p, _)) = flow.guard(i) else { continue };
            let p = flow.origin(p);
            let says = match lanes.facts[p as usize] {
                LaneFact::Pred(f) => f.yes != 0 || f.no != 0 || f.elected != [UNDEF; 2] || f.not_elected != [UNDEF; 2],
                _ => false,
            };
            // A limit: most kernels have few.
            if (says || canceled.contains(&p)) && preds.len() < 256 && !preds.contains(&p) {
                preds.push(p);
            }
        }
        let why = vec![None; preds.len() * 2];
        let mut out = Reaching { at: Vec::new(), why, preds, only_exits: only_exits(flow), canceled };
        if !out.preds.is_empty() {
            out.solve(flow);
        }
        out
    }

    /// Finds what holds at the start of each block.
    fn solve(&mut self, flow: &Flow) {
        // A new definition of a predicate invalidates it.
        let mut made: Vec<Vec<u32>> = vec![Vec::new(); flow.cfg.blocks.len()];
        for (b, at, _) in flow.walk() {
            for (_, v) in flow.ssa.defs(at) {
                if let Some(n) = position(&self.preds, *v) {
                    made[b as usize].push(n as u32);
                }
            }
        }
        let mut block = |b: u32, set: &mut Bits| {
            for n in &made[b as usize] {
                set.unset(2 * *n as usize);
                set.unset(2 * *n as usize + 1);
            }
        };
        let bits = self.preds.len() * 2;
        let mut edge = |b: u32, n: usize, set: &mut Bits| {
            if let Some(bit) = self.edge(flow, b, n) {
                set.set(bit);
            }
        };
        self.at = forward(&flow.cfg, bits, Meet::Every, &mut block, &mut edge);
    }

    /// The bit that an edge sets. Records the branch.
    fn edge(&mut self, flow: &Flow, b: u32, edge_number: usize) -> Option<usize> {
        let succ = &flow.cfg.blocks[b as usize].succ;
        let when = succ[edge_number].when?;
        let branch = flow.cfg.branch(b)?;
        let bit = 2 * self.number(flow, flow.guard(branch)?.0)? + usize::from(when);
        let (span, mut others) = self.why[bit].unwrap_or((flow.instr(branch).span, OtherThreads::Exit));
        for other in succ.iter().filter(|other| other.when != Some(when)) {
            others = others.min(self.others(flow, other.to));
        }
        self.why[bit] = Some((span, others));
        Some(bit)
    }

    /// The destination of the threads that go to this block.
    fn others(&self, flow: &Flow, to: u32) -> OtherThreads {
        let block = &flow.cfg.blocks[to as usize];
        let only_exits = block.pred.len() == 1 && block.succ.iter().all(|e| e.to == flow.cfg.exit);
        match self.only_exits[to as usize] {
            false => OtherThreads::Stay,
            true if to == flow.cfg.exit || only_exits => OtherThreads::Exit,
            true => OtherThreads::Leave,
        }
    }

    fn number(&self, flow: &Flow, p: Val) -> Option<usize> {
        position(&self.preds, flow.origin(p))
    }

    /// The value of `p` at the start of the block, if it is known.
    pub fn predicate_at(&self, flow: &Flow, b: u32, p: Val) -> Option<bool> {
        let n = self.number(flow, p)?;
        let at = self.at.get(b as usize)?;
        if at.has(2 * n) {
            return Some(false);
        }
        at.has(2 * n + 1).then_some(true)
    }

    /// The threads that may reach instruction `i` of block `b`.
    pub fn threads_at(&self, flow: &Flow, lanes: &Lanes, b: u32, i: u32) -> ReachingThreads {
        let mut present =
            ReachingThreads { set: ALL, elected: false, not_elected: false, why: None, others: OtherThreads::Exit };
        if let Some(at) = self.at.get(b as usize) {
            for (n, p) in self.preds.iter().enumerate() {
                for value in [false, true] {
                    let bit = 2 * n + usize::from(value);
                    if at.has(bit) {
                        present.add(lanes, *p, value, self.why[bit]);
                    }
                }
            }
        }
        if let Some((p, positive)) = flow.guard(i) {
            present.add(lanes, p, positive, None);
        }
        present
    }
}

impl ReachingThreads {
    fn add(&mut self, lanes: &Lanes, p: Val, value: bool, why: Option<(Span, OtherThreads)>) {
        let Some(LaneFact::Pred(f)) = lanes.facts.get(p as usize) else { return };
        let side = usize::from(!value);
        let set = &lanes.sets[usize::from(if value { f.yes } else { f.no })];
        let (elected, not_elected) = (f.elected[side] != UNDEF, f.not_elected[side] != UNDEF);
        if *set == ALL && !elected && !not_elected {
            return;
        }
        for (k, word) in set.iter().enumerate() {
            self.set[k] &= word;
        }
        self.elected |= elected;
        self.not_elected |= not_elected;
        let Some((span, others)) = why else {
            self.others = OtherThreads::Stay;
            return;
        };
        self.why = self.why.or(Some(span));
        self.others = self.others.min(others);
    }

    /// The lanes of each warp that may be here; warps without any are left out.
    pub fn warps(&self, size: CtaSize) -> Vec<(usize, u32)> {
        let n = size.exact.unwrap_or(crate::threads::THREADS);
        let mut out = Vec::new();
        for w in 0..n.div_ceil(32) {
            let mut bits = (self.set[w / 2] >> (32 * (w % 2))) as u32;
            let there = n - w * 32;
            if there < 32 {
                bits &= (1 << there) - 1;
            }
            if bits != 0 {
                out.push((w, bits));
            }
        }
        out
    }

    /// The lanes of warp `w` that certainly exist when one of `bits` does.
    pub fn existing_lanes(w: usize, bits: u32, size: CtaSize) -> u32 {
        if let Some(n) = size.exact {
            let there = n.saturating_sub(w * 32);
            return if there >= 32 { u32::MAX } else { (1u32 << there) - 1 };
        }
        if size.full_warps {
            return u32::MAX;
        }
        // All lanes below the lowest of `bits` exist too.
        let lowest = bits.trailing_zeros();
        if lowest >= 32 { 0 } else { ((1u32 << lowest) - 1) | (1 << lowest) }
    }

    /// The part of each warp that may be here, if that is certainly not all of it.
    pub fn partial_warp(&self, size: CtaSize) -> Option<PartialWarp> {
        let many = size.several_per_warp();
        if self.elected && many {
            return Some(PartialWarp::OneLane);
        }
        let warps = self.warps(size);
        let (mut lacking, mut one) = (!warps.is_empty(), true);
        for (w, bits) in warps {
            lacking &= ReachingThreads::existing_lanes(w, bits, size) & !bits != 0;
            one &= bits.is_power_of_two();
        }
        if lacking {
            return Some(if one { PartialWarp::OneLane } else { PartialWarp::SomeLanes });
        }
        (self.not_elected && many).then_some(PartialWarp::SomeLanes)
    }

    /// The part of some warp that is here, if the reaching threads are known exactly.
    pub fn some_partial_warp(&self, flow: &Flow, lanes: &Lanes, block: u32, at: u32) -> Option<PartialWarp> {
        lanes.cta_size.exact?;
        let mut lacks = false;
        for (w, bits) in self.warps(lanes.cta_size) {
            lacks |= ReachingThreads::existing_lanes(w, bits, lanes.cta_size) & !bits != 0;
        }
        let surely = lacks && !self.elected && !self.not_elected && executes_exactly(flow, lanes, Site { block, at });
        surely.then_some(PartialWarp::SomeLanes)
    }

    /// The largest number of lanes of one warp that are here, if the reaching threads are known exactly.
    pub fn lanes_of_a_warp(&self, flow: &Flow, lanes: &Lanes, block: u32, at: u32) -> Option<u32> {
        lanes.cta_size.exact?;
        let known = !self.elected && !self.not_elected && executes_exactly(flow, lanes, Site { block, at });
        let counts = self.warps(lanes.cta_size).into_iter().map(|(_, bits)| bits.count_ones());
        if known { counts.max() } else { None }
    }

    /// May all lanes of each warp be here that has any?
    pub fn whole_warps(&self, size: CtaSize) -> bool {
        let n = size.exact.unwrap_or(crate::threads::THREADS);
        let mut whole = !self.elected && !self.not_elected;
        for (w, bits) in self.warps(size) {
            let there = n - w * 32;
            whole &= bits == if there >= 32 { u32::MAX } else { (1 << there) - 1 };
        }
        whole
    }

    /// [`ReachingThreads::partial_warp`], assuming full warps if the text does not give the number of threads.
    pub fn partial_warp_if_full(&self, size: CtaSize) -> Option<PartialWarp> {
        self.partial_warp(if size.exact.is_none() { CtaSize { full_warps: true, ..size } } else { size })
    }
}

/// Blocks from which threads only exit.
fn only_exits(flow: &Flow) -> Vec<bool> {
    let mut leaves = vec![false; flow.cfg.blocks.len()];
    leaves[flow.cfg.exit as usize] = true;
    for &b in flow.cfg.rpo.iter().rev() {
        let mut only = true;
        for at in flow.cfg.range(b) {
            only &= matches!(flow.instr(at).entry.effects.control, Control::Branch | Control::Return | Control::Exit);
        }
        for e in &flow.cfg.blocks[b as usize].succ {
            only &= leaves[e.to as usize];
        }
        leaves[b as usize] |= only;
    }
    leaves
}

fn position(list: &[Val], v: Val) -> Option<usize> {
    list.iter().position(|other| *other == v)
}

/// Do all lanes of every warp that reaches the instruction execute it?
pub fn every_lane(flow: &Flow, lanes: &Lanes, present: &ReachingThreads, block: u32, at: u32) -> bool {
    present.whole_warps(lanes.cta_size)
        && !lanes.divergent[block as usize]
        && !matches!(flow.guard(at), Some((p, _)) if lanes.uniformity(p) < Uniformity::Warp)
}

fn many(set: &Set, n: usize) -> u64 {
    (0..n).filter(|t| has_thread(set, *t)).count() as u64
}

/// An upper bound of the number of threads.
pub fn max_threads(present: &ReachingThreads, lanes: &Lanes, n: usize) -> u64 {
    if present.elected { present.warps(lanes.cta_size).len() as u64 } else { many(&present.set, n) }
}

/// Is an `elect.sync` of whole warps the only condition on the lanes?
pub fn only_elected(flow: &Flow, lanes: &Lanes, block: u32, at: u32) -> bool {
    let elects = |at: u32| match flow.guard(at) {
        Some((p, _)) => {
            matches!(lanes.facts[p as usize], LaneFact::Pred(f) if f.elected != [UNDEF; 2] && f.yes == 0 && f.no == 0)
                && matches!(flow.ssa.maker(p), Some(m) if flow.instr(m).opcode == op::elect_sync)
        }
        None => false,
    };
    if !lanes.divergent[block as usize] {
        return elects(at);
    }
    let above = flow.cfg.idom[block as usize];
    let guarded = flow.instr(at).pred.is_some();
    !guarded
        && (above as usize) < flow.cfg.blocks.len()
        && !lanes.divergent[above as usize]
        && matches!(flow.cfg.branch(above), Some(branch) if elects(branch))
}
