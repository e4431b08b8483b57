//! Kernels that never end, or never wait for what they start: they end soon, and do not fill the memory of the host.

use crate::{HEAD, one};
use ptx_dsl::Error;
use ptx_dsl::fault::FaultKind;
use ptx_dsl::launch::LaunchError;
use ptx_dsl::load::{Kernel, Level, Options, Selector};
use ptx_dsl::prelude::*;

/// The regions that one thread runs without a step limit.
fn turns(kernel: &Kernel, words: usize) -> u64 {
    let error = kernel.launch_raw(&Host::new(), Launch::grid(1), &mut [(&mut vec![0u32; words]).into()]).unwrap_err();
    let Some(FaultKind::StepLimit { turns, .. }) = error.fault().map(|fault| &fault.kind) else { panic!("{error}") };
    *turns
}

/// A kernel that reads what a copy may not have written yet.
fn early(body: &str) -> Kernel {
    let text = format!(
        "{HEAD}.visible .entry k(.param .u64 .ptr .global .align 16 x) {{ .reg .b32 %v, %w; .reg .pred %p; .reg .b64 %x, %a;
         .shared .align 16 .b32 tile[4]; ld.param.u64 %x, [x]; {body} ret; }}"
    );
    let allowed = [648, 680].map(Selector::Code);
    let options = allowed.into_iter().fold(Options::new(), |options, code| options.level(Level::Allow, code));
    options.parse(&text).unwrap().kernel("k").unwrap().clone()
}

const COPY: &str = ".shared .align 16 .b8 tile[32768];
    again: cp.async.bulk.global.shared::cta.bulk_group [%x], [tile], 32768;
    cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;";

#[test]
fn large_copies_count_for_more_than_an_instruction() {
    let endless = turns(&one("", &format!("{COPY} bra again;")), 1 << 13);
    assert!((10_000..5_000_000).contains(&endless), "{endless}");
}

#[test]
fn copies_that_nobody_waits_for_complete() {
    // 70,000 of a warp, which is more than are kept; the first word of the buffer is 7
    let text = "mov.u32 %v, 0;
        again: cp.async.ca.shared.global [tile], [%x], 16; add.u32 %v, %v, 1; setp.lt.u32 %p, %v, 70000; @%p bra again;
        ld.shared.u32 %w, [tile]; st.global.u32 [%x+16], %w; cp.async.wait_all;";
    let mut x = [7u32, 0, 0, 0, 0, 0, 0, 0];
    early(text).launch_raw(&Host::new(), Launch::grid(1), &mut [(&mut x).into()]).unwrap();
    assert_eq!(x[4], 7);
}

#[test]
fn bulk_copies_that_nobody_waits_for_complete() {
    // 2,500 in one region
    let copies = "cp.async.bulk.global.shared::cta.bulk_group [%a], [tile], 16;".repeat(80);
    let text = format!(
        "st.shared.u32 [tile], 7; fence.proxy.async; add.u64 %a, %x, 64;
         {copies} ld.global.u32 %w, [%a]; st.global.u32 [%x], %w;
         cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
    );
    let mut x = [0u32; 32];
    early(&text).launch_raw(&Host::new(), Launch::grid(1).block(32), &mut [(&mut x).into()]).unwrap();
    assert_eq!(x[0], 7);
}

#[test]
fn local_memory_of_resident_clusters_is_limited() {
    let text = ".local .align 4 .b8 deep[500000]; st.local.u32 [deep], 1; ld.local.u32 %v, [deep]; st.global.u32 [%x], %v; ret;";
    let kernel = one("", text);
    // 64 CTAs of 512 MB, of which 16 were resident
    let mut x = vec![0u32; 64 * 1024];
    kernel.launch_raw(&Host::new(), Launch::grid(64).block(1024), &mut [(&mut x).into()]).unwrap();
    assert!(x.iter().all(|v| *v == 1));
    let together = Launch::grid(32).block(1024).cooperative();
    let Err(Error::Launch { problem, .. }) = kernel.launch_raw(&Host::new(), together, &mut [(&mut x).into()]) else {
        panic!()
    };
    assert_eq!(problem, LaunchError::ResidentLocalMemory { bytes: 32 * 1024 * 500_000, ctas: 32 });
}

/// Endless loops of many threads end soon: the work of all of them counts, and that of atomic operations and calls for more.
#[test]
fn endless_loops_of_many_threads_end() {
    let atomics = "again: atom.global.add.u32 %v, [%x], 1; bra again;";
    let stores =
        "again: atom.global.add.u32 %v, [%x], 1; and.b32 %v, %v, 255; mul.wide.u32 %a, %v, 4; add.u64 %a, %x, %a;
        st.relaxed.gpu.global.u32 [%a], %v; bra again;";
    for body in [atomics, stores] {
        let text = format!(
            "{HEAD}.visible .entry k(.param .u64 .ptr .global .align 4 x) .reqntid 1024
             {{ .reg .b32 %v; .reg .b64 %x, %a; ld.param.u64 %x, [x]; {body} }}"
        );
        let kernel = Options::new().parse(&text).unwrap().kernel("k").unwrap().clone();
        let error = kernel.launch_raw(&Host::new(), Launch::grid(1), &mut [(&mut vec![0u32; 256]).into()]).unwrap_err();
        let Some(FaultKind::StepLimit { turns, .. }) = error.fault().map(|fault| &fault.kind) else {
            panic!("{error}")
        };
        assert!(*turns < 30_000_000, "{turns}");
    }
    let call = |n: &str, to: &str| {
        format!(
            "{{ .param .b32 i; .param .b32 o; st.param.b32 [i], {n}; call.uni (o), fib, (i); ld.param.b32 {to}, [o]; }}"
        )
    };
    let text = format!(
        "{HEAD}.func (.param .b32 r) fib(.param .b32 n)
         {{ .reg .b32 %n, %a, %b; .reg .pred %p; ld.param.b32 %n, [n]; setp.lt.u32 %p, %n, 2; @%p bra small;
         sub.u32 %a, %n, 1; {} sub.u32 %b, %n, 2; {} add.u32 %a, %a, %b; st.param.b32 [r], %a; ret;
         small: st.param.b32 [r], %n; ret; }}
         .visible .entry k(.param .u64 .ptr .global .align 4 x) .reqntid 1024
         {{ .reg .b32 %v; .reg .b64 %x; ld.param.u64 %x, [x]; {} st.global.u32 [%x], %v; ret; }}",
        call("%a", "%a"),
        call("%b", "%b"),
        call("60", "%v")
    );
    let kernel = Options::new().parse(&text).unwrap().kernel("k").unwrap().clone();
    let turns = turns(&kernel, 1);
    assert!(turns < 5_000_000, "{turns}");
}

/// Kernels that count to an end, or write to ever new places, have more time than endless loops.
#[test]
fn long_kernels_that_go_on_are_not_ended() {
    let launch = |body: &str, words: usize| {
        let text = format!(
            "{HEAD}.visible .entry k(.param .u64 .ptr .global .align 4 x) .reqntid 1024
             {{ .reg .b32 %v, %i; .reg .pred %p; .reg .b64 %x, %a; ld.param.u64 %x, [x]; {body} ret; }}"
        );
        let kernel = Options::new().parse(&text).unwrap().kernel("k").unwrap().clone();
        let mut x = vec![0u32; words];
        kernel.launch_raw(&Host::new(), Launch::grid(1), &mut [(&mut x).into()]).unwrap();
        x
    };
    // more than three times as much as an endless loop may run
    let counted = "mov.u32 %i, 0; again: atom.global.add.u32 %v, [%x], 1; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 350000; @%p bra again;";
    assert_eq!(launch(counted, 1), [350_000 * 1024]);
    let taken =
        "again: atom.global.add.u32 %v, [%x], 1; setp.ge.u32 %p, %v, 358400000; @%p bra done; shr.u32 %v, %v, 8;
        mul.wide.u32 %a, %v, 4; add.u64 %a, %x, %a; st.relaxed.gpu.global.u32 [%a+4], 7; bra again; done:";
    assert!(launch(taken, 1_400_002)[1..1_400_001].iter().all(|v| *v == 7));
}
