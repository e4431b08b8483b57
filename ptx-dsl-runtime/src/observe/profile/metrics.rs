//! The names that Nsight Compute has for the counters, and what they are in plain words.

use super::result::{Memory, Statement};
use ptx_dsl_isa::isa::class::InstrClass;
use ptx_dsl_isa::meaning::memory_pipeline::SECTOR;
use ptx_dsl_isa::meaning::work::Number;

/// A metric of Nsight Compute, and how to compute it.
pub(super) struct Metric {
    pub name: &'static str,
    pub of: fn(&Statement) -> u64,
    /// The statements that it counts; `None`: all.
    pub memory: Option<Memory>,
}

const fn all(name: &'static str, of: fn(&Statement) -> u64) -> Metric {
    Metric { name, of, memory: None }
}

const fn only(memory: Memory, name: &'static str, of: fn(&Statement) -> u64) -> Metric {
    Metric { name, of, memory: Some(memory) }
}

/// The metrics that counters give.
pub(super) const METRICS: [Metric; 30] = [
    all("smsp__inst_executed.sum", |s| s.counters.executed),
    all("smsp__thread_inst_executed.sum", |s| s.counters.threads),
    all("smsp__thread_inst_executed_pred_on.sum", on),
    all("smsp__sass_thread_inst_executed_op_fp16_pred_on.sum", |s| number(s, Number::F16)),
    all("smsp__sass_thread_inst_executed_op_fp32_pred_on.sum", |s| number(s, Number::F32)),
    all("smsp__sass_thread_inst_executed_op_fp64_pred_on.sum", |s| number(s, Number::F64)),
    all("smsp__sass_thread_inst_executed_op_integer_pred_on.sum", |s| number(s, Number::Integer)),
    all("smsp__sass_thread_inst_executed_op_conversion_pred_on.sum", |s| class(s, InstrClass::Conversion)),
    all("smsp__sass_thread_inst_executed_op_control_pred_on.sum", |s| class(s, InstrClass::Control)),
    all("smsp__sass_thread_inst_executed_op_memory_pred_on.sum", |s| class(s, InstrClass::Memory)),
    only(Memory::Load, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", |s| s.counters.global_requests),
    only(Memory::Load, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", |s| s.counters.global_sectors),
    only(Memory::Store, "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", |s| s.counters.global_requests),
    only(Memory::Store, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", |s| s.counters.global_sectors),
    only(Memory::Atomic, "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", |s| s.counters.global_requests),
    only(Memory::Atomic, "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", |s| s.counters.global_sectors),
    only(Memory::Reduction, "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", |s| s.counters.global_requests),
    only(Memory::Reduction, "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", |s| s.counters.global_sectors),
    only(Memory::Load, "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum", |s| s.counters.local_requests),
    only(Memory::Load, "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", |s| s.counters.local_sectors),
    only(Memory::Store, "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum", |s| s.counters.local_requests),
    only(Memory::Store, "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", |s| s.counters.local_sectors),
    all("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", |s| s.counters.shared_wavefronts),
    all("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", |s| s.counters.bank_conflicts),
    only(Memory::Load, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", |s| s.counters.shared_wavefronts),
    only(Memory::Store, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", |s| s.counters.shared_wavefronts),
    all("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_gmma.sum", |s| s.counters.matrix_shared_bytes / 128),
    all("l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum", copied),
    all("l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st.sum", |s| s.counters.async_global_written_bytes),
    all("idc__requests.sum", |s| s.counters.const_words),
];

/// The threads in which a statement takes effect.
fn on(s: &Statement) -> u64 {
    s.counters.threads - s.counters.predicated_off
}

/// Sectors that copies bring to shared memory, in each CTA that gets them: zeros outside of a tensor count as if they came from memory.
fn copied(s: &Statement) -> u64 {
    let c = &s.counters;
    c.async_global_read_sectors + (c.copy_multicast_bytes + c.copy_padded_bytes) / SECTOR
}

/// The threads in which arithmetic on these numbers takes effect.
fn number(s: &Statement, number: Number) -> u64 {
    if (s.class, s.number) == (InstrClass::Arithmetic, number) { on(s) } else { 0 }
}

/// The threads in which an instruction of this class takes effect.
fn class(s: &Statement, class: InstrClass) -> u64 {
    if s.class == class { on(s) } else { 0 }
}
