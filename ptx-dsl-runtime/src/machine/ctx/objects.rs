//! What the address of a fault belongs to.

use crate::fault::{FaultKind, Object};
use crate::machine::ctx::Ctx;
use crate::mem::address::{FIRST_BUFFER, nearest_segment};

/// Addresses below it, and offsets from a null pointer up to it, are near 0.
const NEAR_NULL: i64 = 1 << 32;

impl Ctx<'_> {
    /// The object that a fault of this kind is about.
    pub(super) fn object(&self, kind: &FaultKind) -> Option<Object> {
        let (space, addr) = match *kind {
            FaultKind::OutOfBounds { space, addr, .. }
            | FaultKind::Misaligned { space, addr, .. }
            | FaultKind::ReadOnly { space, addr } => (space, addr),
            _ => return None,
        };
        match space {
            "global" => self.global_object(addr),
            "shared" if matches!(kind, FaultKind::OutOfBounds { .. }) => self.shared_object(addr),
            _ => None,
        }
    }

    fn global_object(&self, addr: u64) -> Option<Object> {
        let (segment, offset) = nearest_segment(addr);
        let start = self.memory.global.start(segment as usize);
        if segment == 0 && offset < NEAR_NULL {
            return Some(Object::Null { parameters: self.null_parameters() });
        }
        let index = usize::try_from(segment.checked_sub(FIRST_BUFFER)?).ok()?;
        let element = self.geometry.elements.get(index).copied().flatten()?;
        let len = self.memory.global.len(segment as usize);
        let name = self.geometry.info.params.get(index)?.name.to_owned();
        Some(Object::Buffer { name, offset: offset - start as i64, start, len, element })
    }

    /// A global address in the words of the program, if it is relative to the nearest buffer: `` `x` + 8 bytes ``.
    #[cold]
    pub(crate) fn place_in_words(&self, addr: u64) -> Option<String> {
        match self.global_object(addr)? {
            Object::Buffer { name, offset: 0, .. } => Some(format!("`{name}`")),
            Object::Buffer { name, offset, .. } if offset < 0 => Some(format!("`{name}` - {} bytes", -offset)),
            Object::Buffer { name, offset, .. } => Some(format!("`{name}` + {offset} bytes")),
            _ => None,
        }
    }

    /// The pointer parameters whose argument is null.
    fn null_parameters(&self) -> Vec<String> {
        let null = |at: u32| self.memory.params.get(at as usize..at as usize + 8).is_some_and(|b| b == [0; 8]);
        let params = self.geometry.info.params.iter().filter(|p| p.pointer.is_some() && null(p.offset));
        params.map(|p| p.name.to_owned()).collect()
    }

    fn shared_object(&self, addr: u64) -> Option<Object> {
        let info = self.geometry.info;
        // without rank and window
        let offset = addr & 0xff_ffff;
        let missing = info.uses_dynamic_shared && self.geometry.dynamic_shared == 0;
        let behind = offset.checked_sub(u64::from(info.shared_size))?;
        missing.then_some(Object::NoDynamicShared { offset: behind })
    }
}
