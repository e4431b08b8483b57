//! The places in source files that `.loc` gives the statements of a kernel, and those of pieces and their uses.

use crate::fault::Origin;

/// The files and places of a kernel, which statements share.
#[derive(Debug, Clone, Copy)]
pub struct Origins<'k> {
    /// The names of files.
    pub files: &'k [&'k str],
    /// The number of the file, line, column (0 if unknown), and the number from 1 of the place it is inlined at (0 if none), which is
    /// earlier in the list.
    pub places: &'k [[u32; 4]],
}

impl Origins<'_> {
    /// The origins of a kernel without `.loc` and without pieces.
    pub const NONE: Self = Origins { files: &[], places: &[] };

    /// The place with a number from 1, and those at which it is inlined.
    pub fn of(&self, number: u32) -> Vec<Origin> {
        let (mut origin, mut next) = (Vec::new(), number);
        while let Some(&[file, line, column, caller]) = (next as usize).checked_sub(1).and_then(|n| self.places.get(n))
        {
            let file = self.files.get(file as usize).copied().unwrap_or_default().to_owned();
            origin.push(Origin { file, line, column });
            next = if caller < next { caller } else { 0 };
        }
        origin
    }
}
