//! Checks directives: those of a function (PTX ISA 11.4, 11.7, 11.8), `.alias`, `.pragma`, `.attribute`, linkage. Where the
//! manual and ptxas 13.5 differ, ptxas decides.

use super::signature::signature;
use super::symbol::Sym;
use super::words::argument_names;
use super::{Checker, Declared};
use crate::ast::{self, Arg, Expr};
use crate::check::errors;
use crate::diag::Diagnostic;
use crate::parse::errors::{misplaced_directive, twice};
use crate::parse::{Const, fold};
use crate::span::Span;
use ptx_dsl_isa::hir::FuncId;
use ptx_dsl_isa::isa::directive::{EXCLUSIVE, GONE, LANGUAGES, NEEDS_ALL, PRAGMAS, Place, directive};
use ptx_dsl_isa::isa::{ANY, Ptx, sm};

/// The hardware limits of threads in a CTA and CTAs in a cluster.
pub(super) const THREADS: u64 = 1024;
pub(super) const CTAS: u64 = 16;
/// The most registers that ptxas accepts for `.abi_preserve_control`, on every target.
pub(super) const CONTROL_REGISTERS: u64 = 11;

/// What an attribute is attached to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Attributed {
    Variable { global: bool },
    Entry,
    Func,
}

/// How many integers a directive takes.
fn arguments(name: &str) -> Option<(usize, usize)> {
    Some(match name {
        ".reqntid" | ".maxntid" | ".reqnctapercluster" => (1, 3),
        ".maxnreg" | ".minnctapersm" | ".maxnctapersm" | ".maxclusterrank" | ".minperctamemory" => (1, 1),
        ".abi_preserve" | ".abi_preserve_control" => (1, 1),
        ".explicitcluster" | ".blocksareclusters" | ".noreturn" => (0, 0),
        _ => return None,
    })
}

/// The span of the arguments, or of the directive if it has none.
pub(super) fn value_span(d: &ast::Directive) -> Span {
    if d.span.last > d.name.span.last { Span { first: d.name.span.last + 1, ..d.span } } else { d.span }
}

impl Checker {
    /// Checks version and target of a directive, also that it still exists.
    pub(super) fn directive_gate(&mut self, name: &str, span: Span) {
        for (gone, since, instead) in GONE {
            if *gone == name && self.version >= *since && self.version.0 != u32::MAX {
                self.report(errors::directive_gone(span, name, *since, instead));
                return;
            }
        }
        if let Some(d) = directive(name)
            && let Some(e) =
                self.gate(span, format_args!("`{name}`"), d.since, d.requires, errors::directive_section(name))
        {
            self.report(e);
        }
    }

    /// A directive at module scope.
    pub(super) fn module_directive(&mut self, d: &ast::Directive) {
        self.directive_gate(&d.name.text, d.name.span);
        match d.name.text.as_str() {
            ".alias" => self.alias(d),
            ".pragma" => self.module_pragma(d),
            ".section" => self.section(d),
            ".file" => self.file(d),
            _ => {}
        }
    }

    /// Labels of a section, and differences of labels, are newer.
    fn section(&mut self, d: &ast::Directive) {
        for arg in &d.args {
            if let Arg::Expr(Expr::Name(label, _)) = arg {
                self.section_label(&label.text);
            }
        }
        for arg in &d.args {
            let Arg::Expr(e) = arg else { continue };
            let (what, since) = match e {
                Expr::Name(..) => ("a label in `.section`", Ptx(7, 0)),
                _ => ("a difference of labels in `.section`", Ptx(7, 5)),
            };
            if let Some(e) = self.gate(e.span(), format_args!("{what}"), since, ANY, "11.5.2") {
                self.report(e);
                return;
            }
        }
    }

    /// A directive in a body.
    pub(super) fn body_directive(&mut self, d: &ast::Directive) {
        self.directive_gate(&d.name.text, d.name.span);
        match d.name.text.as_str() {
            ".pragma" => self.pragma(d, true),
            ".loc" => self.location(d),
            _ => {}
        }
    }

    /// `.reqntid` and friends.
    pub(super) fn directives(&mut self, f: &ast::Function) {
        for (i, d) in f.directives.iter().enumerate() {
            self.function_directive(f, d, &f.directives[i + 1..]);
        }
        for (a, b) in EXCLUSIVE {
            if let (Some(x), Some(y)) = (find(f, a), find(f, b)) {
                let (x, y) = if x.span.first > y.span.first { (x, y) } else { (y, x) };
                self.report(errors::directives_exclude(x.name.span, &x.name.text, &y.name.text, y.name.span));
            }
        }
        for (name, all) in NEEDS_ALL {
            if let Some(d) = find(f, name) {
                for (need, value) in *all {
                    if find(f, need).is_none() {
                        self.report(errors::directive_needs(d.name.span, name, need, value));
                    }
                }
            }
        }
        if f.entry
            && let Some(d) = find(f, ".minnctapersm")
            && !d.args.is_empty()
            && find(f, ".maxntid").is_none()
            && find(f, ".reqntid").is_none()
        {
            let text = "`.minnctapersm` is ignored without `.maxntid` or `.reqntid`";
            let warning =
                errors::no_effect(d.name.span, text, "add `.maxntid 128` or another number of threads, or remove it");
            self.report(warning.note("see PTX ISA 11.4.4"));
        }
    }

    /// One of them; `behind` are the following ones.
    fn function_directive(&mut self, f: &ast::Function, d: &ast::Directive, behind: &[ast::Directive]) {
        let name = d.name.text.as_str();
        let place = if f.entry { Place::Entry } else { Place::Func };
        if let Some(row) = directive(name)
            && !row.places.contains(&place)
        {
            let here = if f.entry { "on an `.entry`" } else { "on a `.func`" };
            let there = if f.entry { "on a `.func`" } else { "on an `.entry`" };
            let there = if name == ".pragma" { "in the body of a `.func`" } else { there };
            self.report(misplaced_directive(d.name.span, &name[1..], here, there));
            return;
        }
        self.directive_gate(name, d.name.span);
        match name {
            ".pragma" => self.pragma(d, false),
            ".language" => self.language(d),
            _ => {}
        }
        if self.rust_directive(d) {
            self.given_again(d, behind);
            return;
        }
        let Some(numbers) = self.numbers(d) else { return };
        self.given_again(d, behind);
        if self.in_range(d, &numbers) {
            self.keep(f, d, &numbers);
        }
    }

    /// Reports a directive that stands after itself once more.
    fn given_again(&mut self, d: &ast::Directive, behind: &[ast::Directive]) {
        let name = d.name.text.as_str();
        let mut later = None;
        for o in behind {
            if o.name.text == name {
                later = Some(o.name.span);
            }
        }
        if let Some(last) = later {
            let single = matches!(name, ".noreturn" | ".abi_preserve" | ".abi_preserve_control");
            if single {
                self.report(twice(last, &format!("`{name}`"), d.name.span));
            } else if !matches!(name, ".explicitcluster" | ".blocksareclusters" | ".minperctamemory") {
                self.report(errors::overridden(d.name.span, name, last));
            }
        }
    }

    /// Records a directive.
    fn keep(&mut self, f: &ast::Function, d: &ast::Directive, numbers: &[u64]) {
        let mut all = [1; 3];
        for (number, n) in all.iter_mut().zip(numbers) {
            *number = u32::try_from(*n).unwrap_or(u32::MAX);
        }
        let Some(fun) = &mut self.fun else { return };
        fun.rust.forget(&d.name.text);
        match d.name.text.as_str() {
            ".reqntid" => fun.reqntid = Some(all),
            ".maxntid" => fun.maxntid = Some(all),
            ".reqnctapercluster" if numbers.contains(&0) => fun.reqnctapercluster = None,
            ".reqnctapercluster" => fun.reqnctapercluster = Some(all),
            ".maxclusterrank" if all[0] == 0 => fun.maxclusterrank = None,
            ".maxclusterrank" => fun.maxclusterrank = Some(all[0]),
            ".explicitcluster" => fun.explicitcluster = true,
            ".maxnreg" => fun.maxnreg = Some(all[0]),
            ".minnctapersm" => fun.minnctapersm = Some(all[0]),
            name @ ".noreturn" if !f.rets.is_empty() => {
                let rule = "is not allowed on a function that returns a value";
                let help = "remove it, or the return parameters".to_string();
                self.report(errors::directive_value(d.name.span, name, rule, help));
            }
            _ => {}
        }
    }

    /// The arguments of a directive that takes integers, if they are right; `None` for all other directives.
    fn numbers(&mut self, d: &ast::Directive) -> Option<Vec<u64>> {
        let name = d.name.text.as_str();
        let (low, high) = arguments(name)?;
        let mut out = Vec::new();
        for arg in &d.args {
            let value = match arg {
                Arg::Expr(e) => fold(e),
                Arg::Str(_) => None,
            };
            let plain = match arg {
                Arg::Expr(Expr::Int { .. }) => true,
                Arg::Expr(Expr::Name(name, None)) => name.text == "WARP_SZ",
                _ => false,
            };
            match value {
                // ptxas takes no expressions here.
                Some(Const::Int { value, unsigned }) if !plain && (unsigned || value <= i64::MAX as u64) => {
                    let rule = "takes plain integers, no expressions";
                    let help = match value <= u64::from(u32::MAX) {
                        true => format!("write `{value}`"),
                        false => "write a positive number".to_string(),
                    };
                    self.report(errors::directive_value(value_span(d), name, rule, help));
                    return None;
                }
                Some(Const::Int { value, .. }) if plain => out.push(value),
                _ => break,
            }
        }
        if out.len() != d.args.len() || out.len() < low || out.len() > high {
            let before = if d.args.is_empty() { format!("{name} ") } else { String::new() };
            let (rule, help) = match (low, high) {
                (_, 0) => ("takes no arguments", "remove it".to_string()),
                (_, 1) => ("takes one integer that is not negative", format!("write `{before}8` or another number")),
                _ if name == ".reqnctapercluster" => {
                    ("takes one to three positive integers", format!("write `{before}2` or another size"))
                }
                _ => ("takes one to three positive integers", format!("write `{before}128` or another size")),
            };
            // `.maxnreg 128, 2`
            let help = if high > 0 && out.len() > high {
                let kept: Vec<String> = out[..high].iter().map(u64::to_string).collect();
                format!("write `{}`", kept.join(", "))
            } else {
                help
            };
            let span = if d.args.is_empty() { d.name.span } else { value_span(d) };
            self.report(errors::directive_value(span, name, rule, help));
            return None;
        }
        Some(out)
    }

    /// Are the values possible? Reports those that are not.
    fn in_range(&mut self, d: &ast::Directive, numbers: &[u64]) -> bool {
        let (name, span) = (d.name.text.as_str(), value_span(d));
        let (mut product, mut largest) = (1u64, 0);
        for n in numbers {
            product = product.saturating_mul(*n);
            largest = largest.max(*n);
        }
        if largest > u64::from(u32::MAX) {
            let help = "write a smaller number".to_string();
            self.report(errors::directive_value(span, name, "takes integers of 32 bits", help));
            return false;
        }
        let cluster = matches!(name, ".reqnctapercluster" | ".maxclusterrank");
        if cluster && largest == 0 {
            let text = format!("`{name}` of 0 says nothing");
            let help = format!("write `2` or another size, or remove `{name}`");
            self.report(errors::no_effect(span, &text, &help).note("see PTX ISA 11.7"));
            return true;
        }
        let zero = matches!(name, ".abi_preserve" | ".abi_preserve_control" | ".minperctamemory");
        if product == 0 && !numbers.is_empty() && !zero {
            self.report(errors::directive_value(span, name, "must be at least 1", "write a positive number".into()));
            return false;
        }
        match name {
            ".abi_preserve_control" if product > CONTROL_REGISTERS => {
                let rule = format!("takes {CONTROL_REGISTERS} at most");
                let help = format!("write a number from 0 to {CONTROL_REGISTERS}");
                self.report(errors::directive_value(span, name, &rule, help));
                return false;
            }
            // No launch can have what is required; what is allowed is only generous.
            ".reqntid" | ".reqnctapercluster" => {
                let (unit, limit) = if cluster { ("CTAs in a cluster", CTAS) } else { ("threads in a CTA", THREADS) };
                if product > limit {
                    let rule = format!("asks for {product} {unit}, and {limit} are the most");
                    let help = format!("write sizes whose product is {limit} at most");
                    self.report(errors::directive_value(span, name, &rule, help));
                    return false;
                }
            }
            ".maxntid" if product > THREADS => {
                self.report(errors::over_limit(span, name, product, "threads in a CTA", THREADS));
            }
            ".maxclusterrank" if product > CTAS => {
                self.report(errors::over_limit(span, name, product, "CTAs in a cluster", CTAS));
            }
            _ => {}
        }
        true
    }

    /// `.language "PTX", 3`: names that ptxas knows, or numbers of languages.
    fn language(&mut self, d: &ast::Directive) {
        if d.args.is_empty() {
            let help = "write `.language \"PTX\"`".to_string();
            self.report(errors::directive_value(d.name.span, ".language", "needs a language", help));
        }
        for arg in &d.args {
            let Arg::Expr(e) = arg else { continue };
            if !matches!(e, Expr::Int { value, .. } if *value <= LANGUAGES) {
                let rule = format!("takes strings, and numbers from 0 to {LANGUAGES}");
                let help = "write a number in this range".to_string();
                self.report(errors::directive_value(e.span(), ".language", &rule, help));
            }
        }
    }

    /// At module scope ptxas refuses a string that it does not know.
    fn module_pragma(&mut self, d: &ast::Directive) {
        for arg in &d.args {
            if let Arg::Str(word) = arg
                && !PRAGMAS
                    .iter()
                    .any(|p| word.text.split_whitespace().next() == Some(p.name) && (p.body || p.name == word.text))
            {
                let text = format!("the pragma `\"{}\"` is not known at module scope", word.text);
                self.report(errors::pragma(
                    word.span,
                    &text,
                    "remove the directive, or move it into the body of a function",
                ));
                return;
            }
        }
        self.pragma(d, false);
    }

    /// `.pragma "nounroll";` In a function a string that is not known is not an error.
    fn pragma(&mut self, d: &ast::Directive, body: bool) {
        for arg in &d.args {
            let word = match arg {
                Arg::Str(word) => word,
                Arg::Expr(e) => {
                    let text = "`.pragma` takes strings";
                    self.report(errors::pragma(e.span(), text, "put it in double quotes"));
                    continue;
                }
            };
            let mut parts = word.text.split_whitespace();
            let first = parts.next().unwrap_or("");
            let Some(known) = PRAGMAS.iter().find(|p| p.name == first) else { continue };
            let section = "11.4.7";
            if let Some(e) = self.gate(word.span, format_args!("`\"{first}\"`"), known.since, known.requires, section) {
                self.report(e);
            } else if known.body && !body {
                let text = format!("the pragma `\"{first}\"` is allowed inside a function only");
                self.report(errors::pragma(word.span, &text, "move it into the body of the function"));
            } else if let Some(example) = known.argument
                && parts.next().is_none()
            {
                let text = format!("the pragma `\"{first}\"` needs an argument");
                self.report(errors::pragma(word.span, &text, &format!("write `\"{first} {example}\"`")));
            }
        }
    }

    /// `.alias fAlias, fAliasee;` (PTX ISA 11.2.3). From here on, a call of the alias calls the aliasee.
    fn alias(&mut self, d: &ast::Directive) {
        let (&[alias, aliasee], 2) = (argument_names(d).as_slice(), d.args.len()) else {
            let text = "`.alias` takes the names of two functions";
            self.report(errors::alias(
                value_span(d),
                text,
                "give the new name and that of the function, with a comma between them",
            ));
            return;
        };
        // An aliasee that is an alias stands for its function.
        let Some(resolved) = self.aliased(alias) else { return };
        let a = match self.declared.get(&alias.text) {
            Some(declared) => declared.id,
            None => resolved,
        };
        if self.is_entry(alias, a) {
            return;
        }
        let Some(b) = self.aliased(aliasee) else { return };
        if self.is_entry(aliasee, b) {
            return;
        }
        if let Some(d) = self.no_alias((alias, a), (aliasee, b)) {
            self.report(d);
            return;
        }
        if let Some(d) = self.declared.get_mut(&alias.text) {
            d.alias = Some(alias.span);
        }
        self.define_function(&alias.text, alias.span, b);
    }

    /// A function that `.alias` names.
    fn aliased(&mut self, word: &ast::Word) -> Option<FuncId> {
        let d = match self.lookup(&word.text) {
            Some(Sym::Func(id)) => return Some(id),
            Some(Sym::Broken) => return None,
            Some(other) => errors::wrong_name(word.span, &word.text, other.describe(), "a function"),
            None => {
                let mut d = self.undeclared(word.span, "function", &word.text);
                if d.helps.is_empty() || d.helps[0].starts_with("define") {
                    d.helps = vec![format!("put `.func {};` before it", word.text)];
                }
                d
            }
        };
        self.report(d);
        None
    }

    /// Reports a kernel in an `.alias`.
    fn is_entry(&mut self, word: &ast::Word, id: FuncId) -> bool {
        let entry = self.out.functions[id.0 as usize].entry;
        if entry {
            let text = format!("`{}` is an `.entry`, and only a `.func` has aliases", word.text);
            self.report(errors::alias(word.span, &text, "name a `.func`"));
        }
        entry
    }

    /// Why one function cannot be an alias of another.
    fn no_alias(&self, alias: (&ast::Word, FuncId), aliasee: (&ast::Word, FuncId)) -> Option<Diagnostic> {
        let (x, y) = (&self.out.functions[alias.1.0 as usize], &self.out.functions[aliasee.1.0 as usize]);
        let (alias, aliasee) = (alias.0, aliasee.0);
        let (a, b) = (self.declared.get(&alias.text), self.declared.get(&aliasee.text));
        if alias.text == aliasee.text {
            return Some(errors::alias(aliasee.span, "a function cannot be its own alias", "name another function"));
        }
        if let Some(&Declared { alias: Some(first), .. }) = a {
            let text = format!("`{}` is an alias already", alias.text);
            return Some(errors::alias(alias.span, &text, "remove one of the two").label(first, "it is made one here"));
        }
        if x.defined {
            let text = format!("`{}` is defined, and an alias is declared only", alias.text);
            let help = "end its declaration with `;` in place of the body";
            return Some(errors::alias(alias.span, &text, help).label(x.span, "it is defined here"));
        }
        for l in &y.linkage {
            if l == ".weak" {
                let text = format!("`{}` is `.weak`, and cannot be aliased", aliasee.text);
                return Some(errors::alias(aliasee.span, &text, "remove `.weak`").label(y.span, "it is declared here"));
            }
        }
        if signature(x) != signature(y) || noreturn(a) != noreturn(b) {
            let text = format!("`{}` and `{}` differ in their signatures", alias.text, aliasee.text);
            let help = format!("give `{}` the parameters and the `.noreturn` of `{}`", alias.text, aliasee.text);
            let there = format!("`{}` is declared here", aliasee.text);
            return Some(errors::alias(alias.span, &text, &help).label(y.span, there));
        }
        None
    }

    /// `.attribute(.managed, .unified(1, 2))`, kept as text (PTX ISA 5.4.8).
    pub(super) fn attribute(&mut self, word: &ast::Word, on: Attributed) {
        let inner = word.text.strip_prefix(".attribute(").and_then(|t| t.strip_suffix(')')).unwrap_or("");
        if on == Attributed::Entry {
            let text = "an `.entry` has no attributes";
            self.report(errors::attribute(word.span, text, "remove it"));
            return;
        }
        let (mut depth, mut start) = (0u32, 0);
        for (i, c) in inner.bytes().enumerate() {
            match c {
                b'(' => depth += 1,
                b')' => depth = depth.saturating_sub(1),
                b',' if depth == 0 => {
                    self.one_attribute(word.span, inner[start..i].trim(), on);
                    start = i + 1;
                }
                _ => {}
            }
        }
        self.one_attribute(word.span, inner[start..].trim(), on);
    }

    /// One of them, such as `.unified(1, 2)`.
    fn one_attribute(&mut self, span: Span, part: &str, on: Attributed) {
        let name = part.split([' ', '\t', '\r', '\n', '(']).next().unwrap_or("");
        let (since, requires) = match name {
            ".managed" if name == part => (Ptx(4, 0), sm(30)),
            ".unified" if is_pair(part) => (Ptx(8, 0), sm(90)),
            ".unified" => {
                let text = "`.unified` takes two unsigned integers";
                self.report(errors::attribute(span, text, "write `.attribute(.unified(1, 2))`"));
                return;
            }
            _ => {
                let text = match part {
                    "" => "`.attribute` needs an attribute".to_string(),
                    _ => format!("unknown attribute `{part}`"),
                };
                self.report(errors::attribute(
                    span,
                    &text,
                    "write `.attribute(.managed)` or `.attribute(.unified(1, 2))`",
                ));
                return;
            }
        };
        let allowed = on == Attributed::Variable { global: true } || on == Attributed::Func && name == ".unified";
        if !allowed {
            let text = match on {
                Attributed::Func => format!("a function cannot be `{name}`"),
                _ => format!("only a `.global` variable can be `{name}`"),
            };
            self.report(errors::attribute(span, &text, "remove it"));
        } else if let Some(e) = self.gate(span, format_args!("`{name}`"), since, requires, "5.4.8") {
            self.report(e);
        }
    }

    /// `.extern`, `.visible`, `.weak`, `.common`: one at most, and where each may stand (PTX ISA 11.6).
    pub(super) fn linkage(&mut self, words: &[ast::Word], function: bool, space: &str, has_value: bool) {
        for word in words {
            self.directive_gate(&word.text, word.span);
        }
        if let [first, second, ..] = words {
            let d = match first.text == second.text {
                true => twice(second.span, &format!("`{}`", second.text), first.span),
                false => {
                    let text = format!("`{}` cannot be combined with `{}`", second.text, first.text);
                    errors::linkage(second.span, &text, "keep one of them")
                        .label(first.span, format!("`{}` is here", first.text))
                }
            };
            self.report(d);
            return;
        }
        let Some(word) = words.first() else { return };
        match word.text.as_str() {
            ".common" if function || space != ".global" => {
                let what = if function { "a function" } else { "a variable outside `.global`" };
                let text = format!("{what} cannot be `.common`");
                self.report(errors::linkage(word.span, &text, "write `.weak` or `.visible`"));
            }
            ".extern" if has_value => {
                let (text, help) = match function {
                    true => ("an `.extern` function has no body", "write `.visible`, or replace the body with `;`"),
                    false => ("an `.extern` variable has no initial value", "write `.visible`, or remove the value"),
                };
                self.report(errors::linkage(word.span, text, help));
            }
            _ => {}
        }
    }
}

/// The directive of this name on a function.
/// The mask of `.pragma "used_bytes_mask 0xfff";` (PTX ISA 12.2): bytes that the load after it uses.
pub(super) fn used_bytes(d: &ast::Directive) -> Option<u32> {
    let Some(Arg::Str(word)) = d.args.first().filter(|_| d.name.text == ".pragma") else { return None };
    let mask = word.text.strip_prefix("used_bytes_mask")?.trim();
    match mask.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => mask.parse().ok(),
    }
}

fn find<'f>(f: &'f ast::Function, name: &str) -> Option<&'f ast::Directive> {
    f.directives.iter().find(|d| d.name.text == name)
}

/// Is it declared `.noreturn`?
fn noreturn(declared: Option<&Declared>) -> bool {
    match declared {
        Some(d) => d.noreturn,
        None => false,
    }
}

/// `.unified(1, 0xFF)`
fn is_pair(text: &str) -> bool {
    let Some(inner) = text.strip_prefix(".unified") else { return false };
    let Some(inner) = inner.trim().strip_prefix('(') else { return false };
    let Some(inner) = inner.strip_suffix(')') else { return false };
    match inner.split_once(',') {
        Some((a, b)) => !b.contains(',') && starts_with_digit(a.trim()) && starts_with_digit(b.trim()),
        None => false,
    }
}

fn starts_with_digit(text: &str) -> bool {
    matches!(text.as_bytes(), [b'0'..=b'9', ..])
}
