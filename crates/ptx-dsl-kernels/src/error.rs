//! Why a function of this crate did not run its kernel, or why the kernel failed.

use ptx_dsl::tensor_map::TensorMapError;

/// Why a function of this crate failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A slice has another length than the shape says.
    #[error("`{name}` has {has} elements instead of {wants}")]
    Length {
        /// The parameter.
        name: &'static str,
        /// Elements of the slice.
        has: usize,
        /// Elements of the shape.
        wants: usize,
    },
    /// A dimension is one that the kernel does not take.
    #[error("`{name}` is {has}, but must be {wants}")]
    Dimension {
        /// The dimension.
        name: &'static str,
        /// Its size.
        has: usize,
        /// What the kernel takes.
        wants: &'static str,
    },
    /// The driver would refuse a tensor map.
    #[error(transparent)]
    Map(#[from] TensorMapError),
    /// The device does not measure launches.
    #[error("the device reports no time: `gpu.timed()` does")]
    NoTime,
    /// The file of plans cannot be written.
    #[error("cannot write {}: {error}", file.display())]
    File {
        /// Its path.
        file: std::path::PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The launch failed.
    #[error(transparent)]
    Launch(#[from] ptx_dsl::Error),
}

impl Error {
    /// Fails unless a slice has the elements of its shape.
    pub(crate) fn unless_length(name: &'static str, has: usize, wants: usize) -> Result<(), Error> {
        if has == wants { Ok(()) } else { Err(Error::Length { name, has, wants }) }
    }

    /// A dimension of a launch as 32 bits.
    pub(crate) fn unless_u32(name: &'static str, has: usize) -> Result<u32, Error> {
        u32::try_from(has).map_err(|_| Error::Dimension { name, has, wants: "less than 2^32" })
    }
}
