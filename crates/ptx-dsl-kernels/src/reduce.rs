//! Sum, maximum and minimum of f32.
//!
//! A CTA reads tiles of 32 KiB, 16 bytes for each load and four loads in flight for each thread, and leaves one partial result. The CTA
//! that finishes last combines the partial results. The order of the sums depends on the length alone, so that results repeat bit by bit.

use crate::Error;
use ptx_dsl::launch::Device;
use ptx_dsl::prelude::*;

ptx! {
    <sm_80, ptx 7.4>
    use crate::parts::lanes;

    const THREADS: u32 = 512;
    /// Loads of 16 bytes of a thread for a tile.
    const LOADS: u32 = 4;

    /// `OP` is 0 for the sum, 1 for the maximum, 2 for the minimum. There is a partial result for each CTA. `ticket` is 0, and is 0 again
    /// at the end.
    .visible .entry reduce<const OP: u32 in 0..=2>(
        .param .u64 .ptr .global .align 16 x: &[f32],
        .param .u64 .ptr .global .align 4 partials: &mut [f32],
        .param .u64 .ptr .global .align 4 ticket: &mut [u32],
        .param .u64 .ptr .global .align 4 result: &mut [f32],
        .param .u64 n)
    .reqntid THREADS
    {
        .shared .align 4 .f32 slots[THREADS / 32], finals[THREADS / 32];
        .shared .align 4 .b32 last;
        .reg .pred %p, %one;
        .reg .b32 %t, %cta, %ctas, %odd, %order, %i;
        .reg .b64 %x, %at, %n, %tile, %tiles, %item, %items, %partials, %ticket, %result;
        .reg .f32 %v<4 * LOADS>, %a<4>;

        mov.u32 %t, %tid.x;
        mov.u32 %cta, %ctaid.x;
        mov.u32 %ctas, %nctaid.x;
        ld.param.u64 %x, [x];
        ld.param.u64 %n, [n];
        shr.u64 %items, %n, 2;
        div.u64 %tiles, %items, LOADS * THREADS;
        cvt.u64.u32 %tile, %cta;
        @for J in 0..4 { lanes::neutral!(%a{J}, OP); }

        setp.ge.u64 %p, %tile, %tiles;
        @%p bra rest;
    whole:
        mad.lo.u64 %at, %tile, 16 * LOADS * THREADS, %x;
        mad.wide.u32 %at, %t, 16, %at;
        @for I in 0..LOADS {
            ld.global.nc.L1::no_allocate.v4.f32 {%v{4 * I}..=%v{4 * I + 3}}, [%at + 16 * THREADS * I];
        }
        @for I in 0..LOADS {
            @for J in 0..4 { lanes::combine!(%a{J}, %v{4 * I + J}, OP); }
        }
        cvt.u64.u32 %item, %ctas;
        add.u64 %tile, %tile, %item;
        setp.lt.u64 %p, %tile, %tiles;
        @%p bra whole;

    rest:
        // CTA 0 has what is less than a tile: pieces of 16 bytes, then up to three elements
        setp.ne.u32 %p, %cta, 0;
        @%p bra combine;
        cvt.u64.u32 %item, %t;
        mad.lo.u64 %item, %tiles, LOADS * THREADS, %item;
        setp.ge.u64 %p, %item, %items;
        @%p bra elements;
    piece:
        shl.b64 %at, %item, 4;
        add.u64 %at, %at, %x;
        ld.global.nc.L1::no_allocate.v4.f32 {%v0..=%v3}, [%at];
        @for J in 0..4 { lanes::combine!(%a{J}, %v{J}, OP); }
        add.u64 %item, %item, THREADS;
        setp.lt.u64 %p, %item, %items;
        @%p bra piece;
    elements:
        cvt.u32.u64 %odd, %n;
        and.b32 %odd, %odd, 3;
        setp.ge.u32 %p, %t, %odd;
        @%p bra combine;
        shl.b64 %at, %items, 4;
        add.u64 %at, %at, %x;
        mad.wide.u32 %at, %t, 4, %at;
        ld.global.nc.f32 %v0, [%at];
        lanes::combine!(%a0, %v0, OP);

    combine:
        lanes::combine!(%a0, %a1, OP);
        lanes::combine!(%a2, %a3, OP);
        lanes::combine!(%a0, %a2, OP);
        lanes::block!(%a0, %t, slots, THREADS / 32, OP);
        ld.param.u64 %partials, [partials];
        setp.ne.u32 %one, %t, 0;
        @%one bra told;
        mad.wide.u32 %at, %cta, 4, %partials;
        st.global.f32 [%at], %a0;
        // the last one to count has seen the partial results of all others
        ld.param.u64 %ticket, [ticket];
        sub.u32 %i, %ctas, 1;
        atom.acq_rel.gpu.global.inc.u32 %order, [%ticket], %i;
        st.shared.u32 [last], %order;
    told:
        bar.sync 0;
        ld.shared.u32 %order, [last];
        sub.u32 %i, %ctas, 1;
        setp.ne.u32 %p, %order, %i;
        @%p bra done;
        lanes::neutral!(%a0, OP);
        mov.u32 %i, %t;
        setp.ge.u32 %p, %i, %ctas;
        @%p bra finish;
    partial:
        mad.wide.u32 %at, %i, 4, %partials;
        ld.global.f32 %v0, [%at];
        lanes::combine!(%a0, %v0, OP);
        add.u32 %i, %i, THREADS;
        setp.lt.u32 %p, %i, %ctas;
        @%p bra partial;
    finish:
        lanes::block!(%a0, %t, finals, THREADS / 32, OP);
        ld.param.u64 %result, [result];
        @!%one st.global.f32 [%result], %a0;
    done:
        ret;
    }
}

/// CTAs of the largest grid: four on each of 132 multiprocessors.
const CTAS: usize = 528;
/// Elements of a tile.
const TILE: usize = 8192;

/// CTAs of a launch for so many elements: at most 528, and no more than there are tiles of 8,192 elements.
pub fn grid(n: usize) -> u32 {
    n.div_ceil(TILE).clamp(1, CTAS) as u32
}

macro_rules! front {
    ($(#[$doc:meta])* $name:ident, $op:literal) => {
        $(#[$doc])*
        ///
        /// `x` has any length; a part of a buffer begins at a multiple of 16 bytes. `result` has one element.
        ///
        /// # Errors
        /// `result` has not one element, or the launch fails.
        pub fn $name(device: &impl Device, x: &[f32], result: &mut [f32]) -> Result<Report, Error> {
            Error::unless_length("result", result.len(), 1)?;
            let grid = grid(x.len());
            let (mut partials, mut ticket) = (vec![0.0f32; grid as usize], [0u32]);
            let arguments = (x, &mut partials[..], &mut ticket[..], result, x.len() as u64);
            Ok(reduce::<$op>.launch(device, Launch::grid(grid), arguments)?)
        }
    };
}
front!(
    /// The sum of all elements; 0 if there are none.
    sum, 0);
front!(
    /// The greatest element; negative infinity if there are none, NaN if one is NaN.
    max, 1);
front!(
    /// The least element; infinity if there are none, NaN if one is NaN.
    min, 2);
