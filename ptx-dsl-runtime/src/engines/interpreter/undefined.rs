//! Undefined values, for the checked host: reports where a value that nothing has written matters. It is in a register that the thread
//! has not written, a load has read it from memory that nothing has written, or a shuffle from a lane outside of its mask. A copy of an
//! undefined value is undefined, and so is a sum with it; compilers make them and throw them away, and copy the padding of structures.

use super::op::{Op, Operand};
use super::parts::ValueTracker;
use super::suspects::Carry;
use super::watched::{Watched, WatchedLayout};
use crate::fault::words::at;
use crate::fault::{FaultKind, TensorUnwritten};
use crate::machine::findings::UndefinedAccess;
use crate::machine::origins::Root;
use crate::memory::address::{AddrSpace, Place, decode};
use crate::observe::monitor::{Access, By, Proxy};
use crate::semantics::Done;
use crate::semantics::ld_st::{element, elements};
use crate::semantics::ldmatrix::matrix_words;
use std::rc::Rc;

use ptx_dsl_isa::image::{Guard, NO_SITE, Register};

/// Lanes in which a value is undefined, and where that comes from.
pub(super) type Lost = Option<(u32, Root)>;

impl ValueTracker<'_, '_, '_> {
    /// The undefined lanes of a register of warp `k`.
    fn lost_lanes(&self, r: Register, k: usize) -> u32 {
        self.runner.registers.undefined.as_ref().and_then(|u| u.of(r, self.runner.lo + k)).map_or(0, |(lanes, _)| lanes)
    }

    /// The undefined lanes of a register of warp `k`, with the place that they come from.
    fn lost(&self, r: Register, k: usize) -> Lost {
        let (lanes, root) = self.runner.registers.undefined.as_ref()?.of(r, self.runner.lo + k)?;
        Some((lanes, root.clone()))
    }

    /// The undefined lanes of an operand, with the place that they come from.
    pub(super) fn lost_operand(&self, o: &Operand, k: usize) -> Lost {
        match o {
            Operand::Register(r) | Operand::Not(r) | Operand::Address { base: r, .. } => self.lost(*r, k),
            _ => None,
        }
    }

    /// Checks an instruction that runs in the lanes of `active` whose guard holds.
    #[cold]
    #[inline(never)]
    pub fn watch(&mut self, op: &Op, watched: &Watched) -> Done {
        for k in 0..self.runner.n {
            let active = self.runner.active[k];
            if active == 0 {
                continue;
            }
            self.runner.enter(k, active);
            let mut m = active;
            if let Some(guard) = op.guard {
                let p = self.runner.registers.mask(self.runner.leader(k), guard.register, self.runner.lo + k);
                m &= if guard.holds { p } else { !p };
                if watched.effect {
                    self.at(op);
                    self.need(guard.register, k, active, "used as the guard of an instruction")?;
                }
            }
            for touch in watched.touches.iter().filter(|_| m != 0) {
                self.touch(op, touch, k, m)?;
            }
            for (register, what) in &watched.needed {
                self.at(op);
                self.need(*register, k, m, what)?;
            }
            if let Some((from, to)) = watched.stored {
                self.stores(op, watched, (from, to), k, m)?;
            }
            if watched.carry == Carry::Shuffled {
                continue;
            }
            let lost: Vec<Lost> = match &watched.sums {
                Some(sums) => self.undefined_sums(op, sums, k),
                None => vec![self.carried(op, watched.carry, k, m); op.results.len()],
            };
            if let Some(u) = &mut self.runner.registers.undefined {
                for (r, lost) in op.results.iter().zip(lost) {
                    if let Some(r) = *r {
                        u.set(r, self.runner.lo + k, m, lost.map(|(lanes, root)| (lanes, root.read_at(op.site))));
                    }
                }
            }
        }
        Ok(())
    }

    fn at(&mut self, op: &Op) {
        self.runner.x.at(op.site, op.order);
    }

    /// The lanes, of these, in which the results are undefined.
    fn carried(&self, op: &Op, carry: Carry, k: usize, m: u32) -> Lost {
        if matches!(carry, Carry::Never | Carry::Sums) || op.sources.is_empty() {
            return None;
        }
        let all: Vec<_> = op.sources.iter().map(|o| self.lost_operand(o, k)).collect();
        let lanes = |lost: &Lost| lost.as_ref().map_or(0, |(lanes, _)| *lanes);
        let lost = match (carry, &op.sources[..]) {
            (Carry::Never | Carry::Shuffled | Carry::Sums, _) => 0,
            (Carry::Any, _) => all.iter().fold(0, |m, u| m | lanes(u)),
            (Carry::All, _) => all.iter().fold(u32::MAX, |m, u| m & lanes(u)),
            (Carry::Selected, [_, _, p]) => {
                let p = self.runner.operand(p, k);
                let p = crate::numerics::lanes::mask_by(|l| p[l] & 1 != 0);
                p & lanes(&all[0]) | !p & lanes(&all[1]) | lanes(&all[2])
            }
            (Carry::Selected, _) => 0,
        } & m;
        let (_, root) = all.into_iter().flatten().find(|(lanes, _)| lanes & lost != 0)?;
        Some((lost, root))
    }

    /// A store of undefined values. Of a vector some elements may be undefined: padding. So may a byte be that is copied from memory. The
    /// values are then in memory, unless they are reported.
    fn stores(&mut self, op: &Op, watched: &Watched, (from, to): (usize, usize), k: usize, m: u32) -> Done {
        let sources = op.sources.get(from..to).unwrap_or_default();
        let all: Vec<_> = sources.iter().map(|o| self.lost_operand(o, k)).collect();
        if all.iter().all(Option::is_none) {
            return Ok(());
        }
        if watched.layout == WatchedLayout::Tensor {
            self.gives(op, &all, k, m);
            return Ok(());
        }
        let address = self.runner.operand(&op.sources[0], k);
        let space = crate::semantics::space(op.q);
        let bytes = element(op.q.types()[0]);
        let copied_byte =
            |lost: &Lost| bytes == 1 && matches!(lost, Some((_, Root::Memory { .. } | Root::Stored { .. })));
        let needed = |lost: &Lost| lost.as_ref().filter(|_| !copied_byte(lost)).map_or(0, |(lanes, _)| *lanes);
        let bad = all.iter().fold(m, |m, u| m & needed(u))
            & match space {
                AddrSpace::Global => u32::MAX,
                AddrSpace::Generic => crate::numerics::lanes::mask_by(|l| address[l] >> 56 == 0),
                _ => 0,
            }
            & !crate::numerics::lanes::mask_by(|l| self.is_in_heap(address[l]));
        match watched.layout {
            WatchedLayout::Vector => {
                for (i, lost) in all.iter().enumerate().take(elements(op.q)) {
                    let Some((lanes, root)) = lost else { continue };
                    for l in (0..32).filter(|l| (lanes & m & !bad) >> l & 1 != 0) {
                        let at = address[l as usize].wrapping_add(u64::from(bytes) * i as u64);
                        self.passes_on(op, (space, at, bytes), l, root);
                    }
                }
            }
            WatchedLayout::Matrices => {
                for (i, lost) in all.iter().enumerate() {
                    let Some((lanes, root)) = lost else { continue };
                    for l in (0..32).filter(|l| lanes >> l & 1 != 0) {
                        for (row, byte, bytes) in matrix_words(op.q, l as usize) {
                            let Some(at) = address.get(8 * i + row) else { continue };
                            self.passes_on(op, (space, at.wrapping_add(byte), bytes), l, root);
                        }
                    }
                }
            }
            WatchedLayout::Tensor | WatchedLayout::Changed => {}
        }
        let register = sources.iter().find_map(|o| if let Operand::Register(r) = o { Some(*r) } else { None });
        let (Some(register), true) = (register, bad != 0) else { return Ok(()) };
        self.at(op);
        self.need(register, k, bad, "stored to global memory")
    }

    /// Is an address of global memory, or a generic one, in the heap? What a thread stores there is followed, as in shared memory.
    fn is_in_heap(&self, address: u64) -> bool {
        let segment = |address| match decode(AddrSpace::Global, address, self.runner.x.cur.cta) {
            Some(Place::Global { segment, .. }) => Some(segment),
            _ => None,
        };
        self.runner
            .x
            .geometry
            .heap
            .as_ref()
            .is_some_and(|heap| segment(address).is_some_and(|of| segment(heap.start) == Some(of)))
    }

    /// Registers that an instruction stores to Tensor Memory are undefined: the instruction says which words get their values.
    fn gives(&mut self, op: &Op, all: &[Lost], k: usize, m: u32) {
        let warp = (self.runner.lo + k) as u32;
        for (source, lost) in all.iter().enumerate() {
            let Some((lanes, root)) = lost.as_ref().filter(|(lanes, _)| lanes & m != 0) else { continue };
            let lane = (lanes & m).trailing_zeros();
            let origin = self.runner.x.findings.origins.number(op.site, root.clone().moved(&[lane; 32]));
            self.runner.x.findings.undefined.push(UndefinedAccess::Given { source, warp, lanes: lanes & m, origin });
        }
    }

    /// A lane stores an undefined value, which is then in memory.
    fn passes_on(&mut self, op: &Op, (space, addr, bytes): (AddrSpace, u64, u32), lane: u32, root: &Root) {
        let Some(place) = decode(space, addr, self.runner.x.cur.cta) else { return };
        let root = root.clone().moved(&[lane; 32]);
        let origin = self.runner.x.findings.origins.number(op.site, root);
        self.at(op);
        let (who, order) = (self.runner.x.who(1 << lane), self.runner.x.order);
        let (by, proxy) = (By::Thread, Proxy::Generic);
        let access = Access { place, addr, bytes, write: true, same: false, by, proxy, order, who };
        self.runner.x.findings.undefined.push(UndefinedAccess::Store(access, origin));
    }

    /// Takes over the accesses of the instruction that has run to memory that nothing has written.
    pub(super) fn follow(&mut self, op: &Op) {
        for access in std::mem::take(&mut self.runner.x.findings.undefined) {
            match access {
                UndefinedAccess::Load(access, bytes, origin) => self.loaded(op, &access, bytes, origin),
                UndefinedAccess::Tensor { result, who, rank, lane, column, only_added } => {
                    let register = op.results.get(result).copied().flatten();
                    if let (Some(undefined), Some(register)) = (&mut self.runner.registers.undefined, register) {
                        let root = Root::Tensor { site: who.site, rank, lane, column, only_added };
                        undefined.set(register, who.warp as usize, who.lanes, Some((who.lanes, root)));
                    }
                }
                UndefinedAccess::Ctaid { result, who } => {
                    let register = op.results.get(result).copied().flatten();
                    if let (Some(undefined), Some(register)) = (&mut self.runner.registers.undefined, register) {
                        let root = Root::Ctaid { site: who.site };
                        undefined.set(register, who.warp as usize, who.lanes, Some((who.lanes, root)));
                    }
                }
                UndefinedAccess::Word { result, who, origin } => {
                    let register = op.results.get(result).copied().flatten();
                    if let (Some(undefined), Some(register)) = (&mut self.runner.registers.undefined, register) {
                        let root = Root::Stored { origin };
                        undefined.set(register, who.warp as usize, who.lanes, Some((who.lanes, root)));
                    }
                }
                UndefinedAccess::Store(access, origin) => {
                    self.runner.x.findings.has_stored |= !matches!(access.place, Place::Local { .. });
                    if let Some(monitor) = self.runner.x.monitor.get() {
                        monitor.undefined(&access, origin);
                    }
                }
                // another warp has yet to take it
                UndefinedAccess::Given { .. } => self.runner.x.findings.undefined.push(access),
                UndefinedAccess::Used(access, origin, what) => {
                    let lane = access.who.lanes.trailing_zeros() & 31;
                    // the launch ends at the next finding, if it has to
                    if let Err(fault) = self.report(String::new(), Root::Stored { origin }, lane, what) {
                        self.runner.x.findings.list.push(*fault);
                    }
                }
            }
        }
    }

    /// Handles bytes that a lane has loaded, of which some were never written. Elements without another byte are undefined.
    fn loaded(&mut self, op: &Op, access: &Access, unwritten: u64, origin: Option<u32>) {
        let Some(undefined) = &mut self.runner.registers.undefined else { return };
        let Some(size) = access.bytes.checked_div(op.results.len() as u32).filter(|size| *size != 0) else { return };
        let space = match access.place {
            Place::Local { .. } => "local",
            Place::Global { .. } => "global",
            _ => "shared",
        };
        let (warp, lane, site) = (access.who.warp as usize, access.who.lanes.trailing_zeros() & 31, access.who.site);
        let element = u64::MAX >> (64 - (size * 8).min(64) / 8);
        for (i, r) in (0..).zip(&op.results) {
            let (Some(r), true) = (*r, unwritten.checked_shr(i * size).unwrap_or(0) & element == element) else {
                continue;
            };
            if let Some(origin) = origin {
                undefined.set(r, warp, 1 << lane, Some((1 << lane, Root::Stored { origin })));
                continue;
            }
            let mut addresses = match undefined.of(r, warp) {
                Some((_, Root::Memory { site: of, addresses, .. })) if *of == site => addresses.clone(),
                _ => Rc::new([0; 32]),
            };
            Rc::make_mut(&mut addresses)[lane as usize] = access.addr.wrapping_add(u64::from(i * size));
            undefined.set(r, warp, 1 << lane, Some((1 << lane, Root::Memory { site, space, addresses })));
        }
    }

    /// The predicate of a branch.
    pub fn watch_branch(&mut self, guard: Guard, region: &str) -> Done {
        for k in 0..self.runner.n {
            let active = self.runner.active[k];
            if active & self.lost_lanes(guard.register, k) != 0 {
                self.runner.enter(k, active);
                // branches have no number among the statements
                self.runner.x.site = NO_SITE;
                self.need(guard.register, k, active, &format!("used as the predicate of the branch {}", at(region)))?;
                // the next instruction has not read its registers
                self.runner.x.findings.news();
            }
        }
        Ok(())
    }

    /// A finding, if a register is undefined in one of these lanes.
    fn need(&mut self, r: Register, k: usize, lanes: u32, what: &str) -> Done {
        let bad = self.lost_lanes(r, k) & lanes;
        let Some((_, root)) = self.lost(r, k).filter(|_| bad != 0) else { return Ok(()) };
        let lane = bad.trailing_zeros();
        // it is reported once
        if let Some(u) = &mut self.runner.registers.undefined {
            u.set(r, self.runner.lo + k, u32::MAX, None);
        }
        let name = self.runner.image.names.get(r as usize).cloned().unwrap_or_default();
        self.report(name, root, lane, what)
    }

    /// A finding about an undefined value in a register of this name, or in shared memory.
    fn report(&mut self, name: String, root: Root, lane: u32, what: &str) -> Done {
        let (root, stored) = match root {
            Root::Stored { origin } => match self.runner.x.findings.origins.of(origin) {
                // an operation that reads memory has not stored what it reads
                Some((site, root @ Root::Memory { site: read, .. })) if read == site => (root, None),
                Some((site, root)) => (root, Some(site)),
                None => return Ok(()),
            },
            root => (root, None),
        };
        match root {
            Root::Stored { .. } => Ok(()),
            Root::Register { register, read } => {
                let read = if read == NO_SITE { stored.unwrap_or(read) } else { read };
                let read = self.runner.x.geometry.statement(read, "");
                let from = self.runner.image.names.get(register as usize).cloned().unwrap_or_default();
                let (what, stored) = (what.to_owned(), stored.is_some());
                let kind = FaultKind::UndefinedRegister { register: name, from, read, what, stored };
                self.runner.x.found(kind, lane).map_err(|kind| self.runner.x.fault(kind, lane))
            }
            Root::Memory { site, space, addresses } => {
                let kind = FaultKind::Uninitialised { space, addr: addresses[lane as usize] };
                self.report_origin((name, stored), kind, site, lane, what)
            }
            Root::Shuffle { site, reads } => {
                let read = reads[lane as usize].or_else(|| reads.iter().flatten().next().copied());
                read.map_or(Ok(()), |read| self.report_origin((name, stored), read.fault(), site, lane, what))
            }
            Root::Ctaid { site } => {
                self.report_origin((name, stored), FaultKind::FirstCtaidOfFailure, site, lane, what)
            }
            Root::Tensor { site, rank, lane: from, column, only_added } => {
                let (lanes, columns) = (from..from + 1, column..column + 1);
                let read = TensorUnwritten { lanes, columns, rank, access: "load", operand: "", only_added };
                self.report_origin((name, stored), FaultKind::TensorUnwritten(Box::new(read)), site, lane, what)
            }
        }
    }

    /// A finding of this kind at the statement that has made an undefined value, which the current statement uses in a register of this
    /// name. `stored`: the statement that has stored it in between.
    fn report_origin(
        &mut self,
        (name, stored): (String, Option<u32>),
        kind: FaultKind,
        site: u32,
        lane: u32,
        what: &str,
    ) -> Done {
        let statement = self.runner.x.geometry.statement(self.runner.x.site, "");
        let by = if statement.is_empty() { String::new() } else { format!(" by {statement}") };
        let value = if name.is_empty() { "a value in shared memory".to_owned() } else { format!("`{name}`") };
        let stored = stored
            .map(|site| format!(", where {} has stored the value", self.runner.x.geometry.statement(site, "a thread")));
        let used = match stored {
            Some(stored) => format!("{value} is {what}{by}, and comes from memory{stored}"),
            None => format!("{value} is {what}{by}"),
        };
        let (here, order) = (self.runner.x.site, self.runner.x.order);
        self.runner.x.at(site, order);
        let known = self.runner.x.findings.list.len();
        let done = self.runner.x.found(kind, lane);
        let new = self.runner.x.findings.list.get_mut(known..).unwrap_or_default();
        new.iter_mut().for_each(|fault| fault.used = Some(used.clone()));
        // its registers have changed since
        self.runner.x.findings.news();
        let done = done.map_err(|kind| {
            let mut fault = self.runner.x.fault(kind, lane);
            fault.used = Some(used);
            fault
        });
        self.runner.x.at(here, order);
        done
    }
}
