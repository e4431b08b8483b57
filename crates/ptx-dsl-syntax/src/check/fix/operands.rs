//! Fixes for operands: another order, another type, or computed before the statement.

use super::super::Checker;
use super::super::symbol::Sym;
use crate::ast::{self, Expr, OperandKind};
use crate::check::errors;
use crate::code;
use crate::diag::Diagnostic;
use crate::edit::Help;
use crate::parse::{Const, fold};
use crate::print;
use ptx_dsl_isa::ty::{Class, Ty};

/// Stands for an operand that is missing. No name of PTX is like it.
pub(crate) const HOLE: &str = "?";

/// A statement that `rearranged` found.
pub(crate) struct Rearranged {
    pub(crate) text: String,
    /// The number of its operands.
    pub(crate) count: usize,
    /// The operand that it leaves out.
    pub(crate) removed: Option<usize>,
}

/// Statements with more operands are not rearranged.
const MOST_OPERANDS: usize = 10;

impl Checker {
    /// The statement with its operands in another order or other brackets, with the other of `atom` and `red`, or with one
    /// operand fewer, if that makes it legal. `fewer`: one may be too many.
    pub(crate) fn rearranged(&mut self, ast: &ast::Instr, fewer: bool) -> Option<Rearranged> {
        let count = ast.operands.len();
        if count > MOST_OPERANDS {
            return None;
        }
        let mut tries = self.grant();
        let mut trial = ast.clone();
        let mut works = |checker: &mut Checker, trial: &ast::Instr| {
            if tries == 0 {
                return None;
            }
            tries -= 1;
            let found = Rearranged { text: print::statement(trial), count: trial.operands.len(), removed: None };
            checker.accepts(trial).then_some(found)
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
        // Several too many.
        for left in (1..if fewer { count.saturating_sub(1) } else { 0 }).rev() {
            trial.operands.truncate(left);
            if let Some(found) = works(self, &trial) {
                return Some(found);
            }
            trial.operands = ast.operands.clone();
        }
        // `cvt.rn.bf16x2.f32 d, {a, b}`
        for (i, o) in ast.operands.iter().enumerate() {
            let OperandKind::Vector(list) = &o.kind else { continue };
            trial.operands.splice(i..=i, list.iter().cloned());
            if let Some(found) = works(self, &trial) {
                return Some(found);
            }
            trial.operands = ast.operands.clone();
        }
        // `[map], {x, y}`
        for i in 1..count {
            let (OperandKind::Address(map), OperandKind::Vector(_)) =
                (&ast.operands[i - 1].kind, &ast.operands[i].kind)
            else {
                continue;
            };
            let whole = OperandKind::Address([&map[..], &ast.operands[i..=i]].concat());
            trial.operands.splice(i - 1..=i, [ast::Operand { kind: whole, span: ast.span }]);
            if let Some(found) = works(self, &trial) {
                return Some(found);
            }
            trial.operands = ast.operands.clone();
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
        for i in (0..if fewer { count } else { 0 }).rev() {
            let gone = trial.operands.remove(i);
            if let Some(Rearranged { text, count, .. }) = works(self, &trial) {
                // `bra %p, L`
                return Some(match self.guard_of(&gone).filter(|_| ast.pred.is_none()) {
                    Some(guard) => Rearranged { text: format!("{guard} {text}"), count, removed: None },
                    None => Rearranged { text, count, removed: Some(i) },
                });
            }
            trial.operands = ast.operands.clone();
        }
        if let other @ ("atom" | "red") = ast.parts.first()?.text.as_str() {
            trial.parts[0].text = if other == "atom" { "red" } else { "atom" }.to_string();
            if let Some(found) = works(self, &trial) {
                return Some(found);
            }
        }
        self.two_bracketed(ast).map(|text| Rearranged { text, count, removed: None })
    }

    /// The statement with two operands in other brackets.
    fn two_bracketed(&mut self, ast: &ast::Instr) -> Option<String> {
        let (count, mut tries) = (ast.operands.len(), self.grant());
        let mut trial = ast.clone();
        for a in 0..count {
            for b in a + 1..count {
                for first in bracketed(&ast.operands[a]) {
                    for second in bracketed(&ast.operands[b]) {
                        if std::mem::discriminant(&first) != std::mem::discriminant(&second) || tries == 0 {
                            continue;
                        }
                        tries -= 1;
                        trial.operands[a].kind = first.clone();
                        trial.operands[b].kind = second;
                        if self.accepts(&trial) {
                            return Some(print::statement(&trial));
                        }
                    }
                }
                trial.operands = ast.operands.clone();
            }
        }
        None
    }

    /// With two operands exchanged, or those of a pair, if that makes the statement legal.
    pub(crate) fn exchanged(&mut self, ast: &ast::Instr) -> Option<String> {
        let (count, mut tries) = (ast.operands.len(), self.grant());
        let mut trials = Vec::new();
        for a in 0..count {
            let mut trial = ast.clone();
            if let OperandKind::Pair(first, second) = &mut trial.operands[a].kind {
                std::mem::swap(first, second);
                trials.push(trial);
            }
            for b in a + 1..count {
                let mut trial = ast.clone();
                trial.operands.swap(a, b);
                trials.push(trial);
            }
        }
        for trial in trials {
            tries = tries.saturating_sub(1);
            if tries > 0 && self.accepts(&trial) {
                return Some(print::statement(&trial));
            }
        }
        None
    }

    /// Where the statement lacks one or two operands: it would be legal with names of unknown type there.
    pub(crate) fn lacking(&mut self, ast: &ast::Instr) -> Option<usize> {
        let (count, mut tries) = (ast.operands.len(), self.grant());
        if count >= MOST_OPERANDS {
            return None;
        }
        let name = ast::Operand { kind: OperandKind::Expr(Expr::Name(super::word(HOLE), None)), span: ast.span };
        let address = ast::Operand { kind: OperandKind::Address(vec![name.clone()]), span: ast.span };
        let one = [vec![name.clone()], vec![address.clone()]];
        let two = [vec![address.clone(), address], vec![name.clone(), name]];
        for holes in [one, two] {
            for at in std::iter::once(count).chain(0..count) {
                for holes in &holes {
                    if tries == 0 {
                        return None;
                    }
                    tries -= 1;
                    let mut trial = ast.clone();
                    trial.operands.splice(at..at, holes.iter().cloned());
                    self.attempts.holes.clear();
                    self.accepts(&trial);
                    if !self.attempts.holes.is_empty() {
                        return Some(at);
                    }
                }
            }
        }
        None
    }

    /// The type of the registers, if several differ from the instruction's type and it makes the instruction legal.
    pub(crate) fn retyped(&mut self, ast: &ast::Instr, errors: &[Diagnostic]) -> Option<Help> {
        if errors.iter().filter(|d| d.code == code::REGISTER_TYPE).count() < 2 {
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
                    return Some(Help::replace(&format!(".{new}"), &format!(".{}", old.text), old.span));
                }
            }
        }
        None
    }

    /// The statement that computes a sum of registers or of a register and a constant.
    pub(crate) fn computed(&mut self, e: &Expr) -> Option<String> {
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
    pub(crate) fn computed_negation(&mut self, o: &ast::Operand) -> Option<String> {
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

    /// The type of the register in an expression.
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

    /// A name that is not used here.
    pub(crate) fn free_name(&mut self) -> &'static str {
        for name in ["x", "y", "z", "v", "w", "tmp", "tmp1", "tmp2"] {
            if self.lookup(name).is_none() {
                return name;
            }
        }
        "tmp3"
    }

    /// The same for a list of targets.
    pub(crate) fn free_list_name(&mut self) -> &'static str {
        for name in ["ts", "targets", "ts1"] {
            if self.lookup(name).is_none() {
                return name;
            }
        }
        "ts2"
    }

    /// Labels where the name of their list belongs: `[A, B]`, `{A, B}` or `A, B`.
    pub(crate) fn labels_for_list(&mut self, given: &[&ast::Operand]) -> Option<Diagnostic> {
        let span = given.first()?.span.to(given.last()?.span);
        let mut elements = Vec::new();
        for o in given {
            match &o.kind {
                OperandKind::Address(inner) | OperandKind::Vector(inner) => elements.extend(inner),
                _ => elements.push(*o),
            }
        }
        let mut labels = Vec::new();
        for o in elements {
            let OperandKind::Expr(Expr::Name(word, None)) = &o.kind else { return None };
            if !matches!(self.lookup(&word.text), Some(Sym::Label(_))) {
                return None;
            }
            labels.push(word.text.as_str());
        }
        let list = self.free_list_name();
        (!labels.is_empty()).then(|| errors::labels_for_list(span, &labels.join(", "), list))
    }

    /// Ways to get a register of the type `want` from the operand: code to put before the statement, and why.
    pub(crate) fn conversions(&mut self, given: &str, have: Ty, want: Ty) -> Vec<String> {
        let x = self.free_name();
        let mut out = Vec::new();
        for (purpose, code) in errors::conversions(given, have, want, x) {
            out.push(format!("{purpose}put `{code}` before it, and write `{x}`"));
        }
        out
    }

    /// An integer constant in a register of the type.
    pub(crate) fn constant_in_register(&mut self, ty: Option<Ty>, e: &Expr) -> Option<String> {
        let (Some(Const::Int { value, .. }), Some(ty)) = (fold(e), ty) else { return None };
        let integer = matches!(ty.class(), Class::Bits | Class::Unsigned | Class::Signed);
        if !integer || !matches!(ty.bits(), 16 | 32 | 64) {
            return None;
        }
        let (x, bits, value) = (self.free_name(), ty.bits(), value as i64);
        Some(format!("put `.reg .b{bits} {x}; mov.b{bits} {x}, {value};` before it, and write `{x}`"))
    }

    /// An address in a legal form, or code that computes it. `narrow`: it may have 32 bits.
    pub(crate) fn address_instead(&mut self, e: &Expr, narrow: bool) -> Option<Help> {
        let Expr::Binary(op, a, b, _) = e else { return None };
        let Expr::Name(base, None) = &**a else { return None };
        if let Some(Const::Int { value, .. }) = fold(b) {
            return (*op == "-").then(|| Help::write(format!("{}+{}", base.text, (value as i64).wrapping_neg())));
        }
        if let ("-", Expr::Rust(id, _)) = (*op, &**b) {
            return Some(Help::write(format!("{} + -({})", base.text, self.out.constants.written(*id, 0))));
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
        Some(format!("put `.reg .b{wide} {x}; {code}` before it, and write `{x}`").into())
    }

    /// The width of a register of integers or bits.
    fn bits_of(&mut self, name: &str) -> Option<u32> {
        let Some(Sym::Reg(id)) = self.lookup(name) else { return None };
        let ty = self.reg_ty(id);
        matches!(ty.class(), Class::Bits | Class::Unsigned | Class::Signed).then(|| ty.bits())
    }

    /// A declaration for a function with this call.
    pub(crate) fn declaration_of(&mut self, name: &str, ret: &[ast::Operand], args: &[ast::Operand]) -> Option<String> {
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
        OperandKind::Address(list) => {
            let mut others = vec![OperandKind::Vector(list.clone())];
            match list.as_slice() {
                // `[%rd1]` where the address is a value.
                [only @ ast::Operand { kind: OperandKind::Expr(Expr::Name(..)), .. }] => others.push(only.kind.clone()),
                // `[map, x, y]`
                [map, coordinates @ ..] if !coordinates.is_empty() => {
                    let coordinates = OperandKind::Vector(coordinates.to_vec());
                    let coordinates = ast::Operand { kind: coordinates, span: o.span };
                    others.push(OperandKind::Address(vec![map.clone(), coordinates]));
                }
                _ => {}
            }
            others
        }
        OperandKind::Expr(Expr::Name(..)) => {
            let sink = ast::Operand { kind: OperandKind::Sink, span: o.span };
            let pair = OperandKind::Pair(Box::new(sink), Box::new(o.clone()));
            vec![OperandKind::Address(vec![o.clone()]), OperandKind::Vector(vec![o.clone()]), pair]
        }
        _ => Vec::new(),
    }
}
