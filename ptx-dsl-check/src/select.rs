//! Which form an instruction is: qualifiers against slots (PTX ISA 4.3.2; ptxas takes them in any order).

use super::words::find_any;
use crate::ast::Word;
use crate::diag::Diagnostic;
use crate::errors;
use crate::isa::Instr;
use crate::isa::syntax::{Form, Slot, is_space, is_type};
use crate::parse::errors::nearest;
use crate::span::Span;

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

    fn badness(&self) -> usize {
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
    for alt in &slot.alts {
        if alt == word {
            return true;
        }
    }
    false
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
fn given(slots: &[Slot], filled: &[Option<u16>], group: u8) -> Option<(usize, u16)> {
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
fn slot_of(form: &Form, word: &str) -> Option<usize> {
    for (s, slot) in form.slots.iter().enumerate() {
        if takes(slot, word) {
            return Some(s);
        }
    }
    None
}

/// Does one of the forms take the words?
pub(super) fn legal(forms: &[&Form], words: &[Word]) -> bool {
    for form in forms {
        if fit(form, words).fits() {
            return true;
        }
    }
    false
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

/// Says what is wrong with qualifiers that no form takes.
pub(super) fn explain(
    words: &[Word],
    opcode: &str,
    span: Span,
    forms: &[(&'static Instr, &Form)],
    out: &mut Vec<Diagnostic>,
) {
    let before = out.len();
    let known = known(words, opcode, forms, out);
    // With the unknown ones reported, what they stood for is not missing.
    let unknown = out.len() > before;
    let Some((entry, form, fit)) = nearest_form(forms, &known) else { return };
    let section = entry.section;
    for w in &fit.left {
        let word = &known[*w as usize];
        let other = clash(word, &known, forms);
        let help = if unknown || fit.left.len() > 1 { None } else { repair(*w as usize, &known, other, forms) };
        out.push(errors::not_together(word.span, opcode, &word.text, other, form.line, help, section));
    }
    if !fit.left.is_empty() || unknown {
        return;
    }
    if let Some(w) = fit.misplaced {
        let word = &known[w as usize];
        let behind = match find_any(&known, COMBINES) {
            Some(w) if word.text == "popc" => format!(".{}", w.text),
            _ => opcode.to_string(),
        };
        out.push(errors::misplaced(word.span, &word.text, &behind, section));
        return;
    }
    partial_groups(form, &fit, &known, section, out);
    for s in &fit.missing {
        let slot = &form.slots[*s as usize];
        if let Some(d) = half_of_ordering(slot, &known, forms, section) {
            out.push(d);
            continue;
        }
        let alts = possible(slot, forms, section);
        out.push(errors::missing_qualifier(span, opcode, &slot.name, &alts, slot.is_type, section));
    }
    if out.len() == before {
        let (last, text) = words.last().map_or((span, ""), |w| (w.span, w.text.as_str()));
        out.push(errors::not_together(last, opcode, text, None, form.line, None, section));
    }
}

/// The words that are neither unknown nor said twice; reports those that are.
fn known(words: &[Word], opcode: &str, forms: &[(&'static Instr, &Form)], out: &mut Vec<Diagnostic>) -> Vec<Word> {
    let section = forms.first().map_or("9.7", |f| f.0.section);
    let mut known: Vec<Word> = Vec::with_capacity(words.len());
    for word in words {
        let most = most_times(&word.text, forms);
        if most == 0 {
            let all = alternatives(forms);
            let near = nearest(&word.text, &all);
            let instead = same_kind(&word.text, &all);
            let instead = instead.as_ref().map(|(kind, list)| (*kind, list.as_slice()));
            out.push(errors::unknown_qualifier(word.span, opcode, &word.text, near, instead, section));
            continue;
        }
        // Those that were once too many are not among the known ones: these stay few.
        let (mut times, mut first) = (1, None);
        for w in &known {
            if w.text == word.text {
                times += 1;
                first = first.or(Some(w.span));
            }
        }
        match first {
            Some(first) if most < times => out.push(errors::duplicate_qualifier(word.span, &word.text, first)),
            _ => known.push(word.clone()),
        }
    }
    known
}

/// How often a form takes the word.
fn most_times(word: &str, forms: &[(&'static Instr, &Form)]) -> usize {
    let mut most = 0;
    for (_, form) in forms {
        let mut times = 0;
        for slot in &form.slots {
            times += usize::from(takes(slot, word));
        }
        most = most.max(times);
    }
    most
}

/// The form that the words come nearest to, the first of several.
fn nearest_form<'f>(forms: &[(&'static Instr, &'f Form)], words: &[Word]) -> Option<(&'static Instr, &'f Form, Fit)> {
    let mut best: Option<(&Instr, &Form, Fit)> = None;
    for (entry, form) in forms {
        let fit = fit(form, words);
        match &best {
            Some(b) if b.2.badness() <= fit.badness() => {}
            _ => best = Some((entry, form, fit)),
        }
    }
    best
}

/// A word that no form takes together with this one.
fn clash<'w>(word: &Word, known: &'w [Word], forms: &[(&'static Instr, &Form)]) -> Option<(&'w str, Span)> {
    for other in known {
        if other.text != word.text && !together(&word.text, &other.text, forms) {
            return Some((&other.text, other.span));
        }
    }
    None
}

/// Does a form take both words?
fn together(a: &str, b: &str, forms: &[(&'static Instr, &Form)]) -> bool {
    for (_, form) in forms {
        if let (Some(x), Some(y)) = (slot_of(form, a), slot_of(form, b))
            && x != y
        {
            return true;
        }
    }
    false
}

/// Reports groups of which a part is given.
fn partial_groups(form: &Form, fit: &Fit, known: &[Word], section: &str, out: &mut Vec<Diagnostic>) {
    let mut groups = Vec::new();
    for s in &fit.partial {
        let slot = &form.slots[*s as usize];
        if groups.contains(&slot.group) {
            continue;
        }
        groups.push(slot.group);
        if let Some((i, w)) = given(&form.slots, &fit.filled, slot.group) {
            let word = &known[w as usize];
            let after = i < *s as usize;
            let other = &form.slots[i].name;
            let alts = slot.words();
            out.push(errors::incomplete_group(word.span, &word.text, &slot.name, other, &alts, after, section));
        }
    }
}

/// What a slot takes, and what other forms of the section take instead.
fn possible<'f>(slot: &'f Slot, forms: &[(&'static Instr, &'f Form)], section: &str) -> Vec<&'f str> {
    let mut alts = slot.words();
    for (entry, form) in forms {
        if entry.section != section {
            continue;
        }
        for other in &form.slots {
            if other.name != slot.name {
                continue;
            }
            for a in &other.alts {
                if !alts.contains(&a.as_ref()) {
                    alts.push(a);
                }
            }
        }
    }
    alts
}

/// What the forms take, without the dots.
fn alternatives<'f>(forms: &[(&'static Instr, &'f Form)]) -> Vec<&'f str> {
    let mut out: Vec<&str> = Vec::new();
    for (_, form) in forms {
        for slot in &form.slots {
            for alt in &slot.alts {
                out.push(alt);
            }
        }
    }
    out
}

/// Scopes for a scope, orderings for an ordering, state spaces for a state space: those that the instruction takes.
fn same_kind(word: &str, all: &[&str]) -> Option<(&'static str, Vec<String>)> {
    let (kind, same): (&str, fn(&str) -> bool) = if SCOPES.contains(&word) {
        ("scope", |w| SCOPES.contains(&w))
    } else if ORDERINGS.contains(&word) {
        ("ordering", |w| ORDERINGS.contains(&w))
    } else if is_space(word) {
        ("state space", is_space)
    } else if is_type(word) {
        ("type", is_type)
    } else {
        return None;
    };
    let mut found: Vec<String> = Vec::new();
    for w in all {
        let dotted = format!(".{w}");
        if same(w) && !found.contains(&dotted) {
            found.push(dotted);
        }
    }
    (!found.is_empty()).then_some((kind, found))
}

/// An edit after which some form takes the qualifiers: without one of the two that clash, or with another in its place.
fn repair(at: usize, known: &[Word], other: Option<(&str, Span)>, forms: &[(&'static Instr, &Form)]) -> Option<String> {
    let mut plain = Vec::new();
    for (_, form) in forms {
        plain.push(*form);
    }
    let mut removable = String::new();
    for (i, word) in known.iter().enumerate() {
        let clashes = match other {
            Some((_, span)) => span == word.span,
            None => false,
        };
        if i != at && !clashes {
            continue;
        }
        let Some(gone) = removed(i, known, &plain) else { continue };
        let or = if removable.is_empty() { "" } else { " or " };
        removable += &format!("{or}`{gone}`");
    }
    if !removable.is_empty() {
        return Some(format!("remove {removable}"));
    }
    let (_, kind) = same_kind(&known[at].text, &alternatives(forms))?;
    let mut changed = known.to_vec();
    for word in kind {
        changed[at].text = word[1..].to_string();
        if legal(&plain, &changed) {
            return Some(format!("write `{word}` in place of `.{}`", known[at].text));
        }
    }
    None
}

/// A word, or an ordering with its scope, without which some form takes the others.
fn removed(at: usize, known: &[Word], forms: &[&Form]) -> Option<String> {
    let word = &known[at].text;
    let mut rest = without(known, at);
    if legal(forms, &rest) {
        return Some(format!(".{word}"));
    }
    if !ORDERINGS.contains(&word.as_str()) {
        return None;
    }
    for i in 0..rest.len() {
        if SCOPES.contains(&rest[i].text.as_str()) {
            let scope = rest.remove(i).text;
            return legal(forms, &rest).then(|| format!(".{word}.{scope}"));
        }
    }
    None
}

/// What the bits of `.popc` are combined with.
const COMBINES: &[&str] = &["and", "xor"];
const ORDERINGS: &[&str] = &["relaxed", "acquire", "release", "acq_rel", "sc"];
const SCOPES: &[&str] = &["cta", "cluster", "gpu", "sys"];

/// An ordering without its scope, or a scope without its ordering, where the form has both as required qualifiers (`ld`).
fn half_of_ordering(
    slot: &Slot,
    known: &[Word],
    forms: &[(&'static Instr, &Form)],
    section: &str,
) -> Option<Diagnostic> {
    if all_of(slot, SCOPES) {
        let word = find_any(known, ORDERINGS)?;
        return Some(errors::incomplete_group(word.span, &word.text, ".scope", ".sem", &slot.words(), true, section));
    }
    if all_of(slot, ORDERINGS) {
        let word = find_any(known, SCOPES)?;
        let mut orderings = Vec::new();
        for ordering in ORDERINGS {
            if most_times(ordering, forms) > 0 {
                orderings.push(*ordering);
            }
        }
        return Some(errors::incomplete_group(word.span, &word.text, ".sem", ".scope", &orderings, false, section));
    }
    None
}

/// Does a slot take none but these?
fn all_of(slot: &Slot, words: &[&str]) -> bool {
    for alt in &slot.alts {
        if !words.contains(&alt.as_ref()) {
            return false;
        }
    }
    true
}
