//! Instructions that few targets have: mixed precision, four-lane formats, carry-less products, packed comparison.

use ptx_dsl::prelude::*;

fn one() -> Launch {
    Launch::grid(1).block(1)
}

/// `a` and `b` as pairs of f32 in a 64-bit register.
fn pair(low: f32, high: f32) -> u64 {
    u64::from(high.to_bits()) << 32 | u64::from(low.to_bits())
}

#[test]
fn halves_added_to_single_precision() {
    let k = ptx!(<sm_100, ptx 8.6> |d: &mut [f32]| {
        .reg .b16 %h<2>;
        .reg .f32 %f<8>;
        .reg .b64 %d;
        ld.param.u64 %d, [d];
        mov.b16 %h0, 0x3555;       // f16: 0.333251953125
        mov.b16 %h1, 0x4049;       // bf16: 3.140625
        mov.f32 %f0, 0f4B800000;   // 2^24
        add.rz.f32.f16 %f1, %h0, %f0;
        add.rp.f32.f16 %f2, %h0, %f0;
        sub.f32.bf16 %f3, %h1, %f0;
        fma.rn.f32.bf16 %f4, %h1, %h1, 0fBF800000;
        add.sat.f32.bf16 %f5, %h1, 0f00000000;
        st.global.f32 [%d], %f1;
        st.global.f32 [%d + 4], %f2;
        st.global.f32 [%d + 8], %f3;
        st.global.f32 [%d + 12], %f4;
        st.global.f32 [%d + 16], %f5;
    });
    let mut d = [0f32; 5];
    k.launch(&Host::new(), one(), (&mut d,)).unwrap();
    let big = 16_777_216f32;
    assert_eq!(d, [big, big + 2.0, 3.140625 - big, 3.140625f32 * 3.140625 - 1.0, 1.0]);
}

#[test]
fn pairs_to_and_from_single_precision() {
    let k = ptx!(<sm_107f, ptx 9.4> |d: &mut [u64], a: u64, c: u64| {
        .reg .b32 %h<5>;
        .reg .b64 %d, %x<4>;
        ld.param.u64 %d, [d];
        ld.param.b64 %x0, [a];
        ld.param.b64 %x1, [c];
        mov.b32 %h0, 0x3C00C000;   // f16x2: -2, 1
        add.rn.f32x2.f16x2.f32x2 %x2, %h0, %x1;
        fma.rn.f32x2.f16x2.f32x2.f32x2 %x3, %h0, %x0, %x1;
        add.rz.ftz.f16x2.f32x2.f32x2 %h1, %x0, %x1;
        mul.rz.bf16x2.f32x2.f32x2 %h2, %x0, %x1;
        mov.b32 %h3, 0x3F804040;   // bf16x2: 3, 1
        mul.f16x2.f16x2.bf16x2 %h4, %h0, %h3;
        st.global.b64 [%d], %x2;
        st.global.b64 [%d + 8], %x3;
        st.global.b32 [%d + 16], %h1;
        st.global.b32 [%d + 20], %h2;
        st.global.b32 [%d + 24], %h4;
        st.global.b32 [%d + 28], 0;
    });
    let mut d = [0u64; 4];
    k.launch(&Host::new(), one(), (&mut d, pair(1.5, 2049.0), pair(0.25, 4.0))).unwrap();
    assert_eq!(d[0], pair(-1.75, 5.0));
    assert_eq!(d[1], pair(-2.75, 2053.0));
    // 2053 is between 2052 and 2054 in f16, toward zero 2052; 8196 is 8192 in bf16
    assert_eq!(d[2], 0x6802_3F00 | 0x4600_3EC0 << 32, "{:x}", d[2]);
    assert_eq!(d[3], 0x3C00_C600);
}

#[test]
fn four_lanes_of_eight_bits() {
    let k = ptx!(<sm_100a, ptx 9.4> |d: &mut [u32]| {
        .reg .b32 %a<6>;
        .reg .b64 %d;
        ld.param.u64 %d, [d];
        mov.b32 %a0, 0x38C07E01;   // e4m3: 1, -2, 448, 2^-9
        mov.b32 %a1, 0x38383838;   // e4m3: 1 four times
        mov.b32 %a2, 0x80817F7E;   // ue8m0: 2, 4, 1, 1/2
        add.rn.satfinite.e4m3x4.e4m3x4 %a3, %a0, %a1;
        mul.rn.satfinite.e4m3x4.e4m3x4.ue8m0x4 %a4, %a0, %a2;
        fma.rn.satfinite.e4m3x4.e4m3x4.e4m3x4 %a5, %a0, %a1, %a1;
        st.global.b32 [%d], %a3;
        st.global.b32 [%d + 4], %a4;
        st.global.b32 [%d + 8], %a5;
    });
    let mut d = [0u32; 3];
    k.launch(&Host::new(), one(), (&mut d,)).unwrap();
    // 2, -1, 449 (nearest is 448), 1 + 2^-9 (nearest is 1)
    assert_eq!(d[0], 0x40B8_7E38);
    // 2, -8, 448, 2^-10 (a tie between 0 and 2^-9, to even)
    assert_eq!(d[1], 0x40D0_7E00);
    assert_eq!(d[2], 0x40B8_7E38);
}

#[test]
fn products_without_carries() {
    let k = ptx!(<sm_80, ptx 9.3> |d: &mut [u64], a: u64, b: u64, c: u64| {
        .reg .b64 %d, %x<5>;
        ld.param.u64 %d, [d];
        ld.param.u64 %x0, [a];
        ld.param.u64 %x1, [b];
        ld.param.u64 %x2, [c];
        clmad.lo.u64 %x3, %x0, %x1, %x2;
        clmad.hi.u64 %x4, %x0, %x1, %x2;
        st.global.u64 [%d], %x3;
        st.global.u64 [%d + 8], %x4;
    });
    let mut d = [0u64; 2];
    let mut go = |a: u64, b: u64, c: u64| {
        k.launch(&Host::new(), one(), (&mut d, a, b, c)).unwrap();
        d
    };
    // (x + 1)(x^2 + 1) = x^3 + x^2 + x + 1
    assert_eq!(go(0b11, 0b101, 0b1000), [0b0111, 0b1000]);
    assert_eq!(go(1 << 63, 0b110, 0), [0, 0b11]);
    // a square doubles the exponents: all ones give every other bit
    assert_eq!(go(u64::MAX, u64::MAX, 0), [0x5555_5555_5555_5555; 2]);
}

#[test]
fn comparison_of_packed_integers() {
    let k = ptx!(<sm_107f, ptx 9.4> |d: &mut [u32]| {
        .reg .b32 %a<5>;
        .reg .b64 %d;
        ld.param.u64 %d, [d];
        // from memory: ptxas 13.5 crashes on constants here
        ld.global.b32 %a0, [%d];
        ld.global.b32 %a1, [%d + 4];
        set.lt.s8x4 %a2, %a0, %a1;
        set.hi.u8x4 %a3, %a0, %a1;
        set.eq.u16x2 %a4, %a0, %a1;
        st.global.b32 [%d], %a2;
        st.global.b32 [%d + 4], %a3;
        st.global.b32 [%d + 8], %a4;
    });
    let mut d = [0x01FF_7F80, 0x0101_7F7F, 9];
    k.launch(&Host::new(), one(), (&mut d,)).unwrap();
    assert_eq!(d, [0x00FF_00FF, 0x00FF_00FF, 0]);
}

#[test]
fn atomics_that_keep_subnormals() {
    let k = ptx!(<sm_90, ptx 9.4> |d: &mut [f32]| {
        .reg .f32 %f;
        .reg .b64 %d;
        ld.param.u64 %d, [d];
        atom.global.add.noftz.f32 %f, [%d], 0f00000001;
        red.global.add.noftz.f32 [%d], 0f00000001;
        red.global.add.f32 [%d + 4], 0f00000001;
    });
    let mut d = [0f32; 2];
    k.launch(&Host::new(), one(), (&mut d,)).unwrap();
    assert_eq!(d.map(f32::to_bits), [2, 0]);
}
