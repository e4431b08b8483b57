//! `.attribute` (PTX ISA 5.4.8) and linkage (11.6).

use crate::ast;
use crate::check::{Checker, errors};
use crate::edit::Help;
use crate::parse::errors::twice;
use crate::span::Span;
use ptx_dsl_isa::isa::{Ptx, sm};

/// What an attribute is attached to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::check) enum Attributed {
    Variable { global: bool },
    Entry,
    Func,
}

impl Checker {
    /// `.attribute(.managed, .unified(1, 2))`, kept as text (PTX ISA 5.4.8).
    pub(in crate::check) fn attribute(&mut self, word: &ast::Word, on: Attributed) {
        let inner = word.text.strip_prefix(".attribute(").and_then(|t| t.strip_suffix(')')).unwrap_or("");
        if on == Attributed::Entry {
            let text = "an `.entry` has no attributes";
            self.report(errors::attribute(word.span, text, Help::remove()));
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
                self.report(errors::attribute(span, text, Help::write(".attribute(.unified(1, 2))")));
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
                    Help::write_one_of(&[".attribute(.managed)", ".attribute(.unified(1, 2))"]),
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
            self.report(errors::attribute(span, &text, Help::remove()));
        } else if let Some(e) = self.gate(span, format_args!("`{name}`"), since, requires, "5.4.8") {
            self.report(e);
        }
    }

    /// `.extern`, `.visible`, `.weak`, `.common`: one at most, and where each may stand (PTX ISA 11.6).
    pub(in crate::check) fn linkage(&mut self, words: &[ast::Word], function: bool, space: &str, has_value: bool) {
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
                self.report(errors::linkage(word.span, &text, Help::write_one_of(&[".weak", ".visible"])));
            }
            ".extern" if has_value => {
                let (text, help) = match function {
                    true => (
                        "an `.extern` function has no body",
                        Help::write(".visible").then(", or replace the body with `;`"),
                    ),
                    false => (
                        "an `.extern` variable has no initial value",
                        Help::write(".visible").then(", or remove the value"),
                    ),
                };
                self.report(errors::linkage(word.span, text, help));
            }
            _ => {}
        }
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
