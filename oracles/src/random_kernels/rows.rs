//! Spellings and meanings of operations on registers (PTX ISA 9.7.1 to 9.7.9), in plain Rust.

use super::program::Class::{D, E, F, H, P, R};
use super::program::{Row, row};
use std::sync::LazyLock;

fn u(a: u64) -> u32 {
    a as u32
}

fn s(a: u64) -> i32 {
    a as i32
}

fn f(a: u64) -> f32 {
    f32::from_bits(a as u32)
}

/// The only NaN that arithmetic produces.
fn bits(x: f32) -> u64 {
    u64::from(if x.is_nan() { 0x7FFF_FFFF } else { x.to_bits() })
}

fn signed(x: i32) -> u64 {
    u64::from(x as u32)
}

fn truth(x: bool) -> u64 {
    if x { 0xFFFF_FFFF } else { 0 }
}

fn least(a: f32, b: f32) -> f32 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        // -0 is below 0
        _ if a == b => f32::from_bits(a.to_bits() | b.to_bits()),
        _ => a.min(b),
    }
}

fn most(a: f32, b: f32) -> f32 {
    -least(-a, -b)
}

fn permuted(a: u32, b: u32, selector: u32) -> u32 {
    let bytes = (u64::from(b) << 32 | u64::from(a)).to_le_bytes();
    u32::from_le_bytes(std::array::from_fn(|i| {
        let nibble = selector >> (4 * i);
        let byte = bytes[(nibble & 7) as usize];
        if nibble & 8 == 0 { byte } else { ((byte as i8) >> 7) as u8 }
    }))
}

fn e(a: u64) -> f64 {
    f64::from_bits(a)
}

/// The bits of a result of `.f64`, with the canonical NaN: the manual leaves open which NaN arithmetic gives.
fn wide(x: f64) -> u64 {
    if x.is_nan() { 0x7FF8_0000_0000_0000 } else { x.to_bits() }
}

fn half(x: u64) -> u64 {
    x & 0xFFFF
}

/// All operations, also those of `video` and `narrow`.
pub static ROWS: LazyLock<Vec<&Row>> =
    LazyLock::new(|| SCALAR.iter().chain(super::video::ROWS).chain(super::narrow::ROWS).collect());

/// A divisor is never zero: its lowest bit is set first.
const SCALAR: &[Row] = &[
    row("add.u32 $, $, $;", &[R, R, R], |a| u64::from(u(a[0]).wrapping_add(u(a[1])))),
    row("sub.s32 $, $, $;", &[R, R, R], |a| u64::from(u(a[0]).wrapping_sub(u(a[1])))),
    row("mul.lo.u32 $, $, $;", &[R, R, R], |a| u64::from(u(a[0]).wrapping_mul(u(a[1])))),
    row("mul.hi.u32 $, $, $;", &[R, R, R], |a| (u64::from(u(a[0])) * u64::from(u(a[1]))) >> 32),
    row("mul.hi.s32 $, $, $;", &[R, R, R], |a| signed(((i64::from(s(a[0])) * i64::from(s(a[1]))) >> 32) as i32)),
    row("mad.lo.u32 $, $, $, $;", &[R, R, R, R], |a| u64::from(u(a[0]).wrapping_mul(u(a[1])).wrapping_add(u(a[2])))),
    row("or.b32 %t0, $2, 1; div.u32 $0, $1, %t0;", &[R, R, R], |a| u64::from(u(a[0]) / (u(a[1]) | 1))),
    row("or.b32 %t0, $2, 1; rem.s32 $0, $1, %t0;", &[R, R, R], |a| signed(s(a[0]).wrapping_rem(s(a[1]) | 1))),
    row("and.b32 $, $, $;", &[R, R, R], |a| a[0] & a[1]),
    row("or.b32 $, $, $;", &[R, R, R], |a| a[0] | a[1]),
    row("xor.b32 $, $, $;", &[R, R, R], |a| a[0] ^ a[1]),
    row("not.b32 $, $;", &[R, R], |a| u64::from(!u(a[0]))),
    row("cnot.b32 $, $;", &[R, R], |a| u64::from(u(a[0]) == 0)),
    row("neg.s32 $, $;", &[R, R], |a| signed(s(a[0]).wrapping_neg())),
    row("abs.s32 $, $;", &[R, R], |a| signed(s(a[0]).wrapping_abs())),
    row("mov.u32 $, $;", &[R, R], |a| a[0]),
    row("shl.b32 $, $, $;", &[R, R, R], |a| u64::from(u(a[0]).checked_shl(u(a[1])).unwrap_or(0))),
    row("shr.u32 $, $, $;", &[R, R, R], |a| u64::from(u(a[0]).checked_shr(u(a[1])).unwrap_or(0))),
    row("shr.s32 $, $, $;", &[R, R, R], |a| signed(s(a[0]) >> u(a[1]).min(31))),
    row("min.u32 $, $, $;", &[R, R, R], |a| u64::from(u(a[0]).min(u(a[1])))),
    row("max.s32 $, $, $;", &[R, R, R], |a| signed(s(a[0]).max(s(a[1])))),
    row("sad.u32 $, $, $, $;", &[R, R, R, R], |a| u64::from(u(a[0]).abs_diff(u(a[1])).wrapping_add(u(a[2])))),
    row("popc.b32 $, $;", &[R, R], |a| u64::from(u(a[0]).count_ones())),
    row("clz.b32 $, $;", &[R, R], |a| u64::from(u(a[0]).leading_zeros())),
    row("brev.b32 $, $;", &[R, R], |a| u64::from(u(a[0]).reverse_bits())),
    row("bfind.u32 $, $;", &[R, R], |a| u64::from(u(a[0]).checked_ilog2().unwrap_or(u32::MAX))),
    row("and.b32 %t0, $2, 255; and.b32 %t1, $3, 255; bfe.u32 $0, $1, %t0, %t1;", &[R, R, R, R], |a| {
        let shifted = (a[0] & 0xFFFF_FFFF) >> (a[1] & 0xFF).min(63);
        shifted & ((1u64 << (a[2] & 0xFF).min(32)) - 1)
    }),
    row("prmt.b32 $, $, $, $;", &[R, R, R, R], |a| u64::from(permuted(u(a[0]), u(a[1]), u(a[2])))),
    row("lop3.b32 $, $, $, $, 0x6A;", &[R, R, R, R], |a| u64::from((u(a[0]) & u(a[1])) ^ u(a[2]))),
    row("shf.l.wrap.b32 $, $, $, $;", &[R, R, R, R], |a| {
        let both = u64::from(u(a[1])) << 32 | u64::from(u(a[0]));
        (both << (a[2] & 31)) >> 32
    }),
    row("set.lt.u32.s32 $, $, $;", &[R, R, R], |a| truth(s(a[0]) < s(a[1]))),
    row("slct.u32.s32 $, $, $, $;", &[R, R, R, R], |a| if s(a[2]) >= 0 { a[0] } else { a[1] }),
    row("selp.b32 $, $, $, $;", &[R, R, R, P], |a| if a[2] != 0 { a[0] } else { a[1] }),
    row("add.cc.u32 %t0, $1, $2; addc.u32 $0, $3, $4;", &[R, R, R, R, R], |a| {
        let carry = (u64::from(u(a[0])) + u64::from(u(a[1]))) >> 32;
        u64::from(u(a[2]).wrapping_add(u(a[3])).wrapping_add(carry as u32))
    }),
    row("add.u64 $, $, $;", &[D, D, D], |a| a[0].wrapping_add(a[1])),
    row("sub.u64 $, $, $;", &[D, D, D], |a| a[0].wrapping_sub(a[1])),
    row("mul.lo.u64 $, $, $;", &[D, D, D], |a| a[0].wrapping_mul(a[1])),
    row("xor.b64 $, $, $;", &[D, D, D], |a| a[0] ^ a[1]),
    row("max.s64 $, $, $;", &[D, D, D], |a| (a[0] as i64).max(a[1] as i64) as u64),
    row("shl.b64 $, $, $;", &[D, D, R], |a| a[0].checked_shl(u(a[1])).unwrap_or(0)),
    row("shr.s64 $, $, $;", &[D, D, R], |a| ((a[0] as i64) >> u(a[1]).min(63)) as u64),
    row("mul.wide.u32 $, $, $;", &[D, R, R], |a| u64::from(u(a[0])) * u64::from(u(a[1]))),
    row("mad.wide.s32 $, $, $, $;", &[D, R, R, D], |a| {
        (i64::from(s(a[0])) * i64::from(s(a[1]))).wrapping_add(a[2] as i64) as u64
    }),
    row("cvt.u64.u32 $, $;", &[D, R], |a| u64::from(u(a[0]))),
    row("cvt.s64.s32 $, $;", &[D, R], |a| i64::from(s(a[0])) as u64),
    row("cvt.u32.u64 $, $;", &[R, D], |a| u64::from(u(a[0]))),
    row("mov.b64 $, {$, $};", &[D, R, R], |a| u64::from(u(a[1])) << 32 | u64::from(u(a[0]))),
    row("mov.b64 {%t0, $0}, $1;", &[R, D], |a| a[0] >> 32),
    row("popc.b64 $, $;", &[R, D], |a| u64::from(a[0].count_ones())),
    row("selp.b64 $, $, $, $;", &[D, D, D, P], |a| if a[2] != 0 { a[0] } else { a[1] }),
    row("add.rn.f32 $, $, $;", &[F, F, F], |a| bits(f(a[0]) + f(a[1]))),
    row("sub.rn.f32 $, $, $;", &[F, F, F], |a| bits(f(a[0]) - f(a[1]))),
    row("mul.rn.f32 $, $, $;", &[F, F, F], |a| bits(f(a[0]) * f(a[1]))),
    row("fma.rn.f32 $, $, $, $;", &[F, F, F, F], |a| bits(f(a[0]).mul_add(f(a[1]), f(a[2])))),
    row("div.rn.f32 $, $, $;", &[F, F, F], |a| bits(f(a[0]) / f(a[1]))),
    row("sqrt.rn.f32 $, $;", &[F, F], |a| bits(f(a[0]).sqrt())),
    row("min.f32 $, $, $;", &[F, F, F], |a| bits(least(f(a[0]), f(a[1])))),
    row("max.f32 $, $, $;", &[F, F, F], |a| bits(most(f(a[0]), f(a[1])))),
    row("mov.f32 $, $;", &[F, F], |a| a[0]),
    row("mov.b32 $, $;", &[R, F], |a| a[0]),
    row("mov.b32 $, $;", &[F, R], |a| u64::from(u(a[0]))),
    row("selp.f32 $, $, $, $;", &[F, F, F, P], |a| if a[2] != 0 { a[0] } else { a[1] }),
    row("cvt.rn.f32.u32 $, $;", &[F, R], |a| bits(u(a[0]) as f32)),
    row("cvt.rn.f32.s32 $, $;", &[F, R], |a| bits(s(a[0]) as f32)),
    row("cvt.rzi.u32.f32 $, $;", &[R, F], |a| u64::from(f(a[0]) as u32)),
    row("cvt.rzi.s32.f32 $, $;", &[R, F], |a| signed(f(a[0]) as i32)),
    row("add.u16 $, $, $;", &[H, H, H], |a| half(a[0] + a[1])),
    row("mul.lo.u16 $, $, $;", &[H, H, H], |a| half(half(a[0]) * half(a[1]))),
    row("max.s16 $, $, $;", &[H, H, H], |a| half((a[0] as i16).max(a[1] as i16) as u64)),
    row("xor.b16 $, $, $;", &[H, H, H], |a| half(a[0] ^ a[1])),
    row("selp.b16 $, $, $, $;", &[H, H, H, P], |a| half(if a[2] != 0 { a[0] } else { a[1] })),
    row("cvt.u16.u32 $, $;", &[H, R], |a| half(a[0])),
    row("cvt.s32.s16 $, $;", &[R, H], |a| signed(i32::from(a[0] as i16))),
    row("cvt.u32.u16 $, $;", &[R, H], |a| half(a[0])),
    row("mul.wide.u16 $, $, $;", &[R, H, H], |a| half(a[0]) * half(a[1])),
    row("mov.b32 $, {$, $};", &[R, H, H], |a| half(a[1]) << 16 | half(a[0])),
    row("setp.lt.u16 $, $, $;", &[P, H, H], |a| u64::from(half(a[0]) < half(a[1]))),
    row("add.rn.f64 $, $, $;", &[E, E, E], |a| wide(e(a[0]) + e(a[1]))),
    row("mul.rn.f64 $, $, $;", &[E, E, E], |a| wide(e(a[0]) * e(a[1]))),
    row("fma.rn.f64 $, $, $, $;", &[E, E, E, E], |a| wide(e(a[0]).mul_add(e(a[1]), e(a[2])))),
    row("neg.f64 $, $;", &[E, E], |a| wide(-e(a[0]))),
    row("selp.f64 $, $, $, $;", &[E, E, E, P], |a| if a[2] != 0 { a[0] } else { a[1] }),
    row("cvt.rn.f64.s32 $, $;", &[E, R], |a| wide(f64::from(s(a[0])))),
    row("cvt.rn.f64.u64 $, $;", &[E, D], |a| wide(a[0] as f64)),
    row("cvt.rn.f32.f64 $0, $1; add.rn.f32 $0, $0, 0f00000000;", &[F, E], |a| bits(e(a[0]) as f32 + 0.0)),
    row("cvt.f64.f32 $, $;", &[E, F], |a| wide(f64::from(f(a[0])))),
    // PTX ISA 9.7.9.22: a NaN of `.f64` becomes one that `.f32` does not produce
    row("cvt.rzi.s32.f64 $, $;", &[R, E], |a| signed(if e(a[0]).is_nan() { i32::MIN } else { e(a[0]) as i32 })),
    row("setp.lt.f64 $, $, $;", &[P, E, E], |a| u64::from(e(a[0]) < e(a[1]))),
    row("setp.lt.u32 $, $, $;", &[P, R, R], |a| u64::from(u(a[0]) < u(a[1]))),
    row("setp.ge.s32 $, $, $;", &[P, R, R], |a| u64::from(s(a[0]) >= s(a[1]))),
    row("setp.eq.u32 $, $, $;", &[P, R, R], |a| u64::from(u(a[0]) == u(a[1]))),
    row("setp.ne.u64 $, $, $;", &[P, D, D], |a| u64::from(a[0] != a[1])),
    row("setp.lt.s64 $, $, $;", &[P, D, D], |a| u64::from((a[0] as i64) < a[1] as i64)),
    row("setp.gt.f32 $, $, $;", &[P, F, F], |a| u64::from(f(a[0]) > f(a[1]))),
    row("setp.leu.f32 $, $, $;", &[P, F, F], |a| u64::from(f(a[0]).is_nan() || f(a[1]).is_nan() || f(a[0]) <= f(a[1]))),
    row("setp.lt.and.s32 $, $, $, $;", &[P, R, R, P], |a| u64::from(s(a[0]) < s(a[1]) && a[2] != 0)),
    row("setp.ne.xor.u32 $, $, $, !$;", &[P, R, R, P], |a| u64::from((u(a[0]) != u(a[1])) ^ (a[2] == 0))),
    row("and.pred $, $, $;", &[P, P, P], |a| a[0] & a[1]),
    row("xor.pred $, $, $;", &[P, P, P], |a| a[0] ^ a[1]),
    row("not.pred $, $;", &[P, P], |a| a[0] ^ 1),
];
