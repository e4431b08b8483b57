//! Video instructions (PTX ISA 9.7.18): spellings and meanings.

use super::program::Class::R;
use super::program::{Row, row};

fn u(a: u64) -> u32 {
    a as u32
}

fn s(a: u64) -> i64 {
    i64::from(a as i32)
}

fn byte(a: u64, i: u32) -> i64 {
    i64::from((a >> (8 * i)) as u8)
}

fn signed_byte(a: u64, i: u32) -> i64 {
    i64::from((a >> (8 * i)) as i8)
}

fn signed_half(a: u64, i: u32) -> i64 {
    i64::from((a >> (16 * i)) as i16)
}

fn word(x: i64) -> u64 {
    u64::from(x as u32)
}

/// Four lanes of bytes.
fn bytes(f: impl Fn(u32) -> i64) -> u64 {
    (0..4).map(|i| u64::from(f(i) as u8) << (8 * i)).sum()
}

/// Two lanes of half-words.
fn halves(f: impl Fn(u32) -> i64) -> u64 {
    (0..2).map(|i| u64::from(f(i) as u16) << (16 * i)).sum()
}

/// Packed instructions, and selectors, take registers only.
pub const ROWS: &[Row] = &[
    row("mov.b32 %t0, $1; mov.b32 %t1, $2; vadd.s32.s32.s32 $0, %t0.b1, %t1.h1;", &[R, R, R], |a| {
        word(signed_byte(a[0], 1) + signed_half(a[1], 1))
    }),
    row("mov.b32 %t0, $1; mov.b32 %t1, $2; vsub.u32.u32.s32.add $0, %t0.b3, %t1.h0, $3;", &[R, R, R, R], |a| {
        word(byte(a[0], 3) - signed_half(a[1], 0) + s(a[2]))
    }),
    row("vabsdiff.u32.u32.u32.max $, $, $, $;", &[R, R, R, R], |a| u64::from(u(a[0]).abs_diff(u(a[1])).max(u(a[2])))),
    row("mov.b32 %t0, $1; mov.b32 %t1, $2; vmin.s32.s32.s32 $0.b2, %t0.b0, %t1.b1, $3;", &[R, R, R, R], |a| {
        let least = signed_byte(a[0], 0).min(signed_byte(a[1], 1)) as u8;
        u64::from(u(a[2]) & 0xFF00_FFFF | u32::from(least) << 16)
    }),
    row("mov.b32 %t0, $1; vmax.s32.s32.s32.min $0, %t0.h1, $2, $3;", &[R, R, R, R], |a| {
        word(signed_half(a[0], 1).max(s(a[1])).min(s(a[2])))
    }),
    row("vshl.u32.u32.u32.wrap.add $, $, $, $;", &[R, R, R, R], |a| {
        u64::from((u(a[0]) << (a[1] & 31)).wrapping_add(u(a[2])))
    }),
    row("mov.b32 %t0, $1; vshr.s32.s32.u32.clamp $0, %t0.h1, $2;", &[R, R, R], |a| {
        word(signed_half(a[0], 1) >> u(a[1]).min(32))
    }),
    row("mov.b32 %t0, $1; mov.b32 %t1, $2; vmad.s32.s32.s32.shr15 $0, %t0.h0, %t1.h1, $3;", &[R, R, R, R], |a| {
        word((signed_half(a[0], 0) * signed_half(a[1], 1) + s(a[2])) >> 15)
    }),
    row("mov.b32 %t0, $1; mov.b32 %t1, $2; vset.s32.u32.lt $0, %t0.b2, %t1.b3;", &[R, R, R], |a| {
        u64::from(signed_byte(a[0], 2) < byte(a[1], 3))
    }),
    row(
        "mov.b32 %t0, $1; mov.b32 %t1, $2; mov.b32 %t2, $3; vadd2.s32.s32.s32.sat $0, %t0, %t1, %t2;",
        &[R, R, R, R],
        |a| halves(|i| (signed_half(a[0], i) + signed_half(a[1], i)).clamp(-0x8000, 0x7FFF)),
    ),
    row(
        "mov.b32 %t0, $1; mov.b32 %t1, $2; mov.b32 %t2, $3; vadd4.u32.u32.u32 $0, %t0, %t1, %t2;",
        &[R, R, R, R],
        |a| bytes(|i| byte(a[0], i) + byte(a[1], i)),
    ),
    row(
        "mov.b32 %t0, $1; mov.b32 %t1, $2; mov.b32 %t2, $3; vsub4.u32.u32.u32.sat $0, %t0, %t1, %t2;",
        &[R, R, R, R],
        |a| bytes(|i| (byte(a[0], i) - byte(a[1], i)).clamp(0, 255)),
    ),
    row(
        "mov.b32 %t0, $1; mov.b32 %t1, $2; mov.b32 %t2, $3; vavrg4.u32.u32.u32 $0, %t0, %t1, %t2;",
        &[R, R, R, R],
        |a| bytes(|i| (byte(a[0], i) + byte(a[1], i) + 1) >> 1),
    ),
    row(
        "mov.b32 %t0, $1; mov.b32 %t1, $2; mov.b32 %t2, $3; vabsdiff4.u32.u32.u32.add $0, %t0, %t1, %t2;",
        &[R, R, R, R],
        |a| word((0..4).map(|i| (byte(a[0], i) - byte(a[1], i)).abs()).sum::<i64>() + s(a[2])),
    ),
    row(
        "mov.b32 %t0, $1; mov.b32 %t1, $2; mov.b32 %t2, $3; vmin4.s32.s32.s32 $0, %t0, %t1, %t2;",
        &[R, R, R, R],
        |a| bytes(|i| signed_byte(a[0], i).min(signed_byte(a[1], i))),
    ),
    row(
        "mov.b32 %t0, $1; mov.b32 %t1, $2; mov.b32 %t2, $3; vmax2.s32.s32.s32 $0, %t0, %t1, %t2;",
        &[R, R, R, R],
        |a| halves(|i| signed_half(a[0], i).max(signed_half(a[1], i))),
    ),
    row("mov.b32 %t0, $1; mov.b32 %t1, $2; mov.b32 %t2, $3; vset2.s32.s32.ge $0, %t0, %t1, %t2;", &[R, R, R, R], |a| {
        halves(|i| i64::from(signed_half(a[0], i) >= signed_half(a[1], i)))
    }),
    row(
        "mov.b32 %t0, $1; mov.b32 %t1, $2; mov.b32 %t2, $3; vset4.u32.u32.ne.add $0, %t0, %t1, %t2;",
        &[R, R, R, R],
        |a| word((0..4).filter(|i| byte(a[0], *i) != byte(a[1], *i)).count() as i64 + s(a[2])),
    ),
];
