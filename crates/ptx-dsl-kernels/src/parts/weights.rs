//! Softmax of scores that come block by block.

use ptx_dsl::prelude::*;

ptx! {
    <sm_90, ptx 8.0>

    /// Softmax of rows whose scores come block by block (online softmax). A thread has two rows of the sums of a `wgmma`: registers 4 i and
    /// 4 i + 1 are of the first, 4 i + 2 and 4 i + 3 of the second. Four neighbouring lanes have the same rows.
    ///
    /// For each row there are the maximum that weights are relative to, first the lowest number, the sum of the thread's weights, first 0, and the
    /// factor by which weights of earlier blocks shrink, because the maximum has grown. It stays where the scores of no row of the warp exceed
    /// theirs by a factor of 2^8 in weight: then `%grown` is false, and nothing shrinks.
    pub part weights {
        /// Scores become weights, 2^(scale * (score - maximum)).
        .inline weigh(
            .reg .f32 %s<N / 2>, .reg .f32 %max<2>, .reg .f32 %sum<2>, .reg .f32 %factor<2>, .reg .f32 %scale, .reg .pred %grown,
            const N: u32)
        {
            .reg .f32 %new<2>, %shift<2>, %other;
            @for R in 0..2 {
                mov.f32 %new{R}, %max{R};
                @for I in 0..N / 8 {
                    max.f32 %new{R}, %new{R}, %s{4 * I + 2 * R};
                    max.f32 %new{R}, %new{R}, %s{4 * I + 2 * R + 1};
                }
                @for STEP in [1, 2] {
                    shfl.sync.bfly.b32 %other, %new{R}, STEP, 31, 0xffffffff;
                    max.f32 %new{R}, %new{R}, %other;
                }
                sub.f32 %factor{R}, %max{R}, %new{R};
                mul.f32 %factor{R}, %factor{R}, %scale;
            }
            min.f32 %other, %factor0, %factor1;
            setp.lt.f32 %grown, %other, 0fC1000000;
            vote.sync.any.pred %grown, %grown, 0xffffffff;
            if %grown {
                @for R in 0..2 {
                    ex2.approx.ftz.f32 %factor{R}, %factor{R};
                    mul.f32 %sum{R}, %sum{R}, %factor{R};
                    mov.f32 %max{R}, %new{R};
                }
            } else {
                @for R in 0..2 { mov.f32 %factor{R}, 0f3F800000; }
            }
            @for R in 0..2 {
                mul.f32 %shift{R}, %max{R}, %scale;
                neg.f32 %shift{R}, %shift{R};
            }
            @for I in 0..N / 2 {
                fma.rn.f32 %s{I}, %s{I}, %scale, %shift{I / 2 & 1};
                ex2.approx.ftz.f32 %s{I}, %s{I};
                add.f32 %sum{I / 2 & 1}, %sum{I / 2 & 1}, %s{I};
            }
        }

        /// Multiplies the sums of the rows by their factors.
        .inline rescale(.reg .f32 %o<N / 2>, .reg .f32 %factor<2>, const N: u32) {
            @for I in 0..N / 2 { mul.f32 %o{I}, %o{I}, %factor{I / 2 & 1}; }
        }

        /// After the last block: the reciprocals of the sums of all four lanes.
        .inline finish(.reg .f32 %sum<2>) {
            .reg .f32 %other;
            @for R in 0..2 {
                @for STEP in [1, 2] {
                    shfl.sync.bfly.b32 %other, %sum{R}, STEP, 31, 0xffffffff;
                    add.f32 %sum{R}, %sum{R}, %other;
                }
                rcp.approx.f32 %sum{R}, %sum{R};
            }
        }
    }
}
