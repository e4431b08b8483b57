//! Dispatch: one arm for each region, and the `match` that chooses it.

use super::builder::StepBuilder;
use crate::emit::Emitter;
use crate::names::RT;
use proc_macro2::TokenStream;
use ptx_dsl_image::region::graph::Program;
use ptx_dsl_image::region::graph::region_number;
use quote::{format_ident, quote};
use std::collections::BTreeSet;

/// The most arms of one `match`: LLVM compares the arms that go on at one place whenever it simplifies one.
pub(super) const ARMS: usize = 64;

/// The code of a kernel.
pub struct Code {
    /// The body of `step`, for all warps of a cohort.
    pub step: TokenStream,
    /// The body of `run`, for one warp.
    pub run: TokenStream,
    /// Functions and types that they use.
    pub items: Vec<TokenStream>,
}

/// An arm, with the number of its region.
type Arm = (u16, TokenStream);

pub fn code<'m>(e: &mut Emitter<'m>, p: &Program<'m>) -> Code {
    let pending = BTreeSet::from([0]);
    let mut b = StepBuilder { e, p, pending, trace_heads: BTreeSet::new(), waits: Vec::new(), items: Vec::new() };
    b.find_traces();
    b.build()
}

impl StepBuilder<'_, '_> {
    fn build(mut self) -> Code {
        let rt = RT;
        let (arms, runs) = self.arms();
        let waits = self.all_waits();
        let (exit, broadcast) = (self.exit(), self.e.hoist.broadcast());
        let kept = if self.e.hoist.keeps { quote!(let mut kept = false;) } else { quote!() };
        let other = quote! {
            #waits
            _ if pc >= #exit => return Ok(#rt::Next::Exit),
            _ => {
                #broadcast
                for k in 0..ws.len() {
                    let m = x.warp(k);
                    run::<L>(x, &mut ws[k], pc, m)?;
                }
                match x.go() { Some(pc) => pc, None => return Ok(#rt::Next::Split) }
            }
        };
        let next = if self.e.scale.outline_regions { self.outlined_arms(arms, &other) } else { choose(arms, &other) };
        let step = quote! {
            #kept
            loop {
                x.budget().turn(pc)?;
                pc = #next;
                if x.diverged() {
                    #broadcast
                    return Ok(#rt::Next::Go(pc));
                }
            }
        };
        let next = self.run_arms(runs);
        let run = quote! {
            loop {
                x.mask = m;
                let next: #rt::Pc = #next;
                match x.fragments().next(m, next)? {
                    Some((next, lanes)) => { pc = next; m = lanes; }
                    None => return Ok(()),
                }
            }
        };
        Code { step, run, items: self.items }
    }

    /// The arms of `step` and of `run`. A region that others contain has an arm only if some code jumps to it.
    fn arms(&mut self) -> (Vec<Arm>, Vec<Arm>) {
        let (mut arms, mut runs) = (Vec::new(), Vec::new());
        let mut done = BTreeSet::new();
        while let Some(r) = self.pending.pop_first() {
            if r >= self.p.regions.len() || !done.insert(r) {
                continue;
            }
            let divergent = self.e.layout.is_divergent(r);
            if self.p.regions[r].blocking().is_some() {
                arms.push((region_number(r), self.blocking_arm(r)));
                if divergent && let Some(code) = self.full_warp_arm(r) {
                    runs.push((region_number(r), code));
                }
            } else if divergent {
                runs.push((region_number(r), self.divergent_arm(r)));
            } else {
                arms.push((region_number(r), self.convergent_arm(r)));
            }
        }
        (arms, runs)
    }

    /// The choice of an arm in a large kernel: the arms are in functions of a limited number each. All arms of one `match` go on at
    /// one place, which LLVM goes through for each arm that it simplifies.
    fn outlined_arms(&mut self, mut arms: Vec<Arm>, other: &TokenStream) -> TokenStream {
        if arms.len() <= ARMS {
            return choose(arms, other);
        }
        let (rt, mut calls) = (RT, TokenStream::new());
        arms.sort_by_key(|(pc, _)| *pc);
        for part in arms.chunks(ARMS) {
            let name = format_ident!("part{}", self.items.len());
            let (first, last) = (part[0].0, part[part.len() - 1].0);
            let codes = part.iter().map(|(_, code)| code);
            self.items.push(quote! {
                #[inline(never)]
                fn #name<L: #rt::Level>(
                    x: &mut #rt::Ctx<'_>,
                    pc: #rt::Pc,
                    ws: &mut [Warp],
                ) -> ::core::result::Result<#rt::Next, ::std::boxed::Box<#rt::Fault>> {
                    Ok(#rt::Next::Go(match pc {
                        #(#codes)*
                        // it is none of these
                        _ => return Ok(#rt::Next::Exit),
                    }))
                }
            });
            calls.extend(quote! {
                if #first <= pc && pc <= #last {
                    match #name::<L>(x, pc, ws)? {
                        #rt::Next::Go(next) => break 'next next,
                        #rt::Next::Exit => {}
                        #rt::Next::Split => return Ok(#rt::Next::Split),
                    }
                }
            });
        }
        quote!('next: { #calls match pc { #other } })
    }

    /// Groups the arms of `run` in functions, as `outlined_arms` does those of `step`.
    fn run_arms(&mut self, mut arms: Vec<Arm>) -> TokenStream {
        let other = quote!(_ => { x.branch(m, pc); m = 0; pc });
        if !self.e.scale.outline_regions || arms.len() <= ARMS {
            return choose(arms, &other);
        }
        let (rt, mut calls) = (RT, TokenStream::new());
        arms.sort_by_key(|(pc, _)| *pc);
        for part in arms.chunks(ARMS) {
            let name = format_ident!("run{}", self.items.len());
            let last = part[part.len() - 1].0;
            let codes = part.iter().map(|(_, code)| code);
            self.items.push(quote! {
                #[inline(never)]
                fn #name<L: #rt::Level>(
                    x: &mut #rt::Ctx<'_>,
                    w: &mut Warp,
                    pc: #rt::Pc,
                    active: &mut u32,
                ) -> ::core::result::Result<#rt::Pc, ::std::boxed::Box<#rt::Fault>> {
                    let mut m = *active;
                    let next: #rt::Pc = match pc { #(#codes)* #other };
                    *active = m;
                    Ok(next)
                }
            });
            calls.extend(quote!(if pc <= #last { break 'next #name::<L>(x, w, pc, &mut m)?; }));
        }
        quote!('next: { #calls match pc { #other } })
    }
}

/// The value of the arm of `pc`, or one of `other`.
pub(super) fn choose(mut arms: Vec<Arm>, other: &TokenStream) -> TokenStream {
    if arms.len() <= ARMS {
        let arms = arms.iter().map(|(_, code)| code);
        return quote!(match pc { #(#arms)* #other });
    }
    arms.sort_by_key(|(pc, _)| *pc);
    let mut parts = TokenStream::new();
    for part in arms.chunks(ARMS) {
        let last = part[part.len() - 1].0;
        let arms = part.iter().map(|(_, code)| code);
        parts.extend(quote!(if pc <= #last { break 'next match pc { #(#arms)* _ => break 'other }; }));
    }
    quote!('next: { 'other: { #parts } match pc { #other } })
}
