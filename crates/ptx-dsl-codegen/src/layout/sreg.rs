//! Special registers: how their lanes lie, and which are uniform in a CTA.

use super::affine::{Affine, UNIFORM, VARYING};
use crate::kernel::Kernel;

/// Special registers that are the same for all warps of a CTA, without their axis.
const OF_THE_CTA: [&str; 7] =
    ["%ctaid", "%nctaid", "%ntid", "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid"];

/// Is the special register the same for all warps of a CTA?
pub fn is_cta_uniform(name: &str) -> bool {
    OF_THE_CTA.contains(&name.split('.').next().unwrap_or(name))
}

/// How the lanes of a special register lie.
pub fn affine(k: &Kernel<'_>, name: &str) -> Affine {
    let x = k.function.reqntid.map(|r| r[0]);
    let counting = Affine { stride: 1, known_align: 5, ..UNIFORM };
    match (name, x) {
        ("%tid.x", Some(x)) if x % 32 == 0 => counting,
        ("%tid.x", Some(x @ (8 | 16))) => Affine { period: x, known_align: 64, ..counting },
        ("%tid.x", None) => Affine { guards: 1, ..counting },
        ("%tid.y" | "%tid.z", Some(x)) if x % 32 == 0 => UNIFORM,
        ("%tid.y" | "%tid.z", Some(x @ (8 | 16))) => Affine { period: x, ..UNIFORM },
        ("%tid.x" | "%tid.y" | "%tid.z", _) => VARYING,
        ("%laneid", _) => Affine { known_align: 64, ..counting },
        _ if name.starts_with("%lanemask") => VARYING,
        _ => UNIFORM,
    }
}
