//! A loop that each lane runs alone, one after the other, on scalars: what is best where it reaches into memory here and there
//! and has little to compute besides. The others wait for the lane at most so many times round.

use super::super::native::literal;
use super::super::values::names_space;
use super::super::{Emit, RT};
use super::memory::{elements, extend};
use super::{Block, Key, LANES, Repr, Value, ty};
use crate::roles::read_by;
use proc_macro2::TokenStream;
use ptx_dsl_isa::hir::{FuncId, Instr, Operand, RegId};
use ptx_dsl_isa::isa::Host;
use quote::{format_ident, quote};

impl Emit<'_> {
    /// Can a lane alone run the instruction without another one noticing, and how many times does it reach into memory?
    /// Whatever a thread may use to wait for another is nothing for one that others wait for.
    pub fn lane_alone(&self, f: FuncId, i: &Instr) -> Option<bool> {
        const ORDERED: [&str; 5] = [".volatile", ".relaxed", ".acquire", ".release", ".mmio"];
        // memory that only the general functions know
        if matches!(i.entry.opcode, "ld" | "st") && (i.begins(".local") || i.begins(".param")) {
            return None;
        }
        if i.operands.iter().any(|a| has_sreg(&a.value)) || i.has_any(&ORDERED) {
            return None;
        }
        match (i.entry.host, i.entry.opcode) {
            (Host::Lane | Host::Control, _) => Some(false),
            (Host::Warp, "ld" | "st") if self.simple_access(f, i).is_some() => Some(true),
            (Host::Warp, "red") if self.simple_add(f, i) => Some(true),
            (Host::Warp, "cvta") if self.native(f, i).is_some() => Some(false),
            _ => None,
        }
    }
}

fn has_sreg(o: &Operand) -> bool {
    match o {
        Operand::Sreg(_) => true,
        Operand::Vector(list) => list.iter().any(has_sreg),
        _ => false,
    }
}

impl Block<'_, '_> {
    /// The loop begins, for the lane `l`: what it reads of the warp's state is in locals, which it changes if they are `carried`.
    pub fn enter_alone(&mut self, carried: &[Key], read: &[Key]) -> TokenStream {
        self.alone = true;
        let mut before = TokenStream::new();
        for k in carried {
            before.extend(self.enter_one_alone(*k, quote!(mut)));
            self.dirty.insert(*k);
        }
        for k in read {
            before.extend(self.enter_one_alone(*k, quote!()));
        }
        before
    }

    fn enter_one_alone(&mut self, k: Key, changes: TokenStream) -> TokenStream {
        let (_, bits) = self.e.key_field(k);
        let value = self.e.lane_of(self.f, RegId(k.1), k.2);
        let name = format_ident!("c{}", self.fresh());
        let code = quote!(let #changes #name = #value;);
        let v = Value { bits, shape: LANES, repr: Repr::Scalar(name), guard: None };
        self.start.insert(k, v.clone());
        self.env.insert(k, v);
        code
    }

    /// The lane leaves the loop for the region `to` if this holds.
    pub fn leave_alone(&mut self, pred: &(Operand, bool), to: usize) {
        let e = self.predicate(pred);
        let keys = self.read_from(to);
        let (stores, exit) = (self.store_lane(&keys), format_ident!("exit{}", to));
        self.body.push(quote!(if #e { #stores #exit |= 1 << l; break; }));
    }

    fn store_lane(&mut self, keys: &[Key]) -> TokenStream {
        let mut stores = TokenStream::new();
        for k in keys {
            let v = self.env[k].clone();
            let ((field, bits), e) = (self.e.key_field(*k), self.lane(&v));
            stores.extend(match bits {
                1 => quote!(w.#field = w.#field & !(1 << l) | u32::from(#e) << l;),
                _ => quote!(w.#field[l] = #e;),
            });
        }
        stores
    }

    /// The end of the loop; `before` is what [`Block::enter_alone`] gave, `exits` are where lanes may have gone.
    pub fn repeat_alone(mut self, carried: &[Key], before: &TokenStream, exits: &[usize], here: u16) -> TokenStream {
        let rt = RT;
        let (mut values, mut sets) = (TokenStream::new(), TokenStream::new());
        for k in carried {
            let v = self.env[k].clone();
            let Repr::Scalar(c) = self.start[k].repr.clone() else { continue };
            let (e, name) = (self.lane(&v), self.name());
            values.extend(quote!(let #name = #e;));
            sets.extend(quote!(#c = #name;));
            self.env.insert(*k, self.start[k].clone());
        }
        let stores = self.store_lane(carried);
        let body = std::mem::take(&mut self.body);
        let names = exits.iter().map(|to| format_ident!("exit{}", to)).collect::<Vec<_>>();
        let exits = exits.iter().map(|to| super::super::step::number(*to)).collect::<Vec<_>>();
        quote! {
            let (mut rest, mut stay, mut longest) = (m, 0u32, 0u32);
            #(let mut #names = 0u32;)*
            while rest != 0 {
                let l = rest.trailing_zeros() as usize & 31;
                rest &= rest - 1;
                #before
                let mut left = #rt::lanes::ALONE;
                loop {
                    #(#body)*
                    #values
                    #sets
                    left -= 1;
                    if left == 0 {
                        #stores
                        stay |= 1 << l;
                        break;
                    }
                }
                longest = longest.max(#rt::lanes::ALONE - left);
            }
            #(x.fork(#names, #exits);)*
            x.went_round(longest);
            m = stay;
            #here
        }
    }

    /// Does the lane run what comes now?
    fn on(&mut self, i: &Instr) -> Option<TokenStream> {
        let mut all = Vec::new();
        for n in 0..self.conditions.len() {
            let (v, holds) = self.conditions[n].lane();
            let e = self.lane(&v);
            all.push(if holds { e } else { quote!(!#e) });
        }
        if let Some(pred) = &i.pred {
            all.push(self.predicate(pred));
        }
        if all.is_empty() { None } else { Some(quote!(#(#all)&&*)) }
    }

    /// The same in front of a condition.
    fn on_and(&mut self, i: &Instr) -> TokenStream {
        match self.on(i) {
            Some(on) => quote!(#on &&),
            None => TokenStream::new(),
        }
    }

    /// The address as `u64`.
    fn address_alone(&mut self, o: &Operand) -> TokenStream {
        let Operand::Address(base, offset) = *o else { return quote!(0u64) };
        let v = self.address(base, offset);
        let e = self.lane(&v);
        quote!((#e) as u64)
    }

    pub(super) fn load_alone(&mut self, i: &Instr) {
        let rt = RT;
        let (q, site) = (self.e.q(i), self.e.site(i));
        let t = ty(i.types[0].bits());
        self.e.generic = !names_space(i);
        let dests = elements(&i.operands[0].value);
        let address = self.address_alone(&i.operands[1].value);
        let (on, name, n) = (self.on(i), self.name(), dests.len());
        let place = self.place_number(i);
        let load = quote! {
            match x.load_one::<#t, #n>(#place, #rt::isa::space(#q), #address) {
                Some(v) => v,
                None => {
                    x.site = #site;
                    #rt::lanes::slow_load_one::<M, #t, #n>(x, #rt::isa::space(#q), l, #address)?
                }
            }
        };
        self.body.push(match on {
            Some(on) => quote!(let #name: [#t; #n] = if #on { #load } else { [0; #n] };),
            None => quote!(let #name: [#t; #n] = #load;),
        });
        let guard = self.guard_of(i);
        for (n, o) in dests.iter().enumerate() {
            let Operand::Reg(r, _) = o else { continue };
            let bits = self.e.reg_bits(self.f, *r);
            self.set(o, extend(quote!(#name[#n]), i.types[0], bits), bits, &guard);
        }
    }

    pub(super) fn store_alone(&mut self, i: &Instr) {
        let rt = RT;
        let (q, site) = (self.e.q(i), self.e.site(i));
        let memory = i.types[0].bits();
        let t = ty(memory);
        self.e.generic = !names_space(i);
        let mut values = Vec::new();
        for o in elements(&i.operands[1].value) {
            let v = self.operand(o, memory);
            let e = self.lane(&v);
            values.push(if v.bits == memory { e } else { quote!((#e) as #t) });
        }
        let address = self.address_alone(&i.operands[0].value);
        let (on, n) = (self.on_and(i), values.len());
        let place = self.place_number(i);
        self.body.push(quote! {
            if #on !x.store_one::<#t, #n>(#place, #rt::isa::space(#q), #address, [#(#values),*]) {
                x.site = #site;
                #rt::lanes::slow_store_one::<M, #t, #n>(x, #rt::isa::space(#q), l, #address, [#(#values),*])?;
            }
        });
    }

    /// `red.add`
    pub(super) fn add_alone(&mut self, i: &Instr) {
        let rt = RT;
        let (q, site) = (self.e.q(i), self.e.site(i));
        let bits = i.types[0].bits();
        let t = ty(bits);
        self.e.generic = !names_space(i);
        let sources = read_by(i);
        let v = match sources[1].value {
            Operand::Imm(v) => literal(v, bits),
            ref o => {
                let v = self.operand(o, bits);
                self.lane(&v)
            }
        };
        let address = self.address_alone(&sources[0].value);
        let (on, place) = (self.on_and(i), self.place_number(i));
        self.body.push(quote! {
            if #on !x.add_one::<#t>(#place, #rt::isa::space(#q), #address, #v) {
                x.site = #site;
                #rt::lanes::slow_add_one::<M, #t>(x, #q, l, #address, #v)?;
            }
        });
    }
}
