//! The Rust items of a kernel: a type with its PTX, `launch`, `launch_raw` and `on`, and a module with its compiled code.

mod info;
pub mod parameters;
mod warp;

use crate::Prepared;
use crate::emit::Emitter;
use crate::names::{RT, rust_name};
use crate::source::{Source, Text};
use crate::step::dispatch::Code;
use crate::values::entry_name;
use info::kernel_info;
use parameters::{Closure, Passing};
use proc_macro2::{Ident, Span, TokenStream};
use ptx_dsl_image::kernel::Kernel;
use ptx_dsl_image::region::graph::Program;
use ptx_dsl_isa::hir::Function;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use warp::{agreement, warp_state};

/// The name of the module with a kernel's code.
fn module_name(ident: &Ident) -> Ident {
    // `format_ident` drops the `r#` of an argument
    format_ident!("__ptx_{}", ident)
}

/// A kernel's type.
enum KernelType {
    /// The kernel is in a module of its own.
    Own { module: Ident, ident: Ident, arguments: Vec<Ident> },
    /// An instance of a type that is defined elsewhere.
    Instance(TokenStream),
}

impl KernelType {
    fn of(f: &Function, source: &Source<'_>, text: &Text<'_>) -> Self {
        if let Some(path) = (source.instance)(&f.name) {
            return KernelType::Instance(path);
        }
        let name = rust_name(&f.name);
        let module = format_ident!("__ptx_{}_{}", name, text.at);
        KernelType::Own { module, ident: (source.name)(&name, f.span), arguments: text.values.parameters(f).1 }
    }

    /// The type and the function that makes a value of it.
    fn items(&self, ident: &Ident, doc: &str, parameters: &[TokenStream]) -> TokenStream {
        let at = Span::call_site().located_at(ident.span());
        let function = quote_spanned! {at=>
            #[doc = #doc]
            #[allow(non_snake_case, dead_code)]
            pub const fn #ident<#(#parameters),*>() -> #self {
                #self {}
            }
        };
        match self {
            KernelType::Own { module, .. } => {
                let items = quote_spanned! {at=>
                    #[doc = #doc]
                    #[allow(non_camel_case_types)]
                    #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, ::core::default::Default)]
                    pub struct #ident<#(#parameters),*> {}
                };
                exported(module, ident, &items, &function)
            }
            KernelType::Instance(path) => quote_spanned! {at=>
                #[doc = #doc]
                #[allow(non_camel_case_types, dead_code)]
                pub type #ident = #path;
                #function
            },
        }
    }
}

impl ToTokens for KernelType {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(match self {
            KernelType::Own { module, ident, arguments } => quote!(#module::#ident::<#(#arguments),*>),
            KernelType::Instance(path) => path.clone(),
        });
    }
}

/// The compiled code, for the type that [`kernel_type`] makes.
pub fn compiled(
    e: &Emitter<'_>,
    program: &Program<'_>,
    Code { step, run, items }: &Code,
    (source, text): (&Source<'_>, &Text<'_>),
) -> TokenStream {
    let rt = RT;
    let f = &e.kernel.module.functions[e.kernel.entry.0 as usize];
    let module = module_name(&rust_name(&f.name));
    let path = KernelType::of(f, source, text);
    let parameters = text.values.parameters(f).0;
    let (agree, agrees) = agreement(e, &module);
    let functions = &e.function_items;
    let calls = e.call_methods();
    let called = if calls.is_empty() { quote!() } else { calls_of(&module) };
    let (warp, frames, broadcast) = (warp_state(e), e.frames(), e.hoist.broadcast_function());
    let (fresh, large) = (e.layout.all_initialised, e.scale.outline_regions);
    let regions = program.regions.iter().map(|r| &r.name);
    quote! {
        // A module of its own: no name of the surrounding code, least of all a kernel's, can be taken for a local of it.
        #[doc(hidden)]
        #[allow(unused, clippy::all)]
        mod #module {
            #(#functions)*

            #warp

            #agree

            #frames

            #broadcast

            #calls

            #[inline(always)]
            pub fn step<L: #rt::Level>(
                x: &mut #rt::Ctx<'_>,
                mut pc: #rt::Pc,
                ws: &mut [Warp],
            ) -> ::core::result::Result<#rt::Next, ::std::boxed::Box<#rt::Fault>> {
                #step
            }

            #[inline(always)]
            fn run<L: #rt::Level>(
                x: &mut #rt::Ctx<'_>,
                w: &mut Warp,
                mut pc: #rt::Pc,
                mut m: u32,
            ) -> ::core::result::Result<(), ::std::boxed::Box<#rt::Fault>> {
                #run
            }

            #(#items)*
        }

        impl<#(#parameters),*> #rt::CompiledKernel for #path {
            type Warp = #module::Warp;
            const FRESH: ::core::primitive::bool = #fresh;
            const LARGE: ::core::primitive::bool = #large;
            const OPTIMISED: ::core::primitive::bool = ::ptx_dsl::__private::OPTIMISED;
            const REGIONS: &'static [&'static ::core::primitive::str] = &[#(#regions),*];
            #agrees
            #called
            fn step(
                __ptx_x: &mut #rt::Ctx<'_>,
                __ptx_pc: #rt::Pc,
                __ptx_warps: &mut [#module::Warp],
            ) -> ::core::result::Result<#rt::Next, ::std::boxed::Box<#rt::Fault>> {
                Self::step_at::<#rt::lanes::Base>(__ptx_x, __ptx_pc, __ptx_warps)
            }
            #[inline(always)]
            fn step_at<__PtxLevel: #rt::Level>(
                __ptx_x: &mut #rt::Ctx<'_>,
                __ptx_pc: #rt::Pc,
                __ptx_warps: &mut [#module::Warp],
            ) -> ::core::result::Result<#rt::Next, ::std::boxed::Box<#rt::Fault>> {
                #module::step::<__PtxLevel>(__ptx_x, __ptx_pc, __ptx_warps)
            }
        }
    }
}

/// A type and a function of this name. `items` are those of the module of the type.
///
/// All other items of a kernel belong to the type by its path. So if two kernels have one name, only the function and the import of the
/// type clash. They have equal spans, so rustc reports the name once, as that of a function.
pub fn exported(module: &Ident, ident: &Ident, items: &TokenStream, function: &TokenStream) -> TokenStream {
    let at = Span::call_site().located_at(ident.span());
    let (mut first, mut last) = (module.clone(), ident.clone());
    first.set_span(at);
    last.set_span(at);
    quote! {
        #[allow(non_snake_case)]
        mod #module {
            #items
        }
        #[allow(unused_imports, unreachable_pub)]
        pub use #first::#ident as #last;
        #function
    }
}

/// The documentation of a kernel that rustdoc shows.
fn documentation(f: &Function) -> String {
    let params: Vec<String> = f.params.iter().map(|p| format!("`{}`", p.name)).collect();
    let params = if params.is_empty() { "none".into() } else { params.join(", ") };
    format!("Kernel `{}`. Arguments of `launch`: {params}.", f.name)
}

/// The type, which is where the user's names are. `compiled`: the attribute under which there is compiled code.
pub fn kernel_type(
    kernel: &Kernel<'_>,
    prepared: &Prepared<'_>,
    (source, text): (&Source<'_>, &Text<'_>),
    passing: &[Passing],
    compiled: Option<&TokenStream>,
) -> TokenStream {
    let rt = RT;
    let f = &kernel.module.functions[kernel.entry.0 as usize];
    let path = KernelType::of(f, source, text);
    let ident = &(source.name)(&rust_name(&f.name), f.span);
    let on_trait = format_ident!("__PtxOn_{}_{}", rust_name(&f.name), text.at);
    let values = &text.values;
    let info = kernel_info(kernel, prepared, (source.file.as_deref(), values), passing);
    let (parameters, arguments) = text.values.parameters(f);
    let type_items = path.items(ident, &documentation(f), &parameters);
    let (in_impl, force) = (values.in_impl(source.places), values.force());
    let compiled = compiled.map(|attribute| {
        quote! {
            #attribute
            fn compiled() -> ::core::option::Option<#rt::Compiled> {
                ::core::option::Option::Some(#rt::Compiled::of::<Self>())
            }
        }
    });
    let name = &f.name;
    let forced = |text: TokenStream| if force.is_empty() { text } else { quote!({ #force #text }) };
    let (text, entry) = (forced(text.value()), forced(values.text(&entry_name(f))));
    let alone = (source.alone)(name).map_or_else(|| quote!(Self::PTX), |alone| forced(values.text(&alone)));
    let names: Vec<Ident> = (0..passing.len()).map(|i| format_ident!("__ptx_a{i}")).collect();
    let args = passing.iter().zip(&names).map(|(p, name)| {
        let arg = &p.arg;
        quote!({ let __ptx_a = #name; #arg })
    });
    let checks = passing.iter().filter_map(|p| p.check.as_ref());
    let types: Vec<&TokenStream> = passing.iter().map(|p| &p.ty).collect();
    let closure: Vec<&Closure> = passing.iter().map(|p| &p.closure).collect();
    // The trait of `on` is public. Types that the program names are parameters of it, because they may be private.
    let named: Vec<&TokenStream> = closure.iter().filter_map(|closure| closure.named()).collect();
    let stand_ins: Vec<Ident> = (0..named.len()).map(|i| format_ident!("__PtxT{i}")).collect();
    let mut next = stand_ins.iter();
    let open = closure.iter().map(|closure| closure.with(&closure.named().and_then(|_| next.next())));
    let generics: Vec<&TokenStream> = passing.iter().filter_map(|p| p.generic.as_ref()).collect();
    let on_of = |closure: TokenStream| {
        quote! {
            fn on<__PtxDevice: #rt::Device + ::core::clone::Clone>(
                &self,
                __ptx_device: &__PtxDevice,
                __ptx_launch: #rt::Launch,
            ) -> impl ::core::ops::Fn(#closure) -> ::core::result::Result<#rt::Report, #rt::Error> + ::core::clone::Clone
        }
    };
    let (on, declared_on) = (on_of(quote!(#(#closure),*)), on_of(quote!(#(#open),*)));
    quote! {
        #(#checks)*

        #type_items

        impl<#(#parameters),*> #rt::Kernel for #path {
            const INFO: &'static #rt::KernelInfo<'static> = &#info;
            #compiled
        }

        impl<#(#parameters),*> #rt::kernel_fn::Printed for #path {
            const PTX: &'static ::core::primitive::str = Self::PTX;
            const ENTRY_PTX: &'static ::core::primitive::str = Self::ENTRY_PTX;
            const NAME: &'static ::core::primitive::str = Self::NAME;
        }

        #[allow(clippy::all)]
        impl<'a, #(#parameters,)* #(#generics),*> #rt::kernel_fn::Takes<'a, (#(#types,)*)> for #path {
            fn arguments((#(#names,)*): (#(#types,)*)) -> ::std::vec::Vec<#rt::Arg<'a>> {
                ::std::vec![#(#args),*]
            }
        }

        #[allow(dead_code, clippy::all)]
        impl<#(#parameters),*> #path {
            #in_impl
            /// The module's PTX text, for ptxas, nvcc or the CUDA driver.
            pub const PTX: &'static ::core::primitive::str = #text;
            /// The PTX text with this kernel alone, and what it needs of the module.
            pub const ENTRY_PTX: &'static ::core::primitive::str = #alone;
            /// The kernel's name in it.
            pub const NAME: &'static ::core::primitive::str = #entry;

            /// The module's PTX text.
            pub fn ptx(&self) -> &'static ::core::primitive::str {
                Self::PTX
            }

            /// The PTX text with this kernel alone.
            pub fn entry_ptx(&self) -> &'static ::core::primitive::str {
                Self::ENTRY_PTX
            }

            /// The kernel's name in the PTX text.
            pub fn name(&self) -> &'static ::core::primitive::str {
                Self::NAME
            }

            /// Runs the kernel on a host or a GPU.
            pub fn launch<'a, __PtxDevice: #rt::Device, #(#generics),*>(
                &self,
                __ptx_device: &__PtxDevice,
                __ptx_launch: #rt::Launch,
                __ptx_args: (#(#types,)*),
            ) -> ::core::result::Result<#rt::Report, #rt::Error> {
                #rt::kernel_fn::typed::<Self, __PtxDevice, _>(__ptx_device, __ptx_launch, __ptx_args)
            }

            /// The kernel as a closure: called with the kernel's arguments, it does what `launch` does. It owns copies of `device` and
            /// `launch`. A pointer or `.u64` without a Rust type is an `Arg`, which slices, vectors, arrays and `u64` convert into.
            pub #on + use<#(#arguments,)* __PtxDevice> {
                let __ptx_device = ::core::clone::Clone::clone(__ptx_device);
                move |#(#names: #closure),*| {
                    Self {}.launch(&__ptx_device, ::core::clone::Clone::clone(&__ptx_launch), (#(#names,)*))
                }
            }

            /// Runs the kernel on a host or a GPU with untyped arguments, checked for count, size and alignment.
            pub fn launch_raw<__PtxDevice: #rt::Device>(
                &self,
                __ptx_device: &__PtxDevice,
                __ptx_launch: #rt::Launch,
                __ptx_args: &mut [#rt::Arg<'_>],
            ) -> ::core::result::Result<#rt::Report, #rt::Error> {
                #rt::kernel_fn::raw::<Self, __PtxDevice>(__ptx_device, __ptx_launch, __ptx_args)
            }
        }

        // The methods of the function: `on` has a type of its own in each kernel.
        #[allow(unused_imports, unreachable_pub)]
        pub use #rt::KernelFn as _;

        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code, private_bounds, private_interfaces)]
        pub trait #on_trait<#(#parameters,)* #(#stand_ins),*> {
            #[doc = "The kernel as a closure."]
            #declared_on + use<Self, #(#arguments,)* #(#stand_ins,)* __PtxDevice>;
        }

        impl<#(#parameters,)* __PtxF: ::core::ops::Fn() -> #path> #on_trait<#(#arguments,)* #(#named),*> for __PtxF {
            #on + use<__PtxF, #(#arguments,)* __PtxDevice> {
                self().on(__ptx_device, __ptx_launch)
            }
        }
    }
}

/// The methods of `CompiledKernel` about calls.
fn calls_of(module: &Ident) -> TokenStream {
    quote! {
        fn returns_to(
            __ptx_w: &#module::Warp,
            __ptx_function: ::core::primitive::u64,
            __ptx_lane: ::core::primitive::usize,
        ) -> ::core::option::Option<::core::primitive::u64> {
            #module::returns_to(__ptx_w, __ptx_function, __ptx_lane)
        }
        fn call_of(
            __ptx_function: ::core::primitive::u64,
            __ptx_back: ::core::primitive::u64,
        ) -> ::core::option::Option<::core::primitive::u32> {
            #module::call_of(__ptx_function, __ptx_back)
        }
        fn saved(__ptx_w: &#module::Warp, __ptx_lane: ::core::primitive::usize) -> &[::core::primitive::u64] {
            #module::saved(__ptx_w, __ptx_lane)
        }
        fn saves(
            __ptx_function: ::core::primitive::u64,
        ) -> ::core::option::Option<(::core::primitive::usize, ::core::primitive::usize)> {
            #module::saves(__ptx_function)
        }
    }
}
