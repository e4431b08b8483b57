use ptx_dsl::ptx;

pub struct Plain(u32);

mod types {
    pub type Flag = bool;
}

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k(
        .param .u64 right: &mut [u32],
        .param .u64 .ptr .global .align 4 x: &mut [Plain],
        .param .u64 y: &[types::Flag])
    { ret; }
}

fn main() {
    ptx!(<sm_90, ptx 8.0> |x: &mut [Plain]| { ret; });
}
