//! The names that Nsight Compute has for the counters, and what they are in plain words.

use super::counters::Counters;
use super::result::Memory;

/// A metric of Nsight Compute, and how to compute it.
pub(super) struct Metric {
    pub name: &'static str,
    pub of: fn(&Counters) -> u64,
    /// The statements that it counts; `None`: all.
    pub memory: Option<Memory>,
}

const fn all(name: &'static str, of: fn(&Counters) -> u64) -> Metric {
    Metric { name, of, memory: None }
}

const fn only(memory: Memory, name: &'static str, of: fn(&Counters) -> u64) -> Metric {
    Metric { name, of, memory: Some(memory) }
}

/// The metrics that counters give.
pub(super) const METRICS: [Metric; 19] = [
    all("smsp__inst_executed.sum", |c| c.executed),
    all("smsp__thread_inst_executed.sum", |c| c.threads),
    all("smsp__thread_inst_executed_pred_on.sum", |c| c.threads - c.predicated_off),
    only(Memory::Load, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", |c| c.global_requests),
    only(Memory::Load, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", |c| c.global_sectors),
    only(Memory::Store, "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", |c| c.global_requests),
    only(Memory::Store, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", |c| c.global_sectors),
    only(Memory::Atomic, "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", |c| c.global_requests),
    only(Memory::Atomic, "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", |c| c.global_sectors),
    only(Memory::Reduction, "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", |c| c.global_requests),
    only(Memory::Reduction, "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", |c| c.global_sectors),
    only(Memory::Load, "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum", |c| c.local_requests),
    only(Memory::Load, "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", |c| c.local_sectors),
    only(Memory::Store, "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum", |c| c.local_requests),
    only(Memory::Store, "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", |c| c.local_sectors),
    all("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", |c| c.shared_wavefronts),
    all("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", |c| c.bank_conflicts),
    only(Memory::Load, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", |c| c.shared_wavefronts),
    only(Memory::Store, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", |c| c.shared_wavefronts),
];
