//! Every value of every register by its own number (static single assignment), built on demand after Braun et al. without
//! recursion, and a solver that carries facts from values to what is made of them.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::cfg::Cfg;
use crate::hir::{Base, Function, Instr, Operand, RegId};
use crate::isa::Role;

/// A value: an index into [`Ssa::values`].
pub(super) type Val = u32;

/// What was never written.
pub(super) const UNDEF: Val = 0;

/// Where a value comes from.
#[derive(Debug)]
pub(super) enum Value {
    /// Nobody wrote it.
    Undef,
    /// A `.reg` parameter.
    Param,
    /// Written by an instruction; under a guard the old value may remain.
    Def { instr: u32, var: u32, old: Option<Val> },
    /// One of these, by the way that was taken into the block: in the order of its predecessors, up to [`PLACED`] of them.
    Phi { block: u32, args: Vec<Val> },
}

/// A join of more ways has each value once.
pub(super) const PLACED: usize = 16;

/// The keys are small numbers that need no mixing against attackers.
#[derive(Default)]
pub(super) struct Fast(u64);
impl Hasher for Fast {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for b in bytes {
            self.write_u64(u64::from(*b));
        }
    }
    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0 ^ n).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    }
}
type Map = HashMap<u64, Val, BuildHasherDefault<Fast>>;

/// The values of a function.
pub(super) struct Ssa {
    pub values: Vec<Value>,
    /// By instruction: what it reads and what it writes, each with its variable.
    uses: Vec<(u32, Val)>,
    use_at: Vec<(u32, u32)>,
    defs: Vec<(u32, Val)>,
    def_at: Vec<(u32, u32)>,
    /// First variable of each register (one for each element).
    base: Vec<u32>,
    /// Each value's users among the values.
    users: Vec<Val>,
    user_at: Vec<u32>,
    /// The value that this one can only be, if a `Phi` has one only.
    pub origin: Vec<Val>,
}

struct Build<'a, 'h> {
    cfg: &'a Cfg<'h>,
    values: Vec<Value>,
    now: Map,
    open: Vec<(Val, u32)>,
}

impl Build<'_, '_> {
    fn read(&mut self, mut block: u32, var: u32) -> Val {
        let mut path = Vec::new();
        let found = loop {
            if let Some(&v) = self.now.get(&key(block, var)) {
                break v;
            }
            path.push(block);
            match self.cfg.blocks[block as usize].pred.as_slice() {
                [] => break UNDEF,
                [(only, _)] => block = *only,
                _ => {
                    let v = self.values.len() as Val;
                    self.values.push(Value::Phi { block, args: Vec::new() });
                    self.open.push((v, var));
                    break v;
                }
            }
        };
        for b in path {
            self.now.insert(key(b, var), found);
        }
        found
    }
}

fn key(block: u32, var: u32) -> u64 {
    u64::from(block) << 32 | u64::from(var)
}

/// All registers in an operand, each with its element.
pub(super) fn registers(operand: &Operand, each: &mut dyn FnMut(RegId, u32)) {
    match operand {
        Operand::Reg(r, lane) => each(*r, *lane),
        Operand::NotReg(r) | Operand::Select(r, _) | Operand::Address(Base::Reg(r), _) => each(*r, 0),
        Operand::Pair(a, b) => {
            registers(a, each);
            registers(b, each);
        }
        Operand::Vector(list) | Operand::Addresses(list) | Operand::List(list) => {
            for o in list {
                registers(o, each);
            }
        }
        _ => {}
    }
}

impl Ssa {
    pub(super) fn new(function: &Function, cfg: &Cfg) -> Ssa {
        let mut base = Vec::with_capacity(function.regs.len());
        let mut vars = 0u32;
        for r in &function.regs {
            base.push(vars);
            vars += r.lanes.max(1);
        }
        let n = cfg.instrs.len();
        let mut ssa = Ssa {
            values: Vec::new(),
            uses: Vec::new(),
            use_at: vec![(0, 0); n],
            defs: Vec::new(),
            def_at: vec![(0, 0); n],
            base,
            users: Vec::new(),
            user_at: Vec::new(),
            origin: Vec::new(),
        };
        let mut build = Build { cfg, values: vec![Value::Undef], now: Map::default(), open: Vec::new() };
        for p in function.params.iter().chain(&function.rets).filter_map(|p| p.reg) {
            let v = build.values.len() as Val;
            build.values.push(Value::Param);
            build.now.insert(key(0, ssa.var(p, 0)), v);
        }
        for &b in &cfg.rpo {
            for i in cfg.range(b) {
                ssa.instr(&mut build, b, i, cfg.instrs[i as usize]);
            }
        }
        while let Some((v, var)) = build.open.pop() {
            let Value::Phi { block, .. } = build.values[v as usize] else { continue };
            let mut given = Vec::new();
            let pred = &cfg.blocks[block as usize].pred;
            for &(p, _) in pred {
                let a = build.read(p, var);
                // By predecessor, or each once where there are too many.
                if pred.len() <= PLACED || given.len() >= 64 || !given.contains(&a) {
                    given.push(a);
                }
            }
            build.values[v as usize] = Value::Phi { block, args: given };
        }
        ssa.values = build.values;
        ssa.link();
        ssa.origins();
        ssa
    }

    /// The variable of an element of a register.
    pub(super) fn var(&self, reg: RegId, lane: u32) -> u32 {
        self.base.get(reg.0 as usize).map_or(u32::MAX, |b| b + lane)
    }

    /// The register of a variable.
    pub(super) fn register(&self, var: u32) -> Option<u32> {
        (self.base.partition_point(|b| *b <= var) as u32).checked_sub(1)
    }

    fn instr(&mut self, build: &mut Build, b: u32, i: u32, instr: &Instr) {
        let first = self.uses.len() as u32;
        let mut read = |ssa: &mut Ssa, o: &Operand| {
            registers(o, &mut |r, lane| {
                let var = ssa.var(r, lane);
                if !ssa.uses[first as usize..].iter().any(|u| u.0 == var) {
                    let v = build.read(b, var);
                    ssa.uses.push((var, v));
                }
            });
        };
        if let Some((p, _)) = &instr.pred {
            read(self, p);
        }
        for arg in &instr.operands {
            // `%r.b0` as a destination leaves the rest of the register as it was.
            if arg.role != Role::Dst {
                read(self, &arg.value);
            }
        }
        self.use_at[i as usize] = (first, self.uses.len() as u32);
        let first = self.defs.len() as u32;
        for arg in instr.operands.iter().filter(|a| a.role == Role::Dst) {
            let partly = instr.pred.is_some() || matches!(arg.value, Operand::Select(..));
            registers(&arg.value, &mut |r, lane| {
                let var = self.var(r, lane);
                let old = partly.then(|| build.read(b, var));
                let v = build.values.len() as Val;
                build.values.push(Value::Def { instr: i, var, old });
                build.now.insert(key(b, var), v);
                self.defs.push((var, v));
            });
        }
        self.def_at[i as usize] = (first, self.defs.len() as u32);
    }

    /// What an instruction reads: variables and values.
    pub(super) fn uses(&self, i: u32) -> &[(u32, Val)] {
        let (a, b) = self.use_at[i as usize];
        &self.uses[a as usize..b as usize]
    }

    /// What an instruction writes.
    pub(super) fn defs(&self, i: u32) -> &[(u32, Val)] {
        let (a, b) = self.def_at[i as usize];
        &self.defs[a as usize..b as usize]
    }

    /// The value that an instruction reads from a register.
    pub(super) fn read(&self, i: u32, reg: RegId, lane: u32) -> Val {
        let var = self.var(reg, lane);
        self.uses(i).iter().find(|u| u.0 == var).map_or(UNDEF, |u| u.1)
    }

    /// The value of the predicate that guards an instruction.
    pub(super) fn guard(&self, i: u32, instr: &Instr) -> Option<(Val, bool)> {
        match &instr.pred {
            Some((Operand::Reg(r, lane), positive)) => Some((self.read(i, *r, *lane), *positive)),
            _ => None,
        }
    }

    fn sources(&self, v: Val, each: &mut dyn FnMut(Val)) {
        match &self.values[v as usize] {
            Value::Undef | Value::Param => {}
            Value::Def { instr, old, .. } => {
                for u in self.uses(*instr) {
                    each(u.1);
                }
                if let Some(o) = old {
                    each(*o);
                }
            }
            Value::Phi { args, .. } => {
                for a in args {
                    each(*a);
                }
            }
        }
    }

    fn link(&mut self) {
        let n = self.values.len();
        let mut count = vec![0u32; n + 1];
        for v in 0..n as Val {
            self.sources(v, &mut |s| count[s as usize + 1] += 1);
        }
        for k in 0..n {
            count[k + 1] += count[k];
        }
        let mut fill = count.clone();
        let mut users = vec![0; count[n] as usize];
        for v in 0..n as Val {
            self.sources(v, &mut |s| {
                users[fill[s as usize] as usize] = v;
                fill[s as usize] += 1;
            });
        }
        self.users = users;
        self.user_at = count;
    }

    /// The values made of this one.
    pub(super) fn users(&self, v: Val) -> &[Val] {
        &self.users[self.user_at[v as usize] as usize..self.user_at[v as usize + 1] as usize]
    }

    /// Solves equations over values: from `bottom` upwards, each again when what it is made of has changed. `None` if that
    /// does not come to an end soon (facts that keep growing).
    pub(super) fn solve<T: Copy + PartialEq>(
        &self,
        bottom: T,
        eval: &mut dyn FnMut(Val, &Value, &[T]) -> T,
    ) -> Option<Vec<T>> {
        let n = self.values.len();
        let mut facts = vec![bottom; n];
        let mut queued = vec![true; n];
        let mut now: Vec<Val> = (0..n as Val).collect();
        let mut next = Vec::new();
        let mut budget = n * 16 + 1000;
        while !now.is_empty() {
            for &v in &now {
                queued[v as usize] = false;
                budget = budget.checked_sub(1)?;
                let new = eval(v, &self.values[v as usize], &facts);
                if new == facts[v as usize] {
                    continue;
                }
                facts[v as usize] = new;
                for &u in self.users(v) {
                    if !queued[u as usize] {
                        queued[u as usize] = true;
                        next.push(u);
                    }
                }
            }
            now.clear();
            std::mem::swap(&mut now, &mut next);
        }
        Some(facts)
    }

    fn origins(&mut self) {
        const BOTTOM: Val = Val::MAX;
        let found = self.solve(BOTTOM, &mut |v, value, facts| {
            let Value::Phi { args, .. } = value else { return v };
            let mut one = BOTTOM;
            for a in args {
                let o = facts[*a as usize];
                if o == BOTTOM || o == v {
                    continue;
                }
                if one != BOTTOM && one != o {
                    return v;
                }
                one = o;
            }
            one
        });
        let n = self.values.len() as Val;
        let mut origin = found.unwrap_or_else(|| (0..n).collect());
        for (v, o) in origin.iter_mut().enumerate() {
            if *o == BOTTOM {
                *o = v as Val;
            }
        }
        self.origin = origin;
    }

    /// The instruction that made the value, if one did unconditionally.
    pub(super) fn maker(&self, v: Val) -> Option<u32> {
        let o = *self.origin.get(v as usize)?;
        match self.values.get(o as usize)? {
            Value::Def { instr, old: None, .. } => Some(*instr),
            _ => None,
        }
    }
}
