//! `call`: arguments against parameters (PTX ISA 9.7.12.5).

use ptx_dsl_table::list::List;
use std::rc::Rc;

use super::Checker;
use super::attempt::Attempt;
use super::function::signature;
use super::names::{Formal, Signature, Sym};
use crate::ast::{self, OperandKind};
use crate::errors;
use crate::hir::{self, Arg, Operand};
use crate::isa::Role;
use crate::parse::{Const, fold};
use crate::ty::{Class, Ty};

fn arg(name: &'static str, role: Role, value: Operand, span: crate::span::Span) -> Arg {
    Arg { name, role, ty: None, value, span }
}

impl Checker {
    /// The operands of a call: `ret`, `func`, `args` and, for an indirect call, `targets`.
    pub(super) fn call(&mut self, at: &mut Attempt, ast: &ast::Instr) -> Vec<Arg> {
        let mut rest = ast.operands.as_slice();
        let mut ret = None;
        if let Some((first, more)) = rest.split_first()
            && let OperandKind::List(list) = &first.kind
        {
            ret = Some((list.as_slice(), first.span));
            rest = more;
        }
        let Some((callee, more)) = rest.split_first() else {
            at.fail(
                errors::call_form(ast.span, "`call` needs a function", "write `call f;` or `call (ret), f, (arg);`"),
                3,
            );
            return Vec::new();
        };
        rest = more;
        let mut args = None;
        if let Some((first, more)) = rest.split_first()
            && let OperandKind::List(list) = &first.kind
        {
            args = Some((list.as_slice(), first.span));
            rest = more;
        }
        let targets = rest.first();
        if let Some(extra) = rest.get(1) {
            at.fail(errors::call_form(extra.span, "`call` takes no more operands", "remove what is too much"), 3);
        }
        let Some((callee_value, sig)) = self.call_target(at, callee, targets) else { return Vec::new() };
        let mut out = Vec::new();
        let name = match &callee.kind {
            OperandKind::Expr(ast::Expr::Name(w, _)) => w.text.clone(),
            _ => "the function".to_string(),
        };
        let none: &[ast::Operand] = &[];
        let (rets, rets_span) = ret.unwrap_or((none, ast.span));
        let (given, args_span) = args.unwrap_or((none, ast.span));
        if rets.len() != sig.rets.len() {
            at.fail(errors::call_count(rets_span, "return values", &name, sig.rets.len(), rets.len()), 1);
        }
        let enough = given.len() == sig.params.len() || (sig.variadic && given.len() >= sig.params.len());
        if !enough {
            at.fail(errors::call_count(args_span, "parameters", &name, sig.params.len(), given.len()), 1);
        }
        let ret_values: Vec<Operand> =
            rets.iter().enumerate().map(|(i, o)| self.argument(at, o, sig.rets.get(i), true)).list();
        let arg_values: Vec<Operand> =
            given.iter().enumerate().map(|(i, o)| self.argument(at, o, sig.params.get(i), false)).list();
        if sig.variadic {
            for o in given.iter().skip(sig.params.len()) {
                self.rest(at, o, sig.rest_align);
            }
        }
        if ret.is_some() {
            out.push(arg("ret", Role::Dst, Operand::List(ret_values), rets_span));
        }
        out.push(arg("func", Role::Name, callee_value, callee.span));
        if args.is_some() {
            out.push(arg("args", Role::Src, Operand::List(arg_values), args_span));
        }
        if let Some(t) = targets
            && let Some(value) = self.reachable(at, t, &sig)
        {
            out.push(arg("targets", Role::Name, value, t.span));
        }
        out
    }

    /// The function or the register called, and the signature.
    fn call_target(
        &mut self,
        at: &mut Attempt,
        callee: &ast::Operand,
        targets: Option<&ast::Operand>,
    ) -> Option<(Operand, Rc<Signature>)> {
        let OperandKind::Expr(ast::Expr::Name(word, None)) = &callee.kind else {
            at.fail(
                errors::call_form(
                    callee.span,
                    "a function's name or a register is expected here",
                    "write `call (ret), f, (arg);`",
                ),
                3,
            );
            return None;
        };
        match self.lookup(&word.text) {
            Some(Sym::Func(id)) => {
                if let Some(t) = targets {
                    at.fail(errors::call_form(t.span, "a direct call has no list of targets", "remove it"), 2);
                }
                let f = &self.out.functions[id.0 as usize];
                if f.entry {
                    let text = format!("`{}` is an `.entry` and cannot be called", word.text);
                    at.fail(errors::call_form(word.span, &text, "make it a `.func`, or launch it from the host"), 1);
                }
                Some((Operand::Func(id), Rc::new(signature(f))))
            }
            Some(Sym::Reg(id)) => {
                let Some(OperandKind::Expr(ast::Expr::Name(list, None))) = targets.map(|t| &t.kind) else {
                    let text = "an indirect call needs a `.calltargets` list or a `.callprototype`";
                    at.fail(errors::call_form(word.span, text, "add the label of one as the last operand"), 2);
                    return None;
                };
                let sig = match self.lookup(&list.text) {
                    Some(Sym::Prototype(sig)) => sig,
                    Some(Sym::Funcs(ids)) => {
                        Rc::new(ids.first().map(|id| signature(&self.out.functions[id.0 as usize])).unwrap_or_default())
                    }
                    Some(Sym::Broken) => {
                        at.broken();
                        return None;
                    }
                    Some(Sym::Below) => {
                        at.fail(errors::list_below(list.span, &list.text), 1);
                        return None;
                    }
                    Some(other) => {
                        at.fail(errors::wrong_name(list.span, &list.text, other.describe(), "a list of targets"), 1);
                        return None;
                    }
                    None => {
                        let d = self.undeclared(list.span, "list of targets", &list.text);
                        at.fail(d, 1);
                        return None;
                    }
                };
                let ty = self.reg_ty(id);
                if !matches!(ty.bits(), 32 | 64) || matches!(ty.class(), Class::Float | Class::Packed) {
                    at.fail(errors::address_register(word.span, &word.text, ty), 1);
                }
                Some((Operand::Reg(id, 0), sig))
            }
            Some(Sym::Broken) => {
                at.broken();
                None
            }
            Some(other) => {
                at.fail(errors::wrong_name(word.span, &word.text, other.describe(), "a function"), 1);
                None
            }
            None => {
                let d = self.undeclared(word.span, "function", &word.text);
                at.fail(d, 1);
                None
            }
        }
    }

    /// What an indirect call may reach: the list, or every function of the prototype's signature.
    fn reachable(&mut self, at: &mut Attempt, operand: &ast::Operand, sig: &Signature) -> Option<Operand> {
        let OperandKind::Expr(ast::Expr::Name(word, None)) = &operand.kind else { return None };
        match self.lookup(&word.text)? {
            Sym::Funcs(ids) => {
                for id in ids.iter() {
                    let f = &self.out.functions[id.0 as usize];
                    if !signature(f).same_values(sig) {
                        at.fail(
                            errors::call_form(
                                word.span,
                                &format!("the targets in `{}` differ in their parameters", word.text),
                                "list functions of one signature",
                            ),
                            1,
                        );
                    }
                }
                Some(Operand::Funcs(ids.to_vec()))
            }
            Sym::Prototype(_) => {
                let all = self.out.functions.iter().enumerate();
                let ids = all
                    .filter(|(_, f)| !f.entry && signature(f).same_values(sig))
                    .map(|(i, _)| hir::FuncId(i as u32))
                    .list();
                Some(Operand::Funcs(ids))
            }
            _ => None,
        }
    }

    /// An argument behind those that are declared: it is aligned as the open array is.
    fn rest(&mut self, at: &mut Attempt, operand: &ast::Operand, align: u32) {
        if let OperandKind::Expr(ast::Expr::Name(word, None)) = &operand.kind
            && let Some(Sym::Var(id)) = self.lookup(&word.text)
        {
            let have = self.out.vars[id.0 as usize].align;
            if have != align {
                at.fail(errors::call_align(word.span, "the argument", have, align, None), 1);
            }
        }
    }

    /// One argument or return value: a `.param` variable, a register, a constant.
    fn argument(&mut self, at: &mut Attempt, operand: &ast::Operand, want: Option<&Formal>, ret: bool) -> Operand {
        let what = if ret { "the return value" } else { "the argument" };
        match &operand.kind {
            OperandKind::Sink if ret => return Operand::Sink,
            OperandKind::Expr(ast::Expr::Name(word, member)) if word.text != "WARP_SZ" => match self.lookup(&word.text)
            {
                Some(Sym::Var(id)) if member.is_none() => {
                    let var = &self.out.vars[id.0 as usize];
                    let align = var.align.max(var.ty.bytes());
                    if var.space != hir::Space::ParamFunc {
                        let text = format!("`{}` must be a `.param` variable or a register", word.text);
                        let help = "copy it into a `.param` variable, or load it into a register";
                        at.fail(errors::call_form(word.span, &text, help), 1);
                    } else if let Some(want) = want
                        && (var.size != want.size || var.array != want.array || !alike(var.ty, want.ty))
                    {
                        let have = in_words(var.ty, var.size, var.array);
                        let wanted = in_words(want.ty, want.size, want.array);
                        at.fail(errors::call_type(word.span, what, &have, &wanted, &parameter(want)), 1);
                    } else if let Some(want) = want
                        && align != want.align
                    {
                        at.fail(errors::call_align(word.span, what, align, want.align, Some(&parameter(want))), 1);
                    }
                    return Operand::VarAddr(id, 0);
                }
                Some(Sym::Reg(id)) => {
                    let ty = self.reg_ty(id);
                    if let Some(want) = want {
                        if !super::value::register_fits(ty, want.ty, false) || want.array {
                            let have = format!("a `.{}` register", ty.name());
                            let wanted = in_words(want.ty, want.size, want.array);
                            // No register has 8 bits.
                            let declare = match want.array || want.ty.bits() < 16 {
                                false => format!(".reg .{} r", want.ty.name()),
                                true => parameter(want),
                            };
                            at.fail(errors::call_type(word.span, what, &have, &wanted, &declare), 1);
                        } else if want.align != want.ty.bytes() {
                            let declare = parameter(want);
                            at.fail(errors::call_align(word.span, what, ty.bytes(), want.align, Some(&declare)), 1);
                        }
                    }
                    return Operand::Reg(id, 0);
                }
                Some(Sym::Broken) => at.broken(),
                Some(other) => {
                    at.fail(
                        errors::wrong_name(
                            word.span,
                            &word.text,
                            other.describe(),
                            "a `.param` variable or a register",
                        ),
                        1,
                    );
                }
                None => {
                    let d = self.undeclared(word.span, "variable", &word.text);
                    at.fail(d, 1);
                }
            },
            OperandKind::Expr(e) if !ret => {
                let ty = want.map_or(Ty::B64, |w| w.ty);
                if let Some(want) = want.filter(|w| w.array) {
                    let wanted = in_words(want.ty, want.size, want.array);
                    at.fail(errors::call_type(operand.span, what, "a constant", &wanted, &parameter(want)), 1);
                }
                match fold(e) {
                    Some(Const::Int { value, .. }) if ty.class() != Class::Float => return Operand::Imm(value),
                    Some(_) => return Operand::Imm(self.constant(at, ty, e)),
                    None => at.fail(errors::not_constant(operand.span), 1),
                }
            }
            _ => {
                let text = format!("{what} must be a `.param` variable or a register");
                at.fail(errors::call_form(operand.span, &text, "put it into a register first"), 1);
            }
        }
        Operand::Sink
    }
}

/// Types of one width that are the same kind of number, or one of them untyped.
fn alike(a: Ty, b: Ty) -> bool {
    super::value::register_fits(a, b, false) || super::value::register_fits(b, a, false)
}

/// `a .param .b8 array of 12 bytes`
fn in_words(ty: Ty, size: u32, array: bool) -> String {
    match array {
        true => format!("a `.{}` array of {size} bytes", ty.name()),
        false => format!("a `.{}` of {size} bytes", ty.name()),
    }
}

/// A declaration of a `.param` variable that fits.
fn parameter(want: &Formal) -> String {
    let align = if want.align != want.ty.bytes() { format!(".align {} ", want.align) } else { String::new() };
    let dims = if want.array { format!("[{}]", want.size / want.ty.bytes().max(1)) } else { String::new() };
    format!(".param {align}.{} x{dims}", want.ty.name())
}
