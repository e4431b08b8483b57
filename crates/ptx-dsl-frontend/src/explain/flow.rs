//! 06xx: protocol and flow.

use super::{Explanation, module};

/// A kernel of that many threads.
macro_rules! kernel {
    ($threads:literal, $($line:literal),*) => {
        concat!(
            ".version 8.8\n.target sm_100a\n.address_size 64\n\n",
            ".shared .align 16 .b8 sh[64];\n.shared .align 8 .b64 bar;\n.shared .align 16 .b128 answer;\n\n",
            ".visible .entry k(.param .u32 n, .param .u64 .ptr .global .align 4 w)\n.reqntid ", $threads, "\n{\n",
            "    .reg .b32 %r<9>; .reg .b64 %d<5>; .reg .b128 %q; .reg .pred %p<4>;\n",
            $("    ", $line, "\n",)*
            "    ret;\n}"
        )
    };
}

/// A kernel with Rust types.
macro_rules! typed {
    ($parameter:literal) => {
        concat!(
            "<sm_90, ptx 8.6>\n\n.visible .entry k(.param .u64 .ptr .global .align 4 x: ",
            $parameter,
            ")\n{\n",
            "    .reg .b64 %d<3>;\n    ld.param.u64 %d0, [x];\n    cvta.to.global.u64 %d1, %d0;\n",
            "    st.global.u32 [%d1], 1;\n    ret;\n}"
        )
    };
}

/// Two such kernels: lines behind `-` are in the wrong one only, behind `+` in the right one.
macro_rules! pair {
    ($code:literal $title:literal $text:literal $threads:literal; $($line:tt)*) => {
        pair!(@ ($code, $title, $text, $threads) [] [] $($line)*)
    };
    (@ ($code:literal, $title:literal, $text:literal, $threads:literal) [$($w:literal)*] [$($r:literal)*]) => {
        module($code, $title, $text, kernel!($threads, $($w),*), kernel!($threads, $($r),*))
    };
    (@ $head:tt [$($w:literal)*] [$($r:literal)*] - $line:literal $($rest:tt)*) => {
        pair!(@ $head [$($w)* $line] [$($r)*] $($rest)*)
    };
    (@ $head:tt [$($w:literal)*] [$($r:literal)*] + $line:literal $($rest:tt)*) => {
        pair!(@ $head [$($w)*] [$($r)* $line] $($rest)*)
    };
    (@ $head:tt [$($w:literal)*] [$($r:literal)*] $line:literal $($rest:tt)*) => {
        pair!(@ $head [$($w)* $line] [$($r)* $line] $($rest)*)
    };
}

pub(super) const LIST: &[Explanation] = &[
    pair! { 601 "Tensor Memory by a part of a warp"
        "`tcgen05.alloc`, `dealloc`, `relinquish_alloc_permit`, `ld`, `st` and `wait` are issued by all lanes of a warp (PTX ISA 9.7.16.5, table 46). Guard them with a condition that a whole warp shares."
        "32";
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [sh], 64;"
        "bar.sync 0;"
        "ld.shared.u32 %r1, [sh];"
        - "elect.sync _|%p1, 0xffffffff;"
        - "@%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 64;"
        + "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 64;"
    },
    pair! { 602 "an instruction of one thread, run by a warp"
        "`tcgen05.mma`, `cp`, `shift` and `commit` are issued by a single thread (PTX ISA 9.7.16.5, table 46); run by 32 lanes, they happen 32 times."
        "32";
        "mov.u32 %r1, 0;"
        "ld.param.u64 %d1, [w];"
        - "tcgen05.cp.cta_group::1.128x256b [%r1], %d1;"
        + "elect.sync _|%p1, 0xffffffff;"
        + "@%p1 tcgen05.cp.cta_group::1.128x256b [%r1], %d1;"
    },
    pair! { 603 "an aligned instruction where lanes are missing"
        "`bar` and whatever is `.aligned` is run by all lanes of a warp together (PTX ISA 9.7.13.1). Where the condition depends on the lane, put the barrier outside of the branch, or use the form without `.aligned`."
        "128";
        "mov.u32 %r1, %tid.x;"
        "setp.eq.u32 %p1, %r1, 0;"
        - "@%p1 bar.sync 0;"
        + "@%p1 st.shared.u32 [sh], 1;"
        + "bar.sync 0;"
    },
    pair! { 604 "a mask of other lanes"
        "The mask of a `.sync` instruction names exactly the lanes that run it (PTX ISA 9.7.13): each of them must be in it, and each that it names must come."
        "32";
        "mov.u32 %r1, %laneid;"
        "setp.lt.u32 %p1, %r1, 16;"
        - "@%p1 vote.sync.ballot.b32 %r2, %p1, 0xffffffff;"
        + "@%p1 vote.sync.ballot.b32 %r2, %p1, 0xffff;"
    },
    pair! { 605 "registers of a load that has not come"
        "`tcgen05.ld` is asynchronous: its registers hold nothing before `tcgen05.wait::ld` (PTX ISA 9.7.16.8)."
        "32";
        "mov.u32 %r1, 0;"
        "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r2}, [%r1];"
        + "tcgen05.wait::ld.sync.aligned;"
        "st.shared.u32 [sh], %r2;"
        - "tcgen05.wait::ld.sync.aligned;"
    },
    pair! { 606 "Tensor Memory that stays allocated"
        "All Tensor Memory that a kernel allocates is deallocated before it ends (PTX ISA 9.7.16.7), on every path."
        "32";
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [sh], 64;"
        + "bar.sync 0;"
        + "ld.shared.u32 %r1, [sh];"
        + "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 64;"
    },
    pair! { 607 "an allocation without the permit"
        "After `tcgen05.relinquish_alloc_permit` the CTA allocates no more (PTX ISA 9.7.16.7)."
        "32";
        + "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [sh], 64;"
        "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;"
        - "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [sh], 64;"
        "bar.sync 0;"
        "ld.shared.u32 %r1, [sh];"
        "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 64;"
    },
    pair! { 608 "a pair of CTAs that does not meet before `dealloc`"
        "With `.cta_group::2` the other CTA may still use the memory: both meet before it is deallocated (PTX ISA 9.7.16.5, table 48)."
        "32";
        "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [sh], 64;"
        "bar.sync 0;"
        "ld.shared.u32 %r1, [sh];"
        + "barrier.cluster.arrive;"
        + "barrier.cluster.wait;"
        "tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r1, 64;"
    },
    pair! { 609 "a response that has not come"
        "`clusterlaunchcontrol.try_cancel` is asynchronous: wait on its mbarrier before the response is read (PTX ISA 9.7.13.17)."
        "1";
        "mbarrier.init.shared::cta.b64 [bar], 1;"
        "mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [bar], 16;"
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [answer], [bar];"
        + "WAIT:"
        + "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [bar], 0;"
        + "@!%p2 bra WAIT;"
        "ld.shared.b128 %q, [answer];"
        "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %q;"
    },
    pair! { 610 "a response that nobody asked about"
        "`get_first_ctaid` means something only where `is_canceled` says yes (PTX ISA 9.7.13.18). What is decoded elsewhere must not decide anything or address memory."
        "1";
        "mbarrier.init.shared::cta.b64 [bar], 1;"
        "mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [bar], 16;"
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [answer], [bar];"
        "WAIT:"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [bar], 0;"
        "@!%p2 bra WAIT;"
        "ld.shared.b128 %q, [answer];"
        - "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r1, %q;"
        + "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %q;"
        + "@%p1 clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r1, %q;"
    },
    pair! { 611 "two arrivals at the cluster barrier"
        "A thread that has arrived waits before it arrives again (PTX ISA 9.7.13.3)."
        "32";
        - "barrier.cluster.arrive;"
        "barrier.cluster.arrive;"
        "barrier.cluster.wait;"
    },
    pair! { 612 "a wait at the cluster barrier without an arrival"
        "A thread waits for the phase that it has arrived at (PTX ISA 9.7.13.3)."
        "32";
        + "barrier.cluster.arrive;"
        "barrier.cluster.wait;"
    },
    pair! { 613 "an mbarrier before its init"
        "An mbarrier object is initialised before anything else is done with it (PTX ISA 9.7.13.15)."
        "1";
        + "mbarrier.init.shared.b64 [bar], 1;"
        "mbarrier.arrive.shared.b64 %d1, [bar];"
        - "mbarrier.init.shared.b64 [bar], 1;"
    },
    pair! { 614 "an mbarrier that many initialise"
        "One thread of the CTA initialises an mbarrier; one lane of each warp is too many (PTX ISA 9.7.13.15.9)."
        "128";
        - "elect.sync _|%p1, 0xffffffff;"
        + "mov.u32 %r1, %tid.x;"
        + "setp.eq.u32 %p1, %r1, 0;"
        "@%p1 mbarrier.init.shared.b64 [bar], 1;"
        "bar.sync 0;"
    },
    pair! { 615 "a barrier that some warps never come to"
        "Without a number of threads a barrier waits for the whole CTA (PTX ISA 9.7.13.1). Say how many threads come, or let all come."
        "128";
        "mov.u32 %r1, %tid.x;"
        "setp.lt.u32 %p1, %r1, 32;"
        "@!%p1 bra REST;"
        - "bar.sync 0;"
        + "bar.sync 1, 32;"
        "bra LAST;"
        "REST:"
        "st.shared.u32 [sh], 1;"
        "LAST:"
    },
    pair! { 620 "a register that nothing wrote"
        "The value of such a register is anything (PTX ISA 5.1.1)."
        "32";
        + "mov.u32 %r2, 7;"
        "add.u32 %r1, %r2, 1;"
    },
    pair! { 621 "an instruction that nothing leads to"
        "What stands before it always branches, returns or exits, and no label here is a target (PTX ISA 9.7.12)."
        "32";
        + "mov.u32 %r1, 0;"
        "bra LAST;"
        - "mov.u32 %r1, 0;"
        "LAST:"
    },
    pair! { 622 "a guard that never holds"
        "The predicate compares constants (PTX ISA 9.3), so that the instruction never runs."
        "32";
        - "setp.eq.u32 %p1, 1, 2;"
        + "mov.u32 %r1, %tid.x;"
        + "setp.eq.u32 %p1, %r1, 2;"
        "@%p1 st.shared.u32 [sh], 0;"
    },
    pair! { 630 "an address of another state space"
        "A register holds the address of a variable in one state space, and the access is to another, or is generic (PTX ISA 5.1, 6.4.1). `cvta` makes a generic address of one, `cvta.to` the other way."
        "32";
        "mov.u64 %d1, sh;"
        - "ld.global.u32 %r1, [%d1];"
        + "ld.shared.u32 %r1, [%d1];"
        + "cvta.shared.u64 %d2, %d1;"
        + "ld.u32 %r1, [%d2];"
        + "cvta.to.shared.u64 %d3, %d2;"
        + "ld.shared.u32 %r1, [%d3];"
    },
    pair! { 631 "a conversion of an address in the wrong direction"
        "`cvta.space` takes an address in that space and gives a generic one; `cvta.to.space` takes a generic one (PTX ISA 9.7.9.20)."
        "32";
        "mov.u64 %d1, sh;"
        - "cvta.to.shared.u64 %d2, %d1;"
        + "cvta.shared.u64 %d2, %d1;"
    },
    module(
        632,
        "a store through a read-only parameter",
        "A kernel only reads what is behind a parameter whose Rust type is `&[T]`, so that many launches may share it.",
        typed!("&[u32]"),
        typed!("&mut [u32]"),
    ),
    pair! { 633 "an access outside of a variable"
        "What lies next to a variable is not defined (PTX ISA 5.4)."
        "32";
        "mov.u32 %r1, sh;"
        - "ld.shared.u32 %r2, [%r1+64];"
        + "ld.shared.u32 %r2, [%r1+60];"
    },
    pair! { 634 "a misaligned address"
        "An access is aligned to its size (PTX ISA 6.4.1)."
        "32";
        "mov.u32 %r1, sh;"
        - "add.u32 %r2, %r1, 2;"
        + "add.u32 %r2, %r1, 4;"
        "ld.shared.u32 %r3, [%r2];"
    },
    pair! { 635 "an address in another CTA"
        "`mapa` gives an address in the shared memory of any CTA of the cluster, which `.shared::cta` does not reach (PTX ISA 5.1.7)."
        "32";
        + "barrier.cluster.arrive;"
        + "barrier.cluster.wait;"
        "mov.u32 %r1, sh;"
        "mapa.shared::cluster.u32 %r2, %r1, 1;"
        - "ld.shared.u32 %r3, [%r2];"
        + "ld.shared::cluster.u32 %r3, [%r2];"
        + "barrier.cluster.arrive;"
        + "barrier.cluster.wait;"
    },
];
