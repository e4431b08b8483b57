//! Several devices that run one kernel at the same time: hosts that share memory, or the GPUs of a machine.

use crate::api::buffer::offset_in_buffer;
use crate::api::device::{self, KernelCode};
use crate::api::host::{Host, Off, Report};
use crate::api::kernel_fn::{KernelFn, Printed};
use crate::api::launch::{Arg, Error, Launch};
use bytemuck::Pod;
use std::cell::{RefCell, RefMut};
use std::fmt;

/// Several devices that run one kernel at the same time, each with arguments of its own, and all with the same dimensions.
///
/// ```
/// # mod ptx_dsl {
/// #     pub use ptx_dsl_runtime::*;
/// #     pub mod launch { pub use ptx_dsl_runtime::group::{Devices, Shared}; }
/// # }
/// use ptx_dsl::launch::{Devices, Shared};
/// use ptx_dsl::{Arg, Error, Host, KernelFn, Launch};
///
/// fn exchange(kernel: impl KernelFn, devices: &impl Devices) -> Result<(), Error> {
///     let (mut of_first, mut of_second) = ([0u32; 64], [0u32; 64]);
///     let (a, b) = (Shared::new(&mut of_first), Shared::new(&mut of_second));
///     // each device gets its own memory, and that of its peer
///     let arguments = [vec![Arg::shared(&a), Arg::shared(&b)], vec![Arg::shared(&b), Arg::shared(&a)]];
///     devices.launch(kernel, Launch::grid(1), arguments)?;
///     Ok(())
/// }
/// # fn main() { let _ = Host::new().devices(2).count(); }
/// ```
pub trait Devices {
    /// The number of devices.
    fn count(&self) -> usize;

    /// Runs a kernel on all devices at the same time, and returns when it has ended on all of them. `arguments` has a list for each device.
    ///
    /// # Errors
    /// The launch or an argument does not suit the kernel or a device, or the kernel fails.
    fn launch_code(
        &self,
        code: &KernelCode<'_>,
        launch: Launch,
        arguments: &mut [Vec<Arg<'_>>],
    ) -> Result<Report, Error>;

    /// Runs a kernel on all devices at the same time. There is a list of arguments for each device.
    ///
    /// # Errors
    /// As [`launch_code`](Devices::launch_code).
    fn launch<'a, K: KernelFn>(
        &self,
        _: K,
        launch: Launch,
        arguments: impl IntoIterator<Item = Vec<Arg<'a>>>,
    ) -> Result<Report, Error>
    where
        Self: Sized,
    {
        crate::api::dump::dump(K::Kernel::NAME, K::Kernel::PTX);
        let mut arguments: Vec<_> = arguments.into_iter().collect();
        self.launch_code(&KernelCode::of::<K::Kernel>(), launch, &mut arguments)
    }
}

/// Hosts that share their memory. Made by [`Host::devices`].
///
/// They are parts of one machine, so that schedules, deadlocks, races and explorations are those of all devices together.
pub struct HostDevices<M = Off> {
    host: Host<M>,
    count: usize,
}

impl<M> fmt::Debug for HostDevices<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostDevices").field("host", &self.host).field("count", &self.count).finish()
    }
}

impl<M> Clone for HostDevices<M> {
    fn clone(&self) -> Self {
        HostDevices { host: self.host.clone(), count: self.count }
    }
}

impl<M> Host<M> {
    /// As many hosts like this one, which run a kernel at the same time and reach each other's memory, as GPUs with peer access do: at
    /// least one.
    pub fn devices(&self, count: usize) -> HostDevices<M> {
        HostDevices { host: self.clone(), count: count.max(1) }
    }
}

impl<M> Devices for HostDevices<M> {
    fn count(&self) -> usize {
        self.count
    }

    fn launch_code(
        &self,
        code: &KernelCode<'_>,
        launch: Launch,
        arguments: &mut [Vec<Arg<'_>>],
    ) -> Result<Report, Error> {
        device::on_hosts(code, self.host.options(), launch, self.count, arguments)
    }
}

/// Memory that several devices access at the same time. What a kernel leaves there is in the elements once this is dropped.
///
/// On GPUs the elements must be those of a [`Buffer`](crate::Buffer) of one of the GPUs.
pub struct Shared<'m> {
    bytes: RefCell<&'m mut [u8]>,
    element: u32,
    in_buffer: u64,
    len: usize,
}

impl<'m> Shared<'m> {
    /// Shares these elements.
    pub fn new<T: Pod>(elements: &'m mut [T]) -> Self {
        let bytes = bytemuck::cast_slice_mut(elements);
        Shared {
            in_buffer: offset_in_buffer(bytes),
            len: bytes.len(),
            bytes: RefCell::new(bytes),
            element: size_of::<T>() as u32,
        }
    }
}

/// Shared memory without the lifetime of its elements.
pub(crate) trait SharedMemory: fmt::Debug {
    /// Bytes of an element.
    fn element(&self) -> u32;

    /// The offset of the first byte in its buffer.
    fn in_buffer(&self) -> u64;

    /// The bytes, unless a launch uses them.
    fn borrow(&self) -> Option<RefMut<'_, [u8]>>;

    /// The number of bytes.
    fn len(&self) -> usize;

    /// The address of the first byte, and the number of bytes.
    fn place(&self) -> Option<(usize, usize)> {
        self.borrow().map(|bytes| (bytes.as_ptr().addr(), bytes.len()))
    }
}

impl SharedMemory for Shared<'_> {
    fn element(&self) -> u32 {
        self.element
    }

    fn in_buffer(&self) -> u64 {
        self.in_buffer
    }

    fn len(&self) -> usize {
        self.len
    }

    fn borrow(&self) -> Option<RefMut<'_, [u8]>> {
        self.bytes.try_borrow_mut().ok().map(|bytes| RefMut::map(bytes, |bytes| &mut **bytes))
    }
}

impl fmt::Debug for Shared<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("element", &self.element).finish_non_exhaustive()
    }
}
