//! 0601 to 0635: the threads that execute an instruction, the order of instructions, and addresses.

use ptx_dsl_isa::code::Code;
use ptx_dsl_isa::code::classes::{BROKEN, PROTOCOL, SUSPICIOUS, broken, protocol, suspicious};

codes! {
    TMEM_IN_PART_OF_WARP 601 "Tensor Memory instruction in a part of a warp"
        "All lanes of a warp issue `tcgen05.alloc`, `dealloc`, `relinquish_alloc_permit`, `ld`, `st` and `wait` \
         together (PTX ISA 9.7.16.5, table 46). Guard them with a condition that is uniform in the warp."
        ["9.7.16.5" "`tcgen05.alloc`, `dealloc`, `relinquish_alloc_permit`, `ld`, `st` or `wait` where some lanes of the warp cannot be", BROKEN]
    SINGLE_THREAD_BY_WARP 602 "single-thread instruction executed by a whole warp"
        "A single thread issues `tcgen05.mma`, `cp`, `shift` and `commit` (PTX ISA 9.7.16.5, table 46). If 32 lanes \
         execute one of them, it happens 32 times."
        ["9.7.16.5" "`tcgen05.mma`, `cp`, `shift` or `commit` that every lane of a warp executes, or certainly several", BROKEN, suspicious("for `commit`, because the mbarrier may expect all arrivals, and where a CTA may have one thread")]
    ALIGNED_DIVERGENT 603 "aligned instruction in divergent code"
        "All lanes of a warp execute `bar` and every `.aligned` instruction together (PTX ISA 9.7.13.1). If the \
         condition depends on the lane, move the barrier out of the branch, or use the form without `.aligned`."
        ["9.7.13.1" "`bar`, or an `.aligned` instruction, where some lanes of the warp cannot be", BROKEN, suspicious("where the other lanes have exited, a CTA may have one thread, or lanes compare their own number with an unknown one")]
    MEMBER_MASK 604 "member mask that does not match the lanes"
        "The mask of a `.sync` instruction names exactly the lanes that execute it (PTX ISA 9.7.13): each of them must \
         be in the mask, and each lane in the mask must execute it."
        ["9.7.13" "a constant mask with lanes that cannot be there and have not exited, or without lanes that are there", BROKEN, suspicious("where the other lanes may exit without a wait for these, if they do nothing else or the instruction is `shfl.sync`; where they may run it at another statement or call; for an election among lanes that the CTA does not have")]
    TMEM_LOAD_INCOMPLETE 605 "load from Tensor Memory that may not have completed"
        "`tcgen05.ld` is asynchronous: its registers are undefined until `tcgen05.wait::ld` (PTX ISA 9.7.16.8)."
        ["9.7.16.8" "a register or the columns of a `tcgen05.ld` used before `tcgen05.wait::ld`", broken("where another load writes the register, or the columns are deallocated"), protocol("where the register is read"), suspicious("where one of these errors occurs on some path only")]
    TMEM_NOT_DEALLOCATED 606 "Tensor Memory that stays allocated"
        "A kernel deallocates all of its Tensor Memory before it ends, on every path (PTX ISA 9.7.16.7)."
        ["9.7.16.7" "Tensor Memory that is not deallocated", broken("without any `dealloc`, before an early exit of the whole CTA, or in a CTA of one warp"), suspicious("elsewhere")]
    ALLOCATION_AFTER_RELINQUISH 607 "allocation after the permit was relinquished"
        "After `tcgen05.relinquish_alloc_permit` the CTA may not allocate again (PTX ISA 9.7.16.7)."
        ["9.7.16.7" "`tcgen05.alloc` after `relinquish_alloc_permit`", broken("on every path"), suspicious("on some path")]
    DEALLOCATION_BEFORE_RENDEZVOUS 608 "`dealloc` before the CTAs of a pair have met"
        "With `.cta_group::2` the peer CTA may still use the memory. Synchronise both CTAs before the memory is \
         deallocated (PTX ISA 9.7.16.5, table 48)."
        ["9.7.16.5" "`dealloc` of a CTA pair with no rendezvous of its CTAs before it, or none since the last use of the columns", SUSPICIOUS]
    RESPONSE_BEFORE_WAIT 609 "response that may not have arrived"
        "`clusterlaunchcontrol.try_cancel` is asynchronous: wait on its mbarrier before you read the response (PTX ISA \
         9.7.13.17)."
        ["9.7.13.17" "the response of `clusterlaunchcontrol.try_cancel` read before a wait on its mbarrier", BROKEN, suspicious("where another path waits")]
    RESPONSE_NOT_QUERIED 610 "response that was not queried"
        "The result of `get_first_ctaid` is defined only if `is_canceled` is true (PTX ISA 9.7.13.18). Otherwise it \
         must not decide a branch or address memory."
        ["9.7.13.18" "`get_first_ctaid` of a response that was not queried, or of a request that failed", broken("where the result decides a branch or an address, and the request failed or was not queried"), protocol("where the response says that nothing was cancelled, and nothing depends on the result"), suspicious("elsewhere")]
    SECOND_CLUSTER_ARRIVAL 611 "second arrival at the cluster barrier"
        "A thread that has arrived must wait before it arrives again (PTX ISA 9.7.13.3)."
        ["9.7.13.3" "a second `barrier.cluster.arrive` with no wait in between", broken("on every path"), suspicious("on some path")]
    CLUSTER_WAIT_WITHOUT_ARRIVAL 612 "wait at the cluster barrier without an arrival"
        "A thread can wait only for a phase at which it has arrived (PTX ISA 9.7.13.3)."
        ["9.7.13.3" "`barrier.cluster.wait` without an arrive", broken("on every path"), suspicious("on some path")]
    MBARRIER_BEFORE_INIT 613 "mbarrier used before its initialisation"
        "An mbarrier object must be initialised before any other operation on it (PTX ISA 9.7.13.15)."
        ["9.7.13.15" "an mbarrier never initialised, or used before its `mbarrier.init` with no synchronisation before", BROKEN, suspicious("for a stage of a ring")]
    MBARRIER_SEVERAL_INIT 614 "mbarrier initialised by several threads"
        "Exactly one thread of the CTA initialises an mbarrier. One lane of each warp is too many (PTX ISA \
         9.7.13.15.9)."
        ["9.7.13.15.9" "an mbarrier initialised by several threads, or by the elected lane of each warp", SUSPICIOUS]
    BARRIER_NOT_REACHED 615 "barrier that some warps never reach"
        "A barrier without a thread count waits for the whole CTA (PTX ISA 9.7.13.1). Give the number of threads, or \
         let all threads reach the barrier."
        ["9.7.13.1" "a barrier for the whole CTA that some warps never reach", SUSPICIOUS]
    NOT_MADE_READY 616 "used before another thread has made it ready"
        "One thread initialises an mbarrier, or one warp allocates Tensor Memory, and other threads use it. They see \
         the result only after a barrier."
        ["8.9" "an mbarrier, or an address of Tensor Memory, that other threads make ready, used with no synchronisation before", BROKEN]
    MBARRIER_INIT_TWICE 617 "mbarrier initialised twice"
        "`mbarrier.init` of a valid object is undefined. Execute `mbarrier.inval` first."
        ["9.7.13.15.9" "`mbarrier.init` of a valid object", BROKEN, suspicious("in a loop")]
    MBARRIER_AS_DATA 618 "mbarrier used as data"
        "The memory of an mbarrier can hold other data only after `mbarrier.inval`."
        ["9.7.13.15.10" "a valid mbarrier overwritten, or read as data", BROKEN]
    MBARRIER_INIT_NOT_FENCED 619 "mbarrier that the cluster may not see"
        "A relaxed arrival at the cluster barrier does not publish the initialisation of an mbarrier. The thread that \
         initialises it must execute `fence.mbarrier_init.release.cluster`."
        ["9.7.13.4" "an mbarrier for other CTAs, mapped or by a multicast, and a relaxed arrival at the cluster barrier without `fence.mbarrier_init` by the initialising thread", PROTOCOL]
    UNINITIALISED_REGISTER 620 "uninitialised register"
        "The value of a register is undefined until it is written (PTX ISA 5.1.1)."
        ["5.1.1" "a register read before it is written, on every path or on one", SUSPICIOUS]
    UNREACHABLE 621 "unreachable instruction"
        "The code before it always branches, returns or exits, and no branch leads here (PTX ISA 9.7.12)."
        ["9.7.12" "an instruction that no path reaches", SUSPICIOUS]
    GUARD_NEVER_HOLDS 622 "guard that never holds"
        "The guard is always false (PTX ISA 9.3), because of constants, value ranges, the number of threads or an \
         earlier branch."
        ["9.3" "a guard that never holds, because of constants, value ranges, the number of threads or an earlier branch", SUSPICIOUS]
    REGISTERS_UNKNOWN_AT_ENTRY 623 "`setmaxnreg` without a number of registers at entry"
        "`setmaxnreg` changes the number of registers that a thread starts with. If no directive gives this number, ptxas \
         ignores the instruction (PTX ISA 9.7.19.5)."
        ["9.7.19.5" "`setmaxnreg` in a kernel with neither `.maxnreg`, nor `.minnctapersm` and a number of threads", SUSPICIOUS]
    ADDRESS_OF_OTHER_SPACE 630 "address of another state space"
        "A register holds the address of a variable in one state space, but the access is generic or in another space \
         (PTX ISA 5.1, 6.4.1). `cvta` converts the address to a generic one, and `cvta.to` converts it back."
        ["5.1, 6.4.1" "an access with an address of another state space, or with generic and non-generic addresses confused", BROKEN]
    ADDRESS_CONVERSION 631 "address conversion in the wrong direction"
        "`cvta.space` converts an address in that space to a generic one, and `cvta.to.space` does the reverse (PTX \
         ISA 9.7.9.20)."
        ["9.7.9.20" "`cvta` in the wrong direction, twice, or from another space", BROKEN]
    STORE_TO_READ_ONLY 632 "store through a read-only parameter"
        "A kernel may only read the memory behind a parameter whose Rust type is `&[T]`, so that several launches can \
         share it."
        ["5.1" "a store through a parameter whose Rust type is `&[T]`, to constants, or to the parameters of a kernel", BROKEN]
    OUT_OF_BOUNDS 633 "access outside of a variable"
        "The memory next to a variable is undefined (PTX ISA 5.4)."
        ["5.4" "an access past the end or before the start of a variable, also of one thread whose number the address depends on", BROKEN, suspicious("in a loop through a ring of mbarriers, in conditional code through a register to `.global` or `.const`, and for one thread through an address in shared memory that `cvta` or `mapa` made")]
    MISALIGNED_ADDRESS 634 "misaligned address"
        "An address must be a multiple of the access size (PTX ISA 6.4.1)."
        ["6.4.1" "an address that is certainly misaligned", BROKEN]
    ADDRESS_IN_OTHER_CTA 635 "address in another CTA"
        "`mapa` returns an address in the shared memory of any CTA of the cluster. `.shared::cta` reaches only the \
         executing CTA (PTX ISA 5.1.7)."
        ["5.1.7, 9.7.9.20, 9.7.13.15.13" "an address in another CTA, from `mapa`, where only the executing one is reached: by the state space, in an arrival that returns a state, or in `cvta.shared`", broken("for a constant rank in a cluster of more than one CTA, on every path"), suspicious("elsewhere, and for `cvta`")]
}
