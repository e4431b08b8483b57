//! NaNs: f32 arithmetic gives the canonical one, whatever a chain of it has computed with. Copies and selections keep the bits.

use crate::module;
use ptx_dsl::prelude::*;

const NAN: u32 = 0x7fff_ffff;
const OTHER: u32 = 0xffc0_1234;

/// What 40 threads get from 40 inputs, after the loop has run so often.
fn run(body: &str, rounds: u32, x: &[u32]) -> Vec<u32> {
    let text = format!(
        ".visible .entry k(.param .u64 .ptr .global .align 4 x, .param .u64 .ptr .global .align 4 y, .param .u32 rounds)\n{{\n\
         .reg .b32 %t, %j, %n, %i; .reg .pred %q, %p; .reg .b64 %x, %y; .reg .f32 %a, %b, %c, %d;\n\
         ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; ld.param.u32 %n, [rounds]; mov.u32 %t, %tid.x; mov.u32 %j, 0;\n\
         mad.wide.u32 %x, %t, 4, %x; mad.wide.u32 %y, %t, 4, %y; ld.global.f32 %a, [%x]; mov.f32 %b, 0f3F800000;\n\
         next: add.u32 %j, %j, 1;\n{body}\nsetp.lt.u32 %q, %j, %n; @%q bra next;\nst.global.f32 [%y], %d; ret;\n}}\n"
    );
    let mut y = vec![0u32; x.len()];
    let mut x = x.to_vec();
    let mut arguments = [(&mut x).into(), (&mut y).into(), Arg::value(rounds.to_le_bytes())];
    let module = module(&text);
    let kernel = module.kernel("k").unwrap();
    kernel.launch_raw(&Host::new(), Launch::grid(1).block(40), &mut arguments).unwrap();
    y
}

fn inputs() -> Vec<u32> {
    let special = [0, 0x3f80_0000, 0x7f80_0000, 0xff80_0000, OTHER, 0x7fff_ffff, 0x7f80_0001, 0x4000_0000];
    special.into_iter().cycle().take(40).collect()
}

fn arithmetic(x: f32) -> u32 {
    if x.is_nan() { NAN } else { x.to_bits() }
}

#[test]
fn chains_give_the_canonical_nan() {
    let wanted = |f: fn(f32) -> f32| inputs().iter().map(|x| arithmetic(f(f32::from_bits(*x)))).collect::<Vec<_>>();
    for rounds in [1, 4] {
        let chain = "sub.f32 %b, %a, %a; add.f32 %c, %a, %b; mul.f32 %d, %c, 0f3F800000;";
        assert_eq!(run(chain, rounds, &inputs()), wanted(|a| a + (a - a)));
        let copies = "sub.f32 %b, %a, %a; mov.f32 %c, %b; fma.rn.f32 %d, %c, %a, %a;";
        assert_eq!(run(copies, rounds, &inputs()), wanted(|a| (a - a) * a + a));
    }
}

#[test]
fn what_else_reads_a_register_sees_its_bits() {
    let inputs = inputs();
    let bits = |f: fn(u32) -> u32| inputs.iter().map(|x| f(*x)).collect::<Vec<_>>();
    for rounds in [1, 4] {
        // the difference of infinities is read by arithmetic, and as bits
        let both = "sub.f32 %b, %a, %a; add.f32 %c, %b, %b; mov.b32 %i, %b; xor.b32 %i, %i, 1; mov.b32 %d, %i;";
        assert_eq!(run(both, rounds, &inputs), bits(|x| arithmetic(f32::from_bits(x) - f32::from_bits(x)) ^ 1));
        let selected = "sub.f32 %b, %a, %a; setp.nan.f32 %p, %b, %b; selp.f32 %d, %b, %a, %p;";
        assert_eq!(run(selected, rounds, &inputs), bits(|x| if f32::from_bits(x).is_finite() { x } else { NAN }));
        // a copy of a NaN that was loaded
        assert_eq!(run("mov.f32 %c, %a; add.f32 %b, %c, %c; mov.f32 %d, %c;", rounds, &inputs), inputs);
        let guarded = "setp.eq.f32 %p, %a, %a; mul.f32 %b, %a, 0f00000000; mov.f32 %d, %a; @%p mov.f32 %d, %b;";
        let product = |x: f32| if x.is_nan() { x.to_bits() } else { arithmetic(x * 0.0) };
        let wanted: Vec<u32> = inputs.iter().map(|x| product(f32::from_bits(*x))).collect();
        assert_eq!(run(guarded, rounds, &inputs), wanted);
    }
}
