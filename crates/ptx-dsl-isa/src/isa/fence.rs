//! Fences: manual 9.7.13.4.

use super::*;

const ASYNC: &[Qualifier] = &[q::_async, q::async_generic];

/// The family.
#[rustfmt::skip]
pub const LIST: &[Instr] = &[
    instr("fence").section("9.7.13.4").since(ptx(6, 0)).requires(sm(70))
        .syntax(
            "fence{.sem}.scope;
             .sem = { .sc, .acq_rel, .acquire, .release }
             .scope = { .cta, .cluster, .gpu, .sys }",
        )
        .gates(&[
            gate(&[has(q::cluster)]).since(ptx(7, 8)).requires(sm(90)),
            gate(&[any(&[q::acquire, q::release])]).since(ptx(8, 6)).requires(sm(90)),
        ])
        .defaults(&[(".sem", q::acq_rel)])
        .host(Host::Warp).fence(Fence::Memory),
    // Restricted: only what the named operations or the named window saw is ordered.
    instr("fence").section("9.7.13.4").since(ptx(8, 6)).requires(sm(90))
        .syntax(
            "fence.acquire.sync_restrict::shared::cluster.cluster;
             fence.release.sync_restrict::shared::cta.cluster;",
        )
        .host(Host::Warp).fence(Fence::Memory),
    instr("fence").section("9.7.13.4").since(ptx(9, 5)).requires(sm(90))
        .syntax("fence.alias.sync_restrict::read.release.sys;")
        .host(Host::Warp).fence(Fence::Memory),
    instr("fence").section("9.7.13.4").since(ptx(8, 0)).requires(sm(90))
        .syntax("fence.mbarrier_init.release.cluster;")
        .host(Host::Warp).fence(Fence::MbarrierInit),
    instr("fence").section("9.7.13.4").since(ptx(7, 5)).requires(sm(70))
        .first(&["proxy"])
        .syntax(
            "fence.proxy.alias;
             fence.proxy.async{.space};
             .space = { .global, .shared::cta, .shared::cluster }",
        )
        .gates(&[gate(&[any(ASYNC)]).since(ptx(8, 0)).requires(sm(90))])
        .host(Host::Warp).fence(Fence::Proxy),
    instr("fence").section("9.7.13.4").since(ptx(9, 4)).requires(sm(90))
        .first(&["proxy"])
        .syntax(
            "fence.proxy.alias.sem_alias.sys;
             .sem_alias = { .acquire, .release }",
        )
        .host(Host::Warp).fence(Fence::Proxy),
    instr("fence").section("9.7.13.4").since(ptx(8, 3)).requires(sm(90))
        .first(&["proxy"])
        .syntax(
            "fence.proxy.tensormap::generic.release.scope;
             fence.proxy.tensormap::generic.acquire.scope [addr], size;
             .scope = { .cta, .cluster, .gpu, .sys }",
        )
        .operands(&[addr("addr", reads(Size::Bytes(128)).in_space(AddressSpace::TensorMap)).align(128), src("size", ty(Ty::U32)).imm().range(128, 128)])
        .host(Host::Warp).fence(Fence::Proxy),
    instr("fence").section("9.7.13.4").since(ptx(8, 6)).requires(sm(90))
        .first(&["proxy"])
        .syntax(
            "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;
             fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;
             fence.proxy.async::generic.release.sync_restrict::shared::cluster::read.near;
             .near = { .cta, .cluster }",
        )
        .gates(&[gate(&[has(q::sync_restrict_shared_cluster_read)]).since(ptx(9, 4))])
        .host(Host::Warp).fence(Fence::Proxy),
    instr("fence").section("9.7.13.4").since(ptx(9, 3)).requires(sm(100))
        .first(&["proxy"])
        .syntax(
            "fence.proxy.fabric_pair.alias.sem_alias.sys;
             .fabric_pair = { .generic::fabric, .fabric::generic, .fabric::fabric }
             .sem_alias = { .acquire, .release }",
        )
        .host(Host::Warp).fence(Fence::Proxy),
    instr("membar").section("9.7.13.4").since(ptx(1, 4))
        .syntax(
            "membar.level;
             .level = { .cta, .gl, .sys }",
        )
        .gates(&[gate(&[has(q::sys)]).since(ptx(2, 0)).requires(sm(20))])
        // It has no `.sem`: from sm_70 on it is another word for `fence.sc`.
        .defaults(&[(".sem", q::sc)])
        .host(Host::Warp).fence(Fence::Memory),
    instr("membar").section("9.7.13.4").since(ptx(7, 5)).requires(sm(60))
        .first(&["proxy"])
        .syntax(
            "membar.proxy.alias;
             membar.proxy.async;",
        )
        // `.async` for one state space is a form of `fence` only.
        .gates(&[gate(&[has(q::_async)]).since(ptx(8, 0)).requires(sm(90))])
        .host(Host::Warp).fence(Fence::Proxy),
];
