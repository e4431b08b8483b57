//! 06xx: protocol and flow.

use super::Explanation;

pub(super) const LIST: &[Explanation] = explained! {
    601 "Tensor Memory by a part of a warp"
        "`tcgen05.alloc`, `dealloc`, `relinquish_alloc_permit`, `ld`, `st` and `wait` are issued by all lanes of a \
         warp (PTX ISA 9.7.16.5, table 46). Guard them with a condition that a whole warp shares."
    602 "an instruction of one thread, run by a warp"
        "`tcgen05.mma`, `cp`, `shift` and `commit` are issued by a single thread (PTX ISA 9.7.16.5, table 46); run by \
         32 lanes, they happen 32 times."
    603 "an aligned instruction where lanes are missing"
        "`bar` and whatever is `.aligned` is run by all lanes of a warp together (PTX ISA 9.7.13.1). Where the \
         condition depends on the lane, put the barrier outside of the branch, or use the form without `.aligned`."
    604 "a mask of other lanes"
        "The mask of a `.sync` instruction names exactly the lanes that run it (PTX ISA 9.7.13): each of them must be \
         in it, and each that it names must come."
    605 "registers of a load that has not come"
        "`tcgen05.ld` is asynchronous: its registers hold nothing before `tcgen05.wait::ld` (PTX ISA 9.7.16.8)."
    606 "Tensor Memory that stays allocated"
        "All Tensor Memory that a kernel allocates is deallocated before it ends (PTX ISA 9.7.16.7), on every path."
    607 "an allocation without the permit"
        "After `tcgen05.relinquish_alloc_permit` the CTA allocates no more (PTX ISA 9.7.16.7)."
    608 "a pair of CTAs that does not meet before `dealloc`"
        "With `.cta_group::2` the other CTA may still use the memory: both meet before it is deallocated (PTX ISA \
         9.7.16.5, table 48)."
    609 "a response that has not come"
        "`clusterlaunchcontrol.try_cancel` is asynchronous: wait on its mbarrier before the response is read (PTX ISA \
         9.7.13.17)."
    610 "a response that nobody asked about"
        "`get_first_ctaid` means something only where `is_canceled` says yes (PTX ISA 9.7.13.18). What is decoded \
         elsewhere must not decide anything or address memory."
    611 "two arrivals at the cluster barrier"
        "A thread that has arrived waits before it arrives again (PTX ISA 9.7.13.3)."
    612 "a wait at the cluster barrier without an arrival"
        "A thread waits for the phase that it has arrived at (PTX ISA 9.7.13.3)."
    613 "an mbarrier before its init"
        "An mbarrier object is initialised before anything else is done with it (PTX ISA 9.7.13.15)."
    614 "an mbarrier that many initialise"
        "One thread of the CTA initialises an mbarrier; one lane of each warp is too many (PTX ISA 9.7.13.15.9)."
    615 "a barrier that some warps never come to"
        "Without a number of threads a barrier waits for the whole CTA (PTX ISA 9.7.13.1). Say how many threads come, \
         or let all come."
    620 "a register that nothing wrote"
        "The value of such a register is anything (PTX ISA 5.1.1)."
    621 "an instruction that nothing leads to"
        "What stands before it always branches, returns or exits, and no label here is a target (PTX ISA 9.7.12)."
    622 "a guard that never holds"
        "The predicate compares constants (PTX ISA 9.3), so that the instruction never runs."
    630 "an address of another state space"
        "A register holds the address of a variable in one state space, and the access is to another, or is generic \
         (PTX ISA 5.1, 6.4.1). `cvta` makes a generic address of one, `cvta.to` the other way."
    631 "a conversion of an address in the wrong direction"
        "`cvta.space` takes an address in that space and gives a generic one; `cvta.to.space` takes a generic one \
         (PTX ISA 9.7.9.20)."
    632 "a store through a read-only parameter"
        "A kernel only reads what is behind a parameter whose Rust type is `&[T]`, so that many launches may share \
         it."
    633 "an access outside of a variable"
        "What lies next to a variable is not defined (PTX ISA 5.4)."
    634 "a misaligned address"
        "An access is aligned to its size (PTX ISA 6.4.1)."
    635 "an address in another CTA"
        "`mapa` gives an address in the shared memory of any CTA of the cluster, which `.shared::cta` does not reach \
         (PTX ISA 5.1.7)."
};
