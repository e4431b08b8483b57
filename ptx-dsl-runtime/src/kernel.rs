//! The description of a kernel that the machine gets: the constants that the macro emits, its variables, and how a region ends.

pub mod flow;
mod info;
mod origins;
pub(crate) mod variables;

pub use flow::{Flow, Next, Pc, Wait};
pub use info::{KernelInfo, NotYet, ParamInfo, Site};
pub use origins::Origins;
pub use ptx_dsl_isa::constant::Const;
