//! Loops over the lanes of a warp, and regions that are loops which lanes leave one by one.

use super::builder::{LaneLoop, RegionBuilder, Segment};
use super::value::{Repr, Value, canonical_nan};
use crate::names::ty;
use proc_macro2::TokenStream;
use ptx_dsl_analysis::use_def::RegKey;
use quote::{ToTokens, format_ident, quote};
use std::collections::BTreeSet;

impl RegionBuilder<'_, '_> {
    /// Takes the code without its first segments, which stay.
    pub(super) fn take_segments(&mut self, first: usize) -> TokenStream {
        self.close();
        let mut out = TokenStream::new();
        for segment in self.segments.split_off(first) {
            out.extend(match segment {
                Segment::Code(code) => code,
                Segment::LaneLoop(lanes) => self.lane_loop(&lanes),
            });
        }
        out
    }

    /// A loop over the lanes; values that are read outside of it go to arrays.
    fn lane_loop(&self, LaneLoop { body, values }: &LaneLoop) -> TokenStream {
        let (mut before, mut after, mut masks) = (TokenStream::new(), TokenStream::new(), TokenStream::new());
        for (n, bits) in values.iter().filter(|(n, _)| self.exported.contains(n)) {
            let (a, t, ty) = (format_ident!("a{}", n), format_ident!("t{}", n), ty(*bits));
            if *bits == 1 {
                before.extend(quote!(let mut #a: [u8; 32] = [0; 32];));
                after.extend(quote!(#a[l] = #t as u8;));
                masks.extend(quote!(let #a: u32 = L::mask(&#a);));
            } else {
                before.extend(quote!(let mut #a: [#ty; 32] = [0; 32];));
                let t = t.to_token_stream();
                let t = if self.any_nan.contains(n) { canonical_nan(&t) } else { t };
                after.extend(quote!(#a[l] = #t;));
            }
        }
        quote!(#before for l in 0..L::lanes(x.rows) { #(#body)* #after } #masks)
    }

    /// Starts a region that is a loop. What it reads of the warp's state is in locals, of which it changes the `carried` ones.
    /// Returns the definitions of the locals.
    pub fn enter_loop(&mut self, carried: &[RegKey], read: &[RegKey]) -> TokenStream {
        self.dirty.extend(carried);
        let carried: TokenStream = carried.iter().map(|k| self.loop_local(*k, &quote!(mut))).collect();
        let read: TokenStream = read.iter().map(|k| self.loop_local(*k, &quote!())).collect();
        quote!(#carried #read)
    }

    fn loop_local(&mut self, k: RegKey, mutable: &TokenStream) -> TokenStream {
        let (field, bits) = self.e.field(k);
        let (name, affine) = (self.fresh_name("c"), self.e.layout.kept(&k));
        let code = quote!(let #mutable #name = w.#field;);
        let repr = if affine.is_affine() { Repr::Rows(name) } else { Repr::Array(name) };
        self.set_at_loop_entry(k, Value { bits, affine, repr, guard: None });
        code
    }

    pub(super) fn set_at_loop_entry(&mut self, k: RegKey, v: Value) {
        self.loop_entry.insert(k, v.clone());
        self.values.insert(k, v);
    }

    /// Ends the loop, which goes on until all lanes have left it or others should have a turn. `before` is what
    /// [`RegionBuilder::enter_loop`] returned, `here` the region.
    pub fn end_loop(
        mut self,
        carried: &[RegKey],
        any_nan: &BTreeSet<RegKey>,
        before: &TokenStream,
        here: u16,
    ) -> TokenStream {
        let (mut values, mut set, mut in_lanes) = (TokenStream::new(), TokenStream::new(), Vec::new());
        for k in carried {
            let (entry, v) = (self.loop_entry[k].clone(), self.values[k].clone());
            let (Repr::Rows(c) | Repr::Array(c)) = entry.repr else { continue };
            let value = if entry.affine.is_affine() {
                let rows = v.rows(entry.affine.period);
                quote!([#(#rows),*])
            } else if v.bits != 1 && (v.affine.is_affine() || self.is_open(&v)) {
                in_lanes.push((c, *k));
                continue;
            } else {
                self.array(&v)
            };
            let name = self.name();
            values.extend(quote!(let #name = #value;));
            set.extend(quote!(#c = #name;));
        }
        // the last loop over the lanes sets what it computes
        let mut last = Vec::new();
        for (c, k) in &in_lanes {
            let v = self.in_lanes(self.values[k].clone());
            let e = if any_nan.contains(k) { self.lane_with_any_nan(&v) } else { self.lane(&v) };
            last.push(quote!(#c[l] = #e;));
        }
        self.open_loop.body.append(&mut last);
        let body = self.take_segments(0);
        for k in carried {
            let mut v = self.loop_entry[k].clone();
            if any_nan.contains(k) && !v.affine.is_affine() {
                let e = canonical_nan(&self.lane(&v));
                v = self.lanes(32, e);
            }
            self.values.insert(*k, v);
        }
        let stores = self.write_back(carried, &format_ident!("m"));
        let after = self.take_segments(0);
        quote! {
            'all: {
                #before
                loop {
                    #body
                    #values
                    #set
                    if !x.fragments().iterates() { break; }
                }
                #after
                #stores
                #here
            }
        }
    }

    /// A value that does not lie in rows.
    pub(super) fn in_lanes(&mut self, v: Value) -> Value {
        if !v.affine.is_affine() {
            return v;
        }
        let e = self.lane(&v);
        self.lanes(v.bits, e)
    }
}
