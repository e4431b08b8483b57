//! Softmax of scores that come block by block.

use ptx_dsl::prelude::*;

ptx! {
    <sm_90, ptx 8.0>

    /// Softmax of rows whose scores come block by block (online softmax). A thread has two rows of the sums of a `wgmma`: registers 4 i and
    /// 4 i + 1 are of the first, 4 i + 2 and 4 i + 3 of the second. Four neighbouring lanes have the same rows.
    ///
    /// For each row there are the maximum so far, first -infinity, the sum of the thread's weights relative to it, first 0, and the factor by
    /// which weights of earlier blocks shrink, because the maximum has grown.
    pub part weights {
        /// Scores become weights, 2^(scale * (score - maximum)). Of four, `SOFT` are computed by `power`.
        .inline weigh(
            .reg .f32 %s<N / 2>, .reg .f32 %max<2>, .reg .f32 %sum<2>, .reg .f32 %factor<2>, .reg .f32 %scale, const N: u32, const SOFT: u32 = 0)
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
                mul.f32 %shift{R}, %new{R}, %scale;
                neg.f32 %shift{R}, %shift{R};
                fma.rn.f32 %factor{R}, %max{R}, %scale, %shift{R};
                ex2.approx.ftz.f32 %factor{R}, %factor{R};
                mul.f32 %sum{R}, %sum{R}, %factor{R};
                mov.f32 %max{R}, %new{R};
            }
            @for I in 0..N / 2 {
                fma.rn.f32 %s{I}, %s{I}, %scale, %shift{I / 2 & 1};
                @if I % 4 < SOFT {
                    power!(%s{I});
                } else {
                    ex2.approx.ftz.f32 %s{I}, %s{I};
                }
                add.f32 %sum{I / 2 & 1}, %sum{I / 2 & 1}, %s{I};
            }
        }

        /// 2^x for x up to 0, with a relative error of 2^-13.7, by multiplications: 2^n for the nearest integer n, times a polynomial. The
        /// unit for `ex2` computes 16 of them in a cycle, while tensor cores multiply 2,048 pairs: with short rows it is the bottleneck.
        .inline power(.reg .f32 %x) {
            .reg .f32 %n, %p;
            .reg .b32 %bits, %exponent;
            max.f32 %x, %x, 0fC2FC0000;
            // adding 3 * 2^22 rounds to an integer, in the low bits
            add.f32 %n, %x, 0f4B400000;
            mov.b32 %exponent, %n;
            add.f32 %n, %n, 0fCB400000;
            sub.f32 %x, %x, %n;
            mov.f32 %p, 0f3D61FBB0;
            fma.rn.f32 %p, %p, %x, 0f3E786F0D;
            fma.rn.f32 %p, %p, %x, 0f3F31798D;
            fma.rn.f32 %p, %p, %x, 0f3F7FFB49;
            mov.b32 %bits, %p;
            shl.b32 %exponent, %exponent, 23;
            add.u32 %bits, %bits, %exponent;
            mov.b32 %x, %bits;
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
