//! Asynchronous stores and reductions: `st.async` (manual 9.7.9.12), `st.bulk` (9.7.9.13), `red.async` (9.7.13.7).

use super::*;
use crate::written;

const EIGHTS: Rule = Rule::Multiple(Multiple { operand: "size", of: 8, what: "`size`", unit: "8" });
/// ptxas 13.5 cannot: it fails in an `add` that the program does not have.
fn no_variable(i: &written::Written) -> Option<Violation> {
    let number = i.position("a")?;
    let named = matches!(i.operands[number].value, written::Operand::Address(written::Base::Var(_), _));
    (named && i.has(q::shared_cta)).then(|| {
        let text = "with `.shared::cta` the address must be in a register: ptxas accepts no variable";
        Violation::of_operand(number, text).remove(q::shared_cta)
    })
}
/// In shared memory of the cluster, like the mbarrier.
const CLUSTER: OperandSpec = addr("a", writes(Size::Type).in_space(AddressSpace::AnyShared));
const GLOBAL: OperandSpec = addr("a", writes(Size::Type));
const MBAR: OperandSpec = addr("mbar", object().in_space(AddressSpace::AnyShared)).align(8);
const SYS: Rule = Rule::Needs(has(q::mmio), has(q::sys), "`.mmio` is for `.sys` scope only");

/// The family.
#[rustfmt::skip]
pub const LIST: &[Instr] = &[
    instr("st.async").section("9.7.9.12").since(ptx(8, 1)).requires(sm(90))
        .syntax(
            "st.async{.weak}{.shared::cluster}.mbarrier::complete_tx::bytes{.vec}.type [a], b, [mbar];
             st.async{.weak}{.shared::cluster}.mbarrier::complete_tx::bytes.b128 [a], b, [mbar];
             .vec = { .v2, .v4 }
             .type = { .b32, .b64, .u32, .u64, .s32, .s64, .f32, .f64 }",
        )
        .operands(&[CLUSTER, src("b", OpTy::Vec(".type", 0)), MBAR])
        .gates(&[gate(&[has(q::b128)]).since(ptx(9, 2))])
        .rules(&[Rule::Never(&[has(q::v4), any(&[q::b64, q::u64, q::s64, q::f64])], "`.v4` is of 32-bit types only: at most 128 bits are stored")]).host(Host::Warp).asynchronous(MemoryOp::Store, Proxy::Generic),
    instr("st.async").section("9.7.9.12").since(ptx(8, 7)).requires(sm(100))
        .syntax(
            "st.async{.mmio}.release.scope{.global}.type [a], b;
             .scope = { .gpu, .sys }
             .type = { .b8, .b16, .b32, .b64, .u8, .u16, .u32, .u64, .s8, .s16, .s32, .s64, .f32, .f64 }",
        )
        .operands(&[GLOBAL, src("b", T)])
        .rules(&[SYS]).host(Host::Warp).asynchronous(MemoryOp::Store, Proxy::Generic),
    instr("st.bulk").section("9.7.9.13").since(ptx(8, 6)).requires(sm(100))
        .syntax("st.bulk{.weak}{.shared::cta} [a], size, initval;")
        .operands(&[addr("a", writes(Size::Operand("size")).own_cta()).align(8), src("size", ty(Ty::U64)).range(0, 1 << 24), src("initval", ty(Ty::U64)).imm().range(0, 0)])
        .rules(&[EIGHTS, Rule::Custom(no_variable)]).host(Host::Warp).memory(MemoryOp::Store),
    instr("red.async").section("9.7.13.7").since(ptx(8, 1)).requires(sm(90))
        .syntax(
            "red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.incdec.u32 [a], b, [mbar];
             red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.minmax.type2 [a], b, [mbar];
             red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.bitop.b32 [a], b, [mbar];
             red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.add.type3 [a], b, [mbar];
             .incdec = { .inc, .dec }
             .minmax = { .min, .max }
             .type2 = { .u32, .s32 }
             .bitop = { .and, .or, .xor }
             .type3 = { .u32, .s32, .u64 }",
        )
        .operands(&[CLUSTER, src("b", T), MBAR]).host(Host::Warp).asynchronous(MemoryOp::Reduction, Proxy::Generic),
    instr("red.async").section("9.7.13.7").since(ptx(8, 7)).requires(sm(100))
        .syntax(
            "red.async{.mmio}.release.scope{.global}.add.type4 [a], b;
             .scope = { .gpu, .sys }
             .type4 = { .u32, .s32, .u64, .s64 }",
        )
        .operands(&[GLOBAL, src("b", T)])
        .rules(&[SYS]).host(Host::Warp).asynchronous(MemoryOp::Reduction, Proxy::Generic),
];
