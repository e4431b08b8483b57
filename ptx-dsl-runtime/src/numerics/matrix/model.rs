//! The accumulation arithmetic of the tensor cores of each generation.
//!
//! The manual leaves order and precision open. A tensor core adds several products and the accumulator at once: it aligns them to the
//! greatest exponent, drops what is below a number of fraction bits, adds exactly, and rounds the sum once. The study MMA-Sim (arXiv
//! 2511.10909) found the numbers; those of sm_90a are also compared with an H200 (`tests/hardware`).

use super::format::Format;

/// The format in which a sum leaves the tensor core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum To {
    /// f32, rounded towards zero.
    F32,
    /// f32 with so few fraction bits, rounded towards zero.
    F32Of13,
    /// f16, rounded to nearest even.
    F16,
}

/// The parameters of the accumulation of one tensor core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Model {
    /// Bits of a term that are kept below the greatest exponent.
    pub fraction: i16,
    /// Products that are added at once.
    pub step: usize,
    pub to: To,
}

/// The least exponent of a format.
pub(crate) const fn least_exponent(format: Format) -> i16 {
    match format {
        Format::F16 | Format::E5m2 => -14,
        Format::E4m3 | Format::Ue4m3 => -6,
        Format::Ue5m3 => -14,
        Format::E3m2 => -2,
        Format::E2m3 | Format::E2m1 => 0,
        Format::Bf16 | Format::Tf32 | Format::Ue8m0 => -126,
        Format::U8 | Format::S8 | Format::U4 | Format::S4 | Format::S1z4m11 => 0,
    }
}

impl Model {
    const fn new(fraction: i16, step: usize, to: To) -> Model {
        Model { fraction, step, to }
    }

    /// The least exponent of C.
    pub const fn least(self) -> i16 {
        match self.to {
            To::F16 => -14,
            To::F32 | To::F32Of13 => -126,
        }
    }

    /// The model of `mma` and `wmma` with elements of this format. Two formats of a product are of one width.
    pub const fn mma(target: u32, format: Format, to: To) -> Model {
        let small = !matches!(format, Format::F16 | Format::Bf16 | Format::Tf32);
        match target {
            89 if small => Model::new(13, 16, if matches!(to, To::F32) { To::F32Of13 } else { to }),
            ..75 => Model::new(23, 4, to),
            75..80 => Model::new(24, 8, to),
            80..90 => Model::new(24, if matches!(format, Format::Tf32) { 4 } else { 8 }, to),
            _ => Model::new(25, usize::MAX, to),
        }
    }

    /// The model of `wgmma`.
    pub const fn wgmma(format: Format, to: To) -> Model {
        match (format, to) {
            (Format::F16 | Format::Bf16 | Format::Tf32, _) => Model::new(25, usize::MAX, to),
            (_, To::F32) => Model::new(13, usize::MAX, To::F32Of13),
            _ => Model::new(13, usize::MAX, to),
        }
    }

    /// The model of `tcgen05.mma`, and of all kinds with block scaling but those of 4-bit elements.
    pub const fn tcgen05(to: To) -> Model {
        Model::new(25, usize::MAX, to)
    }
}
