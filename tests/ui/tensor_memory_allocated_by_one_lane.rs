use ptx_dsl::ptx;

ptx! {
    <sm_100a, ptx 8.6>
    .visible .entry k() .reqntid 128 {
        .reg .pred %p, %q;
        .reg .b32 %r<4>;
        .reg .b64 %rd<4>;
        .reg .b128 %rq;
        .shared .align 16 .b8 tile[256];
        .shared .align 8 .b64 mb;
        elect.sync _|%p, 0xffffffff;
        @%p tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tile], 64;
        bar.sync 0;
        ld.shared.u32 %r1, [tile];
        tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 64;
        ret;
    }
}

fn main() {}
