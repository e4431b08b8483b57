//! Fixes for missing, misspelt or extra qualifiers: what to add, replace or remove.

use super::super::qualifier_errors::{Explainer, OPERATIONS, ORDERINGS, SCOPES, alternatives, most_times, same_kind};
use super::super::select::{Fit, fit, legal, without};
use super::{Edits, FAR, Verdict, distance, spelled, word};
use crate::ast::Word;
use crate::check::errors;
use crate::edit::Help;
use crate::parse::foreign;
use crate::parse::near::all_near;
use crate::span::Span;
use ptx_dsl_isa::isa::syntax::{Form, Slot, is_space, is_type};
use ptx_dsl_isa::qualifier::q;
use ptx_dsl_isa::ty::{Class, Ty};

impl Explainer<'_> {
    /// Opcodes with all these words and the missing ones; legal ones if there are any.
    pub(crate) fn completed(&mut self, known: &[Word]) -> Vec<String> {
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

    /// Candidates for a slot, the likeliest first, each with its unlikelihood.
    fn preferred(&self, slot: &Slot) -> Vec<(usize, String)> {
        let mut ranked = Vec::with_capacity(slot.alts.len());
        for alt in &slot.alts {
            let rank = match alt.ty() {
                Some(ty) => distance(ty, &self.types),
                None if SPECIAL.contains(&alt.word()) || alt.after(".proxy").is_some() => FAR,
                // `.lo` is a half of a product, and a comparison.
                None => usize::from(!USUAL.contains(&alt.word()) || *alt == q::lo && slot.alts.contains(&q::eq)),
            };
            ranked.push((rank, alt.word().to_string()));
        }
        ranked.sort_by_key(|r| r.0);
        ranked
    }

    /// A replacement for an unknown word, or its removal: a help, legal if any is. `place`: the only qualifier that is missing.
    pub(crate) fn instead_of(&mut self, words: &[Word], at: usize, all: &[&str], place: Option<&str>) -> Option<Help> {
        let name = words[at].text.as_str();
        let longer = continued(name, all);
        let near = match longer.as_slice() {
            // No other is nearer.
            [only] => vec![*only],
            _ => all_near(name, all),
        };
        let meant = foreign::ty(name).or_else(|| foreign_word(name));
        let mut candidates: Vec<&str> = Vec::new();
        candidates.extend(meant);
        candidates.extend(longer.iter().filter(|_| longer.len() > 1));
        candidates.extend(near.iter().take(8));
        if is_type(name) || foreign::ty(name).is_some() {
            let mut types: Vec<(usize, &str)> = Vec::new();
            for alt in all {
                if let Some(ty) = Ty::from_name(alt) {
                    let written = Ty::from_name(name);
                    // One number is none for two.
                    if written.is_some_and(|w| w.class() == Class::Packed) && ty.class() != Class::Packed {
                        continue;
                    }
                    // An integer for an integer.
                    let other = written.is_some_and(|written| integer(written) != integer(ty));
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
        if candidates.is_empty()
            && let Some(place) = place
        {
            candidates.extend(all.iter().find(|word| **word == &place[1..]));
        }
        // `.rnf32`
        let mut apart = Vec::new();
        for i in 1..name.len().min(24) {
            if let Some((a, b)) = name.split_at_checked(i)
                && let b = b.trim_start_matches("::").trim_start_matches('_')
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
                let several = longer.len() > 1 && longer.contains(&candidate);
                if Some(candidate) == meant || near.contains(&candidate) && !several || candidate.contains('.') {
                    break;
                }
            }
        }
        // `fence::before_thread_sync` is one word and a part of another.
        if let Some(first) = found.first()
            && first.starts_with("::")
        {
            return Some(Help::write(format!("{}{first}", self.opcode)).whole_opcode());
        }
        if let [only] = found.as_slice()
            && (near.contains(only) || longer.contains(only) || Some(*only) == meant || only.contains('.'))
        {
            return Some(Help::did_you_mean(format!(".{only}")));
        }
        if !found.is_empty() {
            return Some(Help::write_one_of(&errors::dotted(&found)));
        }
        if self.works(&without(words, at)) {
            return Some(Help::remove());
        }
        // What else is wrong with the instruction is another matter, but the word suits the others. With more that are unknown
        // there is no telling; a number is not a slip of the pen.
        let others =
            !is_type(name) && words.iter().enumerate().any(|(i, w)| i != at && most_times(&w.text, self.forms) == 0);
        let least = if name.contains(|c: char| c.is_ascii_digit()) { Verdict::Near } else { Verdict::Misplaced };
        for near in near.iter().take(8) {
            let mut changed = words.to_vec();
            changed[at].text = near.to_string();
            if others || self.tried(&changed) <= least {
                return Some(match near.starts_with("::") {
                    true => Help::write(format!("{}{near}", self.opcode)).whole_opcode(),
                    false => Help::did_you_mean(format!(".{near}")),
                });
            }
        }
        None
    }

    /// An edit that makes the instruction legal, or at least acceptable to a form: removes or replaces one of two conflicting
    /// words.
    pub(crate) fn repair(&mut self, at: usize, known: &[Word], other: Option<(&str, Span)>) -> Option<Help> {
        let mut plain = Vec::new();
        for (_, form) in self.forms {
            plain.push(*form);
        }
        // A scope or an ordering that another qualifier has not.
        let pair = [Some(at), other.and_then(|(_, span)| known.iter().position(|w| w.span == span))];
        for i in pair.into_iter().flatten() {
            let old = known[i].text.as_str();
            if !SCOPES.contains(&old) && !ORDERINGS.contains(&old) {
                continue;
            }
            let Some((_, kind)) = same_kind(old, &alternatives(self.forms)) else { continue };
            for new in kind {
                let mut changed = known.to_vec();
                changed[i].text = new[1..].to_string();
                if new[1..] != *old && legal(&plain, &changed) && self.works(&changed) {
                    return Some(Help::replace(&new, &format!(".{old}"), known[i].span));
                }
            }
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
            let Some((gone, span, rest)) = removed(i, known, &plain) else { continue };
            let edit = Help::remove_word(&gone, span);
            removable.add(gone, edit, self.tried(&rest));
        }
        if removable.suffices() {
            return removable.best("remove");
        }
        let clash = other.map_or(at, |(_, span)| known.iter().position(|w| w.span == span).unwrap_or(at));
        let mut places = vec![clash, at];
        if other.is_none() && is_type(&known[at].text) {
            // With each other word alone it would be possible: `.rn` and `.ue8m0x2`.
            places = (0..known.len()).filter(|i| !is_type(&known[*i].text)).chain([at]).collect();
        }
        for i in places {
            if let Some(new) = self.another_word(known, i) {
                return Some(Help::replace(&format!(".{new}"), &format!(".{}", known[i].text), known[i].span));
            }
        }
        if let Some(help) = removable.best("remove") {
            return Some(help);
        }
        let (_, kind) = same_kind(&known[at].text, &alternatives(self.forms))?;
        let mut changed = known.to_vec();
        let old = format!(".{}", known[at].text);
        let mut replaceable = Edits::default();
        for word in kind {
            if let (Some(old), Some(ty)) = (Ty::from_name(&known[at].text), Ty::from_name(&word[1..]))
                && integer(old) != integer(ty)
            {
                continue;
            }
            changed[at].text = word[1..].to_string();
            if legal(&plain, &changed) {
                let edit = Help::replace(&word, &old, known[at].span);
                replaceable.add(word, edit, self.tried(&changed));
            }
        }
        replaceable.first()
    }

    /// A type in place of a type, or another qualifier in place of one, that makes the instruction legal.
    fn another_word(&mut self, known: &[Word], at: usize) -> Option<String> {
        let old = known[at].text.as_str();
        let mut words: Vec<(usize, &str)> = Vec::new();
        let all = alternatives(self.forms);
        // Of many shapes of matrices those first that begin alike.
        let near = all_near(old, &all);
        for alt in all {
            match Ty::from_name(alt) {
                _ if alt == old || Ty::from_name(alt).is_some() != is_type(old) => {}
                // Another operation, or memory of another size, is another instruction.
                None if OPERATIONS.contains(&old) => {}
                Some(ty) if self.types.is_empty() && Ty::from_name(old).is_some_and(|old| !exchangeable(old, ty)) => {}
                Some(ty) => words.push((distance(ty, &self.types), alt)),
                None if near.contains(&alt) => words.push((old.len() - alike(old, alt).min(old.len()), alt)),
                None if USUAL.contains(&alt) => words.push((old.len(), alt)),
                None => words.push((old.len() + 1, alt)),
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

/// The words that go on after this one, such as `.multicast::cluster` after `.multicast`, `.launch_dependents` after `.launch` and
/// `.e4m3x2` after `.e4m3`, and the one that is the same after `::`, such as `.ld` in `tcgen05.wait.ld`.
fn continued<'a>(name: &str, all: &[&'a str]) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for word in all {
        let longer = word.strip_prefix(name).is_some_and(|rest| {
            rest.starts_with("::")
                || name.len() > 3 && (rest.starts_with('_') || is_type(name) && rest.starts_with('x'))
        });
        if (longer || word.strip_prefix("::") == Some(name)) && !found.contains(word) {
            found.push(word);
        }
    }
    found
}

/// How many characters two words begin with alike.
fn alike(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

/// Is memory of one type that of the other, perhaps with another sign?
fn exchangeable(a: Ty, b: Ty) -> bool {
    integer(a) == integer(b) && a.bits() == b.bits()
}

fn integer(ty: Ty) -> bool {
    !matches!(ty.class(), Class::Float | Class::Packed | Class::Pred)
}

/// The qualifier for a word of another instruction or language.
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
        // `__shfl_xor_sync`
        "xor" => "bfly",
        // Types of `tcgen05.mma`.
        "kind::bf16" | "kind::fp16" | "f16" | "bf16" => "kind::f16",
        "kind::fp8" | "kind::f8" | "kind::fp6" | "kind::e4m3" | "kind::e5m2" | "f8f6f4" => "kind::f8f6f4",
        "kind::fp4" | "kind::f4" | "kind::mxfp4" => "kind::mxf4",
        "kind::nvfp4" | "kind::nvf4" => "kind::mxf4nvf4",
        "kind::mxfp8" | "kind::mxf8" | "kind::mxfp6" => "kind::mxf8f6f4",
        "kind::int8" | "kind::s8" | "kind::u8" | "i8" => "kind::i8",
        "kind::f32" | "tf32" => "kind::tf32",
        _ => return None,
    })
}

/// The qualifiers with the `n`th choice for the missing ones, in the order of the form, and its unlikelihood.
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

/// The usual choice if any will do.
const USUAL: &[&str] = &["rn", "lo", "gl", "gpu", "acq_rel", "global"];

/// Rarely meant choices.
const SPECIAL: &[&str] = &["cc", "noftz"];

/// A word, or an ordering with its scope, whose removal lets a form accept the others; and these.
fn removed(at: usize, known: &[Word], forms: &[&Form]) -> Option<(String, Span, Vec<Word>)> {
    let word = &known[at].text;
    let mut rest = without(known, at);
    if legal(forms, &rest) {
        return Some((format!(".{word}"), known[at].span, rest));
    }
    if !ORDERINGS.contains(&word.as_str()) {
        return None;
    }
    for i in 0..rest.len() {
        if SCOPES.contains(&rest[i].text.as_str()) {
            let scope = rest.remove(i);
            let both = known[at].span.to(scope.span);
            return legal(forms, &rest).then(|| (format!(".{word}.{}", scope.text), both, rest));
        }
    }
    None
}
