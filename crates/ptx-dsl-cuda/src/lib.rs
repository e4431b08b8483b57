//! Runs kernels of `ptx-dsl` on a GPU: the same call as on a host, with the same arguments.
//!
//! A [`Gpu`] is a [`Device`](ptx_dsl_runtime::Device), so `kernel.launch(&gpu, launch, args)` does there what
//! `kernel.launch(&host, launch, args)` does on a host. The CUDA driver is loaded when the program first asks for a GPU; nothing here
//! needs CUDA to build. The page
//! [On a GPU](https://github.com/ptx-dsl/ptx-dsl/blob/main/docs/guide/gpu.md) has the promises of this crate and their limits.
#![allow(unsafe_code)]

mod arguments;
mod buffer;
mod calls;
mod checks;
mod cubin;
mod error;
mod explain;
mod gpu;
mod group;
mod launch;
mod module;
mod scope;
mod tensor_map;

pub use checks::supported_ptx;
pub use cubin::Cubin;
pub use error::{GpuError, JitLine};
pub use gpu::{Gpu, Properties};
pub use group::Gpus;
pub use module::{LimitedBy, Prepared};
#[doc(hidden)]
pub use scope::Submission;
pub use scope::{Event, Graph, Lent, LentMap, Part, PartMut, Reading, Scope, Stream};
