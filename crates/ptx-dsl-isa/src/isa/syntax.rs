//! Compiles the syntax block of an entry, in the manual's notation, into [`Form`]s; only for opcodes in use.
//!
//! Head: `.x` required, `{.x}` optional, `{.x.y}` both or none, `{.x, .y}` at most one, `.x{::a}` with or without the suffix,
//! `.x::{a, b}` alternatives, `.m64n{8..256/8}k16` one for each number. Operands: `{, a}` optional, `[a]` address, `{a, b}`
//! vector, `d|p` pair, `d[|p]` with or without
//! the second, `{!}c` may be negated, `_` must be a sink, a number stands for itself.

mod scan;

use std::borrow::Cow;

use super::entry::Instr;
use crate::qualifier::Qualifier;
use crate::ty::Ty;
use scan::{contains, has, has_comma, matching, piece_end, place_of, skip_space, suffix, word_end};

/// A piece of the table's text, or one composed of two.
pub type Text = Cow<'static, str>;

/// One line of a syntax block.
#[derive(Debug, Clone)]
pub struct Form {
    /// The qualifiers after the opcode, in the manual's order.
    pub slots: Vec<Slot>,
    /// The operands.
    pub operands: Vec<OpForm>,
    /// Number of optional operand groups.
    pub optional_groups: u8,
    /// The line of the block.
    pub line: &'static str,
    /// Qualifiers that stay directly after the opcode.
    pub first: &'static [&'static str],
}

/// A slot: a place for a qualifier.
#[derive(Debug, Clone)]
pub struct Slot {
    /// As in the form, with its dot: `.sem`; for a literal the qualifier itself.
    pub name: Text,
    /// The qualifiers that it accepts.
    pub alts: Vec<Qualifier>,
    /// Optional group, from 1; 0 if required.
    pub group: u8,
    /// All alternatives are types: these keep their order.
    pub is_type: bool,
    /// All alternatives are state spaces: these keep their order.
    pub is_space: bool,
}

impl Slot {
    /// The qualifiers that it accepts, without the dots.
    pub fn words(&self) -> Vec<&'static str> {
        self.alts.iter().map(|alt| alt.word()).collect()
    }
}

/// An operand of a form.
#[derive(Debug, Clone)]
pub struct OpForm {
    /// Its name in the block.
    pub name: &'static str,
    /// How it is written.
    pub shape: Shape,
    /// Optional group, from 1; 0 if required.
    pub group: u8,
    /// `{!}` precedes it.
    pub negatable: bool,
}

/// How an operand is written.
#[derive(Debug, Clone)]
pub enum Shape {
    /// A name, register or constant.
    Value,
    /// `_`
    Sink,
    /// `[a]`, `[a, b]`
    Addr(Vec<OpForm>),
    /// `{a, b}`
    Vector(Vec<OpForm>),
    /// `d|p`; the flag says that `|p` is optional.
    Pair(&'static str, bool),
    /// `(...)`
    List,
    /// This number.
    Number(u64),
}

/// The qualifier of an alternative, which is written without its dot.
fn qualifier(word: &str) -> Qualifier {
    Qualifier::from_word(word)
        .unwrap_or_else(|| panic!("`{word}` of a syntax block is missing in the list of qualifiers"))
}

/// Types that no register has, but that occur where types do.
const MORE_TYPES: &[&str] = &[
    "e4m3",
    "e5m2",
    "e3m2",
    "e2m3",
    "e2m1",
    "ue8m0",
    "ue4m3",
    "ue5m3",
    "b1",
    "b2",
    "b4",
    "u4",
    "s4",
    "u2",
    "s2",
    "s2f6x2",
    "ue5m3x2",
    "b8x16",
    "b6x16_p32",
    "b4x16_p64",
];

/// Is the qualifier (without its dot) a type?
pub fn is_type(word: &str) -> bool {
    Ty::from_name(word).is_some() || MORE_TYPES.contains(&word)
}

/// Is the qualifier (without its dot) a state space?
pub fn is_space(word: &str) -> bool {
    matches!(
        word,
        "global"
            | "shared"
            | "shared::cta"
            | "shared::cluster"
            | "const"
            | "local"
            | "param"
            | "param::entry"
            | "param::func"
    )
}

struct Set {
    at: usize,
    name: &'static str,
    alts: &'static str,
}

/// The forms of an entry.
pub fn forms(instr: &'static Instr) -> Vec<Form> {
    let text = instr.syntax;
    let (lines, sets) = split_block(text);
    let mut out = Vec::with_capacity(lines.len());
    for (at, line) in lines {
        let line = line.strip_prefix("@p ").or_else(|| line.strip_prefix("@{!}p ")).unwrap_or(line).trim();
        let (head, operands) = split_head(line);
        let head = strip_opcode(head, instr.opcode);
        let mut head_parser = Head { sets: &sets, at, slots: Vec::new(), groups: 0, depth: 0 };
        head_parser.sequence(head, 0);
        let mut groups = 0;
        let operands = operand_list(operands, 0, &mut groups);
        out.push(Form { slots: head_parser.slots, operands, optional_groups: groups, line, first: instr.first });
    }
    out
}

/// Forms with their positions, and sets.
fn split_block(text: &'static str) -> (Vec<(usize, &'static str)>, Vec<Set>) {
    let (mut lines, mut sets) = (Vec::new(), Vec::new());
    let bytes = text.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        if bytes[i].is_ascii_whitespace() || bytes[i] == b';' {
            i += 1;
            continue;
        }
        let start = i;
        // `.name =` or `::name =` starts a set.
        let mut j = i;
        while j < bytes.len() && !bytes[j].is_ascii_whitespace() && !matches!(bytes[j], b'=' | b';' | b'{' | b'[') {
            j += 1;
        }
        let name_end = j;
        while j < bytes.len() && bytes[j].is_ascii_whitespace() {
            j += 1;
        }
        if bytes.get(j) == Some(&b'=') {
            let open = place_of(b'{', text, j);
            let close = matching(text, open);
            sets.push(Set {
                at: start,
                name: text[start..name_end].trim(),
                alts: text.get(open + 1..close).unwrap_or(""),
            });
            i = close + 1;
        } else {
            let end = place_of(b';', text, start);
            lines.push((start, text[start..end].trim()));
            i = end;
        }
    }
    (lines, sets)
}

fn split_head(line: &'static str) -> (&'static str, &'static str) {
    let mut depth = 0usize;
    for (i, b) in line.as_bytes().iter().enumerate() {
        match b {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            b if b.is_ascii_whitespace() && depth == 0 => return (&line[..i], line[i..].trim()),
            _ => {}
        }
    }
    (line, "")
}

fn strip_opcode(head: &'static str, opcode: &str) -> &'static str {
    if let Some(rest) = head.strip_prefix(opcode)
        && matches!(rest.as_bytes(), [] | [b'.' | b'{' | b':', ..])
    {
        return rest;
    }
    let first = &opcode[..place_of(b'.', opcode, 0)];
    match head.strip_prefix(first) {
        Some(rest) => rest,
        None => &head[piece_end(head, 0)..],
    }
}

struct Head<'a> {
    sets: &'a [Set],
    at: usize,
    slots: Vec<Slot>,
    groups: u8,
    depth: u8,
}

impl Head<'_> {
    fn set(&self, name: &str) -> Option<&'static str> {
        let mut found = None;
        for set in self.sets {
            if set.name == name {
                found = Some(set.alts);
                if set.at > self.at {
                    break;
                }
            }
        }
        found
    }

    fn push(&mut self, name: Text, alts: Vec<Text>, group: u8) {
        if alts.is_empty() {
            return;
        }
        let (mut types, mut spaces) = (true, true);
        for alt in &alts {
            types &= is_type(alt);
            spaces &= is_space(alt);
        }
        let alts = alts.iter().map(|alt| qualifier(alt)).collect();
        self.slots.push(Slot { name, alts, group, is_type: types, is_space: spaces });
    }

    /// `.a{.b}.c{::x}`
    fn sequence(&mut self, text: &'static str, group: u8) {
        let bytes = text.as_bytes();
        let mut i = 0;
        while i < bytes.len() {
            match bytes[i] {
                b'{' => {
                    let close = matching(text, i);
                    let inner = text.get(i + 1..close).unwrap_or("").trim();
                    i = close + 1;
                    if inner.starts_with("::") {
                        if self.slots.is_empty() {
                            // Of the opcode itself: `mma.sp{::ordered_metadata}`.
                            self.groups += 1;
                            self.push(Cow::Borrowed(inner), vec![Cow::Borrowed(inner)], self.groups);
                        } else if let Some(slot) = self.slots.last_mut() {
                            // A suffix of the piece before that came from a set.
                            let plain = slot.alts.clone();
                            for suffix in inner.split(',') {
                                for alt in &plain {
                                    slot.alts.push(qualifier(&format!("{}{}", alt.word(), suffix.trim())));
                                }
                            }
                        }
                        continue;
                    }
                    let group = if group == 0 {
                        self.groups += 1;
                        self.groups
                    } else {
                        group
                    };
                    if has_comma(inner) {
                        self.push(Cow::Borrowed(inner), self.alternatives(inner), group);
                    } else if inner.starts_with('.') {
                        self.sequence(inner, group);
                    } else if !inner.is_empty() {
                        self.piece(inner, group);
                    }
                }
                b'.' => {
                    let mut j = i + 1;
                    // `.{a, b}`
                    if bytes.get(j) == Some(&b'{') {
                        let close = matching(text, j);
                        let inner = text.get(j + 1..close).unwrap_or("");
                        self.push(Cow::Borrowed(inner), self.alternatives(inner), group);
                        i = close + 1;
                        continue;
                    }
                    while j < bytes.len() && bytes[j] != b'.' {
                        if bytes[j] == b'{' {
                            let glued = text[i..j].ends_with("::") || text[j + 1..].trim_start().starts_with("::");
                            if !glued {
                                break;
                            }
                            j = matching(text, j);
                        }
                        j += 1;
                    }
                    let j = j.min(bytes.len());
                    self.piece(text[i + 1..j].trim(), group);
                    i = j;
                }
                b':' => {
                    // `tcgen05.fence::before_thread_sync`: the first piece continues the opcode.
                    let end = piece_end(text, i);
                    self.piece(&text[i..end], group);
                    i = end;
                }
                _ => i += 1,
            }
        }
    }

    /// One piece without its dot: a set's name, a literal, `x{::a}`, `x::{a, b}`.
    fn piece(&mut self, piece: &'static str, group: u8) {
        if piece.is_empty() || self.depth > 4 {
            return;
        }
        let dotted = format!(".{piece}");
        if let Some(alts) = self.set(&dotted) {
            let alts = alts.trim();
            // A set of one alternative of several pieces is short for these pieces.
            let pieces = alts.trim_start_matches('.');
            if !has(alts, b',') && !has(alts, b'{') && has(pieces, b'.') {
                self.depth += 1;
                self.sequence(alts, group);
                self.depth -= 1;
                return;
            }
            self.push(Cow::Owned(dotted), self.alternatives(alts), group);
            return;
        }
        let mut alts = Vec::new();
        self.expand(piece, &mut alts);
        let brace = place_of(b'{', piece, 0);
        let name = if brace < piece.len() { format!(".{}", piece[..brace].trim_end_matches(':')) } else { dotted };
        self.push(Cow::Owned(name), alts, group);
    }

    /// The alternatives of a set.
    fn alternatives(&self, text: &'static str) -> Vec<Text> {
        let mut out = Vec::new();
        let (mut depth, mut start) = (0usize, 0);
        for (i, b) in text.as_bytes().iter().enumerate() {
            match b {
                b'{' => depth += 1,
                b'}' => depth = depth.saturating_sub(1),
                b',' if depth == 0 => {
                    self.alternative(&text[start..i], &mut out);
                    start = i + 1;
                }
                _ => {}
            }
        }
        self.alternative(&text[start..], &mut out);
        out
    }

    fn alternative(&self, text: &'static str, out: &mut Vec<Text>) {
        let text = text.trim().trim_start_matches('.').trim_end_matches('*');
        if text.is_empty() {
            return;
        }
        // A set may name another set.
        if let Some(alts) = self.set(&format!(".{text}"))
            && !contains(alts, text)
        {
            for alt in alts.split(',') {
                self.expand(alt.trim().trim_start_matches('.'), out);
            }
            return;
        }
        self.expand(text, out);
    }

    /// `shared`, `shared{::cta, ::cluster}`, `collector::a::{fill, use}`, `get_first_ctaid{::dimension}`.
    fn expand(&self, text: &'static str, out: &mut Vec<Text>) {
        let open = place_of(b'{', text, 0);
        if open == text.len() {
            if !text.is_empty() {
                out.push(Cow::Borrowed(text));
            }
            return;
        }
        let close = matching(text, open);
        let (base, inner) = (&text[..open], text.get(open + 1..close).unwrap_or(""));
        let rest = text.get(close + 1..).unwrap_or("");
        if let Some((low, high, step)) = range(inner) {
            let mut n = low;
            while n <= high {
                out.push(Cow::Owned(format!("{base}{n}{rest}")));
                n += step;
            }
            return;
        }
        if base.ends_with("::") {
            for s in inner.split(',') {
                let s = suffix(s);
                // `collector::{b0, b1}::{fill, use}`
                if let Some(more) = rest.strip_prefix("::{") {
                    for t in more.trim_end_matches('}').split(',') {
                        out.push(Cow::Owned(format!("{base}{s}::{}", t.trim())));
                    }
                } else {
                    out.push(Cow::Owned(format!("{base}{s}{rest}")));
                }
            }
            return;
        }
        out.push(Cow::Borrowed(base));
        for s in inner.split(',') {
            let s = suffix(s);
            match self.set(s) {
                Some(alts) => {
                    for alt in alts.split(',') {
                        out.push(Cow::Owned(format!("{base}{}", alt.trim())));
                    }
                }
                None => out.push(Cow::Owned(format!("{base}{s}"))),
            }
        }
    }
}

/// `8..256/8`: from, to and step.
fn range(text: &str) -> Option<(u32, u32, u32)> {
    let (low, rest) = text.split_once('.')?;
    let (high, step) = rest.strip_prefix('.')?.split_once('/')?;
    let step = step.parse().ok()?;
    if step == 0 { None } else { Some((low.parse().ok()?, high.parse().ok()?, step)) }
}

/// The name of the first of these.
fn name_of(parts: &[OpForm], none: &'static str) -> &'static str {
    match parts {
        [first, ..] => first.name,
        [] => none,
    }
}

/// `d, [a]{, b}{, c}`
fn operand_list(text: &'static str, group: u8, groups: &mut u8) -> Vec<OpForm> {
    let mut out: Vec<OpForm> = Vec::new();
    let bytes = text.as_bytes();
    let mut negatable = false;
    let mut i = 0;
    while i < bytes.len() {
        match bytes[i] {
            b'{' => {
                let close = matching(text, i);
                let inner = text.get(i + 1..close).unwrap_or("").trim();
                i = close + 1;
                if inner == "!" {
                    negatable = true;
                } else if inner.starts_with(',') || inner.ends_with(',') {
                    let g = if group == 0 {
                        *groups += 1;
                        *groups
                    } else {
                        group
                    };
                    out.append(&mut operand_list(inner, g, groups));
                } else if inner.starts_with('.') {
                    // `a{.asel}`: a selector; the operand itself was pushed.
                } else {
                    let parts = operand_list(inner, 0, &mut 0);
                    // `{disable-output-lane}`: a vector of its own name that may be left out (9.7.16.10.9.1).
                    let g = if parts.len() == 1 && group == 0 {
                        *groups += 1;
                        *groups
                    } else {
                        group
                    };
                    let name = name_of(&parts, "_");
                    let parts = if parts.len() == 1 { Vec::new() } else { parts };
                    out.push(OpForm { name, shape: Shape::Vector(parts), group: g, negatable: false });
                }
            }
            b'[' if text[i..].starts_with("[|") => {
                let close = place_of(b']', text, i);
                let second = text.get(i + 2..close).unwrap_or("").trim();
                if let Some(last) = out.last_mut() {
                    last.shape = Shape::Pair(second, true);
                }
                i = close + 1;
            }
            b'[' => {
                let mut depth = 0usize;
                let mut close = i;
                while close < bytes.len() {
                    match bytes[close] {
                        b'[' => depth += 1,
                        b']' => depth -= 1,
                        _ => {}
                    }
                    if depth == 0 {
                        break;
                    }
                    close += 1;
                }
                let mut inner_groups = 0;
                let parts = operand_list(text.get(i + 1..close).unwrap_or(""), 0, &mut inner_groups);
                let name = name_of(&parts, "a");
                out.push(OpForm { name, shape: Shape::Addr(parts), group, negatable: false });
                i = close + 1;
            }
            b'(' => {
                let close = place_of(b')', text, i);
                let name = text.get(i + 1..close).unwrap_or("").trim();
                out.push(OpForm { name, shape: Shape::List, group, negatable: false });
                i = close + 1;
            }
            b'|' => {
                let end = word_end(bytes, i + 1);
                let second = &text[i + 1..end];
                if let Some(last) = out.last_mut() {
                    last.shape = Shape::Pair(second, false);
                }
                i = end;
            }
            b'+' => i = word_end(bytes, skip_space(bytes, i + 1)).max(i + 1),
            b if b.is_ascii_alphanumeric() || b == b'_' => {
                let end = word_end(bytes, i);
                let name = &text[i..end];
                let shape = match name.parse::<u32>() {
                    Ok(n) => Shape::Number(n.into()),
                    Err(_) if name == "_" => Shape::Sink,
                    Err(_) => Shape::Value,
                };
                out.push(OpForm { name, shape, group, negatable });
                negatable = false;
                i = end;
            }
            _ => i += 1,
        }
    }
    out
}

#[cfg(test)]
mod tests;
