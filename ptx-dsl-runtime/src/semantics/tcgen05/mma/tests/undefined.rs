//! Undefined words of operands in Tensor Memory, and the words of D that depend on them.

use super::super::multiply::Multiply;
use super::faults::{F16, operands};
use crate::machine::undefined::{OperandPiece, SharedOperands, UndefinedWords};
use crate::memory::tmem;
use crate::numerics::qual::{Q, Qualifier, q};
use crate::semantics::tcgen05::descriptor::form::Generation;
use std::collections::BTreeSet;

/// All of shared memory is defined, and all words but one.
struct But {
    lane: usize,
    column: usize,
}

impl SharedOperands for But {
    fn piece(&mut self, _: usize, _: u32) -> OperandPiece {
        OperandPiece { undefined: 0, origin: None, bytes: [u8::MAX; 16] }
    }

    fn word(&mut self, _: usize, lane: usize, column: usize) -> Option<u32> {
        ((lane, column) == (self.lane, self.column)).then_some(9)
    }
}

/// The words of D, from its first column on, that are undefined if one word is.
fn undefined(flags: &[Qualifier], sparse: bool, s: &[u64], mut but: But) -> BTreeSet<(usize, usize)> {
    let job = Multiply::new(Q::new(flags, &[]), sparse, false, Generation::Sm107, s).expect("a job");
    let (_, first) = tmem::split(s[0] as u32);
    let all = job.undefined_sums(&mut but);
    let words = |w: UndefinedWords| {
        assert_eq!((w.cta, w.origin), (0, 9));
        w.columns.map(move |column| (w.lane, column - first))
    };
    all.into_iter().flat_map(words).collect()
}

/// D is 128 x 64. Rows 19 and 27 have their indices for the first half of k in the word of lane 19, and those for the other half in lane 27.
#[test]
fn metadata_of_rows() {
    let mut s = operands(F16 | 4);
    s.insert(3, 40);
    let run = |lane, column| undefined(&[q::kind_f16], true, &s, But { lane, column });
    let rows: BTreeSet<_> = [19, 27].into_iter().flat_map(|row| (0..64).map(move |n| (row, n))).collect();
    assert_eq!(run(19, 40), rows);
    assert_eq!(run(27, 40), rows);
    assert!(run(19, 41).is_empty());
}

/// The table of columns 16 to 23 of B is in two columns of lane 2.
#[test]
fn lookup_tables_of_columns() {
    let mut s = operands(F16 | 1 << 29);
    s.insert(3, 40);
    let run = |lane, column| undefined(&[q::kind_f8f6f4, q::decompress_lut_b], false, &s, But { lane, column });
    let columns: BTreeSet<_> = (0..128).flat_map(|row| (16..24).map(move |n| (row, n))).collect();
    assert_eq!(run(2, 40), columns);
    assert_eq!(run(2, 41), columns);
    assert!(run(2, 42).is_empty());
}
