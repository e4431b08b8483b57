//! Functions that instructions share which are alike: the same function of the runtime, the same qualifiers and types, registers of
//! the same widths. rustc compiles each once, however many instructions call it.

use super::Emitter;
use super::argument::{Argument, Destination};
use super::scale::outline_attribute;
use crate::names::{RT, path_of, runtime_function, ty};
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_image::instr::destination_count;
use ptx_dsl_isa::hir::Instr;
use ptx_dsl_isa::isa::Host;
use quote::{ToTokens, format_ident, quote};

/// The signature and body of a function for a warp while they grow, and the arguments of a call.
#[derive(Default)]
struct WarpFunction {
    /// The runtime's function takes registers as wide as they are.
    registers: bool,
    arguments: Vec<TokenStream>,
    parameters: Vec<TokenStream>,
    /// Statements of the body before and after the call of the runtime.
    before: TokenStream,
    after: TokenStream,
    sources: Vec<TokenStream>,
    /// Each a name and a type: `Lanes` or `Words`.
    destinations: Vec<(Ident, Ident)>,
    /// Values that the caller computes first.
    computed: TokenStream,
}

impl WarpFunction {
    fn source(&mut self, given: &Argument) {
        let rt = RT;
        let (mut argument, ty) = given.passed();
        let s = format_ident!("s{}", self.arguments.len());
        if let Argument::Computed(lanes) = given {
            self.computed.extend(quote!(let #s: #rt::Lanes = #lanes;));
            argument = quote!(&#s);
        }
        self.arguments.push(argument);
        self.parameters.push(quote!(#s: #ty));
        let Some(inside) = given.inside(&s) else { return self.lanes(s.to_token_stream()) };
        if self.registers && matches!(inside, Argument::Register(32, _)) {
            return self.sources.push(quote!(#rt::lanes::Source::Words(#s)));
        }
        for value in inside.into_lanes() {
            let v = format_ident!("v{}", self.sources.len());
            self.before.extend(quote!(let #v: #rt::Lanes = #value;));
            self.lanes(quote!(&#v));
        }
    }

    /// A source that is a reference to `Lanes`.
    fn lanes(&mut self, source: TokenStream) {
        let rt = RT;
        self.sources.push(if self.registers { quote!(#rt::lanes::Source::Lanes(#source)) } else { source });
    }

    /// A name for the next result.
    fn result(&mut self) -> Ident {
        self.result_of("Lanes")
    }

    fn result_of(&mut self, ty: &str) -> Ident {
        let name = format_ident!("d{}", self.destinations.len());
        self.destinations.push((name.clone(), format_ident!("{ty}")));
        name
    }

    /// A name for the next result, a register of this many bits, and the function that stores it.
    fn stored_result(&mut self, bits: u32) -> (Ident, Ident) {
        if !self.registers || bits != 32 {
            return (self.result(), format_ident!("put_u{bits}"));
        }
        (self.result_of("Words"), format_ident!("put_words"))
    }

    /// The results as they are passed to the function.
    fn passed_results(&self) -> Vec<TokenStream> {
        let rt = RT;
        let passed = |(name, ty): &(Ident, Ident)| match self.registers {
            true => quote!(#rt::lanes::Destination::#ty(&mut #name)),
            false => quote!(&mut #name),
        };
        self.destinations.iter().map(passed).collect()
    }

    fn destination(&mut self, to: &Destination) {
        let rt = RT;
        let r = format_ident!("r{}", self.arguments.len());
        let (place, ty, store) = match to {
            Destination::Ignored => {
                self.result();
                return;
            }
            Destination::Register(1, place) => {
                let d = self.result();
                (place, quote!(u32), quote!(#rt::lanes::put_mask(#r, &#d, mask);))
            }
            Destination::Register(128, place) => {
                let (t, low, high) = (ty(128), self.result(), self.result());
                (place, quote!([#t; 32]), quote!(#rt::lanes::put_u128(#r, &#low, &#high, mask);))
            }
            Destination::Register(bits, place) => {
                let (t, (d, put)) = (ty(*bits), self.stored_result(*bits));
                (place, quote!([#t; 32]), quote!(#rt::lanes::#put(#r, &#d, mask);))
            }
            Destination::Registers(bits, count, place) => {
                let t = ty(*bits);
                let (d, put): (Vec<Ident>, Vec<Ident>) = (0..*count).map(|_| self.stored_result(*bits)).unzip();
                let put = put.first();
                let store = quote!(for (r, d) in #r.iter_mut().zip([#(&#d),*]) { #rt::lanes::#put(r, d, mask); });
                (place, quote!([[#t; 32]; #count]), store)
            }
        };
        self.arguments.push(quote!(&mut #place));
        self.parameters.push(quote!(#r: &mut #ty));
        self.after.extend(store);
    }
}

impl Emitter<'_> {
    /// The constant that holds an instruction's qualifiers and types.
    pub fn qualifiers(&mut self, i: &Instr) -> Ident {
        let (name, item) = self.constants.qualifiers(self.kernel, i);
        self.function_items.extend(item);
        name
    }

    /// The function of that key. `make` gives its attribute, and its parameters and body, which depend on nothing but the key.
    fn function(&mut self, key: String, make: impl FnOnce() -> (TokenStream, TokenStream)) -> Ident {
        if let Some(name) = self.functions.get(&key) {
            return name.clone();
        }
        let name = format_ident!("operation{}", self.functions.len());
        let (attribute, rest) = make();
        self.function_items.push(quote!(#attribute fn #name #rest));
        self.functions.insert(key, name.clone());
        name
    }

    /// A call of an instruction's function in one lane, with this many results. If a kernel has many of them, they go through a function
    /// that they share. In release rustc inlines it if it is short, unless there are too many.
    pub fn lane_call(&mut self, i: &Instr, sources: &[TokenStream], results: usize) -> TokenStream {
        let (q, function) = (self.qualifiers(i), runtime_function(i));
        if !self.scale.share_lane_calls {
            return quote!(#function(#q, [#(#sources),*]));
        }
        let attribute = outline_attribute(self.scale.outline_lane_calls);
        let count = sources.len();
        let key = format!("{} {q} {count} {results}", path_of(i));
        let name = self.function(key, || {
            let given: Vec<Ident> = (0..results).map(|r| format_ident!("d{r}")).collect();
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
    /// the instruction may block. It sets only these lanes of the destinations, and none if the warp waits.
    pub fn warp_call(&mut self, i: &Instr, given: &[Argument], taken: &[Destination], mask: &Ident) -> TokenStream {
        let rt = RT;
        let (q, function, site) = (self.qualifiers(i), runtime_function(i), self.sites.site(i));
        let mut f = WarpFunction { registers: i.entry.host == Host::Registers, ..WarpFunction::default() };
        given.iter().for_each(|argument| f.source(argument));
        taken.iter().for_each(|destination| f.destination(destination));
        // A missing `|p` still has its place.
        for _ in f.destinations.len()..destination_count(i, f.destinations.len()) {
            f.result();
        }
        let blocks = i.entry.host.waits();
        let keys: String = given.iter().map(Argument::key).chain(taken.iter().map(Destination::key)).collect();
        let key = format!("{} {q} {keys}{} {blocks}", path_of(i), f.destinations.len());
        let results = f.passed_results();
        let WarpFunction { registers, arguments, parameters, before, after, sources, destinations, computed } = f;
        let add = if registers { quote!(with_sources) } else { quote!(with_operands) };
        let call = quote!(#function(x, #q, &s, &mut [#(#results),*]).map_err(|fault| x.describe().#add(fault, &s))?);
        let (destinations, types): (Vec<_>, Vec<_>) = destinations.into_iter().unzip();
        let (result, body) = match blocks {
            true if after.is_empty() => (quote!(#rt::Flow), quote!(Ok(#call))),
            true => (quote!(#rt::Flow), quote!(let flow = #call; if let #rt::Flow::Next = flow { #after } Ok(flow))),
            false => (quote!(()), quote!(x.mask = mask; #call; x.mask = m; #after Ok(()))),
        };
        let name = self.function(key, || {
            let rest = quote! {
                (
                    x: &mut #rt::Ctx<'_>,
                    site: u32,
                    mask: u32,
                    m: u32,
                    #(#parameters),*
                ) -> ::core::result::Result<#result, ::std::boxed::Box<#rt::Fault>> {
                    #before
                    #(let mut #destinations: #rt::#types = [0; 32];)* x.site = site;
                    let s = [#(#sources),*];
                    #body
                }
            };
            (quote!(#[inline(never)]), rest)
        });
        let call = quote!(#name(x, #site, #mask, m, #(#arguments),*));
        if computed.is_empty() { call } else { quote!({ #computed #call }) }
    }
}
