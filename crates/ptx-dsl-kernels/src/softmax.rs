//! Softmax of each row of an f32 matrix.
//!
//! A row of up to 8,192 elements (1,024 threads: 32,768) is read once and stays in registers: 32, 256 or 1,024 threads have eight pieces of
//! 16 bytes each. Longer rows are read twice: the first time for the maximum and the sum, which a greater maximum scales.

use crate::Error;
use ptx_dsl::launch::Device;
use ptx_dsl::prelude::*;

ptx! {
    <sm_80, ptx 7.4>
    use crate::parts::lanes;

    /// Pieces of a row that a thread has.
    const PIECES: u32 = 8;

    /// `GROUP` threads compute a row, in pieces of `WIDTH` elements: 4 if the number of columns is a multiple of 4, else 1.
    .visible .entry softmax_rows<const GROUP: u32 in [32, 256, 1024], const WIDTH: u32 in [4, 1]>(
        .param .u64 .ptr .global .align 16 x: &[f32],
        .param .u64 .ptr .global .align 16 y: &mut [f32],
        .param .u32 rows,
        .param .u32 columns)
    .reqntid GROUP > 256 ? GROUP : 256
    {
        .shared .align 4 .f32 maxima[32], sums[32];
        .reg .pred %p, %in<PIECES>;
        .reg .b32 %t, %row, %rows, %columns, %pieces, %piece, %i;
        .reg .b64 %x, %y, %skip;
        .reg .f32 %max, %sum, %scale, %shift, %v<PIECES * WIDTH>;

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
            @for J in 0..WIDTH { mov.f32 %v{WIDTH * I + J}, 0fFF800000; }
            @if WIDTH == 4 {
                @%in{I} ld.global.nc.L1::no_allocate.v4.f32 {%v{4 * I}..=%v{4 * I + 3}}, [%x + 16 * GROUP * I];
            } else {
                @%in{I} ld.global.nc.L1::no_allocate.f32 %v{I}, [%x + 4 * GROUP * I];
            }
        }
        mov.f32 %max, %v0;
        @for I in 1..PIECES * WIDTH { lanes::combine!(%max, %v{I}, 1); }
        @if GROUP == 32 {
            lanes::warp!(%max, 32, 1);
        } else {
            lanes::block!(%max, %t, maxima, GROUP / 32, 1);
        }

        // exp(v - max) as a power of two
        mov.f32 %scale, 0f3FB8AA3B;
        mul.f32 %shift, %max, %scale;
        neg.f32 %shift, %shift;
        mov.f32 %sum, 0f00000000;
        @for I in 0..PIECES * WIDTH {
            fma.rn.f32 %v{I}, %v{I}, %scale, %shift;
            ex2.approx.ftz.f32 %v{I}, %v{I};
            add.f32 %sum, %sum, %v{I};
        }
        @if GROUP == 32 {
            lanes::warp!(%sum, 32, 0);
        } else {
            lanes::block!(%sum, %t, sums, GROUP / 32, 0);
        }
        rcp.rn.f32 %sum, %sum;
        @for I in 0..PIECES {
            @for J in 0..WIDTH { mul.f32 %v{WIDTH * I + J}, %v{WIDTH * I + J}, %sum; }
            @if WIDTH == 4 {
                @%in{I} st.global.cs.v4.f32 [%y + 16 * GROUP * I], {%v{4 * I}..=%v{4 * I + 3}};
            } else {
                @%in{I} st.global.f32 [%y + 4 * GROUP * I], %v{I};
            }
        }
    done:
        ret;
    }

    /// A row of any length for each CTA. A thread has a maximum, and the sum of exponentials relative to it.
    .visible .entry softmax_long_rows(
        .param .u64 .ptr .global .align 4 x: &[f32],
        .param .u64 .ptr .global .align 4 y: &mut [f32],
        .param .u32 columns)
    .reqntid 1024
    {
        .shared .align 4 .f32 maxima[32], sums[32];
        .reg .pred %p;
        .reg .b32 %t, %row, %columns, %i;
        .reg .b64 %x, %y, %skip, %at;
        .reg .f32 %max, %new, %all, %sum, %scale, %v, %e;

        mov.u32 %t, %tid.x;
        mov.u32 %row, %ctaid.x;
        ld.param.u32 %columns, [columns];
        mul.wide.u32 %skip, %row, %columns;
        shl.b64 %skip, %skip, 2;
        ld.param.u64 %x, [x];
        add.u64 %x, %x, %skip;
        ld.param.u64 %y, [y];
        add.u64 %y, %y, %skip;
        mov.f32 %scale, 0f3FB8AA3B;

        // no thread begins with an infinity, whose difference from itself has no value
        mov.f32 %max, 0fFF7FFFFF;
        mov.f32 %sum, 0f00000000;
        mov.u32 %i, %t;
        setp.ge.u32 %p, %i, %columns;
        @%p bra summed;
    sum:
        mad.wide.u32 %at, %i, 4, %x;
        ld.global.nc.f32 %v, [%at];
        mov.f32 %new, %max;
        lanes::combine!(%new, %v, 1);
        sub.f32 %e, %max, %new;
        mul.f32 %e, %e, %scale;
        ex2.approx.ftz.f32 %e, %e;
        mul.f32 %sum, %sum, %e;
        sub.f32 %e, %v, %new;
        mul.f32 %e, %e, %scale;
        ex2.approx.ftz.f32 %e, %e;
        add.f32 %sum, %sum, %e;
        mov.f32 %max, %new;
        add.u32 %i, %i, 1024;
        setp.lt.u32 %p, %i, %columns;
        @%p bra sum;
    summed:
        mov.f32 %all, %max;
        lanes::block!(%all, %t, maxima, 32, 1);
        sub.f32 %e, %max, %all;
        mul.f32 %e, %e, %scale;
        ex2.approx.ftz.f32 %e, %e;
        mul.f32 %sum, %sum, %e;
        lanes::block!(%sum, %t, sums, 32, 0);
        rcp.rn.f32 %sum, %sum;
        mov.u32 %i, %t;
        setp.ge.u32 %p, %i, %columns;
        @%p bra done;
    write:
        mad.wide.u32 %at, %i, 4, %x;
        ld.global.nc.f32 %v, [%at];
        sub.f32 %e, %v, %all;
        mul.f32 %e, %e, %scale;
        ex2.approx.ftz.f32 %e, %e;
        mul.f32 %e, %e, %sum;
        mad.wide.u32 %at, %i, 4, %y;
        st.global.f32 [%at], %e;
        add.u32 %i, %i, 1024;
        setp.lt.u32 %p, %i, %columns;
        @%p bra write;
    done:
        ret;
    }
}

/// Softmax of each row: `y[i, j] = exp(x[i, j]) / sum of exp(x[i, ..])`. `x` and `y` are rows after rows; a part of a buffer begins at a
/// multiple of 16 bytes. The relative error of an element is below 2^-18 plus 2^-22 of the spread of its row.
///
/// # Errors
/// A length does not fit the shape, or the launch fails.
pub fn softmax(device: &impl Device, x: &[f32], y: &mut [f32], [rows, columns]: [usize; 2]) -> Result<Report, Error> {
    Error::unless_length("x", x.len(), rows * columns)?;
    Error::unless_length("y", y.len(), rows * columns)?;
    let (count, width) = (Error::unless_u32("rows", rows)?, Error::unless_u32("columns", columns)?);
    if x.is_empty() {
        return Ok(Report::default());
    }
    let ctas = Launch::grid(count);
    let warps = Launch::grid(count.div_ceil(8));
    Ok(match (columns, columns % 4 == 0) {
        (..=1024, true) => softmax_rows::<32, 4>.launch(device, warps, (x, y, count, width)),
        (..=8192, true) => softmax_rows::<256, 4>.launch(device, ctas, (x, y, count, width)),
        (..=32768, true) => softmax_rows::<1024, 4>.launch(device, ctas, (x, y, count, width)),
        (..=256, false) => softmax_rows::<32, 1>.launch(device, warps, (x, y, count, width)),
        (..=2048, false) => softmax_rows::<256, 1>.launch(device, ctas, (x, y, count, width)),
        (..=8192, false) => softmax_rows::<1024, 1>.launch(device, ctas, (x, y, count, width)),
        _ => softmax_long_rows.launch(device, ctas, (x, y, width)),
    }?)
}
