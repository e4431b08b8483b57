//! `cp.async`: groups, zero fill, arrivals at mbarrier objects; when the copies are visible, and what is reported.

use ptx_dsl::Error;
use ptx_dsl::fault::FaultKind;
use ptx_dsl::prelude::*;

use super::everywhere::everywhere;

ptx! {
    <sm_90, ptx 8.0, allow(PTX0648, PTX0650)>

    // Each thread copies `n` pieces of 16 bytes, four stages ahead, and adds up the words of what its neighbour has copied.
    .visible .entry pipeline(
        .param .u64 .ptr .global .align 16 x: &[u32],
        .param .u64 .ptr .global .align 4 sums: &mut [u32],
        .param .u32 n) .reqntid 64
    {
        .reg .pred %p, %q;
        .reg .b32 %t, %i, %n, %at, %to, %v<4>, %sum, %ahead, %stage, %other;
        .reg .b64 %x, %sums, %o, %from;
        .shared .align 16 .b8 ring[4096];

        mov.u32 %t, %tid.x;
        ld.param.u64 %x, [x];
        ld.param.u32 %n, [n];
        mul.wide.u32 %o, %t, 16;
        add.u64 %x, %x, %o;
        mov.u32 %at, ring;
        mov.u32 %i, 0;
      prologue:
        // stages 0 to 2
        setp.lt.u32 %p, %i, %n;
        mul.wide.u32 %o, %i, 1024;
        add.u64 %from, %x, %o;
        mad.lo.u32 %to, %i, 1024, %at;
        mad.lo.u32 %to, %t, 16, %to;
        @%p cp.async.cg.shared.global [%to], [%from], 16;
        cp.async.commit_group;
        add.u32 %i, %i, 1;
        setp.lt.u32 %q, %i, 3;
        @%q bra prologue;
        mov.u32 %i, 0;
        mov.u32 %sum, 0;
      loop:
        cp.async.wait_group 2;
        bar.sync 0;
        and.b32 %stage, %i, 3;
        mad.lo.u32 %to, %stage, 1024, %at;
        xor.b32 %other, %t, 33;
        mad.lo.u32 %to, %other, 16, %to;
        ld.shared.v4.u32 {%v0, %v1, %v2, %v3}, [%to];
        add.u32 %v0, %v0, %v1;
        add.u32 %v2, %v2, %v3;
        add.u32 %v0, %v0, %v2;
        add.u32 %stage, %i, 1;
        mad.lo.u32 %sum, %v0, %stage, %sum;
        // the stage that everybody has read before the barrier
        add.u32 %ahead, %i, 3;
        setp.lt.u32 %p, %ahead, %n;
        and.b32 %stage, %ahead, 3;
        mul.wide.u32 %o, %ahead, 1024;
        add.u64 %from, %x, %o;
        mad.lo.u32 %to, %stage, 1024, %at;
        mad.lo.u32 %to, %t, 16, %to;
        @%p cp.async.cg.shared.global.L2::128B [%to], [%from], 16;
        cp.async.commit_group;
        add.u32 %i, %i, 1;
        setp.lt.u32 %q, %i, %n;
        @%q bra loop;
        cp.async.wait_all;
        ld.param.u64 %sums, [sums];
        mul.wide.u32 %o, %t, 4;
        add.u64 %sums, %sums, %o;
        st.global.u32 [%sums], %sum;
        ret;
    }

    // Copies of 4, 8 and 16 bytes, of which `given` are read, or none in lanes with an odd number.
    .visible .entry zero_fill(
        .param .u64 .ptr .global .align 16 x: &[u8],
        .param .u64 .ptr .global .align 16 out: &mut [u8],
        .param .u32 given4, .param .u32 given16) .reqntid 32
    {
        .reg .pred %odd;
        .reg .b32 %t, %at, %given, %v<4>, %bit;
        .reg .b64 %x, %out, %o, %from;
        .shared .align 16 .b8 tile[1536];

        mov.u32 %t, %tid.x;
        mov.u32 %at, tile;
        mad.lo.u32 %at, %t, 48, %at;
        st.shared.v4.u32 [%at], {-1, -1, -1, -1};
        st.shared.v4.u32 [%at+16], {-1, -1, -1, -1};
        st.shared.v4.u32 [%at+32], {-1, -1, -1, -1};
        ld.param.u64 %x, [x];
        mul.wide.u32 %o, %t, 48;
        add.u64 %from, %x, %o;
        ld.param.u32 %given, [given4];
        cp.async.ca.shared::cta.global [%at], [%from], 4, %given;
        and.b32 %bit, %t, 1;
        setp.ne.u32 %odd, %bit, 0;
        cp.async.ca.shared.global [%at+8], [%from+8], 8, %odd;
        ld.param.u32 %given, [given16];
        cp.async.cg.shared.global [%at+16], [%from+16], 16, %given;
        cp.async.ca.shared.global [%at+32], [%from+32], 16;
        cp.async.wait_all;
        ld.param.u64 %out, [out];
        add.u64 %out, %out, %o;
        ld.shared.v4.u32 {%v0, %v1, %v2, %v3}, [%at];
        st.global.v4.u32 [%out], {%v0, %v1, %v2, %v3};
        ld.shared.v4.u32 {%v0, %v1, %v2, %v3}, [%at+16];
        st.global.v4.u32 [%out+16], {%v0, %v1, %v2, %v3};
        ld.shared.v4.u32 {%v0, %v1, %v2, %v3}, [%at+32];
        st.global.v4.u32 [%out+32], {%v0, %v1, %v2, %v3};
        ret;
    }

    // Warp 0 copies, warp 1 waits for the phase: 32 arrivals with `.noinc`, or one of a thread beside 32 that cancel out.
    .visible .entry arrivals(
        .param .u64 .ptr .global .align 4 x: &[u32],
        .param .u64 .ptr .global .align 4 out: &mut [u32],
        .param .u32 noinc) .reqntid 64
    {
        .reg .pred %p, %first, %noinc;
        .reg .b32 %t, %w, %at, %n, %v, %mode;
        .reg .b64 %x, %out, %o;
        .shared .align 4 .b32 tile[32];
        .shared .align 8 .b64 full;

        mov.u32 %t, %tid.x;
        setp.eq.u32 %first, %t, 0;
        ld.param.u32 %mode, [noinc];
        setp.ne.u32 %noinc, %mode, 0;
        selp.u32 %n, 32, 1, %noinc;
        @%first mbarrier.init.shared::cta.b64 [full], %n;
        bar.sync 0;
        and.b32 %w, %t, 31;
        mul.wide.u32 %o, %w, 4;
        mov.u32 %at, tile;
        mad.lo.u32 %at, %w, 4, %at;
        setp.ge.u32 %p, %t, 32;
        @%p bra consumer;
        ld.param.u64 %x, [x];
        add.u64 %x, %x, %o;
        cp.async.ca.shared.global [%at], [%x], 4;
        @%noinc bra without;
        cp.async.mbarrier.arrive.shared::cta.b64 [full];
        bar.warp.sync -1;
        @%first mbarrier.arrive.shared::cta.b64 _, [full];
        bra end;
      without:
        cp.async.mbarrier.arrive.noinc.shared::cta.b64 [full];
        bra end;
      consumer:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [full], 0;
        @!%p bra consumer;
        ld.shared.u32 %v, [%at];
        ld.param.u64 %out, [out];
        add.u64 %out, %out, %o;
        st.global.u32 [%out], %v;
      end:
        bar.sync 0;
        ret;
    }

    // What a thread reads before it waits, with one group pending, and at the end. `late`: it waits at the end.
    .visible .entry early(
        .param .u64 .ptr .global .align 4 x: &[u32],
        .param .u64 .ptr .global .align 4 out: &mut [u32],
        .param .u32 late) .reqntid 1
    {
        .reg .pred %p;
        .reg .b32 %v, %late;
        .reg .b64 %x, %out;
        .shared .align 4 .b32 tile[2];
        st.shared.u32 [tile], 7;
        st.shared.u32 [tile+4], 7;
        ld.param.u64 %x, [x];
        ld.param.u64 %out, [out];
        cp.async.ca.shared.global [tile], [%x], 4;
        cp.async.commit_group;
        cp.async.ca.shared.global [tile+4], [%x+4], 4;
        cp.async.commit_group;
        ld.shared.u32 %v, [tile];
        st.global.u32 [%out], %v;
        cp.async.wait_group 1;
        ld.shared.u32 %v, [tile];
        st.global.u32 [%out+4], %v;
        ld.shared.u32 %v, [tile+4];
        st.global.u32 [%out+8], %v;
        ld.param.u32 %late, [late];
        setp.eq.u32 %p, %late, 0;
        @%p ret;
        cp.async.wait_group 0;
        ld.shared.u32 %v, [tile+4];
        st.global.u32 [%out+12], %v;
        ret;
    }

    // Two warps exchange what they copy, twice. `missing`: without the barrier after the wait (1), or before the next copy (2), or
    // with that one after the start of the copy (3).
    .visible .entry shares(
        .param .u64 .ptr .global .align 4 x: &[u32],
        .param .u64 .ptr .global .align 4 out: &mut [u32],
        .param .u32 missing) .reqntid 64
    {
        .reg .pred %first, %second, %late, %p;
        .reg .b32 %t, %other, %at, %v, %missing, %left;
        .reg .b64 %x, %out;
        .shared .align 4 .b32 tile[64];
        mov.u32 %t, %tid.x;
        xor.b32 %other, %t, 32;
        mov.u32 %at, tile;
        mad.lo.u32 %other, %other, 4, %at;
        mad.lo.u32 %at, %t, 4, %at;
        ld.param.u64 %x, [x];
        mad.wide.u32 %x, %t, 4, %x;
        ld.param.u64 %out, [out];
        mad.wide.u32 %out, %t, 4, %out;
        ld.param.u32 %missing, [missing];
        setp.ne.u32 %first, %missing, 1;
        setp.lt.u32 %second, %missing, 2;
        setp.eq.u32 %late, %missing, 3;
        mov.u32 %left, 2;
      again:
        cp.async.ca.shared.global [%at], [%x], 4;
        @%late bar.sync 0;
        cp.async.wait_all;
        @%first bar.sync 0;
        ld.shared.u32 %v, [%other];
        @%second bar.sync 0;
        st.global.u32 [%out], %v;
        add.u64 %x, %x, 256;
        add.u64 %out, %out, 256;
        sub.u32 %left, %left, 1;
        setp.ne.u32 %p, %left, 0;
        @%p bra again;
        ret;
    }

    // Ends without a wait.
    .visible .entry leaves(.param .u64 .ptr .global .align 4 x: &[u32]) .reqntid 1
    {
        .reg .b64 %x;
        .shared .align 4 .b32 tile;
        ld.param.u64 %x, [x];
        cp.async.ca.shared.global [tile], [%x], 4;
        ret;
    }

    // One copy, of any place and size.
    .visible .entry one(
        .param .u64 .ptr .global .align 4 x: &[u8], .param .u32 from, .param .u32 to, .param .u32 given) .reqntid 1
    {
        .reg .b32 %at, %to, %given;
        .reg .b64 %x, %from;
        .shared .align 16 .b8 tile[64];
        ld.param.u64 %x, [x];
        ld.param.u32 %at, [from];
        cvt.u64.u32 %from, %at;
        add.u64 %x, %x, %from;
        mov.u32 %at, tile;
        ld.param.u32 %to, [to];
        add.u32 %at, %at, %to;
        ld.param.u32 %given, [given];
        cp.async.cg.shared.global [%at], [%x], 16, %given;
        cp.async.wait_all;
        ret;
    }
}

#[test]
fn a_pipeline_of_groups_sums_what_its_neighbours_copy() {
    let n = 9;
    let x: Vec<u32> = (0..n * 256).map(|i| i * 7 + 3).collect();
    let expected: Vec<u32> = (0..64u32)
        .map(|t| {
            let other = (t ^ 33) as usize;
            let sum = |i: usize| (0..4).map(|k| x[i * 256 + other * 4 + k]).sum::<u32>();
            (0..n as usize).map(|i| sum(i) * (i as u32 + 1)).sum()
        })
        .collect();
    everywhere!(host => {
        let mut sums = [0; 64];
        pipeline.launch(&host, Launch::grid(1).block(64), (&x, &mut sums, n)).unwrap();
        assert_eq!(sums.to_vec(), expected);
    });
}

#[test]
fn bytes_that_are_not_given_are_zeros() {
    let x: Vec<u8> = (0..1536).map(|i| (i % 251) as u8 + 1).collect();
    for (given4, given16) in [(0, 0), (4, 16), (3, 9), (1, 12)] {
        let mut expected = vec![0xff; 1536];
        for t in 0..32 {
            let at = 48 * t;
            let mut copy = |from: usize, bytes: usize, given: usize| {
                expected[from..from + bytes].fill(0);
                expected[from..from + given].copy_from_slice(&x[from..from + given]);
            };
            copy(at, 4, given4);
            copy(at + 8, 8, if t % 2 == 1 { 0 } else { 8 });
            copy(at + 16, 16, given16);
            copy(at + 32, 16, 16);
        }
        everywhere!(host => {
            let mut out = vec![0; 1536];
            let given = (given4 as u32, given16 as u32);
            zero_fill.launch(&host, Launch::grid(1).block(32), (&x, &mut out, given.0, given.1)).unwrap();
            assert_eq!(out, expected, "{given:?}");
        });
    }
}

#[test]
fn an_mbarrier_tracks_copies() {
    let x: Vec<u32> = (0..32).map(|i| i * i).collect();
    for noinc in [0, 1] {
        everywhere!(host => {
            let mut out = vec![0; 32];
            arrivals.launch(&host, Launch::grid(1).block(64), (&x, &mut out, noinc)).unwrap();
            assert_eq!(out, x);
        });
    }
}

#[test]
fn nothing_is_visible_before_somebody_waits() {
    let mut out = [0; 4];
    early.launch(&Host::new(), Launch::grid(1).block(1), (&[1, 2], &mut out, 1)).unwrap();
    assert_eq!(out, [7, 1, 7, 2], "the plain host completes copies as late as it can");
    // with a seed each copy completes at some time
    let (mut first, mut second) = ([false; 2], [false; 2]);
    for seed in 0..200 {
        let mut out = [0; 4];
        early.launch(&Host::new().seed(seed), Launch::grid(1).block(1), (&[1, 2], &mut out, 1)).unwrap();
        assert_eq!((out[1], out[3]), (1, 2));
        first[usize::from(out[0] == 1)] = true;
        second[usize::from(out[2] == 2)] = true;
        assert!([1, 7].contains(&out[0]) && [2, 7].contains(&out[2]));
    }
    assert_eq!(second, [true; 2]);
}

#[test]
fn a_read_before_the_wait_is_reported_by_the_checked_host() {
    let mut out = [0; 4];
    let result = early.launch(&Host::checked(), Launch::grid(1).block(1), (&[1, 2], &mut out, 1));
    let Err(Error::Fault(fault)) = result else { panic!("{result:?}") };
    let text = fault.to_string();
    assert!(
        text.contains(
            "nothing orders this load of 4 bytes at byte 0 of `tile` (shared address 0x0) and an asynchronous store"
        ) && text.contains("`cp.async.ca.shared.global [tile], [%x], 4;`"),
        "{text}"
    );
}

/// A wait orders the copies of its own thread only.
#[test]
fn threads_that_share_copies_need_barriers() {
    let x: Vec<u32> = (0..128).collect();
    for (missing, lines) in [
        (0, None),
        (1, Some(("ld.shared.u32 %v", "cp.async"))),
        (2, Some(("cp.async", "ld.shared.u32 %v"))),
        (3, Some(("cp.async", "ld.shared.u32 %v"))),
    ] {
        let mut out = [0; 128];
        let result = shares.launch(&Host::checked(), Launch::grid(1), (&x, &mut out, missing));
        let Some((here, there)) = lines else {
            result.unwrap();
            let other = |t: u32| 64 * (t / 64) + ((t % 64) ^ 32);
            assert_eq!(out.to_vec(), (0..128).map(other).collect::<Vec<_>>());
            continue;
        };
        let Err(Error::Fault(fault)) = result else { panic!("{missing}: {result:?}") };
        let FaultKind::DataRace(race) = &fault.kind else { panic!("{missing}: {fault}") };
        let (at, other) = (fault.at.as_ref().unwrap(), race.other.at.as_ref().unwrap());
        assert!(at.text.starts_with(here) && other.text.starts_with(there), "{missing}: {fault}");
    }
}

#[test]
fn a_cta_that_ends_before_its_copies_is_reported_by_the_checked_host() {
    leaves.launch(&Host::new(), Launch::grid(3), (&[1],)).unwrap();
    let result = leaves.launch(&Host::checked(), Launch::grid(3), (&[1],));
    let Err(Error::Fault(fault)) = result else { panic!("{result:?}") };
    let text = fault.to_string();
    assert!(text.contains("ends while this copy to its shared memory is in flight"), "{text}");
    assert!(text.contains("cp.async.ca.shared.global [tile]") && text.contains("9.7.9.25.3.3"), "{text}");
}

#[test]
fn bad_copies_are_faults() {
    let x = [0u8; 32];
    let run = |from, to, given| match one.launch(&Host::new(), Launch::grid(1).block(1), (&x, from, to, given)) {
        Ok(_) => None,
        Err(Error::Fault(fault)) => Some(fault.kind),
        Err(other) => panic!("{other}"),
    };
    assert_eq!(run(16, 48, 16), None);
    assert_eq!(run(24, 48, 0), None, "nothing is read");
    assert!(matches!(run(0, 8, 16), Some(FaultKind::Misaligned { space: "shared", align: 16, .. })));
    assert!(matches!(run(8, 0, 16), Some(FaultKind::Misaligned { space: "global", align: 16, .. })));
    assert!(matches!(run(32, 0, 16), Some(FaultKind::OutOfBounds { space: "global", bytes: 16, size: 32, .. })));
    assert!(matches!(run(0, 64, 16), Some(FaultKind::OutOfBounds { space: "shared", .. })));
    assert!(matches!(run(0, 0, 17), Some(FaultKind::Undefined { section: "9.7.9.25.3.1", .. })));
}
