//! The kernel under analysis: what the analyses know of it, and the findings of the rules.

use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::lanes::Lanes;
use ptx_dsl_analysis::provenance::Provenance;
use ptx_dsl_analysis::reaching::{self, Reaching, ReachingThreads};
use ptx_dsl_analysis::region::{self, Region};
use ptx_dsl_analysis::sites::{self, Site};
use ptx_dsl_isa::diag::Diagnostic;
use ptx_dsl_isa::hir::Arg;
use std::cell::RefCell;

/// A kernel under analysis.
pub(crate) struct Kernel<'a, 'h> {
    pub flow: &'a Flow<'h>,
    pub lanes: &'a Lanes,
    pub reaching: &'a Reaching,
    pub provenance: &'a Provenance,
    findings: RefCell<Vec<Diagnostic>>,
}

impl<'a, 'h> Kernel<'a, 'h> {
    /// A kernel without findings.
    pub(crate) fn new(
        flow: &'a Flow<'h>,
        lanes: &'a Lanes,
        reaching: &'a Reaching,
        provenance: &'a Provenance,
    ) -> Kernel<'a, 'h> {
        Kernel { flow, lanes, reaching, provenance, findings: RefCell::default() }
    }

    /// Adds a finding.
    pub(crate) fn report(&self, finding: Diagnostic) {
        self.findings.borrow_mut().push(finding);
    }

    /// Number of findings so far.
    pub(crate) fn reported(&self) -> usize {
        self.findings.borrow().len()
    }

    /// All findings.
    pub(crate) fn findings(self) -> Vec<Diagnostic> {
        self.findings.into_inner()
    }

    /// The threads that may be at an instruction.
    pub(crate) fn threads_at(&self, block: u32, at: u32) -> ReachingThreads {
        self.reaching.threads_at(self.flow, self.lanes, block, at)
    }

    /// The bytes after an operand of an instruction; `size` 0: not known.
    pub(crate) fn region(&self, at: u32, arg: &Arg, size: u64) -> Option<Region> {
        region::region(self.flow, self.provenance, at, arg, size)
    }

    /// The bytes after the operand of this name.
    pub(crate) fn region_of(&self, at: u32, name: &str, size: u64) -> Option<Region> {
        self.region(at, self.flow.instr(at).operand(name)?, size)
    }

    /// Do exactly the reaching threads execute the site, once?
    pub(crate) fn executes_exactly(&self, site: Site) -> bool {
        sites::executes_exactly(self.flow, self.lanes, site)
    }

    /// The same for each iteration of the loops around the site.
    pub(crate) fn executes_every_iteration(&self, site: Site) -> bool {
        sites::executes_every_iteration(self.flow, self.lanes, site)
    }

    /// The same with guards that do not depend on the thread and are loop invariant.
    pub(crate) fn executes_invariantly(&self, site: Site) -> bool {
        sites::executes_invariantly(self.flow, self.lanes, site)
    }

    /// Do all lanes of every warp that comes to the instruction execute it?
    pub(crate) fn every_lane(&self, present: &ReachingThreads, block: u32, at: u32) -> bool {
        reaching::every_lane(self.flow, self.lanes, present, block, at)
    }
}
