//! The addresses of the elements of buffers, so that a launch knows the offset of a part in its buffer. Rust makes parts as plain slices.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

/// The first address of the elements of each buffer, and the one after the last.
static LIVE: RwLock<BTreeMap<usize, usize>> = RwLock::new(BTreeMap::new());

/// The entry of a buffer, as long as it lives.
pub(super) struct Live {
    first: usize,
}

impl Live {
    /// The entry of a buffer with these elements. Elements without bytes have none.
    pub fn new<T>(elements: &[T]) -> Self {
        let first = elements.as_ptr().addr();
        if size_of_val(elements) != 0 {
            LIVE.write().unwrap_or_else(PoisonError::into_inner).insert(first, first + size_of_val(elements));
        }
        Live { first }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        LIVE.write().unwrap_or_else(PoisonError::into_inner).remove(&self.first);
    }
}

/// The offset of these bytes in their buffer; 0 if they are in none.
pub(crate) fn offset_in_buffer(bytes: &[u8]) -> u64 {
    let at = bytes.as_ptr().addr();
    let live = LIVE.read().unwrap_or_else(PoisonError::into_inner);
    let nearest = live.range(..=at).next_back();
    nearest.filter(|(_, end)| at < **end).map_or(0, |(first, _)| (at - first) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::buffer::Buffer;

    #[test]
    fn parts_of_buffers_have_an_offset_and_other_slices_have_none() {
        let offset = |elements: &[u32]| offset_in_buffer(bytemuck::cast_slice(elements));
        let mut buffer = Buffer::new(vec![0u32; 100]);
        let moved = Buffer::new(vec![0u32; 100]);
        let copy = buffer.clone();
        assert_eq!((offset(&buffer), offset(&buffer[7..]), offset(&copy[99..]), offset(&moved[3..])), (0, 28, 396, 12));
        let (left, right) = buffer.split_at_mut(50);
        assert_eq!((offset(left), offset(&right[1..])), (0, 204));
        let view = crate::api::buffer::Strided::new(&moved[5..], [10], [2]).unwrap();
        assert_eq!(offset(&view), 20);
        assert_eq!((offset(&vec![0; 9][1..]), offset(&[0; 9][2..])), (0, 0));
        let elements = moved.as_ptr().addr();
        drop(moved);
        assert!(!LIVE.read().unwrap().contains_key(&elements));
        let empty = Buffer::new(Vec::<u32>::new());
        assert_eq!(offset(&empty), 0);
    }
}
