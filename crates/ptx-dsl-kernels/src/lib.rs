//! Kernels and parts in PTX, for a GPU and for the host machine of `ptx-dsl`.
//!
//! Each module has the kernels as `ptx!` wrote them, and functions that choose the instance and the grid, make tensor maps, and launch.
//! The functions take any [`Device`](ptx_dsl::launch::Device): a host, the checked host, or a GPU.
//!
//! ```
//! use ptx_dsl::prelude::*;
//! use ptx_dsl_kernels::reduce;
//!
//! let x: Vec<f32> = (0..1000).map(|i| i as f32).collect();
//! let mut sum = [0.0];
//! reduce::sum(&Host::checked(), &x, &mut sum)?;
//! assert_eq!(sum, [499_500.0]);
//! # Ok::<(), ptx_dsl_kernels::Error>(())
//! ```
//!
//! [`parts`] has what kernels share: reductions over warps and CTAs, rings of mbarriers, the order of tiles. A kernel of another crate uses
//! them by `use ptx_dsl_kernels::parts::lanes;` in its `ptx!`.

pub mod attention;
mod error;
pub mod gemm;
pub mod gemm_sm100;
pub mod gemm_sm80;
pub mod histogram;
mod instances;
pub mod parts;
pub mod reduce;
pub mod rms_norm;
pub mod scan;
pub mod softmax;
pub mod top_k;
pub mod transpose;
pub mod tune;

pub use error::Error;
pub use instances::{Instance, instances};
