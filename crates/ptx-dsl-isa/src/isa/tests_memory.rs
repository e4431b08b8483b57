//! Compiles the families of memory and synchronisation: names agree, and the manual's examples are covered.

use super::syntax::{OpForm, Shape, forms};
use super::*;

const FILES: &[&[Instr]] = &[
    ld_st::LIST,
    prefetch::LIST,
    address::LIST,
    atom::LIST,
    fence::LIST,
    bar::LIST,
    mbarrier::LIST,
    clusterlaunchcontrol::LIST,
    warp::LIST,
    control::LIST,
    misc::LIST,
    async_store::LIST,
    async_copy::LIST,
    bulk::LIST,
    tensor::LIST,
    multimem::LIST,
    fabric::LIST,
    compress::LIST,
    wmma::LIST,
    mma::LIST,
    ldmatrix::LIST,
    wgmma::LIST,
];

fn names(op: &OpForm, out: &mut Vec<&'static str>) {
    match &op.shape {
        Shape::Value | Shape::List => out.push(op.name),
        Shape::Pair(second, _) => out.extend([op.name, second]),
        Shape::Addr(parts) | Shape::Vector(parts) => parts.iter().for_each(|p| names(p, out)),
        _ => {}
    }
}

#[test]
fn every_operand_of_every_form_is_described() {
    for instr in FILES.iter().copied().flatten() {
        let forms = forms(instr);
        assert!(!forms.is_empty(), "{}", instr.opcode);
        let mut written = Vec::new();
        for op in forms.iter().flat_map(|f| &f.operands) {
            names(op, &mut written);
        }
        for name in written {
            let name = name.trim();
            assert!(instr.operands.iter().any(|o| o.name == name), "{} {}: {name}", instr.opcode, instr.section);
        }
    }
}

#[test]
fn every_qualifier_of_a_gate_or_rule_can_be_written() {
    for instr in FILES.iter().copied().flatten() {
        let forms = forms(instr);
        let known = |q: Qualifier| forms.iter().flat_map(|f| &f.slots).any(|s| s.alts.contains(&q));
        for gate in instr.gates {
            // `ld` and `st`, `atom` and `red` share their gates: a gate may be idle, a condition with `has` alone not misspelt.
            if let [When::Has(q)] = gate.when
                && !matches!(instr.opcode, "ld" | "st" | "atom" | "red")
                && !(instr.opcode == "cvta" || instr.opcode == "isspacep")
            {
                assert!(known(*q), "{} {}: {q}", instr.opcode, instr.section);
            }
        }
        // A slot that no set explains would show as its own literal.
        for slot in forms.iter().flat_map(|f| &f.slots) {
            let own = slot.alts.len() == 1 && slot.name.strip_prefix('.') == Some(slot.alts[0].word());
            let slots = [
                ".sem",
                ".scope",
                ".ss",
                ".type",
                ".vec",
                ".space",
                ".op",
                ".mode",
                ".level",
                ".size",
                ".action",
                ".layout",
                ".phase_type",
            ];
            assert!(!(own && slots.contains(&&*slot.name)), "{}: {} has no set", instr.opcode, slot.name);
        }
    }
}

// Written out from 9.7.13.15.14: five forms, `_` required in the two of `.shared::cluster`.
#[test]
fn arrive_drop_has_the_five_forms_of_the_manual() {
    let entry = mbarrier::LIST.iter().find(|i| i.opcode == "mbarrier.arrive_drop").unwrap();
    let forms = forms(entry);
    assert_eq!(forms.len(), 5);
    let sink: Vec<bool> = forms.iter().map(|f| matches!(f.operands[0].shape, Shape::Sink)).collect();
    assert_eq!(sink, [false, true, false, true, false]);
    let optional: Vec<u8> = forms.iter().map(|f| f.optional_groups).collect();
    assert_eq!(optional, [1, 1, 0, 0, 0]);
    for form in &forms[..4] {
        let groups: Vec<(&str, u8)> =
            form.slots.iter().filter(|s| s.name == ".sem" || s.name == ".scope").map(|s| (&*s.name, s.group)).collect();
        assert_eq!(groups.len(), 2);
        assert_eq!(groups[0].1, groups[1].1, "`.sem` and `.scope` come together");
    }
}

#[test]
fn try_cancel_and_query_cancel() {
    let [try_cancel, query] = clusterlaunchcontrol::LIST else { panic!("two entries") };
    let form = &forms(try_cancel)[0];
    let required: Vec<&str> = form.slots.iter().filter(|s| s.group == 0).flat_map(|s| s.words()).collect();
    assert_eq!(required, ["async", "mbarrier::complete_tx::bytes", "b128"]);
    assert_eq!(try_cancel.operands.iter().map(|o| o.align).collect::<Vec<_>>(), [16, 8]);
    let forms = forms(query);
    let last: Vec<&str> = forms[2].slots[0].words();
    assert_eq!(last, ["get_first_ctaid::x", "get_first_ctaid::y", "get_first_ctaid::z"]);
    assert!(matches!(&forms[1].operands[0].shape, Shape::Vector(v) if v.len() == 4));
}

/// Every barrier and mbarrier instruction that synchronises several warps has its `meeting` attribute.
#[test]
fn meetings_of_threads() {
    for i in bar::LIST.iter().chain(mbarrier::LIST) {
        let op = i.opcode;
        let wanted = match op {
            "bar.warp.sync" | "cp.async.mbarrier.arrive" => Meeting::None,
            _ if op.ends_with("arrive") || op.ends_with("arrive_drop") => Meeting::Arrive,
            _ if op.ends_with("wait") => Meeting::Wait,
            _ if op.starts_with("mbarrier.") => Meeting::None,
            _ => Meeting::Both,
        };
        assert_eq!(i.effects.meeting, wanted, "{op}");
    }
    let elsewhere = FILES.iter().flat_map(|list| list.iter()).filter(|i| i.effects.meeting != Meeting::None);
    assert!(elsewhere.clone().count() > 20);
    assert!(elsewhere.into_iter().all(|i| i.opcode.starts_with("bar") || i.opcode.starts_with("mbarrier.")));
}
