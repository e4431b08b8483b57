//! A ring of stages between tensor copies and their readers.

use ptx_dsl::prelude::*;

ptx! {
    <sm_90, ptx 8.0>

    /// A ring of stages. `barriers` is the shared address of the mbarriers: `full` of each stage, then `empty` of each stage. A phase of
    /// `full` ends when the bytes of the stage have arrived, a phase of `empty` when all readers have read it.
    ///
    /// A reader begins with stage 0 and parity 0, a writer with parity 1: the phase before the first one counts as complete.
    pub part ring {
        /// One thread initialises the mbarriers. `READERS` arrive at `empty` in each phase.
        .inline init(.b32 barriers, const STAGES: u32, const READERS: u32) {
            .reg .b32 %at;
            mov.b32 %at, barriers;
            @for STAGE in 0..STAGES {
                mbarrier.init.shared::cta.b64 [%at + 8 * STAGE], 1;
                mbarrier.init.shared::cta.b64 [%at + 8 * (STAGES + STAGE)], READERS;
            }
            fence.mbarrier_init.release.cluster;
        }

        /// Waits until a phase has ended.
        .inline wait(.b32 barrier, .b32 parity) {
            .reg .pred %done;
          again:
            mbarrier.try_wait.parity.shared::cta.b64 %done, [barrier], parity;
            @!%done bra again;
        }

        /// The next stage; after the last one the first, in the next phase.
        .inline next(.reg .b32 %stage, .reg .b32 %parity, const STAGES: u32) {
            .reg .pred %wrap;
            add.u32 %stage, %stage, 1;
            setp.eq.u32 %wrap, %stage, STAGES;
            selp.b32 %stage, 0, %stage, %wrap;
            @%wrap xor.b32 %parity, %parity, 1;
        }
    }
}
