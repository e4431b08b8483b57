//! Levels of findings: `allow(PTX0516)`, `warn(..)`, `deny(protocol)` in the header of a module.
//!
//! A level names codes, a class of findings, or a group that the header defines. Only findings in a legal module have a level:
//! warnings, and protocol and flow (06xx); `Code::has_level` says which.

use crate::diag::{Class, Diagnostic, Severity};
use crate::span::Span;

/// What a level does to a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Dropped.
    Allow,
    /// A warning.
    Warn,
    /// An error.
    Deny,
}

impl Level {
    /// The level of this word in the header.
    pub fn from_name(name: &str) -> Option<Level> {
        Some(match name {
            "allow" => Level::Allow,
            "warn" => Level::Warn,
            "deny" => Level::Deny,
            _ => return None,
        })
    }
}

/// The findings of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selector {
    /// `PTX0516` is 516.
    Code(u16),
    /// `protocol`, `suspicious`, `performance`: all findings of the class.
    Class(Class),
    /// `warnings`: every warning that needs no level.
    Warnings,
}

/// The classes that a level can name. Errors are set one by one.
const CLASSES: [Class; 3] = [Class::Protocol, Class::Suspicious, Class::Performance];

impl Selector {
    /// The selector of this word: `PTX0601`, `protocol`, `suspicious`, `performance`, `warnings`.
    pub fn from_name(name: &str) -> Option<Selector> {
        if let Some(digits) = name.strip_prefix("PTX") {
            return if digits.len() == 4 { digits.parse().ok().map(Selector::Code) } else { None };
        }
        if name == "warnings" {
            return Some(Selector::Warnings);
        }
        CLASSES.into_iter().find(|class| class.name() == name).map(Selector::Class)
    }

    /// Does it select the finding?
    #[doc(hidden)]
    pub fn covers(self, finding: &Diagnostic) -> bool {
        match self {
            Selector::Code(code) => finding.code.number == code,
            Selector::Class(class) => finding.class == class,
            Selector::Warnings => finding.class.severity() == Severity::Warning && finding.class != Class::Performance,
        }
    }
}

/// `deny(PTX0516)`: one word of such an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetLevel {
    /// What it does to the findings.
    pub level: Level,
    /// The findings.
    pub of: Selector,
    /// The span of the word.
    pub span: Span,
}
