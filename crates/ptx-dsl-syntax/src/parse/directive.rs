//! Parses directives other than declarations of variables and functions (PTX ISA 11).

use super::{Parser, Res, errors};
use crate::ast::{Arg, Directive, Prototype, Word};
use crate::print;
use crate::span::Span;
use crate::token::{Tok, Token};

/// The place of a directive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Module,
    /// Between the name of a function and its body.
    Function,
    Body,
    /// In a body, after a label.
    Labelled,
}

impl Place {
    /// For messages: "is not allowed ..." and "belongs ...".
    fn phrase(self) -> &'static str {
        match self {
            Place::Module => "at module scope",
            Place::Function => "between the parameters and the body of a function",
            Place::Body => "inside a function",
            Place::Labelled => "after a label inside a function",
        }
    }
}

const MODULE: [&str; 16] = [
    "version",
    "target",
    "address_size",
    "file",
    "section",
    "pragma",
    "alias",
    "nv_intermediate_source_section",
    "entry",
    "func",
    "extern",
    "visible",
    "weak",
    "common",
    "global",
    "const",
];
const FUNCTION: [&str; 15] = [
    "maxnreg",
    "maxntid",
    "reqntid",
    "minnctapersm",
    "maxnctapersm",
    "noreturn",
    "abi_preserve",
    "abi_preserve_control",
    "pragma",
    "reqnctapercluster",
    "explicitcluster",
    "maxclusterrank",
    "blocksareclusters",
    "minperctamemory",
    "language",
];
const BODY: [&str; 3] = ["loc", "loc_intermediate", "pragma"];
/// Labels of a range `L<n>`.
const MAX_LABELS: u64 = 1 << 12;
const LABELLED: [&str; 3] = ["branchtargets", "calltargets", "callprototype"];
/// Words that begin a declaration.
const DECLARATION: [&str; 7] = ["reg", "shared", "local", "param", "sreg", "tex", "attribute"];

/// Can a directive of this name begin an item of a module?
pub(super) fn at_module(name: &str) -> bool {
    MODULE.contains(&name) || name == "shared" || name == "tex"
}

impl Parser<'_> {
    /// The directive here, with its `;` if it has one.
    pub(super) fn directive(&mut self, name: &str, place: Place) -> Res<Directive> {
        let whole = self.there();
        let legal = match place {
            Place::Module => MODULE.contains(&name),
            Place::Function => FUNCTION.contains(&name),
            Place::Body => BODY.contains(&name),
            Place::Labelled => LABELLED.contains(&name),
        };
        if !legal {
            let d = if place == Place::Body && self.is_at(2, ':') && belongs(name).is_none() {
                errors::label_with_dot(whole, name)
            } else if place == Place::Body && LABELLED.contains(&name) {
                errors::needs_label(whole, name)
            } else if let Some(belongs) = belongs(name) {
                errors::misplaced_directive(whole, name, place.phrase(), belongs)
            } else if DECLARATION.contains(&name) {
                errors::misplaced_directive(whole, name, place.phrase(), "at the beginning of a declaration")
            } else {
                // The nearest name that is legal here comes before one that is legal elsewhere.
                let here: &[&str] = match place {
                    Place::Module => &MODULE,
                    Place::Function => &FUNCTION,
                    Place::Body | Place::Labelled => &BODY,
                };
                let all = [here, &DECLARATION, &MODULE, &FUNCTION, &BODY, &LABELLED].concat();
                let meant = super::foreign::directive(name).filter(|own| here.contains(own));
                errors::unknown_directive(whole, name, meant.or_else(|| super::near::nearest(name, &all)))
            };
            return self.fail(d);
        }
        let word = self.dot_word()?;
        let start = word.span;
        let mut out = Directive { label: None, name: word, args: Vec::new(), text: None, prototype: None, span: start };
        match name {
            "loc" => self.loc(&mut out)?,
            "loc_intermediate" => self.numbers(&mut out, 3)?,
            "file" => self.file(&mut out)?,
            "section" => self.section(&mut out)?,
            "nv_intermediate_source_section" => out.text = Some(self.code_block()?),
            "callprototype" => self.prototype(&mut out)?,
            "pragma" | "alias" | "branchtargets" | "calltargets" => {
                self.args(&mut out)?;
                if out.args.is_empty() {
                    return self.unexpected("an argument");
                }
                out.span = start.to(self.before());
                self.semicolon()?;
                return Ok(out);
            }
            // After a signature nothing but the next directive says where the arguments end.
            _ => {
                if !self.is('.') && !self.is('{') && !self.is(';') && self.peek().is_some() {
                    self.args(&mut out)?;
                }
            }
        }
        out.span = start.to(self.before());
        Ok(out)
    }

    /// Strings and constant expressions, separated by commas.
    fn args(&mut self, out: &mut Directive) -> Res<()> {
        loop {
            match self.peek() {
                Some(Tok::Str(_)) => out.args.push(Arg::Str(self.string("a string")?)),
                _ if out.name.text == ".branchtargets" && self.is_at(1, '<') => self.range_of_labels(out)?,
                _ => {
                    let e = self.constant()?;
                    out.args.push(Arg::Expr(self.evaluated(e)));
                }
            }
            if !self.eat(',') {
                return Ok(());
            }
        }
    }

    /// `L<3>` is `L0, L1, L2`.
    fn range_of_labels(&mut self, out: &mut Directive) -> Res<()> {
        let name = self.name("a label")?;
        self.bump();
        let (count, span) = self.number_argument("the number of labels")?;
        self.expect('>')?;
        if count > MAX_LABELS {
            return self.fail(errors::too_long(span));
        }
        for i in 0..count {
            let word = Word { text: format!("{}{i}", name.text), span: name.span };
            out.args.push(Arg::Expr(crate::ast::Expr::Name(word, None)));
        }
        Ok(())
    }

    /// `count` integers without commas, as printed.
    fn numbers(&mut self, out: &mut Directive, count: usize) -> Res<()> {
        let mut text = String::new();
        for i in 0..count {
            let (value, span) = self.number_argument("an integer")?;
            let unsigned = value > i64::MAX as u64;
            out.args.push(Arg::Expr(crate::ast::Expr::Int { value, unsigned, text: None, span }));
            text.push_str(if i > 0 { " " } else { "" });
            text.push_str(&value.to_string());
        }
        out.text = Some(text);
        Ok(())
    }

    /// `.loc file line column{, function_name label{+n}, inlined_at file line column}` (PTX ISA 11.5.4)
    fn loc(&mut self, out: &mut Directive) -> Res<()> {
        self.numbers(out, 3)?;
        let mut text = out.text.take().unwrap_or_default();
        if self.eat(',') {
            self.expect_word("function_name")?;
            let label = self.name("a label")?;
            text.push_str(", function_name ");
            text.push_str(&label.text);
            out.args.push(Arg::Expr(crate::ast::Expr::Name(label, None)));
            if self.eat('+') {
                let (n, _) = self.number_argument("an offset")?;
                text.push_str(&format!("+{n}"));
            }
            self.expect(',')?;
            self.expect_word("inlined_at")?;
            text.push_str(", inlined_at");
            for _ in 0..3 {
                let (n, _) = self.number_argument("an integer")?;
                text.push_str(&format!(" {n}"));
            }
        }
        out.text = Some(text);
        Ok(())
    }

    fn expect_word(&mut self, word: &str) -> Res<()> {
        if self.word_at(0) != Some(word) {
            return self.unexpected(&format!("`{word}`"));
        }
        self.pos += 1;
        Ok(())
    }

    /// `.file index "name"{, timestamp, size}` (PTX ISA 11.5.3)
    fn file(&mut self, out: &mut Directive) -> Res<()> {
        self.numbers(out, 1)?;
        let mut text = out.text.take().unwrap_or_default();
        let name = self.string("the name of the file, as a string")?;
        text.push_str(&format!(" \"{}\"", name.text));
        out.args.push(Arg::Str(name));
        while self.eat(',') {
            let (value, span) = self.number_argument("an integer")?;
            text.push_str(&format!(", {value}"));
            out.args.push(Arg::Expr(crate::ast::Expr::Int {
                value,
                unsigned: value > i64::MAX as u64,
                text: None,
                span,
            }));
        }
        out.text = Some(text);
        Ok(())
    }

    /// `.section name { dwarf lines }`, kept as text with one line each (PTX ISA 11.5.2). The arguments are the parts that need a
    /// version: the labels, `L:`, and their differences, `L1-L0`.
    fn section(&mut self, out: &mut Directive) -> Res<()> {
        let mut name = String::new();
        if self.is('.') {
            while self.dotted().is_some() {
                name.push_str(&self.dot_word()?.text);
            }
        } else {
            name = self.name("the name of the section")?.text;
        }
        let open = self.here();
        self.expect('{')?;
        let mut text = format!("{name}\n{{\n");
        let mut line = self.pos;
        while let Some(tok) = self.peek() {
            let directive = self.is('.') && matches!(self.word_at(1), Some("b8" | "b16" | "b32" | "b64"));
            // the name of a section, as in `.b32 .debug_info`, is no label
            let of_section = self.pos > 0 && self.tokens[self.pos - 1].kind == Tok::Punct('.');
            let label = self.word_at(0).is_some() && self.is_at(1, ':') && !of_section;
            let end = matches!(tok, Tok::Punct('}'));
            if (directive || label || end) && line < self.pos {
                text.push_str(&format!("    {}\n", text_of(&self.tokens[line..self.pos])));
                line = self.pos;
            }
            match tok {
                Tok::Punct('}') => {
                    self.bump();
                    text.push('}');
                    out.text = Some(text);
                    return Ok(());
                }
                Tok::Punct('{' | ';') => return self.unexpected("a line of the section"),
                _ if line == self.pos && !(directive || label) => return self.unexpected("a line of the section"),
                _ if self.word_at(0).is_some() && self.is_at(1, '-') && self.word_at(2).is_some() => {
                    let difference = self.constant()?;
                    out.args.push(Arg::Expr(difference));
                }
                _ if label => {
                    let word = Word { text: self.word_at(0).unwrap_or_default().to_string(), span: self.here() };
                    out.args.push(Arg::Expr(crate::ast::Expr::Name(word, None)));
                    self.pos += 2;
                    text.push_str(&format!("{}\n", text_of(&self.tokens[line..self.pos])));
                    line = self.pos;
                }
                _ => self.pos += 1,
            }
        }
        self.fail(errors::unclosed(open, '{'))
    }

    /// `name { ... }` with nested braces, kept as text.
    fn code_block(&mut self) -> Res<String> {
        let start = self.pos;
        while let Some(tok) = self.peek() {
            match tok {
                Tok::Punct('{') => {
                    let (open, at) = (self.here(), self.pos);
                    self.skip_braces();
                    if self.pos == at || self.tokens[self.pos - 1].kind != Tok::Punct('}') {
                        return self.fail(errors::unclosed(open, '{'));
                    }
                    return Ok(text_of(&self.tokens[start..self.pos]));
                }
                Tok::Punct(';' | '}') => break,
                _ => self.pos += 1,
            }
        }
        self.unexpected("`{`")
    }

    /// `{(rets)} _ {(params)} {.noreturn} {.abi_preserve N} ...;` (PTX ISA 11.3.3)
    fn prototype(&mut self, out: &mut Directive) -> Res<()> {
        let mut prototype = Prototype { rets: Vec::new(), params: Vec::new() };
        if self.is('(') {
            prototype.rets = self.params(true)?;
        }
        let name = self.name("`_`")?;
        if self.is('(') {
            prototype.params = self.params(true)?;
        }
        let mut tail = Vec::new();
        while let Some(name) = self.dotted() {
            match name {
                "noreturn" | "abi_preserve" | "abi_preserve_control" => {
                    tail.push(self.directive(name, Place::Function)?)
                }
                _ => return self.unexpected("`.noreturn`, `.abi_preserve` or `;`"),
            }
        }
        self.semicolon()?;
        out.text = Some(print::prototype(&prototype, &name.text, &tail));
        out.prototype = Some(Box::new(prototype));
        Ok(())
    }

    /// `@@DWARF ...`, the old form of debug sections, kept as text (PTX ISA 11.5.1). It has no terminator: a line ends at the
    /// next `@@`, or where a directive of another kind begins.
    pub(super) fn dwarf(&mut self) -> Res<Directive> {
        let start = self.here();
        self.pos += 2;
        match self.word_at(0) {
            Some("DWARF" | "dwarf") => {
                self.bump();
            }
            _ => return self.unexpected("`DWARF`"),
        }
        let name = Word { text: "@@DWARF".to_string(), span: start.to(self.before()) };
        let from = self.pos;
        while let Some(tok) = self.peek() {
            let other = matches!(self.dotted(), Some(w) if at_module(w) && w != "section");
            match tok {
                Tok::Punct('@' | '{' | '}' | ';') => break,
                _ if other => break,
                _ => self.pos += 1,
            }
        }
        if self.pos == from {
            return self.unexpected("a line of DWARF");
        }
        let text = text_of(&self.tokens[from..self.pos]);
        let span: Span = start.to(self.before());
        Ok(Directive { label: None, name, args: Vec::new(), text: Some(text), prototype: None, span })
    }
}

/// Where a known directive belongs.
fn belongs(name: &str) -> Option<&'static str> {
    let place = if MODULE.contains(&name) {
        Place::Module
    } else if FUNCTION.contains(&name) {
        Place::Function
    } else if BODY.contains(&name) {
        Place::Body
    } else if LABELLED.contains(&name) {
        Place::Labelled
    } else {
        return match name {
            "attribute" => Some("in a declaration"),
            "align" => Some("after the state space of a declaration"),
            _ => None,
        };
    };
    Some(place.phrase())
}

/// Tokens as one line of text that lexes to the same tokens.
pub(super) fn text_of(tokens: &[Token]) -> String {
    let mut out = String::new();
    for (i, t) in tokens.iter().enumerate() {
        let before = if i > 0 { Some(&tokens[i - 1].kind) } else { None };
        let tight = match (before, &t.kind) {
            (None, _) => true,
            (_, Tok::Punct(',' | ';' | ')' | ']' | ':')) | (Some(Tok::Punct('(' | '[' | ':' | '.' | '@')), _) => true,
            (Some(Tok::Punct(',')), _) => false,
            (Some(Tok::Punct('+' | '-')), _) | (_, Tok::Punct('.' | '(' | '[' | '+' | '-')) => t.glued,
            _ => false,
        };
        if !tight {
            out.push(' ');
        }
        match &t.kind {
            Tok::Word(w) | Tok::Number(w) => out.push_str(w),
            Tok::Str(s) => {
                out.push('"');
                out.push_str(s);
                out.push('"');
            }
            Tok::Punct(c) => out.push(*c),
        }
    }
    out
}
