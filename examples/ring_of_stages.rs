//! One ring of stages in shared memory, written once and used by three kernels: constants, parts and parameters together.
//!
//! A producer warp fills the stages, and a consumer warp empties them. Each stage has two mbarriers. A phase of `full` completes when
//! the stage is written, a phase of `empty` when it has been read. The part `ring` has the barriers, and what both warps do with
//! them. Each kernel has a number of stages of its own, and does something else with the data.

use ptx_dsl::prelude::*;

/// Stages of `scale`.
const STAGES: u32 = 4;
const LANES: usize = 32;

mod parts {
    use ptx_dsl::prelude::*;

    ptx! {
        <sm_90, ptx 8.0>

        /// A ring of stages between a producer warp and a consumer warp.
        pub(crate) part ring {
            /// The barriers of all stages, and 128 bytes for each.
            .layout stages(full, empty, data, const STAGES: u32) {
                .shared .align 8 .b64 full[STAGES], empty[STAGES];
                .shared .align 16 .b8 data[STAGES * 128];
            }

            /// One thread for each stage initialises its barriers, for the lanes of a warp.
            .inline init(.shared .b64 full, .shared .b64 empty, const STAGES: u32) {
                let %i = %tid.x;
                if %i < STAGES {
                    mbarrier.init.shared::cta.b64 [full + 8 * %i], 32;
                    mbarrier.init.shared::cta.b64 [empty + 8 * %i], 32;
                }
                bar.sync 0;
            }

            /// The consumer begins with phase 0. The producer begins with phase 1: the one before the first counts as complete.
            .inline start(.reg .b32 %stage, .reg .b32 %phase, const PHASE: u32 = 0) {
                %stage = 0;
                %phase = PHASE;
            }

            /// Waits for a phase of a barrier of this stage.
            .inline wait(.shared .b64 barriers, .b32 stage, .b32 phase) {
                .reg .pred %done;
                loop {
                    mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %done, [barriers + 8 * stage], phase;
                    if %done { break; }
                }
            }

            /// Arrives at a barrier of this stage.
            .inline arrive(.shared .b64 barriers, .b32 stage) {
                mbarrier.arrive.release.cta.shared::cta.b64 _, [barriers + 8 * stage];
            }

            /// The next stage; after the last one the first, in the next phase.
            .inline next(.reg .b32 %stage, .reg .b32 %phase, const STAGES: u32) {
                %stage = %stage + 1;
                if %stage == STAGES {
                    %stage = 0;
                    %phase = %phase ^ 1;
                }
            }

            /// Writes or reads a thread's 4 bytes in this stage.
            .inline store(.shared .b8 data, .b32 stage, .b32 lane, .reg .b32 %v) {
                st.shared.b32 [data + 128 * stage + 4 * lane], %v;
            }

            .inline load<T: b32 | f32>(.reg .T %v, .shared .b8 data, .b32 stage, .b32 lane) {
                ld.shared.T %v, [data + 128 * stage + 4 * lane];
            }
        }
    }

    ptx! {
        <sm_90, ptx 8.0>
        use crate::parts::ring;

        /// The warp that reads global memory: lane l writes element l of each chunk.
        pub(crate) part producer {
            .inline produce(
                .b64 %from, .b32 chunks, .b32 lane,
                .shared .b64 full, .shared .b64 empty, .shared .b8 data, const STAGES: u32)
            {
                .reg .b32 %stage, %phase, %v;
                ring::start!(%stage, %phase, 1);
                let %i = 0;
                while %i < chunks {
                    ring::wait!(empty, %stage, %phase);
                    ld.global.b32 %v, [%from + 128 * %i];
                    ring::store!(data, %stage, lane, %v);
                    ring::arrive!(full, %stage);
                    ring::next!(%stage, %phase, STAGES);
                    %i = %i + 1;
                }
            }
        }
    }
}

/// For each lane the sum of its elements. The number of stages is a parameter of the kernel.
mod sum {
    use ptx_dsl::prelude::*;

    ptx! {
        <sm_90, ptx 8.0>
        use crate::parts::{ring, producer};

        .visible .entry sum<const STAGES: u32>(
            .param .u64 .ptr .global .align 4 x: &[u32],
            .param .u64 .ptr .global .align 4 sums: &mut [u32],
            .param .u32 chunks)
        .reqntid 64
        {
            .reg .b32 %stage, %phase, %v;
            ring::stages!(full, empty, data, STAGES);

            let %lane = %tid.x % 32;
            ring::init!(full, empty, STAGES);
            if %tid.x < 32 {
                producer::produce!(x + 4 * %lane as u64, chunks, %lane, full, empty, data, STAGES);
            } else {
                ring::start!(%stage, %phase);
                let %sum = 0;
                let %i = 0;
                while %i < chunks {
                    ring::wait!(full, %stage, %phase);
                    ring::load.b32!(%v, data, %stage, %lane);
                    ring::arrive!(empty, %stage);
                    ring::next!(%stage, %phase, STAGES);
                    %sum = %sum + %v;
                    %i = %i + 1;
                }
                st.global.u32 [sums + 4 * %lane], %sum;
            }
            ret;
        }
    }
}

mod others {
    use ptx_dsl::prelude::*;

    ptx! {
        <sm_90, ptx 8.0>
        use crate::parts::{ring, producer};

        // y = a * x, with as many stages as Rust says
        .visible .entry scale(
            .param .u64 .ptr .global .align 4 x: &[f32],
            .param .u64 .ptr .global .align 4 y: &mut [f32],
            .param .f32 a: f32,
            .param .u32 chunks)
        .reqntid 64
        {
            const STAGES: u32 = crate::STAGES;
            .reg .b32 %stage, %phase;
            .reg .f32 %a, %v;
            ring::stages!(full, empty, data, STAGES);

            ld.param.f32 %a, [a];
            let %lane = %tid.x % 32;
            ring::init!(full, empty, STAGES);
            if %tid.x < 32 {
                producer::produce!(x + 4 * %lane as u64, chunks, %lane, full, empty, data, STAGES);
            } else {
                ring::start!(%stage, %phase);
                let %i = 0;
                while %i < chunks {
                    ring::wait!(full, %stage, %phase);
                    ring::load.f32!(%v, data, %stage, %lane);
                    ring::arrive!(empty, %stage);
                    ring::next!(%stage, %phase, STAGES);
                    mul.f32 %v, %v, %a;
                    st.global.f32 [y + 128 * %i + 4 * %lane], %v;
                    %i = %i + 1;
                }
            }
            ret;
        }

        // Each chunk rotated by one element, through three stages: a lane reads what its neighbour wrote
        .visible .entry rotate(
            .param .u64 .ptr .global .align 4 x: &[u32],
            .param .u64 .ptr .global .align 4 y: &mut [u32],
            .param .u32 chunks)
        .reqntid 64
        {
            const STAGES: u32 = 3;
            .reg .b32 %stage, %phase, %v;
            ring::stages!(full, empty, data, STAGES);

            let %lane = %tid.x % 32;
            ring::init!(full, empty, STAGES);
            if %tid.x < 32 {
                producer::produce!(x + 4 * %lane as u64, chunks, %lane, full, empty, data, STAGES);
            } else {
                ring::start!(%stage, %phase);
                let %i = 0;
                while %i < chunks {
                    ring::wait!(full, %stage, %phase);
                    ring::load.b32!(%v, data, %stage, (%lane + 1) % 32);
                    ring::arrive!(empty, %stage);
                    ring::next!(%stage, %phase, STAGES);
                    st.global.u32 [y + 128 * %i + 4 * %lane], %v;
                    %i = %i + 1;
                }
            }
            ret;
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let chunks = 100_u32;
    let host = Host::checked();
    let launch = || Launch::grid(1).block(64);
    let x: Vec<u32> = (0..chunks * LANES as u32).map(|i| i.wrapping_mul(2_654_435_761) >> 8).collect();

    let expected: Vec<u32> =
        (0..LANES).map(|lane| x.chunks(LANES).map(|chunk| chunk[lane]).fold(0, u32::wrapping_add)).collect();
    let mut sums = vec![0; LANES];
    sum::sum::<2>.launch(&host, launch(), (&x, &mut sums, chunks))?;
    assert_eq!(sums, expected);
    sums.fill(0);
    sum::sum::<7>.launch(&host, launch(), (&x, &mut sums, chunks))?;
    assert_eq!(sums, expected);
    println!("{} and {}: {LANES} sums of {chunks} elements", sum::sum::<2>::NAME, sum::sum::<7>::NAME);

    let floats: Vec<f32> = x.iter().map(|x| *x as f32).collect();
    let mut y = vec![0.0; floats.len()];
    others::scale.launch(&host, launch(), (&floats, &mut y, 0.5, chunks))?;
    assert!(floats.iter().zip(&y).all(|(x, y)| *y == x * 0.5));
    println!("{}: {} elements through {STAGES} stages", others::scale::NAME, y.len());

    let mut y = vec![0; x.len()];
    others::rotate.launch(&host, launch(), (&x, &mut y, chunks))?;
    for (x, y) in x.chunks(LANES).zip(y.chunks(LANES)) {
        assert!((0..LANES).all(|lane| y[lane] == x[(lane + 1) % LANES]));
    }
    println!("{}: {} elements, each to its neighbour", others::rotate::NAME, y.len());
    Ok(())
}
