//! Video instructions on both engines, compared with plain Rust. `tests/hardware` has all of their forms.

use ptx_dsl::Engine;
use ptx_dsl::prelude::*;
use ptx_dsl_test_support::random::Random;

ptx! {
    <sm_90, ptx 8.0, compiled>
    .visible .entry video(
        .param .u64 .ptr .global .align 4 x: &[u32], .param .u64 .ptr .global .align 4 out: &mut [u32]
    ) .reqntid 64
    {
        .reg .b32 %t, %a, %b, %c, %r;
        .reg .b64 %x, %out;
        .reg .pred %odd;
        ld.param.u64 %x, [x];
        ld.param.u64 %out, [out];
        mov.u32 %t, %tid.x;
        and.b32 %r, %t, 1;
        setp.ne.u32 %odd, %r, 0;
        mad.wide.u32 %x, %t, 12, %x;
        mad.wide.u32 %out, %t, 40, %out;
        ld.global.b32 %a, [%x];
        ld.global.b32 %b, [%x+4];
        ld.global.b32 %c, [%x+8];
        vadd.s32.s32.u32.sat %r, %a.h1, %b.b2;
        st.global.u32 [%out], %r;
        vsub.s32.s32.s32.sat.add %r, %a, %b, %c;
        st.global.u32 [%out+4], %r;
        vabsdiff.u32.s32.s32 %r.h1, %a.h0, %b.h1, %c;
        st.global.u32 [%out+8], %r;
        vmad.s32.s32.s32.sat.shr7 %r, %a.h1, -%b.h0, %c;
        st.global.u32 [%out+12], %r;
        vshl.u32.u32.u32.wrap.add %r, %a.b3, %b, %c;
        st.global.u32 [%out+16], %r;
        vset.s32.u32.lt %r.b1, %a, %b, %c;
        st.global.u32 [%out+20], %r;
        vadd2.s32.s32.u32.sat %r.h1, %a.h32, %b.h01, %c;
        st.global.u32 [%out+24], %r;
        vavrg4.u32.u32.u32 %r, %a.b7654, %b, %c;
        st.global.u32 [%out+28], %r;
        vset4.u32.s32.ge.add %r.b310, %a, %b.b0123, %c;
        st.global.u32 [%out+32], %r;
        mov.u32 %r, 7;
        @%odd vmax4.s32.s32.s32 %r, %a, %b, %c;
        st.global.u32 [%out+36], %r;
        ret;
    }
}

fn half(x: u32, i: u32) -> i64 {
    i64::from((x >> (16 * i)) as i16)
}

fn byte(x: u32, i: u32) -> u32 {
    x >> (8 * i) & 255
}

fn expected([a, b, c]: [u32; 3], odd: bool) -> [u32; 10] {
    let (sa, sb) = (i64::from(a as i32), i64::from(b as i32));
    let word = |x: i64| x.clamp(i32::MIN.into(), i32::MAX.into()) as u32;
    let bytes = |f: &dyn Fn(u32) -> u32| (0..4).map(|i| (f(i) & 255) << (8 * i)).sum::<u32>();
    let difference = (half(a, 0) - half(b, 1)).unsigned_abs() as u32;
    // the upper lane: half 3 of (b, a), half 0 of (b, a)
    let sum = (half(b, 1) + i64::from(a & 0xffff)).clamp(-32768, 32767) as u32;
    // the sum of bytes 0, 1 and 3; byte i of `a` is unsigned, byte 3 - i of the second source is signed
    let compared = [0, 1, 3].into_iter().filter(|i| i64::from(byte(a, *i)) >= i64::from(byte(a, 3 - i) as u8 as i8));
    [
        (half(a, 1) + i64::from(byte(b, 2))) as u32,
        word(sa - sb).wrapping_add(c),
        difference << 16 | c & 0xffff,
        word((i64::from(c as i32) - half(a, 1) * half(b, 0)) >> 7),
        (byte(a, 3) << (b & 31)).wrapping_add(c),
        c & !0xff00 | u32::from(sa < i64::from(b)) << 8,
        sum << 16 | c & 0xffff,
        bytes(&|i| (byte(b, i) + byte(b, i) + 1) >> 1),
        c.wrapping_add(compared.count() as u32),
        if odd { bytes(&|i| (byte(a, i) as i8).max(byte(b, i) as i8) as u32) } else { 7 },
    ]
}

#[test]
fn both_engines_give_what_plain_rust_gives() {
    let mut random = Random::new(1);
    let mut next = || random.word();
    for round in 0..8 {
        let x: Vec<u32> = (0..192).map(|_| if round == 0 { next() % 3 * 0x7fff_ffff } else { next() }).collect();
        for engine in [Engine::Interpreted, Engine::Compiled] {
            let mut out = [0; 640];
            video.launch(&Host::new().engine(engine), Launch::grid(1).block(64), (&x, &mut out)).unwrap();
            for t in 0..64 {
                let operands = [x[3 * t], x[3 * t + 1], x[3 * t + 2]];
                assert_eq!(out[10 * t..][..10], expected(operands, t % 2 == 1), "{engine:?} {operands:x?}");
            }
        }
    }
}
