//! How a region ends: its registers go to the warp's state, lanes go on here, elsewhere, or not at all.

use super::super::RT;
use super::{Block, Key, Piece, Repr, Shape, Value, one_nan, ty};
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_isa::hir::Operand;
use ptx_dsl_isa::ty::Ty;
use quote::{ToTokens, format_ident, quote};
use std::collections::BTreeSet;

impl Block<'_, '_> {
    /// Writes back what is read later, and gives the code of the region, of which this is the last.
    pub fn finish(mut self, last: TokenStream) -> TokenStream {
        let mut keys = Vec::new();
        for k in &self.dirty {
            if self.e.classes.lives(self.region, k) {
                keys.push(*k);
            }
        }
        let keys = self.set_in_common(&keys);
        let stores = self.write_back(&keys, &format_ident!("m"));
        let out = self.pieces_from(0);
        quote!(#out #stores #last)
    }

    /// Registers set so far that are read from a region on.
    pub(super) fn read_from(&self, to: usize) -> Vec<Key> {
        let mut keys = Vec::new();
        for k in &self.dirty {
            if self.e.classes.reads(to, k) {
                keys.push(*k);
            }
        }
        keys
    }

    /// The code so far without the first pieces, which stay.
    pub(super) fn pieces_from(&mut self, first: usize) -> TokenStream {
        self.close();
        let mut out = TokenStream::new();
        for piece in self.pieces.split_off(first) {
            out.extend(match piece {
                Piece::Code(c) => c,
                Piece::Loop(body, defined) => self.lane_loop(&body, &defined),
            });
        }
        out
    }

    /// A loop over the lanes; what is read outside of it goes to arrays.
    fn lane_loop(&self, body: &[TokenStream], defined: &[(u32, u32)]) -> TokenStream {
        let (mut before, mut after, mut masks) = (TokenStream::new(), TokenStream::new(), TokenStream::new());
        for (n, bits) in defined {
            if !self.exported.contains(n) {
                continue;
            }
            let (a, t, ty) = (format_ident!("a{}", n), format_ident!("t{}", n), ty(*bits));
            if *bits == 1 {
                before.extend(quote!(let mut #a: [u8; 32] = [0; 32];));
                after.extend(quote!(#a[l] = #t as u8;));
                masks.extend(quote!(let #a: u32 = L::mask(&#a);));
            } else {
                before.extend(quote!(let mut #a: [#ty; 32] = [0; 32];));
                let t = t.to_token_stream();
                let t = if self.any_nan.contains(n) { one_nan(&t) } else { t };
                after.extend(quote!(#a[l] = #t;));
            }
        }
        quote!(#before for l in 0..L::lanes(x.rows) { #(#body)* #after } #masks)
    }

    /// The region begins a loop that lanes leave one by one. What it reads of the warp's state is in locals meanwhile, which
    /// those in `carried` change; gives their definitions.
    pub fn enter(&mut self, carried: &[Key], read: &[Key]) -> TokenStream {
        let mut before = TokenStream::new();
        for k in carried {
            before.extend(self.enter_one(*k, quote!(mut)));
            self.dirty.insert(*k);
        }
        for k in read {
            before.extend(self.enter_one(*k, quote!()));
        }
        before
    }

    fn enter_one(&mut self, k: Key, changes: TokenStream) -> TokenStream {
        let (field, bits) = self.e.key_field(k);
        let (name, shape) = (format_ident!("c{}", self.fresh()), self.e.classes.shape(&k));
        let code = quote!(let #changes #name = w.#field;);
        let repr = if shape.rows() { Repr::Rows(name) } else { Repr::Array(name) };
        let v = Value { bits, shape, repr, guard: None };
        self.start.insert(k, v.clone());
        self.env.insert(k, v);
        code
    }

    /// The end of the loop, which goes on until all lanes have left or others should have a turn; `before` is what
    /// [`Block::enter`] gave, `here` its region.
    pub fn repeat(mut self, carried: &[Key], any_nan: &BTreeSet<Key>, before: &TokenStream, here: u16) -> TokenStream {
        let (mut values, mut set, mut lanes) = (TokenStream::new(), TokenStream::new(), Vec::new());
        for k in carried {
            let (start, v) = (self.start[k].clone(), self.env[k].clone());
            let (Repr::Rows(c) | Repr::Array(c)) = start.repr else { continue };
            let value = if start.shape.rows() {
                let rows = self.rows(&v, start.shape.p);
                quote!([#(#rows),*])
            } else if v.bits != 1 && (v.shape.rows() || self.open(&v)) {
                lanes.push((c, *k));
                continue;
            } else {
                self.array(&v)
            };
            let name = self.name();
            values.extend(quote!(let #name = #value;));
            set.extend(quote!(#c = #name;));
        }
        // the last loop sets what it computes
        let mut last = Vec::new();
        for (c, k) in &lanes {
            let v = self.in_lanes(self.env[k].clone());
            let e = if any_nan.contains(k) { self.any_nan(&v) } else { self.lane(&v) };
            last.push(quote!(#c[l] = #e;));
        }
        self.body.append(&mut last);
        let body = self.pieces_from(0);
        for k in carried {
            let v = self.start[k].clone();
            if any_nan.contains(k) && !v.shape.rows() {
                let e = one_nan(&self.lane(&v));
                let v = self.lanes(32, e);
                self.env.insert(*k, v);
            } else {
                self.env.insert(*k, v);
            }
        }
        let stores = self.write_back(carried, &format_ident!("m"));
        let after = self.pieces_from(0);
        quote! {
            'all: {
                #before
                loop {
                    #body
                    #values
                    #set
                    if !x.again() { break; }
                }
                #after
                #stores
                #here
            }
        }
    }

    /// A value that does not lie in rows.
    fn in_lanes(&mut self, v: Value) -> Value {
        if !v.shape.rows() {
            return v;
        }
        let e = self.lane(&v);
        self.lanes(v.bits, e)
    }

    /// Stores registers to the warp's state, for these lanes.
    pub(super) fn write_back(&mut self, keys: &[Key], lanes: &Ident) -> TokenStream {
        let rt = RT;
        let mut stores = TokenStream::new();
        let mut ready = Vec::new();
        for k in keys {
            let v = self.env[k].clone();
            let (field, bits) = self.e.key_field(*k);
            let shape = self.e.classes.shape(k);
            if let Some(hint) = self.e.classes.hints.get(k) {
                let hint = *hint;
                stores.extend(self.write_hint(*k, &v, hint));
            }
            if shape.rows() {
                let rows = self.rows(&v, shape.p);
                stores.extend(quote!(w.#field = [#(#rows),*];));
            } else {
                ready.push((field, if bits == 1 { v } else { self.in_lanes(v) }));
            }
        }
        // one loop gives all of them
        self.close();
        for (field, v) in &ready {
            let (a, bits) = (self.array(v), v.bits);
            stores.extend(match bits {
                1 => quote!(w.#field = w.#field & !#lanes | #a & #lanes;),
                _ => quote!(#rt::lanes::put::<L, _>(&mut w.#field, &#a, #lanes);),
            });
        }
        stores
    }

    /// Says in what rows the register lies, if it does.
    fn write_hint(&mut self, k: Key, v: &Value, hint: Shape) -> TokenStream {
        let (rows, sure) = self.e.hint_fields(k, hint);
        if v.shape.p < hint.p || v.shape.stride != hint.stride {
            return quote!(w.#sure = [false];);
        }
        let all = self.rows(v, hint.p);
        let ok = v.ok();
        quote!(w.#rows = [#(#all),*]; w.#sure = [#ok];)
    }

    /// The index of `brx.idx`, as an array of `u64`.
    pub fn index(&mut self, o: &Operand, t: Option<Ty>) -> TokenStream {
        let e = self.parts(o, t, None).pop().unwrap_or_else(|| quote!(0));
        let v = self.lanes(64, e);
        self.array(&v)
    }

    /// The lanes whose predicate holds go to the region `to`; the others go on here.
    pub fn part(&mut self, pred: &(Operand, bool), to: usize, pc: u16) {
        let uniform = self.uniform(pred);
        let mut named = format_ident!("m");
        if uniform.is_none() {
            let mask = self.mask(pred);
            named = self.name();
            self.code(quote!(let #named: u32 = m & #mask;));
        }
        let lanes = &named;
        let fork = format_ident!("{}", if self.start.is_empty() { "fork" } else { "exit" });
        // what they read there
        let keys = self.read_from(to);
        let stores = self.write_back(&keys, lanes);
        self.code(match uniform {
            Some(p) => quote!(if #p { #stores break 'all #pc; }),
            None => quote! {
                if #lanes != 0 {
                    #stores
                    if #lanes == m { break 'all #pc; }
                    x.#fork(#lanes, #pc);
                    m &= !#lanes;
                    x.mask = m;
                }
            },
        });
    }

    /// The lanes that end here take no part in what follows.
    pub fn leave(&mut self, pred: &(Operand, bool)) {
        if let Some(p) = self.uniform(pred) {
            return self.code(quote!(if #p { break 'all; }));
        }
        let mask = self.mask(pred);
        self.code(quote! {
            m &= !#mask;
            if m == 0 { break 'all; }
            x.mask = m;
        });
    }

    /// Reads what a branch needs before registers are written back.
    pub fn branch(&mut self, pred: &(Operand, bool)) -> Result<TokenStream, TokenStream> {
        let name = self.name();
        if let Some(p) = self.uniform(pred) {
            self.code(quote!(let #name: bool = #p;));
            return Ok(quote!(#name));
        }
        let mask = self.mask(pred);
        self.code(quote!(let #name: u32 = m & #mask;));
        Err(quote!(#name))
    }
}
