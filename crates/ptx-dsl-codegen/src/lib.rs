//! Typed module -> Rust: for each kernel a type with its PTX and its launch, and a `Kernel` whose `step` runs one region
//! of it for some warps. What an instruction does is the runtime's: the code here only reads operands, calls
//! `runtime::isa::<family>::<opcode>` and stores what comes back.

mod block;
mod calls;
mod classes;
mod cutter;
mod fold;
mod launch;
mod lives;
mod mentions;
mod native;
mod operations;
mod parting;
mod regions;
mod roles;
mod step;
#[cfg(test)]
mod tests;
mod trails;
mod values;
mod waiting;
mod waits;
mod webs;

use proc_macro2::{Ident, TokenStream};
use ptx_dsl_isa::hir::{FuncId, Function, Instr, Module, Operand};
use ptx_dsl_isa::isa::Role;
use ptx_dsl_isa::ty::Ty;
use quote::{ToTokens, format_ident, quote};
use std::collections::{BTreeMap, BTreeSet};

pub use launch::{RustType, Source, rust_name};

/// Addresses of functions on the host: this window, then the function's number.
pub const FUNCTION_TAG: u64 = 5 << 56;

/// The path of the runtime in emitted code.
#[derive(Clone, Copy)]
struct Runtime;

const RT: Runtime = Runtime;

impl ToTokens for Runtime {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(quote!(::ptx_dsl::runtime));
    }
}

/// How often short branches are looked for: what one makes vary may be the condition of another.
const FOLDS: usize = 3;

/// State of the emission of one kernel.
struct Emit<'m> {
    module: &'m Module,
    /// The kernel.
    entry: FuncId,
    /// The same, its registers renamed.
    function: &'m Function,
    source: &'m Source<'m>,
    text: &'m Text<'m>,
    /// Fields of the warp's state: name -> bits (1 for predicates).
    /// and the length of their rows.
    fields: BTreeMap<String, (u32, u32)>,
    classes: classes::Classes,
    reqntid: Option<[u32; 3]>,
    /// Regions that are jumped to and have no arm yet.
    entered: BTreeSet<usize>,
    /// Regions where a trail begins.
    trails: BTreeSet<usize>,
    /// Are regions functions of their own? Those that are.
    large: bool,
    /// Do they call what reaches rows of memory?
    far: bool,
    /// Do development builds have them for one instruction set only, and are lanes of an expression computed by calls?
    one_level: bool,
    /// Are the instructions of a lane that are none of Rust functions, one for all that are alike?
    shared: bool,
    /// Do these functions stay apart in release, too?
    apart: bool,
    /// And those for what a warp does together?
    distant: bool,
    /// Those functions, by what they call and on which operands.
    operations: BTreeMap<String, Ident>,
    /// Numbers given to instructions that may reach global memory.
    places: usize,
    pieces: Vec<TokenStream>,
    /// Regions that wait, and where they go on.
    waits: Vec<(u16, u16)>,
    /// What stands before the loop over the warps that is being made; `None` where there is no such place.
    common: Option<TokenStream>,
    /// Where they all go on, if they do.
    common_next: Option<TokenStream>,
    /// Fields that are read once for all warps of a cohort.
    agreed: BTreeSet<Ident>,
    /// Does the first warp of a cohort keep what all of them have in common? Then these registers are its alone until
    /// [`Emit::settle`].
    keeps: bool,
    kept: BTreeSet<Ident>,
    /// What the region that is being made sets of them, behind the loop over the warps; and whether it is known that all warps come
    /// to its end.
    sets: TokenStream,
    together: bool,
    /// The qualifiers and types that each qualifier constant holds.
    quals: Vec<(Vec<String>, Vec<Ty>)>,
    qual_items: Vec<TokenStream>,
    /// Statements that can fault, by instruction.
    sites: BTreeMap<u32, u32>,
    site_items: Vec<TokenStream>,
    /// The instruction being emitted names no state space: `[variable]` stands for the variable's generic address.
    generic: bool,
    /// Functions that may run again before they return, and the bytes of local memory an activation of one takes.
    recursive: BTreeSet<u32>,
    frame: u64,
}

/// The printed module: one constant for all its kernels.
pub struct Text<'m> {
    /// Its name in Rust.
    pub name: Ident,
    ptx: &'m str,
    /// The text, by line.
    lines: Vec<&'m str>,
    /// The line of each instruction, from 1.
    line_of: &'m [u32],
}

impl<'m> Text<'m> {
    /// Named after the first kernel. `line_of` gives the line of each instruction in `ptx`, from 1.
    pub fn new(ptx: &'m str, line_of: &'m [u32], first: &Ident) -> Self {
        let name = format_ident!("__PTX_{}", first);
        Text { name, ptx, lines: ptx.lines().collect::<Vec<_>>(), line_of }
    }

    /// The constant.
    pub fn item(&self) -> TokenStream {
        let (name, ptx) = (&self.name, self.ptx);
        quote! {
            #[doc(hidden)]
            #[allow(non_upper_case_globals)]
            const #name: &str = #ptx;
        }
    }
}

/// Everything for one entry: its code; type, `Kernel`, `launch`. A stub has no code: it stands in for a kernel with errors.
pub fn kernel(module: &Module, entry: FuncId, source: &Source<'_>, text: &Text<'_>, stub: bool) -> [TokenStream; 2] {
    let original = &module.functions[entry.0 as usize];
    let renamed = if stub { None } else { webs::renamed(original) };
    let function = renamed.as_ref().unwrap_or(original);
    let mut program = if stub { regions::Program::empty(entry) } else { cutter::program(module, entry, function) };
    let mut e = Emit {
        module,
        entry,
        function,
        source,
        text,
        fields: BTreeMap::new(),
        classes: classes::Classes::default(),
        reqntid: function.reqntid,
        entered: BTreeSet::new(),
        trails: BTreeSet::new(),
        large: false,
        far: false,
        one_level: false,
        shared: false,
        apart: false,
        distant: false,
        operations: BTreeMap::new(),
        places: 0,
        pieces: Vec::new(),
        waits: Vec::new(),
        common: None,
        common_next: None,
        agreed: BTreeSet::new(),
        keeps: false,
        kept: BTreeSet::new(),
        sets: TokenStream::new(),
        together: false,
        quals: Vec::new(),
        qual_items: Vec::new(),
        sites: BTreeMap::new(),
        site_items: Vec::new(),
        generic: false,
        recursive: program.recursive.clone(),
        frame: u64::from(program.local_size(module).next_multiple_of(16)),
    };
    e.classes = e.classify(&program);
    for _ in 0..FOLDS {
        if e.classes.all_live || !fold::fold(&mut program, &e.classes, &|i| e.weight(i)) {
            break;
        }
        program = regions::number(program);
        e.classes = e.classify(&program);
    }
    let step = e.step(&program);
    let parameters = function.params.iter().enumerate().map(|(i, p)| e.passing(i, p)).collect::<Vec<_>>();
    let info = e.info(entry, &program, &parameters);
    e.item(entry, step, info, parameters)
}

impl Emit<'_> {
    /// The constant that holds an instruction's qualifiers and types.
    fn q(&mut self, instr: &Instr) -> Ident {
        let mut flags: Vec<String> = Vec::new();
        for q in &instr.quals {
            // `tcgen05.wait::ld` has the qualifier `::ld`.
            let name = q.trim_start_matches(['.', ':']);
            if Ty::from_name(name).is_none() {
                flags.push(mangle(name));
            }
        }
        if let Some(space) = self.param_space(instr) {
            flags.push(space.into());
        }
        // A descriptor of A in shared memory, or an address in Tensor Memory: only the brackets tell.
        if instr.operand("a-tmem").is_some() {
            flags.push("a_tmem".into());
        }
        // The same of `_` in place of a state.
        if matches!(instr.operand("state"), Some(a) if a.role == Role::Dst && !matches!(a.value, Operand::Sink)) {
            flags.push("state".into());
        }
        let rt = RT;
        let known = self.quals.iter().position(|(f, t)| *f == flags && *t == instr.types);
        if let Some(n) = known {
            return format_ident!("Q{n}");
        }
        let name = format_ident!("Q{}", self.quals.len());
        let names = flags.iter().map(|f| format_ident!("{f}")).collect::<Vec<_>>();
        let types = instr.types.iter().map(|t| format_ident!("{t:?}")).collect::<Vec<_>>();
        self.qual_items.push(quote! {
            const #name: #rt::Q =
                #rt::Q::of(&const { #rt::Qualifiers::new(&[#(#rt::q::#names),*], &[#(#rt::Ty::#types),*]) });
        });
        self.quals.push((flags, instr.types.clone()));
        name
    }

    /// `.param` alone does not say whose parameter it is; the variable does.
    fn param_space(&self, instr: &Instr) -> Option<&'static str> {
        use ptx_dsl_isa::hir::{Base, Operand, Space};
        if !instr.begins(".param") || !matches!(instr.entry.opcode, "ld" | "st") {
            return None;
        }
        let mut func = instr.has(".param::func");
        for a in &instr.operands {
            if let Operand::Address(Base::Var(v), _) = a.value {
                func |= self.module.vars[v.0 as usize].space == Space::ParamFunc;
            }
        }
        Some(if func { "param_func" } else { "param_entry" })
    }

    /// The number of the statement, for reports.
    fn site(&mut self, instr: &Instr) -> u32 {
        if let Some(&n) = self.sites.get(&instr.index) {
            return n;
        }
        let n = self.site_items.len() as u32;
        let line = self.text.line_of.get(instr.index as usize).copied().unwrap_or(0);
        let text = match self.text.lines.get((line as usize).wrapping_sub(1)) {
            Some(line) => line.trim(),
            None => "",
        };
        let rust_line = (self.source.line)(instr.span);
        let rt = RT;
        self.site_items.push(quote!(#rt::Site { text: #text, line: #line, rust_line: #rust_line }));
        self.sites.insert(instr.index, n);
        n
    }

    /// The host's function for an instruction: its module and name.
    fn function(&self, instr: &Instr) -> TokenStream {
        let rt = RT;
        let family = format_ident!("{}", module_of(instr.family));
        let name = format_ident!("{}", function_of(instr.entry.opcode, instr));
        quote!(#rt::isa::#family::#name)
    }
}

/// The runtime module of a family. The arithmetic families of the manual share their opcodes, so they share one module.
pub fn module_of(family: &str) -> &str {
    match family {
        "integer" | "extended" | "float" | "half" | "mixed" => "arith",
        "convert" => "cvt",
        other => other,
    }
}

/// The runtime function of an opcode. `.cta` in `bar.cta.sync` changes nothing; `.cc` on `mad` and friends is another function.
pub fn function_of(opcode: &str, instr: &Instr) -> String {
    let mut name = String::new();
    for word in opcode.split('.').filter(|word| *word != "cta") {
        if !name.is_empty() {
            name.push('_');
        }
        push_clean(&mut name, word);
    }
    if matches!(opcode, "add" | "sub" | "mad") && instr.has(".cc") {
        name.push_str("_cc");
    }
    if matches!(name.as_str(), "match" | "as" | "type") {
        name.push('_');
    }
    name
}

/// What can stand in a name, and `_` for the rest.
fn push_clean(name: &mut String, word: &str) {
    for c in word.chars() {
        name.push(if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' });
    }
}

/// The name of a qualifier's constant: every run of other characters is one `_`.
pub fn mangle(qualifier: &str) -> String {
    let mut out = String::new();
    for c in qualifier.chars() {
        if c.is_ascii_alphanumeric() || c == '_' {
            out.push(c);
        } else if !out.ends_with('_') {
            out.push('_');
        }
    }
    let keyword = matches!(
        out.as_str(),
        "const" | "async" | "match" | "as" | "type" | "in" | "for" | "if" | "loop" | "ref" | "abstract" | "final"
    );
    if keyword || out.starts_with(|c: char| c.is_ascii_digit()) { format!("_{out}") } else { out }
}
