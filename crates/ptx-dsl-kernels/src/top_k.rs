//! The greatest elements of each row of an f32 matrix, with their columns, in descending order.
//!
//! A CTA has a row. An element is compared as a number of 64 bits: the bits of the float in the order of its values, then the inverted column,
//! so that no two are equal and the first of equal floats wins. A radix select finds the smallest of the greatest: it counts the next eight
//! bits of those elements that share the bits so far, until a digit has just as many as are still missing. Some three passes over shared
//! memory do that, where a sort would need eight over global memory.

use crate::Error;
use ptx_dsl::launch::Device;
use ptx_dsl::prelude::*;

ptx! {
    <sm_80, ptx 7.4>

    const THREADS: u32 = 512;
    /// More elements of a row are not asked for.
    const MOST: u32 = 1024;

    /// The bits of the floats of a row.
    .extern .shared .align 16 .b32 row[];

    /// The bits of a float as an unsigned number with the order of the values. A NaN of either sign is the greatest.
    .inline ordered(.reg .b32 %x, .reg .f32 %v) {
        .reg .pred %nan;
        .reg .b32 %sign;
        mov.b32 %x, %v;
        shr.s32 %sign, %x, 31;
        or.b32 %sign, %sign, 0x80000000;
        xor.b32 %x, %x, %sign;
        setp.nan.f32 %nan, %v, %v;
        @%nan mov.b32 %x, 0xffffffff;
    }

    /// The number that an element is compared by.
    .inline number(.reg .b64 %number, .b32 column) {
        .reg .b32 %bits, %rest;
        ld.shared.b32 %bits, [row + 4 * column];
        not.b32 %rest, column;
        mov.b64 %number, {%rest, %bits};
    }

    /// The `k` greatest of each row, 1 to 1,024 and no more than `columns`. A thread loads `WIDTH` elements at a time: 4 if `columns` is a
    /// multiple of 4, else 1.
    .visible .entry top_k_rows<const WIDTH: u32 in [4, 1]>(
        .param .u64 .ptr .global .align 16 x: &[f32],
        .param .u64 .ptr .global .align 4 values: &mut [f32],
        .param .u64 .ptr .global .align 4 indices: &mut [u32],
        .param .u32 columns,
        .param .u32 k)
    .reqntid THREADS
    {
        .shared .align 16 .b64 found[MOST];
        .shared .align 16 .b32 counts[256];
        .shared .align 8 .b32 digit, above, within, used;
        .reg .b32 %bits, %c, %n<8>, %sum, %more, %last;
        .reg .b64 %number, %other, %digit, %mask, %wanted;
        .reg .f32 %v<WIDTH>;

        let %t = %tid.x;
        let %from = x + %ctaid.x as u64 * columns as u64 * 4;
        let %i = %t * WIDTH;
        while %i < columns {
            @if WIDTH == 4 {
                ld.global.nc.L1::no_allocate.v4.f32 {%v0..=%v3}, [%from + 4 * %i];
                @for I in 0..4 { ordered!(%n{I}, %v{I}); }
                st.shared.v4.b32 [row + 4 * %i], {%n0..=%n3};
            } else {
                ld.global.nc.L1::no_allocate.f32 %v0, [%from + 4 * %i];
                ordered!(%n0, %v0);
                st.shared.b32 [row + 4 * %i], %n0;
            }
            %i = %i + THREADS * WIDTH;
        }

        // the bits that are known, how many elements are missing, and where the next digit is
        mov.b64 %mask, 0;
        mov.b64 %wanted, 0;
        let %missing = k;
        let %shift = 56;
        loop {
            if %t < 256 { st.shared.b32 [counts + 4 * %t], 0; }
            bar.sync 0;
            %i = %t;
            while %i < columns {
                number!(%number, %i);
                %other = %number & %mask;
                if %other == %wanted {
                    shr.u64 %digit, %number, %shift;
                    cvt.u32.u64 %c, %digit;
                    red.shared.add.u32 [counts + 4 * (%c & 255)], 1;
                }
                %i = %i + THREADS;
            }
            bar.sync 0;
            if %t < 32 {
                // a lane has eight digits, the greatest first; those of the lanes before are greater
                mov.b32 %sum, 0;
                @for D in 0..8 {
                    ld.shared.b32 %n{D}, [counts + (255 - D) * 4 - 32 * %t];
                    %sum = %sum + %n{D};
                }
                %last = %sum;
                @for STEP in [1, 2, 4, 8, 16] {
                    shfl.sync.up.b32 %more, %sum, STEP, 0, 0xffffffff;
                    if %t >= STEP { %sum = %sum + %more; }
                }
                // how many are greater than those of this lane
                %last = %sum - %last;
                if %last < %missing && %sum >= %missing {
                    @for D in 0..8 {
                        if %last < %missing && %last + %n{D} >= %missing {
                            let %d = 255 - D - 8 * %t;
                            st.shared.b32 [digit], %d;
                            st.shared.b32 [above], %last;
                            st.shared.b32 [within], %n{D};
                        }
                        %last = %last + %n{D};
                    }
                }
            }
            bar.sync 0;
            ld.shared.b32 %c, [digit];
            cvt.u64.u32 %digit, %c;
            shl.b64 %digit, %digit, %shift;
            %wanted = %wanted | %digit;
            mov.b64 %digit, 255;
            shl.b64 %digit, %digit, %shift;
            %mask = %mask | %digit;
            ld.shared.b32 %c, [above];
            %missing = %missing - %c;
            ld.shared.b32 %c, [within];
            %shift = %shift - 8;
            if %c == %missing { break; }
        }

        // those that are found, in any order, and zeros up to a power of two
        if %t == 0 { st.shared.b32 [used], 0; }
        let %size = 2;
        while %size < k { %size = %size * 2; }
        %i = %t;
        while %i < %size {
            mov.b64 %number, 0;
            st.shared.b64 [found + 8 * %i], %number;
            %i = %i + THREADS;
        }
        bar.sync 0;
        %i = %t;
        while %i < columns {
            number!(%number, %i);
            %other = %number & %mask;
            if %other >= %wanted {
                atom.shared.add.u32 %c, [used], 1;
                st.shared.b64 [found + 8 * %c], %number;
            }
            %i = %i + THREADS;
        }

        // a bitonic sort, the greatest first
        let %run = 2;
        while %run <= %size {
            let %step = %run >> 1;
            while %step > 0 {
                bar.sync 0;
                %i = %t;
                while %i < %size >> 1 {
                    // a pair of elements that are `step` apart
                    let %low = %i & (%step - 1);
                    let %at = ((%i - %low) << 1) + %low;
                    ld.shared.b64 %number, [found + 8 * %at];
                    ld.shared.b64 %other, [found + 8 * (%at + %step)];
                    let %descends = (%at & %run) == 0;
                    if (%descends && %number < %other) || (!%descends && %number > %other) {
                        st.shared.b64 [found + 8 * %at], %other;
                        st.shared.b64 [found + 8 * (%at + %step)], %number;
                    }
                    %i = %i + THREADS;
                }
                %step = %step >> 1;
            }
            %run = %run << 1;
        }
        bar.sync 0;
        let %start = %ctaid.x as u64 * k as u64 * 4;
        %i = %t;
        while %i < k {
            ld.shared.b64 %number, [found + 8 * %i];
            mov.b64 {%c, %bits}, %number;
            %c = ~%c;
            st.global.b32 [indices + %start + 4 * %i], %c;
            ld.global.nc.f32 %v0, [%from + 4 * %c];
            st.global.f32 [values + %start + 4 * %i], %v0;
            %i = %i + THREADS;
        }
        ret;
    }
}

/// Columns that a row can have: its elements are in shared memory.
pub const MOST_COLUMNS: usize = 54 * 1024;

/// The `k` greatest elements of each row in descending order, and their columns. The first of equal elements comes first, and a NaN is greater
/// than every number. `x` is rows after rows, and so are `values` and `indices`, with `k` elements each; a part of a buffer begins at a multiple
/// of 16 bytes.
///
/// # Errors
/// A length does not fit the shape, there are more than [`MOST_COLUMNS`], `k` is not from 1 to 1,024 or greater than the number of columns, or
/// the launch fails.
pub fn top_k(
    device: &impl Device,
    x: &[f32],
    values: &mut [f32],
    indices: &mut [u32],
    [rows, columns]: [usize; 2],
    k: usize,
) -> Result<Report, Error> {
    Error::unless_length("x", x.len(), rows * columns)?;
    Error::unless_length("values", values.len(), rows * k)?;
    Error::unless_length("indices", indices.len(), rows * k)?;
    if columns > MOST_COLUMNS {
        return Err(Error::Dimension { name: "columns", has: columns, wants: "up to 55,296" });
    }
    if k == 0 || k > columns.min(1024) {
        return Err(Error::Dimension {
            name: "k",
            has: k,
            wants: "from 1 to 1,024, and no more than there are columns",
        });
    }
    if rows == 0 {
        return Ok(Report::default());
    }
    let launch = Launch::grid(Error::unless_u32("rows", rows)?).dynamic_shared((4 * columns) as u32);
    let arguments = (x, values, indices, columns as u32, k as u32);
    Ok(match columns % 4 {
        0 => top_k_rows::<4>.launch(device, launch, arguments),
        _ => top_k_rows::<1>.launch(device, launch, arguments),
    }?)
}
