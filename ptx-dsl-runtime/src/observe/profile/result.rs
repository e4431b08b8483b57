//! The profile of a launch.

use super::counters::Counters;
use super::executions::{Executed, Executions, What};
use super::{difference, json, listing};
use crate::fault::At;
use crate::kernel::KernelInfo;
use ptx_dsl_isa::image::{Action, End, Image, Instr, Lines, NO_SITE};
use ptx_dsl_isa::isa::effect::MemoryOp;
use std::collections::{BTreeMap, BTreeSet};

/// What a statement does to memory.
///
/// [Example](crate::observe::profile).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Memory {
    /// Nothing.
    None,
    /// Loads.
    Load,
    /// Stores.
    Store,
    /// Reads and writes in one operation, and returns the old value.
    Atomic,
    /// Reads and writes in one operation, without a result.
    Reduction,
    /// Copies.
    Copy,
}

impl Memory {
    fn of(i: &Instr) -> Memory {
        let Action::Opcode { opcode, .. } = i.action else { return Memory::None };
        match opcode.entries().next().map_or(MemoryOp::None, |entry| entry.instr.effects.memory) {
            MemoryOp::None => Memory::None,
            MemoryOp::Load => Memory::Load,
            MemoryOp::Store => Memory::Store,
            MemoryOp::Atomic => Memory::Atomic,
            MemoryOp::Reduction => Memory::Reduction,
            MemoryOp::Copy => Memory::Copy,
        }
    }
}

/// A statement of the kernel.
///
/// [Example](crate::observe::profile).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statement {
    /// The PTX: the statement, or its opcode with its qualifiers if it cannot fault.
    pub text: String,
    /// Line in the PTX: of the file, if the module is one; else of the printed PTX. 0 if unknown.
    pub line: u32,
    /// Line in [`Profile::file`], 0 if unknown.
    pub source_line: u32,
    /// The place in another source that `.loc` gives, or in a piece, in words; else empty.
    pub origin: String,
    /// What it does to memory.
    pub memory: Memory,
    /// What it did.
    pub counters: Counters,
}

/// What each statement of a kernel did in a launch.
///
/// [Example](crate::observe::profile).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Profile {
    /// The name of the kernel.
    pub kernel: String,
    /// The file that it is written in: Rust, or PTX.
    pub file: String,
    /// CTAs that ran.
    pub ctas: u64,
    /// Threads of each CTA.
    pub threads_per_cta: u32,
    /// The statements that ran, and those that did not, in the order of the PTX.
    pub statements: Vec<Statement>,
    /// The lines of the source, if it was found.
    source: Vec<String>,
}

/// The kernel, and what ran of it.
#[derive(Debug, Default)]
pub(super) struct Shape {
    kernel: String,
    file: String,
    of_file: bool,
    source: Vec<String>,
    ctas: u64,
    threads_per_cta: u32,
}

impl Shape {
    pub fn of(kernel: &KernelInfo<'_>) -> Shape {
        let (name, file) = (kernel.name.to_owned(), kernel.file.to_owned());
        let source = if kernel.source.is_empty() { read(kernel.file) } else { lines(kernel.source) };
        Shape { kernel: name, file, of_file: kernel.of_file, source, ctas: 0, threads_per_cta: 0 }
    }

    pub fn cluster(&mut self, ctas: &[[u32; 3]], threads: u32) {
        self.ctas += ctas.len() as u64;
        self.threads_per_cta = threads;
    }
}

impl Profile {
    pub(super) fn new(
        shape: &Shape,
        sites: &[At],
        image: &Image,
        executions: &Executions,
        counters: &[Counters],
    ) -> Profile {
        let mut statements: BTreeMap<Lines, Statement> = BTreeMap::new();
        executions.each(image, |what, executed| {
            let statement = statements.entry(executed.lines).or_insert_with(|| {
                let (text, memory) = match &what {
                    What::Instr(i) => (spelling(image, i), Memory::of(i)),
                    What::End(end) => (name_of_end(end).to_owned(), Memory::None),
                };
                let Lines { ptx, source } = executed.lines;
                let line = if shape.of_file { source } else { ptx };
                let (origin, counters) = (String::new(), Counters::default());
                Statement { text, line, source_line: source, origin, memory, counters }
            });
            add(&mut statement.counters, &executed);
        });
        for (lines, site) in sites_of(image) {
            let (Some(at), Some(statement)) = (sites.get(site as usize), statements.get_mut(&lines)) else { continue };
            statement.text = at.text.clone();
            if !at.origin.is_empty() {
                statement.origin = at.source();
            }
            if let Some(counters) = counters.get(site as usize) {
                statement.counters += *counters;
            }
        }
        let Shape { kernel, file, source, ctas, threads_per_cta, .. } = shape;
        Profile {
            kernel: kernel.clone(),
            file: file.clone(),
            ctas: *ctas,
            threads_per_cta: *threads_per_cta,
            statements: statements.into_values().collect(),
            source: source.clone(),
        }
    }

    /// The sum of all statements.
    pub fn total(&self) -> Counters {
        sum(&self.statements)
    }

    /// The sum of the statements that have these words in their text, or in their line of the source: a comment, or a part of the
    /// statement. `None` if there are none.
    pub fn find(&self, words: &str) -> Option<Counters> {
        let has = |s: &&Statement| s.text.contains(words) || self.source_of(s).is_some_and(|line| line.contains(words));
        let found: Vec<&Statement> = self.statements.iter().filter(has).collect();
        (!found.is_empty()).then(|| sum(found))
    }

    /// As [`Profile::find`], for tests: `assert_eq!(profile.line("tile store").bank_conflicts, 0)`, with the comment `// tile store` on the
    /// line of the store.
    ///
    /// # Panics
    /// If no statement has these words.
    #[track_caller]
    pub fn line(&self, words: &str) -> Counters {
        match self.find(words) {
            Some(counters) => counters,
            None => panic!("no statement of `{}`, and no line of `{}` with one, has `{words}`", self.kernel, self.file),
        }
    }

    /// The line of the source on which a statement is, if the source was found.
    pub fn source_of(&self, statement: &Statement) -> Option<&str> {
        let line = self.source.get((statement.source_line as usize).checked_sub(1)?)?;
        Some(line.trim())
    }

    /// A listing for the terminal: the counters of each line of the source, the worst lines marked, and what the numbers mean.
    pub fn listing(&self) -> String {
        listing::write(self)
    }

    /// What each statement does now that it did not do before, by counter: `line 43: bank_conflicts 992 to 0: st.shared.u32 [%a], %v;`.
    /// Statements are the same if they have the same text, or opcode and qualifiers, and the same number among those.
    pub fn compared_with(&self, before: &Profile) -> String {
        difference::write(before, self)
    }

    /// The profile as JSON: each counter by its name here, and by that of Nsight Compute.
    pub fn to_json(&self) -> String {
        json::write(self)
    }
}

fn sum<'s>(statements: impl IntoIterator<Item = &'s Statement>) -> Counters {
    statements.into_iter().fold(Counters::default(), |mut all, statement| {
        all += statement.counters;
        all
    })
}

fn add(counters: &mut Counters, executed: &Executed) {
    counters.executed += executed.warps;
    counters.threads += executed.threads;
    counters.partial += executed.partial;
    counters.predicated_off += executed.off;
}

/// The numbers of statements, with their lines, each pair once.
fn sites_of(image: &Image) -> BTreeSet<(Lines, u32)> {
    let of_instructions = image.regions.iter().flat_map(|region| region.instructions()).map(|i| (i.lines, i.site));
    let of_ends =
        image.regions.iter().filter_map(|region| Some((region.last?, site_of_end(region.branch, &region.end))));
    of_instructions.chain(of_ends).filter(|(_, site)| *site != NO_SITE).collect()
}

fn site_of_end(branch: u32, end: &End) -> u32 {
    match end {
        End::Switch { site, .. } | End::Call { site, .. } => *site,
        _ => branch,
    }
}

/// An opcode with its qualifiers and types.
fn spelling(image: &Image, i: &Instr) -> String {
    let guard = i.guard.and_then(|guard| {
        let name = image.names.get(guard.register as usize).filter(|name| !name.is_empty())?;
        Some(format!("@{}{name} ", if guard.holds { "" } else { "!" }))
    });
    let mut text = guard.unwrap_or_default();
    match i.action {
        Action::Opcode { opcode, qualifiers, .. } => {
            text += opcode.name();
            if let Some(set) = image.qualifiers.get(qualifiers as usize) {
                let words = set.written.iter().map(|word| word.word()).chain(set.types.iter().map(|ty| ty.name()));
                words.for_each(|word| {
                    text.push('.');
                    text += word.trim_start_matches('.');
                });
            }
        }
        Action::Move { .. } => text += "mov",
    }
    text
}

/// The instruction that ends a region like this.
fn name_of_end(end: &End) -> &'static str {
    match end {
        End::Goto { .. } | End::Branch { .. } => "bra",
        End::Switch { .. } => "brx.idx",
        End::Call { .. } => "call",
        End::Return { .. } | End::Exit {} | End::Block { .. } => "ret",
    }
}

/// The lines of a file: as rustc names it, relative to a folder above the current one. None if there is no such file.
fn read(file: &str) -> Vec<String> {
    let here = std::env::current_dir().unwrap_or_default();
    let mut paths = here.ancestors().map(|folder| folder.join(file)).take(8);
    let text = paths.find(|path| path.is_file()).and_then(|path| std::fs::read_to_string(path).ok());
    lines(&text.unwrap_or_default())
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}
