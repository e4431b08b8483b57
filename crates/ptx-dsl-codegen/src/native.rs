//! Instructions that are an expression of Rust on the registers' own types, and how their values lie in the lanes of a warp.
//! All others go through the runtime's functions, on 64 bits.

use super::Emit;
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_isa::hir::{FuncId, Instr, Operand};
use ptx_dsl_isa::isa::Host;
use ptx_dsl_isa::qualifier::q;
use ptx_dsl_isa::ty::{Class, Ty};
use quote::{ToTokens, format_ident, quote};

/// How the lanes of a value lie: rows of `p` lanes, in each of which the value grows by `stride` from lane to lane. One lane a
/// row is anything; one row without stride is a value that all lanes share.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub p: u32,
    pub stride: i64,
    /// Not zero: true only under a condition that is found at run time; so many conversions deep.
    pub guard: u8,
    /// The first value of each row is a multiple of two to this power.
    pub twos: u32,
    /// Every warp of a cohort has the same one row.
    pub common: bool,
}

pub const LANES: Shape = Shape { p: 1, stride: 0, guard: 0, twos: 0, common: false };
pub const UNIFORM: Shape = Shape { p: 32, stride: 0, guard: 0, twos: 0, common: false };
pub const COMMON: Shape = Shape { common: true, ..UNIFORM };

/// Conditions that one value may hang on.
const MOST: u8 = 4;

/// Do the lanes lie in the same way?
impl PartialEq for Shape {
    fn eq(&self, o: &Shape) -> bool {
        (self.p, self.stride, self.guard) == (o.p, o.stride, o.guard)
    }
}

impl Shape {
    /// Is it the same in everything that is known?
    pub fn is(self, o: Shape) -> bool {
        self == o && (self.twos, self.common) == (o.twos, o.common)
    }

    pub fn rows(self) -> bool {
        self.p > 1
    }

    /// All lanes share this number.
    pub fn constant(v: u64) -> Shape {
        Shape { twos: v.trailing_zeros(), ..COMMON }
    }

    /// The same as rows of `p` lanes, of which it has a multiple.
    fn cut(self, p: u32) -> Shape {
        let twos = if p < self.p { self.twos.min((self.stride * i64::from(p)).trailing_zeros()) } else { self.twos };
        Shape { p, twos, ..self }
    }

    /// Do all lanes of a row differ from the first in the lowest `bits` bits only, and that by the stride?
    fn within(self, bits: u32) -> bool {
        bits <= self.twos.min(31) && self.stride >= 0 && self.stride * i64::from(self.p - 1) < 1 << bits
    }

    /// What holds whether a register has this shape or the other.
    pub fn join(self, o: Shape) -> Shape {
        let rows = self.rows() && o.rows() && self.stride == o.stride;
        let rows = rows && if self.guard.max(o.guard) > 0 { self == o } else { true };
        let p = self.p.min(o.p);
        let common = self.common && o.common;
        if rows { Shape { twos: self.cut(p).twos.min(o.cut(p).twos), common, ..self.cut(p) } } else { LANES }
    }
}

/// An operation.
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
    Setp(&'static str),
    SetpFloat(&'static str),
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

/// An instruction that is one.
#[derive(Debug, Clone, Copy)]
pub struct Native {
    pub op: Op,
    /// Of the operands.
    pub bits: u32,
    pub signed: bool,
    /// Of the result.
    pub to: u32,
}

fn compare(q: &str) -> Option<&'static str> {
    Some(match q {
        ".eq" => "eq",
        ".ne" => "ne",
        ".lt" | ".lo" => "lt",
        ".le" | ".ls" => "le",
        ".gt" | ".hi" => "gt",
        ".ge" | ".hs" => "ge",
        _ => return None,
    })
}

impl Emit<'_> {
    /// What an instruction takes if 32 lanes compute it, in simple ones.
    pub fn weight(&self, i: &Instr) -> u32 {
        match (i.entry.host, i.entry.opcode) {
            (_, "div" | "rem" | "sqrt" | "rsqrt" | "rcp" | "sin" | "cos" | "ex2" | "lg2" | "tanh") => 16,
            (Host::Warp, "cvta") => 1,
            (Host::Warp, _) => 2,
            (_, "mov") => 1,
            _ if self.native(self.entry, i).is_some() => 1,
            _ => 4,
        }
    }

    /// Is it a function of the runtime that each lane calls?
    pub fn calls_in_lanes(&self, f: FuncId, i: &Instr) -> bool {
        i.entry.host == Host::Lane && self.native(f, i).is_none()
    }

    /// Is the instruction one? Registers must be as wide as the types say.
    pub fn native(&self, f: FuncId, i: &Instr) -> Option<Native> {
        if !matches!(i.entry.host, Host::Lane | Host::Control) && !matches!(i.entry.opcode, "cvta" | "mapa") {
            return None;
        }
        let ty = *i.types.first()?;
        let found = if i.entry.opcode == "cvt" { conversion(i) } else { operation(i, ty) }?;
        // every operand a value of the expected width
        for (n, a) in i.operands.iter().enumerate() {
            let wanted = if n == 0 { found.to } else { found.source_bits(n - 1) };
            let fits = match &a.value {
                Operand::Reg(r, _) => self.reg_bits(f, *r) == wanted,
                Operand::NotReg(_) => n > 0 && wanted == 1,
                // Rows under a guard are 32 bits wide.
                Operand::Sreg(register) => n > 0 && (wanted == 32 || self.sreg_shape(*register).guard == 0),
                Operand::Imm(_) | Operand::VarAddr(..) => n > 0,
                _ => false,
            };
            if !fits {
                return None;
            }
        }
        if i.operands.len() == found.sources() + 1 { Some(found) } else { None }
    }
}

/// The one qualifier of an instruction that is no type, "" if there is none.
fn one_qualifier(i: &Instr) -> Option<&'static str> {
    let mut others = i.quals.iter().filter(|q| q.ty().is_none());
    let one = others.next().map_or("", |q| q.text());
    others.next().is_none().then_some(one)
}

/// Between generic addresses and those of global memory, which are the same?
fn of_global(i: &Instr) -> bool {
    i.has(q::global) && i.quals.iter().all(|q| matches!(*q, q::to | q::global) || q.ty().is_some())
}

/// Is the type one of integers that Rust has?
fn is_int(t: Ty) -> bool {
    matches!(t.class(), Class::Unsigned | Class::Signed) && matches!(t.bits(), 16 | 32 | 64)
}

/// A `cvt`, if it is one.
fn conversion(i: &Instr) -> Option<Native> {
    let [to, from] = i.types[..] else { return None };
    let (bits, signed) = (from.bits(), from.class() == Class::Signed);
    match one_qualifier(i)? {
        "" if is_int(to) && is_int(from) => Some(Native { op: Op::Cvt, bits, signed, to: to.bits() }),
        ".rn" if to == Ty::F32 && is_int(from) && bits == 32 => Some(Native { op: Op::ToFloat, bits, signed, to: 32 }),
        _ => None,
    }
}

/// Any other instruction, if it is one, by its name, qualifiers and type.
fn operation(i: &Instr, ty: Ty) -> Option<Native> {
    let (class, bits) = (ty.class(), ty.bits());
    let signed = class == Class::Signed;
    if i.entry.opcode == "cvta" {
        return if of_global(i) { Some(Native { op: Op::Mov, bits, signed, to: bits }) } else { None };
    }
    let qual = one_qualifier(i)?;
    let one = i.types.len() == 1;
    let scalar = one && matches!(class, Class::Bits | Class::Unsigned | Class::Signed) && matches!(bits, 16 | 32 | 64);
    let f32 = ty == Ty::F32 && one && matches!(qual, "" | ".rn");
    let plain = scalar && qual.is_empty();
    let logic = plain || ty == Ty::Pred;
    let two = i.operands.len() == 3;
    let (op, to) = match i.entry.opcode {
        "mov" if one && qual.is_empty() && matches!(bits, 1 | 16 | 32 | 64) => (Op::Mov, bits),
        "mapa" if qual == ".shared::cluster" && bits == 32 => (Op::Mapa, 32),
        "add" if plain => (Op::Add, bits),
        "sub" if plain => (Op::Sub, bits),
        "add" if f32 => (Op::Fadd, 32),
        "sub" if f32 => (Op::Fsub, 32),
        "mul" if f32 => (Op::Fmul, 32),
        "fma" if f32 => (Op::Ffma, 32),
        "mul" if scalar && qual == ".lo" => (Op::Mul, bits),
        "mad" if scalar && qual == ".lo" => (Op::Mad, bits),
        "mul" if scalar && bits == 32 && qual == ".wide" => (Op::Wide, 64),
        "mad" if scalar && bits == 32 && qual == ".wide" => (Op::MadWide, 64),
        "and" if logic => (Op::And, bits),
        "or" if logic => (Op::Or, bits),
        "xor" if logic => (Op::Xor, bits),
        "not" if logic => (Op::Not, bits),
        "neg" if plain => (Op::Neg, bits),
        "shl" if plain => (Op::Shl, bits),
        "shr" if plain => (Op::Shr, bits),
        "min" if plain && two => (Op::Min, bits),
        "max" if plain && two => (Op::Max, bits),
        "div" if plain && !signed => (Op::Div, bits),
        "rem" if plain && !signed => (Op::Rem, bits),
        "selp" if one && qual.is_empty() && matches!(bits, 16 | 32 | 64) => (Op::Selp, bits),
        "setp" if scalar && two => (Op::Setp(compare(qual)?), 1),
        "setp" if one && two && ty == Ty::F32 => (Op::SetpFloat(compare(qual)?), 1),
        _ => return None,
    };
    Some(Native { op, bits, signed, to })
}

impl Native {
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

    /// How the result lies, from the sources' shapes and those that are constants.
    pub fn shape(self, s: &[(Shape, Option<u64>)]) -> Shape {
        if s.iter().any(|(s, _)| !s.rows()) {
            return LANES;
        }
        let p = least(s);
        let mut guard = 0;
        for (s, _) in s {
            guard = s.guard.max(guard);
        }
        let source = |n: usize| s.get(n).map_or(UNIFORM, |(s, _)| s.cut(p));
        let stride = |n: usize| source(n).stride;
        let twos = |n: usize| source(n).twos;
        let constant = |n: usize| s.get(n).and_then(|(_, c)| *c).map(|c| extend(c, self.bits, self.signed));
        if let Some(shape) = self.bits_of_rows(source(0), constant(1)) {
            return if shape.guard > MOST { LANES } else { shape };
        }
        let product = || match (stride(0), stride(1), constant(0), constant(1)) {
            (0, 0, _, _) => Some(0),
            (a, 0, _, Some(c)) => a.checked_mul(c),
            (0, b, Some(c), _) => b.checked_mul(c),
            _ => None,
        };
        // a value becomes wider: what it grows by within a row may wrap before
        let wraps = |n: usize| (stride(n) != 0 && !source(n).within(twos(n).min(31))) as u8;
        let found = match self.op {
            Op::Mov => Some((stride(0), 0)),
            Op::Add => Some((stride(0).wrapping_add(stride(1)), 0)),
            Op::Sub => Some((stride(0).wrapping_sub(stride(1)), 0)),
            Op::Mul => product().map(|s| (s, 0)),
            Op::Mad => product().map(|s| (s.wrapping_add(stride(2)), 0)),
            Op::Shl => match (stride(0), constant(1)) {
                (0, _) if stride(1) == 0 => Some((0, 0)),
                (a, Some(c @ 0..=31)) => Some((a << c, 0)),
                _ => None,
            },
            Op::Wide => product().map(|s| (s, if s == 0 { 0 } else { wraps(0).max(wraps(1)) })),
            Op::MadWide => {
                product().map(|s| (s.wrapping_add(stride(2)), if s == 0 { 0 } else { wraps(0).max(wraps(1)) }))
            }
            Op::Cvt if self.bits == 32 && self.to == 64 => Some((stride(0), wraps(0))),
            Op::Cvt if self.bits >= 32 && self.to >= 32 => Some((stride(0), 0)),
            // the rank takes the place of the bits above the offset
            Op::Mapa if stride(1) == 0 && source(0).within(twos(0).min(24)) => Some((stride(0), 0)),
            _ if even(s) => Some((0, 0)),
            _ => None,
        };
        let Some((stride, deeper)) = found else { return LANES };
        let stride = extend(stride as u64, self.to.max(1), true);
        let guard = guard + deeper;
        if guard > MOST || (self.to == 1 && p != 32) || stride.unsigned_abs() >= 1 << 40 {
            return LANES;
        }
        let twos = match self.op {
            Op::Mov | Op::Cvt => twos(0),
            Op::Mapa => twos(0).min(24),
            Op::Add | Op::Sub | Op::Or | Op::Xor => twos(0).min(twos(1)),
            Op::Mul | Op::Wide => twos(0) + twos(1),
            Op::Mad | Op::MadWide => (twos(0) + twos(1)).min(twos(2)),
            Op::Shl => twos(0) + constant(1).map_or(0, |c| c.clamp(0, 63) as u32),
            Op::And => twos(0).max(twos(1)),
            _ => 0,
        };
        let common = s.iter().all(|(s, _)| s.common);
        Shape { p, stride, guard, twos: twos.min(64), common }
    }

    /// Some of the bits of a value that grows from lane to lane within the lowest ones: by a constant `shr`, `and`, `div` or
    /// `rem`. So the warp of a thread and its lane are found.
    fn bits_of_rows(self, a: Shape, c: Option<i64>) -> Option<Shape> {
        let c = c.filter(|_| a.stride > 0 && matches!(self.bits, 32 | 64))?;
        let power = || u64::try_from(c).ok().filter(|c| c.is_power_of_two()).map(u64::trailing_zeros);
        // the number of low bits that go or are all that stays
        let (low, stays) = match self.op {
            Op::Shr => (u32::try_from(c).ok().filter(|c| *c < self.bits)?, false),
            Op::Div => (power()?, false),
            Op::Rem => (power()?, true),
            Op::And if c > 0 && c & c.wrapping_add(1) == 0 => (c.trailing_ones(), true),
            Op::And => (c.trailing_zeros(), false),
            _ => return None,
        };
        if !stays {
            return (a.guard == 0 && a.within(low.min(a.twos))).then_some(UNIFORM);
        }
        // as many lanes as the bits can tell apart
        for p in [32, 16, 8] {
            let s = a.cut(p);
            if p <= a.p && a.guard == 0 && s.within(low.min(s.twos)) {
                // what stays of the first one is nothing
                return Some(if low <= s.twos { Shape { twos: 64, ..s } } else { s });
            }
        }
        // as long as a row does not come to the end of what stays
        let room = a.stride.checked_mul(i64::from(a.p - 1)).is_some_and(|last| low >= 63 || last < 1 << low);
        room.then(|| Shape { guard: a.guard + 1, twos: a.twos.min(low), ..a })
    }

    /// Arithmetic of f32: takes any NaN for a NaN, and may give any.
    pub fn gives_any_nan(self) -> bool {
        matches!(self.op, Op::Fadd | Op::Fsub | Op::Fmul | Op::Ffma)
    }

    /// Does it matter to the instruction which NaN its sources are?
    pub fn takes_any_nan(self) -> bool {
        self.gives_any_nan() || matches!(self.op, Op::SetpFloat(_))
    }

    /// The instruction as an expression, of which a NaN may be any.
    pub fn tokens(self, s: &[TokenStream]) -> TokenStream {
        let rt = super::RT;
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
                let op = format_ident!("{op}");
                if self.signed { quote!((((#a) as #i).#op(&((#b) as #i)))) } else { quote!(((#a).#op(&(#b)))) }
            }
            Op::SetpFloat(op) => {
                if op == "ne" {
                    // ordered: false for NaN
                    quote!({ let (a, b) = (f32::from_bits(#a), f32::from_bits(#b)); a < b || a > b })
                } else {
                    let op = format_ident!("{op}");
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

/// The length of the shortest rows.
pub fn least(s: &[(Shape, Option<u64>)]) -> u32 {
    let mut p = 32;
    for (s, _) in s {
        p = s.p.min(p);
    }
    p
}

/// Are all values the same within each row?
pub fn even(s: &[(Shape, Option<u64>)]) -> bool {
    s.iter().all(|(s, _)| s.stride == 0 && s.guard == 0)
}

/// The type of Rust for integers of so many bits.
pub fn int(bits: u32, signed: bool) -> Ident {
    let types = match bits {
        0..=8 => ["u8", "i8"],
        16 => ["u16", "i16"],
        32 => ["u32", "i32"],
        64 => ["u64", "i64"],
        _ => ["u128", "i128"],
    };
    format_ident!("{}", types[usize::from(signed)])
}

/// The low `bits` of a constant as the number they mean.
fn extend(c: u64, bits: u32, signed: bool) -> i64 {
    let up = 64u32.saturating_sub(bits);
    if signed { ((c << up) as i64) >> up } else { ((c << up) >> up) as i64 }
}

/// A literal of a register's type.
pub fn literal(v: u64, bits: u32) -> TokenStream {
    match bits {
        1 => (v & 1 != 0).to_token_stream(),
        8 => (v as u8).to_token_stream(),
        16 => (v as u16).to_token_stream(),
        32 => (v as u32).to_token_stream(),
        64 => v.to_token_stream(),
        _ => u128::from(v).to_token_stream(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(base: u32, s: Shape) -> Vec<u32> {
        (0..s.p).map(|l| base.wrapping_add(l.wrapping_mul(s.stride as u32))).collect()
    }

    /// What an operation with a constant is said to be, and what it is, for first values of many kinds.
    #[test]
    fn shapes_of_parts_of_rows_hold() {
        type Both = (Op, fn(u32, u32) -> u32);
        let ops: [Both; 4] = [
            (Op::Shr, |a, c| a.checked_shr(c).unwrap_or(0)),
            (Op::And, |a, c| a & c),
            (Op::Div, |a, c| a.checked_div(c).unwrap_or(u32::MAX)),
            (Op::Rem, |a, c| a.checked_rem(c).unwrap_or(u32::MAX)),
        ];
        let constants = (0..33).chain([48, 63, 64, 96, 0xff00, 0xffff_ffe0, 0xffff_fff0, 0x7fff_ffff, u32::MAX]);
        let (mut known, mut guarded) = (0, 0);
        for c in constants {
            for (op, f) in ops {
                for (p, stride, twos) in [32, 16, 8]
                    .into_iter()
                    .flat_map(|p| [1, 2, 4, 12].map(move |s| (p, s)))
                    .flat_map(|(p, s)| [0, 3, 5, 7, 64].map(move |t| (p, s, t)))
                {
                    let a = Shape { p, stride, guard: 0, twos, common: false };
                    let native = Native { op, bits: 32, signed: false, to: 32 };
                    let found = native.shape(&[(a, None), (Shape::constant(c.into()), Some(c.into()))]);
                    if !found.rows() {
                        continue;
                    }
                    known += 1;
                    let step = 1u32.checked_shl(twos).unwrap_or(0);
                    for base in [0, 1, 2, 5, 31, 1000, u32::MAX].map(|n: u32| n.wrapping_mul(step)) {
                        let values: Vec<u32> = lanes(base, a).into_iter().map(|v| f(v, c)).collect();
                        for row in values.chunks(found.p as usize) {
                            // what `Block::guard` asks: the low bits do not begin again within the row
                            let last = (stride * (i64::from(p) - 1)) as u32;
                            let mask = if op == Op::Rem { c.wrapping_sub(1) } else { c };
                            if found.guard > 0 && row[0] > mask.wrapping_sub(last) {
                                guarded += 1;
                                continue;
                            }
                            assert_eq!(
                                row,
                                &lanes(row[0], found)[..row.len()],
                                "{op:?} {c:#x} of {a:?} at {base:#x}: {found:?}"
                            );
                            let multiple = row[0] == 0 || row[0].trailing_zeros() >= found.twos;
                            assert!(multiple, "{op:?} {c:#x} of {a:?} at {base:#x}: {found:?}");
                        }
                    }
                }
            }
        }
        assert!(known > 100 && guarded > 100, "{known} {guarded}");
    }

    #[test]
    fn conversions_of_multiples_do_not_wrap() {
        let wide = Native { op: Op::Cvt, bits: 32, signed: false, to: 64 };
        let guard = |stride, twos| wide.shape(&[(Shape { p: 32, stride, guard: 0, twos, common: false }, None)]).guard;
        assert_eq!([guard(1, 5), guard(1, 4), guard(4, 7), guard(4, 6), guard(-1, 5), guard(0, 0)], [0, 1, 0, 1, 1, 0]);
    }
}
