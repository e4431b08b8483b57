//! Values that all warps of a CTA compute alike: they are hoisted out of the loop over the warps.

use super::builder::RegionBuilder;
use super::value::{Repr, Value};
use crate::names::ty;
use proc_macro2::TokenStream;
use ptx_dsl_analysis::use_def::RegKey;
use ptx_dsl_isa::hir::{Base, Instr, Operand};
use quote::quote;

impl RegionBuilder<'_, '_> {
    /// Is the value known before the loop over the warps?
    pub(super) fn is_hoisted(&self, v: &Value) -> bool {
        v.is_uniform()
            && match &v.repr {
                Repr::Constant(_) => true,
                Repr::Rows(name) => self.hoisted.contains(name),
                _ => false,
            }
    }

    /// Can a value be hoisted that is computed from these?
    pub(super) fn can_hoist(&self, values: &[Value]) -> bool {
        self.e.hoist.code.is_some() && values.iter().all(|v| self.is_hoisted(v))
    }

    /// Decides a branch before the loop, if all warps go the same way.
    pub fn hoist_branch(&mut self, pred: &(Operand, bool), taken: u16, fall: u16) -> bool {
        let v = self.operand(&pred.0, 1);
        if self.e.hoist.code.is_none() || !self.is_hoisted(&v) {
            return false;
        }
        let p = v.one();
        let (yes, no) = if pred.1 { (taken, fall) } else { (fall, taken) };
        self.e.hoist.next = Some(quote!(if #p { #yes } else { #no }));
        true
    }

    /// Lets the first warp keep the registers that all warps set alike. Returns the others.
    pub(super) fn keep_for_all(&mut self, keys: Vec<RegKey>) -> Vec<RegKey> {
        if !self.e.hoist.can_keep() {
            return keys;
        }
        let is_kept = |k: &RegKey| self.e.layout.kept(k).is_cta_uniform() && self.is_hoisted(&self.values[k]);
        let (kept, others): (Vec<RegKey>, Vec<RegKey>) = keys.into_iter().partition(is_kept);
        for k in kept {
            let (field, _) = self.e.field(k);
            self.e.hoist.keep(field, &self.values[&k].one());
        }
        others
    }

    /// Loads a parameter of the kernel before the loop, if the instruction does nothing else.
    pub(super) fn hoist_parameter(&mut self, i: &Instr, base: Base, at: i64) -> bool {
        let (Some(at), Some(_)) = (self.e.kernel.loaded_parameter(i, base, at), &self.e.hoist.code) else {
            return false;
        };
        let (name, t, at) = (self.name(), ty(i.types[0].bits()), at as usize);
        // it is in bounds, so there is a value
        let code: TokenStream = quote!(let #name: [#t; 1] = [x.param::<#t>(#at).unwrap_or_default()];);
        self.named(true, &name, code);
        self.loaded.push((i.index, name));
        true
    }
}
