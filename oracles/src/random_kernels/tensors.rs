//! Tensor copies (PTX ISA 9.7.9.25.5): boxes of the table to the shared memory of a CTA, and which word lies where.

use super::program::TABLE;

/// A tensor map over the table, words row by row; `main.txt` and `gpu.py` have the same.
pub struct Tensor {
    pub dims: &'static [usize],
    /// Words of the box in each dimension, before the steps.
    boxed: &'static [usize],
    steps: &'static [usize],
    /// Bytes in which pieces of 16 are exchanged.
    span: usize,
}

const fn tensor(dims: &'static [usize], boxed: &'static [usize], steps: &'static [usize], span: usize) -> Tensor {
    Tensor { dims, boxed, steps, span }
}

pub const TENSORS: &[Tensor] = &[
    tensor(&[64], &[16], &[1], 16),
    tensor(&[16, 4], &[4, 4], &[1, 1], 16),
    tensor(&[16, 4], &[8, 4], &[1, 1], 32),
    tensor(&[16, 4], &[16, 3], &[1, 1], 64),
    tensor(&[32, 2], &[32, 3], &[1, 1], 128),
    tensor(&[8, 8], &[8, 6], &[1, 2], 32),
    tensor(&[8, 2, 4], &[4, 2, 3], &[1, 1, 1], 16),
    tensor(&[4, 2, 2, 4], &[4, 2, 1, 3], &[1, 1, 1, 2], 16),
];

impl Tensor {
    /// Elements of the box in each dimension.
    fn counts(&self) -> Vec<usize> {
        self.boxed.iter().zip(self.steps).map(|(size, step)| size.div_ceil(*step)).collect()
    }

    /// Words of the box.
    pub fn words(&self) -> usize {
        self.counts().iter().product()
    }

    /// The copy, from these coordinates on.
    pub fn opcode(&self, at: &[i32]) -> String {
        let coordinates = at.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        format!(
            "cp.async.bulk.tensor.{}d.shared::cluster.global.mbarrier::complete_tx::bytes [board], [%x, {{{coordinates}}}], [flow];",
            self.dims.len()
        )
    }

    /// The word of a box at this position in shared memory.
    pub fn word(&self, table: &[u32], at: &[i32], word: usize) -> u32 {
        // the pieces of a line of 128 bytes are exchanged by the number of the line, as far as the span goes
        let byte = 4 * word;
        let byte = byte ^ ((byte / 128 % (self.span / 16)) * 16);
        let (mut element, mut index, mut pitch, mut inside) = (byte / 4, 0, 1, true);
        for (((dim, count), step), at) in self.dims.iter().zip(self.counts()).zip(self.steps).zip(at) {
            let coordinate = i64::from(*at) + (element % count * step) as i64;
            inside &= (0..*dim as i64).contains(&coordinate);
            index += pitch * coordinate;
            element /= count;
            pitch *= *dim as i64;
        }
        if inside { table[index as usize % TABLE] } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_boxes() {
        let table: Vec<u32> = (0..TABLE as u32).collect();
        let all = |which: usize, at: &[i32]| -> Vec<u32> {
            (0..TENSORS[which].words()).map(|word| TENSORS[which].word(&table, at, word)).collect()
        };
        assert_eq!(all(1, &[12, 2]), [44, 45, 46, 47, 60, 61, 62, 63, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(all(5, &[0, -2])[..16], [0; 8].iter().copied().chain(0..8).collect::<Vec<u32>>());
        // the second line of 128 bytes has neighbouring pieces exchanged
        assert_eq!(all(4, &[0, 0])[32..40], [36, 37, 38, 39, 32, 33, 34, 35]);
        assert_eq!(all(6, &[4, 1, 0])[..8], [12, 13, 14, 15, 0, 0, 0, 0]);
    }
}
