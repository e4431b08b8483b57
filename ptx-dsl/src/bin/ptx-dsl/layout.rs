//! How `fmt` lays out a text: no token and no comment changes, lines stay lines. `fuzz/` includes this file as well.

use std::ops::Range;

use ptx_dsl_syntax::lex::lex;
use ptx_dsl_syntax::token::{Tok, Token};

/// The text laid out, or nothing if its lexer complains or a token would change.
pub fn layout(text: &str) -> Option<String> {
    // What was no UTF-8 is not written back.
    let (lexed, wrong) = lex(text);
    if !wrong.is_empty() || text.contains('\u{fffd}') {
        return None;
    }
    let starts: Vec<Range<usize>> = lexed.tokens.iter().map(|t| lexed.ranges[t.id as usize].clone()).collect();
    let mut out = String::with_capacity(text.len());
    let (mut depth, mut paren, mut next, mut at, mut blank) = (0usize, 0usize, 0, 0, 0);
    let mut open_statement = false;
    for line in text.split('\n') {
        let end = at + line.len();
        let first = next;
        while next < starts.len() && starts[next].start <= end {
            next += 1;
        }
        let tokens = &lexed.tokens[first..next];
        let ranges = &starts[first..next];
        // A line that begins or ends within a comment stays as it is.
        let inside = !gaps_are_plain(text, at..end, ranges);
        let content = line.trim();
        if content.is_empty() {
            blank += 1;
        } else {
            if blank > 0 && !out.is_empty() {
                out.push('\n');
            }
            blank = 0;
            let closes = tokens.iter().take_while(|t| t.kind == Tok::Punct('}')).count();
            let opens = tokens.first().is_some_and(|t| t.kind == Tok::Punct('{'));
            let mut level = depth.saturating_sub(closes);
            if (open_statement || paren > 0) && closes == 0 && !opens && !tokens.is_empty() {
                level += 1;
            } else if label(tokens) && level > 0 {
                level -= 1;
            }
            if inside {
                out.push_str(line.trim_end());
            } else {
                out.push_str(&"    ".repeat(level.min(32)));
                lay_out(text, at..end, ranges, tokens, &mut out);
            }
            out.push('\n');
        }
        for t in tokens {
            match t.kind {
                Tok::Punct('{') => depth += 1,
                Tok::Punct('}') => depth = depth.saturating_sub(1),
                Tok::Punct('(') => paren += 1,
                Tok::Punct(')') => paren = paren.saturating_sub(1),
                _ => {}
            }
        }
        if let Some(last) = tokens.last() {
            // A directive of the header or a function needs no `;`; an instruction that goes on has none yet.
            open_statement = depth > 0 && matches!(last.kind, Tok::Punct(','));
        }
        at = end + 1;
    }
    let (again, wrong) = lex(&out);
    if !wrong.is_empty() || again.tokens.len() != lexed.tokens.len() {
        return None;
    }
    // White space tells `x[1]` from `x [1]`; behind a comma it tells nothing.
    let kept = again.tokens.iter().zip(&lexed.tokens).enumerate().all(|(i, (a, b))| {
        let free = i == 0 || again.tokens[i - 1].kind == Tok::Punct(',') || matches!(a.kind, Tok::Punct(',' | ';'));
        a.kind == b.kind && (free || a.glued == b.glued)
    });
    kept.then_some(out)
}

/// `name:` at the beginning of a line.
fn label(tokens: &[Token]) -> bool {
    matches!(tokens, [Token { kind: Tok::Word(_), .. }, Token { kind: Tok::Punct(':'), .. }, rest @ ..]
        if !matches!(rest.first(), Some(Token { kind: Tok::Punct(':'), glued: true, .. })))
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

/// Tokens with one space where there is white space, one behind each comma, none at the end.
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
    let rest = text[at..line.end].trim();
    if !rest.is_empty() {
        if began {
            out.push(' ');
        }
        out.push_str(rest);
    }
}
