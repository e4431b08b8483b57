//! What all warps of a CTA compute alike, from parameters, `%ctaid` and constants: it stands before the loop over the warps.

use super::super::Emit;
use super::{Block, Repr, UNIFORM, Value, ty, usize_literal};
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_table::hir::{Base, Instr, Space};
use quote::quote;

/// Special registers that are the same for all warps of a CTA.
const OF_THE_CTA: [&str; 7] =
    ["%ctaid", "%nctaid", "%ntid", "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid"];

impl<'m> Emit<'m> {
    /// The code that `make` makes for each warp of a cohort, and what comes before.
    pub fn with_common(&mut self, make: impl FnOnce(&mut Self) -> TokenStream) -> (TokenStream, TokenStream) {
        // a region that is a function of its own does not see what its caller has
        self.common = (!self.large).then(TokenStream::new);
        let code = make(self);
        (self.common.take().unwrap_or_default(), code)
    }
}

impl Block<'_, '_> {
    /// Is it known before the loop over the warps?
    pub(super) fn is_common(&self, v: &Value) -> bool {
        v.shape == UNIFORM
            && match &v.repr {
                Repr::Constant(_) => true,
                Repr::Rows(name) => self.common.contains(name),
                _ => false,
            }
    }

    /// May a value stand before the loop that is made of these?
    pub(super) fn all_common(&self, values: &[Value]) -> bool {
        self.e.common.is_some() && values.iter().all(|v| self.is_common(v))
    }

    /// Defines `name`, before the loop if it `is` common.
    pub(super) fn named(&mut self, is: bool, name: &Ident, code: TokenStream) {
        match &mut self.e.common {
            Some(common) if is => {
                common.extend(code);
                self.common.insert(name.clone());
            }
            _ => self.code(code),
        }
    }

    /// Is the special register common?
    pub(super) fn common_sreg(&self, name: &str) -> bool {
        self.e.common.is_some() && OF_THE_CTA.contains(&name.split('.').next().unwrap_or(name))
    }

    /// Loads a parameter of the kernel before the loop, if the instruction does that and no more.
    pub(super) fn common_parameter(&mut self, i: &Instr, base: Base, at: i64) -> bool {
        let (Base::Var(v), None, true) = (base, &i.pred, self.e.common.is_some()) else { return false };
        let var = &self.e.module.vars[v.0 as usize];
        let size = i64::from(i.types[0].bits() / 8);
        let inside = at >= 0 && at + size <= i64::from(var.size) && (i64::from(var.offset) + at) % size == 0;
        if var.space != Space::ParamEntry || !inside || !i.quals.iter().any(|q| q.starts_with(".param")) {
            return false;
        }
        let (name, t) = (self.name(), ty(i.types[0].bits()));
        let at = usize_literal(var.offset + at as u32);
        // it is inside, and so there
        self.named(true, &name, quote!(let #name: [#t; 1] = [x.param::<#t>(#at).unwrap_or_default()];));
        self.stretched.insert(i.index, name);
        true
    }
}
