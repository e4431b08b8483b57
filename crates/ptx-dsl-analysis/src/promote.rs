//! Promotion of memory to registers: spills to `.local` variables, arguments and results in `.param` variables. Also removes guards that
//! are constant.
//!
//! A variable is promoted if its address is used only by loads and stores of slots that do not overlap.

use crate::accesses::value_access;
use crate::dataflow::Bits;
use crate::flow::Flow;
use crate::inline::{Inlined, inlined, mov};
use crate::lanes::Lanes;
use crate::provenance::in_space;
use ptx_dsl_isa::hir::{Base, FuncId, Function, Instr, Module, Operand, Reg, RegId, Space, Stmt, VarId};
use ptx_dsl_isa::isa::{Barrier, Group, Mbarrier, MemoryOp, Role, Tensor};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;

/// Rounds: the address in a promoted slot may be the address of another one.
const ROUNDS: usize = 4;

/// The function after inlining and promotion, if that changes it.
pub fn simplify(module: &Module, function: &Function, whole: &[FuncId]) -> Option<Function> {
    let inline = inlined(module, function, whole);
    let (regs, body, extra) = match &inline {
        Some(i) => (i.regs.as_slice(), i.body.as_slice(), i.extra.as_slice()),
        None => (function.regs.as_slice(), function.body.as_slice(), [].as_slice()),
    };
    // By variable: it is promoted as far as possible.
    let mut done = vec![false; module.vars.len() + extra.len()];
    let slots = find(module, extra, regs, body, &done);
    if inline.is_none() && slots.is_empty() && !any_counted(regs, body) {
        return None;
    }
    let mut work = match inline {
        Some(inlined) => inlined,
        None => Inlined {
            regs: function.regs.clone(),
            labels: function.labels.clone(),
            body: function.body.clone(),
            extra: Vec::new(),
            first: u32::MAX,
        },
    };
    replace(module, &mut work, slots, &mut done);
    constants(&work.regs, &mut work.body);
    Some(Function { regs: work.regs, labels: work.labels, body: work.body, ..head(function) })
}

/// Promotes the slots, and those that are found afterwards.
fn replace(module: &Module, work: &mut Inlined, mut slots: Slots, done: &mut [bool]) {
    for _ in 0..ROUNDS {
        if slots.is_empty() {
            break;
        }
        for slot in &slots.clean {
            mark(done, slot.0);
        }
        let of = vec![None; slots.clean.len()];
        let body = std::mem::take(&mut work.body);
        work.body.reserve(body.len());
        let mut rewrite = Rewrite { module, slots, of, work };
        for stmt in body {
            match stmt {
                Stmt::Instr(i) => rewrite.instr(i),
                label => rewrite.work.body.push(label),
            }
        }
        slots = find(module, &work.extra, &work.regs, &work.body, done);
    }
}

/// Propagates constants into operands whose number the rules need.
fn constants(regs: &[Reg], body: &mut [Stmt]) {
    let numbers = numbers(regs, body);
    for stmt in body {
        let Stmt::Instr(i) = stmt else { continue };
        if !counts(i) {
            continue;
        }
        for arg in &mut i.operands {
            if let (Role::Src, Operand::Reg(r, 0)) = (arg.role, &arg.value)
                && let Some(n) = of(&numbers, *r)
            {
                arg.value = Operand::Imm(n);
            }
        }
    }
}

/// Instructions whose counts, bytes, parities and masks the rules need. Compilers keep these in registers.
fn counts(i: &Instr) -> bool {
    let entry = i.entry;
    matches!(entry.effects.tensor, Tensor::Alloc | Tensor::Dealloc)
        || entry.effects.mbarrier != Mbarrier::None
        || matches!(entry.effects.group, Group::Copy(_) | Group::Bulk(_))
        || entry.effects.barrier != Barrier::None
        || i.opcode == op::st_bulk
}

/// Does such an instruction use a register with a constant?
fn any_counted(regs: &[Reg], body: &[Stmt]) -> bool {
    let numbers = numbers(regs, body);
    if numbers.is_empty() {
        return false;
    }
    for stmt in body {
        let Stmt::Instr(i) = stmt else { continue };
        if !counts(i) {
            continue;
        }
        for a in &i.operands {
            if let (Role::Src, Operand::Reg(r, 0)) = (a.role, &a.value)
                && of(&numbers, *r).is_some()
            {
                return true;
            }
        }
    }
    false
}

/// The known fact about a register.
fn of<T: Copy>(known: &[Option<T>], r: RegId) -> Option<T> {
    match known.get(r.0 as usize) {
        Some(known) => *known,
        None => None,
    }
}

/// By register: the constant, if its only write is a constant. Empty if no instruction needs it.
fn numbers(regs: &[Reg], body: &[Stmt]) -> Vec<Option<u64>> {
    let mut needed = false;
    for stmt in body {
        needed = needed || matches!(stmt, Stmt::Instr(i) if counts(i));
    }
    if !needed {
        return Vec::new();
    }
    let mut out = vec![None; regs.len()];
    let writes = writes(regs.len(), body);
    for stmt in body {
        if let Stmt::Instr(i) = stmt
            && i.opcode == op::mov
            && i.pred.is_none()
            && let [d, a] = i.operands.as_slice()
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

/// Counts the writes of each register.
fn writes(regs: usize, body: &[Stmt]) -> Vec<u32> {
    let mut out = vec![0u32; regs];
    for stmt in body {
        let Stmt::Instr(i) = stmt else { continue };
        for a in &i.operands {
            if a.role == Role::Dst {
                a.value.registers(&mut |r, _| {
                    if let Some(n) = out.get_mut(r.0 as usize) {
                        *n += 1;
                    }
                });
            }
        }
    }
    out
}

/// The function without instructions whose guards never hold and without guards that always hold, if there are any.
pub fn remove_constant_guards(flow: &Flow, lanes: &Lanes) -> Option<Function> {
    // By instruction: it always runs; it never does.
    let n = flow.cfg.instrs.len();
    let (mut always, mut never) = (Bits::none(n), Bits::none(n));
    let mut any = false;
    for (block, at, _) in flow.walk() {
        if let Some((runs, _)) = crate::guards::constant_guard(flow, lanes, block, at) {
            let set = if runs { &mut always } else { &mut never };
            set.set(at as usize);
            any = true;
        }
    }
    if !any {
        return None;
    }
    let mut body = Vec::with_capacity(flow.function.body.len());
    let mut next = 0;
    for stmt in &flow.function.body {
        let mut stmt = stmt.clone();
        if let Stmt::Instr(i) = &mut stmt {
            let at = next;
            next += 1;
            if never.has(at) {
                continue;
            }
            if always.has(at) {
                i.pred = None;
            }
        }
        body.push(stmt);
    }
    let f = flow.function;
    Some(Function { regs: f.regs.clone(), labels: f.labels.clone(), body, ..head(f) })
}

/// A copy of a function without registers, labels and statements.
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
        dynamic_shared: f.dynamic_shared,
        cooperative: f.cooperative,
        reserved_shared: f.reserved_shared,
        maxnreg: f.maxnreg,
        minnctapersm: f.minnctapersm,
        rust: f.rust.clone(),
        span: f.span,
    }
}

/// A slot: variable, offset, bytes.
type Slot = (VarId, i64, u32);

/// The address in a register that is written once.
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

/// The slots of a function.
struct Slots {
    seen: Seen,
    /// Slots that can be promoted, in ascending order.
    clean: Vec<Slot>,
}

impl Slots {
    fn is_empty(&self) -> bool {
        self.clean.is_empty()
    }
}

/// The space and size of a thread-private variable. Numbers beyond the module's variables are arguments in registers.
fn private(module: &Module, extra: &[(u32, RegId)], v: VarId) -> Option<(Space, u32)> {
    match module.vars.get(v.0 as usize) {
        Some(var) => {
            let known = matches!(var.space, Space::Local | Space::ParamFunc) && var.rust.is_none();
            known.then_some((var.space, var.size))
        }
        None => Some((Space::ParamFunc, extra.get(v.0 as usize - module.vars.len())?.0)),
    }
}

/// The first slot of a load or store, the number of elements, whether it writes.
fn place(i: &Instr, seen: &Seen) -> Option<(Slot, u32, bool)> {
    let writes = match value_access(i) {
        MemoryOp::Load => false,
        MemoryOp::Store => true,
        _ => return None,
    };
    let arg = i.address()?;
    let named = i.has_any(&[q::local, q::param, q::param_func]);
    let other = !named && in_space(i);
    let (known, offset) = match &arg.value {
        Operand::Address(Base::Var(v), offset) => (Known { var: *v, offset: 0, generic: false }, *offset),
        Operand::Address(Base::Reg(r), offset) => (of(&seen.known, *r)?, *offset),
        _ => return None,
    };
    if other || known.generic == named {
        return None;
    }
    let n = i.elements();
    let size = i.types.last()?.bytes();
    Some(((known.var, known.offset.checked_add(offset)?, size), n, writes))
}

/// The data operands of a load or store, one for each element.
fn elements(i: &Instr) -> &[Operand] {
    for a in &i.operands {
        if a.role != Role::Addr && matches!(a.name, "d" | "a" | "b") {
            return match &a.value {
                Operand::Vector(list) => list,
                o => std::slice::from_ref(o),
            };
        }
    }
    &[]
}

/// Finds the slots that can be promoted, in variables that are not done.
fn find(module: &Module, extra: &[(u32, RegId)], regs: &[Reg], body: &[Stmt], done: &[bool]) -> Slots {
    let mut seen = Seen { writes: Vec::new(), known: Vec::new() };
    if !names_private(module, extra, body) {
        return Slots { seen, clean: Vec::new() };
    }
    seen.writes = writes(regs.len(), body);
    seen.known = vec![None; regs.len()];
    let mut uses = Uses { memory: done.to_vec(), used: Vec::new(), together: Vec::new() };
    for stmt in body {
        let Stmt::Instr(i) = stmt else { continue };
        match derived(module, extra, i, &seen) {
            Some((d, known)) => seen.known[d.0 as usize] = Some(known),
            None => uses.add(module, extra, regs, i, &seen),
        }
    }
    Slots { seen, clean: uses.clean() }
}

/// Does an operand name a thread-private variable?
fn names_private(module: &Module, extra: &[(u32, RegId)], body: &[Stmt]) -> bool {
    for stmt in body {
        let Stmt::Instr(i) = stmt else { continue };
        for a in &i.operands {
            if let Operand::Address(Base::Var(v), _) | Operand::VarAddr(v, _) = a.value
                && private(module, extra, v).is_some()
            {
                return true;
            }
        }
    }
    false
}

/// The uses of thread-private variables.
struct Uses {
    /// By variable: it stays in memory.
    memory: Vec<bool>,
    /// The slots, each with whether the use allows promotion.
    used: Vec<(Slot, bool)>,
    /// Vector accesses: the first slot and the number of elements.
    together: Vec<(Slot, u32)>,
}

impl Uses {
    fn add(&mut self, module: &Module, extra: &[(u32, RegId)], regs: &[Reg], i: &Instr, seen: &Seen) {
        let mut slot = false;
        if let Some((first, n, _)) = place(i, seen)
            && let Some((_, bytes)) = private(module, extra, first.0)
        {
            slot = true;
            let clean = fits(first, n, bytes) && plain(elements(i), n, first.2, regs);
            self.used.extend((0..n).map(|k| (nth(first, k), clean)));
            if n > 1 {
                self.together.push((first, n));
            }
        }
        if i.opcode == op::setp {
            return;
        }
        for a in &i.operands {
            if !slot || a.role != Role::Addr {
                escapes(&a.value, seen, &mut |v| mark(&mut self.memory, v));
            }
        }
    }

    /// The slots that can be promoted, in ascending order.
    fn clean(mut self) -> Vec<Slot> {
        // A slot can be promoted if all its uses allow it.
        let mut places: Vec<Slot> = Vec::new();
        let mut clean: Vec<bool> = Vec::new();
        self.used.sort_unstable();
        for (slot, is) in self.used {
            if places.last() != Some(&slot) {
                places.push(slot);
                clean.push(is);
            }
        }
        while split_vectors(&self.together, &places, &mut clean) {}
        // Overlapping slots stay in memory.
        for pair in places.windows(2) {
            let ((v, o, size), (w, p, _)) = (pair[0], pair[1]);
            if v == w && o + i64::from(size) > p {
                mark(&mut self.memory, v);
            }
        }
        let is_private = |slot: &Slot| self.memory.get(slot.0.0 as usize) == Some(&false);
        places.into_iter().zip(clean).filter(|(slot, clean)| *clean && is_private(slot)).map(|(slot, _)| slot).collect()
    }
}

/// Slot `k` of a vector.
fn nth((var, offset, size): Slot, k: u32) -> Slot {
    (var, offset + i64::from(k * size), size)
}

/// Do `n` slots lie in a variable of `bytes` bytes, aligned?
fn fits((_, offset, size): Slot, n: u32, bytes: u32) -> bool {
    matches!(size, 2 | 4 | 8)
        && offset >= 0
        && offset % i64::from(size) == 0
        && offset + i64::from(n * size) <= i64::from(bytes)
}

/// Are these `n` registers or constants of `size` bytes?
fn plain(data: &[Operand], n: u32, size: u32, regs: &[Reg]) -> bool {
    let mut all = data.len() == n as usize;
    for o in data {
        all &= match o {
            Operand::Reg(r, _) => matches!(regs.get(r.0 as usize), Some(r) if r.ty.bytes() == size),
            Operand::Imm(_) | Operand::Sink => true,
            _ => false,
        };
    }
    all
}

/// Promotes the slots of a vector together or not at all. Returns whether anything changed.
fn split_vectors(together: &[(Slot, u32)], places: &[Slot], clean: &mut [bool]) -> bool {
    let mut changed = false;
    for (first, n) in together {
        let mut all = true;
        for k in 0..*n {
            all &= matches!(places.binary_search(&nth(*first, k)), Ok(at) if clean[at]);
        }
        if all {
            continue;
        }
        for k in 0..*n {
            if let Ok(at) = places.binary_search(&nth(*first, k)) {
                changed |= clean[at];
                clean[at] = false;
            }
        }
    }
    changed
}

fn mark(vars: &mut [bool], v: VarId) {
    if let Some(mark) = vars.get_mut(v.0 as usize) {
        *mark = true;
    }
}

/// Calls `each` with the variables whose address escapes in an operand.
fn escapes(o: &Operand, seen: &Seen, each: &mut dyn FnMut(VarId)) {
    o.visit(&mut |o| match o {
        Operand::VarAddr(v, _) | Operand::Address(Base::Var(v), _) => each(*v),
        Operand::Reg(r, _) | Operand::Address(Base::Reg(r), _) => {
            if let Some(k) = of(&seen.known, *r) {
                each(k.var);
            }
        }
        _ => {}
    });
}

/// A register whose only write is the address of a private variable.
fn derived(module: &Module, extra: &[(u32, RegId)], i: &Instr, seen: &Seen) -> Option<(RegId, Known)> {
    if i.pred.is_some() || !matches!(i.opcode, op::mov | op::cvta | op::add) {
        return None;
    }
    let (d, a) = (i.operands.first()?, i.operands.get(1)?);
    let Operand::Reg(d, 0) = d.value else { return None };
    if seen.writes.get(d.0 as usize) != Some(&1) {
        return None;
    }
    for t in &i.types {
        if !matches!(t.bits(), 32 | 64) {
            return None;
        }
    }
    let from = match &a.value {
        Operand::VarAddr(v, offset) if matches!(private(module, extra, *v), Some((Space::Local, _))) => {
            Known { var: *v, offset: *offset, generic: false }
        }
        Operand::Reg(r, 0) => of(&seen.known, *r)?,
        _ => return None,
    };
    let known = match i.opcode {
        op::mov => from,
        op::add => match i.operands.get(2)?.value {
            Operand::Imm(n) if !i.has(q::cc) => Known { offset: from.offset.checked_add(n as i64)?, ..from },
            _ => return None,
        },
        _ => {
            let back = i.has(q::to);
            if back != from.generic || !i.has(q::local) {
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
    /// By slot: its register, if it has one.
    of: Vec<Option<RegId>>,
    work: &'a mut Inlined,
}

impl Rewrite<'_> {
    /// The register of a slot; `None` if it stays in memory.
    fn register(&mut self, slot: Slot) -> Option<RegId> {
        let at = self.slots.clean.binary_search(&slot).ok()?;
        if self.of[at].is_none() {
            self.of[at] = Some(self.given(slot).unwrap_or_else(|| self.work.register(slot.2)));
        }
        self.of[at]
    }

    /// The register of an argument that came in one.
    fn given(&self, slot: Slot) -> Option<RegId> {
        let k = slot.0.0.checked_sub(self.work.first)?;
        match self.work.extra.get(k as usize) {
            Some((size, reg)) if *size == slot.2 => Some(*reg),
            _ => None,
        }
    }

    fn instr(&mut self, i: Box<Instr>) {
        if self.moves(&i) {
            self.work.body.push(Stmt::Instr(i));
        }
    }

    /// Replaces a load or store by moves. Returns whether the instruction stays as well.
    fn moves(&mut self, i: &Instr) -> bool {
        let Some((first, _, writes)) = place(i, &self.slots.seen) else { return true };
        if self.slots.clean.binary_search(&first).is_err() {
            return true;
        }
        let (var, _, size) = first;
        let mut moves = Vec::new();
        for (k, o) in elements(i).iter().enumerate() {
            // A vector with a slot that stays in memory stays.
            let Some(reg) = self.register(nth(first, k as u32)) else { return true };
            let reg = Operand::Reg(reg, 0);
            let stmt = match (writes, o) {
                (_, Operand::Sink) => None,
                (true, o) => mov(size, reg, o.clone(), i.pred.clone(), i.span),
                (false, o) => mov(size, o.clone(), reg, i.pred.clone(), i.span),
            };
            moves.extend(stmt);
        }
        self.work.body.append(&mut moves);
        // The store of a spill stays: it is a use of the stored register. A stored address would escape, so its store goes.
        let mut stays = writes && matches!(self.module.vars.get(var.0 as usize), Some(v) if v.space == Space::Local);
        for o in elements(i) {
            stays &= !matches!(o, Operand::Reg(r, _) if of(&self.slots.seen.known, *r).is_some());
        }
        stays
    }
}
