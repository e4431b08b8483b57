//! How a region ends: its registers go to the warp's state, lanes go on here, elsewhere, or not at all.

use super::super::rt;
use super::{Block, Key, Piece, Repr, Shape, Value, one_nan, ty};
use crate::code::{Code, Name, name};
use crate::sorted::Set;
use ptx_dsl_quote::quote;
use ptx_dsl_table::hir::Operand;
use ptx_dsl_table::list::List;
use ptx_dsl_table::ty::Ty;

impl Block<'_, '_> {
    /// Writes back what is read later, and gives the code of the region.
    pub fn finish(mut self, last: impl FnOnce(&mut Self) -> Code) -> Code {
        let last = last(&mut self);
        self.finished(last)
    }

    /// The same, apart, so that it is not compiled for each caller.
    fn finished(mut self, last: Code) -> Code {
        let keys = self.dirty.iter().copied().filter(|k| self.e.classes.lives(self.region, k)).list();
        let keys = self.set_in_common(keys);
        let stores = self.write_back(keys, &name!("m"));
        let out = self.pieces();
        quote!(#out #stores #last)
    }

    /// The code so far.
    fn pieces(&mut self) -> Code {
        self.pieces_from(0)
    }

    /// The same without the first pieces, which stay.
    pub(super) fn pieces_from(&mut self, first: usize) -> Code {
        self.close();
        let mut out = Code::new();
        for piece in self.pieces.drain(first..) {
            match piece {
                Piece::Code(c) => out.extend(c),
                Piece::Loop(body, defined) => {
                    let (mut before, mut after, mut masks) = (Code::new(), Code::new(), Code::new());
                    for (n, bits) in defined.iter().filter(|d| self.exported.contains(&d.0)) {
                        let (a, t, ty) = (name!("a{}", n), name!("t{}", n), ty(*bits));
                        if *bits == 1 {
                            before.extend(quote!(let mut #a: [u8; 32] = [0; 32];));
                            after.extend(quote!(#a[l] = #t as u8;));
                            masks.extend(quote!(let #a: u32 = L::mask(&#a);));
                        } else {
                            before.extend(quote!(let mut #a: [#ty; 32] = [0; 32];));
                            let t = if self.any_nan.contains(n) { one_nan(&quote!(#t)) } else { quote!(#t) };
                            after.extend(quote!(#a[l] = #t;));
                        }
                    }
                    out.extend(quote!(#before for l in 0..L::lanes(x.rows) { #(#body)* #after } #masks));
                }
            }
        }
        out
    }

    /// The region begins a loop that lanes leave one by one. What it reads of the warp's state is in locals meanwhile, which
    /// those in `carried` change; gives their definitions.
    pub fn enter(&mut self, carried: &[Key], read: &[Key]) -> Code {
        let mut before = Code::new();
        for (k, changes) in carried.iter().map(|k| (k, true)).chain(read.iter().map(|k| (k, false))) {
            let (field, bits) = self.e.key_field(*k);
            let (name, shape) = (name!("c{}", self.fresh()), self.e.classes.shape(k));
            before.extend(if changes { quote!(let mut #name = w.#field;) } else { quote!(let #name = w.#field;) });
            let repr = if shape.rows() { Repr::Rows(name) } else { Repr::Array(name) };
            let v = Value { bits, shape, repr, guard: None };
            self.start.insert(*k, v.clone());
            self.env.insert(*k, v);
            if changes {
                self.dirty.insert(*k);
            }
        }
        before
    }

    /// The end of the loop, which goes on until all lanes have left or others should have a turn; `before` is what
    /// [`Block::enter`] gave, `here` its region.
    pub fn repeat(mut self, carried: &[Key], any_nan: &Set<Key>, before: &Code, here: u16) -> Code {
        let (mut values, mut set, mut lanes) = (Code::new(), Code::new(), Vec::new());
        let start = carried.iter().map(|k| self.start[k].clone()).list();
        for (k, start) in carried.iter().zip(&start) {
            let v = self.env[k].clone();
            let (Repr::Rows(c) | Repr::Array(c)) = &start.repr else { continue };
            let value = if start.shape.rows() {
                let rows = (0..32 / start.shape.p).map(|j| self.row(&v, j, start.shape.p)).list();
                quote!([#(#rows),*])
            } else if v.bits != 1 && (v.shape.rows() || self.open(&v)) {
                lanes.push((c, v, any_nan.contains(k)));
                continue;
            } else {
                self.array(&v)
            };
            let name = self.name();
            values.extend(quote!(let #name = #value;));
            set.extend(quote!(#c = #name;));
        }
        // the last loop sets what it computes
        let lanes: Vec<_> = lanes
            .into_iter()
            .map(|(c, v, any)| {
                let v = if v.shape.rows() {
                    let e = self.lane(&v);
                    self.lanes(v.bits, e)
                } else {
                    v
                };
                let e = if any { self.any_nan(&v) } else { self.lane(&v) };
                quote!(#c[l] = #e;)
            })
            .list();
        self.body.extend(lanes);
        let body = self.pieces();
        self.env.extend(carried.iter().copied().zip(start.iter().cloned()));
        for k in any_nan.iter().filter(|k| carried.contains(k)) {
            let v = self.env[k].clone();
            if v.shape.rows() {
                continue;
            }
            let e = one_nan(&self.lane(&v));
            let v = self.lanes(32, e);
            self.env.insert(*k, v);
        }
        let stores = self.write_back(carried.to_vec(), &name!("m"));
        let after = self.pieces();
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

    /// Stores registers to the warp's state, for these lanes.
    pub(super) fn write_back(&mut self, keys: Vec<Key>, lanes: &Name) -> Code {
        let rt = rt();
        let mut stores = Code::new();
        let mut ready = Vec::new();
        for k in keys {
            let v = self.env[&k].clone();
            let (field, bits) = self.e.key_field(k);
            let shape = self.e.classes.shape(&k);
            if let Some(hint) = self.e.classes.hints.get(&k).copied() {
                stores.extend(self.write_hint(k, &v, hint));
            }
            if shape.rows() {
                let rows = (0..32 / shape.p).map(|j| self.row(&v, j, shape.p)).list();
                stores.extend(quote!(w.#field = [#(#rows),*];));
            } else if v.shape.rows() && bits != 1 {
                let e = self.lane(&v);
                let v = self.lanes(bits, e);
                ready.push((field, bits, v));
            } else {
                ready.push((field, bits, v));
            }
        }
        // one loop gives all of them
        self.close();
        for (field, bits, v) in ready {
            let a = self.array(&v);
            stores.extend(match bits {
                1 => quote!(w.#field = w.#field & !#lanes | #a & #lanes;),
                _ => quote!(#rt::lanes::put::<L, _>(&mut w.#field, &#a, #lanes);),
            });
        }
        stores
    }

    /// Says in what rows the register lies, if it does.
    fn write_hint(&mut self, k: Key, v: &Value, hint: Shape) -> Code {
        let (rows, sure) = self.e.hint_fields(k, hint);
        if v.shape.p < hint.p || v.shape.stride != hint.stride {
            return quote!(w.#sure = [false];);
        }
        let all = (0..32 / hint.p).map(|j| self.row(v, j, hint.p)).list();
        let ok = v.guard.as_ref().map_or(quote!(true), |g| g.ok.clone());
        quote!(w.#rows = [#(#all),*]; w.#sure = [#ok];)
    }

    /// The index of `brx.idx`, as an array of `u64`.
    pub fn index(&mut self, o: &Operand, t: Option<Ty>) -> Code {
        let e = self.parts(o, t, None).into_iter().next().unwrap_or_else(|| quote!(0));
        let v = self.lanes(64, e);
        self.array(&v)
    }

    /// The lanes whose predicate holds go to the region `to`; the others go on here.
    pub fn part(&mut self, pred: &(Operand, bool), to: usize, pc: u16) {
        let uniform = self.uniform(pred);
        let lanes = match &uniform {
            Some(_) => name!("m"),
            None => {
                let (mask, name) = (self.mask(pred), self.name());
                self.code(quote!(let #name: u32 = m & #mask;));
                name
            }
        };
        let fork = name!("{}", if self.start.is_empty() { "fork" } else { "exit" });
        // what they read there
        let keys = self.dirty.iter().copied().filter(|k| self.e.classes.reads(to, k)).list();
        let stores = self.write_back(keys, &lanes);
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
    pub fn branch(&mut self, pred: &(Operand, bool)) -> Result<Code, Code> {
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
