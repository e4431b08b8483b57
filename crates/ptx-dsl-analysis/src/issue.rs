//! The number of threads that issue an instruction together: Table 46 of PTX ISA 9.7.16.5 for `tcgen05`, `.aligned` for the others.

use ptx_dsl_isa::hir::Instr;
use ptx_dsl_isa::isa::{Issue, Tensor};
use ptx_dsl_isa::qualifier::q;

/// The threads that issue an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grain {
    /// One thread starts the operation.
    Thread,
    /// All lanes of a warp together.
    Warp,
    /// Each thread for itself.
    Each,
}

/// The threads that issue an instruction on Tensor Memory.
pub fn tcgen05(i: &Instr) -> Option<Grain> {
    grain(i.entry.effects.tensor)
}

/// Table 46.
fn grain(tensor: Tensor) -> Option<Grain> {
    match tensor {
        Tensor::None => None,
        Tensor::Mma | Tensor::Copy | Tensor::Commit => Some(Grain::Thread),
        Tensor::Fence => Some(Grain::Each),
        Tensor::Alloc | Tensor::Dealloc | Tensor::Relinquish | Tensor::Load | Tensor::Store | Tensor::Wait => {
            Some(Grain::Warp)
        }
    }
}

/// Is it `bar`, which is `barrier.aligned`, or written `.aligned`?
pub fn aligned(i: &Instr) -> bool {
    i.entry.effects.issue == Issue::Warp || i.has(q::aligned)
}

/// Does it need all 32 lanes? A kernel with such an instruction runs full warps only.
pub fn whole_warps(i: &Instr) -> bool {
    i.entry.effects.issue == Issue::FullWarp || tcgen05(i) == Some(Grain::Warp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_dsl_isa::table::FAMILIES;

    /// The rows of Table 46: each opcode of the family has one.
    #[test]
    fn table_46() {
        let rows = [
            ("mma", Grain::Thread),
            ("cp", Grain::Thread),
            ("shift", Grain::Thread),
            ("commit", Grain::Thread),
            ("alloc", Grain::Warp),
            ("dealloc", Grain::Warp),
            ("relinquish_alloc_permit", Grain::Warp),
            ("ld", Grain::Warp),
            ("st", Grain::Warp),
            ("wait", Grain::Warp),
            ("fence", Grain::Each),
        ];
        let mut seen = 0;
        for (_, entries) in FAMILIES {
            for entry in *entries {
                let Some(name) = entry.opcode.strip_prefix("tcgen05.") else {
                    assert_eq!(entry.effects.tensor, Tensor::None, "{}", entry.opcode);
                    continue;
                };
                let row = rows.iter().find(|row| name.split(['.', ':']).next() == Some(row.0));
                assert_eq!(grain(entry.effects.tensor), row.map(|r| r.1), "{name}");
                seen += 1;
            }
        }
        assert!(seen > rows.len());
    }
}
