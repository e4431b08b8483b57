//! Both engines run a kernel alike: results, faults, deadlocks; and what a host says if it lacks the engine.

use ptx_dsl::kernel::Kernel;
use ptx_dsl::prelude::*;
use ptx_dsl::{Checked, Engine};

fn both() -> [Host; 2] {
    [Engine::Compiled, Engine::Interpreted].map(|engine| Host::new().engine(engine))
}

/// What a launch says, once for both engines, which must say the same.
fn said(run: impl Fn(&Host) -> Result<Report, Error>) -> String {
    let [compiled, interpreted] = both().map(|host| run(&host).unwrap_err().to_string());
    assert_eq!(compiled, interpreted);
    interpreted
}

ptx! {
    <sm_90, ptx 8.0, compiled>
    .visible .entry places(
        .param .u64 .ptr .global .align 4 x: &[u32],
        .param .u64 .ptr .global .align 4 out: &mut [u32],
        .param .u32 pitch)
    {
        .shared .align 4 .b32 tile[1024];
        .reg .b32 %x, %y, %nx, %ny, %i, %p, %v<6>, %s;
        .reg .b64 %a, %o, %b;
        ld.param.u64 %a, [x];
        ld.param.u64 %b, [out];
        ld.param.u32 %p, [pitch];
        mov.u32 %x, %tid.x;
        mov.u32 %y, %tid.y;
        mov.u32 %nx, %ntid.x;
        mov.u32 %ny, %ntid.y;
        // a row of a matrix for each %tid.y
        mad.lo.u32 %i, %y, %p, %x;
        mul.wide.u32 %o, %i, 4;
        add.u64 %a, %a, %o;
        ld.global.u32 %v0, [%a];
        // the same element for all threads of a row, and for all of a column
        ld.param.u64 %a, [x];
        mul.lo.u32 %i, %y, %p;
        mul.wide.u32 %o, %i, 4;
        add.u64 %a, %a, %o;
        ld.global.u32 %v1, [%a+4];
        ld.param.u64 %a, [x];
        mul.wide.s32 %o, %x, 4;
        add.u64 %a, %a, %o;
        ld.global.u16 %v2, [%a+2];
        // through shared memory, in the order of threads
        mad.lo.u32 %i, %y, %nx, %x;
        shl.b32 %s, %i, 2;
        mov.u32 %v3, tile;
        add.u32 %s, %s, %v3;
        mad.lo.u32 %v0, %v1, 3, %v0;
        mad.lo.u32 %v0, %v2, 5, %v0;
        st.shared.u32 [%s], %v0;
        bar.sync 0;
        // the opposite thread
        mul.lo.u32 %v4, %nx, %ny;
        sub.u32 %v4, %v4, 1;
        sub.u32 %v4, %v4, %i;
        shl.b32 %v4, %v4, 2;
        add.u32 %v4, %v4, %v3;
        ld.shared.u32 %v5, [%v4];
        mul.wide.u32 %o, %i, 4;
        add.u64 %b, %b, %o;
        st.global.u32 [%b], %v5;
        ret;
    }
}

#[test]
fn threads_of_all_shapes_find_their_elements() {
    for [nx, ny] in [[32, 1], [64, 4], [128, 2], [16, 16], [8, 8], [8, 5], [16, 3], [40, 2], [24, 4], [1, 32], [3, 7]] {
        for pitch in [nx, nx + 1, 200] {
            let x: Vec<u32> = (0..pitch * ny + 8).map(|i: u32| i.wrapping_mul(2_654_435_761)).collect();
            let at = |i: u32| x[i as usize];
            let value = |t: u32| {
                let (tx, ty) = (t % nx, t / nx);
                let (own, row) = (at(ty * pitch + tx), at(ty * pitch + 1));
                own.wrapping_add(row.wrapping_mul(3)).wrapping_add((at(tx) >> 16).wrapping_mul(5))
            };
            for host in both() {
                let mut out = vec![0; (nx * ny) as usize];
                places.launch(&host, Launch::grid(1).block((nx, ny)), (&x, &mut out, pitch)).unwrap();
                for (t, v) in (0..).zip(&out) {
                    assert_eq!(*v, value(nx * ny - 1 - t), "thread {t} of {nx} x {ny}, pitch {pitch}, {host:?}");
                }
            }
        }
    }
}

ptx! {
    <sm_90, ptx 8.0, compiled>
    .visible .entry collatz(.param .u64 .ptr .global .align 4 out: &mut [u32], .param .u32 n)
    {
        .reg .pred %p, %q;
        .reg .b32 %i, %b, %t, %n, %v, %steps;
        .reg .b64 %o, %d;
        ld.param.u64 %d, [out];
        ld.param.u32 %n, [n];
        mov.u32 %t, %tid.x;
        mov.u32 %b, %ctaid.x;
        mov.u32 %i, %ntid.x;
        mad.lo.u32 %i, %b, %i, %t;
        setp.ge.u32 %p, %i, %n;
        @%p ret;
        add.u32 %v, %i, 1;
        mov.u32 %steps, 0;
      STEP:
        setp.eq.u32 %p, %v, 1;
        @%p bra DONE;
        and.b32 %t, %v, 1;
        setp.eq.u32 %q, %t, 0;
        @%q bra EVEN;
        mad.lo.u32 %v, %v, 3, 1;
        bra.uni NEXT;
      EVEN:
        shr.u32 %v, %v, 1;
      NEXT:
        add.u32 %steps, %steps, 1;
        bra.uni STEP;
      DONE:
        mul.wide.u32 %o, %i, 4;
        add.u64 %d, %d, %o;
        st.global.u32 [%d], %steps;
        ret;
    }
}

#[test]
fn lanes_that_part_and_end_keep_to_their_own() {
    let steps = |mut v: u64| {
        let mut n = 0;
        while v != 1 {
            v = if v.is_multiple_of(2) { v / 2 } else { 3 * v + 1 };
            n += 1;
        }
        n
    };
    // the last CTA has lanes that exit at once, and lanes of their warps that go on
    for n in [1u32, 31, 100, 1000] {
        for host in both().into_iter().chain([Host::new().seed(3), Host::new().seed(4), Host::new().threads(2)]) {
            let mut out = vec![u32::MAX; n as usize + 50];
            collatz.launch(&host, Launch::grid(n.div_ceil(128)).block(128), (&mut out, n)).unwrap();
            for (i, v) in out.iter().enumerate() {
                let wanted = if i < n as usize { steps(i as u64 + 1) } else { u32::MAX };
                assert_eq!(*v, wanted, "{i} of {n}");
            }
        }
    }
}

ptx! {
    <sm_90, ptx 8.0, compiled, allow(PTX0647)>
    .visible .entry outside(.param .u64 .ptr .global .align 4 x: &mut [u32], .param .u32 stride)
        .reqntid 128
    {
        .reg .b32 %t, %s;
        .reg .b64 %x, %o;
        ld.param.u64 %x, [x];
        ld.param.u32 %s, [stride];
        mov.u32 %t, %tid.x;
        mul.lo.u32 %t, %t, %s;
        mul.wide.u32 %o, %t, 4;
        add.u64 %x, %x, %o;
        st.global.u32 [%x], %t;
        ld.global.u32 %t, [%x+256];
        st.global.u32 [%x], %t;
        ret;
    }
    .visible .entry nowhere(.param .u64 .ptr .global .align 4 x)
    {
        .reg .b32 %v;
        .reg .b64 %x;
        ld.param.u64 %x, [x];
        ld.global.u32 %v, [%x];
        st.global.u32 [%x], %v;
        ret;
    }
    .visible .entry stuck(.param .u64 .ptr .global .align 4 x: &mut [u32], .param .u32 n)
        .reqntid 96
    {
        .reg .pred %p;
        .reg .b32 %t, %n;
        ld.param.u32 %n, [n];
        mov.u32 %t, %tid.x;
        setp.lt.u32 %p, %t, 32;
        @%p bra ONE;
        bar.sync 1, %n;
        ret;
      ONE:
        bar.sync 2, %n;
        ret;
    }
    .visible .entry unmarked(.param .u64 x, .param .u64 n)
    {
        .reg .b64 %x;
        ld.param.u64 %x, [x];
        st.global.u32 [%x+4], 1;
        ret;
    }
    // A fault in an instruction of each kind.
    .visible .entry operands(.param .u64 .ptr .global .align 8 x: &mut [u32], .param .u32 what) .reqntid 32
    {
        .reg .pred %g;
        .reg .b32 %w, %t, %s, %m, %v;
        .reg .f32 %f<2>;
        .reg .b64 %x, %policy, %state;
        .shared .align 16 .b8 tile[64];
        .shared .align 8 .b64 bar;
        ld.param.u64 %x, [x];
        ld.param.u32 %w, [what];
        mov.u32 %t, %tid.x;
        setp.eq.u32 %g, %t, 3;
        mov.f32 %f0, 0f3fc00000;
        neg.f32 %f1, %f0;
        mov.b32 %s, tile;
        mov.b32 %m, bar;
        createpolicy.fractional.L2::evict_first.b64 %policy, 1.0;
        mov.u32 %v, 24;
      KINDS: .branchtargets PAIR, ATOMIC, HINT, COPY, ARRIVE, BYTE;
        brx.idx %w, KINDS;
      PAIR:
        @%g st.global.v2.f32 [%x+32], {%f0, %f1};
        ret;
      ATOMIC:
        atom.global.add.u32 %v, [%x+32], %t;
        ret;
      HINT:
        ld.global.L2::cache_hint.u32 %v, [%x+36], %policy;
        ret;
      COPY:
        @%g cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%x], %v, [%m];
        ret;
      ARRIVE:
        @!%g mbarrier.arrive.shared::cta.b64 %state, [%m];
        ret;
      BYTE:
        add.u32 %v, %t, 0x100;
        mad.lo.u32 %s, %w, 1000, %s;
        st.shared.u8 [%s+72], %v;
        ret;
    }
    .visible .entry endless(.param .u64 .ptr .global .align 4 x: &mut [u32])
    {
        .reg .b32 %t;
        mov.u32 %t, 0;
      AGAIN:
        add.u32 %t, %t, 1;
        bra.uni AGAIN;
    }
}

#[test]
fn both_engines_know_the_registers() {
    for (what, registers) in [
        (0, "`%g` is true, `%x` is 0x20000000000 (`x`), `%f0` is 1.5, `%f1` is -1.5"),
        (1, "`%x` is 0x20000000000 (`x`), `%t` is 0"),
        (2, "`%x` is 0x20000000000 (`x`)"),
        (3, "`%g` is true, `%s` is 0x0, `%x` is 0x20000000000 (`x`), `%v` is 24, `%m` is 0x40"),
        (4, "`%g` is false, `%m` is 0x40"),
        (5, "`%s` is 0x1388"),
    ] {
        let [compiled, interpreted] = both().map(|host| {
            let error = operands.launch(&host, Launch::grid(1), (&mut [0; 8], what)).unwrap_err();
            error.to_string()
        });
        let line = format!("  = registers: {registers}");
        for report in [compiled, interpreted] {
            assert!(report.lines().any(|found| found.starts_with(&line)), "{line}\nis not in\n{report}");
        }
    }
}

ptx! {
    <sm_100a, ptx 8.6, compiled>
    // 128 bits that are no response, the same in all lanes: compiled code calls the function for one of them.
    .visible .entry no_response(.param .u64 x) .reqntid 32
    {
        .reg .pred %p;
        .reg .b64 %x;
        .reg .b128 %q;
        ld.param.u64 %x, [x];
        mov.b128 %q, {%x, 5};
        clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p, %q;
        @%p trap;
        ret;
    }
}

#[test]
fn both_engines_know_the_registers_of_a_uniform_call() {
    let fault = said(|host| no_response.launch(host, Launch::grid(1), (7,)));
    assert!(fault.contains("not the response of a `try_cancel`"), "{fault}");
    assert!(fault.contains("  = registers: `%q[63:0]` is 0x7, `%q[127:64]` is 0x5\n"), "{fault}");
    assert!(fault.contains("  = note: PTX ISA 9.7.13.18"), "{fault}");
}

#[test]
fn both_engines_report_the_same() {
    // in warp 3, and in warp 1 before that by another statement
    for (stride, len) in [(1u32, 120usize), (1, 180), (3, 300), (0x4000_0000, 128)] {
        let fault = said(|host| {
            let mut x = vec![0u32; len];
            outside.launch(host, Launch::grid(1), (&mut x, stride))
        });
        assert!(fault.contains("out of bounds") && fault.contains("  = registers: `%x` is 0x"), "{fault}");
    }
    let fault = said(|host| nowhere.launch(host, Launch::grid(1), (Arg::value([0; 8]),)));
    assert!(fault.contains("access of 4 bytes through a null pointer, at global address 0x0"), "{fault}");
    assert!(fault.contains("  = note: the launch passes a null pointer for `x`"), "{fault}");
    let fault = said(|host| unmarked.launch(host, Launch::grid(1).block(1), (0, 3)));
    assert!(fault.contains("  = note: the launch passes 0 for `x`\n"), "{fault}");
    let mut deadlock = said(|host| stuck.launch(host, Launch::grid(1), (&mut [0u32; 4], 96)));
    assert!(deadlock.contains("deadlock") && deadlock.contains("bar.sync 2, %n;"), "{deadlock}");
    deadlock = said(|host| endless.launch(host, Launch::grid(1).block(32).step_limit(1000), (&mut [0u32; 4],)));
    assert!(deadlock.contains("AGAIN"), "{deadlock}");
}

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry plain(.param .u64 .ptr .global .align 4 x: &mut [u32]) { ret; }
}

#[test]
fn an_engine_that_is_not_there_is_an_error() {
    let mut x = [0u32; 4];
    let on_compiled = plain.launch(&Host::new().engine(Engine::Compiled), Launch::grid(1), (&mut x,));
    match <plain as Kernel>::compiled() {
        Some(_) => drop(on_compiled.unwrap()),
        None => {
            let error = on_compiled.unwrap_err().to_string();
            assert!(error.contains("`plain`") && error.contains("write `compiled` in the header"), "{error}");
        }
    }
    plain.launch(&Host::new().engine(Engine::Interpreted), Launch::grid(1), (&mut x,)).unwrap();
    let checked: Host<Checked> = Host::checked();
    let error = endless.launch(&checked.engine(Engine::Compiled), Launch::grid(1), (&mut x,)).unwrap_err();
    assert!(error.to_string().contains("a host with a monitor interprets all kernels"), "{error}");
}

/// The engines divide a kernel into different regions, so a schedule is one of the interpreter, or an error.
#[test]
fn a_schedule_is_the_same_on_both_engines_or_refused() {
    let run = |host: &Host| places.launch(host, Launch::grid(4).block(64), (&[1; 256], &mut [0u32; 64], 0));
    for host in [Host::new().seed(3), Host::new().record(), Host::new().replay(Vec::new())] {
        let report = run(&host).unwrap();
        assert_eq!(run(&host.clone().engine(Engine::Interpreted)).unwrap(), report);
        let error = run(&host.engine(Engine::Compiled)).unwrap_err().to_string();
        assert!(error.contains("`places`") && error.contains("only the interpreter runs a schedule"), "{error}");
    }
}

ptx! {
    <sm_90, ptx 8.0, compiled>
    .visible .entry lines(.param .u64 .ptr .global .align 8 out: &mut [u64], .param .u32 base, .param .u32 step, .param .u32 limit)
    {
        .reg .pred %p;
        .reg .b32 %t, %v, %s, %l, %c, %n;
        .reg .b64 %d, %o, %u, %w, %m;
        ld.param.u64 %d, [out];
        ld.param.u32 %v, [base];
        ld.param.u32 %s, [step];
        ld.param.u32 %l, [limit];
        mov.u32 %t, %tid.x;
        mad.lo.u32 %v, %t, %s, %v;
        // widened, signed and unsigned
        cvt.u64.u32 %u, %v;
        cvt.s64.s32 %w, %v;
        mul.wide.s32 %m, %v, -3;
        add.s64 %w, %w, %m;
        mad.wide.u32 %u, %v, 5, %u;
        xor.b64 %u, %u, %w;
        // compared, by both orders
        mov.u32 %n, 0;
        setp.lt.u32 %p, %v, %l;
        selp.u32 %c, 1, 0, %p;
        add.u32 %n, %n, %c;
        setp.le.s32 %p, %v, %l;
        selp.u32 %c, 2, 0, %p;
        add.u32 %n, %n, %c;
        setp.gt.u32 %p, %v, %l;
        selp.u32 %c, 4, 0, %p;
        add.u32 %n, %n, %c;
        setp.ge.s32 %p, %v, %l;
        selp.u32 %c, 8, 0, %p;
        add.u32 %n, %n, %c;
        setp.eq.u32 %p, %v, %l;
        selp.u32 %c, 16, 0, %p;
        add.u32 %n, %n, %c;
        setp.ne.s32 %p, %v, %l;
        @!%p bra SAME;
        add.u32 %n, %n, 32;
      SAME:
        cvt.u64.u32 %m, %n;
        mul.wide.u32 %o, %t, 16;
        add.u64 %d, %d, %o;
        st.global.u64 [%d], %u;
        st.global.u64 [%d+8], %m;
        ret;
    }
}

#[test]
fn values_that_grow_by_a_constant_wrap_as_registers_do() {
    let bases = [0, 1, 100, 0x7fff_ffc0, 0x8000_0000, 0xffff_ffc0, 0xffff_ffff];
    for (base, step) in bases.into_iter().flat_map(|b| [0, 1, 2, 7, u32::MAX, 0x0400_0000].map(|s| (b, s))) {
        for limit in [0, 5, 32, 63, 64, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff] {
            for host in both() {
                let mut out = vec![0u64; 2 * 128];
                lines.launch(&host, Launch::grid(1).block(128), (&mut out, base, step, limit)).unwrap();
                for (t, found) in (0u32..).zip(out.chunks(2)) {
                    let v = base.wrapping_add(t.wrapping_mul(step));
                    let (u, s, l) = (u64::from(v), i64::from(v as i32), limit as i32);
                    let wide = u.wrapping_mul(6) ^ s.wrapping_add(s.wrapping_mul(-3)) as u64;
                    let bits = [v < limit, v as i32 <= l, v > limit, v as i32 >= l, v == limit, v != limit];
                    let count: u64 = bits.iter().zip(0..).map(|(b, i)| u64::from(*b) << i).sum();
                    assert_eq!(found, [wide, count], "thread {t}: {base:#x} + {step:#x} * t, {limit:#x}, {host:?}");
                }
            }
        }
    }
}

ptx! {
    <sm_90, ptx 8.0, compiled>
    // Some lanes of some warps run code whose values are the same in all of them: of those, %keep, %sum and %other are read after
    // the join, and %temp and %at are not.
    .visible .entry some(.param .u64 .ptr .global .align 4 out: &mut [u32], .param .u32 rounds, .param .u32 stride)
    {
        .reg .pred %p, %q;
        .reg .b32 %t, %i, %n, %limit, %keep, %temp, %at, %sum, %other, %stride;
        .reg .b64 %d, %o, %from;
        ld.param.u64 %d, [out];
        ld.param.u32 %n, [rounds];
        ld.param.u32 %stride, [stride];
        mov.u64 %from, %d;
        mov.u32 %t, %tid.x;
        mul.wide.u32 %o, %t, 4;
        add.u64 %d, %d, %o;
        mov.u32 %i, 0;
        mov.u32 %sum, 0;
        mov.u32 %other, 9;
      ROUND:
        mul.lo.u32 %limit, %i, 9;
        add.u32 %keep, %i, 100;
        setp.lt.u32 %p, %t, %limit;
        @%p bra SKIP;
        mul.lo.u32 %temp, %i, 5;
        mad.lo.u32 %keep, %temp, 3, 1;
        mad.lo.u32 %at, %t, 4, %temp;
        add.u32 %sum, %sum, %at;
      SKIP:
        mad.lo.u32 %sum, %keep, 7, %sum;
        // two ways, one of them a loop that lanes leave one by one
        and.b32 %temp, %t, 3;
        setp.ne.u32 %p, %temp, 0;
        @%p bra TURNS;
        mov.u32 %at, 17;
        add.u32 %other, %i, %at;
        setp.gt.u32 %q, %t, 63;
        @%q bra JOIN;
        add.u32 %other, %other, 50;
        bra JOIN;
      TURNS:
        mov.u32 %at, %i;
        add.u32 %sum, %sum, 1;
        xor.b32 %sum, %sum, %at;
        sub.u32 %temp, %temp, 1;
        setp.ne.u32 %p, %temp, 0;
        @%p bra TURNS;
      JOIN:
        mad.lo.u32 %sum, %other, 31, %sum;
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, %n;
        @%p bra ROUND;
        // the lanes from thread 70 on load from one place, which the fourth CTA does not have
        setp.eq.u32 %p, %stride, 0;
        @%p bra STORE;
        setp.lt.u32 %p, %t, 70;
        @%p bra STORE;
        mov.u32 %at, %ctaid.x;
        mul.wide.u32 %o, %at, %stride;
        add.u64 %from, %from, %o;
        ld.global.u32 %sum, [%from];
      STORE:
        st.global.u32 [%d], %sum;
        ret;
    }
}

#[test]
fn values_of_lanes_that_run_apart_from_others() {
    const ROUNDS: u32 = 20;
    for threads in [32u32, 96, 100, 256] {
        for host in both() {
            let mut out = vec![0; threads as usize];
            some.launch(&host, Launch::grid(1).block(threads), (&mut out, ROUNDS, 0)).unwrap();
            for (t, found) in (0..).zip(&out) {
                let (mut sum, mut other) = (0u32, 9);
                for i in 0..ROUNDS {
                    let mut keep = i + 100;
                    if t >= i * 9 {
                        keep = i * 15 + 1;
                        sum = sum.wrapping_add(t * 4 + i * 5);
                    }
                    sum = sum.wrapping_add(keep * 7);
                    match t % 4 {
                        0 => other = i + 17 + if t > 63 { 0 } else { 50 },
                        turns => (0..turns).for_each(|_| sum = sum.wrapping_add(1) ^ i),
                    }
                    sum = sum.wrapping_add(other * 31);
                }
                assert_eq!(*found, sum, "thread {t} of {threads}, {host:?}");
            }
        }
    }
    let fault = said(|host| some.launch(host, Launch::grid(4).block(128), (&mut [0u32; 128], 1, 200)));
    assert!(fault.contains("(3, 0, 0)"), "{fault}");
    assert!(fault.contains("[70, 0, 0]") || fault.contains("(70, 0, 0)"), "{fault}");
}

ptx! {
    <sm_90, ptx 8.0, compiled>
    // Sums of products of what shared memory holds. Some factors are read again, after a sum or in the next round.
    .visible .entry products(
        .param .u64 .ptr .global .align 4 x: &[f32],
        .param .u64 .ptr .global .align 4 out: &mut [f32],
        .param .u32 rounds, .param .u32 step)
    {
        .shared .align 16 .b8 tile[2048];
        .reg .pred %p;
        .reg .b32 %x, %y, %nx, %i, %n, %at, %left, %above, %step;
        .reg .b64 %from, %to, %o;
        .reg .f32 %u, %v, %last, %s, %t;
        ld.param.u64 %from, [x];
        ld.param.u64 %to, [out];
        ld.param.u32 %n, [rounds];
        ld.param.u32 %step, [step];
        mov.u32 %x, %tid.x;
        mov.u32 %y, %tid.y;
        mov.u32 %nx, %ntid.x;
        or.b32 %i, %x, %y;
        setp.ne.u32 %p, %i, 0;
        @%p bra FILLED;
        mov.u32 %at, tile;
        mov.u32 %i, 0;
      FILL:
        ld.global.f32 %u, [%from];
        st.shared.f32 [%at], %u;
        add.u64 %from, %from, 4;
        add.u32 %at, %at, 4;
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, 512;
        @%p bra FILL;
      FILLED:
        bar.sync 0;
        mov.u32 %at, tile;
        mad.lo.u32 %left, %y, 64, %at;
        mad.lo.u32 %above, %x, 4, %at;
        mov.f32 %s, 0f00000000;
        mov.f32 %t, 0f3F800000;
        mov.f32 %last, 0f00000000;
        mov.u32 %i, 0;
      ROUND:
        add.f32 %t, %t, %last;
        ld.shared.f32 %u, [%left];
        ld.shared.f32 %v, [%above+1024];
        fma.rn.f32 %s, %u, %v, %s;
        ld.shared.f32 %u, [%left+4];
        ld.shared.f32 %v, [%above+1088];
        fma.rn.f32 %s, %v, %u, %s;
        ld.shared.f32 %u, [%left+8];
        ld.shared.f32 %v, [%above+1152];
        fma.rn.f32 %t, %u, %v, %t;
        add.f32 %t, %t, %v;
        ld.shared.f32 %u, [%left+12];
        ld.shared.f32 %last, [%above];
        fma.rn.f32 %s, %u, %last, %s;
        add.u32 %left, %left, %step;
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, %n;
        @%p bra ROUND;
        mad.lo.u32 %i, %y, %nx, %x;
        mul.wide.u32 %o, %i, 8;
        add.u64 %to, %to, %o;
        st.global.f32 [%to], %s;
        st.global.f32 [%to+4], %t;
        ret;
    }
}

#[test]
fn products_of_shared_memory_and_factors_that_are_read_again() {
    let x: Vec<f32> = (0..512).map(|i: u32| (i.wrapping_mul(2_654_435_761) >> 8) as f32 / 1e6 - 5.0).collect();
    let (rounds, step) = (7, 16);
    for [nx, ny] in [[16u32, 16], [8, 8], [64, 2], [32, 4], [40, 2], [100, 1], [12, 3]] {
        for host in both() {
            let mut out = vec![0.0; (2 * nx * ny) as usize];
            products.launch(&host, Launch::grid(2).block((nx, ny)), (&x, &mut out, rounds, step)).unwrap();
            for (thread, found) in (0..).zip(out.chunks(2)) {
                let (left, above) = (16 * (thread / nx), thread % nx);
                let at = |i: u32| x[i as usize];
                let (mut s, mut t, mut last) = (0f32, 1f32, 0f32);
                for i in 0..rounds {
                    let left = left + 4 * i;
                    t += last;
                    s = at(left).mul_add(at(above + 256), s);
                    s = at(left + 1).mul_add(at(above + 272), s);
                    t = at(left + 2).mul_add(at(above + 288), t) + at(above + 288);
                    last = at(above);
                    s = at(left + 3).mul_add(last, s);
                }
                assert_eq!(found, [s, t], "thread {thread} of {nx} x {ny}, {host:?}");
            }
        }
    }
    // a round reads after the end
    said(|host| products.launch(host, Launch::grid(2).block((16, 16)), (&x, &mut [0.0f32; 512], 7, 200)));
}

ptx! {
    <sm_90, ptx 8.0, compiled>
    // A row of `a` times a column of `b`, 40 elements each, and the sum of the first 20 products.
    .visible .entry chains(
        .param .u64 .ptr .global .align 4 x: &[f32],
        .param .u64 .ptr .global .align 4 out: &mut [f32],
        .param .u32 rounds, .param .u32 step)
    {
        .shared .align 16 .b8 tile[8192];
        .reg .pred %p;
        .reg .b32 %x, %y, %nx, %i, %n, %at, %left, %above, %step;
        .reg .b64 %from, %to, %o;
        .reg .f32 %u, %v, %half, %s;
        ld.param.u64 %from, [x];
        ld.param.u64 %to, [out];
        ld.param.u32 %n, [rounds];
        ld.param.u32 %step, [step];
        mov.u32 %x, %tid.x;
        mov.u32 %y, %tid.y;
        mov.u32 %nx, %ntid.x;
        or.b32 %i, %x, %y;
        setp.ne.u32 %p, %i, 0;
        @%p bra FILLED;
        mov.u32 %at, tile;
        mov.u32 %i, 0;
      FILL:
        ld.global.f32 %u, [%from];
        st.shared.f32 [%at], %u;
        add.u64 %from, %from, 4;
        add.u32 %at, %at, 4;
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, 2048;
        @%p bra FILL;
      FILLED:
        bar.sync 0;
        mov.u32 %at, tile;
        mad.lo.u32 %left, %y, 160, %at;
        mad.lo.u32 %above, %x, 4, %at;
        mov.f32 %s, 0f00000000;
        mov.u32 %i, 0;
      ROUND:
        @for K in 0..20 {
            ld.shared.f32 %u, [%left + 4 * K];
            ld.shared.f32 %v, [%above + 128 * K];
            fma.rn.f32 %s, %u, %v, %s;
        }
        mov.f32 %half, %s;
        @for K in 20..40 {
            ld.shared.f32 %u, [%left + 4 * K];
            ld.shared.f32 %v, [%above + 128 * K];
            fma.rn.f32 %s, %v, %u, %s;
        }
        add.u32 %left, %left, %step;
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, %n;
        @%p bra ROUND;
        mad.lo.u32 %i, %y, %nx, %x;
        mul.wide.u32 %o, %i, 8;
        add.u64 %to, %to, %o;
        st.global.f32 [%to], %s;
        st.global.f32 [%to+4], %half;
        ret;
    }
}

#[test]
fn chains_of_products_keep_sums_that_are_read_and_canonical_nans() {
    let mut x: Vec<f32> = (0..2048).map(|i: u32| (i.wrapping_mul(2_654_435_761) >> 8) as f32 / 1e6 - 5.0).collect();
    // column 3 of `b`: infinities of both signs, a NaN with a payload in column 5
    (x[3], x[32 + 3], x[64 + 5]) = (f32::INFINITY, f32::NEG_INFINITY, f32::from_bits(0xffc0_1234));
    let (rounds, step) = (5, 16);
    let bits = |v: f32| if v.is_nan() { 0x7fff_ffff } else { v.to_bits() };
    for [nx, ny] in [[16u32, 16], [8, 8], [32, 4]] {
        for host in both() {
            let mut out = vec![0.0f32; (2 * nx * ny) as usize];
            chains.launch(&host, Launch::grid(2).block((nx, ny)), (&x, &mut out, rounds, step)).unwrap();
            for (thread, found) in (0..).zip(out.chunks(2)) {
                let (mut s, mut half) = (0f32, 0f32);
                for i in 0..rounds {
                    let (left, above) = (40 * (thread / nx) + i * step / 4, thread % nx);
                    for k in 0..40 {
                        if k == 20 {
                            half = s;
                        }
                        s = x[(left + k) as usize].mul_add(x[(above + 32 * k) as usize], s);
                    }
                }
                let found = [found[0].to_bits(), found[1].to_bits()];
                assert_eq!(found, [bits(s), bits(half)], "thread {thread} of {nx} x {ny}, {host:?}");
            }
            assert!(out.iter().any(|v| v.is_nan()) && out.iter().any(|v| v.is_finite()));
        }
    }
    // the last row of `a` reads after the end, in the middle of a chain
    said(|host| chains.launch(host, Launch::grid(2).block((16, 16)), (&x, &mut [0.0f32; 512], 40, 192)));
}

ptx! {
    <sm_90, ptx 8.3, compiled>
    .visible .entry widths(.param .u64 .ptr .global .align 8 out: &mut [u64])
    {
        .shared .align 16 .b8 before[256];
        .shared .align 16 .b8 tile[64];
        .global .align 16 .b8 table[64];
        .local .align 16 .b8 own[64];
        .reg .b16 %h;
        .reg .b64 %d, %a, %low, %high;
        .reg .b128 %q;
        ld.param.u64 %d, [out];
        // 16 bits are the lowest ones of the address
        mov.u64 %a, tile;
        mov.u16 %h, tile;
        cvt.u64.u16 %low, %h;
        and.b64 %a, %a, 0xffff;
        sub.u64 %a, %a, %low;
        st.global.u64 [%d], %a;
        mov.b64 %a, table;
        mov.b16 %h, table;
        cvt.u64.u16 %low, %h;
        and.b64 %a, %a, 0xffff;
        sub.u64 %a, %a, %low;
        st.global.u64 [%d+8], %a;
        // 128 bits are the address and zeros
        mov.b128 %q, table;
        mov.b128 {%low, %high}, %q;
        mov.u64 %a, table;
        sub.u64 %low, %low, %a;
        st.global.u64 [%d+16], %low;
        st.global.u64 [%d+24], %high;
        mov.b128 %q, own;
        mov.b128 {%low, %high}, %q;
        mov.u64 %a, own;
        sub.u64 %low, %low, %a;
        st.global.u64 [%d+32], %low;
        st.global.u64 [%d+40], %high;
        ret;
    }
}

#[test]
fn mov_takes_addresses_of_16_and_128_bits() {
    for host in both() {
        let mut x = [9u64; 6];
        widths.launch(&host, Launch::grid(1), (&mut x,)).unwrap();
        assert_eq!(x, [0; 6]);
    }
}

ptx! {
    <sm_90, ptx 8.0, compiled>
    // stores at element `n` of the buffer, at a depth of `n` in two functions that call each other
    .func store(.reg .b64 %x, .reg .u32 %n)
    {
        .reg .b64 %o;
        mul.wide.u32 %o, %n, 4;
        add.u64 %o, %o, %x;
        st.global.u32 [%o], %n;
        ret;
    }
    .func down(.reg .b64 %x, .reg .u32 %n, .reg .u32 %left)
    {
        .reg .pred %p;
        .reg .b32 %a;
        setp.eq.u32 %p, %left, 0;
        @%p bra here;
        sub.u32 %a, %left, 1;
        call down, (%x, %n, %a);
        ret;
    here:
        call store, (%x, %n);
        ret;
    }
    .visible .entry deep(.param .u64 .ptr .global .align 4 x: &mut [u32], .param .u32 n, .param .u32 left)
    {
        .reg .b64 %x;
        .reg .b32 %n, %left, %lane, %t;
        .reg .pred %p;
        ld.param.u64 %x, [x];
        ld.param.u32 %n, [n];
        ld.param.u32 %left, [left];
        mov.u32 %t, %tid.x;
        setp.eq.u32 %p, %left, 99;
        @%p bra direct;
        // each lane at a depth of its own
        and.b32 %lane, %t, 3;
        add.u32 %left, %left, %lane;
        add.u32 %n, %n, %t;
        call down, (%x, %n, %left);
        ret;
    direct:
        call store, (%x, %n);
        ret;
    }
}

/// A fault in a function names the calls that lead to it.
#[test]
fn the_callers_of_a_fault() {
    for (left, wanted) in [(99, 1), (0, 2), (1, 3), (2, 4), (6, 8), (7, 8)] {
        let report = said(|host| {
            let mut x = [0u32; 4];
            deep.launch(host, Launch::grid(1).block(32), (&mut x, 100, left))
        });
        assert_eq!(report.matches("called at").count(), wanted, "{report}");
        assert_eq!(report.contains("and 1 more call"), left == 7, "{report}");
    }
    // lane 3 of the second warp alone is out of bounds: a level of 3 more calls
    let report = said(|host| {
        let mut x = [0u32; 35];
        deep.launch(host, Launch::grid(1).block(36), (&mut x, 0, 0))
    });
    assert!(report.contains("thread (35, 0, 0)") && report.matches("called at").count() == 5, "{report}");
}

ptx! {
    <sm_90, ptx 8.0, interpreted>
    .visible .entry never_compiled(.param .u64 .ptr .global .align 4 x: &mut [u32])
    {
        .reg .b64 %x;
        ld.param.u64 %x, [x];
        st.global.u32 [%x], 7;
        ret;
    }
}

#[test]
fn an_interpreted_kernel_is_compiled_in_no_build() {
    let mut x = [0];
    never_compiled.launch(&Host::new(), Launch::grid(1), (&mut x,)).unwrap();
    assert_eq!(x, [7]);
    let compiled = Host::new().engine(Engine::Compiled);
    let error = never_compiled.launch(&compiled, Launch::grid(1), (&mut x,)).unwrap_err().to_string();
    assert!(error.contains("its crate compiles no kernels"), "{error}");
}
