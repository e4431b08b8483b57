//! Which functions of a text call which.

use crate::Document;
use crate::names::{Symbol, SymbolKind};
use crate::words::functions;
use std::ops::Range;

/// A call, as one of the functions sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call {
    /// The other function.
    pub function: Callable,
    /// The places where the caller names it, in the order of the text.
    pub at: Vec<Range<usize>>,
}

/// A kernel or function.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Callable {
    /// Its name.
    pub name: String,
    /// Its declaration in one line.
    pub declaration: String,
    /// All of it.
    pub all: Range<usize>,
    /// The name where it is declared.
    pub at: Range<usize>,
}

/// The kernel or function whose name, declared or used, is at a byte.
pub fn callable(document: &Document, byte: usize) -> Option<Callable> {
    let (symbol, _) = document.names().at(byte)?;
    of_symbol(document, symbol)
}

/// The functions that call the one that is declared at these bytes.
pub fn callers(document: &Document, of: &Range<usize>) -> Vec<Call> {
    let mut found: Vec<Call> = Vec::new();
    for at in uses(document, of) {
        let around = all(document).into_iter().find(|function| function.all.contains(&at.start));
        add(&mut found, around, at);
    }
    found
}

/// The functions that the one that is declared at these bytes calls.
pub fn callees(document: &Document, of: &Range<usize>) -> Vec<Call> {
    let mut found: Vec<Call> = Vec::new();
    let Some(caller) = all(document).into_iter().find(|function| function.at == *of) else { return found };
    for (symbol, at) in document.names().occurrences() {
        if caller.all.contains(&at.start) && *at != symbol.at {
            add(&mut found, of_symbol(document, symbol), at.clone());
        }
    }
    found
}

fn add(found: &mut Vec<Call>, function: Option<Callable>, at: Range<usize>) {
    let Some(function) = function else { return };
    match found.iter_mut().find(|call| call.function == function) {
        Some(call) => call.at.push(at),
        None => found.push(Call { function, at: vec![at] }),
    }
}

fn uses(document: &Document, of: &Range<usize>) -> Vec<Range<usize>> {
    document.names().uses_of(of.start).into_iter().filter(|at| at != of).collect()
}

fn of_symbol(document: &Document, symbol: &Symbol) -> Option<Callable> {
    matches!(symbol.kind, SymbolKind::Function | SymbolKind::Kernel).then_some(())?;
    all(document).into_iter().find(|function| function.name == symbol.name)
}

/// The kernels and functions of a text; of a function that is also declared by itself, its body.
fn all(document: &Document) -> Vec<Callable> {
    let symbols = document.names().all();
    let of = |f: &ptx_dsl_frontend::ast::Function| {
        let at = document.bytes(f.name.span);
        let end = if f.body.is_some() { document.bytes(f.end).end } else { document.bytes(f.span).end };
        let declaration = symbols.iter().find(|symbol| symbol.at == at).map(|symbol| symbol.declaration.clone());
        Callable {
            name: f.name.text.clone(),
            declaration: declaration.unwrap_or_default(),
            all: document.bytes(f.span).start..end,
            at,
        }
    };
    let defined = functions(document).filter(|f| f.body.is_some());
    let declared = functions(document).filter(|f| f.body.is_none());
    defined.chain(declared).map(of).collect()
}
