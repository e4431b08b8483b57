//! The oracles of ptx-dsl: they compare it with what does not come from it. `cargo xtask` has a command for each.
//!
//! | module | compares | with |
//! |---|---|---|
//! | [`ptxas_verdicts`] | the verdicts of the front end on statements | those of ptxas |
//! | [`random_kernels`] | what random kernels compute on both engines | plain Rust |
//! | [`gpu_results`] | what instructions compute on the host | results of an H200 |
//! | [`sync_mutants`] | what the compiler and the checked host notice | mistakes made on purpose |
//! | [`nvcc_modules`], [`real_modules`] | the machine code of printed modules | that of the modules of other compilers |
//! | [`launched_kernels`] | the PTX of every kernel that a test launches | the grammar and the rules of ptxas |

mod generated_crate;
pub mod gpu_results;
pub mod launched_kernels;
mod machine_code;
pub mod nvcc_modules;
pub mod ptxas_verdicts;
pub mod random_kernels;
pub mod real_modules;
pub mod sync_mutants;
pub mod tools;

pub use generated_crate::Engine;
pub use ptx_dsl_test_support::random::Random;
