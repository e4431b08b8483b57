//! `call` and `ret`.
//!
//! The registers of a function are fields of the warp and its variables have fixed places in local memory, so there is one activation
//! of it per lane, and the return address is a number per lane. Recursive functions have more: a call pushes the registers of a
//! recursive caller to a stack and moves the frame of local memory, and the region that it returns to undoes that.

use super::Emitter;
use super::argument::Argument;
use crate::names::{RT, int};
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_image::frames::STACK;
use ptx_dsl_image::instr::{home, list_of, variable, words};
use ptx_dsl_image::region::graph::Callee;
use ptx_dsl_image::region::graph::region_number;
use ptx_dsl_isa::hir::{Arg, FUNCTIONS, FuncId, Instr, Operand, Param, VarId};
use ptx_dsl_isa::image::Frame;
use ptx_dsl_isa::isa::Role;
use quote::{format_ident, quote};
use std::collections::BTreeSet;

impl Emitter<'_> {
    /// The field with the return addresses of a function.
    pub fn return_field(&mut self, f: FuncId) -> Ident {
        let name = format_ident!("f{}back", f.0);
        self.fields.insert(name.to_string(), (16, 1));
        name
    }

    /// Does a call save the registers of `f`, because `f` may be entered again before it returns?
    fn nests(&self, f: FuncId, callee: FuncId) -> bool {
        self.kernel.recursive.contains(&f.0) && self.kernel.recursive.contains(&callee.0)
    }

    /// Passes the arguments and goes to the callee. An indirect call does so for each function that it may reach.
    pub fn call(&mut self, f: FuncId, instr: &Instr, callees: &[Callee]) -> TokenStream {
        let rt = RT;
        let site = self.sites.site(instr);
        let is_pointer = |a: &&Arg| matches!(a.value, Operand::Reg(..)) && matches!(a.role, Role::Name | Role::Src);
        let pointer = instr.operands.iter().rfind(is_pointer).map(|a| &a.value);
        let masks: Vec<Ident> = (0..callees.len()).map(|i| format_ident!("m{}", i)).collect();
        let mut out = quote!(x.site = #site;);
        // All masks first: passing arguments to the function itself changes its registers.
        for (mask, Callee { func: callee, .. }) in masks.iter().zip(callees) {
            let lanes = match &pointer {
                Some(p) => {
                    let value = self.read(f, p, None, false);
                    let address = FUNCTIONS + u64::from(callee.0);
                    quote!(m & #rt::mask_by(|l| (#(#value)*) == #address))
                }
                None => quote!(m),
            };
            out.extend(quote!(let #mask: u32 = #lanes;));
        }
        if pointer.is_some() {
            out.extend(quote!(#rt::call_in_range(x, m & !(0 #(| #masks)*))?;));
        }
        for (mask, Callee { func: callee, start, back }) in masks.iter().zip(callees) {
            let field = self.return_field(*callee);
            self.calls.insert((*callee, *back, site));
            let (back, start) = (region_number(*back), region_number(*start));
            let pass = self.pass(f, instr, *callee);
            out.extend(quote! {{
                let mc = #mask;
                if mc != 0 {
                    x.mask = mc;
                    #pass
                    #rt::lanes(mc, |l| w.#field[l] = #back);
                    x.mask = m;
                }
                x.fragments().fork(mc, #start);
            }});
        }
        out
    }

    /// Reads all arguments, makes the frame, writes all parameters.
    fn pass(&mut self, f: FuncId, instr: &Instr, callee: FuncId) -> TokenStream {
        let module = self.kernel.module;
        let params = &module.functions[callee.0 as usize].params;
        let args = list_of(instr, "args");
        let (mut read, mut write) = (TokenStream::new(), TokenStream::new());
        for (i, (param, arg)) in params.iter().zip(args).enumerate() {
            let Some(to) = home(param) else { continue };
            read.extend(self.load_words(f, arg, param, i));
            write.extend(self.store_words(callee, &to, param, i, quote!(mc)));
        }
        let save = self.nests(f, callee).then(|| {
            let save = format_ident!("save_f{}", f.0);
            quote!(w.#save(mc);)
        });
        let frame = self.kernel.frames.of(callee.0).map(|Frame { moved, size }| {
            let (rt, limit) = (RT, u64::from(STACK));
            quote!(#rt::nest(x, &mut w.frame, &mut w.used, &mut w.stack, (#moved, #size), #limit)?;)
        });
        quote!(#read #save #frame #write)
    }

    /// Fetches the results of a call in the region that it comes back to.
    pub fn call_results(&mut self, f: FuncId, instr: &Instr, callee: FuncId) -> TokenStream {
        let module = self.kernel.module;
        let rets = &module.functions[callee.0 as usize].rets;
        let wanted = list_of(instr, "ret");
        let (mut read, mut write) = (TokenStream::new(), TokenStream::new());
        for (i, (param, to)) in rets.iter().zip(wanted).enumerate() {
            let Some(from) = home(param) else { continue };
            read.extend(self.load_words(callee, &from, param, i));
            write.extend(self.store_words(f, to, param, i, quote!(m)));
        }
        let restore = self.nests(f, callee).then(|| {
            let restore = format_ident!("restore_f{}", f.0);
            quote!(w.#restore(m);)
        });
        let frame = self.kernel.frames.of(callee.0).map(|Frame { size, .. }| {
            let rt = RT;
            quote!(#rt::unnest(&mut w.frame, &mut w.used, &mut w.stack, #size, m);)
        });
        quote!(#read #frame #restore #write)
    }

    /// Loads an argument or a result as `v{i}`: eight bytes of each lane at a time.
    fn load_words(&mut self, f: FuncId, from: &Operand, param: &Param, i: usize) -> TokenStream {
        let rt = RT;
        let v = format_ident!("v{}", i);
        match variable(from) {
            Some(var) => {
                let (frame, at, size) = (self.frame_of(f, var), self.kernel.var_address(var, 0), param.size);
                quote!(let #v = #rt::read_param(x, #frame, #at, #size)?;)
            }
            None => {
                let arguments = self.arguments(f, from, Some(param.ty), false).into_iter();
                let values = arguments.flat_map(Argument::into_lanes);
                quote!(let #v: [#rt::Lanes; _] = [#(#values),*];)
            }
        }
    }

    /// Stores `v{i}` to a parameter or a result.
    fn store_words(&mut self, f: FuncId, to: &Operand, param: &Param, i: usize, mask: TokenStream) -> TokenStream {
        let rt = RT;
        let v = format_ident!("v{}", i);
        match variable(to) {
            Some(var) => {
                let (frame, at, size) = (self.frame_of(f, var), self.kernel.var_address(var, 0), param.size);
                quote!(#rt::write_param(x, #frame, #at, #size, &#v)?;)
            }
            None => {
                let words = words(Some(param.ty)) * param.lanes as usize;
                let values: Vec<TokenStream> = (0..words).map(|n| quote!(#v[#n])).collect();
                self.write(f, to, &mut values.iter(), &mask)
            }
        }
    }

    /// The frame that the address of a variable is relative to, as an `Option`.
    fn frame_of(&self, f: FuncId, var: VarId) -> TokenStream {
        if self.kernel.is_framed(f, var) { quote!(Some(&w.frame)) } else { quote!(None) }
    }

    /// `save_f3` and `restore_f3` of each recursive function: they push its registers to the stack of each lane, and pop them.
    pub fn frames(&self) -> TokenStream {
        let mut methods = TokenStream::new();
        for f in &self.kernel.recursive {
            methods.extend(self.frame_methods(*f));
        }
        if methods.is_empty() { methods } else { quote!(impl Warp { #methods }) }
    }

    /// A report of a fault reads these: the methods of `CompiledKernel` about calls, of which `module` has the code.
    pub fn call_methods(&self) -> TokenStream {
        if self.calls.is_empty() {
            return TokenStream::new();
        }
        let address = |f: u32| FUNCTIONS + u64::from(f);
        let functions: BTreeSet<u32> = self.calls.iter().map(|(f, _, _)| f.0).collect();
        let returns = functions.iter().map(|f| {
            let (address, field) = (address(*f), format_ident!("f{f}back"));
            quote!(#address => ::core::option::Option::Some(u64::from(w.#field[lane])),)
        });
        let calls = self.calls.iter().map(|(f, back, site)| {
            let (address, back) = (address(f.0), *back as u64);
            quote!((#address, #back) => ::core::option::Option::Some(#site),)
        });
        let saves = self.kernel.recursive.iter().filter_map(|f| {
            let (mut count, mut own) = (0usize, None);
            let back = format!("f{f}back");
            for (name, bits) in self.registers_of(*f) {
                own = own.or((*name == back).then_some(count));
                count += if bits == 128 { 2 } else { 1 };
            }
            let (address, own) = (address(*f), own?);
            Some(quote!(#address => ::core::option::Option::Some((#count, #own)),))
        });
        let saved = if self.kernel.recursive.is_empty() { quote!(&[]) } else { quote!(&w.stack[lane]) };
        quote! {
            pub fn returns_to(w: &Warp, function: u64, lane: usize) -> ::core::option::Option<u64> {
                match function { #(#returns)* _ => ::core::option::Option::None }
            }
            pub fn call_of(function: u64, back: u64) -> ::core::option::Option<u32> {
                match (function, back) { #(#calls)* _ => ::core::option::Option::None }
            }
            pub fn saved(w: &Warp, lane: usize) -> &[u64] {
                #saved
            }
            pub fn saves(function: u64) -> ::core::option::Option<(usize, usize)> {
                match function { #(#saves)* _ => ::core::option::Option::None }
            }
        }
    }

    /// The registers of a function in the warp's state, in their order, with their width.
    fn registers_of(&self, f: u32) -> impl Iterator<Item = (&String, u32)> {
        let prefix = format!("f{f}");
        self.fields.iter().filter_map(move |(name, (bits, _))| {
            let rest = name.strip_prefix(&prefix)?;
            (!rest.starts_with(|c: char| c.is_ascii_digit())).then_some((name, *bits))
        })
    }

    fn frame_methods(&self, f: u32) -> TokenStream {
        let (rt, prefix) = (RT, format!("f{f}"));
        let (mut push, mut pops) = (TokenStream::new(), Vec::new());
        for (name, bits) in self.registers_of(f) {
            let (to_stack, from_stack) = on_stack(&format_ident!("{name}"), bits);
            push.extend(to_stack);
            pops.push(from_stack);
        }
        pops.reverse();
        let (save, restore) = (format_ident!("save_{prefix}"), format_ident!("restore_{prefix}"));
        quote! {
            fn #save(&mut self, m: u32) {
                #rt::lanes(m, |l| { let s = &mut self.stack[l]; #push });
            }
            fn #restore(&mut self, m: u32) {
                #rt::lanes(m, |l| { let s = &mut self.stack[l]; #(#pops)* });
            }
        }
    }
}

/// Statements that push a register of lane `l` to its stack `s`, and that pop it.
fn on_stack(name: &Ident, bits: u32) -> (TokenStream, TokenStream) {
    let next = quote!(s.pop().unwrap_or_default());
    match bits {
        1 => (
            quote!(s.push((self.#name >> l & 1) as u64);),
            quote!(self.#name = self.#name & !(1 << l) | ((#next & 1) as u32) << l;),
        ),
        128 => (
            quote!(s.push(self.#name[l] as u64); s.push((self.#name[l] >> 64) as u64);),
            quote!(self.#name[l] = (#next as u128) << 64; self.#name[l] |= #next as u128;),
        ),
        _ => {
            let ty = int(bits, false);
            (quote!(s.push(self.#name[l] as u64);), quote!(self.#name[l] = #next as #ty;))
        }
    }
}
