//! The loops that a region is in, for the report of an endless one: natural loops of the region graph.

use crate::kernel::flow::Pc;
use ptx_dsl_isa::image::{End, Image, NO_SITE, Region};

/// The loops that contain a region.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Loops {
    /// The names of their heads, the innermost first.
    pub heads: Vec<String>,
    /// The first statement with a number in the region, or else in the innermost loop.
    pub statement: Option<u32>,
}

impl Loops {
    /// The loops that contain region `pc`. A loop in a caller does not contain the callee.
    pub fn around(image: &Image, pc: Pc) -> Loops {
        let predecessors = predecessors(image);
        // regions are in reverse postorder: an edge that does not go forward closes a loop
        let closed = |head: &Pc| predecessors[usize::from(*head)].iter().any(|from| from >= head);
        let candidates = (0..image.regions.len() as Pc).rev().filter(|head| *head <= pc);
        let mut loops = candidates
            .filter(closed)
            .map(|head| (head, members(&predecessors, head)))
            .filter(|(_, members)| members.get(usize::from(pc)) == Some(&true))
            .peekable();
        let innermost = loops.peek().map(|(_, members)| members.clone()).unwrap_or_default();
        let body = image.regions.iter().zip(innermost).filter_map(|(region, is_member)| is_member.then_some(region));
        let statement = image.regions.get(usize::from(pc)).into_iter().chain(body).find_map(statement);
        let heads = loops.map(|(head, _)| image.regions[usize::from(head)].name.clone()).collect();
        Loops { heads, statement }
    }
}

pub(super) fn predecessors(image: &Image) -> Vec<Vec<Pc>> {
    let mut predecessors: Vec<Vec<Pc>> = vec![Vec::new(); image.regions.len()];
    for (from, region) in (0..).zip(&image.regions) {
        for to in successors(&region.end) {
            if let Some(list) = predecessors.get_mut(usize::from(to)) {
                list.push(from);
            }
        }
    }
    predecessors
}

/// Is each region in the loop with this head?
pub(super) fn members(predecessors: &[Vec<Pc>], head: Pc) -> Vec<bool> {
    let closing = predecessors[usize::from(head)].iter().filter(|from| **from >= head);
    let mut seen = vec![false; predecessors.len()];
    seen[usize::from(head)] = true;
    let mut work: Vec<Pc> = closing.copied().collect();
    while let Some(at) = work.pop() {
        if !std::mem::replace(&mut seen[usize::from(at)], true) {
            work.extend(&predecessors[usize::from(at)]);
        }
    }
    seen
}

/// The number of the first statement that has one.
pub(super) fn statement(region: &Region) -> Option<u32> {
    let end = match &region.end {
        End::Block { instr, .. } => instr.site,
        End::Switch { site, .. } | End::Call { site, .. } => *site,
        _ => region.branch,
    };
    region.body.iter().map(|instr| instr.site).chain([end]).find(|site| *site != NO_SITE)
}

pub(super) fn successors(end: &End) -> Vec<Pc> {
    match end {
        End::Goto { to } => vec![*to],
        End::Branch { taken, fall, .. } => vec![*taken, *fall],
        End::Switch { targets, .. } => targets.clone(),
        End::Block { next, .. } => vec![*next],
        End::Call { callees, .. } => callees.iter().flat_map(|c| [c.start, c.back]).collect(),
        End::Return { .. } | End::Exit {} => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_dsl_isa::image::{Action, Guard, Instr};

    #[test]
    fn loops_are_listed_from_the_inside() {
        let guard = Guard { register: 0, holds: true };
        let ends = vec![
            End::Goto { to: 1 },
            // the outer loop, 1 to 4
            End::Goto { to: 2 },
            // the inner loop, 2 and 3
            End::Branch { guard, taken: 3, fall: 4 },
            End::Goto { to: 2 },
            End::Branch { guard, taken: 1, fall: 5 },
            // a loop of one region
            End::Branch { guard, taken: 5, fall: 6 },
            End::Exit {},
        ];
        let region = |(n, end): (usize, End)| {
            let (action, site) = (Action::Move { from: 32, to: 32 }, 10 + n as u32);
            let instr = Instr {
                action,
                site,
                lines: Default::default(),
                guard: None,
                sources: Vec::new(),
                results: Vec::new(),
            };
            // a branch alone, and a region without numbered statements
            let body = if n == 2 || n == 3 { Vec::new() } else { vec![instr] };
            Region {
                name: n.to_string(),
                results: None,
                body,
                end,
                branch: if n == 2 { 20 } else { NO_SITE },
                last: None,
            }
        };
        let image = Image { regions: ends.into_iter().enumerate().map(region).collect(), ..Image::default() };
        let all: Vec<_> = (0..8).map(|pc| Loops::around(&image, pc)).collect();
        let of = |heads: &[&str], statement| Loops { heads: heads.iter().map(|h| h.to_string()).collect(), statement };
        let wanted = [
            of(&[], Some(10)),
            of(&["1"], Some(11)),
            of(&["2", "1"], Some(20)),
            of(&["2", "1"], Some(20)),
            of(&["1"], Some(14)),
            of(&["5"], Some(15)),
            of(&[], Some(16)),
            of(&[], None),
        ];
        assert_eq!(all, wanted);
    }
}
