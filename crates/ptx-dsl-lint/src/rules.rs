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
    rule(601, "9.7.16.5", "`tcgen05.alloc`, `dealloc`, `relinquish_alloc_permit`, `ld`, `st`, `wait` where not all lanes of a warp can be",
        &[BROKEN]),
    rule(602, "9.7.16.5", "`tcgen05.mma`, `cp`, `shift`, `commit` that every lane of a warp runs",
        &[BROKEN, suspicious("for `commit`, whose arrivals may be counted for, and where a CTA may have one thread")]),
    rule(603, "9.7.13.1", "`bar`, and whatever is `.aligned`, where not all lanes of a warp can be",
        &[BROKEN, suspicious("where the other lanes have left the kernel, a CTA may have one thread, or lanes compare numbers of their own with one that is not known")]),
    rule(604, "9.7.13", "a constant mask that names lanes that cannot be there and have not exited, or lacks lanes that are",
        &[BROKEN, suspicious("where the other lanes run on to the end of the kernel, and for an election among lanes that the CTA does not have")]),
    rule(605, "9.7.16.8", "a register or the columns of a `tcgen05.ld` used before `tcgen05.wait::ld`",
        &[broken("where another load writes the register, or the columns are deallocated"), protocol("where the register is read"), suspicious("where the former holds on some path")]),
    rule(606, "9.7.16.7", "Tensor Memory that is not deallocated",
        &[broken("without any `dealloc`, before an early exit of the whole CTA, or in a CTA of one warp"), suspicious("elsewhere")]),
    rule(607, "9.7.16.7", "`tcgen05.alloc` after `relinquish_alloc_permit`",
        &[broken("on every path"), suspicious("on some path")]),
    rule(608, "9.7.16.5", "`dealloc` of a pair with no rendezvous of its CTAs before it",
        &[SUSPICIOUS]),
    rule(609, "9.7.13.17", "the response of `clusterlaunchcontrol.try_cancel` read before a wait on its mbarrier",
        &[BROKEN, suspicious("where another path waits")]),
    rule(610, "9.7.13.18", "`get_first_ctaid` of a response that nobody asked about, or of a request that failed",
        &[broken("where the result decides or addresses something and the request failed or nothing asked before"), protocol("where the response says that nothing was cancelled, and nothing goes by the result"), suspicious("elsewhere")]),
    rule(611, "9.7.13.3", "a second `barrier.cluster.arrive` without a wait between",
        &[broken("on every path"), suspicious("on some path")]),
    rule(612, "9.7.13.3", "`barrier.cluster.wait` without an arrive",
        &[broken("on every path"), suspicious("on some path")]),
    rule(613, "9.7.13.15", "an mbarrier that nothing initialises, or used before its `mbarrier.init` with no meeting of threads before",
        &[BROKEN]),
    rule(614, "9.7.13.15.9", "an mbarrier that several threads initialise, or the elected lane of each warp",
        &[SUSPICIOUS]),
    rule(615, "9.7.13.1", "a barrier for the whole CTA that some warps never come to",
        &[SUSPICIOUS]),
    rule(616, "8.9", "an mbarrier or the address of Tensor Memory that other threads make ready, used with nothing that makes threads meet before",
        &[BROKEN]),
    rule(617, "9.7.13.15.9", "`mbarrier.init` of an object that is valid",
        &[BROKEN]),
    rule(618, "9.7.13.15.10", "a valid mbarrier stored over, or read as data",
        &[BROKEN]),
    rule(619, "9.7.13.4", "an mbarrier that other CTAs use, mapped or by a multicast, and a relaxed arrival at the cluster barrier without `fence.mbarrier_init` by the thread that initialised",
        &[PROTOCOL]),
    rule(620, "5.1.1", "a register that nothing wrote before it is read, on any path or on one",
        &[SUSPICIOUS]),
    rule(621, "9.7.12", "an instruction that no path leads to",
        &[SUSPICIOUS]),
    rule(622, "9.3", "a guard that never holds: of constants, of numbers that cannot be so large, of threads that are not there, of what a branch before excluded",
        &[SUSPICIOUS]),
    rule(630, "5.1, 6.4.1", "a register with an address of one state space in an access to another, or generic where it must not be",
        &[BROKEN]),
    rule(631, "9.7.9.20", "`cvta` in the wrong direction, twice, or from another space",
        &[BROKEN]),
    rule(632, "5.1", "a store through a parameter whose Rust type is `&[T]`, into constants or into the parameters of a kernel",
        &[BROKEN]),
    rule(633, "5.4", "an access past the end or before the start of a variable",
        &[BROKEN, suspicious("in a loop through a ring of mbarriers")]),
    rule(634, "6.4.1", "an address that is certainly misaligned",
        &[BROKEN]),
    rule(635, "5.1.7, 9.7.9.20, 9.7.13.15.13", "an address in another CTA, from `mapa`, where only the own one is reached: by the state space, by an arrival that asks for a state, or by `cvta.shared`",
        &[broken("for a constant rank in a cluster of more than one CTA, on every path"), suspicious("elsewhere, and for `cvta`")]),
    rule(640, "9.7.13.4", "a bulk copy, `wgmma` or `tcgen05` that reads what threads or `cp.async` wrote, with no proxy fence on any path between",
        &[broken("for ordinary stores"), protocol("for data of `cp.async` that `wgmma` or `tcgen05` reads")]),
    rule(641, "9.7.13.4", "a copy or response that is written over what was loaded, without a proxy fence, or with the release of one only",
        &[SUSPICIOUS]),
    rule(642, "9.7.13.15.2", "a wait for an mbarrier that fewer threads arrive on in the whole kernel, or in one iteration of a ring, than `init` says",
        &[BROKEN, suspicious("in a ring whose first wait is for the preceding phase")]),
    rule(643, "9.7.13.15.2", "bytes of `expect_tx` that differ from those of the copies, where one is run whenever the other is",
        &[BROKEN]),
    rule(644, "9.7.13.15.16", "a wait for parity 1 behind an arrival or copy, where one phase only can complete",
        &[BROKEN]),
    rule(645, "9.7.13.1", "the number of threads of a named barrier, and who comes to it",
        &[BROKEN]),
    rule(646, "9.7.9.25.4", "memory or a tensor's map touched while a bulk copy into shared memory may go on",
        &[BROKEN, suspicious("where it is another copy")]),
    rule(647, "9.7.9.25.4", "a bulk copy whose mbarrier nobody waits for",
        &[BROKEN]),
    rule(648, "9.7.9.25.3", "memory touched that a `cp.async` may still write, uncommitted or of a group that was not waited for",
        &[BROKEN]),
    rule(649, "9.7.9.25.6", "the source or the tensor's map of a bulk copy changed before its group is done, by its thread or by others that cannot know; buffers filled in turn, with a wait that leaves as many groups as there are buffers",
        &[BROKEN]),
    rule(650, "9.7.9.25, 9.7.15.7", "a thread that leaves with a `cp.async`, a bulk copy or a `wgmma` under way",
        &[SUSPICIOUS]),
    rule(651, "9.7.15.7.3", "registers of a `wgmma.mma_async` read or written before its wait",
        &[BROKEN, protocol("where a `mov` reads a result")]),
    rule(652, "9.7.15.7.1", "an MMA with no `wgmma.fence` on any path to it",
        &[BROKEN]),
    rule(653, "9.7.15.7.2", "MMAs in a kernel without `wgmma.commit_group`",
        &[BROKEN]),
    rule(654, "9.7.16.6.4", "an arrival while a `tcgen05.ld` is under way, if a thread that waits for it writes or releases the same columns",
        &[broken("where the columns are the same on every path"), suspicious("where they may be")]),
    rule(655, "5.1.7", "the memory of another CTA touched, also by a multicast, with nothing before that waits for the CTA",
        &[BROKEN]),
    rule(656, "5.1.7", "the memory of another CTA touched, and nothing behind that tells it so before the end; arrivals of a ring that come when their CTA no longer waits; a multicast to CTAs that do not wait",
        &[BROKEN, suspicious("for rings and multicasts")]),
    rule(657, "8.5", "an arrival, a flag or an atomic operation in another CTA with `.cta` scope",
        &[BROKEN, suspicious("for `.relaxed`")]),
    rule(658, "8.5", "a wait of `.cta` scope for arrivals or multicasts of other CTAs, if it is written, or if these announce stores",
        &[SUSPICIOUS]),
    rule(659, "9.7.19.5", "more registers asked for by `setmaxnreg` than the CTA has",
        &[BROKEN]),
    rule(660, "9.7.19.5", "`setmaxnreg` that part of a warpgroup runs",
        &[BROKEN]),
    rule(661, "8.8", "a flag, a lock or an mbarrier polled without acquire, then plain loads",
        &[SUSPICIOUS]),
    rule(662, "9.7.13.4", "a tensor's map changed and used without the release and acquire of the tensormap proxy between",
        &[BROKEN]),
    rule(663, "9.7.13.15.2", "more threads that arrive at once than `init` says",
        &[SUSPICIOUS]),
    rule(664, "9.7.9.25.4", "a copy or `st.async` into one CTA that completes on an mbarrier in another",
        &[broken("for constant ranks, on every path"), suspicious("elsewhere")]),
    rule(665, "9.7.9.9", "`ld.global.nc` of what the kernel writes",
        &[SUSPICIOUS]),
    rule(666, "9.7.13.15.16", "a wait for the same parity again, though a phase has completed since",
        &[broken("where the arrivals are counted exactly"), suspicious("elsewhere")]),
    rule(667, "9.7.13.15.16", "a wait by a state of another object, or of a phase that was waited for before the last arrival",
        &[broken("on every path"), suspicious("on some path")]),
    rule(668, "9.7.13.15.13, 9.7.13.15.14, 9.7.13.15.17", "arrivals above what is pending, or after all threads have dropped out, `.noComplete` that completes; the pending count of another state",
        &[BROKEN, suspicious("for the pending count of another state")]),
    rule(669, "9.7.9.25.4", "a multicast copy whose bytes some destination CTAs expect, and all wait for",
        &[broken("for a constant mask"), suspicious("elsewhere")]),
    rule(670, "9.7.13.4", "what many threads store, fenced for the asynchronous proxy behind their barrier by the one who copies",
        &[SUSPICIOUS]),
    rule(671, "8.8", "release on an object that others read without acquire, or acquire on one that others write without release",
        &[SUSPICIOUS]),
    rule(672, "8.5", "release and acquire of `.cta` scope in different CTAs, or with one of wider scope; a `.cta` fence before a polled flag",
        &[broken("in CTAs that a branch tells apart"), suspicious("elsewhere")]),
    rule(673, "8.10.3", "an atomic operation of `.cta` scope on one place of global memory that all CTAs come to",
        &[SUSPICIOUS]),
    rule(674, "9.7.13.15.10", "an mbarrier used after `mbarrier.inval`",
        &[BROKEN]),
    rule(678, "9.7.16.5", "`tcgen05.alloc`, `dealloc` or `relinquish_alloc_permit` with `.cta_group::2` that one CTA of a pair reaches and the other cannot",
        &[BROKEN, suspicious("for `relinquish_alloc_permit`")]),
    rule(679, "9.7.16.5", "accesses of different threads to Tensor Memory with a synchronization between and no `tcgen05.fence` before or after it",
        &[PROTOCOL]),
    rule(680, "9.7.9.25.6", "what a bulk copy writes is read, or others are told of it, behind a wait for its source alone",
        &[broken("where it is read"), suspicious("where others are told")]),
    rule(681, "9.7.16.8.5", "no `tcgen05.wait::st` between `tcgen05.st` and an operation on its columns, or the arrival that lets another thread start one",
        &[broken("where the operation begins in these columns"), suspicious("elsewhere")]),
    rule(682, "9.7.16.7.1", "`tcgen05.dealloc` of another size or address, with other `.exclusive`, twice, or by more warps than allocate",
        &[BROKEN, suspicious("for twice on some path")]),
    rule(683, "9.7.16.6.4", "`tcgen05.ld` behind an MMA in a kernel where nobody waits for an mbarrier",
        &[BROKEN]),
    rule(684, "9.7.13.17", "`try_cancel` on a way on which a response was no",
        &[broken("without any other condition"), suspicious("elsewhere")]),
    rule(685, "9.7.13.13", "memory used before `griddepcontrol.wait` and behind it, or read before it only",
        &[SUSPICIOUS]),
    rule(686, "9.7.13.14", "an elected lane of each warp that copies to one place, asks for a cluster or starts one MMA",
        &[SUSPICIOUS]),
    rule(687, "9.7.9.6", "`shfl.sync` from a lane that its mask does not name",
        &[BROKEN]),
    rule(688, "9.7.13.1", "threads that arrive at a barrier where none waits",
        &[SUSPICIOUS]),
    rule(689, "9.7.16.12.1", "an MMA, copy or shift that no `tcgen05.commit` follows; a commit that precedes all of them",
        &[BROKEN, suspicious("for a commit that precedes all of them")]),
    rule(690, "8.7", "shared memory that one warp writes and others read, or reads and others write, with nothing between that makes them meet",
        &[SUSPICIOUS]),
    rule(691, "9.7.9.25.4", "a bulk copy to an mbarrier, a bulk reduction or a request for a cluster that every lane of a warp runs with the same operands",
        &[SUSPICIOUS]),
    rule(693, "9.7.13.15.2", "bytes that complete on an mbarrier for which nothing in the kernel expects any",
        &[BROKEN]),
    rule(694, "9.7.16.5.1", "`.cta_group::2` of `tcgen05` in clusters of one CTA, or of an odd number",
        &[broken("for one CTA"), suspicious("for an odd number")]),
    rule(695, "9.7.9.23, 9.7.9.25.4.1", "a constant mask of CTAs or rank of `mapa` beyond the cluster",
        &[BROKEN]),
    rule(696, "9.7.13.15.16", "parities of a ring: readers that start with 1, waits for first phases that wait for each other, a parity that does not change when the ring starts again",
        &[BROKEN, suspicious("where the parity only does not alternate")]),
];
