//! The choice of the pending cluster that starts in a free slot: the next one, or any one that the schedule chooses. The CTAs of a
//! grid may start in any order.

use crate::machine::ctx::parts::Starts;
use crate::machine::schedule::Choice;
use crate::machine::steps::Note;

/// The most pending clusters of which one is chosen.
const CHOICES: u64 = 16;

impl Starts<'_, '_> {
    /// Claims a pending cluster for a free slot: slot, and number in the grid.
    pub(super) fn admit(&mut self) -> Option<(usize, u64)> {
        let which = if self.has_choice_of_start() {
            let choices = self.ctx.scheduling.team.choices(CHOICES) as usize;
            self.ctx.scheduling.choose(Choice::Start, choices) as u64
        } else {
            0
        };
        self.admit_nth(which)
    }

    /// Claims the next pending cluster, or the `which`-th after it.
    fn admit_nth(&mut self, which: u64) -> Option<(usize, u64)> {
        let before = if which == 0 { None } else { self.ctx.scheduling.team.next_pending() };
        let (slot, cluster) = self.ctx.residents.admit(self.ctx.scheduling.team, which)?;
        if let Some(before) = before {
            self.ctx.scheduling.note(Note::Starts { cluster, before });
        }
        Some((slot, cluster))
    }

    /// Claims a pending cluster in a launch that runs step by step. Clusters that start together do so in order, so that each set of them is chosen once:
    /// the next one is none of the `skipped`, which this call adds to.
    pub(super) fn admit_in_step(&mut self, skipped: &mut u64, site: u32) -> Option<(usize, u64)> {
        if self.has_choice_of_start() {
            let (pending, free) = (self.ctx.scheduling.team.unclaimed(), self.ctx.residents.free() as u64);
            let choices = (pending - free + 1).saturating_sub(*skipped).clamp(1, CHOICES);
            if choices > 1 {
                *skipped += self.ctx.scheduling.choose_in_step(Choice::Start, choices as usize, site) as u64;
            }
        }
        self.admit_nth(*skipped)
    }

    /// Whether the schedule chooses the cluster that starts in the next free slot, and the choice matters.
    pub(super) fn has_choice_of_start(&self) -> bool {
        let s = &self.ctx.scheduling;
        let chooses = !s.always_first && !s.starts_in_order;
        chooses && self.ctx.residents.free() > 0 && s.team.unclaimed() > self.ctx.residents.free() as u64
    }
}
