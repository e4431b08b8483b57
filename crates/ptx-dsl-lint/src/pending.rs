//! Pending operations as states of a data-flow analysis: single operations that some instruction completes, and groups of
//! asynchronous copies by age.

use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::dataflow::{Bits, for_each_instr};
use ptx_dsl_isa::hir::Instr;
use ptx_dsl_isa::opcode::op;

/// Marks that something is owed since here. Two bits for each debt: it is owed; something may have settled it since.
pub(crate) fn begin_pending(set: &mut Bits, n: usize) {
    set.set(2 * n);
    set.unset(2 * n + 1);
}

/// What settles it.
pub(crate) fn resolve(set: &mut Bits, n: usize) {
    if set.has(2 * n) {
        set.unset(2 * n);
        set.set(2 * n + 1);
    }
}

/// Is it owed, and on no way here anything has settled it?
pub(crate) fn is_pending(set: &Bits, n: usize) -> bool {
    set.has(2 * n) && !set.has(2 * n + 1)
}

/// Carries debts over the graph, and calls `see` with the set before each instruction.
pub(crate) fn for_each_pending(
    flow: &Flow,
    n: usize,
    step: &dyn Fn(u32, &Instr, &mut Bits),
    see: &mut dyn FnMut(u32, u32, &Instr, &Bits),
) {
    if n > 0 {
        for_each_instr(&flow.cfg, 2 * n, step, see);
    }
}

/// Groups of asynchronous copies: since each copy either it is not committed yet, or so many groups were committed after its own.
pub(crate) struct Groups {
    /// Bits for each copy: open; then [`Groups::AGE`] ages; then perhaps done.
    pub copies: Vec<u32>,
}

impl Groups {
    const AGE: usize = 4;
    const BITS: usize = Groups::AGE + 2;

    pub(crate) fn bits(&self) -> usize {
        self.copies.len() * Groups::BITS
    }

    /// The copy that the instruction is.
    pub(crate) fn copy(&self, at: u32) -> Option<usize> {
        for (k, copy) in self.copies.iter().enumerate() {
            if *copy == at {
                return Some(k);
            }
        }
        None
    }

    pub(crate) fn start(&self, set: &mut Bits, k: usize) {
        let base = k * Groups::BITS;
        for n in 0..Groups::BITS {
            set.put(base + n, n == 0);
        }
    }

    pub(crate) fn commit(&self, set: &mut Bits) {
        for k in 0..self.copies.len() {
            let base = k * Groups::BITS;
            let oldest = set.has(base + Groups::AGE) || set.has(base + Groups::AGE - 1);
            for n in (1..Groups::AGE).rev() {
                let younger = set.has(base + n - 1);
                set.put(base + n, younger);
            }
            set.unset(base);
            set.put(base + Groups::AGE, oldest);
        }
    }

    /// All but the newest `n` groups are done.
    pub(crate) fn wait(&self, set: &mut Bits, n: usize, open_too: bool) {
        for k in 0..self.copies.len() {
            let base = k * Groups::BITS;
            let mut done = false;
            for age in 1..=Groups::AGE {
                // The last one stands for that age and all higher ones.
                let reached = age > n || age == Groups::AGE;
                if reached && set.has(base + age) {
                    set.unset(base + age);
                    done = true;
                }
            }
            if open_too && set.has(base) {
                set.unset(base);
                done = true;
            }
            if done {
                set.set(base + Groups::AGE + 1);
            }
        }
    }

    /// May copy `k` be done on some way?
    pub(crate) fn perhaps_done(&self, set: &Bits, k: usize) -> bool {
        set.has(k * Groups::BITS + Groups::AGE + 1)
    }

    /// Is copy `k` certainly not done? Then: is it committed on no way?
    pub(crate) fn open(&self, set: &Bits, k: usize) -> Option<bool> {
        let base = k * Groups::BITS;
        let mut committed = false;
        for age in 1..=Groups::AGE {
            committed |= set.has(base + age);
        }
        let flying = committed || set.has(base);
        (flying && !set.has(base + Groups::AGE + 1)).then_some(!committed)
    }

    /// The first copy that is not done, and whether it is committed on no way.
    pub(crate) fn first_open(&self, set: &Bits) -> Option<(usize, bool)> {
        for k in 0..self.copies.len() {
            if let Some(never) = self.open(set, k) {
                return Some((k, never));
            }
        }
        None
    }
}

/// Does the instruction end the thread?
pub(crate) fn ends_thread(i: &Instr) -> bool {
    matches!(i.opcode, op::ret | op::exit)
}
