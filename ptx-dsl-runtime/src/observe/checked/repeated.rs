//! Statements that a repetition (`@for`) has made of one: what is found at them is one finding, with a number.

use crate::kernel::{KernelInfo, Site};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher;

/// Findings of the launch, by the statements in the source.
#[derive(Debug, Default)]
pub(super) struct Repeated {
    /// The first statement that is made of the same source statement, for each statement.
    first: Vec<u32>,
    /// Two statements and the state space of a finding, with the number of the finding.
    known: FxHashMap<(u32, u32, &'static str), usize>,
}

impl Repeated {
    /// The statements of a kernel.
    pub fn launch(&mut self, kernel: &KernelInfo<'_>) {
        let mut seen: FxHashMap<(u32, u32, u64), u32> = FxHashMap::default();
        let first = (0..).zip(kernel.sites).map(|(site, of)| match of.rust_line {
            0 => site,
            line => *seen.entry((line, of.origin, pattern(of))).or_insert(site),
        });
        self.first = first.collect();
    }

    /// A finding at one or two statements: `Ok` with its number if it is new, else `Err` with that of the one that it is like.
    pub fn find(&mut self, site: u32, other: u32, what: &'static str) -> Result<usize, usize> {
        let next = self.known.len();
        let first = |site: u32| self.first.get(site as usize).copied().unwrap_or(site);
        let number = *self.known.entry((first(site), first(other), what)).or_insert(next);
        if number == next { Ok(number) } else { Err(number) }
    }
}

/// The text of a statement without its numbers: these differ from iteration to iteration.
fn pattern(site: &Site<'_>) -> u64 {
    let mut hasher = FxHasher::default();
    site.text.split(|c: char| c.is_ascii_digit()).filter(|part| !part.is_empty()).for_each(|part| {
        hasher.write(part.as_bytes());
        hasher.write_u8(0);
    });
    hasher.finish()
}
