//! Loads of rows: what they touch is looked at once, and each of them is then a load from a known place in it. Those at fixed
//! distances from one address share a look. Where it is not plainly there the runtime loads them one by one, and says which of
//! them was wrong.

use super::super::RT;
use super::super::regions::Item;
use super::super::values::names_space;
use super::{Block, Value, ty};
use crate::roles::written;
use ptx_dsl_isa::hir::{Base, Instr, Operand};
use ptx_dsl_isa::isa::Host;
use ptx_dsl_isa::qualifier::q;
use quote::quote;

/// So far ahead others are looked for.
const AHEAD: usize = 96;
/// Bytes of all rows of a stretch that is shared.
const LARGEST: i64 = 4096;

/// Bytes of the rows of a load.
const ONE_ROW: i64 = 256;

/// Can it be global memory that an instruction loads from?
pub(super) fn global(i: &Instr) -> bool {
    i.has(q::global) || !names_space(i)
}

/// Does an instruction leave memory as it is, and who runs too?
fn passive(i: &Instr) -> bool {
    matches!(i.entry.host, Host::Lane) || matches!(i.entry.opcode, "mov" | "ld" | "cvta")
}

/// Is the register among what is written?
fn writes(o: &Operand, r: u32) -> bool {
    match o {
        Operand::Reg(w, _) => w.0 == r,
        Operand::Vector(list) => list.iter().any(|o| writes(o, r)),
        Operand::Pair(a, b) => writes(a, r) || writes(b, r),
        _ => false,
    }
}

impl<'m> Block<'_, 'm> {
    /// Instructions that follow each other.
    pub fn items(&mut self, body: &[Item<'m>]) {
        for (n, item) in body.iter().enumerate() {
            if let Item::Instr(i) = item
                && i.entry.opcode == "ld"
                && !self.alone
                && self.stretched(i).is_none()
            {
                let mut row = Vec::new();
                for item in body[n..].iter().take(AHEAD + 1) {
                    let Item::Instr(i) = item else { break };
                    row.push(*i);
                }
                self.stretch(&row);
            }
            self.item(item, &body[n + 1..]);
        }
    }

    /// Where what a load gives is among [`Block::stretches`], if it is part of one.
    pub(super) fn stretched(&self, i: &Instr) -> Option<usize> {
        for (at, (index, _)) in self.stretches.iter().enumerate() {
            if *index == i.index {
                return Some(at);
            }
        }
        None
    }

    /// The address that an instruction loads one element a lane from.
    fn place(&self, i: &Instr) -> Option<(Base, i64)> {
        let one = (i.entry.host, i.entry.opcode) == (Host::Warp, "ld") && self.e.simple_access(self.f, i) == Some(1);
        match i.operands.get(1).map(|a| &a.value) {
            Some(Operand::Address(base, offset)) if one => Some((*base, *offset)),
            _ => None,
        }
    }

    /// May it be loaded together with others: nobody else changes what is there without being synchronised with.
    fn shares(&self, i: &Instr) -> Option<(u32, i64)> {
        let strong = i.has_any(&[q::volatile, q::relaxed, q::acquire, q::mmio]);
        match self.place(i) {
            Some((Base::Reg(r), at)) if i.pred.is_none() && !strong => Some((r.0, at)),
            _ => None,
        }
    }

    /// The first of these, and the others that load from the same stretch.
    fn stretch(&mut self, body: &[&Instr]) {
        let Some((base, first)) = self.place(body[0]) else { return };
        if self.common_parameter(body[0], base, first) {
            return;
        }
        self.e.generic = !names_space(body[0]);
        let size = i64::from(body[0].types[0].bits() / 8);
        let v = self.address(base, 0);
        let same = v.shape.stride == 0 && self.shape_of(body[0]).rows();
        if !v.shape.rows() || (!same && v.shape.stride != size) {
            return;
        }
        let (nb, row) = (i64::from(32 / v.shape.p), if same { size } else { size * i64::from(v.shape.p) });
        let (mut low, mut high) = (first, first);
        let mut members = vec![(body[0], first)];
        if let Some((r, _)) = self.shares(body[0]) {
            for pair in body.windows(2).take(AHEAD) {
                let moves = pair[0].operands.iter().any(|a| written(a) && writes(&a.value, r));
                if moves || !passive(pair[0]) {
                    break;
                }
                if let Some((other, at)) = self.shares(pair[1])
                    && (other, &pair[1].quals) == (r, &body[0].quals)
                    && (at - first) % size == 0
                    && (at.max(high) - at.min(low) + row) * nb <= LARGEST
                {
                    (low, high) = (at.min(low), at.max(high));
                    members.push((pair[1], at));
                }
            }
        }
        let address = self.address(base, low);
        self.load_stretch(&address, &members, low, high - low + row);
    }

    /// One element a lane from rows that may be none.
    fn load_if_in_rows(&mut self, address: &Value, i: &Instr) {
        let rt = RT;
        let (q, site, t) = (self.e.q(i), self.e.site(i), ty(i.types[0].bits()));
        let (nb, bytes) = ((32 / address.shape.p) as usize, (address.shape.p * i.types[0].bits() / 8) as usize);
        let mask = self.active(i);
        let (rows, ok) = self.address_rows(address);
        let (any, name) = (self.anybody(i, &mask), self.name());
        let space = quote!(#rt::isa::space(#q));
        let general = match &address.guard {
            Some(g) if address.bits == 32 => {
                let exact = &g.exact;
                let lanes = quote!(&::core::array::from_fn::<u32, 32, _>(|l| #exact));
                quote!(#rt::lanes::load_near::<M, #t>(x, &#q, #space, #site, #mask, #lanes, &mut v)?;)
            }
            _ => {
                let lanes = self.slow_address(address);
                quote!(#rt::lanes::load::<M, #t, 1>(x, &#q, #space, #site, #mask, #lanes, [&mut v])?;)
            }
        };
        let (reach, place) = (self.reach("stretch", "far_stretch"), self.place_number(i));
        let any = if any.is_empty() { quote!() } else { quote!(if !(#any true) { [0; 32] } else) };
        self.code(quote! {
            let #name: [#t; 32] = #any {
                let stretch = if #ok { x.#reach::<#t, #nb, #bytes>(#place, #space, #mask, #rows) } else { None };
                match stretch {
                    Some(s) => #rt::lanes::rows(s, 0),
                    None => {
                        let mut v: [#t; 32] = [0; 32];
                        #general
                        v
                    }
                }
            };
        });
        self.stretches.push((i.index, name));
    }

    fn load_stretch(&mut self, address: &Value, members: &[(&Instr, i64)], low: i64, bytes: i64) {
        let rt = RT;
        let first = members[0].0;
        let (q, memory) = (self.e.q(first), first.types[0].bits());
        let (t, nb, long, bytes) = (ty(memory), (32 / address.shape.p) as usize, bytes, bytes as usize);
        let same = address.shape.stride == 0;
        if address.guard.is_some() && members.len() == 1 && !same {
            return self.load_if_in_rows(address, first);
        }
        let mask = self.active(first);
        let (rows, ok) = self.address_rows(address);
        let bits = address.bits;
        let mut all = Vec::new();
        for (i, at) in members {
            let (at, site) = ((at - low) as usize, self.e.site(i));
            all.push(quote!((#at, #site)));
        }
        let (stretch, own) = (self.name(), self.name());
        let slow = if address.guard.is_some() {
            let lanes = self.slow_address(address);
            quote!(slow_stretch::<M, #t, #nb, #bytes>(x, #q, #mask, #lanes, #bits, #same, &[#(#all),*], &mut #own)?)
        } else {
            let stride = address.shape.stride;
            quote!(slow_rows::<M, #t, #nb, #bytes>(x, #q, #mask, #rows, (#stride, #bits), #same, &[#(#all),*], &mut #own)?)
        };
        let (reach, place) = (self.reach("stretch", "far_stretch"), self.place_number(first));
        let look = quote!(x.#reach::<#t, #nb, #bytes>(#place, #rt::isa::space(#q), #mask, #rows));
        let any = self.anybody(first, &mask);
        let look = if any.is_empty() { look } else { quote!(if #any true { #look } else { None }) };
        // who takes no part wants nothing
        let nobody = if any.is_empty() { quote!() } else { quote!(None if !(#any true) => [&[0; #bytes]; #nb],) };
        let look = if address.guard.is_some() { quote!(if #ok { #look } else { None }) } else { look };
        self.code(quote! {
            let mut #own: [[u8; #bytes]; #nb];
            let #stretch: [&[u8; #bytes]; #nb] = match #look {
                Some(s) => s,
                #nobody
                None => {
                    #own = [[0; #bytes]; #nb];
                    #rt::lanes::#slow;
                    #own.each_ref()
                }
            };
        });
        // rows here and there
        let far = long > ONE_ROW && !same && global(first);
        for (i, at) in members {
            let (name, at) = (self.name(), (at - low) as usize);
            if far {
                let row = (address.shape.p * memory / 8) as usize;
                self.code(quote!(#rt::lanes::ahead(#stretch, #at, #row);));
            }
            self.code(match same {
                true => quote!(let #name: [#t; #nb] = #rt::lanes::heads(#stretch, #at);),
                false => quote!(let #name: [#t; 32] = #rt::lanes::rows(#stretch, #at);),
            });
            self.stretches.push((i.index, name));
        }
    }
}
