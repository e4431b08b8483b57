//! 06xx: protocol and flow.

use super::Explanation;

pub(super) const LIST: &[Explanation] = explained! {
    601 "Tensor Memory instruction in a part of a warp"
        "All lanes of a warp issue `tcgen05.alloc`, `dealloc`, `relinquish_alloc_permit`, `ld`, `st` and `wait` \
         together (PTX ISA 9.7.16.5, table 46). Guard them with a condition that is uniform in the warp."
    602 "single-thread instruction executed by a whole warp"
        "A single thread issues `tcgen05.mma`, `cp`, `shift` and `commit` (PTX ISA 9.7.16.5, table 46). If 32 lanes \
         execute one of them, it happens 32 times."
    603 "aligned instruction in divergent code"
        "All lanes of a warp execute `bar` and every `.aligned` instruction together (PTX ISA 9.7.13.1). If the \
         condition depends on the lane, move the barrier out of the branch, or use the form without `.aligned`."
    604 "member mask that does not match the lanes"
        "The mask of a `.sync` instruction names exactly the lanes that execute it (PTX ISA 9.7.13): each of them must \
         be in the mask, and each lane in the mask must execute it."
    605 "load from Tensor Memory that may not have completed"
        "`tcgen05.ld` is asynchronous: its registers are undefined until `tcgen05.wait::ld` (PTX ISA 9.7.16.8)."
    606 "Tensor Memory that stays allocated"
        "A kernel deallocates all of its Tensor Memory before it ends, on every path (PTX ISA 9.7.16.7)."
    607 "allocation after the permit was relinquished"
        "After `tcgen05.relinquish_alloc_permit` the CTA may not allocate again (PTX ISA 9.7.16.7)."
    608 "`dealloc` before the CTAs of a pair have met"
        "With `.cta_group::2` the peer CTA may still use the memory. Synchronise both CTAs before the memory is \
         deallocated (PTX ISA 9.7.16.5, table 48)."
    609 "response that may not have arrived"
        "`clusterlaunchcontrol.try_cancel` is asynchronous: wait on its mbarrier before you read the response (PTX ISA \
         9.7.13.17)."
    610 "response that was not queried"
        "The result of `get_first_ctaid` is defined only if `is_canceled` is true (PTX ISA 9.7.13.18). Otherwise it \
         must not decide a branch or address memory."
    611 "second arrival at the cluster barrier"
        "A thread that has arrived must wait before it arrives again (PTX ISA 9.7.13.3)."
    612 "wait at the cluster barrier without an arrival"
        "A thread can wait only for a phase at which it has arrived (PTX ISA 9.7.13.3)."
    613 "mbarrier used before its initialisation"
        "An mbarrier object must be initialised before any other operation on it (PTX ISA 9.7.13.15)."
    614 "mbarrier initialised by several threads"
        "Exactly one thread of the CTA initialises an mbarrier. One lane of each warp is too many (PTX ISA \
         9.7.13.15.9)."
    615 "barrier that some warps never reach"
        "A barrier without a thread count waits for the whole CTA (PTX ISA 9.7.13.1). Give the number of threads, or \
         let all threads reach the barrier."
    620 "uninitialised register"
        "The value of a register is undefined until it is written (PTX ISA 5.1.1)."
    621 "unreachable instruction"
        "The code before it always branches, returns or exits, and no branch leads here (PTX ISA 9.7.12)."
    622 "guard that never holds"
        "The guard is always false (PTX ISA 9.3), because of constants, value ranges, the number of threads or an \
         earlier branch."
    630 "address of another state space"
        "A register holds the address of a variable in one state space, but the access is generic or in another space \
         (PTX ISA 5.1, 6.4.1). `cvta` converts the address to a generic one, and `cvta.to` converts it back."
    631 "address conversion in the wrong direction"
        "`cvta.space` converts an address in that space to a generic one, and `cvta.to.space` does the reverse (PTX \
         ISA 9.7.9.20)."
    632 "store through a read-only parameter"
        "A kernel may only read the memory behind a parameter whose Rust type is `&[T]`, so that several launches can \
         share it."
    633 "access outside of a variable"
        "The memory next to a variable is undefined (PTX ISA 5.4)."
    634 "misaligned address"
        "An address must be a multiple of the access size (PTX ISA 6.4.1)."
    635 "address in another CTA"
        "`mapa` returns an address in the shared memory of any CTA of the cluster. `.shared::cta` reaches only the \
         executing CTA (PTX ISA 5.1.7)."
};
