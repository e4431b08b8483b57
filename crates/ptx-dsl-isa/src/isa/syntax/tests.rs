//! Syntax blocks in the manual's notation, and their forms.

use super::*;
use crate::isa::instr;

fn of(opcode: &'static str, syntax: &'static str) -> Vec<Form> {
    forms(Box::leak(Box::new(instr(opcode).syntax(syntax))))
}

fn show(form: &Form) -> String {
    form.slots.iter().map(|s| format!("{}{}:{} ", s.name, s.group, s.words().join("|"))).collect()
}

#[test]
fn groups_sets_and_suffixes() {
    let f = of(
        "mbarrier.arrive",
        "mbarrier.arrive{.sem.scope}{.shared{::cta, ::cluster}}.b64 _, [addr]{, count};
         .sem = { .release, .relaxed } .scope = { .cta, .cluster };",
    );
    assert_eq!(f.len(), 1);
    assert_eq!(
        show(&f[0]),
        ".sem1:release|relaxed .scope1:cta|cluster .shared2:shared|shared::cta|shared::cluster .b640:b64 "
    );
    assert!(matches!(f[0].operands[0].shape, Shape::Sink));
    assert!(matches!(f[0].operands[1].shape, Shape::Addr(_)));
    assert_eq!((f[0].operands[2].name, f[0].operands[2].group), ("count", 1));
}

#[test]
fn dots_are_optional_in_sets() {
    let f = of("setp", "setp.CmpOp{.ftz}.type p[|q], a, {!}c; .CmpOp = { eq, ne }; .type = { .b16, .f32 };");
    assert_eq!(show(&f[0]), ".CmpOp0:eq|ne .ftz1:ftz .type0:b16|f32 ");
    assert!(matches!(f[0].operands[0].shape, Shape::Pair("q", true)));
    assert!(f[0].operands[2].negatable);
}

#[test]
fn a_suffix_may_be_a_set() {
    let f = of("q", "q.get_first_ctaid{::dimension}.b32 reg, r; ::dimension = { ::x, ::y, ::z };");
    let alts = "get_first_ctaid|get_first_ctaid::x|get_first_ctaid::y|get_first_ctaid::z";
    assert_eq!(show(&f[0]), format!(".get_first_ctaid0:{alts} .b320:b32 "));
}

#[test]
fn vectors_pairs_and_numbers() {
    let f = of("x", "x.a {x, y, _}, d|p, [t, {b,} c], 16{, s}{, p};");
    let ops = &f[0].operands;
    assert!(matches!(&ops[0].shape, Shape::Vector(v) if v.len() == 3));
    assert!(matches!(ops[1].shape, Shape::Pair("p", false)));
    assert!(matches!(&ops[2].shape, Shape::Addr(v) if v.len() == 3 && v[1].group == 1));
    assert!(matches!(ops[3].shape, Shape::Number(16)));
    assert_eq!(f[0].optional_groups, 2);
}
