//! A debugger for kernels on the host machine of ptx-dsl.
//!
//! A [`Session`] runs a launch on a thread of its own and stops it before statements: at breakpoints, at writes to an address, at the
//! first fault, or after a step of a warp. The host machine is deterministic, so a session also goes backwards: it runs the launch again,
//! up to an earlier statement. Two front ends talk to a session: [`prompt`], a plain prompt in a terminal, and [`dap`], the Debug Adapter
//! Protocol, which editors speak.

mod agent;
pub mod breaks;
pub mod dap;

pub mod expression;
mod machine;
mod program;
pub mod prompt;
mod session;
mod words;

pub use machine::{Machine, Mbarrier, RegisterRow, WarpRow};
pub use program::{Program, Source, Variable};
pub use session::{Agent, Ended, Moment, Outcome, Reason, Session, Stop};
