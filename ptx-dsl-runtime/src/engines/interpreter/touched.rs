//! The memory that a region reads and changes and that other threads can change: a thread that polls waits for a change there.

use super::code::interned;
use super::op::{Operand, operand};
use super::runner::Runner;
use crate::memory::address::{AddrSpace, Place, resolve};
use crate::semantics::ld_st::{element, elements};
use crate::semantics::space;
use ptx_dsl_isa::image::{Action, Image, Instr, Region};
use ptx_dsl_isa::isa::Host;
use ptx_dsl_isa::isa::effect::{Barrier, Control, Effects, Group, Mbarrier, MemoryOp, Proxy, Tensor};

/// An access to memory.
pub(super) struct Touch {
    address: Operand,
    space: AddrSpace,
    bytes: u32,
}

/// The dependences of a region on other threads.
pub(super) enum Touches {
    /// The region depends on these accesses, and nothing else. Their addresses are known where the region begins.
    Accesses {
        list: Box<[Touch]>,
        /// Whether the region has instructions that the lanes of a warp execute together.
        joint: bool,
    },
    /// The region depends on more than accesses.
    More,
}

/// An instruction.
enum TouchKind {
    /// The instruction only computes.
    Computes,
    /// The lanes of a warp exchange values.
    Joint,
    Accesses(Touch),
    Other,
}

impl Touches {
    pub fn of(image: &Image, region: &Region) -> Touches {
        let mut list = Vec::new();
        let mut joint = false;
        for (n, i) in region.instructions().enumerate() {
            let is_written = |r| region.instructions().take(n).any(|before| before.results.contains(&Some(r)));
            match kind(image, i) {
                TouchKind::Computes => {}
                TouchKind::Joint => joint = true,
                TouchKind::Accesses(Touch {
                    address: Operand::Register(r) | Operand::Address { base: r, .. }, ..
                }) if region.results.is_some() || is_written(r) => {
                    return Touches::More;
                }
                TouchKind::Accesses(touch) => list.push(touch),
                TouchKind::Other => return Touches::More,
            }
        }
        Touches::Accesses { list: list.into(), joint }
    }
}

fn kind(image: &Image, i: &Instr) -> TouchKind {
    let Action::Opcode { opcode, qualifiers, .. } = i.action else { return TouchKind::Computes };
    let (Some(entry), Some(set)) = (opcode.entries().next(), image.qualifiers.get(qualifiers as usize)) else {
        return TouchKind::Other;
    };
    let (q, effects, host) = (interned(set), entry.instr.effects, entry.instr.host);
    if !is_plain(&effects) {
        return TouchKind::Other;
    }
    let bytes = match (effects.mbarrier, effects.memory) {
        (Mbarrier::None | Mbarrier::Query, MemoryOp::None) if matches!(host, Host::Lane | Host::Control) => {
            return TouchKind::Computes;
        }
        (Mbarrier::None, MemoryOp::None) => return TouchKind::Joint,
        (Mbarrier::Wait, MemoryOp::None) => 8,
        (Mbarrier::None, MemoryOp::Load | MemoryOp::Store | MemoryOp::Atomic | MemoryOp::Reduction) => {
            element(q.ty[0]) * elements(q) as u32
        }
        _ => return TouchKind::Other,
    };
    match i.sources.first() {
        Some(address) => TouchKind::Accesses(Touch { address: operand(address), space: space(q), bytes }),
        None => TouchKind::Other,
    }
}

/// Does an instruction only compute, access memory, test an mbarrier object, or exchange values within a warp?
fn is_plain(e: &Effects) -> bool {
    e.control != Control::Trap
        && e.proxy == Proxy::Generic
        && !e.asynchronous
        && matches!(e.barrier, Barrier::None | Barrier::Warp)
        && e.group == Group::None
        && e.tensor == Tensor::None
        && !e.heap
        && !e.stack
}

/// Notes the accesses of a region that begins in a turn whose accesses are noted.
#[cold]
pub(super) fn note_touched(r: &mut Runner<'_, '_>, touches: &Touches) {
    let whole = || (0..r.n).all(|k| r.x.cta().live[r.lo + k] & !r.x.cur.mask == 0);
    let Touches::Accesses { list, .. } = touches else { return r.x.scheduling.touched.give_up() };
    if matches!(touches, Touches::Accesses { joint: true, .. }) && !whole() {
        return r.x.scheduling.touched.give_up();
    }
    for touch in list {
        for k in 0..r.n {
            let mask = r.active[k];
            r.enter(k, mask);
            let addresses = r.operand(&touch.address, k);
            for l in (0..32).filter(|l| mask >> l & 1 != 0) {
                match resolve(touch.space, addresses[l], r.x.cur.cta) {
                    Ok(place @ (Place::Global { .. } | Place::Shared { .. })) => {
                        r.x.scheduling.touched.add(place, touch.bytes);
                    }
                    // a lane that the guard excludes; or memory that only this thread writes, or none does
                    Err(_) | Ok(Place::Local { .. } | Place::Const { .. } | Place::Param { .. }) => {}
                }
            }
        }
    }
}
