//! Arguments that fit their parameters, as a device takes them that is no host.

use std::cell::RefMut;
use std::ops::Deref;

use super::args::{Arg, ArgumentKind, check, start};
use crate::api::launch::error::LaunchError;
use crate::api::tensor_map::map::Borrowed;
use crate::kernel::ParamInfo;
use crate::memory::tensor_map::Fields;

/// An argument that fits its parameter, as a [`Device`](crate::Device) takes it.
#[derive(Debug)]
pub enum Passed<'x> {
    /// The bytes of the parameter.
    Value(&'x [u8]),
    /// A buffer of global memory: the kernel gets the address of the byte at the offset.
    Buffer(GlobalBytes<'x>, u64),
    /// Memory that several devices share. The kernel gets its address.
    Shared {
        /// The address of the first byte in the process.
        address: usize,
        /// The number of bytes.
        bytes: usize,
    },
    /// A tensor map. The kernel gets its 128 bytes, or if its parameter is a pointer the address of them.
    TensorMap(&'x Fields, GlobalBytes<'x>),
    /// A tensor map whose tensor begins where the buffer of the parameter with this index does.
    TensorMapOf(&'x Fields, usize),
}

/// Memory of the host that a kernel sees as global memory.
#[derive(Debug)]
pub enum GlobalBytes<'x> {
    /// Memory that the kernel may only read.
    ReadOnly(&'x [u8]),
    /// Memory that the kernel may write. It holds the results when the launch returns.
    Writable(&'x mut [u8]),
    /// Memory of a tensor that the kernel may write.
    Tensor(RefMut<'x, [u8]>),
}

impl GlobalBytes<'_> {
    /// The bytes that the kernel may write, or `None`.
    pub fn writable(&mut self) -> Option<&mut [u8]> {
        match self {
            GlobalBytes::ReadOnly(_) => None,
            GlobalBytes::Writable(bytes) => Some(bytes),
            GlobalBytes::Tensor(bytes) => Some(bytes),
        }
    }

    /// The offset of the first byte from a multiple of 256, which the address that the kernel gets has too (docs/guide/parameters.md).
    pub fn offset(&self) -> u64 {
        start(self)
    }
}

impl Deref for GlobalBytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            GlobalBytes::ReadOnly(bytes) => bytes,
            GlobalBytes::Writable(bytes) => bytes,
            GlobalBytes::Tensor(bytes) => bytes,
        }
    }
}

/// Checks the arguments against the parameters, for a device that is no host.
pub(super) fn passed<'x>(params: &[ParamInfo<'_>], args: &'x mut [Arg<'_>]) -> Result<Vec<Passed<'x>>, LaunchError> {
    let is_buffer: Vec<bool> = args.iter().map(|arg| arg.bytes().is_some()).collect();
    let one = |(index, (arg, p)): (usize, (&'x mut Arg<'_>, &ParamInfo<'_>))| {
        check(index, p, arg)?;
        let name = || p.name.to_owned();
        Ok(match &mut arg.kind {
            ArgumentKind::Value(bytes) => Passed::Value(bytes),
            ArgumentKind::Shared(shared) => match shared.place() {
                Some((address, bytes)) => Passed::Shared { address, bytes },
                None => return Err(LaunchError::SharedInUse { index, name: name() }),
            },
            ArgumentKind::Multicast(_) | ArgumentKind::SharedMulticast(_) => {
                return Err(LaunchError::MulticastOnOneDevice { index, name: name() });
            }
            ArgumentKind::Buffer(bytes, offset) => match p.read_only {
                true => Passed::Buffer(GlobalBytes::ReadOnly(bytes), *offset),
                false => Passed::Buffer(GlobalBytes::Writable(bytes), *offset),
            },
            ArgumentKind::ReadOnly(bytes, offset) => Passed::Buffer(GlobalBytes::ReadOnly(bytes), *offset),
            ArgumentKind::TensorMap(map) => match map.borrow() {
                Borrowed::ReadOnly(bytes) => Passed::TensorMap(map.fields(), GlobalBytes::ReadOnly(bytes)),
                Borrowed::Writable(bytes) => Passed::TensorMap(map.fields(), GlobalBytes::Tensor(bytes)),
                Borrowed::Argument(of) => match params.iter().position(|p| p.name == of) {
                    Some(at) if is_buffer[at] => Passed::TensorMapOf(map.fields(), at),
                    _ => return Err(LaunchError::TensorMapArgument { index, name: name(), of: of.to_owned() }),
                },
                Borrowed::Taken => return Err(LaunchError::TensorMapTaken { index, name: name() }),
            },
        })
    };
    args.iter_mut().zip(params).enumerate().map(one).collect()
}
