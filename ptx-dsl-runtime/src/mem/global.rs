//! Global memory: the caller's buffers, each a segment of its own.

use crate::fault::FaultKind;

/// All of them are a pointer and a length, so that finding the bytes of one needs no branch.
pub(crate) enum Segment<'a> {
    /// Variables of the module.
    Module(Box<[u8]>),
    ReadOnly(&'a [u8]),
    Buffer(&'a mut [u8]),
}

impl Segment<'_> {
    /// No memory at all.
    pub const EMPTY: Self = Segment::ReadOnly(&[]);
}

/// All of global memory of a launch.
pub(crate) struct Global<'a> {
    pub segments: Vec<Segment<'a>>,
}

impl Global<'_> {
    #[inline(always)]
    pub fn bytes(&self, segment: usize) -> &[u8] {
        match self.segments.get(segment) {
            Some(Segment::Buffer(b)) => b,
            Some(Segment::ReadOnly(b)) => b,
            Some(Segment::Module(b)) => b,
            None => &[],
        }
    }

    /// `None` for what must not be written.
    #[inline(always)]
    pub fn bytes_mut(&mut self, segment: usize) -> Option<&mut [u8]> {
        match self.segments.get_mut(segment) {
            Some(Segment::Buffer(b)) => Some(b),
            Some(Segment::Module(b)) => Some(b),
            _ => None,
        }
    }

    #[inline(always)]
    pub fn load(&self, segment: usize, offset: u64, addr: u64, bytes: u32) -> Result<[u64; 4], FaultKind> {
        let memory = self.bytes(segment);
        super::load(memory, offset, bytes).ok_or_else(|| self.outside(segment, addr, bytes))
    }

    #[inline(always)]
    pub fn store(&mut self, segment: usize, offset: u64, addr: u64, bytes: u32, v: [u64; 4]) -> Result<(), FaultKind> {
        let done = match self.segments.get_mut(segment) {
            Some(Segment::Buffer(b)) => super::store(b, offset, bytes, v),
            Some(Segment::Module(b)) => super::store(b, offset, bytes, v),
            Some(Segment::ReadOnly(b)) if offset + bytes as u64 <= b.len() as u64 => {
                return Err(FaultKind::ReadOnly { space: "global", addr });
            }
            _ => None,
        };
        done.ok_or_else(|| self.outside(segment, addr, bytes))
    }

    #[cold]
    fn outside(&self, segment: usize, addr: u64, bytes: u32) -> FaultKind {
        FaultKind::OutOfBounds { space: "global", addr, bytes, size: self.bytes(segment).len() as u64 }
    }
}
