//! The type of an error code, such as `PTX0207`. The codes themselves are in the crate `ptx-dsl-catalogue`.

use crate::diag::{Class, Severity};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// An error code: what it means, how severe its findings are, and an example.
///
/// Two codes compare as their numbers do.
#[derive(Clone, Copy)]
pub struct Code {
    /// `PTX0207` is 207.
    pub number: u16,
    /// The subject, in a few words.
    pub title: &'static str,
    /// The rule, and how to fix the error.
    pub text: &'static str,
    /// The sections of the manual; empty where the notes of the findings name them.
    pub section: &'static str,
    /// What is found; empty for an error of the language.
    pub about: &'static str,
    /// The classes of its findings, each with when; an empty text is "always", or "else".
    pub classes: &'static [(Class, &'static str)],
    /// A module or a Rust file with the mistake, and a right one.
    pub example: Example,
}

/// Sources with marks for the findings of a line.
#[derive(Debug, Clone, Copy)]
pub struct Example {
    /// A source with this code and no other.
    pub wrong: &'static str,
    /// A source without a finding.
    pub right: &'static str,
    /// Whether the sources are Rust, because only the macros give this code.
    pub is_rust: bool,
}

impl Code {
    /// Is it a rule of protocol or flow, 06xx? Those are checked once a module is legal.
    pub fn is_flow(&self) -> bool {
        (600..700).contains(&self.number)
    }

    /// Is it a rule about performance, 07xx? Those are checked only if a level asks for them.
    pub fn is_performance(&self) -> bool {
        (700..800).contains(&self.number)
    }

    /// May a header or an option set the level of its findings? Errors of the language have none.
    pub fn has_level(&self) -> bool {
        !self.about.is_empty()
    }

    /// Is it about the syntax, names, types or operands of a statement, 01xx to 04xx? What is left is about whole variables, functions and
    /// kernels.
    pub fn is_about_statement(&self) -> bool {
        self.number < 500
    }

    /// Is it one of these?
    pub fn is_one_of(&self, codes: &[&Code]) -> bool {
        codes.contains(&self)
    }

    /// The levels of its findings in words: "error; warning (protocol) where the register is read".
    pub fn levels(&self) -> String {
        let one = |(class, when): &(Class, &str)| {
            let level = match (class, class.severity()) {
                (_, Severity::Error) => "error",
                (Class::Protocol, _) => "warning (protocol)",
                (Class::Performance, _) => "warning (performance), if a level asks for it",
                _ => "warning",
            };
            if when.is_empty() { level.to_owned() } else { format!("{level} {when}") }
        };
        self.classes.iter().map(one).collect::<Vec<_>>().join("; ")
    }

    /// The wrong example, without marks.
    pub fn wrong(&self) -> String {
        without_marks(self.example.wrong)
    }

    /// The right example, without marks.
    pub fn right(&self) -> String {
        without_marks(self.example.right)
    }
}

impl PartialEq for Code {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Code {}

impl PartialOrd for Code {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Code {
    fn cmp(&self, other: &Self) -> Ordering {
        self.number.cmp(&other.number)
    }
}

impl Hash for Code {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}

/// `PTX0207`
impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PTX{:04}", self.number)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text without `// error: PTX0207` and `// warning: PTX0516` at the ends of lines.
fn without_marks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let mark = line.find(" // error: PTX").or_else(|| line.find(" // warning: PTX"));
        out.push_str(&line[..mark.unwrap_or(line.len())]);
        out.push('\n');
    }
    out
}

/// Entries of [`Code::classes`].
pub mod classes {
    use super::Class;

    /// ptxas or the language refuses it.
    pub const ILLEGAL: (Class, &str) = (Class::Illegal, "");
    /// It goes wrong on hardware.
    pub const BROKEN: (Class, &str) = broken("");
    /// It is against the manual.
    pub const PROTOCOL: (Class, &str) = protocol("");
    /// It is likely a mistake.
    pub const SUSPICIOUS: (Class, &str) = suspicious("");

    /// It is slower than it need be.
    pub const PERFORMANCE: (Class, &str) = (Class::Performance, "");

    /// It goes wrong on hardware in this case.
    pub const fn broken(when: &'static str) -> (Class, &'static str) {
        (Class::Broken, when)
    }

    /// It is against the manual in this case.
    pub const fn protocol(when: &'static str) -> (Class, &'static str) {
        (Class::Protocol, when)
    }

    /// It is likely a mistake in this case.
    pub const fn suspicious(when: &'static str) -> (Class, &'static str) {
        (Class::Suspicious, when)
    }
}
