//! Instructions of the runtime that a warp executes as one: their operands are 32 lanes of `u64`.

use super::super::values::names_space;
use super::super::{RT, function_of};
use super::{Block, LANES, Repr, UNIFORM, Value, memory};
use crate::code::{Code, Name, name};
use crate::roles::{named_destinations, read_by, written_by};
use crate::values::truncated;
use ptx_dsl_quote::quote;
use ptx_dsl_table::hir::{Arg, Instr, Operand};
use ptx_dsl_table::list::List;
use ptx_dsl_table::ty::Ty;
use std::slice::Iter;

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
                        self.set_named(a, d, 32);
                        self.set_named(b, p, 1);
                    }
                    [a] => self.set_named(&a.value, d, 32),
                    _ => {}
                }
                return;
            }
        }
        self.warp_instruction(i);
    }

    /// Sets a register to an array, of a predicate to a mask.
    fn set_named(&mut self, o: &Operand, name: Name, bits: u32) {
        if let Operand::Reg(r, e) = o {
            let v = Value { bits, shape: LANES, repr: Repr::Array(name), guard: None };
            self.define((self.f.0, r.0, *e), v);
        }
    }

    /// An instruction of the runtime on the lanes of the warp.
    pub(super) fn warp_instruction(&mut self, i: &Instr) {
        let rt = RT;
        let (q, function, site) = (self.e.q(i), self.e.function(i), self.e.site(i));
        self.e.generic = !names_space(i);
        let mut values = Vec::new();
        for a in &read_by(i) {
            self.values(&a.value, a.ty, &mut values);
        }
        let mut sources = Vec::new();
        for v in &values {
            self.whole(v, &mut sources);
        }
        self.close();
        let mask = self.active(i);
        let mut dests: Vec<Name> = Vec::new();
        let written_operands = written_by(i);
        for a in &written_operands {
            for _ in 0..self.e.width(a) {
                dests.push(self.name());
            }
        }
        for _ in dests.len()..named_destinations(i, dests.len()) {
            dests.push(self.name());
        }
        self.code(quote! {
            #(let mut #dests: #rt::Lanes = [0; 32];)*
            if #mask != 0 {
                x.site = #site;
                x.mask = #mask;
                #function(x, #q, [#(#sources),*], [#(&mut #dests),*])?;
                x.mask = m;
            }
        });
        if i.pred.is_none() {
            let mut values = dests.iter();
            for a in &written_operands {
                self.take(&a.value, &mut values);
            }
            return;
        }
        let guard = memory::bit_of(i, &mask);
        let values = dests.iter().map(|n| quote!(#n[l])).list();
        let mut values = values.iter();
        for a in &written_operands {
            self.write(&a.value, &mut values, &guard);
        }
    }

    /// Makes what a function has given the value of an operand, in all lanes.
    fn take(&mut self, o: &Operand, values: &mut Iter<'_, Name>) {
        let rt = RT;
        match o {
            Operand::Reg(r, _) => {
                let Some(v) = values.next() else { return };
                let bits = self.e.reg_bits(self.f, *r);
                let value = match bits {
                    1 => quote!(#rt::lanes::narrow_mask(&#v)),
                    64 => return self.set_named(o, v.clone(), bits),
                    128 => {
                        let high = values.next();
                        quote!(#rt::lanes::narrow_u128(&#v, &#high))
                    }
                    _ => {
                        let narrow = name!("narrow_u{bits}");
                        quote!(#rt::lanes::#narrow(&#v))
                    }
                };
                let name = self.name();
                self.code(quote!(let #name = #value;));
                self.set_named(o, name, bits);
            }
            Operand::Vector(list) => {
                for o in list {
                    self.take(o, values);
                }
            }
            Operand::Pair(a, b) => {
                self.take(a, values);
                self.take(b, values);
            }
            _ => {
                values.next();
            }
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

    /// References to a value as `u64`s in all lanes: one, or two of 128 bits.
    fn whole(&mut self, v: &Value, out: &mut Vec<Code>) {
        let (rt, bits) = (RT, v.bits);
        let mut made = Vec::new();
        if let Some(g) = &v.guard {
            let exact = &g.exact;
            made.push(quote!(#rt::from_lanes(|l| (#exact) as u64)));
        } else if v.shape == UNIFORM && bits <= 64 {
            let e = self.row(v, 0, 32);
            made.push(quote!([(#e) as u64; 32]));
        } else if v.shape.rows() && bits <= 64 {
            let (rows, stride) = (self.address_rows(v).0, v.shape.stride);
            made.push(quote!(#rt::lanes::addresses(#rows, #stride, #bits)));
        } else {
            let array = self.array(v);
            match bits {
                1 => made.push(quote!(#rt::lanes::wide_mask(#array))),
                64 => return out.push(quote!(&#array)),
                128 => {
                    made.push(quote!(#rt::lanes::wide_low(&#array)));
                    made.push(quote!(#rt::lanes::wide_high(&#array)));
                }
                _ => {
                    let wide = name!("wide_u{bits}");
                    made.push(quote!(#rt::lanes::#wide(&#array)));
                }
            }
        }
        for value in made {
            let name = self.name();
            self.code(quote!(let #name: #rt::Lanes = #value;));
            out.push(quote!(&#name));
        }
    }
}
