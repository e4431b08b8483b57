//! What all warps of a CTA compute alike, from parameters, `%ctaid` and constants: it stands before the loop over the warps.

use super::super::Emit;
use super::{Block, Key, Repr, UNIFORM, Value, ty};
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_isa::hir::{Base, Instr, Operand, Space};
use quote::quote;

/// Special registers that are the same for all warps of a CTA.
const OF_THE_CTA: [&str; 7] =
    ["%ctaid", "%nctaid", "%ntid", "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid"];

impl<'m> Emit<'m> {
    /// Is the special register the same for all warps of a CTA?
    pub fn of_the_cta(&self, name: &str) -> bool {
        OF_THE_CTA.contains(&name.split('.').next().unwrap_or(name))
    }

    /// Where the parameter is that an instruction loads, if it does that and no more.
    pub fn parameter(&self, i: &Instr, base: Base, at: i64) -> Option<u32> {
        let (Base::Var(v), None) = (base, &i.pred) else { return None };
        let var = &self.module.vars[v.0 as usize];
        let size = i64::from(i.types[0].bits() / 8);
        let inside = at >= 0 && at + size <= i64::from(var.size) && (i64::from(var.offset) + at) % size == 0;
        let loads = var.space == Space::ParamEntry && i.begins(".param");
        if loads && inside { Some(var.offset + at as u32) } else { None }
    }

    /// The code that `make` makes for each warp of a cohort, and what comes before and behind. `together`: all warps come to its end.
    pub fn with_common(&mut self, together: bool, make: &dyn Fn(&mut Self) -> TokenStream) -> [TokenStream; 3] {
        // a region that is a function of its own does not see what its caller has
        self.common = if self.large { None } else { Some(TokenStream::new()) };
        self.together = together;
        let code = make(self);
        let sets = std::mem::take(&mut self.sets);
        let behind = if sets.is_empty() {
            quote!()
        } else {
            quote! {
                if let Some(w) = ws.first_mut() { #sets }
                kept = true;
            }
        };
        [self.common.take().unwrap_or_default(), code, behind]
    }

    /// All warps get what the first one keeps for them: before code that looks at a warp's state for itself, and before the step
    /// ends.
    pub fn settle(&self) -> TokenStream {
        if self.keeps {
            quote!(if kept {
                settle(ws);
                kept = false;
            })
        } else {
            quote!()
        }
    }

    /// The function that does it.
    pub fn settling(&self) -> TokenStream {
        let kept = self.kept.iter().collect::<Vec<_>>();
        let all = quote!(#(w.#kept = first.#kept;)*);
        if all.is_empty() {
            return quote!(
                fn settle(_: &mut [Warp]) {}
            );
        }
        quote! {
            #[inline(never)]
            fn settle(ws: &mut [Warp]) {
                let [first, others @ ..] = ws else { return };
                for w in others { #all }
            }
        }
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

    /// The branch if all warps go the same way: where to.
    pub fn common_branch(&mut self, pred: &(Operand, bool), taken: u16, fall: u16) -> bool {
        let v = self.operand(&pred.0, 1);
        if self.e.common.is_none() || !self.is_common(&v) {
            return false;
        }
        let p = self.row(&v, 0, 32);
        let (yes, no) = if pred.1 { (taken, fall) } else { (fall, taken) };
        self.e.common_next = Some(quote!(if #p { #yes } else { #no }));
        true
    }

    /// Registers that all warps set alike at the end of the region: for the first warp alone, behind the loop. Gives the others.
    pub(super) fn set_in_common(&mut self, keys: &[Key]) -> Vec<Key> {
        if !self.e.keeps || self.e.common.is_none() || !self.e.together && self.e.common_next.is_none() {
            return keys.to_vec();
        }
        let mut others = Vec::new();
        for k in keys {
            let v = self.env[k].clone();
            if self.e.classes.shape(k).common && self.is_common(&v) {
                let (field, _) = self.e.key_field(*k);
                let value = self.row(&v, 0, 32);
                self.e.sets.extend(quote!(w.#field = [#value];));
                self.e.kept.insert(field);
            } else {
                others.push(*k);
            }
        }
        others
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

    /// Loads a parameter of the kernel before the loop, if the instruction does that and no more.
    pub(super) fn common_parameter(&mut self, i: &Instr, base: Base, at: i64) -> bool {
        let (Some(at), Some(_)) = (self.e.parameter(i, base, at), &self.e.common) else { return false };
        let (name, t, at) = (self.name(), ty(i.types[0].bits()), at as usize);
        // it is inside, and so there
        self.named(true, &name, quote!(let #name: [#t; 1] = [x.param::<#t>(#at).unwrap_or_default()];));
        self.stretches.push((i.index, name));
        true
    }
}
