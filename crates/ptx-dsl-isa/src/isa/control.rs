//! Control flow: manual 9.7.12. The operands are names, which are checked with the enclosing function.

use super::*;

/// The family.
#[rustfmt::skip]
pub const LIST: &[Instr] = &[
    instr("bra").section("9.7.12.3")
        .syntax("bra{.uni} tgt;")
        .operands(&[name("tgt")])
        .host(Host::Control).control(Control::Branch),
    instr("brx.idx").section("9.7.12.4").since(ptx(6, 0)).requires(sm(30))
        .syntax("brx.idx{.uni} index, tlist;")
        .operands(&[src("index", ty(Ty::U32)).reg(), name("tlist")])
        .host(Host::Control).control(Control::BranchTable),
    instr("call").section("9.7.12.5")
        .syntax(
            "call{.uni} (ret-param), func, (param-list);
             call{.uni} func, (param-list);
             call{.uni} func;
             call{.uni} (ret-param), fptr, (param-list), flist;
             call{.uni} fptr, (param-list), flist;
             call{.uni} fptr, flist;",
        )
        .operands(&[name("ret-param"), name("func"), name("param-list"), name("fptr"), name("flist")])
        .gates(&[gate(&[operand("flist")]).since(ptx(2, 1)).requires(sm(20))])
        .host(Host::Control).control(Control::Call),
    instr("ret").section("9.7.12.6").syntax("ret{.uni};").host(Host::Control).control(Control::Return),
    instr("exit").section("9.7.12.7").syntax("exit;").host(Host::Control).control(Control::Exit),
];
