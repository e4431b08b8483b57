//! Levels of findings: `allow(PTX0516)`, `warn(..)`, `deny(..)` in the header of a module.
//!
//! Levels are for findings that leave the module whole: the warnings in [`LINTS`], and protocol and flow (06xx), warnings or
//! not. What breaks the language itself cannot be allowed.

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

/// `allow(PTX0516)`: one code of such an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetLevel {
    /// What becomes of it.
    pub level: Level,
    /// `PTX0516` is 516.
    pub code: u16,
    /// Where the code stands.
    pub span: Span,
}

/// Warnings outside of 06xx, with a few words.
pub static LINTS: &[(u16, &str)] = &[
    (516, "a directive without effect"),
    (517, "a limit over what any target has"),
    (519, "a register or `.local` variable of the module"),
];
