//! The little of Rust that the macros have to read: types of parameters, a string, names. A parser of all of Rust would make up
//! half of the time that it takes to build this crate.

use crate::trees;
use proc_macro::{Delimiter, Group, Span, TokenStream, TokenTree};
use ptx_dsl_codegen::RustType;
use std::str::Chars;

/// Reads a type; nothing if these tokens cannot be one.
pub fn rust_type(tokens: TokenStream) -> Option<RustType<TokenStream>> {
    let tokens = plain(tokens);
    let list = trees::list(tokens.clone());
    let mut rest = match list.as_slice() {
        [] => return None,
        [TokenTree::Punct(p), rest @ ..] if p.as_char() == '&' => rest,
        list => return if type_like(list) { Some(RustType::Value(tokens)) } else { None },
    };
    if let [TokenTree::Punct(quote), TokenTree::Ident(_), more @ ..] = rest
        && quote.as_char() == '\''
    {
        rest = more;
    }
    let mutable = matches!(rest.first(), Some(TokenTree::Ident(i)) if i.to_string() == "mut");
    rest = &rest[usize::from(mutable)..];
    Some(match rest {
        [] => return None,
        [TokenTree::Group(g)] if g.delimiter() == Delimiter::Bracket && is_slice(g) => {
            RustType::Slice { mutable, element: g.stream() }
        }
        _ => RustType::Reference { mutable },
    })
}

/// The last name of a path: `f16` of `half::f16`.
pub fn path_end(tokens: &TokenStream) -> Option<String> {
    let mut name = None;
    for token in plain(tokens.clone()) {
        match token {
            TokenTree::Ident(i) => name = Some(i.to_string()),
            TokenTree::Punct(p) if p.as_char() == ':' => {}
            _ => return None,
        }
    }
    name
}

/// The value of a string literal and where it stands; where something else stands, if it is none.
pub fn string(token: Option<&TokenTree>) -> Result<(String, Span), Span> {
    let Some(token) = token else { return Err(Span::call_site()) };
    let Some(token) = plain(token.clone().into()).into_iter().next() else { return Err(Span::call_site()) };
    let span = token.span();
    if let TokenTree::Literal(l) = token
        && let Some(text) = text_of(&l.to_string())
    {
        return Ok((text, span));
    }
    Err(span)
}

/// Without the invisible group that a `$ty:ty` of a macro stands in.
fn plain(tokens: TokenStream) -> TokenStream {
    let mut all = tokens.clone().into_iter();
    match (all.next(), all.next()) {
        (Some(TokenTree::Group(g)), None) if g.delimiter() == Delimiter::None => plain(g.stream()),
        _ => tokens,
    }
}

/// `[T]`, not `[T; N]`.
fn is_slice(group: &Group) -> bool {
    let mut empty = true;
    for token in group.stream() {
        if let TokenTree::Punct(p) = token
            && p.as_char() == ';'
        {
            return false;
        }
        empty = false;
    }
    !empty
}

/// Does it begin as a type, and close each `<`?
fn type_like(list: &[TokenTree]) -> bool {
    let begins = match list.first() {
        Some(TokenTree::Ident(_)) => true,
        Some(TokenTree::Group(g)) => g.delimiter() != Delimiter::Brace,
        Some(TokenTree::Punct(p)) => matches!(p.as_char(), ':' | '*' | '<' | '!'),
        _ => false,
    };
    let mut open = 0i32;
    let mut before = ' ';
    for token in list {
        let c = if let TokenTree::Punct(p) = token { p.as_char() } else { ' ' };
        match c {
            '<' => open += 1,
            // Not that of `->`.
            '>' if before != '-' => open -= 1,
            ';' | '=' if open == 0 => return false,
            _ => {}
        }
        if open < 0 {
            return false;
        }
        before = c;
    }
    begins && open == 0
}

/// What a string literal says, raw or with escapes.
fn text_of(literal: &str) -> Option<String> {
    if let Some(raw) = literal.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        let inner = raw.get(hashes + 1..raw.len().checked_sub(hashes + 1)?)?;
        return Some(inner.to_string());
    }
    let mut rest = literal.strip_prefix('"')?.strip_suffix('"')?.chars();
    let mut out = String::new();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match rest.next()? {
            'n' => out.push('\n'),
            'r' => out.push('\r'),
            't' => out.push('\t'),
            '0' => out.push('\0'),
            'x' => out.push(char::from_u32(rest.next()?.to_digit(16)? * 16 + rest.next()?.to_digit(16)?)?),
            'u' => {
                rest.next();
                out.push(braced(&mut rest)?);
            }
            '\n' => rest = rest.as_str().trim_start().chars(),
            other => out.push(other),
        }
    }
    Some(out)
}

/// `e9}` of `\u{e9}`.
fn braced(rest: &mut Chars<'_>) -> Option<char> {
    let mut code = 0;
    for c in rest {
        match c {
            '}' => break,
            '_' => {}
            digit => code = code * 16 + digit.to_digit(16)?,
        }
    }
    char::from_u32(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_mean_what_rust_says() {
        for (literal, expected) in [
            (r#""a/b.ptx""#, Some("a/b.ptx")),
            (r##"r#"a\b"#"##, Some("a\\b")),
            (r#"r"""#, Some("")),
            (r#""a\\b\"\x41\u{e9}\u{1_F600}\t""#, Some("a\\b\"A\u{e9}\u{1F600}\t")),
            ("\"a\\\n   b\"", Some("ab")),
            ("5", None),
            ("b\"x\"", None),
        ] {
            assert_eq!(text_of(literal).as_deref(), expected, "{literal}");
        }
    }
}
