//! Converts Rust tokens to PTX tokens; `rust_tokens` of the parser splits and joins what Rust's lexer reads differently. Each
//! source token keeps its span under its number.

use crate::parts::Module;
use proc_macro2::{Delimiter, Ident, Spacing, Span, TokenStream, TokenTree};
use ptx_dsl_frontend::notes::{Comment, Notes, Places};
use ptx_dsl_frontend::parse::repeat::{Expanded, expand, repeats};
use ptx_dsl_frontend::rust_tokens::{infer_glued, join_names, split_literal};
use ptx_dsl_frontend::token::{Tok, Token};
use std::collections::HashSet;
use std::ops::Range;

/// PTX tokens with the Rust spans and Rust tokens they came from.
#[derive(Default)]
pub struct Source {
    pub tokens: Vec<Token>,
    /// Rust spans by token number: where it starts and where it ends (`%r1` is two Rust tokens).
    pub spans: Vec<(Span, Span)>,
    /// Rust token by token number; delimiters of groups have none.
    pub rust: Vec<Option<TokenTree>>,
    /// The tokens that repetitions made, which have the last numbers.
    made: Vec<Made>,
    /// The parts that the module uses.
    parts: Vec<Used>,
    /// The number of tokens up to the last part.
    pub own: usize,
    /// Doc comments of the module, which are all that rustc gives.
    comments: Vec<Comment>,
    /// The place of the cursor, if rust-analyzer asks what may be written.
    pub marker: Option<Marker>,
    /// Groups: number of the opening token, the group, number of the closing token.
    pub groups: Vec<(u32, TokenTree, u32)>,
}

/// The text that rust-analyzer writes at the cursor, as a word or at the end of one, to see where in an expansion a completion belongs.
const MARKER: &str = "raCompletionMarker";

/// A cursor. Its word is not among the tokens.
#[derive(Debug)]
pub struct Marker {
    /// The word as rust-analyzer wrote it.
    pub word: Ident,
    /// The number of the token that it ends, or of the one before which it stands.
    id: u32,
    is_end: bool,
}

/// The line and column where a token starts or ends.
type Position = (usize, usize);

/// The start and end of a token, if the compiler says. rust-analyzer gives line 1 and column 1 for all.
fn place(token: Span) -> Option<(Position, Position)> {
    let start = token.unwrap();
    let end = start.end();
    let (start, end) = ((start.line(), start.column()), (end.line(), end.column()));
    (start.0 > 0 && start < end).then_some((start, end))
}

/// A token that a repetition or a use of a piece made.
struct Made {
    /// The token that it comes from.
    source: u32,
    /// The places where the pieces around the token are used, the innermost first.
    uses: Vec<u32>,
    /// The span that rustc shows for a token of another crate.
    shown: Option<ptx_dsl_frontend::span::Span>,
}

/// The tokens of a part.
struct Used {
    /// The numbers of the tokens.
    ids: Range<u32>,
    /// The place where the module names the part.
    path: Span,
    /// Is the part in another file?
    elsewhere: bool,
    /// Is the part in another crate, so that rustc does not show it?
    foreign: bool,
    broken: bool,
}

/// Reads Rust tokens.
#[derive(Default)]
struct Reader {
    out: Source,
    /// By PTX token: does it touch the previous one, if known?
    known: Vec<bool>,
    /// The end of the last token.
    end: Option<Position>,
    /// The last token, if it is punctuation, and whether the next one touches it if that is punctuation too.
    last: Option<(char, bool)>,
    /// Words that do not touch the `%` or `$` before them: `%$r` of a macro is shown as its `%`, in the macro.
    apart: HashSet<u32>,
}

impl Source {
    /// Converts all of these tokens.
    pub fn new(tokens: TokenStream) -> Self {
        let mut reader = Reader::default();
        reader.read(tokens);
        reader.finish()
    }

    /// Converts a module, with the parts that it uses.
    pub fn of(module: &Module) -> Self {
        let mut reader = Reader::default();
        reader.read(module.before.clone());
        for part in &module.parts {
            let first = reader.out.spans.len() as u32;
            reader.end = None;
            reader.read(part.tokens());
            let ids = first..reader.out.spans.len() as u32;
            let file = |span: Span| span.unwrap().file();
            let elsewhere =
                ids.clone().nth(1).is_some_and(|name| file(reader.out.spans[name as usize].0) != file(part.path));
            let (path, foreign, broken) = (part.path, part.is_foreign(), part.broken);
            // it is not printed where the part is used
            reader.out.comments.clear();
            reader.out.parts.push(Used { ids, path, elsewhere, foreign, broken });
        }
        reader.end = None;
        reader.read(module.rest.clone());
        let mut out = reader.finish();
        let end = out.parts.last().map_or(0, |part| part.ids.end);
        out.own = out.tokens.partition_point(|token| token.id < end);
        out
    }

    /// Replaces `@for` and `@if` by what they stand for. Their tokens have the spans of those that they come from.
    pub fn expand(&mut self) -> Option<Expanded> {
        if !repeats(&self.tokens) {
            return None;
        }
        let mut expanded = expand(&self.tokens, self.spans.len() as u32);
        let free = self.spans.len() as u32;
        expanded.hide(self.hidden());
        let made = |(id, source)| Made { source, uses: expanded.uses(id).collect(), shown: expanded.shown(id) };
        self.made = (free..).zip(expanded.sources()).map(made).collect();
        let spans: Vec<_> = self.made.iter().map(|made| self.spans_of(made.source)).collect();
        self.spans.extend(spans);
        self.tokens = std::mem::take(&mut expanded.tokens);
        Some(expanded)
    }

    /// The notes to print beside the module. `lines`: the places of all tokens.
    pub fn notes(&mut self, lines: bool) -> Notes {
        let places = lines.then(|| {
            let mut places = Places::default();
            for token in &self.tokens {
                let at = self.span(token.span()).0.unwrap();
                places.add(token.id, &at.file(), (at.line(), at.column()));
            }
            places
        });
        Notes { comments: std::mem::take(&mut self.comments), positions: None, places }
    }

    /// The tokens of other crates, which rustc does not show.
    pub fn hidden(&self) -> Vec<Range<u32>> {
        self.parts.iter().filter(|part| part.foreign).map(|part| part.ids.clone()).collect()
    }

    /// The Rust span of a range of tokens: where it starts and where it ends. rustc shows nothing of another crate, so of a piece from
    /// there it is the argument or the use, and of anything else the path.
    pub fn span(&self, span: ptx_dsl_frontend::span::Span) -> (Span, Span) {
        let shown = self.made_token(span.first).and_then(|made| made.shown).unwrap_or(span);
        match self.part(shown.first) {
            Some(part) if part.foreign => (part.path, part.path),
            _ => (self.spans_of(shown.first).0, self.spans_of(shown.last).1),
        }
    }

    /// The tokens of the module itself.
    pub fn without_parts(&self) -> Vec<Token> {
        self.tokens.iter().filter(|token| self.part(token.id).is_none()).cloned().collect()
    }

    /// The place in `tokens` of the token that is being written, or before which one is.
    pub fn marked(&self) -> Option<usize> {
        let Marker { id, is_end, .. } = *self.marker.as_ref()?;
        let after = |id: u32| self.tokens.partition_point(|token| token.id < id);
        if is_end {
            return after(id + 1).checked_sub(1);
        }
        let at = after(id);
        // `%` is the beginning of a name, also where the next word makes one of it
        let sigil = at.checked_sub(1).filter(|before| {
            let token = &self.tokens[*before];
            let begins = match &token.kind {
                Tok::Punct(c) => matches!(c, '%' | '$'),
                Tok::Word(word) => word.starts_with(['%', '$']),
                _ => false,
            };
            token.id + 1 == id && begins
        });
        Some(sigil.unwrap_or(at))
    }

    /// Is the token in this call of the macro, and not in a part?
    pub fn is_own(&self, token: &Token) -> bool {
        self.part(token.id).is_none()
    }

    /// The part that the token is from.
    fn part(&self, id: u32) -> Option<&Used> {
        let id = self.source(id);
        self.parts.iter().find(|part| part.ids.contains(&id))
    }

    /// Is it in a part that the module uses?
    pub fn is_of_part(&self, span: ptx_dsl_frontend::span::Span) -> bool {
        self.part(span.first).is_some()
    }

    /// Is it in a part whose definition has errors?
    pub fn is_broken(&self, span: ptx_dsl_frontend::span::Span) -> bool {
        self.part(span.first).is_some_and(|part| part.broken)
    }

    /// The place in another crate, with the line.
    pub fn place(&self, span: ptx_dsl_frontend::span::Span) -> Option<String> {
        let part = self.part(span.first).filter(|part| part.foreign)?;
        let (first, last) = (self.spans_of(span.first).0.unwrap(), self.spans_of(span.last).1.unwrap().end());
        let on_line = |token: &Span| {
            let token = token.unwrap();
            // a bracket may have the place of its group
            token.line() == first.line() && token.end().line() == first.line() && token.file() == first.file()
        };
        let tokens = part.ids.clone().map(|id| self.spans_of(id).0).filter(on_line);
        let texts = tokens.map(|token| Some((token.unwrap().column(), token.source_text()?)));
        let tokens: Vec<(usize, String)> = texts.collect::<Option<_>>().unwrap_or_default();
        let mut place = format!("{}:{}:{}", first.file(), first.line(), first.column());
        let Some(begin) = tokens.first().map(|(column, _)| *column) else { return Some(place) };
        let mut line = String::new();
        for (column, text) in tokens {
            let gap = column.saturating_sub(begin + line.chars().count());
            line.extend(std::iter::repeat_n(' ', gap));
            line.push_str(&text);
        }
        let from = first.column().saturating_sub(begin);
        let to = if last.line() == first.line() { last.column().saturating_sub(begin) } else { line.chars().count() };
        let marks = "^".repeat(to.saturating_sub(from).max(1));
        place.push_str(&format!("\n  | {line}\n  | {}{marks}", " ".repeat(from)));
        Some(place)
    }

    /// The token of this number, if it was made.
    fn made_token(&self, id: u32) -> Option<&Made> {
        self.made.get((id as usize).checked_sub(self.rust.len())?)
    }

    fn source(&self, id: u32) -> u32 {
        self.made_token(id).map_or(id, |made| made.source)
    }

    fn spans_of(&self, id: u32) -> (Span, Span) {
        match self.spans.get(id as usize) {
            Some(spans) => *spans,
            None => (Span::call_site(), Span::call_site()),
        }
    }

    /// The line of the first token of a range, 0 if unknown. In the file of the module: of a part from elsewhere, that of its use.
    pub fn line(&self, span: ptx_dsl_frontend::span::Span) -> u32 {
        let elsewhere = |id: u32| self.part(id).filter(|part| part.elsewhere);
        let Some(part) = elsewhere(span.first) else { return self.span(span).0.unwrap().line() as u32 };
        let used = self.uses(span.first).last().filter(|used| elsewhere(**used).is_none());
        used.map_or(part.path, |used| self.spans_of(*used).0).unwrap().line() as u32
    }

    /// The file and line of a token in a piece, then those where the piece is used, the innermost first; empty for other tokens.
    pub fn lines_of_piece(&self, id: u32) -> Vec<(String, u32)> {
        let uses = self.uses(id);
        let own = (!uses.is_empty()).then_some(id);
        let place = |id| {
            let at = self.spans_of(id).0.unwrap();
            (at.file(), at.line() as u32)
        };
        own.into_iter().chain(uses.iter().copied()).map(place).collect()
    }

    /// The places where the pieces around a token are used, the innermost first.
    fn uses(&self, id: u32) -> &[u32] {
        self.made_token(id).map_or(&[], |made| &made.uses)
    }

    /// The Rust tokens of a range.
    pub fn rust(&self, span: ptx_dsl_frontend::span::Span) -> TokenStream {
        let mut out = Vec::new();
        let (mut id, last) = (self.source(span.first), self.source(span.last));
        while id <= last {
            if let Some((tree, close)) = self.group(id, last) {
                out.push(tree.clone());
                id = close;
            } else if let Some(Some(tree)) = self.rust.get(id as usize) {
                out.push(tree.clone());
            }
            id += 1;
        }
        out.into_iter().collect()
    }

    /// The group that begins here, if it ends by then, and where it ends.
    fn group(&self, first: u32, last: u32) -> Option<(&TokenTree, u32)> {
        for (open, tree, close) in self.groups.as_slice() {
            if *open == first && *close <= last {
                return Some((tree, *close));
            }
        }
        None
    }
}

impl Reader {
    fn finish(self) -> Source {
        let Reader { mut out, known, apart, .. } = self;
        infer_glued(&mut out.tokens, &known);
        let spans = &mut out.spans;
        out.tokens = join_names(&out.tokens, &mut |first, last| {
            if !apart.contains(&last) {
                spans[first as usize].1 = spans[last as usize].1;
            }
        });
        out
    }

    /// Numbers a source token.
    fn id(&mut self, span: Span, token: Option<TokenTree>) -> u32 {
        self.out.spans.push((span, span));
        self.out.rust.push(token);
        self.out.spans.len() as u32 - 1
    }

    /// Does this token touch the previous one, if known? `punctuation`: the character, and whether the next one touches it.
    fn glued(&mut self, span: Span, punctuation: Option<(char, bool)>) -> Option<bool> {
        let place = place(span);
        // `%$r` and `$op.u32` of a macro: what would form a name stands in two lines
        let parted =
            matches!((self.last, punctuation), (Some(('%' | '$' | '.' | ':', _)), None) | (None, Some(('.' | ':', _))));
        let glued = match (self.end, place) {
            // Tokens of two places have been put together by a macro.
            (Some(end), Some((start, _))) if end <= start && !(parted && end.0 != start.0) => Some(end == start),
            _ => self.last.filter(|_| punctuation.is_some()).map(|(_, joint)| joint),
        };
        if let (None, Some(('%' | '$', _)), None) = (glued, self.last, punctuation) {
            // the grammar tells `7 % $n` from `%$r`
            if let Some(known) = self.known.last_mut() {
                *known = false;
            }
            if self.end.is_some() && place.is_some() {
                self.apart.insert(self.out.spans.len() as u32);
            }
        }
        self.end = place.map(|(_, end)| end);
        self.last = punctuation;
        glued
    }

    fn push(&mut self, kind: Tok, id: u32, glued: Option<bool>) {
        self.out.tokens.push(Token { kind, id, glued: glued == Some(true) });
        self.known.push(glued.is_some());
    }

    fn bracket(&mut self, bracket: char, span: Span) -> u32 {
        let glued = self.glued(span, None);
        let id = self.id(span, None);
        self.push(Tok::Punct(bracket), id, glued);
        id
    }

    fn comment(&mut self, doc: &TokenTree) {
        let TokenTree::Group(group) = doc else { return };
        let Some(TokenTree::Literal(text)) = group.stream().into_iter().last() else { return };
        let Ok(text) = syn::parse2::<syn::LitStr>(TokenTree::Literal(text).into()) else { return };
        let before = self.out.spans.len() as u32;
        let lines: Vec<String> = text.value().lines().map(|line| format!("//{line}")).collect();
        self.out.comments.push(Comment { before, alone: true, text: lines.join("\n") });
    }

    fn read(&mut self, tokens: TokenStream) {
        let mut trees = tokens.into_iter().peekable();
        while let Some(tree) = trees.next() {
            match &tree {
                TokenTree::Group(g) => {
                    let (open, close) = match g.delimiter() {
                        Delimiter::Parenthesis => ('(', ')'),
                        Delimiter::Brace => ('{', '}'),
                        Delimiter::Bracket => ('[', ']'),
                        Delimiter::None => {
                            self.read(g.stream());
                            continue;
                        }
                    };
                    let first = self.bracket(open, g.span_open());
                    self.read(g.stream());
                    let last = self.bracket(close, g.span_close());
                    self.out.groups.push((first, tree.clone(), last));
                }
                TokenTree::Ident(i) => {
                    let mut text = i.to_string();
                    if let Some(plain) = text.strip_prefix("r#") {
                        text = plain.to_owned();
                    }
                    if let Some(typed) = text.strip_suffix(MARKER) {
                        let is_end = !typed.is_empty();
                        self.out.marker = Some(Marker { id: self.out.spans.len() as u32, is_end, word: i.clone() });
                        if !is_end {
                            continue;
                        }
                        text = typed.to_owned();
                    }
                    let glued = self.glued(i.span(), None);
                    let id = self.id(i.span(), Some(tree.clone()));
                    self.push(Tok::Word(text), id, glued);
                }
                TokenTree::Punct(p) => {
                    // A doc comment inside PTX is a comment.
                    if p.as_char() == '#'
                        && let Some(doc) = trees.next_if(is_doc)
                    {
                        self.comment(&doc);
                        continue;
                    }
                    let glued = self.glued(p.span(), Some((p.as_char(), p.spacing() == Spacing::Joint)));
                    let id = self.id(p.span(), Some(tree.clone()));
                    self.push(Tok::Punct(p.as_char()), id, glued);
                }
                TokenTree::Literal(l) => {
                    let glued = self.glued(l.span(), None);
                    let id = self.id(l.span(), Some(tree.clone()));
                    let tokens = &mut self.out.tokens;
                    split_literal(&l.to_string(), id, glued == Some(true), tokens);
                    self.known.push(glued.is_some());
                    self.known.resize(tokens.len(), true);
                }
            }
        }
    }
}

fn is_doc(tree: &TokenTree) -> bool {
    let TokenTree::Group(g) = tree else { return false };
    g.delimiter() == Delimiter::Bracket
        && matches!(g.stream().into_iter().next(), Some(TokenTree::Ident(i)) if i == "doc")
}

/// The line and the column of a place, for names of hidden items.
pub fn position(at: Span) -> String {
    let at = at.unwrap();
    format!("{}_{}", at.line(), at.column())
}
