//! `wgmma` of warpgroups (PTX ISA 9.7.15): A in registers, eight columns of B in shared memory.

use super::matrices::{Lane, MMAS, product};
use super::program::Halves;

/// The form of `matrices::MMAS` that a warp's part of the product is: 16 rows, f16 to f32.
const OF_A_WARP: usize = 0;
/// The spelling.
pub const OPCODE: &str = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16";
/// Threads of a warpgroup.
pub const THREADS: usize = 128;

impl Halves {
    /// The fields of the descriptor without the address: the leading offset; there are no further columns.
    pub fn descriptor(self) -> u64 {
        (self.apart as u64) << 16 | 8 << 32
    }

    /// The registers that a lane of `mma` would have for this B.
    fn registers(self, shared: &[u8], lane: usize) -> Vec<u64> {
        let register = |half: usize| {
            let at = 16 * (self.first + half * self.apart) + lane / 4 * 16 + lane % 4 * 4;
            u64::from(u32::from_le_bytes([shared[at], shared[at + 1], shared[at + 2], shared[at + 3]]))
        };
        (0..2).map(register).collect()
    }
}

/// D of each thread, from its A and C and the shared bytes of the warpgroup. Without `adds` C counts as zeros.
pub fn multiply(threads: &[[Vec<u64>; 2]], shared: &[u8], at: Halves, adds: bool) -> Vec<Vec<u64>> {
    let warp = |warp: &[[Vec<u64>; 2]]| {
        let lane = |(lane, [a, c]): (usize, &[Vec<u64>; 2])| -> Lane {
            let c = if adds { c.clone() } else { vec![0; c.len()] };
            [a.clone(), at.registers(shared, lane), c]
        };
        let lanes: Vec<Lane> = warp.iter().enumerate().map(lane).collect();
        product(&MMAS[OF_A_WARP], &lanes)
    };
    threads.chunks(32).flat_map(warp).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row r of A is r, column n of B has n in its first k alone.
    #[test]
    fn columns_are_rows_of_shared_memory() {
        let half = |n: usize| u64::from(half_of(n));
        let threads: Vec<[Vec<u64>; 2]> = (0..THREADS)
            .map(|t| {
                let row = t / 32 * 16 + t % 32 / 4;
                let pair = |row: usize| half(row) | half(row) << 16;
                [vec![pair(row), pair(row + 8), pair(row), pair(row + 8)], vec![0; 4]]
            })
            .collect();
        let mut shared = vec![0; 4096];
        let at = Halves { first: 3, apart: 20 };
        for n in 0..8 {
            shared[16 * (3 + n)..][..2].copy_from_slice(&half_of(n).to_le_bytes());
        }
        let d = multiply(&threads, &shared, at, true);
        for (t, d) in d.iter().enumerate() {
            let (row, column) = (t / 32 * 16 + t % 32 / 4, t % 4 * 2);
            let want = [(row, column), (row, column + 1), (row + 8, column), (row + 8, column + 1)];
            assert_eq!(*d, want.map(|(r, n)| u64::from(((r * n) as f32).to_bits())), "{t}");
        }
    }

    /// A small integer as f16.
    fn half_of(n: usize) -> u16 {
        if n == 0 { 0 } else { ((15 + n.ilog2()) << 10) as u16 | ((n << (10 - n.ilog2())) & 0x3ff) as u16 }
    }
}
