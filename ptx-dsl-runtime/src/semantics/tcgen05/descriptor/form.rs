//! The form of a `tcgen05.mma`, decoded from its qualifiers, and the shapes that it allows (PTX ISA 9.7.16.2.1).

use crate::fault::FaultKind;
use crate::numerics::qual::{Q, q};

/// `.kind`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MmaKind {
    /// `.kind::f16`
    F16,
    /// `.kind::tf32`
    Tf32,
    /// `.kind::f8f6f4`
    F8f6f4,
    /// `.kind::i8`
    I8,
    /// `.kind::ti16`
    Ti16,
    /// `.kind::mxf8f6f4`
    Mxf8f6f4,
    /// `.kind::mxf4`
    Mxf4,
    /// `.kind::mxf4nvf4`
    Mxf4nvf4,
}

impl MmaKind {
    /// The name in PTX.
    pub const fn name(self) -> &'static str {
        match self {
            MmaKind::F16 => "`.kind::f16`",
            MmaKind::Tf32 => "`.kind::tf32`",
            MmaKind::F8f6f4 => "`.kind::f8f6f4`",
            MmaKind::I8 => "`.kind::i8`",
            MmaKind::Ti16 => "`.kind::ti16`",
            MmaKind::Mxf8f6f4 => "`.kind::mxf8f6f4`",
            MmaKind::Mxf4 => "`.kind::mxf4`",
            MmaKind::Mxf4nvf4 => "`.kind::mxf4nvf4`",
        }
    }

    /// Block scaling?
    pub const fn is_mx(self) -> bool {
        matches!(self, MmaKind::Mxf8f6f4 | MmaKind::Mxf4 | MmaKind::Mxf4nvf4)
    }

    /// 4-bit elements only?
    pub const fn is_4bit(self) -> bool {
        matches!(self, MmaKind::Mxf4 | MmaKind::Mxf4nvf4)
    }

    /// Elements of 16 or 32 bits?
    pub const fn is_wide(self) -> bool {
        matches!(self, MmaKind::F16 | MmaKind::Tf32 | MmaKind::Ti16)
    }
}

/// The generation of the target, on which the fields of descriptors depend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Generation {
    /// sm_100, sm_101, sm_110
    Sm100,
    /// sm_103
    Sm103,
    /// sm_107
    Sm107,
}

impl Generation {
    /// The generation of a `.target`.
    pub fn of(target: &str) -> Generation {
        match target.trim_start_matches("sm_").trim_end_matches(['a', 'f']) {
            "103" => Generation::Sm103,
            "107" => Generation::Sm107,
            _ => Generation::Sm100,
        }
    }
}

/// The form of the instruction, from its qualifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MmaForm {
    /// `.kind`
    pub kind: MmaKind,
    /// `.cta_group::2`
    pub pair: bool,
    /// `.sp`
    pub sparse: bool,
    /// `.ws`
    pub ws: bool,
    /// Scale factors of a row at the smallest K: 1, 2 or 4; 0 where there is no block scaling.
    pub vector: usize,
    /// Whether the number of scale factors is spelled out, `.scale_vec::2X`, rather than the size of their blocks.
    pub counted: bool,
    /// `.ashift`
    pub ashift: bool,
    /// `.decompress::lut::b`
    pub lut: bool,
    /// The target's generation.
    pub generation: Generation,
}

impl MmaForm {
    /// The form that the qualifiers give; `.sp` and `.ws` are part of the opcode.
    pub fn of(q: Q, sparse: bool, ws: bool, generation: Generation) -> Result<MmaForm, FaultKind> {
        let kinds = [
            (q::kind_f16, MmaKind::F16),
            (q::kind_tf32, MmaKind::Tf32),
            (q::kind_f8f6f4, MmaKind::F8f6f4),
            (q::kind_i8, MmaKind::I8),
            (q::kind_ti16, MmaKind::Ti16),
            (q::kind_mxf8f6f4, MmaKind::Mxf8f6f4),
            (q::kind_mxf4, MmaKind::Mxf4),
            (q::kind_mxf4nvf4, MmaKind::Mxf4nvf4),
        ];
        let Some(&(_, kind)) = kinds.iter().find(|(flag, _)| q.has(*flag)) else {
            return Err(FaultKind::Internal("a `tcgen05.mma` without a kind".into()));
        };
        let counted = q.has(q::scale_vec_1X) || q.has(q::scale_vec_2X) || q.has(q::scale_vec_4X);
        let vector = match kind {
            MmaKind::Mxf8f6f4 => 1,
            MmaKind::Mxf4 => 2,
            MmaKind::Mxf4nvf4 if q.has(q::scale_vec_4X) || q.has(q::block16) => 4,
            MmaKind::Mxf4nvf4 => 2,
            _ => 0,
        };
        let (pair, ashift, lut) = (q.has(q::cta_group_2), q.has(q::ashift), q.has(q::decompress_lut_b));
        Ok(MmaForm { kind, pair, sparse, ws, vector, counted, ashift, lut, generation })
    }

    /// The smallest K of a dense matrix, in elements: 32 bytes of a row of A.
    pub const fn dense_k(&self) -> usize {
        match self.kind {
            MmaKind::F16 | MmaKind::Ti16 => 16,
            MmaKind::Tf32 => 8,
            MmaKind::F8f6f4 | MmaKind::I8 | MmaKind::Mxf8f6f4 => 32,
            MmaKind::Mxf4 | MmaKind::Mxf4nvf4 => 64,
        }
    }

    /// The values of M that there are.
    pub const fn ms(&self) -> &'static [usize] {
        match (self.ws, self.pair, self.vector) {
            (true, ..) => &[32, 64, 128],
            (_, true, 1..) if self.sparse => &[256],
            (_, true, _) => &[128, 256],
            (_, false, 0) => &[64, 128],
            (_, false, _) => &[128],
        }
    }

    /// Whether this N exists. `transposed`: an 8-bit B that is transposed.
    pub const fn has_n(&self, m: usize, n: usize, transposed: bool) -> bool {
        let (i8, ti16) = (matches!(self.kind, MmaKind::I8), matches!(self.kind, MmaKind::Ti16));
        if self.ws {
            return n == 64 || n == 128 || n == 256 && !self.sparse;
        }
        let step = if self.pair {
            if i8 || ti16 || transposed { 32 } else { 16 }
        } else if transposed || i8 && n > 32 || ti16 && m == 128 {
            16
        } else {
            8
        };
        n >= step && n <= 256 && n.is_multiple_of(step)
    }
}
