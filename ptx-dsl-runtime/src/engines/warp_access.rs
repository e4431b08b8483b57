//! Loads, stores and atomic adds of a warp: the fast path of [`Ctx`], then a slow path that diagnoses.

use crate::fault::Fault;
use crate::machine::Ctx;
use crate::memory::address::AddrSpace;
use crate::memory::scattered::Scattered;
use crate::numerics::lanes::Lanes;
use crate::numerics::lanes::lanes;
use crate::numerics::qual::Q;
use crate::semantics::Done;
use crate::semantics::{atom, ld_st, space};

/// `ld` of elements at any addresses. It is a call: inlined at every load it would dominate the compile time.
#[inline(never)]
pub fn load<T: Scattered, const D: usize>(
    x: &mut Ctx<'_>,
    q: &Q,
    space: AddrSpace,
    site: u32,
    m: u32,
    addr: &Lanes,
    mut out: [&mut [T; 32]; D],
) -> Done {
    if x.loads().gather::<T, D>(space, m, addr, out.each_mut().map(|out| &mut **out)) {
        return Ok(());
    }
    x.site = site;
    slow_load(x, *q, m, addr, out)
}

/// `ld` of elements at addresses of 32 bits.
#[inline(never)]
pub fn load_near<T: Scattered>(
    x: &mut Ctx<'_>,
    q: &Q,
    space: AddrSpace,
    site: u32,
    m: u32,
    addr: &[u32; 32],
    out: &mut [T; 32],
) -> Done {
    if x.loads().gather_near::<T>(space, m, addr, out) {
        return Ok(());
    }
    x.site = site;
    slow_load(x, *q, m, &addr.map(u64::from), [out])
}

/// `st` of elements to any addresses.
#[inline(never)]
pub fn store<T: Scattered, const D: usize>(
    x: &mut Ctx<'_>,
    q: &Q,
    space: AddrSpace,
    site: u32,
    m: u32,
    addr: &Lanes,
    v: [&[T; 32]; D],
) -> Done {
    if x.stores().scatter::<T, D>(space, m, addr, v) {
        return Ok(());
    }
    x.site = site;
    slow_store(x, *q, m, addr, v)
}

/// The slow path of `ld`: concurrent memory, then the general path.
#[cold]
#[inline(never)]
pub fn slow_load<T: Scattered, const D: usize>(
    x: &mut Ctx<'_>,
    q: Q,
    m: u32,
    addr: &Lanes,
    out: [&mut [T; 32]; D],
) -> Done {
    let mut out = out;
    if x.loads().load_lanes_concurrent(space(q), m, addr, &mut out) { Ok(()) } else { general_load(x, q, m, addr, out) }
}

/// The general path of `ld`, which diagnoses faults.
pub(super) fn general_load<T: Scattered, const D: usize>(
    x: &mut Ctx<'_>,
    q: Q,
    m: u32,
    addr: &Lanes,
    out: [&mut [T; 32]; D],
) -> Done {
    let all = x.mask;
    x.mask = m;
    let mut d = [[0; 32]; D];
    ld_st::ld(x, q, &[addr], &mut d.each_mut()).map_err(|fault| x.describe().with_operands(fault, &[addr]))?;
    for (out, d) in out.into_iter().zip(&d) {
        lanes(m, |l| out[l] = T::narrow(d[l]));
    }
    x.mask = all;
    Ok(())
}

/// Addresses of `bits` bits that grow by `stride` from lane to lane of each row.
#[cold]
#[inline(never)]
pub fn addresses<const NB: usize>(rows: [u64; NB], stride: i64, bits: u32) -> Lanes {
    let p = 32 / NB;
    std::array::from_fn(|l| rows[l / p].wrapping_add(((l % p) as u64).wrapping_mul(stride as u64)) & low(bits))
}

/// A mask of the low bits.
pub(super) fn low(bits: u32) -> u64 {
    u64::MAX >> (64 - bits.clamp(1, 64))
}

/// The slow path of `st`.
#[cold]
#[inline(never)]
pub fn slow_store<T: Scattered, const D: usize>(x: &mut Ctx<'_>, q: Q, m: u32, addr: &Lanes, v: [&[T; 32]; D]) -> Done {
    if x.stores().store_lanes_concurrent(space(q), m, addr, &v) {
        return Ok(());
    }
    let all = x.mask;
    x.mask = m;
    let v = v.map(|v| v.map(T::widen));
    let done = match D {
        1 => ld_st::st(x, q, &[addr, &v[0]], &mut []),
        2 => ld_st::st(x, q, &[addr, &v[0], &v[1]], &mut []),
        _ => ld_st::st(x, q, &[addr, &v[0], &v[1], &v[2 % D], &v[3 % D]], &mut []),
    };
    done.map_err(|fault| with_values(x, fault, |l| addr[l], |l| v.map(|v| T::narrow(v[l]))))?;
    x.mask = all;
    Ok(())
}

/// The slow path of `red.add` and `atom.add`, for the lanes of `m`.
#[cold]
#[inline(never)]
pub fn slow_add<T: Scattered>(
    x: &mut Ctx<'_>,
    q: Q,
    m: u32,
    addr: &Lanes,
    v: &[T; 32],
    mut old: Option<&mut [T; 32]>,
) -> Done {
    let m = x.stores().add_lanes_concurrent(space(q), m, addr, v, |l, was| {
        if let Some(old) = &mut old {
            old[l] = T::narrow(was);
        }
    });
    if m == 0 {
        return Ok(());
    }
    let all = x.mask;
    x.mask = m;
    let mut d = [0; 32];
    let done = atom::atom(x, q, &[addr, &v.map(T::widen)], &mut [&mut d]);
    done.map_err(|fault| with_values(x, fault, |l| addr[l], |l| [v[l]]))?;
    if let Some(old) = old {
        lanes(m, |l| old[l] = T::narrow(d[l]));
    }
    x.mask = all;
    Ok(())
}

/// The slow path of `ld` for one lane.
#[cold]
#[inline(never)]
pub fn slow_load_one<T: Scattered, const D: usize>(
    x: &mut Ctx<'_>,
    space: AddrSpace,
    l: usize,
    addr: u64,
) -> Result<[T; D], Box<Fault>> {
    if let Some(v) = x.loads().load_one_concurrent(space, addr) {
        return Ok(v);
    }
    let read = x.read(space, addr, (T::BYTES * D) as u32, l as u32);
    let v = read.map_err(|fault| x.describe().with_operands(fault, &[&[addr; 32]]))?;
    Ok(std::array::from_fn(|i| T::narrow(v[i * T::BYTES / 8 % 4] >> (i * T::BYTES % 8 * 8))))
}

/// The slow path of `st` for one lane.
#[cold]
#[inline(never)]
pub fn slow_store_one<T: Scattered, const D: usize>(
    x: &mut Ctx<'_>,
    space: AddrSpace,
    l: usize,
    addr: u64,
    v: [T; D],
) -> Done {
    if x.stores().store_one_concurrent(space, addr, v) {
        return Ok(());
    }
    let mut words = [0; 4];
    for (i, v) in v.iter().enumerate() {
        words[i * T::BYTES / 8 % 4] |= v.widen() << (i * T::BYTES % 8 * 8);
    }
    let written = x.write(space, addr, (T::BYTES * D) as u32, words, l as u32);
    written.map_err(|fault| with_values(x, fault, |_| addr, |_| v))
}

/// Adds the registers of an address, and of elements of memory: the bits of a wider register are not known.
#[cold]
fn with_values<T: Scattered, const D: usize>(
    x: &Ctx<'_>,
    fault: Box<Fault>,
    addr: impl Fn(usize) -> u64,
    v: impl Fn(usize) -> [T; D],
) -> Box<Fault> {
    let known = |v: T| (v.widen(), 8 * T::BYTES as u8);
    x.describe().with_known(fault, |l| std::iter::once((addr(l), 64)).chain(v(l).map(known)).collect())
}

/// The slow path of `red.add` for one lane.
#[cold]
#[inline(never)]
pub fn slow_add_one<T: Scattered>(x: &mut Ctx<'_>, q: Q, l: usize, addr: u64, v: T) -> Done {
    slow_add(x, q, 1 << l, &[addr; 32], &[v; 32], None)
}
