//! The PTX memory consistency model for small programs: which outcomes are allowed.
//!
//! | file | what |
//! |---|---|
//! | `program.rs` | threads, instructions, places |
//! | `runs.rs`, `trace.rs`, `agents.rs` | the runs of one thread, with every value that its reads could return; its asynchronous operations |
//! | `event.rs`, `relation.rs` | what the model relates; relations as bit matrices |
//! | `candidate.rs` | one run of each thread, with the relations that need no choice |
//! | `barriers.rs`, `mbarriers.rs` | which barrier and mbarrier operations meet |
//! | `model.rs` | relations and axioms, by the names of the manual |
//! | `search.rs` | the search over runs, reads-from, meetings, Fence-SC and coherence |
//! | `condition.rs` | conditions on final states |
//! | `error.rs` | the limits of the search |

mod agents;
mod barriers;
mod candidate;
pub mod condition;
mod error;
pub mod event;
mod mbarriers;
mod model;
pub mod program;
mod relation;
mod runs;
mod search;
mod trace;

pub use error::Error;
pub use model::Version;
pub use search::{Witness, find};
