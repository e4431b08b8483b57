//! Constant guards and feasible paths.

use super::*;
use crate::guards::{CONSTANT, constant_guard};
use crate::lanes::Lanes;
use crate::paths::{Hit, Paths, Step};
use ptx_dsl_isa::opcode::op;

/// Whether the guard of the first `st` is constant, and why.
fn guard(directives: &str, body: &str) -> Option<(bool, &'static str)> {
    let flow = flow(directives, &format!("{body}\nret;"));
    let st = first(&flow, op::st);
    constant_guard(&flow, &Lanes::new(&flow), flow.cfg.block_of(st), st)
}

#[test]
fn guards_that_are_constant() {
    let store = "st.shared.u32 [sh], %r1;";
    let cases = [
        ("", "setp.eq.u32 %p1, 1, 2;\n@%p1", Some(false)),
        ("", "setp.eq.u32 %p1, 1, 2;\n@!%p1", Some(true)),
        (".reqntid 128", "mov.u32 %r1, %tid.x;\nsetp.ge.u32 %p1, %r1, 128;\n@%p1", Some(false)),
        (".reqntid 128", "mov.u32 %r1, %tid.x;\nsetp.ge.u32 %p1, %r1, 127;\n@%p1", None),
        ("", "ld.param.u32 %r1, [n];\nsetp.lt.u32 %p1, %r1, 0;\n@%p1", Some(false)),
        ("", "ld.param.u32 %r1, [n];\nsetp.lt.s32 %p1, %r1, 0;\n@%p1", None),
        ("", "ld.param.u32 %r1, [n];\nsetp.ge.u32 %p1, %r1, %r1;\n@%p1", Some(true)),
        ("", "ld.param.u32 %r1, [n];\nand.b32 %r2, %r1, 7;\nsetp.gt.u32 %p1, %r2, 7;\n@%p1", Some(false)),
        ("", "ld.param.u32 %r1, [n];\nand.b32 %r2, %r1, 7;\nsetp.gt.u32 %p1, %r2, 6;\n@%p1", None),
        (
            "",
            "ld.param.u32 %r1, [n];\nsetp.eq.u32 %p1, %r1, 1;\nnot.pred %p2, %p1;\nand.pred %p3, %p1, %p2;\n@%p3",
            Some(false),
        ),
        ("", "ld.param.u32 %r1, [n];\nsetp.eq.u32 %p1, %r1, 1;\n@%p1 bra A;\nret;\nA:\n@%p1", Some(true)),
        ("", "ld.param.u32 %r1, [n];\nsetp.eq.u32 %p1, %r1, 1;\n@%p1 bra A;\n@!%p1 bra B;\nA:\n@%p1", None),
    ];
    for (directives, body, expected) in cases {
        let tail = if body.contains("bra B") { "\nB:" } else { "" };
        let found = guard(directives, &format!("{body} {store}{tail}"));
        assert_eq!(found.map(|f| f.0), expected, "{body}");
    }
    assert_eq!(guard("", &format!("setp.eq.u32 %p1, 1, 2;\n@%p1 {store}")).map(|f| f.1), Some(CONSTANT));
}

/// A path from the entry to the first `st` that avoids all `mov`s.
fn around_mov(body: &str) -> Option<Hit> {
    let flow = flow("", &format!("ld.param.u32 %r1, [n];\nld.param.u32 %r2, [m];\n{body}\nret;"));
    let lanes = Lanes::new(&flow);
    Paths::new(&flow, &lanes).from_entry(&mut |_, i| match i.opcode {
        op::st => Step::Found,
        op::mov => Step::Stop,
        _ => Step::Go,
    })
}

#[test]
fn paths_agree_with_their_conditions() {
    let store = "st.shared.u32 [sh], %r1;";
    let cases = [
        // The write and the read have the same guard.
        (format!("setp.eq.u32 %p1, %r1, 0;\n@%p1 mov.u32 %r3, 1;\n@%p1 {store}"), false),
        (format!("setp.eq.u32 %p1, %r1, 0;\n@%p1 mov.u32 %r3, 1;\n@!%p1 {store}"), true),
        // The same comparison again, and its opposite.
        (format!("setp.lt.s32 %p1, %r1, 5;\n@%p1 mov.u32 %r3, 1;\nsetp.ge.s32 %p2, %r1, 5;\n@!%p2 {store}"), false),
        (format!("setp.lt.s32 %p1, %r1, 5;\n@%p1 mov.u32 %r3, 1;\nsetp.lt.u32 %p2, %r1, 5;\n@%p2 {store}"), false),
        // Independent conditions.
        (format!("setp.eq.u32 %p1, %r1, 0;\n@%p1 mov.u32 %r3, 1;\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 {store}"), true),
        // A conjunction that holds says that its parts hold.
        (
            format!(
                "setp.eq.u32 %p1, %r1, 0;\n@%p1 mov.u32 %r3, 1;\nsetp.eq.u32 %p2, %r2, 0;\nand.pred %p3, %p1, %p2;\n@%p3 {store}"
            ),
            false,
        ),
        (store.to_owned(), true),
    ];
    for (body, expected) in cases {
        assert_eq!(around_mov(&body).is_some(), expected, "{body}");
    }
}

#[test]
fn a_path_without_a_guess_is_certain() {
    assert!(around_mov("st.shared.u32 [sh], %r1;").is_some_and(|hit| hit.certain));
    assert!(
        around_mov("setp.eq.u32 %p1, %r1, 0;\n@%p1 bra A;\nret;\nA:\nst.shared.u32 [sh], %r1;")
            .is_some_and(|hit| !hit.certain)
    );
}

#[test]
fn a_flag_set_on_one_path() {
    let body =
        "setp.eq.u32 %p1, %r1, 0;\nand.b32 %r5, %r2, 0;\n@%p1 bra A;\nmov.u32 %r4, 1;\nA:\nst.shared.u32 [sh], %r4;";
    assert!(around_mov(body).is_some());
}
