//! What any compiler would say: registers that nobody wrote, code that nothing reaches, guards that are constant.

use super::Flow;
use super::ask::{nobody, value};
use super::cfg::{Edge, NONE};
use super::lanes::{Fact, Lanes};
use super::memory::constant;
use super::paths::{Paths, Step, perhaps_unwritten};
use super::ssa::{UNDEF, Val};
use crate::errors::flow as errors;
use ptx_dsl_isa::diag::Diagnostic;
use ptx_dsl_isa::hir::{Instr, Operand};
use ptx_dsl_isa::isa::Mbarrier;
use ptx_dsl_isa::isa::sreg::special;
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;
use ptx_dsl_isa::ty::Class;

pub(super) fn check(flow: &Flow, lanes: &Lanes, out: &mut Vec<Diagnostic>) {
    unwritten(flow, lanes, out);
    unreachable(flow, out);
    constant_guards(flow, lanes, out);
}

/// Registers that no path writes before they are read. ptxas takes them for anything.
fn unwritten(flow: &Flow, lanes: &Lanes, out: &mut Vec<Diagnostic>) {
    let mut said: Vec<u32> = Vec::new();
    for (_, at, i) in flow.walk() {
        if unwritten_too(flow, at, i) {
            continue;
        }
        for (var, v) in flow.ssa.uses(at) {
            if flow.origin(*v) == UNDEF && !said.contains(var) && said.len() < 20 {
                said.push(*var);
                out.push(errors::unwritten(flow.place(i, *var), flow.name(*var), true));
            }
        }
    }
    // On some path: one is looked for on which the conditions agree with each other.
    let asked = perhaps(flow, &said);
    if asked.is_empty() {
        return;
    }
    let mut paths = Paths::new(flow, lanes);
    for (var, use_at) in asked {
        if said.contains(&var) {
            continue;
        }
        let hit = paths.at_entry(&mut |at, _| {
            if at == use_at {
                return Step::Found;
            }
            for (written, _) in flow.ssa.defs(at) {
                if *written == var {
                    return Step::Stop;
                }
            }
            Step::Go
        });
        if hit.is_some() {
            said.push(var);
            let i = flow.instr(use_at);
            out.push(errors::unwritten(flow.place(i, var), flow.name(var), false));
        }
    }
}

/// May it read what nobody wrote?
fn unwritten_too(flow: &Flow, at: u32, i: &Instr) -> bool {
    let (mut constants, mut vectors) = (false, false);
    for a in &i.operands {
        constants |= matches!(a.value, Operand::Imm(_));
        vectors |= matches!(a.value, Operand::Vector(_));
    }
    let uses = flow.ssa.uses(at);
    match i.opcode {
        // `xor d, a, a` is a way to write zero.
        op::xor | op::sub => uses.len() == 1 && i.pred.is_none() && !constants,
        // Compilers pack what they need with what they do not.
        op::mov if vectors => {
            for (_, v) in uses {
                if flow.origin(*v) != UNDEF {
                    return true;
                }
            }
            false
        }
        _ => false,
    }
}

/// Uses of variables that some path leaves unwritten, and the variables: those to look at.
fn perhaps(flow: &Flow, said: &[u32]) -> Vec<(u32, u32)> {
    let perhaps = perhaps_unwritten(flow);
    let mut asked: Vec<(u32, u32)> = Vec::new();
    if perhaps.len() < 2 || !perhaps[1..].contains(&true) {
        return asked;
    }
    for (_, at, i) in flow.walk() {
        // Compilers choose, move and pack what they do not use. The state of an mbarrier has the one who arrived, and the
        // manual's own examples let everybody wait with it.
        let op = i.opcode;
        if matches!(op, op::mov | op::selp | op::call | op::bfi | op::prmt | op::shf)
            || i.entry.mbarrier != Mbarrier::None
        {
            continue;
        }
        for (var, v) in flow.ssa.uses(at) {
            if flow.origin(*v) == UNDEF || perhaps.get(*v as usize) != Some(&true) || said.contains(var) {
                continue;
            }
            let mut tries = 0;
            for (other, _) in &asked {
                tries += u32::from(other == var);
            }
            if tries < 3 && asked.len() < 48 {
                asked.push((*var, at));
            }
        }
    }
    asked
}

/// The first instruction of each stretch that no path leads to. What only leaves (`ret;` behind a loop) is no mistake.
fn unreachable(flow: &Flow, out: &mut Vec<Diagnostic>) {
    let mut reached = vec![false; flow.cfg.blocks.len()];
    for b in &flow.cfg.rpo {
        reached[*b as usize] = true;
    }
    let mut before = true;
    for (b, is_reached) in reached.iter().enumerate() {
        if *is_reached {
            before = true;
            continue;
        }
        for i in flow.cfg.range(b as u32) {
            let op = flow.instr(i).opcode;
            if before && !matches!(op, op::bra | op::ret | op::exit | op::trap | op::brkpt) {
                before = false;
                out.push(errors::unreachable(flow.instr(i).span));
            }
        }
    }
}

/// Guards that never hold: comparisons of constants, of numbers that cannot be so large, of threads that are not there, and
/// what the branch before has excluded.
fn constant_guards(flow: &Flow, lanes: &Lanes, out: &mut Vec<Diagnostic>) {
    let mut said = Vec::new();
    for (block, at, i) in flow.walk() {
        let Some((runs, why)) = decided(flow, lanes, block, at) else { continue };
        if why == CONSTANT || !leads_away(i) {
            // A guard that is always true is how generated code spells a choice made for good.
            if !runs {
                out.push(errors::never_runs(i.span, i.entry.opcode, why));
            }
        } else if flow.cfg.branch(block) == Some(at)
            // A branch that is never taken, or always, matters if there is something that nobody comes to then.
            && let Some((_, positive)) = flow.guard(at)
            && let Some(dead) = not_taken(flow, block, runs == positive)
            && flow.cfg.blocks[dead as usize].pred.len() == 1
            && let Some(first) = flow.cfg.range(dead).next()
            && !leads_away(flow.instr(first))
            && !said.contains(&dead)
        {
            said.push(dead);
            let first = flow.instr(first);
            out.push(errors::never_runs(first.span, first.entry.opcode, why));
        }
    }
}

fn leads_away(i: &Instr) -> bool {
    matches!(i.opcode, op::bra | op::ret | op::exit | op::trap)
}

const CONSTANT: &str = "its guard is constant";

/// Does a guarded instruction run in all threads that come to it, or in none? And why?
pub(super) fn decided(flow: &Flow, lanes: &Lanes, block: u32, at: u32) -> Option<(bool, &'static str)> {
    let (p, positive) = flow.guard(at)?;
    if flow.origin(p) == UNDEF {
        return None;
    }
    if let Fact::Const(n) = lanes.facts[p as usize] {
        return Some(((n != 0) == positive, CONSTANT));
    }
    let (value, why) = always(flow, lanes, block, p)?;
    Some((value == positive, why))
}

/// Where a block leads if its guard is not this value.
fn not_taken(flow: &Flow, block: u32, value: bool) -> Option<u32> {
    for e in &flow.cfg.blocks[block as usize].succ {
        if e.when == Some(!value) {
            return Some(e.to);
        }
    }
    None
}

/// The value that a predicate has for every thread that comes to the block, and why.
fn always(flow: &Flow, lanes: &Lanes, block: u32, p: Val) -> Option<(bool, &'static str)> {
    let p = flow.origin(p);
    if let Fact::Pred(f) = lanes.facts[p as usize]
        && let Some(n) = lanes.threads.exact
    {
        for (set, value) in [(f.yes, false), (f.no, true)] {
            if nobody(&lanes.sets[usize::from(set)], n) {
                return Some((value, "no thread of the CTA is meant by its guard"));
            }
        }
    }
    if let Some(at) = flow.ssa.maker(p)
        && let Some(value) = compared(flow, at)
    {
        return Some((value, "no number makes its guard hold"));
    }
    // Branches on the same value above, whose other way does not lead here.
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

/// What an integer comparison is whatever the numbers are; what `and` and `or` of a predicate and its opposite are.
fn compared(flow: &Flow, at: u32) -> Option<bool> {
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
    let n = constant(i, "b")?;
    match (ty.class() == Class::Signed, word) {
        (false, q::lt | q::lo) if n == 0 => return Some(false),
        (false, q::ge | q::hs) if n == 0 => return Some(true),
        _ => {}
    }
    let most = most(flow, a, 0)?;
    let too_large = match (ty.class() == Class::Signed, word) {
        (_, q::eq) => n > most && n <= u64::from(u32::MAX >> 1),
        (false, q::gt | q::hi) => n >= most && n <= u64::from(u32::MAX),
        (false, q::ge | q::hs) => n > most && n <= u64::from(u32::MAX),
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

/// What a number of 32 bits is at most, unsigned, if that follows from how it was made and is below 2^31.
fn most(flow: &Flow, v: Val, depth: u32) -> Option<u64> {
    let at = flow.ssa.maker(v)?;
    let i = flow.instr(at);
    let (Some(ty), true) = (i.types.last(), depth <= 8) else { return None };
    if ty.bits() != 32 {
        return None;
    }
    let low = |name: &str| Some(constant(i, name)? & 0xFFFF_FFFF);
    let source = |name: &str| match value(i, name) {
        Some(Operand::Reg(r, lane)) => most(flow, flow.ssa.read(at, *r, *lane), depth + 1),
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
