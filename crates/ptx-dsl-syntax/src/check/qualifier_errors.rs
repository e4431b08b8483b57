//! Explains qualifiers that no form accepts.

use super::fix::{self, Verdict, spelled, word};
use super::select::{COMBINES, Fit, fit, given, same_order, slot_of, takes, without};
use super::words::find_any;
use crate::ast::Word;
use crate::check::errors;
use crate::diag::Diagnostic;
use crate::edit::Help;
use crate::parse::foreign;
use crate::parse::near::all_near;
use crate::span::Span;
use ptx_dsl_isa::isa::Instr;
use ptx_dsl_isa::isa::syntax::{Form, Slot, is_space, is_type};
use ptx_dsl_isa::ty::Ty;

/// An error in the qualifiers of an instruction, and its fix.
pub(super) struct Explainer<'a> {
    pub(super) opcode: &'static str,
    pub(super) span: Span,
    pub(super) forms: &'a [(&'static Instr, &'a Form)],
    /// The types of the registers among the operands.
    pub(super) types: Vec<Ty>,
    /// The verdict on the instruction with these words after its opcode.
    pub(super) verdict: &'a mut dyn FnMut(&[Word]) -> Verdict,
    /// How many verdicts may still be asked for.
    pub(super) tries: usize,
}

impl Explainer<'_> {
    pub(super) fn tried(&mut self, words: &[Word]) -> Verdict {
        if self.tries == 0 {
            return Verdict::Illegal;
        }
        self.tries -= 1;
        (self.verdict)(words)
    }

    pub(super) fn works(&mut self, words: &[Word]) -> bool {
        self.tried(words) == Verdict::Legal
    }

    /// Reports why no form accepts the qualifiers.
    pub(super) fn explain(&mut self, words: &[Word], out: &mut Vec<Diagnostic>) {
        let before = out.len();
        if let Some(d) = self
            .joined(words)
            .or_else(|| self.all_unknown(words))
            .or_else(|| self.alike_unknown(words))
            .or_else(|| self.reordered(words))
        {
            out.push(d);
            return;
        }
        let known = self.known(words, out);
        // With the unknown ones reported, what they stood for is not missing.
        let unknown = out.len() > before;
        let Some((entry, form, fit)) = nearest_form(self.forms, &known) else { return };
        let section = entry.section;
        if !unknown && !fit.left.is_empty() {
            let types = self.types_alike(&known, &fit, form, section);
            if let Some(d) = types.or_else(|| self.other_layout(&known, form, section)) {
                out.push(d);
                return;
            }
        }
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

    /// Words that are one with `::` between them: `.mbarrier.complete_tx.bytes`.
    fn joined(&mut self, words: &[Word]) -> Option<Diagnostic> {
        for from in 0..words.len() {
            let mut text = words[from].text.clone();
            for last in from + 1..words.len().min(from + 4) {
                text += &format!("::{}", words[last].text);
                if most_times(&text, self.forms) == 0 {
                    continue;
                }
                let mut changed = words[..from].to_vec();
                changed.push(word(&text));
                changed.extend_from_slice(&words[last + 1..]);
                if self.forms.iter().any(|(_, form)| fit(form, &changed).fits())
                    && self.tried(&changed) <= Verdict::Misplaced
                {
                    let section = self.forms.first().map_or("9.7", |f| f.0.section);
                    let span = words[from].span.to(words[last].span);
                    let written = text.replace("::", ".");
                    let help = Some(Help::write(format!(".{text}")));
                    return Some(errors::unknown_qualifier(span, self.opcode, &written, help, None, section));
                }
            }
        }
        None
    }

    /// The layouts of a matrix: `.row.row` for `.row.col`.
    fn other_layout(&mut self, words: &[Word], form: &Form, section: &str) -> Option<Diagnostic> {
        for i in (0..words.len()).rev() {
            let other = match words[i].text.as_str() {
                "row" => "col",
                "col" => "row",
                _ => continue,
            };
            let mut changed = words.to_vec();
            changed[i].text = other.to_string();
            if self.forms.iter().any(|(_, form)| fit(form, &changed).fits()) && self.works(&changed) {
                let old = &words[i];
                let help = Some(Help::replace(&format!(".{other}"), &format!(".{}", old.text), old.span));
                return Some(errors::not_together(old.span, self.opcode, &old.text, None, form.line, help, section));
            }
        }
        None
    }

    /// One unknown word in several places: `.half.half`.
    fn alike_unknown(&mut self, words: &[Word]) -> Option<Diagnostic> {
        let unknown: Vec<usize> = (0..words.len()).filter(|i| most_times(&words[*i].text, self.forms) == 0).collect();
        let [first, .., last] = unknown.as_slice() else { return None };
        if unknown.iter().any(|i| words[*i].text != words[*first].text) {
            return None;
        }
        let name = &words[*first].text;
        let all = alternatives(self.forms);
        let meant = foreign::ty(name);
        let mut types: Vec<&str> = meant.into_iter().collect();
        for alt in all {
            // `fp8` and the like of C++.
            if is_type(alt) && name.starts_with("fp") && !types.contains(&alt) {
                types.push(alt);
            }
        }
        for alt in types.into_iter().take(24) {
            let mut changed = words.to_vec();
            for i in &unknown {
                changed[*i].text = alt.to_string();
            }
            if self.works(&changed) {
                let mut parts = vec![word(self.opcode)];
                parts.extend(changed);
                let section = self.forms.first().map_or("9.7", |f| f.0.section);
                let help = Some(Help::write(spelled(&parts)).whole_opcode());
                let span = words[*first].span;
                let d = errors::unknown_qualifier(span, self.opcode, name, help, None, section);
                return Some(d.label(words[*last].span, "nor here".to_string()));
            }
        }
        None
    }

    /// Several words that no form has and without which the instruction is legal, such as `.sync.aligned`: one error.
    fn all_unknown(&mut self, words: &[Word]) -> Option<Diagnostic> {
        let (known, unknown): (Vec<Word>, Vec<Word>) =
            words.iter().cloned().partition(|word| most_times(&word.text, self.forms) > 0);
        let [first, .., last] = unknown.as_slice() else { return None };
        if !self.works(&known) {
            return None;
        }
        let dotted: Vec<String> = unknown.iter().map(|word| format!("`.{}`", word.text)).collect();
        let list = errors::enumeration(&dotted, "and");
        let section = self.forms.first().map_or("9.7", |f| f.0.section);
        let help = match self.all_near(words) {
            Some(meant) => Help::write(meant).whole_opcode(),
            None => format!("remove {}", dotted.join(" and ")).into(),
        };
        let help = Some(help);
        let d = errors::unknown_qualifiers(first.span, self.opcode, &list, help, section);
        Some(d.label(last.span, format!("`.{}` is here", last.text)))
    }

    /// The opcode with the nearest word in place of each that no form has, if that is legal.
    fn all_near(&mut self, words: &[Word]) -> Option<String> {
        let all = alternatives(self.forms);
        let mut changed = words.to_vec();
        for word in changed.iter_mut().filter(|word| most_times(&word.text, self.forms) == 0) {
            word.text = (*all_near(&word.text, &all).first()?).to_string();
        }
        let mut parts = vec![word(self.opcode)];
        parts.extend(changed.iter().cloned());
        self.works(&changed).then(|| spelled(&parts))
    }

    /// Two words of a kind that keeps its order are exchanged: `.col.row`, `.global.shared::cta`.
    fn reordered(&mut self, words: &[Word]) -> Option<Diagnostic> {
        let mut changed = words.to_vec();
        for a in 0..words.len() {
            for b in a + 1..words.len() {
                if words[a].text == words[b].text || !same_order(&words[a].text, &words[b].text) {
                    continue;
                }
                changed.swap(a, b);
                if self.forms.iter().any(|(_, form)| fit(form, &changed).fits()) && self.works(&changed) {
                    let (first, second) = (&words[a], &words[b]);
                    let mut parts = vec![word(self.opcode)];
                    parts.extend(changed);
                    let section = self.forms.first().map_or("9.7", |f| f.0.section);
                    let right = spelled(&parts);
                    return Some(errors::exchanged(
                        second.span,
                        &second.text,
                        &first.text,
                        first.span,
                        &right,
                        section,
                    ));
                }
                changed.swap(a, b);
            }
        }
        None
    }

    /// One type that must be another in several places: `.f32.f32` for `.tf32.tf32`.
    fn types_alike(&mut self, known: &[Word], fit: &Fit, form: &Form, section: &str) -> Option<Diagnostic> {
        let [first, .., last] = fit.left.as_slice() else { return None };
        let old = &known[*first as usize].text;
        if !is_type(old) || fit.left.iter().any(|w| known[*w as usize].text != *old) {
            return None;
        }
        let span = known[*first as usize].span.to(known[*last as usize].span);
        for alt in alternatives(self.forms) {
            if !is_type(alt) || alt == old {
                continue;
            }
            let mut changed = known.to_vec();
            for w in &fit.left {
                changed[*w as usize].text = alt.to_string();
            }
            if self.works(&changed) {
                let mut parts = vec![word(self.opcode)];
                parts.extend(changed);
                let help = Some(Help::write(spelled(&parts)).whole_opcode());
                return Some(errors::not_together(span, self.opcode, old, None, form.line, help, section));
            }
        }
        None
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

    /// Reports the missing qualifiers, all in one error.
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

    /// Reports what a slot accepts, once for slots that accept the same.
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

    /// The words that are neither unknown nor repeated; reports the others.
    fn known(&mut self, words: &[Word], out: &mut Vec<Diagnostic>) -> Vec<Word> {
        let section = self.forms.first().map_or("9.7", |f| f.0.section);
        let mut known: Vec<Word> = Vec::with_capacity(words.len());
        let alone = words.iter().filter(|word| most_times(&word.text, self.forms) == 0).take(2).count() == 1;
        let mut unknown = 0;
        for (i, word) in words.iter().enumerate() {
            let most = most_times(&word.text, self.forms);
            if most == 0 {
                unknown += 1;
                if unknown > MOST_UNKNOWN {
                    continue;
                }
                let all = alternatives(self.forms);
                let instead = match same_kind(&word.text, &all) {
                    Some((kind, list)) => Some((kind.to_string(), list)),
                    None if alone => place_of(words, i, self.forms),
                    None => None,
                };
                let place = match instead.as_ref().map(|(_, list)| list.as_slice()) {
                    Some([only]) => Some(only.as_str()),
                    _ => None,
                };
                let helps = self.instead_of(words, i, &all, place);
                let instead = instead.as_ref().map(|(kind, list)| (kind.as_str(), list.as_slice()));
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
                // Where several types are given, one of them is wrong, not too much.
                Some(first) if most < times && (!is_type(&word.text) || most_types(self.forms) < times) => {
                    out.push(errors::duplicate_qualifier(word.span, &word.text, first));
                }
                _ => known.push(word.clone()),
            }
        }
        known
    }
}

/// Unknown qualifiers of an instruction that are reported: a help for each looks at all of them.
const MOST_UNKNOWN: usize = 16;

/// The types that the forms accept, if these are in several sections of the manual.
fn types_of<'f>(forms: &[(&'static Instr, &'f Form)], section: &str) -> Vec<&'f str> {
    let several = forms.iter().any(|(entry, _)| entry.section != section);
    let mut found: Vec<&str> = Vec::new();
    for (_, form) in forms {
        for slot in &form.slots {
            for alt in &slot.alts {
                if several && slot.is_type && is_type(alt.word()) && !found.contains(&alt.word()) {
                    found.push(alt.word());
                }
            }
        }
    }
    found
}

/// How many forms accept the word.
pub(super) fn most_times(word: &str, forms: &[(&'static Instr, &Form)]) -> usize {
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

/// The largest number of types that a form has.
fn most_types(forms: &[(&'static Instr, &Form)]) -> usize {
    forms.iter().map(|(_, form)| form.slots.iter().filter(|slot| slot.is_type).count()).max().unwrap_or(0)
}

/// The form nearest to the words; the first of several.
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

/// A word that no form accepts together with this one.
fn clash<'w>(word: &Word, known: &'w [Word], forms: &[(&'static Instr, &Form)]) -> Option<(&'w str, Span)> {
    for other in known {
        if other.text != word.text && !together(&word.text, &other.text, forms) {
            return Some((&other.text, other.span));
        }
    }
    None
}

/// Does a form accept both words?
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

/// Reports groups that are only partly given.
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

/// What a slot accepts, and what other forms of the section accept instead.
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
                if !alts.contains(&a.word()) {
                    alts.push(a.word());
                }
            }
        }
    }
    alts
}

/// What the forms accept, without the dots.
pub(super) fn alternatives<'f>(forms: &[(&'static Instr, &'f Form)]) -> Vec<&'f str> {
    let mut out: Vec<&str> = Vec::new();
    for (_, form) in forms {
        for slot in &form.slots {
            for alt in &slot.alts {
                out.push(alt.word());
            }
        }
    }
    out
}

/// Alternatives of the same kind that the instruction accepts: scopes, orderings, or state spaces.
pub(super) fn same_kind(word: &str, all: &[&str]) -> Option<(&'static str, Vec<String>)> {
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

/// What an instruction computes: another operation is another instruction.
pub(super) const OPERATIONS: &[&str] =
    &["add", "sub", "min", "max", "and", "or", "xor", "inc", "dec", "exch", "cas", "popc"];

pub(super) const ORDERINGS: &[&str] = &["relaxed", "acquire", "release", "acq_rel", "sc"];

pub(super) const SCOPES: &[&str] = &["cta", "cluster", "gpu", "gl", "sys"];

const VECTORS: &[&str] = &["v2", "v3", "v4", "v8"];

/// The only qualifier that the others lack, by its name in the manual, and its alternatives: what an unknown word stands for.
fn place_of(words: &[Word], at: usize, forms: &[(&'static Instr, &Form)]) -> Option<(String, Vec<String>)> {
    let others = without(words, at);
    for (_, form) in forms {
        let fit = fit(form, &others);
        if let ([], [missing], [], None) = (&fit.left[..], &fit.missing[..], &fit.partial[..], fit.misplaced)
            && let slot = &form.slots[*missing as usize]
            && !slot.is_type
            && slot.words() != [slot.name.trim_start_matches('.')]
        {
            return Some((format!("`{}`", slot.name), errors::dotted(&slot.words())));
        }
    }
    None
}

/// An ordering without its scope, or a scope without its ordering, where the form requires both (`ld`).
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
        // `fence.mbarrier_init` has one ordering, and other fences have more.
        let with = |ordering: &str| [known, &[fix::word(ordering)]].concat();
        let suits = |ordering: &str| forms.iter().any(|(_, form)| fit(form, &with(ordering)).fits());
        if orderings.iter().any(|ordering| suits(ordering)) {
            orderings.retain(|ordering| suits(ordering));
        }
        return Some(errors::incomplete_group(word.span, &word.text, ".sem", ".scope", &orderings, false, section));
    }
    None
}

/// Does a slot accept only these?
fn all_of(slot: &Slot, words: &[&str]) -> bool {
    slot.alts.iter().all(|alt| words.contains(&alt.word()))
}
