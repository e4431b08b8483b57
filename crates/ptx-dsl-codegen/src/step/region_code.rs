//! The code of consecutive regions for one warp, with their terminators.

use super::builder::StepBuilder;
use crate::lower::builder::RegionBuilder;
use crate::lower::terminator::Decision;
use crate::names::RT;
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_image::region::chains::exit_chain;
use ptx_dsl_image::region::graph::End;
use ptx_dsl_image::region::graph::region_number;
use ptx_dsl_isa::hir::Instr;
use quote::{format_ident, quote};

/// The method by which lanes that jump leave.
#[derive(Clone, Copy)]
pub enum Fork {
    /// In `step`: the whole warp.
    Branch,
    /// In `run`: the lanes become a fragment.
    Fork,
}

impl Fork {
    fn method(self) -> Ident {
        match self {
            Fork::Branch => format_ident!("branch"),
            Fork::Fork => format_ident!("fork"),
        }
    }
}

impl StepBuilder<'_, '_> {
    /// The code of regions that follow each other.
    pub fn code(&mut self, chain: &[usize], fork: Fork) -> TokenStream {
        let (rt, method) = (RT, fork.method());
        let exit = self.exit();
        let last = chain.last().copied().unwrap_or(0);
        let (end, f) = (&self.p.regions[last].end, self.p.regions[last].func);
        for (i, r) in chain.iter().enumerate() {
            self.request_successors(*r, chain.get(i + 1..i + 2).unwrap_or(&[]));
        }
        let has_collective = chain.iter().any(|r| self.p.regions[*r].blocking().is_some());
        let falls_through = chain.len() > 1 && !has_collective && exit_chain(self.p, chain[0]).len() == 1;
        let mut b = RegionBuilder::new(self.e, f, last);
        let mut lanes_ended = false;
        for (i, &r) in chain.iter().enumerate() {
            let region = &self.p.regions[r];
            match region.blocking() {
                Some(instr) => b.collective(instr),
                None => b.items(&region.body),
            }
            if let (End::Branch { pred, taken, .. }, Some(next)) = (&region.end, chain.get(i + 1)) {
                if falls_through {
                    b.diverge(pred, *taken, region_number(*taken));
                } else {
                    b.end_lanes(&(pred.0.clone(), pred.1 == (taken != next)));
                    lanes_ended = true;
                }
            }
        }
        if lanes_ended {
            // they end with the others
            let code = b.finish(TokenStream::new());
            return quote!({ let all = m; 'all: { #code } m = all; #exit });
        }
        let code = match end {
            End::Switch { instr, targets } => switch(b, instr, targets, &method),
            End::Call { instr, callees } => {
                let body = b.finish(TokenStream::new());
                let call = self.e.call(f, instr, callees);
                quote!(#body #call m = 0; pc)
            }
            End::Return => {
                let body = b.finish(TokenStream::new());
                let field = self.e.return_field(f);
                let sites = self.p.return_sites(f).iter().map(|s| region_number(*s));
                let back = sites.map(|s| quote!(x.fragments().fork(m & #rt::mask_by(|l| w.#field[l] == #s), #s);));
                quote!(#body #(#back)* m = 0; pc)
            }
            end => onward(b, end, exit, Some(&method)).unwrap_or_default(),
        };
        // lanes that jump are left behind as fragments
        if falls_through { quote!('all: { #code }) } else { code }
    }
}

/// `brx.idx`
fn switch(mut b: RegionBuilder<'_, '_>, i: &Instr, targets: &[usize], fork: &Ident) -> TokenStream {
    let (rt, site) = (RT, b.site(i));
    let count = targets.len() as u64;
    let index = b.index(&i.operands[0].value, i.operands[0].ty);
    let arms = targets.iter().zip(0u64..).map(|(target, n)| {
        let target = region_number(*target);
        quote!(x.fragments().#fork(m & #rt::mask_by(|l| #index[l] == #n), #target);)
    });
    let last = quote! {
        x.site = #site;
        #rt::switch_in_range(x, m & #rt::mask_by(|l| #index[l] >= #count), #count)?;
        #(#arms)*
        m = 0;
        pc
    };
    b.finish(last)
}

/// The code of a region that ends with a jump, a branch, or the end of the kernel. `None` for another terminator, and for a divergent
/// branch if there is no `fork`.
pub fn onward(mut b: RegionBuilder<'_, '_>, end: &End<'_>, exit: u16, fork: Option<&Ident>) -> Option<TokenStream> {
    let next = match end {
        End::Goto(t) => {
            let t = region_number(*t);
            quote!(#t)
        }
        End::Exit | End::Block { .. } => quote!(#exit),
        End::Branch { pred, taken, fall } => {
            let (taken, fall) = (region_number(*taken), region_number(*fall));
            if b.hoist_branch(pred, taken, fall) {
                return Some(b.finish(TokenStream::new()));
            }
            match (b.decide(pred), fork) {
                (Decision::Uniform(p), _) => quote!(if #p { #taken } else { #fall }),
                (Decision::PerLane(lanes), Some(fork)) => quote! {{
                    let rest = m & !#lanes;
                    if rest == 0 {
                        #taken
                    } else {
                        x.fragments().#fork(#lanes, #taken);
                        m = rest;
                        #fall
                    }
                }},
                (Decision::PerLane(_), None) => return None,
            }
        }
        _ => return None,
    };
    Some(b.finish(next))
}
