//! Matrices in shared memory that `wgmma` reads by descriptors (PTX ISA 9.7.15.5.1.2.2): the places that they can have, and how far one
//! product of a chain is from the next.

use crate::kernel::Kernel;
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::provenance::ValueSource;
use ptx_dsl_analysis::reachable::{Query, reachable};
use ptx_dsl_analysis::region::constant_part;
use ptx_dsl_analysis::ssa::Val;
use ptx_dsl_isa::hir::{Instr, Operand};
use ptx_dsl_isa::isa::fragment::shape;
use ptx_dsl_isa::isa::{Group, Step};
use ptx_dsl_isa::opcode::op;

/// The bytes of a row that one product reads: 8 elements of 32 bits, 16 of 16 bits or 32 of 8 bits.
const ROW_OF_PRODUCT: i64 = 32;
/// Limit of products: more are unrolled code without rings.
const PRODUCTS: usize = 64;
/// Limit of the values that a descriptor is computed from.
const VALUES: usize = 64;

/// A matrix of 8-row atoms with a swizzle, K-major.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Matrix {
    /// The variable in shared memory.
    pub var: u32,
    /// Where its rows begin, in bytes from the start of the variable.
    pub base: i64,
    /// Where in its rows the product begins to read.
    pub column: i64,
    /// Bytes from eight rows to the next eight.
    pub stride: i64,
    pub rows: i64,
    /// Bytes of a row: the width of the swizzle.
    pub width: i64,
}

impl Matrix {
    /// The byte past its last row.
    pub(crate) fn end(&self) -> i64 {
        self.base + self.rows / 8 * self.stride
    }

    /// Is it without gaps and within whole atoms?
    pub(crate) fn is_dense(&self) -> bool {
        self.stride == 8 * self.width && self.base % (8 * self.width) == 0
    }

    /// The bytes that one product reads of it.
    pub(crate) fn bytes(&self) -> i64 {
        self.rows * ROW_OF_PRODUCT
    }
}

pub(crate) fn is_product(i: &Instr) -> bool {
    i.entry.effects.group == Group::Wgmma(Step::Start) && i.operand("sp-meta").is_none()
}

/// A descriptor, as the instruction has it or as the two halves that a `mov` packs.
struct Descriptor {
    name: &'static str,
    rows: i64,
    low: Half,
    /// `None` if the low half has all 64 bits.
    high: Option<Half>,
}

#[derive(Clone, Copy, PartialEq)]
enum Half {
    Value(Val),
    Number(u64),
}

/// The descriptors of K-major operands of a product.
fn descriptors(flow: &Flow, at: u32) -> Vec<Descriptor> {
    let i = flow.instr(at);
    let columns = shape(&i.quals).map_or(0, |[_, n, _]| i64::from(n));
    let mut out = Vec::new();
    for (name, transposed, rows) in [("a-desc", "imm-trans-a", 64), ("b-desc", "imm-trans-b", columns)] {
        let Some(v) = flow.source(at, name) else { continue };
        if i.operand(transposed).is_some() && i.constant(transposed) != Some(0) {
            continue;
        }
        let (low, high) = halves(flow, v).map_or((Half::Value(v), None), |[low, high]| (low, Some(high)));
        out.push(Descriptor { name, rows, low, high });
    }
    out
}

/// The halves that a `mov` packs into this value.
fn halves(flow: &Flow, v: Val) -> Option<[Half; 2]> {
    let at = flow.ssa.maker(v)?;
    let i = flow.instr(at);
    let Some(Operand::Vector(parts)) = i.value("a").filter(|_| i.opcode == op::mov) else { return None };
    let half = |part: &Operand| match part {
        Operand::Reg(r, lane) => Some(Half::Value(flow.ssa.read(at, *r, *lane))),
        Operand::Imm(n) => Some(Half::Number(*n & 0xffff_ffff)),
        _ => None,
    };
    let [low, high] = &parts[..] else { return None };
    Some([half(low)?, half(high)?])
}

/// The width of a swizzle in bytes, by the two highest bits of a descriptor.
fn width(descriptor: u64) -> Option<i64> {
    match descriptor >> 62 {
        1 => Some(128),
        2 => Some(64),
        3 => Some(32),
        _ => None,
    }
}

/// The matrices that products of the kernel read, as far as their descriptors are known: each with the product. `None` if there are too
/// many.
pub(crate) fn matrices(kernel: &Kernel) -> Option<Vec<(u32, Matrix)>> {
    let flow = kernel.flow;
    let mut queries = Vec::new();
    let mut of: Vec<(Descriptor, u32)> = Vec::new();
    for (_, at, _) in flow.walk().filter(|(_, _, i)| is_product(i)) {
        for descriptor in descriptors(flow, at) {
            let halves = [Some(descriptor.low), descriptor.high];
            let values: Vec<Val> = halves.iter().flatten().filter_map(|half| half.value()).collect();
            if let Some(var) = variable(flow, &values) {
                queries.push(Query::new(at, values));
                of.push((descriptor, var));
            }
        }
        if of.len() > PRODUCTS {
            return None;
        }
    }
    if of.is_empty() || !reachable(flow, &mut queries) {
        return None;
    }
    let mut out = Vec::new();
    for (query, (descriptor, var)) in queries.iter().zip(&of) {
        for found in &query.found {
            let mut values = found.iter();
            let mut number = |half: Half| match half {
                Half::Number(n) => Some(n),
                Half::Value(_) => values.next().copied().flatten(),
            };
            let (Some(low), high) = (number(descriptor.low), descriptor.high.map(&mut number)) else { continue };
            let whole = match high {
                None => low,
                Some(Some(high)) => (low & 0xffff_ffff) | high << 32,
                Some(None) => continue,
            };
            if let Some(matrix) = matrix(*var, whole, descriptor.rows).filter(|m| !out.contains(&(query.at, *m))) {
                out.push((query.at, matrix));
            }
        }
    }
    Some(out)
}

impl Half {
    fn value(self) -> Option<Val> {
        match self {
            Half::Value(v) => Some(v),
            Half::Number(_) => None,
        }
    }
}

/// The matrix of a descriptor whose address counts from the start of a variable.
fn matrix(var: u32, descriptor: u64, rows: i64) -> Option<Matrix> {
    let width = width(descriptor)?;
    let field = |from: u32| ((descriptor >> from) & 0x3fff) as i64 * 16;
    let (start, stride) = (field(0), field(32));
    (rows >= 8).then_some(Matrix { var, base: start - start % width, column: start % width, stride, rows, width })
}

/// The one variable whose address the values are computed from.
fn variable(flow: &Flow, values: &[Val]) -> Option<u32> {
    let mut stack = values.to_vec();
    let mut seen: Vec<Val> = Vec::new();
    let mut var = None;
    while let Some(v) = stack.pop() {
        let v = flow.origin(v);
        if seen.contains(&v) {
            continue;
        }
        seen.push(v);
        if seen.len() > VALUES {
            return None;
        }
        let made = flow.ssa.maker(v).map(|at| flow.instr(at));
        for operand in made.iter().flat_map(|i| &i.operands) {
            if let Operand::VarAddr(of, _) = operand.value {
                if var.is_some_and(|var| var != of.0) {
                    return None;
                }
                var = Some(of.0);
            }
        }
        if made.is_none_or(|i| i.address().is_none()) {
            flow.ssa.push_sources(v, &mut stack);
        }
    }
    var
}

/// By how many bytes both descriptors of a product start after those of an earlier one, with nothing else changed, and the width of their
/// swizzle.
pub(crate) fn step_between(kernel: &Kernel, first: u32, second: u32) -> Option<(i64, i64)> {
    let flow = kernel.flow;
    let (from, to) = (descriptors(flow, first), descriptors(flow, second));
    let ([a, b], [c, d]) = (&from[..], &to[..]) else { return None };
    let (x, y) = (distance(kernel, a, c)?, distance(kernel, b, d)?);
    (x == y).then_some(x)
}

fn distance(kernel: &Kernel, from: &Descriptor, to: &Descriptor) -> Option<(i64, i64)> {
    let number = |half: Option<Half>| match half? {
        Half::Number(n) => Some(n),
        Half::Value(v) => match kernel.provenance.sources.get(v as usize)? {
            ValueSource::Number(n) => Some(*n as u64 & 0xffff_ffff),
            _ => None,
        },
    };
    let (Half::Value(low), Half::Value(other)) = (from.low, to.low) else { return None };
    let high = number(from.high)?;
    if from.name != to.name || number(to.high)? != high {
        return None;
    }
    let ((root, start), (same, next)) = (constant_part(kernel.flow, low), constant_part(kernel.flow, other));
    (root == same).then_some((16 * (next - start), width(high << 32)?))
}
