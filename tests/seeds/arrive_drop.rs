//! `mbarrier.arrive_drop` on the host.

use ptx_dsl::prelude::*;

macro_rules! run {
    ($launch:expr, $n:literal, { $($body:tt)* }) => {{
        let k = ptx!(<sm_90, ptx 8.6, allow(PTX0668)> |d: &mut [u32]| {
            .reg .pred %p, %q;
            .reg .b32 %r<8>;
            .reg .b64 %pd, %rd<8>;
            .shared .align 8 .b64 mb;
            ld.param.u64 %pd, [d];
            $($body)*
        });
        let mut d = [9u32; $n];
        k.launch(&Host::new(), $launch, (&mut d,)).map(|_| d).map_err(|e| e.to_string())
    }};
}

fn one() -> Launch {
    Launch::grid(1).block(1)
}

#[track_caller]
fn faults<T: std::fmt::Debug>(result: Result<T, String>, word: &str) {
    let report = result.expect_err("the kernel must fault");
    assert!(report.contains(word), "`{word}` is not in:\n{report}");
}

#[test]
fn the_count_defaults_to_one_and_lowers_all_subsequent_phases() {
    // 3 expected, one drops: 2 more complete this phase, and 2 each the second and the third.
    let d = run!(one(), 5, {
        mbarrier.init.shared.b64 [mb], 3;
        mbarrier.arrive_drop.shared.b64 %rd0, [mb];
        mbarrier.pending_count.b64 %r0, %rd0;
        st.global.u32 [%pd], %r0;
        mbarrier.arrive.shared.b64 _, [mb], 2;
        mbarrier.test_wait.shared.b64 %p, [mb], %rd0;
        selp.u32 %r0, 1, 0, %p;
        st.global.u32 [%pd + 4], %r0;
        mbarrier.arrive.shared.b64 %rd1, [mb];
        mbarrier.pending_count.b64 %r0, %rd1;
        st.global.u32 [%pd + 8], %r0;
        mbarrier.arrive.shared.b64 _, [mb];
        mbarrier.test_wait.shared.b64 %p, [mb], %rd1;
        selp.u32 %r0, 1, 0, %p;
        st.global.u32 [%pd + 12], %r0;
        mbarrier.arrive.shared.b64 %rd2, [mb];
        mbarrier.pending_count.b64 %r0, %rd2;
        st.global.u32 [%pd + 16], %r0;
    });
    assert_eq!(d.unwrap(), [3, 1, 2, 1, 2]);
}

#[test]
fn expect_tx_comes_first_and_the_count_is_one() {
    // The only arrival would complete the phase, were the bytes not expected before it.
    let d = run!(one(), 2, {
        mbarrier.init.shared.b64 [mb], 1;
        mbarrier.arrive_drop.expect_tx.relaxed.cluster.shared::cta.b64 %rd0, [mb], 8;
        mbarrier.test_wait.shared.b64 %p, [mb], %rd0;
        selp.u32 %r0, 1, 0, %p;
        st.global.u32 [%pd], %r0;
        mbarrier.complete_tx.shared::cta.b64 [mb], 8;
        mbarrier.test_wait.shared.b64 %p, [mb], %rd0;
        selp.u32 %r0, 1, 0, %p;
        st.global.u32 [%pd + 4], %r0;
    });
    assert_eq!(d.unwrap(), [0, 1]);
}

#[test]
fn generic_addresses_and_the_window() {
    let d = run!(one(), 1, {
        mbarrier.init.shared.b64 [mb], 2;
        mov.u64 %rd1, mb;
        cvta.shared.u64 %rd1, %rd1;
        mbarrier.arrive_drop.b64 %rd0, [%rd1];
        mbarrier.pending_count.b64 %r0, %rd0;
        st.global.u32 [%pd], %r0;
    });
    assert_eq!(d.unwrap(), [2]);
    faults(
        run!(one(), 2, { mov.b64 {%r0, %r1}, %pd; mov.b64 %pd, {%r0, %r1}; mbarrier.arrive_drop.b64 _, [%pd]; }),
        "is not",
    );
}

#[test]
fn misuse_is_a_fault() {
    let d = run!(one(), 1, {
        mbarrier.init.shared.b64 [mb], 2;
        mbarrier.arrive_drop.noComplete.shared.b64 _, [mb], 2;
    });
    faults(d, "noComplete");
    let d = run!(one(), 1, {
        mbarrier.init.shared.b64 [mb], 2;
        mov.u32 %r0, 0;
        mbarrier.arrive_drop.shared.b64 _, [mb], %r0;
    });
    faults(d, "count");
    let d = run!(one(), 1, {
        mov.u32 %r1, %tid.x;
        mov.u32 %r0, mb;
        add.u32 %r0, %r0, %r1;
        add.u32 %r0, %r0, 4;
        mbarrier.arrive_drop.shared.b64 _, [%r0];
    });
    faults(d, "multiple of 8");
}
