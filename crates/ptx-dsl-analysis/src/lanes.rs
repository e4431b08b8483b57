//! Which threads of a CTA make a predicate true, as far as the text says: values that are a function of `%tid` and `%laneid`
//! are worked out for every thread that a CTA can have, values that all lanes share are known as such.

use crate::Flow;
use crate::cfg::NONE;
use crate::ssa::{UNDEF, Val, Value};
use ptx_dsl_isa::hir::Operand;

mod eval;
mod numbers;
use crate::threads::ALL;
use crate::threads::Set;
use crate::threads::THREADS;
pub use eval::{boolean, comparison, keeps};
pub use numbers::Compare;
use numbers::{Shape, by_warp};
pub use numbers::{holds, operation};
use ptx_dsl_isa::isa::Control;
use ptx_dsl_isa::isa::sreg::SpecialRegister;
use ptx_dsl_isa::isa::sreg::special;
use ptx_dsl_isa::opcode::{Opcode, op};

/// Who has the same value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shared {
    /// Nobody is known to.
    No,
    /// The lanes of a warp.
    Warp,
    /// The threads of a CTA.
    Cta,
}

/// What is known of a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fact {
    /// Nothing came here yet.
    Bottom,
    /// This number.
    Const(u64),
    /// A number for every thread: [`Lanes::tables`].
    Table(u16),
    /// No number, but who shares it.
    Is(Shared),
    /// A predicate.
    Pred(Pred),
}

/// What is known of a predicate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pred {
    /// At most these threads see it true: an index into [`Lanes::sets`]; 0 is everybody.
    pub yes: u16,
    /// At most these see it false.
    pub no: u16,
    /// True, false: only where this `elect.sync` elected the lane; [`UNDEF`] for none.
    pub elected: [Val; 2],
    /// True, false: only where this `elect.sync` did not elect the lane.
    pub passed: [Val; 2],
    /// Who shares it.
    pub shared: Shared,
}

const UNKNOWN: Pred = Pred { yes: 0, no: 0, elected: [UNDEF; 2], passed: [UNDEF; 2], shared: Shared::No };

impl Pred {
    /// `not.pred`
    fn negated(self) -> Pred {
        let swap = |x: [Val; 2]| [x[1], x[0]];
        Pred { yes: self.no, no: self.yes, elected: swap(self.elected), passed: swap(self.passed), shared: self.shared }
    }
}

/// How many threads are known to be there.
#[derive(Debug, Clone, Copy)]
pub struct Threads {
    /// Exactly that many, by `.reqntid`.
    pub exact: Option<usize>,
    /// Warps are full: the kernel has instructions that need all 32 lanes.
    pub full_warps: bool,
}

impl Threads {
    /// Certainly more than one lane in each warp?
    pub fn many(self) -> bool {
        self.exact.map_or(self.full_warps, |n| n > 1)
    }
}

/// The facts of a function.
pub struct Lanes {
    /// By value: what is known of it.
    pub facts: Vec<Fact>,
    /// Numbers by thread.
    pub tables: Vec<Vec<u32>>,
    /// By table: the lanes of each warp have the same number.
    same: Vec<bool>,
    /// Sets of threads.
    pub sets: Vec<Set>,
    /// How many threads the CTA has.
    pub threads: Threads,
    /// By block: a branch whose lanes may part leads here and not yet together again.
    pub apart: Vec<bool>,
    /// Values that a guard depends on; of no others the numbers are worked out.
    wanted: Vec<bool>,
    /// The function has an instruction for which it matters who runs it.
    asked: bool,
    /// What was worked out last from which operands, by value.
    known: Vec<Option<([Fact; 3], Fact)>>,
    /// Special registers that were asked for.
    special: Vec<(SpecialRegister, Fact)>,
}

/// Tables and sets are few in real kernels; beyond that many nothing more is known.
const MOST: usize = 400;

impl Lanes {
    /// Solves for all values of the function.
    pub fn new(flow: &Flow) -> Lanes {
        // At most one thread is one thread.
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
        let shape = Shape { dims, linear: !reads_yz };
        let mut lanes = Lanes {
            facts: Vec::new(),
            tables: Vec::new(),
            same: Vec::new(),
            sets: vec![ALL],
            threads: Threads { exact, full_warps },
            apart: vec![false; flow.cfg.blocks.len()],
            wanted: wanted(flow),
            asked: exact.is_some()
                || flow.cfg.any(&|i| {
                    i.opcode == op::mbarrier_init
                        || crate::issue::aligned(i)
                        || crate::issue::tcgen05(i).is_some()
                        || i.operand("membermask").is_some()
                }),
            known: vec![None; flow.ssa.values.len()],
            special: Vec::new(),
        };
        // Values that meet where lanes came different ways are not shared. That makes more branches such ones; a few rounds
        // settle it, and if they do not, nothing counts as shared.
        let mut joins = vec![false; flow.cfg.blocks.len()];
        for round in 0..5 {
            if round == 4 {
                joins.fill(true);
            }
            let mut eval = |v: Val, value: &Value, facts: &[Fact]| lanes.eval(flow, &shape, &joins, v, value, facts);
            let solved = flow.ssa.solve(Fact::Bottom, &mut eval);
            lanes.facts = solved.unwrap_or_else(|| vec![Fact::Is(Shared::No); flow.ssa.values.len()]);
            lanes.part(flow);
            let mut more = false;
            for (b, join) in joins.iter_mut().enumerate() {
                if !*join && lanes.parted(flow, b) {
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

    /// Is it a join of ways that are apart, or one that ends what is apart?
    fn parted(&self, flow: &Flow, b: usize) -> bool {
        let pred = &flow.cfg.blocks[b].pred;
        if pred.len() < 2 {
            return false;
        }
        for (p, _) in pred {
            if self.apart[*p as usize] || !self.uniform_branch(flow, *p) {
                return true;
            }
        }
        false
    }

    /// Do all lanes of a warp go the same way at the end of the block?
    fn uniform_branch(&self, flow: &Flow, b: u32) -> bool {
        let Some(i) = flow.cfg.branch(b) else { return true };
        if matches!(flow.guard(i), Some((p, _)) if self.shared(p) < Shared::Warp) {
            return false;
        }
        if flow.instr(i).entry.control == Control::BranchTable {
            for (_, v) in flow.ssa.uses(i) {
                if self.shared(*v) < Shared::Warp {
                    return false;
                }
            }
        }
        true
    }

    /// Marks the blocks between branches that may part lanes and where these meet again.
    fn part(&mut self, flow: &Flow) {
        self.apart.fill(false);
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
            flow.cfg.push_ways(b, &mut stack);
            while let Some(at) = stack.pop() {
                if at == stop || seen[at as usize] == b {
                    continue;
                }
                seen[at as usize] = b;
                self.apart[at as usize] = true;
                flow.cfg.push_ways(at, &mut stack);
                budget = budget.saturating_sub(1);
                if budget == 0 {
                    self.apart.fill(true);
                    return;
                }
            }
        }
    }

    /// Who shares a value.
    pub fn shared(&self, v: Val) -> Shared {
        match self.facts.get(v as usize) {
            Some(f) => shared(*f, &self.same),
            None => Shared::No,
        }
    }

    fn table(&mut self, t: Vec<u32>) -> Fact {
        // One number for all stays a table: it follows from the launch's shape, and nobody wrote it as a constant.
        for (k, other) in self.tables.iter().enumerate() {
            if *other == t {
                return Fact::Table(k as u16);
            }
        }
        if self.tables.len() >= MOST {
            return Fact::Is(if by_warp(&t) { Shared::Warp } else { Shared::No });
        }
        self.same.push(by_warp(&t));
        self.tables.push(t);
        Fact::Table(self.tables.len() as u16 - 1)
    }

    fn set(&mut self, s: Set) -> u16 {
        for (k, other) in self.sets.iter().enumerate() {
            if *other == s {
                return k as u16;
            }
        }
        if self.sets.len() >= MOST {
            return 0;
        }
        self.sets.push(s);
        self.sets.len() as u16 - 1
    }

    fn both(&mut self, a: u16, b: u16, all: bool) -> u16 {
        let mut s = self.sets[a as usize];
        for (k, y) in self.sets[b as usize].iter().enumerate() {
            s[k] = if all { s[k] & y } else { s[k] | y };
        }
        self.set(s)
    }

    fn pred(&self, f: Fact) -> Pred {
        match f {
            Fact::Pred(p) => p,
            _ => Pred { shared: shared(f, &self.same), ..UNKNOWN },
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

/// The values from which guards are made: of those the rules want to know the numbers, if there is anything to say at all.
fn wanted(flow: &Flow) -> Vec<bool> {
    let mut wanted = vec![false; flow.ssa.values.len()];
    let mut stack = Vec::new();
    for (_, at, i) in flow.walk() {
        if let Some((p, _)) = flow.guard(at) {
            stack.push(p);
        } else if i.opcode == op::brx_idx {
            flow.ssa.push_uses(at, &mut stack);
        }
    }
    while let Some(v) = stack.pop() {
        if std::mem::replace(&mut wanted[v as usize], true) {
            continue;
        }
        match &flow.ssa.values[v as usize] {
            // What a load's address is, for one, tells nothing about what it loads.
            Value::Def { instr, old, .. } if !MADE_OF_NUMBERS.contains(&flow.instr(*instr).opcode) => {
                stack.extend(old);
            }
            _ => flow.ssa.push_sources(v, &mut stack),
        }
    }
    wanted
}

fn shared(f: Fact, same: &[bool]) -> Shared {
    match f {
        Fact::Bottom | Fact::Const(_) => Shared::Cta,
        Fact::Table(k) if same.get(k as usize) == Some(&true) => Shared::Warp,
        Fact::Table(_) => Shared::No,
        Fact::Is(s) => s,
        Fact::Pred(p) => p.shared,
    }
}
