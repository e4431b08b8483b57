//! The elements of a register of A or B as f32.

use crate::isa::float16::bf16_to_f32;
use crate::isa::matrix::dot::WIDE;
use crate::isa::matrix::format::tf32;
use crate::lanes::Level;

/// How registers hold elements.
pub trait Elements {
    /// Elements of a register.
    const PER: usize;
    /// The elements of eight lanes, those of each lane side by side.
    fn in_order<L: Level>(&self, words: &[u32; 8], to: &mut [f32]);
    /// The elements of eight lanes: the first of each, then the next.
    fn across<L: Level>(&self, words: &[u32; 8], to: &mut [[f32; WIDE]]);
}

/// Two f16.
pub struct F16;

impl Elements for F16 {
    const PER: usize = 2;

    #[inline(always)]
    fn in_order<L: Level>(&self, words: &[u32; 8], to: &mut [f32]) {
        for (to, words) in to.chunks_exact_mut(8).zip(words.chunks_exact(4)) {
            let mut halves = [0; 8];
            for (to, word) in halves.chunks_exact_mut(2).zip(words) {
                (to[0], to[1]) = (*word as u16, (word >> 16) as u16);
            }
            to.copy_from_slice(&L::widen(&halves));
        }
    }

    #[inline(always)]
    fn across<L: Level>(&self, words: &[u32; 8], to: &mut [[f32; WIDE]]) {
        let (mut low, mut high) = ([0; 8], [0; 8]);
        for ((low, high), word) in low.iter_mut().zip(&mut high).zip(words) {
            (*low, *high) = (*word as u16, (word >> 16) as u16);
        }
        (to[0], to[1]) = (L::widen(&low), L::widen(&high));
    }
}

/// Two bf16.
pub struct Bf16;

impl Elements for Bf16 {
    const PER: usize = 2;

    #[inline(always)]
    fn in_order<L: Level>(&self, words: &[u32; 8], to: &mut [f32]) {
        for (to, word) in to.chunks_exact_mut(2).zip(words) {
            (to[0], to[1]) = (bf16_to_f32(*word as u16), bf16_to_f32((*word >> 16) as u16));
        }
    }

    #[inline(always)]
    fn across<L: Level>(&self, words: &[u32; 8], to: &mut [[f32; WIDE]]) {
        for (lane, word) in words.iter().enumerate() {
            (to[0][lane], to[1][lane]) = (bf16_to_f32(*word as u16), bf16_to_f32((word >> 16) as u16));
        }
    }
}

/// One tf32.
pub struct Tf32;

impl Elements for Tf32 {
    const PER: usize = 1;

    #[inline(always)]
    fn in_order<L: Level>(&self, words: &[u32; 8], to: &mut [f32]) {
        to.iter_mut().zip(words).for_each(|(to, word)| *to = tf32(*word));
    }

    #[inline(always)]
    fn across<L: Level>(&self, words: &[u32; 8], to: &mut [[f32; WIDE]]) {
        to[0].iter_mut().zip(words).for_each(|(to, word)| *to = tf32(*word));
    }
}

/// Bytes, by the values of all.
pub struct Four(pub &'static [f32; 256]);

impl Elements for Four {
    const PER: usize = 4;

    #[inline(always)]
    fn in_order<L: Level>(&self, words: &[u32; 8], to: &mut [f32]) {
        for (to, word) in to.chunks_exact_mut(4).zip(words) {
            to.iter_mut().zip(word.to_le_bytes()).for_each(|(to, byte)| *to = self.0[usize::from(byte)]);
        }
    }

    #[inline(always)]
    fn across<L: Level>(&self, words: &[u32; 8], to: &mut [[f32; WIDE]]) {
        for (lane, word) in words.iter().enumerate() {
            to.iter_mut().zip(word.to_le_bytes()).for_each(|(to, byte)| to[lane] = self.0[usize::from(byte)]);
        }
    }
}

/// Two of four bytes, from this one on.
pub struct Two(pub &'static [f32; 256], pub u32);

impl Elements for Two {
    const PER: usize = 2;

    #[inline(always)]
    fn in_order<L: Level>(&self, words: &[u32; 8], to: &mut [f32]) {
        for (to, word) in to.chunks_exact_mut(2).zip(words) {
            let [low, high, ..] = (word >> (8 * self.1)).to_le_bytes();
            (to[0], to[1]) = (self.0[usize::from(low)], self.0[usize::from(high)]);
        }
    }

    #[inline(always)]
    fn across<L: Level>(&self, words: &[u32; 8], to: &mut [[f32; WIDE]]) {
        for (lane, word) in words.iter().enumerate() {
            let [low, high, ..] = (word >> (8 * self.1)).to_le_bytes();
            (to[0][lane], to[1][lane]) = (self.0[usize::from(low)], self.0[usize::from(high)]);
        }
    }
}
