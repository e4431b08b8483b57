//! Instructions on values that lie in rows: computed once a row, with the condition under which the result lies in rows.

use super::builder::RegionBuilder;
use super::value::{Guard, Repr, Value, canonical_nan};
use crate::layout::scalar_op::{expression, scalar_op};
use crate::names::{RT, literal, ty, wrapped_literal};
use proc_macro2::TokenStream;
use ptx_dsl_analysis::affine::lattice::{Affine, VARYING};
use ptx_dsl_analysis::affine::scalar_op::{Op, ScalarOp};
use ptx_dsl_analysis::compare::Compare;
use ptx_dsl_analysis::use_def::{destinations, sources};
use ptx_dsl_isa::hir::{Arg, Instr, Operand};
use quote::{format_ident, quote};
use std::rc::Rc;

impl RegionBuilder<'_, '_> {
    /// A comparison of a value that counts the lanes with a uniform one: the mask is a prefix of the lanes or one lane.
    pub(super) fn prefix_mask(&mut self, op: ScalarOp, values: &[Value]) -> Option<TokenStream> {
        let Op::Setp(compare) = op.op else { return None };
        let counts = Affine { period: 32, stride: 1, ..VARYING };
        if op.bits != 32 || !values[0].affine.same_lanes(counts) || !values[1].is_uniform() {
            return None;
        }
        let rt = RT;
        let (a, b) = (values[0].one(), values[1].one());
        // signed numbers are in order with their sign flipped
        let flip = literal(if op.signed { 1 << 31 } else { 0 }, 32);
        let (a, b) = (quote!((#a ^ #flip)), quote!((#b ^ #flip)));
        Some(match compare {
            Compare::Lt => quote!(#rt::lanes::below(#a, #b)),
            Compare::Ge => quote!(!#rt::lanes::below(#a, #b)),
            Compare::Le => quote!(#rt::lanes::up_to(#a, #b)),
            Compare::Gt => quote!(!#rt::lanes::up_to(#a, #b)),
            Compare::Eq => quote!(#rt::lanes::equal_lane(#a, #b)),
            Compare::Ne => quote!(!#rt::lanes::equal_lane(#a, #b)),
        })
    }

    /// Computes the result once a row.
    pub(super) fn row_instruction(&mut self, i: &Instr, affine: Affine) {
        let [Arg { value: Operand::Reg(r, e), .. }, ..] = destinations(i)[..] else { return };
        let (k, bits) = (self.key(*r, *e), self.e.kernel.reg_bits(self.f, *r));
        let (name, t, n) = (self.name(), ty(bits), affine.rows() as usize);
        let (mut guard, mut hoisted) = (None, false);
        let mut rows = Vec::new();
        if let Some(op) = scalar_op(self.e.kernel, self.f, i) {
            let values = self.scalar_operands(i, op);
            if affine.guards > 0 {
                guard = Some(self.guard(op, &values, affine));
            }
            hoisted = affine.is_uniform() && self.can_hoist(&values);
            for j in 0..affine.rows() {
                let sources: Vec<TokenStream> = values.iter().map(|v| v.row(j, affine.period)).collect();
                let value = expression(op, &sources);
                rows.push(if op.gives_any_nan() { canonical_nan(&value) } else { value });
            }
        } else {
            let sources = sources(i);
            for j in 0..affine.rows() {
                let mut words = Vec::new();
                for a in &sources {
                    words.extend(self.words(&a.value, a.ty, Some((j, affine.period))));
                }
                let call = self.e.lane_call(i, &words, 1);
                let value = if bits == 1 { quote!(d & 1 != 0) } else { quote!(d as #t) };
                rows.push(quote!({ let [d, ..] = #call; #value }));
            }
        }
        self.named(hoisted, &name, quote!(let #name: [#t; #n] = [#(#rows),*];));
        let v = Value { bits, affine, repr: Repr::Rows(name), guard: guard.map(Rc::new) };
        self.define(k, v);
    }

    /// The condition under which the result lies in rows, and the exact result.
    fn guard(&mut self, op: ScalarOp, values: &[Value], affine: Affine) -> Guard {
        let rt = RT;
        let mut conditions: Vec<TokenStream> = values.iter().flat_map(|v| &v.guard).map(|g| g.holds.clone()).collect();
        // a conversion to 64 bits: rows must not wrap
        if matches!(op.op, Op::Wide | Op::MadWide | Op::Cvt) && op.bits == 32 && op.to == 64 {
            let signed = op.signed;
            for v in values.iter().filter(|v| v.affine.stride != 0 && v.bits == 32) {
                let (stride, rows) = (v.affine.stride, v.rows(affine.period));
                conditions.push(quote!(#rt::lanes::fits([#(#rows),*], #stride, #signed)));
            }
        }
        // low bits: they must not wrap within a row
        if let (Op::And | Op::Rem, [grows, Value { repr: Repr::Constant(c), .. }]) = (op.op, values)
            && grows.affine.stride != 0
        {
            let mask = if op.op == Op::Rem { c.wrapping_sub(1) } else { *c };
            let last = grows.affine.stride as u64 * u64::from(affine.period - 1);
            let (mask, last) = (literal(mask, op.bits), literal(last, op.bits));
            conditions.extend(grows.rows(affine.period).iter().map(|row| quote!((#row & #mask <= #mask - #last))));
        }
        let exact: Vec<TokenStream> = values.iter().map(exact_lane).collect();
        let name = format_ident!("ok{}", self.fresh());
        self.code(quote!(let #name: bool = #(#conditions)&*;));
        Guard { holds: quote!(#name), exact: expression(op, &exact) }
    }
}

/// The value in lane `l`, whether it lies in rows or not.
fn exact_lane(v: &Value) -> TokenStream {
    let name = match (&v.guard, &v.repr) {
        (Some(g), _) => return g.exact.clone(),
        (None, Repr::Rows(name)) => name,
        _ => return v.one(),
    };
    let (p, t) = (v.affine.period as usize, ty(v.bits));
    if v.affine.stride == 0 {
        return quote!(#name[l / #p]);
    }
    let s = wrapped_literal(v.affine.stride, v.bits);
    quote!(#name[l / #p].wrapping_add(((l % #p) as #t).wrapping_mul(#s)))
}
