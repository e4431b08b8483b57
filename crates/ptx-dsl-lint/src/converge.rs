//! Who may be at a place, from the predicates of the branches that lead there, and the rules about it: Table 46 of
//! PTX ISA 9.7.16.5, `.aligned` (9.7.13.1), masks of lanes (9.7.13).

use super::Flow;

use super::dataflow::{Bits, Meet, forward};
use super::granularity::{Grain, aligned, tcgen05};
use super::lanes::{ALL, Fact, Lanes, Set, Shared, Threads};
use super::mbarriers::{Site, surely};
use super::memory::constant;
use super::ssa::{UNDEF, Val};
use crate::errors::{completion, flow as errors};
use ptx_dsl_isa::diag::Diagnostic;
use ptx_dsl_isa::hir::{Instr, Operand};
use ptx_dsl_isa::isa::Control;
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;
use ptx_dsl_isa::span::Span;

/// Predicates that say something, and what holds of them at the start of each block, on every path there.
pub(super) struct Places {
    preds: Vec<Val>,
    /// Bit `2n`: predicate `n` is false here; `2n + 1`: it is true.
    at: Vec<Bits>,
    /// By bit: where a branch makes it hold, and what becomes of those who go the other way.
    why: Vec<Option<(Span, Others)>>,
    /// Blocks that only leave.
    leaves: Vec<bool>,
    /// Values of `clusterlaunchcontrol.query_cancel.is_canceled`.
    pub canceled: Vec<Val>,
}

/// What becomes of the threads that go another way at a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Others {
    /// They run on, or it is not known.
    Stay,
    /// They run on to the end of the kernel, where those who are here come too, and do nothing else.
    Leave,
    /// They exit at the branch.
    Exit,
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
    /// What has become of the others.
    pub others: Others,
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
        for (_, at, i) in flow.walk() {
            if i.opcode == op::clusterlaunchcontrol_query_cancel && i.has(q::is_canceled) {
                for (_, v) in flow.ssa.defs(at) {
                    canceled.push(*v);
                }
            }
        }
        for &b in &flow.cfg.rpo {
            let Some(i) = flow.cfg.branch(b) else { continue };
            let Some((p, _)) = flow.guard(i) else { continue };
            let p = flow.origin(p);
            let says = match lanes.facts[p as usize] {
                Fact::Pred(f) => f.yes != 0 || f.no != 0 || f.elected != [UNDEF; 2] || f.passed != [UNDEF; 2],
                _ => false,
            };
            // The common case has few; a kernel with more is searched for the first ones only.
            if (says || canceled.contains(&p)) && preds.len() < 256 && !preds.contains(&p) {
                preds.push(p);
            }
        }
        let why = vec![None; preds.len() * 2];
        let mut out = Places { at: Vec::new(), why, preds, leaves: leaves(flow), canceled };
        if !out.preds.is_empty() {
            out.solve(flow);
        }
        out
    }

    /// Finds what holds at the start of each block.
    fn solve(&mut self, flow: &Flow) {
        // A predicate that is made anew is not yet known again.
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

    /// What holds on one of the ways out of a block: its bit; notes why.
    fn edge(&mut self, flow: &Flow, b: u32, way: usize) -> Option<usize> {
        let succ = &flow.cfg.blocks[b as usize].succ;
        let when = succ[way].when?;
        let branch = flow.cfg.branch(b)?;
        let bit = 2 * self.number(flow, flow.guard(branch)?.0)? + usize::from(when);
        let (span, mut others) = self.why[bit].unwrap_or((flow.instr(branch).span, Others::Exit));
        for other in succ.iter().filter(|other| other.when != Some(when)) {
            others = others.min(self.others(flow, other.to));
        }
        self.why[bit] = Some((span, others));
        Some(bit)
    }

    /// What becomes of the threads that go to this block.
    fn others(&self, flow: &Flow, to: u32) -> Others {
        let block = &flow.cfg.blocks[to as usize];
        let only_exits = block.pred.len() == 1 && block.succ.iter().all(|e| e.to == flow.cfg.exit);
        match self.leaves[to as usize] {
            false => Others::Stay,
            true if to == flow.cfg.exit || only_exits => Others::Exit,
            true => Others::Leave,
        }
    }

    fn number(&self, flow: &Flow, p: Val) -> Option<usize> {
        position(&self.preds, flow.origin(p))
    }

    /// What holds of `p` at the start of the block.
    pub(super) fn known(&self, flow: &Flow, b: u32, p: Val) -> Option<bool> {
        let n = self.number(flow, p)?;
        let at = self.at.get(b as usize)?;
        if at.has(2 * n) {
            return Some(false);
        }
        at.has(2 * n + 1).then_some(true)
    }

    /// Who may be at instruction `i` of block `b`.
    pub(super) fn who(&self, flow: &Flow, lanes: &Lanes, b: u32, i: u32) -> Who {
        let mut who = Who { set: ALL, elected: false, passed: false, why: None, others: Others::Exit };
        if let Some(at) = self.at.get(b as usize) {
            for (n, p) in self.preds.iter().enumerate() {
                for value in [false, true] {
                    let bit = 2 * n + usize::from(value);
                    if at.has(bit) {
                        who.add(lanes, *p, value, self.why[bit]);
                    }
                }
            }
        }
        if let Some((p, positive)) = flow.guard(i) {
            who.add(lanes, p, positive, None);
        }
        who
    }
}

impl Who {
    fn add(&mut self, lanes: &Lanes, p: Val, value: bool, why: Option<(Span, Others)>) {
        let Some(Fact::Pred(f)) = lanes.facts.get(p as usize) else { return };
        let side = usize::from(!value);
        let set = &lanes.sets[usize::from(if value { f.yes } else { f.no })];
        let (elected, passed) = (f.elected[side] != UNDEF, f.passed[side] != UNDEF);
        if *set == ALL && !elected && !passed {
            return;
        }
        for (k, word) in set.iter().enumerate() {
            self.set[k] &= word;
        }
        self.elected |= elected;
        self.passed |= passed;
        let Some((span, others)) = why else {
            self.others = Others::Stay;
            return;
        };
        self.why = self.why.or(Some(span));
        self.others = self.others.min(others);
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
        let many = threads.many();
        if self.elected && many {
            return Some(Part::One);
        }
        let warps = self.warps(threads);
        let (mut lacking, mut one) = (!warps.is_empty(), true);
        for (w, bits) in warps {
            lacking &= Who::exist(w, bits, threads) & !bits != 0;
            one &= bits.is_power_of_two();
        }
        if lacking {
            return Some(if one { Part::One } else { Part::Some });
        }
        (self.passed && many).then_some(Part::Some)
    }

    /// What part of some warp is here, where it is certain who comes.
    fn part_of_one(&self, flow: &Flow, lanes: &Lanes, block: u32, at: u32) -> Option<Part> {
        lanes.threads.exact?;
        let mut lacks = false;
        for (w, bits) in self.warps(lanes.threads) {
            lacks |= Who::exist(w, bits, lanes.threads) & !bits != 0;
        }
        let surely = lacks && !self.elected && !self.passed && surely(flow, lanes, Site { block, at });
        surely.then_some(Part::Some)
    }

    /// May all lanes of each warp be here that has any?
    pub(super) fn whole(&self, threads: Threads) -> bool {
        let n = threads.exact.unwrap_or(super::lanes::THREADS);
        let mut whole = !self.elected && !self.passed;
        for (w, bits) in self.warps(threads) {
            let there = n - w * 32;
            whole &= bits == if there >= 32 { u32::MAX } else { (1 << there) - 1 };
        }
        whole
    }

    /// As `part`, if CTAs have more than one thread, which the text does not say.
    fn part_if_many(&self, threads: Threads) -> Option<Part> {
        self.part(if threads.exact.is_none() { Threads { full_warps: true, ..threads } } else { threads })
    }
}

/// Blocks that only leave.
fn leaves(flow: &Flow) -> Vec<bool> {
    let mut leaves = vec![false; flow.cfg.blocks.len()];
    leaves[flow.cfg.exit as usize] = true;
    for &b in flow.cfg.rpo.iter().rev() {
        let mut only = true;
        for at in flow.cfg.range(b) {
            only &= matches!(flow.instr(at).entry.control, Control::Branch | Control::Return | Control::Exit);
        }
        for e in &flow.cfg.blocks[b as usize].succ {
            only &= leaves[e.to as usize];
        }
        leaves[b as usize] |= only;
    }
    leaves
}

fn position(list: &[Val], v: Val) -> Option<usize> {
    for (k, other) in list.iter().enumerate() {
        if *other == v {
            return Some(k);
        }
    }
    None
}

pub(super) fn check(flow: &Flow, lanes: &Lanes, places: &Places, out: &mut Vec<Diagnostic>) {
    issued(flow, lanes, places, out);
    super::meeting::check(flow, lanes, places, out);
}

fn issued(flow: &Flow, lanes: &Lanes, places: &Places, out: &mut Vec<Diagnostic>) {
    let entry = flow.function.entry;
    for (block, at, i) in flow.walk() {
        let grain = tcgen05(i);
        let mask = mask(flow, lanes, at, i);
        let warp = grain == Some(Grain::Warp) || (grain.is_none() && aligned(i));
        if !warp && mask.is_none() && grain != Some(Grain::Thread) {
            continue;
        }
        let who = places.who(flow, lanes, block, at);
        let op = opcode(i);
        if warp {
            let mut sure = who.part(lanes.threads);
            if sure.is_none() {
                sure = who.part_of_one(flow, lanes, block, at);
            }
            let part = if sure.is_some() { sure } else { who.part_if_many(lanes.threads) };
            if let Some(part) = part {
                let barrier = grain.is_none();
                // Lanes that have left are no longer waited for by the barriers of today's machines.
                let error = sure.is_some() && !(barrier && who.others >= Others::Leave && who.why.is_some());
                let one = part == Part::One;
                out.push(if barrier {
                    errors::aligned_in_part(i.span, &op, one, who.why, error, i.entry.section)
                } else {
                    errors::warp_in_part(i.span, &op, one, who.why, error)
                });
                continue;
            }
        }
        if warp
            && grain.is_none()
            && lanes.threads.exact != Some(1)
            && let Some(why) = uneven(flow, lanes, places, block, at)
        {
            out.push(errors::aligned_uneven(i.span, &op, why, i.entry.section));
            continue;
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
    }
}

/// The guard or branch by which some lanes of a warp may come here and others go on without: it compares a number that
/// differs from lane to lane with one that is not known, and who does not come here stays in the kernel.
fn uneven(flow: &Flow, lanes: &Lanes, places: &Places, block: u32, at: u32) -> Option<Span> {
    let stays = |b: u32| !places.leaves[b as usize];
    let instr = flow.instr(at);
    if instr.pred.is_some() && compares(flow, lanes, at) {
        return Some(instr.span);
    }
    // A loop around it that some lanes leave earlier.
    let mut b = block;
    for _ in 0..16 {
        if b == super::cfg::NONE || !flow.cfg.in_loop(b) {
            break;
        }
        if let Some(branch) = flow.cfg.branch(b) {
            let (mut here, mut elsewhere) = (false, false);
            for e in &flow.cfg.blocks[b as usize].succ {
                let leads_here = flow.cfg.dominates(e.to, block);
                here |= leads_here;
                elsewhere |= !leads_here && stays(e.to);
            }
            if here && elsewhere && compares(flow, lanes, branch) {
                return Some(flow.instr(branch).span);
            }
        }
        b = flow.cfg.ipdom[b as usize];
    }
    let mut b = block;
    for _ in 0..64 {
        let up = flow.cfg.idom[b as usize];
        if up == super::cfg::NONE || up == b {
            break;
        }
        let joins = flow.cfg.ipdom[up as usize];
        if let Some(branch) = flow.cfg.branch(up)
            && joins != b
            && compares(flow, lanes, branch)
            && !flow.cfg.dominates(joins, block)
        {
            let mut others = true;
            for e in &flow.cfg.blocks[up as usize].succ {
                others &= e.to == b || stays(e.to);
            }
            if others {
                return Some(flow.instr(branch).span);
            }
        }
        b = up;
    }
    None
}

/// Does the guard or branch compare a number that differs from lane to lane with one that is not known?
fn compares(flow: &Flow, lanes: &Lanes, at: u32) -> bool {
    let differs = |v: Val| matches!(lanes.facts.get(v as usize), Some(Fact::Table(_))) && lanes.shared(v) == Shared::No;
    if flow.instr(at).entry.control == Control::BranchTable {
        for (_, v) in flow.ssa.uses(at) {
            if differs(*v) {
                return true;
            }
        }
        return false;
    }
    let Some((p, _)) = flow.guard(at) else { return false };
    let Some(maker) = flow.ssa.maker(p) else { return false };
    let setp = flow.instr(maker);
    if setp.opcode != op::setp || setp.operands.len() != 3 {
        return false;
    }
    let (Some(a), Some(b)) = (flow.source(maker, "a"), flow.source(maker, "b")) else { return false };
    let unknown = |v: Val| {
        !matches!(lanes.facts.get(v as usize), Some(Fact::Table(_) | Fact::Const(_))) && lanes.shared(v) >= Shared::Warp
    };
    (differs(a) && unknown(b)) || (differs(b) && unknown(a))
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
    // A lane that has exited need not run what names it.
    if who.others == Others::Exit && who.why.is_some() {
        return;
    }
    let left = who.others == Others::Leave && who.why.is_some();
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
    let absent = lacking(who, threads, &|there, bits| there & !bits & mask);
    if who.set != ALL
        && let Some(first) = absent
    {
        out.push(errors::mask_names_absent(span, op, mask, &lanes_text(first), who.why, !left, i.entry.section));
    } else if all_lanes
        && (threads.exact.is_some() || threads.full_warps)
        && let Some(first) = lacking(who, threads, &|there, _| there & !mask)
    {
        // Every lane runs it, and those that the mask does not name must not.
        out.push(errors::mask_lacks_lanes(span, op, mask, first, i.entry.section));
    }
}

/// What is lacking in the first warp, if something is in each: of the lanes that exist, and those that may be here.
fn lacking(who: &Who, threads: Threads, of: &dyn Fn(u32, u32) -> u32) -> Option<u32> {
    let mut first = None;
    for (w, bits) in who.warps(threads) {
        let lacking = of(Who::exist(w, bits, threads), bits);
        if lacking == 0 {
            return None;
        }
        first = first.or(Some(lacking));
    }
    first
}

/// An election among lanes that the CTA does not have, and lanes that are read but not named.
fn partial(who: &Who, threads: Threads, span: Span, mask: u32, i: &Instr, out: &mut Vec<Diagnostic>) {
    if i.opcode == op::elect_sync
        && threads.exact.is_some()
        && lacking(who, threads, &|there, _| mask & !there).is_some()
        && let Some((w, bits)) = who.warps(threads).first()
    {
        out.push(errors::elects_in_part(span, mask, Who::exist(*w, *bits, threads)));
    }
    // Among all 32 lanes: no segments, and the last lane is 31.
    if i.opcode == op::shfl_sync
        && i.has(q::idx)
        && let (Some(arg), Some(lane)) = (i.operand("b"), constant(i, "b"))
        && matches!(constant(i, "c"), Some(c) if c as u32 == 0x1f)
        && mask >> (lane & 31) & 1 == 0
    {
        out.push(completion::source_lane(arg.span, lane as u32 & 31, mask));
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
        && !matches!(flow.guard(at), Some((p, _)) if lanes.shared(p) < Shared::Warp)
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
    let mut out = i.opcode.to_string();
    // `tcgen05.wait` goes on with `::ld`.
    let last = i.quals.iter().position(|q| *q == q::aligned).or(i.quals.iter().position(|q| q.joins_opcode()));
    for q in &i.quals[..last.map_or(0, |last| last + 1)] {
        out.push_str(q.text());
    }
    out
}
