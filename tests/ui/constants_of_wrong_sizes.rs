use ptx_dsl::ptx;

const NONE: usize = 0;
const THREE: u32 = 3;
const LARGE: u64 = 20_000;
const HUGE: i64 = 1 << 40;

ptx! {
    <sm_90, ptx 8.0>
    const NONE: usize = crate::NONE;
    const THREE: u32 = crate::THREE;
    const LARGE: u64 = crate::LARGE;
    const HUGE: i64 = crate::HUGE;
    .const .u32 table[LARGE];
    .global .u32 first[THREE] = {1, 2, 3, 4};
    .global .u32 all[HUGE];
    .visible .entry k(.param .u64 .ptr .global .align THREE x) .maxnreg NONE .minnctapersm THREE - 4 .maxntid 32 {
        .reg .b32 %r<THREE>, %q<THREE + 1>;
        .reg .f32 %f<THREE - 4>;
        .local .b32 own[NONE];
        mov.u32 %r0, %r2;
        mov.u32 %r3, 1;
        mov.u32 %q3, %r3;
        ld.local.u32 %r2, [own];
        ret;
    }
}

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry g<const N: u32>() {
        .reg .b32 %r<N>;
        .local .b32 own[N];
        mov.u32 %r7, 1;
        st.local.u32 [own + 8], %r7;
        ret;
    }
}

fn main() {
    println!("{}", g::<8>::PTX);
    println!("{}", g::<2>::PTX);
}
