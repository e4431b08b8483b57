//! The instructions that have loops on rows: those that kernels execute most. What they compute is in [`crate::isa`]; a line here
//! only has it compiled for constant qualifiers.
#![cfg_attr(not(ptx_dsl_optimised), allow(unused))]

use super::kind::Kind;
use super::kinds::{H, L, N, P, Semantics, W, each};
use super::loops::{Compiled, Form, Loop};
use crate::isa::arith::float;
use crate::isa::{arith, compare, cvt, logic};
use crate::lanes::{self, Base, Level};
use crate::qual::{Q, Qualifiers, Ty, q};
use ptx_dsl_isa::opcode::Opcode;
use std::collections::HashMap;
use std::sync::OnceLock;

macro_rules! level {
    ($(#[$attribute:meta])* $name:ident $level:ty) => {
        $(#[$attribute])*
        fn $name<F: Semantics, A, B, C, D, R, S>(x: &Loop<'_>)
        where
            A: super::kinds::Register,
            B: super::kinds::Register,
            C: super::kinds::Register,
            D: super::kinds::Register,
            R: super::kinds::Register,
            S: super::kinds::Register,
        {
            each::<F, A, B, C, D, R, S, $level>(x);
        }
    };
}
#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
level!(
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]
    avx512 lanes::Avx512
);
#[cfg(target_arch = "x86_64")]
level!(
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    avx2 lanes::Avx2
);
level!(base Base);
#[cfg(not(all(target_arch = "x86_64", not(debug_assertions))))]
use avx2 as avx512;
#[cfg(not(target_arch = "x86_64"))]
use base as avx2;

/// Declares forms: opcode, function, sets of qualifiers, lists of types, kinds of operands `=>` kinds of results.
macro_rules! forms {
    ($($opcode:literal $family:ident::$function:ident $(::<$level:ident>)? [$($q:tt)*] $types:tt $sources:tt => $results:tt;)*) => {
        fn all() -> Vec<(Opcode, Form)> {
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
    (@one $all:ident ($opcode:literal $family:ident $function:ident $(<$level:ident>)?) {$($q:ident)*} {$($t:ident)*}
        ($($s:ident)*) ($($r:ident)*)) => {{
        const SET: Q = Q::of(&const { Qualifiers::new(&[$(q::$q),*], &[$(Ty::$t),*]) });
        struct This;
        impl Semantics for This {
            #[inline(always)]
            fn lane<V: Level>(s: [u64; 4]) -> [u64; 2] {
                let [first, rest @ ..] = $family::$function$(::<$level>)?(SET, operands::<{ [$(Kind::$s),*].len() }>(s));
                [first, rest.first().copied().unwrap_or(0)]
            }
        }
        let loops = forms!(@loops This ($($s)*) ($($r)*));
        $all.push((Opcode::of($opcode), Form { q: SET, one: This::lane::<Base>, sources: &[$(Kind::$s),*], results: &[$(Kind::$r),*], loops }));
    }};
    (@loops $f:ident ($a:ident) $r:tt) => { forms!(@results $f $a N N N $r) };
    (@loops $f:ident ($a:ident $b:ident) $r:tt) => { forms!(@results $f $a $b N N $r) };
    (@loops $f:ident ($a:ident $b:ident $c:ident) $r:tt) => { forms!(@results $f $a $b $c N $r) };
    (@loops $f:ident ($a:ident $b:ident $c:ident $d:ident) $r:tt) => { forms!(@results $f $a $b $c $d $r) };
    (@results $f:ident $a:ident $b:ident $c:ident $d:ident ($r:ident)) => {
        [
            avx512::<$f, $a, $b, $c, $d, $r, N> as Compiled,
            avx2::<$f, $a, $b, $c, $d, $r, N> as Compiled,
            base::<$f, $a, $b, $c, $d, $r, N> as Compiled,
        ]
    };
    (@results $f:ident $a:ident $b:ident $c:ident $d:ident ($r:ident $s:ident)) => {
        [
            avx512::<$f, $a, $b, $c, $d, $r, $s> as Compiled,
            avx2::<$f, $a, $b, $c, $d, $r, $s> as Compiled,
            base::<$f, $a, $b, $c, $d, $r, $s> as Compiled,
        ]
    };
}

#[inline(always)]
fn operands<const N: usize>(s: [u64; 4]) -> [u64; N] {
    let mut all = [0; N];
    let mut i = 0;
    while i < N {
        all[i] = s[i];
        i += 1;
    }
    all
}

/// Without optimisation all instructions run lane by lane: these loops would be half as slow, and most of the crate's build time.
#[cfg(not(ptx_dsl_optimised))]
fn all() -> Vec<(Opcode, Form)> {
    Vec::new()
}

#[cfg(ptx_dsl_optimised)]
forms! {
    // integers
    "add" arith::add [{}] [{U32} {S32}] (W W) => (W);
    "add" arith::add [{}] [{U64} {S64}] (L L) => (L);
    "add" arith::add [{}] [{U16} {S16}] (H H) => (H);
    "sub" arith::sub [{}] [{U32} {S32}] (W W) => (W);
    "sub" arith::sub [{}] [{U64} {S64}] (L L) => (L);
    "mul" arith::mul [{lo}] [{U32} {S32}] (W W) => (W);
    "mul" arith::mul [{lo}] [{U64} {S64}] (L L) => (L);
    "mul" arith::mul [{hi}] [{U32} {S32}] (W W) => (W);
    "mul" arith::mul [{wide}] [{U32} {S32}] (W W) => (L);
    "mad" arith::mad [{lo}] [{U32} {S32}] (W W W) => (W);
    "mad" arith::mad [{lo}] [{U64} {S64}] (L L L) => (L);
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
    "shr" logic::shr [{}] [{B32} {U32} {S32}] (W W) => (W);
    "shr" logic::shr [{}] [{B64} {U64} {S64}] (L W) => (L);
    "shf" logic::shf [{l wrap} {r wrap} {l clamp} {r clamp}] [{B32}] (W W W) => (W);
    "prmt" logic::prmt [{}] [{B32}] (W W W) => (W);
    "lop3" logic::lop3 [{}] [{B32}] (W W W W) => (W);
    // comparisons and selections
    "setp" compare::setp [{eq} {ne}] [{B32} {U32} {S32} {F32}] (W W) => (P P);
    "setp" compare::setp [{lt} {le} {gt} {ge}] [{U32} {S32} {F32}] (W W) => (P P);
    "setp" compare::setp [{lo} {ls} {hi} {hs}] [{U32}] (W W) => (P P);
    "setp" compare::setp [{neu} {ltu} {leu} {gtu} {geu} {nan}] [{F32}] (W W) => (P P);
    "setp" compare::setp [{eq} {ne}] [{B64} {U64} {S64} {F64}] (L L) => (P P);
    "setp" compare::setp [{lt} {le} {gt} {ge}] [{U64} {S64} {F64}] (L L) => (P P);
    "setp" compare::setp [{eq} {ne} {lt} {le} {gt} {ge}] [{U16} {S16}] (H H) => (P P);
    "selp" compare::selp [{}] [{B32} {U32} {S32} {F32}] (W W P) => (W);
    "selp" compare::selp [{}] [{B64} {U64} {S64} {F64}] (L L P) => (L);
    // f32
    "add" arith::add [{} {rn} {ftz} {rn ftz}] [{F32}] (W W) => (W);
    "sub" arith::sub [{} {rn} {ftz} {rn ftz}] [{F32}] (W W) => (W);
    "mul" arith::mul [{} {rn} {ftz} {rn ftz}] [{F32}] (W W) => (W);
    "fma" float::fma_near::<V> [{rn}] [{F32}] (W W W) => (W);
    "fma" arith::fma [{rn ftz}] [{F32}] (W W W) => (W);
    "div" arith::div [{rn} {full} {approx}] [{F32}] (W W) => (W);
    "rcp" arith::rcp [{rn} {approx} {approx ftz}] [{F32}] (W) => (W);
    "sqrt" arith::sqrt [{rn} {approx} {approx ftz}] [{F32}] (W) => (W);
    "rsqrt" arith::rsqrt [{approx} {approx ftz}] [{F32}] (W) => (W);
    "ex2" arith::ex2 [{approx} {approx ftz}] [{F32}] (W) => (W);
    "lg2" arith::lg2 [{approx} {approx ftz}] [{F32}] (W) => (W);
    "min" arith::min [{} {ftz}] [{F32}] (W W) => (W);
    "max" arith::max [{} {ftz}] [{F32}] (W W) => (W);
    "neg" arith::neg [{} {ftz}] [{F32}] (W) => (W);
    "abs" arith::abs [{} {ftz}] [{F32}] (W) => (W);
    // f64
    "add" arith::add [{} {rn}] [{F64}] (L L) => (L);
    "sub" arith::sub [{} {rn}] [{F64}] (L L) => (L);
    "mul" arith::mul [{} {rn}] [{F64}] (L L) => (L);
    "fma" arith::fma [{rn}] [{F64}] (L L L) => (L);
    // conversions
    "cvt" cvt::cvt [{}] [{U64 U32} {S64 S32}] (W) => (L);
    "cvt" cvt::cvt [{}] [{U32 U64} {S32 S64}] (L) => (W);
    "cvt" cvt::cvt [{}] [{U32 U16} {S32 S16}] (H) => (W);
    "cvt" cvt::cvt [{}] [{U16 U32}] (W) => (H);
    "cvt" cvt::cvt [{}] [{U32 U8} {S32 S8}] (W) => (W);
    "cvt" cvt::cvt [{rn}] [{F32 U32} {F32 S32}] (W) => (W);
    "cvt" cvt::cvt [{rzi}] [{U32 F32} {S32 F32}] (W) => (W);
    "cvt" cvt::cvt [{}] [{F32 F16}] (H) => (W);
    "cvt" cvt::cvt [{rn}] [{F16 F32}] (W) => (H);
    "cvt" cvt::cvt [{}] [{F64 F32}] (W) => (L);
    "cvt" cvt::cvt [{rn}] [{F32 F64}] (L) => (W);
}

/// The forms of an opcode.
pub(super) fn of(opcode: Opcode) -> &'static [&'static Form] {
    static FORMS: OnceLock<HashMap<Opcode, Vec<&'static Form>>> = OnceLock::new();
    let forms = FORMS.get_or_init(|| {
        let mut by_opcode: HashMap<Opcode, Vec<&'static Form>> = HashMap::new();
        for (opcode, form) in all() {
            by_opcode.entry(opcode).or_default().push(Box::leak(Box::new(form)));
        }
        by_opcode
    });
    forms.get(&opcode).map_or(&[], Vec::as_slice)
}
