//! What the special registers say of where a thread is, and the sizes of what it is part of.

use super::Ctx;
use crate::monitor::Monitor;

impl<M: Monitor> Ctx<'_, M> {
    /// `%tid`
    #[inline(always)]
    pub fn tid(&self, lane: usize) -> [u32; 3] {
        self.tids.get(self.warp as usize * 32 + lane).copied().unwrap_or_default()
    }

    /// `%ntid`
    #[inline(always)]
    pub fn ntid(&self) -> [u32; 3] {
        self.block
    }

    /// `%ctaid`
    #[inline(always)]
    pub fn ctaid(&self) -> [u32; 3] {
        self.cta().id
    }

    /// `%nctaid`
    #[inline(always)]
    pub fn nctaid(&self) -> [u32; 3] {
        self.grid
    }

    /// `%clusterid`
    #[inline(always)]
    pub fn clusterid(&self) -> [u32; 3] {
        self.clusters[self.slot].id
    }

    /// `%nclusterid`
    #[inline(always)]
    pub fn nclusterid(&self) -> [u32; 3] {
        self.clusters_in_grid
    }

    /// `%cluster_ctaid`
    #[inline(always)]
    pub fn cluster_ctaid(&self) -> [u32; 3] {
        self.ctaid_in_cluster(self.cur.cta)
    }

    pub(crate) fn ctaid_in_cluster(&self, rank: u32) -> [u32; 3] {
        let [x, y, _] = self.cluster;
        [rank % x, rank / x % y, rank / x / y]
    }

    /// `%cluster_nctaid`
    #[inline(always)]
    pub fn cluster_nctaid(&self) -> [u32; 3] {
        self.cluster
    }

    /// `%cluster_ctarank`
    #[inline(always)]
    pub fn rank(&self) -> u32 {
        self.cur.cta
    }

    /// `%cluster_nctarank`
    #[inline(always)]
    pub fn cluster_size(&self) -> u32 {
        self.cluster.iter().product()
    }

    /// `%nwarpid` of this launch: warps of a CTA.
    #[inline(always)]
    pub fn nwarps(&self) -> u32 {
        self.threads.div_ceil(32)
    }

    /// Lanes of the current warp that exist and have not exited.
    #[inline(always)]
    pub fn live_mask(&self) -> u32 {
        self.cta().live.get(self.warp as usize).copied().unwrap_or(0)
    }

    /// `%is_explicit_cluster`
    pub fn explicit_cluster(&self) -> bool {
        self.info.explicit_cluster || self.info.reqnctapercluster.is_some() || self.cluster_size() > 1
    }

    /// Bytes of shared memory: static, dynamic, both.
    pub fn shared_size(&self) -> (u32, u32, u32) {
        let (s, d) = (self.info.shared_size, self.dynamic_shared);
        (s, d, s + d)
    }

    /// Time: regions run so far, counted per warp.
    pub fn clock(&self) -> u64 {
        self.turns
    }

    /// `%gridid`
    pub fn gridid(&self) -> u64 {
        0
    }
}
