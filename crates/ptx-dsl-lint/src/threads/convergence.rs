//! Instructions that a whole warp, a single thread or the lanes of a mask must execute, against the threads that reach them: Table
//! 46 of PTX ISA 9.7.16.5, `.aligned` (9.7.13.1), member masks (9.7.13).

use super::shuffles;
use crate::errors::convergence as errors;
use crate::kernel::Kernel;
use crate::spelling::opcode;
use crate::threads::absent::{Fate, fate};
use ptx_dsl_analysis::cfg::NONE;
use ptx_dsl_analysis::issue::{Grain, aligned, tcgen05};
use ptx_dsl_analysis::lanes::{CtaSize, LaneFact, Uniformity};
use ptx_dsl_analysis::reaching::{OtherThreads, PartialWarp, ReachingThreads};
use ptx_dsl_analysis::sites::{Site, executes_by_warps_at_first};
use ptx_dsl_analysis::ssa::Val;
use ptx_dsl_analysis::threads::ALL;
use ptx_dsl_isa::hir::{Instr, Operand};
use ptx_dsl_isa::isa::{Control, Tensor};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::span::Span;

pub(crate) fn check(kernel: &Kernel) {
    let Kernel { flow, lanes, .. } = *kernel;
    let entry = flow.function.entry;
    for (block, at, i) in flow.walk() {
        let grain = tcgen05(i);
        let mask = constant_mask(kernel, at, i);
        let warp = grain == Some(Grain::Warp) || (grain.is_none() && aligned(i));
        if !warp && mask.is_none() && grain != Some(Grain::Thread) {
            continue;
        }
        let (present, site) = (kernel.threads_at(block, at), Site { block, at });
        let op = opcode(i);
        if warp {
            let mut sure = present.partial_warp(lanes.cta_size);
            if sure.is_none() {
                sure = present.some_partial_warp(flow, lanes, block, at);
            }
            let part = if sure.is_some() { sure } else { present.partial_warp_if_full(lanes.cta_size) };
            if let Some(part) = part {
                let barrier = grain.is_none();
                // Barriers of current hardware do not wait for exited lanes.
                let error =
                    sure.is_some() && !(barrier && present.others >= OtherThreads::Leave && present.why.is_some());
                let one = part == PartialWarp::OneLane;
                kernel.report(if barrier {
                    errors::aligned_in_part(i.span, &op, one, present.why, error, i.entry.section)
                } else {
                    errors::warp_in_part(i.span, &op, one, present.why, error)
                });
                continue;
            }
        }
        if warp
            && grain.is_none()
            && lanes.cta_size.exact != Some(1)
            && let Some(why) = divergent_condition(kernel, block, at)
        {
            kernel.report(errors::aligned_uneven(i.span, &op, why, i.entry.section));
            continue;
        }
        let all_lanes = entry && kernel.every_lane(&present, block, at);
        if grain == Some(Grain::Thread) && lanes.cta_size.exact != Some(1) {
            let several = if all_lanes { None } else { present.lanes_of_a_warp(flow, lanes, block, at) };
            if all_lanes || (entry && several.is_some_and(|n| n > 1)) {
                // The count of an mbarrier may allow for the arrivals of all of them.
                let error = lanes.cta_size.several_per_warp() && i.entry.effects.tensor != Tensor::Commit;
                kernel.report(errors::thread_in_lanes(i.span, &op, several, error));
            }
        }
        if let Some((span, mask)) = mask {
            let masked = Masked { instr: i, block, at, present: &present, size: lanes.cta_size, span, mask };
            masked.check_bounds(kernel);
            shuffles::check(kernel, at, mask);
            let at_first = || present.whole_warps(lanes.cta_size) && executes_by_warps_at_first(flow, lanes, site);
            masked.check_lanes(kernel, all_lanes || (entry && at_first()));
        }
    }
}

/// The guard or branch that may separate the lanes of a warp: it compares a value that varies between lanes with an unknown one,
/// and the other lanes stay in the kernel.
fn divergent_condition(kernel: &Kernel, block: u32, at: u32) -> Option<Span> {
    let flow = kernel.flow;
    let stays = |b: u32| !kernel.reaching.only_exits[b as usize];
    let instr = flow.instr(at);
    if instr.pred.is_some() && compares_lane_values(kernel, at) {
        return Some(instr.span);
    }
    // A loop that some lanes leave earlier.
    let mut b = block;
    for _ in 0..16 {
        if b == ptx_dsl_analysis::cfg::NONE || !flow.cfg.in_loop(b) {
            break;
        }
        if let Some(branch) = flow.cfg.branch(b) {
            let (mut here, mut elsewhere) = (false, false);
            for e in &flow.cfg.blocks[b as usize].succ {
                let leads_here = flow.cfg.dominates(e.to, block);
                here |= leads_here;
                elsewhere |= !leads_here && stays(e.to);
            }
            if here && elsewhere && compares_lane_values(kernel, branch) {
                return Some(flow.instr(branch).span);
            }
        }
        b = flow.cfg.ipdom[b as usize];
    }
    let mut b = block;
    for _ in 0..64 {
        let up = flow.cfg.idom[b as usize];
        if up == ptx_dsl_analysis::cfg::NONE || up == b {
            break;
        }
        let joins = flow.cfg.ipdom[up as usize];
        if let Some(branch) = flow.cfg.branch(up)
            && joins != b
            && compares_lane_values(kernel, branch)
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

/// Does the guard or branch compare a value that varies between lanes with an unknown one?
fn compares_lane_values(kernel: &Kernel, at: u32) -> bool {
    let Kernel { flow, lanes, .. } = *kernel;
    let differs = |v: Val| {
        matches!(lanes.facts.get(v as usize), Some(LaneFact::Table(_))) && lanes.uniformity(v) == Uniformity::None
    };
    if flow.instr(at).entry.effects.control == Control::BranchTable {
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
        !matches!(lanes.facts.get(v as usize), Some(LaneFact::Table(_) | LaneFact::Const(_)))
            && lanes.uniformity(v) >= Uniformity::Warp
    };
    (differs(a) && unknown(b)) || (differs(b) && unknown(a))
}

/// An instruction with a constant member mask, and the threads that reach it.
struct Masked<'i> {
    instr: &'i Instr,
    block: u32,
    at: u32,
    present: &'i ReachingThreads,
    size: CtaSize,
    span: Span,
    mask: u32,
}

impl Masked<'_> {
    /// Compares the mask with the lanes that reach the instruction; `all_lanes`: all lanes of each warp do.
    fn check_lanes(&self, kernel: &Kernel, all_lanes: bool) {
        let Masked { instr, present, size, mask, .. } = *self;
        // Exited lanes may be in the mask.
        if present.others == OtherThreads::Exit && present.why.is_some() {
            return;
        }
        let several = size.several_per_warp();
        if present.elected && mask.count_ones() > 1 && several {
            self.report_absent(kernel, "only the elected lane is here");
        } else if present.not_elected && mask == u32::MAX && several {
            self.report_absent(kernel, "the elected lane is not here");
        } else if present.set != ALL
            && let Some(first) = missing_lanes(present, size, &|there, bits| there & !bits & mask)
        {
            self.report_absent(kernel, &lanes_text(first));
        } else if all_lanes
            && (size.exact.is_some() || size.full_warps)
            && let Some(first) = missing_lanes(present, size, &|there, _| there & !mask)
        {
            // Every lane executes it, but the mask does not name some.
            kernel.report(errors::mask_lacks_lanes(self.span, &opcode(instr), mask, first, instr.entry.section));
        }
    }

    fn report_absent(&self, kernel: &Kernel, what: &str) {
        let fate = fate(kernel, self.block, self.at, self.present, self.mask);
        // The instruction waits only for lanes that have not exited. What a shuffle reads from an exited lane is undefined.
        if fate == Fate::Exits && self.instr.opcode != op::shfl_sync {
            return;
        }
        let why = self.present.why;
        let (op, section) = (opcode(self.instr), self.instr.entry.section);
        let sure = fate == Fate::Waits && !self.others_may_run_it(kernel);
        kernel.report(errors::mask_names_absent(self.span, &op, self.mask, what, why, sure, section));
    }

    /// Can the lanes that are missing here meet these at another statement with the same qualifiers, to which these do not come, too? A
    /// function is called from several places.
    fn others_may_run_it(&self, kernel: &Kernel) -> bool {
        let cfg = &kernel.flow.cfg;
        let (mut behind, mut b) = (vec![self.block], self.block);
        while let Some(&next) = cfg.ipdom.get(b as usize)
            && next != NONE
            && !behind.contains(&next)
        {
            behind.push(next);
            b = next;
        }
        let is_alike = |at: u32| kernel.flow.instr(at).spelling == self.instr.spelling;
        let mut elsewhere = (0..cfg.blocks.len() as u32).filter(|b| !behind.contains(b));
        !kernel.flow.function.entry || elsewhere.any(|b| cfg.range(b).any(is_alike))
    }

    /// Masks with lanes that the CTA does not have.
    fn check_bounds(&self, kernel: &Kernel) {
        let Masked { instr, present, size, span, mask, .. } = *self;
        if instr.opcode == op::elect_sync
            && size.exact.is_some()
            && missing_lanes(present, size, &|there, _| mask & !there).is_some()
            && let Some((w, bits)) = present.warps(size).first()
        {
            kernel.report(errors::elects_in_part(span, mask, ReachingThreads::existing_lanes(*w, *bits, size)));
        }
    }
}

/// The missing lanes of the first warp, if every warp misses some. `of` gets the lanes that exist and those that may be here.
fn missing_lanes(present: &ReachingThreads, size: CtaSize, of: &dyn Fn(u32, u32) -> u32) -> Option<u32> {
    let mut first = None;
    for (w, bits) in present.warps(size) {
        let missing_lanes = of(ReachingThreads::existing_lanes(w, bits, size), bits);
        if missing_lanes == 0 {
            return None;
        }
        first = first.or(Some(missing_lanes));
    }
    first
}

fn lanes_text(mask: u32) -> String {
    let n = mask.trailing_zeros();
    match mask.count_ones() {
        1 => format!("lane {n} is not here"),
        k => format!("lane {n} and {} more are not here", k - 1),
    }
}

/// The constant member mask, with its span.
pub(crate) fn constant_mask(kernel: &Kernel, at: u32, i: &Instr) -> Option<(Span, u32)> {
    let arg = i.operand("membermask")?;
    match arg.value {
        Operand::Imm(m) => Some((arg.span, m as u32)),
        Operand::Reg(r, lane) => match kernel.lanes.facts.get(kernel.flow.ssa.read(at, r, lane) as usize)? {
            LaneFact::Const(m) => Some((arg.span, *m as u32)),
            _ => None,
        },
        _ => None,
    }
}
