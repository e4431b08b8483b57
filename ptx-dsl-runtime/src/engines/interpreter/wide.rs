//! Instructions that have many registers, in their own width.

use super::op::{Op, Operand};
use super::registers::{Registers, Room, Row, Scalar};
use super::runner::Runner;
use crate::fault::Fault;
use crate::kernel::Flow;
use crate::numerics::lanes::Words;
use crate::numerics::lanes::{Destination, Source, put_words};
use crate::semantics::OnRegisters;
use ptx_dsl_isa::image::Register;

impl Registers {
    /// A register of 32 bits in all lanes of a warp of the cohort that begins with warp `lo`.
    fn words(&self, lo: usize, r: Register, w: usize) -> Words {
        match self.scalar(lo, r) {
            Scalar::Uniform(v) => [v as u32; 32],
            Scalar::Rows => self.words[self.row(r, w)].get().0,
            affine => self.affine_words(affine, w).0,
        }
    }

    /// Sets the lanes of `m` in the row of a warp.
    fn put_words(&self, r: Register, w: usize, v: &Words, m: u32) {
        let at = self.row(r, w);
        let mut row = if m == u32::MAX { Row(*v) } else { self.words[at].get() };
        put_words(&mut row.0, v, m);
        self.words[at].set(row);
    }
}

impl Runner<'_, '_> {
    /// Calls the function of an instruction that may wait for warp `k`, with registers as wide as they are. It sets results only if the
    /// warp does not wait.
    pub fn call_with_registers(
        &mut self,
        op: &Op,
        k: usize,
        function: OnRegisters,
        m: u32,
    ) -> Result<Flow, Box<Fault>> {
        let mut room = std::mem::take(&mut self.registers.room);
        let flow = self.call_in(&mut room, op, k, function, m);
        self.registers.room = room;
        flow
    }

    fn call_in(
        &mut self,
        room: &mut Room,
        op: &Op,
        k: usize,
        function: OnRegisters,
        m: u32,
    ) -> Result<Flow, Box<Fault>> {
        let Room { words, lanes } = room;
        words.clear();
        lanes.clear();
        for o in &op.sources {
            match o {
                Operand::Register(r) if self.is_word(*r) => {
                    words.push(self.registers.words(self.leader(k), *r, self.lo + k));
                }
                o => lanes.push(self.operand(o, k)),
            }
        }
        let read = (words.len(), lanes.len());
        for r in &op.results {
            match r {
                Some(r) if !self.is_word(*r) => lanes.push([0; 32]),
                _ => words.push([0; 32]),
            }
        }
        let ((words_read, words), (lanes_read, lanes)) = (words.split_at_mut(read.0), lanes.split_at_mut(read.1));
        let flow = {
            let (mut words_read, mut lanes_read) = (words_read.iter(), lanes_read.iter());
            let (mut words, mut lanes) = (words.iter_mut(), lanes.iter_mut());
            let source = |o: &Operand| match o {
                Operand::Register(r) if self.is_word(*r) => words_read.next().map(Source::Words),
                _ => lanes_read.next().map(Source::Lanes),
            };
            let sources: Vec<Source<'_>> = op.sources.iter().filter_map(source).collect();
            let destination = |r: &Option<Register>| match r {
                Some(r) if !self.is_word(*r) => lanes.next().map(Destination::Lanes),
                _ => words.next().map(Destination::Words),
            };
            let mut destinations: Vec<Destination<'_>> = op.results.iter().filter_map(destination).collect();
            function(self.x, op.q, &sources, &mut destinations)?
        };
        self.describe_news(op);
        if flow == Flow::Next {
            let (mut words, mut lanes) = (words.iter(), lanes.iter());
            for r in &op.results {
                let Some(r) = *r else {
                    words.next();
                    continue;
                };
                self.rows_for(r);
                if !self.is_word(r) {
                    lanes.next().into_iter().for_each(|v| self.registers.put(r, self.lo + k, v, m));
                } else {
                    words.next().into_iter().for_each(|v| self.registers.put_words(r, self.lo + k, v, m));
                }
            }
        }
        Ok(flow)
    }

    /// Has the register 32 bits?
    fn is_word(&self, r: Register) -> bool {
        self.registers.slot(r).bits == 32
    }
}
