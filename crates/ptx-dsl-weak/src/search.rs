//! The search for an allowed execution.

use std::collections::{BTreeMap, BTreeSet};

use crate::barriers;
use crate::candidate::Candidate;
use crate::condition::{Condition, Value};
use crate::error::{Error, ORDERS, RUNS, STEPS};
use crate::event::Event;
use crate::mbarriers;
use crate::model::{self, Choice, Meetings, Version};
use crate::program::Program;
use crate::relation::{Relation, bits};
use crate::runs::{self, Values};
use crate::trace::Trace;

/// An allowed execution.
#[derive(Clone, Debug)]
pub struct Witness {
    /// The events of the execution, initial writes first.
    pub events: Vec<Event>,
    /// Reads with the writes that they read from.
    pub reads_from: Vec<(usize, usize)>,
}

/// An allowed execution whose final state meets the condition, if there is one.
pub fn find(program: &Program, version: Version, condition: &Condition) -> Result<Option<Witness>, Error> {
    let mut runs = all_runs(program)?;
    let initial = number_values(program, &mut runs)?;
    let mut writable = vec![0; runs.len() + 1];
    for thread in (0..runs.len()).rev() {
        writable[thread] = runs[thread].iter().fold(writable[thread + 1], |all, run| all | run.writes);
    }
    let mut search = Search { program, version, condition, writable, steps: 0, found: None };
    search.choose(&runs, &mut Vec::new(), (0, initial))?;
    Ok(search.found)
}

/// The runs of each thread. A value is written only after those that it is computed from, so as many rounds as there are writes find all.
fn all_runs(program: &Program) -> Result<Vec<Vec<Trace>>, Error> {
    let mut values: Values = program.locations.iter().map(|&value| BTreeSet::from([value])).collect();
    let mut rounds = 0;
    loop {
        let runs = (0..program.threads.len())
            .map(|thread| runs::runs(program, thread, &values, RUNS))
            .collect::<Result<Vec<_>, _>>()?;
        let before = values.iter().map(BTreeSet::len).sum::<usize>();
        let writes = |run: &Trace| run.events.iter().filter(|event| event.is_write()).count();
        let longest: usize = runs.iter().map(|runs| runs.iter().map(writes).max().unwrap_or(0)).sum();
        for event in runs.iter().flatten().flat_map(|run| &run.events).filter(|event| event.is_write()) {
            let Some(place) = event.place else { continue };
            values[program.places[place].location].insert(event.value);
        }
        rounds += 1;
        if values.iter().map(BTreeSet::len).sum::<usize>() == before || rounds > longest {
            return Ok(runs);
        }
    }
}

/// Numbers the values of each location, for sets of them in each run. The set of initial values.
fn number_values(program: &Program, runs: &mut [Vec<Trace>]) -> Result<u128, Error> {
    let mut numbers = BTreeMap::new();
    let mut number = |location, value| {
        let next = numbers.len();
        match *numbers.entry((location, value)).or_insert(next) {
            number if number < 128 => Ok(1u128 << number),
            _ => Err(Error::Values),
        }
    };
    let mut initial = 0;
    for (location, &value) in program.locations.iter().enumerate() {
        initial |= number(location, value)?;
    }
    for run in runs.iter_mut().flatten() {
        for event in &run.events {
            let Some(place) = event.place else { continue };
            let bit = number(program.places[place].location, event.value)?;
            if event.is_write() { run.writes |= bit } else { run.reads |= bit }
        }
    }
    Ok(initial)
}

struct Search<'a> {
    program: &'a Program,
    version: Version,
    condition: &'a Condition,
    writable: Vec<u128>,
    steps: usize,
    found: Option<Witness>,
}

impl Search<'_> {
    fn step(&mut self, cost: usize) -> Result<(), Error> {
        self.steps += cost;
        if self.steps > STEPS { Err(Error::Steps) } else { Ok(()) }
    }

    fn register(&self, chosen: &[&Trace], thread: usize, register: usize) -> Option<i64> {
        let run = chosen.get(thread)?;
        let value = run.registers.get(register).and_then(|register| register.0);
        if run.blocked() { value } else { Some(value.unwrap_or(0)) }
    }

    /// One run of each thread.
    /// `used`: the values that the chosen ones read, and those that they write.
    fn choose<'r>(
        &mut self,
        runs: &'r [Vec<Trace>],
        chosen: &mut Vec<&'r Trace>,
        used: (u128, u128),
    ) -> Result<(), Error> {
        self.step(1)?;
        let known = |value| match value {
            Value::Constant(value) => Some(value),
            Value::Register(thread, register) => self.register(chosen, thread, register),
            Value::Location(_) => None,
        };
        if self.found.is_some() || self.condition.holds(&known) == Some(false) {
            return Ok(());
        }
        let Some(next) = runs.get(chosen.len()) else { return self.candidate(chosen) };
        // What later threads can write at best.
        let later = self.writable[chosen.len() + 1];
        for run in next {
            let (reads, writes) = (used.0 | run.reads, used.1 | run.writes);
            if reads & !(writes | later) != 0 {
                self.step(1)?;
                continue;
            }
            chosen.push(run);
            self.choose(runs, chosen, (reads, writes))?;
            chosen.pop();
        }
        Ok(())
    }

    fn candidate(&mut self, chosen: &[&Trace]) -> Result<(), Error> {
        self.step(10)?;
        let candidate = Candidate::new(self.program, chosen).ok_or(Error::Events)?;
        let barriers = barriers::meetings(&candidate)?;
        if barriers.is_empty() {
            return Ok(());
        }
        let mbarriers = mbarriers::meetings(&candidate)?;
        let fences = model::fence_sc_orders(&candidate)?;
        let mut meetings = Vec::new();
        for barriers in &barriers {
            for mbarriers in &mbarriers {
                meetings.extend(fences.iter().map(|fence_sc| Meetings { barriers, mbarriers, fence_sc }));
            }
            if meetings.len() > ORDERS {
                return Err(Error::Orders);
            }
        }
        let none = Relation::empty(candidate.events.len());
        self.sources(&candidate, chosen, candidate.reads, none, &meetings)
    }

    /// All ways in which the reads get their values.
    fn sources(
        &mut self,
        candidate: &Candidate,
        chosen: &[&Trace],
        left: u64,
        from: Relation,
        meetings: &[Meetings],
    ) -> Result<(), Error> {
        self.step(1)?;
        let Some(read) = bits(left).next() else {
            if !model::no_thin_air(candidate, &from) {
                return Ok(());
            }
            for meeting in meetings {
                self.step(10)?;
                self.execution(candidate, chosen, &Choice { reads_from: &from, meetings: *meeting })?;
            }
            return Ok(());
        };
        for write in candidate.sources(read) {
            if self.found.is_some() {
                break;
            }
            let mut from = from.clone();
            from.add(write, read);
            self.sources(candidate, chosen, left & !(1 << read), from, meetings)?;
        }
        Ok(())
    }

    fn execution(&mut self, candidate: &Candidate, chosen: &[&Trace], choice: &Choice) -> Result<(), Error> {
        let Some(derived) = model::derive(candidate, self.version, choice) else { return Ok(()) };
        let mut found = |order: &Relation| {
            let mut finals = vec![Vec::new(); self.program.locations.len()];
            for write in bits(candidate.writes).filter(|&write| order.row(write) == 0) {
                finals[candidate.location(write).unwrap_or(0)].push(candidate.events[write].value);
            }
            self.some_final(chosen, &finals, &mut Vec::new())
        };
        let mut budget = (STEPS - self.steps.min(STEPS)) / 10;
        let allowed = model::coherence(candidate, self.version, choice, &derived, &mut budget, &mut found);
        self.steps = STEPS - 10 * budget;
        if allowed? {
            let sources = choice.reads_from.inverse();
            let reads_from =
                bits(candidate.reads).flat_map(|read| bits(sources.row(read)).map(move |write| (read, write)));
            self.found = Some(Witness { events: candidate.events.clone(), reads_from: reads_from.collect() });
        }
        Ok(())
    }

    /// Whether the condition holds for one choice of last writes.
    fn some_final(&self, chosen: &[&Trace], finals: &[Vec<i64>], memory: &mut Vec<i64>) -> bool {
        let known = |value| match value {
            Value::Constant(value) => Some(value),
            Value::Register(thread, register) => self.register(chosen, thread, register),
            Value::Location(location) => memory.get(location).copied(),
        };
        match self.condition.holds(&known) {
            Some(holds) => holds,
            None if memory.len() == finals.len() => false,
            None => finals[memory.len()].iter().any(|&value| {
                memory.push(value);
                let holds = self.some_final(chosen, finals, memory);
                memory.pop();
                holds
            }),
        }
    }
}
