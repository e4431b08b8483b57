use ptx_dsl::ptx;

ptx! {
    <sm_100a, ptx 8.6>
    .visible .entry k(.param .u64 a, .param .u64 b) .reqntid 32 {
        .reg .b32 %r;
        .shared .align 4 .b32 slot;
        tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 128;
        ld.shared.u32 %r, [slot];
        tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r, 64;
        ret;
    }
}

fn main() {}
