//! Operands as values: where they are, how their lanes lie, and how they are read once a row, in a lane, or all together.

use super::super::mentions::Key;
use super::super::values::truncated;
use super::super::{FUNCTION_TAG, RT};
use super::{Block, Guard, LANES, Repr, UNIFORM, Value, element, literal, one_nan, plus, ty};
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_isa::hir::Operand;
use ptx_dsl_isa::isa::sreg::{SpecialRegister, special};
use ptx_dsl_isa::ty::Ty;
use quote::{format_ident, quote};
use std::rc::Rc;

impl Block<'_, '_> {
    pub(super) fn register(&mut self, k: Key) -> Value {
        if let Some(v) = self.env.get(&k) {
            return v.clone();
        }
        let shape = self.e.classes.shape(&k);
        let (field, bits) = self.e.key_field(k);
        if let Some(v) = self.hinted(k, &field, bits) {
            return v;
        }
        let repr = if shape.rows() {
            let (name, nb, t) = (self.name(), (32 / shape.p) as usize, ty(bits));
            if shape.common && self.e.common.is_some() {
                let first = quote!(ws.first().map(|w| w.#field).unwrap_or_default());
                self.named(true, &name, quote!(let #name: [#t; #nb] = #first;));
                self.e.agreed.insert(field.clone());
            } else {
                self.code(quote!(let #name: [#t; #nb] = w.#field;));
            }
            Repr::Rows(name)
        } else {
            Repr::Field(field)
        };
        let v = Value { bits, shape, repr, guard: None };
        self.note(k);
        self.env.insert(k, v.clone());
        v
    }

    /// A register that is kept in both ways.
    fn hinted(&mut self, k: Key, field: &Ident, bits: u32) -> Option<Value> {
        let shape = *self.e.classes.hints.get(&k)?;
        let (rows, sure) = self.e.hint_fields(k, shape);
        let (name, ok, nb, t) = (self.name(), self.name(), (32 / shape.p) as usize, ty(bits));
        self.code(quote!(let #name: [#t; #nb] = w.#rows; let #ok: bool = w.#sure[0];));
        let guard = Some(Rc::new(Guard { ok: quote!(#ok), exact: quote!(w.#field[l]) }));
        let v = Value { bits, shape, repr: Repr::Rows(name), guard };
        self.note(k);
        self.env.insert(k, v.clone());
        Some(v)
    }

    pub(super) fn constant(v: u64, bits: u32) -> Value {
        Value { bits, shape: UNIFORM, repr: Repr::Constant(v), guard: None }
    }

    /// A statement of the loop: a value for each lane.
    pub(super) fn lanes(&mut self, bits: u32, expr: TokenStream) -> Value {
        let n = self.fresh();
        let (name, t) = (format_ident!("t{}", n), ty(bits));
        self.body.push(quote!(let #name: #t = #expr;));
        self.defined.push((n, bits));
        Value { bits, shape: LANES, repr: Repr::Loop(n), guard: None }
    }

    /// An operand that is one value of at most 64 bits; `bits` for what is no register.
    pub(super) fn operand(&mut self, o: &Operand, bits: u32) -> Value {
        match o {
            Operand::Reg(r, e) => self.register((self.f.0, r.0, *e)),
            Operand::Select(r, _) => self.register((self.f.0, r.0, 0)),
            Operand::NotReg(r) => {
                let v = self.register((self.f.0, r.0, 0));
                self.negated(&v)
            }
            Operand::Imm(v) => Self::constant(*v, bits),
            Operand::VarAddr(v, o) => {
                let at = self.e.var_address(*v, *o);
                if self.e.moves_with_frame(self.f, *v) {
                    let t = ty(bits);
                    return self.lanes(bits, quote!((w.frame[l] + #at) as #t));
                }
                Self::constant(at, bits)
            }
            Operand::FuncAddr(f) => Self::constant(FUNCTION_TAG | u64::from(f.0), bits),
            Operand::Sreg(register) => self.sreg(*register, bits),
            _ => Self::constant(0, bits),
        }
    }

    pub(super) fn negated(&mut self, v: &Value) -> Value {
        if v.shape.rows() {
            let (e, name, common) = (self.row(v, 0, 32), self.name(), self.is_common(v));
            self.named(common, &name, quote!(let #name = [!#e];));
            return Value { repr: Repr::Rows(name), ..v.clone() };
        }
        let e = self.lane(v);
        self.lanes(1, quote!(!#e))
    }

    pub(super) fn sreg(&mut self, register: SpecialRegister, bits: u32) -> Value {
        let (rt, t) = (RT, ty(bits));
        let shape = self.e.sreg_shape(register);
        let shape = if shape.guard > 0 && bits != 32 { LANES } else { shape };
        let lane = self.e.sreg(register);
        let lane = if bits == 1 { quote!((#lane != 0)) } else { quote!(#lane as #t) };
        if !shape.rows() {
            return self.lanes(bits, lane);
        }
        let v = self.name();
        let common = self.e.common.is_some() && shape == UNIFORM && self.e.of_the_cta(register);
        let nb = (32 / shape.p) as usize;
        let axis = match register {
            special::tid_x => Some(0usize),
            special::tid_y => Some(1),
            special::tid_z => Some(2),
            _ => None,
        };
        let init = match (axis, self.e.reqntid) {
            (Some(axis), Some(block)) if !block.contains(&0) => {
                let mut rows = Vec::new();
                for j in 0..32 / shape.p {
                    rows.push(in_block(axis, block, j * shape.p));
                }
                quote!([#((#rows) as #t),*])
            }
            (Some(axis), _) => {
                quote!(x.tid_rows::<#nb>(#axis).map(|v| v as #t))
            }
            (None, _) => quote!({ let l = 0usize; [#lane; #nb] }),
        };
        self.named(common, &v, quote!(let #v: [#t; #nb] = #init;));
        let mut guard = None;
        if shape.guard > 0 {
            let exact = format_ident!("{}x", v);
            self.code(quote! {
                let mut #exact: [u32; 32] = [0; 32];
                for l in 0..32usize { #exact[l] = #rt::isa::sreg::tid_x(x, l) as u32; }
            });
            guard = Some(Rc::new(Guard { ok: quote!(x.flat()), exact: quote!(#exact[l]) }));
        }
        Value { bits, shape, repr: Repr::Rows(v), guard }
    }

    /// The value in row `j` of rows of `p` lanes: at the first lane of it.
    pub(super) fn row(&mut self, v: &Value, j: u32, p: u32) -> TokenStream {
        match &v.repr {
            Repr::Constant(c) => literal(*c, v.bits),
            Repr::Rows(name) => {
                let first = j * p;
                let at = (first / v.shape.p) as usize;
                plus(quote!(#name[#at]), v.shape.stride * i64::from(first % v.shape.p), v.bits)
            }
            _ => quote!(0),
        }
    }

    /// The value in lane `l` for somebody who takes any NaN.
    pub(super) fn any_nan(&mut self, v: &Value) -> TokenStream {
        match &v.repr {
            Repr::Loop(n) if self.open(v) => {
                let t = format_ident!("t{}", n);
                quote!(#t)
            }
            _ => self.lane(v),
        }
    }

    /// The value in lane `l`.
    pub(super) fn lane(&mut self, v: &Value) -> TokenStream {
        if let Some(g) = &v.guard {
            return g.exact.clone();
        }
        match &v.repr {
            Repr::Constant(c) => literal(*c, v.bits),
            Repr::Rows(name) => {
                let (p, rt, t) = (v.shape.p, RT, ty(v.bits));
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
                    let p = p as usize;
                    quote!((l % #p))
                };
                quote!(#base.wrapping_add((#within as #t).wrapping_mul(#s)))
            }
            Repr::Loop(n) => {
                if self.open(v) {
                    let t = format_ident!("t{}", n);
                    if self.any_nan.contains(n) { one_nan(&quote!(#t)) } else { quote!(#t) }
                } else {
                    self.exported.insert(*n);
                    element(&format_ident!("a{}", n), v.bits)
                }
            }
            Repr::Array(name) => element(name, v.bits),
            Repr::Element(name, n) => quote!(#name[#n][l]),
            Repr::Field(f) if v.bits == 1 => quote!((w.#f >> l & 1 != 0)),
            Repr::Field(f) => quote!(w.#f[l]),
            Repr::Scalar(name) => quote!(#name),
        }
    }

    /// The same where no loop is open that defines it.
    pub(super) fn outside(&mut self, v: &Value) -> TokenStream {
        if self.open(v) {
            self.close();
        }
        self.lane(v)
    }

    /// All lanes: an array, of predicates a mask.
    pub(super) fn array(&mut self, v: &Value) -> TokenStream {
        match &v.repr {
            Repr::Array(name) => quote!(#name),
            Repr::Element(name, n) => quote!(#name[#n]),
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
    pub(super) fn parts(&mut self, o: &Operand, t: Option<Ty>, row: Option<(u32, u32)>) -> Vec<TokenStream> {
        match o {
            Operand::Vector(list) | Operand::Addresses(list) | Operand::List(list) => {
                let mut all = Vec::new();
                for o in list {
                    all.append(&mut self.parts(o, t, row));
                }
                return all;
            }
            Operand::Pair(a, b) => {
                let mut all = self.parts(a, t, row);
                all.append(&mut self.parts(b, t, row));
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
}

/// `%tid` of a lane of the current warp in a block that is known.
fn in_block(axis: usize, block: [u32; 3], lane: u32) -> TokenStream {
    let [x, y, _] = block;
    let thread = quote!(x.warp * 32 + #lane);
    match (axis, block) {
        (0, [_, 1, 1]) => thread,
        (0, _) => quote!((#thread) % #x),
        (_, [_, 1, 1]) => quote!(0u32),
        (1, [_, _, 1]) => quote!((#thread) / #x),
        (1, _) => quote!((#thread) / #x % #y),
        _ => quote!((#thread) / #x / #y),
    }
}
