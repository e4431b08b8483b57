//! The state of the `step` function while it is built.

use crate::emit::Emitter;
use crate::names::RT;
use proc_macro2::TokenStream;
use ptx_dsl_image::region::graph::Program;
use ptx_dsl_image::region::graph::region_number;
use quote::{format_ident, quote};
use std::collections::BTreeSet;

pub struct StepBuilder<'e, 'm> {
    pub e: &'e mut Emitter<'m>,
    pub p: &'e Program<'m>,
    /// Regions that other code jumps to and that have no arm yet.
    pub pending: BTreeSet<usize>,
    /// Regions where a trace begins.
    pub trace_heads: BTreeSet<usize>,
    /// Regions that block, and where they go on.
    pub waits: Vec<(u16, u16)>,
    /// Functions and types beside `step`.
    pub items: Vec<TokenStream>,
}

impl StepBuilder<'_, '_> {
    /// Requests arms for the successors of a region, except those that follow it in the same code.
    pub fn request_successors(&mut self, r: usize, inside: &[usize]) {
        self.pending.extend(self.p.successors(r).into_iter().filter(|to| !inside.contains(to)));
    }

    /// The number of the pc after the last region: the end of the kernel.
    pub fn exit(&self) -> u16 {
        region_number(self.p.regions.len())
    }

    /// The code of a region for one warp, which evaluates to where it goes on. In a large kernel it is an outlined function: rustc's
    /// time more than doubles with twice the length of a function.
    pub fn outline(&mut self, r: usize, code: TokenStream) -> TokenStream {
        if !self.e.scale.outline_regions {
            return code;
        }
        let (rt, here, name) = (RT, region_number(r), format_ident!("Piece{}", self.items.len()));
        let optimised = if self.e.scale.one_level { quote!(false) } else { quote!(::ptx_dsl::__private::OPTIMISED) };
        self.items.push(quote! {
            pub struct #name;
            impl #rt::Piece for #name {
                type Warp = Warp;
                const OPTIMISED: bool = #optimised;
                #[inline(always)]
                fn run<L: #rt::Level>(
                    x: &mut #rt::Ctx<'_>,
                    w: &mut Warp,
                    active: &mut u32,
                ) -> ::core::result::Result<#rt::Pc, ::std::boxed::Box<#rt::Fault>> {
                    let (pc, mut m): (#rt::Pc, u32) = (#here, *active);
                    let next: #rt::Pc = { #code };
                    *active = m;
                    Ok(next)
                }
            }
        });
        quote!(x.piece::<#name>(w, &mut m)?)
    }
}
