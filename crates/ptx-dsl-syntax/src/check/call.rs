//! `call`: arguments against parameters (PTX ISA 9.7.12.5).

use crate::edit::Help;
use std::rc::Rc;

use super::Checker;
use super::attempt::Attempt;
use super::operand::lanes_of;
use super::signature::signature;
use super::signature::{Formal, Signature};
use super::symbol::Sym;
use crate::ast::{self, OperandKind};
use crate::check::errors;
use crate::diag::{Diagnostic, Wanted};
use crate::parse::{Const, fold};
use crate::print;
use crate::span::Span;
use ptx_dsl_isa::hir::{self, Arg, Operand};
use ptx_dsl_isa::isa::Role;
use ptx_dsl_isa::ty::{Class, Ty};

fn arg(name: &'static str, role: Role, value: Operand, span: Span) -> Arg {
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
                errors::call_form(
                    ast.span,
                    "`call` needs a function",
                    "name one: results come before it and arguments after it, both in `( )`",
                ),
                3,
            );
            return Vec::new();
        };
        if ret.is_none()
            && let Some(text) = self.bare_call(ast)
        {
            let help = Help::write(text);
            at.fail(errors::call_form(callee.span, "the results and the arguments of a call are in `( )`", help), 3);
            return Vec::new();
        }
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
            at.fail(errors::call_form(extra.span, "`call` takes no more operands", errors::TOO_MUCH), 3);
        }
        let none: &[ast::Operand] = &[];
        let given = (ret.map_or(none, |r| r.0), args.map_or(none, |a| a.0));
        let Some((callee_value, sig)) = self.call_target(at, callee, targets, given) else { return Vec::new() };
        let mut out = Vec::new();
        let name = match &callee.kind {
            OperandKind::Expr(ast::Expr::Name(w, _)) => w.text.as_str(),
            _ => "the function",
        };
        let (rets, rets_span) = ret.unwrap_or((none, ast.span));
        let (given, args_span) = args.unwrap_or((none, ast.span));
        if rets.len() != sig.rets.len() {
            at.fail(errors::call_count(rets_span, "return values", name, sig.rets.len(), rets.len()), 1);
        }
        let enough = given.len() == sig.params.len() || (sig.variadic && given.len() >= sig.params.len());
        if !enough {
            at.fail(errors::call_count(args_span, "parameters", name, sig.params.len(), given.len()), 1);
        }
        let ret_values = self.arguments(at, rets, &sig.rets, true);
        let arg_values = self.arguments(at, given, &sig.params, false);
        if sig.variadic && given.len() > sig.params.len() {
            for o in &given[sig.params.len()..] {
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

    /// All arguments or return values.
    fn arguments(&mut self, at: &mut Attempt, given: &[ast::Operand], want: &[Formal], ret: bool) -> Vec<Operand> {
        let mut out = Vec::with_capacity(given.len());
        for (i, operand) in given.iter().enumerate() {
            out.push(self.argument(at, operand, want.get(i), ret));
        }
        out
    }

    /// The called function or register, and the signature.
    /// `call r, f, a;` with its parentheses: the function is not the first operand, and no list comes before it.
    fn bare_call(&mut self, ast: &ast::Instr) -> Option<String> {
        let name = |o: &ast::Operand| match &o.kind {
            OperandKind::Expr(ast::Expr::Name(word, None)) => Some(word.text.clone()),
            _ => None,
        };
        let [ret, callee, args @ ..] = ast.operands.as_slice() else { return None };
        let first = self.lookup(&name(ret)?);
        if matches!(first, Some(Sym::Func(_))) || !matches!(self.lookup(&name(callee)?), Some(Sym::Func(_))) {
            return None;
        }
        let list = |given: &[ast::Operand]| ast::Operand { kind: OperandKind::List(given.to_vec()), span: ast.span };
        let mut whole = ast.clone();
        whole.operands = vec![list(std::slice::from_ref(ret)), callee.clone()];
        match args {
            [] => {}
            [one] if matches!(one.kind, OperandKind::List(_)) => whole.operands.push(one.clone()),
            _ => whole.operands.push(list(args)),
        }
        Some(print::statement(&whole))
    }

    fn call_target(
        &mut self,
        at: &mut Attempt,
        callee: &ast::Operand,
        targets: Option<&ast::Operand>,
        (ret, args): (&[ast::Operand], &[ast::Operand]),
    ) -> Option<(Operand, Rc<Signature>)> {
        let OperandKind::Expr(ast::Expr::Name(word, None)) = &callee.kind else {
            at.fail(
                errors::call_form(
                    callee.span,
                    "a function's name or a register is expected here",
                    "put one here: results come before it and arguments after it, both in `( )`",
                ),
                3,
            );
            return None;
        };
        match self.lookup(&word.text) {
            Some(Sym::Func(id)) => {
                if let Some(t) = targets {
                    at.fail(errors::call_form(t.span, "a direct call has no list of targets", Help::remove()), 2);
                }
                let f = &self.out.functions[id.0 as usize];
                if f.entry {
                    let text = format!("`{}` is an `.entry` and cannot be called", word.text);
                    at.fail(errors::call_form(word.span, &text, "make it a `.func`, or launch it from the host"), 1);
                }
                Some((Operand::Func(id), Rc::new(signature(f))))
            }
            Some(Sym::Reg(id)) => {
                let sig = self.targets_signature(at, word, targets)?;
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
                let mut d = self.undeclared(word.span, Wanted::Function, &word.text);
                if d.helps.is_empty() {
                    d.helps.extend(
                        self.declaration_of(&word.text, ret, args).map(|f| format!("put `{f}` above this function")),
                    );
                }
                at.fail(d, 1);
                None
            }
        }
    }

    /// The signature of the targets of an indirect call.
    fn targets_signature(
        &mut self,
        at: &mut Attempt,
        callee: &ast::Word,
        targets: Option<&ast::Operand>,
    ) -> Option<Rc<Signature>> {
        let Some(OperandKind::Expr(ast::Expr::Name(list, None))) = targets.map(|t| &t.kind) else {
            let text = "an indirect call needs a `.calltargets` list or a `.callprototype`";
            at.fail(errors::call_form(callee.span, text, "add the label of one as the last operand"), 2);
            return None;
        };
        let d = match self.lookup(&list.text) {
            Some(Sym::Prototype(n)) => return Some(Rc::clone(&self.lists.prototypes[n])),
            Some(Sym::Funcs(n)) => {
                return Some(Rc::new(match self.lists.functions[n].first() {
                    Some(id) => signature(&self.out.functions[id.0 as usize]),
                    None => Signature::default(),
                }));
            }
            Some(Sym::Broken) => {
                at.broken();
                return None;
            }
            Some(Sym::Below) => errors::list_below(list.span, &list.text),
            Some(other) => errors::wrong_name(list.span, &list.text, other.describe(), "a list of targets"),
            None => self.undeclared(list.span, Wanted::Targets, &list.text),
        };
        at.fail(d, 1);
        None
    }

    /// The targets of an indirect call: the list, or every function with the prototype's signature.
    fn reachable(&mut self, at: &mut Attempt, operand: &ast::Operand, sig: &Signature) -> Option<Operand> {
        let OperandKind::Expr(ast::Expr::Name(word, None)) = &operand.kind else { return None };
        match self.lookup(&word.text)? {
            Sym::Funcs(n) => {
                for id in &self.lists.functions[n] {
                    if !signature(&self.out.functions[id.0 as usize]).same_values(sig) {
                        let text = format!("the targets in `{}` differ in their parameters", word.text);
                        at.fail(errors::call_form(word.span, &text, "list functions of one signature"), 1);
                    }
                }
                Some(Operand::Funcs(self.lists.functions[n].clone()))
            }
            Sym::Prototype(_) => {
                let mut ids = Vec::new();
                for (i, f) in self.out.functions.iter().enumerate() {
                    if !f.entry && signature(f).same_values(sig) {
                        ids.push(hir::FuncId(i as u32));
                    }
                }
                Some(Operand::Funcs(ids))
            }
            _ => None,
        }
    }

    /// An argument after the declared ones: it is aligned like the open array.
    fn rest(&mut self, at: &mut Attempt, operand: &ast::Operand, align: u32) {
        if let OperandKind::Expr(ast::Expr::Name(word, None)) = &operand.kind
            && let Some(Sym::Var(id)) = self.lookup(&word.text)
        {
            let var = &self.out.vars[id.0 as usize];
            let (have, ty, size, array) = (var.align, var.ty, var.size, var.array);
            if have != align {
                let x = self.free_name();
                let declare = parameter(ty, align, size, array, x);
                at.fail(errors::call_align(word.span, "the argument", have, align, &declare, x), 1);
            }
        }
    }

    /// One argument or return value: a `.param` variable, a register, a constant.
    fn argument(&mut self, at: &mut Attempt, operand: &ast::Operand, want: Option<&Formal>, ret: bool) -> Operand {
        let what = if ret { "the return value" } else { "the argument" };
        match &operand.kind {
            OperandKind::Sink if ret => return Operand::Sink,
            OperandKind::Expr(ast::Expr::Name(word, member)) if word.text != "WARP_SZ" => {
                let d = match self.lookup(&word.text) {
                    Some(Sym::Var(id)) if member.is_none() => {
                        if let Some(d) = self.variable_argument(word, id, want, what) {
                            at.fail(d, 1);
                        }
                        return Operand::VarAddr(id, 0);
                    }
                    Some(Sym::Reg(id)) if member.is_none() => {
                        let lanes = self.reg_lanes(id);
                        if let Some(want) = want
                            && let Some(d) = self.register_argument(word.span, (self.reg_ty(id), lanes), want, what)
                        {
                            at.fail(d, 1);
                        }
                        return if lanes > 1 { lanes_of(id, lanes) } else { Operand::Reg(id, 0) };
                    }
                    Some(Sym::Reg(_)) => {
                        let text = format!("{what} cannot be an element of a vector register");
                        errors::call_form(operand.span, &text, "`mov` it into a register first")
                    }
                    Some(Sym::Broken) => {
                        at.broken();
                        return Operand::Sink;
                    }
                    Some(other) => {
                        let want = "a `.param` variable or a register";
                        errors::wrong_name(word.span, &word.text, other.describe(), want)
                    }
                    None => self.undeclared(word.span, Wanted::Variable, &word.text),
                };
                at.fail(d, 1);
            }
            OperandKind::Expr(e) if !ret => {
                let mut ty = Ty::B64;
                if let Some(want) = want {
                    ty = want.ty;
                    if want.array {
                        at.fail(self.wrong_type(operand.span, what, "a constant", want), 1);
                    }
                }
                if let ast::Expr::Rust(id, _) = e {
                    return self.rust_value(at, what, None, Some(ty), *id, operand.span);
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

    /// Why a variable is wrong as an argument.
    fn variable_argument(
        &mut self,
        word: &ast::Word,
        id: hir::VarId,
        want: Option<&Formal>,
        what: &str,
    ) -> Option<Diagnostic> {
        let var = &self.out.vars[id.0 as usize];
        let align = var.align.max(var.ty.bytes());
        if var.space != hir::Space::ParamFunc {
            let text = format!("`{}` must be a `.param` variable or a register", word.text);
            let help = "copy it into a `.param` variable, or load it into a register";
            return Some(errors::call_form(word.span, &text, help));
        }
        let want = want?;
        if var.size != want.size || var.array != want.array || !alike(var.ty, want.ty) {
            let have = in_words(var.ty, var.size, var.array);
            return Some(self.wrong_type(word.span, what, &have, want));
        }
        (align != want.align).then(|| self.wrong_align(word.span, what, align, want))
    }

    /// Why a register is wrong as an argument.
    fn register_argument(
        &mut self,
        span: Span,
        (ty, lanes): (Ty, u32),
        want: &Formal,
        what: &str,
    ) -> Option<Diagnostic> {
        // Of a vector ptxas looks at widths alone.
        let fits = match lanes > 1 || want.lanes > 1 {
            true => want.reg && lanes == want.lanes && ty.bits() == want.ty.bits(),
            false => super::value::register_fits(ty, want.ty, false) && !want.array,
        };
        if !fits {
            return Some(self.wrong_type(span, what, &register_in_words(ty, lanes), want));
        }
        (lanes == 1 && want.align != want.ty.bytes()).then(|| self.wrong_align(span, what, ty.bytes(), want))
    }

    fn wrong_type(&mut self, span: Span, what: &str, have: &str, want: &Formal) -> Diagnostic {
        let x = self.free_name();
        let wanted = match want.lanes {
            1 => in_words(want.ty, want.size, want.array),
            lanes => register_in_words(want.ty, lanes),
        };
        let declare = match want.lanes {
            // No register has 8 bits.
            1 if want.array || want.ty.bits() < 16 => parameter(want.ty, want.align, want.size, want.array, x),
            1 => format!(".reg .{} {x}", want.ty.name()),
            n => format!(".reg .v{n} .{} {x}", want.ty.name()),
        };
        errors::call_type(span, what, have, &wanted, &declare, x)
    }

    fn wrong_align(&mut self, span: Span, what: &str, have: u32, want: &Formal) -> Diagnostic {
        let x = self.free_name();
        let declare = parameter(want.ty, want.align, want.size, want.array, x);
        errors::call_align(span, what, have, want.align, &declare, x)
    }
}

fn register_in_words(ty: Ty, lanes: u32) -> String {
    match lanes {
        1 => format!("a `.{}` register", ty.name()),
        n => format!("a `.v{n} .{}` register", ty.name()),
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

/// A declaration of a `.param` variable.
fn parameter(ty: Ty, align: u32, size: u32, array: bool, x: &str) -> String {
    let align = if align != ty.bytes() { format!(".align {align} ") } else { String::new() };
    let dims = if array { format!("[{}]", size / ty.bytes().max(1)) } else { String::new() };
    format!(".param {align}.{} {x}{dims}", ty.name())
}
