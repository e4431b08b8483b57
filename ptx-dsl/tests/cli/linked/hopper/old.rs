//! A part that no kernel uses.

ptx_dsl::ptx! {
    <sm_90, ptx 8.0>
    pub part ring {
        .inline wait(.shared .b64 bar) { }
    }
}
