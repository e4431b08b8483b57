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

ptx! {
    <sm_90a, ptx 8.3>

    const BM: u32 = 128;
    const BN: u32 = 64;
    const BK: u32 = 64;
    const STAGES: u32 = 4;

    // how tensor copies write tiles, and `wgmma` reads them
    layout TileA = f16[BM, BK] swizzle 128;
    layout TileB = f16[BN, BK] swizzle 128;
    const STAGE: u32 = TileA.bytes + TileB.bytes;

    // Four stages, each with a tile of A and one of B. After them the mbarriers: full, empty.
    .extern .shared .align 1024 .b8 stages[];

    .inline wait(.b32 barrier, .b32 parity) {
        .reg .pred %done;
        loop {
            mbarrier.try_wait.parity.shared::cta.b64 %done, [barrier], parity;
            if %done { break; }
        }
    }

    .inline next(.reg .b32 %stage, .reg .b32 %parity) {
        %stage = (%stage + 1) % STAGES;
        if %stage == 0 { xor.b32 %parity, %parity, 1; }
    }

    .visible .entry gemm(
        .param .align 64 .b8 a[128]: &TensorMap,
        .param .align 64 .b8 b[128]: &TensorMap,
        .param .u64 .ptr .global .align 16 c: &mut [f32],
        .param .u32 n,
        .param .u32 k)
    .reqntid 384 .reqnctapercluster 2
    {
        .reg .b16 %both;
        .reg .b32 %peer;
        .reg .b64 %a, %b;
        .reg .f32 %d<32>;

        let %t = %tid.x;
        let %group = %t / 128;
        let %rank = %cluster_ctarank;
        let %base = stages;
        let %bars = %base + STAGES * STAGE;
        let %row = %ctaid.x * BM;
        let %column = %ctaid.y * BN;
        let %stage = 0;
        let %at = 0;
        if %t == 0 {
            @for S in 0..STAGES {
                mbarrier.init.shared::cta.b64 [%bars + 8 * S], 1;
                mbarrier.init.shared::cta.b64 [%bars + 8 * (STAGES + S)], 4;
            }
            fence.mbarrier_init.release.cluster;
        }
        barrier.cluster.arrive.release;
        barrier.cluster.wait.acquire;

        if %group != 0 {
            let %parity = 0;
            let %consumer = %group - 1;
            while %at < k {
                let %full = %bars + 8 * %stage;
                wait!(%full, %parity);
                let %first = %base + %stage * STAGE;
                let %da = ((%first + %consumer * TileA.at(64, 0)) >> 4) as u64 | descriptor::wgmma(TileA);
                let %db = ((%first + TileA.bytes) >> 4) as u64 | descriptor::wgmma(TileB);
                wgmma.fence.sync.aligned;
                let %to = 0;
                while %to < BK {
                    let %more = (%at | %to) != 0;
                    wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%d0..=%d31}, %da, %db, %more, 1, 1, 0, 0;
                    %da = %da + 2;
                    %db = %db + 2;
                    %to = %to + 16;
                }
                wgmma.commit_group.sync.aligned;
                wgmma.wait_group.sync.aligned 0;
                // one thread tells both CTAs that its warpgroup has read the stage
                if %t % 128 == 0 {
                    let %empty = %full + 8 * STAGES;
                    @for R in 0..2 {
                        mapa.shared::cluster.u32 %peer, %empty, R;
                        mbarrier.arrive.shared::cluster.b64 _, [%peer];
                    }
                }
                next!(%stage, %parity);
                %at = %at + BK;
            }

            // a thread has the rows 16 warp + lane / 4 and 8 more, the columns 2 (lane mod 4) + 8 i and the next ones
            %row = %row + %consumer * 64 + %t % 128 / 32 * 16 + %t % 32 / 4;
            %column = %column + %t % 4 * 2;
            let %o = c + 4 * (%row * n + %column) as u64;
            let %below = %o + 32 * n as u64;
            @for I in 0..BN / 8 {
                st.global.v2.f32 [%o + 32 * I], {%d{4 * I}, %d{4 * I + 1}};
                st.global.v2.f32 [%below + 32 * I], {%d{4 * I + 2}, %d{4 * I + 3}};
            }
        } else if %t == 0 {
            // the thread that loads; a wait for the phase before the first one does not block
            mov.b64 %a, a;
            cvta.param.u64 %a, %a;
            mov.b64 %b, b;
            cvta.param.u64 %b, %b;
            mov.u16 %both, 3;
            let %parity = 1;
            while %at < k {
                let %full = %bars + 8 * %stage;
                let %to = %base + %stage * STAGE;
                wait!(%full + 8 * STAGES, %parity);
                mbarrier.arrive.expect_tx.shared::cta.b64 _, [%full], STAGE;
                cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
                    [%to], [%a, {%at, %row}], [%full];
                cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster
                    [%to + TileA.bytes + %rank * TileB.at(32, 0)], [%b, {%at, %column + 32 * %rank}], [%full], %both;
                next!(%stage, %parity);
                %at = %at + BK;
            }
        }
        // no CTA ends before the other has arrived on its mbarriers
        barrier.cluster.arrive;
        barrier.cluster.wait;
        ret;
    }
}

/// Bytes of shared memory: four stages and their mbarriers.
const SHARED: u32 = 4 * (TileA.bytes() + TileB.bytes()) + 64;

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
        let a = TileA.tensor_map(&self.a, [k as u64, m as u64]).build().expect("whole boxes");
        // each CTA loads half of the rows
        let b = TileB.tensor_map_of_rows(&self.b, [k as u64, n as u64], TileB.rows() / 2);
        let b = b.build().expect("whole boxes");
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
