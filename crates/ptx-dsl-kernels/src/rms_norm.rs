//! Root mean square normalisation of each row of an f32 matrix.
//!
//! A row of up to 32,768 elements is read once and stays in registers, as in [`softmax`](crate::softmax); longer rows are read twice.

use crate::Error;
use ptx_dsl::launch::Device;
use ptx_dsl::prelude::*;

ptx! {
    <sm_80, ptx 7.4>
    use crate::parts::lanes;

    /// Pieces of a row that a thread has.
    const PIECES: u32 = 8;

    /// `GROUP` threads compute a row, in pieces of `WIDTH` elements: 4 if the number of columns is a multiple of 4, else 1.
    .visible .entry rms_norm_rows<const GROUP: u32 in [32, 256, 1024], const WIDTH: u32 in [4, 1]>(
        .param .u64 .ptr .global .align 16 x: &[f32],
        .param .u64 .ptr .global .align 16 weights: &[f32],
        .param .u64 .ptr .global .align 16 y: &mut [f32],
        .param .u32 rows,
        .param .u32 columns,
        .param .f32 epsilon)
    .reqntid GROUP > 256 ? GROUP : 256
    {
        .shared .align 4 .f32 sums[32];
        .reg .pred %p, %in<PIECES>;
        .reg .b32 %t, %row, %rows, %columns, %pieces, %piece, %i;
        .reg .b64 %x, %y, %w, %skip;
        .reg .f32 %sum, %count, %epsilon, %v<PIECES * WIDTH>, %w<4>;

        mov.u32 %t, %tid.x;
        mov.u32 %row, %ctaid.x;
        @if GROUP == 32 {
            shr.u32 %i, %t, 5;
            mad.lo.u32 %row, %row, 8, %i;
        }
        ld.param.u32 %rows, [rows];
        setp.ge.u32 %p, %row, %rows;
        @%p bra done;
        ld.param.u32 %columns, [columns];
        div.u32 %pieces, %columns, WIDTH;
        and.b32 %piece, %t, GROUP - 1;
        ld.param.u64 %w, [weights];
        mad.wide.u32 %w, %piece, 4 * WIDTH, %w;
        mul.wide.u32 %skip, %row, %columns;
        cvt.u64.u32 %x, %piece;
        mad.lo.u64 %skip, %x, WIDTH, %skip;
        shl.b64 %skip, %skip, 2;
        ld.param.u64 %x, [x];
        add.u64 %x, %x, %skip;
        ld.param.u64 %y, [y];
        add.u64 %y, %y, %skip;

        @for I in 0..PIECES {
            add.u32 %i, %piece, GROUP * I;
            setp.lt.u32 %in{I}, %i, %pieces;
            @for J in 0..WIDTH { mov.f32 %v{WIDTH * I + J}, 0f00000000; }
            @if WIDTH == 4 {
                @%in{I} ld.global.nc.L1::no_allocate.v4.f32 {%v{4 * I}..=%v{4 * I + 3}}, [%x + 16 * GROUP * I];
            } else {
                @%in{I} ld.global.nc.L1::no_allocate.f32 %v{I}, [%x + 4 * GROUP * I];
            }
        }
        mul.f32 %sum, %v0, %v0;
        @for I in 1..PIECES * WIDTH { fma.rn.f32 %sum, %v{I}, %v{I}, %sum; }
        @if GROUP == 32 {
            lanes::warp!(%sum, 32, 0);
        } else {
            lanes::block!(%sum, %t, sums, GROUP / 32, 0);
        }
        cvt.rn.f32.u32 %count, %columns;
        div.rn.f32 %sum, %sum, %count;
        ld.param.f32 %epsilon, [epsilon];
        add.f32 %sum, %sum, %epsilon;
        sqrt.rn.f32 %sum, %sum;
        rcp.rn.f32 %sum, %sum;

        // the weights are the same for all rows, and stay in the caches
        @for I in 0..PIECES {
            @for J in 0..WIDTH { mul.f32 %v{WIDTH * I + J}, %v{WIDTH * I + J}, %sum; }
            @if WIDTH == 4 {
                @%in{I} ld.global.nc.v4.f32 {%w0..=%w3}, [%w + 16 * GROUP * I];
                @for J in 0..4 { @%in{I} mul.f32 %v{4 * I + J}, %v{4 * I + J}, %w{J}; }
                @%in{I} st.global.cs.v4.f32 [%y + 16 * GROUP * I], {%v{4 * I}..=%v{4 * I + 3}};
            } else {
                @%in{I} ld.global.nc.f32 %w0, [%w + 4 * GROUP * I];
                @%in{I} mul.f32 %v{I}, %v{I}, %w0;
                @%in{I} st.global.f32 [%y + 4 * GROUP * I], %v{I};
            }
        }
    done:
        ret;
    }

    /// A row of any length for each CTA, which reads it twice.
    .visible .entry rms_norm_long_rows(
        .param .u64 .ptr .global .align 4 x: &[f32],
        .param .u64 .ptr .global .align 4 weights: &[f32],
        .param .u64 .ptr .global .align 4 y: &mut [f32],
        .param .u32 columns,
        .param .f32 epsilon)
    .reqntid 1024
    {
        .shared .align 4 .f32 sums[32];
        .reg .pred %p;
        .reg .b32 %t, %row, %columns, %i;
        .reg .b64 %x, %y, %w, %skip, %at;
        .reg .f32 %sum, %count, %epsilon, %v, %scale;

        mov.u32 %t, %tid.x;
        mov.u32 %row, %ctaid.x;
        ld.param.u32 %columns, [columns];
        mul.wide.u32 %skip, %row, %columns;
        shl.b64 %skip, %skip, 2;
        ld.param.u64 %x, [x];
        add.u64 %x, %x, %skip;
        ld.param.u64 %y, [y];
        add.u64 %y, %y, %skip;
        ld.param.u64 %w, [weights];
        mov.f32 %sum, 0f00000000;
        mov.u32 %i, %t;
        setp.ge.u32 %p, %i, %columns;
        @%p bra summed;
    sum:
        mad.wide.u32 %at, %i, 4, %x;
        ld.global.nc.f32 %v, [%at];
        fma.rn.f32 %sum, %v, %v, %sum;
        add.u32 %i, %i, 1024;
        setp.lt.u32 %p, %i, %columns;
        @%p bra sum;
    summed:
        lanes::block!(%sum, %t, sums, 32, 0);
        cvt.rn.f32.u32 %count, %columns;
        div.rn.f32 %sum, %sum, %count;
        ld.param.f32 %epsilon, [epsilon];
        add.f32 %sum, %sum, %epsilon;
        sqrt.rn.f32 %sum, %sum;
        rcp.rn.f32 %sum, %sum;
        mov.u32 %i, %t;
        setp.ge.u32 %p, %i, %columns;
        @%p bra done;
    write:
        mad.wide.u32 %at, %i, 4, %x;
        ld.global.nc.f32 %v, [%at];
        mad.wide.u32 %at, %i, 4, %w;
        ld.global.nc.f32 %scale, [%at];
        mul.f32 %v, %v, %sum;
        mul.f32 %v, %v, %scale;
        mad.wide.u32 %at, %i, 4, %y;
        st.global.f32 [%at], %v;
        add.u32 %i, %i, 1024;
        setp.lt.u32 %p, %i, %columns;
        @%p bra write;
    done:
        ret;
    }
}

/// Scales each row by its root mean square: `y[i, j] = x[i, j] / sqrt(mean of x[i, ..]^2 + epsilon) * weights[j]`. `x` and `y` are rows after
/// rows; a part of a buffer begins at a multiple of 16 bytes.
///
/// # Errors
/// A length does not fit the shape, or the launch fails.
pub fn rms_norm(
    device: &impl Device,
    x: &[f32],
    weights: &[f32],
    y: &mut [f32],
    [rows, columns]: [usize; 2],
    epsilon: f32,
) -> Result<Report, Error> {
    Error::unless_length("x", x.len(), rows * columns)?;
    Error::unless_length("y", y.len(), rows * columns)?;
    Error::unless_length("weights", weights.len(), columns)?;
    let (count, width) = (Error::unless_u32("rows", rows)?, Error::unless_u32("columns", columns)?);
    if x.is_empty() {
        return Ok(Report::default());
    }
    let ctas = Launch::grid(count);
    let warps = Launch::grid(count.div_ceil(8));
    let arguments = (x, weights, &mut *y, count, width, epsilon);
    Ok(match (columns, columns % 4 == 0) {
        (..=1024, true) => rms_norm_rows::<32, 4>.launch(device, warps, arguments),
        (..=8192, true) => rms_norm_rows::<256, 4>.launch(device, ctas, arguments),
        (..=32768, true) => rms_norm_rows::<1024, 4>.launch(device, ctas, arguments),
        (..=256, false) => rms_norm_rows::<32, 1>.launch(device, warps, arguments),
        (..=2048, false) => rms_norm_rows::<256, 1>.launch(device, ctas, arguments),
        (..=8192, false) => rms_norm_rows::<1024, 1>.launch(device, ctas, arguments),
        _ => rms_norm_long_rows.launch(device, ctas, (x, weights, y, width, epsilon)),
    }?)
}
