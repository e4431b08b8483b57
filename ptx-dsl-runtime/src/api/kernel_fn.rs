//! Kernels as Rust items: a type with constants, and a function that makes its value.
//!
//! The function has the kernel's name, so that `kernel.launch(..)` is a method call on it. A unit struct, a constant or a static of this
//! name would make `let kernel = ..` an error in the whole module. A function is not a pattern and can be shadowed.

use crate::api::device::Device;
use crate::api::host::Report;
use crate::api::launch::{Arg, Error, Launch};
use crate::engines::compiled::Kernel;
use std::ops::Deref;

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

    /// Runs the kernel on a host or a GPU.
    ///
    /// # Errors
    /// If the launch or an argument does not suit the kernel, or the kernel has undefined behaviour, traps or hangs.
    fn launch<'a, D: Device, A>(&self, device: &D, launch: Launch, arguments: A) -> Result<Report, Error>
    where
        Self::Kernel: Takes<'a, A>,
    {
        typed::<Self::Kernel, D, A>(device, launch, arguments)
    }

    /// Runs the kernel on a host or a GPU with untyped arguments, checked for count, size and alignment.
    ///
    /// # Errors
    /// As [`launch`](KernelFn::launch).
    fn launch_raw<D: Device>(&self, device: &D, launch: Launch, args: &mut [Arg<'_>]) -> Result<Report, Error> {
        raw::<Self::Kernel, D>(device, launch, args)
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

/// What the type of a kernel with listed const parameters dereferences to. If an instance is not in the list, rustc reports that at its
/// values. It then finds the methods here, and reports nothing else.
#[doc(hidden)]
pub enum NoInstance {}

impl NoInstance {
    /// Nobody dereferences a kernel: an instance has these methods itself.
    #[allow(clippy::panic)]
    pub fn none() -> &'static Self {
        panic!("a kernel is no pointer")
    }

    /// As [`KernelFn::launch`].
    pub fn launch<D, A>(&self, _: &D, _: Launch, _: A) -> Result<Report, Error> {
        match *self {}
    }

    /// As [`KernelFn::launch_raw`].
    pub fn launch_raw<D>(&self, _: &D, _: Launch, _: &mut [Arg<'_>]) -> Result<Report, Error> {
        match *self {}
    }

    /// The kernel as a closure.
    pub fn on<D, F>(&self, _: &D, _: Launch) -> F {
        match *self {}
    }

    /// As [`KernelFn::ptx`].
    pub fn ptx(&self) -> &'static str {
        match *self {}
    }

    /// As [`KernelFn::entry_ptx`].
    pub fn entry_ptx(&self) -> &'static str {
        match *self {}
    }

    /// As [`KernelFn::name`].
    pub fn name(&self) -> &'static str {
        match *self {}
    }
}

/// The methods of [`NoInstance`] for the function of a kernel. The methods of [`KernelFn`] come first, because they take `&self`.
#[doc(hidden)]
pub trait NoInstanceFn: Fn() -> Self::Kernel {
    /// The kernel's type.
    type Kernel: Deref<Target = NoInstance>;

    /// As [`KernelFn::launch`].
    fn launch<D, A>(&mut self, device: &D, launch: Launch, arguments: A) -> Result<Report, Error> {
        self().launch(device, launch, arguments)
    }

    /// As [`KernelFn::launch_raw`].
    fn launch_raw<D>(&mut self, device: &D, launch: Launch, args: &mut [Arg<'_>]) -> Result<Report, Error> {
        self().launch_raw(device, launch, args)
    }

    /// The kernel as a closure.
    fn on<D, F>(&mut self, device: &D, launch: Launch) -> F {
        self().on(device, launch)
    }

    /// As [`KernelFn::ptx`].
    fn ptx(&mut self) -> &'static str {
        self().ptx()
    }

    /// As [`KernelFn::entry_ptx`].
    fn entry_ptx(&mut self) -> &'static str {
        self().entry_ptx()
    }

    /// As [`KernelFn::name`].
    fn name(&mut self) -> &'static str {
        self().name()
    }
}

impl<F: Fn() -> K, K: Deref<Target = NoInstance>> NoInstanceFn for F {
    type Kernel = K;
}

/// Launches a kernel with a tuple of arguments.
#[doc(hidden)]
pub fn typed<'a, K: Takes<'a, A>, D: Device, A>(device: &D, launch: Launch, args: A) -> Result<Report, Error> {
    raw::<K, D>(device, launch, &mut K::arguments(args))
}

/// Launches a kernel with untyped arguments.
#[doc(hidden)]
pub fn raw<K: Printed, D: Device>(device: &D, launch: Launch, args: &mut [Arg<'_>]) -> Result<Report, Error> {
    crate::api::dump::dump(K::NAME, K::PTX);
    device.launch_kernel::<K>(launch, args)
}
