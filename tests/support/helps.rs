//! Applies helps: the code in a help's backticks goes into the module where the sentence says, so that a test compiles what a
//! reader would.
//!
//! The words before a piece of code decide how it is applied:
//!
//! | words before the code | edit |
//! |---|---|
//! | `write`, `did you mean` | replaces the underlined code; an opcode replaces that of the statement, and with a `;` the statement |
//! | `write X in place of` | X replaces it, if it is not the underlined code |
//! | `write X before it`, `after it` | inserted there |
//! | `remove` | removed; `remove it`: the underlined code is removed |
//! | `add` | a qualifier, at the end of the opcode; a directive, before the underlined one |
//! | `put` | inserted `before`, `behind` or `in place of` the statement, or `above this function` |
//! | `declare` | inserted in the header, or in the range of a name |
//! | `close it with` | ends what is open |
//!
//! `or` and commas separate alternatives; `and` joins edits that belong together. Any other code must be known to the reader:
//! from the module, or as a word of the language. Anything else fails. Findings of flow (06xx) show code that takes more than one
//! edit: it occurs in the right example of the explanation, maybe with other names.

use std::ops::Range;

use ptx_dsl_test_support::ptxas;

use ptx_dsl_frontend::diag::{Diagnostic, Severity};
use ptx_dsl_frontend::isa::{directive, sreg, syntax, target};
use ptx_dsl_frontend::lex::{Lexed, lex};
use ptx_dsl_frontend::table::FAMILIES;
use ptx_dsl_frontend::ty::Ty;

/// The result for a module.
pub fn findings(text: &str) -> (Lexed, Vec<Diagnostic>) {
    let (lexed, mut found) = lex(text);
    found.extend(ptx_dsl_frontend::compile(&lexed.tokens).diagnostics);
    (lexed, found)
}

/// A module as it is printed.
pub fn printed(text: &str) -> String {
    ptx_dsl_frontend::compile(&lex(text).0.tokens).ptx
}

/// Applies all helps of the modules; results without errors go to ptxas.
#[track_caller]
pub fn hold(modules: &[(String, String)]) {
    let (mut failures, mut clean) = (Vec::new(), Vec::new());
    for (name, text) in modules {
        let followed = followed(text);
        failures.extend(followed.failures.iter().map(|f| format!("{name}: {f}")));
        clean.extend(followed.clean.into_iter().map(|ptx| (name.clone(), ptx)));
    }
    let verdicts = if clean.is_empty() { None } else { ptxas::assemble_all(&clean) };
    for ((name, ptx), verdict) in clean.iter().zip(verdicts.unwrap_or_default()) {
        // Some functions are left to the linker and the driver.
        let ours = |e: &String| !ABROAD.iter().any(|text| e.contains(text));
        if let Some(e) = verdict.err().filter(ours) {
            failures.push(format!("{name}: ptxas: {e}\n{ptx}"));
        }
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

/// Messages of ptxas about functions of other modules and of the driver.
pub const ABROAD: [&str; 2] = ["Unresolved extern function", "requires command line option '--compile-only'"];

/// The result of applying the helps of a module, one at a time.
#[derive(Default)]
pub struct Followed {
    /// Helps that no reader could apply, or that did not fix the error.
    pub failures: Vec<String>,
    /// The resulting modules without errors, as printed.
    clean: Vec<String>,
}

/// Applies all helps of a module.
pub fn followed(text: &str) -> Followed {
    let mut out = Followed::default();
    let (lexed, found) = findings(text);
    for d in &found {
        for help in &d.helps {
            let mut fail = |what: String| {
                let (code, message, at) = (d.code.number, &d.message, &text[lexed.bytes(d.span)]);
                out.failures.push(format!("PTX{code:04} {message} [[{at}]]\n    help: {help}\n    {what}"));
            };
            match asked(text, &lexed, d, help) {
                Asked::Prose => {}
                Asked::Unclear(code) => fail(format!("`{code}` is neither an edit nor a name")),
                Asked::Modules(modules) => {
                    for module in modules {
                        match mended(&found, d, &module, 3) {
                            Ok(clean) => out.clean.extend(clean),
                            Err(left) => {
                                let new = |l: &&str| !text.lines().any(|t| t == *l);
                                let lines: Vec<&str> = module.lines().filter(new).collect();
                                fail(format!("gives {lines:?}\n    {left}"));
                            }
                        }
                    }
                }
            }
        }
    }
    out
}

/// The number of occurrences.
fn count(all: &[Diagnostic], d: &Diagnostic) -> usize {
    all.iter().filter(|o| o.code.number == d.code.number && o.message == d.message).count()
}

/// The errors among the findings; findings of flow appear only in modules that are otherwise legal.
fn errors(all: &[Diagnostic], d: &Diagnostic) -> usize {
    all.iter().filter(|o| o.severity == Severity::Error && (!o.code.is_flow() || d.code.is_flow())).count()
}

/// Is `d` gone from the module, without a new error that the edit caused? `Ok`: the printed module if it has no error.
fn mended(before: &[Diagnostic], d: &Diagnostic, module: &str, depth: usize) -> Result<Option<String>, String> {
    let (lexed, after) = findings(module);
    let new =
        after.iter().filter(|o| count(&after, o) > count(before, o) || count(&after, o) > 0 && o.message == d.message);
    let all: Vec<_> = new.map(|d| format!("PTX{:04} {}", d.code.number, d.message)).collect();
    let fail = Err(all.join("; "));
    let (had, has) = (errors(before, d), errors(&after, d));
    // The checker looks at version and target once the form is known.
    let gates = after.iter().filter(|o| matches!(o.code.number, 301 | 302)).count();
    if count(&after, d) >= count(before, d) || has > had + gates {
        return fail;
    }
    if has == 0 {
        let flawless = after.iter().all(|d| d.severity != Severity::Error);
        return Ok(flawless.then(|| printed(module)));
    }
    if has < had || d.severity != Severity::Error {
        return Ok(None);
    }
    // Another error was hidden before: it must have a help of its own, otherwise the edit is to blame.
    for new in after.iter().filter(|o| o.severity == Severity::Error && count(&after, o) > count(before, o)) {
        let gate = |d: &Diagnostic| matches!(d.code.number, 301 | 302);
        // The checker looks at operands once the qualifiers are complete.
        let operands =
            matches!(new.code.number, 401 | 404) || d.code.number == 202 && matches!(new.code.number, 405 | 414);
        let independent = operands || gate(d) && gate(new);
        let way_out = |help: &String| match asked(module, &lexed, new, help) {
            Asked::Modules(next) if depth > 0 => next.iter().any(|m| mended(&after, new, m, depth - 1).is_ok()),
            _ => false,
        };
        if !independent && !new.helps.iter().any(way_out) {
            return fail;
        }
    }
    Ok(None)
}

/// The request of a help.
enum Asked {
    /// A help without code to write.
    Prose,
    /// The module with each of the alternatives.
    Modules(Vec<String>),
    /// A piece of code that is neither an edit nor a name.
    Unclear(String),
}

/// A piece of a module and its replacement.
type Edit = (Range<usize>, String);

#[derive(Clone, Copy, PartialEq)]
enum Act {
    Write,
    InPlaceOf,
    Remove,
    Add,
    Put,
    Declare,
    Close,
    Mention,
}

/// The edit that the words before a piece of code ask for; `None`: the edit of the piece before.
fn act(words: &str) -> Option<Act> {
    let words = words.trim();
    let ends = |list: &[&str]| list.iter().any(|w| words == *w || words.ends_with(&format!(" {w}")));
    Some(match words {
        _ if ends(&["or", ","]) || words.is_empty() || words == "and" => return None,
        _ if ends(&["in place of"]) => Act::InPlaceOf,
        _ if ends(&["write", "did you mean", "allowed value is"]) => Act::Write,
        _ if ends(&["remove"]) => Act::Remove,
        _ if ends(&["add"]) => Act::Add,
        _ if ends(&["put"]) => Act::Put,
        _ if ends(&["declare"]) => Act::Declare,
        _ if ends(&["close it with", "end the statement with"]) => Act::Close,
        _ => Act::Mention,
    })
}

/// The module after the help of this diagnostic.
fn asked(text: &str, lexed: &Lexed, d: &Diagnostic, help: &str) -> Asked {
    let place = Place::new(text, lexed, d);
    let pieces: Vec<&str> = help.split('`').collect();
    let mut codes = pieces.iter().skip(1).step_by(2);
    if d.code.is_flow() && codes.all(|code| place.knows(code) || shown(&d.code.right(), code)) {
        return Asked::Prose;
    }
    let mut ways: Vec<Vec<Edit>> = Vec::new();
    if help.split([',', ';']).any(|clause| matches!(clause.trim(), "remove it" | "or remove it")) {
        ways.push(vec![place.without(place.primary.clone())]);
    }
    // `run`: where the alternatives of one verb begin.
    let (mut last, mut run) = (Act::Mention, 0);
    for i in (1..pieces.len()).step_by(2) {
        let (before, code) = (pieces[i - 1], pieces[i]);
        let behind = pieces.get(i + 1).map_or("", |words| words.trim());
        if act(before).is_some_and(|a| a != Act::InPlaceOf) {
            run = ways.len();
        }
        let doing = act(before).unwrap_or(last);
        last = doing;
        let edit = match doing {
            Act::Write if behind.starts_with("before it") => Some((at(place.primary.start), format!("{code} "))),
            Act::Write if behind.starts_with("after it") => Some((at(place.primary.end), code.to_string())),
            // A name is replaced everywhere.
            Act::Write if d.code.number == 401 && before.contains("did you mean") => {
                ways.push(place.all_of(&text[place.primary.clone()], code));
                continue;
            }
            // The qualifiers after a misspelt opcode of several words stay.
            Act::Write if d.code.number == 200 && is_misspelt(&text[place.primary.clone()], code) => {
                Some((place.primary.clone(), code.to_string()))
            }
            Act::Write => Some(place.written(code)),
            Act::InPlaceOf => match place.find(code) {
                Some(old) if run < ways.len() => {
                    for edit in ways[run..].iter_mut().filter_map(|way| way.last_mut()) {
                        edit.0 = old.clone();
                    }
                    continue;
                }
                _ => None,
            },
            Act::Remove => place.find(code).map(|range| place.without(range)),
            Act::Add => Some(place.added(code)),
            Act::Put => place.put(code, behind),
            Act::Declare => place.declared(code),
            Act::Close => Some(place.closed(code)),
            Act::Mention if place.knows(code) || help.starts_with("add operand") => continue,
            Act::Mention => None,
        };
        let Some(edit) = edit else { return Asked::Unclear(code.to_string()) };
        let joined = before.contains(" and ") || before.trim() == "and";
        match ways.last_mut() {
            Some(way) if joined => way.push(edit),
            _ => ways.push(vec![edit]),
        }
    }
    match ways.is_empty() {
        true => Asked::Prose,
        false => Asked::Modules(ways.into_iter().map(|way| edited(text, way)).collect()),
    }
}

/// Is this the opcode as meant, of several words, without one of its letters?
fn is_misspelt(opcode: &str, meant: &str) -> bool {
    let without = |i: usize| meant.char_indices().filter(move |(at, _)| *at != i).map(|(_, c)| c);
    opcode.contains('.') && (0..meant.len()).any(|i| without(i).eq(opcode.chars()))
}

fn at(position: usize) -> Range<usize> {
    position..position
}

/// Applies all edits, which do not overlap.
fn edited(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|(range, _)| range.start);
    let mut out = text.to_string();
    for (range, new) in edits.into_iter().rev() {
        out.replace_range(range, &new);
    }
    out
}

/// The place of a diagnostic.
struct Place<'t> {
    text: &'t str,
    tokens: Vec<Range<usize>>,
    primary: Range<usize>,
}

impl<'t> Place<'t> {
    fn new(text: &'t str, lexed: &Lexed, d: &Diagnostic) -> Self {
        let tokens = lexed.tokens.iter().map(|t| lexed.ranges[t.id as usize].clone()).collect();
        Place { text, tokens, primary: lexed.bytes(d.span) }
    }

    fn token(&self, i: usize) -> &'t str {
        self.tokens.get(i).map_or("", |t| &self.text[t.clone()])
    }

    /// The range from the first token of the statement around the underlined code to its `;`.
    fn statement(&self) -> Range<usize> {
        let first = self.tokens.partition_point(|t| t.end <= self.primary.start);
        let mut start = first.min(self.tokens.len().saturating_sub(1));
        while start > 0 && self.token(start - 1) != ";" && !self.bounds(start - 1) && !self.is_label(start - 1) {
            start -= 1;
        }
        let (mut end, mut open) = (first, 0);
        while end < self.tokens.len() && (open > 0 || !matches!(self.token(end), ";" | "}")) {
            match self.token(end) {
                "{" => open += 1,
                "}" => open -= 1,
                _ => {}
            }
            end += 1;
        }
        let end = match self.tokens.get(end) {
            Some(t) if self.token(end) == ";" => t.end,
            Some(t) => t.start,
            None => self.text.len(),
        };
        self.tokens.get(start).map_or(self.primary.start, |t| t.start)..end
    }

    /// Is this a brace of a body or a block, not of a vector?
    fn bounds(&self, i: usize) -> bool {
        let opens = i == 0 || matches!(self.token(i - 1), ";" | "{" | "}" | ")" | ":") || self.is_body(i);
        match self.token(i) {
            "{" => opens,
            "}" => !matches!(self.token(i + 1), "," | ";" | "|" | "]" | ")" | "}") || self.token(i - 1) == ";",
            _ => false,
        }
    }

    /// Does a body begin here: after `.entry k`, or after a directive with its numbers?
    fn is_body(&self, i: usize) -> bool {
        let head = (0..i).rev().take_while(|t| !matches!(self.token(*t), ";" | "{" | "}")).map(|t| self.token(t));
        head.into_iter().any(|t| matches!(t, "entry" | "func"))
    }

    /// Is this the `:` after a label?
    fn is_label(&self, i: usize) -> bool {
        self.token(i) == ":" && self.token(i + 1) != ":" && (i == 0 || self.token(i - 1) != ":")
    }

    /// The dotted opcode of the statement, after its guard; the first word of a declaration.
    fn opcode(&self) -> Range<usize> {
        let statement = self.statement();
        let mut start = statement.start;
        if self.text[start..].starts_with('@') {
            start += self.text[start..statement.end].find(char::is_whitespace).unwrap_or(0);
            start += self.text[start..].len() - self.text[start..].trim_start().len();
        }
        let length = self.text[start..statement.end]
            .find(|c: char| !(c.is_ascii_alphanumeric() || "._:".contains(c)))
            .unwrap_or(statement.end - start);
        start..start + length
    }

    fn written(&self, code: &str) -> Edit {
        let opcode = self.opcode();
        if code.starts_with('@') && code.ends_with(';') {
            return (self.statement(), code.to_string());
        }
        if code.len() > 1 && code.ends_with(';') {
            return (opcode.start..self.statement().end, code.to_string());
        }
        let first = |s: &str| s.split('.').next().unwrap_or("").to_string();
        if code.contains('.') && !code.starts_with('.') && first(code) == first(&self.text[opcode.clone()]) {
            return (opcode, code.to_string());
        }
        let mut range = self.primary.clone();
        let old = &self.text[range.clone()];
        let bare = |c: char, at: usize| self.text[..at].ends_with(c) && !old.starts_with(c);
        if code.starts_with('.') && bare('.', range.start) || code.starts_with('[') && bare('[', range.start) {
            range.start -= 1;
        }
        // `%r[4]`: the brackets belong to it.
        let closes = self.text[range.end..].find(']').filter(|_| code.starts_with('[') || code.starts_with(old));
        let opened = code.starts_with('[') || self.text[range.end..].starts_with('[');
        if let Some(end) = closes.filter(|_| opened && !old.ends_with(']')) {
            range.end += end + 1;
        }
        (range, code.to_string())
    }

    /// The place of the code in the statement, or else in the module.
    fn find(&self, code: &str) -> Option<Range<usize>> {
        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '%' | '$');
        let inside = |outer: Option<char>, own: Option<char>| outer.is_some_and(word) && own.is_some_and(word);
        let whole = |at: &usize| {
            !inside(self.text[..*at].chars().next_back(), code.chars().next())
                && !inside(self.text[at + code.len()..].chars().next(), code.chars().next_back())
        };
        [self.primary.clone(), self.statement(), 0..self.text.len()].into_iter().find_map(|p| {
            let found = self.text[p.clone()].match_indices(code).map(|(i, _)| p.start + i).find(whole)?;
            Some(found..found + code.len())
        })
    }

    /// Replaces a name everywhere.
    fn all_of(&self, old: &str, new: &str) -> Vec<Edit> {
        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '%' | '$');
        // `%r<4>` declares other names.
        let more = |c: char| word(c) || c == '<';
        let whole = |i: &usize| !self.text[i + old.len()..].starts_with(more) && !self.text[..*i].ends_with(word);
        self.text.match_indices(old).map(|m| m.0).filter(whole).map(|i| (i..i + old.len(), new.to_string())).collect()
    }

    /// Removes a piece: a qualifier with its dot, an operand with the comma before it, a statement with its `;`, a directive with
    /// its numbers.
    fn without(&self, mut range: Range<usize>) -> Edit {
        let before = self.text[..range.start].trim_end();
        let own = &self.text[range.clone()];
        let statement = self.statement();
        if statement.start == range.start && self.text.get(range.end..statement.end).is_some_and(|t| t.trim() == ";") {
            range.end = statement.end;
        } else if before.len() == range.start && before.ends_with('.') && !own.starts_with('.') {
            range.start -= 1;
        } else if before.ends_with(',') && own.contains(|c: char| c.is_ascii_alphanumeric()) {
            range.start = before.len() - 1;
        }
        let name = own.split(' ').next().unwrap_or(own);
        if directive::directive(name).is_some() && own == name {
            let numbers = |c: char| !(c.is_ascii_digit() || matches!(c, ' ' | ','));
            range.end += self.text[range.end..].find(numbers).unwrap_or(0);
        }
        (range, String::new())
    }

    fn added(&self, code: &str) -> Edit {
        if code.contains(' ') || self.text[self.primary.clone()].starts_with('.') {
            return (at(self.primary.start), format!("{code} "));
        }
        (at(self.opcode().end), code.to_string())
    }

    fn put(&self, code: &str, behind: &str) -> Option<Edit> {
        let end = if code.ends_with([';', ':', '}']) || code.starts_with(".loc ") { "" } else { ";" };
        let text = format!("{code}{end}");
        let statement = self.statement();
        Some(match behind {
            _ if behind.starts_with("above this function") => (at(self.function()), format!("{text}\n")),
            _ if behind.starts_with("before") => (at(statement.start), format!("{text} ")),
            _ if behind.starts_with("after") => (at(statement.end), format!(" {text}")),
            // An element of a list.
            _ if behind.starts_with("instead") && end == ";" => {
                let start = self.text[..self.primary.start].rfind(['(', ','])? + 1;
                (start..self.primary.end + self.text[self.primary.end..].find([')', ','])?, code.to_string())
            }
            _ if behind.starts_with("instead") => (statement, text),
            _ => return None,
        })
    }

    /// The start of the function around the underlined code.
    fn function(&self) -> usize {
        let (mut depth, mut start) = (0, 0);
        for (i, t) in self.tokens.iter().enumerate() {
            if t.start >= self.primary.start {
                break;
            }
            match self.token(i) {
                "{" => depth += 1,
                "}" => depth -= 1,
                "entry" | "func" if depth == 0 => start = i,
                _ => {}
            }
        }
        // Before its linkage.
        while start > 0 && matches!(self.token(start - 1), "." | "visible" | "weak" | "extern") {
            start -= 1;
        }
        self.tokens.get(start).map_or(0, |t| t.start)
    }

    /// A word of the header, a directive at the top of a file, or the range of a name.
    fn declared(&self, code: &str) -> Option<Edit> {
        let header = self.text.trim_start().starts_with('<');
        if let Some((prefix, _)) = code.split_once('<') {
            let old = self.text.find(&format!("{prefix}<"))?;
            return Some((old..old + self.text[old..].find('>')? + 1, code.to_string()));
        }
        let (directive, item) = match code.split_once(' ') {
            Some(("ptx", version)) => (format!(".version {version}"), code),
            Some((".version" | ".target", value)) => (code.to_string(), value),
            None if target::target(code).is_some() => (format!(".target {code}"), code),
            _ => return None,
        };
        let name = directive.split(' ').next()?;
        let (old, end, new) = match header {
            true if name == ".version" => ("ptx ", [',', '>'], format!("ptx {}", item.trim_start_matches("ptx "))),
            true => ("sm_", [',', '>'], item.to_string()),
            false => (name, ['\n', ','], directive.clone()),
        };
        if let Some(start) = self.text.find(old) {
            return Some((start..start + self.text[start..].find(end)?, new));
        }
        let first = if name == ".version" { 0 } else { self.text.find('\n')? + 1 };
        Some((at(first), format!("{directive}\n")))
    }

    fn closed(&self, code: &str) -> Edit {
        let statement = self.statement();
        let position = match code {
            "}" | "*/" => self.text.trim_end().len(),
            ")" | "]" if self.text[..statement.end].ends_with(';') => statement.end - 1,
            ")" | "]" => statement.end,
            _ => self.primary.end,
        };
        (at(position), code.to_string())
    }

    /// Is it a name of the module, a word of the language, or punctuation?
    fn knows(&self, code: &str) -> bool {
        let word = |w: &str| {
            let bare = w.trim_start_matches('.');
            FAMILIES.iter().any(|(_, list)| list.iter().any(|i| begins(i.opcode, w)))
                || w.starts_with('.') && (Ty::from_name(bare).is_some() || syntax::is_space(bare) || qualifier(bare))
                || directive::directive(w).is_some()
                || sreg::sreg(w).is_some()
                || target::target(w).is_some()
        };
        let sign = code.chars().all(|c| !c.is_ascii_alphanumeric() && c != '%');
        sign || code == "%" || matches!(code, "&mut" | "generic") || word(code) || self.find(code).is_some()
    }
}

/// Does the opcode begin with these whole words?
fn begins(opcode: &str, words: &str) -> bool {
    opcode.strip_prefix(words).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', ':']))
}

/// Is it a word of a syntax block?
fn qualifier(word: &str) -> bool {
    let text = |i: &ptx_dsl_frontend::isa::Instr| {
        i.syntax.match_indices(&format!(".{word}")).any(|(at, found)| {
            !i.syntax[at + found.len()..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        })
    };
    FAMILIES.iter().any(|(_, list)| list.iter().any(text))
}

/// Does the text contain the code, with other names perhaps? `bar.sync` is short for `barrier.sync.aligned` (PTX ISA 9.7.13.1).
fn shown(text: &str, code: &str) -> bool {
    let (whole, part) = (words(text), words(&code.replace("barrier.sync.aligned", "bar.sync")));
    whole.windows(part.len()).any(|window| window.iter().zip(&part).all(|(a, b)| a == b))
}

/// The tokens of a text, with one name for all user names, and one for state spaces.
fn words(text: &str) -> Vec<String> {
    let (lexed, _) = lex(text);
    let texts: Vec<&str> = lexed.tokens.iter().map(|t| &text[lexed.ranges[t.id as usize].clone()]).collect();
    let mut out: Vec<String> = Vec::with_capacity(texts.len());
    let mut i = 0;
    while let Some(token) = texts.get(i) {
        // `.shared::cta` is one.
        if out.last().is_some_and(|last| last == "space") && texts[i..].starts_with(&[":", ":"]) {
            i += 3;
            continue;
        }
        let dotted = i > 0 && matches!(texts[i - 1], "." | ":");
        // `bar` may be one of the user's.
        let opcode = texts.get(i + 1) == Some(&".");
        let named =
            token.len() > 1 && token.starts_with(['%', '_']) || token.starts_with(|c: char| c.is_ascii_alphabetic());
        let special = sreg::sreg(token).is_some();
        out.push(match () {
            _ if dotted && syntax::is_space(token) => "space".to_string(),
            _ if named && !dotted && !opcode && !special => "name".to_string(),
            _ => token.to_string(),
        });
        i += 1;
    }
    out
}
