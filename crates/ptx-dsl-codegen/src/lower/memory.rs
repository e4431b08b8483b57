//! Loads, stores and additions in memory: affine accesses at once, others lane by lane, with an out-of-line slow path.

use super::builder::RegionBuilder;
use super::value::{Repr, Value};
use crate::names::{RT, int, ty};
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_analysis::use_def::{destinations, sources};
use ptx_dsl_image::instr::{elements, names_space};
use ptx_dsl_isa::hir::{Arg, Instr, Operand};
use ptx_dsl_isa::ty::{Class, Ty};
use quote::quote;

impl RegionBuilder<'_, '_> {
    pub(super) fn load(&mut self, i: &Instr) {
        let dests = elements(&i.operands[0].value);
        if let Some(at) = self.position_of_loaded(i) {
            let (_, name) = self.loaded.swap_remove(at);
            return if self.affine_of(i).is_affine() {
                self.set_rows(i, &name);
            } else {
                self.set_arrays(i, dests, &[name]);
            };
        }
        let rt = RT;
        let (q, site) = (self.e.qualifiers(i), self.e.sites.site(i));
        let t = ty(i.types[0].bits());
        let Operand::Address(base, offset) = i.operands[1].value else { return };
        let address = self.address(base, offset, !names_space(i));
        let mask = self.active_mask(i);
        let names: Vec<Ident> = dests.iter().map(|_| self.name()).collect();
        if let ([name], 32) = (&names[..], address.bits) {
            let array = self.array(&address);
            self.code(quote! {
                let mut #name: [#t; 32] = [0; 32];
                #rt::lanes::load_near::<#t>(x, &#q, #rt::semantics::space(#q), #site, #mask, &#array, &mut #name)?;
            });
            return self.set_arrays(i, dests, &names);
        }
        let (array, d) = (self.address_array(&address), names.len());
        self.code(quote! {
            #(let mut #names: [#t; 32] = [0; 32];)*
            #rt::lanes::load::<#t, #d>(x, &#q, #rt::semantics::space(#q), #site, #mask, &#array, [#(&mut #names),*])?;
        });
        self.set_arrays(i, dests, &names);
    }

    /// Sets a register to one loaded element a row.
    fn set_rows(&mut self, i: &Instr, raw: &Ident) {
        let Operand::Reg(r, e) = i.operands[0].value else { return };
        let affine = self.affine_of(i);
        let bits = self.e.kernel.reg_bits(self.f, r);
        let rows = (0..affine.rows() as usize).map(|j| extend(quote!(#raw[#j]), i.types[0], bits));
        let rows: Vec<TokenStream> = rows.collect();
        let name = self.define_rows(self.hoisted.contains(raw), affine, bits, &rows);
        self.define(self.key(r, e), Value { bits, affine, repr: Repr::Rows(name), guard: None });
    }

    /// Sets registers to arrays of elements as they lie in memory.
    fn set_arrays(&mut self, i: &Instr, dests: &[Operand], names: &[Ident]) {
        let memory = i.types[0].bits();
        let mask = self.active_mask(i);
        for (o, name) in dests.iter().zip(names) {
            let Operand::Reg(r, e) = o else { continue };
            let bits = self.e.kernel.reg_bits(self.f, *r);
            if bits == memory && i.pred.is_none() {
                self.define(self.key(*r, *e), Value::varying(Repr::Array(name.clone()), bits));
            } else {
                let guard = mask_bit(i, &mask);
                self.set(o, extend(quote!(#name[l]), i.types[0], bits), bits, guard.as_ref());
            }
        }
    }

    pub(super) fn store(&mut self, i: &Instr) {
        let rt = RT;
        let (q, site) = (self.e.qualifiers(i), self.e.sites.site(i));
        let memory = i.types[0].bits();
        let t = ty(memory);
        let [a, b, ..] = i.operands.as_slice() else { return };
        let Operand::Address(base, offset) = a.value else { return };
        let address = self.address(base, offset, !names_space(i));
        let mut arrays = Vec::new();
        for o in elements(&b.value) {
            let mut v = self.operand(o, memory);
            if v.bits != memory {
                let e = self.lane(&v);
                v = self.lanes(memory, quote!((#e) as #t));
            }
            arrays.push(self.array(&v));
        }
        let space = quote!(#rt::semantics::space(#q));
        let mask = self.active_mask(i);
        let any = self.if_any_lane(i, &mask);
        if arrays.len() == 1 && address.affine.is_affine() && address.affine.stride == i64::from(memory / 8) {
            let (rows, holds) = self.address_rows(&address);
            let (nb, v) = (address.affine.rows() as usize, &arrays[0]);
            let (slow, access) = (self.slow_address(&address), self.access_method("store_rows", "store_rows_call"));
            let cache = self.access_cache(i);
            return self.code(quote! {
                if #any !(#holds && x.stores().#access::<#t, #nb>(#cache, #space, #mask, #rows, &#v)) {
                    x.site = #site;
                    #rt::lanes::slow_store(x, #q, #mask, #slow, [&#rt::lanes::copied(#v)])?;
                }
            });
        }
        let (array, d) = (self.address_array(&address), arrays.len());
        self.code(quote! {
            #rt::lanes::store::<#t, #d>(x, &#q, #space, #site, #mask, &#array, [#(&#arrays),*])?;
        });
    }

    /// `red.add` and `atom.add`.
    pub(super) fn add(&mut self, i: &Instr) {
        let rt = RT;
        let (q, site) = (self.e.qualifiers(i), self.e.sites.site(i));
        let bits = i.types[0].bits();
        let t = ty(bits);
        let sources = sources(i);
        let Operand::Address(base, offset) = sources[0].value else { return };
        let address = self.address(base, offset, !names_space(i));
        let v = self.operand(&sources[1].value, bits);
        let mask = self.active_mask(i);
        let addr = self.address_array(&address);
        let value = self.array(&v);
        let dest = match destinations(i)[..] {
            [Arg { value: dest @ Operand::Reg(..), .. }, ..] => Some(dest),
            _ => None,
        };
        let (name, rest) = (self.name(), self.name());
        let old = if dest.is_some() {
            self.code(quote!(let mut #name: [#t; 32] = [0; 32];));
            quote!(Some(&mut #name))
        } else {
            quote!(None)
        };
        self.code(quote! {
            let #rest = x.stores().add_lanes::<#t>(#rt::semantics::space(#q), #mask, &#addr, &#value, #old);
            if #rest != 0 {
                x.site = #site;
                #rt::lanes::slow_add::<#t>(x, #q, #rest, &#addr, &#value, #old)?;
            }
        });
        if let Some(dest) = dest {
            self.set(dest, quote!(#name[l]), bits, mask_bit(i, &mask).as_ref());
        }
    }
}

/// Does a predicated instruction run in lane `l`?
fn mask_bit(i: &Instr, mask: &Ident) -> Option<TokenStream> {
    i.pred.is_some().then(|| quote!((#mask >> l & 1 != 0)))
}

/// An element of memory as a register holds it.
pub(super) fn extend(e: TokenStream, memory: Ty, bits: u32) -> TokenStream {
    if memory.bits() == bits {
        return e;
    }
    let to = ty(bits);
    if memory.class() == Class::Signed {
        let (from, wide) = (int(memory.bits(), true), int(bits, true));
        quote!(((#e) as #from as #wide as #to))
    } else {
        quote!(((#e) as #to))
    }
}
