//! Pieces by themselves: what is wrong in them whatever their uses give them.

use crate::code;
use crate::diag::{self, Diagnostic, Severity};
use crate::notes::Notes;
use crate::token::Token;
use crate::{compile_in_rust, keep, parse};
use std::ops::Range;

/// The errors in pieces by themselves, of those among the tokens `own`, and in the functions and variables around them. What depends on the
/// arguments is checked in each use. `hidden`: tokens that rustc does not show.
pub fn check(tokens: &[Token], own: Range<usize>, hidden: Vec<Range<u32>>) -> Vec<Diagnostic> {
    let mut found = check_alone(tokens, &own, &hidden, false);
    // what needs a value says nothing of a piece that is given the value
    if found.iter().any(|d| d.code == code::UNKNOWN_CONSTANT_VALUE) {
        let of_numbers = check_alone(tokens, &own, &hidden, true);
        let same = |d: &Diagnostic| of_numbers.iter().any(|other| (other.code, other.span) == (d.code, d.span));
        keep(&mut found, &|d| d.code != code::UNKNOWN_CONSTANT_VALUE || same(d));
    }
    found
}

/// Adds the errors of [`check`] to those of the module, which has some of them in each use.
pub fn add_alone(alone: &[Diagnostic], found: &mut Vec<Diagnostic>) {
    keep(found, &|d| !alone.iter().any(|other| (other.code, other.span) == (d.code, d.span)));
    found.extend_from_slice(alone);
    diag::sort(found);
}

/// `one`: constants that pieces are given are the number 1.
fn check_alone(tokens: &[Token], own: &Range<usize>, hidden: &[Range<u32>], one: bool) -> Vec<Diagnostic> {
    let free = tokens.iter().map(|token| token.id + 1).max().unwrap_or(0);
    let mut expanded = parse::repeat::expand_alone(tokens, free, own.clone(), one);
    expanded.hide(hidden.to_vec());
    let mut found = compile_in_rust(&expanded.tokens, Notes::default()).diagnostics;
    // ranges and ends of variables depend on values
    keep(&mut found, &|d| {
        d.severity == Severity::Error && d.code.is_about_statement() && !expanded.is_uncertain(d.span)
    });
    expanded.report(&mut found);
    found
}
