//! The part that `missing.rs` uses.

ptx_dsl::ptx! {
    <sm_90, ptx 8.0>
    pub part pipe {
        const STAGES: u32 = 4;
        const FIRST: u32 = 1;
        .inline start(.reg .b32 %r) { mov.u32 %r, 0; }
    }
}
