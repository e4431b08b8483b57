//! The parts of the kernels.

ptx_dsl::ptx! {
    <sm_90, ptx 8.0>
    pub part ring {
        .inline wait(.shared .b64 bar, .b32 parity) {
            .reg .pred %done;
        again:
            mbarrier.try_wait.parity.shared::cta.b64 %done, [bar], parity;
            @!%done bra again;
        }
        .inline wrong(.reg .b32 %x) { add.u64 %x, %x, 1; }
    }
}
