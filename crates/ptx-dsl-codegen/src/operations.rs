//! Functions that all instructions share that are alike: of the same function of the runtime, with the same qualifiers and types, on
//! registers of the same widths. rustc makes their code once, however many there are.

use super::{Emit, RT};
use crate::code::{Code, Fixed, Name, name};
use crate::roles::named_destinations;
use ptx_dsl_isa::hir::Instr;
use ptx_dsl_isa::isa::Host;
use ptx_dsl_isa::list::List;
use ptx_dsl_quote::quote;

/// An operand's value in all lanes, as it is handed on.
pub enum Given {
    /// The place of `u64`s.
    Lanes(Code),
    /// What makes them.
    Made(Code),
    /// A register of this width; of predicates the mask.
    Register(u32, Code),
    /// One `u64` for all.
    One(Code),
}

impl Given {
    /// As expressions of type `Lanes`: one, or two of 128 bits.
    pub fn lanes(self, out: &mut Vec<Code>) {
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
                let wide = name!("wide_u{bits}");
                quote!(#rt::lanes::#wide(&#register))
            }
        };
        out.push(one);
    }

    /// As an argument, and its type.
    fn passed(&self) -> (Code, Code) {
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
    Register(u32, Code),
    /// So many registers of this width, one after the other in an array.
    Registers(u32, usize, Code),
    /// `_`
    Nothing,
}

/// The attribute of a function that stays apart in development, where rustc would otherwise take its time in each place, and in
/// release only in a kernel that is large.
pub fn stays(large: bool) -> Code {
    if large { quote!(#[inline(never)]) } else { quote!(#[cfg_attr(debug_assertions, inline(never))]) }
}

impl Emit<'_> {
    /// The function with these parameters and this body, and those that are like it.
    fn operation(&mut self, attribute: &Code, rest: Code) -> Name {
        for (n, known) in self.operations.iter().enumerate() {
            if known.as_str() == rest.as_str() {
                return name!("operation{n}");
            }
        }
        let name = name!("operation{}", self.operations.len());
        self.qual_items.push(quote!(#attribute fn #name #rest));
        self.operations.push(rest);
        name
    }

    /// A call of an instruction's function in one lane, with so many results. Where a kernel has many of them it goes to a function
    /// of its own. In release rustc puts that in the place of a call if it is short, unless there are too many.
    pub fn lane_call(&mut self, instr: &Instr, sources: &[Code], results: usize) -> Code {
        let (q, function) = (self.q(instr), self.function(instr));
        if !self.shared {
            return quote!(#function(#q, [#(#sources),*]));
        }
        let attribute = stays(self.apart);
        let (count, given) = (sources.len(), (0..results).map(|r| name!("d{r}")).list());
        let name = self.operation(
            &attribute,
            quote! {
                (s: [u64; #count]) -> [u64; #results] {
                    let [#(#given,)* ..] = #function(#q, s);
                    [#(#given),*]
                }
            },
        );
        quote!(#name([#(#sources),*]))
    }

    /// A call of an instruction's function for the lanes of `mask` of a warp, of which `m` run: a `Result`, which holds the `Flow` if
    /// the warp may wait. Of the registers in `taken` it sets only these lanes, and none if the warp waits.
    pub fn warp_call(&mut self, instr: &Instr, given: &[Given], taken: &[Taken], mask: &Name) -> Code {
        let rt = RT;
        let (q, function, site) = (self.q(instr), self.function(instr), self.site(instr));
        let (mut arguments, mut parameters) = (Vec::new(), Vec::new());
        let (mut before, mut after) = (Code::new(), Code::new());
        let (mut sources, mut dests) = (Vec::new(), Vec::new());
        let mut made = Code::new();
        for g in given {
            let (mut argument, ty) = g.passed();
            let s = name!("s{}", arguments.len());
            if let Given::Made(lanes) = g {
                made.extend(quote!(let #s: #rt::Lanes = #lanes;));
                argument = quote!(&#s);
            }
            arguments.push(argument);
            parameters.push(quote!(#s: #ty));
            // the parameter is a reference, or the value itself
            let inside = match g {
                Given::Lanes(_) | Given::Made(_) => {
                    sources.push(Code::one(s));
                    continue;
                }
                Given::One(_) => Given::One(Code::one(s)),
                Given::Register(1, _) => Given::Register(1, Code::one(s)),
                Given::Register(bits, _) => Given::Register(*bits, quote!((*#s))),
            };
            let mut wide = Vec::new();
            inside.lanes(&mut wide);
            for value in wide {
                let v = name!("v{}", sources.len());
                before.extend(quote!(let #v: #rt::Lanes = #value;));
                sources.push(quote!(&#v));
            }
        }
        for place in taken {
            let (low, high) = (name!("d{}", dests.len()), name!("d{}", dests.len() + 1));
            if let Taken::Registers(bits, count, place) = place {
                let (r, t, put) = (name!("r{}", arguments.len()), super::block::ty(*bits), name!("put_u{bits}"));
                arguments.push(quote!(&mut #place));
                parameters.push(quote!(#r: &mut [[#t; 32]; #count]));
                let names = (0..*count).map(|n| name!("d{}", dests.len() + n)).list();
                after.extend(quote!(for (r, d) in #r.iter_mut().zip([#(&#names),*]) { #rt::lanes::#put(r, d, mask); }));
                dests.extend(names);
                continue;
            }
            dests.push(low.clone());
            let Taken::Register(bits, place) = place else { continue };
            let t = match bits {
                1 => Code::one(Fixed("u32")),
                _ => {
                    let t = super::block::ty(*bits);
                    quote!([#t; 32])
                }
            };
            let r = name!("r{}", arguments.len());
            arguments.push(quote!(&mut #place));
            parameters.push(quote!(#r: &mut #t));
            after.extend(match bits {
                1 => quote!(#rt::lanes::put_mask(#r, &#low, mask);),
                128 => {
                    dests.push(high.clone());
                    quote!(#rt::lanes::put_u128(#r, &#low, &#high, mask);)
                }
                _ => {
                    let put = name!("put_u{bits}");
                    quote!(#rt::lanes::#put(#r, &#low, mask);)
                }
            });
        }
        // A missing `|p` still has its place.
        for n in dests.len()..named_destinations(instr, dests.len()) {
            dests.push(name!("d{n}"));
        }
        before.extend(quote!(#(let mut #dests: #rt::Lanes = [0; 32];)* x.site = site;));
        let call = quote!(#function(x, #q, [#(#sources),*], [#(&mut #dests),*])?);
        let waits = instr.entry.host == Host::Block;
        let (result, body) = match waits {
            true if after.is_empty() => (quote!(#rt::Flow), quote!(Ok(#call))),
            true => (quote!(#rt::Flow), quote!(let flow = #call; if let #rt::Flow::Next = flow { #after } Ok(flow))),
            false => (quote!(()), quote!(x.mask = mask; #call; x.mask = m; #after Ok(()))),
        };
        let name = self.operation(
            &quote!(#[inline(never)]),
            quote! {
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
            },
        );
        let call = quote!(#name(x, #site, #mask, m, #(#arguments),*));
        if made.is_empty() { call } else { quote!({ #made #call }) }
    }
}
