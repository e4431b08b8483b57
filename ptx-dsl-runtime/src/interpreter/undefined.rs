//! Undefined registers, for the checked host: reports where a value that no instruction of its thread has written matters. A copy of an
//! undefined value is undefined, and so is a sum with it; compilers make them and throw them away.

use super::op::{Op, Operand};
use super::runner::Runner;
use super::suspects::Carry;
use super::watched::Watched;
use crate::fault::FaultKind;
use crate::isa::Done;
use crate::mem::address::AddrSpace;

use ptx_dsl_isa::image::{Guard, Register};

impl Runner<'_, '_> {
    /// Lanes of a register of warp `k` that are undefined, and where that comes from.
    fn undefined(&self, r: Register, k: usize) -> (u32, Register) {
        self.registers.undefined.as_ref().map_or((0, r), |u| u.of(r, self.lo + k))
    }

    /// The same of an operand.
    fn undefined_operand(&self, o: &Operand, k: usize) -> (u32, Register) {
        match o {
            Operand::Register(r) | Operand::Not(r) | Operand::Address { base: r, .. } => self.undefined(*r, k),
            _ => (0, 0),
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
                    self.need(guard.register, k, active, "the guard of an instruction")?;
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
            let undefined = self.carried(op, watched.carry, k);
            if let Some(u) = &mut self.registers.undefined {
                for r in op.results.iter().flatten() {
                    u.set(*r, self.lo + k, m, undefined);
                }
            }
        }
        Ok(())
    }

    fn at(&mut self, op: &Op) {
        self.x.at(op.site, op.order);
    }

    /// Lanes in which the results are undefined.
    fn carried(&self, op: &Op, carry: Carry, k: usize) -> (u32, Register) {
        let all: Vec<_> = op.sources.iter().map(|o| self.undefined_operand(o, k)).collect();
        let root = |lanes: u32| (lanes, all.iter().find(|u| u.0 & lanes != 0).map_or(0, |u| u.1));
        match (carry, &op.sources[..]) {
            (Carry::Never, _) | (_, []) => (0, 0),
            (Carry::Any, _) => root(all.iter().fold(0, |m, u| m | u.0)),
            (Carry::All, _) => root(all.iter().fold(u32::MAX, |m, u| m & u.0)),
            (Carry::Selected, [_, _, p]) => {
                let p = self.operand(p, k);
                let p = crate::mask_by(|l| p[l] & 1 != 0);
                root(p & all[0].0 | !p & all[1].0 | all[2].0)
            }
            (Carry::Selected, _) => (0, 0),
        }
    }

    /// A store of undefined values to global memory. Of a vector some elements may be undefined: padding.
    fn stores(&mut self, op: &Op, (from, to): (usize, usize), k: usize, m: u32) -> Done {
        let sources = op.sources.get(from..to).unwrap_or_default();
        let all: Vec<_> = sources.iter().map(|o| self.undefined_operand(o, k)).collect();
        let bad = all.iter().fold(m, |m, u| m & u.0);
        if bad == 0 {
            return Ok(());
        }
        let address = self.operand(&op.sources[0], k);
        let bad = bad
            & match crate::isa::space(op.q) {
                AddrSpace::Global => u32::MAX,
                AddrSpace::Generic => crate::mask_by(|l| address[l] >> 56 == 0),
                _ => 0,
            };
        let register = sources.iter().find_map(|o| if let Operand::Register(r) = o { Some(*r) } else { None });
        let (Some(register), true) = (register, bad != 0) else { return Ok(()) };
        self.at(op);
        self.need(register, k, bad, "a value stored to global memory")
    }

    /// The predicate of a branch.
    pub fn watch_branch(&mut self, guard: Guard, region: &str) -> Done {
        for k in 0..self.n {
            let active = self.active[k];
            if active & self.undefined(guard.register, k).0 != 0 {
                self.enter(k, active);
                // branches have no number among the statements
                self.x.site = u32::MAX;
                self.need(guard.register, k, active, &format!("the predicate of the branch after `{region}`"))?;
                // the next instruction has not read its registers
                self.x.findings.news();
            }
        }
        Ok(())
    }

    /// A finding, if a register is undefined in one of these lanes.
    fn need(&mut self, r: Register, k: usize, lanes: u32, what: &str) -> Done {
        let (undefined, root) = self.undefined(r, k);
        if undefined & lanes == 0 {
            return Ok(());
        }
        let lane = (undefined & lanes).trailing_zeros();
        let name = |r: Register| self.image.names.get(r as usize).cloned().unwrap_or_default();
        let kind = FaultKind::UndefinedRegister { register: name(r), from: name(root), what: what.to_owned() };
        // it is reported once
        if let Some(u) = &mut self.registers.undefined {
            u.set(r, self.lo + k, u32::MAX, (0, r));
        }
        self.x.found(kind, lane).map_err(|kind| self.x.fault(kind, lane))
    }
}
