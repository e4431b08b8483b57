//! Waits and arrivals of a whole warp at one mbarrier object.

use super::builder::RegionBuilder;
use super::value::Value;
use crate::names::{RT, runtime_function};
use proc_macro2::TokenStream;
use ptx_dsl_analysis::use_def::{destinations, sources};
use ptx_dsl_image::instr::names_space;
use ptx_dsl_isa::hir::{Arg, Instr, Operand};
use ptx_dsl_isa::isa::effect::Mbarrier;
use ptx_dsl_isa::qualifier::{MULTICAST, q};
use quote::{format_ident, quote};

impl RegionBuilder<'_, '_> {
    /// The object and the parity (or the transaction count) of a uniform operation, as `u64`.
    pub fn phase(&mut self, i: &Instr) -> (TokenStream, TokenStream) {
        let (mut addr, mut parity) = (quote!(0), quote!(0));
        let sources = sources(i);
        if let [Arg { value: Operand::Address(base, offset), .. }, ..] = sources[..] {
            addr = self.address(*base, *offset, !names_space(i)).one();
        }
        if let [_, a, ..] = sources[..] {
            parity = self.operand(&a.value, 32).one();
        }
        (quote!((#addr as u64)), quote!((#parity as u64)))
    }

    /// A wait that the warp passes if the phase is over, with the result true. Otherwise the warp goes to the region `wait`.
    pub fn pass(&mut self, i: &Instr, wait: usize, pc: u16) {
        let rt = RT;
        let q = self.e.qualifiers(i);
        let (addr, parity) = self.phase(i);
        self.close();
        let keys = self.dirty_live_in(wait);
        let stores = self.write_back(&keys, &format_ident!("m"));
        self.code(
            quote!(if !#rt::semantics::mbarrier::fast_path::passes(x, #q, #addr, #parity) { #stores break 'all #pc; }),
        );
        if let Operand::Reg(r, e) = i.operands[0].value {
            self.define(self.key(r, e), Value::constant(1, 1));
        }
    }

    /// Is it an arrival of all lanes at one object, of which no other result is used?
    pub(super) fn is_uniform_arrive(&mut self, i: &Instr) -> bool {
        let plain = !i.has_any(MULTICAST);
        let sinks = destinations(i).iter().all(|a| matches!(a.value, Operand::Sink));
        let sources = sources(i);
        let [address, rest @ ..] = &sources[..] else { return false };
        let Operand::Address(base, offset) = address.value else { return false };
        if !plain || !sinks || rest.len() != usize::from(i.has(q::expect_tx)) {
            return false;
        }
        self.address(base, offset, !names_space(i)).is_uniform()
            && rest.iter().all(|a| matches!(a.value, Operand::Imm(_)) || self.operand(&a.value, 32).is_uniform())
    }

    pub(super) fn uniform_arrive(&mut self, i: &Instr) {
        let rt = RT;
        let (q, site, function) = (self.e.qualifiers(i), self.e.sites.site(i), runtime_function(i));
        let drop = i.entry.effects.mbarrier == Mbarrier::Drop;
        let mask = self.active_mask(i);
        let (addr, tx) = self.phase(i);
        let tx_lanes = if i.has(q::expect_tx) { quote!(, &[#tx; 32]) } else { quote!() };
        // the report of a deadlock names the statements that expect bytes
        let at = if i.has(q::expect_tx) { quote!(x.site = #site;) } else { quote!() };
        self.close();
        self.code(quote! {
            #at
            if !#rt::semantics::mbarrier::fast_path::arrive_together(x, #q, #mask, #addr, #tx as u32, #drop) {
                x.site = #site;
                x.mask = #mask;
                let mut state: #rt::Lanes = [0; 32];
                #function(x, #q, &[&[#addr; 32] #tx_lanes], &mut [&mut state])?;
                x.mask = m;
            }
        });
    }
}
