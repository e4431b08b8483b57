//! The lattice of affine lanes: rows of lanes in which a value grows by a constant stride.

use crate::uniformity::Uniformity;

/// The lane layout of a value: rows of `period` lanes, in each of which the value grows by `stride` from lane to lane. A period
/// of 1 says nothing; a period of 32 with stride 0 is a uniform value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Affine {
    /// Lanes of a row: 32, 16, 8, or 1.
    pub period: u32,
    /// The difference between neighbouring lanes of a row.
    pub stride: i64,
    /// The number of run-time conditions under which the rest holds; 0 if it always holds.
    pub guards: u8,
    /// The first value of each row is a multiple of two to this power.
    pub known_align: u32,
    /// The threads that share the value: if `period` is 32 and `stride` 0, at least those of a warp.
    pub uniformity: Uniformity,
}

/// Nothing is known: 32 values.
pub const VARYING: Affine = Affine { period: 1, stride: 0, guards: 0, known_align: 0, uniformity: Uniformity::None };
/// All lanes of a warp share the value.
pub const UNIFORM: Affine = Affine { period: 32, uniformity: Uniformity::Warp, ..VARYING };
/// All lanes of a CTA share the value.
pub const CTA_UNIFORM: Affine = Affine { uniformity: Uniformity::Cta, ..UNIFORM };

impl Affine {
    /// Does the value lie in rows?
    pub fn is_affine(self) -> bool {
        self.period > 1
    }

    /// This layout, shared by these threads if it is one value for all lanes.
    pub fn with_uniformity(self, uniformity: Uniformity) -> Affine {
        let uniform = self.period == 32 && self.stride == 0;
        Affine { uniformity: if uniform { uniformity.max(Uniformity::Warp) } else { Uniformity::None }, ..self }
    }

    /// Do all threads of the CTA share it?
    pub fn is_cta_uniform(self) -> bool {
        self.uniformity == Uniformity::Cta
    }

    /// Is it one value for all lanes, without a condition?
    pub fn is_uniform(self) -> bool {
        self.same_lanes(UNIFORM)
    }

    /// Do the lanes lie in the same way, whatever else is known?
    pub fn same_lanes(self, o: Affine) -> bool {
        (self.period, self.stride, self.guards) == (o.period, o.stride, o.guards)
    }

    /// Rows of a warp.
    pub fn rows(self) -> u32 {
        32 / self.period
    }

    /// One number in all lanes.
    pub fn constant(v: u64) -> Affine {
        Affine { known_align: v.trailing_zeros(), ..CTA_UNIFORM }
    }

    /// This layout as shorter rows of `period` lanes.
    pub fn cut(self, period: u32) -> Affine {
        let known_align = if period < self.period {
            self.known_align.min((self.stride * i64::from(period)).trailing_zeros())
        } else {
            self.known_align
        };
        Affine { period, known_align, ..self }.with_uniformity(self.uniformity)
    }

    /// Do the lanes of a row differ from the first only in the lowest `bits` bits?
    pub fn varies_within(self, bits: u32) -> bool {
        bits <= self.known_align.min(31) && self.stride >= 0 && self.stride * i64::from(self.period - 1) < 1 << bits
    }

    /// The join of two layouts: the best one that holds for both.
    pub fn join(self, o: Affine) -> Affine {
        let affine = self.is_affine() && o.is_affine() && self.stride == o.stride;
        let conditional = self.guards.max(o.guards) > 0;
        if !affine || (conditional && !self.same_lanes(o)) {
            return VARYING;
        }
        let (a, b) = (self.cut(self.period.min(o.period)), o.cut(self.period.min(o.period)));
        let known_align = a.known_align.min(b.known_align);
        Affine { known_align, ..a }.with_uniformity(self.uniformity.min(o.uniformity))
    }
}
