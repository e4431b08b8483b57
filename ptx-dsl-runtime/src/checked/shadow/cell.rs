//! Four bytes: who has written them last and who has read them since.
//!
//! A record is an access by lanes of one warp at one time, to some of the four bytes. A write replaces the records of the bytes that it
//! covers, because all of them have happened before it or are a race. A read replaces the reads that have happened before it.

use crate::checked::clock::{WarpId, cta_of};
use crate::checked::threads::Warp;
use crate::monitor::{Order, Scope};

/// Accesses to some of four bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::checked) struct Record {
    pub warp: WarpId,
    pub time: u32,
    /// 0: no record.
    pub lanes: u32,
    pub site: u32,
    /// Bit i: byte i.
    pub bytes: u8,
    /// Strong accesses have a scope.
    pub strong: Option<Scope>,
    pub what: What,
}

/// What kind of access a record is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::checked) enum What {
    #[default]
    Load,
    Store,
    Atomic,
    /// Of an mbarrier object.
    Init,
    /// Of an mbarrier object.
    Mbarrier,
    /// By an asynchronous operation, which is not checked.
    Agent,
    /// A read by `wgmma`.
    Warpgroup,
}

impl What {
    pub fn name(self) -> &'static str {
        match self {
            What::Load => "load",
            What::Store => "store",
            What::Atomic => "atomic operation",
            What::Init => "`mbarrier.init` or `.inval`",
            What::Mbarrier => "operation on the mbarrier object",
            What::Agent => "asynchronous operation",
            What::Warpgroup => "load by `wgmma`",
        }
    }

    pub fn writes(self) -> bool {
        matches!(self, What::Store | What::Atomic | What::Init | What::Agent)
    }
}

impl Record {
    /// Of lanes, at the time of their warp.
    pub fn new(warp: &mut Warp, lanes: u32, site: u32, what: What, order: Order) -> Record {
        let (time, id) = (warp.event(), warp.id);
        Record { warp: id, time, lanes, site, bytes: 0, strong: order.strong.then_some(order.scope), what }
    }

    /// Do the scopes of two strong accesses include both threads?
    fn is_mutual(&self, other: &Record) -> bool {
        let (Some(a), Some(b)) = (self.strong, other.strong) else { return false };
        includes(a.min(b), self.warp, other.warp) && self.bytes == other.bytes
    }

    /// Has it happened before an access of these lanes of `warp`, which know the same?
    #[inline]
    fn is_before(&self, warp: &Warp, lanes: u32) -> bool {
        // a thread's accesses are in order
        let own = if self.warp == warp.id && lanes.is_power_of_two() { lanes } else { 0 };
        let others = self.lanes & !own;
        others == 0 || self.what == What::Agent || warp.knows(lanes.trailing_zeros() & 31, self.warp, others, self.time)
    }
}

/// Does the scope, of a thread of one warp, include the other warp?
pub(in crate::checked) fn includes(scope: Scope, a: WarpId, b: WarpId) -> bool {
    match scope {
        Scope::Cta => cta_of(a) == cta_of(b),
        Scope::Cluster => a >> 9 == b >> 9,
        Scope::Gpu | Scope::Sys => true,
    }
}

/// So many reads are kept for a place; of more than that some are forgotten, and races with them.
pub(super) const MOST_READS: usize = 32;

/// Four bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cell {
    pub write: Record,
    pub read: Record,
    /// The number of further records plus 1; 0: none.
    more: u32,
}

/// What an access finds.
#[derive(Debug, Default)]
pub(in crate::checked) struct Outcome {
    /// An access that is in a race with it.
    pub race: Option<Record>,
    /// It reads bytes that nobody has written.
    pub unwritten: bool,
}

impl Outcome {
    /// Is nothing wrong?
    pub fn is_fine(&self) -> bool {
        self.race.is_none() && !self.unwritten
    }
}

impl Cell {
    /// Has another record.
    pub fn add(&mut self, more: &mut Vec<Vec<Record>>, r: Record) {
        let place = if r.what.writes() { &mut self.write } else { &mut self.read };
        if place.lanes == 0 {
            *place = r;
        } else {
            self.push(more, r);
        }
    }

    /// Has nobody written some of these bytes?
    #[inline]
    pub fn is_unwritten(&self, more: &[Vec<Record>], bytes: u8) -> bool {
        let missing = |written: u8| written & bytes != bytes;
        let all = |m: u8, r: &Record| if r.what.writes() { m | r.bytes } else { m };
        missing(self.write.bytes) && missing(self.others(more).iter().fold(self.write.bytes, all))
    }

    #[inline]
    pub fn access(
        &mut self,
        more: &mut Vec<Vec<Record>>,
        new: Record,
        same: bool,
        (warp, lanes): (&Warp, u32),
        outcome: &mut Outcome,
    ) {
        let writes = new.what.writes();
        // the thread itself did the same last
        let old = if writes { &mut self.write } else { &mut self.read };
        if self.more == 0 && *old == new && (!writes || self.read.lanes == 0) {
            return;
        }
        let mut check = |r: &Record| {
            // two stores of one value leave it there in any order
            let harmless = same && r.what.writes();
            let conflicts = r.lanes != 0 && r.bytes & new.bytes != 0 && (writes || r.what.writes()) && !harmless;
            if conflicts && outcome.race.is_none() && !r.is_before(warp, lanes) && !r.is_mutual(&new) {
                outcome.race = Some(*r);
            }
        };
        check(&self.write);
        if writes {
            check(&self.read);
        }
        if self.more != 0 {
            self.others(more).iter().for_each(check);
        }
        if outcome.race.is_some() {
            return;
        }
        if writes { self.write(more, new) } else { self.read(more, new, warp) }
    }

    fn others<'m>(&self, more: &'m [Vec<Record>]) -> &'m [Record] {
        self.more.checked_sub(1).and_then(|at| more.get(at as usize)).map_or(&[], Vec::as_slice)
    }

    fn write(&mut self, more: &mut Vec<Vec<Record>>, new: Record) {
        self.read.bytes &= !new.bytes;
        if self.read.bytes == 0 {
            self.read = Record::default();
        }
        if let Some(others) = self.more.checked_sub(1).and_then(|at| more.get_mut(at as usize)) {
            others.iter_mut().for_each(|r| r.bytes &= !new.bytes);
            others.retain(|r| r.bytes != 0);
        }
        self.write.bytes &= !new.bytes;
        if self.write.bytes != 0 {
            let old = self.write;
            self.push(more, old);
        }
        self.write = new;
    }

    fn read(&mut self, more: &mut Vec<Vec<Record>>, new: Record, warp: &Warp) {
        if let Some(others) = self.more.checked_sub(1).and_then(|at| more.get_mut(at as usize)) {
            if let Some(same) = others.iter_mut().find(|r| joins(r, &new)) {
                same.lanes |= new.lanes;
                return;
            }
            others.retain(|r| r.what.writes() || !replaces(&new, r, warp));
        }
        if joins(&self.read, &new) {
            self.read.lanes |= new.lanes;
            return;
        }
        if self.read.lanes != 0 && !replaces(&new, &self.read, warp) {
            let old = self.read;
            self.push(more, old);
        }
        self.read = new;
    }

    fn push(&mut self, more: &mut Vec<Vec<Record>>, record: Record) {
        if self.more == 0 {
            more.push(Vec::new());
            self.more = more.len() as u32;
        }
        if let Some(others) = more.get_mut(self.more as usize - 1)
            && (record.what.writes() || others.len() < MOST_READS)
        {
            others.push(record);
        }
    }
}

/// Are two reads of one instruction?
fn joins(old: &Record, new: &Record) -> bool {
    Record { lanes: new.lanes, ..*old } == *new && old.lanes != 0
}

/// Does a read say all that an older one says?
fn replaces(new: &Record, old: &Record, warp: &Warp) -> bool {
    let own = old.warp == new.warp && old.lanes & !new.lanes == 0;
    // a strong read is in no race with strong writes, but a weak one is
    old.bytes & !new.bytes == 0
        && (old.strong == new.strong)
        && old.what == new.what
        && (own || warp.knows_by_barrier(old.warp, old.time))
}
