//! Elements that follow each other in memory that several host threads share.

use super::super::registers::Row;
use crate::memory::atomic_bytes;
use crate::memory::prefetch::{DISTANCE, prefetch};
use crate::numerics::lanes::Word;
use std::cell::Cell;
use std::sync::atomic::AtomicU8;

/// Loads as many lanes as there are elements.
#[inline(never)]
pub(super) fn load<T: Word>(memory: &[AtomicU8], rows: &mut [Cell<Row<T>>]) {
    prefetch(memory.as_ptr().cast(), memory.len(), DISTANCE);
    for (elements, row) in memory.chunks(32 * T::BYTES).zip(rows) {
        let row = &mut row.get_mut().0[..elements.len() / T::BYTES];
        atomic_bytes::copy_in(elements, bytemuck::cast_slice_mut(row));
        row.iter_mut().for_each(|v| *v = T::load(bytemuck::bytes_of(v)));
    }
}

/// Stores as many lanes of a row as there are elements.
#[inline(never)]
pub(super) fn store<T: Word>(row: &[T; 32], memory: &[AtomicU8]) {
    let mut row = *row;
    row.iter_mut().for_each(|place| {
        let v = *place;
        v.store(bytemuck::bytes_of_mut(place));
    });
    atomic_bytes::copy_out(bytemuck::cast_slice(&row), memory);
}
