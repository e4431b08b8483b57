//! The messages of faults.

use super::FaultKind;
use std::borrow::Cow;
use std::fmt;

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use FaultKind::*;
        match self {
            OutOfBounds { space, addr, bytes, size } => {
                write!(
                    f,
                    "access of {bytes} bytes at {space} address {addr:#x} is out of bounds: the memory there has {size} bytes"
                )
            }
            OutsideVariable { bytes, variable, offset, size, space, .. } => {
                write!(
                    f,
                    "access of {bytes} bytes at byte {offset} of `{variable}`, a variable of {size} bytes in {space} memory"
                )
            }
            FreedStack { addr } => {
                write!(f, "access to the stack at local address {addr:#x}, which is no longer allocated")
            }
            Misaligned { addr, align, .. } => write!(f, "address {addr:#x} is not a multiple of {align}"),
            ReadOnly { space, addr } => write!(f, "store to read-only {space} memory at {addr:#x}"),
            WrongWindow { addr, wanted } => write!(f, "address {addr:#x} is not {wanted}"),
            ExitedCta { rank } => write!(f, "access to shared memory of CTA {rank} of the cluster, which has exited"),
            NoSuchRank { rank, size } => write!(f, "CTA rank {rank} in a cluster of {size}"),
            DataRace(race) => fmt::Display::fmt(race, f),
            TensorRace(race) => fmt::Display::fmt(race, f),
            TensorUnwritten(read) => fmt::Display::fmt(read, f),
            MatrixOutOfBounds(bounds) => fmt::Display::fmt(bounds, f),
            MatrixLayout(layout) => fmt::Display::fmt(layout, f),
            UndefinedRegister { register, from, read, what, stored } => {
                let before = if read.is_empty() { String::new() } else { format!(" before {read} reads it") };
                let own = from == register && !stored;
                let comes = if own { String::new() } else { format!("it comes from `{from}`, which ") };
                let it = if own { " it" } else { "" };
                let thread = if *stored { "the thread that stored it" } else { "this thread" };
                match &register[..] {
                    "" => f.write_str("a value in shared memory")?,
                    register => write!(f, "`{register}`")?,
                }
                write!(f, " is {what}, but {comes}{thread} has not written{it}{before}")
            }
            PendingRegister { register, from, load } => {
                let copy = if register == from { String::new() } else { format!(", a copy of `{from}`,") };
                write!(f, "`{register}`{copy} is read, but no `tcgen05.wait::ld` has waited for {load}, which loads it")
            }
            UnfencedRegister { register, from, by } => {
                let copy = if register == from { String::new() } else { format!(", a copy of `{from}`,") };
                write!(
                    f,
                    "`{register}`{copy} is read by `wgmma.mma_async`, but no `wgmma.fence` comes between it and {by}, which writes it"
                )
            }
            Uninitialised { space, addr } => write!(f, "read of {space} memory at {addr:#x} that nothing has written"),
            MbarrierNotLive { offset } => {
                write!(
                    f,
                    "shared memory at {offset:#x} holds no mbarrier object: it was never initialised, or it was invalidated"
                )
            }
            MbarrierMisused { offset, what } => {
                write!(f, "{what} a live mbarrier object at shared address {offset:#x}")
            }
            MbarrierCount { what } | MbarrierPhase { what } | HeldRegister { what, .. } => f.write_str(what),
            MbarrierLateWait { object, wanted, complete, parity, .. } => {
                write!(
                    f,
                    "a wait for phase {wanted} of {object}, counted from 0, comes too late: {complete} phases are complete, and parity \
                     {parity} names a later one"
                )
            }
            MbarrierOverArrive { count, pending, .. } => {
                write!(f, "arrive-on with count {count} at an mbarrier object whose pending count is {pending}")
            }
            MbarrierNothingExpected => {
                f.write_str("arrive-on at an mbarrier object whose expected count `arrive_drop` has brought to 0")
            }
            NoCompleteCompletes => f.write_str("`.noComplete` arrive-on completes the phase"),
            MbarrierTxCount { tx, .. } => write!(f, "tx-count {tx} is out of range"),
            TryCancelAfterFailure => f.write_str("`try_cancel` after the response of a failed request has been read"),
            MulticastExitedCta { rank } => {
                write!(f, "asynchronous response for CTA {rank} of the cluster, which has exited")
            }
            FirstCtaidOfFailure => f.write_str("`get_first_ctaid` of a response that holds no cancelled cluster"),
            Barrier { id, what } => write!(f, "barrier {id}: {what}"),
            ClusterBarrier { what } => write!(f, "cluster barrier: {what}"),
            Members { what } => f.write_str(what),
            ShuffleSource { lane, from, mask } => {
                write!(f, "lane {lane} reads from lane {from}, which the member mask {mask:#010x} does not name")
            }
            BranchIndex { count } => write!(f, "index of `brx.idx` outside of its table of {count} labels"),
            TensorMemory { what, .. } | IssueGranularity { what, .. } => f.write_str(what),
            Descriptor { field, what } => write!(f, "{field}: {what}"),
            StackOverflow { bytes } => {
                write!(f, "recursive calls need more than the {bytes} bytes of stack that a thread has")
            }
            CallTarget => f.write_str("indirect call of an address that is not a function it may call"),
            Trap => f.write_str("`trap` executed"),
            NotCooperative => f.write_str("`trap` executed: `grid.sync()` needs a cooperative launch"),
            Assertion { message, file, line, function } => {
                write!(f, "assertion `{message}` failed in `{function}`, {file}:{line}")
            }
            Undefined { what, .. } => f.write_str(what),
            Deadlock { .. } => f.write_str("deadlock: no thread can run and nothing is in flight"),
            StepLimit { turns, region, loops } => {
                write!(f, "not finished after {turns} turns, last ")?;
                match &loops[..] {
                    [] => f.write_str(&at(region)),
                    [head, outer @ ..] => {
                        if head != region {
                            write!(f, "{} ", at(region))?;
                        }
                        write!(f, "in the loop {}", at(head))?;
                        outer.iter().try_for_each(|head| write!(f, ", inside of the loop {}", at(head)))
                    }
                }
            }
            Cancelled { region } => write!(f, "cancelled, last {}", at(region)),
            NotYet { what } => write!(f, "the host does not run {what} yet"),
            Internal(what) => write!(f, "bug in ptx-dsl: {what}"),
        }
    }
}

/// A thread, CTA or cluster by its id.
pub(crate) fn id([x, y, z]: [u32; 3]) -> String {
    format!("({x}, {y}, {z})")
}

/// A place in a sentence: a region's label, or what it is called without one.
pub(crate) fn at(region: &str) -> Cow<'_, str> {
    match region {
        _ if region.starts_with("after `") => Cow::Borrowed(region),
        _ if region.starts_with("start of `") => Cow::Owned(format!("at the {region}")),
        _ if region.contains('`') => Cow::Owned(format!("at {region}")),
        _ => Cow::Owned(format!("at `{region}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_regions() {
        let called = ["loop", "after `bra`", "start of `k`", "the end of `k`", "`bar.sync 0;`"].map(at);
        let places = ["at `loop`", "after `bra`", "at the start of `k`", "at the end of `k`", "at `bar.sync 0;`"];
        assert_eq!(called, places);
        let (region, loops) = ("start of `f`".to_owned(), ["start of `f`", "again"].map(str::to_owned).into());
        let words = FaultKind::StepLimit { turns: 5, region, loops }.to_string();
        assert_eq!(
            words,
            "not finished after 5 turns, last in the loop at the start of `f`, inside of the loop at `again`"
        );
    }
}
