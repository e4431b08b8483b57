//! Lists from iterators. `collect` makes a dozen functions for each kind of iterator, which pays when they are optimised; a
//! procedural macro is not, and is compiled by everybody who uses it.

/// `collect` into a `Vec` that makes one function for each kind of iterator.
pub trait List: Iterator + Sized {
    /// All items.
    fn list(self) -> Vec<Self::Item> {
        let mut out = Vec::new();
        for item in self {
            out.push(item);
        }
        out
    }
}

impl<I: Iterator> List for I {}
