//! Kernels that never end, or never wait for what they start: they end soon, and do not fill the memory of the host.

use super::{HEAD, one};
use ptx_dsl::load::{Kernel, Level, Options, Selector};
use ptx_dsl::prelude::*;
use ptx_dsl::{Error, FaultKind, LaunchError};

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
