//! Numbers for each thread of a CTA: special registers, operations of 32 bits.

use crate::lanes::facts::{LaneFact, Uniformity};
use crate::threads::THREADS;
use crate::uniformity;
use ptx_dsl_isa::isa::sreg::{SpecialRegister, Varies, special};
use ptx_dsl_isa::opcode::{Opcode, op};

/// The shape of the CTA, for special registers.
pub struct Shape {
    pub dims: Option<[u32; 3]>,
    /// `%tid.x` is the linear number.
    pub linear: bool,
}

impl Shape {
    pub fn table(&self, register: SpecialRegister) -> Option<Special> {
        // Threads beyond the last one repeat its value.
        let last = match self.dims {
            Some([x, y, z]) => x.saturating_mul(y).saturating_mul(z).max(1) - 1,
            None => u32::MAX,
        };
        let of = |f: &dyn Fn(u32) -> u32| Some(Special::Table((0..THREADS as u32).map(|t| f(t.min(last))).collect()));
        let [x, y, _] = self.dims.unwrap_or([u32::MAX, 1, 1]);
        match register {
            special::laneid => of(&|t| t % 32),
            special::tid_x if self.linear && self.dims.is_none() => of(&|t| t),
            special::tid_x if self.dims.is_some() => of(&|t| t % x.max(1)),
            special::tid_y if self.dims.is_some() => of(&|t| t / x.max(1) % y.max(1)),
            special::tid_z if self.dims.is_some() => of(&|t| t / x.max(1).saturating_mul(y.max(1)).max(1)),
            special::ntid_x | special::ntid_y | special::ntid_z => {
                let k = match register {
                    special::ntid_x => 0,
                    special::ntid_y => 1,
                    _ => 2,
                };
                match self.dims {
                    Some(d) => of(&|_| d[k]),
                    None => Some(Special::Fact(LaneFact::Is(Uniformity::Cta))),
                }
            }
            _ if register.row().varies == Varies::InTime => None,
            _ => match uniformity::special_register(register) {
                Uniformity::None => None,
                shared => Some(Special::Fact(LaneFact::Is(shared))),
            },
        }
    }
}

/// The meaning of a special register: a fact, or a table that has no number yet.
pub enum Special {
    Fact(LaneFact),
    Table(Vec<u32>),
}

/// A number for every thread.
pub enum Numbers<'t> {
    One(u32),
    Each(&'t [u32]),
}

impl Numbers<'_> {
    pub fn at(&self, t: usize) -> u32 {
        match self {
            Numbers::One(n) => *n,
            Numbers::Each(list) => list[t],
        }
    }
}

/// A function of `a`, `b` and `c`.
pub type Operation = fn(u32, u32, u32) -> Option<u32>;

/// The function of 32-bit numbers that an instruction computes; `None` where that is undefined.
pub fn operation(opcode: Opcode, signed: bool) -> Option<Operation> {
    Some(match opcode {
        op::add => |x, y, _| Some(x.wrapping_add(y)),
        op::sub => |x, y, _| Some(x.wrapping_sub(y)),
        op::mul => |x, y, _| Some(x.wrapping_mul(y)),
        op::mad => |x, y, z| Some(x.wrapping_mul(y).wrapping_add(z)),
        op::and => |x, y, _| Some(x & y),
        op::or => |x, y, _| Some(x | y),
        op::xor => |x, y, _| Some(x ^ y),
        op::shl => |x, y, _| Some(x.checked_shl(y).unwrap_or(0)),
        op::shr if signed => |x, y, _| Some((x as i32 >> y.min(31)) as u32),
        op::shr => |x, y, _| Some(x.checked_shr(y).unwrap_or(0)),
        op::min if signed => |x, y, _| Some((x as i32).min(y as i32) as u32),
        op::min => |x, y, _| Some(x.min(y)),
        op::max if signed => |x, y, _| Some((x as i32).max(y as i32) as u32),
        op::max => |x, y, _| Some(x.max(y)),
        op::rem if signed => |x, y, _| Some((x as i32).checked_rem(y as i32)? as u32),
        op::rem => |x, y, _| x.checked_rem(y),
        op::div if signed => |x, y, _| Some((x as i32).checked_div(y as i32)? as u32),
        op::div => |x, y, _| x.checked_div(y),
        _ => return None,
    })
}
