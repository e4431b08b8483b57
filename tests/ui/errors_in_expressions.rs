use ptx_dsl::ptx;

ptx! {
    <sm_90a, ptx 8.0>
    .visible .entry expressions(.param .u64 .ptr .global .align 4 x, .param .u32 n, .param .f32 f) {
        .reg .b32 %a, %b;
        .reg .s32 %i;
        .reg .b64 %wide;
        .reg .f32 %f;
        .reg .pred %p;
        mov.b32 %a, 1;
        mov.b32 %i, 1;
        let %sum = %a + %wide;
        let %mixed = %a + %i;
        %a = %wide;
        let %float: f32 = 1;
        let %of_float = %f + 1;
        %none = 1;
        let %a = 2;
        let %third = %a / 3;
        let %ratio = %a / n;
        let %half = %i / 2;
        let %rest = %i % 8;
        let %large = %a + 5000000000;
        let %undeclared = %missing + 1;
        let %sum_of_predicate = %p + 1;
        let %both = %a && %b;
        st.global.u32 [x - %a], %a;
        st.global.u32 [x + 4 * %f], %a;
        ret;
    }
}

ptx! {
    <sm_90a, ptx 8.0>
    const N: u32 = 4;
    const _: () = assert!(N == 8, "eight rows");
    const _: () = assert!();
    .visible .entry control(.param .u32 n) {
        .reg .b32 %a;
        .reg .b64 %d;
        mov.b32 %a, 1;
        if %a { ret; }
        if N > 2 { ret; }
        while 1 < 2 { ret; }
        while %a < n { break; }
        break;
        if %a == 0 { continue; }
        mov.b64 %d, descriptor::wgmma(stride: 1000, swizzle: 128);
        mov.b64 %d, descriptor::wgmma(stride: 1024, swizzle: 48);
        mov.b64 %d, descriptor::tcgen05(stride: 1024);
        mov.b64 %d, descriptor::tcgen05(step: 1024, swizzle: none);
        mov.b32 %a, descriptor::instruction(kind: f16, a: e4m3, b: f16, d: f32, m: 128, n: 128);
        ret;
    }
}

// Its constants are rustc's.
ptx! {
    <sm_90, ptx 8.0>
    .visible .entry of_rust<const STAGES: u32>() {
        const _: () = assert!(STAGES <= 8, "shared memory has room for eight");
        ret;
    }
}

const _: &str = of_rust::<9>::PTX;

fn main() {}
