//! The typed module: names are resolved, each instruction is a form of the table with its qualifiers, and constants are folded.
//! Code generation and the analyses read it; the printer takes the spelling of instructions from it.

use crate::isa;
use crate::isa::sreg::SpecialRegister;
use crate::opcode::Opcode;
use crate::qualifier::Qualifier;
use crate::span::Span;
use crate::ty::Ty;

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
}

/// Address of the first module-scope `.global` variable on the host: segment 1.
pub const GLOBALS: u64 = 1 << 40;

/// Generic address of the `.const` bank on the host.
pub const CONSTS: u64 = 3 << 56;
/// Address of the first function on the host; the following ones are consecutive.
pub const FUNCTIONS: u64 = 5 << 56;

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident),*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);
    )*};
}
id!(
    /// Index into [`Module::vars`].
    VarId,
    /// Index into [`Function::regs`].
    RegId,
    /// Index into [`Module::functions`].
    FuncId,
    /// Index into [`Function::labels`].
    LabelId
);

/// State spaces of variables.
#[allow(missing_docs)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    Global,
    Const,
    Shared,
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
    /// `.maxnreg`.
    pub maxnreg: Option<u32>,
    /// `.minnctapersm`.
    pub minnctapersm: Option<u32>,
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

/// A typed instruction.
#[derive(Debug, Clone)]
pub struct Instr {
    /// Number in the module, see `ast::Instr::index`.
    pub index: u32,
    /// Its opcode.
    pub opcode: Opcode,
    /// The family: file name in `isa/` and in the runtime.
    pub family: &'static str,
    /// The entry.
    pub entry: &'static isa::Instr,
    /// Number of the form in the entry's syntax block.
    pub form: usize,
    /// The qualifiers in the manual's order, types included. Defaults are not added.
    pub quals: Vec<Qualifier>,
    /// The types among them, in order.
    pub types: Vec<Ty>,
    /// `@p` (true) or `@!p` (false).
    pub pred: Option<(Operand, bool)>,
    /// One per operand the form names and the kernel gives, in the form's order.
    pub operands: Vec<Arg>,
    /// As printed, without operands.
    pub spelling: String,
    /// Where it stands (opcode to last operand).
    pub span: Span,
}

impl Instr {
    /// Is the qualifier written?
    pub fn has(&self, qualifier: Qualifier) -> bool {
        self.quals.contains(&qualifier)
    }

    /// Is one of these qualifiers written?
    pub fn has_any(&self, qualifiers: &[Qualifier]) -> bool {
        has_any(&self.quals, qualifiers)
    }

    /// Its address operand, the first if there are two.
    pub fn address(&self) -> Option<&Arg> {
        self.operands.iter().find(|operand| operand.role == isa::Role::Addr)
    }

    /// Does it access memory in this way, by one of its given addresses?
    pub fn accesses(&self, access: isa::memory::Access) -> bool {
        let named = |arg: &Arg| self.entry.operand(arg.name)?.memory;
        self.operands.iter().filter_map(named).any(|memory| memory.access == access)
    }

    /// The number of the operand of this name in the syntax block.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.operands.iter().position(|operand| operand.name == name)
    }

    /// The operand of this name in the syntax block.
    pub fn operand(&self, name: &str) -> Option<&Arg> {
        let number = self.position(name)?;
        Some(&self.operands[number])
    }

    /// Does the condition hold?
    pub fn fulfils(&self, when: &isa::When) -> bool {
        match when {
            isa::When::Has(q) => self.has(*q),
            isa::When::Not(q) => !self.has(*q),
            isa::When::HasAny(list) => self.has_any(list),
            isa::When::Operand(name) => self.operand(name).is_some(),
            isa::When::Sink(name) => matches!(self.operand(name), Some(Arg { value: Operand::Sink, .. })),
            isa::When::Types(list) => self.types == *list,
        }
    }

    /// Does one of the conditions hold?
    pub fn fulfils_any(&self, when: &[isa::When]) -> bool {
        when.iter().any(|w| self.fulfils(w))
    }

    /// The first of these qualifiers that is written.
    pub fn first_of(&self, qualifiers: &[Qualifier]) -> Option<Qualifier> {
        first_of(&self.quals, qualifiers)
    }
}

/// Is one of these among the qualifiers?
pub fn has_any(quals: &[Qualifier], these: &[Qualifier]) -> bool {
    these.iter().any(|q| quals.contains(q))
}

/// The first of these that is among the qualifiers.
pub fn first_of(quals: &[Qualifier], these: &[Qualifier]) -> Option<Qualifier> {
    these.iter().copied().find(|q| quals.contains(q))
}

/// The text after this prefix (with its dot) in the first of the qualifiers that has it.
pub fn after(quals: &[Qualifier], prefix: &str) -> Option<&'static str> {
    quals.iter().find_map(|q| q.after(prefix))
}

/// An operand with the name it has in the syntax block.
#[derive(Debug, Clone)]
pub struct Arg {
    /// `addr`, `count`, `d`.
    pub name: &'static str,
    /// Whether it is read or written.
    pub role: isa::Role,
    /// The type that the instruction expects (of each element, for vectors).
    pub ty: Option<Ty>,
    /// The operand.
    pub value: Operand,
    /// Its place.
    pub span: Span,
}

/// A resolved operand.
#[derive(Debug, Clone)]
pub enum Operand {
    /// A register; for a vector register `%v.y` the element, else 0.
    Reg(RegId, u32),
    /// A constant in the operand's type: integers wrapped to 64 bits (sign-extended if negative), `f32` and `f64` as their bits.
    Imm(u64),
    /// A special register.
    Sreg(SpecialRegister),
    /// Address of a variable plus an offset, as a value in its own space (`mov.u64 %rd, x`).
    VarAddr(VarId, i64),
    /// Address of a function.
    FuncAddr(FuncId),
    /// `{a, b}` (also a whole vector register, expanded).
    Vector(Vec<Operand>),
    /// `_`
    Sink,
    /// `!p`
    NotReg(RegId),
    /// `p|q`
    Pair(Box<Operand>, Box<Operand>),
    /// `[base + offset]`
    Address(Base, i64),
    /// `[tensorMap, {c0, c1}]` and other addresses of several parts.
    Addresses(Vec<Operand>),
    /// A label.
    Label(LabelId),
    /// `.branchtargets`
    Labels(Vec<LabelId>),
    /// The called function.
    Func(FuncId),
    /// `.calltargets`, or the possible targets of a `.callprototype`.
    Funcs(Vec<FuncId>),
    /// `(a, b)` of a call: each a register, constant, or `.param` variable.
    List(Vec<Operand>),
    /// `%r1.b0`
    Select(RegId, String),
    /// `-%r1`, of a video instruction.
    Neg(Box<Operand>),
}

/// The base of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// A register.
    Reg(RegId),
    /// A variable.
    Var(VarId),
    /// Nothing: an absolute address.
    Abs,
}
