//! Accesses and barrier numbers that depend on the number of the thread, evaluated for some threads of a CTA of known shape: a thread that
//! certainly executes the instruction must stay inside of the variable (PTX ISA 5.4), and within the barriers 0 to 15 (9.7.13.1).

use crate::errors::single_threads::{self as errors, Reached};
use crate::kernel::Kernel;
use ptx_dsl_analysis::accesses::{Access, accesses};
use ptx_dsl_analysis::cfg::NONE;
use ptx_dsl_analysis::induction::{Induction, Thread};
use ptx_dsl_analysis::loops::Loops;
use ptx_dsl_analysis::provenance::AddressBase;
use ptx_dsl_analysis::sources::{Source, all_sources};
use ptx_dsl_analysis::ssa::{Val, Value};
use ptx_dsl_isa::hir::{Base, Instr, Operand, RegId, Space, Var};
use ptx_dsl_isa::isa::{Barrier, Issue};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;

/// Limits: values that are evaluated, iterations of a loop, threads.
const WORK: u32 = 60_000;
const ITERATIONS: usize = 40;
const THREADS: usize = 24;

/// Barriers of a CTA.
const BARRIERS: u64 = 16;

pub(crate) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    let Some(shape) = flow.function.reqntid.filter(|_| flow.function.entry) else { return };
    let loops = Loops::new(&flow.cfg);
    if loops.irreducible() {
        return;
    }
    let mut threads = Threads { kernel, loops: &loops, shape, numbers: numbers(kernel, shape), work: WORK };
    for (block, at, i) in flow.walk() {
        if i.entry.effects.barrier == Barrier::Cta {
            threads.barrier(block, at, i);
        } else {
            accesses(i, &mut |access| threads.access(block, at, i, &access));
        }
    }
}

/// The threads to evaluate, those first whose addresses are likely the highest: the last one, the first one, those at the edges of warps
/// and rows, and those next to a number that the kernel compares with.
fn numbers(kernel: &Kernel, shape: [u32; 3]) -> Vec<usize> {
    let n = shape.iter().fold(1usize, |n, x| n.saturating_mul(*x as usize));
    let mut out = Vec::new();
    let mut add = |t: usize| {
        if t < n && !out.contains(&t) && out.len() < THREADS {
            out.push(t);
        }
    };
    for k in [1, n, 32, 33, n / 2 + 1, shape[0] as usize, n.saturating_sub(31), n.saturating_sub(32)] {
        add(n.wrapping_sub(k));
    }
    add(31);
    let compared = kernel.flow.walk().filter(|(_, _, i)| i.opcode == op::setp).filter_map(|(_, _, i)| i.constant("b"));
    for c in compared.take(THREADS).map(|c| c as usize) {
        [c.wrapping_sub(1), c, c.wrapping_add(1)].into_iter().for_each(&mut add);
    }
    out
}

struct Threads<'k, 'a, 'h> {
    kernel: &'k Kernel<'a, 'h>,
    loops: &'k Loops,
    shape: [u32; 3],
    numbers: Vec<usize>,
    work: u32,
}

/// A register at an instruction.
struct Place {
    block: u32,
    at: u32,
    register: (RegId, u32),
}

impl Threads<'_, '_, '_> {
    /// A barrier whose number is computed.
    fn barrier(&mut self, block: u32, at: u32, i: &Instr) {
        let Some(arg) = i.operand("a") else { return };
        let Operand::Reg(r, lane) = arg.value else { return };
        let beyond = |_: usize, number: u64| number >= BARRIERS;
        if let Some((thread, number)) = self.find(&Place { block, at, register: (r, lane) }, &beyond) {
            self.kernel.report(errors::barrier_beyond_15(arg.span, thread, number));
        }
    }

    /// An access whose offset in a variable is computed.
    fn access(&mut self, block: u32, at: u32, i: &Instr, access: &Access) {
        let flow = self.kernel.flow;
        let Operand::Address(Base::Reg(r), constant) = access.arg.value else { return };
        let Some(address) = self.kernel.provenance.address(flow.ssa.read(at, r, 0)) else { return };
        let AddressBase::Var(id) = address.base else { return };
        let Some(var) = flow.module.vars.get(id.0 as usize) else { return };
        // A known offset is the business of another rule.
        let fixed = var.is_open() || var.size == 0 || access.size == 0;
        if address.offset.is_some() || fixed || matches!(var.space, Space::ParamEntry | Space::ParamFunc) {
            return;
        }
        if !self.only_adds(flow.ssa.read(at, r, 0)) {
            return;
        }
        let narrow = flow.function.regs.get(r.0 as usize).is_some_and(|r| r.ty.bits() <= 32);
        let offset = |n: u64| {
            let n = (n as i64).wrapping_add(constant);
            if narrow { i64::from(n as i32) } else { n }
        };
        let rows = rows(flow.module.target.as_str(), i);
        let outside = |thread: usize, n: u64| thread % 32 < rows.addresses && is_outside(var, offset(n), access.size);
        if let Some((thread, n)) = self.find(&Place { block, at, register: (r, 0) }, &outside) {
            let reached = Reached { name: &var.name, size: var.size, offset: offset(n), bytes: access.size };
            let unused = thread % 32 >= rows.read;
            // The windows of the CTAs of a cluster lie next to each other, and translated addresses may be meant for another one.
            let by = flow.cfg.instrs.get(address.by as usize);
            let translated = by.is_some_and(|i| matches!(i.opcode, op::cvta | op::mapa));
            let sure = address.space != Space::Shared || !translated;
            self.kernel.report(errors::past_the_end_by(access.arg.span, &reached, thread, unused, sure));
        }
    }

    /// Is the value a sum of an address and numbers? What the bits of an address are depends on where the variable is.
    fn only_adds(&self, v: Val) -> bool {
        let flow = self.kernel.flow;
        let is_address = |v: Val| self.kernel.provenance.address(v).is_some();
        let adds = |v: Val, value: &Value| {
            let Value::Def { instr, .. } = value else { return Source::Go };
            let i = flow.instr(*instr);
            let named = i.operands.iter().any(|a| matches!(a.value, Operand::VarAddr(..)));
            if !named && !flow.ssa.uses(*instr).iter().any(|(_, v)| is_address(*v)) {
                return if i.address().is_some() { Source::Fits } else { Source::Go };
            }
            let sum = matches!(i.opcode, op::mov | op::add | op::mad | op::cvt | op::cvta | op::mapa | op::selp)
                || (i.opcode == op::sub && !flow.source(*instr, "b").is_some_and(is_address));
            if sum && is_address(v) { Source::Go } else { Source::No }
        };
        all_sources(flow, v, 100, &adds)
    }

    /// The first thread that certainly executes the instruction with a value that is wrong, and the value.
    fn find(&mut self, place: &Place, wrong: &dyn Fn(usize, u64) -> bool) -> Option<(usize, u64)> {
        let flow = self.kernel.flow;
        let Place { block, at, register: (r, lane) } = *place;
        let value = flow.ssa.read(at, r, lane);
        let header = self.loops.innermost(block).unwrap_or(NONE);
        if self.work == 0 {
            return None;
        }
        let mut induction = Induction::new(flow, self.loops, header, &[value], Some((block, at)))?;
        for &number in &self.numbers {
            if induction.spent() > self.work {
                self.work = 0;
                return None;
            }
            induction.begin(Some(Thread { number, shape: Some(self.shape) }));
            for _ in 0..ITERATIONS {
                let Some(n) = induction.value(value) else { break };
                if wrong(number, n) && induction.surely_executes(block, at) {
                    return Some((number, n));
                }
                if header == NONE || !induction.surely_repeats() {
                    break;
                }
                induction.next();
            }
        }
        self.work = self.work.saturating_sub(induction.spent());
        None
    }
}

fn is_outside(var: &Var, offset: i64, bytes: u32) -> bool {
    offset < 0 || offset.saturating_add(i64::from(bytes)) > i64::from(var.size)
}

/// How many lanes of a warp give the address of a row that is read, and how many need a valid address.
struct Rows {
    read: usize,
    addresses: usize,
}

/// `ldmatrix` and `stmatrix` take the addresses of 8 rows of each matrix from the first lanes (9.7.14.5.15).
fn rows(target: &str, i: &Instr) -> Rows {
    let read = match i.entry.effects.issue {
        Issue::FullWarp if i.has(q::x1) => 8,
        Issue::FullWarp if i.has(q::x2) => 16,
        _ => 32,
    };
    Rows { read, addresses: if target == "sm_75" { 32 } else { read } }
}
