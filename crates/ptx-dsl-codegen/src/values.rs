//! Reading and writing operands, one lane at a time. Values travel as `u64` bits; a `.b128` is two of them.

use super::mentions::{CARRY, Key};
use super::native::{Shape, UNIFORM, int};
use super::operations::Given;
use super::{Emit, FUNCTION_TAG, RT};
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_isa::hir::{Arg, Base, FuncId, Instr, Operand, RegId, Space, VarId};
use ptx_dsl_isa::ty::{Class, Ty};
use quote::{ToTokens, format_ident, quote};
use std::slice::Iter;

/// How many `u64` a value of this type takes.
pub fn places(ty: Option<Ty>) -> usize {
    if ty == Some(Ty::B128) { 2 } else { 1 }
}

impl Emit<'_> {
    /// A lane vector of what an expression is for each lane `l`.
    pub fn lanes_from(&self, value: TokenStream) -> TokenStream {
        let rt = RT;
        if self.one_level { quote!(#rt::from_calls(&|l| #value)) } else { quote!(#rt::from_lanes(|l| #value)) }
    }

    /// The field of the warp's state that holds a register: 32 lanes, the mask of a predicate, or a number for each row.
    pub fn field(&mut self, func: FuncId, reg: RegId, lane: u32) -> Ident {
        self.key_field((func.0, reg.0, lane)).0
    }

    /// The same, with its width.
    pub fn key_field(&mut self, k: Key) -> (Ident, u32) {
        let (name, bits) = if k.1 == CARRY {
            (format!("f{}carry", k.0), 1)
        } else {
            (format!("f{}r{}e{}", k.0, k.1, k.2), self.reg_bits(FuncId(k.0), RegId(k.1)))
        };
        let p = self.classes.shape(&k).p;
        let ident = format_ident!("{name}");
        self.fields.entry(name).or_insert((bits, p));
        (ident, bits)
    }

    /// The fields of a register that is kept in rows besides, if it lies in such: they, and whether it does.
    pub fn hint_fields(&mut self, k: Key, shape: Shape) -> (Ident, Ident) {
        let (lanes, bits) = self.key_field(k);
        let (rows, sure) = (format_ident!("{lanes}rows"), format_ident!("{lanes}sure"));
        self.fields.insert(rows.to_string(), (bits, shape.p));
        self.fields.insert(sure.to_string(), (1, 32));
        (rows, sure)
    }

    pub fn reg_bits(&self, func: FuncId, reg: RegId) -> u32 {
        let function = if func == self.entry { self.function } else { &self.module.functions[func.0 as usize] };
        let ty = function.regs[reg.0 as usize].ty;
        if ty.class() == Class::Pred { 1 } else { ty.bits() }
    }

    /// A register in lane `l`, of its own type.
    pub fn lane_of(&mut self, func: FuncId, reg: RegId, e: u32) -> TokenStream {
        let k = (func.0, reg.0, e);
        let (f, bits) = self.key_field(k);
        let shape = self.classes.shape(&k);
        if !shape.rows() {
            return if bits == 1 { quote!((w.#f >> l & 1 != 0)) } else { quote!(w.#f[l]) };
        }
        let p = shape.p as usize;
        if shape.stride == 0 {
            return quote!(w.#f[l / #p]);
        }
        let t = int(bits, false);
        let s = super::native::literal(shape.stride as u64 & (u64::MAX >> (64 - bits.min(64))), bits);
        quote!(w.#f[l / #p].wrapping_add(((l % #p) as #t).wrapping_mul(#s)))
    }

    /// Bytes of static shared memory. What is dynamic begins there, so it is as aligned as that wants to be.
    pub fn static_shared(&self) -> u32 {
        let mut align = 16;
        for v in &self.module.vars {
            if v.dynamic {
                align = align.max(v.align);
            }
        }
        self.module.functions[self.entry.0 as usize].shared_size.next_multiple_of(align)
    }

    /// The value of a variable's address in its own space.
    pub fn var_address(&self, var: VarId, offset: i64) -> u64 {
        let v = &self.module.vars[var.0 as usize];
        let base = match v.space {
            Space::Global => ptx_dsl_isa::hir::GLOBALS + u64::from(v.offset),
            Space::Shared if v.dynamic => u64::from(self.static_shared()),
            _ => u64::from(v.offset),
        };
        base.wrapping_add(offset as u64)
    }

    /// What the address of a variable begins with, where the instruction names no state space.
    pub fn window_of(&self, v: VarId) -> u64 {
        if self.generic { window(self.module.vars[v.0 as usize].space) << 56 } else { 0 }
    }

    /// Has each activation of `func` its own?
    pub fn moves_with_frame(&self, func: FuncId, var: VarId) -> bool {
        let var = &self.module.vars[var.0 as usize];
        let local = matches!(var.space, Space::Local | Space::ParamFunc) && !var.of_module;
        local && self.recursive.contains(&func.0)
    }

    /// The address of a variable of `func` in lane `l`: those of a recursive function move with its frame.
    pub fn framed(&self, func: FuncId, var: VarId, at: u64) -> TokenStream {
        if self.moves_with_frame(func, var) { quote!((w.frame[l] + #at)) } else { quote!(#at) }
    }

    /// The value of an operand in lane `l`: one `u64` expression, or two for `.b128`.
    pub fn read(&mut self, func: FuncId, operand: &Operand, ty: Option<Ty>) -> Vec<TokenStream> {
        let lit = |v: u64| v.to_token_stream();
        let one = match operand {
            Operand::Reg(r, e) => {
                let v = self.lane_of(func, *r, *e);
                match self.reg_bits(func, *r) {
                    64 => v,
                    128 => return vec![quote!((#v as u64)), quote!(((#v >> 64) as u64))],
                    _ => quote!((#v as u64)),
                }
            }
            Operand::NotReg(r) => {
                let v = self.lane_of(func, *r, 0);
                quote!((!#v as u64))
            }
            Operand::Imm(v) => {
                if ty == Some(Ty::B128) {
                    let high = if (*v as i64) < 0 { u64::MAX } else { 0 };
                    return vec![lit(*v), lit(high)];
                }
                lit(truncated(*v, ty))
            }
            Operand::Sreg(name) => self.sreg(name),
            Operand::VarAddr(v, o) => {
                let at = truncated(self.var_address(*v, *o), ty);
                self.framed(func, *v, at)
            }
            Operand::FuncAddr(f) => lit(FUNCTION_TAG | u64::from(f.0)),
            Operand::Address(base, offset) => self.address(func, *base, *offset),
            Operand::Vector(list) | Operand::Addresses(list) | Operand::List(list) => {
                let mut all = Vec::new();
                for o in list {
                    all.append(&mut self.read(func, o, ty));
                }
                return all;
            }
            Operand::Pair(a, b) => {
                let mut all = self.read(func, a, ty);
                all.append(&mut self.read(func, b, ty));
                return all;
            }
            Operand::Select(r, _) => return self.read(func, &Operand::Reg(*r, 0), ty),
            // Video instructions do not run on the host yet, and a launch says so.
            Operand::Neg(o) => return self.read(func, o, ty),
            Operand::Sink | Operand::Label(_) | Operand::Labels(_) | Operand::Func(_) | Operand::Funcs(_) => lit(0),
        };
        vec![one]
    }

    fn address(&mut self, func: FuncId, base: Base, offset: i64) -> TokenStream {
        match base {
            Base::Abs => {
                let v = offset as u64;
                quote!(#v)
            }
            Base::Var(v) => self.framed(func, v, self.window_of(v) | self.var_address(v, offset)),
            Base::Reg(r) => {
                let v = self.lane_of(func, r, 0);
                if self.reg_bits(func, r) == 64 {
                    let o = offset as u64;
                    if offset == 0 { v } else { quote!(#v.wrapping_add(#o)) }
                } else {
                    let o = offset as u32;
                    if offset == 0 { quote!((#v as u64)) } else { quote!(((#v as u32).wrapping_add(#o) as u64)) }
                }
            }
        }
    }

    pub fn sreg(&self, name: &str) -> TokenStream {
        let rt = RT;
        let name = name.trim_start_matches('%');
        for many in ["envreg", "pm"] {
            if let Some(n) = name.strip_prefix(many)
                && let Ok(n) = n.strip_suffix("_64").unwrap_or(n).parse::<u32>()
            {
                let f = format_ident!("{many}");
                return quote!(#rt::isa::sreg::#f(x, l, #n));
            }
        }
        if name == "WARP_SZ" {
            return quote!(32u64);
        }
        let mut f = String::new();
        super::push_clean(&mut f, name);
        let f = format_ident!("{f}");
        quote!(#rt::isa::sreg::#f(x, l))
    }

    /// The value of an operand in all lanes.
    pub fn whole(&mut self, func: FuncId, operand: &Operand, ty: Option<Ty>, out: &mut Vec<Given>) {
        let rt = RT;
        out.push(match operand {
            Operand::Reg(r, e) => {
                let k = (func.0, r.0, *e);
                let (f, bits) = self.key_field(k);
                let shape = self.classes.shape(&k);
                match bits {
                    64 if !shape.rows() => Given::Lanes(quote!(w.#f)),
                    _ if bits == 128 || !shape.rows() => Given::Register(bits, quote!(w.#f)),
                    _ if shape == UNIFORM => Given::One(quote!((w.#f[0] as u64))),
                    _ => {
                        let stride = shape.stride;
                        Given::Made(quote!(#rt::lanes::addresses(w.#f.map(u64::from), #stride, #bits)))
                    }
                }
            }
            Operand::Address(Base::Reg(r), offset) if !self.classes.shape(&(func.0, r.0, 0)).rows() => {
                let (f, bits) = self.key_field((func.0, r.0, 0));
                match (bits, *offset) {
                    (64, 0) => Given::Lanes(quote!(w.#f)),
                    (64, offset) => {
                        let offset = offset as u64;
                        Given::Made(quote!(#rt::lanes::offset_u64(&w.#f, #offset)))
                    }
                    (_, offset) => {
                        let offset = offset as u32;
                        Given::Made(quote!(#rt::lanes::offset_u32(&w.#f, #offset)))
                    }
                }
            }
            Operand::Vector(list) | Operand::Addresses(list) | Operand::List(list) => {
                for o in list {
                    self.whole(func, o, ty, out);
                }
                return;
            }
            Operand::Pair(a, b) => {
                self.whole(func, a, ty, out);
                return self.whole(func, b, ty, out);
            }
            Operand::Select(r, _) => return self.whole(func, &Operand::Reg(*r, 0), ty, out),
            o => {
                // what does not depend on the lane is a constant
                let constant = matches!(o, Operand::Imm(_) | Operand::FuncAddr(_));
                for value in self.read(func, o, ty) {
                    out.push(match constant {
                        true => Given::One(value),
                        false => Given::Made(self.lanes_from(quote!(#value))),
                    });
                }
                return;
            }
        });
    }

    /// Statements that store `values` (`Lanes`, one a place) to an operand, for the lanes of `mask`.
    pub fn put(
        &mut self,
        func: FuncId,
        operand: &Operand,
        values: &mut Iter<'_, TokenStream>,
        mask: &TokenStream,
    ) -> TokenStream {
        let rt = RT;
        match operand {
            Operand::Reg(r, e) => {
                let f = self.field(func, *r, *e);
                let Some(v) = values.next() else { return quote!() };
                match self.reg_bits(func, *r) {
                    1 => quote!(#rt::lanes::put_mask(&mut w.#f, &#v, #mask);),
                    128 => {
                        let high = values.next();
                        quote!(#rt::lanes::put_u128(&mut w.#f, &#v, &#high, #mask);)
                    }
                    bits => {
                        let put = format_ident!("put_u{bits}");
                        quote!(#rt::lanes::#put(&mut w.#f, &#v, #mask);)
                    }
                }
            }
            Operand::Vector(list) => {
                let mut all = TokenStream::new();
                for o in list {
                    all.extend(self.put(func, o, values, mask));
                }
                all
            }
            Operand::Pair(a, b) => {
                let first = self.put(func, a, values, mask);
                let second = self.put(func, b, values, mask);
                quote!(#first #second)
            }
            _ => {
                values.next();
                quote!()
            }
        }
    }

    /// How many places a destination takes in the argument list of a warp function.
    pub fn width(&self, arg: &Arg) -> usize {
        fn count(o: &Operand, each: usize) -> usize {
            match o {
                Operand::Vector(list) => {
                    let mut all = 0;
                    for o in list {
                        all += count(o, each);
                    }
                    all
                }
                Operand::Pair(a, b) => count(a, each) + count(b, each),
                _ => each,
            }
        }
        count(&arg.value, places(arg.ty))
    }
}

/// The window of a state space among generic addresses.
fn window(space: Space) -> u64 {
    match space {
        Space::Global => 0,
        Space::Shared => 1,
        Space::Local | Space::ParamFunc => 2,
        Space::Const => 3,
        Space::ParamEntry => 4,
    }
}

/// Does the instruction name a state space for its addresses?
pub fn names_space(instr: &Instr) -> bool {
    const SPACES: [&str; 5] = [".global", ".shared", ".local", ".const", ".param"];
    instr.quals.iter().any(|q| SPACES.iter().any(|s| q == s || q.strip_prefix(s).is_some_and(|r| r.starts_with("::"))))
}

/// A constant as the bits of its type, zero-extended; full width where the type is unknown.
pub fn truncated(v: u64, ty: Option<Ty>) -> u64 {
    match ty.map(Ty::bits) {
        Some(bits @ 1..=63) => v & ((1 << bits) - 1),
        _ => v,
    }
}
