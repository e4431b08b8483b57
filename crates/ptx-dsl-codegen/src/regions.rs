//! A kernel and the functions it calls as *regions*: maximal straight pieces in which no warp can wait or part. A blocking
//! instruction is a region of its own. Regions are numbered in reverse postorder, so that the lowest number among the
//! fragments of a warp is the one that reconvergence waits for.

use ptx_dsl_isa::hir::{FuncId, Instr, Module, Operand};
use std::collections::BTreeSet;
use std::rc::Rc;

use super::mentions::Key;

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
    End(Rc<BTreeSet<Key>>),
}

/// A condition of some lanes.
#[derive(Clone, Copy)]
pub struct Cond<'m> {
    pub operand: &'m Operand,
    /// Or does it have to be false?
    pub holds: bool,
}

impl<'m> Region<'m> {
    pub fn new(func: FuncId, name: String) -> Self {
        Region { func, name, results: None, body: Vec::new(), end: End::Exit }
    }

    /// Takes it; nothing is left.
    fn take(&mut self) -> Self {
        std::mem::replace(self, Region::new(self.func, String::new()))
    }

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
    /// Return sites by function; empty where nothing is called.
    pub returns: Vec<Vec<usize>>,
    /// Functions that may run again before they return.
    pub recursive: BTreeSet<u32>,
    /// From how many places each region is entered.
    pub ways: Vec<u32>,
    /// The region behind each with which it ends together, as [`ending`] has it; itself where it ends, [`NONE`] where it does not.
    ends: Vec<usize>,
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
            returns: Vec::new(),
            recursive: BTreeSet::new(),
            ways: Vec::new(),
            ends: Vec::new(),
            falls: Vec::new(),
            not_yet: Vec::new(),
        }
    }

    /// Bytes of local memory that the variables of all functions take.
    pub fn local_size(&self, module: &Module) -> u32 {
        let mut size = 0;
        for f in &self.funcs {
            size = size.max(module.functions[f.0 as usize].local_end);
        }
        size
    }
}

/// A region and those that follow it when some lanes end at each branch and the others go on to their end too: for them all it
/// is one region, at the end of which they end together. One alone if it is not like that.
pub fn ending(p: &Program<'_>, pc: usize) -> Vec<usize> {
    let mut list = vec![pc];
    let mut last = pc;
    while let Some(next) = p.ends.get(last)
        && *next != last
        && *next != NONE
    {
        last = *next;
        list.push(last);
    }
    list
}

/// Has [`ending`] more than the region itself to give?
pub fn ends_as_one(p: &Program<'_>, pc: usize) -> bool {
    matches!(p.ends.get(pc), Some(next) if *next != pc && *next != NONE)
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
    if !block && p.ways[next] == 1 { Some(next) } else { None }
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
    if !successors(p, last).contains(&pc) {
        return None;
    }
    let list = falling(p, pc);
    if cycle(p, &list) { Some(list) } else { None }
}

fn fall_follows(p: &Program<'_>, r: usize) -> Option<usize> {
    let End::Branch { taken, fall, .. } = p.regions[r].end else { return None };
    let next = &p.regions[fall];
    let block = matches!(next.end, End::Block { .. }) || next.results.is_some();
    if !block && fall < taken && p.ways[fall] == 1 { Some(fall) } else { None }
}

/// No region.
const NONE: usize = usize::MAX;

/// What regions have that follow `r`, one after the other, once for all: what `last` says of the last of them, and what `more`
/// makes of what the next one has. A region is entered from one place where it follows, so that none follows itself.
fn along(
    p: &Program<'_>,
    follows: fn(&Program<'_>, usize) -> Option<usize>,
    last: fn(&Program<'_>, usize) -> usize,
    more: fn(&Program<'_>, usize, usize) -> usize,
) -> Vec<usize> {
    let n = p.regions.len();
    let (mut all, mut known) = (vec![NONE; n], vec![false; n]);
    let mut list = Vec::new();
    for r in 0..n {
        let mut at = r;
        while !known[at]
            && list.len() <= n
            && let Some(next) = follows(p, at)
        {
            list.push(at);
            at = next;
        }
        if !known[at] {
            (all[at], known[at]) = (last(p, at), true);
        }
        let mut value = all[at];
        while let Some(at) = list.pop() {
            value = more(p, at, value);
            (all[at], known[at]) = (value, true);
        }
    }
    all
}

/// Does the last of these regions, which follow each other, go back to the first, and are all other ways out of them ahead?
pub fn cycle(p: &Program<'_>, list: &[usize]) -> bool {
    let (head, last) = (list[0], list[list.len() - 1]);
    for (i, r) in list.iter().enumerate() {
        let inside = *list.get(i + 1).unwrap_or(&head);
        for s in successors(p, *r) {
            if s != inside && s <= head {
                return false;
            }
        }
    }
    successors(p, last).contains(&head)
}

/// Where a function can return to.
pub fn returns<'p>(p: &'p Program<'_>, f: FuncId) -> &'p [usize] {
    match p.returns.get(f.0 as usize) {
        Some(sites) => sites,
        None => &[],
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
        End::Call { callees, .. } => {
            let mut next = callees.iter().map(|c| c.back).collect::<Vec<_>>();
            for c in callees {
                next.push(c.start);
            }
            next
        }
        End::Return => returns(p, p.regions[r].func).to_vec(),
        End::Exit => vec![],
    }
}

/// The regions that are reached, in reverse postorder.
fn reached(p: &Program<'_>) -> Vec<usize> {
    let mut seen = vec![false; p.regions.len()];
    let (mut order, mut stack) = (Vec::new(), vec![(0, successors(p, 0))]);
    seen[0] = true;
    while let Some((r, next)) = stack.last_mut() {
        match next.pop() {
            Some(s) if !seen[s] => {
                seen[s] = true;
                stack.push((s, successors(p, s)));
            }
            Some(_) => {}
            None => {
                order.push(*r);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

/// Gives the regions that an end names their numbers.
fn renumber(end: &mut End<'_>, number: &[usize]) {
    match end {
        End::Goto(t) => *t = number[*t],
        End::Branch { taken, fall, .. } => (*taken, *fall) = (number[*taken], number[*fall]),
        End::Switch { targets, .. } => {
            for t in targets {
                *t = number[*t];
            }
        }
        End::Block { next, .. } => *next = number[*next],
        End::Call { callees, .. } => {
            for c in callees {
                (c.start, c.back) = (number[c.start], number[c.back]);
            }
        }
        End::Return | End::Exit => {}
    }
}

/// From how many places each region is entered.
fn ways(p: &Program<'_>) -> Vec<u32> {
    let mut ways = vec![0; p.regions.len()];
    if let Some(entry) = ways.first_mut() {
        *entry = 1;
    }
    for r in 0..p.regions.len() {
        for s in successors(p, r) {
            ways[s] += 1;
        }
    }
    ways
}

/// Joins what always runs in a row, drops what is never reached and sorts the rest into reverse postorder.
pub fn number(mut p: Program) -> Program {
    join(&mut p);
    cut_long(&mut p);
    let order = reached(&p);
    let mut number = vec![usize::MAX; p.regions.len()];
    let mut regions = Vec::with_capacity(order.len());
    for (pc, r) in order.iter().enumerate() {
        number[*r] = pc;
        regions.push(p.regions[*r].take());
    }
    for r in &mut regions {
        renumber(&mut r.end, &number);
    }
    for sites in &mut p.returns {
        let mut left = Vec::new();
        for s in sites.iter() {
            if number[*s] != usize::MAX {
                left.push(number[*s]);
            }
        }
        *sites = left;
    }
    p.regions = regions;
    p.ways = ways(&p);
    let last = |p: &Program<'_>, r: usize| if matches!(p.regions[r].end, End::Exit) { r } else { NONE };
    p.ends =
        along(&p, end_follows, last, |p, r, next| if next != NONE { end_follows(p, r).unwrap_or(NONE) } else { NONE });
    p.falls = along(&p, fall_follows, |_, r| r, |_, _, last| last);
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
            let mut rest = Region::new(region.func, region.name.clone());
            rest.body = region.body.split_off(at);
            rest.end = std::mem::replace(&mut region.end, End::Goto(next));
            p.regions.push(rest);
            last = next;
        }
    }
}

/// The first place behind so many items that is in no condition.
fn place_to_cut(body: &[Item<'_>]) -> Option<usize> {
    let mut inside = 0;
    for (n, item) in body.iter().enumerate() {
        if n >= CUT && inside == 0 {
            return Some(n);
        }
        match item {
            Item::If(_) => inside += 1,
            Item::End(_) => inside -= 1,
            Item::Instr(_) | Item::Else => {}
        }
    }
    None
}

/// A region whose only way in is a `Goto` becomes the tail of the region that goes there.
fn join(p: &mut Program) {
    let mut ways = ways(p);
    for r in 0..ways.len() {
        while let End::Goto(t) = p.regions[r].end {
            let blocking = matches!(p.regions[t].end, End::Block { .. }) && p.regions[t].body.is_empty();
            if t == r || ways[t] != 1 || blocking || p.regions[t].results.is_some() {
                break;
            }
            let mut tail = p.regions[t].take();
            p.regions[r].body.append(&mut tail.body);
            p.regions[r].end = tail.end;
            ways[t] = 0;
        }
    }
}
