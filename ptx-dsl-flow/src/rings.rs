//! Rings of mbarriers: arrays of objects that a loop goes through stage by stage (PTX ISA 9.7.13.15). The addresses and parities of
//! the first rounds are worked out, so that each operation has the objects that it is for.

use super::Flow;
use super::accesses::multicast;
use super::converge::Places;
use super::copies::mbarrier_wait;
use super::lanes::Lanes;
use super::loops::Loops;
use super::mbarriers::{Site, arrivals_of, mbarrier};
use super::memory::address;
use super::provenance::{Origin, Provenance};
use super::rounds::Rounds;
use super::ssa::Val;
use ptx_dsl_table::diag::Diagnostic;
use ptx_dsl_table::hir::{Base, Instr, Operand, VarId};

mod counts;
mod parities;
mod peers;

/// What an operation does to its object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Does {
    Init,
    /// So many arrivals by each thread, if that is known.
    Arrive(Option<u64>),
    /// Brings bytes.
    Copy,
    Wait,
    /// Anything else.
    Other,
}

/// An operation on mbarriers of one variable.
pub(super) struct Use {
    pub site: Site,
    pub does: Does,
    pub var: u32,
    /// The loop by whose rounds its object or its parity changes.
    pub header: Option<u32>,
    /// It is for one of the objects, and which is not known: behind the loop that counts them.
    pub any: bool,
    /// It reaches other CTAs.
    pub remote: bool,
    /// Round by round: the place of the object in the variable, and the parity or count.
    pub visits: Vec<Visit>,
    /// The places, each once, in the order of their rounds.
    pub objects: Vec<i64>,
}

/// An object that an operation is for in one round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Visit {
    pub round: usize,
    pub offset: i64,
    /// The parity of a wait, the count of an `init`.
    pub number: Option<u64>,
}

/// All of them, as far as they are known.
pub(super) struct Rings {
    pub uses: Vec<Use>,
    /// Variables of which some object is not known.
    blurred: Vec<u32>,
    /// Variables with objects that other CTAs reach.
    shared: Vec<u32>,
    pub loops: Loops,
}

/// Rounds that are looked at: enough for rings of up to 16 stages, twice round.
const ROUNDS: usize = 40;
/// Operations on mbarriers. More than that come from unrolled code, where this is not asked.
const USES: usize = 128;

pub(super) fn check(flow: &Flow, lanes: &Lanes, places: &Places, from: &Provenance, out: &mut Vec<Diagnostic>) {
    if !flow.function.entry || flow.calls || !flow.cfg.has("mbarrier.init") {
        return;
    }
    let Some(rings) = Rings::new(flow, from) else { return };
    counts::check(flow, lanes, places, &rings, out);
    parities::check(flow, &rings, out);
    peers::check(flow, lanes, &rings, out);
}

impl Rings {
    /// `None` if there is nothing of the kind, or an object of which nothing is known.
    fn new(flow: &Flow, from: &Provenance) -> Option<Rings> {
        let mut rings =
            Rings { uses: Vec::new(), blurred: Vec::new(), shared: Vec::new(), loops: Loops::new(&flow.cfg) };
        for (block, at, i) in flow.walk() {
            let Some(arg) = i.operand(mbarrier(i)) else { continue };
            let (address, _) = address(flow, from, at, &arg.value)?;
            let Origin::Var(VarId(var)) = address.base else { return None };
            let remote = address.mapped || multicast(i) || i.has(".cta_group::2");
            if remote {
                rings.shared.push(var);
            }
            if rings.uses.len() >= USES {
                return None;
            }
            match rings.operation(flow, var, Site { block, at }, &arg.value) {
                Some(of) => rings.uses.push(Use { remote, ..of }),
                None => rings.blurred.push(var),
            }
        }
        (!rings.loops.tangled() && !rings.uses.is_empty()).then_some(rings)
    }

    /// What is known of an operation on an object of this variable.
    fn operation(&self, flow: &Flow, var: u32, site: Site, address: &Operand) -> Option<Use> {
        let i = flow.instr(site.at);
        let number = number(i);
        let mut values: Vec<Val> = Vec::new();
        for o in [Some(address), number] {
            match o {
                Some(Operand::Address(Base::Reg(r), _)) => values.push(flow.ssa.read(site.at, *r, 0)),
                Some(Operand::Reg(r, lane)) => values.push(flow.ssa.read(site.at, *r, *lane)),
                _ => {}
            }
        }
        let mut of = Use {
            site,
            does: does(i),
            var,
            header: None,
            any: false,
            remote: false,
            visits: Vec::new(),
            objects: Vec::new(),
        };
        let mut header = self.loops.of(site.block);
        while let Some(h) = header {
            if Rounds::vary(flow, h, &values)? {
                of.header = Some(h);
                let mut rounds = Rounds::new(flow, &self.loops, h, &values, Some((site.block, site.at)))?;
                of.visits(&mut rounds, address, number, ROUNDS)?;
                return Some(of);
            }
            header = self.loops.around(h);
        }
        let mut fixed = Rounds::new(flow, &self.loops, super::cfg::NONE, &values, None)?;
        if of.visits(&mut fixed, address, number, 1).is_none() {
            let mut behind = Rounds::behind(flow, &self.loops, site.block, &values)?;
            of.any = true;
            of.visits(&mut behind, address, number, ROUNDS)?;
        }
        Some(of)
    }

    /// Is it known for which objects of a variable each operation is?
    pub(super) fn known(&self, var: u32) -> bool {
        !self.blurred.contains(&var)
    }

    /// Is that known of all variables?
    pub(super) fn all_known(&self) -> bool {
        self.blurred.is_empty()
    }

    /// The same, and that nothing comes from other CTAs?
    pub(super) fn own(&self, var: u32) -> bool {
        self.known(var) && !self.shared.contains(&var)
    }

    /// The uses of the objects of a variable.
    pub(super) fn of(&self, var: u32) -> impl Iterator<Item = &Use> {
        self.uses.iter().filter(move |u| u.var == var)
    }

    /// The block behind a wait that has succeeded, if the wait is a loop or branch that leads there.
    pub(super) fn success(&self, flow: &Flow, wait: &Use) -> Option<u32> {
        let b = wait.site.block;
        for (n, e) in flow.cfg.blocks[b as usize].succ.iter().enumerate() {
            if super::states::passed(flow, b, n) == Some(wait.site.at) && only_by(flow, e.to, b) {
                return Some(e.to);
            }
        }
        None
    }
}

/// Is the block reached from this one only?
fn only_by(flow: &Flow, block: u32, from: u32) -> bool {
    for (p, _) in &flow.cfg.blocks[block as usize].pred {
        if *p != from && !flow.cfg.dominates(block, *p) {
            return false;
        }
    }
    true
}

/// Has the ring been gone round twice?
fn closed(visits: &[Visit]) -> bool {
    let mut returns = 0;
    for (k, v) in visits.iter().enumerate() {
        returns += u32::from(k > 0 && v.offset == visits[0].offset && visits[k - 1].offset != v.offset);
    }
    returns >= 2
}

impl Use {
    /// The objects of the first rounds. `None` if one of them is not known.
    fn visits(&mut self, rounds: &mut Rounds, address: &Operand, number: Option<&Operand>, most: usize) -> Option<()> {
        let Site { block, at } = self.site;
        for round in 0..most {
            if rounds.runs(block, at) {
                let offset = place(rounds, at, address)?;
                let number = number.and_then(|o| rounds.operand(at, o));
                self.visits.push(Visit { round, offset, number });
                if !self.objects.contains(&offset) {
                    self.objects.push(offset);
                }
            }
            if (!self.any && rounds.ends()) || closed(&self.visits) {
                break;
            }
            rounds.next();
        }
        // What never runs in the first rounds may do so with anything later.
        (!self.visits.is_empty()).then_some(())
    }

    /// The round in which it is for this object for the first time.
    pub(super) fn first(&self, offset: i64) -> Option<&Visit> {
        self.visits.iter().find(|v| v.offset == offset)
    }
}

/// Where the object is in its variable, in this round.
fn place(rounds: &Rounds, at: u32, address: &Operand) -> Option<i64> {
    match address {
        Operand::Address(Base::Var(_), offset) => Some(*offset),
        Operand::Address(Base::Reg(r), offset) => {
            let base = rounds.operand(at, &Operand::Reg(*r, 0))?;
            // A register of 32 bits goes round at its end.
            Some(i64::from((base as i64).wrapping_add(*offset) as i32))
        }
        _ => None,
    }
}

/// The operand that is a parity or a count of `init`.
fn number(i: &Instr) -> Option<&Operand> {
    let name = if i.entry.opcode == "mbarrier.init" { "count" } else { "phaseParity" };
    Some(&i.operand(name)?.value)
}

fn does(i: &Instr) -> Does {
    match i.entry.opcode {
        "mbarrier.init" => Does::Init,
        "mbarrier.complete_tx" => Does::Copy,
        "mbarrier.expect_tx" | "mbarrier.inval" | "mbarrier.check_layout" => Does::Other,
        _ if mbarrier_wait(i) => Does::Wait,
        _ if i.entry.opcode.starts_with("mbarrier.arrive") => Does::Arrive(arrivals_of(i)),
        "cp.async.mbarrier.arrive" | "tcgen05.commit" => Does::Arrive(arrivals_of(i)),
        _ => Does::Copy,
    }
}
