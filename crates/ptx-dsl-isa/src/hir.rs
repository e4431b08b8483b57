//! The typed module: names are resolved, each instruction is a form of the table with its qualifiers, and constants are folded.
//! Code generation and the analyses read it; the printer takes the spelling of instructions from it.

use std::ops::{Deref, DerefMut};

use crate::constant::{ConstId, Constants, Count};
use crate::isa::entry;
use crate::isa::memory::Access;
use crate::meaning::order::Order;
use crate::opcode::Entry;
use crate::origin::Origins;
use crate::qualifier::Qualifier;
use crate::span::Span;
use crate::ty::{Class, Ty};
pub use crate::written::{Arg, Base, FuncId, LabelId, Operand, RegId, VarId, Written, after, first_of, has_any};

/// A region of a variable in shared memory, which has a name of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedRegion {
    /// The function in which the region is declared; `None` at module scope.
    pub function: Option<String>,
    /// The variable.
    pub variable: String,
    /// The name of the region.
    pub name: String,
    /// Its first byte in the variable.
    pub offset: u64,
    /// The number of its bytes.
    pub bytes: u64,
}

/// A checked module.
#[derive(Debug, Clone, Default)]
pub struct Module {
    /// `.version`.
    pub version: (u32, u32),
    /// `sm_100a`.
    pub target: String,
    /// 32 or 64.
    pub address_size: u32,
    /// Variables of module scope and of bodies, laid out per state space.
    pub vars: Vec<Var>,
    /// Regions of variables that have names, for reports.
    pub regions: Vec<NamedRegion>,
    /// Functions and kernels, prototypes included.
    pub functions: Vec<Function>,
    /// Bytes of static shared memory of the kernel that has the most, of `.const`, and of `.global`. The latter two have images.
    pub shared_size: u32,
    /// The `.const` bank: initial bytes, zero-filled.
    pub const_image: Vec<u8>,
    /// Module-scope `.global` variables: initial bytes. They live at [`GLOBALS`].
    pub global_image: Vec<u8>,
    /// Canonical spelling (opcode with qualifiers) by `ast::Instr::index`.
    pub spelling: Vec<Option<String>>,
    /// Functions that use a register of the module under a name that a `.func` uses too: PTX keeps its value over calls (PTX ISA
    /// 1 and 2). Here each function has a copy, which differs.
    pub shared_registers: Vec<(FuncId, String)>,
    /// What `.file` and `.loc` say.
    pub origins: Origins,
    /// Rust constants whose values the macro does not know, and the expressions over them.
    pub constants: Constants,
    /// Initial values of `.const` variables that depend on Rust constants, and those of `.global` variables.
    pub const_patches: Vec<Patch>,
    /// See `const_patches`.
    pub global_patches: Vec<Patch>,
    /// Where variables in `.const` begin whose sizes depend on Rust constants, a number that code generation sets, and where they end.
    pub const_open: Option<(ConstId, ConstId)>,
    /// Where variables in `.global` end whose sizes depend on Rust constants.
    pub global_end: Option<ConstId>,
}

/// Address of the first module-scope `.global` variable on the host: segment 1.
pub const GLOBALS: u64 = 1 << 40;

/// Generic address of the `.const` bank on the host.
pub const CONSTS: u64 = 3 << 56;
/// Address of the first function on the host; the following ones are consecutive.
pub const FUNCTIONS: u64 = 5 << 56;

/// State spaces of variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    /// `.global`
    Global,
    /// `.const`
    Const,
    /// `.shared`
    Shared,
    /// `.local`
    Local,
    /// Parameter of a kernel.
    ParamEntry,
    /// Parameter of a function, or a `.param` variable of a body that passes one. On the host it is in local memory.
    ParamFunc,
}

impl Space {
    /// As a qualifier, without its dot.
    pub fn name(self) -> &'static str {
        match self {
            Space::Global => "global",
            Space::Const => "const",
            Space::Shared => "shared",
            Space::Local => "local",
            Space::ParamEntry | Space::ParamFunc => "param",
        }
    }
}

/// A variable with its address.
#[derive(Debug, Clone)]
pub struct Var {
    /// As written.
    pub name: String,
    /// Its state space.
    pub space: Space,
    /// Offset in its space: shared memory of the CTA, `.const` bank, global image, kernel parameters; for `Local` and `ParamFunc`
    /// the offset in the thread's local memory, where functions do not overlap.
    pub offset: u32,
    /// Bytes. 0 for `.extern .shared x[]`, which starts at the end of static shared memory.
    pub size: u32,
    /// In bytes.
    pub align: u32,
    /// Element type.
    pub ty: Ty,
    /// It is an array.
    pub array: bool,
    /// `.extern` without a size.
    pub dynamic: bool,
    /// Declared at module scope.
    pub of_module: bool,
    /// Its size or alignment depends on a Rust constant. Then `size` and `offset` are 0.
    pub rust: Option<RustLayout>,
}

impl Var {
    /// Is its size unknown here?
    pub fn is_open(&self) -> bool {
        self.dynamic || self.rust.is_some()
    }
}

/// The layout of a variable that rustc computes.
#[derive(Debug, Clone, Copy)]
pub struct RustLayout {
    /// In bytes.
    pub size: ConstId,
    /// In bytes.
    pub align: ConstId,
    /// Its offset in its space, after all variables whose layout is known.
    pub offset: ConstId,
    /// Where the variable is declared.
    pub span: Span,
}

/// A value in a memory image that rustc computes.
#[derive(Debug, Clone, Copy)]
pub struct Patch {
    /// The variable, if rustc knows its place; else the image.
    pub var: Option<VarId>,
    /// Offset in the variable or in the image.
    pub at: u32,
    /// Bytes.
    pub width: u32,
    /// The value.
    pub value: ConstId,
    /// A floating-point number is an `f32`.
    pub single: bool,
}

/// What depends on Rust constants in a kernel. The fields of [`Function`] of the same names are `None` then.
#[derive(Debug, Clone, Default)]
pub struct RustParts {
    /// `<const N: u32>`
    pub generics: Vec<ConstId>,
    /// The end of its static shared memory.
    pub shared_end: Option<ConstId>,
    /// The end of the last static variable in shared memory, if it depends on Rust constants.
    pub shared_variables_end: Option<ConstId>,
    /// The end of the variables in the local memory of a thread.
    pub local_end: Option<ConstId>,
    /// `.reqntid`.
    pub reqntid: Option<[Count; 3]>,
    /// `.maxntid`.
    pub maxntid: Option<[Count; 3]>,
    /// `.reqnctapercluster`.
    pub reqnctapercluster: Option<[Count; 3]>,
    /// `.maxclusterrank`.
    pub maxclusterrank: Option<ConstId>,
    /// `.maxnreg`
    pub maxnreg: Option<ConstId>,
    /// `.minnctapersm`
    pub minnctapersm: Option<ConstId>,
}

impl RustParts {
    /// The last directive of a name counts: forgets those before.
    pub fn forget(&mut self, directive: &str) {
        match directive {
            ".reqntid" => self.reqntid = None,
            ".maxntid" => self.maxntid = None,
            ".reqnctapercluster" => self.reqnctapercluster = None,
            ".maxclusterrank" => self.maxclusterrank = None,
            ".maxnreg" => self.maxnreg = None,
            ".minnctapersm" => self.minnctapersm = None,
            _ => {}
        }
    }

    /// May a CTA have more than one dimension, by a `.reqntid` with Rust constants?
    pub fn is_solid(&self) -> bool {
        self.reqntid.is_some_and(|[_, y, z]| [y, z] != [Count::Known(1); 2])
    }
}

/// A function or kernel.
#[derive(Debug, Clone)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// `.entry`.
    pub entry: bool,
    /// Has a body.
    pub defined: bool,
    /// `.visible`, `.weak`, ... ; empty for none.
    pub linkage: Vec<String>,
    /// Parameters, in order.
    pub params: Vec<Param>,
    /// Return parameters. In PTX a `.reg` here is legal too: `reg` says so.
    pub rets: Vec<Param>,
    /// Registers of all scopes.
    pub regs: Vec<Reg>,
    /// Labels.
    pub labels: Vec<Label>,
    /// The statements, with nested scopes flattened.
    pub body: Vec<Stmt>,
    /// The end of its variables in the local memory of a thread.
    pub local_end: u32,
    /// `.reqntid`.
    pub reqntid: Option<[u32; 3]>,
    /// `.maxntid`.
    pub maxntid: Option<[u32; 3]>,
    /// `.reqnctapercluster`.
    pub reqnctapercluster: Option<[u32; 3]>,
    /// `.maxclusterrank`.
    pub maxclusterrank: Option<u32>,
    /// `.explicitcluster`.
    pub explicitcluster: bool,
    /// Static shared memory of the kernel in bytes, up to the end of the last variable it reaches.
    pub shared_size: u32,
    /// The kernel reaches a variable in shared memory whose size the launch gives (`.extern .shared x[]`).
    pub dynamic_shared: bool,
    /// It or a function that it calls reads `%envreg1` or `%envreg2`, where `grid.sync()` finds the memory of a cooperative launch.
    pub cooperative: bool,
    /// The same for `%reserved_smem_offset_1` and similar ones, where cooperative groups find memory for tiles of several warps.
    pub reserved_shared: bool,
    /// `.maxnreg`.
    pub maxnreg: Option<u32>,
    /// `.minnctapersm`.
    pub minnctapersm: Option<u32>,
    /// What depends on Rust constants.
    pub rust: RustParts,
    /// The name's place.
    pub span: Span,
}

/// A parameter.
#[derive(Debug, Clone)]
pub struct Param {
    /// Its variable (`ParamEntry` or `ParamFunc`), unless `reg`.
    pub var: Option<VarId>,
    /// A `.reg` parameter of a `.func`.
    pub reg: Option<RegId>,
    /// Elements of a `.reg` that is a vector, else 1.
    pub lanes: u32,
    /// As written.
    pub name: String,
    /// Element type.
    pub ty: Ty,
    /// Bytes in all.
    pub size: u32,
    /// In bytes.
    pub align: u32,
    /// It is an array.
    pub array: bool,
    /// `.ptr`: its state space (`None` = generic) and alignment.
    pub ptr: Option<(Option<Space>, u32)>,
    /// The alignment, if it is an expression of Rust constants. Then that in `ptr` is 1.
    pub rust_align: Option<ConstId>,
    /// The Rust type written after the name.
    pub rust_type: Option<Span>,
    /// That type is `&[T]`: the kernel only reads through the pointer.
    pub read_only: bool,
    /// The name's place.
    pub span: Span,
}

/// A register.
#[derive(Debug, Clone)]
pub struct Reg {
    /// As written, `%r7` for one of `%r<100>`.
    pub name: String,
    /// Its type.
    pub ty: Ty,
    /// 1, or 2, 4, 8 for `.v2`, `.v4`, `.v8`.
    pub lanes: u32,
}

/// A label.
#[derive(Debug, Clone)]
pub struct Label {
    /// As written.
    pub name: String,
    /// Its place.
    pub span: Span,
}

/// A statement.
#[derive(Debug, Clone)]
pub enum Stmt {
    /// A label stands here.
    Label(LabelId),
    /// An instruction.
    Instr(Box<Instr>),
}

/// A typed instruction. What is written of it is at hand by [`Written`]'s fields and methods.
#[derive(Debug, Clone)]
pub struct Instr {
    /// Number in the module, see `ast::Instr::index`.
    pub index: u32,
    /// The family: file name in `isa/` and in the runtime.
    pub family: &'static str,
    /// The entry.
    pub entry: &'static entry::Instr,
    /// Number of the form in the entry's syntax block.
    pub form: usize,
    /// What is written.
    pub written: Written,
    /// Of a load: the bytes that the program uses, from `.pragma "used_bytes_mask ..."` before it.
    pub used_bytes: Option<u32>,
    /// Where it stands (opcode to last operand).
    pub span: Span,
    /// Where its qualifiers stand, one for each of `quals`. None of an instruction that nobody has written.
    pub words: Vec<Span>,
}

impl Instr {
    /// An instruction that nobody has written, without a guard, in the place of another.
    pub fn made(entry: Entry, quals: Vec<Qualifier>, types: Vec<Ty>, operands: Vec<Arg>, place: &Instr) -> Instr {
        let spelling = place.spelling.clone();
        let written = Written { opcode: entry.opcode, quals, types, pred: None, operands, spelling };
        let (index, span) = (place.index, place.span);
        Instr {
            index,
            family: entry.family,
            entry: entry.instr,
            form: 0,
            written,
            used_bytes: None,
            span,
            words: Vec::new(),
        }
    }

    /// How it orders memory accesses.
    pub fn order(&self) -> Order {
        Order::of(self.entry, |qualifier| self.has(qualifier))
    }

    /// Where the qualifier stands; the whole instruction if it is not written.
    pub fn place_of(&self, qualifier: Qualifier) -> Span {
        let written = self.quals.iter().zip(&self.words).find(|(q, _)| **q == qualifier);
        written.map_or(self.span, |(_, word)| *word)
    }
}

impl Function {
    /// The width of the values of a register: 1 for predicates.
    pub fn value_bits(&self, reg: RegId) -> u32 {
        let ty = self.regs[reg.0 as usize].ty;
        if ty.class() == Class::Pred { 1 } else { ty.bits() }
    }
}

impl Deref for Instr {
    type Target = Written;

    fn deref(&self) -> &Written {
        &self.written
    }
}

impl DerefMut for Instr {
    fn deref_mut(&mut self) -> &mut Written {
        &mut self.written
    }
}

impl Instr {
    /// Does it access memory in this way, by one of its given addresses?
    pub fn accesses(&self, access: Access) -> bool {
        let named = |arg: &Arg| self.entry.operand(arg.name)?.memory;
        self.operands.iter().filter_map(named).any(|memory| memory.access == access)
    }
}
