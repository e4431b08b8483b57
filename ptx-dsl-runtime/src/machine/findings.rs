//! The findings of a monitor, if the launch goes on after them.

use crate::fault::Fault;
use crate::machine::origins::Origins;
use crate::observe::monitor::{Access, Who};
use std::sync::Arc;

/// The findings of a launch so far, in order.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub list: Vec<Fault>,
    /// The number of findings that have the registers which their statement has read.
    described: usize,
    /// The sites of loads whose values the engine follows: a load from memory that nothing has written is no finding there yet.
    /// Empty if the engine follows none.
    pub followed: Arc<[bool]>,
    /// Accesses of the current instruction, for the engine that follows values.
    pub undefined: Vec<UndefinedAccess>,
    /// Undefined values that are or were in memory.
    pub origins: Origins,
    /// Has the monitor been told of one?
    pub has_stored: bool,
    /// Does the current operation read undefined bytes of shared memory?
    pub in_operand: bool,
}

/// An access to bytes whose values nothing has written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum UndefinedAccess {
    /// A load of them, a bit each. With the number of the value in [`Origins`], if a statement has stored it.
    Load(Access, u64, Option<u32>),
    /// A store to them of an undefined value with this number.
    Store(Access, u32),
    /// A use of them, which a word names, with the number of the value.
    Used(Access, u32, &'static str),
    /// An undefined value with this number in a register that an instruction stores to Tensor Memory, in lanes of a warp.
    Given { source: usize, warp: u32, lanes: u32, origin: u32 },
    /// An undefined value of lanes of a warp in a result, which comes from memory, with the number of the value.
    Word { result: usize, who: Who, origin: u32 },
    /// `get_first_ctaid` of a response that holds no cancelled cluster, in lanes of a warp.
    Ctaid { result: usize, who: Who },
    /// A load of a word of Tensor Memory that nothing has written, into a result of lanes of a warp.
    Tensor {
        result: usize,
        who: Who,
        rank: u32,
        /// The lane of Tensor Memory that the first of the lanes reads.
        lane: usize,
        column: usize,
        /// `tcgen05.mma` has added to it.
        only_added: bool,
    },
}

impl Findings {
    /// Whether there are findings without registers, or undefined values in memory.
    #[inline(always)]
    pub fn has_news(&self) -> bool {
        self.described < self.list.len() || !self.undefined.is_empty()
    }

    /// Does the engine follow what this statement loads?
    pub fn follows(&self, site: u32) -> bool {
        self.followed.get(site as usize) == Some(&true)
    }

    /// The findings without registers, which have them from now on.
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
