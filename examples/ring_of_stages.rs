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
                .reg .pred %p;
                .reg .b32 %i, %at;
                mov.u32 %i, %tid.x;
                setp.ge.u32 %p, %i, STAGES;
                @%p bra initialised;
                address!(%at, full, %i);
                mbarrier.init.shared::cta.b64 [%at], 32;
                address!(%at, empty, %i);
                mbarrier.init.shared::cta.b64 [%at], 32;
            initialised:
                bar.sync 0;
            }

            /// The consumer begins with phase 0. The producer begins with phase 1: the one before the first counts as complete.
            .inline start(.reg .b32 %stage, .reg .b32 %phase, const PHASE: u32) {
                mov.u32 %stage, 0;
                mov.u32 %phase, PHASE;
            }

            /// Waits for a phase of a barrier of this stage.
            .inline wait(.shared .b64 barriers, .b32 stage, .b32 phase) {
                .reg .pred %done;
                .reg .b32 %at;
                address!(%at, barriers, stage);
            again:
                mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %done, [%at], phase;
                @!%done bra again;
            }

            /// Arrives at a barrier of this stage.
            .inline arrive(.shared .b64 barriers, .b32 stage) {
                .reg .b32 %at;
                address!(%at, barriers, stage);
                mbarrier.arrive.release.cta.shared::cta.b64 _, [%at];
            }

            /// The next stage; after the last one the first, in the next phase.
            .inline next(.reg .b32 %stage, .reg .b32 %phase, const STAGES: u32) {
                .reg .pred %p;
                add.u32 %stage, %stage, 1;
                setp.eq.u32 %p, %stage, STAGES;
                @%p mov.u32 %stage, 0;
                @%p xor.b32 %phase, %phase, 1;
            }

            /// The place of a thread's 4 bytes in this stage.
            .inline slot(.reg .b32 %at, .shared .b8 data, .b32 stage, .b32 lane) {
                mov.u32 %at, data;
                mad.lo.u32 %at, stage, 128, %at;
                mad.lo.u32 %at, lane, 4, %at;
            }

            .inline address(.reg .b32 %at, .shared .b64 barriers, .b32 stage) {
                mov.u32 %at, barriers;
                mad.lo.u32 %at, stage, 8, %at;
            }
        }
    }

    ptx! {
        <sm_90, ptx 8.0>
        use crate::parts::ring;

        /// The warp that reads global memory: lane l writes element l of each chunk.
        pub(crate) part producer {
            .inline produce(
                .reg .b64 %from, .b32 chunks, .b32 lane,
                .shared .b64 full, .shared .b64 empty, .shared .b8 data, const STAGES: u32)
            {
                .reg .pred %p;
                .reg .b32 %i, %stage, %phase, %slot, %v;
                ring::start!(%stage, %phase, 1);
                mov.u32 %i, 0;
            chunk:
                setp.ge.u32 %p, %i, chunks;
                @%p bra done;
                ring::wait!(empty, %stage, %phase);
                ld.global.b32 %v, [%from];
                add.u64 %from, %from, 128;
                ring::slot!(%slot, data, %stage, lane);
                st.shared.b32 [%slot], %v;
                ring::arrive!(full, %stage);
                ring::next!(%stage, %phase, STAGES);
                add.u32 %i, %i, 1;
                bra chunk;
            done:
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
            .reg .pred %p;
            .reg .b32 %lane, %warp, %chunks, %stage, %phase, %slot, %v, %sum, %i;
            .reg .b64 %x, %sums;
            ring::stages!(full, empty, data, STAGES);

            ld.param.u64 %x, [x];
            ld.param.u64 %sums, [sums];
            ld.param.u32 %chunks, [chunks];
            mov.u32 %i, %tid.x;
            and.b32 %lane, %i, 31;
            shr.u32 %warp, %i, 5;
            mad.wide.u32 %x, %lane, 4, %x;
            mad.wide.u32 %sums, %lane, 4, %sums;
            ring::init!(full, empty, STAGES);
            setp.ne.u32 %p, %warp, 0;
            @%p bra consumer;
            producer::produce!(%x, %chunks, %lane, full, empty, data, STAGES);
            ret;

        consumer:
            ring::start!(%stage, %phase, 0);
            mov.u32 %sum, 0;
            mov.u32 %i, 0;
        chunk:
            setp.ge.u32 %p, %i, %chunks;
            @%p bra done;
            ring::wait!(full, %stage, %phase);
            ring::slot!(%slot, data, %stage, %lane);
            ld.shared.b32 %v, [%slot];
            ring::arrive!(empty, %stage);
            ring::next!(%stage, %phase, STAGES);
            add.u32 %sum, %sum, %v;
            add.u32 %i, %i, 1;
            bra chunk;
        done:
            st.global.u32 [%sums], %sum;
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
            .reg .pred %p;
            .reg .b32 %lane, %warp, %chunks, %stage, %phase, %slot, %i;
            .reg .f32 %a, %v;
            .reg .b64 %x, %y;
            ring::stages!(full, empty, data, STAGES);

            ld.param.u64 %x, [x];
            ld.param.u64 %y, [y];
            ld.param.f32 %a, [a];
            ld.param.u32 %chunks, [chunks];
            mov.u32 %i, %tid.x;
            and.b32 %lane, %i, 31;
            shr.u32 %warp, %i, 5;
            mad.wide.u32 %x, %lane, 4, %x;
            mad.wide.u32 %y, %lane, 4, %y;
            ring::init!(full, empty, STAGES);
            setp.ne.u32 %p, %warp, 0;
            @%p bra consumer;
            producer::produce!(%x, %chunks, %lane, full, empty, data, STAGES);
            ret;

        consumer:
            ring::start!(%stage, %phase, 0);
            mov.u32 %i, 0;
        chunk:
            setp.ge.u32 %p, %i, %chunks;
            @%p ret;
            ring::wait!(full, %stage, %phase);
            ring::slot!(%slot, data, %stage, %lane);
            ld.shared.f32 %v, [%slot];
            ring::arrive!(empty, %stage);
            ring::next!(%stage, %phase, STAGES);
            mul.f32 %v, %v, %a;
            st.global.f32 [%y], %v;
            add.u64 %y, %y, 128;
            add.u32 %i, %i, 1;
            bra chunk;
        }

        // Each chunk rotated by one element, through three stages: a lane reads what its neighbour wrote
        .visible .entry rotate(
            .param .u64 .ptr .global .align 4 x: &[u32],
            .param .u64 .ptr .global .align 4 y: &mut [u32],
            .param .u32 chunks)
        .reqntid 64
        {
            const STAGES: u32 = 3;
            .reg .pred %p;
            .reg .b32 %lane, %neighbour, %warp, %chunks, %stage, %phase, %slot, %v, %i;
            .reg .b64 %x, %y;
            ring::stages!(full, empty, data, STAGES);

            ld.param.u64 %x, [x];
            ld.param.u64 %y, [y];
            ld.param.u32 %chunks, [chunks];
            mov.u32 %i, %tid.x;
            and.b32 %lane, %i, 31;
            shr.u32 %warp, %i, 5;
            mad.wide.u32 %x, %lane, 4, %x;
            mad.wide.u32 %y, %lane, 4, %y;
            ring::init!(full, empty, STAGES);
            setp.ne.u32 %p, %warp, 0;
            @%p bra consumer;
            producer::produce!(%x, %chunks, %lane, full, empty, data, STAGES);
            ret;

        consumer:
            add.u32 %neighbour, %lane, 1;
            and.b32 %neighbour, %neighbour, 31;
            ring::start!(%stage, %phase, 0);
            mov.u32 %i, 0;
        chunk:
            setp.ge.u32 %p, %i, %chunks;
            @%p ret;
            ring::wait!(full, %stage, %phase);
            ring::slot!(%slot, data, %stage, %neighbour);
            ld.shared.b32 %v, [%slot];
            ring::arrive!(empty, %stage);
            ring::next!(%stage, %phase, STAGES);
            st.global.u32 [%y], %v;
            add.u64 %y, %y, 128;
            add.u32 %i, %i, 1;
            bra chunk;
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
