//! The little of Rust that the macros have to read: types of parameters, a string, names. A parser of all of Rust would make up
//! half of the time that it takes to build this crate.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};

/// A type, as far as the macros tell types apart. What is no type at all is rustc's to refuse where it stands.
pub enum RustType {
    /// `&[T]` or `&mut [T]`, with its `T`.
    Slice {
        /// With `mut`.
        mutable: bool,
        /// `T`.
        element: TokenStream,
    },
    /// Another reference.
    Reference {
        /// With `mut`.
        mutable: bool,
    },
    /// Anything else.
    Value(TokenStream),
}

/// Reads a type; nothing if these tokens cannot be one.
pub fn rust_type(tokens: TokenStream) -> Option<RustType> {
    let list: Vec<TokenTree> = plain(tokens).into_iter().collect();
    let TokenTree::Punct(p) = list.first()? else { return type_like(&list).then(|| value(list)) };
    if p.as_char() != '&' {
        return type_like(&list).then(|| value(list));
    }
    let mut rest = &list[1..];
    if let [TokenTree::Punct(quote), TokenTree::Ident(_), more @ ..] = rest
        && quote.as_char() == '\''
    {
        rest = more;
    }
    let mutable = matches!(rest.first(), Some(TokenTree::Ident(i)) if *i == "mut");
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

/// A name as Rust takes it: keywords raw, and those that cannot be raw with a `_` behind.
pub fn name(text: &str, span: Span) -> Ident {
    const KEYWORDS: &str = " as async await break const continue dyn else enum extern false fn for if impl in let loop match mod \
        move mut pub ref return static struct trait true type unsafe use where while abstract become box do final gen macro \
        override priv try typeof unsized virtual yield ";
    match text {
        "self" | "Self" | "super" | "crate" | "_" => Ident::new(&format!("{text}_"), span),
        word if KEYWORDS.split(' ').any(|k| !k.is_empty() && k == word) => Ident::new_raw(text, span),
        _ => Ident::new(text, span),
    }
}

/// The value of a string literal and where it stands; where something else stands, if it is none.
pub fn string(tokens: TokenStream) -> Result<(String, Span), Span> {
    let Some(token) = plain(tokens).into_iter().next() else { return Err(Span::call_site()) };
    let span = token.span();
    match token {
        TokenTree::Literal(l) => text_of(&l.to_string()).map(|s| (s, span)).ok_or(span),
        _ => Err(span),
    }
}

/// Without the invisible group that a `$ty:ty` of a macro stands in.
fn plain(tokens: TokenStream) -> TokenStream {
    let mut all = tokens.clone().into_iter();
    match (all.next(), all.next()) {
        (Some(TokenTree::Group(g)), None) if g.delimiter() == Delimiter::None => plain(g.stream()),
        _ => tokens,
    }
}

fn value(list: Vec<TokenTree>) -> RustType {
    RustType::Value(list.into_iter().collect())
}

/// `[T]`, not `[T; N]`.
fn is_slice(group: &Group) -> bool {
    let mut tokens = group.stream().into_iter().peekable();
    tokens.peek().is_some() && !tokens.any(|t| matches!(t, TokenTree::Punct(p) if p.as_char() == ';'))
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
    let mut rest = literal.strip_prefix('"')?.strip_suffix('"')?.chars().peekable();
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
            'x' => {
                let digits: String = rest.by_ref().take(2).collect();
                out.push(char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?);
            }
            'u' => {
                let digits: String = rest.by_ref().skip(1).take_while(|c| *c != '}').filter(|c| *c != '_').collect();
                out.push(char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?);
            }
            '\n' => while rest.next_if(|c| c.is_whitespace()).is_some() {},
            other => out.push(other),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> &'static str {
        match rust_type(text.parse().expect("tokens")) {
            None => "none",
            Some(RustType::Slice { mutable: true, .. }) => "slice_mut",
            Some(RustType::Slice { .. }) => "slice",
            Some(RustType::Reference { .. }) => "reference",
            Some(RustType::Value(_)) => "value",
        }
    }

    #[test]
    fn types_are_told_apart() {
        for (text, expected) in [
            ("&[f32]", "slice"),
            ("&mut [half::f16]", "slice_mut"),
            ("&'a [[f32; 4]]", "slice"),
            ("& 'static mut [u8]", "slice_mut"),
            ("&[f32; 4]", "reference"),
            ("&str", "reference"),
            ("&", "none"),
            ("", "none"),
            ("u32", "value"),
            ("::core::num::Wrapping<u32>", "value"),
            ("[u32; 4]", "value"),
            ("fn(u32) -> u32", "value"),
            ("Vec<u32", "none"),
            ("u32 > u8", "none"),
            ("5", "none"),
            ("{}", "none"),
        ] {
            assert_eq!(kind(text), expected, "{text}");
        }
        assert_eq!(path_end(&"half::f16".parse().expect("tokens")).as_deref(), Some("f16"));
        assert_eq!(path_end(&"Vec<u8>".parse().expect("tokens")), None);
    }

    #[test]
    fn strings_and_names() {
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
        let named = |text| name(text, Span::call_site()).to_string();
        assert_eq!((named("k"), named("match"), named("self")), ("k".into(), "r#match".into(), "self_".into()));
    }
}
