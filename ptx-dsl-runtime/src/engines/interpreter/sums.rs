//! Products of matrices of which the thread has not written all elements, for the checked host.
//!
//! Where the manual says which lane has which element, a sum is undefined if its old sum, an element of its row of A or an element of its
//! column of B is: rows and columns of padding stay undefined, and nobody stores them. Integers times zero are zero, whatever they are.

use super::liveness::register;
use super::op::Op;
use super::parts::ValueTracker;
use super::undefined::Lost;
use crate::numerics::lanes::Lanes;
use crate::numerics::matrix::fragment::{Cells, of_a, of_b, of_c};
use crate::numerics::qual::{Q, Ty, q};
use crate::semantics::mma::form::{FactorKind, MmaForm};
use ptx_dsl_isa::image::{Action, Instr, Source};
use ptx_dsl_isa::isa::{Group, Step};
use ptx_dsl_isa::opcode::op;
use std::ops::Range;

/// The operands of a product of matrices: its factors and addends, as indices of its sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sums {
    factors: SumFactors,
    /// Registers on which all sums depend: they are undefined if one of these is in the whole warp.
    shared: Vec<usize>,
    /// The old sum of the first result.
    first: usize,
    /// The predicate without which the old sums do not count.
    pub adds: Option<usize>,
    /// Sums in a register of the result, and of the old sums.
    per: [usize; 2],
}

/// Registers of factors whose elements are known.
#[derive(Debug, Clone, PartialEq, Eq)]
enum SumFactors {
    Unknown,
    /// `mma`: A of this many rows, and B.
    Both {
        a: Range<usize>,
        rows: usize,
        b: Range<usize>,
        sparse: bool,
        integers: bool,
    },
    /// `wgmma`: A; B is in shared memory.
    A(Range<usize>),
}

impl Sums {
    /// The operands of a product; `None` if the instruction is no product, or its sources are not known.
    pub fn new(i: &Instr, qualifiers: Q, widths: &[u32]) -> Option<Sums> {
        let Action::Opcode { opcode, .. } = i.action else { return None };
        let instr = opcode.entries().next().map(|e| e.instr).filter(|instr| instr.adds_products())?;
        if instr.effects.group == Group::Wgmma(Step::Start) {
            return Sums::of_wgmma(i, qualifiers, opcode == op::wgmma_mma_async_sp, widths);
        }
        if matches!(opcode, op::mma | op::mma_sp) {
            return Sums::of_mma(i, qualifiers, opcode == op::mma_sp);
        }
        let first = i.sources.len().checked_sub(i.results.len())?;
        let types = qualifiers.types();
        let types = types.get(..qualifiers.written())?;
        let same = types.first() == types.last();
        // A and B have as many registers if they have the same shape, or are of f16
        let equal = first == 16 || !qualifiers.has(q::m8n32k16) && !qualifiers.has(q::m32n8k16);
        let shared = if equal { (first / 2..first).collect() } else { Vec::new() };
        same.then_some(Sums { factors: SumFactors::Unknown, shared, first, adds: None, per: [1; 2] })
    }

    fn of_wgmma(i: &Instr, qualifiers: Q, sparse: bool, widths: &[u32]) -> Option<Sums> {
        let results = i.results.len();
        // the old sums stand before the last source, which says what is held
        let first = i.sources.len().checked_sub(1 + results)?;
        let is_predicate = |s: &Source| register(s).is_some_and(|r| widths.get(r as usize) == Some(&1));
        let adds = i.sources.iter().position(is_predicate);
        // a constant one stands behind the descriptor of B
        let fragment = i.sources.first().and_then(register).is_some_and(|r| widths.get(r as usize) == Some(&32));
        let after_b = if fragment { 5 } else { 2 };
        let shared = if sparse { vec![after_b] } else { Vec::new() };
        let adds = Some(adds.unwrap_or(after_b + if sparse { 2 } else { 0 }));
        let types = qualifiers.types();
        // the elements of B could be zero
        let factors = if fragment && types[0] != Ty::S32 { SumFactors::A(0..4) } else { SumFactors::Unknown };
        Some(Sums { factors, shared, first, adds, per: [if types[0] == Ty::F16 { 2 } else { 1 }; 2] })
    }

    fn of_mma(i: &Instr, qualifiers: Q, sparse: bool) -> Option<Sums> {
        let form = MmaForm::of(qualifiers, sparse);
        let b = form.registers_of_a();
        let first = b + form.registers_of_b();
        let rest = first + form.registers_of_c();
        if rest > i.sources.len() {
            return None;
        }
        // metadata and scale factors
        let mut shared: Vec<usize> = (rest..i.sources.len()).collect();
        let per = form.cells.map(|cells| if cells == Cells::Half { 2 } else { 1 });
        let factors = if form.kind == FactorKind::Quads {
            shared.extend(b..first);
            SumFactors::Unknown
        } else {
            let integers = matches!(form.kind, FactorKind::Integers | FactorKind::Bits);
            SumFactors::Both { a: 0..b, rows: form.m, b: b..first, sparse, integers }
        };
        (form.kind != FactorKind::Quads || per[0] == per[1]).then_some(Sums { factors, shared, first, adds: None, per })
    }
}

/// The undefined words of a row of A or a column of B, in the order of k, a bit each.
#[derive(Debug, Clone, Copy)]
struct FactorLine {
    undefined: u32,
    /// Words that are not zero, as far as that matters.
    counts: u32,
    /// The source and the lane of an undefined one.
    from: Option<(usize, usize)>,
}

impl FactorLine {
    /// A line without undefined words.
    const DEFINED: FactorLine = FactorLine { undefined: 0, counts: u32::MAX, from: None };

    /// A word of a source in a lane.
    fn add(&mut self, word: usize, undefined: bool, counts: bool, from: (usize, usize)) {
        self.undefined |= u32::from(undefined) << word;
        self.counts |= u32::from(counts || undefined) << word;
        if undefined {
            self.from = self.from.or(Some(from));
        }
    }

    /// Each two words, of which a sparse row has a part that is not known: undefined if both are.
    fn halved(self) -> FactorLine {
        let pairs =
            |two: fn(u32) -> bool, bits: u32| (0..16).filter(|w| two(bits >> (2 * w) & 3)).fold(0, |m, w| m | 1 << w);
        let undefined = pairs(|two| two == 3, self.undefined);
        FactorLine { undefined, counts: pairs(|two| two != 0, self.counts), from: self.from.filter(|_| undefined != 0) }
    }

    /// The origin of an undefined product of a row and a column.
    fn product(&self, column: &FactorLine) -> Option<(usize, usize)> {
        let of_row = self.from.filter(|_| self.undefined & column.counts != 0);
        of_row.or_else(|| column.from.filter(|_| column.undefined & self.counts != 0))
    }
}

/// The factors of a product.
struct Lines {
    rows: [FactorLine; 16],
    columns: [FactorLine; 8],
}

impl SumFactors {
    /// `lost`: by source. `value`: that of a source.
    fn lines(&self, lost: &[Lost], value: impl Fn(usize) -> Lanes) -> Lines {
        let mut all = Lines { rows: [FactorLine::DEFINED; 16], columns: [FactorLine::DEFINED; 8] };
        let lost = |at: usize, lane: usize| lost[at].as_ref().is_some_and(|(lanes, _)| lanes >> lane & 1 != 0);
        let (a, rows) = match self {
            SumFactors::Unknown => return all,
            SumFactors::Both { a, rows, .. } => (a, *rows),
            SumFactors::A(a) => (a, 16),
        };
        let integers = matches!(self, SumFactors::Both { integers: true, .. });
        if integers {
            all.rows.iter_mut().chain(&mut all.columns).for_each(|line| line.counts = 0);
        }
        for (r, at) in a.clone().enumerate() {
            let value = if integers { value(at) } else { [1; 32] };
            for (lane, value) in value.iter().enumerate() {
                let (row, word) = of_a(rows, r, lane, 1);
                all.rows[row].add(word, lost(at, lane), *value != 0, (at, lane));
            }
        }
        if let SumFactors::Both { b, sparse, .. } = self {
            for (r, at) in b.clone().enumerate() {
                let value = if integers { value(at) } else { [1; 32] };
                for (lane, value) in value.iter().enumerate() {
                    let (column, word) = of_b(r, lane, 1);
                    all.columns[column].add(word, lost(at, lane), *value != 0, (at, lane));
                }
            }
            if *sparse {
                all.columns = all.columns.map(FactorLine::halved);
            }
        }
        all
    }
}

impl ValueTracker<'_, '_, '_> {
    /// The undefined lanes of each result of a product of matrices by warp `k`.
    pub(super) fn undefined_sums(&self, op: &Op, sums: &Sums, k: usize) -> Vec<Lost> {
        let lost: Vec<Lost> = op.sources.iter().map(|o| self.lost_operand(o, k)).collect();
        let results = op.results.len();
        if lost.iter().all(Option::is_none) {
            return vec![None; results];
        }
        let mut shared = sums.shared.iter().filter_map(|at| lost.get(*at)).flatten();
        if let Some(all) = shared.find(|(lanes, _)| *lanes == u32::MAX) {
            return vec![Some(all.clone()); results];
        }
        let adds = sums.adds.and_then(|at| op.sources.get(at)).is_none_or(|p| {
            let p = self.runner.operand(p, k);
            p.iter().any(|value| value & 1 != 0)
        });
        let lines = sums.factors.lines(&lost, |at| self.runner.operand(&op.sources[at], k));
        // the source and the lane from which a sum of a lane has its undefined value
        let from = |element: usize, lane: usize| {
            let old = sums.first + element / sums.per[1];
            let is_lost = |(lanes, _): &(u32, _)| lanes >> lane & 1 != 0;
            if adds && lost.get(old).and_then(Option::as_ref).is_some_and(is_lost) {
                return Some((old, lane));
            }
            let (row, column) = of_c(element % 4, lane);
            lines.rows[row].product(&lines.columns[column])
        };
        let result = |n: usize| {
            let elements = n * sums.per[0]..(n + 1) * sums.per[0];
            let by_lane = (0..32).map(|lane| elements.clone().map(|e| from(e, lane)).collect::<Option<Vec<_>>>());
            let mut all = (0..).zip(by_lane).filter_map(|(lane, from)| Some((lane, *from?.first()?))).peekable();
            let (_, (at, lane)) = *all.peek()?;
            let lanes = all.fold(0, |lanes: u32, (lane, _)| lanes | 1 << lane);
            let (_, root) = lost.get(at)?.clone()?;
            Some((lanes, root.moved(&[lane as u32; 32])))
        };
        (0..results).map(result).collect()
    }
}
