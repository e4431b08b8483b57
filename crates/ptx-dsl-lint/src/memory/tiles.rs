//! `cp.async` into tiles in rotation (PTX ISA 9.7.9.25.3): two threads of a CTA are followed through the loops of the kernel, with the
//! groups of copies that are still pending.

use crate::errors::protocol as errors;
use crate::kernel::Kernel;
use ptx_dsl_analysis::execution::{Execution, Position};
use ptx_dsl_analysis::induction::Thread;
use ptx_dsl_analysis::loops::Loops;
use ptx_dsl_analysis::provenance::AddressBase;
use ptx_dsl_analysis::threads::has_thread;
use ptx_dsl_isa::hir::{Arg, Base, Instr, Operand, Space};
use ptx_dsl_isa::isa::{Control, Group, Step};
use ptx_dsl_isa::meaning::access::plain_access;
use ptx_dsl_isa::opcode::op;
use std::ops::Range;

/// Instructions that are followed.
const STEPS: usize = 6_000;

pub(crate) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    let waits = |i: &Instr| i.entry.effects.group == Group::Copy(Step::Wait);
    let Some(shape) = flow.function.reqntid.filter(|_| flow.function.entry && !flow.calls) else { return };
    let in_loop = |(block, _, i): &(u32, u32, &Instr)| flow.cfg.in_loop(*block) && waits(i);
    let Some((block, at, _)) = flow.walk().find(in_loop) else { return };
    let Some(threads) = threads(kernel, block, at) else { return };
    let loops = Loops::new(&flow.cfg);
    if loops.irreducible() {
        return;
    }
    let follow = |number: usize| {
        let thread = Thread { number, shape: Some(shape) };
        Execution::new(flow, &loops, &kernel.reaching.only_exits, thread)
    };
    let mut both = [follow(threads.start), follow(threads.end - 1)];
    let mut pending = Pending { kernel, threads, copies: Vec::new(), committed: 0 };
    for _ in 0..STEPS {
        // The two stay together, so that they stand for all threads.
        let [first, last] = both.each_ref().map(|e| (e.position(), e.guard_holds()));
        let (Position::At(at) | Position::Perhaps(at)) = first.0 else { return };
        let alike = first == last;
        let apart = last.0 != first.0 || flow.instr(at).entry.effects.control != Control::Next;
        let goes_on = match first.1 {
            _ if !alike => !apart && flow.instr(at).entry.effects.group == Group::None,
            Some(false) => true,
            holds => pending.step(at, &both, holds.is_some()).is_some(),
        };
        if !goes_on {
            return;
        }
        both.iter_mut().for_each(Execution::step);
    }
}

/// The threads that come to an instruction, if they have successive numbers.
fn threads(kernel: &Kernel, block: u32, at: u32) -> Option<Range<usize>> {
    let present = kernel.threads_at(block, at);
    let n = kernel.lanes.cta_size.exact?;
    let mut there = (0..n).filter(|t| has_thread(&present.set, *t));
    let first = there.next()?;
    let last = there.next_back().unwrap_or(first);
    let all = (first..=last).all(|t| has_thread(&present.set, t));
    (all && !present.elected && !present.not_elected).then_some(first..last + 1)
}

/// A range of bytes of a variable.
#[derive(Clone, Copy)]
struct Bytes {
    base: AddressBase,
    from: i64,
    to: i64,
}

impl Bytes {
    fn overlaps(&self, other: &Bytes) -> bool {
        self.base == other.base && self.from < other.to && other.from < self.to
    }
}

/// A copy that may not have completed.
struct Copy {
    at: u32,
    /// What it writes in all threads, or in each of the two.
    into: Vec<Bytes>,
    /// The number of its group.
    group: Option<u64>,
}

/// The pending copies of a thread.
struct Pending<'k, 'a, 'h> {
    kernel: &'k Kernel<'a, 'h>,
    /// The threads for which the first and the last one stand.
    threads: Range<usize>,
    copies: Vec<Copy>,
    committed: u64,
}

impl Pending<'_, '_, '_> {
    /// The effect of an instruction that the threads execute. `None` ends the search.
    fn step(&mut self, at: u32, both: &[Execution; 2], certain: bool) -> Option<()> {
        let i = self.kernel.flow.instr(at);
        match i.entry.effects.group {
            Group::Copy(Step::Start) if certain => {
                let size = i.constant("cp-size")?;
                let into = self.bytes(at, i.operand("dst")?, size as i64, both).unwrap_or_default();
                self.copies.push(Copy { at, into, group: None });
            }
            Group::Copy(Step::Commit) if certain => {
                let number = self.committed;
                self.committed += 1;
                self.copies.iter_mut().for_each(|c| c.group = c.group.or(Some(number)));
            }
            Group::Copy(Step::Wait) if certain => match i.operand("N") {
                Some(_) => {
                    let first_left = self.committed.saturating_sub(i.constant("N")?);
                    self.copies.retain(|c| c.group.is_none_or(|group| group >= first_left));
                }
                None => self.copies.clear(),
            },
            Group::Copy(Step::Commit | Step::Wait) => return None,
            _ if i.opcode == op::cp_async_mbarrier_arrive || i.entry.effects.control == Control::Call => return None,
            _ if certain && !self.copies.is_empty() => return self.access(at, i, both),
            _ => {}
        }
        Some(())
    }

    /// An access, which must not overlap a pending copy.
    fn access(&self, at: u32, i: &Instr, both: &[Execution; 2]) -> Option<()> {
        let Some((arg, writes)) = plain_access(i) else { return Some(()) };
        let Some(here) = self.bytes(at, arg, i.bytes() as i64, both) else { return Some(()) };
        let touches = |copy: &&Copy| copy.into.iter().any(|into| here.iter().any(|here| here.overlaps(into)));
        let Some(copy) = self.copies.iter().find(touches) else { return Some(()) };
        let (span, never) = (self.kernel.flow.instr(copy.at).span, copy.group.is_none());
        self.kernel.report(errors::copy_not_awaited(arg.span, span, writes, never));
        None
    }

    /// The bytes after an address: in all threads if these are a range without gaps, else in the first and in the last thread.
    fn bytes(&self, at: u32, arg: &Arg, size: i64, both: &[Execution; 2]) -> Option<Vec<Bytes>> {
        let region = self.kernel.region(at, arg, size as u64)?;
        if region.space != Space::Shared || region.mapped || !matches!(region.base, AddressBase::Var(_)) || size == 0 {
            return None;
        }
        let offset = |execution: &Execution| match &arg.value {
            Operand::Address(Base::Var(_), offset) => Some(*offset),
            Operand::Address(Base::Reg(r), offset) => {
                let n = execution.operand(&Operand::Reg(*r, 0))? as i64;
                Some(i64::from(n.wrapping_add(*offset) as i32))
            }
            _ => None,
        };
        let [first, last] = both.each_ref().map(offset);
        let (first, last) = (first?, last?);
        let range = |from: i64, to: i64| Bytes { base: region.base, from, to };
        let flow = self.kernel.flow;
        let present = self.kernel.threads_at(flow.cfg.block_of(at), at);
        let mut all = !present.elected && !present.not_elected;
        all &= self.threads.clone().all(|t| has_thread(&present.set, t));
        if all && last - first == size * (self.threads.len() as i64 - 1) {
            return Some(vec![range(first, last + size)]);
        }
        Some(vec![range(first, first + size), range(last, last + size)])
    }
}
