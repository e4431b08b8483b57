//! Calls of the driver, with errors that name the call.

use crate::error::GpuError;
use cudarc::driver::result::DriverError;
use cudarc::driver::sys::CUresult;

/// Turns the result of a call into an error that names the call.
pub(crate) trait Called {
    /// What the call returned.
    type Value;

    /// `call`: the function of the driver.
    fn of(self, call: &'static str) -> Result<Self::Value, GpuError>;
}

impl Called for CUresult {
    type Value = ();

    fn of(self, call: &'static str) -> Result<(), GpuError> {
        self.result().of(call)
    }
}

impl<T> Called for Result<T, DriverError> {
    type Value = T;

    fn of(self, call: &'static str) -> Result<T, GpuError> {
        self.map_err(|error| GpuError::driver(call, error))
    }
}
