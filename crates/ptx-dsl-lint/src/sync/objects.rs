//! The mbarrier objects of a kernel, each with the instructions that initialise it, arrive on it, expect and complete bytes, and
//! wait.

use crate::kernel::Kernel;
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::accesses::{mbarrier_wait, multicast};
use ptx_dsl_analysis::provenance::AddressBase;
use ptx_dsl_analysis::region::Region;
use ptx_dsl_analysis::sites::{Site, insert_site};
use ptx_dsl_analysis::ssa::Val;
use ptx_dsl_isa::hir::{Instr, Operand};
use ptx_dsl_isa::isa::memory::Access;
use ptx_dsl_isa::isa::{Mbarrier, Tensor};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;

/// The identity of an object: a location in a variable, or an address value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ObjectKey {
    Place(u32, i64),
    Value(Val, i64),
}

/// An mbarrier object and the operations on it.
pub(crate) struct Object {
    pub place: (u32, i64),
    pub inits: Vec<Site>,
    pub arrives: Vec<Site>,
    pub expects: Vec<Site>,
    pub copies: Vec<Site>,
    pub waits: Vec<Site>,
}

pub(crate) struct Objects {
    pub list: Vec<Object>,
    /// Some operation has an unknown address, or other CTAs may reach the objects.
    pub incomplete: bool,
    /// An `init` has an address that is not known.
    pub unknown_init: bool,
    /// `init`s of a known variable at an unknown offset, as in a loop over an array.
    pub array_inits: Vec<(Site, u32)>,
    /// Variables whose objects other CTAs reach, by `mapa` or multicast.
    pub shared: Vec<u32>,
}

pub(crate) fn object_key(r: &Region) -> Option<ObjectKey> {
    if let Some((var, offset)) = location_of(r) {
        return Some(ObjectKey::Place(var, offset));
    }
    let (v, offset) = r.value?;
    Some(ObjectKey::Value(v, offset))
}

pub(crate) fn location_of(r: &Region) -> Option<(u32, i64)> {
    match (r.base, r.bytes) {
        (AddressBase::Var(v), Some((o, _))) if !r.mapped => Some((v.0, o)),
        _ => None,
    }
}

/// The object that the operand of this name is the address of.
pub(crate) fn object(kernel: &Kernel, at: u32, name: &str) -> Option<(u32, i64)> {
    location_of(&kernel.region_of(at, name, 8)?)
}

/// The name of the operand that is the address of an mbarrier; empty for none.
pub(crate) fn mbarrier_operand(i: &Instr) -> &'static str {
    for spec in i.entry.operands {
        if matches!(spec.memory, Some(m) if m.access == Access::Mbarrier) {
            return spec.name;
        }
    }
    ""
}

pub(crate) fn objects(kernel: &Kernel) -> Objects {
    let mut all = Objects {
        list: Vec::new(),
        incomplete: false,
        unknown_init: false,
        array_inits: Vec::new(),
        shared: Vec::new(),
    };
    for (block, at, i) in kernel.flow.walk() {
        add(kernel, Site { block, at }, i, &mut all);
    }
    all
}

/// Adds what an instruction does to an object.
fn add(kernel: &Kernel, site: Site, i: &Instr, all: &mut Objects) {
    let Kernel { flow, provenance, .. } = *kernel;
    let op = i.opcode;
    if op == op::mapa {
        match i.value("a") {
            Some(Operand::Reg(r, lane)) => {
                if let Some(a) = provenance.address(flow.ssa.read(site.at, *r, *lane))
                    && let AddressBase::Var(v) = a.base
                {
                    all.shared.push(v.0);
                }
            }
            Some(Operand::VarAddr(v, _)) => all.shared.push(v.0),
            _ => {}
        }
        all.incomplete = true;
        return;
    }
    let on = mbarrier_operand(i);
    if i.operand(on).is_none() {
        return;
    }
    let region = kernel.region_of(site.at, on, 8);
    let many = multicast(i) || i.has(q::cta_group_2);
    let known = region.as_ref().and_then(location_of);
    if let Some(Region { base: AddressBase::Var(v), .. }) = region {
        if many {
            all.shared.push(v.0);
        } else if i.entry.effects.mbarrier == Mbarrier::Init && known.is_none() {
            all.array_inits.push((site, v.0));
        }
    }
    let (Some(p), false) = (known, many) else {
        all.incomplete = true;
        all.unknown_init |= i.entry.effects.mbarrier == Mbarrier::Init;
        return;
    };
    let o = all.object(p);
    match i.entry.effects.mbarrier {
        Mbarrier::Init => insert_site(&mut o.inits, site),
        Mbarrier::Arrive | Mbarrier::Drop => {
            insert_site(&mut o.arrives, site);
            if expects_bytes(i) {
                insert_site(&mut o.expects, site);
            }
        }
        Mbarrier::ExpectTx => insert_site(&mut o.expects, site),
        Mbarrier::Wait => insert_site(&mut o.waits, site),
        Mbarrier::Inval | Mbarrier::Query => {}
        Mbarrier::None if arrives_later(i) => insert_site(&mut o.arrives, site),
        Mbarrier::None | Mbarrier::CompleteTx => insert_site(&mut o.copies, site),
    }
}

impl Objects {
    /// The object at a place, a new one if there is none yet.
    fn object(&mut self, place: (u32, i64)) -> &mut Object {
        let mut at = self.list.len();
        for (k, o) in self.list.iter().enumerate() {
            if o.place == place {
                at = k;
                break;
            }
        }
        if at == self.list.len() {
            self.list.push(Object::new(place));
        }
        &mut self.list[at]
    }
}

impl Object {
    pub(crate) fn new(place: (u32, i64)) -> Object {
        Object {
            place,
            inits: Vec::new(),
            arrives: Vec::new(),
            expects: Vec::new(),
            copies: Vec::new(),
            waits: Vec::new(),
        }
    }
}

pub(crate) fn object_name(flow: &Flow, place: (u32, i64)) -> String {
    let (name, offset) = flow.place_name(place.0, place.1);
    if offset == 0 { name.to_string() } else { format!("{name}+{offset}") }
}

/// The constant parity that a wait is for.
pub(crate) fn parity(flow: &Flow, wait: &Site) -> Option<u64> {
    flow.instr(wait.at).constant("phaseParity")
}

/// The number of arrivals of each thread that executes the instruction; `None` if it is computed.
pub(crate) fn arrivals_of(i: &Instr) -> Option<u64> {
    match i.opcode {
        // It increments the pending count first, except with `.noinc`.
        op::cp_async_mbarrier_arrive => Some(u64::from(i.has(q::noinc))),
        _ if i.operand("count").is_some() => i.constant("count"),
        _ => Some(1),
    }
}

pub(crate) fn arrives(i: &Instr) -> bool {
    i.entry.effects.mbarrier.arrives()
}

/// Does it arrive on an mbarrier when asynchronous operations complete?
pub(crate) fn arrives_later(i: &Instr) -> bool {
    i.opcode == op::cp_async_mbarrier_arrive || i.entry.effects.tensor == Tensor::Commit
}

/// Does it expect bytes, also as part of an arrival?
pub(crate) fn expects_bytes(i: &Instr) -> bool {
    i.entry.effects.mbarrier == Mbarrier::ExpectTx || i.entry.effects.mbarrier != Mbarrier::None && i.has(q::expect_tx)
}

/// The single object with an unknown address that all expected and copied bytes of the kernel belong to: a stage of a ring.
pub(crate) fn single_stage(kernel: &Kernel) -> Option<Objects> {
    let flow = kernel.flow;
    let mut key: Option<ObjectKey> = None;
    let mut object = Object::new((u32::MAX, 0));
    for (block, at, i) in flow.walk() {
        let site = Site { block, at };
        let expecting = expects_bytes(i);
        let copying = i.operand("mbar").is_some() || i.entry.effects.mbarrier == Mbarrier::CompleteTx;
        if mbarrier_wait(i) {
            object.waits.push(site);
        }
        if !expecting && !copying {
            continue;
        }
        let r = kernel.region_of(at, mbarrier_operand(i), 8)?;
        if r.mapped || multicast(i) || i.has(q::cta_group_2) {
            return None;
        }
        if let AddressBase::Var(v) = r.base {
            object.place.0 = v.0;
        }
        let now = object_key(&r)?;
        if *key.get_or_insert(now) != now {
            return None;
        }
        if expecting { object.expects.push(site) } else { object.copies.push(site) }
    }
    let whole = !object.expects.is_empty() && !object.copies.is_empty();
    whole.then(|| Objects {
        list: vec![object],
        incomplete: true,
        unknown_init: true,
        array_inits: Vec::new(),
        shared: Vec::new(),
    })
}
