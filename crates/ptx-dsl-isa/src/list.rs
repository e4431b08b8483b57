//! Lists from iterators. `collect` makes a dozen functions for each kind of iterator, which pays when they are optimised; a
//! procedural macro is not, and is compiled by everybody who uses it.

/// `collect` into a `Vec` that makes two small functions for each kind of iterator.
pub trait List: Iterator + Sized {
    /// All items.
    fn list(mut self) -> Vec<Self::Item> {
        let mut out = Vec::new();
        append(&mut self, &mut out);
        out
    }
}

/// Apart from `list`, so that nothing here has a destructor.
fn append<I: Iterator>(items: &mut I, out: &mut Vec<I::Item>) {
    loop {
        let Some(item) = items.next() else { return };
        out.push(item);
    }
}

impl<I: Iterator> List for I {}
