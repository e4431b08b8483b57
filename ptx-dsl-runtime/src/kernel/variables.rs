//! The variable that each statement accesses: the provenance of addresses, from the image of a kernel.
//!
//! A fact belongs to a register, wherever it is read; the image has a register for each live range. A value loaded from memory
//! counts as a number, unless an address has been stored there.

use crate::memory::address;
use ptx_dsl_isa::image::{Action, End, Image, Instr, NO_SITE, Place, Register, Source, Transfer, Variable};
use ptx_dsl_isa::isa::effect::MemoryOp;
use ptx_dsl_isa::opcode::{Opcode, op};

/// The provenance of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fact {
    /// No instruction writes the value.
    Nothing,
    /// The value does not depend on the address of a variable.
    Number,
    /// An address that is made from that of this variable and numbers.
    In(u32),
    /// The value may depend on several variables.
    Mixed,
}

impl Fact {
    fn join(self, other: Fact) -> Fact {
        match (self, other) {
            (Fact::Nothing, x) | (x, Fact::Nothing) => x,
            (a, b) if a == b => a,
            _ => Fact::Mixed,
        }
    }

    fn is_address(self) -> bool {
        matches!(self, Fact::In(_) | Fact::Mixed)
    }
}

/// The variable that each statement accesses.
#[derive(Debug, Default)]
pub struct Variables {
    list: Vec<Variable>,
    /// Regions of variables that have names of their own.
    named: Vec<Variable>,
    /// The variables of its addresses, by site: none for statements with an address of another kind.
    of_site: Vec<Vec<u32>>,
}

impl Variables {
    /// The variables of an image.
    pub(crate) fn new(image: &Image) -> Variables {
        if image.variables.is_empty() {
            return Variables::default();
        }
        let mut facts = Facts { of: vec![Fact::Nothing; image.registers.len()], stored: false, changed: true };
        while std::mem::take(&mut facts.changed) {
            image.regions.iter().for_each(|region| facts.region(&region.results, &region.body, &region.end));
        }
        let mut of_site: Vec<Vec<u32>> = Vec::new();
        for region in &image.regions {
            for i in region.instructions() {
                // a statement without a number is in no report
                if let Some(all) = facts.variables(i).filter(|_| i.site != NO_SITE) {
                    let at = i.site as usize;
                    of_site.resize_with(of_site.len().max(at + 1), Vec::new);
                    of_site[at] = all;
                }
            }
        }
        Variables { list: image.variables.clone(), named: image.named.clone(), of_site }
    }

    /// Must the accesses of a statement be in variables?
    #[inline]
    pub(crate) fn has_any(&self, site: u32) -> bool {
        self.of_site.get(site as usize).is_some_and(|all| !all.is_empty())
    }

    /// The variable in which a byte of shared memory is, if only one can be there: all of dynamic shared memory begin at one place.
    pub(crate) fn in_shared(&self, at: u32) -> Option<&Variable> {
        self.in_window(address::SHARED as u8, at.into())
    }

    /// The variable in which a byte of a window is, or the named region of one, if only one can be there.
    pub(crate) fn in_window(&self, window: u8, at: u64) -> Option<&Variable> {
        only_at(&self.named, window, at).or_else(|| only_at(&self.list, window, at))
    }

    /// The variable of all addresses of a statement.
    pub(crate) fn only(&self, site: u32) -> Option<&Variable> {
        let (first, others) = self.of_site.get(site as usize)?.split_first()?;
        others.iter().all(|v| v == first).then(|| &self.list[*first as usize])
    }

    /// The variable of a window in which all accesses of a statement must be, if it is known. None if these bytes are in one of the
    /// statement's variables.
    #[inline]
    pub(crate) fn left_by(&self, site: u32, window: u8, (from, to): (u64, u64)) -> Option<&Variable> {
        let mut all =
            self.of_site.get(site as usize)?.iter().map(|v| &self.list[*v as usize]).filter(|v| v.window == window);
        let first = all.next()?;
        let inside = |v: &Variable| v.from <= from && to <= v.to;
        (!inside(first) && !all.any(inside)).then_some(first)
    }
}

/// The one of these in which a byte of a window is; none if it is in several.
pub(crate) fn only_at(all: &[Variable], window: u8, at: u64) -> Option<&Variable> {
    let mut there = all.iter().filter(|v| v.window == window && (v.from..v.to).contains(&at));
    there.next().filter(|_| there.next().is_none())
}

/// An mbarrier object in words: its offset in shared memory, and the variable in which it is, with its first byte, if it is known.
pub(crate) fn mbarrier(offset: u32, variable: Option<(&str, u64)>) -> String {
    match variable.map(|(name, from)| (name, u64::from(offset) - from)) {
        None => format!("mbarrier {offset:#x}"),
        Some((name, 0)) => format!("mbarrier {offset:#x} (`{name}`)"),
        Some((name, bytes)) => format!("mbarrier {offset:#x} (`{name}` + {bytes} bytes)"),
    }
}

struct Facts {
    /// The fact of each register.
    of: Vec<Fact>,
    /// An address is stored in memory.
    stored: bool,
    changed: bool,
}

impl Facts {
    fn source(&self, source: &Source) -> Fact {
        match *source {
            Source::Register { register } | Source::Address { base: register, .. } => {
                self.of.get(register as usize).copied().unwrap_or(Fact::Mixed)
            }
            Source::Variable { variable, .. } => Fact::In(variable),
            Source::Not { .. } | Source::Constant { .. } | Source::Special { .. } => Fact::Number,
            Source::Frame { .. } => Fact::Mixed,
        }
    }

    fn set(&mut self, register: Option<Register>, fact: Fact) {
        let Some(old) = register.and_then(|r| self.of.get_mut(r as usize)) else { return };
        let new = old.join(fact);
        self.changed |= new != *old;
        *old = new;
    }

    fn store(&mut self, fact: Fact) {
        if fact.is_address() && !self.stored {
            (self.stored, self.changed) = (true, true);
        }
    }

    fn region(&mut self, results: &Option<Transfer>, body: &[Instr], end: &End) {
        results.iter().for_each(|t| self.transfer(t));
        body.iter().for_each(|i| self.instr(i));
        match end {
            End::Block { instr, .. } => self.instr(instr),
            End::Call { callees, .. } => callees.iter().for_each(|c| self.transfer(&c.arguments)),
            _ => {}
        }
    }

    fn transfer(&mut self, transfer: &Transfer) {
        for (from, to) in &transfer.moves {
            let loaded = self.loaded();
            match (from, to) {
                (Place::Values { list }, Place::Registers { list: to }) => {
                    list.iter().zip(to).for_each(|(s, r)| self.set(*r, self.source(s)));
                }
                (Place::Values { list }, Place::Variable { .. }) => {
                    list.iter().for_each(|s| self.store(self.source(s)));
                }
                (_, Place::Registers { list }) => list.iter().for_each(|r| self.set(*r, loaded)),
                _ => {}
            }
        }
    }

    /// The fact of a loaded value.
    fn loaded(&self) -> Fact {
        if self.stored { Fact::Mixed } else { Fact::Number }
    }

    fn instr(&mut self, i: &Instr) {
        let fact = match i.action {
            Action::Move { .. } => match (&i.sources[..], &i.results[..]) {
                ([source], [_]) => self.source(source),
                _ => self.any(&i.sources),
            },
            Action::Opcode { opcode, .. } => self.result(opcode, i),
        };
        i.results.iter().for_each(|r| self.set(*r, fact));
    }

    /// A number if all sources are numbers.
    fn any(&self, sources: &[Source]) -> Fact {
        if sources.iter().any(|s| self.source(s).is_address()) { Fact::Mixed } else { Fact::Number }
    }

    fn result(&mut self, opcode: Opcode, i: &Instr) -> Fact {
        let memory = opcode.entries().next().map_or(MemoryOp::None, |e| e.instr.effects.memory);
        if memory != MemoryOp::None {
            let values = i.sources.iter().enumerate();
            let values = values.filter(|(n, s)| !matches!(s, Source::Address { .. }) && *n > 0);
            let stored: Vec<Fact> = values.map(|(_, s)| self.source(s)).collect();
            stored.into_iter().for_each(|fact| self.store(fact));
            return self.loaded();
        }
        let facts: Vec<Fact> = i.sources.iter().map(|s| self.source(s)).collect();
        // an address plus numbers is an address in the same variable
        let moved = |at: usize| match facts[at] {
            fact if facts.iter().enumerate().all(|(n, f)| n == at || !f.is_address()) => fact,
            _ => Fact::Mixed,
        };
        match (opcode, &facts[..]) {
            (_, all) if !all.iter().any(|f| f.is_address()) => Fact::Number,
            (op::add | op::or | op::xor, [a, _]) => moved(usize::from(!a.is_address())),
            (op::sub, [_, _]) => moved(0),
            (op::mad, [_, _, _]) => moved(2),
            (op::cvta | op::cvt | op::mapa | op::shfl_sync, _) => moved(0),
            (op::selp, [a, b, _]) => a.join(*b),
            // rounding to an alignment keeps the variable; low bits of an address do not
            (op::and, [a, b]) => match i.sources[usize::from(a.is_address())] {
                Source::Constant { value } if value >> 20 != 0 && !(a.is_address() && b.is_address()) => {
                    moved(usize::from(!a.is_address()))
                }
                _ => Fact::Mixed,
            },
            _ => Fact::Mixed,
        }
    }

    /// The variables of all addresses of an instruction. `None` if one is not known.
    fn variables(&self, i: &Instr) -> Option<Vec<u32>> {
        let Action::Opcode { opcode, .. } = i.action else { return None };
        let mut all = Vec::new();
        for (n, source) in i.sources.iter().enumerate() {
            let bracketed = match source {
                Source::Address { .. } => true,
                Source::Variable { .. } => n == 0,
                _ => false,
            };
            match self.source(source) {
                Fact::In(variable) if bracketed => all.push(variable),
                // the source of a `cp.async` is in global memory, its destination in shared memory
                Fact::Number | Fact::Nothing if bracketed && opcode == op::cp_async && n > 0 => {}
                _ if bracketed => return None,
                fact if fact.is_address() => return None,
                _ => {}
            }
        }
        (!all.is_empty()).then_some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_dsl_isa::image::{Qualifiers, Region};

    fn instr(opcode: Opcode, site: u32, sources: Vec<Source>, results: Vec<Option<Register>>) -> Instr {
        let action = Action::Opcode { opcode, qualifiers: 0, carry_out: false };
        Instr { action, site, lines: Default::default(), guard: None, sources, results }
    }

    fn image(body: Vec<Instr>) -> Image {
        let variable = |name: &str, from, to| Variable { name: name.into(), window: 1, from, to };
        Image {
            registers: vec![32; 8],
            names: vec![String::new(); 8],
            qualifiers: vec![Qualifiers { written: Vec::new(), types: Vec::new() }],
            variables: vec![variable("a", 0, 64), variable("b", 64, 128)],
            regions: vec![Region {
                name: String::new(),
                results: None,
                body,
                end: End::Exit {},
                branch: 0,
                last: None,
            }],
            ..Image::default()
        }
    }

    const fn register(register: Register) -> Source {
        Source::Register { register }
    }

    const fn at(base: Register) -> Source {
        Source::Address { base, offset: 0 }
    }

    fn load(site: u32, base: Register) -> Instr {
        instr(op::ld, site, vec![at(base)], vec![Some(7)])
    }

    const A: Source = Source::Variable { variable: 0, value: 0 };
    const B: Source = Source::Variable { variable: 1, value: 64 };

    #[test]
    fn addresses_keep_their_variable_through_arithmetic() {
        let v = Variables::new(&image(vec![
            instr(op::add, 0, vec![A, register(7)], vec![Some(0)]),
            instr(op::and, 0, vec![register(0), Source::Constant { value: 0xffff_fff0 }], vec![Some(1)]),
            load(5, 1),
            instr(op::sub, 0, vec![A, B], vec![Some(2)]),
            load(6, 2),
            instr(op::selp, 0, vec![A, B, register(6)], vec![Some(3)]),
            load(7, 3),
            instr(op::st, 8, vec![B, register(7)], vec![]),
        ]));
        let name = |site, from, to| v.left_by(site, 1, (from, to)).map(|v| v.name.as_str());
        assert_eq!((name(5, 60, 64), name(5, 64, 68), name(5, 60, 68)), (None, Some("a"), Some("a")));
        assert_eq!((name(6, 500, 504), name(7, 500, 504)), (None, None));
        assert_eq!((name(8, 64, 68), name(8, 0, 4)), (None, Some("b")));
        assert!(v.left_by(5, 2, (64, 68)).is_none(), "another state space");
    }

    #[test]
    fn what_is_loaded_may_be_an_address_that_was_stored() {
        let v = Variables::new(&image(vec![
            instr(op::st, 1, vec![at(6), B], vec![]),
            instr(op::add, 0, vec![A, register(7)], vec![Some(0)]),
            load(5, 0),
        ]));
        assert!(v.left_by(5, 1, (64, 68)).is_none());
    }
}
