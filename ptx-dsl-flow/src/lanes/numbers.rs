//! Numbers for every thread of a CTA: special registers, comparisons, operations.

use super::{Fact, Set, Shared, THREADS};
use ptx_dsl_table::list::List;

/// `%tid` and friends as far as the block's shape says.
pub(super) struct Shape {
    pub dims: Option<[u32; 3]>,
    /// `%tid.x` is the linear number.
    pub linear: bool,
}

impl Shape {
    pub(super) fn table(&self, name: &str) -> Option<Special> {
        // What the last thread has stands for those behind it, which are not there.
        let last = self.dims.map_or(u32::MAX, |[x, y, z]| x.saturating_mul(y).saturating_mul(z).max(1) - 1);
        let of = |f: &dyn Fn(u32) -> u32| Some(Special::Table((0..THREADS as u32).map(|t| f(t.min(last))).list()));
        let [x, y, _] = self.dims.unwrap_or([u32::MAX, 1, 1]);
        match name {
            "%laneid" => of(&|t| t % 32),
            "%tid.x" if self.linear && self.dims.is_none() => of(&|t| t),
            "%tid.x" if self.dims.is_some() => of(&|t| t % x.max(1)),
            "%tid.y" if self.dims.is_some() => of(&|t| t / x.max(1) % y.max(1)),
            "%tid.z" if self.dims.is_some() => of(&|t| t / x.max(1).saturating_mul(y.max(1)).max(1)),
            "%ntid.x" | "%ntid.y" | "%ntid.z" => {
                let k = match name.as_bytes()[6] {
                    b'x' => 0,
                    b'y' => 1,
                    _ => 2,
                };
                self.dims.map_or(Some(Special::Fact(Fact::Is(Shared::Cta))), |d| of(&|_| d[k]))
            }
            "%warpid" | "%nwarpid" => Some(Special::Fact(Fact::Is(Shared::Warp))),
            _ => {
                let cta = [
                    "%ctaid",
                    "%nctaid",
                    "%cluster",
                    "%nclusterid",
                    "%is_explicit_cluster",
                    "%gridid",
                    "%smid",
                    "%nsmid",
                    "%total_smem_size",
                    "%dynamic_smem_size",
                    "%aggr_smem_size",
                    "%reserved_smem",
                    "%envreg",
                ];
                cta.iter().any(|p| name.starts_with(p)).then_some(Special::Fact(Fact::Is(Shared::Cta)))
            }
        }
    }
}

/// What a special register is: a fact, or a table that has no number yet.
pub(super) enum Special {
    Fact(Fact),
    Table(Vec<u32>),
}

/// `.CmpOp` of integers; `.lo` and friends go with unsigned types only, where they are `.lt` and friends (9.7.6.2).
#[derive(Debug, Clone, Copy)]
pub(super) enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Compare {
    pub(super) fn of(qualifier: &str) -> Option<Compare> {
        Some(match qualifier {
            ".eq" => Compare::Eq,
            ".ne" => Compare::Ne,
            ".lt" | ".lo" => Compare::Lt,
            ".le" | ".ls" => Compare::Le,
            ".gt" | ".hi" => Compare::Gt,
            ".ge" | ".hs" => Compare::Ge,
            _ => return None,
        })
    }
}

/// A number for every thread.
pub(super) enum Numbers<'t> {
    One(u32),
    Each(&'t [u32]),
}

impl Numbers<'_> {
    pub(super) fn at(&self, t: usize) -> u32 {
        match self {
            Numbers::One(n) => *n,
            Numbers::Each(list) => list[t],
        }
    }
}

/// Of `a`, `b` and `c`.
type Operation = fn(u32, u32, u32) -> Option<u32>;

/// What an instruction does with numbers of 32 bits; `None` where that is undefined.
pub(super) fn operation(opcode: &str, signed: bool) -> Option<Operation> {
    Some(match opcode {
        "add" => |x, y, _| Some(x.wrapping_add(y)),
        "sub" => |x, y, _| Some(x.wrapping_sub(y)),
        "mul" => |x, y, _| Some(x.wrapping_mul(y)),
        "mad" => |x, y, z| Some(x.wrapping_mul(y).wrapping_add(z)),
        "and" => |x, y, _| Some(x & y),
        "or" => |x, y, _| Some(x | y),
        "xor" => |x, y, _| Some(x ^ y),
        "shl" => |x, y, _| Some(x.checked_shl(y).unwrap_or(0)),
        "shr" if signed => |x, y, _| Some((x as i32 >> y.min(31)) as u32),
        "shr" => |x, y, _| Some(x.checked_shr(y).unwrap_or(0)),
        "min" if signed => |x, y, _| Some((x as i32).min(y as i32) as u32),
        "min" => |x, y, _| Some(x.min(y)),
        "max" if signed => |x, y, _| Some((x as i32).max(y as i32) as u32),
        "max" => |x, y, _| Some(x.max(y)),
        "rem" if signed => |x, y, _| (x as i32).checked_rem(y as i32).map(|n| n as u32),
        "rem" => |x, y, _| x.checked_rem(y),
        "div" if signed => |x, y, _| (x as i32).checked_div(y as i32).map(|n| n as u32),
        "div" => |x, y, _| x.checked_div(y),
        _ => return None,
    })
}

pub(super) fn by_warp(t: &[u32]) -> bool {
    t.chunks(32).all(|w| w.windows(2).all(|p| p[0] == p[1]))
}

pub(super) fn by_warp_set(s: &Set) -> bool {
    s.iter().all(|w| matches!(*w as u32, 0 | u32::MAX) && matches!((*w >> 32) as u32, 0 | u32::MAX))
}

pub(super) fn holds(op: Compare, signed: bool, bits: u32, x: u64, y: u64) -> bool {
    let mask = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
    let (x, y) = (x & mask, y & mask);
    let wide = |n: u64| if signed { ((n << (64 - bits)) as i64) >> (64 - bits) } else { 0 };
    let order = if signed { wide(x).cmp(&wide(y)) } else { x.cmp(&y) };
    match op {
        Compare::Eq => order.is_eq(),
        Compare::Ne => order.is_ne(),
        Compare::Lt => order.is_lt(),
        Compare::Le => order.is_le(),
        Compare::Gt => order.is_gt(),
        Compare::Ge => order.is_ge(),
    }
}
