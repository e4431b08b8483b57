//! Constant expressions over Rust constants whose values the macro does not know: rustc evaluates them.

use super::{Const, STEP};
use crate::code::Code;
use crate::diag::Diagnostic;
use crate::span::Span;
use std::collections::HashMap;
use std::fmt;

/// A constant expression that depends on a Rust constant: an index into [`Constants::all`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConstId(pub u32);

/// The kind of a constant, which follows from the declared types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An integer.
    Int,
    /// `0f...`
    F32,
    /// A floating-point number.
    F64,
}

impl Kind {
    /// Of a constant.
    pub fn of(c: Const) -> Kind {
        match c {
            Const::Int { .. } => Kind::Int,
            Const::F32(_) => Kind::F32,
            Const::F64(_) => Kind::F64,
        }
    }

    /// A constant of the kind.
    fn sample(self) -> Const {
        match self {
            Kind::Int => Const::signed(1),
            Kind::F32 => Const::f32(1.0),
            Kind::F64 => Const::F64(1.0),
        }
    }
}

/// A declaration of a Rust constant.
#[derive(Debug, Clone)]
pub struct Declaration {
    /// Its name in PTX.
    pub name: String,
    /// Its type.
    pub ty: RustType,
    /// The Rust expression; `None` for a parameter of a kernel.
    pub value: Option<Span>,
    /// The constants that the expression names, by their names in it.
    pub names: Vec<(String, Named)>,
    /// The name's place.
    pub span: Span,
}

/// What a name in a Rust expression stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Named {
    /// A value. Loop variables have no type.
    Known(Const, Option<RustType>),
    /// A declaration: its number.
    Rust(u32),
}

/// The types of Rust constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RustType(&'static str);

impl RustType {
    /// Every name.
    pub const ALL: [&'static str; 13] =
        ["u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "isize", "f32", "f64", "bool"];

    /// The type of this name.
    pub fn from_name(name: &str) -> Option<RustType> {
        RustType::ALL.into_iter().find(|known| *known == name).map(RustType)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.0
    }

    /// The kind of its values.
    pub fn kind(self) -> Kind {
        match self.0 {
            "f32" => Kind::F32,
            "f64" => Kind::F64,
            _ => Kind::Int,
        }
    }

    /// Are its values signed integers?
    pub fn signed(self) -> bool {
        self.0.starts_with('i')
    }

    /// The bits of its integers.
    pub fn bits(self) -> u32 {
        match self.0 {
            "bool" => 1,
            name => name[1..].parse().unwrap_or(64),
        }
    }
}

/// One of them.
#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    /// A declaration: its number.
    Rust(u32),
    /// Known all the same.
    Known(Const),
    /// `-c`
    Unary(char, ConstId),
    /// `a + b`, and the operators `max` and `up` of layouts.
    Binary(&'static str, ConstId, ConstId),
    /// `c ? a : b`
    Choose(ConstId, ConstId, ConstId),
    /// `(.u64) c`
    Cast(bool, ConstId),
}

/// A number that a directive or a declaration gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// A number.
    Known(u64),
    /// An expression of Rust constants.
    Rust(ConstId),
}

impl Count {
    /// The number.
    pub fn known(self) -> Option<u64> {
        match self {
            Count::Known(n) => Some(n),
            Count::Rust(_) => None,
        }
    }
}

impl fmt::Display for Count {
    /// In a text with marks.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Count::Known(n) => n.fmt(f),
            Count::Rust(id) => f.write_str(&Constants::mark(*id)),
        }
    }
}

/// A rule that only rustc can check.
#[derive(Debug, Clone)]
pub struct Assertion {
    /// It must not be 0.
    pub condition: ConstId,
    /// What is reported then. In its texts, [`Constants::mark`] stands for values.
    pub finding: Diagnostic,
    /// So many more places break the same rule then.
    pub others: u32,
}

impl Assertion {
    /// At one place.
    pub fn new(condition: ConstId, finding: Diagnostic) -> Self {
        Assertion { condition, finding, others: 0 }
    }
}

/// The Rust constants of a module, and the expressions over them.
#[derive(Debug, Clone, Default)]
pub struct Constants {
    /// In the order of the text.
    pub declarations: Vec<Declaration>,
    /// Each refers to earlier ones only.
    pub all: Vec<(Expression, Kind, Span)>,
    /// In the order of the text, each at its first place.
    pub assertions: Vec<Assertion>,
    /// The number of each expression: equal ones are one.
    known: HashMap<[u8; STEP], ConstId>,
    /// The index of each assertion.
    asserted: HashMap<(ConstId, &'static Code), usize>,
}

/// Before and after the number of an expression in a text.
const MARK: char = '\u{1}';
/// The same for a part of a name.
const NAME: char = '\u{2}';

impl Constants {
    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.declarations.is_empty()
    }

    /// Adds a declaration.
    pub fn declare(&mut self, declaration: Declaration) -> ConstId {
        let (kind, span) = (declaration.ty.kind(), declaration.span);
        self.declarations.push(declaration);
        self.push(Expression::Rust(self.declarations.len() as u32 - 1), kind, span)
    }

    /// The declaration of a constant or a parameter, if the expression is its name alone.
    pub fn declaration_of(&self, id: ConstId) -> Option<u32> {
        match self.all.get(id.0 as usize)?.0 {
            Expression::Rust(n) => Some(n),
            _ => None,
        }
    }

    /// The expression, where it stands first.
    fn push(&mut self, expression: Expression, kind: Kind, span: Span) -> ConstId {
        let next = ConstId(self.all.len() as u32);
        let id = *self.known.entry(expression.step()).or_insert(next);
        if id == next {
            self.all.push((expression, kind, span));
        }
        id
    }

    /// The kind of an expression.
    pub fn kind(&self, id: ConstId) -> Kind {
        self.all.get(id.0 as usize).map_or(Kind::Int, |c| c.1)
    }

    /// Where it stands.
    pub fn span(&self, id: ConstId) -> Span {
        self.all.get(id.0 as usize).map_or(Span::default(), |c| c.2)
    }

    /// A known one.
    pub fn known(&mut self, c: Const, span: Span) -> ConstId {
        self.push(Expression::Known(c), Kind::of(c), span)
    }

    /// A known integer that no other expression shares, for [`Constants::set`].
    pub fn variable(&mut self, n: u64, span: Span) -> ConstId {
        self.all.push((Expression::Known(Const::unsigned(n)), Kind::Int, span));
        ConstId(self.all.len() as u32 - 1)
    }

    /// Gives a [variable](Constants::variable) one another value.
    pub fn set(&mut self, id: ConstId, value: Const) {
        if let Some((expression @ Expression::Known(_), ..)) = self.all.get_mut(id.0 as usize) {
            *expression = Expression::Known(value);
        }
    }

    /// A known integer.
    pub fn number(&mut self, n: u64, span: Span) -> ConstId {
        self.known(Const::unsigned(n), span)
    }

    /// The number as an expression.
    pub fn count(&mut self, n: Count, span: Span) -> ConstId {
        match n {
            Count::Known(n) => self.number(n, span),
            Count::Rust(id) => id,
        }
    }

    /// `-c`; `None` if the kind has no such operator.
    pub fn unary(&mut self, operator: char, a: ConstId, span: Span) -> Option<ConstId> {
        let kind = Kind::of(self.kind(a).sample().unary(operator)?);
        Some(self.push(Expression::Unary(operator, a), kind, span))
    }

    /// `a + b`; `None` if the kinds have no such operator.
    pub fn binary(&mut self, operator: &'static str, a: ConstId, b: ConstId, span: Span) -> Option<ConstId> {
        let kind = Kind::of(self.kind(a).sample().binary(operator, self.kind(b).sample())?);
        Some(self.push(Expression::Binary(operator, a, b), kind, span))
    }

    /// The same for integers.
    pub fn int(&mut self, operator: &'static str, a: ConstId, b: ConstId) -> ConstId {
        let span = self.span(a);
        self.push(Expression::Binary(operator, a, b), Kind::Int, span)
    }

    /// Can it divide by zero?
    pub fn may_fail(&self, expression: &Expression) -> bool {
        let Expression::Binary("/" | "%" | "up", _, by) = expression else { return false };
        !matches!(self.all.get(by.0 as usize), Some((Expression::Known(by), ..)) if by.holds() && *by != Const::F64(0.0))
    }

    /// `c ? a : b`; `None` unless all are integers.
    pub fn choose(&mut self, c: ConstId, a: ConstId, b: ConstId, span: Span) -> Option<ConstId> {
        [c, a, b].iter().all(|id| self.kind(*id) == Kind::Int).then_some(())?;
        Some(self.push(Expression::Choose(c, a, b), Kind::Int, span))
    }

    /// `(.u64) c`; `None` unless it is an integer.
    pub fn cast(&mut self, unsigned: bool, a: ConstId, span: Span) -> Option<ConstId> {
        (self.kind(a) == Kind::Int).then(|| self.push(Expression::Cast(unsigned, a), Kind::Int, span))
    }

    /// Requires `a operator b`.
    pub fn require(&mut self, a: ConstId, operator: &'static str, b: ConstId, finding: Diagnostic) {
        let condition = self.int(operator, a, b);
        self.assert(Assertion::new(condition, finding));
    }

    /// Adds an assertion, or counts it if an earlier place has the same.
    pub fn assert(&mut self, assertion: Assertion) {
        let next = self.assertions.len();
        let key = (assertion.condition, assertion.finding.code);
        let at = *self.asserted.entry(key).or_insert(next);
        match self.assertions.get_mut(at) {
            Some(first) => first.others += 1,
            None => self.assertions.push(assertion),
        }
    }

    /// Requires `a operator n`.
    pub fn require_number(&mut self, a: ConstId, operator: &'static str, n: i64, finding: Diagnostic) {
        let span = self.span(a);
        let n = self.known(Const::signed(n), span);
        self.require(a, operator, n, finding);
    }

    /// What stands for the value in a text.
    pub fn mark(id: ConstId) -> String {
        format!("{MARK}{}{MARK}", id.0)
    }

    /// What stands for a part of a name in a text.
    pub fn name_mark(id: ConstId) -> String {
        format!("{NAME}{}{NAME}", id.0)
    }

    /// Splits a text at marks: pieces of text, and expressions. `true`: a part of a name.
    pub fn pieces(text: &str) -> Vec<Result<&str, (ConstId, bool)>> {
        let mut out = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find([MARK, NAME]) {
            let name = rest[at..].starts_with(NAME);
            if at > 0 {
                out.push(Ok(&rest[..at]));
            }
            rest = &rest[at + 1..];
            let Some(end) = rest.find([MARK, NAME]) else { break };
            out.push(Err((ConstId(rest[..end].parse().unwrap_or(0)), name)));
            rest = &rest[end + 1..];
        }
        if !rest.is_empty() {
            out.push(Ok(rest));
        }
        out
    }

    /// The declarations that an expression depends on, in the order of the text.
    pub fn declarations_of(&self, id: ConstId) -> Vec<&Declaration> {
        let mut seen = vec![false; self.all.len()];
        let (mut found, mut rest) = (Vec::new(), vec![id]);
        while let Some(ConstId(n)) = rest.pop() {
            let Some((expression, ..)) = self.all.get(n as usize) else { continue };
            if std::mem::replace(&mut seen[n as usize], true) {
                continue;
            }
            match expression {
                Expression::Rust(n) => found.push(*n),
                Expression::Known(_) => {}
                Expression::Unary(_, a) | Expression::Cast(_, a) => rest.push(*a),
                Expression::Binary(_, a, b) => rest.extend([*a, *b]),
                Expression::Choose(c, a, b) => rest.extend([*c, *a, *b]),
            }
        }
        found.sort_unstable();
        found.into_iter().map(|n| &self.declarations[n as usize]).collect()
    }

    /// A text with marks, for readers: the expressions as written.
    pub fn shown(&self, text: &str) -> String {
        Constants::pieces(text)
            .into_iter()
            .map(|piece| match piece {
                Ok(text) => text.to_owned(),
                Err((id, _)) => self.written(id, 0),
            })
            .collect()
    }

    /// An expression as written, up to parentheses and spaces.
    pub fn written(&self, id: ConstId, around: u8) -> String {
        let Some((expression, ..)) = self.all.get(id.0 as usize) else { return String::new() };
        match expression {
            Expression::Rust(n) => self.declarations[*n as usize].name.clone(),
            Expression::Known(Const::Int { value, unsigned: false }) => value.cast_signed().to_string(),
            Expression::Known(Const::Int { value, .. }) => value.to_string(),
            Expression::Known(Const::F32(bits)) => format!("{:?}", f32::from_bits(*bits)),
            Expression::Known(Const::F64(value)) => format!("{value:?}"),
            Expression::Unary(operator, a) => format!("{operator}{}", self.written(*a, 2)),
            Expression::Binary(operator, a, b) => {
                let text = format!("{} {operator} {}", self.written(*a, 1), self.written(*b, 2));
                if around > 0 { format!("({text})") } else { text }
            }
            Expression::Choose(c, a, b) => {
                format!("({} ? {} : {})", self.written(*c, 0), self.written(*a, 0), self.written(*b, 0))
            }
            Expression::Cast(unsigned, a) => {
                format!("({}) {}", if *unsigned { ".u64" } else { ".s64" }, self.written(*a, 2))
            }
        }
    }
}
