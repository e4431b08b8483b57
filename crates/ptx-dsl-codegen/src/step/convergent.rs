//! Convergent regions: the lanes of a warp are together, and `step` runs the region in a loop over the warps of a cohort.

use super::builder::StepBuilder;
use super::region_code::Fork;
use crate::emit::hoist::WarpLoop;
use crate::names::RT;
use proc_macro2::TokenStream;
use ptx_dsl_image::region::chains::exit_chain;
use ptx_dsl_image::region::graph::End;
use ptx_dsl_image::region::graph::region_number;
use quote::{ToTokens, quote};

impl StepBuilder<'_, '_> {
    /// The arm of a convergent region.
    pub fn convergent_arm(&mut self, r: usize) -> TokenStream {
        let here = region_number(r);
        let trace = self.trace(r);
        let region = &self.p.regions[r];
        if trace.len() == 1
            && let Some(body) = self.pass_waits(r)
        {
            let before = self.e.hoist.broadcast();
            let code = self.for_all_warps(WarpLoop { before, body, behind: quote!(), next: None });
            return quote!(#here => #code);
        }
        let chain = exit_chain(self.p, r);
        // in an exit chain, lanes that end early and the others end together
        let all_reach_end = chain.len() > 1 || matches!(region.end, End::Goto(_) | End::Exit);
        let mut plain = self.warp_loop(&chain, all_reach_end);
        if trace.len() == 1 && region.body.is_empty() && matches!(region.end, End::Goto(_) | End::Exit) {
            let code = plain.body;
            return quote!(#here => { #code });
        }
        plain.next = match (plain.next, &region.end) {
            (Some(next), _) => Some(next),
            (None, End::Goto(t)) => Some(region_number(*t).to_token_stream()),
            (None, end) if chain.len() > 1 || matches!(end, End::Exit) => Some(self.exit().to_token_stream()),
            _ => None,
        };
        let plain = self.outlined_loop(r, &chain, plain);
        if trace.len() == 1 {
            return quote!(#here => #plain);
        }
        let whole = self.warp_loop(&trace, false);
        let whole = self.outlined_loop(r, &trace, whole);
        quote!(#here => if x.whole_warps() #whole else #plain,)
    }

    /// The code of consecutive regions for each warp of a cohort, with what is hoisted out of the loop.
    fn warp_loop(&mut self, regions: &[usize], all_reach_end: bool) -> WarpLoop {
        // an outlined region does not see the locals of its caller
        let enabled = !self.e.scale.outline_regions;
        self.e.hoist.begin(enabled, all_reach_end);
        let body = self.code(regions, Fork::Branch);
        self.e.hoist.end(body)
    }

    fn outlined_loop(&mut self, r: usize, regions: &[usize], mut code: WarpLoop) -> TokenStream {
        // calls and returns look at the state of each warp
        let reads_state =
            |r: &usize| matches!(self.p.regions[*r].end, End::Call { .. } | End::Return | End::Switch { .. });
        if regions.iter().any(reads_state) {
            let (broadcast, before) = (self.e.hoist.broadcast(), code.before);
            code.before = quote!(#broadcast #before);
        }
        code.body = self.outline(r, code.body);
        self.for_all_warps(code)
    }

    fn for_all_warps(&self, WarpLoop { before, body, behind, next }: WarpLoop) -> TokenStream {
        let rt = RT;
        let each = match &next {
            Some(_) => quote!({ #body };),
            None => quote!(let next: #rt::Pc = { #body }; x.branch(m, next);),
        };
        let each = if next.is_some() && body.is_empty() {
            body
        } else {
            quote! {
                let (first, all) = x.cohort();
                for k in 0..ws.len() {
                    let w = &mut ws[k];
                    (x.warp, x.mask) = (first + k as u32, all);
                    let mut m = all;
                    #each
                }
            }
        };
        match next {
            Some(next) => quote!({ #before #each #behind #next }),
            None => {
                let broadcast = self.e.hoist.broadcast();
                quote!({ #before #each #behind match x.go() {
                    Some(pc) => pc,
                    None => { #broadcast return Ok(#rt::Next::Split) }
                } })
            }
        }
    }
}
