//! What the checked host finds about asynchronous operations and proxies, and what it must not find: in 20 schedules each.

use super::races::{run_on, threads};
use ptx_dsl::Error;
use ptx_dsl::fault::{FaultKind, Race};
use ptx_dsl::prelude::*;

pub(super) fn hosts() -> impl Iterator<Item = Host<ptx_dsl::Checked>> {
    std::iter::once(Host::checked()).chain((0..19).map(|seed| Host::checked().seed(seed)))
}

#[track_caller]
pub(super) fn clean(launch: &Launch, body: &str) {
    for host in hosts() {
        if let Err(error) = run_on(&host, launch.clone(), body) {
            panic!("{body}\n{error}");
        }
    }
}

/// The first race in the kernel, which each schedule has, perhaps after reads of what nobody has written yet.
#[track_caller]
pub(super) fn race(launch: &Launch, body: &str) -> Race {
    let mut first = None;
    for host in hosts() {
        match run_on(&host, launch.clone(), body) {
            Err(Error::Fault(fault)) => {
                let mut kinds = std::iter::once(&fault.kind).chain(fault.others.iter().map(|other| &other.kind));
                match kinds.find(|kind| !matches!(kind, FaultKind::Uninitialised { .. })) {
                    Some(FaultKind::DataRace(race)) => _ = first.get_or_insert_with(|| (**race).clone()),
                    _ => panic!("{body}\n{fault}"),
                }
            }
            other => panic!("{body}\nno race: {other:?}"),
        }
    }
    first.unwrap()
}

/// The race is a fence of proxies that is missing.
#[track_caller]
fn unfenced(launch: &Launch, body: &str, fence: &str) {
    let race = race(launch, body);
    assert_eq!(race.fence, Some(fence), "{body}\n{race}");
}

const SHARED: &str = "fence.proxy.async.shared::cta";
const GLOBAL: &str = "fence.proxy.async.global";
const MAP: &str = "fence.proxy.tensormap::generic";

/// `$p` is true in thread 0, `$!p` in the others.
pub(super) fn leader(body: &str) -> String {
    format!("setp.eq.u32 %p, %t, 0; {body}").replace("$p", "@%p").replace("$!p", "@!%p").replace("$q", "@%q")
}

/// Waits for phase 0 of `bar`.
pub(super) const WAIT: &str = "full: mbarrier.try_wait.parity.shared.b64 %q, [bar], 0; @!%q bra full;";
/// Copies 128 bytes from `a` to `tile` and announces them.
const LOAD: &str = "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;\n\
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%a], 128, [bar];";
/// Copies 128 bytes from `tile` to `b`.
const STORE: &str = "cp.async.bulk.global.shared::cta.bulk_group [%b], [tile], 128; cp.async.bulk.commit_group;";

#[test]
fn stores_that_a_bulk_copy_reads() {
    let body = |writer: &str, issuer: &str| {
        leader(&format!(
            "st.shared.u32 [%r1], %t; {writer} bar.sync 0; $!p bra done; {issuer} {STORE} cp.async.bulk.wait_group 0; done:"
        ))
    };
    let fence = "fence.proxy.async.shared::cta;";
    clean(&threads(64), &body(fence, ""));
    clean(&threads(64), &body("", fence));
    clean(&threads(64), &body("fence.proxy.async;", ""));
    unfenced(&threads(64), &body("", ""), SHARED);
    unfenced(&threads(64), &body("fence.proxy.async.global;", ""), SHARED);
    // one thread for all, and too early
    unfenced(&threads(64), &body(&format!("$p {fence}").replace("$p", "@%p"), ""), SHARED);
    let early = body("", "").replacen("st.shared", &format!("{fence} st.shared"), 1);
    unfenced(&threads(64), &early, SHARED);
    // a fence is not a barrier
    let apart = body(fence, "").replace("bar.sync 0;", "");
    assert_eq!(race(&threads(64), &apart).fence, None);
}

#[test]
fn a_bulk_copy_of_bytes_that_nobody_has_written() {
    // the warp has written the first 128 bytes
    let body = |bytes: u32| {
        leader(&format!(
            "st.shared.u32 [%r1], %t; fence.proxy.async.shared::cta; bar.sync 0; $!p bra done;\n\
             cp.async.bulk.global.shared::cta.bulk_group [%b], [tile], {bytes}; cp.async.bulk.commit_group;\n\
             cp.async.bulk.wait_group 0; done:"
        ))
    };
    clean(&threads(32), &body(128));
    for host in hosts() {
        let Err(Error::Fault(fault)) = run_on(&host, threads(32), &body(256)) else { panic!("no fault") };
        assert!(matches!(fault.kind, FaultKind::Uninitialised { space: "shared", addr: 128 }), "{fault}");
    }
}

#[test]
fn stores_that_a_bulk_copy_overwrites() {
    let body = |between: &str| {
        leader(&format!(
            "$p mbarrier.init.shared.b64 [bar], 1; st.shared.u32 [%r1], %t; {between} bar.sync 0; $!p bra wait; {LOAD}\n\
             wait: {WAIT} and.b32 %r2, %t, 31; mad.lo.u32 %r2, %r2, 4, %r0; ld.shared.u32 %r3, [%r2];"
        ))
    };
    // what the copy has written needs no fence
    clean(&threads(64), &body("fence.proxy.async.shared::cta;"));
    unfenced(&threads(64), &body(""), SHARED);
    // a value that was read is there
    clean(&threads(64), &body("bar.sync 0; ld.shared.u32 %r4, [%r1];"));
}

/// A copy over what threads have loaded. Compilers leave the fence out, so it is wanted on request alone.
#[test]
fn loads_before_a_bulk_copy() {
    let body = |reader: &str, issuer: &str| {
        leader(&format!(
            "$p mbarrier.init.shared.b64 [bar], 1; st.shared.u32 [%r1], %t; fence.proxy.async.shared::cta; bar.sync 0;\n\
             ld.shared.u32 %r4, [%r1]; {reader} bar.sync 0; $!p bra wait; {issuer} {LOAD} wait: {WAIT}"
        ))
    };
    let strict = |body: &str| run_on(&Host::checked().read_fences(), threads(64), body);
    clean(&threads(64), &body("", ""));
    let Err(Error::Fault(fault)) = strict(&body("", "")) else { panic!("no finding") };
    let FaultKind::DataRace(race) = &fault.kind else { panic!("{fault}") };
    assert_eq!((race.fence, race.other.access), (Some(SHARED), "load"), "{fault}");
    let text = fault.to_string();
    assert!(text.contains("PTX ISA 9.7.13.4") && text.contains("shared::cta` after the load, before"), "{text}");
    for (reader, issuer) in [("fence.proxy.async.shared::cta;", ""), ("", "fence.proxy.async;")] {
        strict(&body(reader, issuer)).unwrap_or_else(|e| panic!("{e}"));
    }
    // what the copy only reads needs none
    let stored = format!(
        "st.shared.u32 [%r1], %t; fence.proxy.async.shared::cta; bar.sync 0; ld.shared.u32 %r4, [%r1]; bar.sync 0; $!p bra done;\n\
         {STORE} cp.async.bulk.wait_group 0; done:"
    );
    strict(&leader(&stored)).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn stores_to_global_memory_that_a_bulk_copy_reads() {
    let body = |fence: &str| {
        leader(&format!(
            "$p mbarrier.init.shared.b64 [bar], 1; mad.wide.u32 %d0, %t, 4, %a; st.global.u32 [%d0], %t; {fence} bar.sync 0;\n\
             $!p bra done; {LOAD} {WAIT} done:"
        ))
    };
    clean(&threads(64), &body("fence.proxy.async.global;"));
    unfenced(&threads(64), &body(""), GLOBAL);
    unfenced(&threads(64), &body("fence.proxy.async.shared::cta;"), GLOBAL);
}

#[test]
fn cp_async_is_of_the_generic_proxy() {
    let body = |fence: &str| {
        leader(&format!(
            "mad.wide.u32 %d0, %t, 4, %a; cp.async.ca.shared.global [%r1], [%d0], 4; cp.async.commit_group; cp.async.wait_group 0;\n\
             {fence} bar.sync 0; $!p bra done; {STORE} cp.async.bulk.wait_group 0; done:"
        ))
    };
    clean(&threads(64), &body("fence.proxy.async.shared::cta;"));
    unfenced(&threads(64), &body(""), SHARED);
}

#[test]
fn a_matrix_of_wgmma() {
    // 8 x 16 halves in two core matrices
    let body = |fence: &str, wait: &str| {
        leader(&format!(
            ".reg .b32 %f<4>; .reg .b64 %m; mov.b32 %f0, 0; mov.b32 %f1, 0; mov.b32 %f2, 0; mov.b32 %f3, 0; mov.b32 %r5, 0;\n\
             st.shared.u32 [%r1], 0; {fence} bar.sync 0; shr.u32 %r4, %r0, 4; cvt.u64.u32 %m, %r4; or.b64 %m, %m, 0x800080000;\n\
             wgmma.fence.sync.aligned;\n\
             wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{%f0, %f1, %f2, %f3}}, {{%r5, %r5, %r5, %r5}}, %m, 1, 1, 1, 0;\n\
             wgmma.commit_group.sync.aligned; {wait} bar.sync 0; st.shared.u32 [%r1], 1; wgmma.wait_group.sync.aligned 0;"
        ))
    };
    let (fence, wait) = ("fence.proxy.async.shared::cta;", "wgmma.wait_group.sync.aligned 0;");
    clean(&threads(128), &body(fence, wait));
    unfenced(&threads(128), &body("", wait), SHARED);
    // a barrier does not wait for the product, and one group may still be there
    for wait in ["", "wgmma.wait_group.sync.aligned 1;"] {
        let found = race(&threads(128), &body(fence, wait));
        assert_eq!((found.access, found.other.access, found.fence), ("store", "read by a matrix operation", None));
    }
}

/// A tensor map that the kernel changes, in global memory.
#[test]
fn tensor_maps() {
    let text = |fences: &str| {
        format!(
            ".version 8.6\n.target sm_90a\n.address_size 64\n\
             .visible .entry k(.param .u64 .ptr .global .align 128 map, .param .u64 a) .reqntid 1\n{{\n\
             .reg .pred %q; .reg .b64 %m, %a; .shared .align 128 .b8 tile[128]; .shared .align 8 .b64 bar;\n\
             ld.param.u64 %m, [map]; ld.param.u64 %a, [a]; mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster;\n\
             tensormap.replace.tile.global_address.global.b1024.b64 [%m], %a; {fences}\n\
             mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128;\n\
             cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%m, {{0}}], [bar];\n\
             {WAIT} ret;\n}}\n"
        )
    };
    let run = |host: &Host<ptx_dsl::Checked>, fences: &str| {
        let module = super::races::permissive().parse(&text(fences)).unwrap();
        let (mut a, mut b) = ([1u8; 128], [2u8; 128]);
        let map = ptx_dsl::tensor_map::TensorMap::tiled(&mut a, ptx_dsl::tensor_map::ElementType::U8)
            .dims([128])
            .box_dims([128])
            .build()
            .unwrap();
        let mut args = [(&map).into(), ptx_dsl::Arg::buffer(&mut b)];
        module.kernel("k").unwrap().launch_raw(host, Launch::grid(1).block(1), &mut args)
    };
    let (release, acquire) =
        ("fence.proxy.tensormap::generic.release.gpu;", "fence.proxy.tensormap::generic.acquire.gpu [%m], 128;");
    for host in hosts() {
        run(&host, &format!("{release} {acquire}")).unwrap();
        for fences in ["", release, acquire, &format!("{acquire} {release}"), "fence.proxy.async; fence.acq_rel.gpu;"] {
            let Err(Error::Fault(fault)) = run(&host, fences) else { panic!("{fences}: no race") };
            let FaultKind::DataRace(race) = &fault.kind else { panic!("{fault}") };
            assert_eq!((race.fence, race.access), (Some(MAP), "read of the tensor map"), "{fault}");
        }
    }
}

/// A copy to the peer CTA, whose mbarrier object is initialised there.
#[test]
fn an_mbarrier_object_of_the_peer() {
    let body = |init: &str, meet: &str| {
        leader(&format!(
            "mov.u32 %r2, %cluster_ctarank; xor.b32 %r3, %r2, 1; mapa.shared::cluster.u32 %r4, %r0, %r3; mov.u32 %r5, bar;\n\
             mapa.shared::cluster.u32 %r6, %r5, %r3; mbarrier.init.shared.b64 [bar], 1;\n\
             mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128; st.shared.u32 [tile+512], 0;\n\
             mov.u32 %r7, 0; fill: add.u32 %r8, %r0, %r7; st.shared.u32 [%r8+512], 0; add.u32 %r7, %r7, 4;\n\
             setp.lt.u32 %q, %r7, 128; $q bra fill; fence.proxy.async; {init} {meet}\n\
             cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r4], [tile+512], 128, [%r6];\n\
             {WAIT} barrier.cluster.arrive; barrier.cluster.wait;"
        ))
    };
    let two = Launch::grid(2).block(1).cluster(2);
    let meet = "barrier.cluster.arrive; barrier.cluster.wait;";
    let relaxed = "barrier.cluster.arrive.relaxed; barrier.cluster.wait;";
    clean(&two, &body("", meet));
    clean(&two, &body("fence.mbarrier_init.release.cluster;", relaxed));
    let found = race(&two, &body("", relaxed));
    assert_eq!(found.other.access, "`mbarrier.init` or `.inval`");
}

#[test]
fn the_source_of_a_copy() {
    let body = |wait: &str| {
        leader(&format!(
            "st.shared.u32 [%r1], %t; fence.proxy.async.shared::cta; bar.sync 0; $!p bra meet; {STORE} {wait}\n\
             meet: bar.sync 0; st.shared.u32 [%r1], 7; $p cp.async.bulk.wait_group 0;"
        ))
    };
    clean(&threads(64), &body("cp.async.bulk.wait_group.read 0;"));
    clean(&threads(64), &body("cp.async.bulk.wait_group 0;"));
    for wait in ["", "cp.async.bulk.wait_group.read 1;"] {
        let found = race(&threads(64), &body(wait));
        assert_eq!((found.access, found.other.access), ("store", "read by an asynchronous copy"));
    }
    // only the thread that has waited knows
    let alone = body("cp.async.bulk.wait_group.read 0;").replacen("meet: bar.sync 0;", "meet:", 1);
    race(&threads(64), &alone);
}

#[test]
fn the_destination_of_a_copy() {
    let body = |wait: &str| {
        leader(&format!(
            "$p mbarrier.init.shared.b64 [bar], 1; bar.sync 0; $!p bra wait; {LOAD}\n\
             wait: {wait} mov.u32 %r2, %l; mad.lo.u32 %r2, %r2, 4, %r0; ld.shared.u32 %r3, [%r2];\n\
             last: mbarrier.try_wait.parity.shared.b64 %q, [bar], 0; @!%q bra last;"
        ))
    };
    clean(&threads(64), &body(WAIT));
    // one thread waits for all, and tells them or not
    let one = format!("$!p bra meet; {WAIT} meet:").replace("$!p", "@!%p");
    clean(&threads(64), &body(&format!("{one} bar.sync 0;")));
    for wait in ["", "nanosleep.u32 1000000;", &one] {
        let found = race(&threads(64), &body(wait));
        assert!(matches!(found.other.access, "write by an asynchronous copy"), "{found}");
    }
}

#[test]
fn a_cp_async_that_lands_anywhere() {
    let body = |wait: &str| {
        format!(
            "mad.wide.u32 %d0, %t, 4, %a; cp.async.ca.shared.global [%r1], [%d0], 4; cp.async.commit_group; {wait}\n\
             xor.b32 %r2, %t, 1; mad.lo.u32 %r2, %r2, 4, %r0; ld.shared.u32 %r3, [%r2]; cp.async.wait_group 0;"
        )
    };
    clean(&threads(64), &body("cp.async.wait_group 0; bar.sync 0;"));
    clean(&threads(64), &body("cp.async.wait_group 0; bar.warp.sync -1;"));
    for wait in ["bar.sync 0;", "cp.async.wait_group 0;", "cp.async.wait_group 1; bar.sync 0;"] {
        let found = race(&threads(64), &body(wait));
        assert_eq!((found.access, found.other.access), ("load", "asynchronous store"));
    }
    // through an mbarrier object
    let object = |arrive: &str| {
        leader(&format!(
            "$p mbarrier.init.shared.b64 [bar], 64; bar.sync 0;\n{}",
            body(&format!("{arrive} {WAIT}")).replace("%p", "%q")
        ))
    };
    clean(&threads(64), &object("cp.async.mbarrier.arrive.noinc.shared.b64 [bar];"));
    race(&threads(64), &object("mbarrier.arrive.shared.b64 _, [bar];"));
}

#[test]
fn stores_of_copies_to_global_memory() {
    let body = |wait: &str| {
        leader(&format!(
            "st.shared.u32 [%r1], %t; fence.proxy.async.shared::cta; bar.sync 0; $!p bra meet; {STORE} {wait}\n\
             meet: bar.sync 0; mad.wide.u32 %d0, %l, 4, %b; ld.global.u32 %r3, [%d0]; $p cp.async.bulk.wait_group 0;"
        ))
    };
    clean(&threads(64), &body("cp.async.bulk.wait_group 0;"));
    for wait in ["", "cp.async.bulk.wait_group.read 0;"] {
        let found = race(&threads(64), &body(wait));
        assert_eq!((found.space, found.other.access), ("global", "write by an asynchronous copy"));
    }
}

#[test]
fn lanes_that_store_one_tile() {
    let body = |from: &str| {
        format!(
            "st.shared.u32 [%r1], %w; fence.proxy.async.shared::cta; bar.sync 0; {from}\n\
             cp.async.bulk.global.shared::cta.bulk_group [%b], [%r2], 64; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
        )
    };
    // all lanes store the same, and so do two warps that have the same bytes
    clean(&threads(64), &body("mov.u32 %r2, %r0;"));
    clean(&threads(32), &body("and.b32 %r3, %l, 1; mad.lo.u32 %r2, %r3, 64, %r0;"));
    // the warps store different bytes
    let found = race(&threads(64), &body("mad.lo.u32 %r2, %w, 128, %r0;"));
    assert_eq!((found.access, found.other.access), ("write by an asynchronous copy", "write by an asynchronous copy"));
}

#[test]
fn reductions() {
    let body = |launch: &str| {
        format!(
            "setp.eq.u32 %p, %l, 0; st.shared.u32 [%r1], 1; fence.proxy.async.shared::cta; bar.sync 0; @!%p bra done; {launch} done:"
        )
    };
    let add = "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%b], [tile], 64;";
    let wait = "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;";
    clean(&threads(64), &body(&format!("{add} {add} {wait}")));
    clean(&threads(64), &body(&format!("red.global.add.u32 [%b], 1; {add} {wait}")));
    let found = race(&threads(64), &body(&format!("{add} {wait} ld.global.u32 %r3, [%b];")));
    assert!([found.access, found.other.access].contains(&"asynchronous reduction"), "{found}");
    // an ordinary store to what others reduce
    race(&threads(64), &body(&format!("st.global.u32 [%b], %w; {add} {wait}")));
}

#[test]
fn asynchronous_stores_to_a_peer() {
    let body = |wait: &str| {
        leader(&format!(
            "mov.u32 %r2, %cluster_ctarank; setp.ne.u32 %q, %r2, 0; mov.u32 %r5, bar; mapa.shared::cluster.u32 %r4, %r0, 1;\n\
             mapa.shared::cluster.u32 %r6, %r5, 1; mbarrier.init.shared.b64 [bar], 1;\n\
             mbarrier.arrive.expect_tx.shared.b64 _, [bar], 4; barrier.cluster.arrive; barrier.cluster.wait; $q bra read;\n\
             st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r4], 9, [%r6]; bra done;\n\
             read: {wait} ld.shared.u32 %r7, [tile];\n\
             last: mbarrier.try_wait.parity.shared.b64 %q, [bar], 0; @!%q bra last;\n\
             done: barrier.cluster.arrive; barrier.cluster.wait;"
        ))
    };
    let two = Launch::grid(2).block(1).cluster(2);
    clean(&two, &body(WAIT));
    // objects beyond those that the detector numbers
    let many = ".shared .align 8 .b64 many[300]; mov.u32 %r8, 0; mov.u32 %r9, many;\n\
        more: mbarrier.init.shared.b64 [%r9], 1; add.u32 %r9, %r9, 8; add.u32 %r8, %r8, 1; setp.lt.u32 %q, %r8, 300; $q bra more;\n";
    clean(&two, &format!("{}{}", leader(many), body(WAIT)));
    for host in hosts() {
        // the load comes before the store has begun, or is a race with it
        assert!(run_on(&host, two.clone(), &body("nanosleep.u32 100000;")).is_err());
    }
}

/// A ring of three stages that is filled one step too early: the product before the last may still read the stage.
#[test]
fn a_ring_that_is_filled_too_early() {
    let fill = "add.u32 %r9, %r8, 1; rem.u32 %r10, %r9, 3; mad.lo.u32 %r11, %r10, 256, %r0; mad.lo.u32 %r11, %t, 2, %r11;\n\
        st.shared.u16 [%r11], %h; fence.proxy.async.shared::cta; bar.sync 0;";
    let wait = "wgmma.wait_group.sync.aligned 1; bar.sync 0;";
    let body = |first: &str, then: &str| {
        format!(
            ".reg .b32 %f<4>; .reg .b16 %h; .reg .b64 %m; mov.b32 %f0, 0; mov.b32 %f1, 0; mov.b32 %f2, 0; mov.b32 %f3, 0;\n\
             mov.b32 %r5, 0; mov.b16 %h, 0; mov.u32 %r8, -1;\n{fill} mov.u32 %r8, 0;\n\
             step: {first} {then} rem.u32 %r12, %r8, 3; mad.lo.u32 %r12, %r12, 256, %r0; shr.u32 %r4, %r12, 4;\n\
             cvt.u64.u32 %m, %r4; or.b64 %m, %m, 0x800080000; wgmma.fence.sync.aligned;\n\
             wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{%f0, %f1, %f2, %f3}}, {{%r5, %r5, %r5, %r5}}, %m, 1, 1, 1, 0;\n\
             wgmma.commit_group.sync.aligned; add.u32 %r8, %r8, 1; setp.lt.u32 %p, %r8, 6; @%p bra step;\n\
             wgmma.wait_group.sync.aligned 0;"
        )
    };
    clean(&threads(128), &body(wait, fill));
    let found = race(&threads(128), &body(fill, wait));
    assert_eq!((found.access, found.other.access), ("store", "read by a matrix operation"));
}

/// A load from the peer CTA: it must have started, and must stay.
#[test]
fn the_life_of_a_peer() {
    let body = |start: &str, end: &str| {
        leader(&format!(
            "mov.u32 %r2, %cluster_ctarank; setp.ne.u32 %q, %r2, 0; mapa.shared::cluster.u32 %r4, %r0, 1; mov.u32 %r5, bar;\n\
             mapa.shared::cluster.u32 %r6, %r5, 1; st.shared.u32 [tile], 5; mbarrier.init.shared.b64 [bar], 1; {start}\n\
             $q bra peer; ld.shared::cluster.u32 %r7, [%r4]; peer: {end}"
        ))
    };
    let two = Launch::grid(2).block(1).cluster(2);
    let (meet, relaxed) =
        ("barrier.cluster.arrive; barrier.cluster.wait;", "barrier.cluster.arrive.relaxed; barrier.cluster.wait;");
    clean(&two, &body(meet, meet));
    // that the threads have met is enough
    clean(&two, &body(meet, relaxed));
    // the arrival of the other CTA says that it is done
    let arrive = format!(
        "$!q mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6]; $!q bra done;\n{} done:",
        WAIT.replace("mbarrier.try_wait.parity", "mbarrier.try_wait.parity.acquire.cluster")
    );
    let arrive = arrive.replace("$!q", "@!%q");
    let found = |body: &str| {
        let faults: Vec<_> = hosts()
            .map(|host| match run_on(&host, two.clone(), body) {
                Err(Error::Fault(fault)) => fault.to_string(),
                other => panic!("{body}\n{other:?}"),
            })
            .collect();
        faults
    };
    clean(&two, &body(meet, &arrive));
    for end in ["", "barrier.cluster.arrive;"] {
        // it may also have ended in this run
        let ends = ["nothing keeps this CTA alive until a load in its shared memory", "has exited"];
        let faults = found(&body(meet, end));
        assert!(faults.iter().all(|text| ends.iter().any(|end| text.contains(end))), "{}", faults[0]);
        assert!(faults.iter().any(|text| text.contains(ends[0])), "{}", faults[0]);
    }
    assert!(found(&body("", meet)).iter().all(|text| text.contains("this CTA may not have started")));
    // a copy in flight
    let copy = |end: &str| {
        body(
            &format!("mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128; fence.proxy.async; {meet}"),
            &format!(
                "@%q bra last; mov.u32 %r7, 0; fill: add.u32 %r8, %r0, %r7; st.shared.u32 [%r8+512], 0; add.u32 %r7, %r7, 4;\n\
                 setp.lt.u32 %p, %r7, 128; @%p bra fill; fence.proxy.async;\n\
                 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r4+256], [tile+512], 128, [%r6];\n\
                 last: {end}"
            ),
        )
    };
    let wait = format!("@!%q bra met; {WAIT} met: {meet}");
    clean(&two, &copy(&wait));
    for text in found(&copy("")) {
        assert!(["nothing keeps", "has exited", "ends while"].iter().any(|part| text.contains(part)), "{text}");
    }
}

/// `fence.mbarrier_init` is for the objects alone.
#[test]
fn what_a_restricted_fence_publishes() {
    let body = |fence: &str| {
        format!(
            "st.shared.u32 [tile], %c; {fence} barrier.cluster.arrive.relaxed; barrier.cluster.wait;\n\
             xor.b32 %r2, %c, 1; mapa.shared::cluster.u32 %r3, %r0, %r2; ld.shared::cluster.u32 %r4, [%r3];\n\
             barrier.cluster.arrive; barrier.cluster.wait;"
        )
    };
    let two = Launch::grid(2).block(1).cluster(2);
    clean(&two, &body("fence.acq_rel.cluster;"));
    for fence in [
        "",
        "fence.mbarrier_init.release.cluster;",
        "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;",
    ] {
        assert_eq!(race(&two, &body(fence)).other.access, "store");
    }
}

/// CTA 0 copies to the memory of CTA 1, which has loaded from it; a relaxed arrival says so (the examples of 9.7.13.17).
#[test]
fn loads_before_a_copy_of_the_peer() {
    let body = |release: &str, acquire: &str| {
        leader(&format!(
            "mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16; fence.mbarrier_init.release.cluster;\n\
             st.shared.v4.u32 [tile], {{%c, %c, %c, %c}}; fence.proxy.async; barrier.cluster.arrive; barrier.cluster.wait;\n\
             ld.shared.u32 %r2, [tile]; {release} barrier.cluster.arrive.relaxed; barrier.cluster.wait; {acquire}\n\
             setp.ne.u32 %p, %c, 0; $p bra wait; mapa.shared::cluster.u32 %r3, %r0, 1; mov.u32 %r4, bar;\n\
             mapa.shared::cluster.u32 %r4, %r4, 1;\n\
             cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r3], [tile], 16, [%r4]; bra end;\n\
             wait: {WAIT} end: barrier.cluster.arrive; barrier.cluster.wait;"
        ))
    };
    let two = Launch::grid(2).block(1).cluster(2);
    let release = "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;";
    let acquire = "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;";
    clean(&two, &body(release, acquire));
    clean(&two, &body("fence.proxy.async.shared::cta;", ""));
    for (release, acquire) in [("", ""), (release, ""), ("", acquire)] {
        assert_eq!(race(&two, &body(release, acquire)).other.access, "load");
    }
}

/// If a phase expects fewer arrivals than a warp has lanes, the last ones arrive in the next phase.
#[test]
fn lanes_that_arrive_in_the_next_phase() {
    let body = |count: u32| {
        leader(&format!(
            "$p mbarrier.init.shared.b64 [bar], {count}; bar.sync 0; setp.ge.u32 %p, %t, 32; $p bra take;\n\
             st.shared.u32 [%r1], %t; mbarrier.arrive.shared.b64 _, [bar]; bra done; take: {WAIT} ld.shared.u32 %r2, [%r1+-128]; done:"
        ))
    };
    clean(&threads(64), &body(32));
    let found = race(&threads(64), &body(31));
    assert_eq!((found.access, found.other.access), ("load", "store"));
}

/// Tensor stores of two CTAs: to rows of their own, or to the same rows. What both store alike is no race.
#[test]
fn tensor_stores_of_two_ctas() {
    use ptx_dsl::tensor_map::{ElementType, TensorMap};
    let run = |host: &Host<ptx_dsl::Checked>, row: &str, value: &str| {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .align 64 .b8 map[128]) .reqntid 32\n{{\n\
             .shared .align 128 .b8 tile[128]; .reg .b32 %t, %c, %s; .reg .b64 %m; .reg .pred %p;\n\
             mov.b64 %m, map; cvta.param.u64 %m, %m; mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x;\n\
             mov.u32 %s, tile; mad.lo.u32 %s, %t, 4, %s; st.shared.u32 [%s], {value};\n\
             fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p, %t, 0; @%p bra done;\n\
             cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%m, {{0, {row}}}], [tile];\n\
             cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\ndone: ret;\n}}\n"
        );
        let module = super::races::permissive().parse(&text).unwrap();
        let mut c = [0u32; 64];
        let map = TensorMap::tiled(&mut c, ElementType::U32).dims([32, 2]).box_dims([32, 1]).build().unwrap();
        module.kernel("k").unwrap().launch_raw(host, Launch::grid(2).block(32), &mut [(&map).into()])
    };
    for host in hosts() {
        run(&host, "%c", "%c").unwrap();
        run(&host, "0", "%t").unwrap();
        let Err(Error::Fault(fault)) = run(&host, "0", "%c") else { panic!("no race") };
        assert!(matches!(fault.kind, FaultKind::DataRace(_)), "{fault}");
    }
}

/// Two CTAs store to the same place: a barrier is no way to tell the other one.
#[test]
fn the_help_between_ctas() {
    let help = |body: &str| {
        let found = run_on(&Host::checked(), Launch::grid(2).block(64), &leader(body));
        let Err(Error::Fault(fault)) = found else { panic!("no fault: {found:?}") };
        let FaultKind::DataRace(_) = fault.kind else { panic!("{fault}") };
        let report = fault.to_string();
        report.lines().find(|line| line.contains("= help:")).unwrap_or_else(|| panic!("{report}")).to_owned()
    };
    let copy = |before: &str| {
        format!(
            "add.u32 %r2, %t, %c; st.shared.u32 [%r1], %r2; {before} fence.proxy.async.shared::cta; bar.sync 0; $!p bra done;\n\
             {STORE} cp.async.bulk.wait_group 0; done:"
        )
    };
    for (body, wait) in [(copy(""), true), ("mad.wide.u32 %d0, %t, 4, %b; st.global.u32 [%d0], %c;".into(), false)] {
        let help = help(&body);
        assert!(help.contains("give each CTA") && help.contains("a release and an acquire of scope `.gpu`"), "{help}");
        assert!(!help.contains("let a barrier") && help.contains("`cp.async.bulk.wait_group") == wait, "{help}");
    }
}
