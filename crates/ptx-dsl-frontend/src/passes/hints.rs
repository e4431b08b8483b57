//! Helps for what only Rust has: a constant that the kernel does not know.

use crate::diag::{Constant, Diagnostic, Severity};
use crate::token::{Token, is_at, word_at};
use std::ops::Range;

/// Tells how to declare what looks like a Rust constant: `TILE`. `header`: in the header of the expression form.
pub fn constants(tokens: &[Token], header: bool, found: &mut [Diagnostic]) {
    let mut pieces = None;
    for d in found.iter_mut().filter(|d| d.severity == Severity::Error) {
        let Some(kind) = d.constant else { continue };
        let known = matches!(kind, Constant::Known | Constant::Name);
        if let Some((path, name)) = path_at(tokens, d).filter(|_| !known) {
            d.only_help(format!(
                "put `const {name}: u32 = {path};` after the header, with its type, and write `{name}` here"
            ));
            continue;
        }
        let pieces = pieces.get_or_insert_with(|| pieces_of(tokens));
        let mut inside = (0..tokens.len()).filter(|at| (d.span.first..=d.span.last).contains(&tokens[*at].id));
        let outside = |at: &usize| around(pieces, *at).is_none();
        let elsewhere = |at: usize| constant(&tokens[at]).filter(|name| is_elsewhere(tokens, name, at));
        if let Some(name) = inside.clone().filter(outside).find_map(elsewhere) {
            let place = if header { "into the header" } else { "after the header" };
            d.only_help(format!("move `const {name}` {place}: it is declared in a body, and is not visible here"));
            continue;
        }
        let Some((at, name)) = inside.find_map(|at| {
            let name = constant(&tokens[at])?;
            (!is_declared(tokens, name, pieces, around(pieces, at))).then_some((at, name))
        }) else {
            continue;
        };
        let (braces, piece) = (open_braces(tokens, at), around(pieces, at));
        if kind == Constant::Name && piece.is_none() {
            continue;
        }
        let part = braces.first().is_some_and(|open| is_part(tokens, *open));
        let value = match (known, part) {
            (true, _) => "16".to_owned(),
            (false, true) => format!("crate::{name}"),
            (false, false) => name.to_owned(),
        };
        let declare = match part {
            true => format!("put `const {name}: u32 = {value};` into the part"),
            false if header => format!("write `const {name}: u32 = {value}` into the header"),
            false => format!("put `const {name}: u32 = {value};` after the header"),
        };
        let help = match piece {
            Some(piece) => format!("add `const {name}: u32` to the parameters of `{}`, or {declare}", piece.name),
            None if known => format!("write a number, or {declare}"),
            None => format!("for a Rust constant {declare}, with its type and its path"),
        };
        d.only_help(help);
    }
}

/// The path of a Rust constant, and its name, if an error is at the first word of the path or at the `:` after it.
fn path_at(tokens: &[Token], d: &Diagnostic) -> Option<(String, String)> {
    let at = tokens.iter().position(|t| t.id == d.span.first)?;
    let colon = if tokens[at].is(':') { at } else { at + 1 };
    let mut path = word_at(tokens, colon.checked_sub(1)?)?.to_owned();
    let (mut at, mut last) = (colon, None);
    while is_at(tokens, at, ':') && is_at(tokens, at + 1, ':') {
        last = constant(tokens.get(at + 2)?);
        path = format!("{path}::{}", word_at(tokens, at + 2)?);
        at += 3;
    }
    Some((path, last?.to_owned()))
}

/// `.inline wait(...) { ... }` or `.layout ring(...) { ... }`
struct Piece<'t> {
    name: &'t str,
    tokens: Range<usize>,
}

fn pieces_of(tokens: &[Token]) -> Vec<Piece<'_>> {
    let begins = |at: usize| is_at(tokens, at, '.') && matches!(word_at(tokens, at + 1), Some("inline" | "layout"));
    let piece = |at: usize| {
        let name = word_at(tokens, at + 2)?;
        let open = (at..tokens.len()).find(|open| is_at(tokens, *open, '{'))?;
        let mut depth = 0;
        let close = (open..tokens.len()).find(|at| {
            depth += i32::from(is_at(tokens, *at, '{')) - i32::from(is_at(tokens, *at, '}'));
            depth == 0
        })?;
        Some(Piece { name, tokens: at..close + 1 })
    };
    (0..tokens.len()).filter(|at| begins(*at)).filter_map(piece).collect()
}

/// The piece that the token is in.
fn around<'p, 't>(pieces: &'p [Piece<'t>], at: usize) -> Option<&'p Piece<'t>> {
    pieces.iter().find(|piece| piece.tokens.contains(&at))
}

/// The braces that are open before the token.
fn open_braces(tokens: &[Token], at: usize) -> Vec<usize> {
    let mut open = Vec::new();
    for (at, token) in tokens[..at].iter().enumerate() {
        if token.is('{') {
            open.push(at);
        } else if token.is('}') {
            open.pop();
        }
    }
    open
}

/// Are these the braces of `part ring` or `part ring as other`?
fn is_part(tokens: &[Token], open: usize) -> bool {
    let before = |n: usize| open.checked_sub(n).and_then(|at| word_at(tokens, at));
    before(2) == Some("part") || before(2) == Some("as") && before(4) == Some("part")
}

/// The name, if Rust programs name constants so.
fn constant(token: &Token) -> Option<&str> {
    let name = token.word()?;
    let capital = name.starts_with(|c: char| c.is_ascii_uppercase());
    let plain = name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    (capital && plain && name != "WARP_SZ").then_some(name)
}

/// Is the constant declared, but only in bodies that this token is not in?
fn is_elsewhere(tokens: &[Token], name: &str, at: usize) -> bool {
    let here = open_braces(tokens, at);
    let declares = |at: &usize| word_at(tokens, *at) == Some("const") && word_at(tokens, at + 1) == Some(name);
    let mut declared = (0..tokens.len()).filter(declares).peekable();
    // A parameter of a kernel or of a piece has no braces around it.
    let apart = |declared: usize| {
        let within = open_braces(tokens, declared);
        within.iter().any(|open| !here.contains(open) && !is_part(tokens, *open))
    };
    declared.peek().is_some() && declared.all(apart)
}

/// Is there a declaration of the constant? A piece sees its own ones, and those outside of pieces and kernels.
fn is_declared(tokens: &[Token], name: &str, pieces: &[Piece], piece: Option<&Piece>) -> bool {
    let declares = |at: &usize| word_at(tokens, *at) == Some("const") && word_at(tokens, at + 1) == Some(name);
    let outside =
        |at| around(pieces, at).is_none() && open_braces(tokens, at).iter().all(|open| is_part(tokens, *open));
    (0..tokens.len()).filter(declares).any(|at| piece.is_none_or(|piece| piece.tokens.contains(&at) || outside(at)))
}
