//! Sums of `wgmma.mma_async` that depend on bytes of shared memory that hold undefined values, for the checked host.

use super::operands::{A, WgmmaOperands};
use super::product::{ROWS, WgmmaProduct};
use crate::machine::Ctx;
use crate::machine::findings::UndefinedAccess;
use crate::machine::undefined;
use crate::numerics::lanes::Source;
use crate::numerics::matrix::dot::WIDE;
use crate::numerics::matrix::format::Packing;
use crate::numerics::matrix::fragment::{Cells, of_a, of_c};
use crate::observe::probe::layout::SharedMatrix;
use crate::semantics::matrix::undefined::{MatrixLine, lines};

/// The sums of a warp that are undefined because operands in shared memory are: reports them to the engine, which follows the registers of
/// D. `registers`: of D.
#[cold]
pub(super) fn follow(x: &mut Ctx<'_>, product: &WgmmaProduct, o: &WgmmaOperands<'_>, registers: usize) {
    if product.has_zeros() && product.chunk().is_some() {
        // which elements meet zeros is not known
        return;
    }
    let (rank, warp) = (x.rank(), x.warp as usize % 4);
    let mut rows = match o.a {
        A::Registers(registers) => of_registers(registers, product.packing(0), product.has_zeros()),
        A::Shared(..) => Vec::new(),
    };
    let mut columns = Vec::new();
    for matrix in product.matrices(o, warp) {
        let is_a = is_a(&matrix);
        let (side, which) = if is_a { (0, (ROWS * warp, ROWS)) } else { (1, (0, product.columns())) };
        let format = (product.packing(side), product.has_zeros());
        *(if is_a { &mut rows } else { &mut columns }) =
            lines(&matrix, which, format, |at| undefined::piece(x, rank, at));
    }
    if let Some(chunk) = product.chunk() {
        columns.iter_mut().for_each(|column| *column = column.selected(chunk));
    }
    let per = if product.cells() == Cells::Half { 2 } else { 1 };
    for result in 0..registers {
        let sum = |element: usize, lane: usize| {
            let (row, column) = of_c(element % 4, lane);
            rows.get(row)?.product(columns.get(element / 4 * WIDE + column)?)
        };
        let of_lane = |lane: usize| {
            let all = (result * per..(result + 1) * per).map(|element| sum(element, lane));
            all.collect::<Option<Vec<_>>>()?.first().copied()
        };
        let undefined = (0..32).filter_map(|lane| Some((lane, of_lane(lane)?)));
        let found = undefined.fold(None, |all: Option<(u32, u32)>, (lane, origin)| {
            let (lanes, first) = all.unwrap_or((0, origin));
            Some((lanes | 1 << lane, first))
        });
        if let Some((lanes, origin)) = found {
            let who = x.who(lanes);
            x.findings.undefined.push(UndefinedAccess::Word { result, who, origin });
        }
    }
}

fn is_a(matrix: &SharedMatrix) -> bool {
    matrix.operand == "A"
}

/// The rows of A in registers, whose undefined elements the engine knows: those that are not zero, if that matters.
fn of_registers(registers: &[Source<'_>], packing: Packing, zeros: bool) -> Vec<MatrixLine> {
    let mut rows = vec![if zeros { MatrixLine::ZERO } else { MatrixLine::DEFINED }; ROWS];
    let per = packing.elements() / 4;
    for (r, lanes) in registers.iter().enumerate().filter(|_| zeros) {
        for (lane, word) in lanes.words().iter().enumerate() {
            let (row, k) = of_a(ROWS, r, lane, per);
            let nonzero = word.to_le_bytes().into_iter().zip(k..).filter(|(byte, _)| *byte != 0);
            rows[row].counts |= nonzero.fold(0, |all, (_, k)| all | 1 << k);
        }
    }
    rows
}
