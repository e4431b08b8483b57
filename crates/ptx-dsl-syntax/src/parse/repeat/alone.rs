//! Pieces that are checked by themselves: each is the body of a kernel. The constants that it will be given are unknown, as if rustc knew
//! their values, so that only what holds for every value is an error. Of `@for` and `@if` that depend on them there are all bodies.

use std::ops::Range;
use std::rc::Rc;

use super::frame::{Frame, Given};
use super::names::{Own, declared};
use super::pieces::Kind;
use super::{Expanded, Expander};
use crate::span::Span;
use crate::token::{Tok, Token};
use ptx_dsl_isa::constant::RustType;

/// What is checked by itself.
pub(super) struct Alone {
    /// The tokens with its pieces.
    pub(super) own: Range<usize>,
    /// Constants that are given are the number 1.
    one: bool,
    /// The unknown constants of a piece: the name, the type, and the token that declares it.
    unknown: Vec<(String, RustType, u32)>,
}

impl Alone {
    pub(super) fn new(own: Range<usize>, one: bool) -> Self {
        Alone { own, one, unknown: Vec::new() }
    }
}

impl Expander<'_> {
    /// A constant of the name of the token at `at`, which the piece is given.
    fn given(&mut self, at: usize, ty: RustType) -> Given {
        let (name, id) = (self.word(at).unwrap_or_default().to_owned(), self.tokens[at].id);
        let mut unknown = name.clone();
        while self.scope.knows(&unknown) {
            unknown.push('_');
        }
        let kind = match self.alone.as_mut() {
            Some(alone) if !alone.one => {
                if !alone.unknown.iter().any(|(known, ..)| *known == unknown) {
                    alone.unknown.push((unknown.clone(), ty, id));
                }
                self.scope.declare(&name, &unknown, ty, Span::token(id));
                Tok::Word(unknown)
            }
            _ => {
                self.scope.set(&name, 1);
                Tok::Number("1".to_owned())
            }
        };
        Given { tokens: vec![Token { kind, id, glued: false }], span: Span::token(id) }
    }

    /// Do these tokens have a value that the piece is given, and none that only rustc knows?
    pub(super) fn depends_on_arguments(&self, from: usize, to: usize) -> bool {
        let Some(alone) = self.alone.as_ref().filter(|alone| !alone.unknown.is_empty()) else { return false };
        let mut constants = (from..to).filter_map(|at| self.scope.declarations(self.word(at)?)).flatten().peekable();
        let is_given = |name: &str| alone.unknown.iter().any(|(given, ..)| given == name);
        constants.peek().is_some() && constants.all(|declared| is_given(&declared.name))
    }

    /// The body of a repetition for whatever value its variable has.
    pub(super) fn any_iteration(&mut self, variable: usize, body: Range<usize>) {
        let (scope, name) = (self.scope.open(), self.word(variable).unwrap_or_default().to_owned());
        let Some(ty) = RustType::from_name("i64") else { return };
        let given = self.given(variable, ty);
        let set = |expander: &mut Self, given: Option<Given>| {
            let arguments = &mut expander.frames.last_mut()?.arguments;
            match given {
                Some(given) => arguments.insert(name.clone(), given),
                None => arguments.remove(&name),
            }
        };
        let hidden = set(self, Some(given));
        self.range(body.start, body.end);
        set(self, hidden);
        self.scope.close(scope);
    }

    /// Arguments decide whether there are these declarations.
    pub(super) fn uncertain(&mut self, tokens: Range<usize>) {
        let names = declared(&self.tokens[tokens.clone()], tokens.start);
        self.out.uncertain.extend(names);
    }

    /// Arguments decide how the name goes on that was pushed last.
    pub(super) fn uncertain_name(&mut self, at: usize) {
        if let Some(Token { kind: Tok::Word(name), .. }) = self.out.tokens.last() {
            self.out.uncertain.push(Own { name: name.clone(), prefix: true, at });
        }
    }

    /// Where the kernel ends that begins here.
    pub(super) fn kernel_at(&self, mut at: usize, to: usize) -> Option<usize> {
        while self.is(at, '.') && matches!(self.word(at + 1), Some("visible" | "weak" | "extern")) {
            at += 2;
        }
        if !self.is(at, '.') || self.word(at + 1) != Some("entry") {
            return None;
        }
        match self.body_behind(at, to) {
            Some(open) => self.close(open).map(|close| close + 1),
            None => (at..to).find(|end| self.is(*end, ';')).map(|end| end + 1),
        }
    }

    /// A kernel with the body of the piece: its parameters are what could be given.
    pub(super) fn by_itself(&mut self, index: usize) {
        let piece = Rc::clone(&self.pieces.all[index]);
        let id = self.tokens[piece.at].id;
        let text = |out: &mut Vec<Token>, text: &str| {
            let glued = !text.contains([' ', '{', '}', ';']);
            for (n, word) in text.split(' ').filter(|word| !word.is_empty()).enumerate() {
                let kind = match word.strip_prefix('.') {
                    Some(word) => {
                        out.push(Token { kind: Tok::Punct('.'), id, glued: false });
                        Tok::Word(word.to_owned())
                    }
                    None if word.len() == 1 => Tok::Punct(word.chars().next().unwrap_or(';')),
                    None => Tok::Word(word.to_owned()),
                };
                let dotted = word.starts_with('.');
                out.push(Token { kind, id, glued: dotted || glued && n > 0 });
            }
        };
        text(&mut self.out.tokens, &format!(".visible .entry __alone_{index} ( ) {{"));
        let begin = self.out.tokens.len();
        let mut frame = Frame::new(index, piece.part.clone(), self.variables.len(), self.scope.open());
        let scope = self.scope.open();
        for p in &piece.parameters {
            let tokens = &self.tokens[p.tokens.clone()];
            match p.kind {
                Kind::Operand => {
                    let global = matches!(&tokens[1].kind, Tok::Word(space) if space == "global" || space == "const");
                    let space = tokens.len() > 3;
                    if !space || global {
                        text(&mut self.out.tokens, ".reg");
                    }
                    if global {
                        text(&mut self.out.tokens, ".b64");
                    }
                    let from = if global { tokens.len() - 1 } else { 0 };
                    self.out.tokens.extend_from_slice(&tokens[from..]);
                    text(&mut self.out.tokens, ";");
                }
                Kind::Constant(ty) => {
                    let given = self.given(p.tokens.start + 1, ty);
                    frame.arguments.insert(p.name.clone(), given);
                }
                Kind::Label | Kind::Name => {}
            }
        }
        self.frames.push(frame);
        self.all(piece.body.start, piece.body.end);
        self.frames.pop();
        self.scope.close(scope);
        let unknown = self.alone.as_mut().map(|alone| std::mem::take(&mut alone.unknown)).unwrap_or_default();
        for (name, ty, id) in unknown {
            // rustc would say the value
            let kinds = [
                Tok::Word("const".to_owned()),
                Tok::Word(name.clone()),
                Tok::Punct(':'),
                Tok::Word(ty.name().to_owned()),
                Tok::Punct('='),
                Tok::Word(name),
                Tok::Punct(';'),
            ];
            self.out.tokens.splice(begin..begin, kinds.map(|kind| Token { kind, id, glued: false }));
        }
        for p in piece.parameters.iter().filter(|p| p.kind == Kind::Label) {
            let name = self.tokens[p.tokens.end - 1].clone();
            self.out.tokens.push(name);
            text(&mut self.out.tokens, ":");
        }
        text(&mut self.out.tokens, "ret ; }");
    }
}

impl Expanded {
    /// Does the statement depend on arguments of the piece? Then it is checked in each use.
    pub fn is_uncertain(&self, span: Span) -> bool {
        let Some(at) = self.tokens.iter().position(|token| token.id == span.first) else { return false };
        let ends = |token: &Token| token.is(';');
        let from = self.tokens[..at].iter().rposition(ends).map_or(0, |end| end + 1);
        let to = self.tokens[at..].iter().position(ends).map_or(self.tokens.len(), |end| at + end);
        self.tokens[from..to].iter().any(|token| match &token.kind {
            Tok::Word(word) => self.uncertain.iter().any(|own| own.covers(word).is_some()),
            _ => false,
        })
    }
}
