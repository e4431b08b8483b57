//! Elements that follow each other in memory that several host threads share.

use super::super::registers::Row;
use crate::lanes::Word;
use crate::mem::atomic_bytes;
use crate::mem::prefetch::{DISTANCE, prefetch};
use std::cell::Cell;
use std::sync::atomic::AtomicU8;

/// The most bytes of a row.
const ROW: usize = 256;

/// Loads as many lanes as there are elements.
#[inline(never)]
pub(super) fn load<T: Word>(memory: &[AtomicU8], rows: &mut [Cell<Row<T>>]) {
    prefetch(memory.as_ptr().cast(), memory.len(), DISTANCE);
    for (elements, row) in memory.chunks(32 * T::BYTES).zip(rows) {
        let mut bytes = [0; ROW];
        let bytes = &mut bytes[..elements.len().min(ROW)];
        atomic_bytes::copy_in(elements, bytes);
        T::load_row(bytes, &mut row.get_mut().0[..bytes.len() / T::BYTES]);
    }
}

/// Stores as many lanes of a row as there are elements.
#[inline(never)]
pub(super) fn store<T: Word>(row: &[T; 32], memory: &[AtomicU8]) {
    let mut bytes = [0; ROW];
    let bytes = &mut bytes[..memory.len().min(ROW)];
    T::store_row(&row[..bytes.len() / T::BYTES], bytes);
    atomic_bytes::copy_out(bytes, memory);
}
