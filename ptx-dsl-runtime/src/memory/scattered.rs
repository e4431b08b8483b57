//! Gathers, scatters and atomic adds of a warp at arbitrary addresses, compiled once per instruction set: emitted code calls them.
//!
//! `base` is the address of the memory's first byte, `first` that of the first active lane. An access outside or misaligned
//! returns `false`, or the lanes that are left; the caller then takes the slow path, which diagnoses it.

use crate::memory::bounds::{aligned, part, part_mut};
use crate::memory::lane_addresses::{LaneAddresses, LaneAddressesMut};
use crate::numerics::lanes::Lanes;
use crate::numerics::lanes::{LANE, Word};
use crate::numerics::simd::{InstructionSet, dispatch};

/// Accesses at arbitrary addresses, by type of element.
pub trait Scattered: Word {
    /// Loads an element for each lane of `m`.
    fn gather(
        set: InstructionSet,
        memory: &[u8],
        base: u64,
        first: u64,
        m: u32,
        addr: &Lanes,
        out: &mut [Self; 32],
    ) -> bool;
    /// Gathers from a memory that starts at address 0, with addresses of 32 bits.
    fn gather_u32(
        set: InstructionSet,
        memory: &[u8],
        first: u32,
        m: u32,
        addr: &[u32; 32],
        out: &mut [Self; 32],
    ) -> bool;
    /// Stores an element for each lane of `m`, in the order of the lanes.
    fn scatter(
        set: InstructionSet,
        memory: &mut [u8],
        base: u64,
        first: u64,
        m: u32,
        addr: &Lanes,
        v: &[Self; 32],
    ) -> bool;
    /// Loads as many consecutive elements for each lane as there are arrays.
    fn gather_vectors(memory: &[u8], base: u64, m: u32, addr: &Lanes, out: &mut [&mut [Self; 32]]) -> bool;
    /// Stores as many for each lane.
    fn scatter_vectors(memory: &mut [u8], base: u64, m: u32, addr: &Lanes, v: &[&[Self; 32]]) -> bool;
    /// Adds to memory in lane order; `old` gets the old values. Returns the lanes from the first bad access on.
    fn add(
        set: InstructionSet,
        memory: &mut [u8],
        base: u64,
        m: u32,
        addr: &Lanes,
        v: &[Self; 32],
        old: Option<&mut [Self; 32]>,
    ) -> u32;
    /// Stores the elements of the lanes of `m` consecutively; `false` if one is outside.
    fn store_some(set: InstructionSet, memory: &mut [u8], m: u32, v: &[Self]) -> bool;
}

macro_rules! scattered {
    ($($t:ident)*) => {$(
        impl Scattered for $t {
            #[inline(never)]
            fn gather(set: InstructionSet, memory: &[u8], base: u64, first: u64, m: u32, addr: &Lanes, out: &mut [$t; 32]) -> bool {
                dispatch!(set, [
                    gather::<$t, crate::numerics::lanes::Avx512>, gather::<$t, crate::numerics::lanes::Avx2>, gather::<$t, crate::numerics::lanes::Base>
                ], (
                    memory: &[u8] = memory, base: u64 = base, first: u64 = first, m: u32 = m, addr: &Lanes = addr, out: &mut [$t; 32] = out
                ) -> bool)
            }
            #[inline(never)]
            fn gather_u32(set: InstructionSet, memory: &[u8], first: u32, m: u32, addr: &[u32; 32], out: &mut [$t; 32]) -> bool {
                dispatch!(set, [
                    gather_here::<$t, crate::numerics::lanes::Avx512>, gather_here::<$t, crate::numerics::lanes::Avx2>, gather_here::<$t, crate::numerics::lanes::Base>
                ], (
                    memory: &[u8] = memory, first: u32 = first, m: u32 = m, addr: &[u32; 32] = addr, out: &mut [$t; 32] = out
                ) -> bool) || gather_wide(set, memory, first, m, addr, out)
            }
            #[inline(never)]
            fn scatter(set: InstructionSet, memory: &mut [u8], base: u64, first: u64, m: u32, addr: &Lanes, v: &[$t; 32]) -> bool {
                dispatch!(set, [scatter::<$t, crate::numerics::lanes::Avx512>, scatter::<$t, crate::numerics::lanes::Avx2>, scatter::<$t, crate::numerics::lanes::Base>], (
                    memory: &mut [u8] = memory, base: u64 = base, first: u64 = first, m: u32 = m, addr: &Lanes = addr, v: &[$t; 32] = v
                ) -> bool)
            }
            #[inline(never)]
            fn gather_vectors(memory: &[u8], base: u64, m: u32, addr: &Lanes, out: &mut [&mut [$t; 32]]) -> bool {
                let bytes = out.len() * size_of::<$t>();
                each(m, |l| {
                    let Some(s) = offset(base, addr[l], bytes).and_then(|at| part(memory, at, bytes)) else { return false };
                    for (out, s) in out.iter_mut().zip(s.chunks_exact(size_of::<$t>())) {
                        out[l] = <$t>::load(s);
                    }
                    true
                }) == 0
            }
            #[inline(never)]
            fn scatter_vectors(memory: &mut [u8], base: u64, m: u32, addr: &Lanes, v: &[&[$t; 32]]) -> bool {
                let bytes = v.len() * size_of::<$t>();
                each(m, |l| {
                    let Some(s) = offset(base, addr[l], bytes).and_then(|at| part_mut(memory, at, bytes)) else { return false };
                    for (v, s) in v.iter().zip(s.chunks_exact_mut(size_of::<$t>())) {
                        v[l].store(s);
                    }
                    true
                }) == 0
            }
            #[inline(never)]
            fn add(set: InstructionSet, memory: &mut [u8], base: u64, m: u32, addr: &Lanes, v: &[$t; 32], old: Option<&mut [$t; 32]>) -> u32 {
                dispatch!(set, add::<$t>, (
                    memory: &mut [u8] = memory, base: u64 = base, m: u32 = m, addr: &Lanes = addr, v: &[$t; 32] = v,
                    old: Option<&mut [$t; 32]> = old
                ) -> u32)
            }
            #[inline(never)]
            fn store_some(set: InstructionSet, memory: &mut [u8], m: u32, v: &[$t]) -> bool {
                dispatch!(set, store_some::<$t>, (memory: &mut [u8] = memory, m: u32 = m, v: &[$t] = v) -> bool)
            }
        }
    )*};
}
scattered!(u8 u16 u32 u64);

/// Adds one value to the words of the lanes of `m`, in lane order, in a memory that starts at address 0. `false`, with nothing done, if
/// one is outside or misaligned.
#[inline(never)]
pub(crate) fn add_to_words(set: InstructionSet, memory: &mut [u8], m: u32, addr: &[u32; 32], v: u32) -> bool {
    dispatch!(set, add_one_value, (memory: &mut [u8] = memory, m: u32 = m, addr: &[u32; 32] = addr, v: u32 = v) -> bool)
}

#[inline(always)]
fn add_one_value(memory: &mut [u8], m: u32, addr: &[u32; 32], v: u32) -> bool {
    let mut some;
    let mut all = addr;
    if m != u32::MAX {
        // inactive lanes have the address of the first one
        some = [addr[m.trailing_zeros() as usize & 31]; 32];
        for ((some, addr), bit) in some.iter_mut().zip(addr).zip(LANE) {
            *some = if m & bit != 0 { *addr } else { *some };
        }
        all = &some;
    }
    let Some(at) = LaneAddressesMut::<u32, u32>::check(memory, 0, all) else { return false };
    at.change_some(m, |was| was.wrapping_add(v));
    true
}

/// Calls `f` in lane order until it returns `false`. Returns the lanes that are left.
#[inline(always)]
fn each(mut m: u32, mut f: impl FnMut(usize) -> bool) -> u32 {
    if m == u32::MAX {
        for l in 0..32 {
            if !f(l) {
                return m << l;
            }
        }
        return 0;
    }
    while m != 0 {
        if !f(m.trailing_zeros() as usize) {
            return m;
        }
        m &= m - 1;
    }
    0
}

/// The offset of an access, if it is aligned.
#[inline(always)]
fn offset(base: u64, addr: u64, bytes: usize) -> Option<usize> {
    aligned(addr, bytes).then(|| addr.wrapping_sub(base) as usize)
}

/// The offsets of two rows of 16 consecutive elements, a common pattern. The address of the first lane is a parameter: if it were
/// read here, LLVM would drop that lane's comparison and no longer vectorise the loop.
#[inline(always)]
fn rows<T: Word>(base: u64, first: u64, addr: &Lanes) -> Option<[usize; 2]> {
    let size = T::BYTES as u64;
    let firsts = [first, first.wrapping_add(addr[16].wrapping_sub(addr[0]))];
    let mut bad = (firsts[0] | firsts[1]) & (size - 1);
    for (row, first) in addr.chunks_exact(16).zip(firsts) {
        for (l, a) in row.iter().enumerate() {
            bad |= a ^ first.wrapping_add(l as u64 * size);
        }
    }
    (bad == 0).then(|| firsts.map(|a| a.wrapping_sub(base) as usize))
}

/// Below this number of active lanes, each lane is loaded separately, even where there are gather instructions.
const FEW_LOADS: u32 = 5;

#[inline(always)]
fn gather<T: Word, L: crate::numerics::lanes::Level>(
    memory: &[u8],
    base: u64,
    first: u64,
    m: u32,
    addr: &Lanes,
    out: &mut [T; 32],
) -> bool {
    if m == u32::MAX
        && let Some(at) = rows::<T>(base, first, addr)
    {
        return at.into_iter().zip(out.chunks_exact_mut(16)).all(|(at, out)| {
            let Some(s) = part(memory, at, 16 * T::BYTES) else { return false };
            T::load_row(s, out);
            true
        });
    }
    if T::BYTES == 4
        && m.count_ones() >= FEW_LOADS
        && let Some(done) = L::gather_at(memory, base, addr, m, bytemuck::cast_mut(out))
    {
        return done;
    }
    if m != u32::MAX {
        return gather_some::<T, L>(memory, base, first, m, addr, out);
    }
    let Some(at) = LaneAddresses::<T, u64>::check(memory, base, addr) else { return false };
    at.load(out);
    true
}

#[inline(never)]
fn gather_wide<T: Scattered>(
    set: InstructionSet,
    memory: &[u8],
    first: u32,
    m: u32,
    addr: &[u32; 32],
    out: &mut [T; 32],
) -> bool {
    T::gather(set, memory, 0, first as u64, m, &addr.map(u64::from), out)
}

/// Gathers with 32-bit addresses if all lanes are active and inside.
#[inline(always)]
fn gather_here<T: Word, L: crate::numerics::lanes::Level>(
    memory: &[u8],
    first: u32,
    m: u32,
    addr: &[u32; 32],
    out: &mut [T; 32],
) -> bool {
    if gather_row(memory, first, m, addr, out) {
        return true;
    }
    let Some(at) = LaneAddresses::<T, u32>::check(memory, 0, addr).filter(|_| m == u32::MAX) else { return false };
    if T::BYTES == 4
        && let Some(v) = one_row::<L>(memory, addr).or_else(|| two_rows::<L>(memory, addr))
    {
        *bytemuck::cast_mut(out) = v;
        return true;
    }
    at.load(out);
    true
}

/// Bytes of a row of 32 elements of four bytes.
const ROW: usize = 128;

/// A permutation of one row: elements of four bytes, known to be inside, that span at most 128 bytes. It is a vector permute.
#[inline(always)]
fn one_row<L: crate::numerics::lanes::Level>(memory: &[u8], addr: &[u32; 32]) -> Option<[u32; 32]> {
    let (low, high) = addr.iter().fold((u32::MAX, 0), |(low, high), a| (low.min(*a), high.max(*a)));
    if high - low >= ROW as u32 {
        return None;
    }
    let (row, at) = row_at(memory, low as usize, addr)?;
    Some(L::pick(&row, &at))
}

/// A rotation around the end of a ring buffer: each element is in the row that starts at the first lane's address, or in the row
/// that ends at the last lane's.
#[inline(always)]
fn two_rows<L: crate::numerics::lanes::Level>(memory: &[u8], addr: &[u32; 32]) -> Option<[u32; 32]> {
    let (row, at) = row_at(memory, addr[0] as usize, addr)?;
    let (other, there) = row_at(memory, (addr[31] as usize + 4).saturating_sub(ROW), addr)?;
    let mut apart = 0;
    for l in 0..32 {
        apart |= u32::from(at[l] >= 32) & u32::from(there[l] >= 32);
    }
    if apart != 0 {
        return None;
    }
    let (mut v, others) = (L::pick(&row, &at), L::pick(&other, &there));
    for l in 0..32 {
        v[l] = if at[l] < 32 { v[l] } else { others[l] };
    }
    Some(v)
}

/// The row at `begin`, or the last row of the memory if that would end outside, and each lane's index in it: 32 or more for none.
#[inline(always)]
fn row_at(memory: &[u8], begin: usize, addr: &[u32; 32]) -> Option<([u32; 32], [u32; 32])> {
    let begin = begin.min(memory.len().checked_sub(ROW)?);
    if !aligned(begin as u64, 4) {
        return None;
    }
    let mut row = [0; 32];
    u32::load_row(part(memory, begin, ROW)?, &mut row);
    let mut at = *addr;
    for at in &mut at {
        *at = at.wrapping_sub(begin as u32) / 4;
    }
    Some((row, at))
}

/// Whether these are the addresses of consecutive elements, the first of which is at `first`.
#[inline(always)]
pub(crate) fn follow(addr: &[u32; 32], first: u32, bytes: usize) -> bool {
    const LANES: [u32; 32] = {
        let mut lanes = [0; 32];
        let mut l = 0;
        while l < 32 {
            lanes[l] = l as u32;
            l += 1;
        }
        lanes
    };
    // the constants are subtracted, not added to `first`: LLVM would drop the 0 among them, and compare the other lanes one by one
    let mut differ = [0; 32];
    for ((differ, addr), l) in differ.iter_mut().zip(addr).zip(LANES) {
        *differ = addr.wrapping_sub(l * bytes as u32) ^ first;
    }
    // not `==`, which is a call
    differ.iter().fold(0, |all, differ| all | differ) == 0
}

/// Loads a row if all lanes are active and their elements are consecutive.
#[inline(always)]
fn gather_row<T: Word>(memory: &[u8], first: u32, m: u32, addr: &[u32; 32], out: &mut [T; 32]) -> bool {
    // most rows that are none end here
    if addr[31].wrapping_sub(first) as usize != 31 * T::BYTES {
        return false;
    }
    let Some(s) = part(memory, first as usize, 32 * T::BYTES) else { return false };
    if m != u32::MAX || !aligned(first as u64, T::BYTES) || !follow(addr, first, T::BYTES) {
        return false;
    }
    T::load_row(s, out);
    true
}

/// Below this number of active lanes, each lane is stored separately.
const FEW: u32 = 10;

#[inline(always)]
fn gather_some<T: Word, L: crate::numerics::lanes::Level>(
    memory: &[u8],
    base: u64,
    first: u64,
    m: u32,
    addr: &Lanes,
    out: &mut [T; 32],
) -> bool {
    if m.count_ones() < L::FEW {
        return each(m, |l| {
            let Some(s) = offset(base, addr[l], T::BYTES).and_then(|at| part(memory, at, T::BYTES)) else {
                return false;
            };
            out[l] = T::load(s);
            true
        }) == 0;
    }
    // inactive lanes load the first lane's element, which is dropped
    let mut all = [first; 32];
    for ((all, a), bit) in all.iter_mut().zip(addr).zip(LANE) {
        *all = if m & bit != 0 { *a } else { *all };
    }
    let Some(at) = LaneAddresses::<T, u64>::check(memory, base, &all) else { return false };
    let mut row = [T::default(); 32];
    at.load(&mut row);
    for ((out, v), bit) in out.iter_mut().zip(row).zip(LANE) {
        *out = if m & bit != 0 { v } else { *out };
    }
    true
}

/// Stores the lanes of `m` of a row. The elements in between are rewritten unchanged, which nothing can observe on one thread.
#[inline(always)]
fn store_some<T: Word>(memory: &mut [u8], m: u32, v: &[T]) -> bool {
    let m = m & (u32::MAX >> (32 - v.len() as u32));
    let n = v.len() * T::BYTES;
    if let Some(row) = memory.get_mut(..n).filter(|_| m.count_ones() >= FEW) {
        for ((s, v), bit) in row.chunks_exact_mut(T::BYTES).zip(v).zip(LANE) {
            if m & bit != 0 { *v } else { T::load(s) }.store(s);
        }
        return true;
    }
    each(m, |l| {
        let Some(s) = part_mut(memory, l * T::BYTES, T::BYTES) else { return false };
        v[l].store(s);
        true
    }) == 0
}

#[inline(always)]
fn scatter<T: Word, L: crate::numerics::lanes::Level>(
    memory: &mut [u8],
    base: u64,
    first: u64,
    m: u32,
    addr: &Lanes,
    v: &[T; 32],
) -> bool {
    if m == u32::MAX
        && let Some(at) = rows::<T>(base, first, addr)
    {
        return at.into_iter().zip(v.chunks_exact(16)).all(|(at, v)| {
            let Some(s) = part_mut(memory, at, 16 * T::BYTES) else { return false };
            T::store_row(v, s);
            true
        });
    }
    if T::BYTES == 4
        && m.count_ones() >= FEW
        && let Some(done) = L::scatter_at(memory, base, addr, m, bytemuck::cast_ref(v))
    {
        return done;
    }
    if m == u32::MAX
        && let Some(at) = LaneAddressesMut::<T, u64>::check(memory, base, addr)
    {
        at.change(|l, _| v[l]);
        return true;
    }
    each(m, |l| {
        let Some(s) = offset(base, addr[l], T::BYTES).and_then(|at| part_mut(memory, at, T::BYTES)) else {
            return false;
        };
        v[l].store(s);
        true
    }) == 0
}

#[inline(always)]
fn add<T: Word>(memory: &mut [u8], base: u64, m: u32, addr: &Lanes, v: &[T; 32], mut old: Option<&mut [T; 32]>) -> u32 {
    if m == u32::MAX
        && let Some(at) = LaneAddressesMut::<T, u64>::check(memory, base, addr)
    {
        match old {
            Some(old) => at.change(|l, was| {
                old[l] = was;
                was.plus(v[l])
            }),
            None => at.change(|l, was| was.plus(v[l])),
        }
        return 0;
    }
    each(m, |l| {
        let Some(s) = offset(base, addr[l], T::BYTES).and_then(|at| part_mut(memory, at, T::BYTES)) else {
            return false;
        };
        let was = T::load(s);
        was.plus(v[l]).store(s);
        if let Some(old) = &mut old {
            old[l] = was;
        }
        true
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::simd::best;

    const BASE: u64 = 1 << 40;

    fn memory() -> Vec<u8> {
        (0..1024u32).map(|i| (i * 7 + i / 256) as u8).collect()
    }

    fn word(memory: &[u8], at: usize) -> u32 {
        u32::from_le_bytes(memory[at..at + 4].try_into().expect("four bytes"))
    }

    #[test]
    fn any_addresses_are_loaded_and_stored() {
        let bytes = memory();
        let kinds: [fn(usize) -> usize; 3] = [|l| l * 4, |l| l % 16 * 4 + l / 16 * 512, |l| l * 37 % 250 * 4];
        for at in kinds {
            let addr: Lanes = std::array::from_fn(|l| BASE + at(l) as u64);
            for m in [u32::MAX, 1, 0x8000_0000, 0x0ff0_1234] {
                let mut out = [5u32; 32];
                assert!(u32::gather(best(true), &bytes, BASE, addr[0], m, &addr, &mut out));
                let mut stored = bytes.clone();
                assert!(u32::scatter(
                    best(true),
                    &mut stored,
                    BASE,
                    addr[0],
                    m,
                    &addr,
                    &std::array::from_fn(|l| l as u32)
                ));
                let mut wanted = bytes.clone();
                for l in 0..32 {
                    let set = m >> l & 1 != 0;
                    assert_eq!(out[l], if set { word(&bytes, at(l)) } else { 5 });
                    if set {
                        wanted[at(l)..at(l) + 4].copy_from_slice(&(l as u32).to_le_bytes());
                    }
                }
                assert_eq!(stored, wanted);
            }
        }
    }

    #[test]
    fn near_addresses_in_one_row_two_or_more() {
        let bytes = memory();
        let kinds: [fn(usize) -> usize; 8] = [
            |l| l * 4,
            |l| (31 - l) * 4,
            |l| (l ^ 5) * 4 + 896,
            |l| (l + 255) % 256 * 4,
            |l| (l + 240) % 256 * 4,
            |l| if l == 17 { 1020 } else { 512 },
            |l| if l < 9 { 4 * l } else { 252 + 4 * l },
            |l| [0, 500, 1020][l % 3],
        ];
        for (kind, at) in kinds.into_iter().enumerate() {
            let addr: [u32; 32] = std::array::from_fn(|l| at(l) as u32);
            for len in [1024, 1023, 1022, 600] {
                let mut out = [5u32; 32];
                let there = addr.iter().all(|a| *a as usize + 4 <= len);
                let found = u32::gather_u32(best(true), &bytes[..len], addr[0], u32::MAX, &addr, &mut out);
                assert_eq!(found, there, "{kind} {len}");
                if there {
                    assert_eq!(out, addr.map(|a| word(&bytes, a as usize)), "{kind} {len}");
                }
            }
        }
    }

    #[test]
    fn one_lane_outside_or_misaligned_is_refused() {
        let mut bytes = memory();
        for wrong in [BASE + 1024, BASE + 1021, BASE - 4, BASE + 2, 0, u64::MAX - 3] {
            let mut addr: Lanes = std::array::from_fn(|l| BASE + 4 * l as u64);
            addr[9] = wrong;
            let mut out = [5u32; 32];
            assert!(!u32::gather(best(true), &bytes, BASE, addr[0], u32::MAX, &addr, &mut out), "{wrong:x}");
            assert!(!u32::scatter(best(true), &mut bytes, BASE, addr[0], u32::MAX, &addr, &[0; 32]), "{wrong:x}");
            assert!(!u32::gather_vectors(&bytes, BASE, u32::MAX, &addr, &mut [&mut out]), "{wrong:x}");
            assert_eq!(
                u32::add(best(true), &mut bytes, BASE, u32::MAX, &addr, &[0; 32], Some(&mut out)),
                u32::MAX << 9,
                "{wrong:x}"
            );
            // an inactive lane may hold any address
            assert!(u32::gather(best(true), &bytes, BASE, addr[0], !(1 << 9), &addr, &mut out), "{wrong:x}");
        }
        let addr: Lanes = [BASE; 32];
        assert!(!u64::gather(best(true), &bytes[..7], BASE, addr[0], u32::MAX, &addr, &mut [0; 32]));
        assert!(!u64::scatter(best(true), &mut bytes[..0], BASE, addr[0], u32::MAX, &addr, &[0; 32]));
    }

    #[test]
    fn additions_to_one_place_follow_each_other() {
        let mut bytes = vec![0; 16];
        let mut old = [0u32; 32];
        assert_eq!(
            u32::add(
                best(true),
                &mut bytes,
                BASE,
                0xff00,
                &[BASE + 8; 32],
                &std::array::from_fn(|l| l as u32),
                Some(&mut old)
            ),
            0
        );
        assert_eq!(word(&bytes, 8), (8..16).sum::<u32>());
        assert_eq!((old[8], old[9], old[15], old[16]), (0, 8, (8..15).sum(), 0));
    }

    #[test]
    fn parts_of_a_row() {
        let mut bytes = memory();
        assert!(u16::store_some(best(true), &mut bytes[..4], 3, &[1, 2, 3, 4, 5, 6, 7, 8]));
        assert_eq!(bytes[..4], [1, 0, 2, 0]);
        assert!(!u16::store_some(best(true), &mut bytes[..4], 7, &[1, 2, 3, 4, 5, 6, 7, 8]));
        // many of them
        let mut wanted = memory();
        (0..32).filter(|l| 0xfff0_0ff1u32 >> l & 1 != 0).for_each(|l| wanted[8 + l] = 200 + l as u8);
        let mut bytes = memory();
        assert!(u8::store_some(
            best(true),
            &mut bytes[8..],
            0xfff0_0ff1,
            &std::array::from_fn::<u8, 32, _>(|l| 200 + l as u8)
        ));
        assert_eq!(bytes, wanted);
    }
}
