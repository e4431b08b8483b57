//! The effects of steps on what other threads see, and the dependence of two steps, whose order then matters.

use super::Process;

/// Something that threads share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum StepObject {
    /// Four bytes of shared memory: slot, CTA rank, offset.
    Shared(u32, u32, u32),
    /// Four bytes of global memory: segment, offset.
    Global(u32, u64),
    /// An mbarrier object: slot, CTA rank, offset.
    Mbarrier(u32, u32, u32),
    /// A barrier of a CTA: slot, CTA rank, number.
    Barrier(u32, u32, u32),
    /// The barrier of the cluster of a slot.
    Cluster(u32),
    /// The allocator of Tensor Memory of a CTA, or of the pair of CTAs that begins there: slot, CTA rank.
    Allocator(u32, u32),
    /// The registers of a CTA: slot, CTA rank.
    Registers(u32, u32),
    /// Whether a CTA has threads: slot, CTA rank.
    Life(u32, u32),
    /// The pending clusters.
    Queue,
    /// The order of `fence.sc`, where memory is weak.
    Sequential,
    /// An asynchronous operation, or the first warp of a cluster.
    Start(Process),
}

/// An action on an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// A read of the value.
    Read,
    /// A write of the value, or a read and a write.
    Write,
    /// A contribution to a phase. Those of one phase commute.
    Arrive { phase: u32, completes: bool },
    /// A test or wait at this statement: has the phase completed?
    Look { phase: u32, done: bool, site: u32 },
    /// A wait for this phase, or for a value, is over.
    After { phase: u32 },
}

/// The effect of a step on an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Effect {
    pub object: StepObject,
    pub action: Action,
}

/// The dependence of a later effect on an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Relation {
    /// The effects commute.
    None,
    /// The later one could not have come first.
    Ordered,
    /// The effects race: in the other order they do something else.
    Races,
}

/// The dependence of `later` on `earlier`. `waits` says whether a failed test at a statement leads back to it, so that it is a
/// wait.
pub(crate) fn relation(earlier: &Effect, later: &Effect, waits: &impl Fn(u32) -> bool) -> Relation {
    use Action::*;
    use Relation::{None, Ordered, Races};
    if earlier.object != later.object {
        return None;
    }
    match (earlier.action, later.action) {
        (Read | Look { .. } | After { .. }, Read | Look { .. } | After { .. }) => None,
        (Arrive { phase: p, .. }, Arrive { phase: q, .. }) if p == q => None,
        (Arrive { phase, .. }, Look { phase: seen, done: true, site }) if phase <= seen => {
            if waits(site) {
                Ordered
            } else {
                Races
            }
        }
        (Arrive { completes: false, .. }, Look { .. }) | (Look { .. }, Arrive { completes: false, .. }) => None,
        (Arrive { phase, .. }, After { phase: over }) => {
            if phase <= over {
                Ordered
            } else {
                None
            }
        }
        (Write, After { .. }) => Ordered,
        (After { .. }, _) => None,
        _ => Races,
    }
}

/// The dependence of a step on an earlier one.
pub(crate) fn depends(earlier: &[Effect], later: &[Effect], waits: &impl Fn(u32) -> bool) -> Relation {
    let mut strongest = Relation::None;
    for a in earlier {
        for b in later {
            strongest = strongest.max(relation(a, b, waits));
            if strongest == Relation::Races {
                return strongest;
            }
        }
    }
    strongest
}

#[cfg(test)]
mod tests {
    use super::*;
    use Action::*;

    #[test]
    fn what_depends_on_what() {
        let object = StepObject::Queue;
        let of = |a, b| {
            let (a, b) = (Effect { object, action: a }, Effect { object, action: b });
            relation(&a, &b, &|site| site == 7)
        };
        let arrive = |phase, completes| Arrive { phase, completes };
        let look = |phase, done| Look { phase, done, site: 0 };
        // memory
        assert_eq!(of(Read, Read), Relation::None);
        assert_eq!(of(Read, Write), Relation::Races);
        assert_eq!(of(Write, Write), Relation::Races);
        // arrivals of a phase commute
        assert_eq!(of(arrive(2, false), arrive(2, true)), Relation::None);
        assert_eq!(of(arrive(2, true), arrive(3, false)), Relation::Races);
        // a test may come before the phase completes; a wait may not
        assert_eq!(of(arrive(2, false), look(2, true)), Relation::Races);
        assert_eq!(of(arrive(2, true), Look { phase: 2, done: true, site: 7 }), Relation::Ordered);
        assert_eq!(of(arrive(2, true), After { phase: 2 }), Relation::Ordered);
        // the next phase hides this one when it completes
        assert_eq!(of(look(2, true), arrive(3, false)), Relation::None);
        assert_eq!(of(look(2, true), arrive(3, true)), Relation::Races);
        // a failed test, and what completes the phase
        assert_eq!(of(look(2, false), arrive(2, true)), Relation::Races);
        assert_eq!(of(After { phase: 2 }, arrive(3, false)), Relation::None);
        let other = Effect { object: StepObject::Cluster(0), action: Write };
        assert_eq!(relation(&other, &Effect { object, action: Write }, &|_| false), Relation::None);
    }
}
