//! Declarations of variables, registers and parameters (PTX ISA 5.1 to 5.5).

use super::constant::unknown_here;
use super::module::SPACES;
use super::{Parser, Res, Stop, errors, foreign};
use crate::ast::{Declarator, Expr, Init, Ptr, VarDecl, Word};
use crate::span::Span;
use crate::token::{Tok, Token};
use ptx_dsl_isa::constant::{Count, Kind};

/// Types that a declaration can name (PTX ISA 5.2, 5.3); later checks know which of them a state space has.
pub(super) const TYPES: [&str; 40] = [
    "b8",
    "b16",
    "b32",
    "b64",
    "b128",
    "u8",
    "u16",
    "u32",
    "u64",
    "s8",
    "s16",
    "s32",
    "s64",
    "f16",
    "f16x2",
    "bf16",
    "bf16x2",
    "f32",
    "f32x2",
    "f64",
    "tf32",
    "e4m3",
    "e5m2",
    "e2m1",
    "e2m3",
    "e3m2",
    "ue8m0",
    "ue4m3",
    "e4m3x2",
    "e5m2x2",
    "e4m3x4",
    "e5m2x4",
    "u8x4",
    "s8x4",
    "u16x2",
    "s16x2",
    "pred",
    "texref",
    "samplerref",
    "surfref",
];

/// Attributes of a declaration that are not types.
const ATTRIBUTES: [&str; 6] = ["align", "v2", "v4", "v8", "ptr", "attribute"];

impl Parser<'_> {
    /// A declaration with its `;`.
    pub(super) fn variable(&mut self, linkage: Vec<Word>, start: Span) -> Res<VarDecl> {
        let from = self.pos;
        let mut var = self.declaration_head(linkage, start, false)?;
        if self.declarators(&mut var).is_err() {
            let broken = self.pos;
            self.salvage(&mut var, from);
            if var.names.is_empty() {
                // Nothing is declared: the caller skips the statement.
                self.pos = broken;
                return Err(Stop);
            }
        }
        var.span = start.to(self.before());
        Ok(var)
    }

    fn declarators(&mut self, var: &mut VarDecl) -> Res<()> {
        loop {
            self.no_sink()?;
            self.declarator(&mut var.names)?;
            self.alignment_after_name(var)?;
            if !self.eat(',') {
                return self.semicolon();
            }
        }
    }

    /// Reports `_`, which is no name.
    pub(super) fn no_sink(&mut self) -> Res<()> {
        if self.word_at(0) == Some("_") { self.unexpected("a name") } else { Ok(()) }
    }

    /// Reports `.b8 x[64] .align 128`, and the same without the dot.
    fn alignment_after_name(&mut self, var: &mut VarDecl) -> Res<()> {
        let bare = self.word_at(0) == Some("align") && matches!(self.peek_at(1), Some(Tok::Number(_)));
        if self.dotted() != Some("align") && !bare {
            return Ok(());
        }
        let from = self.pos;
        if bare {
            self.pos += 1;
            self.number_argument("an alignment in bytes")?;
        } else {
            var.align = Some(self.align()?);
        }
        let head = var.vector.map_or(var.ty.span, |v| v.1.to(var.ty.span));
        let first = self.tokens[..from].partition_point(|t| t.id < head.first);
        let text = |tokens: &[Token]| super::directive::text_of(tokens);
        let dot = if bare { "." } else { "" };
        let right = format!("{dot}{} {}", text(&self.tokens[from..self.pos]), text(&self.tokens[first..from]));
        self.report(errors::declaration_order(head.to(self.before()), &var.space.text, false, &right));
        Ok(())
    }

    /// The list of names is broken: reads the other names up to the `;`, so that they are not reported as undeclared.
    fn salvage(&mut self, var: &mut VarDecl, from: usize) {
        let broken = self.pos;
        let mut initialised = false;
        for token in &self.tokens[from..broken] {
            initialised |= matches!(token.kind, Tok::Punct('='));
        }
        self.skip_statement(from);
        if initialised {
            return;
        }
        for token in &self.tokens[broken..self.pos] {
            if let Tok::Word(text) = &token.kind
                && text != "_"
            {
                let name = Word { text: text.clone(), span: token.span() };
                var.names.push(Declarator {
                    name,
                    range: None,
                    dims: Vec::new(),
                    init: None,
                    rust_type: None,
                    read_only: false,
                });
            }
        }
    }

    /// A parameter of a function or prototype: one name, with an optional Rust type.
    pub(super) fn parameter(&mut self, late: bool) -> Res<VarDecl> {
        let start = self.here();
        if !self.is('.') || self.dotted().is_some() && !self.begins_declaration() {
            return self.unexpected("a parameter, which begins with `.param` or `.reg`");
        }
        let mut var = self.declaration_head(Vec::new(), start, late)?;
        // ptxas takes `_` for parameters of kernels and prototypes.
        if !late {
            self.no_sink()?;
        }
        self.declarator(&mut var.names)?;
        self.alignment_after_name(&mut var)?;
        if self.is(':') && !self.is_path(0) {
            self.bump();
            let start = self.pos;
            let ty = self.rust_type()?;
            let shared = is_shared(&self.tokens[start..self.pos]);
            if let Some(declarator) = var.names.last_mut() {
                declarator.rust_type = Some(ty);
                declarator.read_only = shared;
            }
        }
        var.span = start.to(self.before());
        if self.is(',') && self.word_at(1).is_some() {
            self.bump();
            let span = self.here();
            return self.fail(errors::one_name(span));
        }
        Ok(var)
    }

    /// The tokens of a Rust type: up to a `,` or `)` outside of brackets.
    fn rust_type(&mut self) -> Res<Span> {
        let start = self.pos;
        let first = self.here();
        let mut open = 0u32;
        while let Some(tok) = self.peek() {
            match tok {
                Tok::Punct(',' | ')') if open == 0 => break,
                Tok::Punct('{' | '}') => break,
                Tok::Punct('<' | '[' | '(') => open += 1,
                // The arrow of `fn(u32) -> u32` closes nothing.
                Tok::Punct('>') if self.pos > start && self.tokens[self.pos - 1].kind == Tok::Punct('-') => {}
                Tok::Punct('>' | ']' | ')') => open = open.saturating_sub(1),
                _ => {}
            }
            self.pos += 1;
        }
        if self.pos == start { self.unexpected("a Rust type") } else { Ok(first.to(self.before())) }
    }

    /// Does a declaration begin here? Its alignment and attributes may precede its state space.
    pub(super) fn begins_declaration(&self) -> bool {
        let (mut n, mut open) = (0, 0u32);
        while open > 0 || self.is_at(n, '.') {
            match (self.peek_at(n), self.word_at(n + 1)) {
                (None | Some(Tok::Punct(';' | '{' | '}')), _) => return false,
                (Some(Tok::Punct('(')), _) => open += 1,
                (Some(Tok::Punct(')')), _) => open = open.saturating_sub(1),
                (_, Some(name)) if open == 0 && SPACES.contains(&name) => return true,
                (_, Some("align")) if open == 0 => n += 2,
                (_, Some("attribute")) if open == 0 && self.is_at(n + 2, '(') => {
                    n += 2;
                    open = 1;
                }
                _ if open == 0 => return false,
                _ => {}
            }
            n += 1;
        }
        false
    }

    /// Space, attributes and type. `late`: the alignment may follow the type, as ptxas has it.
    fn declaration_head(&mut self, linkage: Vec<Word>, start: Span, late: bool) -> Res<VarDecl> {
        if !self.begins_declaration() {
            let other = self.dotted().is_some() && !linkage.is_empty();
            return self.unexpected(if other { "a state space, `.entry` or `.func`" } else { "a state space" });
        }
        let none = Word { text: String::new(), span: start };
        let mut ty: Option<(&str, Span)> = None;
        let mut var = VarDecl {
            linkage,
            space: none.clone(),
            attribute: None,
            align: None,
            vector: None,
            ty: none,
            ptr: None,
            names: Vec::new(),
            span: start,
        };
        let mut order = Order::default();
        while let Some(name) = self.dotted() {
            let (span, from) = (self.there(), self.pos);
            let (rank, first) = match name {
                "align" => {
                    let (value, whole) = self.align()?;
                    let place = match &mut var.ptr {
                        Some(ptr) => &mut ptr.align,
                        None => &mut var.align,
                    };
                    let rank = match (&ty, order.has(Rank::Pointer)) {
                        (_, true) => Rank::PointerAlign,
                        (Some(_), _) if late => Rank::LateAlign,
                        _ => Rank::Align,
                    };
                    (rank, place.replace((value, whole)).map(|a| a.1))
                }
                "v2" | "v4" | "v8" => {
                    self.pos += 2;
                    let n = u32::from(name.as_bytes()[1] - b'0');
                    (Rank::Vector, var.vector.replace((n, span)).map(|v| v.1))
                }
                "attribute" => {
                    let more = self.attribute()?;
                    var.attribute = Some(match &var.attribute {
                        Some(first) => joined(first, &more),
                        None => more,
                    });
                    (Rank::Align, None)
                }
                "ptr" => {
                    self.pos += 2;
                    let first = var.ptr.as_ref().filter(|_| order.has(Rank::Pointer)).map(|p| p.span);
                    var.ptr.get_or_insert(Ptr { space: None, align: None, span });
                    (Rank::Pointer, first)
                }
                _ if SPACES.contains(&name) => {
                    let space = self.dot_word()?;
                    match &mut var.ptr {
                        _ if var.space.text.is_empty() => {
                            var.space = space;
                            (Rank::Align, None)
                        }
                        Some(ptr) => (Rank::PointerSpace, ptr.space.replace(space).map(|s| s.span)),
                        None if var.space.text == ".param" => {
                            var.ptr = Some(Ptr { space: Some(space), align: None, span });
                            (Rank::PointerSpace, None)
                        }
                        None => (Rank::Align, Some(var.space.span)),
                    }
                }
                _ => {
                    let known = TYPES.contains(&name);
                    let meant = if known { name } else { self.unknown_type(span, name) };
                    self.pos += 2;
                    if !known && matches!(self.peek(), Some(Tok::Number(_))) {
                        // `.aligned 16`
                        self.bump();
                        continue;
                    }
                    let first = ty;
                    if known || ty.is_none() {
                        ty = Some((meant, span));
                    }
                    (Rank::Type, if known { first.map(|(_, span)| span) } else { None })
                }
            };
            if let Some(ptr) = &mut var.ptr
                && rank >= Rank::Pointer
            {
                ptr.span = ptr.span.to(self.before());
            }
            match first {
                Some(first) => {
                    let what = match rank {
                        Rank::Type => "the type".to_string(),
                        _ if SPACES.contains(&name) => "the state space".to_string(),
                        _ => format!("`.{name}`"),
                    };
                    self.report(errors::twice(span, &what, first));
                }
                None => order.pieces.push((rank, from, self.pos)),
            }
        }
        let (ty, span) = match ty {
            Some(ty) => {
                if let Some((from, to, right)) = order.in_order(self.tokens) {
                    let span = self.tokens[from].span().to(self.tokens[to - 1].span());
                    self.report(errors::declaration_order(span, &var.space.text, late, &right));
                }
                ty
            }
            None => self.missing_type(&var.space.text, start),
        };
        var.ty = Word { text: format!(".{ty}"), span };
        Ok(var)
    }

    /// No type begins with a dot: a word without it may be a type.
    fn missing_type(&mut self, space: &str, start: Span) -> (&'static str, Span) {
        if let (Some(word), Some(_)) = (self.word_at(0), self.word_at(1)) {
            let own = TYPES.iter().find(|t| **t == word).copied();
            if let Some(ty) = own.or(foreign::ty(word).filter(|t| TYPES.contains(t))) {
                let span = self.bump();
                self.report(errors::type_without_dot(span, word, ty));
                return (ty, span);
            }
        }
        let span = start.to(self.before());
        let from = self.tokens.partition_point(|t| t.id < start.first);
        let head = super::directive::text_of(&self.tokens[from.min(self.pos)..self.pos]);
        self.report(errors::missing_type(span, space, &head));
        ("b32", span)
    }

    /// Reports it with the likely type, and still declares the names.
    fn unknown_type(&mut self, span: Span, name: &str) -> &'static str {
        let known = foreign::ty(name).filter(|t| TYPES.contains(t));
        let nearest = known.or_else(|| super::near::nearest(name, &[&TYPES[..], &ATTRIBUTES].concat()));
        self.report(errors::unknown_type(span, name, nearest));
        match nearest {
            Some(n) if TYPES.contains(&n) => n,
            _ => "b32",
        }
    }

    fn align(&mut self) -> Res<(Count, Span)> {
        let start = self.dot_word()?.span;
        // `.align(16)` and `.align = 16`
        if let (Some(Tok::Punct(open @ ('(' | '='))), Some(Tok::Number(text))) = (self.peek(), self.peek_at(1)) {
            let closes = *open == '(' && self.is_at(2, ')');
            if closes || *open == '=' {
                self.bump();
                let found = self.count_argument("an alignment in bytes")?;
                if closes {
                    self.bump();
                }
                let whole = start.to(self.before());
                self.report(errors::alignment_in_brackets(whole, text));
                return Ok((found.0, whole));
            }
        }
        let (value, span) = self.count_argument("an alignment in bytes")?;
        Ok((value, start.to(span)))
    }

    /// `.attribute(...)`, kept as text (PTX ISA 5.4.8).
    pub(super) fn attribute(&mut self) -> Res<Word> {
        let span = self.dot_word()?.span;
        let open = self.expect('(')?;
        let start = self.pos;
        let mut depth = 1u32;
        while let Some(tok) = self.peek() {
            match tok {
                Tok::Punct('(') => depth += 1,
                Tok::Punct(')') => depth -= 1,
                Tok::Punct(';' | '{' | '}') => break,
                _ => {}
            }
            if depth == 0 {
                let inner = super::directive::text_of(&self.tokens[start..self.pos]);
                let end = self.bump();
                return Ok(Word { text: format!(".attribute({inner})"), span: span.to(end) });
            }
            self.pos += 1;
        }
        self.fail(errors::unclosed(open, '('))
    }

    /// `name`, `%r<100>`, `a[4][]`, `x = ...`
    fn declarator(&mut self, names: &mut Vec<Declarator>) -> Res<()> {
        let name = self.name("a name")?;
        self.no_constant(&name);
        let mut out = Declarator { name, range: None, dims: Vec::new(), init: None, rust_type: None, read_only: false };
        let result = self.declarator_tail(&mut out);
        // The name counts even where what follows it is broken.
        names.push(out);
        result
    }

    fn declarator_tail(&mut self, out: &mut Declarator) -> Res<()> {
        if self.is('<') {
            let open = self.bump();
            let (count, _) = self.count_argument("the number of registers")?;
            let close = self.expect('>')?;
            out.range = Some((count, open.to(close)));
        }
        while self.eat('[') {
            if self.eat(']') {
                out.dims.push(None);
                continue;
            }
            let e = self.constant()?;
            self.expect(']')?;
            match (super::fold(&e), &e) {
                (Some(super::Const::Int { value, unsigned }), _) if unsigned || value <= i64::MAX as u64 => {
                    out.dims.push(Some(Count::Known(value)));
                }
                (None, &Expr::Rust(id, _)) if self.scope.constants.kind(id) == Kind::Int => {
                    out.dims.push(Some(Count::Rust(id)));
                }
                _ => {
                    self.report(errors::not_constant(e.span(), "an array size"));
                    // One element: none would be an error more.
                    out.dims.push(Some(Count::Known(1)));
                }
            }
        }
        if self.eat('=') {
            self.initialiser = true;
            let init = self.init();
            self.initialiser = false;
            out.init = Some(init?);
        }
        Ok(())
    }

    fn init(&mut self) -> Res<Init> {
        if self.word_at(0).is_some() && self.is_at(1, '=') && !self.is_at(2, '=') {
            let field = self.name("a field")?;
            self.bump();
            return Ok(Init::Field(field, Box::new(Init::Value(self.constant()?))));
        }
        if !self.is('{') {
            return Ok(Init::Value(self.constant()?));
        }
        self.down()?;
        let open = self.here();
        let mut list = Vec::new();
        let close = self.init_list(&mut list);
        self.up();
        Ok(Init::List(list, open.to(close?)))
    }

    /// `{ a, b, }`
    fn init_list(&mut self, out: &mut Vec<Init>) -> Res<Span> {
        self.bump();
        while !self.is('}') {
            out.push(self.init()?);
            if !self.eat(',') {
                break;
            }
        }
        self.expect('}')
    }

    /// An integer that the macro must know: `L<4>`.
    pub(super) fn number_argument(&mut self, what: &str) -> Res<(u64, Span)> {
        match self.count_argument(what)? {
            (Count::Known(value), span) => Ok((value, span)),
            (Count::Rust(id), span) => {
                // the rest may be right
                self.report(unknown_here(span, what, &self.scope.constants, id));
                Ok((1, span))
            }
        }
    }

    /// A plain integer: `.align 16`, `%r<100>`.
    fn count_argument(&mut self, what: &str) -> Res<(Count, Span)> {
        if matches!(self.peek(), Some(Tok::Word(name)) if name == "WARP_SZ") {
            return Ok((Count::Known(32), self.bump()));
        }
        if matches!(self.peek(), Some(Tok::Word(_) | Tok::Number(_) | Tok::Punct('(' | '-')))
            && let Some(count) = self.constant_count()
        {
            return count;
        }
        match self.peek() {
            Some(Tok::Number(text)) => {
                let span = self.here();
                let value = self.integer(text, span)?.0;
                self.bump();
                Ok((Count::Known(value), span))
            }
            _ => self.unexpected(what),
        }
    }
}

/// The parts of a declaration before its name, in their order: alignment and attributes, before or after the state space, then
/// vector size and type, then what a pointer points to (PTX ISA 5.1.6.3, 5.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Align,
    Vector,
    Type,
    Pointer,
    PointerSpace,
    PointerAlign,
    /// `.align` of a parameter after the type, where nothing follows it.
    LateAlign,
}

/// The parts of a declaration as they are written, each from its first token to the one after it.
#[derive(Debug, Default)]
struct Order {
    pieces: Vec<(Rank, usize, usize)>,
}

impl Order {
    fn has(&self, rank: Rank) -> bool {
        self.pieces.iter().any(|p| p.0 == rank)
    }

    /// If they are not in order: the tokens from the first to the last that must move, and their right order.
    fn in_order(&self, tokens: &[Token]) -> Option<(usize, usize, String)> {
        let mut pieces = self.pieces.clone();
        let pointer = self.has(Rank::Pointer);
        for piece in &mut pieces {
            piece.0 = match piece.0 {
                Rank::LateAlign if self.has(Rank::PointerAlign) => Rank::Align,
                Rank::LateAlign if pointer => Rank::PointerAlign,
                rank => rank,
            };
        }
        let late = |i: &usize| pieces[i + 1..].iter().any(|p| p.0 < pieces[*i].0);
        let early = |i: &usize| pieces[..*i].iter().any(|p| p.0 > pieces[*i].0);
        let no_pointer = pieces.iter().position(|p| p.0 == Rank::PointerSpace).filter(|_| !pointer);
        let first = (0..pieces.len()).find(late).or(no_pointer)?;
        let last = (0..pieces.len()).rev().find(early).or(no_pointer)?;
        let (first, last) = (first.min(no_pointer.unwrap_or(first)), last.max(no_pointer.unwrap_or(last)));
        let mut sorted = pieces[first..=last].to_vec();
        sorted.sort_by_key(|p| p.0);
        let mut right = Vec::new();
        for (rank, from, to) in sorted {
            if rank == Rank::PointerSpace && no_pointer.is_some() {
                right.push(".ptr".to_string());
            }
            right.push(super::directive::text_of(&tokens[from..to]));
        }
        Some((pieces[first].1, pieces[last].2, right.join(" ")))
    }
}

/// Two `.attribute(...)` are one with a list.
fn joined(first: &Word, more: &Word) -> Word {
    let mut inner = more.text.as_str();
    while let Some(rest) = inner.strip_prefix(".attribute(") {
        inner = rest;
    }
    let before = first.text.strip_suffix(')').unwrap_or(&first.text);
    Word { text: format!("{before}, {inner}"), span: first.span.to(more.span) }
}

/// Is a Rust type a shared reference? What follows `[` does not count.
fn is_shared(ty: &[Token]) -> bool {
    let [Token { kind: Tok::Punct('&'), .. }, rest @ ..] = ty else { return false };
    for token in rest {
        match &token.kind {
            Tok::Punct('[') => break,
            Tok::Word(w) if w == "mut" => return false,
            _ => {}
        }
    }
    true
}
