ptx_dsl::ptx! {
    <sm_90, ptx 8.0>
    .visible .entry d() { rex; }
}
