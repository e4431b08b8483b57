//! Faults of Tensor Memory and its instructions (manual 9.7.16): the statement, the thread, the reason. The mistakes depend on
//! parameters, so that no rule sees them at compile time. (The compiler refuses both values of `.cta_group` in one kernel; the
//! machine's unit tests cover that fault.)

use ptx_dsl::Error;
use ptx_dsl::fault::FaultKind;
use ptx_dsl::prelude::*;

ptx! {
    <sm_100a, ptx 8.6, allow(PTX0601), allow(PTX0602), allow(PTX0603), allow(PTX0604), allow(PTX0605), allow(PTX0606), allow(PTX0607), allow(PTX0608)>

    // A warp that allocates `size` columns, optionally relinquishes the permit, then allocates `more` if not zero. Loads from a
    // lane and a column, deallocates `back` columns and, if `tidy`, the others.
    .visible .entry life(.param .u32 size, .param .u32 relinquish, .param .u32 more, .param .u32 lane, .param .u32 column,
        .param .u32 back, .param .u32 tidy) .reqntid 64
    {
        .reg .pred %p, %again;
        .reg .b32 %n, %more, %taddr, %second, %at, %v, %x;
        .shared .align 4 .b8 where_[8];
        mov.u32 %x, %tid.x;
        setp.ge.u32 %p, %x, 32;
        @%p bra end;
        ld.param.u32 %n, [size];
        tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [where_], %n; // first alloc
        ld.shared.u32 %taddr, [where_];
        ld.param.u32 %x, [relinquish];
        setp.eq.u32 %p, %x, 0;
        @%p bra keep;
        tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
      keep:
        ld.param.u32 %more, [more];
        setp.ne.u32 %again, %more, 0;
        @!%again bra load;
        tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [where_+4], %more; // second alloc
      load:
        ld.param.u32 %x, [lane];
        shl.b32 %x, %x, 16;
        add.u32 %at, %taddr, %x;
        ld.param.u32 %x, [column];
        add.u32 %at, %at, %x;
        tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v}, [%at]; // load
        tcgen05.wait::ld.sync.aligned;
        @!%again bra one;
        ld.shared.u32 %second, [where_+4];
        tcgen05.dealloc.cta_group::1.sync.aligned.b32 %second, %more;
      one:
        ld.param.u32 %x, [tidy];
        setp.eq.u32 %p, %x, 0;
        @%p bra end;
        ld.param.u32 %n, [back];
        tcgen05.dealloc.cta_group::1.sync.aligned.b32 %taddr, %n; // dealloc
      end:
        exit;
    }

    // Lanes below `threads` issue; those from `stay` on exit before the warp deallocates.
    .visible .entry issue(.param .u32 threads, .param .u32 stay, .param .u64 adesc, .param .u64 bdesc, .param .u32 idesc,
        .param .u32 d) .reqntid 32
    {
        .reg .pred %p, %in;
        .reg .b32 %lane, %n, %taddr, %d, %idesc;
        .reg .b64 %a, %b;
        .shared .align 1024 .b8 tile[8192];
        .shared .align 8 .b64 done;
        .shared .align 4 .b32 where_;
        mov.u32 %lane, %laneid;
        tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [where_], 32;
        ld.shared.u32 %taddr, [where_];
        setp.eq.u32 %p, %lane, 0;
        @%p mbarrier.init.shared::cta.b64 [done], 1;
        bar.warp.sync -1;
        ld.param.u32 %n, [threads];
        setp.lt.u32 %in, %lane, %n;
        ld.param.u64 %a, [adesc];
        ld.param.u64 %b, [bdesc];
        ld.param.u32 %idesc, [idesc];
        ld.param.u32 %d, [d];
        add.u32 %d, %d, %taddr;
        setp.ne.u32 %p, %n, 0;
        @!%in bra issued;
        tcgen05.mma.cta_group::1.kind::f16 [%d], %a, %b, %idesc, %p; // mma
        tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];
      issued:
        bar.warp.sync -1;
      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [done], 0;
        @!%p bra wait;
        ld.param.u32 %n, [stay];
        setp.ge.u32 %p, %lane, %n;
        @%p exit;
        tcgen05.dealloc.cta_group::1.sync.aligned.b32 %taddr, 32; // part of a warp
        exit;
    }

    // Rank 1 may exit before rank 0 issues, or before rank 0 deallocates.
    .visible .entry pair(.param .u32 early, .param .u32 late) .reqntid 32
    {
        .reg .pred %p, %odd;
        .reg .b32 %rank, %taddr, %x;
        .reg .b64 %desc;
        .shared .align 1024 .b8 tile[8192];
        .shared .align 8 .b64 done;
        .shared .align 4 .b32 where_;
        mov.u32 %rank, %cluster_ctarank;
        setp.ne.u32 %odd, %rank, 0;
        ld.param.u32 %x, [early];
        setp.ne.and.u32 %p, %x, 0, %odd;
        @%p exit;
        tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [where_], 32; // alloc of a pair
        ld.shared.u32 %taddr, [where_];
        @%odd bra meet;
        mov.u32 %x, %laneid;
        setp.ne.u32 %p, %x, 0;
        @%p bra meet;
        mbarrier.init.shared::cta.b64 [done], 1;
        mov.u64 %desc, 0x0000401000080000;
        tcgen05.cp.cta_group::2.32x128b.warpx4 [%taddr], %desc;
        tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [done];
      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [done], 0;
        @!%p bra wait;
      meet:
        bar.warp.sync -1;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        ld.param.u32 %x, [late];
        setp.ne.and.u32 %p, %x, 0, %odd;
        @%p exit; // the odd one leaves
        tcgen05.dealloc.cta_group::2.sync.aligned.b32 %taddr, 32;
        exit;
    }
}

/// The line of this file that ends with a comment.
fn line(mark: &str) -> u32 {
    let source = include_str!("tcgen05_faults.rs");
    let at = source.lines().position(|l| l.ends_with(&format!("; // {mark}")));
    at.unwrap_or_else(|| panic!("no line `{mark}`")) as u32 + 1
}

/// The fault of a launch, at the marked statement, with its thread.
#[track_caller]
fn fault(result: Result<Report, Error>, mark: &str, thread: u32, cta: u32, words: &str) -> FaultKind {
    let Err(Error::Fault(fault)) = result else { panic!("{mark}: no fault but {result:?}") };
    let at = fault.at.as_ref().unwrap_or_else(|| panic!("{mark}: no statement: {fault}"));
    assert_eq!(at.rust_line, line(mark), "{fault}");
    assert!(at.file.ends_with("tcgen05_faults.rs") && at.line > 0, "{fault}");
    let who = fault.thread.unwrap_or_else(|| panic!("{mark}: no thread: {fault}"));
    assert_eq!((who.tid, who.ctaid), ([thread, 0, 0], [cta, 0, 0]), "{fault}");
    assert!(fault.kind.to_string().contains(words), "`{words}` is not in\n{fault}");
    fault.kind.clone()
}

fn live(args: (u32, u32, u32, u32, u32, u32, u32)) -> Result<Report, Error> {
    life.launch(&Host::new(), Launch::grid(1).block(64), args)
}

#[test]
fn a_life_without_mistakes() {
    live((64, 0, 32, 0, 63, 64, 1)).unwrap();
    live((64, 1, 0, 0, 0, 64, 1)).unwrap();
    let both = |args| live(args).map_err(|e| e.to_string());
    assert_eq!(both((512, 0, 0, 0, 511, 512, 1)).err(), None);
}

#[test]
fn sizes_of_allocations() {
    for (size, words) in [(48, "power of two"), (16, "32"), (0, "32"), (1024, "512")] {
        fault(live((size, 0, 0, 0, 0, size, 1)), "first alloc", 0, 0, words);
    }
    fault(live((32, 0, 64, 0, 0, 32, 1)), "second alloc", 0, 0, "64");
}

#[test]
fn allocation_after_giving_up_the_right_to_it() {
    fault(live((64, 1, 32, 0, 0, 64, 1)), "second alloc", 0, 0, "relinquish_alloc_permit");
}

#[test]
fn lanes_of_other_warps_and_columns_of_nobody() {
    fault(live((32, 0, 0, 32, 0, 32, 1)), "load", 0, 0, "lane");
    fault(live((32, 0, 0, 0, 32, 32, 1)), "load", 0, 0, "column");
    fault(live((32, 0, 0, 0, 600, 32, 1)), "load", 0, 0, "column");
}

#[test]
fn what_is_given_back() {
    fault(live((64, 0, 0, 0, 0, 32, 1)), "dealloc", 0, 0, "32");
    fault(live((64, 0, 0, 0, 0, 128, 1)), "dealloc", 0, 0, "128");
    fault(live((64, 0, 0, 0, 0, 64, 0)), "first alloc", 0, 0, "exits without deallocating the 64 columns");
}

/// A and B without swizzling, at the start of shared memory.
const SHARED: u64 = 0x0000_4010_0008_0000;
/// f16 to f32, M = 128, N = 8.
const F16: u32 = 1 << 4 | 1 << 17 | 8 << 24;

fn multiply(threads: u32, stay: u32, a: u64, b: u64, idesc: u32, d: u32) -> Result<Report, Error> {
    issue.launch(&Host::new(), Launch::grid(1).block(32), (threads, stay, a, b, idesc, d))
}

#[test]
fn who_issues() {
    multiply(1, 32, SHARED, SHARED, F16, 0).unwrap();
    for threads in [2, 32] {
        let kind =
            fault(multiply(threads, 32, SHARED, SHARED, F16, 0), "mma", 0, 0, "each issues an operation of its own");
        assert!(matches!(kind, FaultKind::IssueGranularity { .. }));
    }
    let kind = fault(multiply(1, 31, SHARED, SHARED, F16, 0), "part of a warp", 0, 0, "exited");
    assert!(matches!(kind, FaultKind::IssueGranularity { .. }));
}

#[test]
fn descriptors_name_their_fields() {
    for (a, b, idesc, name) in [
        (SHARED, SHARED, F16 | 1 << 6, "reserved bit 6"),
        (SHARED, SHARED, F16 | 4, "sparsity (bit 2)"),
        (SHARED, SHARED, F16 | 5 << 7, "type of A (bits 7-9)"),
        (SHARED, SHARED, F16 | 5 << 10, "type of B (bits 10-12)"),
        (SHARED, SHARED, F16 | 3 << 4, "type of D (bits 4-5)"),
        (SHARED, SHARED, F16 & !(63 << 17), "N (bits 17-22)"),
        (SHARED, SHARED, F16 | 1 << 24, "M (bits 24-28)"),
        (SHARED | 3 << 61, SHARED, F16, "swizzling mode (bits 61-63)"),
        (SHARED, SHARED | 7 << 61, F16, "swizzling mode (bits 61-63)"),
        (SHARED & !(7 << 46), SHARED, F16, "fixed constant (bits 46-48)"),
        (SHARED, SHARED | 1 << 54, F16, "fixed constant (bits 53-60)"),
        (SHARED | 1 << 52, SHARED, F16, "leading dimension stride mode (bit 52)"),
        (SHARED | 1 << 15, SHARED, F16, "start address (bits 0-14)"),
    ] {
        let kind = fault(multiply(1, 32, a, b, idesc, 0), "mma", 0, 0, name);
        let FaultKind::Descriptor { field, .. } = kind else { panic!("{name}: {kind:?}") };
        assert!(field.starts_with(name), "{field}, not {name}");
    }
}

#[test]
fn accumulators_out_of_place() {
    fault(multiply(1, 32, SHARED, SHARED, F16, 16 << 16), "mma", 0, 0, "lane 16");
    fault(multiply(1, 32, SHARED, SHARED, F16, 28), "mma", 0, 0, "column");
    // B begins past the end of shared memory
    let kind = fault(multiply(1, 32, SHARED, SHARED | 0x3fff, F16, 0), "mma", 0, 0, "out of bounds");
    assert!(matches!(kind, FaultKind::MatrixOutOfBounds(_)));
}

#[test]
fn the_peer_is_gone() {
    let launch = |args: (u32, u32)| pair.launch(&Host::new(), Launch::grid(2).cluster(2).block(32), args);
    launch((0, 0)).unwrap();
    let kind = fault(launch((1, 0)), "alloc of a pair", 0, 0, "peer");
    assert!(matches!(kind, FaultKind::IssueGranularity { .. }));
    let Err(Error::Fault(fault)) = launch((0, 1)) else { panic!("no fault") };
    assert!(matches!(fault.kind, FaultKind::IssueGranularity { .. } | FaultKind::TensorMemory { .. }), "{fault}");
    // alone there is no peer at all
    let alone = pair.launch(&Host::new(), Launch::grid(1).block(32), (0, 0));
    let Err(Error::Fault(fault)) = alone else { panic!("no fault") };
    assert!(matches!(fault.kind, FaultKind::IssueGranularity { .. }), "{fault}");
    assert_eq!(fault.at.as_ref().map(|at| at.rust_line), Some(line("alloc of a pair")));
}
