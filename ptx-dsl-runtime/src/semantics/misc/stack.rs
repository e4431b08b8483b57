//! `alloca`, `stacksave`, `stackrestore` (PTX ISA 9.7.17). The stack is the end of a thread's local memory and grows downwards. How
//! many bytes are in use is in local memory too, below it, so that a stack starts empty.

use crate::fault::{Fault, FaultKind};
use crate::machine::Ctx;
use crate::memory::address::AddrSpace;
use crate::numerics::lanes::Lanes;
use crate::numerics::qual::{Q, Ty};
use crate::observe::monitor::Sync;
use crate::semantics::{Done, active, set};
use ptx_dsl_isa::isa::misc::STACK;

/// The alignment of `alloca` without one.
const ALIGN: u64 = 8;
/// Bytes that the count of used bytes takes, with padding.
const COUNT: u64 = 16;

/// The end of the stack. Local memory is a multiple of 16 bytes.
fn end(x: &Ctx<'_>) -> u64 {
    u64::from(x.geometry.info.local_size)
}

/// The lowest address of the stack.
fn least(x: &Ctx<'_>) -> u64 {
    end(x).saturating_sub(u64::from(STACK)) + COUNT
}

fn pointer(x: &mut Ctx<'_>, lane: usize) -> Result<u64, Box<Fault>> {
    let used = x.read_aligned(AddrSpace::ParamFunc, least(x) - COUNT, 8, 8, lane as u32)?[0];
    Ok(end(x).saturating_sub(used).max(least(x)))
}

fn set_pointer(x: &mut Ctx<'_>, pointer: u64, lane: usize) -> Done {
    let used = [end(x) - pointer, 0, 0, 0];
    x.write_aligned(AddrSpace::ParamFunc, least(x) - COUNT, 8, 8, used, lane as u32)?;
    x.report_sync(Sync::Stack { from: least(x), to: pointer }, 1 << lane)
}

/// Truncates a pointer or a size to its type, of 32 or 64 bits.
fn value(q: Q, v: u64) -> u64 {
    if matches!(q.ty[0], Ty::U32) { v & 0xffff_ffff } else { v }
}

/// `alloca ptr, size {, align}`
pub fn alloca(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Done {
    let Some(size) = s.first() else { return Ok(()) };
    for lane in active(x.mask) {
        let size = value(q, size[lane]);
        let align = s.get(1).map_or(ALIGN, |align| align[lane]).max(1);
        let free = pointer(x, lane)?.checked_sub(size).map(|at| at & !(align - 1));
        let Some(free) = free.filter(|at| *at >= least(x)) else {
            let what =
                format!("`alloca` of {size} bytes exceeds the {} bytes of a thread's stack", u64::from(STACK) - COUNT);
            let help = "allocate less, or free what is no longer needed with `stackrestore`";
            return Err(x.fault(FaultKind::undefined(what, "9.7.17.3", help), lane as u32));
        };
        set_pointer(x, free, lane)?;
        set(d, 0, lane, free);
    }
    Ok(())
}

/// `stacksave d`
pub fn stacksave(x: &mut Ctx<'_>, _: Q, _: &[&Lanes], d: &mut [&mut Lanes]) -> Done {
    for lane in active(x.mask) {
        let at = pointer(x, lane)?;
        set(d, 0, lane, at);
    }
    Ok(())
}

/// `stackrestore a`
pub fn stackrestore(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    let Some(to) = s.first() else { return Ok(()) };
    for lane in active(x.mask) {
        let to = value(q, to[lane]);
        if to < pointer(x, lane)? || to > end(x) {
            let what =
                format!("`stackrestore` of {to:#x}, which is not a stack pointer of this thread that is still valid");
            let help = "restore a value of `stacksave`, once, in the function that has saved it";
            return Err(x.fault(FaultKind::undefined(what, "9.7.17.2", help), lane as u32));
        }
        set_pointer(x, to, lane)?;
    }
    Ok(())
}
