use ptx_dsl::ptx;

fn main() {
    let k = ptx!(<sm_90, ptx 8.0> |n: Vec<u32>, m: [u32; N], right: [u32; 2], options: Options| { .reg .b32 %r; ld.param.u32 %r, [n]; ret; });
}
