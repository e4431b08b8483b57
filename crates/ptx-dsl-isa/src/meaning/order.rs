//! How an instruction orders memory accesses: its `.sem` and `.scope` as written, or the defaults of its table entry (8.4, 8.5).

use crate::isa::Instr;
use crate::isa::effect::{Barrier, Issue};
use crate::opcode::Opcode;
use crate::qualifier::{Qualifier, q};

/// The semantics of an operation on memory (8.4). All but `Weak` are strong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Sem {
    /// `.weak`
    #[default]
    Weak,
    /// `.relaxed`, `.volatile`
    Relaxed,
    /// `.acquire`
    Acquire,
    /// `.release`
    Release,
    /// `.acq_rel`
    AcqRel,
    /// `.sc`, of fences alone
    Sc,
}

impl Sem {
    /// The semantics that this qualifier names.
    fn of(qualifier: Qualifier) -> Option<Sem> {
        match qualifier {
            q::weak => Some(Sem::Weak),
            q::relaxed => Some(Sem::Relaxed),
            q::acquire => Some(Sem::Acquire),
            q::release => Some(Sem::Release),
            q::acq_rel => Some(Sem::AcqRel),
            q::sc => Some(Sem::Sc),
            _ => None,
        }
    }

    /// Can the operation end an acquire pattern (8.8)?
    pub const fn acquires(self) -> bool {
        matches!(self, Sem::Acquire | Sem::AcqRel | Sem::Sc)
    }

    /// Can the operation begin a release pattern (8.8)?
    pub const fn releases(self) -> bool {
        matches!(self, Sem::Release | Sem::AcqRel | Sem::Sc)
    }
}

/// The threads with which an operation synchronises (8.5), from the narrowest to the widest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[non_exhaustive]
pub enum Scope {
    /// `.cta`
    #[default]
    Cta,
    /// `.cluster`
    Cluster,
    /// `.gpu`
    Gpu,
    /// `.sys`
    Sys,
}

impl Scope {
    /// The scope that this qualifier names.
    fn of(qualifier: Qualifier) -> Option<Scope> {
        match qualifier {
            q::cta => Some(Scope::Cta),
            q::cluster => Some(Scope::Cluster),
            q::gpu | q::gl => Some(Scope::Gpu),
            q::sys => Some(Scope::Sys),
            _ => None,
        }
    }

    /// As the manual writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Scope::Cta => ".cta",
            Scope::Cluster => ".cluster",
            Scope::Gpu => ".gpu",
            Scope::Sys => ".sys",
        }
    }
}

/// How an instruction orders memory accesses. The default is a weak access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Order {
    /// The semantics, written or by default.
    pub sem: Sem,
    /// The scope, written or by default. Of a weak access it means nothing.
    pub scope: Scope,
    /// Is the scope, or a qualifier that implies it, written?
    pub scope_is_written: bool,
    /// Does it read and write in one operation?
    pub atomic: bool,
    /// Do all threads of a warp execute it together: `.aligned`, `bar.sync`?
    pub aligned: bool,
}

impl Order {
    /// An operation that is not atomic.
    pub const fn new(sem: Sem, scope: Scope) -> Order {
        Order { sem, scope, scope_is_written: true, atomic: false, aligned: false }
    }

    /// The order with another [`Order::atomic`].
    pub const fn with_atomic(mut self, atomic: bool) -> Order {
        self.atomic = atomic;
        self
    }

    /// The order with another [`Order::aligned`].
    pub const fn with_aligned(mut self, aligned: bool) -> Order {
        self.aligned = aligned;
        self
    }

    /// Is it `.relaxed` or stronger?
    #[inline(always)]
    pub const fn is_strong(self) -> bool {
        !matches!(self.sem, Sem::Weak)
    }

    /// Can it end an acquire pattern?
    #[inline(always)]
    pub const fn acquires(self) -> bool {
        self.sem.acquires()
    }

    /// Can it begin a release pattern?
    #[inline(always)]
    pub const fn releases(self) -> bool {
        self.sem.releases()
    }

    /// Is it `fence.sc`, or `membar`, which is the same?
    #[inline(always)]
    pub const fn is_sequential(self) -> bool {
        matches!(self.sem, Sem::Sc)
    }

    /// The order of an instruction of this entry with these qualifiers: those of the instruction, else the defaults of the entry.
    pub fn of(entry: &Instr, has: impl Fn(Qualifier) -> bool) -> Order {
        let effects = entry.effects;
        let aligned = has(q::aligned) || matches!(effects.issue, Issue::Warp | Issue::FullWarp);
        let atomic = effects.memory.is_atomic();
        // restricted fences and most proxy fences order only what they name
        if has(q::mbarrier_init) || has(q::async_generic) {
            return Order { aligned, atomic, ..Order::default() };
        }
        let written =
            [q::relaxed, q::acquire, q::release, q::acq_rel, q::sc, q::weak].into_iter().find(|word| has(*word));
        // as `.relaxed.sys` (8.4); `.mmio` also has a `.sem`
        let of_system = (has(q::volatile) || has(q::mmio)) && !atomic;
        let defaults = || if has(q::proxy) { &[][..] } else { entry.defaults }.iter().map(|(_, word)| *word);
        let sem = match written.and_then(Sem::of) {
            Some(sem) => Some(sem),
            None if of_system => Some(Sem::Relaxed),
            None => defaults().find_map(Sem::of),
        };
        let named = [q::cta, q::cluster, q::gpu, q::gl, q::sys].into_iter().find(|word| has(*word)).and_then(Scope::of);
        let implied = match effects.barrier {
            _ if of_system => Some(Scope::Sys),
            Barrier::Cluster => Some(Scope::Cluster),
            _ => None,
        };
        let scope = named.or(implied);
        Order {
            sem: sem.unwrap_or_default(),
            scope: scope.or_else(|| defaults().find_map(Scope::of)).unwrap_or_default(),
            scope_is_written: scope.is_some(),
            atomic,
            aligned,
        }
    }

    /// The order of an instruction whose entry is not known. Entries of one opcode have the same defaults, proxy fences aside.
    pub fn of_opcode(opcode: Opcode, has: impl Fn(Qualifier) -> bool) -> Order {
        opcode.entries().next().map_or_else(Order::default, |entry| Order::of(entry.instr, has))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::FAMILIES;

    /// The order of an instruction as written, `fence.acq_rel.gpu`.
    fn order(opcode: Opcode, words: &[Qualifier]) -> (Sem, Scope) {
        let order = Order::of_opcode(opcode, |word| words.contains(&word));
        (order.sem, order.scope)
    }

    /// Defaults of the manual, PTX ISA 9.0: 9.7.13.4 (`fence`, `membar`), 9.7.13.5 and 9.7.13.6 (`atom`, `red`), 9.7.13.15 (mbarrier
    /// operations), 9.7.13.3 (`barrier.cluster`), 9.7.9.14 (`multimem`), 8.4 (`.volatile`).
    #[test]
    fn unwritten_qualifiers_have_the_defaults_of_the_manual() {
        use Scope::{Cluster, Cta, Gpu, Sys};
        use Sem::{AcqRel, Acquire, Relaxed, Release, Sc, Weak};
        let rows: &[(&str, &[Qualifier], Sem, Scope)] = &[
            ("ld", &[], Weak, Cta),
            ("st", &[q::weak], Weak, Cta),
            ("ld", &[q::volatile], Relaxed, Sys),
            ("ld", &[q::mmio, q::acquire, q::sys], Acquire, Sys),
            ("ld", &[q::relaxed, q::gpu], Relaxed, Gpu),
            ("st", &[q::release, q::cluster], Release, Cluster),
            ("atom", &[], Relaxed, Gpu),
            ("atom", &[q::acq_rel], AcqRel, Gpu),
            ("red", &[q::cta], Relaxed, Cta),
            ("fence", &[q::gpu], AcqRel, Gpu),
            ("fence", &[q::sc, q::cta], Sc, Cta),
            ("fence", &[q::acquire, q::cluster], Acquire, Cluster),
            ("fence", &[q::proxy, q::_async], Weak, Cta),
            ("fence", &[q::mbarrier_init, q::release, q::cluster], Weak, Cta),
            ("membar", &[q::gl], Sc, Gpu),
            ("membar", &[q::cta], Sc, Cta),
            ("mbarrier.arrive", &[], Release, Cta),
            ("mbarrier.arrive", &[q::relaxed, q::cluster], Relaxed, Cluster),
            ("mbarrier.arrive_drop", &[q::shared_cluster], Release, Cta),
            ("mbarrier.test_wait", &[q::parity], Acquire, Cta),
            ("mbarrier.try_wait", &[], Acquire, Cta),
            ("mbarrier.expect_tx", &[], Relaxed, Cta),
            ("mbarrier.complete_tx", &[q::relaxed, q::cluster], Relaxed, Cluster),
            ("barrier.cluster.arrive", &[], Release, Cluster),
            ("barrier.cluster.arrive", &[q::relaxed], Relaxed, Cluster),
            ("barrier.cluster.wait", &[], Acquire, Cluster),
            ("multimem.red", &[], Relaxed, Sys),
            ("multimem.ld_reduce", &[], Weak, Cta),
        ];
        for (opcode, words, sem, scope) in rows {
            assert_eq!(order(Opcode::of(opcode), words), (*sem, *scope), "{opcode} {words:?}");
        }
    }

    #[test]
    fn entries_of_one_opcode_have_the_same_defaults() {
        for instr in FAMILIES.iter().flat_map(|(_, list)| *list) {
            // the first entry of `fence` has the defaults; the others write all
            if instr.opcode == "fence" || instr.opcode == "membar" {
                continue;
            }
            let plain = |_| false;
            let (own, first) = (Order::of(instr, plain), Order::of_opcode(Opcode::of(instr.opcode), plain));
            assert_eq!((own.sem, own.scope), (first.sem, first.scope), "{}: {}", instr.opcode, instr.syntax);
        }
    }

    /// An entry whose syntax makes a `.sem` or `.scope` optional says what their absence means.
    #[test]
    fn optional_qualifiers_have_defaults_in_the_table() {
        for instr in FAMILIES.iter().flat_map(|(_, list)| *list) {
            let optional =
                ["{.sem", "{.redsem", "{.relaxed.scope", "{.scope"].iter().any(|slot| instr.syntax.contains(slot));
            let sem = instr.defaults.iter().any(|(_, word)| Sem::of(*word).is_some());
            assert!(sem || !optional, "{}: {}", instr.opcode, instr.syntax);
        }
    }
}
