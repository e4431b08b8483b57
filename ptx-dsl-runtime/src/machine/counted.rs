//! Loops that count to an end: a register grows by a constant in each round, and the loop is left by its comparison with a value that stays.
//!
//! A kernel with such a loop ends, although it may take long. Of nested loops the outermost counts.

use crate::kernel::flow::Pc;
use ptx_dsl_isa::image::{Action, End, Image, Instr, Place, Region, Register, Source};
use ptx_dsl_isa::opcode::op;
use std::collections::{HashMap, HashSet};

/// The effect of an instruction of a loop on a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Write {
    /// The register gets the value of this register plus a loop-invariant one.
    Step(Register),
    /// The register gets the value of this register.
    Copy(Register),
    /// The register gets the comparison of this register and a loop-invariant value.
    Comparison(Register),
    Other,
}

/// Is the region in a loop that counts to an end?
pub(super) fn is_counted(image: &Image, pc: Pc) -> bool {
    let members = members(image, pc);
    let regions: Vec<&Region> = members.iter().filter_map(|at| image.regions.get(*at)).collect();
    let writes = Writes::of(&regions);
    let leaves = |to: &Pc| !members.contains(&usize::from(*to));
    let guards = regions.iter().filter_map(|region| match &region.end {
        End::Branch { guard, taken, fall } if leaves(taken) || leaves(fall) => Some(guard.register),
        _ => None,
    });
    guards.into_iter().any(|guard| writes.is_end_of_count(guard))
}

/// The regions that come before and after this one in a cycle.
fn members(image: &Image, pc: Pc) -> HashSet<usize> {
    let n = image.regions.len();
    let (mut after, mut before) = (vec![Vec::new(); n], vec![Vec::new(); n]);
    for (from, region) in image.regions.iter().enumerate() {
        for to in super::loops::successors(&region.end).into_iter().map(usize::from).filter(|to| *to < n) {
            after[from].push(to);
            before[to].push(from);
        }
    }
    let reach = |edges: &[Vec<usize>]| {
        let mut seen = HashSet::new();
        let mut work = edges.get(usize::from(pc)).cloned().unwrap_or_default();
        while let Some(at) = work.pop() {
            if seen.insert(at) {
                work.extend(&edges[at]);
            }
        }
        seen
    };
    &reach(&after) & &reach(&before)
}

/// The writes of a loop to each register.
struct Writes(HashMap<Register, Vec<Write>>);

impl Writes {
    fn of(regions: &[&Region]) -> Writes {
        let instructions = || regions.iter().flat_map(|region| region.instructions());
        let mut written: HashSet<Register> = instructions().flat_map(|i| i.results.iter().flatten().copied()).collect();
        let transfers = regions.iter().flat_map(|region| {
            let arguments = match &region.end {
                End::Call { callees, .. } => callees.iter().map(|c| &c.arguments).collect(),
                _ => Vec::new(),
            };
            region.results.iter().chain(arguments)
        });
        let places = transfers.flat_map(|transfer| &transfer.moves).map(|(_, to)| to);
        let by_calls: Vec<Register> = places
            .flat_map(|to| match to {
                Place::Registers { list } => list.iter().flatten().copied().collect(),
                _ => Vec::new(),
            })
            .collect();
        written.extend(&by_calls);
        let mut all: HashMap<Register, Vec<Write>> = HashMap::new();
        for instr in instructions() {
            let write = write(instr, &written);
            instr.results.iter().flatten().for_each(|r| all.entry(*r).or_default().push(write));
        }
        by_calls.into_iter().for_each(|r| all.entry(r).or_default().push(Write::Other));
        Writes(all)
    }

    fn is_end_of_count(&self, guard: Register) -> bool {
        let all = self.0.get(&guard).map_or(&[][..], Vec::as_slice);
        !all.is_empty() && all.iter().all(|w| matches!(w, Write::Comparison(r) if self.is_counter(*r)))
    }

    /// Is a register only ever stepped and copied?
    fn is_counter(&self, register: Register) -> bool {
        let (mut seen, mut work, mut steps) = (HashSet::from([register]), vec![register], false);
        while let Some(r) = work.pop() {
            // a register that the loop does not write has the value from before it: the count starts anew
            let Some(all) = self.0.get(&r) else { return false };
            for write in all {
                let from = match write {
                    Write::Step(from) | Write::Copy(from) => *from,
                    Write::Comparison(_) | Write::Other => return false,
                };
                steps |= matches!(write, Write::Step(_));
                if seen.insert(from) {
                    work.push(from);
                }
            }
        }
        steps
    }
}

/// The effect of an instruction on its results, in a loop that writes these registers.
fn write(i: &Instr, written: &HashSet<Register>) -> Write {
    let changes = |source: &Source| match *source {
        Source::Register { register } if written.contains(&register) => Some(register),
        _ => None,
    };
    let stays = |source: &Source| match source {
        Source::Register { register } => !written.contains(register),
        Source::Constant { .. } => true,
        _ => false,
    };
    match (i.action, &i.sources[..]) {
        (Action::Move { from, to }, [source]) if from == to => changes(source).map_or(Write::Other, Write::Copy),
        (Action::Opcode { opcode: op::add | op::sub, .. }, [a, b]) => match (changes(a), changes(b)) {
            (Some(r), None) if stays(b) && !is_zero(b) => Write::Step(r),
            (None, Some(r)) if stays(a) && !is_zero(a) => Write::Step(r),
            _ => Write::Other,
        },
        (Action::Opcode { opcode: op::setp, .. }, [a, b, ..]) => match (changes(a), changes(b)) {
            (Some(r), None) if stays(b) => Write::Comparison(r),
            (None, Some(r)) if stays(a) => Write::Comparison(r),
            _ => Write::Other,
        },
        _ => Write::Other,
    }
}

fn is_zero(source: &Source) -> bool {
    matches!(source, Source::Constant { value: 0 })
}
