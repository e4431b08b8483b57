//! The copies of `cp.async` of a warp that are in flight.

use std::collections::VecDeque;

use crate::machine::spaces::GlobalPlace;

/// The copy of a lane: from global to shared memory of its CTA, up to 16 bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LaneCopy {
    pub lane: u8,
    /// Bytes that it writes.
    pub bytes: u8,
    /// Bytes that it reads; the others are zeros.
    pub given: u8,
    pub from: GlobalPlace,
    pub to: u32,
}

/// Copies that an instruction of a warp has started, of one group.
#[derive(Debug)]
pub(crate) struct Started {
    pub id: u64,
    pub due: u64,
    pub site: u32,
    pub group: u64,
    /// The lanes whose copies are still to come.
    pub lanes: u32,
    pub copies: Vec<LaneCopy>,
    /// The source bytes, once the copies have read them.
    pub read: Option<Vec<[u8; 16]>>,
}

/// The copies of a warp.
#[derive(Debug, Default)]
pub(crate) struct WarpCopies {
    /// The number of the open group of each lane.
    pub groups: [u64; 32],
    pub started: VecDeque<Started>,
}
