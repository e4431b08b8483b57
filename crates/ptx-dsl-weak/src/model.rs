//! The relations and axioms of the manual's chapter "Memory Consistency Model".

use crate::candidate::Candidate;
use crate::error::Error;
use crate::event::{Kind, Order, Proxy};
use crate::mbarriers::Meeting;
use crate::relation::{Relation, bits};

/// A version of the model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Version {
    /// PTX 6.0: without proxies.
    Ptx60,
    /// PTX 7.5: with proxies, and what later versions add.
    Ptx75,
}

/// The choices of an execution that do not depend on coherence.
pub struct Choice<'a> {
    pub reads_from: &'a Relation,
    pub meetings: Meetings<'a>,
}

/// The choices that do not depend on reads-from either.
#[derive(Clone, Copy)]
pub struct Meetings<'a> {
    pub barriers: &'a Relation,
    pub mbarriers: &'a Meeting,
    pub fence_sc: &'a Relation,
}

/// The relations that follow from the choices.
pub struct Derived {
    causality: Relation,
}

/// No-Thin-Air: values do not depend on themselves.
pub fn no_thin_air(candidate: &Candidate, reads_from: &Relation) -> bool {
    reads_from.or(&candidate.depends).acyclic()
}

/// All Fence-SC orders: morally strong pairs of `fence.sc`, of each total order that keeps program order.
pub fn fence_sc_orders(candidate: &Candidate) -> Result<Vec<Relation>, Error> {
    let fences = candidate.set(|event| event.kind == Kind::Fence && event.order == Order::Sc);
    // 7! orders: no more.
    if fences.count_ones() > 7 {
        return Err(Error::Orders);
    }
    let mut orders = Vec::new();
    linear(candidate, fences, 0, Relation::empty(candidate.events.len()), &mut orders);
    Ok(orders)
}

fn linear(candidate: &Candidate, left: u64, done: u64, order: Relation, orders: &mut Vec<Relation>) {
    if left == 0 && !orders.contains(&order) {
        orders.push(order.clone());
    }
    for next in bits(left).filter(|&next| !bits(left).any(|other| candidate.po.has(other, next))) {
        let mut order = order.clone();
        bits(done)
            .filter(|&before| candidate.morally_strong.has(before, next))
            .for_each(|before| order.add(before, next));
        linear(candidate, left & !(1 << next), done | 1 << next, order, orders);
    }
}

/// Causality order, or nothing if it contradicts the Fence-SC order or itself.
pub fn derive(candidate: &Candidate, version: Version, choice: &Choice) -> Option<Derived> {
    let observation = observation(candidate, choice.reads_from);
    let synchronizes = synchronizes(candidate, &observation)
        .or(&met(candidate, choice.meetings.mbarriers))
        .or(choice.meetings.fence_sc)
        .or(choice.meetings.barriers);
    // Asynchronous operations come after what precedes their issue, but do not pass that on: completion is not cumulative.
    let through = candidate.po.or(&candidate.complete).or(&synchronizes).closure();
    let issued = through.or_same().then(&candidate.issue).then(&candidate.complete.closure().or_same());
    let base = through.or(&issued);
    let causality = match version {
        Version::Ptx60 => {
            let around = candidate.po.or_same();
            let base = around.then(&synchronizes).then(&around).closure();
            let po_location = candidate.po.and(&candidate.same_location);
            base.or(&observation.then(&base.or(&po_location)))
        }
        Version::Ptx75 => {
            let preserved = proxy_preserved(candidate, &base);
            preserved.or(&observation.then(&preserved))
        }
    };
    let fences = choice.meetings.fence_sc.then(&causality.or(&base)).irreflexive();
    let mbarriers = choice.meetings.mbarriers.order.then(&base).irreflexive();
    (fences && mbarriers).then_some(Derived { causality })
}

/// Observation order: from writes, by morally strong reads-from, through atomic operations.
fn observation(candidate: &Candidate, reads_from: &Relation) -> Relation {
    let strong = candidate.morally_strong.and(reads_from);
    let steps = candidate.atomic.then(&strong).closure().or_same();
    strong.then(&steps)
}

/// Release patterns that synchronise with acquire patterns.
fn synchronizes(candidate: &Candidate, observation: &Relation) -> Relation {
    let strong = |e: usize| candidate.events[e].order != Order::Weak;
    let po_same = candidate.po.and(&candidate.same_address).or_same();
    let strong_writes = candidate.set_of(|e| candidate.writes >> e & 1 == 1 && strong(e));
    let strong_reads = candidate.set_of(|e| candidate.reads >> e & 1 == 1 && strong(e));
    let releasing = candidate.set(|event| event.is_write() && event.order == Order::Release);
    let acquiring = candidate.set(|event| event.is_read() && event.order == Order::Acquire);
    let fences = |of: &dyn Fn(Order) -> bool| candidate.set(|event| event.kind == Kind::Fence && of(event.order));
    let (release_fences, acquire_fences) = (fences(&Order::releases), fences(&Order::acquires));
    let release = po_same.between(releasing, strong_writes).or(&candidate.po.between(release_fences, strong_writes));
    let acquire = po_same.between(strong_reads, acquiring).or(&candidate.po.between(strong_reads, acquire_fences));
    release.then(observation).then(&acquire).and(&candidate.morally_strong)
}

/// Arrivals, with a release pattern, that synchronise with waits, with an acquire pattern: mbarrier objects and cluster barriers.
fn met(candidate: &Candidate, mbarriers: &Meeting) -> Relation {
    let n = candidate.events.len();
    let cluster = Relation::of(n, |a, b| match (candidate.events[a].kind, candidate.events[b].kind) {
        (Kind::ClusterArrive(x), Kind::ClusterWait(y)) => x == y,
        _ => false,
    });
    let meets = mbarriers.observed.or(&cluster).and(&candidate.inclusive);
    let fence = |e: usize| candidate.events[e].kind == Kind::Fence;
    let order = |e: usize| candidate.events[e].order;
    let release = Relation::of(n, |a, b| (a == b || fence(a) && candidate.po.has(a, b)) && order(a).releases());
    let acquire = Relation::of(n, |a, b| (a == b || fence(b) && candidate.po.has(a, b)) && order(b).acquires());
    release.then(&meets).then(&acquire).and(&candidate.inclusive)
}

/// Proxy-preserved base causality order.
fn proxy_preserved(candidate: &Candidate, base: &Relation) -> Relation {
    let memory = candidate.memory;
    let generic = candidate.set(|event| event.is_memory() && event.proxy == Proxy::Generic);
    let (address, location) = (&candidate.same_address, &candidate.same_location);
    let local = candidate.same_proxy.and(&candidate.same_cta);
    let fences = candidate.set(|event| matches!(event.kind, Kind::Fence | Kind::ProxyFence));
    let aliases = candidate.set(|event| event.kind == Kind::AliasFence);
    // From an access to a fence of its proxy, and from such a fence to an access; nothing for the generic proxy.
    let leave = base.and(&local.between(memory, fences));
    let enter = base.and(&local.between(fences, memory));
    let from = leave.then(base).or(&base.between(generic, !0));
    let direct = base.between(generic, generic).or(&base.and(&local).between(memory, memory));
    let fenced = from
        .between(!0, generic)
        .or(&base.between(generic, !0).then(&enter))
        .or(&leave.then(&enter))
        .or(&leave.then(base).then(&enter));
    let reach = base.between(aliases, generic).or(&base.between(aliases, !0).then(&enter));
    let renamed = from.between(!0, aliases).then(&reach);
    direct.or(&fenced).and(address).or(&renamed.and(location))
}

/// Whether the axioms allow a coherence order that `found` accepts. Each order tried takes one of `budget`.
pub fn coherence(
    candidate: &Candidate,
    version: Version,
    choice: &Choice,
    derived: &Derived,
    budget: &mut usize,
    found: &mut dyn FnMut(&Relation) -> bool,
) -> Result<bool, Error> {
    let (writes, location) = (candidate.writes, &candidate.same_location);
    let initial = candidate.set(|event| event.kind == Kind::Init);
    let first = location.between(initial, writes & !initial);
    let start = first.or(&derived.causality.and(location).between(writes, writes));
    let strong = candidate.morally_strong.and(location).between(writes, writes);
    let mut open = vec![start.closure()];
    while let Some(order) = open.pop() {
        *budget = budget.checked_sub(1).ok_or(Error::Steps)?;
        if !order.irreflexive() || !axioms(candidate, version, choice.reads_from, derived, &order) {
            continue;
        }
        let unordered = |a: usize| bits(strong.row(a)).find(|&b| !order.has(a, b) && !order.has(b, a)).map(|b| (a, b));
        let Some((a, b)) = bits(candidate.writes).find_map(unordered) else {
            if found(&order) {
                return Ok(true);
            }
            continue;
        };
        for (a, b) in [(a, b), (b, a)] {
            let mut order = order.clone();
            order.add(a, b);
            open.push(order.closure());
        }
    }
    Ok(false)
}

/// Atomicity, SC-per-Location and Causality.
fn axioms(candidate: &Candidate, version: Version, reads_from: &Relation, derived: &Derived, order: &Relation) -> bool {
    let strong = &candidate.morally_strong;
    let from_reads = reads_from.inverse().then(order);
    let communication = reads_from.or(order).or(&from_reads);
    let po = match version {
        Version::Ptx60 => candidate.po.and(&candidate.same_location),
        Version::Ptx75 => candidate.po.and(strong).between(candidate.memory, candidate.memory),
    };
    reads_from.or(&from_reads).then(&derived.causality).irreflexive()
        && strong.and(&from_reads).then(&strong.and(order)).and(&candidate.atomic).is_empty()
        && strong.and(&communication).or(&po).acyclic()
}
