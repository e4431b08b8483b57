//! Matrices whose descriptor leads out of shared memory.

use std::fmt;

/// A matrix whose descriptor leads out of shared memory: where it does first, and the field that leads there.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MatrixBounds {
    /// The operand: `A`, `B`; of `tcgen05.cp`, `the matrix`.
    pub operand: &'static str,
    /// The line of the matrix: "row 8", "column 16", "k = 3".
    pub line: String,
    /// The address of its first 16 bytes that are not in shared memory.
    pub addr: u64,
    /// Bytes of shared memory.
    pub size: u64,
    /// The field of the descriptor that adds most to the address.
    pub field: &'static str,
    /// The field's value in bytes: 16 times what the descriptor holds.
    pub value: u32,
    /// The number of bytes for which the descriptor holds 16 times the right value, if the matrix then is in shared memory.
    pub meant: Option<u32>,
    /// The section of the manual.
    pub section: &'static str,
}

impl MatrixBounds {
    pub(super) fn help(&self) -> String {
        match self.meant {
            Some(bytes) => format!(
                "descriptors count in units of 16 bytes: for {bytes} bytes write {} into the {}, not {bytes}",
                bytes / 16,
                self.field
            ),
            None => format!("check the {}, and the size of shared memory that the launch gives", self.field),
        }
    }
}

impl fmt::Display for MatrixBounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MatrixBounds { operand, line, addr, size, field, value, .. } = self;
        let name = if *operand == "the matrix" { String::new() } else { format!(" {operand}") };
        write!(
            f,
            "{line} of the matrix{name} at shared address {addr:#x} is out of bounds: shared memory has {size} bytes; "
        )?;
        write!(f, "the {field} in the descriptor is {value} bytes")
    }
}
