//! Matrices of a multiplication, decoded to f32 and laid out for the inner product.

/// The range of the values of a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Range {
    /// Products fit into f32 exactly, and so do powers of two in their vicinity.
    Narrow,
    /// Products need f64.
    Wide,
    /// Some values are infinities or NaNs.
    Special,
}

/// The exponent of a zero: less than that of any product.
pub(crate) const ZERO: i16 = -4096;

/// Exponents of elements whose products are [`Range::Narrow`].
pub(crate) const NARROW: std::ops::RangeInclusive<i16> = -50..=62;

/// A matrix of rows (of A) or columns (of B), `W` of them side by side: element (line, k) is
/// `data[line / W * k_size + k][line % W]`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tile<const W: usize> {
    pub data: Vec<[f32; W]>,
    /// The exponent of each element, once it is [measured](Tile::measure).
    pub exponents: Vec<[i16; W]>,
    /// Elements of a line.
    pub k: usize,
    pub range: Range,
}

/// The exponent of a number as a format stores it whose least exponent is `least`.
#[inline(always)]
pub(crate) fn exponent(value: f32, least: i16) -> i16 {
    let magnitude = value.to_bits() & 0x7fff_ffff;
    let stored = (magnitude >> 23) as i16 - 127;
    let stored = if stored < least { least } else { stored };
    if magnitude == 0 { ZERO } else { stored }
}

/// The elements 4 *i* + `first` and the next ones.
pub(crate) fn every_second_pair<T: Clone>(all: &[T], first: usize) -> Vec<T> {
    all.chunks(4).flat_map(|four| four.get(first..first + 2).unwrap_or(&[])).cloned().collect()
}

impl<const W: usize> Tile<W> {
    /// Zeros. `lines` is a multiple of `W`.
    pub fn new(lines: usize, k: usize) -> Tile<W> {
        Tile { data: vec![[0.0; W]; lines.div_ceil(W) * k], exponents: Vec::new(), k, range: Range::Narrow }
    }

    /// Finds the exponents of elements of a format whose least exponent is `least`, and the range.
    pub fn measure(&mut self, least: i16) {
        self.exponents.clear();
        self.exponents.resize(self.data.len(), [0; W]);
        let (mut low, mut high) = (i16::MAX, i16::MIN);
        for (to, value) in self.exponents.as_flattened_mut().iter_mut().zip(self.data.as_flattened()) {
            let e = exponent(*value, least);
            low = low.min(if e == ZERO { 0 } else { e });
            high = high.max(e);
            *to = e;
        }
        self.range = if high >= 128 {
            Range::Special
        } else if low < *NARROW.start() || high > *NARROW.end() {
            Range::Wide
        } else {
            Range::Narrow
        };
    }

    /// `W` lines.
    #[inline(always)]
    pub fn group(&self, i: usize) -> &[[f32; W]] {
        &self.data[i * self.k..(i + 1) * self.k]
    }

    /// The exponents of [`Tile::group`].
    #[inline(always)]
    pub fn exponents(&self, i: usize) -> &[[i16; W]] {
        &self.exponents[i * self.k..(i + 1) * self.k]
    }

    /// Sets an element.
    #[inline(always)]
    pub fn put(&mut self, line: usize, k: usize, value: f32) {
        if let Some(group) = self.data.get_mut(line / W * self.k + k) {
            group[line % W] = value;
        }
    }

    /// Elements of a line, from `k` on.
    #[inline(always)]
    pub fn put_along_k(&mut self, line: usize, k: usize, values: &[f32]) {
        let at = line / W * self.k + k;
        for (group, &v) in self.data[at..at + values.len()].iter_mut().zip(values) {
            group[line % W] = v;
        }
    }

    /// Element `k` of several lines, from `line` on; lines past the last do not count.
    #[inline(always)]
    pub fn put_across(&mut self, line: usize, k: usize, values: &[f32]) {
        if line.is_multiple_of(W) && values.len().is_multiple_of(W) {
            for (i, v) in values.chunks_exact(W).enumerate() {
                if let Some(group) = self.data.get_mut((line / W + i) * self.k + k) {
                    group.copy_from_slice(v);
                }
            }
            return;
        }
        for (line, &v) in (line..).zip(values) {
            if let Some(group) = self.data.get_mut(line / W * self.k + k) {
                group[line % W] = v;
            }
        }
    }

    /// [`every_second_pair`] of k.
    pub fn every_second_pair(&self, first: usize) -> Tile<W> {
        let data = every_second_pair(&self.data, first);
        Tile { data, exponents: Vec::new(), k: self.k / 2, range: Range::Narrow }
    }

    /// Negates every element.
    pub fn negate(&mut self) {
        for v in self.data.as_flattened_mut() {
            *v = -*v;
        }
    }
}
