//! The parser: turns tokens into the AST (PTX ISA 4 to 7 and 11). It knows no instruction names: the checker decides whether
//! opcodes, qualifiers and operands are legal.
//!
//! All errors of a module are reported. A broken statement is skipped to its `;` or to the `}` that ends its block, so it
//! causes one report only.

use crate::ast::{Module, Word};
use crate::diag::Diagnostic;
use crate::lower;
use crate::span::Span;
use crate::token::{Tok, Token};

mod arguments;
mod builders;
mod c;
pub(crate) mod constant;
mod control;
mod decl;
mod directive;
pub mod errors;
mod expr;
mod fold;
pub mod foreign;
mod header;
mod layouts;
mod module;
pub mod near;
mod operand;
mod regions;
pub mod repeat;
mod stmt;
#[cfg(test)]
mod tests;

pub use constant::{Scope, unknown_value};
pub(crate) use expr::precedence;
pub use fold::{Const, fold};
pub use header::{FileOptions, Header, HostCode, parse_file_options, parse_header};
pub(crate) use layouts::AT;
pub use layouts::NamedLayout;
pub(crate) use module::SPACES;
pub use near::nearest;
pub(crate) use stmt::SUFFIX;

/// Nesting limit of blocks, parentheses and operands: the parser and everything after it recurse over the tree.
const MAX_DEPTH: u32 = 64;
/// Limit of operators in one expression, for the same reason: `1+1+1+...` is a tree as deep as it is long.
const MAX_OPERATORS: u32 = 256;

/// Parses a module, with an optional header `<sm_NN, ptx M.m>`. Broken items and statements are left out.
pub fn parse(tokens: &[Token]) -> (Module, Vec<Diagnostic>) {
    let (header, used, diags) = parse_header(tokens);
    let mut parser = Parser::new(tokens, used);
    parser.diags = diags;
    let mut module = Module { broken_header: !parser.diags.is_empty(), ..Module::default() };
    if let Some(mut header) = header {
        parser.in_rust = true;
        parser.scope = std::mem::take(&mut header.scope);
        header.apply(&mut module);
    }
    parser.module(&mut module);
    module.instrs = parser.instrs;
    module.constants = parser.scope.constants;
    module.regions = parser.regions;
    let mut diags = parser.diags;
    if parser.has_forms {
        lower::lower(&mut module, &mut diags);
    }
    (module, diags)
}

/// Is it nothing but digits, or nothing?
pub(crate) fn all_digits(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit())
}

/// A diagnostic was pushed; the construct is abandoned.
#[derive(Debug)]
struct Stop;

type Res<T> = Result<T, Stop>;

struct Parser<'a> {
    tokens: &'a [Token],
    pos: usize,
    diags: Vec<Diagnostic>,
    /// Instructions so far.
    instrs: u32,
    /// Nesting depth of the current construct.
    depth: u32,
    /// Operators of the current expression.
    operators: u32,
    /// Open parentheses around it.
    parentheses: u32,
    /// Rust constants.
    scope: constant::Scope,
    /// The module has the header of `ptx!`: directives take expressions, of which the text has the value.
    in_rust: bool,
    /// Registers can stand wherever constants can: the value of an assignment, a condition, an address in `ptx!`.
    with_registers: bool,
    /// There is a statement or an address that `crate::lower` writes as instructions.
    has_forms: bool,
    /// The variables in shared memory so far, with their alignments.
    aligns: Vec<(String, u64)>,
    /// The regions of variables so far.
    regions: Vec<ptx_dsl_isa::hir::NamedRegion>,
    /// In an initialiser, where `0xFF(x)` and `generic(x)` are values.
    initialiser: bool,
    /// A missing `}` was reported: all open blocks end here silently.
    unwinding: bool,
    /// The `.version` directive, and whether `.target` preceded it.
    version_seen: Option<Span>,
    target_seen: bool,
}

impl<'a> Parser<'a> {
    fn new(tokens: &'a [Token], pos: usize) -> Self {
        Parser {
            tokens,
            pos,
            diags: Vec::new(),
            instrs: 0,
            depth: 0,
            operators: 0,
            parentheses: 0,
            scope: constant::Scope::default(),
            in_rust: false,
            with_registers: false,
            has_forms: false,
            aligns: Vec::new(),
            regions: Vec::new(),
            initialiser: false,
            unwinding: false,
            version_seen: None,
            target_seen: false,
        }
    }

    // Looking.

    fn peek(&self) -> Option<&'a Tok> {
        self.peek_at(0)
    }

    fn peek_at(&self, n: usize) -> Option<&'a Tok> {
        Some(&self.tokens.get(self.pos + n)?.kind)
    }

    fn glued_at(&self, n: usize) -> bool {
        matches!(self.tokens.get(self.pos + n), Some(t) if t.glued)
    }

    fn is(&self, c: char) -> bool {
        self.is_at(0, c)
    }

    fn is_at(&self, n: usize, c: char) -> bool {
        matches!(self.peek_at(n), Some(Tok::Punct(p)) if *p == c)
    }

    fn word_at(&self, n: usize) -> Option<&'a str> {
        match self.peek_at(n) {
            Some(Tok::Word(w)) => Some(w),
            _ => None,
        }
    }

    /// `::`, which is two tokens.
    fn is_path(&self, n: usize) -> bool {
        self.is_at(n, ':') && self.is_at(n + 1, ':') && self.glued_at(n + 1)
    }

    /// The name of the directive or qualifier here, without its dot.
    fn dotted(&self) -> Option<&'a str> {
        if self.is('.') { self.word_at(1) } else { None }
    }

    /// The current token, or the last one at the end of input.
    fn here(&self) -> Span {
        match self.tokens.get(self.pos).or(self.tokens.last()) {
            Some(t) => t.span(),
            None => Span::default(),
        }
    }

    /// The same for a message: a dot is shown with the name after it.
    fn there(&self) -> Span {
        if self.dotted().is_some() { self.here().to(self.tokens[self.pos + 1].span()) } else { self.here() }
    }

    /// The token before the current one.
    fn before(&self) -> Span {
        match self.tokens.get(..self.pos) {
            Some([.., t]) => t.span(),
            _ => self.here(),
        }
    }

    /// The current token, for a message.
    fn found(&self) -> String {
        match self.peek() {
            None => errors::END.to_string(),
            Some(Tok::Word(w)) => format!("`{w}`"),
            Some(Tok::Number(n)) => format!("`{n}`"),
            Some(Tok::Str(_)) => "a string".to_string(),
            Some(Tok::Punct('.')) => match self.peek_at(1) {
                Some(Tok::Word(w) | Tok::Number(w)) => format!("`.{w}`"),
                _ => "`.`".to_string(),
            },
            Some(Tok::Punct(c)) => format!("`{c}`"),
        }
    }

    // Taking.

    fn bump(&mut self) -> Span {
        let span = self.here();
        self.pos += usize::from(self.pos < self.tokens.len());
        span
    }

    fn eat(&mut self, c: char) -> bool {
        let yes = self.is(c);
        self.pos += usize::from(yes);
        yes
    }

    fn expect(&mut self, c: char) -> Res<Span> {
        if self.is(c) { Ok(self.bump()) } else { self.unexpected(&format!("`{c}`")) }
    }

    /// Expects `;` after `what`. A missing one is reported after the previous token.
    fn semicolon(&mut self) -> Res<()> {
        if self.eat(';') {
            return Ok(());
        }
        if self.peek().is_none() || self.is('}') || self.at_statement() {
            self.missing_semicolon();
            return Ok(());
        }
        self.unexpected("`;`")
    }

    fn missing_semicolon(&mut self) {
        let span = self.before();
        let after = match &self.tokens[..self.pos] {
            [.., Token { kind: Tok::Word(w) | Tok::Number(w), .. }] => format!("`{w}`"),
            [.., Token { kind: Tok::Punct(c), .. }] => format!("`{c}`"),
            _ => "this".to_string(),
        };
        self.report(errors::missing_semicolon(span, &after));
    }

    /// Checks a string: Rust's lexer reads escapes, PTX has none; neither refuses non-ASCII characters.
    fn string(&mut self, what: &str) -> Res<Word> {
        let Some(Tok::Str(text)) = self.peek() else { return self.unexpected(what) };
        for c in text.chars() {
            if !c.is_ascii() || c == '"' {
                let span = self.here();
                return self.fail(errors::character_in_string(span, c));
            }
        }
        Ok(Word { text: text.clone(), span: self.bump() })
    }

    fn name(&mut self, what: &str) -> Res<Word> {
        match self.peek() {
            Some(Tok::Word(text)) => Ok(Word { text: text.clone(), span: self.bump() }),
            _ => self.unexpected(what),
        }
    }

    /// `.name` as one word, with the dot.
    fn dot_word(&mut self) -> Res<Word> {
        let dot = self.here();
        match self.dotted() {
            Some(name) => {
                self.pos += 2;
                Ok(Word { text: format!(".{name}"), span: dot.to(self.before()) })
            }
            None => self.unexpected("a directive"),
        }
    }

    // Reporting.

    fn report(&mut self, d: Diagnostic) {
        self.diags.push(d);
    }

    fn fail<T>(&mut self, d: Diagnostic) -> Res<T> {
        self.report(d);
        Err(Stop)
    }

    fn unexpected<T>(&mut self, what: &str) -> Res<T> {
        self.report_unexpected(what);
        Err(Stop)
    }

    fn report_unexpected(&mut self, what: &str) {
        let (span, found) = (self.there(), self.found());
        self.report(errors::expected(span, what, &found));
    }

    /// Parses one level deeper, or gives up if that is too deep. The depth is restored whatever was found.
    fn down(&mut self) -> Res<()> {
        if self.depth >= MAX_DEPTH {
            let span = self.here();
            return self.fail(errors::too_deep(span));
        }
        self.depth += 1;
        Ok(())
    }

    fn up(&mut self) {
        self.depth -= 1;
    }

    // Recovering.

    /// Skips the rest of the statement that began at `start`: past its `;`, or up to the `}` that closes its block.
    fn skip_statement(&mut self, start: usize) {
        let mut open = 0u32;
        let end = self.pos;
        self.pos = start;
        while let Some(tok) = self.peek() {
            match tok {
                Tok::Punct(';') if self.pos >= end => {
                    self.pos += 1;
                    return;
                }
                Tok::Punct('{') => open += 1,
                Tok::Punct('}') => {
                    if open == 0 && self.pos >= end {
                        return;
                    }
                    open = open.saturating_sub(1);
                }
                // A missing `;` or brace must not swallow what follows.
                Tok::Punct('.') if self.pos > end && !self.glued_at(0) && self.starts_function() => return,
                Tok::Punct('@') if self.pos > end => return,
                Tok::Word(_) if self.pos > end && !self.glued_at(0) && self.at_opcode() => return,
                _ => {}
            }
            self.pos += 1;
        }
    }

    /// Skips to `close` of an open list, or to a `,` if `comma`; stops before `;`, `{` and `}`.
    fn skip_in_list(&mut self, close: char, comma: bool) {
        let mut open = 0u32;
        while let Some(tok) = self.peek() {
            let c = if let Tok::Punct(c) = tok { *c } else { ' ' };
            match c {
                ';' | '{' | '}' => return,
                c if open == 0 && (c == close || comma && c == ',') => return,
                '(' | '[' => open += 1,
                ')' | ']' => open = open.saturating_sub(1),
                _ => {}
            }
            self.pos += 1;
        }
    }
}
