//! Faults: undefined behaviour and traps of the *kernel*, and their reports. The machine never panics for one.

mod at;
mod early_phase;
mod kind;
pub(crate) mod lists;
mod matrix_bounds;
mod matrix_layout;
mod object;
mod race;
mod registers;
mod strength;
mod tensor_race;
mod tensor_unwritten;
mod too_weak;
pub(crate) mod words;

use std::borrow::Cow;
use std::fmt;
use words::id;

pub(crate) use at::Where;
pub use at::{At, Origin};
pub use early_phase::EarlyPhase;
pub use kind::FaultKind;
pub use matrix_bounds::MatrixBounds;
pub use matrix_layout::{MatrixLayout, WrittenBox};
pub use object::Object;
pub use race::{NearMiss, Race, Side};
pub use registers::RegisterValue;
pub use strength::Strength;
pub use tensor_race::{TensorOrder, TensorRace};
pub use tensor_unwritten::TensorUnwritten;
pub use too_weak::TooWeak;

/// The thread a fault is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadId {
    /// `%ctaid`
    pub ctaid: [u32; 3],
    /// `%tid`
    pub tid: [u32; 3],
    /// warp in its CTA
    pub warp: u32,
    /// lane in its warp, `%laneid`
    pub lane: u32,
    /// rank of the CTA in its cluster
    pub rank: u32,
}

/// A fault, with its statement and thread. `{:?}` prints the same report as `{}`.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fault {
    /// The kind of the fault.
    pub kind: FaultKind,
    /// Name of the kernel.
    pub kernel: String,
    /// The object that the address belongs to, if the kind has an address and the object is known.
    pub object: Option<Object>,
    /// The PTX statement at fault, if known.
    pub at: Option<At>,
    /// The first statement of the role of waiting threads: of the part of the kernel that a branch has chosen for them, such as
    /// that of a producer.
    pub role: Option<At>,
    /// The call stack of the statement, the innermost call first, at most eight calls. Empty on the compiled engine.
    pub callers: Vec<At>,
    /// The number of outer calls that `callers` leaves out.
    pub more_callers: usize,
    /// The thread at fault, if known.
    pub thread: Option<ThreadId>,
    /// The registers that the statement has read in this thread.
    pub registers: Vec<RegisterValue>,
    /// The use of a value that was loaded from memory that nothing has written: what the value is used as, and by which statement.
    pub used: Option<String>,
    /// A Rust expression of a host with a seed or a schedule that reproduces the fault, if the schedule matters.
    pub replay: Option<String>,
    /// The scheduler's decisions up to the fault, if [`Host::record`](crate::api::host::Host::record) was set.
    pub schedule: Vec<u32>,
    /// The schedule in words. If the launch ran step by step: each change from one warp, or asynchronous operation, to another. With a seed or a
    /// replay too: the last waits that ended early, and clusters that started out of order.
    pub steps: Vec<String>,
    /// The number of further statements, or pairs of statements, with this finding, which a repetition has made of the same source lines.
    pub alike: usize,
    /// The other findings of a checked host in this launch, in order; the last is the fault that ended it, if any.
    pub others: Vec<Fault>,
}

impl Fault {
    /// The kind in words, with the object to which the address belongs.
    pub fn message(&self) -> String {
        Message(self).to_string()
    }

    /// Advice on how to fix the fault, or "".
    pub fn help(&self) -> Cow<'_, str> {
        let of_kind = || match &self.kind {
            FaultKind::DataRace(race) => race.help(self.thread),
            FaultKind::MatrixLayout(layout) => layout.help.as_str().into(),
            FaultKind::MatrixOutOfBounds(bounds) => bounds.help().into(),
            kind => kind.help().into(),
        };
        self.object.as_ref().and_then(Object::help).map_or_else(of_kind, Cow::Borrowed)
    }

    /// The PTX ISA section with the rule, or "": the section of the instruction if that states the rule, else that of the kind.
    pub fn section(&self) -> &'static str {
        use FaultKind::*;
        let own = matches!(
            self.kind,
            MbarrierOverArrive { .. } | NoCompleteCompletes | MbarrierCount { .. } | WrongWindow { .. }
        );
        match &self.at {
            Some(at) if own && at.text.contains("mbarrier.arrive_drop") => "9.7.13.15.14",
            _ => self.kind.section(),
        }
    }
}

/// Changes of processes that a report has at most.
const MOST_STEPS: usize = 24;

/// The first line of a report.
struct Message<'f>(&'f Fault);

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.0.object, &self.0.kind) {
            (Some(o), FaultKind::OutOfBounds { addr, bytes, .. }) => o.out_of_bounds(f, *addr, *bytes),
            (Some(o), FaultKind::Misaligned { addr, align, .. }) => o.misaligned(f, *addr, *align),
            (Some(o), FaultKind::ReadOnly { .. }) if o.read_only(f)? => Ok(()),
            (Some(o), FaultKind::DataRace(race)) => race.message(f, Some(o)),
            (Some(o), FaultKind::Uninitialised { space, addr }) => {
                write!(f, "read of {}, which nothing has written", o.place(0, space, *addr))
            }
            (Some(o), FaultKind::MbarrierNotLive { offset }) => {
                let place = o.place(8, "shared", u64::from(*offset));
                write!(f, "{place} holds no mbarrier object: it was never initialised, or it was invalidated")
            }
            (Some(o), FaultKind::MbarrierMisused { offset, what }) => {
                write!(f, "{what} a live mbarrier object, {}", o.place(8, "shared", u64::from(*offset)))
            }
            (Some(o), FaultKind::MbarrierOverArrive { offset, count, pending }) => {
                let place = o.place(8, "shared", u64::from(*offset));
                write!(
                    f,
                    "arrive-on with count {count} at the mbarrier object {place}, whose pending count is {pending}"
                )
            }
            (Some(o), FaultKind::MbarrierTxCount { offset, tx }) => {
                write!(
                    f,
                    "tx-count {tx} of the mbarrier object {} is out of range",
                    o.place(8, "shared", u64::from(*offset))
                )
            }
            (_, kind) => fmt::Display::fmt(kind, f),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", Message(self), Where(&self.kernel, self.at.as_ref()))?;
        self.callers.iter().try_for_each(|call| call.called(f))?;
        match self.more_callers {
            0 => {}
            1 => f.write_str("\n      and 1 more call")?,
            n => write!(f, "\n      and {n} more calls")?,
        }
        if let Some(t) = self.thread {
            write!(f, "\n  = thread {} of CTA {}, warp {} lane {}", id(t.tid), id(t.ctaid), t.warp, t.lane)?;
            write!(f, ", CTA rank {} in its cluster", t.rank)?;
        }
        if let Some(role) = &self.role {
            write!(f, "\n  = in the role that begins at `{}` ({})", role.text, role.short())?;
        }
        if !self.registers.is_empty() {
            let list: Vec<_> = self.registers.iter().map(|r| format!("`{}` is {}", r.name, r.text)).collect();
            write!(f, "\n  = registers: {}", list.join(", "))?;
        }
        if let Some(used) = &self.used {
            write!(f, "\n  = {used}")?;
        }
        if let FaultKind::Deadlock { waiting } = &self.kind {
            for line in waiting {
                write!(f, "\n  = waiting: {line}")?;
            }
        }
        if let FaultKind::DataRace(race) = &self.kind {
            race.notes(f)?;
        }
        if let FaultKind::TensorRace(race) = &self.kind {
            race.notes(f, self.thread)?;
        }
        if let FaultKind::TensorUnwritten(read) = &self.kind {
            read.notes(f, self.thread)?;
        }
        match self.alike {
            0 => {}
            1 => f.write_str("\n  = the same once more in a repetition of these lines")?,
            n => write!(f, "\n  = the same {n} more times in repetitions of these lines")?,
        }
        for (i, step) in self.steps.iter().take(MOST_STEPS).enumerate() {
            write!(f, "\n  = {} {step}", if i == 0 { "schedule:" } else { "then" })?;
        }
        if self.steps.len() > MOST_STEPS {
            write!(f, "\n  = and {} more changes", self.steps.len() - MOST_STEPS)?;
        }
        let object = self.object.as_ref();
        if let Some(note) = object.map(Object::note).filter(|note| !note.is_empty()) {
            write!(f, "\n  = note: {note}")?;
        }
        if !self.section().is_empty() {
            write!(f, "\n  = note: PTX ISA {}", self.section())?;
        }
        let option = self.kind.option();
        if !option.is_empty() {
            write!(f, "\n  = note: {option}")?;
        }
        let help = self.help();
        if !help.is_empty() {
            write!(f, "\n  = help: {help}")?;
        }
        if let Some(replay) = &self.replay {
            write!(f, "\n  = help: to see it again: {replay}")?;
        }
        self.others.iter().try_for_each(|other| write!(f, "\n\nerror: {other}"))?;
        match self.others.len() {
            0 => Ok(()),
            n => write!(f, "\n\nerror: {} findings in this launch of `{}`", n + 1, self.kernel),
        }
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Fault {}
