//! Rust tokens -> PTX tokens. Rust's lexer glues some PTX pieces together (`1.128x256b` is one literal) and cuts others
//! (`%r1` is two tokens); both are mended here. Each source token keeps its span under its number.

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
    (span.line() > 0).then(|| (span.line(), span.column()))
}

fn end(span: Span) -> Option<Position> {
    let at = span.end();
    (at.line() > 0).then(|| (at.line(), at.column()))
}

impl Source {
    /// All of a token stream.
    pub fn new(stream: TokenStream) -> Self {
        let mut s = Source::default();
        s.read(stream);
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

    fn read(&mut self, stream: TokenStream) {
        let mut trees = stream.into_iter().peekable();
        while let Some(tree) = trees.next() {
            match &tree {
                TokenTree::Group(g) => {
                    let pair = match g.delimiter() {
                        Delimiter::Parenthesis => ('(', ')'),
                        Delimiter::Brace => ('{', '}'),
                        Delimiter::Bracket => ('[', ']'),
                        Delimiter::None => {
                            self.read(g.stream());
                            continue;
                        }
                    };
                    let (open, close) = (g.span_open(), g.span_close());
                    let glued = self.glued(open, open);
                    let first = self.id(open, None);
                    self.push(Tok::Punct(pair.0), first, glued);
                    self.read(g.stream());
                    let glued = self.glued(close, close);
                    let last = self.id(close, None);
                    self.push(Tok::Punct(pair.1), last, glued);
                    self.groups.push((first, tree.clone(), last));
                }
                TokenTree::Ident(i) => {
                    let glued = self.glued(i.span(), i.span());
                    let text = i.to_string();
                    let id = self.id(i.span(), Some(tree.clone()));
                    self.push(Tok::Word(text.strip_prefix("r#").map_or(text.clone(), str::to_owned)), id, glued);
                }
                TokenTree::Punct(p) => {
                    // A doc comment inside PTX is a comment.
                    if p.as_char() == '#' && trees.peek().is_some_and(is_doc) {
                        trees.next();
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
        let at =
            |id: u32| self.spans.get(id as usize).copied().unwrap_or_else(|| (Span::call_site(), Span::call_site()));
        (at(span.first).0, at(span.last).1)
    }

    /// The line of the first token of a range, 0 if unknown.
    pub fn line(&self, span: ptx_dsl_syntax::span::Span) -> u32 {
        start(self.span(span).0).map_or(0, |p| p.0 as u32)
    }

    /// The Rust tokens of a range.
    pub fn rust(&self, span: ptx_dsl_syntax::span::Span) -> TokenStream {
        let mut out = TokenStream::new();
        let mut id = span.first;
        while id <= span.last {
            if let Some((_, tree, close)) =
                self.groups.iter().find(|(open, _, close)| *open == id && *close <= span.last)
            {
                out.extend([tree.clone()]);
                id = close + 1;
                continue;
            }
            out.extend(self.rust.get(id as usize).cloned().flatten());
            id += 1;
        }
        out
    }
}

fn is_doc(tree: &TokenTree) -> bool {
    let TokenTree::Group(g) = tree else { return false };
    g.delimiter() == Delimiter::Bracket
        && matches!(g.stream().into_iter().next(), Some(TokenTree::Ident(i)) if i.to_string() == "doc")
}
