//! How many threads issue an instruction together: Table 46 of PTX ISA 9.7.16.5 for `tcgen05`, `.aligned` for the others.

use ptx_dsl_table::hir::Instr;

/// Who issues an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grain {
    /// One thread starts the operation.
    Thread,
    /// All lanes of a warp together.
    Warp,
    /// Each thread for itself.
    Each,
}

/// Table 46: opcodes (with what follows a further dot or `::`) and who issues them. Longer ones stand first.
pub(super) const TCGEN05: &[(&str, Grain)] = &[
    ("tcgen05.mma", Grain::Thread),
    ("tcgen05.cp", Grain::Thread),
    ("tcgen05.shift", Grain::Thread),
    ("tcgen05.commit", Grain::Thread),
    ("tcgen05.alloc", Grain::Warp),
    ("tcgen05.dealloc", Grain::Warp),
    ("tcgen05.relinquish_alloc_permit", Grain::Warp),
    ("tcgen05.ld", Grain::Warp),
    ("tcgen05.st", Grain::Warp),
    ("tcgen05.wait", Grain::Warp),
    ("tcgen05.fence", Grain::Each),
];

/// Is `opcode` this one, or a longer spelling of it?
pub(super) fn is(opcode: &str, base: &str) -> bool {
    match opcode.strip_prefix(base) {
        Some(rest) => rest.is_empty() || rest.starts_with('.') || rest.starts_with("::"),
        None => false,
    }
}

/// Who issues a `tcgen05` instruction.
pub(super) fn tcgen05(i: &Instr) -> Option<Grain> {
    for (op, grain) in TCGEN05 {
        if is(i.entry.opcode, op) {
            return Some(*grain);
        }
    }
    None
}

/// Is it `bar`, which is `barrier.aligned`, or written `.aligned`?
pub(super) fn aligned(i: &Instr) -> bool {
    let op = i.entry.opcode;
    (op.starts_with("bar.") && op != "bar.warp.sync") || i.has(".aligned") || op.contains(".aligned")
}

/// Does it need a full warp, so that a kernel which holds it is run by full warps only?
pub(super) fn whole_warps(i: &Instr) -> bool {
    let op = i.entry.opcode;
    for whole in ["mma", "wgmma", "wmma", "ldmatrix", "stmatrix", "setmaxnreg"] {
        if is(op, whole) {
            return true;
        }
    }
    tcgen05(i) == Some(Grain::Warp)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of the seed page, `002_94985a3009fbbbd1.txt`.
    #[test]
    fn table_46() {
        for (op, grain) in [
            ("mma", Grain::Thread),
            ("cp", Grain::Thread),
            ("shift", Grain::Thread),
            ("commit", Grain::Thread),
            ("alloc", Grain::Warp),
            ("dealloc", Grain::Warp),
            ("relinquish_alloc_permit", Grain::Warp),
            ("ld", Grain::Warp),
            ("st", Grain::Warp),
            ("wait::ld", Grain::Warp),
            ("wait::st", Grain::Warp),
            ("fence::before_thread_sync", Grain::Each),
        ] {
            let op = format!("tcgen05.{op}");
            let row = TCGEN05.iter().find(|row| is(&op, row.0));
            assert_eq!(row.map(|r| r.1), Some(grain), "{op}");
        }
    }
}
