//! The names that a text declares, their scopes and their uses.
//!
//! Declarations come from the syntax tree, uses from the tokens: so a name in a statement that does not parse is found too.

use ptx_dsl_frontend::ast::{Function, Instr, Item, Module, Stmt, VarDecl, Word};
use ptx_dsl_frontend::constant::Count;
use ptx_dsl_frontend::lex::Lexed;
use ptx_dsl_frontend::span::Span;
use ptx_dsl_frontend::token::{Tok, is_at};
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
    pub(crate) fn new(lexed: &Lexed, ast: &Module) -> Names {
        let mut collector = Collector { lexed, names: Names::default(), words: HashSet::new() };
        let end = lexed.ranges.last().map_or(0, |range| range.end);
        for item in &ast.items {
            match item {
                Item::Var(var) => collector.variables(var, &(0..end), SymbolKind::Variable),
                Item::Function(function) => collector.function(function, &(0..end)),
                Item::Directive(_) => {}
            }
        }
        let Collector { mut names, words, .. } = collector;
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

    fn number_at(&self, byte: usize) -> Option<(usize, Range<usize>)> {
        let next = self.occurrences.partition_point(|o| o.at.end < byte);
        let found = self.occurrences[next..].iter().take(2).find(|o| o.at.start <= byte && byte <= o.at.end)?;
        Some((found.symbol, found.at.clone()))
    }

    /// The innermost declaration of exactly this name.
    fn resolve_exactly(&self, name: &str, byte: usize) -> Option<usize> {
        let declared = self.by_name.get(name)?.iter().copied();
        declared.filter(|i| self.symbols[*i].scope.contains(&byte)).max_by_key(|i| self.symbols[*i].scope.start)
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
            if let Some(symbol) = declared.or_else(|| self.resolve(word, at.start)) {
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

struct Collector<'t> {
    lexed: &'t Lexed,
    names: Names,
    /// Tokens of opcodes and directives.
    words: HashSet<u32>,
}

impl Collector<'_> {
    fn declare(&mut self, name: &Word, kind: SymbolKind, scope: &Range<usize>, of: (String, &str, Option<u64>)) {
        let (declaration, ty, registers) = of;
        let at = self.lexed.bytes(name.span);
        // a repetition has made the name
        if at.is_empty() {
            return;
        }
        let number = self.names.symbols.len();
        self.names.by_name.entry(name.text.clone()).or_default().push(number);
        self.names.symbols.push(Symbol {
            name: name.text.clone(),
            kind,
            declaration,
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
                Stmt::Label(label) => {
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
                Stmt::Arguments(_) | Stmt::Form(_) => {}
            }
        }
    }

    fn opcode(&mut self, instr: &Instr) {
        let tokens = |span: Span| span.first..=span.last;
        self.words.extend(instr.parts.iter().flat_map(|part| tokens(part.span)));
    }
}

fn dimension(dim: Option<&Count>) -> String {
    match dim {
        Some(Count::Known(n)) => n.to_string(),
        Some(Count::Rust(_)) => "...".to_owned(),
        None => String::new(),
    }
}
