//! The registers that a faulty statement has read.

use crate::numerics::qual::Ty;

/// The value of a register in a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegisterValue {
    /// The name in the PTX text.
    pub name: String,
    /// The value, zero-extended.
    pub bits: u64,
    /// The value in words, in the type of the statement.
    pub text: String,
}

impl RegisterValue {
    /// A register of this many bits that a statement with these types reads. `place`: what is at the address that it holds.
    pub(crate) fn new(
        name: String,
        (bits, width): (u64, u8),
        (statement, types): (&str, &[Ty]),
        place: Option<String>,
    ) -> Self {
        let text = match place {
            Some(place) => format!("{bits:#x} ({place})"),
            None if names_address(statement, &name) => format!("{bits:#x}"),
            None => in_words(bits, width, types.iter().find(|ty| ty.bits() == u32::from(width) || width == 1).copied()),
        };
        RegisterValue { name, bits, text }
    }
}

/// Does the statement use the register as an address: `[%rd1]`, `[%rd1+4]`?
fn names_address(statement: &str, name: &str) -> bool {
    statement.split('[').skip(1).any(|rest| {
        let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$');
        rest.strip_prefix(name).is_some_and(ends)
    })
}

/// A value of this type; an unsigned number if it is unknown and small.
fn in_words(bits: u64, width: u8, ty: Option<Ty>) -> String {
    match (width, ty) {
        (1, _) => (bits & 1 != 0).to_string(),
        (_, Some(Ty::F32)) => format!("{:?}", f32::from_bits(bits as u32)),
        (_, Some(Ty::F64)) => format!("{:?}", f64::from_bits(bits)),
        (_, Some(ty)) if ty.is_signed() => {
            let unused = 64 - u32::from(width).clamp(1, 64);
            ((bits << unused).cast_signed() >> unused).to_string()
        }
        (_, Some(Ty::U8 | Ty::U16 | Ty::U32 | Ty::U64)) => bits.to_string(),
        // larger ones are descriptors, masks and addresses
        (8..=32, None) if bits < 1 << 16 => bits.to_string(),
        _ => format!("{bits:#x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_type_of_the_statement() {
        assert_eq!(in_words(0x4020_0000, 32, Some(Ty::F32)), "2.5");
        assert_eq!(in_words(0xffff_fffe, 32, Some(Ty::S32)), "-2");
        assert_eq!(in_words(0xffff_fffe, 32, Some(Ty::U32)), "4294967294");
        assert_eq!(in_words(0xfffe, 16, Some(Ty::S16)), "-2");
        assert_eq!(in_words(70, 32, Some(Ty::B32)), "0x46");
        assert_eq!(in_words(70, 32, None), "70");
        assert_eq!(in_words(0x0802_0010, 32, None), "0x8020010");
        assert_eq!(in_words(70, 64, None), "0x46");
        assert_eq!(in_words(1, 1, Some(Ty::F32)), "true");
        assert_eq!(in_words(u64::MAX, 64, Some(Ty::S64)), "-1");
    }

    #[test]
    fn addresses_are_in_brackets() {
        let store = "st.shared.u32 [%r1+4], %r12;";
        assert!(names_address(store, "%r1") && !names_address(store, "%r12") && !names_address(store, "%r"));
        assert!(!names_address("ld.global.u32 %r1, [%rd1];", "%r1"));
    }
}
