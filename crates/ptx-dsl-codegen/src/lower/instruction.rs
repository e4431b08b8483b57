//! Chooses how each instruction is lowered, and lowers those that each lane computes for itself.

use super::builder::RegionBuilder;
use super::value::{Repr, Value, canonical_nan};
use crate::emit::operands::destination_words;
use crate::layout::result::{constant_operand, result};
use crate::layout::scalar_op::{expression, scalar_op};
use crate::names::ty;
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_analysis::affine::lattice::{Affine, VARYING};
use ptx_dsl_analysis::affine::scalar_op::ScalarOp;
use ptx_dsl_analysis::use_def::RegKey;
use ptx_dsl_analysis::use_def::{carry_use, destinations, sources};
use ptx_dsl_image::instr::{bits_type, is_uniform_for_uniform};
use ptx_dsl_isa::hir::{Instr, Operand};
use ptx_dsl_isa::isa::Host;
use ptx_dsl_isa::opcode::op;
use quote::{ToTokens, quote};
use std::slice::Iter;

impl RegionBuilder<'_, '_> {
    pub(super) fn instruction(&mut self, i: &Instr) {
        let kernel = self.e.kernel;
        match (i.entry.host, i.opcode) {
            (Host::Lane | Host::Control, _) => self.lane_instruction(i),
            (Host::Warp, op::ld) if self.lane_serial => self.load_serial(i),
            (Host::Warp, op::st) if self.lane_serial => self.store_serial(i),
            (Host::Warp, op::red) if self.lane_serial => self.add_serial(i),
            (Host::Warp, op::ld) if kernel.simple_access(self.f, i).is_some() => self.load(i),
            (Host::Warp, op::st) if kernel.simple_access(self.f, i).is_some() => self.store(i),
            (Host::Warp, _) if i.entry.effects.memory.is_atomic() && kernel.is_simple_add(self.f, i) => self.add(i),
            (Host::Warp, op::mbarrier_arrive | op::mbarrier_arrive_drop) if self.is_uniform_arrive(i) => {
                self.uniform_arrive(i);
            }
            (Host::Warp, _) if scalar_op(kernel, self.f, i).is_some() => self.lane_instruction(i),
            (Host::Warp, _) if is_uniform_for_uniform(i) && self.affine_of(i).is_uniform() => self.uniform_call(i),
            (Host::Warp, _) => self.warp_instruction(i),
            (Host::Block | Host::Registers | Host::NotYet(_), _) => {}
        }
    }

    /// The lane layout of an instruction's result.
    pub(super) fn affine_of(&self, i: &Instr) -> Affine {
        if self.lane_serial {
            return VARYING;
        }
        let e = &*self.e;
        let lookup = |o: &Operand| {
            Some(match RegKey::of(self.f, o) {
                Some(k) => self.values.get(&k).map_or_else(|| e.layout.read(&k), |v| v.affine),
                None => constant_operand(e.kernel, self.f, o),
            })
        };
        result(e.kernel, self.f, i, &lookup).unwrap_or(VARYING)
    }

    /// The predicate of an instruction in lane `l`, if it has one.
    pub(super) fn guard_of(&mut self, i: &Instr) -> Option<TokenStream> {
        i.pred.as_ref().map(|pred| self.predicate(pred))
    }

    /// The operands that a scalar operation reads.
    pub(super) fn scalar_operands(&mut self, i: &Instr, op: ScalarOp) -> Vec<Value> {
        sources(i).iter().enumerate().map(|(n, a)| self.operand(&a.value, op.source_bits(n))).collect()
    }

    fn lane_instruction(&mut self, i: &Instr) {
        let affine = self.affine_of(i);
        if affine.is_affine() {
            return self.row_instruction(i, affine);
        }
        let guard = self.guard_of(i);
        if let Some(op) = scalar_op(self.e.kernel, self.f, i) {
            self.scalar_instruction(i, op, guard.as_ref());
        } else if i.entry.host == Host::Control {
            self.pack_or_unpack(i, guard.as_ref());
        } else {
            self.runtime_lane_instruction(i, guard.as_ref());
        }
    }

    fn scalar_instruction(&mut self, i: &Instr, op: ScalarOp, guard: Option<&TokenStream>) {
        let values = self.scalar_operands(i, op);
        if guard.is_none()
            && let Some(mask) = self.prefix_mask(op, &values)
            && let Operand::Reg(r, e) = i.operands[0].value
        {
            let name = self.name();
            self.code(quote!(let #name: u32 = #mask;));
            return self.define(self.key(r, e), Value::varying(Repr::Array(name), 1));
        }
        let any_nan = op.takes_any_nan();
        let mut lane = |v: &Value| if any_nan { self.lane_with_any_nan(v) } else { self.lane(v) };
        let lanes: Vec<TokenStream> = values.iter().map(&mut lane).collect();
        let expr = expression(op, &lanes);
        if !op.gives_any_nan() {
            return self.set(&i.operands[0].value, expr, op.to, guard);
        }
        if guard.is_some() {
            return self.set(&i.operands[0].value, canonical_nan(&expr), op.to, guard);
        }
        let Operand::Reg(r, e) = i.operands[0].value else { return };
        let v = self.lanes(op.to, expr);
        if let Repr::Loop(n) = v.repr {
            self.any_nan.insert(n);
        }
        self.define(self.key(r, e), v);
    }

    /// An instruction for which each lane calls a function of the runtime.
    fn runtime_lane_instruction(&mut self, i: &Instr, guard: Option<&TokenStream>) {
        let mut arguments = Vec::new();
        for a in sources(i) {
            arguments.extend(self.words(&a.value, a.ty, None));
        }
        let (reads, writes) = carry_use(i);
        let carry = RegKey::carry(self.f);
        if reads {
            let v = self.register(carry);
            let e = self.lane(&v);
            arguments.push(quote!(((#e) as u64)));
        }
        let dests = destinations(i);
        let results = dests.iter().map(|a| destination_words(a)).sum();
        let names: Vec<Ident> = (0..results).map(|_| self.fresh_name("d")).collect();
        let cc = self.fresh_name("d");
        // the carry is the last result
        let carries = reads || writes;
        let call = self.e.lane_call(i, &arguments, results + usize::from(carries));
        let pattern = match (carries, writes) {
            (true, true) => quote!([#(#names,)* #cc]),
            (true, false) => quote!([#(#names,)* _]),
            _ => quote!([#(#names,)* ..]),
        };
        self.open_loop.body.push(quote!(let #pattern = #call;));
        let values: Vec<TokenStream> = names.iter().map(ToTokens::to_token_stream).collect();
        let mut values = values.iter();
        for a in &dests {
            self.write(&a.value, &mut values, guard);
        }
        if writes {
            let mut carried = quote!(#cc & 1 != 0);
            if let Some(g) = guard {
                let old = self.register(carry);
                let old = self.lane(&old);
                carried = quote!(if #g { #carried } else { #old });
            }
            let v = self.lanes(1, carried);
            self.define(carry, v);
        }
    }

    /// Sets a register to an expression of the open loop.
    pub(super) fn set(&mut self, o: &Operand, expr: TokenStream, bits: u32, guard: Option<&TokenStream>) {
        let Operand::Reg(r, e) = o else { return };
        let k = self.key(*r, *e);
        let expr = match guard {
            Some(g) => {
                let old = self.register(k);
                let old = self.lane(&old);
                quote!(if #g { #expr } else { #old })
            }
            None => expr,
        };
        let v = self.lanes(bits, expr);
        self.define(k, v);
    }

    /// Stores words to an operand.
    fn write(&mut self, o: &Operand, words: &mut Iter<'_, TokenStream>, guard: Option<&TokenStream>) {
        for part in o.parts() {
            let Some(v) = words.next() else { return };
            let Operand::Reg(r, _) = part else { continue };
            let bits = self.e.kernel.reg_bits(self.f, *r);
            let expr = match bits {
                1 => quote!((#v) & 1 != 0),
                64 => v.clone(),
                128 => {
                    let high = words.next();
                    quote!((#v) as u128 | ((#high) as u128) << 64)
                }
                _ => {
                    let t = ty(bits);
                    quote!((#v) as #t)
                }
            };
            self.set(part, expr, bits, guard);
        }
    }

    /// `mov` that packs or unpacks, or moves 128 bits.
    fn pack_or_unpack(&mut self, i: &Instr, guard: Option<&TokenStream>) {
        let [d, a, ..] = i.operands.as_slice() else { return };
        let whole = i.types.first().map_or(64, |t| t.bits().max(1));
        let count = |o: &Operand| if let Operand::Vector(v) = o { Some(v.len().max(1)) } else { None };
        let (name, n) = (self.fresh_name("d"), count(&a.value));
        let (ty, bits) = match (n, count(&d.value)) {
            (Some(n), None) => (bits_type(whole / n as u32), Some(whole / n as u32)),
            _ => (a.ty.or(i.types.first().copied()), None),
        };
        let values = self.words(&a.value, ty, None);
        let each = bits.unwrap_or(whole / values.len().max(1) as u32);
        let shifts = (0..values.len() as u32).map(|i| i * each);
        self.open_loop.body.push(quote!(let #name: u128 = 0 #(| ((#values) as u128) << #shifts)*;));
        let words: Vec<TokenStream> = match count(&d.value) {
            Some(n) => {
                let bits = whole / n as u32;
                let mask = if bits >= 128 { u128::MAX } else { (1 << bits) - 1 };
                (0..n as u32).map(|i| i * bits).map(|shift| quote!(((#name >> #shift) & #mask) as u64)).collect()
            }
            None => vec![quote!(#name as u64), quote!((#name >> 64) as u64)],
        };
        self.write(&d.value, &mut words.iter(), guard);
    }
}
