//! The checker: turns the AST into the typed module. Resolves names, and checks qualifiers, operands, versions and targets, and
//! layout.
//!
//! Every error of a module is reported. A broken statement is left out of the typed module and causes no further errors.

use std::collections::HashMap;
use std::rc::Rc;

use crate::{ast, parse};
use crate::{diag, span};
use diag::Diagnostic;
use isa::syntax::{self, Form};
use isa::target::{self, Missing, Suffix, Target};
use isa::{Instr, Ptx, Targets};
use parse::nearest;
use ptx_dsl_isa::opcode::{self, Entry};
use ptx_dsl_isa::{hir, isa};
use span::Span;

mod address;
mod arguments;
mod attempt;
mod beyond;
mod call;
mod cta_group;
mod decl;
mod directive;
mod errors;
mod fix;
mod function;
mod instr;
mod layout;
mod local_params;
mod location;
mod names;
mod opcode_match;
mod operand;
mod qualifier_errors;
mod rules;
mod rust;
mod select;
mod signature;
mod symbol;
mod texture;
mod value;
mod vars;
mod vector;
mod words;

use names::{Lists, Scope};

/// Inputs of the checker besides the module.
#[derive(Debug, Clone)]
pub struct Options {
    /// The newest known PTX ISA version.
    pub ceiling: (u32, u32),
}

impl Default for Options {
    fn default() -> Self {
        Options { ceiling: (9, 5) }
    }
}

/// The result for a module.
#[derive(Debug)]
pub struct Checked {
    /// Everything that was right.
    pub hir: hir::Module,
    /// Functions without an error.
    pub whole: Vec<hir::FuncId>,
    /// Errors, in the order in which they were found.
    pub diagnostics: Vec<Diagnostic>,
}

/// Checks a module.
pub fn check(module: &ast::Module, options: &Options) -> Checked {
    let mut checker = Checker::new(module);
    checker.header(module, options);
    for item in &module.items {
        match item {
            ast::Item::Var(decl) => checker.declare(decl, None),
            ast::Item::Function(f) => checker.function(f),
            ast::Item::Directive(d) => checker.module_directive(d),
        }
    }
    checker.one_cta_group(module);
    checker.loads_before_calls();
    checker.names_below(module);
    checker.finish()
}

/// Number and suffix of a target: 90 and `a`.
fn split_target(name: &str) -> Option<(i64, &str)> {
    let rest = name.strip_prefix("sm_")?;
    let suffix = rest.trim_start_matches(names::is_digit);
    Some((rest[..rest.len() - suffix.len()].parse().ok()?, suffix))
}

/// The known target with the nearest number to an unknown one, and the same suffix; `sm_90` for `sm_9`, which lacks a digit.
pub(crate) fn nearest_target(name: &str) -> Option<&'static str> {
    let (number, suffix) = split_target(name)?;
    let number = if number < 10 { number * 10 } else { number };
    let mut best: Option<(u64, &str)> = None;
    for target in target::TARGETS {
        let Some((n, s)) = split_target(target.name) else { continue };
        let distance = number.abs_diff(n);
        if s != suffix || distance >= 5 {
            continue;
        }
        match best {
            Some((least, _)) if least <= distance => {}
            _ => best = Some((distance, target.name)),
        }
    }
    Some(best?.1)
}

/// Targets and target options.
fn known_targets() -> Vec<&'static str> {
    let mut names = Vec::new();
    for target in target::TARGETS {
        names.push(target.name);
    }
    for option in target::OPTIONS {
        names.push(option.name);
    }
    names
}

/// The oldest target that has what is required and exists in a version.
fn enough(version: Ptx, requires: Targets) -> Option<&'static str> {
    for t in target::TARGETS {
        let plain = match requires {
            Targets::Sm(_) => t.suffix == Suffix::None,
            Targets::Only(_) => true,
        };
        if plain && t.exists(version).is_ok() && t.satisfies(requires, version).is_ok() {
            return Some(t.name);
        }
    }
    None
}

/// Entries and forms, looked up and compiled on first use.
#[derive(Default)]
struct Table {
    /// Entries by the first word of the opcode.
    entries: HashMap<String, Rc<Vec<Entry>>>,
    /// Forms with the address of their entry, sorted.
    forms: Vec<(usize, Rc<Vec<Form>>)>,
}

impl Table {
    fn entries(&mut self, first: &str) -> Rc<Vec<Entry>> {
        if let Some(found) = self.entries.get(first) {
            return Rc::clone(found);
        }
        let found = Rc::new(opcode::entries(first));
        self.entries.insert(first.to_string(), Rc::clone(&found));
        found
    }

    fn forms(&mut self, instr: &'static Instr) -> Rc<Vec<Form>> {
        let key = std::ptr::from_ref(instr) as usize;
        let at = self.forms.partition_point(|f| f.0 < key);
        if let Some((found, forms)) = self.forms.get(at)
            && *found == key
        {
            return Rc::clone(forms);
        }
        let forms = Rc::new(syntax::forms(instr));
        self.forms.insert(at, (key, Rc::clone(&forms)));
        forms
    }
}

thread_local! {
    /// Forms compiled for one module serve the next: compiling them is half of the time of a small module.
    static TABLE: std::cell::RefCell<Table> = std::cell::RefCell::default();
}

/// The state of a check.
struct Checker {
    diags: Vec<Diagnostic>,
    out: hir::Module,
    /// As declared; the newest if not declared, which causes no errors.
    version: Ptx,
    target: Option<&'static Target>,
    target_name: String,
    /// `texmode_independent`: samplers separate from textures.
    independent: bool,
    scopes: Vec<Scope>,
    table: Table,
    /// `.shared`, `.local` and `.param` variables of functions, with the function.
    declared_in: Vec<(hir::VarId, hir::FuncId)>,
    ends: MemoryEnds,
    /// Functions with a body and no broken statement, sorted.
    whole: Vec<hir::FuncId>,
    /// Instructions that compute what the current one takes, to stand before it.
    before: Vec<hir::Instr>,
    /// The current function.
    fun: Option<hir::Function>,
    /// A statement of it is broken and was left out.
    dropped: bool,
    /// Variables that are only declared, with `.extern`, sorted.
    externals: Vec<hir::VarId>,
    /// Registers of the module, with the functions that use them.
    module_registers: Vec<(String, hir::FuncId)>,
    /// The contents of named lists and prototypes.
    lists: Lists,
    /// Functions by name.
    declared: HashMap<String, Declared>,
    locations: location::Locations,
    attempts: Attempts,
}

/// The ends of the memory images so far, in bytes.
#[derive(Default)]
struct MemoryEnds {
    constant: u64,
    global: u64,
}

/// How much the checker may still spend on helps.
struct Attempts {
    /// How many more names may be compared with undeclared ones.
    comparisons: usize,
    /// How many more edits of the current statement may be tried before they count against those of the module.
    own: usize,
    /// How many more edits may be tried in the module besides those that each statement has.
    tries: usize,
    /// Is an edit being tried? Then errors need no help.
    trying: bool,
    /// Operands, by their names in the form, whose place was right for a name of unknown type.
    holes: Vec<String>,
    /// The form that an edit had, and its section.
    form: (&'static str, &'static str),
}

/// Facts about a function besides its signature.
#[derive(Debug, Clone, Copy)]
struct Declared {
    id: hir::FuncId,
    /// Where it was first declared.
    span: Span,
    defined: bool,
    /// `.extern`
    external: bool,
    noreturn: bool,
    /// Where `.alias` makes it another name of a function.
    alias: Option<Span>,
}

impl Checker {
    fn new(module: &ast::Module) -> Self {
        Checker {
            diags: Vec::new(),
            out: hir::Module {
                spelling: vec![None; module.instrs as usize],
                constants: module.constants.clone(),
                regions: module.regions.clone(),
                ..hir::Module::default()
            },
            before: Vec::new(),
            version: Ptx(u32::MAX, 0),
            target: None,
            target_name: String::new(),
            independent: false,
            scopes: vec![Scope::default()],
            table: TABLE.take(),
            declared_in: Vec::new(),
            ends: MemoryEnds::default(),
            fun: None,
            externals: Vec::new(),
            dropped: false,
            whole: Vec::new(),
            module_registers: Vec::new(),
            lists: Lists::default(),
            declared: HashMap::new(),
            locations: location::Locations::default(),
            attempts: Attempts {
                comparisons: names::COMPARED,
                own: fix::TRIES_OWN,
                tries: fix::TRIES,
                trying: false,
                holes: Vec::new(),
                form: ("", ""),
            },
        }
    }

    fn report(&mut self, d: Diagnostic) {
        self.diags.push(d);
    }

    /// `.version`, `.target`, `.address_size`.
    fn header(&mut self, module: &ast::Module, options: &Options) {
        match module.version {
            None if module.broken_header => {}
            None => self.report(errors::no_version(Span::default())),
            Some(v) => self.declared_version(v, options.ceiling),
        }
        let mut seen = false;
        for word in &module.target {
            if target::option(&word.text).is_some() {
                self.independent |= word.text == "texmode_independent";
                continue;
            }
            seen = true;
            self.declared_target(word);
        }
        if !seen && !module.broken_header {
            self.report(errors::no_target(Span::default()));
        }
        self.out.address_size = 64;
        if let Some((n, span)) = module.address_size
            && n != 64
        {
            self.report(errors::address_size(span, n));
        }
    }

    /// `.version`
    fn declared_version(&mut self, v: ast::Version, ceiling: (u32, u32)) {
        self.out.version = (v.major, v.minor);
        let mut last = ceiling;
        for l in target::LAST {
            if l.0 == v.major && l.0 < ceiling.0 {
                last = (l.0, l.1);
            }
        }
        if (v.major, v.minor) > last || v.major == 0 {
            self.report(errors::unknown_version(v.span, Ptx(v.major, v.minor), last));
        } else {
            self.version = Ptx(v.major, v.minor);
        }
    }

    /// One of the targets; the first counts.
    fn declared_target(&mut self, word: &ast::Word) {
        let Some(t) = target::target(&word.text) else {
            let near = nearest_target(&word.text).or_else(|| nearest(&word.text, &known_targets()));
            self.report(errors::unknown_target(word.span, &word.text, near));
            return;
        };
        if self.target.is_none() {
            self.target = Some(t);
            self.target_name = t.name.to_string();
            self.out.target = t.name.to_string();
        }
        match t.exists(self.version) {
            Err(Missing::Version(need)) => {
                self.report(errors::target_needs_version(word.span, &word.text, need, self.version));
            }
            Err(Missing::Target) if self.version.0 != u32::MAX => {
                self.report(errors::renamed_target(word.span, &word.text, &new_name(&word.text)));
            }
            _ => {}
        }
    }

    /// The name of the declared target in a version that does not know that name.
    fn renamed(&self, version: Ptx) -> Option<String> {
        let until = self.target?.until?;
        (version >= until).then(|| new_name(&self.target_name))
    }

    /// Reports a version or target that does not suffice for `what`.
    fn gate(
        &self,
        span: Span,
        what: std::fmt::Arguments,
        since: Ptx,
        requires: Targets,
        section: &str,
    ) -> Option<Diagnostic> {
        if self.version < since {
            return Some(errors::needs_version(span, what, since, self.version, self.renamed(since), section));
        }
        match self.target?.satisfies(requires, self.version) {
            Ok(()) => None,
            Err(Missing::Version(need)) => {
                Some(errors::needs_version(span, what, need, self.version, self.renamed(need), section))
            }
            Err(Missing::Target) => {
                let enough = enough(self.version.max(since), requires);
                Some(errors::needs_target(span, what, requires, &self.target_name, enough, section))
            }
        }
    }

    /// Sets the final sizes of the memory images and dynamic variables.
    fn finish(mut self) -> Checked {
        while !self.scopes.is_empty() {
            self.close_scope();
        }
        self.names_of_inlined_functions();
        self.share_registers();
        self.alone_with_parameters();
        self.lay_out();
        self.lay_out_rust();
        self.diags.extend(self.out.constants.broken_by_all());
        let shared = self.out.shared_size;
        for var in &mut self.out.vars {
            if var.dynamic && var.space == hir::Space::Shared {
                var.offset = shared.div_ceil(var.align.max(1)).saturating_mul(var.align.max(1));
            }
        }
        self.out.const_image.resize(usize::try_from(self.ends.constant).unwrap_or(0).min(vars::IMAGE_LIMIT), 0);
        self.out.global_image.resize(usize::try_from(self.ends.global).unwrap_or(0).min(vars::IMAGE_LIMIT), 0);
        TABLE.set(std::mem::take(&mut self.table));
        Checked { hir: self.out, whole: self.whole, diagnostics: self.diags }
    }
}

/// `sm_101a` is called `sm_110a` since PTX ISA 9.0.
fn new_name(target: &str) -> String {
    target.replacen("101", "110", 1)
}
