//! Special registers: manual chapter 10. They are read by `mov` and `cvt` and never written.

use super::version::{ANY, Ptx, Targets, ptx, sm};
use crate::ids::same;
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
    /// The scope of its value.
    pub varies: Varies,
}

/// The scope of a special register's value: threads in the same one read the same value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Varies {
    /// The whole grid.
    Never,
    /// The rank of the CTA in its cluster.
    WithRank,
    /// The cluster.
    WithCluster,
    /// The CTA.
    WithCta,
    /// The warp.
    WithWarp,
    /// The thread.
    WithThread,
    /// The time of the read.
    InTime,
}
use Varies::*;

const fn row(name: &'static str, ty: Ty, varies: Varies, since: Ptx, requires: Targets) -> Sreg {
    Sreg { name, ty, since, requires, vector: false, varies }
}

const fn vector(name: &'static str, varies: Varies, since: Ptx, requires: Targets) -> Sreg {
    Sreg { name, ty: Ty::U32, since, requires, vector: true, varies }
}

/// All special registers; `WARP_SZ` is a constant, but is used like one.
#[rustfmt::skip]
pub static SREGS: &[Sreg] = &[
    vector("%tid", WithThread, ptx(1, 0), ANY),
    row("%tid.x", Ty::U32, WithThread, ptx(1, 0), ANY),
    row("%tid.y", Ty::U32, WithThread, ptx(1, 0), ANY),
    row("%tid.z", Ty::U32, WithThread, ptx(1, 0), ANY),
    row("%tid.w", Ty::U32, WithThread, ptx(1, 0), ANY),
    vector("%ntid", Never, ptx(1, 0), ANY),
    row("%ntid.x", Ty::U32, Never, ptx(1, 0), ANY),
    row("%ntid.y", Ty::U32, Never, ptx(1, 0), ANY),
    row("%ntid.z", Ty::U32, Never, ptx(1, 0), ANY),
    row("%ntid.w", Ty::U32, Never, ptx(1, 0), ANY),
    row("%laneid", Ty::U32, WithThread, ptx(1, 3), ANY),
    row("%warpid", Ty::U32, WithWarp, ptx(1, 3), ANY),
    row("%nwarpid", Ty::U32, Never, ptx(2, 0), sm(20)),
    vector("%ctaid", WithCta, ptx(1, 0), ANY),
    row("%ctaid.x", Ty::U32, WithCta, ptx(1, 0), ANY),
    row("%ctaid.y", Ty::U32, WithCta, ptx(1, 0), ANY),
    row("%ctaid.z", Ty::U32, WithCta, ptx(1, 0), ANY),
    row("%ctaid.w", Ty::U32, WithCta, ptx(1, 0), ANY),
    vector("%nctaid", Never, ptx(1, 0), ANY),
    row("%nctaid.x", Ty::U32, Never, ptx(1, 0), ANY),
    row("%nctaid.y", Ty::U32, Never, ptx(1, 0), ANY),
    row("%nctaid.z", Ty::U32, Never, ptx(1, 0), ANY),
    row("%nctaid.w", Ty::U32, Never, ptx(1, 0), ANY),
    row("%smid", Ty::U32, WithCta, ptx(1, 3), ANY),
    row("%nsmid", Ty::U32, Never, ptx(2, 0), sm(20)),
    row("%gridid", Ty::U64, Never, ptx(1, 0), ANY),
    row("%is_explicit_cluster", Ty::Pred, Never, ptx(7, 8), sm(90)),
    vector("%clusterid", WithCluster, ptx(7, 8), sm(90)),
    row("%clusterid.x", Ty::U32, WithCluster, ptx(7, 8), sm(90)),
    row("%clusterid.y", Ty::U32, WithCluster, ptx(7, 8), sm(90)),
    row("%clusterid.z", Ty::U32, WithCluster, ptx(7, 8), sm(90)),
    row("%clusterid.w", Ty::U32, WithCluster, ptx(7, 8), sm(90)),
    vector("%nclusterid", Never, ptx(7, 8), sm(90)),
    row("%nclusterid.x", Ty::U32, Never, ptx(7, 8), sm(90)),
    row("%nclusterid.y", Ty::U32, Never, ptx(7, 8), sm(90)),
    row("%nclusterid.z", Ty::U32, Never, ptx(7, 8), sm(90)),
    row("%nclusterid.w", Ty::U32, Never, ptx(7, 8), sm(90)),
    vector("%cluster_ctaid", WithRank, ptx(7, 8), sm(90)),
    row("%cluster_ctaid.x", Ty::U32, WithRank, ptx(7, 8), sm(90)),
    row("%cluster_ctaid.y", Ty::U32, WithRank, ptx(7, 8), sm(90)),
    row("%cluster_ctaid.z", Ty::U32, WithRank, ptx(7, 8), sm(90)),
    row("%cluster_ctaid.w", Ty::U32, WithRank, ptx(7, 8), sm(90)),
    vector("%cluster_nctaid", Never, ptx(7, 8), sm(90)),
    row("%cluster_nctaid.x", Ty::U32, Never, ptx(7, 8), sm(90)),
    row("%cluster_nctaid.y", Ty::U32, Never, ptx(7, 8), sm(90)),
    row("%cluster_nctaid.z", Ty::U32, Never, ptx(7, 8), sm(90)),
    row("%cluster_nctaid.w", Ty::U32, Never, ptx(7, 8), sm(90)),
    row("%cluster_ctarank", Ty::U32, WithRank, ptx(7, 8), sm(90)),
    row("%cluster_nctarank", Ty::U32, Never, ptx(7, 8), sm(90)),
    row("%lanemask_eq", Ty::U32, WithThread, ptx(2, 0), sm(20)),
    row("%lanemask_le", Ty::U32, WithThread, ptx(2, 0), sm(20)),
    row("%lanemask_lt", Ty::U32, WithThread, ptx(2, 0), sm(20)),
    row("%lanemask_ge", Ty::U32, WithThread, ptx(2, 0), sm(20)),
    row("%lanemask_gt", Ty::U32, WithThread, ptx(2, 0), sm(20)),
    row("%clock", Ty::U32, InTime, ptx(1, 0), ANY),
    row("%clock_hi", Ty::U32, InTime, ptx(5, 0), sm(20)),
    row("%clock64", Ty::U64, InTime, ptx(2, 0), sm(20)),
    row("%pm0", Ty::U32, InTime, ptx(1, 3), ANY),
    row("%pm1", Ty::U32, InTime, ptx(1, 3), ANY),
    row("%pm2", Ty::U32, InTime, ptx(1, 3), ANY),
    row("%pm3", Ty::U32, InTime, ptx(1, 3), ANY),
    row("%pm4", Ty::U32, InTime, ptx(3, 0), sm(20)),
    row("%pm5", Ty::U32, InTime, ptx(3, 0), sm(20)),
    row("%pm6", Ty::U32, InTime, ptx(3, 0), sm(20)),
    row("%pm7", Ty::U32, InTime, ptx(3, 0), sm(20)),
    row("%pm0_64", Ty::U64, InTime, ptx(4, 0), sm(50)),
    row("%pm1_64", Ty::U64, InTime, ptx(4, 0), sm(50)),
    row("%pm2_64", Ty::U64, InTime, ptx(4, 0), sm(50)),
    row("%pm3_64", Ty::U64, InTime, ptx(4, 0), sm(50)),
    row("%pm4_64", Ty::U64, InTime, ptx(4, 0), sm(50)),
    row("%pm5_64", Ty::U64, InTime, ptx(4, 0), sm(50)),
    row("%pm6_64", Ty::U64, InTime, ptx(4, 0), sm(50)),
    row("%pm7_64", Ty::U64, InTime, ptx(4, 0), sm(50)),
    row("%envreg0", Ty::B32, Never, ptx(2, 1), ANY),
    row("%envreg1", Ty::B32, Never, ptx(2, 1), ANY),
    row("%envreg2", Ty::B32, Never, ptx(2, 1), ANY),
    row("%envreg3", Ty::B32, Never, ptx(2, 1), ANY),
    row("%envreg4", Ty::B32, Never, ptx(2, 1), ANY),
    row("%envreg5", Ty::B32, Never, ptx(2, 1), ANY),
    row("%envreg6", Ty::B32, Never, ptx(2, 1), ANY),
    row("%envreg7", Ty::B32, Never, ptx(2, 1), ANY),
    row("%envreg8", Ty::B32, Never, ptx(2, 1), ANY),
    row("%envreg9", Ty::B32, Never, ptx(2, 1), ANY),
    row("%envreg10", Ty::B32, Never, ptx(2, 1), ANY),
    row("%envreg11", Ty::B32, Never, ptx(2, 1), ANY),
    row("%envreg12", Ty::B32, Never, ptx(2, 1), ANY),
    row("%envreg13", Ty::B32, Never, ptx(2, 1), ANY),
    row("%envreg14", Ty::B32, Never, ptx(2, 1), ANY),
    row("%envreg15", Ty::B32, Never, ptx(2, 1), ANY),
    row("%envreg16", Ty::B32, Never, ptx(2, 1), ANY),
    row("%envreg17", Ty::B32, Never, ptx(2, 1), ANY),
    row("%envreg18", Ty::B32, Never, ptx(2, 1), ANY),
    row("%envreg19", Ty::B32, Never, ptx(2, 1), ANY),
    row("%envreg20", Ty::B32, Never, ptx(2, 1), ANY),
    row("%envreg21", Ty::B32, Never, ptx(2, 1), ANY),
    row("%envreg22", Ty::B32, Never, ptx(2, 1), ANY),
    row("%envreg23", Ty::B32, Never, ptx(2, 1), ANY),
    row("%envreg24", Ty::B32, Never, ptx(2, 1), ANY),
    row("%envreg25", Ty::B32, Never, ptx(2, 1), ANY),
    row("%envreg26", Ty::B32, Never, ptx(2, 1), ANY),
    row("%envreg27", Ty::B32, Never, ptx(2, 1), ANY),
    row("%envreg28", Ty::B32, Never, ptx(2, 1), ANY),
    row("%envreg29", Ty::B32, Never, ptx(2, 1), ANY),
    row("%envreg30", Ty::B32, Never, ptx(2, 1), ANY),
    row("%envreg31", Ty::B32, Never, ptx(2, 1), ANY),
    row("%globaltimer", Ty::U64, InTime, ptx(3, 1), sm(30)),
    row("%globaltimer_lo", Ty::U32, InTime, ptx(3, 1), sm(30)),
    row("%globaltimer_hi", Ty::U32, InTime, ptx(3, 1), sm(30)),
    row("%reserved_smem_offset_begin", Ty::B32, Never, ptx(7, 6), sm(80)),
    row("%reserved_smem_offset_end", Ty::B32, Never, ptx(7, 6), sm(80)),
    row("%reserved_smem_offset_cap", Ty::B32, Never, ptx(7, 6), sm(80)),
    row("%reserved_smem_offset_0", Ty::B32, Never, ptx(7, 6), sm(80)),
    row("%reserved_smem_offset_1", Ty::B32, Never, ptx(7, 6), sm(80)),
    row("%total_smem_size", Ty::U32, Never, ptx(4, 1), sm(20)),
    row("%aggr_smem_size", Ty::U32, Never, ptx(8, 1), sm(90)),
    row("%dynamic_smem_size", Ty::U32, Never, ptx(4, 1), sm(20)),
    row("%current_graph_exec", Ty::U64, Never, ptx(8, 0), sm(50)),
    row("%perctamemoryoffset", Ty::U64, WithCta, ptx(9, 4), sm(80)),
    row("%perctamemorysize", Ty::U32, Never, ptx(9, 4), sm(80)),
    row("WARP_SZ", Ty::U32, Never, ptx(2, 0), ANY),
];

/// A special register as an id: its row of [`SREGS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SpecialRegister(u8);

impl SpecialRegister {
    /// The one of this name. In a constant, a name that the table does not have is a compile error.
    pub const fn of(name: &str) -> SpecialRegister {
        let mut row = 0;
        while row < SREGS.len() {
            if same(SREGS[row].name.as_bytes(), name.as_bytes()) {
                return SpecialRegister(row as u8);
            }
            row += 1;
        }
        panic!("the table has no such special register")
    }

    /// The one of this name, component included: `%tid.x`, `%envreg3`, `WARP_SZ`.
    pub fn named(name: &str) -> Option<SpecialRegister> {
        SREGS.iter().position(|row| row.name == name).map(|row| SpecialRegister(row as u8))
    }

    /// Its row in the table.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The register in this row.
    pub fn from_index(index: usize) -> Option<SpecialRegister> {
        if index < SREGS.len() { Some(SpecialRegister(index as u8)) } else { None }
    }

    /// What the table says of it.
    pub fn row(self) -> &'static Sreg {
        &SREGS[self.0 as usize]
    }

    /// `%tid.x`
    pub fn name(self) -> &'static str {
        self.row().name
    }
}

macro_rules! registers {
    ($($name:ident $text:literal,)*) => {$(
        #[doc = concat!("`", $text, "`")]
        pub const $name: SpecialRegister = SpecialRegister::of($text);
    )*};
}

/// A constant for each special register that other crates name: its text without `%`, `.` as `_`.
#[allow(non_upper_case_globals)]
pub mod special {
    use super::SpecialRegister;

    registers! {
        tid "%tid", tid_x "%tid.x", tid_y "%tid.y", tid_z "%tid.z",
        ntid_x "%ntid.x", ntid_y "%ntid.y", ntid_z "%ntid.z",
        laneid "%laneid", warpid "%warpid", warp_sz "WARP_SZ",
        ctaid_x "%ctaid.x", ctaid_y "%ctaid.y", ctaid_z "%ctaid.z",
        clusterid_x "%clusterid.x", clusterid_y "%clusterid.y", clusterid_z "%clusterid.z",
        cluster_ctaid_x "%cluster_ctaid.x", cluster_ctaid_y "%cluster_ctaid.y", cluster_ctaid_z "%cluster_ctaid.z",
        cluster_nctaid_x "%cluster_nctaid.x", cluster_nctaid_y "%cluster_nctaid.y", cluster_nctaid_z "%cluster_nctaid.z",
        cluster_ctarank "%cluster_ctarank", cluster_nctarank "%cluster_nctarank",
        envreg1 "%envreg1", envreg2 "%envreg2",
    }

    /// Where reserved shared memory is.
    pub const RESERVED: [SpecialRegister; 5] = [
        SpecialRegister::of("%reserved_smem_offset_begin"),
        SpecialRegister::of("%reserved_smem_offset_end"),
        SpecialRegister::of("%reserved_smem_offset_cap"),
        SpecialRegister::of("%reserved_smem_offset_0"),
        SpecialRegister::of("%reserved_smem_offset_1"),
    ];
}

/// A special register by its name.
pub fn sreg(name: &str) -> Option<&'static Sreg> {
    SpecialRegister::named(name).map(SpecialRegister::row)
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
