//! Element formats of matrices and scale factors, as data, and how elements share 16-byte pieces of shared memory
//! (PTX ISA 9.7.16.10.4). Everything decodes exactly to f32, integers too.

use crate::numerics::float16::{bf16_to_f32, f16_to_f32};

/// An element format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// `.f16`
    F16,
    /// `.bf16`
    Bf16,
    /// `.tf32`
    Tf32,
    /// `.e4m3`
    E4m3,
    /// `.e5m2`
    E5m2,
    /// `.e2m3`
    E2m3,
    /// `.e3m2`
    E3m2,
    /// `.e2m1`
    E2m1,
    /// `.u8`
    U8,
    /// `.s8`
    S8,
    /// `.u4`
    U4,
    /// `.s4`
    S4,
    /// Sign, four zeros, 11 bits of magnitude: an integer.
    S1z4m11,
    /// `.ue8m0`
    Ue8m0,
    /// `.ue4m3`
    Ue4m3,
    /// `.ue5m3`
    Ue5m3,
}

/// Bits of exponent and mantissa, whether there is a sign, and what the largest exponent means.
struct FormatShape {
    name: &'static str,
    bits: u32,
    exponent: u32,
    mantissa: u32,
    special: Special,
}

/// The meaning of an all-ones exponent.
#[derive(Clone, Copy, PartialEq)]
enum Special {
    /// Infinities and NaNs.
    Ieee,
    /// A number, but all ones is NaN.
    Nan,
    /// A number.
    Number,
}

impl Format {
    const fn shape(self) -> FormatShape {
        const fn shape(name: &'static str, bits: u32, exponent: u32, mantissa: u32, special: Special) -> FormatShape {
            FormatShape { name, bits, exponent, mantissa, special }
        }
        use Special::*;
        match self {
            Format::F16 => shape("f16", 16, 5, 10, Ieee),
            Format::Bf16 => shape("bf16", 16, 8, 7, Ieee),
            Format::Tf32 => shape("tf32", 32, 8, 10, Ieee),
            Format::E4m3 => shape("e4m3", 8, 4, 3, Nan),
            Format::E5m2 => shape("e5m2", 8, 5, 2, Ieee),
            Format::E2m3 => shape("e2m3", 6, 2, 3, Number),
            Format::E3m2 => shape("e3m2", 6, 3, 2, Number),
            Format::E2m1 => shape("e2m1", 4, 2, 1, Number),
            Format::U8 => shape("u8", 8, 0, 8, Number),
            Format::S8 => shape("s8", 8, 0, 8, Number),
            Format::U4 => shape("u4", 4, 0, 4, Number),
            Format::S4 => shape("s4", 4, 0, 4, Number),
            Format::Ue8m0 => shape("ue8m0", 8, 8, 0, Nan),
            Format::S1z4m11 => shape("s1z4m11", 16, 0, 11, Number),
            Format::Ue4m3 => shape("ue4m3", 8, 4, 3, Nan),
            Format::Ue5m3 => shape("ue5m3", 8, 5, 3, Nan),
        }
    }

    /// The name of the format in PTX.
    pub const fn name(self) -> &'static str {
        self.shape().name
    }

    /// Bits of an element, without padding.
    pub const fn bits(self) -> u32 {
        self.shape().bits
    }

    /// An element of at most 8 bits, in the low bits of `x`.
    const fn small(self, x: u8) -> f32 {
        let s = self.shape();
        match self {
            Format::U8 => return x as f32,
            Format::S8 => return x as i8 as f32,
            Format::U4 => return (x & 15) as f32,
            Format::S4 => return ((x << 4) as i8 >> 4) as f32,
            Format::Ue8m0 => {
                // 2^(x - 127): the exponent field of an f32, but for 2^-127, which is subnormal
                return match x {
                    0 => f32::from_bits(1 << 22),
                    255 => f32::NAN,
                    _ => f32::from_bits((x as u32) << 23),
                };
            }
            _ => {}
        }
        let mantissa = x as u32 & ((1 << s.mantissa) - 1);
        let exponent = x as u32 >> s.mantissa & ((1 << s.exponent) - 1);
        let top = exponent == (1 << s.exponent) - 1;
        let bias = (1 << (s.exponent - 1)) - 1;
        let value = match s.special {
            Special::Ieee if top && mantissa == 0 => f32::INFINITY,
            Special::Ieee if top => f32::NAN,
            Special::Nan if top && mantissa == (1 << s.mantissa) - 1 => f32::NAN,
            _ if exponent == 0 => mantissa as f32 * f32::from_bits((128 - bias - s.mantissa) << 23),
            _ => f32::from_bits((exponent + 127 - bias) << 23 | mantissa << (23 - s.mantissa)),
        };
        // the unsigned formats of 8 bits have no bit for a sign, and that of `.ue4m3` does not count
        if matches!(self, Format::Ue4m3) {
            return value;
        }
        if x as u32 >> (s.exponent + s.mantissa) & 1 != 0 { -value } else { value }
    }

    const fn table(self) -> [f32; 256] {
        let mut t = [0.0; 256];
        let mut x = 0;
        while x < 256 {
            t[x] = self.small(x as u8);
            x += 1;
        }
        t
    }

    /// The values of all bytes, for formats of at most 8 bits; bits above an element's do not count.
    pub fn values(self) -> &'static [f32; 256] {
        static E4M3: [f32; 256] = Format::E4m3.table();
        static E5M2: [f32; 256] = Format::E5m2.table();
        static E2M3: [f32; 256] = Format::E2m3.table();
        static E3M2: [f32; 256] = Format::E3m2.table();
        static E2M1: [f32; 256] = Format::E2m1.table();
        static U8: [f32; 256] = Format::U8.table();
        static S8: [f32; 256] = Format::S8.table();
        static U4: [f32; 256] = Format::U4.table();
        static S4: [f32; 256] = Format::S4.table();
        static UE8M0: [f32; 256] = Format::Ue8m0.table();
        static UE4M3: [f32; 256] = Format::Ue4m3.table();
        static UE5M3: [f32; 256] = Format::Ue5m3.table();
        match self {
            Format::E4m3 => &E4M3,
            Format::E5m2 => &E5M2,
            Format::E2m3 => &E2M3,
            Format::E3m2 => &E3M2,
            Format::E2m1 => &E2M1,
            Format::S8 => &S8,
            Format::U4 => &U4,
            Format::S4 => &S4,
            Format::Ue8m0 => &UE8M0,
            Format::Ue4m3 => &UE4M3,
            Format::Ue5m3 => &UE5M3,
            _ => &U8,
        }
    }
}

/// tf32 to f32: the low 13 bits do not count.
#[inline(always)]
pub const fn tf32(x: u32) -> f32 {
    f32::from_bits(x & !0x1fff)
}

/// An element of `.kind::ti16`; NaN if the bits that must be zero are not.
#[inline(always)]
pub const fn s1z4m11(x: u16) -> f32 {
    let magnitude = (x & 0x7ff) as f32;
    let value = if x & 0x8000 != 0 { -magnitude } else { magnitude };
    if x & 0x7800 == 0 { value } else { f32::NAN }
}

/// The packing of elements in a 16-byte piece of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// Two or four bytes each.
    Wide(Format),
    /// A byte each, from its lowest bit: the 8-bit formats, and 6-bit ones in Tensor Memory.
    Bytes(Format),
    /// A byte each, two zero bits on either side: 4-bit formats in Tensor Memory, kinds that mix formats.
    Middle(Format),
    /// Sixteen 6-bit elements in the first 12 bytes.
    Six(Format),
    /// Sixteen 4-bit elements in the first 8 bytes: kinds that mix formats.
    FourPadded(Format),
    /// Thirty-two 4-bit elements.
    Four(Format),
}

impl Packing {
    /// The packing of elements in Tensor Memory, as `tcgen05.cp` decompresses them.
    pub const fn in_tmem(format: Format, dense4: bool) -> Packing {
        match format.bits() {
            16 | 32 => Packing::Wide(format),
            4 if dense4 => Packing::Four(format),
            4 => Packing::Middle(format),
            _ => Packing::Bytes(format),
        }
    }

    /// The packing of elements in shared memory. `dense4`: a kind that has 4-bit elements only.
    pub const fn in_shared(format: Format, dense4: bool) -> Packing {
        match format.bits() {
            16 | 32 => Packing::Wide(format),
            6 => Packing::Six(format),
            4 if dense4 => Packing::Four(format),
            4 => Packing::FourPadded(format),
            _ => Packing::Bytes(format),
        }
    }

    /// Bytes of a 16-byte piece that hold elements, the first ones.
    pub const fn bytes(self) -> u32 {
        match self {
            Packing::Six(_) => 12,
            Packing::FourPadded(_) => 8,
            _ => 16,
        }
    }

    /// Elements of a 16-byte piece.
    pub const fn elements(self) -> usize {
        match self {
            Packing::Wide(Format::Tf32) => 4,
            Packing::Wide(_) => 8,
            Packing::Bytes(_) | Packing::Middle(_) | Packing::Six(_) | Packing::FourPadded(_) => 16,
            Packing::Four(_) => 32,
        }
    }
}

/// The elements of a register, lowest first, and how many there are.
#[inline(always)]
pub(crate) fn register(packing: Packing, word: u32) -> ([f32; 8], usize) {
    let mut all = [0.0; 8];
    let count = match packing {
        Packing::Wide(Format::Tf32) => {
            all[0] = tf32(word);
            1
        }
        Packing::Wide(format) => {
            let value = |x: u32| if format == Format::F16 { f16_to_f32(x as u16) } else { bf16_to_f32(x as u16) };
            (all[0], all[1]) = (value(word), value(word >> 16));
            2
        }
        Packing::Bytes(format) => {
            let (table, mask) = (format.values(), u8::MAX >> (8 - format.bits()));
            all.iter_mut().zip(word.to_le_bytes()).for_each(|(v, b)| *v = table[usize::from(b & mask)]);
            4
        }
        Packing::Middle(format) => {
            let table = format.values();
            all.iter_mut().zip(word.to_le_bytes()).for_each(|(v, b)| *v = table[usize::from(b >> 2 & 15)]);
            4
        }
        Packing::Six(format) | Packing::FourPadded(format) | Packing::Four(format) => {
            let table = format.values();
            all.iter_mut().enumerate().for_each(|(i, v)| *v = table[(word >> (4 * i) & 15) as usize]);
            8
        }
    };
    (all, count)
}

/// Four words: a piece of two-byte elements.
#[inline(always)]
pub fn pairs(piece: &[u8; 16], value: impl Fn(u16) -> f32) -> [f32; 8] {
    std::array::from_fn(|i| value(u16::from_le_bytes([piece[2 * i], piece[2 * i + 1]])))
}

/// A piece of four-byte elements.
#[inline(always)]
pub fn words(piece: &[u8; 16], value: impl Fn(u32) -> f32) -> [f32; 4] {
    std::array::from_fn(|i| value(u32::from_le_bytes([0, 1, 2, 3].map(|b| piece[4 * i + b]))))
}

/// A piece of elements of at most 8 bits, each this many bits wide, side by side from the first bit on.
#[inline(always)]
pub fn packed<const E: usize, const BITS: usize>(piece: &[u8; 16], table: &[f32; 256]) -> [f32; E] {
    let x = u128::from_le_bytes(*piece);
    std::array::from_fn(|i| table[(x >> (i * BITS)) as usize & ((1 << BITS) - 1)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tf32_ignores_its_low_bits() {
        assert_eq!(tf32(0x3f80_1fff), 1.0);
        assert_eq!(tf32(0x3f80_2000), 1.0 + 1.0 / 1024.0);
    }

    #[test]
    fn small_formats_have_the_values_of_their_tables() {
        let cases: &[(Format, u8, f32)] = &[
            (Format::E4m3, 0x38, 1.0),
            (Format::E4m3, 0x7e, 448.0),
            (Format::E4m3, 0x01, 1.0 / 512.0),
            (Format::E4m3, 0x88, -1.0 / 64.0),
            (Format::E5m2, 0x3c, 1.0),
            (Format::E5m2, 0x7b, 57344.0),
            (Format::E5m2, 0x01, 1.0 / 65536.0),
            (Format::E5m2, 0xfc, f32::NEG_INFINITY),
            (Format::E2m3, 0x1f, 7.5),
            (Format::E2m3, 0x01, 0.125),
            (Format::E2m3, 0x28, -1.0),
            (Format::E3m2, 0x1f, 28.0),
            (Format::E3m2, 0x01, 0.0625),
            (Format::E3m2, 0x2c, -1.0),
            (Format::E2m1, 0x7, 6.0),
            (Format::E2m1, 0x1, 0.5),
            (Format::E2m1, 0xa, -1.0),
            (Format::U8, 255, 255.0),
            (Format::S8, 0x80, -128.0),
            (Format::Ue8m0, 127, 1.0),
            (Format::Ue8m0, 0, 1.0 / (1u128 << 127) as f32),
            (Format::Ue8m0, 254, (1u128 << 127) as f32),
            (Format::Ue4m3, 0x38, 1.0),
            (Format::Ue4m3, 0x7e, 448.0),
        ];
        for &(format, x, value) in cases {
            assert_eq!(format.values()[x as usize], value, "{} {x:#x}", format.name());
        }
        for (format, x) in [
            (Format::E4m3, 0x7f),
            (Format::E4m3, 0xff),
            (Format::E5m2, 0x7d),
            (Format::Ue8m0, 255),
            (Format::Ue4m3, 0x7f),
        ] {
            assert!(format.values()[x].is_nan(), "{} {x:#x}", format.name());
        }
    }

    #[test]
    fn pieces_hold_their_elements_low_bits_first() {
        let mut piece = [0; 16];
        piece[0] = 0x21;
        piece[1] = 0x43;
        let four: [f32; 32] = packed::<32, 4>(&piece, Format::E2m1.values());
        assert_eq!(four[..5], [0.5, 1.0, 1.5, 2.0, 0.0]);
        // 6-bit: 0b000001, 0b000010, 0b000011, 0b001000
        piece[..3].copy_from_slice(&(1u32 | 2 << 6 | 3 << 12 | 8 << 18).to_le_bytes()[..3]);
        let six: [f32; 16] = packed::<16, 6>(&piece, Format::E2m3.values());
        assert_eq!(six[..5], [0.125, 0.25, 0.375, 1.0, 0.0]);
    }
}
