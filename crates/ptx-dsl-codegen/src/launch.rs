//! The Rust item of a kernel: its PTX, its parameters with their Rust types, `launch`, `launch_raw` and `on`.

use super::regions::Program;
use super::{Emit, RT};
use proc_macro2::{Ident, Literal, TokenStream};
use ptx_dsl_isa::hir::{FuncId, Param};
use ptx_dsl_isa::span::Span;
use ptx_dsl_isa::ty::Ty;
use quote::{ToTokens, format_ident, quote};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// What the emitter asks of the macro about the source.
pub struct Source<'a> {
    /// Line in the Rust (or included) file, 0 if unknown.
    pub line: &'a dyn Fn(Span) -> u32,
    /// What stands for a name that the user has written in that place.
    pub name: &'a dyn Fn(&Ident, Span) -> Ident,
    /// The Rust type of a parameter; nothing if it is no type.
    pub rust_type: &'a dyn Fn(Span) -> Option<RustType<TokenStream>>,
    /// The file as the fault reports name it; `None` for the file of the invocation.
    pub file: Option<String>,
    /// What it finds wrong itself in the types of parameters: one sentence, and the type.
    pub problems: &'a RefCell<Vec<(String, Span)>>,
}

/// A type, as far as the macros tell types apart.
pub enum RustType<T> {
    /// `&[T]` or `&mut [T]`, with its `T`.
    Slice {
        /// With `mut`.
        mutable: bool,
        /// `T`.
        element: T,
    },
    /// Another reference.
    Reference {
        /// With `mut`.
        mutable: bool,
    },
    /// Anything else.
    Value(T),
}

impl<T> RustType<T> {
    /// The same with another form of what is in it.
    pub fn map<U>(self, to: impl FnOnce(T) -> U) -> RustType<U> {
        match self {
            RustType::Slice { mutable, element } => RustType::Slice { mutable, element: to(element) },
            RustType::Reference { mutable } => RustType::Reference { mutable },
            RustType::Value(value) => RustType::Value(to(value)),
        }
    }
}

/// How one parameter is passed from Rust.
pub struct Passing {
    /// Its type in the argument tuple.
    ty: TokenStream,
    /// Its type as a parameter of the closure that `on` gives.
    closure: TokenStream,
    /// A type parameter of `launch`, with its bound.
    generic: Option<TokenStream>,
    /// `Arg` from the value `a`.
    arg: TokenStream,
    read_only: bool,
    pointer: Option<u32>,
}

impl Emit<'_> {
    /// `KernelInfo`.
    pub fn info(&mut self, entry: FuncId, program: &Program<'_>, passing: &[Passing]) -> TokenStream {
        let rt = RT;
        let f = &self.module.functions[entry.0 as usize];
        let name = &f.name;
        let file = match &self.source.file {
            Some(file) => quote!(#file),
            None => quote!(::core::file!()),
        };
        let mut params = Vec::new();
        for (p, pass) in f.params.iter().zip(passing) {
            let offset = match p.var {
                Some(v) => self.module.vars[v.0 as usize].offset,
                None => 0,
            };
            let (name, size, align, read_only) = (&p.name, p.size, p.align, pass.read_only);
            let pointer = option(pass.pointer);
            params.push(
                quote!(#rt::ParamInfo { name: #name, offset: #offset, size: #size, align: #align, pointer: #pointer, read_only: #read_only }),
            );
        }
        let (req, max, cluster) = (dims(f.reqntid), dims(f.maxntid), dims(f.reqnctapercluster));
        let rank = option(f.maxclusterrank);
        let explicit = f.explicitcluster;
        let dynamic = self.module.vars.iter().any(|v| v.dynamic);
        let shared = self.static_shared();
        let stack = if program.recursive.is_empty() { 0 } else { super::calls::STACK };
        let local = program.local_size(self.module).next_multiple_of(16).saturating_add(stack);
        let target = &self.module.target;
        let (consts, globals) =
            (Literal::byte_string(&self.module.const_image), Literal::byte_string(&self.module.global_image));
        let regions = program.regions.iter().map(|r| &r.name).collect::<Vec<_>>();
        let mut not_yet = Vec::new();
        for (what, index) in &program.not_yet {
            let site = match find(self.module, *index) {
                Some(i) => self.site(i),
                None => 0,
            };
            not_yet.push(quote!((#what, #site)));
        }
        if self.module.address_size == 32 {
            not_yet.push(quote!((".address_size 32", 0)));
        }
        let sites = &self.site_items;
        quote! {
            #rt::KernelInfo {
                name: #name,
                file: #file,
                params: &[#(#params),*],
                shared_size: #shared,
                local_size: #local,
                const_image: #consts,
                global_image: #globals,
                reqntid: #req,
                maxntid: #max,
                reqnctapercluster: #cluster,
                maxclusterrank: #rank,
                uses_dynamic_shared: #dynamic,
                explicit_cluster: #explicit,
                target: #target,
                sites: &[#(#sites),*],
                regions: &[#(#regions),*],
                not_yet: &[#(#not_yet),*],
            }
        }
    }

    /// A module of its own for the code; and the type, its constants, its `Kernel` and its `launch`, where all is that the user has
    /// written.
    pub fn item(
        &mut self,
        entry: FuncId,
        (step, run): (TokenStream, TokenStream),
        info: TokenStream,
        passing: Vec<Passing>,
    ) -> [TokenStream; 2] {
        let rt = RT;
        let f = &self.module.functions[entry.0 as usize];
        let ident = rust_name(&f.name);
        // As an argument it loses its `r#`, in the text it would not.
        let module = format_ident!("__ptx_{}", ident);
        let ident = (self.source.name)(&ident, f.span);
        let (text, name) = (&self.text.name, &f.name);
        let (mut fields, mut names_of_fields, mut zeros) = (Vec::new(), Vec::new(), Vec::new());
        let mut alike: BTreeMap<(u32, u32), Vec<Ident>> = BTreeMap::new();
        for (name, (bits, p)) in &self.fields {
            let name = format_ident!("{name}");
            let ty = super::block::ty(*bits);
            let rows = if *p > 1 { 32 / *p as usize } else { 32 };
            // a predicate is the mask of its lanes
            fields.push(if *bits == 1 && *p == 1 { quote!(#name: u32) } else { quote!(#name: [#ty; #rows]) });
            alike.entry((*bits, *p)).or_default().push(name.clone());
            names_of_fields.push(name);
            zeros.push(match (*bits, *p) {
                (1, 1) => quote!(0),
                (1, _) => quote!([false; #rows]),
                _ => quote!([0; #rows]),
            });
        }
        let (quals, pieces) = (&self.qual_items, std::mem::take(&mut self.pieces));
        let frames = self.frames();
        let stack =
            if frames.is_empty() { quote!() } else { quote!(frame: [u64; 32], stack: [::std::vec::Vec<u64>; 32],) };
        if !stack.is_empty() {
            names_of_fields.push(format_ident!("frame"));
            names_of_fields.push(format_ident!("stack"));
            alike.entry((64, 1)).or_default().push(format_ident!("frame"));
            alike.entry((0, 0)).or_default().push(format_ident!("stack"));
            zeros.push(quote!([0; 32]));
            zeros.push(quote!([const { ::std::vec::Vec::new() }; 32]));
        }
        // many of a type in one loop: rustc takes time for each branch, and with the square of what stands between two
        let mut same = TokenStream::new();
        for (_, names) in alike.iter() {
            for names in names.chunks(50) {
                same.extend(quote!(if [#(&self.#names),*] != [#(&other.#names),*] { return false; }));
            }
        }
        // a copy is then one of bytes
        let copy = if stack.is_empty() { quote!(Copy) } else { quote!() };
        let (mut types, mut generics, mut names, mut args) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut closure = Vec::new();
        for (i, p) in passing.iter().enumerate() {
            let (name, arg) = (format_ident!("__ptx_a{i}"), &p.arg);
            args.push(quote!({ let __ptx_a = #name; #arg }));
            names.push(name);
            types.push(&p.ty);
            closure.push(&p.closure);
            if let Some(generic) = &p.generic {
                generics.push(generic);
            }
        }
        let (fresh, large) = (self.classes.fresh, self.large);
        let agreed = self.agreed.iter().collect::<Vec<_>>();
        let settle = if self.keeps { self.settling() } else { quote!() };
        // a statement for each: rustc has no stack for a chain of thousands of `&&`
        let (agree, agrees) = if agreed.is_empty() {
            (quote!(), quote!())
        } else {
            let agree = quote! {
                pub fn agree(a: &Warp, b: &Warp) -> bool {
                    #(if a.#agreed != b.#agreed { return false; })*
                    true
                }
            };
            let agrees = quote! {
                fn agree(__ptx_a: &#module::Warp, __ptx_b: &#module::Warp) -> bool {
                    #module::agree(__ptx_a, __ptx_b)
                }
            };
            (agree, agrees)
        };
        let mut doc = format!("Kernel `{name}`. Arguments of `launch`: ");
        for (i, p) in f.params.iter().enumerate() {
            doc += &format!("{}`{}`", if i > 0 { ", " } else { "" }, p.name);
        }
        doc.push_str(if f.params.is_empty() { "none." } else { "." });
        let code = quote! {
            // A module of its own: no name of the surrounding code, least of all a kernel's, can be taken for a local of it.
            #[doc(hidden)]
            #[allow(unused, clippy::all)]
            mod #module {
                #(#quals)*

                // rows of registers begin where cache lines do
                #[repr(align(64))]
                #[derive(Clone, #copy)]
                pub struct Warp { #(#fields,)* #stack }

                impl Default for Warp {
                    fn default() -> Warp {
                        const ZERO: Warp = Warp { #(#names_of_fields: #zeros,)* };
                        ZERO
                    }
                }

                impl PartialEq for Warp {
                    fn eq(&self, other: &Warp) -> bool {
                        #same
                        true
                    }
                }

                #agree

                #frames

                #settle

                pub const INFO: &#rt::KernelInfo = &#info;

                #[inline(always)]
                pub fn step<M: #rt::Monitor, L: #rt::Level>(
                    x: &mut #rt::Ctx<'_, M>,
                    mut pc: #rt::Pc,
                    ws: &mut [Warp],
                ) -> ::core::result::Result<#rt::Next, ::std::boxed::Box<#rt::Fault>> {
                    #step
                }

                #[inline(always)]
                fn run<M: #rt::Monitor, L: #rt::Level>(
                    x: &mut #rt::Ctx<'_, M>,
                    w: &mut Warp,
                    mut pc: #rt::Pc,
                    mut m: u32,
                ) -> ::core::result::Result<(), ::std::boxed::Box<#rt::Fault>> {
                    #run
                }

                #(#pieces)*
            }
        };
        let item = quote! {
            #[doc = #doc]
            #[allow(non_camel_case_types)]
            #[derive(Clone, Copy, Debug, Default)]
            pub struct #ident;

            impl #rt::Kernel for #ident {
                type Warp = #module::Warp;
                const FRESH: bool = #fresh;
                const LARGE: bool = #large;
                const OPTIMISED: bool = ::ptx_dsl::OPTIMISED;
                #agrees
                const INFO: &'static #rt::KernelInfo = #module::INFO;
                fn step<M: #rt::Monitor>(
                    __ptx_x: &mut #rt::Ctx<'_, M>,
                    __ptx_pc: #rt::Pc,
                    __ptx_warps: &mut [#module::Warp],
                ) -> ::core::result::Result<#rt::Next, ::std::boxed::Box<#rt::Fault>> {
                    Self::step_at::<M, #rt::lanes::Base>(__ptx_x, __ptx_pc, __ptx_warps)
                }
                #[inline(always)]
                fn step_at<M: #rt::Monitor, __PtxLevel: #rt::Level>(
                    __ptx_x: &mut #rt::Ctx<'_, M>,
                    __ptx_pc: #rt::Pc,
                    __ptx_warps: &mut [#module::Warp],
                ) -> ::core::result::Result<#rt::Next, ::std::boxed::Box<#rt::Fault>> {
                    #module::step::<M, __PtxLevel>(__ptx_x, __ptx_pc, __ptx_warps)
                }
            }

            #[allow(dead_code, clippy::all)]
            impl #ident {
                /// The module's PTX text, for ptxas, nvcc or the CUDA driver.
                pub const PTX: &'static str = #text;
                /// The kernel's name in it.
                pub const NAME: &'static str = #name;

                /// The module's PTX text.
                pub fn ptx(&self) -> &'static str {
                    Self::PTX
                }

                /// The kernel's name in the PTX text.
                pub fn name(&self) -> &'static str {
                    Self::NAME
                }

                /// Runs the kernel on the host machine.
                pub fn launch<'a, __PtxMonitor: #rt::Monitor, #(#generics),*>(
                    &self,
                    __ptx_host: &#rt::Host<__PtxMonitor>,
                    __ptx_launch: #rt::Launch,
                    __ptx_args: (#(#types,)*),
                ) -> ::core::result::Result<#rt::Report, #rt::Error> {
                    #rt::dump(Self::NAME, Self::PTX);
                    let (#(#names,)*) = __ptx_args;
                    #rt::launch::launch::<Self, __PtxMonitor>(__ptx_host, __ptx_launch, &mut [#(#args),*])
                }

                /// The kernel as a closure: called with the kernel's arguments, it does what `launch` does. It owns copies of `host` and
                /// `launch`. A pointer or `.u64` without a Rust type is an `Arg`, which slices, vectors, arrays and `u64` convert into.
                pub fn on<__PtxMonitor: #rt::Monitor>(
                    &self,
                    __ptx_host: &#rt::Host<__PtxMonitor>,
                    __ptx_launch: #rt::Launch,
                ) -> impl ::core::ops::Fn(#(#closure),*) -> ::core::result::Result<#rt::Report, #rt::Error>
                + ::core::clone::Clone
                + use<__PtxMonitor> {
                    let __ptx_host = ::core::clone::Clone::clone(__ptx_host);
                    move |#(#names: #closure),*| {
                        Self.launch(&__ptx_host, ::core::clone::Clone::clone(&__ptx_launch), (#(#names,)*))
                    }
                }

                /// Runs the kernel on the host machine with untyped arguments, checked for count, size and alignment.
                pub fn launch_raw<M: #rt::Monitor>(
                    &self,
                    __ptx_host: &#rt::Host<M>,
                    __ptx_launch: #rt::Launch,
                    __ptx_args: &mut [#rt::Arg<'_>],
                ) -> ::core::result::Result<#rt::Report, #rt::Error> {
                    #rt::dump(Self::NAME, Self::PTX);
                    #rt::launch::launch::<Self, M>(__ptx_host, __ptx_launch, __ptx_args)
                }
            }
        };
        [code, item]
    }

    /// How the `i`th parameter is passed.
    pub fn passing(&self, i: usize, p: &Param) -> Passing {
        let rt = RT;
        let align = p.ptr.map(|(_, align)| align.max(1));
        if let Some(tokens) = p.rust_type {
            return self.rust_passing(p, tokens, align);
        }
        let g = format_ident!("__PtxA{i}");
        if align.is_some() {
            let bound = quote!(#g: #rt::launch::IntoBuffer<'a>);
            return Passing::generic(g, bound, quote!(#rt::launch::IntoBuffer::into_buffer(__ptx_a)), align);
        }
        let size = p.size as usize;
        if p.array {
            return Passing::scalar(quote!([u8; #size]));
        }
        Passing::scalar(match p.ty {
            Ty::U64 | Ty::B64 => {
                let bound = quote!(#g: #rt::launch::IntoU64<'a>);
                return Passing::generic(g, bound, quote!(#rt::launch::IntoU64::into_u64(__ptx_a)), None);
            }
            Ty::S64 => quote!(i64),
            Ty::U32 | Ty::B32 => quote!(u32),
            Ty::S32 => quote!(i32),
            Ty::F32 => quote!(f32),
            Ty::F64 => quote!(f64),
            Ty::U16 | Ty::B16 | Ty::F16 | Ty::Bf16 => quote!(u16),
            Ty::S16 => quote!(i16),
            Ty::U8 | Ty::B8 => quote!(u8),
            Ty::S8 => quote!(i8),
            _ => quote!([u8; #size]),
        })
    }

    fn rust_passing(&self, p: &Param, tokens: Span, align: Option<u32>) -> Passing {
        let rt = RT;
        let size = p.size as usize;
        match (self.source.rust_type)(tokens) {
            Some(kind @ (RustType::Slice { .. } | RustType::Reference { .. })) => {
                if p.size != 8 || p.array {
                    self.problem(
                        format!("`{}` is passed as a slice, but a pointer parameter is `.u64`", p.name),
                        tokens,
                    );
                }
                let (mutable, element) = match kind {
                    RustType::Slice { mutable, element } => (mutable, element),
                    other => {
                        self.problem(format!("`{}` has a Rust type that cannot be passed", p.name), tokens);
                        (matches!(other, RustType::Reference { mutable: true }), quote!(u8))
                    }
                };
                let convert = if mutable { quote!(slice_mut) } else { quote!(slice) };
                let ty = if mutable { quote!(&'a mut [#element]) } else { quote!(&'a [#element]) };
                let closure = if mutable { quote!(&mut [#element]) } else { quote!(&[#element]) };
                Passing {
                    ty,
                    closure,
                    generic: None,
                    arg: quote!(#rt::launch::#convert(__ptx_a)),
                    read_only: !mutable,
                    pointer: Some(align.unwrap_or(1)),
                }
            }
            Some(RustType::Value(ty)) => Passing {
                arg: quote!({
                    const _: () = assert!(::core::mem::size_of::<#ty>() == #size, "the Rust type has another size than the PTX parameter");
                    #rt::launch::scalar::<#ty>(__ptx_a)
                }),
                closure: quote!(#ty),
                ty,
                generic: None,
                read_only: false,
                pointer: None,
            },
            None => {
                self.problem(format!("`{}` has no valid Rust type", p.name), tokens);
                Passing::scalar(quote!(u32))
            }
        }
    }

    fn problem(&self, message: String, at: Span) {
        self.source.problems.borrow_mut().push((message, at));
    }
}

impl Passing {
    fn scalar(ty: TokenStream) -> Self {
        let arg = quote!(::ptx_dsl::runtime::launch::scalar::<#ty>(__ptx_a));
        Passing { closure: ty.clone(), ty, generic: None, arg, read_only: false, pointer: None }
    }

    /// What has no Rust type: `launch` takes all that `bound` names, a closure one type.
    fn generic(name: Ident, bound: TokenStream, arg: TokenStream, pointer: Option<u32>) -> Self {
        let (ty, closure) = (name.to_token_stream(), quote!(::ptx_dsl::runtime::Arg<'_>));
        Passing { ty, closure, generic: Some(bound), arg, read_only: false, pointer }
    }
}

fn option(n: Option<u32>) -> TokenStream {
    match n {
        Some(n) => quote!(Some(#n)),
        None => quote!(None),
    }
}

fn dims(dims: Option<[u32; 3]>) -> TokenStream {
    match dims {
        Some([a, b, c]) => quote!(Some([#a, #b, #c])),
        None => quote!(None),
    }
}

fn find(module: &ptx_dsl_isa::hir::Module, index: u32) -> Option<&ptx_dsl_isa::hir::Instr> {
    for f in &module.functions {
        for s in &f.body {
            if let ptx_dsl_isa::hir::Stmt::Instr(i) = s
                && i.index == index
            {
                return Some(i);
            }
        }
    }
    None
}

/// A PTX name as a Rust identifier: keywords raw, and those that cannot be raw with a `_` behind.
pub fn rust_name(name: &str) -> Ident {
    #[rustfmt::skip]
    const KEYWORDS: [&str; 48] = [
        "as", "async", "await", "break", "const", "continue", "dyn", "else", "enum", "extern", "false", "fn", "for", "if", "impl", "in",
        "let", "loop", "match", "mod", "move", "mut", "pub", "ref", "return", "static", "struct", "trait", "true", "type", "unsafe",
        "use", "where", "while", "abstract", "become", "box", "do", "final", "gen", "macro", "override", "priv", "try", "typeof",
        "unsized", "virtual", "yield",
    ];
    let mut clean = String::new();
    super::push_clean(&mut clean, name);
    if clean.is_empty() || clean.starts_with(|c: char| c.is_ascii_digit()) || clean == "_" {
        clean.insert(0, '_');
    }
    match clean.as_str() {
        "self" | "Self" | "super" | "crate" => format_ident!("{clean}_"),
        word if KEYWORDS.contains(&word) => Ident::new_raw(word, proc_macro2::Span::call_site()),
        _ => format_ident!("{clean}"),
    }
}
