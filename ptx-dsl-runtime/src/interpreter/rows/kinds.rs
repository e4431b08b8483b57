//! Kinds of registers in loops, and the loop.
#![cfg_attr(not(ptx_dsl_optimised), allow(unused))]

use super::super::registers::Row;
use super::loops::{Loop, Places};
use crate::lanes::Level;

/// The rows of a kind of register.
pub(super) trait Register {
    type Row: Copy;
    const ZERO: Self::Row;
    fn load(x: &Loop<'_>, at: usize) -> Self::Row;
    fn lane(row: &Self::Row, l: usize) -> u64;
    fn set(row: &mut Self::Row, l: usize, v: u64);
    fn store<V: Level>(x: &Loop<'_>, at: usize, row: &Self::Row, m: u32);
}

/// Predicates: a byte for each lane while they are computed, which LLVM vectorises.
pub(super) struct P;
pub(super) struct H;
pub(super) struct W;
pub(super) struct L;
/// No operand.
pub(super) struct N;

impl Register for P {
    type Row = [u8; 32];
    const ZERO: [u8; 32] = [0; 32];
    #[inline(always)]
    fn load(x: &Loop<'_>, at: usize) -> [u8; 32] {
        let m = x.predicates[at].get();
        let mut row = [0; 32];
        for (l, b) in row.iter_mut().enumerate() {
            *b = (m >> l) as u8 & 1;
        }
        row
    }
    #[inline(always)]
    fn lane(row: &[u8; 32], l: usize) -> u64 {
        u64::from(row[l])
    }
    #[inline(always)]
    fn set(row: &mut [u8; 32], l: usize, v: u64) {
        row[l] = v as u8 & 1;
    }
    #[inline(always)]
    fn store<V: Level>(x: &Loop<'_>, at: usize, row: &[u8; 32], m: u32) {
        let place = &x.predicates[at];
        place.set(place.get() & !m | V::mask(row) & m);
    }
}

macro_rules! words {
    ($($kind:ident $rows:ident $t:ty, $bits:literal, $put:ident;)*) => {$(
        impl Register for $kind {
            type Row = Row<$t>;
            const ZERO: Row<$t> = Row([0; 32]);
            #[inline(always)]
            fn load(x: &Loop<'_>, at: usize) -> Row<$t> {
                x.$rows[at].get()
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
            fn store<V: Level>(x: &Loop<'_>, at: usize, row: &Row<$t>, m: u32) {
                let place = &x.$rows[at];
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
    type Row = ();
    const ZERO: () = ();
    #[inline(always)]
    fn load(_: &Loop<'_>, _: usize) {}
    #[inline(always)]
    fn lane(_: &(), _: usize) -> u64 {
        0
    }
    #[inline(always)]
    fn set(_: &mut (), _: usize, _: u64) {}
    #[inline(always)]
    fn store<V: Level>(_: &Loop<'_>, _: usize, _: &(), _: u32) {}
}

/// What an instruction computes in a lane.
pub(super) trait Semantics {
    fn lane<V: Level>(s: [u64; 4]) -> [u64; 2];
}

/// The loop: whole rows are read before any lane is written, so that operands and result may be one register.
#[inline(always)]
pub(super) fn each<F, A, B, C, D, R, S, V>(x: &Loop<'_>)
where
    F: Semantics,
    A: Register,
    B: Register,
    C: Register,
    D: Register,
    R: Register,
    S: Register,
    V: Level,
{
    let Places { sources: [a, b, c, d], results } = *x.places;
    let at = |(from, step): (usize, usize), w| from + step * w;
    for (w, &m) in (x.lo..).zip(x.masks) {
        if m == 0 {
            continue;
        }
        let (a, b, c, d) = (A::load(x, at(a, w)), B::load(x, at(b, w)), C::load(x, at(c, w)), D::load(x, at(d, w)));
        let (mut first, mut second) = (R::ZERO, S::ZERO);
        for l in 0..32 {
            let v = F::lane::<V>([A::lane(&a, l), B::lane(&b, l), C::lane(&c, l), D::lane(&d, l)]);
            R::set(&mut first, l, v[0]);
            S::set(&mut second, l, v[1]);
        }
        let m = if x.all { u32::MAX } else { m };
        R::store::<V>(x, results[0] + w, &first, m);
        S::store::<V>(x, results[1] + w, &second, m);
    }
}
