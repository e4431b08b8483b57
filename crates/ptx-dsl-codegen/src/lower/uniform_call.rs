//! Uniform calls: a function of the runtime whose operands are uniform is called for one lane, and the result is uniform.

use super::builder::RegionBuilder;
use super::value::Value;
use crate::names::{RT, literal, runtime_function, ty};
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_analysis::use_def::{destinations, sources};
use ptx_dsl_image::instr::{names_space, words};
use ptx_dsl_isa::hir::{Arg, Instr, Operand};
use quote::quote;

impl RegionBuilder<'_, '_> {
    pub(super) fn uniform_call(&mut self, i: &Instr) {
        let rt = RT;
        let (q, function, site) = (self.e.qualifiers(i), runtime_function(i), self.e.sites.site(i));
        let mut arguments = Vec::new();
        for a in sources(i) {
            arguments.extend(self.uniform_words(i, a));
        }
        let mask = self.active_mask(i);
        let mut names: Vec<Ident> = Vec::new();
        let mut results: Vec<(&Operand, usize)> = Vec::new();
        for a in destinations(i) {
            for o in a.value.parts() {
                results.push((o, names.len()));
                names.extend((0..words(a.ty)).map(|_| self.name()));
            }
        }
        self.close();
        let count = arguments.len();
        self.code(quote! {
            #(let mut #names: #rt::Lanes = [0; 32];)*
            if #mask != 0 {
                x.site = #site;
                x.mask = #rt::one_of(#mask);
                let s: [&#rt::Lanes; #count] = [#(&[#arguments; 32]),*];
                #function(x, #q, &s, &mut [#(&mut #names),*]).map_err(|fault| x.describe().with_operands(fault, &s))?;
                x.mask = m;
            }
        });
        for (o, at) in results {
            let Operand::Reg(r, e) = o else { continue };
            let k = self.key(*r, *e);
            let bits = self.e.kernel.reg_bits(self.f, *r);
            let (low, t) = (&names[at], ty(bits));
            let lane = quote!(#mask.trailing_zeros() as usize & 31);
            let new = match bits {
                1 => quote!(#low[#lane] & 1 != 0),
                128 => {
                    let high = &names[at + 1];
                    quote!(#low[#lane] as u128 | (#high[#lane] as u128) << 64)
                }
                _ => quote!(#low[#lane] as #t),
            };
            let name = self.name();
            if i.pred.is_some() {
                let old = self.register(k);
                let old = if old.is_uniform() { old.one() } else { literal(0, bits) };
                self.code(quote!(let #name: [#t; 1] = [if #mask != 0 { #new } else { #old }];));
            } else {
                self.code(quote!(let #name: [#t; 1] = [#new];));
            }
            self.define(k, Value::uniform(name, bits));
        }
    }

    fn uniform_words(&mut self, i: &Instr, a: &Arg) -> Vec<TokenStream> {
        match &a.value {
            Operand::Address(base, offset) => {
                let e = self.address(*base, *offset, !names_space(i)).one();
                vec![quote!((#e as u64))]
            }
            o => self.words(o, a.ty, Some((0, 32))),
        }
    }
}
