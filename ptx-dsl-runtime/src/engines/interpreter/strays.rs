//! Shuffles of undefined values, and from lanes outside of the member mask, for the checked host.

use super::op::Op;
use super::parts::ValueTracker;
use super::suspects::Carry;
use super::undefined::Lost;
use crate::fault::FaultKind;
use crate::machine::origins::{Root, Stray};
use crate::semantics::Done;
use crate::semantics::warp::{mode, source, stray};
use std::rc::Rc;

impl Stray {
    /// The report of a use of the value.
    pub fn fault(self) -> FaultKind {
        let Stray { lane, from, mask } = self;
        FaultKind::ShuffleSource { lane, from, mask }
    }
}

impl ValueTracker<'_, '_, '_> {
    /// The lanes in which a shuffle by these lanes of warp `k`, the current one, gives undefined values. `None` also for any other
    /// instruction.
    #[inline]
    pub fn shuffled(&self, op: &Op, k: usize, lanes: u32) -> Lost {
        op.watched.as_ref().filter(|watched| watched.carry == Carry::Shuffled)?;
        self.find_shuffled(op, k, lanes)
    }

    #[cold]
    fn find_shuffled(&self, op: &Op, k: usize, lanes: u32) -> Lost {
        let [a, b, c, members @ ..] = &op.sources[..] else { return None };
        let members = members.first().map(|members| self.runner.operand(members, k));
        let named = |l: usize| members.map_or(u32::MAX, |members| members[l] as u32);
        let value = self.lost_operand(a, k);
        let in_lanes = || (0..32).filter(|l| lanes >> l & 1 != 0);
        if value.is_none() && in_lanes().all(|l| named(l) == u32::MAX) {
            return None;
        }
        let (b, c) = (self.runner.operand(b, k), self.runner.operand(c, k));
        let (mut from, mut reads) = ([0; 32], [None; 32]);
        for l in in_lanes() {
            let (mode, lane, b, c, mask) = (mode(op.q), l as u32, b[l] as u32, c[l] as u32, named(l));
            from[l] = source(mode, lane, b, c).0;
            reads[l] = stray(mode, lane, b, c, mask).map(|from| Stray { lane, from, mask });
        }
        let strays = in_lanes().filter(|l| reads[*l].is_some()).fold(0, |m, l| m | 1 << l);
        // lanes at another statement have other registers
        let lost = value.as_ref().map_or(0, |(lost, _)| lost & lanes);
        let moved = in_lanes().filter(|l| strays >> l & 1 == 0 && lost >> from[*l] & 1 != 0).fold(0, |m, l| m | 1 << l);
        match value {
            _ if strays != 0 => Some((strays | moved, Root::Shuffle { site: op.site, reads: Rc::new(reads) })),
            Some((_, root)) if moved != 0 => Some((moved, root.moved(&from))),
            _ => None,
        }
    }

    /// Handles a shuffle that has run in these lanes of warp `k`, the current one, and whose value is undefined in some of them.
    pub fn has_shuffled(&mut self, op: &Op, k: usize, lanes: u32, lost: Lost) -> Done {
        if op.watched.as_ref().is_none_or(|watched| watched.carry != Carry::Shuffled) {
            return Ok(());
        }
        let strict = lost.as_ref().filter(|_| self.runner.x.geometry.strict_shuffles);
        if let Some((_, Root::Shuffle { reads, .. })) = strict
            && let Some(read) = reads.iter().flatten().next().copied()
        {
            self.runner.x.at(op.site, op.order);
            self.runner.x.found(read.fault(), read.lane).map_err(|kind| self.runner.x.fault(kind, read.lane))?;
            self.runner.describe_news(op);
        }
        let [value, in_range] = [0, 1].map(|i| op.results.get(i).copied().flatten());
        if let Some(undefined) = &mut self.runner.registers.undefined {
            value.into_iter().for_each(|r| undefined.set(r, self.runner.lo + k, lanes, lost.clone()));
            in_range.into_iter().for_each(|r| undefined.set(r, self.runner.lo + k, lanes, None));
        }
        Ok(())
    }
}
