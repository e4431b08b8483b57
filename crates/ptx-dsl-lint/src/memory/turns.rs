//! Critical sections: code that the warps of a CTA execute one after the other, because each waits for its turn before it and lets the
//! next one continue after it. A lock gives turns, and so do an mbarrier or a named barrier that differs between warps (PTX ISA 8.8,
//! 9.7.13.1, 9.7.13.15). A forward data-flow analysis finds whether a wait for a turn is on every path.

use crate::kernel::Kernel;
use crate::may_synchronise::may_synchronise_warps;
use ptx_dsl_analysis::accesses::{mbarrier_wait, value_access};
use ptx_dsl_analysis::dataflow::{Bits, Meet, forward};
use ptx_dsl_analysis::lanes::{LaneFact, PredicateFact, Uniformity};
use ptx_dsl_analysis::region::Region;
use ptx_dsl_analysis::ssa::{UNDEF, Val, Value};
use ptx_dsl_analysis::threads::{Set, THREADS, union_with};
use ptx_dsl_isa::hir::{Instr, Operand};
use ptx_dsl_isa::isa::{Barrier, Meeting, MemoryOp};

/// Limit of the branches on flags.
const BRANCHES: usize = 32;
/// The bit of a wait at a barrier or for an mbarrier. The bits of branches on flags follow.
const WAITED: usize = 0;

/// May the warps that execute two accesses take turns at both, in one critical section?
pub(crate) fn in_turns(kernel: &Kernel, accesses: [(u32, u32); 2]) -> bool {
    let turns = Turns::new(kernel, accesses);
    (!turns.waits.is_empty() || !turns.branches.is_empty())
        && turns.releases_after(accesses[1])
        && turns.hold_at(accesses)
}

/// A branch on what an atomic operation or a strong load of a flag returned.
struct FlagBranch {
    block: u32,
    /// The flag.
    flag: Option<Region>,
    /// It ends or repeats a loop that waits.
    polls: bool,
}

struct Turns<'k, 'a, 'h> {
    kernel: &'k Kernel<'a, 'h>,
    /// The threads that execute the accesses.
    threads: Set,
    /// Waits that let only some of these threads continue.
    waits: Vec<u32>,
    branches: Vec<FlagBranch>,
}

impl<'k, 'a, 'h> Turns<'k, 'a, 'h> {
    fn new(kernel: &'k Kernel<'a, 'h>, accesses: [(u32, u32); 2]) -> Turns<'k, 'a, 'h> {
        let mut threads: Set = [0; THREADS / 64];
        for (block, at) in accesses {
            union_with(&mut threads, &kernel.threads_at(block, at).set);
        }
        let count = kernel.lanes.cta_size.exact.unwrap_or(THREADS);
        (count..THREADS).for_each(|t| threads[t / 64] &= !(1 << (t % 64)));
        let mut turns = Turns { kernel, threads, waits: Vec::new(), branches: Vec::new() };
        turns.waits = kernel.flow.walk().filter(|(b, at, i)| turns.gives_turn(*b, *at, i)).map(|w| w.1).collect();
        for &b in &kernel.flow.cfg.rpo {
            if turns.branches.len() < BRANCHES {
                turns.branches.extend(turns.flag_branch(b));
            }
        }
        turns
    }

    /// Is it a wait that lets only some of the threads continue at a time?
    fn gives_turn(&self, block: u32, at: u32, i: &Instr) -> bool {
        if mbarrier_wait(i) {
            let varies = ["addr", "phaseParity", "state"].iter().any(|name| self.differs(at, name));
            return varies || !self.covers(block, at);
        }
        if i.entry.effects.barrier != Barrier::Cta || i.entry.effects.meeting == Meeting::Arrive {
            return false;
        }
        // Warps that only meet each other do not take turns.
        let arrives = |i: &Instr| i.entry.effects.barrier == Barrier::Cta && i.entry.effects.meeting == Meeting::Arrive;
        self.kernel.flow.cfg.any(&arrives) && (self.differs(at, "a") || !self.covers(block, at))
    }

    /// Do all threads of the section come to this instruction?
    fn covers(&self, block: u32, at: u32) -> bool {
        let present = self.kernel.threads_at(block, at);
        let inside = |(have, want): (&u64, &u64)| want & !have == 0;
        !present.elected && !present.not_elected && present.set.iter().zip(&self.threads).all(inside)
    }

    /// Does the operand differ between warps?
    fn differs(&self, at: u32, name: &str) -> bool {
        let register = match self.kernel.flow.instr(at).value(name) {
            Some(Operand::Reg(r, lane)) => Some((*r, *lane)),
            Some(Operand::Address(ptx_dsl_isa::hir::Base::Reg(r), _)) => Some((*r, 0)),
            _ => None,
        };
        register.is_some_and(|(r, lane)| self.varies(self.kernel.flow.ssa.read(at, r, lane)))
    }

    fn varies(&self, v: Val) -> bool {
        self.kernel.lanes.uniformity(v) < Uniformity::Cta
    }

    /// The branch at the end of a block, if a flag decides it in another way for each warp.
    fn flag_branch(&self, block: u32) -> Option<FlagBranch> {
        let flow = self.kernel.flow;
        let (p, _) = flow.guard(flow.cfg.branch(block)?)?;
        let (mut seen, mut stack) = (Vec::new(), vec![p]);
        let (mut reads, mut varies) = (Vec::new(), false);
        while let Some(v) = stack.pop() {
            let v = flow.origin(v);
            if seen.contains(&v) || seen.len() > 64 {
                continue;
            }
            seen.push(v);
            let before = stack.len();
            match &flow.ssa.values[v as usize] {
                Value::Def { instr, .. } if reads_flag(flow.instr(*instr)) => {
                    reads.push(*instr);
                    varies |= value_access(flow.instr(*instr)).is_atomic() || self.differs(*instr, "a");
                    continue;
                }
                _ => flow.ssa.push_sources(v, &mut stack),
            }
            varies |= stack.len() == before && self.varies(v);
        }
        if !varies {
            return None;
        }
        // A ticket is drawn once; what serves it is read again and again.
        let again = flow.cfg.reachable_from([block]);
        let polled = reads.iter().find(|read| again[flow.cfg.block_of(**read) as usize]);
        let read = *polled.or(reads.first())?;
        let i = flow.instr(read);
        let flag = i.address().and_then(|arg| self.kernel.region(read, arg, i.bytes()));
        let polls = polled.is_some() && flow.cfg.in_loop(block);
        Some(FlagBranch { block, flag, polls })
    }

    /// Does an instruction after the access let others continue?
    fn releases_after(&self, (block, at): (u32, u32)) -> bool {
        let cfg = &self.kernel.flow.cfg;
        let reachable = cfg.reachable_from([block]);
        let after = |(b, here, _): &(u32, u32, &Instr)| reachable[*b as usize] || (*b == block && *here > at);
        self.kernel.flow.walk().filter(after).any(|(_, _, i)| may_synchronise_warps(i))
    }

    /// Has a thread a turn at all the accesses, on every path?
    fn hold_at(&self, accesses: [(u32, u32); 2]) -> bool {
        let cfg = &self.kernel.flow.cfg;
        let bits = 1 + self.branches.len();
        let mut block = |b: u32, set: &mut Bits| {
            self.enter(b, set);
            cfg.range(b).for_each(|at| self.step(at, set));
        };
        let mut edge = |b: u32, n: usize, set: &mut Bits| {
            for (k, branch) in self.branches.iter().enumerate() {
                if branch.block == b || (self.leads_elsewhere(b, n, branch.block) && self.follows_leader(b, n)) {
                    set.set(1 + k);
                }
            }
            let waits = self.waits.iter().any(|w| self.leads_elsewhere(b, n, self.kernel.flow.cfg.block_of(*w)));
            if waits && (self.is_first_turn(b, n) || self.follows_leader(b, n)) {
                set.set(WAITED);
            }
        };
        let at_start = forward(cfg, bits, Meet::Every, &mut block, &mut edge);
        let mut held = Bits::all(bits);
        for (b, access) in accesses {
            let mut set = at_start[b as usize].clone();
            self.enter(b, &mut set);
            (cfg.range(b).start..access).for_each(|at| self.step(at, &mut set));
            (0..bits).filter(|n| !set.has(*n)).for_each(|n| held.unset(n));
        }
        (0..bits).any(|n| held.has(n))
    }

    /// Where both ways of a branch on a flag meet, its flag says nothing.
    fn enter(&self, b: u32, set: &mut Bits) {
        for (k, branch) in self.branches.iter().enumerate() {
            if !branch.polls && self.kernel.flow.cfg.ipdom[branch.block as usize] == b {
                set.unset(1 + k);
            }
        }
    }

    fn step(&self, at: u32, set: &mut Bits) {
        let flow = self.kernel.flow;
        let i = flow.instr(at);
        let effects = i.entry.effects;
        if self.waits.contains(&at) {
            set.set(WAITED);
        } else if effects.barrier == Barrier::Cluster || effects.barrier == Barrier::Cta {
            // Others continue: after an arrival the next warp, after a barrier of all threads all of them.
            if effects.meeting == Meeting::Arrive { set.unset(WAITED) } else { set.clear() }
        } else if effects.mbarrier.arrives() {
            set.unset(WAITED);
        } else if value_access(i).stores() && self.branches.iter().any(|b| b.flag.is_some()) {
            let Some(to) = i.address().and_then(|arg| self.kernel.region(at, arg, i.bytes())) else { return };
            for (k, branch) in self.branches.iter().enumerate() {
                if branch.flag.is_some_and(|flag| flag.overlaps(flow, &to)) {
                    set.unset(1 + k);
                }
            }
        }
    }

    /// Does another edge of the block lead to the block `to`, and this one not?
    fn leads_elsewhere(&self, b: u32, edge: usize, to: u32) -> bool {
        let cfg = &self.kernel.flow.cfg;
        let succ = &cfg.blocks[b as usize].succ;
        let mut others = succ.iter().enumerate().filter(|(n, _)| *n != edge);
        !cfg.dominates(succ[edge].to, to) && others.any(|(_, e)| cfg.dominates(e.to, to))
    }

    /// The condition of an edge, and whether it holds there.
    fn condition(&self, b: u32, edge: usize) -> Option<(PredicateFact, bool)> {
        let flow = self.kernel.flow;
        let when = flow.cfg.blocks[b as usize].succ[edge].when?;
        let (p, _) = flow.guard(flow.cfg.branch(b)?)?;
        match self.kernel.lanes.facts.get(flow.origin(p) as usize)? {
            LaneFact::Pred(f) => Some((*f, when)),
            _ => None,
        }
    }

    /// By warp: the lanes that execute the accesses and see a predicate with this value.
    fn lanes_with(&self, f: &PredicateFact, value: bool) -> impl Iterator<Item = u32> {
        let set = &self.kernel.lanes.sets[usize::from(if value { f.yes } else { f.no })];
        set.iter().zip(&self.threads).flat_map(|(a, b)| [(a & b) as u32, ((a & b) >> 32) as u32])
    }

    /// Do the threads of one warp take this edge, while the others wait for their turn behind another edge?
    fn is_first_turn(&self, b: u32, edge: usize) -> bool {
        let Some((f, when)) = self.condition(b, edge) else { return false };
        self.lanes_with(&f, when).filter(|lanes| *lanes != 0).count() <= 1
    }

    /// Does a lane of each warp that takes this edge wait behind another edge, for its warp?
    fn follows_leader(&self, b: u32, edge: usize) -> bool {
        let Some((f, when)) = self.condition(b, edge) else { return false };
        let elects = f.elected != [UNDEF; 2] || f.not_elected != [UNDEF; 2];
        f.uniformity == Uniformity::None
            && (elects || self.lanes_with(&f, when).zip(self.lanes_with(&f, !when)).all(|(a, b)| a == 0 || b != 0))
    }
}

/// Does the instruction read a flag that other threads may change?
fn reads_flag(i: &Instr) -> bool {
    match value_access(i) {
        MemoryOp::Load => i.order().is_strong(),
        MemoryOp::Atomic => true,
        _ => false,
    }
}
