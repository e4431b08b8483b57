//! Hoisting: what all warps of a CTA compute alike, from parameters, `%ctaid` and constants, stands before the loop over the warps.
//!
//! The first warp of a cohort also keeps registers that all warps set alike, and gives them to the others before code that looks
//! at the state of each warp, or when the step ends.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use std::collections::BTreeSet;

pub struct Hoist {
    /// The hoisted code; `None` where there is no loop to hoist from.
    pub code: Option<TokenStream>,
    /// The next region of all warps, if they branch alike.
    pub next: Option<TokenStream>,
    /// Fields that are read once for all warps of a cohort.
    pub read_once: BTreeSet<Ident>,
    /// Does the first warp keep registers for the others?
    pub keeps: bool,
    /// The registers of the first warp that stand for those of all.
    kept: BTreeSet<Ident>,
    /// The assignments of the current region to these registers, after the loop.
    updates: TokenStream,
    /// Do all warps come to the end of the current region?
    all_reach_end: bool,
}

/// A loop over the warps of a cohort, and what was hoisted out of it.
pub struct WarpLoop {
    pub before: TokenStream,
    pub body: TokenStream,
    pub behind: TokenStream,
    /// The next region of all warps, if they branch alike.
    pub next: Option<TokenStream>,
}

impl Hoist {
    pub fn new(keeps: bool) -> Self {
        Hoist {
            code: None,
            next: None,
            read_once: BTreeSet::new(),
            keeps,
            kept: BTreeSet::new(),
            updates: TokenStream::new(),
            all_reach_end: false,
        }
    }

    /// Starts the body of a loop over warps. `enabled`: code can be hoisted out of it.
    pub fn begin(&mut self, enabled: bool, all_reach_end: bool) {
        self.code = enabled.then(TokenStream::new);
        self.all_reach_end = all_reach_end;
    }

    /// Ends it.
    pub fn end(&mut self, body: TokenStream) -> WarpLoop {
        let updates = std::mem::take(&mut self.updates);
        let behind = if updates.is_empty() {
            quote!()
        } else {
            quote! {
                if let Some(w) = ws.first_mut() { #updates }
                kept = true;
            }
        };
        WarpLoop { before: self.code.take().unwrap_or_default(), body, behind, next: self.next.take() }
    }

    /// Can the first warp keep registers that the current region sets?
    pub fn can_keep(&self) -> bool {
        self.keeps && self.code.is_some() && (self.all_reach_end || self.next.is_some())
    }

    /// The first warp keeps this value.
    pub fn keep(&mut self, field: Ident, value: &TokenStream) {
        self.updates.extend(quote!(w.#field = [#value];));
        self.kept.insert(field);
    }

    /// Gives all warps what the first one keeps.
    pub fn broadcast(&self) -> TokenStream {
        if self.keeps {
            quote!(if kept {
                broadcast(ws);
                kept = false;
            })
        } else {
            quote!()
        }
    }

    /// The function that does it.
    pub fn broadcast_function(&self) -> TokenStream {
        if !self.keeps {
            return quote!();
        }
        let kept: Vec<&Ident> = self.kept.iter().collect();
        if kept.is_empty() {
            return quote!(
                fn broadcast(_: &mut [Warp]) {}
            );
        }
        quote! {
            #[inline(never)]
            fn broadcast(ws: &mut [Warp]) {
                let [first, others @ ..] = ws else { return };
                for w in others { #(w.#kept = first.#kept;)* }
            }
        }
    }
}
