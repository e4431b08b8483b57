//! The profile of a launch.

use super::counters::Counters;
use super::executions::{Executed, ExecutedItem, Executions};
use super::mix::{Product, RegisterChange, Waiting};
use super::waits::{Actor, Waited, Waits};
use super::{Described, difference, html, json, listing};
use crate::fault::At;
use crate::kernel::KernelInfo;
use crate::observe::trace::Timeline;
use ptx_dsl_isa::image::{Action, End, Image, Instr, Lines, NO_SITE, Source};
use ptx_dsl_isa::isa::class::InstrClass;
use ptx_dsl_isa::isa::effect::MemoryOp;
use ptx_dsl_isa::meaning::work::{Number, Work};
use ptx_dsl_isa::opcode::op;
use std::collections::{BTreeMap, BTreeSet};

/// The accesses that a statement makes to memory.
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
    /// The accesses of the statement to memory.
    pub memory: Memory,
    /// Its class, as its entry in the table of instructions says.
    pub class: InstrClass,
    /// The numbers that it is about, if its class is arithmetic.
    pub number: Number,
    /// What it did.
    pub counters: Counters,
}

/// The counters of each statement of a kernel in a launch.
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
    /// Products of matrices, by instruction, shape and type.
    pub products: Vec<Product>,
    /// Changes of the number of registers.
    pub registers: Vec<RegisterChange>,
    /// Waits of warps for each other, the longest first.
    pub waits: Vec<Waiting>,
    /// Bytes of the sectors of global memory that the launch reads before it writes them, each once: the least that DRAM has to read.
    pub least_read_bytes: u64,
    /// Bytes of the sectors of global memory that the launch writes, each once: the least that DRAM has to write.
    pub least_written_bytes: u64,
    /// The lines of the source, if it was found.
    pub(super) source: Vec<String>,
}

/// What a profiler has counted.
pub(super) struct Counted<'p> {
    pub sites: &'p [At],
    pub executions: &'p Executions,
    /// The counters of memory, by site.
    pub counters: &'p [Counters],
    pub waits: &'p Waits,
    /// Products whose shape a descriptor has given, by site.
    pub products: &'p BTreeMap<(u32, Described), u64>,
    /// Bytes of sectors that were read, and of those that were written.
    pub touched: [u64; 2],
}

/// The kernel, and what ran of it.
#[derive(Debug, Default)]
pub(super) struct KernelShape {
    kernel: String,
    file: String,
    of_file: bool,
    source: Vec<String>,
    ctas: u64,
    threads_per_cta: u32,
}

impl KernelShape {
    pub fn of(kernel: &KernelInfo<'_>) -> KernelShape {
        let (name, file) = (kernel.name.to_owned(), kernel.file.to_owned());
        let source = if kernel.source.is_empty() { read(kernel.file) } else { lines(kernel.source) };
        KernelShape { kernel: name, file, of_file: kernel.of_file, source, ctas: 0, threads_per_cta: 0 }
    }

    pub fn cluster(&mut self, ctas: &[[u32; 3]], threads: u32) {
        self.ctas += ctas.len() as u64;
        self.threads_per_cta = threads;
    }
}

impl Profile {
    pub(super) fn new(shape: &KernelShape, image: &Image, counted: &Counted<'_>) -> Profile {
        let mut statements: BTreeMap<Lines, Statement> = BTreeMap::new();
        let (mut products, mut changes) = (BTreeMap::<(&str, Described), [u64; 2]>::new(), Vec::new());
        counted.executions.each(image, |what, executed| {
            let work = match &what {
                ExecutedItem::Instr(i) => work(image, i),
                ExecutedItem::End(_) => None,
            };
            let statement = statements.entry(executed.lines).or_insert_with(|| {
                let (text, memory) = match &what {
                    ExecutedItem::Instr(i) => (spelling(image, i), Memory::of(i)),
                    ExecutedItem::End(end) => (name_of_end(end).to_owned(), Memory::None),
                };
                let Lines { ptx, source } = executed.lines;
                let line = if shape.of_file { source } else { ptx };
                let (class, number) = match (&what, &work) {
                    (_, Some((_, work))) => (work.class, work.number),
                    (ExecutedItem::End(_), None) => (InstrClass::Control, Number::Integer),
                    (ExecutedItem::Instr(_), None) => (InstrClass::Other, Number::Integer),
                };
                let (origin, counters) = (String::new(), Counters::default());
                Statement { text, line, source_line: source, origin, memory, class, number, counters }
            });
            add(&mut statement.counters, &executed);
            let threads = executed.threads - executed.off;
            if let Some((opcode, work)) = &work {
                compute(&mut statement.counters, work, threads);
                if let Some(product) = work.product {
                    let operations = threads * u64::from(product.operations);
                    let described = (product.shape, product.element, product.sparse);
                    let [m, n, k] = product.shape.map(u64::from);
                    let sums = products.entry((opcode, described)).or_default();
                    // the four products of `.m8n8k4` count as one
                    *sums = [sums[0] + operations / (2 * m * n * k), sums[1] + operations];
                }
            }
            if let ExecutedItem::Instr(i) = &what
                && let Some(registers) = registers_set(i)
                && executed.warps > 0
            {
                let (source_line, text) = (executed.lines.source, spelling(image, i));
                changes.push(RegisterChange { source_line, text, registers, warps: executed.warps });
            }
        });
        for ((site, described), count) in counted.products {
            let opcode = opcode_of(image, *site).unwrap_or_default();
            let operations = 2 * described.0.iter().map(|n| u64::from(*n)).product::<u64>() * count;
            let sums = products.entry((opcode, *described)).or_default();
            *sums = [sums[0] + count, sums[1] + operations];
        }
        let mut source_lines = BTreeMap::new();
        for (lines, site) in sites_of(image) {
            source_lines.insert(site, lines.source);
            let (Some(at), Some(statement)) = (counted.sites.get(site as usize), statements.get_mut(&lines)) else {
                continue;
            };
            statement.text = at.text.clone();
            if !at.origin.is_empty() {
                statement.origin = at.source();
            }
            if let Some(counters) = counted.counters.get(site as usize) {
                statement.counters += *counters;
            }
        }
        let products = products.into_iter().filter(|(_, [count, _])| *count > 0);
        let products = products.map(|((opcode, (shape, element, sparse)), [count, operations])| {
            let (opcode, element) = (opcode.to_owned(), element.to_owned());
            Product { opcode, shape, element, sparse, count, operations }
        });
        let statement = |site: u32| {
            let text = counted.sites.get(site as usize)?.text.clone();
            Some((source_lines.get(&site).copied().unwrap_or(0), text))
        };
        let KernelShape { kernel, file, source, ctas, threads_per_cta, .. } = shape;
        Profile {
            kernel: kernel.clone(),
            file: file.clone(),
            ctas: *ctas,
            threads_per_cta: *threads_per_cta,
            statements: statements.into_values().collect(),
            products: products.collect(),
            registers: changes,
            waits: waits(counted.waits, statement),
            least_read_bytes: counted.touched[0],
            least_written_bytes: counted.touched[1],
            source: source.clone(),
        }
    }

    /// A profile that was written as JSON.
    #[doc(hidden)]
    pub fn recorded(kernel: &str, file: &str, statements: Vec<Statement>) -> Profile {
        Profile { kernel: kernel.to_owned(), file: file.to_owned(), statements, ..Profile::default() }
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

    /// The counters of each statement that have changed: `line 43: bank_conflicts 992 to 0: st.shared.u32 [%a], %v;`.
    /// Statements are the same if they have the same text, or opcode and qualifiers, and the same number among those.
    pub fn compared_with(&self, before: &Profile) -> String {
        difference::write(before, self)
    }

    /// The profile as a self-contained page of HTML for a browser: the source with its counters.
    pub fn to_html(&self) -> String {
        html::write(self, None)
    }

    /// The page of [`Profile::to_html`], with the timeline of the same launch beside it.
    pub fn to_html_with(&self, timeline: &Timeline) -> String {
        html::write(self, Some(timeline))
    }

    /// The profile as JSON: each counter by its name here, and by that of Nsight Compute.
    pub fn to_json(&self) -> String {
        json::write(self)
    }
}

impl Statement {
    /// A statement that was written as JSON; `value` has the counters by name.
    #[doc(hidden)]
    pub fn recorded(text: &str, source_line: u32, value: impl FnMut(&str) -> u64) -> Statement {
        Statement {
            text: text.to_owned(),
            line: 0,
            source_line,
            origin: String::new(),
            memory: Memory::None,
            class: InstrClass::Other,
            number: Number::Integer,
            counters: Counters::by_name(value),
        }
    }
}

/// What an instruction computes, with its opcode.
fn work(image: &Image, i: &Instr) -> Option<(&'static str, Work)> {
    let Action::Opcode { opcode, qualifiers, .. } = i.action else { return None };
    let (entry, set) = (opcode.entries().next()?, image.qualifiers.get(qualifiers as usize)?);
    Some((entry.instr.opcode, Work::of(entry.instr, &set.written, &set.types)))
}

/// Adds what threads compute.
fn compute(counters: &mut Counters, work: &Work, threads: u64) {
    let flops = threads * u64::from(work.flops);
    match work.number {
        Number::F16 => counters.flops_f16 += flops,
        Number::F32 => counters.flops_f32 += flops,
        Number::F64 => counters.flops_f64 += flops,
        Number::Integer => {}
    }
    counters.tensor_operations += threads * work.product.map_or(0, |product| u64::from(product.operations));
}

/// The registers of a thread after a `setmaxnreg`.
fn registers_set(i: &Instr) -> Option<u32> {
    match (i.action, i.sources.first()) {
        (Action::Opcode { opcode: op::setmaxnreg, .. }, Some(Source::Constant { value })) => Some(*value as u32),
        _ => None,
    }
}

/// The opcode of the instruction with this number.
fn opcode_of(image: &Image, site: u32) -> Option<&'static str> {
    let mut all = image.regions.iter().flat_map(|region| region.instructions());
    all.find(|i| i.site == site).and_then(|i| Some(work(image, i)?.0))
}

/// The waits, the longest first. `statement` has the line and the text of a site.
fn waits(waits: &Waits, statement: impl Fn(u32) -> Option<(u32, String)>) -> Vec<Waiting> {
    let one = |(who, by): (&Actor, &Option<Actor>), waited: &Waited| {
        let (source_line, text) = statement(who.site)?;
        let by = by.and_then(|by| statement(by.site).map(|(line, text)| (line, text, by.warp)));
        Some(Waiting { source_line, text, warp: who.warp, by, times: waited.times, turns: waited.turns })
    };
    let mut all: Vec<Waiting> = waits.all.iter().filter_map(|((who, by), waited)| one((who, by), waited)).collect();
    all.sort_by(|a, b| (b.turns, a.source_line, a.warp, &a.by).cmp(&(a.turns, b.source_line, b.warp, &b.by)));
    all
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
