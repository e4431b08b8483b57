//! Constant guards: comparisons that the ranges of their operands decide, guards that no thread satisfies, conditions that a
//! dominating branch excludes.

use crate::cfg::{Edge, NONE};
use crate::flow::Flow;
use crate::lanes::{LaneFact, Lanes};
use crate::ssa::{UNDEF, Val};
use crate::threads::is_empty;
use ptx_dsl_isa::hir::Operand;
use ptx_dsl_isa::isa::sreg::special;
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;
use ptx_dsl_isa::ty::Class;

/// The reason: the guard is a constant.
pub const CONSTANT: &str = "its guard is always false";

/// Whether a guarded instruction executes in all threads that reach it or in none, and the reason.
pub fn constant_guard(flow: &Flow, lanes: &Lanes, block: u32, at: u32) -> Option<(bool, &'static str)> {
    let (p, positive) = flow.guard(at)?;
    if flow.origin(p) == UNDEF {
        return None;
    }
    if let LaneFact::Const(n) = lanes.facts[p as usize] {
        return Some(((n != 0) == positive, CONSTANT));
    }
    let (value, why) = constant_at(flow, lanes, block, p)?;
    Some((value == positive, why))
}

/// The successor for the other value of the guard.
pub fn other_target(flow: &Flow, block: u32, value: bool) -> Option<u32> {
    let edges = &flow.cfg.blocks[block as usize].succ;
    edges.iter().find(|e| e.when == Some(!value)).map(|e| e.to)
}

/// The value of a predicate in every thread that reaches the block, and the reason.
fn constant_at(flow: &Flow, lanes: &Lanes, block: u32, p: Val) -> Option<(bool, &'static str)> {
    let p = flow.origin(p);
    if let LaneFact::Pred(f) = lanes.facts[p as usize]
        && let Some(n) = lanes.cta_size.exact
    {
        for (set, value) in [(f.yes, false), (f.no, true)] {
            if is_empty(&lanes.sets[usize::from(set)], n) {
                return Some((value, "its guard is false in all threads of the CTA"));
            }
        }
    }
    if let Some(at) = flow.ssa.maker(p)
        && let Some(value) = constant_comparison(flow, at)
    {
        return Some((value, "its guard is false for every value"));
    }
    // A dominating branch on the same value.
    let mut b = block;
    for _ in 0..32 {
        let (&[(from, edge)], up) = (flow.cfg.blocks[b as usize].pred.as_slice(), flow.cfg.idom[b as usize]) else {
            b = flow.cfg.idom[b as usize];
            if b == NONE || b == 0 {
                break;
            }
            continue;
        };
        if let Some(Edge { when: Some(when), .. }) = flow.cfg.blocks[from as usize].succ.get(edge as usize)
            && let Some(i) = flow.cfg.branch(from)
            && let Some((q, _)) = flow.guard(i)
            && flow.origin(q) == p
        {
            return Some((*when, "the branch before it excludes its guard"));
        }
        if up == NONE || up == b {
            break;
        }
        b = up;
    }
    None
}

/// The result of an integer comparison that the ranges of its operands decide, or of `and` and `or` of a predicate and its
/// negation.
fn constant_comparison(flow: &Flow, at: u32) -> Option<bool> {
    let i = flow.instr(at);
    let source = |name: &str| Some(flow.origin(flow.source(at, name)?));
    if matches!(i.opcode, op::and | op::or) && i.has(q::pred) {
        let (a, b) = (source("a")?, source("b")?);
        return (opposite(flow, a, b) || opposite(flow, b, a)).then_some(i.opcode == op::or);
    }
    let ty = *i.types.last()?;
    let single = matches!(i.operands.first()?.value, Operand::Reg(..)) && i.operands.len() == 3;
    if i.opcode != op::setp || !single || !matches!(ty.class(), Class::Bits | Class::Unsigned | Class::Signed) {
        return None;
    }
    let word = *i.quals.first()?;
    let a = source("a")?;
    if source("b") == Some(a) {
        return match word {
            q::eq | q::le | q::ge | q::ls | q::hs => Some(true),
            q::ne | q::lt | q::gt | q::lo | q::hi => Some(false),
            _ => None,
        };
    }
    let n = i.constant("b")?;
    match (ty.class() == Class::Signed, word) {
        (false, q::lt | q::lo) if n == 0 => return Some(false),
        (false, q::ge | q::hs) if n == 0 => return Some(true),
        _ => {}
    }
    let upper_bound = upper_bound(flow, a, 0)?;
    let too_large = match (ty.class() == Class::Signed, word) {
        (_, q::eq) => n > upper_bound && n <= u64::from(u32::MAX >> 1),
        (false, q::gt | q::hi) => n >= upper_bound && n <= u64::from(u32::MAX),
        (false, q::ge | q::hs) => n > upper_bound && n <= u64::from(u32::MAX),
        _ => false,
    };
    if too_large { Some(false) } else { None }
}

/// Is `x` `not` of `y`?
fn opposite(flow: &Flow, x: Val, y: Val) -> bool {
    let Some(maker) = flow.ssa.maker(x) else { return false };
    let mut reads = false;
    for (_, v) in flow.ssa.uses(maker) {
        reads |= flow.origin(*v) == y;
    }
    reads && flow.instr(maker).opcode == op::not
}

/// An upper bound of an unsigned 32-bit value, if it follows from its definition and is below 2^31.
fn upper_bound(flow: &Flow, v: Val, depth: u32) -> Option<u64> {
    let at = flow.ssa.maker(v)?;
    let i = flow.instr(at);
    let (Some(ty), true) = (i.types.last(), depth <= 8) else { return None };
    if ty.bits() != 32 {
        return None;
    }
    let low = |name: &str| Some(i.constant(name)? & 0xFFFF_FFFF);
    let source = |name: &str| match i.value(name) {
        Some(Operand::Reg(r, lane)) => upper_bound(flow, flow.ssa.read(at, *r, *lane), depth + 1),
        Some(Operand::Sreg(special::laneid)) => Some(31),
        _ => low(name),
    };
    let mut unsigned = true;
    for t in &i.types {
        unsigned &= t.class() != Class::Signed;
    }
    let n = match i.opcode {
        op::and => match (low("b"), source("a")) {
            (Some(b), Some(a)) => a.min(b),
            (b, a) => b.or(a)?,
        },
        op::shr if unsigned => match low("b")? {
            k if k < 32 => 0xFFFF_FFFF >> k,
            _ => return None,
        },
        op::rem if unsigned => low("b")?.checked_sub(1)?,
        op::mov => source("a")?,
        _ => return None,
    };
    (n < 1 << 31).then_some(n)
}
