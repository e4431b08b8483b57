//! Tensor Memory of the current warp: issue checks, allocation, and what is left at exit.

use crate::fault::{Fault, FaultKind};
use crate::kernel::flow::Wait;
use crate::machine::cluster::Cluster;
use crate::machine::ctx::Ctx;
use crate::machine::ctx::parts::TensorUnit;
use crate::machine::describe::lanes;
use crate::machine::findings::UndefinedAccess;
use crate::machine::schedule::Choice;
use crate::machine::steps::{self, effect::Action};
use crate::memory::tmem::{LANES, Tmem};
use crate::observe::monitor::{TensorAccess, TensorArea, TensorBy, Who};
use crate::observe::probe::TensorWord;
use crate::sync::collector::Collectors;
use crate::sync::tensor_memory::{Allocator, Leftover, Origin, WaitsFor};
use std::ops::Range;

/// Marks the result of a wait for the allocator, as opposed to that of the preceding warp rendezvous.
const DONE: u64 = 1 << 63;

/// The index of a CTA's allocator in `Cluster::allocators`, and the CTA's side of it.
const fn allocator(rank: u32, pair: bool) -> (usize, usize) {
    if pair { (rank as usize / 2, rank as usize % 2) } else { (rank as usize, 0) }
}

impl Ctx<'_> {
    /// The executing CTA's Tensor Memory.
    #[inline(always)]
    pub fn tmem(&self) -> &Tmem {
        &self.cta().tmem
    }

    /// The executing CTA's Tensor Memory, to write.
    #[inline(always)]
    pub fn tmem_mut(&mut self) -> &mut Tmem {
        self.here().tensor_dirty = true;
        &mut self.cta_mut().tmem
    }
}

impl<'c> TensorUnit<'c, '_> {
    /// The collector buffers of the executing CTA, or of its pair.
    pub(crate) fn collectors(self, pair: bool) -> &'c mut Collectors {
        let rank = if pair { self.ctx.rank() & !1 } else { self.ctx.rank() };
        let here = self.ctx.here();
        here.tensor_dirty = true;
        &mut here.ctas[rank as usize].collectors
    }

    /// Tells the monitor of an access of lanes of the current warp to Tensor Memory.
    pub(crate) fn report_access(
        &mut self,
        by: TensorBy,
        reads: &[TensorArea],
        writes: &[TensorArea],
        lanes: u32,
    ) -> Result<(), FaultKind> {
        let access = TensorAccess { by, reads, writes, fences: self.ctx.geometry.tensor.fences };
        let who = self.ctx.who(lanes);
        let Some(monitor) = self.ctx.monitor.get() else { return Ok(()) };
        let done = monitor.tensor(&access, who);
        done.or_else(|kind| self.ctx.found(kind, lanes.trailing_zeros().min(31)))
    }

    /// `tcgen05.ld`, or `.st` if `write`, of these lanes and columns by the current warp.
    pub fn access(
        &mut self,
        lanes: Range<usize>,
        columns: Range<usize>,
        write: bool,
        lane: u32,
    ) -> Result<(), Box<Fault>> {
        if !self.ctx.monitor.is_on() {
            return Ok(());
        }
        let area = [TensorArea { rank: self.ctx.cur.cta, lanes, columns, operand: "" }];
        let (reads, writes): (&[_], &[_]) = if write { (&[], &area) } else { (&area, &[]) };
        self.report_access(TensorBy::Warp, reads, writes, self.ctx.mask).map_err(|kind| self.ctx.fault(kind, lane))
    }

    /// The current warp has loaded registers. `word`: lane and column of Tensor Memory of a lane of a register. What nothing has written is
    /// undefined.
    pub fn loaded(&mut self, registers: usize, word: impl Fn(usize, usize) -> (usize, usize)) {
        let (mask, rank) = (self.ctx.mask, self.ctx.cur.cta);
        let who = self.ctx.who(mask);
        let Some(monitor) = self.ctx.monitor.get() else { return };
        for result in 0..registers {
            let lanes = (0..32).filter(|l| mask >> l & 1 != 0);
            let mut stored: Option<(u32, u32)> = None;
            let mut unwritten = lanes.filter_map(|l| {
                let (lane, column) = word(result, l);
                match monitor.tensor_word(who, rank, lane, column) {
                    TensorWord::Written => None,
                    TensorWord::Undefined { origin } => {
                        let lanes = stored.map_or(0, |(lanes, _)| lanes) | 1 << l;
                        stored = Some((lanes, stored.map_or(origin, |(_, origin)| origin)));
                        None
                    }
                    holds @ (TensorWord::Unwritten | TensorWord::OnlyAdded) => Some((l, holds)),
                }
            });
            if let Some((first, holds)) = unwritten.next() {
                let (lane, column) = word(result, first);
                let who = Who { lanes: unwritten.fold(1 << first, |all, (l, _)| all | 1 << l), ..who };
                let only_added = holds == TensorWord::OnlyAdded;
                self.ctx.findings.undefined.push(UndefinedAccess::Tensor {
                    result,
                    who,
                    rank,
                    lane,
                    column,
                    only_added,
                });
            }
            if let Some((lanes, origin)) = stored {
                self.ctx.findings.undefined.push(UndefinedAccess::Word { result, who: Who { lanes, ..who }, origin });
            }
        }
    }

    /// The current warp has stored registers. `words`: the words of Tensor Memory that a lane of a register gives values. Those that are
    /// undefined are so there.
    #[cold]
    pub fn stored<const N: usize>(&mut self, words: impl Fn(usize, usize) -> [(usize, usize); N]) {
        let (who, rank) = (self.ctx.who(self.ctx.mask), self.ctx.cur.cta);
        let warp = self.ctx.warp;
        let own = |given: &mut UndefinedAccess| matches!(given, UndefinedAccess::Given { warp: of, .. } if *of == warp);
        let given: Vec<UndefinedAccess> = self.ctx.findings.undefined.extract_if(.., own).collect();
        for given in given {
            let UndefinedAccess::Given { source, lanes, origin, .. } = given else { continue };
            let Some(monitor) = self.ctx.monitor.get() else { return };
            for l in (0..32).filter(|l| lanes >> l & 1 != 0) {
                for (lane, column) in words(source, l) {
                    monitor.undefined_words(who, rank, lane, column..column + 1, origin);
                }
            }
        }
    }

    /// The current warp has got columns of its CTA, or gives them back.
    pub fn columns(&mut self, columns: Range<usize>, by: TensorBy, lane: u32) -> Result<(), Box<Fault>> {
        if !self.ctx.monitor.is_on() {
            return Ok(());
        }
        let area = [TensorArea { rank: self.ctx.cur.cta, lanes: 0..LANES, columns, operand: "" }];
        self.report_access(by, &[], &area, self.ctx.mask).map_err(|kind| self.ctx.fault(kind, lane))
    }

    /// An instruction with `.cta_group::2` (`pair`) or `::1`: a kernel uses one of them throughout (PTX ISA 9.7.16.7.1).
    pub fn cta_group(&mut self, pair: bool, lane: u32) -> Result<(), Box<Fault>> {
        if *self.ctx.async_ops.pairs.get_or_insert(pair) == pair {
            return Ok(());
        }
        let (one, other) = if pair { (2, 1) } else { (1, 2) };
        let what = format!(
            "`.cta_group::{one}` in a kernel that has used `.cta_group::{other}`: all of them must be the same"
        );
        Err(self.ctx.fault(FaultKind::TensorMemory { what, help: "" }, lane))
    }

    /// The rank of the peer CTA, which must be there (PTX ISA 9.7.16.5.2).
    pub fn peer(&self, lane: u32) -> Result<u32, Box<Fault>> {
        let peer = self.ctx.rank() ^ 1;
        let (what, help) = match self.ctx.residents.here().ctas.get(peer as usize) {
            Some(cta) if !cta.exited => return Ok(peer),
            Some(_) => (
                format!("the peer CTA, rank {peer}, has exited"),
                "keep both CTAs alive until they are done: `barrier.cluster.arrive` and `.wait` at the end",
            ),
            None => (
                format!("`.cta_group::2` in a CTA without a peer: the cluster has no rank {peer}"),
                "launch clusters of an even number of CTAs",
            ),
        };
        Err(self.ctx.fault(FaultKind::IssueGranularity { what, help }, lane))
    }

    /// The wait for the live lanes of the warp that are not active here; `None` if all are. A lane that has exited is a fault.
    pub fn whole_warp(&mut self, opcode: &str) -> Result<Option<Wait>, Box<Fault>> {
        let live = self.ctx.live_mask();
        if live & !self.ctx.mask != 0 {
            return Ok(Some(Wait::WholeWarp { pc: self.ctx.cur.pc }));
        }
        let started = self.ctx.geometry.threads - (self.ctx.warp * 32).min(self.ctx.geometry.threads);
        let born = if started >= 32 { u32::MAX } else { (1 << started) - 1 };
        if born & !live == 0 {
            return Ok(None);
        }
        let have = if (born & !live).count_ones() == 1 { "has" } else { "have" };
        let gone = lanes(born & !live);
        let what = format!("`{opcode}` needs the whole warp, and of this one {gone} {have} exited");
        let help = "execute it while all lanes of the warp live";
        Err(self.ctx.fault(FaultKind::IssueGranularity { what, help }, self.ctx.mask.trailing_zeros().min(31)))
    }

    fn origin(&self, lane: u32) -> Origin {
        Origin { site: self.ctx.site, warp: self.ctx.warp, lane }
    }

    fn wrong(&self, what: String, lane: u32) -> Box<Fault> {
        self.ctx.fault(FaultKind::TensorMemory { what, help: "" }, lane)
    }

    /// Issues an operation of the allocator and applies the result to Tensor Memory: its ticket, and whether it is done.
    fn allocation(
        &mut self,
        pair: bool,
        lane: u32,
        op: impl FnOnce(&mut Allocator, usize, Origin) -> Result<u32, String>,
    ) -> Result<(u32, bool), Box<Fault>> {
        self.cta_group(pair, lane)?;
        let (origin, rank) = (self.origin(lane), self.ctx.rank());
        self.ctx.report().step_does(|slot| steps::allocator(slot, rank, pair), Action::Write);
        let (place, side) = allocator(rank, pair);
        if pair && rank ^ 1 >= self.ctx.ids().cluster_size() {
            self.peer(lane)?;
        }
        let here = self.ctx.here();
        here.tensor_dirty = true;
        let Some(a) = here.allocators.get_mut(place) else {
            return Err(self.ctx.fault(FaultKind::Internal(format!("no allocator for CTA rank {rank}")), lane));
        };
        let issued = op(a, side, origin);
        let half = issued.as_ref().is_ok_and(|&t| matches!(a.waits(t), Some(WaitsFor::Peer(_))));
        let done = issued.as_ref().is_ok_and(|&t| a.done(t));
        let held = [a.held(0), a.held(1)];
        let first = if pair { place * 2 } else { place };
        for (cta, held) in here.ctas.iter_mut().skip(first).take(1 + pair as usize).zip(held) {
            cta.tmem.hold(held);
        }
        let ticket = issued.map_err(|what| self.wrong(what, lane))?;
        if half {
            // the peer must still be there to take part
            self.peer(lane)?;
        }
        self.ctx.notify_waiters();
        Ok((ticket, done))
    }

    /// `tcgen05.alloc`: what to wait for. [`TensorUnit::allocated`] has the result.
    pub fn alloc(&mut self, pair: bool, columns: u32, exclusive: bool, lane: u32) -> Result<Wait, Box<Fault>> {
        let (ticket, _) = self.allocation(pair, lane, |a, side, o| a.alloc(side, pair, columns, exclusive, o))?;
        Ok(Wait::TensorMemory { pair, ticket })
    }

    /// `tcgen05.dealloc`. With `.cta_group::2` the first of the two CTAs may wait for the other: the manual leaves that open, the
    /// scheduler decides.
    pub fn dealloc(
        &mut self,
        pair: bool,
        column: u32,
        columns: u32,
        exclusive: bool,
        lane: u32,
    ) -> Result<Option<Wait>, Box<Fault>> {
        let issued = self.allocation(pair, lane, |a, side, o| a.dealloc(side, pair, column, columns, exclusive, o))?;
        Ok(self.may_block(pair, issued))
    }

    /// `tcgen05.relinquish_alloc_permit`, which may wait as [`TensorUnit::dealloc`] may.
    pub fn relinquish(&mut self, pair: bool, lane: u32) -> Result<Option<Wait>, Box<Fault>> {
        let issued = self.allocation(pair, lane, |a, side, o| Ok(a.relinquish(side, pair, o)))?;
        Ok(self.may_block(pair, issued))
    }

    fn may_block(&mut self, pair: bool, (ticket, done): (u32, bool)) -> Option<Wait> {
        (!done && self.ctx.scheduling.choose(Choice::Block, 2) != 0).then_some(Wait::TensorMemory { pair, ticket })
    }

    /// The first column of `tcgen05.alloc`, when resumed after a wait for the allocator; unspecified for other operations. `None`
    /// if the wait was for the lanes of the warp.
    pub fn allocated(&self) -> Option<u32> {
        (self.ctx.resumed() && self.ctx.cur.result & DONE != 0).then_some(self.ctx.cur.result as u32)
    }

    /// A CTA has exited: it must have deallocated all it allocated, and taken part in what its peer began.
    pub(crate) fn check_at_exit(&mut self, rank: u32) -> Result<(), Box<Fault>> {
        let Some(pair) = self.ctx.async_ops.pairs else { return Ok(()) };
        let (place, side) = allocator(rank, pair);
        let Some((left, origin)) = self.ctx.here().allocators.get(place).and_then(|a| a.exit(side)) else {
            return Ok(());
        };
        (self.ctx.site, self.ctx.warp) = (origin.site, origin.warp);
        let kind = match left {
            Leftover::Allocation(column, columns) => FaultKind::TensorMemory {
                what: format!(
                    "CTA rank {rank} exits without deallocating the {columns} columns it has allocated at column {column}"
                ),
                help: "`tcgen05.dealloc` all of them before the CTA ends",
            },
            Leftover::Unpaired(opcode) => {
                self.ctx.cur.cta = rank ^ 1;
                let what = format!("CTA rank {rank} exits without the `{opcode}` that its peer has executed");
                FaultKind::IssueGranularity { what, help: "execute it in both CTAs of the pair" }
            }
        };
        Err(self.ctx.fault(kind, origin.lane))
    }
}

impl Cluster {
    /// Result of a wait for the allocator, if it is over.
    pub(crate) fn tensor_memory_over(&self, rank: u32, pair: bool, ticket: u32) -> Option<u64> {
        let a = self.allocators.get(allocator(rank, pair).0)?;
        a.done(ticket).then(|| DONE | a.column(ticket).unwrap_or(0) as u64)
    }

    /// The event that a wait for the allocator waits for.
    pub(crate) fn tensor_memory_waits(&self, rank: u32, pair: bool, ticket: u32) -> Option<WaitsFor> {
        self.allocators.get(allocator(rank, pair).0)?.waits(ticket)
    }
}
