//! Instruction descriptors (PTX ISA 9.7.16.4.2): types, shape and details of a `tcgen05.mma`, in a register, so only
//! known when it runs. One format for each group of kinds.

pub use super::form::{Generation, MmaForm, MmaKind};
use super::{Major, bits, wrong};
use crate::fault::FaultKind;
use crate::numerics::matrix::format::Format;

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
    /// Scale factors of a row of A or column of B: one for each block of K.
    pub vector: usize,
    /// The type of the scale factors.
    pub format: Format,
    /// The byte of the word where the scale factors start, for A and B.
    pub id: [usize; 2],
    /// The scale factors of A have line *l* in lane *l* of 128 (bit 26), and are not repeated in all partitions of 32 lanes.
    pub spread: bool,
}

/// Fields of the formats with block scaling.
struct Scaled {
    scale: Scale,
    m: usize,
    k: usize,
    /// 4-bit elements are sparse one by one, not in pairs.
    single: bool,
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
    /// The column of sparsity metadata that is read, for elements of 16 and 32 bits.
    pub selector: usize,
    /// Sparsity version 1 of 4-bit kinds: two of four, not four of eight in pairs.
    pub single: bool,
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
fn format(kind: MmaKind, code: u32, side: usize) -> Result<Format, FaultKind> {
    use Format::*;
    Ok(match (kind, code) {
        (MmaKind::F16, 0) => F16,
        (MmaKind::F16, 1) => Bf16,
        (MmaKind::Tf32, 2) => Tf32,
        (MmaKind::F8f6f4 | MmaKind::Mxf8f6f4, 0) => E4m3,
        (MmaKind::F8f6f4 | MmaKind::Mxf8f6f4, 1) => E5m2,
        (MmaKind::F8f6f4 | MmaKind::Mxf8f6f4, 3) => E2m3,
        (MmaKind::F8f6f4 | MmaKind::Mxf8f6f4, 4) => E3m2,
        (MmaKind::F8f6f4 | MmaKind::Mxf8f6f4, 5) => E2m1,
        (MmaKind::I8, 0) => U8,
        (MmaKind::I8, 1) => S8,
        (MmaKind::Ti16, 3) => S1z4m11,
        (MmaKind::Mxf4 | MmaKind::Mxf4nvf4, 1) => E2m1,
        _ => return wrong(FIELD_TYPE[side], format!("{code} is not a type of {}", kind.name())),
    })
}

impl Instruction {
    /// The descriptor in a register.
    pub fn decode(form: MmaForm, x: u32) -> Result<Instruction, FaultKind> {
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
            match (form.sparse && kind.is_wide(), field(0, 2)) {
                (true, 1) => {}
                (true, n) => return Err(FaultKind::NotYet { what: format!("sparsity selector {n}") }),
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
        if kind == MmaKind::I8 && negate != [false; 2] {
            return wrong("negate A, B (bits 13, 14) of the instruction descriptor", "`.kind::i8` cannot negate");
        }
        if kind == MmaKind::Ti16 && transpose != [false; 2] {
            // one table of the manual has it, the other says that these bits are zero
            return Err(FaultKind::NotYet { what: "transposed matrices of `.kind::ti16`".into() });
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

        let (d, max_shift, scale, m, dense_k, single) = if kind.is_mx() {
            let Scaled { scale, m, k, single } = scaling(form, x)?;
            (Accumulator::F32, 0, Some(scale), m, k, single)
        } else {
            let (d, max_shift, k) = plain(form, x, formats)?;
            (d, max_shift, None, (field(24, 5) as usize) << 4, k, false)
        };
        if dense_k > form.dense_k() && !four && formats.iter().any(|f| f.bits() < 8) {
            return Err(FaultKind::NotYet { what: "K = 64 with elements of less than 8 bits".into() });
        }
        if form.lut {
            lut(form, formats, transpose, dense_k)?;
        }

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
        if !form.has_n(m, n, transpose[1] && formats[1].bits() == 8) {
            let what = format!("{n} is not an N of {} with M = {m}", kind.name());
            return wrong("N (bits 17-22) of the instruction descriptor", what);
        }
        let major = transpose.map(|t| if t { Major::Mn } else { Major::K });
        let k = if form.sparse { 2 * dense_k } else { dense_k };
        let selector = if form.sparse && kind.is_wide() { field(0, 2) as usize } else { 0 };
        Ok(Instruction { m, n, k, formats, d, negate, major, scale, max_shift, selector, single })
    }
}

/// The requirements of `.decompress::lut::b` on B.
fn lut(form: MmaForm, formats: [Format; 2], transpose: [bool; 2], dense_k: usize) -> Result<(), FaultKind> {
    let only = |what: String| format!("{what}, but `.decompress::lut::b` makes e4m3 elements, 64 in a column");
    if formats[1] != Format::E4m3 {
        return wrong(FIELD_TYPE[1], only(formats[1].name().into()));
    }
    if transpose[1] {
        return wrong("transpose B (bit 16) of the instruction descriptor", only("transposed".into()));
    }
    if dense_k != 64 {
        let field = if form.kind.is_mx() {
            "K (bit 31) of the instruction descriptor"
        } else {
            "K (bit 29) of the instruction descriptor"
        };
        return wrong(field, only(format!("K = {dense_k}")));
    }
    Ok(())
}

/// A fault unless the target has what a field asks for.
fn needs(has: bool, field: &'static str, what: &str) -> Result<(), FaultKind> {
    if has { Ok(()) } else { wrong(field, what) }
}

/// Decodes the fields that only the format of f16, tf32, f8f6f4, i8 and ti16 has: accumulator, largest shift and K.
fn plain(form: MmaForm, x: u32, formats: [Format; 2]) -> Result<(Accumulator, u32, usize), FaultKind> {
    let kind = form.kind;
    let field = |from, count| bits(x.into(), from, count);
    let saturate = field(3, 1) != 0;
    if saturate && kind != MmaKind::I8 {
        return wrong(
            "saturate (bit 3) of the instruction descriptor",
            format!("set, but {} does not saturate", kind.name()),
        );
    }
    let d = match (kind, field(4, 2)) {
        (MmaKind::F16, 0) if formats == [Format::F16; 2] => Accumulator::F16,
        (MmaKind::F8f6f4, 0) => Accumulator::F16,
        (MmaKind::F16 | MmaKind::Tf32 | MmaKind::F8f6f4, 1) => Accumulator::F32,
        (MmaKind::I8 | MmaKind::Ti16, 2) => Accumulator::S32 { saturate },
        (_, n) => {
            let what = format!(
                "{n} is not a type of D for {} with {} and {}",
                kind.name(),
                formats[0].name(),
                formats[1].name()
            );
            return wrong("type of D (bits 4-5) of the instruction descriptor", what);
        }
    };
    zero(x, "reserved bit 23 of the instruction descriptor", 23, 1)?;
    let k = if kind == MmaKind::F8f6f4 && form.generation == Generation::Sm107 && field(29, 1) != 0 {
        64
    } else {
        zero(x, "K (bit 29) of the instruction descriptor", 29, 1)?;
        form.dense_k()
    };
    let max_shift = [0, 8, 16, 32][field(30, 2) as usize];
    if max_shift != 0 && !form.ws {
        return wrong(
            "maximum shift (bits 30-31) of the instruction descriptor",
            "not zero, but the instruction is not `.ws`",
        );
    }
    Ok((d, max_shift, k))
}

/// Decodes the fields that only the format with block scaling has: scale factors, M and K.
fn scaling(form: MmaForm, x: u32) -> Result<Scaled, FaultKind> {
    let (kind, sm107) = (form.kind, form.generation == Generation::Sm107);
    let field = |from, count| bits(x.into(), from, count);
    let flag = |bit| field(bit, 1) != 0;
    const LAYOUT: &str = "layout of the scale factors of A (bit 26) of the instruction descriptor";
    const VERSION: &str = "sparsity version (bit 12) of the instruction descriptor";
    const BITS_3_31: &str = "K (bits 3 and 31) of the instruction descriptor";
    const BIT_31: &str = "K (bit 31) of the instruction descriptor";
    needs(!flag(26) || sm107, LAYOUT, "1 is for sm_107 only")?;
    let mut single = false;
    let k = if kind.is_4bit() {
        zero(x, "reserved bits 15-16 of the instruction descriptor", 15, 2)?;
        zero(x, "reserved bit 25 of the instruction descriptor", 25, 1)?;
        needs(!flag(12) || sm107, VERSION, "1 is for sm_107 only")?;
        single = flag(12);
        match (flag(3), flag(31)) {
            (false, false) => 64,
            (false, true) if form.generation != Generation::Sm100 => 96,
            (true, false) if sm107 => 128,
            (false, true) => return wrong(BITS_3_31, "K = 96 is for sm_103a and sm_107a only"),
            (true, false) => return wrong(BITS_3_31, "K = 128 is for sm_107 only"),
            (true, true) => return wrong(BITS_3_31, "3 is not a K"),
        }
    } else {
        zero(x, "reserved bit 3 of the instruction descriptor", 3, 1)?;
        zero(x, "reserved bits 24-25 of the instruction descriptor", 24, 2)?;
        needs(!flag(31) || sm107, BIT_31, "K = 64 is for sm_107 only")?;
        if flag(31) { 64 } else { 32 }
    };
    if k != form.dense_k() && form.counted {
        let what = format!("K = {k} with `.scale_vec`, not `.block16` or `.block32`,");
        return Err(FaultKind::NotYet { what });
    }
    let code = field(23, if kind.is_4bit() { 2 } else { 1 });
    let format = match (kind, code) {
        (_, 1) => Format::Ue8m0,
        (MmaKind::Mxf4nvf4, 0) if form.vector == 4 || sm107 => Format::Ue4m3,
        (MmaKind::Mxf4nvf4, 2) if sm107 => Format::Ue5m3,
        _ => {
            let what = format!("{code} is not a type for {} with {} scale factors a row", kind.name(), form.vector);
            return wrong("type of the scale factors (bits 23-24) of the instruction descriptor", what);
        }
    };
    // a block is as wide at every K
    let vector = k * form.vector / form.dense_k();
    let id = [field(29, 2) as usize, field(4, 2) as usize];
    for (side, name) in [
        "scale factor A ID (bits 29-30) of the instruction descriptor",
        "scale factor B ID (bits 4-5) of the instruction descriptor",
    ]
    .into_iter()
    .enumerate()
    {
        // so that those of the next K begin where these end
        let step = [1, 1, 2, 1, 4, 4, 2, 4, 4][vector.min(8)];
        let step = if kind.is_4bit() { step } else { 1 };
        if !id[side].is_multiple_of(step) {
            let what = format!("{}, but {vector} scale factors start at a multiple of {step}", id[side]);
            return wrong(name, what);
        }
    }
    let spread = flag(26);
    Ok(Scaled { scale: Scale { vector, format, id, spread }, m: (field(27, 2) as usize) << 7, k, single })
}
