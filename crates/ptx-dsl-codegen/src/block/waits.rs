//! Waits and arrivals at one mbarrier object for the whole warp.

use super::super::RT;
use super::super::native::UNIFORM;
use super::super::values::names_space;
use super::{Block, Repr, Value};
use crate::roles::{read_by, written_by};
use proc_macro2::TokenStream;
use ptx_dsl_isa::hir::{Arg, Instr, Operand};
use ptx_dsl_isa::qualifier::{MULTICAST, q};
use quote::{format_ident, quote};

impl Block<'_, '_> {
    /// The object and the parity that a wait of all lanes is about, as `u64`.
    pub fn phase(&mut self, i: &Instr) -> (TokenStream, TokenStream) {
        self.e.generic = !names_space(i);
        let (mut addr, mut parity) = (quote!(0), quote!(0));
        let sources = read_by(i);
        if let [Arg { value: Operand::Address(base, offset), .. }, ..] = sources[..] {
            let v = self.address(*base, *offset);
            addr = self.row(&v, 0, 32);
        }
        if let [_, a, ..] = sources[..] {
            let v = self.operand(&a.value, 32);
            parity = self.row(&v, 0, 32);
        }
        (quote!((#addr as u64)), quote!((#parity as u64)))
    }

    /// A wait that is over: the warp goes on, its result is true. If it is not, the warp goes to its region, `wait`.
    pub fn pass(&mut self, i: &Instr, wait: usize, pc: u16) {
        let q = self.e.q(i);
        let (addr, parity) = self.phase(i);
        self.close();
        let keys = self.read_from(wait);
        let stores = self.write_back(&keys, &format_ident!("m"));
        self.code(quote!(if !x.passes(#q, #addr, #parity) { #stores break 'all #pc; }));
        if let Operand::Reg(r, e) = i.operands[0].value {
            let v = Value { bits: 1, shape: UNIFORM, repr: Repr::Constant(1), guard: None };
            self.define((self.f.0, r.0, e), v);
        }
    }

    /// Is it an arrival at one object, and nobody wants to know more?
    pub(super) fn arrives_as_one(&mut self, i: &Instr) -> bool {
        let plain = !i.has_any(MULTICAST);
        let sinks = written_by(i).iter().all(|a| matches!(a.value, Operand::Sink));
        let sources = read_by(i);
        let [address, rest @ ..] = &sources[..] else { return false };
        let Operand::Address(base, offset) = address.value else { return false };
        if !plain || !sinks || rest.len() != usize::from(i.has(q::expect_tx)) {
            return false;
        }
        self.e.generic = !names_space(i);
        self.address(base, offset).shape == UNIFORM
            && rest.iter().all(|a| matches!(a.value, Operand::Imm(_)) || self.operand(&a.value, 32).shape == UNIFORM)
    }

    pub(super) fn arrive(&mut self, i: &Instr) {
        let rt = RT;
        let (q, site, function) = (self.e.q(i), self.e.site(i), self.e.function(i));
        let drop = i.entry.opcode == "mbarrier.arrive_drop";
        let mask = self.active(i);
        let (addr, tx) = self.phase(i);
        let tx_lanes = if i.has(q::expect_tx) { quote!(, &[#tx; 32]) } else { quote!() };
        self.close();
        self.code(quote! {
            if !x.arrive_together(#q, #mask, #addr, #tx as u32, #drop) {
                x.site = #site;
                x.mask = #mask;
                let mut state: #rt::Lanes = [0; 32];
                #function(x, #q, [&[#addr; 32] #tx_lanes], [&mut state])?;
                x.mask = m;
            }
        });
    }
}
