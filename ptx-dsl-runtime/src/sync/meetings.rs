//! Lanes of a warp that execute a `.sync` instruction at different statements. They meet, as they do on an H100, if the instruction has
//! the same qualifiers and they name the same members: each lane leaves its operands, and computes its result when all are there.

use crate::numerics::lanes::Lanes;
use rustc_hash::FxHashMap;

/// Operands that an instruction has at most.
const MOST: usize = 4;

/// The operands of an instruction, by operand and lane.
pub(crate) type DepositedOperands = [Lanes; MOST];

/// The meetings of the warps of a CTA.
#[derive(Debug, Default)]
pub(crate) struct Meetings {
    /// The waiting lanes of each warp.
    waiting: FxHashMap<u32, Box<WaitingMembers>>,
    /// Meetings whose lanes are complete, but have not all been resumed.
    open: Vec<Meeting>,
}

/// The waiting lanes of a warp, with their operands.
#[derive(Debug)]
struct WaitingMembers {
    lanes: u32,
    /// The instruction that each waiting lane executes.
    instructions: [u64; 32],
    operands: DepositedOperands,
    /// A member of each that was there too, but named these members.
    others: [Option<(u32, u32)>; 32],
}

/// A meeting whose lanes have all come, but do not all have their results.
#[derive(Debug)]
struct Meeting {
    warp: u32,
    lanes: u32,
    /// The lanes without a result.
    pending: u32,
    operands: Box<DepositedOperands>,
}

impl Meetings {
    /// Removes all meetings and waiting lanes.
    pub fn clear(&mut self) {
        if !self.waiting.is_empty() || !self.open.is_empty() {
            *self = Meetings::default();
        }
    }

    /// Deposits the operands of lanes that wait for the others. `instruction`: a number of the opcode and its qualifiers.
    pub fn wait(&mut self, (warp, lanes): (u32, u32), instruction: u64, operands: &[&Lanes]) {
        let new = || {
            Box::new(WaitingMembers { lanes: 0, instructions: [0; 32], operands: [[0; 32]; MOST], others: [None; 32] })
        };
        let waiting = self.waiting.entry(warp).or_insert_with(new);
        waiting.lanes |= lanes;
        for l in (0..32).filter(|l| lanes >> l & 1 != 0) {
            (waiting.instructions[l], waiting.others[l]) = (instruction, None);
            waiting.operands.iter_mut().zip(operands).for_each(|(to, from)| to[l] = from[l]);
        }
    }

    /// The lanes of these that wait for a lane that was there too, but named other members: with that lane and its membermask.
    pub fn with_others(&self, warp: u32, lanes: u32) -> impl Iterator<Item = (u32, (u32, u32))> {
        let waiting = self.waiting.get(&warp).into_iter();
        waiting.flat_map(move |waiting| {
            let lanes = (0..32).filter(move |l| lanes & waiting.lanes & 1 << l != 0);
            lanes.filter_map(|l| Some((l, waiting.others[l as usize]?)))
        })
    }

    /// Records that these waiting lanes name a lane that is here too, but names other members: the lane and its membermask.
    pub fn name_others(&mut self, warp: u32, lanes: u32, other: (u32, u32)) {
        if let Some(waiting) = self.waiting.get_mut(&warp) {
            (0..32).filter(|l| lanes >> l & 1 != 0).for_each(|l| waiting.others[l] = Some(other));
        }
    }

    /// Removes waiting lanes that go on without the operands of others.
    pub fn leave(&mut self, warp: u32, lanes: u32) {
        if let Some(waiting) = self.waiting.get_mut(&warp) {
            waiting.lanes &= !lanes;
        }
    }

    /// The meeting in which these lanes are, of `all`; the lanes that take part. `None` if they all are at one statement.
    pub fn join(&mut self, warp: u32, lanes: u32, all: u32) -> Option<(u32, Box<DepositedOperands>)> {
        let open = self.open.iter().position(|meeting| meeting.warp == warp && meeting.pending & lanes == lanes);
        let at = match open {
            Some(at) => at,
            None => {
                let waiting = self.waiting.get_mut(&warp).filter(|_| all & !lanes != 0)?;
                let instruction = waiting.instructions[lanes.trailing_zeros() as usize & 31];
                let same = |l: usize| all >> l & 1 == 0 || waiting.instructions[l] == instruction;
                if all & !waiting.lanes != 0 || !(0..32).all(same) {
                    return None;
                }
                waiting.lanes &= !all;
                let operands = Box::new(waiting.operands);
                self.open.push(Meeting { warp, lanes: all, pending: all, operands });
                self.open.len() - 1
            }
        };
        let meeting = &mut self.open[at];
        meeting.pending &= !lanes;
        if meeting.pending != 0 {
            return Some((meeting.lanes, meeting.operands.clone()));
        }
        let Meeting { lanes, operands, .. } = self.open.swap_remove(at);
        Some((lanes, operands))
    }
}
