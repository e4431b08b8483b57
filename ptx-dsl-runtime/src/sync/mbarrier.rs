//! The mbarrier object: a pure state machine over its eight bytes of shared memory (PTX ISA 9.7.13.15).
//!
//! Each transition maps the object's word to the new word and the operation's result, or to an error for undefined behaviour.

use crate::fault::FaultKind;

/// Largest expected or pending count of a `.layout::v0` object, and largest magnitude of a tx-count (9.7.13.15.2).
pub const MAX_COUNT: u32 = (1 << 20) - 1;
/// Largest expected or pending count of a `.layout::v1` object.
pub const MAX_COUNT_V1: u32 = (1 << 9) - 1;

// 63 alive | 62 phase | 61 layout v1 | 60..41 pending | 40..21 expected | 20..0 tx-count, biased
const ALIVE: u64 = 1 << 63;
const PHASE: u32 = 62;
const LAYOUT: u32 = 61;
const PENDING: u32 = 41;
const EXPECTED: u32 = 21;
const TX_BIAS: i64 = 1 << 20;
const TX_MASK: u64 = (1 << 21) - 1;
/// The word after `mbarrier.inval`: not alive, but distinct from memory that never held an object.
const INVALIDATED: u64 = 0x0064_6165_6472_626d;

/// Undefined behaviour of an operation on an mbarrier object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MbarrierError {
    /// The word is no mbarrier object: `mbarrier.init` has not run.
    Uninitialised,
    /// An object after `mbarrier.inval`.
    Invalidated,
    /// A count of zero or above the maximum of the layout.
    Count {
        /// the count of the operand
        count: u32,
        /// largest one allowed
        max: u32,
    },
    /// An arrival count above the pending count of the phase.
    PendingUnderflow {
        /// arrivals asked for
        count: u32,
        /// pending count
        pending: u32,
    },
    /// `cp.async.mbarrier.arrive` without `.noinc` when the pending count is the largest one already.
    PendingOverflow {
        /// largest pending count
        max: u32,
    },
    /// An arrive-on at an object whose expected count `arrive_drop` has brought to zero.
    NothingExpected,
    /// The tx-count would leave -(2^20-1) to 2^20-1.
    TxCount {
        /// the tx-count that would result
        tx: i64,
    },
    /// A `.noComplete` operation that completes the phase.
    NoCompleteCompletes,
    /// A `state` operand that no arrive operation has returned.
    BadState {
        /// the value of the operand
        state: u64,
    },
}

impl MbarrierError {
    /// The fault of this error, for an object at this offset in shared memory.
    pub fn fault(self, offset: u32) -> FaultKind {
        match self {
            MbarrierError::Uninitialised | MbarrierError::Invalidated => FaultKind::MbarrierNotLive { offset },
            MbarrierError::Count { count, max } => {
                FaultKind::MbarrierCount { what: format!("mbarrier count {count} is not between 1 and {max}") }
            }
            MbarrierError::PendingUnderflow { count, pending } => {
                FaultKind::MbarrierOverArrive { offset, count: count.into(), pending: pending.into() }
            }
            MbarrierError::PendingOverflow { max } => FaultKind::MbarrierCount {
                what: format!(
                    "increment of an mbarrier object's pending count, which is already at its maximum, {max}"
                ),
            },
            MbarrierError::NothingExpected => FaultKind::MbarrierNothingExpected,
            MbarrierError::TxCount { tx } => FaultKind::MbarrierTxCount { offset, tx },
            MbarrierError::NoCompleteCompletes => FaultKind::NoCompleteCompletes,
            MbarrierError::BadState { state } => FaultKind::MbarrierPhase {
                what: format!("state {state:#x} does not come from an arrive operation on an mbarrier object"),
            },
        }
    }
}

/// The bit layout of an object, which bounds its counts (`.layout::v0`, `.layout::v1`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// Counts of 20 bits, the default.
    #[default]
    V0,
    /// Counts of 9 bits and a report, which is always "none, 0": no instruction that the host runs makes one.
    V1,
}

impl Layout {
    #[inline]
    fn max(self) -> u32 {
        match self {
            Layout::V0 => MAX_COUNT,
            Layout::V1 => MAX_COUNT_V1,
        }
    }
}

/// A decoded object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// Parity of the current phase: 0 for the first.
    pub phase: u64,
    /// Arrivals missing in this phase.
    pub pending: u32,
    /// Arrivals of each following phase.
    pub expected: u32,
    /// Bytes expected minus bytes completed.
    pub tx: i64,
    /// The bit layout of the object.
    pub layout: Layout,
}

impl State {
    /// Decodes a word; `None` if it is not an object.
    ///
    /// A word with field values that no transition produces is not an object. Arbitrary data can still look like one; the checked
    /// host tracks lifetimes.
    #[inline]
    pub fn decode(word: u64) -> Option<State> {
        let count = |at: u32| (word >> at) as u32 & MAX_COUNT;
        let layout = if word >> LAYOUT & 1 == 1 { Layout::V1 } else { Layout::V0 };
        let tx = (word & TX_MASK) as i64 - TX_BIAS;
        let s = State { phase: word >> PHASE & 1, pending: count(PENDING), expected: count(EXPECTED), tx, layout };
        let max = layout.max();
        let ok = word & ALIVE != 0 && s.pending <= max && s.expected <= max && tx > -TX_BIAS;
        ok.then_some(s)
    }

    /// The word of this object.
    #[inline]
    pub fn encode(self) -> u64 {
        let layout = match self.layout {
            Layout::V0 => 0,
            Layout::V1 => 1 << LAYOUT,
        };
        let counts = u64::from(self.pending) << PENDING | u64::from(self.expected) << EXPECTED;
        ALIVE | self.phase << PHASE | layout | counts | ((self.tx + TX_BIAS) as u64 & TX_MASK)
    }

    /// Completes the phase if pending count and tx-count are both zero: the next one begins, with all arrivals pending.
    #[inline]
    fn completed(self) -> (State, bool) {
        if self.pending == 0 && self.tx == 0 {
            (State { phase: self.phase ^ 1, pending: self.expected, ..self }, true)
        } else {
            (self, false)
        }
    }

    #[inline]
    fn with_tx(self, change: i64) -> Result<State, MbarrierError> {
        let tx = self.tx + change;
        if tx.abs() < TX_BIAS { Ok(State { tx, ..self }) } else { Err(MbarrierError::TxCount { tx }) }
    }
}

#[inline]
fn live(word: u64) -> Result<State, MbarrierError> {
    let missing = if word == INVALIDATED { MbarrierError::Invalidated } else { MbarrierError::Uninitialised };
    State::decode(word).ok_or(missing)
}

/// Whether this word looks like an object. See [`State::decode`].
pub fn is_live(word: u64) -> bool {
    State::decode(word).is_some()
}

/// `mbarrier.init`: a fresh object in its first phase.
///
/// The manual forbids it on a live object. The old word is ignored, since data may look like an object; the checked host tracks
/// lifetimes.
pub fn init(layout: Layout, count: u32) -> Result<u64, MbarrierError> {
    check_count(layout, count)?;
    Ok(State { phase: 0, pending: count, expected: count, tx: 0, layout }.encode())
}

/// `mbarrier.inval`: ends the object's lifetime.
pub fn inval(word: u64) -> Result<u64, MbarrierError> {
    live(word).map(|_| INVALIDATED)
}

/// Expect-tx (9.7.13.15.5.1): the phase waits for `bytes` more. The flag tells whether the phase completed: it can if complete-tx
/// came first.
pub fn expect_tx(word: u64, bytes: u32) -> Result<(u64, bool), MbarrierError> {
    tx(word, i64::from(bytes))
}

/// Complete-tx (9.7.13.15.5.2): `bytes` have been written. The flag tells whether the phase completed.
pub fn complete_tx(word: u64, bytes: u32) -> Result<(u64, bool), MbarrierError> {
    tx(word, -i64::from(bytes))
}

fn tx(word: u64, change: i64) -> Result<(u64, bool), MbarrierError> {
    let (s, done) = live(word)?.with_tx(change)?.completed();
    Ok((s.encode(), done))
}

/// The variant of an arrive operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Arrive {
    /// `arrive_drop`: the following phases expect fewer arrivals.
    pub drop: bool,
    /// `.noComplete`: must not complete the phase.
    pub no_complete: bool,
    /// `.expect_tx`: bytes to expect first.
    pub expect_tx: Option<u32>,
}

/// The result of an arrive operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrived {
    /// The `state` result: the object's word before the arrive-on.
    pub state: u64,
    /// Whether the phase completed.
    pub completed: bool,
}

/// `mbarrier.arrive` and `mbarrier.arrive_drop` (9.7.13.15.13 and .14).
///
/// A drop that leaves an expected count of zero is undefined in the later manual; here its phase still completes, and only an
/// arrive-on after that is an error.
#[inline]
pub fn arrive(word: u64, count: u32, how: Arrive) -> Result<(u64, Arrived), MbarrierError> {
    let s = live(word)?;
    check_count(s.layout, count)?;
    let (s, early) = match how.expect_tx {
        Some(bytes) => s.with_tx(i64::from(bytes))?.completed(),
        None => (s, false),
    };
    if s.expected == 0 {
        return Err(MbarrierError::NothingExpected);
    }
    let state = s.encode();
    let Some(pending) = s.pending.checked_sub(count) else {
        return Err(MbarrierError::PendingUnderflow { count, pending: s.pending });
    };
    let expected = if how.drop { s.expected.checked_sub(count) } else { Some(s.expected) };
    // more are pending than expected only while `cp.async.mbarrier.arrive` has incremented the count
    let Some(expected) = expected else {
        return Err(MbarrierError::PendingUnderflow { count, pending: s.expected });
    };
    let (s, completed) = State { pending, expected, ..s }.completed();
    if completed && how.no_complete {
        return Err(MbarrierError::NoCompleteCompletes);
    }
    Ok((s.encode(), Arrived { state, completed: completed || early }))
}

/// The word after `count` arrivals that leave others pending. `None` if they may complete the phase or are an error.
#[inline(always)]
pub fn arrive_early(word: u64, count: u32) -> Option<u64> {
    State::decode(word).filter(|s| count != 0 && s.pending > count).map(|_| word - (u64::from(count) << PENDING))
}

/// `cp.async.mbarrier.arrive` without `.noinc`, before its arrive-on: the pending count goes up by one (9.7.13.15.15).
pub fn increment(word: u64) -> Result<u64, MbarrierError> {
    let s = live(word)?;
    let max = s.layout.max();
    match s.expected {
        0 => Err(MbarrierError::NothingExpected),
        _ if s.pending >= max => Err(MbarrierError::PendingOverflow { max }),
        _ => Ok(State { pending: s.pending + 1, ..s }.encode()),
    }
}

#[inline]
fn check_count(layout: Layout, count: u32) -> Result<(), MbarrierError> {
    let max = layout.max();
    if (1..=max).contains(&count) { Ok(()) } else { Err(MbarrierError::Count { count, max }) }
}

/// `.parity` waits: has the phase of this parity completed? True for parity 1 on a fresh object: the phase before the first.
#[inline]
pub fn passed(word: u64, parity: u64) -> Result<bool, MbarrierError> {
    live(word).map(|s| s.phase != parity & 1)
}

/// Parity of the phase in which an arrive operation returned this `state`.
pub fn state_parity(state: u64) -> Result<u64, MbarrierError> {
    State::decode(state).map(|s| s.phase).ok_or(MbarrierError::BadState { state })
}

/// `mbarrier.pending_count`: the pending count that a `state` recorded.
pub fn pending_count(state: u64) -> Result<u32, MbarrierError> {
    State::decode(state).map(|s| s.pending).ok_or(MbarrierError::BadState { state })
}

/// `mbarrier.check_layout`: has the object this layout?
pub fn check_layout(word: u64, layout: Layout) -> Result<bool, MbarrierError> {
    live(word).map(|s| s.layout == layout)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The word of an object, put together by hand: phase, pending, expected, tx.
    fn w(phase: u64, pending: u64, expected: u64, tx: i64) -> u64 {
        0x8000_0000_0000_0000 + phase * (1 << 62) + pending * (1 << 41) + expected * (1 << 21) + (0x10_0000 + tx) as u64
    }

    #[derive(Clone, Copy)]
    enum Op {
        Inval,
        Expect(u32),
        Complete(u32),
        On(u32),
        NoComplete(u32),
        Drop(u32),
        DropNoComplete(u32),
        ArriveExpect(u32),
        DropExpect(u32),
    }
    use Op::*;

    /// The word after, and whether the phase completed.
    type After = Result<(u64, bool), MbarrierError>;

    fn apply(word: u64, op: Op) -> After {
        let go = |count, drop, no_complete, expect_tx| {
            let (next, r) = arrive(word, count, Arrive { drop, no_complete, expect_tx })?;
            Ok((next, r.completed))
        };
        match op {
            Inval => inval(word).map(|w| (w, false)),
            Expect(n) => expect_tx(word, n),
            Complete(n) => complete_tx(word, n),
            On(n) => go(n, false, false, None),
            NoComplete(n) => go(n, false, true, None),
            Drop(n) => go(n, true, false, None),
            DropNoComplete(n) => go(n, true, true, None),
            ArriveExpect(n) => go(1, false, false, Some(n)),
            DropExpect(n) => go(1, true, false, Some(n)),
        }
    }

    #[test]
    fn before_operation_after() {
        const M: u32 = 1_048_575;
        const MI: i64 = 1_048_575;
        let under = |count, pending| Err(MbarrierError::PendingUnderflow { count, pending });
        let count = |count| Err(MbarrierError::Count { count, max: 1_048_575 });
        let tx = |tx| Err(MbarrierError::TxCount { tx });
        #[rustfmt::skip]
        let table: &[(u64, Op, After)] = &[
            // arrivals count down; the last one completes the phase and reloads the count
            (w(0, 3, 3, 0), On(1), Ok((w(0, 2, 3, 0), false))),
            (w(0, 2, 3, 0), On(2), Ok((w(1, 3, 3, 0), true))),
            (w(1, 1, 3, 0), On(1), Ok((w(0, 3, 3, 0), true))),
            (w(0, 1048575, 1048575, 0), On(M), Ok((w(1, 1048575, 1048575, 0), true))),
            (w(0, 2, 3, 0), On(3), under(3, 2)),
            (w(0, 2, 3, 0), On(0), count(0)),
            (w(0, 2, 3, 0), On(M + 1), count(1_048_576)),
            // bytes that are missing hold the phase open, in both orders
            (w(0, 1, 2, 0), Expect(16), Ok((w(0, 1, 2, 16), false))),
            (w(0, 1, 2, 16), On(1), Ok((w(0, 0, 2, 16), false))),
            (w(0, 0, 2, 16), Complete(16), Ok((w(1, 2, 2, 0), true))),
            (w(0, 0, 2, 16), Complete(8), Ok((w(0, 0, 2, 8), false))),
            (w(0, 0, 2, 16), On(1), under(1, 0)),
            (w(0, 1, 2, 0), Complete(16), Ok((w(0, 1, 2, -16), false))),
            (w(0, 1, 2, -16), On(1), Ok((w(0, 0, 2, -16), false))),
            (w(0, 0, 2, -16), Expect(16), Ok((w(1, 2, 2, 0), true))),
            (w(0, 1, 2, 0), Expect(0), Ok((w(0, 1, 2, 0), false))),
            // expect before the arrival: one instruction
            (w(0, 1, 1, 0), ArriveExpect(32), Ok((w(0, 0, 1, 32), false))),
            (w(0, 2, 2, 0), ArriveExpect(32), Ok((w(0, 1, 2, 32), false))),
            (w(0, 1, 1, -32), ArriveExpect(32), Ok((w(1, 1, 1, 0), true))),
            (w(0, 0, 2, -32), ArriveExpect(32), Ok((w(1, 1, 2, 0), true))),
            (w(0, 2, 2, 0), DropExpect(32), Ok((w(0, 1, 1, 32), false))),
            // the range of the tx-count
            (w(0, 1, 1, 0), Expect(M), Ok((w(0, 1, 1, MI), false))),
            (w(0, 1, 1, 1), Expect(M), tx(1_048_576)),
            (w(0, 1, 1, 0), Expect(u32::MAX), tx(4_294_967_295)),
            (w(0, 1, 1, 0), Complete(M), Ok((w(0, 1, 1, -MI), false))),
            (w(0, 1, 1, -1), Complete(M), tx(-1_048_576)),
            // a drop takes from this phase and from the following ones
            (w(0, 3, 3, 0), Drop(1), Ok((w(0, 2, 2, 0), false))),
            (w(0, 1, 3, 0), Drop(1), Ok((w(1, 2, 2, 0), true))),
            (w(0, 2, 3, 0), Drop(2), Ok((w(1, 1, 1, 0), true))),
            (w(0, 1, 3, 0), Drop(2), under(2, 1)),
            (w(0, 1, 1, 0), Drop(1), Ok((w(1, 0, 0, 0), true))),
            (w(1, 0, 0, 0), On(1), Err(MbarrierError::NothingExpected)),
            (w(1, 0, 0, 0), Drop(1), Err(MbarrierError::NothingExpected)),
            // .noComplete
            (w(0, 3, 3, 0), NoComplete(2), Ok((w(0, 1, 3, 0), false))),
            (w(0, 2, 3, 0), NoComplete(2), Err(MbarrierError::NoCompleteCompletes)),
            (w(0, 2, 3, 16), NoComplete(2), Ok((w(0, 0, 3, 16), false))),
            (w(0, 3, 3, 0), DropNoComplete(2), Ok((w(0, 1, 1, 0), false))),
            (w(0, 3, 3, 0), DropNoComplete(3), Err(MbarrierError::NoCompleteCompletes)),
            // lifecycle
            (0, On(1), Err(MbarrierError::Uninitialised)),
            (0x3f80_0000_3f80_0000, Expect(1), Err(MbarrierError::Uninitialised)),
            (u64::MAX, Complete(1), Err(MbarrierError::Uninitialised)),
            (0, Inval, Err(MbarrierError::Uninitialised)),
        ];
        for (i, (before, op, after)) in table.iter().enumerate() {
            assert_eq!(apply(*before, *op), *after, "row {i}");
        }
    }

    #[test]
    fn init_takes_counts_in_range() {
        assert_eq!(init(Layout::V0, 7), Ok(w(0, 7, 7, 0)));
        assert_eq!(init(Layout::V0, 0), Err(MbarrierError::Count { count: 0, max: 1_048_575 }));
        assert_eq!(init(Layout::V0, 1 << 20), Err(MbarrierError::Count { count: 1_048_576, max: 1_048_575 }));
        assert_eq!(init(Layout::V1, 511), Ok(w(0, 511, 511, 0) | 1 << 61));
        assert_eq!(init(Layout::V1, 512), Err(MbarrierError::Count { count: 512, max: 511 }));
    }

    #[test]
    fn nothing_but_init_works_after_inval() {
        let gone = inval(w(1, 2, 2, 5)).unwrap();
        assert!(!is_live(gone));
        assert_eq!(inval(gone), Err(MbarrierError::Invalidated));
        assert_eq!(expect_tx(gone, 1), Err(MbarrierError::Invalidated));
        assert_eq!(passed(gone, 0), Err(MbarrierError::Invalidated));
        assert_eq!(apply(gone, On(1)), Err(MbarrierError::Invalidated));
    }

    #[test]
    fn increments_raise_the_pending_count_alone() {
        for (before, after) in [
            (w(0, 1, 1, 0), w(0, 2, 1, 0)),
            (w(1, 2, 7, -3), w(1, 3, 7, -3)),
            (w(0, 0, 2, 16), w(0, 1, 2, 16)),
            (w(0, 3, 1, 0), w(0, 4, 1, 0)),
        ] {
            assert_eq!(increment(before), Ok(after));
            // its arrive-on restores the count
            assert_eq!(apply(after, On(1)).map(|(word, _)| word), Ok(before));
        }
        let full = w(0, 1_048_575, 1_048_575, 0);
        assert_eq!(increment(full), Err(MbarrierError::PendingOverflow { max: 1_048_575 }));
        assert_eq!(increment(w(0, 511, 511, 0)), Ok(w(0, 512, 511, 0)));
        assert_eq!(increment(w(0, 511, 511, 0) | 1 << 61), Err(MbarrierError::PendingOverflow { max: 511 }));
        assert_eq!(increment(w(1, 0, 0, 0)), Err(MbarrierError::NothingExpected));
        assert_eq!(increment(0), Err(MbarrierError::Uninitialised));
        assert_eq!(apply(w(0, 3, 1, 0), Drop(2)), Err(MbarrierError::PendingUnderflow { count: 2, pending: 1 }));
    }

    #[test]
    fn waits_look_at_the_parity() {
        let first = w(0, 1, 1, 0);
        let second = w(1, 1, 1, 0);
        assert_eq!([passed(first, 0), passed(first, 1)], [Ok(false), Ok(true)]);
        assert_eq!([passed(second, 0), passed(second, 1)], [Ok(true), Ok(false)]);
        assert_eq!(passed(second, 6), Ok(true), "only the lowest bit counts");
        assert_eq!(passed(0, 0), Err(MbarrierError::Uninitialised));
    }

    #[test]
    fn a_state_is_the_word_before_the_arrival() {
        let (next, r) = arrive(w(1, 5, 9, 0), 2, Arrive { no_complete: true, ..Arrive::default() }).unwrap();
        assert_eq!((next, r), (w(1, 3, 9, 0), Arrived { state: w(1, 5, 9, 0), completed: false }));
        assert_eq!(pending_count(r.state), Ok(5));
        assert_eq!(state_parity(r.state), Ok(1));
        assert_eq!(pending_count(12), Err(MbarrierError::BadState { state: 12 }));
        assert_eq!(state_parity(0), Err(MbarrierError::BadState { state: 0 }));
    }

    #[test]
    fn layouts_are_told_apart() {
        let v1 = init(Layout::V1, 3).unwrap();
        assert_eq!(check_layout(v1, Layout::V1), Ok(true));
        assert_eq!(check_layout(v1, Layout::V0), Ok(false));
        assert_eq!(check_layout(w(0, 3, 3, 0), Layout::V0), Ok(true));
        assert_eq!(arrive(v1, 512, Arrive::default()).unwrap_err(), MbarrierError::Count { count: 512, max: 511 });
    }
}
