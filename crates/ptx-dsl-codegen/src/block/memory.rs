//! Loads, stores and additions in memory: rows at once, lanes one by one, the rest by the runtime's general functions.

use super::super::values::names_space;
use super::super::{Emit, RT};
use super::stretches::global;
use super::{Block, Guard, LANES, Repr, Value, int, plus, ty};
use crate::roles::{read_by, written_by};
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_isa::hir::{Arg, Base, FuncId, Instr, Operand};
use ptx_dsl_isa::ty::{Class, Ty};
use quote::{format_ident, quote};
use std::rc::Rc;

impl Block<'_, '_> {
    /// An address as a value of 32 or 64 bits.
    pub(super) fn address(&mut self, base: Base, offset: i64) -> Value {
        match base {
            Base::Abs => Self::constant(offset as u64, 64),
            Base::Var(v) => {
                let window = self.e.window_of(v);
                let at = window | self.e.var_address(v, offset);
                if self.e.moves_with_frame(self.f, v) {
                    return self.lanes(64, quote!((w.frame[l] + #at)));
                }
                Self::constant(at, 64)
            }
            Base::Reg(r) => {
                let v = self.register((self.f.0, r.0, 0));
                if offset == 0 && matches!(v.bits, 32 | 64) {
                    return v;
                }
                if v.shape.rows() && matches!(v.bits, 32 | 64) {
                    let p = v.shape.p;
                    let (name, t, nb) = (self.name(), ty(v.bits), (32 / p) as usize);
                    let mut rows = Vec::new();
                    for j in 0..32 / p {
                        let e = self.row(&v, j, p);
                        rows.push(plus(e, offset, v.bits));
                    }
                    self.code(quote!(let #name: [#t; #nb] = [#(#rows),*];));
                    let mut moved = Value { repr: Repr::Rows(name), ..v };
                    if let Some(g) = &mut moved.guard {
                        *g = Rc::new(Guard { ok: g.ok.clone(), exact: plus(g.exact.clone(), offset, v.bits) });
                    }
                    return moved;
                }
                let e = self.lane(&v);
                match v.bits {
                    32 | 64 => self.lanes(v.bits, plus(e, offset, v.bits)),
                    _ => {
                        let o = offset as u32;
                        self.lanes(32, quote!(((#e) as u32).wrapping_add(#o)))
                    }
                }
            }
        }
    }

    /// The rows of an address as `u64`, and under what condition.
    pub(super) fn address_rows(&mut self, v: &Value) -> (TokenStream, TokenStream) {
        let rows = self.rows(v, v.shape.p);
        (quote!([#((#rows) as u64),*]), v.ok())
    }

    /// An address in rows as that of every lane, for the runtime's general functions: a call, since few ever need it.
    pub(super) fn slow_address(&mut self, v: &Value) -> TokenStream {
        let rt = RT;
        if let Some(g) = &v.guard {
            let exact = &g.exact;
            let lanes = self.e.lanes_from(quote!((#exact) as u64));
            return quote!(&#lanes);
        }
        let (rows, _) = self.address_rows(v);
        let (stride, bits) = (v.shape.stride, v.bits);
        quote!(&#rt::lanes::addresses(#rows, #stride, #bits))
    }

    /// What reaches rows of memory: inline, or a call.
    pub(super) fn reach(&self, inline: &str, far: &str) -> Ident {
        format_ident!("{}", if self.e.far { far } else { inline })
    }

    /// A number for an instruction that may reach global memory, where the runtime remembers what each number has reached last.
    pub(super) fn place_number(&mut self, i: &Instr) -> usize {
        let number = self.e.places;
        self.e.places += usize::from(global(i));
        number
    }

    /// The address of every lane as an array of `u64`, if it is not in rows.
    pub(super) fn address_array(&mut self, v: &Value) -> TokenStream {
        let v = if v.bits == 64 {
            v.clone()
        } else {
            let e = self.lane(v);
            self.lanes(64, quote!((#e) as u64))
        };
        self.array(&v)
    }

    /// The mask an instruction runs with, as a name.
    pub(super) fn active(&mut self, i: &Instr) -> Ident {
        let running = self.running();
        match &i.pred {
            Some(p) => {
                let (mask, name) = (self.mask(p), self.name());
                self.code(quote!(let #name: u32 = #running & #mask;));
                name
            }
            None => running,
        }
    }

    pub(super) fn load(&mut self, i: &Instr) {
        let dests = elements(&i.operands[0].value);
        if let Some(at) = self.stretched(i) {
            let (_, name) = self.stretches.swap_remove(at);
            return if self.shape_of(i).rows() { self.loaded_rows(i, &name) } else { self.loaded(i, dests, &[name]) };
        }
        let rt = RT;
        let (q, site) = (self.e.q(i), self.e.site(i));
        let t = ty(i.types[0].bits());
        self.e.generic = !names_space(i);
        let Operand::Address(base, offset) = i.operands[1].value else { return };
        let address = self.address(base, offset);
        let mask = self.active(i);
        let names = dests.iter().map(|_| self.name()).collect::<Vec<_>>();
        if let ([name], 32) = (&names[..], address.bits) {
            let array = self.array(&address);
            self.code(quote! {
                let mut #name: [#t; 32] = [0; 32];
                #rt::lanes::load_near::<M, #t>(x, &#q, #rt::isa::space(#q), #site, #mask, &#array, &mut #name)?;
            });
            return self.loaded(i, dests, &names);
        }
        let (array, d) = (self.address_array(&address), names.len());
        self.code(quote! {
            #(let mut #names: [#t; 32] = [0; 32];)*
            #rt::lanes::load::<M, #t, #d>(x, &#q, #rt::isa::space(#q), #site, #mask, &#array, [#(&mut #names),*])?;
        });
        self.loaded(i, dests, &names);
    }

    /// Sets a register to one element a row.
    fn loaded_rows(&mut self, i: &Instr, raw: &Ident) {
        let Operand::Reg(r, e) = i.operands[0].value else { return };
        let shape = self.shape_of(i);
        let (bits, nb) = (self.e.reg_bits(self.f, r), 32 / shape.p);
        let (name, n, to) = (self.name(), nb as usize, ty(bits));
        let mut extended = Vec::new();
        for j in 0..n {
            extended.push(extend(quote!(#raw[#j]), i.types[0], bits));
        }
        let common = self.common.contains(raw);
        self.named(common, &name, quote!(let #name: [#to; #n] = [#(#extended),*];));
        self.define((self.f.0, r.0, e), Value { bits, shape, repr: Repr::Rows(name), guard: None });
    }

    /// Sets registers to arrays of elements as they lie in memory.
    fn loaded(&mut self, i: &Instr, dests: &[Operand], names: &[Ident]) {
        let memory = i.types[0].bits();
        let mask = self.active(i);
        for (o, name) in dests.iter().zip(names) {
            let Operand::Reg(r, e) = o else { continue };
            let bits = self.e.reg_bits(self.f, *r);
            if bits == memory && i.pred.is_none() {
                let v = Value { bits, shape: LANES, repr: Repr::Array(name.clone()), guard: None };
                self.define((self.f.0, r.0, *e), v);
            } else {
                let guard = bit_of(i, &mask);
                self.set(o, extend(quote!(#name[l]), i.types[0], bits), bits, &guard);
            }
        }
    }

    pub(super) fn store(&mut self, i: &Instr) {
        let rt = RT;
        let (q, site) = (self.e.q(i), self.e.site(i));
        let memory = i.types[0].bits();
        let t = ty(memory);
        self.e.generic = !names_space(i);
        let [a, b, ..] = i.operands.as_slice() else { return };
        let Operand::Address(base, offset) = a.value else { return };
        let address = self.address(base, offset);
        let mut arrays = Vec::new();
        for o in elements(&b.value) {
            let v = self.operand(o, memory);
            let v = if v.bits == memory {
                v
            } else {
                let e = self.lane(&v);
                self.lanes(memory, quote!((#e) as #t))
            };
            arrays.push(self.array(&v));
        }
        let space = quote!(#rt::isa::space(#q));
        let mask = self.active(i);
        let any = self.anybody(i, &mask);
        if arrays.len() == 1 && address.shape.rows() && address.shape.stride == i64::from(memory / 8) {
            let (rows, ok) = self.address_rows(&address);
            let (nb, v) = ((32 / address.shape.p) as usize, &arrays[0]);
            let (slow, reach, place) =
                (self.slow_address(&address), self.reach("store_rows", "far_store_rows"), self.place_number(i));
            return self.code(quote! {
                if #any !(#ok && x.#reach::<#t, #nb>(#place, #space, #mask, #rows, &#v)) {
                    x.site = #site;
                    #rt::lanes::slow_store(x, #q, #mask, #slow, [&#rt::lanes::copied(#v)])?;
                }
            });
        }
        let (array, d) = (self.address_array(&address), arrays.len());
        self.code(quote! {
            #rt::lanes::store::<M, #t, #d>(x, &#q, #space, #site, #mask, &#array, [#(&#arrays),*])?;
        });
    }

    /// `red.add` and `atom.add`.
    pub(super) fn add(&mut self, i: &Instr) {
        let rt = RT;
        let (q, site) = (self.e.q(i), self.e.site(i));
        let bits = i.types[0].bits();
        let t = ty(bits);
        self.e.generic = !names_space(i);
        let sources = read_by(i);
        let Operand::Address(base, offset) = sources[0].value else { return };
        let address = self.address(base, offset);
        let v = self.operand(&sources[1].value, bits);
        let mask = self.active(i);
        let addr = self.address_array(&address);
        let value = self.array(&v);
        let dest = match written_by(i)[..] {
            [Arg { value: Operand::Reg(r, e), .. }, ..] => Some((*r, *e)),
            _ => None,
        };
        let (name, rest) = (self.name(), self.name());
        let old = if dest.is_some() {
            self.code(quote!(let mut #name: [#t; 32] = [0; 32];));
            quote!(Some(&mut #name))
        } else {
            quote!(None)
        };
        self.code(quote! {
            let #rest = x.add_lanes::<#t>(#rt::isa::space(#q), #mask, &#addr, &#value, #old);
            if #rest != 0 {
                x.site = #site;
                #rt::lanes::slow_add::<M, #t>(x, #q, #rest, &#addr, &#value, #old)?;
            }
        });
        if let Some((r, e)) = dest {
            let guard = bit_of(i, &mask);
            self.set(&Operand::Reg(r, e), quote!(#name[l]), bits, &guard);
        }
    }
}

/// The elements of a vector, or the one that it is.
pub(super) fn elements(o: &Operand) -> &[Operand] {
    match o {
        Operand::Vector(list) => list,
        o => std::slice::from_ref(o),
    }
}

/// Does a predicated instruction run in lane `l`?
pub(super) fn bit_of(i: &Instr, mask: &Ident) -> Option<TokenStream> {
    if i.pred.is_some() { Some(quote!((#mask >> l & 1 != 0))) } else { None }
}

/// An element of memory as a register holds it.
pub(super) fn extend(e: TokenStream, memory: Ty, bits: u32) -> TokenStream {
    if memory.bits() == bits {
        return e;
    }
    let to = ty(bits);
    if memory.class() == Class::Signed {
        let (from, wide) = (int(memory.bits(), true), int(bits, true));
        quote!(((#e) as #from as #wide as #to))
    } else {
        quote!(((#e) as #to))
    }
}

impl Emit<'_> {
    /// A load or store of one to four elements of 8 to 64 bits in plain registers: how many.
    pub fn simple_access(&self, f: FuncId, i: &Instr) -> Option<usize> {
        if i.types.len() != 1 || !matches!(i.types[0].bits(), 8 | 16 | 32 | 64) || i.operands.len() != 2 {
            return None;
        }
        let memory = i.types[0].bits();
        let element = |o: &Operand, store: bool| match o {
            Operand::Reg(r, _) => matches!(self.reg_bits(f, *r), b @ 8..=64 if b >= memory),
            Operand::Imm(_) | Operand::VarAddr(..) | Operand::Sreg(_) => store && memory >= 32,
            _ => false,
        };
        let (values, address, store) = match i.entry.opcode {
            "ld" => (&i.operands[0], &i.operands[1], false),
            _ => (&i.operands[1], &i.operands[0], true),
        };
        if !matches!(address.value, Operand::Address(..)) {
            return None;
        }
        let n = if i.has(".v8") {
            8
        } else if i.has(".v4") {
            4
        } else if i.has(".v2") {
            2
        } else {
            1
        };
        match &values.value {
            Operand::Vector(list) if n != list.len() || n > 4 => return None,
            Operand::Vector(_) => {}
            _ if n != 1 => return None,
            _ => {}
        }
        for o in elements(&values.value) {
            if !element(o, store) {
                return None;
            }
        }
        Some(n)
    }

    /// `red.add` or `atom.add` of one integer.
    pub fn simple_add(&self, f: FuncId, i: &Instr) -> bool {
        let adds = i.has(".add")
            && i.types.len() == 1
            && matches!(i.types[0], Ty::U32 | Ty::S32 | Ty::U64)
            && !(i.begins(".v") || i.begins(".L2") || i.begins(".level"));
        let sources = read_by(i);
        let fits = |o: &Operand| match o {
            Operand::Reg(r, _) => self.reg_bits(f, *r) == i.types[0].bits(),
            Operand::Imm(_) => true,
            _ => false,
        };
        adds && sources.len() == 2
            && matches!(sources[0].value, Operand::Address(..))
            && fits(&sources[1].value)
            && written_by(i).iter().all(|a| fits(&a.value) || matches!(a.value, Operand::Sink))
    }
}
