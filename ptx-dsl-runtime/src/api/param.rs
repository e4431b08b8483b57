//! Parameters by value: their bytes, and their layout, which const evaluation compares with the kernel.

mod check;
mod passing;

pub use check::{Declared, ParamAccess, ParamKind};
pub use passing::{ByValue, Element, Elements, by_value, elements};

use std::num::Wrapping;

/// A value that a kernel can take as a parameter: a number, an array, or a struct with `#[derive(ptx_dsl::Param)]`.
///
/// ```
/// # extern crate ptx_dsl_runtime as ptx_dsl;
/// use ptx_dsl::Param;
///
/// let mut bytes = [0; 8];
/// [1.0f32, 0.5].write(&mut bytes);
/// assert_eq!(bytes, [0, 0, 128, 63, 0, 0, 0, 63]);
/// assert_eq!(<[f32; 2]>::SHAPE.size, 8);
/// ```
#[diagnostic::on_unimplemented(
    message = "a `{Self}` cannot be passed to a kernel by value",
    label = "no parameter of a kernel",
    note = "numbers, arrays of them, and `#[repr(C)]` structs with `#[derive(ptx_dsl::Param)]` can; `half::f16` and `half::bf16` with the \
            feature `half`",
    note = "device memory is passed as a slice, `&[f32]` or `&mut [f32]`"
)]
pub trait Param: Sized {
    /// The layout.
    const SHAPE: &'static ParamShape;
    /// Writes the value to as many bytes as its size. Bytes between fields stay.
    fn write(&self, bytes: &mut [u8]);
}

/// The layout of a type.
#[derive(Debug, Clone, Copy)]
pub struct ParamShape {
    /// The type, as messages name it.
    pub name: &'static str,
    /// In bytes.
    pub size: usize,
    /// In bytes.
    pub align: usize,
    /// The parts of the type.
    pub parts: Parts,
}

/// The parts of a type.
#[derive(Debug, Clone, Copy)]
pub enum Parts {
    /// An integer.
    Integer,
    /// A floating-point number of this PTX type, without the dot.
    Float(&'static str),
    /// An array of this many values.
    Array(usize, &'static ParamShape),
    /// Fields.
    Fields(&'static [Field]),
}

/// A field of a struct.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// The name of the field, as declared.
    pub name: &'static str,
    /// In bytes, from the beginning of the struct.
    pub offset: usize,
    /// The layout of the field.
    pub shape: &'static ParamShape,
}

macro_rules! numbers {
    ($($ty:ty $(, $float:literal)?;)*) => { $(
        impl Param for $ty {
            const SHAPE: &'static ParamShape = &ParamShape {
                name: stringify!($ty),
                size: size_of::<$ty>(),
                align: align_of::<$ty>(),
                parts: numbers!(@ $($float)?),
            };
            fn write(&self, bytes: &mut [u8]) {
                bytes.copy_from_slice(bytemuck::bytes_of(self));
            }
        }
    )* };
    (@) => { Parts::Integer };
    (@ $float:literal) => { Parts::Float($float) };
}
numbers! {
    u8; i8; u16; i16; u32; i32; u64; i64; u128; i128; usize; isize; bool;
    f32, "f32";
    f64, "f64";
}
#[cfg(feature = "half")]
numbers! {
    half::f16, "f16";
    half::bf16, "bf16";
}

impl<T: Param> Param for Wrapping<T> {
    const SHAPE: &'static ParamShape = T::SHAPE;
    fn write(&self, bytes: &mut [u8]) {
        self.0.write(bytes);
    }
}

impl<T: Param, const N: usize> Param for [T; N] {
    const SHAPE: &'static ParamShape = &ParamShape {
        name: "the array",
        size: size_of::<Self>(),
        align: align_of::<Self>(),
        parts: Parts::Array(N, T::SHAPE),
    };
    fn write(&self, bytes: &mut [u8]) {
        for (value, bytes) in self.iter().zip(bytes.chunks_exact_mut(size_of::<T>().max(1))) {
            value.write(bytes);
        }
    }
}

/// The field or element that begins at `offset`, and is not a struct or array itself; `None` if there is none.
const fn leaf(mut shape: &'static ParamShape, mut offset: usize) -> Option<&'static ParamShape> {
    loop {
        match shape.parts {
            Parts::Integer | Parts::Float(_) => return if offset == 0 { Some(shape) } else { None },
            Parts::Array(n, element) => {
                if element.size == 0 || offset / element.size >= n {
                    return None;
                }
                (offset, shape) = (offset % element.size, element);
            }
            Parts::Fields(fields) => match field(fields, offset) {
                Some(f) => (offset, shape) = (offset - f.offset, f.shape),
                None => return None,
            },
        }
    }
}

/// Does a field or element end before this byte?
const fn ends(mut shape: &'static ParamShape, mut end: usize) -> bool {
    loop {
        match shape.parts {
            Parts::Integer | Parts::Float(_) => return end == shape.size,
            Parts::Array(n, element) => {
                if end == 0 || element.size == 0 || (end - 1) / element.size >= n {
                    return false;
                }
                (end, shape) = ((end - 1) % element.size + 1, element);
            }
            Parts::Fields(fields) => match if end == 0 { None } else { field(fields, end - 1) } {
                Some(f) => (end, shape) = (end - f.offset, f.shape),
                None => return false,
            },
        }
    }
}

/// The field with this byte.
const fn field(fields: &'static [Field], byte: usize) -> Option<&'static Field> {
    let mut n = 0;
    while n < fields.len() {
        if byte >= fields[n].offset && byte - fields[n].offset < fields[n].shape.size {
            return Some(&fields[n]);
        }
        n += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Pair {
        a: u8,
        b: [f32; 2],
    }

    impl Param for Pair {
        const SHAPE: &'static ParamShape = &ParamShape {
            name: "Pair",
            size: 12,
            align: 4,
            parts: Parts::Fields(&[
                Field { name: "a", offset: 0, shape: u8::SHAPE },
                Field { name: "b", offset: 4, shape: <[f32; 2]>::SHAPE },
            ]),
        };
        fn write(&self, bytes: &mut [u8]) {
            self.a.write(&mut bytes[..1]);
            self.b.write(&mut bytes[4..]);
        }
    }

    #[test]
    fn bytes_between_fields_stay() {
        let mut bytes = [0xee; 24];
        [Pair { a: 1, b: [1.0, 2.0] }, Pair { a: 2, b: [0.0, -1.0] }].write(&mut bytes);
        let mut wanted = Vec::new();
        for (a, b) in [(1u8, [1f32, 2.0]), (2, [0.0, -1.0])] {
            wanted.extend([a, 0xee, 0xee, 0xee]);
            wanted.extend(b.iter().flat_map(|b| b.to_le_bytes()));
        }
        assert_eq!(bytes[..], wanted);
        true.write(&mut bytes[..1]);
        assert_eq!(bytes[0], 1);
    }

    #[test]
    fn fields_begin_and_end() {
        let shape = <[Pair; 2]>::SHAPE;
        let starts: Vec<_> = (0..30).filter_map(|at| Some((at, leaf(shape, at)?.name))).collect();
        assert_eq!(starts, [(0, "u8"), (4, "f32"), (8, "f32"), (12, "u8"), (16, "f32"), (20, "f32")]);
        let all: Vec<_> = (0..30).filter(|at| ends(shape, *at)).collect();
        assert_eq!(all, [1, 8, 12, 13, 20, 24]);
        assert_eq!((leaf(<[u32; 0]>::SHAPE, 0).is_none(), ends(<[u32; 0]>::SHAPE, 0)), (true, false));
    }
}
