//! Accesses to Tensor Memory, compared with the last ones to the same lanes and columns (PTX ISA 9.7.16.6).
//!
//! `tcgen05.ld` and `.st` of a warp are complete at its `tcgen05.wait`, operations (`mma`, `cp`, `shift`) when a commit of their thread
//! has arrived. Both are actors: whoever learns of their time is after them. An access of another warp also needs the fences around the
//! synchronisation, which [`Bridge::Tensor`] hands on. Operations that are pipelined need no completion in between.

mod pipelines;
#[cfg(test)]
mod tests;
mod written;

use super::Checked;
use super::actor::{Actor, Work, cta_of};
use super::clock::{Bridge, Clock};
use super::threads::Warp;
use crate::fault::{FaultKind, NearMiss, Side, TensorOrder, TensorRace, TensorUnwritten, ThreadId, TooWeak};
use crate::memory::tmem::LANES;
use crate::observe::monitor::{TensorAccess, TensorArea, TensorBy, Who};
use crate::observe::probe::TensorWord;
use crate::sync::tensor_pipeline::Unit;
use pipelines::{PipelinedOperation, Pipelines};
use rustc_hash::FxHashMap;
use std::ops::Range;
use written::WrittenWords;

/// The kind of access of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TensorUse {
    Load,
    Store,
    Reads(Unit),
    Writes(Unit),
    Alloc,
    Dealloc,
}

impl TensorUse {
    fn of(by: TensorBy, write: bool) -> TensorUse {
        match by {
            TensorBy::Warp if write => TensorUse::Store,
            TensorBy::Warp => TensorUse::Load,
            TensorBy::Operation { pipeline, .. } if write => TensorUse::Writes(pipeline.unit),
            TensorBy::Operation { pipeline, .. } => TensorUse::Reads(pipeline.unit),
            TensorBy::Alloc { .. } => TensorUse::Alloc,
            TensorBy::Dealloc => TensorUse::Dealloc,
        }
    }

    fn name(self) -> &'static str {
        match self {
            TensorUse::Load => "load",
            TensorUse::Store => "store",
            TensorUse::Reads(Unit::Mma) => "read by `tcgen05.mma`",
            TensorUse::Writes(Unit::Mma) => "write by `tcgen05.mma`",
            TensorUse::Reads(Unit::Cp | Unit::Cp4x256b) => "read by `tcgen05.cp`",
            TensorUse::Writes(Unit::Cp | Unit::Cp4x256b) => "write by `tcgen05.cp`",
            TensorUse::Reads(Unit::Shift) => "read by `tcgen05.shift`",
            TensorUse::Writes(Unit::Shift) => "write by `tcgen05.shift`",
            TensorUse::Alloc => "allocation",
            TensorUse::Dealloc => "deallocation",
        }
    }
}

/// An access to a rectangle.
#[derive(Debug, Clone)]
struct Record {
    lanes: Range<usize>,
    columns: Range<usize>,
    what: TensorUse,
    write: bool,
    site: u32,
    /// The warp, and lanes of it: one, but for accesses of the whole warp.
    warp: Actor,
    of: u32,
    /// The event that completes it, as others learn of it: actor, lanes, time.
    done: (Actor, u32, u32),
    /// The number of the operation that makes the access, if one does.
    operation: Option<u64>,
    /// The number of the half among the allocations of the CTA with its peer, if the access is one.
    half: Option<usize>,
}

impl Record {
    fn meets(&self, area: &TensorArea) -> bool {
        let meet = |a: &Range<usize>, b: &Range<usize>| a.start < b.end && b.start < a.end;
        meet(&self.lanes, &area.lanes) && meet(&self.columns, &area.columns)
    }

    fn is_in(&self, area: &TensorArea) -> bool {
        let inside = |a: &Range<usize>, b: &Range<usize>| b.start <= a.start && a.end <= b.end;
        inside(&self.lanes, &area.lanes) && inside(&self.columns, &area.columns)
    }
}

/// The Tensor Memory of a CTA.
#[derive(Debug, Default)]
struct Shadow {
    records: Vec<Record>,
    written: WrittenWords,
    /// The words with undefined values that operations have put there, by lane and column, with the number of each value.
    undefined: FxHashMap<(usize, usize), u32>,
    /// The CTA's halves of allocations with its peer: the event that completes each.
    halves: Vec<(Actor, u32, u32)>,
}

impl Shadow {
    /// An access gives values to these words, or frees them.
    fn overwrite(&mut self, lanes: &Range<usize>, columns: &Range<usize>) {
        if !self.undefined.is_empty() {
            self.undefined.retain(|(lane, column), _| !(lanes.contains(lane) && columns.contains(column)));
        }
    }

    /// Has `tcgen05.mma` written to one of these words?
    fn is_added_to(&self, area: &TensorArea) -> bool {
        self.records.iter().any(|r| r.what == TensorUse::Writes(Unit::Mma) && r.meets(area))
    }
}

/// The Tensor Memory of all resident clusters.
#[derive(Debug, Default)]
pub(super) struct TensorMemory {
    /// The shadow of each CTA's Tensor Memory, by slot and rank.
    ctas: FxHashMap<(u32, u32), Shadow>,
    pipelines: Pipelines,
    /// The number of `tcgen05.wait::ld` and `::st` of each warp so far.
    waits: FxHashMap<Actor, [u32; 2]>,
}

impl TensorMemory {
    /// A cluster starts in this slot.
    pub fn start(&mut self, slot: u32) {
        if !self.ctas.is_empty() {
            self.ctas.retain(|key, _| key.0 != slot);
            self.pipelines.forget(slot);
        }
    }

    /// The state of a word of the Tensor Memory of a CTA, in which other words are written.
    pub fn word(&self, slot: u32, rank: u32, lane: usize, column: usize) -> TensorWord {
        let area = TensorArea { rank, lanes: lane..lane + 1, columns: column..column + 1, operand: "" };
        match self.ctas.get(&(slot, rank)) {
            Some(shadow) if !shadow.written.has_any(&area.lanes, &area.columns) => {
                if shadow.is_added_to(&area) {
                    TensorWord::OnlyAdded
                } else {
                    TensorWord::Unwritten
                }
            }
            Some(shadow) => match shadow.undefined.get(&(lane, column)) {
                Some(origin) => TensorWord::Undefined { origin: *origin },
                None => TensorWord::Written,
            },
            None => TensorWord::Written,
        }
    }

    /// Columns of a lane of a CTA get an undefined value with this number.
    #[cold]
    pub fn undefined(&mut self, cta: (u32, u32), lane: usize, columns: Range<usize>, origin: u32) {
        let shadow = self.ctas.entry(cta).or_default();
        shadow.undefined.extend(columns.map(|column| ((lane, column), origin)));
    }

    /// Are there words with undefined values that operations have put there?
    pub fn has_undefined(&self) -> bool {
        self.ctas.values().any(|cta| !cta.undefined.is_empty())
    }

    /// `tcgen05.wait`
    pub fn wait(&mut self, warp: &mut Warp, lanes: u32, stores: bool) {
        let waits = &mut self.waits.entry(warp.id).or_default()[usize::from(stores)];
        *waits += 1;
        let work = if stores { Work::TensorStores } else { Work::TensorLoads };
        warp.wait(work.of(warp.id), lanes, *waits);
    }

    /// A commit of a thread completes what its operations come after too.
    pub fn commit(&mut self, (warp, lanes): (Actor, u32), published: &mut Clock) {
        for (actor, lanes, time) in self.pipelines.completed_by((warp, lanes)) {
            published.learn(actor, lanes, time);
            published.add(Bridge::TensorReleased, [(actor, lanes, time)]);
        }
    }

    /// The operations that a commit of a thread, which knows of this, comes after and does not track.
    pub fn not_tracked(&self, thread: (Actor, u32), known: &Clock) -> Option<Clock> {
        let mut others = None;
        for (actor, lanes, time) in self.pipelines.not_tracked(thread, known) {
            others.get_or_insert_with(Clock::default).learn(actor, lanes, time);
        }
        others
    }

    /// The event that completes an access that a warp makes now: actor, lanes, time.
    fn completion(&self, by: TensorBy, write: bool, warp: &Warp, lanes: u32) -> (Actor, u32, u32) {
        let waits = self.waits.get(&warp.id).copied().unwrap_or_default();
        match by {
            TensorBy::Warp if write => (Work::TensorStores.of(warp.id), 1, waits[1]),
            TensorBy::Warp => (Work::TensorLoads.of(warp.id), 1, waits[0]),
            TensorBy::Operation { commits, .. } => (Work::Tensor.of(warp.id), lanes, commits as u32),
            TensorBy::Alloc { .. } | TensorBy::Dealloc => (warp.id, lanes, warp.time),
        }
    }
}

/// The access of a warp that is compared with others.
struct New<'n> {
    by: TensorBy,
    warp: &'n Warp,
    operation: Option<u64>,
    fences: bool,
}

impl New<'_> {
    /// The order that is missing between an earlier access and this one. `peer`: halves of allocations in the peer CTA.
    fn missing(&self, r: &Record, pipelines: &Pipelines, peer: &[(Actor, u32, u32)]) -> Option<TensorOrder> {
        let (actor, lanes, time) = r.done;
        let own = r.warp == self.warp.id;
        if r.what == TensorUse::Alloc {
            // the two halves are one operation (Table 46): who knows of one knows of both, and the peer CTA has its own
            let other_half = r.half.and_then(|half| peer.get(half));
            let seen = |&(actor, lanes, time): &(Actor, u32, u32)| self.warp.has_seen(actor, lanes, time);
            let known = own || cta_of(r.warp) != cta_of(self.warp.id) || seen(&r.done) || other_half.is_some_and(seen);
            return (!known).then_some(TensorOrder::Synchronisation);
        }
        if let (Some(first), Some(then)) = (r.operation, self.operation)
            && pipelines.is_behind(then, first)
        {
            return None;
        }
        let fenced = |bridge| self.warp.any_is_fenced(bridge, actor, lanes, time);
        // an access that is after the fences is complete; the relaxed synchronisation between them need not tell of it
        if fenced(Bridge::Tensor) {
            return None;
        }
        if !self.warp.has_seen(actor, lanes, time) && !fenced(Bridge::TensorReleased) {
            return Some(if r.operation.is_some() { TensorOrder::Commit } else { TensorOrder::Wait });
        }
        // within a warp, and before columns are freed, completion is enough
        if own || !self.fences || self.by == TensorBy::Dealloc {
            None
        } else if fenced(Bridge::TensorReleased) {
            Some(TensorOrder::After)
        } else {
            Some(TensorOrder::Before)
        }
    }
}

impl Checked {
    /// An access to Tensor Memory.
    pub(super) fn tensor_access(&mut self, a: &TensorAccess<'_>, who: Who) -> Result<(), FaultKind> {
        let Some(warp) = self.threads.of(who) else { return Ok(()) };
        let lanes = who.lanes & who.lanes.wrapping_neg();
        let issued = warp.event();
        let operation = match a.by {
            TensorBy::Operation { commits, pipeline } => {
                let new = PipelinedOperation {
                    slot: who.slot,
                    warp: warp.id,
                    lanes,
                    issued,
                    commits: commits as u32,
                    pipeline,
                };
                Some(self.tensor.pipelines.start(new, warp, a.fences))
            }
            _ => None,
        };
        let new = New { by: a.by, warp, operation, fences: a.fences };
        let mut found = None;
        let mut unwritten = None;
        for (areas, write) in [(a.writes, true), (a.reads, false)] {
            for area in areas {
                let Some(shadow) = self.tensor.ctas.get(&(who.slot, area.rank)) else {
                    unwritten = unwritten.or_else(|| (!write).then(|| area.clone()));
                    continue;
                };
                // what others have done since the peer told them is no conflict with the CTA's half of an allocation
                let with_peer = matches!(a.by, TensorBy::Alloc { with_peer: true });
                let conflicts = |r: &&Record| (write || r.write) && r.meets(area) && !with_peer;
                found = found.or_else(|| {
                    let all = shadow.records.iter().filter(conflicts);
                    let TensorMemory { ctas, pipelines, .. } = &self.tensor;
                    let peer = ctas.get(&(who.slot, area.rank ^ 1)).map_or(&[][..], |peer| &peer.halves);
                    let mut missing =
                        all.filter_map(|r| new.missing(r, pipelines, peer).map(|order| (r.clone(), order)));
                    missing.next().map(|(r, order)| (r, order, area.clone(), write))
                });
                let has_any = write || shadow.written.has_any(&area.lanes, &area.columns);
                unwritten = unwritten.or_else(|| (!has_any).then(|| area.clone()));
            }
        }
        let kind = match (found, unwritten) {
            (Some((r, order, area, write)), _) => {
                Err(self.tensor_race(&r, order, &area, TensorUse::of(a.by, write), who))
            }
            (None, Some(area)) => {
                let TensorArea { rank, lanes, columns, operand } = area.clone();
                let access = TensorUse::of(a.by, false).name();
                let only_added =
                    self.tensor.ctas.get(&(who.slot, rank)).is_some_and(|shadow| shadow.is_added_to(&area));
                let read = TensorUnwritten { lanes, columns, rank, access, operand, only_added };
                Err(FaultKind::TensorUnwritten(Box::new(read)))
            }
            (None, None) => Ok(()),
        };
        self.record_tensor(a, operation, lanes, who);
        kind
    }

    /// Keeps an access. A write replaces what it covers; a read replaces reads of the same author that it covers.
    fn record_tensor(&mut self, a: &TensorAccess<'_>, operation: Option<u64>, lanes: u32, who: Who) {
        let Some(warp) = self.threads.of(who) else { return };
        let of = if matches!(a.by, TensorBy::Operation { .. }) { lanes } else { who.lanes };
        // reads first: the write of an operation that reads the same covers them
        for (areas, write) in [(a.reads, false), (a.writes, true)] {
            let done = self.tensor.completion(a.by, write, warp, lanes);
            let what = TensorUse::of(a.by, write);
            for area in areas {
                let by_peer = self.tensor.ctas.get(&(who.slot, area.rank ^ 1)).map_or(0, |peer| peer.halves.len());
                let shadow = self.tensor.ctas.entry((who.slot, area.rank)).or_default();
                // accesses may have followed the peer's half
                let with_peer = matches!(a.by, TensorBy::Alloc { with_peer: true });
                let is_second = with_peer && by_peer > shadow.halves.len();
                let author = |r: &Record| (r.warp, r.of, r.what) == (warp.id, of, what);
                let own = operation.is_some();
                let replaces = |r: &Record| r.is_in(area) && (write && (!own || r.operation != operation) || author(r));
                shadow.records.retain(|r| is_second || !replaces(r));
                match a.by {
                    TensorBy::Dealloc => {
                        shadow.written.forget(&area.columns);
                        shadow.overwrite(&(0..LANES), &area.columns);
                        continue;
                    }
                    TensorBy::Alloc { .. } => {}
                    // what an operation adds to remains undefined where it was
                    _ if a.reads.contains(area) && shadow.written.has_any(&area.lanes, &area.columns) => {}
                    _ if write => {
                        shadow.written.mark(&area.lanes, &area.columns);
                        shadow.overwrite(&area.lanes, &area.columns);
                    }
                    _ => {}
                }
                let half = with_peer.then(|| {
                    shadow.halves.push(done);
                    shadow.halves.len() - 1
                });
                let (lanes, columns) = (area.lanes.clone(), area.columns.clone());
                let (site, warp) = (who.site, warp.id);
                shadow.records.push(Record { lanes, columns, what, write, site, warp, of, done, operation, half });
            }
        }
        let TensorMemory { ctas, pipelines, .. } = &mut self.tensor;
        pipelines.prune(|number| ctas.values().flat_map(|cta| &cta.records).any(|r| r.operation == Some(number)));
    }

    #[cold]
    fn tensor_race(
        &mut self,
        r: &Record,
        order: TensorOrder,
        area: &TensorArea,
        access: TensorUse,
        who: Who,
    ) -> FaultKind {
        let (actor, lanes, time) = r.done;
        // its warp has waited, or a commit has been issued, and this thread has not learnt of that
        let complete = match self.threads.warp_of(r.warp) {
            Some(warp) => match order {
                TensorOrder::Wait => warp.has_waited(actor, lanes, time),
                TensorOrder::Commit => warp.has_seen(actor, lanes, time),
                _ => false,
            },
            None => true,
        };
        let missing = if complete { TensorOrder::Synchronisation } else { order };
        let observer = (who.slot, who.rank, who.warp);
        let near = self.misses.last(observer, actor, lanes, time);
        let near_miss = near.filter(|m| missing == TensorOrder::Synchronisation || m.why == TooWeak::OtherCommit);
        let near_miss = near_miss.map(|m| NearMiss { why: m.why, from: m.from, from_at: None, to: m.to, to_at: None });
        let (ctaid, rank, warp) = self.threads.place(r.warp);
        let thread = ThreadId { ctaid, tid: [0; 3], warp, lane: r.of.trailing_zeros() & 31, rank };
        let other = Side { access: r.what.name(), site: r.site, at: None, thread };
        let both = access.name().contains("tcgen05") && r.operation.is_some();
        FaultKind::TensorRace(Box::new(TensorRace {
            lanes: area.lanes.clone(),
            columns: area.columns.clone(),
            rank: area.rank,
            access: access.name(),
            other,
            other_lanes: r.lanes.clone(),
            other_columns: r.columns.clone(),
            missing,
            operations: both,
            near_miss,
        }))
    }
}
