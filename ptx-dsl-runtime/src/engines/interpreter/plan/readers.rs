//! The readers of the results of the instructions of a region.

use super::super::code::{Code, Instr};
use super::super::liveness::successors;
use ptx_dsl_isa::image::{End, Register};
use std::collections::HashMap;

/// The reader of the result of an instruction.
#[derive(Clone, Copy, PartialEq)]
enum Reader {
    Nobody,
    /// A single reader: this instruction of the region.
    One(usize),
    /// Several readers, or a reader outside of the region, or unknown ones.
    Others,
}

/// The reader of each instruction of a region.
pub(super) struct Readers(Vec<Reader>);

impl Readers {
    pub fn of(code: &Code, at: usize) -> Readers {
        let body = &code.regions[at].body;
        let mut readers = vec![Reader::Nobody; body.len()];
        let mut writers: HashMap<Register, usize> = HashMap::new();
        for (i, Instr { op, .. }) in body.iter().enumerate() {
            for register in op.reads() {
                if let Some(writer) = writers.get(&register) {
                    readers[*writer] = match readers[*writer] {
                        Reader::Nobody => Reader::One(i),
                        Reader::One(reader) if reader == i => Reader::One(i),
                        _ => Reader::Others,
                    };
                }
            }
            for register in op.results.iter().flatten() {
                match op.guard {
                    // some lanes keep what they have
                    Some(_) => writers.get(register).into_iter().for_each(|writer| readers[*writer] = Reader::Others),
                    None => _ = writers.insert(*register, i),
                }
            }
        }
        for (register, writer) in writers {
            if !is_dead_at_end(code, at, register) {
                readers[writer] = Reader::Others;
            }
        }
        Readers(readers)
    }

    /// Does nobody else read the result of an instruction?
    pub fn is_only(&self, writer: usize, reader: usize) -> bool {
        self.0[writer] == Reader::One(reader)
    }
}

/// Does nobody read a register after a region?
pub(super) fn is_dead_at_end(code: &Code, at: usize, register: Register) -> bool {
    let end = code.end(at);
    let plain = match end {
        End::Goto { .. } | End::Exit {} => true,
        End::Branch { guard, .. } => guard.register != register,
        _ => false,
    };
    plain && successors(end).into_iter().all(|pc| code.is_dead(register, pc as crate::kernel::Pc))
}
