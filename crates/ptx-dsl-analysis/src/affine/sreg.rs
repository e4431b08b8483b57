//! Special registers: how their lanes lie, and which are uniform in a CTA.

use super::lattice::{Affine, UNIFORM, VARYING};
use ptx_dsl_isa::isa::sreg::{SpecialRegister, Varies, special};

/// Is the special register the same for all warps of a CTA?
pub fn is_cta_uniform(register: SpecialRegister) -> bool {
    !matches!(register.row().varies, Varies::WithThread | Varies::WithWarp | Varies::InTime)
}

/// How the lanes of a special register lie in a kernel with this `.reqntid`.
pub fn affine(reqntid: Option<[u32; 3]>, register: SpecialRegister) -> Affine {
    let x = reqntid.map(|r| r[0]);
    let counting = Affine { stride: 1, known_align: 5, ..UNIFORM };
    match (register, x) {
        (special::tid_x, Some(x)) if x % 32 == 0 => counting,
        (special::tid_x, Some(x @ (8 | 16))) => Affine { period: x, known_align: 64, ..counting },
        (special::tid_x, None) => Affine { guards: 1, ..counting },
        (special::tid_y | special::tid_z, Some(x)) if x % 32 == 0 => UNIFORM,
        (special::tid_y | special::tid_z, Some(x @ (8 | 16))) => Affine { period: x, ..UNIFORM },
        (special::tid_x | special::tid_y | special::tid_z, _) => VARYING,
        (special::laneid, _) => Affine { known_align: 64, ..counting },
        _ if register.row().varies == Varies::WithThread => VARYING,
        _ => UNIFORM,
    }
}
