//! Sums of `wgmma` on their way to memory: through shared memory, in the layout that tensor stores take.

use ptx_dsl::prelude::*;

ptx! {
    <sm_90a, ptx 8.6>

    /// How 64 rows of sums of a warpgroup go to shared memory: blocks of `BOX` bytes x 64 rows, one for each tensor store, with the swizzle of
    /// that width. `BOX` is 128, 64 or 32.
    pub part results {
        /// Where a lane stores 16-bit elements by `stmatrix`: in row lane mod 16 of its warp, from piece lane / 16 on. Four addresses, for
        /// pieces that are two apart.
        .inline places16(.reg .b32 %place<4>, .b32 address, .b32 thread, const BOX: u32 = 128) {
            .reg .b32 %row, %piece;
            and.b32 %row, thread, 15;
            shr.u32 %piece, thread, 5;
            mad.lo.u32 %row, %piece, 16, %row;
            shr.u32 %piece, thread, 4;
            and.b32 %piece, %piece, 1;
            spread!(%place, address, %row, %piece, BOX);
        }

        /// Where a lane stores pairs of f32: in row lane / 4 of its warp, and in half of piece lane / 2 mod 2.
        .inline places32(.reg .b32 %place<4>, .b32 address, .b32 thread, const BOX: u32 = 128) {
            .reg .b32 %row, %piece, %half;
            shr.u32 %row, thread, 2;
            and.b32 %row, %row, 7;
            shr.u32 %piece, thread, 5;
            mad.lo.u32 %row, %piece, 16, %row;
            shr.u32 %piece, thread, 1;
            and.b32 %piece, %piece, 1;
            and.b32 %half, thread, 1;
            mad.lo.u32 %half, %half, 8, address;
            spread!(%place, %half, %row, %piece, BOX);
        }

        /// Pieces of 16 bytes are permuted by the row.
        .inline spread(.reg .b32 %place<4>, .b32 address, .b32 row, .b32 piece, const BOX: u32) {
            .reg .b32 %at, %swizzled;
            div.u32 %swizzled, row, 128 / BOX;
            and.b32 %swizzled, %swizzled, BOX / 16 - 1;
            xor.b32 %swizzled, %swizzled, piece;
            mad.lo.u32 %at, row, BOX, address;
            mad.lo.u32 %at, %swizzled, 16, %at;
            @for I in 0..4 { xor.b32 %place{I}, %at, 32 * I; }
        }

        /// Stores `N` columns, rounded to 16 bits, in blocks of `BOX` bytes x 64 rows that are `BLOCK` bytes apart.
        .inline store16<T: bf16x2 | f16x2>(.reg .f32 %d<N / 2>, .reg .b32 %place<4>, const N: u32, const BOX: u32, const BLOCK: u32) {
            .reg .b32 %h<4>;
            @for J in 0..2 * N / BOX {
                @for I in 0..BOX / 32 {
                    @for H in 0..4 { cvt.rn.T.f32 %h{H}, %d{BOX / 4 * J + 8 * I + 2 * H + 1}, %d{BOX / 4 * J + 8 * I + 2 * H}; }
                    stmatrix.sync.aligned.m8n8.x4.shared.b16 [%place{I} + BLOCK * J], {%h0..=%h3};
                }
            }
        }

        /// Stores `N` columns of f32, in blocks of `BOX` bytes x 64 rows.
        .inline store32(.reg .f32 %d<N / 2>, .reg .b32 %place<4>, const N: u32, const BOX: u32) {
            @for J in 0..4 * N / BOX {
                @for I in 0..BOX / 32 {
                    @for H in 0..2 {
                        st.shared.v2.f32 [%place{I} + 64 * BOX * J + 8 * BOX * H],
                            {%d{BOX / 8 * J + 4 * I + 2 * H}, %d{BOX / 8 * J + 4 * I + 2 * H + 1}};
                    }
                }
            }
        }
    }
}
