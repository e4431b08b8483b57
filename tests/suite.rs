//! The integration tests, one binary: host semantics through real kernels, compile errors through rustc, printed PTX
//! through ptxas, and the parity of the table with the runtime.

mod bugs;
mod documentation;
mod editor;
mod explained;
mod facade;
mod host;
mod large;
mod modules;
mod oracle_matrix;
mod parity;
mod seeds;
mod tcgen05;
mod ui;

use ptx_dsl_test_support::ptxas;
