//! The host machine of `ptx-dsl`: runs kernels across warps, CTAs and clusters, and reports what they do wrong.
//!
//! It does not process PTX text. The macro emits a [`Kernel`] with an image, which the [`interpreter`] runs, and in optimised builds also
//! compiled code ([`CompiledKernel`]). Both call the functions of [`isa`].

pub use ptx_dsl_isa::constant;

mod buffer;
mod checked;
pub mod emitted;
mod engine;
pub mod fault;
mod flow;
pub mod host;
pub mod interpreter;
pub mod isa;
pub mod kernel;
pub mod lanes;
pub mod launch;
pub mod machine;
pub mod mem;
pub mod monitor;
pub mod numerics;
pub mod param;
mod print;
pub mod qual;
pub mod schedule;
mod simd;
mod steps;
pub mod sync;
pub mod tensor_map;
pub mod trace;

pub use buffer::{Buffer, Strided, StridedError};
pub use checked::Checked;
pub use emitted::*;
pub use engine::Engine;
pub use fault::{Fault, FaultKind};
pub use host::Off;
pub use host::{Explore, Explored, Host, Report};
pub use kernel::{
    Compiled, CompiledKernel, Flow, Kernel, KernelFn, KernelInfo, Next, NotYet, Origins, ParamInfo, Pc, Piece, Site,
    Wait,
};
pub use lanes::{Level, Word, lanes};
pub use launch::{Arg, CancelHandle, Error, IntoBuffer, IntoU64, Launch, Progress, launch};
pub use machine::Ctx;
pub use mem::address::AddrSpace;
pub use monitor::Monitor;
pub use numerics::Numerics;
pub use param::Param;
pub use qual::{Q, Qualifier, Qualifiers, Ty, q};
pub use schedule::Schedule;
pub use tensor_map::{
    ElementType, Fill, Interleave, L2Promotion, Swizzle, Tensor, TensorMap, TensorMapBuilder, TensorMapError,
};

/// A register of a warp: 32 lanes of bits, zero-extended.
pub type Lanes = [u64; 32];

/// A register of 32 bits in all lanes of a warp.
pub type Words = [u32; 32];
