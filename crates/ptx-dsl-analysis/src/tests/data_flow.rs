//! Forward data flow on bit sets.

use super::*;
use crate::dataflow::{Bits, Meet, for_each_instr, for_each_instr_some_every, forward, forward_instrs};
use ptx_dsl_isa::hir::Instr;
use ptx_dsl_isa::opcode::op;

const DIAMOND: &str =
    "setp.eq.u32 %p1, %r5, 0;\n@%p1 bra A;\nmov.u32 %r1, 1;\nbra B;\nA:\nadd.u32 %r1, %r1, 2;\nB:\nret;";

/// Bit 0: `mov` came before; bit 1: `setp` did.
fn step(_: u32, i: &Instr, set: &mut Bits) {
    match i.opcode {
        op::mov => set.set(0),
        op::setp => set.set(1),
        _ => {}
    }
}

#[test]
fn some_path_and_every_path() {
    let flow = flow("", DIAMOND);
    let join = block(&flow, "B") as usize;
    let some = forward_instrs(&flow.cfg, 2, Meet::Any, &step);
    let every = forward_instrs(&flow.cfg, 2, Meet::Every, &step);
    assert_eq!((some[join].has(0), some[join].has(1)), (true, true));
    assert_eq!((every[join].has(0), every[join].has(1)), (false, true));
    let mut seen = 0;
    let each = |_, i: &Instr, set: &mut Bits, _| step(0, i, set);
    for_each_instr_some_every(&flow.cfg, 2, &each, &mut |_, i, some, every| {
        if i.opcode == op::ret {
            seen += 1;
            assert!(some.has(0) && !every.has(0) && every.has(1));
        }
    });
    assert_eq!(seen, 1);
}

#[test]
fn a_loop_carries_facts_round() {
    let flow = flow("", "L:\nadd.u32 %r1, %r1, 1;\nmov.u32 %r2, 1;\nsetp.lt.u32 %p1, %r1, 4;\n@%p1 bra L;\nret;");
    let mut before_add = None;
    for_each_instr(&flow.cfg, 2, &step, &mut |_, _, i, set| {
        if i.opcode == op::add {
            before_add = Some((set.has(0), set.has(1)));
        }
    });
    assert_eq!(before_add, Some((true, true)));
}

#[test]
fn an_edge_has_its_own_transfer_function() {
    let flow = flow("", DIAMOND);
    let mut edge = |b: u32, n: usize, set: &mut Bits| {
        if flow.cfg.blocks[b as usize].succ[n].when == Some(true) {
            set.set(0);
        }
    };
    let sets = forward(&flow.cfg, 1, Meet::Every, &mut |_, _| {}, &mut edge);
    assert!(sets[block(&flow, "A") as usize].has(0));
    assert!(!sets[flow.cfg.block_of(first(&flow, op::mov)) as usize].has(0));
    assert!(!sets[block(&flow, "B") as usize].has(0));
}

#[test]
fn bits_beyond_the_bound_are_never_set() {
    let mut set = Bits::none(3);
    set.set(3);
    assert!(!set.has(3));
    set.set_state(0, 3, 1);
    assert_eq!([0, 1, 2].map(|n| set.has(n)), [false, true, false]);
    set.transition(1, 2);
    set.transition(0, 1);
    assert_eq!([0, 1, 2].map(|n| set.has(n)), [false, false, true]);
    assert!(Bits::all(3).has(2) && !Bits::all(3).has(3));
}
