//! Fields of the warp's state.

use super::Emitter;
use crate::names::{int, wrapped_literal};
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_analysis::affine::lattice::Affine;
use ptx_dsl_analysis::use_def::RegKey;
use quote::{format_ident, quote};

impl Emitter<'_> {
    /// The field that holds a register, and its width: 32 lanes, the mask of a predicate, or a number for each row.
    pub fn field(&mut self, k: RegKey) -> (Ident, u32) {
        let (name, bits) = if k.is_carry() {
            (format!("f{}carry", k.func.0), 1)
        } else {
            (format!("f{}r{}e{}", k.func.0, k.reg.0, k.element), self.kernel.reg_bits(k.func, k.reg))
        };
        let ident = format_ident!("{name}");
        self.fields.entry(name).or_insert((bits, self.layout.kept(&k).period));
        (ident, bits)
    }

    /// The fields of the rows of a register that is also kept as lanes: the rows, and whether they are valid.
    pub fn guarded_fields(&mut self, k: RegKey, affine: Affine) -> (Ident, Ident) {
        let (lanes, bits) = self.field(k);
        let (rows, valid) = (format_ident!("{lanes}rows"), format_ident!("{lanes}sure"));
        self.fields.insert(rows.to_string(), (bits, affine.period));
        self.fields.insert(valid.to_string(), (1, 32));
        (rows, valid)
    }

    /// A register in lane `l`, of its own type.
    pub fn lane_of(&mut self, k: RegKey) -> TokenStream {
        let (f, bits) = self.field(k);
        let affine = self.layout.kept(&k);
        if !affine.is_affine() {
            return if bits == 1 { quote!((w.#f >> l & 1 != 0)) } else { quote!(w.#f[l]) };
        }
        let p = affine.period as usize;
        if affine.stride == 0 {
            return quote!(w.#f[l / #p]);
        }
        let (t, s) = (int(bits, false), wrapped_literal(affine.stride, bits));
        quote!(w.#f[l / #p].wrapping_add(((l % #p) as #t).wrapping_mul(#s)))
    }
}
