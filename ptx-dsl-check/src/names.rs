//! Scopes and names (PTX ISA 4.4, 5.2). `%r<100>` makes a range; its registers come into being when they are used.

use std::rc::Rc;

use super::Checker;
use super::named::Named;
use crate::errors;
use crate::hir::{self, FuncId, LabelId, RegId, VarId};
use crate::parse::errors::nearest;
use crate::span::Span;
use crate::ty::Ty;

/// What a name means.
#[derive(Debug, Clone)]
pub(super) enum Sym {
    Reg(RegId),
    Var(VarId),
    Func(FuncId),
    Label(LabelId),
    /// `.branchtargets`
    Labels(Rc<Vec<LabelId>>),
    /// `.calltargets`
    Funcs(Rc<Vec<FuncId>>),
    /// `.callprototype`
    Prototype(Rc<Signature>),
    /// One of these three, further down.
    Below,
    /// Its declaration was refused: nothing follows.
    Broken,
}

impl Sym {
    /// In words.
    pub(super) fn describe(&self) -> &'static str {
        match self {
            Sym::Reg(_) => "a register",
            Sym::Var(_) => "a variable",
            Sym::Func(_) => "a function",
            Sym::Label(_) => "a label",
            Sym::Labels(_) => "a list of branch targets",
            Sym::Funcs(_) => "a list of call targets",
            Sym::Prototype(_) => "a call prototype",
            Sym::Below => "a list that is declared only below",
            Sym::Broken => "unknown",
        }
    }
}

/// A parameter of a function or prototype.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Formal {
    pub(super) ty: Ty,
    /// In bytes.
    pub(super) size: u32,
    /// In bytes; at least that of the type.
    pub(super) align: u32,
    pub(super) array: bool,
    /// `.reg`, not `.param`.
    pub(super) reg: bool,
}

/// The parameters of a function or prototype.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Signature {
    pub(super) rets: Vec<Formal>,
    pub(super) params: Vec<Formal>,
    /// Of the elements of the array without size, if there is one.
    pub(super) rest_align: u32,
    /// The last parameter is an array without size: any arguments may follow (PTX ISA 7.2).
    pub(super) variadic: bool,
}

impl Signature {
    /// Do both take and give values of the same types and sizes? Then one may stand for the other in an indirect call.
    pub(super) fn same_values(&self, other: &Signature) -> bool {
        let same = |a: &[Formal], b: &[Formal]| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.ty == b.ty && a.size == b.size)
        };
        same(&self.rets, &other.rets) && same(&self.params, &other.params) && self.variadic == other.variadic
    }
}

/// `%r<100>`
#[derive(Debug, Clone)]
struct Range {
    prefix: String,
    count: u64,
    ty: Ty,
    lanes: u32,
    span: Span,
}

/// The names of one `{ }`.
#[derive(Debug, Default)]
pub(super) struct Scope {
    names: Named<(Sym, Span)>,
    ranges: Vec<Range>,
    /// The ranges by what stands before the number.
    by_prefix: Named<usize>,
}

impl Scope {
    /// The range that makes `%r7`, such as `%r<100>`; the first if there is also `%r<8>` behind `%`.
    fn range(&self, name: &str) -> Option<&Range> {
        if self.ranges.is_empty() {
            return None;
        }
        let letters = name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        // A number is no longer than that of the largest count.
        let prefixes = (letters.max(name.len().saturating_sub(20))..name.len()).map(|end| name.split_at(end));
        let found = prefixes.filter_map(|(prefix, digits)| {
            let at = *self.by_prefix.get(prefix)?;
            let plain = digits == "0" || !digits.starts_with('0');
            (plain && digits.parse::<u64>().is_ok_and(|n| n < self.ranges[at].count)).then_some(at)
        });
        found.min().map(|at| &self.ranges[at])
    }
}

/// How many names may be compared with misspelt ones in a module: what nobody wrote by hand takes no time for hints.
pub(super) const COMPARED: usize = 100_000;

impl Checker {
    /// Gives a name a meaning in the innermost scope.
    pub(super) fn define(&mut self, name: &str, span: Span, sym: Sym) {
        self.reserved(name, span);
        let Some(scope) = self.scopes.last_mut() else { return };
        let clash = scope.range(name).map(|r| r.span);
        let first = match scope.names.get(name) {
            Some((Sym::Below, first)) if *first == span => None,
            Some((_, first)) => {
                self.diags.push(errors::duplicate(span, name, *first));
                return;
            }
            None => clash,
        };
        scope.names.insert(name, (sym, span));
        if let Some(first) = first {
            self.diags.push(errors::duplicate(span, name, first));
        }
    }

    /// `WARP_SZ` is a constant everywhere (PTX ISA 4.4).
    fn reserved(&mut self, name: &str, span: Span) {
        if name == "WARP_SZ" {
            let text = "`WARP_SZ` is a constant of the language, and cannot be declared";
            self.report(errors::variable(span, text, "4.4", "choose another name"));
        }
    }

    /// Gives a function's name its meaning at module scope, again if it was a prototype.
    pub(super) fn define_function(&mut self, name: &str, span: Span, id: FuncId) {
        self.reserved(name, span);
        if let Some(scope) = self.scopes.first_mut() {
            match scope.names.get(name) {
                Some((Sym::Func(_), _)) | None => {
                    scope.names.insert(name, (Sym::Func(id), span));
                }
                Some((_, first)) => self.diags.push(errors::duplicate(span, name, *first)),
            }
        }
    }

    pub(super) fn define_range(&mut self, prefix: &str, count: u64, ty: Ty, lanes: u32, span: Span) {
        let Some(scope) = self.scopes.last_mut() else { return };
        if let Some(first) = scope.by_prefix.get(prefix).map(|r| scope.ranges[*r].span) {
            self.diags.push(errors::duplicate(span, prefix, first));
            return;
        }
        scope.by_prefix.insert(prefix, scope.ranges.len());
        scope.ranges.push(Range { prefix: prefix.to_string(), count, ty, lanes, span });
    }

    pub(super) fn new_reg(&mut self, name: &str, ty: Ty, lanes: u32) -> RegId {
        let Some(fun) = &mut self.fun else { return RegId(0) };
        fun.regs.push(hir::Reg { name: name.to_string(), ty, lanes });
        RegId(fun.regs.len() as u32 - 1)
    }

    /// What the name means here.
    pub(super) fn lookup(&mut self, name: &str) -> Option<Sym> {
        for depth in (0..self.scopes.len()).rev() {
            let scope = &self.scopes[depth];
            if let Some((sym, _)) = scope.names.get(name) {
                return Some(sym.clone());
            }
            if let Some(range) = scope.range(name) {
                let (ty, lanes, span) = (range.ty, range.lanes, range.span);
                let sym = Sym::Reg(self.new_reg(name, ty, lanes));
                self.scopes[depth].names.insert(name, (sym.clone(), span));
                return Some(sym);
            }
        }
        None
    }

    /// Of the findings since `before`, those of a function, keeps one for each undeclared name.
    pub(super) fn undeclared_once(&mut self, before: usize) {
        fn name(message: &str) -> &str {
            message.split('`').nth(1).unwrap_or("")
        }
        let mut seen = Named::default();
        let since = self.diags.split_off(before.min(self.diags.len()));
        self.diags.extend(since.into_iter().filter(|d| d.code != 401 || seen.insert(name(&d.message), ())));
    }

    /// Says that a name is not declared, with the nearest that is. `undeclared_once` leaves one for each name.
    pub(super) fn undeclared(&mut self, span: Span, what: &str, name: &str) -> crate::diag::Diagnostic {
        let mut ranged = None;
        let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        // A misspelt `%rr1` is `%r1` of the range.
        let mut known: Vec<std::borrow::Cow<str>> = Vec::new();
        for scope in self.scopes.iter().rev() {
            let size = scope.names.len() + scope.ranges.len();
            if size > self.comparisons {
                break;
            }
            self.comparisons -= size;
            known.extend(scope.names.iter().filter(|(_, s)| !matches!(s.0, Sym::Broken)).map(|(n, _)| n.into()));
            for r in &scope.ranges {
                let is_number = |d: &str| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit());
                if ranged.is_none() && name.strip_prefix(r.prefix.as_str()).is_some_and(is_number) {
                    let number = name[r.prefix.len()..].parse::<u64>().unwrap_or(u64::MAX).saturating_add(1);
                    ranged = Some((
                        format!(
                            "`{0}<{1}>` ends at `{0}{2}` (PTX ISA 5.4.6)",
                            r.prefix,
                            r.count,
                            r.count.saturating_sub(1)
                        ),
                        format!("declare `{}<{number}>`", r.prefix),
                    ));
                }
                let near = format!("{}{}", r.prefix, &name[name.len() - digits..]);
                if scope.range(&near).is_some_and(|found| found.prefix == r.prefix) {
                    known.push(near.into());
                }
            }
        }
        let near = if ranged.is_some() { None } else { nearest(name, known.iter().map(AsRef::as_ref)) };
        let d = errors::undeclared(span, what, name, near);
        match ranged {
            Some(text) => d.note(text.0).help(text.1),
            None => d,
        }
    }
}
