//! Arguments and destinations of functions for instructions.

use crate::names::{RT, ty};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};

/// An operand's value in all lanes, as it is passed to a function.
pub enum Argument {
    /// A place that holds `u64`s.
    Lanes(TokenStream),
    /// An expression that computes them.
    Computed(TokenStream),
    /// A register of this width; of a predicate the mask.
    Register(u32, TokenStream),
    /// One `u64` for all lanes.
    Uniform(TokenStream),
}

impl Argument {
    /// The value as expressions of type `Lanes`: one, or two of 128 bits.
    pub fn into_lanes(self) -> Vec<TokenStream> {
        let rt = RT;
        vec![match self {
            Argument::Lanes(lanes) | Argument::Computed(lanes) => lanes,
            Argument::Uniform(value) => quote!(#rt::lanes::splat(#value)),
            Argument::Register(1, mask) => quote!(#rt::lanes::wide_mask(#mask)),
            Argument::Register(128, register) => {
                return vec![quote!(#rt::lanes::wide_low(&#register)), quote!(#rt::lanes::wide_high(&#register))];
            }
            Argument::Register(bits, register) => {
                let wide = format_ident!("wide_u{bits}");
                quote!(#rt::lanes::#wide(&#register))
            }
        }]
    }

    /// A key that differs between functions that take different arguments.
    pub fn key(&self) -> String {
        match self {
            Argument::Lanes(_) | Argument::Computed(_) => "lanes ".into(),
            Argument::Uniform(_) => "one ".into(),
            Argument::Register(bits, _) => format!("{bits} "),
        }
    }

    /// The expression that is passed, and its type.
    pub fn passed(&self) -> (TokenStream, TokenStream) {
        let rt = RT;
        match self {
            Argument::Lanes(lanes) | Argument::Computed(lanes) => (quote!(&#lanes), quote!(&#rt::Lanes)),
            Argument::Uniform(value) => (value.clone(), quote!(u64)),
            Argument::Register(1, mask) => (mask.clone(), quote!(u32)),
            Argument::Register(bits, register) => {
                let t = ty(*bits);
                (quote!(&#register), quote!(&[#t; 32]))
            }
        }
    }

    /// The value inside the function, where its parameter is `s`; `None` if that has the type `Lanes` itself.
    pub fn inside(&self, s: &Ident) -> Option<Argument> {
        match self {
            Argument::Lanes(_) | Argument::Computed(_) => None,
            Argument::Uniform(_) => Some(Argument::Uniform(s.to_token_stream())),
            Argument::Register(1, _) => Some(Argument::Register(1, s.to_token_stream())),
            Argument::Register(bits, _) => Some(Argument::Register(*bits, quote!((*#s)))),
        }
    }
}

/// A place for a result.
pub enum Destination {
    /// A register of this width; of a predicate the mask.
    Register(u32, TokenStream),
    /// Registers of one width, in an array.
    Registers(u32, usize, TokenStream),
    /// `_`
    Ignored,
}

impl Destination {
    /// A key that differs between functions that set different results.
    pub fn key(&self) -> String {
        match self {
            Destination::Register(bits, _) => format!(">{bits} "),
            Destination::Registers(bits, count, _) => format!(">{bits}*{count} "),
            Destination::Ignored => "_ ".into(),
        }
    }
}
