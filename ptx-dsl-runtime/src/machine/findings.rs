//! What a monitor has found, if the launch goes on after it.

use crate::fault::Fault;

/// The findings of a launch so far, in order.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub list: Vec<Fault>,
    /// Those that have the registers which their statement has read.
    described: usize,
}

impl Findings {
    /// Are there findings without registers?
    #[inline(always)]
    pub fn has_news(&self) -> bool {
        self.described < self.list.len()
    }

    /// Those, which have them from now on.
    pub fn news(&mut self) -> &mut [Fault] {
        let from = std::mem::replace(&mut self.described, self.list.len());
        &mut self.list[from..]
    }

    /// The first finding with the others, and the fault that has ended the launch.
    pub fn end(self, fault: Option<Box<Fault>>) -> Option<Box<Fault>> {
        let mut all = self.list.into_iter().chain(fault.map(|fault| *fault));
        let mut first = Box::new(all.next()?);
        first.others = all.collect();
        Some(first)
    }
}
