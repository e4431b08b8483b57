//! The lexer of text, for `include_ptx!`, the command line and the tests. [`crate::rust_tokens`] converts the Rust tokens of
//! `ptx!`.

use crate::edit::{Edit, Extent};
use std::ops::Range;

use crate::diag::Diagnostic;
use crate::lines::Lines;
use crate::notes::{Comment, Notes, Places};
use crate::parse::{all_digits, errors};
use crate::span::Span;
use crate::token::{Tok, Token};

#[cfg(test)]
mod tests;

/// A lexed text.
#[derive(Debug, Clone, Default)]
pub struct Lexed {
    /// The tokens, without white space and comments.
    pub tokens: Vec<Token>,
    /// `ranges[id]`: the bytes of source token `id`. Bytes outside of every token have numbers here too.
    pub ranges: Vec<Range<usize>>,
    /// Comments, each before the token of its number.
    pub comments: Vec<Comment>,
}

impl Lexed {
    /// The places of the tokens in the text, which is that of a file.
    pub fn places(&self, file: &str, text: &str) -> Places {
        let (lines, mut places) = (Lines::new(text), Places::default());
        for token in &self.tokens {
            places.add(token.id, file, lines.line_column(self.bytes(token.span()).start));
        }
        places
    }

    /// The comments, for the printer.
    pub fn notes(&self) -> Notes {
        Notes { comments: self.comments.clone(), positions: None, places: None }
    }

    /// The bytes that a span covers; empty for a span of another text.
    pub fn bytes(&self, span: Span) -> Range<usize> {
        let at = |id: u32| self.ranges.get(id as usize).cloned();
        match (at(span.first), at(span.last)) {
            // what an expansion made may begin after its end
            (Some(a), Some(b)) if b.end < a.start => a,
            (Some(a), Some(b)) => a.start..b.end,
            _ => 0..0,
        }
    }

    /// The bytes of the text that an edit replaces.
    pub fn edited(&self, text: &str, edit: &Edit) -> Range<usize> {
        self.edited_in(text, 0, edit)
    }

    /// As [`Lexed::edited`], for a text whose first byte has this number among those of the tokens.
    pub fn edited_in(&self, text: &str, first: usize, edit: &Edit) -> Range<usize> {
        let at = self.bytes(edit.span);
        let at = at.start.saturating_sub(first)..at.end.saturating_sub(first);
        match edit.extent {
            Extent::Tokens => {
                let takes_dot = edit.text.is_empty() || edit.text.starts_with('.');
                let dot = takes_dot && text.get(..at.start).is_some_and(|before| before.ends_with('.'));
                at.start - usize::from(dot)..at.end
            }
            Extent::Opcode => dotted_around(text, &at),
            Extent::Behind => {
                let end = dotted_around(text, &at).end;
                end..end
            }
        }
    }
}

/// The dotted word around bytes: the whole opcode of a qualifier.
fn dotted_around(text: &str, at: &Range<usize>) -> Range<usize> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | '%' | '$');
    let before = text.get(..at.start).unwrap_or_default();
    let after = text.get(at.end..).unwrap_or_default();
    let end = at.end + (after.len() - after.trim_start_matches(is_part).len());
    before.trim_end_matches(is_part).len()..end
}

/// Can this byte be part of an identifier (PTX ISA 4.4, `followsym`)?
fn follow(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'$'
}

/// Can this byte be part of a piece of an opcode?
pub(crate) fn in_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

/// The length of a C preprocessor line that names the following line and file: `# 1 "x.ptx" 2`, `#line 7 "x.ptx"`. As in ptxas,
/// it may follow other text, and includes its line end.
fn line_marker(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    let skip = |at: &mut usize, of: fn(&u8) -> bool| {
        let start = *at;
        while *at < bytes.len() && of(&bytes[*at]) {
            *at += 1;
        }
        *at - start
    };
    let blank = |b: &u8| matches!(b, b' ' | b'\t' | b'\r' | 0x0c);
    skip(&mut at, blank);
    if bytes[at..].starts_with(b"line") {
        at += 4;
        skip(&mut at, blank);
    }
    if skip(&mut at, u8::is_ascii_digit) == 0 || skip(&mut at, blank) == 0 || bytes.get(at) != Some(&b'"') {
        return None;
    }
    at += 1;
    skip(&mut at, |b| b.is_ascii() && !matches!(b, b'"' | b'\n'));
    if bytes.get(at) != Some(&b'"') {
        return None;
    }
    at += 1;
    // Flags are digits.
    while skip(&mut at, blank) > 0 && bytes.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    (bytes.get(at) == Some(&b'\n')).then_some(at)
}

/// Lexes a text. Bytes that cannot start a token are reported and skipped.
pub fn lex(text: &str) -> (Lexed, Vec<Diagnostic>) {
    lex_all(text, false)
}

/// As [`lex`], for the body of a macro in a Rust file: `#` begins an attribute.
pub fn lex_rust(text: &str) -> (Lexed, Vec<Diagnostic>) {
    lex_all(text, true)
}

fn lex_all(text: &str, rust: bool) -> (Lexed, Vec<Diagnostic>) {
    let mut lexer = Lexer { text, rust, pos: 0, glued: false, out: Lexed::default(), diags: Vec::new() };
    while lexer.pos < text.len() {
        lexer.next();
    }
    (lexer.out, lexer.diags)
}

struct Lexer<'a> {
    text: &'a str,
    rust: bool,
    pos: usize,
    glued: bool,
    out: Lexed,
    diags: Vec<Diagnostic>,
}

impl Lexer<'_> {
    fn next(&mut self) {
        let bytes = self.text.as_bytes();
        let start = self.pos;
        let second = bytes.get(start + 1).copied();
        match bytes[start] {
            // Substitute ends a file of DOS.
            b' ' | b'\t' | b'\n' | b'\r' | 0x0c | 0x1a => {
                self.pos += 1;
                self.glued = false;
            }
            b'/' if second == Some(b'/') => {
                self.pos = self.text[start..].find('\n').map_or(self.text.len(), |i| start + i);
                self.glued = false;
                self.comment(start);
            }
            b'/' if second == Some(b'*') => {
                self.glued = false;
                let mut end = start + 2;
                while end < bytes.len() && !bytes[end..].starts_with(b"*/") {
                    end += 1;
                }
                if end < bytes.len() {
                    self.pos = end + 2;
                    self.comment(start);
                } else {
                    self.pos = end;
                    let span = self.source(start..start + 2);
                    self.diags.push(errors::unterminated_comment(span));
                }
            }
            b'#' if self.rust => {
                self.pos += 1;
                self.push(start, Tok::Punct('#'));
            }
            b'#' if line_marker(&bytes[start..]).is_some() => {
                self.pos += line_marker(&bytes[start..]).unwrap_or(1);
                self.glued = false;
            }
            // A line of a shell or of the preprocessor.
            b'#' if matches!(self.text[..start].trim_end_matches([' ', '\t', '\r']).as_bytes(), [] | [.., b'\n']) => {
                self.run(|b| b != b'\n');
                let span = self.source(start..start + 1);
                self.diags.push(errors::foreign_line(span));
                self.glued = false;
            }
            // A character of C.
            b'\'' if bytes.get(start + 2) == Some(&b'\'') && second.is_some_and(|c| c.is_ascii_graphic()) => {
                self.pos += 3;
                let span = self.source(start..self.pos);
                let code = second.unwrap_or(0);
                self.diags.push(errors::character(span, code));
                self.push(start, Tok::Number(code.to_string()));
            }
            b'"' => self.string(start),
            b'0'..=b'9' => {
                self.run(in_word);
                self.push(start, Tok::Number(self.text[start..self.pos].to_string()));
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.word(start),
            b'$' if second.is_some_and(follow) => self.word(start),
            // Directly before a name or a number it is not an operator, says ptxas: `7 % 3`.
            b'%' if second.is_some_and(follow) => self.word(start),
            b if b".,;:()[]{}@!|&^~+-*/%<>=?".contains(&b) => {
                self.pos += 1;
                self.push(start, Tok::Punct(b as char));
                self.apart(start);
            }
            _ => {
                // One report for a run of strange bytes, not one a byte.
                let c = self.text[start..].chars().next().unwrap_or('\u{fffd}');
                self.pos += c.len_utf8();
                self.run(|b| !b.is_ascii());
                let span = self.source(start..self.pos);
                self.diags.push(errors::unknown_character(span, &self.text[start..self.pos]));
                self.glued = false;
            }
        }
    }

    /// Reports white space between a `.` or `::` and the following name, which ptxas refuses. In macros it is not always known.
    fn apart(&mut self, start: usize) {
        let bytes = self.text.as_bytes();
        let tokens = &self.out.tokens;
        let (before, glued) = match tokens.as_slice() {
            [.., before, last] => (Some(&before.kind), last.glued),
            [last] => (None, last.glued),
            [] => (None, false),
        };
        let number = glued && matches!(before, Some(Tok::Number(n)) if all_digits(n));
        let joins = match bytes[start] {
            b'.' => !number,
            b':' => glued && before == Some(&Tok::Punct(':')),
            _ => false,
        };
        // `shared ::cta` is as wrong as `shared:: cta`.
        let first = bytes[start] == b':' && tokens.len() > 1 && !tokens[tokens.len() - 2].glued;
        let behind = bytes[self.pos..].trim_ascii_start();
        let gap = bytes.len() - self.pos - behind.len();
        let name = matches!(behind, [b, ..] if in_word(*b));
        if joins && name && (gap > 0 || first) {
            let span = Span::token(self.out.ranges.len() as u32 - 1);
            let joint = if bytes[start] == b'.' { "." } else { "::" };
            self.diags.push(errors::apart(span, joint));
        }
    }

    fn comment(&mut self, start: usize) {
        let behind = self.out.ranges.last().map_or(0, |range| range.end);
        let alone = self.out.ranges.is_empty() || self.text[behind..start].contains('\n');
        let (before, text) = (self.out.ranges.len() as u32, self.text[start..self.pos].trim_end().to_owned());
        self.out.comments.push(Comment { before, alone, text });
    }

    fn run(&mut self, more: fn(u8) -> bool) {
        let bytes = self.text.as_bytes();
        while self.pos < bytes.len() && more(bytes[self.pos]) {
            self.pos += 1;
        }
    }

    fn word(&mut self, start: usize) {
        self.pos += 1;
        self.run(follow);
        self.push(start, Tok::Word(self.text[start..self.pos].to_string()));
    }

    fn string(&mut self, start: usize) {
        let bytes = self.text.as_bytes();
        let mut i = start + 1;
        loop {
            match bytes.get(i) {
                Some(b'"') => {
                    self.pos = i + 1;
                    self.push(start, Tok::Str(self.text[start + 1..i].to_string()));
                    return;
                }
                Some(b'\n') | None => {
                    self.pos = i;
                    let text = self.text[start + 1..i].to_string();
                    self.push(start, Tok::Str(text));
                    let span = Span::token(self.out.ranges.len() as u32 - 1);
                    self.diags.push(errors::unterminated_string(span));
                    return;
                }
                Some(_) => i += 1,
            }
        }
    }

    /// Numbers bytes outside of every token, so that a diagnostic can point at them.
    fn source(&mut self, range: Range<usize>) -> Span {
        self.out.ranges.push(range);
        Span::token(self.out.ranges.len() as u32 - 1)
    }

    fn push(&mut self, start: usize, kind: Tok) {
        let id = self.out.ranges.len() as u32;
        self.out.ranges.push(start..self.pos);
        self.out.tokens.push(Token { kind, id, glued: self.glued });
        self.glued = true;
    }
}
