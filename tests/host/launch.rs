//! Refused launches, untyped arguments, and what a launch costs.

use ptx_dsl::Engine;
use ptx_dsl::prelude::*;
use std::time::{Duration, Instant};

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry fixed(.param .u32 n) .reqntid 64, 2 { ret; }
    .visible .entry pairs(.param .u32 n) .reqnctapercluster 2 { ret; }
    .visible .entry narrow() .maxntid 128 { ret; }
    .visible .entry straight(.param .u64 .ptr .global .align 4 to: &mut [u32])
    {
        .reg .b32 %i;
        .reg .b64 %a;
        ld.param.u64 %a, [to];
        mov.u32 %i, %tid.x;
        mad.wide.u32 %a, %i, 4, %a;
        st.global.u32 [%a], %i;
        ret;
    }
    .visible .entry copy(
        .param .u64 .ptr .global .align 16 from,
        .param .u64 .ptr .global .align 16 to,
        .param .align 8 .b8 shape[12])
    {
        .reg .pred %p;
        .reg .b32 %i, %n, %v, %k;
        .reg .b64 %a, %b, %o;
        ld.param.u64 %a, [from];
        ld.param.u64 %b, [to];
        ld.param.u32 %n, [shape];
        ld.param.u32 %k, [shape + 8];
        mov.u32 %i, %tid.x;
        setp.ge.u32 %p, %i, %n;
        @%p ret;
        mul.wide.u32 %o, %i, 4;
        add.u64 %a, %a, %o;
        add.u64 %b, %b, %o;
        ld.global.u32 %v, [%a];
        add.u32 %v, %v, %k;
        st.global.u32 [%b], %v;
        ret;
    }
}

#[test]
fn the_report_counts_instructions_by_warp() {
    let host = Host::new().engine(Engine::Interpreted);
    for host in [host.clone(), host.clone().threads(2), host.seed(3)] {
        let report = straight.launch(&host, Launch::grid(3).block(70), (&mut [0; 70],)).expect("a clean run");
        // three CTAs of three warps
        assert_eq!(report.instructions, 5 * 9);
    }
}

fn refused(result: Result<Report, ptx_dsl::Error>, words: &[&str]) {
    let error = result.expect_err("the launch must be refused").to_string();
    for word in words {
        assert!(error.contains(word), "`{word}` is not in: {error}");
    }
}

#[test]
fn launches_that_contradict_the_kernel_are_refused() {
    let host = Host::new();
    fixed.launch(&host, Launch::grid(1).block((64, 2)), (1,)).unwrap();
    fixed.launch(&host, Launch::grid(1), (1,)).unwrap();
    refused(fixed.launch(&host, Launch::grid(1).block(64), (1,)), &[".reqntid"]);
    refused(pairs.launch(&host, Launch::grid(3).block(32), (1,)), &["3", "2"]);
    refused(pairs.launch(&host, Launch::grid(4).block(32).cluster(4), (1,)), &[".reqnctapercluster"]);
    refused(narrow.launch(&host, Launch::grid(1).block(129), ()), &[".maxntid"]);
    refused(pairs.launch(&host, Launch::grid(2).block(1025), (1,)), &["1024"]);
    refused(pairs.launch(&host, Launch::grid(2).block(0), (1,)), &["0"]);
    refused(pairs.launch(&host, Launch::grid(2).block(32).dynamic_shared(300 << 10), (1,)), &["shared"]);
}

#[test]
fn raw_arguments_reach_buffers_and_structs() {
    let host = Host::new();
    let from: Vec<u8> = (0..8u32).flat_map(|i| (i * 7).to_le_bytes()).collect();
    let mut to = vec![0u8; 32];
    let mut shape = Vec::new();
    [8u32, 0, 5].iter().for_each(|v| shape.extend(v.to_le_bytes()));
    copy.launch_raw(
        &host,
        Launch::grid(1).block(32),
        &mut [Arg::read_only(&from), Arg::buffer(&mut to), Arg::value(&shape)],
    )
    .unwrap();
    for i in 0..8u32 {
        assert_eq!(to[4 * i as usize..][..4], (i * 7 + 5).to_le_bytes());
    }
    // The same, typed.
    let (a, mut b) = ([1u32, 2, 3], [0u32; 3]);
    let mut bytes = [0u8; 12];
    bytes[0] = 3;
    copy.launch(&host, Launch::grid(1).block(32), (&a, &mut b, bytes)).unwrap();
    assert_eq!(b, a);
}

#[test]
fn raw_arguments_are_checked() {
    let host = Host::new();
    let mut to = vec![0u8; 32];
    let shape = [0u8; 12];
    let one = || Launch::grid(1).block(1);
    refused(copy.launch_raw(&host, one(), &mut [Arg::buffer(&mut to)]), &["3", "1"]);
    let (from, mut to) = ([0u8; 32], [0u8; 32]);
    refused(
        copy.launch_raw(&host, one(), &mut [Arg::read_only(&from), Arg::buffer(&mut to), Arg::value([0u8; 8])]),
        &["shape", "12", "8"],
    );
    refused(
        copy.launch_raw(&host, one(), &mut [Arg::read_only(&from), Arg::buffer_at(&mut to, 4), Arg::value(shape)]),
        &["to", "16"],
    );
    refused(
        copy.launch_raw(
            &host,
            one(),
            &mut [Arg::value(0u64.to_le_bytes()), Arg::buffer(&mut to), Arg::buffer(&mut [0u8; 12])],
        ),
        &["shape"],
    );
}

/// Kernels and constants with the names that emitted code might use for its own locals.
mod names {
    #[allow(non_upper_case_globals, dead_code)]
    const pc: u32 = 1;
    ptx_dsl::ptx! {
        <sm_90, ptx 8.0>
        .visible .entry x(.param .u64 .ptr .global .align 4 w: &mut [u32]) {
            .reg .b64 %a;
            ld.param.u64 %a, [w];
            st.global.u32 [%a], 3;
            ret;
        }
        .visible .entry a(.param .u32 m) { ret; }
        .visible .entry host(.param .u32 launch) { ret; }
        .visible .entry match(.param .u32 args) { ret; }
    }
}

#[test]
fn a_kernel_may_have_any_name() {
    let mut d = [0u32];
    names::x.launch(&Host::new(), Launch::grid(1), (&mut d,)).unwrap();
    names::a.launch(&Host::new(), Launch::grid(1), (1,)).unwrap();
    names::host.launch(&Host::new(), Launch::grid(1), (1,)).unwrap();
    names::r#match.launch(&Host::new(), Launch::grid(1), (1,)).unwrap();
    assert_eq!((d, names::r#match::NAME), ([3], "match"));
}

/// Parameters with various forms of Rust types; two come from a macro, in invisible groups.
macro_rules! typed {
    ($slice:ty, $value:ty) => {
        ptx! {
            <sm_90, ptx 8.0>
            .visible .entry typed(
                .param .u64 rows: &[[f32; 2]],
                .param .u64 halves: & 'static mut [half::f16],
                .param .u64 sums: $slice,
                .param .u32 a: ::core::num::Wrapping<u32>,
                .param .align 4 .b8 b[8]: [u32; 2],
                .param .u32 c: $value)
            {
                .reg .b64 %rows, %halves, %sums;
                .reg .b32 %a, %b, %c;
                .reg .b16 %h;
                ld.param.u64 %rows, [rows];
                ld.param.u64 %halves, [halves];
                ld.param.u64 %sums, [sums];
                ld.param.u32 %a, [a];
                ld.param.u32 %b, [b + 4];
                ld.param.u32 %c, [c];
                mad.lo.u32 %a, %a, %b, %c;
                st.global.u32 [%sums + 4], %a;
                ld.global.u32 %a, [%rows + 12];
                st.global.u32 [%sums], %a;
                mov.b16 %h, 0x3C00;
                st.global.b16 [%halves], %h;
                ret;
            }
        }
    };
}
typed!(&mut [u32], u32);

#[test]
fn arguments_have_the_types_that_parameters_say() {
    let (mut halves, mut sums) = ([half::f16::ZERO], [0u32; 2]);
    let rows = [[1.0f32, 2.0], [3.0, 4.0]];
    let arguments = (&rows[..], &mut halves[..], &mut sums[..], std::num::Wrapping(5), [6, 7], 8);
    typed.launch(&Host::new(), Launch::grid(1).block(1), arguments).unwrap();
    assert_eq!((halves, sums), ([half::f16::ONE], [4.0f32.to_bits(), 5 * 7 + 8]));
}

#[test]
fn progress_is_told_at_the_end_of_each_cluster() {
    use std::sync::{Arc, Mutex};
    let told = Arc::new(Mutex::new(Vec::new()));
    let k = ptx!(<sm_80, ptx 7.0> |d: &mut [u32]| { .reg .b64 %d; ld.param.u64 %d, [d]; red.global.add.u32 [%d], 1; });
    let mut d = [0u32];
    let list = told.clone();
    let launch =
        Launch::grid(6).block(1).on_progress(move |p| list.lock().unwrap().push((p.clusters_done, p.clusters)));
    k.launch(&Host::new().resident_clusters(2), launch, (&mut d,)).unwrap();
    assert_eq!(d, [6]);
    assert_eq!(*told.lock().unwrap(), (1..=6).map(|n| (n, 6)).collect::<Vec<_>>());
}

ptx! {
    <sm_80, ptx 7.0>
    // nothing to do, for very many
    .visible .entry idle(.param .u64 .ptr .global .align 4 out: &mut [u32]) .reqntid 32
    {
        .reg .pred %p;
        .reg .b32 %b;
        .reg .b64 %d;
        ld.param.u64 %d, [out];
        mov.u32 %b, %ctaid.x;
        setp.ne.u32 %p, %b, 3;
        @%p ret;
        st.global.u32 [%d], %b;
        ret;
    }
}

#[test]
fn a_grid_that_takes_for_ever_is_ended() {
    let mut out = [0];
    let error = idle.launch(&Host::new(), Launch::grid(2_000_000_000).step_limit(100_000), (&mut out,)).unwrap_err();
    assert!(error.to_string().contains("not finished after 100000 turns"), "{error}");
    assert_eq!(out, [3]);
    let handle = ptx_dsl::launch::CancelHandle::new();
    handle.cancel();
    let error = idle.launch(&Host::new(), Launch::grid(2_000_000_000).cancel(handle), (&mut out,)).unwrap_err();
    // each engine looks at another moment
    let places = ["cancelled, last at the start of `idle`\n", "cancelled, last at the end of `idle`\n"];
    assert!(places.iter().any(|place| error.to_string().contains(place)), "{error}");
    assert!(!error.to_string().contains("`?`"), "{error}");
}

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry twice(.param .u64 .ptr .global .align 4 x: &mut [u32], .param .u32 n)
    {
        .reg .pred %p;
        .reg .b32 %i, %n, %v;
        .reg .b64 %x, %o;
        ld.param.u64 %x, [x];
        ld.param.u32 %n, [n];
        mov.u32 %i, %tid.x;
        setp.ge.u32 %p, %i, %n;
        @%p ret;
        mul.wide.u32 %o, %i, 4;
        add.u64 %x, %x, %o;
        ld.global.u32 %v, [%x];
        shl.b32 %v, %v, 1;
        st.global.u32 [%x], %v;
        ret;
    }
}

/// Programs and tests can make many small launches. The fastest of many: other programs run on the machine, too. Without optimisation
/// most of the time is spent in code that rustc compiles here.
#[test]
fn a_small_launch_takes_some_microseconds() {
    let limit = Duration::from_micros(if cfg!(debug_assertions) { 30 } else { 10 });
    let host = Host::new().engine(Engine::Interpreted);
    let mut fastest = Duration::MAX;
    for _ in 0..5000 {
        let mut x = [21; 32];
        let start = Instant::now();
        twice.launch(&host, Launch::grid(1).block(32), (&mut x, 32)).unwrap();
        fastest = fastest.min(start.elapsed());
        assert_eq!(x, [42; 32]);
    }
    assert!(fastest < limit, "{fastest:?}");
}

ptx! {
    <sm_90, ptx 8.0>
    // Two rounds: each element becomes another one and the number of the round. A barrier of the grid, as `grid.sync()` has it, is
    // between the loads and the stores of a round.
    .visible .entry rounds(.param .u64 .ptr .global .align 4 x: &mut [u32], .param .u32 n) .reqntid 32
    {
        .reg .pred %p, %leads;
        .reg .b32 %lo, %hi, %i, %at, %n, %v, %s, %k, %old, %new, %add, %cta;
        .reg .b64 %x, %of, %own, %barrier;
        mov.b32 %lo, %envreg2;
        mov.b32 %hi, %envreg1;
        mov.b64 %barrier, {%lo, %hi};
        setp.ne.s64 %p, %barrier, 0;
        @%p bra COOPERATIVE;
        trap;
      COOPERATIVE:
        add.s64 %barrier, %barrier, 4;
        ld.param.u64 %x, [x];
        ld.param.u32 %n, [n];
        mov.u32 %cta, %ctaid.x;
        mov.u32 %i, %tid.x;
        setp.eq.u32 %leads, %i, 0;
        mad.lo.u32 %i, %cta, 32, %i;
        mad.wide.u32 %own, %i, 4, %x;
        mov.u32 %add, %nctaid.x;
        sub.u32 %add, 0x80000001, %add;
        setp.eq.u32 %p, %cta, 0;
        selp.u32 %add, %add, 1, %p;
        mov.u32 %s, 0;
      ROUND:
        mad.lo.u32 %at, %i, 7, %s;
        rem.u32 %at, %at, %n;
        mad.wide.u32 %of, %at, 4, %x;
        ld.global.u32 %v, [%of];
        mov.u32 %k, 0;
      SYNC:
        bar.sync 0;
        @!%leads bra ARRIVED;
        atom.acq_rel.gpu.global.add.u32 %old, [%barrier], %add;
      WAIT:
        ld.acquire.gpu.global.u32 %new, [%barrier];
        xor.b32 %new, %new, %old;
        setp.ge.s32 %p, %new, 0;
        @%p bra WAIT;
      ARRIVED:
        bar.sync 0;
        setp.ne.u32 %p, %k, 0;
        @%p bra NEXT;
        add.u32 %v, %v, %s;
        st.global.u32 [%own], %v;
        mov.u32 %k, 1;
        bra.uni SYNC;
      NEXT:
        add.u32 %s, %s, 1;
        setp.lt.u32 %p, %s, 2;
        @%p bra ROUND;
        ret;
    }
}

#[test]
fn all_ctas_of_a_cooperative_launch_are_resident() {
    let n = 18 * 32;
    let first: Vec<u32> = (0..n).map(|i| i * i).collect();
    let mut wanted = first.clone();
    for s in 0..2 {
        wanted = (0..n).map(|i| wanted[((i * 7 + s) % n) as usize] + s).collect();
    }
    let launch = || Launch::grid(18).cooperative();
    for host in [Host::new(), Host::new().threads(2), Host::new().resident_clusters(1)] {
        let mut x = first.clone();
        rounds.launch(&host, launch(), (&mut x, n)).unwrap();
        assert_eq!(x, wanted);
    }
    let mut x = first.clone();
    rounds.launch(&Host::checked(), launch(), (&mut x, n)).unwrap();
    assert_eq!(x, wanted);
    // again: its memory starts as zeros
    rounds.launch(&Host::new(), launch(), (&mut x, n)).unwrap();

    let error = rounds.launch(&Host::new(), Launch::grid(18), (&mut x, n)).unwrap_err();
    assert_eq!(error.fault().map(|fault| &fault.kind), Some(&ptx_dsl::fault::FaultKind::NotCooperative));
    assert!(error.to_string().contains("launch it with `Launch::cooperative`"), "{error}");
    let error = rounds.launch(&Host::new(), Launch::grid(4225).cooperative(), (&mut x, n)).unwrap_err();
    assert!(error.to_string().contains("a cooperative launch of 4225 CTAs, but the limit is 4224"), "{error}");
}
