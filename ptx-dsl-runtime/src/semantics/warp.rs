//! Warp-wide instructions: `elect.sync`, `vote`, `shfl`, `match`, `redux.sync`, `activemask` (PTX ISA 9.7.9.5, 9.7.9.6 and
//! 9.7.13.9 to 9.7.13.14).
//!
//! The `.sync` ones wait until all live lanes of their membermask are at the instruction, or at another statement with the same
//! qualifiers. Lanes of a warp may name different masks; each mask is then a group of its own.

use super::{Done, active, set};
use crate::fault::{Fault, FaultKind};
use crate::kernel::Flow;
use crate::machine::Ctx;
use crate::machine::ctx::meetings::Meets;
use crate::numerics::lanes::Lanes;
use crate::numerics::qual::{Q, Ty, q};
use crate::semantics::Blocks;

/// The active lanes grouped by membermask: (membermask, lanes). A lane must be in its own mask.
pub(super) fn groups(x: &Ctx<'_>, members: &Lanes, opcode: &str) -> Result<Vec<(u32, u32)>, Box<Fault>> {
    split(x.mask, members).map_err(|lane| {
        let mask = members[lane as usize] as u32;
        let what = format!("lane {lane} executes `{opcode}` with the member mask {mask:#010x}, which does not name it");
        x.fault(FaultKind::Members { what }, lane)
    })
}

/// Groups lanes by membermask; the error is a lane outside of its mask.
fn split(mask: u32, members: &Lanes) -> Result<Vec<(u32, u32)>, u32> {
    let (mut left, mut all) = (mask, Vec::with_capacity(1));
    while left != 0 {
        let first = left.trailing_zeros();
        let named = members[first as usize] as u32;
        let lanes = active(left).filter(|&l| members[l] as u32 == named).fold(0, |m, l| m | 1 << l);
        if lanes & !named != 0 {
            return Err((lanes & !named).trailing_zeros());
        }
        all.push((named, lanes));
        left &= !lanes;
    }
    Ok(all)
}

/// Lanes that execute an instruction together.
struct MaskedGroup {
    /// The lanes that take part.
    lanes: u32,
    /// The lanes of the group that are here, and get results.
    here: u32,
}

/// Waits for the members, then runs `f` once per group, with the operands of all lanes that take part. The membermask is operand
/// `members`.
fn together(
    x: &mut Ctx<'_>,
    (opcode, q): (&str, Q),
    s: &[&Lanes],
    members: usize,
    mut f: impl FnMut(&Ctx<'_>, &MaskedGroup, &[&Lanes]) -> Done,
) -> Blocks {
    let Some(members) = s.get(members) else { return Ok(Flow::Next) };
    let groups = groups(x, members, opcode)?;
    if let [(named, lanes)] = groups[..] {
        match x.sync().meet(named, (opcode, q), s) {
            Meets::Here => f(x, &MaskedGroup { lanes, here: lanes }, s)?,
            Meets::Elsewhere(all, operands) => {
                let s: Vec<&Lanes> = operands.iter().take(s.len()).collect();
                f(x, &MaskedGroup { lanes: all, here: lanes }, &s)?;
            }
            Meets::Waits(wait) => return Ok(Flow::Wait(wait)),
            Meets::Never { lane, other, mask } => {
                let what = format!(
                    "lane {lane} executes `{opcode}` with the member mask {named:#010x}, but lane {other}, which it names, with \
                     {mask:#010x}; then lane {other} has exited"
                );
                return Err(x.fault(FaultKind::Members { what }, lane));
            }
        }
        return Ok(Flow::Next);
    }
    let live = x.live_mask();
    if groups.iter().any(|&(named, lanes)| live & named & !lanes != 0) {
        // a lane that names others is no member of theirs: it waits until they name the same
        let apart = |&(named, lanes): &(u32, u32)| (lanes, x.sync().wait_for_members((named, lanes), (opcode, q), s));
        let waiting = groups.iter().map(apart).collect();
        for &(named, lanes) in &groups {
            if let Some(other) = active(named & x.mask & !lanes).next() {
                x.sync().names_others(lanes, (other as u32, members[other] as u32));
            }
        }
        return Ok(Flow::WaitInGroups(waiting));
    }
    x.sync().forget_operands();
    for (_, lanes) in groups {
        f(x, &MaskedGroup { lanes, here: lanes }, s)?;
    }
    Ok(Flow::Next)
}

/// `elect.sync d|p, membermask`: the lowest active lane, as hardware does; the manual leaves the choice open.
pub fn elect_sync(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Blocks {
    together(x, ("elect.sync", q), s, 0, |_, group, _| {
        let leader = group.lanes.trailing_zeros();
        for l in active(group.here) {
            set(d, 0, l, leader.into());
            set(d, 1, l, (l as u32 == leader).into());
        }
        Ok(())
    })
}

/// `.all`, `.any`, `.uni` or `.ballot` over the lanes whose predicate is in `ayes`.
fn tally(q: Q, lanes: u32, ayes: u32) -> u64 {
    if q.has(q::ballot) {
        ayes.into()
    } else if q.has(q::all) {
        (ayes == lanes).into()
    } else if q.has(q::any) {
        (ayes != 0).into()
    } else {
        (ayes == lanes || ayes == 0).into()
    }
}

/// `lanes` take part, and `here` get the result.
fn vote_of(q: Q, (lanes, here): (u32, u32), a: Option<&&Lanes>, d: &mut [&mut Lanes]) {
    let ayes = active(lanes).filter(|&l| a.is_some_and(|a| a[l] & 1 != 0)).fold(0, |m, l| m | 1 << l);
    for l in active(here) {
        set(d, 0, l, tally(q, lanes, ayes));
    }
}

/// `vote.sync d, a, membermask`
pub fn vote_sync(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Blocks {
    together(x, ("vote.sync", q), s, 1, |_, group, s| {
        vote_of(q, (group.lanes, group.here), s.first(), d);
        Ok(())
    })
}

/// `vote d, a`, without a mask: the active lanes.
pub fn vote(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Blocks {
    vote_of(q, (x.mask, x.mask), s.first(), d);
    Ok(Flow::Next)
}

/// The function by which `shfl` finds its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShuffleMode {
    Up,
    Down,
    Bfly,
    Idx,
}

#[inline(always)]
pub(crate) const fn mode(q: Q) -> ShuffleMode {
    if q.has(q::up) {
        ShuffleMode::Up
    } else if q.has(q::down) {
        ShuffleMode::Down
    } else if q.has(q::bfly) {
        ShuffleMode::Bfly
    } else {
        ShuffleMode::Idx
    }
}

/// The source lane and whether it is in range; `c` holds the clamp value in bits 0 to 4, the segment mask in 8 to 12.
#[inline(always)]
pub(crate) fn source(mode: ShuffleMode, lane: u32, b: u32, c: u32) -> (u32, bool) {
    let (b, clamp, segment) = (b & 31, c & 31, c >> 8 & 31);
    let min = lane & segment;
    let max = min | clamp & !segment;
    let (from, ok) = match mode {
        ShuffleMode::Up => (lane as i32 - b as i32, lane as i32 - b as i32 >= max as i32),
        ShuffleMode::Down => ((lane + b) as i32, lane + b <= max),
        ShuffleMode::Bfly => ((lane ^ b) as i32, lane ^ b <= max),
        ShuffleMode::Idx => ((min | b & !segment) as i32, min | b & !segment <= max),
    };
    if ok { (from as u32 & 31, true) } else { (lane, false) }
}

/// The lane from which a lane reads, if the member mask does not name it: the value is undefined.
pub(crate) fn stray(mode: ShuffleMode, lane: u32, b: u32, c: u32, mask: u32) -> Option<u32> {
    let (from, _) = source(mode, lane, b, c);
    (mask >> from & 1 == 0).then_some(from)
}

/// `lanes` take part, and `here` get results.
fn exchange(q: Q, (lanes, here): (u32, u32), s: &[&Lanes], d: &mut [&mut Lanes]) {
    let operand = |i: usize, l: usize| s.get(i).map_or(0, |v| v[l]);
    for l in active(here) {
        let (from, ok) = source(mode(q), l as u32, operand(1, l) as u32, operand(2, l) as u32);
        // lanes that do not take part are unspecified in the manual; on an H100 one that has exited, or that the warp never had, reads as 0
        let value = if lanes >> from & 1 == 0 { 0 } else { operand(0, from as usize) };
        set(d, 0, l, value & 0xffff_ffff);
        set(d, 1, l, ok.into());
    }
}

/// `shfl.sync d|p, a, b, c, membermask`: a value from a lane outside of the mask is undefined, and 0 here.
pub fn shfl_sync(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Blocks {
    together(x, ("shfl.sync", q), s, 3, |_, &MaskedGroup { lanes, here, .. }, s| {
        exchange(q, (lanes, here), s, d);
        Ok(())
    })
}

/// `shfl d|p, a, b, c`, without a mask: the active lanes.
pub fn shfl(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Blocks {
    exchange(q, (x.mask, x.mask), s, d);
    Ok(Flow::Next)
}

/// `match.any.sync` and `match.all.sync d|p, a, membermask`
pub fn match_(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Blocks {
    let unused = if matches!(q.ty[0], Ty::B64) { 0 } else { 32 };
    together(x, ("match.sync", q), s, 1, |_, &MaskedGroup { lanes, here, .. }, s| {
        let a = |l: usize| s.first().map_or(0, |a| a[l] << unused);
        for l in active(here) {
            let same = active(lanes).filter(|&o| a(o) == a(l)).fold(0u32, |m, o| m | 1 << o);
            let all = same == lanes;
            set(d, 0, l, if all || q.has(q::any) { same.into() } else { 0 });
            set(d, 1, l, all.into());
        }
        Ok(())
    })
}

/// The reduction of 32-bit values.
pub(super) fn reduce(q: Q, values: impl Iterator<Item = u32>) -> u32 {
    if q.ty[0] == Ty::F32 {
        return reduce_f32(q, values);
    }
    let signed = q.ty[0].is_signed();
    // flipping the sign bit orders signed values as unsigned ones
    let key = |v: u32| if signed { v ^ 1 << 31 } else { v };
    let step = |a: u32, b: u32| {
        if q.has(q::and) {
            a & b
        } else if q.has(q::or) {
            a | b
        } else if q.has(q::xor) {
            a ^ b
        } else if q.has(q::min) {
            if key(b) < key(a) { b } else { a }
        } else if q.has(q::max) {
            if key(b) > key(a) { b } else { a }
        } else {
            a.wrapping_add(b)
        }
    };
    values.reduce(step).unwrap_or(0)
}

/// Numbers only, unless `.NaN` lets one NaN win; +0 is above -0.
fn reduce_f32(q: Q, values: impl Iterator<Item = u32>) -> u32 {
    const NAN: u32 = 0x7fff_ffff;
    let nan = |v: u32| v & 0x7fff_ffff > 0x7f80_0000;
    let key = |v: u32| if v >> 31 != 0 { !v } else { v | 1 << 31 };
    let mut best: Option<u32> = None;
    for v in values.map(|v| if q.has(q::abs) { v & 0x7fff_ffff } else { v }) {
        if nan(v) {
            if q.has(q::NaN) {
                return NAN;
            }
            continue;
        }
        best = Some(match best {
            Some(b) if (key(b) < key(v)) != q.has(q::max) => b,
            _ => v,
        });
    }
    best.unwrap_or(NAN)
}

/// `redux.sync d, a, membermask`
pub fn redux_sync(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Blocks {
    together(x, ("redux.sync", q), s, 1, |_, &MaskedGroup { lanes, here, .. }, s| {
        let result = reduce(q, active(lanes).map(|l| s.first().map_or(0, |a| a[l]) as u32));
        for l in active(here) {
            set(d, 0, l, result.into());
        }
        Ok(())
    })
}

/// `activemask d`
pub fn activemask(x: &mut Ctx<'_>, _: Q, _: &[&Lanes], d: &mut [&mut Lanes]) -> Done {
    for l in active(x.mask) {
        set(d, 0, l, x.mask.into());
    }
    Ok(())
}

semantics! {
    warp "activemask" => activemask,
    block "elect.sync" => elect_sync,
    block "match" => match_,
    block "redux.sync" => redux_sync,
    block "shfl" => shfl,
    block "shfl.sync" => shfl_sync,
    block "vote" => vote,
    block "vote.sync" => vote_sync,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_grouped_by_the_mask_they_name() {
        let two: Lanes = std::array::from_fn(|l| if l < 16 { 0xffff } else { 0xffff_0000 });
        assert_eq!(split(u32::MAX, &two), Ok(vec![(0xffff, 0xffff), (0xffff_0000, 0xffff_0000)]));
        assert_eq!(split(0x0003_0001, &two), Ok(vec![(0xffff, 1), (0xffff_0000, 0x0003_0000)]));
        assert_eq!(split(0b110, &[0b010; 32]), Err(2));
        assert_eq!(split(0, &two), Ok(vec![]));
    }

    #[test]
    fn shfl_finds_its_source() {
        // what CUDA's __shfl_*_sync pass: c = (32 - width) << 8 | (up ? 0 : 31)
        let whole = |up: bool| if up { 0 } else { 0x1f };
        let eight = |up: bool| 24 << 8 | whole(up);
        let table = [
            (ShuffleMode::Up, 5, 1, whole(true), (4, true)),
            (ShuffleMode::Up, 0, 1, whole(true), (0, false)),
            (ShuffleMode::Up, 9, 2, eight(true), (9, false)),
            (ShuffleMode::Up, 10, 2, eight(true), (8, true)),
            (ShuffleMode::Down, 30, 1, whole(false), (31, true)),
            (ShuffleMode::Down, 31, 1, whole(false), (31, false)),
            (ShuffleMode::Down, 6, 2, eight(false), (6, false)),
            (ShuffleMode::Down, 13, 2, eight(false), (15, true)),
            (ShuffleMode::Bfly, 5, 1, whole(false), (4, true)),
            (ShuffleMode::Bfly, 5, 16, whole(false), (21, true)),
            (ShuffleMode::Bfly, 5, 8, eight(false), (5, false)),
            (ShuffleMode::Idx, 9, 3, whole(false), (3, true)),
            (ShuffleMode::Idx, 9, 35, whole(false), (3, true)),
            (ShuffleMode::Idx, 9, 3, eight(false), (11, true)),
            (ShuffleMode::Idx, 9, 11, eight(false), (11, true)),
            (ShuffleMode::Idx, 9, 7, 3, (9, false)),
        ];
        for (i, (mode, lane, b, c, want)) in table.into_iter().enumerate() {
            assert_eq!(source(mode, lane, b, c), want, "row {i}");
        }
    }

    #[test]
    fn shfl_from_outside_of_the_mask() {
        let of = |f, named: u32, b: u32, c: u32| {
            let lanes = (0..32).filter(|lane| named >> lane & 1 != 0);
            lanes.into_iter().find_map(|lane| Some((lane, stray(mode(Q::new(&[f], &[Ty::B32])), lane, b, c, named)?)))
        };
        assert_eq!(of(q::down, 0x1f, 1, 31), Some((4, 5)));
        assert_eq!(of(q::down, 0xf, 1, 28 << 8 | 31), None, "a segment of four lanes");
        assert_eq!(of(q::bfly, 0xffff, 16, 31), Some((0, 16)));
        assert_eq!(of(q::up, 0xff00, 1, 0), Some((8, 7)));
        assert_eq!(of(q::idx, 0xff00, 9, 31), None);
        assert_eq!(of(q::idx, 0x1f, 5, 4), None, "out of range is the own value");
    }

    #[test]
    fn shfl_from_lanes_that_are_not_there() {
        let a: Lanes = std::array::from_fn(|l| 100 + l as u64);
        let (b, c) = ([3; 32], [31; 32]);
        let (mut d, mut p) = ([7; 32], [7; 32]);
        let q = Q::new(&[q::idx], &[Ty::B32]);
        exchange(q, (0b0111, 0b0111), &[&a, &b, &c], &mut [&mut d, &mut p]);
        assert_eq!((&d[..4], &p[..4]), (&[0, 0, 0, 7][..], &[1, 1, 1, 7][..]), "lane 3 does not take part");
        exchange(q, (0b1111, 0b1111), &[&a, &b, &c], &mut [&mut d, &mut p]);
        assert_eq!((&d[..4], &p[..4]), (&[103; 4][..], &[1; 4][..]));
    }

    #[test]
    fn votes() {
        let of = |f, ayes| tally(Q::new(&[f], &[]), 0b1011, ayes);
        assert_eq!([of(q::all, 0b1011), of(q::all, 0b0011), of(q::all, 0)], [1, 0, 0]);
        assert_eq!([of(q::any, 0b1011), of(q::any, 0b0010), of(q::any, 0)], [1, 1, 0]);
        assert_eq!([of(q::uni, 0b1011), of(q::uni, 0b0010), of(q::uni, 0)], [1, 0, 1]);
        assert_eq!(of(q::ballot, 0b0010), 2);
    }

    #[test]
    fn reductions() {
        let of = |f: &[crate::numerics::qual::Qualifier], ty, v: &[u32]| reduce(Q::new(f, &[ty]), v.iter().copied());
        assert_eq!(of(&[q::add], Ty::U32, &[u32::MAX, 3]), 2);
        assert_eq!(of(&[q::min], Ty::S32, &[1, u32::MAX]), u32::MAX);
        assert_eq!(of(&[q::min], Ty::U32, &[1, u32::MAX]), 1);
        assert_eq!(of(&[q::max], Ty::S32, &[1, u32::MAX, 0]), 1);
        assert_eq!(of(&[q::and], Ty::B32, &[6, 3]), 2);
        assert_eq!(of(&[q::or], Ty::B32, &[6, 3]), 7);
        assert_eq!(of(&[q::xor], Ty::B32, &[6, 3, 1]), 4);
        const ONE: u32 = 0x3f80_0000;
        const MINUS_TWO: u32 = 0xc000_0000;
        const QNAN: u32 = 0x7fc0_0000;
        assert_eq!(of(&[q::min], Ty::F32, &[ONE, MINUS_TWO, QNAN]), MINUS_TWO);
        assert_eq!(of(&[q::min, q::NaN], Ty::F32, &[ONE, MINUS_TWO, QNAN]), 0x7fff_ffff);
        assert_eq!(of(&[q::max, q::abs], Ty::F32, &[ONE, MINUS_TWO]), 0x4000_0000);
        assert_eq!(of(&[q::max], Ty::F32, &[QNAN, QNAN]), 0x7fff_ffff);
        assert_eq!(of(&[q::min], Ty::F32, &[0, 0x8000_0000]), 0x8000_0000);
        assert_eq!(of(&[q::max], Ty::F32, &[0x8000_0000, 0]), 0);
    }
}
