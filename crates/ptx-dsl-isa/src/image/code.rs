//! Values as bytes: integers in LEB128 (seven bits a byte, low ones first), lists with their length, variants with their number.

use crate::isa::sreg::SpecialRegister;
use crate::opcode::Opcode;
use crate::qualifier::Qualifier;
use crate::ty::Ty;

/// A value that can be written as bytes and read back.
pub(super) trait Code: Sized {
    fn write(&self, to: &mut Vec<u8>);
    /// `None` if the bytes are no such value.
    fn read(from: &mut &[u8]) -> Option<Self>;
}

/// Declares a type whose fields are written in order, and implements [`Code`].
macro_rules! code {
    ($(#[$meta:meta])* pub struct $name:ident { $($(#[$doc:meta])* pub $field:ident: $ty:ty,)* }) => {
        $(#[$meta])*
        pub struct $name { $($(#[$doc])* pub $field: $ty,)* }

        impl Code for $name {
            fn write(&self, to: &mut Vec<u8>) {
                $(self.$field.write(to);)*
            }
            fn read(from: &mut &[u8]) -> Option<Self> {
                Some($name { $($field: Code::read(from)?,)* })
            }
        }
    };
    ($(#[$meta:meta])* pub enum $name:ident {
        $($(#[$doc:meta])* $variant:ident { $($field:ident: $ty:ty),* },)*
    }) => {
        $(#[$meta])*
        #[allow(missing_docs)]
        pub enum $name { $($(#[$doc])* $variant { $($field: $ty),* },)* }

        impl Code for $name {
            fn write(&self, to: &mut Vec<u8>) {
                let mut number = 0u32;
                $(
                    if let $name::$variant { $($field),* } = self {
                        number.write(to);
                        $($field.write(to);)*
                        return;
                    }
                    number += 1;
                )*
                let _ = number;
            }
            fn read(from: &mut &[u8]) -> Option<Self> {
                let mut number = u32::read(from)?;
                $(
                    if number == 0 {
                        return Some($name::$variant { $($field: Code::read(from)?),* });
                    }
                    number = number.wrapping_sub(1);
                )*
                let _ = number;
                None
            }
        }
    };
}
pub(super) use code;

impl Code for u64 {
    fn write(&self, to: &mut Vec<u8>) {
        let mut rest = *self;
        while rest >= 0x80 {
            to.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        to.push(rest as u8);
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (first, rest) = from.split_first()?;
            *from = rest;
            value |= u64::from(first & 0x7f) << shift;
            if first & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }
}

macro_rules! narrow {
    ($($ty:ty)*) => {$(
        impl Code for $ty {
            fn write(&self, to: &mut Vec<u8>) {
                u64::from(*self).write(to);
            }
            fn read(from: &mut &[u8]) -> Option<Self> {
                u64::read(from)?.try_into().ok()
            }
        }
    )*};
}
narrow!(u8 u16 u32);

/// Zigzag: small numbers of either sign take few bytes.
impl Code for i64 {
    fn write(&self, to: &mut Vec<u8>) {
        ((*self << 1) ^ (*self >> 63)).cast_unsigned().write(to);
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        let bits = u64::read(from)?;
        Some((bits >> 1).cast_signed() ^ -((bits & 1).cast_signed()))
    }
}

impl Code for bool {
    fn write(&self, to: &mut Vec<u8>) {
        u64::from(*self).write(to);
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        match u64::read(from)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl<T: Code> Code for Vec<T> {
    fn write(&self, to: &mut Vec<u8>) {
        (self.len() as u64).write(to);
        self.iter().for_each(|element| element.write(to));
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        let length = u64::read(from)?;
        // each element takes a byte at least
        let mut list = Vec::with_capacity((length as usize).min(from.len()));
        for _ in 0..length {
            list.push(T::read(from)?);
        }
        Some(list)
    }
}

impl Code for String {
    fn write(&self, to: &mut Vec<u8>) {
        self.clone().into_bytes().write(to);
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        String::from_utf8(Vec::read(from)?).ok()
    }
}

impl<T: Code> Code for Option<T> {
    fn write(&self, to: &mut Vec<u8>) {
        self.is_some().write(to);
        if let Some(value) = self {
            value.write(to);
        }
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        Some(if bool::read(from)? { Some(T::read(from)?) } else { None })
    }
}

impl<A: Code, B: Code> Code for (A, B) {
    fn write(&self, to: &mut Vec<u8>) {
        self.0.write(to);
        self.1.write(to);
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        Some((A::read(from)?, B::read(from)?))
    }
}

macro_rules! ids {
    ($($ty:ty)*) => {$(
        impl Code for $ty {
            fn write(&self, to: &mut Vec<u8>) {
                (self.index() as u32).write(to);
            }
            fn read(from: &mut &[u8]) -> Option<Self> {
                <$ty>::from_index(u32::read(from)? as usize)
            }
        }
    )*};
}
ids!(Opcode Qualifier SpecialRegister Ty);
