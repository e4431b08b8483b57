//! Explains the failure of a launch: the checked host runs it again, from copies of its inputs.

use ptx_dsl_runtime::device::KernelCode;
use ptx_dsl_runtime::launch::{Arg, GlobalBytes, Passed};
use ptx_dsl_runtime::{Device, Error, Fault, Fields, Host, Launch, TensorMap};

/// Copies of the arguments of a launch.
pub(crate) struct Snapshot(Vec<Copied>);

enum Copied {
    Value(Vec<u8>),
    Buffer {
        bytes: Vec<u8>,
        offset: u64,
        writable: bool,
    },
    TensorMap {
        fields: Fields,
        bytes: Vec<u8>,
    },
    /// A map over the buffer of another argument, whose place in the memory of a host is known only to a launch, or memory that several devices
    /// share: it is not copied.
    Other,
}

impl Snapshot {
    pub fn of(passed: &[Passed<'_>]) -> Self {
        let copy = |passed: &Passed<'_>| match passed {
            Passed::Value(bytes) => Copied::Value(bytes.to_vec()),
            Passed::Buffer(bytes, offset) => Copied::Buffer {
                bytes: bytes.to_vec(),
                offset: *offset,
                writable: !matches!(bytes, GlobalBytes::ReadOnly(_)),
            },
            Passed::TensorMap(fields, bytes) => Copied::TensorMap { fields: (*fields).clone(), bytes: bytes.to_vec() },
            Passed::TensorMapOf(..) | Passed::Shared { .. } => Copied::Other,
        };
        Snapshot(passed.iter().map(copy).collect())
    }

    /// The fault of the same launch on a checked host; `None` if it has none there, or cannot run there.
    pub fn explain(mut self, code: &KernelCode<'_>, launch: Launch) -> Option<Box<Fault>> {
        let mut slots = Vec::new();
        for copied in &mut self.0 {
            slots.push(match copied {
                Copied::Value(bytes) => Slot::Value(bytes),
                Copied::Buffer { bytes, offset, writable } => Slot::Buffer(bytes, *offset, *writable),
                Copied::TensorMap { fields, bytes } => Slot::Map(TensorMap::over(fields, &mut bytes[..]).ok()?),
                Copied::Other => return None,
            });
        }
        let arg = |slot| match slot {
            &mut Slot::Value(ref bytes) => Arg::value(bytes),
            Slot::Buffer(bytes, 0, false) => Arg::read_only(bytes),
            Slot::Buffer(bytes, offset, _) => Arg::buffer_at(bytes, *offset),
            Slot::Map(map) => Arg::from(&*map),
        };
        let mut args: Vec<Arg<'_>> = slots.iter_mut().map(arg).collect();
        match Host::checked().first().launch_code(code, launch, &mut args) {
            Err(Error::Fault(fault)) => Some(fault),
            _ => None,
        }
    }
}

/// An argument that a launch on the host borrows.
enum Slot<'s> {
    Value(&'s [u8]),
    Buffer(&'s mut [u8], u64, bool),
    Map(TensorMap<'s>),
}
