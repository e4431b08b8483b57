//! `call` and `ret`. The registers of a function are fields of the warp and its variables lie at a place of their own in
//! local memory, so there is one activation of it per lane, and the way back is a number kept per lane. Functions that call
//! each other in a circle have more: such a call puts the caller's registers on a stack and moves the frame of local memory
//! on, and the region it comes back to undoes that.

use super::native::int;
use super::regions::Callee;
use super::step::number;
use super::{Emit, FUNCTION_TAG, RT};
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_isa::hir::{Arg, Base, FuncId, Instr, Operand, Param, VarId};
use ptx_dsl_isa::isa::Role;
use quote::{format_ident, quote};

/// Bytes of stack a thread has for recursive calls: for frames of local memory, and once more for registers.
pub const STACK: u32 = 1 << 16;

impl Emit<'_> {
    /// Where a function's lanes go back to.
    pub fn return_field(&mut self, f: FuncId) -> Ident {
        let name = format_ident!("f{}back", f.0);
        self.fields.insert(name.to_string(), (16, 1));
        name
    }

    /// Does a call from `f` to `callee` need a new frame, since `f` may run again before it returns?
    fn nests(&self, f: FuncId, callee: FuncId) -> bool {
        self.recursive.contains(&f.0) && self.recursive.contains(&callee.0)
    }

    /// Passes the arguments and goes to the callee; an indirect call does so for each function it may reach.
    pub fn call(&mut self, f: FuncId, instr: &Instr, callees: &[Callee]) -> TokenStream {
        let rt = RT;
        let site = self.site(instr);
        let mut pointer = None;
        for a in &instr.operands {
            if matches!(a.value, Operand::Reg(..)) && matches!(a.role, Role::Name | Role::Src) {
                pointer = Some(&a.value);
            }
        }
        let masks = (0..callees.len()).map(|i| format_ident!("m{}", i)).collect::<Vec<_>>();
        let mut out = quote!(x.site = #site;);
        // All masks first: passing arguments to the function itself changes its registers.
        for (mask, Callee { func: callee, .. }) in masks.iter().zip(callees) {
            let lanes = match &pointer {
                Some(p) => {
                    let value = self.read(f, p, None);
                    let tag = FUNCTION_TAG | u64::from(callee.0);
                    quote!(m & #rt::mask_by(|l| (#(#value)*) == #tag))
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
            let (back, start) = (number(*back), number(*start));
            let pass = self.pass(f, instr, *callee);
            out.extend(quote! {{
                let mc = #mask;
                if mc != 0 {
                    x.mask = mc;
                    #pass
                    #rt::lanes(mc, |l| w.#field[l] = #back);
                    x.mask = m;
                }
                x.fork(mc, #start);
            }});
        }
        out
    }

    /// Reads all arguments, makes the frame, writes all parameters.
    fn pass(&mut self, f: FuncId, instr: &Instr, callee: FuncId) -> TokenStream {
        let module = self.module;
        let params = &module.functions[callee.0 as usize].params;
        let args = list(instr, false);
        let (mut read, mut write) = (TokenStream::new(), TokenStream::new());
        for (i, (param, arg)) in params.iter().zip(args).enumerate() {
            let Some(to) = home(param) else { continue };
            read.extend(self.taken(f, arg, param, i));
            write.extend(self.given(callee, &to, param, i, quote!(mc)));
        }
        let frame = if self.nests(f, callee) {
            let (rt, save) = (RT, format_ident!("save_f{}", f.0));
            let (size, limit) = (self.frame, u64::from(STACK));
            quote!(w.#save(mc); #rt::nest(x, &mut w.frame, &w.stack, #size, #limit)?;)
        } else {
            quote!()
        };
        quote!(#read #frame #write)
    }

    /// Fetches the results of a call in the region that it comes back to.
    pub fn results(&mut self, f: FuncId, instr: &Instr, callee: FuncId) -> TokenStream {
        let module = self.module;
        let rets = &module.functions[callee.0 as usize].rets;
        let wanted = list(instr, true);
        let (mut read, mut write) = (TokenStream::new(), TokenStream::new());
        for (i, (param, to)) in rets.iter().zip(wanted).enumerate() {
            let Some(from) = home(param) else { continue };
            read.extend(self.taken(callee, &from, param, i));
            write.extend(self.given(f, to, param, i, quote!(m)));
        }
        let frame = if self.nests(f, callee) {
            let (rt, restore) = (RT, format_ident!("restore_f{}", f.0));
            let size = self.frame;
            quote!(#rt::unnest(&mut w.frame, #size, m); w.#restore(m);)
        } else {
            quote!()
        };
        quote!(#read #frame #write)
    }

    /// The value of an argument or a result, as `v{i}`: eight bytes of each lane at a time.
    fn taken(&mut self, f: FuncId, from: &Operand, param: &Param, i: usize) -> TokenStream {
        let rt = RT;
        let v = format_ident!("v{}", i);
        match variable(from) {
            Some(var) => {
                let (frame, at, size) = (self.frame_of(f, var), self.var_address(var, 0), param.size);
                quote!(let #v = #rt::read_param(x, #frame, #at, #size)?;)
            }
            None => {
                let (mut given, mut values) = (Vec::new(), Vec::new());
                self.whole(f, from, Some(param.ty), &mut given);
                for g in given {
                    g.lanes(&mut values);
                }
                quote!(let #v: [#rt::Lanes; _] = [#(#values),*];)
            }
        }
    }

    /// Stores `v{i}` as a parameter or a result.
    fn given(&mut self, f: FuncId, to: &Operand, param: &Param, i: usize, mask: TokenStream) -> TokenStream {
        let rt = RT;
        let v = format_ident!("v{}", i);
        match variable(to) {
            Some(var) => {
                let (frame, at, size) = (self.frame_of(f, var), self.var_address(var, 0), param.size);
                quote!(#rt::write_param(x, #frame, #at, #size, &#v)?;)
            }
            None => {
                let places = super::values::places(Some(param.ty)) * param.lanes as usize;
                let values = (0..places).map(|n| quote!(#v[#n])).collect::<Vec<_>>();
                self.put(f, to, &mut values.iter(), &mask)
            }
        }
    }

    /// What the addresses of a variable of `f` begin at in each lane, if it moves with a frame.
    fn frame_of(&self, f: FuncId, var: VarId) -> TokenStream {
        if self.moves_with_frame(f, var) { quote!(Some(&w.frame)) } else { quote!(None) }
    }

    /// `save_f3` and `restore_f3` of each function that calls itself: its registers onto the stack of each lane, and back.
    pub fn frames(&self) -> TokenStream {
        let mut methods = TokenStream::new();
        for f in &self.recursive {
            methods.extend(self.frame_methods(*f));
        }
        if methods.is_empty() { methods } else { quote!(impl Warp { #methods }) }
    }

    fn frame_methods(&self, f: u32) -> TokenStream {
        let (rt, prefix) = (RT, format!("f{f}"));
        let (mut push, mut pops) = (TokenStream::new(), Vec::new());
        for (name, (bits, _)) in &self.fields {
            if let Some(rest) = name.strip_prefix(&prefix)
                && !rest.starts_with(|c: char| c.is_ascii_digit())
            {
                let (to_stack, from_stack) = on_stack(&format_ident!("{name}"), *bits);
                push.extend(to_stack);
                pops.push(from_stack);
            }
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

/// A register of the lane `l` onto its stack `s`, and back.
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

/// The parameter list (or the results) of a call.
fn list(instr: &Instr, results: bool) -> &[Operand] {
    match instr.operand(if results { "ret" } else { "args" }) {
        Some(Arg { value: Operand::List(list), .. }) => list,
        _ => &[],
    }
}

/// Where a function has a parameter or a result: a variable or a register.
fn home(param: &Param) -> Option<Operand> {
    let register = |r| match param.lanes {
        1 => Operand::Reg(r, 0),
        n => Operand::Vector((0..n).map(|lane| Operand::Reg(r, lane)).collect::<Vec<_>>()),
    };
    param.var.map(|v| Operand::VarAddr(v, 0)).or(param.reg.map(register))
}

fn variable(o: &Operand) -> Option<VarId> {
    match o {
        Operand::VarAddr(v, 0) | Operand::Address(Base::Var(v), 0) => Some(*v),
        _ => None,
    }
}
