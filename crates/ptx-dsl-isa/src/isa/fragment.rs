//! How the matrices of `wmma`, `mma` and `wgmma` are dealt to registers: manual 9.7.14.5 and 9.7.15.5.1.
//!
//! A matrix lies in the registers of a warp, or of the four warps of a warpgroup, each element once. So the shape, the type of
//! an element and the number of threads say how many registers a thread has of it.

use crate::hir::first_of;
use crate::isa::syntax::is_type;
use crate::ty::Ty;

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

/// Type of an element, its bits, the register that holds one or several.
const ELEMENTS: &[(&str, u32, Ty)] = &[
    ("f16", 16, Ty::F16x2),
    ("bf16", 16, Ty::Bf16x2),
    ("tf32", 32, Ty::Tf32),
    ("f32", 32, Ty::F32),
    ("f64", 64, Ty::F64),
    ("s32", 32, Ty::S32),
    ("s8", 8, Ty::B32),
    ("u8", 8, Ty::B32),
    ("s4", 4, Ty::B32),
    ("u4", 4, Ty::B32),
    ("b1", 1, Ty::B32),
    ("e4m3", 8, Ty::B32),
    ("e5m2", 8, Ty::B32),
    // In bytes, unless two share one (`packed`).
    ("e3m2", 8, Ty::B32),
    ("e2m3", 8, Ty::B32),
    ("e2m1", 8, Ty::B32),
];

/// Rows, columns and depth of `.m16n8k32`.
pub fn shape(quals: &[String]) -> Option<[u32; 3]> {
    for q in quals {
        let shape = shape_of(q);
        if shape.is_some() {
            return shape;
        }
    }
    None
}

fn shape_of(qualifier: &str) -> Option<[u32; 3]> {
    let (m, rest) = qualifier.strip_prefix(".m")?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some([m.parse().ok()?, n.parse().ok()?, k.parse().ok()?])
}

/// The types that are written, in order, without their dots.
pub fn types(quals: &[String]) -> Vec<&str> {
    let mut out = Vec::new();
    for q in quals {
        let word = q.trim_start_matches('.');
        if is_type(word) {
            out.push(word);
        }
    }
    out
}

/// Bits of an element in registers. Those of four bits are packed where the kind has no wider ones beside them.
pub fn bits(quals: &[String], element: &str) -> u32 {
    let packed = element == "e2m1" && first_of(quals, &[".kind::mxf4", ".kind::mxf4nvf4"]).is_some();
    if packed { 4 } else { row(element).1 }
}

fn row(element: &str) -> &'static (&'static str, u32, Ty) {
    for row in ELEMENTS {
        if row.0 == element {
            return row;
        }
    }
    &ELEMENTS[0]
}

/// The registers that one of `threads` has of a matrix: their type, and how many.
pub fn registers(quals: &[String], matrix: Matrix, element: &str, threads: u32) -> (Ty, u32) {
    let [m, n, k] = shape(quals).unwrap_or([8, 8, 8]);
    let elements = match matrix {
        Matrix::A => m * k,
        Matrix::B => k * n,
        Matrix::C => m * n,
    };
    let ty = row(element).2;
    (ty, (elements * bits(quals, element) / (threads * ty.bits())).max(1))
}
