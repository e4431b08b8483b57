//! The operations on rings of mbarriers. Addresses and parities are evaluated for the first iterations, so that the objects of each
//! operation are known.

use crate::kernel::Kernel;
use crate::sync::objects::{arrivals_of, arrives_later, mbarrier_operand};
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::accesses::multicast;
use ptx_dsl_analysis::induction::Induction;
use ptx_dsl_analysis::loops::Loops;
use ptx_dsl_analysis::provenance::AddressBase;
use ptx_dsl_analysis::reachable::{Query, reachable};
use ptx_dsl_analysis::region::address;
use ptx_dsl_analysis::sites::Site;
use ptx_dsl_analysis::ssa::Val;
use ptx_dsl_isa::hir::{Base, Instr, Operand, VarId};
use ptx_dsl_isa::isa::Mbarrier;
use ptx_dsl_isa::qualifier::q;

/// What an operation does to its object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpKind {
    Init,
    /// With the number of arrivals of each thread, if known.
    Arrive(Option<u64>),
    /// Completes bytes on it.
    Copy,
    Wait,
    Other,
}

/// An operation on mbarriers in one variable.
pub(crate) struct RingOp {
    pub site: Site,
    pub kind: OpKind,
    pub var: u32,
    /// The loop whose counters its address or its parity depends on.
    pub header: Option<u32>,
    /// It follows the loop and uses one of the objects, which one is unknown.
    pub any: bool,
    /// Its objects are those that can occur, in no order, because they depend on several loops: the visits are not those of iterations.
    pub unordered: bool,
    /// The object is in another CTA, or in several.
    pub remote: bool,
    /// Its first executions.
    pub visits: Vec<Visit>,
    /// The distinct offsets of its objects, in order of the iterations.
    pub objects: Vec<i64>,
}

/// An operation in one iteration: the object, by its offset in the variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Visit {
    pub iteration: usize,
    pub offset: i64,
    /// The parity of a wait, the count of an `init`.
    pub number: Option<u64>,
}

/// The mbarrier operations of a kernel.
pub(crate) struct Rings {
    pub uses: Vec<RingOp>,
    /// Variables for which the objects of some operation are unknown.
    pub unknown: Vec<u32>,
    /// Variables with objects that other CTAs reach.
    shared: Vec<u32>,
    pub loops: Loops,
}

/// Iterations that are evaluated: two rounds of a ring of up to 16 stages.
const ITERATIONS: usize = 40;
/// Limit of operations. Unrolled code has more, but no rings.
const USES: usize = 128;

impl Rings {
    /// `None` without mbarriers, or if the variable of one is unknown.
    pub(crate) fn new(kernel: &Kernel) -> Option<Rings> {
        let flow = kernel.flow;
        let mut rings =
            Rings { uses: Vec::new(), unknown: Vec::new(), shared: Vec::new(), loops: Loops::new(&flow.cfg) };
        let mut open = Vec::new();
        for (block, at, i) in flow.walk() {
            let Some(arg) = i.operand(mbarrier_operand(i)) else { continue };
            let (address, _) = address(flow, kernel.provenance, at, &arg.value)?;
            let AddressBase::Var(VarId(var)) = address.base else { return None };
            let remote = address.mapped || multicast(i) || i.has(q::cta_group_2);
            if remote {
                rings.shared.push(var);
            }
            if rings.uses.len() + open.len() >= USES {
                return None;
            }
            match rings.operation(flow, var, Site { block, at }, &arg.value) {
                Some(of) => rings.uses.push(RingOp { remote, ..of }),
                None => open.push(RingOp { remote, ..RingOp::new(i, var, Site { block, at }) }),
            }
        }
        rings.explore(flow, open);
        (!rings.loops.irreducible() && !rings.uses.is_empty()).then_some(rings)
    }

    /// Evaluates an operation on objects of this variable.
    fn operation(&self, flow: &Flow, var: u32, site: Site, address: &Operand) -> Option<RingOp> {
        let i = flow.instr(site.at);
        let number = number(i);
        let values: Vec<Val> = [Some(address), number].iter().filter_map(|o| value(flow, site.at, (*o)?)).collect();
        let mut of = RingOp::new(i, var, site);
        let mut header = self.loops.innermost(site.block);
        while let Some(h) = header {
            if Induction::depends_on_counter(flow, h, &values)? {
                of.header = Some(h);
                let mut induction = Induction::new(flow, &self.loops, h, &values, Some((site.block, site.at)))?;
                of.visits(&mut induction, address, number, ITERATIONS)?;
                return Some(of);
            }
            header = self.loops.parent(h);
        }
        let mut fixed = Induction::new(flow, &self.loops, ptx_dsl_analysis::cfg::NONE, &values, None)?;
        if of.visits(&mut fixed, address, number, 1).is_none() {
            let mut behind = Induction::after_loop(flow, &self.loops, site.block, &values)?;
            of.any = true;
            of.visits(&mut behind, address, number, ITERATIONS)?;
        }
        Some(of)
    }

    /// The operations whose objects depend on several loops: those that can occur.
    fn explore(&mut self, flow: &Flow, open: Vec<RingOp>) {
        let query = |op: &RingOp| {
            let i = flow.instr(op.site.at);
            let address = i.operand(mbarrier_operand(i)).map(|arg| &arg.value);
            let values = [address, number(i)].iter().filter_map(|o| value(flow, op.site.at, (*o)?)).collect();
            Query::new(op.site.at, values)
        };
        let mut queries: Vec<Query> = open.iter().map(query).collect();
        let complete = !open.is_empty() && reachable(flow, &mut queries);
        for (mut op, query) in open.into_iter().zip(&queries) {
            match complete && op.occurring(flow, query).is_some() {
                true => self.uses.push(op),
                false => self.unknown.push(op.var),
            }
        }
        self.uses.sort_by_key(|op| op.site.at);
    }

    /// Are the objects of all operations on this variable known?
    pub(crate) fn known(&self, var: u32) -> bool {
        !self.unknown.contains(&var)
    }

    /// The same for all variables.
    pub(crate) fn all_known(&self) -> bool {
        self.unknown.is_empty()
    }

    /// The same, and does no other CTA reach them?
    pub(crate) fn own(&self, var: u32) -> bool {
        self.known(var) && !self.shared.contains(&var)
    }

    /// The operations on objects of a variable.
    pub(crate) fn of(&self, var: u32) -> impl Iterator<Item = &RingOp> {
        self.uses.iter().filter(move |u| u.var == var)
    }

    /// The waits of which the first execution is for the phase before the first one, so that it returns at once. No arrival before
    /// the loops completes that phase.
    pub(crate) fn returns_at_once(&self) -> impl Iterator<Item = &RingOp> {
        let first = |wait: &&RingOp| !wait.any && wait.visits.first().and_then(|v| v.number) == Some(1);
        let before = |var: u32| self.of(var).any(|u| matches!(u.kind, OpKind::Arrive(_)) && u.header.is_none());
        self.uses
            .iter()
            .filter(|u| u.kind == OpKind::Wait)
            .filter(first)
            .filter(move |u| self.known(u.var) && !before(u.var))
    }

    /// The block that is reached only when the wait has succeeded.
    pub(crate) fn success(&self, flow: &Flow, wait: &RingOp) -> Option<u32> {
        let b = wait.site.block;
        for (n, e) in flow.cfg.blocks[b as usize].succ.iter().enumerate() {
            if crate::sync::states::succeeded_wait(flow, b, n) == Some(wait.site.at)
                && flow.cfg.only_predecessor(e.to, b)
            {
                return Some(e.to);
            }
        }
        None
    }
}

/// Do the visits cover two rounds of the ring?
pub(crate) fn covers_two_rounds(visits: &[Visit]) -> bool {
    let mut returns = 0;
    for (k, v) in visits.iter().enumerate() {
        returns += u32::from(k > 0 && v.offset == visits[0].offset && visits[k - 1].offset != v.offset);
    }
    returns >= 2
}

/// The value of the register in an operand.
fn value(flow: &Flow, at: u32, o: &Operand) -> Option<Val> {
    match o {
        Operand::Address(Base::Reg(r), _) => Some(flow.ssa.read(at, *r, 0)),
        Operand::Reg(r, lane) => Some(flow.ssa.read(at, *r, *lane)),
        _ => None,
    }
}

impl RingOp {
    fn new(i: &Instr, var: u32, site: Site) -> RingOp {
        RingOp {
            site,
            kind: op_kind(i),
            var,
            header: None,
            any: false,
            unordered: false,
            remote: false,
            visits: Vec::new(),
            objects: Vec::new(),
        }
    }

    /// Takes over the objects that can occur. `None` if one is unknown.
    fn occurring(&mut self, flow: &Flow, query: &Query) -> Option<()> {
        let at = self.site.at;
        let i = flow.instr(at);
        let address = &i.operand(mbarrier_operand(i))?.value;
        let number = number(i);
        self.unordered = true;
        for (iteration, combination) in query.found.iter().enumerate() {
            let known = |o: &Operand| match (o, value(flow, at, o)) {
                (Operand::Imm(n), _) => Some(*n),
                (_, Some(v)) => combination[query.values.iter().position(|q| *q == v)?],
                _ => None,
            };
            let offset = match address {
                Operand::Address(Base::Var(_), offset) => *offset,
                Operand::Address(_, offset) => i64::from((known(address)? as i64).wrapping_add(*offset) as i32),
                _ => return None,
            };
            self.visits.push(Visit { iteration, offset, number: number.and_then(known) });
            if !self.objects.contains(&offset) {
                self.objects.push(offset);
            }
        }
        (!self.visits.is_empty()).then_some(())
    }

    /// Evaluates the first iterations. `None` if an object is unknown.
    fn visits(
        &mut self,
        induction: &mut Induction,
        address: &Operand,
        number: Option<&Operand>,
        most: usize,
    ) -> Option<()> {
        let Site { block, at } = self.site;
        for iteration in 0..most {
            if induction.runs(block, at) {
                let offset = place(induction, at, address)?;
                let number = number.and_then(|o| induction.operand(at, o));
                self.visits.push(Visit { iteration, offset, number });
                if !self.objects.contains(&offset) {
                    self.objects.push(offset);
                }
            }
            if (!self.any && induction.ends()) || covers_two_rounds(&self.visits) {
                break;
            }
            induction.next();
        }
        // An operation that never executes is unknown.
        (!self.visits.is_empty()).then_some(())
    }

    /// Are its executions in the first two iterations for the phase before the first one, each on another object?
    pub(crate) fn passes_twice(&self) -> bool {
        let [first, second, ..] = self.visits[..] else { return false };
        let next = second.iteration == first.iteration + 1 && second.offset != first.offset;
        next && first.number == Some(1) && second.number == Some(1)
    }

    /// The first visit to this object.
    pub(crate) fn first(&self, offset: i64) -> Option<&Visit> {
        self.visits.iter().find(|v| v.offset == offset)
    }
}

/// The offset of the object in its variable.
fn place(induction: &Induction, at: u32, address: &Operand) -> Option<i64> {
    match address {
        Operand::Address(Base::Var(_), offset) => Some(*offset),
        Operand::Address(Base::Reg(r), offset) => {
            let base = induction.operand(at, &Operand::Reg(*r, 0))?;
            // 32-bit addresses wrap.
            Some(i64::from((base as i64).wrapping_add(*offset) as i32))
        }
        _ => None,
    }
}

/// The parity of a wait or the count of an `init`.
fn number(i: &Instr) -> Option<&Operand> {
    let name = if i.entry.effects.mbarrier == Mbarrier::Init { "count" } else { "phaseParity" };
    Some(&i.operand(name)?.value)
}

fn op_kind(i: &Instr) -> OpKind {
    match i.entry.effects.mbarrier {
        Mbarrier::Init => OpKind::Init,
        Mbarrier::ExpectTx | Mbarrier::Inval | Mbarrier::Query => OpKind::Other,
        Mbarrier::Wait => OpKind::Wait,
        Mbarrier::Arrive | Mbarrier::Drop => OpKind::Arrive(arrivals_of(i)),
        Mbarrier::None if arrives_later(i) => OpKind::Arrive(arrivals_of(i)),
        Mbarrier::None | Mbarrier::CompleteTx => OpKind::Copy,
    }
}
