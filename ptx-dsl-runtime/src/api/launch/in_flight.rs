//! Arguments of launches that return before the kernel has ended.

use crate::api::buffer::Buffer;
use crate::api::launch::args::Arg;
use crate::api::param::Param;
use crate::api::tensor_map::TensorMap;
use bytemuck::Pod;

/// An argument of a launch on a stream, which may return before the kernel has ended: memory is borrowed for `'s`, until the scope of the
/// stream ends. Slices, vectors, arrays, buffers, tensor maps and values are such arguments. So is memory that is lent to a scope of a GPU
/// (`ptx_dsl::cuda::Lent`), which several launches can write.
///
/// `S` is the type of a value that only the scope has: memory that is lent becomes a slice for a launch of its scope, and for nobody else.
/// So this trait is for the crates of `ptx-dsl` to implement, and for nobody else to call.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no argument of a launch that returns at once",
    note = "memory is `&x` or `&mut x` from outside of the scope, or lent: `let mut x = scope.lend(&mut x);`, then `&x` or `&mut x`",
    note = "a reference to another type is given as a slice: `&x[..]`"
)]
pub trait InFlight<'s, S> {
    /// The type of the argument of a launch that waits.
    type Argument;

    /// The argument of a launch that waits.
    fn argument(self, scope: &S) -> Self::Argument;
}

/// A tuple of arguments of a launch on a stream.
#[doc(hidden)]
pub trait AllInFlight<'s, S> {
    /// The tuple of a launch that waits.
    type Arguments;

    /// The tuple of a launch that waits.
    fn arguments(self, scope: &S) -> Self::Arguments;
}

impl<S, T: Param> InFlight<'_, S> for T {
    type Argument = T;

    fn argument(self, _: &S) -> T {
        self
    }
}

impl<'s, S> InFlight<'s, S> for Arg<'s> {
    type Argument = Arg<'s>;

    fn argument(self, _: &S) -> Arg<'s> {
        self
    }
}

impl<'s, 't, S> InFlight<'s, S> for &'s TensorMap<'t> {
    type Argument = &'s TensorMap<'t>;

    fn argument(self, _: &S) -> Self {
        self
    }
}

macro_rules! memory {
    ($($t:ty $(, $n:ident)?;)*) => { $(
        impl<'s, S, T: Pod $(, const $n: usize)?> InFlight<'s, S> for &'s $t {
            type Argument = &'s [T];

            fn argument(self, _: &S) -> &'s [T] {
                &self[..]
            }
        }

        impl<'s, S, T: Pod $(, const $n: usize)?> InFlight<'s, S> for &'s mut $t {
            type Argument = &'s mut [T];

            fn argument(self, _: &S) -> &'s mut [T] {
                &mut self[..]
            }
        }
    )* };
}
memory! { [T]; Vec<T>; [T; N], N; Buffer<T>; }

macro_rules! tuples {
    ($($($name:ident)*;)*) => { $(
        #[allow(non_snake_case, unused_variables, clippy::unused_unit)]
        impl<'s, Scope, $($name: InFlight<'s, Scope>),*> AllInFlight<'s, Scope> for ($($name,)*) {
            type Arguments = ($($name::Argument,)*);

            fn arguments(self, scope: &Scope) -> Self::Arguments {
                let ($($name,)*) = self;
                ($($name.argument(scope),)*)
            }
        }
    )* };
}
tuples! {
    ;
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
    A B C D E F G H I;
    A B C D E F G H I J;
    A B C D E F G H I J K;
    A B C D E F G H I J K L;
    A B C D E F G H I J K L M;
    A B C D E F G H I J K L M N;
    A B C D E F G H I J K L M N O;
    A B C D E F G H I J K L M N O P;
}
