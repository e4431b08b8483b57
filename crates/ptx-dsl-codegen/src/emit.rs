//! Code that all steps of a kernel share: constants, fields of the warp's state, and functions for instructions.

pub mod argument;
pub mod calls;
pub mod constants;
mod fields;
mod functions;
pub mod hoist;
pub mod operands;
pub mod scale;

use crate::layout::solver::Layout;
use constants::Constants;
use hoist::Hoist;
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_image::Sites;
use ptx_dsl_image::kernel::Kernel;
use ptx_dsl_isa::hir::FuncId;
use quote::quote;
use scale::Scale;
use std::collections::{BTreeMap, BTreeSet};

pub struct Emitter<'m> {
    pub kernel: &'m Kernel<'m>,
    pub layout: Layout,
    pub scale: Scale,
    pub constants: Constants,
    pub sites: Sites<'m>,
    pub hoist: Hoist,
    /// Fields of the warp's state: name -> width (1 for predicates) and period of the rows.
    pub fields: BTreeMap<String, (u32, u32)>,
    /// Functions for instructions, by what they call and on which operands.
    functions: BTreeMap<String, Ident>,
    pub function_items: Vec<TokenStream>,
    /// The calls so far: the function, the region that it returns to, the statement.
    pub calls: BTreeSet<(FuncId, usize, u32)>,
    /// Access caches given to instructions so far.
    access_caches: usize,
}

impl<'m> Emitter<'m> {
    pub fn new(kernel: &'m Kernel<'m>, layout: Layout, scale: Scale, sites: Sites<'m>) -> Self {
        let hoist = Hoist::new(!scale.outline_regions && layout.has_cta_uniform());
        Emitter {
            kernel,
            layout,
            scale,
            constants: Constants::default(),
            sites,
            hoist,
            fields: BTreeMap::new(),
            functions: BTreeMap::new(),
            function_items: Vec::new(),
            calls: BTreeSet::new(),
            access_caches: 0,
        }
    }

    /// The number of the access cache of an instruction: the runtime remembers which segment of global memory it hit last.
    pub fn access_cache(&mut self, global: bool) -> usize {
        let number = self.access_caches;
        self.access_caches += usize::from(global);
        number
    }

    /// A lane vector of the values of an expression in each lane `l`.
    pub fn lanes_from(&self, value: &TokenStream) -> TokenStream {
        let rt = crate::names::RT;
        if self.scale.one_level { quote!(#rt::from_calls(&|l| #value)) } else { quote!(#rt::from_lanes(|l| #value)) }
    }
}
