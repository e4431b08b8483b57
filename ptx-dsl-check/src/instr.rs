//! One instruction: which entry and form it is, then its operands, gates and rules.

use super::Checker;
use super::attempt::Attempt;
use super::names::Sym;
use super::select::{self, Fit};
use super::words;
use crate::ast;
use crate::diag::Diagnostic;
use crate::errors;
use crate::hir::{self, Arg};
use crate::isa::syntax::{Form, OpForm, Shape, is_type};
use crate::isa::{FAMILIES, Instr, OperandSpec, Role, Rule, Targets, When};
use crate::parse::errors::nearest;
use crate::span::Span;
use crate::ty::Ty;

/// How many of the parts the opcode takes, and what is left of the last one (`fence::before` after `fence`).
fn opcode_parts<'a>(opcode: &str, parts: &'a [ast::Word]) -> Option<(usize, Option<&'a str>)> {
    let mut n = 0;
    let mut words = opcode.split('.');
    while let Some(word) = words.next() {
        let part = &parts.get(n)?.text;
        n += 1;
        if part == word {
            continue;
        }
        let rest = part.strip_prefix(word)?;
        return (words.next().is_none() && rest.starts_with("::")).then_some((n, Some(rest)));
    }
    Some((n, None))
}

/// Words of an opcode that ptxas takes anywhere behind its first one (CUB writes `vote.ballot.sync.b32`).
fn movable(first: &str) -> &'static [&'static str] {
    match first {
        "vote" | "shfl" | "redux" | "barrier" => &["sync"],
        "add" | "sub" => &["cc"],
        "mma" => &["sp", "sp::ordered_metadata"],
        "wgmma" | "tcgen05" => &["sp"],
        _ => &[],
    }
}

/// The parts of an opcode with such a word in its place; `None` if it stands there.
fn in_order(parts: &[ast::Word]) -> Option<Vec<ast::Word>> {
    let words = movable(&parts.first()?.text);
    let (mut place, mut at) = (1, 1);
    loop {
        let word = parts.get(at)?.text.as_str();
        if words.contains(&word) {
            break;
        }
        if at == place && matches!(word, "cta" | "mma_async" | "mma" | "ws") {
            place += 1;
        }
        at += 1;
    }
    if at <= place {
        return None;
    }
    let mut parts = parts.to_vec();
    parts[place..=at].rotate_right(1);
    Some(parts)
}

/// An entry whose opcode the instruction begins with.
#[derive(Clone, Copy)]
struct Candidate<'a> {
    /// How many parts the opcode takes.
    parts: usize,
    /// What is left of the last of them.
    rest: Option<&'a str>,
    /// The parts behind the opcode.
    behind: &'a [ast::Word],
    family: &'static str,
    entry: &'static Instr,
    /// Where the opcode stands.
    span: Span,
    /// Where its last part stands.
    last: Span,
}

/// Entries that may be meant.
fn candidates<'a>(entries: &[(&'static str, &'static Instr)], parts: &'a [ast::Word]) -> Vec<Candidate<'a>> {
    let mut found = Vec::new();
    for (family, entry) in entries {
        if let Some((n, rest)) = opcode_parts(entry.opcode, parts) {
            found.push(Candidate {
                parts: n,
                rest,
                behind: &parts[n..],
                family,
                entry,
                span: span_of(&parts[..n]),
                last: parts[n - 1].span,
            });
        }
    }
    found
}

/// The smallest span that holds all of them.
fn span_of(words: &[ast::Word]) -> Span {
    let Some(first) = words.first() else { return Span::default() };
    let mut span = first.span;
    for word in words {
        span = span.to(word.span);
    }
    span
}

/// How many parts an opcode has.
fn depth_of(opcode: &str) -> usize {
    let mut parts = 0;
    for _ in opcode.split('.') {
        parts += 1;
    }
    parts
}

/// How many parts the longest opcode takes that takes fewer than so many; 0 if there is none.
fn longest(candidates: &[Candidate], below: usize) -> usize {
    let mut most = 0;
    for c in candidates {
        if c.parts < below {
            most = most.max(c.parts);
        }
    }
    most
}

/// How wrong an instruction is by one of the forms, and what is wrong.
type Failure = (usize, Vec<Diagnostic>);

impl Checker {
    /// Checks an instruction; `None` if it is broken.
    pub(super) fn instr(&mut self, ast: &ast::Instr) -> Option<hir::Instr> {
        match in_order(&ast.parts) {
            Some(parts) => self.ordered(ast, &parts),
            None => self.ordered(ast, &ast.parts),
        }
    }

    /// The same with all words of the opcode in their places.
    fn ordered(&mut self, ast: &ast::Instr, parts: &[ast::Word]) -> Option<hir::Instr> {
        let mut pred = None;
        if let Some(p) = &ast.pred {
            pred = Some((self.guard(p), !p.negated));
        }
        let entries = self.table.entries(&parts.first()?.text);
        let found = candidates(&entries, parts);
        if found.is_empty() {
            self.unknown_instruction(parts, &entries);
            return None;
        }
        let mut typed = self.by_best_form(ast, &found)?;
        if let Some((reg, positive)) = pred {
            typed.pred = Some((hir::Operand::Reg(reg?, 0), positive));
        }
        Some(typed)
    }

    /// The longest opcode counts first; a shorter one counts only if no longer one fits (`mad.lo.cc` is a form of `mad`).
    fn by_best_form(&mut self, ast: &ast::Instr, found: &[Candidate]) -> Option<hir::Instr> {
        let mut best = None;
        let mut level = longest(found, usize::MAX);
        while level > 0 && best.is_none() {
            for candidate in found {
                if candidate.parts == level
                    && let Some(typed) = self.by_entry(ast, candidate, &mut best)
                {
                    return Some(typed);
                }
            }
            level = longest(found, level);
        }
        match best {
            Some((_, errors)) => self.diags.extend(errors),
            None => self.no_form(found),
        }
        None
    }

    /// Tries all forms of an entry whose qualifiers fit; `best` is the one that comes nearest.
    fn by_entry(&mut self, ast: &ast::Instr, of: &Candidate, best: &mut Option<Failure>) -> Option<hir::Instr> {
        let words = qualifiers(of);
        let forms = self.table.forms(of.entry);
        for (number, form) in forms.iter().enumerate() {
            let fit = select::fit(form, &words);
            if !fit.fits() {
                continue;
            }
            match self.attempt(ast, of, number, form, &fit, &words) {
                Ok(typed) => return Some(typed),
                Err(failure) => match best {
                    Some(b) if b.0 <= failure.0 => {}
                    _ => *best = Some(failure),
                },
            }
        }
        None
    }

    /// No form takes these qualifiers: explains by the longest opcode.
    fn no_form(&mut self, found: &[Candidate]) {
        let level = longest(found, usize::MAX);
        let mut tables = Vec::new();
        let mut first = None;
        for c in found {
            if c.parts == level {
                tables.push((c.entry, self.table.forms(c.entry)));
                first = first.or(Some(c));
            }
        }
        let Some(first) = first else { return };
        let mut forms: Vec<(&'static Instr, &Form)> = Vec::new();
        for (entry, table) in &tables {
            for form in table.iter() {
                forms.push((*entry, form));
            }
        }
        let words = qualifiers(first);
        select::explain(&words, first.entry.opcode, first.span, &forms, &mut self.diags);
    }

    /// `same_first`: the entries whose opcodes begin with its first word.
    fn unknown_instruction(&mut self, parts: &[ast::Word], same_first: &[(&'static str, &'static Instr)]) {
        let Some(first) = parts.first() else { return };
        let Some((_, entry)) = same_first.first() else {
            self.unknown_opcode(first);
            return;
        };
        let mut same = Vec::with_capacity(same_first.len());
        let (mut depth, mut only) = (1, Some(entry.opcode));
        for (_, e) in same_first {
            same.push(e.opcode);
            depth = depth.max(depth_of(e.opcode));
            only = only.filter(|o| *o == e.opcode);
        }
        let parts = &parts[..depth.min(parts.len())];
        let mut name = first.text.clone();
        for part in &parts[1..] {
            name.push('.');
            name.push_str(&part.text);
        }
        let near = nearest(&name, &same).or(only);
        self.report(errors::unknown_instruction(span_of(parts), &name, near));
    }

    /// No opcode begins so.
    fn unknown_opcode(&mut self, first: &ast::Word) {
        let mut firsts: Vec<&str> = Vec::new();
        for (_, family) in FAMILIES {
            for entry in *family {
                let word = entry.opcode.split('.').next().unwrap_or("");
                if firsts.last() != Some(&word) {
                    firsts.push(word);
                }
            }
        }
        self.report(errors::unknown_instruction(first.span, &first.text, nearest(&first.text, &firsts)));
    }

    /// The predicate register of a guard.
    fn guard(&mut self, pred: &ast::Pred) -> Option<hir::RegId> {
        let word = &pred.reg;
        let d = match self.lookup(&word.text) {
            Some(Sym::Reg(id)) if self.reg_ty(id) == Ty::Pred => return Some(id),
            Some(Sym::Broken) => return None,
            Some(_) => errors::not_predicate(word.span, &word.text),
            None if crate::isa::sreg::sreg(&word.text).is_some() => errors::not_predicate(word.span, &word.text),
            None => self.undeclared(word.span, "predicate", &word.text),
        };
        self.report(d);
        None
    }

    /// Tries one form whose qualifiers fit. What is wrong comes back with a measure of how wrong it is.
    fn attempt(
        &mut self,
        ast: &ast::Instr,
        of: &Candidate,
        number: usize,
        form: &Form,
        fit: &Fit,
        words: &[ast::Word],
    ) -> Result<hir::Instr, Failure> {
        let mut typed = without_operands(ast, of, number, fit, words);
        let mut at = Attempt::new(of.entry, form, fit, words, &typed.quals);
        let operands =
            if of.entry.opcode == "call" { self.call(&mut at, ast) } else { self.operands(&mut at, ast, of.span) };
        let lanes = at.vec();
        let Attempt { mut errors, badness, silent, .. } = at;
        typed.operands = operands;
        if silent && errors.is_empty() {
            // A declaration was refused, and was reported where it stands.
            return Err((0, errors));
        }
        // A `mov` of a vector is one of its bits.
        if of.entry.opcode == "mov" && lanes > 1 {
            for ty in &mut typed.types {
                *ty = bits(ty.bits() * lanes);
            }
        }
        let misread = !errors.is_empty();
        self.gates(&typed, words, of.span, &mut errors);
        if misread {
            return Err((badness * 8 + errors.len(), errors));
        }
        let mut broken = Vec::new();
        self.rules(&typed, words, of.span, &mut broken);
        let badness = errors.len() + broken.len() * 2;
        if badness == 0 {
            return Ok(typed);
        }
        // What no target takes has no target to be missed.
        Err((badness, if broken.is_empty() { errors } else { broken }))
    }

    /// Version and target of the entry and of its parts.
    fn gates(&mut self, typed: &hir::Instr, words: &[ast::Word], opcode_span: Span, errors: &mut Vec<Diagnostic>) {
        let entry = typed.entry;
        // Where an opcode has several entries, it is their type that makes the difference (`redux.sync` of `.f32`).
        let several = self.entries_of(entry.opcode).len() > 1;
        let missing = match words::last_type(words) {
            Some(w) if several => {
                let what = format_args!("`{}` of `.{}`", entry.opcode, w.text);
                self.gate(w.span, what, entry.since, entry.requires, entry.section)
            }
            _ => self.gate(opcode_span, format_args!("`{}`", entry.opcode), entry.since, entry.requires, entry.section),
        };
        if let Some(d) = missing {
            errors.push(d);
            return;
        }
        if let Some((since, targets)) = entry.until
            && self.version >= since
            && let Some(target) = self.target
            && target.satisfies(targets, self.version).is_ok()
            && self.version.0 != u32::MAX
        {
            errors.push(if typed.has(".sync") && !typed.has(".aligned") {
                // `wmma` of old did without, but that is hardly what is meant.
                errors::missing_qualifier(opcode_span, entry.opcode, ".aligned", &["aligned"], false, entry.section)
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

    /// The entries of an opcode.
    fn entries_of(&mut self, opcode: &str) -> Vec<&'static Instr> {
        let mut found = Vec::new();
        for (_, entry) in self.table.entries(opcode.split('.').next().unwrap_or("")).iter() {
            if entry.opcode == opcode {
                found.push(*entry);
            }
        }
        found
    }

    fn rules(&mut self, typed: &hir::Instr, words: &[ast::Word], opcode_span: Span, errors: &mut Vec<Diagnostic>) {
        let section = typed.entry.section;
        let before = errors.len();
        for rule in typed.entry.rules {
            match rule {
                Rule::Never(when, text) => {
                    if all_hold(when, typed) {
                        let (span, _) = place(when, typed, words, opcode_span);
                        let help = self.repair(when, typed, words);
                        errors.push(errors::rule(span, forbidden_pair(when, span, words), text, help, section));
                    }
                }
                Rule::Needs(when, need, text) => {
                    if holds(when, typed) && !holds(need, typed) {
                        let (span, _) = place(std::slice::from_ref(when), typed, words, opcode_span);
                        errors.push(errors::rule(span, None, text, fulfil(need), section));
                    }
                }
                Rule::Custom(f) => {
                    if let Some((text, operand)) = f(typed) {
                        let span = match operand.and_then(|i| typed.operands.get(i)) {
                            Some(arg) => arg.span,
                            None => about(&text, words, opcode_span),
                        };
                        errors.push(errors::custom(span, &text, section));
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

    /// Which of the qualifiers that a rule forbids together can go, or what can stand in its place.
    fn repair(&mut self, when: &[When], typed: &hir::Instr, words: &[ast::Word]) -> Option<String> {
        let mut tables = Vec::new();
        for entry in self.entries_of(typed.entry.opcode) {
            tables.push(self.table.forms(entry));
        }
        let mut forms: Vec<&Form> = Vec::new();
        for table in &tables {
            for form in table.iter() {
                forms.push(form);
            }
        }
        let mut removable = String::new();
        let mut replaceable = Vec::new();
        for w in when {
            let Some(at) = written(w, words) else { continue };
            let gone = &words[at].text;
            if select::legal(&forms, &select::without(words, at)) {
                let or = if removable.is_empty() { "" } else { " or " };
                removable += &format!("{or}`.{gone}`");
            }
            if !is_type(gone) {
                replaceable.push(at);
            }
        }
        if !removable.is_empty() {
            return Some(format!("remove {removable}"));
        }
        for at in replaceable {
            if let Some(found) = replacement(when, words, at, &forms) {
                return Some(format!("write `.{found}` in place of `.{}`", words[at].text));
            }
        }
        None
    }
}

/// What can stand in place of a word: another qualifier of the same slot, which the rule does not name.
fn replacement(when: &[When], words: &[ast::Word], at: usize, forms: &[&Form]) -> Option<String> {
    let old = &words[at].text;
    let mut changed = words.to_vec();
    for form in forms {
        for slot in &form.slots {
            if !select::takes(slot, old) {
                continue;
            }
            for alt in &slot.alts {
                changed[at].text = alt.to_string();
                if !named(when, alt) && alt != old && select::legal(forms, &changed) {
                    return Some(alt.to_string());
                }
            }
        }
    }
    None
}

/// Does a condition name the qualifier (without its dot)?
fn named(when: &[When], qualifier: &str) -> bool {
    for w in when {
        let list = match w {
            When::Has(q) => std::slice::from_ref(q),
            When::HasAny(list) => list,
            _ => continue,
        };
        for q in list {
            if &q[1..] == qualifier {
                return true;
            }
        }
    }
    false
}

/// The word that a condition is about.
fn written(when: &When, words: &[ast::Word]) -> Option<usize> {
    match when {
        When::Has(q) => words::position(words, q.trim_start_matches('.')),
        When::HasAny(list) => written_any(list, words).map(|(_, at)| at),
        _ => None,
    }
}

/// The first of the qualifiers that is written, and where.
fn written_any(list: &[&'static str], words: &[ast::Word]) -> Option<(&'static str, usize)> {
    for q in list {
        if let Some(at) = words::position(words, q.trim_start_matches('.')) {
            return Some((q, at));
        }
    }
    None
}

/// The edit that gives what a rule needs.
fn fulfil(need: &When) -> Option<String> {
    Some(match need {
        When::Has(q) => format!("add `{q}`"),
        When::HasAny(list) => format!("add one, as in `{}`", list.first()?),
        When::Operand(name) => format!("add operand `{name}` at the end"),
        When::Not(q) => format!("remove `{q}`"),
        When::NoOperand(name) => format!("remove operand `{name}`"),
        When::Sink(_) => "write `_`".to_string(),
        When::Types(_) => return None,
    })
}

/// A text that begins with a qualifier is about that one.
fn about(text: &str, words: &[ast::Word], opcode_span: Span) -> Span {
    if let Some(rest) = text.strip_prefix("`.")
        && let Some((qualifier, _)) = rest.split_once('`')
        && let Some(word) = words::find(words, qualifier)
    {
        return word.span;
    }
    opcode_span
}

/// A part can miss version and target; one word is enough for each part.
fn push_once(errors: &mut Vec<Diagnostic>, d: Diagnostic) {
    for e in errors.iter() {
        if e.span == d.span && e.code == d.code {
            return;
        }
    }
    errors.push(d);
}

/// The cache policy goes with `.L2::cache_hint`, the mask of CTAs with `.multicast::cluster`, though no form says so.
fn companions(typed: &hir::Instr, words: &[ast::Word], opcode_span: Span, errors: &mut Vec<Diagnostic>) {
    for (names, qualifiers) in COMPANIONS {
        let Some(spec) = companion(typed.entry, names) else { continue };
        let mut written = None;
        for q in *qualifiers {
            if written.is_none() && typed.has(q) {
                written = Some(*q);
            }
        }
        match (typed.operand(spec.name), written) {
            (Some(arg), None) => errors.push(errors::goes_with(arg.span, spec.name, qualifiers[0], true)),
            // A constant mask has a bit for each CTA there can be, and no more.
            (Some(arg), Some(q)) if spec.name == "ctaMask" && typed.entry.opcode != "tcgen05.commit" => {
                let most = if q.ends_with("::32b") { u64::from(u32::MAX) } else { u64::from(u16::MAX) };
                if let hir::Operand::Imm(mask) = arg.value
                    && mask > most
                {
                    let section = typed.entry.section;
                    errors.push(errors::range(arg.span, spec.name, mask as i64, 0, most as i64, section));
                }
            }
            (None, Some(q)) => {
                let span = words::find(words, &q[1..]).map_or(opcode_span, |w| w.span);
                errors.push(errors::goes_with(span, spec.name, q, false));
            }
            _ => {}
        }
    }
}

/// The source operand that has one of the names.
fn companion(entry: &'static Instr, names: &[&str]) -> Option<&'static OperandSpec> {
    entry.operands.iter().find(|o| names.contains(&o.name) && o.role == Role::Src)
}

/// Operands, and the qualifiers that go with them.
const COMPANIONS: &[(&[&str], &[&str])] = &[
    (&["cache_policy", "cache-policy"], &[".L2::cache_hint"]),
    (&["ctaMask"], &[".multicast::cluster", ".multicast::cluster::16b", ".multicast::cluster::32b"]),
];

/// What follows the opcode.
fn qualifiers(of: &Candidate) -> Vec<ast::Word> {
    let mut out = of.behind.to_vec();
    if let Some(rest) = of.rest {
        out.insert(0, ast::Word { text: rest.to_string(), span: of.last });
    }
    out
}

/// The instruction with its qualifiers in their order.
fn without_operands(ast: &ast::Instr, of: &Candidate, number: usize, fit: &Fit, words: &[ast::Word]) -> hir::Instr {
    let mut out = hir::Instr {
        index: ast.index,
        family: of.family,
        entry: of.entry,
        form: number,
        quals: Vec::new(),
        types: Vec::new(),
        pred: None,
        operands: Vec::new(),
        spelling: of.entry.opcode.to_string(),
        span: ast.span,
    };
    for filled in &fit.filled {
        let Some(filled) = filled else { continue };
        let word = words[*filled as usize].text.as_str();
        if let Some(ty) = Ty::from_name(word) {
            out.types.push(ty);
        }
        let dot = if word.starts_with("::") { "" } else { "." };
        let dotted = format!("{dot}{word}");
        out.spelling.push_str(&dotted);
        out.quals.push(dotted);
    }
    out
}

/// Does the condition hold?
fn holds(when: &When, typed: &hir::Instr) -> bool {
    match when {
        When::Has(q) => typed.has(q),
        When::Not(q) => !typed.has(q),
        When::HasAny(list) => has_any(typed, list),
        When::Operand(name) => typed.operand(name).is_some(),
        When::NoOperand(name) => typed.operand(name).is_none(),
        When::Sink(name) => matches!(typed.operand(name), Some(Arg { value: hir::Operand::Sink, .. })),
        When::Types(list) => typed.types == *list,
    }
}

/// Is one of the qualifiers written?
pub(super) fn has_any(typed: &hir::Instr, qualifiers: &[&str]) -> bool {
    for q in qualifiers {
        if typed.has(q) {
            return true;
        }
    }
    false
}

/// Do all of the conditions hold?
fn all_hold(when: &[When], typed: &hir::Instr) -> bool {
    for w in when {
        if !holds(w, typed) {
            return false;
        }
    }
    true
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

/// The word or operand a condition is about: the last that is given.
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
        Some(When::HasAny(list)) => format!("`{}`{more}", written_any(list, words).map_or("", |(q, _)| q)),
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

/// Deals the operands given to those of the form. `None` if the count is none of the form's.
pub(super) fn deal<'f>(form: &'f Form, given: &[&ast::Operand], words: &[ast::Word]) -> Option<Vec<&'f OpForm>> {
    let groups = u32::from(form.optional_groups.min(8));
    let mut best: Option<(usize, Vec<&OpForm>)> = None;
    for mask in 0..1u32 << groups {
        // The first group is the highest bit, so that of equal deals the one that fills earlier groups comes last, and counts.
        let mut picked = Vec::new();
        for o in &form.operands {
            if o.group == 0 || o.group <= 8 && mask >> (groups - u32::from(o.group)) & 1 == 1 {
                picked.push(o);
            }
        }
        if picked.len() != given.len() {
            continue;
        }
        let cost = misfits(&picked, given) + without_companions(form, &picked, words);
        match best {
            Some((least, _)) if least < cost => {}
            _ => best = Some((cost, picked)),
        }
    }
    Some(best?.1)
}

/// How ill the operands given suit those of the form.
fn misfits(picked: &[&OpForm], given: &[&ast::Operand]) -> usize {
    let mut cost = 0;
    for (i, o) in picked.iter().enumerate() {
        // A name where braces are spelled out may be a vector register, but rather is something else.
        let doubtful = matches!(o.shape, Shape::Vector(_)) && !matches!(given[i].kind, ast::OperandKind::Vector(_));
        cost += usize::from(!shape_fits(o, given[i])) * 2 + usize::from(doubtful);
    }
    cost
}

/// How many operands stand without the qualifier that goes with them, or are missing though it is there.
fn without_companions(form: &Form, picked: &[&OpForm], words: &[ast::Word]) -> usize {
    let mut cost = 0;
    for (names, qualifiers) in COMPANIONS {
        let (mut possible, mut there, mut has) = (false, false, false);
        for o in &form.operands {
            possible |= names.contains(&o.name);
        }
        for o in picked {
            there |= names.contains(&o.name);
        }
        for q in *qualifiers {
            has |= words::has(words, &q[1..]);
        }
        cost += usize::from(possible && has != there);
    }
    cost
}

/// Is the operand written as the form wants it?
pub(super) fn shape_fits(form: &OpForm, given: &ast::Operand) -> bool {
    use ast::OperandKind as K;
    match (&form.shape, &given.kind) {
        (Shape::Sink, K::Sink) => true,
        (Shape::Sink, _) => false,
        (Shape::Addr(_), K::Address(_)) => true,
        (Shape::Addr(_), _) | (_, K::Address(_)) => false,
        (Shape::Vector(parts), K::Vector(given)) => parts.is_empty() || parts.len() == given.len(),
        (Shape::Vector(_), K::Expr(ast::Expr::Name(..))) => true,
        (Shape::Vector(_), _) => false,
        (Shape::Pair(..), K::Pair(..)) => true,
        (Shape::Pair(..), K::Not(_)) => false,
        (Shape::Pair(_, optional), _) => *optional,
        (_, K::Pair(..)) => false,
        (Shape::List, K::List(_)) => true,
        (Shape::List, _) | (_, K::List(_)) => false,
        (Shape::Number(n), K::Expr(ast::Expr::Int { value, .. })) => n == value,
        (Shape::Number(_), _) => false,
        (Shape::Value, K::Not(_)) => form.negatable,
        (Shape::Value, _) => true,
    }
}

/// The untyped type of a width.
fn bits(width: u32) -> Ty {
    match width {
        ..=32 => Ty::B32,
        33..=64 => Ty::B64,
        _ => Ty::B128,
    }
}
