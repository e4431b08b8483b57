//! Kernels that do nothing that anybody can see: each CTA computes some registers and ends. Of a large grid of them one cluster runs.

use crate::machine::geometry::Geometry;
use crate::machine::grid::Grid;
use ptx_dsl_isa::image::{Action, End, Image, Instr};
use ptx_dsl_isa::isa::effect::{Barrier, Control, Fence, Mbarrier, Meeting, MemoryOp};
use ptx_dsl_isa::isa::{Group, Host, Tensor};

/// Clusters from which on the kernel is looked at.
const MANY: u64 = 1 << 20;

/// Whether all clusters of a launch do the same, and nothing that anybody can see. `false` also where somebody follows or limits what runs.
pub(super) fn is_all_of(grid: &Grid<'_>, geometry: &Geometry<'_>) -> bool {
    let is_followed = grid.monitor.is_some() || grid.limits.steps.is_some();
    grid.clusters() >= MANY && grid.takes_the_first() && !is_followed && is_nothing(&geometry.image())
}

/// Does the kernel only compute registers, in one way from its start to its end?
fn is_nothing(image: &Image) -> bool {
    let Some(first) = image.regions.first() else { return false };
    matches!(first.end, End::Exit {}) && first.body.iter().all(is_invisible)
}

fn is_invisible(i: &Instr) -> bool {
    let Action::Opcode { opcode, .. } = i.action else { return true };
    let mut entries = opcode.entries();
    entries.all(|entry| {
        let (instr, effects) = (&entry.instr, &entry.instr.effects);
        instr.host == Host::Lane
            && (effects.control, effects.memory, effects.fence) == (Control::Next, MemoryOp::None, Fence::None)
            && (effects.barrier, effects.meeting, effects.mbarrier) == (Barrier::None, Meeting::None, Mbarrier::None)
            && (effects.group, effects.tensor) == (Group::None, Tensor::None)
            && !effects.heap
            && !effects.stack
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_dsl_isa::image::Region;
    use ptx_dsl_isa::opcode::{Opcode, op};

    fn kernel(opcodes: &[Opcode], end: End) -> Image {
        let instr = |opcode: &Opcode| Instr {
            action: Action::Opcode { opcode: *opcode, qualifiers: 0, carry_out: false },
            site: 0,
            lines: Default::default(),
            guard: None,
            sources: Vec::new(),
            results: Vec::new(),
        };
        let body = opcodes.iter().map(instr).collect();
        let region = Region { name: String::new(), results: None, body, end, branch: 0, last: Default::default() };
        Image { regions: vec![region], ..Image::default() }
    }

    #[test]
    fn nothing_is_what_only_computes() {
        assert!(is_nothing(&kernel(&[], End::Exit {})));
        assert!(is_nothing(&kernel(&[op::add, op::selp], End::Exit {})));
        for other in [op::st, op::ld, op::atom, op::trap] {
            assert!(!is_nothing(&kernel(&[op::add, other], End::Exit {})));
        }
        assert!(!is_nothing(&kernel(&[], End::Goto { to: 0 })));
        assert!(!is_nothing(&Image::default()));
    }
}
