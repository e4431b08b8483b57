//! Cuts a kernel and what it calls into regions.

use super::regions::{Callee, End, Item, Program, Region, number};
use ptx_dsl_isa::hir::{FuncId, Function, Instr, LabelId, Module, Operand, Stmt};
use ptx_dsl_isa::isa::Host;

/// The functions a call instruction may reach.
pub fn callees(instr: &Instr) -> Vec<FuncId> {
    let mut found = Vec::new();
    for arg in &instr.operands {
        match &arg.value {
            Operand::Func(f) => return vec![*f],
            Operand::Funcs(list) => found = list.clone(),
            _ => {}
        }
    }
    found
}

/// Cuts `entry`, whose body is that of `function`, and everything it calls into regions.
pub fn program<'m>(module: &'m Module, entry: FuncId, function: &'m Function) -> Program<'m> {
    let mut p = Program::empty(entry);
    let mut starts = vec![0; module.functions.len()];
    let mut next = 0;
    while next < p.funcs.len() {
        let f = p.funcs[next];
        next += 1;
        starts[f.0 as usize] = p.regions.len();
        not_shared(module, f, &mut p);
        cut(module, f, if f == entry { function } else { &module.functions[f.0 as usize] }, &mut p);
    }
    if p.regions.iter().any(|r| r.results.is_some()) {
        p.returns = vec![Vec::new(); module.functions.len()];
    }
    for region in &mut p.regions {
        if let End::Call { callees, .. } = &mut region.end {
            for c in callees {
                c.start = starts[c.func.0 as usize];
                let sites = &mut p.returns[c.func.0 as usize];
                if let Err(at) = sites.binary_search(&c.back) {
                    sites.insert(at, c.back);
                }
            }
        }
    }
    recursion(&mut p);
    number(p)
}

/// The host has no registers that functions share.
fn not_shared(module: &Module, f: FuncId, p: &mut Program) {
    let first = module.functions[f.0 as usize].body.iter().find_map(|stmt| match stmt {
        Stmt::Instr(i) => Some(i.index),
        Stmt::Label(_) => None,
    });
    for (function, name) in &module.shared_registers {
        if *function == f {
            p.not_yet.push((format!("`{name}`, a register of the module that functions share,"), first.unwrap_or(0)));
            return;
        }
    }
}

/// Finds the functions that can reach themselves.
fn recursion(p: &mut Program) {
    let mut calls = vec![Vec::new(); p.returns.len()];
    for r in &p.regions {
        if let End::Call { callees, .. } = &r.end {
            for c in callees {
                calls[r.func.0 as usize].push(c.func.0 as usize);
            }
        }
    }
    if calls.is_empty() {
        return;
    }
    for f in &p.funcs {
        let f = f.0 as usize;
        let (mut seen, mut todo) = (vec![false; calls.len()], vec![f]);
        while let Some(g) = todo.pop() {
            for &c in &calls[g] {
                if !seen[c] {
                    seen[c] = true;
                    todo.push(c);
                }
            }
        }
        if seen[f] {
            p.recursive.insert(f as u32);
        }
    }
}

struct Cutter<'m, 'p> {
    p: &'p mut Program<'m>,
    func: FuncId,
    entry: bool,
    /// First region of a label, made when first named.
    labels: Vec<Option<usize>>,
    now: usize,
}

impl<'m> Cutter<'m, '_> {
    fn region(&mut self, name: String) -> usize {
        self.p.regions.push(Region::new(self.func, name));
        self.p.regions.len() - 1
    }

    fn label(&mut self, module: &Module, id: LabelId) -> usize {
        if let Some(r) = self.labels[id.0 as usize] {
            return r;
        }
        let name = module.functions[self.func.0 as usize].labels[id.0 as usize].name.clone();
        let r = self.region(name);
        self.labels[id.0 as usize] = Some(r);
        r
    }

    fn end(&mut self, end: End<'m>) {
        let now = self.now;
        self.p.regions[now].end = end;
    }

    /// A fresh region that the running one falls into.
    fn then(&mut self, name: String) {
        let r = self.region(name);
        self.end(End::Goto(r));
        self.now = r;
    }

    /// A jump of some kind: its predicate becomes a branch around it. Returns where to go on behind it.
    fn guarded(&mut self, instr: &'m Instr) -> usize {
        let after = self.region(format!("after `{}`", instr.spelling));
        if let Some(pred) = &instr.pred {
            let does = self.region(format!("`{}`", instr.spelling));
            self.end(End::Branch { pred, taken: does, fall: after });
            self.now = does;
        }
        after
    }
}

fn cut<'m>(module: &'m Module, f: FuncId, function: &'m Function, p: &mut Program<'m>) {
    let mut c = Cutter { p, func: f, entry: function.entry, labels: vec![None; function.labels.len()], now: 0 };
    c.now = c.region(format!("start of `{}`", function.name));
    for stmt in &function.body {
        match stmt {
            Stmt::Label(id) => {
                let r = c.label(module, *id);
                c.end(End::Goto(r));
                c.now = r;
            }
            Stmt::Instr(instr) => statement(module, &mut c, instr),
        }
    }
    let end = if c.entry { End::Exit } else { End::Return };
    c.end(end);
}

fn statement<'m>(module: &'m Module, c: &mut Cutter<'m, '_>, instr: &'m Instr) {
    match (instr.entry.host, instr.entry.opcode) {
        (Host::Control, "bra") => {
            let Some(Operand::Label(target)) = instr.operands.first().map(|a| &a.value) else { return };
            let target = c.label(module, *target);
            if let Some(pred) = &instr.pred {
                let fall = c.region(format!("after `{}`", instr.spelling));
                c.end(End::Branch { pred, taken: target, fall });
                c.now = fall;
            } else {
                c.end(End::Goto(target));
                c.now = c.region("unreachable".into());
            }
        }
        (Host::Control, "brx.idx") => {
            let after = c.guarded(instr);
            let Some(Operand::Labels(labels)) = instr.operands.last().map(|a| &a.value) else { return };
            let targets = labels.iter().map(|l| c.label(module, *l)).collect::<Vec<_>>();
            c.end(End::Switch { instr, targets });
            c.now = after;
        }
        (Host::Control, "ret" | "exit") => {
            let after = c.guarded(instr);
            let end = if c.entry || instr.entry.opcode == "exit" { End::Exit } else { End::Return };
            c.end(end);
            c.now = after;
        }
        (Host::Control, "call") => {
            let targets = callees(instr);
            if targets.is_empty() {
                return c.p.not_yet.push(("indirect call without known targets".into(), instr.index));
            }
            if let Some(f) = targets.iter().find(|f| !module.functions[f.0 as usize].defined) {
                let what = format!("call of `{}`, which has no body here", module.functions[f.0 as usize].name);
                return c.p.not_yet.push((what, instr.index));
            }
            let after = c.guarded(instr);
            let mut callees = Vec::new();
            for func in targets {
                // The results are fetched in a region that only this call of this function returns to.
                let back = c.region(format!("return of `{}`", instr.spelling));
                c.p.regions[back].results = Some((instr, func));
                c.p.regions[back].end = End::Goto(after);
                callees.push(Callee { func, start: 0, back });
                if !c.p.funcs.contains(&func) {
                    c.p.funcs.push(func);
                }
            }
            c.end(End::Call { instr, callees });
            c.now = after;
        }
        (Host::Block, _) => {
            // Blocking instructions stand alone: the region is entered again when the wait is over.
            if instr.pred.is_none() {
                c.then(format!("`{}`", instr.spelling));
            }
            let after = c.guarded(instr);
            c.end(End::Block { instr, next: after });
            c.now = after;
        }
        (Host::NotYet, _) => c.p.not_yet.push((instr.spelling.clone(), instr.index)),
        _ => {
            let now = c.now;
            c.p.regions[now].body.push(Item::Instr(instr));
        }
    }
}
