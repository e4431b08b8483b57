//! Atomic operations: manual 9.7.13.5 and 9.7.13.6.

use super::*;
use crate::ty::{Class, Ty as Type};
use crate::written;

macro_rules! atom {
    ($forms:expr) => {
        concat!(
            $forms,
            "
            .sem = { .relaxed, .acquire, .release, .acq_rel }
            .scope = { .cta, .cluster, .gpu, .sys }
            .space = { .global, .shared, .shared::cta, .shared::cluster }
            .level::cache_hint = { .L2::cache_hint }"
        )
    };
}
macro_rules! red {
    ($forms:expr) => {
        concat!(
            $forms,
            "
            .sem = { .relaxed, .release }
            .scope = { .cta, .cluster, .gpu, .sys }
            .space = { .global, .shared, .shared::cta, .shared::cluster }
            .level::cache_hint = { .L2::cache_hint }"
        )
    };
}

const V: OpTy = OpTy::Vec(".type", 0);
const POLICY: OperandSpec = src("cache_policy", ty(Ty::U64));
const A: OperandSpec = addr("a", writes(Size::Type)).full_width();
const ATOM: &[OperandSpec] = &[dst("d", T).or_sink(), A, src("b", T), src("c", T), POLICY];
const RED: &[OperandSpec] = &[A, src("b", T), POLICY];
const ATOM_V: &[OperandSpec] = &[dst("d", V).or_sink(), A, src("b", V), POLICY];
const RED_V: &[OperandSpec] = &[A, src("b", V), POLICY];

const SHARED: &[Qualifier] = &[q::shared, q::shared_cta, q::shared_cluster];
const BITS64: &[Qualifier] = &[q::b64, q::u64, q::s64];
const SEM: &[Qualifier] = &[q::relaxed, q::acquire, q::release, q::acq_rel];
const SCOPE: &[Qualifier] = &[q::cta, q::cluster, q::gpu, q::sys];

const COMMON: [Gate; 6] = [
    gate(&[any(SCOPE)]).since(ptx(5, 0)).requires(sm(60)),
    gate(&[any(SEM)]).since(ptx(6, 0)).requires(sm(70)),
    gate(&[has(q::L2_cache_hint)]).since(ptx(7, 4)).requires(sm(80)),
    gate(&[has(q::cluster)]).since(ptx(7, 8)).requires(sm(90)),
    gate(&[has(q::shared_cta)]).since(ptx(7, 8)).requires(sm(30)),
    gate(&[has(q::shared_cluster)]).since(ptx(7, 8)).requires(sm(90)),
];
const GENERIC: Gate = gate(&[not(q::global), not(q::shared), not(q::shared_cta), not(q::shared_cluster)])
    .since(ptx(2, 0))
    .requires(sm(20));
const GATES: &[Gate] = &[
    COMMON[0],
    COMMON[1],
    COMMON[2],
    COMMON[3],
    COMMON[4],
    COMMON[5],
    GENERIC,
    gate(&[any(SHARED)]).since(ptx(1, 2)).requires(sm(12)),
    gate(&[any(BITS64)]).since(ptx(1, 2)).requires(sm(12)),
    gate(&[any(SHARED), any(BITS64)]).since(ptx(2, 0)).requires(sm(20)),
    gate(&[any(&[q::and, q::or, q::xor, q::min, q::max]), any(BITS64)]).since(ptx(3, 1)).requires(sm(32)),
    gate(&[has(q::f32)]).since(ptx(2, 0)).requires(sm(20)),
    gate(&[has(q::f64)]).since(ptx(5, 0)).requires(sm(60)),
    gate(&[has(q::f16x2)]).since(ptx(6, 2)).requires(sm(60)),
    gate(&[any(&[q::f16, q::b16])]).since(ptx(6, 3)).requires(sm(70)),
    gate(&[any(&[q::bf16, q::bf16x2])]).since(ptx(7, 8)).requires(sm(90)),
    gate(&[has(q::b128)]).since(ptx(8, 3)).requires(sm(90)),
    gate(&[has(q::b128), has(q::sys)]).since(ptx(8, 4)),
];
const VEC_GATES: &[Gate] = &COMMON;

const RULES: &[Rule] = &[
    Rule::Needs(
        has(q::L2_cache_hint),
        operand("cache_policy"),
        "`.L2::cache_hint` needs a cache policy as the last operand",
    ),
    Rule::Needs(operand("cache_policy"), has(q::L2_cache_hint), "a cache policy operand needs `.L2::cache_hint`"),
    Rule::Never(&[has(q::L2_cache_hint), any(SHARED)], "`.L2::cache_hint` is for `.global` and generic addresses only"),
    Rule::Custom(types),
];

/// The types of each operation (9.7.13.5). The forms say which half types take `.noftz`.
const OPERATIONS: &[(Qualifier, &[Type], &str)] = &[
    (q::and, &[Type::B32, Type::B64], "`.b32` or `.b64`"),
    (q::or, &[Type::B32, Type::B64], "`.b32` or `.b64`"),
    (q::xor, &[Type::B32, Type::B64], "`.b32` or `.b64`"),
    (q::cas, &[Type::B16, Type::B32, Type::B64, Type::B128], "`.b16`, `.b32`, `.b64` or `.b128`"),
    (q::exch, &[Type::B32, Type::B64, Type::B128], "`.b32`, `.b64` or `.b128`"),
    (
        q::add,
        &[Type::U32, Type::S32, Type::U64, Type::F32, Type::F64, Type::F16, Type::F16x2, Type::Bf16, Type::Bf16x2],
        "`.u32`, `.s32`, `.u64`, `.f32`, `.f64`, or with `.noftz` `.f16`, `.f16x2`, `.bf16`, `.bf16x2`",
    ),
    (q::inc, &[Type::U32], "`.u32`"),
    (q::dec, &[Type::U32], "`.u32`"),
    (q::min, &[Type::U32, Type::S32, Type::U64, Type::S64], "`.u32`, `.s32`, `.u64` or `.s64`"),
    (q::max, &[Type::U32, Type::S32, Type::U64, Type::S64], "`.u32`, `.s32`, `.u64` or `.s64`"),
];

fn types(i: &written::Written) -> Option<Violation> {
    if i.first_of(&[q::v2, q::v4, q::v8]).is_some() {
        return None;
    }
    let written = *i.types.first()?;
    for (op, allowed, words) in OPERATIONS {
        if i.has(*op) {
            if allowed.contains(&written) {
                return None;
            }
            let (ty, near) = (written.qualifier(), nearest(written, allowed));
            let text = format!("`{ty}` is not a type of `{op}`, which takes {words}");
            let wrong = Violation::of_qualifier(ty, text);
            // An integer is none for a floating-point number.
            return Some(if (written.class() == Class::Float) == (near.class() == Class::Float) {
                wrong.remedy(Remedy::Replace(ty, vec![near.qualifier()], ", and give registers of that type"))
            } else {
                wrong
            });
        }
    }
    None
}

/// The first of these types with this width, or the first.
fn nearest(written: Type, allowed: &[Type]) -> Type {
    for ty in allowed {
        if ty.bits() == written.bits() {
            return *ty;
        }
    }
    allowed[0]
}

/// The family.
#[rustfmt::skip]
pub const LIST: &[Instr] = &[
    instr("atom").section("9.7.13.5").since(ptx(1, 1)).requires(sm(11))
        .syntax(atom!(
            "atom{.sem}{.scope}{.space}.op{.level::cache_hint}.type d, [a], b{, cache_policy};
             atom{.sem}{.scope}{.space}.cas.type d, [a], b, c;
             atom{.sem}{.scope}{.space}.cas.b16 d, [a], b, c;
             atom{.sem}{.scope}{.space}.cas.b128 d, [a], b, c;
             atom{.sem}{.scope}{.space}.exch{.level::cache_hint}.b128 d, [a], b{, cache_policy};
             atom{.sem}{.scope}{.space}.add.noftz{.level::cache_hint}.f16 d, [a], b{, cache_policy};
             atom{.sem}{.scope}{.space}.add.noftz{.level::cache_hint}.f16x2 d, [a], b{, cache_policy};
             atom{.sem}{.scope}{.space}.add.noftz{.level::cache_hint}.bf16 d, [a], b{, cache_policy};
             atom{.sem}{.scope}{.space}.add.noftz{.level::cache_hint}.bf16x2 d, [a], b{, cache_policy};
             .op = { .and, .or, .xor, .exch, .add, .inc, .dec, .min, .max }
             .type = { .b32, .b64, .u32, .u64, .s32, .s64, .f32, .f64 }"
        ))
        .operands(ATOM).gates(GATES).rules(RULES)
        .defaults(&[(".sem", q::relaxed), (".scope", q::gpu)])
        .host(Host::Warp).memory(MemoryOp::Atomic),
    instr("atom").section("9.7.13.5").since(ptx(8, 1)).requires(sm(90))
        .syntax(atom!(
            "atom{.sem}{.scope}{.global}.add{.level::cache_hint}.vec.f32 d, [a], b{, cache_policy};
             .vec = { .v2, .v4 }"
        ))
        .operands(ATOM_V).gates(VEC_GATES).rules(RULES)
        .defaults(&[(".sem", q::relaxed), (".scope", q::gpu)])
        .host(Host::Warp).memory(MemoryOp::Atomic),
    instr("atom").section("9.7.13.5").since(ptx(8, 1)).requires(sm(90))
        .syntax(atom!(
            "atom{.sem}{.scope}{.global}.op.noftz{.level::cache_hint}.vec.type d, [a], b{, cache_policy};
             .op = { .add, .min, .max }
             .type = { .f16, .bf16 }
             .vec = { .v2, .v4, .v8 }"
        ))
        .operands(ATOM_V).gates(VEC_GATES).rules(RULES)
        .defaults(&[(".sem", q::relaxed), (".scope", q::gpu)])
        .host(Host::Warp).memory(MemoryOp::Atomic),
    instr("atom").section("9.7.13.5").since(ptx(8, 1)).requires(sm(90))
        .syntax(atom!(
            "atom{.sem}{.scope}{.global}.op.noftz{.level::cache_hint}.vec.type d, [a], b{, cache_policy};
             .op = { .add, .min, .max }
             .type = { .f16x2, .bf16x2 }
             .vec = { .v2, .v4 }"
        ))
        .operands(ATOM_V).gates(VEC_GATES).rules(RULES)
        .defaults(&[(".sem", q::relaxed), (".scope", q::gpu)])
        .host(Host::Warp).memory(MemoryOp::Atomic),
    instr("atom").section("9.7.13.5").since(ptx(9, 4)).requires(sm(90))
        .syntax(atom!(
            "atom{.sem}{.scope}{.space}.add.noftz{.level::cache_hint}.f32 d, [a], b{, cache_policy};"
        ))
        .operands(ATOM).gates(GATES).rules(RULES)
        .defaults(&[(".sem", q::relaxed), (".scope", q::gpu)])
        .host(Host::Warp).memory(MemoryOp::Atomic),
    instr("atom").section("9.7.13.5").since(ptx(9, 4)).requires(sm(90))
        .syntax(atom!(
            "atom{.sem}{.scope}{.global}.add.noftz{.level::cache_hint}.vec.f32 d, [a], b{, cache_policy};
             .vec = { .v2, .v4 }"
        ))
        .operands(ATOM_V).gates(VEC_GATES).rules(RULES)
        .defaults(&[(".sem", q::relaxed), (".scope", q::gpu)])
        .host(Host::Warp).memory(MemoryOp::Atomic),
    instr("red").section("9.7.13.6").since(ptx(1, 2)).requires(sm(11))
        .syntax(red!(
            "red{.sem}{.scope}{.space}.op{.level::cache_hint}.type [a], b{, cache_policy};
             red{.sem}{.scope}{.space}.add.noftz{.level::cache_hint}.f16 [a], b{, cache_policy};
             red{.sem}{.scope}{.space}.add.noftz{.level::cache_hint}.f16x2 [a], b{, cache_policy};
             red{.sem}{.scope}{.space}.add.noftz{.level::cache_hint}.bf16 [a], b{, cache_policy};
             red{.sem}{.scope}{.space}.add.noftz{.level::cache_hint}.bf16x2 [a], b{, cache_policy};
             .op = { .and, .or, .xor, .add, .inc, .dec, .min, .max }
             .type = { .b32, .b64, .u32, .u64, .s32, .s64, .f32, .f64 }"
        ))
        .operands(RED).gates(GATES).rules(RULES)
        .defaults(&[(".sem", q::relaxed), (".scope", q::gpu)])
        .host(Host::Warp).memory(MemoryOp::Reduction),
    instr("red").section("9.7.13.6").since(ptx(8, 1)).requires(sm(90))
        .syntax(red!(
            "red{.sem}{.scope}{.global}.add{.level::cache_hint}.vec.f32 [a], b{, cache_policy};
             .vec = { .v2, .v4 }"
        ))
        .operands(RED_V).gates(VEC_GATES).rules(RULES)
        .defaults(&[(".sem", q::relaxed), (".scope", q::gpu)])
        .host(Host::Warp).memory(MemoryOp::Reduction),
    instr("red").section("9.7.13.6").since(ptx(8, 1)).requires(sm(90))
        .syntax(red!(
            "red{.sem}{.scope}{.global}.op.noftz{.level::cache_hint}.vec.type [a], b{, cache_policy};
             .op = { .add, .min, .max }
             .type = { .f16, .bf16 }
             .vec = { .v2, .v4, .v8 }"
        ))
        .operands(RED_V).gates(VEC_GATES).rules(RULES)
        .defaults(&[(".sem", q::relaxed), (".scope", q::gpu)])
        .host(Host::Warp).memory(MemoryOp::Reduction),
    instr("red").section("9.7.13.6").since(ptx(8, 1)).requires(sm(90))
        .syntax(red!(
            "red{.sem}{.scope}{.global}.op.noftz{.level::cache_hint}.vec.type [a], b{, cache_policy};
             .op = { .add, .min, .max }
             .type = { .f16x2, .bf16x2 }
             .vec = { .v2, .v4 }"
        ))
        .operands(RED_V).gates(VEC_GATES).rules(RULES)
        .defaults(&[(".sem", q::relaxed), (".scope", q::gpu)])
        .host(Host::Warp).memory(MemoryOp::Reduction),
    instr("red").section("9.7.13.6").since(ptx(9, 4)).requires(sm(90))
        .syntax(red!(
            "red{.sem}{.scope}{.space}.add.noftz{.level::cache_hint}.f32 [a], b{, cache_policy};"
        ))
        .operands(RED).gates(GATES).rules(RULES)
        .defaults(&[(".sem", q::relaxed), (".scope", q::gpu)])
        .host(Host::Warp).memory(MemoryOp::Reduction),
    instr("red").section("9.7.13.6").since(ptx(9, 4)).requires(sm(90))
        .syntax(red!(
            "red{.sem}{.scope}{.global}.add.noftz{.level::cache_hint}.vec.f32 [a], b{, cache_policy};
             .vec = { .v2, .v4 }"
        ))
        .operands(RED_V).gates(VEC_GATES).rules(RULES)
        .defaults(&[(".sem", q::relaxed), (".scope", q::gpu)])
        .host(Host::Warp).memory(MemoryOp::Reduction),
];
