//! Braces, parentheses and statements, for the indentation of `fmt`. `fuzz/` includes this file too.

use ptx_dsl_frontend::token::{Tok, Token, is_at, word_at};

/// What is open before a token.
#[derive(Debug, Default)]
pub struct Nesting {
    braces: usize,
    parentheses: usize,
    statement: Option<Statement>,
}

/// A statement that has begun and has no `;` yet.
#[derive(Debug)]
struct Statement {
    /// Braces that were open where it began.
    braces: usize,
    /// An instruction or a use of a piece: its braces hold operands. Braces of other statements hold bodies, except those of initial values.
    is_instruction: bool,
    /// A repetition or a condition: its braces hold a body, also after `==`.
    is_control: bool,
    /// There is a `=`, so that braces hold initial values.
    assigns: bool,
    /// Its last token promises more: `,` or `=`.
    goes_on: bool,
}

impl Nesting {
    /// Goes past these tokens of the text.
    pub fn pass(&mut self, tokens: &[Token], range: std::ops::Range<usize>) {
        let mut at = range.start;
        while at < range.end {
            if self.statement.is_none() && self.parentheses == 0 {
                if let Some(end) = label(tokens, at).filter(|_| self.braces > 0) {
                    at = end;
                    continue;
                }
                self.begin(tokens, at);
            }
            self.token(&tokens[at].kind);
            at += 1;
        }
    }

    fn begin(&mut self, tokens: &[Token], at: usize) {
        let is_control = match &tokens[at].kind {
            Tok::Punct('{' | '}' | ';') => return,
            Tok::Punct('@') => matches!(word_at(tokens, at + 1), Some("for" | "if" | "peel")),
            Tok::Word(word) => matches!(word.as_str(), "if" | "else" | "while" | "loop"),
            _ => false,
        };
        let is_instruction = match &tokens[at].kind {
            Tok::Punct('@') => !is_control,
            Tok::Word(word) => !is_control && !matches!(word.as_str(), "const" | "use" | "pub" | "part"),
            _ => false,
        };
        let braces = self.braces;
        self.statement = Some(Statement { braces, is_instruction, is_control, assigns: false, goes_on: false });
    }

    fn token(&mut self, kind: &Tok) {
        if let Some(statement) = &mut self.statement {
            statement.goes_on = matches!(kind, Tok::Punct(',' | '='));
            statement.assigns |= *kind == Tok::Punct('=') && !statement.is_control;
        }
        match kind {
            Tok::Punct('{') => {
                self.braces += 1;
                if self.statement.as_ref().is_some_and(|statement| !statement.is_instruction && !statement.assigns) {
                    self.statement = None;
                }
            }
            Tok::Punct('}') => {
                self.braces = self.braces.saturating_sub(1);
                if self.statement.as_ref().is_some_and(|statement| statement.braces > self.braces) {
                    self.statement = None;
                }
            }
            Tok::Punct('(') => self.parentheses += 1,
            Tok::Punct(')') => self.parentheses = self.parentheses.saturating_sub(1),
            Tok::Punct(';') if self.parentheses == 0 => self.statement = None,
            _ => {}
        }
    }

    /// The indentation of a line with these tokens.
    pub fn level(&self, tokens: &[Token], line: std::ops::Range<usize>) -> usize {
        let tokens = &tokens[..line.end];
        let closed = (line.start..line.end).take_while(|at| is_at(tokens, *at, '}')).count();
        let level = self.braces.saturating_sub(closed);
        let opens_body = is_at(tokens, line.start, '{') && !self.has_operands();
        let goes_on = self.parentheses > 0 || self.statement.as_ref().is_some_and(|statement| self.goes_on(statement));
        if goes_on && closed == 0 && !opens_body && !line.is_empty() {
            level + 1
        } else if self.statement.is_none() && label(tokens, line.start).is_some() {
            level.saturating_sub(1)
        } else {
            level
        }
    }

    /// Does a brace that opens here hold operands?
    fn has_operands(&self) -> bool {
        self.statement.as_ref().is_some_and(|statement| statement.is_instruction && statement.braces > 0)
    }

    /// Is the next line a part of the statement, and not of its initial values? A directive in a header needs no `;`.
    fn goes_on(&self, statement: &Statement) -> bool {
        let values = !statement.is_instruction && self.braces > statement.braces;
        statement.braces > 0 && (statement.is_instruction || statement.goes_on) && !values
    }
}

/// Where a label ends that begins here: `name:`, or `name{I}:` in a repetition.
fn label(tokens: &[Token], at: usize) -> Option<usize> {
    word_at(tokens, at)?;
    let glued = |at: usize| tokens.get(at).is_some_and(|token| token.glued);
    let mut end = at + 1;
    while glued(end) {
        match &tokens[end].kind {
            Tok::Punct('{') => end = (end..tokens.len()).find(|end| is_at(tokens, *end, '}'))? + 1,
            Tok::Word(_) | Tok::Number(_) => end += 1,
            _ => break,
        }
    }
    let path = is_at(tokens, end + 1, ':') && glued(end + 1);
    (is_at(tokens, end, ':') && !path).then_some(end + 1)
}
