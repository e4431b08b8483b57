//! Bulk copies in flight, in each direction.

use super::reduction::Reduction;
use crate::fault::FaultKind;
use crate::machine::copy::{CopyJob, JobAccess, SharedRange};
use crate::machine::spaces::{GlobalPlace, SharedPlace, Spaces, reduce};

/// A copy from global to shared memory.
#[derive(Debug)]
pub struct FromGlobal {
    pub from: GlobalPlace,
    pub to: SharedPlace,
    pub bytes: u32,
}

impl CopyJob for FromGlobal {
    fn read(&self, m: &Spaces<'_, '_>) -> Result<Vec<u8>, FaultKind> {
        let mut bytes = vec![0; self.bytes as usize];
        m.read_global(self.from, &mut bytes)?;
        Ok(bytes)
    }

    fn write(&self, m: &mut Spaces<'_, '_>, read: Option<Vec<u8>>) -> Result<(), FaultKind> {
        match read {
            Some(bytes) => m.shared_mut(self.to, bytes.len())?.copy_from_slice(&bytes),
            None => m.global_to_shared(self.from, self.to, self.bytes as usize)?,
        }
        Ok(())
    }

    fn source(&self) -> Option<SharedRange> {
        None
    }

    fn destination(&self) -> Option<SharedRange> {
        Some(SharedRange::new(self.to, self.bytes))
    }

    fn accesses(&self) -> Vec<JobAccess> {
        let bytes = self.bytes;
        vec![JobAccess::of_copy(self.from.place(), bytes, false), JobAccess::of_copy(self.to.place(), bytes, true)]
    }
}

/// A copy from the shared memory of a CTA to that of another.
#[derive(Debug)]
pub struct BetweenShared {
    pub from: SharedPlace,
    pub to: SharedPlace,
    pub bytes: u32,
    pub reduction: Option<Reduction>,
}

impl CopyJob for BetweenShared {
    fn read(&self, m: &Spaces<'_, '_>) -> Result<Vec<u8>, FaultKind> {
        Ok(m.shared(self.from, self.bytes as usize)?.to_vec())
    }

    fn write(&self, m: &mut Spaces<'_, '_>, read: Option<Vec<u8>>) -> Result<(), FaultKind> {
        let bytes = read.map_or_else(|| self.read(m), Ok)?;
        let to = m.shared_mut(self.to, bytes.len())?;
        match self.reduction {
            None => to.copy_from_slice(&bytes),
            Some(r) => reduce(to, &bytes, r.size(), &|old, operand| r.combine(old, operand)),
        }
        Ok(())
    }

    fn source(&self) -> Option<SharedRange> {
        Some(SharedRange::new(self.from, self.bytes))
    }

    fn destination(&self) -> Option<SharedRange> {
        Some(SharedRange::new(self.to, self.bytes))
    }

    fn reduces(&self) -> bool {
        self.reduction.is_some()
    }

    fn accesses(&self) -> Vec<JobAccess> {
        let bytes = self.bytes;
        vec![JobAccess::of_copy(self.from.place(), bytes, false), JobAccess::of_copy(self.to.place(), bytes, true)]
    }
}

/// A copy from shared to global memory.
#[derive(Debug)]
pub struct ToGlobal {
    pub from: SharedPlace,
    pub to: GlobalPlace,
    pub bytes: u32,
    /// The bytes of each 16 that are copied.
    pub mask: u16,
    pub reduction: Option<Reduction>,
}

impl CopyJob for ToGlobal {
    fn read(&self, m: &Spaces<'_, '_>) -> Result<Vec<u8>, FaultKind> {
        Ok(m.shared(self.from, self.bytes as usize)?.to_vec())
    }

    fn write(&self, m: &mut Spaces<'_, '_>, read: Option<Vec<u8>>) -> Result<(), FaultKind> {
        if read.is_none() && self.reduction.is_none() && self.mask == u16::MAX {
            return m.shared_to_global(self.from, self.to, self.bytes as usize);
        }
        let bytes = read.map_or_else(|| self.read(m), Ok)?;
        if let Some(r) = self.reduction {
            return m.reduce_global(self.to, &bytes, r.size(), &|old, operand| r.combine(old, operand));
        }
        if self.mask == u16::MAX {
            return m.write_global(self.to, &bytes);
        }
        // bytes that the mask leaves out are not written, not even unchanged
        for (i, byte) in (0..).zip(&bytes).filter(|(i, _)| self.mask >> (i % 16) & 1 != 0) {
            m.write_global(self.to.plus(i), std::slice::from_ref(byte))?;
        }
        Ok(())
    }

    fn source(&self) -> Option<SharedRange> {
        Some(SharedRange::new(self.from, self.bytes))
    }

    fn destination(&self) -> Option<SharedRange> {
        None
    }

    fn reduces(&self) -> bool {
        self.reduction.is_some()
    }

    fn accesses(&self) -> Vec<JobAccess> {
        let bytes = self.bytes;
        vec![JobAccess::of_copy(self.from.place(), bytes, false), JobAccess::of_copy(self.to.place(), bytes, true)]
    }
}
