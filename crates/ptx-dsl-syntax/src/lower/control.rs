//! `if`, `while` and `loop` as branches. One instruction under an `if` gets a guard instead.

use super::{Lowerer, Res, declares, errors, name, operand};
use crate::ast::{Expr, Instr, Operand, OperandKind, Pred, Stmt, Word};
use crate::parse::fold;
use crate::span::Span;
use ptx_dsl_isa::opcode;

/// A loop whose body is being written.
#[derive(Debug)]
pub(super) struct Loop {
    /// The label after the loop.
    end: String,
    /// The label where the next round begins.
    next: String,
    /// Does a statement branch to the end?
    end_used: bool,
    /// The name by which statements within inner loops mean it.
    name: Option<Word>,
    /// Does a statement use the name?
    named: bool,
}

impl Lowerer<'_> {
    /// The predicate of a condition.
    fn condition(&mut self, e: &Expr, loops: bool) -> Res<Pred> {
        if fold(e).is_some() || matches!(e, Expr::Rust(..)) {
            return self.fail(errors::constant_condition(e.span(), loops));
        }
        let (mut e, mut negated) = (e, false);
        while let Expr::Unary('!', inner, _) = e {
            negated = !negated;
            e = inner;
        }
        Ok(Pred { negated, reg: self.predicate(e)? })
    }

    /// `if`
    pub(super) fn branch(&mut self, condition: &Expr, then: Vec<Stmt>, otherwise: Vec<Stmt>) -> Res<()> {
        let pred = self.condition(condition, false);
        let then = self.block(then);
        let otherwise = self.block(otherwise);
        let pred = pred?;
        let span = condition.span();
        match (then.as_slice(), otherwise.as_slice()) {
            ([], []) => {}
            ([Stmt::Instr(one)], []) if one.pred.is_none() => self.guarded(one.clone(), pred),
            ([Stmt::Instr(one)], [Stmt::Instr(other)])
                if one.pred.is_none() && other.pred.is_none() && !names_register(one, &pred.reg.text) =>
            {
                let inverse = Pred { negated: !pred.negated, reg: pred.reg.clone() };
                self.guarded(one.clone(), pred);
                self.guarded(other.clone(), inverse);
            }
            ([], _) => {
                let end = self.fresh.label("end");
                self.branch_to(&end, Some(pred), span);
                self.inner(otherwise, span);
                self.label(&end, span);
            }
            (_, []) => {
                let end = self.fresh.label("end");
                self.branch_to(&end, Some(inverse(pred)), span);
                self.inner(then, span);
                self.label(&end, span);
            }
            _ => {
                let (other, end) = (self.fresh.label("else"), self.fresh.label("end"));
                self.branch_to(&other, Some(inverse(pred)), span);
                let goes_on = !leaves(&then);
                self.inner(then, span);
                if goes_on {
                    self.branch_to(&end, None, span);
                }
                self.label(&other, span);
                self.inner(otherwise, span);
                if goes_on {
                    self.label(&end, span);
                }
            }
        }
        Ok(())
    }

    fn guarded(&mut self, mut instr: Instr, pred: Pred) {
        instr.pred = Some(pred);
        self.out.push(Stmt::Instr(instr));
    }

    fn label(&mut self, text: &str, span: Span) {
        self.out.push(Stmt::Label(Word { text: text.to_owned(), span }));
    }

    /// Statements within this block; those that declare something get a block of their own.
    fn inner(&mut self, body: Vec<Stmt>, span: Span) {
        if declares(&body) {
            self.out.push(Stmt::Block(body, span));
        } else {
            self.out.extend(body);
        }
    }

    /// `while` and `loop`. The condition is computed at the beginning of each round. `continue` goes there, in the first round of its own to
    /// the end of that round.
    pub(super) fn repeated(
        &mut self,
        condition: Option<&Expr>,
        (first, body): (Option<Vec<Stmt>>, Vec<Stmt>),
        name: Option<Word>,
        span: Span,
    ) -> Res<()> {
        if let Some(name) = name
            .as_ref()
            .filter(|name| self.loops.iter().any(|l| l.name.as_ref().is_some_and(|of| of.text == name.text)))
        {
            return self.fail(errors::loop_named_twice(name.span, &name.text));
        }
        let (before, mut named) = (self.out.len(), false);
        let (begin, end) = (self.fresh.label("loop"), self.fresh.label("end"));
        let mut end_used = condition.is_some();
        if let Some(first) = first {
            self.unless(condition, &end)?;
            let round = self.round(first, (&begin, &end), name.as_ref(), span);
            (end_used, named) = (end_used | round.0, named | round.1);
        }
        self.label(&begin, span);
        self.unless(condition, &end)?;
        let round = self.round(body, (&begin, &end), name.as_ref(), span);
        (end_used, named) = (end_used | round.0, named | round.1);
        if let Some(name) = name.filter(|_| !named) {
            // a label like any other, to which a `bra` may go
            self.out.insert(before, Stmt::Label(name));
        }
        self.back(&begin, &end, span, condition.is_none());
        if end_used && branches_to(&self.out[before..], &end) {
            self.label(&end, span);
        }
        Ok(())
    }

    /// Leaves a loop unless its condition holds.
    fn unless(&mut self, condition: Option<&Expr>, end: &str) -> Res<()> {
        let Some(condition) = condition else { return Ok(()) };
        let pred = self.condition(condition, true)?;
        self.branch_to(end, Some(inverse(pred)), condition.span());
        Ok(())
    }

    /// The statements of a round; returns whether one leaves the loop, and whether one names it.
    fn round(&mut self, body: Vec<Stmt>, (next, end): (&str, &str), name: Option<&Word>, span: Span) -> (bool, bool) {
        let (end, next) = (end.to_owned(), next.to_owned());
        self.loops.push(Loop { end, next, end_used: false, name: name.cloned(), named: false });
        let body = self.block(body);
        let Some(done) = self.loops.pop() else { return (false, false) };
        self.inner(body, span);
        (done.end_used, done.named)
    }

    /// The branch back. If the round ends with `if ... { break; }`, and `turns` says that no condition is computed at its beginning, that
    /// branch goes back if it does not leave.
    fn back(&mut self, begin: &str, end: &str, span: Span, turns: bool) {
        if turns
            && let Some(last) = last_branch(&mut self.out)
            && let (Some(pred), Some(target)) = (&mut last.pred, target(&last.operands, &last.parts))
            && target == end
        {
            pred.negated = !pred.negated;
            let span = last.span;
            last.operands = vec![operand(name(&Word { text: begin.to_owned(), span }))];
        } else {
            self.branch_to(begin, None, span);
        }
    }

    /// `break` and `continue`
    pub(super) fn leave(&mut self, span: Span, of: Option<Word>, breaks: bool) -> Res<()> {
        let is = |around: &Loop| match &of {
            Some(of) => around.name.as_ref().is_some_and(|name| name.text == of.text),
            None => true,
        };
        let around = self.loops.iter_mut().rev().find(|around| is(around));
        let Some(around) = around else {
            return match of {
                Some(of) => self.fail(errors::no_loop_of_name(of.span, &of.text)),
                None => self.fail(errors::outside_loop(span, if breaks { "break" } else { "continue" })),
            };
        };
        around.named |= of.is_some();
        let label = if breaks {
            around.end_used = true;
            around.end.clone()
        } else {
            around.next.clone()
        };
        self.branch_to(&label, None, span);
        Ok(())
    }
}

fn inverse(pred: Pred) -> Pred {
    Pred { negated: !pred.negated, reg: pred.reg }
}

/// The instruction with which statements end.
fn last_branch(body: &mut [Stmt]) -> Option<&mut Instr> {
    match body.last_mut()? {
        Stmt::Instr(last) => Some(last),
        Stmt::Block(inner, _) => last_branch(inner),
        _ => None,
    }
}

/// The label of a branch.
fn target<'i>(operands: &'i [Operand], parts: &[Word]) -> Option<&'i str> {
    match (operands, parts) {
        ([Operand { kind: OperandKind::Expr(Expr::Name(label, None)), .. }], [opcode, ..]) if opcode.text == "bra" => {
            Some(&label.text)
        }
        _ => None,
    }
}

fn branches_to(body: &[Stmt], label: &str) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Instr(i) => target(&i.operands, &i.parts) == Some(label),
        Stmt::Block(inner, _) => branches_to(inner, label),
        _ => false,
    })
}

/// Does the last statement leave, so that nothing after it runs?
fn leaves(body: &[Stmt]) -> bool {
    match body.last() {
        Some(Stmt::Instr(i)) => {
            let opcode = i.parts.first().map_or("", |part| part.text.as_str());
            let entries = opcode::entries(opcode);
            i.pred.is_none() && entries.first().is_some_and(|entry| entry.instr.effects.control.ends_block(false))
        }
        Some(Stmt::Block(inner, _)) => leaves(inner),
        _ => false,
    }
}

/// Does an operand of the instruction name the register?
fn names_register(instr: &Instr, register: &str) -> bool {
    fn within(operand: &Operand, register: &str) -> bool {
        let is = |word: &Word| word.text == register;
        match &operand.kind {
            OperandKind::Expr(Expr::Name(word, _)) | OperandKind::Not(word) | OperandKind::Select(word, _) => is(word),
            OperandKind::Expr(_) | OperandKind::Sink | OperandKind::Index(..) => false,
            OperandKind::Vector(list) | OperandKind::Address(list) | OperandKind::List(list) => {
                list.iter().any(|operand| within(operand, register))
            }
            OperandKind::Pair(a, b) => within(a, register) || within(b, register),
            OperandKind::Neg(a) => within(a, register),
        }
    }
    instr.operands.iter().any(|operand| within(operand, register))
}
