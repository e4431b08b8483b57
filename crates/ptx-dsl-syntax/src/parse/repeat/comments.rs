//! Comments of a source with repetitions and pieces: each copy of a token has those in front of it.

use super::Expanded;
use crate::notes::{Comment, Notes};
use crate::token::Token;
use std::collections::HashMap;

impl Expanded {
    /// Puts comments before the positions of the tokens that the source tokens after them became. One before a token that is gone,
    /// such as the `}` of a repetition, stands wherever the text goes on after it. `tokens`: those of the expansion.
    pub fn place_comments(&self, tokens: &[Token], notes: &mut Notes) {
        let mut copies: HashMap<u32, Vec<u32>> = HashMap::new();
        for (at, token) in (0..).zip(tokens) {
            copies.entry(self.contexts.source_of(token.id)).or_default().push(at);
        }
        let (mut placed, mut gone) = (Vec::new(), Vec::new());
        let mut place = |comment: &Comment, before: u32| placed.push((before, comment.clone()));
        for comment in std::mem::take(&mut notes.comments) {
            match copies.get(&comment.before) {
                Some(positions) => positions.iter().for_each(|at| place(&comment, *at)),
                None => gone.push(comment),
            }
        }
        let from = |token: u32| gone.partition_point(|comment| comment.before < token);
        let mut next = 0;
        for (at, token) in (0..).zip(tokens) {
            // what a piece makes lies where it is used
            let source = self.contexts.uses(token.id).last().unwrap_or_else(|| self.contexts.source_of(token.id));
            for comment in gone.get(from(next)..from(source + 1)).unwrap_or_default() {
                place(comment, at);
            }
            next = source + 1;
        }
        gone[from(next)..].iter().for_each(|comment| place(comment, tokens.len() as u32));
        // those at one place in the order of the source
        placed.sort_by_key(|(before, comment)| (*before, comment.before));
        notes.comments = placed.into_iter().map(|(before, comment)| Comment { before, ..comment }).collect();
        notes.positions = Some((0..).zip(tokens).map(|(at, token)| (token.id, at)).collect());
    }
}
