//! The list of the 06xx codes: what each one is about, and the class of its findings.
//!
//! [`docs/rules.md`](../../docs/rules.md) is generated from this list, and the tests compare each finding with it.

use ptx_dsl_isa::diag::Class;

/// One code of 06xx.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// `PTX0601` is 601.
    pub code: u16,
    /// The sections of the manual.
    pub section: &'static str,
    /// What is found.
    pub about: &'static str,
    /// The classes of its findings, each with when; an empty text is "always", or "else".
    pub classes: &'static [(Class, &'static str)],
}

const fn rule(
    code: u16,
    section: &'static str,
    about: &'static str,
    classes: &'static [(Class, &'static str)],
) -> Rule {
    Rule { code, section, about, classes }
}

/// That of a code.
pub fn rule_of(code: u16) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.code == code)
}

impl Rule {
    /// The levels of its findings in words: "error; warning (protocol) where the register is read".
    pub fn levels(&self) -> String {
        let one = |(class, when): &(Class, &str)| {
            let level = match class {
                Class::Illegal | Class::Broken => "error",
                Class::Protocol => "warning (protocol)",
                Class::Suspicious => "warning",
            };
            if when.is_empty() { level.to_owned() } else { format!("{level} {when}") }
        };
        self.classes.iter().map(one).collect::<Vec<_>>().join("; ")
    }
}

const BROKEN: (Class, &str) = broken("");
const PROTOCOL: (Class, &str) = protocol("");
const SUSPICIOUS: (Class, &str) = suspicious("");

const fn broken(when: &'static str) -> (Class, &'static str) {
    (Class::Broken, when)
}

const fn protocol(when: &'static str) -> (Class, &'static str) {
    (Class::Protocol, when)
}

const fn suspicious(when: &'static str) -> (Class, &'static str) {
    (Class::Suspicious, when)
}

/// In ascending order.
#[rustfmt::skip]
pub static RULES: &[Rule] = &[
    rule(601, "9.7.16.5", "`tcgen05.alloc`, `dealloc`, `relinquish_alloc_permit`, `ld`, `st` or `wait` where some lanes of the warp cannot be",
        &[BROKEN]),
    rule(602, "9.7.16.5", "`tcgen05.mma`, `cp`, `shift` or `commit` that every lane of a warp executes, or certainly several",
        &[BROKEN, suspicious("for `commit`, because the mbarrier may expect all arrivals, and where a CTA may have one thread")]),
    rule(603, "9.7.13.1", "`bar`, or an `.aligned` instruction, where some lanes of the warp cannot be",
        &[BROKEN, suspicious("where the other lanes have exited, a CTA may have one thread, or lanes compare their own number with an unknown one")]),
    rule(604, "9.7.13", "a constant mask with lanes that cannot be there and have not exited, or without lanes that are there",
        &[BROKEN, suspicious("where the other lanes may exit without a wait for these, if they do nothing else or the instruction is `shfl.sync`; where they may run it at another statement or call; for an election among lanes that the CTA does not have")]),
    rule(605, "9.7.16.8", "a register or the columns of a `tcgen05.ld` used before `tcgen05.wait::ld`",
        &[broken("where another load writes the register, or the columns are deallocated"), protocol("where the register is read"), suspicious("where one of these errors occurs on some path only")]),
    rule(606, "9.7.16.7", "Tensor Memory that is not deallocated",
        &[broken("without any `dealloc`, before an early exit of the whole CTA, or in a CTA of one warp"), suspicious("elsewhere")]),
    rule(607, "9.7.16.7", "`tcgen05.alloc` after `relinquish_alloc_permit`",
        &[broken("on every path"), suspicious("on some path")]),
    rule(608, "9.7.16.5", "`dealloc` of a CTA pair with no rendezvous of its CTAs before it, or none since the last use of the columns",
        &[SUSPICIOUS]),
    rule(609, "9.7.13.17", "the response of `clusterlaunchcontrol.try_cancel` read before a wait on its mbarrier",
        &[BROKEN, suspicious("where another path waits")]),
    rule(610, "9.7.13.18", "`get_first_ctaid` of a response that was not queried, or of a request that failed",
        &[broken("where the result decides a branch or an address, and the request failed or was not queried"), protocol("where the response says that nothing was cancelled, and nothing depends on the result"), suspicious("elsewhere")]),
    rule(611, "9.7.13.3", "a second `barrier.cluster.arrive` with no wait in between",
        &[broken("on every path"), suspicious("on some path")]),
    rule(612, "9.7.13.3", "`barrier.cluster.wait` without an arrive",
        &[broken("on every path"), suspicious("on some path")]),
    rule(613, "9.7.13.15", "an mbarrier never initialised, or used before its `mbarrier.init` with no synchronisation before",
        &[BROKEN, suspicious("for a stage of a ring")]),
    rule(614, "9.7.13.15.9", "an mbarrier initialised by several threads, or by the elected lane of each warp",
        &[SUSPICIOUS]),
    rule(615, "9.7.13.1", "a barrier for the whole CTA that some warps never reach",
        &[SUSPICIOUS]),
    rule(616, "8.9", "an mbarrier, or an address of Tensor Memory, that other threads make ready, used with no synchronisation before",
        &[BROKEN]),
    rule(617, "9.7.13.15.9", "`mbarrier.init` of a valid object",
        &[BROKEN, suspicious("in a loop")]),
    rule(618, "9.7.13.15.10", "a valid mbarrier overwritten, or read as data",
        &[BROKEN]),
    rule(619, "9.7.13.4", "an mbarrier for other CTAs, mapped or by a multicast, and a relaxed arrival at the cluster barrier without `fence.mbarrier_init` by the initialising thread",
        &[PROTOCOL]),
    rule(620, "5.1.1", "a register read before it is written, on every path or on one",
        &[SUSPICIOUS]),
    rule(621, "9.7.12", "an instruction that no path reaches",
        &[SUSPICIOUS]),
    rule(622, "9.3", "a guard that never holds, because of constants, value ranges, the number of threads or an earlier branch",
        &[SUSPICIOUS]),
    rule(630, "5.1, 6.4.1", "an access with an address of another state space, or with generic and non-generic addresses confused",
        &[BROKEN]),
    rule(631, "9.7.9.20", "`cvta` in the wrong direction, twice, or from another space",
        &[BROKEN]),
    rule(632, "5.1", "a store through a parameter whose Rust type is `&[T]`, to constants, or to the parameters of a kernel",
        &[BROKEN]),
    rule(633, "5.4", "an access past the end or before the start of a variable, also of one thread whose number the address depends on",
        &[BROKEN, suspicious("in a loop through a ring of mbarriers, in conditional code through a register to `.global` or `.const`, and for one thread through an address in shared memory that `cvta` or `mapa` made")]),
    rule(634, "6.4.1", "an address that is certainly misaligned",
        &[BROKEN]),
    rule(635, "5.1.7, 9.7.9.20, 9.7.13.15.13", "an address in another CTA, from `mapa`, where only the executing one is reached: by the state space, in an arrival that returns a state, or in `cvta.shared`",
        &[broken("for a constant rank in a cluster of more than one CTA, on every path"), suspicious("elsewhere, and for `cvta`")]),
    rule(640, "9.7.13.4", "a bulk copy, `wgmma` or `tcgen05` that reads what threads or `cp.async` wrote, with no proxy fence in between on any path",
        &[broken("for ordinary stores"), protocol("for data of `cp.async` that `wgmma` or `tcgen05` reads")]),
    rule(641, "9.7.13.4", "a copy or response that overwrites what was loaded, with no proxy fence in between, or with only the release of one",
        &[SUSPICIOUS]),
    rule(642, "9.7.13.15.2", "a wait for an mbarrier on which fewer threads arrive, in the whole kernel or in one iteration of a ring, than `init` says; a loop through the stages of a ring that frees none of them",
        &[BROKEN, suspicious("in a ring whose first wait is for the preceding phase, and for stages that are not freed")]),
    rule(643, "9.7.13.15.2", "`expect_tx` of more or fewer bytes than its copies write, where one executes whenever the other does",
        &[BROKEN, suspicious("for more bytes than the copies of a stage of a ring have room for, or fewer than `wgmma` reads of it")]),
    rule(644, "9.7.13.15.16", "a wait for parity 1 after an arrival or copy, where only one phase can complete",
        &[BROKEN]),
    rule(645, "9.7.13.1", "a named barrier whose thread count does not match the threads that reach it, or at which several groups of that size meet",
        &[BROKEN, suspicious("in loops, and for several groups")]),
    rule(646, "9.7.9.25.4", "memory or a tensor map accessed while a bulk copy into shared memory may be in flight; data stored over a stage of a ring that is free",
        &[BROKEN, suspicious("where another copy accesses it, and for the stage of a ring")]),
    rule(647, "9.7.9.25.4", "a bulk copy with an mbarrier that no thread waits for",
        &[BROKEN, suspicious("for a stage of a ring")]),
    rule(648, "9.7.9.25.3", "an access to memory that a `cp.async` may still write, uncommitted or of a group that was not waited for",
        &[BROKEN]),
    rule(649, "9.7.9.25.6", "the source or the tensor map of a bulk copy changed before its group has completed, by its thread or by others that cannot know; buffers filled in turn, with a wait that leaves as many groups pending as there are buffers, or no commit",
        &[BROKEN, suspicious("in an array that also holds other things")]),
    rule(650, "9.7.9.25, 9.7.15.7", "a thread that exits with a `cp.async`, a bulk copy or a `wgmma` in flight",
        &[SUSPICIOUS]),
    rule(651, "9.7.15.7.3", "registers of a `wgmma.mma_async` read or written before its wait",
        &[BROKEN, protocol("where a `mov` reads a result")]),
    rule(652, "9.7.15.7.1", "an MMA with no `wgmma.fence` on any path to it",
        &[BROKEN]),
    rule(653, "9.7.15.7.2", "MMAs in a kernel without `wgmma.commit_group`, or not committed where `wgmma.wait_group 0` waits",
        &[BROKEN, suspicious("for a wait before the commit")]),
    rule(654, "9.7.16.6.4", "an arrival while a `tcgen05.ld` is in flight, if a thread that waits for it writes or releases the same columns",
        &[broken("where the columns are the same on every path"), suspicious("where they may be")]),
    rule(655, "5.1.7", "an access to the memory of another CTA, also by a multicast, with no wait for that CTA before, or only one that returns at once",
        &[BROKEN]),
    rule(656, "5.1.7", "an access to the memory of another CTA that may have exited; arrivals of a ring that come when their CTA no longer waits; a multicast to CTAs that do not wait",
        &[BROKEN, suspicious("for rings and multicasts")]),
    rule(657, "8.5", "an arrival, a flag or an atomic operation of `.cta` scope in the memory of another CTA",
        &[BROKEN, suspicious("for `.relaxed`")]),
    rule(658, "8.5", "a wait of `.cta` scope for arrivals, copies or `st.async` of other CTAs, if the scope is written, or if they announce stores",
        &[SUSPICIOUS]),
    rule(659, "9.7.19.5", "`setmaxnreg` that requests more registers than the CTA has",
        &[BROKEN]),
    rule(660, "9.7.19.5", "`setmaxnreg` that a part of a warpgroup executes",
        &[BROKEN]),
    rule(661, "8.8", "a flag, a lock or an mbarrier polled without acquire, followed by plain loads, also by other threads behind a barrier of the CTA",
        &[SUSPICIOUS]),
    rule(662, "9.7.13.4", "a tensor map changed and used without release and acquire of the tensormap proxy in between",
        &[BROKEN]),
    rule(663, "9.7.13.15.2", "more threads that arrive at once than `init` says",
        &[SUSPICIOUS]),
    rule(664, "9.7.9.25.4", "a copy or `st.async` into one CTA that completes on an mbarrier in another",
        &[broken("for constant ranks, on every path"), suspicious("elsewhere")]),
    rule(665, "9.7.9.9", "`ld.global.nc` of memory that the kernel writes",
        &[SUSPICIOUS]),
    rule(666, "9.7.13.15.16", "a second wait for the same parity, although a phase has completed since",
        &[broken("where the arrivals are counted exactly"), suspicious("elsewhere")]),
    rule(667, "9.7.13.15.16", "a wait for a state of another object, or of a phase that was waited for before the last arrival",
        &[broken("on every path"), suspicious("on some path")]),
    rule(668, "9.7.13.15.13, 9.7.13.15.14, 9.7.13.15.17", "more arrivals than are pending, or an arrival after all threads have dropped out; a `.noComplete` that completes the phase; the pending count of another state",
        &[BROKEN, suspicious("for the pending count of another state")]),
    rule(669, "9.7.9.25.4", "a multicast copy whose bytes only some destination CTAs expect, and all wait for",
        &[broken("for a constant mask"), suspicious("elsewhere")]),
    rule(670, "9.7.13.4", "data that many threads store and one copies, with a proxy fence only after their barrier and no barrier after that",
        &[SUSPICIOUS]),
    rule(671, "8.8", "a release on an object that others read without acquire, or an acquire on one that others write without release",
        &[SUSPICIOUS]),
    rule(672, "8.5", "release and acquire of `.cta` scope in different CTAs, or one of them of wider scope; a `.cta` fence before a polled flag; a release of `.gpu` scope in answer to a signal of `.sys` scope",
        &[broken("in CTAs that a branch distinguishes"), suspicious("elsewhere")]),
    rule(673, "8.10.3", "an atomic operation of `.cta` scope on one place of global memory that all CTAs reach",
        &[SUSPICIOUS]),
    rule(674, "9.7.13.15.10", "an mbarrier used after `mbarrier.inval`",
        &[BROKEN]),
    rule(675, "9.7.13.1", "a computed barrier number above 15 in some thread",
        &[BROKEN]),
    rule(676, "9.7.9.5", "the address of a scalar parameter, by `mov`, used as its value",
        &[SUSPICIOUS]),
    rule(677, "9.7.13.15.16", "`mbarrier.try_wait` or `test_wait` whose result nothing reads",
        &[SUSPICIOUS]),
    rule(678, "9.7.16.5", "`tcgen05.alloc`, `dealloc` or `relinquish_alloc_permit` with `.cta_group::2` that only one CTA of a pair can reach",
        &[BROKEN, suspicious("for `relinquish_alloc_permit`")]),
    rule(679, "9.7.16.5", "accesses of different threads to Tensor Memory with a synchronisation in between, but no `tcgen05.fence` before or after it",
        &[PROTOCOL]),
    rule(680, "9.7.9.25.6", "data of a bulk copy read, or announced to others, after a wait for its source only",
        &[broken("where it is read"), suspicious("where it is announced")]),
    rule(681, "9.7.16.8.5", "no `tcgen05.wait::st` between `tcgen05.st` and an operation on its columns, or an arrival that lets another thread start one",
        &[broken("where the operation begins in these columns"), suspicious("elsewhere")]),
    rule(682, "9.7.16.7.1", "`tcgen05.dealloc` of another size or address, with another `.exclusive`, twice, or by more warps than allocate",
        &[BROKEN, suspicious("for a second one on some path")]),
    rule(683, "9.7.16.6.4", "`tcgen05.ld` after an MMA in a kernel where no thread waits for an mbarrier",
        &[BROKEN]),
    rule(684, "9.7.13.17", "`try_cancel` on a path on which an earlier request failed",
        &[broken("if the path has no other condition"), suspicious("elsewhere")]),
    rule(685, "9.7.13.13", "memory used before and after `griddepcontrol.wait`, or read only before it; `launch_dependents` in a kernel that reads global memory and never waits",
        &[SUSPICIOUS]),
    rule(686, "9.7.13.14", "a copy to one place, a request for a cluster or an MMA by the elected lane of each warp",
        &[SUSPICIOUS]),
    rule(687, "9.7.9.6", "`shfl.sync` from a lane that its mask does not name",
        &[broken("where the value certainly is stored to global memory, or decides a branch or an address"), suspicious("elsewhere")]),
    rule(688, "9.7.13.1", "an arrival at a barrier at which no thread waits",
        &[SUSPICIOUS]),
    rule(689, "9.7.16.12.1", "an MMA, copy or shift with no `tcgen05.commit` after it; a commit before all of them",
        &[BROKEN, suspicious("for a commit before all of them")]),
    rule(690, "8.7", "shared memory that one warp writes and others read, or reads and others write, with no synchronisation in between",
        &[SUSPICIOUS]),
    rule(691, "9.7.9.25.4", "a bulk copy to an mbarrier, a bulk reduction or a request for a cluster that every lane of a warp executes with the same operands",
        &[SUSPICIOUS]),
    rule(692, "9.7.15.7.3", "an arrival that frees the stage of a ring while a `wgmma` that reads it may be in flight",
        &[SUSPICIOUS]),
    rule(693, "9.7.13.15.2", "bytes that complete on an mbarrier for which the kernel expects none",
        &[BROKEN]),
    rule(694, "9.7.16.5.1", "`tcgen05` with `.cta_group::2` in clusters of one CTA, or of an odd number of CTAs",
        &[broken("for one CTA"), suspicious("for an odd number")]),
    rule(695, "9.7.9.23, 9.7.9.25.4.1", "a constant mask of CTAs, or a rank of `mapa`, beyond the cluster",
        &[BROKEN]),
    rule(696, "9.7.13.15.16", "parities of a ring: readers that start with 1, waits for first phases that wait for each other, a parity that does not change when the ring wraps around",
        &[BROKEN, suspicious("where only the alternation is wrong")]),
    rule(697, "9.7.16.5", "`tcgen05.mma`, `cp` or `shift` with `.cta_group::2` that both CTAs of a pair execute with the same operands",
        &[SUSPICIOUS]),
    rule(698, "9.7.15.5.1", "products of `wgmma` that add up along the rows of their operands and go past the width of the swizzle, into the next row",
        &[SUSPICIOUS]),
];
