//! `.file` and `.loc`: the places in source files that instructions come from (PTX ISA 11.5.3, 11.5.4).

use std::collections::{HashMap, HashSet};

use super::Checker;
use super::directive::value_span;
use crate::ast::{self, Arg, Expr};
use crate::check::errors;
use ptx_dsl_isa::origin::Place;
use ptx_dsl_isa::span::Span;

/// The places so far.
#[derive(Default)]
pub(super) struct Locations {
    /// The number of the last `.loc` of each file, line and column.
    last: HashMap<String, u32>,
    /// The number of the last `.loc` of the function, 0 if it has none.
    now: u32,
    /// The names of inlined functions, each once: labels of sections.
    names: HashMap<String, Span>,
    /// The labels of sections.
    labels: HashSet<String>,
}

impl Checker {
    /// `.file`
    pub(super) fn file(&mut self, d: &ast::Directive) {
        if let [number, Arg::Str(name), ..] = &d.args[..] {
            self.out.origins.files.entry(integer(number)).or_insert_with(|| name.text.clone());
        }
    }

    /// A `.loc` holds up to the next one of its function. With `inlined_at` it must follow a `.loc` of that place, in any function (ptxas);
    /// the last one counts.
    pub(super) fn location(&mut self, d: &ast::Directive) {
        let text = d.text.as_deref().unwrap_or("");
        let mut parts = text.split(", ");
        let here = parts.next().unwrap_or("");
        let mut inlined_at = 0;
        for part in parts {
            if let Some(caller) = part.strip_prefix("inlined_at ") {
                match self.locations.last.get(caller) {
                    Some(number) => inlined_at = *number,
                    None => self.report(errors::inlined_at(value_span(d), caller)),
                }
                break;
            }
        }
        if let [file, line, column, names @ ..] = &d.args[..] {
            if let [Arg::Expr(Expr::Name(label, _))] = names {
                self.locations.names.entry(label.text.clone()).or_insert(label.span);
            }
            let (file, line, column) = (integer(file), integer(line), integer(column));
            self.out.origins.places.push(Place { file, line, column, inlined_at });
            self.locations.now = self.out.origins.places.len() as u32;
            self.locations.last.insert(here.to_string(), self.locations.now);
        }
    }

    /// A label of a section.
    pub(super) fn section_label(&mut self, label: &str) {
        self.locations.labels.insert(label.to_owned());
    }

    /// The names of inlined functions are in a section, which mostly comes last.
    pub(super) fn names_of_inlined_functions(&mut self) {
        let Locations { names, labels, .. } = std::mem::take(&mut self.locations);
        let missing = names.iter().filter(|(name, _)| !labels.contains(*name));
        let mut missing: Vec<_> = missing.map(|(name, span)| errors::function_name(*span, name)).collect();
        missing.sort_by_key(|d| d.span.first);
        self.diags.append(&mut missing);
    }

    /// A function begins: it has no place yet.
    pub(super) fn forget_location(&mut self) {
        self.locations.now = 0;
    }

    /// Notes the place of an instruction.
    pub(super) fn locate(&mut self, i: &ast::Instr) {
        if self.locations.now > 0 {
            self.out.origins.set(i.index, self.locations.now);
        }
    }
}

fn integer(arg: &Arg) -> u64 {
    match arg {
        Arg::Expr(Expr::Int { value, .. }) => *value,
        _ => 0,
    }
}
