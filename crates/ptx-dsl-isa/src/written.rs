//! What a statement writes of an instruction: qualifiers, operands, a guard. The custom rules of the table see no more of it.

use crate::constant::ConstId;
use crate::ids::Opcode;
use crate::isa::operand::Role;
use crate::isa::sreg::SpecialRegister;
use crate::isa::when::When;
use crate::qualifier::Qualifier;
use crate::span::Span;
use crate::ty::Ty;

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident),*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);
    )*};
}
id!(
    /// Index into the variables of a module.
    VarId,
    /// Index into the registers of a function.
    RegId,
    /// Index into the functions of a module.
    FuncId,
    /// Index into the labels of a function.
    LabelId
);

/// An instruction as it is written, operands typed.
#[derive(Debug, Clone)]
pub struct Written {
    /// What PTX calls it.
    pub opcode: Opcode,
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
}

impl Written {
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
        self.operands.iter().find(|operand| operand.role == Role::Addr)
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
    pub fn fulfils(&self, when: &When) -> bool {
        match when {
            When::Has(q) => self.has(*q),
            When::Not(q) => !self.has(*q),
            When::HasAny(list) => self.has_any(list),
            When::Operand(name) => self.operand(name).is_some(),
            When::Sink(name) => matches!(self.operand(name), Some(Arg { value: Operand::Sink, .. })),
            When::Types(list) => self.types == *list,
        }
    }

    /// Does one of the conditions hold?
    pub fn fulfils_any(&self, when: &[When]) -> bool {
        when.iter().any(|w| self.fulfils(w))
    }

    /// The first of these qualifiers that is written.
    pub fn first_of(&self, qualifiers: &[Qualifier]) -> Option<Qualifier> {
        first_of(&self.quals, qualifiers)
    }
}

/// An operand with the name it has in the syntax block.
#[derive(Debug, Clone)]
pub struct Arg {
    /// `addr`, `count`, `d`.
    pub name: &'static str,
    /// Whether it is read or written.
    pub role: Role,
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
    /// An expression of Rust constants, whose value the macro does not know: the same in all threads.
    Rust(ConstId),
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
