//! Transposition of an f32 matrix.
//!
//! A CTA moves a tile of 64 x 64 elements through shared memory. A thread loads four rows of four elements, transposes them by naming its
//! registers in another order, and stores four pieces of 16 bytes. The place of a piece in its row is permuted by the row, so that neither
//! the stores nor the loads of shared memory meet in a bank.

use crate::Error;
use ptx_dsl::launch::Device;
use ptx_dsl::prelude::*;

ptx! {
    <sm_80, ptx 7.4>

    /// Rows and columns are multiples of 4.
    .visible .entry transpose_pieces(
        .param .u64 .ptr .global .align 16 x: &[f32],
        .param .u64 .ptr .global .align 16 y: &mut [f32],
        .param .u32 rows,
        .param .u32 columns)
    .reqntid 256
    {
        .shared .align 16 .b8 tile[16384];
        .reg .pred %p, %q;
        .reg .b32 %t, %row, %column, %rows, %columns, %i, %j, %at, %place, %to;
        .reg .b64 %x, %y, %pitch;
        .reg .f32 %v<16>;

        mov.u32 %t, %tid.x;
        shr.u32 %i, %t, 4;
        and.b32 %j, %t, 15;
        ld.param.u32 %rows, [rows];
        ld.param.u32 %columns, [columns];
        mov.u32 %column, %ctaid.x;
        mov.u32 %row, %ctaid.y;
        mov.u32 %at, tile;

        // rows 4 i and three more, columns 4 j and three more of the tile
        mad.lo.u32 %row, %row, 16, %i;
        shl.b32 %row, %row, 2;
        mad.lo.u32 %column, %column, 16, %j;
        shl.b32 %column, %column, 2;
        setp.lt.u32 %p, %row, %rows;
        setp.lt.and.u32 %p, %column, %columns, %p;
        ld.param.u64 %x, [x];
        mul.wide.u32 %pitch, %row, %columns;
        shl.b64 %pitch, %pitch, 2;
        add.u64 %x, %x, %pitch;
        mad.wide.u32 %x, %column, 4, %x;
        mul.wide.u32 %pitch, %columns, 4;
        @for R in 0..4 {
            @for C in 0..4 { mov.f32 %v{4 * R + C}, 0f00000000; }
            @%p ld.global.nc.L1::no_allocate.v4.f32 {%v{4 * R}..=%v{4 * R + 3}}, [%x];
            add.u64 %x, %x, %pitch;
        }
        // column 4 j + c of the tile is a row of 16 pieces; piece i is at i XOR j
        xor.b32 %place, %i, %j;
        mad.lo.u32 %to, %j, 1024, %at;
        mad.lo.u32 %to, %place, 16, %to;
        @for C in 0..4 {
            st.shared.v4.f32 [%to + 256 * C], {%v{C}, %v{C + 4}, %v{C + 8}, %v{C + 12}};
        }
        bar.sync 0;

        // rows 4 i and three more, columns 4 j and three more of the transposed tile
        mov.u32 %column, %ctaid.x;
        mov.u32 %row, %ctaid.y;
        mad.lo.u32 %row, %row, 16, %j;
        shl.b32 %row, %row, 2;
        mad.lo.u32 %column, %column, 16, %i;
        shl.b32 %column, %column, 2;
        setp.lt.u32 %q, %row, %rows;
        setp.lt.and.u32 %q, %column, %columns, %q;
        @!%q bra done;
        mad.lo.u32 %to, %i, 1024, %at;
        mad.lo.u32 %to, %place, 16, %to;
        @for R in 0..4 { ld.shared.v4.f32 {%v{4 * R}..=%v{4 * R + 3}}, [%to + 256 * R]; }
        ld.param.u64 %y, [y];
        mul.wide.u32 %pitch, %column, %rows;
        shl.b64 %pitch, %pitch, 2;
        add.u64 %y, %y, %pitch;
        mad.wide.u32 %y, %row, 4, %y;
        mul.wide.u32 %pitch, %rows, 4;
        @for R in 0..4 {
            st.global.cs.v4.f32 [%y], {%v{4 * R}..=%v{4 * R + 3}};
            add.u64 %y, %y, %pitch;
        }
    done:
        ret;
    }

    /// Any rows and columns: a tile of 32 x 32 elements, whose rows are 33 elements apart in shared memory.
    .visible .entry transpose_elements(
        .param .u64 .ptr .global .align 4 x: &[f32],
        .param .u64 .ptr .global .align 4 y: &mut [f32],
        .param .u32 rows,
        .param .u32 columns)
    .reqntid 32, 8
    {
        .shared .align 4 .f32 tile[33 * 32];
        .reg .pred %p;
        .reg .b32 %i, %j, %row, %column, %rows, %columns, %at, %from, %to, %k;
        .reg .b64 %x, %y, %o;
        .reg .f32 %v;

        mov.u32 %i, %tid.y;
        mov.u32 %j, %tid.x;
        ld.param.u32 %rows, [rows];
        ld.param.u32 %columns, [columns];
        ld.param.u64 %x, [x];
        ld.param.u64 %y, [y];
        mov.u32 %at, tile;
        mad.lo.u32 %to, %i, 132, %at;
        mad.lo.u32 %to, %j, 4, %to;
        mad.lo.u32 %from, %j, 132, %at;
        mad.lo.u32 %from, %i, 4, %from;

        mov.u32 %column, %ctaid.x;
        mad.lo.u32 %column, %column, 32, %j;
        mov.u32 %row, %ctaid.y;
        mad.lo.u32 %row, %row, 32, %i;
        @for R in 0..4 {
            add.u32 %k, %row, 8 * R;
            setp.lt.u32 %p, %k, %rows;
            setp.lt.and.u32 %p, %column, %columns, %p;
            mul.wide.u32 %o, %k, %columns;
            shl.b64 %o, %o, 2;
            add.u64 %o, %o, %x;
            mad.wide.u32 %o, %column, 4, %o;
            mov.f32 %v, 0f00000000;
            @%p ld.global.nc.f32 %v, [%o];
            st.shared.f32 [%to + 132 * 8 * R], %v;
        }
        bar.sync 0;
        mov.u32 %row, %ctaid.y;
        mad.lo.u32 %row, %row, 32, %j;
        mov.u32 %column, %ctaid.x;
        mad.lo.u32 %column, %column, 32, %i;
        @for R in 0..4 {
            ld.shared.f32 %v, [%from + 4 * 8 * R];
            add.u32 %k, %column, 8 * R;
            setp.lt.u32 %p, %k, %columns;
            setp.lt.and.u32 %p, %row, %rows, %p;
            mul.wide.u32 %o, %k, %rows;
            shl.b64 %o, %o, 2;
            add.u64 %o, %o, %y;
            mad.wide.u32 %o, %row, 4, %o;
            @%p st.global.f32 [%o], %v;
        }
        ret;
    }
}

/// Transposes a matrix: `y[j, i] = x[i, j]`. `x` is rows after rows, and so is `y`; a part of a buffer begins at a multiple of 16 bytes.
///
/// # Errors
/// A length does not fit the shape, there are more than 2^21 rows (2^22 if rows and columns are multiples of 4), or the launch fails.
pub fn transpose(device: &impl Device, x: &[f32], y: &mut [f32], [rows, columns]: [usize; 2]) -> Result<Report, Error> {
    Error::unless_length("x", x.len(), rows * columns)?;
    Error::unless_length("y", y.len(), rows * columns)?;
    let (height, width) = (Error::unless_u32("rows", rows)?, Error::unless_u32("columns", columns)?);
    if x.is_empty() {
        return Ok(Report::default());
    }
    let arguments = (x, y, height, width);
    Ok(if rows % 4 == 0 && columns % 4 == 0 {
        let grid = (width.div_ceil(64), height.div_ceil(64));
        transpose_pieces.launch(device, Launch::grid(grid), arguments)
    } else {
        let grid = (width.div_ceil(32), height.div_ceil(32));
        transpose_elements.launch(device, Launch::grid(grid), arguments)
    }?)
}
