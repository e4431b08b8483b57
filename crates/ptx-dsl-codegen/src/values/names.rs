//! Constants of PTX in the Rust expressions of later ones: their names there become the items or values that they stand for.

use super::Values;
use proc_macro2::{Group, Span, TokenStream, TokenTree};
use ptx_dsl_isa::constant::{Const, Constants, Declaration, Named, RustType};
use quote::quote_spanned;

/// Tells for each declaration whether it is a parameter of the kernel, or depends on one.
pub(super) fn dependent(constants: &Constants) -> Vec<bool> {
    let mut dependent: Vec<bool> = Vec::with_capacity(constants.declarations.len());
    for declaration in &constants.declarations {
        let mut named = declaration.names.iter().map(|(_, named)| match named {
            Named::Rust(n) => dependent[*n as usize],
            Named::Known(..) => false,
        });
        let is = declaration.value.is_none() || named.any(|is| is);
        dependent.push(is);
    }
    dependent
}

impl Values<'_> {
    /// The Rust expression of a declaration, with the constants of PTX for their names.
    pub(super) fn with_names(&self, tokens: TokenStream, declaration: &Declaration) -> TokenStream {
        if declaration.names.is_empty() {
            return tokens;
        }
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let is = |at: Option<usize>, c: char| {
            at.and_then(|at| tokens.get(at)).is_some_and(|t| matches!(t, TokenTree::Punct(p) if p.as_char() == c))
        };
        let of = |(at, token): (usize, &TokenTree)| match token {
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), self.with_names(group.stream(), declaration));
                inner.set_span(group.span());
                TokenTree::Group(inner).into()
            }
            TokenTree::Ident(name) => {
                let before = at.checked_sub(1);
                let path = is(before, ':') || is(before, '.') || is(Some(at + 1), ':') && is(Some(at + 2), ':');
                let known = declaration.names.iter().find(|(known, _)| !path && name == known);
                known.map_or_else(|| token.clone().into(), |(_, named)| self.named(*named, name.span()))
            }
            _ => token.clone().into(),
        };
        tokens.iter().enumerate().map(of).collect::<Vec<TokenStream>>().into_iter().collect()
    }

    /// A constant as a Rust expression.
    fn named(&self, named: Named, span: Span) -> TokenStream {
        let text = match named {
            Named::Rust(n) => {
                let path = self.declared(n, &self.constants.declarations[n as usize]);
                return path.into_iter().map(|token| spanned(token, span)).collect();
            }
            Named::Known(Const::Int { value, .. }, Some(ty)) if ty.name() == "bool" => (value != 0).to_string(),
            Named::Known(Const::Int { value, unsigned: false }, ty) => {
                format!("{}{}", value.cast_signed(), ty.map_or("", RustType::name))
            }
            Named::Known(Const::Int { value, .. }, ty) => format!("{value}{}", ty.map_or("", RustType::name)),
            Named::Known(Const::F32(bits), _) => return quote_spanned!(span=> ::core::primitive::f32::from_bits(#bits)),
            Named::Known(Const::F64(value), _) => {
                let bits = value.to_bits();
                return quote_spanned!(span=> ::core::primitive::f64::from_bits(#bits));
            }
        };
        let value: TokenStream = text.parse().unwrap_or_default();
        let value: TokenStream = value.into_iter().map(|token| spanned(token, span)).collect();
        quote_spanned!(span=> (#value))
    }
}

fn spanned(mut token: TokenTree, span: Span) -> TokenTree {
    token.set_span(span);
    token
}
