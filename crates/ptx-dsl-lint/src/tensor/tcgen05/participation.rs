//! Barrier participation: arrivals and waits matched by their barrier. For each wait, the next asynchronous operation of its thread
//! and what the arrivals signal.

use crate::kernel::Kernel;
use crate::tensor::tcgen05::ops::{MOST, has_role, signals};
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::provenance::AddressBase;
use ptx_dsl_analysis::region::Region;
use ptx_dsl_isa::hir::Instr;
use ptx_dsl_isa::isa::{Meeting, Tensor};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;

/// The barrier that an instruction uses.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Object {
    /// An mbarrier in a variable, with its offset if that is known.
    Mbarrier(u32, Option<i64>),
    /// An mbarrier somewhere.
    SomeMbarrier,
    /// A barrier of the CTA, with its number if that is known.
    Barrier(Option<u64>),
    /// That of the cluster.
    Cluster,
}

/// What the arrivals at an mbarrier signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Completed operations: `tcgen05.commit`.
    Operations,
    /// Progress of threads that access Tensor Memory.
    Accesses,
    /// Something else, or not known.
    Other,
}

struct Arrival {
    at: u32,
    block: u32,
    object: Object,
    signal: Signal,
}

struct Wait {
    at: u32,
    block: u32,
    object: Object,
    signal: Signal,
    /// The next operation of the thread, with only waits for data before it.
    next: Option<u32>,
    /// The same with any waits before it.
    later: Option<u32>,
}

/// The arrivals and waits of a kernel.
pub(crate) struct Participation {
    arrivals: Vec<Arrival>,
    waits: Vec<Wait>,
}

impl Participation {
    pub(crate) fn new(kernel: &Kernel) -> Participation {
        let flow = kernel.flow;
        let accesses = |i: &Instr| has_role(i, Tensor::Load) || has_role(i, Tensor::Store);
        let accessed = flow.cfg.reachable_from(flow.walk().filter(|(_, _, i)| accesses(i)).map(|(b, _, _)| b));
        let mut out = Participation { arrivals: Vec::new(), waits: Vec::new() };
        for (block, at, i) in flow.walk() {
            let object = object(kernel, at, i);
            if waits(i) && out.waits.len() < MOST {
                let signal = Signal::Other;
                out.waits.push(Wait { at, block, object, signal, next: None, later: None });
            }
            if signals(i) || completes(i) {
                let earlier = || flow.cfg.range(block).any(|k| k < at && accesses(flow.instr(k)));
                let signal = if has_role(i, Tensor::Commit) {
                    Signal::Operations
                } else if signals(i) && !i.has(q::expect_tx) && (accessed[block as usize] || earlier()) {
                    Signal::Accesses
                } else {
                    Signal::Other
                };
                out.arrivals.push(Arrival { at, block, object, signal });
            }
        }
        for wait in &mut out.waits {
            wait.signal = common_signal(&out.arrivals, wait.object);
        }
        for k in 0..out.waits.len() {
            let (block, at) = (out.waits[k].block, out.waits[k].at);
            let for_data = |at: u32| {
                let data =
                    |w: &Wait| w.at == at && w.signal == Signal::Other && matches!(w.object, Object::Mbarrier(..));
                out.waits.iter().any(data)
            };
            let next = first_operation(flow, block, at, &|at, i| waits(i) && !for_data(at));
            let later = first_operation(flow, block, at, &|_, _| false);
            (out.waits[k].next, out.waits[k].later) = (next, later);
        }
        out
    }

    /// What the arrivals signal that a wait is for.
    pub(crate) fn signal_of_wait(&self, at: u32) -> Signal {
        match self.waits.iter().find(|w| w.at == at) {
            Some(w) => w.signal,
            None => Signal::Other,
        }
    }

    /// The operation that another thread starts after waiting for this arrival; `later`: with any waits between.
    pub(crate) fn released_operation(&self, flow: &Flow, at: u32, later: bool) -> Option<u32> {
        let arrival = self.arrivals.iter().find(|a| a.at == at)?;
        for w in &self.waits {
            let Some(next) = (if later { w.later } else { w.next }) else { continue };
            let matches_wait = match arrival.object {
                Object::Mbarrier(..) => w.signal == Signal::Accesses && may_be(arrival.object, w.object),
                // Sites that do not reach each other belong to different threads.
                Object::Barrier(Some(_)) => {
                    arrival.object == w.object && unordered(flow, (arrival.block, at), (w.block, w.at))
                }
                _ => false,
            };
            if matches_wait {
                return Some(next);
            }
        }
        None
    }
}

fn waits(i: &Instr) -> bool {
    matches!(i.entry.effects.meeting, Meeting::Wait | Meeting::Both)
}

/// Does it complete something on an mbarrier other than an arrival of its thread?
fn completes(i: &Instr) -> bool {
    i.operand("mbar").is_some() || matches!(i.opcode, op::mbarrier_complete_tx | op::cp_async_mbarrier_arrive)
}

fn object(kernel: &Kernel, at: u32, i: &Instr) -> Object {
    let name = if i.operand("mbar").is_some() { "mbar" } else { "addr" };
    if i.operand(name).is_none() {
        return if i.operand("a").is_some() { Object::Barrier(i.constant("a")) } else { Object::Cluster };
    }
    match kernel.region_of(at, name, 8) {
        Some(Region { base: AddressBase::Var(v), bytes, .. }) => Object::Mbarrier(v.0, bytes.map(|b| b.0)),
        _ => Object::SomeMbarrier,
    }
}

/// May two be the same?
fn may_be(a: Object, b: Object) -> bool {
    match (a, b) {
        (Object::Mbarrier(x, Some(m)), Object::Mbarrier(y, Some(n))) => (x, m) == (y, n),
        (Object::Mbarrier(x, _), Object::Mbarrier(y, _)) => x == y,
        (Object::SomeMbarrier, Object::Mbarrier(..)) | (Object::Mbarrier(..), Object::SomeMbarrier) => true,
        _ => a == b,
    }
}

/// The common signal of all arrivals that may be on an object.
fn common_signal(arrivals: &[Arrival], object: Object) -> Signal {
    if !matches!(object, Object::Mbarrier(..)) {
        return Signal::Other;
    }
    let mut found = None;
    for a in arrivals {
        if may_be(a.object, object) && *found.get_or_insert(a.signal) != a.signal {
            return Signal::Other;
        }
    }
    found.unwrap_or(Signal::Other)
}

/// The first operation that is reachable from a wait without passing what `stops`.
fn first_operation(flow: &Flow, block: u32, at: u32, stops: &dyn Fn(u32, &Instr) -> bool) -> Option<u32> {
    let mut seen = vec![false; flow.cfg.blocks.len()];
    let mut stack = vec![(block, at + 1)];
    while let Some((b, first_operation)) = stack.pop() {
        let mut stopped = false;
        for at in first_operation..flow.cfg.range(b).end {
            let i = flow.instr(at);
            if i.entry.effects.tensor.is_operation() {
                return Some(at);
            }
            stopped |= stops(at, i);
            if stopped {
                break;
            }
        }
        if !stopped {
            for e in &flow.cfg.blocks[b as usize].succ {
                if !std::mem::replace(&mut seen[e.to as usize], true) {
                    stack.push((e.to, flow.cfg.range(e.to).start));
                }
            }
        }
    }
    None
}

/// Is neither place reachable from the other?
fn unordered(flow: &Flow, a: (u32, u32), b: (u32, u32)) -> bool {
    a.0 != b.0 && !flow.cfg.reachable_from([a.0])[b.0 as usize] && !flow.cfg.reachable_from([b.0])[a.0 as usize]
}
