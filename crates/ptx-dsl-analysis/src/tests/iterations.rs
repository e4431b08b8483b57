//! Constant folding and induction variables.

use super::*;
use crate::execution::{Execution, Position};
use crate::fold::fold;
use crate::induction::{Induction, Thread};
use crate::loops::Loops;
use ptx_dsl_isa::opcode::op;

/// The result of one instruction whose sources are constants.
fn folded(instr: &str) -> Option<u64> {
    let flow = flow("", &format!("{instr}\nret;"));
    fold(flow.instr(0), &mut |o| match o {
        Operand::Imm(n) => Some(*n),
        _ => None,
    })
}

#[test]
fn folding() {
    for (instr, expected) in [
        ("add.u32 %r1, 4294967295, 2;", Some(1)),
        ("sub.u32 %r1, 1, 2;", Some(0xffff_ffff)),
        ("mul.lo.u32 %r1, 65536, 65537;", Some(0x1_0000)),
        ("mul.hi.u32 %r1, 65536, 65537;", Some(1)),
        ("mul.hi.s32 %r1, -1, 5;", Some(0xffff_ffff)),
        ("mul.wide.s32 %rd1, -1, 5;", Some(0xffff_ffff_ffff_fffb)),
        ("mul.wide.u32 %rd1, 4294967295, 2;", Some(0x1_ffff_fffe)),
        ("mad.lo.u32 %r1, 3, 4, 5;", Some(17)),
        ("shl.b32 %r1, 1, 32;", Some(0)),
        ("shl.b32 %r1, 3, 31;", Some(0x8000_0000)),
        ("shr.u32 %r1, 2147483648, 31;", Some(1)),
        ("shr.s32 %r1, -8, 1;", Some(0xffff_fffc)),
        ("shr.s32 %r1, -8, 40;", Some(0xffff_ffff)),
        ("min.s32 %r1, -1, 1;", Some(0xffff_ffff)),
        ("min.u32 %r1, -1, 1;", Some(1)),
        ("max.s32 %r1, -1, 1;", Some(1)),
        ("div.s32 %r1, -7, 2;", Some(0xffff_fffd)),
        ("div.u32 %r1, 7, 0;", None),
        ("rem.u32 %r1, 7, 4;", Some(3)),
        ("not.b32 %r1, 0;", Some(0xffff_ffff)),
        ("bfe.u32 %r1, 61440, 12, 3;", Some(7)),
        ("bfe.s32 %r1, 61440, 12, 3;", None),
        ("setp.lt.s32 %p1, -1, 0;", Some(1)),
        ("setp.lt.u32 %p1, -1, 0;", Some(0)),
        ("add.sat.s32 %r1, 1, 2;", None),
        ("add.u32 %r1, 1, %r2;", None),
    ] {
        assert_eq!(folded(instr), expected, "{instr}");
    }
}

/// Counts from 0 to 3; the stage goes 0, 1, 2, 0 and the parity flips when it wraps.
const RING: &str = "mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nmov.u32 %r3, 0;\nL:\nadd.u32 %r4, %r2, 0;\nadd.u32 %r2, %r2, 1;\n\
                    setp.ne.u32 %p1, %r2, 3;\n@%p1 bra M;\nmov.u32 %r2, 0;\nxor.b32 %r3, %r3, 1;\nM:\nadd.u32 %r1, %r1, 1;\n\
                    setp.lt.u32 %p2, %r1, 5;\n@%p2 bra L;\nst.global.u32 [%rd1], %r1;\nret;";

#[test]
fn counters_iteration_by_iteration() {
    let flow = flow("", RING);
    let loops = Loops::new(&flow.cfg);
    let header = block(&flow, "L");
    let add = first(&flow, op::add);
    let stage = read(&flow, add, "%r2");
    let parity = read(&flow, first(&flow, op::xor), "%r3");
    assert_eq!(Induction::depends_on_counter(&flow, header, &[stage]), Some(true));
    let mut loop_ =
        Induction::new(&flow, &loops, header, &[stage, parity], Some((header, add))).expect("a small slice");
    let mut rows = Vec::new();
    for _ in 0..5 {
        rows.push((loop_.value(stage), loop_.value(parity), loop_.ends()));
        loop_.next();
    }
    let row = |stage, parity, ends| (Some(stage), Some(parity), ends);
    assert_eq!(rows, [row(0, 0, false), row(1, 0, false), row(2, 0, false), row(0, 1, false), row(1, 1, true)]);
}

#[test]
fn the_value_when_a_loop_is_left() {
    let flow = flow("", RING);
    let loops = Loops::new(&flow.cfg);
    let st = first(&flow, op::st);
    let count = read(&flow, st, "%r1");
    let mut after = Induction::after_loop(&flow, &loops, flow.cfg.block_of(st), &[count]).expect("a loop");
    let mut counts = Vec::new();
    for _ in 0..3 {
        counts.push(after.value(count));
        after.next();
    }
    // As if the loop were left in that iteration.
    assert_eq!(counts, [Some(1), Some(2), Some(3)]);
}

#[test]
fn one_thread_has_its_numbers() {
    let flow = flow(
        ".reqntid 8, 4",
        "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %tid.y;\nmad.lo.u32 %r3, %r2, 100, %r1;\nld.param.u32 %r4, [n];\nadd.u32 %r5, %r4, 1;\nret;",
    );
    let loops = Loops::new(&flow.cfg);
    let value = written(&flow, first(&flow, op::mad));
    let loaded = written(&flow, first(&flow, op::add));
    let mut at = Induction::new(&flow, &loops, crate::cfg::NONE, &[value, loaded], None).expect("a small slice");
    assert_eq!(at.value(value), None, "threads differ");
    at.begin(Some(Thread { number: 19, shape: Some([8, 4, 1]) }));
    assert_eq!((at.value(value), at.value(loaded)), (Some(203), None));
}

#[test]
fn a_guard_decides_whether_an_iteration_runs() {
    let flow = flow(
        "",
        "mov.u32 %r1, 0;\nL:\nsetp.eq.u32 %p1, %r1, 1;\n@%p1 st.shared.u32 [sh], %r1;\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p2, %r1, 3;\n@%p2 bra L;\nret;",
    );
    let loops = Loops::new(&flow.cfg);
    let (header, st) = (block(&flow, "L"), first(&flow, op::st));
    let mut loop_ = Induction::new(&flow, &loops, header, &[], Some((header, st))).expect("a small slice");
    let mut runs = Vec::new();
    for _ in 0..3 {
        runs.push(loop_.runs(header, st));
        loop_.next();
    }
    assert_eq!(runs, [false, true, false]);
}

#[test]
fn certain_execution_in_an_iteration() {
    let flow = flow(
        ".reqntid 64",
        "mov.u32 %r1, %tid.x;\nmov.u32 %r2, 0;\nld.param.u32 %r5, [n];\nL:\nsetp.lt.u32 %p1, %r1, 8;\n@%p1 bra M;\n\
         st.global.u32 [%rd1], %r1;\nM:\nsetp.lt.u32 %p2, %r2, %r5;\n@%p2 st.global.u32 [%rd1], 1;\nadd.u32 %r2, %r2, 1;\n\
         setp.lt.u32 %p3, %r2, 3;\n@%p3 bra L;\nret;",
    );
    let loops = Loops::new(&flow.cfg);
    let header = block(&flow, "L");
    let (known, unknown) = (nth(&flow, op::st, 0), nth(&flow, op::st, 1));
    let mut rows = Vec::new();
    for number in [7, 8] {
        let at = Some((flow.cfg.block_of(known), known));
        let mut loop_ = Induction::new(&flow, &loops, header, &[], at).expect("a small slice");
        loop_.begin(Some(Thread { number, shape: Some([64, 1, 1]) }));
        for _ in 0..3 {
            let sure = [known, unknown].map(|at| loop_.surely_executes(flow.cfg.block_of(at), at));
            rows.push((sure, loop_.surely_repeats()));
            loop_.next();
        }
    }
    let (out, inside) = ([false, false], [true, false]);
    assert_eq!(rows, [(out, true), (out, true), (out, false), (inside, true), (inside, true), (inside, false)]);
}

/// The stores of a thread, with the value that each stores, and whether it certainly happens.
fn stores(body: &str, number: usize) -> Vec<(Option<u64>, bool)> {
    let flow = flow(".reqntid 64", body);
    let loops = Loops::new(&flow.cfg);
    let mut ends = vec![false; flow.cfg.blocks.len()];
    ends[flow.cfg.exit as usize] = true;
    let mut execution = Execution::new(&flow, &loops, &ends, Thread { number, shape: Some([64, 1, 1]) });
    let mut out = Vec::new();
    for _ in 0..40 {
        let (at, certain) = match execution.position() {
            Position::At(at) => (at, true),
            Position::Perhaps(at) => (at, false),
            Position::Over => break,
        };
        if flow.instr(at).opcode == op::st && execution.guard_holds() != Some(false) {
            out.push((execution.operand(&Operand::Reg(reg(&flow, "%r1"), 0)), certain));
        }
        execution.step();
    }
    out
}

#[test]
fn execution_of_a_thread() {
    let count = "mov.u32 %r1, %tid.x;\nL:\n@!%p1 st.global.u32 [%rd1], %r1;\nadd.u32 %r1, %r1, 1;\nsetp.ge.u32 %p2, %r1, 5;\n\
                 setp.eq.u32 %p1, %r1, 4;\n@!%p2 bra L;\nret;";
    let sure = |n: u64| (Some(n), true);
    // The first guard is unknown, and the loop does not store 4.
    assert_eq!(stores(count, 2), [(Some(2), false), sure(3)]);
    let branches = "mov.u32 %r1, 7;\nld.param.u32 %r2, [n];\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra M;\nmov.u32 %r1, 8;\nM:\n\
                    st.global.u32 [%rd1], %r1;\nsetp.eq.u32 %p2, %r2, 1;\nmov.u32 %r1, 9;\n@%p2 bra E;\n\
                    st.global.u32 [%rd1], %r1;\nE:\nst.global.u32 [%rd1], %r1;\nret;";
    // Behind an unknown branch the register is unknown; the store that it may pass by is left out.
    assert_eq!(stores(branches, 0), [(None, true), sure(9)]);
    let endless = "mov.u32 %r1, 0;\nL:\nld.global.u32 %r2, [%rd1];\nst.global.u32 [%rd1], %r1;\nadd.u32 %r1, %r1, 1;\n\
                   setp.eq.u32 %p1, %r2, 1;\n@%p1 bra L;\nret;";
    assert_eq!(stores(endless, 0)[..3], [sure(0), sure(1), sure(2)]);
}
