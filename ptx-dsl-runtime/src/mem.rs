//! Memory: bytes in windows. Addresses are virtual and the same in every run, never pointers of the host.

pub mod address;
pub(crate) mod ahead;
pub(crate) mod common;
pub mod global;
pub(crate) mod lines;
pub(crate) mod places;
pub(crate) mod range;
pub mod scattered;
pub(crate) mod segment;
pub mod tmem;

/// `bytes` bytes at `at`, little endian; `None` if they are not all there.
#[inline(always)]
pub(crate) fn load(memory: &[u8], at: u64, bytes: u32) -> Option<[u64; 4]> {
    let from = usize::try_from(at).ok()?;
    let s = range::part(memory, from, bytes as usize)?;
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

/// Stores the low `bytes` bytes of `value`; `None` if there is no room.
#[inline(always)]
pub(crate) fn store(memory: &mut [u8], at: u64, bytes: u32, value: [u64; 4]) -> Option<()> {
    let from = usize::try_from(at).ok()?;
    let s = range::part_mut(memory, from, bytes as usize)?;
    for (word, chunk) in value.iter().zip(s.chunks_mut(8)) {
        let b = word.to_le_bytes();
        chunk.copy_from_slice(&b[..chunk.len()]);
    }
    Some(())
}
