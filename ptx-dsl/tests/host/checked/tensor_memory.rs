//! Tensor Memory of a pair of CTAs: addresses, and allocations of both CTAs.

use super::async_races::hosts;
use super::races::permissive;
use ptx_dsl::Error;
use ptx_dsl::fault::FaultKind;
use ptx_dsl::prelude::*;

/// A pair of CTAs of 128 threads. The first warp of each allocates, the threads meet, and execute `body` with the address of their lanes
/// and the first columns in `%a`; `%rank` is the rank. They store `%v`, meet again, and the first warp deallocates.
fn pair(group: u32, meet: &str, body: &str) -> String {
    let (before, after) = ("tcgen05.fence::before_thread_sync;", "tcgen05.fence::after_thread_sync;");
    format!(
        ".version 8.6\n.target sm_100a\n.address_size 64\n\
         .visible .entry k(.param .u64 .ptr .global .align 4 x) .reqntid 128 .reqnctapercluster 2\n{{\n\
         .reg .pred %first, %p; .reg .b32 %t, %rank, %slot, %a, %v, %w, %warp, %own, %peer; .reg .b64 %x;\n\
         .shared .align 4 .b32 slot; .shared .align 8 .b64 bar;\n\
         ld.param.u64 %x, [x]; mov.u32 %t, %tid.x; mov.u32 %rank, %cluster_ctarank; shr.u32 %warp, %t, 5;\n\
         setp.ne.u32 %first, %warp, 0; mov.u32 %slot, slot; mov.u32 %own, bar; mapa.shared::cluster.u32 %peer, %own, 1;\n\
         setp.eq.u32 %p, %t, 0; @%p mbarrier.init.shared::cta.b64 [bar], 1; fence.mbarrier_init.release.cluster;\n\
         barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n\
         @%first bra met;\n\
         tcgen05.alloc.cta_group::{group}.sync.aligned.shared::cta.b32 [%slot], 32;\n\
         tcgen05.relinquish_alloc_permit.cta_group::{group}.sync.aligned;\n\
         met: {before} {meet} {after}\n\
         shl.b32 %v, %warp, 21; add.u32 %a, %a, %v;\n{body}\n\
         mad.lo.u32 %w, %rank, 128, %t; mad.wide.u32 %x, %w, 4, %x; st.global.u32 [%x], %v;\n\
         {before} barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n\
         @%first bra done; ld.shared.b32 %a, [slot];\n\
         tcgen05.dealloc.cta_group::{group}.sync.aligned.b32 %a, 32;\ndone: ret;\n}}\n"
    )
}

fn run(host: &Host<ptx_dsl::Checked>, text: &str) -> Result<[u32; 256], Error> {
    let module = permissive().parse(text).unwrap();
    let mut x = [0; 256];
    module.kernel("k").unwrap().launch_raw(host, Launch::grid(2), &mut [(&mut x[..]).into()])?;
    Ok(x)
}

const BARRIER: &str = "bar.sync 0; ld.shared.b32 %a, [slot];";
const STORE: &str = "tcgen05.st.sync.aligned.32x32b.x1.b32 [%a], {%t}; tcgen05.wait::st.sync.aligned;";
const LOAD: &str = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v}, [%a]; tcgen05.wait::ld.sync.aligned;";

/// Each CTA addresses its own Tensor Memory at lane `128 * rank` and above, as shipped kernels do.
#[test]
fn only_seven_bits_of_a_lane_count() {
    let far = "shl.b32 %w, %rank, 23; add.u32 %a, %a, %w;";
    let all: [u32; 256] = std::array::from_fn(|i| i as u32 % 128);
    for host in hosts() {
        for group in [1, 2] {
            assert_eq!(run(&host, &pair(group, BARRIER, &format!("{STORE} {far} {LOAD}"))).unwrap(), all);
            assert_eq!(run(&host, &pair(group, BARRIER, &format!("{far} {STORE} {LOAD}"))).unwrap(), all);
        }
        // the quarter of the warp still counts
        let wrong = format!("add.u32 %a, %a, 0x200000; {STORE} {LOAD}");
        let Err(Error::Fault(fault)) = run(&host, &pair(1, BARRIER, &wrong)) else { panic!() };
        assert!(matches!(fault.kind, FaultKind::TensorMemory { .. }), "{fault}");
    }
}

/// Both CTAs of a pair allocate, and use their own columns.
#[test]
fn a_pair_that_allocates() {
    let body = format!("{STORE} {LOAD}");
    let cluster = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; ld.shared.b32 %a, [slot];";
    for host in hosts() {
        for meet in [BARRIER, cluster] {
            run(&host, &pair(2, meet, &body)).unwrap();
        }
    }
}

/// The two halves of an allocation are one operation: CTA 1 learns of it from the warp of CTA 0 that has allocated, and from nobody else.
#[test]
fn an_allocation_of_which_the_peer_tells() {
    let tell = |publish: &str| {
        format!(
            "setp.ne.or.u32 %p, %rank, 0, %first; @%p bra wait; {publish}\n\
             elect.sync _|%p, -1; @%p mbarrier.arrive.release.cluster.shared::cta.b64 _, [bar];\n\
             @%p mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%peer];\n\
             wait: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p, [bar], 0; @!%p bra wait;\n\
             bar.warp.sync -1; mapa.shared::cluster.u32 %a, %slot, 0; ld.shared::cluster.b32 %a, [%a];"
        )
    };
    let body = format!("{STORE} {LOAD}");
    for host in hosts() {
        run(&host, &pair(2, &tell("bar.warp.sync -1;"), &body)).unwrap();
        // with `.cta_group::1` each CTA has an allocation of its own
        let Err(Error::Fault(fault)) = run(&host, &pair(1, &tell("bar.warp.sync -1;"), &body)) else { panic!() };
        assert!(matches!(fault.kind, FaultKind::TensorRace(_) | FaultKind::TensorMemory { .. }), "{fault}");
    }
}
