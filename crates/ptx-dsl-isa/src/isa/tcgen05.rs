//! Tensor Memory and the fifth-generation tensor core: manual 9.7.16.

use super::*;

pub mod alloc;
pub mod commit;
pub mod cp;
pub mod ld_st;
pub mod mma;

// How the host runs them, one line each.
const ALLOC: Host = Host::Block; // Block: waits while Tensor Memory is taken, and for the peer CTA
const DEALLOC: Host = Host::Block; // Block: may wait for the peer CTA
const RELINQUISH: Host = Host::Block;
const LD: Host = Host::Registers;
const LD_RED: Host = Host::Registers;
const LD_SPCOMPRESS: Host = Host::NotYet("how it orders elements and metadata is not public");
const ST: Host = Host::Registers;
const WAIT: Host = Host::Block;
const CP: Host = Host::Warp;
const SHIFT: Host = Host::Warp;
const FENCE: Host = Host::Warp;
const COMMIT: Host = Host::Warp;
const MMA: Host = Host::Warp;
const MMA_TI16: Host = Host::Warp;
const MMA_BLOCK_SCALE: Host = Host::Warp;
const MMA_DECOMPRESS: Host = Host::Warp;
const MMA_SP: Host = Host::Warp;
const MMA_SP_TI16: Host = Host::Warp;
const MMA_SP_BLOCK_SCALE: Host = Host::Warp;
const MMA_WS: Host = Host::Warp;
const MMA_WS_SP: Host = Host::Warp;

/// PTX ISA 8.6 introduced Tensor Memory.
const SINCE: Ptx = ptx(8, 6);
/// Its targets: the notes of all sections of 9.7.16.
pub const TENSOR_MEMORY: Targets = Targets::Only(&[
    ("sm_100a", Ptx(8, 6)),
    ("sm_101a", Ptx(8, 6)),
    ("sm_110a", Ptx(9, 0)),
    ("sm_100f", Ptx(8, 8)),
    ("sm_101f", Ptx(8, 8)),
    ("sm_110f", Ptx(9, 0)),
]);
/// Only for these targets, not for their families: `tcgen05.shift`, `.scale_vec::*`, sparse 4-bit kinds.
const EXACT: Targets = Targets::Only(&[
    ("sm_100a", Ptx(8, 6)),
    ("sm_101a", Ptx(8, 6)),
    ("sm_103a", Ptx(8, 8)),
    ("sm_107a", Ptx(9, 4)),
    ("sm_110a", Ptx(9, 0)),
]);
/// `.kind::i8`
const INT8: Targets = Targets::Only(&[("sm_100a", Ptx(8, 6)), ("sm_101a", Ptx(8, 6)), ("sm_110a", Ptx(9, 0))]);
/// `scale-input-d`
const SCALE_D: Targets = Targets::Only(&[("sm_100a", Ptx(8, 6)), ("sm_100f", Ptx(8, 8))]);
/// `tcgen05.ld.red`
const REDUCE: Targets =
    Targets::Only(&[("sm_101a", Ptx(8, 8)), ("sm_101f", Ptx(8, 8)), ("sm_103f", Ptx(8, 8)), ("sm_110f", Ptx(9, 0))]);
/// Additions of PTX ISA 9.4 for one family.
const SM_107F: Targets = Targets::Only(&[("sm_107f", Ptx(9, 4))]);
/// `tcgen05.ld.spcompress`
const SM_107A: Targets = Targets::Only(&[("sm_107a", Ptx(9, 4))]);
const NEW: Ptx = ptx(9, 4);

/// An address in Tensor Memory: lane in the upper half, column in the lower one (9.7.16.1.1).
const fn tmem(name: &'static str) -> OperandSpec {
    let mut spec = addr(name, reads(Size::Unknown).in_space(AddressSpace::TensorMemory));
    spec.ty = ty(Ty::B32);
    spec
}
