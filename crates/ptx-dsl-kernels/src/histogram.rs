//! Counts of bytes.
//!
//! Each warp counts into a histogram of its own in shared memory, so that warps do not wait for each other where a value is frequent. A CTA
//! adds its counts to those in global memory once.

use crate::Error;
use ptx_dsl::launch::Device;
use ptx_dsl::prelude::*;

ptx! {
    <sm_80, ptx 7.4>

    const THREADS: u32 = 256;
    const WARPS: u32 = THREADS / 32;

    /// Adds the number of bytes of each value to `counts`, which has 256 elements. A thread reads 16 bytes at a time; CTA 0 has the last
    /// bytes.
    .visible .entry histogram_bytes(
        .param .u64 .ptr .global .align 16 x: &[u8],
        .param .u64 .ptr .global .align 4 counts: &mut [u32],
        .param .u64 n)
    .reqntid THREADS
    {
        .shared .align 4 .b32 own[256 * WARPS];
        .reg .b32 %v<4>, %sum, %c, %byte;

        let %t = %tid.x;
        @for W in 0..WARPS { st.shared.u32 [own + 4 * %t + 1024 * W], 0; }
        bar.sync 0;
        let %mine = own + (%t >> 5) * 1024;
        let %i = (%ctaid.x as u64) * THREADS + %t as u64;
        let %step = (%nctaid.x as u64) * THREADS;
        let %pieces = n >> 4;
        while %i < %pieces {
            ld.global.nc.L1::no_allocate.v4.b32 {%v0..=%v3}, [x + (%i << 4)];
            @for I in 0..4 {
                @for J in 0..4 {
                    bfe.u32 %byte, %v{I}, 8 * J, 8;
                    atom.shared.add.u32 %c, [%mine + 4 * %byte], 1;
                }
            }
            %i = %i + %step;
        }
        if %ctaid.x == 0 {
            let %last = (%pieces << 4) + %t as u64;
            if %last < n {
                ld.global.nc.u8 %byte, [x + %last];
                atom.shared.add.u32 %c, [%mine + 4 * %byte], 1;
            }
        }
        bar.sync 0;
        mov.u32 %sum, 0;
        @for W in 0..WARPS {
            ld.shared.u32 %c, [own + 4 * %t + 1024 * W];
            add.u32 %sum, %sum, %c;
        }
        if %sum != 0 { red.relaxed.gpu.global.add.u32 [counts + 4 * %t], %sum; }
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
    let grid = x.len().div_ceil(16 * 256 * 4).clamp(1, 132 * 8) as u32;
    Ok(histogram_bytes.launch(device, Launch::grid(grid), (x, counts, x.len() as u64))?)
}
