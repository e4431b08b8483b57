//! What the printed text has beside the module: the comments of the source, and the lines of the source for debuggers.

use crate::span::Span;
use std::collections::HashMap;

/// Notes for the printer.
#[derive(Debug, Clone, Default)]
pub struct Notes {
    /// In the order of the source.
    pub comments: Vec<Comment>,
    /// With repetitions, the positions of tokens by number: comments are before positions then, not before tokens.
    pub positions: Option<HashMap<u32, u32>>,
    /// For `.file` and `.loc`, if they are asked for.
    pub places: Option<Places>,
}

impl Notes {
    /// Where a token is among all that are printed.
    pub fn position(&self, token: u32) -> Option<u32> {
        self.positions.as_ref().map_or(Some(token), |positions| positions.get(&token).copied())
    }
}

/// A comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// The number of the token after it, or its position.
    pub before: u32,
    /// No token is before it on its line.
    pub alone: bool,
    /// With `//`, or `/*` and `*/`.
    pub text: String,
}

/// Places of tokens in source files.
#[derive(Debug, Clone, Default)]
pub struct Places {
    files: Vec<String>,
    /// By token number.
    of: Vec<Place>,
}

/// A place in a source file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    /// The number of the file, from 1; 0 if unknown.
    pub file: u32,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
}

impl Places {
    /// Notes the place of the token with this number.
    pub fn add(&mut self, token: u32, file: &str, (line, column): (usize, usize)) {
        let known = self.files.iter().rposition(|known| known == file);
        let file = known.unwrap_or_else(|| {
            self.files.push(file.to_owned());
            self.files.len() - 1
        });
        let at = token as usize;
        if self.of.len() <= at {
            self.of.resize(at + 1, Place::default());
        }
        self.of[at] = Place { file: file as u32 + 1, line: line as u32, column: column as u32 };
    }

    /// The files, in the order of their numbers.
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// The place of the first token of a range.
    pub fn of(&self, span: Span) -> Option<Place> {
        self.of.get(span.first as usize).copied().filter(|place| place.file > 0 && place.line > 0)
    }
}
