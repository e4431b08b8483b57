//! The actors of events: the lanes of warps, and asynchronous operations.
//!
//! The operations of a thread that complete in order are one actor: its time counts what completes together (groups, commits). An
//! mbarrier object is an actor too, whose time counts phases: the time of a copy is the phase which it completes.

use crate::observe::monitor::Scope;

/// The number of an actor in a launch: 512 for each CTA, 16 CTAs for each cluster. Those below 32 are warps.
pub(super) type Actor = u32;

/// The copies that complete on mbarrier objects, each a time of its own. [`super::operations`] knows which phases complete them.
pub(super) const COPIES: Actor = u32::MAX;

/// The operations of the lanes of a warp, or of its warpgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// Accesses of bulk copies, which `cp.async.bulk.wait_group` completes.
    Bulk = 32,
    /// Reads of shared memory by bulk copies, which `.read` completes.
    BulkReads = 64,
    /// `cp.async`, which `cp.async.wait_group` completes.
    Cp = 96,
    /// `tcgen05`, which `tcgen05.commit` completes.
    Tensor = 128,
    /// `wgmma`, which `wgmma.wait_group` completes.
    Warpgroup = 160,
    /// `tcgen05.ld`, which `tcgen05.wait::ld` completes.
    TensorLoads = 192,
    /// `tcgen05.st`, which `tcgen05.wait::st` completes.
    TensorStores = 224,
}

/// The wait that completes the operations of an actor: an instruction, or the phase of an mbarrier object.
pub(super) fn completion(actor: Actor) -> &'static str {
    let of = |work: Work| actor != COPIES && (work as u32..work as u32 + 32).contains(&(actor & 511));
    let work = [
        (Work::Bulk, "`cp.async.bulk.wait_group`"),
        (Work::BulkReads, "`cp.async.bulk.wait_group.read`"),
        (Work::Cp, "`cp.async.wait_group`"),
        (Work::Tensor, "`tcgen05.commit` and a wait for its mbarrier object"),
        (Work::Warpgroup, "`wgmma.wait_group`"),
        (Work::TensorLoads, "`tcgen05.wait::ld`"),
        (Work::TensorStores, "`tcgen05.wait::st`"),
    ];
    work.into_iter().find(|(work, _)| of(*work)).map_or("a wait for the phase of its mbarrier object", |(_, by)| by)
}

/// The first mbarrier object of a CTA.
const OBJECTS: u32 = 256;

impl Work {
    /// The actor of this work of a warp; for `wgmma` of the first warp of the warpgroup.
    pub fn of(self, warp: Actor) -> Actor {
        warp + self as u32
    }
}

/// A warp of a cluster, which are numbered in the order of their start.
pub(super) fn warp(cluster: u32, rank: u32, warp: u32) -> Actor {
    cluster << 13 | (rank & 15) << 9 | warp & 31
}

/// An mbarrier object of the CTA of a warp, if there are not too many.
pub(super) fn object(warp: Actor, number: u32) -> Option<Actor> {
    (number < 512 - OBJECTS).then_some((warp & !511) + OBJECTS + number)
}

/// The cluster of an actor.
pub(super) fn cluster_of(actor: Actor) -> u32 {
    actor >> 13
}

/// The CTA of an actor, in the launch.
pub(super) fn cta_of(actor: Actor) -> u32 {
    actor >> 9
}

/// Whether these warps are of one CTA.
pub(super) fn are_neighbours(a: Actor, warp: Actor) -> bool {
    a >> 5 == warp >> 5
}

/// Does the scope, of a thread of one warp, include the other warp?
pub(super) fn includes(scope: Scope, a: Actor, b: Actor) -> bool {
    match scope {
        Scope::Cta => cta_of(a) == cta_of(b),
        Scope::Cluster => cluster_of(a) == cluster_of(b),
        // one GPU runs the grid
        _ => true,
    }
}

/// Whether these operations are those of a whole warp, so that any of its lanes can publish them.
pub(super) fn is_collective(actor: Actor) -> bool {
    (Work::TensorLoads as u32..OBJECTS).contains(&(actor & 511))
}

/// Whether these operations are those of a warp.
pub(super) fn is_work_of(actor: Actor, warp: Actor) -> bool {
    cta_of(actor) == cta_of(warp) && actor & 31 == warp & 31 && (32..OBJECTS).contains(&(actor & 511))
}

/// Rank and number of its warp.
pub(super) fn place(actor: Actor) -> (u32, u32) {
    (actor >> 9 & 15, actor & 31)
}
