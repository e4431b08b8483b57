//! Rust tokens -> PTX tokens. Rust's lexer glues some PTX pieces together (`1.128x256b` is one literal) and cuts others
//! (`%r1` is two tokens); both are mended here. Each source token keeps its span under its number.

use crate::trees;
use proc_macro::{Delimiter, Span, TokenStream, TokenTree};
use ptx_dsl_syntax::lex::split_literal;
use ptx_dsl_syntax::token::{Tok, Token};

/// PTX tokens with the Rust spans and Rust tokens they came from.
#[derive(Default)]
pub struct Source {
    pub tokens: Vec<Token>,
    /// Rust spans by token number: where it starts and where it ends (`%r1` is two Rust tokens).
    pub spans: Vec<(Span, Span)>,
    /// Rust token by token number; delimiters of groups have none.
    pub rust: Vec<Option<TokenTree>>,
    /// Groups: number of the opening token, the group, number of the closing token.
    pub groups: Vec<(u32, TokenTree, u32)>,
    end: Option<Position>,
}

/// Where a token starts or ends, if the compiler says.
type Position = (usize, usize);

fn start(span: Span) -> Option<Position> {
    if span.line() > 0 { Some((span.line(), span.column())) } else { None }
}

fn end(span: Span) -> Option<Position> {
    start(span.end())
}

impl Source {
    /// All of these tokens.
    pub fn new(trees: &[TokenTree]) -> Self {
        let mut s = Source::default();
        s.read(trees);
        s.join();
        s
    }

    fn id(&mut self, span: Span, token: Option<TokenTree>) -> u32 {
        self.spans.push((span, span));
        self.rust.push(token);
        self.spans.len() as u32 - 1
    }

    fn glued(&mut self, first: Span, last: Span) -> bool {
        let glued = self.end.is_some() && self.end == start(first);
        self.end = end(last);
        glued
    }

    fn push(&mut self, kind: Tok, id: u32, glued: bool) {
        self.tokens.push(Token { kind, id, glued });
    }

    fn read(&mut self, trees: &[TokenTree]) {
        let mut rest = trees;
        while let [tree, after @ ..] = rest {
            rest = after;
            match tree {
                TokenTree::Group(g) => {
                    let pair = match g.delimiter() {
                        Delimiter::Parenthesis => ('(', ')'),
                        Delimiter::Brace => ('{', '}'),
                        Delimiter::Bracket => ('[', ']'),
                        Delimiter::None => {
                            self.read(&trees::list(g.stream()));
                            continue;
                        }
                    };
                    let (open, close) = (g.span_open(), g.span_close());
                    let glued = self.glued(open, open);
                    let first = self.id(open, None);
                    self.push(Tok::Punct(pair.0), first, glued);
                    self.read(&trees::list(g.stream()));
                    let glued = self.glued(close, close);
                    let last = self.id(close, None);
                    self.push(Tok::Punct(pair.1), last, glued);
                    self.groups.push((first, tree.clone(), last));
                }
                TokenTree::Ident(i) => {
                    let glued = self.glued(i.span(), i.span());
                    let id = self.id(i.span(), Some(tree.clone()));
                    let mut text = i.to_string();
                    if let Some(plain) = text.strip_prefix("r#") {
                        text = plain.to_owned();
                    }
                    self.push(Tok::Word(text), id, glued);
                }
                TokenTree::Punct(p) => {
                    // A doc comment inside PTX is a comment.
                    if p.as_char() == '#'
                        && let [doc, after @ ..] = rest
                        && is_doc(doc)
                    {
                        rest = after;
                        continue;
                    }
                    let glued = self.glued(p.span(), p.span());
                    let c = p.as_char();
                    let id = self.id(p.span(), Some(tree.clone()));
                    self.push(Tok::Punct(c), id, glued);
                }
                TokenTree::Literal(l) => {
                    let glued = self.glued(l.span(), l.span());
                    let text = l.to_string();
                    let id = self.id(l.span(), Some(tree.clone()));
                    split_literal(&text, id, glued, &mut self.tokens);
                }
            }
        }
    }

    /// `%` `r1` -> `%r1`, `$` `L` -> `$L`, also in the middle of a name.
    fn join(&mut self) {
        let old = std::mem::take(&mut self.tokens);
        let mut i = 0;
        while i < old.len() {
            let token = &old[i];
            let sigil = matches!(token.kind, Tok::Punct('%' | '$'));
            if sigil && let Some(Token { kind: Tok::Word(word), glued: true, id: name_id }) = old.get(i + 1) {
                let c = if token.kind == Tok::Punct('%') { '%' } else { '$' };
                let before = self.tokens.last_mut();
                let after_value = before
                    .as_ref()
                    .is_some_and(|t| matches!(t.kind, Tok::Word(_) | Tok::Number(_) | Tok::Punct(')' | ']')));
                if c == '$'
                    && token.glued
                    && let Some(Token { kind: Tok::Word(name), .. }) = before
                {
                    name.push(c);
                    name.push_str(word);
                    i += 2;
                    continue;
                }
                if !(c == '%' && token.glued && after_value) {
                    self.spans[token.id as usize].1 = self.spans[*name_id as usize].1;
                    self.tokens.push(Token { kind: Tok::Word(format!("{c}{word}")), id: token.id, glued: token.glued });
                    i += 2;
                    continue;
                }
            }
            self.tokens.push(token.clone());
            i += 1;
        }
    }

    /// The Rust span of a range of tokens: where it starts and where it ends.
    pub fn span(&self, span: ptx_dsl_syntax::span::Span) -> (Span, Span) {
        (self.spans_of(span.first).0, self.spans_of(span.last).1)
    }

    fn spans_of(&self, id: u32) -> (Span, Span) {
        match self.spans.get(id as usize) {
            Some(spans) => *spans,
            None => (Span::call_site(), Span::call_site()),
        }
    }

    /// The line of the first token of a range, 0 if unknown.
    pub fn line(&self, span: ptx_dsl_syntax::span::Span) -> u32 {
        self.span(span).0.line() as u32
    }

    /// The Rust tokens of a range.
    pub fn rust(&self, span: ptx_dsl_syntax::span::Span) -> TokenStream {
        let mut out = Vec::new();
        let mut id = span.first;
        while id <= span.last {
            if let Some((tree, close)) = self.group(id, span.last) {
                out.push(tree.clone());
                id = close;
            } else if let Some(Some(tree)) = self.rust.get(id as usize) {
                out.push(tree.clone());
            }
            id += 1;
        }
        trees::stream(out)
    }

    /// The group that begins here and ends there at the latest, and where it ends.
    fn group(&self, first: u32, last: u32) -> Option<(&TokenTree, u32)> {
        for (open, tree, close) in self.groups.as_slice() {
            if *open == first && *close <= last {
                return Some((tree, *close));
            }
        }
        None
    }
}

fn is_doc(tree: &TokenTree) -> bool {
    let TokenTree::Group(g) = tree else { return false };
    g.delimiter() == Delimiter::Bracket
        && matches!(g.stream().into_iter().next(), Some(TokenTree::Ident(i)) if i.to_string() == "doc")
}
