//! Provenance of addresses: variable or parameter, state space, generic or not, own CTA or mapped. A sparse forward analysis; a
//! fact holds on every path, and loaded addresses are unknown.

use crate::flow::Flow;
use crate::ssa::{Val, Value};
use ptx_dsl_isa::hir::{Arg, Base, Instr, Operand, Space, VarId};
use ptx_dsl_isa::isa::sreg::special;
use ptx_dsl_isa::meaning::access::space;
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::{Qualifier, q};
use ptx_dsl_isa::ty::Class;

/// A fact about the provenance of a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ValueSource {
    /// Bottom: no value yet.
    Bottom,
    /// Anything.
    Unknown,
    /// A number that is not derived from an address.
    Index,
    /// The value is this number.
    Number(i64),
    /// An offset from kernel parameter n, which is not declared as a pointer.
    Parameter(u32, Option<i64>),
    /// An address.
    Address(Address),
}

/// An address.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Address {
    /// The state space that it points to; `.param` for kernel parameters.
    pub space: Space,
    /// Is the address generic? For `.global` both forms are the same number (PTX ISA 6.4.1.1).
    pub generic: bool,
    /// The variable, or the parameter whose value it is.
    pub base: AddressBase,
    /// Bytes after the start of `base`.
    pub offset: Option<i64>,
    /// The result of `mapa` for a CTA that may not be the own one.
    pub mapped: bool,
    /// That `mapa`; `u32::MAX` for none, or several.
    pub map: u32,
    /// The instruction that produced this form: `cvta`, `mapa`, `mov`; `u32::MAX` for none.
    pub by: u32,
}

/// An unknown address.
const NOWHERE: Address = Address {
    space: Space::Global,
    generic: true,
    base: AddressBase::None,
    offset: None,
    mapped: false,
    map: u32::MAX,
    by: u32::MAX,
};

/// The base of an address.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AddressBase {
    /// Unknown.
    None,
    /// A variable.
    Var(VarId),
    /// The object that kernel parameter n points to.
    Pointer(u32),
}

/// By value.
pub struct Provenance {
    /// By value: where it comes from.
    pub sources: Vec<ValueSource>,
}

impl Provenance {
    /// Solves for all values of the function.
    pub fn new(flow: &Flow) -> Provenance {
        let mut eval = |_: Val, value: &Value, facts: &[ValueSource]| match value {
            Value::Undef | Value::Param => ValueSource::Unknown,
            Value::Phi { args, .. } => {
                let mut all = ValueSource::Bottom;
                for v in args {
                    all = join(all, facts[*v as usize]);
                }
                all
            }
            Value::Def { instr, var, old } => {
                let i = flow.instr(*instr);
                let new = result(flow, *instr, i, *var, facts);
                match old {
                    Some(o) => join(new, facts[*o as usize]),
                    None => new,
                }
            }
        };
        let of = flow.ssa.solve(ValueSource::Bottom, &mut eval);
        Provenance {
            sources: match of {
                Some(of) => of,
                None => vec![ValueSource::Unknown; flow.ssa.values.len()],
            },
        }
    }

    /// The address that a value is.
    pub fn address(&self, v: Val) -> Option<Address> {
        match self.sources.get(v as usize) {
            Some(ValueSource::Address(a)) => Some(*a),
            _ => None,
        }
    }

    /// The address of a value that is used as a generic address. A kernel parameter points to global memory.
    pub fn pointee(&self, v: Val) -> Option<Address> {
        match self.sources.get(v as usize) {
            Some(ValueSource::Parameter(n, offset)) => Some(Address {
                space: Space::Global,
                generic: true,
                base: AddressBase::Pointer(*n),
                offset: *offset,
                mapped: false,
                map: u32::MAX,
                by: u32::MAX,
            }),
            _ => self.address(v),
        }
    }

    /// The variable and the offset of an address in the own CTA.
    pub fn variable(&self, v: Val) -> Option<(u32, i64)> {
        match self.address(v)? {
            Address { base: AddressBase::Var(var), offset: Some(offset), mapped: false, .. } => Some((var.0, offset)),
            _ => None,
        }
    }
}

fn join(a: ValueSource, b: ValueSource) -> ValueSource {
    match (a, b) {
        (ValueSource::Bottom, x) | (x, ValueSource::Bottom) => x,
        (a, b) if a == b => a,
        (ValueSource::Address(x), ValueSource::Address(y))
            if x.space == y.space && x.generic == y.generic && x.mapped == y.mapped =>
        {
            ValueSource::Address(Address {
                base: if x.base == y.base { x.base } else { AddressBase::None },
                offset: if x.base == y.base && x.offset == y.offset { x.offset } else { None },
                by: if x.by == y.by { x.by } else { u32::MAX },
                map: if x.map == y.map { x.map } else { u32::MAX },
                ..x
            })
        }
        (ValueSource::Index | ValueSource::Number(_), ValueSource::Index | ValueSource::Number(_)) => {
            ValueSource::Index
        }
        (ValueSource::Parameter(n, x), ValueSource::Parameter(m, y)) if n == m => {
            ValueSource::Parameter(n, if x == y { x } else { None })
        }
        _ => ValueSource::Unknown,
    }
}

/// The fact about an operand.
fn operand(flow: &Flow, at: u32, o: &Operand, facts: &[ValueSource]) -> ValueSource {
    match o {
        Operand::Imm(n) => ValueSource::Number(*n as i64),
        Operand::Reg(r, lane) => facts[flow.ssa.read(at, *r, *lane) as usize],
        Operand::VarAddr(id, offset) => variable(flow, *id, *offset),
        Operand::Sreg(_) | Operand::Rust(_) => ValueSource::Index,
        _ => ValueSource::Unknown,
    }
}

fn variable(flow: &Flow, id: VarId, offset: i64) -> ValueSource {
    match flow.module.vars.get(id.0 as usize) {
        // The location of function parameters is unknown here.
        Some(v) if v.space != Space::ParamFunc && v.ty.class() != Class::Opaque => ValueSource::Address(Address {
            space: v.space,
            generic: false,
            base: AddressBase::Var(id),
            offset: Some(offset),
            mapped: false,
            map: u32::MAX,
            by: u32::MAX,
        }),
        _ => ValueSource::Unknown,
    }
}

/// Does a qualifier name a space?
pub fn in_space(i: &Instr) -> bool {
    space_of(i).is_some()
}

/// The first qualifier that names a space.
pub fn space_of(i: &Instr) -> Option<(Qualifier, Space)> {
    i.quals.iter().find_map(|q| Some((*q, space(*q)?)))
}

/// Whether all types are integers, and whether they also have 32 or 64 bits.
fn integers(i: &Instr) -> (bool, bool) {
    let (mut integers, mut wide) = (true, true);
    for t in &i.types {
        integers &= matches!(t.class(), Class::Bits | Class::Unsigned | Class::Signed);
        wide &= matches!(t.bits(), 32 | 64);
    }
    (integers, integers && wide)
}

fn result(flow: &Flow, at: u32, i: &Instr, var: u32, facts: &[ValueSource]) -> ValueSource {
    let get = |name: &str| match i.value(name) {
        Some(o) => operand(flow, at, o, facts),
        None => ValueSource::Unknown,
    };
    match i.operands.first() {
        Some(Arg { value: Operand::Reg(r, lane), .. }) if flow.ssa.var(*r, *lane) == var => {}
        _ => return ValueSource::Unknown,
    }
    let (integers, wide) = integers(i);
    match i.opcode {
        op::mov if wide => get("a"),
        // An address in its own space fits 32 bits, a generic one does not.
        op::cvt if wide => match get("a") {
            ValueSource::Address(a) if !a.generic && a.space != Space::Global => ValueSource::Address(a),
            ValueSource::Address(_) | ValueSource::Unknown | ValueSource::Parameter(..) => ValueSource::Unknown,
            other => other,
        },
        op::add if wide && !i.has(q::cc) => add(get("a"), get("b")),
        op::sub if wide && !i.has(q::cc) => match (get("a"), get("b")) {
            (ValueSource::Bottom, _) | (_, ValueSource::Bottom) => ValueSource::Bottom,
            (a, ValueSource::Number(n)) => add(a, ValueSource::Number(n.wrapping_neg())),
            (a, ValueSource::Index) => add(a, ValueSource::Index),
            (ValueSource::Index | ValueSource::Number(_), ValueSource::Address(_))
            | (ValueSource::Address(_), ValueSource::Address(_)) => ValueSource::Unknown,
            _ => ValueSource::Unknown,
        },
        op::mad if integers => match (get("a"), get("b"), get("c")) {
            (ValueSource::Bottom, _, _) | (_, ValueSource::Bottom, _) | (_, _, ValueSource::Bottom) => {
                ValueSource::Bottom
            }
            (ValueSource::Address(_), _, _) | (_, ValueSource::Address(_), _) => ValueSource::Unknown,
            (_, _, c) => add(c, ValueSource::Index),
        },
        // Rounding, low bits and swizzles keep the base, not the offset.
        op::and | op::or | op::xor if wide => match (get("a"), get("b")) {
            (ValueSource::Bottom, _) | (_, ValueSource::Bottom) => ValueSource::Bottom,
            (ValueSource::Address(a), ValueSource::Index) | (ValueSource::Index, ValueSource::Address(a)) => loose(a),
            (ValueSource::Address(a), ValueSource::Number(n)) | (ValueSource::Number(n), ValueSource::Address(a)) => {
                // A mask of low bits gives an offset, not an address.
                if i.opcode == op::and && (0..1 << 20).contains(&n) { ValueSource::Index } else { loose(a) }
            }
            (ValueSource::Index | ValueSource::Number(_), _) | (_, ValueSource::Index | ValueSource::Number(_)) => {
                ValueSource::Index
            }
            _ => ValueSource::Unknown,
        },
        op::selp => match (get("a"), get("b")) {
            (ValueSource::Bottom, _) | (_, ValueSource::Bottom) => ValueSource::Bottom,
            (a, b) => join(a, b),
        },
        op::cvta => {
            let to_space = i.has(q::to);
            let Some((_, space)) = space_of(i) else { return ValueSource::Unknown };
            let from = match get("a") {
                ValueSource::Bottom => return ValueSource::Bottom,
                ValueSource::Address(a) if a.space == space => Some(a),
                // `cvta.to` gives the space of an undeclared pointer parameter.
                ValueSource::Parameter(n, offset) if space == Space::Global => {
                    return ValueSource::Address(Address {
                        space,
                        generic: !to_space,
                        base: AddressBase::Pointer(n),
                        offset,
                        mapped: false,
                        map: u32::MAX,
                        by: at,
                    });
                }
                _ => None,
            };
            let generic = !to_space;
            let from = from.unwrap_or(NOWHERE);
            ValueSource::Address(Address { space, generic, by: at, ..from })
        }
        op::mapa => {
            let from = match get("a") {
                ValueSource::Bottom => return ValueSource::Bottom,
                ValueSource::Address(a) if a.space == Space::Shared => Some(a),
                _ => None,
            };
            let from = from.unwrap_or(NOWHERE);
            let generic = !i.has(q::shared_cluster);
            let mapped = !own_rank(flow, at, i);
            ValueSource::Address(Address { space: Space::Shared, generic, mapped, map: at, by: at, ..from })
        }
        op::ld if i.has(q::param) || i.has(q::param_entry) => parameter(flow, at, i, facts),
        // A shuffled constant is the same in all lanes, and a shuffled address points into the same variable.
        op::shfl_sync => match get("a") {
            ValueSource::Address(a) if a.mapped => ValueSource::Unknown,
            ValueSource::Address(a) => ValueSource::Address(a),
            other @ (ValueSource::Bottom | ValueSource::Index | ValueSource::Number(_)) => other,
            _ => ValueSource::Unknown,
        },
        // Products and shifts give numbers, also of an address.
        op::mul | op::shl | op::shr | op::rem | op::div | op::bfe | op::popc | op::clz | op::mul24 | op::mad24 => {
            ValueSource::Index
        }
        _ => ValueSource::Unknown,
    }
}

fn loose(a: Address) -> ValueSource {
    ValueSource::Address(Address { offset: None, ..a })
}

/// An offset and a constant.
pub fn sum(a: Option<i64>, b: i64) -> Option<i64> {
    a?.checked_add(b)
}

fn add(a: ValueSource, b: ValueSource) -> ValueSource {
    match (a, b) {
        (ValueSource::Bottom, _) | (_, ValueSource::Bottom) => ValueSource::Bottom,
        (ValueSource::Number(a), ValueSource::Number(b)) => ValueSource::Number(a.wrapping_add(b)),
        (ValueSource::Address(a), ValueSource::Number(n)) | (ValueSource::Number(n), ValueSource::Address(a)) => {
            ValueSource::Address(Address { offset: sum(a.offset, n), ..a })
        }
        (ValueSource::Address(a), ValueSource::Index) | (ValueSource::Index, ValueSource::Address(a)) => loose(a),
        (ValueSource::Parameter(p, o), ValueSource::Number(n))
        | (ValueSource::Number(n), ValueSource::Parameter(p, o)) => ValueSource::Parameter(p, sum(o, n)),
        (ValueSource::Parameter(p, _), ValueSource::Index) | (ValueSource::Index, ValueSource::Parameter(p, _)) => {
            ValueSource::Parameter(p, None)
        }
        (ValueSource::Index | ValueSource::Number(_), ValueSource::Index | ValueSource::Number(_)) => {
            ValueSource::Index
        }
        _ => ValueSource::Unknown,
    }
}

/// Is the rank operand of `mapa` the rank of the own CTA?
fn own_rank(flow: &Flow, at: u32, i: &Instr) -> bool {
    if flow.function.reqnctapercluster == Some([1, 1, 1]) {
        return true;
    }
    let Some(arg) = i.operand("b") else { return false };
    let mut now = (at, &arg.value);
    for _ in 0..16 {
        match now.1 {
            Operand::Sreg(register) => return *register == special::cluster_ctarank,
            Operand::Reg(r, lane) => {
                let Some(m) = flow.ssa.maker(flow.ssa.read(now.0, *r, *lane)) else { return false };
                let made = flow.instr(m);
                match made.operand("a") {
                    Some(a) if made.opcode == op::mov => now = (m, &a.value),
                    _ => return false,
                }
            }
            _ => return false,
        }
    }
    false
}

/// The value of a kernel parameter: a pointer, if its declaration says so.
fn parameter(flow: &Flow, at: u32, i: &Instr, facts: &[ValueSource]) -> ValueSource {
    let Some(Operand::Address(base, offset)) = i.value("a") else { return ValueSource::Unknown };
    let (id, offset) = match base {
        Base::Var(v) => (*v, *offset),
        Base::Reg(r) => match facts[flow.ssa.read(at, *r, 0) as usize] {
            ValueSource::Bottom => return ValueSource::Bottom,
            ValueSource::Address(Address { base: AddressBase::Var(v), offset: Some(o), .. }) => {
                (v, o.wrapping_add(*offset))
            }
            _ => return ValueSource::Unknown,
        },
        Base::Abs => return ValueSource::Unknown,
    };
    let mut found = None;
    for (n, p) in flow.function.params.iter().enumerate() {
        if p.var == Some(id) {
            found = Some((n, p));
            break;
        }
    }
    let Some((n, p)) = found else { return ValueSource::Unknown };
    let small = i.types.last().is_some_and(|t| t.bits() < 64) && flow.module.address_size == 64;
    // In other spaces the parameter may or may not be a generic address.
    let global = p.read_only || matches!(p.ptr, Some((Some(Space::Global), _)));
    match p.ptr {
        _ if global && offset == 0 && !p.array && !small && flow.function.entry => ValueSource::Address(Address {
            space: Space::Global,
            // A parameter is a generic address; `.ptr` only says where it points (PTX ISA 11.3.4).
            generic: true,
            base: AddressBase::Pointer(n as u32),
            offset: Some(0),
            mapped: false,
            map: u32::MAX,
            by: u32::MAX,
        }),
        _ if small => ValueSource::Index,
        _ if offset == 0 && p.ptr.is_none() && !p.array && flow.function.entry => {
            ValueSource::Parameter(n as u32, Some(0))
        }
        _ => ValueSource::Unknown,
    }
}
