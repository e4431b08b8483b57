//! Loops over the active lanes of a warp, and values of 32 lanes.

mod blend;
mod instances;
mod stretches;
#[cfg(target_arch = "x86_64")]
mod vectors;
mod wide;

pub(crate) use blend::LANE;
pub use blend::{Register, put};
pub use instances::instances;
pub(crate) use stretches::CALLS;
pub use stretches::{ahead, heads, rows, slow_rows, slow_stretch};
use stretches::{called_heads, called_rows};
#[cfg(target_arch = "x86_64")]
pub(crate) use vectors::Avx2;
#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
pub(crate) use vectors::Avx512;

pub use wide::*;

use crate::isa::arith::float;
use crate::mem::address::AddrSpace;
use crate::mem::scattered::Scattered;
use crate::{Ctx, Fault, Lanes, Monitor, Q};

/// Runs `f` for every lane of `mask`. The full mask has a loop of its own, without tests, that LLVM can turn into vectors.
#[inline(always)]
pub fn lanes(mask: u32, mut f: impl FnMut(usize)) {
    if mask == u32::MAX {
        for l in 0..32 {
            f(l);
        }
    } else {
        some(mask, f);
    }
}

#[inline(always)]
fn some(mut mask: u32, mut f: impl FnMut(usize)) {
    while mask != 0 {
        f(mask.trailing_zeros() as usize);
        mask &= mask - 1;
    }
}

/// The instruction set that a kernel's step is compiled for. Lane loops need nothing from it, the width of their vectors
/// follows from the function they are inlined into; the results are the same bits on every level.
pub trait Level: Copy + 'static {
    /// `f32::mul_add` is an instruction.
    const FMA: bool;
    /// The mask of lanes whose byte is one; all others are zero.
    #[inline(always)]
    fn mask(lanes: &[u8; 32]) -> u32 {
        blend::mask(lanes)
    }
    /// Sets the lanes of `m`.
    #[inline(always)]
    fn put_u32(to: &mut [u32; 32], v: &[u32; 32], m: u32) {
        u32::blend(to, v, m);
    }
    /// Sets the lanes of `m`.
    #[inline(always)]
    fn put_u64(to: &mut [u64; 32], v: &[u64; 32], m: u32) {
        u64::blend(to, v, m);
    }
    /// The elements of a row at these places, of which the lowest five bits count.
    #[inline(always)]
    fn pick(row: &[u32; 32], at: &[u32; 32]) -> [u32; 32] {
        at.map(|at| row[at as usize & 31])
    }
    /// 32, the lanes of a warp: where vectors are wide loops over them are laid out flat, elsewhere they stay loops, of this
    /// many rows of eight. In development they stay loops, too: rustc makes no vectors there, and each instruction would be 32.
    #[inline(always)]
    fn lanes(rows: u8) -> usize {
        if Self::FMA && !cfg!(debug_assertions) { 32 } else { (rows as usize).min(4) * 8 }
    }
}

/// What the target has without being asked: SSE2 on x86-64.
#[derive(Debug, Clone, Copy)]
pub struct Base;

impl Level for Base {
    const FMA: bool = false;
}

/// An element of memory: an unsigned integer.
pub trait Word: bytemuck::Pod + Default + Scattered {
    /// Its size.
    const BYTES: usize = size_of::<Self>();
    /// From its bytes, little endian; there are as many as it has.
    fn load(s: &[u8]) -> Self;
    /// To its bytes.
    fn store(self, s: &mut [u8]);
    /// Wrapping sum.
    fn plus(self, other: Self) -> Self;
    /// A row of elements.
    #[inline(always)]
    fn load_row(s: &[u8], to: &mut [Self]) {
        if cfg!(target_endian = "little") {
            bytemuck::cast_slice_mut(to).copy_from_slice(s);
        } else {
            to.iter_mut().zip(s.chunks_exact(Self::BYTES)).for_each(|(t, s)| *t = Self::load(s));
        }
    }
    /// The same to memory.
    #[inline(always)]
    fn store_row(v: &[Self], s: &mut [u8]) {
        if cfg!(target_endian = "little") {
            s.copy_from_slice(bytemuck::cast_slice(v));
        } else {
            v.iter().zip(s.chunks_exact_mut(Self::BYTES)).for_each(|(v, s)| v.store(s));
        }
    }
    /// Low bits of a register's value.
    fn narrow(v: u64) -> Self;
    /// Zero-extended.
    fn widen(self) -> u64;
}

macro_rules! words {
    ($($t:ident)*) => {$(
        impl Word for $t {
            #[inline(always)]
            fn load(s: &[u8]) -> Self {
                s.try_into().map_or(0, $t::from_le_bytes)
            }
            #[inline(always)]
            fn store(self, s: &mut [u8]) {
                s.copy_from_slice(&self.to_le_bytes());
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn narrow(v: u64) -> Self {
                v as $t
            }
            #[inline(always)]
            fn widen(self) -> u64 {
                self as u64
            }
        }
    )*};
}
words!(u8 u16 u32 u64);

/// One value for each row, as lanes.
#[cfg_attr(debug_assertions, inline(never))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn expand<T: Copy + Default, const NB: usize>(v: [T; NB]) -> [T; 32] {
    let mut out = [T::default(); 32];
    for (out, v) in out.chunks_exact_mut(32 / NB).zip(v) {
        out.fill(v);
    }
    out
}

/// Does 32-bit `base + stride * l` stay inside its type for the `p` lanes of each row?
#[inline(always)]
pub fn fits<const NB: usize>(base: [u32; NB], stride: i64, signed: bool) -> bool {
    let last = stride * (32 / NB as i64 - 1);
    base.iter().all(|&b| {
        let end = last + if signed { b as i32 as i64 } else { b as i64 };
        if signed { i32::try_from(end).is_ok() } else { u32::try_from(end).is_ok() }
    })
}

/// The lanes with `base + l < limit`.
#[inline(always)]
pub fn below(base: u32, limit: u32) -> u32 {
    if base <= u32::MAX - 31 {
        let n = limit.saturating_sub(base).min(32);
        ((1u64 << n) - 1) as u32
    } else {
        wrapping_below(base, limit)
    }
}

/// The same where numbers begin again at 0.
#[cold]
#[inline(never)]
fn wrapping_below(base: u32, limit: u32) -> u32 {
    (0..32).fold(0, |m, l| m | u32::from(base.wrapping_add(l) < limit) << l)
}

/// The lanes with `base + l <= limit`.
#[inline(always)]
pub fn up_to(base: u32, limit: u32) -> u32 {
    if limit == u32::MAX { u32::MAX } else { below(base, limit + 1) }
}

/// The lane with `base + l == value`.
#[inline(always)]
pub fn just(base: u32, value: u32) -> u32 {
    1u32.checked_shl(value.wrapping_sub(base)).unwrap_or(0)
}

/// `shfl.sync` of a whole warp with operands that all lanes share; gives the lanes whose source was in range.
#[inline(always)]
pub fn shuffle(q: Q, a: &[u32; 32], b: u32, c: u32, d: &mut [u32; 32]) -> u32 {
    let mut p = 0;
    for (l, d) in (0..).zip(d.iter_mut()) {
        let (from, ok) = crate::isa::warp::source(crate::isa::warp::mode(q), l, b, c);
        *d = a[from as usize & 31];
        p |= u32::from(ok) << l;
    }
    p
}

/// The NaN that arithmetic of f32 gives, in place of any other.
#[inline(always)]
pub fn one_nan(r: u32) -> u32 {
    if f32::from_bits(r).is_nan() { float::NAN32 as u32 } else { r }
}

/// `add.rn.f32` but for [`one_nan`], like those that follow.
#[inline(always)]
pub fn fadd(a: u32, b: u32) -> u32 {
    (f32::from_bits(a) + f32::from_bits(b)).to_bits()
}

/// `sub.rn.f32`
#[inline(always)]
pub fn fsub(a: u32, b: u32) -> u32 {
    (f32::from_bits(a) - f32::from_bits(b)).to_bits()
}

/// `mul.rn.f32`
#[inline(always)]
pub fn fmul(a: u32, b: u32) -> u32 {
    (f32::from_bits(a) * f32::from_bits(b)).to_bits()
}

/// `fma.rn.f32`
#[inline(always)]
pub fn ffma<L: Level>(a: u32, b: u32, c: u32) -> u32 {
    let (a, b, c) = (f32::from_bits(a), f32::from_bits(b), f32::from_bits(c));
    // without the instruction `mul_add` is a call of 20 ns
    let r = if L::FMA { a.mul_add(b, c) } else { float::fma32(a, b, c, crate::isa::arith::soft::Round::Near) };
    r.to_bits()
}

type Done = Result<(), Box<Fault>>;

/// `ld` of elements at any addresses: a call, since LLVM takes long for what is taken in wherever a kernel loads.
#[inline(never)]
pub fn load<M: Monitor, T: Word, const D: usize>(
    x: &mut Ctx<'_, M>,
    q: &Q,
    space: AddrSpace,
    site: u32,
    m: u32,
    addr: &Lanes,
    mut out: [&mut [T; 32]; D],
) -> Done {
    if x.gather::<T, D>(space, m, addr, out.each_mut().map(|out| &mut **out)) {
        return Ok(());
    }
    x.site = site;
    slow_load(x, *q, m, addr, out)
}

/// The same at addresses of 32 bits.
#[inline(never)]
pub fn load_near<M: Monitor, T: Word>(
    x: &mut Ctx<'_, M>,
    q: &Q,
    space: AddrSpace,
    site: u32,
    m: u32,
    addr: &[u32; 32],
    out: &mut [T; 32],
) -> Done {
    if x.gather_near::<T>(space, m, addr, out) {
        return Ok(());
    }
    x.site = site;
    slow_load(x, *q, m, &addr.map(u64::from), [out])
}

/// `st` of elements to any addresses.
#[inline(never)]
pub fn store<M: Monitor, T: Word, const D: usize>(
    x: &mut Ctx<'_, M>,
    q: &Q,
    space: AddrSpace,
    site: u32,
    m: u32,
    addr: &Lanes,
    v: [&[T; 32]; D],
) -> Done {
    if x.scatter::<T, D>(space, m, addr, v) {
        return Ok(());
    }
    x.site = site;
    slow_store(x, *q, m, addr, v)
}

/// `ld` in its general form, to elements as they lie in memory.
#[cold]
#[inline(never)]
pub fn slow_load<M: Monitor, T: Word, const D: usize>(
    x: &mut Ctx<'_, M>,
    q: Q,
    m: u32,
    addr: &Lanes,
    out: [&mut [T; 32]; D],
) -> Done {
    let mut out = out;
    if x.load_lanes_in_common(crate::isa::space(q), m, addr, &mut out) {
        Ok(())
    } else {
        general_load(x, q, m, addr, out)
    }
}

/// The same where nobody else writes.
fn general_load<M: Monitor, T: Word, const D: usize>(
    x: &mut Ctx<'_, M>,
    q: Q,
    m: u32,
    addr: &Lanes,
    out: [&mut [T; 32]; D],
) -> Done {
    let all = x.mask;
    x.mask = m;
    let mut d = [[0; 32]; D];
    crate::isa::ld_st::ld(x, q, [addr], d.each_mut())?;
    for (out, d) in out.into_iter().zip(&d) {
        lanes(m, |l| out[l] = T::narrow(d[l]));
    }
    x.mask = all;
    Ok(())
}

/// Addresses of `bits` bits that grow by `stride` from lane to lane of each row.
#[cold]
#[inline(never)]
pub fn addresses<const NB: usize>(rows: [u64; NB], stride: i64, bits: u32) -> Lanes {
    let p = 32 / NB;
    std::array::from_fn(|l| rows[l / p].wrapping_add(((l % p) as u64).wrapping_mul(stride as u64)) & low(bits))
}

/// So many low bits.
fn low(bits: u32) -> u64 {
    u64::MAX >> (64 - bits.clamp(1, 64))
}

/// A copy for a call that is seldom made. The call gets an address, and an array with one is in memory wherever it is used: this one
/// is, what it is copied from stays in registers.
#[inline(always)]
pub fn copied<T: Copy>(v: T) -> T {
    std::hint::black_box(v)
}

/// `st` in its general form.
#[cold]
#[inline(never)]
pub fn slow_store<M: Monitor, T: Word, const D: usize>(
    x: &mut Ctx<'_, M>,
    q: Q,
    m: u32,
    addr: &Lanes,
    v: [&[T; 32]; D],
) -> Done {
    if x.store_lanes_in_common(crate::isa::space(q), m, addr, &v) {
        return Ok(());
    }
    let all = x.mask;
    x.mask = m;
    let v = v.map(|v| v.map(T::widen));
    match D {
        1 => crate::isa::ld_st::st(x, q, [addr, &v[0]], [])?,
        2 => crate::isa::ld_st::st(x, q, [addr, &v[0], &v[1]], [])?,
        _ => crate::isa::ld_st::st(x, q, [addr, &v[0], &v[1], &v[2 % D], &v[3 % D]], [])?,
    }
    x.mask = all;
    Ok(())
}

/// `red` and `atom` in their general form, for the lanes of `m`.
#[cold]
#[inline(never)]
pub fn slow_add<M: Monitor, T: Word>(
    x: &mut Ctx<'_, M>,
    q: Q,
    m: u32,
    addr: &Lanes,
    v: &[T; 32],
    mut old: Option<&mut [T; 32]>,
) -> Done {
    let m = x.add_lanes_in_common(crate::isa::space(q), m, addr, v, |l, was| {
        if let Some(old) = &mut old {
            old[l] = T::narrow(was);
        }
    });
    if m == 0 {
        return Ok(());
    }
    let all = x.mask;
    x.mask = m;
    let mut d = [0; 32];
    crate::isa::atom::atom(x, q, [addr, &v.map(T::widen)], [&mut d])?;
    if let Some(old) = old {
        lanes(m, |l| old[l] = T::narrow(d[l]));
    }
    x.mask = all;
    Ok(())
}

/// Times that a lane goes round a loop alone before others have their turn.
pub const ALONE: u32 = 256;

/// `ld` of one lane in its general form.
#[cold]
#[inline(never)]
pub fn slow_load_one<M: Monitor, T: Word, const D: usize>(
    x: &mut Ctx<'_, M>,
    space: AddrSpace,
    l: usize,
    addr: u64,
) -> Result<[T; D], Box<Fault>> {
    if let Some(v) = x.load_one_in_common(space, addr) {
        return Ok(v);
    }
    let v = x.read(space, addr, (T::BYTES * D) as u32, l as u32)?;
    Ok(std::array::from_fn(|i| T::narrow(v[i * T::BYTES / 8 % 4] >> (i * T::BYTES % 8 * 8))))
}

/// `st` of one lane in its general form.
#[cold]
#[inline(never)]
pub fn slow_store_one<M: Monitor, T: Word, const D: usize>(
    x: &mut Ctx<'_, M>,
    space: AddrSpace,
    l: usize,
    addr: u64,
    v: [T; D],
) -> Done {
    if x.store_one_in_common(space, addr, v) {
        return Ok(());
    }
    let mut words = [0; 4];
    for (i, v) in v.into_iter().enumerate() {
        words[i * T::BYTES / 8 % 4] |= v.widen() << (i * T::BYTES % 8 * 8);
    }
    x.write(space, addr, (T::BYTES * D) as u32, words, l as u32)
}

/// `red` of one lane in its general form.
#[cold]
#[inline(never)]
pub fn slow_add_one<M: Monitor, T: Word>(x: &mut Ctx<'_, M>, q: Q, l: usize, addr: u64, v: T) -> Done {
    slow_add(x, q, 1 << l, &[addr; 32], &[v; 32], None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qual::{Ty, q};

    fn numbers() -> impl Iterator<Item = u32> {
        let mut x = 1u64;
        std::iter::repeat_with(move || {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            (x >> 16) as u32
        })
    }

    #[derive(Clone, Copy)]
    struct Fused;
    impl Level for Fused {
        const FMA: bool = true;
    }

    #[test]
    fn fma_is_the_same_on_all_levels() {
        let mut r = numbers();
        for _ in 0..20_000 {
            let [a, b, c] = [(); 3].map(|()| r.next().unwrap_or(0));
            // also operands of like size, where something is left to round
            for c in [c, (c & 0x807f_ffff) | (a & 0x7f80_0000), (c & 0x803f_ffff) | 0x3f80_0000] {
                for b in [b, (b & 0x807f_ffff) | 0x3f80_0000] {
                    let [base, avx2] = [ffma::<Base>(a, b, c), ffma::<Fused>(a, b, c)].map(one_nan);
                    assert_eq!(base, avx2, "{a:08x} {b:08x} {c:08x}");
                }
            }
        }
    }

    #[test]
    fn comparisons_of_what_counts_the_lanes() {
        let ends = [0, 1, 5, 31, 32, 33, 1000, u32::MAX - 40, u32::MAX - 31, u32::MAX - 30, u32::MAX - 1, u32::MAX];
        for base in ends {
            for limit in ends.into_iter().chain([base.wrapping_add(7), base.wrapping_add(31)]) {
                let by = |f: &dyn Fn(u32) -> bool| (0..32).fold(0, |m, l| m | u32::from(f(base.wrapping_add(l))) << l);
                assert_eq!(below(base, limit), by(&|v| v < limit), "{base} < {limit}");
                assert_eq!(up_to(base, limit), by(&|v| v <= limit), "{base} <= {limit}");
                assert_eq!(just(base, limit), by(&|v| v == limit), "{base} == {limit}");
            }
        }
    }

    #[test]
    fn rows_that_wrap_do_not_fit() {
        assert!(fits([u32::MAX - 31], 1, false) && !fits([u32::MAX - 30], 1, false));
        assert!(fits([0, u32::MAX - 60], 4, false) && !fits([0, u32::MAX - 59], 4, false));
        assert!(fits([31], -1, false) && !fits([30], -1, false));
        assert!(fits([i32::MIN as u32], 1, true) && !fits([i32::MAX as u32], 1, true));
        assert!(fits([30], -1, true));
    }

    #[test]
    fn one_value_a_row() {
        let wide = expand([1u64, 2]);
        assert_eq!((wide[0], wide[15], wide[16], wide[31]), (1, 1, 2, 2));
    }

    #[test]
    fn shuffles_up() {
        let a = std::array::from_fn(|l| 100 + l as u32);
        let mut d = [0; 32];
        let p = shuffle(Q::new(&[q::up], &[Ty::B32]), &a, 4, 0, &mut d);
        assert_eq!((p, d[3], d[4], d[31]), (0xffff_fff0, 103, 100, 127));
    }
}
