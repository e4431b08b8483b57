//! Instructions of the runtime whose lanes all do the same: one lane does it for all.

use super::super::native::{LANES, Shape, UNIFORM};
use super::super::values::names_space;
use super::super::{Emit, RT};
use super::{Block, Repr, Value, literal, ty};
use crate::roles::{read_by, targets_of, written, written_by};
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_isa::hir::{Arg, Instr, Operand};
use ptx_dsl_isa::qualifier::q;
use quote::quote;

impl Emit<'_> {
    /// Does it depend on nothing but its operands, and take its time?
    fn depends_on_operands(&self, i: &Instr) -> bool {
        let shared = i.has_any(&[q::shared, q::shared_cta, q::shared_cluster, q::_const]);
        match i.entry.opcode {
            "clusterlaunchcontrol.query_cancel" | "isspacep" | "getctarank" => true,
            "mapa" => matches!(i.types.first(), Some(t) if t.bits() == 64),
            "ld" => shared && i.types.len() == 1 && i.types[0].bits() == 128,
            _ => false,
        }
    }

    /// How its results lie, if it is such an instruction; `None` inside if an operand is not known yet.
    pub fn shape_of_one(&self, i: &Instr, operand: &mut dyn FnMut(&Operand) -> Option<Shape>) -> Option<Option<Shape>> {
        if !self.depends_on_operands(i) {
            return None;
        }
        let mut same = true;
        let (mut sources, mut dests) = (Vec::new(), Vec::new());
        for a in &i.operands {
            if written(a) { targets_of(&a.value, &mut dests) } else { sources.push(&a.value) }
        }
        if let Some((p, _)) = &i.pred {
            sources.push(p);
        }
        for o in sources {
            let Some(shape) = operand(o) else { return Some(None) };
            same &= shape == UNIFORM;
        }
        for o in dests {
            same &= !matches!(o, Operand::Select(..));
            // under a predicate the old value may stay
            if i.pred.is_some() && matches!(o, Operand::Reg(..)) {
                same &= operand(o).is_none_or(|s| s == UNIFORM);
            }
        }
        Some(Some(if same { UNIFORM } else { LANES }))
    }
}

impl Block<'_, '_> {
    pub(super) fn is_once(&mut self, i: &Instr) -> bool {
        self.e.depends_on_operands(i) && self.shape_of(i) == UNIFORM
    }

    pub(super) fn once(&mut self, i: &Instr) {
        let rt = RT;
        let (q, function, site) = (self.e.q(i), self.e.function(i), self.e.site(i));
        self.e.generic = !names_space(i);
        let mut sources: Vec<TokenStream> = Vec::new();
        for a in &read_by(i) {
            sources.append(&mut self.parts_of_one(a));
        }
        let mask = self.active(i);
        let dests = written_by(i);
        let mut names: Vec<Ident> = Vec::new();
        let mut results: Vec<(&Operand, usize)> = Vec::new();
        for a in &dests {
            let mut all = Vec::new();
            targets_of(&a.value, &mut all);
            for o in all {
                results.push((o, names.len()));
                for _ in 0..super::super::values::places(a.ty) {
                    names.push(self.name());
                }
            }
        }
        self.close();
        self.code(quote! {
            #(let mut #names: #rt::Lanes = [0; 32];)*
            if #mask != 0 {
                x.site = #site;
                x.mask = #rt::one_of::<M>(#mask);
                #function(x, #q, [#(&[#sources; 32]),*], [#(&mut #names),*])?;
                x.mask = m;
            }
        });
        for (o, at) in results {
            let Operand::Reg(r, e) = o else { continue };
            let k = (self.f.0, r.0, *e);
            let bits = self.e.reg_bits(self.f, *r);
            let (low, t) = (&names[at], ty(bits));
            let lane = quote!(#mask.trailing_zeros() as usize & 31);
            let new = match bits {
                1 => quote!(#low[#lane] & 1 != 0),
                128 => {
                    let high = &names[at + 1];
                    quote!(#low[#lane] as u128 | (#high[#lane] as u128) << 64)
                }
                _ => quote!(#low[#lane] as #t),
            };
            let name = self.name();
            if i.pred.is_some() {
                let old = self.register(k);
                let old = if old.shape == UNIFORM { self.row(&old, 0, 32) } else { literal(0, bits) };
                self.code(quote!(let #name: [#t; 1] = [if #mask != 0 { #new } else { #old }];));
            } else {
                self.code(quote!(let #name: [#t; 1] = [#new];));
            }
            self.define(k, Value { bits, shape: UNIFORM, repr: Repr::Rows(name), guard: None });
        }
    }

    fn parts_of_one(&mut self, a: &Arg) -> Vec<TokenStream> {
        match &a.value {
            Operand::Address(base, offset) => {
                let v = self.address(*base, *offset);
                let e = self.row(&v, 0, 32);
                vec![quote!((#e as u64))]
            }
            o => self.parts(o, a.ty, Some((0, 32))),
        }
    }
}
