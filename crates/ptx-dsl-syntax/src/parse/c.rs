//! Recognises statements of C, which newcomers write, to report them well. None of them is accepted.

use super::directive::text_of;
use super::{Parser, foreign};
use crate::diag::Diagnostic;
use crate::span::Span;
use crate::token::Tok;

mod errors;

/// Words that begin a statement of C and are never PTX names.
pub(super) const KEYWORDS: [&str; 6] = ["if", "for", "while", "switch", "else", "do"];
/// Words that may stand before a type.
const BEFORE_TYPES: [&str; 6] = ["const", "static", "volatile", "register", "unsigned", "extern"];

impl Parser<'_> {
    /// Reports the statement here if it is one of C, and skips the recognised part.
    pub(super) fn statement_of_c(&mut self) -> Option<Diagnostic> {
        let word = self.word_at(0)?;
        if matches!(word, "asm" | "__asm__") {
            return Some(errors::inline_assembly(self.here(), word));
        }
        if self.is_at(1, '(') && word != "call" {
            return self.called(word);
        }
        // `call f(x)`
        if word == "call" && self.is_at(2, '(') {
            let name = self.word_at(1)?;
            self.pos += 1;
            return self.called(name);
        }
        if let Some(sign) = self.assigns() {
            let span = self.tokens[self.pos + 1].span().to(self.tokens[self.pos + sign.len()].span());
            return Some(errors::assignment(span, sign, self.operation(sign)));
        }
        self.declares(".reg")
    }

    /// Reports the module item here if it is one of C.
    pub(super) fn item_of_c(&mut self) -> Option<Diagnostic> {
        let word = self.word_at(0)?;
        if matches!(word, "__global__" | "void" | "template" | "__host__") {
            return Some(errors::c_function(self.here(), word));
        }
        if word == "__device__" && self.word_at(1) == Some("void") {
            return Some(errors::c_function(self.here(), word));
        }
        let found = self.declares(".global")?;
        while self.peek().is_some() && !self.is(';') && !self.is('{') && !self.is('}') {
            self.pos += 1;
        }
        Some(found)
    }

    /// `if (%p)`, `while (...)`
    pub(super) fn keyword_of_c(&mut self) -> Diagnostic {
        let start = self.here();
        let word = self.word_at(0).unwrap_or_default();
        let guard = match (self.word_at(2), self.is_at(2, '!')) {
            (Some(p), _) if word == "if" && self.is_at(1, '(') && self.is_at(3, ')') => Some(format!("@{p}")),
            (None, true) if word == "if" && self.is_at(1, '(') && self.is_at(4, ')') => {
                self.word_at(3).map(|p| format!("@!{p}"))
            }
            _ => None,
        };
        self.pos += 1;
        let end = if self.is('(') { self.parentheses() } else { None };
        let guard = guard.filter(|_| !self.is('{'));
        let span = if guard.is_some() { start.to(end.unwrap_or(start)) } else { start };
        if end.is_none() && !matches!(word, "else" | "do") {
            // a body is read as a block
            let statement = self.tokens[self.pos..].iter().take_while(|t| !matches!(t.kind, Tok::Punct(';' | '}')));
            if let Some(n) = statement.map(|t| &t.kind).position(|kind| *kind == Tok::Punct('{')) {
                self.pos += n;
            }
        }
        errors::keyword(span, word, guard, self.in_rust)
    }

    /// `name(...)`
    fn called(&mut self, word: &str) -> Option<Diagnostic> {
        let (start, from) = (self.here(), self.pos);
        self.pos += 1;
        let Some(end) = self.parentheses() else {
            self.pos = from;
            return None;
        };
        let args = text_of(&self.tokens[from + 2..self.pos - 1]);
        Some(errors::called(start.to(end), word, &args))
    }

    /// Skips the parentheses here, without recursion; `None` if they are not closed in this statement.
    fn parentheses(&mut self) -> Option<Span> {
        let mut open = 0u32;
        while let Some(tok) = self.peek() {
            match tok {
                Tok::Punct('(') => open += 1,
                Tok::Punct(')') => open = open.saturating_sub(1),
                Tok::Punct('{' | '}') => return None,
                _ => {}
            }
            let span = self.bump();
            if open == 0 {
                return Some(span);
            }
        }
        None
    }

    /// The assignment operator after the first word: `=`, `+=`.
    fn assigns(&self) -> Option<&'static str> {
        if self.is_at(1, '=') && !(self.is_at(2, '=') && self.glued_at(2)) {
            return Some("=");
        }
        for (c, sign) in [('+', "+="), ('-', "-="), ('*', "*="), ('/', "/="), ('|', "|="), ('&', "&="), ('^', "^=")] {
            if self.is_at(1, c) && self.is_at(2, '=') && self.glued_at(2) {
                return Some(sign);
            }
        }
        None
    }

    /// The instruction for an assignment: that of its first operator, or `mov`.
    fn operation(&self, sign: &str) -> &'static str {
        let rest = &self.tokens[self.pos + 1 + sign.len()..];
        // Directly after the sign: a pointer, a negative number, an address.
        match rest.first().map(|t| &t.kind) {
            Some(Tok::Punct('*')) => return "ld",
            Some(Tok::Punct('-')) => return "neg",
            Some(Tok::Punct('&')) => return "mov",
            Some(Tok::Punct('~' | '!')) => return "not",
            _ => {}
        }
        let operators = sign.chars().chain(rest.iter().map_while(|t| match t.kind {
            Tok::Punct(';' | '}') => None,
            Tok::Punct(c) => Some(c),
            _ => Some(' '),
        }));
        for c in operators {
            match c {
                '+' => return "add",
                '-' => return "sub",
                '*' => return "mul",
                '/' => return "div",
                '%' => return "rem",
                '<' => return "shl",
                '>' => return "shr",
                '&' => return "and",
                '|' => return "or",
                '^' => return "xor",
                '[' => return "ld",
                _ => {}
            }
        }
        "mov"
    }

    /// `float x`, `__shared__ float x`, `unsigned int x`
    fn declares(&mut self, usual: &str) -> Option<Diagnostic> {
        let (mut n, mut ty, mut space, mut unsigned, mut linkage) = (0, None, None, false, "");
        while let (Some(word), Some(_)) = (self.word_at(n), self.word_at(n + 1)) {
            let known = foreign::c_type(word);
            space = space.or(foreign::space(word));
            unsigned |= word == "unsigned";
            if word == "extern" {
                linkage = ".extern ";
            }
            if known.is_none() && foreign::space(word).is_none() && !BEFORE_TYPES.contains(&word) {
                break;
            }
            ty = known.or(ty);
            n += 1;
        }
        if n == 0 || ty.is_none() && space.is_none() {
            return None;
        }
        let ty = match ty {
            Some("s32") if unsigned => "u32",
            Some(ty) => ty,
            None => "b32",
        };
        let words = text_of(&self.tokens[self.pos..self.pos + n]);
        let span = self.here().to(self.tokens[self.pos + n - 1].span());
        self.pos += n;
        if !linkage.is_empty() && usual == ".reg" {
            return Some(errors::c_extern(span, &words));
        }
        Some(errors::c_declaration(span, &words, &format!("{linkage}{} .{ty}", space.unwrap_or(usual))))
    }
}
