//! Load groups: affine loads at fixed distances from one address share one range check and are then loads from a slice. If the check
//! fails, the runtime loads them one by one and reports which of them was wrong.

use super::builder::RegionBuilder;
use super::value::Value;
use crate::names::{RT, ty};
use ptx_dsl_analysis::use_def::is_destination;
use ptx_dsl_image::instr::{is_passive, may_be_global, names_space};
use ptx_dsl_image::region::graph::Item;
use ptx_dsl_isa::hir::{Base, Instr, Operand};
use ptx_dsl_isa::isa::Host;
use ptx_dsl_isa::opcode::op;
use quote::quote;

/// The number of items ahead in which further loads of a group are looked for.
const AHEAD: usize = 96;
/// The most bytes of all rows of a group.
const LARGEST: i64 = 4096;

/// Bytes of the rows of one load.
const ONE_LOAD: i64 = 256;

/// Does the instruction change the register?
fn writes(i: &Instr, r: u32) -> bool {
    let mut targets = i.operands.iter().filter(|a| is_destination(a)).flat_map(|a| a.value.parts());
    targets.any(|o| matches!(o, Operand::Reg(w, _) if w.0 == r))
}

/// The loads of a group, each with its offset, and the bytes of a row that they touch.
struct Group<'a> {
    members: Vec<(&'a Instr, i64)>,
    low: i64,
    bytes: i64,
}

impl<'m> RegionBuilder<'_, 'm> {
    /// The items of a region's body.
    pub fn items(&mut self, body: &[Item<'m>]) {
        for (n, item) in body.iter().enumerate() {
            if let Item::Instr(i) = item
                && i.opcode == op::ld
                && !self.lane_serial
                && self.position_of_loaded(i).is_none()
            {
                let ahead = body[n..].iter().take(AHEAD + 1);
                let instructions = ahead.map_while(|item| if let Item::Instr(i) = item { Some(*i) } else { None });
                self.load_group(&instructions.collect::<Vec<_>>());
            }
            self.item(item, &body[n + 1..]);
        }
    }

    /// The position of a load's result among those of load groups.
    pub(super) fn position_of_loaded(&self, i: &Instr) -> Option<usize> {
        self.loaded.iter().position(|(index, _)| *index == i.index)
    }

    /// The address of an instruction that loads one element a lane.
    fn load_address(&self, i: &Instr) -> Option<(Base, i64)> {
        let one = (i.entry.host, i.opcode) == (Host::Warp, op::ld) && self.e.kernel.simple_access(self.f, i) == Some(1);
        match i.operands.get(1).map(|a| &a.value) {
            Some(Operand::Address(base, offset)) if one => Some((*base, *offset)),
            _ => None,
        }
    }

    /// The address register and the offset of a load that may move within a group: no synchronisation orders it.
    fn grouped_address(&self, i: &Instr) -> Option<(u32, i64)> {
        match self.load_address(i) {
            Some((Base::Reg(r), at)) if i.pred.is_none() && !i.order().is_strong() => Some((r.0, at)),
            _ => None,
        }
    }

    /// Loads the first of these instructions, with others that belong to its group.
    fn load_group(&mut self, body: &[&Instr]) {
        let first = body[0];
        let Some((base, offset)) = self.load_address(first) else { return };
        if self.hoist_parameter(first, base, offset) {
            return;
        }
        let generic = !names_space(first);
        let size = i64::from(first.types[0].bits() / 8);
        let v = self.address(base, 0, generic);
        let uniform_rows = v.affine.stride == 0 && self.affine_of(first).is_affine();
        if !v.affine.is_affine() || (!uniform_rows && v.affine.stride != size) {
            return;
        }
        let row = if uniform_rows { size } else { size * i64::from(v.affine.period) };
        let (mut low, mut high) = (offset, offset);
        let mut members = vec![(first, offset)];
        if let Some((r, _)) = self.grouped_address(first) {
            for pair in body.windows(2).take(AHEAD) {
                if writes(pair[0], r) || !is_passive(pair[0]) {
                    break;
                }
                if let Some((other, at)) = self.grouped_address(pair[1])
                    && (other, &pair[1].quals) == (r, &first.quals)
                    && (at - offset) % size == 0
                    && (at.max(high) - at.min(low) + row) * i64::from(v.affine.rows()) <= LARGEST
                {
                    (low, high) = (at.min(low), at.max(high));
                    members.push((pair[1], at));
                }
            }
        }
        let address = self.address(base, low, generic);
        if address.guard.is_some() && members.len() == 1 && !uniform_rows {
            return self.load_if_affine(&address, first);
        }
        self.load_members(&address, &Group { members, low, bytes: high - low + row }, uniform_rows);
    }

    /// One element a lane, from an address that lies in rows only under a condition.
    fn load_if_affine(&mut self, address: &Value, i: &Instr) {
        let rt = RT;
        let (q, site, t) = (self.e.qualifiers(i), self.e.sites.site(i), ty(i.types[0].bits()));
        let (nb, bytes) = (address.affine.rows() as usize, (address.affine.period * i.types[0].bits() / 8) as usize);
        let mask = self.active_mask(i);
        let (rows, holds) = self.address_rows(address);
        let (any, name) = (self.if_any_lane(i, &mask), self.name());
        let space = quote!(#rt::semantics::space(#q));
        let slow = match &address.guard {
            Some(g) if address.bits == 32 => {
                let exact = &g.exact;
                let lanes = quote!(&::core::array::from_fn::<u32, 32, _>(|l| #exact));
                quote!(#rt::lanes::load_near::<#t>(x, &#q, #space, #site, #mask, #lanes, &mut v)?;)
            }
            _ => {
                let lanes = self.slow_address(address);
                quote!(#rt::lanes::load::<#t, 1>(x, &#q, #space, #site, #mask, #lanes, [&mut v])?;)
            }
        };
        let (access, cache) = (self.access_method("stretch", "stretch_call"), self.access_cache(i));
        let any = if any.is_empty() { quote!() } else { quote!(if !(#any true) { [0; 32] } else) };
        self.code(quote! {
            let #name: [#t; 32] = #any {
                let stretch = if #holds { x.loads().#access::<#t, #nb, #bytes>(#cache, #space, #mask, #rows) } else { None };
                match stretch {
                    Some(s) => #rt::lanes::rows(s, 0),
                    None => {
                        let mut v: [#t; 32] = [0; 32];
                        #slow
                        v
                    }
                }
            };
        });
        self.loaded.push((i.index, name));
    }

    fn load_members(&mut self, address: &Value, group: &Group<'_>, uniform_rows: bool) {
        let rt = RT;
        let first = group.members[0].0;
        let (q, memory) = (self.e.qualifiers(first), first.types[0].bits());
        let (t, nb, bytes) = (ty(memory), address.affine.rows() as usize, group.bytes as usize);
        let mask = self.active_mask(first);
        let (rows, holds) = self.address_rows(address);
        let bits = address.bits;
        let offset = |at: i64| (at - group.low) as usize;
        let mut all = Vec::new();
        for (i, at) in &group.members {
            let (at, site) = (offset(*at), self.e.sites.site(i));
            all.push(quote!((#at, #site)));
        }
        let (slices, own) = (self.name(), self.name());
        let slow = if address.guard.is_some() {
            let lanes = self.slow_address(address);
            quote!(slow_stretch::<#t, #nb, #bytes>(x, #q, #mask, #lanes, #bits, #uniform_rows, &[#(#all),*], &mut #own)?)
        } else {
            let stride = address.affine.stride;
            quote!(slow_rows::<#t, #nb, #bytes>(x, #q, #mask, #rows, (#stride, #bits), #uniform_rows, &[#(#all),*], &mut #own)?)
        };
        let (access, cache) = (self.access_method("stretch", "stretch_call"), self.access_cache(first));
        let look = quote!(x.loads().#access::<#t, #nb, #bytes>(#cache, #rt::semantics::space(#q), #mask, #rows));
        let any = self.if_any_lane(first, &mask);
        let look = if any.is_empty() { look } else { quote!(if #any true { #look } else { None }) };
        // without active lanes nothing is loaded
        let nobody = if any.is_empty() { quote!() } else { quote!(None if !(#any true) => [&[0; #bytes]; #nb],) };
        let look = if address.guard.is_some() { quote!(if #holds { #look } else { None }) } else { look };
        self.code(quote! {
            let mut #own: [[u8; #bytes]; #nb];
            let #slices: [&[u8; #bytes]; #nb] = match #look {
                Some(s) => s,
                #nobody
                None => {
                    #own = [[0; #bytes]; #nb];
                    #rt::lanes::#slow;
                    #own.each_ref()
                }
            };
        });
        let prefetch = group.bytes > ONE_LOAD && !uniform_rows && may_be_global(first);
        for (i, at) in &group.members {
            let (name, at) = (self.name(), offset(*at));
            if prefetch {
                let row = (address.affine.period * memory / 8) as usize;
                self.code(quote!(#rt::lanes::prefetch_rows(#slices, #at, #row);));
            }
            self.code(match uniform_rows {
                true => quote!(let #name: [#t; #nb] = #rt::lanes::heads(#slices, #at);),
                false => quote!(let #name: [#t; 32] = #rt::lanes::rows(#slices, #at);),
            });
            self.loaded.push((i.index, name));
        }
    }
}
