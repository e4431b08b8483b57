//! Uses and definitions, liveness, live-range splitting, affine lanes.

use super::*;
use crate::affine::lattice::{Affine, CTA_UNIFORM, UNIFORM, VARYING};
use crate::affine::scalar_op::{Op, scalar_op};
use crate::affine::sreg;
use crate::live_ranges::split;
use crate::liveness::{GlobalRegisters, Liveness, NodeUseDef};
use crate::use_def::{RegKey, UseDef};
use ptx_dsl_isa::isa::sreg::special;
use ptx_dsl_isa::opcode::op;
use std::collections::BTreeSet;

const K: FuncId = FuncId(0);

fn key(flow: &Flow, name: &str) -> RegKey {
    let reg = flow.function.regs.iter().position(|r| r.name == name).expect("a register");
    RegKey::new(K, RegId(reg as u32), 0)
}

fn names(flow: &Flow, keys: &[RegKey]) -> Vec<String> {
    let name = |k: &RegKey| match k.is_carry() {
        true => "CC".to_owned(),
        false => flow.function.regs[k.reg.0 as usize].name.clone(),
    };
    keys.iter().map(name).collect()
}

#[test]
fn a_guarded_instruction_reads_what_it_writes() {
    let flow =
        flow("", "add.cc.u32 %r1, %r2, 1;\n@%p1 addc.u32 %r3, %r4, %r4;\nst.global.v2.u32 [%rd1+8], {%r1, %r3};\nret;");
    let of = |opcode| {
        let found = UseDef::of(K, flow.instr(first(&flow, opcode)));
        (names(&flow, &found.uses).join(" "), names(&flow, &found.defs).join(" "))
    };
    assert_eq!(of(Opcode::of("add.cc")), ("%r2".into(), "%r1 CC".into()));
    assert_eq!(of(Opcode::of("addc")), ("%r4 %r4 CC %p1 %r3".into(), "%r3".into()));
    assert_eq!(of(op::st), ("%rd1 %r1 %r3".into(), String::new()));
}

/// The liveness of the basic blocks.
fn liveness(flow: &Flow) -> Liveness {
    let node = |b: usize| {
        let mut node = NodeUseDef::default();
        for at in flow.cfg.range(b as u32) {
            let UseDef { uses, defs } = UseDef::of(K, flow.instr(at));
            node.uses.extend(uses.into_iter().filter(|k| !node.defs.contains(k)));
            node.defs.extend(defs);
        }
        node
    };
    let nodes: Vec<_> = (0..flow.cfg.blocks.len()).map(node).collect();
    let successors: Vec<_> =
        flow.cfg.blocks.iter().map(|b| b.succ.iter().map(|e| e.to as usize).collect::<Vec<_>>()).collect();
    Liveness::new(&successors, GlobalRegisters::new(&nodes))
}

#[test]
fn a_register_is_live_from_its_definitions_to_its_last_use() {
    let flow = flow(
        "",
        "mov.u32 %r1, 1;\nmov.u32 %r2, 2;\nsetp.eq.u32 %p1, %r5, 0;\n@%p1 bra A;\nmov.u32 %r1, 3;\nbra B;\n\
         A:\nadd.u32 %r3, %r2, %r2;\nB:\nst.global.u32 [%rd1], %r1;\nret;",
    );
    let live = liveness(&flow);
    let (a, b, other) = (block(&flow, "A"), block(&flow, "B"), flow.cfg.block_of(4));
    let at_start = |b: u32| {
        let all = ["%r1", "%r2", "%r3", "%r5", "%rd1"];
        all.into_iter().filter(|r| live.is_live_in(b as usize, &key(&flow, r))).collect::<Vec<_>>().join(" ")
    };
    assert_eq!([at_start(a), at_start(other), at_start(b)], ["%r1 %r2 %rd1", "%rd1", "%r1 %rd1"]);
    assert!(live.is_live_out(a as usize, &key(&flow, "%r1")) && !live.is_live_out(a as usize, &key(&flow, "%r2")));
    // Nothing wrote these before.
    assert_eq!(live.uninitialised(), BTreeSet::from([key(&flow, "%r5"), key(&flow, "%rd1")]));
}

#[test]
fn a_loop_keeps_what_it_reads_live_round() {
    let flow = flow(
        "",
        "mov.u32 %r1, 8;\nmov.u32 %r2, 5;\nL:\nadd.u32 %r3, %r2, %r1;\nst.global.u32 [%rd1], %r3;\nsub.u32 %r1, %r1, 1;\n\
         setp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\nret;",
    );
    let live = liveness(&flow);
    let body = block(&flow, "L") as usize;
    assert!(["%r1", "%r2", "%rd1"].iter().all(|r| live.is_live_out(body, &key(&flow, r))));
    assert!(["%r3", "%p1"].iter().all(|r| !live.is_live_out(body, &key(&flow, r))));
}

/// A kernel with more registers than a word has bits.
#[test]
fn many_registers_are_live_at_once() {
    let mut body = ".reg .b32 %w<200>;\n".to_owned();
    (0..200).for_each(|n| body += &format!("mov.u32 %w{n}, {n};\n"));
    body += "bra L;\nL:\n";
    (0..200).filter(|n| n % 3 == 0).for_each(|n| body += &format!("st.global.u32 [%rd1], %w{n};\n"));
    let flow = flow("", &(body + "ret;"));
    let live = liveness(&flow);
    let to = block(&flow, "L") as usize;
    for n in 0..200 {
        assert_eq!(live.is_live_in(to, &key(&flow, &format!("%w{n}"))), n % 3 == 0, "%w{n}");
    }
}

#[test]
fn each_web_of_a_register_becomes_a_register() {
    let count = |body: &str| {
        let flow = flow("", &format!("{body}\nst.global.u32 [%rd1], %r0;\nret;"));
        split(flow.function).map_or(0, |f| f.regs.len() - flow.function.regs.len())
    };
    assert_eq!(count("mov.u32 %r0, 1; add.u32 %r1, %r0, %r0; mov.u32 %r0, %tid.x;"), 1);
    // the old value stays where the predicate is false
    assert_eq!(count("mov.u32 %r0, 1; setp.eq.u32 %p1, %r0, 2; @%p1 mov.u32 %r0, %tid.x;"), 0);
    // both definitions reach the use
    let joined = "mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 2; mov.u32 %r0, 1; @%p1 bra on; mov.u32 %r0, 2; on:";
    assert_eq!(count(joined), 0);
}

#[test]
fn lanes_of_special_registers_follow_the_shape_of_the_cta() {
    let x = |x: u32| sreg::affine(Some([x, 2, 1]), special::tid_x);
    assert_eq!(x(64), Affine { period: 32, stride: 1, known_align: 5, ..VARYING });
    assert_eq!((x(16).period, x(16).stride, x(16).guards), (16, 1, 0));
    // rows of 24 threads lie across warps
    assert_eq!(x(24), VARYING);
    assert_eq!(sreg::affine(Some([64, 2, 1]), special::tid_y), UNIFORM);
    // `%tid.x` counts if the warp lies in one row, which is tested at run time
    assert_eq!(sreg::affine(None, special::tid_x).guards, 1);
    assert_eq!(sreg::affine(None, special::laneid).stride, 1);
    assert!(sreg::is_cta_uniform(special::ctaid_x) && !sreg::is_cta_uniform(special::warpid));
}

#[test]
fn an_instruction_on_plain_values_is_a_scalar_operation() {
    let flow = flow("", "mad.wide.u32 %rd1, %r1, 4, %rd2;\nadd.sat.s32 %r2, %r1, %r1;\ncvt.s64.s32 %rd3, %r1;\nret;");
    let of = |opcode| scalar_op(flow.function, None, flow.instr(first(&flow, opcode)));
    let mad = of(op::mad).expect("a scalar operation");
    assert_eq!((mad.op, mad.bits, mad.to, mad.sources(), mad.source_bits(2)), (Op::MadWide, 32, 64, 3, 64));
    let cvt = of(op::cvt).expect("a scalar operation");
    assert_eq!((cvt.op, cvt.signed, cvt.to), (Op::Cvt, true, 64));
    // it saturates
    assert!(of(op::add).is_none());
    // 4 bytes for each lane, from a uniform address on
    let lanes = Affine { period: 32, stride: 1, known_align: 5, ..VARYING };
    let found = mad.transfer(&[(lanes, None), (Affine::constant(4), Some(4)), (CTA_UNIFORM, None)]);
    assert_eq!((found.period, found.stride, found.guards, found.is_cta_uniform()), (32, 4, 0, false));
}
