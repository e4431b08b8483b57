//! Two instructions in one loop: the second takes the result of the first, which need not be stored if nothing else reads it. The
//! pairs are those that are frequent in kernels: chains of f32 arithmetic, hashes, counters and tests.
#![cfg_attr(not(ptx_dsl_optimised), allow(unused))]

use super::compiled::{self, row_loop};
use super::kind::RowKind;
use super::kinds::{F, N, P, Semantics, W, operands};
use super::loops::{CompiledLoop, LOOP_OPERANDS, LoopForm, RowLoop};
use crate::numerics::arith::float;
use crate::numerics::lanes::Level;
use crate::numerics::qual::{Q, Qualifiers, Ty, q};
use crate::semantics::{arith, compare, logic};
use ptx_dsl_isa::opcode::Opcode;
use std::sync::OnceLock;

/// A pair.
pub(super) struct Pair {
    first: Member,
    second: Member,
    /// Bits of the operands of the second instruction that take the result: each of these is the same.
    places: &'static [u8],
    /// The loop: the operands of the first instruction, and the others of the second; the results of the second, and of the first.
    pub rows: RowLoop,
}

/// An instruction of a pair.
struct Member {
    opcode: Opcode,
    q: Q,
    sources: &'static [RowKind],
    result: RowKind,
}

impl Member {
    fn of<M: Instruction>() -> Member {
        Member { opcode: Opcode::of(M::OPCODE), q: M::Q, sources: M::SOURCES, result: M::RESULT }
    }

    fn is(&self, opcode: Opcode, form: &LoopForm) -> bool {
        let kinds = self.sources == form.rows.sources && form.rows.results[0] == self.result;
        self.opcode == opcode && kinds && form.sets.contains(&self.q)
    }
}

/// The loop of two instructions; bits of the operands of the second that take the result of the first.
pub(super) fn find([first, second]: [(Opcode, &LoopForm); 2], places: u8) -> Option<&'static Pair> {
    static PAIRS: OnceLock<Vec<Pair>> = OnceLock::new();
    let mut pairs = PAIRS.get_or_init(all).iter();
    pairs.find(|pair| {
        pair.places.contains(&places) && pair.first.is(first.0, first.1) && pair.second.is(second.0, second.1)
    })
}

/// An instruction with constant qualifiers.
trait Instruction {
    const OPCODE: &'static str;
    const Q: Q;
    const SOURCES: &'static [RowKind];
    const RESULT: RowKind;
    fn lane<V: Level>(s: &[u64; LOOP_OPERANDS]) -> u64;
}

/// Two instructions, one after the other. `PLACES`: bits of the operands of the second that take the result of the first.
struct Both<A, B, const PLACES: u8>(std::marker::PhantomData<(A, B)>);

impl<A: Instruction, B: Instruction, const PLACES: u8> Semantics for Both<A, B, PLACES> {
    #[inline(always)]
    fn lane<V: Level>(s: [u64; LOOP_OPERANDS]) -> [u64; 2] {
        let first = A::lane::<V>(&s);
        let (mut of_second, mut rest) = ([0; LOOP_OPERANDS], A::SOURCES.len());
        for (i, to) in of_second.iter_mut().enumerate().take(B::SOURCES.len()) {
            if PLACES >> i & 1 != 0 {
                *to = first;
            } else {
                *to = s[rest];
                rest += 1;
            }
        }
        [B::lane::<V>(&of_second), first]
    }
}

/// Declares instructions: opcode, function, qualifiers, types, kinds of operands `=>` kind of the result.
macro_rules! instructions {
    ($($name:ident $opcode:literal $family:ident::$function:ident $(::<$level:ident>)? {$($q:ident)*} {$t:ident} ($($s:ident)*) => $r:ident;)*) => {$(
        struct $name;
        impl Instruction for $name {
            const OPCODE: &'static str = $opcode;
            const Q: Q = Q::of(&const { Qualifiers::new(&[$(q::$q),*], &[Ty::$t]) });
            const SOURCES: &'static [RowKind] = &[$(RowKind::$s),*];
            const RESULT: RowKind = RowKind::$r;
            #[inline(always)]
            fn lane<V: Level>(s: &[u64; LOOP_OPERANDS]) -> u64 {
                $family::$function$(::<$level>)?(Self::Q, operands::<{ Self::SOURCES.len() }>(s))[0]
            }
        }
    )*};
}

/// Declares pairs: two instructions, the operands of the second that take the result of the first, kinds of the other operands `=>`
/// kinds of the second and the first result.
macro_rules! pairs {
    ($($first:ident $second:ident [$place:literal $(| $more:literal)*] $sources:tt => $results:tt;)*) => {
        fn all() -> Vec<Pair> {
            vec![$({
                type This = Both<$first, $second, $place>;
                let (first, second) = (Member::of::<$first>(), Member::of::<$second>());
                Pair { first, second, places: &[$place $(, $more)*], rows: row_loop!(This $sources => $results) }
            }),*]
        }
    };
}

/// The empty table of builds without optimisation, which have no loops.
#[cfg(not(ptx_dsl_optimised))]
fn all() -> Vec<Pair> {
    Vec::new()
}

#[cfg(ptx_dsl_optimised)]
instructions! {
    // f32: results whose NaNs nothing distinguishes, and others
    Add "add" float::add_any_nan {rn} {F32} (F F) => F;
    Sub "sub" float::sub_any_nan {rn} {F32} (F F) => F;
    Mul "mul" float::mul_any_nan {rn} {F32} (F F) => F;
    Fma "fma" float::fma_any_nan::<V> {rn} {F32} (F F F) => F;
    AddLast "add" arith::add {rn} {F32} (F F) => W;
    MulLast "mul" arith::mul {rn} {F32} (F F) => W;
    FmaLast "fma" float::fma_near::<V> {rn} {F32} (F F F) => W;
    Greater "setp" compare::setp {gt} {F32} (F F) => P;
    Less "setp" compare::setp {lt} {F32} (F F) => P;
    // integers
    IntAdd "add" arith::add {} {U32} (W W) => W;
    And "and" logic::and {} {B32} (W W) => W;
    Xor "xor" logic::xor {} {B32} (W W) => W;
    IntMul "mul" arith::mul {lo} {U32} (W W) => W;
    Left "shl" logic::shl {} {B32} (W W) => W;
    Right "shr" logic::shr {} {U32} (W W) => W;
    Equal "setp" compare::setp {eq} {B32} (W W) => P;
    Different "setp" compare::setp {ne} {B32} (W W) => P;
    Lower "setp" compare::setp {lt} {U32} (W W) => P;
    Before "setp" compare::setp {lt} {S32} (W W) => P;
    Select "selp" compare::selp {} {B32} (W W P) => W;
}

#[cfg(ptx_dsl_optimised)]
pairs! {
    // sums of products, polynomials
    Mul Fma [0b100] (F F F F) => (F F);
    Mul Fma [0b001 | 0b010] (F F F F) => (F F);
    Mul FmaLast [0b100] (F F F F) => (W F);
    Fma Fma [0b100] (F F F F F) => (F F);
    Fma Fma [0b001 | 0b010] (F F F F F) => (F F);
    Fma FmaLast [0b100] (F F F F F) => (W F);
    Fma FmaLast [0b001 | 0b010] (F F F F F) => (W F);
    // sums, distances
    Add Add [0b01 | 0b10] (F F F) => (F F);
    Sub Add [0b01 | 0b10] (F F F) => (F F);
    Add AddLast [0b01 | 0b10] (F F F) => (W F);
    Sub Mul [0b01 | 0b10] (F F F) => (F F);
    Sub Fma [0b011] (F F F) => (F F);
    Mul Mul [0b01 | 0b10] (F F F) => (F F);
    Mul MulLast [0b01 | 0b10] (F F F) => (W F);
    Add Greater [0b01] (F F F) => (P F);
    Add Less [0b01] (F F F) => (P F);
    // hashes
    Left Xor [0b01 | 0b10] (W W W) => (W W);
    Right Xor [0b01 | 0b10] (W W W) => (W W);
    Xor IntMul [0b01 | 0b10] (W W W) => (W W);
    IntMul Xor [0b01 | 0b10] (W W W) => (W W);
    IntMul IntAdd [0b01 | 0b10] (W W W) => (W W);
    Left IntAdd [0b01 | 0b10] (W W W) => (W W);
    Right And [0b01 | 0b10] (W W W) => (W W);
    // tests
    And Equal [0b01] (W W W) => (P W);
    And Different [0b01] (W W W) => (P W);
    IntAdd Lower [0b01] (W W W) => (P W);
    IntAdd Before [0b01] (W W W) => (P W);
    IntAdd Different [0b01] (W W W) => (P W);
    Greater Select [0b100] (F F W W) => (W P);
    Lower Select [0b100] (W W W W) => (W P);
    Before Select [0b100] (W W W W) => (W P);
}

#[cfg(all(test, ptx_dsl_optimised))]
mod tests {
    use super::super::super::registers::Row;
    use super::super::forms::tests::{is_nan, low, values};
    use super::super::loops::{Loop, OperandPlaces, RowNeeds, RowPlace};
    use super::super::{forms, run_calls};
    use super::*;
    use std::cell::Cell;

    /// The form of an instruction of a pair.
    fn form(member: &Member) -> &'static LoopForm {
        forms::of(member.opcode).iter().copied().find(|form| member.is(member.opcode, form)).expect("a form")
    }

    fn one(form: &LoopForm, s: &[u64]) -> u64 {
        let s = |i: usize| s.get(i).copied().unwrap_or(0);
        low(form.rows.results[0], (form.one)(s(0), s(1), s(2), s(3))[0])
    }

    /// The results of a loop for one value of each operand, in a lane.
    fn run(rows: &RowLoop, s: &[u64], lane: usize) -> [u64; 2] {
        let warps = 1;
        let words: Vec<_> = (0..8).map(|_| Cell::new(Row([0u32; 32]))).collect();
        let longs: Vec<_> = (0..8).map(|_| Cell::new(Row([0u64; 32]))).collect();
        let predicates: Vec<_> = (0..8).map(|_| Cell::new(0)).collect();
        let place = |first| RowPlace { first, by_warp: true };
        let mut places = OperandPlaces { result: place(6), second: Some(place(7)), ..OperandPlaces::default() };
        for (i, v) in s.iter().enumerate() {
            places.sources[i] = place(i as u32);
            let mut row = Row([!(*v as u32); 32]);
            row.0[lane] = *v as u32;
            words[i].set(row);
            predicates[i].set(if *v & 1 != 0 { 1 << lane } else { !(1 << lane) });
        }
        let needs = RowNeeds::of(rows, &places, warps);
        let x = Loop { words: &words, longs: &longs, predicates: &predicates, lo: 0, masks: &[u32::MAX] };
        run_calls(&[(rows.compiled(crate::numerics::simd::best(true)), places)], &needs, &x);
        let result = |kind: RowKind, at: usize| match kind {
            RowKind::P => u64::from(predicates[at].get() >> lane & 1),
            _ => u64::from(words[at].get().0[lane]),
        };
        [result(rows.results[0], 6), result(rows.results[1], 7)]
    }

    #[test]
    fn a_pair_computes_what_its_instructions_do_one_after_the_other() {
        if !crate::numerics::simd::best(true).has_rows() {
            return;
        }
        let values = values();
        let n = values.len();
        for Pair { first, second, places, rows } in all() {
            let taken = |i: usize| places[0] >> i & 1 != 0;
            let others = (0..second.sources.len()).filter(|i| !taken(*i));
            let kinds: Vec<RowKind> = first.sources.iter().copied().chain(others.map(|i| second.sources[i])).collect();
            assert_eq!((&kinds[..], rows.results), (rows.sources, &[second.result, first.result][..]));
            let (of_first, of_second) = (form(&first), form(&second));
            for case in 0..n * n {
                let (i, j) = (case / n, case % n);
                let all = [values[i], values[j], values[(i + j) % n], values[(i * 7 + j) % n], values[(i + j * 5) % n]];
                let s: Vec<u64> = kinds.iter().zip(all).map(|(kind, v)| low(*kind, v)).collect();
                let (own, rest) = s.split_at(first.sources.len());
                let between = one(of_first, own);
                let mut rest = rest.iter();
                let mut operand = |i| if taken(i) { between } else { *rest.next().expect("another operand") };
                let operands: Vec<u64> = (0..second.sources.len()).map(&mut operand).collect();
                let wanted = [one(of_second, &operands), between];
                let found = run(&rows, &s, case % 32);
                for ((kind, found), wanted) in rows.results.iter().zip(found).zip(wanted) {
                    let same = found == wanted || *kind == RowKind::F && is_nan(found) && is_nan(wanted);
                    assert!(same, "{:?} {:?} {s:x?}: {found:x}, {wanted:x}", first.opcode, second.opcode);
                }
                // each of these places means the same
                for other in &places[1..] {
                    let mut exchanged = operands.clone();
                    exchanged.swap(places[0].trailing_zeros() as usize, other.trailing_zeros() as usize);
                    let swapped = one(of_second, &exchanged);
                    let same =
                        swapped == wanted[0] || second.result == RowKind::F && is_nan(swapped) && is_nan(wanted[0]);
                    assert!(same, "{:?} {exchanged:x?}", second.opcode);
                }
            }
        }
    }
}
