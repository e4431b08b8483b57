//! Which form an instruction is: qualifiers against slots (PTX ISA 4.3.2; ptxas takes them in any order).

use crate::ast::Word;
use crate::diag::Diagnostic;
use crate::errors;
use crate::isa::Instr;
use crate::isa::syntax::{Form, Slot, is_space, is_type};
use crate::parse::errors::nearest;
use crate::span::Span;
use ptx_dsl_table::list::List;

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
    let n = form.slots.len();
    let mut filled: Vec<Option<u16>> = vec![None; n];
    let mut left = Vec::new();
    let mut next = [0; 3];
    for (w, word) in words.iter().enumerate() {
        let text = word.text.as_str();
        let kind = kind(text);
        let start = kind.map_or(0, |k| next[k]);
        let mut found = None;
        for (s, slot) in form.slots.iter().enumerate().skip(start) {
            if filled[s].is_none() && slot.alts.iter().any(|a| a == text) {
                found = Some(s);
                break;
            }
        }
        match found {
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
        } else if form.slots.iter().zip(&filled).any(|(o, f)| o.group == slot.group && f.is_some()) {
            partial.push(s as u16);
        }
    }
    Fit { filled, left, missing, partial, misplaced: misplaced(form, words) }
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
        let combines = |words: &[Word]| words.iter().any(|w| matches!(w.text.as_str(), "and" | "xor"));
        if text == "popc" && !combines(&words[..w]) && combines(&words[w..]) {
            return Some(w as u16);
        }
    }
    None
}

/// What is wrong with qualifiers that no form takes.
pub(super) fn explain(words: &[Word], opcode: &str, span: Span, forms: &[(&'static Instr, &Form)]) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    let section = forms.first().map_or("9.7", |f| f.0.section);
    let accepted = |text: &str| forms.iter().any(|(_, f)| f.slots.iter().any(|s| s.alts.iter().any(|a| a == text)));
    // Unknown words, and words said twice.
    let mut known: Vec<Word> = Vec::with_capacity(words.len());
    for word in words {
        if !accepted(&word.text) {
            let all = alternatives(forms);
            let instead = same_kind(&word.text, &all);
            let instead = instead.as_ref().map(|(kind, list)| (*kind, list.as_slice()));
            let near = nearest(&word.text, all);
            out.push(errors::unknown_qualifier(word.span, opcode, &word.text, near, instead, section));
            continue;
        }
        let twice = |f: &Form| f.slots.iter().filter(|s| s.alts.iter().any(|a| *a == word.text)).count();
        // Those that were once too many are not among the known ones: these stay few.
        let times = known.iter().filter(|w| w.text == word.text).count() + 1;
        if times > 1 && forms.iter().all(|(_, f)| twice(f) < times) {
            let first = known.iter().find(|w| w.text == word.text).map_or(word.span, |w| w.span);
            out.push(errors::duplicate_qualifier(word.span, &word.text, first));
            continue;
        }
        known.push(word.clone());
    }
    let Some((entry, form, fit)) =
        forms.iter().map(|(e, f)| (e, f, fit(f, &known))).min_by_key(|(_, _, fit)| fit.badness())
    else {
        return out;
    };
    // With the unknown ones reported, what they stood for is not missing.
    let unknown = !out.is_empty();
    let section = entry.section;
    for w in &fit.left {
        let word = &known[*w as usize];
        let together = |a: &str, b: &str| {
            forms.iter().any(|(_, f)| {
                let slot = |t: &str| f.slots.iter().position(|s| s.alts.iter().any(|x| x == t));
                matches!((slot(a), slot(b)), (Some(x), Some(y)) if x != y)
            })
        };
        let other = known.iter().find(|o| o.text != word.text && !together(&word.text, &o.text));
        let other = other.map(|o| (o.text.as_str(), o.span));
        let help = if unknown || fit.left.len() > 1 { None } else { repair(*w as usize, &known, other, forms) };
        out.push(errors::not_together(word.span, opcode, &word.text, other, form.line, help, section));
    }
    if !fit.left.is_empty() || unknown {
        return out;
    }
    if let Some(word) = fit.misplaced.map(|w| &known[w as usize]) {
        let behind = known.iter().find(|w| word.text == "popc" && matches!(w.text.as_str(), "and" | "xor"));
        let behind = behind.map_or(opcode.to_string(), |w| format!(".{}", w.text));
        out.push(errors::misplaced(word.span, &word.text, &behind, section));
        return out;
    }
    let mut groups = Vec::new();
    for s in &fit.partial {
        let slot = &form.slots[*s as usize];
        if groups.contains(&slot.group) {
            continue;
        }
        groups.push(slot.group);
        let given = form.slots.iter().enumerate().find(|(i, o)| o.group == slot.group && fit.filled[*i].is_some());
        if let Some((i, o)) = given
            && let Some(w) = fit.filled[i]
        {
            let word = &known[w as usize];
            let after = i < *s as usize;
            out.push(errors::incomplete_group(
                word.span,
                &word.text,
                &slot.name,
                &o.name,
                &slot.words(),
                after,
                section,
            ));
        }
    }
    for s in &fit.missing {
        let slot = &form.slots[*s as usize];
        if let Some(d) = half_of_ordering(slot, &known, forms, section) {
            out.push(d);
            continue;
        }
        // What other forms as near take instead counts too.
        let mut alts = slot.words();
        for (_, f) in forms.iter().filter(|(e, _)| e.section == section) {
            for other in f.slots.iter().filter(|o| o.name == slot.name) {
                for a in &other.alts {
                    if !alts.contains(&a.as_ref()) {
                        alts.push(a);
                    }
                }
            }
        }
        out.push(errors::missing_qualifier(span, opcode, &slot.name, &alts, slot.is_type, section));
    }
    if out.is_empty() {
        let last = words.last().map_or(span, |w| w.span);
        out.push(errors::not_together(
            last,
            opcode,
            words.last().map_or("", |w| &w.text),
            None,
            form.line,
            None,
            section,
        ));
    }
    out
}

/// What the forms take, without the dots.
fn alternatives<'f>(forms: &[(&'static Instr, &'f Form)]) -> Vec<&'f str> {
    let mut out: Vec<&str> = Vec::new();
    for slot in forms.iter().flat_map(|(_, f)| &f.slots) {
        out.extend(slot.alts.iter().map(|a| a.as_ref()));
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
    for w in all.iter().filter(|w| same(w)) {
        if !found.iter().any(|f| f[1..] == **w) {
            found.push(format!(".{w}"));
        }
    }
    (!found.is_empty()).then_some((kind, found))
}

/// An edit after which some form takes the qualifiers: without one of the two that clash, or with another in its place.
fn repair(at: usize, known: &[Word], other: Option<(&str, Span)>, forms: &[(&'static Instr, &Form)]) -> Option<String> {
    let legal = |words: &[Word]| forms.iter().any(|(_, f)| fit(f, words).fits());
    let mut removable = Vec::new();
    for (i, word) in known.iter().enumerate() {
        if i != at && !other.is_some_and(|o| o.1 == word.span) {
            continue;
        }
        let mut rest = known.to_vec();
        rest.remove(i);
        if legal(&rest) {
            removable.push(format!("`.{}`", word.text));
            continue;
        }
        // An ordering goes with its scope.
        if ORDERINGS.contains(&word.text.as_str())
            && let Some(scope) = rest.iter().position(|w| SCOPES.contains(&w.text.as_str()))
        {
            let scope = rest.remove(scope);
            if legal(&rest) {
                removable.push(format!("`.{}.{}`", word.text, scope.text));
            }
        }
    }
    if !removable.is_empty() {
        return Some(format!("remove {}", removable.join(" or ")));
    }
    let (_, kind) = same_kind(&known[at].text, &alternatives(forms))?;
    let mut changed = known.to_vec();
    for word in kind {
        changed[at].text = word[1..].to_string();
        if legal(&changed) {
            return Some(format!("write `{word}` in place of `.{}`", known[at].text));
        }
    }
    None
}

const ORDERINGS: &[&str] = &["relaxed", "acquire", "release", "acq_rel", "sc"];
const SCOPES: &[&str] = &["cta", "cluster", "gpu", "sys"];

/// An ordering without its scope, or a scope without its ordering, where the form has both as required qualifiers (`ld`).
fn half_of_ordering(
    slot: &Slot,
    known: &[Word],
    forms: &[(&'static Instr, &Form)],
    section: &str,
) -> Option<Diagnostic> {
    let all = |words: &[&str]| slot.alts.iter().all(|a| words.contains(&a.as_ref()));
    let given = |words: &[&str]| known.iter().find(|w| words.contains(&w.text.as_str()));
    if all(SCOPES) {
        let word = given(ORDERINGS)?;
        return Some(errors::incomplete_group(word.span, &word.text, ".scope", ".sem", &slot.words(), true, section));
    }
    if all(ORDERINGS) {
        let word = given(SCOPES)?;
        let possible = |o: &&&str| forms.iter().any(|(_, f)| f.slots.iter().any(|s| s.alts.iter().any(|a| a == **o)));
        let orderings = ORDERINGS.iter().filter(possible).copied().list();
        return Some(errors::incomplete_group(word.span, &word.text, ".sem", ".scope", &orderings, false, section));
    }
    None
}
