//! Analyses of a function, for the lints and for the stages that make an image and compiled code.
//!
//! | file | analysis |
//! |---|---|
//! | `flow.rs` | a function with its control-flow graph and its SSA values |
//! | `cfg.rs`, `graph.rs` | basic blocks and edges; postorder, dominators (Cooper, Harvey and Kennedy), strongly connected components |
//! | `ssa.rs` | static single assignment (Cytron et al.); a sparse solver for facts about values |
//! | `dataflow.rs` | forward data flow on bit sets |
//! | `use_def.rs`, `liveness.rs`, `live_ranges.rs` | uses and definitions of an instruction; backward data flow; live-range splitting (webs) |
//! | `affine.rs` | the lattice of affine lanes, with transfer functions of scalar operations |
//! | `divergence.rs` | regions between divergent branches and their post-dominators |
//! | `loops.rs`, `induction.rs` | natural loops; their counters, iteration by iteration |
//! | `execution.rs` | the execution of one thread, with known registers |
//! | `reachable.rs` | values that can occur at an instruction, state by state |
//! | `fold.rs`, `compare.rs` | constant folding; comparisons |
//! | `issue.rs` | how many threads issue an instruction together |
//! | `uniformity.rs` | the lattice of uniformity, which `lanes.rs` and `affine.rs` refine |
//! | `lanes.rs`, `threads.rs`, `reaching.rs`, `sites.rs` | values of each thread; sets of threads; reaching threads; execution counts |
//! | `ctas.rs`, `ranks.rs` | variation between CTAs; constant propagation for one rank of a cluster |
//! | `first_warp.rs` | addresses of the lanes of the first warp |
//! | `floors.rs` | lower bounds of addresses in their variables |
//! | `provenance.rs`, `region.rs`, `accesses.rs` | provenance of addresses; bytes after an address; memory accesses of an instruction |
//! | `pointees.rs`, `tensor_copies.rs` | what a kernel accesses through its parameters; the copies by its tensor maps |
//! | `sources.rs` | a search through the values that a value is computed from |
//! | `guards.rs`, `paths.rs` | constant guards; feasible paths |
//! | `inline.rs`, `promote.rs` | inlining; promotion of memory to registers |

pub mod accesses;
pub mod affine;
pub mod cfg;
pub mod compare;
pub mod ctas;
pub mod dataflow;
pub mod divergence;
pub mod execution;
pub mod first_warp;
pub mod floors;
pub mod flow;
pub mod fold;
pub mod graph;
pub mod guards;
pub mod induction;
pub mod inline;
pub mod issue;
pub mod lanes;
pub mod live_ranges;
pub mod liveness;
pub mod loops;
pub mod paths;
pub mod pointees;
pub mod promote;
pub mod provenance;
pub mod ranks;
pub mod reachable;
pub mod reaching;
pub mod region;
pub mod sites;
pub mod sources;
pub mod ssa;
pub mod tensor_copies;
#[cfg(test)]
mod tests;
pub mod threads;
pub mod uniformity;
pub mod use_def;

pub use flow::Flow;
