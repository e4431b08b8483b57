//! Visible operations: those that other threads can see, so that their order matters. For a launch that runs step by step or with a seed,
//! regions are split so that they have such operations only where they begin: threads can change there.

use super::code::interned;
use crate::numerics::qual::{Q, q};
use crate::observe::monitor::Order;
use ptx_dsl_isa::image::{Action, Callee, End, Image, Instr, NO_SITE, Region, RegionId};
use ptx_dsl_isa::isa::effect::{Barrier, Fence, Mbarrier, Tensor};
use ptx_dsl_isa::opcode::{Opcode, op};

/// Whether other threads can see this operation. Ordinary loads and stores are ordered by others, or race.
fn is_visible(opcode: Opcode, q: Q) -> bool {
    let Some(entry) = opcode.entries().next() else { return false };
    let effects = entry.instr.effects;
    let order = Order::of_opcode(opcode, |word| q.has(word));
    let strong = effects.fence == Fence::None && order.is_strong();
    strong
        || order.is_sequential()
        || !matches!(effects.mbarrier, Mbarrier::None | Mbarrier::Query)
        || matches!(effects.barrier, Barrier::Cta | Barrier::Cluster)
        || matches!(effects.tensor, Tensor::Alloc | Tensor::Dealloc | Tensor::Relinquish)
        || matches!(opcode, op::setmaxnreg | op::clusterlaunchcontrol_try_cancel)
        // of a CTA that may have exited
        || q.has(q::shared_cluster)
}

/// Whether this visible operation can be the test of a polling loop. It then returns a value that others change, and changes
/// nothing.
fn is_test(opcode: Opcode, q: Q) -> bool {
    let Some(entry) = opcode.entries().next() else { return false };
    let effects = entry.instr.effects;
    effects.mbarrier == Mbarrier::Wait || effects.memory.returns() && !q.has(q::add)
}

/// The kind of operation with which a region begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begin {
    /// An operation that other threads do not see.
    Hidden,
    /// A visible operation.
    Visible,
    /// A visible operation that a loop may poll.
    Test,
}

/// The image with regions split before visible operations, and with what each region begins.
pub(super) fn split(image: &Image) -> (Image, Vec<Begin>) {
    let qualifiers: Vec<Q> = image.qualifiers.iter().map(interned).collect();
    let begin = |i: &Instr| match i.action {
        Action::Opcode { opcode, qualifiers: of, .. } => {
            let q = qualifiers.get(of as usize).copied().unwrap_or(Q::NONE);
            match is_visible(opcode, q) {
                false => Begin::Hidden,
                true if is_test(opcode, q) => Begin::Test,
                true => Begin::Visible,
            }
        }
        Action::Move { .. } => Begin::Hidden,
    };
    let visible = |i: &Instr| begin(i) != Begin::Hidden;
    let mut starts = Vec::new();
    let mut regions: Vec<Region> = Vec::new();
    let mut begins = Vec::new();
    for region in &image.regions {
        starts.push(regions.len() as RegionId);
        let mut rest = Region { body: Vec::new(), ..region.clone() };
        for instr in &region.body {
            if visible(instr) && !rest.body.is_empty() {
                let next = regions.len() as RegionId + 1;
                let name = rest.name.clone();
                begins.push(rest.body.first().map_or(Begin::Hidden, begin));
                let end = std::mem::replace(&mut rest.end, End::Goto { to: next });
                let (branch, last) = (std::mem::replace(&mut rest.branch, NO_SITE), rest.last.take());
                let new = Region { name, results: None, body: Vec::new(), end, branch, last };
                regions.push(std::mem::replace(&mut rest, new));
            }
            rest.body.push(instr.clone());
        }
        let first = match &rest.end {
            End::Block { instr, .. } if rest.body.is_empty() => Some(instr),
            _ => rest.body.first(),
        };
        begins.push(first.map_or(Begin::Hidden, begin));
        regions.push(rest);
    }
    if regions.len() > usize::from(RegionId::MAX) {
        // too many to number: steps are then as long as regions
        let begin = |r: &Region| if matches!(r.end, End::Block { .. }) { Begin::Visible } else { Begin::Hidden };
        let begins = image.regions.iter().map(begin).collect();
        return (image.clone(), begins);
    }
    // the ends inside of a region have new numbers already
    let lasts: Vec<usize> =
        (1..=starts.len()).map(|i| starts.get(i).map_or(regions.len(), |s| usize::from(*s)) - 1).collect();
    for last in lasts {
        renumber(&mut regions[last].end, &starts);
    }
    (Image { regions, ..image.clone() }, begins)
}

fn renumber(end: &mut End, starts: &[RegionId]) {
    let new = |at: &mut RegionId| {
        if let Some(start) = starts.get(usize::from(*at)) {
            *at = *start;
        }
    };
    match end {
        End::Goto { to } => new(to),
        End::Branch { taken, fall, .. } => {
            new(taken);
            new(fall);
        }
        End::Switch { targets, .. } => targets.iter_mut().for_each(new),
        End::Block { next, .. } => new(next),
        End::Call { callees, .. } => callees.iter_mut().for_each(|Callee { start, back, .. }| {
            new(start);
            new(back);
        }),
        End::Return { sites, .. } => sites.iter_mut().for_each(new),
        End::Exit {} => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_dsl_isa::image::{Guard, Qualifiers};
    use ptx_dsl_isa::qualifier::q;

    #[test]
    fn only_the_last_part_of_a_region_has_its_branch() {
        let store = |site| Instr {
            action: Action::Opcode { opcode: op::st, qualifiers: 0, carry_out: false },
            site,
            lines: Default::default(),
            guard: None,
            sources: Vec::new(),
            results: Vec::new(),
        };
        let body = vec![store(3), store(4), store(5)];
        let region = Region { name: "r".into(), results: None, body, end: End::Exit {}, branch: 7, last: None };
        let qualifiers = vec![Qualifiers { written: vec![q::release, q::gpu, q::global], types: Vec::new() }];
        let (image, _) = split(&Image { qualifiers, regions: vec![region], ..Image::default() });
        let branches: Vec<u32> = image.regions.iter().map(|region| region.branch).collect();
        assert_eq!(branches, [NO_SITE, NO_SITE, 7]);
    }

    #[test]
    fn regions_have_visible_operations_only_where_they_begin() {
        let instr = |opcode, qualifiers, site| Instr {
            action: Action::Opcode { opcode, qualifiers, carry_out: false },
            site,
            lines: Default::default(),
            guard: None,
            sources: Vec::new(),
            results: Vec::new(),
        };
        let (weak, strong) = (instr(op::ld, 0, 1), instr(op::st, 1, 2));
        let region = |body, end| Region { name: "r".into(), results: None, body, end, branch: 0, last: None };
        let guard = Guard { register: 0, holds: true };
        let image = Image {
            qualifiers: vec![
                Qualifiers { written: vec![q::global], types: Vec::new() },
                Qualifiers { written: vec![q::release, q::gpu, q::global], types: Vec::new() },
            ],
            regions: vec![
                region(
                    vec![weak.clone(), strong.clone(), weak.clone(), strong.clone()],
                    End::Branch { guard, taken: 1, fall: 0 },
                ),
                region(vec![strong.clone(), weak.clone()], End::Goto { to: 2 }),
                region(vec![weak.clone()], End::Exit {}),
            ],
            ..Image::default()
        };
        let (image, begins) = split(&image);
        let bodies: Vec<Vec<u32>> = image.regions.iter().map(|r| r.body.iter().map(|i| i.site).collect()).collect();
        assert_eq!(bodies, [vec![1], vec![2, 1], vec![2], vec![2, 1], vec![1]]);
        use Begin::{Hidden, Visible};
        assert_eq!(begins, [Hidden, Visible, Visible, Visible, Hidden]);
        assert_eq!(image.regions[0].end, End::Goto { to: 1 });
        assert_eq!(image.regions[2].end, End::Branch { guard, taken: 3, fall: 0 });
        assert_eq!(image.regions[3].end, End::Goto { to: 4 });
    }
}
