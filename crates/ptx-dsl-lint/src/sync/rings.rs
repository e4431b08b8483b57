//! Rings of mbarriers: arrays of objects that loops go through stage by stage (PTX ISA 9.7.13.15).

use crate::sync::rings::uses::Rings;
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::lanes::Lanes;
use ptx_dsl_analysis::provenance::Provenance;
use ptx_dsl_analysis::reaching::Places;
use ptx_dsl_isa::diag::Diagnostic;
use ptx_dsl_isa::opcode::op;

mod counts;
mod objects;
mod parities;
mod peers;
mod uses;

pub(crate) fn check(flow: &Flow, lanes: &Lanes, places: &Places, from: &Provenance, out: &mut Vec<Diagnostic>) {
    if !flow.function.entry || flow.calls || !flow.cfg.has(op::mbarrier_init) {
        return;
    }
    let Some(rings) = Rings::new(flow, from) else { return };
    objects::check(flow, &rings, out);
    counts::check(flow, lanes, places, &rings, out);
    parities::check(flow, &rings, out);
    peers::check(flow, lanes, &rings, out);
}
