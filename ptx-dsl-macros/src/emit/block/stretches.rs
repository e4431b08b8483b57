//! Loads at fixed distances from one address: what they all touch is looked at once, and each of them is then a load from a
//! known place in it. Where it is not plainly there the runtime loads them one by one, and says which of them was wrong.

use super::super::rt;
use super::super::step::{number32, written};
use super::super::values::names_space;
use super::{Block, Value, ty, usize_literal};
use proc_macro2::Literal;
use ptx_dsl_syntax::hir::{Base, Instr, Operand};
use ptx_dsl_syntax::isa::Host;
use quote::quote;

/// So far ahead others are looked for.
const AHEAD: usize = 96;
/// Bytes of all rows of a stretch.
const LARGEST: i64 = 2048;

/// The address that an instruction loads from, if it is one that may be part of a stretch: no other thread changes what is
/// there without being synchronised with.
fn place(b: &Block<'_, '_>, i: &Instr) -> Option<(Base, i64)> {
    let plain = (i.entry.host, i.entry.opcode) == (Host::Warp, "ld") && b.e.simple_access(b.f, i) == Some(1);
    let weak = !["volatile", "relaxed", "acquire", "mmio"].iter().any(|q| i.quals.iter().any(|w| w[1..] == **q));
    let space = ["shared", "const", "param"].iter().any(|s| i.quals.iter().any(|q| q[1..].starts_with(s)));
    if !plain || !weak || !space || i.pred.is_some() || matches!(i.operands[0].value, Operand::Vector(_)) {
        return None;
    }
    match i.operands[1].value {
        Operand::Address(base @ Base::Reg(_), offset) => Some((base, offset)),
        _ => None,
    }
}

/// Does an instruction leave memory as it is, and who runs too?
fn passive(i: &Instr) -> bool {
    matches!(i.entry.host, Host::Lane) || matches!(i.entry.opcode, "mov" | "ld" | "cvta")
}

impl Block<'_, '_> {
    /// Instructions that follow each other.
    pub fn instructions(&mut self, body: &[&Instr]) {
        for (n, i) in body.iter().enumerate() {
            if !self.stretched.contains_key(&i.index) {
                self.stretch(&body[n..]);
            }
            self.instruction(i);
        }
    }

    /// The first of these and the others that load from the same stretch.
    fn stretch(&mut self, body: &[&Instr]) {
        let Some((base @ Base::Reg(r), first)) = place(self, body[0]) else { return };
        let size = i64::from(body[0].types[0].bits() / 8);
        let v = self.address(base, 0);
        let known = v.shape.rows() && v.guard.is_none() && matches!(v.bits, 32 | 64);
        if !known || (v.shape.stride != 0 && v.shape.stride != size) {
            return;
        }
        let (nb, row) =
            (i64::from(32 / v.shape.p), if v.shape.stride == 0 { size } else { size * i64::from(v.shape.p) });
        let (mut low, mut high) = (first, first);
        let mut members: Vec<(&Instr, i64)> = Vec::new();
        for i in body.iter().take(AHEAD) {
            if let Some((Base::Reg(other), at)) = place(self, i)
                && (other, &i.quals, &i.types) == (r, &body[0].quals, &body[0].types)
                && (at - first) % size == 0
                && (at.max(high) - at.min(low) + row) * nb <= LARGEST
            {
                (low, high) = (at.min(low), at.max(high));
                members.push((i, at));
            }
            let moves = i.operands.iter().any(|a| written(a) && writes(&a.value, r.0));
            if moves || !passive(i) {
                break;
            }
        }
        if members.len() > 1 {
            let address = self.address(base, low);
            self.load_stretch(&address, &members, low, high - low + row);
        }
    }

    fn load_stretch(&mut self, address: &Value, members: &[(&Instr, i64)], low: i64, bytes: i64) {
        let rt = rt();
        let (q, memory) = (self.e.q(members[0].0), members[0].0.types[0].bits());
        self.e.generic = !names_space(members[0].0);
        let (t, nb, bytes) = (ty(memory), usize_literal(32 / address.shape.p), usize_literal(bytes as u32));
        let (rows, _) = self.address_rows(address);
        let (stride, bits) = (Literal::i64_suffixed(address.shape.stride), Literal::u32_suffixed(address.bits));
        let all = members.iter().map(|(i, at)| {
            let (at, site) = (usize_literal((at - low) as u32), number32(self.e.site(i)));
            quote!((#at, #site))
        });
        let all: Vec<_> = all.collect();
        let (stretch, own) = (self.name(), self.name());
        self.code(quote! {
            let #own: [[u8; #bytes]; #nb];
            let #stretch: [&[u8; #bytes]; #nb] = match x.stretch::<#t, #nb, #bytes>(#rt::isa::space(#q), #rows) {
                Some(w) => w,
                None => {
                    #own = #rt::lanes::slow_stretch::<M, #t, #nb, #bytes>(x, #q, m, #rows, #stride, #bits, &[#(#all),*])?;
                    #own.each_ref()
                }
            };
        });
        for (i, at) in members {
            let (name, at) = (self.name(), usize_literal((at - low) as u32));
            self.code(match address.shape.stride {
                0 => quote!(let #name: [#t; #nb] = #rt::lanes::heads(#stretch, #at);),
                _ => quote!(let #name: [#t; 32] = #rt::lanes::rows(#stretch, #at);),
            });
            self.stretched.insert(i.index, name);
        }
    }
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
