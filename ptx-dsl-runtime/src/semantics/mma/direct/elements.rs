//! The elements of a register of A or B as f32.

use crate::numerics::float16::bf16_to_f32;
use crate::numerics::lanes::Level;
use crate::numerics::lanes::Words;
use crate::numerics::matrix::dot::WIDE;
use crate::numerics::matrix::format::tf32;

/// The packing of elements in registers.
pub trait DirectElements {
    /// Elements of a register.
    const PER: usize;
    /// Is the product of two elements exact in f32?
    const EXACT: bool;
    /// The elements of eight lanes, those of each lane side by side.
    fn in_order<L: Level>(&self, words: &[u32; 8], to: &mut [f32]);
    /// The elements of eight lanes: the first of each, then the next.
    fn across<L: Level>(&self, words: &[u32; 8], to: &mut [[f32; WIDE]]);
}

/// The elements of a register of A: eight rows, those of each side by side.
#[inline(always)]
pub fn rows<L: Level, E: DirectElements>(elements: &E, register: &Words, to: &mut [f32]) {
    for (words, to) in register.as_chunks::<8>().0.iter().zip(to.chunks_exact_mut(8 * E::PER)) {
        elements.in_order::<L>(words, to);
    }
}

/// The elements of a register of B, by k. The even columns come first: so four lanes of a register of C, which are even or odd columns
/// of a row, are half of a row of sums.
#[inline(always)]
pub fn columns<L: Level, E: DirectElements>(elements: &E, register: &Words, to: &mut [[f32; WIDE]]) {
    let (columns, _) = register.as_chunks::<4>();
    let even = L::transpose(&[columns[0], columns[2], columns[4], columns[6]]);
    let odd = L::transpose(&[columns[1], columns[3], columns[5], columns[7]]);
    for ((even, odd), to) in even.iter().zip(&odd).zip(to.chunks_exact_mut(E::PER)) {
        let mut words = [0; 8];
        let (first, second) = words.split_at_mut(4);
        first.copy_from_slice(even);
        second.copy_from_slice(odd);
        elements.across::<L>(&words, to);
    }
}

/// Two f16.
pub struct F16;

impl DirectElements for F16 {
    const PER: usize = 2;
    const EXACT: bool = true;

    #[inline(always)]
    fn in_order<L: Level>(&self, words: &[u32; 8], to: &mut [f32]) {
        for (to, words) in to.chunks_exact_mut(8).zip(words.as_chunks::<4>().0) {
            to.copy_from_slice(&L::widen(words));
        }
    }

    #[inline(always)]
    fn across<L: Level>(&self, words: &[u32; 8], to: &mut [[f32; WIDE]]) {
        to.copy_from_slice(&L::widen_apart(words));
    }
}

/// Two bf16.
pub struct Bf16;

impl DirectElements for Bf16 {
    const PER: usize = 2;
    const EXACT: bool = false;

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

/// One tf32 element in a register.
pub struct Tf32;

impl DirectElements for Tf32 {
    const PER: usize = 1;
    const EXACT: bool = false;

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

impl DirectElements for Four {
    const PER: usize = 4;
    const EXACT: bool = true;

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

impl DirectElements for Two {
    const PER: usize = 2;
    const EXACT: bool = true;

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
