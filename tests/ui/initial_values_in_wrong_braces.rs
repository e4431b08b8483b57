use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .global .u32 flat[2][2] = {1, 2, 3, 4};
    .global .u32 long[2][2] = {{1, 2, 3}};
    .global .v4 .f32 short = {1.0, 2.0};
    .global .u32 deep[2] = {{1}, {2}};
    .global .u64 where = generic(deep + 4);
    .global .u8 crooked = 0xff0(deep);
    .global .u32 WARP_SZ;
    .visible .entry k() { ret; }
}

fn main() {}
