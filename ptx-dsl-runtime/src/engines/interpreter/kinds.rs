//! The kinds of what registers hold: rows, uniform or affine.

use ptx_dsl_isa::image::Register;

/// The kind of the value of a register in a cohort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum RegisterKind {
    Rows,
    Uniform,
    Affine,
}

/// The kinds of this many registers are in a word, two bits each.
const OF_WORD: usize = 32;

/// A word of kinds that are all uniform.
const UNIFORM: u64 = u64::MAX / 3 * RegisterKind::Uniform as u64;

/// The place of the kind of a register: the word, and the shift in it.
#[inline(always)]
fn place(r: Register) -> (usize, u32) {
    (r as usize / OF_WORD, 2 * (r % OF_WORD as u32))
}

/// The kinds of registers by warp. Words and not bytes: a plan compares those of many registers, and would wait for bytes that were
/// written one by one.
#[derive(Debug, Clone)]
pub(super) struct Kinds {
    words: Vec<u64>,
    per_warp: usize,
}

/// Registers whose kinds can be compared: words, and the bits in each.
#[derive(Debug, Default)]
pub(super) struct KindSet(Vec<(usize, u64)>);

impl KindSet {
    pub fn of(registers: impl Iterator<Item = Register>) -> Self {
        let mut words: Vec<(usize, u64)> = Vec::new();
        for (word, shift) in registers.map(place) {
            match words.iter_mut().find(|(at, _)| *at == word) {
                Some((_, bits)) => *bits |= 3 << shift,
                None => words.push((word, 3 << shift)),
            }
        }
        KindSet(words)
    }
}

/// New kinds of some registers: words, the bits that change in each, and what they become.
#[derive(Debug, Default)]
pub(super) struct Patch(Vec<(usize, u64, u64)>);

impl Patch {
    /// Sets the kind of a register.
    pub fn add(&mut self, r: Register, kind: RegisterKind) {
        let (word, shift) = place(r);
        let (bits, new) = (3 << shift, (kind as u64) << shift);
        match self.0.iter_mut().find(|(at, ..)| *at == word) {
            Some((_, changed, to)) => (*changed, *to) = (*changed | bits, *to & !bits | new),
            None => self.0.push((word, bits, new)),
        }
    }
}

impl Kinds {
    /// Kinds that are all uniform.
    pub fn new(registers: usize, warps: usize) -> Self {
        let per_warp = registers.div_ceil(OF_WORD);
        Kinds { words: vec![UNIFORM; per_warp * warps], per_warp }
    }

    pub fn reset(&mut self) {
        self.words.fill(UNIFORM);
    }

    /// Makes all registers of warp 0 uniform again.
    pub fn reset_first(&mut self) {
        self.words[..self.per_warp].fill(UNIFORM);
    }

    /// Copies the kinds of one warp to another.
    pub fn copy(&mut self, from: usize, to: usize) {
        self.words.copy_within(from * self.per_warp..(from + 1) * self.per_warp, to * self.per_warp);
    }

    #[inline(always)]
    pub fn set(&mut self, warp: usize, r: Register, kind: RegisterKind) {
        let (word, shift) = place(r);
        let old = &mut self.words[warp * self.per_warp + word];
        let new = *old & !(3 << shift) | (kind as u64) << shift;
        // most often it is: then the next one need not wait for a store
        if *old != new {
            *old = new;
        }
    }

    /// Sets the kinds of several registers.
    #[inline(always)]
    pub fn patch(&mut self, warp: usize, patch: &Patch) {
        for (word, bits, to) in &patch.0 {
            let old = &mut self.words[warp * self.per_warp + word];
            let new = *old & !bits | to;
            if *old != new {
                *old = new;
            }
        }
    }

    #[inline(always)]
    pub fn get(&self, warp: usize, r: Register) -> RegisterKind {
        let (word, shift) = place(r);
        match self.words[warp * self.per_warp + word] >> shift & 3 {
            0 => RegisterKind::Rows,
            1 => RegisterKind::Uniform,
            _ => RegisterKind::Affine,
        }
    }

    pub fn of(&self, warp: usize, set: &KindSet) -> Box<[u64]> {
        set.0.iter().map(|(at, bits)| self.words[warp * self.per_warp + at] & bits).collect()
    }

    /// Whether the kinds of the registers of this set are equal to `kinds`.
    #[inline(always)]
    pub fn are(&self, warp: usize, set: &KindSet, kinds: &[u64]) -> bool {
        let own = &self.words[warp * self.per_warp..];
        set.0.iter().zip(kinds).all(|((at, bits), kinds)| own[*at] & bits == *kinds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_a_set_are_compared_and_no_others() {
        let mut kinds = Kinds::new(70, 3);
        let set = KindSet::of([0, 31, 32, 69].into_iter());
        let before = kinds.of(1, &set);
        assert!(kinds.are(0, &set, &before) && kinds.are(2, &set, &before));
        for r in [1, 30, 33, 68] {
            kinds.set(1, r, RegisterKind::Rows);
            assert!(kinds.are(1, &set, &before), "{r} is not in the set");
        }
        for r in [0, 31, 32, 69] {
            for kind in [RegisterKind::Rows, RegisterKind::Affine] {
                kinds.set(1, r, kind);
                assert_eq!(kinds.get(1, r), kind);
                assert!(!kinds.are(1, &set, &before) && kinds.are(0, &set, &before), "{r}");
            }
            kinds.set(1, r, RegisterKind::Uniform);
            assert!(kinds.are(1, &set, &before), "{r}");
        }
        kinds.copy(1, 2);
        assert_eq!((kinds.get(2, 30), kinds.get(2, 31)), (RegisterKind::Rows, RegisterKind::Uniform));
        kinds.reset_first();
        assert_eq!(kinds.get(1, 30), RegisterKind::Rows);
        kinds.reset();
        assert_eq!(kinds.get(1, 30), RegisterKind::Uniform);
    }
}
