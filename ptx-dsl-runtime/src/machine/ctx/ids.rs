//! Special registers of place, size and time, and the parameters.

use crate::machine::ctx::Ctx;
use crate::machine::ctx::parts::Ids;
use crate::numerics::lanes::Word;

impl<'c> Ids<'c, '_> {
    /// `%tid`
    #[inline(always)]
    pub fn tid(self, lane: usize) -> [u32; 3] {
        self.ctx.geometry.tid(self.ctx.warp, lane)
    }

    /// `%tid` of the first lane of each row.
    #[inline(always)]
    pub fn tid_rows<const NB: usize>(self, axis: usize) -> [u32; NB] {
        std::array::from_fn(|j| self.tid(j * (32 / NB))[axis])
    }

    /// Do the lanes of every warp follow each other in `%tid.x`?
    #[inline(always)]
    pub fn flat(self) -> bool {
        let [x, y, z] = self.ctx.geometry.block;
        x.is_multiple_of(32) || y * z == 1
    }

    /// `%ntid`
    #[inline(always)]
    pub fn ntid(self) -> [u32; 3] {
        self.ctx.geometry.block
    }

    /// `%ctaid`
    #[inline(always)]
    pub fn ctaid(&self) -> [u32; 3] {
        let id = self.ctx.cta().id;
        if self.ctx.geometry.devices > 1 { [id[0], id[1], id[2] % self.ctx.geometry.grid[2]] } else { id }
    }

    /// `%nctaid`
    #[inline(always)]
    pub fn nctaid(self) -> [u32; 3] {
        self.ctx.geometry.grid
    }

    /// `%clusterid`
    #[inline(always)]
    pub fn clusterid(&self) -> [u32; 3] {
        let id = self.ctx.residents.here().id;
        if self.ctx.geometry.devices > 1 { [id[0], id[1], id[2] % self.ctx.geometry.clusters[2]] } else { id }
    }

    /// `%nclusterid`
    #[inline(always)]
    pub fn nclusterid(self) -> [u32; 3] {
        self.ctx.geometry.clusters
    }

    /// `%cluster_ctaid`
    #[inline(always)]
    pub fn cluster_ctaid(self) -> [u32; 3] {
        self.ctx.geometry.ctaid_in_cluster(self.ctx.cur.cta)
    }

    /// `%cluster_nctaid`
    #[inline(always)]
    pub fn cluster_nctaid(self) -> [u32; 3] {
        self.ctx.geometry.cluster
    }

    /// `%cluster_nctarank`
    #[inline(always)]
    pub fn cluster_size(self) -> u32 {
        self.ctx.geometry.cluster_size()
    }

    /// `%nwarpid` of this launch: warps of a CTA.
    #[inline(always)]
    pub fn nwarps(self) -> u32 {
        self.ctx.geometry.warps()
    }

    /// `%is_explicit_cluster`
    pub fn explicit_cluster(self) -> bool {
        let info = self.ctx.geometry.info;
        self.ctx.geometry.is_cluster_launch || info.reqnctapercluster.is_some()
    }

    /// Bytes of shared memory: static, dynamic, both.
    pub fn shared_size(self) -> (u32, u32, u32) {
        (self.ctx.geometry.info.shared_size, self.ctx.geometry.dynamic_shared, self.ctx.geometry.shared_size())
    }

    /// The begin and the end of reserved shared memory.
    pub fn reserved_shared(self) -> (u32, u32) {
        self.ctx.geometry.reserved_shared()
    }

    /// Time: regions run so far, counted per warp.
    pub fn clock(self) -> u64 {
        self.ctx.scheduling.turns
    }

    /// `%gridid`
    pub fn gridid(self) -> u64 {
        0
    }
}

impl Ctx<'_> {
    /// `%cluster_ctarank`
    #[inline(always)]
    pub fn rank(&self) -> u32 {
        self.cur.cta
    }

    /// Lanes of the current warp that exist and have not exited.
    #[inline(always)]
    pub fn live_mask(&self) -> u32 {
        self.cta().live.get(self.warp as usize).copied().unwrap_or(0)
    }

    /// A kernel parameter of `T`'s size.
    #[inline(always)]
    pub fn param<T: Word>(&self, offset: usize) -> Option<T> {
        self.memory.params.get(offset..offset + T::BYTES).map(T::load)
    }
}
