//! Dimensions and limits of a launch, and the checks of them.

use std::sync::Arc;

use crate::api::launch::error::{Dimensions, LaunchError};
use crate::kernel::KernelInfo;
#[cfg(doc)]
use crate::machine::limits::DEFAULT_STEP_LIMIT;
use crate::machine::limits::{CancelHandle, Listener, Progress};

/// Dimensions, from a number, a tuple or an array. A missing dimension is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dim3(pub [u32; 3]);

macro_rules! dims {
    ($($t:ty, $p:pat => $v:expr;)*) => { $(impl From<$t> for Dim3 {
        fn from($p: $t) -> Self { Dim3($v) }
    })* };
}
dims! {
    u32, x => [x, 1, 1];
    (u32,), (x,) => [x, 1, 1];
    (u32, u32), (x, y) => [x, y, 1];
    (u32, u32, u32), (x, y, z) => [x, y, z];
    [u32; 1], [x] => [x, 1, 1];
    [u32; 2], [x, y] => [x, y, 1];
    [u32; 3], v => v;
}

/// Dimensions and limits of a launch.
#[derive(Debug, Clone)]
pub struct Launch {
    pub(crate) grid: [u32; 3],
    pub(crate) block: Option<[u32; 3]>,
    pub(crate) cluster: Option<[u32; 3]>,
    pub(crate) dynamic_shared: u32,
    pub(crate) malloc_heap: u64,
    pub(crate) cooperative: bool,
    pub(crate) programmatic: bool,
    pub(crate) preferred_cluster: Option<[u32; 3]>,
    pub(crate) step_limit: Option<u64>,
    pub(crate) cancel: Option<CancelHandle>,
    pub(crate) listener: Option<Listener>,
}

/// The configuration that a launch asks of a device that is no host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaunchShape {
    /// CTAs of the grid.
    pub grid: [u32; 3],
    /// Threads of a CTA.
    pub block: [u32; 3],
    /// CTAs of a cluster.
    pub cluster: [u32; 3],
    /// Whether the launch itself asks for clusters, of whatever size.
    pub is_cluster_launch: bool,
    /// CTAs of a cluster where there is room.
    pub preferred_cluster: Option<[u32; 3]>,
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// Bytes of the heap of `malloc` in kernels.
    pub malloc_heap: u64,
    /// Whether all CTAs are resident at the same time.
    pub cooperative: bool,
    /// Whether the grid may start before the one before it has ended.
    pub programmatic: bool,
}

impl Launch {
    /// A grid of this many CTAs.
    pub fn grid(grid: impl Into<Dim3>) -> Self {
        Launch {
            grid: grid.into().0,
            block: None,
            cluster: None,
            dynamic_shared: 0,
            malloc_heap: 8 << 20,
            cooperative: false,
            programmatic: false,
            preferred_cluster: None,
            step_limit: None,
            cancel: None,
            listener: None,
        }
    }

    /// Threads of a CTA. The default is `.reqntid`, or one thread.
    pub fn block(mut self, block: impl Into<Dim3>) -> Self {
        self.block = Some(block.into().0);
        self
    }

    /// CTAs of a cluster. The default is `.reqnctapercluster`, or one CTA in a launch without clusters. Clusters of one CTA are not the same:
    /// without clusters `%is_explicit_cluster` is false, and `st.async` and bulk copies between shared memory are illegal on `sm_90`.
    pub fn cluster(mut self, cluster: impl Into<Dim3>) -> Self {
        self.cluster = Some(cluster.into().0);
        self
    }

    /// Bytes of dynamic shared memory (`.extern .shared`).
    pub fn dynamic_shared(mut self, bytes: u32) -> Self {
        self.dynamic_shared = bytes;
        self
    }

    /// Bytes of the heap of `malloc` and `free` in kernels, as `cudaLimitMallocHeapSize` sets it; 8 MiB by default. The heap is that of the
    /// launch: what a kernel does not free is gone at its end.
    pub fn malloc_heap(mut self, bytes: u64) -> Self {
        self.malloc_heap = bytes;
        self
    }

    /// All CTAs are resident at the same time and can wait for each other, as after `cudaLaunchCooperativeKernel`. `%envreg1` and
    /// `%envreg2` are the upper and lower half of the address of zeroed global memory, in which `grid.sync()` of cooperative groups
    /// counts arrivals. There are at most 4,224 CTAs: 32 for each of the 132 multiprocessors of an H200.
    pub fn cooperative(mut self) -> Self {
        self.cooperative = true;
        self
    }

    /// Allows the grid to start before the one before it in the stream has ended (programmatic dependent launch). What depends on that one
    /// comes after `griddepcontrol.wait`. A host runs one launch after the other; the [stream](crate::api::stream::HostStream) of a
    /// checked host finds what comes before the wait.
    pub fn programmatic(mut self) -> Self {
        self.programmatic = true;
        self
    }

    /// CTAs of a cluster where a GPU has room for so many, a multiple of the [cluster](Launch::cluster) in each dimension (sm_100 and later,
    /// `cudaLaunchAttributePreferredClusterDimension`). A host uses the cluster.
    pub fn preferred_cluster(mut self, cluster: impl Into<Dim3>) -> Self {
        self.preferred_cluster = Some(cluster.into().0);
        self
    }

    /// The dimensions of the launch of this kernel, with those of its directives where the launch says none.
    pub fn shape(&self, info: &KernelInfo<'_>) -> LaunchShape {
        LaunchShape {
            grid: self.grid,
            block: self.block_dims(info),
            cluster: self.cluster_dims(info),
            is_cluster_launch: self.cluster.is_some(),
            preferred_cluster: self.preferred_cluster,
            dynamic_shared: self.dynamic_shared,
            malloc_heap: self.malloc_heap,
            cooperative: self.cooperative,
            programmatic: self.programmatic,
        }
    }

    /// How many regions (pieces of code between branches and waits) may run, counted per warp.
    ///
    /// By default the limit is [`DEFAULT_STEP_LIMIT`] while global memory does not change where it had not changed before, and a loop that never
    /// ends is a fault within seconds. While no thread ends and memory does not change in a new place, all warps together may run 200 million
    /// instructions, and each warp 100 million (4 % of that if the runtime is not optimised; with a monitor, such as the checked host or a trace,
    /// half). A large copy or product, an atomic operation and a recursive call count for several; loops that count to an end have 16 times as
    /// much. Of compiled code that is not optimised each warp may run 12 million regions. Where memory is [weak](crate::api::host::Host::weak) the kernel may
    /// also make a million strong stores.
    pub fn step_limit(mut self, regions: u64) -> Self {
        self.step_limit = Some(regions);
        self
    }

    /// Lets another host thread cancel the launch.
    pub fn cancel(mut self, handle: CancelHandle) -> Self {
        self.cancel = Some(handle);
        self
    }

    /// Calls `listener` each time a cluster ends.
    pub fn on_progress(mut self, listener: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.listener = Some(Listener(Arc::new(listener)));
        self
    }

    /// CTAs per cluster, when the kernel runs.
    pub(crate) fn cluster_dims(&self, info: &KernelInfo) -> [u32; 3] {
        self.cluster.or(info.reqnctapercluster).unwrap_or([1; 3])
    }

    /// Threads per CTA, when the kernel runs.
    pub(crate) fn block_dims(&self, info: &KernelInfo) -> [u32; 3] {
        self.block.or(info.reqntid).unwrap_or([1; 3])
    }

    /// Bytes of local memory of a CTA, when the kernel runs.
    fn local_of_cta(&self, info: &KernelInfo) -> u64 {
        u64::from(info.local_size) * volume(self.block_dims(info)).next_multiple_of(32)
    }

    /// How many clusters are resident, of `wanted`: all of a cooperative launch, and no more than have room for their local memory.
    pub(crate) fn residents(&self, info: &KernelInfo, wanted: usize) -> usize {
        if self.cooperative {
            return usize::MAX;
        }
        let local = self.local_of_cta(info).saturating_mul(volume(self.cluster_dims(info)));
        wanted.min((ENOUGH_LOCAL / local.max(1)).max(1) as usize)
    }

    pub(super) fn check(&self, info: &KernelInfo) -> Result<(), LaunchError> {
        let (cluster, block) = (self.cluster_dims(info), self.block_dims(info));
        let all = [(Dimensions::Grid, self.grid), (Dimensions::Block, block), (Dimensions::Cluster, cluster)];
        for (of, dims) in all {
            if dims.contains(&0) {
                return Err(LaunchError::Zero { of, dims });
            }
        }
        let [gx, gy, gz] = self.grid;
        if gx > i32::MAX as u32 || gy > 65535 || gz > 65535 {
            return Err(LaunchError::GridTooLarge(self.grid));
        }
        let threads = volume(block);
        if block[0] > 1024 || block[1] > 1024 || block[2] > 64 {
            return Err(LaunchError::BlockTooLong(block));
        }
        if threads > 1024 {
            return Err(LaunchError::TooManyThreads(threads));
        }
        if let Some(required) = info.reqntid
            && required != block
        {
            return Err(LaunchError::Reqntid { given: block, required });
        }
        if let Some(limit) = info.maxntid
            && threads > volume(limit)
        {
            return Err(LaunchError::Maxntid { given: threads, limit });
        }
        if let Some(required) = info.reqnctapercluster
            && required != cluster
        {
            return Err(LaunchError::Reqnctapercluster { given: cluster, required });
        }
        if info.explicit_cluster && info.reqnctapercluster.is_none() && self.cluster.is_none() {
            return Err(LaunchError::ExplicitCluster);
        }
        let ctas = volume(cluster);
        if let Some(limit) = info.maxclusterrank
            && ctas > limit as u64
        {
            return Err(LaunchError::Maxclusterrank { given: ctas, limit });
        }
        if ctas > 16 {
            return Err(LaunchError::ClusterTooLarge(ctas));
        }
        if self.grid.iter().zip(cluster).any(|(g, c)| g % c != 0) {
            return Err(LaunchError::ClusterDividesGrid { grid: self.grid, cluster });
        }
        if info.heap && self.malloc_heap > MOST_HEAP {
            return Err(LaunchError::MallocHeap { bytes: self.malloc_heap });
        }
        if self.cooperative && volume(self.grid) > MOST_COOPERATIVE {
            return Err(LaunchError::Cooperative { ctas: volume(self.grid) });
        }
        let asked = info.shared_size as u64 + self.dynamic_shared as u64;
        if asked > 227 * 1024 {
            return Err(LaunchError::SharedMemory { asked, fixed: info.shared_size });
        }
        if self.local_of_cta(info) > MAX_LOCAL {
            return Err(LaunchError::LocalMemory { bytes: info.local_size, threads });
        }
        let together = if self.cooperative { volume(self.grid) } else { ctas };
        let local = self.local_of_cta(info).saturating_mul(together);
        if local > MOST_LOCAL {
            return Err(LaunchError::ResidentLocalMemory { bytes: local, ctas: together });
        }
        Ok(())
    }
}

/// CTAs of a cooperative launch.
pub(super) const MOST_COOPERATIVE: u64 = 132 * 32;

/// Bytes of the heap of `malloc`.
const MOST_HEAP: u64 = 4 << 30;

/// Bytes of local memory of a CTA: that of 1024 threads on hardware, where each has at most 512 KiB.
const MAX_LOCAL: u64 = 1024 * 512 * 1024;

/// Bytes of local memory of CTAs that must be resident at the same time.
const MOST_LOCAL: u64 = 8 << 30;

/// Bytes of local memory of the resident clusters, if there is more than one.
const ENOUGH_LOCAL: u64 = 2 << 30;

/// Product of dimensions, without overflow.
pub(crate) fn volume(d: [u32; 3]) -> u64 {
    d.iter().fold(1u64, |a, &n| a.saturating_mul(n as u64))
}
