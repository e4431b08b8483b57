use half::bf16;
use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0, deny(PTX0158)>
    .visible .entry k(.param .u64 .ptr .global .align 4 x: &mut [bf16]) {
        .reg .f16 %h;
        .reg .b16 %b;
        .reg .b32 %pair;
        .reg .b64 %x;
        ld.param.u64 %x, [x];
        ld.global.b16 %b, [%x];
        ld.global.b32 %pair, [%x];
        atom.global.add.noftz.f16 %h, [%x], %b;
        ret;
    }
}

fn main() {}
