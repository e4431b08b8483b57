//! Helpers that only emitted code calls: lane vectors, parameters, stacks.

pub use crate::numerics::lanes::mask_by;
pub use crate::semantics::control_flow::{call_in_range, switch_in_range};

use crate::fault::Fault;
use crate::fault::FaultKind;
use crate::machine::Ctx;
use crate::memory::address::AddrSpace;
use crate::numerics::lanes::Lanes;

/// The mask of one lane of `m`, for an operation whose result is the same in all lanes.
#[inline(always)]
pub fn one_of(m: u32) -> u32 {
    m & m.wrapping_neg()
}

/// A lane vector from a function of the lane. Development builds share one loop that calls the function: inlined loops would
/// dominate the compile time of kernels with many addresses.
#[inline(always)]
pub fn from_lanes(f: impl Fn(usize) -> u64) -> Lanes {
    if cfg!(debug_assertions) {
        return from_calls(&f);
    }
    // `from_fn` generates several times the code
    let mut v = [0; 32];
    for (l, v) in v.iter_mut().enumerate() {
        *v = f(l);
    }
    v
}

/// Builds lanes by calls of the function: for large kernels, where vectorising each loop of [`from_lanes`] would dominate the
/// compile time.
#[inline(never)]
pub fn from_calls(f: &dyn Fn(usize) -> u64) -> Lanes {
    let mut v = [0; 32];
    for (l, v) in v.iter_mut().enumerate() {
        *v = f(l);
    }
    v
}

fn active(mask: u32) -> impl Iterator<Item = u32> {
    (0..32).filter(move |l| mask >> l & 1 != 0)
}

/// Reads a parameter of `size` bytes at `at`, relative to each lane's frame if there is one, as words of eight bytes.
#[inline(never)]
pub fn read_param(x: &mut Ctx<'_>, frame: Option<&Lanes>, at: u64, size: u32) -> Result<Vec<Lanes>, Box<Fault>> {
    let mut v = vec![[0; 32]; size.div_ceil(8) as usize];
    for (i, (from, word)) in (0..).step_by(8).zip(&mut v).enumerate() {
        let bytes = (size - 8 * i as u32).min(8);
        for lane in active(x.mask) {
            let at = frame.map_or(0, |f| f[lane as usize]) + at + from;
            word[lane as usize] = x.read_aligned(AddrSpace::ParamFunc, at, bytes, 1, lane)?[0];
        }
    }
    Ok(v)
}

/// Writes a parameter of `size` bytes.
#[inline(never)]
pub fn write_param(x: &mut Ctx<'_>, frame: Option<&Lanes>, at: u64, size: u32, v: &[Lanes]) -> Result<(), Box<Fault>> {
    for (i, (from, word)) in (0..size).step_by(8).zip(v).enumerate() {
        let bytes = (size - 8 * i as u32).min(8);
        for lane in active(x.mask) {
            let at = frame.map_or(0, |f| f[lane as usize]) + at + u64::from(from);
            x.write_aligned(AddrSpace::ParamFunc, at, bytes, 1, [word[lane as usize], 0, 0, 0], lane)?;
        }
    }
    Ok(())
}

/// A call of a recursive function, whose variables are so far from the start of the stack and take this many bytes: the active lanes get
/// a frame. `stack` keeps the caller's registers, which are saved already, and its frame.
pub fn nest(
    x: &mut Ctx<'_>,
    frame: &mut Lanes,
    used: &mut Lanes,
    stack: &mut [Vec<u64>; 32],
    (moved, size): (u64, u64),
    limit: u64,
) -> Result<(), Box<Fault>> {
    for lane in active(x.mask) {
        let l = lane as usize;
        stack[l].push(frame[l]);
        frame[l] = moved + used[l];
        used[l] += size;
        if used[l] > limit || stack[l].len() as u64 * 8 > limit {
            return Err(x.fault(FaultKind::StackOverflow { bytes: limit }, lane));
        }
    }
    Ok(())
}

/// Returns from a nested call in the lanes of `mask`.
pub fn unnest(frame: &mut Lanes, used: &mut Lanes, stack: &mut [Vec<u64>; 32], size: u64, mask: u32) {
    for l in active(mask).map(|lane| lane as usize) {
        frame[l] = stack[l].pop().unwrap_or_default();
        used[l] = used[l].saturating_sub(size);
    }
}
