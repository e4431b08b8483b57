//! Special registers: manual chapter 10. They are read by `mov` and `cvt` and never written.

use super::{ANY, Ptx, Targets, ptx, sm};
use crate::ty::Ty;

/// A special register or one component of a vector one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sreg {
    /// `%tid.x`
    pub name: &'static str,
    /// Its type (of each component, for `%tid` as a whole). Narrower reads of `%tid` and `%gridid` are legal for old code.
    pub ty: Ty,
    /// First version.
    pub since: Ptx,
    /// Targets.
    pub requires: Targets,
    /// It has four components, the last of them zero.
    pub vector: bool,
}

const fn row(name: &'static str, ty: Ty, since: Ptx, requires: Targets) -> Sreg {
    Sreg { name, ty, since, requires, vector: false }
}

const fn vector(name: &'static str, since: Ptx, requires: Targets) -> Sreg {
    Sreg { name, ty: Ty::U32, since, requires, vector: true }
}

/// All of them; `WARP_SZ` is a constant with a name but is used like one.
#[rustfmt::skip]
pub static SREGS: &[Sreg] = &[
    vector("%tid", ptx(1, 0), ANY),
    row("%tid.x", Ty::U32, ptx(1, 0), ANY),
    row("%tid.y", Ty::U32, ptx(1, 0), ANY),
    row("%tid.z", Ty::U32, ptx(1, 0), ANY),
    row("%tid.w", Ty::U32, ptx(1, 0), ANY),
    vector("%ntid", ptx(1, 0), ANY),
    row("%ntid.x", Ty::U32, ptx(1, 0), ANY),
    row("%ntid.y", Ty::U32, ptx(1, 0), ANY),
    row("%ntid.z", Ty::U32, ptx(1, 0), ANY),
    row("%ntid.w", Ty::U32, ptx(1, 0), ANY),
    row("%laneid", Ty::U32, ptx(1, 3), ANY),
    row("%warpid", Ty::U32, ptx(1, 3), ANY),
    row("%nwarpid", Ty::U32, ptx(2, 0), sm(20)),
    vector("%ctaid", ptx(1, 0), ANY),
    row("%ctaid.x", Ty::U32, ptx(1, 0), ANY),
    row("%ctaid.y", Ty::U32, ptx(1, 0), ANY),
    row("%ctaid.z", Ty::U32, ptx(1, 0), ANY),
    row("%ctaid.w", Ty::U32, ptx(1, 0), ANY),
    vector("%nctaid", ptx(1, 0), ANY),
    row("%nctaid.x", Ty::U32, ptx(1, 0), ANY),
    row("%nctaid.y", Ty::U32, ptx(1, 0), ANY),
    row("%nctaid.z", Ty::U32, ptx(1, 0), ANY),
    row("%nctaid.w", Ty::U32, ptx(1, 0), ANY),
    row("%smid", Ty::U32, ptx(1, 3), ANY),
    row("%nsmid", Ty::U32, ptx(2, 0), sm(20)),
    row("%gridid", Ty::U64, ptx(1, 0), ANY),
    row("%is_explicit_cluster", Ty::Pred, ptx(7, 8), sm(90)),
    vector("%clusterid", ptx(7, 8), sm(90)),
    row("%clusterid.x", Ty::U32, ptx(7, 8), sm(90)),
    row("%clusterid.y", Ty::U32, ptx(7, 8), sm(90)),
    row("%clusterid.z", Ty::U32, ptx(7, 8), sm(90)),
    row("%clusterid.w", Ty::U32, ptx(7, 8), sm(90)),
    vector("%nclusterid", ptx(7, 8), sm(90)),
    row("%nclusterid.x", Ty::U32, ptx(7, 8), sm(90)),
    row("%nclusterid.y", Ty::U32, ptx(7, 8), sm(90)),
    row("%nclusterid.z", Ty::U32, ptx(7, 8), sm(90)),
    row("%nclusterid.w", Ty::U32, ptx(7, 8), sm(90)),
    vector("%cluster_ctaid", ptx(7, 8), sm(90)),
    row("%cluster_ctaid.x", Ty::U32, ptx(7, 8), sm(90)),
    row("%cluster_ctaid.y", Ty::U32, ptx(7, 8), sm(90)),
    row("%cluster_ctaid.z", Ty::U32, ptx(7, 8), sm(90)),
    row("%cluster_ctaid.w", Ty::U32, ptx(7, 8), sm(90)),
    vector("%cluster_nctaid", ptx(7, 8), sm(90)),
    row("%cluster_nctaid.x", Ty::U32, ptx(7, 8), sm(90)),
    row("%cluster_nctaid.y", Ty::U32, ptx(7, 8), sm(90)),
    row("%cluster_nctaid.z", Ty::U32, ptx(7, 8), sm(90)),
    row("%cluster_nctaid.w", Ty::U32, ptx(7, 8), sm(90)),
    row("%cluster_ctarank", Ty::U32, ptx(7, 8), sm(90)),
    row("%cluster_nctarank", Ty::U32, ptx(7, 8), sm(90)),
    row("%lanemask_eq", Ty::U32, ptx(2, 0), sm(20)),
    row("%lanemask_le", Ty::U32, ptx(2, 0), sm(20)),
    row("%lanemask_lt", Ty::U32, ptx(2, 0), sm(20)),
    row("%lanemask_ge", Ty::U32, ptx(2, 0), sm(20)),
    row("%lanemask_gt", Ty::U32, ptx(2, 0), sm(20)),
    row("%clock", Ty::U32, ptx(1, 0), ANY),
    row("%clock_hi", Ty::U32, ptx(5, 0), sm(20)),
    row("%clock64", Ty::U64, ptx(2, 0), sm(20)),
    row("%pm0", Ty::U32, ptx(1, 3), ANY),
    row("%pm1", Ty::U32, ptx(1, 3), ANY),
    row("%pm2", Ty::U32, ptx(1, 3), ANY),
    row("%pm3", Ty::U32, ptx(1, 3), ANY),
    row("%pm4", Ty::U32, ptx(3, 0), sm(20)),
    row("%pm5", Ty::U32, ptx(3, 0), sm(20)),
    row("%pm6", Ty::U32, ptx(3, 0), sm(20)),
    row("%pm7", Ty::U32, ptx(3, 0), sm(20)),
    row("%pm0_64", Ty::U64, ptx(4, 0), sm(50)),
    row("%pm1_64", Ty::U64, ptx(4, 0), sm(50)),
    row("%pm2_64", Ty::U64, ptx(4, 0), sm(50)),
    row("%pm3_64", Ty::U64, ptx(4, 0), sm(50)),
    row("%pm4_64", Ty::U64, ptx(4, 0), sm(50)),
    row("%pm5_64", Ty::U64, ptx(4, 0), sm(50)),
    row("%pm6_64", Ty::U64, ptx(4, 0), sm(50)),
    row("%pm7_64", Ty::U64, ptx(4, 0), sm(50)),
    row("%envreg0", Ty::B32, ptx(2, 1), ANY),
    row("%envreg1", Ty::B32, ptx(2, 1), ANY),
    row("%envreg2", Ty::B32, ptx(2, 1), ANY),
    row("%envreg3", Ty::B32, ptx(2, 1), ANY),
    row("%envreg4", Ty::B32, ptx(2, 1), ANY),
    row("%envreg5", Ty::B32, ptx(2, 1), ANY),
    row("%envreg6", Ty::B32, ptx(2, 1), ANY),
    row("%envreg7", Ty::B32, ptx(2, 1), ANY),
    row("%envreg8", Ty::B32, ptx(2, 1), ANY),
    row("%envreg9", Ty::B32, ptx(2, 1), ANY),
    row("%envreg10", Ty::B32, ptx(2, 1), ANY),
    row("%envreg11", Ty::B32, ptx(2, 1), ANY),
    row("%envreg12", Ty::B32, ptx(2, 1), ANY),
    row("%envreg13", Ty::B32, ptx(2, 1), ANY),
    row("%envreg14", Ty::B32, ptx(2, 1), ANY),
    row("%envreg15", Ty::B32, ptx(2, 1), ANY),
    row("%envreg16", Ty::B32, ptx(2, 1), ANY),
    row("%envreg17", Ty::B32, ptx(2, 1), ANY),
    row("%envreg18", Ty::B32, ptx(2, 1), ANY),
    row("%envreg19", Ty::B32, ptx(2, 1), ANY),
    row("%envreg20", Ty::B32, ptx(2, 1), ANY),
    row("%envreg21", Ty::B32, ptx(2, 1), ANY),
    row("%envreg22", Ty::B32, ptx(2, 1), ANY),
    row("%envreg23", Ty::B32, ptx(2, 1), ANY),
    row("%envreg24", Ty::B32, ptx(2, 1), ANY),
    row("%envreg25", Ty::B32, ptx(2, 1), ANY),
    row("%envreg26", Ty::B32, ptx(2, 1), ANY),
    row("%envreg27", Ty::B32, ptx(2, 1), ANY),
    row("%envreg28", Ty::B32, ptx(2, 1), ANY),
    row("%envreg29", Ty::B32, ptx(2, 1), ANY),
    row("%envreg30", Ty::B32, ptx(2, 1), ANY),
    row("%envreg31", Ty::B32, ptx(2, 1), ANY),
    row("%globaltimer", Ty::U64, ptx(3, 1), sm(30)),
    row("%globaltimer_lo", Ty::U32, ptx(3, 1), sm(30)),
    row("%globaltimer_hi", Ty::U32, ptx(3, 1), sm(30)),
    row("%reserved_smem_offset_begin", Ty::B32, ptx(7, 6), sm(80)),
    row("%reserved_smem_offset_end", Ty::B32, ptx(7, 6), sm(80)),
    row("%reserved_smem_offset_cap", Ty::B32, ptx(7, 6), sm(80)),
    row("%reserved_smem_offset_0", Ty::B32, ptx(7, 6), sm(80)),
    row("%reserved_smem_offset_1", Ty::B32, ptx(7, 6), sm(80)),
    row("%total_smem_size", Ty::U32, ptx(4, 1), sm(20)),
    row("%aggr_smem_size", Ty::U32, ptx(8, 1), sm(90)),
    row("%dynamic_smem_size", Ty::U32, ptx(4, 1), sm(20)),
    row("%current_graph_exec", Ty::U64, ptx(8, 0), sm(50)),
    row("%perctamemoryoffset", Ty::U64, ptx(9, 4), sm(80)),
    row("%perctamemorysize", Ty::U32, ptx(9, 4), sm(80)),
    row("WARP_SZ", Ty::U32, ptx(2, 0), ANY),
];

/// A special register by its name, component included: `%tid.x`, `%envreg3`, `WARP_SZ`.
pub fn sreg(name: &str) -> Option<&'static Sreg> {
    let mut found = None;
    for row in SREGS {
        if row.name == name {
            found = Some(row);
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_stand_beside_their_vector() {
        assert!(sreg("%cluster_ctaid").unwrap().vector);
        assert_eq!(sreg("%cluster_ctaid.z").unwrap().ty, Ty::U32);
        assert!(sreg("%envreg31").is_some() && sreg("%envreg32").is_none() && sreg("%pm8").is_none());
        assert_eq!(sreg("%is_explicit_cluster").unwrap().ty, Ty::Pred);
    }
}
