use ptx_dsl::{Param, ptx};

#[derive(Param)]
struct Ordered {
    a: u8,
    b: u32,
}

#[derive(Param)]
#[repr(C, packed)]
struct Packed(u8, u32);

#[derive(Param)]
#[repr(u8)]
enum Choice {
    A,
}

#[derive(Param)]
#[repr(C)]
struct Borrowed<'a>(&'a u32);

struct Plain(u32);

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k(.param .u32 right: u32, .param .u32 wrong: Plain) { ret; }
}

fn main() {}
