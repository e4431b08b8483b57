//! Edits that mend a statement. Each is tried by the checker itself before a help shows it: what is shown is legal for the
//! module's version and target, with the operands that are given.

use super::Checker;
use super::instr::{candidates, in_order, longest};
use super::names::Sym;
use crate::ast::{self, Expr, OperandKind, Word};
use crate::diag::Diagnostic;
use crate::errors;
use crate::parse::{Const, fold, foreign};
use crate::print;
use crate::span::Span;
use crate::ty::{Class, Ty};

/// How many edits may be tried in a module: what nobody wrote by hand takes no time for hints.
pub(super) const TRIES: usize = 3_000;
/// How many of them for one statement.
const TRIES_EACH: usize = 60;

/// What becomes of an instruction that was edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    /// It is legal.
    Legal,
    /// It is legal with another version or target.
    Elsewhere,
    /// The operands have the right places, and something else is wrong.
    Near,
    /// The operands have not the right places.
    Misplaced,
    /// No form is like that.
    Illegal,
}

/// Edits, with what becomes of the instruction.
#[derive(Default)]
pub(super) struct Edits(Vec<(String, Verdict)>);

impl Edits {
    pub(super) fn add(&mut self, edit: String, verdict: Verdict) {
        if verdict <= Verdict::Near && !self.0.iter().any(|(e, _)| *e == edit) {
            self.0.push((edit, verdict));
        }
    }

    /// Those after which least is wrong.
    pub(super) fn best(&self) -> Vec<&str> {
        let mut found = Vec::new();
        for (edit, verdict) in &self.0 {
            if Some(*verdict) == self.least() {
                found.push(edit.as_str());
            }
        }
        found
    }

    /// Is nothing of the statement wrong after one of them?
    pub(super) fn suffices(&self) -> bool {
        self.least() <= Some(Verdict::Elsewhere) && self.least().is_some()
    }

    pub(super) fn is_better(&self, other: &Edits) -> bool {
        self.least() < other.least()
    }

    fn least(&self) -> Option<Verdict> {
        self.0.iter().map(|(_, verdict)| *verdict).min()
    }
}

/// A word that nobody wrote.
pub(super) fn word(text: &str) -> Word {
    Word { text: text.to_string(), span: Span::default() }
}

/// The words between the dots.
fn split(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    for part in text.split('.') {
        words.push(word(part));
    }
    words
}

/// The parts of an instruction: those of its opcode, and the words behind it.
pub(super) fn parts(opcode: &str, words: &[Word]) -> Vec<Word> {
    let mut parts = split(opcode);
    for word in words {
        match parts.last_mut() {
            Some(last) if word.text.starts_with("::") => last.text.push_str(&word.text),
            _ => parts.push(word.clone()),
        }
    }
    parts
}

/// The opcode with its qualifiers.
pub(super) fn spelled(parts: &[Word]) -> String {
    let mut text = String::new();
    for part in parts {
        if !text.is_empty() && !part.text.starts_with("::") {
            text.push('.');
        }
        text.push_str(&part.text);
    }
    text
}

/// The instruction with all lanes as a last operand.
fn with_mask(ast: &ast::Instr) -> ast::Instr {
    let mut out = ast.clone();
    let (value, text) = (0xffff_ffff, Some("0xffffffff".to_string()));
    let mask = Expr::Int { value, unsigned: false, text, span: ast.span };
    out.operands.push(ast::Operand { kind: OperandKind::Expr(mask), span: ast.span });
    out
}

impl Checker {
    /// Grants a statement its tries, and says how many there are.
    pub(super) fn grant(&mut self) -> usize {
        let granted = self.tries.min(TRIES_EACH);
        self.tries -= granted;
        granted
    }

    /// Is the instruction legal?
    pub(super) fn accepts(&mut self, ast: &ast::Instr) -> bool {
        self.verdict(ast) == Verdict::Legal
    }

    /// The same with other parts.
    pub(super) fn accepts_parts(&mut self, ast: &ast::Instr, parts: Vec<Word>) -> bool {
        self.verdict_with(ast, parts) == Verdict::Legal
    }

    pub(super) fn verdict_with(&mut self, ast: &ast::Instr, parts: Vec<Word>) -> Verdict {
        self.verdict(&ast::Instr { parts, ..ast.clone() })
    }

    /// What becomes of the instruction with other parts. With no tries left it is not known to be legal.
    pub(super) fn verdict_of(&mut self, ast: &ast::Instr, parts: Vec<Word>) -> Verdict {
        match self.tries.checked_sub(1) {
            Some(left) => {
                self.tries = left;
                self.verdict_with(ast, parts)
            }
            None => Verdict::Illegal,
        }
    }

    fn verdict(&mut self, ast: &ast::Instr) -> Verdict {
        let outer = std::mem::replace(&mut self.trying, true);
        let verdict = self.tried(ast);
        self.trying = outer;
        verdict
    }

    fn tried(&mut self, ast: &ast::Instr) -> Verdict {
        let ordered = in_order(&ast.parts);
        let parts = ordered.as_deref().unwrap_or(&ast.parts);
        let Some(first) = parts.first() else { return Verdict::Illegal };
        let entries = self.table.entries(&first.text);
        let found = candidates(&entries, parts);
        let mut level = longest(&found, usize::MAX);
        let mut best = None;
        while level > 0 {
            for candidate in &found {
                if candidate.takes(level) && self.by_entry(ast, candidate, &mut best).is_some() {
                    return Verdict::Legal;
                }
            }
            level = longest(&found, level);
        }
        match best {
            Some((_, errors)) if errors.iter().all(errors::is_gate) => Verdict::Elsewhere,
            Some((_, errors)) if !errors.iter().any(errors::is_misplaced) => Verdict::Near,
            Some(_) => Verdict::Misplaced,
            None => Verdict::Illegal,
        }
    }

    /// The types of the registers among the operands.
    pub(super) fn operand_types(&mut self, operands: &[ast::Operand]) -> Vec<Ty> {
        let mut found = Vec::new();
        for o in operands {
            match &o.kind {
                OperandKind::Expr(Expr::Name(word, _)) => {
                    if let Some(Sym::Reg(id)) = self.lookup(&word.text) {
                        found.push(self.reg_ty(id));
                    }
                }
                OperandKind::Vector(list) => found.append(&mut self.operand_types(list)),
                OperandKind::Pair(a, _) => found.append(&mut self.operand_types(std::slice::from_ref(a))),
                _ => {}
            }
        }
        found
    }

    /// The words of an opcode that another language has, a help with what PTX has instead, and whether that is certainly legal.
    pub(super) fn foreign_instruction(&mut self, ast: &ast::Instr) -> Option<(String, String, bool)> {
        for count in (1..=ast.parts.len().min(3)).rev() {
            let (named, rest) = ast.parts.split_at(count);
            let name = spelled(named);
            if let Some(advice) = foreign::advice(&name) {
                return Some((name, advice.to_string(), true));
            }
            let own = foreign::instructions(&name);
            if !own.is_empty() {
                let (own, sure) = self.completed_foreign(ast, &own, rest);
                return Some((name, format!("did you mean `{own}`?"), sure));
            }
        }
        None
    }

    /// The first of these opcodes that is legal with the qualifiers that are written, with a type or a mask of lanes if need be; or
    /// a statement; or else the first, which is not sure.
    fn completed_foreign(&mut self, ast: &ast::Instr, opcodes: &[&str], rest: &[Word]) -> (String, bool) {
        let mut tries = self.grant();
        let masked = with_mask(ast);
        for own in opcodes {
            if foreign::is_statement(own) {
                return (own.to_string(), true);
            }
            for trial in [ast, &masked] {
                for more in ["", "b32", "u32", "s32", "f32", "u64", "f64", "b64", "pred"] {
                    let mut parts = split(own);
                    for part in rest {
                        if !parts.iter().any(|p| p.text == part.text) {
                            parts.push(part.clone());
                        }
                    }
                    if !more.is_empty() {
                        parts.push(word(more));
                    }
                    tries = tries.saturating_sub(1);
                    let text = spelled(&parts);
                    let trial = ast::Instr { parts, ..trial.clone() };
                    if tries > 0 && self.accepts(&trial) {
                        let whole = trial.operands.len() > ast.operands.len();
                        return (if whole { print::statement(&trial) } else { text }, true);
                    }
                }
                if !own.contains(".sync.") {
                    break;
                }
            }
        }
        (opcodes.first().copied().unwrap_or("").to_string(), false)
    }

    /// What an instruction is called now that is gone: `mad.rn.f32`, `shfl.sync` with a mask of lanes.
    pub(super) fn renewed(&mut self, ast: &ast::Instr) -> Option<String> {
        for (more, masked) in [("rn", false), ("sync", false), ("sync", true)] {
            let mut trial = if masked { with_mask(ast) } else { ast.clone() };
            trial.parts.insert(1.min(trial.parts.len()), word(more));
            if self.accepts(&trial) {
                return Some(if masked { print::statement(&trial) } else { spelled(&trial.parts) });
            }
        }
        None
    }

    /// The opcode with the dot that is missing in its first word: `mulf32`.
    pub(super) fn with_dot(&mut self, ast: &ast::Instr) -> Option<String> {
        let (first, rest) = ast.parts.split_first()?;
        for i in 1..first.text.len().min(24) {
            let Some((a, b)) = first.text.split_at_checked(i) else { continue };
            if self.table.entries(a).is_empty() {
                continue;
            }
            let mut parts = vec![word(a), word(b)];
            parts.extend_from_slice(rest);
            let text = spelled(&parts);
            if self.verdict_of(ast, parts) == Verdict::Legal {
                return Some(text);
            }
        }
        None
    }

    /// The statement in capitals, in small letters.
    pub(super) fn small_letters(&mut self, ast: &ast::Instr) -> Option<String> {
        let mut parts = ast.parts.clone();
        let mut changed = false;
        for part in &mut parts {
            let small = part.text.to_ascii_lowercase();
            changed |= small != part.text;
            part.text = small;
        }
        let text = spelled(&parts);
        (changed && self.accepts_parts(ast, parts)).then_some(text)
    }

    /// The statement with its operands in another order or other brackets, or of the other of `atom` and `red`, if that makes it
    /// legal; with one operand fewer, if there are too many.
    pub(super) fn rearranged(&mut self, ast: &ast::Instr, too_many: bool) -> Option<String> {
        let mut tries = self.grant();
        let mut trial = ast.clone();
        let count = ast.operands.len();
        let mut works = |checker: &mut Checker, trial: &ast::Instr| {
            if tries == 0 || count > 8 {
                return None;
            }
            tries -= 1;
            checker.accepts(trial).then(|| print::statement(trial))
        };
        for a in 0..count {
            for b in a + 1..count {
                trial.operands.swap(a, b);
                if let Some(found) = works(self, &trial) {
                    return Some(found);
                }
                trial.operands.swap(a, b);
            }
        }
        for i in 0..count {
            let old = trial.operands[i].clone();
            for kind in bracketed(&old) {
                trial.operands[i].kind = kind;
                if let Some(found) = works(self, &trial) {
                    return Some(found);
                }
            }
            trial.operands[i] = old;
        }
        // `st.v2.u32 [a], x, y`
        for from in 0..count.saturating_sub(1) {
            for behind in from + 2..=count {
                let vector = OperandKind::Vector(ast.operands[from..behind].to_vec());
                trial.operands.splice(from..behind, [ast::Operand { kind: vector, span: ast.span }]);
                if let Some(found) = works(self, &trial) {
                    return Some(found);
                }
                trial.operands = ast.operands.clone();
            }
        }
        if count == 0 {
            // `bar.sync;`
            let zero = Expr::Int { value: 0, unsigned: false, text: None, span: ast.span };
            trial.operands = vec![ast::Operand { kind: OperandKind::Expr(zero), span: ast.span }];
            return works(self, &trial);
        }
        for (i, o) in ast.operands.iter().enumerate() {
            // `add.u32 x, y + z`
            let OperandKind::Expr(Expr::Binary(_, a, b, _)) = &o.kind else { continue };
            let two = [a, b].map(|e| ast::Operand { kind: OperandKind::Expr((**e).clone()), span: o.span });
            trial.operands.splice(i..i + 1, two);
            if let Some(found) = works(self, &trial) {
                return Some(found);
            }
            trial.operands = ast.operands.clone();
        }
        for i in (0..if too_many { count } else { 0 }).rev() {
            let gone = trial.operands.remove(i);
            if let Some(found) = works(self, &trial) {
                // `bra %p, L`
                return Some(match self.guard_of(&gone).filter(|_| ast.pred.is_none()) {
                    Some(guard) => format!("{guard} {found}"),
                    None => found,
                });
            }
            trial.operands = ast.operands.clone();
        }
        let other = match ast.parts.first()?.text.as_str() {
            "atom" => "red",
            "red" => "atom",
            _ => return None,
        };
        trial.parts[0].text = other.to_string();
        works(self, &trial)
    }

    /// Where several registers have another type than the instruction, that of the registers, if it makes the instruction legal.
    pub(super) fn retyped(&mut self, ast: &ast::Instr, errors: &[Diagnostic]) -> Option<String> {
        if errors.iter().filter(|d| d.code == 407).count() < 2 {
            return None;
        }
        let have = *self.operand_types(&ast.operands).first()?;
        let mut tries = self.grant();
        for old in &ast.parts {
            let Some(want) = Ty::from_name(&old.text) else { continue };
            let mut alike = have.name().to_string();
            if have.class() == Class::Bits && want.class() != Class::Pred {
                alike = format!("{}{}", &old.text[..1], have.bits());
            }
            for new in [alike.as_str(), have.name()] {
                let mut parts = ast.parts.clone();
                for part in &mut parts {
                    if part.text == old.text {
                        part.text = new.to_string();
                    }
                }
                tries = tries.saturating_sub(1);
                if tries > 0 && self.accepts_parts(ast, parts) {
                    return Some(format!("write `.{new}` in place of `.{}`", old.text));
                }
            }
        }
        None
    }

    /// The statement that computes an expression of a register and another one or a constant.
    pub(super) fn computed(&mut self, e: &Expr) -> Option<String> {
        let Expr::Binary(op, a, b, _) = e else { return None };
        let ty = match (self.register_of(a), self.register_of(b)) {
            (Some(ty), Some(other)) if ty.bits() == other.bits() && ty.class() == other.class() => ty,
            (Some(ty), None) | (None, Some(ty)) => ty,
            _ => return None,
        };
        let number = matches!(ty, Ty::F32 | Ty::F64);
        let (kind, bits) = match ty.class() {
            Class::Signed => ('s', ty.bits()),
            Class::Unsigned | Class::Bits => ('u', ty.bits()),
            Class::Float if number => ('f', ty.bits()),
            _ => return None,
        };
        let opcode = match (*op, number) {
            ("+", _) => format!("add.{kind}{bits}"),
            ("-", _) => format!("sub.{kind}{bits}"),
            ("*", true) => format!("mul.{kind}{bits}"),
            ("*", false) => format!("mul.lo.{kind}{bits}"),
            ("/", false) => format!("div.{kind}{bits}"),
            ("%", false) => format!("rem.{kind}{bits}"),
            ("<<", false) => format!("shl.b{bits}"),
            (">>", false) => format!("shr.{kind}{bits}"),
            ("&", false) => format!("and.b{bits}"),
            ("|", false) => format!("or.b{bits}"),
            ("^", false) => format!("xor.b{bits}"),
            _ => return None,
        };
        if !matches!(bits, 16 | 32 | 64) {
            return None;
        }
        let (x, a, b) = (self.free_name(), print::expression(a), print::expression(b));
        Some(format!("put `.reg .{} {x}; {opcode} {x}, {a}, {b};` before it, and write `{x}`", ty.name()))
    }

    /// The statement that negates a register.
    pub(super) fn computed_negation(&mut self, o: &ast::Operand) -> Option<String> {
        let OperandKind::Expr(e) = &o.kind else { return None };
        let ty = self.register_of(e)?;
        let kind = match ty {
            Ty::F32 | Ty::F64 => 'f',
            _ if matches!(ty.class(), Class::Bits | Class::Unsigned | Class::Signed) => 's',
            _ => return None,
        };
        let (x, e, bits) = (self.free_name(), print::expression(e), ty.bits());
        matches!(bits, 16 | 32 | 64)
            .then(|| format!("put `.reg .{} {x}; neg.{kind}{bits} {x}, {e};` before it, and write `{x}`", ty.name()))
    }

    /// The type of the register that an expression is.
    fn register_of(&mut self, e: &Expr) -> Option<Ty> {
        let Expr::Name(word, None) = e else { return None };
        match self.lookup(&word.text)? {
            Sym::Reg(id) => Some(self.reg_ty(id)),
            _ => None,
        }
    }

    /// A predicate as a guard.
    fn guard_of(&mut self, o: &ast::Operand) -> Option<String> {
        let OperandKind::Expr(Expr::Name(word, None)) = &o.kind else { return None };
        match self.lookup(&word.text)? {
            Sym::Reg(id) if self.reg_ty(id) == Ty::Pred => Some(format!("@{}", word.text)),
            _ => None,
        }
    }

    /// A name that nothing has here.
    pub(super) fn free_name(&mut self) -> &'static str {
        for name in ["x", "y", "z", "v", "w", "tmp", "tmp1", "tmp2"] {
            if self.lookup(name).is_none() {
                return name;
            }
        }
        "tmp3"
    }

    /// How to come by a register of the type `want` for what is given: each time what is put before the statement, and why.
    pub(super) fn conversions(&mut self, given: &str, have: Ty, want: Ty) -> Vec<String> {
        let x = self.free_name();
        let mut out = Vec::new();
        for (purpose, code) in errors::conversions(given, have, want, x) {
            out.push(format!("{purpose}put `{code}` before it, and write `{x}`"));
        }
        out
    }

    /// An integer constant in a register of the type.
    pub(super) fn constant_in_register(&mut self, ty: Option<Ty>, e: &Expr) -> Option<String> {
        let (Some(Const::Int { value, .. }), Some(ty)) = (fold(e), ty) else { return None };
        let integer = matches!(ty.class(), Class::Bits | Class::Unsigned | Class::Signed);
        if !integer || !matches!(ty.bits(), 16 | 32 | 64) {
            return None;
        }
        let (x, bits, value) = (self.free_name(), ty.bits(), value as i64);
        Some(format!("put `.reg .b{bits} {x}; mov.b{bits} {x}, {value};` before it, and write `{x}`"))
    }

    /// An address in a form that is legal, or what computes it. `narrow`: it may have 32 bits.
    pub(super) fn address_instead(&mut self, e: &Expr, narrow: bool) -> Option<String> {
        let Expr::Binary(op, a, b, _) = e else { return None };
        let Expr::Name(base, None) = &**a else { return None };
        if let Some(Const::Int { value, .. }) = fold(b) {
            return (*op == "-").then(|| format!("write `{}+{}`", base.text, (value as i64).wrapping_neg()));
        }
        let wide = self.bits_of(&base.text)?;
        // `base + index`, `base + index * 4`, `base + index << 2`
        let (index, factor) = match &**b {
            Expr::Name(index, None) => (index, 1),
            Expr::Binary(scale, i, n, _) => match (&**i, fold(n), *scale) {
                (Expr::Name(index, None), Some(Const::Int { value, .. }), "*") => (index, value),
                (Expr::Name(index, None), Some(Const::Int { value, .. }), "<<") => {
                    (index, 1u64.checked_shl(value as u32)?)
                }
                _ => return None,
            },
            _ => return None,
        };
        if wide == 32 && !narrow {
            return None;
        }
        let bits = self.bits_of(&index.text)?;
        let x = self.free_name();
        let (base, index) = (&base.text, &index.text);
        let code = match (op, wide, bits, factor) {
            (&"+", 64, 64, 1) | (&"+", 32, 32, 1) => format!("add.u{wide} {x}, {base}, {index};"),
            (&"+", 64, 64, _) | (&"+", 32, 32, _) => format!("mad.lo.u{wide} {x}, {index}, {factor}, {base};"),
            (&"+", 64, 32, _) => format!("mad.wide.u32 {x}, {index}, {factor}, {base};"),
            _ => return None,
        };
        Some(format!("put `.reg .b{wide} {x}; {code}` before it, and write `{x}`"))
    }

    /// The width of a register of integers or bits.
    fn bits_of(&mut self, name: &str) -> Option<u32> {
        let Some(Sym::Reg(id)) = self.lookup(name) else { return None };
        let ty = self.reg_ty(id);
        matches!(ty.class(), Class::Bits | Class::Unsigned | Class::Signed).then(|| ty.bits())
    }

    /// A declaration of a function that is called like this.
    pub(super) fn declaration_of(&mut self, name: &str, ret: &[ast::Operand], args: &[ast::Operand]) -> Option<String> {
        let (rets, params) = (self.formals_of(ret, "r")?, self.formals_of(args, "a")?);
        let rets = if ret.is_empty() { String::new() } else { format!("({rets}) ") };
        let params = if args.is_empty() { String::new() } else { format!(" ({params})") };
        Some(format!(".extern .func {rets}{name}{params};"))
    }

    fn formals_of(&mut self, given: &[ast::Operand], prefix: &str) -> Option<String> {
        let mut out = String::new();
        for (i, o) in given.iter().enumerate() {
            let OperandKind::Expr(Expr::Name(word, None)) = &o.kind else { return None };
            let comma = if i > 0 { ", " } else { "" };
            let formal = match self.lookup(&word.text)? {
                Sym::Reg(id) if self.reg_lanes(id) == 1 => format!(".reg .{} {prefix}{i}", self.reg_ty(id).name()),
                Sym::Var(id) => {
                    let var = &self.out.vars[id.0 as usize];
                    let (ty, align) = (var.ty.name(), var.align);
                    let dims = if var.array { format!("[{}]", var.size / var.ty.bytes()) } else { String::new() };
                    format!(".param .align {align} .{ty} {prefix}{i}{dims}")
                }
                _ => return None,
            };
            out += &format!("{comma}{formal}");
        }
        Some(out)
    }
}

/// An operand in other brackets: an address as a vector, a name as an address.
fn bracketed(o: &ast::Operand) -> Vec<OperandKind> {
    match &o.kind {
        OperandKind::Address(list) => vec![OperandKind::Vector(list.clone())],
        OperandKind::Expr(Expr::Name(..)) => vec![OperandKind::Address(vec![o.clone()])],
        _ => Vec::new(),
    }
}

/// How near a type is to those of the operands: less is nearer.
pub(super) fn distance(ty: Ty, operands: &[Ty]) -> usize {
    let usual = matches!(ty, Ty::B16 | Ty::B32 | Ty::B64 | Ty::U16 | Ty::U32 | Ty::U64 | Ty::F16 | Ty::F32 | Ty::F64);
    let mut least = if operands.is_empty() { usize::from(!usual) } else { FAR };
    for have in operands {
        least = least.min(match () {
            _ if *have == ty => 0,
            _ if have.bits() != ty.bits() => FAR,
            _ if ty.class() == Class::Packed => 4,
            _ if have.class() == Class::Bits => 2 - usize::from(usual),
            _ => 3,
        });
    }
    least
}

/// From here on it takes luck: nothing this far is shown beside what is nearer.
pub(super) const FAR: usize = 4;
