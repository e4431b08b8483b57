//! A statement in pieces, so that a mutation can remove or replace one.

use std::fmt::{self, Display, Formatter};

/// An operand: a word, or parts between brackets.
#[derive(Debug, Clone)]
pub struct Node {
    /// The text before the parts; the word itself if there are none.
    pub open: String,
    /// The text after them.
    pub close: &'static str,
    /// The separator.
    pub between: &'static str,
    /// The parts.
    pub parts: Vec<Node>,
}

impl Node {
    /// `%r1`
    pub fn word(text: impl Into<String>) -> Node {
        Node { open: text.into(), close: "", between: "", parts: Vec::new() }
    }
    /// `[a, b]`
    pub fn address(parts: Vec<Node>) -> Node {
        Node { open: "[".into(), close: "]", between: ", ", parts }
    }
    /// `{a, b}`
    pub fn vector(parts: Vec<Node>) -> Node {
        Node { open: "{".into(), close: "}", between: ", ", parts }
    }
    /// `(a, b)`
    pub fn list(parts: Vec<Node>) -> Node {
        Node { open: "(".into(), close: ")", between: ", ", parts }
    }
    /// `a|b`
    pub fn pair(first: Node, second: Node) -> Node {
        Node { open: String::new(), close: "", between: "|", parts: vec![first, second] }
    }
    /// The number of nodes in this tree.
    pub fn count(&self) -> usize {
        1 + self.parts.iter().map(Node::count).sum::<usize>()
    }
    /// The node of this number, counted from this one.
    pub fn nth(&mut self, number: usize) -> Option<&mut Node> {
        if number == 0 {
            return Some(self);
        }
        let mut left = number - 1;
        for part in &mut self.parts {
            let count = part.count();
            if left < count {
                return part.nth(left);
            }
            left -= count;
        }
        None
    }
}

impl Display for Node {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.open)?;
        for (i, part) in self.parts.iter().enumerate() {
            if i > 0 {
                f.write_str(self.between)?;
            }
            part.fmt(f)?;
        }
        f.write_str(self.close)
    }
}

/// An instruction.
#[derive(Debug, Clone, Default)]
pub struct Statement {
    /// `@%p1 ` or nothing.
    pub guard: &'static str,
    /// `mbarrier.arrive`
    pub opcode: String,
    /// Qualifiers without their dots; one that begins with `::` follows the opcode directly.
    pub words: Vec<String>,
    /// Operands.
    pub operands: Vec<Node>,
}

impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.guard, self.opcode)?;
        for word in &self.words {
            write!(f, "{}{word}", if word.starts_with("::") { "" } else { "." })?;
        }
        for (i, operand) in self.operands.iter().enumerate() {
            write!(f, "{}{operand}", if i == 0 { " " } else { ", " })?;
        }
        f.write_str(";")
    }
}
