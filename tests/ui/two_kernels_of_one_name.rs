use ptx_dsl::prelude::*;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry fill(.param .u32 value: u32) { ret; }
}

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry fill(.param .u64 .ptr .global .align 4 x: &mut [u32]) .reqntid 32 { ret; }
}

fn main() {
    fill.launch(&Host::new(), Launch::grid(1), (1,)).unwrap();
    println!("{}", fill::PTX);
}
