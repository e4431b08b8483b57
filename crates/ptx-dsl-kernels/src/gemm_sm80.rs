//! Matrix products from Ampere on: C = A * B^T in bf16 or f16 by `mma.sync`, with sums in f32.
//!
//! A CTA of eight warps computes 128 x 128 elements; a warp has 64 x 32 of them. Blocks of 64 elements along K come by `cp.async` into a ring
//! of three stages. A row of a block is 128 bytes, whose eight pieces of 16 bytes are permuted, piece XOR row mod 8, so that the eight rows
//! that `ldmatrix` reads at a time are in different banks.

use crate::Error;
use crate::gemm::Shape;
use half::{bf16, f16};
use ptx_dsl::launch::Device;
use ptx_dsl::prelude::*;

ptx! {
    <sm_80, ptx 7.8>

    const STAGES: u32 = 3;
    /// 128 rows of A, then 128 of B, of 64 elements each.
    const STAGE: u32 = 32768;

    .extern .shared .align 128 .b8 memory[];

    /// Asks for a piece of 16 bytes of each 32nd of 128 rows, from element `at` of K on; zeros where the matrix has none.
    .inline fetch(.reg .b64 %x, .b32 row, .b32 rows, .b32 k, .b32 at, .b32 to) {
        .reg .pred %in;
        .reg .b32 %row, %at, %bytes, %to;
        .reg .b64 %from;
        mov.b32 %at, at;
        mov.b32 %to, to;
        @for I in 0..4 {
            mov.b32 %row, row;
            %row = %row + 32 * I;
            setp.lt.u32 %in, %row, rows;
            setp.lt.and.u32 %in, %at, k, %in;
            %bytes = %in ? 16 : 0;
            %row = %in ? %row : 0;
            mul.wide.u32 %from, %row, k;
            %from = %from + (%in ? %at : 0) as u64;
            %from = (%from << 1) + %x;
            cp.async.cg.shared.global [%to + 4096 * I], [%from], 16, %bytes;
        }
    }

    /// Products of 16 x 16 by 16 x 32 elements.
    .inline multiply<T: bf16 | f16>(.reg .f32 %d<16>, .reg .b32 %a<4>, .reg .b32 %b<8>) {
        @for J in 0..4 {
            const HALF: u32 = J / 2 * 4 + J % 2;
            mma.sync.aligned.m16n8k16.row.col.f32.T.T.f32
                {%d{4 * J}..=%d{4 * J + 3}}, %a, {%b{HALF}, %b{HALF + 2}}, {%d{4 * J}..=%d{4 * J + 3}};
        }
    }

    /// `TYPE` is 0 for bf16, 1 for f16. `n` is even, `k` a multiple of 8.
    .visible .entry gemm_mma<const TYPE: u32 in [0, 1]>(
        .param .u64 .ptr .global .align 16 a: &[u16],
        .param .u64 .ptr .global .align 16 b: &[u16],
        .param .u64 .ptr .global .align 16 c: &mut [u16],
        .param .u32 m,
        .param .u32 n,
        .param .u32 k)
    .reqntid 256
    {
        .reg .b32 %a<16>, %b<8>, %h, %o, %x;
        .reg .b64 %out;
        .reg .f32 %d<64>;

        let %t = %tid.x;
        let %lane = %t % 32;
        let %warp = %t / 32;
        let %row = %ctaid.y * 128;
        let %column = %ctaid.x * 128;
        let %base = memory;
        // a thread copies piece t mod 8 of the rows t / 8 + 32 i
        let %piece = %t % 8;
        let %line = %t / 8;
        let %to = %base + %line * 128 + (%piece ^ (%line % 8)) * 16;
        let %arow = %row + %line;
        let %brow = %column + %line;
        let %m = m;
        let %n = n;
        let %k = k;
        let %a = a;
        let %b = b;
        let %at = %piece * 8;
        let %stage = 0;
        @for S in 0..STAGES - 1 {
            fetch!(%a, %arow, %m, %k, %at, %to + STAGE * S);
            fetch!(%b, %brow, %n, %k, %at, %to + STAGE * S + STAGE / 2);
            cp.async.commit_group;
            %at = %at + 64;
        }
        @for I in 0..64 { mov.f32 %d{I}, 0f00000000; }

        // a lane reads row lane mod 16 of 16 rows, and piece 2 i + lane / 16
        let %mine = %base + (%lane % 16) * 128;
        let %aread = %mine + (%warp / 4) * 8192;
        let %bread = %mine + (%warp % 4) * 4096 + STAGE / 2;
        let %first = ((%lane / 16) ^ (%lane % 8)) * 16;
        let %left = (%k + 63) / 64;
        let %filled = (STAGES - 1) * STAGE;
        loop {
            cp.async.wait_group STAGES - 2;
            // all pieces have come, and the stage that is filled next has been read
            bar.sync 0;
            %x = %to + %filled;
            fetch!(%a, %arow, %m, %k, %at, %x);
            %x = %x + STAGE / 2;
            fetch!(%b, %brow, %n, %k, %at, %x);
            cp.async.commit_group;
            %at = %at + 64;
            @for S in 0..4 {
                %o = %stage + (%first ^ 32 * S);
                @for I in 0..4 {
                    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%a{4 * I}..=%a{4 * I + 3}}, [%aread + %o + 2048 * I];
                }
                @for J in 0..2 {
                    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%b{4 * J}..=%b{4 * J + 3}}, [%bread + %o + 2048 * J];
                }
                @for I in 0..4 {
                    @if TYPE == 0 { multiply.bf16!({%d{16 * I}..=%d{16 * I + 15}}, {%a{4 * I}..=%a{4 * I + 3}}, {%b0..=%b7}); }
                    @if TYPE == 1 { multiply.f16!({%d{16 * I}..=%d{16 * I + 15}}, {%a{4 * I}..=%a{4 * I + 3}}, {%b0..=%b7}); }
                }
            }
            %filled = %stage;
            %stage = %stage + STAGE;
            if %stage == STAGES * STAGE { %stage = 0; }
            %left = %left - 1;
            if %left == 0 { break; }
        }
        cp.async.wait_all;

        // a thread has the rows lane / 4 and 8 more of 16, the columns 2 (lane mod 4) of 8 and the next
        %row = %row + (%warp / 4) * 64 + %lane / 4;
        %column = %column + (%warp % 4) * 32 + (%lane % 4) * 2;
        @for I in 0..4 {
            @for H in 0..2 {
                %x = %row + 16 * I + 8 * H;
                if %x < %m {
                    mul.wide.u32 %out, %x, %n;
                    %out = ((%out + %column as u64) << 1) + c;
                    @for J in 0..4 {
                        if %column + 8 * J < %n {
                            @if TYPE == 0 { cvt.rn.bf16x2.f32 %h, %d{16 * I + 4 * J + 2 * H + 1}, %d{16 * I + 4 * J + 2 * H}; }
                            @if TYPE == 1 { cvt.rn.f16x2.f32 %h, %d{16 * I + 4 * J + 2 * H + 1}, %d{16 * I + 4 * J + 2 * H}; }
                            st.global.b32 [%out + 16 * J], %h;
                        }
                    }
                }
            }
        }
        ret;
    }
}

/// Bytes of shared memory: three stages.
const SHARED: u32 = 3 * 32768;

fn run<const TYPE: u32>(
    device: &impl Device,
    a: &[u16],
    b: &[u16],
    c: &mut [u16],
    shape: Shape,
) -> Result<Report, Error> {
    let Shape { m, n, k } = shape;
    Error::unless_length("a", a.len(), m * k)?;
    Error::unless_length("b", b.len(), n * k)?;
    Error::unless_length("c", c.len(), m * n)?;
    let (rows, columns, depth) = (Error::unless_u32("m", m)?, Error::unless_u32("n", n)?, Error::unless_u32("k", k)?);
    if k == 0 || !k.is_multiple_of(8) {
        return Err(Error::Dimension { name: "k", has: k, wants: "a multiple of 8" });
    }
    if !n.is_multiple_of(2) {
        return Err(Error::Dimension { name: "n", has: n, wants: "even" });
    }
    if c.is_empty() {
        return Ok(Report::default());
    }
    let launch = Launch::grid((columns.div_ceil(128), rows.div_ceil(128))).dynamic_shared(SHARED);
    let arguments = (a, b, c, rows, columns, depth);
    Ok(if TYPE == 0 {
        gemm_mma::<0>.launch(device, launch, arguments)
    } else {
        gemm_mma::<1>.launch(device, launch, arguments)
    }?)
}

/// C = A * B^T of bf16, rounded to bf16. `k` is a multiple of 8, `n` is even. Parts of buffers begin at multiples of 16 bytes.
///
/// # Errors
/// A length does not fit the shape, a dimension is not such a multiple, or the launch fails.
pub fn bf16_bf16(device: &impl Device, a: &[bf16], b: &[bf16], c: &mut [bf16], shape: Shape) -> Result<Report, Error> {
    run::<0>(device, bytemuck::cast_slice(a), bytemuck::cast_slice(b), bytemuck::cast_slice_mut(c), shape)
}

/// C = A * B^T of f16, rounded to f16. `k` is a multiple of 8, `n` is even. Parts of buffers begin at multiples of 16 bytes.
///
/// # Errors
/// As [`bf16_bf16`].
pub fn f16_f16(device: &impl Device, a: &[f16], b: &[f16], c: &mut [f16], shape: Shape) -> Result<Report, Error> {
    run::<1>(device, bytemuck::cast_slice(a), bytemuck::cast_slice(b), bytemuck::cast_slice_mut(c), shape)
}
