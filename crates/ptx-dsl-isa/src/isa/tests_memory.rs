//! Compiles the families of memory and synchronisation: names agree, and the manual's examples are covered.

use super::memory::{Access, Memory};
use super::syntax::{OpForm, Shape, forms};
use super::*;
use crate::table::FAMILIES;

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

fn all() -> impl Iterator<Item = &'static Instr> {
    FAMILIES.iter().flat_map(|(_, list)| list.iter())
}

/// The addresses of an entry in memory proper: of no mbarrier, tensor map or Tensor Memory.
fn data(i: &Instr) -> Vec<Access> {
    let proper = |m: &Memory| {
        let object =
            matches!(m.space, AddressSpace::TensorMap | AddressSpace::TensorMemory) || m.size == Size::Bytes(128);
        !object && matches!(m.access, Access::Read | Access::Write)
    };
    i.operands.iter().filter_map(|o| o.memory).filter(proper).map(|m| m.access).collect()
}

#[test]
fn memory_operations_agree_with_the_addresses() {
    let mut seen = 0;
    for i in all() {
        let (effects, data) = (i.effects, data(i));
        let (reads, writes) = (data.contains(&Access::Read), data.contains(&Access::Write));
        let map = i.operands.iter().any(|o| o.name == "tensorMap");
        let descriptor = i.operands.iter().any(|o| o.name.ends_with("desc"));
        let right = match (effects.memory, effects.proxy) {
            // `tcgen05.alloc` writes the address of its columns.
            (MemoryOp::None, _) => data.is_empty() || effects.tensor == Tensor::Alloc,
            // Of a fabric one side has no address, and bulk operations with a tensor map name one side by it.
            (_, Proxy::Fabric) => !data.is_empty(),
            (MemoryOp::Copy | MemoryOp::Reduction, Proxy::Async) => (reads && writes) || map,
            (MemoryOp::Load, Proxy::Async) => descriptor && !writes,
            (MemoryOp::Copy, _) => reads && writes,
            (MemoryOp::Load, _) => reads && !writes,
            (MemoryOp::Store | MemoryOp::Atomic, _) => writes && !reads,
            (MemoryOp::Reduction, _) => writes && reads == (effects.group != Group::None),
        };
        assert!(right, "{} {}: {:?} {:?} {data:?}", i.opcode, i.section, effects.memory, effects.proxy);
        // Only an operation of the thread itself returns a value.
        let result = i.operands.iter().any(|o| o.role == Role::Dst);
        if effects.memory != MemoryOp::None {
            seen += 1;
            let wanted =
                !effects.asynchronous && effects.memory.returns() || effects.group == Group::Wgmma(Step::Start);
            assert_eq!(result, wanted, "{} {}", i.opcode, i.section);
        }
    }
    assert!(seen > 70, "{seen}");
}

#[test]
fn asynchronous_operations_have_a_proxy() {
    for i in all() {
        let effects = i.effects;
        let starts = match effects.group {
            Group::Copy(Step::Start) => Some(Proxy::Generic),
            Group::Bulk(Step::Start) if i.opcode.starts_with("multimem.") => Some(Proxy::Alias),
            Group::Bulk(Step::Start) | Group::Wgmma(Step::Start) => Some(Proxy::Async),
            _ => None,
        };
        if let Some(proxy) = starts {
            assert!(effects.asynchronous && effects.memory != MemoryOp::None, "{}", i.opcode);
            assert_eq!(effects.proxy, proxy, "{}", i.opcode);
        }
        if effects.tensor == Tensor::Mma {
            assert!(effects.asynchronous && effects.proxy == Proxy::Async, "{}", i.opcode);
        }
        if effects.memory != MemoryOp::None {
            let named = i.syntax.contains("async") || effects.tensor.is_operation();
            assert_eq!(effects.asynchronous, named, "{} {}", i.opcode, i.section);
        } else {
            assert!(!effects.asynchronous && effects.proxy == Proxy::Generic, "{}", i.opcode);
        }
    }
}

#[test]
fn fences_are_those_of_their_section() {
    for i in all() {
        let fence = i.effects.fence;
        assert_eq!(fence != Fence::None, i.section == "9.7.13.4", "{} {}", i.opcode, i.section);
        if fence == Fence::None {
            continue;
        }
        assert_eq!(i.effects.memory, MemoryOp::None);
        for form in forms(i) {
            let has = |q: Qualifier| form.slots.iter().any(|s| s.group == 0 && s.alts.contains(&q));
            let wanted = match (has(q::proxy), has(q::mbarrier_init)) {
                (true, _) => Fence::Proxy,
                (_, true) => Fence::MbarrierInit,
                _ => Fence::Memory,
            };
            assert_eq!(fence, wanted, "{}", i.syntax);
        }
    }
}
