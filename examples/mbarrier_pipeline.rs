//! One producer warp and three consumer warps over a ring of four stages in shared memory.
//!
//! Each stage has two mbarriers. `full` counts the producer's 32 lanes: its phase completes when the stage is written. `empty`
//! counts every lane of every consumer: its phase completes when the stage may be written again. The consumers need different
//! numbers of chunks. At its last use of each stage, a consumer arrives with `mbarrier.arrive_drop`, so that all later phases
//! expect 32 arrivals fewer, and the producer never waits for it again.

use ptx_dsl::prelude::*;

const CONSUMERS: usize = 3;
const LANES: usize = 32;

ptx! {
    <sm_90, ptx 8.0>

    .visible .entry pipeline(
        .param .u64 .ptr .global .align 4 data: &[u32],       // chunks of 32 elements
        .param .u64 .ptr .global .align 4 wanted: &[u32],     // for each consumer the number of chunks it reads
        .param .u64 .ptr .global .align 4 sums: &mut [u32],   // for each consumer 32 sums
        .param .u32 chunks)
    .reqntid 128
    {
        .reg .pred %p, %done, %leaving, %whole;
        .reg .b32 %lane, %warp, %i, %chunks, %stage, %phase, %at, %slot, %full, %empty, %v, %sum, %mine, %last;
        .reg .b64 %global, %offset;
        .shared .align 16 .b8 ring[512];                      // 4 stages of 32 elements
        .shared .align 8 .b64 full[4];
        .shared .align 8 .b64 empty[4];

        mov.u32 %at, %tid.x;
        and.b32 %lane, %at, 31;
        shr.u32 %warp, %at, 5;
        ld.param.u32 %chunks, [chunks];

        setp.ge.u32 %p, %at, 4;                               // one thread for each stage
        @%p bra initialised;
        mov.u32 %full, full;
        mov.u32 %empty, empty;
        mad.lo.u32 %full, %at, 8, %full;
        mad.lo.u32 %empty, %at, 8, %empty;
        mbarrier.init.shared::cta.b64 [%full], 32;
        mbarrier.init.shared::cta.b64 [%empty], 96;
    initialised:
        bar.sync 0;
        mov.u32 %i, 0;
        setp.ne.u32 %p, %warp, 0;
        @%p bra consumer;

        // The producer: lane l writes element l of every chunk.
        ld.param.u64 %global, [data];
        mul.wide.u32 %offset, %lane, 4;
        add.u64 %global, %global, %offset;
    produce:
        setp.ge.u32 %p, %i, %chunks;
        @%p ret;
        and.b32 %stage, %i, 3;
        shr.u32 %phase, %i, 2;
        and.b32 %phase, %phase, 1;
        xor.b32 %phase, %phase, 1;                            // the phase before the first counts as complete
        mov.u32 %empty, empty;
        mad.lo.u32 %empty, %stage, 8, %empty;
    waitEmpty:
        mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %done, [%empty], %phase;
        @!%done bra waitEmpty;
        ld.global.u32 %v, [%global];
        mov.u32 %slot, ring;
        mad.lo.u32 %slot, %stage, 128, %slot;
        mad.lo.u32 %slot, %lane, 4, %slot;
        st.shared.u32 [%slot], %v;
        mov.u32 %full, full;
        mad.lo.u32 %full, %stage, 8, %full;
        mbarrier.arrive.release.cta.shared::cta.b64 _, [%full];
        add.u64 %global, %global, 128;
        add.u32 %i, %i, 1;
        bra produce;

        // A consumer: lane l adds up what lane l ^ 1 of the producer wrote.
    consumer:
        sub.u32 %warp, %warp, 1;
        ld.param.u64 %global, [wanted];
        mul.wide.u32 %offset, %warp, 4;
        add.u64 %global, %global, %offset;
        ld.global.u32 %mine, [%global];
        sub.u32 %last, %mine, 4;                              // from this chunk on, each use of a stage is the last
        setp.lt.u32 %whole, %mine, %chunks;                   // who reads everything has nothing to leave early
        mov.u32 %sum, 0;
    consume:
        setp.ge.u32 %p, %i, %mine;
        @%p bra store;
        and.b32 %stage, %i, 3;
        shr.u32 %phase, %i, 2;
        and.b32 %phase, %phase, 1;
        mov.u32 %full, full;
        mad.lo.u32 %full, %stage, 8, %full;
    waitFull:
        mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %done, [%full], %phase;
        @!%done bra waitFull;
        mov.u32 %slot, ring;
        mad.lo.u32 %slot, %stage, 128, %slot;
        xor.b32 %at, %lane, 1;
        mad.lo.u32 %slot, %at, 4, %slot;
        ld.shared.u32 %v, [%slot];
        add.u32 %sum, %sum, %v;
        mov.u32 %empty, empty;
        mad.lo.u32 %empty, %stage, 8, %empty;
        setp.ge.and.u32 %leaving, %i, %last, %whole;
        @%leaving mbarrier.arrive_drop.release.cta.shared::cta.b64 _, [%empty];
        @!%leaving mbarrier.arrive.release.cta.shared::cta.b64 _, [%empty];
        add.u32 %i, %i, 1;
        bra consume;
    store:
        ld.param.u64 %global, [sums];
        mad.lo.u32 %at, %warp, 32, %lane;
        mul.wide.u32 %offset, %at, 4;
        add.u64 %global, %global, %offset;
        st.global.u32 [%global], %sum;
        ret;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let chunks = 2000_u32;
    // At least 4 each, so that every consumer uses, and drops out of, every stage.
    let wanted: [u32; CONSUMERS] = [chunks, 7, 1234];
    let data: Vec<u32> = (0..chunks * LANES as u32).map(|i| i.wrapping_mul(2_654_435_761) >> 8).collect();

    let mut sums = vec![0_u32; CONSUMERS * LANES];
    pipeline.launch(&Host::new(), Launch::grid(1).block(128), (&data, &wanted, &mut sums, chunks))?;

    for (consumer, wanted) in wanted.into_iter().enumerate() {
        for lane in 0..LANES {
            let read = data.chunks(LANES).take(wanted as usize).map(|chunk| chunk[lane ^ 1]);
            let expected = read.fold(0, u32::wrapping_add);
            assert_eq!(sums[consumer * LANES + lane], expected, "consumer {consumer}, lane {lane}");
        }
        let how = if wanted < chunks { "then left by arrive_drop" } else { "to the end" };
        println!("consumer {consumer}: {wanted} of {chunks} chunks, {how}");
    }
    println!("all {} sums equal to plain Rust", sums.len());
    Ok(())
}
