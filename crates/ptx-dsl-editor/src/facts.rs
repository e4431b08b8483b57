//! What the analyses know of registers: the numbers that they hold, the threads that share them, where they point.

use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::accesses::mbarrier_wait;
use ptx_dsl_analysis::lanes::{LaneFact, Lanes, Uniformity};
use ptx_dsl_analysis::provenance::{Address, AddressBase, Provenance, ValueSource};
use ptx_dsl_analysis::region;
use ptx_dsl_analysis::ssa::{Val, Value};
use ptx_dsl_frontend::Compiled;
use ptx_dsl_frontend::hir::{Base, Function, Module, Operand, Space};
use ptx_dsl_frontend::isa::Role;
use ptx_dsl_frontend::qualifier::q;
use ptx_dsl_frontend::span::Span;
use std::collections::HashMap;

/// The facts of a module. There are none if it has an error: what is left out may change everything.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// By function and register: what is known wherever the register is written.
    registers: HashMap<(String, String), String>,
    /// Addresses in registers, and where they point.
    places: Vec<(Span, String)>,
    /// Operands of mbarrier instructions, and what is known of them: phases, bytes.
    barriers: Vec<(Span, String)>,
}

impl Facts {
    pub fn new(compiled: &Compiled) -> Facts {
        let mut facts = Facts::default();
        if compiled.failed() {
            return facts;
        }
        for function in compiled.hir.functions.iter().filter(|f| f.defined) {
            facts.add(&compiled.hir, function);
        }
        facts
    }

    /// What is known of a register of a function.
    pub fn of_register(&self, function: &str, register: &str) -> Option<&str> {
        self.registers.get(&(function.to_owned(), register.to_owned())).map(String::as_str)
    }

    /// Addresses in registers, and where they point.
    pub fn places(&self) -> &[(Span, String)] {
        &self.places
    }

    /// Operands of mbarrier instructions, and what is known of them.
    pub fn barriers(&self) -> &[(Span, String)] {
        &self.barriers
    }

    fn add(&mut self, module: &Module, function: &Function) {
        let Some(flow) = Flow::new(module, function) else { return };
        let (lanes, provenance) = (Lanes::new(&flow), Provenance::new(&flow));
        let mut known: HashMap<&str, Option<Known>> = HashMap::new();
        for (number, value) in flow.ssa.values.iter().enumerate() {
            let Value::Def { var, .. } = value else { continue };
            let name = flow.register_name(*var);
            let new = Known::of(number as Val, &lanes, &provenance);
            known.entry(name).and_modify(|old| *old = old.take().and_then(|old| old.join(&new))).or_insert(Some(new));
        }
        // two registers of one name, in two scopes
        for (at, reg) in function.regs.iter().enumerate() {
            if function.regs[..at].iter().any(|other| other.name == reg.name) {
                known.remove(reg.name.as_str());
            }
        }
        for (name, known) in known {
            let text = known.map(|known| known.text(module, function)).unwrap_or_default();
            if !text.is_empty() {
                self.registers.insert((function.name.clone(), name.to_owned()), text);
            }
        }
        for (_, at, instr) in flow.walk() {
            for arg in instr.operands.iter().filter(|arg| arg.role == Role::Addr) {
                let in_register = matches!(arg.value, Operand::Address(Base::Reg(_), _));
                let found = region::address(&flow, &provenance, at, &arg.value).filter(|_| in_register);
                let text = found.map(|(address, _)| place(&address, module, function)).unwrap_or_default();
                if !text.is_empty() {
                    self.places.push((arg.span, text));
                }
            }
        }
        self.add_barriers(&flow, &lanes, &provenance);
    }

    /// The phases of waits, and the bytes that copies bring to an mbarrier.
    fn add_barriers(&mut self, flow: &Flow, lanes: &Lanes, provenance: &Provenance) {
        let object = |at: u32, name: &str| {
            let (address, _) = region::address(flow, provenance, at, flow.instr(at).value(name)?)?;
            matches!(address.base, AddressBase::Var(_)).then_some((address.base, address.offset))
        };
        let mut copies: Vec<(AddressBase, Option<i64>, Option<u64>)> = Vec::new();
        let mut expects = Vec::new();
        for (_, at, instr) in flow.walk() {
            if mbarrier_wait(instr)
                && let Some(parity) = instr.operand("phaseParity")
            {
                let number = match &parity.value {
                    Operand::Imm(n) => Some(*n),
                    Operand::Reg(reg, lane) => match lanes.facts.get(flow.ssa.read(at, *reg, *lane) as usize) {
                        Some(LaneFact::Const(n)) => Some(*n),
                        _ => None,
                    },
                    _ => None,
                };
                match number {
                    Some(0) => self.barriers.push((parity.span, "phase 0, 2, ...".to_owned())),
                    Some(1) => self.barriers.push((parity.span, "phase 1, 3, ...".to_owned())),
                    _ => {}
                }
            }
            if instr.has(q::mbarrier_complete_tx_bytes) {
                let size = match instr.value("size") {
                    Some(Operand::Imm(n)) => Some(*n),
                    _ => None,
                };
                // a copy to an unknown mbarrier may be for any
                let Some((base, offset)) = object(at, "mbar") else { return };
                copies.push((base, offset, size));
            }
            if let Some(count) = instr.operand("txCount") {
                expects.push((at, count.span));
            }
        }
        for (at, span) in expects {
            let Some((base, offset)) = object(at, "addr") else { continue };
            let of_base = copies.iter().filter(|copy| copy.0 == base);
            let known = of_base.clone().all(|copy| copy.1.is_some()) && offset.is_some();
            let sizes: Option<Vec<u64>> = of_base.filter(|copy| copy.1 == offset).map(|copy| copy.2).collect();
            let (Some(sizes), true) = (sizes, known) else { continue };
            if !sizes.is_empty() {
                let each: Vec<String> = sizes.iter().map(u64::to_string).collect();
                let text = match each.as_slice() {
                    [one] => format!("copies: {one} bytes"),
                    _ => format!("copies: {} = {} bytes", each.join(" + "), sizes.iter().sum::<u64>()),
                };
                self.barriers.push((span, text));
            }
        }
    }
}

/// What is known of all values of a register.
#[derive(Clone)]
struct Known {
    /// The least and the greatest number.
    numbers: Option<(u64, u64)>,
    uniformity: Uniformity,
    source: Option<Address>,
}

impl Known {
    fn of(value: Val, lanes: &Lanes, provenance: &Provenance) -> Known {
        let numbers = match lanes.facts.get(value as usize) {
            Some(LaneFact::Const(n)) => Some((*n, *n)),
            Some(LaneFact::Table(table)) => {
                let table = &lanes.tables[*table as usize];
                let count = lanes.cta_size.exact.unwrap_or(table.len()).min(table.len());
                let of = table[..count].iter();
                of.clone().min().zip(of.max()).map(|(low, high)| (u64::from(*low), u64::from(*high)))
            }
            _ => None,
        };
        let source = match provenance.sources.get(value as usize) {
            Some(ValueSource::Address(address)) => Some(*address),
            _ => None,
        };
        Known { numbers, uniformity: lanes.uniformity(value), source }
    }

    fn join(self, other: &Known) -> Option<Known> {
        let numbers = self.numbers.zip(other.numbers).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1)));
        let source = self.source.zip(other.source).and_then(|(a, b)| {
            let same = a.space == b.space && a.generic == b.generic && a.base == b.base && a.mapped == b.mapped;
            same.then(|| Address { offset: a.offset.filter(|offset| b.offset == Some(*offset)), ..a })
        });
        Some(Known { numbers, uniformity: self.uniformity.min(other.uniformity), source })
    }

    fn text(&self, module: &Module, function: &Function) -> String {
        let shared = match (self.numbers, self.uniformity) {
            (Some((low, high)), _) if low == high => format!("always {low}"),
            (Some((low, high)), _) => format!("{low} to {high}"),
            (None, Uniformity::Cta) => "the same in all threads of a CTA".to_owned(),
            (None, Uniformity::Warp) => "the same in all lanes of a warp".to_owned(),
            (None, Uniformity::None) => String::new(),
        };
        let place = self.source.map(|address| place(&address, module, function)).unwrap_or_default();
        let place = if place.is_empty() { place } else { format!("`{place}`") };
        [shared, place].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ")
    }
}

/// Where an address points, as `.shared tile + 16`; empty if nothing is known.
fn place(address: &Address, module: &Module, function: &Function) -> String {
    let space = match address.space {
        Space::Global => ".global",
        Space::Const => ".const",
        Space::Shared => ".shared",
        Space::Local => ".local",
        Space::ParamEntry | Space::ParamFunc => ".param",
    };
    let base = match address.base {
        AddressBase::Var(var) => module.vars.get(var.0 as usize).map(|var| var.name.clone()),
        AddressBase::Pointer(n) => function.params.get(n as usize).map(|param| format!("*{}", param.name)),
        AddressBase::None => None,
    };
    let offset = match address.offset {
        Some(0) => String::new(),
        Some(n) if n < 0 => format!(" - {}", n.unsigned_abs()),
        Some(n) => format!(" + {n}"),
        None => " + ...".to_owned(),
    };
    let form = if address.generic && address.space != Space::Global { "generic, " } else { "" };
    let mapped = if address.mapped { " of another CTA" } else { "" };
    match base {
        Some(base) => format!("{form}{space}{mapped} {base}{offset}"),
        None if address.generic && address.by == u32::MAX => String::new(),
        None => format!("{form}{space}{mapped}"),
    }
}
