//! Checks directives (PTX ISA 11): those of a function here. Where the manual and ptxas 13.5 differ, ptxas decides.

mod alias;
mod attribute;
mod pragma;

pub(super) use attribute::Attributed;
pub(super) use pragma::used_bytes;

use super::Checker;
use crate::ast::{self, Arg, Expr};
use crate::check::errors;
use crate::edit::Help;
use crate::parse::errors::{misplaced_directive, twice};
use crate::parse::{Const, fold};
use crate::span::Span;
use ptx_dsl_isa::isa::directive::{EXCLUSIVE, GONE, LANGUAGES, NEEDS_ALL, Place, directive};
use ptx_dsl_isa::isa::{ANY, Ptx};

/// The hardware limits of threads in a CTA and CTAs in a cluster.
pub(super) const THREADS: u64 = 1024;
pub(super) const CTAS: u64 = 16;
/// The most registers that ptxas accepts for `.abi_preserve_control`, on every target.
pub(super) const CONTROL_REGISTERS: u64 = 11;

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
                    let rule = "takes plain integers, not expressions";
                    let help = match value <= u64::from(u32::MAX) {
                        true => Help::write(value.to_string()),
                        false => "write a positive number".into(),
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
                (_, 0) => ("takes no arguments", Help::remove()),
                (_, 1) => (
                    "takes one integer that is not negative",
                    Help::write(format!("{before}8")).then(" or another number"),
                ),
                _ if name == ".reqnctapercluster" => {
                    ("takes one to three positive integers", Help::write(format!("{before}2")).then(" or another size"))
                }
                _ => (
                    "takes one to three positive integers",
                    Help::write(format!("{before}128")).then(" or another size"),
                ),
            };
            // `.maxnreg 128, 2`
            let help = if high > 0 && out.len() > high {
                let kept: Vec<String> = out[..high].iter().map(u64::to_string).collect();
                Help::write(kept.join(", "))
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
            let text = format!("`{name}` of 0 has no effect");
            let help = Help::write("2").then(&format!(" or another size, or remove `{name}`"));
            self.report(errors::no_effect(span, &text, help).note("see PTX ISA 11.7"));
            return true;
        }
        let zero = matches!(name, ".abi_preserve" | ".abi_preserve_control" | ".minperctamemory");
        if product == 0 && !numbers.is_empty() && !zero {
            self.report(errors::directive_value(span, name, "must be at least 1", "write a positive number"));
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
                    let rule = format!("asks for {product} {unit}, but at most {limit} are allowed");
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
            let help = Help::write(".language \"PTX\"");
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
}

/// The directive of this name on a function.
fn find<'f>(f: &'f ast::Function, name: &str) -> Option<&'f ast::Directive> {
    f.directives.iter().find(|d| d.name.text == name)
}
