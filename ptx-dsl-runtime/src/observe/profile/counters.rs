//! What is counted for each statement.

use super::model::Served;
use std::ops::AddAssign;

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// What a statement, or a kernel, did in a launch. Accesses to memory are those of warps, as the hardware makes them: one request
        /// for all active lanes of a warp.
        ///
        /// [Example](crate::observe::profile).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        #[non_exhaustive]
        pub struct Counters { $($(#[$doc])* pub $name: u64,)* }

        impl AddAssign for Counters {
            fn add_assign(&mut self, other: Counters) {
                $(self.$name += other.$name;)*
            }
        }

        impl Counters {
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
    /// Of `threads` those whose guard did not hold.
    predicated_off,
    /// Of `executed` those with fewer than 32 active lanes.
    partial,
    /// Requests to global memory.
    global_requests,
    /// Sectors of 32 bytes that these requests move.
    global_sectors,
    /// The fewest sectors that could hold the bytes that they ask for.
    global_ideal_sectors,
    /// Bytes that the lanes ask for.
    global_bytes,
    /// Requests to local memory.
    local_requests,
    /// Sectors of these requests: words of one offset of 32 lanes lie side by side.
    local_sectors,
    /// Bytes that the lanes ask for.
    local_bytes,
    /// Requests to shared memory of the own CTA.
    shared_requests,
    /// Wavefronts of these requests: passes over the 32 banks.
    shared_wavefronts,
    /// The wavefronts without bank conflicts.
    shared_ideal_wavefronts,
    /// Wavefronts that are only needed because lanes access different words of one bank.
    bank_conflicts,
    /// Bytes that the lanes ask for.
    shared_bytes,
    /// Bytes of loads and stores in the shared memory of another CTA of the cluster.
    remote_bytes,
    /// Bytes that asynchronous copies read from global memory.
    async_global_read_bytes,
    /// Bytes that they write to global memory.
    async_global_written_bytes,
    /// Bytes that they read from shared memory.
    async_shared_read_bytes,
    /// Bytes that they write to shared memory, of each CTA that gets them.
    async_shared_written_bytes,
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
