//! Parts in a Rust file. Nobody compiles it.

ptx_dsl::ptx! {
    <sm_90, ptx 8.0>
    use crate::shared::numbers;
    /// Waits, and adds.
    #[allow(unused_imports)] pub part waits {
        .inline wait(.shared .b64 bar, .b32 parity) {
            .reg .pred %done;
        again:
            mbarrier.try_wait.parity.shared::cta.b64 %done, [bar], parity;
            @!%done bra again;
        }
        .inline add(.reg .b32 %x) { add.u32 %x, %x, ONE; }
        .inline wrong(.reg .b32 %x) { add.u64 %x, %x, 1; }
    }
}

ptx_dsl::ptx! {
    <sm_90, ptx 8.0>
    part numbers { const ONE: u32 = 1; }
}

ptx_dsl::ptx! {
    <sm_90, ptx 8.0>
    use crate::waits;
    .visible .entry k() {
        .reg .b32 %r;
        .shared .align 8 .b64 bar;
        mov.u32 %r, 0;
        @if ONE == 1 { waits::add!(%r); }
        waits::wait!(bar, %r);
        waits::wait!(bar);
        waits::wrong!(%r);
        ret;
    }
}

ptx_dsl::ptx! {
    <sm_90, ptx 8.0>
    use crate::of_another_file;
    .visible .entry unseen() { of_another_file::f!(); ret; }
}

ptx_dsl::ptx! {
    <sm_90, ptx 8.0>
    .inline add(.reg .b32 %x) { add.u32 %x, %x, N; }
    .visible .entry own_piece() {
        const N: u32 = 4;
        .reg .b32 %r;
        mov.u32 %r, 0;
        add!(%r);
        ret;
    }
}
