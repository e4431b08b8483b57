//! The form of an `mma`, from its qualifiers.

use crate::numerics::matrix::block_scale::Scale;
use crate::numerics::matrix::format::{Format, Packing};
use crate::numerics::matrix::fragment::Cells;
use crate::numerics::qual::{Q, Qualifier, Ty, q};

/// The kind of the factors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FactorKind {
    Floats,
    Integers,
    /// `.f64`
    Double,
    /// `.b1`
    Bits,
    /// Four products of `.m8n8k4` at once.
    Quads,
}

/// Types and shape. N is 8.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MmaForm {
    pub kind: FactorKind,
    pub m: usize,
    pub k: usize,
    pub formats: [Format; 2],
    /// Two 4-bit elements share a byte.
    pub packed: bool,
    pub sparse: bool,
    /// The elements of D and C.
    pub cells: [Cells; 2],
    pub scale: Option<Scale>,
    /// The largest number of products that are added at once.
    pub step: usize,
}

const SHAPES: &[(Qualifier, usize, usize)] = &[
    (q::m16n8k16, 16, 16),
    (q::m16n8k8, 16, 8),
    (q::m16n8k32, 16, 32),
    (q::m16n8k4, 16, 4),
    (q::m16n8k64, 16, 64),
    (q::m16n8k128, 16, 128),
    (q::m16n8k256, 16, 256),
    (q::m8n8k4, 8, 4),
    (q::m8n8k16, 8, 16),
    (q::m8n8k32, 8, 32),
    (q::m8n8k128, 8, 128),
];

/// Narrow formats, in the order of their qualifiers.
const NARROW: &[(Qualifier, Format)] = &[
    (q::e2m1, Format::E2m1),
    (q::e2m3, Format::E2m3),
    (q::e3m2, Format::E3m2),
    (q::e4m3, Format::E4m3),
    (q::e5m2, Format::E5m2),
    (q::s4, Format::S4),
    (q::u4, Format::U4),
];

/// The formats of A and B.
pub(crate) fn formats(q: Q) -> [Format; 2] {
    let wide = |ty| match ty {
        Ty::Bf16 => Format::Bf16,
        Ty::Tf32 => Format::Tf32,
        Ty::U8 => Format::U8,
        Ty::S8 => Format::S8,
        _ => Format::F16,
    };
    let mut narrow = NARROW.iter().filter(|n| q.has(n.0)).map(|n| n.1);
    match (narrow.next(), narrow.next()) {
        (None, _) => [wide(q.ty[1]), wide(q.ty[2])],
        (Some(both), None) => [both; 2],
        (Some(a), Some(b)) if q.has(q::reversed_types) => [b, a],
        (Some(a), Some(b)) => [a, b],
    }
}

impl MmaForm {
    pub fn of(q: Q, sparse: bool) -> MmaForm {
        let &(_, m, k) = SHAPES.iter().find(|s| q.has(s.0)).unwrap_or(&SHAPES[0]);
        MmaForm::with_shape(q, sparse, m, k)
    }

    /// The form with this many rows and this depth.
    pub fn with_shape(q: Q, sparse: bool, m: usize, k: usize) -> MmaForm {
        let kind = match q.ty[0] {
            Ty::F64 => FactorKind::Double,
            Ty::S32 if q.has(q::b1) => FactorKind::Bits,
            Ty::S32 => FactorKind::Integers,
            _ if q.has(q::m8n8k4) => FactorKind::Quads,
            _ => FactorKind::Floats,
        };
        let packed = q.has(q::kind_mxf4) || q.has(q::kind_mxf4nvf4);
        let of_c = if q.types == 2 { q.ty[1] } else { q.ty[3] };
        let cells = [q.ty[0], of_c].map(|ty| if ty == Ty::F16 { Cells::Half } else { Cells::Word });
        MmaForm { kind, m, k, formats: formats(q), packed, sparse, cells, scale: Scale::of(q), step: usize::MAX }
    }

    /// Elements of a row of A in registers.
    pub fn stored_k(&self) -> usize {
        if self.sparse { self.k / 2 } else { self.k }
    }

    /// Elements of 16 or 32 bits?
    pub fn is_wide(&self) -> bool {
        self.formats[0].bits() >= 16
    }

    /// The packing of A (0) or B (1).
    pub fn packing(&self, side: usize) -> Packing {
        let format = self.formats[side];
        match format {
            Format::U4 | Format::S4 => Packing::Four(format),
            _ => Packing::in_tmem(format, self.packed),
        }
    }

    /// Bits of an element in registers.
    fn bits(&self, side: usize) -> usize {
        match self.kind {
            FactorKind::Double => 32,
            FactorKind::Bits => 1,
            _ => match self.packing(side) {
                Packing::Wide(Format::Tf32) => 32,
                Packing::Wide(_) => 16,
                Packing::Four(_) => 4,
                _ => 8,
            },
        }
    }

    pub fn registers_of_a(&self) -> usize {
        if self.kind == FactorKind::Quads { 2 } else { (self.m * self.stored_k() * self.bits(0) / 1024).max(1) }
    }

    pub fn registers_of_b(&self) -> usize {
        if self.kind == FactorKind::Quads { 2 } else { (8 * self.k * self.bits(1) / 1024).max(1) }
    }

    pub fn registers_of_c(&self) -> usize {
        let all = if self.kind == FactorKind::Quads { 8 } else { self.m / 4 };
        if self.cells[1] == Cells::Half { all / 2 } else { all }
    }
}
