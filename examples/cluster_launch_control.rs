//! A persistent kernel that steals work with cluster launch control.
//!
//! The job: blur an image with the 3x3 binomial filter, one tile for each cluster of two CTAs. The grid has one cluster for every
//! tile, but only as many start as the machine holds at once. When a cluster is done with its tile, it cancels the launch of a
//! cluster that has not started and takes over its tile, until none is left to cancel.
//!
//! `blur` follows the current example of the manual's page on `clusterlaunchcontrol.try_cancel` (PTX ISA 9.7.13.17), `blur_older`
//! an older one. The manual assumes one thread per CTA; here a CTA has 256. Thread 0 arrives on the mbarrier, and every thread
//! waits and reads the response. In `blur` thread 0 passes the `state` of its arrival to the others through shared memory; in
//! `blur_older` all wait by parity.

use ptx_dsl::cuda::{Gpu, GpuError};
use ptx_dsl::prelude::*;
use std::time::Instant;

const WIDTH: u32 = 512;
const HEIGHT: u32 = 512;
/// Threads of a CTA, as in `.reqntid` below.
const THREADS: u32 = 256;
/// A cluster's tile: two CTAs, each 32 columns and 8 rows, one pixel a thread.
const TILE: (u32, u32) = (32, 16);

ptx! {
    <sm_100a, ptx 8.6>

    // A CTA has a piece of 32 x 8 pixels of the tile, one per thread, which starts at column x0, row y0. The piece with its
    // border of one pixel, 34 x 10, is staged in shared memory, clamped at the edges of the image.
    .visible .entry blur(
        .param .u64 .ptr .global .align 4 image: &[f32],
        .param .u64 .ptr .global .align 4 result: &mut [f32],
        .param .u32 width,
        .param .u32 height)
    .reqntid 256
    .reqnctapercluster 2
    {
        .reg .pred p, p0, complete, q;
        .reg .b32 %r0, xctaid, %width, %height, %rank, %tiles, %x0, %y0;
        .reg .b32 %thread, %i, %sx, %sy, %xmax, %ymax, %base, %at;
        .reg .b64 state, %image, %result, %offset;
        .reg .b128 handle;
        .reg .f32 %v, %sum;
        .shared .align 4 .b8 piece[1360];
        .shared .align 16 .b8 addr[16];
        .shared .align 8 .b64 mbar;
        .shared .align 8 .b64 arrival;

        ld.param.u64 %image, [image];
        ld.param.u64 %result, [result];
        ld.param.u32 %width, [width];
        ld.param.u32 %height, [height];
        shr.u32 %tiles, %width, 5;              // tiles in a row of tiles
        sub.u32 %xmax, %width, 1;
        sub.u32 %ymax, %height, 1;
        mov.u32 %thread, %tid.x;
        mov.u32 %rank, %cluster_ctarank;

        // One arrival per phase, by thread 0. The fence makes the new mbarrier visible to the cluster and to the async proxy.
        setp.ne.u32 p, %thread, 0;
        @p bra initialised;
        mbarrier.init.shared::cta.b64 [mbar], 1;
        fence.mbarrier_init.release.cluster;
    initialised:

        // The cluster of the next tile: at first the launched one.
        mov.b32 xctaid, %ctaid.x;

        // No CTA goes on before the mbarriers of all CTAs are ready.
        barrier.cluster.arrive;
        barrier.cluster.wait;

    processCluster:
        // Thread 0 of each CTA arrives and announces the 16 bytes of the response:
        mov.u32 %r0, %tid.x;
        setp.u32.eq p0, %r0, 0x0;
        @!p0 bra processCurrentCluster;

        mbarrier.arrive.expect_tx.cluster.relaxed.shared::cta.b64 state, [mbar], 16;
        st.shared.b64 [arrival], state;

        // One request per cluster, by its first CTA:
        mov.u32 %r0, %cluster_ctaid.x;
        setp.u32.eq p0, %r0, 0x0;
        @p0 clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [addr], [mbar];

    processCurrentCluster:
        // The tile has the number of the cluster; xctaid is any ctaid of it. The rank of this CTA in the cluster selects its
        // half.
        shr.u32 %i, xctaid, 1;
        div.u32 %y0, %i, %tiles;
        mul.lo.u32 %x0, %y0, %tiles;
        sub.u32 %x0, %i, %x0;
        shl.b32 %x0, %x0, 5;
        shl.b32 %y0, %y0, 4;
        mad.lo.u32 %y0, %rank, 8, %y0;

        // Stage the piece and its border.
        mov.u32 %i, %thread;
    stage:
        div.u32 %sy, %i, 34;
        mul.lo.u32 %sx, %sy, 34;
        sub.u32 %sx, %i, %sx;
        add.u32 %sx, %sx, %x0;
        add.u32 %sy, %sy, %y0;
        sub.s32 %sx, %sx, 1;
        sub.s32 %sy, %sy, 1;
        max.s32 %sx, %sx, 0;
        max.s32 %sy, %sy, 0;
        min.s32 %sx, %sx, %xmax;
        min.s32 %sy, %sy, %ymax;
        mad.lo.u32 %at, %sy, %width, %sx;
        mul.wide.u32 %offset, %at, 4;
        add.u64 %offset, %image, %offset;
        ld.global.f32 %v, [%offset];
        mov.u32 %base, piece;
        mad.lo.u32 %at, %i, 4, %base;
        st.shared.f32 [%at], %v;
        add.u32 %i, %i, 256;
        setp.lt.u32 q, %i, 340;
        @q bra stage;
        bar.sync 0;

        // Weights 1 2 1, 2 4 2, 1 2 1, over 16; the upper left neighbour is the piece's element (tid / 32, tid % 32).
        and.b32 %sx, %thread, 31;
        shr.u32 %sy, %thread, 5;
        mad.lo.u32 %at, %sy, 34, %sx;
        mov.u32 %base, piece;
        mad.lo.u32 %at, %at, 4, %base;
        ld.shared.f32 %sum, [%at];
        ld.shared.f32 %v, [%at+4];
        fma.rn.f32 %sum, %v, 0f40000000, %sum;
        ld.shared.f32 %v, [%at+8];
        add.rn.f32 %sum, %sum, %v;
        ld.shared.f32 %v, [%at+136];
        fma.rn.f32 %sum, %v, 0f40000000, %sum;
        ld.shared.f32 %v, [%at+140];
        fma.rn.f32 %sum, %v, 0f40800000, %sum;
        ld.shared.f32 %v, [%at+144];
        fma.rn.f32 %sum, %v, 0f40000000, %sum;
        ld.shared.f32 %v, [%at+272];
        add.rn.f32 %sum, %sum, %v;
        ld.shared.f32 %v, [%at+276];
        fma.rn.f32 %sum, %v, 0f40000000, %sum;
        ld.shared.f32 %v, [%at+280];
        add.rn.f32 %sum, %sum, %v;
        mul.rn.f32 %sum, %sum, 0f3D800000;
        add.u32 %sx, %sx, %x0;
        add.u32 %sy, %sy, %y0;
        mad.lo.u32 %at, %sy, %width, %sx;
        mul.wide.u32 %offset, %at, 4;
        add.u64 %offset, %result, %offset;
        st.global.f32 [%offset], %sum;

        // Everybody has read the piece and the state before the next iteration writes them.
        ld.shared.b64 state, [arrival];
        bar.sync 0;

    waitLoop:
        // The response is read after this acquire, not before:
        mbarrier.try_wait.cluster.acquire.shared::cta.b64 complete, [mbar], state;
        @!complete bra waitLoop;

        // 16 opaque bytes:
        ld.shared.b128 handle, [addr];

        // No cluster was left to cancel: this cluster exits.
        clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, handle;
        @!p ret;

        // The cancelled cluster's tile is next:
        @p clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {xctaid, _, _, _}, handle;

        // This iteration's read of the response (generic proxy) comes before the next iteration's write of it (async proxy):
        // released here, acquired after the cluster barrier, which itself may be relaxed.
        fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;

        barrier.cluster.arrive.relaxed;
        barrier.cluster.wait;

        fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;

        bra processCluster;
    }

    // The same job with the older protocol: the wait is at the head of the loop, one fence at its end.
    .visible .entry blur_older(
        .param .u64 .ptr .global .align 4 image: &[f32],
        .param .u64 .ptr .global .align 4 result: &mut [f32],
        .param .u32 width,
        .param .u32 height)
    .reqntid 256
    .reqnctapercluster 2
    {
        .reg .pred p, p0, complete, q;
        .reg .b32 %r0, xctaid, parity, %width, %height, %rank, %tiles, %x0, %y0;
        .reg .b32 %thread, %i, %sx, %sy, %xmax, %ymax, %base, %at;
        .reg .b64 state, %image, %result, %offset;
        .reg .b128 handle;
        .reg .f32 %v, %sum;
        .shared .align 4 .b8 piece[1360];
        .shared .align 16 .b8 addr[16];
        .shared .align 8 .b64 mbar;

        ld.param.u64 %image, [image];
        ld.param.u64 %result, [result];
        ld.param.u32 %width, [width];
        ld.param.u32 %height, [height];
        shr.u32 %tiles, %width, 5;
        sub.u32 %xmax, %width, 1;
        sub.u32 %ymax, %height, 1;
        mov.u32 %thread, %tid.x;
        mov.u32 %rank, %cluster_ctarank;
        mov.u32 parity, 0;

        setp.ne.u32 p, %thread, 0;
        @p bra initialised;
        mbarrier.init.shared::cta.b64 [mbar], 1;
        fence.mbarrier_init.release.cluster;
    initialised:

        // At first the launched cluster.
        mov.b32 xctaid, %ctaid.x;
        barrier.cluster.arrive.relaxed;

    processCluster:
        // All CTAs are initialised, or done with the iteration before:
        barrier.cluster.wait.acquire;
        mov.u32 %r0, %tid.x;
        setp.u32.eq p0, %r0, 0x0;
        @!p0 bra asyncWork;

        // Thread 0 of each CTA announces the 16 bytes:
        mbarrier.arrive.expect_tx.cluster.relaxed.shared::cta.b64 state, [mbar], 16;

        // One request per cluster, by its first CTA:
        mov.u32 %r0, %cluster_ctaid.x;
        setp.u32.eq p0, %r0, 0x0;
        @p0 clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [addr], [mbar];

    asyncWork:
        shr.u32 %i, xctaid, 1;
        div.u32 %y0, %i, %tiles;
        mul.lo.u32 %x0, %y0, %tiles;
        sub.u32 %x0, %i, %x0;
        shl.b32 %x0, %x0, 5;
        shl.b32 %y0, %y0, 4;
        mad.lo.u32 %y0, %rank, 8, %y0;

        mov.u32 %i, %thread;
    stage:
        div.u32 %sy, %i, 34;
        mul.lo.u32 %sx, %sy, 34;
        sub.u32 %sx, %i, %sx;
        add.u32 %sx, %sx, %x0;
        add.u32 %sy, %sy, %y0;
        sub.s32 %sx, %sx, 1;
        sub.s32 %sy, %sy, 1;
        max.s32 %sx, %sx, 0;
        max.s32 %sy, %sy, 0;
        min.s32 %sx, %sx, %xmax;
        min.s32 %sy, %sy, %ymax;
        mad.lo.u32 %at, %sy, %width, %sx;
        mul.wide.u32 %offset, %at, 4;
        add.u64 %offset, %image, %offset;
        ld.global.f32 %v, [%offset];
        mov.u32 %base, piece;
        mad.lo.u32 %at, %i, 4, %base;
        st.shared.f32 [%at], %v;
        add.u32 %i, %i, 256;
        setp.lt.u32 q, %i, 340;
        @q bra stage;
        bar.sync 0;

        and.b32 %sx, %thread, 31;
        shr.u32 %sy, %thread, 5;
        mad.lo.u32 %at, %sy, 34, %sx;
        mov.u32 %base, piece;
        mad.lo.u32 %at, %at, 4, %base;
        ld.shared.f32 %sum, [%at];
        ld.shared.f32 %v, [%at+4];
        fma.rn.f32 %sum, %v, 0f40000000, %sum;
        ld.shared.f32 %v, [%at+8];
        add.rn.f32 %sum, %sum, %v;
        ld.shared.f32 %v, [%at+136];
        fma.rn.f32 %sum, %v, 0f40000000, %sum;
        ld.shared.f32 %v, [%at+140];
        fma.rn.f32 %sum, %v, 0f40800000, %sum;
        ld.shared.f32 %v, [%at+144];
        fma.rn.f32 %sum, %v, 0f40000000, %sum;
        ld.shared.f32 %v, [%at+272];
        add.rn.f32 %sum, %sum, %v;
        ld.shared.f32 %v, [%at+276];
        fma.rn.f32 %sum, %v, 0f40000000, %sum;
        ld.shared.f32 %v, [%at+280];
        add.rn.f32 %sum, %sum, %v;
        mul.rn.f32 %sum, %sum, 0f3D800000;
        add.u32 %sx, %sx, %x0;
        add.u32 %sy, %sy, %y0;
        mad.lo.u32 %at, %sy, %width, %sx;
        mul.wide.u32 %offset, %at, 4;
        add.u64 %offset, %result, %offset;
        st.global.f32 [%offset], %sum;
        bar.sync 0;

        // Every CTA waits for its own copy of the response. Only thread 0 has the state of an arrival, so the others name the
        // phase by its parity, which every thread counts.
    waitLoop:
        mbarrier.try_wait.parity.cluster.acquire.shared::cta.b64 complete, [mbar], parity;
        @!complete bra waitLoop;
        xor.b32 parity, parity, 1;

        // The phase is complete, so the response is there:
        ld.shared.b128 handle, [addr];

        clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, handle;
        @!p ret;

        // The cancelled cluster's tile is next,
        @p clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {xctaid, _, _, _}, handle;

        // and CTA 0 learns that the response has been read:
        fence.proxy.async.shared::cta;
        barrier.cluster.arrive.relaxed;

        bra processCluster;
    }
}

/// A scene with smooth and sharp parts, in whole numbers, so that the order of summation does not matter.
fn scene() -> Vec<f32> {
    let pixel = |x: u32, y: u32| {
        let (dx, dy) = (x.abs_diff(WIDTH / 3), y.abs_diff(HEIGHT / 2));
        let disc = if dx * dx + dy * dy < 100 * 100 { 96 } else { 0 };
        let noise = x.wrapping_mul(0x9E37_79B1).wrapping_add(y.wrapping_mul(0x85EB_CA77)) >> 27;
        ((x / 8 + y / 4) % 128 + disc + noise) as f32
    };
    (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| pixel(x, y))).collect()
}

/// The same filter in plain Rust.
fn blurred(image: &[f32]) -> Vec<f32> {
    let at = |x: i32, y: i32| {
        let (x, y) = (x.clamp(0, WIDTH as i32 - 1), y.clamp(0, HEIGHT as i32 - 1));
        image[y as usize * WIDTH as usize + x as usize]
    };
    let filtered = |x: i32, y: i32| {
        let neighbours = (-1..=1).flat_map(|dy| (-1..=1).map(move |dx| (dx, dy)));
        let weight = |d: i32| (2 - d.abs()) as f32;
        neighbours.map(|(dx, dy)| weight(dx) * weight(dy) * at(x + dx, y + dy)).sum::<f32>() / 16.0
    };
    (0..HEIGHT as i32).flat_map(|y| (0..WIDTH as i32).map(move |x| filtered(x, y))).collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let image = scene();
    let expected = blurred(&image);
    let clusters = (WIDTH / TILE.0) * (HEIGHT / TILE.1);
    let launch = || Launch::grid(2 * clusters).block(THREADS).cluster(2);
    println!("{WIDTH} x {HEIGHT} pixels, {clusters} tiles, one for each cluster of 2 CTAs of {THREADS} threads");

    let mut result = vec![0.0; image.len()];
    let start = Instant::now();
    let report = blur.launch(&Host::new(), launch(), (&image, &mut result, WIDTH, HEIGHT))?;
    check(blur::NAME, report.clusters_launched, report.clusters_cancelled, start, &result, &expected);

    let mut result = vec![0.0; image.len()];
    let start = Instant::now();
    let report = blur_older.launch(&Host::new(), launch(), (&image, &mut result, WIDTH, HEIGHT))?;
    check(blur_older::NAME, report.clusters_launched, report.clusters_cancelled, start, &result, &expected);

    // On a GPU of sm_100; others refuse the target. How many clusters were cancelled, only the hardware knows.
    if let Some(gpu) = gpu()? {
        let mut result = vec![0.0; image.len()];
        blur.launch(&gpu, launch(), (&image, &mut result, WIDTH, HEIGHT))?;
        assert_eq!(result, expected, "the GPU differs from plain Rust");
        println!("on the GPU: all {} pixels equal to plain Rust", result.len());
    }
    Ok(())
}

/// The first GPU, if the program is called with `--gpu`.
fn gpu() -> Result<Option<Gpu>, GpuError> {
    if !std::env::args().any(|arg| arg == "--gpu") {
        return Ok(None);
    }
    // SAFETY: the kernels access their arguments alone.
    #[allow(unsafe_code)]
    let gpu = unsafe { Gpu::new(0) }?;
    println!("{gpu}");
    Ok(Some(gpu))
}

/// Every cluster of the grid was either launched or cancelled, and every pixel is right.
fn check(name: &str, launched: u64, cancelled: u64, start: Instant, result: &[f32], expected: &[f32]) {
    println!("{name}: {launched} clusters launched, {cancelled} cancelled and taken over, {:.2?}", start.elapsed());
    assert_eq!(launched + cancelled, u64::from((WIDTH / TILE.0) * (HEIGHT / TILE.1)));
    let wrong = result.iter().zip(expected).filter(|(a, b)| a.to_bits() != b.to_bits()).count();
    assert_eq!(wrong, 0, "{wrong} pixels differ from plain Rust");
    println!("{name}: all {} pixels equal to plain Rust", result.len());
}
