//! Elements of memory: unsigned integers of 8 to 64 bits.

/// An element of memory: an unsigned integer.
pub trait Word: bytemuck::Pod + Default {
    /// The size of the word in bytes.
    const BYTES: usize = size_of::<Self>();
    /// Loads the word from exactly its bytes, little endian.
    fn load(s: &[u8]) -> Self;
    /// Stores the word to its bytes.
    fn store(self, s: &mut [u8]);
    /// Wrapping sum.
    fn plus(self, other: Self) -> Self;
    /// Loads a row of elements.
    #[inline(always)]
    fn load_row(s: &[u8], to: &mut [Self]) {
        if cfg!(target_endian = "little") {
            bytemuck::cast_slice_mut(to).copy_from_slice(s);
        } else {
            to.iter_mut().zip(s.chunks_exact(Self::BYTES)).for_each(|(t, s)| *t = Self::load(s));
        }
    }
    /// Stores a row to memory.
    #[inline(always)]
    fn store_row(v: &[Self], s: &mut [u8]) {
        if cfg!(target_endian = "little") {
            s.copy_from_slice(bytemuck::cast_slice(v));
        } else {
            v.iter().zip(s.chunks_exact_mut(Self::BYTES)).for_each(|(v, s)| v.store(s));
        }
    }
    /// Low bits of a register's value.
    fn narrow(v: u64) -> Self;
    /// Zero-extended.
    fn widen(self) -> u64;
}

macro_rules! words {
    ($($t:ident)*) => {$(
        impl Word for $t {
            #[inline(always)]
            fn load(s: &[u8]) -> Self {
                s.try_into().map_or(0, $t::from_le_bytes)
            }
            #[inline(always)]
            fn store(self, s: &mut [u8]) {
                s.copy_from_slice(&self.to_le_bytes());
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn narrow(v: u64) -> Self {
                v as $t
            }
            #[inline(always)]
            fn widen(self) -> u64 {
                self as u64
            }
        }
    )*};
}
words!(u8 u16 u32 u64);
