//! The allocator of Tensor Memory (PTX ISA 9.7.16.7): of one CTA, or of both CTAs of a pair with `.cta_group::2`.
//!
//! Each operation has a ticket. One of a pair begins when a CTA issues it and takes effect when the peer has issued it too. An
//! allocation takes effect when there is room, first come, first served; columns are allocated first-fit.

use crate::memory::tmem::{COLUMNS, UNIT};

/// The issuer of an operation, for reports.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Origin {
    /// PTX statement.
    pub site: u32,
    /// Warp in the CTA.
    pub warp: u32,
    /// Lane.
    pub lane: u32,
}

/// A request to the allocator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AllocatorOp {
    Alloc {
        columns: u32,
        exclusive: bool,
    },
    /// The allocation with this ticket.
    Dealloc {
        allocation: u32,
    },
    Relinquish,
}

impl AllocatorOp {
    const fn name(self) -> &'static str {
        match self {
            AllocatorOp::Alloc { .. } => "tcgen05.alloc",
            AllocatorOp::Dealloc { .. } => "tcgen05.dealloc",
            AllocatorOp::Relinquish => "tcgen05.relinquish_alloc_permit",
        }
    }
}

/// An operation that one CTA of a pair has issued and its peer has not.
#[derive(Debug, Clone)]
struct Unpaired {
    ticket: u32,
    side: usize,
    op: AllocatorOp,
    origin: Origin,
}

/// An allocation, in effect or waiting for room.
#[derive(Debug, Clone)]
struct Allocation {
    ticket: u32,
    column: u32,
    columns: u32,
    exclusive: bool,
    /// the CTAs that have not deallocated it
    held: [bool; 2],
    origin: [Origin; 2],
}

/// The event that a pending operation waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitsFor {
    /// The peer CTA to execute this instruction.
    Peer(&'static str),
    /// Room: columns wanted, and columns allocated.
    Room(u32, u32),
}

/// An unfinished use of Tensor Memory by a CTA that exits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leftover {
    /// An allocation: first column, columns.
    Allocation(u32, u32),
    /// An instruction of the peer that the exiting CTA never joined.
    Unpaired(&'static str),
}

/// The allocator. `side` is the CTA: 0, or its index in the pair.
#[derive(Debug, Clone, Default)]
pub struct Allocator {
    next: u32,
    live: Vec<Allocation>,
    /// Tickets of allocations that wait for room.
    queue: Vec<Allocation>,
    unpaired: Vec<Unpaired>,
    /// Columns of the latest allocation asked for.
    latest: [Option<u32>; 2],
    relinquished: [bool; 2],
}

const MOST: u32 = COLUMNS as u32;
const LEAST: u32 = UNIT as u32;

impl Allocator {
    /// `tcgen05.alloc` of `columns` columns. Returns the ticket.
    pub fn alloc(
        &mut self,
        side: usize,
        pair: bool,
        columns: u32,
        exclusive: bool,
        origin: Origin,
    ) -> Result<u32, String> {
        if exclusive {
            if !(LEAST..=MOST).contains(&columns) || !columns.is_multiple_of(LEAST) {
                return Err(format!(
                    "`.exclusive` allocation of {columns} columns: {LEAST} to {MOST} in units of {LEAST}"
                ));
            }
        } else if !(LEAST..=MOST).contains(&columns) || !columns.is_power_of_two() {
            return Err(format!("allocation of {columns} columns: a power of two from {LEAST} to {MOST}"));
        }
        if self.relinquished[side] {
            return Err("allocation after `tcgen05.relinquish_alloc_permit`".into());
        }
        if pair && self.relinquished[1 - side] {
            return Err("allocation after the peer CTA's `tcgen05.relinquish_alloc_permit`".into());
        }
        if let Some(before) = self.latest[side].filter(|&before| before < columns) {
            return Err(format!("allocation of {columns} columns after one of {before}: sizes must not grow"));
        }
        self.latest[side] = Some(columns);
        let mut request = Allocation {
            ticket: self.next,
            column: 0,
            columns,
            exclusive,
            held: [pair || side == 0, pair || side == 1],
            origin: [origin; 2],
        };
        if pair {
            let first = self.unpaired.iter().position(|h| h.side != side && matches!(h.op, AllocatorOp::Alloc { .. }));
            let Some(first) = first else {
                return Ok(self.half(side, AllocatorOp::Alloc { columns, exclusive }, origin));
            };
            let half = self.unpaired.remove(first);
            if half.op != (AllocatorOp::Alloc { columns, exclusive }) {
                let AllocatorOp::Alloc { columns: other, .. } = half.op else { return Err("not an allocation".into()) };
                return Err(if other == columns {
                    "the CTAs of a pair differ in `.exclusive` for one allocation".into()
                } else {
                    format!("the CTAs of a pair ask for one allocation of {other} and of {columns} columns")
                });
            }
            request.ticket = half.ticket;
            request.origin[half.side] = half.origin;
        } else {
            self.next += 1;
        }
        let ticket = request.ticket;
        self.queue.push(request);
        self.grant();
        Ok(ticket)
    }

    /// `tcgen05.dealloc` of the allocation that starts at `column`. Returns the ticket.
    pub fn dealloc(
        &mut self,
        side: usize,
        pair: bool,
        column: u32,
        columns: u32,
        exclusive: bool,
        origin: Origin,
    ) -> Result<u32, String> {
        let mine = self.live.iter().position(|a| a.column == column && a.held[side]);
        let Some(i) = mine else {
            return Err(format!("deallocation at column {column}, where no allocation starts"));
        };
        let a = &mut self.live[i];
        if a.columns != columns {
            return Err(format!(
                "deallocation of {columns} columns, but {} were allocated at column {column}",
                a.columns
            ));
        }
        if a.exclusive != exclusive {
            let (one, other) = if exclusive { ("with", "without") } else { ("without", "with") };
            return Err(format!("deallocation {one} `.exclusive` of an allocation {other} it"));
        }
        a.held[side] = false;
        let (allocation, free) = (a.ticket, !a.held[1 - side]);
        if free {
            self.live.remove(i);
            self.grant();
        }
        Ok(self.meet(side, pair, AllocatorOp::Dealloc { allocation }, origin))
    }

    /// `tcgen05.relinquish_alloc_permit`: the CTA allocates no more. Returns the ticket.
    pub fn relinquish(&mut self, side: usize, pair: bool, origin: Origin) -> u32 {
        self.relinquished[side] = true;
        self.meet(side, pair, AllocatorOp::Relinquish, origin)
    }

    /// Joins the matching operation of the peer, or waits as the first of the two.
    fn meet(&mut self, side: usize, pair: bool, op: AllocatorOp, origin: Origin) -> u32 {
        if !pair {
            self.next += 1;
            return self.next - 1;
        }
        match self.unpaired.iter().position(|h| h.side != side && h.op == op) {
            Some(i) => self.unpaired.remove(i).ticket,
            None => self.half(side, op, origin),
        }
    }

    fn half(&mut self, side: usize, op: AllocatorOp, origin: Origin) -> u32 {
        let ticket = self.next;
        self.next += 1;
        self.unpaired.push(Unpaired { ticket, side, op, origin });
        ticket
    }

    /// Allocates for the waiting requests, in order.
    fn grant(&mut self) {
        while let Some(column) = self.queue.first().and_then(|a| self.room(a)) {
            let a = self.queue.remove(0);
            self.live.push(Allocation { column, ..a });
        }
    }

    /// First-fit: the lowest free columns that are enough. An exclusive allocation needs all columns free.
    fn room(&self, wanted: &Allocation) -> Option<u32> {
        if !self.live.is_empty() && (wanted.exclusive || self.live.iter().any(|a| a.exclusive)) {
            return None;
        }
        let free = |c: u32| self.live.iter().all(|a| c + wanted.columns <= a.column || a.column + a.columns <= c);
        (0..=MOST - wanted.columns).step_by(UNIT).find(|&c| free(c))
    }

    /// Whether this operation has taken effect.
    pub fn done(&self, ticket: u32) -> bool {
        self.waits(ticket).is_none()
    }

    /// The event that the operation waits for, if it is pending.
    pub fn waits(&self, ticket: u32) -> Option<WaitsFor> {
        if let Some(half) = self.unpaired.iter().find(|h| h.ticket == ticket) {
            return Some(WaitsFor::Peer(half.op.name()));
        }
        let wanted = self.queue.iter().find(|a| a.ticket == ticket)?;
        Some(WaitsFor::Room(wanted.columns, self.live.iter().map(|a| a.columns).sum()))
    }

    /// The first column of the allocation with this ticket.
    pub fn column(&self, ticket: u32) -> Option<u32> {
        self.live.iter().find(|a| a.ticket == ticket).map(|a| a.column)
    }

    /// The columns that a CTA has allocated and not deallocated, a bit for each unit.
    pub fn held(&self, side: usize) -> u16 {
        let held = self.live.iter().filter(|a| a.held[side]);
        held.fold(0, |all, a| all | units(a.column, a.columns))
    }

    /// The unfinished use of Tensor Memory by a CTA that has exited, and its issuer.
    pub fn exit(&self, side: usize) -> Option<(Leftover, Origin)> {
        if let Some(a) = self.live.iter().find(|a| a.held[side]) {
            return Some((Leftover::Allocation(a.column, a.columns), a.origin[side]));
        }
        let half = self.unpaired.iter().find(|h| h.side != side)?;
        Some((Leftover::Unpaired(half.op.name()), half.origin))
    }
}

/// Columns as bits, one per unit.
fn units(column: u32, columns: u32) -> u16 {
    let bits = (1u32 << (columns / LEAST)) - 1;
    (bits << (column / LEAST)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    const O: Origin = Origin { site: 7, warp: 0, lane: 0 };

    fn one(a: &mut Allocator, columns: u32) -> u32 {
        a.alloc(0, false, columns, false, O).unwrap()
    }

    fn free(a: &mut Allocator, column: u32, columns: u32) -> Result<u32, String> {
        a.dealloc(0, false, column, columns, false, O)
    }

    #[test]
    fn first_fit_in_units() {
        let mut a = Allocator::default();
        let tickets = [256, 128, 64, 32].map(|n| one(&mut a, n));
        assert_eq!(tickets.map(|t| a.column(t)), [Some(0), Some(256), Some(384), Some(448)]);
        assert_eq!(a.held(0), 0x7fff);
        free(&mut a, 256, 128).unwrap();
        let t = one(&mut a, 32);
        assert_eq!(a.column(t), Some(256));
        assert_eq!(a.held(0), 0b0111_0001_1111_1111);
        assert_eq!(a.held(1), 0);
    }

    #[test]
    fn sizes() {
        for n in [0, 1, 16, 31, 33, 48, 96, 384, 513, 1024, u32::MAX] {
            assert!(Allocator::default().alloc(0, false, n, false, O).is_err(), "{n}");
        }
        for n in [32, 64, 128, 256, 512] {
            assert!(Allocator::default().alloc(0, false, n, false, O).is_ok(), "{n}");
        }
        for (n, fits) in [(0, false), (32, true), (96, true), (480, true), (512, true), (544, false), (40, false)] {
            assert_eq!(Allocator::default().alloc(0, false, n, true, O).is_ok(), fits, "{n}");
        }
        let mut a = Allocator::default();
        one(&mut a, 64);
        one(&mut a, 64);
        assert!(a.alloc(0, false, 128, false, O).unwrap_err().contains("grow"));
    }

    #[test]
    fn full_memory_makes_wait_in_order() {
        let mut a = Allocator::default();
        one(&mut a, 512);
        let (x, y) = (one(&mut a, 256), one(&mut a, 32));
        assert_eq!(a.waits(x), Some(WaitsFor::Room(256, 512)));
        assert!(!a.done(y));
        free(&mut a, 0, 512).unwrap();
        assert!(a.done(x) && a.done(y));
        assert_eq!((a.column(x), a.column(y)), (Some(0), Some(256)));
        // the next one takes the place of nobody
        let mut a = Allocator::default();
        one(&mut a, 256);
        one(&mut a, 128);
        one(&mut a, 64);
        let (x, y) = (one(&mut a, 64), one(&mut a, 64));
        assert!(a.done(x) && !a.done(y));
    }

    #[test]
    fn exclusive_allocations_are_alone() {
        let mut a = Allocator::default();
        let x = a.alloc(0, false, 96, true, O).unwrap();
        assert_eq!(a.column(x), Some(0));
        let y = a.alloc(0, false, 32, false, O).unwrap();
        assert!(!a.done(y));
        assert!(free(&mut a, 0, 96).unwrap_err().contains("`.exclusive`"));
        a.dealloc(0, false, 0, 96, true, O).unwrap();
        assert!(a.done(y));
        let z = a.alloc(0, false, 32, true, O).unwrap();
        assert!(!a.done(z), "not alone yet");
        free(&mut a, 0, 32).unwrap();
        assert!(a.done(z));
    }

    #[test]
    fn deallocation_matches() {
        let mut a = Allocator::default();
        one(&mut a, 128);
        one(&mut a, 64);
        assert!(free(&mut a, 32, 64).is_err());
        assert!(free(&mut a, 0, 64).unwrap_err().contains("but 128 were allocated"));
        assert!(free(&mut a, 0, 128).is_ok());
        assert!(free(&mut a, 0, 128).is_err(), "twice");
        assert_eq!(a.exit(0), Some((Leftover::Allocation(128, 64), O)));
        free(&mut a, 128, 64).unwrap();
        assert_eq!(a.exit(0), None);
    }

    #[test]
    fn no_allocation_after_relinquishing() {
        let mut a = Allocator::default();
        one(&mut a, 32);
        let t = a.relinquish(0, false, O);
        assert!(a.done(t));
        assert!(a.alloc(0, false, 32, false, O).unwrap_err().contains("relinquish"));
        free(&mut a, 0, 32).unwrap();
    }

    #[test]
    fn pairs_allocate_together() {
        let mut a = Allocator::default();
        let t = a.alloc(1, true, 64, false, O).unwrap();
        assert_eq!(a.waits(t), Some(WaitsFor::Peer("tcgen05.alloc")));
        assert_eq!((a.held(0), a.held(1)), (0, 0));
        assert_eq!(a.exit(0), Some((Leftover::Unpaired("tcgen05.alloc"), O)));
        let u = a.alloc(0, true, 64, false, O).unwrap();
        assert_eq!((t, a.column(t)), (u, Some(0)));
        assert_eq!((a.held(0), a.held(1)), (3, 3));
        // one side frees, the other one still has its columns; they are free for others when both have
        let d = a.dealloc(0, true, 0, 64, false, O).unwrap();
        assert_eq!(a.waits(d), Some(WaitsFor::Peer("tcgen05.dealloc")));
        assert_eq!((a.held(0), a.held(1)), (0, 3));
        assert_eq!(a.exit(0), None, "the first one may go");
        assert!(matches!(a.exit(1), Some((Leftover::Allocation(0, 64), _))));
        let e = a.dealloc(1, true, 0, 64, false, O).unwrap();
        assert!(e == d && a.done(d));
        assert_eq!((a.exit(0), a.exit(1)), (None, None));
    }

    #[test]
    fn pairs_agree() {
        let mut a = Allocator::default();
        a.alloc(0, true, 64, false, O).unwrap();
        assert!(a.alloc(1, true, 32, false, O).unwrap_err().contains("of 64 and of 32"));
        let mut a = Allocator::default();
        a.alloc(0, true, 64, false, O).unwrap();
        assert!(a.alloc(1, true, 64, true, O).is_err());
        let mut a = Allocator::default();
        let t = a.relinquish(0, true, O);
        assert!(!a.done(t));
        assert!(a.alloc(1, true, 32, false, O).unwrap_err().contains("peer"));
        assert_eq!(a.relinquish(1, true, O), t);
        assert!(a.done(t));
    }

    #[test]
    fn pairs_may_free_in_different_orders() {
        let mut a = Allocator::default();
        for _ in 0..2 {
            a.alloc(0, true, 32, false, O).unwrap();
            a.alloc(1, true, 32, false, O).unwrap();
        }
        let x = a.dealloc(0, true, 0, 32, false, O).unwrap();
        let y = a.dealloc(1, true, 32, 32, false, O).unwrap();
        assert!(!a.done(x) && !a.done(y) && x != y);
        assert_eq!(a.dealloc(1, true, 0, 32, false, O), Ok(x));
        assert!(a.done(x) && !a.done(y));
    }
}
