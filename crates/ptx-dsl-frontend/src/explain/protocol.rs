//! 0616 to 0619 and 0640 to 0698: protocols between threads, copies and CTAs.

use super::Explanation;

pub(super) const LIST: &[Explanation] = explained! {
    616 "used before another thread has made it ready"
        "One thread initialises an mbarrier, or one warp allocates Tensor Memory, and other threads use it. They see \
         the result only after a barrier."
    617 "mbarrier initialised twice"
        "`mbarrier.init` of a valid object is undefined. Execute `mbarrier.inval` first."
    618 "mbarrier used as data"
        "The memory of an mbarrier can hold other data only after `mbarrier.inval`."
    619 "mbarrier that the cluster may not see"
        "A relaxed arrival at the cluster barrier does not publish the initialisation of an mbarrier. The thread that \
         initialises it must execute `fence.mbarrier_init.release.cluster`."
    640 "missing proxy fence"
        "Threads store through the generic proxy. Bulk copies, `wgmma` and `tcgen05` read through the async proxy. \
         A barrier does not order the two: put `fence.proxy.async` between them."
    641 "data overwritten without a proxy fence"
        "Threads load through the generic proxy, and a later copy overwrites the same bytes through the async proxy. \
         Without a proxy fence the two are not ordered."
    642 "phase that cannot complete"
        "`mbarrier.init` gives the number of arrivals of a phase. A thread waits for a phase, but the whole kernel, or one iteration of a \
         ring, makes fewer arrivals."
    643 "wrong number of expected bytes"
        "A phase completes when its tx-count is zero, so `expect_tx` must give exactly the number of bytes that the \
         copies write."
    644 "wait with the wrong parity"
        "The first phase of an mbarrier has parity 0. A wait for parity 1 returns at once while that phase is \
         incomplete."
    645 "thread count of a named barrier"
        "The threads that wait or arrive at a named barrier must add up to its thread count, or to a multiple of it."
    646 "copy that may not have completed"
        "The data of a bulk copy is available only after a wait for the phase of its mbarrier."
    647 "copy that no thread waits for"
        "No thread waits for the mbarrier of the copy. So no thread knows when the data has arrived, and the CTA may \
         exit before."
    648 "`cp.async` in flight"
        "Do not access the destination of a `cp.async` until `cp.async.wait_group` has waited for its group."
    649 "source of a copy in flight"
        "No thread may change the source of a bulk copy, shared memory or a tensor map, until the group of the copy \
         has completed."
    650 "exit with a copy in flight"
        "The shared memory that a bulk copy reads is freed when the CTA exits. The thread that issued the copy must \
         wait before it exits."
    651 "registers of an MMA in flight"
        "Do not access the accumulators and A fragments of an MMA until `wgmma.wait_group` has waited for its group."
    652 "missing `wgmma.fence`"
        "Execute `wgmma.fence` before the first MMA, and after each other access to the registers of an MMA."
    653 "MMA in no group"
        "`wgmma.wait_group` waits for groups. `wgmma.commit_group` puts all MMAs before it into one."
    654 "arrival during a load from Tensor Memory"
        "A thread that waits for this arrival writes or releases Tensor Memory that `tcgen05.ld` may still be reading. \
         Execute `tcgen05.wait::ld` before the arrival."
    655 "CTA that may not have started"
        "The shared memory of another CTA exists only once that CTA runs. Wait for it at a cluster barrier or by other \
         means. A multicast reaches all CTAs of its mask."
    656 "CTA that may have exited"
        "The shared memory of a CTA is gone when the CTA exits. End with a cluster barrier, or let the CTA wait for \
         everything that others send to it."
    657 "arrival with too narrow a scope"
        "An arrival on the mbarrier of another CTA must release at cluster scope. Otherwise that CTA need not see what \
         the arrival announces."
    658 "wait with too narrow a scope"
        "A thread that waits for arrivals of other CTAs must acquire at cluster scope. A wait without a scope is \
         `.acquire.cta`."
    659 "more registers than the CTA has"
        "`setmaxnreg.inc` waits until enough registers are free in the pool of the CTA. The pool must hold the \
         registers that all warpgroups request together."
    660 "`setmaxnreg` in a part of a warpgroup"
        "All warps of a warpgroup must execute the same `setmaxnreg`."
    661 "flag polled without acquire"
        "A volatile or relaxed load does not order later loads. The loads after the loop may return values from before \
         the flag was set."
    662 "tensor map changed without a proxy fence"
        "Copies read tensor maps through the tensormap proxy, which sees a change only after \
         `fence.proxy.tensormap::generic`."
    663 "more arrivals than the count"
        "More threads arrive at once than `mbarrier.init` says. The phase completes several times, and a thread that \
         waits for a parity may miss it."
    664 "data and mbarrier in different CTAs"
        "Bytes that are written to another CTA complete on an mbarrier of that CTA. Map the addresses of data and \
         mbarrier with the same rank, or neither."
    665 "read-only load of memory that the kernel writes"
        "`ld.global.nc` reads through a cache that does not see writes of the kernel."
    666 "two waits for the same parity"
        "Phases alternate between parity 0 and 1. If a phase has completed since the last wait, a second wait for the \
         same parity returns at once. Keep the parity in a register and flip it after each wait."
    667 "state of another phase"
        "The state that `mbarrier.arrive` returns is that of its object and of the phase of the arrival. It is not \
         valid for a later phase."
    668 "more arrivals than pending"
        "An arrival must not exceed the pending count, and one with `.noComplete` must leave the phase incomplete. \
         `mbarrier.pending_count` takes only states of `.noComplete` arrivals. After all threads have dropped out by \
         `mbarrier.arrive_drop`, none can arrive."
    669 "bytes that some CTAs do not expect"
        "A copy with `.multicast::cluster` completes on the mbarrier of each destination CTA. Each of them must expect \
         the bytes, whichever CTA issues the copy."
    670 "proxy fence after the barrier"
        "A proxy fence covers only accesses of its own thread. The threads that store must execute it, and then \
         synchronise with the thread that issues the copy."
    671 "synchronisation on one side only"
        "A release synchronises with an acquire of the same object. Either one alone has no effect. A fence before a \
         relaxed write acts as a release, and one after a relaxed read as an acquire."
    672 "scopes that do not match or are too narrow"
        "Release and acquire synchronise only if the scope of each includes the other thread: between CTAs `.cluster`, \
         `.gpu` or `.sys`."
    673 "atomic in one CTA only"
        "Atomic operations of `.cta` scope from different CTAs are not atomic with respect to each other and may lose \
         updates."
    674 "mbarrier used after `mbarrier.inval`"
        "After `mbarrier.inval` the object is invalid until the next `mbarrier.init`."
    675 "computed barrier number above 15"
        "A CTA has the named barriers 0 to 15 (PTX ISA 9.7.13.1). Here the number depends on the thread, and some thread \
         comes with a larger one."
    676 "address of a parameter in place of its value"
        "The name of a variable in `mov` is its address (PTX ISA 9.7.9.5). `ld.param` reads the value of a parameter."
    677 "wait that nothing follows"
        "`mbarrier.try_wait` and `test_wait` say whether a phase has completed, and go on either way. A thread that must wait \
         tests again until the result is true."
    678 "instruction of a CTA pair in one CTA only"
        "With `.cta_group::2`, a warp of each CTA of the pair must execute `tcgen05.alloc`, `dealloc` and \
         `relinquish_alloc_permit`. If only one CTA does, it may wait forever, and the columns of the other CTA stay \
         allocated."
    679 "missing `tcgen05.fence` between threads"
        "To order accesses of different threads to Tensor Memory, execute `tcgen05.fence::before_thread_sync` after \
         the first access, synchronise at a barrier or an mbarrier, and execute `tcgen05.fence::after_thread_sync` \
         before the second access. `tcgen05.commit` implies the first fence."
    680 "wait for the source of a copy only"
        "`cp.async.bulk.wait_group.read` waits until bulk copies have read their source. A thread that reads what they \
         write, or tells others to read it, must wait with `cp.async.bulk.wait_group`."
    681 "store to Tensor Memory that may not have completed"
        "`tcgen05.st` is asynchronous. Execute `tcgen05.wait::st` before the arrival that lets another thread use the \
         data, and before an MMA or a copy on it."
    682 "deallocation that does not match the allocation"
        "`tcgen05.dealloc` frees exactly what one `tcgen05.alloc` has allocated: from its first column, all its \
         columns, once, by one warp."
    683 "result of an MMA read too early"
        "`tcgen05.mma` is asynchronous. `tcgen05.commit` makes an mbarrier track it. Wait for that mbarrier before \
         `tcgen05.ld` of the accumulators."
    684 "request after a failed one"
        "If a response says that nothing was cancelled, no cluster is left. Another `clusterlaunchcontrol.try_cancel` is then undefined."
    685 "memory used before `griddepcontrol.wait`"
        "With programmatic dependent launch, a grid can start before the grid that it depends on has completed. What \
         that grid writes is available only after `griddepcontrol.wait`. A kernel that launches its own dependents early is \
         usually in a chain of such launches, so it waits too; the first kernel of a chain need not."
    686 "election in each warp"
        "`elect.sync` elects one lane of every warp that executes it. For work that one thread of the CTA does, select \
         a warp too."
    687 "shuffle from a missing lane"
        "`shfl.sync` reads only from lanes that its mask names and that the CTA has. Any other value is undefined: an \
         error where it is certainly observed."
    688 "arrival that no thread waits for"
        "`bar.arrive` releases threads that wait at the same barrier. No thread waits at this one."
    689 "commit before its MMA"
        "`tcgen05.commit` makes an mbarrier track the operations that its thread has already started. It does not \
         track a later MMA, so the wait ends before the results are available."
    690 "missing barrier"
        "Order accesses of different warps to shared memory with a barrier or another synchronisation: before the \
         reads, and before the next write. If addresses depend on the thread number and constants alone, accesses are \
         compared thread by thread."
    691 "copy that every lane executes"
        "Each thread that executes a bulk copy starts the whole copy again and completes its bytes again. Elect one \
         lane for the copy and its `expect_tx`."
    692 "stage freed while it is read"
        "`wgmma` reads its matrices in shared memory until `wgmma.wait_group` has waited for its group. An arrival that lets \
         the producer fill the stage again comes after that wait."
    693 "bytes that nothing expects"
        "A phase of an mbarrier completes when all arrivals have come and the tx-count is zero. If no `expect_tx` \
         announces the bytes, the wait does not cover them, and they leave a tx-count with which no later phase \
         completes."
    694 "CTA pair without a peer"
        "`.cta_group::2` works on a pair: two CTAs of a cluster whose ranks differ in the last bit."
    695 "CTA outside of the cluster"
        "Bit n of a mask of CTAs, and rank n of `mapa`, stand for the CTA with that rank in the cluster."
    696 "parity of a ring"
        "The reader of a stage first waits for the first phase, which has parity 0. The producer waits for a free \
         stage and starts with parity 1: on a new mbarrier that wait returns at once. Both flip the parity when they \
         wrap around to the first stage, not at every stage."
    697 "operation of a CTA pair in both CTAs"
        "With `.cta_group::2`, one thread of the pair starts `tcgen05.mma`, `cp` and `shift`, and the operation uses the \
         memory of both CTAs. If a thread of each CTA starts it, it runs twice, in no order. `tcgen05.alloc`, `dealloc` \
         and `relinquish_alloc_permit` are the other way round: a warp of each CTA executes them."
    698 "product past the rows of its operands"
        "A swizzled operand of `wgmma` lies in atoms of eight rows, and a row is as wide as the swizzle: 128, 64 or 32 \
         bytes. The products of a sum go along the row, 32 bytes each. After the width of the swizzle, the next columns \
         are in the next box of the copy; a start that goes on in the same atom is in the next row. Often the swizzle of \
         the descriptor is not that of the tensor map."
};
