//! Kinds of registers in loops, and the loop.
#![cfg_attr(not(ptx_dsl_optimised), allow(unused))]

use super::super::registers::Row;
use super::loops::{LOOP_OPERANDS, Loop, OperandPlaces, RowPlace};
use crate::numerics::lanes::Level;
use std::cell::Cell;

/// The rows of a kind of register.
pub(super) trait Register {
    /// The rows of an operand or a result.
    type Rows<'c>: Copy;
    /// A row while it is computed.
    type Lanes: Copy;
    const ZERO: Self::Lanes;
    /// Whether the rows are masks of all lanes, or do not exist.
    const IS_MASK: bool = false;
    /// The rows for the warps of a loop.
    fn rows<'c>(x: &Loop<'c>, place: RowPlace) -> Self::Rows<'c>;
    fn load<V: Level>(rows: Self::Rows<'_>, k: usize) -> Self::Lanes;
    fn lane(lanes: &Self::Lanes, l: usize) -> u64;
    fn set(lanes: &mut Self::Lanes, l: usize, v: u64);
    fn store<V: Level>(rows: Self::Rows<'_>, k: usize, lanes: &Self::Lanes, m: u32);
    /// The lanes as a mask.
    fn load_mask(_: Self::Rows<'_>, _: usize) -> u32 {
        0
    }
    fn store_mask(_: Self::Rows<'_>, _: usize, _: u32, _: u32) {}
}

/// Predicates: a word for each lane while they are computed, which LLVM vectorises.
pub(super) struct P;
pub(super) struct H;
pub(super) struct W;
pub(super) struct L;
pub(super) type F = W;
/// No operand.
pub(super) struct N;

/// The rows of an operand or a result for the warps of a loop.
#[derive(Clone, Copy)]
pub(super) struct Rows<'c, T> {
    all: &'c [Cell<T>],
    first: usize,
    step: usize,
}

impl<'c, T: Copy> Rows<'c, T> {
    #[inline(always)]
    fn new(all: &'c [Cell<T>], x: &Loop<'c>, RowPlace { first, by_warp }: RowPlace) -> Self {
        let step = usize::from(by_warp);
        Rows { all, first: first as usize + step * x.lo as usize, step }
    }

    /// The row of warp `k` of the loop.
    #[inline(always)]
    #[allow(unsafe_code)]
    fn row(self, k: usize) -> &'c Cell<T> {
        // SAFETY: who calls a loop has made sure with `Loop::has` that its rows are inside, and `each` has no other warps.
        unsafe { self.all.get_unchecked(self.first + self.step * k) }
    }
}

impl Register for P {
    type Rows<'c> = Rows<'c, u32>;
    type Lanes = [u32; 32];
    const ZERO: [u32; 32] = [0; 32];
    const IS_MASK: bool = true;
    #[inline(always)]
    fn rows<'c>(x: &Loop<'c>, place: RowPlace) -> Rows<'c, u32> {
        Rows::new(x.predicates, x, place)
    }
    #[inline(always)]
    fn load<V: Level>(rows: Rows<'_, u32>, k: usize) -> [u32; 32] {
        V::words_of_mask(rows.row(k).get())
    }
    #[inline(always)]
    fn lane(row: &[u32; 32], l: usize) -> u64 {
        u64::from(row[l] & 1)
    }
    #[inline(always)]
    fn set(row: &mut [u32; 32], l: usize, v: u64) {
        row[l] = (v as u32 & 1).wrapping_neg();
    }
    #[inline(always)]
    fn store<V: Level>(rows: Rows<'_, u32>, k: usize, row: &[u32; 32], m: u32) {
        P::store_mask(rows, k, V::mask_of_words(row), m);
    }
    #[inline(always)]
    fn load_mask(rows: Rows<'_, u32>, k: usize) -> u32 {
        rows.row(k).get()
    }
    #[inline(always)]
    fn store_mask(rows: Rows<'_, u32>, k: usize, v: u32, m: u32) {
        let place = rows.row(k);
        place.set(place.get() & !m | v & m);
    }
}

macro_rules! words {
    ($($kind:ident $rows:ident $t:ty, $bits:literal, $put:ident;)*) => {$(
        impl Register for $kind {
            type Rows<'c> = Rows<'c, Row<$t>>;
            type Lanes = Row<$t>;
            const ZERO: Row<$t> = Row([0; 32]);
            #[inline(always)]
            fn rows<'c>(x: &Loop<'c>, place: RowPlace) -> Self::Rows<'c> {
                Rows::new(x.$rows, x, place)
            }
            #[inline(always)]
            fn load<V: Level>(rows: Self::Rows<'_>, k: usize) -> Row<$t> {
                rows.row(k).get()
            }
            #[inline(always)]
            fn lane(row: &Row<$t>, l: usize) -> u64 {
                u64::from(row.0[l])
            }
            #[inline(always)]
            fn set(row: &mut Row<$t>, l: usize, v: u64) {
                row.0[l] = (v & (u64::MAX >> (64 - $bits))) as $t;
            }
            #[inline(always)]
            fn store<V: Level>(rows: Self::Rows<'_>, k: usize, row: &Row<$t>, m: u32) {
                let place = rows.row(k);
                if m == u32::MAX {
                    place.set(*row);
                } else {
                    let mut old = place.get();
                    V::$put(&mut old.0, &row.0, m);
                    place.set(old);
                }
            }
        }
    )*};
}
words! {
    H words u32, 16, put_u32;
    W words u32, 32, put_u32;
    L longs u64, 64, put_u64;
}

impl Register for N {
    type Rows<'c> = ();
    type Lanes = ();
    const ZERO: () = ();
    const IS_MASK: bool = true;
    #[inline(always)]
    fn rows<'c>(_: &Loop<'c>, _: RowPlace) {}
    #[inline(always)]
    fn load<V: Level>((): (), _: usize) {}
    #[inline(always)]
    fn lane((): &(), _: usize) -> u64 {
        0
    }
    #[inline(always)]
    fn set((): &mut (), _: usize, _: u64) {}
    #[inline(always)]
    fn store<V: Level>((): (), _: usize, (): &(), _: u32) {}
}

/// The function that a loop computes in each lane.
pub(super) trait Semantics {
    fn lane<V: Level>(s: [u64; LOOP_OPERANDS]) -> [u64; 2];
}

/// The first operands.
#[inline(always)]
pub(super) fn operands<const N: usize>(s: &[u64; LOOP_OPERANDS]) -> [u64; N] {
    let mut all = [0; N];
    let mut i = 0;
    while i < N {
        all[i] = s[i];
        i += 1;
    }
    all
}

/// The loop: whole rows are read before any lane is written, so that operands and result may be one register.
#[inline(always)]
pub(super) fn each<F, A, B, C, D, E, R, S, V>(x: &Loop<'_>, places: &OperandPlaces)
where
    F: Semantics,
    A: Register,
    B: Register,
    C: Register,
    D: Register,
    E: Register,
    R: Register,
    S: Register,
    V: Level,
{
    let [a, b, c, d, e] = places.sources;
    let (a, b, c, d, e) = (A::rows(x, a), B::rows(x, b), C::rows(x, c), D::rows(x, d), E::rows(x, e));
    let (first, second) = (R::rows(x, places.result), places.second.map(|place| S::rows(x, place)));
    let every = if places.all { u32::MAX } else { 0 };
    for (k, &m) in x.masks.iter().enumerate() {
        if m == 0 {
            continue;
        }
        let m = m | every;
        if const { A::IS_MASK && B::IS_MASK && C::IS_MASK && D::IS_MASK && E::IS_MASK && R::IS_MASK && S::IS_MASK } {
            let s = [A::load_mask(a, k), B::load_mask(b, k), C::load_mask(c, k), D::load_mask(d, k)];
            R::store_mask(first, k, of_masks::<F, V>(s), m);
            continue;
        }
        let (a, b) = (A::load::<V>(a, k), B::load::<V>(b, k));
        let (c, d, e) = (C::load::<V>(c, k), D::load::<V>(d, k), E::load::<V>(e, k));
        let (mut v, mut w) = (R::ZERO, S::ZERO);
        for l in 0..32 {
            let s = [A::lane(&a, l), B::lane(&b, l), C::lane(&c, l), D::lane(&d, l), E::lane(&e, l)];
            let of_lane = F::lane::<V>(s);
            R::set(&mut v, l, of_lane[0]);
            S::set(&mut w, l, of_lane[1]);
        }
        R::store::<V>(first, k, &v, m);
        if let Some(second) = second {
            S::store::<V>(second, k, &w, m);
        }
    }
}

/// The result of predicates in all lanes: the cases of the truth table where it is true. LLVM makes one operation of them.
#[inline(always)]
fn of_masks<F: Semantics, V: Level>(s: [u32; 4]) -> u32 {
    let mut all = 0;
    for case in 0..16 {
        let holds = |i: usize| case >> i & 1;
        if F::lane::<V>([holds(0), holds(1), holds(2), holds(3), 0])[0] & 1 != 0 {
            let lanes = |i: usize| if holds(i) != 0 { s[i] } else { !s[i] };
            all |= lanes(0) & lanes(1) & lanes(2) & lanes(3);
        }
    }
    all
}
