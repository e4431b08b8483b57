//! A matrix product on Hopper: C = A * B, with A as M x K and B as N x K, both f16 and row by row, and C in f32.
//!
//! A cluster of two CTAs computes 256 x 64 elements of C. In each CTA one thread of the first warpgroup loads tiles of A and B with
//! tensor copies into a ring of four stages; two more warpgroups multiply 64 x 64 x 64 elements each with `wgmma`. Both CTAs need the
//! same tile of B: each loads half of it and multicasts it to both.
//!
//! Each stage has two mbarriers: `full` counts the bytes that arrive, `empty` the four warpgroups of the cluster that have read the
//! stage, because either CTA's copies write to both. These arrivals need no `.release.cluster`, and the wait no `.acquire.cluster`:
//! only `wgmma` has read the stage, and its warpgroup has waited for it (docs/model/synchronisation.md says when this suffices).

use half::f16;
use ptx_dsl::cuda::{Gpu, GpuError};
use ptx_dsl::launch::Device;
use ptx_dsl::prelude::*;
use ptx_dsl::tensor_map::{ElementType, Swizzle, TensorMap};

ptx! {
    <sm_90a, ptx 8.3>

    // Four stages: 128 x 64 elements of A, then 64 x 64 of B, in the 128-byte swizzle. After them the mbarriers: full, empty.
    .extern .shared .align 1024 .b8 stages[];

    .visible .entry gemm(
        .param .align 64 .b8 a[128]: &TensorMap,
        .param .align 64 .b8 b[128]: &TensorMap,
        .param .u64 .ptr .global .align 16 c: &mut [f32],
        .param .u32 n,
        .param .u32 k)
    .reqntid 384 .reqnctapercluster 2
    {
        .reg .pred %p, %more;
        .reg .b16 %both;
        .reg .b32 %t, %group, %rank, %base, %bars, %row, %column, %n, %k, %at, %stage, %parity, %full, %empty, %peer, %to, %x;
        .reg .b64 %a, %b, %c, %o, %below, %pitch, %da, %db;
        .reg .f32 %d<32>;

        mov.u32 %t, %tid.x;
        shr.u32 %group, %t, 7;
        mov.u32 %rank, %cluster_ctarank;
        mov.u32 %base, stages;
        add.u32 %bars, %base, 98304;
        mov.u32 %row, %ctaid.x;
        shl.b32 %row, %row, 7;
        mov.u32 %column, %ctaid.y;
        shl.b32 %column, %column, 6;
        ld.param.u32 %k, [k];
        setp.ne.u32 %p, %t, 0;
        @%p bra ready;
        mbarrier.init.shared::cta.b64 [%bars], 1;
        mbarrier.init.shared::cta.b64 [%bars+8], 1;
        mbarrier.init.shared::cta.b64 [%bars+16], 1;
        mbarrier.init.shared::cta.b64 [%bars+24], 1;
        mbarrier.init.shared::cta.b64 [%bars+32], 4;
        mbarrier.init.shared::cta.b64 [%bars+40], 4;
        mbarrier.init.shared::cta.b64 [%bars+48], 4;
        mbarrier.init.shared::cta.b64 [%bars+56], 4;
        fence.mbarrier_init.release.cluster;
    ready:
        barrier.cluster.arrive.release;
        barrier.cluster.wait.acquire;
        mov.u32 %stage, 0;
        mov.u32 %at, 0;
        setp.ne.u32 %p, %group, 0;
        @%p bra multiply;

        // the thread that loads; a wait for the phase before the first one does not block
        setp.ne.u32 %p, %t, 0;
        @%p bra done;
        mov.b64 %a, a;
        cvta.param.u64 %a, %a;
        mov.b64 %b, b;
        cvta.param.u64 %b, %b;
        mov.u16 %both, 3;
        mad.lo.u32 %column, %rank, 32, %column;
        mov.u32 %parity, 1;
    load:
        mad.lo.u32 %full, %stage, 8, %bars;
        add.u32 %empty, %full, 32;
    unread:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [%empty], %parity;
        @!%p bra unread;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%full], 24576;
        mad.lo.u32 %to, %stage, 24576, %base;
        cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
            [%to], [%a, {%at, %row}], [%full];
        add.u32 %to, %to, 16384;
        mad.lo.u32 %to, %rank, 4096, %to;
        cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster
            [%to], [%b, {%at, %column}], [%full], %both;
        add.u32 %stage, %stage, 1;
        and.b32 %stage, %stage, 3;
        setp.eq.u32 %p, %stage, 0;
        @%p xor.b32 %parity, %parity, 1;
        add.u32 %at, %at, 64;
        setp.lt.u32 %p, %at, %k;
        @%p bra load;
        bra done;

    multiply:
        sub.u32 %group, %group, 1;
        mov.u32 %parity, 0;
    next:
        mad.lo.u32 %full, %stage, 8, %bars;
        add.u32 %empty, %full, 32;
    unloaded:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [%full], %parity;
        @!%p bra unloaded;
        // descriptors: 128-byte swizzle (bit 62), 1024 bytes from eight rows to the next
        mad.lo.u32 %to, %stage, 24576, %base;
        add.u32 %x, %to, 16384;
        mad.lo.u32 %to, %group, 8192, %to;
        shr.u32 %to, %to, 4;
        cvt.u64.u32 %da, %to;
        or.b64 %da, %da, 0x4000004000010000;
        shr.u32 %x, %x, 4;
        cvt.u64.u32 %db, %x;
        or.b64 %db, %db, 0x4000004000010000;
        wgmma.fence.sync.aligned;
        mov.u32 %to, 0;
    sixteen:
        or.b32 %x, %at, %to;
        setp.ne.u32 %more, %x, 0;
        wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
            {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7, %d8, %d9, %d10, %d11, %d12, %d13, %d14, %d15,
                %d16, %d17, %d18, %d19, %d20, %d21, %d22, %d23, %d24, %d25, %d26, %d27, %d28, %d29, %d30, %d31}, %da, %db, %more, 1, 1, 0, 0;
        add.u64 %da, %da, 2;
        add.u64 %db, %db, 2;
        add.u32 %to, %to, 16;
        setp.lt.u32 %p, %to, 64;
        @%p bra sixteen;
        wgmma.commit_group.sync.aligned;
        wgmma.wait_group.sync.aligned 0;
        // one thread tells both CTAs that its warpgroup has read the stage
        and.b32 %x, %t, 127;
        setp.ne.u32 %p, %x, 0;
        @%p bra read;
        mapa.shared::cluster.u32 %peer, %empty, 0;
        mbarrier.arrive.shared::cluster.b64 _, [%peer];
        mapa.shared::cluster.u32 %peer, %empty, 1;
        mbarrier.arrive.shared::cluster.b64 _, [%peer];
    read:
        add.u32 %stage, %stage, 1;
        and.b32 %stage, %stage, 3;
        setp.eq.u32 %p, %stage, 0;
        @%p xor.b32 %parity, %parity, 1;
        add.u32 %at, %at, 64;
        setp.lt.u32 %p, %at, %k;
        @%p bra next;

        // a thread has the rows 16 warp + lane / 4 and 8 more, the columns 2 (lane mod 4) + 8 i and the next ones
        ld.param.u32 %n, [n];
        ld.param.u64 %c, [c];
        and.b32 %x, %t, 127;
        shr.u32 %to, %x, 5;
        mad.lo.u32 %row, %group, 64, %row;
        mad.lo.u32 %row, %to, 16, %row;
        and.b32 %x, %t, 31;
        shr.u32 %to, %x, 2;
        add.u32 %row, %row, %to;
        and.b32 %x, %t, 3;
        mad.lo.u32 %column, %x, 2, %column;
        mad.lo.u32 %x, %row, %n, %column;
        mad.wide.u32 %o, %x, 4, %c;
        mul.wide.u32 %pitch, %n, 32;
        add.u64 %below, %o, %pitch;
        st.global.v2.f32 [%o+0], {%d0, %d1};
        st.global.v2.f32 [%below+0], {%d2, %d3};
        st.global.v2.f32 [%o+32], {%d4, %d5};
        st.global.v2.f32 [%below+32], {%d6, %d7};
        st.global.v2.f32 [%o+64], {%d8, %d9};
        st.global.v2.f32 [%below+64], {%d10, %d11};
        st.global.v2.f32 [%o+96], {%d12, %d13};
        st.global.v2.f32 [%below+96], {%d14, %d15};
        st.global.v2.f32 [%o+128], {%d16, %d17};
        st.global.v2.f32 [%below+128], {%d18, %d19};
        st.global.v2.f32 [%o+160], {%d20, %d21};
        st.global.v2.f32 [%below+160], {%d22, %d23};
        st.global.v2.f32 [%o+192], {%d24, %d25};
        st.global.v2.f32 [%below+192], {%d26, %d27};
        st.global.v2.f32 [%o+224], {%d28, %d29};
        st.global.v2.f32 [%below+224], {%d30, %d31};
    done:
        // no CTA ends before the other has arrived on its mbarriers
        barrier.cluster.arrive;
        barrier.cluster.wait;
        ret;
    }
}

/// Bytes of shared memory: four stages and their mbarriers.
const SHARED: u32 = 4 * 24576 + 64;

/// Pseudo-random numbers from -1 to 1 (xorshift).
fn numbers(n: usize, mut seed: u64) -> Vec<f16> {
    let next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        f16::from_f64((seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0)
    };
    std::iter::repeat_with(next).take(n).collect()
}

/// Two matrices, their product in f64, and for each element the sum of the magnitudes of its terms.
struct Problem {
    shape: [usize; 3],
    a: Vec<f16>,
    b: Vec<f16>,
    product: Vec<(f64, f64)>,
}

impl Problem {
    fn new([m, n, k]: [usize; 3]) -> Problem {
        let (a, b) = (numbers(m * k, 1), numbers(n * k, 2));
        let wide = |v: &[f16]| v.iter().map(|v| v.to_f64()).collect::<Vec<_>>();
        let (x, y) = (wide(&a), wide(&b));
        let element = |at: usize| {
            let terms = x[at / n * k..][..k].iter().zip(&y[at % n * k..][..k]).map(|(x, y)| x * y);
            terms.fold((0.0, 0.0), |(sum, size), term| (sum + term, size + term.abs()))
        };
        let product = (0..m * n).map(element).collect();
        Problem { shape: [m, n, k], a, b, product }
    }

    /// Launches the kernel and compares: the error is at most 2^-16 of the magnitudes of the terms.
    fn run<D: Device>(&self, device: &D) -> Result<Report, Error> {
        let [m, n, k] = self.shape;
        let (a, b) = (map(&self.a, [m, k], 128), map(&self.b, [n, k], 32));
        let mut c = vec![f32::NAN; m * n];
        let launch = Launch::grid((m as u32 / 128, n as u32 / 64)).dynamic_shared(SHARED);
        let report = gemm.launch(device, launch, (&a, &b, &mut c, n as u32, k as u32))?;
        for (at, (c, (sum, size))) in c.iter().zip(&self.product).enumerate() {
            let error = (f64::from(*c) - sum).abs();
            assert!(error <= size / 65536.0, "row {}, column {}: {c} instead of {sum}", at / n, at % n);
        }
        Ok(report)
    }
}

/// Loads boxes of 64 elements of so many rows.
fn map(x: &[f16], [rows, k]: [usize; 2], box_rows: u32) -> TensorMap<'_> {
    let map = TensorMap::tiled(x, ElementType::F16).dims([k as u64, rows as u64]).box_dims([64, box_rows]);
    map.swizzle(Swizzle::B128).build().expect("whole boxes")
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let small = Problem::new([256, 64, 384]);
    small.run(&Host::checked())?;
    Host::new().explore(32).run(|host| small.run(host))?;
    let large = Problem::new([512, 512, 512]);
    let start = std::time::Instant::now();
    large.run(&Host::new())?;
    println!("512 x 512 x 512 in {:.0} ms, within 2^-16 of the magnitudes", start.elapsed().as_secs_f64() * 1e3);
    if let Some(gpu) = gpu()? {
        let report = large.run(&gpu.timed())?;
        println!("the same on the GPU in {:.1} us", report.device_time.unwrap_or_default().as_secs_f64() * 1e6);
    }
    Ok(())
}

/// The first GPU, if the program is called with `--gpu`.
fn gpu() -> Result<Option<Gpu>, GpuError> {
    if !std::env::args().any(|arg| arg == "--gpu") {
        return Ok(None);
    }
    // SAFETY: the kernel accesses its arguments alone: `small` has run on the checked host.
    #[allow(unsafe_code)]
    let gpu = unsafe { Gpu::new(0) }?;
    println!("{gpu}");
    Ok(Some(gpu))
}
