//! Kernels from PTX text at run time (feature `load`). They run on the interpreter.
//!
//! ```
//! use ptx_dsl::load::Module;
//! use ptx_dsl::prelude::*;
//!
//! let text = "
//!     .version 8.0
//!     .target sm_90
//!     .address_size 64
//!     .visible .entry fill(.param .u64 .ptr .global .align 4 x, .param .f32 v) .reqntid 32
//!     {
//!         .reg .b32 %i;
//!         .reg .f32 %v;
//!         .reg .b64 %x;
//!         ld.param.u64 %x, [x];
//!         ld.param.f32 %v, [v];
//!         mov.u32 %i, %tid.x;
//!         mad.wide.u32 %x, %i, 4, %x;
//!         st.global.f32 [%x], %v;
//!         ret;
//!     }";
//! let module = Module::parse(text)?;
//! let fill = module.kernel("fill")?;
//! assert_eq!(fill.required_block(), Some([32, 1, 1]));
//!
//! let mut x = [0f32; 32];
//! let arguments = &mut [fill.arg("x")?.slice_mut(&mut x)?, fill.arg("v")?.value(2.5f32)?];
//! fill.launch_raw(&Host::new(), Launch::grid(1), arguments)?;
//! assert_eq!(x, [2.5; 32]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod code;
mod finding;
mod needs;
mod parameter;

use crate::{Arg, Error, Launch, Report};
use code::{Code, Source};
use ptx_dsl_analysis::pointees::pointees;
use ptx_dsl_frontend::hir::{FuncId, Function};
use ptx_dsl_frontend::levels;
use ptx_dsl_frontend::lex::{Lexed, lex, lex_rust};
use ptx_dsl_frontend::lines::Lines;
use ptx_dsl_frontend::notes::Places;
use ptx_dsl_frontend::parse::repeat::{Expanded, expand, repeats};
use ptx_dsl_frontend::parse::{parse, parse_header};
use ptx_dsl_frontend::print::{Entries, print_with_lines};
use ptx_dsl_frontend::session::{Input, Session};
use ptx_dsl_frontend::token::Token;
use ptx_dsl_image::for_engines;
use ptx_dsl_runtime::device::Device;
use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

pub use finding::{Finding, Place, TextError};
#[doc(hidden)]
pub use needs::Needs;
pub use parameter::{Element, Parameter, Pointer, WrongType};
/// [Example](Kernel::pointees).
pub use ptx_dsl_analysis::pointees::Pointee;
#[doc(hidden)]
pub use ptx_dsl_analysis::tensor_copies::MapUse;
/// [Example](Options::level).
pub use ptx_dsl_frontend::diag::Class;
/// [Example](Options::level).
pub use ptx_dsl_frontend::levels::{Level, Selector};
/// [Example](Kernel::pointees).
pub use ptx_dsl_frontend::ty::Class as TyClass;
/// [Example](Kernel::pointees).
pub use ptx_dsl_runtime::Ty;

/// A module of PTX without errors.
///
/// [Example](crate::load).
#[derive(Debug, Clone)]
pub struct Module {
    source: Arc<Source>,
    kernels: Vec<Kernel>,
    warnings: Vec<Finding>,
}

/// Writes repetitions out. What they make lies where it comes from.
fn without_repetitions(lexed: &mut Lexed) -> Expanded {
    let mut expanded = expand(&lexed.tokens, lexed.ranges.len() as u32);
    for source in expanded.sources() {
        let range = lexed.ranges[source as usize].clone();
        lexed.ranges.push(range);
    }
    lexed.tokens = std::mem::take(&mut expanded.tokens);
    expanded
}

/// Lines of a text that come from another place.
#[cfg_attr(not(feature = "build"), allow(dead_code))]
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct Moved {
    /// The first of them in the text, from 1.
    pub line: usize,
    /// The file that they come from.
    pub file: String,
    /// The first of them there.
    pub from: usize,
}

/// How a text is read.
///
/// [Example](Options::level).
#[derive(Debug, Clone)]
pub struct Options {
    name: String,
    /// The text is that of a macro in a Rust file, which may have repetitions.
    of_rust: bool,
    levels: Vec<(Level, Selector)>,
    /// The only kernel that findings are about.
    entry: Option<String>,
    moved: Vec<Moved>,
}

impl Default for Options {
    fn default() -> Self {
        Options { name: "<text>".to_owned(), of_rust: false, levels: Vec::new(), entry: None, moved: Vec::new() }
    }
}

impl Options {
    /// Every finding has its default level.
    pub fn new() -> Self {
        Options::default()
    }

    /// The name of the file, for reports.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The text is that of a macro in a Rust file.
    #[cfg_attr(not(feature = "build"), allow(dead_code))]
    pub(crate) fn of_rust(mut self) -> Self {
        self.of_rust = true;
        self
    }

    /// Where lines of the text come from, in order; those before are of the file itself.
    #[cfg_attr(not(feature = "build"), allow(dead_code))]
    pub(crate) fn moved(mut self, moved: Vec<Moved>) -> Self {
        self.moved = moved;
        self
    }

    /// The file and the line that a line of the text comes from.
    fn origin(&self, line: usize) -> (&str, usize) {
        match self.moved.iter().rfind(|moved| moved.line <= line) {
            Some(moved) => (&moved.file, line - moved.line + moved.from),
            None => (&self.name, line),
        }
    }

    /// Sets the level of findings, as `ptx-dsl check --warn` does. If several levels apply to a finding, the last one counts.
    ///
    /// ```
    /// use ptx_dsl::load::{Level, Options, Selector};
    /// let twice = ".version 8.0 .target sm_90 .address_size 64 .visible .entry k() {
    ///     barrier.cluster.arrive; barrier.cluster.arrive; barrier.cluster.wait; ret; }";
    /// assert!(Options::new().parse(twice).is_err());
    /// let module = Options::new().level(Level::Warn, Selector::Code(611)).parse(twice)?;
    /// assert_eq!(module.warnings()[0].code, 611);
    /// # Ok::<(), ptx_dsl::load::TextError>(())
    /// ```
    pub fn level(mut self, level: Level, of: Selector) -> Self {
        self.levels.push((level, of));
        self
    }

    /// Only this kernel is to run: findings of 06xx are left out in functions that it does not reach.
    ///
    /// ```
    /// use ptx_dsl::load::Options;
    ///
    /// let text = ".version 8.0 .target sm_90 .address_size 64
    /// .visible .entry fine() { ret; }
    /// .visible .entry twice() { barrier.cluster.arrive; barrier.cluster.arrive; barrier.cluster.wait; ret; }";
    /// assert!(Options::new().parse(text).is_err());
    /// assert!(Options::new().entry("twice").parse(text).is_err());
    /// let module = Options::new().entry("fine").parse(text)?;
    /// # assert_eq!(module.kernels().len(), 2);
    /// # Ok::<(), ptx_dsl::load::TextError>(())
    /// ```
    pub fn entry(mut self, name: &str) -> Self {
        self.entry = Some(name.to_owned());
        self
    }

    /// Reads a module.
    ///
    /// # Errors
    /// The text has errors.
    pub fn parse(&self, text: &str) -> Result<Module, TextError> {
        let (mut lexed, found) = if self.of_rust { lex_rust(text) } else { lex(text) };
        let mut notes = lexed.notes();
        let own = self.of_rust.then(|| 0..self.own_tokens(text, &lexed));
        let expanded = (self.of_rust && repeats(&lexed.tokens)).then(|| without_repetitions(&mut lexed));
        if let Some(expanded) = &expanded {
            expanded.place_comments(&lexed.tokens, &mut notes);
        }
        if self.of_rust && parse_header(&lexed.tokens).0.is_some_and(|header| header.lines) {
            let (lines, mut places) = (Lines::new(text), Places::default());
            for token in &lexed.tokens {
                let (line, column) = lines.line_column(lexed.bytes(token.span()).start);
                let (file, line) = self.origin(line);
                places.add(token.id, file, (line, column));
            }
            notes.places = Some(places);
        }
        let levels = levels::set(&self.levels);
        let session = Session { levels: &levels, entry: self.entry.as_deref(), ..Session::default() };
        let (tokens, expanded) = (&lexed.tokens, expanded.as_ref());
        let mut compiled = session.compile(Input { tokens, expanded, notes, own, found, ..Input::default() });
        let failed = compiled.failed();
        let found = std::mem::take(&mut compiled.diagnostics);
        let findings = finding::findings(text, &|line| self.origin(line), &lexed, found);
        if failed {
            return Err(TextError { findings });
        }
        lexed.tokens = Vec::new();
        let source = Arc::new(Source {
            name: self.name.clone(),
            for_driver: if self.of_rust { compiled.ptx.as_str().into() } else { text.into() },
            text: text.to_owned(),
            lexed,
            hir: match for_engines(&compiled.hir) {
                Cow::Owned(module) => module,
                Cow::Borrowed(_) => compiled.hir,
            },
            ptx: compiled.ptx,
            lines: compiled.lines,
        });
        let entries = source.hir.functions.iter().enumerate().filter(|(_, f)| f.entry && f.defined);
        let kernels = entries.map(|(i, f)| Kernel::new(&source, FuncId(i as u32), f)).collect();
        Ok(Module { source, kernels, warnings: findings })
    }
}

impl Options {
    /// The number of tokens of the module itself. Parts stand after the module, and have headers of their own.
    fn own_tokens(&self, text: &str, lexed: &Lexed) -> usize {
        let lines = Lines::new(text);
        let line = |token: &Token| lines.line(lexed.bytes(token.span()).start) + 1;
        let parts = self.moved.first().map_or(usize::MAX, |moved| moved.line);
        lexed.tokens.partition_point(|token| line(token) < parts)
    }
}

impl Module {
    /// Reads a module.
    ///
    /// # Errors
    /// The text has errors. All are in the error, with warnings, in the order of the text.
    pub fn parse(text: &str) -> Result<Module, TextError> {
        Options::new().parse(text)
    }

    /// The kernels, in the order of the text.
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }

    /// The kernel of this name.
    ///
    /// # Errors
    /// There is none.
    pub fn kernel(&self, name: &str) -> Result<&Kernel, NoKernel> {
        self.kernels.iter().find(|k| k.name() == name).ok_or_else(|| NoKernel {
            name: name.to_owned(),
            known: self.kernels.iter().map(|k| k.name().to_owned()).collect(),
        })
    }

    /// Findings that are no errors.
    pub fn warnings(&self) -> &[Finding] {
        &self.warnings
    }

    /// The module as ptx-dsl prints it. Faults name lines of the text that was read.
    pub fn ptx(&self) -> &str {
        &self.source.ptx
    }

    /// `.target`
    pub fn target(&self) -> &str {
        &self.source.hir.target
    }
}

/// A kernel of a module. A clone is another handle of the same kernel.
///
/// [Example](crate::load).
#[derive(Clone)]
pub struct Kernel(Arc<Inner>);

struct Inner {
    source: Arc<Source>,
    entry: FuncId,
    parameters: Vec<Parameter>,
    /// Made when they are asked for.
    pointees: OnceLock<Vec<Option<Pointee>>>,
    /// Made when the kernel is launched for the first time.
    code: OnceLock<Code>,
    /// Its text alone, unless that is the module's. Made when it is asked for.
    alone: OnceLock<Option<String>>,
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel").field("name", &self.name()).field("parameters", &self.parameters()).finish()
    }
}

impl Kernel {
    fn new(source: &Arc<Source>, entry: FuncId, function: &Function) -> Self {
        let parameters = parameter::parameters(source, function);
        Kernel(Arc::new(Inner {
            source: source.clone(),
            entry,
            parameters,
            pointees: OnceLock::new(),
            code: OnceLock::new(),
            alone: OnceLock::new(),
        }))
    }

    fn function(&self) -> &Function {
        &self.0.source.hir.functions[self.0.entry.0 as usize]
    }

    /// Its name in PTX.
    pub fn name(&self) -> &str {
        &self.function().name
    }

    /// The text with this kernel alone, and what it needs of the module.
    ///
    /// ```
    /// use ptx_dsl::load::Module;
    /// let module = Module::parse(
    ///     ".version 8.0 .target sm_90 .address_size 64
    ///      .visible .entry a() { ret; } .visible .entry b() { bar.sync 0; ret; }",
    /// )?;
    /// assert!(!module.kernel("a")?.ptx().contains("bar.sync"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn ptx(&self) -> &str {
        let whole = &self.0.source.ptx;
        let alone = || {
            // printing is a fixpoint
            let lexed = lex(whole).0;
            let (mut module, _) = parse(&lexed.tokens);
            module.notes = lexed.notes();
            let printed = print_with_lines(&module, &|_| None);
            Entries::new(&module, &printed.text, &printed.items).alone(self.name())
        };
        self.0.alone.get_or_init(alone).as_deref().unwrap_or(whole)
    }

    /// Its parameters, in order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.0.parameters
    }

    /// The parameter of this name.
    ///
    /// # Errors
    /// There is none.
    pub fn arg(&self, name: &str) -> Result<&Parameter, NoParameter> {
        self.parameters().iter().find(|p| p.name == name).ok_or_else(|| NoParameter {
            kernel: self.name().to_owned(),
            name: name.to_owned(),
            known: self.parameters().iter().map(|p| p.name.clone()).collect(),
        })
    }

    /// What the kernel accesses through each parameter, in their order, as far as its code shows.
    ///
    /// ```
    /// use ptx_dsl::load::{Module, Ty};
    ///
    /// let text = ".version 8.0 .target sm_90 .address_size 64 .visible .entry k(.param .u64 x, .param .u32 n) {
    ///     .reg .b64 %x; ld.param.u64 %x, [x]; st.global.f32 [%x], 0f3F800000; ret; }";
    /// let kernel = Module::parse(text)?.kernel("k")?.clone();
    /// let x = kernel.pointees()[0].unwrap();
    /// assert_eq!((x.element, x.written), (Some(Ty::F32), true));
    /// assert!(kernel.pointees()[1].is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn pointees(&self) -> &[Option<Pointee>] {
        self.0.pointees.get_or_init(|| pointees(&self.0.source.hir, self.function()))
    }

    /// What its instructions say about a launch, for a proposal.
    #[doc(hidden)]
    pub fn needs(&self) -> Needs {
        needs::needs(&self.0.source.hir, self.0.entry)
    }

    /// The declared types of the registers of the module, by name; not those that functions declare with several types. A register of
    /// `.pred` has [`Ty::Pred`].
    #[doc(hidden)]
    pub fn register_types(&self) -> std::collections::BTreeMap<String, Ty> {
        let mut types = std::collections::BTreeMap::new();
        for reg in self.0.source.hir.functions.iter().flat_map(|f| &f.regs).filter(|reg| reg.lanes == 1) {
            types
                .entry(reg.name.clone())
                .and_modify(|ty: &mut Option<Ty>| *ty = ty.filter(|ty| *ty == reg.ty))
                .or_insert(Some(reg.ty));
        }
        types.into_iter().filter_map(|(name, ty)| Some((name, ty?))).collect()
    }

    /// `.reqntid`: the threads of a CTA.
    pub fn required_block(&self) -> Option<[u32; 3]> {
        self.function().reqntid
    }

    /// `.maxntid`: a CTA has at most the product of these.
    pub fn largest_block(&self) -> Option<[u32; 3]> {
        self.function().maxntid
    }

    /// `.minnctapersm`: at least this many CTAs should fit on a multiprocessor.
    pub fn least_resident(&self) -> Option<u32> {
        self.function().minnctapersm
    }

    /// `.reqnctapercluster`: the CTAs of a cluster.
    pub fn required_cluster(&self) -> Option<[u32; 3]> {
        self.function().reqnctapercluster
    }

    /// Does the kernel, or a function that it calls, name shared memory whose size the launch gives (`.extern .shared`)?
    ///
    /// ```
    /// use ptx_dsl::load::Module;
    /// let module = Module::parse(
    ///     ".version 8.0 .target sm_90 .address_size 64 .extern .shared .b8 scratch[];
    ///      .func stored() { st.shared.u32 [scratch], 1; ret; }
    ///      .visible .entry a() { call stored; ret; } .visible .entry b() { ret; }",
    /// )?;
    /// assert!(module.kernel("a")?.uses_dynamic_shared() && !module.kernel("b")?.uses_dynamic_shared());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn uses_dynamic_shared(&self) -> bool {
        self.function().dynamic_shared
    }

    /// Does the kernel, or a function that it calls, want a [cooperative launch](Launch::cooperative)? `grid.sync()` of cooperative groups
    /// reads `%envreg1` and `%envreg2`.
    ///
    /// ```
    /// use ptx_dsl::load::Module;
    /// let module = Module::parse(
    ///     ".version 8.0 .target sm_90 .address_size 64
    ///      .visible .entry a() { .reg .b32 %r; mov.b32 %r, %envreg2; ret; } .visible .entry b() { ret; }",
    /// )?;
    /// assert!(module.kernel("a")?.is_cooperative() && !module.kernel("b")?.is_cooperative());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_cooperative(&self) -> bool {
        self.function().cooperative
    }

    /// Runs the kernel on a host, whose interpreter runs it, or on a GPU. The arguments are checked for count, size and alignment.
    ///
    /// # Errors
    /// The launch does not fit the kernel, the host cannot run one of its instructions or is asked for the compiled engine, or the
    /// kernel faults.
    pub fn launch_raw<D: Device>(
        &self,
        device: &D,
        launch: Launch,
        arguments: &mut [Arg<'_>],
    ) -> Result<Report, Error> {
        let Inner { source, entry, parameters, code, .. } = &*self.0;
        ptx_dsl_runtime::dump(self.name(), &source.ptx);
        code.get_or_init(|| Code::new(source, *entry)).launch(source, parameters, device, launch, arguments)
    }
}

/// The module has no kernel of this name.
///
/// [Example](crate::load).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoKernel {
    /// As asked for.
    pub name: String,
    /// Those that the module has.
    pub known: Vec<String>,
}

impl fmt::Display for NoKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the module has no kernel `{}`; {}", self.name, listed("its kernels are", &self.known))
    }
}

impl std::error::Error for NoKernel {}

/// The kernel has no parameter of this name.
///
/// [Example](crate::load).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoParameter {
    /// Name of the kernel.
    pub kernel: String,
    /// As asked for.
    pub name: String,
    /// Those that the kernel has.
    pub known: Vec<String>,
}

impl fmt::Display for NoParameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel `{}` has no parameter `{}`; ", self.kernel, self.name)?;
        f.write_str(&listed("its parameters are", &self.known))
    }
}

impl std::error::Error for NoParameter {}

/// Names in words.
fn listed(what: &str, names: &[String]) -> String {
    match names {
        [] => "it has none".to_owned(),
        names => format!("{what} `{}`", names.join("`, `")),
    }
}
