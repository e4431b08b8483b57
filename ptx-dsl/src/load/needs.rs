//! What the instructions of a kernel say about its launch, for the command line that `ptx-dsl run` proposes.

use ptx_dsl_analysis::tensor_copies::{MapUse, map_uses, rank};
use ptx_dsl_frontend::hir::{FuncId, Instr, Module};
use ptx_dsl_frontend::isa::{Barrier, Group, Tensor};
use ptx_dsl_frontend::opcode::op;
use ptx_dsl_frontend::passes::reach;
use ptx_dsl_frontend::qualifier::q;

/// What a launch of a kernel needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needs {
    /// Four warps execute some instructions together, or each a quarter of them.
    pub warpgroup: bool,
    /// Pairs of CTAs execute some instructions.
    pub pair: bool,
    /// The most threads that a barrier names.
    pub barrier_threads: u64,
    /// Numbers of bytes that an mbarrier object expects, in the order of the text, each once.
    pub expected_bytes: Vec<u64>,
    /// The dimensions of the tensors that it copies, in the order of the text, each once.
    pub ranks: Vec<usize>,
    /// By parameter: what the copies by a tensor map say about it.
    pub maps: Vec<Option<MapUse>>,
}

/// Reads the instructions of a kernel and of the functions that it names.
pub fn needs(module: &Module, kernel: FuncId) -> Needs {
    let maps = module.functions.get(kernel.0 as usize).map(|function| map_uses(module, function));
    let mut needs = Needs { maps: maps.unwrap_or_default(), ..Needs::default() };
    let functions = module.functions.iter().zip(reach::reached(module, kernel.0 as usize));
    for i in functions.filter(|(_, reached)| *reached).flat_map(|(function, _)| reach::instructions(function)) {
        needs.add(i);
    }
    needs
}

impl Needs {
    fn add(&mut self, i: &Instr) {
        let effects = &i.entry.effects;
        let of_warps = matches!(effects.tensor, Tensor::Load | Tensor::Store);
        self.warpgroup |= matches!(effects.group, Group::Wgmma(_)) || i.opcode == op::setmaxnreg || of_warps;
        self.pair |= i.has(q::cta_group_2);
        if effects.barrier == Barrier::Cta {
            self.barrier_threads = self.barrier_threads.max(i.constant("b").unwrap_or(0));
        }
        let expected = ["txCount", "tx_count"].iter().find_map(|name| i.constant(name));
        self.expected_bytes.extend(expected.filter(|bytes| !self.expected_bytes.contains(bytes)));
        if matches!(effects.group, Group::Bulk(_)) {
            self.ranks.extend(rank(i).filter(|rank| !self.ranks.contains(rank)));
        }
    }
}
