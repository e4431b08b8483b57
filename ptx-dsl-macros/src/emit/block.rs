//! The straight code of a region, for one warp: values that the lanes share or that lie in rows are computed once a row;
//! the rest is one loop over the lanes, up to where memory or the warp as a whole needs its results. Registers are locals
//! here; at the end those that are read later go to the warp's state.

use super::classes::{CARRY, Key, registers};
use super::native::{LANES, Shape, UNIFORM, literal};
use super::step::{carry_use, function_carries, named_destinations, number32, written};
use super::values::{names_space, truncated};
use super::{Emit, FUNCTION_TAG, rt};
use proc_macro2::{Ident, Literal, TokenStream};
use ptx_dsl_syntax::hir::{Base, FuncId, Instr, Operand};
use ptx_dsl_syntax::isa::Host;
use ptx_dsl_syntax::ty::{Class, Ty};
use quote::{format_ident, quote};
use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

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
    /// The same in the warp's state.
    Field(Ident),
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

enum Piece {
    Code(TokenStream),
    Loop(Vec<TokenStream>, Vec<(u32, u32)>),
}

pub struct Block<'e, 'm> {
    e: &'e mut Emit<'m>,
    f: FuncId,
    region: usize,
    env: BTreeMap<Key, Value>,
    dirty: HashSet<Key>,
    pieces: Vec<Piece>,
    /// The loop that still grows: its statements, and the values it defines with their widths.
    body: Vec<TokenStream>,
    defined: Vec<(u32, u32)>,
    /// Values read outside of their loop.
    exported: HashSet<u32>,
    count: u32,
}

/// The type of a register.
fn ty(bits: u32) -> Ident {
    if bits == 1 { format_ident!("bool") } else { format_ident!("u{}", bits) }
}

fn usize_literal(n: u32) -> Literal {
    Literal::usize_unsuffixed(n as usize)
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
            dirty: HashSet::new(),
            pieces: Vec::new(),
            body: Vec::new(),
            defined: Vec::new(),
            exported: HashSet::new(),
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
        self.pieces.push(Piece::Code(code));
    }

    /// Ends the loop that grows.
    fn close(&mut self) {
        if !self.body.is_empty() {
            let (body, defined) = (std::mem::take(&mut self.body), std::mem::take(&mut self.defined));
            self.pieces.push(Piece::Loop(body, defined));
        }
    }

    fn open(&self, v: &Value) -> bool {
        matches!(v.repr, Repr::Loop(n) if self.defined.iter().any(|d| d.0 == n))
    }

    pub fn site(&mut self, i: &Instr) -> u32 {
        self.e.site(i)
    }

    // values

    fn register(&mut self, k: Key) -> Value {
        if let Some(v) = self.env.get(&k) {
            return v.clone();
        }
        let shape = self.e.classes.shape(&k);
        let (field, bits) = self.e.key_field(k);
        let repr = if shape.rows() {
            let (name, nb, t) = (self.name(), usize_literal(32 / shape.p), ty(bits));
            self.code(quote!(let #name: [#t; #nb] = w.#field;));
            Repr::Rows(name)
        } else {
            Repr::Field(field)
        };
        let v = Value { bits, shape, repr, guard: None };
        self.env.insert(k, v.clone());
        v
    }

    fn define(&mut self, k: Key, v: Value) {
        self.env.insert(k, v);
        self.dirty.insert(k);
    }

    fn constant(v: u64, bits: u32) -> Value {
        Value { bits, shape: UNIFORM, repr: Repr::Constant(v), guard: None }
    }

    /// A statement of the loop: a value for each lane.
    fn lanes(&mut self, bits: u32, expr: TokenStream) -> Value {
        let n = self.fresh();
        let (name, t) = (format_ident!("t{}", n), ty(bits));
        self.body.push(quote!(let #name: #t = #expr;));
        self.defined.push((n, bits));
        Value { bits, shape: LANES, repr: Repr::Loop(n), guard: None }
    }

    /// An operand that is one value of at most 64 bits; `bits` for what is no register.
    fn operand(&mut self, o: &Operand, bits: u32) -> Value {
        let mut k = Vec::new();
        match o {
            Operand::Reg(..) | Operand::Select(..) => {
                registers(self.f, o, &mut k);
                self.register(k[0])
            }
            Operand::NotReg(_) => {
                registers(self.f, o, &mut k);
                let v = self.register(k[0]);
                self.negated(&v)
            }
            Operand::Imm(v) => Self::constant(*v, bits),
            Operand::VarAddr(v, o) => {
                let at = self.e.var_address(*v, *o);
                if self.e.moves_with_frame(self.f, *v) {
                    let (at, t) = (Literal::u64_suffixed(at), ty(bits));
                    return self.lanes(bits, quote!((w.frame[l] + #at) as #t));
                }
                Self::constant(at, bits)
            }
            Operand::FuncAddr(f) => Self::constant(FUNCTION_TAG | u64::from(f.0), bits),
            Operand::Sreg(name) => self.sreg(name, bits),
            _ => Self::constant(0, bits),
        }
    }

    fn negated(&mut self, v: &Value) -> Value {
        if v.shape.rows() {
            let (e, name) = (self.row(v, 0, 32), self.name());
            self.code(quote!(let #name = [!#e];));
            return Value { repr: Repr::Rows(name), ..v.clone() };
        }
        let e = self.lane(v);
        self.lanes(1, quote!(!#e))
    }

    fn sreg(&mut self, name: &'static str, bits: u32) -> Value {
        let (rt, t) = (rt(), ty(bits));
        let shape = self.e.sreg_shape(name);
        let shape = if shape.guard > 0 && bits != 32 { LANES } else { shape };
        let lane = self.e.sreg(name);
        let lane = if bits == 1 { quote!((#lane != 0)) } else { quote!(#lane as #t) };
        if !shape.rows() {
            return self.lanes(bits, lane);
        }
        let v = self.name();
        let nb = usize_literal(32 / shape.p);
        let axis = match name {
            "%tid.x" => Some(0u32),
            "%tid.y" => Some(1),
            "%tid.z" => Some(2),
            _ => None,
        };
        let init = match axis {
            Some(axis) => {
                let axis = usize_literal(axis);
                quote!(x.tid_rows::<#nb>(#axis).map(|v| v as #t))
            }
            None => quote!({ let l = 0usize; [#lane; #nb] }),
        };
        self.code(quote!(let #v: [#t; #nb] = #init;));
        let guard = (shape.guard > 0).then(|| {
            let exact = format_ident!("{}x", v);
            self.code(quote! {
                let mut #exact: [u32; 32] = [0; 32];
                for l in 0..32usize { #exact[l] = #rt::isa::sreg::tid_x(x, l) as u32; }
            });
            Rc::new(Guard { ok: quote!(x.flat()), exact: quote!(#exact[l]) })
        });
        Value { bits, shape, repr: Repr::Rows(v), guard }
    }

    /// The value in row `j` of rows of `p` lanes: at the first lane of it.
    fn row(&mut self, v: &Value, j: u32, p: u32) -> TokenStream {
        match &v.repr {
            Repr::Constant(c) => literal(*c, v.bits),
            Repr::Rows(name) => {
                let first = j * p;
                let at = usize_literal(first / v.shape.p);
                plus(quote!(#name[#at]), v.shape.stride * i64::from(first % v.shape.p), v.bits)
            }
            _ => quote!(0),
        }
    }

    /// The value in lane `l`.
    fn lane(&mut self, v: &Value) -> TokenStream {
        if let Some(g) = &v.guard {
            return g.exact.clone();
        }
        match &v.repr {
            Repr::Constant(c) => literal(*c, v.bits),
            Repr::Rows(name) => {
                let (p, rt, t) = (v.shape.p, rt(), ty(v.bits));
                let base = if p == 32 {
                    quote!(#name[0])
                } else {
                    let wide = format_ident!("{}w", name);
                    self.code(quote!(let #wide = #rt::lanes::expand(#name);));
                    quote!(#wide[l])
                };
                if v.shape.stride == 0 {
                    return base;
                }
                let s = literal(v.shape.stride as u64 & (u64::MAX >> (64 - v.bits.min(64))), v.bits);
                let within = if p == 32 {
                    quote!(l)
                } else {
                    let p = usize_literal(p);
                    quote!((l % #p))
                };
                quote!(#base.wrapping_add((#within as #t).wrapping_mul(#s)))
            }
            Repr::Loop(n) => {
                if self.open(v) {
                    let t = format_ident!("t{}", n);
                    quote!(#t)
                } else {
                    self.exported.insert(*n);
                    element(&format_ident!("a{}", n), v.bits)
                }
            }
            Repr::Array(name) => element(name, v.bits),
            Repr::Field(f) if v.bits == 1 => quote!((w.#f >> l & 1 != 0)),
            Repr::Field(f) => quote!(w.#f[l]),
        }
    }

    /// The same where no loop is open that defines it.
    fn outside(&mut self, v: &Value) -> TokenStream {
        if self.open(v) {
            self.close();
        }
        self.lane(v)
    }

    /// All lanes: an array, of predicates a mask.
    fn array(&mut self, v: &Value) -> TokenStream {
        match &v.repr {
            Repr::Array(name) => quote!(#name),
            Repr::Field(f) => quote!(w.#f),
            Repr::Loop(n) => {
                if self.open(v) {
                    self.close();
                }
                self.exported.insert(*n);
                let name = format_ident!("a{}", n);
                quote!(#name)
            }
            _ if v.bits == 1 => {
                let e = self.row(v, 0, 32);
                quote!((if #e { u32::MAX } else { 0 }))
            }
            _ => {
                let (e, name, t) = (self.outside(v), self.name(), ty(v.bits));
                let zero = literal(0, v.bits);
                self.code(quote!(let mut #name: [#t; 32] = [#zero; 32]; for l in 0..32usize { #name[l] = #e; }));
                quote!(#name)
            }
        }
    }

    /// The `u64` parts of an operand in lane `l`, or in a row.
    fn parts(&mut self, o: &Operand, t: Option<Ty>, row: Option<(u32, u32)>) -> Vec<TokenStream> {
        match o {
            Operand::Vector(list) | Operand::Addresses(list) | Operand::List(list) => {
                return list.iter().flat_map(|o| self.parts(o, t, row)).collect();
            }
            Operand::Pair(a, b) => {
                let mut all = self.parts(a, t, row);
                all.extend(self.parts(b, t, row));
                return all;
            }
            Operand::Imm(v) => {
                let low = literal(truncated(*v, t), 64);
                if t == Some(Ty::B128) {
                    let high = literal(if (*v as i64) < 0 { u64::MAX } else { 0 }, 64);
                    return vec![low, high];
                }
                return vec![low];
            }
            Operand::VarAddr(v, at) if !self.e.moves_with_frame(self.f, *v) => {
                return vec![literal(truncated(self.e.var_address(*v, *at), t), 64)];
            }
            Operand::Address(base, offset) => {
                let v = self.address(*base, *offset);
                let e = self.lane(&v);
                return vec![if v.bits == 64 { e } else { quote!(((#e) as u64)) }];
            }
            Operand::Sink | Operand::Label(_) | Operand::Labels(_) | Operand::Func(_) | Operand::Funcs(_) => {
                return vec![literal(0, 64)];
            }
            _ => {}
        }
        let v = self.operand(o, 64);
        let e = match row {
            Some((j, p)) => self.row(&v, j, p),
            None => self.lane(&v),
        };
        match v.bits {
            64 => vec![e],
            128 => vec![quote!(((#e) as u64)), quote!(((#e) >> 64) as u64)],
            _ => vec![quote!(((#e) as u64))],
        }
    }

    /// The lanes whose predicate holds.
    pub fn mask(&mut self, pred: &(Operand, bool)) -> TokenStream {
        let v = self.operand(&pred.0, 1);
        let mask = self.array(&v);
        if pred.1 { mask } else { quote!(!#mask) }
    }

    /// The predicate, if it is one for all lanes.
    pub fn uniform(&mut self, pred: &(Operand, bool)) -> Option<TokenStream> {
        let v = self.operand(&pred.0, 1);
        if v.shape != UNIFORM {
            return None;
        }
        let e = self.row(&v, 0, 32);
        Some(if pred.1 { e } else { quote!(!#e) })
    }

    // instructions

    pub fn instruction(&mut self, i: &Instr) {
        match (i.entry.host, i.entry.opcode) {
            (Host::Lane | Host::Control, _) => self.lane_instruction(i),
            (Host::Warp, "ld") if self.e.simple_access(self.f, i).is_some() => self.load(i),
            (Host::Warp, "st") if self.e.simple_access(self.f, i).is_some() => self.store(i),
            (Host::Warp, "red" | "atom") if self.e.simple_add(self.f, i) => self.add(i),
            (Host::Warp, "cvta") if self.e.native(self.f, i).is_some() => self.lane_instruction(i),
            (Host::Warp, _) => self.warp_instruction(i),
            (Host::Block | Host::NotYet, _) => {}
        }
    }

    fn shape_of(&mut self, i: &Instr) -> Shape {
        let e = &*self.e;
        let (f, env) = (self.f, &self.env);
        let shape = e.result_shape(f, i, &mut |o| {
            let mut k = Vec::new();
            match o {
                Operand::Reg(..) | Operand::NotReg(_) | Operand::Address(Base::Reg(_), _) => {
                    registers(f, o, &mut k);
                    Some(env.get(&k[0]).map_or_else(|| e.classes.shape(&k[0]), |v| v.shape))
                }
                _ => Some(e.constant_shape(f, o)),
            }
        });
        shape.unwrap_or(LANES)
    }

    fn lane_instruction(&mut self, i: &Instr) {
        let shape = self.shape_of(i);
        if shape.rows() {
            return self.rows_instruction(i, shape);
        }
        let guard = i.pred.as_ref().map(|p| {
            let v = self.operand(&p.0, 1);
            let e = self.lane(&v);
            if p.1 { e } else { quote!(!#e) }
        });
        if let Some(native) = self.e.native(self.f, i) {
            let sources: Vec<_> = i.operands.iter().filter(|a| !written(a)).collect();
            let values: Vec<Value> =
                sources.iter().enumerate().map(|(n, a)| self.operand(&a.value, native.source_bits(n))).collect();
            let lanes: Vec<_> = values.iter().map(|v| self.lane(v)).collect();
            let expr = native.tokens(&lanes);
            return self.set(&i.operands[0].value, expr, native.to, &guard);
        }
        if i.entry.host == Host::Control {
            return self.mov(i, &guard);
        }
        let (q, function) = (self.e.q(i), self.e.function(i));
        let mut sources = Vec::new();
        for a in i.operands.iter().filter(|a| !written(a)) {
            sources.extend(self.parts(&a.value, a.ty, None));
        }
        let (reads, writes) = carry_use(i);
        let carry = (self.f.0, CARRY, 0);
        if reads {
            let v = self.register(carry);
            let e = self.lane(&v);
            sources.push(quote!(((#e) as u64)));
        }
        let mut names = Vec::new();
        let dests: Vec<_> = i.operands.iter().filter(|a| written(a)).collect();
        for a in &dests {
            for _ in 0..self.e.width(a) {
                names.push(format_ident!("d{}", self.fresh()));
            }
        }
        let cc = format_ident!("d{}", self.fresh());
        let pattern = match (function_carries(i), writes) {
            (true, true) => quote!([#(#names,)* #cc]),
            (true, false) => quote!([#(#names,)* _]),
            _ => quote!([#(#names,)* ..]),
        };
        self.body.push(quote!(let #pattern = #function(#q, [#(#sources),*]);));
        let mut values = names.iter().map(|n| quote!(#n));
        for a in dests {
            self.write(&a.value, &mut values, &guard);
        }
        if writes {
            let v = self.lanes(1, quote!(#cc & 1 != 0));
            self.define(carry, v);
        }
    }

    /// Once a row.
    fn rows_instruction(&mut self, i: &Instr, shape: Shape) {
        let nb = 32 / shape.p;
        let Some(Operand::Reg(r, e)) = i.operands.iter().find(|a| written(a)).map(|a| a.value.clone()) else { return };
        let bits = self.e.reg_bits(self.f, r);
        let (name, t, n) = (self.name(), ty(bits), usize_literal(nb));
        let sources: Vec<_> = i.operands.iter().filter(|a| !written(a)).collect();
        let mut guard = None;
        let rows: Vec<TokenStream> = if let Some(native) = self.e.native(self.f, i) {
            let values: Vec<Value> =
                sources.iter().enumerate().map(|(n, a)| self.operand(&a.value, native.source_bits(n))).collect();
            if shape.guard > 0 {
                guard = Some(self.guard(native, &values, shape));
            }
            (0..nb)
                .map(|j| {
                    let rows: Vec<_> = values.iter().map(|v| self.row(v, j, shape.p)).collect();
                    native.tokens(&rows)
                })
                .collect()
        } else {
            let (q, function) = (self.e.q(i), self.e.function(i));
            (0..nb)
                .map(|j| {
                    let s: Vec<_> =
                        sources.iter().flat_map(|a| self.parts(&a.value, a.ty, Some((j, shape.p)))).collect();
                    let value = if bits == 1 { quote!(d & 1 != 0) } else { quote!(d as #t) };
                    quote!({ let [d, ..] = #function(#q, [#(#s),*]); #value })
                })
                .collect()
        };
        self.code(quote!(let #name: [#t; #n] = [#(#rows),*];));
        let v = Value { bits, shape, repr: Repr::Rows(name), guard: guard.map(Rc::new) };
        self.define((self.f.0, r.0, e), v);
    }

    /// Under what condition the result lies in rows, and what it is otherwise.
    fn guard(&mut self, native: super::native::Native, values: &[Value], shape: Shape) -> Guard {
        use super::native::Op;
        let rt = rt();
        let mut ok = TokenStream::new();
        for v in values {
            if let Some(g) = &v.guard {
                let g = &g.ok;
                ok.extend(if ok.is_empty() { quote!(#g) } else { quote!(& #g) });
            }
        }
        // a value becomes wider: right as long as it does not wrap within a row
        let widens = matches!(native.op, Op::Wide | Op::MadWide | Op::Cvt) && native.bits == 32 && native.to == 64;
        if widens {
            let signed = native.signed;
            for v in values.iter().filter(|v| v.shape.stride != 0 && v.bits == 32) {
                let stride = Literal::i64_suffixed(v.shape.stride);
                let p = shape.p;
                let rows: Vec<_> = (0..32 / p).map(|j| self.row(v, j, p)).collect();
                let one = quote!(#rt::lanes::fits([#(#rows),*], #stride, #signed));
                ok.extend(if ok.is_empty() { quote!(#one) } else { quote!(& #one) });
            }
        }
        let exact: Vec<_> = values
            .iter()
            .map(|v| match (&v.guard, &v.repr) {
                (Some(g), _) => g.exact.clone(),
                (None, Repr::Rows(name)) => {
                    let (p, t) = (usize_literal(v.shape.p), ty(v.bits));
                    let s = literal(v.shape.stride as u64 & (u64::MAX >> (64 - v.bits.min(64))), v.bits);
                    if v.shape.stride == 0 {
                        quote!(#name[l / #p])
                    } else {
                        quote!(#name[l / #p].wrapping_add(((l % #p) as #t).wrapping_mul(#s)))
                    }
                }
                _ => self.row(v, 0, 32),
            })
            .collect();
        let name = format_ident!("ok{}", self.fresh());
        self.code(quote!(let #name: bool = #ok;));
        Guard { ok: quote!(#name), exact: native.tokens(&exact) }
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
    fn write(&mut self, o: &Operand, values: &mut dyn Iterator<Item = TokenStream>, guard: &Option<TokenStream>) {
        match o {
            Operand::Reg(r, _) => {
                let Some(v) = values.next() else { return };
                let bits = self.e.reg_bits(self.f, *r);
                let expr = match bits {
                    1 => quote!((#v) & 1 != 0),
                    64 => quote!(#v),
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
            Operand::Vector(list) => list.iter().for_each(|o| self.write(o, values, guard)),
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
        let source = match (n, count(&d.value)) {
            (Some(n), None) => {
                let bits = whole / n as u32;
                let values = self.parts(&a.value, super::step::ty_of_bits(bits), None);
                let shifts = (0..).map(|i| Literal::u32_suffixed(i * bits));
                quote!(let #name: u128 = 0 #(| ((#values) as u128) << #shifts)*;)
            }
            _ => {
                let values = self.parts(&a.value, a.ty.or(i.types.first().copied()), None);
                let each = whole / values.len().max(1) as u32;
                let each = if values.len() == 2 && whole == 128 { 64 } else { each };
                let shifts = (0..values.len()).map(|i| Literal::u32_suffixed(i as u32 * each));
                quote!(let #name: u128 = 0 #(| ((#values) as u128) << #shifts)*;)
            }
        };
        self.body.push(source);
        match count(&d.value) {
            Some(n) => {
                let bits = whole / n as u32;
                let mask = Literal::u128_suffixed(if bits >= 128 { u128::MAX } else { (1 << bits) - 1 });
                let mut values = (0..n).map(|i| {
                    let shift = Literal::u32_suffixed(i as u32 * bits);
                    quote!(((#name >> #shift) & #mask) as u64)
                });
                self.write(&d.value, &mut values, guard);
            }
            None => {
                let mut values = [quote!(#name as u64), quote!((#name >> 64) as u64)].into_iter();
                self.write(&d.value, &mut values, guard);
            }
        }
    }

    // memory

    /// An address as a value of 32 or 64 bits.
    fn address(&mut self, base: Base, offset: i64) -> Value {
        match base {
            Base::Abs => Self::constant(offset as u64, 64),
            Base::Var(v) => {
                let window = self.e.window_of(v);
                let at = window | self.e.var_address(v, offset);
                if self.e.moves_with_frame(self.f, v) {
                    let at = Literal::u64_suffixed(at);
                    return self.lanes(64, quote!((w.frame[l] + #at)));
                }
                Self::constant(at, 64)
            }
            Base::Reg(r) => {
                let v = self.register((self.f.0, r.0, 0));
                if offset == 0 && matches!(v.bits, 32 | 64) {
                    return v;
                }
                if v.shape.rows() && matches!(v.bits, 32 | 64) {
                    let p = v.shape.p;
                    let (name, t, nb) = (self.name(), ty(v.bits), usize_literal(32 / p));
                    let rows: Vec<_> = (0..32 / p)
                        .map(|j| {
                            let e = self.row(&v, j, p);
                            plus(e, offset, v.bits)
                        })
                        .collect();
                    self.code(quote!(let #name: [#t; #nb] = [#(#rows),*];));
                    let guard = v
                        .guard
                        .as_ref()
                        .map(|g| Rc::new(Guard { ok: g.ok.clone(), exact: plus(g.exact.clone(), offset, v.bits) }));
                    return Value { repr: Repr::Rows(name), guard, ..v };
                }
                let e = self.lane(&v);
                match v.bits {
                    32 | 64 => self.lanes(v.bits, plus(e, offset, v.bits)),
                    _ => {
                        let o = Literal::u32_suffixed(offset as u32);
                        self.lanes(32, quote!(((#e) as u32).wrapping_add(#o)))
                    }
                }
            }
        }
    }

    /// The rows of an address as `u64`, and under what condition.
    fn address_rows(&mut self, v: &Value) -> (TokenStream, TokenStream) {
        let p = v.shape.p;
        let rows: Vec<_> = (0..32 / p).map(|j| self.row(v, j, p)).collect();
        let rows = quote!([#((#rows) as u64),*]);
        let ok = v.guard.as_ref().map_or(quote!(true), |g| g.ok.clone());
        (rows, ok)
    }

    /// The lane's address as `u64`, in code outside of loops.
    fn address_lane(&mut self, v: &Value) -> TokenStream {
        let e = match (&v.guard, &v.repr) {
            (None, Repr::Rows(name)) => {
                let (p, t) = (usize_literal(v.shape.p), ty(v.bits));
                let s = literal(v.shape.stride as u64 & (u64::MAX >> (64 - v.bits.min(64))), v.bits);
                if v.shape.stride == 0 {
                    quote!(#name[l / #p])
                } else {
                    quote!(#name[l / #p].wrapping_add(((l % #p) as #t).wrapping_mul(#s)))
                }
            }
            _ => self.outside(v),
        };
        quote!((#e) as u64)
    }

    /// The address of every lane as an array of `u64`, if it is not in rows.
    fn address_array(&mut self, v: &Value) -> TokenStream {
        let v = if v.bits == 64 {
            v.clone()
        } else {
            let e = self.lane(v);
            self.lanes(64, quote!((#e) as u64))
        };
        self.array(&v)
    }

    /// The mask an instruction runs with, as a name.
    fn active(&mut self, i: &Instr) -> Ident {
        match &i.pred {
            Some(p) => {
                let (mask, name) = (self.mask(p), self.name());
                self.code(quote!(let #name: u32 = m & #mask;));
                name
            }
            None => format_ident!("m"),
        }
    }

    fn load(&mut self, i: &Instr) {
        let rt = rt();
        let (q, site) = (self.e.q(i), number32(self.e.site(i)));
        let memory = i.types[0].bits();
        let t = ty(memory);
        self.e.generic = !names_space(i);
        let Some(Operand::Address(base, offset)) = i.operands.iter().find(|a| !written(a)).map(|a| a.value.clone())
        else {
            return;
        };
        let shape = self.shape_of(i);
        let address = self.address(base, offset);
        let dests: Vec<Operand> = match &i.operands[0].value {
            Operand::Vector(list) => list.clone(),
            o => vec![o.clone()],
        };
        let space = quote!(#rt::isa::space(#q));
        if shape.rows() {
            let Operand::Reg(r, e) = dests[0] else { return };
            let (bits, nb) = (self.e.reg_bits(self.f, r), 32 / shape.p);
            let (raw, name, n, to) = (self.name(), self.name(), usize_literal(nb), ty(bits));
            let (rows, _) = self.address_rows(&address);
            let lane = self.address_lane(&address);
            self.code(quote! {
                let mut #raw: [#t; #n] = [0; #n];
                if !x.load_uniform::<#t, #n>(#space, m, #rows, &mut #raw) {
                    x.site = #site;
                    #rt::lanes::slow_load_uniform(x, #q, m, &#rt::from_lanes(|l| #lane), &mut #raw)?;
                }
            });
            let extended: Vec<_> = (0..nb)
                .map(|j| {
                    let j = usize_literal(j);
                    extend(quote!(#raw[#j]), i.types[0], bits)
                })
                .collect();
            self.code(quote!(let #name: [#to; #n] = [#(#extended),*];));
            let v = Value { bits, shape, repr: Repr::Rows(name), guard: None };
            return self.define((self.f.0, r.0, e), v);
        }
        let mask = self.active(i);
        let names: Vec<Ident> = dests.iter().map(|_| self.name()).collect();
        for name in &names {
            self.code(quote!(let mut #name: [#t; 32] = [0; 32];));
        }
        let fast = if names.len() == 1 && address.shape.rows() && address.shape.stride == i64::from(memory / 8) {
            let (rows, ok) = self.address_rows(&address);
            let (nb, name) = (usize_literal(32 / address.shape.p), &names[0]);
            quote!(#ok && x.load_rows::<#t, #nb>(#space, #mask, #rows, &mut #name))
        } else if names.len() == 1 && !address.shape.rows() {
            let (array, name) = (self.address_array(&address), &names[0]);
            quote!(x.gather::<#t>(#space, #mask, &#array, &mut #name))
        } else {
            let (lane, d) = (self.address_lane(&address), usize_literal(names.len() as u32));
            quote!(x.load_lanes::<#t, #d>(#space, #mask, |l| #lane, [#(&mut #names),*]))
        };
        let lane = self.address_lane(&address);
        self.code(quote! {
            if !(#fast) {
                x.site = #site;
                #rt::lanes::slow_load(x, #q, #mask, &#rt::from_lanes(|l| #lane), [#(&mut #names),*])?;
            }
        });
        for (o, name) in dests.iter().zip(&names) {
            let Operand::Reg(r, e) = o else { continue };
            let bits = self.e.reg_bits(self.f, *r);
            if bits == memory && i.pred.is_none() {
                let v = Value { bits, shape: LANES, repr: Repr::Array(name.clone()), guard: None };
                self.define((self.f.0, r.0, *e), v);
            } else {
                let guard = i.pred.as_ref().map(|_| quote!((#mask >> l & 1 != 0)));
                self.set(o, extend(quote!(#name[l]), i.types[0], bits), bits, &guard);
            }
        }
    }

    fn store(&mut self, i: &Instr) {
        let rt = rt();
        let (q, site) = (self.e.q(i), number32(self.e.site(i)));
        let memory = i.types[0].bits();
        let t = ty(memory);
        self.e.generic = !names_space(i);
        let [a, b, ..] = i.operands.as_slice() else { return };
        let Operand::Address(base, offset) = a.value else { return };
        let address = self.address(base, offset);
        let values: Vec<Operand> = match &b.value {
            Operand::Vector(list) => list.clone(),
            o => vec![o.clone()],
        };
        let mut arrays = Vec::new();
        for o in &values {
            let v = self.operand(o, memory);
            let v = if v.bits == memory {
                v
            } else {
                let e = self.lane(&v);
                self.lanes(memory, quote!((#e) as #t))
            };
            arrays.push(self.array(&v));
        }
        let space = quote!(#rt::isa::space(#q));
        let mask = self.active(i);
        let fast = if arrays.len() == 1 && address.shape.rows() && address.shape.stride == i64::from(memory / 8) {
            let (rows, ok) = self.address_rows(&address);
            let (nb, v) = (usize_literal(32 / address.shape.p), &arrays[0]);
            quote!(#ok && x.store_rows::<#t, #nb>(#space, #mask, #rows, &#v))
        } else if arrays.len() == 1 && !address.shape.rows() {
            let (array, v) = (self.address_array(&address), &arrays[0]);
            quote!(x.scatter::<#t>(#space, #mask, &#array, &#v))
        } else {
            let (lane, d) = (self.address_lane(&address), usize_literal(arrays.len() as u32));
            quote!(x.store_lanes::<#t, #d>(#space, #mask, |l| #lane, [#(&#arrays),*]))
        };
        let lane = self.address_lane(&address);
        self.code(quote! {
            if !(#fast) {
                x.site = #site;
                #rt::lanes::slow_store(x, #q, #mask, &#rt::from_lanes(|l| #lane), [#(&#arrays),*])?;
            }
        });
    }

    /// `red.add` and `atom.add`.
    fn add(&mut self, i: &Instr) {
        let rt = rt();
        let (q, site) = (self.e.q(i), number32(self.e.site(i)));
        let bits = i.types[0].bits();
        let t = ty(bits);
        self.e.generic = !names_space(i);
        let sources: Vec<_> = i.operands.iter().filter(|a| !written(a)).collect();
        let Operand::Address(base, offset) = sources[0].value else { return };
        let address = self.address(base, offset);
        let v = self.operand(&sources[1].value, bits);
        let mask = self.active(i);
        let (lane, value) = (self.address_lane(&address), self.outside(&v));
        let dest = i.operands.iter().find(|a| written(a)).and_then(|a| match a.value {
            Operand::Reg(r, e) => Some((r, e)),
            _ => None,
        });
        let (name, rest) = (self.name(), self.name());
        let (keep, old) = match dest {
            Some(_) => (quote!(#name[l] = o), quote!(Some(&mut #name))),
            None => (quote!(), quote!(None)),
        };
        self.code(quote! {
            let mut #name: [#t; 32] = [0; 32];
            let #rest = x.add_lanes::<#t>(#rt::isa::space(#q), #mask, |l| #lane, |l| #value, |l, o| { #keep });
            if #rest != 0 {
                x.site = #site;
                #rt::lanes::slow_add::<M, #t>(x, #q, #rest, &#rt::from_lanes(|l| #lane), &#rt::from_lanes(|l| (#value) as u64), #old)?;
            }
        });
        if let Some((r, e)) = dest {
            let guard = i.pred.as_ref().map(|_| quote!((#mask >> l & 1 != 0)));
            self.set(&Operand::Reg(r, e), quote!(#name[l]), bits, &guard);
        }
    }

    /// An instruction of the runtime on the lanes of the warp.
    fn warp_instruction(&mut self, i: &Instr) {
        let rt = rt();
        let (q, function, site) = (self.e.q(i), self.e.function(i), number32(self.e.site(i)));
        self.e.generic = !names_space(i);
        let mut sources: Vec<Ident> = Vec::new();
        for a in i.operands.iter().filter(|a| !written(a)) {
            let parts = self.parts(&a.value, a.ty, None);
            // what these say of an open loop is said there
            let names: Vec<u32> = parts.iter().map(|_| self.fresh()).collect();
            for (n, e) in names.iter().zip(parts) {
                let t = format_ident!("t{}", n);
                self.body.push(quote!(let #t: u64 = #e;));
                self.defined.push((*n, 64));
                self.exported.insert(*n);
                sources.push(format_ident!("a{}", n));
            }
        }
        self.close();
        let mask = self.active(i);
        let mut dests: Vec<Ident> = Vec::new();
        let written_operands: Vec<_> = i.operands.iter().filter(|a| written(a)).collect();
        for a in &written_operands {
            for _ in 0..self.e.width(a) {
                dests.push(self.name());
            }
        }
        for _ in dests.len()..named_destinations(i, dests.len()) {
            dests.push(self.name());
        }
        self.code(quote! {
            #(let mut #dests: #rt::Lanes = [0; 32];)*
            if #mask != 0 {
                x.site = #site;
                x.mask = #mask;
                #function(x, #q, [#(&#sources),*], [#(&mut #dests),*])?;
                x.mask = m;
            }
        });
        let guard = i.pred.as_ref().map(|_| quote!((#mask >> l & 1 != 0)));
        let mut values = dests.iter().map(|n| quote!(#n[l]));
        for a in written_operands {
            self.write(&a.value, &mut values, &guard);
        }
    }

    /// Writes back what is read later, and gives the code of the region.
    pub fn finish(mut self, last: impl FnOnce(&mut Self) -> TokenStream) -> TokenStream {
        let last = last(&mut self);
        let rt = rt();
        let mut keys: Vec<Key> = self.dirty.iter().copied().filter(|k| self.e.classes.lives(self.region, k)).collect();
        keys.sort_unstable();
        let mut stores = TokenStream::new();
        let mut ready = Vec::new();
        for k in keys {
            let v = self.env[&k].clone();
            let (field, bits) = self.e.key_field(k);
            let shape = self.e.classes.shape(&k);
            if shape.rows() {
                let rows: Vec<_> = (0..32 / shape.p).map(|j| self.row(&v, j, shape.p)).collect();
                stores.extend(quote!(w.#field = [#(#rows),*];));
            } else if v.shape.rows() && bits != 1 {
                let e = self.lane(&v);
                let v = self.lanes(bits, e);
                ready.push((field, bits, v));
            } else {
                ready.push((field, bits, v));
            }
        }
        self.close();
        for (field, bits, v) in ready {
            let a = self.array(&v);
            stores.extend(match bits {
                1 => quote!(w.#field = w.#field & !m | #a & m;),
                _ => quote!(#rt::lanes::put(&mut w.#field, &#a, m);),
            });
        }
        let mut out = TokenStream::new();
        for piece in &self.pieces {
            match piece {
                Piece::Code(c) => out.extend(c.clone()),
                Piece::Loop(body, defined) => {
                    let (mut before, mut after) = (TokenStream::new(), TokenStream::new());
                    for (n, bits) in defined.iter().filter(|d| self.exported.contains(&d.0)) {
                        let (a, t, ty) = (format_ident!("a{}", n), format_ident!("t{}", n), ty(*bits));
                        if *bits == 1 {
                            before.extend(quote!(let mut #a: u32 = 0;));
                            after.extend(quote!(#a |= (#t as u32) << l;));
                        } else {
                            before.extend(quote!(let mut #a: [#ty; 32] = [0; 32];));
                            after.extend(quote!(#a[l] = #t;));
                        }
                    }
                    out.extend(quote!(#before for l in 0..32usize { #(#body)* #after }));
                }
            }
        }
        quote!(#out #stores #last)
    }

    /// The index of `brx.idx`, as an array of `u64`.
    pub fn index(&mut self, o: &Operand, t: Option<Ty>) -> TokenStream {
        let e = self.parts(o, t, None).into_iter().next().unwrap_or_else(|| quote!(0));
        let v = self.lanes(64, e);
        self.array(&v)
    }

    /// Reads what a branch needs before registers are written back.
    pub fn branch(&mut self, pred: &(Operand, bool)) -> Result<TokenStream, TokenStream> {
        let name = self.name();
        if let Some(p) = self.uniform(pred) {
            self.code(quote!(let #name: bool = #p;));
            return Ok(quote!(#name));
        }
        let mask = self.mask(pred);
        self.code(quote!(let #name: u32 = m & #mask;));
        Err(quote!(#name))
    }
}

fn element(name: &Ident, bits: u32) -> TokenStream {
    if bits == 1 { quote!((#name >> l & 1 != 0)) } else { quote!(#name[l]) }
}

/// An element of memory as a register holds it.
fn extend(e: TokenStream, memory: Ty, bits: u32) -> TokenStream {
    if memory.bits() == bits {
        return e;
    }
    let to = ty(bits);
    if memory.class() == Class::Signed {
        let (from, wide) = (format_ident!("i{}", memory.bits()), format_ident!("i{}", bits));
        quote!(((#e) as #from as #wide as #to))
    } else {
        quote!(((#e) as #to))
    }
}

impl Emit<'_> {
    /// A load or store of one to four elements of 8 to 64 bits in plain registers: how many.
    pub fn simple_access(&self, f: FuncId, i: &Instr) -> Option<usize> {
        if i.types.len() != 1 || !matches!(i.types[0].bits(), 8 | 16 | 32 | 64) || i.operands.len() != 2 {
            return None;
        }
        let memory = i.types[0].bits();
        let element = |o: &Operand, store: bool| match o {
            Operand::Reg(r, _) => matches!(self.reg_bits(f, *r), b @ 8..=64 if b >= memory),
            Operand::Imm(_) | Operand::VarAddr(..) | Operand::Sreg(_) => store && memory >= 32,
            _ => false,
        };
        let (values, address, store) = match i.entry.opcode {
            "ld" => (&i.operands[0], &i.operands[1], false),
            _ => (&i.operands[1], &i.operands[0], true),
        };
        if !matches!(address.value, Operand::Address(..)) {
            return None;
        }
        let n = if i.has(".v8") {
            8
        } else if i.has(".v4") {
            4
        } else if i.has(".v2") {
            2
        } else {
            1
        };
        match &values.value {
            Operand::Vector(list) if n == list.len() && n <= 4 => {
                list.iter().all(|o| element(o, store)).then_some(list.len())
            }
            o if n == 1 && element(o, store) => Some(1),
            _ => None,
        }
    }

    /// `red.add` or `atom.add` of one integer.
    pub fn simple_add(&self, f: FuncId, i: &Instr) -> bool {
        let adds = i.has(".add")
            && i.types.len() == 1
            && matches!(i.types[0], Ty::U32 | Ty::S32 | Ty::U64)
            && !i.quals.iter().any(|q| q.starts_with(".v") || q.starts_with(".L2") || q.starts_with(".level"));
        let sources: Vec<_> = i.operands.iter().filter(|a| !written(a)).collect();
        let fits = |o: &Operand| match o {
            Operand::Reg(r, _) => self.reg_bits(f, *r) == i.types[0].bits(),
            Operand::Imm(_) => true,
            _ => false,
        };
        adds && sources.len() == 2
            && matches!(sources[0].value, Operand::Address(..))
            && fits(&sources[1].value)
            && i.operands.iter().filter(|a| written(a)).all(|a| fits(&a.value) || matches!(a.value, Operand::Sink))
    }

    /// How the lanes of a special register lie.
    pub fn sreg_shape(&self, name: &str) -> Shape {
        let x = self.reqntid.map(|r| r[0]);
        let affine = Shape { p: 32, stride: 1, guard: 0 };
        match (name, x) {
            ("%tid.x", Some(x)) if x % 32 == 0 => affine,
            ("%tid.x", Some(x @ (8 | 16))) => Shape { p: x, ..affine },
            ("%tid.x", None) => Shape { guard: 1, ..affine },
            ("%tid.y" | "%tid.z", Some(x)) if x % 32 == 0 => UNIFORM,
            ("%tid.y" | "%tid.z", Some(x @ (8 | 16))) => Shape { p: x, ..UNIFORM },
            ("%tid.x" | "%tid.y" | "%tid.z", _) => LANES,
            ("%laneid", _) => affine,
            _ if name.starts_with("%lanemask") => LANES,
            _ => UNIFORM,
        }
    }
}
