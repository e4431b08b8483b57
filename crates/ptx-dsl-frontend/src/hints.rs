//! Helps for what only Rust has: a constant that the kernel does not know.

use crate::diag::{Diagnostic, Severity};
use crate::token::{Tok, Token};

/// Errors about a name where a constant could stand.
const CODES: [u16; 7] = [110, 122, 157, 401, 408, 416, 504];

/// Tells how to declare what looks like a constant of Rust: `TILE`. `header`: in the header of the expression form.
pub fn constants(tokens: &[Token], header: bool, found: &mut [Diagnostic]) {
    for d in found.iter_mut().filter(|d| d.severity == Severity::Error && CODES.contains(&d.code)) {
        let value = !matches!(d.code, 110 | 157 | 401)
            || d.message.ends_with("is a constant integer")
            || d.message.starts_with("expected a constant")
            || d.message.starts_with("expected an alignment")
            || d.message.contains("number of registers")
            || d.message.starts_with("register `")
            || d.message.starts_with("name `");
        if let Some((path, name)) = path_at(tokens, d) {
            d.helps = vec![format!(
                "put `const {name}: u32 = {path};` behind the header, with its type, and write `{name}` here"
            )];
            continue;
        }
        let inside = tokens.iter().filter(|t| (d.span.first..=d.span.last).contains(&t.id));
        let name = inside.filter_map(constant).find(|name| !is_declared(tokens, name));
        let Some(name) = name.filter(|_| value) else { continue };
        // what decides which names and statements there are
        let known = d.code == 157;
        let help = if known {
            format!("write a number, or put `const {name}: u32 = 16;` behind the header")
        } else if header {
            format!(
                "for a constant of Rust write `const {name}: u32 = {name}` into the header, with its type and its path"
            )
        } else {
            format!(
                "for a constant of Rust put `const {name}: u32 = {name};` behind the header, with its type and its path"
            )
        };
        d.helps = vec![help];
    }
}

/// The path of a constant of Rust, and its name, if an error is at the first `:` of it.
fn path_at(tokens: &[Token], d: &Diagnostic) -> Option<(String, String)> {
    let colon = tokens.iter().position(|t| t.id == d.span.first).filter(|_| d.code == 110)?;
    let word = |at: usize| match &tokens.get(at)?.kind {
        Tok::Word(word) => Some(word.as_str()),
        _ => None,
    };
    let is_colon = |at: usize| tokens.get(at).is_some_and(|t| t.kind == Tok::Punct(':'));
    let mut path = word(colon.checked_sub(1)?)?.to_owned();
    let (mut at, mut last) = (colon, None);
    while is_colon(at) && is_colon(at + 1) {
        last = Some(word(at + 2)?);
        path = format!("{path}::{}", word(at + 2)?);
        at += 3;
    }
    Some((path, constant(&tokens[at.checked_sub(1)?]).filter(|name| Some(*name) == last)?.to_owned()))
}

/// The name, if Rust programs name constants so.
fn constant(token: &Token) -> Option<&str> {
    let Tok::Word(name) = &token.kind else { return None };
    let capital = name.starts_with(|c: char| c.is_ascii_uppercase());
    let plain = name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    (capital && plain && name != "WARP_SZ").then_some(name)
}

/// Is there a declaration of the constant?
fn is_declared(tokens: &[Token], name: &str) -> bool {
    let word = |token: &Token, text: &str| matches!(&token.kind, Tok::Word(word) if word == text);
    tokens.windows(2).any(|pair| word(&pair[0], "const") && word(&pair[1], name))
}
