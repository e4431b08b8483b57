use ptx_dsl::ptx;

ptx! {
    <sm_100a, ptx 8.6>
    .visible .entry k(.param .u64 a, .param .u64 b) .reqntid 32 .reqnctapercluster 2 {
        .reg .pred %p;
        .reg .b32 %r<3>;
        .shared .align 4 .b32 slot;
        mov.u32 %r1, %cluster_ctarank;
        setp.ne.u32 %p, %r1, 0;
        tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [slot], 64;
        ld.shared.u32 %r2, [slot];
        barrier.cluster.arrive;
        barrier.cluster.wait;
        @%p bra end;
        tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r2, 64;
        end:
        ret;
    }
}

fn main() {}
