//! Data races: two accesses that nothing orders.

use super::words::id;
use super::{At, EarlyPhase, Object, Strength, ThreadId, TooWeak};
use ptx_dsl_isa::meaning::order::Scope;
use std::borrow::Cow;
use std::fmt;

/// A data race (8.7.1): two accesses of different threads to the same bytes, at least one of which writes, that nothing orders, and
/// that are not both strong with scopes that include both threads.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Race {
    /// State space.
    pub space: &'static str,
    /// The address that the instruction gives.
    pub addr: u64,
    /// Size of the access.
    pub bytes: u32,
    /// The operation of the thread of the fault: "load", "store", "atomic operation".
    pub access: &'static str,
    /// The other access, which came earlier in this run.
    pub other: Side,
    /// A synchronisation that would order the accesses if it were a little stronger.
    pub near_miss: Option<NearMiss>,
    /// A wait that does not cover the other access, of a copy.
    pub early: Option<EarlyPhase>,
    /// The strength of the accesses, if threads make both.
    pub strength: Option<Strength>,
    /// The proxy fence (8.6) that alone is missing between the accesses.
    pub fence: Option<&'static str>,
    /// Whether an asynchronous operation makes one of the accesses, and is not ordered with the other by a wait.
    pub asynchronous: bool,
    /// Whether both accesses are stores of one statement that the lanes of a warp execute together.
    pub same_statement: bool,
    /// The wait that completes the asynchronous operation of the other access: an instruction, or the phase of its mbarrier object.
    pub completion: Option<&'static str>,
    /// The rank of the CTA whose shared memory it is, if the thread of the fault belongs to another one.
    pub owner: Option<u32>,
    /// A lane of the warp of the other access that has released its own accesses since, as this thread knows: an elected one, say.
    pub released_by: Option<u32>,
    /// The statement of the access of the thread of the fault.
    pub site: u32,
    /// Whether threads of two warps of a CTA race at these statements, too: `bar.warp.sync` does not order all that race there.
    pub across_warps: bool,
}

/// An access of a race.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Side {
    /// The operation: "load", "store", "atomic operation".
    pub access: &'static str,
    /// The statement.
    pub site: u32,
    /// The statement in words, if known.
    pub at: Option<At>,
    /// The thread; if several lanes did it, the first.
    pub thread: ThreadId,
}

/// A synchronisation that is too weak to order the accesses.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NearMiss {
    /// The weakness of the synchronisation.
    pub why: TooWeak,
    /// The statement that publishes.
    pub from: u32,
    /// The publishing statement in words, if known.
    pub from_at: Option<At>,
    /// The statement that observes the published value.
    pub to: u32,
    /// The observing statement in words, if known.
    pub to_at: Option<At>,
}

impl Race {
    /// Whether one of the accesses is the end of a CTA, whose shared memory the other one accesses.
    pub(super) fn is_end(&self) -> bool {
        self.access == "end of the CTA"
    }

    /// Notes what another race at the same statements tells: are its threads, one of which is `own`, of two warps of a CTA?
    pub(crate) fn learn(&mut self, other: &Race, own: ThreadId) {
        let sites = |race: &Race| [race.site.min(race.other.site), race.site.max(race.other.site)];
        let is_across = own.ctaid == other.other.thread.ctaid && own.warp != other.other.thread.warp;
        self.across_warps |= is_across && self.space == other.space && sites(self) == sites(other);
    }

    /// Advice on how to order the accesses.
    pub(super) fn help(&self, thread: Option<ThreadId>) -> Cow<'static, str> {
        if let Some(fence) = self.fence {
            return self.help_of_fence(fence).into();
        }
        if self.is_end() {
            return "keep the CTA alive until its peers are done: `barrier.cluster.arrive` and `.wait` at the end"
                .into();
        }
        if let Some(early) = &self.early {
            return early.help().into();
        }
        let miss = self.near_miss.as_ref().filter(|miss| !self.asynchronous || miss.why.is_of_other_thread());
        if let Some(miss) = miss {
            return miss.help().into();
        }
        if self.asynchronous {
            return self.help_of_operation(thread);
        }
        thread.map(|thread| self.help_of_threads(thread)).unwrap_or_default()
    }

    /// The fence of proxies that is missing.
    fn help_of_fence(&self, fence: &str) -> &'static str {
        match (fence, self.other.access) {
            ("fence.proxy.tensormap::generic", _) => {
                "put `fence.proxy.tensormap::generic.release` after the store, and `.acquire` of the map before the copy"
            }
            ("fence.proxy.async.global", "load") => {
                "put `fence.proxy.async.global` after the load, before the threads synchronise"
            }
            ("fence.proxy.async.global", _) => {
                "put `fence.proxy.async.global` after the store, before the threads synchronise"
            }
            (_, "load") => "put `fence.proxy.async.shared::cta` after the load, before the threads synchronise",
            _ => "put `fence.proxy.async.shared::cta` after the store, before the threads synchronise",
        }
    }

    /// Advice on how to order an asynchronous operation and other accesses.
    fn help_of_operation(&self, thread: Option<ThreadId>) -> Cow<'static, str> {
        let is_of_other_cta = thread.is_some_and(|own| own.ctaid != self.other.thread.ctaid);
        // threads of other CTAs do not meet at a barrier of the CTA
        let meeting = match (is_of_other_cta, self.space == "shared") {
            (false, _) => None,
            (true, true) => {
                Some("`barrier.cluster.arrive` and `.wait`, or a release and an acquire of scope `.cluster`")
            }
            (true, false) => Some("a release and an acquire of scope `.gpu`"),
        };
        let Some(completion) = self.completion else {
            return match meeting {
                None => "let all threads that use the memory arrive at a barrier or an mbarrier object, and wait for it before the operation \
                         starts"
                    .into(),
                Some(meeting) => {
                    format!("give each CTA memory of its own, or put {meeting} between the access and the start of the operation").into()
                }
            };
        };
        if thread == Some(self.other.thread) {
            return format!("wait for the earlier operation first, by {completion}").into();
        }
        match meeting {
            None => format!(
                "wait for the earlier operation first, by {completion}; where another thread waits, let a barrier tell this one"
            ),
            Some(meeting) => format!(
                "give each CTA memory of its own, or let the other CTA wait for its operation, by {completion}, and then put {meeting} between the two CTAs"
            ),
        }
        .into()
    }

    /// Advice on how to order the accesses of two threads.
    fn help_of_threads(&self, own: ThreadId) -> Cow<'static, str> {
        if self.same_statement {
            return "lanes of one warp store to the same bytes by one statement: check the index, or let one of them store".into();
        }
        if let Some(lane) = self.released_by {
            let access = self.other.access;
            return format!(
                "put a `bar.warp.sync` between the earlier {access} and the arrival or release of lane {lane}"
            )
            .into();
        }
        let (other, shared) = (self.other.thread, self.space == "shared");
        let same_cta = own.ctaid == other.ctaid;
        // a lock in global memory is one of all CTAs
        let scope = match (shared, same_cta) {
            (false, _) => Scope::Gpu,
            (true, true) => Scope::Cta,
            (true, false) => Scope::Cluster,
        };
        let (order, otherwise) = if same_cta && own.warp == other.warp && !self.across_warps {
            ("a `bar.warp.sync`", "put a `bar.warp.sync` between them: nothing else orders the lanes of a warp")
        } else if same_cta {
            ("a `bar.sync`", "put a `bar.sync` between them, or a release and an acquire of scope `.cta` or wider")
        } else if shared {
            (
                "`barrier.cluster.arrive` and `.wait`",
                "put `barrier.cluster.arrive` and `.wait` between them, or a release and an acquire of scope `.cluster`",
            )
        } else {
            (
                "a release and an acquire of scope `.gpu`",
                "give each CTA elements of its own, use atomic operations, order the accesses by a release and an acquire of scope `.gpu`, \
                 or use two launches",
            )
        };
        self.make_strong(scope, order).map_or(Cow::Borrowed(otherwise), Cow::Owned)
    }

    /// The lines of a report after the first.
    pub(super) fn notes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.other.note(f)?;
        if let Some(lane) = self.released_by {
            let warp = self.other.thread.warp;
            write!(
                f,
                "\n  = note: lane {lane} of warp {warp} has arrived or released since, which orders its own accesses alone"
            )?;
        }
        self.early.iter().try_for_each(|early| early.note(f))?;
        self.near_miss.iter().try_for_each(|miss| miss.note(f))
    }
}

/// A statement in words, for the middle of a sentence.
fn place(at: &Option<At>) -> String {
    match at {
        Some(at) => format!("`{}` at {}", at.text, at.short()),
        None => "a statement without a number".into(),
    }
}

/// The indefinite article of a word.
pub(super) fn article(word: &str) -> &'static str {
    // `mbarrier.init` is read "an m-barrier"
    if word.starts_with(['a', 'e', 'i', 'o']) || word.starts_with("`mb") { "an" } else { "a" }
}

impl Side {
    /// The lines of a report about the earlier access.
    pub(super) fn note(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Side { access, at, thread: t, .. } = self;
        write!(f, "\n  = the earlier {access}: ")?;
        match at {
            Some(at) => at.within(f)?,
            None => f.write_str("a statement without a number")?,
        }
        write!(f, "\n  = by thread {} of CTA {}, warp {} lane {}", id(t.tid), id(t.ctaid), t.warp, t.lane)
    }
}

impl NearMiss {
    /// Whether one atomic operation, which both threads execute, is the release and the acquire.
    fn is_relaxed_counter(&self) -> bool {
        self.from == self.to && self.why == TooWeak::Relaxed
    }

    /// The edit that makes the synchronisation strong enough.
    pub(super) fn help(&self) -> &'static str {
        if self.is_relaxed_counter() {
            return "write `.acq_rel` at it, or a `fence.acq_rel` before it and after it";
        }
        self.why.help()
    }

    /// The line of a report.
    pub(super) fn note(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, to) = (place(&self.from_at), place(&self.to_at));
        if self.is_relaxed_counter() {
            return write!(
                f,
                "\n  = note: {from} in the two threads does not order them: it is `.relaxed`, and no fence of release semantics \
                 precedes it, and none of acquire semantics follows it"
            );
        }
        write!(f, "\n  = note: {from} and {to} do not order them: {}", self.why)
    }
}

impl Race {
    /// The first line of a report; `object`: where the bytes are.
    pub(super) fn message(&self, f: &mut fmt::Formatter<'_>, object: Option<&Object>) -> fmt::Result {
        let Race { space, addr, bytes, access, other, .. } = self;
        let article = article(other.access);
        let mut place = match object {
            Some(object) => object.place(*bytes, space, *addr),
            None => format!("{space} address {addr:#x}"),
        };
        if let Some(rank) = self.owner {
            place += &format!(" of CTA rank {rank} of the cluster");
        }
        if self.is_end() {
            write!(f, "nothing keeps this CTA alive until {article} {} in its shared memory ", other.access)?;
            return write!(f, "by another CTA is done: {bytes} bytes at {place}");
        }
        if let Some(fence) = self.fence {
            write!(f, "data race: no `{fence}` between {article} {} and this {access} ", other.access)?;
            return write!(f, "of {bytes} bytes at {place}, which use different proxies");
        }
        write!(f, "data race: nothing orders this {access} of {bytes} bytes at {place} and ")?;
        write!(f, "{article} {}{}", other.access, if self.asynchronous { "" } else { " of another thread" })
    }
}

impl fmt::Display for Race {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message(f, None)
    }
}
