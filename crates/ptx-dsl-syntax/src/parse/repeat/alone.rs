//! Pieces that are checked by themselves: each is the body of a kernel. The constants that it will be given are unknown, as if rustc knew
//! their values, so that only what holds for every value is an error. Of `@for` and `@if` that depend on them there are all bodies.

use std::ops::Range;
use std::rc::Rc;

use super::contexts::What;
use super::families::Family;
use super::frame::{Frame, Given};
use super::names::{Own, declared};
use super::parameters::{Kind, Parameter};
use super::pieces::Piece;
use super::words::Chosen;
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

    /// Do arguments of the piece that is checked by itself decide which registers these are?
    pub(super) fn are_uncertain(&self, registers: &[Token]) -> bool {
        let uncertain = |word: &str| self.out.uncertain.iter().any(|own| own.covers(word).is_some());
        self.alone.is_some() && registers.iter().filter_map(Token::word).any(uncertain)
    }

    /// Arguments decide how many registers there are of this name.
    pub(super) fn uncertain_register(&mut self, at: usize) {
        let name = self.word(at).unwrap_or_default().to_owned();
        self.out.uncertain.push(Own { name, prefix: true, at });
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

    /// Kernels with the body of the piece, one for each combination of words.
    pub(super) fn by_itself(&mut self, index: usize) {
        let piece = Rc::clone(&self.pieces.all[index]);
        let outer = self.context;
        for (n, words) in Self::combinations(&piece).into_iter().enumerate() {
            if !words.is_empty() {
                let shown: Vec<String> =
                    words.iter().map(|(name, word)| format!("{name} = {}", word.join("."))).collect();
                self.context = Some(self.out.contexts.open(outer, What::Iteration(shown.join(", "))));
            }
            if self.is_too_long(piece.at, piece.body.len()) {
                break;
            }
            self.kernel_of(&piece, (index, n), words);
            self.context = outer;
        }
    }

    /// A kernel with the body of the piece: its parameters are what could be given.
    fn kernel_of(&mut self, piece: &Piece, (index, number): (usize, usize), words: Chosen) {
        let id = self.made(self.tokens[piece.at].id);
        text(&mut self.out.tokens, id, &format!(".visible .entry __alone_{index}_{number} ( ) {{"));
        let begin = self.out.tokens.len();
        let number = self.out.tokens.len() + 1;
        let mut frame = Frame::new((index, number), piece.part.clone(), self.variables.len(), self.scope.open());
        frame.words = words;
        let scope = self.scope.open();
        for p in &piece.parameters {
            if let Kind::Constant(ty) = p.kind {
                let given = self.given(p.tokens.start + 1, ty);
                frame.arguments.insert(p.name.clone(), given);
            }
        }
        self.frames.push(frame);
        for p in &piece.parameters {
            self.declare_parameter_of(p, id);
        }
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
            text(&mut self.out.tokens, id, ":");
        }
        text(&mut self.out.tokens, id, "ret ; }");
    }

    /// Declares registers and variables that could be given.
    fn declare_parameter_of(&mut self, p: &Parameter, id: u32) {
        let tokens = p.tokens.clone();
        match p.kind {
            Kind::Operand => {
                let global = matches!(self.word(tokens.start + 1), Some("global" | "const"));
                let space = tokens.len() > 3;
                if !space || global {
                    text(&mut self.out.tokens, id, ".reg");
                }
                if global {
                    text(&mut self.out.tokens, id, ".b64");
                }
                let from = if global { tokens.end - 1 } else { tokens.start };
                (from..tokens.end).for_each(|at| self.push_declared(at));
                text(&mut self.out.tokens, id, ";");
            }
            Kind::Registers(from, to) => {
                (tokens.start..from).for_each(|at| self.push_declared(at));
                (from..tokens.end).for_each(|at| self.push(at));
                text(&mut self.out.tokens, id, ";");
                let known =
                    !self.depends_on_arguments(from, to) && !self.tokens[from..to].iter().any(|t| t.word().is_some());
                let length =
                    if known { self.small_value(from, to, "the number of registers of a parameter") } else { None };
                let length = length.and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
                if self.is_too_long(from, length) {
                    return;
                }
                let register = |n| Token { kind: Tok::Word(format!("{}{n}", p.name)), id, glued: false };
                let given = (0..length).map(register).collect();
                let (name, mark, span) = (p.name.clone(), String::new(), Span::token(id));
                if let Some(frame) = self.frames.last_mut() {
                    frame.families.push(Family { name, mark, given, span, exact: true });
                }
            }
            Kind::Constant(_) | Kind::Label | Kind::Name => {}
        }
    }
}

/// Writes PTX whose tokens have this number.
fn text(out: &mut Vec<Token>, id: u32, text: &str) {
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
