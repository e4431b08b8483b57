//! One instruction: which entry and form it is, then its operands, gates and rules.

use super::Checker;
use super::attempt::Attempt;
use super::select::{self, Fit};
use crate::ast;
use crate::diag::Diagnostic;
use crate::errors;
use crate::hir;
use crate::isa::syntax::{Form, OpForm, Shape, is_type};
use crate::isa::{FAMILIES, Instr, Role, Rule, Targets, When};
use crate::parse::errors::nearest;
use crate::span::Span;
use crate::ty::Ty;
use ptx_dsl_table::list::List;

/// How many of the parts the opcode takes, and what is left of the last one (`fence::before` after `fence`).
fn opcode_parts<'a>(opcode: &str, parts: &'a [ast::Word]) -> Option<(usize, Option<&'a str>)> {
    let mut n = 0;
    let words = opcode.split('.').count();
    for word in opcode.split('.') {
        let part = &parts.get(n)?.text;
        n += 1;
        if part == word {
            continue;
        }
        let rest = part.strip_prefix(word)?;
        return (n == words && rest.starts_with("::")).then_some((n, Some(rest)));
    }
    Some((n, None))
}

/// Words of an opcode that ptxas takes anywhere behind its first one (CUB writes `vote.ballot.sync.b32`).
const MOVABLE: &[(&str, &[&str])] = &[
    ("vote", &["sync"]),
    ("shfl", &["sync"]),
    ("redux", &["sync"]),
    ("barrier", &["sync"]),
    ("add", &["cc"]),
    ("sub", &["cc"]),
    ("mma", &["sp", "sp::ordered_metadata"]),
    ("wgmma", &["sp"]),
    ("tcgen05", &["sp"]),
];

/// The instruction with such a word in its place; `None` if it stands there.
fn in_order(ast: &ast::Instr) -> Option<ast::Instr> {
    let first = &ast.parts.first()?.text;
    let (_, words) = MOVABLE.iter().find(|m| m.0 == first)?;
    let at = ast.parts.iter().position(|p| words.contains(&p.text.as_str()))?;
    let before = |p: &&ast::Word| matches!(p.text.as_str(), "cta" | "mma_async" | "mma" | "ws");
    let place = 1 + ast.parts[1..at.max(1)].iter().take_while(before).count();
    if at <= place {
        return None;
    }
    let mut ast = ast.clone();
    ast.parts[place..=at].rotate_right(1);
    Some(ast)
}

impl Checker {
    /// Checks an instruction; `None` if it is broken.
    pub(super) fn instr(&mut self, ast: &ast::Instr) -> Option<hir::Instr> {
        let ordered = in_order(ast);
        let ast = ordered.as_ref().unwrap_or(ast);
        let pred = ast.pred.as_ref().map(|p| (self.guard(p), !p.negated));
        let first = ast.parts.first()?;
        let entries = self.table.entries(&first.text);
        let all_words = ast.parts.iter().map(|p| p.text.as_str()).list();
        // The longest opcode counts first; a shorter one counts only if no longer one fits (`mad.lo.cc` is a form of `mad`).
        let mut found: Vec<(usize, Option<&str>, &'static str, &'static Instr)> = Vec::new();
        for (family, entry) in entries.iter() {
            if let Some((n, rest)) = opcode_parts(entry.opcode, &ast.parts) {
                found.push((n, rest, family, entry));
            }
        }
        let Some(longest) = found.iter().map(|f| f.0).max() else {
            self.unknown_instruction(ast, &all_words, entries.iter().map(|e| e.1.opcode));
            return None;
        };
        let mut best: Option<(usize, Vec<Diagnostic>)> = None;
        let mut level = longest;
        loop {
            let mut any = false;
            for (n, rest, family, entry) in found.iter().filter(|f| f.0 == level) {
                let forms = self.table.forms(entry);
                let words = qualifiers(&ast.parts, *n, *rest);
                for (number, form) in forms.iter().enumerate() {
                    let fit = select::fit(form, &words);
                    if !fit.fits() {
                        continue;
                    }
                    any = true;
                    let opcode_span = ast.parts[..*n].iter().fold(first.span, |s, p| s.to(p.span));
                    match self.attempt(ast, family, entry, number, form, &fit, &words, opcode_span) {
                        Ok(mut typed) => {
                            typed.pred = match pred {
                                None => None,
                                Some((Some(p), positive)) => Some((p, positive)),
                                Some((None, _)) => return None,
                            };
                            return Some(typed);
                        }
                        Err((badness, errors)) => {
                            if best.as_ref().is_none_or(|b| badness < b.0) {
                                best = Some((badness, errors));
                            }
                        }
                    }
                }
            }
            if any {
                break;
            }
            match found.iter().map(|f| f.0).filter(|n| *n < level).max() {
                Some(next) => level = next,
                None => break,
            }
        }
        if let Some((_, errors)) = best {
            self.diags.extend(errors);
            return None;
        }
        // No form takes these qualifiers: explain by the longest opcode.
        found.retain(|f| f.0 == longest);
        let (n, rest, _, entry) = found[0];
        let words = qualifiers(&ast.parts, n, rest);
        let tables = found.iter().map(|f| (f.3, self.table.forms(f.3))).list();
        let forms: Vec<(&'static Instr, &Form)> =
            tables.iter().flat_map(|(e, fs)| fs.iter().map(move |f| (*e, f))).list();
        let opcode_span = ast.parts[..n].iter().fold(first.span, |s, p| s.to(p.span));
        let errors = select::explain(&words, entry.opcode, opcode_span, &forms);
        self.diags.extend(errors);
        None
    }

    fn unknown_instruction<'a>(&mut self, ast: &ast::Instr, words: &[&str], same_first: impl Iterator<Item = &'a str>) {
        let same = same_first.list();
        let first = words.first().copied().unwrap_or("");
        if same.is_empty() {
            let mut firsts: Vec<&str> =
                FAMILIES.iter().flat_map(|f| f.1.iter().map(|i| i.opcode.split('.').next().unwrap_or(""))).list();
            firsts.dedup();
            let span = ast.parts.first().map_or(ast.span, |p| p.span);
            self.report(errors::unknown_instruction(span, first, nearest(first, firsts)));
            return;
        }
        let depth = same.iter().map(|o| o.split('.').count()).max().unwrap_or(1).min(words.len());
        let name = words[..depth].join(".");
        let span = ast.parts[..depth].iter().fold(ast.parts[0].span, |s, p| s.to(p.span));
        let only = same.iter().all(|o| *o == same[0]).then_some(same[0]);
        let near = nearest(&name, same.iter().copied()).or(only);
        let d = errors::unknown_instruction(span, &name, near);
        self.report(d);
    }

    fn guard(&mut self, pred: &ast::Pred) -> Option<hir::Operand> {
        use super::names::Sym;
        let word = &pred.reg;
        match self.lookup(&word.text) {
            Some(Sym::Reg(id)) => {
                let ty = self.fun.as_ref().and_then(|f| f.regs.get(id.0 as usize)).map(|r| r.ty);
                if ty == Some(Ty::Pred) {
                    return Some(hir::Operand::Reg(id, 0));
                }
                self.report(errors::not_predicate(word.span, &word.text));
            }
            Some(Sym::Broken) => {}
            Some(_) => self.report(errors::not_predicate(word.span, &word.text)),
            None if crate::isa::sreg::sreg(&word.text).is_some() => {
                self.report(errors::not_predicate(word.span, &word.text))
            }
            None => {
                let d = self.undeclared(word.span, "predicate", &word.text);
                self.report(d);
            }
        }
        None
    }

    /// Tries one form whose qualifiers fit. What is wrong comes back with a measure of how wrong it is.
    #[allow(clippy::too_many_arguments)]
    fn attempt(
        &mut self,
        ast: &ast::Instr,
        family: &'static str,
        entry: &'static Instr,
        number: usize,
        form: &Form,
        fit: &Fit,
        words: &[ast::Word],
        opcode_span: Span,
    ) -> Result<hir::Instr, (usize, Vec<Diagnostic>)> {
        let mut quals = Vec::with_capacity(words.len());
        let mut types = Vec::new();
        let mut spelling = entry.opcode.to_string();
        for filled in fit.filled.iter().flatten() {
            let word = &words[*filled as usize].text;
            let dotted = if word.starts_with("::") { word.clone() } else { format!(".{word}") };
            spelling += &dotted;
            if let Some(ty) = Ty::from_name(word) {
                types.push(ty);
            }
            quals.push(dotted);
        }
        let mut at = Attempt::new(entry, form, fit, words, &quals);
        let args =
            if entry.opcode == "call" { self.call(&mut at, ast) } else { self.operands(&mut at, ast, opcode_span) };
        let mut errors = std::mem::take(&mut at.errors);
        let badness = at.badness;
        if at.silent && errors.is_empty() {
            // A declaration was refused, and was reported where it stands.
            return Err((0, errors));
        }
        // A `mov` of a vector is one of its bits.
        let types = match at.vec() {
            lanes @ 2.. if entry.opcode == "mov" => types.iter().map(|t| bits(t.bits() * lanes)).list(),
            _ => types,
        };
        let typed = hir::Instr {
            index: ast.index,
            family,
            entry,
            form: number,
            quals,
            types,
            pred: None,
            operands: args,
            spelling,
            span: ast.span,
        };
        if !errors.is_empty() {
            self.gates(&typed, words, opcode_span, &mut errors);
            return Err((badness * 8 + errors.len(), errors));
        }
        self.gates(&typed, words, opcode_span, &mut errors);
        let mut broken = Vec::new();
        self.rules(&typed, words, opcode_span, &mut broken);
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
        let first = entry.opcode.split('.').next().unwrap_or("");
        let several = self.table.entries(first).iter().filter(|e| e.1.opcode == entry.opcode).count() > 1;
        let ty = words.iter().rfind(|w| is_type(&w.text)).filter(|_| several);
        let (span, what) = match ty {
            Some(w) => (w.span, format!("`{}` of `.{}`", entry.opcode, w.text)),
            None => (opcode_span, format!("`{}`", entry.opcode)),
        };
        if let Some(d) = self.gate(span, &what, entry.since, entry.requires, entry.section) {
            errors.push(d);
            return;
        }
        if let Some((since, targets)) = entry.until
            && self.version >= since
            && self.target.is_some_and(|t| t.satisfies(targets, self.version).is_ok())
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
            if !gate.when.iter().all(|w| holds(w, typed)) {
                continue;
            }
            let (span, what) = place(gate.when, typed, words, opcode_span);
            let since = gate.since.unwrap_or(entry.since);
            let requires = gate.requires.unwrap_or(Targets::Sm(0));
            if let Some(d) = self.gate(span, &what, since, requires, entry.section) {
                // A part can miss version and target; one word is enough for each part.
                if !errors.iter().any(|e| e.span == d.span && e.code == d.code) {
                    errors.push(d);
                }
            }
        }
    }

    fn rules(&mut self, typed: &hir::Instr, words: &[ast::Word], opcode_span: Span, errors: &mut Vec<Diagnostic>) {
        let section = typed.entry.section;
        let before = errors.len();
        for rule in typed.entry.rules {
            match rule {
                Rule::Never(when, text) => {
                    if when.iter().all(|w| holds(w, typed)) {
                        let (span, _) = place(when, typed, words, opcode_span);
                        let help = self.repair(when, typed, words);
                        errors.push(errors::rule(span, forbidden_pair(when, span, words), text, help, section));
                    }
                }
                Rule::Needs(when, need, text) => {
                    if holds(when, typed) && !holds(need, typed) {
                        let (span, _) = place(std::slice::from_ref(when), typed, words, opcode_span);
                        let help = match need {
                            When::Has(q) => Some(format!("add `{q}`")),
                            When::HasAny(list) => list.first().map(|q| format!("add one, as in `{q}`")),
                            When::Operand(name) => Some(format!("add operand `{name}` at the end")),
                            When::Not(q) => Some(format!("remove `{q}`")),
                            When::NoOperand(name) => Some(format!("remove operand `{name}`")),
                            When::Sink(_) => Some("write `_`".to_string()),
                            When::Types(_) => None,
                        };
                        errors.push(errors::rule(span, None, text, help, section));
                    }
                }
                Rule::Custom(f) => {
                    if let Some((text, operand)) = f(typed) {
                        // A text that begins with a qualifier is about that one.
                        let about = text.split('`').nth(1).filter(|_| text.starts_with("`."));
                        let word = words.iter().find(|w| about.is_some_and(|q| q[1..] == w.text));
                        let place = word.map_or(opcode_span, |w| w.span);
                        let span = operand.and_then(|i| typed.operands.get(i)).map_or(place, |a| a.span);
                        errors.push(errors::custom(span, &text, section));
                    }
                }
            }
        }
        if matches!(typed.family, "texture" | "surface") {
            self.texture(typed, opcode_span, errors);
        }
        if errors.len() == before {
            self.companions(typed, words, opcode_span, errors);
        }
    }

    /// Which of the qualifiers that a rule forbids together can go, or what can stand in its place.
    fn repair(&mut self, when: &[When], typed: &hir::Instr, words: &[ast::Word]) -> Option<String> {
        let first = typed.entry.opcode.split('.').next().unwrap_or("");
        let entries = self.table.entries(first);
        let same = entries.iter().filter(|e| e.1.opcode == typed.entry.opcode).map(|e| e.1).list();
        let forms = same.into_iter().map(|e| self.table.forms(e)).list();
        let legal = |words: &[ast::Word]| forms.iter().any(|f| f.iter().any(|f| select::fit(f, words).fits()));
        let (mut removable, mut replaceable) = (Vec::new(), Vec::new());
        for w in when {
            let word = |q: &&str| words.iter().position(|w| w.text == q.trim_start_matches('.'));
            let at = match w {
                When::Has(q) => word(q),
                When::HasAny(list) => list.iter().find_map(word),
                _ => None,
            };
            let Some(at) = at else { continue };
            let mut rest = words.to_vec();
            let gone = rest.remove(at);
            if legal(&rest) {
                removable.push(format!("`.{}`", gone.text));
            }
            if !is_type(&gone.text) {
                replaceable.push(at);
            }
        }
        if !removable.is_empty() {
            return Some(format!("remove {}", removable.join(" or ")));
        }
        // Another qualifier of the same slot, which the rule does not name.
        let named = |alt: &str| {
            when.iter().any(|w| match w {
                When::Has(q) => q[1..] == *alt,
                When::HasAny(list) => list.iter().any(|q| q[1..] == *alt),
                _ => false,
            })
        };
        for at in replaceable {
            let old = &words[at].text;
            let slots = forms.iter().flat_map(|f| f.iter()).flat_map(|f| &f.slots);
            for alt in slots.filter(|s| s.alts.iter().any(|a| a == old)).flat_map(|s| &s.alts) {
                let mut changed = words.to_vec();
                changed[at].text = alt.to_string();
                if !named(alt) && alt != old && legal(&changed) {
                    return Some(format!("write `.{alt}` in place of `.{old}`"));
                }
            }
        }
        None
    }

    /// The cache policy goes with `.L2::cache_hint`, the mask of CTAs with `.multicast::cluster`, though no form says so.
    fn companions(&self, typed: &hir::Instr, words: &[ast::Word], opcode_span: Span, errors: &mut Vec<Diagnostic>) {
        for (names, qualifiers) in COMPANIONS {
            let Some(spec) = typed.entry.operands.iter().find(|o| names.contains(&o.name) && o.role == Role::Src)
            else {
                continue;
            };
            let given = typed.operand(spec.name);
            let written = qualifiers.iter().find(|q| typed.has(q));
            match (given, written) {
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
                    let span = words.iter().find(|w| format!(".{}", w.text) == **q).map_or(opcode_span, |w| w.span);
                    errors.push(errors::goes_with(span, spec.name, q, false));
                }
                _ => {}
            }
        }
    }
}

const COMPANIONS: &[(&[&str], &[&str])] = &[
    (&["cache_policy", "cache-policy"], &[".L2::cache_hint"]),
    (&["ctaMask"], &[".multicast::cluster", ".multicast::cluster::16b", ".multicast::cluster::32b"]),
];

/// What follows the opcode.
fn qualifiers(parts: &[ast::Word], n: usize, rest: Option<&str>) -> Vec<ast::Word> {
    let mut out = Vec::with_capacity(parts.len());
    if let (Some(rest), Some(part)) = (rest, n.checked_sub(1).and_then(|i| parts.get(i))) {
        out.push(ast::Word { text: rest.to_string(), span: part.span });
    }
    out.extend(parts.iter().skip(n).cloned());
    out
}

/// Does the condition hold?
fn holds(when: &When, typed: &hir::Instr) -> bool {
    match when {
        When::Has(q) => typed.has(q),
        When::Not(q) => !typed.has(q),
        When::HasAny(list) => list.iter().any(|q| typed.has(q)),
        When::Operand(name) => typed.operand(name).is_some(),
        When::NoOperand(name) => typed.operand(name).is_none(),
        When::Sink(name) => typed.operand(name).is_some_and(|a| matches!(a.value, hir::Operand::Sink)),
        When::Types(list) => typed.types == *list,
    }
}

/// The two qualifiers that a rule forbids together: the one at `span`, and the nearest before it in the rule.
fn forbidden_pair<'w>(when: &[When], span: Span, words: &'w [ast::Word]) -> Option<(&'w str, (&'w str, Span))> {
    let word = |q: &str| words.iter().find(|w| w.text == q.trim_start_matches('.'));
    if when.len() != 2 {
        return None;
    }
    let mut found = Vec::new();
    for w in when {
        found.push(match w {
            When::Has(q) => word(q)?,
            When::HasAny(list) => list.iter().find_map(|q| word(q))?,
            _ => return None,
        });
    }
    let at = found.iter().find(|w| w.span == span)?;
    let other = found.iter().rev().find(|w| w.span != span)?;
    Some((at.text.as_str(), (other.text.as_str(), other.span)))
}

/// The word or operand a condition is about: the last that is given.
fn place(when: &[When], typed: &hir::Instr, words: &[ast::Word], opcode_span: Span) -> (Span, String) {
    let word = |q: &str| words.iter().find(|w| w.text == q.trim_start_matches('.'));
    let mut out = (opcode_span, format!("`{}` in this form", typed.entry.opcode));
    for w in when {
        match w {
            When::Has(q) => {
                if let Some(word) = word(q) {
                    out = (word.span, format!("`{q}`"));
                }
            }
            When::HasAny(list) => {
                if let Some((q, word)) = list.iter().find_map(|q| Some((q, word(q)?))) {
                    out = (word.span, format!("`{q}`"));
                }
            }
            When::Operand(name) => {
                if let Some(arg) = typed.operand(name) {
                    out = (arg.span, format!("operand `{name}`"));
                }
            }
            When::Types(list) => {
                if let Some(last) = words.iter().rfind(|w| is_type(&w.text)) {
                    let list: String = list.iter().map(|t| format!(".{}", t.name())).collect();
                    out = (last.span, format!("`{}{list}`", typed.entry.opcode));
                }
            }
            When::Sink(name) => {
                if let Some(arg) = typed.operand(name) {
                    out = (arg.span, format!("`_` as the result of `{}`", typed.entry.opcode));
                }
            }
            _ => {}
        }
    }
    let conditions = when.iter().filter(|w| matches!(w, When::Has(_) | When::HasAny(_) | When::Operand(_))).count();
    if conditions > 1 {
        out.1 += " in this combination";
    }
    out
}

/// Deals the operands given to those of the form. `None` if the count is none of the form's.
pub(super) fn deal<'f>(form: &'f Form, given: &[ast::Operand], words: &[ast::Word]) -> Option<Vec<&'f OpForm>> {
    let groups = u32::from(form.optional_groups.min(8));
    let mut best: Option<(usize, Vec<&OpForm>)> = None;
    for mask in (0..1u32 << groups).rev() {
        // Bit `groups - 1` is the first group, so that earlier groups are filled first.
        let on = |g: u8| g == 0 || (g <= 8 && mask >> (groups - u32::from(g)) & 1 == 1);
        let picked = form.operands.iter().filter(|o| on(o.group)).list();
        if picked.len() != given.len() {
            continue;
        }
        // A name where braces are spelled out may be a vector register, but rather is something else.
        let doubtful = |o: &OpForm, g: &ast::Operand| {
            matches!(&o.shape, Shape::Vector(_)) && !matches!(g.kind, ast::OperandKind::Vector(_))
        };
        let misfit =
            |(o, g): (&&OpForm, &ast::Operand)| usize::from(!shape_fits(o, g)) * 2 + usize::from(doubtful(o, g));
        let mut cost: usize = picked.iter().zip(given).map(misfit).sum();
        for (names, qualifiers) in COMPANIONS {
            let has = words.iter().any(|w| qualifiers.iter().any(|q| q[1..] == w.text));
            let there = picked.iter().any(|o| names.contains(&o.name));
            let possible = form.operands.iter().any(|o| names.contains(&o.name));
            cost += usize::from(possible && has != there);
        }
        if best.as_ref().is_none_or(|b| cost < b.0) {
            best = Some((cost, picked));
        }
    }
    best.map(|b| b.1)
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
