//! The counters of each statement.

use ptx_dsl_isa::meaning::memory_pipeline::Served;
use std::ops::AddAssign;

macro_rules! counters {
    ($($(#[doc = $doc:literal])* $name:ident,)*) => {
        /// What a statement, or a kernel, did in a launch. Accesses to memory are those of warps, as the hardware makes them: one request
        /// for all active lanes of a warp.
        ///
        /// [Example](crate::observe::profile).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        #[non_exhaustive]
        pub struct Counters { $($(#[doc = $doc])* pub $name: u64,)* }

        impl AddAssign for Counters {
            fn add_assign(&mut self, other: Counters) {
                $(self.$name += other.$name;)*
            }
        }

        impl Counters {
            /// The counters that have these values by their names.
            pub(super) fn by_name(mut value: impl FnMut(&str) -> u64) -> Counters {
                Counters { $($name: value(stringify!($name)),)* }
            }

            /// What each counter is, in one line, with its name.
            pub fn meanings() -> impl Iterator<Item = (&'static str, &'static str)> {
                [$((stringify!($name), concat!($($doc),*).trim()),)*].into_iter()
            }

            /// Each counter with its name.
            pub fn all(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($name), self.$name),)*].into_iter()
            }
        }
    };
}

counters! {
    /// Instructions, by warp: a warp whose lanes have parted executes one for each part.
    executed,
    /// Instructions, by thread: of each execution the active lanes, whether their guard holds or not.
    threads,
    /// The part of `threads` whose guard did not hold.
    predicated_off,
    /// The part of `executed` with fewer than 32 active lanes.
    partial,
    /// Floating-point operations on `.f16` and `.bf16` by threads: 1 for each addition and multiplication, 2 for `fma`.
    flops_f16,
    /// Floating-point operations on `.f32` by threads.
    flops_f32,
    /// Floating-point operations on `.f64` by threads.
    flops_f64,
    /// Multiplications and additions of products of matrices: 2 times rows, columns and depth.
    tensor_operations,
    /// Requests to global memory: an instruction of a warp that accesses it.
    global_requests,
    /// Sectors of 32 bytes that these requests move.
    global_sectors,
    /// The fewest sectors that could hold the bytes that these requests ask for.
    global_ideal_sectors,
    /// Bytes of global memory that the lanes ask for.
    global_bytes,
    /// Requests to local memory: an instruction of a warp for each 4 bytes of its access.
    local_requests,
    /// Sectors of these requests: words of one offset of 32 lanes lie side by side.
    local_sectors,
    /// Bytes of local memory that the lanes ask for.
    local_bytes,
    /// Requests to shared memory of the own CTA.
    shared_requests,
    /// Wavefronts of these requests: passes over the 32 banks.
    shared_wavefronts,
    /// The wavefronts that these requests would need without bank conflicts.
    shared_ideal_wavefronts,
    /// Wavefronts that are only needed because lanes access different words of one bank.
    bank_conflicts,
    /// Bytes of shared memory that the lanes ask for.
    shared_bytes,
    /// Bytes of loads and stores in the shared memory of another CTA of the cluster.
    remote_bytes,
    /// Requests to constant memory by loads.
    const_requests,
    /// Different words of constant memory in these requests: the hardware reads them one after the other.
    const_words,
    /// Lanes of atomic operations that wait for another lane of their warp, which changes the same element.
    atomic_same_address,
    /// Bytes of shared memory that `wgmma` and `tcgen05` read by their descriptors.
    matrix_shared_bytes,
    /// Bytes that asynchronous copies read from global memory: those of a multicast copy once.
    async_global_read_bytes,
    /// Sectors of 32 bytes that hold these bytes, of each copy.
    async_global_read_sectors,
    /// Bytes that asynchronous copies write to global memory.
    async_global_written_bytes,
    /// Bytes that asynchronous copies read from shared memory.
    async_shared_read_bytes,
    /// Bytes that asynchronous copies write to shared memory, in each CTA that gets them.
    async_shared_written_bytes,
    /// Bytes of boxes outside of their tensor, which copies fill with zeros: they cost shared memory, and are nothing that was asked for.
    copy_padded_bytes,
    /// Bytes that multicast copies bring to further CTAs without reading them again.
    copy_multicast_bytes,
    /// Waits of warps, at barriers, mbarrier objects and the like. A test that is true at once is none.
    waits,
    /// Turns of the host for which warps waited. A turn is a region that a warp runs; its order is the host's, not a GPU's.
    wait_turns,
    /// Requests for a pending cluster (`clusterlaunchcontrol.try_cancel`).
    cancel_requests,
    /// Pending clusters that these requests have got.
    cancelled_clusters,
}

impl Counters {
    /// Adds requests to global memory.
    pub(super) fn global(&mut self, served: Served, times: u64, bytes: u64) {
        self.global_requests += times;
        self.global_sectors += served.units * times;
        self.global_ideal_sectors += served.ideal * times;
        self.global_bytes += bytes * times;
    }

    /// Adds requests to shared memory, and these conflicts of each.
    pub(super) fn shared(&mut self, served: Served, conflicts: u64, times: u64, bytes: u64) {
        self.shared_requests += times;
        self.shared_wavefronts += served.units * times;
        self.shared_ideal_wavefronts += served.ideal * times;
        self.bank_conflicts += conflicts * times;
        self.shared_bytes += bytes * times;
    }
}
