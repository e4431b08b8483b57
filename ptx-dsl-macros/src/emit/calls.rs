//! `call` and `ret`. Each function has one activation per lane (recursion is refused), so its registers and parameters are
//! fields and local memory of their own, and the way back is a number kept per lane.

use super::regions::Callee;
use super::step::number;
use super::{Emit, FUNCTION_TAG, rt};
use proc_macro2::{Ident, Literal, TokenStream};
use ptx_dsl_syntax::hir::{Base, FuncId, Instr, Operand, Param, VarId};
use ptx_dsl_syntax::isa::Role;
use quote::{format_ident, quote};

impl Emit<'_> {
    /// Where a function's lanes go back to.
    pub fn return_field(&mut self, f: FuncId) -> Ident {
        let name = format_ident!("f{}back", f.0);
        self.fields.insert(name.to_string(), 16);
        name
    }

    /// Passes the arguments and goes to the callee; an indirect call does so for each function it may reach.
    pub fn call(&mut self, f: FuncId, instr: &Instr, callees: &[Callee]) -> TokenStream {
        let rt = rt();
        let site = Literal::u32_suffixed(self.site(instr));
        let pointer = instr.operands.iter().find_map(|a| match (&a.value, a.role) {
            (Operand::Reg(..), Role::Name | Role::Src) => Some(a.value.clone()),
            _ => None,
        });
        let mut out = quote!(x.site = #site;);
        let mut known = quote!();
        for Callee { func: callee, start, back } in callees {
            let mask = match &pointer {
                Some(p) => {
                    let value = self.read(f, p, None).remove(0);
                    let tag = Literal::u64_suffixed(FUNCTION_TAG | u64::from(callee.0));
                    quote!(m & #rt::mask_by(|l| (#value) == #tag))
                }
                None => quote!(m),
            };
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
                x.branch(mc, #start);
            }});
            known.extend(quote!(| #mask));
        }
        if pointer.is_some() {
            out.extend(quote!(#rt::call_in_range(x, m & !(0 #known))?;));
        }
        out
    }

    fn pass(&mut self, f: FuncId, instr: &Instr, callee: FuncId) -> TokenStream {
        let params = self.module.functions[callee.0 as usize].params.clone();
        let args = list(instr, false);
        let mut out = TokenStream::new();
        for (param, arg) in params.iter().zip(&args) {
            out.extend(self.hand_over(f, arg, callee, param));
        }
        out
    }

    fn hand_over(&mut self, f: FuncId, arg: &Operand, callee: FuncId, param: &Param) -> TokenStream {
        let rt = rt();
        let size = Literal::u32_suffixed(param.size);
        match (variable(arg), param.var, param.reg) {
            (Some(from), Some(to), _) => {
                let (from, to) = (self.place(from), self.place(to));
                quote!(#rt::copy_param(x, #from, #to, #size)?;)
            }
            (Some(from), None, Some(reg)) => {
                let from = self.place(from);
                let store = self.write(callee, &Operand::Reg(reg, 0), &mut [quote!(v[l])].into_iter());
                quote!(let v = #rt::read_param(x, #from, #size)?; #rt::lanes(mc, |l| { #store });)
            }
            (None, Some(to), _) => {
                let to = self.place(to);
                let value = self.read(f, arg, Some(param.ty)).remove(0);
                quote!(let v = #rt::from_lanes(|l| #value); #rt::write_param(x, #to, #size, &v)?;)
            }
            (None, None, Some(reg)) => {
                let value = self.read(f, arg, Some(param.ty)).remove(0);
                let store = self.write(callee, &Operand::Reg(reg, 0), &mut [quote!(v)].into_iter());
                quote!(#rt::lanes(mc, |l| { let v = #value; #store });)
            }
            (_, None, None) => quote!(),
        }
    }

    /// Fetches the results of a call in the region that it comes back to.
    pub fn results(&mut self, f: FuncId, instr: &Instr, callee: FuncId) -> TokenStream {
        let rt = rt();
        let rets = self.module.functions[callee.0 as usize].rets.clone();
        let wanted = list(instr, true);
        let mut out = TokenStream::new();
        for (param, to) in rets.iter().zip(&wanted) {
            let size = Literal::u32_suffixed(param.size);
            out.extend(match (param.var, param.reg, variable(to)) {
                (Some(from), _, Some(to)) => {
                    let (from, to) = (self.place(from), self.place(to));
                    quote!(#rt::copy_param(x, #from, #to, #size)?;)
                }
                (Some(from), _, None) => {
                    let from = self.place(from);
                    let store = self.write(f, to, &mut [quote!(v[l])].into_iter());
                    quote!({ let v = #rt::read_param(x, #from, #size)?; #rt::lanes(m, |l| { #store }); })
                }
                (None, Some(reg), Some(to)) => {
                    let to = self.place(to);
                    let value = self.read(callee, &Operand::Reg(reg, 0), Some(param.ty)).remove(0);
                    quote!({ let v = #rt::from_lanes(|l| #value); #rt::write_param(x, #to, #size, &v)?; })
                }
                (None, Some(reg), None) => {
                    let value = self.read(callee, &Operand::Reg(reg, 0), Some(param.ty)).remove(0);
                    let store = self.write(f, to, &mut [quote!(v)].into_iter());
                    quote!(#rt::lanes(m, |l| { let v = #value; #store });)
                }
                (None, None, _) => quote!(),
            });
        }
        out
    }

    fn place(&self, var: VarId) -> Literal {
        Literal::u64_suffixed(self.var_address(var, 0))
    }
}

/// The parameter list (or the results) of a call.
fn list(instr: &Instr, results: bool) -> Vec<Operand> {
    match instr.operand(if results { "ret" } else { "args" }).map(|a| &a.value) {
        Some(Operand::List(list)) => list.clone(),
        _ => Vec::new(),
    }
}

fn variable(o: &Operand) -> Option<VarId> {
    match o {
        Operand::VarAddr(v, 0) | Operand::Address(Base::Var(v), 0) => Some(*v),
        _ => None,
    }
}
