//! Which opcodes the parts of an instruction may be: the entries of the table that they begin with.

use crate::ast;
use crate::span::Span;
use ptx_dsl_isa::isa::Instr;
use ptx_dsl_isa::opcode::{Entry, Opcode};

/// How many of the parts belong to the opcode, and the rest of the last one (`fence::before` after `fence`).
fn opcode_parts<'a>(opcode: &str, parts: &'a [ast::Word]) -> Option<(usize, Option<&'a str>)> {
    let mut n = 0;
    let mut words = opcode.split('.');
    while let Some(word) = words.next() {
        let part = &parts.get(n)?.text;
        n += 1;
        if part == word {
            continue;
        }
        let rest = part.strip_prefix(word)?;
        return (words.next().is_none() && rest.starts_with("::")).then_some((n, Some(rest)));
    }
    Some((n, None))
}

/// The parts with a movable last word of an opcode in its place; `None` if it is there. The longest opcode counts.
pub(super) fn in_order(entries: &[Entry], parts: &[ast::Word]) -> Option<Vec<ast::Word>> {
    let (place, at) = entries.iter().filter_map(|entry| displaced(entry, parts)).max_by_key(|(place, _)| *place)?;
    if at == place {
        return None;
    }
    let mut parts = parts.to_vec();
    parts[place..=at].rotate_right(1);
    Some(parts)
}

/// Where the last word of a movable opcode belongs, and where it is.
fn displaced(entry: &Entry, parts: &[ast::Word]) -> Option<(usize, usize)> {
    if !entry.instr.movable {
        return None;
    }
    let (before, last) = entry.instr.opcode.rsplit_once('.')?;
    let mut place = 0;
    for word in before.split('.') {
        if parts.get(place)?.text != word {
            return None;
        }
        place += 1;
    }
    // `sp::ordered_metadata` is a form of `sp`.
    let is_last =
        |part: &ast::Word| part.text.strip_prefix(last).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"));
    Some((place, place + parts[place..].iter().position(is_last)?))
}

/// An entry whose opcode the instruction begins with.
#[derive(Clone, Copy)]
pub(super) struct Candidate<'a> {
    /// How many parts belong to the opcode.
    pub(super) parts: usize,
    /// The rest of the last of them.
    pub(super) rest: Option<&'a str>,
    /// The parts after the opcode.
    pub(super) behind: &'a [ast::Word],
    pub(super) family: &'static str,
    pub(super) opcode: Opcode,
    pub(super) entry: &'static Instr,
    /// The span of the opcode.
    pub(super) span: Span,
    /// The span of its last part.
    pub(super) last: Span,
}

impl Candidate<'_> {
    /// Can the opcode consume this many parts?
    pub(super) fn takes(&self, parts: usize) -> bool {
        self.parts == parts
    }
}

/// The candidate entries.
pub(super) fn candidates<'a>(entries: &[Entry], parts: &'a [ast::Word]) -> Vec<Candidate<'a>> {
    let mut found = Vec::new();
    for Entry { family, opcode, instr: entry } in entries {
        if let Some((n, rest)) = opcode_parts(entry.opcode, parts) {
            found.push(Candidate {
                parts: n,
                rest,
                behind: &parts[n..],
                family,
                opcode: *opcode,
                entry,
                span: span_of(&parts[..n]),
                last: parts[n - 1].span,
            });
        }
    }
    found
}

/// The smallest span that holds all of them.
pub(super) fn span_of(words: &[ast::Word]) -> Span {
    let Some(first) = words.first() else { return Span::default() };
    let mut span = first.span;
    for word in words {
        span = span.to(word.span);
    }
    span
}

/// How many parts the opcode and the instruction begin with alike.
pub(super) fn common_parts(opcode: &str, parts: &[ast::Word]) -> usize {
    opcode.split('.').zip(parts).take_while(|(word, part)| part.text == *word).count()
}

/// How many parts an opcode has.
pub(super) fn depth_of(opcode: &str) -> usize {
    let mut parts = 0;
    for _ in opcode.split('.') {
        parts += 1;
    }
    parts
}

/// The number of parts of the next shorter opcode than one of this many; 0 if there is none.
pub(super) fn longest(candidates: &[Candidate], below: usize) -> usize {
    let mut most = 0;
    for c in candidates {
        if c.parts < below {
            most = most.max(c.parts);
        }
    }
    most
}

/// The qualifiers after the opcode.
pub(super) fn qualifiers(of: &Candidate) -> Vec<ast::Word> {
    let mut out = of.behind.to_vec();
    if let Some(rest) = of.rest {
        out.insert(0, ast::Word { text: rest.to_string(), span: of.last });
    }
    out
}
