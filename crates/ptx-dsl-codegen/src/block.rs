//! The straight code of a region, for one warp: values that the lanes share or that lie in rows are computed once a row;
//! the rest is one loop over the lanes, up to where memory or the warp as a whole needs its results. Registers are locals
//! here; at the end those that are read later go to the warp's state.

mod alone;
mod calls;
mod common;
mod conditions;
mod ends;
mod memory;
mod once;
mod operands;
mod rows;
mod stretches;
mod waits;

use super::mentions::{CARRY, Key};
use super::native::{LANES, Native, Op, Shape, UNIFORM, int, literal};
use super::{Emit, RT};
use crate::roles::{carry_use, function_carries, read_by, written_by};
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_isa::hir::{Base, FuncId, Instr, Operand};
use ptx_dsl_isa::isa::Host;
use quote::{ToTokens, format_ident, quote};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::slice::Iter;

/// Where a value is.
#[derive(Clone)]
enum Repr {
    /// `[T; NB]`: the first lane of each row.
    Rows(Ident),
    Constant(u64),
    /// Computed in a loop over lanes, by number.
    Loop(u32),
    /// `[T; 32]`, of predicates the mask.
    Array(Ident),
    /// One of an array of those.
    Element(Ident, usize),
    /// The same in the warp's state.
    Field(Ident),
    /// Of the lane that runs alone.
    Scalar(Ident),
}

/// A value of rows that is one only if `ok`; the lanes themselves are `exact`, of the lane `l`.
struct Guard {
    ok: TokenStream,
    exact: TokenStream,
}

#[derive(Clone)]
struct Value {
    bits: u32,
    shape: Shape,
    repr: Repr,
    guard: Option<Rc<Guard>>,
}

impl Value {
    /// Under what condition it is one of rows.
    fn ok(&self) -> TokenStream {
        match &self.guard {
            Some(g) => g.ok.clone(),
            None => quote!(true),
        }
    }
}

enum Piece {
    Code(TokenStream),
    Loop(Vec<TokenStream>, Vec<(u32, u32)>),
}

pub struct Block<'e, 'm> {
    e: &'e mut Emit<'m>,
    f: FuncId,
    region: usize,
    env: BTreeMap<Key, Value>,
    dirty: BTreeSet<Key>,
    /// It is a loop that lanes run one by one: all code is that of the lane `l`.
    alone: bool,
    /// Those that only some lanes meet and that are still open.
    conditions: Vec<conditions::Condition>,
    /// How many of them are skipped as a whole, and what registers were before those changed them.
    aparts: usize,
    changes: Vec<conditions::Change>,
    /// What the registers are when the loop comes round that the region is.
    start: BTreeMap<Key, Value>,
    pieces: Vec<Piece>,
    /// The loop that still grows: its statements, and the values it defines with their widths.
    body: Vec<TokenStream>,
    defined: Vec<(u32, u32)>,
    /// Values read outside of their loop.
    exported: BTreeSet<u32>,
    /// Values of a loop whose NaN may be any: whoever minds makes it the one of PTX. Arithmetic does not, so a chain of it does
    /// that only at its end.
    any_nan: BTreeSet<u32>,
    /// What loads give that are part of a stretch, by instruction.
    stretches: Vec<(u32, Ident)>,
    /// Names that are defined before the loop over the warps.
    common: BTreeSet<Ident>,
    count: u32,
}

/// The type of a register.
pub fn ty(bits: u32) -> Ident {
    if bits == 1 { format_ident!("bool") } else { int(bits, false) }
}

/// `v + n`, of registers of this width.
fn plus(v: TokenStream, n: i64, bits: u32) -> TokenStream {
    if n == 0 {
        return v;
    }
    let n = literal((n as u64) & (u64::MAX >> (64 - bits.min(64))), bits);
    quote!((#v).wrapping_add(#n))
}

impl<'e, 'm> Block<'e, 'm> {
    pub fn new(e: &'e mut Emit<'m>, f: FuncId, region: usize) -> Self {
        Block {
            e,
            f,
            region,
            env: BTreeMap::new(),
            dirty: BTreeSet::new(),
            alone: false,
            conditions: Vec::new(),
            aparts: 0,
            changes: Vec::new(),
            start: BTreeMap::new(),
            pieces: Vec::new(),
            body: Vec::new(),
            defined: Vec::new(),
            exported: BTreeSet::new(),
            any_nan: BTreeSet::new(),
            stretches: Vec::new(),
            common: BTreeSet::new(),
            count: 0,
        }
    }

    fn fresh(&mut self) -> u32 {
        self.count += 1;
        self.count
    }

    fn name(&mut self) -> Ident {
        format_ident!("v{}", self.fresh())
    }

    fn code(&mut self, code: TokenStream) {
        if self.alone {
            return self.body.push(code);
        }
        self.pieces.push(Piece::Code(code));
    }

    /// Ends the loop that grows.
    fn close(&mut self) {
        if !self.body.is_empty() && !self.alone {
            let (body, defined) = (std::mem::take(&mut self.body), std::mem::take(&mut self.defined));
            self.pieces.push(Piece::Loop(body, defined));
        }
    }

    fn open(&self, v: &Value) -> bool {
        matches!(v.repr, Repr::Loop(n) if self.alone || self.defined.binary_search_by_key(&n, |d| d.0).is_ok())
    }

    pub fn site(&mut self, i: &Instr) -> u32 {
        self.e.site(i)
    }

    // instructions

    pub fn instruction(&mut self, i: &Instr) {
        match (i.entry.host, i.entry.opcode) {
            (Host::Lane | Host::Control, _) => self.lane_instruction(i),
            (Host::Warp, "ld") if self.alone => self.load_alone(i),
            (Host::Warp, "st") if self.alone => self.store_alone(i),
            (Host::Warp, "red") if self.alone => self.add_alone(i),
            (Host::Warp, "ld") if self.e.simple_access(self.f, i).is_some() => self.load(i),
            (Host::Warp, "st") if self.e.simple_access(self.f, i).is_some() => self.store(i),
            (Host::Warp, "red" | "atom") if self.e.simple_add(self.f, i) => self.add(i),
            (Host::Warp, "mbarrier.arrive" | "mbarrier.arrive_drop") if self.arrives_as_one(i) => self.arrive(i),
            (Host::Warp, "cvta" | "mapa") if self.e.native(self.f, i).is_some() => self.lane_instruction(i),
            (Host::Warp, _) if self.is_once(i) => self.once(i),
            (Host::Warp, _) => self.warp_instruction(i),
            (Host::Block | Host::NotYet, _) => {}
        }
    }

    fn shape_of(&mut self, i: &Instr) -> Shape {
        if self.alone {
            return LANES;
        }
        let e = &*self.e;
        let (f, env) = (self.f, &self.env);
        let shape = e.result_shape(f, i, &mut |o| {
            let k = match o {
                Operand::Reg(r, e) => (f.0, r.0, *e),
                Operand::NotReg(r) | Operand::Address(Base::Reg(r), _) => (f.0, r.0, 0),
                _ => return Some(e.constant_shape(f, o)),
            };
            match env.get(&k) {
                Some(v) => Some(v.shape),
                None => Some(e.classes.seen(&k)),
            }
        });
        shape.unwrap_or(LANES)
    }

    /// A predicate in lane `l`.
    fn predicate(&mut self, pred: &(Operand, bool)) -> TokenStream {
        let v = self.operand(&pred.0, 1);
        let e = self.lane(&v);
        if pred.1 { e } else { quote!(!#e) }
    }

    /// That of an instruction, if it has one.
    fn guard_of(&mut self, i: &Instr) -> Option<TokenStream> {
        let pred = i.pred.as_ref()?;
        Some(self.predicate(pred))
    }

    /// What an instruction of Rust reads.
    fn operands(&mut self, i: &Instr, native: Native) -> Vec<Value> {
        let mut values = Vec::new();
        for (n, a) in read_by(i).iter().enumerate() {
            values.push(self.operand(&a.value, native.source_bits(n)));
        }
        values
    }

    fn lane_instruction(&mut self, i: &Instr) {
        let shape = self.shape_of(i);
        if shape.rows() {
            return self.rows_instruction(i, shape);
        }
        let guard = self.guard_of(i);
        if let Some(native) = self.e.native(self.f, i) {
            let values = self.operands(i, native);
            if guard.is_none()
                && let Some(mask) = self.prefix(native, &values)
                && let Operand::Reg(r, e) = i.operands[0].value
            {
                let name = self.name();
                self.code(quote!(let #name: u32 = #mask;));
                let v = Value { bits: 1, shape: LANES, repr: Repr::Array(name), guard: None };
                return self.define((self.f.0, r.0, e), v);
            }
            let any = native.takes_any_nan();
            let lanes = values.iter().map(|v| if any { self.any_nan(v) } else { self.lane(v) }).collect::<Vec<_>>();
            let expr = native.tokens(&lanes);
            if !native.gives_any_nan() {
                return self.set(&i.operands[0].value, expr, native.to, &guard);
            }
            if guard.is_some() {
                return self.set(&i.operands[0].value, one_nan(&expr), native.to, &guard);
            }
            let Operand::Reg(r, e) = i.operands[0].value else { return };
            let v = self.lanes(native.to, expr);
            if let Repr::Loop(n) = v.repr {
                self.any_nan.insert(n);
            }
            return self.define((self.f.0, r.0, e), v);
        }
        if i.entry.host == Host::Control {
            return self.mov(i, &guard);
        }
        let mut sources = Vec::new();
        for a in &read_by(i) {
            sources.append(&mut self.parts(&a.value, a.ty, None));
        }
        let (reads, writes) = carry_use(i);
        let carry = (self.f.0, CARRY, 0);
        if reads {
            let v = self.register(carry);
            let e = self.lane(&v);
            sources.push(quote!(((#e) as u64)));
        }
        let mut names = Vec::new();
        let dests = written_by(i);
        for a in &dests {
            for _ in 0..self.e.width(a) {
                names.push(format_ident!("d{}", self.fresh()));
            }
        }
        let cc = format_ident!("d{}", self.fresh());
        let carries = function_carries(i);
        let call = self.e.lane_call(i, &sources, names.len() + usize::from(carries));
        let pattern = match (carries, writes) {
            (true, true) => quote!([#(#names,)* #cc]),
            (true, false) => quote!([#(#names,)* _]),
            _ => quote!([#(#names,)* ..]),
        };
        self.body.push(quote!(let #pattern = #call;));
        let values = names.iter().map(ToTokens::to_token_stream).collect::<Vec<_>>();
        let mut values = values.iter();
        for a in &dests {
            self.write(&a.value, &mut values, &guard);
        }
        if writes {
            let carried = quote!(#cc & 1 != 0);
            let carried = match &guard {
                Some(g) => {
                    let old = self.register(carry);
                    let old = self.lane(&old);
                    quote!(if #g { #carried } else { #old })
                }
                None => carried,
            };
            let v = self.lanes(1, carried);
            self.define(carry, v);
        }
    }

    /// Sets a register to an expression of the loop.
    fn set(&mut self, o: &Operand, expr: TokenStream, bits: u32, guard: &Option<TokenStream>) {
        let Operand::Reg(r, e) = o else { return };
        let k = (self.f.0, r.0, *e);
        let expr = match guard {
            Some(g) => {
                let old = self.register(k);
                let old = self.lane(&old);
                quote!(if #g { #expr } else { #old })
            }
            None => expr,
        };
        let v = self.lanes(bits, expr);
        self.define(k, v);
    }

    /// Stores `u64` values to an operand.
    fn write(&mut self, o: &Operand, values: &mut Iter<'_, TokenStream>, guard: &Option<TokenStream>) {
        match o {
            Operand::Reg(r, _) => {
                let Some(v) = values.next() else { return };
                let bits = self.e.reg_bits(self.f, *r);
                let expr = match bits {
                    1 => quote!((#v) & 1 != 0),
                    64 => v.clone(),
                    128 => {
                        let high = values.next();
                        quote!((#v) as u128 | ((#high) as u128) << 64)
                    }
                    _ => {
                        let t = ty(bits);
                        quote!((#v) as #t)
                    }
                };
                self.set(o, expr, bits, guard);
            }
            Operand::Vector(list) => {
                for o in list {
                    self.write(o, values, guard);
                }
            }
            Operand::Pair(a, b) => {
                self.write(a, values, guard);
                self.write(b, values, guard);
            }
            _ => {
                values.next();
            }
        }
    }

    /// `mov` that packs or unpacks, or moves 128 bits.
    fn mov(&mut self, i: &Instr, guard: &Option<TokenStream>) {
        let [d, a, ..] = i.operands.as_slice() else { return };
        let whole = i.types.first().map_or(64, |t| t.bits().max(1));
        let count = |o: &Operand| if let Operand::Vector(v) = o { Some(v.len().max(1)) } else { None };
        let (name, n) = (format_ident!("d{}", self.fresh()), count(&a.value));
        let (ty, bits) = match (n, count(&d.value)) {
            (Some(n), None) => (crate::roles::ty_of_bits(whole / n as u32), Some(whole / n as u32)),
            _ => (a.ty.or(i.types.first().copied()), None),
        };
        let values = self.parts(&a.value, ty, None);
        let each = bits.unwrap_or(whole / values.len().max(1) as u32);
        let shifts = (0..values.len() as u32).map(|i| i * each).collect::<Vec<_>>();
        self.body.push(quote!(let #name: u128 = 0 #(| ((#values) as u128) << #shifts)*;));
        match count(&d.value) {
            Some(n) => {
                let bits = whole / n as u32;
                let mask = if bits >= 128 { u128::MAX } else { (1 << bits) - 1 };
                let mut values = Vec::new();
                for i in 0..n as u32 {
                    let shift = i * bits;
                    values.push(quote!(((#name >> #shift) & #mask) as u64));
                }
                self.write(&d.value, &mut values.iter(), guard);
            }
            None => {
                let values = [quote!(#name as u64), quote!((#name >> 64) as u64)];
                self.write(&d.value, &mut values.iter(), guard);
            }
        }
    }
}

/// A result of f32 arithmetic with the NaN that PTX gives.
fn one_nan(value: &TokenStream) -> TokenStream {
    let rt = RT;
    quote!(#rt::lanes::one_nan(#value))
}

fn element(name: &Ident, bits: u32) -> TokenStream {
    if bits == 1 { quote!((#name >> l & 1 != 0)) } else { quote!(#name[l]) }
}

impl Emit<'_> {
    /// How the lanes of a special register lie.
    pub fn sreg_shape(&self, name: &str) -> Shape {
        let x = self.reqntid.map(|r| r[0]);
        let affine = Shape { stride: 1, twos: 5, ..UNIFORM };
        match (name, x) {
            ("%tid.x", Some(x)) if x % 32 == 0 => affine,
            ("%tid.x", Some(x @ (8 | 16))) => Shape { p: x, twos: 64, ..affine },
            ("%tid.x", None) => Shape { guard: 1, ..affine },
            ("%tid.y" | "%tid.z", Some(x)) if x % 32 == 0 => UNIFORM,
            ("%tid.y" | "%tid.z", Some(x @ (8 | 16))) => Shape { p: x, ..UNIFORM },
            ("%tid.x" | "%tid.y" | "%tid.z", _) => LANES,
            ("%laneid", _) => Shape { twos: 64, ..affine },
            _ if name.starts_with("%lanemask") => LANES,
            _ => UNIFORM,
        }
    }
}
