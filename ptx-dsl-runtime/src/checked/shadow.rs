//! Shadow memory: for each four bytes, who has written them last and who has read them since.
//!
//! A record is an access by lanes of one warp at one time, to some of the four bytes. A write replaces the records of the bytes that it
//! covers, because all of them have happened before it or are a race. A read replaces the reads that have happened before it.

use super::clock::{WarpId, cta_of};
use super::threads::Warp;
use crate::monitor::{Order, Scope};

/// Accesses to some of four bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Record {
    pub warp: WarpId,
    pub time: u32,
    /// 0: no record.
    pub lanes: u32,
    pub site: u32,
    /// Bit i: byte i.
    bytes: u8,
    /// Strong accesses have a scope.
    strong: Option<Scope>,
    pub what: What,
}

/// What kind of access a record is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum What {
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
        }
    }

    pub fn writes(self) -> bool {
        matches!(self, What::Store | What::Atomic | What::Init | What::Agent)
    }
}

impl Record {
    /// Of a lane, at the time of its warp.
    pub fn new(warp: &mut Warp, lane: u32, site: u32, what: What, order: Order) -> Record {
        let (time, id) = (warp.event(), warp.id);
        Record { warp: id, time, lanes: 1 << lane, site, bytes: 0, strong: order.strong.then_some(order.scope), what }
    }

    /// Do the scopes of two strong accesses include both threads?
    fn is_mutual(&self, other: &Record) -> bool {
        let (Some(a), Some(b)) = (self.strong, other.strong) else { return false };
        includes(a.min(b), self.warp, other.warp) && self.bytes == other.bytes
    }

    /// Has it happened before the access of `lane` of `warp`?
    #[inline]
    fn is_before(&self, warp: &Warp, lane: u32) -> bool {
        if self.warp == warp.id {
            let others = self.lanes & !(1 << lane);
            return others == 0 || warp.known(lane).knows(self.warp, others, self.time);
        }
        self.what == What::Agent || warp.known(lane).knows(self.warp, self.lanes, self.time)
    }
}

/// Does the scope, of a thread of one warp, include the other warp?
pub(super) fn includes(scope: Scope, a: WarpId, b: WarpId) -> bool {
    match scope {
        Scope::Cta => cta_of(a) == cta_of(b),
        Scope::Cluster => a >> 9 == b >> 9,
        Scope::Gpu | Scope::Sys => true,
    }
}

/// Four bytes.
#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    write: Record,
    read: Record,
    /// The number of further records plus 1; 0: none.
    more: u32,
}

/// A memory with a shadow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Memory {
    Shared { slot: u32, rank: u32 },
    Global { segment: usize },
}

impl Memory {
    pub fn name(self) -> &'static str {
        match self {
            Memory::Shared { .. } => "shared",
            Memory::Global { .. } => "global",
        }
    }
}

const PAGE: usize = 1024;

/// The shadow of a memory, made as it is used.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    pages: Vec<Option<Box<[Cell; PAGE]>>>,
    more: Vec<Vec<Record>>,
}

impl Shadow {
    /// An access by `lane` of `warp` to `len` bytes, which reads them or not, or stores what is there already.
    pub fn access(
        &mut self,
        (from, len): (u64, u32),
        (reads, same): (bool, bool),
        record: Record,
        warp: &Warp,
        lane: u32,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        let to = from + u64::from(len);
        for number in from / 4..to.div_ceil(4) {
            let bytes = bytes_of(number, from, to);
            let Some((cell, more)) = self.cell(number) else { continue };
            let new = Record { bytes, ..record };
            if reads {
                outcome.unwritten |= cell.is_unwritten(more, bytes);
            }
            cell.access(more, new, same, warp, lane, &mut outcome);
        }
        outcome
    }

    fn cell(&mut self, number: u64) -> Option<(&mut Cell, &mut Vec<Vec<Record>>)> {
        let page = usize::try_from(number / PAGE as u64).ok()?;
        // larger than any memory of the host
        if page >= 1 << 28 {
            return None;
        }
        if self.pages.len() <= page {
            self.pages.resize_with(page + 1, || None);
        }
        let cells = self.pages[page].get_or_insert_with(|| Box::new([Cell::default(); PAGE]));
        Some((&mut cells[number as usize % PAGE], &mut self.more))
    }

    /// Has nobody written some of these bytes?
    pub fn is_unwritten(&mut self, from: u64, len: u32) -> bool {
        let to = from + u64::from(len);
        (from / 4..to.div_ceil(4)).any(|number| {
            let bytes = bytes_of(number, from, to);
            self.cell(number).is_some_and(|(cell, more)| cell.is_unwritten(more, bytes))
        })
    }

    /// Nobody has accessed anything. Keeps the pages.
    pub fn clear(&mut self) {
        self.more.clear();
        self.pages.iter_mut().flatten().for_each(|page| page.fill(Cell::default()));
    }

    /// Nobody has accessed these bytes, which are whole cells.
    pub fn forget(&mut self, from: u64, len: u64) {
        for number in from / 4..(from + len).div_ceil(4) {
            if let Some((cell, _)) = self.cell(number) {
                *cell = Cell::default();
            }
        }
    }
}

/// The bytes of a cell that are in a range.
fn bytes_of(number: u64, from: u64, to: u64) -> u8 {
    let (low, high) = (from.max(number * 4) - number * 4, to.min(number * 4 + 4) - number * 4);
    ((1u32 << high) - (1u32 << low)) as u8
}

/// What an access finds.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// An access that is in a race with it.
    pub race: Option<Record>,
    /// It reads bytes that nobody has written.
    pub unwritten: bool,
}

impl Cell {
    /// Has nobody written some of these bytes?
    #[inline]
    fn is_unwritten(&self, more: &[Vec<Record>], bytes: u8) -> bool {
        let missing = |written: u8| written & bytes != bytes;
        let all = |m: u8, r: &Record| if r.what.writes() { m | r.bytes } else { m };
        missing(self.write.bytes) && missing(self.others(more).iter().fold(self.write.bytes, all))
    }

    #[inline]
    fn access(
        &mut self,
        more: &mut Vec<Vec<Record>>,
        new: Record,
        same: bool,
        warp: &Warp,
        lane: u32,
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
            if conflicts && outcome.race.is_none() && !r.is_before(warp, lane) && !r.is_mutual(&new) {
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
        if writes { self.write(more, new) } else { self.read(more, new, warp, lane) }
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

    fn read(&mut self, more: &mut Vec<Vec<Record>>, new: Record, warp: &Warp, lane: u32) {
        if let Some(others) = self.more.checked_sub(1).and_then(|at| more.get_mut(at as usize)) {
            if let Some(same) = others.iter_mut().find(|r| joins(r, &new)) {
                same.lanes |= new.lanes;
                return;
            }
            others.retain(|r| r.what.writes() || !replaces(&new, r, warp, lane));
        }
        if joins(&self.read, &new) {
            self.read.lanes |= new.lanes;
            return;
        }
        if self.read.lanes != 0 && !replaces(&new, &self.read, warp, lane) {
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
        if let Some(others) = more.get_mut(self.more as usize - 1) {
            others.push(record);
        }
    }
}

/// Are two reads of one instruction?
fn joins(old: &Record, new: &Record) -> bool {
    Record { lanes: new.lanes, ..*old } == *new && old.lanes != 0
}

/// Does a read say all that an older one says?
fn replaces(new: &Record, old: &Record, warp: &Warp, lane: u32) -> bool {
    // a strong read is in no race with strong writes, but a weak one is
    old.bytes & !new.bytes == 0 && (old.strong == new.strong) && old.what == new.what && old.is_before(warp, lane)
}
