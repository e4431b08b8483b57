//! Which registers instructions and regions read and write.

use super::regions::{End, Item, Program, Region};
use crate::roles::{carry_use, written};
use ptx_dsl_isa::hir::{Base, FuncId, Instr, Operand};
use std::collections::BTreeSet;

/// Function, register, element.
pub type Key = (u32, u32, u32);

/// The register number that stands for the condition code.
pub const CARRY: u32 = u32::MAX;

/// Registers of an operand.
pub fn registers(f: FuncId, o: &Operand, out: &mut Vec<Key>) {
    match o {
        Operand::Reg(r, e) => out.push((f.0, r.0, *e)),
        Operand::NotReg(r) | Operand::Select(r, _) | Operand::Address(Base::Reg(r), _) => out.push((f.0, r.0, 0)),
        Operand::Vector(list) | Operand::Addresses(list) | Operand::List(list) => {
            for o in list {
                registers(f, o, out);
            }
        }
        Operand::Pair(a, b) => {
            registers(f, a, out);
            registers(f, b, out);
        }
        Operand::Neg(o) => registers(f, o, out),
        _ => {}
    }
}

/// What an instruction reads, what it writes.
pub fn mentions(f: FuncId, i: &Instr) -> (Vec<Key>, Vec<Key>) {
    let (mut uses, mut defs) = (Vec::new(), Vec::new());
    for a in &i.operands {
        registers(f, &a.value, if written(a) { &mut defs } else { &mut uses });
    }
    let (reads, writes) = carry_use(i);
    if reads {
        uses.push((f.0, CARRY, 0));
    }
    if writes {
        defs.push((f.0, CARRY, 0));
    }
    if let Some((p, _)) = &i.pred {
        registers(f, p, &mut uses);
        // under a predicate the old value may stay
        uses.extend_from_slice(&defs);
    }
    (uses, defs)
}

/// What a region mentions: reads, those of its conditions and its branch with them, and writes.
pub fn mentions_of_region(r: &Region<'_>, reads: &mut BTreeSet<Key>, writes: &mut BTreeSet<Key>) {
    let mut conditions = Vec::new();
    for item in &r.body {
        match item {
            Item::Instr(i) => {
                let (uses, defs) = mentions(r.func, i);
                reads.extend(uses);
                writes.extend(defs);
            }
            Item::If(c) => registers(r.func, c.operand, &mut conditions),
            _ => {}
        }
    }
    if let End::Branch { pred, .. } = &r.end {
        registers(r.func, &pred.0, &mut conditions);
    }
    reads.extend(conditions);
}

/// Of a program.
pub struct Facts {
    /// Read before it is written, and written, by region.
    pub uses: Vec<BTreeSet<Key>>,
    pub defs: Vec<BTreeSet<Key>>,
}

/// Read and written so far in a region.
#[derive(Default)]
struct Seen {
    uses: BTreeSet<Key>,
    defs: BTreeSet<Key>,
    /// What has been written since each condition that is still open, and since its `Else`.
    inside: Vec<(BTreeSet<Key>, Option<BTreeSet<Key>>)>,
}

impl Seen {
    fn read(&mut self, uses: &[Key]) {
        for k in uses {
            if !self.defs.contains(k) {
                self.uses.insert(*k);
            }
        }
    }

    fn write(&mut self, k: Key) {
        if self.defs.insert(k)
            && let Some((then, other)) = self.inside.last_mut()
        {
            other.as_mut().unwrap_or(then).insert(k);
        }
    }

    fn item(&mut self, f: FuncId, item: &Item<'_>) {
        match item {
            Item::Instr(i) => {
                let (uses, defs) = mentions(f, i);
                self.read(&uses);
                for k in &defs {
                    self.write(*k);
                }
            }
            Item::If(cond) => {
                let mut uses = Vec::new();
                registers(f, cond.operand, &mut uses);
                self.read(&uses);
                self.inside.push(Default::default());
            }
            Item::Else => {
                if let Some((then, other)) = self.inside.last_mut() {
                    self.defs.retain(|k| !then.contains(k));
                    *other = Some(BTreeSet::new());
                }
            }
            Item::End(live) => {
                let Some((then, other)) = self.inside.pop() else { return };
                let other = other.unwrap_or_default();
                self.defs.retain(|k| !then.contains(k));
                self.defs.retain(|k| !other.contains(k));
                for k in live.iter() {
                    let ways = (then.contains(k), other.contains(k));
                    if ways == (false, false) {
                        continue;
                    }
                    // the others keep what they had
                    if ways != (true, true) {
                        self.read(&[*k]);
                    }
                    self.write(*k);
                }
            }
        }
    }
}

pub fn facts(p: &Program<'_>) -> Facts {
    let mut all = Facts { uses: Vec::new(), defs: Vec::new() };
    for r in &p.regions {
        let mut seen = Seen::default();
        for item in &r.body {
            seen.item(r.func, item);
        }
        match &r.end {
            End::Branch { pred, .. } => {
                let mut uses = Vec::new();
                registers(r.func, &pred.0, &mut uses);
                seen.read(&uses);
            }
            End::Switch { instr, .. } => seen.read(&mentions(r.func, instr).0),
            End::Block { instr, .. } => {
                let (uses, defs) = mentions(r.func, instr);
                seen.read(&uses);
                seen.defs.extend(defs);
            }
            _ => {}
        }
        all.uses.push(seen.uses);
        all.defs.push(seen.defs);
    }
    all
}

/// Registers by which memory is reached, and that no instruction sets that may wait.
pub fn addresses(p: &Program<'_>) -> BTreeSet<Key> {
    let (mut found, mut waited) = (BTreeSet::new(), Vec::new());
    for r in &p.regions {
        for i in r.instructions() {
            for a in &i.operands {
                if let Operand::Address(Base::Reg(reg), _) = a.value {
                    found.insert((r.func.0, reg.0, 0));
                }
            }
        }
        if let End::Block { instr, .. } = &r.end {
            waited.extend_from_slice(&mentions(r.func, instr).1);
        }
    }
    for k in &waited {
        found.remove(k);
    }
    found
}
