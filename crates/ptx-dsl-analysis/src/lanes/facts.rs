//! The lattice of uniformity facts: bottom, a constant, a number for each thread, a predicate, or only which threads share the
//! value. Tables and sets of threads are interned.

use crate::ssa::{UNDEF, Val};
use crate::threads::{Set, by_warp};
pub use crate::uniformity::Uniformity;
use ptx_dsl_isa::isa::sreg::SpecialRegister;

/// A fact about a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LaneFact {
    /// Bottom: no value yet.
    Bottom,
    /// The value is this number.
    Const(u64),
    /// A number for every thread: [`Lanes::tables`].
    Table(u16),
    /// An unknown number; which threads share it.
    Is(Uniformity),
    /// A predicate.
    Pred(PredicateFact),
}

/// A fact about a predicate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PredicateFact {
    /// A superset of the threads that see it true: an index into [`Lanes::sets`]; 0 is all threads.
    pub yes: u16,
    /// A superset of the threads that see it false.
    pub no: u16,
    /// For true and false: implies that this `elect.sync` elected the lane; [`UNDEF`] for none.
    pub elected: [Val; 2],
    /// For true and false: implies that this `elect.sync` did not elect the lane.
    pub not_elected: [Val; 2],
    /// The threads that share the predicate.
    pub uniformity: Uniformity,
}

pub(super) const UNKNOWN: PredicateFact =
    PredicateFact { yes: 0, no: 0, elected: [UNDEF; 2], not_elected: [UNDEF; 2], uniformity: Uniformity::None };

impl PredicateFact {
    /// `not.pred`
    pub(super) fn negated(self) -> PredicateFact {
        let swap = |x: [Val; 2]| [x[1], x[0]];
        PredicateFact {
            yes: self.no,
            no: self.yes,
            elected: swap(self.elected),
            not_elected: swap(self.not_elected),
            uniformity: self.uniformity,
        }
    }
}

/// The size of the CTA, as far as it is known.
#[derive(Debug, Clone, Copy)]
pub struct CtaSize {
    /// Exactly that many, by `.reqntid`.
    pub exact: Option<usize>,
    /// Warps are full: the kernel has instructions that need all 32 lanes.
    pub full_warps: bool,
}

impl CtaSize {
    /// Does each warp certainly have several lanes?
    pub fn several_per_warp(self) -> bool {
        self.exact.map_or(self.full_warps, |n| n > 1)
    }
}

/// The facts of a function.
pub struct Lanes {
    /// By value: what is known of it.
    pub facts: Vec<LaneFact>,
    /// Numbers by thread.
    pub tables: Vec<Vec<u32>>,
    /// By table: the lanes of each warp have the same number.
    pub(super) same: Vec<bool>,
    /// Sets of threads.
    pub sets: Vec<Set>,
    /// The number of threads of the CTA.
    pub cta_size: CtaSize,
    /// By block: it is in the region of a divergent branch.
    pub divergent: Vec<bool>,
    /// By value: a guard depends on it; numbers are computed only for these.
    pub(super) feeds_guard: Vec<bool>,
    /// Some instruction of the function depends on which threads execute it.
    pub(super) needs_tables: bool,
    /// By value: the operands and the result of the last evaluation.
    pub(super) known: Vec<Option<([LaneFact; 3], LaneFact)>>,
    /// Special registers that were evaluated.
    pub(super) special: Vec<(SpecialRegister, LaneFact)>,
}

/// Limit of tables and sets. Real kernels have few.
const MOST: usize = 400;

impl Lanes {
    /// The threads that share a value.
    pub fn uniformity(&self, v: Val) -> Uniformity {
        match self.facts.get(v as usize) {
            Some(f) => uniformity_of(*f, &self.same),
            None => Uniformity::None,
        }
    }

    pub(super) fn table(&mut self, t: Vec<u32>) -> LaneFact {
        // A table of equal numbers stays a table: it follows from the launch, not from a constant in the text.
        for (k, other) in self.tables.iter().enumerate() {
            if *other == t {
                return LaneFact::Table(k as u16);
            }
        }
        if self.tables.len() >= MOST {
            return LaneFact::Is(if by_warp(&t) { Uniformity::Warp } else { Uniformity::None });
        }
        self.same.push(by_warp(&t));
        self.tables.push(t);
        LaneFact::Table(self.tables.len() as u16 - 1)
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

    pub(super) fn pred(&self, f: LaneFact) -> PredicateFact {
        match f {
            LaneFact::Pred(p) => p,
            _ => PredicateFact { uniformity: uniformity_of(f, &self.same), ..UNKNOWN },
        }
    }
}

pub(super) fn uniformity_of(f: LaneFact, same: &[bool]) -> Uniformity {
    match f {
        LaneFact::Bottom | LaneFact::Const(_) => Uniformity::Cta,
        LaneFact::Table(k) if same.get(k as usize) == Some(&true) => Uniformity::Warp,
        LaneFact::Table(_) => Uniformity::None,
        LaneFact::Is(s) => s,
        LaneFact::Pred(p) => p.uniformity,
    }
}
