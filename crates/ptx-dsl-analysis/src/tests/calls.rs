//! Inlining and promotion.

use super::*;
use crate::inline::inlined;
use crate::lanes::Lanes;
use crate::promote::{remove_constant_guards, simplify};
use ptx_dsl_isa::hir::Function;
use ptx_dsl_isa::opcode::op;

fn kernel(module: &Module) -> &Function {
    module.functions.iter().find(|f| f.name == "k").expect("the kernel")
}

const CALLEE: &str = ".func (.reg .b32 out) f(.reg .b32 in)\n{\n.reg .pred %q;\nsetp.eq.u32 %q, in, 0;\n@%q ret;\nadd.u32 out, in, 1;\nret;\n}\n";

#[test]
fn a_call_is_replaced_by_the_body() {
    let module = module(&text("", "mov.u32 %r1, 5;\ncall (%r2), f, (%r1);\nst.shared.u32 [sh], %r2;\nret;", CALLEE));
    let out = inlined(module, kernel(module), &whole(module)).expect("a call");
    // The argument, the body with `ret` as a branch, the result.
    assert_eq!(
        listing(&out.regs, &out.body),
        [
            "mov %r1 5",
            "mov in %r1",
            "setp %q in 0",
            "bra label",
            "add out in 1",
            "bra label",
            "mov %r2 out",
            "st _ %r2",
            "ret"
        ]
    );
}

#[test]
fn a_guarded_call_is_skipped_by_a_branch() {
    let module = module(&text("", "@%p1 call (%r2), f, (%r1);\nret;", CALLEE));
    let out = inlined(module, kernel(module), &whole(module)).expect("a call");
    let Stmt::Instr(skip) = &out.body[0] else { panic!("no instruction") };
    assert_eq!(skip.opcode, op::bra);
    assert!(matches!(skip.pred, Some((_, false))));
}

#[test]
fn recursion_stays_a_call() {
    let before = ".func g(.reg .b32 in);\n.func g(.reg .b32 in)\n{\ncall g, (in);\nret;\n}\n";
    let module = module(&text("", "call g, (%r1);\nret;", before));
    let out = inlined(module, kernel(module), &whole(module)).expect("a call");
    let calls = out.body.iter().filter(|s| matches!(s, Stmt::Instr(i) if i.opcode == op::call)).count();
    assert_eq!(calls, 1);
}

#[test]
fn a_kernel_without_calls_or_private_memory_stays() {
    let module = module(&text("", "mov.u32 %r1, 1;\nret;", ""));
    assert!(inlined(module, kernel(module), &whole(module)).is_none());
    assert!(simplify(module, kernel(module), &whole(module)).is_none());
}

/// The instructions after promotion.
fn promoted(body: &str) -> Option<Vec<String>> {
    let module = module(&text("", &format!(".local .align 8 .b8 spill[16];\n{body}\nret;"), ""));
    let out = simplify(module, kernel(module), &whole(module))?;
    Some(listing(&out.regs, &out.body))
}

#[test]
fn a_spill_becomes_a_register() {
    // The store of a spill stays: it still reads what it stores.
    let lines = promoted("st.local.u32 [spill+4], %r1;\nld.local.u32 %r2, [spill+4];").expect("a slot");
    assert_eq!(lines, ["mov new %r1", "st _ %r1", "mov %r2 new", "ret"]);
}

#[test]
fn a_variable_whose_address_escapes_stays() {
    assert_eq!(
        promoted(
            "mov.u64 %rd1, spill;\nst.global.u64 [%rd2], %rd1;\nst.local.u32 [spill], %r1;\nld.local.u32 %r2, [spill];"
        ),
        None
    );
}

#[test]
fn overlapping_slots_stay() {
    assert_eq!(promoted("st.local.u64 [spill], %rd1;\nld.local.u32 %r2, [spill+4];"), None);
}

#[test]
fn constant_guards_are_removed() {
    let flow = flow("", "setp.eq.u32 %p1, 1, 2;\n@%p1 mov.u32 %r1, 1;\n@!%p1 mov.u32 %r2, 2;\nret;");
    let out = remove_constant_guards(&flow, &Lanes::new(&flow)).expect("constant guards");
    assert_eq!(listing(&out.regs, &out.body), ["setp %p1 1 2", "mov %r2 2", "ret"]);
    let Stmt::Instr(mov) = &out.body[1] else { panic!("no instruction") };
    assert!(mov.pred.is_none());
}
