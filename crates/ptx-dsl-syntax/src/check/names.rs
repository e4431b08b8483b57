//! Scopes and names (PTX ISA 4.4, 5.2). `%r<100>` declares a range; its registers are created on first use.

use super::signature::Signature;
use super::symbol::Sym;
use crate::code;
use crate::diag::{Subject, Wanted};
use std::borrow::Cow;
use std::rc::Rc;

use super::Checker;
use super::fix::operands::HOLE;
use super::value::register_fits;
use crate::ast;
use crate::check::errors;
use crate::parse::near::all_near;
use crate::span::Span;
use indexmap::IndexMap;
use ptx_dsl_isa::constant::{ConstId, Constants, Count};
use ptx_dsl_isa::hir::{self, FuncId, LabelId, RegId};
use ptx_dsl_isa::ty::{Class, Ty};
use std::collections::{HashMap, HashSet};

/// Lists of targets and prototypes.
#[derive(Debug, Default)]
pub(super) struct Lists {
    pub(super) labels: Vec<Vec<LabelId>>,
    pub(super) functions: Vec<Vec<FuncId>>,
    pub(super) prototypes: Vec<Rc<Signature>>,
}

/// `%r<100>`
#[derive(Debug, Clone)]
struct Range {
    prefix: String,
    /// Registers; no end if rustc counts them.
    count: u64,
    /// Their number, if only rustc knows it, and the largest number of a register that is used.
    rust: Option<(ConstId, Option<u64>)>,
    ty: Ty,
    lanes: u32,
    span: Span,
}

/// The names of one `{ }`.
#[derive(Debug, Default)]
pub(super) struct Scope {
    names: IndexMap<String, (Sym, Span)>,
    ranges: Vec<Range>,
    /// The ranges by the prefix before the number.
    by_prefix: HashMap<String, usize>,
    /// Registers and variables that end in a number, by what is before it: the smallest number.
    numbered: HashMap<String, (u64, Span)>,
}

impl Scope {
    /// The range that contains `%r7`, such as `%r<100>`; the first if there is also `%r<8>` with prefix `%`.
    fn range(&self, name: &str) -> Option<&Range> {
        Some(&self.ranges[self.range_at(name)?.0])
    }

    /// Its place, and the number of the register.
    fn range_at(&self, name: &str) -> Option<(usize, u64)> {
        if self.ranges.is_empty() {
            return None;
        }
        let mut first: Option<(usize, u64)> = None;
        for (prefix, n) in numbers(name) {
            if let Some(&at) = self.by_prefix.get(prefix)
                && n < self.ranges[at].count
                && first.is_none_or(|(first, _)| at < first)
            {
                first = Some((at, n));
            }
        }
        first
    }

    /// Adds a register or variable to `numbered`.
    fn number(&mut self, name: &str, span: Span) {
        for (prefix, n) in numbers(name) {
            match self.numbered.get_mut(prefix) {
                Some(smallest) if smallest.0 <= n => {}
                Some(smallest) => *smallest = (n, span),
                None => {
                    self.numbered.insert(prefix.to_string(), (n, span));
                }
            }
        }
    }
}

/// The ways to take a name as a prefix and a number: `%r12` is number 12 of `%r`, and number 2 of `%r1`.
fn numbers(name: &str) -> impl Iterator<Item = (&str, u64)> {
    // A number is no longer than that of the largest count.
    let first = letters(name).len().max(name.len().saturating_sub(20));
    (first..name.len()).filter_map(move |end| {
        let (prefix, digits) = name.split_at(end);
        let plain = digits == "0" || !digits.starts_with('0');
        Some((prefix, digits.parse().ok().filter(|_| plain)?))
    })
}

pub(super) fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// A name without the number at its end.
fn letters(name: &str) -> &str {
    name.trim_end_matches(is_digit)
}

/// Is it nothing but digits?
fn is_number(text: &str) -> bool {
    !text.is_empty() && letters(text).is_empty()
}

/// How many names of a module may be compared with misspelt ones: generated modules should not spend time on helps.
pub(super) const COMPARED: usize = 100_000;

impl Checker {
    /// Declares a name in the innermost scope.
    pub(super) fn define(&mut self, name: &str, span: Span, sym: Sym) {
        self.reserved(name, span);
        let Some(scope) = self.scopes.last_mut() else { return };
        let first = match scope.names.get(name) {
            Some((Sym::Below, first)) if *first == span => None,
            Some((_, first)) => {
                self.diags.push(errors::duplicate(span, name, *first));
                return;
            }
            None => scope.range(name).map(|r| r.span),
        };
        scope.names.insert(name.to_string(), (sym, span));
        // The labels of a block are known before its ranges, and ptxas accepts them.
        if matches!(sym, Sym::Reg(_) | Sym::ModuleReg(..) | Sym::Var(_)) {
            scope.number(name, span);
        }
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

    /// Declares a function at module scope, again if it was a prototype.
    pub(super) fn define_function(&mut self, name: &str, span: Span, id: FuncId) {
        self.reserved(name, span);
        if let Some(scope) = self.scopes.first_mut() {
            match scope.names.get(name) {
                Some((Sym::Func(_), _)) | None => {
                    scope.names.insert(name.to_string(), (Sym::Func(id), span));
                }
                Some((_, first)) => self.diags.push(errors::duplicate(span, name, *first)),
            }
        }
    }

    pub(super) fn define_range(&mut self, prefix: &str, count: Count, ty: Ty, lanes: u32, span: Span) {
        let Some(scope) = self.scopes.last_mut() else { return };
        if let Some(first) = scope.by_prefix.get(prefix).map(|r| scope.ranges[*r].span) {
            self.diags.push(errors::duplicate(span, prefix, first));
            return;
        }
        scope.by_prefix.insert(prefix.to_string(), scope.ranges.len());
        let rust = match count {
            Count::Known(_) => None,
            Count::Rust(id) => Some((id, None)),
        };
        let count = count.known().unwrap_or(u64::MAX);
        let first = scope.numbered.get(prefix).copied().filter(|(n, _)| *n < count);
        scope.ranges.push(Range { prefix: prefix.to_string(), count, rust, ty, lanes, span });
        if let Some((n, first)) = first {
            self.diags.push(errors::duplicate(span, &format!("{prefix}{n}"), first));
        }
    }

    /// A scope ends: where rustc knows the number of registers, it compares it with the largest one that is used.
    pub(super) fn close_scope(&mut self) {
        let Some(scope) = self.scopes.pop() else { return };
        for range in scope.ranges {
            let Some((id, largest)) = range.rust else { continue };
            let (constants, prefix) = (&mut self.out.constants, &range.prefix);
            let shown = constants.written(id, 0);
            let none = errors::rust_registers(range.span, prefix, &shown, &Constants::mark(id), None);
            constants.require_number(id, ">=", 0, none.clone());
            constants.require_number(id, "<=", i64::from(u32::MAX), none);
            if let Some(largest) = largest.and_then(|n| i64::try_from(n).ok()) {
                let finding = errors::rust_registers(range.span, prefix, &shown, &Constants::mark(id), Some(largest));
                constants.require_number(id, ">", largest, finding);
            }
        }
    }

    pub(super) fn new_reg(&mut self, name: &str, ty: Ty, lanes: u32) -> RegId {
        let Some(fun) = &mut self.fun else { return RegId(0) };
        fun.regs.push(hir::Reg { name: name.to_string(), ty, lanes });
        RegId(fun.regs.len() as u32 - 1)
    }

    /// The meaning of the name here.
    pub(super) fn lookup(&mut self, name: &str) -> Option<Sym> {
        if name == HOLE && self.attempts.trying {
            return Some(Sym::Broken);
        }
        for depth in (0..self.scopes.len()).rev() {
            let scope = &self.scopes[depth];
            let (ty, lanes, span) = match (scope.names.get(name), scope.range(name)) {
                (Some((Sym::ModuleReg(ty, lanes), span)), _) => (*ty, *lanes, *span),
                (Some((sym, _)), _) => return Some(*sym),
                (None, Some(range)) => (range.ty, range.lanes, range.span),
                (None, None) => continue,
            };
            return Some(self.comes_into_being(depth, name, ty, lanes, span));
        }
        None
    }

    /// Creates a register of a range, or of the module, on its first use in this function.
    fn comes_into_being(&mut self, depth: usize, name: &str, ty: Ty, lanes: u32, span: Span) -> Sym {
        if self.fun.is_none() {
            return Sym::ModuleReg(ty, lanes);
        }
        let sym = Sym::Reg(self.new_reg(name, ty, lanes));
        let scope = &mut self.scopes[depth];
        if let Some((at, n)) = scope.range_at(name)
            && let Some((_, largest)) = &mut scope.ranges[at].rust
        {
            *largest = (*largest).max(Some(n));
        }
        if depth == 0 {
            self.module_register(name);
        }
        // A function has a scope for its registers of the module, outside that of its parameters and its body.
        self.scopes[depth.max(1)].names.insert(name.to_string(), (sym, span));
        sym
    }

    /// Records that the current function uses a register of the module.
    fn module_register(&mut self, name: &str) {
        let Some(fun) = &self.fun else { return };
        let id = match self.declared.get(&fun.name) {
            Some(declared) => declared.id,
            None => FuncId(self.out.functions.len() as u32),
        };
        self.module_registers.push((name.to_string(), id));
    }

    /// Keeps one finding for each undeclared name, of those since `before` (the findings of a function).
    pub(super) fn undeclared_once(&mut self, before: usize) {
        let mut seen = HashSet::new();
        for d in self.diags.split_off(before.min(self.diags.len())) {
            let known = matches!(&d.subject, Subject::Undeclared { name, .. } if !seen.insert(name.clone()));
            if !known {
                self.diags.push(d);
            }
        }
    }

    /// Reports an undeclared name, with the nearest declared one. `undeclared_once` keeps one report for each name.
    pub(super) fn undeclared(&mut self, span: Span, wanted: Wanted, name: &str) -> crate::diag::Diagnostic {
        self.undeclared_of(span, wanted, name, None)
    }

    /// Reports an undeclared register of that type.
    pub(super) fn undeclared_of(
        &mut self,
        span: Span,
        wanted: Wanted,
        name: &str,
        ty: Option<Ty>,
    ) -> crate::diag::Diagnostic {
        let mut beyond = None;
        let number = &name[letters(name).len()..];
        // A misspelt `%rr1` is `%r1` of the range.
        let mut known: Vec<Cow<str>> = Vec::new();
        for scope in self.scopes.iter().rev() {
            let size = scope.names.len() + scope.ranges.len();
            if size > self.attempts.comparisons {
                break;
            }
            self.attempts.comparisons -= size;
            for (name, (sym, _)) in &scope.names {
                if !matches!(sym, Sym::Broken) {
                    known.push(Cow::Borrowed(name));
                }
            }
            for r in &scope.ranges {
                if beyond.is_none()
                    && let Some(number) = name.strip_prefix(r.prefix.as_str())
                    && is_number(number)
                {
                    beyond = Some((r, number));
                }
                let near = format!("{}{number}", r.prefix);
                if let Some(found) = scope.range(&near)
                    && found.prefix == r.prefix
                {
                    known.push(Cow::Owned(near));
                }
            }
        }
        if let Some((r, number)) = beyond {
            return errors::beyond_range(span, wanted, name, &r.prefix, r.count, number);
        }
        let mut names: Vec<&str> = Vec::with_capacity(known.len());
        for n in &known {
            names.push(n);
        }
        let mut near = Vec::new();
        for n in all_near(name, &names) {
            near.push(n.to_string());
        }
        let meant = near.iter().find(|n| self.may_be_meant(n, wanted, ty));
        errors::undeclared(span, wanted, name, meant.map(String::as_str))
    }

    /// An undeclared name may be that of a function or variable of the module that is used before it is declared.
    pub(super) fn names_below(&mut self, module: &ast::Module) {
        if self.diags.iter().all(|d| d.code != code::UNDECLARED) {
            return;
        }
        let mut below = HashMap::new();
        for item in &module.items {
            match item {
                ast::Item::Function(f) => {
                    let plain = !f.entry && f.rets.is_empty() && f.params.is_empty();
                    below.entry(f.name.text.as_str()).or_insert((if f.entry { "kernel" } else { "function" }, plain));
                }
                ast::Item::Var(decl) => {
                    for name in &decl.names {
                        below.entry(name.name.text.as_str()).or_insert(("variable", false));
                    }
                }
                ast::Item::Directive(_) => {}
            }
        }
        for d in &mut self.diags {
            let name = match &d.subject {
                Subject::Undeclared { name, wanted, .. } if *wanted != Wanted::Label => name.clone(),
                _ => continue,
            };
            let Some(&(what, plain)) = below.get(name.as_str()) else { continue };
            let inside = |first: u32, last: u32| first <= d.span.first && d.span.last <= last;
            let mut place = None;
            for item in &module.items {
                match item {
                    ast::Item::Function(f) if inside(f.span.first, f.end.last) => place = Some(true),
                    ast::Item::Var(decl) if inside(decl.span.first, decl.span.last) => place = Some(false),
                    _ => {}
                }
            }
            // What is in neither is a piece, which names nothing of the module.
            if let Some(within) = place {
                *d = errors::declared_below(d.span, what, &name, plain && within);
            }
        }
    }

    /// May the name stand where `wanted` is expected?
    fn may_be_meant(&mut self, name: &str, wanted: Wanted, ty: Option<Ty>) -> bool {
        match (self.lookup(name), wanted) {
            (Some(Sym::Reg(id)), Wanted::Register) => ty.is_none_or(|ty| register_fits(self.reg_ty(id), ty, true)),
            (Some(Sym::Reg(id)), Wanted::Predicate) => self.reg_ty(id) == Ty::Pred,
            (Some(Sym::Reg(id)), Wanted::RegisterOrVariable) => {
                let ty = self.reg_ty(id);
                matches!(ty.bits(), 32 | 64) && matches!(ty.class(), Class::Bits | Class::Unsigned | Class::Signed)
            }
            (Some(Sym::Func(_)), wanted) => wanted == Wanted::Function,
            (Some(Sym::Label(_)), wanted) => wanted == Wanted::Label,
            (Some(Sym::Reg(_)), wanted) => matches!(wanted, Wanted::Name | Wanted::Function),
            (Some(Sym::Var(_)), Wanted::Register) if ty == Some(Ty::Pred) => false,
            (Some(Sym::Var(_)), wanted) => {
                matches!(wanted, Wanted::Variable | Wanted::RegisterOrVariable | Wanted::Register | Wanted::Name)
            }
            _ => true,
        }
    }
}
