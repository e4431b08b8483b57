//! The vocabulary of the table. An instruction is declared once, as data, in the file of its family in `isa/`.
//!
//! ```text
//! instr("mbarrier.inval").section("9.7.13.15.10").since(ptx(7, 0)).requires(sm(80))
//!     .syntax("mbarrier.inval{.shared{::cta}}.b64 [addr];")
//!     .operands(&[addr("addr", object().own_cta()).align(8)])
//!     .gates(&[gate(&[has(q::shared_cta)]).since(ptx(7, 8))])
//!     .host(Host::Warp).mbarrier(Mbarrier::Inval),
//! ```
//!
//! The syntax block is the manual's own notation: one form per `;`, then the sets (`.sem = { .release, .relaxed }`).
//! `{.x}` is optional, `{.sem.scope}` come together or not at all, `.shared{::cta}` stands for `.shared` and `.shared::cta`,
//! `.{a, b}` and `{.a, .b}`-sets are alternatives. `isa/syntax.rs` compiles a block, and only when its opcode is used.

pub(crate) use crate::qualifier::{Qualifier, q};
pub(crate) use crate::ty::Ty;
pub use class::InstrClass;
pub use effect::{Barrier, Carry, Control, Fence, Group, Issue, Mbarrier, Meeting, MemoryOp, Proxy, Step, Tensor};
pub use entry::{Check, Gate, Host, Instr, Multiple, Rule, gate, instr};
pub(crate) use memory::{AddressSpace, Reach, Size, mbarrier as object, reads, writes};

pub use operand::{OpTy, OperandSpec, Role, T, addr, dst, name, slot, src, ty};
pub use version::{ANY, Ptx, Targets, ptx, sm};
pub use violation::{Part, Remedy, Violation};
pub use when::{When, any, has, not, operand, sink, types};

pub mod address;
pub mod async_copy;
pub mod async_store;
pub mod atom;
pub mod bar;
pub mod bulk;
pub mod class;
pub mod clusterlaunchcontrol;
pub mod compare;
pub mod compress;
pub mod control;
pub mod convert;
pub mod directive;
pub mod effect;
pub mod entry;
pub mod extended;
pub mod fabric;
pub mod fence;
pub mod float;
pub mod fragment;
pub mod half;
pub mod integer;
pub mod ld_st;
pub mod ldmatrix;
pub mod logic;
pub mod mbarrier;
pub mod memory;
pub mod misc;
pub mod mixed;
pub mod mma;
pub mod movement;
pub mod multimem;
pub mod operand;
pub mod prefetch;
pub mod sreg;
pub mod surface;
pub mod syntax;
pub mod system;
pub mod target;
pub mod tcgen05;
pub mod tensor;
pub mod texture;
pub mod version;
pub mod video;
pub mod violation;
pub mod warp;
pub mod wgmma;
pub mod when;
pub mod wmma;

#[cfg(test)]
mod tests_arith;
#[cfg(test)]
mod tests_memory;
