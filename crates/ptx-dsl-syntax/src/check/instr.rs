//! Checks one instruction: selects its entry and form, then checks its operands, gates and rules.

use super::Checker;
use super::attempt::Attempt;
use super::fix::operands::Rearranged;
use super::fix::{self, Verdict};
use super::opcode_match::{Candidate, candidates, common_parts, depth_of, in_order, longest, qualifiers, span_of};
use super::qualifier_errors;
use super::rules::COMPANIONS;
use super::select::{self, Fit};
use super::symbol::Sym;
use super::words;
use crate::ast;
use crate::check::errors;
use crate::code;
use crate::diag::{Diagnostic, Subject, Wanted};
use crate::edit::Help;
use crate::parse::near::{all_near, nearest};
use crate::print;
use ptx_dsl_isa::hir;
use ptx_dsl_isa::isa::Instr;
use ptx_dsl_isa::isa::syntax::{Form, OpForm, Shape};
use ptx_dsl_isa::opcode::{Entry, op};
use ptx_dsl_isa::table::FAMILIES;
use ptx_dsl_isa::ty::Ty;

/// The cost and the errors of an instruction in one of the forms.
type Failure = (usize, Vec<Diagnostic>);

impl Checker {
    /// Checks an instruction; `None` if it is broken.
    pub(super) fn instr(&mut self, ast: &ast::Instr) -> Option<hir::Instr> {
        self.begin_tries();
        let entries = self.table.entries(&ast.parts.first()?.text);
        match in_order(&entries, &ast.parts) {
            Some(parts) => self.ordered(ast, &parts),
            None => self.ordered(ast, &ast.parts),
        }
    }

    /// The same after the words of the opcode were moved to their places.
    fn ordered(&mut self, ast: &ast::Instr, parts: &[ast::Word]) -> Option<hir::Instr> {
        let mut pred = None;
        if let Some(p) = &ast.pred {
            pred = Some((self.guard(p), !p.negated));
        }
        let entries = self.table.entries(&parts.first()?.text);
        let found = candidates(&entries, parts);
        if found.is_empty() {
            self.unknown_instruction(ast, parts, &entries);
            return None;
        }
        let mut typed = self.by_best_form(ast, &found)?;
        if let Some((reg, positive)) = pred {
            typed.pred = Some((hir::Operand::Reg(reg?, 0), positive));
        }
        Some(typed)
    }

    /// Tries the longest opcode first; a shorter one counts only if no longer one fits (`mad.lo.cc` is a form of `mad`).
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
            Some((_, errors)) => {
                let errors = self.with_fixes(ast, errors);
                self.diags.extend(errors);
            }
            None => self.no_form(ast, found),
        }
        None
    }

    /// Reports misplaced operands in one error.
    fn with_fixes(&mut self, ast: &ast::Instr, mut errors: Vec<Diagnostic>) -> Vec<Diagnostic> {
        if let Some(help) = self.retyped(ast, &errors) {
            errors = with_one_type(errors, help);
        }
        errors = with_one_for_a_vector(ast, errors);
        if let Some(first) = errors.iter().position(errors::is_misplaced) {
            let fewer = errors[first].subject == Subject::ExtraOperands
                || errors[first].code == code::OPERAND_SHAPE
                || errors[first].subject == Subject::OneRegister;
            if let Some(Rearranged { text, count, removed }) = self.rearranged(ast, fewer) {
                let mut d = errors.swap_remove(first);
                if let Some(o) = removed
                    .filter(|_| d.code.is_one_of(&[code::OPERAND_SHAPE, code::ELEMENT_COUNT]))
                    .and_then(|at| ast.operands.get(at))
                {
                    d = errors::superfluous(o.span, &print::operand_text(o), self.attempts.form);
                } else if let [first, .., last] = ast.operands.as_slice()
                    && d.code == code::OPERAND_COUNT
                    && count == ast.operands.len()
                {
                    d = errors::misshapen(first.span.to(last.span), self.attempts.form);
                }
                d.only_help(Help::write(text).at(whole(ast)));
                return vec![d];
            }
            // What is missing at the end is said by the number of operands.
            if let Some(at) =
                self.lacking(ast).filter(|at| *at < ast.operands.len() || errors[first].code != code::OPERAND_COUNT)
            {
                let place = match at.checked_sub(1) {
                    Some(before) => format!("after `{}`", print::operand_text(&ast.operands[before])),
                    None => format!("before `{}`", print::operand_text(&ast.operands[0])),
                };
                let names = std::mem::take(&mut self.attempts.holes);
                return vec![errors::lacks(span_of(&ast.parts), &names, &place, self.attempts.form)];
            }
        } else if errors.len() > 1
            && errors.iter().all(|d| d.code.is_one_of(&[code::REGISTER_TYPE, code::REGISTER_OR_CONSTANT]))
            && let Some(text) = self.exchanged(ast)
        {
            errors.truncate(1);
            errors[0].only_help(Help::write(text).at(whole(ast)));
            return errors;
        }
        for d in &mut errors {
            if d.code == code::REMOVED_INSTRUCTION
                && d.helps.is_empty()
                && let Some(own) = self.renewed(ast)
            {
                d.add_help(Help::write(own).whole_opcode());
            }
        }
        errors
    }

    /// Tries all forms of an entry that accept the qualifiers; `best` is the nearest one.
    pub(super) fn by_entry(
        &mut self,
        ast: &ast::Instr,
        of: &Candidate,
        best: &mut Option<Failure>,
    ) -> Option<hir::Instr> {
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

    /// No form accepts these qualifiers: explains this by the longest opcode.
    fn no_form(&mut self, ast: &ast::Instr, found: &[Candidate]) {
        let level = longest(found, usize::MAX);
        // A shorter name than that of an opcode is a part of the opcode: `barrier.cluster`.
        if let Some((name, help, _)) = self.foreign_instruction(ast, level) {
            self.report(errors::foreign_instruction(span_of(&ast.parts), &name, help));
            return;
        }
        let mut tables = Vec::new();
        let mut first = None;
        for c in found {
            // What is gone explains nothing, unless all of it is.
            let old = self.gone(c.entry).is_some() && found.iter().any(|o| self.gone(o.entry).is_none());
            if c.parts == level && !old {
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
        let types = self.operand_types(&ast.operands);
        let (opcode, span, tries) = (first.entry.opcode, first.span, self.grant());
        let mut found = Vec::new();
        let mut verdict = |words: &[ast::Word]| self.verdict_with(ast, fix::parts(opcode, words));
        let mut explainer =
            qualifier_errors::Explainer { opcode, span, forms: &forms, types, verdict: &mut verdict, tries };
        explainer.explain(&words, &mut found);
        self.diags.append(&mut found);
    }

    /// `same_first`: the entries whose opcodes begin with its first word.
    fn unknown_instruction(&mut self, ast: &ast::Instr, parts: &[ast::Word], same_first: &[Entry]) {
        let Some(first) = parts.first() else { return };
        let foreign = self.foreign_instruction(ast, 1);
        let near = if same_first.is_empty() { self.near_opcode(ast, first) } else { (None, false) };
        if let Some((name, help, sure)) = foreign
            && (sure || !near.1)
        {
            self.report(errors::foreign_instruction(span_of(&ast.parts), &name, help));
            return;
        }
        let Some(Entry { instr: entry, .. }) = same_first.first() else {
            self.unknown_opcode(ast, first, near.0);
            return;
        };
        if let Some(own) = self.with_all_parts(ast, same_first) {
            let help = Help::did_you_mean(own);
            self.report(errors::foreign_instruction(span_of(&ast.parts), &fix::spelled(&ast.parts), help));
            return;
        }
        let mut same = Vec::with_capacity(same_first.len());
        let (mut depth, mut shared, mut only) = (1, 1, Some(entry.opcode));
        for Entry { instr: e, .. } in same_first {
            only = only.filter(|o| *o == e.opcode);
            if same.last() != Some(&e.opcode) {
                same.push(e.opcode);
                depth = depth.max(depth_of(e.opcode));
                shared = shared.max(common_parts(e.opcode, &ast.parts));
            }
        }
        // As it is written, not as it is ordered.
        let spelled = |count: usize| fix::spelled(&ast.parts[..count.min(ast.parts.len())]);
        // Up to the first word that no opcode has there.
        let name = spelled(shared + 1);
        let near = Checker::continued(&name, &same).or_else(|| nearest(&spelled(depth), &same));
        let near = near.or_else(|| nearest(&name, &same)).or(only);
        let span = span_of(&ast.parts[..(shared + 1).min(ast.parts.len())]);
        self.report(errors::unknown_instruction(span, &name, near, &same));
    }

    /// Reports an unknown opcode.
    fn unknown_opcode(&mut self, ast: &ast::Instr, first: &ast::Word, near: Option<&str>) {
        if let Some(own) = self.small_letters(ast).or_else(|| self.with_dot(ast)) {
            let help = Help::did_you_mean(own);
            self.report(errors::foreign_instruction(span_of(&ast.parts), &first.text, help));
            return;
        }
        self.report(errors::unknown_instruction(first.span, &first.text, near, &[]));
    }

    /// The opcode that a misspelt one means, and whether it makes the instruction legal.
    fn near_opcode(&mut self, ast: &ast::Instr, first: &ast::Word) -> (Option<&'static str>, bool) {
        let mut firsts: Vec<&'static str> = Vec::new();
        for (_, family) in FAMILIES {
            for entry in *family {
                let word = entry.opcode.split('.').next().unwrap_or("");
                if firsts.last() != Some(&word) {
                    firsts.push(word);
                }
            }
        }
        let near = all_near(&first.text, &firsts);
        let mut parts = ast.parts.clone();
        let mut possible = None;
        for name in near.iter().take(8) {
            parts[0].text = name.to_string();
            let verdict = self.verdict_of(ast, parts.clone());
            if verdict == Verdict::Legal {
                return (Some(name), true);
            }
            // Without qualifiers there is no telling; of a short name anything is near.
            if possible.is_none() && (verdict < Verdict::Illegal || parts.len() == 1 && first.text.len() > 2) {
                possible = Some(*name);
            }
        }
        (possible, false)
    }

    /// The predicate register of a guard.
    fn guard(&mut self, pred: &ast::Pred) -> Option<hir::RegId> {
        let word = &pred.reg;
        let d = match self.lookup(&word.text) {
            Some(Sym::Reg(id)) if self.reg_ty(id) == Ty::Pred => return Some(id),
            Some(Sym::Broken) => return None,
            Some(Sym::Reg(id)) => {
                let ty = self.reg_ty(id);
                let helps = self.conversions(&word.text, ty, Ty::Pred);
                errors::not_predicate(word.span, &word.text, helps)
            }
            Some(_) => errors::not_predicate(word.span, &word.text, Vec::new()),
            None if ptx_dsl_isa::isa::sreg::sreg(&word.text).is_some() => {
                errors::not_predicate(word.span, &word.text, Vec::new())
            }
            None => {
                let d = self.undeclared(word.span, Wanted::Predicate, &word.text);
                match d.helps.is_empty() {
                    true => errors::with_declaration(d, &word.text, Ty::Pred),
                    false => d,
                }
            }
        };
        self.report(d);
        None
    }

    /// Tries one form that accepts the qualifiers. Returns the errors with their cost.
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
        let mut at = Attempt::new(of.opcode, of.entry, form, fit, words, &typed.quals);
        let operands =
            if of.opcode == op::call { self.call(&mut at, ast) } else { self.operands(&mut at, ast, of.span) };
        let lanes = at.vec();
        let Attempt { mut errors, badness, silent, holes, assertions, before, mut warnings, .. } = at;
        typed.operands = operands;
        if silent && errors.is_empty() {
            if !holes.is_empty() && self.attempts.holes.is_empty() {
                (self.attempts.holes, self.attempts.form) = (holes, (form.line, of.entry.section));
            }
            // A declaration was refused, and was reported where it stands.
            return Err((0, errors));
        }
        // A `mov` of a vector is one of its bits.
        if of.opcode == op::mov && lanes > 1 {
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
        self.rules(ast, &typed, words, of.span, &mut broken);
        let badness = errors.len() + broken.len() * 2;
        if badness == 0 {
            self.attempts.form = (form.line, of.entry.section);
            if !self.attempts.trying {
                self.diags.append(&mut warnings);
                assertions.into_iter().for_each(|assertion| self.out.constants.assert(assertion));
                self.before = before;
                for made in &mut self.before {
                    (made.index, made.span) = (ast.index, ast.span);
                }
            }
            return Ok(typed);
        }
        // What no target takes has no target to be missed.
        Err((badness, if broken.is_empty() { errors } else { broken }))
    }
}

/// The place of an instruction, from its opcode to its last operand.
fn whole(ast: &ast::Instr) -> crate::span::Span {
    let opcode = span_of(&ast.parts);
    ast.operands.last().map_or(opcode, |last| opcode.to(last.span))
}

/// Registers that all lack the type of the instruction are one error: the type is wrong.
fn with_one_type(errors: Vec<Diagnostic>, help: Help) -> Vec<Diagnostic> {
    let (mut registers, mut rest): (Vec<_>, Vec<_>) = errors.into_iter().partition(|d| d.code == code::REGISTER_TYPE);
    let mut first = registers.remove(0);
    first.only_help(help);
    for other in registers {
        first = first.label(other.span, "so is this one");
    }
    rest.push(first);
    rest
}

/// Registers of a vector that all lack the same type are one error.
fn with_one_for_a_vector(ast: &ast::Instr, errors: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let vector = |d: &Diagnostic| {
        let of = |o: &ast::Operand| matches!(&o.kind, ast::OperandKind::Vector(list) if list.iter().any(|element| element.span == d.span));
        ast.operands.iter().position(of).filter(|_| d.code == code::REGISTER_TYPE)
    };
    let mut out: Vec<Diagnostic> = Vec::with_capacity(errors.len());
    for d in errors {
        match out.last_mut() {
            Some(first) if vector(&d).is_some() && vector(first) == vector(&d) && first.subject == d.subject => {
                first.labels.push((d.span, "so is this one".to_string()));
                first.only_help(errors::OTHER_REGISTERS);
            }
            _ => out.push(d),
        }
    }
    out
}

/// The instruction with its qualifiers in canonical order.
fn without_operands(ast: &ast::Instr, of: &Candidate, number: usize, fit: &Fit, words: &[ast::Word]) -> hir::Instr {
    let mut written = hir::Written {
        opcode: of.opcode,
        quals: Vec::new(),
        types: Vec::new(),
        pred: None,
        operands: Vec::new(),
        spelling: of.entry.opcode.to_string(),
    };
    let mut places = Vec::with_capacity(words.len());
    for filled in &fit.filled {
        let Some(filled) = filled else { continue };
        let word = &words[*filled as usize];
        let Some(qualifier) = word.qualifier() else { continue };
        places.push(word.span);
        written.types.extend(qualifier.ty());
        written.spelling.push_str(qualifier.text());
        written.quals.push(qualifier);
    }
    hir::Instr {
        index: ast.index,
        family: of.family,
        entry: of.entry,
        form: number,
        written,
        used_bytes: None,
        span: ast.span,
        words: places,
    }
}

/// Assigns the given operands to those of the form. `None` if their count fits none.
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

/// The cost of mismatched operands.
fn misfits(picked: &[&OpForm], given: &[&ast::Operand]) -> usize {
    let mut cost = 0;
    for (i, o) in picked.iter().enumerate() {
        // A name where braces are spelled out may be a vector register, but rather is something else.
        let doubtful = matches!(o.shape, Shape::Vector(_)) && !matches!(given[i].kind, ast::OperandKind::Vector(_));
        cost += usize::from(!shape_fits(o, given[i])) * 2 + usize::from(doubtful);
    }
    cost
}

/// How many operands lack their qualifier, or are missing although it is there.
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
            has |= words::has(words, q.word());
        }
        cost += usize::from(possible && has != there);
    }
    cost
}

/// Is the operand written as the form requires?
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
