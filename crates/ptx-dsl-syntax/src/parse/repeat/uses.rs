//! Uses of pieces: `ring::wait!(%bar, %parity);` becomes a block with the tokens of the piece, in which the arguments stand for the
//! parameters. The block begins with the arguments and the declarations of their parameters, for the checker.

use std::ops::Range;
use std::rc::Rc;

use super::contexts::What;
use super::families::Family;
use super::frame::{Frame, Given};
use super::parameters::{Kind, Parameter};
use super::pieces::Piece;
use super::words::Chosen;
use super::{Expander, MAX_DEPTH, errors};
use crate::ast::Expr;
use crate::parse::arguments::ARGUMENTS;
use crate::parse::near::nearest;
use crate::parse::{Const, Parser, fold};
use crate::span::Span;
use crate::token::{Tok, Token};
use ptx_dsl_isa::constant::{Kind as Number, RustType};
use ptx_dsl_isa::isa::sreg::sreg;

/// An argument as it is written, and as tokens of the place around the use. Both are empty if it has the default value.
#[derive(Debug)]
struct Written {
    source: Range<usize>,
    tokens: Vec<Token>,
    /// It is one name, of a parameter or a variable: not a register, and not a constant.
    named: bool,
}

impl Written {
    fn span(&self) -> Option<Span> {
        Some(self.tokens.first()?.span().to(self.tokens.last()?.span()))
    }
}

/// `ring::wait!(`, `reduce.max.f32!(`
#[derive(Debug, Clone, Copy)]
pub(super) struct At {
    /// The first token of the path.
    first: usize,
    /// The name.
    name: usize,
    /// The `!`.
    bang: usize,
}

/// Is it more than a register and a constant? A special register is, because most instructions do not take it.
fn is_computed(tokens: &[Token]) -> bool {
    let registers = || tokens.iter().filter_map(Token::word).any(|word| word.starts_with('%'));
    match tokens {
        [] | [_] => false,
        [Token { kind: Tok::Word(name), .. }, dot, Token { kind: Tok::Word(member), .. }] if dot.is('.') => {
            sreg(&format!("{name}.{member}")).is_some()
        }
        _ => registers(),
    }
}

impl Expander<'_> {
    /// `wait!(`, `ring::wait!(` or `reduce.max.f32!(`.
    pub(super) fn at_use(&self, at: usize, to: usize) -> Option<At> {
        let path = self.is(at + 1, ':') && self.is(at + 2, ':') && self.word(at + 3).is_some();
        let name = if path { at + 3 } else { at };
        let mut bang = name + 1;
        while self.is(bang, '.')
            && matches!(self.tokens.get(bang + 1).map(|t| &t.kind), Some(Tok::Word(_) | Tok::Number(_)))
        {
            bang += 2;
        }
        let begins = at == 0 || !self.is(at - 1, '.');
        // `if !(%x < 4)` is a condition
        let control = matches!(self.word(at), Some("if" | "while")) && bang == at + 1;
        let found = begins && !control && bang + 1 < to && self.is(bang, '!') && self.is(bang + 1, '(');
        found.then_some(At { first: at, name, bang })
    }

    /// `wait(` or `ring::wait(` as a statement, which lacks the `!`: where its name and where the statement ends.
    pub(super) fn without_bang(&self, at: usize, to: usize) -> Option<(usize, usize)> {
        let path = self.is(at + 1, ':') && self.is(at + 2, ':') && self.word(at + 3).is_some();
        let last = if path { at + 3 } else { at };
        let begins = self.guard(at).is_some() || at == 0 || ";{}:>".chars().any(|c| self.is(at - 1, c));
        (begins && self.is(last + 1, '(') && last + 1 < to && self.lookup(at, last).is_some())
            .then(|| (last, (last..to).find(|end| self.is(*end, ';')).map_or(to, |end| end + 1)))
    }

    /// Reports a use that lacks the `!`.
    pub(super) fn report_without_bang(&mut self, at: usize, last: usize) {
        let name: Vec<&str> = (at..=last).filter_map(|at| self.word(at)).collect();
        let d = errors::no_bang(self.span(at, last), &name.join("::"));
        self.fail(d);
        self.drop_guard(at);
    }

    /// The guard before the statement that begins here: its `@`.
    fn guard(&self, at: usize) -> Option<usize> {
        let predicate = at.checked_sub(1).filter(|at| self.word(*at).is_some())?;
        let before = predicate.checked_sub(1)?;
        let from = if self.is(before, '!') { before.checked_sub(1)? } else { before };
        self.is(from, '@').then_some(from)
    }

    /// Takes back the guard before the statement that begins here, which must not be read as that of the next one.
    fn drop_guard(&mut self, at: usize) {
        if let Some(from) = self.guard(at) {
            let before = self.out.tokens.len().saturating_sub(at - from);
            self.out.tokens.truncate(before);
        }
    }

    /// Expands a use; returns where it ends.
    pub(super) fn piece(&mut self, named: At, to: usize) -> usize {
        let (at, open) = (named.first, named.bang + 1);
        let Some(close) = self.parenthesis(open).filter(|close| *close < to) else {
            self.fail(errors::unclosed_use(self.span(open, open)));
            return (open..to).find(|end| self.is(*end, ';')).map_or(to, |end| end + 1);
        };
        let end = if self.is(close + 1, ';') && close + 1 < to {
            close + 2
        } else {
            self.fail(errors::no_semicolon(self.span(close, close)));
            close + 1
        };
        let Some(index) = self.find(at, named.name) else { return end };
        let piece = Rc::clone(&self.pieces.all[index]);
        let span = self.span(at, named.name);
        if let Some(from) = self.guard(at) {
            let predicate = self.word(at - 1).filter(|_| !piece.layout).map(|word| (word, at - from == 3));
            let d = errors::guarded(self.span(from, at - 1), &piece.name, predicate);
            self.fail(d);
            self.drop_guard(at);
        }
        if self.frames.iter().any(|frame| frame.piece == index) || self.depth >= MAX_DEPTH {
            self.fail(errors::recursive(span, &piece.name));
            return end;
        }
        if !piece.layout && self.frames.is_empty() && self.blocks.is_empty() {
            self.fail(errors::outside(span, &piece.name));
            return end;
        }
        let size = piece.body.len();
        if self.is_too_long(at, size) {
            return end;
        }
        let Some(chosen) = self.chosen(&piece, named.name, named.bang) else { return end };
        let Some(arguments) = self.arguments(&piece, open, close) else { return end };
        self.depth += 1;
        self.expand_use((index, &piece), arguments, chosen, at..open - 1);
        self.depth -= 1;
        end
    }

    /// The piece that these tokens name. A piece of the same part needs no path.
    fn find(&mut self, at: usize, end: usize) -> Option<usize> {
        let found = self.lookup(at, end);
        if found.is_none() {
            let (path, last) = (self.word(at).unwrap_or_default(), self.word(end).unwrap_or_default());
            let name = if end == at { last.to_owned() } else { format!("{path}::{last}") };
            let tail = format!("::{last}");
            let names: Vec<&str> = self.pieces.all.iter().map(|piece| piece.name.as_str()).collect();
            let same = names.iter().copied().find(|known| *known == last || known.ends_with(&tail));
            let d = errors::unknown_piece(self.span(at, end), &name, same, nearest(&name, &names));
            self.fail(d);
        }
        found
    }

    /// The piece that these tokens name, from the first of a path to the last.
    fn lookup(&self, at: usize, last: usize) -> Option<usize> {
        let part = self.frames.last().and_then(|frame| frame.part.as_deref());
        let (path, name) = (self.word(at)?, self.word(last)?);
        let of = if last == at { part } else { self.part_of(path, part) };
        let inner = of.and_then(|part| self.pieces.named.get(&format!("{part}::{name}")));
        inner.or_else(|| self.pieces.named.get(name).filter(|_| last == at)).copied()
    }

    /// The arguments of a use, one for each parameter.
    fn arguments(&mut self, piece: &Piece, open: usize, close: usize) -> Option<Vec<Written>> {
        let given = self.split(open + 1, close);
        let least = piece.parameters.iter().filter(|p| p.default.is_none()).count();
        if !(least..=piece.parameters.len()).contains(&given.len()) || given.iter().any(Range::is_empty) {
            let at = match given.get(piece.parameters.len()) {
                Some(more) if !more.is_empty() => self.span(more.start, more.end - 1),
                _ => self.span(close, close),
            };
            let wanted: Vec<String> = piece.parameters.iter().map(|p| self.written(p)).collect();
            let name = self.span(piece.at, piece.at);
            let counts = (given.len(), least..=wanted.len());
            self.fail(errors::wrong_count(at, &piece.name, counts, &wanted.join(", "), name));
            return None;
        }
        let mut all = Vec::new();
        for (source, p) in given.into_iter().zip(&piece.parameters) {
            let tokens = self.expanded(source.clone());
            if tokens.is_empty() {
                let declared = self.span(p.tokens.start, p.tokens.end - 1);
                self.fail(errors::nothing_given(self.span(source.start, source.end - 1), &p.name, declared));
                return None;
            }
            let named = match tokens.as_slice() {
                [Token { kind: Tok::Word(name), .. }] => {
                    !name.starts_with('%') && name != "WARP_SZ" && name != "_" && !self.scope.knows(name)
                }
                _ => false,
            };
            all.push(Written { source, tokens, named });
        }
        all.resize_with(piece.parameters.len(), || Written { source: 0..0, tokens: Vec::new(), named: false });
        Some(all)
    }

    /// A parameter as it is declared.
    fn written(&self, p: &Parameter) -> String {
        let mut out = String::new();
        let end = p.default.as_ref().map_or(p.tokens.end, |default| default.end);
        for token in &self.tokens[p.tokens.start..end] {
            if !out.is_empty() && !token.glued {
                out.push(' ');
            }
            match &token.kind {
                Tok::Word(text) | Tok::Number(text) | Tok::Str(text) => out.push_str(text),
                Tok::Punct(c) => out.push(*c),
            }
        }
        out
    }

    /// These tokens, with what they stand for here.
    fn expanded(&mut self, tokens: Range<usize>) -> Vec<Token> {
        let out = std::mem::take(&mut self.out.tokens);
        self.all(tokens.start, tokens.end);
        std::mem::replace(&mut self.out.tokens, out)
    }

    fn expand_use(
        &mut self,
        (index, piece): (usize, &Piece),
        mut given: Vec<Written>,
        chosen: Chosen,
        at: Range<usize>,
    ) {
        let constants = match self.frames.first() {
            Some(frame) => frame.constants,
            None => self.blocks.first().copied().unwrap_or(self.scope.open()),
        };
        let spans: Vec<Option<Span>> = given.iter().map(Written::span).collect();
        let mut values = Vec::new();
        for (p, written) in piece.parameters.iter().zip(&mut given).filter(|(_, written)| !written.tokens.is_empty()) {
            let value = match p.kind {
                Kind::Constant(ty) => self.constant(written.source.clone(), &mut written.tokens, ty, p),
                Kind::Label | Kind::Name => self.plain_name(&written.tokens, p),
                Kind::Operand => Some(None),
                Kind::Registers(..) => self.list_of_registers(written, p),
            };
            let Some(value) = value else { return };
            values.extend(value.map(|e| (p.name.as_str(), e)));
        }
        let number = self.out.tokens.len() + 1;
        let mut frame = Frame::new((index, number), piece.part.clone(), self.variables.len(), constants);
        frame.words = chosen;
        let words: Vec<String> =
            given.iter().flat_map(|written| &written.tokens).filter_map(Token::word).map(str::to_owned).collect();
        for own in &piece.own {
            if let Some(name) = own.renamed(&words, &piece.own) {
                frame.renamed.push((own.clone(), name));
            }
        }
        let name = Token { id: self.made(self.tokens[at.start].id), ..self.tokens[at.start].clone() };
        let span = self.tokens[at.start].span().to(self.tokens[at.end - 1].span());
        let (outer, before) = (self.context, self.out.tokens.len());
        let around_use = std::mem::replace(&mut self.outer, outer);
        self.context = Some(self.out.contexts.open(outer, What::Use(piece.name.clone(), span)));
        let hidden = self.scope.hide(constants);
        for (name, value) in values {
            self.scope.set_expression(name, &value);
        }
        let blocks = std::mem::take(&mut self.blocks);
        let around = self.body.take();
        self.frames.push(frame);
        if self.give(piece, given, &spans, name.id) {
            self.all(piece.body.start, piece.body.end);
            if !piece.layout {
                self.punctuation('}', name.id);
            }
        } else {
            self.out.tokens.truncate(before);
        }
        let families = self.frames.pop().map(|frame| frame.families).unwrap_or_default();
        families.iter().for_each(|family| self.replace_marks(before, family));
        self.close_arrays_of_use();
        (self.blocks, self.body) = (blocks, around);
        self.scope.close(constants);
        self.scope.restore(hidden);
        (self.context, self.outer) = (outer, around_use);
    }

    /// Gives the arguments to the piece whose frame is the last one, and begins its block. Returns whether all have their lengths and
    /// default values.
    fn give(&mut self, piece: &Piece, mut given: Vec<Written>, spans: &[Option<Span>], id: u32) -> bool {
        for (p, written) in piece.parameters.iter().zip(&mut given) {
            if let Some(default) = p.default.clone().filter(|_| written.tokens.is_empty())
                && !self.default_value(p, default, written)
            {
                return false;
            }
        }
        self.used += 1;
        let number = self.used;
        for ((p, written), span) in piece.parameters.iter().zip(&given).zip(spans) {
            let Kind::Registers(from, to) = p.kind else { continue };
            let span = span.unwrap_or_default();
            if !self.has_length(p, (from, to), &written.tokens, span) {
                return false;
            }
        }
        if !piece.layout {
            self.punctuation('{', id);
            for (n, (p, written)) in piece.parameters.iter().zip(&mut given).enumerate() {
                self.compute_argument(p, written, (number, n));
            }
            self.declare_arguments(piece, &given, id);
        }
        for ((p, Written { tokens, .. }), span) in piece.parameters.iter().zip(given).zip(spans) {
            let span = span.or_else(|| tokens.first().map(Token::span)).unwrap_or_default();
            let exact = match p.kind {
                Kind::Registers(from, to) => !self.depends_on_arguments(from, to) && !self.are_uncertain(&tokens),
                _ => true,
            };
            let Some(frame) = self.frames.last_mut() else { return false };
            if let Kind::Registers(..) = p.kind {
                frame.families.push(Family::of_use(&p.name, number, (tokens, exact), span));
            } else {
                frame.arguments.insert(p.name.clone(), Given { tokens, span });
            }
        }
        true
    }

    /// The default value of a parameter, in the scope of the piece.
    fn default_value(&mut self, p: &Parameter, default: Range<usize>, written: &mut Written) -> bool {
        written.tokens = self.expanded(default.clone());
        written.source = default;
        let Kind::Constant(ty) = p.kind else { return !written.tokens.is_empty() };
        if written.tokens.is_empty() {
            return false;
        }
        match self.constant(written.source.clone(), &mut written.tokens, ty, p) {
            Some(Some(value)) => self.scope.set_expression(&p.name, &value),
            Some(None) => {}
            None => return false,
        }
        true
    }

    /// An argument that is a list of registers. Only these stay of its tokens.
    fn list_of_registers(&mut self, written: &mut Written, p: &Parameter) -> Option<Option<Expr>> {
        let errors = self.out.diagnostics.len();
        match self.given_registers(written.source.clone(), &written.tokens) {
            Some(registers) if !registers.is_empty() => {
                written.tokens = registers;
                Some(None)
            }
            _ => {
                let declared = self.span(p.tokens.start, p.tokens.end - 1);
                if self.out.diagnostics.len() == errors {
                    self.fail(errors::no_registers(written.span()?, &p.name, declared));
                }
                None
            }
        }
    }

    /// An expression of registers for a value becomes `let %given1_0: b32 = ...;`, and the register stands for it.
    fn compute_argument(&mut self, p: &Parameter, written: &mut Written, (number, n): (usize, usize)) {
        let value = p.kind == Kind::Operand && p.tokens.len() == 3;
        if !value || !written.named && !is_computed(&written.tokens) {
            return;
        }
        let Some(first) = written.tokens.first().cloned() else { return };
        let word = |text: &str| Token { kind: Tok::Word(text.to_owned()), glued: false, ..first };
        let punct = |c: char| Token { kind: Tok::Punct(c), glued: false, ..first };
        let register = word(&format!("%given{number}_{n}"));
        self.out.tokens.extend([word("let"), register.clone(), punct(':')]);
        self.push_declared(p.tokens.start + 1);
        self.out.tokens.push(punct('='));
        self.out.tokens.append(&mut written.tokens);
        self.out.tokens.push(punct(';'));
        written.tokens.push(register);
    }

    /// The arguments for the checker: a pair of parentheses for each, with the declaration of its parameter. A `*` stands before the name of
    /// a range of registers.
    fn declare_arguments(&mut self, piece: &Piece, given: &[Written], id: u32) {
        let checked = |p: &Parameter| matches!(p.kind, Kind::Operand | Kind::Registers(..) | Kind::Label);
        let operands = || piece.parameters.iter().zip(given).filter(|(p, _)| checked(p));
        if operands().next().is_none() {
            return;
        }
        let named = |text: &str| Token { kind: Tok::Word(text.to_owned()), id, glued: false };
        self.out.tokens.extend([named(ARGUMENTS), named(&piece.name)]);
        for (p, written) in operands() {
            self.punctuation('(', id);
            let list = matches!(p.kind, Kind::Registers(..));
            let end = if let Kind::Registers(from, _) = p.kind { from - 1 } else { p.tokens.end };
            for at in p.tokens.start..end {
                if at + 1 == end && list {
                    self.punctuation('*', id);
                }
                self.push_declared(at);
            }
            self.punctuation('=', id);
            if list {
                self.punctuation('{', id);
            }
            for (n, token) in written.tokens.iter().enumerate() {
                if list && n > 0 {
                    self.punctuation(',', id);
                }
                self.out.tokens.push(token.clone());
            }
            if list {
                self.punctuation('}', id);
            }
            self.punctuation(')', id);
        }
        self.punctuation(';', id);
    }

    /// A token of the declaration of a parameter, in which words may stand for types.
    pub(super) fn push_declared(&mut self, at: usize) {
        if !self.chosen_word(at) {
            let id = self.made(self.tokens[at].id);
            self.out.tokens.push(Token { id, ..self.tokens[at].clone() });
        }
    }

    fn punctuation(&mut self, c: char, id: u32) {
        self.out.tokens.push(Token { kind: Tok::Punct(c), id, glued: false });
    }

    /// The value of a constant argument; the tokens become what stands for it in the piece.
    fn constant(
        &mut self,
        source: Range<usize>,
        tokens: &mut Vec<Token>,
        ty: RustType,
        p: &Parameter,
    ) -> Option<Option<Expr>> {
        if let ("bool", [Token { kind: Tok::Word(word), .. }]) = (ty.name(), tokens.as_slice())
            && matches!(word.as_str(), "true" | "false")
        {
            let value = u64::from(word == "true");
            tokens[0].kind = Tok::Number(value.to_string());
            return Some(Some(Expr::Int { value, unsigned: false, text: None, span: tokens[0].span() }));
        }
        // its names are those of the place around it
        let mut parser = Parser::new(&self.tokens[..source.end], source.start);
        parser.scope = std::mem::take(&mut self.scope);
        let expr = parser.constant();
        let ended = parser.peek().is_none();
        self.scope = std::mem::take(&mut parser.scope);
        let span = tokens[0].span().to(tokens[tokens.len() - 1].span());
        let declared = self.span(p.tokens.start, p.tokens.end - 1);
        let expr = expr.ok().filter(|_| ended);
        match expr.as_ref().map(|e| (fold(e), e)) {
            Some((Some(Const::Int { value, unsigned }), _)) => {
                let number = if unsigned { i128::from(value) } else { i128::from(value.cast_signed()) };
                let (least, most) = match (ty.name(), ty.signed()) {
                    ("bool", _) => (0, 1),
                    (_, true) => (-(1i128 << (ty.bits() - 1)), (1i128 << (ty.bits() - 1)) - 1),
                    (_, false) => (0, (1i128 << ty.bits()) - 1),
                };
                if !(least..=most).contains(&number) {
                    self.fail(errors::argument_range(span, number, &p.name, ty.name(), declared));
                    return None;
                }
                let id = tokens[0].id;
                tokens.clear();
                if number < 0 {
                    tokens.push(Token { kind: Tok::Punct('-'), id, glued: false });
                }
                tokens.push(Token { kind: Tok::Number(number.unsigned_abs().to_string()), id, glued: number < 0 });
            }
            Some((None, Expr::Rust(id, _))) if self.scope.constants.kind(*id) == Number::Int => {
                if tokens.len() > 1 {
                    let id = tokens[0].id;
                    tokens.insert(0, Token { kind: Tok::Punct('('), id, glued: false });
                    tokens.push(Token { kind: Tok::Punct(')'), id, glued: false });
                }
            }
            _ => {
                self.fail(errors::no_constant(span, &p.name, declared));
                return None;
            }
        }
        Some(expr)
    }

    /// An argument that is a name and nothing else.
    fn plain_name(&mut self, tokens: &[Token], p: &Parameter) -> Option<Option<Expr>> {
        if let [Token { kind: Tok::Word(_), .. }] = tokens {
            return Some(None);
        }
        let span = tokens[0].span().to(tokens[tokens.len() - 1].span());
        let declared = self.span(p.tokens.start, p.tokens.end - 1);
        self.fail(errors::no_name(span, &p.name, p.kind == Kind::Label, declared));
        None
    }
}
