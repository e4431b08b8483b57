//! `mbarrier.try_wait` where all lanes of a warp ask for one phase of one object: one question for the warp, and the code before
//! it goes on behind it while the answer is yes.

use super::block::Block;
use super::mentions::registers;
use super::native::{LANES, Shape, UNIFORM};
use super::regions::{End, Program};
use super::step::{number, onward};
use super::{Emit, RT, function_of};
use crate::roles::{read_by, written_by};
use proc_macro2::TokenStream;
use ptx_dsl_isa::hir::{FuncId, Instr, Operand};
use ptx_dsl_isa::qualifier::q;
use quote::quote;

/// Waits that one piece of code may pass, and instructions behind them.
const PASSES: usize = 4;
const BEHIND: usize = 48;

impl<'m> Emit<'m> {
    /// How the result of an instruction that may wait lies. `None` if an operand is not known yet.
    pub fn waited_shape(&self, i: &Instr, operand: &mut dyn FnMut(&Operand) -> Option<Shape>) -> Option<Shape> {
        let dests = written_by(i).len();
        let one = matches!(i.operands.first().map(|a| &a.value), Some(Operand::Reg(..)));
        if function_of(i.entry.opcode, i) != "mbarrier_try_wait" || !i.has(q::parity) || dests != 1 || !one {
            return Some(LANES);
        }
        let mut all = UNIFORM;
        for a in read_by(i).iter().take(2) {
            if operand(&a.value)? != UNIFORM {
                all = LANES;
            }
        }
        Some(all)
    }

    /// Do all lanes of a warp wait for the same?
    pub fn waits_as_one(&self, f: FuncId, i: &Instr) -> bool {
        let shape = self.waited_shape(i, &mut |o| self.kept_shape(f, o));
        let result = i.operands.first().and_then(|a| self.kept_shape(f, &a.value));
        shape == Some(UNIFORM) && result == Some(UNIFORM)
    }

    /// Of an operand at the beginning of a region.
    fn kept_shape(&self, f: FuncId, o: &Operand) -> Option<Shape> {
        let mut keys = Vec::new();
        registers(f, o, &mut keys);
        Some(keys.first().map_or_else(|| self.constant_shape(f, o), |k| self.classes.shape(k)))
    }

    /// The region of such a wait, for all warps of the cohort.
    pub fn waiting_as_one(&mut self, f: FuncId, pc: usize, instr: &Instr, next: usize) -> TokenStream {
        let rt = RT;
        let (q, site) = (self.q(instr), self.site(instr));
        let (here, next) = (number(pc), number(next));
        let mut b = Block::new(self, f, pc);
        let (addr, parity) = b.phase(instr);
        let wait = b.finish(quote!(x.try_wait(#q, #addr, #parity, #here, #site)?));
        let store = self.result_of_wait(f, instr, &quote!(done));
        let settle = self.settle();
        quote! {
            #here => {
                #settle
                for k in 0..ws.len() {
                    let w = &mut ws[k];
                    let m = x.warp(k);
                    if let ::core::option::Option::Some(done) = { #wait } {
                        #store
                        x.branch(m, #next);
                    }
                }
                match x.go() { Some(pc) => pc, None => return Ok(#rt::Next::Split) }
            }
        }
    }

    /// The same for a fragment of a warp that comes to it: it goes on if it need not wait.
    pub fn attempt_as_one(&mut self, f: FuncId, pc: usize, instr: &Instr, next: usize) -> TokenStream {
        let q = self.q(instr);
        let (here, next) = (number(pc), number(next));
        let mut b = Block::new(self, f, pc);
        let (addr, parity) = b.phase(instr);
        let passes = b.finish(quote!(x.passes(#q, #addr, #parity)));
        let store = self.result_of_wait(f, instr, &quote!(true));
        quote! {
            #here => if { #passes } {
                #store
                #next
            } else {
                x.branch(m, #here);
                m = 0;
                #here
            }
        }
    }

    fn result_of_wait(&mut self, f: FuncId, instr: &Instr, value: &TokenStream) -> TokenStream {
        let Operand::Reg(r, e) = instr.operands[0].value else { return quote!() };
        let (field, _) = self.key_field((f.0, r.0, e));
        quote!(w.#field = [#value];)
    }

    /// The regions from `pc` on that a warp runs in a row while the waits between them are over, or `pc` alone.
    fn passage(&self, program: &Program<'m>, pc: usize) -> Vec<usize> {
        let parted = |r: usize| self.classes.parted.get(r) == Some(&true);
        let (mut list, mut waits, mut behind) = (vec![pc], 0, 0);
        while let End::Goto(wait) = program.regions[list[list.len() - 1]].end {
            let End::Block { instr, next } = &program.regions[wait].end else { break };
            let (instr, next) = (*instr, *next);
            let f = program.regions[wait].func;
            if waits == PASSES || parted(wait) || instr.pred.is_some() || !self.waits_as_one(f, instr) {
                break;
            }
            // what follows is the branch that repeats the wait
            let test = &program.regions[next];
            let End::Branch { pred, taken, fall } = &test.end else { break };
            let Operand::Reg(done, _) = instr.operands[0].value else { break };
            let truth = match pred.0 {
                Operand::Reg(r, _) if r == done => pred.1,
                Operand::NotReg(r) if r == done => !pred.1,
                _ => break,
            };
            let on = if truth { *taken } else { *fall };
            let region = &program.regions[on];
            behind += region.body.len();
            let ends = matches!(region.end, End::Goto(_) | End::Branch { .. } | End::Exit);
            let fits = test.body.is_empty() && test.results.is_none() && !parted(next) && region.results.is_none();
            if !fits
                || !ends
                || parted(on)
                || behind > BEHIND
                || list.contains(&wait)
                || list.contains(&next)
                || list.contains(&on)
            {
                break;
            }
            list.extend_from_slice(&[wait, next, on]);
            waits += 1;
        }
        list
    }

    /// The code of a region whose lanes stay together and of those that follow while they need not wait, for one warp. `None`
    /// if there are no such.
    pub fn going_on(&mut self, program: &Program<'m>, pc: usize) -> Option<TokenStream> {
        let list = self.passage(program, pc);
        if list.len() == 1 || self.large {
            return None;
        }
        let (f, last) = (program.regions[pc].func, list[list.len() - 1]);
        let exit = number(program.regions.len());
        let mut b = Block::new(self, f, last);
        for (i, &pc) in list.iter().enumerate() {
            let r = &program.regions[pc];
            b.items(&r.body);
            match &r.end {
                End::Block { instr, .. } => b.pass(instr, pc, number(pc)),
                End::Branch { pred, taken, fall } if i + 1 < list.len() => {
                    let leaves = (pred.0.clone(), pred.1 == (list[i + 1] == *fall));
                    let to = if list[i + 1] == *fall { *taken } else { *fall };
                    b.part(&leaves, to, number(to));
                }
                _ => {}
            }
        }
        let code = onward(b, &program.regions[last].end, exit, None)?;
        for (i, pc) in list.iter().enumerate() {
            let waits = matches!(program.regions[*pc].end, End::Block { .. });
            if waits {
                self.entered.insert(*pc);
            }
            self.enter_others(program, *pc, list.get(i + 1..i + 2).unwrap_or(&[]));
        }
        Some(quote!('all: { #code }))
    }
}
