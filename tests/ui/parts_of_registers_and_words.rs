use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .inline sum<OP: add | max, T: u32 | f32>(.reg .T %s, .reg .T %x<N>, const N: u32, .T start = 0) {
        mov.T %s, start;
        @for I in 0..N { OP.T %s, %s, %x{I}; }
        @if OP == min { ret; }
    }
    .inline beyond(.reg .b32 %x<2>) { mov.u32 %x2, 1; }
    .inline words<OP: add |>() { }
    .inline defaults(.b32 a = 0, .b32 b) { }
    .visible .entry uses() {
        .reg .b32 %r<8>;
        .reg .f32 %f<2>;
        @for I in 0..8 { mov.b32 %r{I}, I; }
        sum.add.u32!(%r0, {%r1..=%r3}, 4);
        sum.add.u32!(%r0, %r1, 1);
        sum.add.u32!(%r0, {%r1, %f0}, 2);
        sum.min.u32!(%r0, %r<2>, 2);
        sum.add!(%r0, %r<2>, 2);
        sum.max.u32.sat!(%r0, %r<2>, 2);
        sum.max.u32!(%r0);
        beyond!(%r<2>);
        ret;
    }
}

fn main() {}
