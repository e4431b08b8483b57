//! Logic and shifts of one lane (manual, 9.7.8), and `prmt`.

use crate::numerics::arith::integer::{sext, zext};
use crate::numerics::qual::{Q, q};

/// `and`
#[inline(always)]
pub fn and(_: Q, [a, b]: [u64; 2]) -> [u64; 1] {
    [a & b]
}

/// `or`
#[inline(always)]
pub fn or(_: Q, [a, b]: [u64; 2]) -> [u64; 1] {
    [a | b]
}

/// `xor`
#[inline(always)]
pub fn xor(_: Q, [a, b]: [u64; 2]) -> [u64; 1] {
    [a ^ b]
}

/// `not`
#[inline(always)]
pub fn not(q: Q, [a]: [u64; 1]) -> [u64; 1] {
    [zext(!a, q.ty[0].bits())]
}

/// `cnot`: the not of C.
#[inline(always)]
pub fn cnot(q: Q, [a]: [u64; 1]) -> [u64; 1] {
    [(zext(a, q.ty[0].bits()) == 0) as u64]
}

/// `lop3`: sources a, b, c, the table and, with `.BoolOp`, the predicate; gives the value and the predicate.
#[inline(always)]
pub fn lop3<const N: usize>(q: Q, s: [u64; N]) -> [u64; 2] {
    let at = |i: usize| s.get(i).copied().unwrap_or(0);
    let (a, b, c, table) = (at(0), at(1), at(2), at(3));
    let mut d = 0;
    // The table's bit 4a+2b+c.
    for i in 0..8 {
        if table >> i & 1 != 0 {
            d |= (if i & 4 != 0 { a } else { !a })
                & (if i & 2 != 0 { b } else { !b })
                & (if i & 1 != 0 { c } else { !c });
        }
    }
    let d = zext(d, 32);
    let p = (d != 0) as u64;
    [d, if q.has(q::or) { p | at(4) & 1 } else { p & at(4) & 1 }]
}

/// `shf`: a funnel shift of `b:a`, by shifts of words.
#[inline(always)]
pub fn shf(q: Q, [a, b, c]: [u64; 3]) -> [u64; 1] {
    let n = if q.has(q::wrap) { c & 31 } else { zext(c, 32).min(32) };
    let (up, left) = (n & 31, q.has(q::l));
    let back = 31 - up;
    let d = if left { b << up | zext(a, 32) >> 1 >> back } else { zext(a, 32) >> up | b << 1 << back };
    [match n {
        32 if left => zext(a, 32),
        32 => zext(b, 32),
        _ => zext(d, 32),
    }]
}

/// `shl`: amounts beyond the width count as the width.
#[inline(always)]
pub fn shl(q: Q, [a, b]: [u64; 2]) -> [u64; 1] {
    let (bits, n) = (u64::from(q.ty[0].bits()), zext(b, 32));
    [if n >= bits { 0 } else { zext(a << (n & (bits - 1)), bits as u32) }]
}

/// `shr`: with the sign for signed types; amounts beyond the width count as the width.
#[inline(always)]
pub fn shr(q: Q, [a, b]: [u64; 2]) -> [u64; 1] {
    let (bits, n) = (u64::from(q.ty[0].bits()), zext(b, 32));
    [if q.ty[0].is_signed() {
        (sext(a, bits as u32) >> n.min(bits - 1)) as u64
    } else if n >= bits {
        0
    } else {
        zext(a, bits as u32) >> (n & (bits - 1))
    }]
}

/// `prmt`: bytes of `b:a`.
#[inline(always)]
pub fn prmt(q: Q, [a, b, c]: [u64; 3]) -> [u64; 1] {
    let n = c & 3;
    let mut d = 0;
    for i in 0..4 {
        let (select, sign) = if q.has(q::f4e) {
            (n + i, false)
        } else if q.has(q::b4e) {
            ((n + 8 - i) & 7, false)
        } else if q.has(q::rc8) {
            (n, false)
        } else if q.has(q::ecl) {
            (n.max(i), false)
        } else if q.has(q::ecr) {
            (n.min(i), false)
        } else if q.has(q::rc16) {
            ((n & 1) * 2 + (i & 1), false)
        } else {
            let nibble = c >> (4 * i);
            (nibble & 7, nibble & 8 != 0)
        };
        let byte = (if select & 4 == 0 { a } else { b }) >> (8 * (select & 3)) & 0xff;
        let byte = if sign { (byte >> 7) * 0xff } else { byte };
        d |= byte << (8 * i);
    }
    [d]
}

semantics! {
    lane "and" => and [2],
    lane "cnot" => cnot [1],
    lane "lop3" => lop3 [4 | 5],
    lane "not" => not [1],
    lane "or" => or [2],
    lane "prmt" => prmt [3],
    lane "shf" => shf [3],
    lane "shl" => shl [2],
    lane "shr" => shr [2],
    lane "xor" => xor [2],
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::qual::{Qualifier, Ty};

    fn w(flags: &[Qualifier], ty: Ty) -> Q {
        Q::new(flags, &[ty])
    }

    #[test]
    fn lop3_follows_the_manuals_recipe() {
        // immLut = F(0xF0, 0xCC, 0xAA), with the tables of the manual.
        let (a, b, c) = (0x1234_5678u64, 0x0ff0_a5a5, 0xdead_beef);
        let k = w(&[], Ty::B32);
        assert_eq!(lop3(k, [a, b, c, 0x80])[0], a & b & c);
        assert_eq!(lop3(k, [a, b, c, 0xfe])[0], a | b | c);
        assert_eq!(lop3(k, [a, b, c, 0x40])[0], a & b & !c);
        assert_eq!(lop3(k, [a, b, c, 0x1a])[0], ((a & b) | c) ^ a);
        assert_eq!(lop3(k, [a, b, c, 0x96])[0], a ^ b ^ c);
        assert_eq!(lop3(k, [a, b, c, 0]), [0, 0]);
        assert_eq!(lop3(w(&[q::and], Ty::B32), [a, b, c, 0xf0, 1]), [a, 1]);
        assert_eq!(lop3(w(&[q::and], Ty::B32), [a, b, c, 0xf0, 0]), [a, 0]);
        assert_eq!(lop3(w(&[q::or], Ty::B32), [a, b, c, 0, 1]), [0, 1]);
    }

    #[test]
    fn shifts_clamp() {
        assert_eq!(shl(w(&[], Ty::B32), [1, 31]), [0x8000_0000]);
        assert_eq!(shl(w(&[], Ty::B32), [1, 32]), [0]);
        assert_eq!(shl(w(&[], Ty::B64), [1, 64]), [0]);
        assert_eq!(shl(w(&[], Ty::B16), [1, 0x1_0000]), [0]);
        assert_eq!(shr(w(&[], Ty::S32), [0x8000_0000, 99])[0] as u32, u32::MAX);
        assert_eq!(shr(w(&[], Ty::S16), [0x8000, 15])[0] as u16, u16::MAX);
        assert_eq!(shr(w(&[], Ty::U32), [0x8000_0000, 32]), [0]);
        assert_eq!(shr(w(&[], Ty::B64), [u64::MAX, 63]), [1]);
        let (a, b) = (0x0123_4567u64, 0x89ab_cdef);
        assert_eq!(shf(w(&[q::l, q::clamp], Ty::B32), [a, b, 8]), [0xabcd_ef01]);
        assert_eq!(shf(w(&[q::l, q::clamp], Ty::B32), [a, b, 99]), [a]);
        assert_eq!(shf(w(&[q::l, q::wrap], Ty::B32), [a, b, 32]), [b]);
        assert_eq!(shf(w(&[q::r, q::clamp], Ty::B32), [a, b, 8]), [0xef01_2345]);
        assert_eq!(shf(w(&[q::r, q::clamp], Ty::B32), [a, b, 33]), [b]);
        assert_eq!(shf(w(&[q::r, q::wrap], Ty::B32), [a, b, 40]), [0xef01_2345]);
    }

    #[test]
    fn prmt_modes() {
        let (a, b) = (0x0302_0100u64, 0x8706_0504);
        let go = |flags: &[Qualifier], c| prmt(w(flags, Ty::B32), [a, b, c])[0];
        assert_eq!(go(&[], 0x3210), a);
        assert_eq!(go(&[], 0x7654), b);
        assert_eq!(go(&[], 0xf70f), 0xff87_00ff);
        let table: [(Qualifier, [u64; 4]); 6] = [
            (q::f4e, [0x0302_0100, 0x0403_0201, 0x0504_0302, 0x0605_0403]),
            (q::b4e, [0x0506_8700, 0x0687_0001, 0x8700_0102, 0x0001_0203]),
            (q::rc8, [0, 0x0101_0101, 0x0202_0202, 0x0303_0303]),
            (q::ecl, [0x0302_0100, 0x0302_0101, 0x0302_0202, 0x0303_0303]),
            (q::ecr, [0, 0x0101_0100, 0x0202_0100, 0x0302_0100]),
            (q::rc16, [0x0100_0100, 0x0302_0302, 0x0100_0100, 0x0302_0302]),
        ];
        for (mode, want) in table {
            for n in 0..4 {
                assert_eq!(go(&[mode], n), want[n as usize], "{mode:?} {n}");
            }
        }
    }

    #[test]
    fn plain() {
        assert_eq!(not(w(&[], Ty::Pred), [1]), [0]);
        assert_eq!(not(w(&[], Ty::B16), [1]), [0xfffe]);
        assert_eq!(cnot(w(&[], Ty::B16), [0x1_0000]), [1]);
        assert_eq!(cnot(w(&[], Ty::B32), [4]), [0]);
        assert_eq!(
            [and(w(&[], Ty::B32), [6, 3]), or(w(&[], Ty::B32), [6, 3]), xor(w(&[], Ty::B32), [6, 3])],
            [[2], [7], [5]]
        );
    }
}
