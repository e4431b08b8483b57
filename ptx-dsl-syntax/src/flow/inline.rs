//! The functions that a function calls, put in the place of the calls, so that what they do is seen where it is done: barriers,
//! waits, commits, stores. What stays a call (recursive, indirect, without a body, too much) may do anything.

use crate::hir::{Arg, Base, FuncId, Function, Instr, Label, LabelId, Module, Operand, RegId, Stmt, VarId};
use crate::isa::{self, Role};
use crate::ty::Class;

/// So many statements are added at most, so deep.
const MOST: usize = 6000;
const DEPTH: usize = 8;

struct Inline<'m> {
    module: &'m Module,
    good: &'m [bool],
    out: Function,
    /// What is being put in, to see recursion.
    stack: Vec<FuncId>,
    added: usize,
}

/// Names of a callee in the function that they become part of.
struct Renamed {
    regs: u32,
    labels: u32,
    /// What it returns in is what the caller wants it in.
    returned: Vec<(RegId, RegId)>,
    /// Where `ret` leads.
    end: LabelId,
    /// What the caller put into its parameters: variable and offset, and the operand.
    given: Vec<(VarId, i64, Operand)>,
}

/// The function with what it calls; `None` if that changes nothing. `good` are functions whose bodies are whole.
pub(super) fn inline(module: &Module, id: FuncId, good: &[bool]) -> Option<Function> {
    let function = module.functions.get(id.0 as usize)?;
    let calls = |s: &Stmt| matches!(s, Stmt::Instr(i) if callee(module, i, good).is_some());
    if !function.body.iter().any(calls) {
        return None;
    }
    let out = Function { body: Vec::with_capacity(function.body.len()), ..function.clone() };
    let mut inline = Inline { module, good, out, stack: vec![id], added: 0 };
    inline.body(function, None);
    Some(inline.out)
}

/// The function that a call is for, if it has a body here.
fn callee(module: &Module, i: &Instr, good: &[bool]) -> Option<FuncId> {
    if i.entry.opcode != "call" {
        return None;
    }
    let Some(Operand::Func(id)) = i.operand("func").map(|a| &a.value) else { return None };
    let f = module.functions.get(id.0 as usize)?;
    (good.get(id.0 as usize) == Some(&true) && !f.entry && !f.body.is_empty()).then_some(*id)
}

fn entry(opcode: &str) -> Option<&'static isa::Instr> {
    isa::FAMILIES
        .iter()
        .filter(|f| matches!(f.0, "control" | "movement"))
        .flat_map(|f| f.1)
        .find(|i| i.opcode == opcode)
}

impl Inline<'_> {
    fn body(&mut self, function: &Function, renamed: Option<&Renamed>) {
        // What this function has put into `.param` variables in the straight piece up to here.
        let mut put: Vec<(VarId, i64, Operand)> = Vec::new();
        for stmt in &function.body {
            let instr = match stmt {
                Stmt::Label(l) => {
                    put.clear();
                    let l = renamed.map_or(*l, |r| LabelId(l.0 + r.labels));
                    self.out.body.push(Stmt::Label(l));
                    continue;
                }
                Stmt::Instr(i) => match renamed {
                    Some(r) => r.instr(i),
                    None => (**i).clone(),
                },
            };
            remember(&mut put, &instr);
            match callee(self.module, &instr, self.good) {
                Some(id) if self.fits(id) => {
                    self.call(&instr, id, &put);
                    put.clear();
                }
                _ => self.out.body.push(Stmt::Instr(Box::new(instr))),
            }
        }
    }

    fn fits(&self, id: FuncId) -> bool {
        let size = self.module.functions.get(id.0 as usize).map_or(usize::MAX, |f| f.body.len());
        !self.stack.contains(&id) && self.stack.len() < DEPTH && self.added.saturating_add(size) <= MOST
    }

    fn label(&mut self, call: &Instr) -> LabelId {
        self.out.labels.push(Label { name: String::new(), span: call.span });
        LabelId(self.out.labels.len() as u32 - 1)
    }

    fn call(&mut self, call: &Instr, id: FuncId, put: &[(VarId, i64, Operand)]) {
        let (Some(function), Some(bra)) = (self.module.functions.get(id.0 as usize), entry("bra")) else { return };
        self.added += function.body.len();
        let end = self.label(call);
        let list = |name: &str| match call.operand(name).map(|a| &a.value) {
            Some(Operand::List(list)) => list.clone(),
            _ => Vec::new(),
        };
        let mut renamed = Renamed {
            regs: self.out.regs.len() as u32,
            labels: self.out.labels.len() as u32,
            returned: Vec::new(),
            end,
            given: Vec::new(),
        };
        for (param, value) in function.rets.iter().zip(list("ret")) {
            if let (Some(reg), Operand::Reg(to, 0)) = (param.reg, value) {
                renamed.returned.push((reg, to));
            }
        }
        self.out.regs.extend(function.regs.iter().cloned());
        self.out.labels.extend(function.labels.iter().cloned());
        if let Some((p, positive)) = &call.pred {
            self.out.body.push(Stmt::Instr(Box::new(branch(call, bra, end, Some((p.clone(), !positive))))));
        }
        for (param, value) in function.params.iter().zip(list("args")) {
            match (param.reg, param.var, &value) {
                (Some(reg), _, _) => self.copy(call, RegId(reg.0 + renamed.regs), value, param.ty),
                (None, Some(formal), Operand::VarAddr(actual, 0)) => {
                    let of = put.iter().filter(|p| p.0 == *actual);
                    renamed.given.extend(of.map(|p| (formal, p.1, p.2.clone())));
                }
                _ => {}
            }
        }
        self.stack.push(id);
        self.body(function, Some(&renamed));
        self.stack.pop();
        self.out.body.push(Stmt::Label(end));
    }

    /// `mov to, from;`
    fn copy(&mut self, call: &Instr, to: RegId, from: Operand, ty: crate::ty::Ty) {
        let Some(mov) = entry("mov") else { return };
        let arg = |name, role, value| Arg { name, role, ty: Some(ty), value, span: call.span };
        self.out.body.push(Stmt::Instr(Box::new(Instr {
            index: call.index,
            family: "movement",
            entry: mov,
            form: 0,
            quals: Vec::new(),
            types: vec![ty],
            pred: None,
            operands: vec![arg("d", Role::Dst, Operand::Reg(to, 0)), arg("a", Role::Src, from)],
            spelling: "mov".to_string(),
            span: call.span,
        })));
    }
}

fn branch(at: &Instr, bra: &'static isa::Instr, to: LabelId, pred: Option<(Operand, bool)>) -> Instr {
    let arg = Arg { name: "tgt", role: Role::Name, ty: None, value: Operand::Label(to), span: at.span };
    Instr {
        index: at.index,
        family: "control",
        entry: bra,
        form: 0,
        quals: Vec::new(),
        types: Vec::new(),
        pred,
        operands: vec![arg],
        spelling: "bra".to_string(),
        span: at.span,
    }
}

/// Keeps track of `st.param.b64 [param0], %rd1;`, as long as the register has that value.
fn remember(put: &mut Vec<(VarId, i64, Operand)>, i: &Instr) {
    for a in i.operands.iter().filter(|a| a.role == Role::Dst) {
        super::ssa::registers(&a.value, &mut |r, _| {
            put.retain(|p| !matches!(p.2, Operand::Reg(q, _) if q == r));
        });
    }
    if i.entry.opcode != "st" || !i.quals.iter().any(|q| q.starts_with(".param")) {
        return;
    }
    let Some(Operand::Address(Base::Var(v), offset)) =
        i.operands.iter().find(|a| a.role == Role::Addr).map(|a| &a.value)
    else {
        return;
    };
    put.retain(|p| p.0 != *v || p.1 != *offset);
    let value = i.operands.iter().find(|a| a.role == Role::Src).map(|a| &a.value);
    let whole = i.types.last().is_some_and(|t| matches!(t.bits(), 32 | 64));
    if let (Some(value @ (Operand::Reg(..) | Operand::Imm(_))), None, true) = (value, &i.pred, whole) {
        put.push((*v, *offset, value.clone()));
    }
}

impl Renamed {
    fn reg(&self, r: RegId) -> RegId {
        let returned = self.returned.iter().find(|x| x.0 == r);
        returned.map_or(RegId(r.0 + self.regs), |x| x.1)
    }

    fn operand(&self, o: &mut Operand) {
        match o {
            Operand::Reg(r, _) | Operand::NotReg(r) | Operand::Select(r, _) | Operand::Address(Base::Reg(r), _) => {
                *r = self.reg(*r);
            }
            Operand::Pair(a, b) => {
                self.operand(a);
                self.operand(b);
            }
            Operand::Neg(a) => self.operand(a),
            Operand::Vector(list) | Operand::Addresses(list) | Operand::List(list) => {
                list.iter_mut().for_each(|o| self.operand(o));
            }
            Operand::Label(l) => l.0 += self.labels,
            Operand::Labels(list) => list.iter_mut().for_each(|l| l.0 += self.labels),
            _ => {}
        }
    }

    fn instr(&self, old: &Instr) -> Instr {
        let mut i = old.clone();
        if let Some((p, _)) = &mut i.pred {
            self.operand(p);
        }
        i.operands.iter_mut().for_each(|a| self.operand(&mut a.value));
        if i.entry.opcode == "ret"
            && let Some(bra) = entry("bra")
        {
            let pred = i.pred.take();
            return branch(old, bra, self.end, pred);
        }
        self.parameter(i)
    }

    /// `ld.param.b64 %rd1, [f_param_0];` is what the caller has put there.
    fn parameter(&self, mut i: Instr) -> Instr {
        if i.entry.opcode != "ld" || !i.quals.iter().any(|q| q.starts_with(".param")) || i.operands.len() != 2 {
            return i;
        }
        let Some(Operand::Address(Base::Var(v), offset)) = i.operand("a").map(|a| &a.value) else { return i };
        let Some((_, _, value)) = self.given.iter().find(|g| g.0 == *v && g.1 == *offset) else { return i };
        let plain = i.types.last().is_some_and(|t| {
            matches!(t.bits(), 32 | 64) && matches!(t.class(), Class::Bits | Class::Unsigned | Class::Signed)
        });
        let (Some(mov), true) = (entry("mov"), plain) else { return i };
        let value = value.clone();
        if let Some(a) = i.operands.iter_mut().find(|a| a.role == Role::Addr) {
            a.role = Role::Src;
            a.value = value;
        }
        Instr { entry: mov, family: "movement", quals: Vec::new(), spelling: "mov".to_string(), ..i }
    }
}
