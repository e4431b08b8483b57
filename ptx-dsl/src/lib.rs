//! PTX as a language inside Rust.
//!
//! [`ptx!`] takes PTX tokens and checks them at compile time. It produces PTX text (for nvcc, ptxas or the CUDA driver) and a kernel that
//! runs on the host machine, which emulates warps, CTAs, clusters, barriers, mbarriers, cluster launch control and Tensor Memory.
//!
//! [The book](https://github.com/ptx-dsl/ptx-dsl/blob/main/docs/introduction.md) begins with a first kernel, and has the model of the host,
//! every error code, and what to do when a kernel hangs or is wrong. This page shows each part of the API once.
//!
//! ```
//! use ptx_dsl::prelude::*;
//!
//! ptx! {
//!     <sm_90, ptx 8.0>
//!     .visible .entry double(.param .u64 .ptr .global .align 4 x: &mut [u32]) {
//!         .reg .b32 %i, %v;
//!         .reg .b64 %a, %o;
//!         ld.param.u64 %a, [x];
//!         mov.u32 %i, %tid.x;
//!         mul.wide.u32 %o, %i, 4;
//!         add.u64 %a, %a, %o;
//!         ld.global.u32 %v, [%a];
//!         add.u32 %v, %v, %v;
//!         st.global.u32 [%a], %v;
//!         ret;
//!     }
//! }
//!
//! let mut x: Vec<u32> = (0..32).collect();
//! double.launch(&Host::new(), Launch::grid(1).block(32), (&mut x,))?;
//! assert_eq!(x[31], 62);
//! assert!(double::PTX.contains("ld.global.u32"));
//! # Ok::<(), ptx_dsl::Error>(())
//! ```
//!
//! A kernel can also be an expression, with parameters like those of a closure. In both forms, `on` makes a Rust closure from a kernel:
//!
//! ```
//! use ptx_dsl::{Error, prelude::*};
//!
//! fn fill(value: u32) -> impl Fn(&mut [u32]) -> Result<Report, Error> {
//!     // `value` is not captured: a kernel gets its parameters, and nothing else.
//!     let kernel = ptx!(<sm_90, ptx 8.0> |x: &mut [u32], v: u32| .maxntid 256 {
//!         .reg .b32 %i, %v;
//!         .reg .b64 %x;
//!         ld.param.u64 %x, [x];
//!         ld.param.u32 %v, [v];
//!         mov.u32 %i, %tid.x;
//!         mad.wide.u32 %x, %i, 4, %x;
//!         st.global.u32 [%x], %v;
//!         ret;
//!     });
//!     let run = kernel.on(&Host::new(), Launch::grid(1).block(8));
//!     move |x| run(x, value)
//! }
//!
//! let mut x = [0; 8];
//! fill(7)(&mut x)?;
//! assert_eq!(x, [7; 8]);
//! # Ok::<(), Error>(())
//! ```
//!
//! A kernel runs on one of two [engines](Engine). An optimised build compiles it; a development build interprets it, in the runtime,
//! so that rustc spends no time on it. The interpreter is fast if the runtime is optimised:
//!
//! ```toml
//! [profile.dev.package.ptx-dsl-runtime]
//! opt-level = 3
//! ```
//!
//! To compile a kernel in development builds too, write `compiled` in its header: `<sm_90, ptx 8.0, compiled>`. The feature `compiled` does
//! so for all kernels. `interpreted` in a header, or the feature `interpreted`, keeps release builds from compiling kernels, for programs that
//! launch on a GPU. A host with a monitor, such as [`Host::checked`], always interprets, and so does a host with a seed, a recording or
//! a replay.
//!
#![doc = include_str!("examples.md")]
// docs.rs shows which feature an item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "build")]
pub mod build;
#[cfg(feature = "cuda")]
pub use ptx_dsl_cuda as cuda;
#[cfg(feature = "load")]
pub mod load;

/// 16-bit floats, as buffer elements and parameter values.
///
/// ```
/// use ptx_dsl::half::f16;
/// use ptx_dsl::prelude::*;
///
/// ptx! {
///     <sm_90, ptx 8.0>
///     .visible .entry twice(.param .u64 .ptr .global .align 2 x: &mut [f16]) {
///         .reg .b16 %h;
///         .reg .b64 %x;
///         ld.param.u64 %x, [x];
///         ld.global.b16 %h, [%x];
///         add.f16 %h, %h, %h;
///         st.global.b16 [%x], %h;
///         ret;
///     }
/// }
///
/// let mut x = [f16::from_f32(1.5)];
/// twice.launch(&Host::new(), Launch::grid(1), (&mut x,))?;
/// assert_eq!(x[0].to_f32(), 3.0);
/// # Ok::<(), Error>(())
/// ```
#[cfg(feature = "half")]
pub use half;
pub use ptx_dsl_macros::Param;
#[doc = include_str!("include_ptx.md")]
pub use ptx_dsl_macros::include_ptx;
#[doc = include_str!("ptx.md")]
pub use ptx_dsl_macros::ptx;
pub use ptx_dsl_runtime::Arg;
pub use ptx_dsl_runtime::Buffer;
pub use ptx_dsl_runtime::KernelFn;
pub use ptx_dsl_runtime::param::Param;
pub use ptx_dsl_runtime::{Checked, Error, Fault};
pub use ptx_dsl_runtime::{Engine, Numerics};
pub use ptx_dsl_runtime::{Host, Launch, Report};
pub use ptx_dsl_runtime::{monitor, profile, trace};

/// The same launches on several devices, compared buffer by buffer.
///
/// [docs/guide/gpu.md](https://github.com/ptx-dsl/ptx-dsl/blob/main/docs/guide/gpu.md#one-test-for-all-devices) has an example.
pub mod agree {
    pub use ptx_dsl_runtime::agree::{AgreeError, Agreed, Agreement, Bound, Difference, Watched, Writer};
}

/// Arguments of kernels: shaped views of buffers, and the traits of what a parameter without a Rust type takes.
///
/// [Example](crate#buffers).
pub mod argument {
    pub use ptx_dsl_runtime::launch::{IntoBuffer, IntoMap, IntoU64};
    pub use ptx_dsl_runtime::param::{Element, Field, ParamShape, Parts};
    pub use ptx_dsl_runtime::{Strided, StridedError};
}

/// Many schedules of one launch.
///
/// [Example](crate#schedules).
pub mod explore {
    pub use ptx_dsl_runtime::{Explore, Explored, Schedule, ScheduleError};
}

/// The parts of a [`Fault`]: its kind, the statement, the threads and the memory.
///
/// [Example](crate#faults).
pub mod fault {
    pub use ptx_dsl_runtime::fault::{
        At, EarlyPhase, FaultKind, MatrixBounds, MatrixLayout, NearMiss, Object, Origin, Race, RegisterValue, Side,
        Strength, TensorOrder, TensorRace, TensorUnwritten, ThreadId, TooWeak, WrittenBox,
    };
}

/// The description of a kernel: its parameters, statements and texts.
///
/// [Example](crate#launches).
pub mod kernel {
    pub use ptx_dsl_runtime::kernel::{Const, KernelInfo, NotYet, Origins, ParamInfo, Site};
    pub use ptx_dsl_runtime::kernel_fn::{Printed, Takes};
    pub use ptx_dsl_runtime::{Compiled, Kernel};
}

/// The parts of a [`Launch`]: dimensions, progress, cancellation, and why it cannot start.
///
/// [Example](crate#launches).
pub mod launch {
    pub use ptx_dsl_runtime::device::{Device, KernelCode};
    pub use ptx_dsl_runtime::group::{Devices, HostDevices, Shared};
    pub use ptx_dsl_runtime::launch::{
        CancelHandle, DEFAULT_STEP_LIMIT, Dim3, Dimensions, GlobalBytes, LaunchError, LaunchShape, Passed, Progress,
    };
    pub use ptx_dsl_runtime::{EngineError, HostStream};
}

/// Tensor maps, as `cuTensorMapEncodeTiled` and similar functions make them.
///
/// [Example](crate#tensor-maps).
pub mod tensor_map {
    pub use ptx_dsl_runtime::{
        ElementType, Fill, Interleave, L2Promotion, Layout, Swizzle, Tensor, TensorMap, TensorMapBuilder,
        TensorMapError,
    };
}

/// What most programs need. [Example](crate).
pub mod prelude {
    pub use crate::KernelFn as _;
    pub use crate::{Arg, Error, Fault, Host, Launch, Report, include_ptx, ptx};
    #[cfg(feature = "half")]
    pub use half::{bf16, f16};
    #[doc(hidden)]
    pub use ptx_dsl_runtime::kernel_fn::NoInstanceFn as _;
}

/// What emitted code names. It may change in every version.
#[doc(hidden)]
pub mod __private {
    pub use ptx_dsl_macros::{compile_kernels, editor};
    pub use ptx_dsl_runtime::*;

    /// Whether the profile optimises this crate. Crates with kernels are then assumed to be optimised too.
    pub const OPTIMISED: bool = cfg!(ptx_dsl_optimised);

    /// The 16-bit floats that the types of parameters name, if nothing else in scope has these names. The primitive types of rustc with the
    /// names are unstable.
    pub mod halves {
        #[cfg(feature = "half")]
        pub use half::{bf16, f16};
    }
}

#[cfg(doctest)]
mod book;
