//! Is there one way through the graph from here to there on which the predicates agree with each other? Rules that speak of
//! some path ask here, so that code which chooses twice by the same condition is not taken for a mistake.

use super::Flow;
use super::cfg::NONE;
use super::lanes::{Fact, Lanes};
use super::ssa::{PLACED, UNDEF, Val, Value};
use ptx_dsl_table::hir::{Base, Instr, Operand};
use ptx_dsl_table::list::List;
use ptx_dsl_table::ty::Class;

/// What the search does at an instruction that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Goes on.
    Go,
    /// This way ends here.
    Stop,
    /// This is what was looked for.
    Found,
}

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hit {
    pub at: u32,
    /// No condition had to be guessed on the way.
    pub certain: bool,
}

/// A condition: a predicate, or what it compares; so that two comparisons of the same numbers are one condition.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Condition {
    Value(Val),
    /// Integers of so many bits.
    Compare(&'static str, u32, Key, Key),
    /// Anything else, by its qualifiers: whether its opposite is the opposite comparison is not known.
    Same(String, Key, Key),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Value(Val),
    Number(u64),
    Special(&'static str),
}

/// Conjunction, the predicates with whether each stands as it is, whether these are all.
type Parts = (bool, Vec<(Val, bool)>, bool);

/// What numbers are made from: parameters and special registers by name, else the instruction that brings them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Root {
    Instr(u32),
    Param(u32, i64),
    Special(&'static str),
    /// Too much to follow.
    Unknown,
}

/// One way so far.
#[derive(Clone)]
struct Way {
    block: u32,
    at: u32,
    /// Conditions that hold or do not.
    holds: Vec<(Condition, bool)>,
    /// Values that are a constant on this way.
    numbers: Vec<(Val, u64)>,
    /// What the conditions that were guessed are made of.
    roots: Vec<Root>,
    certain: bool,
}

/// The search, with a budget for all questions about one function together.
pub(super) struct Paths<'a, 'h> {
    flow: &'a Flow<'h>,
    lanes: &'a Lanes,
    budget: usize,
    /// Values joined at the start of each block.
    phis: Vec<Vec<Val>>,
    /// What was known before at the start of each block, while one question is asked.
    seen: Vec<Vec<Way>>,
    /// Conditions on these values are not guessed: what may depend on what is asked about.
    pub no_guess: Option<&'a dyn Fn(Val) -> bool>,
}

/// Instructions looked at for one question, and for all.
const ONE: usize = 20_000;
const ALL: usize = 200_000;

impl<'a, 'h> Paths<'a, 'h> {
    pub(super) fn new(flow: &'a Flow<'h>, lanes: &'a Lanes) -> Paths<'a, 'h> {
        let blocks = flow.cfg.blocks.len();
        let mut phis: Vec<Vec<Val>> = vec![Vec::new(); blocks];
        for (v, value) in flow.ssa.values.iter().enumerate() {
            if let Value::Phi { block, .. } = value {
                phis[*block as usize].push(v as Val);
            }
        }
        Paths { flow, lanes, budget: ALL, phis, seen: vec![Vec::new(); blocks], no_guess: None }
    }

    /// From the start of the kernel.
    pub(super) fn at_entry(&mut self, visit: &mut dyn FnMut(u32, &Instr) -> Step) -> Option<Hit> {
        let block = *self.flow.cfg.rpo.first()?;
        let at = self.flow.cfg.range(block).start;
        self.search(Way { block, at, holds: Vec::new(), numbers: Vec::new(), roots: Vec::new(), certain: true }, visit)
    }

    /// From behind an instruction, where this predicate is known.
    pub(super) fn behind(
        &mut self,
        block: u32,
        at: u32,
        known: Option<(Val, bool)>,
        visit: &mut dyn FnMut(u32, &Instr) -> Step,
    ) -> Option<Hit> {
        let mut way =
            Way { block, at: at + 1, holds: Vec::new(), numbers: Vec::new(), roots: Vec::new(), certain: true };
        if let Some((p, is)) = known {
            self.assume(&mut way, p, is, 0);
        }
        if let Some((p, is)) = self.flow.ssa.guard(at, self.flow.cfg.instrs[at as usize]) {
            self.assume(&mut way, p, is, 0);
        }
        self.search(way, visit)
    }

    fn search(&mut self, start: Way, visit: &mut dyn FnMut(u32, &Instr) -> Step) -> Option<Hit> {
        let mut entered = Vec::new();
        let hit = self.follow(start, &mut entered, visit);
        entered.into_iter().for_each(|b: u32| self.seen[b as usize].clear());
        hit
    }

    /// Notes the blocks whose `seen` it filled.
    fn follow(
        &mut self,
        start: Way,
        entered: &mut Vec<u32>,
        visit: &mut dyn FnMut(u32, &Instr) -> Step,
    ) -> Option<Hit> {
        let cfg = &self.flow.cfg;
        let mut budget = ONE.min(self.budget);
        let mut stack = vec![start];
        'ways: while let Some(mut way) = stack.pop() {
            let end = cfg.range(way.block).end;
            while way.at < end {
                let at = way.at;
                let i = cfg.instrs[at as usize];
                if budget == 0 {
                    break 'ways;
                }
                budget -= 1;
                self.budget -= 1;
                let step = visit(at, i);
                let guard = self.flow.ssa.guard(at, i).filter(|_| step != Step::Go);
                let runs = guard.map_or(Some(true), |(p, is)| self.known(&way, p, 0).map(|v| v == is));
                match (step, runs) {
                    (Step::Found, Some(true)) => return Some(Hit { at, certain: way.certain }),
                    (Step::Found, None) => {
                        let certain = way.certain;
                        if guard.is_some_and(|(p, is)| self.guess(&mut way.clone(), p, is)) {
                            return Some(Hit { at, certain });
                        }
                    }
                    (Step::Stop, Some(true)) => continue 'ways,
                    (Step::Stop, None) => {
                        let Some((p, is)) = guard else { continue 'ways };
                        if !self.guess(&mut way, p, !is) {
                            continue 'ways;
                        }
                    }
                    _ => {}
                }
                // What is written anew is not what was known.
                for (_, v) in self.flow.ssa.defs(at) {
                    self.forget(&mut way, *v);
                }
                way.at += 1;
            }
            if way.block == cfg.exit {
                continue;
            }
            let branch = cfg.branch(way.block).map(|i| (i, cfg.instrs[i as usize]));
            let guard = branch.and_then(|(at, i)| self.flow.ssa.guard(at, i));
            let value = guard.and_then(|(p, _)| self.known(&way, p, 0));
            for (n, e) in cfg.blocks[way.block as usize].succ.iter().enumerate() {
                let mut next = way.clone();
                match (guard, e.when, value) {
                    (Some(_), Some(when), Some(v)) if v != when => continue,
                    (Some((p, _)), Some(when), None) if !self.guess(&mut next, p, when) => continue,
                    (None, _, _) if branch.is_some() => next.certain = false,
                    _ => {}
                }
                self.enter(&mut next, way.block, n as u32, e.to);
                next.block = e.to;
                next.at = cfg.range(e.to).start;
                entered.push(e.to);
                let been = &mut self.seen[e.to as usize];
                // A way that knows no more than one before adds nothing.
                let old = been.iter().any(|o| {
                    o.certain >= next.certain
                        && o.holds.iter().all(|h| next.holds.contains(h))
                        && o.numbers.iter().all(|h| next.numbers.contains(h))
                });
                if !old && been.len() < 24 {
                    been.push(next.clone());
                    stack.push(next);
                }
            }
        }
        None
    }

    /// Joins of the block that is entered: constants are known by the way.
    fn enter(&self, way: &mut Way, from: u32, edge: u32, to: u32) {
        let phis = &self.phis[to as usize];
        let pred = &self.flow.cfg.blocks[to as usize].pred;
        let pred = if pred.len() <= PLACED { pred.iter().position(|p| *p == (from, edge)) } else { None };
        let mut new = Vec::new();
        for &v in phis {
            let Value::Phi { args, .. } = &self.flow.ssa.values[v as usize] else { continue };
            let arg = pred.and_then(|k| args.get(k));
            new.push((v, arg.and_then(|a| self.number(way, *a, 0))));
        }
        for (v, n) in new {
            self.forget(way, v);
            way.numbers.extend(n.map(|n| (v, n)));
        }
    }

    fn forget(&self, way: &mut Way, v: Val) {
        if way.holds.is_empty() && way.numbers.is_empty() {
            return;
        }
        let of = |k: &Key| *k == Key::Value(v);
        way.holds.retain(|(c, _)| match c {
            Condition::Value(x) => *x != v,
            Condition::Compare(_, _, a, b) | Condition::Same(_, a, b) => !of(a) && !of(b),
        });
        way.numbers.retain(|(x, _)| *x != v);
    }

    fn guess(&self, way: &mut Way, p: Val, is: bool) -> bool {
        if self.no_guess.is_some_and(|f| f(p)) {
            return false;
        }
        // Two conditions made of the same numbers may exclude each other in ways that are not seen here.
        let roots = self.roots(p);
        let unclear = |r: &Root| *r == Root::Unknown;
        let clash = roots.iter().any(|r| way.roots.contains(r) || (unclear(r) && !way.roots.is_empty()));
        if clash || way.roots.iter().any(unclear) {
            return false;
        }
        way.roots.extend(roots);
        way.certain = false;
        self.assume(way, p, is, 0);
        true
    }

    fn roots(&self, p: Val) -> Vec<Root> {
        let ssa = &self.flow.ssa;
        let mut out = Vec::new();
        let mut seen = Vec::new();
        let mut stack = vec![p];
        while let Some(v) = stack.pop() {
            let v = ssa.origin.get(v as usize).copied().unwrap_or(v);
            if seen.contains(&v) {
                continue;
            }
            if seen.len() >= 48 {
                return vec![Root::Unknown];
            }
            seen.push(v);
            match ssa.values.get(v as usize) {
                Some(Value::Def { instr, old, .. }) => {
                    stack.extend(old);
                    let i = self.flow.cfg.instrs[*instr as usize];
                    let address = i.address().map(|a| &a.value);
                    match (i.entry.opcode, address) {
                        ("ld", Some(Operand::Address(Base::Var(var), o))) if i.has(".param") => {
                            out.push(Root::Param(var.0, *o));
                        }
                        (_, Some(_)) => out.push(Root::Instr(*instr)),
                        _ => {
                            let special = |a: &ptx_dsl_table::hir::Arg| match a.value {
                                Operand::Sreg(name) => Some(Root::Special(name)),
                                _ => None,
                            };
                            out.extend(i.operands.iter().filter_map(special));
                            if ssa.uses(*instr).is_empty() && !i.operands.iter().any(|a| special(a).is_some()) {
                                out.push(Root::Instr(*instr));
                            }
                            stack.extend(ssa.uses(*instr).iter().map(|u| u.1));
                        }
                    }
                }
                Some(Value::Phi { args, .. }) => stack.extend(args),
                Some(Value::Param) => out.push(Root::Instr(NONE - 1 - v)),
                _ => {}
            }
        }
        out
    }

    fn assume(&self, way: &mut Way, p: Val, is: bool, depth: u32) {
        let (condition, positive) = self.condition(p, 0);
        if let Condition::Value(v) = condition
            && depth < 4
            && let Some((and, parts, _)) = self.parts(v)
            && (positive == is) == and
        {
            for (u, as_is) in parts {
                self.assume(way, u, and == as_is, depth + 1);
            }
        }
        way.holds.push((condition, is == positive));
    }

    /// The predicates that one is the conjunction (`true`) or disjunction of, each as it is or negated, and whether that is all.
    fn parts(&self, v: Val) -> Option<Parts> {
        let maker = self.flow.ssa.maker(v)?;
        let i = self.flow.cfg.instrs[maker as usize];
        let of = |o: &Operand| match o {
            Operand::Reg(r, lane) => Some((self.flow.ssa.read(maker, *r, *lane), true)),
            Operand::NotReg(r) => Some((self.flow.ssa.read(maker, *r, 0), false)),
            _ => None,
        };
        match i.entry.opcode {
            "and" | "or" if i.has(".pred") => {
                let list = ["a", "b"].iter().filter_map(|n| of(&i.operand(n)?.value)).list();
                Some((i.entry.opcode == "and", list, true))
            }
            "setp" if matches!(i.operands.first()?.value, Operand::Reg(..)) && (i.has(".and") || i.has(".or")) => {
                Some((i.has(".and"), vec![of(&i.operand("c")?.value)?], false))
            }
            _ => None,
        }
    }

    /// What a predicate is on this way.
    fn known(&self, way: &Way, p: Val, depth: u32) -> Option<bool> {
        if let Some(Fact::Const(n)) = self.lanes.facts.get(p as usize) {
            return Some(*n != 0);
        }
        if let Some(n) = self.number(way, p, depth) {
            return Some(n != 0);
        }
        let (condition, positive) = self.condition(p, 0);
        if let Some((_, is)) = way.holds.iter().rev().find(|(c, _)| *c == condition) {
            return Some(*is == positive);
        }
        if depth >= 4 {
            return None;
        }
        let v = match condition {
            Condition::Value(v) => v,
            // Numbers that are known on this way.
            Condition::Same(..) => return None,
            Condition::Compare(op, bits, a, b) => {
                let of = |k: &Key| match k {
                    Key::Value(v) => self.number(way, *v, depth + 1),
                    Key::Number(n) => Some(*n),
                    Key::Special(_) => None,
                };
                let unused = 64 - bits.clamp(1, 64);
                let (x, y) = (of(&a)? << unused, of(&b)? << unused);
                let is = match op {
                    "eq" => x == y,
                    "lo" => x < y,
                    "ls" => x <= y,
                    "lt" => (x as i64) < y as i64,
                    _ => x as i64 <= y as i64,
                };
                return Some(is == positive);
            }
        };
        let (and, parts, all) = self.parts(v)?;
        let mut every = all;
        for (u, as_is) in parts {
            let is = self.known(way, u, depth + 1).map(|v| v == as_is);
            if is == Some(!and) {
                return Some(and != positive);
            }
            every &= is == Some(and);
        }
        every.then_some(and == positive)
    }

    /// A value that is a constant on this way.
    fn number(&self, way: &Way, v: Val, depth: u32) -> Option<u64> {
        if let Some(Fact::Const(n)) = self.lanes.facts.get(v as usize) {
            return Some(*n);
        }
        if let Some((_, n)) = way.numbers.iter().find(|n| n.0 == v) {
            return Some(*n);
        }
        let o = *self.flow.ssa.origin.get(v as usize)?;
        if o != v {
            return self.number(way, o, depth);
        }
        if depth >= 4 {
            return None;
        }
        let Some(Value::Def { instr, old, .. }) = self.flow.ssa.values.get(v as usize) else { return None };
        let i = self.flow.cfg.instrs[*instr as usize];
        let of = |o: Option<&ptx_dsl_table::hir::Arg>| match &o?.value {
            Operand::Imm(n) => Some(*n),
            Operand::Reg(r, lane) => self.number(way, self.flow.ssa.read(*instr, *r, *lane), depth + 1),
            _ => None,
        };
        if let Some(old) = old {
            let (p, is) = self.flow.ssa.guard(*instr, i)?;
            let runs = self.known(way, p, depth + 1)? == is;
            return if runs {
                of(i.operand("a")).filter(|_| i.entry.opcode == "mov")
            } else {
                self.number(way, *old, depth + 1)
            };
        }
        match i.entry.opcode {
            "mov" => of(i.operand("a")),
            "add" | "sub" | "xor"
                if i.types.len() == 1 && i.types[0].bits() == 32 && !i.has(".cc") && !i.has(".sat") =>
            {
                let (a, b) = (of(i.operand("a"))? as u32, of(i.operand("b"))? as u32);
                Some(u64::from(match i.entry.opcode {
                    "add" => a.wrapping_add(b),
                    "sub" => a.wrapping_sub(b),
                    _ => a ^ b,
                }))
            }
            "selp" => {
                let Operand::Reg(r, lane) = i.operand("c")?.value else { return None };
                let p = self.known(way, self.flow.ssa.read(*instr, r, lane), depth + 1)?;
                of(i.operand(if p { "a" } else { "b" }))
            }
            _ => None,
        }
    }

    /// The condition that a predicate stands for, and whether it is that or its opposite.
    fn condition(&self, p: Val, depth: u32) -> (Condition, bool) {
        let v = self.flow.ssa.origin.get(p as usize).copied().unwrap_or(p);
        let plain = (Condition::Value(v), true);
        let Some(maker) = self.flow.ssa.maker(v).filter(|_| depth < 8) else { return plain };
        let i = self.flow.cfg.instrs[maker as usize];
        let source = |name: &str| match i.operand(name).map(|a| &a.value) {
            Some(Operand::Reg(r, lane)) => Some(self.flow.ssa.read(maker, *r, *lane)),
            _ => None,
        };
        match i.entry.opcode {
            "not" if i.has(".pred") => match source("a") {
                Some(a) => {
                    let (c, is) = self.condition(a, depth + 1);
                    (c, !is)
                }
                None => plain,
            },
            "mov" if i.has(".pred") => source("a").map_or(plain, |a| self.condition(a, depth + 1)),
            "setp" => self.comparison(maker, i).unwrap_or(plain),
            _ => plain,
        }
    }

    fn comparison(&self, at: u32, i: &Instr) -> Option<(Condition, bool)> {
        let ty = i.types.last()?;
        let single = matches!(i.operands.first()?.value, Operand::Reg(..)) && i.operands.len() == 3;
        if !single {
            return None;
        }
        let bits = ty.bits();
        let mask = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
        let key = |name: &str| {
            Some(match &i.operand(name)?.value {
                Operand::Imm(n) => Key::Number(*n & mask),
                Operand::Reg(r, lane) => {
                    let v = self.flow.ssa.read(at, *r, *lane);
                    match self.lanes.facts.get(v as usize) {
                        Some(Fact::Const(n)) => Key::Number(*n & mask),
                        _ => Key::Value(self.flow.ssa.origin[v as usize]),
                    }
                }
                Operand::Sreg(name) if !name.contains("clock") && !name.contains("globaltimer") => Key::Special(name),
                _ => return None,
            })
        };
        let (a, b) = (key("a")?, key("b")?);
        if !matches!(ty.class(), Class::Bits | Class::Unsigned | Class::Signed) || bits > 64 {
            return Some((Condition::Same(i.quals.concat(), a, b), true));
        }
        let signed = ty.class() == Class::Signed;
        let word = i.quals.iter().find_map(|q| {
            ["eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"].into_iter().find(|w| q[1..] == **w)
        })?;
        let (op, is) = match (word, signed) {
            ("eq", _) => ("eq", true),
            ("ne", _) => ("eq", false),
            ("lt", true) => ("lt", true),
            ("ge", true) => ("lt", false),
            ("le", true) => ("le", true),
            ("gt", true) => ("le", false),
            ("lt" | "lo", _) => ("lo", true),
            ("ge" | "hs", _) => ("lo", false),
            ("le" | "ls", _) => ("ls", true),
            _ => ("ls", false),
        };
        Some((Condition::Compare(op, bits, a, b), is))
    }
}

/// Values that some path leaves unwritten.
pub(super) fn perhaps_unwritten(flow: &Flow) -> Vec<bool> {
    let found = flow.ssa.solve(false, &mut |v, value, facts| match value {
        Value::Undef => v == UNDEF,
        Value::Param => false,
        Value::Phi { args, .. } => args.iter().any(|a| facts[*a as usize]),
        Value::Def { old, .. } => old.is_some_and(|o| facts[o as usize]),
    });
    found.unwrap_or_default()
}
