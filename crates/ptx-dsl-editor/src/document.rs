//! A text with what the front end makes of it.

use crate::facts::Facts;
use crate::names::{Names, Symbol};
use crate::words::functions;
use ptx_dsl_frontend::Compiled;
use ptx_dsl_frontend::ast::Module;
use ptx_dsl_frontend::diag::{Diagnostic, Severity};
use ptx_dsl_frontend::edit::Edit;
use ptx_dsl_frontend::lex::{Lexed, lex, lex_rust};
use ptx_dsl_frontend::parse::repeat::{Expanded, expand, expand_alone, has_pieces, repeats};
use ptx_dsl_frontend::session::{Input, Session};
use ptx_dsl_frontend::source::closure;
use ptx_dsl_frontend::span::Span;
use ptx_dsl_frontend::token::{Tok, Token};
use std::cell::OnceCell;
use std::ops::Range;

/// A text of PTX and its analysis.
pub struct Document {
    text: String,
    lexed: Lexed,
    compiled: Compiled,
    /// The pieces, each by itself as a kernel.
    alone: Option<Compiled>,
    names: Names,
    findings: Vec<Finding>,
    facts: OnceCell<Facts>,
}

/// Something that is wrong with the text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The code, such as `PTX0207`.
    pub code: String,
    /// Whether ptxas or hardware refuses it; otherwise it is a warning.
    pub is_error: bool,
    /// One sentence, then the notes and helps, each on a line of its own.
    pub message: String,
    /// The bytes that it is about.
    pub at: Range<usize>,
    /// Other places, each with a few words.
    pub related: Vec<Related>,
}

/// Another place of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Related {
    /// The bytes.
    pub at: Range<usize>,
    /// What is there.
    pub text: String,
}

impl Document {
    /// Analyses a file of PTX.
    pub fn new(text: impl Into<String>) -> Document {
        let text = text.into();
        let (lexed, found) = lex(&text);
        let input = Input { tokens: &lexed.tokens, found, own: None, ..Input::default() };
        let compiled = Session::default().compile(input);
        Document::of(text, lexed, compiled, None)
    }

    /// Analyses the body of a `ptx!` in a file of Rust: these bytes of the text, without their braces. All places are bytes of the file.
    pub fn in_rust(text: impl Into<String>, body: Range<usize>) -> Document {
        let text = text.into();
        let (mut lexed, found) = lex_rust(text.get(body.clone()).unwrap_or(""));
        for range in &mut lexed.ranges {
            *range = range.start + body.start..range.end + body.start;
        }
        Document::rust(text, lexed, found, false)
    }

    /// Analyses the tokens of a `ptx!`, which have no text; their numbers are below `count`. Places are bytes of a text that is written
    /// for them. There are no findings of rules.
    pub fn of_tokens(tokens: Vec<Token>, count: u32) -> Document {
        let (text, lexed) = written(tokens, count);
        Document::rust(text, lexed, Vec::new(), true)
    }

    /// `unread`: nobody reads the findings.
    fn rust(text: String, mut lexed: Lexed, mut found: Vec<Diagnostic>, unread: bool) -> Document {
        let is_closure = closure::bar(&lexed.tokens).is_some();
        let mut tokens = lexed.tokens.clone();
        if is_closure {
            match closure::as_module(&tokens, "kernel") {
                Ok((module, mut wrong)) => {
                    tokens = module;
                    found.append(&mut wrong);
                }
                Err(mut wrong) => found.append(&mut wrong),
            }
        }
        let count = lexed.ranges.len();
        let expanded = repeats(&tokens).then(|| expand(&tokens, count as u32));
        if let Some(expanded) = &expanded {
            lexed.ranges.extend(places(expanded, &lexed.ranges[..count]));
        }
        let session = Session { in_rust: true, unread, ..Session::default() };
        let alone = has_pieces(&tokens).then(|| {
            let expanded = expand_alone(&tokens, lexed.ranges.len() as u32, 0..tokens.len(), false);
            lexed.ranges.extend(places(&expanded, &lexed.ranges[..count]));
            let unread = Session { unread: true, ..session };
            unread.compile(Input { tokens: &expanded.tokens, expanded: Some(&expanded), ..Input::default() })
        });
        let input = Input {
            tokens: expanded.as_ref().map_or(&tokens, |expanded| &expanded.tokens),
            expanded: expanded.as_ref(),
            is_closure,
            found,
            ..Input::default()
        };
        let compiled = session.compile(input);
        Document::of(text, lexed, compiled, alone)
    }

    fn of(text: String, lexed: Lexed, compiled: Compiled, alone: Option<Compiled>) -> Document {
        let modules: Vec<&Module> = std::iter::once(&compiled).chain(&alone).map(|compiled| &compiled.ast).collect();
        let names = Names::new(&text, &lexed, &modules);
        let findings = compiled.diagnostics.iter().map(|d| finding(&lexed, text.len(), d)).collect();
        Document { text, lexed, compiled, alone, names, findings, facts: OnceCell::new() }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The findings, in the order of the text.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The names that the text declares, and where it uses them.
    pub fn names(&self) -> &Names {
        &self.names
    }

    pub(crate) fn facts(&self) -> &Facts {
        self.facts.get_or_init(|| Facts::new(&self.compiled))
    }

    /// What the analyses know of a register; empty for other names.
    pub(crate) fn known_of(&self, symbol: &Symbol, word: &str) -> String {
        let of = functions(self)
            .find(|f| self.bytes(f.span).start <= symbol.at.start && symbol.at.start < self.bytes(f.end).end);
        let known = of.and_then(|function| self.facts().of_register(&function.name.text, word));
        known.unwrap_or_default().to_owned()
    }

    pub(crate) fn compiled(&self) -> &Compiled {
        &self.compiled
    }

    /// The module, and its pieces by themselves.
    pub(crate) fn modules(&self) -> impl Iterator<Item = &Compiled> {
        std::iter::once(&self.compiled).chain(&self.alone)
    }

    pub(crate) fn diagnostics(&self) -> &[Diagnostic] {
        &self.compiled.diagnostics
    }

    pub(crate) fn tokens(&self) -> &[Token] {
        &self.lexed.tokens
    }

    /// The bytes of a token.
    pub(crate) fn range(&self, token: &Token) -> Range<usize> {
        self.bytes(token.span())
    }

    /// The bytes of a span.
    pub(crate) fn bytes(&self, span: Span) -> Range<usize> {
        self.lexed.bytes(span)
    }

    /// The bytes that an edit replaces.
    pub(crate) fn edited(&self, edit: &Edit) -> Range<usize> {
        self.lexed.edited(&self.text, edit)
    }

    /// The text of bytes; empty if they are not of this text.
    pub(crate) fn at(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or("")
    }

    /// The number of the first token that ends after a byte.
    pub(crate) fn token_after(&self, byte: usize) -> usize {
        self.tokens().partition_point(|token| self.range(token).end <= byte)
    }

    /// The number of the token at a byte, or of the one that ends there, which a cursor behind a word means.
    pub(crate) fn token_at(&self, byte: usize) -> Option<usize> {
        let next = self.token_after(byte);
        let is_name = |token: &&Token| matches!(token.kind, Tok::Word(_) | Tok::Number(_));
        let inside = self.tokens().get(next).filter(|token| self.range(token).start <= byte);
        if inside.is_some_and(|token| is_name(&token)) {
            return Some(next);
        }
        let before = next.checked_sub(1)?;
        let touches = self.tokens().get(before).filter(|token| self.range(token).end == byte);
        match touches.filter(is_name) {
            Some(_) => Some(before),
            None => inside.map(|_| next),
        }
    }
}

/// The places in the text that the tokens of an expansion come from.
fn places(expanded: &Expanded, written: &[Range<usize>]) -> Vec<Range<usize>> {
    expanded.sources().map(|source| written.get(source as usize).cloned().unwrap_or(0..0)).collect()
}

/// A text for tokens, and where they are in it.
fn written(tokens: Vec<Token>, count: u32) -> (String, Lexed) {
    let mut text = String::new();
    let mut ranges = vec![0..0; count as usize];
    for token in &tokens {
        if !token.glued && !text.is_empty() {
            text.push(if text.ends_with([';', '{', '}']) { '\n' } else { ' ' });
        }
        let start = text.len();
        match &token.kind {
            Tok::Word(word) | Tok::Number(word) => text.push_str(word),
            Tok::Str(string) => text.extend(["\"", string, "\""]),
            Tok::Punct(c) => text.push(*c),
        }
        if let Some(range) = ranges.get_mut(token.id as usize) {
            // the pieces of a literal share their number
            let first = if range.end == 0 { start } else { range.start };
            *range = first..text.len();
        }
    }
    (text, Lexed { tokens, ranges, ..Lexed::default() })
}

fn finding(lexed: &Lexed, len: usize, d: &Diagnostic) -> Finding {
    let place = |span: Span| {
        let bytes = lexed.bytes(span);
        bytes.start.min(len)..bytes.end.min(len)
    };
    let notes = d.notes.iter().map(|note| format!("\nnote: {note}"));
    let helps = d.helps.iter().map(|help| format!("\nhelp: {help}"));
    Finding {
        code: d.code.to_string(),
        is_error: d.severity == Severity::Error,
        message: notes.chain(helps).fold(d.message.clone(), |all, line| all + &line),
        at: place(d.span),
        related: d.labels.iter().map(|(span, text)| Related { at: place(*span), text: text.clone() }).collect(),
    }
}
