//! The runs of one thread: its events for every value that its reads could return.

use std::collections::BTreeSet;

use crate::agents::Agents;
use crate::error::Error;
use crate::event::{Arrival, Barrier, Event, Kind, Order, Proxy, Scope};
use crate::program::{Access, Arithmetic, Instruction, Operand, Program};
use crate::trace::Trace;

/// The most executions of one instruction in a run. Runs that need more are left out: spinning adds no outcome.
const VISITS: usize = 3;

#[derive(Clone)]
struct State {
    trace: Trace,
    next: usize,
    /// Events of the thread itself.
    own: u64,
    /// Reads that branches depend on.
    control: u64,
    visits: Vec<usize>,
    agents: Agents,
}

/// The values that each location may hold.
pub type Values = Vec<BTreeSet<i64>>;

/// All runs of a thread, where reads return any of `values`.
pub fn runs(program: &Program, thread: usize, values: &Values, limit: usize) -> Result<Vec<Trace>, Error> {
    let code = &program.threads[thread];
    let registers = code.registers.iter().map(|&value| (value, 0)).collect();
    let state = State {
        trace: Trace { registers, ..Trace::default() },
        next: 0,
        own: 0,
        control: 0,
        visits: vec![0; code.code.len()],
        agents: Agents::default(),
    };
    let (mut open, mut done) = (vec![state], Vec::new());
    let mut steps = 0;
    while let Some(mut state) = open.pop() {
        steps += 1;
        if steps > limit * 16 {
            return Err(Error::Runs { thread, limit });
        }
        let Some(instruction) = code.code.get(state.next) else {
            done.push(state.trace);
            if done.len() > limit {
                return Err(Error::Runs { thread, limit });
            }
            continue;
        };
        state.visits[state.next] += 1;
        if state.visits[state.next] > VISITS {
            continue;
        }
        if state.trace.events.len() > 48 {
            return Err(Error::Events);
        }
        Step { program, thread, values, open: &mut open, done: &mut done }.step(state, instruction);
    }
    Ok(done)
}

struct Step<'a> {
    program: &'a Program,
    thread: usize,
    values: &'a Values,
    open: &'a mut Vec<State>,
    done: &'a mut Vec<Trace>,
}

impl Step<'_> {
    fn step(&mut self, mut state: State, instruction: &Instruction) {
        let at = state.next;
        state.next += 1;
        match *instruction {
            Instruction::Load { register, place, access } => self.each_value(place, |step, value| {
                let mut state = state.clone();
                let read = state.event(step.access(Kind::Read, place, access, value, at), 0);
                state.trace.registers[register] = (Some(value), 1 << read);
                state
            }),
            Instruction::Store { place, value, access } => {
                let (value, depends) = state.operand(value);
                state.event(self.access(Kind::Write, place, access, value, at), depends);
                self.open.push(state);
            }
            Instruction::Atomic { register, place, operation, value, compare, access } => {
                self.each_value(place, |step, old| {
                    let mut state = state.clone();
                    // `red` reads, but its read never belongs to an acquire pattern.
                    let acquires = access.order.acquires() && register.is_some();
                    let order = if acquires { Order::Acquire } else { Order::Relaxed };
                    let read = state.event(step.access(Kind::Read, place, Access { order, ..access }, old, at), 0);
                    let (operand, mut depends) = state.operand(value);
                    let mut new = operation.of(old, operand);
                    if let Some(compare) = compare {
                        let (expected, by) = state.operand(compare);
                        depends |= by | 1 << read;
                        new = if old == expected { operand } else { old };
                    } else if !matches!(operation, Arithmetic::Second) {
                        depends |= 1 << read;
                    }
                    let order = if access.order.releases() { Order::Release } else { Order::Relaxed };
                    let write =
                        state.event(step.access(Kind::Write, place, Access { order, ..access }, new, at), depends);
                    state.trace.atomic.push((read, write));
                    if let Some(register) = register {
                        state.trace.registers[register] = (Some(old), 1 << read);
                    }
                    state
                })
            }
            Instruction::Fence { order, scope } => {
                self.plain(state, Kind::Fence, order, Some(scope), Proxy::Generic, at)
            }
            Instruction::ProxyFence(proxy) => self.plain(state, Kind::ProxyFence, Order::Weak, None, proxy, at),
            Instruction::AliasFence => self.plain(state, Kind::AliasFence, Order::Weak, None, Proxy::Generic, at),
            Instruction::Barrier { arrives, instance, resource, threads } => {
                let resource = state.operand(resource).0;
                let threads = threads.map(|threads| state.operand(threads).0);
                let barrier = Barrier { instance, resource, threads, arrives, blocked: false };
                if threads.is_some() && !arrives {
                    let mut blocked = state.clone();
                    let kind = Kind::Barrier(Barrier { blocked: true, ..barrier });
                    blocked.event(self.event(kind, Order::Weak, None, Proxy::Generic, at), 0);
                    self.done.push(blocked.trace);
                }
                self.plain(state, Kind::Barrier(barrier), Order::Weak, None, Proxy::Generic, at);
            }
            Instruction::Compute { register, operation, a, b } => {
                let ((a, by_a), (b, by_b)) = (state.operand(a), state.operand(b));
                state.trace.registers[register] = (Some(operation.of(a, b)), by_a | by_b);
                self.open.push(state);
            }
            Instruction::Branch { compare, a, b, target } => {
                let ((a, by_a), (b, by_b)) = (state.operand(a), state.operand(b));
                state.control |= by_a | by_b;
                if compare.of(a, b) {
                    state.next = target;
                }
                self.open.push(state);
            }
            Instruction::Arrive { object, order, scope, count, tx } => {
                let kind = Kind::Arrive(Arrival { object, count, tx });
                self.plain(state, kind, order, Some(scope), Proxy::Generic, at);
            }
            Instruction::TryWait { register, object, parity, order, scope } => {
                let mut fails = state.clone();
                fails.trace.registers[register] = (Some(0), 0);
                self.open.push(fails);
                state.trace.registers[register] = (Some(1), 0);
                self.plain(state, Kind::Wait { object, parity }, order, Some(scope), Proxy::Generic, at);
            }
            Instruction::ClusterArrive { order, instance } => {
                self.plain(state, Kind::ClusterArrive(instance), order, Some(Scope::Cluster), Proxy::Generic, at);
            }
            Instruction::ClusterWait { instance } => {
                let scope = Some(Scope::Cluster);
                self.plain(state, Kind::ClusterWait(instance), Order::Acquire, scope, Proxy::Generic, at);
            }
            Instruction::Async(operation) => {
                let read = Agents::reads(operation);
                let issue = |step: &Self, value| {
                    let mut state = state.clone();
                    let template = step.event(Kind::Completion, Order::Weak, None, Proxy::Generic, at);
                    state.agents.issue(operation, value, state.own, template, &mut state.trace);
                    state
                };
                match read {
                    Some(place) => self.each_value(place, issue),
                    None => {
                        let state = issue(self, 0);
                        self.open.push(state);
                    }
                }
            }
            Instruction::Await(wait) => {
                let complete = state.agents.complete(wait);
                let event = self.event(Kind::Completion, Order::Weak, None, Proxy::Generic, at);
                let index = state.event(event, 0);
                state.trace.complete[index] |= complete;
                state.agents.after(wait, state.own);
                self.open.push(state);
            }
        }
    }

    fn each_value(&mut self, place: usize, run: impl Fn(&Self, i64) -> State) {
        let location = self.program.places[place].location;
        for &value in &self.values[location] {
            let state = run(self, value);
            self.open.push(state);
        }
    }

    fn plain(&mut self, mut state: State, kind: Kind, order: Order, scope: Option<Scope>, proxy: Proxy, at: usize) {
        state.event(self.event(kind, order, scope, proxy, at), 0);
        self.open.push(state);
    }

    fn event(&self, kind: Kind, order: Order, scope: Option<Scope>, proxy: Proxy, at: usize) -> Event {
        Event { thread: self.thread, kind, order, scope, proxy, place: None, value: 0, at }
    }

    fn access(&self, kind: Kind, place: usize, access: Access, value: i64, at: usize) -> Event {
        let event = self.event(kind, access.order, access.scope, access.proxy, at);
        Event { place: Some(place), value, ..event }
    }
}

impl State {
    /// An event of the thread itself.
    fn event(&mut self, event: Event, depends: u64) -> usize {
        let index = self.trace.push(event, 0, 0, depends | self.control);
        self.trace.program_order[index] = self.own;
        self.own |= 1 << index;
        index
    }

    fn operand(&self, operand: Operand) -> (i64, u64) {
        match operand {
            Operand::Constant(value) => (value, 0),
            Operand::Register(register) => {
                let (value, depends) = self.trace.registers[register];
                (value.unwrap_or(0), depends)
            }
        }
    }
}
