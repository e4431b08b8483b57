//! `.alias` (PTX ISA 11.2.3).

use super::value_span;
use crate::ast;
use crate::check::signature::signature;
use crate::check::symbol::Sym;
use crate::check::words::argument_names;
use crate::check::{Checker, Declared, errors};
use crate::diag::{Diagnostic, Wanted};
use ptx_dsl_isa::hir::FuncId;

impl Checker {
    /// `.alias fAlias, fAliasee;` (PTX ISA 11.2.3). From here on, a call of the alias calls the aliasee.
    pub(super) fn alias(&mut self, d: &ast::Directive) {
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
                let mut d = self.undeclared(word.span, Wanted::Function, &word.text);
                if d.helps.is_empty() {
                    d.only_help(format!("put `.func {};` before it", word.text));
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
            let text = format!("`{}` is defined, but an alias must only be declared", alias.text);
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
}

/// Is it declared `.noreturn`?
fn noreturn(declared: Option<&Declared>) -> bool {
    match declared {
        Some(d) => d.noreturn,
        None => false,
    }
}
