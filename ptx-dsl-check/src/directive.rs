//! Directives: those of a function (PTX ISA 11.4, 11.7, 11.8), `.alias`, `.pragma`, `.attribute`, linkage. What ptxas 13.5 says
//! decides where pages and ptxas differ.

use super::Checker;
use super::function::signature;
use super::names::Sym;
use crate::ast::{self, Arg, Expr};
use crate::errors;
use crate::hir;
use crate::isa::directive::{EXCLUSIVE, GONE, LANGUAGES, NEEDS_ALL, PRAGMAS, Place, directive};
use crate::isa::{Ptx, sm};
use crate::parse::errors::{misplaced_directive, twice};
use crate::parse::{Const, fold};
use crate::span::Span;
use ptx_dsl_table::list::List;

/// Threads of a CTA and CTAs of a cluster that hardware has at most.
const THREADS: u64 = 1024;
const CTAS: u64 = 16;
/// What ptxas grants `.abi_preserve_control`, on every target.
const CONTROL_REGISTERS: u64 = 11;

/// What an attribute stands on.
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

/// Where the arguments stand, or the directive if it has none.
fn value_span(d: &ast::Directive) -> Span {
    if d.span.last > d.name.span.last { Span { first: d.name.span.last + 1, ..d.span } } else { d.span }
}

impl Checker {
    /// Version and target of a directive, and whether it is still there.
    pub(super) fn directive_gate(&mut self, name: &str, span: Span) {
        if let Some((_, since, instead)) = GONE.iter().find(|g| g.0 == name && self.version >= g.1)
            && self.version.0 != u32::MAX
        {
            self.report(errors::directive_gone(span, name, *since, instead));
        } else if let Some(d) = directive(name)
            && let Some(e) = self.gate(span, &format!("`{name}`"), d.since, d.requires, errors::directive_section(name))
        {
            self.report(e);
        }
    }

    /// A directive at module scope.
    pub(super) fn module_directive(&mut self, d: &ast::Directive) {
        self.directive_gate(&d.name.text, d.name.span);
        match d.name.text.as_str() {
            ".alias" => self.alias(d),
            ".pragma" => self.pragma(d, false),
            _ => {}
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

    /// What is inlined at a place follows a `.loc` of that place, in whatever function (says ptxas; PTX ISA 11.5.4).
    fn location(&mut self, d: &ast::Directive) {
        let text = d.text.as_deref().unwrap_or("");
        let mut parts = text.split(", ");
        let here = parts.next().unwrap_or("");
        let caller = parts.find_map(|p| p.strip_prefix("inlined_at "));
        if let Some(caller) = caller.filter(|c| self.locations.get(c).is_none()) {
            self.report(errors::inlined_at(value_span(d), caller));
        }
        self.locations.insert(here, ());
    }

    /// `.reqntid` and friends.
    pub(super) fn directives(&mut self, f: &ast::Function) {
        let find = |name: &str| f.directives.iter().find(|d| d.name.text == name);
        for (i, d) in f.directives.iter().enumerate() {
            let name = d.name.text.as_str();
            let place = if f.entry { Place::Entry } else { Place::Func };
            if let Some(row) = directive(name)
                && !row.places.contains(&place)
            {
                let here = if f.entry { "on an `.entry`" } else { "on a `.func`" };
                let there = if f.entry { "on a `.func`" } else { "on an `.entry`" };
                let there = if name == ".pragma" { "in the body of a `.func`" } else { there };
                self.report(misplaced_directive(d.name.span, &name[1..], here, there));
                continue;
            }
            self.directive_gate(name, d.name.span);
            match name {
                ".pragma" => self.pragma(d, false),
                ".language" => self.language(d),
                _ => {}
            }
            let Some(numbers) = self.numbers(d) else { continue };
            let later = f.directives[i + 1..].iter().rfind(|o| o.name.text == name);
            if let Some(last) = later {
                let single = matches!(name, ".noreturn" | ".abi_preserve" | ".abi_preserve_control");
                if single {
                    self.report(twice(last.name.span, &format!("`{name}`"), d.name.span));
                } else if !matches!(name, ".explicitcluster" | ".blocksareclusters" | ".minperctamemory") {
                    self.report(errors::overridden(d.name.span, name, last.name.span));
                }
            }
            if !self.in_range(d, &numbers) {
                continue;
            }
            let xyz = |i: usize| numbers.get(i).map_or(1, |n| u32::try_from(*n).unwrap_or(u32::MAX));
            let all = [xyz(0), xyz(1), xyz(2)];
            let Some(fun) = &mut self.fun else { continue };
            match name {
                ".reqntid" => fun.reqntid = Some(all),
                ".maxntid" => fun.maxntid = Some(all),
                ".reqnctapercluster" if numbers.contains(&0) => fun.reqnctapercluster = None,
                ".reqnctapercluster" => fun.reqnctapercluster = Some(all),
                ".maxclusterrank" if all[0] == 0 => fun.maxclusterrank = None,
                ".maxclusterrank" => fun.maxclusterrank = Some(all[0]),
                ".explicitcluster" => fun.explicitcluster = true,
                ".maxnreg" => fun.maxnreg = Some(all[0]),
                ".minnctapersm" => fun.minnctapersm = Some(all[0]),
                ".noreturn" if !f.rets.is_empty() => {
                    let d = errors::directive_value(
                        d.name.span,
                        name,
                        "stands on a function that returns a value",
                        "remove it, or the return parameters".to_string(),
                    );
                    self.report(d);
                }
                _ => {}
            }
        }
        for (a, b) in EXCLUSIVE {
            if let (Some(x), Some(y)) = (find(a), find(b)) {
                let (x, y) = if x.span.first > y.span.first { (x, y) } else { (y, x) };
                self.report(errors::directives_exclude(x.name.span, &x.name.text, &y.name.text, y.name.span));
            }
        }
        for (name, all) in NEEDS_ALL {
            if let Some(d) = find(name) {
                for need in all.iter().filter(|n| find(n).is_none()) {
                    self.report(errors::directive_needs(d.name.span, name, need));
                }
            }
        }
        if let Some(d) = find(".minnctapersm").filter(|_| f.entry)
            && find(".maxntid").is_none()
            && find(".reqntid").is_none()
        {
            let text = "`.minnctapersm` is ignored without `.maxntid` or `.reqntid`";
            let warning = errors::no_effect(d.name.span, text, "add `.maxntid` or `.reqntid`, or remove it");
            self.report(warning.note("see PTX ISA 11.4.4"));
        }
    }

    /// The arguments of a directive that takes integers, if they are right; `None` also for all other directives.
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
                    self.report(errors::directive_value(value_span(d), name, rule, format!("write `{value}`")));
                    return None;
                }
                Some(Const::Int { value, .. }) if plain => out.push(value),
                _ => break,
            }
        }
        if out.len() != d.args.len() || out.len() < low || out.len() > high {
            let (rule, help) = match (low, high) {
                (_, 0) => ("takes no arguments", format!("write `{name}` alone")),
                (_, 1) => ("takes one integer that is not negative", format!("write one, as in `{name} 8`")),
                _ => ("takes one to three positive integers", format!("write x, or x and y, as in `{name} 128, 2`")),
            };
            let span = if d.args.is_empty() { d.name.span } else { value_span(d) };
            self.report(errors::directive_value(span, name, rule, help));
            return None;
        }
        Some(out)
    }

    /// Are the values possible? Reports what is not.
    fn in_range(&mut self, d: &ast::Directive, numbers: &[u64]) -> bool {
        let (name, span) = (d.name.text.as_str(), value_span(d));
        if numbers.iter().any(|n| *n > u64::from(u32::MAX)) {
            let help = "write a smaller number".to_string();
            self.report(errors::directive_value(span, name, "takes integers of 32 bits", help));
            return false;
        }
        let product = numbers.iter().fold(1u64, |a, b| a.saturating_mul(*b));
        let cluster = matches!(name, ".reqnctapercluster" | ".maxclusterrank");
        if cluster && numbers.iter().all(|n| *n == 0) {
            let text = format!("`{name}` of 0 says nothing");
            let help = format!("write a size, as in `{name} 2`, or remove it");
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

    /// `.pragma "nounroll";` A string that is not known is no error.
    fn pragma(&mut self, d: &ast::Directive, body: bool) {
        for arg in &d.args {
            let word = match arg {
                Arg::Str(word) => word,
                Arg::Expr(e) => {
                    let text = "`.pragma` takes strings";
                    self.report(errors::pragma(e.span(), text, "write it in double quotes: `.pragma \"nounroll\";`"));
                    continue;
                }
            };
            let mut parts = word.text.split_whitespace();
            let first = parts.next().unwrap_or("");
            let Some(known) = PRAGMAS.iter().find(|p| p.name == first) else { continue };
            let section = "11.4.7";
            if let Some(e) = self.gate(word.span, &format!("`\"{first}\"`"), known.since, known.requires, section) {
                self.report(e);
            } else if known.body && !body {
                let text = format!("the pragma `\"{first}\"` is allowed inside a function only");
                self.report(errors::pragma(word.span, &text, "move it into the body of the function"));
            } else if let Some(example) = known.argument
                && parts.next().is_none()
            {
                let text = format!("the pragma `\"{first}\"` needs an argument");
                self.report(errors::pragma(word.span, &text, &format!("write `.pragma \"{first} {example}\";`")));
            }
        }
    }

    /// `.alias fAlias, fAliasee;` (PTX ISA 11.2.3). From here on a call of the alias is one of the aliasee.
    fn alias(&mut self, d: &ast::Directive) {
        let names: Vec<&ast::Word> = d
            .args
            .iter()
            .filter_map(|a| match a {
                Arg::Expr(Expr::Name(w, None)) => Some(w),
                _ => None,
            })
            .list();
        let (&[alias, aliasee], 2) = (names.as_slice(), d.args.len()) else {
            let text = "`.alias` takes the names of two functions";
            self.report(errors::alias(value_span(d), text, "write `.alias new_name, function;`"));
            return;
        };
        let mut ids = Vec::new();
        for word in [alias, aliasee] {
            match self.lookup(&word.text) {
                Some(Sym::Func(resolved)) => {
                    // An aliasee that is an alias stands for its function.
                    let declared = self.declared.get(&word.text).map(|d| d.id);
                    let id = if word.span == alias.span { declared.unwrap_or(resolved) } else { resolved };
                    if self.out.functions[id.0 as usize].entry {
                        let text = format!("`{}` is an `.entry`, and only a `.func` has aliases", word.text);
                        self.report(errors::alias(word.span, &text, "name a `.func`"));
                        return;
                    }
                    ids.push(id);
                }
                Some(Sym::Broken) => return,
                Some(other) => {
                    let d = errors::wrong_name(word.span, &word.text, other.describe(), "a function");
                    self.report(d);
                    return;
                }
                None => {
                    let near = self.undeclared(word.span, "function", &word.text);
                    let d = match near.helps.is_empty() || near.helps[0].starts_with("define") {
                        true => {
                            let mut d = near;
                            d.helps = vec![format!("declare it above this line: `.func {};`", word.text)];
                            d
                        }
                        false => near,
                    };
                    self.report(d);
                    return;
                }
            }
        }
        let &[a, b] = ids.as_slice() else { return };
        let noreturn = |word: &ast::Word| self.declared.get(&word.text).is_some_and(|d| d.noreturn);
        let weak = |f: &hir::Function| f.linkage.iter().any(|l| l == ".weak");
        let (x, y) = (&self.out.functions[a.0 as usize], &self.out.functions[b.0 as usize]);
        let first = self.declared.get(&alias.text).and_then(|d| d.alias);
        let found = if alias.text == aliasee.text {
            Some(errors::alias(aliasee.span, "a function cannot be its own alias", "name another function"))
        } else if let Some(first) = first {
            let text = format!("`{}` is an alias already", alias.text);
            Some(errors::alias(alias.span, &text, "remove one of the two").label(first, "it is made one here"))
        } else if x.defined {
            let text = format!("`{}` is defined, and an alias is declared only", alias.text);
            let help = format!("remove its body: `.func {};`", alias.text);
            Some(errors::alias(alias.span, &text, &help).label(x.span, "it is defined here"))
        } else if weak(y) {
            let text = format!("`{}` is `.weak`, and cannot be aliased", aliasee.text);
            Some(errors::alias(aliasee.span, &text, "remove `.weak`").label(y.span, "it is declared here"))
        } else if signature(x) != signature(y) || noreturn(alias) != noreturn(aliasee) {
            let text = format!("`{}` and `{}` differ in their signatures", alias.text, aliasee.text);
            let help = format!("declare `{}` with the parameters and `.noreturn` of `{}`", alias.text, aliasee.text);
            Some(errors::alias(alias.span, &text, &help).label(y.span, format!("`{}` is declared here", aliasee.text)))
        } else {
            None
        };
        if let Some(d) = found {
            self.report(d);
            return;
        }
        if let Some(d) = self.declared.get_mut(&alias.text) {
            d.alias = Some(alias.span);
        }
        self.define_function(&alias.text, alias.span, b);
    }

    /// `.attribute(.managed, .unified(1, 2))`, kept as text (PTX ISA 5.4.8).
    pub(super) fn attribute(&mut self, word: &ast::Word, on: Attributed) {
        let inner = word.text.strip_prefix(".attribute(").and_then(|t| t.strip_suffix(')')).unwrap_or("");
        if on == Attributed::Entry {
            let text = "an `.entry` has no attributes";
            self.report(errors::attribute(word.span, text, "remove `.attribute`"));
            return;
        }
        let mut depth = 0u32;
        let parts = inner.split(|c| {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            c == ',' && depth == 0
        });
        for part in parts.map(str::trim) {
            let name = part.split(|c: char| c == '(' || c.is_whitespace()).next().unwrap_or("");
            let (since, requires) = match name {
                ".managed" if name == part => (Ptx(4, 0), sm(30)),
                ".unified" if is_pair(part) => (Ptx(8, 0), sm(90)),
                ".unified" => {
                    let text = "`.unified` takes two unsigned integers";
                    self.report(errors::attribute(word.span, text, "write `.attribute(.unified(1, 2))`"));
                    continue;
                }
                _ => {
                    let text = match part {
                        "" => "`.attribute` needs an attribute".to_string(),
                        _ => format!("unknown attribute `{part}`"),
                    };
                    self.report(errors::attribute(word.span, &text, "write `.managed` or `.unified(1, 2)`"));
                    continue;
                }
            };
            let allowed = on == Attributed::Variable { global: true } || on == Attributed::Func && name == ".unified";
            if !allowed {
                let text = match on {
                    Attributed::Func => format!("a function cannot be `{name}`"),
                    _ => format!("only a `.global` variable can be `{name}`"),
                };
                self.report(errors::attribute(word.span, &text, "remove `.attribute`"));
            } else if let Some(e) = self.gate(word.span, &format!("`{name}`"), since, requires, "5.4.8") {
                self.report(e);
            }
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

/// `.unified(1, 0xFF)`
fn is_pair(text: &str) -> bool {
    let Some(inner) = text.strip_prefix(".unified").map(str::trim) else { return false };
    let Some(inner) = inner.strip_prefix('(').and_then(|t| t.strip_suffix(')')) else { return false };
    let mut parts = inner.split(',').map(str::trim);
    let number = |p: Option<&str>| p.is_some_and(|p| p.as_bytes().first().is_some_and(u8::is_ascii_digit));
    number(parts.next()) && number(parts.next()) && parts.next().is_none()
}
