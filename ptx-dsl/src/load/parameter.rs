//! Parameters of a loaded kernel, and arguments that are checked against their types.

use super::code::Source;
use crate::Arg;
use ptx_dsl_frontend::hir::{Function, Param};
use ptx_dsl_frontend::ty::Class;
use ptx_dsl_runtime::{Ty, launch};
use std::fmt;

/// A parameter of a kernel.
///
/// [Example](crate::load).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parameter {
    /// As declared.
    pub name: String,
    /// Its type in PTX; of an array that of its elements.
    pub ty: Ty,
    /// Bytes in all.
    pub size: u32,
    /// In bytes.
    pub align: u32,
    /// It is an array: a struct, a tensor map.
    pub is_array: bool,
    /// It is declared as a pointer.
    pub pointer: Option<Pointer>,
}

/// What a pointer parameter points to.
///
/// [Example](crate::load).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pointer {
    /// The state space, such as `global`; `None` for a generic address.
    pub space: Option<&'static str>,
    /// The alignment that `.ptr` promises, in bytes.
    pub align: u32,
    /// The element type, where the text has a Rust type such as `x: &mut [f32]`.
    pub element: Option<Ty>,
    /// The Rust type is `&[T]`.
    pub read_only: bool,
}

/// A Rust type of elements and values.
///
/// [Example](crate::load).
pub trait Element: bytemuck::Pod {
    /// The same in PTX.
    const TYPE: Ty;
}

macro_rules! elements {
    ($($t:ty => $ty:ident,)*) => { $(impl Element for $t {
        const TYPE: Ty = Ty::$ty;
    })* };
}
elements! {
    u8 => U8, u16 => U16, u32 => U32, u64 => U64,
    i8 => S8, i16 => S16, i32 => S32, i64 => S64,
    f32 => F32, f64 => F64,
}

/// A value or buffer has another type than the parameter.
///
/// [Example](crate::load).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongType {
    /// Name of the parameter.
    pub name: String,
    /// What the parameter wants.
    pub wanted: String,
    /// What was given.
    pub given: String,
}

impl fmt::Display for WrongType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` wants {}, but {} was given", self.name, self.wanted, self.given)
    }
}

impl std::error::Error for WrongType {}

impl Parameter {
    /// Can an address be passed?
    pub fn takes_buffer(&self) -> bool {
        self.size == 8 && !self.is_array && !self.ty.is_float()
    }

    /// A buffer that the kernel may write, as an argument.
    ///
    /// # Errors
    /// The parameter is not an address, or the text has another element type.
    pub fn slice_mut<'a, T: Element>(&self, data: &'a mut [T]) -> Result<Arg<'a>, WrongType> {
        self.check_elements(T::TYPE)?;
        Ok(launch::slice_mut(data))
    }

    /// A buffer that the kernel may only read, as an argument.
    ///
    /// # Errors
    /// As [`Parameter::slice_mut`].
    pub fn slice<'a, T: Element>(&self, data: &'a [T]) -> Result<Arg<'a>, WrongType> {
        self.check_elements(T::TYPE)?;
        Ok(launch::slice(data))
    }

    /// A value, as an argument.
    ///
    /// # Errors
    /// The parameter has another type. `.b32` takes every type of 32 bits, and an integer may have another sign.
    pub fn value<T: Element>(&self, value: T) -> Result<Arg<'static>, WrongType> {
        if self.pointer.is_some() || self.is_array || !fits(T::TYPE, self.ty) {
            return Err(self.wrong(format!("a value of `.{}`", T::TYPE.name())));
        }
        Ok(launch::scalar(value))
    }

    fn check_elements(&self, given: Ty) -> Result<(), WrongType> {
        let element = self.pointer.as_ref().and_then(|p| p.element);
        if self.takes_buffer() && element.is_none_or(|wanted| fits(given, wanted)) {
            return Ok(());
        }
        Err(self.wrong(format!("a buffer of `.{}`", given.name())))
    }

    fn wrong(&self, given: String) -> WrongType {
        WrongType { name: self.name.clone(), wanted: self.to_string(), given }
    }
}

/// Can a value of the type `given` be used as one of the type `wanted`?
fn fits(given: Ty, wanted: Ty) -> bool {
    let float = |ty: Ty| ty.class() == Class::Float;
    given.bits() == wanted.bits() && (wanted.class() == Class::Bits || float(given) == float(wanted))
}

/// In words: `a buffer of .f32 in global memory`.
impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ty = self.ty.name();
        match &self.pointer {
            Some(p) => {
                f.write_str("a buffer")?;
                if let Some(element) = p.element {
                    write!(f, " of `.{}`", element.name())?;
                }
                if let Some(space) = p.space {
                    write!(f, " in {space} memory")?;
                }
                match p.align {
                    1 => Ok(()),
                    align => write!(f, ", aligned to {align} bytes"),
                }
            }
            None if self.is_array => write!(f, "{} bytes", self.size),
            None => write!(f, "a value of `.{ty}`"),
        }
    }
}

/// The parameters of a kernel.
pub(super) fn parameters(source: &Source, function: &Function) -> Vec<Parameter> {
    function.params.iter().map(|p| parameter(source, p)).collect()
}

fn parameter(source: &Source, p: &Param) -> Parameter {
    let written = p.rust_type.and_then(|span| source.text.get(source.lexed.bytes(span)));
    let slice = written.and_then(slice_type);
    let align = p.ptr.map_or(1, |(_, align)| align.max(1));
    let pointer = (p.ptr.is_some() || slice.is_some()).then(|| Pointer {
        space: p.ptr.and_then(|(space, _)| space).map(|space| space.name()),
        align,
        element: slice.and_then(|(_, element)| element_type(element)),
        read_only: slice.is_some_and(|(mutable, _)| !mutable),
    });
    Parameter { name: p.name.clone(), ty: p.ty, size: p.size, align: p.align, is_array: p.array, pointer }
}

/// `&[T]` or `&mut [T]`: is it mutable, and its `T`.
fn slice_type(text: &str) -> Option<(bool, &str)> {
    let mut rest = text.trim().strip_prefix('&')?.trim_start();
    if let Some(lifetime) = rest.strip_prefix('\'') {
        rest = lifetime.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_').trim_start();
    }
    let unmarked = rest.strip_prefix("mut").filter(|r| r.starts_with([' ', '\t', '\n', '\r', '[']));
    let element = unmarked.unwrap_or(rest).trim().strip_prefix('[')?.strip_suffix(']')?;
    Some((unmarked.is_some(), element.trim()))
}

/// `f32`, `half::f16`
fn element_type(path: &str) -> Option<Ty> {
    Some(match path.rsplit("::").next()?.trim() {
        "u8" => Ty::U8,
        "u16" => Ty::U16,
        "u32" => Ty::U32,
        "u64" => Ty::U64,
        "i8" => Ty::S8,
        "i16" => Ty::S16,
        "i32" => Ty::S32,
        "i64" => Ty::S64,
        "f16" => Ty::F16,
        "bf16" => Ty::Bf16,
        "f32" => Ty::F32,
        "f64" => Ty::F64,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_read_from_text() {
        assert_eq!(slice_type("&mut [f32]"), Some((true, "f32")));
        assert_eq!(slice_type("& 'static mut [half::f16]"), Some((true, "half::f16")));
        assert_eq!(slice_type("&[u32]"), Some((false, "u32")));
        assert_eq!(slice_type("&'a[ u8 ]"), Some((false, "u8")));
        for other in ["f32", "&f32", "&mut f32", "&mutable [f32]", "& mut [f32", "", "&"] {
            assert_eq!(slice_type(other), None, "{other}");
        }
        assert_eq!(element_type("half::f16"), Some(Ty::F16));
        assert_eq!(element_type("Pixel"), None);
    }

    #[test]
    fn untyped_bits_take_every_type_of_their_width() {
        let all = [Ty::F32, Ty::U32, Ty::S32, Ty::B32, Ty::U64, Ty::F64];
        let fitting = |wanted| all.map(|given| fits(given, wanted));
        assert_eq!(fitting(Ty::B32), [true, true, true, true, false, false]);
        assert_eq!(fitting(Ty::U32), [false, true, true, true, false, false]);
        assert_eq!(fitting(Ty::F32), [true, false, false, false, false, false]);
        assert_eq!(fitting(Ty::F64), [false, false, false, false, false, true]);
    }
}
