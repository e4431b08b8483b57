//! The layout of `fmt`: it changes no token and no comment, and keeps lines. `fuzz/` includes this file too.

// A path, because other programs include this file as a module.
#[path = "nesting.rs"]
mod nesting;

use std::ops::Range;

use ptx_dsl_frontend::diag::Diagnostic;
use ptx_dsl_frontend::lex::{Lexed, lex};
use ptx_dsl_frontend::token::{Tok, Token};

use nesting::Nesting;

/// Formats a file; `None` if the lexer reports an error or a token would change. Bytes outside of ASCII occur only in comments,
/// in any encoding, and are kept.
pub fn layout(file: &[u8]) -> Option<Vec<u8>> {
    let text: String = file.iter().map(|&b| if b.is_ascii() { b as char } else { stand_in(b) }).collect();
    let laid_out = layout_text(&text, "", lex)?;
    Some(laid_out.chars().map(|c| c as u8).collect())
}

/// A character for a byte outside of ASCII, which nothing treats as white space; its lowest eight bits are the byte.
fn stand_in(byte: u8) -> char {
    char::from_u32(0xe000 + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// `lex`, or `lex_rust`.
pub type Lexer = fn(&str) -> (Lexed, Vec<Diagnostic>);

/// Each line that begins with a token or a comment begins with `indent`.
pub fn layout_text(text: &str, indent: &str, lex: Lexer) -> Option<String> {
    let (lexed, wrong) = lex(text);
    if !wrong.is_empty() {
        return None;
    }
    let starts: Vec<Range<usize>> = lexed.tokens.iter().map(|t| lexed.ranges[t.id as usize].clone()).collect();
    let comments = block_comments(text, &starts);
    let mut out = String::with_capacity(text.len());
    let (mut nesting, mut next, mut at, mut blank) = (Nesting::default(), 0, 0, 0);
    for line in text.split('\n') {
        let end = at + line.len();
        let first = next;
        while next < starts.len() && starts[next].start <= end {
            next += 1;
        }
        let tokens = &lexed.tokens[first..next];
        let ranges = &starts[first..next];
        let (begins_inside, ends_inside) = (is_within(&comments, at), is_within(&comments, end));
        let content = line.trim();
        if begins_inside && tokens.is_empty() {
            // A comment stays as it is.
            out.push_str(line);
            out.push_str(if end < text.len() { "\n" } else { "" });
        } else if content.is_empty() {
            blank += 1;
        } else {
            if blank > 0 && !out.is_empty() {
                out.push('\n');
            }
            blank = 0;
            let level = nesting.level(&lexed.tokens, first..next);
            if begins_inside || ends_inside || !gaps_are_plain(text, at..end, ranges) {
                out.push_str(if ends_inside { line } else { line.trim_end() });
            } else {
                out.push_str(indent);
                out.push_str(&"    ".repeat(level.min(32)));
                lay_out(text, at..end, ranges, tokens, &mut out);
            }
            out.push('\n');
        }
        nesting.pass(&lexed.tokens, first..next);
        at = end + 1;
    }
    let (again, wrong) = lex(&out);
    if !wrong.is_empty() || again.tokens.len() != lexed.tokens.len() {
        return None;
    }
    // White space tells `x[1]` from `x [1]`; after a comma it tells nothing.
    let kept = again.tokens.iter().zip(&lexed.tokens).enumerate().all(|(i, (a, b))| {
        let free = i == 0 || again.tokens[i - 1].kind == Tok::Punct(',') || matches!(a.kind, Tok::Punct(',' | ';'));
        a.kind == b.kind && (free || a.glued == b.glued)
    });
    kept.then_some(out)
}

/// The block comments of a text. Between tokens are white space, comments, and preprocessor lines.
fn block_comments(text: &str, tokens: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for token in tokens.iter().cloned().chain(std::iter::once(text.len()..text.len())) {
        let mut gap = &text[start..token.start];
        while let Some(at) = gap.find(['/', '#']) {
            let rest = &gap[at..];
            let length = match rest.strip_prefix("/*") {
                Some(behind) => behind.find("*/").map_or(rest.len(), |i| i + 4),
                None => rest.find('\n').unwrap_or(rest.len()),
            };
            if rest.starts_with("/*") {
                let begin = token.start - rest.len();
                found.push(begin..begin + length);
            }
            gap = &rest[length..];
        }
        start = token.end;
    }
    found
}

/// Is the byte inside of a comment, after its beginning?
fn is_within(comments: &[Range<usize>], byte: usize) -> bool {
    let behind = comments.partition_point(|c| c.start < byte);
    behind > 0 && byte < comments[behind - 1].end
}

/// Is everything between the tokens white space or a comment that ends on this line?
fn gaps_are_plain(text: &str, line: Range<usize>, ranges: &[Range<usize>]) -> bool {
    let mut at = line.start;
    let ends = ranges.iter().map(|r| (r.start, r.end)).chain([(line.end, line.end)]);
    for (start, end) in ends {
        if end > line.end {
            return false;
        }
        let gap = text.get(at.min(start)..start).unwrap_or("").trim();
        let whole = gap.is_empty() || gap.starts_with("//") || (gap.starts_with("/*") && gap.ends_with("*/"));
        if !whole || gap == "/*/" {
            return false;
        }
        at = end;
    }
    true
}

/// Joins tokens: one space for white space, one after each comma, none at the end. White space before a comment at the end stays.
fn lay_out(text: &str, line: Range<usize>, ranges: &[Range<usize>], tokens: &[Token], out: &mut String) {
    let mut at = line.start;
    let mut began = false;
    let mut comma = false;
    for (range, token) in ranges.iter().zip(tokens) {
        let gap = &text[at..range.start];
        let comment = gap.trim();
        let punctuation = matches!(token.kind, Tok::Punct(',' | ';'));
        if began && !punctuation && (comma || !gap.is_empty()) {
            out.push(' ');
        }
        if !comment.is_empty() {
            if began && punctuation {
                out.push(' ');
            }
            out.push_str(comment);
            if !punctuation {
                out.push(' ');
            }
        }
        out.push_str(&text[range.clone()]);
        began = true;
        comma = token.kind == Tok::Punct(',');
        at = range.end;
    }
    let rest = &text[at..line.end];
    let comment = rest.trim();
    if !comment.is_empty() {
        if began {
            // The author may have put the comments of several lines below each other.
            let gap = &rest[..rest.len() - rest.trim_start().len()];
            out.push_str(if gap.is_empty() { " " } else { gap });
        }
        out.push_str(comment);
    }
}
