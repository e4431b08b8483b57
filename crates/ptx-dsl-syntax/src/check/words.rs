//! Searches in lists of words: qualifiers, parts of an opcode, linkage.

use crate::ast::{Arg, Directive, Expr, Word};
use ptx_dsl_isa::isa::syntax::is_type;

/// The index of the text.
pub(super) fn position(words: &[Word], text: &str) -> Option<usize> {
    for (i, word) in words.iter().enumerate() {
        if word.text == text {
            return Some(i);
        }
    }
    None
}

/// The first word with the text.
pub(super) fn find<'w>(words: &'w [Word], text: &str) -> Option<&'w Word> {
    Some(&words[position(words, text)?])
}

/// Does it occur?
pub(super) fn has(words: &[Word], text: &str) -> bool {
    position(words, text).is_some()
}

/// The first word that is one of those.
pub(super) fn find_any<'w>(words: &'w [Word], texts: &[&str]) -> Option<&'w Word> {
    words.iter().find(|w| texts.contains(&w.text.as_str()))
}

/// The last word that is a type.
pub(super) fn last_type(words: &[Word]) -> Option<&Word> {
    let mut found = None;
    for word in words {
        if is_type(&word.text) {
            found = Some(word);
        }
    }
    found
}

/// Those arguments of a directive that are names.
pub(super) fn argument_names(d: &Directive) -> Vec<&Word> {
    let mut names = Vec::new();
    for arg in &d.args {
        if let Arg::Expr(Expr::Name(word, None)) = arg {
            names.push(word);
        }
    }
    names
}
