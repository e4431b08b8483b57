//! Hints between the words of a text: the type of a register where the opcode does not say it, where an address points, what a wait waits
//! for, the bytes that copies bring.

use crate::Document;
use crate::names::SymbolKind;
use ptx_dsl_frontend::hir::Stmt;
use ptx_dsl_frontend::ty::{Class, Ty};
use std::ops::Range;

/// A hint.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inlay {
    /// The byte that it stands before.
    pub at: usize,
    /// What it says.
    pub text: String,
    /// A sentence about it.
    pub about: &'static str,
}

/// The hints within these bytes, in the order of the text.
pub fn inlays(document: &Document, within: Range<usize>) -> Vec<Inlay> {
    let mut found = Vec::new();
    let mut add = |at: usize, text: String, about: &'static str| {
        if within.contains(&at) {
            found.push(Inlay { at, text, about });
        }
    };
    for (span, text) in document.facts().places() {
        add(document.bytes(*span).end, format!(" {text}"), "where the address points, by the analysis of provenance");
    }
    for (span, text) in document.facts().barriers() {
        add(document.bytes(*span).end, format!(" {text}"), "what the mbarrier gets, by the copies of the kernel");
    }
    for function in document.modules().flat_map(|compiled| &compiled.hir.functions) {
        for stmt in &function.body {
            let Stmt::Instr(instr) = stmt else { continue };
            for arg in &instr.operands {
                let at = document.bytes(arg.span);
                if !within.contains(&at.end) {
                    continue;
                }
                let Some((symbol, word)) = document.names().at(at.start) else { continue };
                let ty = Ty::from_name(symbol.ty.trim_start_matches('.'));
                let Some(ty) = ty.filter(|_| symbol.kind == SymbolKind::Register && word == at) else { continue };
                if !instr.types.iter().any(|named| says(*named, ty)) && ty != Ty::Pred && !instr.types.is_empty() {
                    add(at.end, format!(": {}", ty.name()), "the type of the register");
                }
            }
        }
    }
    found.sort_by_key(|inlay| inlay.at);
    found.dedup();
    found
}

/// Does the type of an instruction say that of a register?
fn says(named: Ty, ty: Ty) -> bool {
    let like = |a: Class, b: Class| {
        a == b
            || matches!(
                (a, b),
                (Class::Bits, _)
                    | (_, Class::Bits)
                    | (Class::Signed, Class::Unsigned)
                    | (Class::Unsigned, Class::Signed)
            )
    };
    named.bits() == ty.bits() && like(named.class(), ty.class())
}
