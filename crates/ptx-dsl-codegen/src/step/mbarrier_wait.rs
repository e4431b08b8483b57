//! `mbarrier.try_wait` of all lanes of a warp for one phase of one object: one test for the warp. The code before a wait goes on after
//! it while the phase is over.

use super::builder::StepBuilder;
use super::region_code::onward;
use crate::layout::result::{blocking_result, constant_operand};
use crate::lower::builder::RegionBuilder;
use crate::names::RT;
use proc_macro2::TokenStream;
use ptx_dsl_analysis::affine::lattice::{Affine, UNIFORM};
use ptx_dsl_analysis::use_def::{RegKey, registers};
use ptx_dsl_image::region::graph::region_number;
use ptx_dsl_image::region::graph::{End, Region};
use ptx_dsl_isa::hir::{FuncId, Instr, Operand};
use quote::quote;

/// The most waits that one piece of code passes, and the most instructions after them.
const WAITS: usize = 4;
const BEHIND: usize = 48;

impl StepBuilder<'_, '_> {
    /// Do all lanes of a warp wait for the same phase of the same object?
    pub fn is_uniform_wait(&self, f: FuncId, i: &Instr) -> bool {
        let affine = blocking_result(i, &|o| Some(self.kept_operand(f, o)));
        let result = i.operands.first().map(|a| self.kept_operand(f, &a.value));
        affine == Some(UNIFORM) && result.is_some_and(Affine::is_uniform)
    }

    /// The layout of an operand at the start of a region.
    fn kept_operand(&self, f: FuncId, o: &Operand) -> Affine {
        match registers(f, o).first() {
            Some(k) => self.e.layout.kept(k),
            None => constant_operand(self.e.kernel, f, o),
        }
    }

    /// The arm of such a wait, for all warps of a cohort.
    pub fn uniform_wait_arm(&mut self, f: FuncId, r: usize, i: &Instr, next: usize) -> TokenStream {
        let rt = RT;
        let (q, site) = (self.e.qualifiers(i), self.e.sites.site(i));
        let (here, next) = (region_number(r), region_number(next));
        let mut b = RegionBuilder::new(self.e, f, r);
        let (addr, parity) = b.phase(i);
        let wait =
            b.finish(quote!(#rt::semantics::mbarrier::fast_path::try_wait(x, #q, #addr, #parity, #here, #site)?));
        let store = self.store_result(f, i, &quote!(done));
        let broadcast = self.e.hoist.broadcast();
        quote! {
            #here => {
                #broadcast
                for k in 0..ws.len() {
                    let w = &mut ws[k];
                    let m = x.warp(k);
                    if let ::core::option::Option::Some(done) = { #wait } {
                        #store
                        x.branch(m, #next);
                    }
                }
                match x.go() { Some(pc) => pc, None => return Ok(#rt::Next::Split) }
            }
        }
    }

    /// The arm of `run` for a uniform wait of a fragment of a warp: the fragment goes on if it need not wait.
    pub fn uniform_wait_run_arm(&mut self, f: FuncId, r: usize, i: &Instr, next: usize) -> TokenStream {
        let (rt, q) = (RT, self.e.qualifiers(i));
        let (here, next) = (region_number(r), region_number(next));
        let mut b = RegionBuilder::new(self.e, f, r);
        let (addr, parity) = b.phase(i);
        let passes = b.finish(quote!(#rt::semantics::mbarrier::fast_path::passes(x, #q, #addr, #parity)));
        let store = self.store_result(f, i, &quote!(true));
        quote! {
            #here => if { #passes } {
                #store
                #next
            } else {
                x.branch(m, #here);
                m = 0;
                #here
            }
        }
    }

    fn store_result(&mut self, f: FuncId, i: &Instr, value: &TokenStream) -> TokenStream {
        let Operand::Reg(r, e) = i.operands[0].value else { return quote!() };
        let (field, _) = self.e.field(RegKey::new(f, r, e));
        quote!(w.#field = [#value];)
    }

    /// The regions from `first` on that a warp runs while the waits between them are over, or `first` alone.
    fn passable(&self, first: usize) -> Vec<usize> {
        let (mut list, mut behind) = (vec![first], 0);
        while list.len() <= 3 * WAITS
            && let Some(next) = self.passable_wait(list[list.len() - 1])
        {
            behind += self.p.regions[next[2]].body.len();
            if behind > BEHIND || next.iter().any(|r| list.contains(r)) {
                break;
            }
            list.extend_from_slice(&next);
        }
        list
    }

    /// A wait after a region, the branch that repeats it, and where the branch leads once the phase is over.
    fn passable_wait(&self, r: usize) -> Option<[usize; 3]> {
        let p = self.p;
        let End::Goto(wait) = p.regions[r].end else { return None };
        let End::Block { instr, next } = p.regions[wait].end else { return None };
        if instr.pred.is_some() || !self.is_uniform_wait(p.regions[wait].func, instr) {
            return None;
        }
        let test = &p.regions[next];
        let End::Branch { pred, taken, fall } = &test.end else { return None };
        let Operand::Reg(done, _) = instr.operands[0].value else { return None };
        let truth = match pred.0 {
            Operand::Reg(r, _) if r == done => pred.1,
            Operand::NotReg(r) if r == done => !pred.1,
            _ => return None,
        };
        let onward = if truth { *taken } else { *fall };
        let region = &p.regions[onward];
        let convergent = [wait, next, onward].iter().all(|r| !self.e.layout.is_divergent(*r));
        let is_plain = |r: &Region<'_>| r.results.is_none();
        let ends = matches!(region.end, End::Goto(_) | End::Branch { .. } | End::Exit);
        (convergent && test.body.is_empty() && is_plain(test) && is_plain(region) && ends)
            .then_some([wait, next, onward])
    }

    /// The code of a convergent region and of those that follow while their waits are over, for one warp. `None` if there are none.
    pub fn pass_waits(&mut self, r: usize) -> Option<TokenStream> {
        let chain = self.passable(r);
        if chain.len() == 1 || self.e.scale.outline_regions {
            return None;
        }
        let p = self.p;
        let (f, last) = (p.regions[r].func, chain[chain.len() - 1]);
        let exit = self.exit();
        let mut b = RegionBuilder::new(self.e, f, last);
        for (i, &r) in chain.iter().enumerate() {
            let region = &p.regions[r];
            b.items(&region.body);
            match &region.end {
                End::Block { instr, .. } => b.pass(instr, r, region_number(r)),
                End::Branch { pred, taken, fall } if i + 1 < chain.len() => {
                    let leaves = (pred.0.clone(), pred.1 == (chain[i + 1] == *fall));
                    let to = if chain[i + 1] == *fall { *taken } else { *fall };
                    b.diverge(&leaves, to, region_number(to));
                }
                _ => {}
            }
        }
        let code = onward(b, &p.regions[last].end, exit, None)?;
        for (i, r) in chain.iter().enumerate() {
            if p.regions[*r].blocking().is_some() {
                self.pending.insert(*r);
            }
            self.request_successors(*r, chain.get(i + 1..i + 2).unwrap_or(&[]));
        }
        Some(quote!('all: { #code }))
    }
}
