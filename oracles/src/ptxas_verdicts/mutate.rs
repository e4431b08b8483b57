//! Mutations: a legal statement with one thing changed.

use super::statement::{Node, Statement};
use crate::Random;

/// Replacements for a value.
const VALUES: &[&str] = &[
    "%c1",
    "%h1",
    "%r1",
    "%d1",
    "%f1",
    "%e1",
    "%p1",
    "%u1",
    "%s1",
    "%ud1",
    "%sd1",
    "%uh1",
    "%sh1",
    "0",
    "1",
    "-1",
    "7",
    "16",
    "33",
    "255",
    "256",
    "65536",
    "0x1ffffffff",
    "1.0",
    "0f3f800000",
    "0d3ff0000000000000",
    "_",
    "%tid.x",
    "%clock64",
    "WARP_SZ",
    "gv",
    "sv",
    "lv",
    "cv",
    "tex",
    "srf",
    "LAST",
    "!%p1",
    "%q1",
    "%hf1",
    "%hx1",
];

/// Replacements for an address.
const ADDRESSES: &[&str] = &[
    "%r1", "%d1+8", "%d1+3", "%d1-4", "gv", "gv+16", "gv+4", "sv", "sv+8", "lv", "cv", "kp", "8", "%f1", "%h1", "%ud1",
    "%p1", "%e1", "tex", "_", "%tid.x", "%r1+16",
];

/// Words that many instructions accept.
const WORDS: &[&str] = &[
    "u8",
    "u16",
    "u32",
    "u64",
    "s8",
    "s16",
    "s32",
    "s64",
    "b8",
    "b16",
    "b32",
    "b64",
    "b128",
    "f16",
    "f16x2",
    "bf16",
    "bf16x2",
    "f32",
    "f64",
    "f32x2",
    "tf32",
    "e4m3",
    "e5m2",
    "e2m1",
    "pred",
    "v2",
    "v4",
    "v8",
    "global",
    "shared",
    "shared::cta",
    "shared::cluster",
    "local",
    "const",
    "param",
    "relaxed",
    "acquire",
    "release",
    "acq_rel",
    "sc",
    "weak",
    "volatile",
    "mmio",
    "cta",
    "cluster",
    "gpu",
    "sys",
    "sync",
    "aligned",
    "sat",
    "ftz",
    "rn",
    "rz",
    "rm",
    "rp",
    "approx",
    "full",
    "relu",
    "NaN",
    "xorsign",
    "abs",
    "cc",
    "hi",
    "lo",
    "wide",
    "noftz",
    "L2::cache_hint",
    "L1::evict_last",
    "L2::128B",
    "ca",
    "cg",
    "cs",
    "cv",
    "wb",
    "nc",
    "uni",
    "row",
    "col",
    "trans",
    "num",
    "x1",
    "x2",
    "x4",
    "async",
    "bulk",
    "tensor",
    "tile",
    "im2col",
    "1d",
    "2d",
    "3d",
    "mbarrier::complete_tx::bytes",
    "multicast::cluster",
    "cta_group::1",
    "cta_group::2",
    "parity",
    "noComplete",
    "unified",
    "satfinite",
    "kind::f16",
    "sp",
];

/// Changes one thing and returns the kind of change. `near` are words that the same opcode accepts.
pub fn mutate(legal: &Statement, near: &[String], random: &mut Random) -> Option<(&'static str, Statement)> {
    let mut s = legal.clone();
    let at = random.below(s.words.len().max(1));
    let word = |random: &mut Random| -> Option<String> {
        let other = random.pick(WORDS)?.to_string();
        Some(if random.below(3) == 0 { other } else { random.pick(near).cloned().unwrap_or(other) })
    };
    let kind = match random.below(22) {
        0 => {
            (at < s.words.len()).then(|| s.words.remove(at))?;
            "qualifier dropped"
        }
        1 | 2 => {
            s.words.insert(random.below(s.words.len() + 1), word(random)?);
            "qualifier added"
        }
        3 => {
            let other = random.below(s.words.len());
            if s.words.len() < 2 || at == other {
                return None;
            }
            match random.below(4) {
                // One of them elsewhere, or before a word of the opcode.
                0 => {
                    let moved = s.words.remove(at);
                    s.words.insert(other.min(s.words.len()), moved);
                }
                1 if s.opcode.contains('.') && !s.words[0].starts_with("::") => {
                    let (rest, last) = s.opcode.rsplit_once('.')?;
                    let (rest, last) = (rest.to_string(), last.to_string());
                    s.words.insert(at + 1, last);
                    s.opcode = rest;
                }
                _ => s.words.swap(at, other),
            }
            "qualifiers swapped"
        }
        4 => {
            let again = s.words.get(at)?.clone();
            s.words.insert(random.below(s.words.len() + 1), again);
            "qualifier doubled"
        }
        5 => {
            let text = s.words.get_mut(at)?;
            let place = random.below(text.len());
            match random.below(3) {
                0 => drop(text.remove(place)),
                1 => text.insert(place, 'x'),
                _ => text.push('2'),
            }
            "qualifier misspelt"
        }
        6 | 7 => {
            *s.words.get_mut(at)? = word(random)?;
            "qualifier replaced"
        }
        8 => {
            s.operands.pop()?;
            "operand dropped"
        }
        9 => {
            let more = Node::word(*random.pick(VALUES)?);
            s.operands.insert(random.below(s.operands.len() + 1), more);
            "operand added"
        }
        10 => {
            let (a, b) = (random.below(s.operands.len()), random.below(s.operands.len()));
            if a == b {
                return None;
            }
            s.operands.swap(a, b);
            "operands swapped"
        }
        11 => {
            s.guard = ["@%p1 ", "@!%p1 ", "@%r1 ", "@%p1 ", "@%d1 "][random.below(5)];
            "guard"
        }
        _ => operand(&mut s, random)?,
    };
    (s.to_string() != legal.to_string()).then_some((kind, s))
}

/// Changes one operand, or a part of one.
fn operand(s: &mut Statement, random: &mut Random) -> Option<&'static str> {
    let which = random.below(s.operands.len());
    let operand = s.operands.get_mut(which)?;
    let number = random.below(operand.count().min(12));
    let in_address = operand.open == "[" && number == 1;
    let node = operand.nth(number)?;
    if node.parts.is_empty() && random.below(8) == 0 {
        let value = vec![node.clone()];
        *node = if random.below(4) == 0 { Node::address(value) } else { Node::vector(value) };
        return Some("operand shape");
    }
    if node.parts.is_empty() {
        let list = if in_address { ADDRESSES } else { VALUES };
        *node = Node::word(*random.pick(list)?);
        return Some(if in_address { "address" } else { "operand kind" });
    }
    match random.below(4) {
        0 => {
            node.parts.pop();
            (!node.parts.is_empty()).then_some("vector shorter")
        }
        1 => {
            let last = node.parts.last()?.clone();
            node.parts.push(last);
            Some("vector longer")
        }
        2 => {
            *node = node.parts.first()?.clone();
            Some("brackets dropped")
        }
        _ => {
            let value = Node::word(*random.pick(VALUES)?);
            *node = match random.below(4) {
                0 => Node::vector(vec![value, Node::word("%r2")]),
                1 => Node::address(vec![value]),
                _ => value,
            };
            Some("operand shape")
        }
    }
}

/// Every mutation that [`mutate`] can make, with one position only for each qualifier that is moved, added or misspelt.
pub fn all(legal: &Statement, near: &[String], random: &mut Random) -> Vec<(&'static str, Statement)> {
    let mut out: Vec<(&'static str, Statement)> = Vec::new();
    let words: Vec<&str> = near.iter().map(String::as_str).chain(WORDS.iter().copied()).collect();
    let count = legal.words.len();
    let mut changed = |kind: &'static str, change: &mut dyn FnMut(&mut Statement)| {
        let mut s = legal.clone();
        change(&mut s);
        out.push((kind, s));
    };
    for word in &words {
        let at = random.below(count + 1);
        changed("qualifier added", &mut |s| s.words.insert(at, (*word).into()));
        for at in 0..count {
            changed("qualifier replaced", &mut |s| s.words[at] = (*word).into());
        }
    }
    for at in 0..count {
        changed("qualifier dropped", &mut |s| drop(s.words.remove(at)));
        let place = random.below(count + 1);
        changed("qualifier doubled", &mut |s| s.words.insert(place, legal.words[at].clone()));
        for other in 0..at {
            changed("qualifiers swapped", &mut |s| s.words.swap(at, other));
        }
    }
    for guard in ["@%p1 ", "@!%p1 ", "@%r1 ", "@%d1 "] {
        changed("guard", &mut |s| s.guard = guard);
    }
    changed("operand dropped", &mut |s| drop(s.operands.pop()));
    for at in 0..=legal.operands.len() {
        for value in VALUES {
            changed("operand added", &mut |s| s.operands.insert(at, Node::word(*value)));
        }
    }
    for (which, operand) in legal.operands.iter().enumerate() {
        for other in 0..which {
            changed("operands swapped", &mut |s| s.operands.swap(which, other));
        }
        for number in 0..operand.count().min(12) {
            let in_address = operand.open == "[" && number == 1;
            let mut node = |kind: &'static str, new: &mut dyn FnMut(&mut Node)| {
                changed(kind, &mut |s| {
                    if let Some(node) = s.operands[which].nth(number) {
                        new(node);
                    }
                });
            };
            let Some(old) = operand.clone().nth(number).cloned() else { continue };
            if old.parts.is_empty() {
                let (kind, list) = if in_address { ("address", ADDRESSES) } else { ("operand kind", VALUES) };
                list.iter().for_each(|v| node(kind, &mut |n| *n = Node::word(*v)));
                node("operand shape", &mut |n| *n = Node::vector(vec![old.clone()]));
                node("operand shape", &mut |n| *n = Node::address(vec![old.clone()]));
                continue;
            }
            if old.parts.len() > 1 {
                node("vector shorter", &mut |n| drop(n.parts.pop()));
            }
            node("vector longer", &mut |n| n.parts.extend(old.parts.last().cloned()));
            node("brackets dropped", &mut |n| *n = old.parts[0].clone());
            for value in VALUES {
                let value = Node::word(*value);
                node("operand shape", &mut |n| *n = value.clone());
                node("operand shape", &mut |n| *n = Node::vector(vec![value.clone(), Node::word("%r2")]));
                node("operand shape", &mut |n| *n = Node::address(vec![value.clone()]));
            }
        }
    }
    let same = legal.to_string();
    out.retain(|(_, s)| s.to_string() != same);
    out
}
