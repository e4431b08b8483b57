//! Lane-serial loops: each lane runs the loop to its end, or for a bounded number of rounds, before the next lane does.
//!
//! That is best for a loop that mostly accesses scattered memory. All code is scalar, for the lane `l`.

use super::builder::RegionBuilder;
use super::value::{Repr, Value};
use crate::names::RT;
use proc_macro2::TokenStream;
use ptx_dsl_analysis::use_def::RegKey;
use ptx_dsl_isa::hir::Operand;
use quote::{format_ident, quote};

impl RegionBuilder<'_, '_> {
    /// Starts the loop. What it reads of the warp's state is in locals, of which it changes the `carried` ones. Returns their
    /// definitions.
    pub fn enter_serial_loop(&mut self, carried: &[RegKey], read: &[RegKey]) -> TokenStream {
        self.lane_serial = true;
        self.dirty.extend(carried);
        let carried: TokenStream = carried.iter().map(|k| self.serial_local(*k, &quote!(mut))).collect();
        let read: TokenStream = read.iter().map(|k| self.serial_local(*k, &quote!())).collect();
        quote!(#carried #read)
    }

    fn serial_local(&mut self, k: RegKey, mutable: &TokenStream) -> TokenStream {
        let (_, bits) = self.e.field(k);
        let value = self.e.lane_of(k);
        let name = self.fresh_name("c");
        let code = quote!(let #mutable #name = #value;);
        self.set_at_loop_entry(k, Value::varying(Repr::Scalar(name), bits));
        code
    }

    /// The lane leaves the loop for the region `to` if the predicate holds.
    pub fn leave_serial_loop(&mut self, pred: &(Operand, bool), to: usize) {
        let e = self.predicate(pred);
        let keys = self.dirty_live_in(to);
        let (stores, exit) = (self.store_lane(&keys), format_ident!("exit{}", to));
        self.open_loop.body.push(quote!(if #e { #stores #exit |= 1 << l; break; }));
    }

    fn store_lane(&mut self, keys: &[RegKey]) -> TokenStream {
        let mut stores = TokenStream::new();
        for k in keys {
            let v = self.values[k].clone();
            let ((field, bits), e) = (self.e.field(*k), self.lane(&v));
            stores.extend(match bits {
                1 => quote!(w.#field = w.#field & !(1 << l) | u32::from(#e) << l;),
                _ => quote!(w.#field[l] = #e;),
            });
        }
        stores
    }

    /// Ends the loop. `before` is what [`RegionBuilder::enter_serial_loop`] returned, `exits` are the regions that lanes may leave
    /// for, with their numbers.
    pub fn end_serial_loop(
        mut self,
        carried: &[RegKey],
        before: &TokenStream,
        exits: &[(usize, u16)],
        here: u16,
    ) -> TokenStream {
        let rt = RT;
        let (mut values, mut sets) = (TokenStream::new(), TokenStream::new());
        for k in carried {
            let v = self.values[k].clone();
            let Repr::Scalar(c) = self.loop_entry[k].repr.clone() else { continue };
            let (e, name) = (self.lane(&v), self.name());
            values.extend(quote!(let #name = #e;));
            sets.extend(quote!(#c = #name;));
            self.values.insert(*k, self.loop_entry[k].clone());
        }
        let stores = self.store_lane(carried);
        let body = std::mem::take(&mut self.open_loop.body);
        let names: Vec<_> = exits.iter().map(|(to, _)| format_ident!("exit{}", to)).collect();
        let exits = exits.iter().map(|(_, pc)| pc);
        quote! {
            let (mut rest, mut stay, mut longest) = (m, 0u32, 0u32);
            #(let mut #names = 0u32;)*
            while rest != 0 {
                let l = rest.trailing_zeros() as usize & 31;
                rest &= rest - 1;
                #before
                let mut left = #rt::lanes::ALONE;
                loop {
                    #(#body)*
                    #values
                    #sets
                    left -= 1;
                    if left == 0 {
                        #stores
                        stay |= 1 << l;
                        break;
                    }
                }
                longest = longest.max(#rt::lanes::ALONE - left);
            }
            #(x.fragments().fork(#names, #exits);)*
            x.fragments().went_round(longest);
            m = stay;
            #here
        }
    }
}
