//! PTX as a language inside Rust.
//!
//! [`ptx!`] takes real PTX tokens and checks them while rustc runs. It gives PTX text (for nvcc, ptxas or the CUDA driver) and a
//! kernel that runs on the host machine, which emulates warps, CTAs, clusters, barriers, mbarriers, cluster launch control and Tensor
//! Memory.
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
//! A kernel can also be an expression, with the parameters of a closure. In either form, `on` makes a Rust closure of a kernel:
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
//! To compile a kernel in development builds too, write `compiled` in its header: `<sm_90, ptx 8.0, compiled>`. The feature `compiled`
//! does so for all kernels. A host with a monitor, such as [`Host::checked`], always interprets, and so does a host with a seed, unless
//! [`Host::engine`] asks for compiled code.

#[cfg(feature = "build")]
pub mod build;
#[cfg(feature = "load")]
pub mod load;

#[cfg(feature = "half")]
pub use half;
#[doc(hidden)]
pub use ptx_dsl_macros::compile_kernels;
pub use ptx_dsl_macros::{Param, include_ptx, ptx};
#[doc(hidden)]
pub use ptx_dsl_runtime as runtime;
pub use ptx_dsl_runtime::fault::{At, NearMiss, Object, Race, RegisterValue, Side, TensorOrder, TensorRace, ThreadId};
pub use ptx_dsl_runtime::kernel::{KernelFn, KernelInfo, ParamInfo, Site};
pub use ptx_dsl_runtime::launch::{Dim3, LaunchError};
pub use ptx_dsl_runtime::param::Param;
pub use ptx_dsl_runtime::{
    Arg, Buffer, CancelHandle, Checked, Engine, Error, Explore, Explored, Fault, FaultKind, Host, Launch, Monitor,
    Numerics, Progress, Report, Schedule, Strided, StridedError,
};
pub use ptx_dsl_runtime::{
    ElementType, Fill, Interleave, L2Promotion, Swizzle, Tensor, TensorMap, TensorMapBuilder, TensorMapError,
};
pub use ptx_dsl_runtime::{monitor, trace};

/// This crate is optimised, which depends on the profile; crates with kernels then are too.
#[doc(hidden)]
pub const OPTIMISED: bool = cfg!(ptx_dsl_optimised);

/// What most programs need.
pub mod prelude {
    pub use crate::KernelFn as _;
    pub use crate::{Arg, Error, Fault, Host, Launch, Report, include_ptx, ptx};
}

// The programs of README and of docs/run.md are compiled and run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

#[cfg(all(doctest, feature = "load"))]
#[doc = include_str!("../../docs/run.md")]
struct Run;
