//! `.collector` qualifiers: which buffer an operation fills, uses or discards, and with which matrix.

use super::multiply::{A, Multiply};
use crate::fault::{Fault, FaultKind};
use crate::machine::Ctx;
use crate::numerics::qual::{Q, Qualifier, q};
use crate::semantics::tcgen05::descriptor::Major;
use crate::sync::collector::{CollectorBuffer, Matrix, Missing, Usage};

/// The qualifiers of a buffer: fill, use, last use, discard.
const QUALIFIERS: [(CollectorBuffer, [Qualifier; 4]); 6] = [
    (CollectorBuffer::A, [q::collector_a_fill, q::collector_a_use, q::collector_a_lastuse, q::collector_a_discard]),
    (CollectorBuffer::B, [q::collector_b_fill, q::collector_b_use, q::collector_b_lastuse, q::collector_b_discard]),
    (
        CollectorBuffer::Stationary(0),
        [q::collector_b0_fill, q::collector_b0_use, q::collector_b0_lastuse, q::collector_b0_discard],
    ),
    (
        CollectorBuffer::Stationary(1),
        [q::collector_b1_fill, q::collector_b1_use, q::collector_b1_lastuse, q::collector_b1_discard],
    ),
    (
        CollectorBuffer::Stationary(2),
        [q::collector_b2_fill, q::collector_b2_use, q::collector_b2_lastuse, q::collector_b2_discard],
    ),
    (
        CollectorBuffer::Stationary(3),
        [q::collector_b3_fill, q::collector_b3_use, q::collector_b3_lastuse, q::collector_b3_discard],
    ),
];

const USAGES: [Usage; 4] = [Usage::Fill, Usage::Use, Usage::LastUse, Usage::Discard];

/// The effects of an instruction on its buffers. Without a qualifier it discards the buffers of A and B, or with `.ws` the first of
/// B.
fn usages(q: Q, ws: bool) -> Vec<(CollectorBuffer, Usage)> {
    let named = |buffer: &(CollectorBuffer, [Qualifier; 4])| {
        let usage = USAGES.iter().zip(buffer.1).find(|(_, name)| q.has(*name));
        usage.map(|(usage, _)| (buffer.0, *usage))
    };
    let mut all: Vec<_> = QUALIFIERS.iter().filter_map(named).collect();
    let default: &[CollectorBuffer] = match (ws, all.is_empty()) {
        (true, true) => &[CollectorBuffer::Stationary(0)],
        (true, false) => &[],
        (false, _) => &[CollectorBuffer::A, CollectorBuffer::B],
    };
    for buffer in default {
        if all.iter().all(|(named, _)| named != buffer) {
            all.push((*buffer, Usage::Discard));
        }
    }
    all
}

impl Multiply {
    /// The matrix that goes into a buffer; `at` are the operands of A and B.
    fn matrix(&self, buffer: CollectorBuffer, at: [u64; 2]) -> Matrix {
        let i = &self.instruction;
        let side = usize::from(buffer != CollectorBuffer::A);
        Matrix {
            at: at[side],
            in_tensor_memory: side == 0 && matches!(self.a, A::Tmem(_)),
            lines: [i.m, i.n][side],
            k: i.k,
            format: i.formats[side],
            transposed: i.major[side] == Major::Mn,
            sparse: side == 0 && self.form.sparse,
        }
    }
}

/// Fills, uses and discards. A fault if a buffer that the operation uses does not hold its matrix.
pub(super) fn collect(x: &mut Ctx<'_>, q: Q, job: &Multiply, at: [u64; 2], lane: u32) -> Result<(), Box<Fault>> {
    for (buffer, usage) in usages(q, job.form.ws) {
        let matrix = job.matrix(buffer, at);
        let Err(missing) = x.tensor().collectors(job.form.pair).operate(buffer, usage, matrix) else { continue };
        let (name, side) = match buffer {
            CollectorBuffer::A => ("a".into(), "A"),
            CollectorBuffer::B => ("b".into(), "B"),
            CollectorBuffer::Stationary(n) => (format!("b{n}"), "B"),
        };
        let usage = if usage == Usage::Use { "use" } else { "lastuse" };
        let what = match missing {
            Missing::Empty => format!(
                "`.collector::{name}::{usage}` reads a collector buffer that no operation has filled since it was discarded"
            ),
            Missing::Other(other) if other.at != matrix.at => format!(
                "`.collector::{name}::{usage}` reads the {side} at {:#x} from a collector buffer that holds the one at {:#x}",
                matrix.at, other.at
            ),
            Missing::Other(_) => format!(
                "`.collector::{name}::{usage}` reads {side} from a collector buffer that holds one of another size or type"
            ),
        };
        let help = "fill the buffer with the same matrix before, and let no operation in between fill or discard it, as those \
                    without a `.collector` qualifier do";
        return Err(x.fault(FaultKind::undefined(what, "9.7.16.10.9", help), lane));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_instructions_without_a_qualifier_discard() {
        let of = |names: &[Qualifier], ws| usages(Q::new(names, &[]), ws);
        use {CollectorBuffer::*, Usage::*};
        assert_eq!(of(&[], false), [(A, Discard), (B, Discard)]);
        assert_eq!(of(&[], true), [(Stationary(0), Discard)]);
        assert_eq!(of(&[q::collector_b2_lastuse], true), [(Stationary(2), LastUse)]);
        assert_eq!(of(&[q::collector_a_fill], false), [(A, Fill), (B, Discard)]);
        assert_eq!(of(&[q::collector_b_use, q::collector_a_use], false), [(A, Use), (B, Use)]);
    }
}
