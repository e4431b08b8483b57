//! Warp shuffles that emitted code inlines.

use crate::numerics::qual::Q;
use crate::semantics::warp;

/// `shfl.sync` of a whole warp with warp-uniform operands. Returns the lanes whose source is in range.
#[inline(always)]
pub fn shuffle(q: Q, a: &[u32; 32], b: u32, c: u32, d: &mut [u32; 32]) -> u32 {
    let mut p = 0;
    for (l, d) in (0..).zip(d.iter_mut()) {
        let (from, ok) = warp::source(warp::mode(q), l, b, c);
        *d = a[from as usize & 31];
        p |= u32::from(ok) << l;
    }
    p
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::qual::{Ty, q};

    #[test]
    fn shuffles_up() {
        let a = std::array::from_fn(|l| 100 + l as u32);
        let mut d = [0; 32];
        let p = shuffle(Q::new(&[q::up], &[Ty::B32]), &a, 4, 0, &mut d);
        assert_eq!((p, d[3], d[4], d[31]), (0xffff_fff0, 103, 100, 127));
    }
}
