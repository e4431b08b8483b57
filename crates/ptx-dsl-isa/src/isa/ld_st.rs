//! Loads and stores: manual 9.7.9.8 to 9.7.9.11.
//!
//! The manual's forms for single values and for vectors differ only in `.vec` and are one form here.

use super::*;
use crate::written;

/// The types of all loads and stores.
macro_rules! block {
    ($forms:expr, $($sets:expr),*) => {
        concat!($forms, $($sets,)* "\n.vec = { .v2, .v4, .v8 }
            .type = { .b8, .b16, .b32, .b64, .b128, .u8, .u16, .u32, .u64, .s8, .s16, .s32, .s64, .f32, .f64 }")
    };
}

/// Sets that `ld` and `st` share.
macro_rules! cache {
    () => {
        "
        .level1::eviction_priority = { .L1::evict_normal, .L1::evict_unchanged, .L1::evict_first, .L1::evict_last, .L1::no_allocate }
        .level2::eviction_priority = { .L2::evict_normal, .L2::evict_first, .L2::evict_last }
        .level::cache_hint = { .L2::cache_hint }
        .level::prefetch_size = { .L2::64B, .L2::128B, .L2::256B }"
    };
}

/// The number of values that `.vec` says.
const V: OpTy = OpTy::Vec(".type", 0);
/// An opaque value: an integer or `.b64` register, or a constant (ptxas).
const POLICY: OperandSpec = src("cache_policy", ty(Ty::U64));
const FROM: OperandSpec = addr("a", reads(Size::Type)).full_width();
const LD: &[OperandSpec] = &[dst("d", V).wider().or_sink(), FROM, POLICY];
const ST: &[OperandSpec] = &[addr("a", writes(Size::Type)).full_width(), src("b", V).wider().or_sink(), POLICY];

const NOT_GLOBAL: &[Qualifier] =
    &[q::shared, q::shared_cta, q::shared_cluster, q::local, q::_const, q::param, q::param_entry, q::param_func];
const PRIVATE: &[Qualifier] = &[q::local, q::_const, q::param, q::param_entry, q::param_func];
const L1: &[Qualifier] =
    &[q::L1_evict_normal, q::L1_evict_unchanged, q::L1_evict_first, q::L1_evict_last, q::L1_no_allocate];
const L2: &[Qualifier] = &[q::L2_evict_normal, q::L2_evict_first, q::L2_evict_last];
const PREFETCH: &[Qualifier] = &[q::L2_64B, q::L2_128B, q::L2_256B];
const BITS32: &[Qualifier] = &[q::b32, q::u32, q::s32, q::f32];
const BITS64: &[Qualifier] = &[q::b64, q::u64, q::s64, q::f64];
const COP: &[Qualifier] = &[q::ca, q::cg, q::cs, q::lu, q::cv, q::wb, q::wt];

/// Generic addressing: no state space is written.
const GENERIC: Gate = gate(&[
    not(q::global),
    not(q::shared),
    not(q::shared_cta),
    not(q::shared_cluster),
    not(q::local),
    not(q::_const),
    not(q::param),
    not(q::param_entry),
    not(q::param_func),
])
.since(ptx(2, 0))
.requires(sm(20));

const B128: Gate = gate(&[has(q::b128)]).since(ptx(8, 3)).requires(sm(70));
const F64: Gate = gate(&[has(q::f64)]).requires(sm(13));
const HINT: Gate = gate(&[has(q::L2_cache_hint)]).since(ptx(7, 4)).requires(sm(80));
const PRIORITY1: Gate = gate(&[any(L1)]).since(ptx(7, 4)).requires(sm(70));
const PRIORITY2: Gate = gate(&[any(L2)]).since(ptx(8, 8)).requires(sm(100));
const PREFETCH_SIZE: Gate = gate(&[any(PREFETCH)]).since(ptx(7, 4)).requires(sm(75));
const PREFETCH_256: Gate = gate(&[has(q::L2_256B)]).requires(sm(80));
const V8: Gate = gate(&[any(BITS32), has(q::v8)]).since(ptx(8, 8)).requires(sm(100));
const V4_64: Gate = gate(&[any(BITS64), has(q::v4)]).since(ptx(8, 8)).requires(sm(100));

const GATES: &[Gate] = &[
    GENERIC,
    B128,
    F64,
    HINT,
    PRIORITY1,
    PRIORITY2,
    PREFETCH_SIZE,
    PREFETCH_256,
    V8,
    V4_64,
    gate(&[any(&[q::weak, q::relaxed, q::acquire, q::release])]).since(ptx(6, 0)).requires(sm(70)),
    gate(&[any(COP)]).since(ptx(2, 0)).requires(sm(20)),
    gate(&[has(q::cluster)]).since(ptx(7, 8)).requires(sm(90)),
    gate(&[has(q::shared_cta)]).since(ptx(7, 8)).requires(sm(30)),
    gate(&[has(q::shared_cluster)]).since(ptx(7, 8)).requires(sm(90)),
    gate(&[has(q::unified)]).since(ptx(8, 0)).requires(sm(90)),
    gate(&[has(q::mmio)]).since(ptx(8, 2)).requires(sm(70)),
    gate(&[has(q::mmio), any(&[q::acquire, q::release])]).since(ptx(9, 3)),
    gate(&[any(&[q::param_entry, q::param_func])]).since(ptx(8, 3)),
    gate(&[has(q::b128), has(q::sys)]).since(ptx(8, 4)),
    gate(&[has(q::volatile), has(q::local)]).since(ptx(9, 1)),
];
const NC_GATES: &[Gate] = &[B128, HINT, PRIORITY1, PRIORITY2, PREFETCH_SIZE, PREFETCH_256, V8, V4_64];

const HINT_NEEDS: Rule = Rule::Needs(
    has(q::L2_cache_hint),
    operand("cache_policy"),
    "`.L2::cache_hint` needs a cache policy as the last operand",
);
const POLICY_NEEDS: Rule =
    Rule::Needs(operand("cache_policy"), has(q::L2_cache_hint), "a cache policy operand needs `.L2::cache_hint`");
const ONLY_GLOBAL: &str =
    "cache hints, eviction priorities and prefetch sizes are for `.global` and generic addresses only";
const WIDE_ONLY_GLOBAL: &str = "vectors of 256 bits are for `.global` and generic addresses only";

const ST_RULES: &[Rule] = &[
    Rule::Never(
        &[any(&[q::relaxed, q::acquire, q::release]), any(PRIVATE)],
        "`.relaxed`, `.acquire` and `.release` are for `.global`, `.shared` and generic addresses only",
    ),
    Rule::Never(
        &[has(q::volatile), any(&[q::_const, q::param, q::param_entry, q::param_func])],
        "`.volatile` is for `.global`, `.shared`, `.local` and generic addresses only",
    ),
    Rule::Never(
        &[any(COP), any(&[q::volatile, q::relaxed, q::acquire, q::release])],
        "a cache operator goes with weak accesses only",
    ),
    Rule::Never(&[has(q::b128), any(&[q::v2, q::v4, q::v8])], "`.b128` is scalar: it takes no vector qualifier"),
    VEC_8,
    Rule::Never(&[has(q::v8), any(BITS32), any(NOT_GLOBAL)], WIDE_ONLY_GLOBAL),
    Rule::Never(&[has(q::v4), any(BITS64), any(NOT_GLOBAL)], WIDE_ONLY_GLOBAL),
    Rule::Never(&[has(q::L2_cache_hint), any(NOT_GLOBAL)], ONLY_GLOBAL),
    Rule::Never(&[any(L1), any(NOT_GLOBAL)], ONLY_GLOBAL),
    Rule::Never(&[any(L2), any(NOT_GLOBAL)], ONLY_GLOBAL),
    Rule::Never(&[any(PREFETCH), any(NOT_GLOBAL)], ONLY_GLOBAL),
    HINT_NEEDS,
    POLICY_NEEDS,
    Rule::Custom(level2_is_256_bits),
    Rule::Custom(func_parameter_unpredicated),
];
/// The same for loads, and one more.
const LD_RULES: &[Rule] = &{
    let mut rules = [Rule::Custom(no_narrow_load_of_8); ST_RULES.len() + 1];
    rules.split_at_mut(ST_RULES.len()).0.copy_from_slice(ST_RULES);
    rules
};
const NC_RULES: &[Rule] = &[
    Rule::Never(&[has(q::b128), any(&[q::v2, q::v4, q::v8])], "`.b128` is scalar: it takes no vector qualifier"),
    VEC_8,
    HINT_NEEDS,
    POLICY_NEEDS,
    Rule::Custom(level2_is_256_bits),
    Rule::Custom(no_narrow_load_of_8),
];
const VEC_8: Rule = Rule::Never(&[has(q::v8), any(&[q::b64, q::u64, q::s64, q::f64])], "a vector is 256 bits at most");

/// Eight values of 8 or 16 bits can be stored, but ptxas 13.5 crashes on most loads of them.
fn no_narrow_load_of_8(i: &written::Written) -> Option<Violation> {
    let narrow = i.types.last().is_some_and(|t| t.bits() < 32);
    (i.has(q::v8) && narrow).then(|| {
        Violation::of_qualifier(q::v8, "`.v8` loads values of 32 bits only")
            .rewrite("load wider values and unpack them with `mov`")
    })
}

/// `.L2::evict_*` is for accesses of 256 bits.
fn level2_is_256_bits(i: &written::Written) -> Option<Violation> {
    let written = i.first_of(L2)?;
    let bits = i.types.last().map_or(0, |t| t.bits());
    if (i.has(q::v8) && bits == 32) || (i.has(q::v4) && bits == 64) {
        return None;
    }
    let text = format!("`{written}` goes with `.v8` of a 32-bit type or `.v4` of a 64-bit type only");
    Some(Violation::of_qualifier(written, text).remove(written))
}

/// A predicate cannot guard parameters of functions, which are not memory (9.7.9.8, 9.7.9.11).
fn func_parameter_unpredicated(i: &written::Written) -> Option<Violation> {
    let found = i.pred.is_some() && i.has(q::param_func);
    let text = "an access to `.param::func` cannot be predicated";
    found.then(|| Violation::of_opcode(text).rewrite("branch around it with `bra`"))
}

/// The family.
#[rustfmt::skip]
pub const LIST: &[Instr] = &[
    instr("ld").section("9.7.9.8")
        .syntax(block!(
            "ld{.weak}{.ss}{.cop}{.level::cache_hint}{.level::prefetch_size}{.vec}{.unified}.type d, [a]{, cache_policy};
             ld{.weak}{.ss}{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}{.level::prefetch_size}{.vec}{.unified}.type d, [a]{, cache_policy};
             ld.volatile{.ss}{.level::prefetch_size}{.vec}.type d, [a];
             ld.relaxed.scope{.ss}{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}{.level::prefetch_size}{.vec}.type d, [a]{, cache_policy};
             ld.acquire.scope{.ss}{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}{.level::prefetch_size}{.vec}.type d, [a]{, cache_policy};
             ld.mmio.sem.sys{.global}.type d, [a];
             .ss = { .const, .global, .local, .param, .param::entry, .param::func, .shared, .shared::cta, .shared::cluster }
             .cop = { .ca, .cg, .cs, .lu, .cv }
             .scope = { .cta, .cluster, .gpu, .sys }
             .sem = { .acquire, .relaxed }",
            cache!()
        ))
        .operands(LD).gates(GATES).rules(LD_RULES)
        .host(Host::Warp).memory(MemoryOp::Load),
    instr("ld").section("9.7.9.8").since(ptx(9, 4)).requires(sm(90))
        .syntax(
            "ld{.global}.type.proxy::readonly d, [a];
             .type = { .b8, .b16, .b32, .b64, .u8, .u16, .u32, .u64, .s8, .s16, .s32, .s64, .f32, .f64 }",
        )
        .operands(&[dst("d", T).wider(), FROM])
        .host(Host::Warp).memory(MemoryOp::Load),
    instr("ld").section("9.7.9.9").since(ptx(3, 1)).requires(sm(32))
        .syntax(block!(
            "ld.global{.cop}.nc{.level::cache_hint}{.level::prefetch_size}{.vec}.type d, [a]{, cache_policy};
             ld.global.nc{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}{.level::prefetch_size}{.vec}.type d, [a]{, cache_policy};
             .cop = { .ca, .cg, .cs }",
            cache!()
        ))
        .operands(LD).gates(NC_GATES).rules(NC_RULES)
        .host(Host::Warp).memory(MemoryOp::Load),
    instr("ldu").section("9.7.9.10").since(ptx(2, 0)).requires(sm(20))
        .syntax(
            "ldu{.ss}{.vec}.type d, [a];
             .ss = { .global }
             .vec = { .v2, .v4 }
             .type = { .b8, .b16, .b32, .b64, .b128, .u8, .u16, .u32, .u64, .s8, .s16, .s32, .s64, .f32, .f64 }",
        )
        .operands(&[dst("d", V).wider(), FROM])
        .gates(&[B128])
        .rules(&[
            Rule::Never(&[has(q::b128), any(&[q::v2, q::v4])], "`.b128` is scalar: it takes no vector qualifier"),
            Rule::Never(&[has(q::v4), any(BITS64)], "a vector of `ldu` is 128 bits at most"),
        ])
        .host(Host::Warp).memory(MemoryOp::Load),
    instr("st").section("9.7.9.11")
        .syntax(block!(
            "st{.weak}{.ss}{.cop}{.level::cache_hint}{.vec}.type [a], b{, cache_policy};
             st{.weak}{.ss}{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}{.vec}.type [a], b{, cache_policy};
             st.volatile{.ss}{.vec}.type [a], b;
             st.relaxed.scope{.ss}{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}{.vec}.type [a], b{, cache_policy};
             st.release.scope{.ss}{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}{.vec}.type [a], b{, cache_policy};
             st.mmio.sem.sys{.global}.type [a], b;
             .ss = { .global, .local, .param, .param::func, .shared, .shared::cta, .shared::cluster }
             .cop = { .wb, .cg, .cs, .wt }
             .scope = { .cta, .cluster, .gpu, .sys }
             .sem = { .release, .relaxed }",
            cache!()
        ))
        .operands(ST).gates(GATES).rules(ST_RULES)
        .host(Host::Warp).memory(MemoryOp::Store),
];
