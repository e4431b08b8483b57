mod kernels {
    ptx_dsl::ptx! {
        <sm_90, ptx 8.0>
        .visible .entry k() { ret; }
    }
}

fn main() {
    // neither the prelude nor `KernelFn` is imported
    let _ = kernels::k.launch(&ptx_dsl::Host::new(), ptx_dsl::Launch::grid(1), ());
    // this works without
    let _ = kernels::k().launch(&ptx_dsl::Host::new(), ptx_dsl::Launch::grid(1), ());
}
