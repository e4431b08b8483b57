use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry a(.param .u64 x: &str) { ret; }
    .visible .entry b(.param .u64 x: &[f32; 4]) { ret; }
    .visible .entry c(.param .u64 x3: &) { ret; }
    .visible .entry d(.param .u32 x4: u32 > u8) { ret; }
    .visible .entry e(.param .u32 y: 5) { ret; }
}

fn main() {}
