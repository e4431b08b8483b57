//! Parses statements of a body (PTX ISA 4.3): declarations, labels, instructions, blocks, directives.

use super::arguments::ARGUMENTS;
use super::directive::Place;
use super::module::{LINKAGE, SPACES};
use super::operand::is_selector;
use super::{MAX_DEPTH, Parser, Res, all_digits, c, errors};
use crate::ast::{Instr, OperandKind, Pred, Stmt, Word};
use crate::span::Span;
use crate::token::Tok;

/// The one qualifier that follows an address instead of the opcode.
pub(crate) const SUFFIX: &str = "unified";

/// Instructions of one word.
const ALONE: [&str; 4] = ["ret", "exit", "trap", "brkpt"];

impl Parser<'_> {
    /// Statements up to the `}` that closes the body, after its `{`.
    pub(super) fn body(&mut self, open: Span) -> Vec<Stmt> {
        let constants = self.scope.open();
        let out = self.statements(open);
        self.scope.close(constants);
        out
    }

    fn statements(&mut self, open: Span) -> Vec<Stmt> {
        let mut out = Vec::new();
        loop {
            if self.unwinding {
                return out;
            }
            if self.peek().is_none() || self.is('.') && self.starts_function() {
                self.unwinding = true;
                self.report(errors::unclosed(open, '{'));
                return out;
            }
            if self.eat('}') {
                return out;
            }
            let before = self.pos;
            self.statement(&mut out);
            if self.pos == before && !self.unwinding {
                self.pos += 1;
            }
        }
    }

    /// One statement; a broken one is reported and skipped.
    pub(super) fn statement(&mut self, out: &mut Vec<Stmt>) {
        let start = self.pos;
        if self.statement_inner(out).is_err() {
            self.skip_statement(start);
        }
    }

    fn statement_inner(&mut self, out: &mut Vec<Stmt>) -> Res<()> {
        let start = self.here();
        match self.peek() {
            Some(Tok::Punct('{')) => {
                if self.depth >= MAX_DEPTH {
                    self.report(errors::too_deep(start));
                    self.skip_braces();
                    return Ok(());
                }
                let open = self.bump();
                self.depth += 1;
                let body = self.body(open);
                self.depth -= 1;
                out.push(Stmt::Block(body, start.to(self.before())));
            }
            Some(Tok::Punct('@')) if self.guards_block() => {
                self.guard()?;
                // The block is read as it is.
                self.report(errors::guarded_block(start.to(self.before())));
            }
            Some(Tok::Punct('.')) => match self.dotted() {
                Some(_) if self.at_regions() => self.regions(),
                Some(_) if self.at_tiles() => {
                    let var = self.tiles()?;
                    self.note_alignment(&var);
                    out.push(Stmt::Var(var));
                }
                Some(_) if self.begins_declaration() => {
                    let var = self.variable(Vec::new(), start)?;
                    self.note_alignment(&var);
                    out.push(Stmt::Var(var));
                }
                Some(name) if LINKAGE.contains(&name) => {
                    let span = self.there();
                    let d = errors::misplaced_directive(span, name, "inside a function", "at module scope");
                    return self.fail(d);
                }
                Some(name) => out.push(Stmt::Directive(self.directive(name, Place::Body)?)),
                None => return self.unexpected("a statement"),
            },
            Some(Tok::Word(_)) if self.at_assertion() => self.assertion()?,
            Some(Tok::Word(_)) if self.at_layout() => drop(self.layout()?),
            Some(Tok::Word(_)) if self.at_constant() => {
                self.constant_declaration()?;
                self.semicolon()?;
            }
            Some(Tok::Word(_)) if self.at_form() => self.form(out)?,
            Some(Tok::Word(word)) if word == ARGUMENTS => out.push(Stmt::Arguments(self.piece_arguments()?)),
            Some(Tok::Word(_)) if self.is_at(1, ':') && !self.is_path(1) => {
                self.no_sink()?;
                let label = self.name("a label")?;
                self.bump();
                match self.dotted() {
                    Some(name @ ("branchtargets" | "calltargets" | "callprototype")) => {
                        let mut d = self.directive(name, Place::Labelled)?;
                        d.span = label.span.to(d.span);
                        d.label = Some(label);
                        out.push(Stmt::Directive(d));
                    }
                    _ => out.push(Stmt::Label(label)),
                }
            }
            Some(Tok::Word(word)) if c::KEYWORDS.contains(&word.as_str()) => {
                // What stands after it is read as it is.
                let d = self.keyword_of_c();
                self.report(d);
                self.eat(';');
            }
            Some(Tok::Word(_) | Tok::Punct('@')) => {
                if let Some(d) = self.statement_of_c() {
                    return self.fail(d);
                }
                let before = self.diags.len();
                let mut instr = self.instr()?;
                // Without operands and without `;` it was not finished: what is missing is said once.
                if self.diags.len() > before && instr.operands.is_empty() {
                    if let [word] = instr.parts.as_slice()
                        && instr.pred.is_none()
                        && !ALONE.contains(&word.text.as_str())
                    {
                        self.diags.truncate(before);
                        self.report(errors::label_without_colon(word.span, &word.text));
                        out.push(Stmt::Label(word.clone()));
                    }
                    return Ok(());
                }
                instr.index = self.instrs;
                self.instrs += 1;
                out.push(Stmt::Instr(instr));
            }
            Some(Tok::Punct('#')) => return self.rust_attribute(true),
            _ => return self.unexpected("a statement"),
        }
        Ok(())
    }

    /// `@p {`
    fn guards_block(&self) -> bool {
        self.is_at(2, '{') || self.is_at(1, '!') && self.is_at(3, '{')
    }

    /// `@p`, `@!p`
    fn guard(&mut self) -> Res<Option<Pred>> {
        if !self.eat('@') {
            return Ok(None);
        }
        let negated = self.eat('!');
        Ok(Some(Pred { negated, reg: self.name("a predicate")? }))
    }

    fn instr(&mut self) -> Res<Instr> {
        let pred = self.guard()?;
        let start = self.here();
        match self.word_at(0) {
            // `%p bra L`
            Some(word) if word.starts_with('%') && pred.is_none() && self.word_at(1).is_some() => {
                return self.fail(errors::guard_without_sign(start, word));
            }
            Some(word) if !word.starts_with('%') => {}
            _ => return self.unexpected("an instruction"),
        }
        let mut parts = vec![self.part()?];
        while self.eat('.') {
            parts.push(self.part()?);
        }
        if let Some(word) = parts.iter().find(|p| p.text == SUFFIX) {
            let d = errors::expected(word.span, "a qualifier", "`.unified`");
            return self.fail(d.help("move it after the address (PTX ISA 9.7.9.8)"));
        }
        let call = parts[0].text == "call";
        if self.is(',') {
            let dot = parts.len() == 1 && self.glued_at(0) && self.glued_at(1) && self.word_at(1).is_some();
            return self.fail(errors::comma_behind_opcode(self.there(), dot));
        }
        let mut operands = Vec::new();
        if !self.is(';') && !self.is('}') && self.peek().is_some() && !self.at_spelled_statement() {
            loop {
                let operand = self.outer_operand(call)?;
                let place = matches!(operand.kind, OperandKind::Address(_) | OperandKind::Index(..));
                operands.push(operand);
                if place && self.is('.') && self.word_at(1) == Some(SUFFIX) {
                    self.bump();
                    parts.push(self.part()?);
                }
                if !self.eat(',') {
                    break;
                }
            }
        }
        let span = start.to(self.before());
        if !self.is(';') && self.peek().is_some() && !self.is('}') && !self.at_statement() {
            return self.unexpected("`,` or `;`");
        }
        self.semicolon()?;
        Ok(Instr { index: 0, pred, parts, operands, span })
    }

    /// A piece of the opcode: `ld`, `128x256b`, `mbarrier::complete_tx::bytes`.
    fn part(&mut self) -> Res<Word> {
        let mut word = Word { text: String::new(), span: self.here() };
        self.piece("", &mut word)?;
        while self.is_path(0) {
            self.pos += 2;
            self.piece("::", &mut word)?;
        }
        // `.sp::2:4` and its like are the only qualifiers with a single colon in them.
        if word.text.starts_with("sp::") && all_digits(&word.text[4..]) && self.eat(':') {
            self.piece(":", &mut word)?;
        }
        Ok(word)
    }

    /// One more piece of a word, after the separator.
    fn piece(&mut self, joint: &str, word: &mut Word) -> Res<()> {
        let Some(Tok::Word(text) | Tok::Number(text)) = self.peek() else { return self.unexpected("a qualifier") };
        // `mov. %r1, %r2`
        if text.starts_with('%') && self.pos > 0 && matches!(self.tokens[self.pos - 1].kind, Tok::Punct('.')) {
            return self.unexpected("a qualifier");
        }
        word.text.push_str(joint);
        word.text.push_str(text);
        word.span = word.span.to(self.bump());
        Ok(())
    }

    /// Does this look like the beginning of a statement? Then a `;` is missing before it.
    pub(super) fn at_statement(&self) -> bool {
        self.at_spelled_statement()
            || matches!(self.word_at(0), Some("ret" | "exit" | "trap" | "bra" | "call" | "brkpt"))
    }

    /// The same for tokens that cannot be an operand; `exit` may be the name of a label.
    fn at_spelled_statement(&self) -> bool {
        match self.peek() {
            Some(Tok::Punct('@')) => true,
            Some(Tok::Punct('.')) => {
                let name = self.dotted().unwrap_or_default();
                !self.glued_at(0) && (SPACES.contains(&name) || matches!(name, "loc" | "pragma"))
            }
            Some(Tok::Word(w)) if matches!(w.as_bytes(), [b'%' | b'_', ..]) => false,
            Some(Tok::Word(_)) if self.is_at(1, ':') && !self.is_path(1) => true,
            Some(Tok::Word(_)) => self.at_opcode(),
            _ => false,
        }
    }

    /// A name followed by a qualifier: a dot and a word of more than one letter is not a component of a register.
    pub(super) fn at_opcode(&self) -> bool {
        let (Some(word), Some(behind)) = (self.word_at(0), self.word_at(2)) else { return false };
        // `mov.b32 %r, 1`; after the part of a register, `d.b32`, no operand follows.
        let operand = self.word_at(3).is_some() || self.is_at(3, '[') || self.is_at(3, '{');
        !matches!(word.as_bytes(), [b'%' | b'$' | b'_', ..])
            && self.is_at(1, '.')
            && self.glued_at(1)
            && behind.len() > 1
            && (!is_selector(behind) || operand)
    }
}
