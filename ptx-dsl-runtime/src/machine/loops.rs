//! The loops that a region is in, for the report of an endless one: natural loops of the region graph.

use crate::flow::Pc;
use ptx_dsl_isa::image::{End, Image};

/// The heads of the loops that contain region `pc`, the innermost first. A loop in a caller does not contain the callee.
pub(super) fn heads(image: &Image, pc: Pc) -> Vec<Pc> {
    let n = image.regions.len();
    let mut predecessors: Vec<Vec<Pc>> = vec![Vec::new(); n];
    for (from, region) in (0..).zip(&image.regions) {
        for to in successors(&region.end) {
            if let Some(list) = predecessors.get_mut(usize::from(to)) {
                list.push(from);
            }
        }
    }
    // regions are in reverse postorder: an edge that does not go forward closes a loop
    let contains = |head: Pc| {
        let closing = predecessors[usize::from(head)].iter().filter(|from| **from >= head);
        let mut seen = vec![false; n];
        seen[usize::from(head)] = true;
        let mut work: Vec<Pc> = closing.copied().collect();
        while let Some(at) = work.pop() {
            if !std::mem::replace(&mut seen[usize::from(at)], true) {
                work.extend(&predecessors[usize::from(at)]);
            }
        }
        seen[usize::from(pc)]
    };
    let closed = |head: &Pc| predecessors[usize::from(*head)].iter().any(|from| from >= head);
    let candidates = (0..n as Pc).rev().filter(|head| *head <= pc && usize::from(pc) < n);
    candidates.filter(closed).filter(|head| contains(*head)).collect()
}

fn successors(end: &End) -> Vec<Pc> {
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
    use ptx_dsl_isa::image::{Guard, Region};

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
        let region = |end| Region { name: String::new(), results: None, body: Vec::new(), end };
        let image = Image { regions: ends.into_iter().map(region).collect(), ..Image::default() };
        let all: Vec<_> = (0..8).map(|pc| heads(&image, pc)).collect();
        let none: Vec<Pc> = Vec::new();
        let wanted = [none.clone(), vec![1], vec![2, 1], vec![2, 1], vec![1], vec![5], none.clone(), none];
        assert_eq!(all, wanted);
    }
}
