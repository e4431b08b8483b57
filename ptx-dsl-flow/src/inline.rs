//! A kernel with the functions it calls put in their places, so that every rule sees through a `call`: what a callee initialises,
//! fences, waits for, and which addresses it gets and gives.
//!
//! Arguments and results travel in `.param` variables; [`super::scalars`] makes registers of these. What is not put in place
//! (indirect calls, recursion, functions without a body or with errors, too much code) stays a `call` that may do anything.

use ptx_dsl_table::hir::{
    Arg, Base, FuncId, Function, Instr, Label, LabelId, Module, Operand, Param, Reg, RegId, Stmt, VarId,
};
use ptx_dsl_table::isa::{self, Role};
use ptx_dsl_table::list::List;
use ptx_dsl_table::span::Span;
use ptx_dsl_table::ty::Ty;

/// So many statements a kernel may grow to, so many more than it has, and so deep calls may be nested.
const MOST: usize = 20_000;
const MORE: usize = 5_000;
const DEEP: usize = 12;

/// A function that is put together.
pub(super) struct Inlined {
    pub regs: Vec<Reg>,
    pub labels: Vec<Label>,
    pub body: Vec<Stmt>,
    /// Registers that stand for `.param` variables of callees that got a register or constant: the first is for variable
    /// [`Inlined::first`], by their sizes in bytes.
    pub extra: Vec<(u32, RegId)>,
    /// The number of variables in the module: those of `extra` follow.
    pub first: u32,
}

/// The function with its callees in place, if it has any that can be.
pub(super) fn inlined(module: &Module, function: &Function, whole: &[FuncId]) -> Option<Inlined> {
    // A function is looked at where a kernel calls it.
    if !function.entry {
        return None;
    }
    let calls = |s: &Stmt| matches!(s, Stmt::Instr(i) if callee(module, whole, i).is_some());
    if !function.body.iter().any(calls) {
        return None;
    }
    let out = Inlined {
        regs: function.regs.clone(),
        labels: function.labels.clone(),
        body: Vec::with_capacity(function.body.len()),
        extra: Vec::new(),
        first: module.vars.len() as u32,
    };
    let mut builder = Builder { module, whole, out, stack: Vec::new(), most: MOST.min(function.body.len() * 4 + MORE) };
    builder.put(function, &Place { regs: 0, labels: 0, vars: &[], end: None });
    Some(builder.out)
}

/// The function that a `call` names, if it is known through and through.
fn callee<'m>(module: &'m Module, whole: &[FuncId], i: &Instr) -> Option<(FuncId, &'m Function)> {
    if i.entry.opcode != "call" {
        return None;
    }
    let Operand::Func(id) = i.operand("func")?.value else { return None };
    let f = module.functions.get(id.0 as usize)?;
    (f.defined && !f.entry && !f.body.is_empty() && whole.binary_search(&id).is_ok()).then_some((id, f))
}

/// Where a function is put: what is added to its registers and labels, what its parameters are, where it returns to.
struct Place<'a> {
    regs: u32,
    labels: u32,
    /// What stands for the variables of its parameters.
    vars: &'a [(VarId, VarId)],
    end: Option<LabelId>,
}

struct Builder<'m> {
    module: &'m Module,
    whole: &'m [FuncId],
    out: Inlined,
    stack: Vec<FuncId>,
    most: usize,
}

/// An entry of the table by its opcode.
pub(super) fn entry(family: &str, opcode: &str, section: &str) -> Option<(&'static str, &'static isa::Instr)> {
    let (name, list) = isa::FAMILIES.iter().find(|f| f.0 == family)?;
    let found = list.iter().find(|i| i.opcode == opcode && i.section == section)?;
    Some((*name, found))
}

/// An instruction that nobody wrote.
fn made(
    (family, entry): (&'static str, &'static isa::Instr),
    types: Vec<Ty>,
    pred: Option<(Operand, bool)>,
    operands: Vec<Arg>,
    span: Span,
) -> Stmt {
    let quals = types.iter().map(|t| format!(".{}", t.name())).list();
    let spelling = format!("{}{}", entry.opcode, quals.concat());
    let instr = Instr { index: u32::MAX, family, entry, form: 0, quals, types, pred, operands, spelling, span };
    Stmt::Instr(Box::new(instr))
}

/// `mov` of so many bytes.
pub(super) fn mov(bytes: u32, d: Operand, a: Operand, pred: Option<(Operand, bool)>, span: Span) -> Option<Stmt> {
    let ty = match bytes {
        2 => Ty::B16,
        4 => Ty::B32,
        8 => Ty::B64,
        _ => return None,
    };
    let arg = |name, role, value| Arg { name, role, ty: Some(ty), value, span };
    let operands = vec![arg("d", Role::Dst, d), arg("a", Role::Src, a)];
    Some(made(entry("movement", "mov", "9.7.9.4")?, vec![ty], pred, operands, span))
}

fn branch(to: LabelId, pred: Option<(Operand, bool)>, span: Span) -> Option<Stmt> {
    let operands = vec![Arg { name: "tgt", role: Role::Name, ty: None, value: Operand::Label(to), span }];
    Some(made(entry("control", "bra", "9.7.12.3")?, Vec::new(), pred, operands, span))
}

impl Builder<'_> {
    fn put(&mut self, f: &Function, place: &Place) {
        for stmt in &f.body {
            match stmt {
                Stmt::Label(id) => self.out.body.push(Stmt::Label(LabelId(id.0 + place.labels))),
                Stmt::Instr(i) => {
                    let mut i = i.clone();
                    if let Some((p, _)) = &mut i.pred {
                        remap(p, place);
                    }
                    for arg in &mut i.operands {
                        remap(&mut arg.value, place);
                    }
                    if self.call(&i) {
                        continue;
                    }
                    let back = place.end.filter(|_| i.entry.opcode == "ret");
                    match back.and_then(|to| branch(to, i.pred.clone(), i.span)) {
                        Some(jump) => self.out.body.push(jump),
                        None => self.out.body.push(Stmt::Instr(i)),
                    }
                }
            }
        }
    }

    fn label(&mut self) -> LabelId {
        self.out.labels.push(Label { name: String::new(), span: Span::default() });
        LabelId(self.out.labels.len() as u32 - 1)
    }

    /// Puts the callee in place of the call; `false` if it stays a call.
    fn call(&mut self, i: &Instr) -> bool {
        let Some((id, f)) = callee(self.module, self.whole, i) else { return false };
        if self.stack.contains(&id) || self.stack.len() >= DEEP || self.out.body.len() + f.body.len() > self.most {
            return false;
        }
        let list = |name: &str| match i.operand(name).map(|a| &a.value) {
            Some(Operand::List(list)) => list.as_slice(),
            _ => &[],
        };
        let (args, rets) = (list("args"), list("ret"));
        if args.len() != f.params.len() || rets.len() != f.rets.len() {
            return false;
        }
        let base = self.out.regs.len() as u32;
        let mut vars: Vec<(VarId, VarId)> = Vec::new();
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let mut extra: Vec<(u32, RegId)> = Vec::new();
        for (given, p, back) in args
            .iter()
            .zip(&f.params)
            .map(|(g, p)| (g, p, false))
            .chain(rets.iter().zip(&f.rets).map(|(g, p)| (g, p, true)))
        {
            let ok = match (given, p.reg, p.var) {
                (Operand::VarAddr(v, 0), None, Some(var)) => {
                    vars.push((var, *v));
                    true
                }
                (Operand::Sink, _, _) if back => true,
                (Operand::Reg(..) | Operand::Imm(_), Some(r), _) => {
                    let formal = Operand::Reg(RegId(r.0 + base), 0);
                    moves(&mut before, &mut after, given, formal, p, back, i.span)
                }
                (Operand::Reg(..) | Operand::Imm(_), None, Some(var)) if !p.array => {
                    let reg = RegId(base + (f.regs.len() + extra.len()) as u32);
                    vars.push((var, VarId(self.out.first + (self.out.extra.len() + extra.len()) as u32)));
                    extra.push((p.size, reg));
                    moves(&mut before, &mut after, given, Operand::Reg(reg, 0), p, back, i.span)
                }
                _ => false,
            };
            if !ok {
                return false;
            }
        }
        let over = match &i.pred {
            Some((p, positive)) => {
                let over = self.label();
                let Some(jump) = branch(over, Some((p.clone(), !positive)), i.span) else { return false };
                self.out.body.push(jump);
                Some(over)
            }
            None => None,
        };
        self.out.regs.extend(f.regs.iter().cloned());
        let slot = |(size, _): &(u32, RegId)| Reg { name: String::new(), ty: bits(*size), lanes: 1 };
        self.out.regs.extend(extra.iter().map(slot));
        self.out.extra.append(&mut extra);
        let labels = self.out.labels.len() as u32;
        self.out.labels.extend(f.labels.iter().cloned());
        let end = self.label();
        self.out.body.append(&mut before);
        self.stack.push(id);
        self.put(f, &Place { regs: base, labels, vars: &vars, end: Some(end) });
        self.stack.pop();
        self.out.body.push(Stmt::Label(end));
        self.out.body.append(&mut after);
        self.out.body.extend(over.map(Stmt::Label));
        true
    }
}

pub(super) fn bits(bytes: u32) -> Ty {
    match bytes {
        1 => Ty::B8,
        2 => Ty::B16,
        4 => Ty::B32,
        _ => Ty::B64,
    }
}

fn moves(
    before: &mut Vec<Stmt>,
    after: &mut Vec<Stmt>,
    given: &Operand,
    formal: Operand,
    p: &Param,
    back: bool,
    span: Span,
) -> bool {
    let stmt = if back {
        mov(p.size, given.clone(), formal, None, span)
    } else {
        mov(p.size, formal, given.clone(), None, span)
    };
    let found = stmt.is_some();
    if back {
        after.extend(stmt)
    } else {
        before.extend(stmt)
    }
    found
}

fn remap(o: &mut Operand, place: &Place) {
    let var = |v: &mut VarId| {
        if let Some((_, to)) = place.vars.iter().find(|p| p.0 == *v) {
            *v = *to;
        }
    };
    match o {
        Operand::Reg(r, _) | Operand::NotReg(r) | Operand::Select(r, _) => r.0 += place.regs,
        Operand::VarAddr(v, _) => var(v),
        Operand::Address(Base::Reg(r), _) => r.0 += place.regs,
        Operand::Address(Base::Var(v), _) => var(v),
        Operand::Label(l) => l.0 += place.labels,
        Operand::Labels(list) => list.iter_mut().for_each(|l| l.0 += place.labels),
        Operand::Pair(a, b) => {
            remap(a, place);
            remap(b, place);
        }
        Operand::Neg(a) => remap(a, place),
        Operand::Vector(list) | Operand::Addresses(list) | Operand::List(list) => {
            list.iter_mut().for_each(|o| remap(o, place));
        }
        Operand::Imm(_)
        | Operand::Sreg(_)
        | Operand::FuncAddr(_)
        | Operand::Sink
        | Operand::Func(_)
        | Operand::Funcs(_)
        | Operand::Address(Base::Abs, _) => {}
    }
}
