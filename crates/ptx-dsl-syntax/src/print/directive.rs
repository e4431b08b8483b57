//! Directives, and the prototypes of indirect calls.

use super::{declaration, expr, put, separated};
use crate::ast::{Arg, Directive, Prototype};

/// The text after `.callprototype`, without the `;`.
pub(crate) fn prototype(p: &Prototype, name: &str, tail: &[Directive]) -> String {
    let mut out = String::new();
    put_prototype(&mut out, p, name, tail);
    out
}

fn put_prototype(out: &mut String, p: &Prototype, name: &str, tail: &[Directive]) {
    if !p.rets.is_empty() {
        out.push('(');
        separated(out, &p.rets, declaration);
        out.push_str(") ");
    }
    out.push_str(name);
    out.push_str(" (");
    separated(out, &p.params, declaration);
    out.push(')');
    for d in tail {
        out.push(' ');
        directive(out, d);
    }
}

/// A directive with its `;`, if it has one.
pub(super) fn directive(out: &mut String, d: &Directive) {
    if let Some(l) = &d.label {
        out.push_str(&l.text);
        out.push_str(": ");
    }
    out.push_str(&d.name.text);
    if let Some(text) = &d.text {
        if !text.is_empty() {
            out.push(' ');
            out.push_str(text);
        }
    } else if !d.args.is_empty() {
        out.push(' ');
        separated(out, &d.args, directive_argument);
    }
    if matches!(d.name.text.as_str(), ".pragma" | ".alias" | ".branchtargets" | ".calltargets" | ".callprototype") {
        out.push(';');
    }
}

fn directive_argument(out: &mut String, a: &Arg) {
    match a {
        Arg::Expr(e) => expr(out, e, 0),
        Arg::Str(s) => put(out, format_args!("\"{}\"", s.text)),
    }
}
