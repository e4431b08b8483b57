//! Builds the region graph of a kernel and of everything it calls.

use super::graph::{Callee, End, Item, Program, Region};
use super::order::normalize;
use crate::instr::callees;
use ptx_dsl_analysis::graph::{cyclic, postorder};
use ptx_dsl_isa::hir::{FuncId, Function, Instr, LabelId, Module, Operand, Stmt};
use ptx_dsl_isa::isa::Host;
use ptx_dsl_isa::isa::effect::Control;

/// The regions of `entry`, whose body is that of `function`, and of everything it calls.
pub fn program<'m>(module: &'m Module, entry: FuncId, function: &'m Function) -> Program<'m> {
    let mut p = Program::empty(entry);
    let mut starts = vec![0; module.functions.len()];
    let mut next = 0;
    while next < p.funcs.len() {
        let f = p.funcs[next];
        next += 1;
        starts[f.0 as usize] = p.regions.len();
        reject_shared_registers(module, f, &mut p);
        build(module, f, if f == entry { function } else { &module.functions[f.0 as usize] }, &mut p);
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
    find_recursion(&mut p);
    let mut p = normalize(p);
    if p.regions.len() > usize::from(u16::MAX) {
        let what = format!("a kernel of {} regions", p.regions.len());
        p.not_yet(what, "65,535 are the most", u32::MAX);
    }
    p
}

/// The host cannot run functions that share registers.
fn reject_shared_registers(module: &Module, f: FuncId, p: &mut Program) {
    let Some((_, name)) = module.shared_registers.iter().find(|(function, _)| *function == f) else { return };
    let first = module.functions[f.0 as usize].body.iter().find_map(|stmt| match stmt {
        Stmt::Instr(i) => Some(i.index),
        Stmt::Label(_) => None,
    });
    p.not_yet(name.clone(), "functions share this register of the module", first.unwrap_or(0));
}

/// Finds the functions that are on a cycle of the call graph.
fn find_recursion(p: &mut Program) {
    let n = p.returns.len();
    if n == 0 {
        return;
    }
    let (mut calls, mut callers) = (vec![Vec::new(); n], vec![Vec::new(); n]);
    for r in &p.regions {
        if let End::Call { callees, .. } = &r.end {
            for c in callees {
                calls[r.func.0 as usize].push(c.func.0);
                callers[c.func.0 as usize].push(r.func.0);
            }
        }
    }
    let mut order = postorder(p.funcs[0].0, n, &|f, out| out.extend_from_slice(&calls[f as usize]));
    order.reverse();
    let recursive = cyclic(n, &order, &|f, out| out.extend_from_slice(&callers[f as usize]));
    p.recursive = (0..n as u32).filter(|f| recursive[*f as usize]).collect();
}

struct Builder<'m, 'p> {
    p: &'p mut Program<'m>,
    func: FuncId,
    entry: bool,
    /// First region of each label, made when the label is first named.
    labels: Vec<Option<usize>>,
    /// The region that instructions are appended to.
    current: usize,
}

impl<'m> Builder<'m, '_> {
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

    /// Ends the current region; code goes on in `next`.
    fn end(&mut self, end: End<'m>, next: usize) {
        self.p.regions[self.current].end = end;
        self.current = next;
    }

    /// Turns the predicate of a control instruction into a branch around it. Returns the region after the instruction.
    fn guarded(&mut self, instr: &'m Instr) -> usize {
        let after = self.region(format!("after `{}`", instr.spelling));
        if instr.pred.is_some() || instr.entry.host == Host::Control {
            self.p.regions[self.current].last = Some(instr);
        }
        if let Some(pred) = &instr.pred {
            let taken = self.region(format!("`{}`", instr.spelling));
            self.end(End::Branch { pred, taken, fall: after }, taken);
        }
        after
    }

    fn statement(&mut self, module: &'m Module, instr: &'m Instr) {
        match (instr.entry.host, instr.entry.effects.control) {
            (Host::Control, Control::Branch) => {
                let Some(Operand::Label(target)) = instr.operands.first().map(|a| &a.value) else { return };
                let taken = self.label(module, *target);
                self.p.regions[self.current].last = Some(instr);
                if let Some(pred) = &instr.pred {
                    let fall = self.region(format!("after `{}`", instr.spelling));
                    self.end(End::Branch { pred, taken, fall }, fall);
                } else {
                    let next = self.region("unreachable".into());
                    self.end(End::Goto(taken), next);
                }
            }
            (Host::Control, Control::BranchTable) => {
                let after = self.guarded(instr);
                let Some(Operand::Labels(labels)) = instr.operands.last().map(|a| &a.value) else { return };
                let targets = labels.iter().map(|l| self.label(module, *l)).collect();
                self.end(End::Switch { instr, targets }, after);
            }
            (Host::Control, control @ (Control::Return | Control::Exit)) => {
                let after = self.guarded(instr);
                let exits = self.entry || control == Control::Exit;
                self.end(if exits { End::Exit } else { End::Return }, after);
            }
            (Host::Control, Control::Call) => self.call(module, instr),
            (Host::Block | Host::Registers, _) => {
                // a region of its own, which is entered again when the wait is over
                if instr.pred.is_none() {
                    let block = self.region(format!("`{}`", instr.spelling));
                    self.end(End::Goto(block), block);
                }
                let next = self.guarded(instr);
                self.end(End::Block { instr, next }, next);
            }
            // A trap that is always taken: nothing runs after it. The region graph and the control-flow graph agree on that.
            (_, Control::Trap) if instr.entry.effects.control.ends_block(instr.pred.is_some()) => {
                self.p.regions[self.current].body.push(Item::Instr(instr));
                let next = self.region("unreachable".into());
                self.end(End::Exit, next);
            }
            (Host::NotYet(why), _) => self.p.not_yet(instr.spelling.clone(), why, instr.index),
            _ => self.p.regions[self.current].body.push(Item::Instr(instr)),
        }
    }

    fn call(&mut self, module: &'m Module, instr: &'m Instr) {
        let targets = callees(instr);
        if targets.is_empty() {
            return self.p.not_yet("indirect call".into(), "its targets are not known", instr.index);
        }
        if let Some(f) = targets.iter().find(|f| !module.functions[f.0 as usize].defined) {
            let what = format!("call {}", module.functions[f.0 as usize].name);
            return self.p.not_yet(what, "the function has no body in the module", instr.index);
        }
        let after = self.guarded(instr);
        let mut callees = Vec::new();
        for func in targets {
            // The results are fetched in a region that only this call of this function returns to.
            let back = self.region(format!("return of `{}`", instr.spelling));
            self.p.regions[back].results = Some((instr, func));
            self.p.regions[back].end = End::Goto(after);
            callees.push(Callee { func, start: 0, back });
            if !self.p.funcs.contains(&func) {
                self.p.funcs.push(func);
            }
        }
        self.end(End::Call { instr, callees }, after);
    }
}

fn build<'m>(module: &'m Module, f: FuncId, function: &'m Function, p: &mut Program<'m>) {
    let labels = vec![None; function.labels.len()];
    let mut b = Builder { p, func: f, entry: function.entry, labels, current: 0 };
    b.current = b.region(format!("start of `{}`", function.name));
    for stmt in &function.body {
        match stmt {
            Stmt::Label(id) => {
                let r = b.label(module, *id);
                b.end(End::Goto(r), r);
            }
            Stmt::Instr(instr) => b.statement(module, instr),
        }
    }
    let last = b.current;
    b.end(if b.entry { End::Exit } else { End::Return }, last);
}
