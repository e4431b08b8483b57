//! Instructions of Rust on values that lie in rows: once a row, and under what condition.

use super::super::RT;
use super::{Block, Guard, Native, Op, Repr, Shape, UNIFORM, Value, literal, one_nan, ty};
use crate::roles::{read_by, written_by};
use proc_macro2::TokenStream;
use ptx_dsl_isa::hir::{Arg, Instr, Operand};
use quote::{format_ident, quote};
use std::rc::Rc;

impl Block<'_, '_> {
    /// A comparison of what counts the lanes with what they share: a prefix of the lanes.
    pub(super) fn prefix(&mut self, native: Native, values: &[Value]) -> Option<TokenStream> {
        let Op::Setp(op) = native.op else { return None };
        let counts = Shape { stride: 1, ..UNIFORM };
        if native.bits != 32 || values[0].shape != counts || values[1].shape != UNIFORM {
            return None;
        }
        let rt = RT;
        let (a, b) = (self.row(&values[0], 0, 32), self.row(&values[1], 0, 32));
        // signed numbers are in order with their sign flipped
        let flip = literal(if native.signed { 1 << 31 } else { 0 }, 32);
        let (a, b) = (quote!((#a ^ #flip)), quote!((#b ^ #flip)));
        Some(match op {
            "lt" => quote!(#rt::lanes::below(#a, #b)),
            "ge" => quote!(!#rt::lanes::below(#a, #b)),
            "le" => quote!(#rt::lanes::up_to(#a, #b)),
            "gt" => quote!(!#rt::lanes::up_to(#a, #b)),
            "eq" => quote!(#rt::lanes::just(#a, #b)),
            _ => quote!(!#rt::lanes::just(#a, #b)),
        })
    }

    /// A value once a row of `p` lanes.
    pub(super) fn rows(&mut self, v: &Value, p: u32) -> Vec<TokenStream> {
        let mut rows = Vec::new();
        for j in 0..32 / p {
            rows.push(self.row(v, j, p));
        }
        rows
    }

    /// Once a row.
    pub(super) fn rows_instruction(&mut self, i: &Instr, shape: Shape) {
        let nb = 32 / shape.p;
        let [Arg { value: Operand::Reg(r, e), .. }, ..] = written_by(i)[..] else { return };
        let (r, e) = (*r, *e);
        let bits = self.e.reg_bits(self.f, r);
        let (name, t, n) = (self.name(), ty(bits), nb as usize);
        let sources = read_by(i);
        let (mut guard, mut common) = (None, false);
        let mut rows = Vec::new();
        if let Some(native) = self.e.native(self.f, i) {
            let values = self.operands(i, native);
            if shape.guard > 0 {
                guard = Some(self.guard(native, &values, shape));
            }
            common = shape == UNIFORM && self.all_common(&values);
            for j in 0..nb {
                let sources = values.iter().map(|v| self.row(v, j, shape.p)).collect::<Vec<_>>();
                let value = native.tokens(&sources);
                rows.push(if native.gives_any_nan() { one_nan(&value) } else { value });
            }
        } else {
            for j in 0..nb {
                let mut s = Vec::new();
                for a in &sources {
                    s.append(&mut self.parts(&a.value, a.ty, Some((j, shape.p))));
                }
                let call = self.e.lane_call(i, &s, 1);
                let value = if bits == 1 { quote!(d & 1 != 0) } else { quote!(d as #t) };
                rows.push(quote!({ let [d, ..] = #call; #value }));
            }
        }
        self.named(common, &name, quote!(let #name: [#t; #n] = [#(#rows),*];));
        let v = Value { bits, shape, repr: Repr::Rows(name), guard: guard.map(Rc::new) };
        self.define((self.f.0, r.0, e), v);
    }

    /// Under what condition the result lies in rows, and what it is otherwise.
    fn guard(&mut self, native: Native, values: &[Value], shape: Shape) -> Guard {
        let rt = RT;
        let mut ok = TokenStream::new();
        for v in values {
            if let Some(g) = &v.guard {
                let g = &g.ok;
                also(&mut ok, g);
            }
        }
        // a value becomes wider: right as long as it does not wrap within a row
        let widens = matches!(native.op, Op::Wide | Op::MadWide | Op::Cvt) && native.bits == 32 && native.to == 64;
        if widens {
            let signed = native.signed;
            for v in values.iter().filter(|v| v.shape.stride != 0 && v.bits == 32) {
                let stride = v.shape.stride;
                let p = shape.p;
                let rows = self.rows(v, p);
                let one = quote!(#rt::lanes::fits([#(#rows),*], #stride, #signed));
                also(&mut ok, &one);
            }
        }
        // low bits of what grows: right as long as they do not begin again within a row
        if let (Op::And | Op::Rem, [grows, Value { repr: Repr::Constant(c), .. }]) = (native.op, values)
            && grows.shape.stride != 0
        {
            let mask = if native.op == Op::Rem { c.wrapping_sub(1) } else { *c };
            let last = grows.shape.stride as u64 * u64::from(shape.p - 1);
            let (mask, last) = (literal(mask, native.bits), literal(last, native.bits));
            for j in 0..32 / shape.p {
                let row = self.row(grows, j, shape.p);
                let one = quote!((#row & #mask <= #mask - #last));
                also(&mut ok, &one);
            }
        }
        let mut exact = Vec::new();
        for v in values {
            exact.push(self.exact(v));
        }
        let name = format_ident!("ok{}", self.fresh());
        self.code(quote!(let #name: bool = #ok;));
        Guard { ok: quote!(#name), exact: native.tokens(&exact) }
    }

    /// A value in the lane `l`, whether it lies in rows or not.
    fn exact(&mut self, v: &Value) -> TokenStream {
        let name = match (&v.guard, &v.repr) {
            (Some(g), _) => return g.exact.clone(),
            (None, Repr::Rows(name)) => name,
            _ => return self.row(v, 0, 32),
        };
        let (p, t) = (v.shape.p as usize, ty(v.bits));
        if v.shape.stride == 0 {
            return quote!(#name[l / #p]);
        }
        let s = literal(v.shape.stride as u64 & (u64::MAX >> (64 - v.bits.min(64))), v.bits);
        quote!(#name[l / #p].wrapping_add(((l % #p) as #t).wrapping_mul(#s)))
    }
}

/// One condition more.
fn also(all: &mut TokenStream, one: &TokenStream) {
    all.extend(if all.is_empty() { one.clone() } else { quote!(& #one) });
}
