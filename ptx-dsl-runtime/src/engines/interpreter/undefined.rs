//! Undefined values, for the checked host: reports where a value that nothing has written matters. It is in a register that the thread
//! has not written, a load has read it from memory that nothing has written, or a shuffle from a lane outside of its mask. A copy of an
//! undefined value is undefined, and so is a sum with it; compilers make them and throw them away, and copy the padding of structures.

use super::op::{Op, Operand};
use super::runner::Runner;
use super::suspects::{Carry, Sums};
use super::watched::{Root, Watched};
use crate::fault::words::at;
use crate::fault::{FaultKind, TensorUnwritten};
use crate::machine::findings::Undefined;
use crate::memory::address::{AddrSpace, Place, decode};
use crate::observe::monitor::{Access, By, Proxy};
use crate::semantics::Done;
use crate::semantics::ld_st::{element, elements};
use std::rc::Rc;

use ptx_dsl_isa::image::{Guard, NO_SITE, Register};

/// Lanes in which a value is undefined, and where that comes from.
pub(super) type Lost = Option<(u32, Root)>;

impl Runner<'_, '_> {
    /// The undefined lanes of a register of warp `k`.
    fn lost_lanes(&self, r: Register, k: usize) -> u32 {
        self.registers.undefined.as_ref().and_then(|u| u.of(r, self.lo + k)).map_or(0, |(lanes, _)| lanes)
    }

    /// The same with the place that they come from.
    fn lost(&self, r: Register, k: usize) -> Lost {
        let (lanes, root) = self.registers.undefined.as_ref()?.of(r, self.lo + k)?;
        Some((lanes, root.clone()))
    }

    /// The same of an operand.
    pub(super) fn lost_operand(&self, o: &Operand, k: usize) -> Lost {
        match o {
            Operand::Register(r) | Operand::Not(r) | Operand::Address { base: r, .. } => self.lost(*r, k),
            _ => None,
        }
    }

    /// An instruction runs in the lanes of `active` whose guard holds.
    #[cold]
    #[inline(never)]
    pub fn watch(&mut self, op: &Op, watched: &Watched) -> Done {
        for k in 0..self.n {
            let active = self.active[k];
            if active == 0 {
                continue;
            }
            self.enter(k, active);
            let mut m = active;
            if let Some(guard) = op.guard {
                let p = self.registers.mask(self.leader(k), guard.register, self.lo + k);
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
                self.stores(op, (from, to), k, m)?;
            }
            if watched.carry == Carry::Shuffled {
                continue;
            }
            let lost: Vec<Lost> = match &watched.sums {
                Some(sums) => (0..op.results.len()).map(|n| self.added(op, sums, n, k)).collect(),
                None => vec![self.carried(op, watched.carry, k); op.results.len()],
            };
            if let Some(u) = &mut self.registers.undefined {
                for (r, lost) in op.results.iter().zip(lost) {
                    if let Some(r) = *r {
                        u.set(r, self.lo + k, m, lost.map(|(lanes, root)| (lanes, root.read_at(op.site))));
                    }
                }
            }
        }
        Ok(())
    }

    fn at(&mut self, op: &Op) {
        self.x.at(op.site, op.order);
    }

    /// Lanes in which the results are undefined.
    fn carried(&self, op: &Op, carry: Carry, k: usize) -> Lost {
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
                let p = self.operand(p, k);
                let p = crate::numerics::lanes::mask_by(|l| p[l] & 1 != 0);
                p & lanes(&all[0]) | !p & lanes(&all[1]) | lanes(&all[2])
            }
            (Carry::Selected, _) => 0,
        };
        let (_, root) = all.into_iter().flatten().find(|(lanes, _)| lanes & lost != 0)?;
        Some((lost, root))
    }

    /// Lanes in which result `n` of a product of matrices is undefined.
    fn added(&self, op: &Op, sums: &Sums, n: usize, k: usize) -> Lost {
        let whole = |o: &Operand| self.lost_operand(o, k).filter(|(lanes, _)| *lanes == u32::MAX);
        if let Some(lost) = op.sources.get(sums.factor.clone()).unwrap_or_default().iter().find_map(whole) {
            return Some(lost);
        }
        let adds = sums.adds.and_then(|at| op.sources.get(at)).is_none_or(|p| {
            let p = self.operand(p, k);
            p.iter().any(|value| value & 1 != 0)
        });
        let old = op.sources.get(sums.first + n).filter(|_| adds)?;
        self.lost_operand(old, k)
    }

    /// A store of undefined values. Of a vector some elements may be undefined: padding. So may a byte be that is copied from memory. A
    /// store to local memory passes the values on.
    fn stores(&mut self, op: &Op, (from, to): (usize, usize), k: usize, m: u32) -> Done {
        let sources = op.sources.get(from..to).unwrap_or_default();
        let all: Vec<_> = sources.iter().map(|o| self.lost_operand(o, k)).collect();
        if all.iter().all(Option::is_none) {
            return Ok(());
        }
        let address = self.operand(&op.sources[0], k);
        let space = crate::semantics::space(op.q);
        let bytes = element(op.q.types()[0]);
        for (i, lost) in all.iter().enumerate().take(elements(op.q)) {
            let Some((lanes, _)) = lost else { continue };
            for l in (0..32).filter(|l| (lanes & m) >> l & 1 != 0) {
                self.passes_on(space, address[l as usize].wrapping_add(u64::from(bytes) * i as u64), bytes, l);
            }
        }
        let copied_byte = |lost: &Lost| bytes == 1 && matches!(lost, Some((_, Root::Memory { .. })));
        let needed = |lost: &Lost| lost.as_ref().filter(|_| !copied_byte(lost)).map_or(0, |(lanes, _)| *lanes);
        let bad = all.iter().fold(m, |m, u| m & needed(u));
        if bad == 0 {
            return Ok(());
        }
        let bad = bad
            & match space {
                AddrSpace::Global => u32::MAX,
                AddrSpace::Generic => crate::numerics::lanes::mask_by(|l| address[l] >> 56 == 0),
                _ => 0,
            };
        let register = sources.iter().find_map(|o| if let Operand::Register(r) = o { Some(*r) } else { None });
        let (Some(register), true) = (register, bad != 0) else { return Ok(()) };
        self.at(op);
        self.need(register, k, bad, "stored to global memory")
    }

    /// A lane stores an undefined value, which is then in its local memory.
    fn passes_on(&mut self, space: AddrSpace, addr: u64, bytes: u32, lane: u32) {
        let Some(place @ Place::Local { .. }) = decode(space, addr, self.x.cur.cta) else { return };
        let (who, order) = (self.x.who(1 << lane), self.x.order);
        let (by, proxy) = (By::Thread, Proxy::Generic);
        let access = Access { place, addr, bytes, write: true, same: false, by, proxy, order, who };
        self.x.findings.undefined.push(Undefined::Store(access));
    }

    /// The instruction has run: takes over what it has done with memory that nothing has written.
    pub(super) fn follow(&mut self, op: &Op) {
        for access in std::mem::take(&mut self.x.findings.undefined) {
            match access {
                Undefined::Load(access, bytes) => self.loaded(op, &access, bytes),
                Undefined::Tensor { result, who, rank, lane, column } => {
                    let register = op.results.get(result).copied().flatten();
                    if let (Some(undefined), Some(register)) = (&mut self.registers.undefined, register) {
                        let root = Root::Tensor { site: who.site, rank, lane, column };
                        undefined.set(register, who.warp as usize, who.lanes, Some((who.lanes, root)));
                    }
                }
                Undefined::Store(access) => {
                    if let Some(monitor) = self.x.monitor.get() {
                        monitor.undefined(&access);
                    }
                }
            }
        }
    }

    /// A lane has loaded bytes of which some were never written. Elements without another byte are undefined.
    fn loaded(&mut self, op: &Op, access: &Access, unwritten: u64) {
        let Some(undefined) = &mut self.registers.undefined else { return };
        let Some(size) = access.bytes.checked_div(op.results.len() as u32).filter(|size| *size != 0) else { return };
        let space = if matches!(access.place, Place::Local { .. }) { "local" } else { "shared" };
        let (warp, lane, site) = (access.who.warp as usize, access.who.lanes.trailing_zeros() & 31, access.who.site);
        let element = u64::MAX >> (64 - (size * 8).min(64) / 8);
        for (i, r) in (0..).zip(&op.results) {
            let (Some(r), true) = (*r, unwritten.checked_shr(i * size).unwrap_or(0) & element == element) else {
                continue;
            };
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
        for k in 0..self.n {
            let active = self.active[k];
            if active & self.lost_lanes(guard.register, k) != 0 {
                self.enter(k, active);
                // branches have no number among the statements
                self.x.site = NO_SITE;
                self.need(guard.register, k, active, &format!("used as the predicate of the branch {}", at(region)))?;
                // the next instruction has not read its registers
                self.x.findings.news();
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
        if let Some(u) = &mut self.registers.undefined {
            u.set(r, self.lo + k, u32::MAX, None);
        }
        let name = |r: Register| self.image.names.get(r as usize).cloned().unwrap_or_default();
        match root {
            Root::Register { register, read } => {
                let read = self.x.geometry.statement(read, "");
                let (register, from) = (name(r), name(register));
                let kind = FaultKind::UndefinedRegister { register, from, read, what: what.to_owned() };
                self.x.found(kind, lane).map_err(|kind| self.x.fault(kind, lane))
            }
            Root::Memory { site, space, addresses } => {
                let kind = FaultKind::Uninitialised { space, addr: addresses[lane as usize] };
                self.report_origin(r, kind, site, lane, what)
            }
            Root::Shuffle { site, reads } => {
                let read = reads[lane as usize].or_else(|| reads.iter().flatten().next().copied());
                read.map_or(Ok(()), |read| self.report_origin(r, read.fault(), site, lane, what))
            }
            Root::Tensor { site, rank, lane: from, column } => {
                let (lanes, columns) = (from..from + 1, column..column + 1);
                let read = TensorUnwritten { lanes, columns, rank, access: "load", operand: "" };
                self.report_origin(r, FaultKind::TensorUnwritten(Box::new(read)), site, lane, what)
            }
        }
    }

    /// A finding of this kind at the statement that has made an undefined value, which the current statement uses in a register.
    fn report_origin(&mut self, r: Register, kind: FaultKind, site: u32, lane: u32, what: &str) -> Done {
        let name = self.image.names.get(r as usize).cloned().unwrap_or_default();
        let statement = self.x.geometry.statement(self.x.site, "");
        let by = if statement.is_empty() { String::new() } else { format!(" by {statement}") };
        let used = format!("`{name}` is {what}{by}");
        let (here, order) = (self.x.site, self.x.order);
        self.x.at(site, order);
        let known = self.x.findings.list.len();
        let done = self.x.found(kind, lane);
        let new = self.x.findings.list.get_mut(known..).unwrap_or_default();
        new.iter_mut().for_each(|fault| fault.used = Some(used.clone()));
        // its registers have changed since
        self.x.findings.news();
        let done = done.map_err(|kind| {
            let mut fault = self.x.fault(kind, lane);
            fault.used = Some(used);
            fault
        });
        self.x.at(here, order);
        done
    }
}
