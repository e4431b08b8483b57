use ptx_dsl::ptx;
use ptx_dsl_shared_parts::counts;

ptx! {
    <sm_90, ptx 8.0>
    use counts;
    .visible .entry k() {
        .reg .b32 %r;
        .reg .b64 %x;
        counts::store!(%x, %r, 1);
        counts::odd!(%x);
        counts::sync!(4 * 4);
        counts::sync!(17);
    }
}

// Too old for what the part has.
ptx! {
    <sm_20, ptx 2.0>
    use elsewhere::old;
    .visible .entry old() {
        .reg .b32 %r;
        mov.u32 %r, 1;
        old::shuffle!(%r);
        old::shuffle!(%r);
    }
}

// By way of a piece of its own, and of another one of the part.
ptx! {
    <sm_90, ptx 8.0>
    use counts;
    .inline through(const M: u32) { counts::twice!(M); }
    .visible .entry nested() {
        through!(1);
        through!(9);
    }
}

mod elsewhere {
    ptx_dsl::ptx! {
        <sm_90, ptx 8.0>
        pub(crate) part old {
            .inline shuffle(.reg .b32 %r) { shfl.sync.bfly.b32 %r, %r, 1, 31, 0xffffffff; }
        }
    }
}

fn main() {}
