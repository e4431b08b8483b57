//! Constants that no `ptx!` declares. Nobody compiles it.

const THREADS: u32 = 64;

ptx_dsl::ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k() { bar.sync 1, THREADS; ret; }
}

fn closure() {
    let k = ptx_dsl::ptx!(<sm_90, ptx 8.0> |n: u32| { bar.sync 0, THREADS; });
}
