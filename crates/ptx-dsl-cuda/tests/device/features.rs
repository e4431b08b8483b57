//! Parts of the launch that few kernels use: im2col maps, maps over the buffer of another argument, cooperative launches, preferred
//! clusters, repetition, contexts and streams of cudarc, and errors of the driver's compiler.

use super::{agree, gpu, ranks, scale};
use ptx_dsl::cuda::{Gpu, GpuError};
use ptx_dsl::load::Module;
use ptx_dsl::prelude::*;
use ptx_dsl::tensor_map::{ElementType, Tensor, TensorMap};

ptx! {
    <sm_90, ptx 8.0>

    // 16 pixels of 8 channels: those at the offsets (1, 0) from the pixel (0, 0) of image 1.
    .visible .entry pixels(
        .param .align 64 .b8 map[128]: &TensorMap,
        .param .u64 .ptr .global .align 4 out: &mut [u32])
    .reqntid 128
    {
        .reg .pred %p;
        .reg .b16 %dx, %dy;
        .reg .b32 %t, %v, %tile, %bar, %c, %w, %n;
        .reg .b64 %map, %out;
        .shared .align 128 .b8 tile[512];
        .shared .align 8 .b64 full;
        mov.u32 %t, %tid.x;
        mov.u32 %tile, tile;
        mov.u32 %bar, full;
        setp.ne.u32 %p, %t, 0;
        @%p bra ready;
        mbarrier.init.shared::cta.b64 [%bar], 1;
        fence.mbarrier_init.release.cluster;
        mov.b64 %map, map;
        cvta.param.u64 %map, %map;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 512;
        mov.u32 %c, 0;
        mov.u32 %w, -1;
        mov.u32 %n, 1;
        mov.u16 %dx, 1;
        mov.u16 %dy, 0;
        cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes
            [%tile], [%map, {%c, %w, %w, %n}], [%bar], {%dx, %dy};
    ready:
        bar.sync 0;
    again:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [%bar], 0;
        @!%p bra again;
        mad.lo.u32 %tile, %t, 4, %tile;
        ld.shared.u32 %v, [%tile];
        ld.param.u64 %out, [out];
        mad.wide.u32 %out, %t, 4, %out;
        st.global.u32 [%out], %v;
        ret;
    }

    // Copies the box at (4, 1) of a tensor that lies in `x`, whose first element it then sets.
    .visible .entry box_of(
        .param .align 64 .b8 map[128]: &TensorMap,
        .param .u64 .ptr .global .align 16 x: &mut [u32],
        .param .u64 .ptr .global .align 4 out: &mut [u32])
    .reqntid 32
    {
        .reg .pred %p;
        .reg .b32 %t, %v, %tile, %bar, %cx, %cy;
        .reg .b64 %map, %x, %out;
        .shared .align 128 .b8 tile[128];
        .shared .align 8 .b64 full;
        mov.u32 %t, %tid.x;
        mov.u32 %tile, tile;
        mov.u32 %bar, full;
        setp.ne.u32 %p, %t, 0;
        @%p bra ready;
        mbarrier.init.shared::cta.b64 [%bar], 1;
        fence.mbarrier_init.release.cluster;
        mov.b64 %map, map;
        cvta.param.u64 %map, %map;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 128;
        mov.u32 %cx, 4;
        mov.u32 %cy, 1;
        cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%tile], [%map, {%cx, %cy}], [%bar];
    ready:
        bar.warp.sync 0xffffffff;
    again:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [%bar], 0;
        @!%p bra again;
        mad.lo.u32 %tile, %t, 4, %tile;
        ld.shared.u32 %v, [%tile];
        ld.param.u64 %out, [out];
        mad.wide.u32 %out, %t, 4, %out;
        st.global.u32 [%out], %v;
        ld.param.u64 %x, [x];
        setp.eq.u32 %p, %t, 0;
        @%p st.global.u32 [%x], 7;
        ret;
    }

    // Each CTA stores its number, waits until all have, and reads that of the next one.
    .visible .entry meet(.param .u64 .ptr .global .align 4 x: &mut [u32], .param .u64 .ptr .global .align 4 count: &mut [u32])
    .reqntid 1
    {
        .reg .pred %p;
        .reg .b32 %i, %n, %v, %next;
        .reg .b64 %x, %at, %count;
        mov.u32 %i, %ctaid.x;
        mov.u32 %n, %nctaid.x;
        ld.param.u64 %x, [x];
        ld.param.u64 %count, [count];
        mad.wide.u32 %at, %i, 4, %x;
        st.global.u32 [%at], %i;
        atom.add.acq_rel.gpu.global.u32 %v, [%count], 1;
    again:
        ld.acquire.gpu.global.u32 %v, [%count];
        setp.lt.u32 %p, %v, %n;
        @%p bra again;
        add.u32 %next, %i, 1;
        rem.u32 %next, %next, %n;
        mad.wide.u32 %at, %next, 4, %x;
        ld.global.u32 %v, [%at];
        mad.wide.u32 %at, %i, 4, %count;
        st.global.u32 [%at + 4], %v;
        ret;
    }
}

ptx! {
    <sm_90, ptx 8.1>

    // Whether this is a launch with clusters, and if `send` is set what `st.async` has stored: it is illegal in a launch without.
    .visible .entry clusters(.param .u64 .ptr .global .align 4 x: &mut [u32], .param .u32 send) .reqntid 1 {
        .shared .align 8 .b64 full;
        .shared .align 4 .b32 word;
        .reg .pred %p;
        .reg .b32 %v, %word, %full;
        .reg .b64 %x;
        ld.param.u64 %x, [x];
        mov.pred %p, %is_explicit_cluster;
        selp.u32 %v, 1, 0, %p;
        st.global.u32 [%x], %v;
        ld.param.u32 %v, [send];
        setp.eq.u32 %p, %v, 0;
        @%p ret;
        mov.u32 %word, word;
        mov.u32 %full, full;
        mbarrier.init.shared.b64 [%full], 1;
        fence.mbarrier_init.release.cluster;
        mbarrier.arrive.expect_tx.shared.b64 _, [%full], 4;
        st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%word], 77, [%full];
    again:
        mbarrier.try_wait.parity.shared.b64 %p, [%full], 0;
        @!%p bra again;
        ld.shared.u32 %v, [%word];
        st.global.u32 [%x + 4], %v;
        ret;
    }
}

#[test]
fn im2col_maps_are_encoded_by_the_driver() {
    // two images of 6 x 5 pixels of 8 channels
    let image: Vec<u32> = (0..2 * 5 * 6 * 8).map(|i| i + 1).collect();
    let out = agree(|device| {
        let map = TensorMap::im2col(&image, ElementType::U32)
            .dims([8, 6, 5, 2])
            .pixel_box_lower([-1, -1])
            .pixel_box_upper([-1, -1])
            .channels_per_pixel(8)
            .pixels_per_column(16)
            .build()
            .unwrap();
        let mut out = vec![0u32; 128];
        pixels.launch(device, Launch::grid(1), (&map, &mut out))?;
        Ok(out)
    });
    // pixel p is at column p % 6 - 1 + 1 and line p / 6 - 1 + 0; what lies outside of the image is 0
    let expected: Vec<u32> = (0..128i32)
        .map(|i| {
            let (pixel, channel) = (i / 8, i % 8);
            let (column, line) = (pixel % 6, pixel / 6 - 1);
            if line < 0 { 0 } else { (((5 + line) * 6 + column) * 8 + channel + 1) as u32 }
        })
        .collect();
    assert_eq!(out, expected);
}

#[test]
fn a_map_may_be_over_the_buffer_of_another_argument() {
    let all: Vec<u32> = (0..16 + 16 * 8).collect();
    let (x, out) = agree(|device| {
        let map =
            TensorMap::tiled(Tensor::argument("x"), ElementType::U32).dims([16, 8]).box_dims([8, 4]).build().unwrap();
        let (mut x, mut out) = (all.clone(), vec![0u32; 32]);
        box_of.launch(device, Launch::grid(1), (&map, &mut x[16..], &mut out))?;
        Ok((x, out))
    });
    assert_eq!((x[15], x[16], x[17]), (15, 7, 17));
    assert_eq!(out, (0..32).map(|i| 16 + (1 + i / 8) * 16 + 4 + i % 8).collect::<Vec<u32>>());
    let Some(gpu) = gpu() else { return };
    let map = TensorMap::tiled(Tensor::argument("x"), ElementType::U32).dims([16, 8]).box_dims([8, 4]).build().unwrap();
    let (mut x, mut out) = (gpu.buffer(&all).unwrap(), gpu.zeroed::<u32>(32).unwrap());
    gpu.scope(|scope| {
        let mut x = scope.lend(&mut x);
        let stream = scope.stream()?;
        stream.launch(box_of, Launch::grid(1), (&map, x.slice_mut(16..), &mut out))
    })
    .unwrap();
    assert_eq!((x[16], out[0], out[31]), (7, 16 + 16 + 4, 16 + 4 * 16 + 11));
}

#[test]
fn the_ctas_of_a_cooperative_launch_are_all_resident() {
    for ctas in [2, 100] {
        let count = agree(|device| {
            let (mut x, mut count) = (vec![u32::MAX; ctas], vec![0u32; 1 + ctas]);
            meet.launch(device, Launch::grid(ctas as u32).cooperative(), (&mut x, &mut count))?;
            Ok(count)
        });
        let expected: Vec<u32> = (0..ctas as u32).map(|i| (i + 1) % ctas as u32).collect();
        assert_eq!((count[0], &count[1..]), (ctas as u32, &expected[..]));
    }
    let Some(gpu) = gpu() else { return };
    let (mut x, mut count) = (vec![0; 1], vec![0u32; 2]);
    let error = meet.launch(&gpu, Launch::grid(1 << 20).cooperative(), (&mut x, &mut count)).unwrap_err().to_string();
    println!("{error}");
    assert!(error.contains("CTAs"), "{error}");
}

#[test]
fn a_preferred_cluster_is_for_gpus_that_know_it() {
    let x = agree(|device| {
        let mut x = vec![0; 16];
        let launch = Launch::grid(16).cluster(2).dynamic_shared(110_000);
        ranks.launch(device, launch.preferred_cluster(2), (&mut x,))?;
        Ok(x)
    });
    assert_eq!(x, [1, 0].repeat(8));
    let Some(gpu) = gpu() else { return };
    if gpu.properties().capability < (10, 0) {
        let mut x = vec![0; 16];
        let launch = Launch::grid(16).cluster(2).preferred_cluster(8).dynamic_shared(110_000);
        ranks.launch(&gpu, launch, (&mut x,)).unwrap();
        assert_eq!(x, [1, 0].repeat(8), "a GPU that does not know it uses the cluster");
    }
}

#[test]
fn repeated_launches_see_what_earlier_ones_wrote() {
    let Some(gpu) = gpu() else { return };
    let gpu = gpu.repeated(10);
    let (x, mut y) = (vec![1.0; 128], vec![0.5; 128]);
    let report = scale.launch(&gpu, Launch::grid(1), (&x, &mut y, 2.0, 128)).unwrap();
    assert_eq!(y, [20.5; 128]);
    let time = report.device_time.expect("a time");
    println!("{time:?} a launch");
    assert!(time.as_nanos() > 100 && time.as_millis() < 10, "{time:?}");
}

#[test]
fn contexts_and_streams_of_cudarc_can_be_used() {
    use cudarc::driver::CudaContext;
    if gpu().is_none() {
        return;
    }
    let context = CudaContext::new(0).unwrap();
    let stream = context.new_stream().unwrap();
    // SAFETY: the kernels of this file access their arguments alone.
    let gpu = unsafe { Gpu::in_context(context.clone()) }.unwrap().on_stream(stream.clone());
    let (x, mut y) = (vec![1.0; 128], vec![0.5; 128]);
    scale.launch(&gpu, Launch::grid(1), (&x, &mut y, 2.0, 128)).unwrap();
    assert_eq!(y, [2.5; 128]);
    assert_eq!(gpu.context().cu_ctx(), context.cu_ctx());
}

#[test]
fn the_log_of_the_drivers_compiler_is_in_the_error() {
    let Some(gpu) = gpu() else { return };
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func missing(.param .b32 a);\n\
                .visible .entry k() {\n    .param .b32 a;\n    st.param.b32 [a], 1;\n    call missing, (a);\n    ret;\n}\n";
    let module = Module::parse(text).unwrap();
    let error = module.kernel("k").unwrap().launch_raw(&gpu, Launch::grid(1), &mut []).unwrap_err();
    println!("{error}");
    let Error::Device { problem, .. } = &error else { panic!("{error}") };
    assert!(matches!(problem.downcast_ref(), Some(GpuError::Jit { log, .. }) if log.contains("missing")), "{error}");
}

#[test]
fn a_launch_with_clusters_of_one_cta_is_one_with_clusters() {
    let x = agree(|device| {
        let mut x = [0u32; 3];
        clusters.launch(device, Launch::grid(1), (&mut x[..1], 0))?;
        clusters.launch(device, Launch::grid(1).cluster(1), (&mut x[1..], 1))?;
        Ok(x)
    });
    assert_eq!(x, [0, 1, 77]);
}
