//! Terminators: live registers are stored to the warp's state, and lanes go on here, elsewhere, or end.

use super::builder::RegionBuilder;
use super::value::Value;
use crate::names::RT;
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_analysis::affine::lattice::Affine;
use ptx_dsl_analysis::use_def::RegKey;
use ptx_dsl_isa::hir::Operand;
use ptx_dsl_isa::ty::Ty;
use quote::{format_ident, quote};

/// The decision of a branch by lanes.
pub enum Decision {
    /// All in the same way: a `bool`.
    Uniform(TokenStream),
    /// Each for itself: the mask of those that jump.
    PerLane(TokenStream),
}

impl RegionBuilder<'_, '_> {
    /// Stores what is live after the region. Returns its code, with `last` at the end.
    pub fn finish(mut self, last: TokenStream) -> TokenStream {
        let is_live = |k: &&RegKey| self.e.layout.is_live_out(self.region, k);
        let keys = self.dirty.iter().filter(is_live).copied().collect();
        let keys = self.keep_for_all(keys);
        let stores = self.write_back(&keys, &format_ident!("m"));
        let out = self.take_segments(0);
        quote!(#out #stores #last)
    }

    /// Statements that store registers to the warp's state, for these lanes.
    pub(super) fn write_back(&mut self, keys: &[RegKey], lanes: &Ident) -> TokenStream {
        let rt = RT;
        let mut stores = TokenStream::new();
        let mut varying = Vec::new();
        for k in keys {
            let v = self.values[k].clone();
            let (field, bits) = self.e.field(*k);
            let affine = self.e.layout.kept(k);
            if let Some(guarded) = self.e.layout.guarded(k) {
                stores.extend(self.store_guarded(*k, &v, guarded));
            }
            if affine.is_affine() {
                let rows = v.rows(affine.period);
                stores.extend(quote!(w.#field = [#(#rows),*];));
            } else {
                varying.push((field, if bits == 1 { v } else { self.in_lanes(v) }));
            }
        }
        // one loop over the lanes computes all of them
        self.close();
        for (field, v) in &varying {
            let (a, bits) = (self.array(v), v.bits);
            stores.extend(match bits {
                1 => quote!(w.#field = w.#field & !#lanes | #a & #lanes;),
                _ => quote!(#rt::lanes::put::<L, _>(&mut w.#field, &#a, #lanes);),
            });
        }
        stores
    }

    /// Stores the rows of a register that is kept as lanes, and whether they are valid.
    fn store_guarded(&mut self, k: RegKey, v: &Value, guarded: Affine) -> TokenStream {
        let (rows, valid) = self.e.guarded_fields(k, guarded);
        if v.affine.period < guarded.period || v.affine.stride != guarded.stride {
            return quote!(w.#valid = [false];);
        }
        let all = v.rows(guarded.period);
        let holds = v.condition();
        quote!(w.#rows = [#(#all),*]; w.#valid = [#holds];)
    }

    /// The index of `brx.idx`, as an array of `u64`.
    pub fn index(&mut self, o: &Operand, t: Option<Ty>) -> TokenStream {
        let e = self.words(o, t, None).pop().unwrap_or_else(|| quote!(0));
        let v = self.lanes(64, e);
        self.array(&v)
    }

    /// Lanes whose predicate holds go to the region `to`; the others go on here.
    pub fn diverge(&mut self, pred: &(Operand, bool), to: usize, pc: u16) {
        let uniform = self.uniform_predicate(pred);
        let mut named = format_ident!("m");
        if uniform.is_none() {
            let mask = self.mask(pred);
            named = self.name();
            self.code(quote!(let #named: u32 = m & #mask;));
        }
        let lanes = &named;
        let fork = format_ident!("{}", if self.loop_entry.is_empty() { "fork" } else { "exit" });
        let keys = self.dirty_live_in(to);
        let stores = self.write_back(&keys, lanes);
        self.code(match uniform {
            Some(p) => quote!(if #p { #stores break 'all #pc; }),
            None => quote! {
                if #lanes != 0 {
                    #stores
                    if #lanes == m { break 'all #pc; }
                    x.fragments().#fork(#lanes, #pc);
                    m &= !#lanes;
                    x.mask = m;
                }
            },
        });
    }

    /// Lanes whose predicate holds end, and take no part in what follows.
    pub fn end_lanes(&mut self, pred: &(Operand, bool)) {
        if let Some(p) = self.uniform_predicate(pred) {
            return self.code(quote!(if #p { break 'all; }));
        }
        let mask = self.mask(pred);
        self.code(quote! {
            m &= !#mask;
            if m == 0 { break 'all; }
            x.mask = m;
        });
    }

    /// Evaluates a branch before registers are stored.
    pub fn decide(&mut self, pred: &(Operand, bool)) -> Decision {
        let name = self.name();
        if let Some(p) = self.uniform_predicate(pred) {
            self.code(quote!(let #name: bool = #p;));
            return Decision::Uniform(quote!(#name));
        }
        let mask = self.mask(pred);
        self.code(quote!(let #name: u32 = m & #mask;));
        Decision::PerLane(quote!(#name))
    }
}
