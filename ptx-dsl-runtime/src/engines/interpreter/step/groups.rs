//! Lanes that have parted: groups of lanes at different regions.

use super::super::code::End;
use super::super::runner::{Masks, Rest};
use super::{After, RegionStep};
use crate::fault::Fault;
use crate::kernel::flow::Pc;
use crate::semantics::Done;

/// Lanes that can run at a region.
pub(super) struct Group {
    pub pc: Pc,
    pub masks: Masks,
}

fn add(groups: &mut Vec<Group>, pc: Pc, masks: &[u32]) {
    let at = groups.iter().position(|g| g.pc == pc).unwrap_or_else(|| {
        groups.push(Group { pc, masks: [0; 32] });
        groups.len() - 1
    });
    groups[at].masks.iter_mut().zip(masks).for_each(|(to, m)| *to |= m);
}

impl RegionStep<'_, '_> {
    /// Runs the groups until all lanes are together: then where. `None` if the machine knows where all lanes are.
    pub(super) fn parted(&mut self) -> Result<Option<Pc>, Box<Fault>> {
        let (first, count) = (self.r.first, self.r.count);
        if !self.r.apart || count == 1 {
            return self.join();
        }
        self.later = std::mem::take(self.groups);
        for k in 0..count {
            for g in self.later.iter().filter(|g| g.masks[k] != 0) {
                let mut masks = [0; 32];
                masks[0] = g.masks[k];
                self.groups.push(Group { pc: g.pc, masks });
            }
            self.r.select(first + k, 1);
            if let Some(pc) = self.join()? {
                let mask = self.r.x.warp(k);
                self.r.x.branch(mask, pc);
            }
        }
        self.r.select(first, count);
        *self.groups = std::mem::take(&mut self.later);
        self.groups.clear();
        Ok(None)
    }

    /// Runs the groups of the selected warps together until they join.
    fn join(&mut self) -> Result<After, Box<Fault>> {
        loop {
            if let [one] = &self.groups[..]
                && one.masks[..self.r.n].iter().all(|m| *m == self.r.x.cur.mask)
            {
                let pc = one.pc;
                self.groups.clear();
                return Ok(Some(pc));
            }
            // groups at an instruction that may wait, or at the end, do not run here
            let lowest = self.groups.iter().map(|g| g.pc).filter(|pc| self.runs(*pc)).min();
            let next = lowest.filter(|_| !self.r.x.diverged());
            let Some(at) = next.and_then(|pc| self.groups.iter().position(|g| g.pc == pc)) else {
                self.leave();
                return Ok(None);
            };
            let group = self.groups.swap_remove(at);
            let rest = self.rest(None);
            self.r.part(&group.masks, rest);
            self.in_group = true;
            let after = self.run_group(group.pc);
            self.in_group = false;
            if let Some(pc) = after? {
                let active = self.r.active;
                self.add(pc, &active);
            }
        }
    }

    /// Runs the running group from a region on, as long as it is the lowest one.
    fn run_group(&mut self, from: Pc) -> Result<After, Box<Fault>> {
        let mut pc = from;
        loop {
            self.begin(pc)?;
            match self.region(pc)? {
                Some(next) if self.is_lowest(next) => pc = next,
                after => return Ok(after),
            }
        }
    }

    /// Whether the region runs without waiting.
    fn runs(&self, pc: Pc) -> bool {
        self.code.regions.get(usize::from(pc)).is_some_and(|region| region.block.is_none())
    }

    /// Whether the running group also runs next if it goes on at `pc`.
    pub(super) fn is_lowest(&self, pc: Pc) -> bool {
        self.runs(pc) && !self.r.x.diverged() && !self.groups.is_empty() && self.groups.iter().all(|g| g.pc > pc)
    }

    /// Tells the machine where all lanes are.
    fn leave(&mut self) {
        let from = self.r.first - self.r.x.cur.lo as usize;
        for k in 0..self.r.n {
            self.r.x.warp(from + k);
            for g in self.groups.iter() {
                self.r.x.branch(g.masks[k], g.pc);
            }
        }
        self.groups.clear();
    }

    pub(super) fn add(&mut self, pc: Pc, masks: &Masks) {
        add(self.groups, pc, &masks[..self.r.n]);
    }

    /// Adds the lanes of one of two sides.
    pub(super) fn add_side(&mut self, pc: Pc, side: usize) {
        add(self.groups, pc, &self.sides[side][..self.r.n]);
    }

    /// The places of the lanes that do not run: those of the groups, and others at a region.
    fn rest(&self, others: Option<Pc>) -> Rest {
        let mut places = self.groups.iter().map(|g| g.pc).chain(others);
        // no array: reading as a whole what was just written in parts stalls
        let [first, second] = [(); 2].map(|()| places.next().unwrap_or(Pc::MAX));
        if !self.known || places.next().is_some() {
            return Rest::Anywhere;
        }
        Rest::At([first.min(second), first.max(second)])
    }

    /// Adds lanes, if there are any.
    pub(super) fn fork(&mut self, pc: Pc, masks: Masks) {
        if masks[..self.r.n].iter().any(|m| *m != 0) {
            self.add(pc, &masks);
        }
    }

    /// Runs one of the two sides, without the lanes of the groups.
    pub(super) fn run_side(&mut self, side: usize) {
        let rest = self.rest(None);
        self.r.part(&self.sides[side], rest);
    }

    /// Whether, if some lanes go to `fall` and the others to `taken`, the first group runs one region and then joins the others.
    pub(super) fn is_skipped(&self, fall: Pc, taken: Pc) -> bool {
        let skipped = self.code.regions.get(usize::from(fall));
        let joins = skipped.is_some_and(|region| matches!(region.end, End::Goto(to) if to == taken));
        let lowest = fall < taken && self.groups.iter().all(|g| g.pc > fall);
        joins && lowest && !self.r.apart && !self.r.x.diverged()
    }

    /// The second of two sides runs a region, while the first is at `others`. Then they run together, as before.
    pub(super) fn without_others(&mut self, pc: Pc, others: Pc) -> Done {
        let before = self.r.place();
        let rest = self.rest(Some(others));
        self.r.part(&self.sides[1], rest);
        self.begin(pc)?;
        self.region(pc)?;
        self.r.unite(self.sides, before);
        Ok(())
    }
}
