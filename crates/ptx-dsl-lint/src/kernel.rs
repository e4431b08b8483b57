//! The kernel under analysis: what the analyses know of it, and the findings of the rules.

use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::lanes::Lanes;
use ptx_dsl_analysis::provenance::Provenance;
use ptx_dsl_analysis::reaching::Reaching;
use ptx_dsl_isa::diag::Diagnostic;
use std::cell::RefCell;

/// A kernel under analysis, or a function that no kernel calls.
pub(crate) struct Kernel<'a, 'h> {
    pub flow: &'a Flow<'h>,
    pub lanes: &'a Lanes,
    pub reaching: &'a Reaching,
    pub provenance: &'a Provenance,
    findings: RefCell<Vec<Diagnostic>>,
}

impl<'a, 'h> Kernel<'a, 'h> {
    /// No findings yet.
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
}
