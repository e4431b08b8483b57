//! Loops over the active lanes of a warp, and values of 32 lanes.

use crate::isa::arith::float;
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
}

/// AVX-512 (F, BW, DQ, VL) with FMA and BMI.
#[derive(Debug, Clone, Copy)]
pub struct Avx512;
/// AVX2 with FMA and BMI.
#[derive(Debug, Clone, Copy)]
pub struct Avx2;
/// What the target has without being asked: SSE2 on x86-64.
#[derive(Debug, Clone, Copy)]
pub struct Base;

impl Level for Avx512 {
    const FMA: bool = true;
}
impl Level for Avx2 {
    const FMA: bool = true;
}
impl Level for Base {
    const FMA: bool = false;
}

/// An element of memory: an unsigned integer.
pub trait Word: bytemuck::Pod + Default {
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
                let mut b = [0; size_of::<$t>()];
                b.copy_from_slice(s);
                $t::from_le_bytes(b)
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

/// Sets the lanes of `m`.
#[inline(always)]
pub fn put<T: Copy>(to: &mut [T; 32], v: &[T; 32], m: u32) {
    if m == u32::MAX {
        *to = *v;
    } else {
        for l in 0..32 {
            to[l] = if m >> l & 1 != 0 { v[l] } else { to[l] };
        }
    }
}

/// One value for each row, as lanes.
#[inline(always)]
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

/// The one NaN of f32 arithmetic.
#[inline(always)]
fn finish(r: f32) -> u32 {
    if r.is_nan() { float::NAN32 as u32 } else { r.to_bits() }
}

/// `add.rn.f32`
#[inline(always)]
pub fn fadd(a: u32, b: u32) -> u32 {
    finish(f32::from_bits(a) + f32::from_bits(b))
}

/// `sub.rn.f32`
#[inline(always)]
pub fn fsub(a: u32, b: u32) -> u32 {
    finish(f32::from_bits(a) - f32::from_bits(b))
}

/// `mul.rn.f32`
#[inline(always)]
pub fn fmul(a: u32, b: u32) -> u32 {
    finish(f32::from_bits(a) * f32::from_bits(b))
}

/// `fma.rn.f32`
#[inline(always)]
pub fn ffma<L: Level>(a: u32, b: u32, c: u32) -> u32 {
    let (a, b, c) = (f32::from_bits(a), f32::from_bits(b), f32::from_bits(c));
    // without the instruction `mul_add` is a call of 20 ns
    finish(if L::FMA { a.mul_add(b, c) } else { float::fma32(a, b, c, crate::isa::arith::soft::Round::Near) })
}

type Done = Result<(), Box<Fault>>;

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

/// A load of one element a row, in its general form.
#[cold]
#[inline(never)]
pub fn slow_load_uniform<M: Monitor, T: Word, const NB: usize>(
    x: &mut Ctx<'_, M>,
    q: Q,
    m: u32,
    addr: &Lanes,
    out: &mut [T; NB],
) -> Done {
    let mut d = [T::default(); 32];
    slow_load(x, q, m, addr, [&mut d])?;
    lanes(m, |l| out[l / (32 / NB)] = d[l]);
    Ok(())
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
    v: &Lanes,
    old: Option<&mut [T; 32]>,
) -> Done {
    let all = x.mask;
    x.mask = m;
    let mut d = [0; 32];
    crate::isa::atom::atom(x, q, [addr, v], [&mut d])?;
    if let Some(old) = old {
        lanes(m, |l| old[l] = T::narrow(d[l]));
    }
    x.mask = all;
    Ok(())
}
