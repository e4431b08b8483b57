//! The places to which the copies of a ring write: the start of each in its variable, the object on which it completes, and the bytes that
//! certainly belong to it.

use crate::kernel::Kernel;
use crate::sync::objects::mbarrier_operand;
use crate::sync::rings::uses::RingOp;
use crate::tensor::descriptors::Matrix;
use ptx_dsl_analysis::provenance::AddressBase;
use ptx_dsl_analysis::reachable::{Query, reachable};
use ptx_dsl_isa::hir::{Arg, Base, Operand};

/// The fewest bytes that a bulk copy writes.
const LEAST: i64 = 16;

/// A place at which a copy begins to write, and the object on which it completes.
#[derive(PartialEq)]
pub(crate) struct Start {
    pub var: u32,
    pub at: i64,
    pub object: u64,
    pub size: Option<u64>,
}

/// The starts of all copies of a ring.
pub(crate) struct Starts(pub Vec<Start>);

impl Starts {
    /// `None` if one is unknown.
    pub(crate) fn new(kernel: &Kernel, copies: &[&RingOp]) -> Option<Starts> {
        let flow = kernel.flow;
        let register = |at: u32, arg: &Arg| match arg.value {
            Operand::Address(Base::Reg(r), offset) => Some((flow.ssa.read(at, r, 0), offset)),
            _ => None,
        };
        let mut queries = Vec::new();
        for copy in copies {
            let at = copy.site.at;
            let i = flow.instr(at);
            let (into, _) = register(at, i.operand("dstMem")?)?;
            let (object, _) = register(at, i.operand(mbarrier_operand(i))?)?;
            queries.push(Query::new(at, vec![into, object]));
        }
        if !reachable(flow, &mut queries) {
            return None;
        }
        let mut starts: Vec<Start> = Vec::new();
        for query in &queries {
            let i = flow.instr(query.at);
            let (into, on) = (i.operand("dstMem")?, i.operand(mbarrier_operand(i))?);
            let AddressBase::Var(var) = kernel.region(query.at, into, 0)?.base else { return None };
            for found in &query.found {
                let [Some(into_at), Some(object)] = found[..] else { return None };
                let (more, behind) = (register(query.at, into)?.1, register(query.at, on)?.1);
                let start = Start {
                    var: var.0,
                    at: i64::from(into_at as i32).checked_add(more)?,
                    object: object.wrapping_add(behind as u64),
                    size: i.constant("size"),
                };
                if !starts.contains(&start) {
                    starts.push(start);
                }
            }
        }
        Some(Starts(starts))
    }

    /// The offset in the variable at which the next copy begins.
    fn next(&self, start: &Start) -> Option<i64> {
        self.0.iter().filter(|o| o.var == start.var && o.at > start.at).map(|o| o.at).min()
    }

    /// The largest number of bytes that the copies for one object can write without writing over each other, if it is known.
    pub(crate) fn room(&self) -> Option<u64> {
        let gap = |s: &Start| s.size.or(self.next(s).map(|next| (next - s.at) as u64));
        self.of_each_object(&gap).max()
    }

    /// The number of bytes that the copies for one object certainly bring, because products read them.
    pub(crate) fn read(&self, matrices: &[Matrix]) -> Option<u64> {
        let least = |s: &Start| {
            let read = self.matrices(s, matrices).map(|m| columns(m, matrices) * m.bytes()).max();
            Some(s.size.unwrap_or(read.unwrap_or(0).max(LEAST) as u64))
        };
        self.of_each_object(&least).max()
    }

    /// The sum over the copies for an object, for each object for which it is known.
    fn of_each_object<'s>(&'s self, bytes: &'s dyn Fn(&Start) -> Option<u64>) -> impl Iterator<Item = u64> + 's {
        let of = move |object: u64| self.0.iter().filter(move |s| s.object == object).map(bytes).sum::<Option<u64>>();
        self.0.iter().filter_map(move |s| of(s.object))
    }

    /// The matrices that lie in what a copy writes.
    pub(crate) fn matrices<'m>(&self, start: &Start, matrices: &'m [Matrix]) -> impl Iterator<Item = &'m Matrix> {
        let (var, from, to) = (start.var, start.at, self.next(start).unwrap_or(i64::MAX));
        let inside = move |m: &&Matrix| m.var == var && m.is_dense() && m.base >= from && m.end() <= to;
        matrices.iter().filter(inside)
    }

    /// The copy that certainly writes some of these bytes.
    pub(crate) fn overlapped(&self, var: u32, bytes: &std::ops::Range<i64>, matrices: &[Matrix]) -> Option<&Start> {
        let meets = |from: i64, to: i64| from < bytes.end && bytes.start < to;
        let certain = |s: &&Start| {
            s.var == var
                && (meets(s.at, s.at + s.size.map_or(LEAST, |size| size.min(1 << 20) as i64))
                    || self.matrices(s, matrices).any(|m| meets(m.base, m.end())))
        };
        self.0.iter().find(certain)
    }
}

/// The number of columns that products read of the same rows.
fn columns(m: &Matrix, matrices: &[Matrix]) -> i64 {
    let mut seen: Vec<i64> = Vec::new();
    for other in matrices {
        if (Matrix { column: m.column, ..*other }) == *m && !seen.contains(&other.column) {
            seen.push(other.column);
        }
    }
    seen.len() as i64
}
