//! The instructions that access memory in plain registers.

use crate::memory::address::AddrSpace;
use crate::numerics::lanes::Word;
use crate::numerics::qual::{Q, Ty, q};
use crate::semantics::space;
use ptx_dsl_isa::image::Instr;
use ptx_dsl_isa::opcode::{Opcode, op};

/// A memory access of elements in plain registers.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct MemoryAccess {
    pub(super) kind: AccessKind,
    pub(super) space: AddrSpace,
    /// Bytes of an element of memory: 1, 2, 4 or 8.
    pub(super) bytes: u32,
    /// Loaded elements are sign-extended.
    pub(super) signed: bool,
    /// Elements: 1, 2 or 4.
    pub(super) count: usize,
    /// The entry of the access cache.
    pub(super) cache: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum AccessKind {
    Load,
    Store,
    Add,
}

impl MemoryAccess {
    pub fn of(opcode: Opcode, q: Q, i: &Instr, widths: &[u8]) -> Option<MemoryAccess> {
        let kind = match opcode {
            op::ld => AccessKind::Load,
            op::st => AccessKind::Store,
            op::atom | op::red if q.has(q::add) => AccessKind::Add,
            _ => return None,
        };
        let ty = q.ty[0];
        let bytes = ty.bytes();
        let plain = q.types == 1 && matches!(ty.bits(), 8 | 16 | 32 | 64) && !q.has(q::L2_cache_hint);
        let count = if q.has(q::v8) {
            8
        } else if q.has(q::v4) {
            4
        } else if q.has(q::v2) {
            2
        } else {
            1
        };
        let holds = |r: &u32| u32::from(widths[*r as usize]) >= ty.bits();
        let fits = match kind {
            AccessKind::Load => {
                i.sources.len() == 1 && i.results.len() == count && i.results.iter().flatten().all(holds)
            }
            AccessKind::Store => i.sources.len() == count + 1,
            AccessKind::Add => {
                let integer = matches!(ty, Ty::U32 | Ty::S32 | Ty::U64);
                integer && i.sources.len() == 2 && i.results.len() <= 1 && !q.has(q::volatile)
            }
        };
        let counted = if kind == AccessKind::Add { count == 1 } else { count <= 4 };
        // the place of the instruction: accesses of one loop differ in it
        let cache = i.site as usize;
        let access = MemoryAccess { kind, space: space(q), bytes, signed: ty.is_signed(), count, cache };
        (plain && fits && counted).then_some(access)
    }
}

impl MemoryAccess {
    /// Whether each lane has its own memory in this space.
    pub fn is_local(&self) -> bool {
        self.space.is_of_lanes()
    }

    /// Whether no kernel can change the memory.
    pub fn is_of_constants(&self) -> bool {
        matches!(self.space, AddrSpace::ParamEntry | AddrSpace::Const)
    }

    /// Whether the access can run once, where all lanes access one place. `whole`: all lanes run.
    pub fn is_once(&self, whole: bool) -> bool {
        whole && self.kind == AccessKind::Load && !self.is_local()
    }

    /// Whether the access can run in pieces, at an affine address.
    pub fn is_in_pieces(&self) -> bool {
        self.count == 1 && self.kind != AccessKind::Add && !self.is_local()
    }

    /// Whether the access can run warp by warp, in memory that lanes share.
    pub fn is_each(&self) -> bool {
        !self.is_local()
    }
}

/// Extends an element to a register.
#[inline(always)]
pub(super) fn extended<T: Word>(v: T, access: &MemoryAccess) -> u64 {
    let unused = 64 - 8 * T::BYTES as u32;
    if access.signed { ((v.widen() << unused).cast_signed() >> unused).cast_unsigned() } else { v.widen() }
}
