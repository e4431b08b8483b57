//! Memory accesses of one lane in a lane-serial loop.

use super::builder::RegionBuilder;
use super::memory::extend;
use crate::names::{RT, literal, ty};
use proc_macro2::TokenStream;
use ptx_dsl_analysis::use_def::sources;
use ptx_dsl_image::instr::{elements, names_space};
use ptx_dsl_isa::hir::{Instr, Operand};
use quote::quote;

impl RegionBuilder<'_, '_> {
    /// Does the lane run the instruction? `None` if it always does.
    fn runs(&mut self, i: &Instr) -> Option<TokenStream> {
        let mut all = Vec::new();
        for n in 0..self.parts.len() {
            let (v, holds) = (self.parts[n].condition.clone(), self.parts[n].holds);
            let e = self.lane(&v);
            all.push(if holds { e } else { quote!(!#e) });
        }
        all.extend(self.guard_of(i));
        (!all.is_empty()).then(|| quote!(#(#all)&&*))
    }

    /// The condition that a lane runs the instruction, as the left side of a `&&`.
    fn runs_and(&mut self, i: &Instr) -> TokenStream {
        self.runs(i).map(|runs| quote!(#runs &&)).unwrap_or_default()
    }

    /// The address as `u64`.
    fn serial_address(&mut self, i: &Instr, o: &Operand) -> TokenStream {
        let Operand::Address(base, offset) = *o else { return quote!(0u64) };
        let v = self.address(base, offset, !names_space(i));
        let e = self.lane(&v);
        quote!((#e) as u64)
    }

    pub(super) fn load_serial(&mut self, i: &Instr) {
        let rt = RT;
        let (q, site) = (self.e.qualifiers(i), self.e.sites.site(i));
        let t = ty(i.types[0].bits());
        let dests = elements(&i.operands[0].value);
        let address = self.serial_address(i, &i.operands[1].value);
        let (runs, name, n) = (self.runs(i), self.name(), dests.len());
        let cache = self.access_cache(i);
        let load = quote! {
            match x.loads().load_one::<#t, #n>(#cache, #rt::semantics::space(#q), #address) {
                Some(v) => v,
                None => {
                    x.site = #site;
                    #rt::lanes::slow_load_one::<#t, #n>(x, #rt::semantics::space(#q), l, #address)?
                }
            }
        };
        self.open_loop.body.push(match runs {
            Some(runs) => quote!(let #name: [#t; #n] = if #runs { #load } else { [0; #n] };),
            None => quote!(let #name: [#t; #n] = #load;),
        });
        let guard = self.guard_of(i);
        for (n, o) in dests.iter().enumerate() {
            let Operand::Reg(r, _) = o else { continue };
            let bits = self.e.kernel.reg_bits(self.f, *r);
            self.set(o, extend(quote!(#name[#n]), i.types[0], bits), bits, guard.as_ref());
        }
    }

    pub(super) fn store_serial(&mut self, i: &Instr) {
        let rt = RT;
        let (q, site) = (self.e.qualifiers(i), self.e.sites.site(i));
        let memory = i.types[0].bits();
        let t = ty(memory);
        let mut values = Vec::new();
        for o in elements(&i.operands[1].value) {
            let v = self.operand(o, memory);
            let e = self.lane(&v);
            values.push(if v.bits == memory { e } else { quote!((#e) as #t) });
        }
        let address = self.serial_address(i, &i.operands[0].value);
        let (runs, n) = (self.runs_and(i), values.len());
        let cache = self.access_cache(i);
        self.open_loop.body.push(quote! {
            if #runs !x.stores().store_one::<#t, #n>(#cache, #rt::semantics::space(#q), #address, [#(#values),*]) {
                x.site = #site;
                #rt::lanes::slow_store_one::<#t, #n>(x, #rt::semantics::space(#q), l, #address, [#(#values),*])?;
            }
        });
    }

    /// `red.add`
    pub(super) fn add_serial(&mut self, i: &Instr) {
        let rt = RT;
        let (q, site) = (self.e.qualifiers(i), self.e.sites.site(i));
        let bits = i.types[0].bits();
        let t = ty(bits);
        let sources = sources(i);
        let v = match sources[1].value {
            Operand::Imm(v) => literal(v, bits),
            ref o => {
                let v = self.operand(o, bits);
                self.lane(&v)
            }
        };
        let address = self.serial_address(i, &sources[0].value);
        let (runs, cache) = (self.runs_and(i), self.access_cache(i));
        self.open_loop.body.push(quote! {
            if #runs !x.stores().add_one::<#t>(#cache, #rt::semantics::space(#q), #address, #v) {
                x.site = #site;
                #rt::lanes::slow_add_one::<#t>(x, #q, l, #address, #v)?;
            }
        });
    }
}
