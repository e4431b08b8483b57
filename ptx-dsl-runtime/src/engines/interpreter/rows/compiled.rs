//! Loops compiled for each instruction set.
#![cfg_attr(not(ptx_dsl_optimised), allow(unused))]

use super::kinds::{Register, Semantics, each};
use super::loops::{Loop, OperandPlaces};

macro_rules! level {
    ($(#[$attribute:meta])* $name:ident $level:ty) => {
        $(#[$attribute])*
        pub(super) fn $name<F: Semantics, A, B, C, D, E, R, S>(x: &Loop<'_>, places: &OperandPlaces)
        where
            A: Register,
            B: Register,
            C: Register,
            D: Register,
            E: Register,
            R: Register,
            S: Register,
        {
            each::<F, A, B, C, D, E, R, S, $level>(x, places);
        }
    };
}
#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
level!(
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]
    avx512 crate::numerics::lanes::Avx512
);
#[cfg(target_arch = "x86_64")]
level!(
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    avx2 crate::numerics::lanes::Avx2
);
#[cfg(all(target_arch = "x86_64", debug_assertions))]
pub(super) use avx2 as avx512;
#[cfg(not(target_arch = "x86_64"))]
level!(avx2 crate::numerics::lanes::Base);
#[cfg(not(target_arch = "x86_64"))]
pub(super) use avx2 as avx512;

/// The [`super::loops::RowLoop`] of semantics: kinds of operands `=>` kinds of results.
macro_rules! row_loop {
    ($f:ident ($($s:ident)*) => ($($r:ident)*)) => {
        RowLoop {
            sources: &[$(RowKind::$s),*],
            results: &[$(RowKind::$r),*],
            compiled: row_loop!(@sources $f ($($s)*) ($($r)*)),
        }
    };
    (@sources $f:ident ($a:ident) $r:tt) => { row_loop!(@results $f $a N N N N $r) };
    (@sources $f:ident ($a:ident $b:ident) $r:tt) => { row_loop!(@results $f $a $b N N N $r) };
    (@sources $f:ident ($a:ident $b:ident $c:ident) $r:tt) => { row_loop!(@results $f $a $b $c N N $r) };
    (@sources $f:ident ($a:ident $b:ident $c:ident $d:ident) $r:tt) => { row_loop!(@results $f $a $b $c $d N $r) };
    (@sources $f:ident ($($s:ident)*) $r:tt) => { row_loop!(@results $f $($s)* $r) };
    (@results $f:ident $a:ident $b:ident $c:ident $d:ident $e:ident ($r:ident)) => {
        row_loop!(@sets $f $a $b $c $d $e $r N)
    };
    (@results $f:ident $a:ident $b:ident $c:ident $d:ident $e:ident ($r:ident $s:ident)) => {
        row_loop!(@sets $f $a $b $c $d $e $r $s)
    };
    (@sets $f:ident $($kind:ident)*) => {
        [compiled::avx512::<$f, $($kind),*> as CompiledLoop, compiled::avx2::<$f, $($kind),*> as CompiledLoop]
    };
}
pub(super) use row_loop;
