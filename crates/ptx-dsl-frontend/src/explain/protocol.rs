//! 0616 to 0619 and 0640 to 0696: protocols between threads, copies and CTAs.

use super::Explanation;

pub(super) const LIST: &[Explanation] = explained! {
    616 "used before other threads made it ready"
        "One thread initialises an mbarrier, or a warp allocates Tensor Memory, and other threads use it: they see \
         what was made ready after a barrier only."
    617 "initialised twice"
        "`mbarrier.init` of an object that is valid is undefined; `mbarrier.inval` ends its life."
    618 "data over an mbarrier"
        "The memory of an mbarrier is for other things after `mbarrier.inval` only."
    619 "an mbarrier that the cluster cannot see"
        "A relaxed arrival at the cluster barrier publishes nothing. `fence.mbarrier_init.release.cluster` by the \
         thread that initialised does."
    640 "no proxy fence"
        "What threads store by the generic proxy, a bulk copy, `wgmma` or `tcgen05` reads by the asynchronous one: a \
         barrier is not enough, `fence.proxy.async` stands between."
    641 "a slot filled again"
        "Loads of the generic proxy, and then a copy that writes over what they read, have no order without a proxy \
         fence."
    642 "a phase that cannot complete"
        "As many threads arrive as `mbarrier.init` says; the arrivals of the whole kernel together, or on an object \
         of a ring until that has come round, are fewer, and something waits."
    643 "bytes that do not come"
        "A phase completes when its tx-count is zero: what `expect_tx` says has come, to the byte."
    644 "the parity of no phase"
        "The first phase of an mbarrier has parity 0. A wait for parity 1 returns at once while that phase is under \
         way."
    645 "the number of a named barrier"
        "The number of threads that a barrier is for is that of all who wait or arrive, multiples of it apart."
    646 "a copy that need not be done"
        "What a bulk copy brings is there when a wait for the phase of its mbarrier says so."
    647 "a copy that nobody waits for"
        "Each mbarrier that copies complete on has a wait somewhere; without one nobody knows that the data has come, \
         and the CTA may leave before."
    648 "`cp.async` under way"
        "What `cp.async` writes is left alone until `cp.async.wait_group` has waited for its group."
    649 "the source of a copy"
        "What a bulk copy reads, shared memory or a tensor's map, is left alone until its group is done, by all \
         threads."
    650 "leaving with a copy"
        "The shared memory that a bulk copy reads goes with the CTA: the thread that issued it waits before it \
         leaves."
    651 "registers of an MMA under way"
        "Accumulators and fragments of A are the MMA's until `wgmma.wait_group` has waited for its group."
    652 "no `wgmma.fence`"
        "`wgmma.fence` comes before the first MMA, and after each other access to the registers of one."
    653 "an MMA in no group"
        "`wgmma.wait_group` waits for groups; `wgmma.commit_group` makes one of the MMAs before it."
    654 "arriving while loading"
        "A thread that waits for the arrival writes or releases Tensor Memory that `tcgen05.ld` is still reading. \
         `tcgen05.wait::ld` comes before the arrival."
    655 "a CTA that has not started"
        "The shared memory of another CTA is there when that runs; a cluster barrier, or anything else that waits for \
         it, comes first. A multicast reaches the CTAs of its mask."
    656 "a CTA that has left"
        "The shared memory of a CTA goes when it leaves: a cluster barrier stands at the end, or the CTA waits for \
         all that others send."
    657 "an arrival of too narrow scope"
        "An arrival on the mbarrier of another CTA releases at cluster scope, or what it announces need not be seen \
         there."
    658 "a wait of too narrow scope"
        "Who waits for arrivals of other CTAs acquires at cluster scope; without a scope a wait is `.acquire.cta`."
    659 "more registers than there are"
        "`setmaxnreg.inc` waits until so many registers are free in the CTA's pool. What all warpgroups ask for \
         together must be there."
    660 "part of a warpgroup"
        "All warps of a warpgroup run the same `setmaxnreg`."
    661 "a flag polled without acquire"
        "A volatile or relaxed load orders nothing behind it: the loads after the loop may see what was there before \
         the flag."
    662 "a tensor's map that was changed"
        "Copies read maps by the tensormap proxy, which sees a change after `fence.proxy.tensormap::generic`."
    663 "more arrivals than the count"
        "More threads arrive at once than `mbarrier.init` says: the phase completes several times, and who waits for \
         a parity may miss it."
    664 "data and mbarrier in two CTAs"
        "Bytes that come to another CTA complete on an mbarrier there: data and mbarrier are mapped with the same \
         rank, or neither is."
    665 "written, and taken for read-only"
        "`ld.global.nc` reads by a cache that does not see writes of the kernel."
    666 "the same parity again"
        "Phases have parity 0 and 1 in turn. Who waits for the same one again, when a phase has completed since, goes \
         on at once: the parity is kept in a register and flipped after each wait."
    667 "the state of another phase"
        "The state that `mbarrier.arrive` gives is that of its object and of the phase the arrival was in. It is no \
         good for a later one."
    668 "more than is pending"
        "An arrival takes no more than is pending, one with `.noComplete` leaves something, and \
         `mbarrier.pending_count` is for the states of the latter. When all have dropped out by \
         `mbarrier.arrive_drop`, nothing can arrive any more."
    669 "bytes that some CTAs do not expect"
        "A copy with `.multicast::cluster` completes on the mbarrier of each destination CTA, and each of them \
         expects the bytes, whoever issues the copy."
    670 "a proxy fence behind the barrier"
        "A proxy fence is for what its own thread did. Those who store run it, and then meet with the one who copies."
    671 "one side of a synchronisation"
        "A release synchronises with an acquire of the same object, and alone does nothing; so does an acquire. \
         Fences before a relaxed write and behind a relaxed read do the same."
    672 "a flag with two scopes, or too narrow ones"
        "Release and acquire synchronise if the scope of each holds the thread of the other: between CTAs `.cluster`, \
         `.gpu` or `.sys`."
    673 "atomic in one CTA only"
        "Atomic operations of `.cta` scope from different CTAs are not atomic with respect to each other, and may \
         lose updates."
    674 "an mbarrier after its end"
        "After `mbarrier.inval` the object is none, until `mbarrier.init` makes it one again."
    678 "one CTA of a pair"
        "With `.cta_group::2` a warp of each CTA of the pair executes `tcgen05.alloc`, `dealloc` and \
         `relinquish_alloc_permit`. If only one CTA does, it may wait for ever, and the other one's columns stay \
         allocated."
    679 "no `tcgen05.fence` between threads"
        "A thread fences its accesses to Tensor Memory that it wants to order with those of other threads: \
         `tcgen05.fence::before_thread_sync` after the first access, then a barrier or an mbarrier, then \
         `tcgen05.fence::after_thread_sync` before the second access. `tcgen05.commit` implies the first fence."
    680 "a copy whose source alone was waited for"
        "`cp.async.bulk.wait_group.read` waits until bulk copies have read their source. Whoever reads what they \
         write, or tells others to, waits with `cp.async.bulk.wait_group`."
    681 "a store to Tensor Memory that may not have completed"
        "`tcgen05.st` is asynchronous: `tcgen05.wait::st` comes before the arrival that lets another thread use the \
         data, and before an MMA or a copy on it."
    682 "not the allocation that was made"
        "`tcgen05.dealloc` frees what one `tcgen05.alloc` gave: from its first column, all its columns, once, by one \
         warp."
    683 "the result of an MMA too early"
        "`tcgen05.mma` is asynchronous: `tcgen05.commit` makes an mbarrier track it, and a wait for that mbarrier \
         comes before `tcgen05.ld` of its accumulators."
    684 "a request after a failed one"
        "When a response says that nothing was cancelled there is nothing left: another \
         `clusterlaunchcontrol.try_cancel` is undefined."
    685 "before the grid before"
        "With programmatic dependent launch a grid starts before the one it depends on is done. What that writes is \
         there behind `griddepcontrol.wait`."
    686 "an election in each warp"
        "`elect.sync` elects a lane of each warp that runs it. What one thread of the CTA is to do is guarded by the \
         choice of a warp too."
    687 "a lane that is not there"
        "`shfl.sync` reads from lanes that its mask names, and that the CTA has."
    688 "an arrival for nobody"
        "`bar.arrive` lets threads go on that wait at the same barrier; here none waits at it."
    689 "a commit before its MMA"
        "`tcgen05.commit` makes an mbarrier track the operations that its thread has started before. An MMA after it \
         is not tracked, and the wait ends before its results are there."
    690 "no barrier between"
        "Shared memory that one warp writes and others read has an order if a barrier, or anything else that makes \
         them meet, stands between the accesses: before the reads, and before the next write. Where addresses depend \
         on the thread number and on constants alone, they are compared thread by thread."
    691 "a copy that every lane runs"
        "Each thread that executes a bulk copy starts the whole copy again, and completes its bytes again. Elect one \
         lane for it and for its `expect_tx`."
    693 "bytes that nothing expects"
        "A phase of an mbarrier completes when all arrivals have come and the tx-count is zero. Bytes that no \
         `expect_tx` announced are not waited for, and leave a tx-count with which no later phase completes."
    694 "a pair without a peer"
        "`.cta_group::2` works on a pair: two CTAs of a cluster whose ranks differ in the last bit."
    695 "a CTA that the cluster does not have"
        "Bit n of a mask of CTAs, and rank n of `mapa`, is the CTA with that rank in the cluster."
    696 "the parity of a ring"
        "The reader of a stage waits for its first phase, which has parity 0. The producer waits for a free stage and \
         starts with parity 1: on a new mbarrier that wait returns at once. Both flip the parity when the stage wraps \
         to the first, not at every stage."
};
