use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    const STAGES: u32 = 12;
    const _: () = assert!(STAGES <= 8, "shared memory has room for eight");
    .visible .entry k() { ret; }
}

fn main() {}
