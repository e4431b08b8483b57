//! How values and slices of a type are passed.
//!
//! Emitted code names the type in one place for each argument and in others for checks, always with the same function: rustc then prints
//! the error of a wrong type once.

use super::{Declared, Param, ParamAccess, ParamShape, check};
use crate::api::launch::{self, Arg};
use bytemuck::Pod;

/// How values of a type are passed.
pub struct ByValue<T> {
    shape: &'static ParamShape,
    arg: fn(T) -> Arg<'static>,
}

/// How values of this type are passed.
pub const fn by_value<T: Param>() -> ByValue<T> {
    ByValue { shape: T::SHAPE, arg: launch::by_value::<T> }
}

impl<T> ByValue<T> {
    /// The argument.
    pub fn arg(self, value: T) -> Arg<'static> {
        (self.arg)(value)
    }

    /// Fails unless the type suits the parameter.
    #[track_caller]
    pub const fn declared(self, p: &Declared) {
        check::declared(self.shape, p);
    }

    /// Fails unless a load suits the fields of the type.
    #[track_caller]
    pub const fn access(self, a: &ParamAccess) {
        check::access(self.shape, a);
    }
}

/// The type of the elements of a slice.
#[diagnostic::on_unimplemented(
    message = "a slice of `{Self}` cannot be passed to a kernel",
    label = "no element of device memory",
    note = "elements are `bytemuck::Pod`, plain data of which all bits are values: numbers without `bool`, arrays, and structs with \
            `#[derive(bytemuck::Pod)]`; a `bool` is a `u8` in device memory"
)]
pub trait Element: Pod {}

#[diagnostic::do_not_recommend]
impl<T: Pod> Element for T {}

/// How slices of a type are passed.
pub struct Elements<T> {
    read: for<'a> fn(&'a [T]) -> Arg<'a>,
    write: for<'a> fn(&'a mut [T]) -> Arg<'a>,
}

/// How slices of this type are passed.
pub const fn elements<T: Element>() -> Elements<T> {
    Elements { read: launch::slice::<T>, write: launch::slice_mut::<T> }
}

impl<T> Elements<T> {
    /// A slice that the kernel reads.
    pub fn slice<'a>(&self, elements: &'a [T]) -> Arg<'a> {
        (self.read)(elements)
    }

    /// A slice that it writes, too.
    pub fn slice_mut<'a>(&self, elements: &'a mut [T]) -> Arg<'a> {
        (self.write)(elements)
    }
}
