//! Small programs, explored by [`Exhaustive`] and by brute force: the same schedules, none of them twice.

use super::*;
use crate::machine::steps::effect::{Action, StepObject};
use ptx_dsl_test_support::random::Random;
use std::collections::BTreeSet;

/// A step of a process.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    Read(u64),
    Write(u64),
    /// A wait for the one write to the object: of an asynchronous operation for its start, say.
    Await(u64),
}

impl Step {
    fn object(self) -> u64 {
        match self {
            Step::Read(object) | Step::Write(object) | Step::Await(object) => object,
        }
    }

    /// Does the order of two steps of different processes matter? A wait cannot come before its write.
    fn conflicts(self, other: Step) -> bool {
        use Step::{Read, Write};
        self.object() == other.object()
            && matches!((self, other), (Write(_), Write(_)) | (Write(_), Read(_)) | (Read(_), Write(_)))
    }

    fn effect(self) -> Effect {
        let action = match self {
            Step::Read(_) => Action::Read,
            Step::Write(_) => Action::Write,
            Step::Await(_) => Action::After { phase: 0 },
        };
        Effect { object: StepObject::Global(0, 4 * self.object()), action }
    }
}

type Program = Vec<Vec<Step>>;

/// A schedule: the process of each step.
type Schedule = Vec<usize>;

/// The state of a program that runs.
#[derive(Clone)]
struct Run<'p> {
    program: &'p Program,
    next: Vec<usize>,
    schedule: Schedule,
}

impl<'p> Run<'p> {
    fn new(program: &'p Program) -> Self {
        Run { program, next: vec![0; program.len()], schedule: Vec::new() }
    }

    fn written(&self, object: u64) -> bool {
        let done = self.program.iter().zip(&self.next).flat_map(|(steps, next)| &steps[..*next]);
        done.into_iter().any(|step| *step == Step::Write(object))
    }

    /// The processes that can make a step.
    fn able(&self) -> Vec<usize> {
        let can = |&p: &usize| match self.program[p].get(self.next[p]) {
            Some(Step::Await(object)) => self.written(*object),
            step => step.is_some(),
        };
        (0..self.program.len()).filter(can).collect()
    }

    fn step(&mut self, process: usize) -> Step {
        let step = self.program[process][self.next[process]];
        self.next[process] += 1;
        self.schedule.push(process);
        step
    }
}

/// The equivalence class of a schedule: for each pair of conflicting steps of different processes, the order of the two.
fn order_of_conflicts(program: &Program, schedule: &Schedule) -> BTreeSet<[(usize, usize); 2]> {
    let mut next = vec![0; program.len()];
    let steps: Vec<(usize, usize)> = schedule
        .iter()
        .map(|&process| {
            next[process] += 1;
            (process, next[process] - 1)
        })
        .collect();
    let step = |(process, at): (usize, usize)| program[process][at];
    let pairs = steps.iter().enumerate().flat_map(|(i, first)| steps[i + 1..].iter().map(|last| [*first, *last]));
    pairs.filter(|[first, last]| first.0 != last.0 && step(*first).conflicts(step(*last))).collect()
}

/// All schedules, by what tells them apart.
fn by_brute_force(program: &Program) -> BTreeSet<BTreeSet<[(usize, usize); 2]>> {
    let (mut todo, mut found) = (vec![Run::new(program)], BTreeSet::new());
    while let Some(run) = todo.pop() {
        let able = run.able();
        if able.is_empty() {
            found.insert(order_of_conflicts(program, &run.schedule));
        }
        todo.extend(able.into_iter().map(|process| {
            let mut run = run.clone();
            run.step(process);
            run
        }));
    }
    found
}

fn process(number: usize) -> Process {
    Process { cluster: number as u64, ..Process::default() }
}

/// The schedules of the explorer that are not redundant.
fn explored(program: &Program) -> Vec<Schedule> {
    let (mut explorer, mut all) = (Exhaustive::default(), Vec::new());
    loop {
        explorer.start();
        explorer.begin();
        let mut run = Run::new(program);
        loop {
            let able = run.able();
            let processes: Vec<Process> = able.iter().map(|p| process(*p)).collect();
            if able.is_empty() {
                break;
            }
            let chosen = able[explorer.pick(&processes)];
            let effects = vec![run.step(chosen).effect()];
            explorer.made(&Made { process: process(chosen), effects, ..Made::default() });
        }
        if !explorer.was_redundant() {
            all.push(run.schedule);
        }
        if !explorer.advance() {
            assert!(!explorer.differs());
            return all;
        }
    }
}

#[track_caller]
fn check(program: &Program) -> usize {
    let schedules = explored(program);
    let orders: BTreeSet<_> = schedules.iter().map(|s| order_of_conflicts(program, s)).collect();
    assert_eq!(orders, by_brute_force(program), "{program:?}");
    assert_eq!(orders.len(), schedules.len(), "{program:?} has schedules that differ in nothing");
    schedules.len()
}

#[test]
fn programs_with_a_known_number_of_schedules() {
    use Step::*;
    // a lost update: each reads, then writes; of the six interleavings all differ but those that swap the reads
    assert_eq!(check(&vec![vec![Read(0), Write(0)], vec![Read(0), Write(0)]]), 4);
    // nothing is shared
    assert_eq!(check(&vec![vec![Write(0), Read(0)], vec![Write(1), Read(1)], vec![Read(2)]]), 1);
    // three writes in any order
    assert_eq!(check(&vec![vec![Write(0)], vec![Write(0)], vec![Write(0)]]), 6);
    // a flag that is waited for, which orders the data
    assert_eq!(check(&vec![vec![Write(0), Write(1)], vec![Await(1), Read(0)]]), 1);
    // the classic example of source sets: a writer and readers of other objects
    assert_eq!(check(&vec![vec![Write(0)], vec![Read(1), Read(0)], vec![Read(2), Read(0)]]), 4);
}

#[test]
fn random_programs() {
    let mut random = Random::new(1);
    let mut below = |n: u64| random.below(n);
    const FLAG: u64 = 9;
    let mut most = 0;
    for _ in 0..300 {
        let processes = 2 + below(2);
        let mut program: Program = Vec::new();
        for number in 0..processes {
            let mut steps: Vec<Step> = (0..1 + below(3))
                .map(|_| match (below(6), below(2)) {
                    (0..3, object) => Step::Read(object),
                    (3..5, object) => Step::Write(object),
                    _ if number == 0 => Step::Read(0),
                    _ => Step::Await(FLAG),
                })
                .collect();
            if number == 0 {
                let at = below(1 + steps.len() as u64) as usize;
                steps.insert(at, Step::Write(FLAG));
            }
            program.push(steps);
        }
        most = most.max(check(&program));
    }
    assert!(most > 20, "the programs are too simple: at most {most} schedules");
}
