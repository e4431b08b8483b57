//! Uses of pieces: `ring::wait!(%bar, %parity);` becomes a block with the tokens of the piece, in which the arguments stand for the
//! parameters. The block begins with the arguments and the declarations of their parameters, for the checker.

use std::ops::Range;
use std::rc::Rc;

use super::contexts::What;
use super::frame::{Frame, Given};
use super::pieces::{Kind, Parameter, Piece};
use super::{Expander, MAX_DEPTH, errors};
use crate::ast::Expr;
use crate::parse::arguments::ARGUMENTS;
use crate::parse::near::nearest;
use crate::parse::{Const, Parser, fold};
use crate::span::Span;
use crate::token::{Tok, Token};
use ptx_dsl_isa::constant::{Kind as Number, RustType};

/// As they are written, and as tokens of the place around the use.
type Arguments = (Vec<Range<usize>>, Vec<Vec<Token>>);

impl Expander<'_> {
    /// `wait!(` or `ring::wait!(`: the parenthesis.
    pub(super) fn at_use(&self, at: usize, to: usize) -> Option<usize> {
        let path = self.is(at + 1, ':') && self.is(at + 2, ':') && self.word(at + 3).is_some();
        let bang = if path { at + 4 } else { at + 1 };
        let begins = at == 0 || !self.is(at - 1, '.');
        (begins && bang + 1 < to && self.is(bang, '!') && self.is(bang + 1, '(')).then_some(bang + 1)
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
    pub(super) fn piece(&mut self, at: usize, open: usize, to: usize) -> usize {
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
        let Some(index) = self.find(at, open) else { return end };
        let piece = Rc::clone(&self.pieces.all[index]);
        let span = self.span(at, open - 2);
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
        let Some((sources, arguments)) = self.arguments(&piece, open, close) else { return end };
        self.depth += 1;
        self.expand_use(index, &piece, (sources, arguments), at..open - 1);
        self.depth -= 1;
        end
    }

    /// The piece that these tokens name. A piece of the same part needs no path.
    fn find(&mut self, at: usize, open: usize) -> Option<usize> {
        let found = self.lookup(at, open - 2);
        if found.is_none() {
            let (path, last) = (self.word(at).unwrap_or_default(), self.word(open - 2).unwrap_or_default());
            let name = if open - 2 == at { last.to_owned() } else { format!("{path}::{last}") };
            let end = format!("::{last}");
            let names: Vec<&str> = self.pieces.all.iter().map(|piece| piece.name.as_str()).collect();
            let same = names.iter().copied().find(|known| *known == last || known.ends_with(&end));
            let d = errors::unknown_piece(self.span(at, open - 2), &name, same, nearest(&name, &names));
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

    /// The arguments of a use, as they are written, and as tokens of the place around it.
    fn arguments(&mut self, piece: &Piece, open: usize, close: usize) -> Option<Arguments> {
        let given = self.split(open + 1, close);
        if given.len() != piece.parameters.len() || given.iter().any(Range::is_empty) {
            let at = match given.get(piece.parameters.len()) {
                Some(more) if !more.is_empty() => self.span(more.start, more.end - 1),
                _ => self.span(close, close),
            };
            let wanted: Vec<String> = piece.parameters.iter().map(|p| self.written(p)).collect();
            let name = self.span(piece.at, piece.at);
            self.fail(errors::wrong_count(at, &piece.name, given.len(), (wanted.len(), &wanted.join(", ")), name));
            return None;
        }
        let mut all = Vec::new();
        for (tokens, p) in given.iter().zip(&piece.parameters) {
            let argument = self.expanded(tokens.clone());
            if argument.is_empty() {
                let declared = self.span(p.tokens.start, p.tokens.end - 1);
                self.fail(errors::nothing_given(self.span(tokens.start, tokens.end - 1), &p.name, declared));
                return None;
            }
            all.push(argument);
        }
        Some((given, all))
    }

    /// A parameter as it is declared.
    fn written(&self, p: &Parameter) -> String {
        let mut out = String::new();
        for token in &self.tokens[p.tokens.clone()] {
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

    fn expand_use(&mut self, index: usize, piece: &Piece, (sources, mut given): Arguments, at: Range<usize>) {
        let constants = match self.frames.first() {
            Some(frame) => frame.constants,
            None => self.blocks.first().copied().unwrap_or(self.scope.open()),
        };
        let spans: Vec<Span> =
            given.iter().map(|tokens| tokens[0].span().to(tokens[tokens.len() - 1].span())).collect();
        let mut values = Vec::new();
        for ((p, source), tokens) in piece.parameters.iter().zip(sources).zip(&mut given) {
            let value = match p.kind {
                Kind::Constant(ty) => self.constant(source, tokens, ty, p),
                Kind::Label | Kind::Name => self.plain_name(tokens, p),
                Kind::Operand => Some(None),
            };
            let Some(value) = value else { return };
            values.extend(value.map(|e| (p.name.as_str(), e)));
        }
        let mut frame = Frame::new(index, piece.part.clone(), self.variables.len(), constants);
        let words: Vec<String> = given.iter().flatten().filter_map(Token::word).map(str::to_owned).collect();
        for own in &piece.own {
            if let Some(name) = own.renamed(&words, &piece.own) {
                frame.renamed.push((own.clone(), name));
            }
        }
        let name = Token { id: self.made(self.tokens[at.start].id), ..self.tokens[at.start].clone() };
        let span = self.tokens[at.start].span().to(self.tokens[at.end - 1].span());
        let outer = self.context;
        self.context = Some(self.out.contexts.open(outer, What::Use(piece.name.clone(), span)));
        if !piece.layout {
            self.open_block(piece, &given, &name);
        }
        for ((p, tokens), span) in piece.parameters.iter().zip(given).zip(spans) {
            frame.arguments.insert(p.name.clone(), Given { tokens, span });
        }
        let hidden = self.scope.hide(constants);
        for (name, value) in values {
            self.scope.set_expression(name, &value);
        }
        let blocks = std::mem::take(&mut self.blocks);
        let around = self.body.take();
        self.frames.push(frame);
        self.all(piece.body.start, piece.body.end);
        self.frames.pop();
        (self.blocks, self.body) = (blocks, around);
        self.scope.close(constants);
        self.scope.restore(hidden);
        if !piece.layout {
            self.punctuation('}', name.id);
        }
        self.context = outer;
    }

    /// `{`, and the arguments for the checker: a pair of parentheses for each, with the declaration of its parameter.
    fn open_block(&mut self, piece: &Piece, given: &[Vec<Token>], name: &Token) {
        self.punctuation('{', name.id);
        let operands =
            || piece.parameters.iter().zip(given).filter(|(p, _)| matches!(p.kind, Kind::Operand | Kind::Label));
        if operands().next().is_none() {
            return;
        }
        let named = |text: &str| Token { kind: Tok::Word(text.to_owned()), id: name.id, glued: false };
        self.out.tokens.extend([named(ARGUMENTS), named(&piece.name)]);
        for (p, tokens) in operands() {
            self.punctuation('(', name.id);
            for at in p.tokens.clone() {
                let id = self.made(self.tokens[at].id);
                self.out.tokens.push(Token { id, ..self.tokens[at].clone() });
            }
            self.punctuation('=', name.id);
            self.out.tokens.extend_from_slice(tokens);
            self.punctuation(')', name.id);
        }
        self.punctuation(';', name.id);
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
