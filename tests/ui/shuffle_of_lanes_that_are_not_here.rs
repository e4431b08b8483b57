use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k() .reqntid 128 {
        .reg .pred %p, %q;
        .reg .b32 %r<4>;
        .reg .b64 %rd<4>;
        .reg .b64 %rq;
        .shared .align 16 .b8 tile[256];
        .shared .align 8 .b64 mb;
        elect.sync _|%p, 0xffffffff;
        @!%p bra L;
        shfl.sync.idx.b32 %r1, 1, 0, 31, 0xffffffff;
        st.shared.u32 [tile], %r1;
        L:
        bar.sync 0;
        ret;
    }
}

fn main() {}
