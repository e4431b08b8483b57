//! What an editor that knows only names is told about a text: for each token the list of what may be written there, and what hover
//! shows. `ptx!` makes items of it for rust-analyzer.
//!
//! The list at a token follows from the tokens before it and from the declarations, so it stays while the token is being written.

use crate::Document;
use crate::completion::{CompletionKind, after_pieces, wanted};
use crate::hover::{PieceKey, Pieces, of_symbol, of_word};
use crate::names::{Symbol, SymbolKind};
use crate::statement::Statement;
use crate::table::needs;
use ptx_dsl_frontend::isa::Role;
use ptx_dsl_frontend::isa::directive::DIRECTIVES;
use ptx_dsl_frontend::isa::sreg::SREGS;
use ptx_dsl_frontend::token::{Tok, Token};
use ptx_dsl_frontend::ty::Ty;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

/// All that is known of the tokens of a text.
#[derive(Debug, Default)]
pub struct Marks {
    /// By token, and one more for the end of the text.
    pub tokens: Vec<Mark>,
    /// What may be written at tokens.
    pub lists: Vec<List>,
    /// The declared names: those of a scope that are of one sort.
    pub groups: Vec<Vec<Declared>>,
    /// What hover shows of words that are not declared: Markdown.
    pub texts: Vec<String>,
}

/// What is known of a token.
#[derive(Debug, Default, Clone, Copy)]
pub struct Mark {
    /// Is it at the place of an opcode or in one? This follows from the tokens before it.
    pub in_opcode: bool,
    /// The number of the list of what may be written there.
    pub list: Option<usize>,
    /// The number of the text about the token.
    pub text: Option<usize>,
}

/// What may be written at a token.
#[derive(Debug, PartialEq, Eq, Hash)]
pub enum List {
    /// These words, each with a few words about it.
    Words(Vec<(String, String)>),
    /// The names of these groups.
    Groups(Vec<usize>),
    /// The names of these groups, and these words.
    GroupsAndWords(Vec<usize>, Vec<(String, String)>),
}

/// A declared name.
#[derive(Debug)]
pub struct Declared {
    /// The name without its `%` or `$`.
    pub name: String,
    /// The type without its dot; a word for what has none.
    pub ty: String,
    /// The number of the token that declares it.
    pub token: usize,
    /// Is it one of a range, such as `%r1` of `%r<4>`, or a name that is not one word of Rust?
    pub is_derived: bool,
    /// Is it called as a function: a piece?
    pub is_piece: bool,
    /// Is it known in the whole module?
    pub is_global: bool,
    /// What hover shows: Markdown.
    pub text: String,
}

/// What may be written at a place. It follows from the tokens before.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Place {
    /// An opcode or a qualifier after these pieces, the last of which may be half-written with `::`.
    Opcode(Vec<String>),
    Directive,
    Type,
    /// The part of a special register after its dot.
    Component(String),
    Operand {
        /// The bits of registers that fit, 1 for predicates; any if it is empty.
        bits: BTreeSet<u32>,
        is_target: bool,
        is_address: bool,
        is_special: bool,
    },
    Nothing,
}

/// The sort of a name: its first character, and what registers of it hold.
type Sort = (Sigil, Holds);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Sigil {
    None,
    Percent,
    Dollar,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Holds {
    /// Registers of this many bits, 1 for predicates.
    Bits(u32),
    Memory,
    Label,
    Function,
    Piece,
}

fn sigil(name: &str) -> Sigil {
    match name.as_bytes().first() {
        Some(b'%') => Sigil::Percent,
        Some(b'$') => Sigil::Dollar,
        _ => Sigil::None,
    }
}

fn bare(name: &str) -> &str {
    name.strip_prefix(['%', '$']).unwrap_or(name)
}

fn bits(ty: Ty) -> u32 {
    if ty == Ty::Pred { 1 } else { ty.bits() }
}

fn sort(symbol: &Symbol) -> Sort {
    let holds = match symbol.kind {
        SymbolKind::Register => Holds::Bits(Ty::from_name(symbol.ty.trim_start_matches('.')).map_or(0, bits)),
        SymbolKind::Variable | SymbolKind::Parameter => Holds::Memory,
        SymbolKind::Label => Holds::Label,
        SymbolKind::Function | SymbolKind::Kernel => Holds::Function,
        SymbolKind::Piece => Holds::Piece,
    };
    (sigil(&symbol.name), holds)
}

/// How many registers of a range are offered that are not used.
const OFFERED: u64 = 16;

/// Reads the marks of a text.
pub fn marks(document: &Document) -> Marks {
    let mut reader = Reader::new(document);
    let count = document.tokens().len();
    let pieces = Pieces::new(document);
    for token in 0..=count {
        let mark = reader.mark(token, &pieces);
        reader.out.tokens.push(mark);
    }
    reader.declare();
    reader.out
}

/// Is a word here, or may one be written before this token? This follows from the token alone.
pub fn is_place(token: &Token) -> bool {
    match token.kind {
        Tok::Word(_) | Tok::Number(_) => true,
        Tok::Punct('.') => !token.glued,
        Tok::Punct(c) => matches!(c, ',' | ';' | ']' | ')' | '}' | '@' | '%' | '$'),
        Tok::Str(_) => false,
    }
}

struct Reader<'d> {
    document: &'d Document,
    out: Marks,
    /// By place, the innermost scope and the sigil.
    lists: HashMap<(Place, Option<usize>, Sigil), Option<usize>>,
    texts: HashMap<String, usize>,
    /// By what they say: the operands of opcodes.
    places: HashMap<(Vec<String>, usize, bool), Place>,
    /// The scopes, the outer ones first.
    scopes: Vec<Range<usize>>,
    groups: BTreeMap<(usize, Sort), usize>,
    /// By the first byte of an occurrence: the symbol.
    uses: HashMap<usize, usize>,
    counts: Vec<usize>,
    members: BTreeMap<usize, BTreeSet<u64>>,
    of_parts: HashMap<PieceKey, Option<usize>>,
}

impl<'d> Reader<'d> {
    fn new(document: &'d Document) -> Reader<'d> {
        let names = document.names();
        let (mut uses, mut counts, mut members) = (HashMap::new(), vec![0; names.all().len()], BTreeMap::new());
        for (number, at) in names.numbered() {
            uses.insert(at.start, number);
            counts[number] += 1;
            let symbol = &names.all()[number];
            let member = document.at(at.clone()).strip_prefix(symbol.name.as_str()).and_then(|n| n.parse().ok());
            if let (Some(_), Some(n)) = (symbol.registers, member) {
                members.entry(number).or_insert_with(BTreeSet::new).insert(n);
            }
        }
        let mut scopes: Vec<Range<usize>> = Vec::new();
        for symbol in names.all() {
            if !scopes.contains(&symbol.scope) {
                scopes.push(symbol.scope.clone());
            }
        }
        scopes.sort_by_key(|scope| (scope.start, usize::MAX - scope.end));
        let mut groups = BTreeMap::new();
        for symbol in names.all() {
            let scope = scopes.iter().position(|scope| *scope == symbol.scope).unwrap_or_default();
            let next = groups.len();
            groups.entry((scope, sort(symbol))).or_insert(next);
        }
        Reader {
            document,
            out: Marks::default(),
            lists: HashMap::new(),
            texts: HashMap::new(),
            places: HashMap::new(),
            scopes,
            groups,
            uses,
            counts,
            members,
            of_parts: HashMap::new(),
        }
    }

    fn mark(&mut self, number: usize, pieces: &Pieces<'d>) -> Mark {
        let tokens = self.document.tokens();
        if tokens.get(number).is_some_and(|token| !is_place(token)) {
            return Mark::default();
        }
        let statement = Statement::before_token(self.document, number);
        // behind an operand nothing is missing
        let is_mark =
            tokens.get(number).is_some_and(|token| matches!(token.kind, Tok::Punct(c) if !matches!(c, '%' | '$')));
        let ends_operand = |token: &Token| match token.kind {
            Tok::Punct(c) => matches!(c, ']' | ')' | '}'),
            _ => true,
        };
        let is_behind = number > 0 && ends_operand(&tokens[number - 1]) && !statement.is_in_opcode();
        if is_mark && is_behind {
            return Mark::default();
        }
        let place = self.place(number, &statement);
        let in_opcode = matches!(place, Place::Opcode(_));
        let token = tokens.get(number);
        let byte = token.map_or(self.document.text().len(), |token| self.document.range(token).start);
        let scope = self.scopes.iter().rposition(|scope| scope.contains(&byte) || scope.end == byte);
        let word = token.and_then(Token::word);
        let sign = match token.map(|token| &token.kind) {
            Some(Tok::Punct('%')) => Sigil::Percent,
            Some(Tok::Punct('$')) => Sigil::Dollar,
            _ => word.map_or(Sigil::None, sigil),
        };
        let Some(token) = token else {
            return Mark { in_opcode, list: self.list(place, scope, sign), text: None };
        };
        if let Some(&symbol) = self.uses.get(&byte) {
            let symbol = &self.document.names().all()[symbol];
            if symbol.at.start == byte {
                // the item itself has the span of the declaration; a range has no item of its own
                let text = symbol.registers.map(|_| self.symbol_text(symbol, byte));
                return Mark { in_opcode, list: None, text };
            }
            let scope_of_symbol = self.scopes.iter().position(|scope| *scope == symbol.scope).unwrap_or_default();
            let group = self.groups.get(&(scope_of_symbol, sort(symbol))).copied();
            let list = self.list(place.clone(), scope, sign);
            let has = |list: &List| match list {
                List::Groups(groups) | List::GroupsAndWords(groups, _) => group.is_some_and(|g| groups.contains(&g)),
                List::Words(_) => false,
            };
            let list = match list {
                Some(list) if has(&self.out.lists[list]) => Some(list),
                list if symbol.kind == SymbolKind::Piece => group.map(|group| self.group_list(group)).or(list),
                list if in_opcode => list,
                _ => self.list(Place::anything(), scope, sign),
            };
            // `%r{I}`: no item is called so
            let is_range = symbol.registers.is_some() && self.document.range(token).len() == symbol.name.len();
            let text = is_range.then(|| self.symbol_text(symbol, byte));
            return Mark { in_opcode, list, text };
        }
        let is_word = matches!(token.kind, Tok::Word(_) | Tok::Number(_));
        let list = self.list(place, scope, sign);
        let text = match pieces.key(byte) {
            Some(key) => {
                let found = self.of_parts.get(&key).copied();
                found.unwrap_or_else(|| {
                    let text = pieces.text(byte).map(|(_, text)| self.text(text));
                    self.of_parts.insert(key, text);
                    text
                })
            }
            None if is_word => of_word(self.document, number).map(|(_, text)| self.text(text)),
            None => None,
        };
        Mark { in_opcode, list, text }
    }

    /// The list of the names of a group.
    fn group_list(&mut self, group: usize) -> usize {
        let list = List::Groups(vec![group]);
        let found = self.out.lists.iter().position(|other| *other == list);
        found.unwrap_or_else(|| {
            self.out.lists.push(list);
            self.out.lists.len() - 1
        })
    }

    fn symbol_text(&mut self, symbol: &Symbol, byte: usize) -> usize {
        let uses = self.uses.get(&byte).map_or(0, |number| self.counts[*number].saturating_sub(1));
        self.text(of_symbol(symbol, uses, ""))
    }

    /// The number of a text.
    fn text(&mut self, text: String) -> usize {
        let next = self.out.texts.len();
        let number = *self.texts.entry(text).or_insert(next);
        if number == next {
            let text = self.texts.iter().find(|(_, n)| **n == next).map(|(text, _)| text.clone());
            self.out.texts.extend(text);
        }
        number
    }

    /// The place before a token.
    fn place(&mut self, number: usize, statement: &Statement<'_>) -> Place {
        if let Some(place) = rough_place(self.document, number, statement) {
            return place;
        }
        let key = (statement.pieces.clone(), statement.operand(), statement.is_in_address());
        if let Some(place) = self.places.get(&key) {
            return place.clone();
        }
        let wanted = wanted(statement);
        let first = statement.pieces[0].as_str();
        let all = wanted.iter().flat_map(|w| &w.types).map(|ty| bits(*ty));
        let place = Place::Operand {
            bits: if wanted.iter().any(|w| w.types.is_empty()) { BTreeSet::new() } else { all.collect() },
            is_target: wanted.iter().any(|w| w.role == Role::Name) || matches!(first, "bra" | "call" | "brx"),
            is_address: key.2 || matches!(first, "mov" | "cvta"),
            is_special: matches!(first, "mov" | "cvt") && key.1 > 0,
        };
        self.places.insert(key, place.clone());
        place
    }

    /// The number of the list of a place.
    fn list(&mut self, place: Place, scope: Option<usize>, sign: Sigil) -> Option<usize> {
        let key = match place {
            Place::Operand { .. } => (place, scope, sign),
            _ => (place, None, Sigil::None),
        };
        if let Some(found) = self.lists.get(&key) {
            return *found;
        }
        let list = self.new_list(&key.0, scope, sign);
        let number = list.map(|list| {
            self.out.lists.push(list);
            self.out.lists.len() - 1
        });
        self.lists.insert(key, number);
        number
    }

    fn new_list(&self, place: &Place, scope: Option<usize>, sign: Sigil) -> Option<List> {
        match place {
            Place::Opcode(pieces) => {
                let found = match pieces.split_last() {
                    Some((last, written)) if last.contains("::") => {
                        let words = after_pieces(written).into_iter();
                        words
                            .filter_map(|(text, about)| Some((text.strip_prefix(last.as_str())?.to_owned(), about)))
                            .collect()
                    }
                    _ => after_pieces(pieces),
                };
                let mut words: BTreeMap<String, String> = BTreeMap::new();
                for (text, (kind, detail)) in found {
                    // a word at a time
                    let word = text.split(['.', ':']).next().unwrap_or_default();
                    let whole = word == text || kind == CompletionKind::Qualifier;
                    let detail = if whole { detail } else { String::new() };
                    words.entry(word.to_owned()).or_insert(detail);
                }
                Some(List::Words(words.into_iter().collect()))
            }
            Place::Directive => Some(List::Words(
                DIRECTIVES.iter().map(|d| (d.name[1..].to_owned(), needs(Some(d.since), Some(d.requires)))).collect(),
            )),
            Place::Type => {
                let types = (0..).map_while(Ty::from_index).map(|ty| (ty.name().to_owned(), "type".to_owned()));
                let spaces =
                    ["align", "ptr", "global", "shared", "const", "local", "param", "reg", "v2", "v4", "entry", "func"];
                Some(List::Words(types.chain(spaces.map(|word| (word.to_owned(), String::new()))).collect()))
            }
            Place::Component(base) => {
                let parts = SREGS.iter().filter_map(|s| {
                    let part = s.name.strip_prefix(base.as_str())?.strip_prefix('.')?;
                    Some((part.to_owned(), format!(".{}", s.ty.name())))
                });
                let parts: Vec<_> = parts.collect();
                (!parts.is_empty()).then_some(List::Words(parts))
            }
            Place::Operand { bits, is_target, is_address, is_special } => {
                let outer = scope.map(|scope| self.scopes[scope].clone())?;
                let around = |scope: usize| {
                    let of = &self.scopes[scope];
                    of.start <= outer.start && outer.end <= of.end
                };
                let fits = |holds: Holds| match holds {
                    Holds::Bits(n) => *is_address || !is_target && (bits.is_empty() || bits.contains(&n)),
                    Holds::Memory => *is_address,
                    Holds::Label | Holds::Function => *is_target,
                    Holds::Piece => false,
                };
                let of =
                    self.groups.iter().filter(|((scope, (s, holds)), _)| around(*scope) && *s == sign && fits(*holds));
                let groups: Vec<usize> = of.map(|(_, group)| *group).collect();
                if *is_special && sign == Sigil::Percent {
                    let word = |name: &str| bare(name).split('.').next().unwrap_or_default().to_owned();
                    let words: BTreeSet<String> =
                        SREGS.iter().filter(|s| sigil(s.name) == sign).map(|s| word(s.name)).collect();
                    let words = words.into_iter().map(|word| (word, "special register".to_owned())).collect();
                    return Some(List::GroupsAndWords(groups, words));
                }
                Some(List::Groups(groups))
            }
            Place::Nothing => None,
        }
    }

    /// The declared names with their texts.
    fn declare(&mut self) {
        self.out.groups = self.groups.iter().map(|_| Vec::new()).collect();
        let document = self.document;
        for (number, symbol) in document.names().all().iter().enumerate() {
            let scope = self.scopes.iter().position(|scope| *scope == symbol.scope).unwrap_or_default();
            let group = self.groups[&(scope, sort(symbol))];
            // a kernel is an item of Rust already
            let token = document.token_at(symbol.at.start).filter(|_| symbol.kind != SymbolKind::Kernel);
            let Some(token) = token else { continue };
            let uses = self.counts[number].saturating_sub(1);
            let ty = match symbol.kind {
                SymbolKind::Label => "label",
                SymbolKind::Function => "func",
                SymbolKind::Kernel => "entry",
                SymbolKind::Piece => "piece",
                SymbolKind::Parameter if symbol.ty.is_empty() => "parameter",
                _ => symbol.ty.trim_start_matches('.'),
            };
            let mut add = |name: String, is_derived: bool| {
                let sign = &symbol.name[..symbol.name.len() - bare(&symbol.name).len()];
                let known = document.known_of(symbol, &format!("{sign}{name}"));
                let (ty, text) = (ty.to_owned(), of_symbol(symbol, uses, &known));
                // a range declares its registers behind its name, so that hover on the name shows the range alone
                let token = token + usize::from(symbol.registers.is_some());
                let (is_piece, is_global) = (symbol.kind == SymbolKind::Piece, symbol.scope.start == 0);
                self.out.groups[group].push(Declared { name, ty, token, is_derived, is_piece, is_global, text });
            };
            let name = bare(&symbol.name);
            let Some(count) = symbol.registers else {
                add(name.to_owned(), name.contains(['$', '%']));
                continue;
            };
            let used = self.members.get(&number).into_iter().flatten().copied();
            let offered: BTreeSet<u64> = used.chain(0..count.min(OFFERED)).collect();
            offered.into_iter().for_each(|n| add(format!("{name}{n}"), true));
        }
    }
}

/// The place before a token, if it is not in the operands of an opcode.
fn rough_place(document: &Document, number: usize, statement: &Statement<'_>) -> Option<Place> {
    let tokens = document.tokens();
    let before = |n: usize| number.checked_sub(n).map(|at| &tokens[at]);
    let follows = |c: char| before(1).is_some_and(|token| token.is(c));
    if follows('@') || follows('!') && before(2).is_some_and(|token| token.is('@')) {
        return Some(Place::registers([1].into()));
    }
    if statement.tokens.is_empty() {
        return Some(Place::Opcode(Vec::new()));
    }
    if statement.tokens[0].is('.') {
        return Some(match (follows('.'), statement.tokens.len()) {
            (true, 1) => Place::Directive,
            (true, _) => Place::Type,
            _ => Place::Nothing,
        });
    }
    if statement.is_in_opcode() {
        if follows('.') {
            let (_, written) = statement.pieces.split_last().unwrap_or((&statement.pieces[0], &[]));
            return Some(Place::Opcode(written.to_vec()));
        }
        if follows(':') && before(2).is_some_and(|token| token.is(':')) {
            return Some(Place::Opcode(statement.pieces.clone()));
        }
    }
    if follows('.') {
        return match before(2).and_then(|token| token.word()) {
            Some(word) if word.starts_with('%') => Some(Place::Component(word.to_owned())),
            _ => Some(Place::Nothing),
        };
    }
    statement.pieces.is_empty().then(Place::anything)
}

impl Place {
    fn registers(bits: BTreeSet<u32>) -> Place {
        Place::Operand { bits, is_target: false, is_address: false, is_special: false }
    }

    /// All names.
    fn anything() -> Place {
        Place::Operand { bits: BTreeSet::new(), is_target: true, is_address: true, is_special: false }
    }
}
