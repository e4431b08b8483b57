//! Instruction descriptors (PTX ISA 9.7.16.4.2): types, shape and details of a `tcgen05.mma`, in a register, so only
//! known when it runs. One format for each group of kinds.

use super::{bits, wrong};
use crate::fault::FaultKind;
use crate::isa::tcgen05::descriptor::Major;
use crate::isa::tcgen05::format::Format;
use crate::qual::{Q, q};

/// `.kind`
#[allow(missing_docs)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    F16,
    Tf32,
    F8f6f4,
    I8,
    Mxf8f6f4,
    Mxf4,
    Mxf4nvf4,
}

/// The accumulator's type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accumulator {
    /// `.f16`, one in the low half of each word.
    F16,
    /// `.f32`
    F32,
    /// `.s32`, wrapping, or saturating where the descriptor says so.
    S32 {
        /// Bit 3.
        saturate: bool,
    },
}

/// Block scaling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    /// Scale factors of a row of A or column of B: 1, 2 or 4.
    pub vector: usize,
    /// Their type.
    pub format: Format,
    /// The byte of the word where they start, for A and B.
    pub id: [usize; 2],
}

/// What the qualifiers of the instruction say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    /// `.kind`
    pub kind: Kind,
    /// `.cta_group::2`
    pub pair: bool,
    /// `.sp`
    pub sparse: bool,
    /// `.ws`
    pub ws: bool,
    /// `.scale_vec` or `.block`: scale factors of a row; 0 where there is no block scaling.
    pub vector: usize,
}

impl Form {
    /// From the qualifiers; `.sp` and `.ws` are part of the opcode.
    pub fn of(q: Q, sparse: bool, ws: bool) -> Result<Form, FaultKind> {
        let kind = if q.has(q::kind_f16) {
            Kind::F16
        } else if q.has(q::kind_tf32) {
            Kind::Tf32
        } else if q.has(q::kind_f8f6f4) {
            Kind::F8f6f4
        } else if q.has(q::kind_i8) {
            Kind::I8
        } else if q.has(q::kind_mxf8f6f4) {
            Kind::Mxf8f6f4
        } else if q.has(q::kind_mxf4) {
            Kind::Mxf4
        } else if q.has(q::kind_mxf4nvf4) {
            Kind::Mxf4nvf4
        } else {
            return Err(FaultKind::NotYet { what: "`.kind::ti16`".into() });
        };
        for (flag, what) in [(q::ashift, "`.ashift`"), (q::decompress_lut_b, "`.decompress::lut::b`")] {
            if q.has(flag) {
                return Err(FaultKind::NotYet { what: what.into() });
            }
        }
        let vector = match kind {
            Kind::Mxf8f6f4 => 1,
            Kind::Mxf4 => 2,
            Kind::Mxf4nvf4 if q.has(q::scale_vec_4X) || q.has(q::block16) => 4,
            Kind::Mxf4nvf4 => 2,
            _ => 0,
        };
        Ok(Form { kind, pair: q.has(q::cta_group_2), sparse, ws, vector })
    }

    /// K, in elements: 32 bytes of a dense row of A.
    pub const fn k(&self) -> usize {
        let dense = match self.kind {
            Kind::F16 => 16,
            Kind::Tf32 => 8,
            Kind::F8f6f4 | Kind::I8 | Kind::Mxf8f6f4 => 32,
            Kind::Mxf4 | Kind::Mxf4nvf4 => 64,
        };
        if self.sparse { 2 * dense } else { dense }
    }

    /// The values of M that there are (9.7.16.2.1, Table of shapes).
    const fn ms(&self) -> &'static [usize] {
        match (self.ws, self.pair, self.vector) {
            (true, ..) => &[32, 64, 128],
            (_, true, _) => &[128, 256],
            (_, false, 0) => &[64, 128],
            (_, false, _) => &[128],
        }
    }

    /// Is there such an N? `transposed`: an 8-bit B that is transposed.
    const fn has_n(&self, n: usize, transposed: bool) -> bool {
        let i8 = matches!(self.kind, Kind::I8);
        if self.ws {
            n == 64 || n == 128 || n == 256 && !self.sparse
        } else if self.pair {
            let step = if i8 || transposed { 32 } else { 16 };
            n >= step && n <= 256 && n.is_multiple_of(step)
        } else {
            let step = if transposed || i8 && n > 32 { 16 } else { 8 };
            n >= 8 && n <= 256 && n.is_multiple_of(step)
        }
    }
}

/// An instruction descriptor, decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction {
    /// M, of both CTAs together.
    pub m: usize,
    /// N, of both CTAs together.
    pub n: usize,
    /// K; A holds half of it if it is sparse.
    pub k: usize,
    /// Type of A and of B.
    pub formats: [Format; 2],
    /// Type of D.
    pub d: Accumulator,
    /// Negate A, B.
    pub negate: [bool; 2],
    /// Is A, B transposed?
    pub major: [Major; 2],
    /// Block scaling.
    pub scale: Option<Scale>,
    /// The largest column shift of `.ws`.
    pub max_shift: u32,
}

const FIELD_TYPE: [&str; 2] =
    ["type of A (bits 7-9) of the instruction descriptor", "type of B (bits 10-12) of the instruction descriptor"];

/// Reserved bits, first to last.
fn zero(x: u32, field: &'static str, from: u32, count: u32) -> Result<(), FaultKind> {
    match bits(x.into(), from, count) {
        0 => Ok(()),
        n => wrong(field, format!("{n:#b}, which must be zero, in {x:#010x}")),
    }
}

/// The types that fields 7-9 and 10-12 name.
fn format(kind: Kind, code: u32, side: usize) -> Result<Format, FaultKind> {
    use Format::*;
    Ok(match (kind, code) {
        (Kind::F16, 0) => F16,
        (Kind::F16, 1) => Bf16,
        (Kind::Tf32, 2) => Tf32,
        (Kind::F8f6f4 | Kind::Mxf8f6f4, 0) => E4m3,
        (Kind::F8f6f4 | Kind::Mxf8f6f4, 1) => E5m2,
        (Kind::F8f6f4 | Kind::Mxf8f6f4, 3) => E2m3,
        (Kind::F8f6f4 | Kind::Mxf8f6f4, 4) => E3m2,
        (Kind::F8f6f4 | Kind::Mxf8f6f4, 5) => E2m1,
        (Kind::I8, 0) => U8,
        (Kind::I8, 1) => S8,
        (Kind::Mxf4 | Kind::Mxf4nvf4, 1) => E2m1,
        _ => return wrong(FIELD_TYPE[side], format!("{code} is no type of {}", kind.name())),
    })
}

impl Kind {
    /// As PTX writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::F16 => "`.kind::f16`",
            Kind::Tf32 => "`.kind::tf32`",
            Kind::F8f6f4 => "`.kind::f8f6f4`",
            Kind::I8 => "`.kind::i8`",
            Kind::Mxf8f6f4 => "`.kind::mxf8f6f4`",
            Kind::Mxf4 => "`.kind::mxf4`",
            Kind::Mxf4nvf4 => "`.kind::mxf4nvf4`",
        }
    }

    const fn is_mx(self) -> bool {
        matches!(self, Kind::Mxf8f6f4 | Kind::Mxf4 | Kind::Mxf4nvf4)
    }

    const fn is_4bit(self) -> bool {
        matches!(self, Kind::Mxf4 | Kind::Mxf4nvf4)
    }
}

impl Instruction {
    /// The descriptor in a register.
    pub fn decode(form: Form, x: u32) -> Result<Instruction, FaultKind> {
        let kind = form.kind;
        let wide = u64::from(x);
        let field = |from, count| bits(wide, from, count);
        let flag = |bit| field(bit, 1) != 0;
        if flag(2) != form.sparse {
            let what =
                if form.sparse { "0, but the instruction is `.sp`" } else { "1, but the instruction is not `.sp`" };
            return wrong("sparsity (bit 2) of the instruction descriptor", what);
        }
        if kind.is_mx() {
            zero(x, "reserved bits 0-1 of the instruction descriptor", 0, 2)?;
        } else if field(0, 2) != 0 {
            match (form.sparse, kind) {
                (true, Kind::F16 | Kind::Tf32) => {
                    return Err(FaultKind::NotYet { what: format!("sparsity selector {}", field(0, 2)) });
                }
                _ => {
                    let what = format!("{}, which must be 0 for {}", field(0, 2), kind.name());
                    return wrong("sparsity selector (bits 0-1) of the instruction descriptor", what);
                }
            }
        }
        zero(x, "reserved bit 6 of the instruction descriptor", 6, 1)?;

        let four = kind.is_4bit();
        let formats = [format(kind, field(7, 3), 0)?, format(kind, field(10, if four { 2 } else { 3 }), 1)?];
        let (negate, transpose) = ([flag(13), flag(14)], [flag(15), flag(16)]);
        if kind == Kind::I8 && negate != [false; 2] {
            return wrong("negate A, B (bits 13, 14) of the instruction descriptor", "`.kind::i8` cannot negate");
        }
        for (side, name) in
            ["transpose A (bit 15) of the instruction descriptor", "transpose B (bit 16) of the instruction descriptor"]
                .into_iter()
                .enumerate()
        {
            if transpose[side] && formats[side].bits() < 8 {
                return wrong(name, format!("{} cannot be transposed", formats[side].name()));
            }
        }

        let (d, scale, max_shift, m) = if kind.is_mx() {
            let (scale, m) = scaling(form, x)?;
            (Accumulator::F32, Some(scale), 0, m)
        } else {
            let (d, max_shift) = plain(form, x, formats)?;
            (d, None, max_shift, (field(24, 5) as usize) << 4)
        };

        if !form.ms().contains(&m) {
            let name = if kind.is_mx() {
                "M (bits 27-28) of the instruction descriptor"
            } else {
                "M (bits 24-28) of the instruction descriptor"
            };
            let group = if form.pair { 2 } else { 1 };
            let ws = if form.ws { " of `.ws`" } else { "" };
            return wrong(
                name,
                format!("{m}; with `.cta_group::{group}` and {}{ws} M is one of {:?}", kind.name(), form.ms()),
            );
        }
        let n = (field(17, 6) as usize) << 3;
        if !form.has_n(n, transpose[1] && formats[1].bits() == 8) {
            let what = format!("{n} is no N of {} with M = {m}", kind.name());
            return wrong("N (bits 17-22) of the instruction descriptor", what);
        }
        let major = transpose.map(|t| if t { Major::Mn } else { Major::K });
        Ok(Instruction { m, n, k: form.k(), formats, d, negate, major, scale, max_shift })
    }
}

/// What only the format of f16, tf32, f8f6f4 and i8 has: accumulator and largest shift.
fn plain(form: Form, x: u32, formats: [Format; 2]) -> Result<(Accumulator, u32), FaultKind> {
    let kind = form.kind;
    let field = |from, count| bits(x.into(), from, count);
    let saturate = field(3, 1) != 0;
    if saturate && kind != Kind::I8 {
        return wrong(
            "saturate (bit 3) of the instruction descriptor",
            format!("set, but {} does not saturate", kind.name()),
        );
    }
    let d = match (kind, field(4, 2)) {
        (Kind::F16, 0) if formats == [Format::F16; 2] => Accumulator::F16,
        (Kind::F8f6f4, 0) => Accumulator::F16,
        (Kind::F16 | Kind::Tf32 | Kind::F8f6f4, 1) => Accumulator::F32,
        (Kind::I8, 2) => Accumulator::S32 { saturate },
        (_, n) => {
            let what =
                format!("{n} is no type of D for {} with {} and {}", kind.name(), formats[0].name(), formats[1].name());
            return wrong("type of D (bits 4-5) of the instruction descriptor", what);
        }
    };
    zero(x, "reserved bit 23 of the instruction descriptor", 23, 1)?;
    if field(29, 1) != 0 {
        return Err(FaultKind::NotYet { what: "K (bit 29) of the instruction descriptor".into() });
    }
    let max_shift = [0, 8, 16, 32][field(30, 2) as usize];
    if max_shift != 0 && !form.ws {
        return wrong(
            "maximum shift (bits 30-31) of the instruction descriptor",
            "not zero, but the instruction is not `.ws`",
        );
    }
    Ok((d, max_shift))
}

/// What only the formats with block scaling have: scale factors and M.
fn scaling(form: Form, x: u32) -> Result<(Scale, usize), FaultKind> {
    let kind = form.kind;
    let field = |from, count| bits(x.into(), from, count);
    let not_yet = |what: &str| Err(FaultKind::NotYet { what: format!("{what} of the instruction descriptor") });
    if kind.is_4bit() {
        if field(3, 1) != 0 || field(31, 1) != 0 {
            return not_yet("K = 96 and K = 128 (bits 3 and 31)");
        }
        if field(12, 1) != 0 {
            return not_yet("sparsity version 1 (bit 12)");
        }
        zero(x, "reserved bits 15-16 of the instruction descriptor", 15, 2)?;
        zero(x, "reserved bits 25-26 of the instruction descriptor", 25, 2)?;
    } else {
        zero(x, "reserved bit 3 of the instruction descriptor", 3, 1)?;
        zero(x, "reserved bits 24-25 of the instruction descriptor", 24, 2)?;
        if field(26, 1) != 0 {
            return not_yet("layout of the scale factors of A (bit 26)");
        }
        if field(31, 1) != 0 {
            return not_yet("K (bit 31)");
        }
    }
    let code = field(23, if kind.is_4bit() { 2 } else { 1 });
    let format = match (kind, code) {
        (_, 1) => Format::Ue8m0,
        (Kind::Mxf4nvf4, 0) if form.vector == 4 => Format::Ue4m3,
        (Kind::Mxf4nvf4, 2) => return not_yet("scale factors of type UE5M3 (bits 23-24)"),
        _ => {
            let what = format!("{code} is no type for {} with {} scale factors a row", kind.name(), form.vector);
            return wrong("type of the scale factors (bits 23-24) of the instruction descriptor", what);
        }
    };
    let id = [field(29, 2) as usize, field(4, 2) as usize];
    for (side, name) in [
        "scale factor A ID (bits 29-30) of the instruction descriptor",
        "scale factor B ID (bits 4-5) of the instruction descriptor",
    ]
    .into_iter()
    .enumerate()
    {
        if !id[side].is_multiple_of(form.vector) {
            let what = format!("{}, but {} scale factors start at a multiple of their number", id[side], form.vector);
            return wrong(name, what);
        }
    }
    Ok((Scale { vector: form.vector, format, id }, (field(27, 2) as usize) << 7))
}
