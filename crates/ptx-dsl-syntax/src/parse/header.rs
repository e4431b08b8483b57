//! Parses the header of `ptx!`: `<sm_100a, ptx 8.6, allow(PTX0601)>`.

use super::{Parser, Res, Scope, all_digits, errors};
use crate::ast::{Module, Version, Word};
use crate::diag::Diagnostic;
use crate::levels::{Level, Selector, SetLevel};
use crate::span::Span;
use crate::token::{Tok, Token};

/// The contents of the header.
#[derive(Debug, Clone, Default)]
pub struct Header {
    /// `sm_100a`, `texmode_independent`, ...
    pub target: Vec<Word>,
    /// `ptx M.m`
    pub version: Option<Version>,
    /// `allow(PTX0601)`, `warn(...)`, `deny(...)`.
    pub levels: Levels,
    /// `compiled` or `interpreted`.
    pub host_code: HostCode,
    /// `lines`: the printed text names lines of the source.
    pub lines: bool,
    /// Rust constants.
    pub scope: Scope,
    /// From `<` to `>`.
    pub span: Span,
}

/// The builds in which the macro emits Rust code that runs the kernels on a host. In the others a host interprets them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HostCode {
    /// Optimised builds, unless a feature of `ptx-dsl` says otherwise.
    #[default]
    ByBuild,
    /// `compiled`: development builds too.
    Always,
    /// `interpreted`: no build.
    Never,
}

/// Levels of findings, and the groups that name several at once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Levels {
    /// In the order of the text.
    pub set: Vec<SetLevel>,
    /// `group(strict, PTX0605, PTX0651)`.
    groups: Vec<(String, Vec<Selector>)>,
}

impl Header {
    /// Applies the header to the module.
    pub fn apply(self, module: &mut Module) {
        module.version = self.version;
        module.target = self.target;
        module.levels = self.levels.set;
    }
}

/// Target options besides `sm_NN` (PTX ISA 11.1.2).
const OPTIONS: [&str; 4] = ["texmode_unified", "texmode_independent", "debug", "map_f64_to_f32"];

/// What a level can name.
const SELECTOR: &str =
    "a code such as `PTX0601`, `protocol`, `suspicious`, `performance`, `warnings`, or a group that was defined before";

/// Parses the header if the tokens begin with one; returns its number of tokens too.
pub fn parse_header(tokens: &[Token]) -> (Option<Header>, usize, Vec<Diagnostic>) {
    let mut parser = Parser::new(tokens, 0);
    if !parser.is('<') {
        return (None, 0, Vec::new());
    }
    let mut header = parser.header();
    header.scope = std::mem::take(&mut parser.scope);
    (Some(header), parser.pos, parser.diags)
}

/// What may follow the name of a file.
#[derive(Debug, Default)]
pub struct FileOptions {
    /// `allow(PTX0601), deny(...)`
    pub levels: Vec<SetLevel>,
    /// `compiled` or `interpreted`, as in a [`Header`].
    pub host_code: HostCode,
}

/// Parses `, allow(PTX0601), compiled`, which may follow the name of a file.
pub fn parse_file_options(tokens: &[Token]) -> (FileOptions, Vec<Diagnostic>) {
    let mut parser = Parser::new(tokens, 0);
    let mut levels = Levels::default();
    let mut host_code = HostCode::default();
    while parser.eat(',') && parser.peek().is_some() {
        let found = match parser.word_at(0) {
            Some("group") => parser.group(&mut levels),
            Some("compiled" | "interpreted") => {
                host_code = parser.host_code();
                Ok(())
            }
            name => match name.and_then(Level::from_name) {
                Some(level) => parser.level(level, &mut levels),
                None => parser
                    .unexpected("`allow(...)`, `warn(...)`, `deny(...)`, `group(...)`, `compiled` or `interpreted`"),
            },
        };
        if found.is_err() {
            return (FileOptions { levels: levels.set, host_code }, parser.diags);
        }
    }
    if parser.peek().is_some() {
        let _: Res<()> = parser.unexpected("`,`");
    }
    (FileOptions { levels: levels.set, host_code }, parser.diags)
}

/// Does `.target` accept this name?
fn is_target(name: &str) -> bool {
    is_architecture(name) || OPTIONS.contains(&name)
}

/// Is it a target, not an option?
pub(super) fn is_architecture(name: &str) -> bool {
    name.starts_with("sm_") || name.starts_with("compute_")
}

/// The first target.
pub(super) fn architecture(targets: &[Word]) -> Option<&Word> {
    targets.iter().find(|t| is_architecture(&t.text))
}

impl Parser<'_> {
    fn header(&mut self) -> Header {
        let open = self.bump();
        let mut header = Header { span: open, ..Header::default() };
        let before = self.diags.len();
        loop {
            if self.header_item(&mut header).is_err() {
                // To the next item; `;` and braces say that the header was left unclosed.
                while let Some(tok) = self.peek() {
                    if matches!(tok, Tok::Punct(',' | '>' | ';' | '{' | '}')) {
                        break;
                    }
                    self.pos += 1;
                }
            }
            if self.eat(',') {
                continue;
            }
            if self.is('>') {
                header.span = open.to(self.bump());
                break;
            }
            let (span, found) = (self.there(), self.found());
            self.report(
                errors::expected(span, "`,` or `>` in the header", &found).label(open, "the header opens here"),
            );
            // `<sm_90 ptx 8.0>`
            if matches!(self.word_at(0), Some(word) if word == "ptx" || is_target(word)) {
                continue;
            }
            break;
        }
        if self.diags.len() == before {
            match (architecture(&header.target), &header.version) {
                (None, Some(v)) => {
                    let version = format!("ptx {}.{}", v.major, v.minor);
                    self.report(errors::header_lacks(header.span, "target", &format!("sm_90, {version}"), &version));
                }
                (Some(target), None) => {
                    let near = crate::check::nearest_target(&target.text).unwrap_or(&target.text);
                    let right = format!("{near}, ptx 8.6");
                    self.report(errors::header_lacks(header.span, "PTX version", &right, &target.text));
                }
                (None, None) => self.report(errors::header_lacks_both(header.span)),
                (Some(_), Some(_)) => {}
            }
        }
        header
    }

    /// `sm_90, ptx 8.0;` at the beginning of a module.
    pub(super) fn is_bare_header(&self) -> bool {
        self.pos == 0 && matches!(self.word_at(0), Some(word) if word == "ptx" || is_architecture(word))
    }

    /// Reads it as if it were in its brackets.
    pub(super) fn bare_header(&mut self, module: &mut Module) -> Res<()> {
        let start = self.here();
        let mut header = Header::default();
        module.broken_header = true;
        loop {
            self.header_item(&mut header)?;
            if !self.eat(',') {
                break;
            }
        }
        let mut items: Vec<String> = header.target.iter().map(|word| word.text.clone()).collect();
        items.extend(header.version.map(|v| format!("ptx {}.{}", v.major, v.minor)));
        self.eat(';');
        self.report(errors::bare_header(start.to(self.before()), &items.join(", ")));
        header.apply(module);
        Ok(())
    }

    fn header_item(&mut self, header: &mut Header) -> Res<()> {
        if let Some(level) = self.word_at(0).and_then(Level::from_name) {
            return self.level(level, &mut header.levels);
        }
        let span = self.here();
        match self.word_at(0) {
            Some("ptx") => {
                self.bump();
                let version = self.version()?;
                match header.version {
                    Some(first) => self.report(errors::twice(version.span, "the PTX version", first.span)),
                    None => header.version = Some(version),
                }
                Ok(())
            }
            Some("group") => self.group(&mut header.levels),
            Some("const") => self.constant_declaration(),
            Some("compiled" | "interpreted") => {
                header.host_code = self.host_code();
                Ok(())
            }
            Some("lines") => {
                self.bump();
                header.lines = true;
                Ok(())
            }
            Some(name) if is_target(name) => {
                header.target.push(Word { text: name.to_string(), span });
                self.bump();
                Ok(())
            }
            name => {
                let found = self.found();
                let words = ["ptx", "allow", "warn", "deny", "group", "compiled", "interpreted", "lines", "const"];
                let legal = [&OPTIONS[..], &words].concat();
                // `sm90`
                let target = name.and_then(|n| crate::check::nearest_target(&format!("sm_{}", n.strip_prefix("sm")?)));
                let nearest = target.or_else(|| super::near::nearest(name?, &legal));
                self.fail(errors::header_item(span, &found, nearest))
            }
        }
    }

    /// `compiled` or `interpreted`
    fn host_code(&mut self) -> HostCode {
        let is_compiled = self.word_at(0) == Some("compiled");
        self.bump();
        if is_compiled { HostCode::Always } else { HostCode::Never }
    }

    /// `allow(PTX0601, protocol)`
    fn level(&mut self, level: Level, levels: &mut Levels) -> Res<()> {
        self.in_parentheses(&mut |parser| {
            loop {
                let span = parser.here();
                for of in parser.selectors(levels)? {
                    levels.set.push(SetLevel { level, of, span });
                }
                if !parser.eat(',') {
                    return Ok(());
                }
            }
        })
    }

    /// `group(strict, PTX0605, PTX0651)`: a name for several codes.
    fn group(&mut self, levels: &mut Levels) -> Res<()> {
        self.in_parentheses(&mut |parser| parser.members(levels))
    }

    /// A word, and the parentheses after it, parsed by `read`. After an error the rest of them is skipped.
    fn in_parentheses(&mut self, read: &mut dyn FnMut(&mut Self) -> Res<()>) -> Res<()> {
        self.bump();
        self.expect('(')?;
        let mut result = read(self);
        if result.is_ok() {
            result = self.expect(')').map(|_| ());
        }
        if result.is_err() {
            while let Some(tok) = self.peek() {
                if matches!(tok, Tok::Punct('>' | ';' | '{' | '}')) || self.eat(')') {
                    break;
                }
                self.pos += 1;
            }
        }
        result
    }

    /// `strict, PTX0605, PTX0651`
    fn members(&mut self, levels: &mut Levels) -> Res<()> {
        let name = match self.word_at(0) {
            Some(name) if Selector::from_name(name).is_none() => name.to_owned(),
            _ => return self.unexpected("a name for the group that is not a code or a class"),
        };
        self.bump();
        let mut members = Vec::new();
        while self.eat(',') {
            for selector in self.selectors(levels)? {
                if !members.contains(&selector) {
                    members.push(selector);
                }
            }
        }
        levels.groups.push((name, members));
        Ok(())
    }

    /// The meaning of a word: a code, a class, or a group defined before.
    fn selectors(&mut self, levels: &Levels) -> Res<Vec<Selector>> {
        let Some(word) = self.word_at(0) else {
            return self.unexpected(SELECTOR);
        };
        let found = match Selector::from_name(word) {
            Some(selector) => vec![selector],
            None => match levels.groups.iter().rev().find(|(name, _)| name == word) {
                Some((_, members)) => members.clone(),
                None => return self.unexpected(SELECTOR),
            },
        };
        self.bump();
        Ok(found)
    }

    /// `M.m`
    pub(super) fn version(&mut self) -> Res<Version> {
        let start = self.here();
        let major = self.version_part()?;
        if !self.is('.') || !matches!(self.tokens.get(self.pos + 1), Some(Token { kind: Tok::Number(_), .. })) {
            // `63` is meant for `6.3`, and `8` for `8.0`.
            let (major, minor) = if major < 10 { (major, 0) } else { (major / 10, major % 10) };
            let text = if minor == 0 && major < 10 { format!("{major}") } else { format!("{major}{minor}") };
            self.report(errors::whole_version(start, &text, &format!("{major}.{minor}")));
            return Ok(Version { major, minor, span: start });
        }
        self.expect('.')?;
        let minor = self.version_part()?;
        Ok(Version { major, minor, span: start.to(self.before()) })
    }

    fn version_part(&mut self) -> Res<u32> {
        if let Some(Tok::Number(n)) = self.peek()
            && all_digits(n)
            && let Ok(value) = n.parse()
        {
            self.bump();
            return Ok(value);
        }
        self.unexpected("a PTX version such as `8.6`")
    }
}
