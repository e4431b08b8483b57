//! Two parts of one name, of which a module renames one.

mod left {
    ptx_dsl::ptx! {
        <sm_90, ptx 8.0>
        pub part ring { .inline next(.reg .b32 %x) { add.u32 %x, %x, 1; } }
    }
}

mod right {
    ptx_dsl::ptx! {
        <sm_90, ptx 8.0>
        pub part ring { .inline last(.reg .b32 %x) { sub.u32 %x, %x, 1; } }
    }
}

ptx_dsl::ptx! {
    <sm_90, ptx 8.0>
    use left::ring;
    use right::ring as other;
    .visible .entry both() {
        .reg .b32 %r;
        mov.u32 %r, 0;
        ring::next!(%r);
        other::last!(%r);
        ret;
    }
}
