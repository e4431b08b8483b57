//! The lattice of facts about a value: bottom, a constant, a number for each thread, a predicate, or only which threads share it.
//! Tables and sets of threads are interned.

use crate::ssa::{UNDEF, Val};
use crate::threads::{Set, by_warp};
use ptx_dsl_isa::isa::sreg::SpecialRegister;

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

pub(super) const UNKNOWN: Pred = Pred { yes: 0, no: 0, elected: [UNDEF; 2], passed: [UNDEF; 2], shared: Shared::No };

impl Pred {
    /// `not.pred`
    pub(super) fn negated(self) -> Pred {
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
    pub(super) same: Vec<bool>,
    /// Sets of threads.
    pub sets: Vec<Set>,
    /// How many threads the CTA has.
    pub threads: Threads,
    /// By block: a branch whose lanes may part leads here and not yet together again.
    pub apart: Vec<bool>,
    /// Values that a guard depends on; of no others the numbers are worked out.
    pub(super) wanted: Vec<bool>,
    /// The function has an instruction for which it matters who runs it.
    pub(super) asked: bool,
    /// What was worked out last from which operands, by value.
    pub(super) known: Vec<Option<([Fact; 3], Fact)>>,
    /// Special registers that were asked for.
    pub(super) special: Vec<(SpecialRegister, Fact)>,
}

/// Tables and sets are few in real kernels; beyond that many nothing more is known.
const MOST: usize = 400;

impl Lanes {
    /// Who shares a value.
    pub fn shared(&self, v: Val) -> Shared {
        match self.facts.get(v as usize) {
            Some(f) => shared(*f, &self.same),
            None => Shared::No,
        }
    }

    pub(super) fn table(&mut self, t: Vec<u32>) -> Fact {
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

    pub(super) fn set(&mut self, s: Set) -> u16 {
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

    pub(super) fn both(&mut self, a: u16, b: u16, all: bool) -> u16 {
        let mut s = self.sets[a as usize];
        for (k, y) in self.sets[b as usize].iter().enumerate() {
            s[k] = if all { s[k] & y } else { s[k] | y };
        }
        self.set(s)
    }

    pub(super) fn pred(&self, f: Fact) -> Pred {
        match f {
            Fact::Pred(p) => p,
            _ => Pred { shared: shared(f, &self.same), ..UNKNOWN },
        }
    }
}

pub(super) fn shared(f: Fact, same: &[bool]) -> Shared {
    match f {
        Fact::Bottom | Fact::Const(_) => Shared::Cta,
        Fact::Table(k) if same.get(k as usize) == Some(&true) => Shared::Warp,
        Fact::Table(_) => Shared::No,
        Fact::Is(s) => s,
        Fact::Pred(p) => p.shared,
    }
}
