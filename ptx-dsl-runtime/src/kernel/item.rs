//! Kernels as Rust items: a type with constants, and a function that makes its value.
//!
//! The function has the kernel's name, so that `kernel.launch(..)` is a method call on it. A unit struct, a constant or a static of this
//! name would make `let kernel = ..` an error in the whole module. A function is not a pattern and can be shadowed.

use super::Kernel;
use crate::launch::{self, Arg, Error, Launch};
use crate::{Host, Report};

/// The text of a kernel.
pub trait Printed: Kernel {
    /// The module's PTX text.
    const PTX: &'static str;
    /// The PTX text with this kernel alone, and what it needs of the module.
    const ENTRY_PTX: &'static str;
    /// The kernel's name in it.
    const NAME: &'static str;
}

/// A kernel whose arguments are of the type `A`, a tuple. There is one implementation for each kernel, so rustc infers types in `A` and
/// coerces to them.
pub trait Takes<'a, A>: Printed {
    /// The tuple as a list.
    fn arguments(arguments: A) -> Vec<Arg<'a>>;
}

/// The methods of a kernel item `k`: `k.launch(..)` and others. The macro imports this trait where the kernel is, and the prelude exports
/// it.
///
/// `k` is a function that returns a value of the kernel's type `k`, which has the same methods. So without this trait
/// `kernels::k().launch(..)` works.
///
/// ```
/// # extern crate ptx_dsl_runtime as ptx_dsl;
/// use ptx_dsl::{Host, KernelFn, Launch};
///
/// fn name(kernel: impl KernelFn) -> &'static str {
///     kernel.name()
/// }
/// # fn launch<K: KernelFn>(kernel: K, host: &Host) {
/// let report = kernel.launch_raw(host, Launch::grid(1), &mut []);
/// # }
/// ```
pub trait KernelFn: Fn() -> Self::Kernel {
    /// The kernel's type.
    type Kernel: Printed;

    /// Runs the kernel on the host machine.
    ///
    /// # Errors
    /// If the launch or an argument does not suit the kernel, or the kernel has undefined behaviour, traps or hangs.
    fn launch<'a, M, A>(&self, host: &Host<M>, launch: Launch, arguments: A) -> Result<Report, Error>
    where
        Self::Kernel: Takes<'a, A>,
    {
        typed::<Self::Kernel, M, A>(host, launch, arguments)
    }

    /// Runs the kernel on the host machine with untyped arguments, checked for count, size and alignment.
    ///
    /// # Errors
    /// As [`launch`](KernelFn::launch).
    fn launch_raw<M>(&self, host: &Host<M>, launch: Launch, args: &mut [Arg<'_>]) -> Result<Report, Error> {
        raw::<Self::Kernel, M>(host, launch, args)
    }

    /// The module's PTX text.
    fn ptx(&self) -> &'static str {
        Self::Kernel::PTX
    }

    /// The PTX text with this kernel alone, and what it needs of the module.
    fn entry_ptx(&self) -> &'static str {
        Self::Kernel::ENTRY_PTX
    }

    /// The kernel's name in the PTX text.
    fn name(&self) -> &'static str {
        Self::Kernel::NAME
    }
}

impl<F: Fn() -> K, K: Printed> KernelFn for F {
    type Kernel = K;
}

/// Launches a kernel with a tuple of arguments.
#[doc(hidden)]
pub fn typed<'a, K: Takes<'a, A>, M, A>(host: &Host<M>, launch: Launch, args: A) -> Result<Report, Error> {
    raw::<K, M>(host, launch, &mut K::arguments(args))
}

/// Launches a kernel with untyped arguments.
#[doc(hidden)]
pub fn raw<K: Printed, M>(host: &Host<M>, launch: Launch, args: &mut [Arg<'_>]) -> Result<Report, Error> {
    crate::dump(K::NAME, K::PTX);
    launch::launch::<K, M>(host, launch, args)
}
