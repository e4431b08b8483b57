//! What crosses the borders of regions, and how it is kept: a register whose lanes lie in rows is one number a row in the
//! warp's state, everything else 32 lanes.
//!
//! Fragments of a warp share its state, so a number for all lanes is right only if no other fragment can come by and change
//! it: a branch at which lanes part must not have a definition of the register on one way and a mention on the other. Ways
//! end at a `bar.sync` that they all meet first: nobody passes it before everybody has come. What is read behind it is
//! mentioned there.

use super::lives::{Crossing, Lives};
use super::mentions::{Key, addresses, facts, mentions};
use super::native::{COMMON, LANES, Shape, UNIFORM};
use super::parting::{Partings, zones};
use super::regions::{End, Item, Program, Region, ends_as_one, falling_round, successors};
use super::{Emit, function_of};
use crate::roles::{carry_use, read_by, written, written_by};
use ptx_dsl_isa::hir::{Arg, Base, FuncId, Instr, Operand};
use ptx_dsl_isa::isa::Host;
use std::collections::{BTreeMap, BTreeSet};

/// The answer.
#[derive(Default)]
pub struct Classes {
    /// Registers that are kept as rows.
    pub rows: BTreeMap<Key, Shape>,
    /// Registers that are kept as lanes, and as rows with the word whether they are such.
    pub hints: BTreeMap<Key, Shape>,
    /// Registers that are read after each region and from each on; everything, if there are calls.
    lives: Lives,
    pub all_live: bool,
    /// Nothing is read before it is written.
    pub fresh: bool,
    /// Regions that begin loops which lanes run one by one.
    pub alone: BTreeSet<usize>,
    /// Regions at the end of which lanes may part, in ascending order.
    pub parting: Vec<usize>,
    /// Regions in which the lanes of a warp may have parted: from where they part to where all their ways meet again.
    pub parted: Vec<bool>,
}

impl Classes {
    /// How a register lies in the warp's state.
    pub fn shape(&self, k: &Key) -> Shape {
        self.rows.get(k).copied().unwrap_or(LANES)
    }

    /// How a register lies that is read.
    pub fn seen(&self, k: &Key) -> Shape {
        self.hints.get(k).copied().unwrap_or_else(|| self.shape(k))
    }

    pub fn reads(&self, region: usize, k: &Key) -> bool {
        self.all_live || self.lives.before(region, k)
    }

    pub fn lives(&self, region: usize, k: &Key) -> bool {
        self.all_live || self.lives.after(region, k)
    }
}

/// Shapes of what a region sets; `None` where that is not known yet.
type Env = BTreeMap<Key, Option<Shape>>;

struct Analysis<'a, 'm> {
    e: &'a Emit<'m>,
    p: &'a Program<'m>,
    rows: BTreeMap<Key, Shape>,
    lanes: BTreeSet<Key>,
    /// Those that can be kept with a condition: addresses that only plain instructions set.
    hinted: BTreeSet<Key>,
    /// Those that warps of a cohort may hold different values of.
    apart: BTreeSet<Key>,
}

impl Analysis<'_, '_> {
    /// `None`: nothing is known yet.
    fn register(&self, env: &Env, k: Key) -> Option<Shape> {
        match env.get(&k) {
            Some(Some(s)) => Some(*s),
            _ if self.lanes.contains(&k) => Some(LANES),
            _ => self.rows.get(&k).copied(),
        }
    }

    fn operand(&self, env: &Env, f: FuncId, o: &Operand) -> Option<Shape> {
        match o {
            Operand::Reg(r, e) => self.register(env, (f.0, r.0, *e)),
            Operand::NotReg(r) | Operand::Address(Base::Reg(r), _) => self.register(env, (f.0, r.0, 0)),
            _ => Some(self.e.constant_shape(f, o)),
        }
    }

    /// Goes through all regions until nothing is new.
    fn regions(&mut self, lives: &Lives) -> Vec<Env> {
        self.rows = BTreeMap::new();
        loop {
            let (mut envs, mut changed) = (Vec::new(), false);
            for r in 0..self.p.regions.len() {
                let (new, env) = self.region(r, lives);
                changed |= new;
                envs.push(env);
            }
            if !changed {
                return envs;
            }
        }
    }

    /// Goes through a region. Does it show anything new?
    fn region(&mut self, r: usize, lives: &Lives) -> (bool, Env) {
        let region = &self.p.regions[r];
        let f = region.func;
        let mut walk = Walk::default();
        for item in &region.body {
            match item {
                Item::Instr(i) => {
                    let shape = self.e.result_shape(f, i, &mut |o| self.operand(&walk.env, f, o));
                    walk.set(&mentions(f, i).1, shape);
                }
                Item::If(_) => walk.inside.push(BTreeMap::new()),
                Item::Else => walk.other(),
                Item::End(read) => walk.end(read),
            }
        }
        if let End::Block { instr, .. } = &region.end {
            let shape = self.e.waited_shape(instr, &mut |o| self.operand(&walk.env, f, o));
            walk.set(&mentions(f, instr).1, shape);
        }
        let mut changed = false;
        for (k, s) in &walk.env {
            if let Some(s) = s
                && lives.after(r, k)
            {
                changed |= self.learn(*k, *s);
            }
        }
        (changed, walk.env)
    }

    /// A register that may have this shape. Is that new?
    fn learn(&mut self, k: Key, s: Shape) -> bool {
        if self.lanes.contains(&k) {
            return false;
        }
        let old = self.rows.get(&k).copied();
        let mut joined = match old {
            Some(old) => old.join(s),
            None if s.guard == 0 => s,
            None if self.hinted.contains(&k) => Shape { guard: 1, ..s },
            None => LANES,
        };
        joined.common &= !self.apart.contains(&k);
        if !joined.rows() {
            self.lanes.insert(k);
            self.rows.remove(&k);
            return true;
        }
        self.rows.insert(k, joined);
        !matches!(old, Some(old) if old.is(joined))
    }

    /// Rows of these that are wanted become lanes.
    fn keep_as_lanes(&mut self, registers: &BTreeSet<Key>, wanted: fn(&Shape) -> bool) {
        for k in registers {
            if self.rows.get(k).is_some_and(wanted) {
                self.lanes.insert(*k);
            }
        }
    }

    /// What these have in common may differ from warp to warp.
    fn keep_apart(&mut self, registers: &BTreeSet<Key>) {
        for k in registers {
            if matches!(self.rows.get(k), Some(s) if s.common) {
                self.apart.insert(*k);
            }
        }
    }

    /// Regions at the end of which lanes may part, in ascending order.
    fn partings(&self, envs: &[Env]) -> Vec<usize> {
        let mut parting = Vec::new();
        for (r, region) in self.p.regions.iter().enumerate() {
            let may = match &region.end {
                End::Branch { pred, .. } => self.operand(&envs[r], region.func, &pred.0) != Some(UNIFORM),
                End::Switch { .. } => true,
                _ => false,
            };
            if may && !ends_as_one(self.p, r) {
                parting.push(r);
            }
        }
        parting
    }

    /// Regions at the end of which warps part and may meet again.
    fn ways_of_warps(&self, next: &[Vec<usize>], envs: &[Env]) -> Vec<usize> {
        let regions = &self.p.regions;
        // straight to the end
        let mut ends = vec![false; regions.len()];
        for r in (0..regions.len()).rev() {
            ends[r] = match regions[r].end {
                End::Exit => true,
                End::Goto(to) => to > r && ends[to],
                _ => false,
            };
        }
        let mut ways = Vec::new();
        for (r, region) in regions.iter().enumerate() {
            let part = match &region.end {
                End::Branch { pred, .. } => {
                    let shape = self.operand(&envs[r], region.func, &pred.0);
                    let together = matches!(shape, Some(s) if s.common);
                    let mut ways = 0;
                    for s in &next[r] {
                        ways += u32::from(!ends[*s]);
                    }
                    !together && ways > 1
                }
                End::Switch { .. } => true,
                _ => false,
            };
            if part {
                ways.push(r);
            }
        }
        ways
    }
}

/// A region while it is gone through.
#[derive(Default)]
struct Walk {
    env: Env,
    /// What was known of registers before each open condition changed them.
    inside: Vec<BTreeMap<Key, Option<Option<Shape>>>>,
}

impl Walk {
    fn set(&mut self, registers: &[Key], shape: Option<Shape>) {
        for k in registers {
            let was = self.env.insert(*k, shape);
            if let Some(inside) = self.inside.last_mut() {
                inside.entry(*k).or_insert(was);
            }
        }
    }

    /// The other way of a condition.
    fn other(&mut self) {
        if let Some(inside) = self.inside.last() {
            for (k, was) in inside {
                restore(&mut self.env, *k, *was);
            }
        }
    }

    /// The end of a condition, behind which these are read.
    fn end(&mut self, read: &BTreeSet<Key>) {
        let Some(inside) = self.inside.pop() else { return };
        for (k, was) in &inside {
            restore(&mut self.env, *k, *was);
            if read.contains(k) {
                self.set(&[*k], Some(LANES));
            }
        }
    }
}

fn restore(env: &mut Env, k: Key, was: Option<Option<Shape>>) {
    match was {
        Some(shape) => env.insert(k, shape),
        None => env.remove(&k),
    };
}

/// The number of the barrier, if it is for all threads of the CTA.
pub fn whole_barrier(instr: &Instr) -> Option<u32> {
    let function = function_of(instr.entry.opcode, instr);
    if !matches!(function.as_str(), "bar_sync" | "barrier_sync") || instr.pred.is_some() {
        return None;
    }
    match instr.operands.as_slice() {
        [Arg { value: Operand::Imm(id @ 0..=15), .. }] => Some(*id as u32),
        _ => None,
    }
}

impl<'m> Emit<'m> {
    /// Classifies the registers of a program.
    pub fn classify(&self, p: &Program<'m>) -> Classes {
        let next = (0..p.regions.len()).map(|r| successors(p, r)).collect::<Vec<_>>();
        if p.funcs.len() > 1 {
            return Classes { all_live: true, parted: vec![true; p.regions.len()], ..Classes::default() };
        }
        let facts = facts(p);
        let lives = Lives::new(&next, Crossing::new(&facts.uses, &facts.defs));
        let partings = Partings::new(p, &next);
        let entry = lives.at_start();
        let mut falls = Vec::new();
        for r in 0..p.regions.len() {
            if let Some(list) = falling_round(p, r) {
                falls.push(list);
            }
        }
        let fresh = entry.is_empty();
        let mut a =
            Analysis { e: self, p, rows: BTreeMap::new(), lanes: entry, hinted: addresses(p), apart: BTreeSet::new() };
        // a warp that asks for a phase goes on by itself, so that warps that have come round differently meet without being asked
        let asks = |r: &Region<'_>| matches!(&r.end, End::Block { instr, .. } if instr.has(".parity"));
        let alike = !p.regions.iter().any(asks);
        let mut alone = BTreeSet::new();
        let (parting, parted) = loop {
            let envs = a.regions(&lives);
            let parting = a.partings(&envs);
            let before = (a.lanes.len(), a.apart.len());
            a.lanes.extend(partings.lanes(&next, &parting, &lives, &a.rows));
            let parted = zones(&next, &parting);
            for list in &falls {
                let at = list[0];
                if parted[at] && (alone.contains(&at) || self.better_alone(p, list, &parting, &a, &envs)) {
                    alone.insert(at);
                    // every lane has its own
                    for r in list {
                        a.keep_as_lanes(&facts.defs[*r], |_| true);
                    }
                }
            }
            // Warps of a cohort differ in what one of them sets by itself. What they set while they are apart they could differ in
            // for long, and would not meet.
            let away = zones(&next, &a.ways_of_warps(&next, &envs));
            for (r, defs) in facts.defs.iter().enumerate() {
                if !alike || parted[r] || away[r] {
                    a.keep_apart(defs);
                }
                if parted[r] {
                    a.keep_as_lanes(defs, |s| s.guard > 0);
                }
            }
            if before == (a.lanes.len(), a.apart.len()) {
                break (parting, parted);
            }
        };
        let (mut hints, mut rows) = (BTreeMap::new(), BTreeMap::new());
        for (k, s) in &a.rows {
            let kept = if s.guard > 0 { &mut hints } else { &mut rows };
            kept.insert(*k, *s);
        }
        Classes { rows, hints, lives, all_live: false, fresh, alone, parting, parted }
    }

    /// Are these regions, a loop, better run lane by lane? Such that have more to do with memory, in no order, than to compute.
    fn better_alone(
        &self,
        p: &Program<'m>,
        list: &[usize],
        parting: &[usize],
        a: &Analysis<'_, 'm>,
        envs: &[Env],
    ) -> bool {
        let (mut scattered, mut other) = (0, 0);
        for r in list {
            let region = &p.regions[*r];
            let f = region.func;
            for i in region.instructions() {
                match self.lane_alone(f, i) {
                    None => return false,
                    Some(false) => other += self.weight(i),
                    // additions are one lane after the other either way
                    Some(true) if i.entry.opcode == "red" => {}
                    Some(true) => {
                        for o in &i.operands {
                            if matches!(o.value, Operand::Address(..)) {
                                let shape = a.operand(&envs[*r], f, &o.value);
                                scattered += u32::from(matches!(shape, Some(s) if !s.rows()));
                            }
                        }
                    }
                }
            }
        }
        scattered > 0 && other <= 8 * scattered && list.iter().any(|r| parting.binary_search(r).is_ok())
    }

    /// How the value of an operand lies that is no register.
    pub fn constant_shape(&self, f: FuncId, o: &Operand) -> Shape {
        match o {
            Operand::Imm(v) => Shape::constant(*v),
            Operand::FuncAddr(_) | Operand::Address(Base::Abs, _) => COMMON,
            Operand::VarAddr(v, _) | Operand::Address(Base::Var(v), _) if self.moves_with_frame(f, *v) => LANES,
            Operand::VarAddr(v, o) => Shape::constant(self.var_address(*v, *o)),
            Operand::Address(Base::Var(_), _) => UNIFORM,
            Operand::Sreg(name) => {
                let shape = self.sreg_shape(name);
                Shape { common: shape == UNIFORM && self.of_the_cta(name), ..shape }
            }
            _ => LANES,
        }
    }

    /// How the result of an instruction lies. `None` if an operand is not known yet.
    pub fn result_shape(
        &self,
        f: FuncId,
        i: &Instr,
        operand: &mut dyn FnMut(&Operand) -> Option<Shape>,
    ) -> Option<Shape> {
        if let Some(shape) = self.shape_of_one(i, operand) {
            return shape;
        }
        if i.pred.is_some() {
            return Some(LANES);
        }
        let mut sources = Vec::new();
        for a in read_by(i) {
            let constant = if let Operand::Imm(v) = a.value { Some(v) } else { None };
            sources.push((operand(&a.value), constant));
        }
        let one =
            written_by(i).len() == 1 && i.operands.iter().any(|a| written(a) && matches!(a.value, Operand::Reg(..)));
        let lanes = sources.iter().any(|(s, _)| s.is_some_and(|s| !s.rows()));
        if !one || lanes {
            return Some(LANES);
        }
        if i.entry.opcode == "ld" {
            let Some(Some(s)) = sources.first().map(|s| s.0) else { return None };
            let same = self.loads_rows(f, i) && s.rows() && s.stride == 0 && s.guard == 0;
            let parameter = match i.operands.get(1).map(|a| &a.value) {
                Some(Operand::Address(base, at)) => self.parameter(i, *base, *at).is_some(),
                _ => false,
            };
            return Some(if same { Shape { twos: 0, common: parameter, ..s } } else { LANES });
        }
        let native = self.native(f, i);
        if native.is_none() && i.entry.host != Host::Lane {
            return Some(LANES);
        }
        if carry_use(i) != (false, false) {
            return Some(LANES);
        }
        let mut known = Vec::new();
        for (s, c) in &sources {
            known.push(((*s)?, *c));
        }
        Some(match native {
            Some(n) => n.shape(&known),
            None => {
                let plain = super::native::even(&known) && self.small_result(f, i);
                let p = super::native::least(&known);
                if plain && (p == 32 || !self.predicate_result(f, i)) { Shape { p, ..UNIFORM } } else { LANES }
            }
        })
    }

    fn predicate_result(&self, f: FuncId, i: &Instr) -> bool {
        i.operands.iter().any(|a| written(a) && matches!(a.value, Operand::Reg(r, _) if self.reg_bits(f, r) == 1))
    }

    /// One register of at most 64 bits, and no source that is wider.
    fn small_result(&self, f: FuncId, i: &Instr) -> bool {
        i.operands.iter().all(|a| match &a.value {
            Operand::Reg(r, _) => self.reg_bits(f, *r) <= 64,
            Operand::Vector(_) | Operand::Pair(..) | Operand::Addresses(_) | Operand::List(_) => false,
            _ => true,
        })
    }

    /// A load whose lanes are equal where their addresses are.
    fn loads_rows(&self, f: FuncId, i: &Instr) -> bool {
        let space = i.has_any(&[".global", ".shared", ".shared::cta", ".shared::cluster", ".const", ".param::entry"])
            || (i.has(".param") && self.param_space(i) == Some("param_entry"));
        space && self.simple_access(f, i) == Some(1)
    }
}
