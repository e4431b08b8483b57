//! Form selection: matches qualifiers with slots (PTX ISA 4.3.2; ptxas accepts them in any order).

use super::words::find_any;
use crate::ast::Word;
use ptx_dsl_isa::isa::syntax::{Form, Slot, is_space, is_type};

/// Qualifiers assigned to the slots of a form.
#[derive(Debug)]
pub(super) struct Fit {
    /// The word that fills each slot.
    pub(super) filled: Vec<Option<u16>>,
    /// Words that no slot accepts.
    pub(super) left: Vec<u16>,
    /// Required slots without a word.
    pub(super) missing: Vec<u16>,
    /// Empty slots of a group that is partly filled.
    pub(super) partial: Vec<u16>,
    /// A word that must follow the opcode directly, or another word, and does not.
    pub(super) misplaced: Option<u16>,
}

impl Fit {
    pub(super) fn fits(&self) -> bool {
        self.left.is_empty() && self.missing.is_empty() && self.partial.is_empty() && self.misplaced.is_none()
    }

    pub(super) fn badness(&self) -> usize {
        self.left.len() * 3 + self.missing.len() * 2 + self.partial.len() + usize::from(self.misplaced.is_some())
    }
}

/// Kinds of words that keep their order: types, state spaces, layouts of matrices.
fn kind(word: &str) -> Option<usize> {
    match word {
        "row" | "col" => Some(2),
        // What `tensormap.replace` works on, in any order with the type of the field.
        "b1024" => None,
        _ if is_space(word) => Some(1),
        _ if is_type(word) => Some(0),
        _ => None,
    }
}

/// Are both words of a kind that keeps its order?
pub(super) fn same_order(a: &str, b: &str) -> bool {
    kind(a).is_some() && kind(a) == kind(b)
}

/// Fills the slots: every word goes to the first free slot that accepts it; words of a kind keep their order.
pub(super) fn fit(form: &Form, words: &[Word]) -> Fit {
    let mut filled: Vec<Option<u16>> = Vec::with_capacity(form.slots.len());
    for _ in &form.slots {
        filled.push(None);
    }
    let mut left = Vec::new();
    let mut next = [0; 3];
    for (w, word) in words.iter().enumerate() {
        let text = word.text.as_str();
        let kind = kind(text);
        let start = match kind {
            Some(k) => next[k],
            None => 0,
        };
        match free(&form.slots, &filled, start, text) {
            Some(s) => {
                filled[s] = Some(w as u16);
                if let Some(k) = kind {
                    next[k] = s + 1;
                }
            }
            None => left.push(w as u16),
        }
    }
    let (mut missing, mut partial) = (Vec::new(), Vec::new());
    for (s, slot) in form.slots.iter().enumerate() {
        if filled[s].is_some() {
            continue;
        }
        if slot.group == 0 {
            missing.push(s as u16);
        } else if given(&form.slots, &filled, slot.group).is_some() {
            partial.push(s as u16);
        }
    }
    Fit { filled, left, missing, partial, misplaced: misplaced(form, words) }
}

/// Does the slot accept the word?
pub(super) fn takes(slot: &Slot, word: &str) -> bool {
    slot.alts.iter().any(|alt| alt.word() == word)
}

/// The first empty slot from `start` on that accepts the word.
fn free(slots: &[Slot], filled: &[Option<u16>], start: usize, word: &str) -> Option<usize> {
    for (s, slot) in slots.iter().enumerate() {
        if s >= start && filled[s].is_none() && takes(slot, word) {
            return Some(s);
        }
    }
    None
}

/// The first filled slot of a group, and its word.
pub(super) fn given(slots: &[Slot], filled: &[Option<u16>], group: u8) -> Option<(usize, u16)> {
    for (s, slot) in slots.iter().enumerate() {
        if slot.group == group
            && let Some(word) = filled[s]
        {
            return Some((s, word));
        }
    }
    None
}

/// The first slot of a form that accepts the word.
pub(super) fn slot_of(form: &Form, word: &str) -> Option<usize> {
    for (s, slot) in form.slots.iter().enumerate() {
        if takes(slot, word) {
            return Some(s);
        }
    }
    None
}

/// Does one of the forms accept the words?
pub(super) fn legal(forms: &[&Form], words: &[Word]) -> bool {
    forms.iter().any(|form| fit(form, words).fits())
}

/// The words except one of them.
pub(super) fn without(words: &[Word], at: usize) -> Vec<Word> {
    let mut rest = words.to_vec();
    rest.remove(at);
    rest
}

/// A word that must follow the opcode directly and does not; `.popc` before the operation whose bits it counts.
fn misplaced(form: &Form, words: &[Word]) -> Option<u16> {
    let mut expected = 0;
    for (w, word) in words.iter().enumerate() {
        let text = word.text.as_str();
        if form.first.contains(&text) {
            if w != expected {
                return Some(w as u16);
            }
            expected += 1;
        }
        if text == "popc" && find_any(&words[..w], COMBINES).is_none() && find_any(&words[w..], COMBINES).is_some() {
            return Some(w as u16);
        }
    }
    None
}

/// The operations that `.popc` follows.
pub(super) const COMBINES: &[&str] = &["and", "xor"];
