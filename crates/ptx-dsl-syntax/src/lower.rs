//! Writes the statements of `ptx!` that are not PTX as instructions: assignments of integer expressions, computed addresses, `if`, `while`,
//! `loop`. It works on the syntax tree, before the checker: what comes out is what one would have written, and is checked like that. An
//! instruction has the span of the expression that it computes, a label that of the word of its statement.

mod address;
mod control;
mod errors;
mod expression;
mod layout;
mod names;

use crate::ast::{Expr, Form, Function, Instr, Item, Module, Operand, OperandKind, Pred, Stmt, VarDecl, Word};
use crate::diag::Diagnostic;
use crate::span::Span;
use names::{Fresh, Kind, Known, Names};
use std::collections::HashMap;

/// Lowers all functions of a module, and numbers the instructions again.
pub(crate) fn lower(module: &mut Module, diags: &mut Vec<Diagnostic>) {
    let mut names = Names::default();
    let mut count = 0;
    for item in &mut module.items {
        match item {
            Item::Var(var) => names.variable(var),
            Item::Directive(_) => {}
            Item::Function(function) => {
                lower_function(function, &mut names, diags);
                if let Some(body) = &mut function.body {
                    number(body, &mut count);
                }
            }
        }
    }
    module.instrs = count;
}

fn number(body: &mut [Stmt], count: &mut u32) {
    for stmt in body {
        match stmt {
            Stmt::Instr(i) => {
                i.index = *count;
                *count += 1;
            }
            Stmt::Block(inner, _) => number(inner, count),
            _ => {}
        }
    }
}

fn lower_function(function: &mut Function, names: &mut Names, diags: &mut Vec<Diagnostic>) {
    let Some(body) = function.body.take() else { return };
    let scope = names.open();
    function.rets.iter().for_each(|ret| names.local(ret));
    function.params.iter().for_each(|parameter| names.variable(parameter));
    let fresh = Fresh::new(&body, &function.params);
    let mut lowerer =
        Lowerer { names, diags, fresh, out: Vec::new(), loaded: HashMap::new(), loads: Vec::new(), loops: Vec::new() };
    let mut lowered = lowerer.block(body);
    let mut all = lowerer.fresh.declarations(function.name.span);
    all.append(&mut lowerer.loads);
    all.append(&mut lowered);
    function.body = Some(all);
    names.close(scope);
}

/// A function whose statements are written as instructions.
struct Lowerer<'m> {
    names: &'m mut Names,
    diags: &'m mut Vec<Diagnostic>,
    fresh: Fresh,
    /// The statements of the block so far.
    out: Vec<Stmt>,
    /// The registers with the values of parameters.
    loaded: HashMap<String, Word>,
    /// The loads of parameters, which stand at the beginning of the function.
    loads: Vec<Stmt>,
    /// The loops around the statement, the innermost last.
    loops: Vec<control::Loop>,
}

/// What is wrong was reported.
#[derive(Debug)]
struct Stop;

type Res<T> = Result<T, Stop>;

fn operand(e: Expr) -> Operand {
    let span = e.span();
    Operand { kind: OperandKind::Expr(e), span }
}

fn name(word: &Word) -> Expr {
    Expr::Name(word.clone(), None)
}

impl Lowerer<'_> {
    /// The statements of a block, which has a scope of its own.
    fn block(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        let scope = self.names.open();
        let around = std::mem::take(&mut self.out);
        for stmt in body {
            self.statement(stmt);
        }
        self.names.close(scope);
        std::mem::replace(&mut self.out, around)
    }

    fn statement(&mut self, stmt: Stmt) {
        match stmt {
            Stmt::Var(var) => {
                self.names.local(&var);
                self.out.push(Stmt::Var(var));
            }
            Stmt::Block(body, span) => {
                let body = self.block(body);
                self.out.push(Stmt::Block(body, span));
            }
            Stmt::Instr(mut instr) => {
                if self.addresses(&mut instr).is_ok() {
                    self.out.push(Stmt::Instr(instr));
                }
            }
            Stmt::Form(form) => {
                let _ = self.form(*form);
            }
            Stmt::Label(_) | Stmt::Directive(_) | Stmt::Arguments(_) => self.out.push(stmt),
        }
    }

    fn form(&mut self, form: Form) -> Res<()> {
        match form {
            Form::Assign(assign) => self.assign(assign),
            Form::If { condition, then, otherwise } => self.branch(&condition, then, otherwise),
            Form::Loop { condition, first, body, name, span } => {
                self.repeated(condition.as_ref(), (first, body), name, span)
            }
            Form::Break(span, of) => self.leave(span, of, true),
            Form::Continue(span, of) => self.leave(span, of, false),
        }
    }

    fn fail<T>(&mut self, d: Diagnostic) -> Res<T> {
        self.diags.push(d);
        Err(Stop)
    }

    /// Adds an instruction: `add.u32` and its operands.
    fn emit(&mut self, opcode: &str, operands: Vec<Operand>, span: Span) {
        let parts = opcode.split('.').map(|part| Word { text: part.to_owned(), span }).collect();
        self.out.push(Stmt::Instr(Instr { index: 0, pred: None, parts, operands, span }));
    }

    /// Adds a branch, which a predicate may guard.
    fn branch_to(&mut self, label: &str, pred: Option<Pred>, span: Span) {
        let operands = vec![operand(Expr::Name(Word { text: label.to_owned(), span }, None))];
        self.emit("bra", operands, span);
        if let Some(Stmt::Instr(instr)) = self.out.last_mut() {
            instr.pred = pred;
        }
    }

    /// The register with the value of a parameter, which is loaded once. `span`: where the parameter is declared.
    fn load(&mut self, parameter: &Word, kind: Kind, span: Span) -> Word {
        if let Some(register) = self.loaded.get(&parameter.text) {
            return Word { text: register.text.clone(), span: parameter.span };
        }
        let register = self.fresh.register(kind, parameter.span);
        let parameter = &Word { text: parameter.text.clone(), span };
        let out = std::mem::take(&mut self.out);
        let address = Operand { kind: OperandKind::Address(vec![operand(name(parameter))]), span };
        self.emit(&format!("ld.param.{}", kind.name()), vec![operand(name(&register)), address], span);
        self.loads.append(&mut std::mem::replace(&mut self.out, out));
        self.loaded.insert(parameter.text.clone(), register.clone());
        register
    }

    /// What a name is.
    fn known(&self, text: &str) -> Option<Known> {
        self.names.get(text)
    }

    /// Declares a register in this block.
    fn declare(&mut self, target: &Word, kind: Kind) {
        let var = names::register(target.clone(), kind, None, target.span);
        self.names.variable(&var);
        self.out.push(Stmt::Var(var));
    }
}

/// Is there a declaration among the statements? Then they need a block of their own.
fn declares(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| matches!(stmt, Stmt::Var(VarDecl { .. }) | Stmt::Label(_) | Stmt::Arguments(_)))
}
