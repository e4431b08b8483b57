//! The outline of a text, and what can be folded.

use crate::Document;
use crate::names::{Symbol, SymbolKind};
use crate::words::functions;
use ptx_dsl_frontend::ast::Stmt;
use std::ops::Range;

/// A kernel, function or variable with what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outline {
    /// The name.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// The declaration in one line.
    pub detail: String,
    /// All of it.
    pub all: Range<usize>,
    /// The name where it is declared.
    pub at: Range<usize>,
    /// What is declared in it: parameters, variables and labels, but no registers.
    pub inside: Vec<Outline>,
}

/// The outline of a text.
pub fn outline(document: &Document) -> Vec<Outline> {
    let symbols = document.names().all();
    let functions: Vec<(Range<usize>, Range<usize>)> = functions(document)
        .map(|f| {
            let start = document.bytes(f.span);
            let end = if f.body.is_some() { document.bytes(f.end).end } else { start.end };
            (document.bytes(f.name.span), start.start..end.max(start.end))
        })
        .collect();
    let one = |symbol: &Symbol, all: Range<usize>, inside| Outline {
        name: symbol.name.clone(),
        kind: symbol.kind,
        detail: symbol.declaration.clone(),
        all,
        at: symbol.at.clone(),
        inside,
    };
    let is_listed = |s: &&Symbol| !matches!(s.kind, SymbolKind::Register);
    let is_function = |s: &Symbol| matches!(s.kind, SymbolKind::Kernel | SymbolKind::Function);
    let mut all: Vec<Outline> = Vec::new();
    for symbol in symbols.iter().filter(is_listed) {
        if let Some((_, body)) = functions.iter().find(|(at, _)| *at == symbol.at).filter(|_| is_function(symbol)) {
            let within = |s: &&Symbol| body.contains(&s.at.start) && !is_function(s) && is_listed(s);
            let inside = symbols.iter().filter(within).map(|s| one(s, s.at.clone(), Vec::new())).collect();
            all.push(one(symbol, body.clone(), inside));
        } else if !functions.iter().any(|(_, body)| body.contains(&symbol.at.start)) {
            all.push(one(symbol, symbol.at.clone(), Vec::new()));
        }
    }
    all
}

/// Something that can be folded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fold {
    /// The bytes, from the first line that stays to the last one that does not.
    pub at: Range<usize>,
    /// Is it a comment?
    pub is_comment: bool,
}

/// The bodies, blocks and comments of a text.
pub fn folds(document: &Document) -> Vec<Fold> {
    fn blocks(document: &Document, body: &[Stmt], found: &mut Vec<Fold>) {
        for stmt in body {
            if let Stmt::Block(inner, span) = stmt {
                found.push(Fold { at: document.bytes(*span), is_comment: false });
                blocks(document, inner, found);
            }
        }
    }
    let mut found = Vec::new();
    for function in functions(document) {
        if let Some(body) = &function.body {
            found.push(Fold {
                at: document.bytes(function.span).start..document.bytes(function.end).end,
                is_comment: false,
            });
            blocks(document, body, &mut found);
        }
    }
    let mut rest = document.text();
    let mut at = 0;
    while let Some(open) = rest.find("/*") {
        let close = rest[open..].find("*/").map_or(rest.len(), |end| open + end + 2);
        found.push(Fold { at: at + open..at + close, is_comment: true });
        at += close;
        rest = &rest[close..];
    }
    found.retain(|fold| document.at(fold.at.clone()).contains('\n'));
    found
}
