//! Operands as they are in the warp's state: read in one lane or in all lanes, and written. Values travel as `u64`; a `.b128` is two
//! of them.

use super::Emitter;
use super::argument::Argument;
use crate::names::{RT, identifier_chars};
use proc_macro2::TokenStream;
use ptx_dsl_analysis::use_def::RegKey;
use ptx_dsl_image::instr::{truncated, words};
use ptx_dsl_isa::hir::{Arg, Base, FUNCTIONS, FuncId, Operand, VarId};
use ptx_dsl_isa::isa::sreg::{SpecialRegister, special};
use ptx_dsl_isa::ty::Ty;
use quote::{ToTokens, format_ident, quote};
use std::slice::Iter;

/// A special register in lane `l`, as `u64`.
pub fn sreg(register: SpecialRegister) -> TokenStream {
    let rt = RT;
    let name = register.name().trim_start_matches('%');
    for numbered in ["envreg", "pm"] {
        if let Some(n) = name.strip_prefix(numbered)
            && let Ok(n) = n.strip_suffix("_64").unwrap_or(n).parse::<u32>()
        {
            let f = format_ident!("{numbered}");
            return quote!(#rt::semantics::sreg::#f(x, l, #n));
        }
    }
    if register == special::warp_sz {
        return quote!(32u64);
    }
    let f = format_ident!("{}", identifier_chars(name));
    quote!(#rt::semantics::sreg::#f(x, l))
}

/// The number of words of a destination in the argument list of a warp function.
pub fn destination_words(arg: &Arg) -> usize {
    arg.value.parts().len() * words(arg.ty)
}

impl Emitter<'_> {
    /// The address of a variable of `f` in lane `l`: a variable of a recursive function moves with its frame.
    pub fn framed(&self, f: FuncId, var: VarId, at: u64) -> TokenStream {
        if self.kernel.is_framed(f, var) { quote!((w.frame[l] + #at)) } else { quote!(#at) }
    }

    /// The words of an operand in lane `l`. `generic`: the instruction names no state space.
    pub fn read(&mut self, f: FuncId, operand: &Operand, ty: Option<Ty>, generic: bool) -> Vec<TokenStream> {
        let lit = |v: u64| v.to_token_stream();
        let one = match operand {
            Operand::Reg(r, e) => {
                let v = self.lane_of(RegKey::new(f, *r, *e));
                match self.kernel.reg_bits(f, *r) {
                    64 => v,
                    128 => return vec![quote!((#v as u64)), quote!(((#v >> 64) as u64))],
                    _ => quote!((#v as u64)),
                }
            }
            Operand::NotReg(r) => {
                let v = self.lane_of(RegKey::new(f, *r, 0));
                quote!((!#v as u64))
            }
            Operand::Imm(v) if ty == Some(Ty::B128) => {
                return vec![lit(*v), lit(if (*v as i64) < 0 { u64::MAX } else { 0 })];
            }
            Operand::Imm(v) => lit(truncated(*v, ty)),
            Operand::Sreg(register) => sreg(*register),
            Operand::VarAddr(v, o) => {
                let at = truncated(self.kernel.var_address(*v, *o), ty);
                self.framed(f, *v, at)
            }
            Operand::FuncAddr(f) => lit(FUNCTIONS + u64::from(f.0)),
            Operand::Address(base, offset) => self.address(f, *base, *offset, generic),
            Operand::Vector(_) | Operand::Addresses(_) | Operand::List(_) | Operand::Pair(..) => {
                return operand.parts().into_iter().flat_map(|o| self.read(f, o, ty, generic)).collect();
            }
            // `rewrite` removes selectors, signs and Rust constants
            Operand::Select(..)
            | Operand::Neg(_)
            | Operand::Sink
            | Operand::Label(_)
            | Operand::Labels(_)
            | Operand::Func(_)
            | Operand::Funcs(_)
            | Operand::Rust(_) => lit(0),
        };
        vec![one]
    }

    fn address(&mut self, f: FuncId, base: Base, offset: i64, generic: bool) -> TokenStream {
        match base {
            Base::Abs => (offset as u64).to_token_stream(),
            Base::Var(v) => self.framed(f, v, self.kernel.var_address_for(generic, v, offset)),
            Base::Reg(r) => {
                let v = self.lane_of(RegKey::new(f, r, 0));
                let (wide, narrow) = (offset as u64, offset as u32);
                match (self.kernel.reg_bits(f, r), offset) {
                    (64, 0) => v,
                    (64, _) => quote!(#v.wrapping_add(#wide)),
                    (_, 0) => quote!((#v as u64)),
                    _ => quote!(((#v as u32).wrapping_add(#narrow) as u64)),
                }
            }
        }
    }

    /// The values of an operand in all lanes.
    pub fn arguments(&mut self, f: FuncId, operand: &Operand, ty: Option<Ty>, generic: bool) -> Vec<Argument> {
        operand.parts().into_iter().flat_map(|o| self.argument(f, o, ty, generic)).collect()
    }

    fn argument(&mut self, f: FuncId, operand: &Operand, ty: Option<Ty>, generic: bool) -> Vec<Argument> {
        let rt = RT;
        let one = match operand {
            Operand::Reg(r, e) => {
                let k = RegKey::new(f, *r, *e);
                let (field, bits) = self.field(k);
                let affine = self.layout.kept(&k);
                match bits {
                    64 if !affine.is_affine() => Argument::Lanes(quote!(w.#field)),
                    _ if bits == 128 || !affine.is_affine() => Argument::Register(bits, quote!(w.#field)),
                    _ if affine.is_uniform() => Argument::Uniform(quote!((w.#field[0] as u64))),
                    _ => {
                        let stride = affine.stride;
                        Argument::Computed(quote!(#rt::lanes::addresses(w.#field.map(u64::from), #stride, #bits)))
                    }
                }
            }
            Operand::Address(Base::Reg(r), offset) if !self.layout.kept(&RegKey::new(f, *r, 0)).is_affine() => {
                let (field, bits) = self.field(RegKey::new(f, *r, 0));
                let (wide, narrow) = (*offset as u64, *offset as u32);
                match (bits, offset) {
                    (64, 0) => Argument::Lanes(quote!(w.#field)),
                    (64, _) => Argument::Computed(quote!(#rt::lanes::offset_u64(&w.#field, #wide))),
                    _ => Argument::Computed(quote!(#rt::lanes::offset_u32(&w.#field, #narrow))),
                }
            }
            o => {
                let uniform = matches!(o, Operand::Imm(_) | Operand::FuncAddr(_));
                let words = self.read(f, o, ty, generic).into_iter();
                return words
                    .map(|value| match uniform {
                        true => Argument::Uniform(value),
                        false => Argument::Computed(self.lanes_from(&value)),
                    })
                    .collect();
            }
        };
        vec![one]
    }

    /// Statements that store `values` (`Lanes`, one a word) to an operand, for the lanes of `mask`.
    pub fn write(
        &mut self,
        f: FuncId,
        operand: &Operand,
        values: &mut Iter<'_, TokenStream>,
        mask: &TokenStream,
    ) -> TokenStream {
        let rt = RT;
        let mut stores = TokenStream::new();
        for part in operand.parts() {
            let Some(v) = values.next() else { break };
            let Operand::Reg(r, e) = part else { continue };
            let (field, bits) = self.field(RegKey::new(f, *r, *e));
            stores.extend(match bits {
                1 => quote!(#rt::lanes::put_mask(&mut w.#field, &#v, #mask);),
                128 => {
                    let high = values.next();
                    quote!(#rt::lanes::put_u128(&mut w.#field, &#v, &#high, #mask);)
                }
                _ => {
                    let put = format_ident!("put_u{bits}");
                    quote!(#rt::lanes::#put(&mut w.#field, &#v, #mask);)
                }
            });
        }
        stores
    }
}
