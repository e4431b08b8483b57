use ptx_dsl::ptx;

ptx! {
    <sm_103a, ptx 8.8>
    .visible .entry k() {
        .reg .pred %p;
        .reg .b16 %mask;
        .reg .b32 %r<4>, %taddr, %idesc;
        .reg .b64 %desc;
        .shared .align 4 .b32 slot;
        .shared .align 8 .b64 mb;
        tcgen05.mma.cta_group::1.kind::i8 [%taddr], %desc, %desc, %idesc, %p;
        ret;
    }
}

fn main() {}
