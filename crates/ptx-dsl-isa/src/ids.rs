//! The number after an opcode: where the table has its first entry. `opcode.rs` makes it and knows its name.

/// The opcode of an instruction: `ld`, `mbarrier.try_wait`. Several entries of the table may share one. The constants are in [`crate::opcode::op`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Opcode {
    /// Row of [`FAMILIES`].
    pub(crate) family: u8,
    /// Its first entry there.
    pub(crate) entry: u8,
}

/// Constant functions cannot compare strings.
pub(crate) const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}
