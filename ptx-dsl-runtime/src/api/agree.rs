//! A test runs the same launches on several devices, and names the first element on which they do not agree.

mod bound;
mod difference;
mod watched;
mod writer;

pub use bound::Bound;
pub use difference::{AgreeError, Agreed, Difference, Writer};
pub use watched::Watched;

use crate::api::device::Device;
use crate::api::launch::Error;
use std::fmt;
use watched::Recording;

/// Devices that are to agree. [`run`](Agreement::run) runs the same launches on each of them, and compares every buffer that a kernel may
/// write with that of the first device, after every launch: bit by bit, or within a [`Bound`].
///
/// ```
/// # mod ptx_dsl {
/// #     pub use ptx_dsl_runtime::*;
/// #     pub mod agree { pub use ptx_dsl_runtime::agree::*; }
/// # }
/// use ptx_dsl::agree::{Agreement, Bound};
/// use ptx_dsl::{Arg, Error, Host, KernelFn, Launch};
///
/// fn test(kernel: impl KernelFn) -> Result<(), Box<dyn std::error::Error>> {
///     let (host, checked) = (Host::new(), Host::checked());
///     // with the feature `cuda`: `let gpu = unsafe { Gpu::new(0) };`
///     let gpu: Result<Host, &str> = Err("there is no CUDA driver");
///     let agreed = Agreement::new("host", &host)
///         .with("checked host", &checked)
///         .with_if("GPU", gpu.as_ref())
///         .within("y", Bound::f32(1e-5))
///         .run(|device| {
///             let mut y = [0.0f32; 256];
///             kernel.launch_raw(device, Launch::grid(8), &mut [(&mut y).into()])?;
///             Ok(y)
///         })?;
///     // 1 launch: `host` and `checked host` agree; `GPU` was left out: there is no CUDA driver
///     println!("{agreed}");
///     Ok(())
/// }
/// ```
pub struct Agreement<'d> {
    devices: Vec<(String, &'d dyn Device)>,
    left_out: Vec<(String, String)>,
    bounds: Vec<(String, Bound)>,
}

impl<'d> Agreement<'d> {
    /// Starts with the device that others are compared with.
    pub fn new<D: Device>(name: impl Into<String>, device: &'d D) -> Self {
        Agreement { devices: vec![(name.into(), device)], left_out: Vec::new(), bounds: Vec::new() }
    }

    /// Adds a device.
    pub fn with<D: Device>(mut self, name: impl Into<String>, device: &'d D) -> Self {
        self.devices.push((name.into(), device));
        self
    }

    /// Adds a device that may not be there, such as a GPU. If it is not, the others are compared, and [`Agreed::left_out`] says why.
    pub fn with_if<D: Device, E: fmt::Display>(mut self, name: impl Into<String>, device: Result<&'d D, E>) -> Self {
        match device {
            Ok(device) => self.with(name, device),
            Err(error) => {
                self.left_out.push((name.into(), error.to_string()));
                self
            }
        }
    }

    /// Compares the buffers of the parameters of this name as numbers, within a bound. Others must be equal bit by bit.
    pub fn within(mut self, parameter: impl Into<String>, bound: Bound) -> Self {
        self.bounds.push((parameter.into(), bound));
        self
    }

    /// Runs `test` on each device, and compares. `test` must do the same each time; it is run once more on a host to find out who wrote an
    /// element that differs.
    ///
    /// # Errors
    /// `test` fails on a device, the devices have other launches, or a buffer differs.
    pub fn run<R>(&self, test: impl Fn(&Watched<'_>) -> Result<R, Error>) -> Result<Agreed<R>, Box<AgreeError>> {
        let mut results = Vec::new();
        let mut first: Option<Vec<Recording>> = None;
        for (name, device) in &self.devices {
            let watched = Watched::on(*device);
            let result = test(&watched);
            let recordings = watched.into_recordings();
            match &first {
                // what ran before an error may show how it came to it
                Some(first) => self.compare((name, &recordings), first, result.is_ok(), &test)?,
                None => first = Some(recordings),
            }
            results.push(result.map_err(|error| AgreeError::Failed { device: name.clone(), error })?);
        }
        let launches = first.map_or(0, |recordings| recordings.len());
        let devices = self.devices.iter().map(|(name, _)| name.clone()).collect();
        Ok(Agreed { result: results.swap_remove(0), launches, devices, left_out: self.left_out.clone() })
    }

    /// Compares what a device did with what the first one did.
    fn compare<R>(
        &self,
        (device, recordings): (&str, &[Recording]),
        first: &[Recording],
        is_whole: bool,
        test: &impl Fn(&Watched<'_>) -> Result<R, Error>,
    ) -> Result<(), Box<AgreeError>> {
        let names = (self.devices[0].0.as_str(), device);
        for (launch, (one, other)) in first.iter().zip(recordings).enumerate() {
            if !one.is_of_the_same_launch(other) {
                return Err(Box::new(AgreeError::OtherLaunch {
                    launch: launch + 1,
                    first: (names.0.to_owned(), one.kernel.clone()),
                    other: (names.1.to_owned(), other.kernel.clone()),
                }));
            }
            let found = one.buffers.iter().zip(&other.buffers).find_map(|(one, other)| {
                let bound = self.bounds.iter().rev().find(|(name, _)| *name == one.name).map(|(_, bound)| *bound);
                Some((one, other, bound::first_difference(one, other, bound)?))
            });
            let Some((buffer, of_other, found)) = found else { continue };
            let writer = writer::find((launch, one.block), buffer, found.bytes.clone(), test);
            let difference = Difference::new((launch + 1, &one.kernel), names, (buffer, of_other), found, writer);
            return Err(Box::new(AgreeError::Differs(difference)));
        }
        if is_whole && first.len() != recordings.len() {
            return Err(Box::new(AgreeError::Launches {
                first: (names.0.to_owned(), first.len()),
                other: (names.1.to_owned(), recordings.len()),
            }));
        }
        Ok(())
    }
}
