//! Roles: parts of a kernel that only some of its threads execute, such as a producer.

use crate::kernel::flow::Pc;
use crate::machine::loops::{members, predecessors, statement, successors};
use ptx_dsl_isa::image::{End, Image};

/// The size in regions above which roles are not looked for.
const MOST_REGIONS: usize = 4_000;

/// The first statement of the role that region `pc` is in: of the outermost part that a branch chooses. `None` if all threads come there.
pub(crate) fn first_statement(image: &Image, pc: Pc) -> Option<u32> {
    if image.regions.len() > MOST_REGIONS || usize::from(pc) >= image.regions.len() {
        return None;
    }
    let graph = Graph::new(image);
    // from the inside
    let around = std::iter::successors(Some(pc), |at| graph.dominator(*at));
    let begin = around.filter(|at| graph.begins_role(*at)).last()?;
    // not every statement has a number
    let inside = (begin..image.regions.len() as Pc).filter(|at| graph.dominates(begin, *at));
    inside.map(|at| &image.regions[usize::from(at)]).find_map(statement)
}

struct Graph<'i> {
    image: &'i Image,
    predecessors: Vec<Vec<Pc>>,
    /// The immediate dominator of each region. The first region, and regions that nothing reaches, are their own.
    dominators: Vec<Pc>,
}

impl<'i> Graph<'i> {
    fn new(image: &'i Image) -> Self {
        let predecessors = predecessors(image);
        let dominators = dominators(&predecessors);
        Graph { image, predecessors, dominators }
    }

    fn dominator(&self, at: Pc) -> Option<Pc> {
        self.dominators.get(usize::from(at)).copied().filter(|above| *above != at)
    }

    /// Does a branch choose the region, which is neither that of a loop nor one after which the other threads exit?
    fn begins_role(&self, at: Pc) -> bool {
        let Some(above) = self.dominator(at) else { return false };
        let end = &self.image.regions[usize::from(above)].end;
        if !matches!(end, End::Branch { .. } | End::Switch { .. }) {
            return false;
        }
        let targets = successors(end);
        let others = || targets.iter().filter(|to| **to != at);
        targets.contains(&at)
            && self.is_entered_from(at, above)
            && !self.leaves_loop(above, &targets)
            && !others().all(|to| matches!(self.image.regions[usize::from(*to)].end, End::Exit {}))
    }

    /// Do threads come to `at` from `above` only, or from within what begins there?
    fn is_entered_from(&self, at: Pc, above: Pc) -> bool {
        self.predecessors[usize::from(at)].iter().all(|from| *from == above || self.dominates(at, *from))
    }

    /// Does every way to `to` go through `at`?
    fn dominates(&self, at: Pc, to: Pc) -> bool {
        std::iter::successors(Some(to), |pc| self.dominator(*pc)).any(|pc| pc == at)
    }

    /// Whether some loop around `above` does not contain one of the targets.
    fn leaves_loop(&self, above: Pc, targets: &[Pc]) -> bool {
        let closed = |head: &Pc| self.predecessors[usize::from(*head)].iter().any(|from| from >= head);
        (0..=above).filter(closed).any(|head| {
            let members = members(&self.predecessors, head);
            members[usize::from(above)] && targets.iter().any(|to| !members[usize::from(*to)])
        })
    }
}

/// The immediate dominators (Cooper, Harvey and Kennedy): regions are in reverse postorder.
fn dominators(predecessors: &[Vec<Pc>]) -> Vec<Pc> {
    let all = 0..predecessors.len() as Pc;
    let mut found: Vec<Option<Pc>> = vec![None; predecessors.len()];
    if let Some(first) = found.first_mut() {
        *first = Some(0);
    }
    loop {
        let mut changed = false;
        for at in all.clone().skip(1) {
            let known =
                predecessors[usize::from(at)].iter().copied().filter(|from| found[usize::from(*from)].is_some());
            let new = known.reduce(|a, b| common(&found, a, b));
            changed |= found[usize::from(at)] != new;
            found[usize::from(at)] = new;
        }
        if !changed {
            return all.zip(found).map(|(at, above)| above.unwrap_or(at)).collect();
        }
    }
}

fn common(found: &[Option<Pc>], mut a: Pc, mut b: Pc) -> Pc {
    while a != b {
        let later = if a > b { &mut a } else { &mut b };
        match found[usize::from(*later)] {
            Some(above) => *later = above,
            None => return 0,
        }
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_dsl_isa::image::{Action, Guard, Instr, NO_SITE, Region};

    fn image(ends: Vec<End>) -> Image {
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
            Region { name: n.to_string(), results: None, body: vec![instr], end, branch: NO_SITE, last: None }
        };
        Image { regions: ends.into_iter().enumerate().map(region).collect(), ..Image::default() }
    }

    #[test]
    fn a_role_begins_behind_the_branch_that_chooses_it() {
        let guard = Guard { register: 0, holds: true };
        let branch = |taken, fall| End::Branch { guard, taken, fall };
        let image = image(vec![
            // threads past the end exit
            branch(8, 1),
            // the producer, or others
            branch(2, 5),
            // a loop over tiles: its wait, and its end
            End::Goto { to: 3 },
            branch(3, 4),
            branch(2, 7),
            // the consumer: a loop
            End::Goto { to: 6 },
            branch(6, 7),
            // all of them
            End::Goto { to: 8 },
            End::Exit {},
        ]);
        let begins: Vec<Option<u32>> = (0..9).map(|pc| first_statement(&image, pc)).collect();
        let (producer, consumer) = (Some(12), Some(15));
        assert_eq!(begins, [None, None, producer, producer, producer, consumer, consumer, None, None]);
    }
}
