//! Arrays of constants, `const ROWS: [u32; 3] = [0, 8, 4];`: `@for R in ROWS`, `ROWS[I]` and `ROWS.len()`. And ranges that change their order
//! or step, as in Rust: `(0..8).rev()`, `(0..64).step_by(16)`.

use super::{Expander, errors};
use crate::token::{Tok, Token};
use ptx_dsl_isa::constant::{Kind, RustType};

/// An array of constants.
#[derive(Debug)]
pub(super) struct Array {
    name: String,
    values: Vec<i64>,
    /// How many constants were in scope where it is declared.
    depth: usize,
    /// How many uses of pieces were around it.
    frame: usize,
    /// How many blocks of the innermost use, or of the module, were around it.
    block: usize,
}

impl Expander<'_> {
    /// The values of an array that is visible here.
    pub(super) fn array(&self, name: &str) -> Option<&[i64]> {
        let visible = |array: &&Array| match self.frames.last() {
            // a piece sees those of its module
            Some(frame) if array.frame == 0 => array.depth <= frame.constants,
            _ => array.frame == self.frames.len(),
        };
        let named = self.arrays.iter().rev().filter(|array| array.name == name);
        named.into_iter().find(visible).map(|array| array.values.as_slice())
    }

    /// A use of a piece ends, and its arrays.
    pub(super) fn close_arrays_of_use(&mut self) {
        let frame = self.frames.len();
        self.arrays.retain(|array| array.frame <= frame);
    }

    /// A block ends, and its arrays.
    pub(super) fn close_arrays(&mut self) {
        let (block, frame) = (self.blocks.len(), self.frames.len());
        self.arrays.retain(|array| array.frame < frame || array.block <= block);
    }

    /// `const ROWS: [u32; 3] = [0, 8, 4];`: where it ends, if it begins here.
    pub(super) fn array_declaration(&mut self, at: usize, to: usize) -> Option<usize> {
        let name = self.word(at + 1).filter(|_| self.is(at + 2, ':') && self.is(at + 3, '['))?.to_owned();
        let end = self.statement_end(at, to);
        let span = self.span(at, end.saturating_sub(1).max(at));
        let close = (at..end).find(|close| self.is(*close, ']')).filter(|_| self.is(at + 5, ';'));
        let ty = self.word(at + 4).and_then(RustType::from_name).filter(|ty| ty.kind() == Kind::Int);
        let (Some(close), Some(ty)) = (close, ty) else {
            self.fail(errors::bad_array(span));
            return Some(end + 1);
        };
        let written = self.is(close + 1, '=') && self.is(close + 2, '[') && self.is(end - 1, ']');
        let length = self.small_value(at + 6, close, "the length of an array");
        if !written {
            self.fail(errors::bad_array(span));
            return Some(end + 1);
        }
        let values = self.values(close + 2, end, "an array");
        let (Some(length), Some(values)) = (length, values) else { return Some(end + 1) };
        let list = self.span(close + 2, end - 1);
        if let Some(value) = values.iter().find(|value| !crate::parse::constant::fits(i128::from(**value), ty)) {
            self.fail(errors::list_range(list, *value, ty.name()));
        } else if usize::try_from(length) != Ok(values.len()) {
            self.fail(errors::array_length(list, length, values.len()));
        } else {
            let (depth, frame, block) = (self.scope.open(), self.frames.len(), self.blocks.len());
            self.arrays.push(Array { name, values, depth, frame, block });
        }
        Some(end + 1)
    }

    /// The `;` of the statement here, outside of brackets.
    fn statement_end(&self, at: usize, to: usize) -> usize {
        let mut depth = 0u32;
        let ends = |at: &usize| {
            match self.tokens[*at].kind {
                Tok::Punct('(' | '[' | '{') => depth += 1,
                Tok::Punct(')' | ']' | '}') => depth = depth.saturating_sub(1),
                Tok::Punct(';') => return depth == 0,
                _ => {}
            }
            false
        };
        (at..to).find(ends).unwrap_or(to)
    }

    /// `ROWS[I]` or `ROWS.len()` here: its value, and where it ends. An error is reported, and the value is 0 then.
    fn value_of_array(&mut self, at: usize, to: usize) -> Option<(i64, usize)> {
        let values = self.word(at).filter(|_| !self.arrays.is_empty()).and_then(|name| self.array(name))?.to_vec();
        if self.is(at + 1, '.') && self.word(at + 2) == Some("len") && self.is(at + 3, '(') && self.is(at + 4, ')') {
            return Some((values.len() as i64, at + 5));
        }
        let close = self.parenthesis(at + 1).filter(|close| self.is(at + 1, '[') && *close < to)?;
        let index = self.small_value(at + 2, close, "the index of an array");
        let value = index.and_then(|index| usize::try_from(index).ok()).and_then(|index| values.get(index)).copied();
        if let (None, Some(index)) = (value, index) {
            let name = self.word(at).unwrap_or_default().to_owned();
            self.fail(errors::no_element(self.span(at + 2, close - 1), &name, index, values.len()));
        }
        Some((value.unwrap_or(0), close + 1))
    }

    /// Pushes the value of an array; returns where it ends.
    pub(super) fn array_value(&mut self, at: usize, to: usize) -> Option<usize> {
        if at > 0 && self.is(at - 1, '.') {
            return None;
        }
        let (value, end) = self.value_of_array(at, to)?;
        let id = self.made(self.tokens[at].id);
        self.out.tokens.extend(number(value, id, self.tokens[at].glued));
        Some(end)
    }

    /// These tokens with the values of arrays; `None` if there are none.
    pub(super) fn with_array_values(&mut self, from: usize, to: usize) -> Option<Vec<Token>> {
        let names = |expander: &Self, at: usize| expander.word(at).is_some_and(|name| expander.array(name).is_some());
        if self.arrays.is_empty() || !(from..to).any(|at| names(self, at)) {
            return None;
        }
        let (mut out, mut at) = (Vec::new(), from);
        while at < to {
            match self.value_of_array(at, to) {
                Some((value, end)) => {
                    out.extend(number(value, self.tokens[at].id, false));
                    at = end;
                }
                None => {
                    out.push(self.tokens[at].clone());
                    at += 1;
                }
            }
        }
        Some(out)
    }

    /// The values of `(0..8).rev()` or `(0..64).step_by(16)`; `None` if there is no such range, `Some(None)` after an error.
    #[allow(clippy::option_option)]
    pub(super) fn changed_range(&mut self, from: usize, to: usize, of: &str) -> Option<Option<Vec<i64>>> {
        let close = self.parenthesis(from).filter(|close| self.is(from, '(') && *close < to)?;
        let dots = (from..close).any(|at| self.is(at, '.') && self.is(at + 1, '.'));
        if !dots {
            return None;
        }
        let Some(mut values) = self.values(from + 1, close, of) else { return Some(None) };
        let mut at = close + 1;
        while at < to {
            let end = self.parenthesis(at + 2).filter(|end| self.is(at, '.') && self.is(at + 2, '(') && *end < to);
            match (self.word(at + 1), end) {
                (Some("rev"), Some(end)) if end == at + 3 => values.reverse(),
                (Some("step_by"), Some(end)) => {
                    let Some(step) = self.small_value(at + 3, end, "the step of a range") else { return Some(None) };
                    let Some(step) = usize::try_from(step).ok().filter(|step| *step > 0) else {
                        self.fail(errors::no_step(self.span(at + 3, end - 1), step));
                        return Some(None);
                    };
                    values = values.into_iter().step_by(step).collect();
                }
                _ => {
                    self.fail(errors::other_change(self.span(at, to - 1)));
                    return Some(None);
                }
            }
            at = end.map_or(to, |end| end + 1);
        }
        Some(Some(values))
    }
}

/// A number as tokens.
fn number(value: i64, id: u32, glued: bool) -> impl Iterator<Item = Token> {
    let sign = (value < 0).then_some(Token { kind: Tok::Punct('-'), id, glued });
    let digits = Token { kind: Tok::Number(value.unsigned_abs().to_string()), id, glued: glued || value < 0 };
    sign.into_iter().chain([digits])
}
