//! Regions that end with a blocking instruction: a function each, which calls that of the runtime.

use super::builder::StepBuilder;
use super::dispatch::{ARMS, choose};
use crate::emit::argument::{Argument, Destination};
use crate::emit::scale::outline_attribute;
use crate::names::RT;
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_analysis::use_def::RegKey;
use ptx_dsl_analysis::use_def::{destinations, sources};
use ptx_dsl_image::instr::{cta_barrier, is_try_wait, is_warp_collective, names_space};
use ptx_dsl_image::region::graph::End;
use ptx_dsl_image::region::graph::region_number;
use ptx_dsl_isa::hir::{FuncId, Instr, Operand};
use quote::{ToTokens, format_ident, quote};

impl StepBuilder<'_, '_> {
    /// The arm of a region that blocks, for all warps of a cohort.
    pub fn blocking_arm(&mut self, r: usize) -> TokenStream {
        let region = &self.p.regions[r];
        let End::Block { instr, next } = region.end else { return quote!() };
        let rt = RT;
        self.pending.insert(next);
        if self.is_uniform_wait(region.func, instr) {
            return self.uniform_wait_arm(region.func, r, instr, next);
        }
        let (here, next) = (region_number(r), region_number(next));
        let name = wait_function(r);
        let call = self.blocking_call(region.func, instr);
        let attribute = outline_attribute(self.e.scale.outline_warp_calls);
        self.items.push(quote! {
            #attribute
            fn #name(
                x: &mut #rt::Ctx<'_>,
                w: &mut Warp,
                m: u32,
            ) -> ::core::result::Result<#rt::Flow, ::std::boxed::Box<#rt::Fault>> {
                #call
            }
        });
        self.waits.push((here, next));
        match cta_barrier(instr) {
            Some(id) => quote!(#here if x.sync().pass_barrier(#id) => #next,),
            None => quote!(),
        }
    }

    /// The arm of all regions that block, and the function that it calls. Nothing of it depends on the instruction set, and `step` is
    /// long enough without it.
    pub fn all_waits(&mut self) -> TokenStream {
        let rt = RT;
        let (mut here, mut arms) = (Vec::new(), Vec::new());
        for (pc, next) in std::mem::take(&mut self.waits) {
            let name = wait_function(pc.into());
            here.push(pc);
            arms.push((pc, quote!(#pc => (#name(x, w, m), #next),)));
        }
        if here.is_empty() {
            return TokenStream::new();
        }
        let attribute = outline_attribute(self.e.scale.outline_warp_calls);
        let chosen = choose(arms, &quote!(_ => return Ok(None),));
        self.items.push(quote! {
            #attribute
            fn wait(
                x: &mut #rt::Ctx<'_>,
                pc: #rt::Pc,
                ws: &mut [Warp],
            ) -> ::core::result::Result<::core::option::Option<#rt::Pc>, ::std::boxed::Box<#rt::Fault>> {
                for (k, w) in ws.iter_mut().enumerate() {
                    let m = x.warp(k);
                    let (flow, next) = #chosen;
                    x.flow(flow?, pc, next);
                }
                Ok(x.go())
            }
        });
        let broadcast = self.e.hoist.broadcast();
        let these = if here.len() > ARMS {
            here.sort_unstable();
            quote!(_ if [#(#here),*].binary_search(&pc).is_ok())
        } else {
            quote!(#(#here)|*)
        };
        quote! {
            #these => {
                #broadcast
                match wait(x, pc, ws)? { Some(pc) => pc, None => return Ok(#rt::Next::Split) }
            }
        }
    }

    /// The arm of `run` for a blocking instruction that a warp whose lanes all run need not wait for.
    pub fn full_warp_arm(&mut self, r: usize) -> Option<TokenStream> {
        let region = &self.p.regions[r];
        let End::Block { instr, next } = region.end else { return None };
        if !is_warp_collective(instr) && !is_try_wait(instr) {
            return None;
        }
        if self.is_uniform_wait(region.func, instr) {
            return Some(self.uniform_wait_run_arm(region.func, r, instr, next));
        }
        let rt = RT;
        let (here, next, name) = (region_number(r), region_number(next), wait_function(r));
        Some(quote! {
            #here if m == u32::MAX => match #name(x, w, m)? {
                #rt::Flow::Next => #next,
                _ => { x.branch(m, #here); m = 0; #here }
            },
        })
    }

    /// The call of a blocking instruction on registers in the warp's state.
    fn blocking_call(&mut self, f: FuncId, i: &Instr) -> TokenStream {
        let generic = !names_space(i);
        let mut given = Vec::new();
        for a in sources(i) {
            given.extend(self.e.arguments(f, &a.value, a.ty, generic));
        }
        let mut borrowed: Vec<String> = Vec::new();
        for g in &given {
            if let Argument::Lanes(place) | Argument::Register(_, place) = g {
                borrowed.push(place.to_string());
            }
        }
        // a field that is also read, or written twice, is set after the call
        let (mut taken, mut before, mut after) = (Vec::new(), TokenStream::new(), TokenStream::new());
        for o in destinations(i).iter().flat_map(|a| a.value.parts()) {
            let Operand::Reg(r, e) = o else {
                taken.push(Destination::Ignored);
                continue;
            };
            let (field, bits) = self.e.field(RegKey::new(f, *r, *e));
            let place = quote!(w.#field);
            let written = place.to_string();
            if borrowed.contains(&written) {
                let copy = format_ident!("w{}", taken.len());
                before.extend(quote!(let mut #copy = #place;));
                after.extend(quote!(#place = #copy;));
                taken.push(Destination::Register(bits, copy.to_token_stream()));
            } else {
                borrowed.push(written);
                taken.push(Destination::Register(bits, place));
            }
        }
        let call = self.e.warp_call(i, &given, &taken, &format_ident!("m"));
        if after.is_empty() { call } else { quote!(#before let flow = #call; #after flow) }
    }
}

/// The function of a region that blocks, for one warp.
fn wait_function(r: usize) -> Ident {
    format_ident!("wait{r}")
}
