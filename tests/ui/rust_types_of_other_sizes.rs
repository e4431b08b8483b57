use ptx_dsl::ptx;

#[derive(Clone, Copy, ptx_dsl::Param)]
#[repr(C)]
pub struct Triple([u32; 3]);

type Half = u16;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k(.param .u32 n: u64, .param .f32 f: u16, .param .f32 right: f32) { ret; }
}

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry l(.param .u32 n: crate::Half, .param .align 4 .b8 p[8]: [u32; 3], .param .align 4 .b8 q[8]: [u32; 2]) { ret; }
}

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry m(
        .param .u8 n: Half,
        .param .align 4 .b8 p[8]: Triple,
        .param .align 2 .b8 q[12]: Triple,
        .param .align 4 .b8 r[12]: Triple)
    { ret; }
}

fn main() {}
