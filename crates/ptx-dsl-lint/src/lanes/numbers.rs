//! Numbers for every thread of a CTA: special registers, comparisons, operations.

use super::super::ask::begins_any;
use super::{Fact, Set, Shared, THREADS};

/// `%tid` and friends as far as the block's shape says.
pub(super) struct Shape {
    pub dims: Option<[u32; 3]>,
    /// `%tid.x` is the linear number.
    pub linear: bool,
}

impl Shape {
    pub(super) fn table(&self, name: &str) -> Option<Special> {
        // What the last thread has stands for those behind it, which are not there.
        let last = match self.dims {
            Some([x, y, z]) => x.saturating_mul(y).saturating_mul(z).max(1) - 1,
            None => u32::MAX,
        };
        let of = |f: &dyn Fn(u32) -> u32| {
            let mut table = Vec::with_capacity(THREADS);
            for t in 0..THREADS as u32 {
                table.push(f(t.min(last)));
            }
            Some(Special::Table(table))
        };
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
                match self.dims {
                    Some(d) => of(&|_| d[k]),
                    None => Some(Special::Fact(Fact::Is(Shared::Cta))),
                }
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
                begins_any(name, &cta).then_some(Special::Fact(Fact::Is(Shared::Cta)))
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
pub(crate) enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Compare {
    pub(crate) fn of(qualifier: &str) -> Option<Compare> {
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
pub(crate) type Operation = fn(u32, u32, u32) -> Option<u32>;

/// What an instruction does with numbers of 32 bits; `None` where that is undefined.
pub(crate) fn operation(opcode: &str, signed: bool) -> Option<Operation> {
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
        "rem" if signed => |x, y, _| Some((x as i32).checked_rem(y as i32)? as u32),
        "rem" => |x, y, _| x.checked_rem(y),
        "div" if signed => |x, y, _| Some((x as i32).checked_div(y as i32)? as u32),
        "div" => |x, y, _| x.checked_div(y),
        _ => return None,
    })
}

pub(super) fn by_warp(t: &[u32]) -> bool {
    for (k, n) in t.iter().enumerate() {
        if *n != t[k / 32 * 32] {
            return false;
        }
    }
    true
}

pub(super) fn by_warp_set(s: &Set) -> bool {
    for word in s {
        if !matches!(*word as u32, 0 | u32::MAX) || !matches!((*word >> 32) as u32, 0 | u32::MAX) {
            return false;
        }
    }
    true
}

pub(crate) fn holds(op: Compare, signed: bool, bits: u32, x: u64, y: u64) -> bool {
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
