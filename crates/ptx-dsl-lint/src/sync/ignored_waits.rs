//! Tests of an mbarrier whose result nothing reads: the code behind them does not wait (PTX ISA 9.7.13.15.16).

use crate::errors::rings as errors;
use crate::kernel::Kernel;
use ptx_dsl_analysis::accesses::mbarrier_wait;
use ptx_dsl_analysis::dataflow::Bits;
use ptx_dsl_analysis::ssa::Value;

pub(crate) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    if !flow.cfg.any(&mbarrier_wait) {
        return;
    }
    let mut read = Bits::none(flow.ssa.values.len());
    for (_, at, _) in flow.walk() {
        flow.ssa.uses(at).iter().for_each(|(_, v)| read.set(*v as usize));
    }
    for value in &flow.ssa.values {
        match value {
            Value::Phi { args, .. } => args.iter().for_each(|v| read.set(*v as usize)),
            Value::Def { old: Some(old), .. } => read.set(*old as usize),
            _ => {}
        }
    }
    for (_, at, i) in flow.walk().filter(|(_, _, i)| mbarrier_wait(i)) {
        let results = flow.ssa.defs(at);
        if !results.is_empty() && results.iter().all(|(_, v)| !read.has(*v as usize)) {
            kernel.report(errors::wait_ignored(i.span, i.entry.opcode));
        }
    }
}
