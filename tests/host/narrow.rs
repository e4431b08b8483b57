//! `cvt` from and to formats of 8 bits and fewer, `.rs`, `.pzo` and scale factors. The expected values come from tables of all numbers
//! of a format and f64 arithmetic, which is exact here.

use ptx_dsl::Engine;
use ptx_dsl::prelude::*;
use ptx_dsl_test_support::random::Random;
use std::sync::LazyLock;

const ENGINES: [Engine; 2] = [Engine::Interpreted, Engine::Compiled];

/// A format without its sign: the values of its codes in order, up to the largest number.
struct Format {
    values: Vec<f64>,
    sign: u32,
    nan: u32,
}

/// Bits of exponent and mantissa, the largest finite code, the code for NaN, the sign bit.
fn format(exponent: u32, mantissa: u32, largest: u32, nan: u32, sign: u32) -> Format {
    let bias = (1 << (exponent - 1)) - 1;
    let value = |code: u32| {
        let fraction = f64::from(code % (1 << mantissa)) / f64::from(1 << mantissa);
        match code >> mantissa {
            0 => fraction * 2f64.powi(1 - bias),
            e => (1.0 + fraction) * 2f64.powi(e as i32 - bias),
        }
    };
    Format { values: (0..=largest).map(value).collect(), sign, nan }
}

static E4M3: LazyLock<Format> = LazyLock::new(|| format(4, 3, 0x7e, 0x7f, 0x80));
static E5M2: LazyLock<Format> = LazyLock::new(|| format(5, 2, 0x7b, 0x7f, 0x80));
static E2M3: LazyLock<Format> = LazyLock::new(|| format(2, 3, 0x1f, 0x1f, 0x20));
static E3M2: LazyLock<Format> = LazyLock::new(|| format(3, 2, 0x1f, 0x1f, 0x20));
static E2M1: LazyLock<Format> = LazyLock::new(|| format(2, 1, 7, 7, 8));
static UE5M3: LazyLock<Format> = LazyLock::new(|| format(5, 3, 0xfe, 0xff, 0));
static F16: LazyLock<Format> = LazyLock::new(|| format(5, 10, 0x7bff, 0x7fff, 0x8000));
static BF16: LazyLock<Format> = LazyLock::new(|| format(8, 7, 0x7f7f, 0x7fff, 0x8000));

#[derive(Clone, Copy)]
enum Round {
    Near,
    Zero,
    Up,
    /// These bits, and how many.
    Random(u32, u32),
}

impl Format {
    fn decode(&self, code: u32) -> f64 {
        let magnitude = if self.sign == 0 { code } else { code & (self.sign - 1) };
        let value = match self.values.get(magnitude as usize) {
            Some(value) => *value,
            None if self.values.len() as u32 == magnitude && self.nan != magnitude => f64::INFINITY,
            None => f64::NAN,
        };
        if code & self.sign != 0 { -value } else { value }
    }

    /// The code of a magnitude that is not NaN, with the code that follows the largest one for what is larger.
    fn magnitude(&self, x: f64, round: Round) -> u32 {
        let below = self.values.partition_point(|value| *value <= x) - 1;
        let largest = self.values.len() - 1;
        // above the largest number the distance to the next one stays the same
        let step = |at: usize| {
            let at = at.min(largest - 1);
            self.values[at + 1] - self.values[at]
        };
        let part = (x - self.values[below]) / step(below);
        let up = match round {
            Round::Near => part > 0.5 || part == 0.5 && below % 2 == 1,
            Round::Zero => false,
            Round::Up => part > 0.0,
            Round::Random(bits, width) => {
                (part * f64::from(1u32 << width)).floor() + f64::from(bits) >= f64::from(1u32 << width)
            }
        };
        below as u32 + u32::from(up || x.is_infinite())
    }

    /// `.satfinite`: what is larger than all numbers becomes the largest one.
    fn saturated(&self, x: f64, round: Round) -> u32 {
        if x.is_nan() {
            return self.nan;
        }
        let sign = if x.is_sign_negative() { self.sign } else { 0 };
        sign | self.magnitude(x.abs(), round).min(self.values.len() as u32 - 1)
    }
}

/// Special values, neighbours of all numbers of the formats and of the middles between them, and random ones.
static INPUTS: LazyLock<Vec<f32>> = LazyLock::new(|| {
    let mut out: Vec<f32> = [0.0, 1.0, f32::MIN_POSITIVE, 1e-40, 1e-45, f32::MAX, f32::INFINITY, f32::NAN].to_vec();
    for format in [&*E4M3, &*E5M2, &*E2M3, &*E3M2, &*E2M1, &*UE5M3] {
        for pair in format.values.windows(2) {
            let (a, middle) = (pair[0] as f32, ((pair[0] + pair[1]) / 2.0) as f32);
            out.extend([a, a.next_up(), middle.next_down(), middle, middle.next_up()]);
        }
        let last = *format.values.last().unwrap() as f32;
        out.extend([1.0, 1.01, 1.03, 1.06, 1.1, 1.25, 1.5, 2.0, 7.0].map(|factor| last * factor));
    }
    out.extend((-130..128).map(|e| 2f32.powi(e)));
    out.extend((-130..127).map(|e| 1.5 * 2f32.powi(e)));
    out.extend(random(1).take(3000).map(f32::from_bits));
    // exponents near those of the formats
    out.extend(random(2).take(3000).map(|x| f32::from_bits(x & 0x807f_ffff | (95 + x % 64) << 23)));
    out.iter().flat_map(|x| [*x, -*x]).collect()
});

/// Pseudo-random words, always the same.
fn random(seed: u64) -> impl Iterator<Item = u32> {
    let mut random = Random::new(seed);
    std::iter::repeat_with(move || random.word())
}

/// The inputs, each with another one, for whole warps.
fn pairs() -> (Vec<f32>, Vec<f32>) {
    let mut a = INPUTS.clone();
    a.resize(a.len().next_multiple_of(128), 1.0);
    let mut b = a.clone();
    b.rotate_left(7);
    (a, b)
}

fn relu(x: f64) -> f64 {
    if x < 0.0 || x.is_sign_negative() && !x.is_nan() { 0.0 } else { x }
}

ptx! {
    <sm_107a, ptx 9.4, compiled>
    .visible .entry from_f32(
        .param .u64 .ptr .global .align 4 a: &[f32], .param .u64 .ptr .global .align 4 b: &[f32],
        .param .u64 .ptr .global .align 4 out: &mut [u32], .param .u32 n: u32
    ) .reqntid 128
    {
        .reg .b32 %i, %n, %r, %x, %y;
        .reg .b16 %h;
        .reg .b8 %c;
        .reg .b64 %a, %b, %out, %step;
        ld.param.u64 %a, [a];
        ld.param.u64 %b, [b];
        ld.param.u64 %out, [out];
        ld.param.u32 %n, [n];
        mov.u32 %i, %ctaid.x;
        mov.u32 %x, %tid.x;
        mad.lo.u32 %i, %i, 128, %x;
        mad.wide.u32 %a, %i, 4, %a;
        mad.wide.u32 %b, %i, 4, %b;
        mad.wide.u32 %out, %i, 4, %out;
        mul.wide.u32 %step, %n, 4;
        ld.global.b32 %x, [%a];
        ld.global.b32 %y, [%b];
        cvt.rn.satfinite.e4m3x2.f32 %h, %x, %y; cvt.u32.u16 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rz.satfinite.e4m3x2.f32 %h, %x, %y; cvt.u32.u16 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.satfinite.relu.e5m2x2.f32 %h, %x, %y; cvt.u32.u16 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rz.satfinite.e5m2x2.f32 %h, %x, %y; cvt.u32.u16 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.satfinite.e2m3x2.f32 %h, %x, %y; cvt.u32.u16 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.satfinite.pzo.e3m2x2.f32 %h, %x, %y; cvt.u32.u16 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.satfinite.e2m1x2.f32 %c, %x, %y; cvt.u32.u8 %r, %c; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rz.satfinite.relu.e2m1x2.f32 %c, %x, %y; cvt.u32.u8 %r, %c; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rz.satfinite.ue8m0x2.f32 %h, %x, %y; cvt.u32.u16 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rp.ue8m0x2.f32 %h, %x, %y; cvt.u32.u16 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.satfinite.ue5m3x2.f32 %h, %x, %y; cvt.u32.u16 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rp.ue5m3x2.f32 %h, %x, %y; cvt.u32.u16 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rz.ue5m3x2.f32 %h, %x, %y; cvt.u32.u16 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.satfinite.s2f6x2.f32 %h, %x, %y; cvt.u32.u16 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rz.satfinite.relu.s2f6x2.f32 %h, %x, %y; cvt.u32.u16 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.pzo.f16x2.f32 %r, %x, %y; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.satfinite.pzo.bf16.f32 %h, %x; cvt.u32.u16 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rz.pzo.tf32.f32 %r, %x; st.global.u32 [%out], %r;
        ret;
    }
}

/// `.ue8m0` by powers of two.
fn power(x: f64, up: bool, over: u32) -> u32 {
    let x = x.abs();
    if x.is_nan() {
        return 0xff;
    }
    let first = (0..=254).find(|e| 2f64.powi(e - 127) >= x);
    match first {
        None => {
            if up || x.is_infinite() || x >= 2f64.powi(128) {
                over
            } else {
                254
            }
        }
        Some(e) if up || 2f64.powi(e - 127) == x => e as u32,
        Some(e) => (e - 1).max(0) as u32,
    }
}

/// Units of 1/64 in a byte.
fn fixed(x: f64, nearest: bool) -> u32 {
    let x = x * 64.0;
    let rounded = if nearest { x.round_ties_even() } else { x.trunc() };
    if x.is_nan() { 127 } else { rounded.clamp(-128.0, 127.0) as i8 as u8 as u32 }
}

/// Without `.satfinite`: larger numbers become NaN, or the largest with `.rz`.
fn magnitude_or_nan(x: f64, round: Round) -> u32 {
    if x.is_nan() { 0xff } else { UE5M3.magnitude(x.abs(), round) }
}

fn positive_zero(code: u32, sign: u32) -> u32 {
    if code == sign { 0 } else { code }
}

fn tf32(x: f32) -> u32 {
    if x.is_nan() { 0x7fff_e000 } else { positive_zero(x.to_bits() & !0x1fff, 1 << 31) }
}

/// f16 with infinities.
fn half(x: f64) -> u32 {
    let sign = if x.is_sign_negative() { 0x8000 } else { 0 };
    if x.is_nan() { 0x7fff } else { positive_zero(sign | F16.magnitude(x.abs(), Round::Near), 0x8000) }
}

#[test]
fn floats_to_narrow_formats() {
    let (a, b) = pairs();
    type Expected = (u32, fn(f64) -> u32);
    let forms: [Expected; 18] = [
        (8, |x| E4M3.saturated(x, Round::Near)),
        (8, |x| E4M3.saturated(x, Round::Zero)),
        (8, |x| E5M2.saturated(relu(x), Round::Near)),
        (8, |x| E5M2.saturated(x, Round::Zero)),
        (8, |x| E2M3.saturated(x, Round::Near)),
        (8, |x| positive_zero(E3M2.saturated(x, Round::Near), 0x20)),
        (4, |x| E2M1.saturated(x, Round::Near)),
        (4, |x| E2M1.saturated(relu(x), Round::Zero)),
        (8, |x| power(x, false, 0xfe)),
        (8, |x| power(x, true, 0xff)),
        (8, |x| UE5M3.saturated(x, Round::Near)),
        (8, |x| magnitude_or_nan(x, Round::Up)),
        (8, |x| magnitude_or_nan(x, Round::Zero)),
        (8, |x| fixed(x, true)),
        (8, |x| fixed(relu(x), false)),
        (16, half),
        (0, |x| positive_zero(BF16.saturated(x, Round::Near), 0x8000)),
        (0, |x| tf32(x as f32)),
    ];
    for engine in ENGINES {
        let mut out = vec![0; a.len() * forms.len()];
        let launch = Launch::grid(a.len() as u32 / 128);
        from_f32.launch(&Host::new().engine(engine), launch, (&a, &b, &mut out, a.len() as u32)).unwrap();
        for (n, ((bits, expected), results)) in forms.iter().zip(out.chunks(a.len())).enumerate() {
            for ((x, y), result) in a.iter().zip(&b).zip(results) {
                let (x, y) = (f64::from(*x), f64::from(*y));
                let pair = if *bits == 0 { expected(x) } else { expected(x) << bits | expected(y) };
                assert_eq!(*result, pair, "form {n} of {x:e} and {y:e}: {result:#x} instead of {pair:#x}");
            }
        }
    }
}

ptx! {
    <sm_107a, ptx 9.4, compiled>
    .visible .entry from_halves(
        .param .u64 .ptr .global .align 4 out: &mut [u32], .param .u32 n: u32
    ) .reqntid 128
    {
        .reg .b32 %i, %n, %r, %x, %y, %z, %w, %bits;
        .reg .b16 %h, %s;
        .reg .b8 %c, %f;
        .reg .b64 %a, %out, %step;
        ld.param.u64 %out, [out];
        ld.param.u32 %n, [n];
        mov.u32 %i, %ctaid.x;
        mov.u32 %x, %tid.x;
        mad.lo.u32 %i, %i, 128, %x;
        mad.wide.u32 %out, %i, 4, %out;
        mul.wide.u32 %step, %n, 4;
        mul.lo.u32 %x, %i, 0x40001; // the high half is another number
        cvt.rn.satfinite.e4m3x2.f16x2 %h, %x; cvt.u32.u16 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.satfinite.relu.e5m2x2.f16x2 %h, %x; cvt.u32.u16 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rz.satfinite.e5m2x2.bf16x2 %h, %x; cvt.u32.u16 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.satfinite.e4m3x2.bf16x2 %h, %x; cvt.u32.u16 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.satfinite.e2m3x2.f16x2 %h, %x; cvt.u32.u16 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.satfinite.e3m2x2.bf16x2 %h, %x; cvt.u32.u16 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.satfinite.e2m1x2.f16x2 %c, %x; cvt.u32.u8 %r, %c; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.satfinite.pzo.e2m1x2.bf16x2 %c, %x; cvt.u32.u8 %r, %c; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rp.satfinite.ue8m0x2.bf16x2 %h, %x; cvt.u32.u16 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rz.ue8m0x2.bf16x2 %h, %x; cvt.u32.u16 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.satfinite.s2f6x2.bf16x2 %h, %x; cvt.u32.u16 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.ue5m3x2.f16x2 %h, %x; cvt.u32.u16 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rp.satfinite.ue5m3x2.bf16x2 %h, %x; cvt.u32.u16 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        ret;
    }
}

#[test]
fn all_halves_to_narrow_formats() {
    type Expected = (bool, u32, fn(f64) -> u32);
    const F: bool = true;
    const B: bool = false;
    let forms: [Expected; 13] = [
        (F, 8, |x| E4M3.saturated(x, Round::Near)),
        (F, 8, |x| E5M2.saturated(relu(x), Round::Near)),
        (B, 8, |x| E5M2.saturated(x, Round::Zero)),
        (B, 8, |x| E4M3.saturated(x, Round::Near)),
        (F, 8, |x| E2M3.saturated(x, Round::Near)),
        (B, 8, |x| E3M2.saturated(x, Round::Near)),
        (F, 4, |x| E2M1.saturated(x, Round::Near)),
        (B, 4, |x| positive_zero(E2M1.saturated(x, Round::Near), 8)),
        (B, 8, |x| power(x, true, 0xfe)),
        (B, 8, |x| power(x, false, 0xff)),
        (B, 8, |x| fixed(x, true)),
        (F, 8, |x| magnitude_or_nan(x, Round::Near)),
        (B, 8, |x| UE5M3.saturated(x, Round::Up)),
    ];
    const N: u32 = 1 << 16;
    // 65536 products repeat after the low half, so both halves take all values
    for engine in ENGINES {
        let mut out = vec![0; N as usize * forms.len()];
        from_halves.launch(&Host::new().engine(engine), Launch::grid(N / 128), (&mut out, N)).unwrap();
        for (n, ((f16, bits, expected), results)) in forms.iter().zip(out.chunks(N as usize)).enumerate() {
            let one = |x: u32| expected(if *f16 { F16.decode(x) } else { BF16.decode(x) });
            let expected: Vec<u32> = (0..N).map(one).collect();
            for (i, result) in (0..N).zip(results) {
                let x = i.wrapping_mul(0x40001);
                let pair = expected[(x >> 16) as usize] << bits | expected[(x & 0xffff) as usize];
                assert_eq!(*result, pair, "form {n} of {x:#x}: {result:#x} instead of {pair:#x}");
            }
        }
    }
}

ptx! {
    <sm_107a, ptx 9.4, compiled>
    .visible .entry to_halves(
        .param .u64 .ptr .global .align 4 out: &mut [u32], .param .u32 n: u32
    ) .reqntid 128
    {
        .reg .b32 %i, %n, %r, %x, %y, %z, %w, %bits;
        .reg .b16 %h, %s;
        .reg .b8 %c, %f;
        .reg .b64 %a, %out, %step;
        ld.param.u64 %out, [out];
        ld.param.u32 %n, [n];
        mov.u32 %i, %ctaid.x;
        mov.u32 %x, %tid.x;
        mad.lo.u32 %i, %i, 128, %x;
        mad.wide.u32 %out, %i, 4, %out;
        mul.wide.u32 %step, %n, 4;
        cvt.u16.u32 %h, %i;
        cvt.u8.u32 %c, %i;
        shr.u32 %x, %i, 5;
        add.u32 %x, %x, 0x5cde;
        cvt.u16.u32 %s, %x;
        cvt.rn.f16x2.e4m3x2 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.relu.f16x2.e5m2x2 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.f16x2.e2m3x2 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.relu.f16x2.e3m2x2 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.f16x2.e2m1x2 %r, %c; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.f16x2.ue5m3x2 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.bf16x2.e4m3x2 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.satfinite.bf16x2.e5m2x2 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.bf16x2.ue8m0x2 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.bf16x2.s2f6x2 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.relu.satfinite.bf16x2.s2f6x2 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.scaled::n2::ue8m0.bf16x2.e4m3x2 %r, %h, %s; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.satfinite.relu.scaled::n2::ue8m0.bf16x2.e5m2x2 %r, %h, %s; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.scaled::n2::ue8m0.bf16x2.e2m3x2 %r, %h, %s; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.scaled::n2::ue8m0.bf16x2.e2m1x2 %r, %c, %s; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.scaled::n2::ue8m0.bf16x2.s2f6x2 %r, %h, %s; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.satfinite.scaled::n2::ue8m0.bf16x2.ue5m3x2 %r, %h, %s; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        ret;
    }
}

/// bf16, rounded to nearest; what is too large is an infinity, or the largest number.
fn bf16(x: f64, satfinite: bool) -> u32 {
    if x.is_nan() {
        return 0x7fff;
    }
    let sign = if x.is_sign_negative() { 0x8000 } else { 0 };
    sign | BF16.magnitude(x.abs(), Round::Near).min(if satfinite { 0x7f7f } else { 0x7f80 })
}

/// f16 of a number that it holds.
fn f16(x: f64) -> u32 {
    if x.is_nan() { 0x7fff } else { half(x) | if x.is_sign_negative() { 0x8000 } else { 0 } }
}

fn ue8m0(code: u32) -> f64 {
    if code == 0xff { f64::NAN } else { 2f64.powi(code as i32 - 127) }
}

#[test]
fn all_narrow_numbers_to_halves() {
    type Expected = (u32, fn(u32, f64) -> u32);
    let s2f6 = |code: u32| f64::from(code as u8 as i8) / 64.0;
    let forms: [Expected; 17] = [
        (8, |x, _| f16(E4M3.decode(x))),
        (8, |x, _| f16(relu(E5M2.decode(x)))),
        (8, |x, _| f16(E2M3.decode(x & 0x3f))),
        (8, |x, _| f16(relu(E3M2.decode(x & 0x3f)))),
        (4, |x, _| f16(E2M1.decode(x))),
        (8, |x, _| f16(UE5M3.decode(x))),
        (8, |x, _| bf16(E4M3.decode(x), false)),
        (8, |x, _| bf16(E5M2.decode(x), true)),
        (8, |x, _| bf16(ue8m0(x), false)),
        (8, |x, _| bf16(f64::from(x as u8 as i8) / 64.0, false)),
        (8, |x, _| bf16(relu(f64::from(x as u8 as i8) / 64.0), true)),
        (8, |x, s| bf16(E4M3.decode(x) * s, false)),
        (8, |x, s| bf16(relu(E5M2.decode(x) * s), true)),
        (8, |x, s| bf16(E2M3.decode(x & 0x3f) * s, false)),
        (4, |x, s| bf16(E2M1.decode(x) * s, false)),
        (8, |x, s| bf16(f64::from(x as u8 as i8) / 64.0 * s, false)),
        (8, |x, s| bf16(UE5M3.decode(x) * s, true)),
    ];
    const N: u32 = 1 << 16;
    assert_eq!(s2f6(0x80), -2.0);
    for engine in ENGINES {
        let mut out = vec![0; N as usize * forms.len()];
        to_halves.launch(&Host::new().engine(engine), Launch::grid(N / 128), (&mut out, N)).unwrap();
        for (n, ((bits, expected), results)) in forms.iter().zip(out.chunks(N as usize)).enumerate() {
            for (i, result) in (0..N).zip(results) {
                let mask = (1 << bits) - 1;
                let scale = ((i >> 5) + 0x5cde) & 0xffff;
                let [low, high] =
                    [0, 1].map(|half| expected(i >> (bits * half) & mask, ue8m0(scale >> (8 * half) & 0xff)));
                let pair = high << 16 | low;
                assert_eq!(*result, pair, "form {n} of {i:#x}, scaled by {scale:#x}: {result:#x} instead of {pair:#x}");
            }
        }
    }
}

ptx! {
    <sm_107a, ptx 9.4, compiled>
    .visible .entry stochastic(
        .param .u64 .ptr .global .align 4 a: &[f32], .param .u64 .ptr .global .align 4 out: &mut [u32], .param .u32 n: u32
    ) .reqntid 128
    {
        .reg .b32 %i, %n, %r, %x, %y, %z, %w, %bits;
        .reg .b16 %h, %s;
        .reg .b8 %c, %f;
        .reg .b64 %a, %out, %step;
        ld.param.u64 %out, [out];
        ld.param.u32 %n, [n];
        mov.u32 %i, %ctaid.x;
        mov.u32 %x, %tid.x;
        mad.lo.u32 %i, %i, 128, %x;
        mad.wide.u32 %out, %i, 4, %out;
        mul.wide.u32 %step, %n, 4;
        ld.param.u64 %a, [a];
        mad.wide.u32 %a, %i, 4, %a;
        ld.global.b32 %x, [%a];
        ld.global.b32 %y, [%a+4];
        ld.global.b32 %z, [%a+8];
        ld.global.b32 %w, [%a+12];
        mul.lo.u32 %bits, %i, 0x9e3779b1; // the random bits
        cvt.rs.satfinite.f16x2.f32 %r, %x, %y, %bits; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rs.relu.bf16x2.f32 %r, %x, %y, %bits; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rs.satfinite.e4m3x4.f32 %r, {%x, %y, %z, %w}, %bits; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rs.relu.satfinite.e5m2x4.f32 %r, {%x, %y, %z, %w}, %bits; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rs.satfinite.e2m3x4.f32 %r, {%x, %y, %z, %w}, %bits; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rs.satfinite.e3m2x4.f32 %r, {%x, %y, %z, %w}, %bits; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rs.satfinite.e2m1x4.f32 %h, {%x, %y, %z, %w}, %bits; cvt.u32.u16 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        ret;
    }
}

/// The random bits of the four elements of 8 or 4 bits, as on a B200.
fn random_bits(word: u32, four_bits: bool) -> [Round; 4] {
    let [b0, b1, b2, b3] = word.to_le_bytes().map(u32::from);
    let pairs = if four_bits { [b3 << 8 | b1, b2 << 8 | b0] } else { [word >> 16, word & 0xffff] };
    let reversed = |x: u32| (0..16).map(|bit| (x >> bit & 1) << (15 - bit)).sum();
    [reversed(pairs[0]), pairs[0], reversed(pairs[1]), pairs[1]].map(|bits| Round::Random(bits, 16))
}

fn bf16_with_infinity(x: f64, round: Round) -> u32 {
    if x.is_nan() { 0x7fff } else { BF16.magnitude(x, round) }
}

#[test]
fn stochastic_rounding() {
    let mut a = pairs().0;
    let n = a.len();
    a.extend([0.5, -0.5, 3.0]);
    for engine in ENGINES {
        let mut out = vec![0; n * 7];
        stochastic.launch(&Host::new().engine(engine), Launch::grid(n as u32 / 128), (&a, &mut out, n as u32)).unwrap();
        for i in 0..n {
            let bits = (i as u32).wrapping_mul(0x9e37_79b1);
            let x: [f64; 4] = std::array::from_fn(|k| a[i + k].into());
            let halves = [(bits >> 16) & 0x1fff, bits & 0x1fff].map(|bits| Round::Random(bits, 13));
            let bf16_halves = [bits >> 16, bits & 0xffff].map(|bits| Round::Random(bits, 16));
            let packed = |format: &Format, relu: fn(f64) -> f64, width: u32| {
                let random = random_bits(bits, width == 4);
                x.iter().zip(random).fold(0, |packed, (x, r)| packed << width | format.saturated(relu(*x), r))
            };
            let same: fn(f64) -> f64 = |x| x;
            let expected = [
                F16.saturated(x[0], halves[0]) << 16 | F16.saturated(x[1], halves[1]),
                bf16_with_infinity(relu(x[0]), bf16_halves[0]) << 16 | bf16_with_infinity(relu(x[1]), bf16_halves[1]),
                packed(&E4M3, same, 8),
                packed(&E5M2, relu, 8),
                packed(&E2M3, same, 8),
                packed(&E3M2, same, 8),
                packed(&E2M1, same, 4),
            ];
            for (form, expected) in expected.into_iter().enumerate() {
                let result = out[form * n + i];
                assert_eq!(
                    result, expected,
                    "form {form} of {x:?} with {bits:#x}: {result:#x} instead of {expected:#x}"
                );
            }
        }
    }
}

ptx! {
    <sm_107a, ptx 9.4, compiled>
    .visible .entry divided(
        .param .u64 .ptr .global .align 4 a: &[f32], .param .u64 .ptr .global .align 4 out: &mut [u32], .param .u32 n: u32
    ) .reqntid 128
    {
        .reg .b32 %i, %n, %r, %x, %y, %z, %w, %bits;
        .reg .b16 %h, %s;
        .reg .b8 %c, %f;
        .reg .b64 %a, %out, %step;
        ld.param.u64 %out, [out];
        ld.param.u32 %n, [n];
        mov.u32 %i, %ctaid.x;
        mov.u32 %x, %tid.x;
        mad.lo.u32 %i, %i, 128, %x;
        mad.wide.u32 %out, %i, 4, %out;
        mul.wide.u32 %step, %n, 4;
        ld.param.u64 %a, [a];
        mad.wide.u32 %a, %i, 4, %a;
        ld.global.b32 %x, [%a];
        ld.global.b32 %y, [%a+4];
        mul.lo.u32 %bits, %i, 0x9e3779b1;
        shr.u32 %bits, %bits, 16;
        cvt.u16.u32 %s, %bits;
        cvt.u8.u32 %f, %bits;
        cvt.rn.satfinite.scaled::n1::ue8m0.e4m3x2.f32 %h, %x, %y, %f; cvt.u32.u16 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rz.satfinite.relu.scaled::n1::ue8m0.e5m2x2.f32 %h, %x, %y, %f; cvt.u32.u16 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.satfinite.scaled::n1::ue8m0.e2m1x2.f16x2 %c, %x, %f; cvt.u32.u8 %r, %c; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.satfinite.scaled::n1::ue8m0.e2m3x2.bf16x2 %h, %x, %f; cvt.u32.u16 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rz.scaled::n1::ue8m0.ue5m3x2.f32 %h, %x, %y, %f; cvt.u32.u16 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.satfinite.scaled::n2::ue8m0.s2f6x2.f32 %h, %x, %y, %s; cvt.u32.u16 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        cvt.rn.satfinite.relu.scaled::n2::ue8m0.s2f6x2.bf16x2 %h, %x, %s; cvt.u32.u16 %r, %h; st.global.u32 [%out], %r; add.u64 %out, %out, %step;
        ret;
    }
}

/// Subnormal numbers of a format with this least normal number are zeros.
fn flushed(x: f64, least: f64) -> f64 {
    if x.abs() < least { 0f64.copysign(x) } else { x }
}

#[test]
fn scale_factors_divide() {
    let mut a = pairs().0;
    let n = a.len();
    a.push(1.0);
    for engine in ENGINES {
        let mut out = vec![0; n * 7];
        divided.launch(&Host::new().engine(engine), Launch::grid(n as u32 / 128), (&a, &mut out, n as u32)).unwrap();
        for i in 0..n {
            let factors = (i as u32).wrapping_mul(0x9e37_79b1) >> 16;
            let words = [a[i + 1], a[i]];
            let floats = words.map(f64::from);
            let word = a[i].to_bits();
            let (halves, bf16s) = (
                [word & 0xffff, word >> 16].map(|x| F16.decode(x)),
                [word & 0xffff, word >> 16].map(|x| BF16.decode(x)),
            );
            let pair = |x: [f64; 2], width: u32, f: &dyn Fn(f64, f64) -> u32| {
                f(x[1], ue8m0(factors & 0xff)) << width | f(x[0], ue8m0(factors & 0xff))
            };
            let each = |x: [f64; 2], f: &dyn Fn(f64) -> u32| {
                f(x[1] / ue8m0(factors >> 8)) << 8 | f(x[0] / ue8m0(factors & 0xff))
            };
            let (f32_least, f16_least) = (2f64.powi(-126), 2f64.powi(-14));
            let expected = [
                pair(floats, 8, &|x, s| E4M3.saturated(flushed(x, f32_least) / s, Round::Near)),
                pair(floats, 8, &|x, s| E5M2.saturated(relu(flushed(x, f32_least) / s), Round::Zero)),
                pair(halves, 4, &|x, s| E2M1.saturated(flushed(x, f16_least) / s, Round::Near)),
                pair(bf16s, 8, &|x, s| E2M3.saturated(flushed(x, f32_least) / s, Round::Near)),
                pair(floats, 8, &|x, s| magnitude_or_nan(flushed(x, f32_least) / s, Round::Zero)),
                each(floats, &|x| fixed(x, true)),
                each(bf16s, &|x| fixed(relu(x), true)),
            ];
            for (form, expected) in expected.into_iter().enumerate() {
                let result = out[form * n + i];
                assert_eq!(result, expected, "form {form} of {floats:?} with {factors:#x}");
            }
        }
    }
}
