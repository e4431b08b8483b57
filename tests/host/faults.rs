//! Undefined behaviour and hangs give a report with the statement and the thread.

use ptx_dsl::fault::FaultKind;
use ptx_dsl::prelude::*;

/// Runs a body on one thread and returns the report.
macro_rules! fault {
    ($header_sm:ident, $launch:expr, { $($body:tt)* }) => {{
        let k = ptx!(<$header_sm, ptx 8.6, allow(PTX0610, PTX0668, PTX0674, PTX0677)> |d: &mut [u32]| {
            .reg .pred %p, %q;
            .reg .b32 %r<8>;
            .reg .b64 %pd, %rd<8>;
            .reg .b128 %rq;
            .shared .align 16 .b8 buf[32];
            .shared .align 8 .b64 mb;
            ld.param.u64 %pd, [d];
            $($body)*
        });
        let mut d = [0u32; 8];
        k.launch(&Host::new(), $launch, (&mut d,)).expect_err("the kernel must fault").to_string()
    }};
}

fn says(report: &str, words: &[&str]) {
    for word in words {
        assert!(report.contains(word), "`{word}` is not in:\n{report}");
    }
}

fn one() -> Launch {
    Launch::grid(1).block(1)
}

#[test]
fn out_of_bounds_names_the_statement_and_the_thread() {
    let report = fault!(sm_90, Launch::grid(2).block(64), {
        mov.u32 %r0, %tid.x;
        mul.wide.u32 %rd0, %r0, 4;
        add.u64 %rd0, %rd0, %pd;
        st.global.u32 [%rd0], %r0;
    });
    says(&report, &["st.global.u32 [%rd0], %r0;", "faults.rs", "32"]);
    says(
        &report,
        &[
            "access of 4 bytes at `d[8]` is out of bounds: it has 8 elements",
            "  --> tests/host/faults.rs:",
            "  = note: PTX ISA 5.1",
        ],
    );
}

ptx! {
    <sm_90, ptx 8.0, allow(PTX0610), allow(PTX0668), allow(PTX0674)>
    .extern .shared .align 16 .b8 dynamic[];
    .visible .entry objects(
        .param .u64 .ptr .global .align 4 x: &[f32],
        .param .u64 .ptr .global .align 2 y: &mut [u16],
        .param .u32 what,
        .param .u64 .ptr .global .align 4 z)
    {
        .reg .pred %p;
        .reg .b32 %w, %t;
        .reg .f32 %f<4>;
        .reg .b16 %h;
        .reg .s32 %s;
        .reg .b64 %x, %y;
        .shared .align 16 .b8 fixed[32];
        TARGETS: .branchtargets BEFORE, WIDE, HALF, ODD, STORE, SHARED, BYTE;
        ld.param.u64 %x, [x];
        ld.param.u64 %y, [y];
        ld.param.u32 %w, [what];
        mov.f32 %f0, 0f40200000;
        mov.b32 %s, -3;
        setp.ne.u32 %p, %w, 99;
        brx.idx.uni %w, TARGETS;
      BEFORE:
        @%p ld.global.f32 %f1, [%x+-4];
        ret;
      WIDE:
        add.u64 %x, %x, 32;
        ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%x];
        ret;
      HALF:
        st.global.f32 [%y+16], %f0;
        ret;
      ODD:
        cvt.u64.u32 %x, %w;
        add.u64 %y, %y, %x;
        st.global.b16 [%y], 0;
        ret;
      STORE:
        ld.param.u64 %x, [z];
        cvta.global.u64 %x, %x;
        st.s32 [%x+8], %s;
        ret;
      SHARED:
        mov.u32 %t, dynamic;
        st.shared.u32 [%t+8], 1;
        ret;
      BYTE:
        st.global.u8 [%y+17], 0;
        ret;
    }
}

#[test]
fn faults_name_what_the_program_names() {
    let of = |launch: Launch, what: u32| {
        let error = objects.launch(&Host::new(), launch, (&[0f32; 11], &mut [0u16; 8], what, &[0f32; 11])).unwrap_err();
        assert_eq!(format!("{error:?}"), error.to_string());
        assert_eq!(error.fault().map(|f| format!("{f:?}")), Some(error.to_string()));
        error.to_string()
    };
    let fault = |what| of(one(), what);
    says(
        &fault(0),
        &[
            "access of 4 bytes at `x[-1]` is out of bounds: it has 11 elements",
            "`%p` is true, `%x` is 0x20000000000 (`x`)\n",
        ],
    );
    says(
        &fault(1),
        &[
            "access of 16 bytes at `x[8..12]` is out of bounds: it has 11 elements",
            "`%x` is 0x20000000020 (`x` + 32 bytes)\n",
        ],
    );
    says(&fault(2), &["access of 4 bytes at `y[8..10]` is out of bounds: it has 8 elements", "`%f0` is 2.5\n"]);
    says(&fault(6), &["access of 1 bytes at byte 17 of `y` is out of bounds: it has 16 bytes"]);
    says(&fault(3), &["address 0x30000000003, byte 3 of `y`, is not a multiple of 2", "PTX ISA 6.4.1.1"]);
    says(&fault(4), &["store to `z[2]`, which is read-only", "`%s` is -3\n"]);
    let shared = "access of 4 bytes at byte 8 of dynamic shared memory is out of bounds: the launch gives none";
    let size = "help: give its size with `Launch::dynamic_shared`";
    says(&fault(5), &[shared, "`%t` is 0x20\n", size]);
    let less = "at byte 8 of dynamic shared memory is out of bounds: the launch gives 8 bytes";
    says(&of(one().dynamic_shared(8), 5), &[less, size]);
}

ptx! {
    <sm_90, ptx 8.0>
    .global .align 4 .u32 counter;
    .const .align 4 .u32 limits[2] = {1, 2};
    .visible .entry variables(.param .u32 what, .param .u32 at)
    {
        .reg .b32 %w, %i, %a, %v;
        .reg .b64 %g, %o;
        .shared .align 4 .b32 other[8];
        .shared .align 4 .b32 tile[64];
        .local .align 4 .b32 own[4];
        TARGETS: .branchtargets SHARED, GLOBAL, CONST, LOCAL;
        ld.param.u32 %w, [what];
        ld.param.u32 %i, [at];
        brx.idx.uni %w, TARGETS;
      SHARED:
        mov.u32 %a, tile;
        add.u32 %a, %a, %i;
        st.shared.u32 [%a], 1;
        ret;
      GLOBAL:
        mov.u64 %g, counter;
        cvt.s64.s32 %o, %i;
        add.u64 %g, %g, %o;
        st.global.u32 [%g], 1;
        ret;
      CONST:
        mov.u32 %a, limits;
        add.u32 %a, %a, %i;
        ld.const.u32 %v, [%a];
        ret;
      LOCAL:
        mov.u32 %a, own;
        add.u32 %a, %a, %i;
        st.local.u32 [%a], 1;
        ret;
    }
}

#[test]
fn accesses_outside_of_memory_name_the_variable() {
    let fault =
        |what: u32, at: i32| variables.launch(&Host::new(), one(), (what, at.cast_unsigned())).unwrap_err().to_string();
    says(&fault(0, 256), &["access of 4 bytes at byte 256 of `tile` is out of bounds: it has 256 bytes"]);
    says(&fault(1, 16), &["access of 4 bytes at byte 16 of `counter` is out of bounds: it has 4 bytes"]);
    says(&fault(1, -4), &["access of 4 bytes at byte -4 of `counter`"]);
    says(&fault(2, 64), &["access of 4 bytes at byte 64 of `limits` is out of bounds: it has 8 bytes"]);
    says(&fault(3, 4096), &["access of 4 bytes at byte 4096 of `own` is out of bounds: it has 16 bytes"]);
}

#[test]
fn misaligned_and_read_only_accesses_are_reported() {
    // An offset that the compiler does not know.
    let report = fault!(sm_90, one(), {
        mov.u32 %r0, %tid.x;
        cvt.u64.u32 %rd0, %r0;
        add.u64 %pd, %pd, %rd0;
        st.global.u32 [%pd + 2], 1;
    });
    says(&report, &["align"]);
    says(&fault!(sm_90, one(), { mov.u32 %r0, 1000000; ld.shared.u32 %r1, [%r0]; }), &["ld.shared"]);
    let null = fault!(sm_90, one(), { mov.u64 %rd0, 0; ld.global.u32 %r1, [%rd0+4]; });
    says(&null, &["access of 4 bytes through a null pointer, at global address 0x4", "help: pass a buffer"]);
    assert!(!null.contains("the launch passes"), "{null}");
}

#[test]
fn clusters_that_wait_alike_are_named_once() {
    let waits = |launch: Launch| {
        let report = fault!(sm_90, launch.block(32), {
            mov.u32 %r0, %ntid.x;
            shl.b32 %r0, %r0, 1;
            bar.sync 1, %r0;
        });
        report.lines().filter_map(|line| line.trim().strip_prefix("= waiting: ").map(str::to_owned)).collect::<Vec<_>>()
    };
    let all = waits(Launch::grid(7));
    assert!(matches!(&all[..], [line, _] if line.starts_with("CTA (0, 0, 0), threads 0 to 31 at `bar")), "{all:?}");
    assert_eq!(all[1], "the same in CTAs (1, 0, 0), (2, 0, 0), (3, 0, 0), (4, 0, 0) and 2 more");
    let all = waits(Launch::grid(4).cluster(2));
    assert_eq!(all.len(), 3, "{all:?}");
    assert_eq!(all[2], "the same in the cluster of CTA (2, 0, 0)");
}

#[test]
fn mbarrier_misuse_is_reported() {
    says(&fault!(sm_90, one(), { mbarrier.arrive.shared::cta.b64 _, [mb]; }), &["mbarrier", "init"]);
    says(
        &fault!(sm_90, one(), {
            mbarrier.init.shared::cta.b64 [mb], 1;
            mbarrier.inval.shared::cta.b64 [mb];
            mbarrier.test_wait.parity.shared::cta.b64 %p, [mb], 0;
        }),
        &["mbarrier"],
    );
    says(
        &fault!(sm_90, one(), {
            mbarrier.init.shared::cta.b64 [mb], 1;
            mbarrier.arrive_drop.noComplete.shared::cta.b64 %rd0, [mb], 1;
        }),
        &["noComplete"],
    );
    says(
        &fault!(sm_90, one(), {
            mbarrier.init.shared::cta.b64 [mb], 2;
            mbarrier.arrive.shared::cta.b64 _, [mb], 3;
        }),
        &["pending"],
    );
}

#[test]
fn cluster_launch_control_misuse_is_reported() {
    // A second request after a failed response was seen.
    let report = fault!(sm_100, one(), {
        mbarrier.init.shared::cta.b64 [mb], 1;
        mbarrier.arrive.expect_tx.shared::cta.b64 %rd0, [mb], 16;
        clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [buf], [mb];
    W:
        mbarrier.try_wait.shared::cta.b64 %p, [mb], %rd0;
        @!%p bra W;
        ld.shared.b128 %rq, [buf];
        fence.proxy.async.shared::cta;
        clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p, %rq;
        // The flow analysis does not know loaded values; otherwise this is a compile error.
        ld.global.u32 %r0, [%pd];
        setp.eq.u32 %q, %r0, 0x7FFFFFFF;
        @%q bra END;
        mbarrier.arrive.expect_tx.shared::cta.b64 %rd0, [mb], 16;
        clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [buf], [mb];
    END:
    });
    says(&report, &["try_cancel", "a failed request"]);
}

#[test]
fn a_deadlock_says_who_waits_for_what() {
    // Warp 1 never reaches the barrier that warp 0 waits at: it waits for an mbarrier without arrivals.
    let report = fault!(sm_90, Launch::grid(1).block(64), {
        mov.u32 %r0, %tid.x;
        setp.eq.u32 %p, %r0, 0;
        @%p mbarrier.init.shared::cta.b64 [mb], 7;
        bar.sync 0;
        setp.ge.u32 %p, %r0, 32;
        @%p bra OTHER;
        bar.sync 3;
        bra END;
    OTHER:
        mbarrier.try_wait.parity.shared::cta.b64 %q, [mb], 0;
        @!%q bra OTHER;
    END:
    });
    says(&report, &["deadlock", "barrier 3", "mbarrier", "7"]);
}

#[test]
fn an_endless_loop_ends_by_its_budget() {
    let report = fault!(sm_90, one().step_limit(10_000), {
        mov.u32 %r0, 0;
    FOREVER:
        add.u32 %r0, %r0, 1;
        bra FOREVER;
    });
    says(&report, &["in the loop at `FOREVER`", "`bra FOREVER;`", "10000"]);
    let report = fault!(sm_90, one().step_limit(10_000), { FOREVER: bra FOREVER; });
    says(&report, &["in the loop at `FOREVER`", "`bra FOREVER;`", "10000"]);
}

#[test]
fn trap_ends_the_launch() {
    says(
        &fault!(sm_90, one(), {
            trap;
        }),
        &["trap"],
    );
}

#[test]
fn what_the_host_cannot_run_yet_is_named() {
    let k = ptx!(<sm_90, ptx 8.0> |d: &mut [u32]| {
        .reg .b32 %width;
        .reg .b64 %texture;
        ld.param.u64 %texture, [d];
        txq.width.b32 %width, [%texture];
    });
    let error = k.launch(&Host::new(), one(), (&mut [0u32],)).unwrap_err().to_string();
    says(&error, &["`txq.width.b32` yet: the host has no textures", "line"]);
}

/// `main` and tests that end with `?` print `{:?}`.
#[test]
fn what_a_question_mark_shows_is_the_report() {
    let k = ptx!(<sm_90, ptx 8.0> |d: &mut [u32]| {
        .reg .b32 %r;
        .reg .b64 %a;
        ld.param.u64 %a, [d];
        mov.u32 %r, %tid.x;
        mad.wide.u32 %a, %r, 4, %a;
        st.global.u32 [%a + 4], %r;
    });
    let run = |threads| -> Result<(), Box<dyn std::error::Error>> {
        k.launch(&Host::new(), Launch::grid(1).block(threads), (&mut [0u32],))?;
        Ok(())
    };
    let shown = format!("{:?}", run(1).unwrap_err());
    says(
        &shown,
        &[
            "access of 4 bytes at `d[1]` is out of bounds: it has 1 element",
            "PTX line ",
            "`st.global.u32 [%a+4], %r;`",
            "faults.rs:",
        ],
    );
    says(&shown, &["= thread (0, 0, 0) of CTA (0, 0, 0)", "= help: "]);
    let refused = format!("{:?}", run(2000).unwrap_err());
    assert!(
        refused.starts_with("cannot launch `") && refused.ends_with("the limits are 1024, 1024 and 64"),
        "{refused}"
    );
    let fault = k.launch(&Host::new(), one(), (&mut [0u32],)).unwrap_err();
    let fault = fault.fault().expect("a fault");
    assert_eq!(format!("{fault:?}"), shown);
    assert_eq!(format!("{fault:#?}"), shown);
}

#[test]
fn faults_of_arrive_drop_cite_its_section() {
    let over = fault!(sm_90, one(), {
        mbarrier.init.shared::cta.b64 [mb], 2;
        mbarrier.arrive_drop.shared::cta.b64 _, [mb], 3;
    });
    let too_early = fault!(sm_90, one(), {
        mbarrier.init.shared::cta.b64 [mb], 1;
        mbarrier.arrive_drop.noComplete.shared::cta.b64 %rd0, [mb], 1;
    });
    let nothing_expected = fault!(sm_90, one(), {
        mbarrier.init.shared::cta.b64 [mb], 1;
        mbarrier.arrive_drop.shared::cta.b64 _, [mb];
        mbarrier.arrive_drop.shared::cta.b64 _, [mb];
    });
    let outside = fault!(sm_90, one(), {
        ld.global.u64 %rd0, [%pd];
        mbarrier.arrive_drop.b64 _, [%rd0];
    });
    for report in [over, too_early, nothing_expected, outside] {
        says(&report, &["note: PTX ISA 9.7.13.15.14"]);
    }
    let arrive = fault!(sm_90, one(), {
        mbarrier.init.shared::cta.b64 [mb], 2;
        mbarrier.arrive.shared::cta.b64 _, [mb], 3;
    });
    says(&arrive, &["note: PTX ISA 9.7.13.15.13"]);
}

#[test]
fn reductions_do_not_meet_plain_barriers() {
    let report = fault!(sm_90, Launch::grid(1).block(64), {
        mov.u32 %r0, %tid.x;
        setp.lt.u32 %p, %r0, 32;
        @%p bra plain;
        barrier.red.popc.u32 %r1, 1, %p;
        bra done;
    plain:
        barrier.sync 1;
    done:
        st.global.u32 [%pd], 1;
    });
    says(&report, &["barrier 1: `.red` meets `.sync` or `.arrive`", "note: PTX ISA 9.7.13.1"]);
}

ptx! {
    <sm_90, ptx 8.0, allow(PTX0610)>
    .visible .entry searching(.param .u64 .ptr .global .align 4 x: &[u32], .param .u32 n)
    {
        .reg .pred %p, %q;
        .reg .b32 %v, %n, %i;
        .reg .b64 %x, %a;
        ld.param.u64 %x, [x];
        ld.param.u32 %n, [n];
      AGAIN:
        mov.u32 %i, 0;
      ELEMENT:
        mad.wide.u32 %a, %i, 4, %x;
        ld.global.u32 %v, [%a];
        setp.eq.u32 %p, %v, 7;
        @%p bra FOUND;
      NEXT:
        add.u32 %i, %i, 1;
        setp.lt.u32 %q, %i, %n;
        @%q bra ELEMENT;
        bra.uni AGAIN;
      FOUND:
        ret;
    }
}

#[test]
fn an_endless_loop_of_one_thread_ends_without_a_limit() {
    let error = searching.launch(&Host::new(), one(), (&[1; 1000], 1000)).unwrap_err();
    let Some(FaultKind::StepLimit { turns, loops, .. }) = error.fault().map(|f| &f.kind) else { panic!("{error}") };
    // two or three instructions in a region; fewer regions of unoptimised code
    assert!((10_000_000..60_000_000).contains(turns), "{turns}");
    assert_eq!(loops[..], ["ELEMENT", "AGAIN"]);
    let inside = "in the loop at `ELEMENT`, inside of the loop at `AGAIN`\n";
    says(&error.to_string(), &[inside, "`Launch::step_limit`"]);
    let of_loop = ["ld.global.u32 %v, [%a];", "@%q bra ELEMENT;"];
    let at = error.fault().and_then(|fault| fault.at.as_ref()).map(|at| at.text.as_str());
    assert!(at.is_some_and(|text| of_loop.contains(&text)), "{error}");
    assert!(!error.to_string().contains("``"), "{error}");
    // a launch that says how long it may take
    let error = searching.launch(&Host::new(), one().step_limit(1000), (&[1; 1000], 1000)).unwrap_err();
    says(&error.to_string(), &["not finished after 1000 turns, last ", "in the loop at `ELEMENT`"]);
}
