//! The `step` function: one arm a region.

use super::regions::{End, Program, Region};
use super::values::names_space;
use super::{Emit, rt};
use proc_macro2::{Ident, Literal, TokenStream};
use ptx_dsl_syntax::hir::{Arg, FuncId, Instr, Operand};
use ptx_dsl_syntax::isa::{Host, Role};
use quote::{format_ident, quote};

impl Emit<'_> {
    /// The body of `Kernel::step`.
    pub fn step(&mut self, program: &Program<'_>) -> TokenStream {
        let rt = rt();
        let arms: Vec<_> = program.regions.iter().enumerate().map(|(pc, r)| self.arm(program, pc, r)).collect();
        quote! {
            loop {
                x.turn(pc)?;
                pc = match pc {
                    #(#arms)*
                    _ => return Ok(#rt::Next::Exit),
                };
                if x.diverged() {
                    return Ok(#rt::Next::Go(pc));
                }
            }
        }
    }

    fn arm(&mut self, program: &Program<'_>, pc: usize, r: &Region<'_>) -> TokenStream {
        let rt = rt();
        let f = r.func;
        let mut body = TokenStream::new();
        if let Some((call, callee)) = &r.results {
            body.extend(self.results(f, call, *callee));
        }
        for instr in &r.body {
            body.extend(self.instruction(f, instr));
        }
        let here = number(pc);
        let each = |body: TokenStream| {
            quote! {
                for k in 0..ws.len() {
                    let w = &mut ws[k];
                    let m = x.warp(k);
                    #body
                }
            }
        };
        let parted = quote!(match x.go() { Some(pc) => pc, None => return Ok(#rt::Next::Split) });
        let end = match &r.end {
            End::Goto(t) => {
                let t = number(*t);
                let body = if body.is_empty() { body } else { each(body) };
                quote!(#body #t)
            }
            End::Exit => {
                let body = if body.is_empty() { body } else { each(body) };
                quote!(#body return Ok(#rt::Next::Exit);)
            }
            End::Branch { pred, taken, fall } => {
                let (taken, fall) = (number(*taken), number(*fall));
                let mask = self.pred_mask(f, pred);
                let body =
                    each(quote!(#body let taken = m & #mask; x.branch(taken, #taken); x.branch(m & !taken, #fall);));
                quote!(#body #parted)
            }
            End::Switch { instr, targets } => {
                let index = self.read(f, &instr.operands[0].value, instr.operands[0].ty).remove(0);
                let site = number32(self.site(instr));
                let arms = targets.iter().enumerate().map(|(i, t)| {
                    let (i, t) = (Literal::u64_suffixed(i as u64), number(*t));
                    quote!(x.branch(m & #rt::mask_by(|l| (#index) == #i), #t);)
                });
                let count = Literal::u64_suffixed(targets.len() as u64);
                let outside = quote! {
                    x.site = #site;
                    #rt::switch_in_range(x, m & #rt::mask_by(|l| (#index) >= #count), #count)?;
                };
                let body = each(quote!(#body #outside #(#arms)*));
                quote!(#body #parted)
            }
            End::Block { instr, next } => {
                let next = number(*next);
                let call = self.warp_call(f, instr);
                let (before, call, after) = (call.before, call.call, call.after);
                let body = each(quote! {
                    #body #before
                    let flow = #call?;
                    if let #rt::Flow::Next = flow { #rt::lanes(m, |l| { #after }); }
                    x.flow(flow, #here, #next);
                });
                quote!(#body #parted)
            }
            End::Call { instr, callees } => {
                let call = self.call(f, instr, callees);
                let body = each(quote!(#body #call));
                quote!(#body #parted)
            }
            End::Return => {
                let field = self.return_field(f);
                let sites = program.returns.get(&f).into_iter().flatten().map(|s| {
                    let s = number(*s);
                    quote!(x.branch(m & #rt::mask_by(|l| w.#field[l] == #s), #s);)
                });
                let body = each(quote!(#body #(#sites)*));
                quote!(#body #parted)
            }
        };
        quote!(#here => { #end })
    }

    /// One instruction that neither waits nor jumps.
    fn instruction(&mut self, f: FuncId, instr: &Instr) -> TokenStream {
        let rt = rt();
        let (mask, setup) = match &instr.pred {
            Some(pred) => {
                let p = self.pred_mask(f, pred);
                (quote!(mp), quote!(let mp = m & #p;))
            }
            None => (quote!(m), quote!()),
        };
        match instr.entry.host {
            Host::Lane => {
                let body = self.lane_call(f, instr);
                quote!({ #setup #rt::lanes(#mask, |l| { #body }); })
            }
            Host::Control => {
                let body = self.mov(f, instr);
                quote!({ #setup #rt::lanes(#mask, |l| { #body }); })
            }
            Host::Warp => {
                let call = self.warp_call(f, instr);
                let (before, call, after) = (call.before, call.call, call.after);
                let after = if after.is_empty() { after } else { quote!(#rt::lanes(#mask, |l| { #after });) };
                if instr.pred.is_some() {
                    quote!({ #setup if mp != 0 { x.mask = mp; #before #call?; #after x.mask = m; } })
                } else {
                    quote!({ #before #call?; #after })
                }
            }
            Host::Block | Host::NotYet => quote!(),
        }
    }

    /// `let [d] = f(Q, [a, b]); w.d = d;`
    fn lane_call(&mut self, f: FuncId, instr: &Instr) -> TokenStream {
        let q = self.q(instr);
        let function = self.function(instr);
        let mut sources = Vec::new();
        for a in instr.operands.iter().filter(|a| !written(a)) {
            sources.extend(self.read(f, &a.value, a.ty));
        }
        let carry = format_ident!("f{}carry", f.0);
        let (reads, writes) = carry_use(instr);
        if reads {
            self.fields.insert(carry.to_string(), 1);
            sources.push(quote!((w.#carry[l] as u64)));
        }
        let mut names: Vec<Ident> = Vec::new();
        let mut stores = TokenStream::new();
        for a in instr.operands.iter().filter(|a| written(a)) {
            let width = self.width(a);
            let fresh: Vec<_> = (0..width).map(|i| format_ident!("d{}", names.len() + i)).collect();
            let mut values = fresh.iter().map(|n| quote!(#n));
            stores.extend(self.write(f, &a.value, &mut values));
            names.extend(fresh);
        }
        let carries = function_carries(instr);
        let carry_store = if writes {
            self.fields.insert(carry.to_string(), 1);
            quote!(w.#carry[l] = cc & 1 != 0;)
        } else {
            quote!()
        };
        let pattern = if carries {
            if writes { quote!([#(#names,)* cc]) } else { quote!([#(#names,)* _]) }
        } else {
            quote!([#(#names,)* ..])
        };
        quote!(let #pattern = #function(#q, [#(#sources),*]); #stores #carry_store)
    }

    /// `mov`: the language's own copy, pack and unpack.
    fn mov(&mut self, f: FuncId, instr: &Instr) -> TokenStream {
        let [d, a, ..] = instr.operands.as_slice() else { return quote!() };
        let whole = instr.types.first().map_or(64, |t| t.bits().max(1));
        let parts = |o: &Operand| if let Operand::Vector(v) = o { Some(v.len().max(1)) } else { None };
        // A vector on one side only: its elements share the width of the other side, lowest first.
        let source = match (parts(&a.value), parts(&d.value)) {
            (Some(n), None) => {
                let bits = whole / n as u32;
                let values = self.read(f, &a.value, ty_of_bits(bits));
                let shifts = (0..).map(|i| Literal::u32_suffixed(i * bits));
                quote!(let v: u128 = 0 #(| ((#values) as u128) << #shifts)*;)
            }
            _ => {
                let values = self.read(f, &a.value, a.ty.or(instr.types.first().copied()));
                match values.as_slice() {
                    [low, high] => quote!(let v: u128 = (#low) as u128 | ((#high) as u128) << 64;),
                    [one] => quote!(let v: u128 = (#one) as u128;),
                    many => {
                        let shifts =
                            (0..many.len()).map(|i| Literal::u32_suffixed(i as u32 * (whole / many.len() as u32)));
                        quote!(let v: u128 = 0 #(| ((#many) as u128) << #shifts)*;)
                    }
                }
            }
        };
        let store = match parts(&d.value) {
            Some(n) => {
                let bits = whole / n as u32;
                let mask = Literal::u128_suffixed(if bits >= 128 { u128::MAX } else { (1 << bits) - 1 });
                let mut values = (0..n).map(|i| {
                    let shift = Literal::u32_suffixed(i as u32 * bits);
                    quote!(((v >> #shift) & #mask) as u64)
                });
                self.write(f, &d.value, &mut values)
            }
            None => {
                let mut values = [quote!(v as u64), quote!((v >> 64) as u64)].into_iter();
                self.write(f, &d.value, &mut values)
            }
        };
        quote!(#source #store)
    }

    fn warp_call(&mut self, f: FuncId, instr: &Instr) -> WarpCall {
        let rt = rt();
        let q = self.q(instr);
        let function = self.function(instr);
        let site = number32(self.site(instr));
        self.generic = !names_space(instr);
        let mut before = TokenStream::new();
        let mut sources: Vec<Ident> = Vec::new();
        for a in instr.operands.iter().filter(|a| !written(a)) {
            for value in self.read(f, &a.value, a.ty) {
                let name = format_ident!("s{}", sources.len());
                before.extend(quote!(let #name: #rt::Lanes = #rt::from_lanes(|l| #value);));
                sources.push(name);
            }
        }
        let mut after = TokenStream::new();
        let mut dests: Vec<Ident> = Vec::new();
        for a in instr.operands.iter().filter(|a| written(a)) {
            let names: Vec<_> = (0..self.width(a)).map(|i| format_ident!("d{}", dests.len() + i)).collect();
            before.extend(quote!(#(let mut #names: #rt::Lanes = [0; 32];)*));
            let mut values = names.iter().map(|n| quote!(#n[l]));
            after.extend(self.write(f, &a.value, &mut values));
            dests.extend(names);
        }
        // A missing `|p` still has its place.
        for _ in dests.len()..named_destinations(instr, dests.len()) {
            let name = format_ident!("d{}", dests.len());
            before.extend(quote!(let mut #name: #rt::Lanes = [0; 32];));
            dests.push(name);
        }
        before.extend(quote!(x.site = #site;));
        let call = quote!(#function(x, #q, [#(&#sources),*], [#(&mut #dests),*]));
        WarpCall { before, call, after }
    }
}

/// A destination: also the `_` that a form spells out itself.
fn written(arg: &Arg) -> bool {
    arg.role == Role::Dst || matches!(arg.value, Operand::Sink)
}

struct WarpCall {
    before: TokenStream,
    call: TokenStream,
    after: TokenStream,
}

/// Does it read the condition code, does it write it?
fn carry_use(instr: &Instr) -> (bool, bool) {
    let o = instr.entry.opcode;
    (matches!(o, "addc" | "subc" | "madc"), o.ends_with(".cc") || instr.has(".cc"))
}

/// Do the host's results end in a carry?
fn function_carries(instr: &Instr) -> bool {
    let (reads, writes) = carry_use(instr);
    reads || writes
}

/// `shfl.sync d[|p]` and friends have two destinations even if one is written.
fn named_destinations(instr: &Instr, given: usize) -> usize {
    let two = matches!(instr.entry.opcode, "shfl.sync" | "shfl" | "elect.sync")
        || (instr.entry.opcode == "match" && instr.has(".all"))
        || instr.entry.opcode == "match.all.sync";
    if two { 2 } else { given }
}

fn ty_of_bits(bits: u32) -> Option<ptx_dsl_syntax::ty::Ty> {
    use ptx_dsl_syntax::ty::Ty;
    Some(match bits {
        8 => Ty::B8,
        16 => Ty::B16,
        32 => Ty::B32,
        _ => Ty::B64,
    })
}

/// A region's number.
pub fn number(pc: usize) -> Literal {
    Literal::u16_suffixed(u16::try_from(pc).unwrap_or(u16::MAX))
}

fn number32(n: u32) -> Literal {
    Literal::u32_suffixed(n)
}
