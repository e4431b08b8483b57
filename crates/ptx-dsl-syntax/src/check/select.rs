//! Which form an instruction is: qualifiers against slots (PTX ISA 4.3.2; ptxas takes them in any order).

use super::words::find_any;
use crate::ast::Word;
use ptx_dsl_isa::isa::syntax::{Form, Slot, is_space, is_type};

/// Qualifiers put into the slots of a form.
#[derive(Debug)]
pub(super) struct Fit {
    /// Which word fills each slot.
    pub(super) filled: Vec<Option<u16>>,
    /// Words no slot takes.
    pub(super) left: Vec<u16>,
    /// Required slots without a word.
    pub(super) missing: Vec<u16>,
    /// Slots without a word in a group that has one.
    pub(super) partial: Vec<u16>,
    /// A word that must stand directly behind the opcode, or somewhere behind another word, and does not.
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

/// Words of a kind keep their order: types, state spaces, layouts of matrices.
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

/// Fills the slots: every word goes to the first free slot that takes it; those of a kind keep their order.
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

/// May the word stand in the slot?
pub(super) fn takes(slot: &Slot, word: &str) -> bool {
    slot.alts.iter().any(|alt| alt.word() == word)
}

/// The first slot from `start` on that takes the word and is not filled.
fn free(slots: &[Slot], filled: &[Option<u16>], start: usize, word: &str) -> Option<usize> {
    for (s, slot) in slots.iter().enumerate() {
        if s >= start && filled[s].is_none() && takes(slot, word) {
            return Some(s);
        }
    }
    None
}

/// The first slot of a group that is filled, and with which word.
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

/// The first slot of a form that takes the word.
pub(super) fn slot_of(form: &Form, word: &str) -> Option<usize> {
    for (s, slot) in form.slots.iter().enumerate() {
        if takes(slot, word) {
            return Some(s);
        }
    }
    None
}

/// Does one of the forms take the words?
pub(super) fn legal(forms: &[&Form], words: &[Word]) -> bool {
    forms.iter().any(|form| fit(form, words).fits())
}

/// The words but for one of them.
pub(super) fn without(words: &[Word], at: usize) -> Vec<Word> {
    let mut rest = words.to_vec();
    rest.remove(at);
    rest
}

/// A word that does not stand directly behind the opcode, though it must; `.popc` before the operation whose bits it counts.
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

/// What the bits of `.popc` are combined with.
pub(super) const COMBINES: &[&str] = &["and", "xor"];
