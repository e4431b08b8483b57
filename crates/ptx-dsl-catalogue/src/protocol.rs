//! 0640 to 0699: protocols between threads, copies and CTAs.

use ptx_dsl_isa::code::Code;
use ptx_dsl_isa::code::classes::{BROKEN, PROTOCOL, SUSPICIOUS, broken, protocol, suspicious};

codes! {
    NO_PROXY_FENCE 640 "missing proxy fence"
        "Threads store through the generic proxy. Bulk copies, `wgmma` and `tcgen05` read through the async proxy. \
         A barrier does not order the two: put `fence.proxy.async` between them."
        ["9.7.13.4" "a bulk copy, `wgmma` or `tcgen05` that reads what threads or `cp.async` wrote, with no proxy fence in between on any path", broken("for ordinary stores"), protocol("for data of `cp.async` that `wgmma` or `tcgen05` reads")]
    OVERWRITTEN_WITHOUT_FENCE 641 "data overwritten without a proxy fence"
        "Threads load through the generic proxy, and a later copy overwrites the same bytes through the async proxy. \
         Without a proxy fence the two are not ordered."
        ["9.7.13.4" "a copy or response that overwrites what was loaded, with no proxy fence in between, or with only the release of one", SUSPICIOUS]
    PHASE_NEVER_COMPLETES 642 "phase that cannot complete"
        "`mbarrier.init` gives the number of arrivals of a phase. A thread waits for a phase, but the whole kernel, or one iteration of a \
         ring, makes fewer arrivals."
        ["9.7.13.15.2" "a wait for an mbarrier on which fewer threads arrive, in the whole kernel or in one iteration of a ring, than `init` says; a loop through the stages of a ring that frees none of them", BROKEN, suspicious("in a ring whose first wait is for the preceding phase, and for stages that are not freed")]
    EXPECTED_BYTES 643 "wrong number of expected bytes"
        "A phase completes when its tx-count is zero, so `expect_tx` must give exactly the number of bytes that the \
         copies write."
        ["9.7.13.15.2" "`expect_tx` of more or fewer bytes than its copies write, where one executes whenever the other does", BROKEN, suspicious("for more bytes than the copies of a stage of a ring have room for, or fewer than `wgmma` reads of it")]
    WRONG_PARITY 644 "wait with the wrong parity"
        "The first phase of an mbarrier has parity 0. A wait for parity 1 returns at once while that phase is \
         incomplete."
        ["9.7.13.15.16" "a wait for parity 1 after an arrival or copy, where only one phase can complete", BROKEN]
    BARRIER_THREAD_COUNT 645 "thread count of a named barrier"
        "The threads that wait or arrive at a named barrier must add up to its thread count, or to a multiple of it."
        ["9.7.13.1" "a named barrier whose thread count does not match the threads that reach it, or at which several groups of that size meet", BROKEN, suspicious("in loops, and for several groups")]
    COPY_INCOMPLETE 646 "copy that may not have completed"
        "The data of a bulk copy is available only after a wait for the phase of its mbarrier."
        ["9.7.9.25.4" "memory or a tensor map accessed while a bulk copy into shared memory may be in flight; data stored over a stage of a ring that is free", BROKEN, suspicious("where another copy accesses it, and for the stage of a ring")]
    COPY_NOT_WAITED_FOR 647 "copy that no thread waits for"
        "No thread waits for the mbarrier of the copy. So no thread knows when the data has arrived, and the CTA may \
         exit before."
        ["9.7.9.25.4" "a bulk copy with an mbarrier that no thread waits for", BROKEN, suspicious("for a stage of a ring")]
    CP_ASYNC_IN_FLIGHT 648 "`cp.async` in flight"
        "Do not access the destination of a `cp.async` until `cp.async.wait_group` has waited for its group."
        ["9.7.9.25.3" "an access to memory that a `cp.async` may still write, uncommitted or of a group that was not waited for", BROKEN]
    COPY_SOURCE_IN_FLIGHT 649 "source of a copy in flight"
        "No thread may change the source of a bulk copy, shared memory or a tensor map, until the group of the copy \
         has completed."
        ["9.7.9.25.6" "the source or the tensor map of a bulk copy changed before its group has completed, by its thread or by others that cannot know; buffers filled in turn, with a wait that leaves as many groups pending as there are buffers, or no commit", BROKEN, suspicious("in an array that also holds other things")]
    EXIT_WITH_COPY 650 "exit with a copy in flight"
        "The shared memory that a bulk copy reads is freed when the CTA exits. The thread that issued the copy must \
         wait before it exits."
        ["9.7.9.25, 9.7.15.7" "a thread that exits with a `cp.async`, a bulk copy or a `wgmma` in flight", SUSPICIOUS]
    MMA_REGISTERS_IN_FLIGHT 651 "registers of an MMA in flight"
        "Do not access the accumulators and A fragments of an MMA until `wgmma.wait_group` has waited for its group."
        ["9.7.15.7.3" "registers of a `wgmma.mma_async` read or written before its wait", BROKEN, protocol("where a `mov` reads a result")]
    NO_WGMMA_FENCE 652 "missing `wgmma.fence`"
        "Execute `wgmma.fence` before the first MMA, and after each other access to the registers of an MMA."
        ["9.7.15.7.1" "an MMA with no `wgmma.fence` on any path to it", BROKEN]
    MMA_NOT_COMMITTED 653 "MMA in no group"
        "`wgmma.wait_group` waits for groups. `wgmma.commit_group` puts all MMAs before it into one."
        ["9.7.15.7.2" "MMAs in a kernel without `wgmma.commit_group`, or not committed where `wgmma.wait_group 0` waits", BROKEN, suspicious("for a wait before the commit")]
    ARRIVAL_DURING_TMEM_LOAD 654 "arrival during a load from Tensor Memory"
        "A thread that waits for this arrival writes or releases Tensor Memory that `tcgen05.ld` may still be reading. \
         Execute `tcgen05.wait::ld` before the arrival."
        ["9.7.16.6.4" "an arrival while a `tcgen05.ld` is in flight, if a thread that waits for it writes or releases the same columns", broken("where the columns are the same on every path"), suspicious("where they may be")]
    PEER_MAY_NOT_HAVE_STARTED 655 "CTA that may not have started"
        "The shared memory of another CTA exists only once that CTA runs. Wait for it at a cluster barrier or by other \
         means. A multicast reaches all CTAs of its mask."
        ["5.1.7" "an access to the memory of another CTA, also by a multicast, with no wait for that CTA before, or only one that returns at once", BROKEN]
    PEER_MAY_HAVE_EXITED 656 "CTA that may have exited"
        "The shared memory of a CTA is gone when the CTA exits. End with a cluster barrier, or let the CTA wait for \
         everything that others send to it."
        ["5.1.7" "an access to the memory of another CTA that may have exited; arrivals of a ring that come when their CTA no longer waits; a multicast to CTAs that do not wait", BROKEN, suspicious("for rings and multicasts")]
    ARRIVAL_SCOPE 657 "arrival with too narrow a scope"
        "An arrival on the mbarrier of another CTA must release at cluster scope. Otherwise that CTA need not see what \
         the arrival announces."
        ["8.5" "an arrival, a flag or an atomic operation of `.cta` scope in the memory of another CTA", BROKEN, suspicious("for `.relaxed`")]
    WAIT_SCOPE 658 "wait with too narrow a scope"
        "A thread that waits for arrivals of other CTAs must acquire at cluster scope. A wait without a scope is \
         `.acquire.cta`."
        ["8.5" "a wait of `.cta` scope for arrivals, copies or `st.async` of other CTAs, if the scope is written, or if they announce stores", SUSPICIOUS]
    TOO_MANY_REGISTERS 659 "more registers than the CTA has"
        "`setmaxnreg.inc` waits until enough registers are free in the pool of the CTA. The pool must hold the \
         registers that all warpgroups request together."
        ["9.7.19.5" "`setmaxnreg` that requests more registers than the CTA has", BROKEN]
    SETMAXNREG_IN_PART 660 "`setmaxnreg` in a part of a warpgroup"
        "All warps of a warpgroup must execute the same `setmaxnreg`."
        ["9.7.19.5" "`setmaxnreg` that a part of a warpgroup executes", BROKEN]
    POLLED_WITHOUT_ACQUIRE 661 "flag polled without acquire"
        "A volatile or relaxed load does not order later loads. The loads after the loop may return values from before \
         the flag was set."
        ["8.8" "a flag, a lock or an mbarrier polled without acquire, followed by plain loads, also by other threads behind a barrier of the CTA", SUSPICIOUS]
    TENSORMAP_FENCE 662 "tensor map changed without a proxy fence"
        "Copies read tensor maps through the tensormap proxy, which sees a change only after \
         `fence.proxy.tensormap::generic`."
        ["9.7.13.4" "a tensor map changed and used without release and acquire of the tensormap proxy in between", BROKEN]
    TOO_MANY_ARRIVALS 663 "more arrivals than the count"
        "More threads arrive at once than `mbarrier.init` says. The phase completes several times, and a thread that \
         waits for a parity may miss it."
        ["9.7.13.15.2" "more threads that arrive at once than `init` says", SUSPICIOUS]
    MBARRIER_IN_OTHER_CTA 664 "data and mbarrier in different CTAs"
        "Bytes that are written to another CTA complete on an mbarrier of that CTA. Map the addresses of data and \
         mbarrier with the same rank, or neither."
        ["9.7.9.25.4" "a copy or `st.async` into one CTA that completes on an mbarrier in another", broken("for constant ranks, on every path"), suspicious("elsewhere")]
    READ_ONLY_LOAD_OF_WRITTEN 665 "read-only load of memory that the kernel writes"
        "`ld.global.nc` reads through a cache that does not see writes of the kernel."
        ["9.7.9.9" "`ld.global.nc` of memory that the kernel writes", SUSPICIOUS]
    SECOND_WAIT_FOR_PARITY 666 "two waits for the same parity"
        "Phases alternate between parity 0 and 1. If a phase has completed since the last wait, a second wait for the \
         same parity returns at once. Keep the parity in a register and flip it after each wait."
        ["9.7.13.15.16" "a second wait for the same parity, although a phase has completed since", broken("where the arrivals are counted exactly"), suspicious("elsewhere")]
    STATE_OF_OTHER_PHASE 667 "state of another phase"
        "The state that `mbarrier.arrive` returns is that of its object and of the phase of the arrival. It is not \
         valid for a later phase."
        ["9.7.13.15.16" "a wait for a state of another object, or of a phase that was waited for before the last arrival", broken("on every path"), suspicious("on some path")]
    MORE_THAN_PENDING 668 "more arrivals than pending"
        "An arrival must not exceed the pending count, and one with `.noComplete` must leave the phase incomplete. \
         `mbarrier.pending_count` takes only states of `.noComplete` arrivals. After all threads have dropped out by \
         `mbarrier.arrive_drop`, none can arrive."
        ["9.7.13.15.13, 9.7.13.15.14, 9.7.13.15.17" "more arrivals than are pending, or an arrival after all threads have dropped out; a `.noComplete` that completes the phase; the pending count of another state", BROKEN, suspicious("for the pending count of another state")]
    MULTICAST_NOT_EXPECTED 669 "bytes that some CTAs do not expect"
        "A copy with `.multicast::cluster` completes on the mbarrier of each destination CTA. Each of them must expect \
         the bytes, whichever CTA issues the copy."
        ["9.7.9.25.4" "a multicast copy whose bytes only some destination CTAs expect, and all wait for", broken("for a constant mask"), suspicious("elsewhere")]
    FENCE_AFTER_BARRIER 670 "proxy fence after the barrier"
        "A proxy fence covers only accesses of its own thread. The threads that store must execute it, and then \
         synchronise with the thread that issues the copy."
        ["9.7.13.4" "data that many threads store and one copies, with a proxy fence only after their barrier and no barrier after that", SUSPICIOUS]
    ONE_SIDED_SYNCHRONISATION 671 "synchronisation on one side only"
        "A release synchronises with an acquire of the same object. Either one alone has no effect. A fence before a \
         relaxed write acts as a release, and one after a relaxed read as an acquire."
        ["8.8" "a release on an object that others read without acquire, or an acquire on one that others write without release", SUSPICIOUS]
    SCOPE_MISMATCH 672 "scopes that do not match or are too narrow"
        "Release and acquire synchronise only if the scope of each includes the other thread: between CTAs `.cluster`, \
         `.gpu` or `.sys`."
        ["8.5" "release and acquire of `.cta` scope in different CTAs, or one of them of wider scope; a `.cta` fence before a polled flag; a release of `.gpu` scope in answer to a signal of `.sys` scope", broken("in CTAs that a branch distinguishes"), suspicious("elsewhere")]
    ATOMIC_SCOPE 673 "atomic in one CTA only"
        "Atomic operations of `.cta` scope from different CTAs are not atomic with respect to each other and may lose \
         updates."
        ["8.10.3" "an atomic operation of `.cta` scope on one place of global memory that all CTAs reach", SUSPICIOUS]
    MBARRIER_AFTER_INVAL 674 "mbarrier used after `mbarrier.inval`"
        "After `mbarrier.inval` the object is invalid until the next `mbarrier.init`."
        ["9.7.13.15.10" "an mbarrier used after `mbarrier.inval`", BROKEN]
    BARRIER_NUMBER 675 "computed barrier number above 15"
        "A CTA has the named barriers 0 to 15 (PTX ISA 9.7.13.1). Here the number depends on the thread, and some thread \
         comes with a larger one."
        ["9.7.13.1" "a computed barrier number above 15 in some thread", BROKEN]
    PARAMETER_ADDRESS_AS_VALUE 676 "address of a parameter in place of its value"
        "The name of a variable in `mov` is its address (PTX ISA 9.7.9.5). `ld.param` reads the value of a parameter."
        ["9.7.9.5" "the address of a scalar parameter, by `mov`, used as its value", SUSPICIOUS]
    IGNORED_WAIT 677 "wait that nothing follows"
        "`mbarrier.try_wait` and `test_wait` say whether a phase has completed, and go on either way. A thread that must wait \
         tests again until the result is true."
        ["9.7.13.15.16" "`mbarrier.try_wait` or `test_wait` whose result nothing reads", SUSPICIOUS]
    PAIR_INSTRUCTION_IN_ONE_CTA 678 "instruction of a CTA pair in one CTA only"
        "With `.cta_group::2`, a warp of each CTA of the pair must execute `tcgen05.alloc`, `dealloc` and \
         `relinquish_alloc_permit`. If only one CTA does, it may wait forever, and the columns of the other CTA stay \
         allocated."
        ["9.7.16.5" "`tcgen05.alloc`, `dealloc` or `relinquish_alloc_permit` with `.cta_group::2` that only one CTA of a pair can reach", BROKEN, suspicious("for `relinquish_alloc_permit`")]
    NO_TCGEN05_FENCE 679 "missing `tcgen05.fence` between threads"
        "To order accesses of different threads to Tensor Memory, execute `tcgen05.fence::before_thread_sync` after \
         the first access, synchronise at a barrier or an mbarrier, and execute `tcgen05.fence::after_thread_sync` \
         before the second access. `tcgen05.commit` implies the first fence."
        ["9.7.16.5" "accesses of different threads to Tensor Memory with a synchronisation in between, but no `tcgen05.fence` before or after it", PROTOCOL]
    WAIT_FOR_SOURCE_ONLY 680 "wait for the source of a copy only"
        "`cp.async.bulk.wait_group.read` waits until bulk copies have read their source. A thread that reads what they \
         write, or tells others to read it, must wait with `cp.async.bulk.wait_group`."
        ["9.7.9.25.6" "data of a bulk copy read, or announced to others, after a wait for its source only", broken("where it is read"), suspicious("where it is announced")]
    TMEM_STORE_INCOMPLETE 681 "store to Tensor Memory that may not have completed"
        "`tcgen05.st` is asynchronous. Execute `tcgen05.wait::st` before the arrival that lets another thread use the \
         data, and before an MMA or a copy on it."
        ["9.7.16.8.5" "no `tcgen05.wait::st` between `tcgen05.st` and an operation on its columns, or an arrival that lets another thread start one", broken("where the operation begins in these columns"), suspicious("elsewhere")]
    DEALLOCATION_MISMATCH 682 "deallocation that does not match the allocation"
        "`tcgen05.dealloc` frees exactly what one `tcgen05.alloc` has allocated: from its first column, all its \
         columns, once, by one warp."
        ["9.7.16.7.1" "`tcgen05.dealloc` of another size or address, with another `.exclusive`, twice, or by more warps than allocate", BROKEN, suspicious("for a second one on some path")]
    MMA_RESULT_TOO_EARLY 683 "result of an MMA read too early"
        "`tcgen05.mma` is asynchronous. `tcgen05.commit` makes an mbarrier track it. Wait for that mbarrier before \
         `tcgen05.ld` of the accumulators."
        ["9.7.16.6.4" "`tcgen05.ld` after an MMA in a kernel where no thread waits for an mbarrier", BROKEN]
    REQUEST_AFTER_FAILURE 684 "request after a failed one"
        "If a response says that nothing was cancelled, no cluster is left. Another `clusterlaunchcontrol.try_cancel` is then undefined."
        ["9.7.13.17" "`try_cancel` on a path on which an earlier request failed", broken("if the path has no other condition"), suspicious("elsewhere")]
    BEFORE_GRIDDEPCONTROL_WAIT 685 "memory used before `griddepcontrol.wait`"
        "With programmatic dependent launch, a grid can start before the grid that it depends on has completed. What \
         that grid writes is available only after `griddepcontrol.wait`. A kernel that launches its own dependents early is \
         usually in a chain of such launches, so it waits too; the first kernel of a chain need not."
        ["9.7.13.13" "memory used before and after `griddepcontrol.wait`, or read only before it; `launch_dependents` in a kernel that reads global memory and never waits", SUSPICIOUS]
    ELECTION_IN_EACH_WARP 686 "election in each warp"
        "`elect.sync` elects one lane of every warp that executes it. For work that one thread of the CTA does, select \
         a warp too."
        ["9.7.13.14" "a copy to one place, a request for a cluster or an MMA by the elected lane of each warp", SUSPICIOUS]
    SHUFFLE_FROM_MISSING_LANE 687 "shuffle from a missing lane"
        "`shfl.sync` reads only from lanes that its mask names and that the CTA has. Any other value is undefined: an \
         error where it is certainly observed."
        ["9.7.9.6" "`shfl.sync` from a lane that its mask does not name", broken("where the value certainly is stored to global memory, or decides a branch or an address"), suspicious("elsewhere")]
    ARRIVAL_WITHOUT_WAIT 688 "arrival that no thread waits for"
        "`bar.arrive` releases threads that wait at the same barrier. No thread waits at this one."
        ["9.7.13.1" "an arrival at a barrier at which no thread waits", SUSPICIOUS]
    COMMIT_BEFORE_MMA 689 "commit before its MMA"
        "`tcgen05.commit` makes an mbarrier track the operations that its thread has already started. It does not \
         track a later MMA, so the wait ends before the results are available."
        ["9.7.16.12.1" "an MMA, copy or shift with no `tcgen05.commit` after it; a commit before all of them", BROKEN, suspicious("for a commit before all of them")]
    SHARED_MEMORY_RACE 690 "missing barrier"
        "Order accesses of different warps to shared memory with a barrier or another synchronisation: before the \
         reads, and before the next write. If addresses depend on the thread number and constants alone, accesses are \
         compared thread by thread."
        ["8.7" "shared memory that one warp writes and others read, or reads and others write, with no synchronisation in between", SUSPICIOUS]
    COPY_BY_EVERY_LANE 691 "copy that every lane executes"
        "Each thread that executes a bulk copy starts the whole copy again and completes its bytes again. Elect one \
         lane for the copy and its `expect_tx`."
        ["9.7.9.25.4" "a bulk copy to an mbarrier, a bulk reduction or a request for a cluster that every lane of a warp executes with the same operands", SUSPICIOUS]
    STAGE_FREED_WHILE_READ 692 "stage freed while it is read"
        "`wgmma` reads its matrices in shared memory until `wgmma.wait_group` has waited for its group. An arrival that lets \
         the producer fill the stage again comes after that wait."
        ["9.7.15.7.3" "an arrival that frees the stage of a ring while a `wgmma` that reads it may be in flight", SUSPICIOUS]
    UNEXPECTED_BYTES 693 "bytes that nothing expects"
        "A phase of an mbarrier completes when all arrivals have come and the tx-count is zero. If no `expect_tx` \
         announces the bytes, the wait does not cover them, and they leave a tx-count with which no later phase \
         completes."
        ["9.7.13.15.2" "bytes that complete on an mbarrier for which the kernel expects none", BROKEN]
    PAIR_WITHOUT_PEER 694 "CTA pair without a peer"
        "`.cta_group::2` works on a pair: two CTAs of a cluster whose ranks differ in the last bit."
        ["9.7.16.5.1" "`tcgen05` with `.cta_group::2` in clusters of one CTA, or of an odd number of CTAs", broken("for one CTA"), suspicious("for an odd number")]
    CTA_OUTSIDE_CLUSTER 695 "CTA outside of the cluster"
        "Bit n of a mask of CTAs, and rank n of `mapa`, stand for the CTA with that rank in the cluster."
        ["9.7.9.23, 9.7.9.25.4.1" "a constant mask of CTAs, or a rank of `mapa`, beyond the cluster", BROKEN]
    RING_PARITY 696 "parity of a ring"
        "The reader of a stage first waits for the first phase, which has parity 0. The producer waits for a free \
         stage and starts with parity 1: on a new mbarrier that wait returns at once. Both flip the parity when they \
         wrap around to the first stage, not at every stage."
        ["9.7.13.15.16" "parities of a ring: readers that start with 1, waits for first phases that wait for each other, a parity that does not change when the ring wraps around", BROKEN, suspicious("where only the alternation is wrong")]
    PAIR_OPERATION_IN_BOTH 697 "operation of a CTA pair in both CTAs"
        "With `.cta_group::2`, one thread of the pair starts `tcgen05.mma`, `cp` and `shift`, and the operation uses the \
         memory of both CTAs. If a thread of each CTA starts it, it runs twice, in no order. `tcgen05.alloc`, `dealloc` \
         and `relinquish_alloc_permit` are the other way round: a warp of each CTA executes them."
        ["9.7.16.5" "`tcgen05.mma`, `cp` or `shift` with `.cta_group::2` that both CTAs of a pair execute with the same operands", SUSPICIOUS]
    PRODUCT_PAST_ROW 698 "product past the rows of its operands"
        "A swizzled operand of `wgmma` lies in atoms of eight rows, and a row is as wide as the swizzle: 128, 64 or 32 \
         bytes. The products of a sum go along the row, 32 bytes each. After the width of the swizzle, the next columns \
         are in the next box of the copy; a start that goes on in the same atom is in the next row. Often the swizzle of \
         the descriptor is not that of the tensor map."
        ["9.7.15.5.1" "products of `wgmma` that add up along the rows of their operands and go past the width of the swizzle, into the next row", SUSPICIOUS]
    STORES_OF_TWO_CTAS 699 "stores of two CTAs to the same bytes"
        "CTAs run in no order, so of two plain stores to the same bytes either may be the last. Often the step from one \
         CTA to the next is the tile of another version of the kernel, or counts elements where bytes are wanted. If \
         several CTAs add up a result, use `red` or `atom`."
        ["8.7" "plain stores of two CTAs to the same bytes of global memory: the step from one CTA to the next, a constant, is smaller than what a CTA writes", SUSPICIOUS]
}
