//! Little-endian values of 1 to 32 bytes in a memory.

use super::bounds::{part, part_mut};

/// Loads `bytes` bytes at `at`; `None` if they are not all inside.
#[inline(always)]
pub(crate) fn load(memory: &[u8], at: u64, bytes: u32) -> Option<[u64; 4]> {
    let from = usize::try_from(at).ok()?;
    let s = part(memory, from, bytes as usize)?;
    Some(match *s {
        [a] => [a as u64, 0, 0, 0],
        [a, b] => [u16::from_le_bytes([a, b]) as u64, 0, 0, 0],
        [a, b, c, d] => [u32::from_le_bytes([a, b, c, d]) as u64, 0, 0, 0],
        _ => {
            let mut v = [0; 4];
            for (word, chunk) in v.iter_mut().zip(s.chunks(8)) {
                let mut b = [0; 8];
                b[..chunk.len()].copy_from_slice(chunk);
                *word = u64::from_le_bytes(b);
            }
            v
        }
    })
}

/// Stores the low `bytes` bytes of `value` at `at`; `None` if they are not all inside.
#[inline(always)]
pub(crate) fn store(memory: &mut [u8], at: u64, bytes: u32, value: [u64; 4]) -> Option<()> {
    let from = usize::try_from(at).ok()?;
    let s = part_mut(memory, from, bytes as usize)?;
    for (word, chunk) in value.iter().zip(s.chunks_mut(8)) {
        let b = word.to_le_bytes();
        chunk.copy_from_slice(&b[..chunk.len()]);
    }
    Some(())
}
