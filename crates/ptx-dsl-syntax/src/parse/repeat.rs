//! Repetition in `ptx!`: `@for I in 0..4 { ... }` and `@if COND { ... } else { ... }` become the tokens that they stand for, before
//! the parser sees them. `%r{I}` is a name with the value of a constant in it, and a loop variable by itself is a number.
//!
//! Tokens of an iteration have numbers of their own, so that findings in it can say which it was.

mod errors;
#[cfg(test)]
mod tests;

use super::constant::Scope;
use super::{Parser, fold, parse_header};
use crate::ast::Expr;
use crate::diag::{Diagnostic, sort};
use crate::parse::Const;
use crate::span::Span;
use crate::token::{Tok, Token};
use ptx_dsl_isa::constant::Kind;

/// The most tokens that repetitions may make.
const MAX_TOKENS: usize = 1 << 18;
/// The most constructs within each other.
const MAX_DEPTH: u32 = 32;

/// Tokens without repetitions.
#[derive(Debug, Default)]
pub struct Expanded {
    /// In the order of the text.
    pub tokens: Vec<Token>,
    /// The tokens as written.
    pub written: Vec<Token>,
    /// Errors in the constructs.
    pub diagnostics: Vec<Diagnostic>,
    /// The first number of a token of an iteration.
    base: u32,
    /// By number from `base` on: the number of the source token, and the iteration.
    origins: Vec<(u32, u32)>,
    /// `I = 0, J = 2`
    iterations: Vec<String>,
}

/// Is there a repetition among the tokens?
pub fn repeats(tokens: &[Token]) -> bool {
    tokens.windows(2).any(|pair| matches!(pair, [at, word] if is(at, '@') && (named(word, "for") || named(word, "if"))))
}

/// Expands all repetitions. Numbers from `base` on are free.
pub fn expand(tokens: &[Token], base: u32) -> Expanded {
    let (header, used, _) = parse_header(tokens);
    let mut expander = Expander {
        tokens,
        out: Expanded { base, written: tokens.to_vec(), ..Expanded::default() },
        scope: header.map(|header| header.scope).unwrap_or_default(),
        variables: Vec::new(),
        depth: 0,
        spent: false,
    };
    expander.out.tokens.extend_from_slice(&tokens[..used]);
    expander.range(used, tokens.len());
    expander.out
}

impl Expanded {
    /// The source tokens of the numbers from `base` on.
    pub fn sources(&self) -> impl Iterator<Item = u32> {
        self.origins.iter().map(|(source, _)| *source)
    }

    /// Adds the errors in repetitions to the findings, and puts all at source tokens, in order.
    pub fn report(&self, found: &mut Vec<Diagnostic>) {
        if !self.diagnostics.is_empty() {
            // what is left out may be what is missing
            found.retain(|d| d.code != 401 && !(600..700).contains(&d.code));
        }
        found.extend(self.diagnostics.iter().cloned());
        *found = self.once(std::mem::take(found));
        sort(found);
    }

    /// Findings at source tokens: one of several iterations once, with the iterations in a note.
    fn once(&self, found: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let mut out: Vec<(Diagnostic, Vec<u32>)> = Vec::new();
        for mut d in found {
            let iteration = self.origin(d.span.first).1;
            d.span = self.source(d.span);
            for (span, _) in &mut d.labels {
                *span = self.source(*span);
            }
            let Some(iteration) = iteration else {
                out.push((d, Vec::new()));
                continue;
            };
            let same = |(known, at): &&mut (Diagnostic, Vec<u32>)| {
                !at.is_empty() && (known.code, known.span, known.severity) == (d.code, d.span, d.severity)
            };
            match out.iter_mut().rev().find(same) {
                Some((_, iterations)) => iterations.push(iteration),
                None => out.push((d, vec![iteration])),
            }
        }
        out.into_iter().map(|(d, iterations)| self.noted(d, &iterations)).collect()
    }

    fn noted(&self, mut d: Diagnostic, iterations: &[u32]) -> Diagnostic {
        let mut all: Vec<&str> =
            iterations.iter().filter_map(|i| Some(self.iterations.get(*i as usize)?.as_str())).collect();
        all.dedup();
        let more = match all.len() {
            0 => return d,
            1 => String::new(),
            2 => " and one more".to_owned(),
            n => format!(" and {} more", n - 1),
        };
        d.notes.push(format!("in the iteration `{}`{more}", all[0]));
        d
    }

    /// The source token, and the iteration.
    fn origin(&self, id: u32) -> (u32, Option<u32>) {
        match id.checked_sub(self.base).and_then(|n| self.origins.get(n as usize)) {
            Some((source, iteration)) => (*source, Some(*iteration)),
            None => (id, None),
        }
    }

    fn source(&self, span: Span) -> Span {
        Span { first: self.origin(span.first).0, last: self.origin(span.last).0 }
    }
}

struct Expander<'a> {
    tokens: &'a [Token],
    out: Expanded,
    /// Constants so far, loop variables among them.
    scope: Scope,
    /// Loop variables and their values, the innermost last.
    variables: Vec<(String, i64)>,
    depth: u32,
    /// There were too many tokens: nothing more is repeated.
    spent: bool,
}

fn is(token: &Token, c: char) -> bool {
    token.kind == Tok::Punct(c)
}

fn named(token: &Token, name: &str) -> bool {
    matches!(&token.kind, Tok::Word(word) if word == name)
}

impl Expander<'_> {
    fn is(&self, at: usize, c: char) -> bool {
        self.tokens.get(at).is_some_and(|token| is(token, c))
    }

    fn word(&self, at: usize) -> Option<&str> {
        match &self.tokens.get(at)?.kind {
            Tok::Word(word) => Some(word),
            _ => None,
        }
    }

    fn span(&self, from: usize, to: usize) -> Span {
        let last = self.tokens.len().saturating_sub(1);
        self.tokens[from.min(last)].span().to(self.tokens[to.min(last)].span())
    }

    /// Where the braces that open here close.
    fn close(&self, open: usize) -> Option<usize> {
        let mut depth = 0u32;
        for (at, token) in self.tokens.iter().enumerate().skip(open) {
            match token.kind {
                Tok::Punct('{') => depth += 1,
                Tok::Punct('}') => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(at);
                    }
                }
                _ => {}
            }
        }
        None
    }

    fn range(&mut self, from: usize, to: usize) {
        let open = self.scope.open();
        let mut at = from;
        while at < to {
            at = match &self.tokens[at].kind {
                Tok::Punct('@') if self.word(at + 1) == Some("for") && self.word(at + 3) == Some("in") => {
                    self.repetition(at, to)
                }
                Tok::Punct('@') if self.word(at + 1) == Some("if") && self.body_behind(at + 3, to).is_some() => {
                    self.conditional(at, at + 2, to)
                }
                Tok::Punct('{') => self.braces(at, to),
                Tok::Word(_) if self.word(at) == Some("const") => self.declaration(at),
                _ => {
                    self.push(at);
                    at + 1
                }
            };
        }
        self.scope.close(open);
    }

    /// The `{` of a body, before the end of the statement.
    fn body_behind(&self, from: usize, to: usize) -> Option<usize> {
        (from..to).take_while(|at| !self.is(*at, ';') && !self.is(*at, '}')).find(|at| self.is(*at, '{'))
    }

    fn fail(&mut self, d: Diagnostic) {
        self.out.diagnostics.push(d);
    }

    /// `@for I in 0..4 { ... }`; returns where it ends.
    fn repetition(&mut self, at: usize, to: usize) -> usize {
        let Some(open) = self.body_behind(at + 4, to) else {
            self.fail(errors::no_body(self.span(at, at + 1), "@for I in 0..4"));
            return (at + 4..to).find(|end| self.is(*end, ';')).map_or(to, |end| end + 1);
        };
        let Some(close) = self.close(open).filter(|close| *close < to) else {
            self.fail(errors::unclosed(self.span(open, open)));
            return to;
        };
        let name = self.word(at + 2).unwrap_or_default().to_owned();
        let dots = (at + 4..open).find(|dot| self.is(*dot, '.') && self.is(dot + 1, '.'));
        let Some(dots) = dots else {
            self.fail(errors::no_range(self.span(at + 4, open - 1)));
            return close + 1;
        };
        let included = self.is(dots + 2, '=');
        let first = self.value(at + 4, dots, "the first value of a repetition");
        let last = self.value(dots + 2 + usize::from(included), open, "the end of a repetition");
        let (Some(first), Some(last)) = (first, last) else { return close + 1 };
        let end = if included { last.saturating_add(1) } else { last };
        if self.depth >= MAX_DEPTH {
            self.fail(super::errors::too_deep(self.span(at, at + 1)));
            return close + 1;
        }
        self.depth += 1;
        let scope = self.scope.open();
        let before = self.out.tokens.len();
        for value in first..end {
            let most = (self.out.tokens.len() + (close - open)).max(self.out.iterations.len());
            if most > MAX_TOKENS && !self.spent {
                self.spent = true;
                self.fail(errors::too_long(self.span(at, at + 1), MAX_TOKENS));
            }
            if self.spent {
                self.out.tokens.truncate(before);
                break;
            }
            self.variables.push((name.clone(), value));
            self.scope.set(&name, value);
            let all: Vec<String> = self.variables.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            self.out.iterations.push(all.join(", "));
            self.range(open + 1, close);
            self.variables.pop();
            self.scope.close(scope);
            // what follows an inner repetition is in the outer iteration again
            if let Some((_, outer)) = all.split_last()
                && !outer.is_empty()
            {
                self.out.iterations.push(outer.join(", "));
            }
        }
        self.depth -= 1;
        close + 1
    }

    /// `@if COND { ... } else @if COND { ... } else { ... }`, whose first condition begins at `from`; returns where it ends.
    fn conditional(&mut self, at: usize, from: usize, to: usize) -> usize {
        if self.depth >= MAX_DEPTH {
            self.fail(super::errors::too_deep(self.span(at, from)));
            return to;
        }
        self.depth += 1;
        let end = self.alternatives(at, from, to);
        self.depth -= 1;
        end
    }

    fn alternatives(&mut self, mut at: usize, mut from: usize, to: usize) -> usize {
        // a body was taken, or a condition was reported
        let (mut done, mut otherwise) = (false, false);
        loop {
            let Some(open) = self.body_behind(from, to) else {
                self.fail(errors::no_body(self.span(at, from), "@if COND"));
                return from;
            };
            let Some(close) = self.close(open).filter(|close| *close < to) else {
                self.fail(errors::unclosed(self.span(open, open)));
                return to;
            };
            let condition = if otherwise { Some(1) } else { self.value(from, open, "the condition of `@if`") };
            if !done && condition.is_some_and(|n| n != 0) {
                self.range(open + 1, close);
            }
            done |= condition != Some(0);
            if otherwise || close + 1 >= to || self.word(close + 1) != Some("else") {
                return close + 1;
            }
            at = close + 1;
            let word = at + 1 + usize::from(self.is(at + 1, '@'));
            otherwise = self.word(word) != Some("if");
            from = if otherwise { at + 1 } else { word + 1 };
            if otherwise && !self.is(from, '{') {
                self.fail(errors::no_body(self.span(at, at), "else"));
                return from;
            }
        }
    }

    /// The value of a constant expression.
    fn value(&mut self, from: usize, to: usize, what: &str) -> Option<i64> {
        let span = self.span(from, to.saturating_sub(1).max(from));
        let mut parser = Parser::new(&self.tokens[..to], from);
        parser.scope = std::mem::take(&mut self.scope);
        let expr = parser.constant();
        let ended = parser.pos >= to;
        let diagnostics = std::mem::take(&mut parser.diags);
        self.scope = std::mem::take(&mut parser.scope);
        let Ok(expr) = expr else {
            self.out.diagnostics.extend(diagnostics);
            return None;
        };
        match (fold(&expr), &expr) {
            (Some(Const::Int { value, .. }), _) if ended => Some(value.cast_signed()),
            (None, Expr::Rust(id, _)) if ended && self.scope.constants.kind(*id) == Kind::Int => {
                self.fail(super::constant::unknown_here(span, what));
                None
            }
            _ => {
                self.fail(errors::no_integer(span, what));
                None
            }
        }
    }

    /// A declaration of a constant, which later bounds may name. It stays for the parser, which reports errors in it.
    fn declaration(&mut self, at: usize) -> usize {
        let mut parser = Parser::new(self.tokens, at);
        parser.scope = std::mem::take(&mut self.scope);
        if parser.at_constant() {
            // in a header, or after the name of a kernel, there is no `;`
            if parser.is_parameter() {
                parser.declare_parameter();
            } else {
                let _ = parser.constant_declaration(false);
            }
        }
        let end = parser.pos.max(at + 1);
        self.scope = std::mem::take(&mut parser.scope);
        (at..end).for_each(|at| self.push(at));
        end
    }

    fn braces(&mut self, open: usize, to: usize) -> usize {
        if let Some(end) = self.join_name(open, to) {
            return end + 1;
        }
        self.push(open);
        open + 1
    }

    /// `{I}` that touches a name before it becomes a part of the name, and so does what touches it behind. Returns the last token.
    fn join_name(&mut self, open: usize, to: usize) -> Option<usize> {
        if !self.tokens[open].glued || open == 0 || self.scope.is_empty() {
            return None;
        }
        // what was pushed last may be a name with a value already
        if !matches!(self.tokens[open - 1].kind, Tok::Word(_) | Tok::Number(_) | Tok::Punct('}'))
            || !matches!(self.out.tokens.last()?.kind, Tok::Word(_))
        {
            return None;
        }
        let close = self.close(open).filter(|close| *close < to && *close > open + 1)?;
        let inner = &self.tokens[open + 1..close];
        let plain = |token: &Token| match &token.kind {
            Tok::Word(word) => self.scope.knows(word),
            Tok::Number(_) => true,
            Tok::Punct(c) => "+-*/%()<>&|^".contains(*c),
            Tok::Str(_) => false,
        };
        if !inner.iter().all(plain) {
            return None;
        }
        let value = self.value(open + 1, close, "a part of a name")?;
        let mut part = if value < 0 { format!("n{}", value.unsigned_abs()) } else { value.to_string() };
        let mut end = close;
        if let Some(Token { kind: Tok::Word(more) | Tok::Number(more), glued: true, .. }) = self.tokens.get(close + 1)
            && close + 1 < to
        {
            part.push_str(more);
            end += 1;
        }
        if let Some(Token { kind: Tok::Word(name), .. }) = self.out.tokens.last_mut() {
            name.push_str(&part);
        }
        Some(end)
    }

    fn push(&mut self, at: usize) {
        let mut token = self.tokens[at].clone();
        if !self.variables.is_empty() {
            let id = self.out.base + self.out.origins.len() as u32;
            self.out.origins.push((token.id, self.out.iterations.len() as u32 - 1));
            token.id = id;
        }
        let qualifier = at > 0 && self.is(at - 1, '.') && token.glued;
        if let Tok::Word(word) = &token.kind
            && !qualifier
            && let Some((_, value)) = self.variables.iter().rev().find(|(name, _)| name == word)
        {
            if *value < 0 {
                self.out.tokens.push(Token { kind: Tok::Punct('-'), ..token });
            }
            token.kind = Tok::Number(value.unsigned_abs().to_string());
        }
        self.out.tokens.push(token);
    }
}
