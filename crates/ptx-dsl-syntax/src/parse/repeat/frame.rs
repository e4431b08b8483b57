//! A use of a piece while its tokens are made: what the words of the piece stand for.

use std::collections::HashMap;

use super::names::Own;
use crate::span::Span;
use crate::token::Token;

/// A use whose tokens are being made.
#[derive(Debug)]
pub(super) struct Frame {
    /// Which piece.
    pub(super) piece: usize,
    /// The part in which its names are looked up first.
    pub(super) part: Option<String>,
    /// How many loop variables are outside.
    pub(super) variables: usize,
    /// How many constants of the module are in scope.
    pub(super) constants: usize,
    /// By parameter.
    pub(super) arguments: HashMap<String, Given>,
    /// Names of the piece that an argument has too.
    pub(super) renamed: Vec<(Own, String)>,
}

/// An argument.
#[derive(Debug)]
pub(super) struct Given {
    /// What stands for the parameter.
    pub(super) tokens: Vec<Token>,
    /// Where it is given.
    pub(super) span: Span,
}

/// What a word of a piece stands for in a use.
pub(super) enum Stands<'a> {
    Itself,
    Renamed(String),
    Argument(&'a Given),
}

impl Frame {
    pub(super) fn new(piece: usize, part: Option<String>, variables: usize, constants: usize) -> Self {
        Frame { piece, part, variables, constants, arguments: HashMap::new(), renamed: Vec::new() }
    }

    pub(super) fn stands_for(&self, word: &str) -> Stands<'_> {
        if let Some(given) = self.arguments.get(word) {
            return Stands::Argument(given);
        }
        let renamed = self.renamed.iter().find_map(|(own, name)| Some(format!("{name}{}", own.covers(word)?)));
        renamed.map_or(Stands::Itself, Stands::Renamed)
    }
}
