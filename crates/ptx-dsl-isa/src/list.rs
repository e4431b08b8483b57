//! Lists from iterators. `collect` instantiates a dozen functions for each kind of iterator. They are worth it when optimised,
//! but a procedural macro is not, and every user compiles it.

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
