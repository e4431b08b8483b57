//! Inlining: replaces calls by the bodies of their callees, so that every rule sees through a `call`.
//!
//! Arguments and results travel in `.param` variables; `promote.rs` makes registers of these. A call that cannot be inlined (indirect,
//! recursive, without a body, with errors, too large) stays and may do anything.

use ptx_dsl_isa::hir::Written;
use ptx_dsl_isa::hir::{
    Arg, Base, FuncId, Function, Instr, Label, LabelId, Module, Operand, Param, Reg, RegId, Stmt, VarId,
};
use ptx_dsl_isa::isa::Role;
use ptx_dsl_isa::opcode::{Entry, Opcode, op};
use ptx_dsl_isa::qualifier::Qualifier;
use ptx_dsl_isa::span::Span;
use ptx_dsl_isa::ty::Ty;

/// Limits: statements of the result, statements more than before, depth of calls.
const MOST: usize = 20_000;
const MORE: usize = 5_000;
const DEEP: usize = 12;

/// A function with inlined calls.
pub struct Inlined {
    /// The registers of the kernel and of every body in it.
    pub regs: Vec<Reg>,
    /// The labels, likewise.
    pub labels: Vec<Label>,
    /// The statements.
    pub body: Vec<Stmt>,
    /// Registers in place of `.param` variables of callees, with their sizes in bytes: the first one stands for variable
    /// [`Inlined::first`].
    pub extra: Vec<(u32, RegId)>,
    /// The number of variables in the module: those of `extra` follow.
    pub first: u32,
}

/// The function with its calls inlined, if any can be.
pub fn inlined(module: &Module, function: &Function, whole: &[FuncId]) -> Option<Inlined> {
    // Functions are checked where a kernel calls them.
    if !function.entry {
        return None;
    }
    if !calls(module, whole, &function.body) {
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
    builder.copy_body(function, &Mapping { regs: 0, labels: 0, vars: &[], end: None });
    Some(builder.out)
}

/// Is there a call that can be inlined?
fn calls(module: &Module, whole: &[FuncId], body: &[Stmt]) -> bool {
    body.iter().any(|stmt| matches!(stmt, Stmt::Instr(i) if callee(module, whole, i).is_some()))
}

/// The callee, if its body has no errors.
fn callee<'m>(module: &'m Module, whole: &[FuncId], i: &Instr) -> Option<(FuncId, &'m Function)> {
    if i.opcode != op::call {
        return None;
    }
    let Operand::Func(id) = i.operand("func")?.value else { return None };
    let f = module.functions.get(id.0 as usize)?;
    (f.defined && !f.entry && !f.body.is_empty() && whole.binary_search(&id).is_ok()).then_some((id, f))
}

/// The renumbering of a body: offsets of registers and labels, variables of its parameters, the label that `ret` goes to.
struct Mapping<'a> {
    regs: u32,
    labels: u32,
    /// The variables in place of its parameters.
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
pub fn entry(opcode: Opcode, section: &str) -> Option<Entry> {
    opcode.entries().find(|entry| entry.instr.section == section)
}

/// A synthetic instruction.
fn made(entry: Entry, ty: Option<Ty>, pred: Option<(Operand, bool)>, operands: Vec<Arg>, span: Span) -> Stmt {
    let (opcode, spelling) = (entry.opcode, entry.opcode.to_string());
    let mut written = Written { opcode, quals: Vec::new(), types: Vec::new(), pred, operands, spelling };
    if let Some(ty) = ty {
        if let Some(qualifier) = Qualifier::from_word(ty.name()) {
            written.spelling.push_str(qualifier.text());
            written.quals.push(qualifier);
        }
        written.types.push(ty);
    }
    let (family, entry) = (entry.family, entry.instr);
    let words = Vec::new();
    Stmt::Instr(Box::new(Instr { index: u32::MAX, family, entry, form: 0, written, used_bytes: None, span, words }))
}

/// `mov` of this many bytes.
pub fn mov(bytes: u32, d: Operand, a: Operand, pred: Option<(Operand, bool)>, span: Span) -> Option<Stmt> {
    let ty = match bytes {
        2 => Ty::B16,
        4 => Ty::B32,
        8 => Ty::B64,
        _ => return None,
    };
    let arg = |name, role, value| Arg { name, role, ty: Some(ty), value, span };
    let operands = vec![arg("d", Role::Dst, d), arg("a", Role::Src, a)];
    Some(made(entry(op::mov, "9.7.9.4")?, Some(ty), pred, operands, span))
}

fn branch(to: LabelId, pred: Option<(Operand, bool)>, span: Span) -> Option<Stmt> {
    let operands = vec![Arg { name: "tgt", role: Role::Name, ty: None, value: Operand::Label(to), span }];
    Some(made(entry(op::bra, "9.7.12.3")?, None, pred, operands, span))
}

impl Inlined {
    /// A new register for this many bytes.
    pub fn register(&mut self, bytes: u32) -> RegId {
        self.regs.push(Reg { name: String::new(), ty: bits(bytes), lanes: 1 });
        RegId(self.regs.len() as u32 - 1)
    }
}

impl Builder<'_> {
    fn copy_body(&mut self, f: &Function, mapping: &Mapping) {
        for stmt in &f.body {
            match stmt {
                Stmt::Label(id) => self.out.body.push(Stmt::Label(LabelId(id.0 + mapping.labels))),
                Stmt::Instr(i) => {
                    let mut i = i.clone();
                    if let Some((p, _)) = &mut i.pred {
                        remap(p, mapping);
                    }
                    for arg in &mut i.operands {
                        remap(&mut arg.value, mapping);
                    }
                    if self.call(&i) {
                        continue;
                    }
                    let jump = match mapping.end {
                        Some(to) if i.opcode == op::ret => branch(to, i.pred.clone(), i.span),
                        _ => None,
                    };
                    self.out.body.push(jump.unwrap_or(Stmt::Instr(i)));
                }
            }
        }
    }

    fn label(&mut self) -> LabelId {
        self.out.labels.push(Label { name: String::new(), span: Span::default() });
        LabelId(self.out.labels.len() as u32 - 1)
    }

    /// Inlines a call; `false` if it stays a call.
    fn call(&mut self, i: &Instr) -> bool {
        let Some((id, f)) = callee(self.module, self.whole, i) else { return false };
        if self.stack.contains(&id) || self.stack.len() >= DEEP || self.out.body.len() + f.body.len() > self.most {
            return false;
        }
        let list = |name: &str| match i.value(name) {
            Some(Operand::List(list)) => list.as_slice(),
            _ => &[],
        };
        let (args, rets) = (list("args"), list("ret"));
        if args.len() != f.params.len() || rets.len() != f.rets.len() {
            return false;
        }
        let mut passed = ParameterPassing {
            base: self.out.regs.len() as u32,
            regs: f.regs.len() as u32,
            first: self.out.first + self.out.extra.len() as u32,
            vars: Vec::new(),
            extra: Vec::new(),
            before: Vec::new(),
            after: Vec::new(),
        };
        for (k, given) in args.iter().enumerate() {
            if !passed.pass(given, &f.params[k], false, i.span) {
                return false;
            }
        }
        for (k, given) in rets.iter().enumerate() {
            if !passed.pass(given, &f.rets[k], true, i.span) {
                return false;
            }
        }
        let mut over = None;
        if let Some((p, positive)) = &i.pred {
            let label = self.label();
            let Some(jump) = branch(label, Some((p.clone(), !positive)), i.span) else { return false };
            self.out.body.push(jump);
            over = Some(label);
        }
        self.callee(id, f, passed);
        self.out.body.extend(over.map(Stmt::Label));
        true
    }

    /// Copies the body of a callee, with its parameters before it and its results after it.
    fn callee(&mut self, id: FuncId, f: &Function, mut passed: ParameterPassing) {
        self.out.regs.extend_from_slice(&f.regs);
        for (size, _) in &passed.extra {
            self.out.register(*size);
        }
        self.out.extra.append(&mut passed.extra);
        let labels = self.out.labels.len() as u32;
        self.out.labels.extend_from_slice(&f.labels);
        let end = self.label();
        self.out.body.append(&mut passed.before);
        self.stack.push(id);
        self.copy_body(f, &Mapping { regs: passed.base, labels, vars: &passed.vars, end: Some(end) });
        self.stack.pop();
        self.out.body.push(Stmt::Label(end));
        self.out.body.append(&mut passed.after);
    }
}

/// The passing of arguments and results.
struct ParameterPassing {
    /// The first register of the callee, and how many it has.
    base: u32,
    regs: u32,
    /// The first free variable number.
    first: u32,
    /// The variables in place of its parameters.
    vars: Vec<(VarId, VarId)>,
    /// See [`Inlined::extra`].
    extra: Vec<(u32, RegId)>,
    /// Moves before it and after it.
    before: Vec<Stmt>,
    after: Vec<Stmt>,
}

impl ParameterPassing {
    /// Passes an argument, or a result if `back`; `false` if that is not possible.
    fn pass(&mut self, given: &Operand, p: &Param, back: bool, span: Span) -> bool {
        match (given, p.reg, p.var) {
            (Operand::VarAddr(v, 0), None, Some(var)) => {
                self.vars.push((var, *v));
                true
            }
            (Operand::Sink, _, _) if back => true,
            (Operand::Reg(..) | Operand::Imm(_) | Operand::Rust(_), Some(r), _) => {
                self.moves(given, RegId(r.0 + self.base), p, back, span)
            }
            (Operand::Reg(..) | Operand::Imm(_) | Operand::Rust(_), None, Some(var)) if !p.array => {
                let more = self.extra.len() as u32;
                let reg = RegId(self.base + self.regs + more);
                self.vars.push((var, VarId(self.first + more)));
                self.extra.push((p.size, reg));
                self.moves(given, reg, p, back, span)
            }
            _ => false,
        }
    }

    fn moves(&mut self, given: &Operand, formal: RegId, p: &Param, back: bool, span: Span) -> bool {
        let (given, formal) = (given.clone(), Operand::Reg(formal, 0));
        let (list, d, a) = if back { (&mut self.after, given, formal) } else { (&mut self.before, formal, given) };
        let Some(stmt) = mov(p.size, d, a, None, span) else { return false };
        list.push(stmt);
        true
    }
}

fn bits(bytes: u32) -> Ty {
    match bytes {
        1 => Ty::B8,
        2 => Ty::B16,
        4 => Ty::B32,
        _ => Ty::B64,
    }
}

fn remap(o: &mut Operand, mapping: &Mapping) {
    let var = |v: &mut VarId| {
        for (formal, to) in mapping.vars {
            if formal == v {
                *v = *to;
                break;
            }
        }
    };
    o.visit_mut(&mut |o| match o {
        Operand::VarAddr(v, _) | Operand::Address(Base::Var(v), _) => var(v),
        Operand::Label(l) => l.0 += mapping.labels,
        Operand::Labels(list) => list.iter_mut().for_each(|l| l.0 += mapping.labels),
        o => {
            if let Some(r) = o.register_mut() {
                r.0 += mapping.regs;
            }
        }
    });
}
