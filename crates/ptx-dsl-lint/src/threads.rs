//! Which threads run an instruction: convergence, election, registers that nobody wrote, code that never runs.

pub(crate) mod beyond_cluster;
pub(crate) mod convergence;
pub(crate) mod dead_code;
pub(crate) mod elected;
