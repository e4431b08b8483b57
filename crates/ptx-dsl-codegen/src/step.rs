//! The `step` function, for all warps of a cohort, and the one that runs the regions of a warp until it waits or ends: one
//! arm a region.

use super::block::Block;
use super::mentions::{Key, mentions, mentions_of_region};
use super::regions::{End, Item, Program, Region, cycle, ending, falling, returns, successors};
use super::{Emit, RT};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use std::collections::BTreeSet;

impl<'m> Emit<'m> {
    /// The bodies of `Kernel::step_at` and of the function that runs one warp.
    pub fn step(&mut self, program: &Program<'m>) -> (TokenStream, TokenStream) {
        let rt = RT;
        let exit = number(program.regions.len());
        let (mut size, mut called) = (0, 0);
        for r in &program.regions {
            size += r.body.len();
            for item in &r.body {
                called += usize::from(matches!(item, Item::Instr(i) if self.calls_in_lanes(r.func, i)));
            }
        }
        let parts = size.max(program.regions.len());
        (self.large, self.far, self.one_level) = (parts > LARGE, size > FAR, parts > ONE_LEVEL);
        (self.shared, self.apart) = (called > SHARED, called > APART);
        self.distant = size + program.regions.len() > LARGE;
        self.keeps = !self.large && self.classes.rows.iter().any(|(_, shape)| shape.common);
        self.find_trails(program);
        let mut arms = Vec::new();
        let mut runs = Vec::new();
        // Regions that others take in need no arm of their own, unless somebody jumps to them.
        self.entered.insert(0);
        let mut done = BTreeSet::new();
        while let Some(pc) = self.entered.pop_first() {
            let Some(r) = program.regions.get(pc) else { continue };
            if !done.insert(pc) {
                continue;
            }
            let parted = self.classes.parted.get(pc) == Some(&true);
            if let End::Block { instr, next } = &r.end {
                arms.push((number(pc), self.waiting(r.func, pc, instr, *next)));
                if parted && let Some(code) = self.warp_wide(r.func, pc, instr, *next) {
                    runs.push((number(pc), code));
                }
            } else if parted {
                runs.push((number(pc), self.arm(program, pc, r)));
            } else {
                arms.push((number(pc), self.abreast(program, pc)));
            }
        }
        let waits = self.all_waits();
        let settle = self.settle();
        let kept = if self.keeps { quote!(let mut kept = false;) } else { quote!() };
        let other = quote! {
            #waits
            _ if pc >= #exit => return Ok(#rt::Next::Exit),
            _ => {
                #settle
                for k in 0..ws.len() {
                    let m = x.warp(k);
                    run::<M, L>(x, &mut ws[k], pc, m)?;
                }
                match x.go() { Some(pc) => pc, None => return Ok(#rt::Next::Split) }
            }
        };
        let next = if self.large { self.parts(arms, &other) } else { chosen(arms, &other) };
        let step = quote! {
            #kept
            loop {
                x.turn(pc)?;
                pc = #next;
                if x.diverged() {
                    #settle
                    return Ok(#rt::Next::Go(pc));
                }
            }
        };
        let next = self.run_parts(runs);
        let run = quote! {
            loop {
                x.mask = m;
                let next: #rt::Pc = #next;
                match x.next(m, next)? {
                    Some((next, lanes)) => { pc = next; m = lanes; }
                    None => return Ok(()),
                }
            }
        };
        (step, run)
    }

    /// What [`chosen`] gives, in a large kernel: the arms are in functions of some each. All arms of a `match` go on at one place, which
    /// LLVM goes through for each arm that it simplifies.
    fn parts(&mut self, mut arms: Vec<(u16, TokenStream)>, other: &TokenStream) -> TokenStream {
        if arms.len() <= ARMS {
            return chosen(arms, other);
        }
        let (rt, mut calls) = (RT, TokenStream::new());
        arms.sort_by_key(|(pc, _)| *pc);
        for part in arms.chunks(ARMS) {
            let name = format_ident!("part{}", self.pieces.len());
            let (first, last) = (part[0].0, part[part.len() - 1].0);
            let codes = part.iter().map(|(_, code)| code).collect::<Vec<_>>();
            self.pieces.push(quote! {
                #[inline(never)]
                fn #name<M: #rt::Monitor, L: #rt::Level>(
                    x: &mut #rt::Ctx<'_, M>,
                    pc: #rt::Pc,
                    ws: &mut [Warp],
                ) -> ::core::result::Result<#rt::Next, ::std::boxed::Box<#rt::Fault>> {
                    Ok(#rt::Next::Go(match pc {
                        #(#codes)*
                        // it is none of these
                        _ => return Ok(#rt::Next::Exit),
                    }))
                }
            });
            calls.extend(quote! {
                if #first <= pc && pc <= #last {
                    match #name::<M, L>(x, pc, ws)? {
                        #rt::Next::Go(next) => break 'next next,
                        #rt::Next::Exit => {}
                        #rt::Next::Split => return Ok(#rt::Next::Split),
                    }
                }
            });
        }
        quote!('next: { #calls match pc { #other } })
    }

    /// The same of the regions that one warp runs.
    fn run_parts(&mut self, mut arms: Vec<(u16, TokenStream)>) -> TokenStream {
        let other = quote!(_ => { x.branch(m, pc); m = 0; pc });
        if !self.large || arms.len() <= ARMS {
            return chosen(arms, &other);
        }
        let (rt, mut calls) = (RT, TokenStream::new());
        arms.sort_by_key(|(pc, _)| *pc);
        for part in arms.chunks(ARMS) {
            let name = format_ident!("run{}", self.pieces.len());
            let last = part[part.len() - 1].0;
            let codes = part.iter().map(|(_, code)| code).collect::<Vec<_>>();
            self.pieces.push(quote! {
                #[inline(never)]
                fn #name<M: #rt::Monitor, L: #rt::Level>(
                    x: &mut #rt::Ctx<'_, M>,
                    w: &mut Warp,
                    pc: #rt::Pc,
                    active: &mut u32,
                ) -> ::core::result::Result<#rt::Pc, ::std::boxed::Box<#rt::Fault>> {
                    let mut m = *active;
                    let next: #rt::Pc = match pc { #(#codes)* #other };
                    *active = m;
                    Ok(next)
                }
            });
            calls.extend(quote!(if pc <= #last { break 'next #name::<M, L>(x, w, pc, &mut m)?; }));
        }
        quote!('next: { #calls match pc { #other } })
    }

    /// The code of a region for one warp, which gives where it goes on. In a large kernel it is a function of its own: rustc would
    /// take more than twice the time for a function of twice the length.
    fn piece(&mut self, pc: usize, code: TokenStream) -> TokenStream {
        if !self.large {
            return code;
        }
        let (rt, here, name) = (RT, number(pc), format_ident!("Piece{}", self.pieces.len()));
        let optimised = if self.one_level { quote!(false) } else { quote!(::ptx_dsl::OPTIMISED) };
        self.pieces.push(quote! {
            pub struct #name;
            impl #rt::Piece for #name {
                type Warp = Warp;
                const OPTIMISED: bool = #optimised;
                #[inline(always)]
                fn run<M: #rt::Monitor, L: #rt::Level>(
                    x: &mut #rt::Ctx<'_, M>,
                    w: &mut Warp,
                    active: &mut u32,
                ) -> ::core::result::Result<#rt::Pc, ::std::boxed::Box<#rt::Fault>> {
                    let (pc, mut m): (#rt::Pc, u32) = (#here, *active);
                    let next: #rt::Pc = { #code };
                    *active = m;
                    Ok(next)
                }
            }
        });
        quote!(x.piece::<#name>(w, &mut m)?)
    }

    /// A region in which lanes stay together, for one warp after the other.
    fn abreast(&mut self, program: &Program<'m>, pc: usize) -> TokenStream {
        let here = number(pc);
        let trail = self.trail(program, pc);
        let r = &program.regions[pc];
        if trail.len() == 1
            && let Some(code) = self.going_on(program, pc)
        {
            let settle = self.settle();
            let code = self.for_all([settle, code, TokenStream::new()], None);
            return quote!(#here => #code);
        }
        let list = ending(program, pc);
        // those that end early and the others end together
        let together = list.len() > 1 || matches!(r.end, End::Goto(_) | End::Exit);
        let [before, plain, behind] = self.with_common(together, &|e| e.code(program, &list, "branch"));
        if trail.len() == 1 && r.body.is_empty() && matches!(r.end, End::Goto(_) | End::Exit) {
            // nothing to do but to go on
            return quote!(#here => { #plain });
        }
        let next = match (self.common_next.take(), &r.end) {
            (Some(next), _) => Some(next),
            (None, End::Goto(t)) => Some(number(*t).to_token_stream()),
            (None, end) if list.len() > 1 || matches!(end, End::Exit) => {
                Some(number(program.regions.len()).to_token_stream())
            }
            _ => None,
        };
        let settle = self.settle_for(program, &list);
        let plain = self.piece(pc, plain);
        let plain = self.for_all([quote!(#settle #before), plain, behind], next);
        if trail.len() == 1 {
            return quote!(#here => #plain);
        }
        let [before, whole, behind] = self.with_common(false, &|e| e.code(program, &trail, "branch"));
        let next = self.common_next.take();
        let settle = self.settle_for(program, &trail);
        let whole = self.piece(pc, whole);
        let whole = self.for_all([quote!(#settle #before), whole, behind], next);
        quote!(#here => if x.whole_warps() #whole else #plain,)
    }

    /// Calls and returns look at the state of each warp.
    fn settle_for(&self, program: &Program<'m>, list: &[usize]) -> TokenStream {
        let own = |pc: &usize| matches!(program.regions[*pc].end, End::Call { .. } | End::Return | End::Switch { .. });
        if list.iter().any(own) { self.settle() } else { TokenStream::new() }
    }

    /// The code for each warp, what comes before and what behind; `next` is where they all go on, if they go the same way.
    fn for_all(&self, [before, code, behind]: [TokenStream; 3], next: Option<TokenStream>) -> TokenStream {
        let rt = RT;
        let each = match &next {
            Some(_) => quote!({ #code };),
            None => quote!(let next: #rt::Pc = { #code }; x.branch(m, next);),
        };
        let each = if next.is_some() && code.is_empty() {
            code
        } else {
            quote! {
                let (first, all) = x.cohort();
                for k in 0..ws.len() {
                    let w = &mut ws[k];
                    (x.warp, x.mask) = (first + k as u32, all);
                    let mut m = all;
                    #each
                }
            }
        };
        match next {
            Some(next) => quote!({ #before #each #behind #next }),
            None => {
                let settle = self.settle();
                quote!({ #before #each #behind match x.go() {
                    Some(pc) => pc,
                    None => { #settle return Ok(#rt::Next::Split) }
                } })
            }
        }
    }

    /// A region, for one warp: gives where it goes on.
    fn arm(&mut self, program: &Program<'m>, pc: usize, r: &Region<'m>) -> TokenStream {
        let f = r.func;
        let mut before = TokenStream::new();
        if let Some((call, callee)) = &r.results {
            before.extend(self.results(f, call, *callee));
        }
        // A warp that is whole does not stop where it only has to be: the regions up to the next real wait are one.
        let trail = self.trail(program, pc);
        let pieces = self.inside(program, pc);
        if self.classes.parted.get(pc) == Some(&true) && !self.classes.all_live && cycle(program, &pieces) {
            let code = self.cycle(program, &pieces);
            let here = number(pc);
            let code = self.piece(pc, quote!(#before #code));
            return quote!(#here => { #code });
        }
        let code = self.code(program, &pieces, "fork");
        let code = if trail.len() > 1 {
            let whole = self.code(program, &trail, "fork");
            quote!(if m == u32::MAX { #whole } else { #code })
        } else {
            code
        };
        let here = number(pc);
        let code = self.piece(pc, quote!(#before #code));
        quote!(#here => { #code })
    }

    /// The regions that one arm of `run` has from `pc` on.
    fn inside(&self, program: &Program<'m>, pc: usize) -> Vec<usize> {
        let ending = ending(program, pc);
        if ending.len() == 1 && self.classes.parted.get(pc) == Some(&true) && !self.classes.all_live {
            falling(program, pc)
        } else {
            ending
        }
    }

    /// Regions that are a loop, as one: lanes that leave it wait ahead.
    fn cycle(&mut self, program: &Program<'m>, list: &[usize]) -> TokenStream {
        let (head, last) = (list[0], list[list.len() - 1]);
        let (f, here) = (program.regions[head].func, number(head));
        let (mut reads, mut writes) = (BTreeSet::new(), BTreeSet::new());
        for pc in list {
            mentions_of_region(&program.regions[*pc], &mut reads, &mut writes);
        }
        reads.retain(|k| !writes.contains(k));
        let (carried, read) = (self.live(head, &writes), self.live(head, &reads));
        for pc in list {
            self.enter_others(program, *pc, list);
        }
        let alone = self.classes.alone.contains(&head);
        let any_nan = self.any_nan_inside(program, list);
        let mut exits = BTreeSet::new();
        let mut b = Block::new(self, f, last);
        let before = if alone { b.enter_alone(&carried, &read) } else { b.enter(&carried, &read) };
        for (i, pc) in list.iter().enumerate() {
            b.items(&program.regions[*pc].body);
            if let End::Branch { pred, taken, fall } = &program.regions[*pc].end {
                let on = list.get(i + 1).unwrap_or(&head);
                let (to, leaves) = if taken == on { (*fall, !pred.1) } else { (*taken, pred.1) };
                let pred = (pred.0.clone(), leaves);
                exits.insert(to);
                if alone { b.leave_alone(&pred, to) } else { b.part(&pred, to, number(to)) }
            }
        }
        if alone {
            return b.repeat_alone(&carried, &before, &exits.into_iter().collect::<Vec<_>>(), here);
        }
        b.repeat(&carried, &any_nan, &before, here)
    }

    /// Those that are read from a region on.
    fn live(&self, region: usize, registers: &BTreeSet<Key>) -> Vec<Key> {
        let mut live = Vec::new();
        for k in registers {
            if self.classes.reads(region, k) {
                live.push(*k);
            }
        }
        live
    }

    /// Where a region can go on, other than in these, there must be an arm.
    pub fn enter_others(&mut self, program: &Program<'m>, pc: usize, inside: &[usize]) {
        for to in successors(program, pc) {
            if !inside.contains(&to) {
                self.entered.insert(to);
            }
        }
    }

    /// Registers of a loop in which any NaN will do from one time to the next: only arithmetic sets and reads them, and nobody
    /// does behind it.
    fn any_nan_inside(&self, program: &Program<'m>, list: &[usize]) -> BTreeSet<Key> {
        let (mut set, mut other) = (BTreeSet::new(), BTreeSet::new());
        for pc in list {
            let r = &program.regions[*pc];
            let mut depth = 0;
            for item in &r.body {
                let i = match item {
                    Item::If(_) => {
                        depth += 1;
                        continue;
                    }
                    Item::Else => continue,
                    Item::End(_) => {
                        depth -= 1;
                        continue;
                    }
                    Item::Instr(i) => i,
                };
                let (uses, defs) = mentions(r.func, i);
                let native = if i.pred.is_some() { None } else { self.native(r.func, i) };
                let (takes, gives) = match native {
                    Some(n) => (n.takes_any_nan(), n.gives_any_nan()),
                    None => (false, false),
                };
                if !takes {
                    other.extend(uses);
                }
                let arithmetic = depth == 0 && gives;
                if arithmetic { &mut set } else { &mut other }.extend(defs);
            }
        }
        set.retain(|k| !other.contains(k));
        for pc in list {
            for to in successors(program, *pc) {
                if !list.contains(&to) {
                    set.retain(|k| !self.classes.reads(to, k));
                }
            }
        }
        set
    }

    /// The code of regions that follow each other.
    fn code(&mut self, program: &Program<'m>, trail: &[usize], fork: &str) -> TokenStream {
        let (rt, fork) = (RT, format_ident!("{fork}"));
        let exit = number(program.regions.len());
        let last = trail.last().copied().unwrap_or(0);
        let (r, f) = (&program.regions[last], program.regions[last].func);
        for (i, pc) in trail.iter().enumerate() {
            self.enter_others(program, *pc, trail.get(i + 1..i + 2).unwrap_or(&[]));
        }
        let mut b = Block::new(self, f, last);
        let mut left = false;
        let whole = trail.iter().any(|pc| matches!(program.regions[*pc].end, End::Block { .. }));
        let falls = trail.len() > 1 && !whole && ending(program, trail[0]).len() == 1;
        for (i, &pc) in trail.iter().enumerate() {
            match &program.regions[pc].end {
                End::Block { instr, .. } => b.together(instr),
                _ => b.items(&program.regions[pc].body),
            }
            if let (End::Branch { pred, taken, .. }, Some(next)) = (&program.regions[pc].end, trail.get(i + 1)) {
                if falls {
                    b.part(pred, *taken, number(*taken));
                } else {
                    b.leave(&(pred.0.clone(), pred.1 == (taken != next)));
                    left = true;
                }
            }
        }
        if left {
            // whoever has left ends with the others
            let code = b.finish(TokenStream::new());
            return quote!({ let all = m; 'all: { #code } m = all; #exit });
        }
        let code = match &r.end {
            End::Switch { instr, targets } => {
                let site = b.site(instr);
                let count = targets.len() as u64;
                let index = b.index(&instr.operands[0].value, instr.operands[0].ty);
                let mut arms = TokenStream::new();
                for (i, t) in targets.iter().enumerate() {
                    let (i, t) = (i as u64, number(*t));
                    arms.extend(quote!(x.#fork(m & #rt::mask_by(|l| #index[l] == #i), #t);));
                }
                b.finish(quote! {
                    x.site = #site;
                    #rt::switch_in_range(x, m & #rt::mask_by(|l| #index[l] >= #count), #count)?;
                    #arms
                    m = 0;
                    pc
                })
            }
            End::Call { instr, callees } => {
                let body = b.finish(TokenStream::new());
                let call = self.call(f, instr, callees);
                quote!(#body #call m = 0; pc)
            }
            End::Return => {
                let body = b.finish(TokenStream::new());
                let field = self.return_field(f);
                let mut back = TokenStream::new();
                for s in returns(program, f) {
                    let s = number(*s);
                    back.extend(quote!(x.fork(m & #rt::mask_by(|l| w.#field[l] == #s), #s);));
                }
                quote!(#body #back m = 0; pc)
            }
            end => onward(b, end, exit, Some(&fork)).unwrap_or_default(),
        };
        // those that jump are left behind as fragments
        if falls { quote!('all: { #code }) } else { code }
    }
}

/// The code of a region with where it goes on, which ends with a jump, a branch, or for good. `None` for another end, and for a
/// branch at which lanes may part if there is no `fork` for those that jump.
pub fn onward(mut b: Block<'_, '_>, end: &End<'_>, exit: u16, fork: Option<&Ident>) -> Option<TokenStream> {
    let next = match end {
        End::Goto(t) => {
            let t = number(*t);
            quote!(#t)
        }
        End::Exit | End::Block { .. } => quote!(#exit),
        End::Branch { pred, taken, fall } => {
            let (taken, fall) = (number(*taken), number(*fall));
            if b.common_branch(pred, taken, fall) {
                return Some(b.finish(TokenStream::new()));
            }
            match (b.branch(pred), fork) {
                (Ok(p), _) => quote!(if #p { #taken } else { #fall }),
                (Err(lanes), Some(fork)) => quote! {{
                    let rest = m & !#lanes;
                    if rest == 0 {
                        #taken
                    } else {
                        x.#fork(#lanes, #taken);
                        m = rest;
                        #fall
                    }
                }},
                (Err(_), None) => return None,
            }
        }
        _ => return None,
    };
    Some(b.finish(next))
}

/// Arms of one `match`, at most: LLVM compares all that it goes to whenever it has simplified one.
pub const ARMS: usize = 64;

/// What the arm of `pc` gives, of these by region, or one of `other`.
pub fn chosen(mut arms: Vec<(u16, TokenStream)>, other: &TokenStream) -> TokenStream {
    if arms.len() <= ARMS {
        let arms = arms.iter().map(|(_, code)| code).collect::<Vec<_>>();
        return quote!(match pc { #(#arms)* #other });
    }
    arms.sort_by_key(|(pc, _)| *pc);
    let mut parts = TokenStream::new();
    for part in arms.chunks(ARMS) {
        let last = part[part.len() - 1].0;
        let arms = part.iter().map(|(_, code)| code).collect::<Vec<_>>();
        parts.extend(quote!(if pc <= #last { break 'next match pc { #(#arms)* _ => break 'other }; }));
    }
    quote!('next: { 'other: { #parts } match pc { #other } })
}

/// Instructions, or regions, above which the regions of a kernel are functions of their own.
const LARGE: usize = 150;

/// Instructions above which rows of memory are reached by calls (`far_stretch`).
const FAR: usize = 500;

/// Instructions, or regions, above which a development build is not compiled for AVX2, and lanes of an expression are computed by
/// calls.
const ONE_LEVEL: usize = 500;

/// Instructions that are calls in each lane above which those that are alike share a function.
const SHARED: usize = 64;

/// Those above which these functions stay apart in release.
const APART: usize = 500;

/// A region's number.
pub fn number(pc: usize) -> u16 {
    u16::try_from(pc).unwrap_or(u16::MAX)
}
