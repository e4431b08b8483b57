//! Values of registers and operands while a region is lowered.

use crate::names::{RT, literal, wrapped_literal};
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_analysis::affine::lattice::{Affine, UNIFORM, VARYING};
use quote::quote;
use std::rc::Rc;

/// The representation of a value in emitted code.
#[derive(Clone)]
pub enum Repr {
    /// `[T; rows]`: the value in the first lane of each row.
    Rows(Ident),
    Constant(u64),
    /// Computed in a loop over the lanes, by number.
    Loop(u32),
    /// `[T; 32]`, of predicates the mask.
    Array(Ident),
    /// An element of an array of those.
    Element(Ident, usize),
    /// A `[T; 32]` or mask in the warp's state.
    Field(Ident),
    /// The value of the lane that runs alone.
    Scalar(Ident),
}

/// The run-time condition under which a value lies in rows.
pub struct Guard {
    pub holds: TokenStream,
    /// The value in lane `l`, whether it holds or not.
    pub exact: TokenStream,
}

#[derive(Clone)]
pub struct Value {
    pub bits: u32,
    pub affine: Affine,
    pub repr: Repr,
    pub guard: Option<Rc<Guard>>,
}

impl Value {
    pub fn constant(v: u64, bits: u32) -> Value {
        Value { bits, affine: UNIFORM, repr: Repr::Constant(v), guard: None }
    }

    pub fn varying(repr: Repr, bits: u32) -> Value {
        Value { bits, affine: VARYING, repr, guard: None }
    }

    /// A uniform value in an array of one row.
    pub fn uniform(name: Ident, bits: u32) -> Value {
        Value { bits, affine: UNIFORM, repr: Repr::Rows(name), guard: None }
    }

    pub fn is_uniform(&self) -> bool {
        self.affine.is_uniform()
    }

    /// The condition under which it lies in rows.
    pub fn condition(&self) -> TokenStream {
        self.guard.as_ref().map_or_else(|| quote!(true), |g| g.holds.clone())
    }

    /// The value in row `j` of rows of `period` lanes: in the first lane of it.
    pub fn row(&self, j: u32, period: u32) -> TokenStream {
        match &self.repr {
            Repr::Constant(c) => literal(*c, self.bits),
            Repr::Rows(name) => {
                let first = j * period;
                let at = (first / self.affine.period) as usize;
                plus(quote!(#name[#at]), self.affine.stride * i64::from(first % self.affine.period), self.bits)
            }
            _ => quote!(0),
        }
    }

    /// The uniform value.
    pub fn one(&self) -> TokenStream {
        self.row(0, 32)
    }

    /// The values of all rows of `period` lanes.
    pub fn rows(&self, period: u32) -> Vec<TokenStream> {
        (0..32 / period).map(|j| self.row(j, period)).collect()
    }
}

/// `v + n`, of registers of this width.
pub fn plus(v: TokenStream, n: i64, bits: u32) -> TokenStream {
    if n == 0 {
        return v;
    }
    let n = wrapped_literal(n, bits);
    quote!((#v).wrapping_add(#n))
}

/// The element of lane `l` of an array, of predicates the bit of a mask.
pub fn element(name: &Ident, bits: u32) -> TokenStream {
    if bits == 1 { quote!((#name >> l & 1 != 0)) } else { quote!(#name[l]) }
}

/// A result of f32 arithmetic with NaNs canonicalised.
pub fn canonical_nan(value: &TokenStream) -> TokenStream {
    let rt = RT;
    quote!(#rt::lanes::one_nan(#value))
}
