//! A matrix product in three levels: C = A * B, with A as M x K and B as N x K, both f16 and row by row, and C in f32.
//!
//! - `naive`: a thread computes one element and reads all that it needs from global memory.
//! - `tiled`: 16 x 16 threads bring tiles of A and B to shared memory, where each element is read 16 times.
//! - `tensor`: four warps multiply tiles of 64 x 64 with `mma.sync`.
//!
//! docs/guide/gemm.md tells how one level leads to the next; `hopper_gemm` and `tcgen05_gemm` are the levels after these.

use half::f16;
use ptx_dsl::cuda::{Gpu, GpuError};
use ptx_dsl::launch::Device;
use ptx_dsl::prelude::*;

ptx! {
    <sm_80, ptx 7.8>

    .visible .entry naive(
        .param .u64 .ptr .global .align 2 a: &[f16],
        .param .u64 .ptr .global .align 2 b: &[f16],
        .param .u64 .ptr .global .align 4 c: &mut [f32],
        .param .u32 n,
        .param .u32 k)
    .reqntid 16, 16
    {
        .reg .pred %more;
        .reg .b16 %h, %g;
        .reg .b32 %row, %column, %n, %k, %i, %x, %y;
        .reg .b64 %a, %b, %c;
        .reg .f32 %p, %q, %sum;
        mov.u32 %x, %ctaid.x;
        mov.u32 %y, %tid.y;
        mad.lo.u32 %row, %x, 16, %y;
        mov.u32 %x, %ctaid.y;
        mov.u32 %y, %tid.x;
        mad.lo.u32 %column, %x, 16, %y;
        ld.param.u32 %n, [n];
        ld.param.u32 %k, [k];
        ld.param.u64 %a, [a];
        ld.param.u64 %b, [b];
        ld.param.u64 %c, [c];
        mul.lo.u32 %x, %row, %k;
        mad.wide.u32 %a, %x, 2, %a;
        mul.lo.u32 %x, %column, %k;
        mad.wide.u32 %b, %x, 2, %b;
        mov.f32 %sum, 0f00000000;
        mov.u32 %i, 0;
    next:
        ld.global.b16 %h, [%a];
        ld.global.b16 %g, [%b];
        cvt.f32.f16 %p, %h;
        cvt.f32.f16 %q, %g;
        fma.rn.f32 %sum, %p, %q, %sum;
        add.u64 %a, %a, 2;
        add.u64 %b, %b, 2;
        add.u32 %i, %i, 1;
        setp.lt.u32 %more, %i, %k;
        @%more bra next;
        mad.lo.u32 %x, %row, %n, %column;
        mad.wide.u32 %c, %x, 4, %c;
        st.global.f32 [%c], %sum;
        ret;
    }

    // A thread brings one element of each tile. In shared memory rows are 17 elements apart, so that a column lies in 16 banks.
    .visible .entry tiled(
        .param .u64 .ptr .global .align 2 a: &[f16],
        .param .u64 .ptr .global .align 2 b: &[f16],
        .param .u64 .ptr .global .align 4 c: &mut [f32],
        .param .u32 n,
        .param .u32 k)
    .reqntid 16, 16
    {
        .reg .pred %more;
        .reg .b16 %h, %g;
        .reg .b32 %tx, %ty, %row, %column, %n, %k, %i, %x, %to_a, %to_b, %from_a, %from_b;
        .reg .b64 %a, %b, %c;
        .reg .f32 %p, %q, %sum;
        .shared .align 4 .f32 tile_a[272];
        .shared .align 4 .f32 tile_b[272];
        mov.u32 %tx, %tid.x;
        mov.u32 %ty, %tid.y;
        ld.param.u32 %n, [n];
        ld.param.u32 %k, [k];
        ld.param.u64 %a, [a];
        ld.param.u64 %b, [b];
        ld.param.u64 %c, [c];
        // the element that this thread brings: row ty, column tx of both tiles
        mov.u32 %row, %ctaid.x;
        mad.lo.u32 %row, %row, 16, %ty;
        mad.lo.u32 %x, %row, %k, %tx;
        mad.wide.u32 %a, %x, 2, %a;
        mov.u32 %column, %ctaid.y;
        mad.lo.u32 %x, %column, 16, %ty;
        mad.lo.u32 %x, %x, %k, %tx;
        mad.wide.u32 %b, %x, 2, %b;
        mad.lo.u32 %column, %column, 16, %tx;
        mad.lo.u32 %x, %ty, 17, %tx;
        mov.u32 %from_a, tile_a;
        mad.lo.u32 %to_a, %x, 4, %from_a;
        mad.lo.u32 %from_a, %ty, 68, %from_a;
        mov.u32 %from_b, tile_b;
        mad.lo.u32 %to_b, %x, 4, %from_b;
        mad.lo.u32 %from_b, %tx, 68, %from_b;
        mov.f32 %sum, 0f00000000;
        mov.u32 %i, 0;
    next:
        ld.global.b16 %h, [%a];
        ld.global.b16 %g, [%b];
        cvt.f32.f16 %p, %h;
        cvt.f32.f16 %q, %g;
        st.shared.f32 [%to_a], %p;
        st.shared.f32 [%to_b], %q;
        bar.sync 0;                       // the tiles are there
        @for I in 0..16 {
            ld.shared.f32 %p, [%from_a + 4 * I];
            ld.shared.f32 %q, [%from_b + 4 * I];
            fma.rn.f32 %sum, %p, %q, %sum;
        }
        bar.sync 0;                       // and nobody reads them any more
        add.u64 %a, %a, 32;
        add.u64 %b, %b, 32;
        add.u32 %i, %i, 16;
        setp.lt.u32 %more, %i, %k;
        @%more bra next;
        mad.lo.u32 %x, %row, %n, %column;
        mad.wide.u32 %c, %x, 4, %c;
        st.global.f32 [%c], %sum;
        ret;
    }

    // Four warps bring 64 elements of K of 64 rows of A and of B; in shared memory rows are 144 bytes apart. A warp multiplies 16 rows of
    // A with all of B.
    .visible .entry tensor(
        .param .u64 .ptr .global .align 16 a: &[f16],
        .param .u64 .ptr .global .align 16 b: &[f16],
        .param .u64 .ptr .global .align 4 c: &mut [f32],
        .param .u32 n,
        .param .u32 k)
    .reqntid 128
    {
        .reg .pred %more;
        .reg .b32 %t, %lane, %warp, %row, %column, %n, %k, %i, %x, %to, %from_a, %from_b;
        .reg .b32 %v<4>, %w<4>, %a<4>, %b<4>;
        .reg .b64 %a, %b, %c, %below, %pitch;
        .reg .f32 %d<32>;
        .shared .align 16 .b8 tile_a[9216];
        .shared .align 16 .b8 tile_b[9216];
        mov.u32 %t, %tid.x;
        shr.u32 %warp, %t, 5;
        and.b32 %lane, %t, 31;
        ld.param.u32 %n, [n];
        ld.param.u32 %k, [k];
        ld.param.u64 %a, [a];
        ld.param.u64 %b, [b];
        ld.param.u64 %c, [c];
        // this thread brings piece tid % 8 of the rows tid / 8 + 16 J, 16 bytes of both matrices
        shr.u32 %row, %t, 3;
        and.b32 %x, %t, 7;
        mul.lo.u32 %to, %row, 144;
        mad.lo.u32 %to, %x, 16, %to;
        mul.lo.u32 %column, %x, 8;
        mov.u32 %x, %ctaid.x;
        mad.lo.u32 %x, %x, 64, %row;
        mad.lo.u32 %x, %x, %k, %column;
        mad.wide.u32 %a, %x, 2, %a;
        mov.u32 %x, %ctaid.y;
        mad.lo.u32 %x, %x, 64, %row;
        mad.lo.u32 %x, %x, %k, %column;
        mad.wide.u32 %b, %x, 2, %b;
        mul.wide.u32 %pitch, %k, 32;
        // ldmatrix takes a row of 8 elements from each lane: of A rows lane % 16 and halves lane / 16,
        // of B rows lane % 8 + 8 (lane / 16) and halves lane / 8 % 2
        mul.lo.u32 %from_a, %warp, 16;
        and.b32 %x, %lane, 15;
        add.u32 %from_a, %from_a, %x;
        mul.lo.u32 %from_a, %from_a, 144;
        shr.u32 %x, %lane, 4;
        mad.lo.u32 %from_a, %x, 16, %from_a;
        mul.lo.u32 %from_b, %x, 8;
        and.b32 %x, %lane, 7;
        add.u32 %from_b, %from_b, %x;
        mul.lo.u32 %from_b, %from_b, 144;
        shr.u32 %x, %lane, 3;
        and.b32 %x, %x, 1;
        mad.lo.u32 %from_b, %x, 16, %from_b;
        mov.u32 %x, tile_a;
        add.u32 %from_a, %from_a, %x;
        mov.u32 %x, tile_b;
        add.u32 %from_b, %from_b, %x;
        @for I in 0..32 { mov.f32 %d{I}, 0f00000000; }
        mov.u32 %i, 0;
    next:
        @for J in 0..4 {
            ld.global.v4.b32 {%v0..=%v3}, [%a];
            ld.global.v4.b32 {%w0..=%w3}, [%b];
            mov.u32 %x, tile_a;
            add.u32 %x, %x, %to;
            st.shared.v4.b32 [%x + 2304 * J], {%v0..=%v3};
            mov.u32 %x, tile_b;
            add.u32 %x, %x, %to;
            st.shared.v4.b32 [%x + 2304 * J], {%w0..=%w3};
            add.u64 %a, %a, %pitch;
            add.u64 %b, %b, %pitch;
        }
        bar.sync 0;
        @for K in 0..4 {
            ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%a0..=%a3}, [%from_a + 32 * K];
            @for J in 0..4 {
                ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%b0..=%b3}, [%from_b + 32 * K + 2304 * J];
                mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
                    {%d{8 * J}..=%d{8 * J + 3}}, {%a0..=%a3}, {%b0, %b1}, {%d{8 * J}..=%d{8 * J + 3}};
                mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
                    {%d{8 * J + 4}..=%d{8 * J + 7}}, {%a0..=%a3}, {%b2, %b3}, {%d{8 * J + 4}..=%d{8 * J + 7}};
            }
        }
        bar.sync 0;
        // 64 rows back, 64 elements on
        shl.b64 %below, %pitch, 2;
        sub.u64 %a, %a, %below;
        add.u64 %a, %a, 128;
        sub.u64 %b, %b, %below;
        add.u64 %b, %b, 128;
        add.u32 %i, %i, 64;
        setp.lt.u32 %more, %i, %k;
        @%more bra next;
        // a thread has the rows 16 warp + lane / 4 and 8 more, the columns 2 (lane mod 4) + 8 I and the next ones
        mov.u32 %row, %ctaid.x;
        mad.lo.u32 %row, %row, 4, %warp;
        shr.u32 %x, %lane, 2;
        mad.lo.u32 %row, %row, 16, %x;
        mov.u32 %column, %ctaid.y;
        mul.lo.u32 %column, %column, 64;
        and.b32 %x, %lane, 3;
        mad.lo.u32 %column, %x, 2, %column;
        mad.lo.u32 %x, %row, %n, %column;
        mad.wide.u32 %c, %x, 4, %c;
        mul.wide.u32 %pitch, %n, 32;
        add.u64 %below, %c, %pitch;
        @for I in 0..8 {
            st.global.v2.f32 [%c + 32 * I], {%d{4 * I}, %d{4 * I + 1}};
            st.global.v2.f32 [%below + 32 * I], {%d{4 * I + 2}, %d{4 * I + 3}};
        }
        ret;
    }
}

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

/// Checks some elements of a product against sums in f64: the error is at most 2^-16 of the magnitudes of the terms.
fn check(a: &[f16], b: &[f16], c: &[f32], [m, n, k]: [usize; 3]) {
    let step = (m * n / 4096).max(1) | 1;
    for at in (0..m * n).step_by(step) {
        let terms = a[at / n * k..][..k].iter().zip(&b[at % n * k..][..k]).map(|(x, y)| x.to_f64() * y.to_f64());
        let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), term| (sum + term, size + term.abs()));
        let error = (f64::from(c[at]) - sum).abs();
        assert!(error <= size / 65536.0, "row {}, column {}: {} instead of {sum}", at / n, at % n, c[at]);
    }
}

/// Multiplies on a device with each kernel and prints what it took, if the device measures it.
fn levels(device: &impl Device, [m, n, k]: [usize; 3]) -> Result<(), Error> {
    let (a, b) = (numbers(m * k, 1), numbers(n * k, 2));
    let [x, y] = [m, n].map(|size| size as u32);
    let grid = |tile: u32| Launch::grid((x / tile, y / tile));
    let show = |name: &str, c: &[f32], report: Report| {
        check(&a, &b, c, [m, n, k]);
        if let Some(time) = report.device_time {
            let (time, work) = (time.as_secs_f64(), 2.0 * (m * n * k) as f64);
            println!("{name}: {m} x {n} x {k} in {:.3} ms, {:.1} TFLOPS", time * 1e3, work / time * 1e-12);
        }
    };
    let mut c = vec![f32::NAN; m * n];
    let report = naive.launch(device, grid(16), (&a, &b, &mut c, y, k as u32))?;
    show("naive", &c, report);
    c.fill(f32::NAN);
    let report = tiled.launch(device, grid(16), (&a, &b, &mut c, y, k as u32))?;
    show("tiled", &c, report);
    c.fill(f32::NAN);
    let report = tensor.launch(device, grid(64), (&a, &b, &mut c, y, k as u32))?;
    show("tensor", &c, report);
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    levels(&Host::checked(), [64, 128, 192])?;
    println!("three levels agree with sums in f64, and no access races with another");
    if let Some(gpu) = gpu()? {
        levels(&gpu.timed(), [4096, 4096, 4096])?;
    }
    Ok(())
}

/// The first GPU, if the program is called with `--gpu`.
fn gpu() -> Result<Option<Gpu>, GpuError> {
    if !std::env::args().any(|arg| arg == "--gpu") {
        return Ok(None);
    }
    // SAFETY: the kernels access their arguments alone: they have run on the checked host.
    #[allow(unsafe_code)]
    let gpu = unsafe { Gpu::new(0) }?;
    println!("{gpu}");
    Ok(Some(gpu))
}
