//! SSA construction after Cytron et al.: phis at the iterated dominance frontiers of the blocks that write a variable, values
//! numbered by a walk over the dominator tree. Only variables that some block reads before it writes them get phis.

use crate::cfg::Cfg;
use crate::ssa::values::{Ssa, UNDEF, Val, Value, of_var, phi_argument};
use ptx_dsl_isa::hir::{Function, Instr, Operand, RegId};
use ptx_dsl_isa::isa::Role;

/// Limit of phis. Only pathological graphs have more.
const MOST_JOINS: usize = 2_000_000;

/// The state of renaming.
struct Build {
    values: Vec<Value>,
    /// By variable: its current value.
    current: Vec<Val>,
    /// Previous values, to undo on the way up the tree.
    undo_log: Vec<(u32, Val)>,
    /// By block: the variables that have a phi there.
    joins: Vec<Vec<u32>>,
    /// By block: the number of its first phi.
    first: Vec<Val>,
}

impl Build {
    /// Creates the phis, without arguments.
    fn reserve_phis(&mut self) {
        for (b, list) in self.joins.iter().enumerate() {
            self.first[b] = self.values.len() as Val;
            self.values.extend(list.iter().map(|_| Value::Phi { block: b as u32, args: Vec::new() }));
        }
    }

    /// Undoes writes down to this length of the log.
    fn undo(&mut self, length: usize) {
        while self.undo_log.len() > length
            && let Some((var, old)) = self.undo_log.pop()
        {
            self.current[var as usize] = old;
        }
    }
    fn write(&mut self, var: u32, value: Value) -> Val {
        let v = self.values.len() as Val;
        self.values.push(value);
        self.put(var, v);
        v
    }

    fn put(&mut self, var: u32, v: Val) {
        if let Some(current) = self.current.get_mut(var as usize) {
            self.undo_log.push((var, std::mem::replace(current, v)));
        }
    }

    fn read(&self, var: u32) -> Val {
        match self.current.get(var as usize) {
            Some(v) => *v,
            None => UNDEF,
        }
    }
}

/// Dominance frontiers, if they are not too large in total.
fn frontiers(cfg: &Cfg) -> Option<Vec<Vec<u32>>> {
    let mut frontier: Vec<Vec<u32>> = vec![Vec::new(); cfg.blocks.len()];
    let mut total = 0;
    for &b in &cfg.rpo {
        let pred = &cfg.blocks[b as usize].pred;
        if pred.len() < 2 {
            continue;
        }
        for &(p, _) in pred {
            let mut at = p;
            while at != cfg.idom[b as usize] && frontier[at as usize].last() != Some(&b) {
                frontier[at as usize].push(b);
                at = cfg.idom[at as usize];
                total += 1;
                if total > MOST_JOINS {
                    return None;
                }
            }
        }
    }
    Some(frontier)
}

/// The registers that an instruction reads.
fn reads(instr: &Instr, each: &mut dyn FnMut(RegId, u32)) {
    if let Some((p, _)) = &instr.pred {
        p.registers(each);
    }
    // `%r.b0` as a destination leaves the rest of the register as it was.
    for arg in &instr.operands {
        if arg.role != Role::Dst {
            arg.value.registers(each);
        }
    }
}

/// May the destination keep its old value, or a part of it?
fn partly(instr: &Instr, destination: &Operand) -> bool {
    instr.pred.is_some() || matches!(destination, Operand::Select(..))
}

impl Ssa {
    /// `None` if there are too many phis.
    pub fn new(function: &Function, cfg: &Cfg) -> Option<Ssa> {
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
        let blocks = cfg.blocks.len();
        let mut build = Build {
            values: vec![Value::Undef],
            current: vec![UNDEF; vars as usize],
            undo_log: Vec::new(),
            joins: ssa.joins(cfg, vars as usize)?,
            first: vec![UNDEF; blocks],
        };
        build.reserve_phis();
        for list in [&function.params, &function.rets] {
            for p in list {
                if let Some(reg) = p.reg {
                    build.write(ssa.var(reg, 0), Value::Param);
                }
            }
        }
        ssa.walk(&mut build, cfg);
        ssa.number(build, cfg);
        ssa.link();
        ssa.origins();
        Some(ssa)
    }

    /// Renames over the dominator tree in preorder.
    fn walk(&mut self, build: &mut Build, cfg: &Cfg) {
        let Some(&entry) = cfg.rpo.first() else { return };
        let mut below: Vec<Vec<u32>> = vec![Vec::new(); cfg.blocks.len()];
        for &b in cfg.rpo.iter().rev() {
            let up = cfg.idom[b as usize];
            if up != b {
                below[up as usize].push(b);
            }
        }
        let mut stack = vec![Ok(entry)];
        while let Some(next) = stack.pop() {
            match next {
                Err(length) => build.undo(length),
                Ok(b) => {
                    stack.push(Err(build.undo_log.len()));
                    self.block(build, cfg, b);
                    stack.extend(below[b as usize].iter().map(|child| Ok(*child)));
                }
            }
        }
    }

    fn block(&mut self, build: &mut Build, cfg: &Cfg, b: u32) {
        let first = build.first[b as usize];
        for k in 0..build.joins[b as usize].len() {
            build.put(build.joins[b as usize][k], first + k as Val);
        }
        for i in cfg.range(b) {
            self.instr(build, i, cfg.instrs[i as usize]);
        }
        for (n, e) in cfg.blocks[b as usize].succ.iter().enumerate() {
            let first = build.first[e.to as usize];
            let pred = &cfg.blocks[e.to as usize].pred;
            // One argument for each edge, or each value once if there are too many edges.
            let place = phi_argument(pred, (b, n as u32));
            for (k, var) in build.joins[e.to as usize].iter().enumerate() {
                let a = build.current[*var as usize];
                let Value::Phi { args, .. } = &mut build.values[first as usize + k] else { continue };
                match place {
                    Some(at) => {
                        args.resize(pred.len(), UNDEF);
                        args[at] = a;
                    }
                    None if args.len() >= 64 || !args.contains(&a) => args.push(a),
                    None => {}
                }
            }
        }
    }

    /// By block: the variables that need a phi: the iterated dominance frontiers of their writers, if some block reads the
    /// variable before it writes it. `None` if there are too many.
    fn joins(&self, cfg: &Cfg, vars: usize) -> Option<Vec<Vec<u32>>> {
        let frontier = frontiers(cfg)?;
        let (writers, across) = self.writers(cfg, vars);
        let mut joins: Vec<Vec<u32>> = vec![Vec::new(); cfg.blocks.len()];
        let mut total = 0;
        for (var, mut work) in writers.into_iter().enumerate() {
            if !across[var] {
                continue;
            }
            while let Some(b) = work.pop() {
                for &f in &frontier[b as usize] {
                    if joins[f as usize].last() != Some(&(var as u32)) {
                        joins[f as usize].push(var as u32);
                        work.push(f);
                        total += 1;
                        if total > MOST_JOINS {
                            return None;
                        }
                    }
                }
            }
        }
        Some(joins)
    }

    /// By variable: the blocks that write it, and whether some block reads it before it writes it.
    fn writers(&self, cfg: &Cfg, vars: usize) -> (Vec<Vec<u32>>, Vec<bool>) {
        let mut writers: Vec<Vec<u32>> = vec![Vec::new(); vars];
        let mut across = vec![false; vars];
        for &b in &cfg.rpo {
            for at in cfg.range(b) {
                self.add_reads_and_writes(cfg.instrs[at as usize], b, &mut writers, &mut across);
            }
        }
        (writers, across)
    }

    /// Adds the reads and writes of an instruction of block `b`.
    fn add_reads_and_writes(&self, i: &Instr, b: u32, writers: &mut [Vec<u32>], across: &mut [bool]) {
        let written = |writers: &[Vec<u32>], var: u32| match writers.get(var as usize) {
            Some(list) => list.last() == Some(&b),
            None => true,
        };
        reads(i, &mut |r, lane| {
            let var = self.var(r, lane);
            if !written(writers, var) {
                across[var as usize] = true;
            }
        });
        for arg in &i.operands {
            if arg.role != Role::Dst {
                continue;
            }
            let partly = partly(i, &arg.value);
            arg.value.registers(&mut |r, lane| {
                let var = self.var(r, lane);
                if !written(writers, var) {
                    across[var as usize] |= partly;
                    writers[var as usize].push(b);
                }
            });
        }
    }

    /// Removes unused phis, and numbers the values in the order of the code.
    fn number(&mut self, build: Build, cfg: &Cfg) {
        let order = self.order(&build, cfg);
        let mut new = vec![UNDEF; build.values.len()];
        for (k, v) in order.iter().enumerate() {
            new[*v as usize] = k as Val;
        }
        for list in [&mut self.uses, &mut self.defs] {
            for (_, v) in list {
                *v = new[*v as usize];
            }
        }
        let mut values = build.values;
        for v in order {
            let mut value = std::mem::replace(&mut values[v as usize], Value::Undef);
            match &mut value {
                Value::Def { old: Some(old), .. } => *old = new[*old as usize],
                Value::Undef | Value::Param | Value::Def { .. } => {}
                Value::Phi { args, .. } => {
                    for a in args {
                        *a = new[*a as usize];
                    }
                }
            }
            self.values.push(value);
        }
    }

    /// The values that are kept, in order.
    fn order(&self, build: &Build, cfg: &Cfg) -> Vec<Val> {
        let wanted = self.wanted(&build.values);
        let mut order: Vec<Val> = Vec::new();
        for (v, value) in build.values.iter().enumerate() {
            if matches!(value, Value::Undef | Value::Param) {
                order.push(v as Val);
            }
        }
        for &b in &cfg.rpo {
            let first = build.first[b as usize];
            let phis = first..first + build.joins[b as usize].len() as Val;
            order.extend(phis.filter(|v| wanted[*v as usize]));
            order.extend(cfg.range(b).flat_map(|at| self.defs(at)).map(|(_, v)| *v));
        }
        order
    }

    /// By value: it is kept: a definition, or a phi with a use.
    fn wanted(&self, values: &[Value]) -> Vec<bool> {
        let mut wanted = Vec::with_capacity(values.len());
        let mut stack = Vec::new();
        for value in values {
            wanted.push(!matches!(value, Value::Phi { .. }));
            if let Value::Def { old: Some(old), .. } = value {
                stack.push(*old);
            }
        }
        stack.extend(self.uses.iter().map(|(_, v)| *v));
        while let Some(v) = stack.pop() {
            if !std::mem::replace(&mut wanted[v as usize], true)
                && let Value::Phi { args, .. } = &values[v as usize]
            {
                stack.extend(args);
            }
        }
        wanted
    }

    fn instr(&mut self, build: &mut Build, i: u32, instr: &Instr) {
        let first = self.uses.len();
        reads(instr, &mut |r, lane| {
            let var = self.var(r, lane);
            if of_var(&self.uses[first..], var).is_none() {
                self.uses.push((var, build.read(var)));
            }
        });
        self.use_at[i as usize] = (first as u32, self.uses.len() as u32);
        let first = self.defs.len() as u32;
        for arg in &instr.operands {
            if arg.role != Role::Dst {
                continue;
            }
            let partly = partly(instr, &arg.value);
            arg.value.registers(&mut |r, lane| {
                let var = self.var(r, lane);
                let old = if partly { Some(build.read(var)) } else { None };
                let v = build.write(var, Value::Def { instr: i, var, old });
                self.defs.push((var, v));
            });
        }
        self.def_at[i as usize] = (first, self.defs.len() as u32);
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
}
