//! Products of `wgmma` for matrices that tensor copies have written with the 128-byte swizzle.

use ptx_dsl::prelude::*;

ptx! {
    <sm_90a, ptx 8.6>

    /// Products of 64 rows by `wgmma`. Matrices lie as tensor copies write boxes of 128 bytes with the 128-byte swizzle: 1,024 bytes for
    /// eight rows.
    pub part products {
        /// The upper half of a descriptor: 128-byte swizzle, 1,024 bytes from eight rows to the next.
        const SWIZZLED: u32 = 0x40000040;

        /// The lower half of the descriptor of a matrix whose rows are along K. For other rows of the matrix, or 32 bytes further along K,
        /// sixteenths of the distance in bytes are added to it.
        .inline rows(.reg .b32 %descriptor, .b32 address) {
            mov.b32 %descriptor, address;
            shr.u32 %descriptor, %descriptor, 4;
            add.u32 %descriptor, %descriptor, 0x10000;
        }

        /// The same for a matrix whose columns are along K, in boxes of 64 columns that are `BOX` bytes apart.
        .inline columns(.reg .b32 %descriptor, .b32 address, const BOX: u32) {
            mov.b32 %descriptor, address;
            shr.u32 %descriptor, %descriptor, 4;
            add.u32 %descriptor, %descriptor, BOX / 16 << 16;
        }

        /// D = A * B^T, or D += A * B^T if `%keep`, for 32 bytes of K: 64 rows of A and `N` of B.
        .inline multiply<T: bf16 | f16 | e4m3>(.reg .f32 %d<N / 2>, .b32 a, .b32 b, .reg .pred %keep, const N: u32) {
            .reg .b64 %a, %b;
            mov.b64 %a, {a, SWIZZLED};
            mov.b64 %b, {b, SWIZZLED};
            @if T == e4m3 {
                wgmma.mma_async.sync.aligned.m64n{N}k32.f32.T.T %d, %a, %b, %keep, 1, 1;
            } else {
                wgmma.mma_async.sync.aligned.m64n{N}k16.f32.T.T %d, %a, %b, %keep, 1, 1, 0, 0;
            }
        }

        /// D += P * V for 16 columns of P, which are in registers, and 16 rows of V.
        .inline accumulate(.reg .f32 %d<N / 2>, .reg .b32 %p<4>, .b32 v, .reg .pred %keep, const N: u32) {
            .reg .b64 %v;
            mov.b64 %v, {v, SWIZZLED};
            wgmma.mma_async.sync.aligned.m64n{N}k16.f32.bf16.bf16 %d, %p, %v, %keep, 1, 1, 1;
        }
    }
}
