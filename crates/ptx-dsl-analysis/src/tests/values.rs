//! SSA values.

use super::*;
use crate::ssa::{UNDEF, Value};
use ptx_dsl_isa::opcode::op;

#[test]
fn a_join_has_a_phi_with_an_argument_for_each_edge() {
    let flow = flow(
        "",
        "setp.eq.u32 %p1, %r5, 0;\n@%p1 bra A;\nmov.u32 %r1, 1;\nbra B;\nA:\nmov.u32 %r1, 2;\nB:\nst.global.u32 [%rd1], %r1;\nret;",
    );
    let value = read(&flow, first(&flow, op::st), "%r1");
    let Value::Phi { block: join, args } = &flow.ssa.values[value as usize] else { panic!("no phi") };
    assert_eq!(*join, block(&flow, "B"));
    let of: Vec<Val> = flow.cfg.blocks[*join as usize]
        .pred
        .iter()
        .map(|(p, _)| {
            if *p == block(&flow, "A") {
                written(&flow, nth(&flow, op::mov, 1))
            } else {
                written(&flow, first(&flow, op::mov))
            }
        })
        .collect();
    assert_eq!(*args, of);
    assert_eq!(flow.ssa.maker(value), None);
}

#[test]
fn equal_arguments_make_no_new_value() {
    let flow = flow(
        "",
        "mov.u32 %r1, 1;\nsetp.eq.u32 %p1, %r5, 0;\n@%p1 bra A;\nmov.u32 %r2, 1;\nA:\nst.global.u32 [%rd1], %r1;\nret;",
    );
    let value = read(&flow, first(&flow, op::st), "%r1");
    assert_eq!(flow.origin(value), written(&flow, first(&flow, op::mov)));
    assert_eq!(flow.ssa.maker(value), Some(first(&flow, op::mov)));
}

#[test]
fn a_loop_counter_is_a_phi_of_its_start_and_its_successor() {
    let flow = flow("", "mov.u32 %r1, 0;\nL:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 4;\n@%p1 bra L;\nret;");
    let add = first(&flow, op::add);
    let Value::Phi { args, .. } = &flow.ssa.values[read(&flow, add, "%r1") as usize] else { panic!("no phi") };
    let mut args = args.clone();
    args.sort_unstable();
    let mut expected = vec![written(&flow, first(&flow, op::mov)), written(&flow, add)];
    expected.sort_unstable();
    assert_eq!(args, expected);
    assert_eq!(flow.ssa.users(written(&flow, add)).len(), 2, "the phi and the comparison");
}

#[test]
fn a_guarded_write_keeps_the_old_value() {
    let flow =
        flow("", "mov.u32 %r1, 1;\nsetp.eq.u32 %p1, %r5, 0;\n@%p1 mov.u32 %r1, 2;\nst.global.u32 [%rd1], %r1;\nret;");
    let guarded = nth(&flow, op::mov, 1);
    let value = read(&flow, first(&flow, op::st), "%r1");
    let Value::Def { instr, old, .. } = flow.ssa.values[value as usize] else { panic!("no definition") };
    assert_eq!((instr, old), (guarded, Some(written(&flow, first(&flow, op::mov)))));
    assert_eq!(flow.ssa.maker(value), None, "not the only maker");
}

#[test]
fn a_negated_operand_is_a_use() {
    let flow = flow("", "mov.u32 %r1, 1;\nvmad.s32.s32.s32 %r3, %r1, %r1, -%r2;\nret;");
    let vmad = 1;
    assert_eq!(flow.ssa.uses(vmad).len(), 2);
    assert_eq!(read(&flow, vmad, "%r2"), UNDEF);
    assert!(flow.ssa.uses(vmad).contains(&(flow.ssa.var(reg(&flow, "%r2"), 0), UNDEF)));
}

#[test]
fn addresses_vectors_and_guards_are_uses() {
    let flow = flow("", "mov.u64 %rd1, sh;\n@%p1 st.shared.v2.u32 [%rd1], {%r1, %r2};\nret;");
    let names: Vec<&str> =
        flow.ssa.uses(first(&flow, op::st)).iter().map(|(var, _)| flow.register_name(*var)).collect();
    assert_eq!(names, ["%p1", "%rd1", "%r1", "%r2"]);
}

#[test]
fn a_register_written_on_one_path_may_be_undefined() {
    let flow = flow("", "setp.eq.u32 %p1, %r5, 0;\n@%p1 bra A;\nmov.u32 %r1, 1;\nA:\nst.global.u32 [%rd1], %r1;\nret;");
    let undefined = flow.ssa.maybe_undefined();
    assert!(undefined[read(&flow, first(&flow, op::st), "%r1") as usize]);
    assert!(!undefined[written(&flow, first(&flow, op::mov)) as usize]);
}

#[test]
fn a_growing_fact_ends_the_solver() {
    let flow = flow("", "mov.u32 %r1, 0;\nL:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 4;\n@%p1 bra L;\nret;");
    let depth = |_: Val, value: &Value, facts: &[u64]| match value {
        Value::Phi { args, .. } => args.iter().map(|a| facts[*a as usize]).max().unwrap_or(0),
        Value::Def { instr, .. } => {
            flow.ssa.uses(*instr).iter().map(|(_, v)| facts[*v as usize]).max().unwrap_or(0) + 1
        }
        _ => 0,
    };
    assert_eq!(flow.ssa.solve(0, &mut { depth }), None);
}
