//! Reductions over the lanes of a warp, and over the warps of a CTA.

use ptx_dsl::prelude::*;

ptx! {
    <sm_80, ptx 7.0>

    /// Reductions of f32 over lanes. `OP` is 0 for sums, 1 for maxima and 2 for minima; a NaN wins over every number.
    pub part lanes {
        /// `%a` with another value.
        .inline combine(.reg .f32 %a, .reg .f32 %b, const OP: u32) {
            @if OP == 0 { add.f32 %a, %a, %b; }
            @if OP == 1 { max.NaN.f32 %a, %a, %b; }
            @if OP == 2 { min.NaN.f32 %a, %a, %b; }
        }

        /// What changes no value: 0, or an infinity.
        .inline neutral(.reg .f32 %a, const OP: u32) {
            @if OP == 0 { mov.f32 %a, 0f00000000; }
            @if OP == 1 { mov.f32 %a, 0fFF800000; }
            @if OP == 2 { mov.f32 %a, 0f7F800000; }
        }

        /// The result over neighbouring lanes, as many as `LANES`, in each of them. All lanes of the warp take part.
        .inline warp(.reg .f32 %a, const LANES: u32, const OP: u32) {
            .reg .f32 %b;
            @for STEP in [16, 8, 4, 2, 1] {
                @if STEP < LANES {
                    shfl.sync.bfly.b32 %b, %a, STEP, 31, 0xffffffff;
                    combine!(%a, %b, OP);
                }
            }
        }

        /// The result over a CTA of `WARPS` warps, in each thread. `slots` has an element for each warp, and serves one reduction.
        .inline block(.reg .f32 %a, .reg .b32 %thread, .shared .f32 slots, const WARPS: u32, const OP: u32) {
            .reg .pred %first;
            .reg .b32 %lane, %at, %base;
            warp!(%a, 32, OP);
            mov.u32 %base, slots;
            and.b32 %lane, %thread, 31;
            setp.eq.u32 %first, %lane, 0;
            shr.u32 %at, %thread, 5;
            mad.lo.u32 %at, %at, 4, %base;
            @%first st.shared.f32 [%at], %a;
            bar.sync 0;
            and.b32 %at, %lane, WARPS - 1;
            mad.lo.u32 %at, %at, 4, %base;
            ld.shared.f32 %a, [%at];
            warp!(%a, WARPS, OP);
        }
    }
}
