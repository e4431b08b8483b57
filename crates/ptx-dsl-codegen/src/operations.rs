//! Functions that all instructions share that are alike: of the same function of the runtime, with the same qualifiers and types, on
//! registers of the same widths. rustc makes their code once, however many there are.

use super::{Emit, RT, function_of, module_of};
use crate::roles::named_destinations;
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_isa::hir::Instr;
use ptx_dsl_isa::isa::Host;
use quote::{ToTokens, format_ident, quote};

/// An operand's value in all lanes, as it is handed on.
pub enum Given {
    /// The place of `u64`s.
    Lanes(TokenStream),
    /// What makes them.
    Made(TokenStream),
    /// A register of this width; of predicates the mask.
    Register(u32, TokenStream),
    /// One `u64` for all.
    One(TokenStream),
}

impl Given {
    /// As expressions of type `Lanes`: one, or two of 128 bits.
    pub fn lanes(self, out: &mut Vec<TokenStream>) {
        let rt = RT;
        let one = match self {
            Given::Lanes(lanes) | Given::Made(lanes) => lanes,
            Given::One(value) => quote!(#rt::lanes::splat(#value)),
            Given::Register(1, mask) => quote!(#rt::lanes::wide_mask(#mask)),
            Given::Register(128, register) => {
                out.push(quote!(#rt::lanes::wide_low(&#register)));
                quote!(#rt::lanes::wide_high(&#register))
            }
            Given::Register(bits, register) => {
                let wide = format_ident!("wide_u{bits}");
                quote!(#rt::lanes::#wide(&#register))
            }
        };
        out.push(one);
    }

    /// What a function that it is handed to depends on.
    fn kind(&self) -> String {
        match self {
            Given::Lanes(_) | Given::Made(_) => "lanes ".into(),
            Given::One(_) => "one ".into(),
            Given::Register(bits, _) => format!("{bits} "),
        }
    }

    /// As an argument, and its type.
    fn passed(&self) -> (TokenStream, TokenStream) {
        let rt = RT;
        match self {
            Given::Lanes(lanes) | Given::Made(lanes) => (quote!(&#lanes), quote!(&#rt::Lanes)),
            Given::One(value) => (value.clone(), quote!(u64)),
            Given::Register(1, mask) => (mask.clone(), quote!(u32)),
            Given::Register(bits, register) => {
                let t = super::block::ty(*bits);
                (quote!(&#register), quote!(&[#t; 32]))
            }
        }
    }
}

/// A place for a result.
pub enum Taken {
    /// A register of this width; of predicates the mask.
    Register(u32, TokenStream),
    /// So many registers of this width, one after the other in an array.
    Registers(u32, usize, TokenStream),
    /// `_`
    Nothing,
}

impl Taken {
    /// What a function that takes it depends on.
    fn kind(&self) -> String {
        match self {
            Taken::Register(bits, _) => format!(">{bits} "),
            Taken::Registers(bits, count, _) => format!(">{bits}*{count} "),
            Taken::Nothing => "_ ".into(),
        }
    }
}

/// The path of an instruction's function in the runtime's `isa`.
fn path_of(instr: &Instr) -> String {
    format!("{}::{}", module_of(instr.family), function_of(instr.entry.opcode, instr))
}

/// The attribute of a function that stays apart in development, where rustc would otherwise take its time in each place, and in
/// release only in a kernel that is large.
pub fn stays(large: bool) -> TokenStream {
    if large { quote!(#[inline(never)]) } else { quote!(#[cfg_attr(debug_assertions, inline(never))]) }
}

impl Emit<'_> {
    /// The function of that key. `make` gives its attribute, and its parameters and body, which depend on nothing but the key.
    fn operation(&mut self, key: String, make: impl FnOnce() -> (TokenStream, TokenStream)) -> Ident {
        if let Some(name) = self.operations.get(&key) {
            return name.clone();
        }
        let name = format_ident!("operation{}", self.operations.len());
        let (attribute, rest) = make();
        self.qual_items.push(quote!(#attribute fn #name #rest));
        self.operations.insert(key, name.clone());
        name
    }

    /// A call of an instruction's function in one lane, with so many results. Where a kernel has many of them it goes to a function
    /// of its own. In release rustc puts that in the place of a call if it is short, unless there are too many.
    pub fn lane_call(&mut self, instr: &Instr, sources: &[TokenStream], results: usize) -> TokenStream {
        let (q, function) = (self.q(instr), self.function(instr));
        if !self.shared {
            return quote!(#function(#q, [#(#sources),*]));
        }
        let attribute = stays(self.apart);
        let count = sources.len();
        let key = format!("{} {q} {count} {results}", path_of(instr));
        let name = self.operation(key, || {
            let given = (0..results).map(|r| format_ident!("d{r}")).collect::<Vec<_>>();
            let rest = quote! {
                (s: [u64; #count]) -> [u64; #results] {
                    let [#(#given,)* ..] = #function(#q, s);
                    [#(#given),*]
                }
            };
            (attribute, rest)
        });
        quote!(#name([#(#sources),*]))
    }

    /// A call of an instruction's function for the lanes of `mask` of a warp, of which `m` run: a `Result`, which holds the `Flow` if
    /// the warp may wait. Of the registers in `taken` it sets only these lanes, and none if the warp waits.
    pub fn warp_call(&mut self, instr: &Instr, given: &[Given], taken: &[Taken], mask: &Ident) -> TokenStream {
        let rt = RT;
        let (q, function, site) = (self.q(instr), self.function(instr), self.site(instr));
        let (mut arguments, mut parameters) = (Vec::new(), Vec::new());
        let (mut before, mut after) = (TokenStream::new(), TokenStream::new());
        let (mut sources, mut dests) = (Vec::new(), Vec::new());
        let mut made = TokenStream::new();
        let mut key = format!("{} {q} ", path_of(instr));
        for g in given {
            key += &g.kind();
            let (mut argument, ty) = g.passed();
            let s = format_ident!("s{}", arguments.len());
            if let Given::Made(lanes) = g {
                made.extend(quote!(let #s: #rt::Lanes = #lanes;));
                argument = quote!(&#s);
            }
            arguments.push(argument);
            parameters.push(quote!(#s: #ty));
            // the parameter is a reference, or the value itself
            let inside = match g {
                Given::Lanes(_) | Given::Made(_) => {
                    sources.push(s.to_token_stream());
                    continue;
                }
                Given::One(_) => Given::One(s.to_token_stream()),
                Given::Register(1, _) => Given::Register(1, s.to_token_stream()),
                Given::Register(bits, _) => Given::Register(*bits, quote!((*#s))),
            };
            let mut wide = Vec::new();
            inside.lanes(&mut wide);
            for value in wide {
                let v = format_ident!("v{}", sources.len());
                before.extend(quote!(let #v: #rt::Lanes = #value;));
                sources.push(quote!(&#v));
            }
        }
        for place in taken {
            key += &place.kind();
            let (low, high) = (format_ident!("d{}", dests.len()), format_ident!("d{}", dests.len() + 1));
            if let Taken::Registers(bits, count, place) = place {
                let (r, t, put) =
                    (format_ident!("r{}", arguments.len()), super::block::ty(*bits), format_ident!("put_u{bits}"));
                arguments.push(quote!(&mut #place));
                parameters.push(quote!(#r: &mut [[#t; 32]; #count]));
                let names = (0..*count).map(|n| format_ident!("d{}", dests.len() + n)).collect::<Vec<_>>();
                after.extend(quote!(for (r, d) in #r.iter_mut().zip([#(&#names),*]) { #rt::lanes::#put(r, d, mask); }));
                dests.extend(names);
                continue;
            }
            dests.push(low.clone());
            let Taken::Register(bits, place) = place else { continue };
            let t = match bits {
                1 => quote!(u32),
                _ => {
                    let t = super::block::ty(*bits);
                    quote!([#t; 32])
                }
            };
            let r = format_ident!("r{}", arguments.len());
            arguments.push(quote!(&mut #place));
            parameters.push(quote!(#r: &mut #t));
            after.extend(match bits {
                1 => quote!(#rt::lanes::put_mask(#r, &#low, mask);),
                128 => {
                    dests.push(high.clone());
                    quote!(#rt::lanes::put_u128(#r, &#low, &#high, mask);)
                }
                _ => {
                    let put = format_ident!("put_u{bits}");
                    quote!(#rt::lanes::#put(#r, &#low, mask);)
                }
            });
        }
        // A missing `|p` still has its place.
        for n in dests.len()..named_destinations(instr, dests.len()) {
            dests.push(format_ident!("d{n}"));
        }
        before.extend(quote!(#(let mut #dests: #rt::Lanes = [0; 32];)* x.site = site;));
        let call = quote!(#function(x, #q, [#(#sources),*], [#(&mut #dests),*])?);
        let waits = instr.entry.host == Host::Block;
        key += &format!("{} {waits}", dests.len());
        let (result, body) = match waits {
            true if after.is_empty() => (quote!(#rt::Flow), quote!(Ok(#call))),
            true => (quote!(#rt::Flow), quote!(let flow = #call; if let #rt::Flow::Next = flow { #after } Ok(flow))),
            false => (quote!(()), quote!(x.mask = mask; #call; x.mask = m; #after Ok(()))),
        };
        let name = self.operation(key, || {
            let rest = quote! {
                <M: #rt::Monitor>(
                    x: &mut #rt::Ctx<'_, M>,
                    site: u32,
                    mask: u32,
                    m: u32,
                    #(#parameters),*
                ) -> ::core::result::Result<#result, ::std::boxed::Box<#rt::Fault>> {
                    #before
                    #body
                }
            };
            (quote!(#[inline(never)]), rest)
        });
        let call = quote!(#name(x, #site, #mask, m, #(#arguments),*));
        if made.is_empty() { call } else { quote!({ #made #call }) }
    }
}
