//! Kinds of operands: their width, the register that holds one, and their special values.

use ptx_dsl_frontend::ty::{Class, Ty};

/// The kind of an operand. Signed, unsigned and untyped integers are one kind for each width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Pred,
    B8,
    B16,
    B32,
    B64,
    F16,
    Bf16,
    F32,
    F64,
    B16x2,
    F16x2,
    Bf16x2,
}

/// Name, width in bits, register type.
const ALL: &[(Kind, &str, u32, &str)] = &[
    (Kind::Pred, "pred", 1, ".pred"),
    (Kind::B8, "b8", 8, ".b8"),
    (Kind::B16, "b16", 16, ".b16"),
    (Kind::B32, "b32", 32, ".b32"),
    (Kind::B64, "b64", 64, ".b64"),
    (Kind::F16, "f16", 16, ".b16"),
    (Kind::Bf16, "bf16", 16, ".b16"),
    (Kind::F32, "f32", 32, ".b32"),
    (Kind::F64, "f64", 64, ".b64"),
    (Kind::B16x2, "b16x2", 32, ".b32"),
    (Kind::F16x2, "f16x2", 32, ".b32"),
    (Kind::Bf16x2, "bf16x2", 32, ".b32"),
];

/// A binary floating-point format: bits of the mantissa and of the exponent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    pub mant: u32,
    pub exp: u32,
}

impl Format {
    pub fn sign(self) -> u64 {
        1 << (self.mant + self.exp)
    }
    pub fn bias(self) -> i64 {
        (1 << (self.exp - 1)) - 1
    }
    pub fn inf(self) -> u64 {
        ((1 << self.exp) - 1) << self.mant
    }
    /// 2 to the power `e`, which may be subnormal; zero or infinity outside of the range.
    pub fn power(self, e: i64) -> u64 {
        let (least, bias) = (1 - self.bias(), self.bias());
        if e > bias {
            self.inf()
        } else if e >= least {
            ((e + bias) as u64) << self.mant
        } else {
            1u64.checked_shl((e - least + i64::from(self.mant)).max(-1) as u32).unwrap_or(0)
        }
    }
}

impl Kind {
    fn row(self) -> &'static (Kind, &'static str, u32, &'static str) {
        ALL.iter().find(|r| r.0 == self).unwrap_or(&ALL[0])
    }
    pub fn name(self) -> &'static str {
        self.row().1
    }
    pub fn bits(self) -> u32 {
        self.row().2
    }
    /// The type of a register for it.
    pub fn register(self) -> &'static str {
        self.row().3
    }
    pub fn from_name(name: &str) -> Option<Kind> {
        ALL.iter().find(|r| r.1 == name).map(|r| r.0)
    }
    /// The kind of an operand that has this type in the table.
    pub fn of(ty: Ty) -> Option<Kind> {
        if let Some(kind) = Kind::from_name(ty.name()) {
            return Some(kind);
        }
        match (ty.class(), ty.bits()) {
            (Class::Bits | Class::Unsigned | Class::Signed, 8) => Some(Kind::B8),
            (Class::Bits | Class::Unsigned | Class::Signed, 16) => Some(Kind::B16),
            (Class::Bits | Class::Unsigned | Class::Signed, 32) => Some(Kind::B32),
            (Class::Bits | Class::Unsigned | Class::Signed, 64) => Some(Kind::B64),
            _ if matches!(ty, Ty::U16x2 | Ty::S16x2) => Some(Kind::B16x2),
            // two values of 8 bits: all pairs
            _ if matches!(ty, Ty::E4m3x2 | Ty::E5m2x2) => Some(Kind::B16),
            _ => None,
        }
    }
    /// The format of a floating-point value, or of each of two.
    pub fn format(self) -> Option<Format> {
        match self {
            Kind::F16 | Kind::F16x2 => Some(Format { mant: 10, exp: 5 }),
            Kind::Bf16 | Kind::Bf16x2 => Some(Format { mant: 7, exp: 8 }),
            Kind::F32 => Some(Format { mant: 23, exp: 8 }),
            Kind::F64 => Some(Format { mant: 52, exp: 11 }),
            _ => None,
        }
    }
    /// The kind of each of the two halves of a packed kind.
    pub fn half(self) -> Option<Kind> {
        match self {
            Kind::B16x2 => Some(Kind::B16),
            Kind::F16x2 => Some(Kind::F16),
            Kind::Bf16x2 => Some(Kind::Bf16),
            _ => None,
        }
    }

    /// Values at which conversions to narrower formats are special.
    pub fn edges(self) -> Vec<u64> {
        let Some(f) = self.format().filter(|f| f.mant >= 23) else { return Vec::new() };
        let mut all = Vec::new();
        // The least and the largest numbers of f16 and f32, and numbers at the edge of rounding to them.
        for e in [-150, -149, -127, -126, -25, -24, -15, -14, 15, 16, 127, 128] {
            let power = f.power(e);
            all.extend([power, power + 1, power.wrapping_sub(1), power + (1 << (f.mant - 1))]);
        }
        // Halfway between two numbers of 7, 10 or 23 bits, and its neighbours; the largest number minus one unit in the last
        // place.
        for mant in [7, 10, 23].into_iter().filter(|m| *m < f.mant) {
            let half = 1u64 << (f.mant - mant - 1);
            for (e, places) in [(0, 1), (0, 3), (-14, 5), (15, (1 << (mant + 1)) - 1), (-16, 1), (127, (2 << mant) - 1)]
            {
                let middle = f.power(e) + places * half;
                all.extend([middle, middle - 1, middle + 1]);
            }
        }
        all.retain(|v| *v <= f.inf());
        let negative: Vec<u64> = all.iter().map(|v| v | f.sign()).collect();
        all.extend(negative);
        all
    }

    /// Values at which instructions are special.
    pub fn special(self) -> Vec<u64> {
        match (self, self.format()) {
            (Kind::Pred, _) => vec![0, 1],
            (_, Some(format)) => special_floats(format),
            _ => special_integers(self.half().unwrap_or(self).bits()),
        }
    }
}

fn special_integers(bits: u32) -> Vec<u64> {
    let mask = u64::MAX >> (64 - bits);
    let top = 1u64 << (bits - 1);
    let mut all: Vec<u64> = (0..=4).chain([7, 8, 15, 16, 17, 24, 31, 32, 33, 40, 63, 64, 65, 127, 128]).collect();
    all.extend([129, 254, 255, 256, 257, 287, 288, 319, 320, 511, 512, 4096, 0x7fff, 0x8000, 0x8001, 0xffff, 0x1_0000]);
    all.extend([0xff_ffff, 0x80_0000, 0x100_0000, 0x100_0001, 0x7fff_ffff, 0x8000_0000, 0x8000_0001, 0xffff_ffff]);
    all.extend([1 << 32, (1 << 32) + 1, 0x0123_4567_89ab_cdef, 0xaaaa_aaaa_aaaa_aaaa, 0x5555_5555_5555_5555]);
    all.extend([
        top,
        top + 1,
        top - 1,
        top | top >> 1,
        mask,
        mask - 1,
        mask - 7,
        mask - 31,
        mask - 63,
        mask << (bits / 2),
    ]);
    all.iter_mut().for_each(|v| *v &= mask);
    all.sort_unstable();
    all.dedup();
    all
}

fn special_floats(f: Format) -> Vec<u64> {
    let (least, most) = (1 - f.bias(), f.bias());
    let one = f.power(0);
    let quiet = 1u64 << (f.mant - 1);
    let mut all = vec![0, 1, 2, 3, f.power(least - 1), f.power(least - 1) - 1, f.power(least) - 1, f.power(least) - 2];
    all.extend([f.power(least), f.power(least) + 1, f.power(least + 1), f.power(least + 1) - 1, f.power(least / 2)]);
    all.extend([
        one,
        one + 1,
        one - 1,
        one + (1 << (f.mant - 1)),
        f.power(1),
        f.power(1) + 1,
        f.power(-1),
        f.power(-1) - 1,
    ]);
    all.extend([f.power(2), f.power(-2), f.power(most), f.power(most) + 1, f.inf() - 1, f.inf() - 2]);
    // The end of halves, and of integers, in the mantissa.
    for e in [3, 7, 8, 15, 16, 31, 32, 63, 64] {
        let power = f.power(e);
        all.extend(if power < f.inf() { vec![power, power - 1, power + 1] } else { vec![] });
    }
    all.extend([f.power(i64::from(f.mant)), f.power(i64::from(f.mant) - 1) + 1, f.power(i64::from(f.mant) + 1)]);
    // Small numbers with a half, and a third.
    for (e, parts) in [(0, 1), (1, 1), (1, 3), (2, 1), (2, 5), (6, 51), (7, 127)] {
        all.push(f.power(e) + (parts << f.mant >> (e + 1)));
    }
    all.push(f.power(-2) + ((1u64 << f.mant) / 3));
    if f.mant + f.exp == 15 {
        // The NaN of elements out of bounds.
        all.push(0x7ff7);
    }
    all.extend([
        f.inf(),
        f.inf() | quiet,
        f.inf() | 1,
        f.inf() | quiet | 1,
        f.inf() | (quiet - 1),
        f.inf() | (2 * quiet - 1),
    ]);
    all.sort_unstable();
    all.dedup();
    let negative: Vec<u64> = all.iter().map(|v| v | f.sign()).collect();
    all.extend(negative);
    all
}
