//! Operands: always the same for a form, so that only results have to be kept.

use ptx_dsl_test_support::random::Random;

/// What the operands of a warp are like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Around 1.
    Near,
    /// Any finite numbers.
    Wide,
    /// Products of one magnitude that C nearly cancels.
    Cancelling,
    /// Subnormals; products at the lower end of f32.
    Tiny,
    /// A few infinities and NaNs.
    Special,
    /// Powers of two.
    Powers,
    /// Sums that overflow.
    Large,
    /// Zeros among large and small numbers.
    Zeros,
}

pub const CLASSES: [Class; 8] = [
    Class::Near,
    Class::Wide,
    Class::Cancelling,
    Class::Tiny,
    Class::Special,
    Class::Powers,
    Class::Large,
    Class::Zeros,
];

/// Element types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ty {
    F16,
    Bf16,
    Tf32,
    F32,
    F64,
    E4m3,
    E5m2,
    E3m2,
    E2m3,
    /// In bits 2 to 5 of a byte.
    E2m1,
    /// Eight in a register.
    E2m1Packed,
    /// Any bits: integers.
    Bits,
    /// Accumulators of integers: any bits, often near the ends.
    S32,
    Ue8m0,
    Ue4m3,
}

/// Which operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    A,
    B,
    C,
}

impl Ty {
    /// Bits of the mantissa and of the exponent.
    fn format(self) -> (u32, u32) {
        match self {
            Ty::F16 => (10, 5),
            Ty::Bf16 => (7, 8),
            // with low bits, which do not count
            Ty::Tf32 | Ty::F32 => (23, 8),
            Ty::F64 => (52, 11),
            Ty::E4m3 => (3, 4),
            Ty::E5m2 => (2, 5),
            Ty::E3m2 => (2, 3),
            Ty::E2m3 => (3, 2),
            Ty::E2m1 | Ty::E2m1Packed => (1, 2),
            Ty::Bits | Ty::S32 | Ty::Ue8m0 | Ty::Ue4m3 => (0, 0),
        }
    }

    /// Bits from one element to the next.
    pub fn pitch(self) -> u32 {
        match self {
            Ty::F16 | Ty::Bf16 => 16,
            Ty::Tf32 | Ty::F32 | Ty::Bits | Ty::S32 => 32,
            Ty::F64 => 64,
            Ty::E2m1Packed => 4,
            _ => 8,
        }
    }

    /// An element.
    fn element(self, class: Class, side: Side, r: &mut Random) -> u64 {
        match self {
            Ty::Bits => return r.next() & 0xffff_ffff,
            Ty::S32 => {
                let near = (r.below(200_000) as i64 - 100_000) as u64 & 0xffff_ffff;
                return match class {
                    Class::Large => 0x7fff_ffff - r.below(100_000),
                    Class::Special => 0x8000_0000 + r.below(100_000),
                    Class::Wide => r.next() & 0xffff_ffff,
                    _ => near,
                };
            }
            Ty::Ue8m0 => {
                return match class {
                    Class::Wide => r.below(255),
                    Class::Special if r.one_in(8) => 255,
                    _ => 120 + r.below(16),
                };
            }
            Ty::Ue4m3 => return if class == Class::Special { r.below(256) } else { r.below(126) },
            _ => {}
        }
        let (m, e) = self.format();
        let (top, bias) = ((1u64 << e) - 1, (1i64 << (e - 1)) - 1);
        let ieee = !matches!(self, Ty::E4m3 | Ty::E3m2 | Ty::E2m3 | Ty::E2m1 | Ty::E2m1Packed);
        let most = if ieee { top - 1 } else { top } as i64;
        let sign = r.below(2) << (m + e);
        let any = r.next() & ((1 << m) - 1);
        let make = |field: i64, mantissa: u64| {
            let field = field.clamp(0, most) as u64;
            // all ones is NaN where it is special
            let mantissa = if !ieee && self == Ty::E4m3 && field == top && mantissa == 7 { 6 } else { mantissa };
            sign | field << m | mantissa
        };
        let big = e == 8 || e == 11;
        match class {
            Class::Near => {
                let field = bias - 3 + r.below(7) as i64 + if side == Side::C { 3 } else { 0 };
                if r.one_in(10) { sign } else { make(field, any) }
            }
            Class::Wide => make(r.below(most as u64 + 1) as i64, any),
            Class::Cancelling => {
                let ones = (1u64 << m) - 1;
                let mantissa = [0, ones, any, any & ones >> 1][r.below(4) as usize];
                let field = if side == Side::C { bias + r.below(8) as i64 } else { bias + r.below(2) as i64 };
                make(field, mantissa)
            }
            Class::Tiny if r.one_in(6) => sign,
            Class::Tiny if !big => make(if side == Side::C { 0 } else { r.below(4) as i64 }, any),
            Class::Tiny => match side {
                Side::A => make(r.below(72) as i64, any),
                Side::B => make(50 + r.below(40) as i64, any),
                Side::C => make([0, 0, r.below(20) as i64][r.below(3) as usize], any >> r.below(u64::from(m))),
            },
            Class::Special if r.one_in(24) && self == Ty::E4m3 => sign | 0x7f,
            Class::Special if r.one_in(24) && ieee => {
                let nan = [0, 0, 0, any, 1 << (m - 1)][r.below(5) as usize];
                sign | top << m | nan
            }
            Class::Special if r.one_in(12) => sign,
            Class::Special => make(bias - 2 + r.below(5) as i64, any),
            Class::Powers => make(bias - 8 + r.below(17) as i64, 0),
            Class::Large => make(most - r.below(if big { 70 } else { 3 }) as i64, any),
            Class::Zeros if r.below(2) == 0 => sign,
            Class::Zeros => {
                make(if r.below(2) == 0 { most - r.below(3) as i64 } else { r.below(most as u64) as i64 }, any)
            }
        }
    }

    /// A word of elements.
    pub fn word(self, class: Class, side: Side, r: &mut Random) -> u32 {
        let pitch = self.pitch().min(32);
        (0..32 / pitch).fold(0, |word, i| {
            let x = self.element(class, side, r) as u32;
            word | if self == Ty::E2m1 { x << 2 } else { x } << (i * pitch)
        })
    }

    /// Both words of a register of 64 bits.
    pub fn words(self, class: Class, side: Side, r: &mut Random) -> [u32; 2] {
        let x = self.element(class, side, r);
        [x as u32, (x >> 32) as u32]
    }
}
