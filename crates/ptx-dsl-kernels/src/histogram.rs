//! Counts of bytes.
//!
//! A CTA has a histogram in shared memory with 32 counts for each value, one for each lane: a lane's counts are in a bank of their own, so
//! that a warp neither meets in a bank nor in a frequent value. A CTA adds its counts to those in global memory once.

use crate::Error;
use ptx_dsl::launch::Device;
use ptx_dsl::prelude::*;

ptx! {
    <sm_80, ptx 7.4>

    const THREADS: u32 = 1024;

    /// Adds the number of bytes of each value to `counts`, which has 256 elements. A thread reads 16 bytes at a time; CTA 0 has the last
    /// bytes.
    .visible .entry histogram_bytes(
        .param .u64 .ptr .global .align 16 x: &[u8],
        .param .u64 .ptr .global .align 4 counts: &mut [u32],
        .param .u64 n)
    .reqntid THREADS
    {
        // a row of 32 counts for each value
        .shared .align 16 .b32 own[256 * 32];
        .reg .b32 %v<4>, %sum, %c, %byte;

        let %t = %tid.x;
        @for I in 0..256 * 32 / THREADS { st.shared.u32 [own + 4 * %t + 4 * THREADS * I], 0; }
        bar.sync 0;
        let %mine = own + (%t & 31) * 4;
        let %i = (%ctaid.x as u64) * THREADS + %t as u64;
        let %step = (%nctaid.x as u64) * THREADS;
        let %pieces = n >> 4;
        while %i < %pieces {
            ld.global.nc.L1::no_allocate.v4.b32 {%v0..=%v3}, [x + (%i << 4)];
            @for I in 0..4 {
                @for J in 0..4 {
                    bfe.u32 %byte, %v{I}, 8 * J, 8;
                    red.shared.add.u32 [%mine + 128 * %byte], 1;
                }
            }
            %i = %i + %step;
        }
        if %ctaid.x == 0 {
            let %last = (%pieces << 4) + %t as u64;
            if %last < n {
                ld.global.nc.u8 %byte, [x + %last];
                red.shared.add.u32 [%mine + 128 * %byte], 1;
            }
        }
        bar.sync 0;
        // four threads for each value
        mov.u32 %sum, 0;
        @for I in 0..8 {
            ld.shared.u32 %c, [own + (%t >> 2) * 128 + ((%t + I) & 7) * 4 + (%t & 3) * 32];
            add.u32 %sum, %sum, %c;
        }
        @for STEP in [1, 2] {
            shfl.sync.bfly.b32 %c, %sum, STEP, 31, 0xffffffff;
            add.u32 %sum, %sum, %c;
        }
        if (%t & 3) == 0 && %sum != 0 { red.relaxed.gpu.global.add.u32 [counts + (%t >> 2) * 4], %sum; }
        ret;
    }
}

/// How often each byte occurs in `x`: `counts` has 256 elements, which are overwritten. A part of a buffer begins at a multiple of 16 bytes.
///
/// # Errors
/// `counts` has another length, `x` has 2^32 bytes or more, or the launch fails.
pub fn bytes(device: &impl Device, x: &[u8], counts: &mut [u32]) -> Result<Report, Error> {
    Error::unless_length("counts", counts.len(), 256)?;
    Error::unless_u32("x", x.len())?;
    counts.fill(0);
    let grid = x.len().div_ceil(16 * 1024 * 4).clamp(1, 132 * 2) as u32;
    Ok(histogram_bytes.launch(device, Launch::grid(grid), (x, counts, x.len() as u64))?)
}
