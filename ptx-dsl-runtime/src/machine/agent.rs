//! Asynchronous agents: what an instruction starts and what is done later, at a time the scheduler chooses.
//!
//! Responses of cluster launch control, operations of the tensor cores, and the arrivals of `tcgen05.commit`. Each has a time
//! at which it is due. What has to come after something else is due no earlier than that and stands behind it in the list,
//! so delivering by time, and by place where times are equal, keeps every order the manual promises and no other.

mod clc;
pub(crate) mod order;
mod tensor;

use crate::fault::Fault;
use crate::machine::Ctx;
use crate::monitor::Monitor;
use crate::schedule::Choice;

/// Regions the machine runs at most before something asynchronous is done.
const LATEST: u64 = 1024;

/// Something under way.
#[derive(Debug)]
pub(crate) struct Agent {
    slot: usize,
    due: u64,
    work: Work,
    /// who asked
    site: u32,
    cta: u32,
    warp: u32,
    lane: u32,
}

#[derive(Debug)]
enum Work {
    Response(clc::Response),
    Operation(tensor::Operation),
    Commit(tensor::Commit),
}

/// All that is under way, in the order of issue.
#[derive(Debug, Default)]
pub(crate) struct Agents {
    list: Vec<Agent>,
    /// When the next one is due.
    next: u64,
    fences: tensor::Fences,
}

impl Agents {
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Is something of this cluster under way?
    pub(crate) fn any(&self, slot: usize) -> bool {
        self.list.iter().any(|a| a.slot == slot)
    }

    fn first(&self, wanted: impl Fn(&Agent) -> bool) -> Option<usize> {
        let wanted = self.list.iter().enumerate().filter(|(_, a)| wanted(a));
        wanted.min_by_key(|(_, a)| a.due).map(|(i, _)| i)
    }
}

impl<M: Monitor> Ctx<'_, M> {
    /// Puts something under way for a thread of the current warp, done not before `after`.
    fn send(&mut self, lane: u32, after: u64, work: Work) {
        let due = after.max(self.turns + (LATEST >> (2 * self.choose(Choice::Delay, 6))));
        let (slot, site, cta, warp) = (self.slot, self.site, self.cur.cta, self.warp);
        self.agents.next = if self.agents.is_empty() { due } else { self.agents.next.min(due) };
        self.agents.list.push(Agent { slot, due, work, site, cta, warp, lane });
        self.progress += 1;
        self.leave = true;
    }

    /// What is due by now.
    pub(crate) fn deliver_due(&mut self) -> Result<(), Box<Fault>> {
        let now = self.turns;
        while self.agents.next <= now
            && let Some(i) = self.agents.first(|_| true)
        {
            self.deliver(i)?;
        }
        Ok(())
    }

    /// The next thing of this cluster, whatever its time: nobody of the cluster can run before.
    pub(crate) fn deliver_to(&mut self, slot: usize) -> Result<(), Box<Fault>> {
        self.agents.first(|a| a.slot == slot).map_or(Ok(()), |i| self.deliver(i))
    }

    fn deliver(&mut self, i: usize) -> Result<(), Box<Fault>> {
        let a = self.agents.list.remove(i);
        self.agents.next = self.agents.list.iter().map(|a| a.due).min().unwrap_or(u64::MAX);
        self.speak_for(&a);
        let done = match &a.work {
            Work::Response(r) => self.respond(r, a.lane),
            Work::Operation(o) => self.operate(o, a.cta, a.lane),
            Work::Commit(c) => self.arrive(c, a.lane),
        };
        done.map_err(|kind| self.fault(kind, a.lane))?;
        self.progress += 1;
        Ok(())
    }

    /// Reports are about the statement and thread that asked for it.
    fn speak_for(&mut self, a: &Agent) {
        (self.slot, self.site, self.warp, self.cur.cta) = (a.slot, a.site, a.warp, a.cta);
    }

    /// A CTA must not end while something is under way for it.
    pub(crate) fn abandoned(&mut self, rank: u32) -> Option<Box<Fault>> {
        let slot = self.slot;
        let i = self.agents.first(|a| {
            a.slot == slot
                && match &a.work {
                    Work::Response(_) => false,
                    Work::Operation(o) => o.works_on(a.cta, rank),
                    Work::Commit(c) => c.to.0 == rank,
                }
        })?;
        let a = self.agents.list.remove(i);
        self.speak_for(&a);
        let kind = match &a.work {
            Work::Response(r) => r.forgotten(),
            Work::Operation(_) => tensor::left(rank, a.cta),
            Work::Commit(_) => tensor::left_commit(rank),
        };
        Some(self.fault(kind, a.lane))
    }

    /// A cluster must not end while something is under way for it.
    pub(crate) fn forgotten(&mut self, slot: usize) -> Option<Box<Fault>> {
        let i = self.agents.first(|a| a.slot == slot)?;
        let a = self.agents.list.remove(i);
        self.speak_for(&a);
        let kind = match &a.work {
            Work::Response(r) => r.forgotten(),
            Work::Operation(_) => tensor::left(a.cta, a.cta),
            Work::Commit(c) => tensor::left_commit(c.to.0),
        };
        Some(self.fault(kind, a.lane))
    }
}
