use ptx_dsl::ptx;

ptx! {
    <sm_100a, ptx 8.6, deny(protocol)>
    .visible .entry k() .reqntid 128 {
        .reg .pred %p, %q;
        .reg .b32 %r<4>;
        .reg .b64 %rd<4>;
        .reg .b128 %rq;
        .shared .align 16 .b8 tile[256];
        .shared .align 8 .b64 mb;
        mov.u32 %r1, 0;
        tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r2}, [%r1];
        add.u32 %r3, %r2, 1;
        st.shared.u32 [tile], %r3;
        tcgen05.wait::ld.sync.aligned;
        ret;
    }
}

fn main() {}
