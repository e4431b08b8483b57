//! Checks the gates (versions and targets) and rules of an instruction's entry; each error has an edit that fixes it.

use super::Checker;
use super::fix::{self, Edits};
use super::select;
use super::words;
use crate::ast;
use crate::check::errors;
use crate::diag::Diagnostic;
use crate::edit::Help;
use crate::span::Span;
use ptx_dsl_isa::hir;
use ptx_dsl_isa::isa::syntax::{Form, Shape, is_type};
use ptx_dsl_isa::isa::{Instr, OperandSpec, Part, Ptx, Role, Rule, Targets, When};
use ptx_dsl_isa::opcode::{Opcode, op};
use ptx_dsl_isa::qualifier::{Qualifier, q};

impl Checker {
    /// Checks version and target of the entry and of its parts.
    pub(super) fn gates(
        &mut self,
        typed: &hir::Instr,
        words: &[ast::Word],
        opcode_span: Span,
        errors: &mut Vec<Diagnostic>,
    ) {
        let entry = typed.entry;
        // Where an opcode has several entries, it is their type that makes the difference (`redux.sync` of `.f32`).
        let several = self.entries_of(typed.opcode).len() > 1;
        // Or a constant that its form has.
        let form = &self.table.forms(entry)[typed.form];
        let number = form.operands.iter().find(|o| several && matches!(o.shape, Shape::Number(_)));
        let number = number.and_then(|o| typed.operand(o.name));
        let missing = match (number, words::last_type(words)) {
            (Some(arg), _) => {
                let what = format_args!("`{}` as an operand here", arg.name);
                self.gate(arg.span, what, entry.since, entry.requires, entry.section)
            }
            (None, Some(w)) if several => {
                let what = format_args!("`{}` of `.{}`", entry.opcode, w.text);
                self.gate(w.span, what, entry.since, entry.requires, entry.section)
            }
            _ => self.gate(opcode_span, format_args!("`{}`", entry.opcode), entry.since, entry.requires, entry.section),
        };
        if let Some(d) = missing {
            errors.push(d);
            return;
        }
        if let Some(since) = self.gone(entry) {
            errors.push(if typed.has(q::sync) && !typed.has(q::aligned) {
                // `wmma` of old did without, but that is hardly what is meant.
                let what = ["`.aligned`".to_string()];
                let right = [typed.spelling.replacen(".sync", ".sync.aligned", 1)];
                errors::missing_qualifiers(opcode_span, entry.opcode, &what, false, &[], &right, entry.section)
            } else {
                errors::gone(opcode_span, entry.opcode, since, &self.target_name, entry.section)
            });
            return;
        }
        for gate in entry.gates {
            if !all_hold(gate.when, typed) {
                continue;
            }
            let (span, what) = place(gate.when, typed, words, opcode_span);
            let since = gate.since.unwrap_or(entry.since);
            let requires = gate.requires.unwrap_or(Targets::Sm(0));
            if let Some(d) = self.gate(span, format_args!("{what}"), since, requires, entry.section) {
                push_once(errors, d);
            }
        }
    }

    /// The version that removed an entry, if it applies to the module's version and target.
    pub(super) fn gone(&self, entry: &Instr) -> Option<Ptx> {
        let (since, targets) = entry.until?;
        let target = self.target?;
        let here = target.satisfies(targets, self.version).is_ok();
        (here && self.version >= since && self.version.0 != u32::MAX).then_some(since)
    }

    /// The entries of an opcode.
    fn entries_of(&mut self, opcode: Opcode) -> Vec<&'static Instr> {
        let entries = self.table.entries(opcode.name().split('.').next().unwrap_or(""));
        entries.iter().filter(|entry| entry.opcode == opcode).map(|entry| entry.instr).collect()
    }

    /// Checks the rules of the entry.
    pub(super) fn rules(
        &mut self,
        ast: &ast::Instr,
        typed: &hir::Instr,
        words: &[ast::Word],
        opcode_span: Span,
        errors: &mut Vec<Diagnostic>,
    ) {
        let section = typed.entry.section;
        let before = errors.len();
        for rule in typed.entry.rules {
            match rule {
                Rule::Never(when, text) => {
                    if all_hold(when, typed) {
                        let (span, _) = place(when, typed, words, opcode_span);
                        let help = self.repair(when, ast, typed, words);
                        errors.push(errors::rule(span, forbidden_pair(when, span, words), text, help, section));
                    }
                }
                Rule::Needs(when, need, text) => {
                    if typed.fulfils(when) && !typed.fulfils(need) {
                        let (span, _) = place(std::slice::from_ref(when), typed, words, opcode_span);
                        let help = self.fulfil(need, ast, typed, words);
                        errors.push(errors::rule(span, None, text, help, section));
                    }
                }
                Rule::Multiple(rule) => {
                    if let Some(hir::Arg { value: hir::Operand::Imm(value), span, .. }) = typed.operand(rule.operand)
                        && !value.is_multiple_of(rule.of)
                    {
                        errors.push(errors::multiple(*span, rule, *value, section));
                    }
                }
                Rule::Custom(f) => {
                    if let Some(violation) = f(typed) {
                        let span = part(violation.part, typed, words).unwrap_or(opcode_span);
                        let place = |q| part(Part::Qualifier(q), typed, words);
                        errors.push(errors::violation(span, violation, place, section));
                    }
                }
            }
        }
        if matches!(typed.family, "texture" | "surface") {
            self.texture(typed, opcode_span, errors);
        }
        if errors.len() == before {
            companions(typed, words, opcode_span, errors);
        }
    }

    /// Which of the qualifiers that a rule forbids together to remove or replace.
    fn repair(&mut self, when: &[When], ast: &ast::Instr, typed: &hir::Instr, words: &[ast::Word]) -> Option<Help> {
        if self.attempts.trying {
            return None;
        }
        let opcode = typed.entry.opcode;
        let mut tables = Vec::new();
        for entry in self.entries_of(typed.opcode) {
            tables.push(self.table.forms(entry));
        }
        let mut forms: Vec<&Form> = Vec::new();
        for table in &tables {
            for form in table.iter() {
                forms.push(form);
            }
        }
        let mut removable = Edits::default();
        let mut replaceable = Edits::default();
        for w in when {
            let Some(at) = written(w, words) else { continue };
            let old = &words[at].text;
            let rest = select::without(words, at);
            if select::legal(&forms, &rest) {
                let word = format!(".{old}");
                let edit = Help::remove_word(&word, words[at].span);
                removable.add(word, edit, self.verdict_of(ast, fix::parts(opcode, &rest)));
            }
            if is_type(old) {
                continue;
            }
            let mut changed = words.to_vec();
            for alt in replacements(when, old, &forms) {
                changed[at].text = alt.to_string();
                if select::legal(&forms, &changed) {
                    let verdict = self.verdict_of(ast, fix::parts(opcode, &changed));
                    let edit = Help::replace(&format!(".{alt}"), &format!(".{old}"), words[at].span);
                    replaceable.add(alt.to_string(), edit, verdict);
                }
            }
        }
        let gone = removable.best("remove");
        match replaceable.first() {
            Some(found) if gone.is_none() || replaceable.is_better(&removable) => Some(found),
            _ => gone,
        }
    }

    /// The edit that adds what a rule requires.
    fn fulfil(&mut self, need: &When, ast: &ast::Instr, typed: &hir::Instr, words: &[ast::Word]) -> Option<Help> {
        Some(match need {
            When::Has(q) => Help::add(q.text()),
            When::HasAny(list) => {
                let mut edits = Edits::default();
                for q in *list {
                    let mut more = words.to_vec();
                    more.push(fix::word(q.word()));
                    edits.add(
                        q.to_string(),
                        Help::add(q.text()),
                        self.verdict_of(ast, fix::parts(typed.entry.opcode, &more)),
                    );
                }
                edits.best("add")?
            }
            When::Operand(name) => format!("add operand `{name}` at the end").into(),
            When::Not(q) => match words::find(words, q.word()) {
                Some(word) => Help::remove_word(q.text(), word.span),
                None => format!("remove `{q}`").into(),
            },
            When::Sink(_) => Help::write("_"),
            When::Types(_) => return None,
        })
    }
}

/// Replacements for a word: other qualifiers of the same slot that the rule does not name.
fn replacements(when: &[When], old: &str, forms: &[&Form]) -> Vec<&'static str> {
    let mut found: Vec<&str> = Vec::new();
    for form in forms {
        for slot in &form.slots {
            if !select::takes(slot, old) {
                continue;
            }
            for alt in &slot.alts {
                let (id, alt) = (*alt, alt.word());
                if !named(when, id) && alt != old && !found.contains(&alt) {
                    found.push(alt);
                }
            }
        }
    }
    found
}

/// Does a condition name the qualifier?
fn named(when: &[When], qualifier: Qualifier) -> bool {
    when.iter().any(|w| match w {
        When::Has(q) => *q == qualifier,
        When::HasAny(list) => list.contains(&qualifier),
        _ => false,
    })
}

/// The word of a condition.
fn written(when: &When, words: &[ast::Word]) -> Option<usize> {
    match when {
        When::Has(q) => words::position(words, q.word()),
        When::HasAny(list) => written_any(list, words).map(|(_, at)| at),
        _ => None,
    }
}

/// The first of the qualifiers that is written, and its place.
fn written_any(list: &[Qualifier], words: &[ast::Word]) -> Option<(Qualifier, usize)> {
    list.iter().find_map(|q| Some((*q, words::position(words, q.word())?)))
}

/// The place of a qualifier or an operand, if it is written.
fn part(part: Part, typed: &hir::Instr, words: &[ast::Word]) -> Option<Span> {
    match part {
        Part::Opcode => None,
        Part::Qualifier(q) => words::find(words, q.word()).map(|word| word.span),
        Part::Operand(number) => typed.operands.get(number).map(|arg| arg.span),
    }
}

/// Adds an error unless there is one with the same span and code.
fn push_once(errors: &mut Vec<Diagnostic>, d: Diagnostic) {
    for e in errors.iter() {
        if e.span == d.span && e.code == d.code {
            return;
        }
    }
    errors.push(d);
}

/// A cache policy requires `.L2::cache_hint`, and a mask of CTAs `.multicast::cluster`, although no form says so.
fn companions(typed: &hir::Instr, words: &[ast::Word], opcode_span: Span, errors: &mut Vec<Diagnostic>) {
    for (names, qualifiers) in COMPANIONS {
        let Some(spec) = companion(typed.entry, names) else { continue };
        let mut written = None;
        for q in *qualifiers {
            if written.is_none() && typed.has(*q) {
                written = Some(*q);
            }
        }
        match (typed.operand(spec.name), written) {
            (Some(arg), None) => errors.push(errors::goes_with(arg.span, spec.name, qualifiers[0].text(), true)),
            // A constant mask has a bit for each CTA there can be, and no more.
            (Some(arg), Some(q)) if spec.name == "ctaMask" && typed.opcode != op::tcgen05_commit => {
                let most = if q == q::multicast_cluster_32b { u64::from(u32::MAX) } else { u64::from(u16::MAX) };
                if let hir::Operand::Imm(mask) = arg.value
                    && mask > most
                {
                    let section = typed.entry.section;
                    errors.push(errors::range(arg.span, spec.name, mask as i64, 0, most as i64, section));
                }
            }
            (None, Some(q)) => {
                let span = words::find(words, q.word()).map_or(opcode_span, |w| w.span);
                errors.push(errors::goes_with(span, spec.name, q.text(), false));
            }
            _ => {}
        }
    }
}

/// The source operand that has one of the names.
fn companion(entry: &'static Instr, names: &[&str]) -> Option<&'static OperandSpec> {
    entry.operands.iter().find(|o| names.contains(&o.name) && o.role == Role::Src)
}

/// Do all of the conditions hold?
fn all_hold(when: &[When], typed: &hir::Instr) -> bool {
    when.iter().all(|w| typed.fulfils(w))
}

/// The two qualifiers that a rule forbids together: the one at `span`, and the nearest before it in the rule.
fn forbidden_pair<'w>(when: &[When], span: Span, words: &'w [ast::Word]) -> Option<(&'w str, (&'w str, Span))> {
    let [first, second] = when else { return None };
    let first = &words[written(first, words)?];
    let second = &words[written(second, words)?];
    let (at, other) = match (first.span == span, second.span == span) {
        (true, false) => (first, second),
        (false, true) => (second, first),
        _ => return None,
    };
    Some((at.text.as_str(), (other.text.as_str(), other.span)))
}

/// The word or operand of a condition: the last one that is given.
fn place(when: &[When], typed: &hir::Instr, words: &[ast::Word], opcode_span: Span) -> (Span, String) {
    let opcode = typed.entry.opcode;
    let (mut span, mut what) = (opcode_span, None);
    let mut conditions = 0;
    for w in when {
        if matches!(w, When::Has(_) | When::HasAny(_) | When::Operand(_)) {
            conditions += 1;
        }
        let found = match w {
            When::Has(_) | When::HasAny(_) => written(w, words).map(|at| words[at].span),
            When::Operand(name) | When::Sink(name) => typed.operand(name).map(|arg| arg.span),
            When::Types(_) => words::last_type(words).map(|word| word.span),
            _ => None,
        };
        if let Some(found) = found {
            (span, what) = (found, Some(w));
        }
    }
    let more = if conditions > 1 { " in this combination" } else { "" };
    let text = match what {
        Some(When::Has(q)) => format!("`{q}`{more}"),
        Some(When::HasAny(list)) => format!("`{}`{more}", written_any(list, words).map_or("", |(q, _)| q.text())),
        Some(When::Operand(name)) => format!("operand `{name}`{more}"),
        Some(When::Types(list)) => {
            let mut types = String::new();
            for ty in *list {
                types.push('.');
                types.push_str(ty.name());
            }
            format!("`{opcode}{types}`{more}")
        }
        Some(When::Sink(_)) => format!("`_` as the result of `{opcode}`{more}"),
        _ => format!("`{opcode}` in this form{more}"),
    };
    (span, text)
}

/// Operands and the qualifiers that they require.
pub(super) const COMPANIONS: &[(&[&str], &[Qualifier])] = &[
    (&["cache_policy", "cache-policy"], &[q::L2_cache_hint]),
    (&["ctaMask"], &[q::multicast_cluster, q::multicast_cluster_16b, q::multicast_cluster_32b]),
];
