//! Levels of findings: `allow(PTX0516)`, `warn(..)`, `deny(protocol)` in the header of a module.
//!
//! A level names codes, a class of findings, or a group that the header defines. Levels are for findings that leave the module
//! whole: the warnings in [`LINTS`], and protocol and flow (06xx). What breaks the language itself cannot be allowed.

use crate::diag::{Class, Diagnostic, Severity};
use crate::span::Span;

/// What becomes of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Left out.
    Allow,
    /// A warning.
    Warn,
    /// An error.
    Deny,
}

impl Level {
    /// By its word in the header.
    pub fn from_name(name: &str) -> Option<Level> {
        Some(match name {
            "allow" => Level::Allow,
            "warn" => Level::Warn,
            "deny" => Level::Deny,
            _ => return None,
        })
    }
}

/// Which findings a level is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selector {
    /// `PTX0516` is 516.
    Code(u16),
    /// `protocol`, `suspicious`: all findings of the class.
    Class(Class),
    /// `warnings`: every warning.
    Warnings,
}

/// The classes that a level can name. Errors are set one by one.
const CLASSES: [Class; 2] = [Class::Protocol, Class::Suspicious];

impl Selector {
    /// By its word: `PTX0601`, `protocol`, `suspicious`, `warnings`.
    pub fn from_name(name: &str) -> Option<Selector> {
        if let Some(digits) = name.strip_prefix("PTX") {
            return if digits.len() == 4 { digits.parse().ok().map(Selector::Code) } else { None };
        }
        if name == "warnings" {
            return Some(Selector::Warnings);
        }
        CLASSES.into_iter().find(|class| class.name() == name).map(Selector::Class)
    }

    /// Is the finding one of these?
    pub fn covers(self, finding: &Diagnostic) -> bool {
        match self {
            Selector::Code(code) => finding.code == code,
            Selector::Class(class) => finding.class == class,
            Selector::Warnings => finding.class.severity() == Severity::Warning,
        }
    }
}

/// `deny(PTX0516)`: one word of such an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetLevel {
    /// What becomes of the findings.
    pub level: Level,
    /// Which findings.
    pub of: Selector,
    /// Where the word stands.
    pub span: Span,
}

/// Warnings outside of 06xx, with a few words.
pub static LINTS: &[(u16, &str)] = &[
    (516, "a directive without effect"),
    (517, "a limit over what any target has"),
    (519, "a register or `.local` variable of the module"),
];
