//! Prefix sums of u32 and f32 in a single pass, with look-back (Merrill and Garland, 2016).
//!
//! A CTA takes the next tile of 16,384 elements, adds it up, and publishes the sum of the tile. Its first warp then looks back: at the sums of
//! 32 tiles at a time, until one of them is known from the beginning of the input. Sum and state of a tile are one word of 64 bits, so that
//! relaxed accesses suffice. Each element is read once and written once.

use crate::Error;
use ptx_dsl::launch::Device;
use ptx_dsl::prelude::*;

ptx! {
    <sm_80, ptx 7.4>

    const THREADS: u32 = 512;
    /// Pieces of four elements that a thread has.
    const PIECES: u32 = 8;
    const TILE: u32 = THREADS * PIECES * 4;

    /// `%a` and `b`: f32 if `FLOAT` is 1, else u32.
    .inline plus(.reg .b32 %a, .reg .b32 %b, const FLOAT: u32) {
        @if FLOAT == 1 { add.f32 %a, %a, %b; } else { add.u32 %a, %a, %b; }
    }

    /// Inclusive prefix sums over the lanes of a warp.
    .inline scan_lanes(.reg .b32 %a, const FLOAT: u32) {
        .reg .pred %p;
        .reg .b32 %b;
        @for STEP in [1, 2, 4, 8, 16] {
            shfl.sync.up.b32 %b|%p, %a, STEP, 0, 0xffffffff;
            @!%p mov.b32 %b, 0;
            plus!(%a, %b, FLOAT);
        }
    }

    /// The sum of a warp's lanes in each of them.
    .inline sum_lanes(.reg .b32 %a, const FLOAT: u32) {
        .reg .b32 %b;
        @for STEP in [16, 8, 4, 2, 1] {
            shfl.sync.bfly.b32 %b, %a, STEP, 31, 0xffffffff;
            plus!(%a, %b, FLOAT);
        }
    }

    /// `y[i]` is the sum of `x[0..=i]`. There is a word in `states` for each tile, all 0: the sum in the lower half, and in the upper half 1
    /// if it is that of the tile, 2 if it is that of all elements up to its end. `next` is 0: the number of the next tile.
    .visible .entry scan<const FLOAT: u32 in [0, 1]>(
        .param .u64 .ptr .global .align 16 x: &[u32],
        .param .u64 .ptr .global .align 16 y: &mut [u32],
        .param .u64 .ptr .global .align 8 states: &mut [u64],
        .param .u64 .ptr .global .align 4 next: &mut [u32],
        .param .u64 n)
    .reqntid THREADS
    {
        .shared .align 4 .b32 taken, before, sums[THREADS / 32];
        .reg .pred %p, %q, %one, %whole;
        .reg .b32 %t, %lane, %warp, %tile, %at, %i, %total, %sum, %known, %state, %value, %votes, %back;
        .reg .b32 %v<4 * PIECES>, %last<PIECES>;
        .reg .b64 %x, %y, %o, %n, %left, %states, %word, %next;

        mov.u32 %t, %tid.x;
        and.b32 %lane, %t, 31;
        shr.u32 %warp, %t, 5;
        setp.eq.u32 %one, %t, 0;
        ld.param.u64 %next, [next];
        @!%one bra numbered;
        // in the order in which CTAs run: a tile waits for tiles that have begun
        atom.relaxed.gpu.global.add.u32 %tile, [%next], 1;
        st.shared.u32 [taken], %tile;
    numbered:
        bar.sync 0;
        ld.shared.u32 %tile, [taken];

        // a warp has 32 * 4 * PIECES elements in a row; piece p of a lane is 4 * (32 * p + lane) elements after the first
        ld.param.u64 %x, [x];
        ld.param.u64 %y, [y];
        ld.param.u64 %n, [n];
        mul.wide.u32 %left, %tile, TILE;
        mad.lo.u32 %i, %warp, 128 * PIECES, 0;
        mad.lo.u32 %i, %lane, 4, %i;
        cvt.u64.u32 %o, %i;
        add.u64 %o, %o, %left;
        sub.u64 %left, %n, %left;
        setp.ge.u64 %whole, %left, TILE;
        shl.b64 %word, %o, 2;
        add.u64 %x, %x, %word;
        add.u64 %y, %y, %word;
        @!%whole bra some;
        @for P in 0..PIECES {
            ld.global.nc.L1::no_allocate.v4.b32 {%v{4 * P}..=%v{4 * P + 3}}, [%x + 512 * P];
        }
        bra loaded;
    some:
        @for P in 0..PIECES {
            @for J in 0..4 {
                add.u64 %word, %o, 128 * P + J;
                setp.lt.u64 %p, %word, %n;
                mov.b32 %v{4 * P + J}, 0;
                @%p ld.global.nc.b32 %v{4 * P + J}, [%x + 512 * P + 4 * J];
            }
        }
    loaded:
        // within pieces, over the lanes for each piece, over the pieces
        mov.b32 %total, 0;
        @for P in 0..PIECES {
            @for J in 1..4 { plus!(%v{4 * P + J}, %v{4 * P + J - 1}, FLOAT); }
            mov.b32 %last{P}, %v{4 * P + 3};
            scan_lanes!(%last{P}, FLOAT);
            shfl.sync.up.b32 %i|%p, %last{P}, 1, 0, 0xffffffff;
            @!%p mov.b32 %i, 0;
            plus!(%i, %total, FLOAT);
            @for J in 0..4 { plus!(%v{4 * P + J}, %i, FLOAT); }
            shfl.sync.idx.b32 %i, %last{P}, 31, 31, 0xffffffff;
            plus!(%total, %i, FLOAT);
        }
        mov.u32 %at, sums;
        mad.lo.u32 %at, %warp, 4, %at;
        setp.eq.u32 %p, %lane, 0;
        @%p st.shared.b32 [%at], %total;
        bar.sync 0;
        setp.ne.u32 %p, %warp, 0;
        @%p bra waits;

        // the first warp: the sums of the warps before each, then those of the tiles before this one
        mov.u32 %at, sums;
        mad.lo.u32 %at, %lane, 4, %at;
        setp.lt.u32 %p, %lane, THREADS / 32;
        mov.b32 %sum, 0;
        @%p ld.shared.b32 %sum, [%at];
        mov.b32 %total, %sum;
        sum_lanes!(%total, FLOAT);
        scan_lanes!(%sum, FLOAT);
        shfl.sync.up.b32 %i|%q, %sum, 1, 0, 0xffffffff;
        @!%q mov.b32 %i, 0;
        @%p st.shared.b32 [%at], %i;
        mov.b32 %known, 0;
        ld.param.u64 %states, [states];
        mad.wide.u32 %states, %tile, 8, %states;
        setp.eq.u32 %p, %tile, 0;
        @%p bra found;
        mov.b64 %word, {%total, 1};
        @%one st.relaxed.gpu.global.u64 [%states], %word;
        add.u32 %back, %lane, 1;
    look:
        // lane l looks at the tile l + 1 before; before the first tile there is the known sum 0
        mov.b32 %value, 0;
        mov.b32 %state, 2;
        setp.gt.u32 %p, %back, %tile;
        mul.wide.u32 %o, %back, 8;
        sub.u64 %o, %states, %o;
    poll:
        @!%p ld.relaxed.gpu.global.u64 %word, [%o];
        @!%p mov.b64 {%value, %state}, %word;
        setp.ne.u32 %q, %state, 0;
        vote.sync.all.pred %q, %q, 0xffffffff;
        @!%q bra poll;
        setp.eq.u32 %q, %state, 2;
        vote.sync.ballot.b32 %votes, %q, 0xffffffff;
        setp.ne.u32 %p, %votes, 0;
        @%p bra partly;
        sum_lanes!(%value, FLOAT);
        plus!(%known, %value, FLOAT);
        add.u32 %back, %back, 32;
        bra look;
    partly:
        // lanes after the first one that knows the sum from the beginning do not count
        brev.b32 %votes, %votes;
        clz.b32 %votes, %votes;
        setp.gt.u32 %p, %lane, %votes;
        @%p mov.b32 %value, 0;
        sum_lanes!(%value, FLOAT);
        plus!(%known, %value, FLOAT);
    found:
        plus!(%total, %known, FLOAT);
        mov.b64 %word, {%total, 2};
        @%one st.relaxed.gpu.global.u64 [%states], %word;
        @%one st.shared.b32 [before], %known;
    waits:
        bar.sync 0;
        ld.shared.b32 %known, [before];
        mov.u32 %at, sums;
        mad.lo.u32 %at, %warp, 4, %at;
        ld.shared.b32 %sum, [%at];
        plus!(%known, %sum, FLOAT);
        @for I in 0..4 * PIECES { plus!(%v{I}, %known, FLOAT); }
        @!%whole bra few;
        @for P in 0..PIECES {
            st.global.v4.b32 [%y + 512 * P], {%v{4 * P}..=%v{4 * P + 3}};
        }
        bra done;
    few:
        mul.wide.u32 %o, %tile, TILE;
        mad.lo.u32 %i, %warp, 128 * PIECES, 0;
        mad.lo.u32 %i, %lane, 4, %i;
        cvt.u64.u32 %word, %i;
        add.u64 %o, %o, %word;
        @for P in 0..PIECES {
            @for J in 0..4 {
                add.u64 %word, %o, 128 * P + J;
                setp.lt.u64 %p, %word, %n;
                @%p st.global.b32 [%y + 512 * P + 4 * J], %v{4 * P + J};
            }
        }
    done:
        ret;
    }
}

/// Elements of a tile.
const TILE: usize = 16384;

fn run<const FLOAT: u32>(device: &impl Device, x: &[u32], y: &mut [u32]) -> Result<Report, Error> {
    Error::unless_length("y", y.len(), x.len())?;
    if x.is_empty() {
        return Ok(Report::default());
    }
    let tiles = x.len().div_ceil(TILE);
    let (mut states, mut next) = (vec![0u64; tiles], [0u32]);
    let grid = Launch::grid(Error::unless_u32("tiles", tiles)?);
    let arguments = (x, y, &mut states[..], &mut next[..], x.len() as u64);
    Ok(if FLOAT == 0 { scan::<0>.launch(device, grid, arguments) } else { scan::<1>.launch(device, grid, arguments) }?)
}

/// Prefix sums modulo 2^32: `y[i]` is the sum of `x[0..=i]`. A part of a buffer begins at a multiple of 16 bytes.
///
/// # Errors
/// The slices have different lengths, or the launch fails.
pub fn scan_u32(device: &impl Device, x: &[u32], y: &mut [u32]) -> Result<Report, Error> {
    run::<0>(device, x, y)
}

/// Prefix sums of f32: `y[i]` is the sum of `x[0..=i]`. How the sums of tiles are grouped depends on the order in which CTAs run, so the
/// last bits can differ from run to run. A part of a buffer begins at a multiple of 16 bytes.
///
/// # Errors
/// The slices have different lengths, or the launch fails.
pub fn scan_f32(device: &impl Device, x: &[f32], y: &mut [f32]) -> Result<Report, Error> {
    run::<1>(device, bytemuck::cast_slice(x), bytemuck::cast_slice_mut(y))
}
