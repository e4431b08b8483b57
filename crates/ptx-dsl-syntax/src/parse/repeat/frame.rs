//! A use of a piece while its tokens are made: what the words of the piece stand for.

use std::collections::HashMap;

use super::families::Family;
use super::names::Own;
use super::words::Chosen;
use crate::span::Span;
use crate::token::Token;

/// A use whose tokens are being made.
#[derive(Debug)]
pub(super) struct Frame {
    /// Which piece.
    pub(super) piece: usize,
    /// What no other use has: the number of tokens before it.
    pub(super) number: usize,
    /// The part in which its names are looked up first.
    pub(super) part: Option<String>,
    /// How many loop variables are outside.
    pub(super) variables: usize,
    /// How many constants of the module are in scope.
    pub(super) constants: usize,
    /// By parameter.
    pub(super) arguments: HashMap<String, Given>,
    /// The words that stand for parameters.
    pub(super) words: Chosen,
    /// The ranges of registers that are given.
    pub(super) families: Vec<Family>,
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
    pub(super) fn new(
        (piece, number): (usize, usize),
        part: Option<String>,
        variables: usize,
        constants: usize,
    ) -> Self {
        let (arguments, renamed) = (HashMap::new(), Vec::new());
        Frame { piece, number, part, variables, constants, arguments, words: Vec::new(), families: Vec::new(), renamed }
    }

    /// The word that stands for this parameter, in parts.
    pub(super) fn word(&self, name: &str) -> Option<&[String]> {
        self.words.iter().find(|(known, _)| known == name).map(|(_, word)| word.as_slice())
    }

    /// What a register of the piece is called in this use.
    pub(super) fn name_of(&self, word: &str) -> String {
        match self.stands_for(word) {
            Stands::Renamed(name) => name,
            Stands::Itself | Stands::Argument(_) => word.to_owned(),
        }
    }

    pub(super) fn stands_for(&self, word: &str) -> Stands<'_> {
        if let Some(given) = self.arguments.get(word) {
            return Stands::Argument(given);
        }
        if let Some(mark) = self.families.iter().find_map(|family| family.stands_for(word)) {
            return Stands::Renamed(mark);
        }
        let renamed = self.renamed.iter().find_map(|(own, name)| Some(format!("{name}{}", own.covers(word)?)));
        renamed.map_or(Stands::Itself, Stands::Renamed)
    }
}
