//! Undefined values in the memory that operations read, for the checked host.

use crate::machine::copy::JobAccess;
use crate::machine::ctx::Ctx;
use crate::machine::origins::Root;
use crate::memory::address::Place;
use crate::observe::monitor::{Access, Agent, By, Order};
use crate::observe::probe::TensorWord;
use std::ops::Range;
use std::rc::Rc;

/// A piece of 16 bytes of shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperandPiece {
    /// The bytes that hold undefined values, a bit each.
    pub undefined: u16,
    /// The number of an undefined value among the [`Origins`](super::origins::Origins), if there is one.
    pub origin: Option<u32>,
    /// The contents of the piece.
    pub bytes: [u8; 16],
}

/// The questions of an operation of the tensor core about its operands: undefined values in the memory of its CTAs.
pub trait SharedOperands {
    /// The piece of 16 bytes at an offset of the shared memory of a CTA of the operation.
    fn piece(&mut self, cta: usize, offset: u32) -> OperandPiece;
    /// The number of the undefined value that a word of the Tensor Memory of a CTA holds, if it holds one that was stored.
    fn word(&mut self, cta: usize, lane: usize, column: usize) -> Option<u32>;
}

/// Words of Tensor Memory that get an undefined value: the index of the CTA among those of the operation, a lane, columns, and the number
/// of the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndefinedWords {
    /// The index of the CTA.
    pub cta: usize,
    /// The lane.
    pub lane: usize,
    /// The columns.
    pub columns: Range<usize>,
    /// The number of the value.
    pub origin: u32,
}

/// Is an access that of an operand in shared memory whose undefined values are followed?
pub(super) fn is_operand(a: &Access) -> bool {
    matches!(a.by, By::Agent(Agent::Warpgroup(_) | Agent::Tensor(_)))
}

/// An access to shared memory in pieces of at most 64 bytes.
pub(super) fn pieces(a: Access) -> impl Iterator<Item = Access> {
    (0..a.bytes).step_by(64).filter_map(move |from| match a.place {
        Place::Shared { rank, offset } => {
            let place = Place::Shared { rank, offset: offset + from };
            Some(Access { place, addr: a.addr + u64::from(from), bytes: (a.bytes - from).min(64), ..a })
        }
        _ => None,
    })
}

/// The piece of 16 bytes at an offset of the shared memory of a CTA, which the current statement reads.
#[cold]
pub(crate) fn piece(x: &mut Ctx<'_>, rank: u32, offset: u32) -> OperandPiece {
    let at = offset as usize;
    let bytes = x.window(rank).ok().and_then(|window| window.get(at..)?.first_chunk().copied());
    let Some(bytes) = bytes else { return OperandPiece { undefined: 0, origin: None, bytes: [0; 16] } };
    let read = JobAccess::of_copy(Place::Shared { rank, offset }, 16, false);
    let (by, order, who) = (By::Agent(Agent::Tensor(0)), Order::default(), x.who(1));
    let JobAccess { place, bytes: len, proxy, .. } = read;
    let access = Access { place, addr: offset.into(), bytes: len, write: false, same: false, by, proxy, order, who };
    let (undefined, stored) = match x.monitor.get() {
        Some(monitor) => (monitor.unwritten(&access) as u16, monitor.undefined_bytes(&access)),
        None => (0, None),
    };
    let origin = (undefined != 0).then(|| match stored {
        Some((_, origin)) => origin,
        None => {
            let first = u64::from(offset) + u64::from(undefined.trailing_zeros());
            let root = Root::Memory { site: who.site, space: "shared", addresses: Rc::new([first; 32]) };
            x.findings.origins.number(who.site, root)
        }
    });
    OperandPiece { undefined, origin, bytes }
}

/// The memory of the CTAs of a tensor core operation of a lane.
pub(super) struct OfPair<'x, 'c> {
    pub x: &'x mut Ctx<'c>,
    /// The rank of the first CTA.
    pub first: u32,
}

impl SharedOperands for OfPair<'_, '_> {
    fn piece(&mut self, cta: usize, offset: u32) -> OperandPiece {
        piece(self.x, self.first + cta as u32, offset)
    }

    fn word(&mut self, cta: usize, lane: usize, column: usize) -> Option<u32> {
        let (who, rank) = (self.x.who(1), self.first + cta as u32);
        match self.x.monitor.get()?.tensor_word(who, rank, lane, column) {
            TensorWord::Undefined { origin } => Some(origin),
            TensorWord::Written | TensorWord::Unwritten | TensorWord::OnlyAdded => None,
        }
    }
}
