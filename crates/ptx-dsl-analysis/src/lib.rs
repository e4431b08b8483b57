//! What the statements of a function mean together, for lints, code generation and the interpreter.
//!
//! | file | analysis |
//! |---|---|
//! | `cfg.rs`, `graph.rs` | basic blocks and edges; postorder, dominators (Cooper, Harvey and Kennedy), strongly connected components |
//! | `ssa.rs` | static single assignment: values, phis, uses; a solver for facts about values |
//! | `dataflow.rs` | forward data flow over sets of bits |
//! | `loops.rs`, `induction.rs`, `fold.rs` | natural loops; their counters, iteration by iteration; constant folding |
//! | `issue.rs` | how many threads issue an instruction together |
//! | `lanes.rs`, `threads.rs`, `reaching.rs`, `sites.rs` | which threads see a predicate true; sets of threads; who reaches a place; how often |
//! | `ctas.rs`, `ranks.rs` | what differs between CTAs; values by the rank of a CTA in its cluster |
//! | `provenance.rs`, `region.rs`, `accesses.rs` | where an address comes from; the bytes behind it; the accesses of an instruction |
//! | `guards.rs`, `paths.rs` | guards that are constant; paths through the graph on which conditions agree |
//! | `inline.rs`, `promote.rs` | calls replaced by their bodies; private memory promoted to registers |

pub mod accesses;
pub mod cfg;
pub mod ctas;
pub mod dataflow;
pub mod flow;
pub mod fold;
pub mod graph;
pub mod guards;
pub mod induction;
pub mod inline;
pub mod issue;
pub mod lanes;
pub mod loops;
pub mod paths;
pub mod promote;
pub mod provenance;
pub mod ranks;
pub mod reaching;
pub mod region;
pub mod sites;
pub mod ssa;
pub mod threads;

pub use flow::Flow;
