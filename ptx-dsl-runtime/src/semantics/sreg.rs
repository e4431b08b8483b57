//! Special registers (PTX ISA chapter 10): one function each, named without `%`, `.` as `_`.
//!
//! Numbered registers take their number: `%envreg3` is `envreg(x, lane, 3)`.

use crate::machine::Ctx;
use ptx_dsl_isa::isa::sreg::SpecialRegister;

macro_rules! registers {
    ($(#[doc = $doc:literal] $name:ident: |$x:ident, $lane:ident| $value:expr;)*) => {$(
        #[doc = $doc]
        #[inline(always)]
        pub fn $name($x: &Ctx<'_>, $lane: usize) -> u64 {
            let _ = ($x, $lane);
            ($value) as u64
        }
    )*

    /// The function that reads a special register, for the interpreter.
    pub(crate) fn reader(register: SpecialRegister) -> fn(&Ctx<'_>, usize) -> u64 {
        let name = register.name().trim_start_matches('%').replace('.', "_");
        match name.as_str() {
            $(stringify!($name) => $name,)*
            "envreg1" => |x, lane| envreg(x, lane, 1),
            "envreg2" => |x, lane| envreg(x, lane, 2),
            // the others, and `%pm`
            _ => |_, _| 0,
        }
    }
    };
}

registers! {
    #[doc = "`%tid.x`"] tid_x: |x, lane| x.ids().tid(lane)[0];
    #[doc = "`%tid.y`"] tid_y: |x, lane| x.ids().tid(lane)[1];
    #[doc = "`%tid.z`"] tid_z: |x, lane| x.ids().tid(lane)[2];
    #[doc = "`%tid.w`, 0"] tid_w: |x, lane| 0;
    #[doc = "`%ntid.x`"] ntid_x: |x, lane| x.ids().ntid()[0];
    #[doc = "`%ntid.y`"] ntid_y: |x, lane| x.ids().ntid()[1];
    #[doc = "`%ntid.z`"] ntid_z: |x, lane| x.ids().ntid()[2];
    #[doc = "`%ntid.w`, 0"] ntid_w: |x, lane| 0;
    #[doc = "`%laneid`"] laneid: |x, lane| lane;
    #[doc = "`%warpid`"] warpid: |x, lane| x.warp;
    #[doc = "`%nwarpid`"] nwarpid: |x, lane| x.ids().nwarps();
    #[doc = "`%ctaid.x`"] ctaid_x: |x, lane| x.ids().ctaid()[0];
    #[doc = "`%ctaid.y`"] ctaid_y: |x, lane| x.ids().ctaid()[1];
    #[doc = "`%ctaid.z`"] ctaid_z: |x, lane| x.ids().ctaid()[2];
    #[doc = "`%ctaid.w`, 0"] ctaid_w: |x, lane| 0;
    #[doc = "`%nctaid.x`"] nctaid_x: |x, lane| x.ids().nctaid()[0];
    #[doc = "`%nctaid.y`"] nctaid_y: |x, lane| x.ids().nctaid()[1];
    #[doc = "`%nctaid.z`"] nctaid_z: |x, lane| x.ids().nctaid()[2];
    #[doc = "`%nctaid.w`, 0"] nctaid_w: |x, lane| 0;
    #[doc = "`%smid`: there is one multiprocessor"] smid: |x, lane| 0;
    #[doc = "`%nsmid`"] nsmid: |x, lane| 1;
    #[doc = "`%gridid`"] gridid: |x, lane| x.ids().gridid();
    #[doc = "`%is_explicit_cluster`"] is_explicit_cluster: |x, lane| x.ids().explicit_cluster();
    #[doc = "`%clusterid.x`"] clusterid_x: |x, lane| x.ids().clusterid()[0];
    #[doc = "`%clusterid.y`"] clusterid_y: |x, lane| x.ids().clusterid()[1];
    #[doc = "`%clusterid.z`"] clusterid_z: |x, lane| x.ids().clusterid()[2];
    #[doc = "`%clusterid.w`, 0"] clusterid_w: |x, lane| 0;
    #[doc = "`%nclusterid.x`"] nclusterid_x: |x, lane| x.ids().nclusterid()[0];
    #[doc = "`%nclusterid.y`"] nclusterid_y: |x, lane| x.ids().nclusterid()[1];
    #[doc = "`%nclusterid.z`"] nclusterid_z: |x, lane| x.ids().nclusterid()[2];
    #[doc = "`%nclusterid.w`, 0"] nclusterid_w: |x, lane| 0;
    #[doc = "`%cluster_ctaid.x`"] cluster_ctaid_x: |x, lane| x.ids().cluster_ctaid()[0];
    #[doc = "`%cluster_ctaid.y`"] cluster_ctaid_y: |x, lane| x.ids().cluster_ctaid()[1];
    #[doc = "`%cluster_ctaid.z`"] cluster_ctaid_z: |x, lane| x.ids().cluster_ctaid()[2];
    #[doc = "`%cluster_ctaid.w`, 0"] cluster_ctaid_w: |x, lane| 0;
    #[doc = "`%cluster_nctaid.x`"] cluster_nctaid_x: |x, lane| x.ids().cluster_nctaid()[0];
    #[doc = "`%cluster_nctaid.y`"] cluster_nctaid_y: |x, lane| x.ids().cluster_nctaid()[1];
    #[doc = "`%cluster_nctaid.z`"] cluster_nctaid_z: |x, lane| x.ids().cluster_nctaid()[2];
    #[doc = "`%cluster_nctaid.w`, 0"] cluster_nctaid_w: |x, lane| 0;
    #[doc = "`%cluster_ctarank`"] cluster_ctarank: |x, lane| x.rank();
    #[doc = "`%cluster_nctarank`"] cluster_nctarank: |x, lane| x.ids().cluster_size();
    #[doc = "`%lanemask_eq`"] lanemask_eq: |x, lane| lanemasks(lane)[0];
    #[doc = "`%lanemask_le`"] lanemask_le: |x, lane| lanemasks(lane)[1];
    #[doc = "`%lanemask_lt`"] lanemask_lt: |x, lane| lanemasks(lane)[2];
    #[doc = "`%lanemask_ge`"] lanemask_ge: |x, lane| lanemasks(lane)[3];
    #[doc = "`%lanemask_gt`"] lanemask_gt: |x, lane| lanemasks(lane)[4];
    #[doc = "`%clock`: counts steps of the machine, not time"] clock: |x, lane| x.ids().clock() as u32;
    #[doc = "`%clock_hi`"] clock_hi: |x, lane| x.ids().clock() >> 32;
    #[doc = "`%clock64`"] clock64: |x, lane| x.ids().clock();
    #[doc = "`%globaltimer`: the same counter"] globaltimer: |x, lane| x.ids().clock();
    #[doc = "`%globaltimer_lo`"] globaltimer_lo: |x, lane| x.ids().clock() as u32;
    #[doc = "`%globaltimer_hi`"] globaltimer_hi: |x, lane| x.ids().clock() >> 32;
    #[doc = "`%reserved_smem_offset_begin`: behind the rest"] reserved_smem_offset_begin: |x, lane| x.ids().reserved_shared().0;
    #[doc = "`%reserved_smem_offset_end`"] reserved_smem_offset_end: |x, lane| x.ids().reserved_shared().1;
    #[doc = "`%reserved_smem_offset_cap`"] reserved_smem_offset_cap: |x, lane| x.ids().reserved_shared().1;
    #[doc = "`%reserved_smem_offset_0`"] reserved_smem_offset_0: |x, lane| x.ids().reserved_shared().0;
    #[doc = "`%reserved_smem_offset_1`"] reserved_smem_offset_1: |x, lane| x.ids().reserved_shared().0;
    #[doc = "`%total_smem_size`"] total_smem_size: |x, lane| x.ids().shared_size().2;
    #[doc = "`%aggr_smem_size`: with what is reserved"] aggr_smem_size: |x, lane| x.ids().reserved_shared().1;
    #[doc = "`%dynamic_smem_size`"] dynamic_smem_size: |x, lane| x.ids().shared_size().1;
    #[doc = "`%current_graph_exec`: not in a graph"] current_graph_exec: |x, lane| 0;
    #[doc = "`%perctamemoryoffset`: no such memory"] perctamemoryoffset: |x, lane| 0;
    #[doc = "`%perctamemorysize`: no such memory"] perctamemorysize: |x, lane| 0;
}

/// `%lanemask_eq`, `_le`, `_lt`, `_ge`, `_gt` of a lane.
#[inline(always)]
const fn lanemasks(lane: usize) -> [u32; 5] {
    let eq = 1u32 << (lane % 32);
    let lt = eq - 1;
    [eq, lt | eq, lt, !lt, !(lt | eq)]
}

/// `%envreg0` to `%envreg31`: what a driver may define. `%envreg1` and `%envreg2` are the upper and lower half of the address of the
/// memory of a cooperative launch; the others are 0.
#[inline(always)]
pub fn envreg(x: &Ctx<'_>, _: usize, n: u32) -> u64 {
    match n {
        1 => x.geometry.workspace >> 32,
        2 => x.geometry.workspace & u64::from(u32::MAX),
        _ => 0,
    }
}

/// `%pm0` to `%pm7` and `%pm0_64` to `%pm7_64`: no counters.
#[inline(always)]
pub fn pm(_: &Ctx<'_>, _: usize, _: u32) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    #[test]
    fn lanemasks() {
        assert_eq!(super::lanemasks(0), [1, 1, 0, 0xffff_ffff, 0xffff_fffe]);
        assert_eq!(super::lanemasks(5), [0x20, 0x3f, 0x1f, 0xffff_ffe0, 0xffff_ffc0]);
        assert_eq!(super::lanemasks(31), [0x8000_0000, 0xffff_ffff, 0x7fff_ffff, 0x8000_0000, 0]);
    }
}
