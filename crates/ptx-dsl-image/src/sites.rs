//! The sites of a kernel: the statements that faults name, with their lines.

use crate::origins::{Collector, Origins};
use ptx_dsl_isa::hir::{Instr, Module};
use ptx_dsl_isa::image::Lines;
use ptx_dsl_isa::span::Span;
use std::collections::BTreeMap;

/// A statement that faults name.
#[derive(Debug, Clone)]
pub struct Site {
    /// The statement as printed.
    pub text: String,
    /// Line in the printed PTX.
    pub line: u32,
    /// Line in the source, 0 if unknown.
    pub source_line: u32,
    /// The number of its place in [`Origins`] from 1, 0 if there is none but `source_line`.
    pub origin: u32,
    /// The bytes of a load that the program uses; `None`: all.
    pub used_bytes: Option<u32>,
}

/// Collects the sites of a kernel.
pub struct Sites<'m> {
    /// Line in the source.
    line: &'m dyn Fn(Span) -> Line,
    text: &'m Printed<'m>,
    /// Instructions that can fault, with the number of their site.
    numbers: BTreeMap<u32, u32>,
    sites: Vec<Site>,
    origins: Collector<'m>,
}

impl<'m> Sites<'m> {
    /// None yet. `line` gives the line of a place in the source.
    pub fn new(module: &'m Module, line: &'m dyn Fn(Span) -> Line, text: &'m Printed<'m>) -> Self {
        let origins = Collector::new(&module.origins);
        Sites { line, text, numbers: BTreeMap::new(), sites: Vec::new(), origins }
    }

    /// All sites so far.
    pub fn all(&self) -> &[Site] {
        &self.sites
    }

    /// The places that they come from.
    pub fn origins(&self) -> &Origins {
        self.origins.all()
    }

    /// Takes the sites and origins out, to keep them.
    pub fn into_parts(self) -> (Vec<Site>, Origins) {
        (self.sites, self.origins.into_all())
    }

    /// The lines of an instruction, which need not have a site.
    pub fn lines(&self, i: &Instr) -> Lines {
        Lines { ptx: self.text.line(i).0, source: (self.line)(i.span).number }
    }

    /// The number of the instruction's site.
    pub fn site(&mut self, i: &Instr) -> u32 {
        if let Some(&n) = self.numbers.get(&i.index) {
            return n;
        }
        let n = self.sites.len() as u32;
        let (line, text) = self.text.line(i);
        let Line { number: source_line, of_piece } = (self.line)(i.span);
        let origin = match self.origins.of(i.index) {
            0 => self.origins.of_piece(&of_piece),
            of_loc => of_loc,
        };
        self.sites.push(Site { text: text.to_owned(), line, source_line, origin, used_bytes: i.used_bytes });
        self.numbers.insert(i.index, n);
        n
    }
}

/// The line of a statement.
#[derive(Debug, Clone, Default)]
pub struct Line {
    /// Line in the file of the kernel, 0 if unknown.
    pub number: u32,
    /// The file and line of a statement in a piece, then those where the piece is used, the innermost first.
    pub of_piece: Vec<(String, u32)>,
}

impl From<u32> for Line {
    fn from(number: u32) -> Self {
        Line { number, of_piece: Vec::new() }
    }
}

/// A line up to a comment.
fn without_comment(line: &str) -> &str {
    let end = [line.find(" //"), line.find(" /*")].into_iter().flatten().min();
    &line[..end.unwrap_or(line.len())]
}

/// The printed module, by line.
pub struct Printed<'m> {
    lines: Vec<&'m str>,
    /// The line of each instruction, from 1.
    line_of: &'m [u32],
}

impl<'m> Printed<'m> {
    /// `line_of` gives the line of each instruction in `ptx`, from 1.
    pub fn new(ptx: &'m str, line_of: &'m [u32]) -> Self {
        Printed { lines: ptx.lines().collect(), line_of }
    }

    /// The number of the instruction's line (0 if unknown) and its text.
    pub(crate) fn line(&self, instr: &Instr) -> (u32, &'m str) {
        let line = self.line_of.get(instr.index as usize).copied().unwrap_or(0);
        let text = self.lines.get((line as usize).wrapping_sub(1)).map_or("", |line| without_comment(line).trim());
        (line, text)
    }
}
