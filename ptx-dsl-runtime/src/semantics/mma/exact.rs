//! Products whose elements are not decoded to f32: f64, and single bits.

use super::Sources;
use super::form::MmaForm;
use crate::numerics::lanes::Destination;
use crate::numerics::matrix::fragment::of_c;
use crate::numerics::qual::{Q, Qualifiers, Ty, q};
use crate::semantics::arith;

/// The fused multiply-add of f64 in each rounding.
const FMA: [(crate::numerics::qual::Qualifier, Q); 4] = [
    (q::rz, Q::of(&const { Qualifiers::new(&[q::rz], &[Ty::F64]) })),
    (q::rm, Q::of(&const { Qualifiers::new(&[q::rm], &[Ty::F64]) })),
    (q::rp, Q::of(&const { Qualifiers::new(&[q::rp], &[Ty::F64]) })),
    (q::rn, Q::of(&const { Qualifiers::new(&[q::rn], &[Ty::F64]) })),
];

/// A chain of fused multiply-adds in ascending k, each rounded. One element in each register, 32 lanes with four k of eight rows.
pub(super) fn double(form: &MmaForm, q: Q, s: Sources<'_>, d: &mut [Destination<'_>]) {
    let Sources { a, b, c, .. } = s;
    let fma = FMA.iter().find(|f| q.has(f.0)).unwrap_or(&FMA[3]).1;
    let each = form.m / 8;
    for (r, (d, c)) in d.iter_mut().zip(c).enumerate() {
        for lane in 0..32 {
            let (row, column) = of_c(r, lane);
            let sum = (0..form.k).fold(c.lane(lane), |sum, k| {
                let x = a[k / 4 * each + row / 8].lane(row % 8 * 4 + k % 4);
                let y = b[k / 4].lane(column * 4 + k % 4);
                arith::fma(fma, [x, y, sum])[0]
            });
            d.set(lane, sum);
        }
    }
}

/// Counts the bits of `and` or `xor` of a row and a column.
pub(super) fn bits(form: &MmaForm, q: Q, s: Sources<'_>, d: &mut [Destination<'_>]) {
    let Sources { a, b, c, .. } = s;
    let each = form.m / 8;
    for (r, (d, c)) in d.iter_mut().zip(c).enumerate() {
        for lane in 0..32 {
            let (row, column) = of_c(r, lane);
            let count: u32 = (0..form.k / 32)
                .map(|word| {
                    let x = a[word / 4 * each + row / 8].lane(row % 8 * 4 + word % 4) as u32;
                    let y = b[word / 4].lane(column * 4 + word % 4) as u32;
                    if q.has(q::xor) { (x ^ y).count_ones() } else { (x & y).count_ones() }
                })
                .sum();
            d.set(lane, (c.lane(lane) as u32).wrapping_add(count).into());
        }
    }
}
