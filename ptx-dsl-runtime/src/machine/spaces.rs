//! Global memory and the shared memory of a cluster, as asynchronous copies see them.

use std::ops::Range;

use crate::fault::FaultKind;
use crate::machine::cluster::Cluster;
use crate::machine::memory::Memory;
use crate::memory::address::Place;
use crate::memory::atomic_bytes;

/// A place in global memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GlobalPlace {
    pub segment: usize,
    pub offset: u64,
}

impl GlobalPlace {
    /// The place this many bytes further.
    pub fn plus(self, bytes: u64) -> GlobalPlace {
        GlobalPlace { offset: self.offset.saturating_add(bytes), ..self }
    }

    pub fn place(self) -> Place {
        Place::Global { segment: self.segment, offset: self.offset }
    }
}

/// A place in the shared memory of a CTA of the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SharedPlace {
    pub rank: u32,
    pub offset: u32,
}

impl SharedPlace {
    pub fn place(self) -> Place {
        Place::Shared { rank: self.rank, offset: self.offset }
    }

    /// The bytes from here on, as a range of its shared memory.
    pub fn range(self, bytes: usize) -> Range<usize> {
        let from = self.offset as usize;
        from..from.saturating_add(bytes)
    }
}

/// A new value of an element from the old one and an operand.
pub(crate) type Combine<'f> = &'f dyn Fn(u64, u64) -> u64;

/// The memories that a copy of a cluster can reach.
pub(crate) struct Spaces<'m, 'a> {
    pub memory: &'m mut Memory<'a>,
    pub cluster: &'m mut Cluster,
}

impl Spaces<'_, '_> {
    /// The shared memory of a CTA.
    pub fn window(&self, rank: u32) -> Result<&[u8], FaultKind> {
        self.memory.window(self.cluster, rank)
    }

    /// The shared memory of a CTA, to write.
    pub fn window_mut(&mut self, rank: u32) -> Result<&mut [u8], FaultKind> {
        self.memory.window_mut(self.cluster, rank)
    }

    /// Bytes of shared memory.
    pub fn shared(&self, at: SharedPlace, bytes: usize) -> Result<&[u8], FaultKind> {
        let window = self.window(at.rank)?;
        window.get(at.range(bytes)).ok_or_else(|| outside_of_shared(at, bytes, window.len()))
    }

    /// Bytes of shared memory, to write.
    pub fn shared_mut(&mut self, at: SharedPlace, bytes: usize) -> Result<&mut [u8], FaultKind> {
        let window = self.window_mut(at.rank)?;
        let size = window.len();
        window.get_mut(at.range(bytes)).ok_or_else(|| outside_of_shared(at, bytes, size))
    }

    /// Reads global memory.
    pub fn read_global(&self, at: GlobalPlace, to: &mut [u8]) -> Result<(), FaultKind> {
        if self.memory.global.copy_out(at.segment, at.offset, to) {
            return Ok(());
        }
        Err(self.memory.global.check(at.segment, at.offset, to.len() as u64, false).err().unwrap_or_else(lost))
    }

    /// Writes global memory.
    pub fn write_global(&mut self, at: GlobalPlace, from: &[u8]) -> Result<(), FaultKind> {
        if self.memory.global.copy_in(at.segment, at.offset, from) {
            return Ok(());
        }
        Err(self.memory.global.check(at.segment, at.offset, from.len() as u64, true).err().unwrap_or_else(lost))
    }

    /// Copies from global to shared memory.
    pub fn global_to_shared(&mut self, from: GlobalPlace, to: SharedPlace, bytes: usize) -> Result<(), FaultKind> {
        let (global, window) = self.memory.global_and_window(self.cluster, to.rank)?;
        let size = window.len();
        let to = window.get_mut(to.range(bytes)).ok_or_else(|| outside_of_shared(to, bytes, size))?;
        if global.copy_out(from.segment, from.offset, to) {
            return Ok(());
        }
        Err(global.check(from.segment, from.offset, bytes as u64, false).err().unwrap_or_else(lost))
    }

    /// Copies from shared to global memory.
    pub fn shared_to_global(&mut self, from: SharedPlace, to: GlobalPlace, bytes: usize) -> Result<(), FaultKind> {
        let (global, window) = self.memory.global_and_window(self.cluster, from.rank)?;
        let size = window.len();
        let from = window.get(from.range(bytes)).ok_or_else(|| outside_of_shared(from, bytes, size))?;
        if global.copy_in(to.segment, to.offset, from) {
            return Ok(());
        }
        Err(global.check(to.segment, to.offset, bytes as u64, true).err().unwrap_or_else(lost))
    }

    /// Combines elements of `size` bytes of global memory with operands, each in one atomic step.
    pub fn reduce_global(
        &mut self,
        at: GlobalPlace,
        operands: &[u8],
        size: usize,
        combine: Combine<'_>,
    ) -> Result<(), FaultKind> {
        let global = &mut self.memory.global;
        global.check(at.segment, at.offset, operands.len() as u64, true)?;
        if let Some(shared) = global.concurrent(at.segment, at.offset, operands.len()) {
            for (element, operand) in shared.chunks_exact(size).zip(operands.chunks_exact(size)) {
                let operand = word(operand);
                atomic_bytes::update(element, size, |[old, ..]| [combine(old, operand), 0, 0, 0]);
            }
            return Ok(());
        }
        let mut old = vec![0; operands.len()];
        self.read_global(at, &mut old)?;
        reduce(&mut old, operands, size, combine);
        self.write_global(at, &old)
    }
}

/// Combines elements of `size` bytes with operands.
pub(crate) fn reduce(memory: &mut [u8], operands: &[u8], size: usize, combine: Combine<'_>) {
    for (element, operand) in memory.chunks_exact_mut(size).zip(operands.chunks_exact(size)) {
        let new = combine(word(element), word(operand));
        element.copy_from_slice(&new.to_le_bytes()[..size]);
    }
}

/// Reads up to eight bytes, little endian.
fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, b| word << 8 | u64::from(*b))
}

/// A copy failed, although its bytes are there.
#[cold]
fn lost() -> FaultKind {
    FaultKind::Internal("a copy failed inside of a buffer".into())
}

#[cold]
fn outside_of_shared(at: SharedPlace, bytes: usize, size: usize) -> FaultKind {
    FaultKind::OutOfBounds { space: "shared", addr: at.offset.into(), bytes: bytes as u32, size: size as u64 }
}
