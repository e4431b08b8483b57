//! What a profile has beside sectors and conflicts: classes, flops, traffic, copies, waits, rooflines. Expected numbers are computed by hand.

use super::profile;
use crate::{module, one};
use ptx_dsl::load::Options;
use ptx_dsl::prelude::*;
use ptx_dsl::profile::{Card, Limit, Profile};
use ptx_dsl::tensor_map::{ElementType, TensorMap};

/// The threads of a class.
fn threads(profile: &Profile, class: &str) -> u64 {
    profile.mix().iter().find(|(name, _)| *name == class).map_or(0, |(_, c)| c.threads - c.predicated_off)
}

#[test]
fn classes_and_flops_are_those_of_the_statements() {
    let body = ".reg .f32 %f<3>; .reg .f64 %d<2>; .reg .b32 %h;\ncvt.rn.f32.u32 %f0, %i;\nmul.f32 %f1, %f0, %f0;\n\
                fma.rn.f32 %f2, %f0, %f1, %f1;\nmin.f32 %f2, %f2, %f0;\ncvt.f64.f32 %d0, %f2;\nadd.f64 %d1, %d0, %d0;\n\
                setp.lt.u32 %p, %i, 8;\nfma.rn.f16x2 %h, %i, %i, %i;\n@%p add.f32 %f2, %f2, %f1;\nst.global.f32 [%x], %f2;\nret;";
    let profile = profile("", body, Launch::grid(1).block(64), &mut [0; 64]);
    let c = profile.total();
    assert_eq!((c.flops_f16, c.flops_f32, c.flops_f64), (64 * 4, 64 * 3 + 8, 64));
    assert_eq!(profile.line("fma.rn.f32").flops_f32, 128);
    assert_eq!((threads(&profile, "fp32"), threads(&profile, "fp64"), threads(&profile, "fp16")), (3 * 64 + 8, 64, 64));
    assert_eq!(threads(&profile, "conversion"), 128);
    // the store; loads of parameters are memory too
    assert_eq!(threads(&profile, "memory"), 128);
    assert_eq!(threads(&profile, "control"), 64);
    let listing = profile.listing();
    assert!(listing.contains("256 on .f16, 200 on .f32, 64 on .f64"), "{listing}");
}

#[test]
fn products_have_shapes_and_types() {
    let body = ".reg .b32 %a<4>, %b<2>; .reg .f32 %d<4>;\nmov.b32 %a0, 0; mov.b32 %a1, 0; mov.b32 %a2, 0; mov.b32 %a3, 0;\n\
                mov.b32 %b0, 0; mov.b32 %b1, 0; mov.f32 %d0, 0f00000000; mov.f32 %d1, 0f00000000; mov.f32 %d2, 0f00000000;\n\
                mov.f32 %d3, 0f00000000;\n\
                mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%d0,%d1,%d2,%d3}, {%a0,%a1,%a2,%a3}, {%b0,%b1}, {%d0,%d1,%d2,%d3};\n\
                st.global.f32 [%x], %d0;\nret;";
    let profile = profile("", body, Launch::grid(3).block(64), &mut [0; 192]);
    let [product] = &profile.products[..] else { panic!("{:?}", profile.products) };
    assert_eq!((product.shape, &*product.element, product.sparse), ([16, 8, 16], "bf16", false));
    assert_eq!((product.count, product.operations), (6, 6 * 4096));
    assert_eq!(profile.total().tensor_operations, 6 * 4096);
    assert_eq!(threads(&profile, "matrix"), 192);
}

#[test]
fn dram_moves_each_sector_once() {
    // 64 threads read 256 bytes three times, and write them; then 32 threads read one word of each of 32 lines
    let body = ".reg .b64 %y;\nld.param.u64 %y, [x];\nld.global.u32 %v, [%x];\nld.global.u32 %w, [%x];\nadd.u32 %v, %v, %w;\n\
                st.global.u32 [%x], %v;\nbar.sync 0;\nld.global.u32 %v, [%x];\nsetp.ge.u32 %p, %i, 32;\n@%p bra done;\n\
                mul.wide.u32 %a, %i, 128;\nadd.u64 %y, %y, %a;\nld.global.u32 %v, [%y+1024];\ndone: ret;";
    let profile = profile("", body, Launch::grid(1).block(64), &mut [0; 2048]);
    assert_eq!((profile.least_read_bytes, profile.least_written_bytes), (256 + 32 * 32, 256));
    let roofline = profile.roofline(Card::H100);
    assert_eq!((roofline.limit(), roofline.bytes, roofline.busy_sms), (Some(&Limit::Memory), 1536, 1));
    assert!((roofline.seconds() - 1536.0 / 3.35e12).abs() < 1e-15);
    let listing = profile.listing();
    assert!(listing.contains("1280 bytes read, 256 written") && listing.contains("H100"), "{listing}");
}

#[test]
fn lanes_with_one_address_are_counted() {
    let body = "and.b32 %n, %i, 3;\nmul.wide.u32 %a, %n, 4;\nld.param.u64 %x, [x];\nadd.u64 %x, %x, %a;\n\
                red.global.add.u32 [%x], 1;\natom.global.add.u32 %v, [%x], %i;\nret;";
    let profile = profile("", body, Launch::grid(1).block(64), &mut [0; 64]);
    // of 32 lanes 4 addresses
    assert_eq!(profile.line("red.global").atomic_same_address, 2 * 28);
    assert_eq!(profile.total().atomic_same_address, 4 * 28);
    assert_eq!((profile.least_read_bytes, profile.least_written_bytes), (32, 32));
}

#[test]
fn constant_memory_is_read_a_word_at_a_time() {
    let body = ".reg .b64 %c0;\nand.b32 %n, %i, 7;\nmul.wide.u32 %a, %n, 4;\nmov.u64 %c0, numbers;\nadd.u64 %c0, %c0, %a;\n\
                ld.const.u32 %v, [%c0];\nld.const.u32 %w, [numbers];\nadd.u32 %v, %v, %w;\nst.global.u32 [%x], %v;\nret;";
    let text = format!(
        "{}.const .align 4 .u32 numbers[8] = {{1, 2, 3, 4, 5, 6, 7, 8}};\n.visible .entry k(.param .u64 .ptr .global .align 4 x)\n{{\n\
         .reg .b32 %i, %n, %v, %w; .reg .b64 %x, %a;\nld.param.u64 %x, [x]; mov.u32 %i, %tid.x; mad.wide.u32 %x, %i, 4, %x;\n{body}\n}}\n",
        crate::HEAD
    );
    let host = Host::profile();
    let mut x = [0u32; 64];
    let module = ptx_dsl::load::Module::parse(&text).unwrap();
    module.kernel("k").unwrap().launch_raw(&host, Launch::grid(1).block(64), &mut [(&mut x[..]).into()]).unwrap();
    assert_eq!(x[9], 2 + 1);
    let profile = host.profiled();
    let c = profile.line("[%c0]");
    assert_eq!((c.const_requests, c.const_words), (2, 16));
    let c = profile.line("[numbers]");
    assert_eq!((c.const_requests, c.const_words), (2, 2));
}

#[test]
fn a_wait_is_for_the_warp_that_comes_last() {
    // warp 0 turns 50 times before the barrier, the others come at once; with a seed the warps do not run together
    let body = "mov.u32 %v, 0;\nsetp.ge.u32 %p, %i, 32;\n@%p bra meet;\nagain: add.u32 %v, %v, 1;\nsetp.lt.u32 %p, %v, 50;\n\
                @%p bra again;\nmeet: bar.sync 0;\nst.global.u32 [%x], %v;\nret;";
    let (host, mut x) = (Host::profile().seed(1), [0; 96]);
    one("", body).launch_raw(&host, Launch::grid(1).block(96), &mut [(&mut x[..]).into()]).unwrap();
    let profile = host.profiled();
    let bar = profile.line("bar.sync");
    assert!(bar.waits >= 2 && bar.wait_turns > 0, "{bar:?}");
    let of = |warp| profile.waits.iter().find(|w| w.warp == warp);
    for warp in [1, 2] {
        let waiting = of(warp).unwrap_or_else(|| panic!("{:#?}", profile.waits));
        assert_eq!(waiting.text, "bar.sync 0;");
        assert_eq!(waiting.by.as_ref().map(|(_, text, warp)| (&**text, *warp)), Some(("bar.sync 0;", 0)));
    }
    assert!(of(0).is_none(), "{:#?}", profile.waits);
    assert!(profile.listing().contains("for warp 0 at line"), "{}", profile.listing());
}

/// Two CTAs of a cluster get a box of 64 by 16 of a tensor with rows from `row` on, from the first one.
fn multicast(row: u32) -> Profile {
    let text = format!(
        ".version 8.3\n.target sm_90a\n.address_size 64\n\
         .visible .entry k(.param .align 64 .b8 map[128]) .reqntid 32 .reqnctapercluster 2\n{{\n\
         .reg .pred %p, %q; .reg .b32 %t, %r; .reg .b64 %map; .reg .b16 %both;\n\
         .shared .align 1024 .b8 s[2048]; .shared .align 8 .b64 bar;\n\
         mov.u32 %t, %tid.x; mov.u32 %r, %cluster_ctarank; setp.eq.u32 %p, %t, 0; setp.eq.and.u32 %q, %r, 0, %p;\n\
         mov.b64 %map, map; cvta.param.u64 %map, %map; mov.b16 %both, 3;\n\
         @%p mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster;\n\
         barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n\
         @%p mbarrier.arrive.expect_tx.shared.b64 _, [bar], 2048;\n\
         @%q cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [s], [%map, {{0, {row}}}], \
         [bar], %both;\n\
         wait: mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 0;\n@!%p bra wait;\n\
         barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; ret;\n}}\n"
    );
    let tensor = vec![1u16; 64 * 500];
    let map = TensorMap::tiled(&tensor, ElementType::U16).dims([64, 500]).box_dims([64, 16]).build().unwrap();
    let host = Host::profile();
    let module = Options::new().parse(&text).unwrap();
    let launch = Launch::grid(2).block(32).cluster(2);
    module.kernel("k").unwrap().launch_raw(&host, launch, &mut [Arg::from(&map)]).unwrap();
    host.profiled()
}

#[test]
fn a_multicast_copy_reads_once_and_pads() {
    let c = multicast(0).total();
    assert_eq!((c.async_global_read_bytes, c.copy_multicast_bytes, c.copy_padded_bytes), (2048, 2048, 0));
    assert_eq!(c.async_shared_written_bytes, 4096);
    // 4 of 16 rows are in the tensor
    let profile = multicast(496);
    let c = profile.total();
    assert_eq!((c.async_global_read_bytes, c.copy_multicast_bytes, c.copy_padded_bytes), (512, 512, 2 * 1536));
    assert_eq!((c.async_shared_written_bytes, profile.least_read_bytes), (4096, 512));
    let listing = profile.listing();
    assert!(listing.contains("3072 bytes of boxes outside of their tensor"), "{listing}");
    // all of them outside
    let c = multicast(500).total();
    assert_eq!((c.async_global_read_bytes, c.copy_padded_bytes), (0, 4096));
}

#[test]
fn changes_of_registers_are_listed() {
    let text = ".version 8.3\n.target sm_90a\n.address_size 64\n.visible .entry k() .reqntid 256 .maxnreg 128\n{\n\
                .reg .pred %p; .reg .b32 %t;\nmov.u32 %t, %tid.x;\nsetp.lt.u32 %p, %t, 128;\n@%p bra less;\n\
                setmaxnreg.inc.sync.aligned.u32 160;\nret;\nless: setmaxnreg.dec.sync.aligned.u32 40;\nret;\n}\n";
    let host = Host::profile();
    let module = ptx_dsl::load::Module::parse(text).unwrap();
    module.kernel("k").unwrap().launch_raw(&host, Launch::grid(1).block(256), &mut []).unwrap();
    let changes = host.profiled().registers;
    let mut found: Vec<(u32, u64)> = changes.iter().map(|change| (change.registers, change.warps)).collect();
    found.sort_unstable();
    assert_eq!(found, [(40, 4), (160, 4)]);
}

#[test]
fn clusters_that_are_cancelled_are_counted() {
    let text = ".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry k() .reqntid 32\n{\n\
                .reg .pred %p, %q; .reg .b32 %t; .reg .b128 %r; .shared .align 16 .b8 answer[16]; .shared .align 8 .b64 bar;\n\
                mov.u32 %t, %tid.x; setp.eq.u32 %p, %t, 0; @!%p bra done;\nmbarrier.init.shared.b64 [bar], 1;\n\
                fence.mbarrier_init.release.cluster;\nmbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;\n\
                clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [answer], [bar];\n\
                wait: mbarrier.try_wait.parity.shared::cta.b64 %q, [bar], 0;\n@!%q bra wait;\ndone: ret;\n}\n";
    let host = Host::profile().resident_clusters(1);
    let module = Options::new().parse(text).unwrap();
    module.kernel("k").unwrap().launch_raw(&host, Launch::grid(4).block(32), &mut []).unwrap();
    let profile = host.profiled();
    let c = profile.total();
    // every CTA that runs asks once; of four, two run and two are cancelled
    assert_eq!((c.cancel_requests, c.cancelled_clusters, profile.ctas), (2, 2, 2));
    assert!(profile.listing().contains("2 requests for a pending cluster, 2 got one"));
}

#[test]
fn a_page_has_its_data_and_a_timeline() {
    let kernel =
        module(".visible .entry k() .reqntid 64\n{ .reg .b32 %x; mov.u32 %x, 1; bar.sync 0; // </script>\n ret; }\n");
    let (profiler, tracer) = (Host::profile(), Host::trace());
    let launch = Launch::grid(1).block(64);
    kernel.kernel("k").unwrap().launch_raw(&profiler, launch.clone(), &mut []).unwrap();
    kernel.kernel("k").unwrap().launch_raw(&tracer, launch, &mut []).unwrap();
    let profile = profiler.profiled();
    let (alone, both) = (profile.to_html(), profile.to_html_with(&tracer.timeline()));
    // two scripts with data, one that runs
    assert_eq!((alone.matches("</script>").count(), both.matches("</script>").count()), (3, 3));
    assert!(alone.contains(">null</script>") && both.len() > alone.len() + 10_000);
    for outside in ["src=", "href=", "http"] {
        assert!(!alone.contains(outside), "{outside}");
    }
}
