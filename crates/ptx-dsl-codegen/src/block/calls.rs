//! Instructions of the runtime that a warp executes as one: their operands are 32 lanes of `u64`.

use super::super::values::names_space;
use super::super::{RT, function_of};
use super::{Block, LANES, Repr, UNIFORM, Value, ty};
use crate::operations::{Given, Taken};
use crate::roles::{read_by, targets_of, written_by};
use crate::values::truncated;
use proc_macro2::TokenStream;
use ptx_dsl_isa::hir::{Arg, Instr, Operand};
use ptx_dsl_isa::ty::Ty;
use quote::{ToTokens, quote};

/// As many registers of one instruction are an array: rustc takes time for each variable and argument.
const MANY: usize = 8;

impl Block<'_, '_> {
    /// An instruction that a warp executes together, where all its lanes are: nobody has to wait.
    pub fn together(&mut self, i: &Instr) {
        let rt = RT;
        if function_of(i.entry.opcode, i) == "bar_warp_sync" {
            return;
        }
        let sources = read_by(i);
        let simple = function_of(i.entry.opcode, i) == "shfl_sync" && i.pred.is_none();
        if simple && let [a, b, c, _] = sources[..] {
            let (a, b, c) = (self.operand(&a.value, 32), self.operand(&b.value, 32), self.operand(&c.value, 32));
            if b.shape == UNIFORM && c.shape == UNIFORM && a.bits == 32 && b.bits == 32 && c.bits == 32 {
                let q = self.e.q(i);
                let (b, c) = (self.row(&b, 0, 32), self.row(&c, 0, 32));
                let a = self.array(&a);
                let (d, p) = (self.name(), self.name());
                self.code(quote! {
                    let mut #d: [u32; 32] = [0; 32];
                    let #p: u32 = #rt::lanes::shuffle(#q, &#a, #b, #c, &mut #d);
                });
                match written_by(i)[..] {
                    [Arg { value: Operand::Pair(a, b), .. }] => {
                        self.set_array(a, Repr::Array(d), 32);
                        self.set_array(b, Repr::Array(p), 1);
                    }
                    [a] => self.set_array(&a.value, Repr::Array(d), 32),
                    _ => {}
                }
                return;
            }
        }
        self.warp_instruction(i);
    }

    /// Sets a register to an array, of a predicate to a mask.
    fn set_array(&mut self, o: &Operand, repr: Repr, bits: u32) {
        if let Operand::Reg(r, e) = o {
            let v = Value { bits, shape: LANES, repr, guard: None };
            self.define((self.f.0, r.0, *e), v);
        }
    }

    /// An instruction of the runtime on the lanes of the warp.
    pub(super) fn warp_instruction(&mut self, i: &Instr) {
        self.e.generic = !names_space(i);
        let (mut values, mut given) = (Vec::new(), Vec::new());
        for a in &read_by(i) {
            self.values(&a.value, a.ty, &mut values);
        }
        for v in &values {
            given.push(self.given(v));
        }
        let (mut results, mut taken, mut before) = (Vec::new(), Vec::new(), Vec::new());
        for a in &written_by(i) {
            let mut targets = Vec::new();
            targets_of(&a.value, &mut targets);
            if let Some(bits) = self.of_one_width(&targets) {
                let (name, t, count) = (self.name(), ty(bits), targets.len());
                let old = match i.pred {
                    None => quote!([[0; 32]; #count]),
                    Some(_) => {
                        let each = targets.iter().map(|o| self.before(i, o, bits)).collect::<Vec<_>>();
                        quote!([#(#each),*])
                    }
                };
                before.push(quote!(let mut #name: [[#t; 32]; #count] = #old;));
                taken.push(Taken::Registers(bits, count, name.to_token_stream()));
                let each = |(n, o)| (o, bits, Repr::Element(name.clone(), n));
                results.extend(targets.into_iter().enumerate().map(each));
                continue;
            }
            for o in targets {
                let Operand::Reg(r, _) = o else {
                    taken.push(Taken::Nothing);
                    continue;
                };
                let (name, bits) = (self.name(), self.e.reg_bits(self.f, *r));
                let (t, old) = (ty(bits), self.before(i, o, bits));
                before.push(match bits {
                    1 => quote!(let mut #name: u32 = #old;),
                    _ => quote!(let mut #name: [#t; 32] = #old;),
                });
                taken.push(Taken::Register(bits, name.to_token_stream()));
                results.push((o, bits, Repr::Array(name)));
            }
        }
        self.close();
        let mask = self.active(i);
        for code in before {
            self.code(code);
        }
        let call = self.e.warp_call(i, &given, &taken, &mask);
        self.code(quote!(if #mask != 0 { #call?; }));
        for (o, bits, repr) in results {
            self.set_array(o, repr, bits);
        }
    }

    /// The width of registers that are many and as wide as each other.
    fn of_one_width(&self, targets: &[&Operand]) -> Option<u32> {
        let width = |o: &Operand| match o {
            Operand::Reg(r, _) => Some(self.e.reg_bits(self.f, *r)),
            _ => None,
        };
        let first = targets.first().and_then(|o| width(o))?;
        let same = targets.len() >= MANY && targets.iter().all(|o| width(o) == Some(first));
        if same && !matches!(first, 1 | 128) { Some(first) } else { None }
    }

    /// What a register holds before an instruction that sets it. Without a predicate nobody asks what the other lanes hold.
    fn before(&mut self, i: &Instr, o: &Operand, bits: u32) -> TokenStream {
        match (o, &i.pred) {
            (Operand::Reg(r, e), Some(_)) => {
                let old = self.register((self.f.0, r.0, *e));
                self.array(&old)
            }
            _ if bits == 1 => quote!(0),
            _ => quote!([0; 32]),
        }
    }

    /// The values that an operand is made of.
    fn values(&mut self, o: &Operand, t: Option<Ty>, out: &mut Vec<Value>) {
        let value = match o {
            Operand::Vector(list) | Operand::Addresses(list) | Operand::List(list) => {
                for o in list {
                    self.values(o, t, out);
                }
                return;
            }
            Operand::Pair(a, b) => {
                self.values(a, t, out);
                return self.values(b, t, out);
            }
            Operand::Imm(v) => {
                out.push(Self::constant(truncated(*v, t), 64));
                if t == Some(Ty::B128) {
                    out.push(Self::constant(if (*v as i64) < 0 { u64::MAX } else { 0 }, 64));
                }
                return;
            }
            Operand::VarAddr(v, at) if !self.e.moves_with_frame(self.f, *v) => {
                Self::constant(truncated(self.e.var_address(*v, *at), t), 64)
            }
            Operand::Address(base, offset) => self.address(*base, *offset),
            Operand::Sink | Operand::Label(_) | Operand::Labels(_) | Operand::Func(_) | Operand::Funcs(_) => {
                Self::constant(0, 64)
            }
            o => self.operand(o, 64),
        };
        out.push(value);
    }

    /// A value as it is handed to a function.
    fn given(&mut self, v: &Value) -> Given {
        let (rt, bits) = (RT, v.bits);
        if let Some(g) = &v.guard {
            let exact = &g.exact;
            return Given::Made(self.e.lanes_from(quote!((#exact) as u64)));
        }
        if v.shape == UNIFORM && bits <= 64 {
            let e = self.row(v, 0, 32);
            return Given::One(quote!(((#e) as u64)));
        }
        if v.shape.rows() && bits <= 64 {
            let (rows, stride) = (self.address_rows(v).0, v.shape.stride);
            return Given::Made(quote!(#rt::lanes::addresses(#rows, #stride, #bits)));
        }
        let array = self.array(v);
        if bits == 64 { Given::Lanes(array) } else { Given::Register(bits, array) }
    }
}
