//! Instructions of the runtime that a warp executes as one: their operands are 32 lanes of `u64`.

use super::builder::RegionBuilder;
use super::value::{Repr, Value};
use crate::emit::argument::{Argument, Destination};
use crate::names::{RT, ty};
use proc_macro2::TokenStream;
use ptx_dsl_analysis::use_def::{destinations, sources};
use ptx_dsl_image::instr::{is_generic, truncated};
use ptx_dsl_isa::hir::{Arg, Instr, Operand};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::ty::Ty;
use quote::{ToTokens, quote};

/// An instruction with this many destination registers has them in one array: rustc takes time for each variable and argument.
const MANY: usize = 8;

impl RegionBuilder<'_, '_> {
    /// A warp collective in a warp whose lanes all run: no lane has to wait.
    pub fn collective(&mut self, i: &Instr) {
        match i.opcode {
            op::bar_warp_sync => {}
            op::shfl_sync if i.pred.is_none() && self.uniform_shuffle(i) => {}
            _ => self.warp_instruction(i),
        }
    }

    /// A shuffle of which all lanes use the same offset and clamp. Returns whether it is one.
    fn uniform_shuffle(&mut self, i: &Instr) -> bool {
        let rt = RT;
        let [a, b, c, _] = sources(i)[..] else { return false };
        let (a, b, c) = (self.operand(&a.value, 32), self.operand(&b.value, 32), self.operand(&c.value, 32));
        if !b.is_uniform() || !c.is_uniform() || [&a, &b, &c].iter().any(|v| v.bits != 32) {
            return false;
        }
        let q = self.e.qualifiers(i);
        let (b, c) = (b.one(), c.one());
        let a = self.array(&a);
        let (d, p) = (self.name(), self.name());
        self.code(quote! {
            let mut #d: [u32; 32] = [0; 32];
            let #p: u32 = #rt::lanes::shuffle(#q, &#a, #b, #c, &mut #d);
        });
        match destinations(i)[..] {
            [Arg { value: Operand::Pair(a, b), .. }] => {
                self.set_array(a, Repr::Array(d), 32);
                self.set_array(b, Repr::Array(p), 1);
            }
            [a] => self.set_array(&a.value, Repr::Array(d), 32),
            _ => {}
        }
        true
    }

    /// Sets a register to an array, of a predicate to a mask.
    fn set_array(&mut self, o: &Operand, repr: Repr, bits: u32) {
        if let Operand::Reg(r, e) = o {
            self.define(self.key(*r, *e), Value::varying(repr, bits));
        }
    }

    /// Any instruction that calls the runtime with the lanes of the warp.
    pub(super) fn warp_instruction(&mut self, i: &Instr) {
        let mut values = Vec::new();
        for a in sources(i) {
            for part in a.value.parts() {
                values.extend(self.values(part, a.ty, is_generic(i, a)));
            }
        }
        let given: Vec<Argument> = values.iter().map(|v| self.argument(v)).collect();
        let (mut results, mut taken, mut before) = (Vec::new(), Vec::new(), Vec::new());
        for a in destinations(i) {
            let targets = a.value.parts();
            if let Some(bits) = self.common_width(&targets) {
                let (name, t, count) = (self.name(), ty(bits), targets.len());
                let old = match i.pred {
                    None => quote!([[0; 32]; #count]),
                    Some(_) => {
                        let each = targets.iter().map(|o| self.old_value(i, o, bits));
                        quote!([#(#each),*])
                    }
                };
                before.push(quote!(let mut #name: [[#t; 32]; #count] = #old;));
                taken.push(Destination::Registers(bits, count, name.to_token_stream()));
                let each = |(n, o)| (o, bits, Repr::Element(name.clone(), n));
                results.extend(targets.into_iter().enumerate().map(each));
                continue;
            }
            for o in targets {
                let Operand::Reg(r, _) = o else {
                    taken.push(Destination::Ignored);
                    continue;
                };
                let (name, bits) = (self.name(), self.e.kernel.reg_bits(self.f, *r));
                let (t, old) = (ty(bits), self.old_value(i, o, bits));
                before.push(match bits {
                    1 => quote!(let mut #name: u32 = #old;),
                    _ => quote!(let mut #name: [#t; 32] = #old;),
                });
                taken.push(Destination::Register(bits, name.to_token_stream()));
                results.push((o, bits, Repr::Array(name)));
            }
        }
        self.close();
        let mask = self.active_mask(i);
        before.into_iter().for_each(|code| self.code(code));
        let call = self.e.warp_call(i, &given, &taken, &mask);
        self.code(quote!(if #mask != 0 { #call?; }));
        for (o, bits, repr) in results {
            self.set_array(o, repr, bits);
        }
    }

    /// The width of many registers, if it is the same.
    fn common_width(&self, targets: &[&Operand]) -> Option<u32> {
        let width = |o: &Operand| match o {
            Operand::Reg(r, _) => Some(self.e.kernel.reg_bits(self.f, *r)),
            _ => None,
        };
        let first = targets.first().and_then(|o| width(o))?;
        let same = targets.len() >= MANY && targets.iter().all(|o| width(o) == Some(first));
        (same && !matches!(first, 1 | 128)).then_some(first)
    }

    /// The value of a register before an instruction sets it. Without a predicate the other lanes are not read.
    fn old_value(&mut self, i: &Instr, o: &Operand, bits: u32) -> TokenStream {
        match (o, &i.pred) {
            (Operand::Reg(r, e), Some(_)) => {
                let old = self.register(self.key(*r, *e));
                self.array(&old)
            }
            _ if bits == 1 => quote!(0),
            _ => quote!([0; 32]),
        }
    }

    /// The values of a part of an operand.
    fn values(&mut self, o: &Operand, t: Option<Ty>, generic: bool) -> Vec<Value> {
        vec![match o {
            Operand::Imm(v) => {
                let low = Value::constant(truncated(*v, t), 64);
                if t == Some(Ty::B128) {
                    return vec![low, Value::constant(if (*v as i64) < 0 { u64::MAX } else { 0 }, 64)];
                }
                low
            }
            Operand::VarAddr(v, at) if !self.e.kernel.is_framed(self.f, *v) => {
                Value::constant(truncated(self.e.kernel.var_address(*v, *at), t), 64)
            }
            Operand::Address(base, offset) => self.address(*base, *offset, generic),
            Operand::Sink | Operand::Label(_) | Operand::Labels(_) | Operand::Func(_) | Operand::Funcs(_) => {
                Value::constant(0, 64)
            }
            o => self.operand(o, 64),
        }]
    }

    /// A value as it is passed to a function.
    fn argument(&mut self, v: &Value) -> Argument {
        let (rt, bits) = (RT, v.bits);
        if let Some(g) = &v.guard {
            let exact = &g.exact;
            return Argument::Computed(self.e.lanes_from(&quote!((#exact) as u64)));
        }
        if v.is_uniform() && bits <= 64 {
            let e = v.one();
            return Argument::Uniform(quote!(((#e) as u64)));
        }
        if v.affine.is_affine() && bits <= 64 {
            let (rows, stride) = (self.address_rows(v).0, v.affine.stride);
            return Argument::Computed(quote!(#rt::lanes::addresses(#rows, #stride, #bits)));
        }
        let array = self.array(v);
        if bits == 64 { Argument::Lanes(array) } else { Argument::Register(bits, array) }
    }
}
