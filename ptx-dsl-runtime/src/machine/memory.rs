//! The memories of a launch: global memory, kernel parameters, and the shared memory of the running CTA.

use crate::fault::FaultKind;
use crate::machine::cluster::Cluster;
use crate::memory::cache_lines::CacheLines;
use crate::memory::global::Global;

/// The memories of a launch, as one host thread sees them.
pub(crate) struct Memory<'a> {
    pub global: Global<'a>,
    /// Kernel parameters of the device whose cluster runs.
    pub params: Vec<u8>,
    /// Kernel parameters of the other devices of the launch, by number.
    others: Vec<Vec<u8>>,
    /// The number of the device whose cluster runs.
    device: usize,
    /// Shared memory of the CTA whose step runs, moved here from its cluster: accesses then need no look-up.
    pub shared: CacheLines,
    /// The rank of that CTA; [`Memory::NO_CTA`] between steps.
    pub shared_rank: u32,
}

impl<'a> Memory<'a> {
    /// No CTA has this rank.
    pub const NO_CTA: u32 = u32::MAX;

    pub fn new(global: Global<'a>, mut params: Vec<Vec<u8>>) -> Self {
        let first = params.first_mut().map(std::mem::take).unwrap_or_default();
        Memory {
            global,
            params: first,
            others: params,
            device: 0,
            shared: CacheLines::default(),
            shared_rank: Self::NO_CTA,
        }
    }

    /// Kernel parameters are those of this device from now on.
    pub fn select(&mut self, device: usize) {
        if device != self.device {
            std::mem::swap(&mut self.params, &mut self.others[self.device]);
            self.device = device;
            std::mem::swap(&mut self.params, &mut self.others[device]);
        }
    }

    /// Exchanges the shared memory with that of a CTA; it is that of CTA `rank` from now on.
    #[inline(always)]
    pub fn swap_shared(&mut self, of: &mut CacheLines, rank: u32) {
        std::mem::swap(&mut self.shared, of);
        self.shared_rank = rank;
    }

    /// The shared memory of a CTA of `cluster`, the current one.
    #[inline(always)]
    pub fn window<'m>(&'m self, cluster: &'m Cluster, rank: u32) -> Result<&'m [u8], FaultKind> {
        if rank == self.shared_rank {
            return Ok(&self.shared);
        }
        match cluster.ctas.get(rank as usize) {
            Some(cta) if !cta.exited => Ok(&cta.shared),
            _ => Err(no_window(cluster, rank)),
        }
    }

    /// The shared memory of a CTA of `cluster`, to write.
    #[inline(always)]
    pub fn window_mut<'m>(&'m mut self, cluster: &'m mut Cluster, rank: u32) -> Result<&'m mut [u8], FaultKind> {
        if rank == self.shared_rank {
            return Ok(&mut self.shared);
        }
        if cluster.ctas.get(rank as usize).is_none_or(|cta| cta.exited) {
            return Err(no_window(cluster, rank));
        }
        Ok(&mut cluster.ctas[rank as usize].shared)
    }
}

impl<'a> Memory<'a> {
    /// Global memory, and the shared memory of a CTA of `cluster`, to copy between them.
    pub fn global_and_window<'m>(
        &'m mut self,
        cluster: &'m mut Cluster,
        rank: u32,
    ) -> Result<(&'m mut Global<'a>, &'m mut [u8]), FaultKind> {
        if rank == self.shared_rank {
            return Ok((&mut self.global, &mut self.shared));
        }
        if cluster.ctas.get(rank as usize).is_none_or(|cta| cta.exited) {
            return Err(no_window(cluster, rank));
        }
        Ok((&mut self.global, &mut cluster.ctas[rank as usize].shared))
    }
}

/// Why a CTA has no shared memory.
#[cold]
fn no_window(cluster: &Cluster, rank: u32) -> FaultKind {
    match cluster.ctas.len() as u32 {
        size if rank < size => FaultKind::ExitedCta { rank },
        size => FaultKind::NoSuchRank { rank, size },
    }
}
