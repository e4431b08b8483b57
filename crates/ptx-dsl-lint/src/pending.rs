//! Pending operations as states of a data-flow analysis: single operations that some instruction completes, and groups of
//! asynchronous copies by age.

use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::dataflow::{Bits, for_each_instr};
use ptx_dsl_isa::hir::Instr;
use ptx_dsl_isa::isa::Control;

/// Marks an operation as pending. Two bits: it is pending; something may have completed it.
pub(crate) fn begin_pending(set: &mut Bits, n: usize) {
    set.set(2 * n);
    set.unset(2 * n + 1);
}

/// Completes a pending operation.
pub(crate) fn resolve(set: &mut Bits, n: usize) {
    if set.has(2 * n) {
        set.unset(2 * n);
        set.set(2 * n + 1);
    }
}

/// Is the operation pending on every path that started it?
pub(crate) fn is_pending(set: &Bits, n: usize) -> bool {
    set.has(2 * n) && !set.has(2 * n + 1)
}

/// Calls `see` with the pending operations before each instruction.
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

/// Groups of asynchronous copies. The state of a copy: not committed yet, or the number of groups committed after its own.
pub(crate) struct Groups {
    /// The copies. Bits for each: not committed; [`Groups::AGE`] ages; perhaps complete.
    pub copies: Vec<u32>,
}

impl Groups {
    const AGE: usize = 4;
    const BITS: usize = Groups::AGE + 2;

    pub(crate) fn bits(&self) -> usize {
        self.copies.len() * Groups::BITS
    }

    /// The number of the copy at an instruction.
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

    /// The copy has not been started.
    pub(crate) fn forget(&self, set: &mut Bits, k: usize) {
        (0..Groups::BITS).for_each(|n| set.unset(k * Groups::BITS + n));
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

    /// Waits for all but the newest `n` groups.
    pub(crate) fn wait(&self, set: &mut Bits, n: usize, open_too: bool) {
        for k in 0..self.copies.len() {
            let base = k * Groups::BITS;
            let mut done = false;
            for age in 1..=Groups::AGE {
                // The last bit stands for its age and all higher ones.
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

    /// May copy `k` be complete on some path?
    pub(crate) fn perhaps_done(&self, set: &Bits, k: usize) -> bool {
        set.has(k * Groups::BITS + Groups::AGE + 1)
    }

    /// If copy `k` is certainly not complete: whether no path commits it.
    pub(crate) fn open(&self, set: &Bits, k: usize) -> Option<bool> {
        let base = k * Groups::BITS;
        let mut committed = false;
        for age in 1..=Groups::AGE {
            committed |= set.has(base + age);
        }
        let flying = committed || set.has(base);
        (flying && !set.has(base + Groups::AGE + 1)).then_some(!committed)
    }

    /// The first copy that is certainly not complete, and whether no path commits it.
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
    matches!(i.entry.effects.control, Control::Return | Control::Exit)
}
