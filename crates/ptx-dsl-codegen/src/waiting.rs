//! Regions that end with an instruction at which a warp may wait: a function each, which calls the one of the runtime.

use super::classes::whole_barrier;
use super::operations::{Given, Taken, stays};
use super::step::{ARMS, chosen, number};
use super::values::names_space;
use super::{Emit, RT, function_of};
use crate::roles::{read_by, targets_of, written_by};
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_isa::hir::{FuncId, Instr, Operand};
use quote::{ToTokens, format_ident, quote};

impl<'m> Emit<'m> {
    /// A blocking instruction, for all warps of the cohort.
    pub fn waiting(&mut self, f: FuncId, pc: usize, instr: &Instr, next: usize) -> TokenStream {
        let rt = RT;
        self.entered.insert(next);
        if self.waits_as_one(f, instr) {
            return self.waiting_as_one(f, pc, instr, next);
        }
        let (here, next) = (number(pc), number(next));
        let name = waiter(pc);
        let call = self.waiting_call(f, instr);
        let stays = stays(self.distant);
        self.pieces.push(quote! {
            #stays
            fn #name<M: #rt::Monitor>(
                x: &mut #rt::Ctx<'_, M>,
                w: &mut Warp,
                m: u32,
            ) -> ::core::result::Result<#rt::Flow, ::std::boxed::Box<#rt::Fault>> {
                #call
            }
        });
        self.waits.push((here, next));
        match whole_barrier(instr) {
            Some(id) => quote!(#here if x.pass_barrier(#id) => #next,),
            None => quote!(),
        }
    }

    /// The arm of all regions that wait, and the function that it calls. Nothing of it depends on the instruction set, and it is no
    /// part of `step`, which is long enough.
    pub fn all_waits(&mut self) -> TokenStream {
        let rt = RT;
        let (mut here, mut arms) = (Vec::new(), Vec::new());
        for (pc, next) in std::mem::take(&mut self.waits) {
            let name = waiter(pc.into());
            here.push(pc);
            arms.push((pc, quote!(#pc => (#name(x, w, m), #next),)));
        }
        if here.is_empty() {
            return TokenStream::new();
        }
        let (stays, many) = (stays(self.distant), here.len() > ARMS);
        let chosen = chosen(arms, &quote!(_ => return Ok(None),));
        self.pieces.push(quote! {
            #stays
            fn wait<M: #rt::Monitor>(
                x: &mut #rt::Ctx<'_, M>,
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
        let settle = self.settle();
        let these = match many {
            false => quote!(#(#here)|*),
            true => {
                here.sort_unstable();
                quote!(_ if [#(#here),*].binary_search(&pc).is_ok())
            }
        };
        quote! {
            #these => {
                #settle
                match wait(x, pc, ws)? { Some(pc) => pc, None => return Ok(#rt::Next::Split) }
            }
        }
    }

    /// A blocking instruction that a whole warp need not wait for, when one comes to it.
    pub fn warp_wide(&mut self, f: FuncId, pc: usize, instr: &Instr, next: usize) -> Option<TokenStream> {
        let function = function_of(instr.entry.opcode, instr);
        let warp = ["shfl_sync", "vote_sync", "redux_sync", "elect_sync", "bar_warp_sync", "mbarrier_try_wait"];
        if !warp.contains(&function.as_str()) && !function.starts_with("match") {
            return None;
        }
        if self.waits_as_one(f, instr) {
            return Some(self.attempt_as_one(f, pc, instr, next));
        }
        let rt = RT;
        let (here, next, name) = (number(pc), number(next), waiter(pc));
        Some(quote! {
            #here if m == u32::MAX => match #name(x, w, m)? {
                #rt::Flow::Next => #next,
                _ => { x.branch(m, #here); m = 0; #here }
            },
        })
    }

    /// The instruction that waits, on registers in the warp's state.
    fn waiting_call(&mut self, f: FuncId, instr: &Instr) -> TokenStream {
        self.generic = !names_space(instr);
        let mut given = Vec::new();
        for a in &read_by(instr) {
            self.whole(f, &a.value, a.ty, &mut given);
        }
        let mut fields = Vec::new();
        for g in &given {
            if let Given::Lanes(place) | Given::Register(_, place) = g {
                fields.push(place.to_string());
            }
        }
        // what is also read, or twice written, is set behind the call
        let (mut taken, mut before, mut after) = (Vec::new(), TokenStream::new(), TokenStream::new());
        for a in &written_by(instr) {
            let mut targets = Vec::new();
            targets_of(&a.value, &mut targets);
            for o in targets {
                let Operand::Reg(r, e) = o else {
                    taken.push(Taken::Nothing);
                    continue;
                };
                let (field, bits) = self.key_field((f.0, r.0, *e));
                let place = quote!(w.#field);
                if fields.iter().any(|known| *known == place.to_string()) {
                    let copy = format_ident!("w{}", taken.len());
                    before.extend(quote!(let mut #copy = #place;));
                    after.extend(quote!(#place = #copy;));
                    taken.push(Taken::Register(bits, copy.to_token_stream()));
                } else {
                    fields.push(place.to_string());
                    taken.push(Taken::Register(bits, place));
                }
            }
        }
        let call = self.warp_call(instr, &given, &taken, &format_ident!("m"));
        if after.is_empty() { call } else { quote!(#before let flow = #call; #after flow) }
    }
}

/// The function of a region that waits, for one warp.
fn waiter(pc: usize) -> Ident {
    format_ident!("wait{pc}")
}
