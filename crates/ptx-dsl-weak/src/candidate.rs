//! A candidate: one run of each thread, with the relations that need no choice.

use crate::event::{Event, Kind, Order, Proxy};
use crate::program::Program;
use crate::relation::{Relation, bits};
use crate::trace::Trace;

/// The events of all threads after the initial writes.
pub struct Candidate<'a> {
    pub program: &'a Program,
    pub events: Vec<Event>,
    /// Program order.
    pub po: Relation,
    /// The edges from program order to asynchronous operations that are issued after it.
    pub issue: Relation,
    /// The edges from asynchronous operations to events after their completion, or later in their pipeline.
    pub complete: Relation,
    /// Data, address and control dependencies.
    pub depends: Relation,
    /// The edges from the read of an atomic operation to its write.
    pub atomic: Relation,
    pub same_location: Relation,
    pub same_address: Relation,
    pub same_proxy: Relation,
    pub same_cta: Relation,
    /// Each one's scope includes the other's thread.
    pub inclusive: Relation,
    pub morally_strong: Relation,
    pub reads: u64,
    pub writes: u64,
    pub memory: u64,
}

impl<'a> Candidate<'a> {
    pub fn new(program: &'a Program, runs: &[&Trace]) -> Option<Self> {
        let mut events: Vec<_> = program.locations.iter().enumerate().map(|(i, &value)| initial(i, value)).collect();
        let n = events.len() + runs.iter().map(|run| run.events.len()).sum::<usize>();
        if n > 64 {
            return None;
        }
        let mut into = [(); 4].map(|()| Relation::empty(n));
        let mut atomic = Relation::empty(n);
        for run in runs {
            let base = events.len();
            events.extend(run.events.iter().cloned());
            let masks = [&run.program_order, &run.issue, &run.complete, &run.depends];
            for (relation, masks) in into.iter_mut().zip(masks) {
                masks.iter().enumerate().for_each(|(e, &mask)| relation.add_all(base + e, mask << base));
            }
            run.atomic.iter().for_each(|&(read, write)| atomic.add(base + read, base + write));
        }
        let [po, issue, complete, depends] = into.map(|relation| relation.inverse());
        let set = |of: &dyn Fn(&Event) -> bool| (0..n).filter(|&e| of(&events[e])).fold(0u64, |set, e| set | 1 << e);
        let (reads, writes) = (set(&Event::is_read), set(&Event::is_write));
        let place = |e: usize| events[e].place.map(|place| &program.places[place]);
        let same = |of: &dyn Fn(usize) -> Option<usize>| Relation::of(n, |a, b| of(a).is_some() && of(a) == of(b));
        let same_location = same(&|e| location(program, &events[e]));
        let same_address = same(&|e| place(e).map(|place| place.address));
        let same_proxy = Relation::of(n, |a, b| proxy(&events[a]).is_some() && proxy(&events[a]) == proxy(&events[b]));
        let started = |e: usize| events[e].kind != Kind::Init;
        let thread = |e: usize| &program.threads[events[e].thread];
        let same_cta =
            Relation::of(n, |a, b| started(a) && started(b) && thread(a).includes(thread(b), crate::event::Scope::Cta));
        let inclusive = Relation::of(n, |a, b| match (events[a].scope, events[b].scope) {
            (Some(x), Some(y)) => thread(a).includes(thread(b), x) && thread(b).includes(thread(a), y),
            _ => false,
        });
        let ordered = po.or(&issue).or(&complete).closure();
        let memory = reads | writes;
        let morally_strong = Relation::of(n, |a, b| {
            let both = memory >> a & memory >> b & 1 == 1;
            a != b
                && (ordered.has(a, b) || ordered.has(b, a) || inclusive.has(a, b))
                && same_proxy.has(a, b)
                && (!both || same_address.has(a, b))
        });
        Some(Candidate {
            program,
            po,
            issue,
            complete,
            depends,
            atomic,
            same_location,
            same_address,
            same_proxy,
            same_cta,
            inclusive,
            morally_strong,
            reads,
            writes,
            memory,
            events,
        })
    }

    /// The events that the predicate holds for.
    pub fn set(&self, of: impl Fn(&Event) -> bool) -> u64 {
        (0..self.events.len()).filter(|&e| of(&self.events[e])).fold(0, |set, e| set | 1 << e)
    }

    /// The indices that the predicate holds for.
    pub fn set_of(&self, of: impl Fn(usize) -> bool) -> u64 {
        (0..self.events.len()).filter(|&e| of(e)).fold(0, |set, e| set | 1 << e)
    }

    /// The writes that a read could read from.
    pub fn sources(&self, read: usize) -> impl Iterator<Item = usize> {
        let value = self.events[read].value;
        bits(self.same_location.row(read) & self.writes).filter(move |&write| self.events[write].value == value)
    }

    /// The location of an access.
    pub fn location(&self, event: usize) -> Option<usize> {
        location(self.program, &self.events[event])
    }
}

fn location(program: &Program, event: &Event) -> Option<usize> {
    match event.kind {
        Kind::Init => Some(event.at),
        _ => event.place.map(|place| program.places[place].location),
    }
}

/// The proxy of an operation. Initial writes and fences of aliases have none.
fn proxy(event: &Event) -> Option<Proxy> {
    (!matches!(event.kind, Kind::Init | Kind::AliasFence)).then_some(event.proxy)
}

fn initial(location: usize, value: i64) -> Event {
    let (order, proxy) = (Order::Weak, Proxy::Generic);
    Event { thread: 0, kind: Kind::Init, order, scope: None, proxy, place: None, value, at: location }
}
