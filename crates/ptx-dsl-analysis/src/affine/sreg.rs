//! Special registers: how their lanes lie.

use super::lattice::{Affine, UNIFORM, VARYING};
use crate::uniformity::{self, Uniformity};
use ptx_dsl_isa::isa::sreg::{SpecialRegister, special};

/// Is the special register the same for all warps of a CTA?
pub fn is_cta_uniform(register: SpecialRegister) -> bool {
    uniformity::special_register(register) == Uniformity::Cta
}

/// The lane layout of a special register in a kernel with this `.reqntid`.
pub fn affine(reqntid: Option<[u32; 3]>, register: SpecialRegister) -> Affine {
    let x = reqntid.map(|r| r[0]);
    let counting = Affine { period: 32, stride: 1, known_align: 5, ..VARYING };
    match (register, x) {
        (special::tid_x, Some(x)) if x % 32 == 0 => counting,
        (special::tid_x, Some(x @ (8 | 16))) => Affine { period: x, known_align: 64, ..counting },
        (special::tid_x, None) => Affine { guards: 1, ..counting },
        (special::tid_y | special::tid_z, Some(x)) if x % 32 == 0 => UNIFORM,
        (special::tid_y | special::tid_z, Some(x @ (8 | 16))) => Affine { period: x, ..VARYING },
        (special::tid_x | special::tid_y | special::tid_z, _) => VARYING,
        (special::laneid, _) => Affine { known_align: 64, ..counting },
        _ if uniformity::special_register(register) == Uniformity::None => VARYING,
        _ => UNIFORM,
    }
}
