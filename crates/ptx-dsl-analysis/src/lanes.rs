//! Uniformity: which threads of a CTA see a predicate true, and which threads share a value.
//!
//! Values that are a function of `%tid` and `%laneid` are evaluated for every thread that a CTA can have; for other values the lattice
//! keeps which threads share them. A divergent branch makes the phis after it divergent, so value facts and divergent regions are solved
//! in turn until neither changes.

use crate::cfg::NONE;
use crate::flow::Flow;
use crate::ssa::{Val, Value};
use crate::threads::{ALL, THREADS};
use ptx_dsl_isa::hir::Operand;
use ptx_dsl_isa::isa::Control;
use ptx_dsl_isa::isa::sreg::special;
use ptx_dsl_isa::opcode::{Opcode, op};

mod eval;
mod facts;
mod numbers;

use eval::Eval;
pub use eval::{boolean, comparison, keeps};
pub use facts::{CtaSize, LaneFact, Lanes, PredicateFact, Uniformity};
use numbers::Shape;
pub use numbers::operation;

impl Lanes {
    /// Solves for all values of the function.
    pub fn new(flow: &Flow) -> Lanes {
        // `.maxntid 1` means one thread.
        let dims = match flow.function.reqntid {
            None if flow.function.maxntid == Some([1, 1, 1]) => flow.function.maxntid,
            dims => dims,
        };
        let mut reads_yz = false;
        let mut full_warps = false;
        for i in &flow.cfg.instrs {
            for a in &i.operands {
                reads_yz |= matches!(
                    a.value,
                    Operand::Sreg(special::tid_y | special::tid_z | special::tid | special::ntid_y | special::ntid_z)
                );
                full_warps |= a.name == "membermask"
                    && i.pred.is_none()
                    && matches!(a.value, Operand::Imm(m) if m & 0xFFFF_FFFF == 0xFFFF_FFFF);
            }
            full_warps |= crate::issue::whole_warps(i);
        }
        let exact =
            dims.map(|[x, y, z]| (x as usize).saturating_mul(y as usize).saturating_mul(z as usize).min(THREADS));
        let shape = Shape { dims, linear: !reads_yz && !flow.function.rust.is_solid() };
        let mut lanes = Lanes {
            facts: Vec::new(),
            tables: Vec::new(),
            same: Vec::new(),
            sets: vec![ALL],
            cta_size: CtaSize { exact, full_warps },
            divergent: vec![false; flow.cfg.blocks.len()],
            feeds_guard: feeds_guard(flow),
            needs_tables: exact.is_some()
                || flow.cfg.any(&|i| {
                    i.opcode == op::mbarrier_init
                        || crate::issue::aligned(i)
                        || crate::issue::tcgen05(i).is_some()
                        || i.operand("membermask").is_some()
                }),
            known: vec![None; flow.ssa.values.len()],
            special: Vec::new(),
        };
        // A phi at a divergent join is not uniform, which makes more branches divergent. If a few rounds do not reach a fixed
        // point, every join counts as divergent.
        let mut joins = vec![false; flow.cfg.blocks.len()];
        for round in 0..5 {
            if round == 4 {
                joins.fill(true);
            }
            let mut eval = |v: Val, value: &Value, facts: &[LaneFact]| {
                Eval { lanes: &mut lanes, flow, shape: &shape, facts }.eval(&joins, v, value)
            };
            let solved = flow.ssa.solve(LaneFact::Bottom, &mut eval);
            lanes.facts = solved.unwrap_or_else(|| vec![LaneFact::Is(Uniformity::None); flow.ssa.values.len()]);
            lanes.mark_divergent_regions(flow);
            let mut more = false;
            for (b, join) in joins.iter_mut().enumerate() {
                if !*join && lanes.is_divergent_join(flow, b) {
                    *join = true;
                    more = true;
                }
            }
            if !more {
                break;
            }
        }
        lanes
    }

    /// Does the block join divergent edges?
    fn is_divergent_join(&self, flow: &Flow, b: usize) -> bool {
        let pred = &flow.cfg.blocks[b].pred;
        pred.len() > 1 && pred.iter().any(|(p, _)| self.divergent[*p as usize] || !self.uniform_branch(flow, *p))
    }

    /// Do all lanes of a warp take the same edge at the end of the block?
    fn uniform_branch(&self, flow: &Flow, b: u32) -> bool {
        let Some(i) = flow.cfg.branch(b) else { return true };
        if matches!(flow.guard(i), Some((p, _)) if self.uniformity(p) < Uniformity::Warp) {
            return false;
        }
        flow.instr(i).entry.effects.control != Control::BranchTable
            || flow.ssa.uses(i).iter().all(|(_, v)| self.uniformity(*v) >= Uniformity::Warp)
    }

    /// Marks the blocks between each divergent branch and its immediate post-dominator.
    fn mark_divergent_regions(&mut self, flow: &Flow) {
        self.divergent.fill(false);
        let n = flow.cfg.blocks.len();
        let mut budget = 64 * n + 1000;
        let mut seen = vec![NONE; n];
        let mut stack = Vec::new();
        for &b in &flow.cfg.rpo {
            if flow.cfg.branch(b).is_none() || self.uniform_branch(flow, b) {
                continue;
            }
            let stop = flow.cfg.ipdom[b as usize];
            stack.clear();
            flow.cfg.push_successors(b, &mut stack);
            while let Some(at) = stack.pop() {
                if at == stop || seen[at as usize] == b {
                    continue;
                }
                seen[at as usize] = b;
                self.divergent[at as usize] = true;
                flow.cfg.push_successors(at, &mut stack);
                budget = budget.saturating_sub(1);
                if budget == 0 {
                    self.divergent.fill(true);
                    return;
                }
            }
        }
    }
}

const MADE_OF_NUMBERS: &[Opcode] = &[
    op::setp,
    op::mov,
    op::cvt,
    op::not,
    op::and,
    op::or,
    op::xor,
    op::add,
    op::sub,
    op::mul,
    op::mad,
    op::shl,
    op::shr,
    op::min,
    op::max,
    op::rem,
    op::div,
    op::shfl_sync,
];

/// The backward slice of all guards: only for these values are numbers computed.
fn feeds_guard(flow: &Flow) -> Vec<bool> {
    let mut feeds_guard = vec![false; flow.ssa.values.len()];
    let mut stack = Vec::new();
    for (_, at, i) in flow.walk() {
        if let Some((p, _)) = flow.guard(at) {
            stack.push(p);
        } else if i.opcode == op::brx_idx {
            flow.ssa.push_uses(at, &mut stack);
        }
    }
    while let Some(v) = stack.pop() {
        if std::mem::replace(&mut feeds_guard[v as usize], true) {
            continue;
        }
        match &flow.ssa.values[v as usize] {
            // The operands of other instructions, such as the address of a load, say nothing about the value.
            Value::Def { instr, old, .. } if !MADE_OF_NUMBERS.contains(&flow.instr(*instr).opcode) => {
                stack.extend(old);
            }
            _ => flow.ssa.push_sources(v, &mut stack),
        }
    }
    feeds_guard
}
