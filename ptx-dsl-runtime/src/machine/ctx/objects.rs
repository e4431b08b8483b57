//! The object that the address of a fault belongs to.

use crate::fault::{FaultKind, Object};
use crate::kernel::ParamInfo;
use crate::machine::ctx::parts::Describer;
use crate::memory::address::{self, FIRST_BUFFER, nearest_segment};

/// The distance from address 0 within which an address, or an offset from a null pointer, is near null.
const NEAR_NULL: i64 = 1 << 32;

impl<'c> Describer<'c, '_> {
    /// The object that a fault of this kind is about.
    pub(super) fn object(self, kind: &FaultKind) -> Option<Object> {
        if let Some((space, addr)) = inside(kind) {
            return self.object_at(space, addr);
        }
        let (space, addr) = match *kind {
            FaultKind::OutOfBounds { space, addr, .. }
            | FaultKind::Misaligned { space, addr, .. }
            | FaultKind::ReadOnly { space, addr } => (space, addr),
            _ => return None,
        };
        let of_buffer = if space == "global" { self.global_object(addr) } else { None };
        match *kind {
            FaultKind::OutOfBounds { bytes, .. } => {
                of_buffer.or_else(|| self.variable(space, addr, bytes)).or_else(|| self.dynamic_shared(space, addr))
            }
            _ => of_buffer,
        }
    }

    /// The variable from whose address that of the access is made, if these bytes are outside of it.
    fn variable(self, space: &str, addr: u64, bytes: u32) -> Option<Object> {
        let (window, offset) = window(space, addr)?;
        let from = offset.cast_unsigned();
        let variables = self.ctx.geometry.variables();
        let of = variables.left_by(self.ctx.site, window, (from, from.saturating_add(bytes.into())))?;
        let (name, offset) = (of.name.clone(), from.wrapping_sub(of.from).cast_signed());
        Some(Object::Variable { name, offset, len: of.to - of.from })
    }

    /// The buffer or the variable in which a byte is.
    fn object_at(self, space: &str, addr: u64) -> Option<Object> {
        if let ("global", Some(object)) = (space, self.global_object(addr)) {
            let within = matches!(object, Object::Buffer { offset, len, .. } if (0..len as i64).contains(&offset));
            return within.then_some(object);
        }
        let (window, offset) = window(space, addr)?;
        let (name, from, to) = self.ctx.geometry.variable_at(self.ctx.site, window, offset.try_into().ok()?)?;
        let len = if to == u64::MAX { self.ctx.geometry.dynamic_shared.into() } else { to - from };
        Some(Object::Variable { name, offset: offset - from as i64, len })
    }

    fn global_object(self, addr: u64) -> Option<Object> {
        let (segment, offset) = nearest_segment(addr);
        let start = self.ctx.memory.global.start(segment as usize);
        if segment == 0 && offset < NEAR_NULL {
            let (parameters, mut integers) = self.null_parameters();
            if !parameters.is_empty() {
                integers.clear();
            }
            return Some(Object::Null { parameters, integers });
        }
        let index = usize::try_from(segment.checked_sub(FIRST_BUFFER)?).ok()?;
        let element = self.ctx.geometry.elements.get(index).copied().flatten()?;
        let len = self.ctx.memory.global.len(segment as usize);
        let params = self.ctx.geometry.info.params;
        let name = params.get(index % params.len().max(1))?.name.to_owned();
        Some(Object::Buffer { name, offset: offset - start as i64, start, len, element })
    }

    /// A global address in the words of the program, if it is relative to the nearest buffer: `` `x` + 8 bytes ``.
    #[cold]
    pub(crate) fn place_in_words(self, addr: u64) -> Option<String> {
        match self.global_object(addr)? {
            Object::Buffer { name, offset: 0, .. } => Some(format!("`{name}`")),
            Object::Buffer { name, offset, .. } if offset < 0 => Some(format!("`{name}` - {} bytes", -offset)),
            Object::Buffer { name, offset, .. } => Some(format!("`{name}` + {offset} bytes")),
            _ => None,
        }
    }

    /// The pointer parameters whose argument is null, and other parameters of 64 bits that are 0.
    fn null_parameters(self) -> (Vec<String>, Vec<String>) {
        let null = |at: u32| self.ctx.memory.params.get(at as usize..at as usize + 8).is_some_and(|b| b == [0; 8]);
        let params = self.ctx.geometry.info.params.iter().filter(|p| p.size == 8 && null(p.offset));
        let (pointers, integers): (Vec<_>, Vec<_>) = params.partition(|p| p.pointer.is_some());
        let names = |list: Vec<&ParamInfo>| list.iter().map(|p| p.name.to_owned()).collect();
        (names(pointers), names(integers))
    }

    /// Dynamic shared memory, if the address is past the static one.
    fn dynamic_shared(self, space: &str, addr: u64) -> Option<Object> {
        let info = self.ctx.geometry.info;
        if space != "shared" || !info.uses_dynamic_shared {
            return None;
        }
        let offset = offset_in_shared(addr).checked_sub(i64::from(info.shared_size))?;
        Some(Object::DynamicShared { offset: offset.try_into().ok()?, given: self.ctx.geometry.dynamic_shared })
    }
}

/// State space and address of a fault that is about bytes of a buffer or a variable, not about what is outside of them.
fn inside(kind: &FaultKind) -> Option<(&'static str, u64)> {
    match kind {
        FaultKind::DataRace(race) => Some((race.space, race.addr)),
        FaultKind::Uninitialised { space, addr } => Some((space, *addr)),
        FaultKind::MbarrierNotLive { offset }
        | FaultKind::MbarrierMisused { offset, .. }
        | FaultKind::MbarrierOverArrive { offset, .. }
        | FaultKind::MbarrierTxCount { offset, .. } => Some(("shared", u64::from(*offset))),
        _ => None,
    }
}

/// The window of an address that variables of its state space have, and the offset there.
fn window(space: &str, addr: u64) -> Option<(u8, i64)> {
    let (window, offset) = match space {
        "global" => match nearest_segment(addr) {
            (address::MODULE, offset) => (0, offset),
            _ => return None,
        },
        "shared" => (address::SHARED, offset_in_shared(addr)),
        // of a window, or without one
        "local" => (address::LOCAL, i64::from(addr as u32 as i32)),
        "const" => (address::CONST, i64::from(addr as u32 as i32)),
        _ => return None,
    };
    Some((window as u8, offset))
}

/// The offset of an address of shared memory, without rank and window.
fn offset_in_shared(addr: u64) -> i64 {
    (addr & 0xff_ffff) as i64
}
