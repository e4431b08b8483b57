//! What any compiler would say: registers that nobody wrote, code that nothing reaches, guards that are constant.

use super::Flow;
use super::cfg::NONE;
use super::lanes::{Fact, Lanes};
use super::paths::{Paths, Step, perhaps_unwritten};
use super::ssa::{UNDEF, Val};
use crate::errors::flow as errors;
use ptx_dsl_table::diag::Diagnostic;
use ptx_dsl_table::hir::{Instr, Operand};
use ptx_dsl_table::ty::Class;

pub(super) fn check(flow: &Flow, lanes: &Lanes, out: &mut Vec<Diagnostic>) {
    unwritten(flow, lanes, out);
    unreachable(flow, out);
    constant_guards(flow, lanes, out);
}

/// Registers that no path writes before they are read. ptxas takes them for anything.
fn unwritten(flow: &Flow, lanes: &Lanes, out: &mut Vec<Diagnostic>) {
    let mut said: Vec<u32> = Vec::new();
    flow.walk(
        |_| {},
        |at, i| {
            // `xor d, a, a` is a way to write zero.
            let zero = matches!(i.entry.opcode, "xor" | "sub") && flow.ssa.uses(at).len() == 1 && i.pred.is_none();
            if zero && !i.operands.iter().any(|a| matches!(a.value, Operand::Imm(_))) {
                return;
            }
            // Compilers pack what they need with what they do not.
            let undefined = |u: &(u32, Val)| flow.ssa.origin[u.1 as usize] == UNDEF;
            let packs = i.entry.opcode == "mov" && i.operands.iter().any(|a| matches!(a.value, Operand::Vector(_)));
            if packs && !flow.ssa.uses(at).iter().all(undefined) {
                return;
            }
            for (var, v) in flow.ssa.uses(at) {
                if flow.ssa.origin[*v as usize] == UNDEF && !said.contains(var) && said.len() < 20 {
                    said.push(*var);
                    out.push(errors::unwritten(flow.place(i, *var), flow.name(*var), true));
                }
            }
        },
    );
    // On some path: one is looked for on which the conditions agree with each other.
    let perhaps = perhaps_unwritten(flow);
    if !perhaps.iter().skip(1).any(|p| *p) {
        return;
    }
    let mut asked: Vec<(u32, u32)> = Vec::new();
    flow.walk(
        |_| {},
        |at, i| {
            // Compilers choose, move and pack what they do not use. The state of an mbarrier has the one who arrived, and the
            // manual's own examples let everybody wait with it.
            let op = i.entry.opcode;
            if matches!(op, "mov" | "selp" | "call" | "bfi" | "prmt" | "shf") || op.starts_with("mbarrier.") {
                return;
            }
            for (var, v) in flow.ssa.uses(at) {
                let some = flow.ssa.origin[*v as usize] != UNDEF && perhaps.get(*v as usize) == Some(&true);
                let tries = asked.iter().filter(|a| a.0 == *var).count();
                if some && !said.contains(var) && tries < 3 && asked.len() < 48 {
                    asked.push((*var, at));
                }
            }
        },
    );
    let mut paths = Paths::new(flow, lanes);
    for (var, use_at) in asked {
        if said.contains(&var) {
            continue;
        }
        let hit = paths.at_entry(&mut |at, _| {
            if at == use_at {
                return Step::Found;
            }
            let writes = flow.ssa.defs(at).iter().any(|d| d.0 == var);
            if writes { Step::Stop } else { Step::Go }
        });
        if hit.is_some() {
            said.push(var);
            let i = flow.cfg.instrs[use_at as usize];
            out.push(errors::unwritten(flow.place(i, var), flow.name(var), false));
        }
    }
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
            let op = flow.cfg.instrs[i as usize].entry.opcode;
            if before && !matches!(op, "bra" | "ret" | "exit" | "trap" | "brkpt") {
                before = false;
                out.push(errors::unreachable(flow.cfg.instrs[i as usize].span));
            }
        }
    }
}

/// Guards that never hold: comparisons of constants, of numbers that cannot be so large, of threads that are not there, and
/// what the branch before has excluded.
fn constant_guards(flow: &Flow, lanes: &Lanes, out: &mut Vec<Diagnostic>) {
    let here = std::cell::Cell::new(0);
    let mut said = Vec::new();
    flow.walk(
        |b| here.set(b),
        |at, i| {
            let Some((p, positive)) = flow.ssa.guard(at, i) else { return };
            if flow.ssa.origin[p as usize] == UNDEF {
                return;
            }
            if let Fact::Const(n) = lanes.facts[p as usize] {
                // A guard that is always true is how generated code spells a choice made for good.
                if (n != 0) != positive {
                    out.push(errors::never_runs(i.span, i.entry.opcode, "its guard is constant"));
                }
                return;
            }
            let why = always(flow, lanes, here.get(), p);
            let Some((value, why)) = why else { return };
            // A branch that is never taken, or always, matters if there is something that nobody comes to then.
            if !matches!(i.entry.opcode, "bra" | "ret" | "exit" | "trap") {
                if value != positive {
                    out.push(errors::never_runs(i.span, i.entry.opcode, why));
                }
            } else if flow.cfg.branch(here.get()) == Some(at)
                && let Some(dead) = flow.cfg.blocks[here.get() as usize].succ.iter().find(|e| e.when == Some(!value))
                && flow.cfg.blocks[dead.to as usize].pred.len() == 1
                && let Some(first) = flow.cfg.range(dead.to).map(|k| flow.cfg.instrs[k as usize]).next()
                && !matches!(first.entry.opcode, "bra" | "ret" | "exit" | "trap")
                && !said.contains(&dead.to)
            {
                said.push(dead.to);
                out.push(errors::never_runs(first.span, first.entry.opcode, why));
            }
        },
    );
}

/// The value that a predicate has for every thread that comes to the block, and why.
fn always(flow: &Flow, lanes: &Lanes, block: u32, p: Val) -> Option<(bool, &'static str)> {
    let p = flow.ssa.origin[p as usize];
    if let Fact::Pred(f) = lanes.facts[p as usize]
        && let Some(n) = lanes.threads.exact
    {
        let nobody = |set: u16| {
            let set = &lanes.sets[usize::from(set)];
            (0..n).all(|t| set[t / 64] >> (t % 64) & 1 == 0)
        };
        for (set, value) in [(f.yes, false), (f.no, true)] {
            if nobody(set) {
                return Some((value, "no thread of the CTA is meant by its guard"));
            }
        }
    }
    if let Some(value) = flow.ssa.maker(p).and_then(|at| compared(flow, at)) {
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
        let when = flow.cfg.blocks[from as usize].succ.get(edge as usize).and_then(|e| e.when);
        if let (Some(when), Some(i)) = (when, flow.cfg.branch(from))
            && let Some((q, _)) = flow.ssa.guard(i, flow.cfg.instrs[i as usize])
            && flow.ssa.origin[q as usize] == p
        {
            return Some((when, "the branch before it excludes its guard"));
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
    let i = flow.cfg.instrs[at as usize];
    let source = |name: &str| match i.operand(name).map(|a| &a.value) {
        Some(Operand::Reg(r, lane)) => Some(flow.ssa.origin[flow.ssa.read(at, *r, *lane) as usize]),
        _ => None,
    };
    if matches!(i.entry.opcode, "and" | "or") && i.has(".pred") {
        let (a, b) = (source("a")?, source("b")?);
        let opposite = |x: Val, y: Val| {
            let Some(maker) = flow.ssa.maker(x) else { return false };
            flow.cfg.instrs[maker as usize].entry.opcode == "not"
                && flow.ssa.uses(maker).iter().any(|u| flow.ssa.origin[u.1 as usize] == y)
        };
        return (opposite(a, b) || opposite(b, a)).then_some(i.entry.opcode == "or");
    }
    let ty = *i.types.last()?;
    let single = matches!(i.operands.first()?.value, Operand::Reg(..)) && i.operands.len() == 3;
    if i.entry.opcode != "setp" || !single || !matches!(ty.class(), Class::Bits | Class::Unsigned | Class::Signed) {
        return None;
    }
    let word = i.quals.first()?.as_str();
    let a = source("a")?;
    if source("b") == Some(a) {
        return match word {
            ".eq" | ".le" | ".ge" | ".ls" | ".hs" => Some(true),
            ".ne" | ".lt" | ".gt" | ".lo" | ".hi" => Some(false),
            _ => None,
        };
    }
    let Operand::Imm(n) = i.operand("b")?.value else { return None };
    let most = most(flow, a, 0);
    match (ty.class() == Class::Signed, word) {
        (false, ".lt" | ".lo") if n == 0 => Some(false),
        (false, ".ge" | ".hs") if n == 0 => Some(true),
        (_, ".eq") if most.is_some_and(|m| (m..=u64::from(u32::MAX >> 1)).contains(&n) && n > m) => Some(false),
        (false, ".gt" | ".hi") if most.is_some_and(|m| n >= m && n <= u64::from(u32::MAX)) => Some(false),
        (false, ".ge" | ".hs") if most.is_some_and(|m| n > m && n <= u64::from(u32::MAX)) => Some(false),
        _ => None,
    }
}

/// What a number of 32 bits is at most, unsigned, if that follows from how it was made and is below 2^31.
fn most(flow: &Flow, v: Val, depth: u32) -> Option<u64> {
    let at = flow.ssa.maker(v)?;
    let i: &Instr = flow.cfg.instrs[at as usize];
    if i.types.last().is_none_or(|t| t.bits() != 32) || depth > 8 {
        return None;
    }
    let imm = |name: &str| match i.operand(name).map(|a| &a.value) {
        Some(Operand::Imm(n)) => Some(*n & 0xFFFF_FFFF),
        _ => None,
    };
    let source = |name: &str| match i.operand(name).map(|a| &a.value) {
        Some(Operand::Reg(r, lane)) => most(flow, flow.ssa.read(at, *r, *lane), depth + 1),
        Some(Operand::Imm(n)) => Some(*n & 0xFFFF_FFFF),
        Some(Operand::Sreg("%laneid")) => Some(31),
        _ => None,
    };
    let unsigned = i.types.iter().all(|t| t.class() != Class::Signed);
    let n = match i.entry.opcode {
        "and" => imm("b").into_iter().chain(source("a")).min()?,
        "shr" if unsigned => imm("b").filter(|k| *k < 32).map(|k| 0xFFFF_FFFF >> k)?,
        "rem" if unsigned => imm("b")?.checked_sub(1)?,
        "mov" => source("a")?,
        _ => return None,
    };
    (n < 1 << 31).then_some(n)
}
