//! Regions, how they end, and the edges between them.

use ptx_dsl_analysis::use_def::RegKey;
use ptx_dsl_isa::hir::{FuncId, Instr, Module, Operand};
use std::collections::BTreeSet;
use std::rc::Rc;

/// A region. Targets are indices into [`Program::regions`].
pub struct Region<'m> {
    /// The function it belongs to.
    pub func: FuncId,
    /// The label of the region, or its first statement; for reports.
    pub name: String,
    /// A call whose results are fetched first, and its callee.
    pub results: Option<(&'m Instr, FuncId)>,
    /// Instructions that neither wait nor jump.
    pub body: Vec<Item<'m>>,
    /// The terminator.
    pub end: End<'m>,
    /// The statement that is the terminator, or whose predicate the terminator tests; not one that may block.
    pub last: Option<&'m Instr>,
}

/// A part of a region's body.
pub enum Item<'m> {
    /// An instruction.
    Instr(&'m Instr),
    /// Starts a predicated part: it takes effect in the lanes for which the condition holds.
    If(Condition<'m>),
    /// The rest of the predicated part is for the other lanes.
    Else,
    /// Ends a predicated part. These registers are live after it.
    EndIf(Rc<BTreeSet<RegKey>>),
}

/// A condition per lane.
#[derive(Clone, Copy)]
pub struct Condition<'m> {
    /// The predicate.
    pub operand: &'m Operand,
    /// The value of the predicate for which the condition holds.
    pub holds: bool,
}

impl<'m> Region<'m> {
    /// An empty region of a function that ends its threads.
    pub fn new(func: FuncId, name: String) -> Self {
        Region { func, name, results: None, body: Vec::new(), end: End::Exit, last: None }
    }

    /// Moves the region out and leaves an empty one.
    pub fn take(&mut self) -> Self {
        std::mem::replace(self, Region::new(self.func, String::new()))
    }

    /// The instructions of its body.
    pub fn instructions(&self) -> impl Iterator<Item = &'m Instr> {
        self.body.iter().filter_map(|item| if let Item::Instr(i) = item { Some(*i) } else { None })
    }

    /// The instruction that may block, if the region ends with one.
    pub fn blocking(&self) -> Option<&'m Instr> {
        if let End::Block { instr, .. } = self.end { Some(instr) } else { None }
    }

    /// Is it a blocking instruction and nothing else?
    pub fn is_single_block(&self) -> bool {
        self.body.is_empty() && self.blocking().is_some()
    }

    /// Does it end its threads and do nothing before?
    fn is_empty_exit(&self) -> bool {
        self.body.is_empty() && self.results.is_none() && matches!(self.end, End::Exit)
    }
}

/// The end of a region.
pub enum End<'m> {
    /// All lanes go to a region.
    Goto(usize),
    /// Lanes whose predicate holds go to `taken`.
    Branch {
        /// The predicate, and whether it is negated.
        pred: &'m (Operand, bool),
        /// The region of the lanes for which it holds.
        taken: usize,
        /// The region of the other lanes.
        fall: usize,
    },
    /// `brx.idx`
    Switch {
        /// The statement.
        instr: &'m Instr,
        /// The regions, by index.
        targets: Vec<usize>,
    },
    /// An instruction that may block.
    Block {
        /// The instruction.
        instr: &'m Instr,
        /// The region after it.
        next: usize,
    },
    /// A call of one of several functions.
    Call {
        /// The statement.
        instr: &'m Instr,
        /// The functions that it may reach.
        callees: Vec<Callee>,
    },
    /// `ret` of a function: to any of its call sites.
    Return,
    /// The threads end.
    Exit,
}

/// A function that a call may reach.
pub struct Callee {
    /// The function.
    pub func: FuncId,
    /// The first region of the function.
    pub start: usize,
    /// The region that it returns to.
    pub back: usize,
}

/// All regions of a kernel, numbered by position.
pub struct Program<'m> {
    /// The regions; a kernel begins with the first.
    pub regions: Vec<Region<'m>>,
    /// Functions in use, the kernel first.
    pub funcs: Vec<FuncId>,
    /// Return sites by function; empty if nothing is called.
    pub returns: Vec<Vec<usize>>,
    /// Functions that a thread may enter again before they return.
    pub recursive: BTreeSet<u32>,
    /// The number of edges that enter each region; the kernel's entry counts as one.
    pub predecessor_counts: Vec<u32>,
    /// The next region of the exit chain of each region.
    pub exit_next: Vec<Option<usize>>,
    /// The last region of the fall-through chain of each region.
    pub fall_through_last: Vec<usize>,
    /// The instructions that the host cannot run yet. The sites are still numbers of instructions.
    pub not_yet: Vec<NotYet>,
}

/// Something that the host cannot run.
#[derive(Debug, Clone)]
pub struct NotYet {
    /// An instruction, mostly.
    pub what: String,
    /// The reason.
    pub why: &'static str,
    /// Number of the instruction, and in `Info` of the statement.
    pub site: u32,
}

impl Program<'_> {
    /// A program without code.
    pub fn empty(entry: FuncId) -> Self {
        Program {
            regions: Vec::new(),
            funcs: vec![entry],
            returns: Vec::new(),
            recursive: BTreeSet::new(),
            predecessor_counts: Vec::new(),
            exit_next: Vec::new(),
            fall_through_last: Vec::new(),
            not_yet: Vec::new(),
        }
    }

    /// The host cannot run `what` yet.
    pub fn not_yet(&mut self, what: String, why: &'static str, instruction: u32) {
        self.not_yet.push(NotYet { what, why, site: instruction });
    }

    /// Bytes of local memory that the variables of all functions take.
    pub fn local_size(&self, module: &Module) -> u32 {
        self.funcs.iter().map(|f| module.functions[f.0 as usize].local_end).max().unwrap_or(0)
    }

    /// The regions that a function can return to.
    pub fn return_sites(&self, f: FuncId) -> &[usize] {
        self.returns.get(f.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// The regions that can follow a region.
    pub fn successors(&self, r: usize) -> Vec<usize> {
        match &self.regions[r].end {
            End::Goto(t) => vec![*t],
            // `taken` is last, so that a depth-first search visits it first: at a loop's head that is often the exit, which
            // must come after the body in reverse postorder.
            End::Branch { taken, fall, .. } => vec![*fall, *taken],
            End::Switch { targets, .. } => targets.clone(),
            End::Block { next, .. } => vec![*next],
            // Return sites are first, so that the callee comes before them in reverse postorder.
            End::Call { callees, .. } => {
                callees.iter().map(|c| c.back).chain(callees.iter().map(|c| c.start)).collect()
            }
            End::Return => self.return_sites(self.regions[r].func).to_vec(),
            End::Exit => vec![],
        }
    }

    /// The successors of all regions.
    pub fn edges(&self) -> Vec<Vec<usize>> {
        (0..self.regions.len()).map(|r| self.successors(r)).collect()
    }

    /// The successor of a branch whose other way only ends threads.
    pub fn way_that_goes_on(&self, r: usize) -> Option<usize> {
        let End::Branch { taken, fall, .. } = self.regions[r].end else { return None };
        match (self.regions[taken].is_empty_exit(), self.regions[fall].is_empty_exit()) {
            (true, _) => Some(fall),
            (_, true) => Some(taken),
            _ => None,
        }
    }

    /// Counts the edges that enter each region.
    pub fn count_predecessors(&self) -> Vec<u32> {
        let mut counts = vec![0; self.regions.len()];
        if let Some(entry) = counts.first_mut() {
            *entry = 1;
        }
        for s in (0..self.regions.len()).flat_map(|r| self.successors(r)) {
            counts[s] += 1;
        }
        counts
    }
}

/// A region's number in an image and in emitted code; `u16::MAX` if there are too many.
pub fn region_number(r: usize) -> u16 {
    u16::try_from(r).unwrap_or(u16::MAX)
}
