//! y = a * x + y over 16 M elements.

use super::Case;
use ptx_dsl::prelude::*;

const N: usize = 1 << 24;

ptx! {
    <sm_80, ptx 7.0>
    .visible .entry saxpy(
        .param .u64 .ptr .global .align 4 x: &[f32],
        .param .u64 .ptr .global .align 4 y: &mut [f32],
        .param .f32 a,
        .param .u32 n)
        .reqntid 256
    {
        .reg .pred %p;
        .reg .b32 %i, %b, %n;
        .reg .b64 %x, %y, %o;
        .reg .f32 %a, %u, %v;
        ld.param.u32 %n, [n];
        mov.u32 %b, %ctaid.x;
        mov.u32 %i, %tid.x;
        mad.lo.u32 %i, %b, 256, %i;
        setp.ge.u32 %p, %i, %n;
        @%p ret;
        ld.param.u64 %x, [x];
        ld.param.u64 %y, [y];
        ld.param.f32 %a, [a];
        mul.wide.u32 %o, %i, 4;
        add.u64 %x, %x, %o;
        add.u64 %y, %y, %o;
        ld.global.f32 %u, [%x];
        ld.global.f32 %v, [%y];
        fma.rn.f32 %v, %a, %u, %v;
        st.global.f32 [%y], %v;
        ret;
    }
}

struct Saxpy {
    x: Vec<f32>,
    y: Vec<f32>,
    hand: Vec<f32>,
}

pub fn case() -> Box<dyn Case> {
    // small integers: nothing is rounded, however often it runs
    let x = (0..N).map(|i| (i % 1024) as f32).collect();
    Box::new(Saxpy { x, y: vec![1.0; N], hand: vec![1.0; N] })
}

impl Case for Saxpy {
    crate::launches!(self, host => saxpy.launch(host, Launch::grid((N / 256) as u32).block(256), (&self.x, &mut self.y, 1.0, N as u32)));

    fn hand(&mut self) {
        let a = std::hint::black_box(1f32);
        for (y, x) in self.hand.iter_mut().zip(&self.x) {
            *y += a * x;
        }
    }

    fn agrees(&self) -> bool {
        self.y == self.hand
    }
}
