//! All schedules that differ in the order of dependent steps: dynamic partial-order reduction with source sets and sleep sets
//! (Abdulla, Aronsson, Jonsson, Sagonas: "Optimal dynamic partial order reduction", POPL 2014, algorithm 1).
//!
//! The tree of schedules is explored depth first. A run repeats the steps down to the last node that has something left to try, and
//! goes on from there. When two steps turn out to depend on each other and nothing orders them, the node before the first of them
//! gets a process that leads to the other order.
//!
//! A failed test that leads back to itself is a wait ([`Made::idle`]): the statement's other tests then count as waits too.

use crate::machine::schedule::Choice;
use crate::machine::steps::Explorer;
use crate::machine::steps::Made;
use crate::machine::steps::Process;
use crate::machine::steps::effect::{Action, Effect, Relation, StepObject, depends};
use std::collections::{HashMap, HashSet};

/// A step of the schedule that runs, and what has been tried in its place.
#[derive(Debug, Default)]
struct Node {
    /// The processes that could make the step.
    able: Vec<Process>,
    process: Process,
    /// The choices of the step, each with the number of alternatives.
    choices: Vec<(Choice, usize, usize)>,
    made: Made,
    /// The effects of this process at this point, for the choices that have been tried.
    tried: Vec<Effect>,
    /// The vector clock of the step: for each process, the number of its last step that happens before this one, plus 1.
    clock: Vec<usize>,
    /// The launch of the run to which it belongs.
    launch: usize,
    /// Processes to try in its place.
    wanted: Vec<Process>,
    /// Processes whose next step leads to what has been explored, and what it does.
    asleep: Vec<(Process, Vec<Effect>)>,
}

/// Explores all schedules, a run at a time.
#[derive(Debug, Default)]
pub(crate) struct Exhaustive {
    nodes: Vec<Node>,
    /// The node of the next step.
    depth: usize,
    /// Nodes that this run repeats; the last of them may have another process or other choices than before.
    repeated: usize,
    /// The next choice within the step.
    choice: usize,
    /// Processes by number, and the last step of each in this run.
    numbers: HashMap<Process, usize>,
    last: Vec<Option<usize>>,
    /// The launch that runs, counted in this run; its first step.
    launch: usize,
    /// Tests that are waits: the statements, by launch.
    waits: HashSet<(usize, u32)>,
    /// The clusters that have accessed each place of global memory in this run.
    users: HashMap<(usize, StepObject), Users>,
    /// Launches in which steps of different clusters depend on each other: only there does it matter which cluster starts.
    conflicts: HashSet<usize>,
    /// The last step has made a test fail, at this statement.
    failed_test: Option<u32>,
    /// A run did not repeat what another one did.
    differs: bool,
    /// Whether all states that can be reached from here have been explored: the run goes on, and counts for nothing.
    redundant: bool,
}

impl Exhaustive {
    /// A run begins.
    pub fn start(&mut self) {
        (self.depth, self.choice, self.launch, self.redundant) = (0, 0, 0, false);
        self.numbers.clear();
        self.last.clear();
        self.users.clear();
        self.failed_test = None;
    }

    /// A run is over. Was it a schedule of its own, or does it only repeat what others have shown?
    pub fn was_redundant(&self) -> bool {
        self.redundant
    }

    /// Did a run not repeat what another one did? Then schedules may have been left out.
    pub fn differs(&self) -> bool {
        self.differs
    }

    /// Goes to the next schedule. False if there is none.
    pub fn advance(&mut self) -> bool {
        self.nodes.truncate(self.depth);
        while let Some(mut node) = self.nodes.pop() {
            let done = std::mem::take(&mut node.made.effects);
            node.tried.extend(done);
            if node.next_choices(&self.waits, &self.conflicts) {
                self.nodes.push(node);
                self.repeated = self.nodes.len();
                return true;
            }
            let done = std::mem::take(&mut node.tried);
            node.asleep.push((node.process, done));
            let asleep = |p: &Process| node.asleep.iter().any(|(other, _)| other == p);
            if let Some(next) = node.wanted.iter().copied().find(|p| !asleep(p)) {
                node.process = next;
                node.choices.clear();
                self.nodes.push(node);
                self.repeated = self.nodes.len();
                return true;
            }
        }
        false
    }

    fn number(&mut self, process: Process) -> usize {
        let next = self.numbers.len();
        let n = *self.numbers.entry(process).or_insert(next);
        if n == self.last.len() {
            self.last.push(None);
        }
        n
    }

    /// The processes whose next step leads to what has been explored, after the last step.
    fn asleep(&self) -> Vec<(Process, Vec<Effect>)> {
        let Some(before) = self.depth.checked_sub(1).map(|i| &self.nodes[i]) else { return Vec::new() };
        if before.launch != self.launch {
            return Vec::new();
        }
        let waits = |site| self.waits.contains(&(self.launch, site));
        let step = &before.made.effects;
        let stays = |(process, effects): &&(Process, Vec<Effect>)| {
            // an idle step changes nothing
            *process != before.process
                && (before.made.idle
                    || depends(step, effects, &waits) == Relation::None
                        && depends(effects, step, &waits) == Relation::None)
        };
        before.asleep.iter().filter(stays).cloned().collect()
    }

    /// Notes whether steps of different clusters depend on each other.
    fn note_users(&mut self, step: &Made) {
        for Effect { object, action } in &step.effects {
            if matches!(object, StepObject::Global(..) | StepObject::Sequential) {
                let users = self.users.entry((self.launch, *object)).or_default();
                if users.conflict(step.process.cluster, *action == Action::Write) {
                    self.conflicts.insert(self.launch);
                }
            }
        }
    }

    /// Computes what comes before the last step, and finds the steps that it might have overtaken.
    fn order(&mut self, at: usize, own: usize, new: bool) {
        let mut clock = match self.last[own] {
            Some(last) => self.nodes[last].clock.clone(),
            None => Vec::new(),
        };
        let mut races = Vec::new();
        for i in (0..at).rev() {
            let (node, step) = (&self.nodes[i], &self.nodes[at]);
            if node.launch != step.launch {
                break;
            }
            let other = self.numbers[&node.process];
            // an idle step changes nothing; but it may be idle because of the others
            if node.made.idle || node.made.effects.is_empty() || clock.get(other).is_some_and(|before| *before > i) {
                continue;
            }
            let waits = |site| self.waits.contains(&(step.launch, site));
            let relation = depends(&node.made.effects, &step.made.effects, &waits);
            if relation == Relation::None {
                continue;
            }
            if relation == Relation::Races && new && other != own {
                races.push(i);
            }
            join(&mut clock, &node.clock);
        }
        if clock.len() <= own {
            clock.resize(own + 1, 0);
        }
        clock[own] = at + 1;
        self.nodes[at].clock = clock;
        self.last[own] = Some(at);
        for first in races {
            self.reverse(first, at);
        }
    }

    /// The step at `last` depends on that at `first`, and nothing orders them: to try the other order.
    fn reverse(&mut self, first: usize, last: usize) {
        let other = self.numbers[&self.nodes[first].process];
        let after_first = |node: &Node| node.clock.get(other).is_some_and(|before| *before > first);
        // what happens between them without the first, and then the last
        let mut between: Vec<usize> = (first + 1..last).filter(|i| !after_first(&self.nodes[*i])).collect();
        between.push(last);
        // who can begin
        let mut begin = Vec::new();
        for (k, i) in between.iter().enumerate() {
            let node = &self.nodes[*i];
            let before = |j: &usize| {
                let of = self.numbers[&self.nodes[*j].process];
                node.clock.get(of).is_some_and(|known| *known > *j)
            };
            if !between[..k].iter().any(before) {
                begin.push(node.process);
            }
        }
        let own = self.nodes[last].process;
        let node = &mut self.nodes[first];
        begin.retain(|p| node.able.contains(p));
        if begin.iter().any(|p| node.wanted.contains(p)) {
            return;
        }
        let next = if begin.contains(&own) { Some(own) } else { begin.first().copied() };
        match next {
            Some(next) => node.wanted.push(next),
            // one that waits for the first step cannot overtake it
            None if !node.able.contains(&own) => {}
            None => node.wanted = node.able.clone(),
        }
    }
}

/// The clusters that have accessed an object.
#[derive(Debug, Default)]
struct Users {
    first: Option<u64>,
    several: bool,
    written: bool,
}

impl Users {
    /// A cluster accesses the object. Does that depend on an access of another cluster?
    fn conflict(&mut self, cluster: u64, writes: bool) -> bool {
        self.several |= self.first.is_some_and(|first| first != cluster);
        self.first.get_or_insert(cluster);
        self.written |= writes;
        self.several && self.written
    }
}

impl Node {
    /// Goes to the next combination of choices. False if there is none. Choices of tests that are waits have one alternative.
    fn next_choices(&mut self, waits: &HashSet<(usize, u32)>, conflicts: &HashSet<usize>) -> bool {
        let is_wait = waits.contains(&(self.launch, self.made.site));
        while let Some((what, choice, n)) = self.choices.pop() {
            let ends_early = what == Choice::TimeOut && choice == 0;
            let matters = what != Choice::Start || conflicts.contains(&self.launch);
            if choice + 1 < n && matters && !(is_wait && ends_early && self.made.idle) {
                self.choices.push((what, choice + 1, n));
                return true;
            }
        }
        false
    }
}

/// The later of each.
fn join(clock: &mut Vec<usize>, other: &[usize]) {
    if clock.len() < other.len() {
        clock.resize(other.len(), 0);
    }
    for (to, from) in clock.iter_mut().zip(other) {
        *to = (*to).max(*from);
    }
}

impl Explorer for Exhaustive {
    fn begin(&mut self) {
        self.launch += 1;
        self.failed_test = None;
    }

    fn pick(&mut self, able: &[Process]) -> usize {
        self.choice = 0;
        if self.redundant {
            return 0;
        }
        if self.depth < self.repeated {
            let node = &self.nodes[self.depth];
            let again = able.iter().position(|p| *p == node.process);
            self.differs |= again.is_none();
            return again.unwrap_or(0);
        }
        let asleep = self.asleep();
        let Some(i) = able.iter().position(|p| asleep.iter().all(|(other, _)| other != p)) else {
            self.redundant = true;
            return 0;
        };
        self.nodes.truncate(self.depth);
        let process = able[i];
        self.nodes.push(Node {
            able: able.to_vec(),
            process,
            launch: self.launch,
            wanted: vec![process],
            asleep,
            ..Node::default()
        });
        i
    }

    fn choose(&mut self, what: Choice, n: usize, site: u32) -> usize {
        if self.redundant {
            return 0;
        }
        let wait = what == Choice::TimeOut && self.waits.contains(&(self.launch, site));
        let nth = self.choice;
        self.choice += 1;
        let Some(node) = self.nodes.get_mut(self.depth) else { return 0 };
        let chosen = match node.choices.get(nth) {
            Some((_, choice, _)) => *choice,
            None => {
                // a wait that might not be one is tried both ways
                node.choices.push((what, 0, if wait { 1 } else { n }));
                0
            }
        };
        match what {
            // whoever may wait waits first: that is where deadlocks are
            Choice::Block => n - 1 - chosen,
            _ => chosen,
        }
    }

    fn made(&mut self, step: &Made) {
        if self.redundant {
            return;
        }
        let at = self.depth;
        let Some(node) = self.nodes.get_mut(at) else { return };
        node.made = step.clone();
        if step.idle && (node.choices.is_empty() || node.choices.iter().any(|(_, choice, _)| *choice > 0)) {
            // the test has failed, and the process is where it was
            self.waits.insert((self.launch, step.site));
        }
        self.note_users(step);
        let own = self.number(step.process);
        // the last of the repeated steps is new
        self.order(at, own, at + 1 >= self.repeated);
        self.depth += 1;
    }
}

#[cfg(test)]
mod tests;
