//! The host machine of `ptx-dsl`: runs kernels across warps, CTAs and clusters, and reports what they do wrong.
//!
//! It does not process PTX text. The macro emits a [`Kernel`] with an image, which the [`interpreter`] runs, and in
//! optimised builds also compiled code ([`CompiledKernel`]). Both call the functions of [`semantics`].
//!
//! The modules are floors: each imports only those below it.

pub mod numerics;

pub mod fault;

pub mod memory;
pub mod sync;

pub mod kernel;

pub mod machine;

pub mod semantics;

pub mod engines;

pub mod observe;

pub mod api;

pub use api::agree;
pub use api::buffer::{Buffer, Strided, StridedError};
pub use api::device::{self, Device};
pub use api::engine::{Engine, EngineError};

pub use api::dump::dump;
pub use api::host::{Explore, Explored, Host, Off, Report};
pub use api::kernel_fn::KernelFn;
pub use api::launch::{Arg, CancelHandle, Error, IntoBuffer, IntoU64, Launch, Progress};
pub use api::param::Param;
pub use api::stream::HostStream;
pub use api::tensor_map::{
    ElementType, Fields, Fill, Interleave, L2Promotion, Layout, Mode, PixelBox, Swizzle, Tensor, TensorMap,
    TensorMapBuilder, TensorMapError,
};
pub use api::{group, kernel_fn, launch, param, tensor_map};
pub use engines::compiled::emitted::*;
pub use engines::compiled::lanes::{self, Level, Word, lanes};
pub use engines::compiled::{Compiled, CompiledKernel, Kernel, Piece};
pub use engines::interpreter;
pub use fault::{Fault, FaultKind};
pub use kernel::{Flow, KernelInfo, Next, NotYet, Origins, ParamInfo, Pc, Site, Wait};
pub use machine::Ctx;
pub use machine::schedule::{Schedule, ScheduleError};
pub use memory::address::AddrSpace;
pub use numerics::accumulation::Numerics;
pub use numerics::lanes::{Lanes, Words};
pub use numerics::qual::{Q, Qualifier, Qualifiers, Ty, q};
pub use observe::checked::Checked;
#[doc(hidden)]
pub use observe::debug;
pub use observe::monitor::Monitor;
pub use observe::{monitor, profile, trace};
pub use ptx_dsl_isa::constant;
