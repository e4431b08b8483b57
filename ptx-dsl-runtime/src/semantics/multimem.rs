//! `multimem` (PTX ISA 9.7.9.14): accesses to all replicas of a multicast object.
//!
//! The manual leaves open in which order the replicas are added: the host begins with the first. Without `.acc::f32` it rounds each sum to the
//! type of the elements. Sums of f32 keep subnormal numbers.

use super::atom::reduce;
use super::ld_st::{element, extend, get, put};
use super::{Done, active};
use crate::fault::{Fault, FaultKind};
use crate::machine::Ctx;
use crate::memory::address::{AddrSpace, decode_multimem, global_address};
use crate::numerics::float16::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use crate::numerics::lanes::Lanes;
use crate::numerics::qual::{Q, Ty, q};

/// The address of a byte in each replica. The fault is that of an address which is no multimem address.
fn replicas(x: &Ctx<'_>, addr: u64, lane: usize) -> Result<impl Iterator<Item = u64> + use<>, Box<Fault>> {
    let of = decode_multimem(addr).map(|(segment, offset)| (x.memory.global.replicas(segment), offset));
    match of {
        Some((segments, offset)) if !segments.is_empty() => {
            Ok(segments.map(move |segment| global_address(segment, offset)))
        }
        _ => {
            let wanted = "a multimem address: the argument of the kernel has to be a multicast object".into();
            Err(x.fault(FaultKind::WrongWindow { addr, wanted }, lane as u32))
        }
    }
}

/// How many elements an access of each lane has, from its qualifiers.
const fn elements(q: Q) -> usize {
    if q.has(q::v8) {
        8
    } else if q.has(q::v4) {
        4
    } else if q.has(q::v2) {
        2
    } else {
        1
    }
}

/// `multimem.ld_reduce`: `[addr]` to the elements. With `.acc::f32`, sums of halves are rounded once, after all replicas.
pub fn multimem_ld_reduce(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Done {
    let (ty, bytes) = (q.ty[0], element(q.ty[0]));
    for l in active(x.mask) {
        let mut loaded = Vec::new();
        for addr in replicas(x, s[0][l], l)? {
            loaded.push(x.read(AddrSpace::Global, addr, bytes * d.len() as u32, l as u32)?);
        }
        for (i, d) in d.iter_mut().enumerate() {
            let elements = loaded.iter().map(|value| get(value, i, bytes));
            let reduced = match q.has(q::acc_f32) {
                true => sum_in_f32(ty, elements),
                false => elements.reduce(|a, b| combine(q, ty, a, b)).unwrap_or(0),
            };
            d[l] = extend(ty, reduced);
        }
    }
    Ok(())
}

/// The sum of halves, or of pairs of them, in binary32.
fn sum_in_f32(ty: Ty, elements: impl Iterator<Item = u64> + Clone) -> u64 {
    let is_bf16 = matches!(ty, Ty::Bf16 | Ty::Bf16x2);
    let to_f32 = |half: u16| if is_bf16 { bf16_to_f32(half) } else { f16_to_f32(half) };
    let half = |shift: u32| {
        let sum = elements.clone().map(|e| to_f32((e >> shift) as u16)).reduce(|a, b| a + b).unwrap_or(0.0);
        match is_bf16 {
            _ if sum.is_nan() => 0x7fff,
            true => u64::from(f32_to_bf16(sum)),
            false => u64::from(f32_to_f16(sum)),
        }
    };
    if matches!(ty, Ty::F16x2 | Ty::Bf16x2) { half(16) << 16 | half(0) } else { half(0) }
}

/// `multimem.st`: `[addr]`, the elements.
pub fn multimem_st(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    let (bytes, n) = (element(q.ty[0]), elements(q));
    for l in active(x.mask) {
        let mut value = [0; 4];
        for (i, b) in s.iter().skip(1).take(n).enumerate() {
            put(&mut value, i, bytes, b[l]);
        }
        for addr in replicas(x, s[0][l], l)? {
            x.write(AddrSpace::Global, addr, bytes * n as u32, value, l as u32)?;
        }
    }
    Ok(())
}

/// `multimem.red`: `[addr]`, the elements. Each element of each replica is one atomic operation.
pub fn multimem_red(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    let (ty, bytes, n) = (q.ty[0], element(q.ty[0]), elements(q));
    for l in active(x.mask) {
        let reduced = |old: [u64; 4]| {
            let mut new = [0; 4];
            for (i, b) in s.iter().skip(1).take(n).enumerate() {
                put(&mut new, i, bytes, combine(q, ty, get(&old, i, bytes), b[l]));
            }
            new
        };
        for addr in replicas(x, s[0][l], l)? {
            x.stores().update(AddrSpace::Global, addr, bytes * n as u32, bytes, l as u32, reduced)?;
        }
    }
    Ok(())
}

/// The operation of a reduction on two elements, as atomic operations on global memory do it, but for subnormal numbers.
fn combine(q: Q, ty: Ty, a: u64, b: u64) -> u64 {
    const KEEP_SUBNORMALS: bool = false;
    reduce(q, ty, (true, KEEP_SUBNORMALS), a, b)
}

semantics! {
    warp "multimem.ld_reduce" => multimem_ld_reduce,
    warp "multimem.red" => multimem_red,
    warp "multimem.st" => multimem_st,
}
