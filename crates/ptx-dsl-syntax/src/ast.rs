//! The syntax tree: the module as written, with unresolved names, and qualifiers as a list with spans.

use crate::notes::Notes;
use crate::span::Span;
use ptx_dsl_isa::constant::{ConstId, Constants, Count};
use ptx_dsl_isa::qualifier::Qualifier;

/// A piece of text with its span.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Word {
    /// The text.
    pub text: String,
    /// Its tokens.
    pub span: Span,
}

impl Word {
    /// The qualifier of this word, if the table has it.
    pub fn qualifier(&self) -> Option<Qualifier> {
        Qualifier::from_word(&self.text)
    }
}

/// A PTX module.
#[derive(Debug, Clone, Default)]
pub struct Module {
    /// `.version`, or `ptx M.m` of the header.
    pub version: Option<Version>,
    /// `.target`, or `sm_NN` of the header: `sm_100a`, `texmode_independent`, ...
    pub target: Vec<Word>,
    /// The header has an error, which was reported: what it lacks is not another one.
    pub broken_header: bool,
    /// `.address_size`.
    pub address_size: Option<(u32, Span)>,
    /// Everything else, in order.
    pub items: Vec<Item>,
    /// Number of instructions; [`Instr::index`] counts them.
    pub instrs: u32,
    /// `allow(PTX0612)`, `warn(...)`, `deny(...)` of the header.
    pub levels: Vec<crate::levels::SetLevel>,
    /// Rust constants whose values the macro does not know.
    pub constants: Constants,
    /// Regions of variables in shared memory.
    pub regions: Vec<ptx_dsl_isa::hir::NamedRegion>,
    /// Layouts of tiles.
    pub layouts: Vec<crate::parse::NamedLayout>,
    /// Comments and lines, if they are to be printed.
    pub notes: Notes,
}

/// `M.m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version {
    /// M.
    pub major: u32,
    /// m.
    pub minor: u32,
    /// Its tokens.
    pub span: Span,
}

/// An item at module scope.
#[derive(Debug, Clone)]
pub enum Item {
    /// A variable.
    Var(VarDecl),
    /// A function or kernel, defined or only declared.
    Function(Function),
    /// `.file`, `.section`, `.pragma`, `.alias`, ...
    Directive(Directive),
}

/// `.entry` or `.func`.
#[derive(Debug, Clone, Default)]
pub struct Function {
    /// `.extern`, `.visible`, `.weak`, in the order written, with their dots.
    pub linkage: Vec<Word>,
    /// `.entry`, otherwise `.func`.
    pub entry: bool,
    /// `.attribute(...)`, verbatim.
    pub attribute: Option<Word>,
    /// Its name.
    pub name: Word,
    /// `<const N: u32>`, of a kernel.
    pub generics: Vec<ConstId>,
    /// Return parameters.
    pub rets: Vec<VarDecl>,
    /// Parameters.
    pub params: Vec<VarDecl>,
    /// `.reqntid 256`, `.maxnreg 64`, `.noreturn`, `.pragma "..."`, between the parameters and the body.
    pub directives: Vec<Directive>,
    /// `None` for a prototype.
    pub body: Option<Vec<Stmt>>,
    /// From the first token to the last of the signature.
    pub span: Span,
    /// The `}` of the body.
    pub end: Span,
}

/// A variable, register, or parameter declaration: one type, one or more names.
#[derive(Debug, Clone)]
pub struct VarDecl {
    /// `.extern`, `.visible`, `.weak`, `.common`, with their dots.
    pub linkage: Vec<Word>,
    /// `.reg`, `.shared`, `.global`, `.const`, `.local`, `.param`, `.sreg`, `.tex`, with its dot.
    pub space: Word,
    /// `.attribute(...)`, verbatim.
    pub attribute: Option<Word>,
    /// `.align N` of the variable (before or after the type).
    pub align: Option<(Count, Span)>,
    /// `.v2`, `.v4`, `.v8`: 2, 4, 8.
    pub vector: Option<(u32, Span)>,
    /// `.b32`, `.pred`, `.texref`, with its dot.
    pub ty: Word,
    /// `.ptr{.space}{.align N}` of a kernel parameter.
    pub ptr: Option<Ptr>,
    /// The names.
    pub names: Vec<Declarator>,
    /// All of it.
    pub span: Span,
}

/// `.ptr .global .align 4`.
#[derive(Debug, Clone)]
pub struct Ptr {
    /// `.global`, `.shared`, ..., with its dot.
    pub space: Option<Word>,
    /// In bytes.
    pub align: Option<(Count, Span)>,
    /// All of it.
    pub span: Span,
}

/// One name of a declaration.
#[derive(Debug, Clone)]
pub struct Declarator {
    /// The name, without `<N>`.
    pub name: Word,
    /// N of `%r<N>`.
    pub range: Option<(Count, Span)>,
    /// Array dimensions; `None` for `[]`.
    pub dims: Vec<Option<Count>>,
    /// `= ...`.
    pub init: Option<Init>,
    /// The tokens of the Rust type after `name:` (macro only; text has none).
    pub rust_type: Option<Span>,
    /// The Rust type is a shared reference: `&[T]`, not `&mut [T]`.
    pub read_only: bool,
}

/// An initialiser.
#[derive(Debug, Clone)]
pub enum Init {
    /// `{ a, b, { c } }`
    List(Vec<Init>, Span),
    /// A constant, or an address of a variable or function (`x`, `x+4`, `generic(x)`, `mask(...)`).
    Value(Expr),
    /// `filter_mode = linear`, of a texture, sampler or surface (PTX ISA 5.3).
    Field(Word, Box<Init>),
}

/// A statement of a body.
#[derive(Debug, Clone)]
pub enum Stmt {
    /// A declaration.
    Var(VarDecl),
    /// `name:`
    Label(Word),
    /// An instruction.
    Instr(Instr),
    /// `{ ... }`
    Block(Vec<Stmt>, Span),
    /// `.loc`, `.pragma`, `.branchtargets` and friends.
    Directive(Directive),
    /// What a use of a piece gives to the block that begins here.
    Arguments(Arguments),
    /// A statement of `ptx!` that is not PTX. `crate::lower` writes it as instructions; no module that is checked has one.
    Form(Box<Form>),
}

/// Statements of `ptx!` that become instructions.
#[derive(Debug, Clone)]
pub enum Form {
    /// `let %x = ...;`, `%x = ...;`
    Assign(Assign),
    /// `if %x < %n { ... } else { ... }`
    If {
        /// The condition.
        condition: Expr,
        /// The statements where it is true.
        then: Vec<Stmt>,
        /// The statements where it is false.
        otherwise: Vec<Stmt>,
    },
    /// `while %x < %n { ... }`, `loop { ... }`
    Loop {
        /// The condition of `while`.
        condition: Option<Expr>,
        /// The statements of the first round, with `@peel`.
        first: Option<Vec<Stmt>>,
        /// The statements of the other rounds.
        body: Vec<Stmt>,
        /// Its name: `outer: loop { ... }`.
        name: Option<Word>,
        /// The first word.
        span: Span,
    },
    /// `break;`, or `break outer;`
    Break(Span, Option<Word>),
    /// `continue;`, or `continue outer;`
    Continue(Span, Option<Word>),
}

/// `let %x: s32 = ...;`, `%x = ...;`
#[derive(Debug, Clone)]
pub struct Assign {
    /// With `let`, which declares the register.
    pub declares: bool,
    /// The register.
    pub target: Word,
    /// Its type, if it is written.
    pub ty: Option<Word>,
    /// The value, an expression of registers.
    pub value: Expr,
    /// All of it.
    pub span: Span,
}

/// The arguments of a piece.
#[derive(Debug, Clone)]
pub struct Arguments {
    /// `ring::wait`
    pub piece: String,
    /// The registers, values, addresses and labels.
    pub given: Vec<Argument>,
}

/// An argument of a piece, with the declaration of its parameter.
#[derive(Debug, Clone)]
pub struct Argument {
    /// What it must be.
    pub kind: ArgumentKind,
    /// The name of the parameter.
    pub name: String,
    /// Where that is declared.
    pub declared: Span,
    /// The argument.
    pub given: Operand,
}

/// What a parameter of a piece stands for; types and state spaces with their dots.
#[derive(Debug, Clone)]
pub enum ArgumentKind {
    /// `.reg .b64 %r`
    Register(Word),
    /// `.reg .f32 %d<64>`: a list of registers.
    Registers(Word),
    /// `.b32 %value`: a register or a constant.
    Value(Word),
    /// `.shared .b64 name`
    Address(Word, Word),
    /// `label done`
    Label,
}

/// A directive that is not a declaration. Label-bound ones (`L: .branchtargets a, b;`) have `label`.
#[derive(Debug, Clone)]
pub struct Directive {
    /// `L` of `L: .branchtargets ...`.
    pub label: Option<Word>,
    /// With its dot: `.reqntid`.
    pub name: Word,
    /// The arguments, as constant expressions, names or strings.
    pub args: Vec<Arg>,
    /// For directives kept as text (`.section { ... }`, `.callprototype ...`): everything after the name, as printed.
    pub text: Option<String>,
    /// The parameters of a `.callprototype`.
    pub prototype: Option<Box<Prototype>>,
    /// All of it.
    pub span: Span,
}

/// An argument of a directive.
#[derive(Debug, Clone)]
pub enum Arg {
    /// A number or a name.
    Expr(Expr),
    /// `"..."`
    Str(Word),
}

/// `.callprototype (ret) _ (params)`.
#[derive(Debug, Clone)]
pub struct Prototype {
    /// Return parameters.
    pub rets: Vec<VarDecl>,
    /// Parameters.
    pub params: Vec<VarDecl>,
}

/// An instruction as written.
#[derive(Debug, Clone)]
pub struct Instr {
    /// The number of the instruction in the module, from 0.
    pub index: u32,
    /// `@p`, `@!p`.
    pub pred: Option<Pred>,
    /// The dotted parts without their dots: `ld`, `shared::cta`, `b32`. `::` parts are one piece
    /// (`mbarrier::complete_tx::bytes`). The `.unified` that follows an address comes last.
    pub parts: Vec<Word>,
    /// The operands.
    pub operands: Vec<Operand>,
    /// From the first token of the opcode (not the predicate) to the last operand.
    pub span: Span,
}

/// `@p`, `@!p`
#[derive(Debug, Clone)]
pub struct Pred {
    /// `!`
    pub negated: bool,
    /// The predicate register.
    pub reg: Word,
}

/// An operand as written.
#[derive(Debug, Clone)]
pub struct Operand {
    /// What it is.
    pub kind: OperandKind,
    /// All of it.
    pub span: Span,
}

/// The shapes of operands.
#[derive(Debug, Clone)]
pub enum OperandKind {
    /// A name or a constant expression: `%r1`, `x`, `%tid.x`, `4`, `x+4`, `0f3F800000`, `-1`, `(2*4)`.
    Expr(Expr),
    /// `!p`
    Not(Word),
    /// `{a, b}`; elements may be any operand.
    Vector(Vec<Operand>),
    /// `_`
    Sink,
    /// `p|q`
    Pair(Box<Operand>, Box<Operand>),
    /// `x[1]`: an element of an array (PTX ISA 6.4.2): its memory for `ld` and `st`, its address for `mov`.
    Index(Word, Expr),
    /// `[...]`: one operand for `[r+4]`, several for `[tensor, {x, y}]`.
    Address(Vec<Operand>),
    /// `(a, b)` of a call.
    List(Vec<Operand>),
    /// `%r1.b0`: a selector on a register (video instructions); `%v.x` of a vector register is [`Expr::Name`] with `member`.
    Select(Word, Word),
    /// `-%r1`, `-%r1.h0`: a negated register (`vmad`).
    Neg(Box<Operand>),
}

/// A constant expression or a name.
#[derive(Debug, Clone)]
pub enum Expr {
    /// An integer literal; `unsigned` for a `U` suffix or a value over `i64::MAX`.
    Int {
        /// The 64 bits.
        value: u64,
        /// Has type `.u64` rather than `.s64`.
        unsigned: bool,
        /// The original text if it is not decimal (`0x1F`, `017`, `0b11`): it is printed like this.
        text: Option<String>,
        /// Its tokens.
        span: Span,
    },
    /// `0f...`
    F32 {
        /// The bits of an f32.
        bits: u32,
        /// As written.
        text: Option<String>,
        /// Its tokens.
        span: Span,
    },
    /// `0d...` or a decimal literal.
    F64 {
        /// The bits of an f64.
        bits: u64,
        /// As written, if ptxas reads it as these bits.
        text: Option<String>,
        /// Its tokens.
        span: Span,
    },
    /// A name, with `.x`/`.y`/`.z`/`.w` (`.r .g .b .a`) if it has one.
    Name(Word, Option<Word>),
    /// An expression of Rust constants that the macro does not know: an index into [`Module::constants`].
    Rust(ConstId, Span),
    /// `- ! ~ +`
    Unary(char, Box<Expr>, Span),
    /// `* / % + - << >> < > <= >= == != & ^ | && ||`
    Binary(&'static str, Box<Expr>, Box<Expr>, Span),
    /// `c ? a : b`
    Ternary(Box<Expr>, Box<Expr>, Box<Expr>, Span),
    /// `(.s64) e`, `(.u64) e`
    Cast(Word, Box<Expr>, Span),
    /// `generic(x)`, `mask(...)` in initialisers.
    Call(Word, Vec<Expr>, Span),
}

impl Expr {
    /// Its tokens.
    pub fn span(&self) -> Span {
        match self {
            Expr::Int { span, .. }
            | Expr::F32 { span, .. }
            | Expr::F64 { span, .. }
            | Expr::Unary(_, _, span)
            | Expr::Binary(_, _, _, span)
            | Expr::Ternary(_, _, _, span)
            | Expr::Cast(_, _, span)
            | Expr::Call(_, _, span)
            | Expr::Rust(_, span) => *span,
            Expr::Name(w, m) => m.as_ref().map_or(w.span, |m| w.span.to(m.span)),
        }
    }
}
