//! Integer expressions as instructions. The type of an expression is that of its operands, which must agree; constants have the type of what
//! they stand with, and `u32` by themselves. Each operator is one instruction, `a * b + c` is one `mad`, and constants are folded.

use super::names::{Kind, Known};
use super::{Lowerer, Res, errors, name, operand};
use crate::ast::{Assign, Expr, Word};
use crate::parse::{AT, Const, fold};
use crate::span::Span;

/// The value of an expression of numbers.
pub(super) fn number(e: &Expr) -> Option<i128> {
    match fold(e)? {
        Const::Int { value, unsigned: true } => Some(value.into()),
        Const::Int { value, .. } => Some(value.cast_signed().into()),
        _ => None,
    }
}

/// Is it an expression without registers?
fn is_constant(e: &Expr) -> bool {
    matches!(e, Expr::Rust(..)) || fold(e).is_some()
}

/// A number as an operand.
pub(super) fn literal(value: i128, span: Span) -> Expr {
    let magnitude = u64::try_from(value.unsigned_abs()).unwrap_or_default();
    let int = Expr::Int { value: magnitude, unsigned: magnitude > i64::MAX as u64, text: None, span };
    if value < 0 { Expr::Unary('-', Box::new(int), span) } else { int }
}

/// The shift of a power of two.
fn shift(value: i128) -> Option<u32> {
    let value = u64::try_from(value).ok()?;
    value.is_power_of_two().then(|| value.trailing_zeros())
}

/// The type that a constant is converted to: `4 as u64`.
fn converted_to(e: &Expr) -> Option<Kind> {
    match e {
        Expr::Cast(ty, ..) => Kind::named(&ty.text),
        Expr::Unary(_, inner, _) => converted_to(inner),
        Expr::Binary("<<" | ">>", a, ..) => converted_to(a),
        Expr::Binary(_, a, b, _) => converted_to(a).or_else(|| converted_to(b)),
        _ => None,
    }
}

fn comparison(operator: &str) -> Option<(&'static str, &'static str)> {
    Some(match operator {
        "<" => ("lt", "gt"),
        ">" => ("gt", "lt"),
        "<=" => ("le", "ge"),
        ">=" => ("ge", "le"),
        "==" => ("eq", "eq"),
        "!=" => ("ne", "ne"),
        _ => return None,
    })
}

impl Lowerer<'_> {
    /// `let %x = ...;`, `%x = ...;`
    pub(super) fn assign(&mut self, assign: Assign) -> Res<()> {
        let Assign { declares, target, ty, value, span } = assign;
        let written = match &ty {
            Some(word) => match Kind::named(&word.text) {
                Some(kind) => Some(kind),
                None => return self.fail(errors::no_type(word.span, &word.text)),
            },
            None => None,
        };
        if !declares {
            let kind = match self.known(&target.text) {
                Some(Known::Register(_)) => self.kind_of_name(&target)?,
                Some(_) => return self.fail(errors::no_integer(target.span, &target.text, "not a register")),
                None => return self.fail(errors::not_declared_yet(target.span, &target.text)),
            };
            return self.compute_into(&target, kind, &value, span).map(drop);
        }
        if self.names.is_register(&target.text) {
            return self.fail(errors::declared_twice(target.span, &target.text));
        }
        let kind = match self.kind(&value) {
            Ok(kind) => written.or(kind).unwrap_or(Kind::U32),
            Err(stop) => {
                // later statements name it
                self.declare(&target, written.unwrap_or(Kind::U32));
                return Err(stop);
            }
        };
        self.declare(&target, kind);
        self.compute_into(&target, kind, &value, span)
    }

    /// Computes a value into a register of this type.
    fn compute_into(&mut self, target: &Word, kind: Kind, value: &Expr, span: Span) -> Res<()> {
        if let Some(found) = self.kind(value)?
            && found != kind
            && (found.width() != kind.width() || found.signed() && self.is_typed(target))
        {
            return self.fail(errors::other_type(value.span(), found, kind));
        }
        let found = self.kind(value)?.unwrap_or(kind);
        self.compute(value, found, Some(target), span).map(drop)
    }

    /// Is the register declared with a sign, and not `.b32`?
    fn is_typed(&self, target: &Word) -> bool {
        !matches!(self.known(&target.text), Some(Known::Register(ty)) if ty.starts_with(".b"))
    }

    /// The register with the value of a predicate.
    pub(super) fn predicate(&mut self, e: &Expr) -> Res<Word> {
        match self.kind(e)? {
            Some(Kind::Pred) => {}
            kind => return self.fail(errors::no_condition(e.span(), kind.unwrap_or(Kind::U32))),
        }
        match self.compute(e, Kind::Pred, None, e.span())? {
            Expr::Name(word, None) => Ok(word),
            other => self.fail(errors::no_expression(other.span())),
        }
    }

    /// The type of a name.
    fn kind_of_name(&mut self, word: &Word) -> Res<Kind> {
        if let Some(kind) = self.fresh.kind_of(&word.text) {
            return Ok(kind);
        }
        let ty = match self.known(&word.text) {
            Some(Known::Register(ty) | Known::Parameter(ty, _)) => ty,
            Some(Known::Special(kind)) => return Ok(kind),
            Some(Known::Variable { shared }) => return Ok(if shared { Kind::U32 } else { Kind::U64 }),
            None => return self.fail(errors::undeclared(word.span, &word.text)),
        };
        match Kind::named(&ty) {
            Some(kind) => Ok(kind),
            None => self.fail(errors::no_integer(word.span, &word.text, &ty)),
        }
    }

    /// `%tid.x` as one word.
    fn whole_name(&mut self, word: &Word, member: Option<&Word>) -> Word {
        match member {
            Some(member) => Word { text: format!("{}.{}", word.text, member.text), span: word.span.to(member.span) },
            None => word.clone(),
        }
    }

    /// The type of an expression; of a constant none.
    pub(super) fn kind(&mut self, e: &Expr) -> Res<Option<Kind>> {
        if matches!(e, Expr::Rust(..)) {
            return Ok(None);
        }
        if fold(e).is_some() {
            return match number(e) {
                Some(_) => Ok(converted_to(e)),
                None => self.fail(errors::no_expression(e.span())),
            };
        }
        Ok(match e {
            Expr::Name(word, member) => {
                let word = self.whole_name(word, member.as_ref());
                Some(self.kind_of_name(&word)?)
            }
            Expr::Unary('!', inner, span) => match self.kind(inner)? {
                Some(Kind::Pred) => Some(Kind::Pred),
                kind => return self.fail(errors::no_operator(*span, "!", kind.unwrap_or(Kind::U32))),
            },
            Expr::Unary(operator, inner, span) => match self.kind(inner)? {
                Some(Kind::Pred) => {
                    return self.fail(errors::no_operator(*span, &operator.to_string(), Kind::Pred));
                }
                kind => kind,
            },
            Expr::Binary(operator @ ("<<" | ">>"), a, b, span) => {
                let amount = self.kind(b)?;
                match (self.kind(a)?, amount) {
                    (Some(Kind::Pred), _) | (_, Some(Kind::Pred)) => {
                        return self.fail(errors::no_operator(*span, operator, Kind::Pred));
                    }
                    (kind, None | Some(Kind::U32 | Kind::S32)) => Some(kind.unwrap_or(Kind::U32)),
                    (_, Some(amount)) => return self.fail(errors::other_type(b.span(), amount, Kind::U32)),
                }
            }
            Expr::Binary(operator, a, b, span) => {
                let kind = self.same(a, b)?;
                let logic = matches!(*operator, "&&" | "||");
                let both = matches!(*operator, "&" | "|" | "^");
                let predicate = kind == Some(Kind::Pred);
                if logic != predicate && !(predicate && both) {
                    return self.fail(errors::no_operator(*span, operator, kind.unwrap_or(Kind::U32)));
                }
                if comparison(operator).is_some() { Some(Kind::Pred) } else { kind }
            }
            Expr::Ternary(condition, a, b, span) => {
                match self.kind(condition)? {
                    Some(Kind::Pred) => {}
                    kind => {
                        return self.fail(errors::no_condition(condition.span(), kind.unwrap_or(Kind::U32)));
                    }
                }
                match self.same(a, b)? {
                    Some(Kind::Pred) => return self.fail(errors::no_operator(*span, "? :", Kind::Pred)),
                    kind => kind,
                }
            }
            Expr::Cast(ty, inner, _) => match Kind::named(&ty.text) {
                Some(kind) if kind != Kind::Pred => {
                    self.kind(inner)?;
                    Some(kind)
                }
                _ => return self.fail(errors::no_type(ty.span, ty.text.trim_start_matches('.'))),
            },
            Expr::Call(function, arguments, _) if function.text == AT => self.kind_of_element(arguments)?,
            Expr::Call(_, arguments, span) => match arguments.as_slice() {
                [a, b] => match self.same(a, b)? {
                    Some(Kind::Pred) => return self.fail(errors::no_operator(*span, "min", Kind::Pred)),
                    kind => kind,
                },
                _ => return self.fail(errors::no_expression(*span)),
            },
            Expr::Int { .. } | Expr::F32 { .. } | Expr::F64 { .. } | Expr::Rust(..) => {
                return self.fail(errors::no_expression(e.span()));
            }
        })
    }

    /// The type that both have.
    fn same(&mut self, a: &Expr, b: &Expr) -> Res<Option<Kind>> {
        match (self.kind(a)?, self.kind(b)?) {
            (Some(first), Some(second)) if first != second => {
                self.fail(errors::mixed(b.span(), second, first, a.span()))
            }
            (first, second) => Ok(first.or(second)),
        }
    }

    /// Where a value of this type goes: the target, or a new register.
    fn result(&mut self, kind: Kind, target: Option<&Word>, span: Span) -> Word {
        match target {
            Some(target) => target.clone(),
            None => self.fresh.register(kind, span),
        }
    }

    /// One instruction with a result.
    pub(super) fn made(
        &mut self,
        opcode: &str,
        (kind, target, span): (Kind, Option<&Word>, Span),
        sources: Vec<Expr>,
    ) -> Expr {
        let result = self.result(kind, target, span);
        let operands = std::iter::once(name(&result)).chain(sources).map(operand).collect();
        self.emit(opcode, operands, span);
        name(&result)
    }

    /// A constant of this type.
    fn constant(&mut self, e: &Expr, kind: Kind) -> Res<Expr> {
        if matches!(e, Expr::Rust(..)) {
            return Ok(e.clone());
        }
        let value = number(e).unwrap_or_default();
        // the bits of a negative number are those of an unsigned one
        let bits = kind.width();
        let fits = value >= -(1i128 << (bits - 1)) && value < 1i128 << bits;
        if !fits {
            return self.fail(errors::range(e.span(), value, kind));
        }
        Ok(literal(value, e.span()))
    }

    /// The value of an expression of this type: a register or a constant. Without a target, no instruction copies it. `span`: that of the
    /// instruction.
    pub(super) fn compute(&mut self, e: &Expr, kind: Kind, target: Option<&Word>, span: Span) -> Res<Expr> {
        let to = (kind, target, span);
        let bits = kind.bits();
        let ty = kind.name();
        if is_constant(e) {
            if kind == Kind::Pred {
                return self.fail(errors::no_condition(e.span(), Kind::U32));
            }
            let value = self.constant(e, kind)?;
            return Ok(if target.is_some() { self.made(&format!("mov.{bits}"), to, vec![value]) } else { value });
        }
        match e {
            Expr::Name(word, member) => {
                let word = self.whole_name(word, member.as_ref());
                let known = if self.fresh.kind_of(&word.text).is_some() { None } else { self.known(&word.text) };
                let value = match known {
                    Some(Known::Special(_)) => return Ok(self.made(&format!("mov.{ty}"), to, vec![e.clone()])),
                    Some(Known::Variable { .. }) => {
                        return Ok(self.made(&format!("mov.{bits}"), to, vec![e.clone()]));
                    }
                    Some(Known::Parameter(_, declared)) => name(&self.load(&word, kind, declared)),
                    _ => e.clone(),
                };
                Ok(if target.is_some() { self.made(&format!("mov.{bits}"), to, vec![value]) } else { value })
            }
            Expr::Unary('+', inner, _) => self.compute(inner, kind, target, span),
            Expr::Unary('-', inner, at) => {
                let inner = self.compute(inner, kind, None, inner.span())?;
                Ok(match kind.signed() {
                    true => self.made(&format!("neg.{ty}"), to, vec![inner]),
                    false => self.made(&format!("sub.{ty}"), to, vec![literal(0, *at), inner]),
                })
            }
            Expr::Unary(_, inner, _) => {
                let inner = self.compute(inner, kind, None, inner.span())?;
                Ok(self.made(&format!("not.{bits}"), to, vec![inner]))
            }
            Expr::Binary(operator, a, b, _) => self.binary((operator, a, b), e.span(), to),
            Expr::Ternary(condition, a, b, _) => {
                let condition = self.predicate(condition)?;
                let a = self.compute(a, kind, None, a.span())?;
                let b = self.compute(b, kind, None, b.span())?;
                Ok(self.made(&format!("selp.{bits}"), to, vec![a, b, name(&condition)]))
            }
            Expr::Cast(_, inner, _) => self.converted(inner, to),
            Expr::Call(function, arguments, _) if function.text == AT => self.element(arguments, to),
            Expr::Call(function, arguments, _) => {
                let [a, b] = arguments.as_slice() else { return self.fail(errors::no_expression(span)) };
                self.not_negative(a, kind)?;
                self.not_negative(b, kind)?;
                let a = self.compute(a, kind, None, a.span())?;
                let b = self.compute(b, kind, None, b.span())?;
                let sources = if is_constant(&a) { vec![b, a] } else { vec![a, b] };
                Ok(self.made(&format!("{}.{ty}", function.text), to, sources))
            }
            _ => self.fail(errors::no_expression(e.span())),
        }
    }

    /// `e as u64`, where `kind` is the type after `as`.
    fn converted(&mut self, inner: &Expr, to: (Kind, Option<&Word>, Span)) -> Res<Expr> {
        let (kind, target, span) = to;
        let Some(from) = self.kind(inner)? else { return self.compute(inner, kind, target, span) };
        if from == Kind::Pred {
            let inner = self.predicate(inner)?;
            let (one, zero) = (literal(1, span), literal(0, span));
            return Ok(self.made(&format!("selp.{}", kind.bits()), to, vec![one, zero, name(&inner)]));
        }
        if from.width() == kind.width() {
            return self.compute(inner, from, target, span);
        }
        let inner = self.compute(inner, from, None, inner.span())?;
        let opcode = match (from, kind.width()) {
            (Kind::S32, 64) => "cvt.s64.s32",
            (_, 64) => "cvt.u64.u32",
            (_, _) => "cvt.u32.u64",
        };
        Ok(self.made(opcode, to, vec![inner]))
    }

    /// A negative number is no operand of an unsigned comparison.
    fn not_negative(&mut self, e: &Expr, kind: Kind) -> Res<()> {
        match number(e) {
            Some(value) if value < 0 && !kind.signed() => self.fail(errors::range(e.span(), value, kind)),
            _ => Ok(()),
        }
    }

    fn binary(
        &mut self,
        (operator, a, b): (&str, &Expr, &Expr),
        at: Span,
        to: (Kind, Option<&Word>, Span),
    ) -> Res<Expr> {
        let (kind, _, span) = to;
        let (bits, ty) = (kind.bits(), kind.name());
        if let Some((plain, swapped)) = comparison(operator) {
            let of = self.same(a, b)?.unwrap_or(Kind::U32);
            self.not_negative(a, of)?;
            self.not_negative(b, of)?;
            let (x, y) = (self.compute(a, of, None, a.span())?, self.compute(b, of, None, b.span())?);
            let (opcode, x, y) = if is_constant(&x) { (swapped, y, x) } else { (plain, x, y) };
            return Ok(self.made(&format!("setp.{opcode}.{}", of.name()), to, vec![x, y]));
        }
        match operator {
            "+" => self.sum(a, b, to),
            "*" => self.product(a, b, None, to),
            "/" | "%" => self.division(operator, (a, b), at, to),
            "<<" | ">>" => {
                let x = self.compute(a, kind, None, a.span())?;
                let amount = self.kind(b)?.unwrap_or(Kind::U32);
                self.not_negative(b, Kind::U32)?;
                let y = self.compute(b, amount, None, b.span())?;
                let opcode = if operator == "<<" { format!("shl.{bits}") } else { format!("shr.{ty}") };
                Ok(self.made(&opcode, to, vec![x, y]))
            }
            _ => {
                let x = self.compute(a, kind, None, a.span())?;
                let y = self.compute(b, kind, None, b.span())?;
                let opcode = match operator {
                    "-" => format!("sub.{ty}"),
                    "&" | "&&" => format!("and.{bits}"),
                    "|" | "||" => format!("or.{bits}"),
                    "^" => format!("xor.{bits}"),
                    _ => return self.fail(errors::no_operator(span, operator, kind)),
                };
                let swap = operator != "-" && is_constant(&x);
                Ok(self.made(&opcode, to, if swap { vec![y, x] } else { vec![x, y] }))
            }
        }
    }

    /// `a + b`, where a product is one instruction with the sum.
    fn sum(&mut self, a: &Expr, b: &Expr, to: (Kind, Option<&Word>, Span)) -> Res<Expr> {
        let kind = to.0;
        for (product, other) in [(a, b), (b, a)] {
            if let Expr::Binary("*", x, y, _) = product
                && !is_constant(product)
                && !is_constant(other)
            {
                let other = self.compute(other, kind, None, other.span())?;
                return self.product(x, y, Some(other), to);
            }
            if let Expr::Binary("*", x, y, _) = product
                && !is_constant(product)
            {
                let other = self.constant(other, kind)?;
                return self.product(x, y, Some(other), to);
            }
        }
        let x = self.compute(a, kind, None, a.span())?;
        let y = self.compute(b, kind, None, b.span())?;
        let sources = if is_constant(&x) { vec![y, x] } else { vec![x, y] };
        Ok(self.made(&format!("add.{}", kind.name()), to, sources))
    }

    /// `x * y`, or `x * y + addend`.
    pub(super) fn product(
        &mut self,
        x: &Expr,
        y: &Expr,
        addend: Option<Expr>,
        to: (Kind, Option<&Word>, Span),
    ) -> Res<Expr> {
        let (kind, _, _) = to;
        let (x, y) = if is_constant(x) { (y, x) } else { (x, y) };
        if let Some(narrow) = self.widened(x, y)? {
            return self.wide_product(x, y, (narrow, addend), to);
        }
        if let (Some(amount), None) = (number(y).and_then(shift), &addend) {
            let x = self.compute(x, kind, None, x.span())?;
            return Ok(self.made(&format!("shl.{}", kind.bits()), to, vec![x, literal(amount.into(), y.span())]));
        }
        let x = self.compute(x, kind, None, x.span())?;
        let y = self.compute(y, kind, None, y.span())?;
        let opcode = if addend.is_some() { "mad" } else { "mul" };
        let sources = [x, y].into_iter().chain(addend).collect();
        Ok(self.made(&format!("{opcode}.lo.{}", kind.name()), to, sources))
    }

    /// The type of 32 bits of both factors, if `x` and `y` are `a as u64` and `b as u64` or a constant.
    fn widened(&mut self, x: &Expr, y: &Expr) -> Res<Option<Kind>> {
        let Expr::Cast(ty, inner, _) = x else { return Ok(None) };
        let Some(narrow) = self.kind(inner)?.filter(|kind| kind.width() == 32) else { return Ok(None) };
        let same_sign =
            Kind::named(&ty.text).is_some_and(|kind| kind.width() == 64 && kind.signed() == narrow.signed());
        let other = match y {
            Expr::Cast(_, inner, _) => self.kind(inner)? == Some(narrow),
            y => number(y).is_some_and(|value| match narrow.signed() {
                true => i32::try_from(value).is_ok(),
                false => u32::try_from(value).is_ok(),
            }),
        };
        Ok(Some(narrow).filter(|_| same_sign && other))
    }

    fn wide_product(
        &mut self,
        x: &Expr,
        y: &Expr,
        (narrow, addend): (Kind, Option<Expr>),
        to: (Kind, Option<&Word>, Span),
    ) -> Res<Expr> {
        let inner = |e: &Expr| match e {
            Expr::Cast(_, inner, _) => (**inner).clone(),
            e => e.clone(),
        };
        let (x, y) = (inner(x), inner(y));
        let x = self.compute(&x, narrow, None, x.span())?;
        let y = self.compute(&y, narrow, None, y.span())?;
        let opcode = if addend.is_some() { "mad" } else { "mul" };
        let sources = [x, y].into_iter().chain(addend).collect();
        Ok(self.made(&format!("{opcode}.wide.{}", narrow.name()), to, sources))
    }

    /// `a / b` and `a % b`, where `b` is a power of two.
    fn division(
        &mut self,
        operator: &str,
        (a, b): (&Expr, &Expr),
        at: Span,
        to: (Kind, Option<&Word>, Span),
    ) -> Res<Expr> {
        let (kind, target, span) = to;
        if matches!(b, Expr::Rust(..)) {
            return self.fail(errors::unknown_amount(b.span()));
        }
        let value = number(b);
        if value == Some(0) {
            return self.fail(errors::by_zero(b.span()));
        }
        let Some(amount) = value.and_then(shift) else {
            let divisor = value.and_then(|value| u64::try_from(value).ok());
            return self.fail(errors::division(at, operator, divisor, kind));
        };
        if kind.signed() {
            return self.fail(errors::signed_division(at, operator));
        }
        if amount == 0 && operator == "/" {
            return self.compute(a, kind, target, span);
        }
        let x = self.compute(a, kind, None, a.span())?;
        let (opcode, y) = match operator {
            "/" => (format!("shr.{}", kind.name()), i128::from(amount)),
            _ => (format!("and.{}", kind.bits()), (1i128 << amount) - 1),
        };
        Ok(self.made(&opcode, to, vec![x, literal(y, b.span())]))
    }
}
