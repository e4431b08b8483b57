//! What crosses the borders of regions, and how it is kept: a register whose lanes lie in rows is one number a row in the
//! warp's state, everything else 32 lanes.
//!
//! Fragments of a warp share its state, so a number for all lanes is right only if no other fragment can come by and change
//! it: a branch at which lanes part must not have a definition of the register on one way and a mention on the other. Ways
//! end at a `bar.sync` that they all meet first: nobody passes it before everybody has come. What is read behind it is
//! mentioned there.

use super::lives::{Crossing, Lives};
use super::native::{COMMON, LANES, Shape, UNIFORM};
use super::parting::{Partings, zones};
use super::regions::{End, Item, Program, Region, ends_as_one, falling_round, successors};
use super::{Emit, function_of};
use crate::roles::{carry_use, read_by, written, written_by};
use crate::sorted::{Map, Set};
use ptx_dsl_table::hir::{Arg, Base, FuncId, Instr, Operand};
use ptx_dsl_table::isa::Host;
use ptx_dsl_table::list::List;

/// Function, register, element.
pub type Key = (u32, u32, u32);

/// The register number that stands for the condition code.
pub const CARRY: u32 = u32::MAX;

/// The answer.
#[derive(Default)]
pub struct Classes {
    /// Registers that are kept as rows.
    pub rows: Map<Key, Shape>,
    /// Registers that are kept as lanes, and as rows with the word whether they are such.
    pub hints: Map<Key, Shape>,
    /// Registers that are read after each region and from each on; everything, if there are calls.
    lives: Lives,
    pub all_live: bool,
    /// Nothing is read before it is written.
    pub fresh: bool,
    /// Regions that begin loops which lanes run one by one.
    pub alone: Set<usize>,
    /// Regions at the end of which lanes may part.
    pub parting: Set<usize>,
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

/// Registers of an operand.
pub fn registers(f: FuncId, o: &Operand, out: &mut Vec<Key>) {
    match o {
        Operand::Reg(r, e) => out.push((f.0, r.0, *e)),
        Operand::NotReg(r) | Operand::Select(r, _) | Operand::Address(Base::Reg(r), _) => out.push((f.0, r.0, 0)),
        Operand::Vector(list) | Operand::Addresses(list) | Operand::List(list) => {
            list.iter().for_each(|o| registers(f, o, out));
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
    if let Some((p, _)) = &i.pred {
        registers(f, p, &mut uses);
        // under a predicate the old value may stay
        uses.extend(defs.iter().copied());
    }
    let (reads, writes) = carry_use(i);
    if reads {
        uses.push((f.0, CARRY, 0));
    }
    if writes {
        defs.push((f.0, CARRY, 0));
    }
    (uses, defs)
}

struct Facts {
    /// Read before it is written, and written, by region.
    uses: Vec<Set<Key>>,
    defs: Vec<Set<Key>>,
}

/// Read and written so far in a region.
#[derive(Default)]
struct Seen {
    uses: Set<Key>,
    defs: Set<Key>,
    /// What has been written since each condition that is still open, and since its `Else`.
    inside: Vec<(Set<Key>, Option<Set<Key>>)>,
}

impl Seen {
    fn read(&mut self, uses: Vec<Key>) {
        self.uses.extend(uses.into_iter().filter(|k| !self.defs.contains(k)));
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
                self.read(uses);
                defs.into_iter().for_each(|k| self.write(k));
            }
            Item::If(cond) => {
                let mut uses = Vec::new();
                registers(f, cond.operand, &mut uses);
                self.read(uses);
                self.inside.push(Default::default());
            }
            Item::Else => {
                if let Some((then, other)) = self.inside.last_mut() {
                    self.defs.retain(|k| !then.contains(k));
                    *other = Some(Set::new());
                }
            }
            Item::End(live) => {
                let Some((then, other)) = self.inside.pop() else { return };
                let other = other.unwrap_or_default();
                self.defs.retain(|k| !then.contains(k) && !other.contains(k));
                for k in live.iter().filter(|k| then.contains(k) || other.contains(k)) {
                    // the others keep what they had
                    if !(then.contains(k) && other.contains(k)) {
                        self.read(vec![*k]);
                    }
                    self.write(*k);
                }
            }
        }
    }
}

fn facts(p: &Program<'_>) -> Facts {
    let mut all = Facts { uses: Vec::new(), defs: Vec::new() };
    for r in &p.regions {
        let mut seen = Seen::default();
        r.body.iter().for_each(|item| seen.item(r.func, item));
        match &r.end {
            End::Branch { pred, .. } => {
                let mut uses = Vec::new();
                registers(r.func, &pred.0, &mut uses);
                seen.read(uses);
            }
            End::Switch { instr, .. } => seen.read(mentions(r.func, instr).0),
            End::Block { instr, .. } => {
                let (uses, defs) = mentions(r.func, instr);
                seen.read(uses);
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
fn addresses(p: &Program<'_>) -> Set<Key> {
    let (mut found, mut waited) = (Set::new(), Vec::new());
    for r in &p.regions {
        for i in r.instructions() {
            for a in &i.operands {
                if let Operand::Address(Base::Reg(reg), _) = a.value {
                    found.insert((r.func.0, reg.0, 0));
                }
            }
        }
        if let End::Block { instr, .. } = &r.end {
            waited.extend(mentions(r.func, instr).1);
        }
    }
    waited.iter().for_each(|k| {
        found.remove(k);
    });
    found
}

/// Shapes while one region is gone through.
type Env = Map<Key, Shape>;

struct Analysis<'a, 'm> {
    e: &'a Emit<'m>,
    p: &'a Program<'m>,
    rows: Map<Key, Shape>,
    lanes: Set<Key>,
    /// Those that can be kept with a condition: addresses that only plain instructions set.
    hinted: Set<Key>,
    /// Those that warps of a cohort may hold different values of.
    apart: Set<Key>,
}

impl Analysis<'_, '_> {
    /// `None`: nothing is known yet.
    fn register(&self, env: &Env, k: Key) -> Option<Shape> {
        env.get(&k).copied().or_else(|| if self.lanes.contains(&k) { Some(LANES) } else { self.rows.get(&k).copied() })
    }

    fn operand(&self, env: &Env, f: FuncId, o: &Operand) -> Option<Shape> {
        match o {
            Operand::Reg(..) | Operand::NotReg(_) | Operand::Address(Base::Reg(_), _) => {
                let mut k = Vec::new();
                registers(f, o, &mut k);
                let k = *k.first()?;
                self.register(env, k)
            }
            _ => Some(self.e.constant_shape(f, o)),
        }
    }

    fn region(&mut self, r: usize, lives: &Lives) -> (bool, Env) {
        let region = &self.p.regions[r];
        let f = region.func;
        let mut env = Env::new();
        let mut unknown = Set::new();
        // what was known of registers before each open condition changed them
        let mut inside: Vec<Map<Key, (Option<Shape>, bool)>> = Vec::new();
        let restore = |env: &mut Env, unknown: &mut Set<Key>, k: Key, (shape, was): (Option<Shape>, bool)| {
            match shape {
                Some(s) => env.insert(k, s),
                None => env.remove(&k),
            };
            if was {
                unknown.insert(k)
            } else {
                unknown.remove(&k)
            };
        };
        for item in &region.body {
            let i = match item {
                Item::Instr(i) => i,
                Item::If(_) => {
                    inside.push(Map::new());
                    continue;
                }
                Item::Else => {
                    for (k, was) in inside.last().into_iter().flatten() {
                        restore(&mut env, &mut unknown, *k, *was);
                    }
                    continue;
                }
                Item::End(read) => {
                    for (k, was) in inside.pop().unwrap_or_default() {
                        restore(&mut env, &mut unknown, k, was);
                        if read.contains(&k) {
                            if let Some(outer) = inside.last_mut() {
                                outer.or_insert(k, was);
                            }
                            unknown.remove(&k);
                            env.insert(k, LANES);
                        }
                    }
                    continue;
                }
            };
            let (_, defs) = mentions(f, i);
            let shape = self.e.result_shape(f, i, &mut |o| self.operand(&env, f, o));
            for k in defs {
                if let Some(inside) = inside.last_mut() {
                    inside.or_insert(k, (env.get(&k).copied(), unknown.contains(&k)));
                }
                match shape {
                    Some(s) => {
                        unknown.remove(&k);
                        env.insert(k, s);
                    }
                    None => {
                        unknown.insert(k);
                        env.remove(&k);
                    }
                }
            }
        }
        if let End::Block { instr, .. } = &region.end {
            let shape = self.e.waited_shape(instr, &mut |o| self.operand(&env, f, o));
            for k in mentions(f, instr).1 {
                match shape {
                    Some(s) => env.insert(k, s),
                    None => {
                        unknown.insert(k);
                        env.remove(&k)
                    }
                };
            }
        }
        let mut changed = false;
        for (k, s) in &env {
            if self.lanes.contains(k) || unknown.contains(k) || !lives.after(r, k) {
                continue;
            }
            let mut joined = match self.rows.get(k) {
                Some(old) => old.join(*s),
                None if s.guard == 0 => *s,
                None if self.hinted.contains(k) => Shape { guard: 1, ..*s },
                None => LANES,
            };
            joined.common &= !self.apart.contains(k);
            if !joined.rows() {
                self.lanes.insert(*k);
                self.rows.remove(k);
                changed = true;
            } else if self.rows.insert(*k, joined).is_none_or(|old| !old.is(joined)) {
                changed = true;
            }
        }
        (changed, env)
    }
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
        let next = (0..p.regions.len()).map(|r| successors(p, r)).list();
        if p.funcs.len() > 1 {
            return Classes { all_live: true, parted: vec![true; p.regions.len()], ..Classes::default() };
        }
        let facts = facts(p);
        let lives = Lives::new(&next, Crossing::new(&facts.uses, &facts.defs));
        let partings = Partings::new(p, &next);
        let entry = lives.all_before(0);
        let falls = (0..p.regions.len()).filter_map(|r| falling_round(p, r)).list();
        let fresh = entry.is_empty();
        let mut a = Analysis { e: self, p, rows: Map::new(), lanes: entry, hinted: addresses(p), apart: Set::new() };
        // a warp that asks for a phase goes on by itself, so that warps that have come round differently meet without being asked
        let asks = |r: &Region<'_>| matches!(&r.end, End::Block { instr, .. } if instr.has(".parity"));
        let alike = !p.regions.iter().any(asks);
        let mut alone = Set::new();
        let (parting, parted) = loop {
            a.rows.clear();
            let mut envs = Vec::new();
            let mut changed = true;
            while changed {
                changed = false;
                envs.clear();
                for r in 0..p.regions.len() {
                    let (c, env) = a.region(r, &lives);
                    changed |= c;
                    envs.push(env);
                }
            }
            let parting: Vec<usize> = (0..p.regions.len())
                .filter(|&r| !ends_as_one(p, r))
                .filter(|&r| match &p.regions[r].end {
                    End::Branch { pred, .. } => a.operand(&envs[r], p.regions[r].func, &pred.0) != Some(UNIFORM),
                    End::Switch { .. } => true,
                    _ => false,
                })
                .list();
            let before = a.lanes.len();
            let lanes = partings.lanes(&next, &parting, &lives, |k| a.rows.contains_key(k));
            a.lanes.extend(lanes);
            let parted = zones(&next, &parting);
            let parts: Set<usize> = parting.iter().copied().collect();
            for list in falls.iter().filter(|list| parted[list[0]]) {
                if alone.contains(&list[0]) || self.better_alone(p, list, &parts, &a, &envs) {
                    alone.insert(list[0]);
                    // every lane has its own
                    let own = list.iter().flat_map(|r| &facts.defs[*r]).filter(|k| a.rows.contains_key(*k));
                    a.lanes.extend(own.copied().list());
                }
            }
            // Warps of a cohort differ in what one of them sets by itself. What they set while they are apart they could differ in
            // for long, and would not meet.
            let ways = self.ways_of_warps(p, &next, &a, &envs);
            let away = zones(&next, &ways);
            let mut differ: Set<Key> = Set::new();
            for r in (0..p.regions.len()).filter(|&r| !alike || parted[r] || away[r]) {
                differ.extend(facts.defs[r].iter().copied().filter(|k| a.rows.get(k).is_some_and(|s| s.common)));
            }
            for r in (0..p.regions.len()).filter(|&r| parted[r]) {
                let under = facts.defs[r].iter().filter(|k| a.rows.get(k).is_some_and(|s| s.guard > 0));
                a.lanes.extend(under.copied().list());
            }
            let apart = a.apart.len();
            a.apart.extend(differ);
            if a.lanes.len() == before && a.apart.len() == apart {
                break (parting, parted);
            }
        };
        let (hints, rows) = a.rows.into_iter().partition(|(_, s)| s.guard > 0);
        let parting = parting.into_iter().collect();
        Classes { rows, hints, lives, all_live: false, fresh, alone, parting, parted }
    }

    /// Are these regions, a loop, better run lane by lane? Such that have more to do with memory, in no order, than to compute.
    fn better_alone(
        &self,
        p: &Program<'m>,
        list: &[usize],
        parting: &Set<usize>,
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
                        let address = i.operands.iter().find(|a| matches!(a.value, Operand::Address(..)));
                        let shape = address.and_then(|o| a.operand(&envs[*r], f, &o.value));
                        scattered += u32::from(shape.is_some_and(|s| !s.rows()));
                    }
                }
            }
        }
        scattered > 0 && other <= 8 * scattered && list.iter().any(|r| parting.contains(r))
    }

    /// Regions at the end of which warps part and may meet again.
    fn ways_of_warps(&self, p: &Program<'m>, next: &[Vec<usize>], a: &Analysis<'_, 'm>, envs: &[Env]) -> Vec<usize> {
        // straight to the end
        let mut ends = vec![false; p.regions.len()];
        for r in (0..ends.len()).rev() {
            ends[r] = match p.regions[r].end {
                End::Exit => true,
                End::Goto(to) => to > r && ends[to],
                _ => false,
            };
        }
        let parts = |r: &usize| match &p.regions[*r].end {
            End::Branch { pred, .. } => {
                let together = a.operand(&envs[*r], p.regions[*r].func, &pred.0).is_some_and(|s| s.common);
                !together && next[*r].iter().filter(|s| !ends[**s]).count() > 1
            }
            End::Switch { .. } => true,
            _ => false,
        };
        (0..p.regions.len()).filter(parts).list()
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
        if let Some(shape) = self.shape_of_one(f, i, operand) {
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
        let known: Option<Vec<(Shape, Option<u64>)>> = sources.iter().map(|(s, c)| s.map(|s| (s, *c))).collect();
        let known = known?;
        Some(match native {
            Some(n) => n.shape(&known),
            None => {
                let plain = known.iter().all(|(s, _)| s.stride == 0 && s.guard == 0) && self.small_result(f, i);
                let p = known.iter().map(|(s, _)| s.p).min().unwrap_or(32);
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
        let space = i.quals.iter().any(|q| {
            matches!(
                q.as_str(),
                ".global" | ".shared" | ".shared::cta" | ".shared::cluster" | ".const" | ".param::entry"
            ) || (q == ".param" && self.param_space(i).as_deref() == Some("param_entry"))
        });
        space && self.simple_access(f, i) == Some(1)
    }
}
