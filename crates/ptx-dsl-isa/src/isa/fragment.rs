//! Fragments: how the matrices of `wmma`, `mma` and `wgmma` are distributed over registers (manual 9.7.14.5 and 9.7.15.5.1).
//!
//! Each element of a matrix is in one register of a warp, or of the four warps of a warpgroup. So the shape, the element type and
//! the number of threads give the number of registers per thread.

use crate::isa::syntax::is_type;
use crate::qualifier::{Qualifier, q};
use crate::ty::Ty;
use crate::written::first_of;

/// A matrix of `d = a * b + c`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matrix {
    /// Rows by depth.
    A,
    /// Depth by columns.
    B,
    /// Rows by columns: `c` and `d`.
    C,
}

/// The type of an element, its bits, and the register that holds one or several.
const ELEMENTS: &[(Qualifier, u32, Ty)] = &[
    (q::f16, 16, Ty::F16x2),
    (q::bf16, 16, Ty::Bf16x2),
    (q::tf32, 32, Ty::Tf32),
    (q::f32, 32, Ty::F32),
    (q::f64, 64, Ty::F64),
    (q::s32, 32, Ty::S32),
    (q::s8, 8, Ty::B32),
    (q::u8, 8, Ty::B32),
    (q::s4, 4, Ty::B32),
    (q::u4, 4, Ty::B32),
    (q::b1, 1, Ty::B32),
    (q::e4m3, 8, Ty::B32),
    (q::e5m2, 8, Ty::B32),
    // In bytes, unless two share one (`packed`).
    (q::e3m2, 8, Ty::B32),
    (q::e2m3, 8, Ty::B32),
    (q::e2m1, 8, Ty::B32),
];

/// Rows, columns and depth of `.m16n8k32`.
pub fn shape(quals: &[Qualifier]) -> Option<[u32; 3]> {
    quals.iter().find_map(|q| shape_of(*q))
}

fn shape_of(qualifier: Qualifier) -> Option<[u32; 3]> {
    let (m, rest) = qualifier.after(".m")?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some([m.parse().ok()?, n.parse().ok()?, k.parse().ok()?])
}

/// The written types, in order.
pub fn types(quals: &[Qualifier]) -> Vec<Qualifier> {
    quals.iter().copied().filter(|q| is_type(q.word())).collect()
}

/// Bits of an element in registers. Four-bit elements are packed if the kind has no wider ones.
pub fn bits(quals: &[Qualifier], element: Qualifier) -> u32 {
    let packed = element == q::e2m1 && first_of(quals, &[q::kind_mxf4, q::kind_mxf4nvf4]).is_some();
    if packed { 4 } else { row(element).1 }
}

fn row(element: Qualifier) -> &'static (Qualifier, u32, Ty) {
    ELEMENTS.iter().find(|row| row.0 == element).unwrap_or(&ELEMENTS[0])
}

/// The registers of a matrix in each of `threads` threads: their type and number.
pub fn registers(quals: &[Qualifier], matrix: Matrix, element: Qualifier, threads: u32) -> (Ty, u32) {
    let [m, n, k] = shape(quals).unwrap_or([8, 8, 8]);
    let elements = match matrix {
        Matrix::A => m * k,
        Matrix::B => k * n,
        Matrix::C => m * n,
    };
    let ty = row(element).2;
    (ty, (elements * bits(quals, element) / (threads * ty.bits())).max(1))
}

/// What a set of qualifiers does not say of a product of matrices: the layouts of A and B, and which of them has which of two narrow
/// types.
pub fn order(quals: &[Qualifier]) -> Vec<Qualifier> {
    let mut found = Vec::new();
    if shape(quals).is_none() {
        return found;
    }
    let mut layouts = quals.iter().filter(|q| matches!(**q, q::row | q::col));
    if layouts.next() == Some(&q::col) {
        found.push(q::a_col);
    }
    if layouts.next() == Some(&q::row) {
        found.push(q::b_row);
    }
    let narrow: Vec<usize> =
        quals.iter().filter(|q| is_type(q.word()) && q.ty().is_none()).map(|q| q.index()).collect();
    if matches!(narrow[..], [a, b, ..] if a > b) {
        found.push(q::reversed_types);
    }
    found
}
