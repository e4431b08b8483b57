//! Regions that end with an instruction at which a warp may wait: a function each, which calls the one of the runtime.

use super::classes::whole_barrier;
use super::step::number;
use super::values::{Whole, names_space};
use super::{Emit, RT, function_of};
use crate::code::{Code, Name, name};
use crate::roles::{named_destinations, read_by, written_by};
use ptx_dsl_quote::quote;
use ptx_dsl_table::hir::{FuncId, Instr};

impl<'m> Emit<'m> {
    /// A blocking instruction, for all warps of the cohort.
    pub fn waiting(&mut self, f: FuncId, pc: usize, instr: &Instr, next: usize) -> Code {
        let rt = RT;
        self.entered.insert(next);
        if self.waits_as_one(f, instr) {
            return self.waiting_as_one(f, pc, instr, next);
        }
        let (here, next) = (number(pc), number(next));
        let WarpCall { before, call, after } = self.warp_call(f, instr);
        let name = waiter(pc);
        let done = match after.is_empty() {
            true => call,
            false => quote!(let flow = #call; if let Ok(#rt::Flow::Next) = flow { #after } flow),
        };
        self.pieces.push(quote! {
            #[inline(never)]
            fn #name<M: #rt::Monitor>(
                x: &mut #rt::Ctx<'_, M>,
                w: &mut Warp,
                m: u32,
            ) -> ::core::result::Result<#rt::Flow, ::std::boxed::Box<#rt::Fault>> {
                #before
                #done
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
    pub fn all_waits(&mut self) -> Code {
        let rt = RT;
        let (mut here, mut next, mut names) = (Vec::new(), Vec::new(), Vec::new());
        for (pc, to) in std::mem::take(&mut self.waits) {
            names.push(waiter(pc.into()));
            here.push(pc);
            next.push(to);
        }
        if here.is_empty() {
            return Code::new();
        }
        self.pieces.push(quote! {
            #[inline(never)]
            fn wait<M: #rt::Monitor>(
                x: &mut #rt::Ctx<'_, M>,
                pc: #rt::Pc,
                ws: &mut [Warp],
            ) -> ::core::result::Result<::core::option::Option<#rt::Pc>, ::std::boxed::Box<#rt::Fault>> {
                for (k, w) in ws.iter_mut().enumerate() {
                    let m = x.warp(k);
                    let (flow, next) = match pc {
                        #(#here => (#names(x, w, m), #next),)*
                        _ => break,
                    };
                    x.flow(flow?, pc, next);
                }
                Ok(x.go())
            }
        });
        let settle = self.settle();
        quote! {
            #(#here)|* => {
                #settle
                match wait(x, pc, ws)? { Some(pc) => pc, None => return Ok(#rt::Next::Split) }
            }
        }
    }

    /// A blocking instruction that a whole warp need not wait for, when one comes to it.
    pub fn warp_wide(&mut self, f: FuncId, pc: usize, instr: &Instr, next: usize) -> Option<Code> {
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

    fn warp_call(&mut self, f: FuncId, instr: &Instr) -> WarpCall {
        let rt = RT;
        let q = self.q(instr);
        let function = self.function(instr);
        let site = self.site(instr);
        self.generic = !names_space(instr);
        let mut before = Code::new();
        let mut sources: Vec<Code> = Vec::new();
        for a in &read_by(instr) {
            for value in self.whole(f, &a.value, a.ty) {
                let name = name!("s{}", sources.len());
                sources.push(match value {
                    Whole::There(place) => quote!(&#place),
                    Whole::Made(value) => {
                        before.extend(quote!(let #name: #rt::Lanes = #value;));
                        quote!(&#name)
                    }
                });
            }
        }
        let mut after = Code::new();
        let mut dests: Vec<Name> = Vec::new();
        for a in &written_by(instr) {
            let mut values = Vec::new();
            for _ in 0..self.width(a) {
                let name = name!("d{}", dests.len());
                before.extend(quote!(let mut #name: #rt::Lanes = [0; 32];));
                values.push(Code::one(&name));
                dests.push(name);
            }
            after.extend(self.put(f, &a.value, &mut values.iter(), &quote!(m)));
        }
        // A missing `|p` still has its place.
        for _ in dests.len()..named_destinations(instr, dests.len()) {
            let name = name!("d{}", dests.len());
            before.extend(quote!(let mut #name: #rt::Lanes = [0; 32];));
            dests.push(name);
        }
        before.extend(quote!(x.site = #site;));
        let call = quote!(#function(x, #q, [#(#sources),*], [#(&mut #dests),*]));
        WarpCall { before, call, after }
    }
}

/// The function of a region that waits, for one warp.
fn waiter(pc: usize) -> Name {
    name!("wait{pc}")
}

struct WarpCall {
    before: Code,
    call: Code,
    after: Code,
}
