//! A device, which runs kernels: a host, or a device of another crate, such as `ptx_dsl::cuda::Gpu`.

use crate::api::host::{Host, Options, Report};
use crate::api::kernel_fn::Printed;
use crate::api::launch::{self, Arg, Error, Launch, LaunchError};
use crate::engines::compiled::Compiled;
use crate::engines::interpreter::Executable;
use crate::kernel::KernelInfo;
use std::sync::Arc;

/// A device that runs kernels: a [`Host`], or a GPU (`ptx_dsl::cuda::Gpu`). `launch`, `launch_raw` and `on` of a kernel take either, and
/// `&dyn Device` too.
///
/// ```
/// # mod ptx_dsl {
/// #     pub use ptx_dsl_runtime::*;
/// #     pub mod launch { pub use ptx_dsl_runtime::Device; }
/// # }
/// use ptx_dsl::launch::Device;
/// use ptx_dsl::{Error, Host, KernelFn, Launch, Report};
///
/// fn run<D: Device>(kernel: impl KernelFn, device: &D) -> Result<Report, Error> {
///     kernel.launch_raw(device, Launch::grid(1), &mut [])
/// }
/// let (plain, checked) = (Host::new(), Host::checked());
/// let devices: [&dyn Device; 2] = [&plain, &checked];
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` runs no kernels",
    label = "no device",
    note = "a kernel is launched on a host, `&Host::new()`, or on a GPU, `&gpu` (`ptx_dsl::cuda::Gpu`, with the feature `cuda`)"
)]
pub trait Device {
    /// Runs a kernel. Its results are in the buffers of `args` when the call returns.
    ///
    /// # Errors
    /// The launch or an argument does not suit the kernel or the device, or the kernel fails.
    fn launch_code(&self, code: &KernelCode<'_>, launch: Launch, args: &mut [Arg<'_>]) -> Result<Report, Error>;

    /// Runs a kernel of `ptx!` or `include_ptx!`. A device that is no host does not name the kernel's compiled code here, so a program
    /// without hosts has none.
    ///
    /// # Errors
    /// As [`launch_code`](Device::launch_code).
    fn launch_kernel<K: Printed>(&self, launch: Launch, args: &mut [Arg<'_>]) -> Result<Report, Error>
    where
        Self: Sized,
    {
        self.launch_code(&KernelCode::of::<K>(), launch, args)
    }
}

/// A kernel without its Rust type, as a [`Device`] takes it.
#[derive(Debug, Clone, Copy)]
pub struct KernelCode<'k> {
    info: &'k KernelInfo<'k>,
    name: &'k str,
    ptx: &'k str,
    /// The text again, if the module was loaded at run time.
    shared: Option<&'k Arc<str>>,
    engines: Engines<'k>,
}

/// The code of a kernel for a host.
#[derive(Debug, Clone, Copy)]
enum Engines<'k> {
    /// A kernel of the program, with its compiled code if there is any.
    OfProgram(&'static KernelInfo<'static>, fn() -> Option<Compiled>),
    /// A kernel that was loaded at run time.
    Loaded(&'k Executable),
}

impl<'k> KernelCode<'k> {
    /// A kernel of the program.
    pub fn of<K: Printed>() -> Self {
        let engines = Engines::OfProgram(K::INFO, K::compiled);
        KernelCode { info: K::INFO, name: K::NAME, ptx: K::PTX, shared: None, engines }
    }

    /// A kernel of the program without its compiled code: a host interprets it.
    pub fn interpreted<K: Printed>() -> Self {
        let engines = Engines::OfProgram(K::INFO, || None);
        KernelCode { info: K::INFO, name: K::NAME, ptx: K::PTX, shared: None, engines }
    }

    /// A kernel that was loaded at run time: the constants for its launch, its code for the interpreter, and the PTX text of its module.
    pub fn loaded(info: &'k KernelInfo<'k>, image: &'k Executable, ptx: &'k Arc<str>) -> Self {
        KernelCode { info, name: info.name, ptx, shared: Some(ptx), engines: Engines::Loaded(image) }
    }

    /// The constants for its launch.
    pub fn info(&self) -> &'k KernelInfo<'k> {
        self.info
    }

    /// The kernel's name in the PTX text.
    pub fn name(&self) -> &'k str {
        self.name
    }

    /// The PTX text of its module. It stays at its address as long as the program runs, or as long as [`shared_ptx`](Self::shared_ptx).
    pub fn ptx(&self) -> &'k str {
        self.ptx
    }

    /// The PTX text of a module that was loaded at run time. Its lines are those of the file.
    pub fn shared_ptx(&self) -> Option<&'k Arc<str>> {
        self.shared
    }
}

/// A hash of PTX text, by which a build names the module that machine code was made from (FNV-1a, 64 bits).
#[doc(hidden)]
pub fn text_hash(ptx: &str) -> u64 {
    ptx.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

impl<M> Device for Host<M> {
    fn launch_code(&self, code: &KernelCode<'_>, launch: Launch, args: &mut [Arg<'_>]) -> Result<Report, Error> {
        match code.engines {
            Engines::OfProgram(info, compiled) => launch::kernel(info, compiled(), self.options(), launch, &mut [args]),
            Engines::Loaded(image) => launch::loaded(code.info, image, self.options(), launch, &mut [args]),
        }
    }
}

/// Runs a kernel on hosts that share memory, with a list of arguments for each.
pub(crate) fn on_hosts(
    code: &KernelCode<'_>,
    options: &Options,
    launch: Launch,
    count: usize,
    args: &mut [Vec<Arg<'_>>],
) -> Result<Report, Error> {
    if args.len() != count {
        let problem = LaunchError::ListsOfArguments { given: args.len(), devices: count };
        return Err(Error::Launch { kernel: code.name.to_owned(), problem });
    }
    let mut lists: Vec<&mut [Arg<'_>]> = args.iter_mut().map(|list| &mut list[..]).collect();
    match code.engines {
        Engines::OfProgram(info, compiled) => launch::kernel(info, compiled(), options, launch, &mut lists),
        Engines::Loaded(image) => launch::loaded(code.info, image, options, launch, &mut lists),
    }
}

macro_rules! pointers {
    ($($pointer:ty),*) => { $(
        impl<D: Device> Device for $pointer {
            fn launch_code(&self, code: &KernelCode<'_>, launch: Launch, args: &mut [Arg<'_>]) -> Result<Report, Error> {
                (**self).launch_code(code, launch, args)
            }

            fn launch_kernel<K: Printed>(&self, launch: Launch, args: &mut [Arg<'_>]) -> Result<Report, Error> {
                (**self).launch_kernel::<K>(launch, args)
            }
        }
    )* };
}
pointers!(&D, Arc<D>);

impl Device for &dyn Device {
    fn launch_code(&self, code: &KernelCode<'_>, launch: Launch, args: &mut [Arg<'_>]) -> Result<Report, Error> {
        (**self).launch_code(code, launch, args)
    }
}
