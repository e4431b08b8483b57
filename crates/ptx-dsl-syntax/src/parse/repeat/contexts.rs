//! What expanded tokens come from: the source token, and the iteration or the use of a piece that made them.

use super::Expanded;
use crate::code;
use crate::diag::{Diagnostic, OfUse, Severity, sort};
use crate::span::Span;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

/// What made some tokens.
#[derive(Debug)]
pub(super) enum What {
    /// `I = 0, J = 2`
    Iteration(String),
    /// A use of the piece of this name.
    Use(String, Span),
}

/// The sources of all tokens that an expansion made.
#[derive(Debug, Default)]
pub(super) struct Contexts {
    /// The first number of a token that was made.
    base: u32,
    /// By number from `base` on: the number of the source token, and the context.
    origins: Vec<(u32, u32)>,
    /// What made them, and within which context.
    made: Vec<(What, Option<u32>)>,
    /// Of tokens that stand for an argument: where it is given.
    given: HashMap<u32, Span>,
    /// Source tokens that rustc does not show.
    hidden: Vec<Range<u32>>,
}

impl Contexts {
    pub(super) fn new(base: u32) -> Self {
        Contexts { base, ..Contexts::default() }
    }

    /// Something that makes tokens, within another. The iterations of a loop within a loop are not within each other: they name both
    /// variables.
    pub(super) fn open(&mut self, outer: Option<u32>, what: What) -> u32 {
        let outer = match (&what, outer.and_then(|outer| self.made.get(outer as usize))) {
            (What::Iteration(_), Some((What::Iteration(_), around))) => *around,
            _ => outer,
        };
        self.made.push((what, outer));
        self.made.len() as u32 - 1
    }

    pub(super) fn len(&self) -> usize {
        self.made.len()
    }

    /// A new token from this source.
    pub(super) fn made(&mut self, source: u32, context: u32) -> u32 {
        let source = self.origin(source).0;
        self.origins.push((source, context));
        self.base + self.origins.len() as u32 - 1
    }

    /// Is it a token as written?
    pub(super) fn is_source(&self, id: u32) -> bool {
        id < self.base
    }

    /// A token stands for this argument.
    pub(super) fn give(&mut self, id: u32, argument: Span) {
        self.given.insert(id, argument);
    }

    pub(super) fn sources(&self) -> impl Iterator<Item = u32> {
        self.origins.iter().map(|(source, _)| *source)
    }

    /// The source token, and the context.
    fn origin(&self, id: u32) -> (u32, Option<u32>) {
        match id.checked_sub(self.base).and_then(|n| self.origins.get(n as usize)) {
            Some((source, context)) => (*source, Some(*context)),
            None => (id, None),
        }
    }

    /// The source token that a token comes from.
    pub(super) fn source_of(&self, id: u32) -> u32 {
        self.origin(id).0
    }

    fn source(&self, span: Span) -> Span {
        Span { first: self.origin(span.first).0, last: self.origin(span.last).0 }
    }

    /// What is around a token, from the inside.
    fn around(&self, context: Option<u32>) -> impl Iterator<Item = &What> {
        let entry = |context: Option<u32>| self.made.get(context? as usize);
        std::iter::successors(entry(context), move |(_, outer)| entry(*outer)).map(|(what, _)| what)
    }

    /// The argument that a token stands for, or the token.
    fn argument(&self, mut span: Span) -> Span {
        while let Some(argument) = self.given.get(&span.first) {
            span = *argument;
        }
        span
    }

    /// The place of the argument that a token of a piece stands for.
    fn argument_of(&self, id: u32) -> Option<Span> {
        let given = self.given.contains_key(&id);
        given.then(|| self.source(self.argument(Span::token(id))))
    }

    fn is_hidden(&self, id: u32) -> bool {
        let source = self.source_of(id);
        self.hidden.iter().any(|range| range.contains(&source))
    }

    /// What rustc shows in place of a hidden token: the argument that it stands for, or the innermost use that is not hidden.
    pub(super) fn shown(&self, id: u32) -> Option<Span> {
        let mut at = self.is_hidden(id).then_some(id)?;
        while let Some(argument) = self.given.get(&at) {
            if !self.is_hidden(argument.first) {
                return Some(self.source(*argument));
            }
            at = argument.first;
        }
        self.around(self.origin(at).1).find_map(|what| match what {
            What::Use(_, span) if !self.is_hidden(span.first) => Some(self.source(*span)),
            _ => None,
        })
    }

    /// How often a piece is used.
    fn uses_of(&self, piece: &str) -> usize {
        self.made.iter().filter(|(what, _)| matches!(what, What::Use(name, _) if name == piece)).count()
    }

    /// The source tokens where the pieces around this token are used, from the inside.
    pub(super) fn uses(&self, id: u32) -> impl Iterator<Item = u32> {
        self.around(self.origin(id).1).filter_map(|what| match what {
            What::Use(_, at) => Some(self.origin(at.first).0),
            What::Iteration(_) => None,
        })
    }
}

/// A finding, and what has it too.
struct Once {
    finding: Diagnostic,
    /// Where it is in iterations and uses: the first one, and the others.
    contexts: Vec<u32>,
    /// What rustc shows in place of its token.
    shown: Option<Span>,
}

impl Expanded {
    /// rustc does not show these source tokens: findings in a piece of them are where it is used.
    pub fn hide(&mut self, tokens: Vec<Range<u32>>) {
        self.contexts.hidden = tokens;
    }

    /// What rustc shows in place of a hidden token of a piece.
    pub fn shown(&self, id: u32) -> Option<Span> {
        self.contexts.shown(id)
    }

    /// Adds the errors in repetitions to the findings, and puts all at source tokens, in order.
    pub fn report(&self, found: &mut Vec<Diagnostic>) {
        if !self.diagnostics.is_empty() {
            // what is left out may be what is missing
            found.retain(|d| d.code != code::UNDECLARED && !d.code.is_flow());
        }
        found.extend(self.diagnostics.iter().cloned());
        *found = self.once(std::mem::take(found));
        sort(found);
    }

    /// Findings at source tokens: one of several iterations or uses once, with the first and how many there are. Those are the same whose
    /// code and places in the source are the same.
    fn once(&self, found: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let mut out: Vec<Once> = Vec::new();
        let mut known: HashMap<_, usize> = HashMap::new();
        for mut d in found {
            if d.code == code::DECLARED_TWICE {
                // the name is the argument
                let labels = d.labels.iter_mut().map(|(span, _)| span);
                for span in std::iter::once(&mut d.span).chain(labels) {
                    *span = self.contexts.argument(*span);
                }
            }
            let context = self.contexts.origin(d.span.first).1;
            let shown = self.contexts.shown(d.span.first);
            let argument = self.contexts.argument_of(d.span.first);
            d.of_use = argument.map(|at| Box::new(OfUse { argument: Some(at), ..OfUse::default() }));
            d.span = self.contexts.source(d.span);
            for (span, _) in &mut d.labels {
                *span = self.contexts.source(*span);
            }
            let Some(context) = context else {
                out.push(Once { finding: d, contexts: Vec::new(), shown: None });
                continue;
            };
            let places: Vec<Span> = d.labels.iter().map(|(span, _)| *span).collect();
            let key = (d.code, d.span, d.severity == Severity::Error, places);
            match known.entry(key) {
                Entry::Occupied(at) => out[*at.get()].contexts.push(context),
                Entry::Vacant(at) => {
                    at.insert(out.len());
                    out.push(Once { finding: d, contexts: vec![context], shown });
                }
            }
        }
        out.into_iter().map(|once| self.noted(once)).collect()
    }

    fn noted(&self, Once { finding: mut d, contexts: mut all, shown }: Once) -> Diagnostic {
        all.dedup();
        let Some(first) = all.first() else { return d };
        let mut more = match all.len() {
            1 => String::new(),
            2 => " and one more".to_owned(),
            n => format!(" and {} more", n - 1),
        };
        let moved = shown.map(|shown| std::mem::replace(&mut d.span, shown));
        d.labels.splice(0..0, moved.map(|token| (token, "it is this token, in a part of another crate".to_owned())));
        let uses = |what: &&What| matches!(what, What::Use(_, at) if !self.contexts.is_hidden(at.first));
        let moved_to_no_use = shown.is_none();
        // where it was moved to
        let known = shown.and_then(|_| self.contexts.around(Some(*first)).position(|what| uses(&what)));
        for (n, what) in self.contexts.around(Some(*first)).enumerate() {
            let more = std::mem::take(&mut more);
            if let What::Use(piece, _) = what
                && moved_to_no_use
            {
                let by_its_use =
                    d.code.is_about_statement() || piece.contains("::") || self.contexts.uses_of(piece) > all.len();
                let argument = d.of_use.take().and_then(|of| of.argument);
                let (label, piece, others) = (d.labels.len(), piece.clone(), all.len() - 1);
                d.of_use = Some(Box::new(OfUse { argument, label, piece, others, by_its_use }));
            }
            match what {
                What::Iteration(iteration) => d.notes.push(format!("where `{iteration}`{more}")),
                What::Use(..) if known == Some(n) && more.is_empty() => {}
                What::Use(piece, at) => {
                    d.labels.push((self.contexts.source(*at), format!("in this use of `{piece}`{more}")));
                }
            }
        }
        d
    }
}
