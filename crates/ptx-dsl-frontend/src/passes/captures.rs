//! Names that a kernel in expression form does not declare: they may be Rust names around it.

use crate::diag::{Diagnostic, Subject, Wanted};
use crate::span::Span;
use crate::token::{Tok, Token};
use crate::ty::Ty;

/// Explains undeclared names where a value or an address could be.
pub fn explain(tokens: &[Token], found: &mut [Diagnostic]) {
    for d in found {
        let Subject::Undeclared { wanted, declares, .. } = &d.subject else { continue };
        let value = match wanted {
            Wanted::RegisterOrVariable => Some(("&[f32]", "ld.param.u64 %rd")),
            Wanted::Register if *declares != Some(Ty::Pred) => Some(("u32", "ld.param.u32 %r")),
            _ => None,
        };
        if let (Some(name), Some((ty, load))) = (name_at(tokens, d.span), value) {
            d.notes.push("a kernel cannot capture Rust values; it only gets its parameters".to_owned());
            d.helps.push(format!("for a Rust value write a parameter, `{name}: {ty}`, and `{load}, [{name}]`"));
        }
    }
}

/// The name at this place, if it could be a Rust name.
fn name_at(tokens: &[Token], at: Span) -> Option<&str> {
    tokens.iter().find_map(|token| match &token.kind {
        Tok::Word(name) if token.id == at.first && !name.starts_with(['%', '$']) => Some(name.as_str()),
        _ => None,
    })
}
