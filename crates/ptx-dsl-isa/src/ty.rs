//! PTX types, as far as registers and instructions need them.

/// A fundamental or packed type, named as in PTX.
#[allow(missing_docs)]
#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ty {
    Pred,
    B8, B16, B32, B64, B128, B1024,
    U8, U16, U32, U64,
    S8, S16, S32, S64,
    F16, F32, F64, Bf16, Tf32,
    F16x2, Bf16x2, F32x2,
    U16x2, S16x2, U8x4, S8x4,
    E4m3x2, E5m2x2, E2m1x2, E2m3x2, E3m2x2, Ue8m0x2, Ue5m3x2, S2f6x2,
    E4m3x4, E5m2x4, E2m1x4, E2m3x4, E3m2x4, E2m1p4x4, Ue8m0x4,
    Texref, Samplerref, Surfref,
}

/// What kind of number a type holds.
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
    /// Packed, kept in an untyped register of that width.
    Packed,
    /// `.texref`, ...
    Opaque,
}

const ALL: &[(&str, Ty, u32, Class)] = &[
    ("pred", Ty::Pred, 1, Class::Pred),
    ("b8", Ty::B8, 8, Class::Bits),
    ("b16", Ty::B16, 16, Class::Bits),
    ("b32", Ty::B32, 32, Class::Bits),
    ("b64", Ty::B64, 64, Class::Bits),
    ("b128", Ty::B128, 128, Class::Bits),
    ("b1024", Ty::B1024, 1024, Class::Bits),
    ("u8", Ty::U8, 8, Class::Unsigned),
    ("u16", Ty::U16, 16, Class::Unsigned),
    ("u32", Ty::U32, 32, Class::Unsigned),
    ("u64", Ty::U64, 64, Class::Unsigned),
    ("s8", Ty::S8, 8, Class::Signed),
    ("s16", Ty::S16, 16, Class::Signed),
    ("s32", Ty::S32, 32, Class::Signed),
    ("s64", Ty::S64, 64, Class::Signed),
    ("f16", Ty::F16, 16, Class::Float),
    ("f32", Ty::F32, 32, Class::Float),
    ("f64", Ty::F64, 64, Class::Float),
    ("bf16", Ty::Bf16, 16, Class::Float),
    ("tf32", Ty::Tf32, 32, Class::Float),
    ("f16x2", Ty::F16x2, 32, Class::Packed),
    ("bf16x2", Ty::Bf16x2, 32, Class::Packed),
    ("f32x2", Ty::F32x2, 64, Class::Packed),
    ("u16x2", Ty::U16x2, 32, Class::Packed),
    ("s16x2", Ty::S16x2, 32, Class::Packed),
    ("u8x4", Ty::U8x4, 32, Class::Packed),
    ("s8x4", Ty::S8x4, 32, Class::Packed),
    ("e4m3x2", Ty::E4m3x2, 16, Class::Packed),
    ("e5m2x2", Ty::E5m2x2, 16, Class::Packed),
    ("e2m1x2", Ty::E2m1x2, 8, Class::Packed),
    ("e2m3x2", Ty::E2m3x2, 16, Class::Packed),
    ("e3m2x2", Ty::E3m2x2, 16, Class::Packed),
    ("ue8m0x2", Ty::Ue8m0x2, 16, Class::Packed),
    ("ue5m3x2", Ty::Ue5m3x2, 16, Class::Packed),
    ("s2f6x2", Ty::S2f6x2, 16, Class::Packed),
    ("e4m3x4", Ty::E4m3x4, 32, Class::Packed),
    ("e5m2x4", Ty::E5m2x4, 32, Class::Packed),
    ("e2m1x4", Ty::E2m1x4, 16, Class::Packed),
    ("e2m3x4", Ty::E2m3x4, 32, Class::Packed),
    ("e3m2x4", Ty::E3m2x4, 32, Class::Packed),
    ("e2m1p4x4", Ty::E2m1p4x4, 32, Class::Packed),
    ("ue8m0x4", Ty::Ue8m0x4, 32, Class::Packed),
    ("texref", Ty::Texref, 64, Class::Opaque),
    ("samplerref", Ty::Samplerref, 64, Class::Opaque),
    ("surfref", Ty::Surfref, 64, Class::Opaque),
];

impl Ty {
    /// From a name without its dot.
    pub fn from_name(name: &str) -> Option<Ty> {
        for row in ALL {
            if row.0 == name {
                return Some(row.1);
            }
        }
        None
    }

    fn row(self) -> &'static (&'static str, Ty, u32, Class) {
        for row in ALL {
            if row.1 == self {
                return row;
            }
        }
        &ALL[0]
    }

    /// Its name, without the dot.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// Width in bits (a predicate has one).
    pub fn bits(self) -> u32 {
        self.row().2
    }

    /// Width in bytes, at least one.
    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// What kind of number it holds.
    pub fn class(self) -> Class {
        self.row().3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_finds_its_own_row() {
        for (name, ty, bits, class) in ALL {
            assert_eq!(Ty::from_name(name), Some(*ty));
            assert_eq!((ty.name(), ty.bits(), ty.class()), (*name, *bits, *class));
        }
    }
}
