//! The names that a text declares, their scopes and their uses.
//!
//! Declarations come from the syntax tree, uses from the tokens: so a name in a statement that does not parse is found too.

use ptx_dsl_frontend::ast::{Function, Instr, Item, Module, Stmt, VarDecl, Word};
use ptx_dsl_frontend::constant::Count;
use ptx_dsl_frontend::lex::Lexed;
use ptx_dsl_frontend::span::Span;
use ptx_dsl_frontend::token::{Tok, Token, is_at};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SymbolKind {
    /// A register, or a range of them: `%r<4>`.
    Register,
    /// A variable in memory.
    Variable,
    /// A parameter of a kernel or a function.
    Parameter,
    /// A kernel: `.entry`.
    Kernel,
    /// A function: `.func`.
    Function,
    /// A label.
    Label,
    /// A piece of `ptx!`: `.inline` or `.layout`.
    Piece,
}

/// A declared name.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Symbol {
    /// The name; `%r` of `%r<4>`.
    pub name: String,
    /// What it stands for.
    pub kind: SymbolKind,
    /// The declaration in one line, such as `.reg .b32 %r<4>`.
    pub declaration: String,
    /// The type with its dot, such as `.b32`; empty for labels and functions.
    pub ty: String,
    /// The bytes of the name where it is declared.
    pub at: Range<usize>,
    /// The bytes in which the name is known.
    pub scope: Range<usize>,
    /// How many registers a range has.
    pub registers: Option<u64>,
}

/// A use of a name, or its declaration.
#[derive(Debug, Clone)]
struct Occurrence {
    at: Range<usize>,
    symbol: usize,
}

/// The names of a text.
#[derive(Debug, Default)]
pub struct Names {
    symbols: Vec<Symbol>,
    by_name: HashMap<String, Vec<usize>>,
    occurrences: Vec<Occurrence>,
}

impl Names {
    /// The names of a text and of the modules that were made of it.
    pub(crate) fn new(text: &str, lexed: &Lexed, modules: &[&Module]) -> Names {
        let end = lexed.tokens.last().map_or(0, |token| lexed.bytes(token.span()).end);
        let pieces = pieces(lexed);
        let mut collector = Collector { text, lexed, pieces, names: Names::default(), words: HashSet::new() };
        collector.pieces(&(0..end));
        for item in modules.iter().flat_map(|module| &module.items) {
            match item {
                Item::Var(var) => collector.variables(var, &(0..end), SymbolKind::Variable),
                Item::Function(function) => collector.function(function, &(0..end)),
                Item::Directive(_) => {}
            }
        }
        let Collector { mut names, words, .. } = collector;
        let symbols = &names.symbols;
        for declared in names.by_name.values_mut() {
            declared.sort_by_key(|i| symbols[*i].scope.start);
        }
        names.find_uses(lexed, &words);
        names
    }

    /// All names, in the order of their declarations.
    pub fn all(&self) -> &[Symbol] {
        &self.symbols
    }

    /// The names that are known at a byte, the innermost of those with one name.
    pub fn known_at(&self, byte: usize) -> impl Iterator<Item = &Symbol> {
        let known = self.symbols.iter().enumerate().filter(move |(_, s)| s.scope.contains(&byte));
        known.filter(move |(i, s)| self.resolve_exactly(&s.name, byte) == Some(*i)).map(|(_, s)| s)
    }

    /// The name whose use or declaration is at a byte, with the bytes of the word there.
    pub fn at(&self, byte: usize) -> Option<(&Symbol, Range<usize>)> {
        let (symbol, at) = self.number_at(byte)?;
        Some((&self.symbols[symbol], at))
    }

    /// The uses of the name at a byte, its declaration among them.
    pub fn uses_of(&self, byte: usize) -> Vec<Range<usize>> {
        let Some((symbol, _)) = self.number_at(byte) else { return Vec::new() };
        self.occurrences.iter().filter(|o| o.symbol == symbol).map(|o| o.at.clone()).collect()
    }

    /// The edits that rename what is at a byte, or why it cannot be renamed.
    ///
    /// # Errors
    /// There is no name, the new name is none, it is taken, or the word is one register of a range.
    pub fn rename(&self, byte: usize, to: &str) -> Result<Vec<(Range<usize>, String)>, String> {
        let (number, _) = self.number_at(byte).ok_or("no name of this file is here")?;
        let symbol = &self.symbols[number];
        let is_name = |name: &str| {
            let rest = name.strip_prefix(['%', '$', '_']).unwrap_or(name);
            let first = rest.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || matches!(c, '_' | '$'));
            first && rest.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$'))
        };
        if !is_name(to) {
            return Err(format!("`{to}` is no name"));
        }
        let taken = |s: &Symbol| s.name == to && s.scope.start < symbol.scope.end && symbol.scope.start < s.scope.end;
        if self.symbols.iter().any(taken) {
            return Err(format!("`{to}` is declared already"));
        }
        let (old, range) = (symbol.name.len(), symbol.registers.is_some());
        if range && to.ends_with(|c: char| c.is_ascii_digit()) {
            return Err(format!("the registers of `{to}` would have ambiguous numbers"));
        }
        let uses = self.occurrences.iter().filter(|o| o.symbol == number);
        Ok(uses.map(|o| (o.at.start..o.at.start + old, to.to_owned())).collect())
    }

    /// Each use and declaration, in the order of the text.
    pub(crate) fn occurrences(&self) -> impl Iterator<Item = (&Symbol, &Range<usize>)> {
        self.occurrences.iter().map(|o| (&self.symbols[o.symbol], &o.at))
    }

    /// All occurrences, with the numbers of their names.
    pub(crate) fn numbered(&self) -> impl Iterator<Item = (usize, &Range<usize>)> {
        self.occurrences.iter().map(|o| (o.symbol, &o.at))
    }

    fn number_at(&self, byte: usize) -> Option<(usize, Range<usize>)> {
        let next = self.occurrences.partition_point(|o| o.at.end < byte);
        let found = self.occurrences[next..].iter().take(2).find(|o| o.at.start <= byte && byte <= o.at.end)?;
        Some((found.symbol, found.at.clone()))
    }

    /// The innermost declaration of exactly this name.
    fn resolve_exactly(&self, name: &str, byte: usize) -> Option<usize> {
        // many functions may declare the name: their scopes are in the order of the text, and an inner one begins later
        let declared = self.by_name.get(name)?;
        let before = declared.partition_point(|i| self.symbols[*i].scope.start <= byte);
        declared[..before].iter().rev().copied().find(|i| self.symbols[*i].scope.contains(&byte))
    }

    /// The declaration of a word: of the name itself, or of a range of registers that has it.
    pub(crate) fn resolve(&self, word: &str, byte: usize) -> Option<usize> {
        let exact = self.resolve_exactly(word, byte).filter(|i| self.symbols[*i].registers.is_none());
        exact.or_else(|| {
            let prefix = word.trim_end_matches(|c: char| c.is_ascii_digit());
            let number = word[prefix.len()..].parse::<u64>().ok()?;
            let of_range = self.resolve_exactly(prefix, byte)?;
            self.symbols[of_range].registers.filter(|n| number < *n).map(|_| of_range)
        })
    }

    /// Finds the uses among the tokens. `words`: the tokens that are no names, parts of opcodes.
    fn find_uses(&mut self, lexed: &Lexed, words: &HashSet<u32>) {
        for (i, token) in lexed.tokens.iter().enumerate() {
            let Tok::Word(word) = &token.kind else { continue };
            let dotted = i > 0 && (is_at(&lexed.tokens, i - 1, '.')) && token.glued && !word.starts_with('%');
            if dotted || words.contains(&token.id) {
                continue;
            }
            let at = lexed.bytes(token.span());
            let declared = declared_at(&self.symbols, &self.by_name, word, &at);
            // `%r{I}` is one of `%r<4>`
            let goes_on = lexed.tokens.get(i + 1).is_some_and(|next| next.is('{') && next.glued);
            let of_range = || self.resolve_exactly(word, at.start).filter(|_| goes_on);
            if let Some(symbol) = declared.or_else(|| self.resolve(word, at.start)).or_else(of_range) {
                self.occurrences.push(Occurrence { at, symbol });
            }
        }
    }
}

/// The declaration that stands at these bytes.
fn declared_at(
    symbols: &[Symbol],
    by_name: &HashMap<String, Vec<usize>>,
    word: &str,
    at: &Range<usize>,
) -> Option<usize> {
    by_name.get(word)?.iter().copied().find(|i| symbols[*i].at == *at)
}

/// A piece of `ptx!`.
struct Piece {
    /// The number of its name among the tokens.
    name: usize,
    /// The number of the parenthesis before its parameters.
    open: usize,
    /// The parameters and the body.
    scope: Range<usize>,
}

/// The pieces that the tokens define.
fn pieces(lexed: &Lexed) -> Vec<Piece> {
    let tokens = &lexed.tokens;
    let begins =
        |at: usize| tokens[at].is('.') && matches!(tokens.get(at + 1).and_then(Token::word), Some("inline" | "layout"));
    let of = |at: usize| {
        let open = (at + 2..tokens.len()).find(|i| tokens[*i].is('('))?;
        let body = (open..tokens.len()).find(|i| tokens[*i].is('{'))?;
        let mut depth = 0;
        let close = (body..tokens.len()).find(|i| {
            depth += i32::from(tokens[*i].is('{')) - i32::from(tokens[*i].is('}'));
            depth == 0
        })?;
        let scope = lexed.bytes(tokens[open].span()).start..lexed.bytes(tokens[close].span()).end;
        Some(Piece { name: at + 2, open, scope })
    };
    (0..tokens.len()).filter(|at| begins(*at)).filter_map(of).collect()
}

struct Collector<'t> {
    text: &'t str,
    lexed: &'t Lexed,
    pieces: Vec<Piece>,
    names: Names,
    /// Tokens of opcodes and directives.
    words: HashSet<u32>,
}

impl Collector<'_> {
    fn declare(&mut self, name: &Word, kind: SymbolKind, scope: &Range<usize>, of: (String, &str, Option<u64>)) {
        let (declaration, ty, registers) = of;
        let at = self.lexed.bytes(name.span);
        let written = self.text.get(at.clone()).unwrap_or("");
        // a repetition has made the name, or all of this one in each iteration
        let goes_on = {
            let next = self.lexed.tokens.partition_point(|token| self.lexed.bytes(token.span()).start < at.end);
            self.lexed
                .tokens
                .get(next)
                .is_some_and(|token| token.is('{') && self.lexed.bytes(token.span()).start == at.end)
        };
        if written.is_empty() || goes_on || !name.text.starts_with(written) {
            return;
        }
        if self.names.by_name.get(written).is_some_and(|all| all.iter().any(|i| self.names.symbols[*i].at == at)) {
            return;
        }
        let piece = self.pieces.iter().find(|piece| piece.scope.contains(&at.start));
        let scope = piece.map_or(scope, |piece| &piece.scope);
        let number = self.names.symbols.len();
        self.names.by_name.entry(written.to_owned()).or_default().push(number);
        self.names.symbols.push(Symbol {
            name: written.to_owned(),
            kind,
            declaration: declaration.replace(&name.text, written),
            ty: ty.to_owned(),
            at,
            scope: scope.clone(),
            registers,
        });
    }

    fn variables(&mut self, var: &VarDecl, scope: &Range<usize>, kind: SymbolKind) {
        let kind = if var.space.text == ".reg" { SymbolKind::Register } else { kind };
        for declarator in &var.names {
            let registers = declarator.range.map(|(count, _)| match count {
                Count::Known(n) => n,
                Count::Rust(_) => u64::MAX,
            });
            let vector = var.vector.map_or(String::new(), |(n, _)| format!(" .v{n}"));
            let count = match registers {
                Some(u64::MAX) => "<...>".to_owned(),
                Some(n) => format!("<{n}>"),
                None => declarator.dims.iter().map(|dim| format!("[{}]", dimension(dim.as_ref()))).collect(),
            };
            let align = match &var.align {
                Some((Count::Known(n), _)) => format!(" .align {n}"),
                _ => String::new(),
            };
            let pointer = var.ptr.as_ref().map_or(String::new(), |ptr| {
                ptr.space.as_ref().map_or(" .ptr".to_owned(), |space| format!(" .ptr {}", space.text))
            });
            let head = format!("{}{align}{vector} {}{pointer}", var.space.text, var.ty.text);
            let declaration = format!("{head} {}{count}", declarator.name.text);
            self.declare(&declarator.name, kind, scope, (declaration, &var.ty.text, registers));
        }
    }

    /// The names of pieces and of their parameters.
    fn pieces(&mut self, module: &Range<usize>) {
        let tokens = &self.lexed.tokens;
        let mut found = Vec::new();
        for piece in &self.pieces {
            let text = |from: usize, to: usize| {
                let bytes = self.lexed.bytes(tokens[from].span()).start..self.lexed.bytes(tokens[to].span()).end;
                let words = self.text.get(bytes).unwrap_or("").split_whitespace();
                words.collect::<Vec<_>>().join(" ").replace("( ", "(")
            };
            let mut depth = 0;
            let mut from = piece.open + 1;
            let close = (piece.open..tokens.len()).find(|i| {
                depth += i32::from(tokens[*i].is('(')) - i32::from(tokens[*i].is(')'));
                depth == 0
            });
            let Some(close) = close else { continue };
            found.push((piece.name, SymbolKind::Piece, module.clone(), text(piece.name - 2, close)));
            for at in piece.open + 1..=close {
                if !tokens[at].is(',') && at != close || from >= at {
                    continue;
                }
                // `.b32 x`, `const N: u32 = 4`, `.reg .f32 %d<N>`, `label done`
                let head =
                    (from..at).find(|i| tokens[*i].is(':') || tokens[*i].is('=') || tokens[*i].is('<')).unwrap_or(at);
                found.push((head - 1, SymbolKind::Parameter, piece.scope.clone(), text(from, at - 1)));
                from = at + 1;
            }
        }
        for (at, kind, scope, declaration) in found {
            let Some(name) =
                tokens.get(at).and_then(|token| Some(Word { text: token.word()?.to_owned(), span: token.span() }))
            else {
                continue;
            };
            self.declare(&name, kind, &scope, (declaration, "", None));
            // a parameter is known in its list too, and the name of a piece everywhere
            if let Some(symbol) = self.names.symbols.last_mut().filter(|symbol| symbol.name == name.text) {
                symbol.scope = scope;
            }
        }
    }

    fn function(&mut self, function: &Function, module: &Range<usize>) {
        let (kind, word) =
            if function.entry { (SymbolKind::Kernel, ".entry") } else { (SymbolKind::Function, ".func") };
        let of = |list: &[VarDecl]| {
            let one = |var: &VarDecl| {
                let names: Vec<&str> = var.names.iter().map(|d| d.name.text.as_str()).collect();
                format!("{} {} {}", var.space.text, var.ty.text, names.join(", "))
            };
            list.iter().map(one).collect::<Vec<_>>().join(", ")
        };
        let rets = if function.rets.is_empty() { String::new() } else { format!("({}) ", of(&function.rets)) };
        let declaration = format!("{word} {rets}{}({})", function.name.text, of(&function.params));
        self.declare(&function.name, kind, module, (declaration, "", None));
        let start = self.lexed.bytes(function.span).start;
        let end = match function.body {
            Some(_) => self.lexed.bytes(function.end).end,
            None => self.lexed.bytes(function.span).end,
        };
        let scope = start..end.max(start);
        for var in function.params.iter().chain(&function.rets) {
            self.variables(var, &scope, SymbolKind::Parameter);
        }
        self.body(function.body.as_deref().unwrap_or_default(), &scope);
    }

    fn body(&mut self, body: &[Stmt], scope: &Range<usize>) {
        for stmt in body {
            match stmt {
                Stmt::Var(var) => self.variables(var, scope, SymbolKind::Variable),
                Stmt::Label(label) if self.is_label(label) => {
                    self.declare(label, SymbolKind::Label, scope, (format!("{}:", label.text), "", None));
                }
                Stmt::Block(inner, span) => self.body(inner, &self.lexed.bytes(*span)),
                Stmt::Instr(instr) => self.opcode(instr),
                Stmt::Directive(directive) => {
                    if let Some(label) = &directive.label {
                        self.declare(label, SymbolKind::Label, scope, (format!("{}:", label.text), "", None));
                    }
                }
                // a file of PTX has no statements of `ptx!`
                Stmt::Label(_) | Stmt::Arguments(_) | Stmt::Form(_) => {}
            }
        }
    }

    /// Does a `:` follow? The parser takes a word alone, which may be half an opcode, for a label.
    fn is_label(&self, label: &Word) -> bool {
        let next = self.lexed.tokens.partition_point(|token| token.id <= label.span.last);
        is_at(&self.lexed.tokens, next, ':')
    }

    fn opcode(&mut self, instr: &Instr) {
        let tokens = |span: Span| span.first..=span.last;
        // the instructions of an expression have its tokens
        let is_written = |part: &&Word| self.text.get(self.lexed.bytes(part.span)) == Some(part.text.as_str());
        self.words.extend(instr.parts.iter().filter(is_written).flat_map(|part| tokens(part.span)));
    }
}

fn dimension(dim: Option<&Count>) -> String {
    match dim {
        Some(Count::Known(n)) => n.to_string(),
        Some(Count::Rust(_)) => "...".to_owned(),
        None => String::new(),
    }
}
