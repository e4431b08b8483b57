//! Use-def information of regions: upward-exposed uses and definitions.

use ptx_dsl_analysis::liveness::NodeUseDef;
use ptx_dsl_analysis::use_def::{RegKey, UseDef, registers};
use ptx_dsl_image::region::graph::{End, Item, Program, Region};
use ptx_dsl_isa::hir::{Base, FuncId, Operand};
use std::collections::BTreeSet;

/// Everything that a region reads and writes.
#[derive(Default)]
pub struct Mentions {
    pub reads: BTreeSet<RegKey>,
    pub writes: BTreeSet<RegKey>,
}

impl Mentions {
    /// Adds the body, the conditions and the branch of a region.
    pub fn add(&mut self, r: &Region<'_>) {
        for item in &r.body {
            match item {
                Item::Instr(i) => {
                    let UseDef { uses, defs } = UseDef::of(r.func, i);
                    self.reads.extend(uses);
                    self.writes.extend(defs);
                }
                Item::If(c) => self.reads.extend(registers(r.func, c.operand)),
                Item::Else | Item::EndIf(_) => {}
            }
        }
        if let End::Branch { pred, .. } = &r.end {
            self.reads.extend(registers(r.func, &pred.0));
        }
    }
}

/// The registers that were written in an open predicated part, and after its `Else`.
#[derive(Default)]
struct Part {
    then: BTreeSet<RegKey>,
    otherwise: Option<BTreeSet<RegKey>>,
}

/// A region while its body is walked.
#[derive(Default)]
struct Walk {
    found: NodeUseDef,
    open: Vec<Part>,
}

impl Walk {
    fn read(&mut self, uses: impl IntoIterator<Item = RegKey>) {
        let defs = &self.found.defs;
        self.found.uses.extend(uses.into_iter().filter(|k| !defs.contains(k)));
    }

    fn write(&mut self, k: RegKey) {
        if self.found.defs.insert(k)
            && let Some(part) = self.open.last_mut()
        {
            part.otherwise.as_mut().unwrap_or(&mut part.then).insert(k);
        }
    }

    fn undefine(&mut self, keys: &BTreeSet<RegKey>) {
        self.found.defs.retain(|k| !keys.contains(k));
    }

    fn item(&mut self, f: FuncId, item: &Item<'_>) {
        match item {
            Item::Instr(i) => {
                let UseDef { uses, defs } = UseDef::of(f, i);
                self.read(uses);
                defs.into_iter().for_each(|k| self.write(k));
            }
            Item::If(cond) => {
                self.read(registers(f, cond.operand));
                self.open.push(Part::default());
            }
            Item::Else => {
                if let Some(mut part) = self.open.pop() {
                    self.undefine(&part.then);
                    part.otherwise = Some(BTreeSet::new());
                    self.open.push(part);
                }
            }
            Item::EndIf(live) => {
                let Some(part) = self.open.pop() else { return };
                let otherwise = part.otherwise.unwrap_or_default();
                self.undefine(&part.then);
                self.undefine(&otherwise);
                for k in live.iter() {
                    match (part.then.contains(k), otherwise.contains(k)) {
                        (false, false) => continue,
                        (true, true) => {}
                        // lanes of the other side keep the old value
                        _ => self.read([*k]),
                    }
                    self.write(*k);
                }
            }
        }
    }
}

/// The registers that a region reads and writes.
pub fn region_use_def(r: &Region<'_>) -> NodeUseDef {
    let mut walk = Walk::default();
    for item in &r.body {
        walk.item(r.func, item);
    }
    match &r.end {
        End::Branch { pred, .. } => walk.read(registers(r.func, &pred.0)),
        End::Switch { instr, .. } => walk.read(UseDef::of(r.func, instr).uses),
        End::Block { instr, .. } => {
            let UseDef { uses, defs } = UseDef::of(r.func, instr);
            walk.read(uses);
            walk.found.defs.extend(defs);
        }
        _ => {}
    }
    walk.found
}

/// Registers that memory is addressed by, except those that a blocking instruction sets.
pub fn address_registers(p: &Program<'_>) -> BTreeSet<RegKey> {
    let (mut found, mut blocking) = (BTreeSet::new(), Vec::new());
    for r in &p.regions {
        for a in r.instructions().flat_map(|i| &i.operands) {
            if let Operand::Address(Base::Reg(reg), _) = a.value {
                found.insert(RegKey::new(r.func, reg, 0));
            }
        }
        blocking.extend(r.blocking().into_iter().flat_map(|i| UseDef::of(r.func, i).defs));
    }
    for k in &blocking {
        found.remove(k);
    }
    found
}
