//! Multimem addresses, which stand for memory of several devices: manual 9.7.9.14, with the asynchronous forms of PTX ISA 9.3.

use super::*;

/// Targets of 8-bit types and of `.acc::f16`: the notes of 9.7.9.14.
const FP8: Targets = Targets::Only(&[
    ("sm_100a", Ptx(8, 6)),
    ("sm_101a", Ptx(8, 6)),
    ("sm_110a", Ptx(9, 0)),
    ("sm_120a", Ptx(8, 7)),
    ("sm_121a", Ptx(8, 8)),
    ("sm_100f", Ptx(8, 8)),
    ("sm_101f", Ptx(8, 8)),
    ("sm_110f", Ptx(9, 0)),
]);
const WEAK: Rule =
    Rule::Never(&[has(q::weak), any(&[q::relaxed, q::acquire, q::release])], "a weak operation has no ordering");

/// On all devices of the team, at an address of the multicast object.
const LOADED: OperandSpec = addr("a", reads(Size::Type)).full_width();
const STORED: OperandSpec = addr("a", writes(Size::Type)).full_width();
/// The asynchronous operations take an address of 32 bits too, says ptxas.
const STORED_LATER: OperandSpec = addr("a", writes(Size::Type));
const D: OperandSpec = dst("d", OpTy::Vec(".type", 0));
const B: OperandSpec = src("b", OpTy::Vec(".type", 0));

const SUMS_OF_FP8: Host = Host::NotYet("how hardware rounds sums of 8-bit numbers of several devices is not public");
const LATER: Host = Host::NotYet("the host has no asynchronous operations on multicast memory");

/// The family.
#[rustfmt::skip]
pub const LIST: &[Instr] = &[
    instr("multimem.ld_reduce").section("9.7.9.14").since(ptx(8, 1)).requires(sm(90))
        .host(Host::Warp)
        .syntax(
            "multimem.ld_reduce{.weak}{.ldsem.scope}{.global}.minmax.int d, [a];
             multimem.ld_reduce{.weak}{.ldsem.scope}{.global}.add.sum d, [a];
             multimem.ld_reduce{.weak}{.ldsem.scope}{.global}.bitop.bits d, [a];
             multimem.ld_reduce{.weak}{.ldsem.scope}{.global}.minmax.vec.half d, [a];
             multimem.ld_reduce{.weak}{.ldsem.scope}{.global}.add{.acc::f32}.vec.half d, [a];
             multimem.ld_reduce{.weak}{.ldsem.scope}{.global}.minmax{.vec4}.pair d, [a];
             multimem.ld_reduce{.weak}{.ldsem.scope}{.global}.add{.acc::f32}{.vec4}.pair d, [a];
             multimem.ld_reduce{.weak}{.ldsem.scope}{.global}.add{.vec4}.f32 d, [a];
             .ldsem = { .relaxed, .acquire }
             .scope = { .cta, .cluster, .gpu, .sys }
             .minmax = { .min, .max }
             .bitop = { .and, .or, .xor }
             .vec = { .v2, .v4, .v8 }
             .vec4 = { .v2, .v4 }
             .int = { .u32, .s32, .u64, .s64 }
             .sum = { .u32, .s32, .u64, .f64 }
             .bits = { .b32, .b64 }
             .half = { .f16, .bf16 }
             .pair = { .f16x2, .bf16x2 }",
        )
        .defaults(&[(".ldsem", q::weak)])
        .operands(&[D, LOADED])
        .gates(&[gate(&[has(q::acc_f32)]).since(ptx(8, 2))])
        .rules(&[WEAK]).memory(MemoryOp::Load).proxy(Proxy::Alias),
    instr("multimem.ld_reduce").section("9.7.9.14").since(ptx(8, 6)).requires(FP8)
        .host(SUMS_OF_FP8)
        .syntax(
            "multimem.ld_reduce{.weak}{.ldsem.scope}{.global}.minmax.vec8.byte d8, [a];
             multimem.ld_reduce{.weak}{.ldsem.scope}{.global}.add{.acc::f16}.vec8.byte d8, [a];
             multimem.ld_reduce{.weak}{.ldsem.scope}{.global}.minmax.vec.two d, [a];
             multimem.ld_reduce{.weak}{.ldsem.scope}{.global}.add{.acc::f16}.vec.two d, [a];
             multimem.ld_reduce{.weak}{.ldsem.scope}{.global}.minmax{.vec4}.four d, [a];
             multimem.ld_reduce{.weak}{.ldsem.scope}{.global}.add{.acc::f16}{.vec4}.four d, [a];
             .ldsem = { .relaxed, .acquire }
             .scope = { .cta, .cluster, .gpu, .sys }
             .minmax = { .min, .max }
             .vec8 = { .v4, .v8 }
             .vec = { .v2, .v4, .v8 }
             .vec4 = { .v2, .v4 }
             .byte = { .e4m3, .e5m2 }
             .two = { .e4m3x2, .e5m2x2 }
             .four = { .e4m3x4, .e5m2x4 }",
        )
        .defaults(&[(".ldsem", q::weak)])
        .operands(&[D, dst("d8", OpTy::Vec(".b8", 0)), LOADED])
        .rules(&[WEAK]).memory(MemoryOp::Load).proxy(Proxy::Alias),
    instr("multimem.st").section("9.7.9.14").since(ptx(8, 1)).requires(sm(90))
        .host(Host::Warp)
        .syntax(
            "multimem.st{.weak}{.stsem.scope}{.global}.type [a], b;
             multimem.st{.weak}{.stsem.scope}{.global}.vec.half [a], b;
             multimem.st{.weak}{.stsem.scope}{.global}{.vec4}.word [a], b;
             .stsem = { .relaxed, .release }
             .scope = { .cta, .cluster, .gpu, .sys }
             .vec = { .v2, .v4, .v8 }
             .vec4 = { .v2, .v4 }
             .type = { .b32, .b64, .u32, .u64, .s32, .s64, .f64 }
             .half = { .f16, .bf16 }
             .word = { .f16x2, .bf16x2, .f32 }",
        )
        .defaults(&[(".stsem", q::weak)])
        .operands(&[STORED, B])
        .rules(&[WEAK]).memory(MemoryOp::Store).proxy(Proxy::Alias),
    instr("multimem.st").section("9.7.9.14").since(ptx(8, 6)).requires(FP8)
        .host(Host::Warp)
        .syntax(
            "multimem.st{.weak}{.stsem.scope}{.global}.vec8.byte [a], b8;
             multimem.st{.weak}{.stsem.scope}{.global}.vec.two [a], b;
             multimem.st{.weak}{.stsem.scope}{.global}{.vec4}.four [a], b;
             .stsem = { .relaxed, .release }
             .scope = { .cta, .cluster, .gpu, .sys }
             .vec8 = { .v4, .v8 }
             .vec = { .v2, .v4, .v8 }
             .vec4 = { .v2, .v4 }
             .byte = { .e4m3, .e5m2 }
             .two = { .e4m3x2, .e5m2x2 }
             .four = { .e4m3x4, .e5m2x4 }",
        )
        .defaults(&[(".stsem", q::weak)])
        .operands(&[STORED, B, src("b8", OpTy::Vec(".b8", 0))])
        .rules(&[WEAK]).memory(MemoryOp::Store).proxy(Proxy::Alias),
    instr("multimem.red").section("9.7.9.14").since(ptx(8, 1)).requires(sm(90))
        .host(Host::Warp)
        .syntax(
            "multimem.red{.redsem.scope}{.global}.minmax.int [a], b;
             multimem.red{.redsem.scope}{.global}.add.sum [a], b;
             multimem.red{.redsem.scope}{.global}.bitop.bits [a], b;
             multimem.red{.redsem.scope}{.global}.add.vec.half [a], b;
             multimem.red{.redsem.scope}{.global}.add{.vec4}.word [a], b;
             .redsem = { .relaxed, .release }
             .scope = { .cta, .cluster, .gpu, .sys }
             .minmax = { .min, .max }
             .bitop = { .and, .or, .xor }
             .vec = { .v2, .v4, .v8 }
             .vec4 = { .v2, .v4 }
             .int = { .u32, .s32, .u64, .s64 }
             .sum = { .u32, .s32, .u64, .f64 }
             .bits = { .b32, .b64 }
             .half = { .f16, .bf16 }
             .word = { .f16x2, .bf16x2, .f32 }",
        )
        .defaults(&[(".redsem", q::relaxed), (".scope", q::sys)])
        .operands(&[STORED, B]).memory(MemoryOp::Reduction).proxy(Proxy::Alias),
    instr("multimem.st.async").section("9.7.9.14").since(ptx(9, 3)).requires(sm(100))
        .host(LATER)
        .syntax(
            "multimem.st.async.release.scope{.global}.type [a], b;
             .scope = { .gpu, .sys }
             .type = { .b8, .b16, .b32, .b64, .u8, .u16, .u32, .u64, .s8, .s16, .s32, .s64, .f32, .f64 }",
        )
        .operands(&[STORED_LATER, src("b", T).wider()]).asynchronous(MemoryOp::Store, Proxy::Alias),
    instr("multimem.red.async").section("9.7.13.7").since(ptx(9, 3)).requires(sm(100))
        .host(LATER)
        .syntax(
            "multimem.red.async.release.scope{.global}.add.type [a], b;
             .scope = { .gpu, .sys }
             .type = { .u32, .s32, .u64 }",
        )
        .operands(&[STORED_LATER, src("b", T)]).asynchronous(MemoryOp::Reduction, Proxy::Alias),
];
