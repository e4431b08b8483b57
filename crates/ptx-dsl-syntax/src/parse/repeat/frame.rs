//! A use of a piece while its tokens are made: what the words of the piece stand for.

use std::collections::HashMap;

use super::names::Own;
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
    pub(super) arguments: HashMap<String, Vec<Token>>,
    /// Names of the piece that an argument has too.
    pub(super) renamed: Vec<(Own, String)>,
}

/// What a word of a piece stands for in a use.
pub(super) enum Stands<'a> {
    Itself,
    Renamed(String),
    Argument(&'a [Token]),
}

impl Frame {
    pub(super) fn new(piece: usize, part: Option<String>, variables: usize, constants: usize) -> Self {
        Frame { piece, part, variables, constants, arguments: HashMap::new(), renamed: Vec::new() }
    }

    pub(super) fn stands_for(&self, word: &str) -> Stands<'_> {
        if let Some(tokens) = self.arguments.get(word) {
            return Stands::Argument(tokens);
        }
        let renamed = self.renamed.iter().find_map(|(own, name)| Some(format!("{name}{}", own.covers(word)?)));
        renamed.map_or(Stands::Itself, Stands::Renamed)
    }
}
