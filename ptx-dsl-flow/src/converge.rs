//! Who may be at a place, from the predicates of the branches that lead there, and the rules about it: Table 46 of
//! PTX ISA 9.7.16.5, `.aligned` (9.7.13.1), masks of lanes (9.7.13).

use super::Flow;
use super::dataflow::{Bits, Meet, forward};
use super::granularity::{Grain, aligned, tcgen05};
use super::lanes::{ALL, Fact, Lanes, Set, Shared, Threads};
use super::mbarriers::{Site, surely};
use super::ssa::{UNDEF, Val};
use crate::errors::{completion, flow as errors};
use ptx_dsl_table::diag::Diagnostic;
use ptx_dsl_table::hir::{Instr, Operand};
use ptx_dsl_table::span::Span;

/// Predicates that say something, and what holds of them at the start of each block, on every path there.
pub(super) struct Places {
    preds: Vec<Val>,
    /// Bit `2n`: predicate `n` is false here; `2n + 1`: it is true.
    at: Vec<Bits>,
    /// By bit: where a branch makes it hold, and whether whoever goes the other way leaves the kernel.
    why: Vec<Option<(Span, bool)>>,
    /// Blocks that only leave.
    leaves: Vec<bool>,
    /// Values of `clusterlaunchcontrol.query_cancel.is_canceled`.
    pub canceled: Vec<Val>,
}

/// Who may be at an instruction.
#[derive(Debug, Clone)]
pub(super) struct Who {
    /// At most these threads of the CTA.
    pub set: Set,
    /// At most the lane that an `elect.sync` elected.
    pub elected: bool,
    /// Not the lane that one elected.
    pub passed: bool,
    /// What says so: the guard or branch.
    pub why: Option<Span>,
    /// The others have left the kernel.
    pub others_left: bool,
}

/// How much of a warp is at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// At most one lane of each warp.
    One,
    /// Some lanes, in each warp that has any there.
    Some,
}

impl Places {
    pub(super) fn new(flow: &Flow, lanes: &Lanes) -> Places {
        let mut preds: Vec<Val> = Vec::new();
        let mut canceled = Vec::new();
        flow.walk(
            |_| {},
            |at, i| {
                if i.entry.opcode == "clusterlaunchcontrol.query_cancel" && i.has(".is_canceled") {
                    canceled.extend(flow.ssa.defs(at).iter().map(|d| d.1));
                }
            },
        );
        for &b in &flow.cfg.rpo {
            let Some(i) = flow.cfg.branch(b) else { continue };
            let Some((p, _)) = flow.ssa.guard(i, flow.cfg.instrs[i as usize]) else { continue };
            let p = flow.ssa.origin[p as usize];
            let says = match lanes.facts[p as usize] {
                Fact::Pred(f) => f.yes != 0 || f.no != 0 || f.elected != [UNDEF; 2] || f.passed != [UNDEF; 2],
                _ => false,
            };
            // The common case has few; a kernel with more is searched for the first ones only.
            if (says || canceled.contains(&p)) && preds.len() < 256 && !preds.contains(&p) {
                preds.push(p);
            }
        }
        let mut leaves = vec![false; flow.cfg.blocks.len()];
        leaves[flow.cfg.exit as usize] = true;
        for &b in flow.cfg.rpo.iter().rev() {
            let only =
                flow.cfg.range(b).all(|i| matches!(flow.cfg.instrs[i as usize].entry.opcode, "bra" | "ret" | "exit"));
            let block = &flow.cfg.blocks[b as usize];
            if only && block.succ.iter().all(|e| leaves[e.to as usize]) {
                leaves[b as usize] = true;
            }
        }
        let mut out = Places { at: Vec::new(), why: vec![None; preds.len() * 2], preds, leaves, canceled };
        if out.preds.is_empty() {
            return out;
        }
        let mut why = std::mem::take(&mut out.why);
        // A predicate that is made anew is not yet known again.
        let mut made = vec![Vec::new(); flow.cfg.blocks.len()];
        for &b in &flow.cfg.rpo {
            for i in flow.cfg.range(b) {
                for (_, v) in flow.ssa.defs(i) {
                    if let Some(n) = out.preds.iter().position(|p| p == v) {
                        made[b as usize].push(n);
                    }
                }
            }
        }
        let mut block = |b: u32, set: &mut Bits| {
            for &n in &made[b as usize] {
                set.unset(2 * n);
                set.unset(2 * n + 1);
            }
        };
        let places = &out;
        let mut edge = |b: u32, n: usize, set: &mut Bits| {
            let e = flow.cfg.blocks[b as usize].succ[n];
            let (Some(when), Some(i)) = (e.when, flow.cfg.branch(b)) else { return };
            let instr = flow.cfg.instrs[i as usize];
            let Some((p, _)) = flow.ssa.guard(i, instr) else { return };
            if let Some(n) = places.number(flow, p) {
                let bit = 2 * n + usize::from(when);
                set.set(bit);
                let succ = &flow.cfg.blocks[b as usize].succ;
                let left = succ.iter().filter(|o| o.when != e.when).all(|o| places.leaves[o.to as usize]);
                let all_left = why[bit].is_none_or(|w| w.1) && left;
                why[bit] = Some((why[bit].map_or(instr.span, |w| w.0), all_left));
            }
        };
        let at = forward(&flow.cfg, out.preds.len() * 2, Meet::Every, &mut block, &mut edge);
        out.at = at;
        out.why = why;
        out
    }

    fn number(&self, flow: &Flow, p: Val) -> Option<usize> {
        let p = flow.ssa.origin[p as usize];
        self.preds.iter().position(|q| *q == p)
    }

    /// What holds of `p` at the start of the block.
    pub(super) fn known(&self, flow: &Flow, b: u32, p: Val) -> Option<bool> {
        let n = self.number(flow, p)?;
        let at = self.at.get(b as usize)?;
        [false, true].into_iter().find(|v| at.has(2 * n + usize::from(*v)))
    }

    /// Who may be at instruction `i` of block `b`.
    pub(super) fn who(&self, flow: &Flow, lanes: &Lanes, b: u32, i: u32) -> Who {
        let mut who = Who { set: ALL, elected: false, passed: false, why: None, others_left: true };
        if let Some(at) = self.at.get(b as usize) {
            for (n, p) in self.preds.iter().enumerate() {
                for value in [false, true] {
                    if at.has(2 * n + usize::from(value)) {
                        let why = self.why[2 * n + usize::from(value)];
                        who.add(lanes, *p, value, why.map(|w| w.0), why.is_some_and(|w| w.1));
                    }
                }
            }
        }
        let instr = flow.cfg.instrs[i as usize];
        if let Some((p, positive)) = flow.ssa.guard(i, instr) {
            who.add(lanes, p, positive, None, false);
        }
        who
    }
}

impl Who {
    fn add(&mut self, lanes: &Lanes, p: Val, value: bool, why: Option<Span>, others_left: bool) {
        let Some(Fact::Pred(f)) = lanes.facts.get(p as usize).copied() else { return };
        let side = usize::from(!value);
        let set = &lanes.sets[usize::from(if value { f.yes } else { f.no })];
        let (elected, passed) = (f.elected[side] != UNDEF, f.passed[side] != UNDEF);
        if *set == ALL && !elected && !passed {
            return;
        }
        for (a, b) in self.set.iter_mut().zip(set) {
            *a &= b;
        }
        self.elected |= elected;
        self.passed |= passed;
        self.why = self.why.or(why);
        self.others_left &= others_left;
    }

    /// The lanes of each warp that may be here, warps without any left out.
    pub(super) fn warps(&self, threads: Threads) -> Vec<(usize, u32)> {
        let n = threads.exact.unwrap_or(super::lanes::THREADS);
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

    /// The lanes of warp `w` that are certainly there when one of `bits` is.
    fn exist(w: usize, bits: u32, threads: Threads) -> u32 {
        if let Some(n) = threads.exact {
            let there = n.saturating_sub(w * 32);
            return if there >= 32 { u32::MAX } else { (1u32 << there) - 1 };
        }
        if threads.full_warps {
            return u32::MAX;
        }
        // Whoever is here has a number of at least the lowest of these; all lower ones are there too.
        let lowest = bits.trailing_zeros();
        if lowest >= 32 { 0 } else { ((1u32 << lowest) - 1) | (1 << lowest) }
    }

    /// What part of a warp can be here, if that is certainly not all of one.
    pub(super) fn part(&self, threads: Threads) -> Option<Part> {
        let many = threads.exact.map_or(threads.full_warps, |n| n > 1);
        if self.elected && many {
            return Some(Part::One);
        }
        let warps = self.warps(threads);
        let lacking = |(w, bits): &(usize, u32)| Who::exist(*w, *bits, threads) & !bits != 0;
        if !warps.is_empty() && warps.iter().all(lacking) {
            let one = warps.iter().all(|w| w.1.is_power_of_two());
            return Some(if one { Part::One } else { Part::Some });
        }
        (self.passed && many).then_some(Part::Some)
    }

    /// What part of some warp is here, where it is certain who comes.
    fn part_of_one(&self, flow: &Flow, lanes: &Lanes, block: u32, at: u32) -> Option<Part> {
        lanes.threads.exact?;
        let warps = self.warps(lanes.threads);
        let lacks = warps.iter().any(|(w, bits)| Who::exist(*w, *bits, lanes.threads) & !bits != 0);
        let surely = lacks && !self.elected && !self.passed && surely(flow, lanes, Site { block, at });
        surely.then_some(Part::Some)
    }

    /// May all lanes of each warp be here that has any?
    pub(super) fn whole(&self, threads: Threads) -> bool {
        let n = threads.exact.unwrap_or(super::lanes::THREADS);
        let full = |w: usize| if n - w * 32 >= 32 { u32::MAX } else { (1 << (n - w * 32)) - 1 };
        !self.elected && !self.passed && self.warps(threads).iter().all(|(w, bits)| *bits == full(*w))
    }

    /// As `part`, if CTAs have more than one thread, which the text does not say.
    fn part_if_many(&self, threads: Threads) -> Option<Part> {
        self.part(if threads.exact.is_none() { Threads { full_warps: true, ..threads } } else { threads })
    }
}

pub(super) fn check(flow: &Flow, lanes: &Lanes, places: &Places, out: &mut Vec<Diagnostic>) {
    issued(flow, lanes, places, out);
    super::meeting::check(flow, lanes, places, out);
}

fn issued(flow: &Flow, lanes: &Lanes, places: &Places, out: &mut Vec<Diagnostic>) {
    let entry = flow.function.entry;
    let block_of = std::cell::Cell::new(0);
    flow.walk(
        |b| block_of.set(b),
        |at, i| {
            let block = block_of.get();
            let grain = tcgen05(i);
            let mask = mask(flow, lanes, at, i);
            let warp = grain == Some(Grain::Warp) || (grain.is_none() && aligned(i));
            if !warp && mask.is_none() && grain != Some(Grain::Thread) {
                return;
            }
            let who = places.who(flow, lanes, block, at);
            let op = opcode(i);
            if warp {
                let sure = who.part(lanes.threads).or_else(|| who.part_of_one(flow, lanes, block, at));
                if let Some(part) = sure.or_else(|| who.part_if_many(lanes.threads)) {
                    let barrier = grain.is_none();
                    // Lanes that have left are no longer waited for by the barriers of today's machines.
                    let error = sure.is_some() && !(barrier && who.others_left && who.why.is_some());
                    let one = part == Part::One;
                    out.push(if barrier {
                        errors::aligned_in_part(i.span, &op, one, who.why, error, i.entry.section)
                    } else {
                        errors::warp_in_part(i.span, &op, one, who.why, error)
                    });
                    return;
                }
            }
            if warp
                && grain.is_none()
                && lanes.threads.exact != Some(1)
                && let Some(why) = uneven(flow, lanes, places, block, at)
            {
                out.push(errors::aligned_uneven(i.span, &op, why, i.entry.section));
                return;
            }
            let all_lanes = entry && every_lane(flow, lanes, &who, block, at);
            if grain == Some(Grain::Thread) && all_lanes && lanes.threads.exact != Some(1) {
                // Arrivals of `commit` may be counted for, all else is done as often as there are lanes.
                let error = lanes.threads.many() && !op.contains(".commit");
                out.push(errors::thread_in_all_lanes(i.span, &op, error));
            }
            if let Some((span, mask)) = mask {
                partial(&who, lanes.threads, span, mask, i, out);
                masks(&who, lanes.threads, all_lanes, span, mask, &op, i, out);
            }
        },
    );
}

/// The guard or branch by which some lanes of a warp may come here and others go on without: it compares a number that
/// differs from lane to lane with one that is not known, and who does not come here stays in the kernel.
fn uneven(flow: &Flow, lanes: &Lanes, places: &Places, block: u32, at: u32) -> Option<Span> {
    let differs = |v: Val| matches!(lanes.facts.get(v as usize), Some(Fact::Table(_))) && lanes.shared(v) == Shared::No;
    let compares = |i: u32| {
        let instr = flow.cfg.instrs[i as usize];
        if instr.entry.opcode == "brx.idx" {
            return flow.ssa.uses(i).iter().any(|u| differs(u.1));
        }
        let Some(maker) = flow.ssa.guard(i, instr).and_then(|(p, _)| flow.ssa.maker(p)) else { return false };
        let setp = flow.cfg.instrs[maker as usize];
        let known = |v: Val| matches!(lanes.facts.get(v as usize), Some(Fact::Table(_) | Fact::Const(_)));
        let [a, b] = ["a", "b"].map(|n| match setp.operand(n).map(|a| &a.value) {
            Some(Operand::Reg(r, lane)) => Some(flow.ssa.read(maker, *r, *lane)),
            _ => None,
        });
        let ((Some(a), Some(b)), "setp", 3) = ((a, b), setp.entry.opcode, setp.operands.len()) else { return false };
        let pair = |x: Val, y: Val| differs(x) && !known(y) && lanes.shared(y) >= Shared::Warp;
        pair(a, b) || pair(b, a)
    };
    let instr = flow.cfg.instrs[at as usize];
    if instr.pred.is_some() && compares(at) {
        return Some(instr.span);
    }
    // A loop around it that some lanes leave earlier.
    let mut b = block;
    for _ in 0..16 {
        if b == super::cfg::NONE || !flow.cfg.in_loop(b) {
            break;
        }
        let succ = &flow.cfg.blocks[b as usize].succ;
        if let Some(branch) = flow.cfg.branch(b)
            && succ.iter().any(|e| flow.cfg.dominates(e.to, block))
            && succ.iter().filter(|e| !flow.cfg.dominates(e.to, block)).any(|e| !places.leaves[e.to as usize])
            && compares(branch)
        {
            return Some(flow.cfg.instrs[branch as usize].span);
        }
        b = flow.cfg.ipdom[b as usize];
    }
    let mut b = block;
    for _ in 0..64 {
        let up = flow.cfg.idom[b as usize];
        if up == super::cfg::NONE || up == b {
            break;
        }
        if let Some(branch) = flow.cfg.branch(up)
            && flow.cfg.ipdom[up as usize] != b
            && compares(branch)
            && flow.cfg.blocks[up as usize].succ.iter().filter(|e| e.to != b).all(|e| !places.leaves[e.to as usize])
            && !flow.cfg.dominates(flow.cfg.ipdom[up as usize], block)
        {
            return Some(flow.cfg.instrs[branch as usize].span);
        }
        b = up;
    }
    None
}

#[allow(clippy::too_many_arguments)]
fn masks(
    who: &Who,
    threads: Threads,
    all_lanes: bool,
    span: Span,
    mask: u32,
    op: &str,
    i: &Instr,
    out: &mut Vec<Diagnostic>,
) {
    let left = who.others_left && who.why.is_some();
    if who.elected && mask.count_ones() > 1 && threads.many() {
        out.push(errors::mask_names_absent(
            span,
            op,
            mask,
            "only the elected lane is here",
            who.why,
            !left,
            i.entry.section,
        ));
        return;
    }
    if who.passed && mask == u32::MAX && threads.many() {
        out.push(errors::mask_names_absent(
            span,
            op,
            mask,
            "the elected lane is not here",
            who.why,
            !left,
            i.entry.section,
        ));
        return;
    }
    let warps = who.warps(threads);
    let absent = warps.iter().map(|(w, bits)| Who::exist(*w, *bits, threads) & !bits & mask);
    if who.set != ALL && !warps.is_empty() && absent.clone().all(|m| m != 0) {
        let first = absent.clone().next().unwrap_or(0);
        let text = lanes_text(first);
        out.push(errors::mask_names_absent(span, op, mask, &text, who.why, !left, i.entry.section));
    } else if all_lanes && (threads.exact.is_some() || threads.full_warps) {
        // Every lane runs it, and those that the mask does not name must not.
        let lacking = warps.iter().map(|(w, bits)| Who::exist(*w, *bits, threads) & !mask);
        if !warps.is_empty() && lacking.clone().all(|m| m != 0) {
            let first = lacking.clone().next().unwrap_or(0);
            out.push(errors::mask_lacks_lanes(span, op, mask, first, i.entry.section));
        }
    }
}

/// An election among lanes that the CTA does not have, and lanes that are read but not named.
fn partial(who: &Who, threads: Threads, span: Span, mask: u32, i: &Instr, out: &mut Vec<Diagnostic>) {
    if i.entry.opcode == "elect.sync" && threads.exact.is_some() {
        let warps = who.warps(threads);
        let there = warps.iter().map(|(w, bits)| Who::exist(*w, *bits, threads));
        if !warps.is_empty()
            && there.clone().all(|t| mask & !t != 0)
            && let Some(t) = there.clone().next()
        {
            out.push(errors::elects_in_part(span, mask, t));
        }
    }
    let imm = |name: &str| match i.operand(name).map(|a| &a.value) {
        Some(Operand::Imm(n)) => Some(*n as u32),
        _ => None,
    };
    // Among all 32 lanes: no segments, and the last lane is 31.
    if i.entry.opcode == "shfl.sync"
        && i.has(".idx")
        && let (Some(lane), Some(0x1f)) = (imm("b"), imm("c"))
        && mask >> (lane & 31) & 1 == 0
    {
        out.push(completion::source_lane(i.operand("b").map_or(i.span, |a| a.span), lane & 31, mask));
    }
}

fn lanes_text(mask: u32) -> String {
    let n = mask.trailing_zeros();
    match mask.count_ones() {
        1 => format!("lane {n} is not here"),
        k => format!("lane {n} and {} more are not here", k - 1),
    }
}

/// Is the place run by every lane of each warp that comes there?
pub(super) fn every_lane(flow: &Flow, lanes: &Lanes, who: &Who, block: u32, at: u32) -> bool {
    who.whole(lanes.threads)
        && !lanes.apart[block as usize]
        && flow.ssa.guard(at, flow.cfg.instrs[at as usize]).is_none_or(|(p, _)| lanes.shared(p) >= Shared::Warp)
}

/// The constant mask of lanes, with its place.
fn mask(flow: &Flow, lanes: &Lanes, at: u32, i: &Instr) -> Option<(Span, u32)> {
    let arg = i.operand("membermask")?;
    match arg.value {
        Operand::Imm(m) => Some((arg.span, m as u32)),
        Operand::Reg(r, lane) => match lanes.facts.get(flow.ssa.read(at, r, lane) as usize)? {
            Fact::Const(m) => Some((arg.span, *m as u32)),
            _ => None,
        },
        _ => None,
    }
}

/// The opcode as it is written, up to `.aligned`.
pub(super) fn opcode(i: &Instr) -> String {
    if let Some((head, _)) = i.spelling.split_once(".aligned") {
        return format!("{head}.aligned");
    }
    let op = i.entry.opcode;
    // `tcgen05.wait` goes on with `::ld`.
    let rest = i.spelling.strip_prefix(op).filter(|r| r.starts_with("::")).unwrap_or("");
    format!("{op}{}", rest.split('.').next().unwrap_or(""))
}
