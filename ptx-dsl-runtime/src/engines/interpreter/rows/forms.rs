//! The instructions that have loops on rows: those that kernels execute most. What they compute is in [`crate::semantics`]; a line here
//! only has it compiled for constant qualifiers.
#![cfg_attr(not(ptx_dsl_optimised), allow(unused))]

use super::compiled::{self, row_loop};
use super::kind::RowKind;
use super::kinds::{F, H, L, N, P, Semantics, W, operands};
use super::loops::{CompiledLoop, LOOP_OPERANDS, LoopForm, RowLoop};
use crate::numerics::arith::float;
use crate::numerics::lanes::{Base, Level};
use crate::numerics::qual::{Q, Qualifiers, Ty, q};
use crate::semantics::{arith, compare, cvt, logic};
use ptx_dsl_isa::opcode::Opcode;
use std::collections::HashMap;
use std::sync::OnceLock;

/// Declares forms: opcode, function, sets of qualifiers, lists of types, kinds of operands `=>` kinds of results. Sets or lists in
/// braces of their own mean the same: the first one's loop is that of all.
macro_rules! forms {
    ($($opcode:literal $family:ident::$function:ident $(::<$level:ident>)? [$($q:tt)*] $types:tt $sources:tt => $results:tt;)*) => {
        fn all() -> Vec<(Opcode, LoopForm)> {
            let mut all = Vec::new();
            $(forms!(@each all ($opcode $family $function $(<$level>)?) [$($q)*] $types $sources $results);)*
            all
        }
    };
    // each set of qualifiers
    (@each $all:ident $name:tt [$($q:tt)*] $types:tt $sources:tt $results:tt) => {
        $(forms!(@types $all $name $q $types $sources $results);)*
    };
    // with each list of types
    (@types $all:ident $name:tt $q:tt [$($types:tt)*] $sources:tt $results:tt) => {
        $(forms!(@one $all $name $q $types $sources $results);)*
    };
    (@one $all:ident ($opcode:literal $family:ident $function:ident $(<$level:ident>)?) $q:tt $t:tt
        ($($s:ident)*) ($($r:ident)*)) => {{
        const SETS: &[Q] = forms!(@sets $q $t);
        struct This;
        impl Semantics for This {
            #[inline(always)]
            fn lane<V: Level>(s: [u64; LOOP_OPERANDS]) -> [u64; 2] {
                let [first, rest @ ..] = $family::$function$(::<$level>)?(SETS[0], operands::<{ [$(RowKind::$s),*].len() }>(&s));
                [first, rest.first().copied().unwrap_or(0)]
            }
        }
        let rows = row_loop!(This ($($s)*) => ($($r)*));
        $all.push((Opcode::of($opcode), LoopForm { sets: SETS, one: |a, b, c, d| This::lane::<Base>([a, b, c, d, 0]), rows }));
    }};
    (@sets $q:tt {$({$($t:ident)*})+}) => { &[$(forms!(@set $q {$($t)*})),+] };
    (@sets {$({$($q:ident)*})+} $t:tt) => { &[$(forms!(@set {$($q)*} $t)),+] };
    (@sets $q:tt $t:tt) => { &[forms!(@set $q $t)] };
    (@set {$($q:ident)*} {$($t:ident)*}) => { Q::of(&const { Qualifiers::new(&[$(q::$q),*], &[$(Ty::$t),*]) }) };
}

/// The empty table of builds without optimisation, in which all instructions run lane by lane: these loops would be half as slow,
/// and most of the crate's build time.
#[cfg(not(ptx_dsl_optimised))]
fn all() -> Vec<(Opcode, LoopForm)> {
    Vec::new()
}

#[cfg(ptx_dsl_optimised)]
forms! {
    // integers
    "add" arith::add [{}] [{{U32} {S32}}] (W W) => (W);
    "add" arith::add [{}] [{{U64} {S64}}] (L L) => (L);
    "add" arith::add [{}] [{{U16} {S16}}] (H H) => (H);
    "sub" arith::sub [{}] [{{U32} {S32}}] (W W) => (W);
    "sub" arith::sub [{}] [{{U64} {S64}}] (L L) => (L);
    "mul" arith::mul [{lo}] [{{U32} {S32}}] (W W) => (W);
    "mul" arith::mul [{lo}] [{{U64} {S64}}] (L L) => (L);
    "mul" arith::mul [{hi}] [{U32} {S32}] (W W) => (W);
    "mul" arith::mul [{wide}] [{U32} {S32}] (W W) => (L);
    "mad" arith::mad [{lo}] [{{U32} {S32}}] (W W W) => (W);
    "mad" arith::mad [{lo}] [{{U64} {S64}}] (L L L) => (L);
    "mad" arith::mad [{wide}] [{U32} {S32}] (W W L) => (L);
    "div" arith::div [{}] [{U32} {S32}] (W W) => (W);
    "rem" arith::rem [{}] [{U32} {S32}] (W W) => (W);
    "min" arith::min [{}] [{U32} {S32}] (W W) => (W);
    "max" arith::max [{}] [{U32} {S32}] (W W) => (W);
    "min" arith::min [{}] [{U64} {S64}] (L L) => (L);
    "max" arith::max [{}] [{U64} {S64}] (L L) => (L);
    "neg" arith::neg [{}] [{S32}] (W) => (W);
    "neg" arith::neg [{}] [{S64}] (L) => (L);
    "abs" arith::abs [{}] [{S32}] (W) => (W);
    "popc" arith::popc [{}] [{B32}] (W) => (W);
    "clz" arith::clz [{}] [{B32}] (W) => (W);
    "brev" arith::brev [{}] [{B32}] (W) => (W);
    "bfe" arith::bfe [{}] [{U32} {S32}] (W W W) => (W);
    "bfi" arith::bfi [{}] [{B32}] (W W W W) => (W);
    // logic
    "and" logic::and [{}] [{B32}] (W W) => (W);
    "or" logic::or [{}] [{B32}] (W W) => (W);
    "xor" logic::xor [{}] [{B32}] (W W) => (W);
    "not" logic::not [{}] [{B32}] (W) => (W);
    "and" logic::and [{}] [{B64}] (L L) => (L);
    "or" logic::or [{}] [{B64}] (L L) => (L);
    "xor" logic::xor [{}] [{B64}] (L L) => (L);
    "not" logic::not [{}] [{B64}] (L) => (L);
    "and" logic::and [{}] [{B16}] (H H) => (H);
    "or" logic::or [{}] [{B16}] (H H) => (H);
    "xor" logic::xor [{}] [{B16}] (H H) => (H);
    "and" logic::and [{}] [{Pred}] (P P) => (P);
    "or" logic::or [{}] [{Pred}] (P P) => (P);
    "xor" logic::xor [{}] [{Pred}] (P P) => (P);
    "not" logic::not [{}] [{Pred}] (P) => (P);
    "shl" logic::shl [{}] [{B32}] (W W) => (W);
    "shl" logic::shl [{}] [{B64}] (L W) => (L);
    "shr" logic::shr [{}] [{{B32} {U32}} {S32}] (W W) => (W);
    "shr" logic::shr [{}] [{{B64} {U64}} {S64}] (L W) => (L);
    "shf" logic::shf [{l wrap} {r wrap} {l clamp} {r clamp}] [{B32}] (W W W) => (W);
    "prmt" logic::prmt [{}] [{B32}] (W W W) => (W);
    "lop3" logic::lop3 [{}] [{B32}] (W W W W) => (W);
    // comparisons and selections
    "setp" compare::setp [{eq} {ne}] [{{B32} {U32} {S32}}] (W W) => (P P);
    "setp" compare::setp [{lt} {le} {gt} {ge}] [{S32}] (W W) => (P P);
    "setp" compare::setp [{{lt} {lo}} {{le} {ls}} {{gt} {hi}} {{ge} {hs}}] [{U32}] (W W) => (P P);
    "setp" compare::setp [{eq} {ne} {lt} {le} {gt} {ge}] [{F32}] (F F) => (P P);
    "setp" compare::setp [{neu} {ltu} {leu} {gtu} {geu} {nan}] [{F32}] (F F) => (P P);
    "setp" compare::setp [{eq} {ne}] [{{B64} {U64} {S64}} {F64}] (L L) => (P P);
    "setp" compare::setp [{lt} {le} {gt} {ge}] [{U64} {S64} {F64}] (L L) => (P P);
    "setp" compare::setp [{eq} {ne}] [{{U16} {S16}}] (H H) => (P P);
    "setp" compare::setp [{lt} {le} {gt} {ge}] [{U16} {S16}] (H H) => (P P);
    "selp" compare::selp [{}] [{{B32} {U32} {S32} {F32}}] (W W P) => (W);
    "selp" compare::selp [{}] [{{B64} {U64} {S64} {F64}}] (L L P) => (L);
    // f32. The first four are for results whose NaNs nothing distinguishes.
    "add" float::add_any_nan [{{} {rn}}] [{F32}] (F F) => (F);
    "sub" float::sub_any_nan [{{} {rn}}] [{F32}] (F F) => (F);
    "mul" float::mul_any_nan [{{} {rn}}] [{F32}] (F F) => (F);
    "fma" float::fma_any_nan::<V> [{rn}] [{F32}] (F F F) => (F);
    "add" arith::add [{{} {rn}} {{ftz} {rn ftz}}] [{F32}] (F F) => (W);
    "sub" arith::sub [{{} {rn}} {{ftz} {rn ftz}}] [{F32}] (F F) => (W);
    "mul" arith::mul [{{} {rn}} {{ftz} {rn ftz}}] [{F32}] (F F) => (W);
    "fma" float::fma_near::<V> [{rn}] [{F32}] (F F F) => (W);
    "fma" arith::fma [{rn ftz}] [{F32}] (F F F) => (W);
    "div" arith::div [{rn} {full} {approx}] [{F32}] (F F) => (W);
    "rcp" arith::rcp [{rn} {approx} {approx ftz}] [{F32}] (F) => (W);
    "sqrt" arith::sqrt [{rn} {approx} {approx ftz}] [{F32}] (F) => (W);
    "rsqrt" arith::rsqrt [{approx} {approx ftz}] [{F32}] (F) => (W);
    "ex2" arith::ex2 [{approx} {approx ftz}] [{F32}] (F) => (W);
    "lg2" arith::lg2 [{approx} {approx ftz}] [{F32}] (F) => (W);
    "min" arith::min [{} {ftz}] [{F32}] (F F) => (W);
    "max" arith::max [{} {ftz}] [{F32}] (F F) => (W);
    "neg" arith::neg [{} {ftz}] [{F32}] (F) => (W);
    "abs" arith::abs [{} {ftz}] [{F32}] (F) => (W);
    // f64
    "add" arith::add [{{} {rn}}] [{F64}] (L L) => (L);
    "sub" arith::sub [{{} {rn}}] [{F64}] (L L) => (L);
    "mul" arith::mul [{{} {rn}}] [{F64}] (L L) => (L);
    "fma" arith::fma [{rn}] [{F64}] (L L L) => (L);
    // conversions
    "cvt" cvt::cvt [{}] [{U64 U32} {S64 S32}] (W) => (L);
    "cvt" cvt::cvt [{}] [{{U32 U64} {S32 S64}}] (L) => (W);
    "cvt" cvt::cvt [{}] [{U32 U16} {S32 S16}] (H) => (W);
    "cvt" cvt::cvt [{}] [{U16 U32}] (W) => (H);
    "cvt" cvt::cvt [{}] [{U32 U8} {S32 S8}] (W) => (W);
    "cvt" cvt::cvt [{rn}] [{F32 U32} {F32 S32}] (W) => (W);
    "cvt" cvt::cvt [{rzi}] [{U32 F32} {S32 F32}] (F) => (W);
    "cvt" cvt::cvt [{}] [{F32 F16}] (H) => (W);
    "cvt" cvt::cvt [{rn}] [{F16 F32}] (F) => (H);
    "cvt" cvt::cvt [{}] [{F64 F32}] (W) => (L);
    "cvt" cvt::cvt [{rn}] [{F32 F64}] (L) => (W);
}

/// The forms of an opcode.
pub(super) fn of(opcode: Opcode) -> &'static [&'static LoopForm] {
    static FORMS: OnceLock<HashMap<Opcode, Vec<&'static LoopForm>>> = OnceLock::new();
    let forms = FORMS.get_or_init(|| {
        let mut by_opcode: HashMap<Opcode, Vec<&'static LoopForm>> = HashMap::new();
        for (opcode, form) in all() {
            by_opcode.entry(opcode).or_default().push(Box::leak(Box::new(form)));
        }
        by_opcode
    });
    forms.get(&opcode).map_or(&[], Vec::as_slice)
}

#[cfg(all(test, ptx_dsl_optimised))]
pub(super) mod tests {
    use super::*;
    use crate::semantics::Call;
    use crate::semantics::list::calls;

    /// Bits of all kinds: small and large numbers, both signs, special floats.
    pub fn values() -> Vec<u64> {
        let words =
            [0, 1, 2, 31, 32, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x3f80_0000, 0xff80_0000, 0x7fc0_0001, 1 << 15];
        let longs = [1 << 63, u64::MAX, 0x3ff0_0000_0000_0000, 0x7ff8_0000_0000_0001, 0x0123_4567_89ab_cdef, 1 << 40];
        words.into_iter().chain(longs).collect()
    }

    pub fn is_nan(v: u64) -> bool {
        f32::from_bits(v as u32).is_nan()
    }

    /// A NaN of another sign and payload, quiet, if the value is a NaN.
    fn other_nan(v: u64) -> u64 {
        if is_nan(v) { (v ^ 0x8000_0123) | 1 << 22 } else { v }
    }

    /// The low bits, which a register holds.
    pub fn low(kind: RowKind, v: u64) -> u64 {
        v & (u64::MAX >> (64 - kind.bits()))
    }

    #[test]
    fn every_set_of_qualifiers_of_a_form_computes_the_same() {
        let calls: HashMap<Opcode, Call> = calls().into_iter().collect();
        let values = values();
        let mut compared = 0;
        for (opcode, form) in all() {
            let Call::Lane(lane) = &calls[&opcode] else { panic!("{opcode:?} is not an instruction of a lane") };
            for (i, a) in values.iter().enumerate() {
                for (j, b) in values.iter().enumerate() {
                    let all = [*a, *b, values[(i + j) % values.len()], values[(i * 7 + j) % values.len()]];
                    let mut s = [0; 4];
                    s.iter_mut().zip(form.rows.sources.iter().zip(all)).for_each(|(s, (kind, v))| *s = low(*kind, v));
                    let of = |d: [u64; 2]| -> Vec<u64> {
                        form.rows.results.iter().zip(d).map(|(kind, v)| low(*kind, v)).collect()
                    };
                    let found = of((form.one)(s[0], s[1], s[2], s[3]));
                    for q in form.sets {
                        // the semantics of one lane, which also get another NaN
                        let others = form
                            .rows
                            .sources
                            .iter()
                            .zip(s)
                            .map(|(kind, v)| if *kind == RowKind::F { other_nan(v) } else { v });
                        for s in [s[..form.rows.sources.len()].to_vec(), others.collect()] {
                            let lane = of(lane(*q, &s));
                            let same = form
                                .rows
                                .results
                                .iter()
                                .zip(found.iter().zip(&lane))
                                .all(|(kind, (a, b))| a == b || *kind == RowKind::F && is_nan(*a) && is_nan(*b));
                            assert!(same, "{opcode:?} {q:?} {s:x?}: {found:x?}, {lane:x?}");
                            compared += 1;
                        }
                    }
                }
            }
        }
        assert!(compared > 10_000, "{compared}");
    }
}
