//! Video instructions (PTX ISA 9.7.18). Their last operand is the number of the [`Modifiers`].

use crate::numerics::qual::{Q, Ty, q};
use ptx_dsl_isa::isa::video::{Modifiers, Selector};

/// The low bits of `x` as a number, by its signedness.
#[inline(always)]
const fn number(x: u64, bits: u32, signed: bool) -> i64 {
    let unused = 64 - bits;
    if signed { (x << unused) as i64 >> unused } else { (x << unused >> unused) as i64 }
}

/// Limited to what the bits hold.
#[inline(always)]
fn clamp(x: i64, bits: u32, signed: bool) -> i64 {
    if signed { x.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { x.clamp(0, (1 << bits) - 1) }
}

const fn signed(ty: Ty) -> bool {
    matches!(ty, Ty::S32)
}

/// The bits that a selector selects, and where they begin.
fn part(selector: Selector) -> (u32, u32) {
    match (selector.lanes().first(), selector.bytes) {
        (None, _) => (32, 0),
        (Some(lane), true) => (8, 8 * u32::from(*lane)),
        (Some(lane), false) => (16, 16 * u32::from(*lane)),
    }
}

fn source(x: u64, ty: Ty, selector: Selector) -> i64 {
    let (bits, at) = part(selector);
    number(x >> at, bits, signed(ty))
}

/// A scalar instruction.
struct Scalar {
    a: i64,
    b: i64,
    c: u64,
    modifiers: Modifiers,
}

impl Scalar {
    fn new<const N: usize>(s: [u64; N], atype: Ty, btype: Ty) -> Scalar {
        let at = |i: usize| s.get(i).copied().unwrap_or(0);
        let modifiers = Modifiers::from_number(at(N - 1));
        let c = if N > 3 { at(2) } else { 0 };
        Scalar { a: source(at(0), atype, modifiers.a), b: source(at(1), btype, modifiers.b), c, modifiers }
    }

    /// Applies the second operation to the low bits of a result, or merges them into `c`.
    fn finish(&self, q: Q, signed: bool, result: i64) -> [u64; 1] {
        let (bits, at) = part(self.modifiers.d);
        if bits < 32 {
            let mask = ((1 << bits) - 1) << at;
            return [(result as u64) << at & mask | self.c & 0xffff_ffff & !mask];
        }
        let c = number(self.c, 32, signed);
        let less = if signed { result < c } else { (result as u64) < c as u64 };
        let d = match () {
            () if q.has(q::add) => result.wrapping_add(c),
            () if q.has(q::min) == less && (q.has(q::min) || q.has(q::max)) => result,
            () if q.has(q::min) || q.has(q::max) => c,
            () => result,
        };
        [u64::from(d as u32)]
    }
}

/// Saturates as hardware does, which differs from the manual: an unsigned 32-bit result has no upper limit, and a negative result in a
/// byte or half-word becomes the largest value.
fn saturated(result: i64, selector: Selector, signed: bool) -> i64 {
    match (part(selector).0, signed) {
        (32, true) => clamp(result, 32, true),
        (32, false) => result.max(0),
        (bits, signed) => (result as u64).min((1 << (bits - u32::from(signed))) - 1) as i64,
    }
}

/// A result as 32 bits, extended by its sign.
const fn word(result: i64) -> i64 {
    result as i32 as i64
}

/// The result of `f`, saturated, before the second operation or the merge.
fn arithmetic(q: Q, scalar: &Scalar, f: impl Fn(i64, i64) -> i64) -> i64 {
    let result = f(scalar.a, scalar.b);
    if q.has(q::sat) { saturated(result, scalar.modifiers.d, signed(q.ty[0])) } else { result }
}

/// `vadd`, `vsub`: the second operation gets 32 bits.
fn sum<const N: usize>(q: Q, s: [u64; N], f: impl Fn(i64, i64) -> i64) -> [u64; 1] {
    let [dtype, atype, btype, ..] = q.ty;
    let scalar = Scalar::new(s, atype, btype);
    scalar.finish(q, signed(dtype), word(arithmetic(q, &scalar, f)))
}

/// `vabsdiff`, `vmin`, `vmax`: the second operation gets the exact result.
fn choice<const N: usize>(q: Q, s: [u64; N], f: impl Fn(i64, i64) -> i64) -> [u64; 1] {
    let [dtype, atype, btype, ..] = q.ty;
    let scalar = Scalar::new(s, atype, btype);
    scalar.finish(q, signed(dtype), arithmetic(q, &scalar, f))
}

/// `vshl`, `vshr`: the amount is at most 32, or modulo 32.
fn shift<const N: usize>(q: Q, s: [u64; N], f: impl Fn(i64, u32) -> i64) -> [u64; 1] {
    let [dtype, atype, ..] = q.ty;
    let scalar = Scalar::new(s, atype, Ty::U32);
    let amount = if q.has(q::wrap) { scalar.b & 31 } else { scalar.b.min(32) };
    // hardware keeps 34 bits, and saturates to 32 whatever the destination is
    let result = f(scalar.a, amount as u32);
    let saturated = || word(clamp(result << 30 >> 30, 32, signed(dtype)));
    scalar.finish(q, signed(dtype), if q.has(q::sat) { saturated() } else { result })
}

fn compare(q: Q, a: i64, b: i64) -> i64 {
    let holds = match () {
        () if q.has(q::eq) => a == b,
        () if q.has(q::ne) => a != b,
        () if q.has(q::lt) => a < b,
        () if q.has(q::le) => a <= b,
        () if q.has(q::gt) => a > b,
        () => a >= b,
    };
    i64::from(holds)
}

/// `vset`
pub fn vset<const N: usize>(q: Q, s: [u64; N]) -> [u64; 1] {
    let [atype, btype, ..] = q.ty;
    let scalar = Scalar::new(s, atype, btype);
    scalar.finish(q, signed(atype), compare(q, scalar.a, scalar.b))
}

/// `vmad`: `a * b + c`, scaled and saturated. Hardware takes whole registers as signed, whatever their types are.
pub fn vmad<const N: usize>(q: Q, s: [u64; N]) -> [u64; 1] {
    let [_, atype, btype, ..] = q.ty;
    let scalar = Scalar::new(s, atype, btype);
    let Modifiers { a, b, minus_product, minus_c, .. } = scalar.modifiers;
    let is_signed = signed(atype) || signed(btype) || minus_product || minus_c;
    let factor = |value: i64, selector: Selector| if part(selector).0 < 32 { value } else { i64::from(value as i32) };
    let (product, c) = (factor(scalar.a, a) * factor(scalar.b, b), i64::from(scalar.c as i32));
    let sum = match () {
        () if q.has(q::po) => product + c + 1,
        () if minus_product => c - product,
        () if minus_c => product - c,
        () => product + c,
    };
    let shift = if q.has(q::shr7) { 7 } else { 15 * u32::from(q.has(q::shr15)) };
    let scaled = if is_signed { sum >> shift } else { (sum as u64 >> shift) as i64 };
    [u64::from(if q.has(q::sat) { clamp(scaled, 32, is_signed) } else { scaled } as u32)]
}

/// Half-words or bytes of registers in parallel.
struct VideoLanes {
    bits: u32,
    count: usize,
    a: u64,
    b: u64,
    c: u64,
    modifiers: Modifiers,
}

impl VideoLanes {
    fn new<const N: usize>(s: [u64; N], bits: u32) -> VideoLanes {
        let at = |i: usize| s.get(i).copied().unwrap_or(0) & 0xffff_ffff;
        let modifiers = Modifiers::from_number(s.get(3).copied().unwrap_or(0));
        VideoLanes { bits, count: (32 / bits) as usize, a: at(0), b: at(1), c: at(2), modifiers }
    }

    /// The number in lane `i` of a source: one of the lanes of `a`, after which those of `b` are.
    fn source(&self, selector: Selector, first: usize, i: usize, ty: Ty) -> i64 {
        let lane = match selector.lanes() {
            [] => first + i,
            lanes => lanes.get(self.count - 1 - i).map_or(0, |lane| usize::from(*lane)),
        };
        number((self.b << 32 | self.a) >> (self.bits * lane as u32), self.bits, signed(ty))
    }

    fn run(&self, q: Q, (dtype, atype, btype): (Ty, Ty, Ty), f: impl Fn(i64, i64) -> i64) -> [u64; 1] {
        let mut d = self.c;
        for i in 0..self.count {
            let mask = self.modifiers.d.lanes();
            if !mask.is_empty() && !mask.contains(&(i as u8)) {
                continue;
            }
            let a = self.source(self.modifiers.a, 0, i, atype);
            let b = self.source(self.modifiers.b, self.count, i, btype);
            let t = f(a, b);
            let t = if q.has(q::sat) { clamp(t, self.bits, signed(dtype)) } else { t };
            if q.has(q::add) {
                d = d.wrapping_add(t as u64);
            } else {
                let (at, mask) = (self.bits * i as u32, (1u64 << self.bits) - 1);
                d = d & !(mask << at) | (t as u64 & mask) << at;
            }
        }
        [u64::from(d as u32)]
    }
}

/// `vadd2` and so on.
fn lanes<const N: usize>(q: Q, s: [u64; N], bits: u32, f: impl Fn(i64, i64) -> i64) -> [u64; 1] {
    let [dtype, atype, btype, ..] = q.ty;
    VideoLanes::new(s, bits).run(q, (dtype, atype, btype), f)
}

/// `vset2`, `vset4`.
fn lanes_compared<const N: usize>(q: Q, s: [u64; N], bits: u32) -> [u64; 1] {
    let [atype, btype, ..] = q.ty;
    VideoLanes::new(s, bits).run(q, (Ty::U32, atype, btype), |a, b| compare(q, a, b))
}

/// The average, halves rounded away from zero.
fn average(a: i64, b: i64) -> i64 {
    let sum = a + b;
    (sum + i64::from(sum >= 0)) >> 1
}

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident = |$q:ident, $s:ident| $body:expr;)*) => {$(
        $(#[$doc])*
        pub fn $name<const N: usize>($q: Q, $s: [u64; N]) -> [u64; 1] {
            $body
        }
    )*};
}

functions! {
    /// `vadd`
    vadd = |q, s| sum(q, s, |a, b| a + b);
    /// `vsub`
    vsub = |q, s| sum(q, s, |a, b| a - b);
    /// `vabsdiff`
    vabsdiff = |q, s| choice(q, s, |a, b| (a - b).abs());
    /// `vmin`
    vmin = |q, s| choice(q, s, i64::min);
    /// `vmax`
    vmax = |q, s| choice(q, s, i64::max);
    /// `vshl`
    vshl = |q, s| shift(q, s, |a, b| a << b);
    /// `vshr`
    vshr = |q, s| shift(q, s, |a, b| a >> b);
    /// `vadd2`
    vadd2 = |q, s| lanes(q, s, 16, |a, b| a + b);
    /// `vsub2`
    vsub2 = |q, s| lanes(q, s, 16, |a, b| a - b);
    /// `vavrg2`
    vavrg2 = |q, s| lanes(q, s, 16, average);
    /// `vabsdiff2`
    vabsdiff2 = |q, s| lanes(q, s, 16, |a, b| (a - b).abs());
    /// `vmin2`
    vmin2 = |q, s| lanes(q, s, 16, i64::min);
    /// `vmax2`
    vmax2 = |q, s| lanes(q, s, 16, i64::max);
    /// `vset2`
    vset2 = |q, s| lanes_compared(q, s, 16);
    /// `vadd4`
    vadd4 = |q, s| lanes(q, s, 8, |a, b| a + b);
    /// `vsub4`
    vsub4 = |q, s| lanes(q, s, 8, |a, b| a - b);
    /// `vavrg4`
    vavrg4 = |q, s| lanes(q, s, 8, average);
    /// `vabsdiff4`
    vabsdiff4 = |q, s| lanes(q, s, 8, |a, b| (a - b).abs());
    /// `vmin4`
    vmin4 = |q, s| lanes(q, s, 8, i64::min);
    /// `vmax4`
    vmax4 = |q, s| lanes(q, s, 8, i64::max);
    /// `vset4`
    vset4 = |q, s| lanes_compared(q, s, 8);
}

semantics! {
    lane "vadd" => vadd [3 | 4],
    lane "vsub" => vsub [3 | 4],
    lane "vabsdiff" => vabsdiff [3 | 4],
    lane "vmin" => vmin [3 | 4],
    lane "vmax" => vmax [3 | 4],
    lane "vshl" => vshl [3 | 4],
    lane "vshr" => vshr [3 | 4],
    lane "vmad" => vmad [4],
    lane "vset" => vset [3 | 4],
    lane "vadd2" => vadd2 [4],
    lane "vsub2" => vsub2 [4],
    lane "vavrg2" => vavrg2 [4],
    lane "vabsdiff2" => vabsdiff2 [4],
    lane "vmin2" => vmin2 [4],
    lane "vmax2" => vmax2 [4],
    lane "vset2" => vset2 [4],
    lane "vadd4" => vadd4 [4],
    lane "vsub4" => vsub4 [4],
    lane "vavrg4" => vavrg4 [4],
    lane "vabsdiff4" => vabsdiff4 [4],
    lane "vmin4" => vmin4 [4],
    lane "vmax4" => vmax4 [4],
    lane "vset4" => vset4 [4],
}
