//! Phases of an mbarrier object, operation by operation, compared with the parities that an H200 reported after each.

use ptx_dsl::prelude::*;

/// An operation: its code in the kernel, and its count.
type Op = (u32, u32);

const fn init(count: u32) -> Op {
    (0, count)
}
const fn arrive(count: u32) -> Op {
    (1, count)
}
const fn drop(count: u32) -> Op {
    (2, count)
}
const fn expect(bytes: u32) -> Op {
    (3, bytes)
}
const fn complete(bytes: u32) -> Op {
    (4, bytes)
}
const fn arrive_expect(bytes: u32) -> Op {
    (5, bytes)
}
const fn drop_expect(bytes: u32) -> Op {
    (6, bytes)
}

ptx! {
    <sm_90, ptx 8.6, allow(PTX0613), allow(PTX0614), allow(PTX0642), allow(PTX0663)>

    // Runs `n` operations on one object and records which parities are complete after each: bit 0 for 0, bit 1 for 1.
    .visible .entry operations(
        .param .u64 .ptr .global .align 8 ops: &[[u32; 2]],
        .param .u64 .ptr .global .align 4 out: &mut [u32],
        .param .u32 n
    ) .reqntid 1, 1, 1
    {
        .reg .pred %is, %even, %odd, %more;
        .reg .b32 %op, %count, %seen, %bit, %n;
        .reg .b64 %ops, %out;
        .shared .align 8 .b64 bar;
        ld.param.u64 %ops, [ops];
        ld.param.u64 %out, [out];
        ld.param.u32 %n, [n];
      next:
        ld.global.v2.b32 {%op, %count}, [%ops];
        setp.eq.u32 %is, %op, 0;
        @%is mbarrier.init.shared.b64 [bar], %count;
        setp.eq.u32 %is, %op, 1;
        @%is mbarrier.arrive.shared.b64 _, [bar], %count;
        setp.eq.u32 %is, %op, 2;
        @%is mbarrier.arrive_drop.shared.b64 _, [bar], %count;
        setp.eq.u32 %is, %op, 3;
        @%is mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], %count;
        setp.eq.u32 %is, %op, 4;
        @%is mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], %count;
        setp.eq.u32 %is, %op, 5;
        @%is mbarrier.arrive.expect_tx.shared.b64 _, [bar], %count;
        setp.eq.u32 %is, %op, 6;
        @%is mbarrier.arrive_drop.expect_tx.shared.b64 _, [bar], %count;
        mbarrier.test_wait.parity.shared.b64 %even, [bar], 0;
        mbarrier.test_wait.parity.shared.b64 %odd, [bar], 1;
        selp.u32 %seen, 1, 0, %even;
        selp.u32 %bit, 2, 0, %odd;
        or.b32 %seen, %seen, %bit;
        st.global.u32 [%out], %seen;
        add.u64 %ops, %ops, 8;
        add.u64 %out, %out, 4;
        sub.u32 %n, %n, 1;
        setp.ne.u32 %more, %n, 0;
        @%more bra next;
        ret;
    }
}

fn run(ops: &[Op]) -> Result<Vec<u32>, ptx_dsl::Error> {
    let given: Vec<[u32; 2]> = ops.iter().map(|&(op, count)| [op, count]).collect();
    let mut out = vec![7; ops.len()];
    operations.launch(&Host::new(), Launch::grid(1).block(1), (&given[..], &mut out, ops.len() as u32))?;
    Ok(out)
}

/// When the expected count is zero, whatever leaves the tx-count at zero still completes a phase.
#[test]
fn phases_are_those_of_an_h200() {
    // The phase of parity 0, or that of parity 1, is the one before the current phase.
    const EVEN: u32 = 1;
    const ODD: u32 = 2;
    #[rustfmt::skip]
    let table: &[(&[Op], &[u32])] = &[
        (&[init(2), arrive(1), arrive(1), arrive(2)], &[ODD, ODD, EVEN, ODD]),
        (&[init(1), expect(16), arrive(1), complete(16), complete(16), expect(16)], &[ODD, ODD, ODD, EVEN, EVEN, EVEN]),
        (&[init(1), expect(0), complete(0), arrive(1)], &[ODD, ODD, ODD, EVEN]),
        (&[init(1), complete(16), drop(1), expect(16), complete(0)], &[ODD, ODD, ODD, EVEN, ODD]),
        (&[init(1), expect(16), drop(1), complete(16), expect(16), complete(16)], &[ODD, ODD, ODD, EVEN, EVEN, ODD]),
        (&[init(1), drop(1), expect(16), complete(16), expect(32), complete(16), complete(16)],
            &[ODD, EVEN, EVEN, ODD, ODD, ODD, EVEN]),
        (&[init(1), drop(1), complete(16), expect(16), complete(16), expect(16)], &[ODD, EVEN, EVEN, ODD, ODD, EVEN]),
        (&[init(1), drop(1), expect(0), complete(0)], &[ODD, EVEN, ODD, EVEN]),
        (&[init(1), drop(1), complete(0), expect(0), expect(16), expect(0), complete(16)],
            &[ODD, EVEN, ODD, EVEN, EVEN, EVEN, ODD]),
        (&[init(1), drop(1), expect(100), expect(50), complete(150), complete(7), expect(7)],
            &[ODD, EVEN, EVEN, EVEN, ODD, ODD, EVEN]),
        (&[init(1), drop_expect(16), complete(16), expect(16), complete(16)], &[ODD, ODD, EVEN, EVEN, ODD]),
        (&[init(1), drop_expect(0), expect(0)], &[ODD, EVEN, ODD]),
        (&[init(2), drop(2), expect(8), complete(8)], &[ODD, EVEN, EVEN, ODD]),
        (&[init(2), drop(1), arrive(1), arrive(1), drop(1), expect(8), complete(8)],
            &[ODD, ODD, EVEN, ODD, EVEN, EVEN, ODD]),
        (&[init(2), drop_expect(16), arrive(1), complete(16), expect(16), arrive(1), complete(16)],
            &[ODD, ODD, ODD, EVEN, EVEN, EVEN, ODD]),
    ];
    for (ops, seen) in table {
        assert_eq!(run(ops).unwrap_or_else(|e| panic!("{e}")), *seen, "{ops:?}");
    }
}

/// The launch fails on an H200.
#[test]
fn nobody_arrives_where_nothing_is_expected() {
    for last in [arrive(1), drop(1), arrive_expect(16)] {
        let report = run(&[init(1), drop(1), last]).unwrap_err().to_string();
        assert!(report.contains("note: PTX ISA 9.7.13.15.14"), "{last:?}: {report}");
    }
}
