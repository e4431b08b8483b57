//! Rows of memory for very large kernels, which call these where others have them inline: a few nanoseconds each time, and a
//! tenth of what rustc takes for a copy.

use super::{Done, addresses, slow_load, slow_store, slow_stretch};
use crate::mem::address::AddrSpace;
use crate::{Ctx, Monitor, Q, Word};

/// Where rows begin, and how they go on from lane to lane.
#[derive(Debug, Clone, Copy)]
pub struct Rows<const NB: usize> {
    /// The first address of each row.
    pub first: [u64; NB],
    /// From lane to lane.
    pub stride: i64,
    /// Of the register.
    pub bits: u32,
}

/// `ld` of a row of consecutive elements.
#[inline(never)]
pub fn load_rows<M: Monitor, T: Word, const NB: usize>(
    x: &mut Ctx<'_, M>,
    q: &Q,
    space: AddrSpace,
    site: u32,
    m: u32,
    rows: Rows<NB>,
    out: &mut [T; 32],
) -> Done {
    if m == 0 || x.load_rows::<T, NB>(space, m, rows.first, out) {
        return Ok(());
    }
    x.site = site;
    slow_load(x, *q, m, &addresses(rows.first, rows.stride, rows.bits), [out])
}

/// What loads of a stretch need of it: their places in it and statements are `all`.
#[inline(never)]
pub fn load_stretch<M: Monitor, T: Word, const NB: usize, const LEN: usize>(
    x: &mut Ctx<'_, M>,
    q: &Q,
    space: AddrSpace,
    m: u32,
    rows: Rows<NB>,
    all: &[(usize, u32)],
    out: &mut [[u8; LEN]; NB],
) -> Done {
    if m == 0 {
        return Ok(());
    }
    if let Some(stretch) = x.stretch::<T, NB, LEN>(space, m, rows.first) {
        out.iter_mut().zip(stretch).for_each(|(out, s)| *out = *s);
        return Ok(());
    }
    let addr = addresses(rows.first, rows.stride, rows.bits);
    *out = slow_stretch::<M, T, NB, LEN>(x, *q, m, &addr, rows.bits, rows.stride == 0, all)?;
    Ok(())
}

/// `st` of rows of consecutive elements.
#[inline(never)]
pub fn store_rows<M: Monitor, T: Word, const NB: usize>(
    x: &mut Ctx<'_, M>,
    q: &Q,
    space: AddrSpace,
    site: u32,
    m: u32,
    rows: Rows<NB>,
    v: &[T; 32],
) -> Done {
    if m == 0 || x.store_rows::<T, NB>(space, m, rows.first, v) {
        return Ok(());
    }
    x.site = site;
    slow_store(x, *q, m, &addresses(rows.first, rows.stride, rows.bits), [v])
}
