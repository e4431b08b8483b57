//! `.pragma` (PTX ISA 11.4.7, 12).

use crate::ast::{self, Arg};
use crate::check::{Checker, errors};
use crate::edit::Help;
use ptx_dsl_isa::isa::directive::PRAGMAS;

impl Checker {
    /// At module scope ptxas refuses a string that it does not know.
    pub(super) fn module_pragma(&mut self, d: &ast::Directive) {
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
    pub(super) fn pragma(&mut self, d: &ast::Directive, body: bool) {
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
                self.report(errors::pragma(word.span, &text, Help::write(format!("\"{first} {example}\""))));
            }
        }
    }
}

/// The mask of `.pragma "used_bytes_mask 0xfff";` (PTX ISA 12.2): bytes that the load after it uses.
pub(in crate::check) fn used_bytes(d: &ast::Directive) -> Option<u32> {
    let Some(Arg::Str(word)) = d.args.first().filter(|_| d.name.text == ".pragma") else { return None };
    let mask = word.text.strip_prefix("used_bytes_mask")?.trim();
    match mask.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => mask.parse().ok(),
    }
}
