//! What the names in a syntax block stand for: the type of an operand, its role, and what constants it takes.

use super::memory::Memory;
use crate::qualifier::Qualifier;
use crate::ty::Ty;

/// Whether an operand is read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Written.
    Dst,
    /// Read.
    Src,
    /// `[...]`
    Addr,
    /// A label, function, table or parameter list, for `Control` instructions.
    Name,
}

/// The type of an operand.
#[derive(Debug, Clone, Copy)]
pub enum OpTy {
    /// Always this one.
    Ty(Ty),
    /// The type written for this slot of the syntax: `.type`, `.dtype`. A literal type in a form counts as the slot `.type`.
    Slot(&'static str),
    /// The slot's type; twice as wide with `.wide`.
    Wide(&'static str),
    /// A vector of values of the slot's type: as many as `.vec` says (1 without), or this fixed number.
    Vec(&'static str, u32),
    /// Always `{...}`. The number of values is the product of the numbers of the written qualifiers (`.16x128b` with `.x4`: 2 times 4).
    Many(Ty, &'static [(Qualifier, u32)]),
    /// Always `{...}` too: the function computes the type and number of values from the qualifiers. A fragment of a matrix, the
    /// coordinates of a tensor.
    Fragment(fn(&[Qualifier]) -> (Ty, u32)),
    /// The slot's type, or `{...}`: two or four equal parts of it, together as wide (`mov` packs and unpacks).
    Parts(&'static str),
    /// Coordinates of a texture or surface: as many values of the slot's type as the geometry needs, an array index first.
    Coords(&'static str),
    /// Offsets and gradients of a texture: a value of this type for each axis of the geometry.
    PerAxis(Ty),
    /// Not a value.
    None,
}

/// The meaning of a name in a syntax block.
#[derive(Debug, Clone, Copy)]
pub struct OperandSpec {
    /// The name in the block.
    pub name: &'static str,
    /// Whether it is read or written.
    pub role: Role,
    /// Its type.
    pub ty: OpTy,
    /// `_` is allowed here (where a form writes `_` itself it is required).
    pub sink: bool,
    /// Immediates: `None` = any constant of the type, or within the range; see `imm_only`, `no_imm`.
    pub range: Option<(i64, i64)>,
    /// Must be a constant.
    pub imm_only: bool,
    /// Must not be a constant.
    pub no_imm: bool,
    /// The register may be wider than the type (`ld`, `st`, `cvt`).
    pub wider: bool,
    /// Alignment of a constant address, in bytes (0: that of the access).
    pub align: u32,
    /// Only registers of the type, and untyped ones of its width; no signed one for an unsigned.
    pub exact: bool,
    /// ptxas takes a generic address, or one in global memory, from 64-bit registers only. In other instructions it extends 32 bits.
    pub full_width: bool,
    /// The memory after an address.
    pub memory: Option<Memory>,
}

const fn spec(name: &'static str, role: Role, ty: OpTy) -> OperandSpec {
    OperandSpec {
        name,
        role,
        ty,
        sink: false,
        range: None,
        imm_only: false,
        no_imm: false,
        wider: false,
        align: 0,
        exact: false,
        full_width: false,
        memory: None,
    }
}

/// A destination.
pub const fn dst(name: &'static str, ty: OpTy) -> OperandSpec {
    spec(name, Role::Dst, ty)
}

/// A source: register or constant.
pub const fn src(name: &'static str, ty: OpTy) -> OperandSpec {
    spec(name, Role::Src, ty)
}

/// An address, and the memory after it.
pub const fn addr(name: &'static str, memory: Memory) -> OperandSpec {
    let mut spec = spec(name, Role::Addr, OpTy::None);
    spec.memory = Some(memory);
    spec
}

/// A label, function, table or list.
pub const fn name(name: &'static str) -> OperandSpec {
    spec(name, Role::Name, OpTy::None)
}

/// A fixed type.
pub const fn ty(ty: Ty) -> OpTy {
    OpTy::Ty(ty)
}

/// The type written for a slot.
pub const fn slot(slot: &'static str) -> OpTy {
    OpTy::Slot(slot)
}

/// The type written for `.type`, or the literal type of the form.
pub const T: OpTy = OpTy::Slot(".type");

impl OperandSpec {
    /// `_` is allowed.
    pub const fn or_sink(mut self) -> Self {
        self.sink = true;
        self
    }
    /// Range of constants, both ends included.
    pub const fn range(mut self, low: i64, high: i64) -> Self {
        self.range = Some((low, high));
        self
    }
    /// Constants only.
    pub const fn imm(mut self) -> Self {
        self.imm_only = true;
        self
    }
    /// Registers only.
    pub const fn reg(mut self) -> Self {
        self.no_imm = true;
        self
    }
    /// Only registers of the type, or untyped ones.
    pub const fn exact(mut self) -> Self {
        self.exact = true;
        self
    }
    /// A generic address, or one in global memory, has 64 bits.
    pub const fn full_width(mut self) -> Self {
        self.full_width = true;
        self
    }
    /// The register may be wider.
    pub const fn wider(mut self) -> Self {
        self.wider = true;
        self
    }
    /// Alignment of a constant address.
    pub const fn align(mut self, bytes: u32) -> Self {
        self.align = bytes;
        self
    }
}
