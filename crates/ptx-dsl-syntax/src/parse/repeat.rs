//! Repetition in `ptx!`: `@for I in 0..4 { ... }` and `@if COND { ... } else { ... }` become the tokens that they stand for, before
//! the parser sees them. `%r{I}` is a name with the value of a constant in it, and a loop variable by itself is a number. So do
//! ranges of registers, `{%d0..=%d31}` (`registers.rs`), uses of pieces, `wait!(%bar, %parity)` (`pieces.rs`, `uses.rs`), and kernels
//! with listed const parameters (`instances.rs`).
//!
//! Tokens of an iteration or a use have numbers of their own, so that findings in it can say which it was (`contexts.rs`).

mod alone;
mod arrays;
mod comments;
mod conditions;
mod constants;
mod contexts;
mod errors;
mod families;
mod frame;
mod instances;
mod joined;
mod names;
mod parameters;
mod parts;
mod peel;
mod pieces;
pub(crate) mod registers;
#[cfg(test)]
mod tests;
mod uses;
mod words;

use alone::Alone;
use contexts::{Contexts, What};
use frame::Frame;
pub use instances::Instances;
use names::Own;
pub use parts::beside_part;
use pieces::Pieces;

use super::constant::Scope;
use super::{Parser, fold, parse_header};
use crate::ast::Expr;
use crate::diag::Diagnostic;
use crate::parse::Const;
use crate::span::Span;
use crate::token::{Tok, Token, is_at, word_at};
use ptx_dsl_isa::constant::Kind;
use std::ops::Range;

/// The most tokens that repetitions may make.
const MAX_TOKENS: usize = 1 << 19;
/// What takes the values of `@for`.
const LOOP: &str = "a repetition";
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
    /// The kernels with listed const parameters.
    pub instances: Vec<Instances>,
    contexts: Contexts,
    /// Names whose declarations depend on arguments of pieces that are checked by themselves.
    uncertain: Vec<Own>,
}

/// Is there a repetition, a range, a list of const parameters, a piece or a part among the tokens?
pub fn repeats(tokens: &[Token]) -> bool {
    tokens.windows(2).any(|pair| match pair {
        [at, word] if at.is('@') => named(word, "for") || named(word, "if") || named(word, "peel"),
        [colon, open] if colon.is(':') => open.is('['),
        [Token { kind: Tok::Word(word), .. }, Token { kind: Tok::Word(next), .. }] => word == "part" || next == "in",
        [Token { kind: Tok::Word(_), .. }, bang] => bang.is('!'),
        [dot, next] if dot.is('.') => next.is('.'),
        _ => false,
    }) || has_pieces(tokens)
}

/// Is there a definition of a piece among the tokens?
pub fn has_pieces(tokens: &[Token]) -> bool {
    (0..tokens.len()).any(|at| begins_piece(tokens, at))
}

/// `.inline` or `.layout`, which is not the qualifier `.layout::v1`.
fn begins_piece(tokens: &[Token], at: usize) -> bool {
    let Some([dot, word, behind]) = tokens.get(at..at + 3) else { return false };
    dot.is('.') && (named(word, "inline") || named(word, "layout")) && !behind.is(':')
}

/// Expands all repetitions and uses of pieces. Numbers from `base` on are free.
pub fn expand(tokens: &[Token], base: u32) -> Expanded {
    run(tokens, base, None)
}

/// As [`expand`], but without the kernels: in place of each piece among the tokens `own` there is a kernel with its body, so that it
/// is checked by itself. Its constants are unknown, or `one`: the number 1.
pub fn expand_alone(tokens: &[Token], base: u32, own: Range<usize>, one: bool) -> Expanded {
    run(tokens, base, Some(Alone::new(own, one)))
}

fn run(tokens: &[Token], base: u32, alone: Option<Alone>) -> Expanded {
    let (header, used, _) = parse_header(tokens);
    let apart = parts::apart(tokens);
    let mut expander = Expander {
        tokens: &apart,
        out: Expanded { contexts: Contexts::new(base), written: tokens.to_vec(), ..Expanded::default() },
        scope: header.map(|header| header.scope).unwrap_or_default(),
        variables: Vec::new(),
        body: None,
        depth: 0,
        spent: false,
        context: None,
        outer: None,
        used: 0,
        blocks: Vec::new(),
        pieces: Pieces::default(),
        arrays: Vec::new(),
        frames: Vec::new(),
        alone,
        lets: Vec::new(),
    };
    expander.out.tokens.extend_from_slice(&tokens[..used]);
    expander.collect(used, tokens.len(), None);
    expander.parts();
    expander.range(used, tokens.len());
    expander.out
}

impl Expanded {
    /// The source tokens of the numbers from the base on.
    pub fn sources(&self) -> impl Iterator<Item = u32> {
        self.contexts.sources()
    }

    /// Where the pieces are used in which this token is, the innermost first, in the tokens as written.
    pub fn uses(&self, id: u32) -> impl Iterator<Item = u32> {
        self.contexts.uses(id)
    }
}

/// The body of a repetition.
#[derive(Debug)]
struct Body {
    /// How many blocks are open around it.
    blocks: usize,
    /// Where it declares constants whose values are no integers that are known: they are declared once.
    kept: Vec<usize>,
}

struct Expander<'a> {
    tokens: &'a [Token],
    out: Expanded,
    /// Constants so far, loop variables among them.
    scope: Scope,
    /// Loop variables and constants of iterations with their values, the innermost last.
    variables: Vec<(String, i64)>,
    /// The body of the innermost repetition.
    body: Option<Body>,
    depth: u32,
    /// There were too many tokens: nothing more is repeated.
    spent: bool,
    /// What the next tokens come from, if they are not as written.
    context: Option<u32>,
    /// The context around the use whose arguments are read.
    outer: Option<u32>,
    /// How many uses of pieces there were.
    used: usize,
    /// For each open `{`, the constants that are in scope around it.
    blocks: Vec<usize>,
    pieces: Pieces,
    /// Arrays of constants that are in scope.
    arrays: Vec<arrays::Array>,
    /// The uses around the next tokens, the innermost last.
    frames: Vec<Frame>,
    /// The pieces that are checked by themselves.
    alone: Option<Alone>,
    /// The statements `let` that are written in open blocks: the number of open blocks, the number of the use, and where `let` stands.
    lets: Vec<(usize, usize, usize)>,
}

fn named(token: &Token, name: &str) -> bool {
    token.word() == Some(name)
}

/// `4`, and of -4 `n4`.
fn part_of_name(value: i64) -> String {
    if value < 0 { format!("n{}", value.unsigned_abs()) } else { value.to_string() }
}

impl Expander<'_> {
    fn is(&self, at: usize, c: char) -> bool {
        is_at(self.tokens, at, c)
    }

    fn word(&self, at: usize) -> Option<&str> {
        word_at(self.tokens, at)
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
        self.all(from, to);
        self.scope.close(open);
    }

    fn all(&mut self, from: usize, to: usize) {
        let mut at = from;
        while at < to {
            if let Some(end) = self.definition(at, to) {
                at = end;
                continue;
            }
            at = match &self.tokens[at].kind {
                Tok::Punct('@') if self.word(at + 1) == Some("for") && self.word(at + 3) == Some("in") => {
                    self.repetition(at, to)
                }
                Tok::Punct('@') if self.word(at + 1) == Some("if") && self.body_behind(at + 3, to).is_some() => {
                    self.conditional(at, at + 2, to)
                }
                Tok::Punct('@') if self.word(at + 1) == Some("peel") && self.word(at + 2).is_some() => {
                    self.peel(at, to)
                }
                Tok::Punct('@') => match self.broken_head(at, to) {
                    Some(open) => self.skip_broken(at, open, to),
                    None => self.kept(at),
                },
                Tok::Punct('.') if self.at_range(at) => self.registers(at, to),
                Tok::Punct('.') => match self.listed(at, to) {
                    Some(listed) => self.instances(at, listed, to),
                    None => self.kept(at),
                },
                Tok::Punct('{') => self.braces(at, to),
                Tok::Punct('}') => {
                    if let Some(open) = self.blocks.pop() {
                        self.scope.close(open);
                        self.close_arrays();
                        let open = self.blocks.len();
                        self.lets.retain(|(blocks, ..)| *blocks <= open);
                    }
                    self.kept(at)
                }
                Tok::Word(_) if self.word(at) == Some("const") => self.declaration(at, to),
                Tok::Word(_) if self.word(at) == Some("layout") && self.is(at + 2, '=') => self.layout(at),
                Tok::Word(_) => self.named(at, to),
                _ => self.kept(at),
            };
        }
    }

    /// A word may be a value of an array, the use of a piece, or that use without its `!`.
    fn named(&mut self, at: usize, to: usize) -> usize {
        if self.repeats_let(at) {
            // the register is declared in this block: it gets the value
            at + 1
        } else if !matches!(
            self.tokens.get(at + 1).map(|next| &next.kind),
            Some(Tok::Punct('!' | '.' | ':' | '(' | '['))
        ) {
            self.kept(at)
        } else if let Some(end) = self.array_value(at, to) {
            end
        } else if let Some(named) = self.at_use(at, to) {
            self.piece(named, to)
        } else if let Some((last, end)) = self.without_bang(at, to) {
            self.report_without_bang(at, last);
            end
        } else {
            self.kept(at)
        }
    }

    /// Is it the `let` of an iteration of `@for`, and has an iteration before declared the register in the same block?
    fn repeats_let(&mut self, at: usize) -> bool {
        if self.body.is_none() || self.word(at) != Some("let") || self.word(at + 1).is_none() || self.is(at + 2, '{') {
            return false;
        }
        let written = (self.blocks.len(), self.frames.last().map_or(0, |frame| frame.number), at);
        let again = self.lets.contains(&written);
        self.lets.push(written);
        again
    }

    /// Keeps a token as it is. Returns the index of the next one.
    fn kept(&mut self, at: usize) -> usize {
        self.push(at);
        at + 1
    }

    /// The `{` after `@for` or `@if` without what belongs between them. A predicate may have these names as well.
    fn broken_head(&self, at: usize, to: usize) -> Option<usize> {
        let nameless = self.word(at + 2).is_none();
        let broken = match self.word(at + 1)? {
            "for" => nameless || self.word(at + 3).is_none() && !self.is(at + 3, '.') && !self.is(at + 3, ':'),
            "if" => self.is(at + 2, '{'),
            _ => false,
        };
        self.body_behind(at + 2, to).filter(|_| broken)
    }

    /// Reports such a head; its body is not read.
    fn skip_broken(&mut self, at: usize, open: usize, to: usize) -> usize {
        let span = self.span(at, open - 1);
        self.fail(match self.word(at + 1) {
            Some("for") => errors::no_in(span),
            _ => errors::no_condition(span),
        });
        self.close(open).map_or(to, |close| close + 1).min(to)
    }

    /// The `{` of a body, before the end of the statement.
    fn body_behind(&self, from: usize, to: usize) -> Option<usize> {
        (from..to).take_while(|at| !self.is(*at, ';') && !self.is(*at, '}')).find(|at| self.is(*at, '{'))
    }

    /// Reports an error, of all iterations once.
    fn fail(&mut self, mut d: Diagnostic) {
        // the tokens here come from where the next ones do
        if self.out.contexts.is_source(d.span.first) {
            d.span = Span { first: self.made(d.span.first), last: self.made(d.span.last) };
        }
        let place = |d: &Diagnostic| [d.span.first, d.span.last].map(|id| self.out.contexts.source_of(id));
        let same = |known: &Diagnostic| known.code == d.code && place(known) == place(&d);
        if !self.out.diagnostics.iter().any(same) {
            self.out.diagnostics.push(d);
        }
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
        let given = self.depends_on_arguments(at + 4, open);
        let values = if given { Some(Vec::new()) } else { self.values(at + 4, open, LOOP) };
        let Some(values) = values else { return close + 1 };
        if self.depth >= MAX_DEPTH {
            self.fail(super::errors::too_deep(self.span(at, at + 1)));
            return close + 1;
        }
        self.depth += 1;
        if given {
            self.any_iteration(at + 2, open + 1..close);
        }
        let scope = self.scope.open();
        let (before, context) = (self.out.tokens.len(), self.context);
        let variables = self.variables.len();
        let around = self.body.replace(Body { blocks: self.blocks.len(), kept: Vec::new() });
        for value in values {
            if self.is_too_long(at, close - open) {
                self.out.tokens.truncate(before);
                break;
            }
            self.variables.push((name.clone(), value));
            self.scope.set(&name, value);
            self.context = Some(self.out.contexts.open(context, What::Iteration(self.shown_variables())));
            self.range(open + 1, close);
            self.variables.truncate(variables);
            self.scope.close(scope);
        }
        (self.context, self.body) = (context, around);
        self.depth -= 1;
        close + 1
    }

    /// The integers of `a..b`, `a..=b` or `[a, b, c]`: of a range not more than there may be tokens.
    fn values(&mut self, from: usize, to: usize, of: &str) -> Option<Vec<i64>> {
        if let Some(array) = self.word(from).filter(|_| from + 1 == to).and_then(|name| self.array(name)) {
            return Some(array.to_vec());
        }
        if let Some(values) = self.changed_range(from, to, of) {
            return values;
        }
        if self.is(from, '[') && self.is(to - 1, ']') {
            let commas = (from..to).filter(|at| self.is(*at, ','));
            let ends: Vec<usize> = commas.chain([to - 1]).collect();
            let mut from = from + 1;
            let mut values = Vec::new();
            for end in ends {
                if from < end {
                    values.push(self.small_value(from, end, &format!("a value of {of}"))?);
                }
                from = end + 1;
            }
            return Some(values);
        }
        let Some(dots) = (from..to).find(|dot| self.is(*dot, '.') && self.is(dot + 1, '.')) else {
            self.fail(errors::no_range(self.span(from, to.saturating_sub(1).max(from)), of));
            return None;
        };
        let included = self.is(dots + 2, '=');
        let first = self.small_value(from, dots, &format!("the first value of {of}"));
        let behind = dots + 2 + usize::from(included);
        let last = self.small_value(behind, to, &format!("the end of {of}"));
        let (first, last) = (first?, last?);
        let literal = |from: usize, to: usize| self.tokens[from..to].iter().all(|token| token.word().is_none());
        // With a constant at the end, such as `1..N`, there may be nothing to do, and in some iterations of an outer repetition.
        let words = || self.tokens[from..dots].iter().filter_map(Token::word);
        let varies = words().any(|word| self.variables().iter().any(|(known, _)| known == word));
        if first > last && literal(behind, to) && (last == 0 && !varies || literal(from, dots)) {
            self.fail(errors::reversed(self.span(from, to - 1), (first, last), included, of == LOOP));
            return None;
        }
        let end = if included { last.saturating_add(1) } else { last };
        if end.saturating_sub(first) > MAX_TOKENS as i64 {
            self.fail(errors::too_long(self.span(from, to.saturating_sub(1).max(from)), MAX_TOKENS));
            return None;
        }
        Some((first..end).collect())
    }

    /// `I = 0, J = 2`
    fn shown_variables(&self) -> String {
        let all: Vec<String> = self.variables().iter().map(|(name, value)| format!("{name} = {value}")).collect();
        all.join(", ")
    }

    /// Would this many more tokens be too many? That is said once, at this token.
    fn is_too_long(&mut self, at: usize, more: usize) -> bool {
        let most = (self.out.tokens.len() + more).max(self.out.contexts.len());
        if most > MAX_TOKENS && !self.spent {
            self.spent = true;
            self.fail(errors::too_long(self.span(at, at + 1), MAX_TOKENS));
        }
        self.spent
    }

    /// The loop variables that are visible: those of this piece.
    fn variables(&self) -> &[(String, i64)] {
        let from = self.frames.last().map_or(0, |frame| frame.variables);
        &self.variables[from..]
    }

    /// The value of a constant expression, which an `i64` has.
    fn small_value(&mut self, from: usize, to: usize, what: &str) -> Option<i64> {
        let value = self.value(from, to, what)?;
        let small = i64::try_from(value).ok();
        if small.is_none() {
            self.fail(errors::too_large(self.span(from, to.saturating_sub(1).max(from)), what, value));
        }
        small
    }

    /// The value of a constant expression.
    fn value(&mut self, from: usize, to: usize, what: &str) -> Option<i128> {
        match self.word(from) {
            Some("true") if from + 1 == to => return Some(1),
            Some("false") if from + 1 == to => return Some(0),
            _ => {}
        }
        let span = self.span(from, to.saturating_sub(1).max(from));
        let compared = match self.with_array_values(from, to) {
            Some(tokens) => Some(tokens),
            None => self.compared(from, to),
        };
        let mut parser = match &compared {
            Some(tokens) => Parser::new(tokens, 0),
            None => Parser::new(&self.tokens[..to], from),
        };
        parser.scope = std::mem::take(&mut self.scope);
        let expr = parser.constant();
        let ended = parser.peek().is_none();
        let diagnostics = std::mem::take(&mut parser.diags);
        self.scope = std::mem::take(&mut parser.scope);
        let Ok(expr) = expr else {
            self.out.diagnostics.extend(diagnostics);
            return None;
        };
        match (fold(&expr), &expr) {
            (Some(Const::Int { value, unsigned: true }), _) if ended => Some(value.into()),
            (Some(Const::Int { value, .. }), _) if ended => Some(value.cast_signed().into()),
            (None, Expr::Rust(id, _)) if ended && self.scope.constants.kind(*id) == Kind::Int => {
                let finding = super::constant::unknown_here(span, what, &self.scope.constants, *id);
                self.fail(finding);
                None
            }
            _ => {
                self.fail(errors::no_integer(span, what));
                None
            }
        }
    }

    fn braces(&mut self, open: usize, to: usize) -> usize {
        if let Some(end) = self.join_name(open, to) {
            return end + 1;
        }
        self.blocks.push(self.scope.open());
        self.push(open);
        open + 1
    }

    fn push(&mut self, at: usize) {
        if self.chosen_word(at) || self.whole_family(at) {
            return;
        }
        self.push_token(at);
    }

    /// Pushes the word that stands for a parameter here, if it is one.
    fn chosen_word(&mut self, at: usize) -> bool {
        let Some(frame) = self.frames.last().filter(|frame| !frame.words.is_empty()) else { return false };
        let Some(parts) = self.word(at).and_then(|word| frame.word(word)).map(<[String]>::to_vec) else { return false };
        let (id, glued) = (self.made(self.tokens[at].id), self.tokens[at].glued);
        for (n, part) in parts.into_iter().enumerate() {
            if n > 0 {
                self.out.tokens.push(Token { kind: Tok::Punct('.'), id, glued: true });
            }
            let digit = part.starts_with(|c: char| c.is_ascii_digit());
            let kind = if digit { Tok::Number(part) } else { Tok::Word(part) };
            self.out.tokens.push(Token { kind, id, glued: glued || n > 0 });
        }
        true
    }

    fn push_token(&mut self, at: usize) {
        let source = &self.tokens[at];
        let id = self.made(source.id);
        let mut token = Token { id, ..source.clone() };
        let qualifier = at > 0 && self.is(at - 1, '.') && token.glued;
        if let Tok::Word(word) = &source.kind
            && !qualifier
        {
            if let Some((_, value)) = self.variables().iter().rev().find(|(name, _)| name == word) {
                token.kind = Tok::Number(value.unsigned_abs().to_string());
                if *value < 0 {
                    self.out.tokens.push(Token { kind: Tok::Punct('-'), ..token.clone() });
                }
            } else if let Some(frame) = self.frames.last() {
                match frame.stands_for(word) {
                    frame::Stands::Itself => {}
                    frame::Stands::Renamed(name) => token.kind = Tok::Word(name),
                    frame::Stands::Argument(argument) => {
                        if !self.out.contexts.is_source(id) {
                            self.out.contexts.give(id, argument.span);
                        }
                        for (n, given) in argument.tokens.iter().enumerate() {
                            let glued = if n == 0 { token.glued } else { given.glued };
                            self.out.tokens.push(Token { kind: given.kind.clone(), id, glued });
                        }
                        return;
                    }
                }
            }
        }
        self.out.tokens.push(token);
    }

    /// The number of a token that comes from this one.
    fn made(&mut self, source: u32) -> u32 {
        match self.context {
            Some(context) => self.out.contexts.made(source, context),
            None => source,
        }
    }
}
