//! A kernel and the functions it calls as *regions*: maximal straight pieces in which no warp can wait or part. A blocking
//! instruction is a region of its own. Regions are numbered in reverse postorder, so that the lowest number among the
//! fragments of a warp is the one that reconvergence waits for.

use crate::sorted::{Map, Set};
use ptx_dsl_table::hir::{FuncId, Function, Instr, LabelId, Module, Operand, Stmt};
use ptx_dsl_table::isa::Host;
use ptx_dsl_table::list::List;
use std::rc::Rc;

use super::classes::Key;

/// A region before numbering; targets are indices into [`Program::regions`].
pub struct Region<'m> {
    /// The function it belongs to.
    pub func: FuncId,
    /// Label, or what it starts with; for reports.
    pub name: String,
    /// Results of a call to fetch first: the call and its callee.
    pub results: Option<(&'m Instr, FuncId)>,
    /// Instructions that neither wait nor jump.
    pub body: Vec<Item<'m>>,
    /// What comes then.
    pub end: End<'m>,
}

/// A part of a region.
pub enum Item<'m> {
    Instr(&'m Instr),
    /// What follows is for the lanes for which this holds: the others keep what they had. There is no way in or out but through
    /// the beginning and the end.
    If(Cond<'m>),
    /// And what follows is for the others.
    Else,
    /// Behind it, these are read.
    End(Rc<Set<Key>>),
}

/// A condition of some lanes.
#[derive(Clone, Copy)]
pub struct Cond<'m> {
    pub operand: &'m Operand,
    /// Or does it have to be false?
    pub holds: bool,
}

impl<'m> Region<'m> {
    /// The instructions of its body.
    pub fn instructions(&self) -> impl Iterator<Item = &'m Instr> {
        self.body.iter().filter_map(|item| if let Item::Instr(i) = item { Some(*i) } else { None })
    }
}

/// How a region ends.
pub enum End<'m> {
    Goto(usize),
    /// Lanes whose predicate holds go to the first.
    Branch {
        pred: &'m (Operand, bool),
        taken: usize,
        fall: usize,
    },
    /// `brx.idx`
    Switch {
        instr: &'m Instr,
        targets: Vec<usize>,
    },
    /// An instruction that may wait.
    Block {
        instr: &'m Instr,
        next: usize,
    },
    /// A call: each function it may reach, its first region, and where to go on after it.
    Call {
        instr: &'m Instr,
        callees: Vec<Callee>,
    },
    /// `ret` of a function: to whichever of its call sites.
    Return,
    Exit,
}

/// A function that a call may reach.
pub struct Callee {
    pub func: FuncId,
    /// Its first region.
    pub start: usize,
    /// The region that it returns to.
    pub back: usize,
}

/// All regions of a kernel, numbered by position.
pub struct Program<'m> {
    pub regions: Vec<Region<'m>>,
    /// Functions in use, the kernel first.
    pub funcs: Vec<FuncId>,
    /// Return sites by function.
    pub returns: Map<FuncId, Vec<usize>>,
    /// Functions that may run again before they return.
    pub recursive: Set<FuncId>,
    /// From how many places each region is entered.
    pub ways: Vec<u32>,
    /// The region behind each with which it ends together, as [`ending`] has it; itself where it ends, `None` where it does not.
    ends: Vec<Option<usize>>,
    /// The last of the regions that [`falling`] gives for each.
    falls: Vec<usize>,
    /// Things the host cannot run yet: what, and the instruction.
    pub not_yet: Vec<(String, u32)>,
}

impl Program<'_> {
    /// No code at all.
    pub fn empty(entry: FuncId) -> Self {
        Program {
            regions: Vec::new(),
            funcs: vec![entry],
            returns: Map::new(),
            recursive: Set::new(),
            ways: Vec::new(),
            ends: Vec::new(),
            falls: Vec::new(),
            not_yet: Vec::new(),
        }
    }

    /// Bytes of local memory that the variables of all functions take.
    pub fn local_size(&self, module: &Module) -> u32 {
        self.funcs.iter().map(|f| module.functions[f.0 as usize].local_end).max().unwrap_or(0)
    }
}

/// A region and those that follow it when some lanes end at each branch and the others go on to their end too: for them all it
/// is one region, at the end of which they end together. One alone if it is not like that.
pub fn ending(p: &Program<'_>, pc: usize) -> Vec<usize> {
    let mut list = vec![pc];
    while let Some(Some(next)) = p.ends.get(list[list.len() - 1]).filter(|next| **next != list.last().copied()) {
        list.push(*next);
    }
    list
}

/// Has [`ending`] more than the region itself to give?
pub fn ends_as_one(p: &Program<'_>, pc: usize) -> bool {
    p.ends.get(pc).is_some_and(|next| next.is_some_and(|next| next != pc))
}

/// What follows a region at which some lanes end, for the others.
fn end_follows(p: &Program<'_>, r: usize) -> Option<usize> {
    let End::Branch { taken, fall, .. } = p.regions[r].end else { return None };
    let ends = |r: usize| {
        let r = &p.regions[r];
        r.body.is_empty() && r.results.is_none() && matches!(r.end, End::Exit)
    };
    let next = match (ends(taken), ends(fall)) {
        (true, _) => fall,
        (_, true) => taken,
        _ => return None,
    };
    let block = matches!(p.regions[next].end, End::Block { .. });
    (!block && p.ways.get(next) == Some(&1)).then_some(next)
}

/// A region at which lanes may part and what those do next that do not jump, as far as they alone go there: one piece of code,
/// in which the others are left behind.
pub fn falling(p: &Program<'_>, pc: usize) -> Vec<usize> {
    let mut list = vec![pc];
    while let Some(next) = fall_follows(p, list[list.len() - 1]) {
        list.push(next);
    }
    list
}

/// The same if it goes back to the region, as a loop.
pub fn falling_round(p: &Program<'_>, pc: usize) -> Option<Vec<usize>> {
    let last = *p.falls.get(pc)?;
    successors(p, last).contains(&pc).then(|| falling(p, pc)).filter(|list| cycle(p, list))
}

fn fall_follows(p: &Program<'_>, r: usize) -> Option<usize> {
    let End::Branch { taken, fall, .. } = p.regions[r].end else { return None };
    let next = &p.regions[fall];
    let block = matches!(next.end, End::Block { .. }) || next.results.is_some();
    (!block && fall < taken && p.ways.get(fall) == Some(&1)).then_some(fall)
}

/// What regions have that follow `r`, one after the other, once for all: what `last` says of the last of them, and what `more`
/// makes of what the next one has. A region is entered from one place where it follows, so that none follows itself.
fn along<T: Copy>(
    n: usize,
    follows: impl Fn(usize) -> Option<usize>,
    last: impl Fn(usize) -> T,
    more: impl Fn(usize, T) -> T,
) -> Vec<T> {
    let mut all: Vec<Option<T>> = vec![None; n];
    for r in 0..n {
        let mut list = vec![r];
        let mut found = None;
        while let Some(at) = list.last().copied() {
            found = all[at];
            match follows(at) {
                Some(next) if found.is_none() && list.len() <= n => list.push(next),
                _ => break,
            }
        }
        for at in list.into_iter().rev() {
            let value = all[at].unwrap_or_else(|| found.map_or_else(|| last(at), |next| more(at, next)));
            (all[at], found) = (Some(value), Some(value));
        }
    }
    all.into_iter().enumerate().map(|(r, value)| value.unwrap_or_else(|| last(r))).list()
}

/// Does the last of these regions, which follow each other, go back to the first, and are all other ways out of them ahead?
pub fn cycle(p: &Program<'_>, list: &[usize]) -> bool {
    let (head, last) = (list[0], list[list.len() - 1]);
    successors(p, last).contains(&head)
        && list.iter().enumerate().all(|(i, r)| {
            let inside = |s: &usize| if *r == last { *s == head } else { list.get(i + 1) == Some(s) };
            successors(p, *r).iter().filter(|s| !inside(s)).all(|s| *s > head)
        })
}

/// The functions a call instruction may reach.
pub fn callees(instr: &Instr) -> Vec<FuncId> {
    let mut found = Vec::new();
    let mut list = None;
    for arg in &instr.operands {
        match &arg.value {
            Operand::Func(f) => return vec![*f],
            Operand::Funcs(fs) => list = Some(fs.clone()),
            _ => {}
        }
    }
    found.extend(list.unwrap_or_default());
    found
}

/// Cuts `entry`, whose body is that of `function`, and everything it calls into regions.
pub fn program<'m>(module: &'m Module, entry: FuncId, function: &'m Function) -> Program<'m> {
    let mut p = Program::empty(entry);
    let mut starts = Map::new();
    let mut next = 0;
    while next < p.funcs.len() {
        let f = p.funcs[next];
        next += 1;
        starts.insert(f, p.regions.len());
        cut(module, f, if f == entry { function } else { &module.functions[f.0 as usize] }, &mut p);
    }
    for region in &mut p.regions {
        if let End::Call { callees, .. } = &mut region.end {
            for c in callees {
                c.start = starts[&c.func];
                let sites = p.returns.or_insert(c.func, Vec::new());
                if let Err(at) = sites.binary_search(&c.back) {
                    sites.insert(at, c.back);
                }
            }
        }
    }
    recursion(&mut p);
    number(p)
}

/// Finds the functions that can reach themselves.
fn recursion(p: &mut Program) {
    let mut calls: Map<FuncId, Vec<FuncId>> = Map::new();
    for r in &p.regions {
        if let End::Call { callees, .. } = &r.end {
            calls.or_insert(r.func, Vec::new()).extend(callees.iter().map(|c| c.func));
        }
    }
    for &f in &p.funcs {
        let mut seen = Set::new();
        let mut todo: Vec<_> = calls.get(&f).cloned().unwrap_or_default();
        while let Some(g) = todo.pop() {
            if seen.insert(g) {
                todo.extend(calls.get(&g).into_iter().flatten());
            }
        }
        if seen.contains(&f) {
            p.recursive.insert(f);
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
        self.p.regions.push(Region { func: self.func, name, results: None, body: Vec::new(), end: End::Exit });
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
            let targets = labels.iter().map(|l| c.label(module, *l)).list();
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

/// Where a region can go on.
pub fn successors(p: &Program, r: usize) -> Vec<usize> {
    match &p.regions[r].end {
        End::Goto(t) => vec![*t],
        // Taken first (the last in the list): of a loop's two ways out of its head that is the exit, which must come after the body.
        End::Branch { taken, fall, .. } => vec![*fall, *taken],
        End::Switch { targets, .. } => targets.clone(),
        End::Block { next, .. } => vec![*next],
        // The way back is listed first, so that the callee comes before it in reverse postorder.
        End::Call { callees, .. } => callees.iter().map(|c| c.back).chain(callees.iter().map(|c| c.start)).list(),
        End::Return => p.returns.get(&p.regions[r].func).cloned().unwrap_or_default(),
        End::Exit => vec![],
    }
}

/// Joins what always runs in a row, drops what is never reached and sorts the rest into reverse postorder.
pub fn number(mut p: Program) -> Program {
    join(&mut p);
    cut_long(&mut p);
    let n = p.regions.len();
    let mut state = vec![0u8; n];
    let mut order = Vec::with_capacity(n);
    let mut stack = vec![(0, successors(&p, 0))];
    if n > 0 {
        state[0] = 1;
    }
    while let Some((r, next)) = stack.last_mut() {
        match next.pop() {
            Some(s) if state[s] == 0 => {
                state[s] = 1;
                let succ = successors(&p, s);
                stack.push((s, succ));
            }
            Some(_) => {}
            None => {
                order.push(*r);
                stack.pop();
            }
        }
    }
    order.reverse();
    let mut number = vec![usize::MAX; n];
    for (pc, r) in order.iter().enumerate() {
        number[*r] = pc;
    }
    let mut old = p.regions.into_iter().map(Some).list();
    p.regions = order.iter().filter_map(|r| old[*r].take()).list();
    for r in &mut p.regions {
        match &mut r.end {
            End::Goto(t) => *t = number[*t],
            End::Branch { taken, fall, .. } => (*taken, *fall) = (number[*taken], number[*fall]),
            End::Switch { targets, .. } => targets.iter_mut().for_each(|t| *t = number[*t]),
            End::Block { next, .. } => *next = number[*next],
            End::Call { callees, .. } => {
                for c in callees {
                    (c.start, c.back) = (number[c.start], number[c.back]);
                }
            }
            End::Return | End::Exit => {}
        }
    }
    for (_, sites) in p.returns.iter_mut() {
        sites.iter_mut().for_each(|s| *s = number[*s]);
        sites.retain(|s| *s != usize::MAX);
    }
    let mut ways = vec![0; p.regions.len()];
    if let Some(entry) = ways.first_mut() {
        *entry = 1;
    }
    for r in 0..p.regions.len() {
        for s in successors(&p, r) {
            ways[s] += 1;
        }
    }
    p.ways = ways;
    let n = p.regions.len();
    let exits = |r: usize| matches!(p.regions[r].end, End::Exit).then_some(r);
    let ends = along(n, |r| end_follows(&p, r), exits, |r, next| next.and(end_follows(&p, r)));
    let falls = along(n, |r| fall_follows(&p, r), |r| r, |_, last| last);
    (p.ends, p.falls) = (ends, falls);
    p
}

/// Longer straight pieces are cut: rustc takes time with the square of what a function holds. Others are not, since registers go
/// through memory where one is.
const LONGEST: usize = 1000;
/// What is left of them, or a little more.
const CUT: usize = 500;

/// Cuts regions that are too long.
fn cut_long(p: &mut Program) {
    for first in 0..p.regions.len() {
        if p.regions[first].body.len() <= LONGEST {
            continue;
        }
        let mut last = first;
        while let Some(at) = place_to_cut(&p.regions[last].body) {
            let next = p.regions.len();
            let region = &mut p.regions[last];
            let rest = Region {
                func: region.func,
                name: region.name.clone(),
                results: None,
                body: region.body.split_off(at),
                end: std::mem::replace(&mut region.end, End::Goto(next)),
            };
            p.regions.push(rest);
            last = next;
        }
    }
}

/// The first place behind so many items that is in no condition.
fn place_to_cut(body: &[Item<'_>]) -> Option<usize> {
    let mut inside = 0;
    body.iter().enumerate().position(|(n, item)| {
        let here = n >= CUT && inside == 0;
        match item {
            Item::If(_) => inside += 1,
            Item::End(_) => inside -= 1,
            Item::Instr(_) | Item::Else => {}
        }
        here
    })
}

/// A region whose only way in is a `Goto` becomes the tail of the region that goes there.
fn join(p: &mut Program) {
    let n = p.regions.len();
    let mut ways = vec![0u32; n];
    if n > 0 {
        ways[0] = 1;
    }
    for r in 0..n {
        for s in successors(p, r) {
            ways[s] += 1;
        }
    }
    for r in 0..n {
        while let End::Goto(t) = p.regions[r].end {
            let blocking = matches!(p.regions[t].end, End::Block { .. }) && p.regions[t].body.is_empty();
            if t == r || ways[t] != 1 || blocking || p.regions[t].results.is_some() {
                break;
            }
            let tail = &mut p.regions[t];
            let (body, end) = (std::mem::take(&mut tail.body), std::mem::replace(&mut tail.end, End::Exit));
            p.regions[r].body.extend(body);
            p.regions[r].end = end;
            ways[t] = 0;
        }
    }
}
