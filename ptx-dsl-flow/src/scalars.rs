//! Registers in place of memory that only the thread itself can reach: spills to `.local` variables, arguments and results in
//! `.param` variables. What is followed through registers is then followed through them too.
//!
//! A variable is replaced if all that is done with its address are loads and stores of places in it that do not overlap.

use super::Flow;
use super::inline::{bits, inlined, mov};
use super::lanes::{Fact, Lanes};
use ptx_dsl_table::hir::{Base, FuncId, Function, Instr, Module, Operand, Reg, RegId, Space, Stmt, VarId};
use ptx_dsl_table::isa::Role;
use ptx_dsl_table::list::List;

/// How often what was found leads to more: an address in a slot is the address of the next one.
const ROUNDS: usize = 4;

/// The function as the rules see it, if that differs from how it is written.
pub(super) fn seen(module: &Module, function: &Function, whole: &[FuncId]) -> Option<Function> {
    let inline = inlined(module, function, whole);
    let body = inline.as_ref().map_or(&function.body, |i| &i.body);
    let regs = inline.as_ref().map_or(&function.regs, |i| &i.regs);
    let extra = inline.as_ref().map_or(Vec::new(), |i| i.extra.clone());
    // By variable: it is in registers as far as it can be.
    let mut done = vec![false; module.vars.len() + extra.len()];
    let mut slots = find(module, &extra, regs, body, &done);
    if inline.is_none() && slots.is_empty() {
        let numbers = numbers(&function.regs, body);
        if numbers.is_empty() || !body.iter().any(|s| matches!(s, Stmt::Instr(i) if counted(i, &numbers))) {
            return None;
        }
    }
    let first = inline.as_ref().map_or(u32::MAX, |i| i.first);
    let mut out = head(function);
    let (mut regs, mut body) = match inline {
        Some(i) => {
            out.labels = i.labels;
            (i.regs, i.body)
        }
        None => {
            out.labels = function.labels.clone();
            (function.regs.clone(), function.body.clone())
        }
    };
    for _ in 0..ROUNDS {
        if slots.is_empty() {
            break;
        }
        slots.clean.iter().for_each(|slot| mark(&mut done, slot.0));
        let of = vec![None; slots.clean.len()];
        let new = Vec::with_capacity(body.len());
        let mut rewrite = Rewrite { module, slots, regs: &mut regs, of, extra: &extra, first, body: new };
        for stmt in body {
            match stmt {
                Stmt::Instr(i) => rewrite.instr(i),
                label => rewrite.body.push(label),
            }
        }
        body = rewrite.body;
        slots = find(module, &extra, &regs, &body, &done);
    }
    let numbers = numbers(&regs, &body);
    for stmt in &mut body {
        if let Stmt::Instr(i) = stmt
            && counts(i)
        {
            for arg in i.operands.iter_mut().filter(|a| a.role == Role::Src) {
                if let Operand::Reg(r, 0) = arg.value
                    && let Some(n) = of(&numbers, r)
                {
                    arg.value = Operand::Imm(n);
                }
            }
        }
    }
    out.body = body;
    out.regs = regs;
    Some(out)
}

/// Instructions whose counts, bytes, parities and masks the rules want to know. Compilers put these into registers.
fn counts(i: &Instr) -> bool {
    let op = i.entry.opcode;
    ["mbarrier.", "cp.", "bar", "st.bulk"].iter().any(|p| op.starts_with(p))
}

fn counted(i: &Instr, numbers: &[Option<u64>]) -> bool {
    let known = |o: &Operand| matches!(o, Operand::Reg(r, 0) if of(numbers, *r).is_some());
    counts(i) && i.operands.iter().any(|a| a.role == Role::Src && known(&a.value))
}

/// What is known of a register.
fn of<T: Copy>(known: &[Option<T>], r: RegId) -> Option<T> {
    known.get(r.0 as usize).copied().flatten()
}

/// By register: the constant, if it is written once, with one. Nothing where nobody asks.
fn numbers(regs: &[Reg], body: &[Stmt]) -> Vec<Option<u64>> {
    let instrs = || body.iter().filter_map(|s| if let Stmt::Instr(i) = s { Some(i) } else { None });
    if !instrs().any(|i| counts(i)) {
        return Vec::new();
    }
    let mut out = vec![None; regs.len()];
    let writes = writes(regs.len(), body);
    for i in instrs().filter(|i| i.entry.opcode == "mov" && i.pred.is_none()) {
        if let [d, a] = i.operands.as_slice()
            && let Operand::Reg(d, 0) = d.value
            && writes.get(d.0 as usize) == Some(&1)
        {
            out[d.0 as usize] = match &a.value {
                Operand::Imm(n) => Some(*n),
                Operand::Reg(r, 0) => of(&out, *r),
                _ => None,
            };
        }
    }
    out
}

/// How often each register is written.
fn writes(regs: usize, body: &[Stmt]) -> Vec<u32> {
    let mut out = vec![0u32; regs];
    for stmt in body {
        let Stmt::Instr(i) = stmt else { continue };
        for a in i.operands.iter().filter(|a| a.role == Role::Dst) {
            super::ssa::registers(&a.value, &mut |r, _| {
                if let Some(n) = out.get_mut(r.0 as usize) {
                    *n += 1;
                }
            });
        }
    }
    out
}

/// The function without the branches that constant arguments of its callees decide, if there are any.
pub(super) fn decided(flow: &Flow, lanes: &Lanes) -> Option<Function> {
    let mut taken = vec![None; flow.cfg.instrs.len()];
    let mut any = false;
    for &b in &flow.cfg.rpo {
        let Some(at) = flow.cfg.branch(b) else { continue };
        let i = flow.cfg.instrs[at as usize];
        let Some((p, positive)) = flow.ssa.guard(at, i) else { continue };
        if let (Fact::Const(n), "bra") = (lanes.facts[p as usize], i.entry.opcode) {
            taken[at as usize] = Some((n != 0) == positive);
            any = true;
        }
    }
    if !any {
        return None;
    }
    let mut out =
        Function { regs: flow.function.regs.clone(), labels: flow.function.labels.clone(), ..head(flow.function) };
    let mut taken = taken.into_iter();
    for stmt in &flow.function.body {
        match stmt {
            Stmt::Label(_) => out.body.push(stmt.clone()),
            Stmt::Instr(i) => match taken.next().flatten() {
                Some(false) => {}
                Some(true) => out.body.push(Stmt::Instr(Box::new(Instr { pred: None, ..(**i).clone() }))),
                None => out.body.push(stmt.clone()),
            },
        }
    }
    Some(out)
}

/// All of a function but its registers, labels and statements.
fn head(f: &Function) -> Function {
    Function {
        name: f.name.clone(),
        entry: f.entry,
        defined: f.defined,
        linkage: f.linkage.clone(),
        params: f.params.clone(),
        rets: f.rets.clone(),
        regs: Vec::new(),
        labels: Vec::new(),
        body: Vec::new(),
        local_end: f.local_end,
        reqntid: f.reqntid,
        maxntid: f.maxntid,
        reqnctapercluster: f.reqnctapercluster,
        maxclusterrank: f.maxclusterrank,
        explicitcluster: f.explicitcluster,
        shared_size: f.shared_size,
        maxnreg: f.maxnreg,
        minnctapersm: f.minnctapersm,
        span: f.span,
    }
}

/// A place in a variable: variable, offset, bytes.
type Slot = (VarId, i64, u32);

/// What an address register that is written once holds.
#[derive(Clone, Copy)]
struct Known {
    var: VarId,
    offset: i64,
    generic: bool,
}

struct Seen {
    /// By register: writes of it.
    writes: Vec<u32>,
    /// By register.
    known: Vec<Option<Known>>,
}

/// The places that registers stand for, by instruction operand: see [`place`].
struct Slots {
    seen: Seen,
    /// Places that are loaded and stored as a whole only, in ascending order.
    clean: Vec<Slot>,
}

impl Slots {
    fn is_empty(&self) -> bool {
        self.clean.is_empty()
    }
}

/// Variables whose space is that of one thread; beyond the module's are those of arguments in registers.
fn private(module: &Module, extra: &[(u32, RegId)], v: VarId) -> Option<(Space, u32)> {
    match module.vars.get(v.0 as usize) {
        Some(var) => matches!(var.space, Space::Local | Space::ParamFunc).then_some((var.space, var.size)),
        None => extra.get(v.0 as usize - module.vars.len()).map(|e| (Space::ParamFunc, e.0)),
    }
}

/// The place that a load or store touches first, and the number of elements.
fn place(i: &Instr, seen: &Seen) -> Option<(Slot, u32, bool)> {
    let writes = match i.entry.opcode {
        "ld" => false,
        "st" => true,
        _ => return None,
    };
    let arg = i.address()?;
    let named = i.quals.iter().any(|q| matches!(q.as_str(), ".local" | ".param" | ".param::func"));
    let other = i.quals.iter().any(|q| super::provenance::space(q).is_some()) && !named;
    let (known, offset) = match &arg.value {
        Operand::Address(Base::Var(v), offset) => (Known { var: *v, offset: 0, generic: false }, *offset),
        Operand::Address(Base::Reg(r), offset) => (of(&seen.known, *r)?, *offset),
        _ => return None,
    };
    if other || known.generic == named {
        return None;
    }
    let n = [(".v2", 2), (".v4", 4), (".v8", 8)].iter().find(|v| i.has(v.0)).map_or(1, |v| v.1);
    let size = i.types.last()?.bytes();
    Some(((known.var, known.offset.checked_add(offset)?, size), n, writes))
}

/// The data operands of a load or store, one for each element.
fn elements(i: &Instr) -> Vec<&Operand> {
    let data = i.operands.iter().find(|a| a.role != Role::Addr && matches!(a.name, "d" | "a" | "b"));
    match data.map(|a| &a.value) {
        Some(Operand::Vector(list)) => list.iter().list(),
        Some(o) => vec![o],
        None => Vec::new(),
    }
}

/// Places that nothing but loads and stores of themselves touches, in variables that are not done yet.
fn find(module: &Module, extra: &[(u32, RegId)], regs: &[Reg], body: &[Stmt], done: &[bool]) -> Slots {
    let mut seen = Seen { writes: Vec::new(), known: Vec::new() };
    let instrs = || body.iter().filter_map(|s| if let Stmt::Instr(i) = s { Some(i) } else { None });
    let touches = |o: &Operand| match o {
        Operand::Address(Base::Var(v), _) | Operand::VarAddr(v, _) => private(module, extra, *v).is_some(),
        _ => false,
    };
    if !instrs().any(|i| i.operands.iter().any(|a| touches(&a.value))) {
        return Slots { seen, clean: Vec::new() };
    }
    seen.writes = writes(regs.len(), body);
    seen.known = vec![None; regs.len()];
    // By variable: it stays what it is.
    let mut memory = done.to_vec();
    // The places, and whether each use of one leaves it clean.
    let mut used: Vec<(Slot, bool)> = Vec::new();
    let mut together: Vec<(Slot, u32)> = Vec::new();
    for i in instrs() {
        let made = derived(module, extra, i, &seen);
        if let Some((d, known)) = made {
            seen.known[d.0 as usize] = Some(known);
            continue;
        }
        let at = place(i, &seen).filter(|(slot, ..)| private(module, extra, slot.0).is_some());
        if let Some(((var, offset, size), n, _)) = at {
            let whole = private(module, extra, var).is_some_and(|(_, bytes)| {
                offset >= 0
                    && size > 0
                    && offset % i64::from(size) == 0
                    && offset + i64::from(n * size) <= i64::from(bytes)
            });
            let data = elements(i);
            let fits = |o: &&Operand| match o {
                Operand::Reg(r, _) => regs.get(r.0 as usize).is_some_and(|r| r.ty.bytes() == size),
                Operand::Imm(_) | Operand::Sink => true,
                _ => false,
            };
            let clean = whole && matches!(size, 2 | 4 | 8) && data.len() == n as usize && data.iter().all(fits);
            for k in 0..n {
                used.push(((var, offset + i64::from(k * size), size), clean));
            }
            if n > 1 {
                together.push(((var, offset, size), n));
            }
        }
        let mut escape = |v: VarId| mark(&mut memory, v);
        let compares = i.entry.opcode == "setp";
        for a in &i.operands {
            if compares || (at.is_some() && a.role == Role::Addr) {
                continue;
            }
            escapes(&a.value, &seen, &mut escape);
        }
    }
    // One for each place: clean if all its uses are.
    used.sort_unstable();
    used.dedup_by_key(|u| u.0);
    // What is loaded and stored as one vector is replaced as a whole, or not.
    let mut changed = true;
    while changed {
        changed = false;
        for ((var, offset, size), n) in &together {
            let all = || (0..*n).map(|k| (*var, offset + i64::from(k * size), *size));
            let clean = all().all(|slot| used.binary_search(&(slot, true)).is_ok());
            for slot in all().filter(|_| !clean) {
                if let Ok(at) = used.binary_search(&(slot, true)) {
                    used[at].1 = false;
                    changed = true;
                }
            }
        }
    }
    // Places that overlap are memory.
    for pair in used.windows(2) {
        let ((v, o, size), (w, p, _)) = (pair[0].0, pair[1].0);
        if v == w && o + i64::from(size) > p {
            mark(&mut memory, v);
        }
    }
    used.retain(|((v, ..), clean)| *clean && memory.get(v.0 as usize) == Some(&false));
    Slots { seen, clean: used.into_iter().map(|u| u.0).list() }
}

fn mark(vars: &mut [bool], v: VarId) {
    if let Some(mark) = vars.get_mut(v.0 as usize) {
        *mark = true;
    }
}

/// Variables whose address goes where it is not followed, or that a call reads and writes.
fn escapes(o: &Operand, seen: &Seen, each: &mut dyn FnMut(VarId)) {
    match o {
        Operand::VarAddr(v, _) | Operand::Address(Base::Var(v), _) => each(*v),
        Operand::Reg(r, _) | Operand::Address(Base::Reg(r), _) => {
            if let Some(k) = of(&seen.known, *r) {
                each(k.var);
            }
        }
        Operand::Vector(list) | Operand::Addresses(list) | Operand::List(list) => {
            list.iter().for_each(|o| escapes(o, seen, each));
        }
        Operand::Pair(a, b) => {
            escapes(a, seen, each);
            escapes(b, seen, each);
        }
        _ => {}
    }
}

/// A register that is written once, with the address of a private variable.
fn derived(module: &Module, extra: &[(u32, RegId)], i: &Instr, seen: &Seen) -> Option<(RegId, Known)> {
    if i.pred.is_some() || !matches!(i.entry.opcode, "mov" | "cvta" | "add") {
        return None;
    }
    let (d, a) = (i.operands.first()?, i.operands.get(1)?);
    let Operand::Reg(d, 0) = d.value else { return None };
    if seen.writes.get(d.0 as usize) != Some(&1) || !i.types.iter().all(|t| matches!(t.bits(), 32 | 64)) {
        return None;
    }
    let from = match &a.value {
        Operand::VarAddr(v, offset) if matches!(private(module, extra, *v), Some((Space::Local, _))) => {
            Known { var: *v, offset: *offset, generic: false }
        }
        Operand::Reg(r, 0) => of(&seen.known, *r)?,
        _ => return None,
    };
    let known = match i.entry.opcode {
        "mov" => from,
        "add" => match i.operands.get(2)?.value {
            Operand::Imm(n) if !i.has(".cc") => Known { offset: from.offset.checked_add(n as i64)?, ..from },
            _ => return None,
        },
        _ => {
            let back = i.has(".to") || i.spelling.starts_with("cvta.to.");
            if back != from.generic || !i.quals.iter().any(|q| q.ends_with(".local")) {
                return None;
            }
            Known { generic: !back, ..from }
        }
    };
    Some((d, known))
}

struct Rewrite<'a> {
    module: &'a Module,
    slots: Slots,
    regs: &'a mut Vec<Reg>,
    /// By place: its register, if it has one already.
    of: Vec<Option<RegId>>,
    extra: &'a [(u32, RegId)],
    first: u32,
    body: Vec<Stmt>,
}

impl Rewrite<'_> {
    /// The register of a place; none if that stays memory.
    fn register(&mut self, slot: Slot) -> Option<RegId> {
        let at = self.slots.clean.binary_search(&slot).ok()?;
        if self.of[at].is_some() {
            return self.of[at];
        }
        // An argument that came in a register has one.
        let given = (slot.0.0 as usize).checked_sub(self.first as usize).and_then(|k| self.extra.get(k));
        let reg = match given {
            Some((size, reg)) if *size == slot.2 => *reg,
            _ => {
                self.regs.push(Reg { name: String::new(), ty: bits(slot.2), lanes: 1 });
                RegId(self.regs.len() as u32 - 1)
            }
        };
        self.of[at] = Some(reg);
        self.of[at]
    }

    fn instr(&mut self, i: Box<Instr>) {
        let at = place(&i, &self.slots.seen).filter(|(slot, ..)| self.slots.clean.binary_search(slot).is_ok());
        let Some(((var, offset, size), _, writes)) = at else {
            self.body.push(Stmt::Instr(i));
            return;
        };
        let mut moves = Vec::new();
        for (k, o) in elements(&i).into_iter().enumerate() {
            let slot = (var, offset + k as i64 * i64::from(size), size);
            // A neighbour of another shape keeps all of it in memory.
            let Some(reg) = self.register(slot) else {
                self.body.push(Stmt::Instr(i));
                return;
            };
            let reg = Operand::Reg(reg, 0);
            let stmt = match (writes, o) {
                (_, Operand::Sink) => continue,
                (true, o) => mov(size, reg, o.clone(), i.pred.clone(), i.span),
                (false, o) => mov(size, o.clone(), reg, i.pred.clone(), i.span),
            };
            moves.extend(stmt);
        }
        self.body.append(&mut moves);
        // A spill itself still reads what it stores; what holds an address lets it go nowhere else.
        let spill = self.module.vars.get(var.0 as usize).is_some_and(|v| v.space == Space::Local);
        let address =
            elements(&i).iter().any(|o| matches!(o, Operand::Reg(r, _) if of(&self.slots.seen.known, *r).is_some()));
        if writes && spill && !address {
            self.body.push(Stmt::Instr(i));
        }
    }
}
