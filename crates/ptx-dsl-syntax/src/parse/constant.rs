//! Rust constants in a module of `ptx!`: their declarations, and expressions with them. A literal is known here, and stands for
//! itself; of anything else rustc knows the value, and an expression with it is one [`Expr::Rust`].

mod assertion;
mod errors;
mod literal;

use super::regions::Region;
use super::{Parser, Res, SPACES, fold};
use crate::ast::{Expr, Function};
use crate::span::Span;
use crate::token::Tok;
pub(crate) use errors::unknown_here;
pub use errors::unknown_value;
pub(super) use errors::{float_parameter, shadows};
pub(super) use literal::fits;
use literal::{Literal, arithmetic, literal};
use ptx_dsl_isa::constant::{Const, ConstId, Constants, Count, Declaration, Kind, Named, RustType};
use ptx_dsl_isa::layout::Layout;

/// The constants that are in scope, and what all of the module are.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// All of the module.
    pub constants: Constants,
    /// The last of a name counts.
    names: Vec<Name>,
    /// Regions of variables, which are named like constants.
    regions: Vec<Region>,
    /// Layouts, which are too. One whose declaration has an error is none.
    layouts: Vec<Option<Layout>>,
}

impl Scope {
    /// How many names there are, for [`Scope::close`].
    pub(super) fn open(&self) -> usize {
        self.names.len()
    }

    /// A block ends, and the names of its constants.
    pub(super) fn close(&mut self, open: usize) {
        self.names.truncate(open);
    }

    /// Is there no constant?
    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Is it a constant?
    pub(super) fn knows(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    fn value(&self, name: &str) -> Option<Value> {
        self.names.iter().rev().find(|known| known.text == name).map(|known| known.value)
    }

    /// The value of this name, if it is known and an `i64` has it.
    pub(super) fn integer(&self, name: &str) -> Option<i64> {
        match self.value(name)? {
            Value::Known(Const::Int { value, unsigned: true }, _) => i64::try_from(value).ok(),
            Value::Known(Const::Int { value, unsigned: false }, _) => Some(value.cast_signed()),
            Value::Known(..) | Value::Rust(_) | Value::Region(_) | Value::Layout(_) | Value::Broken => None,
        }
    }

    /// The expression of this name, if only rustc knows its value.
    pub(super) fn rust(&self, name: &str) -> Option<ConstId> {
        match self.value(name)? {
            Value::Rust(id) => Some(id),
            Value::Known(..) | Value::Region(_) | Value::Layout(_) | Value::Broken => None,
        }
    }

    /// Hides the names from this one on, until they are given back.
    pub(super) fn hide(&mut self, from: usize) -> Hidden {
        Hidden(self.names.split_off(from.min(self.names.len())))
    }

    /// Gives back hidden names.
    pub(super) fn restore(&mut self, hidden: Hidden) {
        self.names.extend(hidden.0);
    }

    /// A name for the value of an expression of constants.
    pub(super) fn set_expression(&mut self, name: &str, e: &Expr) {
        let value = match (e, fold(e)) {
            (Expr::Rust(id, _), _) => Value::Rust(*id),
            (_, Some(value)) => Value::Known(value, None),
            _ => Value::Broken,
        };
        self.names.push(Name { text: name.to_owned(), value, span: None });
    }

    /// A name for a constant that is called `declared`, whose value is unknown.
    pub(super) fn declare(&mut self, name: &str, declared: &str, ty: RustType, span: Span) {
        let declaration = Declaration { name: declared.to_owned(), ty, value: None, names: Vec::new(), span };
        let id = self.constants.declare(declaration);
        self.names.push(Name { text: name.to_owned(), value: Value::Rust(id), span: Some(span) });
    }

    /// What the value of this name depends on, if only rustc knows it.
    pub(super) fn declarations(&self, name: &str) -> Option<Vec<&Declaration>> {
        match self.value(name)? {
            Value::Rust(id) => Some(self.constants.declarations_of(id)),
            Value::Known(..) | Value::Region(_) | Value::Layout(_) | Value::Broken => None,
        }
    }

    /// The layout of this name; `Some(None)` if its declaration has an error.
    pub(super) fn layout(&self, name: &str) -> Option<Option<Layout>> {
        match self.value(name)? {
            Value::Layout(layout) => Some(self.layouts[layout]),
            _ => None,
        }
    }

    /// The value of a loop variable.
    pub(super) fn set(&mut self, name: &str, value: i64) {
        let value = Value::Known(Const::signed(value), None);
        self.names.push(Name { text: name.to_owned(), value, span: None });
    }
}

/// Names that are hidden.
pub(super) struct Hidden(Vec<Name>);

/// A name in scope.
#[derive(Debug, Clone)]
struct Name {
    text: String,
    value: Value,
    /// Of a declaration.
    span: Option<Span>,
}

/// What a name stands for.
#[derive(Debug, Clone, Copy)]
enum Value {
    Known(Const, Option<RustType>),
    Rust(ConstId),
    /// A region of a variable: an index into [`Scope::regions`].
    Region(usize),
    /// A layout: an index into [`Scope::layouts`].
    Layout(usize),
    /// Its declaration was reported.
    Broken,
}

impl Parser<'_> {
    /// Does a declaration `const NAME: ...` begin here?
    pub(super) fn at_constant(&self) -> bool {
        self.word_at(0) == Some("const")
            && self.word_at(1).is_some_and(|name| name != "_")
            && (self.is_at(2, ':') || self.is_at(2, '='))
    }

    /// `const NAME: u32 = crate::NAME`, up to what ends it: a `;`, or in a header a `,` or `>`.
    pub(super) fn constant_declaration(&mut self) -> Res<()> {
        let start = self.bump();
        let name = self.name("the name of a constant")?;
        let declared = self.constant_value(&name.text, start.to(name.span), name.span);
        if name.text.starts_with(['%', '$']) {
            return self.fail(errors::bad_name(name.span, &name.text));
        }
        if name.text == "WARP_SZ" {
            return self.fail(errors::predefined(name.span));
        }
        if let Some(first) = self.declared_here(&name.text) {
            return self.fail(super::errors::twice(name.span, &format!("`{}`", name.text), first));
        }
        let value = match declared {
            Ok(value) => value,
            Err(_) => Value::Broken,
        };
        self.scope.names.push(Name { text: name.text, value, span: Some(name.span) });
        if declared.is_err() {
            self.pos = self.pos.max(self.value_end());
        }
        Ok(())
    }

    /// Declares a region of a variable.
    pub(super) fn declare_region(&mut self, name: &crate::ast::Word, region: Region) -> Res<()> {
        self.scope.regions.push(region);
        self.declare_named(name, Value::Region(self.scope.regions.len() - 1))
    }

    /// Declares a layout.
    pub(super) fn declare_layout(&mut self, name: &crate::ast::Word, layout: Option<Layout>) -> Res<()> {
        self.scope.layouts.push(layout);
        self.declare_named(name, Value::Layout(self.scope.layouts.len() - 1))
    }

    /// Declares the constant with the size of regions.
    pub(super) fn declare_size(&mut self, name: &crate::ast::Word, bytes: u64) -> Res<()> {
        self.declare_named(name, Value::Known(Const::unsigned(bytes), RustType::from_name("u32")))
    }

    fn declare_named(&mut self, name: &crate::ast::Word, value: Value) -> Res<()> {
        if name.text.starts_with(['%', '$']) {
            return self.fail(errors::bad_name(name.span, &name.text));
        }
        if let Some(first) = self.declared_here(&name.text) {
            return self.fail(super::errors::twice(name.span, &format!("`{}`", name.text), first));
        }
        self.scope.names.push(Name { text: name.text.clone(), value, span: Some(name.span) });
        Ok(())
    }

    /// Where a constant of this name was declared that is still in scope.
    fn declared_here(&self, name: &str) -> Option<Span> {
        let known = self.scope.names.iter().find(|known| known.text == name)?;
        Some(known.span.unwrap_or_else(|| self.here()))
    }

    /// Reports a register, a variable or a parameter with the name of a constant, which would hide it.
    pub(super) fn no_constant(&mut self, name: &crate::ast::Word) {
        if self.scope.is_empty() {
            return;
        }
        if let Some(first) = self.declared_here(&name.text) {
            self.report(errors::constant_too(name.span, &name.text, first));
            // what follows means what was declared last
            self.scope.names.iter_mut().filter(|known| known.text == name.text).for_each(|known| known.text.clear());
        }
    }

    /// The type and the value of a declaration.
    fn constant_value(&mut self, name: &str, start: Span, span: Span) -> Res<Value> {
        let ty = self.constant_type(name, start, true)?;
        if !self.eat('=') {
            return self.fail(errors::no_value(start.to(self.before()), name, ty.name()));
        }
        let (first, from, end) = (self.here(), self.pos, self.value_end());
        if from == end {
            return self.unexpected("a value");
        }
        let mut names = self.names_within(from, end);
        if names.iter().any(|(_, value)| matches!(value, Value::Broken)) {
            self.pos = end;
            return Ok(Value::Broken);
        }
        if names.iter().all(|(_, value)| matches!(value, Value::Known(..) | Value::Layout(_)))
            && let Some(value) = self.only_until(end, |parser| parser.known_value(ty))
        {
            return value.map(|value| Value::Known(value, Some(ty)));
        }
        self.pos = end;
        names.sort_by(|a, b| a.0.cmp(&b.0));
        names.dedup_by(|a, b| a.0 == b.0);
        // joined tokens have the number of their first piece
        let last = self.tokens.get(end).map_or(self.before().last, |end| end.id.saturating_sub(1));
        let value = Span { first: first.first, last };
        let mut others = Vec::with_capacity(names.len());
        for (other, known) in names {
            let named = match known {
                Value::Known(value, ty) => Some(Named::Known(value, ty)),
                Value::Rust(id) => self.scope.constants.declaration_of(id).map(Named::Rust),
                Value::Region(_) | Value::Layout(_) | Value::Broken => None,
            };
            let Some(named) = named else { return self.fail(errors::no_name_of_rust(value, &other)) };
            others.push((other, named));
        }
        let declaration = Declaration { name: name.to_owned(), ty, value: Some(value), names: others, span };
        Ok(Value::Rust(self.scope.constants.declare(declaration)))
    }

    /// The constants that tokens name.
    fn names_within(&self, from: usize, end: usize) -> Vec<(String, Value)> {
        let mut found = Vec::new();
        if self.scope.is_empty() {
            return found;
        }
        let punct = |at: usize, c: char| self.tokens.get(at).is_some_and(|t| t.kind == Tok::Punct(c));
        for at in from..end {
            let Tok::Word(word) = &self.tokens[at].kind else { continue };
            let path = punct(at - 1, ':') || punct(at - 1, '.') || punct(at + 1, ':') && punct(at + 2, ':');
            if let (false, Some(value)) = (path, self.scope.value(word)) {
                found.push((word.clone(), value));
            }
        }
        found
    }

    /// Parses as if the text ended there.
    fn only_until<T>(&mut self, end: usize, parse: impl FnOnce(&mut Self) -> T) -> T {
        let all = self.tokens;
        self.tokens = &all[..end];
        let value = parse(self);
        self.tokens = all;
        value
    }

    /// `: u32`
    fn constant_type(&mut self, name: &str, start: Span, valued: bool) -> Res<RustType> {
        if !self.eat(':') {
            return self.fail(errors::no_type(start, name, valued));
        }
        let span = self.here();
        match self.word_at(0) {
            Some(word) => match RustType::from_name(word) {
                Some(ty) => {
                    self.bump();
                    Ok(ty)
                }
                None => self.fail(errors::bad_type(span, word)),
            },
            None => self.unexpected("a type such as `u32`"),
        }
    }

    /// Where the value of a declaration ends.
    fn value_end(&self) -> usize {
        let (mut open, mut angles) = (0u32, 0u32);
        for at in self.pos..self.tokens.len() {
            let Tok::Punct(c) = &self.tokens[at].kind else { continue };
            match c {
                ';' | ',' if open == 0 && angles == 0 => return at,
                '<' if angles > 0 || self.opens_path(at) => angles += 1,
                '>' if angles > 0 => angles -= 1,
                // the `;` is missing
                '.' if open == 0 && self.begins_item(at) => return at,
                // in a header
                '>' if open == 0 && !self.continues_value(at + 1) => return at,
                '(' | '[' | '{' => open += 1,
                ')' | ']' | '}' if open == 0 => return at,
                ')' | ']' | '}' => open -= 1,
                _ => {}
            }
        }
        self.tokens.len()
    }

    /// Does the `<` there begin `<T as Trait>` or the arguments of `f::<T>`, and not compare?
    fn opens_path(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|before| self.tokens.get(before));
        !matches!(before.map(|t| &t.kind), Some(Tok::Number(_) | Tok::Word(_) | Tok::Punct(')' | ']' | '}' | '<')))
    }

    /// Does a declaration of PTX begin with the `.` there?
    fn begins_item(&self, at: usize) -> bool {
        let word = match self.tokens.get(at + 1).map(|t| &t.kind) {
            Some(Tok::Word(word)) if !self.tokens[at].glued => word.as_str(),
            _ => return false,
        };
        SPACES.contains(&word)
            || matches!(word, "visible" | "entry" | "func" | "extern" | "weak" | "common" | "inline" | "layout")
    }

    /// Is the token after a `>` its right side or the rest of an operator, and not the first of a module?
    fn continues_value(&self, at: usize) -> bool {
        match self.tokens.get(at).map(|t| &t.kind) {
            Some(Tok::Number(_) | Tok::Str(_)) => true,
            Some(Tok::Word(word)) => !matches!(word.as_str(), "const" | "move" | "part" | "pub" | "use"),
            Some(Tok::Punct(c)) => "(-!{<>=*&:".contains(*c),
            None => false,
        }
    }

    /// A literal, or arithmetic of integer literals, that is the whole value: `16`, `4 * 1024`.
    fn known_value(&mut self, ty: RustType) -> Option<Res<Const>> {
        self.rust_literal(ty).or_else(|| self.rust_arithmetic(ty).map(Ok))
    }

    fn rust_arithmetic(&mut self, ty: RustType) -> Option<Const> {
        let (from, reported) = (self.pos, self.diags.len());
        // `as u32` is an operator of registers, and of Rust
        let around = std::mem::replace(&mut self.with_registers, true);
        let e = self.constant();
        self.with_registers = around;
        let value = e.ok().filter(|_| self.peek().is_none()).and_then(|e| arithmetic(&e, ty));
        if value.is_none() {
            self.pos = from;
            self.diags.truncate(reported);
        }
        value
    }

    fn rust_literal(&mut self, ty: RustType) -> Option<Res<Const>> {
        let from = self.pos;
        let start = self.here();
        let negative = self.eat('-');
        let mut text = String::new();
        while let Some(Tok::Number(part) | Tok::Word(part)) = self.peek()
            && (text.is_empty() || self.glued_at(0))
        {
            text.push_str(part);
            self.pos += 1;
            let exponent = text.ends_with(['e', 'E']) && text.starts_with(|c: char| c.is_ascii_digit());
            let point = self.is('.') && self.glued_at(0) && !text.contains('.');
            if point || exponent && (self.is('-') || self.is('+')) {
                text.push(match self.peek() {
                    Some(Tok::Punct(c)) => *c,
                    _ => ' ',
                });
                self.pos += 1;
            }
        }
        let value = if self.peek().is_none() { literal(&text, negative, ty) } else { Literal::None };
        match value {
            Literal::Value(value) => Some(Ok(value)),
            Literal::OutOfRange => {
                let span = start.to(self.before());
                Some(self.fail(errors::out_of_range(span, ty.name())))
            }
            Literal::None => {
                self.pos = from;
                None
            }
        }
    }

    /// `<const BM: u32, const STAGES: u32>` after the name of a kernel.
    pub(super) fn const_parameters(&mut self, function: &mut Function) -> Res<()> {
        let open = self.bump();
        loop {
            if self.word_at(0) != Some("const") {
                return self.unexpected("a parameter such as `const N: u32`");
            }
            let start = self.bump();
            let name = self.name("the name of a parameter")?;
            let ty = self.constant_type(&name.text, start.to(name.span), false)?;
            if ty.kind() != Kind::Int {
                return self.fail(errors::float_parameter(name.span, ty.name()));
            }
            if self.declared_here(&name.text).is_some() {
                return self.fail(errors::shadows(name.span, &name.text));
            }
            let declaration =
                Declaration { name: name.text.clone(), ty, value: None, names: Vec::new(), span: name.span };
            let id = self.scope.constants.declare(declaration);
            self.scope.names.push(Name { text: name.text, value: Value::Rust(id), span: Some(name.span) });
            function.generics.push(id);
            if self.eat('>') {
                break;
            }
            self.expect(',')?;
            if self.eat('>') {
                break;
            }
        }
        if !function.entry {
            return self.fail(errors::generic_function(open.to(self.before())));
        }
        Ok(())
    }

    /// Is the declaration here a parameter of a kernel, without a value?
    pub(super) fn is_parameter(&self) -> bool {
        self.is_at(2, ':') && (self.is_at(4, ',') || self.is_at(4, '>'))
    }

    /// Reads a parameter of a kernel.
    pub(super) fn declare_parameter(&mut self) {
        let (name, ty, span) = (self.word_at(1), self.word_at(3).and_then(RustType::from_name), self.here());
        if let (Some(name), Some(ty)) = (name, ty) {
            let name = name.to_owned();
            self.scope.declare(&name, &name, ty, span);
        }
        self.pos += 4;
    }

    /// Is the word there a constant?
    pub(super) fn constant_at(&self, n: usize) -> bool {
        !self.scope.is_empty() && self.word_at(n).is_some_and(|word| self.scope.knows(word))
    }

    /// The constant here, as an expression.
    pub(super) fn constant_name(&mut self) -> Option<Expr> {
        if self.scope.is_empty() {
            return None;
        }
        let value = self.scope.value(self.word_at(0)?)?;
        let span = self.bump();
        Some(match value {
            Value::Known(Const::Int { value, unsigned: false }, _) if (value as i64) < 0 => {
                let value = value.wrapping_neg();
                Expr::Unary('-', Box::new(Expr::Int { value, unsigned: false, text: None, span }), span)
            }
            Value::Known(Const::Int { value, unsigned }, _) => Expr::Int { value, unsigned, text: None, span },
            Value::Known(Const::F32(bits), _) => Expr::F32 { bits, text: None, span },
            Value::Known(Const::F64(value), _) => Expr::F64 { bits: value.to_bits(), text: None, span },
            Value::Rust(id) => Expr::Rust(id, span),
            Value::Region(region) => self.scope.regions[region].address(span),
            // its members are values, and were read before (`layouts.rs`)
            Value::Layout(_) => return None,
            Value::Broken => Expr::Int { value: 1, unsigned: false, text: None, span },
        })
    }

    /// An expression in a directive of `ptx!` as its value, because ptxas takes plain numbers there.
    pub(super) fn evaluated(&self, e: Expr) -> Expr {
        match fold(&e) {
            Some(Const::Int { value, unsigned })
                if self.in_rust
                    && matches!(e, Expr::Unary(..) | Expr::Binary(..) | Expr::Ternary(..) | Expr::Cast(..))
                    && (unsigned || value.cast_signed() >= 0) =>
            {
                Expr::Int { value, unsigned: value.cast_signed() < 0, text: None, span: e.span() }
            }
            _ => e,
        }
    }

    /// Does a sum or a product begin here, in `ptx!`?
    fn at_sum(&self) -> bool {
        let operator = |n| matches!(self.peek_at(n), Some(Tok::Punct('+' | '-' | '*' | '/' | '%')));
        self.in_rust && (self.is('(') || self.is('-') || operator(1) || self.at_layout_member())
    }

    /// The constant or the sum here, where a plain number must stand: of a Rust constant the expression.
    pub(super) fn constant_count(&mut self) -> Option<Res<(Count, Span)>> {
        let e = if self.at_sum() {
            match self.sum() {
                Ok(e) => self.evaluated(e),
                Err(stop) => return Some(Err(stop)),
            }
        } else {
            self.constant_name()?
        };
        let span = e.span();
        Some(match e {
            Expr::Rust(id, _) if self.scope.constants.kind(id) == Kind::Int => Ok((Count::Rust(id), span)),
            Expr::Int { value, .. } => Ok((Count::Known(value), span)),
            _ => self.fail(errors::no_count(span)),
        })
    }

    /// A unary operator.
    pub(super) fn unary_of(&mut self, operator: char, e: Expr, span: Span) -> Res<Expr> {
        let Expr::Rust(id, _) = e else { return Ok(Expr::Unary(operator, Box::new(e), span)) };
        match self.scope.constants.unary(operator, id, span) {
            Some(id) => Ok(Expr::Rust(id, span)),
            None => self.fail(errors::no_operator(span, operator.encode_utf8(&mut [0; 4]))),
        }
    }

    /// A cast.
    pub(super) fn cast_of(&mut self, ty: crate::ast::Word, e: Expr, span: Span) -> Res<Expr> {
        let Expr::Rust(id, _) = e else { return Ok(Expr::Cast(ty, Box::new(e), span)) };
        match self.scope.constants.cast(ty.text == ".u64", id, span) {
            Some(id) => Ok(Expr::Rust(id, span)),
            None => self.fail(errors::no_operator(span, "a cast")),
        }
    }

    /// A binary operator. Offsets that are added to a name one after another are one constant.
    pub(super) fn binary_of(&mut self, operator: &'static str, a: Expr, b: Expr, span: Span) -> Res<Expr> {
        if !matches!((&a, &b), (Expr::Rust(..), _) | (_, Expr::Rust(..))) && !self.ends_in_constant(&a) {
            return Ok(Expr::Binary(operator, Box::new(a), Box::new(b), span));
        }
        if let (Some(x), Some(y)) = (self.as_constant(&a), self.as_constant(&b)) {
            return match self.scope.constants.binary(operator, x, y, span) {
                Some(id) => Ok(Expr::Rust(id, span)),
                None => self.fail(errors::no_operator(span, operator)),
            };
        }
        let adds = |operator: &str| matches!(operator, "+" | "-");
        let offsets = match &a {
            Expr::Binary(inner, base, offset, _)
                if adds(inner) && adds(operator) && !matches!((*inner, &**base), ("-", Expr::Name(..))) =>
            {
                self.as_constant(offset).zip(self.as_constant(&b))
            }
            _ => None,
        };
        match (offsets, a) {
            (Some((x, y)), Expr::Binary(inner, base, _, at)) => {
                let constants = &mut self.scope.constants;
                let x = if inner == "-" { constants.unary('-', x, at) } else { Some(x) };
                match x.and_then(|x| constants.binary(operator, x, y, span)) {
                    Some(id) => Ok(Expr::Binary("+", base, Box::new(Expr::Rust(id, span)), span)),
                    None => self.fail(errors::no_operator(span, operator)),
                }
            }
            (_, a) => Ok(Expr::Binary(operator, Box::new(a), Box::new(b), span)),
        }
    }

    /// Is it `name + TILE`?
    fn ends_in_constant(&self, e: &Expr) -> bool {
        matches!(e, Expr::Binary("+" | "-", _, offset, _) if matches!(**offset, Expr::Rust(..)))
    }

    /// `c ? a : b`
    pub(super) fn ternary_of(&mut self, c: Expr, a: Expr, b: Expr, span: Span) -> Res<Expr> {
        if [&c, &a, &b].iter().all(|e| !matches!(e, Expr::Rust(..))) {
            return Ok(Expr::Ternary(Box::new(c), Box::new(a), Box::new(b), span));
        }
        let parts = (self.as_constant(&c), self.as_constant(&a), self.as_constant(&b));
        if self.with_registers && !matches!(parts, (Some(_), Some(_), Some(_))) {
            return Ok(Expr::Ternary(Box::new(c), Box::new(a), Box::new(b), span));
        }
        let (Some(c), Some(a), Some(b)) = parts else { return self.fail(errors::no_operator(span, "? :")) };
        match self.scope.constants.choose(c, a, b, span) {
            Some(id) => Ok(Expr::Rust(id, span)),
            None => self.fail(errors::no_operator(span, "? :")),
        }
    }

    fn as_constant(&mut self, e: &Expr) -> Option<ConstId> {
        match e {
            Expr::Rust(id, _) => Some(*id),
            e => fold(e).map(|c| self.scope.constants.known(c, e.span())),
        }
    }
}
