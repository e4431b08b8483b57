//! Which form an instruction is: qualifiers against slots (PTX ISA 4.3.2; ptxas takes them in any order).

use super::mend::{Edits, FAR, Verdict, distance, spelled, word};
use super::words::find_any;
use crate::ast::Word;
use crate::diag::Diagnostic;
use crate::errors;
use crate::isa::Instr;
use crate::isa::syntax::{Form, Slot, is_space, is_type};
use crate::parse::errors::all_near;
use crate::parse::foreign;
use crate::span::Span;
use crate::ty::{Class, Ty};

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

/// What is wrong with the qualifiers of an instruction, and what mends them.
pub(super) struct Explainer<'a> {
    pub(super) opcode: &'static str,
    pub(super) span: Span,
    pub(super) forms: &'a [(&'static Instr, &'a Form)],
    /// The types of the registers among the operands.
    pub(super) types: Vec<Ty>,
    /// What becomes of the instruction with these words behind its opcode, as it is otherwise.
    pub(super) verdict: &'a mut dyn FnMut(&[Word]) -> Verdict,
    /// How often that may be asked.
    pub(super) tries: usize,
}

impl Explainer<'_> {
    fn tried(&mut self, words: &[Word]) -> Verdict {
        if self.tries == 0 {
            return Verdict::Illegal;
        }
        self.tries -= 1;
        (self.verdict)(words)
    }

    fn works(&mut self, words: &[Word]) -> bool {
        self.tried(words) == Verdict::Legal
    }

    /// Says what is wrong with qualifiers that no form takes.
    pub(super) fn explain(&mut self, words: &[Word], out: &mut Vec<Diagnostic>) {
        let before = out.len();
        let known = self.known(words, out);
        // With the unknown ones reported, what they stood for is not missing.
        let unknown = out.len() > before;
        let Some((entry, form, fit)) = nearest_form(self.forms, &known) else { return };
        let section = entry.section;
        for w in &fit.left {
            let word = &known[*w as usize];
            let other = clash(word, &known, self.forms);
            let help = if unknown || fit.left.len() > 1 { None } else { self.repair(*w as usize, &known, other) };
            out.push(errors::not_together(word.span, self.opcode, &word.text, other, form.line, help, section));
        }
        if !fit.left.is_empty() || unknown {
            return;
        }
        if let Some(w) = fit.misplaced {
            let word = &known[w as usize];
            let behind = match find_any(&known, COMBINES) {
                Some(w) if word.text == "popc" => format!(".{}", w.text),
                _ => self.opcode.to_string(),
            };
            let right = self.in_manual_order(form, &fit, &known);
            out.push(errors::misplaced(word.span, &word.text, &behind, &right, section));
            return;
        }
        partial_groups(form, &fit, &known, section, out);
        if !fit.missing.is_empty() {
            self.missing(&known, &fit, form, section, out);
        }
        if out.len() == before {
            let (last, text) = words.last().map_or((self.span, ""), |w| (w.span, w.text.as_str()));
            out.push(errors::not_together(last, self.opcode, text, None, form.line, None, section));
        }
    }

    /// The opcode with these words in the order of the form.
    fn in_manual_order(&self, form: &Form, fit: &Fit, words: &[Word]) -> String {
        let mut parts = vec![word(self.opcode)];
        for s in 0..form.slots.len() {
            if let Some(w) = fit.filled[s] {
                parts.push(words[w as usize].clone());
            }
        }
        spelled(&parts)
    }

    /// Says which qualifiers are missing, once for all of them.
    fn missing(&mut self, known: &[Word], fit: &Fit, form: &Form, section: &str, out: &mut Vec<Diagnostic>) {
        for s in &fit.missing {
            if let Some(d) = half_of_ordering(&form.slots[*s as usize], known, self.forms, section) {
                out.push(d);
                return;
            }
        }
        let spellings = self.completed(known);
        let mut what = Vec::new();
        let mut notes = Vec::new();
        for s in &fit.missing {
            let slot = &form.slots[*s as usize];
            self.name_missing(slot, possible(slot, self.forms, section), section, &mut what, &mut notes);
        }
        // Other forms may be as near, each with another word that is missing.
        let mut either = Vec::new();
        let mut other_notes = Vec::new();
        if let [_] = fit.missing.as_slice() {
            for (entry, other) in self.forms {
                let f = self::fit(other, known);
                if entry.section != section || !f.left.is_empty() || f.misplaced.is_some() || !f.partial.is_empty() {
                    continue;
                }
                if let [s] = f.missing.as_slice() {
                    let slot = &other.slots[*s as usize];
                    self.name_missing(slot, slot.words(), section, &mut either, &mut other_notes);
                }
            }
        }
        let one = either.len() > 1;
        if one {
            (what, notes) = (either, other_notes);
        }
        out.push(errors::missing_qualifiers(self.span, self.opcode, &what, one, &notes, &spellings, section));
    }

    /// Says what a slot takes, once for slots that take the same.
    fn name_missing(
        &self,
        slot: &Slot,
        alts: Vec<&str>,
        section: &str,
        what: &mut Vec<String>,
        notes: &mut Vec<String>,
    ) {
        // Another form may have another type.
        let all = if slot.is_type { types_of(self.forms, section) } else { Vec::new() };
        let alts = if all.len() > alts.len() { all } else { alts };
        let kind = errors::kind_of_qualifier(&slot.name, &alts, slot.is_type);
        if what.contains(&kind) {
            return;
        }
        notes.extend(errors::alternatives(&slot.name, &alts, slot.is_type));
        what.push(kind);
    }

    /// Opcodes that have all these words and what is missing, legal ones if any is found.
    fn completed(&mut self, known: &[Word]) -> Vec<String> {
        let mut open: Vec<(usize, String, Vec<Word>)> = Vec::new();
        for (_, form) in self.forms {
            let fit = fit(form, known);
            if !fit.left.is_empty() || fit.misplaced.is_some() || !fit.partial.is_empty() {
                continue;
            }
            let mut choices = Vec::new();
            for s in &fit.missing {
                choices.push(self.preferred(&form.slots[*s as usize]));
            }
            for n in 0..32 {
                let Some((rank, words)) = filled_up(form, &fit, known, &choices, n) else { break };
                let mut parts = vec![word(self.opcode)];
                parts.extend(words.iter().cloned());
                open.push((fit.missing.len() * 2 + rank, spelled(&parts), words));
            }
        }
        open.sort_by_key(|(rank, ..)| *rank);
        let mut found: Vec<String> = Vec::new();
        let mut least = None;
        for (rank, text, words) in &open {
            // What is nearer is enough.
            if found.len() == 4 || self.tries == 0 || least.is_some_and(|least| least + FAR <= *rank) {
                break;
            }
            if !found.contains(text) && self.works(words) {
                found.push(text.clone());
                least = least.or(Some(*rank));
            }
        }
        if found.is_empty() {
            found.extend(open.into_iter().next().map(|(_, text, _)| text));
        }
        found
    }

    /// What may stand in a slot, the likeliest first, each with how unlikely it is.
    fn preferred(&self, slot: &Slot) -> Vec<(usize, String)> {
        let mut ranked = Vec::with_capacity(slot.alts.len());
        for alt in &slot.alts {
            let rank = match Ty::from_name(alt) {
                Some(ty) => distance(ty, &self.types),
                None if SPECIAL.contains(&alt.as_ref()) || alt.starts_with("proxy") => FAR,
                // `.lo` is a half of a product, and a comparison.
                None => usize::from(!USUAL.contains(&alt.as_ref()) || *alt == "lo" && takes(slot, "eq")),
            };
            ranked.push((rank, alt.to_string()));
        }
        ranked.sort_by_key(|r| r.0);
        ranked
    }

    /// The words that are neither unknown nor said twice; reports those that are.
    fn known(&mut self, words: &[Word], out: &mut Vec<Diagnostic>) -> Vec<Word> {
        let section = self.forms.first().map_or("9.7", |f| f.0.section);
        let mut known: Vec<Word> = Vec::with_capacity(words.len());
        for (i, word) in words.iter().enumerate() {
            let most = most_times(&word.text, self.forms);
            if most == 0 {
                let all = alternatives(self.forms);
                let instead = same_kind(&word.text, &all);
                let helps = self.instead_of(words, i, &all);
                let instead = instead.as_ref().map(|(kind, list)| (*kind, list.as_slice()));
                out.push(errors::unknown_qualifier(word.span, self.opcode, &word.text, helps, instead, section));
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

    /// What can stand in place of an unknown word, or whether it can go: a help, legal if anything is.
    fn instead_of(&mut self, words: &[Word], at: usize, all: &[&str]) -> Option<String> {
        let name = words[at].text.as_str();
        let near = all_near(name, all);
        let meant = foreign::ty(name).or_else(|| foreign_word(name));
        let mut candidates: Vec<&str> = Vec::new();
        candidates.extend(meant);
        candidates.extend(near.iter().take(8));
        if is_type(name) || foreign::ty(name).is_some() {
            let mut types: Vec<(usize, &str)> = Vec::new();
            for alt in all {
                if let Some(ty) = Ty::from_name(alt) {
                    // An integer for an integer.
                    let other = Ty::from_name(name).is_some_and(|written| integer(written) != integer(ty));
                    types.push((distance(ty, &self.types) + if other { FAR } else { 0 }, alt));
                }
            }
            types.sort_by_key(|t| t.0);
            let least = types.first().map_or(0, |t| t.0);
            for (rank, alt) in types {
                if rank < least + FAR {
                    candidates.push(alt);
                }
            }
        } else if let Some((_, same)) = same_kind(name, all) {
            // Of state spaces the usual ones first.
            for usual in ["global", "shared", "local"] {
                candidates.extend(all.iter().find(|a| is_space(name) && **a == usual));
            }
            for word in &same {
                candidates.extend(all.iter().find(|a| **a == &word[1..]));
            }
        }
        // `.rnf32`
        let mut apart = Vec::new();
        for i in 1..name.len().min(24) {
            if let Some((a, b)) = name.split_at_checked(i)
                && most_times(a, self.forms) > 0
                && most_times(b, self.forms) > 0
            {
                apart.push(format!("{a}.{b}"));
            }
        }
        for text in &apart {
            candidates.insert(0, text);
        }
        let mut found: Vec<&str> = Vec::new();
        for candidate in candidates {
            if found.contains(&candidate) || found.len() == 3 {
                continue;
            }
            let mut changed = words[..at].to_vec();
            for part in candidate.split('.') {
                changed.push(word(part));
            }
            changed.extend_from_slice(&words[at + 1..]);
            if self.works(&changed) {
                found.push(candidate);
                // What is certainly meant needs no company.
                if Some(candidate) == meant || near.contains(&candidate) || candidate.contains('.') {
                    break;
                }
            }
        }
        // `fence::before_thread_sync` is one word and a part of another.
        if let (Some(first), true) = (found.first(), name.starts_with("::")) {
            return Some(format!("write `{}{first}`", self.opcode));
        }
        if let [only] = found.as_slice()
            && (near.contains(only) || Some(*only) == meant || only.contains('.'))
        {
            return Some(format!("did you mean `.{only}`?"));
        }
        if !found.is_empty() {
            return Some(format!("write {}", errors::one_of(&errors::dotted(&found))));
        }
        if self.works(&without(words, at)) {
            return Some("remove it".to_string());
        }
        // What else is wrong with the instruction is another matter, but the word suits the others. With more that are unknown
        // there is no telling; a number is no slip of the pen.
        let others =
            !is_type(name) && words.iter().enumerate().any(|(i, w)| i != at && most_times(&w.text, self.forms) == 0);
        let least = if name.contains(|c: char| c.is_ascii_digit()) { Verdict::Near } else { Verdict::Misplaced };
        for near in near.iter().take(8) {
            let mut changed = words.to_vec();
            changed[at].text = near.to_string();
            if others || self.tried(&changed) <= least {
                return Some(match near.starts_with("::") {
                    true => format!("write `{}{near}`", self.opcode),
                    false => format!("did you mean `.{near}`?"),
                });
            }
        }
        None
    }

    /// An edit after which the instruction is legal, or at least some form takes the qualifiers: without one of the two that
    /// clash, or with another in its place.
    fn repair(&mut self, at: usize, known: &[Word], other: Option<(&str, Span)>) -> Option<String> {
        let mut plain = Vec::new();
        for (_, form) in self.forms {
            plain.push(*form);
        }
        let mut removable = Edits::default();
        for (i, word) in known.iter().enumerate() {
            let clashes = match other {
                Some((_, span)) => span == word.span,
                None => false,
            };
            if i != at && !clashes {
                continue;
            }
            let Some((gone, rest)) = removed(i, known, &plain) else { continue };
            removable.add(gone, self.tried(&rest));
        }
        if removable.suffices() {
            return Some(format!("remove {}", errors::one_of(&removable.best())));
        }
        let clash = other.map_or(at, |(_, span)| known.iter().position(|w| w.span == span).unwrap_or(at));
        for i in [clash, at] {
            if let Some(new) = self.another_word(known, i) {
                return Some(format!("write `.{new}` in place of `.{}`", known[i].text));
            }
        }
        if !removable.best().is_empty() {
            return Some(format!("remove {}", errors::one_of(&removable.best())));
        }
        let (_, kind) = same_kind(&known[at].text, &alternatives(self.forms))?;
        let mut changed = known.to_vec();
        let mut replaceable = Edits::default();
        for word in kind {
            changed[at].text = word[1..].to_string();
            if legal(&plain, &changed) {
                replaceable.add(word, self.tried(&changed));
            }
        }
        let found = replaceable.best().first()?.to_string();
        Some(format!("write `{found}` in place of `.{}`", known[at].text))
    }
}

fn integer(ty: Ty) -> bool {
    !matches!(ty.class(), Class::Float | Class::Packed | Class::Pred)
}

impl Explainer<'_> {
    /// A type in place of a type, or another qualifier in place of one, that makes the instruction legal.
    fn another_word(&mut self, known: &[Word], at: usize) -> Option<String> {
        let old = known[at].text.as_str();
        let mut words: Vec<(usize, &str)> = Vec::new();
        for alt in alternatives(self.forms) {
            match Ty::from_name(alt) {
                _ if alt == old || Ty::from_name(alt).is_some() != is_type(old) => {}
                Some(ty) => words.push((distance(ty, &self.types), alt)),
                None => words.push((usize::from(!USUAL.contains(&alt)), alt)),
            }
        }
        words.sort_unstable();
        words.dedup();
        let mut changed = known.to_vec();
        for (_, alt) in words.into_iter().take(12) {
            changed[at].text = alt.to_string();
            if self.works(&changed) {
                return Some(alt.to_string());
            }
        }
        None
    }
}

/// What else is written where these are meant.
fn foreign_word(name: &str) -> Option<&'static str> {
    Some(match name {
        "gpu" => "gl",
        "gl" => "gpu",
        "system" => "sys",
        "block" => "cta",
        "device" => "gpu",
        "wait" => "wait_group",
        "commit" => "commit_group",
        "ldg" => "nc",
        _ => return None,
    })
}

/// The qualifiers with the `n`th choice for what is missing, in the order of the form, and how unlikely it is.
fn filled_up(
    form: &Form,
    fit: &Fit,
    known: &[Word],
    choices: &[Vec<(usize, String)>],
    n: usize,
) -> Option<(usize, Vec<Word>)> {
    let (mut n, mut rank) = (n, 0);
    let mut chosen: Vec<&str> = Vec::with_capacity(choices.len());
    for list in choices.iter().rev() {
        let (r, text) = list.get(n % list.len().max(1))?;
        rank += r;
        chosen.push(text);
        n /= list.len().max(1);
    }
    if n > 0 {
        return None;
    }
    let mut words = Vec::new();
    for (s, _) in form.slots.iter().enumerate() {
        match (fit.filled[s], fit.missing.iter().position(|m| *m as usize == s)) {
            (Some(w), _) => words.push(known[w as usize].clone()),
            (None, Some(missing)) => words.push(word(chosen[choices.len() - 1 - missing])),
            (None, None) => {}
        }
    }
    Some((rank, words))
}

/// What is usual where any will do.
const USUAL: &[&str] = &["rn", "lo", "gl", "gpu", "acq_rel", "global"];
/// What hardly anybody means.
const SPECIAL: &[&str] = &["cc", "noftz"];

/// The types that the forms take, if they are in several sections of the manual.
fn types_of<'f>(forms: &[(&'static Instr, &'f Form)], section: &str) -> Vec<&'f str> {
    let several = forms.iter().any(|(entry, _)| entry.section != section);
    let mut found: Vec<&str> = Vec::new();
    for (_, form) in forms {
        for slot in &form.slots {
            for alt in &slot.alts {
                if several && slot.is_type && is_type(alt) && !found.contains(&alt.as_ref()) {
                    found.push(alt);
                }
            }
        }
    }
    found
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
    } else if VECTORS.contains(&word) {
        ("vector", |w| VECTORS.contains(&w))
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

/// A word, or an ordering with its scope, without which some form takes the others, and these.
fn removed(at: usize, known: &[Word], forms: &[&Form]) -> Option<(String, Vec<Word>)> {
    let word = &known[at].text;
    let mut rest = without(known, at);
    if legal(forms, &rest) {
        return Some((format!(".{word}"), rest));
    }
    if !ORDERINGS.contains(&word.as_str()) {
        return None;
    }
    for i in 0..rest.len() {
        if SCOPES.contains(&rest[i].text.as_str()) {
            let scope = rest.remove(i).text;
            return legal(forms, &rest).then(|| (format!(".{word}.{scope}"), rest));
        }
    }
    None
}

/// What the bits of `.popc` are combined with.
const COMBINES: &[&str] = &["and", "xor"];
const ORDERINGS: &[&str] = &["relaxed", "acquire", "release", "acq_rel", "sc"];
const SCOPES: &[&str] = &["cta", "cluster", "gpu", "gl", "sys"];
const VECTORS: &[&str] = &["v2", "v3", "v4", "v8"];

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
