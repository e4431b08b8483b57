//! Addresses of memory accesses.

use super::builder::RegionBuilder;
use super::value::{Guard, Repr, Value, plus};
use crate::names::RT;
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_image::instr::may_be_global;
use ptx_dsl_isa::hir::{Base, Instr};
use quote::{format_ident, quote};
use std::rc::Rc;

impl RegionBuilder<'_, '_> {
    /// An address as a value of 32 or 64 bits. `generic`: the instruction names no state space.
    pub(super) fn address(&mut self, base: Base, offset: i64, generic: bool) -> Value {
        match base {
            Base::Abs => Value::constant(offset as u64, 64),
            Base::Var(v) => {
                let at = self.e.kernel.var_address_for(generic, v, offset);
                if self.e.kernel.is_framed(self.f, v) {
                    return self.lanes(64, quote!((w.frame[l] + #at)));
                }
                Value::constant(at, 64)
            }
            Base::Reg(r) => {
                let v = self.register(self.key(r, 0));
                self.offset(v, offset)
            }
        }
    }

    fn offset(&mut self, v: Value, offset: i64) -> Value {
        if !matches!(v.bits, 32 | 64) {
            let (e, o) = (self.lane(&v), offset as u32);
            return self.lanes(32, quote!(((#e) as u32).wrapping_add(#o)));
        }
        if offset == 0 {
            return v;
        }
        if !v.affine.is_affine() {
            let e = self.lane(&v);
            return self.lanes(v.bits, plus(e, offset, v.bits));
        }
        let rows: Vec<TokenStream> = v.rows(v.affine.period).into_iter().map(|row| plus(row, offset, v.bits)).collect();
        let name = self.define_rows(false, v.affine, v.bits, &rows);
        let guard = v
            .guard
            .as_ref()
            .map(|g| Rc::new(Guard { holds: g.holds.clone(), exact: plus(g.exact.clone(), offset, v.bits) }));
        Value { repr: Repr::Rows(name), guard, ..v }
    }

    /// The rows of an address as an array of `u64`, and the condition under which it lies in rows.
    pub(super) fn address_rows(&mut self, v: &Value) -> (TokenStream, TokenStream) {
        let rows = v.rows(v.affine.period);
        (quote!([#((#rows) as u64),*]), v.condition())
    }

    /// An address in rows as that of every lane, for the slow path: a call, because few accesses need it.
    pub(super) fn slow_address(&mut self, v: &Value) -> TokenStream {
        let rt = RT;
        if let Some(g) = &v.guard {
            let exact = &g.exact;
            let lanes = self.e.lanes_from(&quote!((#exact) as u64));
            return quote!(&#lanes);
        }
        let (rows, _) = self.address_rows(v);
        let (stride, bits) = (v.affine.stride, v.bits);
        quote!(&#rt::lanes::addresses(#rows, #stride, #bits))
    }

    /// The address of every lane as an array of `u64`.
    pub(super) fn address_array(&mut self, v: &Value) -> TokenStream {
        let v = if v.bits == 64 {
            v.clone()
        } else {
            let e = self.lane(v);
            self.lanes(64, quote!((#e) as u64))
        };
        self.array(&v)
    }

    /// The method of the context for an affine access: inlined, or a call in a large kernel.
    pub(super) fn access_method(&self, inline: &str, call: &str) -> Ident {
        format_ident!("{}", if self.e.scale.call_accesses { call } else { inline })
    }

    /// The number of the access cache of an instruction.
    pub(super) fn access_cache(&mut self, i: &Instr) -> usize {
        self.e.access_cache(may_be_global(i))
    }
}
