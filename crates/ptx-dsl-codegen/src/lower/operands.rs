//! Operands as values, and values once a row, in a lane, or in all lanes.

use super::builder::RegionBuilder;
use super::value::{Guard, Repr, Value, canonical_nan, element};
use crate::emit::operands::sreg;
use crate::names::{RT, literal, ty, wrapped_literal};
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_analysis::affine::lattice::{Affine, VARYING};
use ptx_dsl_analysis::affine::sreg::{affine as sreg_affine, is_cta_uniform};
use ptx_dsl_analysis::use_def::RegKey;
use ptx_dsl_image::instr::truncated;
use ptx_dsl_isa::hir::{FUNCTIONS, Operand};
use ptx_dsl_isa::isa::sreg::{SpecialRegister, special};
use ptx_dsl_isa::ty::Ty;
use quote::{format_ident, quote};
use std::rc::Rc;

impl RegionBuilder<'_, '_> {
    /// The value of a register; the first read takes it from the warp's state.
    pub(super) fn register(&mut self, k: RegKey) -> Value {
        if let Some(v) = self.values.get(&k) {
            return v.clone();
        }
        let affine = self.e.layout.kept(&k);
        let (field, bits) = self.e.field(k);
        let v = if let Some(affine) = self.e.layout.guarded(&k) {
            self.guarded_register(k, affine, &field, bits)
        } else if affine.is_affine() {
            let (name, nb, t) = (self.name(), affine.rows() as usize, ty(bits));
            if affine.is_cta_uniform() && self.e.hoist.code.is_some() {
                let first = quote!(ws.first().map(|w| w.#field).unwrap_or_default());
                self.named(true, &name, quote!(let #name: [#t; #nb] = #first;));
                self.e.hoist.read_once.insert(field);
            } else {
                self.code(quote!(let #name: [#t; #nb] = w.#field;));
            }
            Value { bits, affine, repr: Repr::Rows(name), guard: None }
        } else {
            Value { bits, affine, repr: Repr::Field(field), guard: None }
        };
        self.log(k);
        self.values.insert(k, v.clone());
        v
    }

    /// A register that is kept as lanes and as rows.
    fn guarded_register(&mut self, k: RegKey, affine: Affine, field: &Ident, bits: u32) -> Value {
        let (rows, valid) = self.e.guarded_fields(k, affine);
        let (name, holds, nb, t) = (self.name(), self.name(), affine.rows() as usize, ty(bits));
        self.code(quote!(let #name: [#t; #nb] = w.#rows; let #holds: bool = w.#valid[0];));
        let guard = Some(Rc::new(Guard { holds: quote!(#holds), exact: quote!(w.#field[l]) }));
        Value { bits, affine, repr: Repr::Rows(name), guard }
    }

    /// An operand that is one value of at most 64 bits; `bits` is the width of what is not a register.
    pub(super) fn operand(&mut self, o: &Operand, bits: u32) -> Value {
        match o {
            Operand::Reg(r, e) => self.register(self.key(*r, *e)),
            Operand::NotReg(r) => {
                let v = self.register(self.key(*r, 0));
                self.negated(&v)
            }
            Operand::Imm(v) => Value::constant(*v, bits),
            Operand::VarAddr(v, o) => {
                let at = self.e.kernel.var_address(*v, *o);
                if self.e.kernel.is_framed(self.f, *v) {
                    let t = ty(bits);
                    return self.lanes(bits, quote!((w.frame[l] + #at) as #t));
                }
                Value::constant(at, bits)
            }
            Operand::FuncAddr(f) => Value::constant(FUNCTIONS + u64::from(f.0), bits),
            Operand::Sreg(register) => self.special_register(*register, bits),
            _ => Value::constant(0, bits),
        }
    }

    fn negated(&mut self, v: &Value) -> Value {
        if v.affine.is_affine() {
            let (e, name, hoisted) = (v.one(), self.name(), self.is_hoisted(v));
            self.named(hoisted, &name, quote!(let #name = [!#e];));
            return Value { repr: Repr::Rows(name), ..v.clone() };
        }
        let e = self.lane(v);
        self.lanes(1, quote!(!#e))
    }

    fn special_register(&mut self, register: SpecialRegister, bits: u32) -> Value {
        let (rt, t) = (RT, ty(bits));
        let affine = sreg_affine(self.e.kernel.function.reqntid, register);
        let affine = if affine.guards > 0 && bits != 32 { VARYING } else { affine };
        let lane = sreg(register);
        let lane = if bits == 1 { quote!((#lane != 0)) } else { quote!(#lane as #t) };
        if !affine.is_affine() {
            return self.lanes(bits, lane);
        }
        let v = self.name();
        let hoisted = self.e.hoist.code.is_some() && affine.is_uniform() && is_cta_uniform(register);
        let nb = affine.rows() as usize;
        let axis = match register {
            special::tid_x => Some(0usize),
            special::tid_y => Some(1),
            special::tid_z => Some(2),
            _ => None,
        };
        let init = match (axis, self.e.kernel.function.reqntid) {
            (Some(axis), Some(block)) if !block.contains(&0) => {
                let rows = (0..affine.rows()).map(|j| tid(axis, block, j * affine.period));
                quote!([#((#rows) as #t),*])
            }
            (Some(axis), _) => quote!(x.ids().tid_rows::<#nb>(#axis).map(|v| v as #t)),
            (None, _) => quote!({ let l = 0usize; [#lane; #nb] }),
        };
        self.named(hoisted, &v, quote!(let #v: [#t; #nb] = #init;));
        let guard = (affine.guards > 0).then(|| {
            let exact = format_ident!("{}x", v);
            self.code(quote! {
                let mut #exact: [u32; 32] = [0; 32];
                for l in 0..32usize { #exact[l] = #rt::semantics::sreg::tid_x(x, l) as u32; }
            });
            Rc::new(Guard { holds: quote!(x.ids().flat()), exact: quote!(#exact[l]) })
        });
        Value { bits, affine, repr: Repr::Rows(v), guard }
    }

    /// The value in lane `l` for an operation that does not distinguish NaNs.
    pub(super) fn lane_with_any_nan(&mut self, v: &Value) -> TokenStream {
        match &v.repr {
            Repr::Loop(n) if self.is_open(v) => {
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
            Repr::Rows(name) => self.lane_of_rows(v, name),
            Repr::Loop(n) => {
                if self.is_open(v) {
                    let t = format_ident!("t{}", n);
                    if self.any_nan.contains(n) { canonical_nan(&quote!(#t)) } else { quote!(#t) }
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

    fn lane_of_rows(&mut self, v: &Value, name: &Ident) -> TokenStream {
        let (p, rt, t) = (v.affine.period as usize, RT, ty(v.bits));
        let base = if p == 32 {
            quote!(#name[0])
        } else {
            let wide = format_ident!("{}w", name);
            self.code(quote!(let #wide = #rt::lanes::expand(#name);));
            quote!(#wide[l])
        };
        if v.affine.stride == 0 {
            return base;
        }
        let s = wrapped_literal(v.affine.stride, v.bits);
        let within = if p == 32 { quote!(l) } else { quote!((l % #p)) };
        quote!(#base.wrapping_add((#within as #t).wrapping_mul(#s)))
    }

    /// All lanes: an array, of predicates a mask.
    pub(super) fn array(&mut self, v: &Value) -> TokenStream {
        match &v.repr {
            Repr::Array(name) => quote!(#name),
            Repr::Element(name, n) => quote!(#name[#n]),
            Repr::Field(f) => quote!(w.#f),
            Repr::Loop(n) => {
                if self.is_open(v) {
                    self.close();
                }
                self.exported.insert(*n);
                let name = format_ident!("a{}", n);
                quote!(#name)
            }
            _ if v.bits == 1 => {
                let e = v.one();
                quote!((if #e { u32::MAX } else { 0 }))
            }
            _ => {
                if self.is_open(v) {
                    self.close();
                }
                let (e, name, t) = (self.lane(v), self.name(), ty(v.bits));
                let zero = literal(0, v.bits);
                self.code(quote!(let mut #name: [#t; 32] = [#zero; 32]; for l in 0..32usize { #name[l] = #e; }));
                quote!(#name)
            }
        }
    }

    /// The words of an operand: in lane `l`, or in a row, given with the period.
    pub(super) fn words(&mut self, o: &Operand, t: Option<Ty>, row: Option<(u32, u32)>) -> Vec<TokenStream> {
        o.parts().into_iter().flat_map(|part| self.words_of_part(part, t, row)).collect()
    }

    fn words_of_part(&mut self, o: &Operand, t: Option<Ty>, row: Option<(u32, u32)>) -> Vec<TokenStream> {
        match o {
            Operand::Imm(v) => {
                let low = literal(truncated(*v, t), 64);
                if t == Some(Ty::B128) {
                    return vec![low, literal(if (*v as i64) < 0 { u64::MAX } else { 0 }, 64)];
                }
                return vec![low];
            }
            Operand::VarAddr(v, at) if !self.e.kernel.is_framed(self.f, *v) => {
                return vec![literal(truncated(self.e.kernel.var_address(*v, *at), t), 64)];
            }
            Operand::Address(base, offset) => {
                let v = self.address(*base, *offset, false);
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
            Some((j, period)) => v.row(j, period),
            None => self.lane(&v),
        };
        match v.bits {
            64 => vec![e],
            128 => vec![quote!(((#e) as u64)), quote!(((#e) >> 64) as u64)],
            _ => vec![quote!(((#e) as u64))],
        }
    }

    /// A predicate in lane `l`.
    pub(super) fn predicate(&mut self, pred: &(Operand, bool)) -> TokenStream {
        let v = self.operand(&pred.0, 1);
        let e = self.lane(&v);
        if pred.1 { e } else { quote!(!#e) }
    }

    /// The mask of the lanes whose predicate holds.
    pub(super) fn mask(&mut self, pred: &(Operand, bool)) -> TokenStream {
        let v = self.operand(&pred.0, 1);
        let mask = self.array(&v);
        if pred.1 { mask } else { quote!(!#mask) }
    }

    /// The predicate, if it is uniform.
    pub(super) fn uniform_predicate(&mut self, pred: &(Operand, bool)) -> Option<TokenStream> {
        let v = self.operand(&pred.0, 1);
        if !v.is_uniform() {
            return None;
        }
        let e = v.one();
        Some(if pred.1 { e } else { quote!(!#e) })
    }
}

/// `%tid` of a lane of the current warp in a block of known size.
fn tid(axis: usize, block: [u32; 3], lane: u32) -> TokenStream {
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
