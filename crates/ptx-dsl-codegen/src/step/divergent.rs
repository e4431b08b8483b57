//! Divergent regions: `run` runs them for one fragment of a warp at a time.

use super::builder::StepBuilder;
use super::region_code::Fork;
use proc_macro2::TokenStream;
use ptx_dsl_image::region::chains::{exit_chain, fall_through_chain, is_loop};
use ptx_dsl_image::region::graph::region_number;
use quote::quote;

impl StepBuilder<'_, '_> {
    /// The arm of a divergent region.
    pub fn divergent_arm(&mut self, r: usize) -> TokenStream {
        let region = &self.p.regions[r];
        let here = region_number(r);
        let results = match &region.results {
            Some((call, callee)) => self.e.call_results(region.func, call, *callee),
            None => TokenStream::new(),
        };
        let trace = self.trace(r);
        let chain = exit_chain(self.p, r);
        // With calls, what a region leaves in the warp's state is not known: each region is alone.
        let alone = chain.len() > 1 || self.e.layout.has_calls;
        let chain = if alone { chain } else { fall_through_chain(self.p, r) };
        let code = if !self.e.layout.has_calls && is_loop(self.p, &chain) {
            self.fragment_loop(&chain)
        } else {
            let code = self.code(&chain, Fork::Fork);
            if trace.len() > 1 {
                // a warp whose lanes all run does not stop at instructions that need nothing else
                let whole = self.code(&trace, Fork::Fork);
                quote!(if m == u32::MAX { #whole } else { #code })
            } else {
                code
            }
        };
        let code = self.outline(r, quote!(#results #code));
        quote!(#here => { #code })
    }
}
