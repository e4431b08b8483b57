use ptx_dsl::{Param, ptx};

#[derive(Param)]
#[repr(C)]
pub struct Meters(f32);

#[derive(Param)]
#[repr(C)]
pub struct Halves(u16, u16);

type Count = u32;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry primitives(
        .param .f32 a: u32,
        .param .u32 b: f32,
        .param .s64 c: f64,
        .param .f64 d: usize,
        .param .b16 e: f32,
        .param .align 4 .b8 f[4]: u32)
    { ret; }
}

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry named(
        .param .f32 a: Count,
        .param .s32 b: Meters,
        .param .b32 c: Meters,
        .param .f32 d: Meters,
        .param .u32 e: Count,
        .param .f32 f: Halves)
    { ret; }
}

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry right(
        .param .b32 a: f32,
        .param .b32 b: i32,
        .param .s32 c: u32,
        .param .b64 d: f64,
        .param .u8 e: bool,
        .param .b16 f: i16)
    { ret; }
}

fn main() {}
