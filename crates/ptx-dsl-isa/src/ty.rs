//! The types of PTX registers and instructions.

use crate::qualifier::{Qualifier, q};

/// A fundamental or packed type, named as in PTX.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ty {
    /// `.pred`
    Pred,
    /// `.b8`
    B8,
    /// `.b16`
    B16,
    /// `.b32`
    B32,
    /// `.b64`
    B64,
    /// `.b128`
    B128,
    /// `.b1024`
    B1024,
    /// `.u8`
    U8,
    /// `.u16`
    U16,
    /// `.u32`
    U32,
    /// `.u64`
    U64,
    /// `.s8`
    S8,
    /// `.s16`
    S16,
    /// `.s32`
    S32,
    /// `.s64`
    S64,
    /// `.f16`
    F16,
    /// `.f32`
    F32,
    /// `.f64`
    F64,
    /// `.bf16`
    Bf16,
    /// `.tf32`
    Tf32,
    /// `.f16x2`
    F16x2,
    /// `.bf16x2`
    Bf16x2,
    /// `.f32x2`
    F32x2,
    /// `.u16x2`
    U16x2,
    /// `.s16x2`
    S16x2,
    /// `.u8x4`
    U8x4,
    /// `.s8x4`
    S8x4,
    /// `.e4m3x2`
    E4m3x2,
    /// `.e5m2x2`
    E5m2x2,
    /// `.e2m1x2`
    E2m1x2,
    /// `.e2m3x2`
    E2m3x2,
    /// `.e3m2x2`
    E3m2x2,
    /// `.ue8m0x2`
    Ue8m0x2,
    /// `.ue5m3x2`
    Ue5m3x2,
    /// `.s2f6x2`
    S2f6x2,
    /// `.e4m3x4`
    E4m3x4,
    /// `.e5m2x4`
    E5m2x4,
    /// `.e2m1x4`
    E2m1x4,
    /// `.e2m3x4`
    E2m3x4,
    /// `.e3m2x4`
    E3m2x4,
    /// `.e2m1p4x4`
    E2m1p4x4,
    /// `.ue8m0x4`
    Ue8m0x4,
    /// `.texref`
    Texref,
    /// `.samplerref`
    Samplerref,
    /// `.surfref`
    Surfref,
}

/// The kind of number that a type holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// `.pred`
    Pred,
    /// `.b*`
    Bits,
    /// `.u*`
    Unsigned,
    /// `.s*`
    Signed,
    /// `.f*`, `.bf16`, `.tf32`
    Float,
    /// Packed, in an untyped register of that width.
    Packed,
    /// `.texref`, ...
    Opaque,
}

const ALL: &[(&str, Ty, Class)] = &[
    ("pred", Ty::Pred, Class::Pred),
    ("b8", Ty::B8, Class::Bits),
    ("b16", Ty::B16, Class::Bits),
    ("b32", Ty::B32, Class::Bits),
    ("b64", Ty::B64, Class::Bits),
    ("b128", Ty::B128, Class::Bits),
    ("b1024", Ty::B1024, Class::Bits),
    ("u8", Ty::U8, Class::Unsigned),
    ("u16", Ty::U16, Class::Unsigned),
    ("u32", Ty::U32, Class::Unsigned),
    ("u64", Ty::U64, Class::Unsigned),
    ("s8", Ty::S8, Class::Signed),
    ("s16", Ty::S16, Class::Signed),
    ("s32", Ty::S32, Class::Signed),
    ("s64", Ty::S64, Class::Signed),
    ("f16", Ty::F16, Class::Float),
    ("f32", Ty::F32, Class::Float),
    ("f64", Ty::F64, Class::Float),
    ("bf16", Ty::Bf16, Class::Float),
    ("tf32", Ty::Tf32, Class::Float),
    ("f16x2", Ty::F16x2, Class::Packed),
    ("bf16x2", Ty::Bf16x2, Class::Packed),
    ("f32x2", Ty::F32x2, Class::Packed),
    ("u16x2", Ty::U16x2, Class::Packed),
    ("s16x2", Ty::S16x2, Class::Packed),
    ("u8x4", Ty::U8x4, Class::Packed),
    ("s8x4", Ty::S8x4, Class::Packed),
    ("e4m3x2", Ty::E4m3x2, Class::Packed),
    ("e5m2x2", Ty::E5m2x2, Class::Packed),
    ("e2m1x2", Ty::E2m1x2, Class::Packed),
    ("e2m3x2", Ty::E2m3x2, Class::Packed),
    ("e3m2x2", Ty::E3m2x2, Class::Packed),
    ("ue8m0x2", Ty::Ue8m0x2, Class::Packed),
    ("ue5m3x2", Ty::Ue5m3x2, Class::Packed),
    ("s2f6x2", Ty::S2f6x2, Class::Packed),
    ("e4m3x4", Ty::E4m3x4, Class::Packed),
    ("e5m2x4", Ty::E5m2x4, Class::Packed),
    ("e2m1x4", Ty::E2m1x4, Class::Packed),
    ("e2m3x4", Ty::E2m3x4, Class::Packed),
    ("e3m2x4", Ty::E3m2x4, Class::Packed),
    ("e2m1p4x4", Ty::E2m1p4x4, Class::Packed),
    ("ue8m0x4", Ty::Ue8m0x4, Class::Packed),
    ("texref", Ty::Texref, Class::Opaque),
    ("samplerref", Ty::Samplerref, Class::Opaque),
    ("surfref", Ty::Surfref, Class::Opaque),
];

impl Ty {
    /// From a name without its dot.
    pub fn from_name(name: &str) -> Option<Ty> {
        ALL.iter().find(|row| row.0 == name).map(|row| row.1)
    }

    fn row(self) -> &'static (&'static str, Ty, Class) {
        ALL.iter().find(|row| row.1 == self).unwrap_or(&ALL[0])
    }

    /// Its position in the list of types.
    pub fn index(self) -> usize {
        self as usize
    }

    /// The type at this position.
    pub fn from_index(index: usize) -> Option<Ty> {
        ALL.get(index).map(|row| row.1)
    }

    /// Its name, without the dot.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// The qualifier that names it.
    pub fn qualifier(self) -> Qualifier {
        Qualifier::from_word(self.name()).unwrap_or(q::b32)
    }

    /// Width in bits (a predicate has one).
    #[inline(always)]
    pub const fn bits(self) -> u32 {
        match self {
            Ty::Pred => 1,
            Ty::B8 | Ty::U8 | Ty::S8 | Ty::E2m1x2 => 8,
            Ty::B16 | Ty::U16 | Ty::S16 | Ty::F16 | Ty::Bf16 => 16,
            Ty::E4m3x2 | Ty::E5m2x2 | Ty::E2m3x2 | Ty::E3m2x2 | Ty::Ue8m0x2 => 16,
            Ty::Ue5m3x2 | Ty::S2f6x2 | Ty::E2m1x4 => 16,
            Ty::B32 | Ty::U32 | Ty::S32 | Ty::F32 | Ty::Tf32 | Ty::F16x2 | Ty::Bf16x2 => 32,
            Ty::U16x2 | Ty::S16x2 | Ty::U8x4 | Ty::S8x4 => 32,
            Ty::E4m3x4 | Ty::E5m2x4 | Ty::E2m3x4 | Ty::E3m2x4 | Ty::E2m1p4x4 | Ty::Ue8m0x4 => 32,
            Ty::B64 | Ty::U64 | Ty::S64 | Ty::F64 | Ty::F32x2 | Ty::Texref | Ty::Samplerref | Ty::Surfref => 64,
            Ty::B128 => 128,
            Ty::B1024 => 1024,
        }
    }

    /// Width in bytes, at least one.
    #[inline(always)]
    pub const fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// `.s8` to `.s64` (not the packed ones).
    #[inline(always)]
    pub const fn is_signed(self) -> bool {
        matches!(self, Ty::S8 | Ty::S16 | Ty::S32 | Ty::S64)
    }

    /// `.f16` to `.f64`, `.bf16`, `.tf32` (not the packed ones).
    #[inline(always)]
    pub const fn is_float(self) -> bool {
        matches!(self, Ty::F16 | Ty::F32 | Ty::F64 | Ty::Bf16 | Ty::Tf32)
    }

    /// The kind of number that it holds.
    pub fn class(self) -> Class {
        self.row().2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_finds_its_own_row() {
        for (name, ty, class) in ALL {
            assert_eq!((Ty::from_name(name), ty.name(), ty.class()), (Some(*ty), *name, *class));
            assert_eq!(ty.qualifier().word(), *name);
            // `.u16` has 16 bits.
            let width: Option<u32> = name.trim_start_matches(|c: char| c.is_ascii_alphabetic()).parse().ok();
            assert!(width.is_none_or(|width| ty.bits() == width), "{name}");
        }
    }
}
