//! Stretches: the bytes that loads at constant offsets from one base address read, with one bounds check for all of them.

use crate::engines::warp_access::{addresses, general_load, low};
use crate::machine::Ctx;
use crate::memory::prefetch::{DISTANCE, prefetch};
use crate::memory::scattered::Scattered;
use crate::numerics::lanes::CALLS;
use crate::numerics::lanes::Lanes;
use crate::numerics::lanes::Word;
use crate::numerics::lanes::lanes;
use crate::numerics::qual::Q;
use crate::semantics::Done;
use crate::semantics::space;

/// The slow path of a stretch: performs each load by itself. `addr` is where the stretch starts, consecutive in each row or the
/// `same` for all its lanes; `all` has the offset and the statement of each load. Fills the loaded bytes of `stretch`.
#[cold]
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "the macro writes the calls")]
pub fn slow_stretch<T: Scattered, const NB: usize, const LEN: usize>(
    x: &mut Ctx<'_>,
    q: Q,
    m: u32,
    addr: &Lanes,
    bits: u32,
    same: bool,
    all: &[(usize, u32)],
    stretch: &mut [[u8; LEN]; NB],
) -> Done {
    let p = 32 / NB;
    for &(at, site) in all {
        let addr = addr.map(|a| a.wrapping_add(at as u64) & low(bits));
        let mut v = [T::default(); 32];
        // one lane of each row is enough, except for a monitor
        let row = |j: usize| m & (u32::MAX >> (32 - p)) << (j * p);
        let first = (0..NB).fold(0, |f, j| f | row(j) & row(j).wrapping_neg());
        let wanted = if same { first } else { m };
        if !x.loads().load_lanes_concurrent(space(q), wanted, &addr, &mut [&mut v]) {
            x.site = site;
            general_load(x, q, m, &addr, [&mut v])?;
        }
        lanes(wanted, |l| {
            let at = if same { at } else { at + l % p * T::BYTES };
            if let Some(s) = stretch[l / p].get_mut(at..at + T::BYTES) {
                v[l].store(s);
            }
        });
    }
    Ok(())
}

/// The slow path of a stretch at affine addresses: each row starts at its `base` and grows by `stride` from lane to lane.
#[cold]
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "the macro writes the calls")]
pub fn slow_rows<T: Scattered, const NB: usize, const LEN: usize>(
    x: &mut Ctx<'_>,
    q: Q,
    m: u32,
    base: [u64; NB],
    (stride, bits): (i64, u32),
    same: bool,
    all: &[(usize, u32)],
    stretch: &mut [[u8; LEN]; NB],
) -> Done {
    // copies the gaps between the loads too: worth it if they are small
    let wanted = all.len() * if same { 1 } else { 32 / NB } * T::BYTES;
    if 2 * wanted >= LEN && x.loads().stretch_concurrent::<T, NB, LEN>(space(q), base, stretch) {
        return Ok(());
    }
    slow_stretch::<T, NB, LEN>(x, q, m, &addresses(base, stride, bits), bits, same, all, stretch)
}

/// The rows as slices: instances for every length would be too many.
#[inline(always)]
fn slices<const NB: usize, const LEN: usize>(stretch: [&[u8; LEN]; NB]) -> [&[u8]; NB] {
    let mut slices: [&[u8]; NB] = [&[]; NB];
    for (slice, bytes) in slices.iter_mut().zip(&stretch) {
        *slice = &bytes[..];
    }
    slices
}

/// The element at this offset in each row of a stretch.
#[inline(always)]
pub fn heads<T: Word, const NB: usize, const LEN: usize>(stretch: [&[u8; LEN]; NB], at: usize) -> [T; NB] {
    if CALLS { called_heads(slices(stretch), at) } else { heads_of(stretch, at) }
}

#[inline(never)]
pub(super) fn called_heads<T: Word, const NB: usize>(stretch: [&[u8]; NB], at: usize) -> [T; NB] {
    heads_of(stretch, at)
}

#[inline(always)]
fn heads_of<T: Word, const NB: usize>(stretch: [impl AsRef<[u8]>; NB], at: usize) -> [T; NB] {
    stretch.map(|w| w.as_ref().get(at..at + T::BYTES).map_or(T::default(), T::load))
}

/// The elements from this offset on in each row of a stretch. The length is a constant here: without it kernel loops take 50%
/// longer.
#[inline(always)]
pub fn rows<T: Word, const NB: usize, const LEN: usize>(stretch: [&[u8; LEN]; NB], at: usize) -> [T; 32] {
    if CALLS { called_rows(slices(stretch), at) } else { rows_of(stretch, at) }
}

#[inline(never)]
pub(super) fn called_rows<T: Word, const NB: usize>(stretch: [&[u8]; NB], at: usize) -> [T; 32] {
    rows_of(stretch, at)
}

#[inline(always)]
fn rows_of<T: Word, const NB: usize>(stretch: [impl AsRef<[u8]>; NB], at: usize) -> [T; 32] {
    let mut out = [T::default(); 32];
    for (out, w) in out.chunks_exact_mut(32 / NB).zip(stretch) {
        if let Some(s) = w.as_ref().get(at..at + 32 / NB * T::BYTES) {
            T::load_row(s, out);
        }
    }
    out
}

/// Prefetches the rows after a stretch of global memory, after loads from this offset on.
#[inline(always)]
pub fn prefetch_rows<const NB: usize, const LEN: usize>(stretch: [&[u8; LEN]; NB], at: usize, bytes: usize) {
    let distance = LEN.next_power_of_two().max(DISTANCE);
    stretch.iter().for_each(|s| prefetch(s.as_ptr().wrapping_add(at), bytes, distance));
}
