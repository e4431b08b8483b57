//! Selection of scalar operations: instructions that are one Rust expression on the registers' own types. All others call the
//! runtime's functions, on 64 bits.

use super::sreg;
use crate::instr::is_move;
use crate::kernel::Kernel;
use crate::names::{RT, int};
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_isa::hir::{FuncId, Instr, Operand};
use ptx_dsl_isa::isa::Host;
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::{Qualifier, q};
use ptx_dsl_isa::ty::{Class, Ty};
use quote::{format_ident, quote};

/// The operation of a scalar instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Mov,
    Add,
    Sub,
    Mul,
    Mad,
    Wide,
    MadWide,
    And,
    Or,
    Xor,
    Not,
    Neg,
    Shl,
    Shr,
    Min,
    Max,
    Div,
    Rem,
    Setp(Compare),
    SetpFloat(Compare),
    Selp,
    Cvt,
    ToFloat,
    Fadd,
    Fsub,
    Fmul,
    Ffma,
    /// `mapa.shared::cluster.u32`
    Mapa,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Compare {
    fn of(qualifier: Qualifier) -> Option<Self> {
        Some(match qualifier {
            q::eq => Compare::Eq,
            q::ne => Compare::Ne,
            q::lt | q::lo => Compare::Lt,
            q::le | q::ls => Compare::Le,
            q::gt | q::hi => Compare::Gt,
            q::ge | q::hs => Compare::Ge,
            _ => return None,
        })
    }

    /// The method of `PartialEq` or `PartialOrd`.
    fn method(self) -> Ident {
        let name = match self {
            Compare::Eq => "eq",
            Compare::Ne => "ne",
            Compare::Lt => "lt",
            Compare::Le => "le",
            Compare::Gt => "gt",
            Compare::Ge => "ge",
        };
        format_ident!("{name}")
    }
}

/// An instruction as a scalar operation.
#[derive(Debug, Clone, Copy)]
pub struct ScalarOp {
    pub op: Op,
    /// Width of the operands.
    pub bits: u32,
    pub signed: bool,
    /// Width of the result.
    pub to: u32,
}

/// The cost of an instruction that 32 lanes compute, in simple instructions.
pub fn weight(kernel: &Kernel<'_>, i: &Instr) -> u32 {
    match i.entry.host {
        _ if i.entry.slow => 16,
        Host::Warp if i.opcode != op::cvta => 2,
        Host::Warp => 1,
        _ if is_move(i) || scalar_op(kernel, kernel.entry, i).is_some() => 1,
        _ => 4,
    }
}

/// Does each lane call a function of the runtime for it?
pub fn calls_in_lanes(kernel: &Kernel<'_>, f: FuncId, i: &Instr) -> bool {
    i.entry.host == Host::Lane && scalar_op(kernel, f, i).is_none()
}

/// The scalar operation of an instruction, if it is one. Registers must be as wide as the types say.
pub fn scalar_op(kernel: &Kernel<'_>, f: FuncId, i: &Instr) -> Option<ScalarOp> {
    if !matches!(i.entry.host, Host::Lane | Host::Control) && !matches!(i.opcode, op::cvta | op::mapa) {
        return None;
    }
    let ty = *i.types.first()?;
    let found = if i.opcode == op::cvt { conversion(i) } else { operation(i, ty) }?;
    // every operand a value of the expected width
    let fits = |n: usize, o: &Operand| {
        let wanted = if n == 0 { found.to } else { found.source_bits(n - 1) };
        match o {
            Operand::Reg(r, _) => kernel.reg_bits(f, *r) == wanted,
            Operand::NotReg(_) => n > 0 && wanted == 1,
            // a guarded special register is 32 bits wide
            Operand::Sreg(register) => n > 0 && (wanted == 32 || sreg::affine(kernel, *register).guards == 0),
            Operand::Imm(_) | Operand::VarAddr(..) => n > 0,
            _ => false,
        }
    };
    let all_fit = i.operands.iter().enumerate().all(|(n, a)| fits(n, &a.value));
    (all_fit && i.operands.len() == found.sources() + 1).then_some(found)
}

/// The qualifiers that are no types.
fn modifiers(i: &Instr) -> impl Iterator<Item = Qualifier> {
    i.quals.iter().copied().filter(|q| q.ty().is_none())
}

/// The only modifier of an instruction, if any; `None` if it has more.
fn one_modifier(i: &Instr) -> Option<Option<Qualifier>> {
    let mut all = modifiers(i);
    let one = all.next();
    all.next().is_none().then_some(one)
}

/// Is it a `cvta` between generic addresses and those of global memory, which are the same?
fn is_cvta_global(i: &Instr) -> bool {
    modifiers(i).all(|q| matches!(q, q::to | q::global)) && i.has(q::global)
}

/// Is it an integer type that Rust has?
fn is_int(t: Ty) -> bool {
    matches!(t.class(), Class::Unsigned | Class::Signed) && matches!(t.bits(), 16 | 32 | 64)
}

/// A `cvt`.
fn conversion(i: &Instr) -> Option<ScalarOp> {
    let [to, from] = i.types[..] else { return None };
    let (bits, signed) = (from.bits(), from.class() == Class::Signed);
    match one_modifier(i)? {
        None if is_int(to) && is_int(from) => Some(ScalarOp { op: Op::Cvt, bits, signed, to: to.bits() }),
        Some(q::rn) if to == Ty::F32 && is_int(from) && bits == 32 => {
            Some(ScalarOp { op: Op::ToFloat, bits, signed, to: 32 })
        }
        _ => None,
    }
}

/// Any other instruction.
fn operation(i: &Instr, ty: Ty) -> Option<ScalarOp> {
    let (class, bits) = (ty.class(), ty.bits());
    let signed = class == Class::Signed;
    if i.opcode == op::cvta {
        return if is_cvta_global(i) { Some(ScalarOp { op: Op::Mov, bits, signed, to: bits }) } else { None };
    }
    let modifier = one_modifier(i)?;
    let one = i.types.len() == 1;
    let scalar = one && matches!(class, Class::Bits | Class::Unsigned | Class::Signed) && matches!(bits, 16 | 32 | 64);
    let f32 = ty == Ty::F32 && one && matches!(modifier, None | Some(q::rn));
    let plain = scalar && modifier.is_none();
    let logic = plain || ty == Ty::Pred;
    let two = i.operands.len() == 3;
    let (op, to) = match i.opcode {
        op::mov if one && modifier.is_none() && matches!(bits, 1 | 16 | 32 | 64) => (Op::Mov, bits),
        op::mapa if modifier == Some(q::shared_cluster) && bits == 32 => (Op::Mapa, 32),
        op::add if plain => (Op::Add, bits),
        op::sub if plain => (Op::Sub, bits),
        op::add if f32 => (Op::Fadd, 32),
        op::sub if f32 => (Op::Fsub, 32),
        op::mul if f32 => (Op::Fmul, 32),
        op::fma if f32 => (Op::Ffma, 32),
        op::mul if scalar && modifier == Some(q::lo) => (Op::Mul, bits),
        op::mad if scalar && modifier == Some(q::lo) => (Op::Mad, bits),
        op::mul if scalar && bits == 32 && modifier == Some(q::wide) => (Op::Wide, 64),
        op::mad if scalar && bits == 32 && modifier == Some(q::wide) => (Op::MadWide, 64),
        op::and if logic => (Op::And, bits),
        op::or if logic => (Op::Or, bits),
        op::xor if logic => (Op::Xor, bits),
        op::not if logic => (Op::Not, bits),
        op::neg if plain => (Op::Neg, bits),
        op::shl if plain => (Op::Shl, bits),
        op::shr if plain => (Op::Shr, bits),
        op::min if plain && two => (Op::Min, bits),
        op::max if plain && two => (Op::Max, bits),
        op::div if plain && !signed => (Op::Div, bits),
        op::rem if plain && !signed => (Op::Rem, bits),
        op::selp if one && modifier.is_none() && matches!(bits, 16 | 32 | 64) => (Op::Selp, bits),
        op::setp if scalar && two => (Op::Setp(Compare::of(modifier?)?), 1),
        op::setp if one && two && ty == Ty::F32 => (Op::SetpFloat(Compare::of(modifier?)?), 1),
        _ => return None,
    };
    Some(ScalarOp { op, bits, signed, to })
}

impl ScalarOp {
    pub fn sources(self) -> usize {
        match self.op {
            Op::Mov | Op::Not | Op::Neg | Op::Cvt | Op::ToFloat => 1,
            Op::Mad | Op::MadWide | Op::Selp | Op::Ffma => 3,
            _ => 2,
        }
    }

    /// Width of a source.
    pub fn source_bits(self, n: usize) -> u32 {
        match (self.op, n) {
            (Op::Shl | Op::Shr, 1) => 32,
            (Op::Selp, 2) => 1,
            (Op::MadWide, 2) => 64,
            _ => self.bits,
        }
    }

    /// May its result be a NaN that is not canonical? So it is for f32 arithmetic.
    pub fn gives_any_nan(self) -> bool {
        matches!(self.op, Op::Fadd | Op::Fsub | Op::Fmul | Op::Ffma)
    }

    /// Does it give the same result for all NaNs of a source?
    pub fn takes_any_nan(self) -> bool {
        self.gives_any_nan() || matches!(self.op, Op::SetpFloat(_))
    }

    /// The instruction as a Rust expression. A NaN that it gives may not be canonical.
    pub fn expression(self, s: &[TokenStream]) -> TokenStream {
        let rt = RT;
        let none = quote!(0);
        let source = |n: usize| s.get(n).unwrap_or(&none);
        let (a, b, c) = (source(0), source(1), source(2));
        let (u, i) = (int(self.bits, false), int(self.bits, true));
        let (to, signed_to) = (int(self.to, false), int(self.to, true));
        let wide = if self.signed { quote!(as i32 as i64 as u64) } else { quote!(as u64) };
        match self.op {
            Op::Mov => quote!(#a),
            Op::Add => quote!((#a).wrapping_add(#b)),
            Op::Sub => quote!((#a).wrapping_sub(#b)),
            Op::Mul => quote!((#a).wrapping_mul(#b)),
            Op::Mad => quote!((#a).wrapping_mul(#b).wrapping_add(#c)),
            Op::Wide => quote!(((#a) #wide).wrapping_mul((#b) #wide)),
            Op::MadWide => quote!(((#a) #wide).wrapping_mul((#b) #wide).wrapping_add(#c)),
            Op::And => quote!((#a & #b)),
            Op::Or => quote!((#a | #b)),
            Op::Xor => quote!((#a ^ #b)),
            Op::Not => quote!((!#a)),
            Op::Neg => quote!((#a).wrapping_neg()),
            Op::Shl => quote!({ let s: u32 = #b; if s < #u::BITS { (#a) << s } else { 0 } }),
            Op::Shr if self.signed => quote!(((#a) as #i >> (#b).min(#u::BITS - 1)) as #u),
            Op::Shr => quote!({ let s: u32 = #b; if s < #u::BITS { (#a) >> s } else { 0 } }),
            Op::Min if self.signed => quote!(((#a) as #i).min((#b) as #i) as #u),
            Op::Max if self.signed => quote!(((#a) as #i).max((#b) as #i) as #u),
            Op::Min => quote!((#a).min(#b)),
            Op::Max => quote!((#a).max(#b)),
            Op::Div => quote!(#u::checked_div(#a, #b).unwrap_or(#u::MAX)),
            Op::Rem => quote!(#u::checked_rem(#a, #b).unwrap_or(#u::MAX)),
            Op::Setp(op) => {
                let op = op.method();
                if self.signed { quote!((((#a) as #i).#op(&((#b) as #i)))) } else { quote!(((#a).#op(&(#b)))) }
            }
            Op::SetpFloat(op) => {
                if op == Compare::Ne {
                    // ordered: false for NaN
                    quote!({ let (a, b) = (f32::from_bits(#a), f32::from_bits(#b)); a < b || a > b })
                } else {
                    let op = op.method();
                    quote!((f32::from_bits(#a)).#op(&(f32::from_bits(#b))))
                }
            }
            Op::Selp => quote!(if #c { #a } else { #b }),
            Op::Cvt if self.signed => quote!(((#a) as #i as #signed_to as #to)),
            Op::Cvt => quote!(((#a) as #to)),
            Op::ToFloat if self.signed => quote!(((#a) as i32 as f32).to_bits()),
            Op::ToFloat => quote!(((#a) as f32).to_bits()),
            Op::Fadd => quote!(#rt::lanes::fadd(#a, #b)),
            Op::Fsub => quote!(#rt::lanes::fsub(#a, #b)),
            Op::Fmul => quote!(#rt::lanes::fmul(#a, #b)),
            Op::Mapa => quote!(#rt::isa::address::mapped_shared(#a, #b)),
            Op::Ffma => quote!(#rt::lanes::ffma::<L>(#a, #b, #c)),
        }
    }
}
